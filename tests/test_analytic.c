// Oscillator and pendulum in each of their models against the closed forms.
#include "physics.h"

#include <math.h>

static const double RADIANS = PI / 180;

// Equilibrium L0 + m g / k; x = A e^(-decay t) cos(omega_d t + phi) about it, decay = c / 2m.
static vec3 oscillator_at(double time)
{
    const double m = 0.5, k = 80, c = 0.3, amplitude = 0.2, phase = 40 * RADIANS;
    double decay = c / (2 * m), omega_d = sqrt(k / m - decay * decay);
    double x = amplitude * exp(-decay * time) * cos(omega_d * time + phase);
    return vec3_make(1, 3 - (1.5 + m * 10 / k + x), 2);
}

static taut_solver *oscillator(const char *integrator, const char *model, const char *dt)
{
    return solver_of("precision: double\nsimulation: {integrator: %s, dt: %s, steps: 1}\n"
                     "environment: {gravity: [0,-10,0]}\n"
                     "bodies: [{name: o, type: oscillator, model: %s, anchor: [1,3,2],\n"
                     "  axis: [0,-1,0], amplitude: 0.2, phase: 40, mass: 0.5,\n"
                     "  stiffness: 80, rest_length: 1.5, damping: 0.3}]\n",
                     integrator, dt, model);
}

static void test_oscillator_in_closed_form(void **state)
{
    (void)state;
    taut_solver *solver = oscillator("symplectic_euler", "closed_form", "0.01");
    for (int sample = 0; sample < 40; sample++) {
        double t = taut_solver_time(solver), e = 1e-5;
        assert_vector_near(position_of(solver, 1), oscillator_at(t), 1e-14);
        vec3 slope = vec3_scale(0.5 / e, vec3_subtract(oscillator_at(t + e), oscillator_at(t - e)));
        assert_vector_near(velocity_of(solver, 1), slope, 1e-8);
        assert_vector_near(position_of(solver, 0), vec3_make(1, 3, 2), 0);
        advance(solver, 7);
    }
    taut_solver_destroy(solver);
}

static void test_oscillator_on_a_spring(void **state)
{
    (void)state;
    taut_solver *solver = oscillator("rk4", "spring", "0.001");
    assert_vector_near(position_of(solver, 1), oscillator_at(0), 1e-14);
    for (int sample = 0; sample < 20; sample++) {
        advance(solver, 100);
        assert_vector_near(position_of(solver, 1), oscillator_at(taut_solver_time(solver)), 1e-9);
    }
    taut_solver_destroy(solver);
}

static taut_solver *pendulum(const char *model, double angle, double dt, const char *integrator)
{
    return solver_of("precision: double\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
                     "environment: {gravity: [0,-9.81,0]}\n"
                     "bodies: [{name: p, type: pendulum, model: %s, pivot: [0,2,0], length: 0.8,\n"
                     "  angle: " NUM ", direction: [1,0,0], mass: 0.5,\n"
                     "  stiffness: 1e6}]\n",
                     integrator, dt, model, angle);
}

static double angle_of(const taut_solver *solver)
{
    vec3 at = position_of(solver, 1);
    return atan2(at.x, 2 - at.y);
}

// theta = theta_0 cos(sqrt(g / r) t)
static void test_pendulum_of_small_angle(void **state)
{
    (void)state;
    taut_solver *solver = pendulum("small_angle", 10, 0.01, "symplectic_euler");
    for (int sample = 0; sample < 30; sample++) {
        double t = taut_solver_time(solver), omega = sqrt(9.81 / 0.8);
        double theta = 10 * RADIANS * cos(omega * t);
        assert_vector_near(position_of(solver, 1),
                           vec3_make(0.8 * sin(theta), 2 - 0.8 * cos(theta), 0), 1e-14);
        double rate = -omega * 10 * RADIANS * sin(omega * t);
        assert_vector_near(velocity_of(solver, 1),
                           vec3_make(0.8 * rate * cos(theta), 0.8 * rate * sin(theta), 0), 1e-13);
        advance(solver, 11);
    }
    taut_solver_destroy(solver);
}

// The period 4 sqrt(r / g) K(sin(theta_0 / 2)) = 2 pi sqrt(r / g) / agm(1, cos(theta_0 / 2)).
static double exact_period(double angle)
{
    double a = 1, b = cos(angle / 2);
    for (int i = 0; i < 20; i++) {
        double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    return 2 * PI * sqrt(0.8 / 9.81) / a;
}

// theta'' = -(g / r) sin(theta), integrated: after a period the pendulum is back at its start, and
// after a quarter it hangs straight down, for any amplitude.
static void test_pendulum_equation(void **state)
{
    (void)state;
    static const double angles[] = {5, 60, 120, 170};
    for (int i = 0; i < 4; i++) {
        double theta = angles[i] * RADIANS, period = exact_period(theta);
        taut_solver *solver = pendulum("equation", angles[i], period / 4000, "symplectic_euler");
        advance(solver, 1000);
        assert_near(angle_of(solver), 0, 1e-9);
        double speed = sqrt(2 * 9.81 * 0.8 * (1 - cos(theta)));
        assert_vector_near(velocity_of(solver, 1), vec3_make(-speed, 0, 0), 1e-9);
        advance(solver, 3000);
        assert_near(angle_of(solver), theta, 1e-9);
        taut_solver_destroy(solver);
    }
}

// On a stiff spring the pendulum is the same except for the stretch of the spring, m g / k at most:
// the period agrees within 1e-4.
static void test_pendulum_on_a_spring(void **state)
{
    (void)state;
    double theta = 60 * RADIANS, period = exact_period(theta);
    taut_solver *solver = pendulum("spring", 60, period / 16000, "velocity_verlet");
    double before = angle_of(solver), first = -1, last = 0;
    for (int crossings = 0; crossings < 3;) {
        advance(solver, 1);
        double now = angle_of(solver), h = taut_solver_dt(solver);
        if (before > 0 && now <= 0) {
            last = taut_solver_time(solver) - h * now / (now - before);
            first = first < 0 ? last : first;
            crossings++;
        }
        before = now;
    }
    assert_near((last - first) / (2 * period), 1, 1e-4);
    taut_solver_destroy(solver);
}

// Both models in one scene, below and above the limit of small angles.
static void test_small_angles_agree_and_large_do_not(void **state)
{
    (void)state;
    static const double angles[] = {0.5, 60};
    for (int i = 0; i < 2; i++) {
        taut_solver *equation = pendulum("equation", angles[i], 0.001, "symplectic_euler");
        taut_solver *small = pendulum("small_angle", angles[i], 0.001, "symplectic_euler");
        advance(equation, 3000);
        advance(small, 3000);
        double apart = fabs(angle_of(equation) - angle_of(small)) / (angles[i] * RADIANS);
        assert_true(i == 0 ? apart < 1e-4 : apart > 0.1);
        taut_solver_destroy(equation);
        taut_solver_destroy(small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oscillator_in_closed_form),
        cmocka_unit_test(test_oscillator_on_a_spring),
        cmocka_unit_test(test_pendulum_of_small_angle),
        cmocka_unit_test(test_pendulum_equation),
        cmocka_unit_test(test_pendulum_on_a_spring),
        cmocka_unit_test(test_small_angles_agree_and_large_do_not),
    };
    return cmocka_run_group_tests_name("analytic", tests, NULL, NULL);
}
