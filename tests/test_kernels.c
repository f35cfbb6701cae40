// Grids, packed springs and coloured blocks compared with the plain serial reference, for every
// builder, in both precisions, with and without a tail.
#include "samples.h"

#include <math.h>
#include <stdlib.h>

static double greatest_of(const double *values, uint64_t count)
{
    double greatest = 0;
    for (uint64_t i = 0; i < count; i++)
        greatest = fmax(greatest, fabs(values[i]));
    return greatest;
}

static void assert_all_near(const double *a, const double *b, uint64_t count, double tolerance,
                            const char *name)
{
    for (uint64_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance))
            fail_msg("%s: %.17g and %.17g differ by %g, more than %g", name, a[i], b[i],
                     fabs(a[i] - b[i]), tolerance);
}

// At the start, with springs displaced by `put` (double) or not (single), the forces are the same
// sums in another order: they differ by round-off.
static void compare_forces(const struct sample *sample, const struct plan_options *plan)
{
    struct solver_options reference = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
    struct solver_options coloured = {.config = {.threads = 2}, .plan = *plan};
    taut_solver *a = sample_solver(sample, "double", "symplectic_euler", &reference);
    taut_solver *b = sample_solver(sample, "double", "symplectic_euler", &coloured);
    uint64_t seed = 5, count = taut_solver_node_count(a);
    for (uint64_t i = 0; i < count; i++) {
        vec3 by = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
        vec3 position = vec3_add(position_of(a, i), vec3_scale(0.004, by));
        vec3 velocity = vec3_add(velocity_of(a, i), by);
        put(a, i, position);
        put(b, i, position);
        put_velocity(a, i, velocity);
        put_velocity(b, i, velocity);
    }
    double *expected = all_forces(a), *forces = all_forces(b);
    double greatest = greatest_of(expected, 3 * count);
    assert_true(greatest > 0);
    assert_all_near(forces, expected, 3 * count, 1e-13 * greatest, sample->name);
    free(expected);
    free(forces);
    taut_solver_destroy(a);
    taut_solver_destroy(b);
}

static const struct plan_options plans[] = {
    {.tile_nodes = 0},
    {.tile_nodes = 16, .no_grids = true},
    {.tile_nodes = 16, .colours_allowed = 1, .no_grids = true, .no_packing = true},
    {.tile_nodes = 1, .colours_allowed = 2, .no_grids = true, .no_packing = true},
    {.tile_nodes = 64, .no_grids = true, .no_packing = true}};

static void test_forces_agree_to_round_off(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++)
        for (int p = 0; p < 5; p++)
            compare_forces(&samples[s], &plans[p]);
}

// After some steps forces and positions are still the same except for round-off that has grown
// slightly; in both precisions.
static void compare_runs(const struct sample *sample, const char *precision, double tolerance,
                         const struct plan_options *plan)
{
    struct solver_options reference = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
    struct solver_options coloured = {.config = {.threads = 2}, .plan = *plan};
    taut_solver *a = sample_solver(sample, precision, "symplectic_euler", &reference);
    taut_solver *b = sample_solver(sample, precision, "symplectic_euler", &coloured);
    advance(a, 40);
    advance(b, 40);
    uint64_t count = 3 * taut_solver_node_count(a);
    double *expected = all_positions(a), *positions = all_positions(b);
    assert_all_near(positions, expected, count, tolerance * greatest_of(expected, count),
                    sample->name);
    assert_int_equal(taut_solver_broken_count(a), taut_solver_broken_count(b));
    free(expected);
    free(positions);
    taut_solver_destroy(a);
    taut_solver_destroy(b);
}

static void test_runs_agree_in_double(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++)
        for (int p = 0; p < 3; p++)
            compare_runs(&samples[s], "double", 1e-12, &plans[p]);
}

static void test_runs_agree_in_single(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++)
        for (int p = 0; p < 3; p++)
            compare_runs(&samples[s], "single", 2e-5, &plans[p]);
}

// Single precision agrees with double precision to its rounding.
static void test_single_agrees_with_double(void **state)
{
    (void)state;
    static const char *const integrators[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                              "velocity_verlet", "midpoint",         "rk4"};
    for (size_t s = 0; s < sample_count; s++) {
        const char *integrator = integrators[s % 6];
        taut_solver *a = sample_solver(&samples[s], "double", integrator, NULL);
        taut_solver *b = sample_solver(&samples[s], "single", integrator, NULL);
        advance(a, 40);
        advance(b, 40);
        uint64_t count = 3 * taut_solver_node_count(a);
        double *expected = all_positions(a), *positions = all_positions(b);
        assert_all_near(positions, expected, count, 1e-4 * greatest_of(expected, count),
                        samples[s].name);
        free(expected);
        free(positions);
        taut_solver_destroy(a);
        taut_solver_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_agree_to_round_off),
        cmocka_unit_test(test_runs_agree_in_double),
        cmocka_unit_test(test_runs_agree_in_single),
        cmocka_unit_test(test_single_agrees_with_double),
    };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
