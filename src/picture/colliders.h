// Colliders and the ground: spheres, planes with a grid, rooms that one sees into, and, where
// nothing lies below the scene, a ground that only shows shadows.
#ifndef TAUT_PICTURE_COLLIDERS_H
#define TAUT_PICTURE_COLLIDERS_H

#include "picture/solids.h"

struct colliders {
    GLuint plain, with_grid; // programs
    GLuint vertices;
};

taut_status colliders_make(struct colliders *colliders, taut_error *error);
void colliders_free(struct colliders *colliders);

void colliders_draw_spheres(const struct solids *solids, const struct frame *frame);

// What lies behind and below bodies, drawn before them.
void colliders_draw_planes(const struct colliders *colliders, const struct frame *frame);

// Planes that are seen from behind: a veil over all.
void colliders_draw_veils(const struct colliders *colliders, const struct frame *frame);

#endif
