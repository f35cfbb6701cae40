// The scenes of materials (docs/materials.md): fabrics and rods bend as the elastica does, gelatine
// keeps its volume, a bar has its natural frequency. With TAUT_TEST_QUICK only their beginning
// runs.
#include "scene_runs.h"

#include <math.h>
#include <stdlib.h>

// ---- The elastica
//
// theta'' = -(L/c)^3 t cos(theta) with t from the free end: theta'(0) = 0 there, theta(1) = 0 at
// the clamp. The drop of the end over L is the integral of sin(theta).

// Integrates from an angle at the free end by Runge and Kutta; the angle at the clamp.
static double angle_at_clamp(double cube, double angle, double *drop)
{
    enum { STEPS = 2000 };
    const double h = 1.0 / STEPS;
    double theta = angle, rate = 0;
    *drop = 0;
    for (int i = 0; i < STEPS; i++) {
        const double t = i * h, before = sin(theta);
        const double a1 = -cube * t * cos(theta);
        const double a2 = -cube * (t + h / 2) * cos(theta + h / 2 * rate);
        const double r2 = rate + h / 2 * a1, r3 = rate + h / 2 * a2;
        const double a3 = -cube * (t + h / 2) * cos(theta + h / 2 * r2);
        const double r4 = rate + h * a3;
        const double a4 = -cube * (t + h) * cos(theta + h * r3);
        theta += h / 6 * (rate + 2 * r2 + 2 * r3 + r4);
        rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        *drop += h / 2 * (before + sin(theta));
    }
    return theta;
}

static double elastica_drop(double length, double bending_length)
{
    const double cube = pow(length / bending_length, 3);
    double low = 0, high = PI / 2, drop = 0;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (angle_at_clamp(cube, middle, &drop) > 0)
            high = middle;
        else
            low = middle;
    }
    return drop * length;
}

// Values of docs/materials.md, by another program.
static void test_the_elastica_is_right(void **context)
{
    (void)context;
    assert_near(elastica_drop(1, 1), 0.123471, 2e-6);
    assert_near(elastica_drop(2, 1), 2 * 0.640631, 4e-6);
    assert_near(elastica_drop(3, 1), 3 * 0.863552, 6e-6);
}

// ---- Scenes

static void test_strips_bend_as_the_elastica(void **context)
{
    (void)context;
    static const struct {
        const char *name;
        double bending, density;
    } strips[] = {{"denim", 64.2e-6, 0.324},
                  {"tablecloth", 51.7e-6, 0.128},
                  {"trousers", 125e-6, 0.220},
                  {"blanket", 117e-6, 0.228}};
    taut_solver *solver = scene_open("strips", NULL, NULL);
    advance_to(solver, quick() ? 0.05 : 2.5);
    for (size_t i = 0; i < 4; i++) {
        const double c = cbrt(strips[i].bending / (strips[i].density * 9.81));
        const double drop = -position_in_body(solver, strips[i].name, 3 * 23 + 22).y;
        if (quick())
            assert_true(drop > 0 && drop < 0.1);
        else
            assert_near(drop, elastica_drop(0.1, c), 0.01 * 0.1);
    }
    taut_solver_destroy(solver);
}

static void test_a_rod_bends_and_a_chain_falls(void **context)
{
    (void)context;
    const double inertia = PI / 64 * pow(0.004, 4), area = PI / 4 * 0.004 * 0.004;
    const double c = cbrt(2.7e9 * inertia / (1140 * area * 9.81));
    taut_solver *solver = scene_open("rope-nylon", NULL, NULL);
    advance_to(solver, quick() ? 0.1 : 10);
    const double drop = -position_in_body(solver, "rod", 61).y;
    if (!quick()) {
        assert_near(drop, elastica_drop(1.5, c), 0.01 * 1.5);
        assert_near(position_in_body(solver, "chain", 61).y, -1.5, 0.01);
    }
    assert_true(drop > 0);
    taut_solver_destroy(solver);
}

static void test_a_tablecloth_folds_at_its_corners(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("tablecloth", NULL, NULL);
    advance_to(solver, quick() ? 0.1 : 2);
    const vec3 side = position_in_body(solver, "tablecloth", 30),
               corner = position_in_body(solver, "tablecloth", 0);
    if (!quick()) {
        assert_true(side.y < -0.22 && side.y > -0.26); // 26 cm of it overhang
        assert_true(corner.y < side.y - 0.05);
        assert_near(corner.x, -corner.z, 0.01); // the fold lies in the diagonal
    }
    taut_solver_destroy(solver);
}

// Six tetrahedra of every cell.
static double lattice_volume_of(const taut_solver *solver, const uint64_t n[3], double a)
{
    double sum = 0;
    for (uint64_t k = 0; k + 1 < n[2]; k++)
        for (uint64_t j = 0; j + 1 < n[1]; j++)
            for (uint64_t i = 0; i + 1 < n[0]; i++) {
                vec3 x[8], edges[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
                for (uint64_t c = 0; c < 8; c++) {
                    x[c] = position_of(solver, ((k + (c >> 2)) * n[1] + j + (c >> 1 & 1)) * n[0] +
                                                   i + (c & 1));
                    for (int axis = 0; axis < 3; axis++)
                        edges[axis] =
                            vec3_add(edges[axis], vec3_scale(c >> axis & 1 ? 0.25 : -0.25, x[c]));
                }
                sum += vec3_dot(edges[0], vec3_cross(edges[1], edges[2]));
            }
    return sum / (a * a * a * (double)((n[0] - 1) * (n[1] - 1) * (n[2] - 1)));
}

static void test_gelatine_keeps_its_volume(void **context)
{
    (void)context;
    static const uint64_t n[3] = {33, 17, 17};
    taut_solver *solver = scene_open("gelatine", NULL, NULL);
    advance_to(solver, quick() ? 0.05 : 1.5);
    const vec3 end = position_in_body(solver, "bar", 4784); // its height was 1 cm
    assert_near(lattice_volume_of(solver, n, 0.00125), 1, 0.01);
    if (!quick())
        assert_true(end.y - 0.01 < -0.005);
    taut_solver_destroy(solver);
}

// The wall at rest: with the stretch s its tension K (s^2 - 1) / 2, K = E t / (1 - nu), carries the
// pressure of the gas above that of the atmosphere, p R s = K (s^2 - 1).
static void test_a_rubber_ball_bounces(void **context)
{
    (void)context;
    const double radius = 0.1, k = 1.17e6 * 0.002 / 0.5, built = 4.0 / 3 * PI * pow(radius, 3);
    double low = 1, high = 1.2;
    for (int i = 0; i < 60; i++) {
        const double s = (low + high) / 2;
        const double pressure = 466.3 / (built * s * s * s) - 101325;
        if (pressure * radius * s > k * (s * s - 1))
            low = s;
        else
            high = s;
    }
    taut_solver *solver = scene_open("ball-rubber", NULL, NULL);
    double top = 0, mean = 0;
    int count = 0;
    while (taut_solver_time(solver) < (quick() ? 0.1 : 1.2)) {
        advance(solver, 20);
        if (taut_solver_time(solver) > 0.45)
            top = fmax(top, body_extent(solver, "ball").mean.y);
        if (taut_solver_time(solver) > 0.5 && taut_solver_time(solver) < 0.7) {
            mean += enclosed_volume(solver, "ball");
            count++;
        }
    }
    if (!quick()) {
        assert_true(top > 0.45 && top < 0.6);
        assert_near(mean / count / (built * low * low * low), 1, 0.02);
    }
    taut_solver_destroy(solver);
}

// The times at which the end of the bar passes its mean height.
static void test_a_bar_has_its_natural_frequency(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("bar-vibrates", NULL, NULL);
    const double start = position_in_body(solver, "bar", 3320).y;
    double lowest = start, first = 0, last = 0;
    double before = start;
    int turns = 0;
    while (taut_solver_time(solver) < (quick() ? 0.2 : 6.4)) {
        advance(solver, 20);
        const double now = position_in_body(solver, "bar", 3320).y;
        lowest = fmin(lowest, now);
        const double middle = start - 9.4e-3 * 0.05 / 9.81 * 100; // the sag at rest
        if (before > middle && now <= middle) {
            last = taut_solver_time(solver);
            first = turns++ == 0 ? last : first;
        }
        before = now;
    }
    assert_true(lowest < start);
    if (!quick()) {
        assert_true(turns >= 4);
        assert_near((turns - 1) / (last - first), 0.633725, 0.02 * 0.633725);
    }
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_elastica_is_right),
        cmocka_unit_test(test_strips_bend_as_the_elastica),
        cmocka_unit_test(test_a_rod_bends_and_a_chain_falls),
        cmocka_unit_test(test_a_tablecloth_folds_at_its_corners),
        cmocka_unit_test(test_gelatine_keeps_its_volume),
        cmocka_unit_test(test_a_rubber_ball_bounces),
        cmocka_unit_test(test_a_bar_has_its_natural_frequency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
