// The line preconditioner of the implicit integrators: fewer iterations, and the same solution.
#include "physics.h"

#include <math.h>

static const struct implicit_statistics *statistics_of(const taut_solver *solver)
{
    return solver_implicit_statistics(solver);
}

static taut_solver *solver_on(const char *text, taut_kernel kernel)
{
    struct solver_options options = {.config = {.threads = 2, .kernel = kernel}};
    return solver_from(scene_of("%s", text), &options);
}

// The plain loops have no grids and so no lines. Runs the same number of steps on both, and returns
// the ratio of their iterations.
static double compare(const char *text, uint64_t steps, double tolerance)
{
    taut_solver *lines = solver_on(text, TAUT_KERNEL_AUTO);
    taut_solver *plain = solver_on(text, TAUT_KERNEL_REFERENCE);
    advance(lines, steps);
    advance(plain, steps);
    assert_int_equal(statistics_of(lines)->unconverged, 0);
    for (size_t i = 0; i < (size_t)taut_solver_node_count(lines); i++)
        assert_vector_near(position_of(lines, i), position_of(plain, i), tolerance);
    double ratio =
        (double)statistics_of(plain)->iterations / (double)statistics_of(lines)->iterations;
    taut_solver_destroy(lines);
    taut_solver_destroy(plain);
    return ratio;
}

#define IMPLICIT(integrator, newton)                                                               \
    "precision: double\n"                                                                          \
    "simulation: {integrator: " integrator ", dt: 0.01, steps: 1,\n"                               \
    "  implicit: {tolerance: 1e-9, newton: " newton "}}\n"                                         \
    "environment: {gravity: [0, -9.81, 0], air_drag: 0.001}\n"

// A chain is a single line: the preconditioner has its whole matrix, and a few iterations solve it.
static void test_a_chain_is_solved_at_once(void **state)
{
    (void)state;
    taut_solver *solver =
        solver_on(IMPLICIT("implicit_euler", "1") "bodies: [{name: r, type: rope, from: [0,0,0],\n"
                                                  "  to: [1,1,0], nodes: 200, node_mass: 0.01,\n"
                                                  "  pins: [0, 120], spring: {stiffness: 1e5,\n"
                                                  "  damping: 0.1}}]\n",
                  TAUT_KERNEL_AUTO);
    advance(solver, 20);
    assert_int_equal(statistics_of(solver)->unconverged, 0);
    assert_true(statistics_of(solver)->iterations <= 3 * statistics_of(solver)->solves);
    taut_solver_destroy(solver);
}

#define STIFF_CLOTH                                                                                \
    "bodies: [{name: c, type: cloth, u: [1,0,0], v: [0,0,0.9], nodes: [23,19], node_mass: "        \
    "0.002,\n"                                                                                     \
    "  pins: [0, 22, 190], springs: {structural: {stiffness: 1e5, damping: 0.1},\n"                \
    "  shear: {stiffness: 100}, bend: {stiffness: 1}}}]\n"

static void test_stiff_cloths_take_fewer_iterations(void **state)
{
    (void)state;
    assert_true(compare(IMPLICIT("implicit_euler", "1") STIFF_CLOTH, 12, 1e-6) > 4);
    assert_true(compare(IMPLICIT("bdf2", "1") STIFF_CLOTH, 6, 1e-6) > 4);
}

// Interrupted lines: some threads are slack, and those under the greatest tension break.
static void test_lines_that_are_slack_or_broken(void **state)
{
    (void)state;
    static const char *const text = IMPLICIT(
        "implicit_euler",
        "1") "bodies: [{name: c, type: cloth, u: [1,0,0], v: [0,0,0.9], nodes: [18,17],\n"
             "  node_mass: 0.01, pins: [0, 17, 100],\n"
             "  springs: {structural: {stiffness: 1e4, law: tension_only, break_at: 1.002},\n"
             "  shear: {stiffness: 10}}}]\n";
    assert_true(compare(text, 5, 1e-6) > 1);
    taut_solver *solver = solver_on(text, TAUT_KERNEL_AUTO);
    advance(solver, 15);
    assert_true(taut_solver_broken_count(solver) > 0);
    taut_solver_destroy(solver);
}

// Bodies with lines together with bodies without.
static void test_lines_beside_others(void **state)
{
    (void)state;
    static const char *const text = IMPLICIT(
        "implicit_midpoint",
        "1") "bodies:\n"
             "  - {name: s, type: sphere, center: [0,3,0], radius: 0.5, subdivisions: 2, mass: "
             "0.1,\n"
             "     springs: {edges: {stiffness: 50}}, pressure: {amount: 2, inflate: 1}}\n"
             "  - {name: c, type: cloth, u: [1,0,0], v: [0,0,0.9], nodes: [20,3], node_mass: "
             "0.002,\n"
             "     pins: [0], springs: {structural: {stiffness: 1e4}, shear: {stiffness: 30}}}\n"
             "  - {name: r, type: rope, from: [2,0,0], to: [3,0,0], nodes: 40, node_mass: 0.01,\n"
             "     pins: [first], spring: {stiffness: 1e4}}\n";
    assert_true(compare(text, 10, 1e-6) > 2);
}

// In single precision the factors of such stiff lines lose the masses completely: lines are cut,
// and the results are finite.
static void test_lines_beyond_the_precision(void **state)
{
    (void)state;
    taut_solver *solver = solver_on("simulation: {integrator: implicit_euler, dt: 0.02, steps: 1}\n"
                                    "environment: {gravity: [0, -9.81, 0]}\n"
                                    "bodies: [{name: c, type: cloth, u: [1,0,0], v: [0,0,1], "
                                    "nodes: [20,20], node_mass: 0.001,\n"
                                    "  pins: [0], springs: {structural: {stiffness: 1e12}}}]\n",
                                    TAUT_KERNEL_AUTO);
    advance(solver, 5);
    for (size_t i = 0; i < 400; i++)
        assert_true(isfinite(position_of(solver, i).y));
    taut_solver_destroy(solver);
}

static uint64_t hash_of(const void *context, const struct solver_options *options)
{
    (void)context;
    taut_solver *solver =
        solver_from(scene_of("%s", IMPLICIT("implicit_euler", "1") STIFF_CLOTH), options);
    advance(solver, 8);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits(void **state)
{
    (void)state;
    assert_same_hashes(hash_of, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_chain_is_solved_at_once),
        cmocka_unit_test(test_stiff_cloths_take_fewer_iterations),
        cmocka_unit_test(test_lines_that_are_slack_or_broken),
        cmocka_unit_test(test_lines_beside_others),
        cmocka_unit_test(test_lines_beyond_the_precision),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
