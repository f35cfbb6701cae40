// Small pictures that cairo draws and that lie over the picture: they are drawn anew when what they
// say changes.
#ifndef TAUT_PICTURE_OVERLAY_H
#define TAUT_PICTURE_OVERLAY_H

#include "picture/frame.h"

#include <cairo.h>

struct overlays {
    GLuint program, vertices;
};

taut_status overlays_make(struct overlays *overlays, taut_error *error);
void overlays_free(struct overlays *overlays);

struct overlay {
    GLuint texture;
    char said[512]; // what it shows
    double width, height;
};

void overlay_free(struct overlay *overlay);

// Whether the overlay does not show yet what is to be said; remembers it.
bool overlay_differs(struct overlay *overlay, const char *says);

// A surface of so many pixels, to be drawn on and handed to overlay_take.
cairo_t *overlay_begin(struct overlay *overlay, double width, double height);
taut_status overlay_take(struct overlay *overlay, cairo_t *cairo, taut_error *error);

// With its left upper corner there, pixels.
void overlay_draw(const struct overlays *overlays, const struct overlay *overlay, double left,
                  double top);

#endif
