// Solvers of the scenes in scenes/, and the measurements that their tests make. Any failure fails
// the test.
#ifndef TAUT_TESTS_SCENE_RUNS_H
#define TAUT_TESTS_SCENE_RUNS_H

#include "physics.h"

// A solver of scenes/NAME.yaml. `overrides` ("PATH=VALUE") ends with NULL, or is NULL itself;
// `options` may be NULL: one thread. No energy budget unless requested.
taut_solver *scene_open(const char *name, const char *const *overrides,
                        const struct solver_options *options);

// Advances to the step nearest to that time, in seconds.
void advance_to(taut_solver *solver, double time);

// A node of a body, by its builder number.
vec3 position_in_body(const taut_solver *solver, const char *body, uint64_t node);
vec3 velocity_in_body(const taut_solver *solver, const char *body, uint64_t node);
vec3 body_force(taut_solver *solver, const char *body, uint64_t node);
uint64_t body_nodes(const taut_solver *solver, const char *body);
double enclosed_volume(taut_solver *solver, const char *body);

// The box around a body, and the mean of its nodes.
struct extent {
    vec3 min, max, mean;
};
struct extent body_extent(const taut_solver *solver, const char *body);

// The greatest strain of all unbroken springs.
double greatest_strain(taut_solver *solver);

// Solves the n equations a x = b by Gaussian elimination with pivoting; a is stored by rows. Both
// are overwritten, b with x.
void solve_linear(size_t n, double *a, double *b);

#endif
