// The study of a scene's integrators, on scenes with known limits, orders and frequencies.
#include "study_fixture.h"

#include <math.h>
#include <string.h>

static const double OMEGA = 3;

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static const double AMPLITUDE = 1e-3;

// An oscillator of 3 rad/s along x, on a spring of 1 m: even a run close to instability, with a
// hundred times the amplitude, does not come near its anchor.
static char *oscillator_text(double damping)
{
    return text_format("precision: double\n"
                       "simulation: {integrator: rk4, dt: 0.01, duration: 10}\n"
                       "bodies: [{name: o, type: oscillator, anchor: [0,0,0], axis: [1,0,0],\n"
                       "  mass: 1, stiffness: 9, amplitude: " NUM ", damping: " NUM "}]\n",
                       AMPLITUDE, damping);
}

static struct study *oscillator_study(enum study_map_kind map, double damping)
{
    struct study_options options = options_of(NULL, 0);
    options.map = map;
    return study_of(oscillator_text(damping), options);
}

// The study without damping and without a map, which several tests use.
static struct study *plain;

static const struct study *plain_study(void)
{
    if (!plain)
        plain = oscillator_study(STUDY_MAP_NONE, 0);
    return plain;
}

// Gas that is there at once is there at every step, and does not spoil the orders of methods.
static void test_orders_with_gas(void **state)
{
    (void)state;
    static const enum integrator integrators[] = {INTEGRATOR_VERLET, INTEGRATOR_RK4};
    struct study_options options = options_of(integrators, 2);
    options.map = STUDY_MAP_NONE;
    struct study *study = study_of(
        text_format("precision: double\nsimulation: {integrator: rk4, dt: 0.0005, duration: 0.1}\n"
                    "environment: {gravity: [0,-9.81,0]}\n"
                    "bodies: [{name: s, type: sphere, radius: 0.3, subdivisions: 0, mass: 0.5,\n"
                    "  stiffness: 300, pressure: {amount: 8, atmosphere: 10}}]\n"),
        options);
    for (size_t i = 0; i < 2; i++)
        assert_near(study->orders[i].order, integrators[i] == INTEGRATOR_RK4 ? 4 : 2, 0.3);
    study_free(study);
}

// Where all springs break nothing may grow; the study says that they have.
static void test_broken_springs_are_counted(void **state)
{
    (void)state;
    static const enum integrator integrators[] = {INTEGRATOR_VERLET};
    struct study_options options = options_of(integrators, 1);
    options.map = STUDY_MAP_NONE;
    options.budget = 4;
    struct study *study = study_of(
        text_format(
            "simulation: {dt: 0.001, duration: 0.5}\n"
            "environment: {gravity: [0,-9.81,0]}\n"
            "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 6, mass: 1,\n"
            "  stiffness: 300, damping: 0.1, break_at: 1.1, pins: [first],\n"
            "  drives: [{node: last, velocity: [1,0,0]}]}]\n"),
        options);
    assert_true(study->broken > 0 && study->broken <= 5);
    study_free(study);
}

// omega h < 2 for the symplectic integrators, 2 sqrt 2 for rk4, to a thousandth; none for the
// others, whose energy grows by their polynomials: (1 + y^2) and (1 + y^4 / 4) per step.
static void test_limits_of_an_oscillator(void **state)
{
    (void)state;
    const struct study *study = plain_study();
    assert_near(study->omega, OMEGA, 1e-9);
    assert_false(study->at_rest);
    assert_true(study->closed_form);
    static const enum integrator symplectic[] = {INTEGRATOR_SYMPLECTIC_EULER, INTEGRATOR_VERLET,
                                                 INTEGRATOR_VELOCITY_VERLET};
    for (int i = 0; i < 3; i++) {
        assert_found(study, symplectic[i], 2 / OMEGA, 1e-3);
        assert_near(limit_of(study, symplectic[i])->predicted, 2 / OMEGA, 1e-9);
    }
    assert_found(study, INTEGRATOR_RK4, 2 * sqrt(2) / OMEGA, 1e-3);
    static const enum integrator growing[] = {INTEGRATOR_EXPLICIT_EULER, INTEGRATOR_MIDPOINT};
    for (int i = 0; i < 2; i++) {
        const struct study_limit *limit = limit_of(study, growing[i]);
        assert_int_equal(limit->kind, STUDY_LIMIT_GROWS);
        assert_true(isnan(limit->predicted) && isnan(limit->measured));
        double y = OMEGA * limit->unstable, a_step = i == 0 ? y * y : y * y * y * y / 4;
        assert_near(limit->growth * limit->unstable / log1p(a_step), 1, 0.02);
    }
}

// The slopes over the smallest steps, compared with the closed form.
static void test_orders_of_convergence(void **state)
{
    (void)state;
    static const double orders[] = {1, 1, 2, 2, 2, 4};
    const struct study *study = plain_study();
    for (int i = 0; i <= INTEGRATOR_RK4; i++)
        assert_near(study->orders[i].order, orders[i], 0.05);
    // Twice the evaluations per step for midpoint, four times for rk4; half the step, twice the
    // steps.
    for (size_t i = 0; i < study->accuracy_count; i++) {
        const struct study_accuracy *it = &study->accuracies[i];
        static const uint64_t evaluations[] = {1, 1, 1, 1, 2, 4};
        if (isfinite(it->error) && it->integrator <= INTEGRATOR_RK4)
            assert_int_equal(it->evaluations, it->steps * evaluations[it->integrator]);
        assert_near(it->dt * (double)it->steps, study->accuracy_time, 1e-12);
    }
}

static const struct study_order *order_of(const struct study *study, enum integrator integrator)
{
    for (size_t i = 0; i < study->integrator_count; i++)
        if (study->orders[i].integrator == integrator)
            return &study->orders[i];
    fail_msg("%s was not studied", integrator_name(integrator));
    return NULL;
}

// Bodies whose springs rotate and stretch, for which the scene's own solver tolerance, 1e-4, and
// rounding would exceed most errors: every fitted order is that of the method. On damped bodies the
// Verlet methods, whose damping is of first order, lie between 1 and 2, and are left out.
static void test_orders_are_of_methods_and_not_of_noise(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "type: rope, from: [0,0,0], to: [1,0,0], nodes: 9, node_mass: 0.01, pins: [first],\n"
        "  spring: {stiffness: 1000, damping: 0.01}",
        "type: pendulum, model: spring, pivot: [0,0,0], length: 1, angle: 30, mass: 1,\n"
        "  stiffness: 100000",
        "type: cloth, u: [1,0,0], v: [0,0,1], nodes: [4,4], node_mass: 0.01, pins: [left],\n"
        "  springs: {structural: {stiffness: 300}, shear: {stiffness: 100}}"};
    static const struct {
        enum integrator integrator;
        double order, tolerance;
    } cases[] = {{INTEGRATOR_SYMPLECTIC_EULER, 1, 0.1},
                 {INTEGRATOR_MIDPOINT, 2, 0.1},
                 {INTEGRATOR_RK4, 4, 0.2},
                 {INTEGRATOR_IMPLICIT_EULER, 1, 0.15},
                 {INTEGRATOR_IMPLICIT_MIDPOINT, 2, 0.15},
                 {INTEGRATOR_BDF2, 2, 0.15}};
    enum { CASES = sizeof cases / sizeof cases[0] };
    enum integrator integrators[CASES];
    for (int i = 0; i < CASES; i++)
        integrators[i] = cases[i].integrator;
    for (int b = 0; b < 3; b++) {
        struct study_options options = options_of(integrators, CASES);
        options.budget = 4;
        struct study *study = study_of(text_format("simulation: {dt: 0.0005, duration: 1}\n"
                                                   "environment: {gravity: [0, -9.81, 0]}\n"
                                                   "bodies: [{name: b, %s}]\n",
                                                   bodies[b]),
                                       options);
        for (int i = 0; i < CASES; i++) {
            const struct study_order *order = order_of(study, cases[i].integrator);
            if (order->reason != STUDY_ORDER_FITTED ||
                !(fabs(order->order - cases[i].order) <= cases[i].tolerance))
                fail_msg("%s of body %d: order %g, %s", integrator_name(order->integrator), b,
                         order->order, study_no_order_text(order->reason));
            assert_int_equal(order->points, 3);
            assert_near(order->to / order->from, 4, 1e-9);
            assert_true(order->floor > 0 && order->floor < 1e-6);
        }
        study_free(study);
    }
}

// A tenth of a millimetre of motion at a hundred thousand kilometres: positions resolve it to eight
// digits, and only the largest errors are those of a method.
static void test_noise_has_no_order(void **state)
{
    (void)state;
    static const enum integrator integrators[] = {INTEGRATOR_EXPLICIT_EULER, INTEGRATOR_RK4};
    struct study_options options = options_of(integrators, 2);
    options.budget = 4;
    struct study *study = study_of(
        text_format("simulation: {dt: 0.01, duration: 1}\n"
                    "bodies: [{name: far, type: network, nodes: [[1e8,0,0],[100000001,0,0]],\n"
                    "  node_mass: [1,1], pins: [0], velocities: [[0,0,0],[0.0001,0,0]],\n"
                    "  springs: [[0,1,{stiffness: 9}]]}]\n"),
        options);
    const struct study_order *rk4 = order_of(study, INTEGRATOR_RK4);
    assert_int_equal(rk4->reason, STUDY_ORDER_ROUNDING);
    assert_true(isnan(rk4->order) && rk4->points == 0);
    const struct study_order *euler = order_of(study, INTEGRATOR_EXPLICIT_EULER);
    assert_int_equal(euler->reason, STUDY_ORDER_FITTED);
    assert_near(euler->order, 1, 0.2); // of steps that are not small yet
    study_free(study);
}

// omega_num / omega = 2 asin(y / 2) / y for the symplectic integrators, atan(y) / y for explicit
// Euler, whose amplitude grows by sqrt(1 + y^2); |R|^2 = 1 - y^6 / 72 + y^8 / 576 for rk4.
static void test_frequencies(void **state)
{
    (void)state;
    const struct study *study = plain_study();
    assert_true(study->frequency_count >= 4 * study->integrator_count);
    for (size_t i = 0; i < study->frequency_count; i++) {
        const struct study_frequency *it = &study->frequencies[i];
        double y = it->y;
        assert_near(y, it->dt * OMEGA, 1e-12);
        assert_near(it->phase, 2 * PI * (it->ratio - 1), 1e-12);
        if (it->integrator == INTEGRATOR_SYMPLECTIC_EULER || it->integrator == INTEGRATOR_VERLET ||
            it->integrator == INTEGRATOR_VELOCITY_VERLET) {
            assert_near(it->ratio, 2 * asin(y / 2) / y, 1e-9);
            assert_near(it->factor, 1, 1e-9);
        } else if (it->integrator == INTEGRATOR_EXPLICIT_EULER) {
            assert_near(it->ratio, atan(y) / y, 1e-9);
            assert_near(it->factor, sqrt(1 + y * y), 1e-9);
        } else if (it->integrator == INTEGRATOR_RK4) {
            assert_near(it->factor, sqrt(1 - pow(y, 6) / 72 + pow(y, 8) / 576), 1e-9);
        }
    }
}

// The mass passes its equilibrium at the same discrete frequency.
static void test_the_scenes_own_oscillation(void **state)
{
    (void)state;
    const struct study *study = plain_study();
    assert_true(study->oscillates);
    assert_int_equal(study->oscillating_node, 1);
    assert_int_equal(study->oscillating_axis, 0);
    assert_near(study->oscillation_omega, OMEGA, 1e-4 * OMEGA);
    int compared = 0;
    for (size_t i = 0; i < study->oscillation_count; i++) {
        const struct study_oscillation *it = &study->oscillations[i];
        double y = OMEGA * it->dt;
        if (it->integrator != INTEGRATOR_VERLET && it->integrator != INTEGRATOR_SYMPLECTIC_EULER)
            continue;
        assert_near(it->ratio, 2 * asin(y / 2) / y, 1e-3);
        compared++;
    }
    assert_int_equal(compared, 8);
}

// Explicit Euler's energy grows by (1 + y^2)^n; that of the symplectic integrators returns.
static void test_drift_and_energies(void **state)
{
    (void)state;
    const struct study *study = plain_study();
    double energy = 0.5 * 9 * AMPLITUDE * AMPLITUDE;
    assert_near(study->available / energy, 1, 0.01);
    assert_int_equal(study->series_count, study->integrator_count + 1);
    assert_true(study->series[study->integrator_count].reference);
    const struct study_series *euler = &study->series[INTEGRATOR_EXPLICIT_EULER];
    assert_true(euler->point_count >= 2);
    double y = OMEGA * euler->dt, steps = round(euler->points[1].time / euler->dt);
    assert_near(euler->points[1].energy * study->available / energy, pow(1 + y * y, steps) - 1,
                1e-6 * pow(1 + y * y, steps));
    size_t each = study->drift_count / study->integrator_count;
    for (size_t i = 0; i < study->drift_count; i++) {
        const struct study_drift *it = &study->drifts[i];
        if (it->integrator == INTEGRATOR_EXPLICIT_EULER)
            assert_int_equal(it->verdict, STUDY_UNSTABLE);
        if (it->integrator != INTEGRATOR_VELOCITY_VERLET)
            continue;
        assert_int_equal(it->verdict, STUDY_STABLE);
        assert_true(fabs(it->drift) < 1e-3);
        // E ranges over 1 / (1 - y^2 / 4).
        y = OMEGA * it->dt;
        assert_true(it->deviation < 1.05 / (1 - y * y / 4) - 1 + 0.05);
        if (i % each > 0)
            assert_true(it->deviation < it[-1].deviation);
    }
}

// The stable points of the map are left of the predicted step; a hundred times the stiffness
// divides it by ten.
static void test_map_over_stiffness(void **state)
{
    (void)state;
    struct study *study = oscillator_study(STUDY_MAP_STIFFNESS, 0);
    const struct study_map *map = &study->map;
    assert_int_equal(map->kind, STUDY_MAP_STIFFNESS);
    assert_near(map->factors[0], 0.01, 1e-12);
    assert_near(map->factors[map->row_count - 1], 100, 1e-9);
    int compared = 0;
    for (size_t row = 0; row < map->row_count; row++) {
        size_t position = INTEGRATOR_VERLET * map->row_count + row;
        double limit = 2 / OMEGA / sqrt(map->factors[row]);
        assert_near(map->predicted[position] / limit, 1, 1e-9);
        for (size_t column = 0; column < map->column_count; column++) {
            double ratio = map->steps[column] / limit;
            const struct study_cell *cell = &map->cells[position * map->column_count + column];
            if (ratio > 0.95 && ratio < 1.05)
                continue;
            assert_int_equal(cell->verdict, ratio < 1 ? STUDY_STABLE : STUDY_UNSTABLE);
            assert_int_equal(isfinite(cell->drift), cell->verdict == STUDY_STABLE);
            compared++;
        }
    }
    assert_true(compared > 50);
    study_free(study);
}

// With damping the limit of the symplectic integrators is the root of w^2 h^2 + 2 c h = 4, and
// explicit Euler has the limit c / w^2.
static void test_limits_with_damping(void **state)
{
    (void)state;
    const double c = 1.5;
    struct study *study = oscillator_study(STUDY_MAP_DAMPING, c);
    double limit = (sqrt(c * c + 4 * OMEGA * OMEGA) - c) / (OMEGA * OMEGA);
    assert_near(limit_of(study, INTEGRATOR_SYMPLECTIC_EULER)->predicted, limit, 1e-9);
    assert_found(study, INTEGRATOR_SYMPLECTIC_EULER, limit, 0.01);
    assert_found(study, INTEGRATOR_VELOCITY_VERLET, limit, 0.01);
    assert_found(study, INTEGRATOR_EXPLICIT_EULER, c / (OMEGA * OMEGA), 0.02);
    assert_false(study->map.of_critical);
    // The more damping, the smaller the predicted step. The loss by damping is no drift: fine steps
    // lose as much as the reference run of the row.
    const struct study_map *map = &study->map;
    for (size_t row = 0; row < map->row_count; row++) {
        const struct study_cell *cell =
            &map->cells[(INTEGRATOR_RK4 * map->row_count + row) * map->column_count];
        if (cell->verdict == STUDY_STABLE)
            assert_near(cell->drift * study->map_window, 0, 0.08);
    }
    assert_int_equal(map->cells[INTEGRATOR_RK4 * map->row_count * map->column_count].verdict,
                     STUDY_STABLE);
    for (size_t row = 1; row < map->row_count; row++)
        assert_true(map->predicted[INTEGRATOR_VERLET * map->row_count + row] <
                    map->predicted[INTEGRATOR_VERLET * map->row_count + row - 1]);
    study_free(study);
}

// The same numbers for every number of threads.
static void test_threads_change_nothing(void **state)
{
    (void)state;
    struct study *studies[2];
    static const enum integrator integrators[] = {INTEGRATOR_VERLET, INTEGRATOR_RK4};
    for (int i = 0; i < 2; i++) {
        struct study_options options = options_of(integrators, 2);
        options.threads = i == 0 ? 1 : 3;
        studies[i] = study_of(
            text_format("simulation: {dt: 0.001, duration: 0.2}\n"
                        "environment: {gravity: [0, -9.81, 0], air_drag: 0.001}\n"
                        "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 12,\n"
                        "  node_mass: 0.05, pins: [first], spring: {stiffness: 900}}]\n"),
            options);
    }
    for (int i = 0; i < 2; i++) {
        assert_same_bits(studies[0]->limits[i].stable, studies[1]->limits[i].stable);
        assert_same_bits(studies[0]->limits[i].unstable, studies[1]->limits[i].unstable);
    }
    for (size_t i = 0; i < studies[0]->drift_count; i++)
        assert_same_bits(studies[0]->drifts[i].deviation, studies[1]->drifts[i].deviation);
    assert_false(studies[0]->at_rest || studies[0]->closed_form);
    study_free(studies[0]);
    study_free(studies[1]);
}

static void test_what_cannot_be_studied(void **state)
{
    (void)state;
    taut_scene *scene =
        scene_of(HEADER("rk4", "0.01") "bodies: [{name: f, type: network, nodes: [[0,0,0]],\n"
                                       "  node_mass: [1], springs: []}]\n");
    struct study_options options = options_of(NULL, 0);
    struct study *study;
    taut_error error = {0};
    assert_int_equal(study_make(scene, &options, &study, &error), TAUT_ERROR_SCENE);
    assert_non_null(strstr(error.text, "nothing oscillates"));
    study_free(study);
    taut_scene_destroy(scene);
    // A study that is stopped at once has measured nothing, and reports this.
    scene = scene_of_text(oscillator_text(0));
    options.stop = at_once;
    assert_int_equal(study_make(scene, &options, &study, &error), TAUT_OK);
    assert_false(study->complete);
    assert_int_equal(study->limits[INTEGRATOR_RK4].kind, STUDY_LIMIT_UNKNOWN);
    assert_near(study->limits[INTEGRATOR_RK4].predicted, 2 * sqrt(2) / OMEGA, 1e-9);
    study_free(study);
    taut_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_with_gas),
        cmocka_unit_test(test_broken_springs_are_counted),
        cmocka_unit_test(test_limits_of_an_oscillator),
        cmocka_unit_test(test_orders_of_convergence),
        cmocka_unit_test(test_orders_are_of_methods_and_not_of_noise),
        cmocka_unit_test(test_noise_has_no_order),
        cmocka_unit_test(test_frequencies),
        cmocka_unit_test(test_the_scenes_own_oscillation),
        cmocka_unit_test(test_drift_and_energies),
        cmocka_unit_test(test_map_over_stiffness),
        cmocka_unit_test(test_limits_with_damping),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_what_cannot_be_studied),
    };
    int failed = cmocka_run_group_tests_name("study", tests, NULL, NULL);
    study_free(plain);
    return failed;
}
