// Mesh colliders that move: bodies that they sweep along or that yield to them, none of which
// passes through (counted by the exact checker), steps that follow their motion, and meshes that
// are moved between steps.
#include "mesh_collider_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/collider_pose.h"
#include "topology/topology.h"

// ---- Nothing passes through a mesh

// 20 times so many steps, 20 ms in all: swept along at 20 m/s, and nothing passes.
static void check_is_swept_along(taut_solver *solver, uint64_t steps)
{
    for (int frame = 0; frame < 20; frame++) {
        advance(solver, steps);
        assert_int_equal(crossings_with_meshes(solver), 0);
    }
    assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
    double lowest = INFINITY;
    for (uint64_t node = 0; node < 121; node++)
        lowest = fmin(lowest, position_of(solver, node).y);
    assert_true(lowest > 0.3);
}

static void test_a_fast_mesh_sweeps_a_sheet_along(void **state)
{
    (void)state;
    static const char *const integrators[] = {
        "symplectic_euler", "velocity_verlet", "verlet", "midpoint", "rk4", "explicit_euler"};
    static const char *const precisions[] = {"single", "double", "mixed"};
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    for (int i = 0; i < 6; i++)
        for (int p = 0; p < 3; p++) {
            taut_solver *solver = swept_of(precisions[p], integrators[i], 20, 2e-4, "", &options);
            check_is_swept_along(solver, 5);
            assert_true(solver_surface_cuts(solver).steps > 0);
            taut_solver_destroy(solver);
        }
}

// ---- dt: auto follows the motion of meshes

// A square that waits under a hanging sheet, sweeps it along at 20 m/s for 20 ms, and stays;
// `motion` instead of its keyframes.
static taut_solver *followed_of(const char *integrator, const char *motion,
                                const struct solver_options *options)
{
    return solver_from(
        scene_of("precision: double\nsimulation: {integrator: %s, dt: auto, duration: 0.8}\n"
                 "environment: {gravity: [0, -9.81, 0]}\ncontact: {thickness: 0.004}\n"
                 "bodies:\n"
                 "- {name: sheet, type: cloth, origin: [-0.2, 0.02, 0.2], u: [0.4, 0, 0],\n"
                 "   v: [0, 0.03, -0.4], nodes: [11, 11], mass: 0.1, damping: 0.02,\n"
                 "   springs: {structural: {stiffness: 300}, shear: {stiffness: 200}}}\n"
                 "colliders:\n- {type: mesh, file: %s, scale: 1, motion: {%s}}\n",
                 integrator, fine_square(6),
                 motion ? motion
                        : "keyframes: [[0.3, [0, 0, 0]], [0.32, [0, 0.4, 0]], [0.6, [0, 0.4, 0]]]"),
        options);
}

static void test_an_automatic_dt_follows_a_mesh(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet", "verlet",
                                              "rk4"};
    const struct solver_options options = {.config = {.threads = 1}};
    for (int i = 0; i < 4; i++) {
        // 0.8 of half a thickness, from the start.
        taut_solver *steady = followed_of(integrators[i], "velocity: [0, 20, 0]", &options);
        assert_near(taut_solver_dt(steady), 0.8 * 0.002 / 20, 1e-15);
        size_t collider = 1;
        assert_near(solver_mesh_step(steady, &collider), 0.002 / 20, 1e-15);
        assert_int_equal(collider, 0);
        taut_solver_destroy(steady);

        taut_solver *solver = followed_of(integrators[i], NULL, &options);
        const struct scene_collider *mesh = &solver_topology(solver)->colliders[0];
        const double first = taut_solver_dt(solver);
        double shortest = first;
        assert_true(first > 3 * 0.002 / 20); // as without a mesh
        while (taut_solver_step_count(solver) < taut_solver_steps_planned(solver)) {
            const struct collider_pose before = collider_pose_at(mesh, taut_solver_time(solver), 0);
            advance(solver, 1);
            const struct collider_pose after = collider_pose_at(mesh, taut_solver_time(solver), 0);
            assert_true(after.origin.y - before.origin.y < 0.5001 * 0.004);
            shortest = fmin(shortest, taut_solver_dt(solver));
            if (taut_solver_step_count(solver) % 50 == 0)
                assert_int_equal(crossings_with_meshes(solver), 0);
        }
        assert_true(shortest >= 0.8 * 0.002 / 20 && shortest <= 0.95 * 0.002 / 20);
        // Short only while the mesh is fast, and some steps before that.
        assert_true(taut_solver_dt(solver) > 0.7 * first);
        assert_true((double)taut_solver_step_count(solver) < 1.3 * 0.78 / first + 0.02 / 8e-5 + 30);
        assert_true(taut_solver_time(solver) >= 0.8 - 1e-9);
        taut_solver_destroy(solver);
    }
}

static uint64_t hash_of_followed(const void *context, const struct solver_options *options)
{
    (void)context;
    taut_solver *solver = followed_of("symplectic_euler", NULL, options);
    advance(solver, 2000);
    assert_true(solver_dt_rule(solver)->changes > 1);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_the_dt_for_a_mesh_is_the_same_for_all(void **state)
{
    (void)state;
    assert_same_hashes(hash_of_followed, NULL);
}

// Steps of a thickness and of several.
static void test_a_mesh_sweeps_a_sheet_along_in_implicit_steps(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double", "mixed"};
    static const double steps[] = {2e-4, 1e-3};
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    for (int i = 0; i < IMPLICIT; i++)
        for (int p = 0; p < 3; p++)
            for (int s = 0; s < 2; s++) {
                taut_solver *solver =
                    swept_of(precisions[p], implicit_integrators[i], 20, steps[s], "", &options);
                check_is_swept_along(solver, s ? 1 : 5);
                taut_solver_destroy(solver);
            }
}

// A sheet of two triangles in the path of an edge that turns (degrees/s): that of a square as a
// mesh, or as driven nodes. Its ends move differently, by more than the two edges are apart.
static void check_gives_way(const char *precision, const char *integrator, double dt,
                            const double turning[2], bool mesh)
{
    char *more =
        mesh ? text_format(
                   "colliders: [{type: mesh, file: %s, scale: 1.25, translate: [0, -0.2, 0],\n"
                   "  motion: {angular_velocity: [" NUM ", 0, " NUM "]}}]\n",
                   fine_square(1), turning[0], turning[1])
             : text_format("- {name: blade, type: cloth, origin: [-0.25, -0.2, -0.25],\n"
                           "   u: [0, 0, 0.5], v: [0.5, 0, 0], nodes: [2, 2], mass: 0.1,\n"
                           "   stiffness: 100, drives: [{nodes: [edges], center: [0, -0.2, 0],\n"
                           "     angular_velocity: [" NUM ", 0, " NUM "]}]}\n",
                           turning[0], turning[1]);
    taut_solver *solver =
        solver_of("precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
                  "contact: {thickness: 0.01}\n"
                  "bodies:\n"
                  "- {name: sheet, type: cloth, origin: [0.08, 0, -0.12], u: [0.24, 0, 0],\n"
                  "   v: [0, 0, 0.24], nodes: [2, 2], mass: 0.122, stiffness: 741.7}\n%s",
                  precision, integrator, dt, more);
    free(more);
    const int frames = 40;
    for (int frame = 0; frame < frames; frame++) {
        advance(solver, (uint64_t)(0.08 / dt / frames + 0.5));
        assert_int_equal(crossings_with_meshes(solver), 0);
    }
    assert_true(solver_surface_cuts(solver).steps > 0);
    assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
    taut_solver_destroy(solver);
}

static void test_a_sheet_gives_way_to_what_turns(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet", "verlet",
                                              "midpoint", "rk4"};
    static const char *const precisions[] = {"single", "double", "mixed"};
    static const double turning[2][2] = {{600, 1000}, {0, 1000}};
    for (int i = 0; i < 5; i++)
        for (int t = 0; t < 2; t++) {
            check_gives_way(precisions[i % 3], integrators[i], 1e-4, turning[t], true);
            check_gives_way(precisions[i % 3], integrators[i], 1e-4, turning[t], false);
        }
    check_gives_way("double", "symplectic_euler", 1e-5, turning[0], true);
}

// Sheets, of which the first may be pinned, in the path of a plate that comes from below and turns:
// the motion that they pass on to each other and to pins has to follow the plate's rotation, not
// only its displacement.
static void check_sheets_give_way(const char *integrator, const char *precision, int squares,
                                  int sheets, const char *pins, const char *motion)
{
    char *bodies = text_format("%s", "");
    for (int i = 0; i < sheets; i++) {
        char *more = text_format("%s- {name: s%d, type: cloth, origin: [-0.15, " NUM ", -0.15],\n"
                                 "   u: [0.3, 0, 0], v: [0, 0, 0.3], nodes: [11, 11],\n"
                                 "   mass: 0.12, stiffness: 40%s}\n",
                                 bodies, i, 0.08 + 0.008 * i, i ? "" : pins);
        free(bodies);
        bodies = more;
    }
    taut_solver *solver =
        solver_of("precision: %s\nsimulation: {integrator: %s, dt: 4e-4, steps: 1}\n"
                  "contact: {thickness: 0.004}\nbodies:\n%s"
                  "colliders:\n- {type: mesh, file: %s, scale: 0.4, motion: {%s}}\n",
                  precision, integrator, bodies, fine_square(squares), motion);
    free(bodies);
    for (int frame = 0; frame < 40; frame++) {
        advance(solver, 4);
        assert_int_equal(crossings_with_meshes(solver), 0);
    }
    assert_true(solver_surface_cuts(solver).steps > 100);
    assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
    taut_solver_destroy(solver);
}

static void test_sheets_give_way_to_a_plate_that_turns(void **state)
{
    (void)state;
    static const char *const motions[] = {"velocity: [0.5, 4, 0], angular_velocity: [0, 0, 700]",
                                          "velocity: [0.5, 3, 0], angular_velocity: [0, 0, 900]",
                                          "velocity: [0.5, 4, 0], angular_velocity: [500, 0, 700]"};
    check_sheets_give_way("symplectic_euler", "single", 1, 2, "", motions[0]);
    check_sheets_give_way("symplectic_euler", "single", 1, 2, ", pins: [left]", motions[1]);
    check_sheets_give_way("symplectic_euler", "double", 6, 3, "", motions[2]);
    check_sheets_give_way("rk4", "single", 6, 3, "", motions[2]);
}

// A soft body that is thrown at a plate which comes towards it piles up before it: half a thickness
// in a step.
static void test_what_a_plate_pushes_finds_a_way(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "midpoint"};
    for (int i = 0; i < 2; i++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: %s, dt: 6e-5, steps: 400}\n"
            "contact: {thickness: 0.005}\n"
            "bodies:\n"
            "- {name: a, type: lattice, origin: [-0.1, -0.1, -0.1], nodes: [4, 3, 4],\n"
            "   spacing: 0.05, mass: 2.4, stiffness: 57, velocity: [32, 1.4, 0.6],\n"
            "   rotate: [296, 310, 77]}\n"
            "colliders:\n"
            "- {type: mesh, file: %s, scale: 0.5, rotate: [0, 0, 90], translate: [0.4, 0, 0],\n"
            "   motion: {velocity: [-16, 0, 0]}}\n",
            integrators[i], square());
        advance(solver, 400);
        assert_true(solver_surface_cuts(solver).steps > 100);
        assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
        const double plate = 0.4 - 16 * 400 * 6e-5;
        for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
            const uint64_t x = node % 4, y = node / 4 % 3, z = node / 12;
            const bool inside = (x == 1 || x == 2) && y == 1 && (z == 1 || z == 2);
            // Nodes inside the lattice belong to no surface.
            assert_true(inside || position_of(solver, node).x < plate);
        }
        taut_solver_destroy(solver);
    }
}

// Meshes that stop and start while dt: auto follows them, so that steps become much longer than
// those before: the fraction by which they are cut does not depend on when the run began. It did
// where lists of pairs were older.
static void test_a_restored_run_continues_where_meshes_jump(void **state)
{
    (void)state;
    static const struct {
        const char *integrator, *keys;
    } cases[] = {
        {"velocity_verlet",
         "[0.0329, [0, 0, 0], [0, 0, 0]], [0.04323, [-0.0751, 0.1862, 0.0609], [0, 0, 0]],\n"
         "   [0.05365, [-0.0751, 0.1862, -0.1944], [0, -86.651, 0]]"},
        {"verlet", "[0.0243, [0, 0, 0], [0, 0, 0]], [0.04602, [0, 0, 0], [0, 0, 67.477]],\n"
                   "   [0.1, [0.0125, 0, 0], [0, 53.166, 67.477]],\n"
                   "   [0.12, [-0.221, 0, 0], [-32.247, 117.13, 32.202]]"},
    };
    const taut_config config = {.threads = 1};
    for (int i = 0; i < 2; i++) {
        taut_scene *scene =
            scene_of("simulation: {integrator: %s, dt: auto, duration: 0.15}\n"
                     "contact: {thickness: 0.01, friction_coefficient: 0.3}\n"
                     "bodies:\n"
                     "- {name: rope, type: rope, from: [-0.2, 0, 0], to: [0.2, 0, 0], nodes: 15,\n"
                     "   mass: 0.2, stiffness: 342.4, damping: 0.05}\n"
                     "colliders:\n"
                     "- {type: mesh, file: " CUBE ", scale: 0.12, translate: [0.36, 0, 0],\n"
                     "   motion: {keyframes: [%s]}}\n",
                     cases[i].integrator, cases[i].keys);
        taut_solver *solver = create_with(scene, &config), *restored[4];
        int count = 0;
        while (taut_solver_step_count(solver) < taut_solver_steps_planned(solver)) {
            advance(solver, 1);
            for (int r = 0; r < count; r++)
                advance(restored[r], 1);
            if (count < 4 && taut_solver_time(solver) > 0.025 + 0.01 * count)
                restored[count++] = restore_with(scene, save(solver), &config);
        }
        assert_int_equal(count, 4);
        assert_true(solver_surface_cuts(solver).steps > 10);
        for (int r = 0; r < count; r++) {
            assert_int_equal(taut_solver_step_count(solver), taut_solver_step_count(restored[r]));
            assert_int_equal(taut_solver_hash(solver), taut_solver_hash(restored[r]));
            taut_solver_destroy(restored[r]);
        }
        taut_solver_destroy(solver);
        taut_scene_destroy(scene);
    }
}

// ---- Meshes that are moved between steps

static const double STILL[3] = {0, 0, 0};

static taut_solver *resting_of(const char *precision, const char *integrator, const char *more)
{
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    return swept_of(precision, integrator, 0, 1e-4, more, &options);
}

// A velocity that is given at the start is that of a motion in the scene, to the bit; except with
// Verlet, which evaluates the forces of its first step again, with other velocities.
static void test_a_given_velocity_is_a_motion(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double", "mixed"};
    static const char *const integrators[] = {
        "symplectic_euler", "velocity_verlet", "midpoint", "rk4", "implicit_euler", "bdf2",
        "xpbd, substeps: 8"};
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    const double velocity[3] = {0, 3, 0};
    for (int i = 0; i < 7; i++) {
        taut_solver *moving = swept_of(precisions[i % 3], integrators[i], 3, 1e-4, "", &options),
                    *given = resting_of(precisions[i % 3], integrators[i], "");
        assert_int_equal(taut_solver_set_mesh(given, 0, STILL, velocity, NULL), TAUT_OK);
        advance(moving, 300);
        advance(given, 300);
        assert_int_equal(taut_solver_hash(moving), taut_solver_hash(given));
        assert_same_bits(work_of(moving).drives, work_of(given).drives);
        assert_true(work_of(given).drives > 0);
        taut_solver_destroy(moving);
        taut_solver_destroy(given);
    }
}

// Up to a target and on to another one, at speeds of up to 30 m/s: it arrives, nothing passes, and
// the budget closes.
static void test_a_mesh_goes_to_its_target(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "midpoint", "implicit_euler",
                                              "xpbd, substeps: 8"};
    const double targets[3][3] = {{0, 0.3, 0}, {0.1, 0.6, 0.1}, {0.05, 0.2, 0}};
    for (int i = 0; i < 4; i++) {
        taut_solver *solver = resting_of(i % 2 ? "single" : "double", integrators[i], "");
        for (int t = 0; t < 3; t++) {
            assert_int_equal(taut_solver_set_mesh_target(solver, 0, targets[t], 0.01, NULL),
                             TAUT_OK);
            for (int step = 0; step < 10; step++) {
                advance(solver, 10);
                assert_int_equal(crossings_with_meshes(solver), 0);
            }
            const vec3 at = solver_mesh_translate(solver, 0);
            assert_vector_near(at, vec3_make(targets[t][0], targets[t][1], targets[t][2]), 1e-12);
        }
        assert_int_equal(taut_solver_set_mesh(solver, 0, targets[2], STILL, NULL), TAUT_OK);
        const vec3 rests = solver_mesh_translate(solver, 0);
        advance(solver, 50);
        assert_vector_near(solver_mesh_translate(solver, 0), rests, 0);
        assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
        taut_solver_destroy(solver);
    }
}

// It is put where nothing obstructs it, on either side of the sheet; where it would cross the
// sheet, nearly touch it, or enclose it, nothing changes.
static void test_a_mesh_is_put_elsewhere(void **state)
{
    (void)state;
    static const char cube[] = "- {type: mesh, file: " CUBE ", translate: [0, 9, 0], scale: 0.5,\n"
                               "   sides: outside}\n";
    taut_solver *solver = resting_of("double", "velocity_verlet", cube),
                *other = resting_of("double", "velocity_verlet", cube);
    const double through[3] = {0, 0.037, 0}, near[3] = {0, 0.01988, 0}, beyond[3] = {0, 0.3, 0},
                 around[3] = {0, 0, 0}, endless[3] = {0, NAN, 0};
    const struct {
        size_t collider;
        const double *translate;
        const char *message;
    } refused[] = {{0, through, "would cross body 'sheet'"},
                   {0, near, "would nearly touch body 'sheet'"},
                   {1, around, "would enclose body 'sheet'"},
                   {0, endless, "finite"},
                   {2, beyond, "is not a mesh"}};
    for (int step = 0; step < 2; step++) {
        for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
            taut_error error = {0};
            assert_int_equal(taut_solver_set_mesh(solver, refused[i].collider, refused[i].translate,
                                                  STILL, &error),
                             TAUT_ERROR_ARGUMENT);
            if (!strstr(error.text, refused[i].message))
                fail_msg("'%s' instead of '%s'", error.text, refused[i].message);
        }
        if (step == 0) {
            advance(solver, 5);
            advance(other, 5);
        }
        assert_int_equal(taut_solver_hash(solver), taut_solver_hash(other));
    }
    const double before = energy_of(solver).total;
    assert_int_equal(taut_solver_set_mesh(solver, 0, beyond, STILL, NULL), TAUT_OK);
    assert_near(energy_of(solver).total, before, 1e-12);
    advance(solver, 2000); // the sheet falls away from it
    assert_int_equal(crossings_with_meshes(solver), 0);
    assert_true(position_of(solver, 60).y < 0);
    taut_solver_destroy(other);
    taut_solver_destroy(solver);
}

static void test_a_moved_mesh_is_in_checkpoints(void **state)
{
    (void)state;
    static const char *const integrators[] = {"velocity_verlet", "midpoint", "bdf2"};
    const double targets[2][3] = {{0, 0.3, 0}, {0, 0.31, 0.02}};
    const taut_config config = {.threads = 1};
    for (int i = 0; i < 3; i++)
        for (int stands = 0; stands < 2; stands++) {
            taut_scene *scene =
                scene_of("simulation: {integrator: %s, dt: 4e-5, steps: 4000}\n" HIT,
                         integrators[i], square(), 90.0);
            taut_solver *solver = create_with(scene, &config);
            assert_int_equal(taut_solver_set_mesh_target(solver, 0, targets[0], 0.02, NULL),
                             TAUT_OK);
            advance(solver, 300);
            if (stands) {
                const vec3 now = solver_mesh_translate(solver, 0);
                const double here[3] = {now.x, now.y, now.z};
                assert_int_equal(taut_solver_set_mesh(solver, 0, here, STILL, NULL), TAUT_OK);
            }
            const struct saved saved = save(solver);
            taut_solver *next = restore_with(scene, saved, &config);
            assert_vector_near(solver_mesh_translate(next, 0), solver_mesh_translate(solver, 0), 0);
            for (int t = 0; t < 2; t++) {
                advance(solver, 150);
                advance(next, 150);
                assert_int_equal(taut_solver_hash(solver), taut_solver_hash(next));
                assert_same_bits(work_of(solver).drives, work_of(next).drives);
                assert_int_equal(taut_solver_set_mesh_target(solver, 0, targets[1], 0.01, NULL),
                                 TAUT_OK);
                assert_int_equal(taut_solver_set_mesh_target(next, 0, targets[1], 0.01, NULL),
                                 TAUT_OK);
            }
            taut_bytes_release(saved.bytes);
            taut_solver_destroy(next);
            taut_solver_destroy(solver);
            taut_scene_destroy(scene);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fast_mesh_sweeps_a_sheet_along),
        cmocka_unit_test(test_an_automatic_dt_follows_a_mesh),
        cmocka_unit_test(test_the_dt_for_a_mesh_is_the_same_for_all),
        cmocka_unit_test(test_a_mesh_sweeps_a_sheet_along_in_implicit_steps),
        cmocka_unit_test(test_a_sheet_gives_way_to_what_turns),
        cmocka_unit_test(test_sheets_give_way_to_a_plate_that_turns),
        cmocka_unit_test(test_a_restored_run_continues_where_meshes_jump),
        cmocka_unit_test(test_a_given_velocity_is_a_motion),
        cmocka_unit_test(test_a_mesh_goes_to_its_target),
        cmocka_unit_test(test_a_mesh_is_put_elsewhere),
        cmocka_unit_test(test_a_moved_mesh_is_in_checkpoints),
        cmocka_unit_test(test_what_a_plate_pushes_finds_a_way),
    };
    return cmocka_run_group_tests_name("mesh_motion", tests, NULL, NULL);
}
