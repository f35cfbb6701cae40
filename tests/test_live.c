// Interaction with a running solver: spheres moved and scaled, kinematic targets of nodes.
#include "samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/solver.h"

static void set_target_velocity(taut_solver *solver, uint64_t node, double x, double y, double z)
{
    taut_error error = {0};
    if (solver_set_kinematic_velocity(solver, 0, node, (double[3]){x, y, z}, &error) != TAUT_OK)
        fail_msg("%s", error.text);
}

// ---- Spheres

// A sphere that grows around a node pushes it with its stiffness times the depth of the node.
static void test_a_sphere_grows(void **state)
{
    (void)state;
    taut_error error = {0};
    taut_solver *solver =
        solver_of(HEADER("symplectic_euler", "0.001") "bodies: [{name: n, type: network,\n"
                                                      "  nodes: [[0,2,0]], node_mass: 1,\n"
                                                      "  springs: []}]\n"
                                                      "colliders: [{type: sphere,\n"
                                                      "  center: [0,0,0], radius: 1,\n"
                                                      "  stiffness: 50}]\n");
    static const double centre[3] = {0, 0.5, 0}, still[3] = {0, 0, 0};
    assert_near(force_on(solver, 0).y, 0, 0);
    assert_int_equal(solver_move_sphere(solver, 0, centre, still, 1.75, &error), TAUT_OK);
    assert_near(force_on(solver, 0).y, 50 * 0.25, 1e-12);
    struct sphere_state found = solver_sphere(solver, 0);
    assert_near(found.centre.y, 0.5, 0);
    assert_near(found.radius, 1.75, 0);
    // The function of taut.h leaves the radius unchanged.
    assert_int_equal(taut_solver_set_sphere(solver, 0, still, still, &error), TAUT_OK);
    assert_near(force_on(solver, 0).y, 0, 0);
    assert_int_equal(taut_solver_set_sphere(solver, 0, centre, still, &error), TAUT_OK);
    assert_near(force_on(solver, 0).y, 50 * 0.25, 1e-12);
    assert_int_equal(solver_move_sphere(solver, 0, centre, still, 0, &error), TAUT_ERROR_ARGUMENT);
    assert_int_equal(solver_move_sphere(solver, 0, centre, still, NAN, &error),
                     TAUT_ERROR_ARGUMENT);
    assert_int_equal(solver_move_sphere(solver, 1, centre, still, 1, &error), TAUT_ERROR_ARGUMENT);
    assert_near(force_on(solver, 0).y, 50 * 0.25, 1e-12);
    taut_solver_destroy(solver);
}

// A sphere scaled to twice its size inside a cloth throws the nodes out with some force; that is no
// divergence, with any integrator. The next solver has the same radius.
static void test_growing_is_no_divergence(void **state)
{
    (void)state;
    static const char *const scene =
        HEADER("%s", "0.0005") "bodies: [{name: c, type: cloth, origin: [-1,0.5,-1], u: [2,0,0],\n"
                               "  v: [0,0,2], nodes: [20,20], mass: 1,\n"
                               "  springs: {structural: {stiffness: 50, damping: 0.02}}}]\n"
                               "colliders: [{type: sphere, center: [0,0,0], radius: 0.4,\n"
                               "  stiffness: 500}]\n";
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        const char *name = integrator_name((enum integrator)i);
        taut_error error = {0};
        taut_solver *solver = solver_of(scene, name), *second = solver_of(scene, name);
        static const double centre[3] = {0, 0, 0};
        advance(solver, 20);
        assert_int_equal(solver_move_sphere(solver, 0, centre, centre, 0.8, &error), TAUT_OK);
        advance(solver, 200);
        assert_true(position_of(solver, 190).y > 0.7);
        assert_int_equal(solver_restore_from(second, solver, NULL, NULL, &error), TAUT_OK);
        advance(second, 100);
        advance(solver, 100);
        assert_true(taut_solver_hash(second) == taut_solver_hash(solver));
        taut_solver_destroy(solver);
        taut_solver_destroy(second);
    }
}

// ---- Kinematic nodes

static taut_solver *rope(const char *integrator, const char *precision, const char *more,
                         const struct solver_options *options)
{
    return solver_from(
        scene_of("precision: %s\nsimulation: {integrator: %s, dt: 0.0005, steps: 1}\n"
                 "environment: {gravity: [0,-9.81,0]}\n"
                 "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 40,\n"
                 "  node_mass: 0.01, pins: [first], links: chain, spring: {stiffness: 400,\n"
                 "  damping: 0.05}, drives: [{node: last, velocity: [0,0.5,0]}]}]\n"
                 "colliders: [{type: plane, point: [0,-1,0], normal: [0,1,0], stiffness: 100,\n"
                 "  blocks_drives: true}%s]\n",
                 precision, integrator, more),
        options);
}

// Pinned nodes follow their kinematic target, driven ones drop their drives, and both stop on
// request.
static void test_kinematic_targets(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        taut_solver *solver = rope(integrator_name((enum integrator)i), "double", "", NULL);
        advance(solver, 100);
        assert_vector_near(position_of(solver, 39), vec3_make(1, 0.025, 0), 1e-12);
        set_target_velocity(solver, 0, 0, 0, 2);
        set_target_velocity(solver, 39, 1, 0, 0);
        advance(solver, 200);
        assert_vector_near(position_of(solver, 0), vec3_make(0, 0, 0.2), 1e-12);
        assert_vector_near(position_of(solver, 39), vec3_make(1.1, 0.025, 0), 1e-12);
        assert_vector_near(velocity_of(solver, 39), vec3_make(1, 0, 0), 1e-9);
        set_target_velocity(solver, 0, 0, 0, 0);
        set_target_velocity(solver, 39, -1, 0, 0);
        advance(solver, 100);
        assert_vector_near(position_of(solver, 0), vec3_make(0, 0, 0.2), 1e-12);
        assert_vector_near(position_of(solver, 39), vec3_make(1.05, 0.025, 0), 1e-12);
        assert_true(position_of(solver, 1).z > 0.1); // it pulls the rope along
        taut_solver_destroy(solver);
    }
}

// A target moves down to a plane that blocks drives and not below it; along the plane the node
// continues.
static void test_planes_stop_kinematic_targets(void **state)
{
    (void)state;
    taut_solver *solver = rope("symplectic_euler", "double", "", NULL);
    set_target_velocity(solver, 0, 0.5, -4, 0);
    advance(solver, 800);
    assert_vector_near(position_of(solver, 0), vec3_make(0.2, -1, 0), 1e-12);
    assert_vector_near(velocity_of(solver, 0), vec3_make(0.5, 0, 0), 1e-12);
    taut_solver_destroy(solver);
}

static void test_only_pinned_and_driven_nodes_follow_targets(void **state)
{
    (void)state;
    taut_error error = {0};
    taut_solver *solver = rope("rk4", "single", "", NULL);
    static const double velocity[3] = {1, 0, 0}, wrong[3] = {0, INFINITY, 0};
    assert_int_equal(solver_set_kinematic_velocity(solver, 0, 5, velocity, &error),
                     TAUT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "free"));
    assert_int_equal(solver_set_kinematic_velocity(solver, 0, 40, velocity, &error),
                     TAUT_ERROR_ARGUMENT);
    assert_int_equal(solver_set_kinematic_velocity(solver, 1, 0, velocity, &error),
                     TAUT_ERROR_ARGUMENT);
    assert_int_equal(solver_set_kinematic_velocity(solver, 0, 0, wrong, &error),
                     TAUT_ERROR_ARGUMENT);
    taut_solver_destroy(solver);
}

// A target that pulls the rope does work on it: energy and budget agree.
static void test_kinematic_targets_do_work(void **state)
{
    (void)state;
    taut_solver *solver = rope("velocity_verlet", "double", "", NULL);
    double start = energy_of(solver).total;
    set_target_velocity(solver, 0, 0, 3, 1);
    advance(solver, 400);
    struct work_done work = work_of(solver);
    double gained = energy_of(solver).total - start;
    assert_true(gained > 1);
    assert_near(work.drives - work.damping - work.friction, gained, 0.02 * gained);
    taut_solver_destroy(solver);
}

static uint64_t touched_hash(const void *context, const struct solver_options *options)
{
    const char *integrator = context;
    taut_solver *solver = rope(integrator, "single",
                               ", {type: sphere, center: [0.5,-0.3,0], radius: 0.1,\n"
                               "  stiffness: 300, friction: 0.1}",
                               options);
    taut_error error = {0};
    for (int i = 0; i < 12; i++) {
        set_target_velocity(solver, i % 3 ? 0 : 39, 0.3 * i, 1, 0.1 * i);
        assert_int_equal(solver_move_sphere(solver, 1, (double[3]){0.5, 0.02 * i - 0.3, 0},
                                            (double[3]){0, 0.4, 0}, 0.1 + 0.01 * i, &error),
                         TAUT_OK);
        advance(solver, 10);
    }
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        assert_same_hashes(touched_hash, integrator_name((enum integrator)i));
}

// Kinematic targets continue, blocked or not, in the next solver.
static void test_kinematic_targets_continue(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (int blocked = 0; blocked < 2; blocked++) {
            const char *name = integrator_name((enum integrator)i);
            const char *precision = blocked ? "single" : "double";
            taut_solver *first = rope(name, precision, "", NULL);
            taut_solver *second = rope(name, precision, "", NULL);
            taut_error error = {0};
            advance(first, 5);
            set_target_velocity(first, 0, 0.1, blocked ? -400 : 1, 0);
            set_target_velocity(first, 39, 1, 1, 0.1);
            advance(first, 10);
            assert_int_equal(solver_restore_from(second, first, NULL, NULL, &error), TAUT_OK);
            advance(first, 10);
            advance(second, 10);
            if (taut_solver_hash(first) != taut_solver_hash(second))
                fail_msg("%s does not continue the target", name);
            taut_solver_destroy(first);
            taut_solver_destroy(second);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sphere_grows),
        cmocka_unit_test(test_growing_is_no_divergence),
        cmocka_unit_test(test_kinematic_targets),
        cmocka_unit_test(test_planes_stop_kinematic_targets),
        cmocka_unit_test(test_only_pinned_and_driven_nodes_follow_targets),
        cmocka_unit_test(test_kinematic_targets_do_work),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_kinematic_targets_continue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
