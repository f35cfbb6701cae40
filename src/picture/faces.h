// The surfaces of bodies of triangles.
#ifndef TAUT_PICTURE_FACES_H
#define TAUT_PICTURE_FACES_H

#include "picture/frame.h"
#include "picture/tables.h"

struct faces_body {
    GLuint indices;
    uint64_t stride; // the indices join every so-manieth node of a cloth; 0: none were made yet
    uint64_t count;  // of indices
};

// What programs differ in, bits (shaders/faces.glsl). A checker and colours by value do not go
// together.
enum { FACES_FLAT = 1, FACES_HARD_SHADOWS = 2, FACES_CHECKER = 4, FACES_BY_VALUE = 8 };
enum { FACES_PROGRAMS = 12 };

struct faces {
    GLuint programs[FACES_PROGRAMS];
    GLuint vertices; // a vertex array object
    GLuint normal_buffer, value_buffer;
    float *normals; // 3 a node
    uint64_t node_count;
    struct faces_body *bodies;
    size_t body_count;
};

taut_status faces_make(struct faces *faces, taut_error *error);
taut_status faces_set(struct faces *faces, const struct subject *subject, taut_error *error);

// Finds normals, and hands them and the values of nodes over.
taut_status faces_fill(struct faces *faces, const struct frame *frame, const struct values *values,
                       const struct tables *tables, taut_error *error);

void faces_draw(const struct faces *faces, const struct frame *frame, const struct values *values,
                const struct tables *tables);
void faces_free(struct faces *faces);

#endif
