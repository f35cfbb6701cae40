// Spheres, cylinders and cones: colliders, arrows, hands.
#ifndef TAUT_PICTURE_SOLIDS_H
#define TAUT_PICTURE_SOLIDS_H

#include "picture/frame.h"

enum solid { SOLID_SPHERE, SOLID_CYLINDER, SOLID_CONE, SOLID_COUNT };

struct solids {
    GLuint program;
    GLuint vertices[SOLID_COUNT], buffers[SOLID_COUNT];
    GLsizei counts[SOLID_COUNT];
};

taut_status solids_make(struct solids *solids, taut_error *error);
void solids_free(struct solids *solids);

// The colour and gloss of those that are drawn next.
void solids_paint(const struct solids *solids, struct colour colour, double gloss);

// `behind`, m: what is less than that behind its surface is seen all the same.
void solids_sphere(const struct solids *solids, vec3 centre, double radius, double behind);

// An arrow (or a rod, without a head) of a round shaft, from tail to tip.
void solids_arrow(const struct solids *solids, vec3 tail, vec3 tip, double radius, bool head);

#endif
