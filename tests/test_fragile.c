// Springs that break, and springs that yield.
#include "physics.h"

#include <math.h>

// Two nodes on the x axis whose distance the test sets; node 0 is pinned.
static taut_solver *pair_of(const char *keys)
{
    return solver_of(
        HEADER("symplectic_euler",
               "0.001") "bodies: [{name: s, type: network, nodes: [[0,0,0],[1,0,0]],\n"
                        "  node_mass: [1, 1], pins: [0], springs: [[0, 1, {stiffness: 100,\n"
                        "  damping: 0.5, %s}]]}]\n",
        keys);
}

// Puts node 1 at that length, at rest, and makes one step; its speed is then h F / m.
static double force_at(taut_solver *solver, double length)
{
    put(solver, 1, vec3_make(length, 0, 0));
    put_velocity(solver, 1, vec3_make(0, 0, 0));
    advance(solver, 1);
    return velocity_of(solver, 1).x / 0.001;
}

// A spring breaks strictly beyond break_at L0: no force in that evaluation or later; counted once.
static void test_breaks_beyond_and_not_at(void **state)
{
    (void)state;
    taut_solver *solver = pair_of("break_at: 1.25");
    assert_near(force_at(solver, 1.25), -25, 1e-12);
    assert_int_equal(taut_solver_broken_count(solver), 0);
    assert_near(force_at(solver, 0.25), 75, 1e-12); // nor if it is short
    assert_near(force_at(solver, nextafter(1.25, 2)), 0, 0);
    assert_int_equal(taut_solver_broken_count(solver), 1);
    assert_near(force_at(solver, 1.1), 0, 0);
    assert_near(force_at(solver, 0.5), 0, 0);
    assert_near(energy_of(solver).elastic, 0, 0);
    assert_int_equal(taut_solver_broken_count(solver), 1);
    taut_solver_destroy(solver);
}

// An evaluation between steps breaks nothing.
static void test_looking_breaks_nothing(void **state)
{
    (void)state;
    taut_solver *solver = pair_of("break_at: 1.25");
    put(solver, 1, vec3_make(1.5, 0, 0));
    assert_near(force_on(solver, 1).x, -50, 1e-12);
    assert_near(energy_of(solver).elastic, 12.5, 1e-12);
    assert_int_equal(taut_solver_broken_count(solver), 0);
    assert_near(force_at(solver, 1.2), -20, 1e-12);
    taut_solver_destroy(solver);
}

// A rope pulled by its end breaks somewhere and the pieces fly apart: broken springs stay broken,
// with each integrator.
static void test_breaking_is_for_ever(void **state)
{
    (void)state;
    static const char *const integrators[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                              "velocity_verlet", "midpoint",         "rk4"};
    for (int i = 0; i < 6; i++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: %s, dt: 0.0005, steps: 1}\n"
                      "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 11,\n"
                      "  node_mass: 0.05, pins: [first], spring: {stiffness: 500, damping: 0.1,\n"
                      "  break_at: 1.2}, drives: [{node: last, velocity: [3,0,0]}]}]\n",
                      integrators[i]);
        uint64_t before = 0;
        for (int sample = 0; sample < 40; sample++) {
            advance(solver, 20);
            uint64_t broken = taut_solver_broken_count(solver);
            assert_true(broken >= before && broken <= 10);
            before = broken;
        }
        assert_true(before >= 1);
        assert_near(position_of(solver, 10).x, 1 + 3 * 0.4, 1e-12);
        taut_solver_destroy(solver);
    }
}

// Which springs break does not depend on threads, kernels or tiles.
static void test_breaking_depends_on_no_plan(void **state)
{
    (void)state;
    static const char *const text =
        "precision: single\nsimulation: {dt: 0.0005, steps: 1}\n"
        "environment: {gravity: [30,-9,0]}\n"
        "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0,1], nodes: [31,31],\n"
        "  mass: 0.5, pins: [left], springs: {structural: {stiffness: 60, break_at: 1.2},\n"
        "  shear: {stiffness: 30, damping: 0.01, break_at: 1.3}}}]\n";
    uint64_t hash = 0, broken = 0;
    for (int threads = 1; threads <= 4; threads++) {
        struct solver_options options = {.config = {.threads = threads}};
        taut_solver *solver = solver_from(scene_of("%s", text), &options);
        advance(solver, 400);
        if (threads == 1) {
            hash = taut_solver_hash(solver);
            broken = taut_solver_broken_count(solver);
        }
        assert_true(taut_solver_hash(solver) == hash);
        assert_int_equal(taut_solver_broken_count(solver), broken);
        taut_solver_destroy(solver);
    }
    assert_true(broken > 20);
}

// Past an elastic strain of yield_at the rest length moves until the strain is yield_at again.
static void test_yields_in_tension_and_compression(void **state)
{
    (void)state;
    taut_solver *solver = pair_of("yield_at: 0.25");
    assert_near(force_at(solver, 1.25), -25, 1e-12); // not yet
    assert_near(rest_length_of(solver, 0), 1, 0);
    double force = force_at(solver, 2);
    assert_near(rest_length_of(solver, 0), 1.6, 1e-15); // (2 - 1.6) / 1.6 = 0.25
    assert_near(force, -100 * 0.4, 1e-12);
    assert_near(force_at(solver, 1.6), 0, 1e-12); // the deformation is permanent
    assert_near(force_at(solver, 1.5), 10, 1e-12);
    assert_near(rest_length_of(solver, 0), 1.6, 1e-15);
    force = force_at(solver, 0.9);
    assert_near(rest_length_of(solver, 0), 1.2, 1e-15); // (1.2 - 0.9) / 1.2 = 0.25
    assert_near(force, 100 * 0.3, 1e-12);
    taut_solver_destroy(solver);
}

// The elastic strain is yield_at again after one step, not gradually, also with integrators of
// several evaluations.
static void test_yields_once_a_step(void **state)
{
    (void)state;
    static const char *const integrators[] = {"explicit_euler", "symplectic_euler", "midpoint",
                                              "rk4"};
    for (int i = 0; i < 4; i++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: %s, dt: 0.01, steps: 1}\n"
            "bodies: [{name: s, type: network, nodes: [[0,0,0],[1.25,0,0]], node_mass: [1, 1],\n"
            "  pins: [0], velocities: [[0,0,0],[10,0,0]],\n"
            "  springs: [[0, 1, {stiffness: 100, rest_length: 1, yield_at: 0.25}]]}]\n",
            integrators[i]);
        advance(solver, 1); // it moves during the step, but was not past the limit at the start
        assert_near(rest_length_of(solver, 0), 1, 0);
        double length = position_of(solver, 1).x;
        assert_true(length > 1.3);
        advance(solver, 1);
        assert_near(rest_length_of(solver, 0), length / 1.25, 1e-14);
        taut_solver_destroy(solver);
    }
}

// A slack spring has no stress on that side and does not yield there.
static void test_slack_springs_do_not_yield(void **state)
{
    (void)state;
    taut_solver *solver = pair_of("yield_at: 0.25, law: tension_only");
    force_at(solver, 0.2);
    assert_near(rest_length_of(solver, 0), 1, 0);
    force_at(solver, 2);
    assert_near(rest_length_of(solver, 0), 1.6, 1e-15);
    taut_solver_destroy(solver);
    solver = pair_of("yield_at: 0.25, law: compression_only");
    force_at(solver, 3);
    assert_near(rest_length_of(solver, 0), 1, 0);
    force_at(solver, 0.6);
    assert_near(rest_length_of(solver, 0), 0.8, 1e-15);
    taut_solver_destroy(solver);
}

// Nor does it break there: a spring that only compression loads is slack wherever it is long.
static void test_slack_springs_do_not_break(void **state)
{
    (void)state;
    taut_solver *solver = pair_of("break_at: 1.5, law: compression_only");
    force_at(solver, 3);
    assert_int_equal(taut_solver_broken_count(solver), 0);
    taut_solver_destroy(solver);
    solver = pair_of("break_at: 1.5, law: tension_only");
    force_at(solver, 3);
    assert_int_equal(taut_solver_broken_count(solver), 1);
    taut_solver_destroy(solver);
}

// A damped spring that is pulled beyond its limit and released comes to rest longer than it was
// built.
static void test_permanent_set_after_unloading(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler",
        "0.001") "bodies: [{name: s, type: network, nodes: [[0,0,0],[1,0,0]], node_mass: [1, 1],\n"
                 "  pins: [0], velocities: [[0,0,0],[8,0,0]],\n"
                 "  springs: [[0, 1, {stiffness: 100, damping: 5, yield_at: 0.1}]]}]\n");
    advance(solver, 20000);
    double rest = rest_length_of(solver, 0);
    assert_true(rest > 1.2);
    assert_near(position_of(solver, 1).x, rest, 1e-9);
    assert_near(energy_of(solver).total, 0, 1e-15);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_breaks_beyond_and_not_at),
        cmocka_unit_test(test_looking_breaks_nothing),
        cmocka_unit_test(test_breaking_is_for_ever),
        cmocka_unit_test(test_breaking_depends_on_no_plan),
        cmocka_unit_test(test_yields_in_tension_and_compression),
        cmocka_unit_test(test_yields_once_a_step),
        cmocka_unit_test(test_slack_springs_do_not_yield),
        cmocka_unit_test(test_slack_springs_do_not_break),
        cmocka_unit_test(test_permanent_set_after_unloading),
    };
    return cmocka_run_group_tests_name("fragile", tests, NULL, NULL);
}
