// Nodes as balls; pinned nodes and moved ones as marks.
#ifndef TAUT_PICTURE_MARKS_H
#define TAUT_PICTURE_MARKS_H

#include "picture/frame.h"
#include "picture/tables.h"

struct marks {
    GLuint program, nothing;      // a vertex array without arrays
    GLuint vertices[2], lists[2]; // of pinned nodes, of moved ones
    uint64_t counts[2];
    float *gaps; // a body: mean length of its springs, m; 0: it has none
};

taut_status marks_make(struct marks *marks, taut_error *error);
taut_status marks_set(struct marks *marks, const struct subject *subject, taut_error *error);
void marks_free(struct marks *marks);

void marks_draw_nodes(const struct marks *marks, const struct frame *frame,
                      const struct tables *tables);
void marks_draw_pins(const struct marks *marks, const struct frame *frame,
                     const struct tables *tables);

#endif
