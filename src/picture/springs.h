// Springs as tubes, or as lines if there are many; nodes as balls; pinned and kinematic nodes as
// marks. The shaders look up the positions by node number.
#ifndef TAUT_PICTURE_SPRINGS_H
#define TAUT_PICTURE_SPRINGS_H

#include "picture/context.h"

// ---- Springs

struct springs {
    GLuint program, vertices;
};

taut_status springs_make(struct springs *springs, taut_error *error);

// Every n-th spring is drawn, so that the number drawn stays below the limit of the options or of
// the picture's size.
uint64_t springs_every(const struct render_context *context);

// `widening`: 1 in the picture; larger in the shadow map, whose pixels have another size.
void springs_draw(const struct springs *springs, const struct render_context *context,
                  const struct values *values, const struct tables *tables, double widening);
void springs_free(struct springs *springs);

// ---- Nodes and pins

struct marks {
    GLuint program, nothing;      // a vertex array without arrays
    GLuint vertices[2], lists[2]; // of pinned nodes, of kinematic nodes
    uint64_t counts[2];
    float *gaps; // per body: mean rest length of its springs, m; 0: no springs
};

taut_status marks_make(struct marks *marks, taut_error *error);
taut_status marks_set(struct marks *marks, const struct subject *subject, taut_error *error);
void marks_free(struct marks *marks);

void marks_draw_nodes(const struct marks *marks, const struct render_context *context,
                      const struct tables *tables);
void marks_draw_pins(const struct marks *marks, const struct render_context *context,
                     const struct tables *tables);

#endif
