// Rotations by angles in degrees, of bodies, and of mesh colliders that move.
#ifndef TAUT_SCENE_ROTATION_H
#define TAUT_SCENE_ROTATION_H

#include "base/vec3.h"

struct rotation {
    double rows[3][3];
};

// Rz Ry Rx: about x first, then about y, then about z; exact for multiples of 90 degrees.
struct rotation rotation_make(vec3 degrees);

// About an axis, which need not have unit length: the length does not count. No rotation about 0.
struct rotation rotation_about(vec3 axis, double degrees);

vec3 rotate(const struct rotation *rotation, vec3 v);

#endif
