// `rayleigh`: drag in proportion to mass slows free bodies down exponentially, whatever their kind,
// the integrator and the kernel; damping in proportion to stiffness is the elastic force of a
// displacement, for springs and every element; the energy budget counts both, the step of explicit
// Euler is that of the closed form, and the bits do not depend on the machine.
#include "physics.h"

#include <math.h>
#include <stdlib.h>

#include "topology/topology.h"

#define SHEET "'" TAUT_TEST_SOURCE "/tests/data/meshes/sheet.obj'"

// Soft bodies of every type that has `elastic` or `fabric`, 5 m apart; the last has no drag.
#define BODIES                                                                                     \
    "bodies:\n"                                                                                    \
    "- {name: a, type: lattice, nodes: [5, 4, 4], spacing: 0.1, velocity: [1, 0.5, -2],\n"         \
    "   elastic: {young: 1e4, poisson: 0.3, density: 800}, rayleigh: {mass: 2}}\n"                 \
    "- {name: b, type: cloth, origin: [0, 5, 0], u: [1, 0, 0], v: [0, 0, 1], nodes: [9, 8],\n"     \
    "   velocity: [1, 0.5, -2], rayleigh: {mass: 0.5, stiffness: 1e-4},\n"                         \
    "   elastic: {young: 1e5, poisson: 0.4, density: 500, thickness: 0.001}}\n"                    \
    "- {name: c, type: rope, from: [0, 10, 0], to: [1, 10, 0], nodes: 12,\n"                       \
    "   velocity: [1, 0.5, -2], elastic: {young: 1e6, density: 1000, diameter: 0.01},\n"           \
    "   rayleigh: {mass: 3}}\n"                                                                    \
    "- {name: d, type: mesh, file: " SHEET ", translate: [0, 15, 0], velocity: [1, 0.5, -2],\n"    \
    "   elastic: {young: 2e5, poisson: 0.3, density: 900, thickness: 0.02},\n"                     \
    "   rayleigh: {mass: 1, stiffness: 1e-4}}\n"                                                   \
    "- {name: e, type: sphere, center: [0, 20, 0], radius: 0.5, subdivisions: 2,\n"                \
    "   velocity: [1, 0.5, -2], rayleigh: {mass: 4},\n"                                            \
    "   elastic: {young: 2e5, poisson: 0.4, density: 900, thickness: 0.002}}\n"                    \
    "- {name: f, type: lattice, origin: [0, 25, 0], nodes: [4, 4, 4], spacing: 0.1,\n"             \
    "   velocity: [1, 0.5, -2], elastic: {young: 1e4, density: 800}}\n"

static const double rates[] = {2, 0.5, 3, 1, 4, 0};

static taut_solver *bodies_of(const char *integrator, taut_kernel kernel, double dt)
{
    const struct solver_options options = {.config = {.threads = 2, .kernel = kernel}};
    return solver_from(scene_of("precision: double\n"
                                "simulation: {integrator: %s, dt: " NUM ", steps: 1}\n" BODIES,
                                integrator, dt),
                       &options);
}

static void give_random_velocities(taut_solver *solver)
{
    uint64_t seed = 7;
    for (uint64_t node = 0; node < taut_solver_node_count(solver); node++)
        put_velocity(solver, node,
                     vec3_make(next_random(&seed), next_random(&seed), next_random(&seed)));
}

// ---- Drag in proportion to mass

static void test_free_bodies_slow_down_exponentially(void **state)
{
    (void)state;
    static const char *const integrators[] = {
        "rk4",      "explicit_euler", "symplectic_euler",  "verlet", "velocity_verlet",
        "midpoint", "implicit_euler", "implicit_midpoint", "bdf2",   "xpbd"};
    const double dt = 1e-4;
    const uint64_t steps = 1000;
    const vec3 start = {1, 0.5, -2};
    for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++)
        for (int reference = 0; reference < 2; reference++) {
            taut_solver *solver =
                bodies_of(integrators[i], reference ? TAUT_KERNEL_REFERENCE : TAUT_KERNEL_AUTO, dt);
            const struct topology *topology = solver_topology(solver);
            vec3 *from = calloc(topology->node_count, sizeof *from);
            assert_non_null(from);
            for (uint64_t node = 0; node < topology->node_count; node++)
                from[node] = position_of(solver, node);
            advance(solver, steps);
            for (size_t b = 0; b < topology->body_count; b++) {
                const double rate = rates[b], time = (double)steps * dt;
                const double left = exp(-rate * time);
                const double effective_time = rate > 0 ? (1 - left) / rate : time;
                for (uint64_t n = 0; n < topology->bodies[b].node_count; n++) {
                    const uint64_t node = topology->bodies[b].first_node + n;
                    const vec3 moved = vec3_subtract(position_of(solver, node), from[node]);
                    // The error of a method of order 1 is rate^2 t dt / 2 of the velocity.
                    const double most = 1e-7 + 2 * rate * rate * time * dt;
                    assert_vector_near(velocity_of(solver, node), vec3_scale(left, start), most);
                    assert_vector_near(moved, vec3_scale(effective_time, start),
                                       (most + 2 * rate * dt) * time);
                }
            }
            free(from);
            taut_solver_destroy(solver);
        }
}

// Falling bodies have the terminal speed g / rate.
static void test_terminal_speeds(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "rk4", "implicit_euler", "xpbd"};
    for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: %s, dt: 0.0005, steps: 1}\n"
                      "environment: {gravity: [0, -10, 0]}\n"
                      "bodies: [{name: a, type: lattice, nodes: [4, 4, 4], spacing: 0.1,\n"
                      "          elastic: {young: 1e4, density: 800}, rayleigh: {mass: 20}}]\n",
                      integrators[i]);
        advance(solver, 3000);
        for (uint64_t node = 0; node < taut_solver_node_count(solver); node++)
            assert_vector_near(velocity_of(solver, node), vec3_make(0, -0.5, 0), 1e-6);
        taut_solver_destroy(solver);
    }
}

// Without other damping, a mode of frequency omega is stable in explicit Euler up to rate /
// omega^2, whatever omega is above rate / 2. Tests few nodes and many, which have different
// methods.
static void test_steps_are_those_of_the_closed_form(void **state)
{
    (void)state;
    static const int nodes[] = {4, 16};
    const double rate = 3;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        taut_solver *solver = solver_of(
            HEADER("explicit_euler", "1e-6") "bodies: [{name: a, type: lattice, nodes: [%d, %d, "
                                             "%d], spacing: 0.1,\n"
                                             "  elastic: {young: 1e4, density: 800},\n"
                                             "  rayleigh: {mass: " NUM "}}]\n",
            nodes[i], nodes[i], nodes[i], rate);
        taut_critical_step step;
        taut_error error = {0};
        assert_int_equal(taut_solver_critical_step(solver, 1, &step, &error), TAUT_OK);
        const double omega = 2 / step.computed, expected = rate / (omega * omega);
        assert_near(step.dt_computed / expected, 1, 2e-3);
        assert_true(step.dt_bound > 0 && step.dt_bound <= step.dt_computed);
        taut_solver_destroy(solver);
    }
}

// ---- Damping in proportion to stiffness

// At rest, the force of velocities u / s equals that of small displacements u.
static void test_damping_is_the_force_of_a_displacement(void **state)
{
    (void)state;
    const double time = 1e-4, small = 1e-7;
    taut_solver *moved = bodies_of("rk4", TAUT_KERNEL_AUTO, 1e-5);
    taut_solver *moving = bodies_of("rk4", TAUT_KERNEL_AUTO, 1e-5);
    const struct topology *topology = solver_topology(moved);
    uint64_t seed = 3;
    for (uint64_t node = 0; node < topology->node_count; node++) {
        const vec3 u = vec3_make(small * next_random(&seed), small * next_random(&seed),
                                 small * next_random(&seed));
        put(moved, node, vec3_add(position_of(moved, node), u));
        put_velocity(moved, node, vec3_make(0, 0, 0));
        put_velocity(moving, node, vec3_scale(1 / time, u));
    }
    double *elastic = all_forces(moved), *damping = all_forces(moving);
    for (size_t b = 1; b < 4; b += 2) { // the two bodies with such damping
        const struct topology_body *body = &topology->bodies[b];
        double greatest = 0;
        for (uint64_t i = 3 * body->first_node; i < 3 * (body->first_node + body->node_count); i++)
            greatest = fmax(greatest, fabs(elastic[i]));
        assert_true(greatest > 0);
        for (uint64_t i = 0; i < 3 * body->node_count; i++) {
            const uint64_t node = body->first_node + i / 3;
            const vec3 v = velocity_of(moving, node);
            const double drag = rates[b] * topology_mass(topology, node) *
                                (i % 3 == 0   ? v.x
                                 : i % 3 == 1 ? v.y
                                              : v.z);
            assert_near(damping[3 * body->first_node + i] + drag, elastic[3 * body->first_node + i],
                        2e-4 * greatest);
        }
    }
    free(elastic);
    free(damping);
    taut_solver_destroy(moved);
    taut_solver_destroy(moving);
}

// ---- Both

static void test_the_energy_budget_closes(void **state)
{
    (void)state;
    static const taut_kernel kernels[] = {TAUT_KERNEL_AUTO, TAUT_KERNEL_REFERENCE};
    for (size_t k = 0; k < 2; k++) {
        taut_solver *solver = bodies_of("velocity_verlet", kernels[k], 1e-5);
        give_random_velocities(solver);
        const double before = energy_of(solver).total;
        advance(solver, 2000);
        const struct work_done work = work_of(solver);
        const double lost = before - energy_of(solver).total;
        assert_true(work.drag > 0.01 * before && work.damping > 0.005 * before);
        assert_near((work.drag + work.damping) / lost, 1, 2e-3);
        taut_solver_destroy(solver);
    }
}

static uint64_t hash_of(const void *context, const struct solver_options *options)
{
    taut_solver *solver = solver_from(
        scene_of("precision: %s\nsimulation: {dt: 1e-5, steps: 1}\n" BODIES, (const char *)context),
        options);
    advance(solver, 30);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_bits_do_not_depend_on_the_machine(void **state)
{
    (void)state;
    assert_same_hashes(hash_of, "single");
    assert_same_hashes(hash_of, "mixed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_bodies_slow_down_exponentially),
        cmocka_unit_test(test_terminal_speeds),
        cmocka_unit_test(test_steps_are_those_of_the_closed_form),
        cmocka_unit_test(test_damping_is_the_force_of_a_displacement),
        cmocka_unit_test(test_the_energy_budget_closes),
        cmocka_unit_test(test_bits_do_not_depend_on_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
