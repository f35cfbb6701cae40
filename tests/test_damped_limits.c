// Stability limits with damping: of single modes, compared with their characteristic polynomials,
// and of bodies, compared with runs on both sides of the computed limit.
#include "physics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum integrator explicit_ones[] = {
    INTEGRATOR_EXPLICIT_EULER,  INTEGRATOR_SYMPLECTIC_EULER, INTEGRATOR_VERLET,
    INTEGRATOR_VELOCITY_VERLET, INTEGRATOR_MIDPOINT,         INTEGRATOR_RK4};
enum { EXPLICIT_ONES = sizeof explicit_ones / sizeof explicit_ones[0] };

static struct critical_step critical_step_of(taut_solver *solver)
{
    struct critical_step critical;
    taut_error error = {0};
    if (solver_computed_steps(solver, &critical, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return critical;
}

// ---- Modes

// One step of x'' + c x' + k x = 0 as a matrix, by stepping (1, 0) and (0, 1): an independent
// implementation of the rules in docs/numerics.md.
static void step_once(enum integrator integrator, double h, double k, double c, double state[2])
{
    double x = state[0], v = state[1], half = h / 2;
    double k1x, k1v, k2x, k2v, k3x, k3v, k4x, k4v;
    switch (integrator) {
    case INTEGRATOR_EXPLICIT_EULER:
        state[0] = x + h * v;
        state[1] = v - h * (k * x + c * v);
        break;
    case INTEGRATOR_MIDPOINT:
        k1x = x + half * v;
        k1v = v - half * (k * x + c * v);
        state[0] = x + h * k1v;
        state[1] = v - h * (k * k1x + c * k1v);
        break;
    case INTEGRATOR_RK4:
        k1x = v, k1v = -(k * x + c * v);
        k2x = v + half * k1v, k2v = -(k * (x + half * k1x) + c * (v + half * k1v));
        k3x = v + half * k2v, k3v = -(k * (x + half * k2x) + c * (v + half * k2v));
        k4x = v + h * k3v, k4v = -(k * (x + h * k3x) + c * (v + h * k3v));
        state[0] = x + h / 6 * (k1x + 2 * k2x + 2 * k3x + k4x);
        state[1] = v + h / 6 * (k1v + 2 * k2v + 2 * k3v + k4v);
        break;
    default: // the force uses the previous velocity, v = (x - x-) / h in Verlet's
        state[1] = v - h * (k * x + c * v);
        state[0] = x + h * state[1];
        break;
    }
}

// The largest modulus of the roots of z^2 - T z + D.
static double spectral_radius(enum integrator integrator, double h, double k, double c)
{
    double a[2] = {1, 0}, b[2] = {0, 1};
    step_once(integrator, h, k, c, a);
    step_once(integrator, h, k, c, b);
    double half = (a[0] + b[1]) / 2, product = a[0] * b[1] - a[1] * b[0];
    double root = half * half - product;
    return root < 0 ? sqrt(product) : fabs(half) + sqrt(root);
}

// The modulus of the decaying one of two real roots: the lower root, since the other is above 1.
static double smaller_root(enum integrator integrator, double h, double k, double c)
{
    double a[2] = {1, 0}, b[2] = {0, 1};
    step_once(integrator, h, k, c, a);
    step_once(integrator, h, k, c, b);
    double half = (a[0] + b[1]) / 2, product = a[0] * b[1] - a[1] * b[0];
    return fabs(half - sqrt(half * half - product));
}

// For damping from none to four times critical, and stiff and soft modes: every step up to the
// computed limit is stable, and a slightly longer one is not.
static void test_limits_of_modes(void **state)
{
    (void)state;
    const struct stepping plain = {1, 1};
    for (int i = 0; i < EXPLICIT_ONES; i++)
        for (int j = 0; j <= 64; j++) {
            double ratio = j / 16.0, omega = 3.7, k = omega * omega, c = 2 * ratio * omega;
            double h = integrator_mode_step(explicit_ones[i], &plain, k, c);
            for (int part = 1; part < 200; part++)
                if (!(spectral_radius(explicit_ones[i], h * part / 200.0, k, c) <= 1 + 1e-12))
                    fail_msg("%s at %g of critical damping is not stable at %d/200 of %g",
                             integrator_name(explicit_ones[i]), ratio, part, h);
            if (h > 0) // where both roots coincide, half of the digits are lost
                assert_true(spectral_radius(explicit_ones[i], h * (1 - 1e-6), k, c) <= 1 + 1e-7);
            double more = h > 0 ? h * (1 + 1e-5) : 1e-3 / omega;
            assert_true(spectral_radius(explicit_ones[i], more, k, c) > 1);
        }
    assert_near(integrator_mode_step(INTEGRATOR_RK4, &plain, 100, 20), 0.2785293563405282, 1e-12);
    assert_near(integrator_mode_step(INTEGRATOR_EXPLICIT_EULER, &plain, 100, 2), 0.02, 1e-14);
    assert_near(integrator_mode_step(INTEGRATOR_MIDPOINT, &plain, 100, 2), 0.1050, 5e-5);
    // Damped and not pinned: only its velocity can grow.
    assert_near(integrator_mode_step(INTEGRATOR_RK4, &plain, 0, 10), 0.2785293563405282, 1e-12);
    assert_near(integrator_mode_step(INTEGRATOR_SYMPLECTIC_EULER, &plain, 0, 10), 0.2, 1e-14);
    assert_true(isinf(integrator_mode_step(INTEGRATOR_EXPLICIT_EULER, &plain, 0, 0)));
}

// A mode that grows physically: the decaying root leaves the unit circle at the limit.
static void test_limits_of_growing_modes(void **state)
{
    (void)state;
    const struct stepping plain = {1, 1};
    for (int i = 0; i < EXPLICIT_ONES; i++)
        for (int j = 0; j <= 64; j++) {
            double omega = 3.7, k = -omega * omega, c = j / 8.0 * omega;
            double h = integrator_mode_step(explicit_ones[i], &plain, k, c);
            bool none = isinf(h); // it never leaves
            double most = none ? 20 / omega : h;
            for (int part = 1; part < 200; part++) {
                double radius = smaller_root(explicit_ones[i], most * part / 200, k, c);
                assert_true(radius <= 1 + 1e-12);
            }
            bool touches = j == 16 && integrator_limit(explicit_ones[i]) == 2; // touches -1, and
                                                                               // turns back
            if (!none && !touches)
                assert_true(smaller_root(explicit_ones[i], h * (1 + 1e-4), k, c) > 1);
        }
    const double real = 0.5 * 20 + sqrt(100 + 100); // of x'' + 20 x' - 100 x
    assert_near(integrator_mode_step(INTEGRATOR_RK4, &plain, -100, 20), 2.785293563405282 / real,
                1e-12);
    assert_near(integrator_mode_step(INTEGRATOR_MIDPOINT, &plain, -100, 20), 2 / real, 1e-12);
}

// The limit of a range is not above that of any mode in it.
static void test_limits_of_ranges(void **state)
{
    (void)state;
    const struct stepping plain = {1, 1};
    uint64_t seed = 5;
    for (int round = 0; round < 60; round++) {
        double ratio = 0.02 * fabs(next_random(&seed)), drag = round % 3 ? 0 : 1;
        struct mode_range range = {.square_max = 100,
                                   .damping_max = 300 * fabs(next_random(&seed)) + drag,
                                   .lower_ratio = ratio,
                                   .lower = drag,
                                   .upper_ratio = round % 2 ? INFINITY : 3 * ratio,
                                   .upper = drag};
        range.form_step = INFINITY;
        range.square_negative = round % 5 == 0 ? 40 : 0;
        for (int i = 0; i < EXPLICIT_ONES; i++) {
            double limit = integrator_range_step(explicit_ones[i], &plain, &range);
            for (int p = -(int)range.square_negative; p <= 100; p++)
                for (int q = 0; q <= 100; q++) {
                    double k = p, c = range.damping_max * q / 100;
                    if (c < ratio * k + drag || c > range.upper_ratio * k + drag)
                        continue;
                    double own = integrator_mode_step(explicit_ones[i], &plain, k, c);
                    assert_true(limit <= own * (1 + 1e-3));
                }
        }
    }
}

// Damping proportional to stiffness, for which explicit Euler and midpoint have a limit: no
// rounding of the corner without both may be taken for a mode without damping.
static void test_limits_of_proportional_ranges(void **state)
{
    (void)state;
    const struct stepping plain = {1, 1};
    uint64_t seed = 6;
    for (int round = 0; round < 2000; round++) {
        const double square = exp(10 * next_random(&seed)), ratio = exp(5 * next_random(&seed) - 8);
        const struct mode_range range = {.square_max = square,
                                         .damping_max = ratio * square,
                                         .lower_ratio = ratio,
                                         .upper_ratio = ratio,
                                         .square_negative =
                                             round % 2 ? fabs(next_random(&seed)) * 1e-3 : 0,
                                         .form_step = 2 / (sqrt(square) * (1 + ratio))};
        for (int i = 0; i < EXPLICIT_ONES; i++)
            assert_true(integrator_range_step(explicit_ones[i], &plain, &range) > 0);
    }
}

// ---- Bodies

// Kinetic energy: the energy of springs would be lost in that of stretched ones.
static double energy_now(taut_solver *solver)
{
    taut_energy energy;
    taut_error error = {0};
    if (taut_solver_energy(solver, &energy, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return energy.kinetic;
}

// Whether small random motions grow: by 1e10 at any time, or comparing the greatest energy in the
// last quarter of the run with the greatest in the second quarter. A motion that first grows and
// then decays is stable.
static bool grows(enum integrator integrator, const char *body, double h, uint64_t steps,
                  uint64_t seed)
{
    enum { SAMPLES = 64 };
    taut_solver *solver = solver_of("precision: double\n"
                                    "simulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
                                    "output: {work: false}\n%s",
                                    integrator_name(integrator), h, body);
    for (uint64_t n = 0; n < taut_solver_node_count(solver); n++)
        if (!topology_is_kinematic(solver_topology(solver),
                                   topology_internal_node(solver_topology(solver), n))) {
            vec3 by = {next_random(&seed), next_random(&seed), next_random(&seed)};
            put_velocity(solver, n, vec3_scale(1e-9, by)); // Verlet's ignores it
            put(solver, n, vec3_add(position_of(solver, n), vec3_scale(1e-10, by)));
        }
    double start = energy_now(solver), before = 0, after = 0;
    bool grown = false;
    for (int sample = 0; sample < SAMPLES && !grown; sample++) {
        grown = taut_solver_step(solver, steps / SAMPLES, NULL) != TAUT_OK;
        double energy = grown ? INFINITY : energy_now(solver);
        grown = grown || energy > 1e10 * start;
        if (sample >= SAMPLES / 4 && sample < SAMPLES / 2)
            before = fmax(before, energy);
        if (sample >= 3 * SAMPLES / 4)
            after = fmax(after, energy);
    }
    taut_solver_destroy(solver);
    return grown || (after > 3 * before && after > 1e-6 * start); // smaller energies are round-off
}

// A body whose springs all have the same stiffness, so that some damping is critical for the
// fastest oscillation. Its text has a format field for the damping of each kind of springs.
struct damped_body {
    const char *name;
    double stiffness;
};

static const struct damped_body bodies[] = {
    {"spring", 100}, {"chain", 300}, {"cloth", 300}, {"jelly", 300}};
enum { BODIES = sizeof bodies / sizeof bodies[0] };

static char *text_of(int body, double c)
{
    char *text = NULL;
    if (body == 0)
        text = text_format("bodies: [{name: b, type: network, nodes: [[0,0,0],[1,0,0]],\n"
                           "  node_mass: [1,1], pins: [0],\n"
                           "  springs: [[0, 1, {stiffness: 100, damping: " NUM "}]]}]\n",
                           c);
    else if (body == 1)
        text = text_format("bodies: [{name: b, type: rope, from: [0,0,0], to: [1,0,0], nodes: 12,\n"
                           "  node_mass: 0.1, pins: [first],\n"
                           "  spring: {stiffness: 300, damping: " NUM "}}]\n",
                           c);
    else if (body == 2)
        text = text_format("bodies: [{name: b, type: cloth, u: [1,0,0], v: [0,0,1], nodes: [5,5],\n"
                           "  node_mass: 0.1, springs: {structural: {stiffness: 300, damping: " NUM
                           "},\n  shear: {stiffness: 300, damping: " NUM "}}}]\n",
                           c, c);
    else
        text = text_format("bodies: [{name: b, type: lattice, nodes: [3,3,3], spacing: 0.5,\n"
                           "  node_mass: 0.1, springs: {k1: {stiffness: 300, damping: " NUM "},\n"
                           "  k2: {stiffness: 300, damping: " NUM "},\n"
                           "  k3: {stiffness: 300, damping: " NUM "}}}]\n",
                           c, c, c);
    assert_non_null(text);
    return text;
}

static struct critical_step critical_of(const char *text, const char *precision)
{
    taut_solver *solver = solver_of("precision: %s\n"
                                    "simulation: {integrator: verlet, dt: 1e-5, steps: 1}\n%s",
                                    precision, text);
    struct critical_step critical = critical_step_of(solver);
    taut_solver_destroy(solver);
    return critical;
}

// Steps until the growth at a step that is 1% too long shows: explicit Euler's is the slowest, by
// 0.04 times the square of the damping ratio.
static uint64_t steps_for(enum integrator integrator, double ratio)
{
    double steps = integrator == INTEGRATOR_EXPLICIT_EULER ? 800 / (ratio * ratio) : 6400;
    return (uint64_t)fmax(6400, fmin(steps, 100000)) / 64 * 64;
}

// From no damping to four times critical: the computed limit is stable, 1% more is not, and the
// bound is not above it.
static void test_limits_of_bodies(void **state)
{
    (void)state;
    static const double ratios[] = {0, 0.1, 0.5, 1, 2, 4};
    for (int b = 0; b < BODIES; b++) {
        char *plain = text_of(b, 0);
        double omega = critical_of(plain, "double").computed_omega;
        free(plain);
        for (int r = 0; r < 6; r++) {
            char *text = text_of(b, 2 * ratios[r] * bodies[b].stiffness / omega);
            struct critical_step critical = critical_of(text, "double");
            struct critical_step in_single = critical_of(text, "single");
            for (int i = 0; i < EXPLICIT_ONES; i++) {
                enum integrator integrator = explicit_ones[i];
                double h = critical.computed_dt[integrator];
                assert_true(critical.dt[integrator] <= h * (1 + 1e-6));
                assert_near(in_single.computed_dt[integrator], h, 2e-3 * h);
                assert_true(in_single.dt[integrator] <= h * (1 + 1e-4));
                if (h == 0) {
                    assert_true(ratios[r] == 0 && integrator_limit(integrator) == 0);
                    continue;
                }
                uint64_t steps = steps_for(integrator, ratios[r]);
                if (grows(integrator, text, 0.999 * h, steps, 7 + (uint64_t)r))
                    fail_msg("%s of a %s at %g of critical damping grows at %g s",
                             integrator_name(integrator), bodies[b].name, ratios[r], 0.999 * h);
                if (!grows(integrator, text, 1.01 * h, steps, 8 + (uint64_t)r))
                    fail_msg("%s of a %s at %g of critical damping is stable beyond %g s",
                             integrator_name(integrator), bodies[b].name, ratios[r], h);
            }
            free(text);
        }
    }
}

// Damping that is not proportional to stiffness: the computed limit is stable, and with rk4 and the
// symplectic integrators 1% more is not. With explicit Euler and midpoint growth takes long to show
// (test_quadratic.c tests these).
static void test_limits_of_uneven_bodies(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "bodies: [{name: b, type: cloth, u: [1,0,0], v: [0,0,1], nodes: [5,5], node_mass: 0.1,\n"
        "  springs: {structural: {stiffness: 300, damping: 3}, shear: {stiffness: 200}}}]\n",
        "bodies: [{name: b, type: cloth, u: [1,0,0], v: [0,0,1], nodes: [5,5], node_mass: 0.1,\n"
        "  springs: {structural: {stiffness: 300, damping: 1},\n"
        "  shear: {stiffness: 200, damping: 9}}, pins: [left]}]\n",
        "environment: {air_drag: 0.8}\n"
        "bodies: [{name: b, type: rope, from: [0,0,0], to: [1,0,0], nodes: 12, node_mass: 0.1,\n"
        "  pins: [first], spring: {stiffness: 300, damping: 0.5}}]\n",
        "bodies: [{name: b, type: rope, from: [0,0,0], to: [1,0,0], nodes: 12, node_mass: 0.1,\n"
        "  pins: [first, last], spring: {stiffness: 300, damping: 4, damping_law: full,\n"
        "  rest_length: 0.06}}]\n",
        "bodies: [{name: b, type: rope, from: [0,0,0], to: [1,0,0], nodes: 12, node_mass: 0.1,\n"
        "  pins: [first, last], spring: {stiffness: 300, damping: 4, law: tension_only,\n"
        "  rest_length: 0.06}}]\n",
        "bodies: [{name: b, type: network, node_mass: [1, 0.2, 3, 0.5, 0.1],\n"
        "  nodes: [[0,0,0],[1,0,0],[1,1,0.2],[0,1,0.1],[0.4,0.4,1]], springs:\n"
        "  [[0,1,{stiffness: 10, damping: 2}],[1,2,{stiffness: 500}],\n"
        "  [2,3,{stiffness: 80, damping: 9}],[3,0,{stiffness: 7}],\n"
        "  [4,0,{stiffness: 30, damping: 0.5}],[4,2,{stiffness: 90, damping: 3}],\n"
        "  [4,1,{stiffness: 11, damping: 0.1}]]}]\n",
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct critical_step critical = critical_of(cases[c], "double");
        struct critical_step in_single = critical_of(cases[c], "single");
        for (int i = 0; i < EXPLICIT_ONES; i++) {
            enum integrator integrator = explicit_ones[i];
            double h = critical.computed_dt[integrator];
            bool rk4 = integrator == INTEGRATOR_RK4, exact = integrator_limit(integrator) == 2;
            assert_true(critical.dt[integrator] <= h * (1 + 1e-6));
            assert_near(in_single.computed_dt[integrator], h, 5e-3 * h);
            for (uint64_t seed = 3; seed < 6 && h > 0; seed++)
                if (grows(integrator, cases[c], 0.999 * h, 9600, seed))
                    fail_msg("%s of case %d grows at %g s", integrator_name(integrator), (int)c,
                             0.999 * h);
            if ((exact || rk4) && !grows(integrator, cases[c], 1.01 * h, 9600, 9))
                fail_msg("%s of case %d is stable at %g s", integrator_name(integrator), (int)c,
                         1.01 * h);
        }
    }
}

// keep_velocity reduces the limits of symplectic Euler and Verlet: r h^2 k + 2 q h c < 2 + 2 q.
static void test_limits_with_kept_velocities(void **state)
{
    (void)state;
    static const enum integrator integrators[] = {INTEGRATOR_SYMPLECTIC_EULER, INTEGRATOR_VERLET};
    for (int i = 0; i < 2; i++)
        for (int side = -1; side <= 1; side += 2) {
            double keep = 0.5, h = 0;
            for (int round = 0; round < 2; round++) {
                taut_solver *solver = solver_of(
                    "precision: double\n"
                    "simulation: {integrator: %s, dt: " NUM ", keep_velocity: " NUM
                    ", steps: 1}\noutput: {work: false}\n"
                    "bodies: [{name: o, type: network, nodes: [[0,0,0],[1,0,0]],\n"
                    "  node_mass: [1,1], pins: [0], velocities: [[0,0,0],[1e-9,0,0]],\n"
                    "  springs: [[0, 1, {stiffness: 100, damping: 2}]]}]\n",
                    integrator_name(integrators[i]), round ? (1 + 0.005 * side) * h : 0.01, keep);
                if (round == 0) {
                    struct critical_step critical = critical_step_of(solver);
                    h = critical.computed_dt[integrators[i]];
                    assert_near(critical.dt[integrators[i]], h, 1e-6 * h);
                    assert_near(100 * h * h + 2 * keep * 2 * h, 2 + 2 * keep, 1e-5);
                } else {
                    bool failed = taut_solver_step(solver, 6000, NULL) != TAUT_OK;
                    bool grown = failed || !(energy_now(solver) < 1e-15);
                    assert_int_equal(grown, side > 0);
                }
                taut_solver_destroy(solver);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_of_modes),
        cmocka_unit_test(test_limits_of_growing_modes),
        cmocka_unit_test(test_limits_of_ranges),
        cmocka_unit_test(test_limits_of_proportional_ranges),
        cmocka_unit_test(test_limits_of_bodies),
        cmocka_unit_test(test_limits_of_uneven_bodies),
        cmocka_unit_test(test_limits_with_kept_velocities),
    };
    return cmocka_run_group_tests_name("damped_limits", tests, NULL, NULL);
}
