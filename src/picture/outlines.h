// The insides of bodies in a plane: rings and quads.
#ifndef TAUT_PICTURE_OUTLINES_H
#define TAUT_PICTURE_OUTLINES_H

#include "picture/frame.h"
#include "picture/tables.h"

struct outlines {
    GLuint program, vertices;
    struct gl_table edges; // 2 nodes a face, of all faces
    bool any;
};

taut_status outlines_make(struct outlines *outlines, taut_error *error);
taut_status outlines_set(struct outlines *outlines, const struct subject *subject,
                         taut_error *error);
void outlines_draw(const struct outlines *outlines, const struct frame *frame,
                   const struct tables *tables);
void outlines_free(struct outlines *outlines);

#endif
