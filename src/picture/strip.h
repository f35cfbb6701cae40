// Pictures side by side, row after row, in one.
#ifndef TAUT_PICTURE_STRIP_H
#define TAUT_PICTURE_STRIP_H

#include "picture/canvas.h"

struct strip {
    struct image image;
    int columns, rows;
    int width, height; // of each picture
};

enum { STRIP_GAP = 2 }; // pixels between pictures

// How many columns suit so many pictures: one row of up to four, and then about a square.
int strip_columns(int count);

// Room for so many pictures. Gaps, and places that stay empty, have this shade of grey.
taut_status strip_make(int count, int columns, int width, int height, uint8_t shade,
                       struct strip *strip, taut_error *error);

// Puts picture `number` into its place.
void strip_put(struct strip *strip, int number, const struct image *picture);

void strip_free(struct strip *strip);

#endif
