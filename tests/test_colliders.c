// Planes, spheres and rooms: penalty forces against their formulas, projection, moving spheres.
#include "physics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/solver.h"

// One node of 2 kg without springs, in front of the given colliders.
static taut_solver *node_before(vec3 position, vec3 velocity, const char *gravity,
                                const char *colliders)
{
    return solver_of(
        HEADER("symplectic_euler",
               "0.001") "environment: {gravity: %s}\n"
                        "bodies: [{name: b, type: network, nodes: [[" NUM "," NUM "," NUM "]],\n"
                        "  node_mass: [2], velocities: [[" NUM "," NUM "," NUM "]], springs: []}]\n"
                        "colliders: [%s]\n",
        gravity, position.x, position.y, position.z, velocity.x, velocity.y, velocity.z, colliders);
}

static void assert_force(vec3 position, vec3 velocity, const char *collider, vec3 expected)
{
    taut_solver *solver = node_before(position, velocity, "[0,0,0]", collider);
    assert_vector_near(force_on(solver, 0), expected, 1e-12);
    taut_solver_destroy(solver);
}

static const char *const floor_keys =
    "{type: plane, point: [5,1,0], normal: [0,2,0], stiffness: 100, friction: 0.2, absorption: 3}";

// F = k p n - c_t v_t, and - c_n (v.n) n only while the node moves inwards.
static void test_plane(void **state)
{
    (void)state;
    assert_force(vec3_make(0, 0.9, 0), vec3_make(0, 0, 0), floor_keys, vec3_make(0, 10, 0));
    assert_force(vec3_make(0, 1.1, 0), vec3_make(1, -2, 3), floor_keys, vec3_make(0, 0, 0));
    assert_force(vec3_make(0, 1, 0), vec3_make(1, -2, 3), floor_keys, vec3_make(0, 0, 0));
    assert_force(vec3_make(0, 0.9, 0), vec3_make(1, -2, 3), floor_keys,
                 vec3_make(-0.2, 10 + 6, -0.6)); // with absorption on the path in
    assert_force(vec3_make(0, 0.9, 0), vec3_make(1, 2, 3), floor_keys,
                 vec3_make(-0.2, 10, -0.6)); // and none on the path out
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

// Outside of a sphere; velocities are relative to its surface. At its centre there is no outward
// direction.
static void test_sphere(void **state)
{
    (void)state;
    assert_force(vec3_make(1.3, 0, 0), vec3_make(0, 0, 2), ball_keys, vec3_make(20, 0, 0));
    assert_force(vec3_make(1.6, 0, 0), vec3_make(0, 0, 0), ball_keys, vec3_make(0, 0, 0));
    assert_force(vec3_make(1.3, 0, 0), vec3_make(-1, 5, 2), ball_keys, vec3_make(23, -1, 0));
    assert_force(vec3_make(1.3, 0, 0), vec3_make(1, 5, 3), ball_keys, vec3_make(20, -1, -0.2));
    assert_force(vec3_make(1, 0, 0), vec3_make(1, 5, 3), ball_keys, vec3_make(0, 0, 0));
}

// Nodes are inside a room; beyond a corner three walls push.
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

// A sphere moves with its velocity, and continues from a position that is set from outside.
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
                     TAUT_ERROR_ARGUMENT); // no such collider
    taut_solver_destroy(solver);
}

// A sphere that is given a target has the velocity that leads there, which friction sees.
static void test_sphere_with_a_target(void **state)
{
    (void)state;
    taut_solver *solver =
        node_before(vec3_make(0, 0, 0), vec3_make(0, 0, 0), "[0,0,0]",
                    "{type: plane, point: [0,-9,0], normal: [0,1,0], stiffness: 1},\n"
                    "{type: sphere, center: [0,-0.5,0], radius: 0.501, stiffness: 0, friction: 2}");
    static const double target[3] = {0.3, -0.5, 0};
    taut_error error = {0};
    assert_int_equal(taut_solver_set_sphere_target(solver, 1, target, 3, &error), TAUT_OK);
    assert_near(force_on(solver, 0).x, 2 * 0.1, 1e-6);
    advance(solver, 100);
    double along = solver_sphere(solver, 1).centre.x / taut_solver_time(solver);
    assert_near(along, 0.1, 1e-9);
    assert_int_equal(taut_solver_set_sphere_target(solver, 1, target, 0, &error),
                     TAUT_ERROR_ARGUMENT);
    assert_int_equal(taut_solver_set_sphere_target(solver, 0, target, 1, &error),
                     TAUT_ERROR_ARGUMENT); // a plane
    assert_int_equal(taut_solver_set_sphere_target(solver, 2, target, 1, &error),
                     TAUT_ERROR_ARGUMENT); // nothing
    taut_solver_destroy(solver);
}

// A sphere set into a body at rest pushes it away hard, which is no divergence; nor does that
// impulse count as one later, when the sphere stands still.
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
    assert_true(energy_of(solver).kinetic > 1); // the impulse was large
    taut_solver_destroy(solver);
}

static const char *const integrators[] = {"explicit_euler", "symplectic_euler",
                                          "verlet",         "velocity_verlet",
                                          "midpoint",       "rk4",
                                          "implicit_euler", "implicit_midpoint",
                                          "bdf2",           "xpbd"};
enum { INTEGRATORS = sizeof integrators / sizeof integrators[0] };

// response: project puts the node on the surface after the step and removes its speed into the
// surface; the rest of the velocity is multiplied by `keep`, once. The node's velocity is
// (1, -2, 0); it starts 1 mm above the surface and is 1 mm below it after the step.
static void test_projection(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATORS; i++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 1%s}\n"
            "bodies: [{name: b, type: network, nodes: [[0,0.001,0]], node_mass: [2],\n"
            "  velocities: [[1,-2,0]], springs: []}]\n"
            "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], response: project,\n"
            "  keep: 0.8}]\n",
            integrators[i], i == INTEGRATORS - 1 ? ", substeps: 1" : "");
        advance(solver, 1);
        assert_vector_near(position_of(solver, 0), vec3_make(0.001, 0, 0), 1e-12);
        assert_vector_near(velocity_of(solver, 0), vec3_make(0.8, 0, 0), 1e-12);
        advance(solver, 10); // and it continues with that velocity
        assert_vector_near(position_of(solver, 0), vec3_make(0.009, 0, 0), 1e-12);
        assert_vector_near(velocity_of(solver, 0), vec3_make(0.8, 0, 0), 1e-12);
        taut_solver_destroy(solver);
    }
}

// Velocities are relative to the surface of a moving sphere; in a corner of a room no velocity is
// left, at an edge some is.
static void test_projection_on_sphere_and_room(void **state)
{
    (void)state;
    taut_solver *solver =
        node_before(vec3_make(1.3, 0, 0), vec3_make(-1, 0, 5), "[0,0,0]",
                    "{type: sphere, center: [1,0,0], radius: 0.5, response: project, keep: 0.5,\n"
                    " velocity: [0,0,1]}");
    advance(solver, 1);
    double out = 1.299 - 1, along = 0.005 - 0.001, far = sqrt(out * out + along * along);
    assert_near(position_of(solver, 0).x, 1 + 0.5 * out / far, 1e-12);
    vec3 n = vec3_make(out / far, 0, along / far), relative = vec3_make(-1, 0, 4);
    vec3 rest = vec3_subtract(relative, vec3_scale(vec3_dot(relative, n), n));
    if (vec3_dot(relative, n) < 0) // it approaches
        assert_vector_near(velocity_of(solver, 0),
                           vec3_add(vec3_make(0, 0, 1), vec3_scale(0.5, rest)), 1e-12);
    else
        fail_msg("the sphere is not met");
    taut_solver_destroy(solver);
    static const char *const room = "{type: room, min: [-1,-2,-3], max: [1,2,3],\n"
                                    " response: project, keep: 0.5, restitution: 0.25}";
    solver = node_before(vec3_make(0.999, -1.999, 2.999), vec3_make(10, -10, 10), "[0,0,0]", room);
    advance(solver, 1);
    assert_vector_near(position_of(solver, 0), vec3_make(1, -2, 3), 0);
    assert_vector_near(velocity_of(solver, 0), vec3_make(-2.5, 2.5, -2.5), 1e-13);
    taut_solver_destroy(solver);
    solver = node_before(vec3_make(0.999, -1.999, 0), vec3_make(10, -10, 10), "[0,0,0]", room);
    advance(solver, 1);
    assert_vector_near(velocity_of(solver, 0), vec3_make(-2.5, 2.5, 5), 1e-13); // once, not twice
    taut_solver_destroy(solver);
}

// At rest on a floor: k p = m g with a penalty, on the surface with projection, where the node
// slides until friction stops it.
static void test_rest_on_a_floor(void **state)
{
    (void)state;
    taut_solver *solver =
        node_before(vec3_make(0, 0.05, 0), vec3_make(0.5, 0, 0), "[0,-10,0]",
                    "{type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 1000,\n"
                    " friction: 5, absorption: 40}");
    advance(solver, 20000);
    assert_near(position_of(solver, 0).y, -2 * 10.0 / 1000, 1e-9);
    assert_vector_near(velocity_of(solver, 0), vec3_make(0, 0, 0), 1e-9);
    taut_solver_destroy(solver);
    solver = node_before(vec3_make(0, 0.05, 0), vec3_make(0.5, 0, 0), "[0,-10,0]",
                         "{type: plane, point: [0,0,0], normal: [0,1,0], response: project,\n"
                         " keep: 0.9}");
    advance(solver, 5000);
    assert_near(position_of(solver, 0).y, 0, 0);
    assert_vector_near(velocity_of(solver, 0), vec3_make(0.45, 0, 0), 1e-12);
    taut_solver_destroy(solver);
    solver = node_before(vec3_make(0, 0.05, 0), vec3_make(0.5, 0, 0), "[0,-10,0]",
                         "{type: plane, point: [0,0,0], normal: [0,1,0], response: project,\n"
                         " friction: 20}");
    advance(solver, 5000);
    assert_near(position_of(solver, 0).y, 0, 0);
    assert_vector_near(velocity_of(solver, 0), vec3_make(0, 0, 0), 1e-12);
    taut_solver_destroy(solver);
}

// Three nodes at rest on a plane stay there, in both precisions.
static void test_nodes_that_lie_stay(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double"};
    for (int i = 0; i < 2 * INTEGRATORS; i++) {
        taut_solver *solver = solver_of(
            "precision: %s\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
            "environment: {gravity: [0,-9.81,0]}\n"
            "bodies: [{name: r, type: rope, from: [0,3,0], to: [1,3,0], nodes: 3, mass: 0.3,\n"
            "  spring: {stiffness: 100, damping: 1}}]\n"
            "colliders: [{type: plane, point: [0,3,0], response: project, keep: %g}]\n",
            precisions[i % 2], integrators[i / 2], i % 4 < 2 ? 1 : 0.9);
        advance(solver, 3000);
        for (uint64_t node = 0; node < 3; node++) {
            assert_vector_near(position_of(solver, node), vec3_make(0.5 * (double)node, 3, 0),
                               1e-6);
            assert_near(vec3_length(velocity_of(solver, node)), 0, 1e-6);
        }
        taut_solver_destroy(solver);
    }
}

// An impact multiplies the speed along the surface by `keep`, whatever the step is and however long
// the node stays on the surface afterwards.
static void test_keep_is_a_factor_of_an_impact(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double"};
    static const double steps[] = {0.004, 0.001, 0.00025, 0.00002};
    for (int i = 0; i < 8 * INTEGRATORS; i++) {
        const double dt = steps[i % 4];
        const bool coarse = i / 4 % 2 == 0 && strcmp(integrators[i / 8], "verlet") == 0;
        if (coarse && dt < 1e-4) // there g dt^2 is less than a digit of the height
            continue;
        taut_solver *solver =
            solver_of("precision: %s\nsimulation: {integrator: %s, dt: %g, steps: 1}\n"
                      "environment: {gravity: [0,-9.81,0]}\n"
                      "bodies: [{name: b, type: network, nodes: [[0,2.1,0]], node_mass: [0.5],\n"
                      "  velocities: [[1,0,0]], springs: []}]\n"
                      "colliders: [{type: plane, point: [0,2,0], response: project, keep: 0.9}]\n",
                      precisions[i / 4 % 2], integrators[i / 8], dt);
        double fall = sqrt(2 * 0.1 / 9.81);
        advance(solver, (uint64_t)(0.5 / dt));
        // verlet's velocity is a difference of positions in the run's precision
        assert_near(velocity_of(solver, 0).x, 0.9, 1e-5 + (coarse ? 2.4e-7 / dt : 0));
        assert_near(position_of(solver, 0).x, fall + 0.9 * (0.5 - fall),
                    0.2 * dt + (i / 4 % 2 == 0 ? 2e-3 : 1e-4));
        taut_solver_destroy(solver);
    }
}

// A body that lies on the plane when the run begins has no impact, and slides with its full speed.
// With friction it stops after m v / c, with an error of first order in the step.
static void test_sliding_distance(void **state)
{
    (void)state;
    static const double steps[] = {0.004, 0.001, 0.00025};
    for (int i = 0; i < 3 * INTEGRATORS; i++)
        for (int rubs = 0; rubs < 2; rubs++) {
            const double dt = steps[i % 3], mass = 0.1, friction = 0.5;
            taut_solver *solver = solver_of(
                "precision: double\nsimulation: {integrator: %s, dt: %g, steps: 1}\n"
                "environment: {gravity: [0,-9.81,0]}\n"
                "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 3,\n"
                "  node_mass: %g, velocity: [0,0,1], spring: {stiffness: 100, damping: 1}}]\n"
                "colliders: [{type: plane, response: project, keep: 0.9, friction: %g}]\n",
                integrators[i / 3], dt, mass, rubs ? friction : 0);
            advance(solver, (uint64_t)(3 / dt));
            double far = rubs ? mass / friction : 3;
            for (uint64_t node = 0; node < 3; node++) {
                assert_near(position_of(solver, node).y, 0, 0);
                assert_near(position_of(solver, node).z, far, rubs ? 0.7 * dt : 1e-9);
            }
            taut_solver_destroy(solver);
        }
}

// The speed at `time` of a node that starts at `distance` down a slope through the origin, at 1.5
// m/s along it and `above` the surface.
static double speed_on_slope(const char *precision, const char *integrator, double dt, double slope,
                             double distance, double above, double friction, double time)
{
    const vec3 normal = {sin(slope), cos(slope), 0}, down = {cos(slope), -sin(slope), 0};
    const vec3 position = vec3_add(vec3_scale(distance, down), vec3_scale(above, normal));
    taut_solver *solver = solver_of(
        "precision: %s\nsimulation: {integrator: %s, dt: %g, steps: 1}\n"
        "environment: {gravity: [0,-9.81,0]}\n"
        "bodies: [{name: b, type: network, nodes: [[" NUM "," NUM ",0]], node_mass: [1],\n"
        "  velocities: [[" NUM "," NUM ",0]], springs: []}]\n"
        "colliders: [{type: plane, normal: [" NUM "," NUM ",0], response: project,\n"
        "  keep: 0.5, friction: %g}]\n",
        precision, integrator, dt, position.x, position.y, 1.5 * down.x, 1.5 * down.y, normal.x,
        normal.y, friction);
    advance(solver, (uint64_t)(time / dt + 0.5));
    const double speed = vec3_length(velocity_of(solver, 0));
    taut_solver_destroy(solver);
    return speed;
}

// Rounding lifts a sliding node off the surface, the more so far from the origin and in short
// steps. When it comes back this is not an impact: the speed is that of the closed form,
// v = v0 + g t sin a, and with friction v = u + (v0 - u) exp(-c t / m), u = m g sin a / c.
// (Verlet's velocities contain the rounding of positions even in free flight, so it cannot be
// compared in single precision.)
static void test_sliding_down_is_no_impact(void **state)
{
    (void)state;
    static const double steps[] = {0.01, 0.001, 0.0003}, distances[] = {0, 100, 1000};
    static const double degrees[] = {5, 27, 30, 60};
    enum { SLOPES = 4, CASES = 2 * 3 * 3 * SLOPES };
    for (int i = 0; i < CASES * INTEGRATORS; i++) {
        const char *integrator = integrators[i / CASES];
        const bool single = i % 2;
        const double dt = steps[i / 2 % 3], distance = distances[i / 6 % 3];
        const double slope = degrees[i / 18 % SLOPES] * acos(-1) / 180;
        const double time = fmin(1, 1000 * dt), pull = 9.81 * sin(slope), start = 1.5;
        if (strcmp(integrator, "verlet") == 0 && single)
            continue;
        const char *precision = single ? "single" : "double";
        const double free = speed_on_slope(precision, integrator, dt, slope, distance, 0, 0, time);
        assert_near(free, start + pull * time, (single ? 0.08 : 0.02) * (start + pull * time));
        if (distance > 0) // friction acts only during contact
            continue;
        const double c = 0.5, last = pull / c, rubbed = last + (start - last) * exp(-c * time);
        assert_near(speed_on_slope(precision, integrator, dt, slope, distance, 0, c, time), rubbed,
                    (single ? 0.08 : 0.02) * rubbed);
    }
    // But a node that falls on the slope has an impact there too: it keeps half of its speed along
    // the surface.
    for (int i = 0; i < INTEGRATORS; i++)
        for (int near = 0; near < 2; near++) {
            const double slope = acos(-1) / 6, pull = 9.81 * sin(slope), time = 0.4;
            const double normal_pull = 9.81 * cos(slope), above = 0.1;
            const double falls = sqrt(2 * above / normal_pull);
            const double expected = (1.5 + pull * falls) / 2 + pull * (time - falls);
            const double speed = speed_on_slope(near ? "single" : "double", integrators[i], 0.001,
                                                slope, near ? 1 : 100, above, 0, time);
            assert_near(speed, expected, 0.02 * expected);
        }
}

// Friction acts on a sliding node that rounding lifts off a slope: the speed of the closed form far
// from the origin, in short steps and in low gravity. Three words of nodes, for the kernel, and one
// node alone. (Without Verlet and bdf2, whose velocities contain the rounding of positions.)
static void test_friction_of_rounded_nodes(void **state)
{
    (void)state;
    static const double degrees[] = {20, 45, 70}, distances[] = {5, 20, 100};
    for (int i = 0; i < INTEGRATORS; i++)
        for (int k = 0; k < 2 * 3 * 3; k++) {
            if (strcmp(integrators[i], "verlet") == 0 || strcmp(integrators[i], "bdf2") == 0)
                continue;
            const bool low = k % 2;
            const double slope = degrees[k / 2 % 3] * acos(-1) / 180, far = distances[k / 6];
            const double gravity = low ? 1.6 : 9.81, c = 2, time = 0.3;
            const double expected = gravity * sin(slope) / c * (1 - exp(-c * time));
            const int nodes = k % 4 == 0 ? 1 : 70;
            char *positions = text_format("[%g,%g,0]", far, far / 2);
            char *masses = text_format("1");
            for (int node = 1; node < nodes; node++) {
                char *more = text_format("%s,[%g,%g,%g]", positions, far, far / 2, 0.1 * node);
                free(positions);
                positions = more;
                more = text_format("%s,1", masses);
                free(masses);
                masses = more;
            }
            taut_solver *solver = solver_of(
                "precision: single\nsimulation: {integrator: %s, dt: 0.0001, steps: 1%s}\n"
                "environment: {gravity: [0,%g,0]}\n"
                "bodies: [{name: b, type: network, nodes: [%s], node_mass: [%s], springs: []}]\n"
                "colliders: [{type: plane, point: [%g,%g,0], normal: [" NUM "," NUM
                ",0], response: project, friction: %g}]\n",
                integrators[i], strcmp(integrators[i], "xpbd") == 0 ? ", substeps: 4" : "",
                -gravity, positions, masses, far, far / 2, sin(slope), cos(slope), c);
            free(positions);
            free(masses);
            advance(solver, (uint64_t)(time / 1e-4 + 0.5));
            const double speed = vec3_length(velocity_of(solver, (uint64_t)nodes - 1));
            if (!(fabs(speed / expected - 1) < 0.02))
                fail_msg("%s, %g m, %g degrees, g %g: %g instead of %g m/s", integrators[i], far,
                         degrees[k / 2 % 3], gravity, speed, expected);
            taut_solver_destroy(solver);
        }
}

// In precision mixed a node slides on as little as in double: the rounding of a step's motion
// lifted it off the surface with explicit Euler (1.77 instead of 1.34 m/s).
static void test_friction_in_mixed_precision(void **state)
{
    (void)state;
    const double c = 0.2, mass = 0.1, time = 0.5, slope = acos(-1) / 6;
    const double expected = mass * 9.81 * sin(slope) / c * (1 - exp(-c * time / mass));
    for (int i = 0; i < INTEGRATORS; i++)
        for (int k = 0; k < 4; k++) {
            const double dt = k % 2 ? 1e-3 : 1e-4, far = k / 2 ? 7 : 0;
            taut_solver *solver =
                solver_of("precision: mixed\nsimulation: {integrator: %s, dt: %g, steps: 1}\n"
                          "environment: {gravity: [0,-9.81,0]}\n"
                          "bodies: [{name: b, type: network, nodes: [[%g,0,0]], node_mass: %g, "
                          "springs: []}]\n"
                          "colliders: [{type: plane, point: [%g,0,0], normal: [" NUM "," NUM
                          ",0], response: project, friction: %g}]\n",
                          integrators[i], dt, far, mass, far, sin(slope), cos(slope), c);
            advance(solver, (uint64_t)(time / dt + 0.5));
            const double speed = vec3_length(velocity_of(solver, 0));
            if (!(fabs(speed / expected - 1) < 0.005))
                fail_msg("%s, dt %g at %g m: %g instead of %g m/s", integrators[i], dt, far, speed,
                         expected);
            taut_solver_destroy(solver);
        }
}

// A ball bounces to e^2 of the height that it falls from; with e = 1 a hundred times.
static void test_restitution(void **state)
{
    (void)state;
    static const double kept[] = {0.5, 1};
    for (int i = 1; i < INTEGRATORS; i++) // explicit Euler gains energy by itself
        for (int which = 0; which < 2; which++) {
            const double e = kept[which], height = 0.5, dt = 0.0005;
            taut_solver *solver =
                solver_of("precision: double\nsimulation: {integrator: %s, dt: %g, steps: 1}\n"
                          "environment: {gravity: [0,-9.81,0]}\n"
                          "bodies: [{name: b, type: network, nodes: [[0,%g,0]], node_mass: [2],\n"
                          "  velocities: [[1,0,0]], springs: []}]\n"
                          "colliders: [{type: plane, response: project, restitution: %g}]\n",
                          integrators[i], dt, height, e);
            int bounces = 0, wanted = which == 0 ? 3 : quick() ? 10 : 100;
            double top = 0, before = height, expected = height;
            for (bool rises = false; bounces < wanted;) {
                advance(solver, 1);
                double y = position_of(solver, 0).y;
                if (!rises && y > before) {
                    rises = true;
                } else if (rises && y < before) {
                    rises = false;
                    bounces++;
                    expected *= e * e;
                    assert_near(top, expected, 2e-3 * expected * (which == 0 ? 1 : 2));
                    top = 0;
                }
                if (rises)
                    top = fmax(top, y);
                before = y;
            }
            taut_solver_destroy(solver);
        }
}

// Scenes in which the energy must not rise: a body without damping falls on a plane, a sphere and
// the walls of a room, for a hundred thousand steps. The integrator's own error is measured while
// the body is still in the air.
static void assert_no_gain(const char *integrator, double restitution, double most)
{
    taut_solver *solver = solver_of(
        "precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
        "environment: {gravity: [0,-9.81,0]}\noutput: {work: false}\n"
        "bodies: [{name: j, type: lattice, origin: [0,0.3,0], nodes: [4,4,4], spacing: 0.1,\n"
        "  mass: 1, velocity: [1,0,0.3], springs: {k1: {stiffness: 300}, k2: {stiffness: 300},\n"
        "  k3: {stiffness: 300}}}]\n"
        "colliders: [{type: room, min: [-1,0,-1], max: [1.5,3,1.5], response: project,\n"
        "  restitution: %g}, {type: sphere, center: [0.6,0,0.5], radius: 0.4,\n"
        "  response: project, restitution: %g}, {type: plane, point: [0,0.05,0],\n"
        "  normal: [0.2,1,0], response: project}]\n",
        integrator, restitution, restitution);
    const double start = energy_of(solver).total;
    double least = start, rise = 0;
    const int checks = quick() ? 500 : restitution == 0 ? 10000 : 2000;
    for (int check = 0; check < checks; check++) {
        advance(solver, 10);
        double total = energy_of(solver).total;
        least = fmin(least, total);
        rise = fmax(rise, total - least);
    }
    if (!(rise <= most * start) || !(least < 0.7 * start))
        fail_msg("%s, restitution %g: rises by %g of %g, falls to %g", integrator, restitution,
                 rise, start, least);
    taut_solver_destroy(solver);
}

static void test_no_gain_in_a_long_run(void **state)
{
    (void)state;
    static const double restitutions[] = {0, 0.5, 1};
    for (int i = 0; i < 3; i++) {
        assert_no_gain("symplectic_euler", restitutions[i], 0.04);
        assert_no_gain("verlet", restitutions[i], 0.005);
        assert_no_gain("velocity_verlet", restitutions[i], 0.005);
        assert_no_gain("rk4", restitutions[i], 0.002);
    }
}

// A kernel treats many nodes in contact side by side; the reference has no such kernel and treats
// them one by one. Both must give the same bits.
struct contact_case {
    const char *integrator, *precision, *colliders;
};

enum { CONTACT_NODES = 150 };

static taut_solver *solver_of_contacts(const void *context, const struct solver_options *options)
{
    const struct contact_case *it = context;
    char nodes[16384], velocities[16384];
    size_t a = 0, b = 0;
    for (int i = 0; i < CONTACT_NODES; i++) { // many nodes at the first contact, a few elsewhere
        const double x = 0.01 * i, y = i % 37 == 0 ? 0.2 : 0.002 * (i % 5);
        a += (size_t)snprintf(nodes + a, sizeof nodes - a, "%s[" NUM "," NUM "," NUM "]",
                              i ? "," : "", x, y, 0.003 * (i % 11) - 0.01);
        b += (size_t)snprintf(velocities + b, sizeof velocities - b, "%s[" NUM "," NUM "," NUM "]",
                              i ? "," : "", 0.1 * (i % 3), -0.5, 0.2 * (i % 7 - 3));
    }
    return solver_from(
        scene_of("title: contacts\nsimulation: {integrator: %s, dt: 0.001, steps: 1000}\n"
                 "precision: %s\nenvironment: {gravity: [0, -9.81, 0.5]}\n"
                 "bodies: [{name: b, type: network, nodes: [%s], velocities: [%s],\n"
                 "  node_mass: 0.5, springs: [], pins: [70]}]\ncolliders: [%s]\n",
                 it->integrator, it->precision, nodes, velocities, it->colliders),
        options);
}

static uint64_t hash_of_contacts(const void *context, const struct solver_options *options)
{
    taut_solver *solver = solver_of_contacts(context, options);
    advance(solver, 120);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_side_by_side_is_one_by_one(void **state)
{
    (void)state;
    static const char *const colliders[] = {
        "{type: plane, response: project}",
        "{type: plane, normal: [0.1,1,0.2], response: project, friction: 0.3, restitution: 0.4}",
        "{type: room, min: [-1,0,-0.02], max: [3,1,0.03], response: project, friction: 0.2}",
        "{type: sphere, center: [0.7,-5,0], radius: 5, velocity: [0.2,0.1,0], response: project,"
        " friction: 0.1, keep: 0.9}",
        "{type: plane, response: project}, {type: plane, normal: [-1,0.2,0], point: [1.2,0,0],"
        " response: project}",
        "{type: plane, stiffness: 900, friction: 0.3, absorption: 2}",
        "{type: room, min: [-1,0,-0.02], max: [1.4,1,0.03], stiffness: 900, absorption: 1}",
        "{type: sphere, center: [0.7,-5,0], radius: 5, velocity: [0,0.1,0], stiffness: 900}",
    };
    static const char *const tried[] = {"symplectic_euler", "verlet", "rk4"};
    for (size_t c = 0; c < sizeof colliders / sizeof colliders[0]; c++)
        for (int i = 0; i < 3; i++)
            for (int precision = 0; precision < 2; precision++) {
                const struct contact_case it = {tried[i], precision ? "double" : "single",
                                                colliders[c]};
                const struct solver_options one = {
                    .config = {.threads = 1, .kernel = TAUT_KERNEL_REFERENCE}};
                const struct solver_options many = {.config = {.threads = 1}};
                assert_same_hashes(hash_of_contacts, &it);
                assert_int_equal(hash_of_contacts(&it, &many), hash_of_contacts(&it, &one));
            }
}

// A sphere that pushes a body does the work of a drive.
static void test_moving_sphere_projects(void **state)
{
    (void)state;
    static const char *const pushed[] = {"velocity_verlet", "implicit_euler", "implicit_midpoint",
                                         "bdf2", "xpbd"};
    for (int i = 0; i < 5; i++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 1%s}\n"
            "bodies: [{name: b, type: network, nodes: [[0,0,0]], node_mass: [2], springs: []}]\n"
            "colliders: [{type: sphere, center: [-1,0,0], radius: 0.5, response: project,\n"
            "  velocity: [3,0,0]}]\n",
            pushed[i], i == 4 ? ", substeps: 1" : "");
        energy_of(solver);
        advance(solver, 1000);
        assert_vector_near(velocity_of(solver, 0), vec3_make(3, 0, 0), 1e-12);
        assert_near(position_of(solver, 0).x, 2.5, 1e-12);
        assert_near(work_of(solver).drives, 2 * 3 * 3, 1e-10); // m v^2: half of it is lost
        assert_near(work_of(solver).projection, 0.5 * 2 * 3 * 3, 1e-10);
        taut_solver_destroy(solver);
    }
}

// Tests of contacts are skipped while a body is far from every collider. They resume as soon as a
// sphere is set beside it, also after the sphere has been away.
static void test_sphere_set_beside_a_body(void **state)
{
    (void)state;
    static const double centre[3] = {0, -0.4, 0}, away[3] = {-5, 9, 7}, still[3] = {0, 0, 0};
    static const char *const responses[] = {"project", "penalty, stiffness: 5"};
    for (int i = 0; i < INTEGRATORS; i++)
        for (int response = 0; response < 2; response++) {
            taut_solver *solver = solver_of(
                "precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
                "bodies: [{name: b, type: network, nodes: [[0,0,0]], node_mass: [2],\n"
                "  springs: []}]\n"
                "colliders: [{type: sphere, center: [9,9,9], radius: 0.5, response: %s}]\n",
                integrators[i], responses[response]);
            double y = 0;
            for (int round = 0; round < 2; round++) {
                advance(solver, 20);
                assert_near(position_of(solver, 0).y, y, 0.01);
                const double here[3] = {0, position_of(solver, 0).y + centre[1], 0};
                assert_int_equal(taut_solver_set_sphere(solver, 0, here, still, NULL), TAUT_OK);
                const double before = position_of(solver, 0).y;
                advance(solver, 2);
                y = position_of(solver, 0).y;
                if (response == 0)
                    assert_near(y - before, 0.1, 1e-9);
                else
                    assert_true(y > before);
                assert_int_equal(taut_solver_set_sphere(solver, 0, away, still, NULL), TAUT_OK);
            }
            taut_solver_destroy(solver);
        }
}

// Nodes that lie inside of a sphere when the run starts are moved onto it in the first step, which
// strains their springs: 6.03 J, which the projection puts in, in implicit steps as in others.
static void test_overlap_at_the_start_is_budgeted(void **state)
{
    (void)state;
    for (int i = 1; i < INTEGRATORS; i++) {
        const bool euler = strstr(integrators[i], "euler") || strcmp(integrators[i], "xpbd") == 0;
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: %s, dt: 0.0005, steps: 1}\n"
                      "bodies: [{name: j, type: lattice, nodes: [3,3,3], spacing: 0.2, mass: 1,\n"
                      "  spring: {stiffness: 300, damping: 0.1}}]\n"
                      "colliders: [{type: sphere, center: [-0.2,0.2,0.2], radius: 0.3,\n"
                      "  velocity: [1,0,0], response: project}]\n",
                      integrators[i]);
        const double start = energy_of(solver).total;
        advance(solver, 1);
        assert_near(work_of(solver).projection, -6.03, 0.2);
        advance(solver, 399);
        assert_near(residual_of(solver, start), 0, euler ? 2 : 0.1); // what those lose by damping
        taut_solver_destroy(solver);
    }
}

// Symplectic Euler loses m a^2 h^2 / 2 in a step that accelerates a node into the surface that it
// lies on, and the projection restores it, also with this sphere, against which springs press. So
// the work of impacts is the limit of the projection's work at dt = 0.
static void test_projection_under_a_moving_sphere_by_symplectic_euler(void **state)
{
    (void)state;
    static const double steps[] = {0.0005, 0.00025};
    double taken[2], restored[2];
    for (int k = 0; k < 2; k++) {
        taut_solver *solver = solver_of(
            HEADER("symplectic_euler",
                   NUM) "bodies: [{name: j, type: lattice, nodes: [4,4,4], spacing: 0.1, mass: 1,\n"
                        "  springs: {k1: {stiffness: 300}, k2: {stiffness: 300}, k3: {stiffness: "
                        "300}}}]\n"
                        "colliders: [{type: sphere, center: [-0.6,0.13,0.17], radius: 0.5,\n"
                        "  velocity: [2,0,0], response: project}]\n",
            steps[k]);
        const double start = energy_of(solver).total;
        advance(solver, (uint64_t)(1 / steps[k] + 0.5));
        restored[k] = residual_of(solver, start);
        taken[k] = work_of(solver).projection;
        taut_solver_destroy(solver);
    }
    // The same limit as with velocity Verlet and rk4, 0.229 J.
    assert_near(2 * taken[1] - taken[0], 0.229, 0.02);
    assert_near(2 * restored[1] - restored[0], 0, 0.02);
    assert_near((taken[1] - restored[1]) - (taken[0] - restored[0]), 0, 0.02);
}

// Pinned nodes inside a collider do not move.
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
    assert_vector_near(position_of(solver, 0), vec3_make(0, -1, 0), 0);
    taut_solver_destroy(solver);
}

// Friction multiplies the velocity after each step, which halves the square of symplectic Euler's
// limit where it is strong: h sqrt(k / m) < sqrt(2 + 2 exp(-c h / m)).
static void test_friction_counts_in_the_limit(void **state)
{
    (void)state;
    static const double frictions[] = {0, 3, 10, 30, 1000};
    for (size_t f = 0; f < sizeof frictions / sizeof frictions[0]; f++) {
        double low = 0, high = 0.2; // s, the closed form by bisection
        for (int i = 0; i < 60; i++) {
            const double h = (low + high) / 2;
            *(h * h * 100 < 2 + 2 * exp(-frictions[f] * h) ? &low : &high) = h;
        }
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: symplectic_euler, dt: auto, "
                      "duration: 20}\n"
                      "environment: {gravity: [0, -9.81, 0]}\n"
                      "bodies: [{name: n, type: network, nodes: [[0,0,0],[1.1,0,0]], pins: [0], "
                      "node_mass: 1,\n"
                      "  springs: [[0,1,{stiffness: 100, rest_length: 1}]]}]\n"
                      "colliders: [{type: plane, response: project, friction: %g}]\n",
                      frictions[f]);
        taut_critical_step critical;
        taut_error error;
        assert_int_equal(taut_solver_critical_step(solver, 0, &critical, &error), TAUT_OK);
        assert_true(critical.dt_bound <= low * (1 + 1e-9));
        assert_true(critical.dt_bound >= 0.7 * low);
        advance(solver, 300);
        assert_true(energy_of(solver).total < 3); // 0.5 J, plus the gain of a step near the limit
        taut_solver_destroy(solver);
    }
}

// A chain of four heavy nodes, and a light one at a weak spring, lying on a surface with friction.
static taut_solver *chain_on_surface(const char *dt, double friction, double light)
{
    return solver_of(
        "precision: double\nsimulation: {integrator: symplectic_euler, dt: %s, "
        "safety: 0.999, duration: 1000}\n"
        "environment: {gravity: [0, -9.81, 0]}\n"
        "bodies: [{name: n, type: network, nodes: [[0,0,0],[1,0,0],[2,0,0],[3,0,0],"
        "[4,0,0]],\n  node_mass: [10,10,10,10,%g], velocities: [[0.01,0,0],[-0.01,0,0],"
        "[0.01,0,0],[-0.02,0,0],[0,0,0]],\n  springs: [[0,1,{stiffness: 1e4}],"
        "[1,2,{stiffness: 1e4}],[2,3,{stiffness: 1e4}],[3,4,{stiffness: 0.1}]]}]\n"
        "colliders: [{type: plane, response: project, friction: %g}]\n",
        dt, light, friction);
}

// Friction counts in the limit node by node: strong friction of a light node that does not limit
// the step leaves most of the limit of the heavy ones, whose friction does.
static void test_friction_counts_node_by_node(void **state)
{
    (void)state;
    static const double frictions[] = {0, 1, 10, 100, 1000, 1e5};
    double without = 0;
    for (size_t f = 0; f < sizeof frictions / sizeof frictions[0]; f++)
        for (int is_light = 0; is_light < 2; is_light++) {
            taut_solver *solver = chain_on_surface("auto", frictions[f], is_light ? 0.05 : 10);
            taut_critical_step critical;
            taut_error error;
            assert_int_equal(taut_solver_critical_step(solver, 0, &critical, &error), TAUT_OK);
            if (f == 0 && is_light == 0)
                without = critical.dt_bound;
            const double part = sqrt((1 + exp(-frictions[f] * without / 10)) / 2);
            // With the scalar factor of the light node 0.71 remained. The weights of the bound have
            // brought its own limit nearer to that of the others.
            const double least = is_light ? 0.86 : 0.99;
            assert_true(critical.dt_bound >= least * part * without);
            assert_true(critical.dt_bound <= 1.0001 * without);
            const double start = energy_of(solver).total;
            advance(solver, 20000);
            assert_true(energy_of(solver).total - start < 0.05); // 0.004 J, and a step's gain
            taut_solver_destroy(solver);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane),
        cmocka_unit_test(test_slanted_plane),
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_moving_sphere),
        cmocka_unit_test(test_sphere_with_a_target),
        cmocka_unit_test(test_sphere_set_from_outside_is_no_divergence),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_projection_on_sphere_and_room),
        cmocka_unit_test(test_rest_on_a_floor),
        cmocka_unit_test(test_nodes_that_lie_stay),
        cmocka_unit_test(test_keep_is_a_factor_of_an_impact),
        cmocka_unit_test(test_sliding_distance),
        cmocka_unit_test(test_sliding_down_is_no_impact),
        cmocka_unit_test(test_friction_of_rounded_nodes),
        cmocka_unit_test(test_friction_in_mixed_precision),
        cmocka_unit_test(test_restitution),
        cmocka_unit_test(test_no_gain_in_a_long_run),
        cmocka_unit_test(test_side_by_side_is_one_by_one),
        cmocka_unit_test(test_moving_sphere_projects),
        cmocka_unit_test(test_sphere_set_beside_a_body),
        cmocka_unit_test(test_overlap_at_the_start_is_budgeted),
        cmocka_unit_test(test_projection_under_a_moving_sphere_by_symplectic_euler),
        cmocka_unit_test(test_pinned_nodes_are_not_projected),
        cmocka_unit_test(test_friction_counts_in_the_limit),
        cmocka_unit_test(test_friction_counts_node_by_node),
    };
    return cmocka_run_group_tests_name("colliders", tests, NULL, NULL);
}
