// The integrator xpbd: springs solved one after the other in small steps (integrate/xpbd.c), and
// rigid constraints. Compared with implicit Euler's difference equation for a single spring,
// otherwise with equilibria and closed forms.
#include "samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A single spring is solved exactly, so a substep is one of implicit Euler, for m = 1:
// (1 + c h + k h^2) v' = v - k h x, x' = x + h v'.
static void test_one_spring_is_implicit_euler(void **state)
{
    (void)state;
    const double omega = 3, damping = 0.7, dt = 0.05;
    for (int substeps = 1; substeps <= 4; substeps++)
        for (int iterations = 1; iterations <= 3; iterations++) {
            char integrator[80];
            snprintf(integrator, sizeof integrator, "xpbd, substeps: %d, iterations: %d", substeps,
                     iterations);
            taut_solver *solver = oscillator_of((struct oscillator){
                integrator, omega, dt, .position = 1, .speed = -0.4, .damping = damping});
            double x = 1, v = -0.4, h = dt / substeps;
            for (int step = 0; step < 100; step++) {
                for (int i = 0; i < substeps; i++) {
                    v = (v - omega * omega * h * x) / (1 + damping * h + omega * omega * h * h);
                    x += h * v;
                }
                advance(solver, 1);
                assert_near(position_of(solver, 1).x, x, 1e-12);
                assert_near(velocity_of(solver, 1).x, v, 1e-12);
            }
            taut_solver_destroy(solver);
        }
}

// Motion perpendicular to a spring is damped only by the full law, once per substep.
static void test_damping_across(void **state)
{
    (void)state;
    static const char *const laws[] = {"axial", "full"};
    for (int full = 0; full < 2; full++) {
        taut_solver *solver = solver_of(
            HEADER("xpbd, substeps: 2, iterations: 3",
                   "0.01") "bodies: [{name: b, type: network, nodes: [[0,0,0],[1,0,0]], node_mass: "
                           "[1,2],\n"
                           "  pins: [0], velocities: [[0,0,0],[0,1e-7,0]],\n"
                           "  springs: [[0,1,{stiffness: 5, damping: 3, damping_law: %s}]]}]\n",
            laws[full]);
        advance(solver, 10);
        double factor = full ? pow(1 + 3 * 0.005 / 2, -20) : 1;
        assert_near(velocity_of(solver, 1).y, 1e-7 * factor, 1e-13);
        taut_solver_destroy(solver);
    }
}

static double oscillator_error(int substeps)
{
    char integrator[80];
    snprintf(integrator, sizeof integrator, "xpbd, substeps: %d", substeps);
    taut_solver *solver =
        oscillator_of((struct oscillator){integrator, .omega = 3, .dt = 0.01, .position = 1});
    advance(solver, 100);
    double error = fabs(position_of(solver, 1).x - cos(3.0));
    taut_solver_destroy(solver);
    return error;
}

static void test_order_is_one(void **state)
{
    (void)state;
    double coarse = oscillator_error(20), fine = oscillator_error(40);
    assert_near(order_between(coarse, fine), 1, 0.05);
    assert_true(oscillator_error(2000) < 1e-4);
}

// u_i = (m g / k)(i N - i (i - 1) / 2), the hanging chain at rest.
static void expect_hanging(const char *links, int iterations, double tolerance, bool as_network)
{
    enum { MASSES = 6 };
    const double weight = 0.1 * 9.81, k = 300;
    taut_scene *scene =
        as_network
            ? scene_of(
                  HEADER(
                      "xpbd, substeps: 4, iterations: %d",
                      "0.02") "environment: {gravity: [0,-9.81,0], air_drag: 0.8}\n"
                              "bodies: [{name: b, type: network, node_mass: "
                              "[1,.1,.1,.1,.1,.1,.1],\n"
                              "  nodes: "
                              "[[0,0,0],[0,-1,0],[0,-2,0],[0,-3,0],[0,-4,0],[0,-5,0],[0,-6,0]],\n"
                              "  stiffness: 300, pins: [0],\n"
                              "  springs: [[5,6],[0,1],[3,4],[1,2],[4,5],[2,3]]}]\n",
                  iterations)
            : scene_of(HEADER("xpbd, substeps: 4, iterations: %d",
                              "0.02") "environment: {gravity: [0,-9.81,0], air_drag: 0.8}\n"
                                      "bodies: [{name: b, type: rope, from: [0,0,0], to: [0,-6,0], "
                                      "nodes: 7,\n"
                                      "  node_mass: 0.1, %s, stiffness: 300, pins: [first]}]\n",
                       iterations, links);
    taut_solver *solver = solver_from(scene, NULL);
    advance(solver, 2000);
    for (int i = 1; i <= MASSES; i++) {
        double stretch = weight / k * (i * MASSES - i * (i - 1) / 2.0);
        assert_near(position_of(solver, (uint64_t)i).y, -i - stretch, tolerance);
    }
    taut_solver_destroy(solver);
}

// For any number of iterations the springs converge to the equilibrium of their stiffness.
static void test_equilibrium_knows_no_iterations(void **state)
{
    (void)state;
    static const int enough[] = {200, 400, 1000};
    for (int i = 0; i < 3; i++) {
        expect_hanging("links: chain", enough[i], 1e-9, false);
        expect_hanging(NULL, enough[i], 1e-9, true);
    }
    expect_hanging("links: chain", 1, 0.02, false); // k h^2 / m = 0.075 is the part that is not
                                                    // solved yet
    expect_hanging(NULL, 1, 0.02, true);
}

// 2 pi sqrt(r / g) / agm(1, cos(angle / 2)): the complete elliptic integral.
static double pendulum_period(double length, double angle)
{
    double a = 1, b = cos(angle / 2);
    for (int i = 0; i < 20; i++) {
        double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    return 2 * PI * sqrt(length / 9.81) / a;
}

static taut_solver *rigid_pendulum(const char *precision, int substeps)
{
    return solver_of(
        "precision: %s\n"
        "simulation: {integrator: xpbd, dt: 0.001, substeps: %d, steps: 1}\n"
        "environment: {gravity: [0,-9.81,0]}\n"
        "output: {work: false}\n"
        "bodies: [{name: b, type: pendulum, model: spring, pivot: [0,0,0], length: 2,\n"
        "  angle: 60, mass: 3, law: rigid}]\n",
        precision, substeps);
}

static void test_rigid_pendulum(void **state)
{
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        taut_solver *solver = rigid_pendulum(precision ? "double" : "single", 20);
        double period = pendulum_period(2, PI / 3), before = position_of(solver, 1).x, crossing = 0;
        for (int step = 1; crossing == 0 && step < 2000; step++) {
            advance(solver, 1);
            vec3 now = position_of(solver, 1);
            assert_near(vec3_length(now), 2, precision ? 1e-12 : 1e-6);
            if (before > 0 && now.x <= 0)
                crossing = 0.001 * (step - now.x / (now.x - before));
            before = now.x;
        }
        assert_near(crossing, period / 4, 2e-4);
        taut_solver_destroy(solver);
    }
}

// The energy that small steps remove from a rigid pendulum falls with the step.
static void test_rigid_pendulum_keeps_energy(void **state)
{
    (void)state;
    double lost[2];
    for (int i = 0; i < 2; i++) {
        taut_solver *solver = rigid_pendulum("double", i ? 20 : 10);
        double start = energy_of(solver).total;
        assert_near(energy_of(solver).elastic, 0, 0);
        advance(solver, 3000);
        lost[i] = fabs(energy_of(solver).total - start);
        assert_near(energy_of(solver).elastic, 0, 0);
        taut_solver_destroy(solver);
    }
    assert_near(order_between(lost[0], lost[1]), 1, 0.1);
    assert_true(lost[1] < 0.01 * 3 * 9.81);
}

static void expect_length(taut_solver *solver, int nodes, double link, double tolerance)
{
    for (int i = 0; i + 1 < nodes; i++) {
        vec3 d =
            vec3_subtract(position_of(solver, (uint64_t)i + 1), position_of(solver, (uint64_t)i));
        assert_near(vec3_length(d), link, tolerance * link);
    }
}

static void test_rigid_rope(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("xpbd, substeps: 20, iterations: 10",
               "0.002") "environment: {gravity: [0,-9.81,0]}\n"
                        "bodies: [{name: b, type: rope, from: [0,0,0], to: [2,0,0], nodes: 21,\n"
                        "  node_mass: 0.1, pins: [first], spring: {law: rigid, damping: 1}}]\n");
    for (int i = 0; i < 5; i++) {
        advance(solver, 100);
        expect_length(solver, 21, 0.1, 2e-4);
    }
    taut_solver_destroy(solver);
}

// A chain is towed by its end, which follows its path to the last bit; a constraint between two
// kinematic nodes has no effect.
static void test_drives_tow_rigid_constraints(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("xpbd, substeps: 10, iterations: 20",
               "0.01") "bodies: [{name: b, type: network, law: rigid, node_mass: [1,1,1,1],\n"
                       "  nodes: [[0,0,0],[1,0,0],[2,0,0],[0,5,0]], pins: [3],\n"
                       "  springs: [[0,1],[1,2],[0,3,{stiffness: 0}]],\n"
                       "  drives: [{node: 0, velocity: [-0.5,0,0]}]}]\n");
    taut_solver *still = solver_of(
        HEADER("xpbd", "0.01") "environment: {gravity: [0,-9.81,0]}\n"
                               "bodies: [{name: b, type: network, law: rigid, node_mass: [1,1],\n"
                               "  nodes: [[0,0,0],[1,0,0]], pins: [0,1], springs: [[0,1]]}]\n");
    advance(solver, 200);
    advance(still, 20);
    assert_vector_near(position_of(solver, 0), vec3_make(-1, 0, 0), 1e-15);
    assert_vector_near(velocity_of(solver, 0), vec3_make(-0.5, 0, 0), 0);
    assert_near(position_of(solver, 1).x, 0, 1e-9);
    assert_near(position_of(solver, 2).x, 1, 1e-9);
    assert_vector_near(position_of(still, 1), vec3_make(1, 0, 0), 0);
    taut_solver_destroy(solver);
    taut_solver_destroy(still);
}

static vec3 momentum_of(taut_solver *solver)
{
    vec3 sum = {0, 0, 0};
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++)
        sum = vec3_add(
            sum, vec3_scale(topology_mass(solver_topology(solver), i), velocity_of(solver, i)));
    return sum;
}

static void test_momentum_is_kept(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,1,0], nodes: [9,7], mass: 2,\n"
        "  springs: {structural: {stiffness: 1e5, rest_length: 0.1}, shear: {law: rigid},\n"
        "  bend: {stiffness: 10, damping: 2, damping_law: full}}",
        "type: sphere, center: [0,0,0], radius: 1, subdivisions: 2, mass: 2,\n"
        "  springs: {edges: {stiffness: 1e4, rest_length: 0.3, damping: 2}}"};
    for (int i = 0; i < 2; i++) {
        taut_solver *solver =
            solver_of(HEADER("xpbd, substeps: 5, iterations: 2",
                             "0.01") "bodies: [{name: b, velocity: [1,-2,3], %s}]\n",
                      bodies[i]);
        put_velocity(solver, 3, vec3_make(5, 6, 7));
        vec3 start = momentum_of(solver);
        advance(solver, 100);
        assert_vector_near(momentum_of(solver), start, 1e-11);
        taut_solver_destroy(solver);
    }
}

// Thrown towards its anchor, the mass flies freely until the cord is taut, and is then held.
static void test_slack_springs_do_nothing(void **state)
{
    (void)state;
    for (int pushes = 0; pushes < 2; pushes++)
        for (int iterations = 1; iterations <= 4; iterations += 3) {
            taut_solver *solver = solver_of(
                HEADER("xpbd, substeps: 5, iterations: %d",
                       "0.001") "bodies: [{name: b, type: network, nodes: [[0,0,0],[1,0,0]],\n"
                                "  node_mass: [1,1], pins: [0], velocities: [[0,0,0],[%d,0,0]],\n"
                                "  springs: [[0,1,{stiffness: 1e4, damping: 2, law: %s}]]}]\n",
                iterations, pushes ? 1 : -1, pushes ? "compression_only" : "tension_only");
            double sign = pushes ? 1 : -1;
            advance(solver, 500);
            assert_near(position_of(solver, 1).x, 1 + 0.5 * sign, 1e-12);
            assert_near(velocity_of(solver, 1).x, sign, 0);
            put_velocity(solver, 1, vec3_make(-sign, 0, 0));
            double farthest = 0;
            for (int step = 0; step < 1000; step++) {
                advance(solver, 1);
                farthest = fmax(farthest, sign * (1 - position_of(solver, 1).x));
            }
            assert_true(farthest < 0.012); // v / omega = 0.01
            assert_true(sign * velocity_of(solver, 1).x > 0.2);
            taut_solver_destroy(solver);
        }
}

// ---- Contacts with penalty colliders

// A node that falls on a plane, by the equations of the step: with v the velocity after gravity and
// p the depth that it would lead to, D = h (k p - c_n (v + D)) / (m + h^2 k), with absorption only
// while the node moves inwards, and not beyond the surface; along it v / (1 + h c_t / m).
static void test_contact_is_implicit(void **state)
{
    (void)state;
    const double m = 2, k = 5000, absorption = 30, friction = 7, h = 0.02, g = 9.81;
    for (int iterations = 1; iterations <= 3; iterations += 2) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: xpbd, dt: 0.04, substeps: 2, steps: 1,\n"
            "  iterations: %d}\nenvironment: {gravity: [0,-9.81,0]}\n"
            "bodies: [{name: b, type: network, nodes: [[0,0.1,0]], node_mass: [2],\n"
            "  velocities: [[1.5,-1,0]], springs: []}]\n"
            "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 5000,\n"
            "  friction: 7, absorption: 30}]\n",
            iterations);
        double y = 0.1, v = -1, along = 1.5;
        for (int i = 0; i < 100; i++) {
            v -= h * g;
            double depth = -(y + h * v);
            if (depth > 0) {
                double kicked = h * k * depth / (m + h * h * k);
                if (v + kicked < 0)
                    kicked = h * (k * depth - absorption * v) / (m + h * h * k + h * absorption);
                v += fmin(kicked, depth / h);
                along /= 1 + h * friction / m;
            }
            y += h * v;
            if (i % 2 == 0)
                continue;
            advance(solver, 1);
            assert_near(position_of(solver, 0).y, y, 1e-12);
            assert_near(velocity_of(solver, 0).y, v, 1e-12);
            assert_near(velocity_of(solver, 0).x, along, 1e-12);
        }
        assert_near(y, -m * g / k, 1e-9); // at rest
        taut_solver_destroy(solver);
    }
}

// No stiffness, friction or absorption is too large for a step, and contacts remove energy: the
// rope of 0.1 g per node that diverged at dt = 1/60 with k = 2000; on planes, in a room, on
// spheres, pinned at one end, and between two colliders whose conditions contradict each other.
static void test_contacts_are_stable(void **state)
{
    (void)state;
    static const char *const colliders[] = {
        "{type: plane, point: [0,0,0], normal: [0,1,0], %s}",
        "{type: plane, point: [0,0,0], normal: [0.3,1,0.1], %s},\n"
        "  {type: plane, point: [0.5,0,0], normal: [-0.8,1,0.1], %s}",
        "{type: room, min: [0.1,0.2,-0.1], max: [0.9,2,0.1], %s}",
        "{type: sphere, center: [0.5,0.5,0.01], radius: 0.3, %s}, {type: plane,\n"
        "  point: [0,0,0], normal: [0,1,0], %s}",
        "{type: plane, point: [0,0.5,0], normal: [0,1,0], %s},\n"
        "  {type: plane, point: [0,0.4,0], normal: [0,-1,0], %s}"};
    static const char *const keys[] = {"stiffness: 1, friction: 1000", "stiffness: 2000",
                                       "stiffness: 2000, friction: 0.01, absorption: 0.1",
                                       "stiffness: 1e5, friction: 1000, absorption: 1000",
                                       "stiffness: 1e9, absorption: 1e6"};
    for (size_t c = 0; c < sizeof colliders / sizeof colliders[0]; c++)
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            for (int pinned = 0; pinned < 2; pinned++)
                for (int iterations = 1; iterations <= 4; iterations += 3) {
                    char list[400];
                    snprintf(list, sizeof list, colliders[c], keys[k], keys[k]);
                    taut_solver *solver = solver_of(
                        "precision: %s\nsimulation: {integrator: xpbd, dt: 0.016666666666666666,\n"
                        "  iterations: %d, steps: 1}\nenvironment: {gravity: [0,-9.81,0]}\n"
                        "bodies: [{name: r, type: rope, from: [0,1,0], to: [1,1.2,0], nodes: 21,\n"
                        "  node_mass: 0.0001, %sspring: {stiffness: 100}}]\ncolliders: [%s]\n",
                        c % 2 ? "single" : "double", iterations, pinned ? "pins: [first], " : "",
                        list);
                    // One iteration leaves springs unsolved: the energy of a rope that is pinned,
                    // or that friction stops at one end, grows to 1.2 times the initial one for a
                    // while, the former even without a collider.
                    const double start = energy_of(solver).total, most = 1.5 * start;
                    for (int i = 0; i < 60; i++) {
                        taut_error error = {0};
                        if (taut_solver_step(solver, 5, &error) != TAUT_OK)
                            fail_msg("%s: %s", list, error.text);
                        double total = energy_of(solver).total;
                        if (total > most)
                            fail_msg("%s: the energy grows from %g to %g J", list, start, total);
                    }
                    assert_true(energy_of(solver).total < start);
                    taut_solver_destroy(solver);
                }
}

// A stiff sphere that moves at 3 m/s pushes a sheet of light nodes in front of it, at no greater
// speed.
static void test_a_moving_sphere_pushes(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        "simulation: {integrator: xpbd, dt: 0.01, steps: 1}\n"
        "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,1,0], nodes: [21,21],\n"
        "  node_mass: 0.0001, springs: {structural: {stiffness: 50, damping: 0.01}}}]\n"
        "colliders: [{type: sphere, center: [0.5,0.5,-0.6], radius: 0.4, stiffness: 1e5,\n"
        "  absorption: 100, friction: 0.001, velocity: [0,0,3]}]\n");
    advance(solver, 100); // the sphere's front is at z = -0.2 + 3
    for (uint64_t i = 0; i < 441; i++) {
        vec3 velocity = velocity_of(solver, i);
        assert_true(vec3_length(velocity) < 12);
    }
    assert_near(position_of(solver, 220).z, 2.8, 0.05);
    assert_near(velocity_of(solver, 220).z, 3, 0.3);
    taut_solver_destroy(solver);
}

// Air drag beyond h c / m = 1 is implicit in the excess: with a = h c / m, v' = (v - v + h g) / (1
// + (a - 1)) = h g / a, so the terminal speed m g / c is reached at once; and a hanging weight is
// held.
static void test_drag_at_any_step(void **state)
{
    (void)state;
    for (int collider = 0; collider < 2; collider++) { // with a collider there are forces, without
                                                       // one there are none
        taut_solver *solver = solver_of(
            HEADER("xpbd, substeps: 1",
                   "0.5") "environment: {gravity: [0,-9.81,0], air_drag: 100}\n"
                          "bodies: [{name: b, type: network, nodes: [[0,0,0]],\n"
                          "  node_mass: [2], velocities: [[3,0,0]], springs: []}]\n"
                          "%s",
            collider
                ? "colliders: [{type: plane, point: [0,-99,0], normal: [0,1,0], stiffness: 1}]\n"
                : "");
        for (int i = 0; i < 8; i++) {
            advance(solver, 1);
            assert_vector_near(velocity_of(solver, 0), vec3_make(0, -2 * 9.81 / 100, 0), 1e-12);
        }
        taut_solver_destroy(solver);
    }
}

static void test_strong_drag_at_equilibrium(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("xpbd, substeps: 1",
               "0.5") "environment: {gravity: [0,-9.81,0], air_drag: 100}\n"
                      "bodies: [{name: b, type: network, nodes: [[0,0,0],[0,-1,0]], pins: [0],\n"
                      "  node_mass: [2,2], springs: [[0,1,{stiffness: 50}]]}]\n");
    advance(solver, 1000);
    assert_near(position_of(solver, 1).y, -1 - 2 * 9.81 / 50, 1e-9);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_spring_is_implicit_euler),
        cmocka_unit_test(test_damping_across),
        cmocka_unit_test(test_order_is_one),
        cmocka_unit_test(test_equilibrium_knows_no_iterations),
        cmocka_unit_test(test_rigid_pendulum),
        cmocka_unit_test(test_rigid_pendulum_keeps_energy),
        cmocka_unit_test(test_rigid_rope),
        cmocka_unit_test(test_drives_tow_rigid_constraints),
        cmocka_unit_test(test_momentum_is_kept),
        cmocka_unit_test(test_slack_springs_do_nothing),
        cmocka_unit_test(test_contact_is_implicit),
        cmocka_unit_test(test_contacts_are_stable),
        cmocka_unit_test(test_a_moving_sphere_pushes),
        cmocka_unit_test(test_drag_at_any_step),
        cmocka_unit_test(test_strong_drag_at_equilibrium),
    };
    return cmocka_run_group_tests_name("xpbd", tests, NULL, NULL);
}
