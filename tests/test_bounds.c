// The guaranteed bound of the critical step: never above the computed value, whatever forces act,
// and not far below it.
#include "physics.h"

#include <math.h>
#include <stdlib.h>

static struct critical_step critical_step_of(taut_solver *solver)
{
    struct critical_step critical;
    taut_error error = {0};
    if (solver_computed_steps(solver, &critical, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return critical;
}

// The ratio of bound and computed value for symplectic Euler, with damping and all forces.
static double ratio_of(taut_solver *solver)
{
    struct critical_step critical = critical_step_of(solver);
    assert_true(critical.omega >= critical.computed_omega * (1 - 1e-9));
    double ratio = critical.dt[INTEGRATOR_SYMPLECTIC_EULER] /
                   critical.computed_dt[INTEGRATOR_SYMPLECTIC_EULER];
    assert_true(ratio <= 1 + 1e-9);
    return ratio;
}

// As built, and with all nodes displaced: springs are stretched, compressed and rotated.
static void assert_bounded(const char *body, double at_least, double disturbed_at_least)
{
    taut_solver *solver = solver_of(HEADER("symplectic_euler", "1e-5") "bodies: [%s]\n", body);
    double ratio = ratio_of(solver);
    if (!(ratio >= at_least))
        fail_msg("the bound is %g of the computed value, less than %g: %s", ratio, at_least, body);
    uint64_t seed = 7;
    for (int round = 0; round < 6; round++) {
        for (size_t i = 0; i < (size_t)taut_solver_node_count(solver); i++) {
            vec3 at = position_of(solver, i);
            vec3 by = {next_random(&seed), next_random(&seed), next_random(&seed)};
            put(solver, i, vec3_add(at, vec3_scale(0.05, by)));
        }
        ratio = ratio_of(solver);
        if (!(ratio >= disturbed_at_least))
            fail_msg("disturbed, the bound is %g of the computed value: %s", ratio, body);
    }
    taut_solver_destroy(solver);
}

// A heavy middle with light nodes around it, and stiff springs next to soft ones: dividing the
// stiffness of such springs equally between their ends would give a poor bound.
static void test_uneven_bodies(void **state)
{
    (void)state;
    assert_bounded("{name: star, type: network, nodes: [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[-1,0,0],\n"
                   "  [0,-1,0]], node_mass: [50, 1, 1, 1, 1, 1], springs:\n"
                   "  [[0,1,{stiffness: 100}],[0,2,{stiffness: 100}],[0,3,{stiffness: 100}],\n"
                   "   [0,4,{stiffness: 100}],[0,5,{stiffness: 100}]]}",
                   0.98, 0.9);
    assert_bounded(
        "{name: chain, type: network, nodes: [[0,0,0],[1,0,0],[2,0,0],[3,0,0],[4,0,0]],\n"
        "  node_mass: [1, 1, 1, 1, 1], springs: [[0,1,{stiffness: 10}],\n"
        "  [1,2,{stiffness: 1000, damping: 3}],[2,3,{stiffness: 10}],\n"
        "  [3,4,{stiffness: 20, damping: 1}]]}",
        0.99, 0.95);
}

// Ropes and cloths in which all neighbours are linked (cliques): the usual bound is nearly twice
// too stiff.
static void test_cliques(void **state)
{
    (void)state;
    assert_bounded("{name: all, type: rope, links: all, from: [0,0,0], to: [0.95,0,0], nodes: 20,\n"
                   "  node_mass: 0.05, spring: {stiffness: 200, damping: 0.2}, pins: [first]}",
                   0.999, 0.7);
    assert_bounded("{name: all, type: rope, links: all, from: [0,0,0], to: [0.95,0,0], nodes: 9,\n"
                   "  node_mass: 0.05, spring: {stiffness: 200, damping: 0.2, damping_law: full,\n"
                   "  rest_length: 0.05}}",
                   0.6, 0.6);
    assert_bounded("{name: all, type: cloth, u: [1,0,0], v: [0,0,1], nodes: [5,5], links: all,\n"
                   "  node_mass: 0.01, spring: {stiffness: 60, damping: 0.05}, pins: [0, 4]}",
                   0.9, 0.8);
}

static void test_gas(void **state)
{
    (void)state;
    assert_bounded("{name: ball, type: sphere, center: [0,0,0], radius: 1, subdivisions: 2,\n"
                   "  mass: 1, springs: {edges: {stiffness: 30, damping: 0.001}},\n"
                   "  pressure: {amount: 40, inflate: 1}}",
                   0.55, 0.45);
    assert_bounded("{name: ball, type: sphere, center: [0,0,0], radius: 1, subdivisions: 1,\n"
                   "  mass: 1, springs: {edges: {stiffness: 300}},\n"
                   "  pressure: {amount: 400, inflate: 1, atmosphere: 90, gamma: 1.4}}",
                   0.55, 0.45);
    assert_bounded(
        "{name: ring, type: ring, center: [0,0,0], radius: 1, nodes: 24, node_mass: 0.1,\n"
        "  spring: {stiffness: 100}, pressure: {amount: 90, inflate: 1}}",
        0.55, 0.45);
}

// A closed body with gas is stiffer than its springs: if these are soft, the gas alone sets the
// limit, and runs diverge above it. Checked on both sides of the computed value; the bound is never
// above it.
static void test_gas_counts(void **state)
{
    (void)state;
    static const char *const body =
        "bodies: [{name: ball, type: sphere, center: [0,0,0], radius: 1, subdivisions: 2,\n"
        "  mass: 0.01, springs: {edges: {stiffness: 0.01}},\n"
        "  pressure: {amount: 400, inflate: 1, atmosphere: 95.5}}]\n";
    taut_solver *solver = solver_of(HEADER("symplectic_euler", "1e-5") "%s", body);
    struct critical_step with_gas = critical_step_of(solver);
    taut_solver_destroy(solver);
    assert_true(with_gas.bound <= with_gas.computed);
    assert_true(with_gas.bound > 0.3 * with_gas.computed);
    assert_true(with_gas.computed < 0.2 * 2 / sqrt(0.01 * 12 * 162 / 0.01));
    for (int side = -1; side <= 1; side += 2) {
        solver = solver_of("precision: double\n"
                           "simulation: {integrator: symplectic_euler, dt: " NUM ", steps: 1}\n"
                           "%s",
                           (1 + 0.1 * side) * with_gas.computed, body);
        double start = energy_of(solver).kinetic;
        taut_error error = {0};
        taut_status status = taut_solver_step(solver, 400, &error);
        bool grown = status != TAUT_OK || energy_of(solver).kinetic > 100 + start;
        assert_int_equal(grown, side > 0);
        taut_solver_destroy(solver);
    }
}

// Drag on compressed springs: a root decays faster than by drag alone.
static void test_pressed_springs(void **state)
{
    (void)state;
    static const enum integrator integrators[] = {INTEGRATOR_EXPLICIT_EULER, INTEGRATOR_MIDPOINT,
                                                  INTEGRATOR_RK4};
    static const char *const bodies[] = {
        "{name: c, type: network, nodes: [[0,0,0],[1,0.1,0],[2,0,0.1],[3,0,0]], pins: [0,3],\n"
        "  node_mass: [1,1,1,1], springs: [[0,1,{stiffness: 100, rest_length: 3}],\n"
        "  [1,2,{stiffness: 100, rest_length: 3}],[2,3,{stiffness: 100, rest_length: 3}]]}",
        "{name: c, type: cloth, u: [1,0,0], v: [0,0,1], nodes: [5,4], node_mass: 0.1,\n"
        "  springs: {structural: {stiffness: 100, rest_length: 0.9},\n"
        "  shear: {stiffness: 50, rest_length: 0.8}}}"};
    static const char *const precisions[] = {"single", "double"};
    for (int b = 0; b < 4; b++) {
        taut_solver *solver = solver_of("precision: %s\n"
                                        "simulation: {integrator: rk4, dt: 1e-5, steps: 1}\n"
                                        "environment: {air_drag: 12}\nbodies: [%s]\n",
                                        precisions[b % 2], bodies[b / 2]);
        struct critical_step critical = critical_step_of(solver);
        for (int i = 0; i < 3; i++) {
            double bound = critical.dt[integrators[i]],
                   computed = critical.computed_dt[integrators[i]];
            assert_true(critical.exact[integrators[i]]);
            assert_true(bound > 0.5 * computed && bound <= computed * (1 + 1e-5));
        }
        taut_solver_destroy(solver);
    }
}

// In the corner of a room a node slides along two walls while the third pushes it out.
static void test_the_corner_of_a_room(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler", "1e-5") "colliders: [{type: room, min: [0,0,0], max: [5,5,5],\n"
                                           "  stiffness: 100, friction: 3}]\n"
                                           "bodies: [{name: b, type: network, node_mass: [1,1],\n"
                                           "  nodes: [[-0.01,-0.01,-0.01],[1,1,1]],\n"
                                           "  springs: [[0,1,{stiffness: 1}]]}]\n");
    struct critical_step critical = critical_step_of(solver);
    assert_true(critical.dt[INTEGRATOR_SYMPLECTIC_EULER] <=
                critical.computed_dt[INTEGRATOR_SYMPLECTIC_EULER] * (1 + 1e-9));
    assert_true(critical.dt[INTEGRATOR_RK4] <= critical.computed_dt[INTEGRATOR_RK4] * (1 + 1e-9));
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uneven_bodies),
        cmocka_unit_test(test_cliques),
        cmocka_unit_test(test_gas),
        cmocka_unit_test(test_gas_counts),
        cmocka_unit_test(test_pressed_springs),
        cmocka_unit_test(test_the_corner_of_a_room),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
