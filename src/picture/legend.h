// The legend of the colours in a corner of the picture, and the time and the wind as text. Each is
// a small picture (an overlay) that cairo draws, laid over the main one; it is drawn again when its
// text changes.
#ifndef TAUT_PICTURE_LEGEND_H
#define TAUT_PICTURE_LEGEND_H

#include "picture/context.h"

#include <cairo.h>

// ---- Overlays

struct overlays {
    GLuint program, vertices;
};

taut_status overlays_make(struct overlays *overlays, taut_error *error);
void overlays_free(struct overlays *overlays);

struct overlay {
    GLuint texture;
    char content[512]; // describes what it shows
    double width, height;
};

void overlay_free(struct overlay *overlay);

// Whether the overlay shows something other than `content`; stores `content` as what it shows.
bool overlay_needs_update(struct overlay *overlay, const char *content);

// A surface of that size in pixels to draw on; overlay_finish makes it the overlay's texture.
cairo_t *overlay_begin(struct overlay *overlay, double width, double height);
taut_status overlay_finish(struct overlay *overlay, cairo_t *cairo, taut_error *error);

// Draws the overlay with its upper left corner at (left, top), pixels.
void overlay_draw(const struct overlays *overlays, const struct overlay *overlay, double left,
                  double top);

// ---- The legend

struct legend {
    struct overlays overlays;
    struct overlay scale, caption, wind, contacts;
    uint8_t maps[MAP_COUNT][3 * MAP_LENGTH];
};

taut_status legend_make(struct legend *legend, taut_error *error);
void legend_free(struct legend *legend);

taut_status legend_draw(struct legend *legend, const struct render_context *context,
                        const struct values *values, taut_error *error);

#endif
