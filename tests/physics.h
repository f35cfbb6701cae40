// What the tests of the physics share: solvers made from a few lines of YAML, and access to and
// changes of their state. Nodes are counted over all bodies here. Whatever goes wrong on the way
// fails the test.
#ifndef TAUT_TESTS_PHYSICS_H
#define TAUT_TESTS_PHYSICS_H

#include "test.h"

#include "base/text.h"
#include "solver/solver.h"

#define PI 3.14159265358979323846

// cmocka's own wants its macro fail(), which test.h takes away.
#undef fail_msg
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        print_error("ERROR: " __VA_ARGS__);                                                        \
        print_error("\n");                                                                         \
        _fail(__FILE__, __LINE__);                                                                 \
    } while (0)

// A number for YAML text, to the last bit.
#define NUM "%.17g"

// HEADER("symplectic_euler", "0.001") begins a scene of double precision.
#define HEADER(integrator, dt)                                                                     \
    "precision: double\nsimulation: {integrator: " integrator ", dt: " dt ", steps: 1}\n"

// The scene in a text, which is freed; from printf's arguments.
taut_scene *scene_of_text(char *text);
#define scene_of(...) scene_of_text(text_format(__VA_ARGS__))

// A solver of that text with one thread.
#define solver_of(...) solver_from(scene_of(__VA_ARGS__), NULL)

// A solver of the scene, which is destroyed; `options` may be NULL: one thread.
taut_solver *solver_from(taut_scene *scene, const struct solver_options *options);

// A mass of 1 kg at x = `position` with velocity `speed`, tied to the pinned node 0 at the origin
// by a spring without length, k = omega^2: x'' = -omega^2 x - damping x' in every direction, with
// full damping. Node 1. No energy budget.
struct oscillator {
    const char *integrator;
    double omega, dt, position, speed, damping;
};

taut_solver *oscillator_of(struct oscillator wanted);

void advance(taut_solver *solver, uint64_t steps);

vec3 position_of(const taut_solver *solver, uint64_t node);
vec3 velocity_of(const taut_solver *solver, uint64_t node);

// All forces on the node now, springs that would break included.
vec3 force_on(taut_solver *solver, uint64_t node);

// 3 doubles a node over all bodies; the caller frees them.
double *all_forces(taut_solver *solver);
double *all_positions(const taut_solver *solver);

// All forces on the second solver's nodes are those on the first one's, to so many times the
// greatest of them.
void assert_same_forces(taut_solver *expected, taut_solver *solver, double tolerance);

// The same bits, whatever the registers and whoever does the work: `hash_of` runs a scene with the
// options and gives its hash; it is called for 1 to 4 threads on every instruction set of this
// machine.
typedef uint64_t hash_function(const void *context, const struct solver_options *options);
void assert_same_hashes(hash_function *hash_of, const void *context);

taut_energy energy_of(taut_solver *solver);

// The energy budget up to now, by cause (J): what wind, drives and inflation put in, and what the
// others took out.
struct work_done {
    double damping, drag, friction, keep, projection, breaking, wind, drives, inflation;
};
struct work_done work_of(taut_solver *solver);

// Puts a node of a double precision solver there; integrators with a memory of the last step do
// not notice.
void put(taut_solver *solver, uint64_t node, vec3 position);
void put_velocity(taut_solver *solver, uint64_t node, vec3 velocity);

// The present rest length of a spring (builder order) of a double precision solver.
double rest_length_of(const taut_solver *solver, uint64_t spring);

// A number in [-1, 1) from a fixed sequence that `seed` moves on.
double next_random(uint64_t *seed);

// |a - b| <= tolerance, with the numbers in the message. NaN is near to nothing.
void assert_near(double a, double b, double tolerance);
void assert_vector_near(vec3 a, vec3 b, double tolerance);

// The very same bits.
void assert_same_bits(double a, double b);

// The slope of log(error) over log(step) between two runs whose step differs by a factor of 2.
double order_between(double coarse_error, double fine_error);

// TAUT_TEST_QUICK: the long runs are to be short.
bool quick(void);

// Writes a file under TAUT_TEST_OUT/physics and returns its path, valid until the next call.
const char *physics_file(const char *name, const char *text);

#endif
