// Planes, spheres and rooms: penalty forces against their formulas, projection, moving spheres.
#include "physics.h"

#include <math.h>

// One node of 2 kg, without springs, before the colliders given.
static taut_solver *node_before(vec3 place, vec3 velocity, const char *gravity,
                                const char *colliders)
{
    return solver_of(
        HEADER("symplectic_euler",
               "0.001") "environment: {gravity: %s}\n"
                        "bodies: [{name: b, type: network, nodes: [[" NUM "," NUM "," NUM "]],\n"
                        "  node_mass: [2], velocities: [[" NUM "," NUM "," NUM "]], springs: []}]\n"
                        "colliders: [%s]\n",
        gravity, place.x, place.y, place.z, velocity.x, velocity.y, velocity.z, colliders);
}

static void assert_force(vec3 place, vec3 velocity, const char *collider, vec3 expected)
{
    taut_solver *solver = node_before(place, velocity, "[0,0,0]", collider);
    assert_vector_near(force_on(solver, 0), expected, 1e-12);
    taut_solver_destroy(solver);
}

static const char *const floor_keys =
    "{type: plane, point: [5,1,0], normal: [0,2,0], stiffness: 100, friction: 0.2, absorption: 3}";

// F = k p n - c_t v_t, and - c_n (v.n) n only on the way in.
static void test_plane(void **state)
{
    (void)state;
    assert_force(vec3_make(0, 0.9, 0), vec3_make(0, 0, 0), floor_keys, vec3_make(0, 10, 0));
    assert_force(vec3_make(0, 1.1, 0), vec3_make(1, -2, 3), floor_keys, vec3_make(0, 0, 0));
    assert_force(vec3_make(0, 1, 0), vec3_make(1, -2, 3), floor_keys, vec3_make(0, 0, 0));
    assert_force(vec3_make(0, 0.9, 0), vec3_make(1, -2, 3), floor_keys,
                 vec3_make(-0.2, 10 + 6, -0.6)); // absorption while it comes in
    assert_force(vec3_make(0, 0.9, 0), vec3_make(1, 2, 3), floor_keys,
                 vec3_make(-0.2, 10, -0.6)); // and none while it leaves
}

// The normal is made a unit vector.
static void test_slanted_plane(void **state)
{
    (void)state;
    const char *plane = "{type: plane, point: [0,0,0], normal: [2,4,-4], stiffness: 100}";
    vec3 n = vec3_make(1.0 / 3, 2.0 / 3, -2.0 / 3);
    assert_force(vec3_add(vec3_scale(-0.25, n), vec3_make(2, -1, 0)), vec3_make(1, 1, 1), plane,
                 vec3_scale(25, n));
}

static const char *const ball_keys =
    "{type: sphere, center: [1,0,0], radius: 0.5, stiffness: 100,\n"
    " friction: 0.2, absorption: 3, velocity: [0,0,2]}";

// Outside of a sphere; velocities count relative to its surface. At its very centre there is no
// direction out.
static void test_sphere(void **state)
{
    (void)state;
    assert_force(vec3_make(1.3, 0, 0), vec3_make(0, 0, 2), ball_keys, vec3_make(20, 0, 0));
    assert_force(vec3_make(1.6, 0, 0), vec3_make(0, 0, 0), ball_keys, vec3_make(0, 0, 0));
    assert_force(vec3_make(1.3, 0, 0), vec3_make(-1, 5, 2), ball_keys, vec3_make(23, -1, 0));
    assert_force(vec3_make(1.3, 0, 0), vec3_make(1, 5, 3), ball_keys, vec3_make(20, -1, -0.2));
    assert_force(vec3_make(1, 0, 0), vec3_make(1, 5, 3), ball_keys, vec3_make(0, 0, 0));
}

// A room is seen from inside; beyond a corner three walls push.
static void test_room(void **state)
{
    (void)state;
    const char *room = "{type: room, min: [-1,-2,-3], max: [1,2,3], stiffness: 100,\n"
                       " friction: 0.2, absorption: 3}";
    vec3 still = vec3_make(0, 0, 0);
    assert_force(vec3_make(0.9, -1.9, 2.9), vec3_make(4, 5, 6), room, still);
    assert_force(vec3_make(-1.1, 0, 0), still, room, vec3_make(10, 0, 0));
    assert_force(vec3_make(1.1, 0, 0), vec3_make(1, 1, 0), room, vec3_make(-10 - 3, -0.2, 0));
    assert_force(vec3_make(1.1, -2.2, 3.3), still, room, vec3_make(-10, 20, -30));
}

// A sphere moves with its velocity, and is where it is set from outside from then on.
static void test_moving_sphere(void **state)
{
    (void)state;
    taut_solver *solver =
        node_before(vec3_make(0, 0, 0), vec3_make(0, 0, 0), "[0,0,0]",
                    "{type: plane, point: [0,-9,0], normal: [0,1,0], stiffness: 1},\n"
                    "{type: sphere, center: [-1,0,0], radius: 0.5, stiffness: 0.001,\n"
                    " velocity: [1,0,0]}");
    advance(solver, 700); // its centre is at -0.3: depth 0.2
    assert_near(force_on(solver, 0).x, 0.001 * 0.2, 1e-6);
    static const double centre[3] = {0, 0.4, 0}, velocity[3] = {0, -2, 0};
    taut_error error = {0};
    assert_int_equal(taut_solver_set_sphere(solver, 1, centre, velocity, &error), TAUT_OK);
    assert_near(force_on(solver, 0).y, -0.001 * 0.1, 1e-6);
    advance(solver, 100); // now at 0.2: depth 0.3
    assert_near(force_on(solver, 0).y, -0.001 * 0.3, 1e-6);
    assert_int_equal(taut_solver_set_sphere(solver, 0, centre, velocity, &error),
                     TAUT_ERROR_ARGUMENT); // a plane
    assert_int_equal(taut_solver_set_sphere(solver, 2, centre, velocity, &error),
                     TAUT_ERROR_ARGUMENT); // nothing
    taut_solver_destroy(solver);
}

// A sphere set into a body at rest pushes it away hard; that is no divergence. Nor is what it did
// before, once it stands still.
static void test_sphere_set_from_outside_is_no_divergence(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler",
        "0.0005") "bodies: [{name: b, type: lattice, origin: [0,0,0], nodes: [4,4,4], spacing: "
                  "0.1,\n"
                  "  node_mass: 0.01, springs: {k1: {stiffness: 500}, k2: {stiffness: 300}}}]\n"
                  "colliders: [{type: sphere, center: [9,9,9], radius: 0.3, stiffness: 5000}]\n");
    advance(solver, 100);
    static const double centre[3] = {0.15, -0.2, 0.15}, up[3] = {0, 20, 0}, still[3] = {0, 0, 0};
    static const double away[3] = {9, 9, 9};
    assert_int_equal(taut_solver_set_sphere(solver, 0, centre, still, NULL), TAUT_OK);
    advance(solver, 100);
    assert_int_equal(taut_solver_set_sphere(solver, 0, centre, up, NULL), TAUT_OK);
    advance(solver, 50);
    assert_int_equal(taut_solver_set_sphere(solver, 0, away, still, NULL), TAUT_OK);
    advance(solver, 500);
    assert_true(energy_of(solver).kinetic > 1); // it was a hard push
    taut_solver_destroy(solver);
}

static const char *const responses[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                        "velocity_verlet", "midpoint",         "rk4"};

// response: project puts the node on the surface after the step and multiplies its velocity by
// `keep`. The node comes in at (1, -2, 0), starts 1 mm above and is 1 mm below after the step.
static void test_projection(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
            "bodies: [{name: b, type: network, nodes: [[0,0.001,0]], node_mass: [2],\n"
            "  velocities: [[1,-2,0]], springs: []}]\n"
            "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], response: project,\n"
            "  keep: 0.8}]\n",
            responses[i]);
        advance(solver, 1);
        assert_vector_near(place_of(solver, 0), vec3_make(0.001, 0, 0), 1e-12);
        assert_vector_near(velocity_of(solver, 0), vec3_make(0.8, -1.6, 0), 1e-12);
        advance(solver, 1); // and it goes on with that velocity
        assert_vector_near(place_of(solver, 0), vec3_make(0.0018, 0, 0), 1e-12);
        assert_vector_near(velocity_of(solver, 0), vec3_make(0.64, -1.28, 0), 1e-12);
        taut_solver_destroy(solver);
    }
}

static void test_projection_on_sphere_and_room(void **state)
{
    (void)state;
    taut_solver *solver =
        node_before(vec3_make(1.3, 0, 0), vec3_make(0, 0, 1), "[0,0,0]",
                    "{type: sphere, center: [1,0,0], radius: 0.5, response: project, keep: 0.5,\n"
                    " velocity: [0,0,1]}");
    advance(solver, 1);
    assert_vector_near(place_of(solver, 0), vec3_make(1.5, 0, 0.001), 1e-12);
    assert_vector_near(velocity_of(solver, 0), vec3_make(0, 0, 0.5), 1e-12);
    taut_solver_destroy(solver);
    solver = node_before(vec3_make(1.2, -2.2, 3.2), vec3_make(10, -10, 10), "[0,0,0]",
                         "{type: room, min: [-1,-2,-3], max: [1,2,3], response: project,\n"
                         " keep: 0.5}");
    advance(solver, 1);
    assert_vector_near(place_of(solver, 0), vec3_make(1, -2, 3), 0);
    assert_vector_near(velocity_of(solver, 0), vec3_make(5, -5, 5), 1e-14); // once, not thrice
    taut_solver_destroy(solver);
}

// At rest on a floor: k p = m g with a penalty, on the surface with projection.
static void test_rest_on_a_floor(void **state)
{
    (void)state;
    taut_solver *solver =
        node_before(vec3_make(0, 0.05, 0), vec3_make(0.5, 0, 0), "[0,-10,0]",
                    "{type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 1000,\n"
                    " friction: 5, absorption: 40}");
    advance(solver, 20000);
    assert_near(place_of(solver, 0).y, -2 * 10.0 / 1000, 1e-9);
    assert_vector_near(velocity_of(solver, 0), vec3_make(0, 0, 0), 1e-9);
    taut_solver_destroy(solver);
    solver = node_before(vec3_make(0, 0.05, 0), vec3_make(0.5, 0, 0), "[0,-10,0]",
                         "{type: plane, point: [0,0,0], normal: [0,1,0], response: project,\n"
                         " keep: 0.9}");
    advance(solver, 5000);
    assert_near(place_of(solver, 0).y, 0, 0);
    assert_near(velocity_of(solver, 0).x, 0, 1e-9);
    taut_solver_destroy(solver);
}

// Pinned nodes inside a collider stay.
static void test_pinned_nodes_are_not_projected(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler",
        "0.001") "bodies: [{name: b, type: network, nodes: [[0,-1,0]], node_mass: [2], pins: [0],\n"
                 "  springs: []}]\n"
                 "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], response: "
                 "project}]\n");
    advance(solver, 10);
    assert_vector_near(place_of(solver, 0), vec3_make(0, -1, 0), 0);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane),
        cmocka_unit_test(test_slanted_plane),
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_moving_sphere),
        cmocka_unit_test(test_sphere_set_from_outside_is_no_divergence),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_projection_on_sphere_and_room),
        cmocka_unit_test(test_rest_on_a_floor),
        cmocka_unit_test(test_pinned_nodes_are_not_projected),
    };
    return cmocka_run_group_tests_name("colliders", tests, NULL, NULL);
}
