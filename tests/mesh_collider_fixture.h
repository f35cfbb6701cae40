// Shared by the tests of mesh colliders: meshes in files, scenes in which they move, and crossings.
#ifndef TAUT_TESTS_MESH_COLLIDER_FIXTURE_H
#define TAUT_TESTS_MESH_COLLIDER_FIXTURE_H

#include "checkpoint_fixture.h"

#define BOWL "'" TAUT_TEST_SOURCE "/scenes/meshes/bowl.obj'"
#define CUBE "'" TAUT_TEST_SOURCE "/scenes/meshes/cube.asc'"

// Integrators whose steps are solved, and xpbd.
static const char *const implicit_integrators[] = {"implicit_euler", "implicit_midpoint", "bdf2",
                                                   "xpbd, substeps: 8"};
enum { IMPLICIT = sizeof implicit_integrators / sizeof implicit_integrators[0] };

// A square of two triangles in the plane y = 0, of 2 m; quoted path, valid until the next call.
const char *square(void);

// A square of 0.4 m of n by n cells in the plane y = 0; quoted path, valid until the next call.
const char *fine_square(int n);

// The pairs of triangles of bodies and mesh colliders that cross, by the exact checker.
uint64_t crossings_with_meshes(taut_solver *solver);

// A square that moves at (0.5, 2, 0) m/s, or turns as well, hits a ball.
#define HIT "contact: {thickness: 0.01, stiffness: 3000}\n" HIT_BODIES
#define HIT_BODIES                                                                                 \
    "bodies:\n"                                                                                    \
    "- {name: ball, type: sphere, center: [0.1, 0.08, 0.02], radius: 0.05, subdivisions: 2,\n"     \
    "   mass: 0.05, springs: {edges: {stiffness: 300}, second: {stiffness: 300}}}\n"               \
    "colliders:\n"                                                                                 \
    "- {type: mesh, file: %s, motion: {velocity: [0.5, 2, 0], angular_velocity: [0, 0, %g]}}\n"

// A hanging sheet that a square sweeps along at a speed (m/s); `more` colliders.
taut_solver *swept_of(const char *precision, const char *integrator, double speed, double dt,
                      const char *more, const struct solver_options *options);

#endif
