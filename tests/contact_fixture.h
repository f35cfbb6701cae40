// For tests of contact between surfaces: the triangles of a scene, whether any of them cross, counted
// by the exact checker, and momentum.
#ifndef TAUT_TESTS_CONTACT_FIXTURE_H
#define TAUT_TESTS_CONTACT_FIXTURE_H

#include "physics.h"

// The triangles, edges and nodes of all bodies that have faces.
struct everything {
    uint32_t (*triangles)[3], (*edges)[2];
    size_t triangle_count, edge_count;
    uint32_t *bodies; // of nodes
    uint64_t nodes;
};

struct everything everything_of(const taut_solver *solver);
void free_everything(struct everything *all);

// Pairs of triangles that cross, overlap or touch at present.
uint64_t crossings_of(taut_solver *solver, const struct everything *all);

// kg m/s, and kg m2/s about the origin.
vec3 momentum_of(taut_solver *solver, vec3 *angular);

#endif
