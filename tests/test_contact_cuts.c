// Steps whose motion is cut where surfaces would pass through each other: nothing crosses at any
// speed (counted by the exact checker), what cuts take of momentum and energy is counted, and the
// bits are the same on every machine.
#include "checkpoint_fixture.h"
#include "contact_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A fast ball against a sheet whose edges are held: steps are so large, and surfaces so thin, that
// the barrier alone cannot stop it.
#define BULLET                                                                                     \
    "contact: {thickness: 0.001}\n"                                                                \
    "bodies:\n"                                                                                    \
    "- {name: sheet, type: cloth, origin: [-0.2, 0, 0.2], u: [0.4, 0, 0], v: [0, 0, -0.4],\n"      \
    "   nodes: [13, 13], mass: 0.2, pins: [edges], damping: 0.02,\n"                               \
    "   springs: {structural: {stiffness: 300}, shear: {stiffness: 200}}}\n"                       \
    "- {name: ball, type: sphere, center: [0, 0.08, 0.01], radius: 0.05, subdivisions: 2,\n"       \
    "   mass: 0.05, velocity: [0, " NUM ", 0], damping: 0.02,\n"                                   \
    "   springs: {edges: {stiffness: 1000}, second: {stiffness: 1000}}}\n"

static taut_solver *bullet_of(const char *precision, const char *integrator, double speed,
                              double dt)
{
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    return solver_from(scene_of("precision: %s\nsimulation: {integrator: %s, dt: " NUM
                                ", steps: 1}\n" BULLET,
                                precision, integrator, dt, -speed),
                       &options);
}

static void test_a_fast_ball_is_stopped(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet", "verlet",
                                              "rk4"};
    static const double speeds[] = {30, 100};
    for (int i = 0; i < 4; i++)
        for (int s = 0; s < (i == 0 ? 2 : 1); s++)
            for (int precision = 0; precision < 2; precision++) {
                taut_solver *solver =
                    bullet_of(precision ? "double" : "single", integrators[i], speeds[s], 1e-4);
                struct everything all = everything_of(solver);
                for (int frame = 0; frame < 14; frame++) {
                    advance(solver, 5);
                    assert_int_equal(crossings_of(solver, &all), 0);
                }
                const struct surface_cuts cuts = solver_surface_cuts(solver);
                assert_int_equal(cuts.unresolved, 0);
                assert_true(cuts.steps > 0);
                assert_true(work_of(solver).truncation > 0);
                free_everything(&all);
                taut_solver_destroy(solver);
            }
}

// The same of a ball that has been at rest for so long that nothing suggests that it moves: how far
// tiles may have moved is known in every step.
static void test_a_sudden_ball_is_stopped(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet"};
    for (int i = 0; i < 2; i++) {
        taut_solver *solver = bullet_of("double", integrators[i], 0, 1e-4);
        struct everything all = everything_of(solver);
        const uint64_t first = 13 * 13, end = taut_solver_node_count(solver);
        advance(solver, 203);
        assert_int_equal(solver_surface_cuts(solver).steps, 0);
        for (uint64_t node = first; node < end; node++)
            put_velocity(solver, node, vec3_make(0, -100, 0));
        for (int frame = 0; frame < 20; frame++) {
            advance(solver, 1);
            assert_int_equal(crossings_of(solver, &all), 0);
        }
        assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
        assert_true(solver_surface_cuts(solver).steps > 0);
        free_everything(&all);
        taut_solver_destroy(solver);
    }
}

// Cuts in every direction do not conserve momentum, and count the momentum that they take: balls
// that meet at 600 m/s, 30 thicknesses in a step. A run that is restored goes on counting.
static void test_momentum_that_cuts_take_is_counted(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "mixed", "double"};
    static const char *const integrators[] = {"explicit_euler", "symplectic_euler", "verlet"};
    const taut_config config = {.threads = 1};
    for (int i = 0; i < 3; i++) {
        taut_scene *scene = scene_of(
            "precision: %s\nsimulation: {integrator: %s, dt: 1e-4, steps: 40}\n"
            "contact: {thickness: 0.002}\n"
            "bodies:\n"
            "- {name: a, type: sphere, radius: 0.05, subdivisions: 2, mass: 0.1, stiffness: 100,\n"
            "   velocity: [300, 0, 0]}\n"
            "- {name: b, type: sphere, radius: 0.05, subdivisions: 2, mass: 0.1, stiffness: 100,\n"
            "   center: [0.15, 0.01, 0.005], velocity: [-300, 0, 0]}\n",
            precisions[i], integrators[i]);
        taut_solver *solver = create_with(scene, &config);
        vec3 angular;
        const vec3 before = momentum_of(solver, &angular);
        advance(solver, 20);
        const struct saved saved = save(solver);
        taut_solver *next = restore_with(scene, saved, &config);
        advance(next, 20);
        const vec3 after = momentum_of(next, &angular);
        const struct surface_cuts cuts = solver_surface_cuts(next);
        const vec3 lost = vec3_make(cuts.lost[0], cuts.lost[1], cuts.lost[2]);
        assert_true(cuts.stopped > 0 && cuts.stopped <= cuts.steps);
        assert_true(vec3_length(lost) > 0);
        assert_true(cuts.lost_lengths >= vec3_length(lost));
        assert_vector_near(vec3_add(after, lost), before, i < 2 ? 2e-5 : 1e-12);
        taut_bytes_release(saved.bytes);
        taut_solver_destroy(solver);
        taut_solver_destroy(next);
        taut_scene_destroy(scene);
    }
}

// A heavy ball drives a light lattice before it, whose barrier is far too soft for that: what cuts
// take is found again without what they had to take only at first, so that no cuts in every
// direction are needed, and the ball does not lose its momentum to planes at rest (14 and 10% of
// it, and 20 and 15% of its energy).
static void test_heavy_bodies_keep_their_momentum(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        taut_scene *scene = scene_of(
            "precision: double\nsimulation: {integrator: symplectic_euler, dt: %s, steps: 1}\n"
            "contact: {thickness: 0.002, friction_coefficient: 0.8}\n"
            "bodies:\n"
            "- {name: a, type: lattice, origin: [-0.02, -0.02, -0.02], nodes: [4, 4, 4],\n"
            "   spacing: 0.0133, node_mass: 0.0001321, stiffness: 0.4806, damping: 0.001594,\n"
            "   rotate: [-56.74, -30.53, -100.86]}\n"
            "- {name: b, type: sphere, radius: 0.03, subdivisions: 2, node_mass: 0.003549,\n"
            "   springs: {edges: {}, bend: {stiffness: 4.689}}, stiffness: 15.63,\n"
            "   damping: 0.009421, rotate: [135.68, 95.38, 51.13],\n"
            "   translate: [-0.014461725799, 0.1, 0.004043178040], velocity: [1, -2, 0]}\n",
            i == 0 ? "4e-4" : "2e-4");
        taut_solver *solver = create(scene, 2, best_isa());
        vec3 angular;
        const vec3 before = momentum_of(solver, &angular);
        const double energy = energy_of(solver).total;
        struct everything all = everything_of(solver);
        for (int frame = 0; frame < 8; frame++) {
            advance(solver, i == 0 ? 25 : 50);
            assert_int_equal(crossings_of(solver, &all), 0);
        }
        free_everything(&all);
        const struct surface_cuts cuts = solver_surface_cuts(solver);
        const vec3 lost = vec3_make(cuts.lost[0], cuts.lost[1], cuts.lost[2]);
        assert_true(cuts.steps > 0);
        assert_vector_near(vec3_add(momentum_of(solver, &angular), lost), before, 1e-12);
        assert_true(cuts.lost_lengths < 0.02 * vec3_length(before));
        assert_true(energy_of(solver).total > 0.98 * energy);
        taut_solver_destroy(solver);
        taut_scene_destroy(scene);
    }
}

static taut_solver *heavy_solver(const char *integrator, const char *scene)
{
    const struct solver_options options = {.config = {.threads = 2}, .budget = BUDGET_ON};
    return solver_from(scene_of("precision: double\nsimulation: {integrator: %s, dt: auto, "
                                "duration: 1}\n%s",
                                integrator, scene),
                       &options);
}

// A heavy lattice falls into a light cloth whose edges are pinned, and is thrown back: the cloth
// presses its nodes onto it with so much force that each step adds more to their velocities than
// these are, and takes it back. What the cut of one candidate takes too much is given back, so that
// no energy comes of it (up to 1.16 of what there was).
static void test_cuts_that_carry_a_heavy_body_add_no_energy(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet", "rk4"};
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = heavy_solver(
            integrators[i],
            "contact: {thickness: 0.03}\n"
            "bodies:\n"
            "- {name: c, type: cloth, origin: [-0.5, 0, 0.5], u: [1, 0, 0], v: [0, 0, -1],\n"
            "   nodes: [7, 7], mass: 1, stiffness: 1000, pins: [edges]}\n"
            "- {name: r, type: lattice, origin: [-0.15, -0.15, -0.15], nodes: [3, 3, 3],\n"
            "   spacing: 0.15, mass: 100, stiffness: 100000, rotate: [0, 30, 20],\n"
            "   translate: [0.03, 0.4, 0.02], velocity: [0, -3, 0]}\n");
        const double start = energy_of(solver).total;
        while (taut_solver_time(solver) < 0.7) {
            advance(solver, 5);
            assert_true(energy_of(solver).total < 1.02 * start);
        }
        assert_true(energy_of(solver).total > 0.95 * start);
        assert_true(solver_surface_cuts(solver).steps > 100);
        assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
        taut_solver_destroy(solver);
    }
}

// A sheet between a box that pushes it and a light ball: cuts along normals find their end, so that
// the box does no more work than the bodies get (200 times as much, with 240 times their momentum
// lost, while cuts gave nothing back).
static void test_cuts_between_what_pushes_and_what_is_light_find_an_end(void **state)
{
    (void)state;
    taut_solver *solver = heavy_solver(
        "symplectic_euler",
        "contact: {thickness: 0.01, friction_coefficient: 0.3}\n"
        "bodies:\n"
        "- {name: a, type: cloth, origin: [-0.5, 1.2, 0.5], u: [1, 0, 0], v: [0, 0, -1],\n"
        "   nodes: [11, 11], mass: 0.1, stiffness: 20, damping: 0.01}\n"
        "- {name: b, type: sphere, radius: 0.2, subdivisions: 2, center: [0, 1.6, 0], mass: 0.1,\n"
        "   stiffness: 20, damping: 0.01}\n"
        "colliders:\n"
        "- {type: mesh, file: '" TAUT_TEST_SOURCE "/scenes/meshes/cube.asc',\n"
        "   motion: {velocity: [0, 20, 0]}}\n");
    advance(solver, 600);
    const struct surface_cuts cuts = solver_surface_cuts(solver);
    assert_true(cuts.steps > 50);
    assert_true(cuts.stopped < cuts.steps / 10);
    assert_true(cuts.lost_lengths < 0.1);
    assert_true(work_of(solver).drives < 200);
    taut_solver_destroy(solver);
}

// Steps of a multiple of the thickness: two cells that fly into each other, which lists find only
// at the end of a step, and a sheet that falls onto one whose corners are held, where the plane
// between two surfaces must not move past a node that does not.
static void test_long_steps_do_not_pass(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet", "verlet",
                                              "midpoint", "rk4"};
    for (int i = 0; i < 5; i++)
        for (int precision = 0; precision < 2; precision++)
            for (int falls = 0; falls < 2; falls++) {
                taut_solver *solver =
                    falls
                        ? solver_of(SHEET_ON_SHEET, precision ? "double" : "single", integrators[i],
                                    6e-4, -9.81, 2e-3, 9, 9, -1.0, 11, 11, ", pins: [corners]")
                        : solver_of(SHEET_ON_SHEET, precision ? "double" : "single", integrators[i],
                                    6e-3, 0.0, 1e-3, 2, 2, -3.0, 2, 2, "");
                struct everything all = everything_of(solver);
                const double before = energy_of(solver).kinetic;
                vec3 angular;
                const vec3 momentum = momentum_of(solver, &angular);
                for (int step = 0; step < (falls ? 400 : 64); step++) {
                    advance(solver, 1);
                    assert_int_equal(crossings_of(solver, &all), 0);
                }
                assert_true(solver_surface_cuts(solver).steps > 0);
                assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
                if (!falls) {
                    assert_true(energy_of(solver).kinetic < before);
                    assert_vector_near(momentum_of(solver, &angular), momentum,
                                       precision ? 1e-9 : 1e-4);
                }
                free_everything(&all);
                taut_solver_destroy(solver);
            }
}

// A flat sheet one half of which is thrown through the other within a step: turned about the
// middle, and twisted. Nothing is searched in a sheet that is flat, until the step shows that it is
// not any more.
static void test_a_flat_sheet_is_not_thrown_through_itself(void **state)
{
    (void)state;
    for (int steps = 0; steps < 4; steps += 3)
        for (int twist = -2; twist <= 2; twist++) {
            const double dt = 1e-3;
            taut_solver *solver = solver_of(HEADER(
                "symplectic_euler",
                "0.001") "contact: {thickness: 0.001}\n"
                         "bodies: [{name: s, type: cloth, origin: [-0.1, 0, -0.1], u: [0.2, 0, "
                         "0],\n"
                         "v: [0, 0, 0.2], nodes: [13, 13], mass: 1, spring: {stiffness: 1}}]\n");
            struct everything all = everything_of(solver);
            advance(solver, (uint64_t)steps);
            for (uint64_t i = 0; i < all.nodes; i++) {
                const vec3 at = position_of(solver, i);
                if (at.x > 0.001)
                    put_velocity(solver, i,
                                 vec3_scale(1 / dt, vec3_make(-1.8 * at.x,
                                                              at.x * (twist * at.z + 0.01), 0)));
            }
            for (int step = 0; step < 3; step++) {
                advance(solver, 1);
                assert_int_equal(crossings_of(solver, &all), 0);
            }
            assert_true(solver_surface_cuts(solver).steps > 0);
            free_everything(&all);
            taut_solver_destroy(solver);
        }
}

// Bodies that fall together onto a plane, farther in a step than they are apart: nodes that the
// plane has stopped must not be passed by the other body, nor one side of a ball by its other side.
// Nothing was near as long as they moved alike: surfaces crossed in each of these scenes.
static void test_bodies_that_fall_together_do_not_pass_each_other(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        uint64_t steps;
    } cases[] = {
        {"simulation: {integrator: rk4, dt: auto, steps: 11}\ncontact: {thickness: 0.005}\n"
         "bodies:\n"
         "- {name: a, type: lattice, origin: [-0.06, 0.1, -0.06], nodes: [4, 4, 4],\n"
         "   spacing: 0.04, mass: 0.3, damping: 0.3, velocity: [10, -100, 5],\n"
         "   springs: {k1: {stiffness: 700}, k2: {stiffness: 350}, k3: {stiffness: 175}}}\n"
         "- {name: b, type: lattice, origin: [-0.05, 0.24, -0.04], nodes: [4, 4, 4],\n"
         "   spacing: 0.04, mass: 0.3, damping: 0.3, rotate: [0, 7, 0], velocity: [10, -100, 5],\n"
         "   springs: {k1: {stiffness: 700}, k2: {stiffness: 350}, k3: {stiffness: 175}}}\n",
         11},
        {"simulation: {integrator: symplectic_euler, dt: auto, steps: 14}\n"
         "contact: {thickness: 0.005}\n"
         "bodies:\n"
         "- {name: a, type: cloth, origin: [-0.2, 0, -0.2], u: [0.4, 0, 0], v: [0, 0, 0.4],\n"
         "   nodes: [11, 11], mass: 0.02, damping: 0.01, rotate: [3, 5, 2],\n"
         "   translate: [0, 0.05, 0], velocity: [20, -200, 10],\n"
         "   springs: {structural: {stiffness: 100}, shear: {stiffness: 50}, bend: {stiffness: "
         "3}}}\n"
         "- {name: b, type: cloth, origin: [-0.2, 0.02, -0.2], u: [0.4, 0, 0], v: [0, 0, 0.4],\n"
         "   nodes: [11, 11], mass: 0.02, damping: 0.01, rotate: [3, 17, 2],\n"
         "   translate: [0, 0.05, 0], velocity: [20, -200, 10],\n"
         "   springs: {structural: {stiffness: 100}, shear: {stiffness: 50}, bend: {stiffness: "
         "3}}}\n",
         14},
        {"simulation: {integrator: symplectic_euler, dt: 0.001, steps: 4}\n"
         "environment: {gravity: [0, -9.81, 0]}\ncontact: {thickness: 0.005}\n"
         "bodies:\n"
         "- {name: ball, type: sphere, radius: 0.05, subdivisions: 1, mass: 0.1, damping: 0.02,\n"
         "   rotate: [17, 31, 11], translate: [0, 0.1, 0], velocity: [40, -200, 0],\n"
         "   springs: {edges: {stiffness: 300}, bend: {stiffness: 100}, second: {stiffness: "
         "100}}}\n",
         4},
    };
    static const char *const precisions[] = {"single", "double"};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const struct solver_options options = {.config = {.threads = 1 + (int)(i % 2)},
                                               .budget = BUDGET_ON};
        taut_solver *solver =
            solver_from(scene_of("precision: %s\n%scolliders: [{type: plane, response: contact}]\n",
                                 precisions[i % 2], cases[i / 2].keys),
                        &options);
        struct everything all = everything_of(solver);
        for (uint64_t step = 0; step < cases[i / 2].steps; step++) {
            advance(solver, 1);
            assert_int_equal(crossings_of(solver, &all), 0);
        }
        assert_true(solver_surface_cuts(solver).steps > 0);
        assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
        free_everything(&all);
        taut_solver_destroy(solver);
    }
}

static void test_the_budget_counts_what_is_cut(void **state)
{
    (void)state;
    double before = 0, residuals[2];
    for (int i = 0; i < 2; i++) {
        taut_solver *solver = bullet_of("double", "symplectic_euler", 10, i ? 1e-5 : 4e-5);
        before = energy_of(solver).total;
        advance(solver, i ? 1200 : 300);
        residuals[i] = fabs(residual_of(solver, before));
        assert_true(work_of(solver).truncation > 0.01 * before);
        taut_solver_destroy(solver);
    }
    assert_true(residuals[0] < 0.01 * before);
    assert_true(residuals[1] < 0.01 * before);
}

// A sheet that lies on another one so heavily, and dampers so strong, that cuts carry it: what
// dampers would take of the motion that is cut is no part of the budget. With it the residual
// was 5.8e-6 J.
static void test_the_budget_counts_what_is_cut_with_strong_dampers(void **state)
{
    (void)state;
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    taut_solver *solver = solver_from(
        scene_of(
            "precision: double\n"
            "simulation: {integrator: symplectic_euler, dt: 1e-4, steps: 1}\n"
            "environment: {gravity: [0, -9.81, 0]}\n"
            "contact: {thickness: 0.01, stiffness: 1e-4}\n"
            "bodies:\n"
            "- {name: top, type: cloth, origin: [-0.3, 0.03, -0.3], u: [0.6, 0.02, 0.1],\n"
            "   v: [-0.1, 0, 0.6], nodes: [13, 13], mass: 0.1,\n"
            "   spring: {stiffness: 50, damping: 0.3}}\n"
            "- {name: low, type: cloth, origin: [-0.4, 0, -0.4], u: [0.8, 0, 0], v: [0, 0, 0.8],\n"
            "   nodes: [21, 21], mass: 0.1, spring: {stiffness: 50, damping: 0.1},\n"
            "   pins: [{box: [[-2, -1, -2], [2, 1, 2]]}]}\n"),
        &options);
    const double before = energy_of(solver).total;
    advance(solver, 1000);
    assert_true(solver_surface_cuts(solver).steps > 100);
    assert_near(residual_of(solver, before), 0, 2e-6);
    taut_solver_destroy(solver);
}

// Cuts of what contact presses on nodes, step after step: a heavy ball in a light sheet, a lattice
// that a mesh hits with steps as long as dt: auto allows, and one that hits a plane. Velocities of
// these integrators lag behind positions by half a step, in which contact acts, too: without that
// the residuals are 0.34, 0.0095 and 0.04 of the energy that is exchanged.
static void test_the_budget_counts_what_contact_presses_on(void **state)
{
    (void)state;
    static const struct {
        const char *integrator, *precision, *keys;
        double duration, most; // s; of the energy that is exchanged
    } cases[] = {
        {"symplectic_euler", "double",
         "environment: {gravity: [0, -9.81, 0]}\ncontact: {thickness: 0.005}\n"
         "bodies:\n"
         "- {name: sheet, type: cloth, origin: [-0.25, 0.05, -0.25], u: [0.5, 0, 0],\n"
         "   v: [0, 0.001, 0.5], nodes: [21, 21], mass: 0.02, damping: 0.01, pins: [corners],\n"
         "   springs: {structural: {stiffness: 300}, shear: {stiffness: 150}, bend: {stiffness: "
         "6}}}\n"
         "- {name: ball, type: sphere, center: [0, 0.2, 0], radius: 0.08, subdivisions: 2,\n"
         "   mass: 5, damping: 0.05, springs: {edges: {stiffness: 20000}, bend: {stiffness: "
         "5000}}}\n",
         0.4, 0.035},
        {"verlet", "single",
         "contact: {thickness: 0.01}\n"
         "bodies:\n"
         "- {name: jelly, type: lattice, origin: [-0.1, -0.1, -0.1], nodes: [5, 5, 5],\n"
         "   spacing: 0.05, mass: 0.2, stiffness: 252.9, damping: 0.05}\n"
         "colliders:\n"
         "- {type: mesh, file: '" TAUT_TEST_SOURCE "/scenes/meshes/cube.asc', scale: 0.12,\n"
         "   translate: [0, -0.26, 0],\n"
         "   motion: {keyframes: [[0.023, [0, 0, 0], [0, 0, 0]],\n"
         "     [0.0307, [0, 0.25, -0.16], [0, 0, 68]],\n"
         "     [0.069, [-0.3, 0.07, -0.35], [0, 0, 68]]]}}\n",
         0.1, 2e-3},
        {"symplectic_euler", "double",
         "contact: {thickness: 0.005}\n"
         "bodies:\n"
         "- {name: jelly, type: lattice, origin: [-0.06, 0.02, -0.06], nodes: [5, 5, 5],\n"
         "   spacing: 0.03, mass: 0.3, stiffness: 500, damping: 0.1, velocity: [0, -10, 0]}\n"
         "colliders: [{type: plane, response: contact}]\n",
         0.04, 0.01},
    };
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        taut_solver *solver = solver_from(
            scene_of("precision: %s\nsimulation: {integrator: %s, dt: auto, duration: " NUM "}\n%s",
                     cases[i].precision, cases[i].integrator, cases[i].duration, cases[i].keys),
            &options);
        const double before = energy_of(solver).total;
        while (taut_solver_step_count(solver) < taut_solver_steps_planned(solver))
            advance(solver, 1);
        assert_true(solver_surface_cuts(solver).steps > 40);
        const double residual = residual_of(solver, before),
                     exchanged = solver_energy_budget(solver)->exchanged;
        assert_true(fabs(residual) < cases[i].most * exchanged);
        taut_solver_destroy(solver);
    }
}

// ---- The same bits

// A run that diverges ends at the step in which that is certain: to cut the motion of nodes that
// pass everything would take minutes. Springs that press a body at rest on walls, so that each step
// is cut and takes back what it has moved: nothing happens, and nothing is counted. The midpoint
// method, which is unstable without damping, makes motion of the rounding of single precision.
static void test_cuts_of_a_body_at_rest_count_nothing(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "verlet", "velocity_verlet",
                                              "midpoint", "rk4"};
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    for (size_t i = 0; i < 2 * sizeof integrators / sizeof *integrators; i++) {
        if (i % 2 && strcmp(integrators[i / 2], "midpoint") == 0)
            continue;
        taut_solver *solver = solver_from(
            scene_of("precision: %s\nsimulation: {integrator: %s, dt: 2.25e-4, steps: 1}\n"
                     "contact: {thickness: 0.006}\n"
                     "bodies:\n"
                     "- {name: b, type: lattice, origin: [-0.08, -0.08, -0.08], nodes: [3, 3, 3],\n"
                     "   spacing: 0.08, mass: 0.05,\n"
                     "   spring: {stiffness: 2000, damping: 0.02, rest_length: 0.15}}\n"
                     "colliders:\n"
                     "- {type: room, response: contact, min: [-0.1, -0.1, -0.1],\n"
                     "   max: [0.1, 0.1, 0.1]}\n",
                     i % 2 ? "single" : "double", integrators[i / 2]),
            &options);
        const double before = energy_of(solver).total;
        advance(solver, 1800);
        const double residual = residual_of(solver, before), taken = work_of(solver).truncation;
        const uint64_t cuts = solver_surface_cuts(solver).steps;
        assert_true(fabs(residual) < 0.05 * solver_energy_budget(solver)->exchanged);
        advance(solver, 1000);
        assert_int_equal(solver_surface_cuts(solver).steps, cuts + 1000);
        assert_near(work_of(solver).truncation, taken, 2e-3);
        assert_near(residual_of(solver, before), residual, 5e-3);
        taut_solver_destroy(solver);
    }
}

// A cloth that folds on the floor beside a ball with a barrier so soft that it is cuts that carry
// it; and the energy that they take.
static uint64_t hash_of_cut_steps(const void *precision, const struct solver_options *options)
{
    struct solver_options counting = *options;
    counting.budget = BUDGET_ON;
    taut_solver *solver = solver_from(
        scene_of("precision: %s\n"
                 "simulation: {integrator: symplectic_euler, dt: 5e-4, steps: 1}\n"
                 "environment: {gravity: [0, -9.81, 0]}\n"
                 "contact: {thickness: 0.006, stiffness: 0.2, friction_coefficient: 0.3}\n"
                 "bodies: [{name: c, type: cloth, origin: [-0.3, 0.13, -0.3],\n"
                 "  u: [0.6, 0.02, 0], v: [0, 0.03, 0.6], nodes: [61, 61], mass: 0.15,\n"
                 "  velocity: [0, -1, 0], springs: {structural: {stiffness: 15},\n"
                 "  shear: {stiffness: 5}}, damping: 1e-3}]\n"
                 "colliders: [{type: plane, response: contact},\n"
                 "  {type: sphere, center: [0, 0.06, 0], radius: 0.06, response: contact}]\n",
                 (const char *)precision),
        &counting);
    advance(solver, quick() ? 300 : 500);
    assert_true(solver_surface_cuts(solver).steps > 50);
    const double taken = work_of(solver).truncation;
    assert_true(taken > 0);
    uint64_t bits;
    memcpy(&bits, &taken, sizeof bits);
    bits = bits * 31 + taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return bits;
}

static void test_bits_of_steps_that_are_cut(void **state)
{
    (void)state;
    assert_same_hashes(hash_of_cut_steps, "single");
    assert_same_hashes(hash_of_cut_steps, "mixed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fast_ball_is_stopped),
        cmocka_unit_test(test_a_sudden_ball_is_stopped),
        cmocka_unit_test(test_momentum_that_cuts_take_is_counted),
        cmocka_unit_test(test_heavy_bodies_keep_their_momentum),
        cmocka_unit_test(test_cuts_that_carry_a_heavy_body_add_no_energy),
        cmocka_unit_test(test_cuts_between_what_pushes_and_what_is_light_find_an_end),
        cmocka_unit_test(test_long_steps_do_not_pass),
        cmocka_unit_test(test_a_flat_sheet_is_not_thrown_through_itself),
        cmocka_unit_test(test_bodies_that_fall_together_do_not_pass_each_other),
        cmocka_unit_test(test_the_budget_counts_what_is_cut),
        cmocka_unit_test(test_the_budget_counts_what_is_cut_with_strong_dampers),
        cmocka_unit_test(test_the_budget_counts_what_contact_presses_on),
        cmocka_unit_test(test_cuts_of_a_body_at_rest_count_nothing),
        cmocka_unit_test(test_bits_of_steps_that_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
