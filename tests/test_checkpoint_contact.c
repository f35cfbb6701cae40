// Runs with contact that are continued from a checkpoint at any step, to the bit: lists of
// candidates are made again for the positions of the checkpoint, at other times than those of the
// run that has written it, and steps that move nodes by a thickness or more are cut all the same.
// Also tests colliders with `response: project` that move nodes after that.
#include "checkpoint_fixture.h"
#include "contact_fixture.h"

#include <stdio.h>

struct impact {
    const char *name, *scene;
    uint64_t first, end; // steps at which the run is interrupted; the last one of all
};

#define FALLING_BALLS(integrator, precision, dt)                                                   \
    "precision: " precision "\nsimulation: {integrator: " integrator ", dt: " dt ", steps: 1}\n"   \
    "contact: {thickness: 0.004}\n"                                                                \
    "bodies:\n"                                                                                    \
    "  - {name: a, type: sphere, center: [0, 0.06, 0], radius: 0.05, subdivisions: 1,\n"           \
    "     node_mass: 0.001, stiffness: 62.5, velocity: [0, -5, 0]}\n"                              \
    "  - {name: b, type: sphere, center: [0.01, 0.175, 0], radius: 0.05, subdivisions: 1,\n"       \
    "     node_mass: 0.001, stiffness: 62.5, velocity: [0, -5, 0]}\n"                              \
    "colliders:\n"                                                                                 \
    "  - {type: plane, response: project}\n"

// A sphere that projects comes to where the nodes of two balls have been.
#define PUSHED_BALLS(integrator, precision)                                                        \
    "precision: " precision "\nsimulation: {integrator: " integrator ", dt: 0.0004, steps: 1}\n"   \
    "contact: {thickness: 0.004}\n"                                                                \
    "bodies:\n"                                                                                    \
    "  - {name: a, type: sphere, center: [0, 0.11, 0], radius: 0.05, subdivisions: 1,\n"           \
    "     node_mass: 0.001, stiffness: 20}\n"                                                      \
    "  - {name: b, type: sphere, center: [0.01, 0.225, 0], radius: 0.05, subdivisions: 1,\n"       \
    "     node_mass: 0.001, stiffness: 20}\n"                                                      \
    "colliders:\n"                                                                                 \
    "  - {type: sphere, radius: 0.05, velocity: [0.5, 5, 0], response: project}\n"

// Each of them has had steps from which a run continued with another motion, as found by trying
// scenes at random: cuts began where lists had been made, or went by candidates that only wide
// lists had.
static const struct impact IMPACTS[] = {
    {"two cloths in a room",
     "precision: mixed\n"
     "simulation: {integrator: symplectic_euler, dt: auto, duration: 10}\n"
     "environment: {gravity: [0, -9.81, 0]}\n"
     "contact: {thickness: 0.008}\n"
     "bodies:\n"
     "  - {name: lower, type: cloth, origin: [-0.072, 0, 0.072], u: [0.144, 0, 0], v: [0, 0, "
     "-0.144],\n"
     "     nodes: [12, 12], translate: [-0.01921, 0.1, 0.00198], mass: 0.05,\n"
     "     velocity: [-0.2528, 3, -0.3337],\n"
     "     springs: {structural: {stiffness: 6.9444, damping: 0.00069444},\n"
     "               shear: {stiffness: 2.3148}, bend: {stiffness: 0.69444}}}\n"
     "  - {name: upper, type: cloth, origin: [-0.048, 0, 0.048], u: [0.096, 0, 0], v: [0, 0, "
     "-0.096],\n"
     "     nodes: [8, 8], translate: [-0.00953, 0.22, 0.01772], mass: 0.05,\n"
     "     velocity: [-0.5692, -0.3, 0.368],\n"
     "     springs: {structural: {stiffness: 15.625, damping: 0.0015625},\n"
     "               shear: {stiffness: 5.2083}, bend: {stiffness: 1.5625}},\n"
     "     drives: [{nodes: [left], velocity: [[0, [0, 0, 0]], [0.011, [0, 0.7619, 0]]]}]}\n"
     "colliders:\n"
     "  - {type: room, min: [-0.4, 0, -0.4], max: [0.4, 0.8, 0.4], response: contact}\n",
     24, 40},
    {"a cloth and a lattice at 100 m/s",
     "precision: double\n"
     "simulation: {integrator: velocity_verlet, dt: 0.0001, duration: 10}\n"
     "environment: {gravity: [0, -9.81, 0]}\n"
     "contact: {thickness: 0.008}\n"
     "bodies:\n"
     "  - {name: cloth, type: cloth, origin: [-0.072, 0, 0.072], u: [0.144, 0, 0], v: [0, 0, "
     "-0.144],\n"
     "     nodes: [12, 12], translate: [-0.00788, 0.1, 0.00737], mass: 0.05,\n"
     "     velocity: [-2.0665, 50, -4.7295],\n"
     "     springs: {structural: {stiffness: 500, damping: 0.005}, shear: {stiffness: 166.67},\n"
     "               bend: {stiffness: 50}}}\n"
     "  - {name: block, type: lattice, origin: [-0.04, 0, -0.04], nodes: [3, 5, 4], spacing: "
     "0.02,\n"
     "     rotate: [0.65075, -61.01091, 6.61728], translate: [-0.00557, 0.22, 0.00531], mass: "
     "0.1,\n"
     "     velocity: [-4.4935, -50, 3.034], stiffness: 800, damping: 0.008}\n"
     "colliders:\n"
     "  - {type: plane, response: project}\n",
     70, 80},
    {"a lattice and a cloth with the midpoint rule",
     "precision: mixed\n"
     "simulation: {integrator: midpoint, dt: 0.001, duration: 10}\n"
     "environment: {gravity: [0, -9.81, 0]}\n"
     "contact: {thickness: 0.003}\n"
     "bodies:\n"
     "  - {name: block, type: lattice, origin: [-0.04, 0, -0.04], nodes: [3, 4, 3], spacing: "
     "0.02,\n"
     "     rotate: [10.19593, 77.2559, -9.03551], translate: [0.00267, 0.1, 0.0099], mass: 0.1,\n"
     "     velocity: [-0.5335, 1, 1.6778], stiffness: 27.778, damping: 0.0027778}\n"
     "  - {name: cloth, type: cloth, origin: [-0.048, 0, 0.048], u: [0.096, 0, 0], v: [0, 0, "
     "-0.096],\n"
     "     nodes: [8, 8], translate: [-0.01613, 0.22, -0.00019], mass: 0.05,\n"
     "     velocity: [0.9241, -5, 0.7003],\n"
     "     springs: {structural: {stiffness: 15.625, damping: 0.0015625},\n"
     "               shear: {stiffness: 5.2083}, bend: {stiffness: 1.5625}}}\n"
     "colliders:\n"
     "  - {type: plane, response: project}\n",
     52, 66},
    // Friction remembers what touched before the projection at the end of a step, and nothing else.
    {"a lattice and a rope with friction below a sphere that projects",
     "precision: mixed\n"
     "simulation: {integrator: symplectic_euler, dt: 0.0004, duration: 10}\n"
     "contact: {thickness: 0.005, friction_coefficient: 0.4}\n"
     "bodies:\n"
     "  - {name: block, type: lattice, origin: [-0.04, 0, -0.04], nodes: [3, 5, 3], spacing: "
     "0.02,\n"
     "     rotate: [-18.34016, -21.15845, -5.80247], translate: [0.01977, 0.1, -0.01416],\n"
     "     mass: 0.1, velocity: [1.33, 10, 1.4372], stiffness: 138.89, damping: 0.0055556}\n"
     "  - {name: rope, type: rope, from: [-0.15, 0.22, 0], to: [0.15, 0.22, 0.01], nodes: 30,\n"
     "     mass: 0.02, velocity: [-3.436, -2, -0.3374], stiffness: 83.333, damping: 0.0033333}\n"
     "colliders:\n"
     "  - {type: plane, response: project}\n"
     "  - {type: sphere, center: [0, 0.39, 0], radius: 0.06, velocity: [0, -6, 0],\n"
     "     response: project}\n",
     32, 46},
    {"two balls in steps of a thickness, which the projection would move through each other",
     FALLING_BALLS("velocity_verlet", "double", "0.0008"), 22, 36},
    {"the same with the method of order 4", FALLING_BALLS("rk4", "single", "0.0008"), 22, 36},
    // Steps that are shortened as a whole are cut, too.
    {"a cloth and a ball on a mesh that turns below them",
     "precision: double\n"
     "simulation: {integrator: implicit_midpoint, dt: 0.004, duration: 10}\n"
     "environment: {gravity: [0, -9.81, 0]}\n"
     "contact: {thickness: 0.008, friction_coefficient: 0.4}\n"
     "bodies:\n"
     "  - {name: cloth, type: cloth, origin: [-0.25, 0.3, 0.25], u: [0.5, 0, 0], v: [0, 0.1, "
     "-0.5],\n"
     "     nodes: [9, 9], mass: 0.2, stiffness: 500, damping: 0.2, velocity: [-1.7, -1.2, -0.7]}\n"
     "  - {name: ball, type: sphere, center: [0.05, 0.13, 0], radius: 0.1, subdivisions: 1,\n"
     "     mass: 0.2, stiffness: 500, damping: 0.2, velocity: [-1.6, -1.7, -2]}\n"
     "colliders:\n"
     "  - {type: mesh, file: '" TAUT_TEST_SOURCE
     "/scenes/meshes/cube.asc', translate: [0, -1, 0],\n"
     "     motion: {angular_velocity: [0, 60, 0], velocity: [0.1, 0, 0]}}\n",
     22, 32},
    {"two balls before a sphere that projects", PUSHED_BALLS("velocity_verlet", "mixed"), 46, 60},
};

// The run is saved at each of these steps; a run from each checkpoint ends with the same memory as
// the original one.
static void test_impacts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof IMPACTS / sizeof *IMPACTS; i++) {
        const struct impact *impact = &IMPACTS[i];
        enum { SAVES = 16 };
        taut_scene *scene = scene_of("%s", impact->scene);
        taut_solver *whole = create(scene, 1, best_isa());
        struct saved saves[SAVES];
        const size_t count = (size_t)(impact->end - impact->first);
        assert_in_range(count, 1, SAVES);
        advance(whole, impact->first);
        for (size_t k = 0; k < count; k++) {
            saves[k] = save(whole);
            advance(whole, 1);
        }
        struct saved end = save_and_end(whole);
        for (size_t k = 0; k < count; k++) {
            char what[120];
            taut_solver *second = restore(scene, saves[k], 1, best_isa());
            snprintf(what, sizeof what, "%s, from step %zu", impact->name,
                     (size_t)impact->first + k);
            advance(second, count - k);
            struct saved again = save_and_end(second);
            assert_same_saved(end, again, what);
            taut_bytes_release(again.bytes);
            taut_bytes_release(saves[k].bytes);
        }
        taut_bytes_release(end.bytes);
        taut_scene_destroy(scene);
    }
}

static taut_solver *falling_balls(const char *integrator, const char *precision, bool more,
                                  const struct solver_options *options)
{
    static const char *const others =
        "  - {type: room, min: [-0.06, -0.001, -1], max: [0.3, 1, 0.055],\n"
        "     response: project}\n"
        "  - {type: sphere, center: [0, -0.045, 0.01], radius: 0.05,\n"
        "     response: project}\n";
    char text[2000];
    snprintf(text, sizeof text, FALLING_BALLS("%s", "%s", "0.0008") "%s", precision, integrator,
             more ? others : "");
    return solver_from(scene_of("%s", text), options);
}

// The projection comes after the cut of explicit steps. Nothing passes through anything by it,
// nothing stays inside a floor.
static void test_projection_moves_nothing_through_surfaces(void **state)
{
    (void)state;
    static const char *const integrators[] = {
        "velocity_verlet", "verlet", "symplectic_euler", "rk4", "midpoint", "explicit_euler"};
    static const char *const precisions[] = {"single", "double", "mixed"};
    for (int i = 0; i < 6; i++)
        for (int p = 0; p < 3; p++)
            for (int more = 0; more < 2; more++) {
                const struct solver_options options = {.config = {.threads = 1},
                                                       .budget = BUDGET_ON};
                taut_solver *solver =
                    falling_balls(integrators[i], precisions[p], more > 0, &options);
                struct everything all = everything_of(solver);
                for (int step = 0; step < 45; step++) {
                    advance(solver, 1);
                    if (crossings_of(solver, &all) != 0)
                        fail_msg("%s, %s, %d: crossing in step %d", integrators[i], precisions[p],
                                 more, step + 1);
                    for (uint64_t node = 0; node < all.nodes; node++)
                        assert_true(position_of(solver, node).y > -1e-6);
                }
                const struct surface_cuts cuts = solver_surface_cuts(solver);
                assert_int_equal(cuts.unresolved, 0);
                assert_true(cuts.steps > 10);
                free_everything(&all);
                taut_solver_destroy(solver);
            }
}

// With a quarter of these steps the budget closes to less than one percent of the energy exchanged,
// since the work of the projection up to the cut is counted.
static void test_the_budget_of_projection_closes(void **state)
{
    (void)state;
    static const char *const balls[] = {
        FALLING_BALLS("velocity_verlet", "double", "0.0002"),
        FALLING_BALLS("verlet", "double", "0.0002"),
        FALLING_BALLS("midpoint", "double", "0.0002"),
        FALLING_BALLS("rk4", "double", "0.0002"),
    };
    for (int i = 0; i < 4; i++) {
        const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
        taut_solver *solver = solver_from(scene_of("%s", balls[i]), &options);
        const double start = energy_of(solver).total;
        advance(solver, 240);
        const struct work_done work = work_of(solver);
        const double lost = start - energy_of(solver).total;
        assert_true(work.projection > 0.1 * start && work.truncation > 0.1 * start);
        assert_near(work.projection + work.truncation, lost, 0.006 * start);
        taut_solver_destroy(solver);
    }
}

static uint64_t hash_of_balls(const void *context, const struct solver_options *options)
{
    taut_solver *solver = falling_balls(context, "single", true, options);
    advance(solver, 40);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_bits_of_projection(void **state)
{
    (void)state;
    assert_same_hashes(hash_of_balls, "velocity_verlet");
    assert_same_hashes(hash_of_balls, "midpoint");
}

// Runs a scene in which nothing may pass, nor find no end, nor move into the sphere.
static void assert_pushed_apart(const char *text, int steps, uint64_t least_cuts, const char *name)
{
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    taut_solver *solver = solver_from(scene_of("%s", text), &options);
    struct everything all = everything_of(solver);
    const double before = energy_of(solver).total;
    for (int step = 0; step < steps; step++) {
        advance(solver, 1);
        if (crossings_of(solver, &all) != 0)
            fail_msg("%s: crossing in step %d", name, step + 1);
        struct sphere_state sphere = solver_sphere(solver, 0);
        for (uint64_t node = 0; node < all.nodes; node++) {
            const vec3 out = vec3_subtract(position_of(solver, node), sphere.centre);
            assert_true(vec3_length(out) > sphere.radius - 1e-6);
        }
    }
    const struct surface_cuts cuts = solver_surface_cuts(solver);
    if (cuts.unresolved != 0)
        fail_msg("%s: %d steps without an end", name, (int)cuts.unresolved);
    assert_true(cuts.steps > least_cuts);
    const struct work_done work = work_of(solver);
    const double lost = work.projection + work.truncation + work.friction + work.damping;
    assert_near(energy_of(solver).total - before, work.drives - lost, 0.08 * work.drives);
    free_everything(&all);
    taut_solver_destroy(solver);
}

// A moving sphere comes to where nodes started: the motion of the nodes that it pushes is cut in
// the frame of the sphere.
static void test_a_projecting_sphere_that_moves_leaves_a_way(void **state)
{
    (void)state;
    static const struct {
        const char *name, *scene;
    } balls[] = {
        {"velocity_verlet", PUSHED_BALLS("velocity_verlet", "single")},
        {"verlet", PUSHED_BALLS("verlet", "single")},
        {"symplectic_euler", PUSHED_BALLS("symplectic_euler", "single")},
        {"rk4", PUSHED_BALLS("rk4", "single")},
        {"midpoint", PUSHED_BALLS("midpoint", "single")},
        {"explicit_euler", PUSHED_BALLS("explicit_euler", "single")},
        {"verlet in double", PUSHED_BALLS("verlet", "double")},
        {"midpoint in double", PUSHED_BALLS("midpoint", "double")},
        {"symplectic_euler in mixed", PUSHED_BALLS("symplectic_euler", "mixed")},
        {"rk4 in mixed", PUSHED_BALLS("rk4", "mixed")},
    };
    for (size_t i = 0; i < sizeof balls / sizeof balls[0]; i++)
        assert_pushed_apart(balls[i].scene, 90, 30, balls[i].name);
}

// Parts of paths around a sphere end inside it, and this finds no end if nodes are moved out each
// time.
static void test_a_way_around_a_projecting_sphere_ends_before_it(void **state)
{
    (void)state;
    assert_pushed_apart(
        "precision: double\n"
        "simulation: {integrator: velocity_verlet, dt: 0.00018824, steps: 1}\n"
        "contact: {thickness: 0.003, friction_coefficient: 0.5}\n"
        "bodies:\n"
        "  - {name: a, type: sphere, center: [0.014548, 0.13512, -0.0147125], radius: 0.04052,\n"
        "     subdivisions: 2, mass: 0.162, stiffness: 17.3}\n"
        "colliders:\n"
        "  - {type: sphere, radius: 0.086599, response: project, friction: 0.05,\n"
        "     velocity: [1.42636, 6.41533, 1.93164]}\n"
        "  - {type: room, min: [-0.5, -1, -0.5], max: [0.5, 0.4876, 0.5], response: project}\n",
        111, 60, "a ball");
}

static uint64_t hash_of_pushed(const void *context, const struct solver_options *options)
{
    taut_solver *solver = solver_from(scene_of("%s", (const char *)context), options);
    advance(solver, 60);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_bits_before_a_projecting_sphere(void **state)
{
    (void)state;
    assert_same_hashes(hash_of_pushed, PUSHED_BALLS("velocity_verlet", "single"));
    assert_same_hashes(hash_of_pushed, PUSHED_BALLS("midpoint", "double"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impacts),
        cmocka_unit_test(test_projection_moves_nothing_through_surfaces),
        cmocka_unit_test(test_the_budget_of_projection_closes),
        cmocka_unit_test(test_bits_of_projection),
        cmocka_unit_test(test_a_projecting_sphere_that_moves_leaves_a_way),
        cmocka_unit_test(test_a_way_around_a_projecting_sphere_ends_before_it),
        cmocka_unit_test(test_bits_before_a_projecting_sphere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
