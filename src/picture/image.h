// Images in memory: creation, comparison, PNG files (by cairo), and several images side by side in
// one (a strip). Needs no OpenGL: images are drawn by renderer.h on a canvas (canvas.h) or in the
// viewer's window.
#ifndef TAUT_PICTURE_IMAGE_H
#define TAUT_PICTURE_IMAGE_H

#include "base/status.h"

#include <stdint.h>

struct image {
    int width, height;
    uint8_t *pixels; // width * height * 3: red, green, blue; the top row first
};

taut_status image_make(int width, int height, struct image *image, taut_error *error);
void image_free(struct image *image);

// Writes a PNG file, which appears under its name when it is complete (output/file.h).
taut_status image_write_png(const struct image *image, const char *path, taut_error *error);

// The root mean square of the differences of all values of two images, 0 to 255; 255 if their sizes
// differ.
double image_difference(const struct image *a, const struct image *b);

taut_status image_read_png(const char *path, struct image *image, taut_error *error);

// ---- Strips: images side by side, row by row

struct strip {
    struct image image;
    int columns, rows;
    int width, height; // of each picture
};

enum { STRIP_GAP = 2 }; // pixels between pictures

// The number of columns for `count` pictures: one row of up to four, then about a square.
int strip_columns(int count);

// Allocates a strip of `count` pictures. Gaps and empty cells have this shade of grey.
taut_status strip_make(int count, int columns, int width, int height, uint8_t shade,
                       struct strip *strip, taut_error *error);

// Copies picture `number` into its cell.
void strip_put(struct strip *strip, int number, const struct image *picture);

void strip_free(struct strip *strip);

#endif
