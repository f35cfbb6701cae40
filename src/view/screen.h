// The framebuffer that the scene is drawn into, with several samples per pixel. It is copied into
// the window whenever the panels change, and drawn again only when the scene changes (drawing.c).
#ifndef TAUT_VIEW_SCREEN_H
#define TAUT_VIEW_SCREEN_H

#include "picture/image.h"

struct screen {
    unsigned framebuffer; // to draw into
    unsigned colour, depth;
    unsigned plain, plain_colour; // the same with one sample per pixel
    int width, height;            // 0: not created yet
};

// Sets the size, if it changes.
taut_status screen_resize(struct screen *screen, int width, int height, taut_error *error);

// Averages the samples; to be called after the scene was drawn.
void screen_resolve(const struct screen *screen);

// Copies the picture into the window, whose height is needed, stretched to that size with its top
// left corner at (x, y).
void screen_show(const struct screen *screen, int x, int y, int width, int height,
                 int window_height);

// Reads the picture, or a whole window of that size.
taut_status screen_read(const struct screen *screen, struct image *image, taut_error *error);
taut_status screen_read_window(int width, int height, struct image *image, taut_error *error);

void screen_free(struct screen *screen);

#endif
