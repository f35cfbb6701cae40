// Frames made a film by the program ffmpeg: MP4 (H.264, as every player takes it) or GIF. The file
// appears under its name when it is whole. SIGPIPE must be ignored, so that the end of ffmpeg is a
// failure of a write.
#ifndef TAUT_PICTURE_FILM_H
#define TAUT_PICTURE_FILM_H

#include "picture/canvas.h"

enum film_format { FILM_MP4, FILM_GIF };

struct film_options {
    const char *path;
    enum film_format format;
    int width, height; // of FILM_MP4 both even
    double frames_per_second;
};

struct film;

// TAUT_ERROR_UNSUPPORTED, and how to get it, where there is no ffmpeg.
taut_status film_possible(taut_error *error);

// film_close or film_abandon after success.
taut_status film_open(const struct film_options *options, struct film **film, taut_error *error);

// The next frame, of the film's size. A failure tells what ffmpeg said last.
taut_status film_add(struct film *film, const struct image *image, taut_error *error);

// Waits for ffmpeg to end, and gives the film its name.
taut_status film_close(struct film *film, taut_error *error);

// Ends ffmpeg and leaves nothing.
void film_abandon(struct film *film);

#endif
