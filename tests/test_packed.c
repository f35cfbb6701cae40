// Packed springs: a network with springs and damping of every law, springs that break and yield,
// and a hub. Compared with the plain reference; the same bits on every instruction set, for every
// number of threads and every size of tiles; and a checker that finds errors.
#include "samples.h"
#include "solver/internals.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 20, NY = 7, NZ = 5, NODES = NX * NY * NZ + 1, HUB = NODES - 1, HUB_ARMS = 300 };

// In one of four rows of nodes all springs along the row have one material, and become columns with
// one offset; elsewhere every spring has one of these materials, and some springs are omitted.
static const char *const materials[] = {
    "{stiffness: 90, damping: 0.02}",
    "{stiffness: 70, damping: 0.03, damping_law: full}",
    "{stiffness: 60, damping: 0.01, law: tension_only}",
    "{stiffness: 50, law: compression_only, rest_length: 0.12}",
    "{stiffness: 80, damping: 0.02, damping_law: full, law: tension_only, rest_length: 0.09}",
    "{stiffness: 40, break_at: 1.03}",
    "{stiffness: 40, yield_at: 0.004}",
    "{stiffness: 30, rest_length: 0}",
};

struct text {
    char *at;
    size_t length, capacity;
};

static void add_text(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written =
        vsnprintf(text->at + text->length, text->capacity - text->length, format, arguments);
    va_end(arguments);
    assert_true(written > 0 && text->length + (size_t)written < text->capacity);
    text->length += (size_t)written;
}

static void add_springs_of(struct text *text, int x, int y, int z, uint64_t *seed)
{
    static const int steps[][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                   {1, 1, 0}, {0, 1, 1}, {1, 0, 1}};
    int from = (z * NY + y) * NX + x;
    bool plain = y % 4 == 0;
    for (int d = 0; d < 6; d++) {
        int to[3] = {x + steps[d][0], y + steps[d][1], z + steps[d][2]};
        double chance = (next_random(seed) + 1) / 2;
        if (to[0] >= NX || to[1] >= NY || to[2] >= NZ || (!plain && chance > 0.85))
            continue;
        int material = plain && d == 0 ? 0 : (int)(chance / 0.85 * 7.99) % 8;
        add_text(text, "[%d,%d,%s],\n", from, (to[2] * NY + to[1]) * NX + to[0],
                 materials[material]);
    }
}

static taut_scene *tangle(const char *precision)
{
    struct text nodes = {calloc(1 << 20, 1), 0, 1 << 20},
                springs = {calloc(1 << 20, 1), 0, 1 << 20};
    assert_true(nodes.at && springs.at);
    uint64_t seed = 77;
    for (int i = 0; i < NODES - 1; i++) {
        int x = i % NX, y = i / NX % NY, z = i / NX / NY;
        add_text(&nodes, "[%.4f,%.4f,%.4f],\n", 0.1 * x + 0.01 * next_random(&seed),
                 0.1 * y + 0.01 * next_random(&seed), 0.1 * z + 0.01 * next_random(&seed));
        add_springs_of(&springs, x, y, z, &seed);
    }
    for (int arm = 0; arm < HUB_ARMS; arm++)
        add_text(&springs, "[%d,%d,%s],\n", arm * 2, HUB, materials[arm % 2]);
    taut_scene *scene = scene_of(
        "precision: %s\nsimulation: {dt: 0.0005, steps: 1}\n"
        "environment: {gravity: [0.3,-9.81,0]}\n"
        "bodies: [{name: tangle, type: network, nodes: [%s[1,0.3,-0.5]], node_mass: 0.02,\n"
        "  pins: [0, 5, 300], velocity: [0.5,0,0.1], springs: [%s]}]\n",
        precision, nodes.at, springs.at);
    free(nodes.at);
    free(springs.at);
    return scene;
}

static taut_solver *tangle_solver(const char *precision, const struct solver_options *options)
{
    return solver_from(tangle(precision), options);
}

static const struct solver_options reference = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
static const struct solver_options packed = {.config = {.threads = 2}, .plan = {.tile_nodes = 64}};

// The network reaches all paths of the kernel.
static void test_every_path_is_reached(void **state)
{
    (void)state;
    taut_solver *solver = tangle_solver("single", &packed);
    const struct plan_packed *plan = &solver_plan(solver)->packed;
    uint64_t steps = 0, gathered = 0;
    for (uint64_t c = 0; c < plan->column_count; c++) {
        steps += plan->columns[c].step != 0;
        gathered += plan->columns[c].step == 0;
    }
    assert_true(steps > 10);
    assert_true(gathered > 100);
    assert_true(plan->mixed_count > 50 && plan->mixed_count < gathered);
    assert_true(plan->tile_count > 5);
    assert_true(plan->tiles[2].halo_count > 5);
    assert_int_equal(plan->tiles[2].own_records, 64);
    assert_true(plan->overflow_count > HUB_ARMS / 2);
    assert_string_equal(solver_body_kernel(solver, 0), "packed");
    taut_solver_destroy(solver);
}

static double greatest_difference(const double *a, const double *b, uint64_t count)
{
    double greatest = 0;
    for (uint64_t i = 0; i < count; i++)
        greatest = fmax(greatest, fabs(a[i] - b[i]));
    return greatest;
}

static void test_forces_agree_with_the_reference(void **state)
{
    (void)state;
    taut_solver *a = tangle_solver("double", &reference), *b = tangle_solver("double", &packed);
    uint64_t seed = 3;
    for (uint64_t i = 0; i < NODES; i++) {
        vec3 velocity = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
        put_velocity(a, i, velocity);
        put_velocity(b, i, velocity);
    }
    put(a, 40, position_of(a, 41)); // a spring of length 0
    put(b, 40, position_of(b, 41));
    double *expected = all_forces(a), *forces = all_forces(b);
    assert_true(greatest_difference(forces, expected, 3 * NODES) < 1e-12 * 100);
    assert_true(fabs(expected[3 * 41]) > 1e-3);
    free(expected);
    free(forces);
    taut_solver_destroy(a);
    taut_solver_destroy(b);
}

static void test_runs_agree_with_the_reference(void **state)
{
    (void)state;
    static const char *const precisions[] = {"double", "single"};
    static const double tolerances[] = {1e-11, 1e-4};
    for (int p = 0; p < 2; p++) {
        taut_solver *a = tangle_solver(precisions[p], &reference);
        taut_solver *b = tangle_solver(precisions[p], &packed);
        advance(a, 120);
        advance(b, 120);
        double *expected = all_positions(a), *positions = all_positions(b);
        assert_true(greatest_difference(positions, expected, 3 * NODES) < tolerances[p]);
        assert_true(taut_solver_broken_count(a) > 5);
        assert_int_equal(taut_solver_broken_count(a), taut_solver_broken_count(b));
        free(expected);
        free(positions);
        taut_solver_destroy(a);
        taut_solver_destroy(b);
    }
}

// Other numbers of threads make other tiles, which must not change the bits either.
static uint64_t hash_of(const void *precision, const struct solver_options *options)
{
    static const uint32_t tiles[] = {0, 64, 16, 300};
    struct solver_options with_tiles = *options;
    with_tiles.plan.tile_nodes = tiles[options->config.threads % 4];
    taut_solver *solver = tangle_solver(precision, &with_tiles);
    advance(solver, 40);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits(void **state)
{
    (void)state;
    assert_same_hashes(hash_of, "single");
    assert_same_hashes(hash_of, "double");
}

// Both ends of a spring get opposite forces.
static void test_momentum_is_kept(void **state)
{
    (void)state;
    taut_solver *solver = tangle_solver("double", &packed);
    double *forces = all_forces(solver);
    double sum[3] = {0, 0, 0};
    for (int i = 0; i < 3 * NODES; i++)
        sum[i % 3] += forces[i];
    assert_near(sum[0], NODES * 0.02 * 0.3, 1e-11);
    assert_near(sum[1], NODES * 0.02 * -9.81, 1e-11);
    assert_near(sum[2], 0, 1e-11);
    free(forces);
    taut_solver_destroy(solver);
}

static void assert_found(taut_solver *solver)
{
    taut_error error = {0};
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), &error),
                     TAUT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "packed"));
    taut_solver_destroy(solver);
}

static struct packed_column *column_of(taut_solver *solver, bool step)
{
    struct plan_packed *plan = &solver_plan_for_tests(solver)->packed;
    for (uint64_t c = 0; c < plan->column_count; c++)
        if ((plan->columns[c].step != 0) == step && plan->columns[c].material != PACKED_MIXED)
            return &plan->columns[c];
    fail_msg("there is no such column");
    return NULL;
}

static void test_checker_finds_what_is_wrong(void **state)
{
    (void)state;
    taut_error error = {0};
    taut_solver *solver = tangle_solver("single", &packed);
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), &error), TAUT_OK);
    column_of(solver, true)->step++;
    assert_found(solver);
    solver = tangle_solver("single", &packed);
    column_of(solver, true)->lanes ^= 8;
    assert_found(solver);
    solver = tangle_solver("single", &packed);
    column_of(solver, false)->material++;
    assert_found(solver);
    solver = tangle_solver("single", &packed);
    struct packed_column *column = column_of(solver, false);
    for (int lane = 0; lane < PACKED_LANES; lane++)
        solver_plan_for_tests(solver)->packed.ends[column->group][lane] ^= PACKED_SCALE;
    assert_found(solver);
    solver = tangle_solver("single", &packed);
    solver_plan_for_tests(solver)->packed.overflow[1].other++;
    assert_found(solver);
    solver = tangle_solver("single", &packed);
    solver_plan_for_tests(solver)->packed.tiles[1].node_count--;
    assert_found(solver);
    solver = tangle_solver("single", &packed);
    solver_plan_for_tests(solver)->packed.tiles[1].own_records = 0;
    assert_found(solver);
    solver = tangle_solver("single", &packed);
    solver_plan_for_tests(solver)->packed.tile_count--;
    assert_found(solver);
}

// scenes/wheel.yaml: a node has so many springs that some find no columns.
static void test_a_scene_has_late_springs(void **state)
{
    (void)state;
    taut_scene *scene;
    taut_error error = {0};
    assert_int_equal(taut_scene_load(TAUT_TEST_SOURCE "/scenes/wheel.yaml", NULL, &scene, &error),
                     TAUT_OK);
    taut_solver *solver = solver_from(scene, &packed);
    assert_int_equal(solver_plan(solver)->packed.overflow_count, 72 - 1);
    advance(solver, 200);
    assert_true(position_of(solver, 0).y < -0.001); // it sags
    assert_vector_near(position_of(solver, 72), vec3_make(0, 0, 0), 0);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_path_is_reached),
        cmocka_unit_test(test_forces_agree_with_the_reference),
        cmocka_unit_test(test_runs_agree_with_the_reference),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_momentum_is_kept),
        cmocka_unit_test(test_a_scene_has_late_springs),
        cmocka_unit_test(test_checker_finds_what_is_wrong),
    };
    return cmocka_run_group_tests_name("packed", tests, NULL, NULL);
}
