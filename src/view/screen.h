// Where the scene is drawn: a picture of its own with several samples a pixel, which is laid into
// the window as often as the panels change, and drawn anew only when the scene does.
#ifndef TAUT_VIEW_SCREEN_H
#define TAUT_VIEW_SCREEN_H

#include "picture/canvas.h"

struct screen {
    unsigned framebuffer; // to draw into
    unsigned colour, depth;
    unsigned plain, plain_colour; // the same with one sample a pixel
    int width, height;            // 0: not made yet
};

// Makes it that large; nothing where it is so already.
taut_status screen_resize(struct screen *screen, int width, int height, taut_error *error);

// After the scene was drawn.
void screen_resolve(const struct screen *screen);

// Lays the picture into the window of that height, its top left corner at (x, y), stretched to that
// size.
void screen_show(const struct screen *screen, int x, int y, int width, int height,
                 int window_height);

// Reads the picture, or with (framebuffer 0) all of the window, of that size.
taut_status screen_read(const struct screen *screen, struct image *image, taut_error *error);
taut_status screen_read_window(int width, int height, struct image *image, taut_error *error);

void screen_free(struct screen *screen);

#endif
