// Moves bodies apart as wholes: along axes that separate their convex hulls, out of planes, spheres
// and rooms, all at once, so that a body that leaves a floor pushes those that lie on it. For
// surface_relax.c. Numeric.
#ifndef TAUT_CONTACT_HULL_SEPARATION_H
#define TAUT_CONTACT_HULL_SEPARATION_H

#include "contact/surface_lists.h"

struct hull_body {
    double inverse_mass;      // 1/kg; 0: nothing moves it
    double least[3], most[3]; // m: its box where it was first
    vec3 wanted, done;        // m: its displacement from there, as found and as made so far
    bool stuck;               // there is no such displacement
};

// The displacement of one body along an axis, less that of the other one, is at least so much.
struct hull_bound {
    size_t one, other; // HULL_SHAPE: a plane, sphere or room
    vec3 axis;
    double least, tolerance; // m
    double impulse;
    vec3 tried[4]; // other axes, of a pair of bodies
    int tries;
};

static const size_t HULL_SHAPE = SIZE_MAX;

struct hull_separation {
    const struct system *system;
    double beyond; // of the thickness: how far apart bodies come
    struct hull_body *bodies;
    size_t body_count; // mesh colliders included (surfaces.h)
    struct hull_bound *bounds;
    size_t bound_count, bound_capacity;
    double (*points)[3]; // m: scratch, the nodes of two bodies
    size_t point_count;
};

// Bodies are where they are now; `inverse_mass` of each is still to be set. False without memory,
// and then, too, it has to be ended.
bool REAL_NAME(hulls_begin)(struct hull_separation *it, const struct system *system, double beyond);
void REAL_NAME(hulls_end)(struct hull_separation *it);

// Whether this pair is among those that come apart.
bool REAL_NAME(hulls_have)(const struct hull_separation *it, size_t a, size_t b);

// From now on these two come apart, along the axis along which they are least in each other; or a
// body moves so far at least, m, along the normal of a shape, from where it is now. False without
// memory.
bool REAL_NAME(hulls_add_pair)(struct hull_separation *it, size_t a, size_t b);
bool REAL_NAME(hulls_add_shape)(struct hull_separation *it, size_t body, vec3 normal, double least);

// Finds the displacements of all bodies: of those that satisfy all bounds the least, mass times
// squared length. Where no axes are found with which there is any, the result is false, and bodies
// that depend on each other stay where they were first.
bool REAL_NAME(hulls_solve)(struct hull_separation *it);

// Whether the boxes around two bodies overlap, and did not at first: one of them may be in the
// other.
bool REAL_NAME(hulls_meet)(const struct hull_separation *it, size_t a, size_t b);

#endif
