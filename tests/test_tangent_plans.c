// Products with the tangent of the forces: the same bits for every number of threads and every
// instruction set, and the same to rounding for every plan.
#include "tangent_fixture.h"

#include <stdlib.h>

#include "base/hash.h"
#include "samples.h"
#include "solver/internals.h"

struct precise {
    const struct sample *sample;
    bool single;
};

static uint64_t product_hash(const void *context, const struct solver_options *options)
{
    const struct precise *it = context;
    taut_solver *solver =
        sample_solver(it->sample, it->single ? "single" : "double", "symplectic_euler", options);
    advance(solver, 20);
    uint64_t count = taut_solver_node_count(solver);
    struct hash hash;
    hash_begin(&hash);
    double *p = random_vector(solver, false, 9);
    double *out = calloc((size_t)count * 6, sizeof *out);
    assert_non_null(out);
    for (int definite = 0; definite < 2; definite++)
        for (int blocks = 0; blocks < 2; blocks++) {
            struct product both = {definite != 0, 0.7, 1.3};
            const double *in = blocks ? NULL : p;
            if (it->single)
                tangent_product_f32(solver, both, in, out);
            else
                tangent_product_f64(solver, both, in, out);
            hash_add(&hash, out, (size_t)count * (blocks ? 6 : 3) * sizeof *out);
        }
    free(p);
    free(out);
    taut_solver_destroy(solver);
    return hash_end(&hash);
}

static void test_same_bits_whoever_computes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sample_count; i++)
        for (int single = 0; single < 2; single++) {
            struct precise it = {&samples[i], single != 0};
            assert_same_hashes(product_hash, &it);
        }
}

// Every plan gives the product of the plain loops to rounding, on every sample.
static void test_plans_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sample_count; i++) {
        struct solver_options plain = {.config = {.threads = 1}, .keep_numbering = true};
        struct solver_options packed = plain, fast = plain;
        plain.config.kernel = TAUT_KERNEL_REFERENCE;
        packed.plan.no_grids = true;
        const struct solver_options *all[] = {&plain, &packed, &fast};
        double *out[3], *p = NULL;
        uint64_t count = 0;
        for (int k = 0; k < 3; k++) {
            taut_solver *solver = sample_solver(&samples[i], "double", "symplectic_euler", all[k]);
            count = 3 * taut_solver_node_count(solver);
            advance(solver, 20);
            if (!p)
                p = random_vector(solver, false, 9);
            out[k] = product_of(solver, (struct product){false, 0.7, 1.3}, p);
            taut_solver_destroy(solver);
        }
        for (int k = 1; k < 3; k++)
            assert_vectors_near(samples[i].name, out[k], out[0], count, 1e-9);
        for (int k = 0; k < 3; k++)
            free(out[k]);
        free(p);
    }
}

// Springs without a column, at a node with far more springs than its neighbours.
static void test_late_springs(void **state)
{
    (void)state;
    struct solver_options options[2] = {{.config = {.threads = 2}, .keep_numbering = true},
                                        {.config = {.threads = 1}, .keep_numbering = true}};
    options[1].config.kernel = TAUT_KERNEL_REFERENCE;
    double *out[2][2];
    uint64_t count = 0;
    for (int k = 0; k < 2; k++) {
        taut_solver *solver = star_solver(300, &options[k]);
        assert_true(k == 1 || solver_plan(solver)->packed.overflow_count > 0);
        count = taut_solver_node_count(solver);
        double *p = random_vector(solver, false, 9);
        for (int blocks = 0; blocks < 2; blocks++) {
            out[k][blocks] = calloc((size_t)count * 6, sizeof(double));
            assert_non_null(out[k][blocks]);
            tangent_product_f32(solver, (struct product){true, 0.7, 1.3}, blocks ? NULL : p,
                                out[k][blocks]);
        }
        free(p);
        taut_solver_destroy(solver);
    }
    assert_vectors_near("star", out[0][0], out[1][0], 3 * count, 1e-5);
    assert_vectors_near("star's blocks", out[0][1], out[1][1], 6 * count, 1e-5);
    for (int k = 0; k < 4; k++)
        free(out[k / 2][k % 2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_whoever_computes),
        cmocka_unit_test(test_plans_agree),
        cmocka_unit_test(test_late_springs),
    };
    return cmocka_run_group_tests_name("tangent_plans", tests, NULL, NULL);
}
