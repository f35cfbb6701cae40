// Steps in which nodes fly so far that contact would have to search for minutes, or list more than
// there is memory for: they end with the run where that has diverged, are given up after a request
// to end, and have an end without memory.
#include "checkpoint_fixture.h"
#include "contact_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "base/interruption.h"

// Sheets over each other: how many, and dt, with which some steps of each are stable up to 0.4 ms.
static taut_scene *stacked_sheets(const char *integrator, const char *precision, int sheets,
                                  double dt)
{
    char text[4000];
    int at = snprintf(text, sizeof text,
                      "precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
                      "environment: {gravity: [0, -9.81, 0]}\ncontact: {thickness: 0.004}\n"
                      "bodies:\n",
                      precision, integrator, dt);
    for (int i = 0; i < sheets; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "- {name: s%d, type: cloth, nodes: [40, 40], origin: [%g, %g, 0],\n"
                       "   u: [0.4, 0, 0], v: [0, 0.002, 0.4], mass: 0.05,\n"
                       "   springs: {structural: {stiffness: 200}, shear: {stiffness: 100}},\n"
                       "   velocity: [0, %g, 0]}\n",
                       i, 0.003 * i, 0.0075 * i, -1.0 * i);
    return scene_of("%s", text);
}

// No lists are made that are wide enough for nodes that fly through all sheets: they would have all
// pairs of candidates, which are gigabytes.
static void test_diverged_steps_make_no_wide_lists(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet", "verlet",
                                              "rk4", "midpoint"};
    for (int i = 0; i < 5; i++)
        for (int fast = 0; fast < 2; fast++) {
            taut_scene *scene = stacked_sheets(integrators[i], "single", 6, fast ? 0.0025 : 0.0008);
            taut_solver *solver = create(scene, 1, best_isa());
            struct everything all = everything_of(solver);
            assert_int_equal(taut_solver_step(solver, 16, NULL), TAUT_ERROR_DIVERGED);
            print_message("%s: step %d, %.1f MB\n", integrators[i],
                          (int)taut_solver_step_count(solver), (double)solver_bytes(solver) / 1e6);
            assert_in_range(taut_solver_step_count(solver), 1, 8);
            assert_true(solver_bytes(solver) < 30e6);
            assert_int_equal(crossings_of(solver, &all), 0);
            free_everything(&all);
            taut_solver_destroy(solver);
            taut_scene_destroy(scene);
        }
}

// At which step that is does not depend on lists, which a run that is continued makes anew.
static void test_a_diverged_run_ends_at_one_step(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "verlet", "rk4"};
    static const char *const precisions[] = {"single", "mixed", "double"};
    for (int i = 0; i < 3; i++) {
        enum { SAVES = 16 };
        struct saved saves[SAVES];
        uint64_t count = 0;
        taut_scene *scene = stacked_sheets(integrators[i], precisions[i], 2, 0.0012);
        taut_solver *whole = create(scene, 1, best_isa());
        taut_status status = TAUT_OK;
        while (status == TAUT_OK) {
            assert_true(count < SAVES);
            saves[count++] = save(whole);
            status = taut_solver_step(whole, 1, NULL);
        }
        assert_int_equal(status, TAUT_ERROR_DIVERGED);
        print_message("%s: step %d\n", integrators[i], (int)count);
        const uint64_t hash = taut_solver_hash(whole);
        for (uint64_t k = 0; k < count; k++) {
            taut_solver *second = restore(scene, saves[k], 1, best_isa());
            assert_int_equal(taut_solver_step(second, SAVES, NULL), TAUT_ERROR_DIVERGED);
            assert_int_equal(taut_solver_step_count(second), count);
            assert_true(taut_solver_hash(second) == hash);
            taut_solver_destroy(second);
            taut_bytes_release(saves[k].bytes);
        }
        taut_solver_destroy(whole);
        taut_scene_destroy(scene);
    }
}

// Bodies that are fast, and have been from the start, are no diverged run however far they fly in a
// step.
static void test_fast_bodies_go_on(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "rk4", "explicit_euler"};
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = solver_of(
            "simulation: {integrator: %s, dt: 1e-4, steps: 1}\n"
            "environment: {gravity: [0, -9.81, 0]}\ncontact: {thickness: 0.001}\n"
            "bodies:\n"
            "- {name: a, type: sphere, center: [0, 0.3, 0], radius: 0.05, subdivisions: 1,\n"
            "   mass: 0.05, stiffness: 30, damping: 0.01, velocity: [0, -150, 0]}\n"
            "- {name: b, type: sphere, center: [0.02, -0.3, 0], radius: 0.05, subdivisions: 1,\n"
            "   mass: 0.05, stiffness: 30, damping: 0.01, velocity: [0, 250, 0]}\n"
            "- {name: r, type: rope, from: [-0.3, 0, 0.3], to: [0.3, 0, 0.3], nodes: 40,\n"
            "   mass: 0.01, stiffness: 200, velocity: [0, 300, 0]}\n",
            integrators[i]);
        advance(solver, 40);
        taut_solver_destroy(solver);
    }
}

static int requests;

static int count_requests(void)
{
    return requests;
}

// A step is finished unless it takes long after a request; one that is given up leaves no state,
// and the run from the checkpoint before has the bits of one that nobody has interrupted.
static void test_long_steps_are_given_up(void **state)
{
    (void)state;
    taut_scene *scene = stacked_sheets("symplectic_euler", "single", 2, 0.0002);
    taut_solver *whole = create(scene, 1, best_isa()), *solver = create(scene, 1, best_isa());
    advance(whole, 12);
    struct saved end = save_and_end(whole);
    advance(solver, 4);
    struct saved before = save(solver);
    requests = 0;
    interruption_watch(count_requests);
    advance(solver, 1);
    requests = 1;
    advance(solver, 1); // it takes no second
    assert_true(solver_is_whole(solver));
    assert_false(solver_was_interrupted(solver));
    sleep(2); // as if it did
    taut_error error = {0};
    assert_int_equal(taut_solver_step(solver, 200, &error), TAUT_ERROR_MEMORY);
    assert_non_null(strstr(error.text, "was given up"));
    assert_true(solver_was_interrupted(solver));
    assert_false(solver_is_whole(solver));
    interruption_watch(NULL);
    taut_solver_destroy(solver);
    taut_solver *again = restore(scene, before, 1, best_isa());
    advance(again, 8);
    struct saved same = save_and_end(again);
    assert_same_saved(end, same, "after a step that was given up");
    taut_bytes_release(before.bytes);
    taut_bytes_release(end.bytes);
    taut_bytes_release(same.bytes);
    taut_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diverged_steps_make_no_wide_lists),
        cmocka_unit_test(test_a_diverged_run_ends_at_one_step),
        cmocka_unit_test(test_fast_bodies_go_on),
        cmocka_unit_test(test_long_steps_are_given_up),
    };
    return cmocka_run_group_tests_name("contact_flight", tests, NULL, NULL);
}
