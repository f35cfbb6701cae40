// Springs as tubes, or as lines where there are many.
#ifndef TAUT_PICTURE_SPRINGS_H
#define TAUT_PICTURE_SPRINGS_H

#include "picture/frame.h"
#include "picture/tables.h"

struct springs {
    GLuint program, vertices;
};

taut_status springs_make(struct springs *springs, taut_error *error);

// Draws every so-manieth spring only, so that not more are drawn than the options, or the picture's
// size, allow.
uint64_t springs_every(const struct frame *frame);

// In the picture, or, wider, in the shadow map, where a picture's rows are other ones.
void springs_draw(const struct springs *springs, const struct frame *frame,
                  const struct values *values, const struct tables *tables, double widening);
void springs_free(struct springs *springs);

#endif
