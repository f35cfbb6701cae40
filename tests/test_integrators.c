// Integrators compared with the exact solutions of their own difference equations, for the undamped
// oscillator x'' = -omega^2 x. y = omega h throughout.
#include "physics.h"

#include <math.h>

static const double OMEGA = 3;

static const char *const all[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                  "velocity_verlet", "midpoint",         "rk4"};

static taut_solver *undamped(const char *integrator, double y, double speed)
{
    return oscillator_of((struct oscillator){
        .integrator = integrator, .omega = OMEGA, .dt = y / OMEGA, .position = 1, .speed = speed});
}

// omega^2 x^2 + v^2, the square of the amplitude in phase space.
static double amplitude_square(const taut_solver *solver)
{
    double x = OMEGA * position_of(solver, 1).x, v = velocity_of(solver, 1).x;
    return x * x + v * v;
}

// x[n+1] + x[n-1] = 2 cos(theta) x[n]: theta by least squares over a run.
static double measured_angle(taut_solver *solver, int steps)
{
    double before = position_of(solver, 1).x, product = 0, square = 0;
    advance(solver, 1);
    double now = position_of(solver, 1).x;
    for (int step = 0; step < steps; step++) {
        advance(solver, 1);
        double after = position_of(solver, 1).x;
        product += now * (after + before);
        square += now * now;
        before = now;
        now = after;
    }
    return acos(product / (2 * square));
}

// omega_num / omega = 2 asin(y / 2) / y; 1.0107210206 at y = 0.5.
static void test_discrete_frequency(void **state)
{
    (void)state;
    static const double ys[] = {0.1, 0.5, 1, 1.5, 1.9};
    static const char *const integrators[] = {"symplectic_euler", "verlet", "velocity_verlet"};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 5; j++) {
            taut_solver *solver = undamped(integrators[i], ys[j], 0.7);
            double ratio = measured_angle(solver, 400) / ys[j];
            assert_near(ratio, 2 * asin(ys[j] / 2) / ys[j], 1e-9);
            if (ys[j] == 0.5)
                assert_near(ratio, 1.0107210206, 1e-9);
            taut_solver_destroy(solver);
        }
}

// x[n] = x[0] cos(n theta) + b sin(n theta), b from the first step of each: the phase after many
// steps. First steps: symplectic Euler x + h (v - h omega^2 x); Verlet x + h v - h^2 omega^2 x / 2.
static void test_phase_after_many_steps(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "verlet", "velocity_verlet"};
    const double y = 0.5, theta = 2 * asin(y / 2), speed = 0.7;
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = undamped(integrators[i], y, speed);
        double first = 1 + y / OMEGA * speed - y * y * (i == 0 ? 1 : 0.5);
        double b = (first - cos(theta)) / sin(theta);
        advance(solver, 1000);
        assert_near(position_of(solver, 1).x, cos(1000 * theta) + b * sin(1000 * theta), 1e-9);
        taut_solver_destroy(solver);
    }
}

// Verlet reports v = (x[n+1] - x[n-1]) / 2h of the present state, not of the previous one.
static void test_verlet_reports_the_centred_velocity(void **state)
{
    (void)state;
    const double y = 0.5, h = y / OMEGA;
    taut_solver *solver = undamped("verlet", y, 0.7);
    for (int step = 0; step < 20; step++) {
        double before = position_of(solver, 1).x;
        advance(solver, 1);
        double reported = velocity_of(solver, 1).x;
        // x[n+1] follows from x[n] and x[n-1].
        double now = position_of(solver, 1).x, after = (2 - y * y) * now - before;
        assert_near(reported, (after - before) / (2 * h), 1e-12);
    }
    taut_solver_destroy(solver);
}

static void assert_amplitude_factor(const char *integrator, double y, double square)
{
    taut_solver *solver = undamped(integrator, y, 0.7);
    for (int step = 0; step < 6; step++) { // explicit Euler is stopped early
        double before = amplitude_square(solver);
        advance(solver, 1);
        assert_near(sqrt(amplitude_square(solver) / before), sqrt(square), 1e-12);
    }
    taut_solver_destroy(solver);
}

// |R|^2: explicit Euler 1 + y^2; midpoint (1 - y^2/2)^2 + y^2 = 1 + y^4/4; RK4 1 - y^6/72 +
// y^8/576.
static void test_amplitude_factor_of_a_step(void **state)
{
    (void)state;
    static const double ys[] = {0.01, 0.1, 0.5, 1};
    for (int j = 0; j < 4; j++) {
        double y = ys[j];
        assert_amplitude_factor("explicit_euler", y, 1 + y * y);
        assert_amplitude_factor("midpoint", y, 1 + pow(y, 4) / 4);
        assert_amplitude_factor("rk4", y, 1 - pow(y, 6) / 72 + pow(y, 8) / 576);
    }
}

// The velocity first, then the position with the new velocity:
// v^2/2 + omega^2 x^2/2 - h omega^2 x v/2 is conserved exactly.
static void test_invariant_of_symplectic_euler(void **state)
{
    (void)state;
    const double y = 0.3, h = y / OMEGA;
    taut_solver *solver = undamped("symplectic_euler", y, 0.7);
    double start = 0, worst = 0;
    for (int sample = 0; sample <= 1000; sample++) {
        double x = position_of(solver, 1).x, v = velocity_of(solver, 1).x;
        double invariant = (v * v + OMEGA * OMEGA * x * x - h * OMEGA * OMEGA * x * v) / 2;
        if (sample == 0)
            start = invariant;
        worst = fmax(worst, fabs(invariant / start - 1));
        advance(solver, quick() ? 20 : 1000);
    }
    assert_near(worst, 0, 1e-10);
    taut_solver_destroy(solver);
}

// The time is such that no step is a power of two, so that nothing is exact by chance.
static double error_after(const char *integrator, double damping, int steps)
{
    const double time = 2.3, speed = 0.7, zeta = damping / (2 * OMEGA);
    taut_solver *solver = oscillator_of((struct oscillator){.integrator = integrator,
                                                            .omega = OMEGA,
                                                            .dt = time / steps,
                                                            .position = 1,
                                                            .speed = speed,
                                                            .damping = damping});
    advance(solver, (uint64_t)steps);
    // x = e^(-zeta omega t) (cos(omega_d t) + b sin(omega_d t)), which is A e^(-zeta omega t)
    // cos(omega_d t + phi)
    double decay = zeta * OMEGA, omega_d = OMEGA * sqrt(1 - zeta * zeta);
    double b = (speed + decay) / omega_d, envelope = exp(-decay * time);
    double c = cos(omega_d * time), s = sin(omega_d * time);
    double x = envelope * (c + b * s);
    double v = envelope * ((b * omega_d - decay) * c - (omega_d + decay * b) * s);
    double dx = OMEGA * (position_of(solver, 1).x - x), dv = velocity_of(solver, 1).x - v;
    taut_solver_destroy(solver);
    return sqrt(dx * dx + dv * dv);
}

static void assert_order(const char *integrator, double damping, double order, int steps)
{
    double slope = order_between(error_after(integrator, damping, steps),
                                 error_after(integrator, damping, 2 * steps));
    if (!(fabs(slope - order) <= 0.05))
        fail_msg("%s with damping %g: order %g, not %g", integrator, damping, slope, order);
}

// Euler 1, Verlet and midpoint 2, RK4 4; slope within 0.05.
static void test_order_of_convergence(void **state)
{
    (void)state;
    static const double orders[] = {1, 1, 2, 2, 2, 4};
    for (int i = 0; i < 6; i++)
        assert_order(all[i], 0, orders[i], orders[i] == 1 ? 1500 : 150);
}

// A damped oscillator follows A e^(-zeta omega t) cos(omega_d t + phi), each integrator with its
// order. With damping both Verlet methods are of order 1 only: `verlet` uses the backward
// difference, half a step old, and `velocity_verlet` the half-step velocity, which is as old.
static void test_order_on_the_damped_oscillator(void **state)
{
    (void)state;
    static const double orders[] = {1, 1, 1, 1, 2, 4};
    for (int i = 0; i < 6; i++)
        assert_order(all[i], 0.8, orders[i], orders[i] == 1 ? 4000 : 150);
}

// The closed form itself is reached at small steps with fourth order.
static void test_damped_oscillator_closed_form(void **state)
{
    (void)state;
    assert_near(error_after("rk4", 0.8, 4000), 0, 1e-11);
    assert_near(error_after("rk4", 0, 4000), 0, 1e-11);
}

// With a separate position step h_x, x[n+1] - 2 x[n] + x[n-1] = -h h_x omega^2 x[n].
static void test_position_step(void **state)
{
    (void)state;
    const double h = 0.05, h_x = 0.02, y = OMEGA * sqrt(h * h_x);
    taut_solver *solver = solver_of(
        "precision: double\n"
        "simulation: {integrator: symplectic_euler, dt: " NUM ", position_step: " NUM
        ", steps: 1}\n"
        "bodies: [{name: o, type: network, nodes: [[0,0,0],[1,0,0]], node_mass: [1,1], pins: [0],\n"
        "  springs: [[0, 1, {stiffness: " NUM ", rest_length: 0}]]}]\n",
        h, h_x, OMEGA * OMEGA);
    advance(solver, 1);
    assert_near(velocity_of(solver, 1).x, -h * OMEGA * OMEGA, 1e-15);
    assert_near(position_of(solver, 1).x, 1 - h_x * h * OMEGA * OMEGA, 1e-15);
    assert_near(measured_angle(solver, 400), 2 * asin(y / 2), 1e-9);
    taut_solver_destroy(solver);
}

static void test_keep_velocity(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        assert_velocity_is_scaled(all[i]);
}

// With keep_velocity Verlet steps evaluate forces at both ends: rates count both.
static void test_evaluations(void **state)
{
    (void)state;
    static const int once[] = {1, 1, 1, 1, 2, 4}, kept[] = {1, 1, 2, 2, 2, 4};
    for (int i = 0; i < 6; i++)
        for (int keeps = 0; keeps < 2; keeps++) {
            taut_solver *solver = solver_of(
                "simulation: {integrator: %s, dt: 0.001, keep_velocity: %s, steps: 1}\n"
                "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 4, mass: 1,\n"
                "  stiffness: 10}]\n",
                all[i], keeps ? "0.9" : "1");
            advance(solver, 10);
            const int expected = keeps ? kept[i] : once[i];
            assert_int_equal(solver_force_evaluations(solver), expected);
            assert_near(solver_spring_updates(solver), 3.0 * 10 * expected, 1e-9);
            taut_solver_destroy(solver);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discrete_frequency),
        cmocka_unit_test(test_phase_after_many_steps),
        cmocka_unit_test(test_verlet_reports_the_centred_velocity),
        cmocka_unit_test(test_amplitude_factor_of_a_step),
        cmocka_unit_test(test_invariant_of_symplectic_euler),
        cmocka_unit_test(test_order_of_convergence),
        cmocka_unit_test(test_order_on_the_damped_oscillator),
        cmocka_unit_test(test_damped_oscillator_closed_form),
        cmocka_unit_test(test_position_step),
        cmocka_unit_test(test_keep_velocity),
        cmocka_unit_test(test_evaluations),
    };
    return cmocka_run_group_tests_name("integrators", tests, NULL, NULL);
}
