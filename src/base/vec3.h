// A vector of three doubles and the few operations that set-up code needs. Hot loops use separate
// arrays of x, y and z instead (state/state.h).
#ifndef TAUT_BASE_VEC3_H
#define TAUT_BASE_VEC3_H

#include <math.h>

typedef struct vec3 {
    double x, y, z;
} vec3;

static inline vec3 vec3_make(double x, double y, double z)
{
    return (vec3){x, y, z};
}

static inline vec3 vec3_add(vec3 a, vec3 b)
{
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec3 vec3_subtract(vec3 a, vec3 b)
{
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec3 vec3_scale(double factor, vec3 a)
{
    return (vec3){factor * a.x, factor * a.y, factor * a.z};
}

static inline double vec3_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec3 vec3_cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double vec3_length(vec3 a)
{
    return sqrt(vec3_dot(a, a));
}

// The height of a triangle over its longest side, and the length of that; not a number if that is
// 0.
static inline double triangle_height(const vec3 corners[3], double *longest)
{
    double square = 0;
    for (int i = 0; i < 3; i++) {
        const vec3 side = vec3_subtract(corners[(i + 1) % 3], corners[i]);
        square = fmax(square, vec3_dot(side, side));
    }
    *longest = sqrt(square);
    return vec3_length(vec3_cross(vec3_subtract(corners[1], corners[0]),
                                  vec3_subtract(corners[2], corners[0]))) /
           *longest;
}

#endif
