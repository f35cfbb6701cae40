// The forces of one spring compared with their formulas: damping laws, slack laws, zero length; air
// drag.
#include "physics.h"

#include <math.h>
#include <stdio.h>

// A spring between node 0 at the origin and node 1 at (d, 0, 0), rotated to the direction (2, -1,
// 2) / 3.
static const vec3 along = {2.0 / 3, -1.0 / 3, 2.0 / 3};
static const vec3 velocity_a = {0.3, -0.7, 0.2}, velocity_b = {-0.4, 0.5, 1.1};

static taut_solver *spring_of(double length, const char *keys)
{
    vec3 b = vec3_scale(length, along);
    return solver_of(
        HEADER("symplectic_euler",
               "0.001") "bodies: [{name: s, type: network, nodes: [[0,0,0],[" NUM "," NUM "," NUM
                        "]],\n"
                        "  node_mass: [1, 2], velocities: [[0.3,-0.7,0.2],[-0.4,0.5,1.1]],\n"
                        "  springs: [[0, 1, {stiffness: 100, rest_length: 1, %s}]]}]\n",
        b.x, b.y, b.z, keys);
}

// F_a = -k (L - L0) u, F_b = -F_a, plus the damping force; u from b to a.
static void assert_force(const char *keys, double length, double elastic, vec3 damping)
{
    taut_solver *solver = spring_of(length, keys);
    vec3 u = vec3_scale(-1, along);
    vec3 expected = vec3_add(vec3_scale(elastic, u), damping);
    assert_vector_near(force_on(solver, 0), expected, 1e-12);
    assert_vector_near(force_on(solver, 1), vec3_scale(-1, expected), 1e-12);
    taut_solver_destroy(solver);
}

static const vec3 none = {0, 0, 0};

static vec3 axial(double c)
{
    vec3 w = vec3_subtract(velocity_a, velocity_b);
    return vec3_scale(-c * vec3_dot(w, along), along);
}

static vec3 full(double c)
{
    return vec3_scale(-c, vec3_subtract(velocity_a, velocity_b));
}

static void test_elastic_force(void **state)
{
    (void)state;
    assert_force("damping: 0", 1.3, -100 * 0.3, none);
    assert_force("damping: 0", 0.6, -100 * -0.4, none);
    assert_force("damping: 0", 1, 0, none);
}

static void test_damping_laws(void **state)
{
    (void)state;
    assert_force("damping: 3", 1.3, -30, axial(3)); // axial is the default
    assert_force("damping: 3, damping_law: axial", 0.6, 40, axial(3));
    assert_force("damping: 3, damping_law: full", 1.3, -30, full(3));
    assert_force("damping: 3, damping_law: full", 0.6, 40, full(3));
}

// No force at all on the slack side, damping included.
static void test_slack_laws(void **state)
{
    (void)state;
    static const char *const dampings[] = {"axial", "full"};
    for (int i = 0; i < 2; i++) {
        char tension[100], compression[100];
        vec3 damping = i == 0 ? axial(3) : full(3);
        snprintf(tension, sizeof tension, "damping: 3, damping_law: %s, law: tension_only",
                 dampings[i]);
        snprintf(compression, sizeof compression,
                 "damping: 3, damping_law: %s, law: compression_only", dampings[i]);
        assert_force(tension, 1.3, -30, damping);
        assert_force(tension, 0.6, 0, none);
        assert_force(compression, 1.3, 0, none);
        assert_force(compression, 0.6, 40, damping);
    }
}

// A spring of either law is slack at exactly its rest length. The ends lie along x, so that L is
// exact.
static void test_slack_at_rest_length(void **state)
{
    (void)state;
    static const char *const laws[] = {"tension_only", "compression_only"};
    for (int i = 0; i < 2; i++) {
        taut_solver *solver = solver_of(
            HEADER("symplectic_euler",
                   "0.001") "bodies: [{name: s, type: network, nodes: [[0,0,0],[1,0,0]],\n"
                            "  node_mass: [1, 2], velocities: [[1,2,3],[0,0,0]], springs: [[0, 1,\n"
                            "  {stiffness: 100, rest_length: 1, damping: 5, law: %s}]]}]\n",
            laws[i]);
        vec3 force = force_on(solver, 0);
        assert_true(force.x == 0 && force.y == 0 && force.z == 0);
        taut_solver_destroy(solver);
    }
}

// At L = 0 there is no direction: no elastic and no axial damping force, in both precisions; full
// damping needs no direction. Runs through L = 0 stay finite with each integrator.
static void test_no_length(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double"};
    static const char *const dampings[] = {"axial", "full"};
    for (int i = 0; i < 4; i++) {
        taut_solver *solver =
            solver_of("precision: %s\n"
                      "simulation: {dt: 0.001, steps: 1}\n"
                      "bodies: [{name: s, type: network, nodes: [[0.1,0,0],[0.1,0,0]],\n"
                      "  node_mass: [1, 2], velocities: [[1,2,3],[0,0,0]], springs: [[0, 1,\n"
                      "  {stiffness: 100, rest_length: 1, damping: 5, damping_law: %s}]]}]\n",
                      precisions[i / 2], dampings[i % 2]);
        vec3 expected = i % 2 ? vec3_make(-5, -10, -15) : none;
        assert_vector_near(force_on(solver, 0), expected, 0);
        assert_vector_near(force_on(solver, 1), vec3_scale(-1, expected), 0);
        taut_solver_destroy(solver);
    }
}

static void test_runs_from_no_length(void **state)
{
    (void)state;
    static const char *const integrators[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                              "velocity_verlet", "midpoint",         "rk4"};
    for (int i = 0; i < 6; i++) {
        taut_solver *solver =
            solver_of("precision: double\n"
                      "simulation: {integrator: %s, dt: 0.001, steps: 1}\n"
                      "bodies: [{name: s, type: network, nodes: [[0,0,0],[0,0,0],[0,0,0]],\n"
                      "  node_mass: [1,1,1], velocities: [[1,0,0],[0,0,0],[0,0,0]],\n"
                      "  stiffness: 100, rest_length: 1, damping: 5,\n"
                      "  springs: [[0,1,{}],[1,2,{rest_length: 0}]]}]\n",
                      integrators[i]);
        advance(solver, 200);
        vec3 centre = vec3_add(position_of(solver, 0),
                               vec3_add(position_of(solver, 1), position_of(solver, 2)));
        assert_vector_near(centre, vec3_make(0.2, 0, 0), 1e-12);
        assert_true(isfinite(energy_of(solver).total));
        taut_solver_destroy(solver);
    }
}

// A spring of zero stiffness is valid, and exerts only its damping force.
static void test_zero_stiffness(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler",
               "0.001") "bodies: [{name: s, type: network, nodes: [[0,0,0],[1,0,0]],\n"
                        "  node_mass: [1, 2], velocities: [[1,2,3],[0,0,0]],\n"
                        "  springs: [[0, 1, {stiffness: 0, rest_length: 0.5, damping: 2}]]}]\n");
    assert_vector_near(force_on(solver, 0), vec3_make(-2, 0, 0), 1e-15);
    advance(solver, 100);
    assert_true(isfinite(energy_of(solver).total));
    taut_solver_destroy(solver);
}

// F = m g - c v per node, for any mass.
static void test_air_drag(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler",
        "0.001") "environment: {gravity: [0,0,-10], air_drag: 0.3}\n"
                 "bodies: [{name: s, type: network, nodes: [[0,0,0],[1,0,0]], node_mass: [1, 2],\n"
                 "  velocities: [[1,2,3],[-5,0,1]], springs: []}]\n");
    assert_vector_near(force_on(solver, 0), vec3_make(-0.3, -0.6, -10.9), 1e-14);
    assert_vector_near(force_on(solver, 1), vec3_make(1.5, 0, -20.3), 1e-14);
    taut_solver_destroy(solver);
}

// Zero mass is an error of the scene, and is never divided by.
static void test_zero_mass_is_refused(void **state)
{
    (void)state;
    static const char text[] =
        "simulation: {dt: 0.001, steps: 1}\n"
        "bodies: [{name: s, type: network, nodes: [[0,0,0]], node_mass: [0], springs: []}]\n";
    taut_scene *scene;
    taut_error error = {0};
    assert_int_equal(taut_scene_parse(text, sizeof text - 1, "t.yaml", NULL, &scene, &error),
                     TAUT_ERROR_SCENE);
    assert_null(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elastic_force),
        cmocka_unit_test(test_damping_laws),
        cmocka_unit_test(test_slack_laws),
        cmocka_unit_test(test_slack_at_rest_length),
        cmocka_unit_test(test_no_length),
        cmocka_unit_test(test_runs_from_no_length),
        cmocka_unit_test(test_zero_stiffness),
        cmocka_unit_test(test_air_drag),
        cmocka_unit_test(test_zero_mass_is_refused),
    };
    return cmocka_run_group_tests_name("springs", tests, NULL, NULL);
}
