// Runs of implicit integrators: pins and drives, projection, breaking, stiff cloths, reproducible
// bits.
#include "physics.h"

#include <math.h>

#include "samples.h"

static const char *const implicit[] = {"implicit_euler", "implicit_midpoint", "bdf2"};
enum { IMPLICIT_COUNT = 3 };

static uint64_t unconverged(const taut_solver *solver)
{
    return solver_implicit_statistics(solver)->unconverged;
}

static void test_keep_velocity(void **state)
{
    (void)state;
    for (int i = 0; i < IMPLICIT_COUNT; i++)
        assert_velocity_is_scaled(implicit[i]);
}

// A mass on a rough plane that projects: it loses its speed on the plane, and the integrator's
// history follows the projection.
static void test_projection(void **state)
{
    (void)state;
    for (int i = 0; i < IMPLICIT_COUNT; i++) {
        taut_solver *solver =
            solver_of("precision: double\n"
                      "simulation: {integrator: %s, dt: 0.01, steps: 1}\n"
                      "environment: {gravity: [0,-10,0]}\n"
                      "bodies: [{name: o, type: network, nodes: [[0,0.3,0]], node_mass: [2],\n"
                      "  springs: [], velocities: [[1,0,0]]}]\n"
                      "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0],\n"
                      "  response: project, friction: 2}]\n",
                      implicit[i]);
        advance(solver, 20);
        assert_near(velocity_of(solver, 0).x, 1, 1e-12);
        advance(solver, 400);
        assert_near(position_of(solver, 0).y, 0, 0);
        assert_true(fabs(velocity_of(solver, 0).x) < 0.05);
        taut_solver_destroy(solver);
    }
}

// Pins do not move by a bit, and drives are at the integral of their velocity.
static void test_pins_and_drives(void **state)
{
    (void)state;
    for (int i = 0; i < IMPLICIT_COUNT; i++) {
        taut_solver *solver = solver_of(
            "precision: double\n"
            "simulation: {integrator: %s, dt: 0.03, steps: 1}\n"
            "environment: {gravity: [0,-9.81,0]}\n"
            "bodies:\n"
            "  - {name: r, type: rope, from: [0.1,0.2,0.3], to: [2,0,0], nodes: 9,\n"
            "     node_mass: 0.1, pins: [0], spring: {stiffness: 1.0e+5, damping: 0.1},\n"
            "     drives: [{node: last, velocity: [[0,[0,0,0]],[0.1,[0,1,0.5]],[0.5,[0,0,0]]]}]}\n",
            implicit[i]);
        vec3 pin = position_of(solver, 0);
        advance(solver, 40);
        assert_same_bits(position_of(solver, 0).x, pin.x);
        assert_same_bits(position_of(solver, 0).y, pin.y);
        assert_same_bits(position_of(solver, 0).z, pin.z);
        assert_vector_near(velocity_of(solver, 0), vec3_make(0, 0, 0), 0);
        assert_vector_near(position_of(solver, 8), vec3_make(2, 0.4, 0.2), 1e-12);
        assert_int_equal(unconverged(solver), 0);
        taut_solver_destroy(solver);
    }
}

// Springs break at accepted positions, not at trial ones: here the position that the velocity
// points to is far beyond the limit, and the actual one, since the rope catches the mass, is not.
static void test_nothing_breaks_at_trial_positions(void **state)
{
    (void)state;
    for (int caught = 0; caught < 2; caught++) {
        taut_solver *solver =
            solver_of("precision: double\n"
                      "simulation: {integrator: implicit_euler, dt: 0.1, steps: 1}\n"
                      "bodies: [{name: o, type: network, nodes: [[0,0,0],[1,0,0]],\n"
                      "  node_mass: [1,1], pins: [0], velocities: [[0,0,0],[8,0,0]],\n"
                      "  springs: [[0,1,{stiffness: %s, break_at: 1.5}]]}]\n",
                      caught ? "1.0e+6" : "1");
        advance(solver, 10);
        assert_int_equal(taut_solver_broken_count(solver), caught ? 0 : 1);
        taut_solver_destroy(solver);
    }
}

// 10^6 N/m at a step of 1/60 s: the run stays stable, and the cloth comes to hang.
static void assert_stiff_cloth(const char *integrator, int newton, int nodes, int steps)
{
    taut_solver *solver =
        solver_of("precision: double\n"
                  "simulation: {integrator: %s, dt: " NUM ", steps: 1, implicit: {newton: %d}}\n"
                  "environment: {gravity: [0,-9.81,0], air_drag: 0.001}\n"
                  "output: {work: false}\n"
                  "bodies:\n"
                  "  - {name: o, type: cloth, u: [1,0,0], v: [0,0,1], nodes: [%d,%d], mass: 0.3,\n"
                  "     pins: [0, %d], springs: {structural: {stiffness: 1.0e+6},\n"
                  "     shear: {stiffness: 1000, damping: 0.01}, bend: {stiffness: 1}}}\n",
                  integrator, 1.0 / 60, newton, nodes, nodes, nodes - 1);
    double most = 0;
    for (int step = 0; step < steps; step += 20) {
        advance(solver, 20); // with its checks for divergence
        taut_energy energy = energy_of(solver);
        most = fmax(most, energy.kinetic + energy.elastic);
        assert_true(energy.total < 0); // it was 0 at the start
    }
    assert_true(most < 0.3 * 9.81 * 1); // the energy of its greatest possible fall
    taut_solver_destroy(solver);
}

static void test_a_stiff_cloth_is_stable(void **state)
{
    (void)state;
    assert_stiff_cloth("implicit_euler", 1, quick() ? 7 : 9, 300);
    assert_stiff_cloth("bdf2", 3, 5, quick() ? 60 : 300);
}

struct hashed {
    const struct sample *sample;
    const char *precision, *integrator;
};

static uint64_t hash_of(const void *context, const struct solver_options *options)
{
    const struct hashed *it = context;
    taut_solver *solver = sample_solver(it->sample, it->precision, it->integrator, options);
    advance(solver, 3);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sample_count; i++) {
        struct hashed it = {&samples[i], i % 2 ? "double" : "single", implicit[i % IMPLICIT_COUNT]};
        assert_same_hashes(hash_of, &it);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keep_velocity),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_pins_and_drives),
        cmocka_unit_test(test_nothing_breaks_at_trial_positions),
        cmocka_unit_test(test_a_stiff_cloth_is_stable),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests_name("implicit_runs", tests, NULL, NULL);
}
