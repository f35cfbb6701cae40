// What the colours mean, in a corner of the picture; the time and the wind in words.
#ifndef TAUT_PICTURE_LEGEND_H
#define TAUT_PICTURE_LEGEND_H

#include "picture/overlay.h"
#include "picture/values.h"

struct legend {
    struct overlays overlays;
    struct overlay scale, caption, wind;
    uint8_t maps[MAP_COUNT][3 * MAP_LENGTH];
};

taut_status legend_make(struct legend *legend, taut_error *error);
void legend_free(struct legend *legend);

taut_status legend_draw(struct legend *legend, const struct frame *frame,
                        const struct values *values, taut_error *error);

#endif
