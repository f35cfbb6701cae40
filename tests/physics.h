// Shared by the tests of the physics: solvers made from a few lines of YAML, and reading and
// changing their state. Nodes are counted over all bodies here. Any failure fails the test.
#ifndef TAUT_TESTS_PHYSICS_H
#define TAUT_TESTS_PHYSICS_H

#include "test.h"

#include "base/text.h"
#include "solver/solver.h"

#define PI 3.14159265358979323846

// cmocka's own version needs its macro fail(), which test.h removes.
#undef fail_msg
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        print_error("ERROR: " __VA_ARGS__);                                                        \
        print_error("\n");                                                                         \
        _fail(__FILE__, __LINE__);                                                                 \
    } while (0)

// Format of a number in YAML text, exact to the last bit.
#define NUM "%.17g"

// HEADER("symplectic_euler", "0.001") begins a scene in double precision.
#define HEADER(integrator, dt)                                                                     \
    "precision: double\nsimulation: {integrator: " integrator ", dt: " dt ", steps: 1}\n"

// The scene of a text, which is freed; scene_of formats the text like printf.
taut_scene *scene_of_text(char *text);
#define scene_of(...) scene_of_text(text_format(__VA_ARGS__))

// A solver of that text with one thread.
#define solver_of(...) solver_from(scene_of(__VA_ARGS__), NULL)

// Makes a solver and destroys the scene; `options` may be NULL: one thread.
taut_solver *solver_from(taut_scene *scene, const struct solver_options *options);

// Node 1 has 1 kg, starts at x = `position` with velocity `speed`, and is tied to the pinned node 0
// at the origin by a spring of zero rest length, k = omega^2: x'' = -omega^2 x - damping x' in
// every direction, with full damping. No energy budget.
struct oscillator {
    const char *integrator;
    double omega, dt, position, speed, damping;
};

taut_solver *oscillator_of(struct oscillator wanted);

void advance(taut_solver *solver, uint64_t steps);

vec3 position_of(const taut_solver *solver, uint64_t node);
vec3 velocity_of(const taut_solver *solver, uint64_t node);

// The present total force on a node, including springs that would break.
vec3 force_on(taut_solver *solver, uint64_t node);

// 3 doubles per node over all bodies; the caller frees them.
double *all_forces(taut_solver *solver);
double *all_positions(const taut_solver *solver);

// Asserts that the forces on all nodes of both solvers agree, to `tolerance` times the greatest
// force.
void assert_same_forces(taut_solver *expected, taut_solver *solver, double tolerance);

// Asserts that `grid` computes its only body as a grid, and in two steps the forces, the energies
// and the power of the damping of `expected`; that power is 0 unless it is `damped`.
void assert_grid_agrees(taut_solver *expected, taut_solver *grid, bool damped);

// Asserts that only the forces on nodes 0 and 1 differ between a body and the same one without the
// spring between them, by more than `least` N.
void assert_only_ends_differ(taut_solver *whole, taut_solver *cut, double least);

// Asserts that results do not depend on instruction set and threads: `hash_of` runs a scene with
// the options and returns its hash; it is called for 1 to 4 threads on every instruction set of
// this machine.
typedef uint64_t hash_function(const void *context, const struct solver_options *options);
void assert_same_hashes(hash_function *hash_of, const void *context);

taut_energy energy_of(taut_solver *solver);

// The energy budget so far, by cause (J): energy supplied by wind, drives and inflation, and energy
// removed by the others.
struct work_done {
    double damping, drag, friction, keep, projection, breaking, wind, drives, inflation, truncation;
};
struct work_done work_of(taut_solver *solver);

// The change of the energy since `start`, J, that damping, friction, projection and drives do not
// explain.
double residual_of(taut_solver *solver, double start);

// An allocator whose allocations fail after a number of them, and which counts the bytes in use.
struct failing {
    uint64_t countdown; // allocations that still succeed
    uint64_t calls, held;
    size_t bytes;
};
void *failing_allocate(void *context, size_t bytes, size_t alignment);
void failing_release(void *context, void *block, size_t bytes);

// Moves a node of a double precision solver; the history that some integrators keep is not changed.
void put(taut_solver *solver, uint64_t node, vec3 position);
void put_velocity(taut_solver *solver, uint64_t node, vec3 velocity);

// The present rest length of a spring (builder order) of a double precision solver.
double rest_length_of(const taut_solver *solver, uint64_t spring);

// Asserts that the nodes of `solver` are where those of `expected` are, to `part` of the longest
// path of a node of `expected` since `start`.
void assert_moves_alike(const taut_solver *expected, const taut_solver *start,
                        const taut_solver *solver, double part);

// Asserts that keep_velocity multiplies every velocity after the step of this integrator: free
// motion is then a geometric series.
void assert_velocity_is_scaled(const char *integrator);

// A number in [-1, 1) from a fixed sequence; advances `seed`.
double next_random(uint64_t *seed);

// |a - b| <= tolerance, with the numbers in the message. Fails for NaN.
void assert_near(double a, double b, double tolerance);
void assert_vector_near(vec3 a, vec3 b, double tolerance);

// Asserts that all bits are equal.
void assert_same_bits(double a, double b);

// The slope of log(error) over log(step) between two runs whose steps differ by a factor of 2.
double order_between(double coarse_error, double fine_error);

// Whether TAUT_TEST_QUICK is set: long runs are shortened.
bool quick(void);

// Writes a file under TAUT_TEST_OUT/physics and returns its path, valid until the next call.
const char *physics_file(const char *name, const char *text);

#endif
