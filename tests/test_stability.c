// The stability limit of each integrator, from both sides, and the bound that is reported for a
// scene.
#include "physics.h"

#include <math.h>

static const double OMEGA = 3;

// Whether the amplitude in phase space grows beyond `factor` times its initial value within the
// steps. The start lies along the direction that becomes unstable, so that stable runs stay small
// right up to the limit.
static bool grows_damped(const char *integrator, double damping, double y, double start_speed,
                         double factor, int steps)
{
    taut_solver *solver = oscillator_of((struct oscillator){.integrator = integrator,
                                                            .omega = OMEGA,
                                                            .dt = y / OMEGA,
                                                            .position = 1,
                                                            .speed = start_speed,
                                                            .damping = damping});
    double start = OMEGA * OMEGA + start_speed * start_speed;
    bool grown = false;
    for (int step = 0; step < steps && !grown; step += 100) {
        grown = taut_solver_step(solver, 100, NULL) != TAUT_OK;
        double x = OMEGA * position_of(solver, 1).x, v = velocity_of(solver, 1).x;
        grown = grown || x * x + v * v > factor * factor * start;
    }
    taut_solver_destroy(solver);
    return grown;
}

static bool grows(const char *integrator, double y, double start_speed, double factor, int steps)
{
    return grows_damped(integrator, 0, y, start_speed, factor, steps);
}

static double bisected_limit(const char *integrator, double start_speed, double factor, int steps)
{
    double stable = 1, unstable = 4;
    while (unstable - stable > 2e-5) {
        double middle = (stable + unstable) / 2;
        if (grows(integrator, middle, start_speed, factor, steps))
            unstable = middle;
        else
            stable = middle;
    }
    return (stable + unstable) / 2;
}

static void assert_limit(const char *integrator, double limit, double speed, double factor)
{
    const int steps = 4000;
    assert_near(bisected_limit(integrator, speed, factor, steps), limit, 1e-4);
    assert_false(grows(integrator, limit - 1e-4, speed, factor, steps));
    assert_true(grows(integrator, limit + 1e-4, speed, factor, steps));
}

// omega h < 2
static void test_limit_of_symplectic_euler(void **state)
{
    (void)state;
    assert_limit("symplectic_euler", 2, OMEGA, 2);
    assert_near(integrator_limit(INTEGRATOR_SYMPLECTIC_EULER), 2, 0);
}

static void test_limit_of_both_verlets(void **state)
{
    (void)state;
    assert_limit("verlet", 2, 0, 2);
    assert_limit("velocity_verlet", 2, 0, 2);
    assert_near(integrator_limit(INTEGRATOR_VERLET), 2, 0);
    assert_near(integrator_limit(INTEGRATOR_VELOCITY_VERLET), 2, 0);
}

// omega h < 2 sqrt(2) = 2.828: there |R| = 1, the factor of every step.
static void test_limit_of_rk4(void **state)
{
    (void)state;
    assert_limit("rk4", 2 * sqrt(2), 0, 1.001);
    assert_near(integrator_limit(INTEGRATOR_RK4), 2 * sqrt(2), 1e-15);
}

// No step is stable: both grow at any step, though slowly at small ones.
static void test_explicit_euler_and_midpoint_always_grow(void **state)
{
    (void)state;
    static const double ys[] = {0.05, 0.2, 0.5};
    for (int j = 0; j < 3; j++) {
        assert_true(grows("explicit_euler", ys[j], 0, 1.001, 4000));
        assert_true(grows("midpoint", ys[j], 0, 1.001, 4000));
    }
    assert_near(integrator_limit(INTEGRATOR_EXPLICIT_EULER), 0, 0);
    assert_near(integrator_limit(INTEGRATOR_MIDPOINT), 0, 0);
    assert_true(isinf(integrator_limit(INTEGRATOR_IMPLICIT_EULER)));
    assert_true(isinf(integrator_limit(INTEGRATOR_IMPLICIT_MIDPOINT)));
    assert_true(isinf(integrator_limit(INTEGRATOR_BDF2)));
    assert_true(isinf(integrator_limit(INTEGRATOR_XPBD)));
}

// h h_x omega^2 < 4, from both sides.
static void test_limit_with_a_position_step(void **state)
{
    (void)state;
    for (int side = -1; side <= 1; side += 2) {
        double y = 2 + side * 1e-4, ratio = 0.25, h = y / OMEGA / sqrt(ratio);
        // v = omega x / sqrt(ratio) is the direction that becomes unstable
        taut_solver *solver = solver_of(
            "precision: double\n"
            "simulation: {integrator: symplectic_euler, dt: " NUM ", position_step: " NUM
            ", steps: 1}\n"
            "bodies: [{name: o, type: network, nodes: [[0,0,0],[1,0,0]], node_mass: [1,1],\n"
            "  pins: [0], velocities: [[0,0,0],[" NUM ",0,0]],\n"
            "  springs: [[0, 1, {stiffness: " NUM ", rest_length: 0}]]}]\n",
            h, ratio * h, OMEGA / sqrt(ratio), OMEGA * OMEGA);
        bool grown = false;
        for (int step = 0; step < 4000 && !grown; step += 100)
            grown = taut_solver_step(solver, 100, NULL) != TAUT_OK ||
                    fabs(position_of(solver, 1).x) > 3;
        assert_int_equal(grown, side > 0);
        taut_solver_destroy(solver);
    }
    assert_near(integrator_critical_dt(INTEGRATOR_SYMPLECTIC_EULER, OMEGA, 0.25), 4 / OMEGA, 1e-15);
}

static struct critical_step critical_of(taut_solver *solver)
{
    struct critical_step critical;
    taut_error error = {0};
    assert_int_equal(solver_critical_step(solver, &critical, &error), TAUT_OK);
    assert_true(critical.known);
    assert_near(critical.bound * critical.omega, 2, 1e-14);
    return critical;
}

// 2 / omega exactly: for a spring with a rest length along its axis, and without one.
static void test_bound_of_one_oscillator(void **state)
{
    (void)state;
    taut_solver *solver =
        oscillator_of((struct oscillator){"symplectic_euler", OMEGA, 0.01, 1, 0, 0});
    assert_near(critical_of(solver).bound, 2 / OMEGA, 1e-15);
    assert_int_equal(critical_of(solver).node, 1);
    taut_solver_destroy(solver);
    solver = solver_of(HEADER(
        "symplectic_euler",
        "0.01") "bodies: [{name: o, type: network, nodes: [[0,0,0],[1,2,-2]],\n"
                "  node_mass: [1, 0.25], pins: [0], springs: [[0, 1, {stiffness: 100}]]}]\n");
    assert_near(critical_of(solver).bound, 2 / 20.0, 1e-14);
    taut_solver_destroy(solver);
}

// In units of sqrt(m/k): the interior of a chain 1 (the chain's own limit is 2 / (2 sin(n pi / 2(n
// + 1))), never below 1); structural springs of a cloth 1, with shear 0.70711.
static void test_bounds_of_chain_and_cloth(void **state)
{
    (void)state;
    const double unit = sqrt(0.2 / 500);
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler",
               "0.001") "bodies: [{name: c, type: rope, from: [0,0,0], to: [3,4,0], nodes: 20,\n"
                        "  node_mass: 0.2, pins: [first, last], spring: {stiffness: 500}}]\n");
    assert_near(critical_of(solver).bound / unit, 1, 1e-12);
    taut_solver_destroy(solver);
    static const char *const springs[] = {"structural: {stiffness: 500}",
                                          "structural: {stiffness: 500}, shear: {stiffness: 500}"};
    static const double bounds[] = {1, 0.70710678118654752};
    for (int i = 0; i < 2; i++) {
        solver = solver_of(
            HEADER("symplectic_euler",
                   "0.001") "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0],\n"
                            "  v: [0,0,1], nodes: [9,9], node_mass: 0.2, springs: {%s}}]\n",
            springs[i]);
        assert_near(critical_of(solver).bound / unit, bounds[i], 1e-7);
        taut_solver_destroy(solver);
    }
}

// A fixed-fixed chain of N masses, all modes excited by noise, is stable up to its bound and
// beyond: the bound is never above the limit 2 / omega_N, omega_N = 2 sqrt(k/m) sin(N pi / (2 (N +
// 1))).
static void test_bound_is_never_above_the_limit(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{name: b, type: rope, from: [0,0,0], to: [1,0,0], nodes: 12, node_mass: 0.1,\n"
        " pins: [first, last], spring: {stiffness: 300}}",
        "{name: b, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0.7,0.2], nodes: [7,6],\n"
        " node_mass: 0.1, springs: {structural: {stiffness: 300}, shear: {stiffness: 200},\n"
        " bend: {stiffness: 90}}, pins: [corners]}",
        "{name: b, type: lattice, origin: [0,0,0], nodes: [4,3,3], spacing: 0.1, node_mass: 0.1,\n"
        " shells: 2, springs: {k1: {stiffness: 300}, k2: {stiffness: 200}, k3: {stiffness: 100},\n"
        " kb1: {stiffness: 40}, kb2: {stiffness: 30}, kb3: {stiffness: 20}}}",
        "{name: b, type: sphere, center: [0,0,0], radius: 1, subdivisions: 1, node_mass: 0.1,\n"
        " springs: {edges: {stiffness: 300}}}",
    };
    for (int i = 0; i < 4; i++) {
        taut_solver *solver =
            solver_of(HEADER("symplectic_euler", "0.001") "bodies: [%s]\n", bodies[i]);
        double bound = critical_of(solver).bound;
        taut_solver_destroy(solver);
        solver = solver_of("precision: double\n"
                           "simulation: {integrator: symplectic_euler, dt: " NUM ", steps: 1}\n"
                           "bodies: [%s]\n",
                           0.999 * bound, bodies[i]);
        uint64_t seed = 7;
        double largest = 0;
        for (uint64_t n = 0; n < taut_solver_node_count(solver); n++)
            if (!topology_is_kinematic(solver_topology(solver), n))
                put_velocity(solver, n,
                             vec3_make(1e-7 * next_random(&seed), 1e-7 * next_random(&seed),
                                       1e-7 * next_random(&seed)));
        advance(solver, 3000);
        for (uint64_t n = 0; n < taut_solver_node_count(solver); n++)
            largest = fmax(largest, vec3_length(velocity_of(solver, n)));
        assert_true(largest < 1e-5); // 100 times the initial velocities
        taut_solver_destroy(solver);
    }
}

// With damping c / m the symplectic integrators are stable below the root of w^2 h^2 + 2 (c / m) h
// = 4, from both sides; rk4's reported limit is on the safe side.
static void test_limit_with_damping(void **state)
{
    (void)state;
    static const enum integrator integrators[] = {INTEGRATOR_SYMPLECTIC_EULER, INTEGRATOR_VERLET,
                                                  INTEGRATOR_VELOCITY_VERLET, INTEGRATOR_RK4};
    static const double dampings[] = {0.5, 2, 6, 20};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const char *name = integrator_name(integrators[i]);
            taut_solver *solver =
                oscillator_of((struct oscillator){name, OMEGA, 0.01, 1, 0, dampings[j]});
            struct critical_step critical = critical_of(solver);
            taut_solver_destroy(solver);
            assert_near(critical.damping, dampings[j], 1e-14);
            double h = critical.dt[integrators[i]], c = dampings[j];
            assert_false(grows_damped(name, c, (1 - 1e-4) * h * OMEGA, 1, 100, 10000));
            if (integrators[i] == INTEGRATOR_RK4)
                continue;
            assert_near(OMEGA * OMEGA * h * h + 2 * c * h, 4, 1e-12);
            assert_true(grows_damped(name, c, (1 + 1e-4) * h * OMEGA, 1, 100, 120000));
        }
}

// dt: auto takes `safety` of the bound of the integrator in use.
static void test_auto_step(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "verlet", "velocity_verlet",
                                              "rk4"};
    static const double limits[] = {2, 2, 2, 2.8284271247461903};
    for (int i = 0; i < 4; i++) {
        taut_solver *solver =
            solver_of("precision: double\n"
                      "simulation: {integrator: %s, dt: auto, safety: 0.5, duration: 1}\n"
                      "bodies: [{name: o, type: network, nodes: [[0,0,0],[1,0,0]],\n"
                      "  node_mass: [1, 1], pins: [0], springs: [[0, 1, {stiffness: 100}]]}]\n",
                      integrators[i]);
        assert_near(taut_solver_dt(solver), 0.5 * limits[i] / 10, 1e-15);
        assert_int_equal(taut_solver_steps_planned(solver),
                         (uint64_t)ceil(1 / taut_solver_dt(solver)));
        taut_solver_destroy(solver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_of_symplectic_euler),
        cmocka_unit_test(test_limit_of_both_verlets),
        cmocka_unit_test(test_limit_of_rk4),
        cmocka_unit_test(test_explicit_euler_and_midpoint_always_grow),
        cmocka_unit_test(test_limit_with_a_position_step),
        cmocka_unit_test(test_bound_of_one_oscillator),
        cmocka_unit_test(test_bounds_of_chain_and_cloth),
        cmocka_unit_test(test_bound_is_never_above_the_limit),
        cmocka_unit_test(test_limit_with_damping),
        cmocka_unit_test(test_auto_step),
    };
    return cmocka_run_group_tests_name("stability", tests, NULL, NULL);
}
