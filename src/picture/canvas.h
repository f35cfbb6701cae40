// A picture without a window: an OpenGL context by EGL (no display, no X server) with a framebuffer
// of several samples a pixel, and its pixels.
#ifndef TAUT_PICTURE_CANVAS_H
#define TAUT_PICTURE_CANVAS_H

#include "base/status.h"

#include <stdint.h>

struct canvas;

struct image {
    int width, height;
    uint8_t *pixels; // width * height * 3: red, green, blue; the top row first
};

// The context is current for the calling thread until canvas_free. TAUT_ERROR_UNSUPPORTED says what
// is missing and which package has it.
taut_status canvas_make(int width, int height, struct canvas **canvas, taut_error *error);

unsigned canvas_framebuffer(const struct canvas *canvas);

// "llvmpipe (LLVM 15.0.6, 256 bits)": what draws.
const char *canvas_device(const struct canvas *canvas);

// Copies what was drawn. `image` has no pixels before the first read, and keeps them for the next.
taut_status canvas_read(struct canvas *canvas, struct image *image, taut_error *error);

void canvas_free(struct canvas *canvas);

taut_status image_make(int width, int height, struct image *image, taut_error *error);
void image_free(struct image *image);

// A PNG under its name when it is whole (output/file.h).
taut_status image_write_png(const struct image *image, const char *path, taut_error *error);

// How far two pictures are apart: root mean square of the differences of all values, 0 to 255;
// 255 where their sizes differ.
double image_difference(const struct image *a, const struct image *b);

taut_status image_read_png(const char *path, struct image *image, taut_error *error);

#endif
