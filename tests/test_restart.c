// A solver continues from the state of another: bit by bit as if there had been only one, if
// nothing changed; from the same positions with the new constants, if they changed.
#include "samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/solver.h"

enum { STEPS = 24 };

static void restore(taut_solver *solver, taut_solver *from)
{
    taut_error error = {0};
    if (solver_restore_from(solver, from, NULL, NULL, &error) != TAUT_OK)
        fail_msg("%s", error.text);
}

static void assert_same_budget(taut_solver *whole, taut_solver *second)
{
    struct work_done a = work_of(whole), b = work_of(second);
    assert_same_bits(a.damping, b.damping);
    assert_same_bits(a.drag, b.drag);
    assert_same_bits(a.friction, b.friction);
    assert_same_bits(a.keep, b.keep);
    assert_same_bits(a.projection, b.projection);
    assert_same_bits(a.wind, b.wind);
    assert_same_bits(a.drives, b.drives);
    assert_same_bits(a.inflation, b.inflation);
    assert_near(a.breaking, b.breaking, 1e-12 * (1 + fabs(a.breaking)));
}

// Runs `whole` for twice as many steps as `first`, from which `second` continues. Destroys all
// three.
static void assert_continues(taut_solver *whole, taut_solver *first, taut_solver *second,
                             uint64_t steps, const char *what)
{
    advance(whole, 2 * steps);
    advance(first, steps);
    uint64_t halfway = taut_solver_hash(first);
    restore(second, first);
    if (taut_solver_hash(first) != halfway || taut_solver_hash(second) != halfway)
        fail_msg("%s: the state is not copied as it is", what);
    advance(second, steps);
    if (taut_solver_hash(second) != taut_solver_hash(whole))
        fail_msg("%s: does not continue to the bit", what);
    assert_int_equal(taut_solver_step_count(second), 2 * steps);
    assert_same_bits(taut_solver_time(second), taut_solver_time(whole));
    assert_int_equal(taut_solver_broken_count(second), taut_solver_broken_count(whole));
    assert_same_budget(whole, second);
    advance(first, steps); // it is unaffected
    assert_true(taut_solver_hash(first) == taut_solver_hash(whole));
    taut_solver_destroy(whole);
    taut_solver_destroy(first);
    taut_solver_destroy(second);
}

static void test_every_integrator(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (size_t s = 0; s < sample_count; s++) {
            const char *name = integrator_name((enum integrator)i);
            const char *precision = precision_number(s + (size_t)i);
            struct solver_options one = {.config = {.threads = 1}};
            struct solver_options three = {.config = {.threads = 3}};
            char *what = text_format("%s with %s", samples[s].name, name);
            assert_continues(sample_solver(&samples[s], precision, name, &one),
                             sample_solver(&samples[s], precision, name, &one),
                             sample_solver(&samples[s], precision, name, &three), STEPS, what);
            free(what);
        }
}

static const char *const project =
    ", {type: room, min: [-0.7,-3,-3], max: [9,3,3], response: project, keep: 0.9}";

static taut_solver *busy_solver(int number, enum integrator integrator, int threads)
{
    struct solver_options options = {.config = {.threads = threads}};
    return solver_from(scene_of(busy_text, precision_number((size_t)number),
                                integrator_name(integrator), "0.0005",
                                number & 2 ? ", steps: 1, keep_velocity: 0.999" : ", steps: 1",
                                number & 4 ? project : ""),
                       &options);
}

static void test_busy_scene(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (int number = 0; number < 12; number++) {
            char *what = text_format("number %d with %s", number, integrator_name(i));
            taut_solver *whole = busy_solver(number, i, 1);
            assert_continues(whole, busy_solver(number, i, 1), busy_solver(number, i, 2), STEPS,
                             what);
            free(what);
        }
    taut_solver *solver = busy_solver(1, INTEGRATOR_VERLET, 1);
    advance(solver, STEPS); // springs break before and after
    uint64_t broken = taut_solver_broken_count(solver);
    advance(solver, STEPS);
    assert_true(broken > 0 && taut_solver_broken_count(solver) > broken);
    taut_solver_destroy(solver);
}

// Long steps of stiff grid lines: the initial guess of the linear systems is part of the state.
static void test_stiff_cloth(void **state)
{
    (void)state;
    static const char *const names[] = {"implicit_euler", "xpbd"};
    for (int i = 0; i < 2; i++) {
        taut_solver *solvers[3];
        for (int k = 0; k < 3; k++)
            solvers[k] = solver_of(
                "precision: double\nsimulation: {integrator: %s, dt: 0.01, steps: 1}\n"
                "environment: {gravity: [0,-9.81,0]}\n"
                "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1.6,0,0], v: [0,0,1.6],\n"
                "  nodes: [31,31], mass: 0.5, pins: [0, 30], springs: {structural:\n"
                "  {stiffness: 1e+6, damping: 0.1}, shear: {stiffness: 1000}}}]\n"
                "colliders: [{type: sphere, center: [0.8,-0.6,0.8], radius: 0.5,\n"
                "  stiffness: 2000, friction: 0.01}]\n",
                names[i]);
        assert_continues(solvers[0], solvers[1], solvers[2], STEPS, names[i]);
    }
}

// Once it has changed, dt is that of the state and not of the scene as built.
static void test_dt_auto(void **state)
{
    (void)state;
    static const char *const names[] = {"symplectic_euler", "verlet", "rk4"};
    for (int i = 0; i < 3; i++) {
        taut_solver *solvers[3];
        for (int k = 0; k < 3; k++)
            solvers[k] = solver_of(
                "simulation: {integrator: %s, dt: auto, duration: 900}\n"
                "bodies: [{name: o, type: network, nodes: [[-1,0,0],[0,0,0],[1,0,0]],\n"
                "  node_mass: [1, 1, 1], pins: [0, 2], velocities: [[0,0,0],[0,9,0],[0,0,0]],\n"
                "  springs: [[0, 1, {stiffness: 100}], [1, 2, {stiffness: 100, break_at: "
                "1.5}]]}]\n",
                names[i]);
        double built = taut_solver_dt(solvers[0]);
        advance(solvers[1], 1100);
        assert_true(taut_solver_dt(solvers[1]) != built); // otherwise the test shows nothing
        restore(solvers[2], solvers[1]);
        assert_same_bits(taut_solver_dt(solvers[2]), taut_solver_dt(solvers[1]));
        assert_int_equal(taut_solver_steps_planned(solvers[2]),
                         taut_solver_steps_planned(solvers[1]));
        advance(solvers[2], 1100);
        advance(solvers[0], 2200);
        assert_true(taut_solver_hash(solvers[2]) == taut_solver_hash(solvers[0]));
        for (int k = 0; k < 3; k++)
            taut_solver_destroy(solvers[k]);
    }
}

// A sphere that was moved by a setter during the run stays there.
static void test_moved_sphere(void **state)
{
    (void)state;
    static const double centre[3] = {0.3, 1.1, 0.2}, velocity[3] = {0, -1, 0};
    taut_error error = {0};
    taut_solver *whole = busy_solver(0, INTEGRATOR_VERLET, 1);
    taut_solver *second = busy_solver(0, INTEGRATOR_VERLET, 1);
    advance(whole, 7);
    assert_int_equal(taut_solver_set_sphere(whole, 1, centre, velocity, &error), TAUT_OK);
    advance(whole, 3);
    restore(second, whole);
    advance(second, 10);
    advance(whole, 10);
    assert_true(taut_solver_hash(whole) == taut_solver_hash(second));
    taut_solver_destroy(whole);
    taut_solver_destroy(second);
}

// ---- Changed scenes

static taut_solver *rope(const char *simulation, const char *more)
{
    return solver_of("%s\nenvironment: {gravity: [0,-9.81,0]}\n"
                     "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 24,\n"
                     "  node_mass: 0.01, pins: [first], links: chain, %s}]\n",
                     simulation, more);
}

#define SOFT "spring: {stiffness: 100, damping: 0.01}"

// From each integrator to each: the same motion except for the integrators' own errors.
static void test_other_integrators(void **state)
{
    (void)state;
    for (int from = 0; from < INTEGRATOR_COUNT; from++)
        for (int to = 0; to < INTEGRATOR_COUNT; to++) {
            char text[2][128];
            snprintf(text[0], sizeof text[0], HEADER("%s", "0.0001"), integrator_name(from));
            snprintf(text[1], sizeof text[1], HEADER("%s", "0.00005"), integrator_name(to));
            taut_solver *first = rope(text[0], SOFT), *second = rope(text[1], SOFT);
            advance(first, 1500);
            restore(second, first);
            assert_near(taut_solver_time(second), 0.15, 1e-12);
            advance(second, 1000);
            assert_near(taut_solver_time(second), 0.2, 1e-12);
            advance(first, 500);
            vec3 a = position_of(first, 23), b = position_of(second, 23);
            if (vec3_length(vec3_subtract(a, b)) > 2e-3)
                fail_msg("%s to %s: %g m apart", integrator_name(from), integrator_name(to),
                         vec3_length(vec3_subtract(a, b)));
            taut_solver_destroy(first);
            taut_solver_destroy(second);
        }
}

// The state has builder numbers, so it passes between plans and precisions.
static void test_other_plans_and_precisions(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++) {
        struct solver_options plain = {.config = {.threads = 1, .kernel = TAUT_KERNEL_REFERENCE}};
        struct solver_options kept = {.config = {.threads = 1}, .keep_numbering = true};
        taut_solver *first = sample_solver(&samples[s], "double", "symplectic_euler", NULL);
        taut_solver *others[3] = {
            sample_solver(&samples[s], "double", "symplectic_euler", &plain),
            sample_solver(&samples[s], "double", "symplectic_euler", &kept),
            sample_solver(&samples[s], "single", "symplectic_euler", NULL),
        };
        advance(first, 20);
        for (int k = 0; k < 3; k++)
            restore(others[k], first);
        advance(first, 20);
        double *expected = all_positions(first);
        for (int k = 0; k < 3; k++) {
            advance(others[k], 20);
            double *found = all_positions(others[k]);
            for (uint64_t i = 0; i < 3 * taut_solver_node_count(first); i++)
                assert_near(found[i], expected[i], k == 2 ? 1e-4 : 1e-9);
            free(found);
            taut_solver_destroy(others[k]);
        }
        free(expected);
        taut_solver_destroy(first);
    }
}

// A hundred times as stiff during the run: the positions are the same, and the energy that the
// springs now have is not taken for divergence. Rest lengths are those as built.
static void test_other_constants(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        char text[128];
        if (integrator_limit((enum integrator)i) == 0) // unstable with any constants
            continue;
        snprintf(text, sizeof text, HEADER("%s", "0.0002"), integrator_name(i));
        taut_solver *first = rope(text, SOFT);
        taut_solver *second = rope(text, "spring: {stiffness: 10000, damping: 0.5}");
        advance(first, 2000);
        double energy = energy_of(first).elastic;
        restore(second, first);
        assert_near(energy_of(second).elastic, 100 * energy, 1e-9);
        advance(second, 5000);
        vec3 end = position_of(second, 23);
        assert_true(vec3_length(end) < 1.02);
        taut_solver_destroy(first);
        taut_solver_destroy(second);
    }
}

// A node that becomes pinned stays; a released one falls.
static void test_other_pins(void **state)
{
    (void)state;
    static const char *const simulation = HEADER("verlet", "0.0002");
    taut_solver *first = rope(simulation, SOFT);
    taut_solver *second =
        solver_of("%s\nenvironment: {gravity: [0,-9.81,0]}\n"
                  "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 24,\n"
                  "  node_mass: 0.01, pins: [last], links: chain, %s}]\n",
                  simulation, SOFT);
    advance(first, 500);
    vec3 end = position_of(first, 23);
    restore(second, first);
    advance(second, 500);
    vec3 pinned = position_of(second, 23);
    assert_same_bits(pinned.x, end.x);
    assert_same_bits(pinned.y, end.y);
    assert_true(vec3_length(velocity_of(second, 23)) == 0);
    assert_true(position_of(second, 0).y < -0.001);
    taut_solver_destroy(first);
    taut_solver_destroy(second);
}

// Changed keys of a sphere apply from now on; its other values continue. A changed `center` is for
// time 0: the sphere is where it would be now if the run had begun with it.
static void test_other_spheres(void **state)
{
    (void)state;
    static const char *const scene = HEADER(
        "symplectic_euler",
        "0.001") "bodies: [{name: n, type: network, nodes: [[0,0,0]],\n"
                 "  node_mass: 1, springs: []}]\n"
                 "colliders: [{type: sphere, center: [%d,0,0], radius: %d, velocity: [0,%d,0],\n"
                 "  stiffness: 5}]\n";
    taut_solver *first = solver_of(scene, 9, 1, 2), *larger = solver_of(scene, 9, 3, 2);
    taut_solver *slower = solver_of(scene, 9, 1, 1), *away = solver_of(scene, 8, 1, 2);
    advance(first, 500);
    taut_solver *const others[] = {larger, slower, away};
    static const double expected[3][4] = {{9, 1.2, 2, 3}, {9, 1.1, 1, 1}, {8, 1.2, 2, 1}};
    for (int k = 0; k < 3; k++) {
        restore(others[k], first);
        advance(others[k], 100);
        struct sphere_state sphere = solver_sphere(others[k], 0);
        assert_near(sphere.centre.x, expected[k][0], 1e-12);
        assert_near(sphere.centre.y, expected[k][1], 1e-12);
        assert_near(sphere.velocity.y, expected[k][2], 0);
        assert_near(sphere.radius, expected[k][3], 0);
        taut_solver_destroy(others[k]);
    }
    taut_solver_destroy(first);
}

static void test_refuses_other_nodes(void **state)
{
    (void)state;
    taut_error error = {0};
    taut_solver *first = rope(HEADER("verlet", "0.001"), SOFT);
    taut_solver *second = oscillator_of((struct oscillator){"verlet", 1, 0.1, 1, 0, 0});
    assert_int_equal(solver_restore_from(second, first, NULL, NULL, &error), TAUT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "same nodes"));
    taut_solver_destroy(first);
    taut_solver_destroy(second);
}

// A checkpoint outlives its solver, and a run from it equals the saved one, up to the rounding of
// times, which are counted from the checkpoint. Given positions and velocities replace the saved
// ones.
static void test_checkpoints(void **state)
{
    (void)state;
    struct solver_options options = {.config = {.threads = 1}};
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (size_t s = 0; s < sample_count; s++) {
            const char *name = integrator_name((enum integrator)i);
            taut_solver *whole = sample_solver(&samples[s], "double", name, &options);
            taut_solver *first = sample_solver(&samples[s], "double", name, &options);
            taut_solver *second = sample_solver(&samples[s], "double", name, &options);
            struct solver_checkpoint *checkpoint;
            taut_error error = {0};
            advance(first, STEPS);
            assert_int_equal(solver_save(first, &checkpoint, &error), TAUT_OK);
            taut_solver_destroy(first);
            advance(whole, 2 * STEPS);
            advance(second, 3);
            size_t count = (size_t)taut_solver_node_count(whole);
            double *positions = calloc(6 * count, sizeof *positions),
                   *now = calloc(6 * count, sizeof *now);
            assert_true(positions && now && count > 1);
            assert_int_equal(solver_restore(second, checkpoint, NULL, NULL, &error), TAUT_OK);
            assert_int_equal(taut_solver_step_count(second), STEPS);
            advance(second, STEPS);
            assert_near(taut_solver_time(second), taut_solver_time(whole), 1e-12);
            assert_int_equal(taut_solver_broken_count(second), taut_solver_broken_count(whole));
            for (uint64_t n = 0; n < count; n++) {
                vec3 apart = vec3_subtract(position_of(second, n), position_of(whole, n));
                if (!(vec3_length(apart) < 1e-8))
                    fail_msg("%s with %s: node %d is %g m away", samples[s].name, name, (int)n,
                             vec3_length(apart));
            }
            solver_read_nodes(second, 0, count, positions, positions + 3 * count, NULL);
            positions[3 * count - 1] += 0.25;
            assert_int_equal(
                solver_restore(second, checkpoint, positions, positions + 3 * count, &error),
                TAUT_OK);
            assert_int_equal(taut_solver_step_count(second), STEPS);
            solver_read_nodes(second, 0, count, now, now + 3 * count, NULL);
            for (size_t k = 0; k < 3 * count; k++)
                assert_same_bits(now[k], positions[k]);
            free(positions);
            free(now);
            solver_checkpoint_free(checkpoint);
            taut_solver_destroy(whole);
            taut_solver_destroy(second);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_integrator),  cmocka_unit_test(test_busy_scene),
        cmocka_unit_test(test_checkpoints),       cmocka_unit_test(test_stiff_cloth),
        cmocka_unit_test(test_dt_auto),           cmocka_unit_test(test_moved_sphere),
        cmocka_unit_test(test_other_integrators), cmocka_unit_test(test_other_plans_and_precisions),
        cmocka_unit_test(test_other_constants),   cmocka_unit_test(test_other_pins),
        cmocka_unit_test(test_other_spheres),     cmocka_unit_test(test_refuses_other_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
