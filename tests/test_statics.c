// Chains, free fall with drag, and quantities that internal forces conserve: answers in closed
// form.
#include "physics.h"

#include <math.h>
#include <stdio.h>

// At rest after air drag, mass i of N has sunk by u_i = (m g / k)(i N - i (i - 1) / 2).
static void test_hanging_chain(void **state)
{
    (void)state;
    enum { N = 10 };
    const double m = 0.1, g = 9.81, k = 1000;
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler",
               "0.002") "environment: {gravity: [0,-9.81,0], air_drag: 3}\n"
                        "bodies: [{name: c, type: rope, from: [0,0,0], to: [0,-1,0], nodes: 11,\n"
                        "  node_mass: 0.1, pins: [first], spring: {stiffness: 1000}}]\n");
    advance(solver, 3000);
    for (int i = 0; i <= N; i++) {
        double u = m * g / k * (i * N - i * (i - 1) / 2.0);
        assert_vector_near(position_of(solver, (uint64_t)i), vec3_make(0, -0.1 * i - u, 0), 1e-9);
    }
    taut_solver_destroy(solver);
}

// The period of mode n: the time between the first and the last rise of its amplitude through 0, by
// linear interpolation, divided by the number of periods between them.
static double mode_period(taut_solver *solver, int masses, int n, int periods)
{
    double h = taut_solver_dt(solver), first = -1, last = 0, before = 0;
    for (int seen = 0; seen <= periods;) {
        double amplitude = 0;
        for (int i = 1; i <= masses; i++)
            amplitude +=
                (position_of(solver, (uint64_t)i).x - 0.1 * i) * sin(i * n * PI / (masses + 1));
        if (before < 0 && amplitude >= 0) {
            last = taut_solver_time(solver) - h * amplitude / (amplitude - before);
            first = first < 0 ? last : first;
            seen++;
        }
        before = amplitude;
        advance(solver, 1);
    }
    return (last - first) / periods;
}

// omega_n = 2 sqrt(k/m) sin(n pi / (2 (N + 1))), within 1e-4 in time.
static void test_modes_of_a_fixed_chain(void **state)
{
    (void)state;
    enum { N = 9 };
    const double m = 0.1, k = 1000;
    static const int modes[] = {1, 2, 5, N};
    for (int j = 0; j < 4; j++) {
        int n = modes[j];
        double omega = 2 * sqrt(k / m) * sin(n * PI / (2 * (N + 1)));
        taut_solver *solver =
            solver_of("precision: double\n"
                      "simulation: {integrator: velocity_verlet, dt: " NUM ", steps: 1}\n"
                      "output: {work: false}\n"
                      "bodies: [{name: c, type: rope, from: [0,0,0], to: [1,0,0], nodes: 11,\n"
                      "  node_mass: 0.1, pins: [first, last], spring: {stiffness: 1000}}]\n",
                      2 * PI / omega / 400);
        for (int i = 1; i <= N; i++)
            put(solver, (uint64_t)i, vec3_make(0.1 * i + 0.004 * sin(i * n * PI / (N + 1)), 0, 0));
        assert_near(mode_period(solver, N, n, 10) * omega / (2 * PI), 1, 1e-4);
        taut_solver_destroy(solver);
    }
}

// m dv/dt = m g - c v converges to v = m g / c.
static void test_terminal_speed(void **state)
{
    (void)state;
    static const char *const integrators[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                              "velocity_verlet", "midpoint",         "rk4"};
    for (int i = 0; i < 6; i++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: %s, dt: 0.01, steps: 1}\n"
                      "environment: {gravity: [0,-9.81,0], air_drag: 0.5}\n"
                      "bodies: [{name: b, type: network, nodes: [[0,0,0]], node_mass: [0.25], "
                      "springs: []}]\n",
                      integrators[i]);
        advance(solver, 2000);
        assert_vector_near(velocity_of(solver, 0), vec3_make(0, -0.25 * 9.81 / 0.5, 0), 1e-9);
        taut_solver_destroy(solver);
    }
}

static vec3 momentum(const taut_solver *solver, vec3 *angular)
{
    vec3 linear = {0, 0, 0};
    *angular = linear;
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 p = vec3_scale(topology_mass(solver_topology(solver), i), velocity_of(solver, i));
        linear = vec3_add(linear, p);
        *angular = vec3_add(*angular, vec3_cross(position_of(solver, i), p));
    }
    return linear;
}

static void shake(taut_solver *solver)
{
    uint64_t seed = 3;
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 by = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
        put(solver, i, vec3_add(position_of(solver, i), vec3_scale(0.02, by)));
        by = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
        put_velocity(solver, i, by);
    }
}

static const char *const jelly =
    "bodies: [{name: j, type: lattice, origin: [0.3,1,0], nodes: [4,3,5], spacing: 0.1,\n"
    "  mass: 2, shells: 2, damping: %s, damping_law: %s, springs: {k1: {stiffness: 500},\n"
    "  k2: {stiffness: 400}, k3: {stiffness: 300}, kb1: {stiffness: 90}, kb2: {stiffness: 80},\n"
    "  kb3: {stiffness: 70}}, pressure: {amount: 50, inflate: 0.01}}]\n";

// Springs, axial damping and gas act along the line between two nodes or on a closed surface:
// neither momentum nor angular momentum changes under an integrator that conserves the quantities
// that the forces conserve.
static void test_momentum_and_angular_momentum(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "verlet", "velocity_verlet"};
    for (int i = 0; i < 3; i++) {
        char header[200];
        snprintf(header, sizeof header,
                 "precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n",
                 integrators[i]);
        char body[800];
        snprintf(body, sizeof body, jelly, i == 1 ? "0" : "0.4", "axial");
        taut_solver *solver = solver_of("%s%s", header, body);
        vec3 angular_start, angular;
        if (i != 1) // verlet keeps the previous positions
            shake(solver);
        advance(solver, 1);
        vec3 start = momentum(solver, &angular_start);
        advance(solver, 500);
        vec3 linear = momentum(solver, &angular);
        assert_vector_near(linear, start, 1e-12);
        assert_vector_near(angular, angular_start, 1e-12);
        taut_energy energy = energy_of(solver);
        assert_true(energy.kinetic > 1e-4); // it moves
        taut_solver_destroy(solver);
    }
}

// Full damping does not act along the spring: it conserves momentum, but not angular momentum.
static void test_full_damping_keeps_only_momentum(void **state)
{
    (void)state;
    char body[800];
    snprintf(body, sizeof body, jelly, "0.4", "full");
    taut_solver *solver = solver_of(HEADER("symplectic_euler", "0.001") "%s", body);
    shake(solver);
    vec3 angular_start, angular, start = momentum(solver, &angular_start);
    advance(solver, 500);
    assert_vector_near(momentum(solver, &angular), start, 1e-12);
    assert_true(vec3_length(vec3_subtract(angular, angular_start)) > 1e-3);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hanging_chain),
        cmocka_unit_test(test_modes_of_a_fixed_chain),
        cmocka_unit_test(test_terminal_speed),
        cmocka_unit_test(test_momentum_and_angular_momentum),
        cmocka_unit_test(test_full_damping_keeps_only_momentum),
    };
    return cmocka_run_group_tests_name("statics", tests, NULL, NULL);
}
