// Newton's method in the implicit integrators: it solves their equations, and reports where it does
// not converge.
#include "physics.h"

#include <math.h>
#include <stdlib.h>

static const struct implicit_statistics *statistics_of(const taut_solver *solver)
{
    return solver_implicit_statistics(solver);
}

// A closed ball with gas that hits a plane in the wind. The contact forces are continuous: if
// friction began suddenly, the equations might have no solution.
static taut_solver *ball(const char *keys)
{
    return solver_of(
        "precision: double\n"
        "simulation: {integrator: implicit_euler, dt: 0.02, steps: 1, %s}\n"
        "environment: {gravity: [0,-9.81,0], air_drag: 0.01,\n"
        "  wind: {velocity: [4,0,1], law: quadratic}}\n"
        "output: {work: false}\n"
        "bodies:\n"
        "  - {name: o, type: sphere, center: [0,0.6,0], radius: 0.5, subdivisions: 2,\n"
        "     mass: 0.5, velocity: [1,-3,0],\n"
        "     springs: {edges: {stiffness: 400, damping: 0.2}},\n"
        "     pressure: {amount: 30, atmosphere: 0}}\n"
        "colliders:\n"
        "  - {type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 500}\n",
        keys);
}

// The greatest |M (v+ - v) - h F(x+, v+)| relative to the greatest |M (v+ - v)| of a step.
static double step_residual(taut_solver *solver)
{
    uint64_t count = taut_solver_node_count(solver);
    double *before = calloc((size_t)count * 3, sizeof *before);
    double *after = calloc((size_t)count * 3, sizeof *after);
    assert_non_null(before);
    assert_non_null(after);
    double h = taut_solver_dt(solver), mass = 0.5 / (double)count, worst = 0, greatest = 0;
    solver_read_nodes(solver, 0, count, NULL, before, NULL);
    advance(solver, 1);
    solver_read_nodes(solver, 0, count, NULL, after, NULL);
    double *forces = all_forces(solver);
    for (uint64_t i = 0; i < 3 * count; i++) {
        double change = mass * (after[i] - before[i]);
        worst = fmax(worst, fabs(change - h * forces[i]));
        greatest = fmax(greatest, fabs(change));
    }
    free(before);
    free(after);
    free(forces);
    return worst / greatest;
}

static void test_newton_solves_the_equations(void **state)
{
    (void)state;
    taut_solver *solver = ball("implicit: {newton: 200, tolerance: 1e-10}");
    double worst = 0;
    for (int step = 0; step < 20; step++)
        worst = fmax(worst, step_residual(solver));
    assert_near(worst, 0, 1e-8);
    assert_int_equal(statistics_of(solver)->unconverged, 0);
    assert_true(statistics_of(solver)->worst_residual <= 1e-10);
    assert_true(statistics_of(solver)->solves > 40);
    taut_solver_destroy(solver);
    // One linear system comes close to it, but is not equal.
    solver = ball("implicit: {tolerance: 1e-10}");
    double once = 0;
    for (int step = 0; step < 20; step++)
        once = fmax(once, step_residual(solver));
    assert_true(once > 1e-6);
    assert_int_equal(statistics_of(solver)->solves, 20);
    taut_solver_destroy(solver);
}

static void test_what_does_not_converge_is_counted(void **state)
{
    (void)state;
    taut_solver *solver = ball("implicit: {iterations: 2}");
    advance(solver, 5);
    assert_int_equal(statistics_of(solver)->unconverged, 5);
    assert_int_equal(statistics_of(solver)->iterations, 10);
    assert_true(statistics_of(solver)->worst_residual > 1e-4);
    taut_solver_destroy(solver);
    solver = ball("implicit: {newton: 2, tolerance: 1e-10}");
    advance(solver, 5);
    assert_int_equal(statistics_of(solver)->unconverged, 5);
    assert_int_equal(statistics_of(solver)->solves, 10);
    taut_solver_destroy(solver);
}

// At rest the residual cannot fall any further, which is no failure.
static void test_newton_at_rest(void **state)
{
    (void)state;
    taut_solver *solver =
        solver_of("precision: double\n"
                  "simulation: {integrator: implicit_euler, dt: 0.1, steps: 1,\n"
                  "  implicit: {newton: 20}}\n"
                  "environment: {gravity: [0,-9.81,0]}\n"
                  "bodies: [{name: r, type: rope, from: [0,0,0], to: [0,-1,0], nodes: 6,\n"
                  "  node_mass: 0.1, pins: [0], spring: {stiffness: 1000, damping: 1}}]\n");
    advance(solver, 300);
    assert_int_equal(statistics_of(solver)->unconverged, 0);
    assert_true(statistics_of(solver)->worst_residual <= 1e-4); // not what rounding left of it
    for (uint64_t i = 1; i < 6; i++) { // u_i = (m g / k) (i N - i (i - 1) / 2)
        double n = (double)i;
        assert_near(position_of(solver, i).y,
                    -0.2 * n - 0.1 * 9.81 / 1000 * (n * 5 - n * (n - 1) / 2), 1e-9);
    }
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newton_solves_the_equations),
        cmocka_unit_test(test_what_does_not_converge_is_counted),
        cmocka_unit_test(test_newton_at_rest),
    };
    return cmocka_run_group_tests_name("newton", tests, NULL, NULL);
}
