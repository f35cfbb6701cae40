// Surfaces that cross each other at the start: they are refused, or separated by `existing: relax`
// without new crossings, with the same bits on any number of threads, or it says why not.
#include "checkpoint_fixture.h"
#include "contact_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RELAX                                                                                      \
    "precision: %s\nsimulation: {dt: 1e-4, steps: 1}\n"                                            \
    "contact: {thickness: 0.003, stiffness: 10, existing: %s}\n"                                   \
    "bodies:\n"                                                                                    \
    "- {name: far, type: cloth, origin: [3, 0, 0], u: [0.1, 0, 0], v: [0, 0, 0.1], nodes: [4, "    \
    "4],\n"                                                                                        \
    "   mass: 0.1, stiffness: 100, velocity: [1, 2, 3]}\n"

// Bodies that cross each other: balls, a ball and a sheet, jellies, three sheets of which two are
// the same, a rope through a sheet.
static const char *const tangles[] = {
    "- {name: a, type: sphere, center: [-0.04, 0, 0], radius: 0.05, subdivisions: 2, mass: 0.05,\n"
    "   springs: {edges: {stiffness: 300}}}\n"
    "- {name: b, type: sphere, center: [0.04, 0.01, 0.005], radius: 0.05, subdivisions: 2,\n"
    "   mass: 0.05, springs: {edges: {stiffness: 300}}}\n",
    "- {name: a, type: cloth, origin: [-0.2, 0, -0.2], u: [0.4, 0, 0], v: [0, 0, 0.4],\n"
    "   nodes: [21, 21], mass: 0.1, stiffness: 300, pins: [0, 20, 420, 440]}\n"
    "- {name: b, type: sphere, center: [0.013, 0.02, 0.007], radius: 0.05, subdivisions: 2,\n"
    "   mass: 0.05, springs: {edges: {stiffness: 300}}}\n",
    "- {name: a, type: lattice, nodes: [6, 6, 6], spacing: 0.02, mass: 0.5, stiffness: 300}\n"
    "- {name: b, type: lattice, origin: [0.08, 0.03, 0.011], nodes: [6, 6, 6], spacing: 0.02,\n"
    "   mass: 0.5, rotate: [0, 20, 10], stiffness: 300}\n",
    "- {name: a, type: cloth, u: [0.4, 0, 0], v: [0, 0, 0.4], nodes: [11, 11], mass: 0.1,\n"
    "   stiffness: 300}\n"
    "- {name: b, type: cloth, u: [0.4, 0, 0], v: [0, 0, 0.4], nodes: [11, 11], mass: 0.1,\n"
    "   stiffness: 300}\n"
    "- {name: c, type: cloth, origin: [0, -0.02, 0], u: [0.4, 0.04, 0], v: [0, 0, 0.4],\n"
    "   nodes: [11, 11], mass: 0.1, stiffness: 300}\n",
    "- {name: a, type: cloth, origin: [-0.2, 0, -0.2], u: [0.4, 0, 0], v: [0, 0, 0.4],\n"
    "   nodes: [11, 11], mass: 0.1, stiffness: 300}\n"
    "- {name: b, type: rope, from: [0.013, 0.3, 0.007], to: [0.02, -0.06, 0.01], nodes: 19,\n"
    "   mass: 0.02, stiffness: 300}\n",
};

// They are refused; `relax` separates them, leaves the body that is far from them as it was, and
// gives the same bits on three threads. Nothing crosses in the steps that follow.
static void test_crossing_surfaces_are_separated(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tangles / sizeof *tangles; i++)
        for (int single = 0; single < 2; single++) {
            const char *precision = single ? "single" : "double";
            char text[3000];
            snprintf(text, sizeof text, RELAX "%s", precision, "refuse", tangles[i]);
            taut_scene *scene = scene_of("%s", text);
            taut_solver *solver;
            assert_int_equal(taut_solver_create(scene, NULL, &solver, NULL), TAUT_ERROR_SCENE);
            taut_scene_destroy(scene);
            snprintf(text, sizeof text, RELAX "%s", precision, "relax", tangles[i]);
            struct solver_options options = {.config.threads = 3};
            taut_solver *threaded = solver_from(scene_of("%s", text), &options);
            solver = solver_of("%s", text);
            // The sheets meet in nodes and edges, and the rope lies in its sheet with a node: they
            // touch.
            assert_true(i >= 3 || solver_surface_relaxed(solver).crossings > 0);
            assert_true(solver_surface_relaxed(solver).farthest < 0.1);
            assert_true(energy_of(solver).contact == 0); // beyond the range of the barrier
            assert_int_equal(taut_solver_hash(solver), taut_solver_hash(threaded));
            taut_solver_destroy(threaded);
            double *positions = all_positions(solver);
            assert_near(positions[0], 3, 0);
            assert_near(positions[3 * 15 + 2], 0.1, 1e-8);
            free(positions);
            assert_int_equal(crossings_in_run(solver, 10, 20), 0);
        }
}

// A run with bodies that were separated continues with the bits of the run that was saved, although
// the bodies cross in the scene.
static void test_what_was_separated_is_continued(void **state)
{
    (void)state;
    char text[3000];
    snprintf(text, sizeof text, RELAX "%s", "double", "relax", tangles[2]);
    for (uint64_t before = 0; before <= 30; before += 30) {
        taut_scene *scene = scene_of("%s", text);
        const taut_config config = {.threads = 1};
        taut_solver *whole = create_with(scene, &config);
        advance(whole, before);
        const struct saved saved = save(whole);
        taut_solver *rest = restore_with(scene, saved, &config);
        advance(whole, 50);
        advance(rest, 50);
        assert_int_equal(taut_solver_hash(rest), taut_solver_hash(whole));
        taut_bytes_release(saved.bytes);
        taut_solver_destroy(whole);
        taut_solver_destroy(rest);
        taut_scene_destroy(scene);
    }
}

// Ropes that cross in a point, of which one ends on the other, or that are at the same position
// have no distance whose direction would separate them.
static void test_ropes_in_the_same_place_are_separated(void **state)
{
    (void)state;
    static const char *const others[] = {"from: [0.013, 0, -0.2], to: [0.013, 0, 0.2]",
                                         "from: [0.013, 0, 0], to: [0.013, 0, 0.2]",
                                         "from: [-0.2, 0, 0], to: [0.2, 0, 0]"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {dt: 1e-4, steps: 1}\n"
                      "contact: {thickness: 0.01, stiffness: 10, existing: relax}\n"
                      "bodies:\n"
                      "- {name: a, type: rope, from: [-0.2, 0, 0], to: [0.2, 0, 0], nodes: 15,\n"
                      "   mass: 0.1, stiffness: 100}\n"
                      "- {name: b, type: rope, %s, nodes: 15, mass: 0.1, stiffness: 100}\n",
                      others[i]);
        assert_true(solver_surface_relaxed(solver).farthest > 0.004);
        assert_true(solver_surface_relaxed(solver).farthest < 0.011);
        advance(solver, 100);
        taut_solver_destroy(solver);
    }
}

// Faces, edges and corners that lie in each other have no side on which to leave: bodies are moved
// as a whole all the same, and not farther than a little more than the range of contact.
static void test_bodies_that_touch_are_separated_as_wholes(void **state)
{
    (void)state;
    static const char *const others[] = {
        "type: lattice, origin: [0.21, 0, 0], nodes: [8, 8, 8], spacing: 0.03, stiffness: 500",
        "type: lattice, origin: [0.21, 0.21, 0], nodes: [8, 8, 8], spacing: 0.03, stiffness: 500",
        "type: lattice, origin: [0.045, 0.205, 0], nodes: [8, 8, 8], spacing: 0.03, stiffness: 500",
        "type: cloth, origin: [-0.1, 0.21, -0.1], u: [0.4, 0, 0], v: [0, 0, 0.4], nodes: [21, "
        "21],\n"
        "   stiffness: 300"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {dt: 1e-4, steps: 1}\n"
                      "contact: {thickness: 0.005, stiffness: 10, existing: relax}\n"
                      "bodies:\n"
                      "- {name: a, type: lattice, nodes: [8, 8, 8], spacing: 0.03, mass: 0.3,\n"
                      "   stiffness: 500}\n"
                      "- {name: b, mass: 0.3, %s}\n",
                      others[i]);
        const taut_energy energy = energy_of(solver);
        assert_true(energy.elastic + energy.contact < 1e-8);
        assert_true(solver_surface_relaxed(solver).farthest > 0.003);
        assert_true(solver_surface_relaxed(solver).farthest < 0.008);
        taut_solver_destroy(solver);
    }
}

// Bodies of which curves do not say how they come apart: they are not deformed, and are beyond the
// range of contact.
static void test_bodies_leave_each_other_along_axes(void **state)
{
    (void)state;
#define JELLY "type: lattice, nodes: [5, 5, 5], spacing: 0.03, mass: 0.3, stiffness: 500"
#define SHELL                                                                                      \
    "type: sphere, radius: 0.08, subdivisions: 2, mass: 0.1, springs: {edges: {stiffness: 300}}"
#define SHEET                                                                                      \
    "type: cloth, origin: [-0.25, 0, -0.25], u: [0.5, 0, 0], v: [0, 0.001, 0.5], nodes: [21, "     \
    "21],\n   mass: 0.1, stiffness: 200"
#define FLOOR "colliders:\n- {type: plane, response: contact, point: [0, 0.01, 0]}\n"
    static const struct {
        const char *bodies;
        double farthest; // m, at most; 0: refused
    } cases[] = {
        // in the planes of each other's nodes
        {"- {name: a, " JELLY "}\n- {name: b, " JELLY ", origin: [0.06, 0.03, 0.02]}\n", 0.035},
        // at the same position
        {"- {name: a, " JELLY "}\n- {name: b, " JELLY "}\n", 0.065},
        {"- {name: a, " SHELL "}\n- {name: b, " SHELL "}\n- {name: c, " SHELL "}\n", 0.18},
        {"- {name: a, " SHELL ", pins: [first]}\n- {name: b, " SHELL "}\n", 0.17},
        {"- {name: a, " SHELL ", pins: [first]}\n- {name: b, " SHELL ", pins: [first]}\n", 0},
        // a stack, of which the lowest one leaves a floor
        {"- {name: a, " JELLY "}\n- {name: b, " JELLY ", origin: [0.005, 0.115, 0]}\n"
         "- {name: c, " JELLY ", origin: [0.01, 0.23, 0]}\n" FLOOR,
         0.045},
        // a T, and a rope through the middle
        {"- {name: a, " SHEET "}\n"
         "- {name: b, type: cloth, origin: [0, -0.15, -0.25], u: [0, 0.3, 0], v: [0, 0.001, 0.5],\n"
         "   nodes: [21, 21], mass: 0.1, stiffness: 200}\n",
         0.08},
        {"- {name: a, " SHEET "}\n"
         "- {name: b, type: rope, from: [0.01, -0.2, 0.02], to: [0.03, 0.2, 0], nodes: 40,\n"
         "   mass: 0.05, stiffness: 400}\n",
         0.14},
        // through the middle of a mesh, and inside of one
        {"- {name: a, " SHEET "}\ncolliders:\n"
         "- {type: mesh, file: '" TAUT_TEST_SOURCE "/scenes/meshes/cube.asc', scale: 0.05}\n",
         0.06},
        {"- {name: a, " SHELL
         "}\ncolliders:\n- {type: mesh, sides: outside, scale: 0.2, file: '" TAUT_TEST_SOURCE
         "/scenes/meshes/cube.asc'}\n",
         0.3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = "precision: double\nsimulation: {dt: 1e-4, steps: 1}\n"
                           "contact: {thickness: 0.005, stiffness: 10, existing: relax}\n"
                           "bodies:\n%s";
        taut_scene *scene = scene_of(text, cases[i].bodies);
        taut_solver *solver;
        const taut_status status = taut_solver_create(scene, NULL, &solver, NULL);
        taut_scene_destroy(scene);
        assert_int_equal(status, cases[i].farthest > 0 ? TAUT_OK : TAUT_ERROR_SCENE);
        if (status != TAUT_OK)
            continue;
        const taut_energy energy = energy_of(solver);
        assert_true(energy.elastic < 1e-8);
        assert_true(energy.contact == 0);
        assert_true(solver_surface_relaxed(solver).farthest > 0.01);
        assert_true(solver_surface_relaxed(solver).farthest < cases[i].farthest);
        taut_solver_destroy(solver);
    }
}

// A ball that crosses one of two sheets that are held, 2.4 thicknesses more apart than it is wide,
// goes to the middle, in the range of both barriers; without one of them it goes beyond the range.
static void test_bodies_are_separated_as_far_as_there_is_room(void **state)
{
    (void)state;
    static const char *const sheet =
        "- {name: %s, type: cloth, origin: [-0.2, %s, -0.2], u: [0.4, 0, 0], v: [0, 0, 0.4],\n"
        "   nodes: [21, 21], mass: 0.1, stiffness: 300, pins: [{box: [[-1, -1, -1], [1, 1, 1]]}]}\n"
        "%s";
    static const char *const ball =
        "- {name: ball, type: sphere, center: [0, 0.048, 0], radius: 0.05, subdivisions: 2,\n"
        "   mass: 0.05, springs: {edges: {stiffness: 300}}}\n";
    char *with_ball = text_format(sheet, "below", "0", ball),
         *with_both = text_format(sheet, "above", "0.1072", with_ball);
    for (int both = 0; both < 2; both++) {
        taut_solver *solver =
            solver_of(RELAX "%s", "double", "relax", both ? with_both : with_ball);
        const taut_energy energy = energy_of(solver);
        double *positions = all_positions(solver);
        const uint64_t first = taut_solver_node_count(solver) - 162; // of the ball
        double least = INFINITY, most = -INFINITY;
        for (uint64_t i = first; i < first + 162; i++) {
            least = fmin(least, positions[3 * i + 1]);
            most = fmax(most, positions[3 * i + 1]);
        }
        free(positions);
        assert_true(energy.elastic < 1e-9);
        assert_true((energy.contact > 0) == (both != 0));
        if (both)
            assert_near(least, 0.1072 - most, 1e-4);
        else
            assert_true(least >= 1.5 * 0.003 && least < 1.6 * 0.003);
        assert_int_equal(crossings_in_run(solver, 10, 20), 0);
    }
    free(with_ball);
    free(with_both);
}

// A sheet and a ball that are held on both sides of each other.
static void test_what_relax_cannot_separate_is_refused(void **state)
{
    (void)state;
    taut_scene *scene = scene_of(RELAX "%s", "double", "relax",
                                 "- {name: a, type: cloth, u: [0.4, 0, 0], v: [0, 0, 0.4],\n"
                                 "   nodes: [5, 5], mass: 0.1, stiffness: 300,\n"
                                 "   pins: [{box: [[-1, -1, -1], [1, 1, 1]]}]}\n"
                                 "- {name: b, type: rope, from: [0.13, -0.2, 0.16],\n"
                                 "   to: [0.13, 0.2, 0.16], nodes: 5, mass: 0.1, stiffness: 100,\n"
                                 "   pins: [0, 1, 2, 3, 4]}\n");
    taut_solver *solver;
    taut_error error;
    assert_int_equal(taut_solver_create(scene, NULL, &solver, &error), TAUT_ERROR_SCENE);
    assert_non_null(strstr(error.text, "'existing: relax' found no way to separate them"));
    taut_scene_destroy(scene);
}

// A body cannot be moved apart from itself.
static void test_a_body_that_crosses_itself_needs_another_shape(void **state)
{
    (void)state;
    const char *file = physics_file("self.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0.2 -0.5 0.2\n"
                                                "v 0.3 0.5 0.2\nv 0.2 0.5 0.4\nf 1 3 2\nf 4 5 6\n");
    taut_scene *scene =
        scene_of("simulation: {integrator: symplectic_euler, dt: 1.0e-4, steps: 1}\n"
                 "contact: {thickness: 0.01}\n"
                 "bodies: [{name: m, type: mesh, file: '%s', mass: 1, "
                 "stiffness: 10}]\n",
                 file);
    taut_solver *solver;
    taut_error error;
    assert_int_equal(taut_solver_create(scene, NULL, &solver, &error), TAUT_ERROR_SCENE);
    assert_non_null(strstr(error.text, "of body 'm'; start from another shape of the body, "));
    taut_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crossing_surfaces_are_separated),
        cmocka_unit_test(test_what_was_separated_is_continued),
        cmocka_unit_test(test_ropes_in_the_same_place_are_separated),
        cmocka_unit_test(test_bodies_are_separated_as_far_as_there_is_room),
        cmocka_unit_test(test_bodies_that_touch_are_separated_as_wholes),
        cmocka_unit_test(test_bodies_leave_each_other_along_axes),
        cmocka_unit_test(test_what_relax_cannot_separate_is_refused),
        cmocka_unit_test(test_a_body_that_crosses_itself_needs_another_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
