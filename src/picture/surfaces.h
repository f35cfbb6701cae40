// The surfaces of bodies: triangular faces, with normals computed on the processor, and the filled
// areas of bodies in a plane (outlines). Colours by value come from values.h.
#ifndef TAUT_PICTURE_SURFACES_H
#define TAUT_PICTURE_SURFACES_H

#include "picture/context.h"

// ---- Faces of bodies of triangles

struct faces_body {
    GLuint indices;
    uint64_t stride; // indices join every stride-th node of a cloth; 0: no indices yet
    uint64_t count;  // number of indices
};

// Variants of the program, bits (shaders/faces.glsl). A checker pattern and colours by value
// exclude each other.
enum { FACES_FLAT = 1, FACES_HARD_SHADOWS = 2, FACES_CHECKER = 4, FACES_BY_VALUE = 8 };
enum { FACES_PROGRAMS = 12 };

struct faces {
    GLuint programs[FACES_PROGRAMS];
    GLuint vertices; // a vertex array object
    GLuint normal_buffer, value_buffer;
    float *normals; // 3 per node
    uint64_t node_count;
    struct faces_body *bodies;
    size_t body_count;
};

taut_status faces_make(struct faces *faces, taut_error *error);
taut_status faces_set(struct faces *faces, const struct subject *subject, taut_error *error);

// Computes normals, and uploads them and the values of nodes.
taut_status faces_fill(struct faces *faces, const struct render_context *context,
                       const struct values *values, const struct tables *tables, taut_error *error);

void faces_draw(const struct faces *faces, const struct render_context *context,
                const struct values *values, const struct tables *tables);
void faces_free(struct faces *faces);

// ---- Outlines: the areas of bodies in a plane, rings and quads

struct outlines {
    GLuint program, vertices;
    struct gl_table edges; // 2 nodes per face, of all faces
    bool any;
};

taut_status outlines_make(struct outlines *outlines, taut_error *error);
taut_status outlines_set(struct outlines *outlines, const struct subject *subject,
                         taut_error *error);
void outlines_draw(const struct outlines *outlines, const struct render_context *context,
                   const struct tables *tables);
void outlines_free(struct outlines *outlines);

#endif
