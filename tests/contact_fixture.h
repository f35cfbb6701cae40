// For tests of contact between surfaces: the triangles of a scene, whether any of them cross,
// counted by the exact checker, and momentum.
#ifndef TAUT_TESTS_CONTACT_FIXTURE_H
#define TAUT_TESTS_CONTACT_FIXTURE_H

#include "physics.h"

// Two sheets, the upper one of which flies or falls onto the other: precision, integrator, dt,
// gravity, thickness, nodes of the upper one, its velocity, nodes of the lower one, and more keys
// of that.
#define SHEET_ON_SHEET                                                                             \
    "precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"                         \
    "environment: {gravity: [0, " NUM ", 0]}\ncontact: {thickness: " NUM "}\n"                     \
    "bodies:\n"                                                                                    \
    "- {name: top, type: cloth, origin: [-0.5, 0.05, -0.5], u: [1, 0.05, 0],\n"                    \
    "   v: [0.07, 0, 1], nodes: [%d, %d], mass: 0.2, velocity: [0, " NUM ", 0],\n"                 \
    "   spring: {stiffness: 200, damping: 0.02}}\n"                                                \
    "- {name: low, type: cloth, origin: [-0.45, 0, -0.43], u: [1, 0, 0], v: [0, 0, 1],\n"          \
    "   nodes: [%d, %d], mass: 0.2, spring: {stiffness: 200, damping: 0.02}%s}\n"

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

// The sum of those of so many frames, this many steps apart. Destroys the solver.
uint64_t crossings_in_run(taut_solver *solver, int frames, uint64_t apart);

// The point of a line between two others that is nearest to p; and the distance of p from the
// nearest triangle. The formulas are not those of the library.
vec3 nearest_on_side(vec3 p, vec3 a, vec3 b);
double triangle_distance(const taut_solver *solver, const struct everything *all, vec3 p);

// kg m/s, and kg m2/s about the origin.
vec3 momentum_of(taut_solver *solver, vec3 *angular);

#endif
