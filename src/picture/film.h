// Films: images encoded by the program ffmpeg as MP4 (H.264 as every player supports it) or GIF.
// The file appears under its name when it is complete. SIGPIPE must be ignored, so that a failure
// of ffmpeg is reported as a failed write. The caller provides the frames.
#ifndef TAUT_PICTURE_FILM_H
#define TAUT_PICTURE_FILM_H

#include "picture/image.h"

enum film_format { FILM_MP4, FILM_GIF };

struct film_options {
    const char *path;
    enum film_format format;
    int width, height; // both even for FILM_MP4
    double frames_per_second;
};

struct film;

// TAUT_ERROR_UNSUPPORTED if there is no ffmpeg; the message explains how to install it.
taut_status film_possible(taut_error *error);

// After success, film_close or film_abandon must follow.
taut_status film_open(const struct film_options *options, struct film **film, taut_error *error);

// Adds an image of the film's size. The error message contains ffmpeg's last line.
taut_status film_add(struct film *film, const struct image *image, taut_error *error);

// Waits for ffmpeg to end, and creates the file under its name.
taut_status film_close(struct film *film, taut_error *error);

// Ends ffmpeg and creates no file.
void film_abandon(struct film *film);

#endif
