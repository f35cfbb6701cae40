// Springs in coloured blocks, computed by the vector kernel: compared with the plain loop over the
// same blocks (the same bits) and with the reference (another order of sums), on networks, meshes
// and grids; the same bits on every instruction set and for every number of threads; overflow of
// colours and groups; a checker that finds errors.
#include "samples.h"
#include "solver/internals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Springs and damping of every law between random nodes in a box, with a hub.
enum { NODES = 900, SPRINGS = 4 * (NODES - 1), HUB_ARMS = 150 };

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
static const char *const undamped[] = {"{stiffness: 90}", "{stiffness: 60, law: tension_only}",
                                       "{stiffness: 50, law: compression_only}"};

// Springs reach at most 40 nodes ahead, so that blocks are neighbours of few others.
static taut_scene *tangle(const char *precision, bool damped)
{
    size_t capacity = 1 << 20, nodes_length = 0, springs_length = 0;
    char *nodes = calloc(capacity, 1), *springs = calloc(capacity, 1);
    assert_true(nodes && springs);
    uint64_t seed = 99;
    for (int i = 0; i < NODES; i++)
        nodes_length +=
            (size_t)snprintf(nodes + nodes_length, capacity - nodes_length, "[%.4f,%.4f,%.4f],\n",
                             0.01 * i, 0.2 * next_random(&seed), 0.2 * next_random(&seed));
    for (int i = 0; i < SPRINGS + HUB_ARMS; i++) {
        // Each node has four springs: one to the next ten nodes, one to the ten after these, and so
        // on.
        const bool arm = i >= SPRINGS;
        const int a = arm ? (i - SPRINGS) * 2 : i % (NODES - 1);
        const int ahead = 1 + i / (NODES - 1) * 10 + (int)((next_random(&seed) + 1) / 2 * 9.99);
        const int b = arm ? NODES - 1 : a + ahead;
        if (!arm && b >= NODES - 1)
            continue;
        const char *material = damped ? materials[i / 40 % 8] : undamped[i / 40 % 3];
        if (i % 7 == 0) // some registers have several materials
            material = damped ? materials[i % 8] : undamped[i % 3];
        springs_length += (size_t)snprintf(springs + springs_length, capacity - springs_length,
                                           "[%d,%d,%s],\n", a, b, material);
    }
    assert_true(nodes_length + 200 < capacity && springs_length + 200 < capacity);
    taut_scene *scene =
        scene_of("precision: %s\nsimulation: {dt: 0.0005, steps: 1}\n"
                 "environment: {gravity: [0.3,-9.81,0]}\n"
                 "bodies: [{name: tangle, type: network, nodes: [%s], node_mass: 0.02,\n"
                 "  pins: [0, 5, 300], velocity: [0.5,0,0.1], springs: [%s]}]\n",
                 precision, nodes, springs);
    free(nodes);
    free(springs);
    return scene;
}

static const struct solver_options reference = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
static const struct solver_options coloured = {
    .config = {.threads = 2, .kernel = TAUT_KERNEL_COLOURED}, .plan = {.tile_nodes = 64}};
// The same blocks, computed by the plain loop.
static const struct solver_options plain = {
    .config = {.threads = 2},
    .plan = {.tile_nodes = 64, .no_packing = true, .no_spring_grids = true}};

static const struct plan_coloured *groups_of(const taut_solver *solver)
{
    return &solver_plan(solver)->coloured;
}

static uint32_t overflow_of(const taut_solver *solver)
{
    const struct plan_set *set = &solver_plan(solver)->springs;
    return set->block_count - set->colour_start[set->colour_count];
}

// The network reaches all paths of the kernel.
static void test_every_path_is_reached(void **state)
{
    (void)state;
    taut_solver *solver = solver_from(tangle("single", true), &coloured);
    const struct plan_coloured *plan = groups_of(solver);
    assert_true(plan->block_count > 8);
    assert_true(solver_plan(solver)->springs.colour_count >= 2);
    uint64_t full = 0, single = 0;
    for (uint64_t g = 0; g < plan->group_count; g++) {
        uint64_t springs = plan->group_start[g + 1] - plan->group_start[g];
        full += springs >= 16;
        single += springs == 1;
    }
    assert_true(full > 20 && single > 20); // because of the hub
    assert_string_equal(solver_body_kernel(solver, 0), "coloured");
    taut_error error = {0};
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), &error), TAUT_OK);
    taut_solver_destroy(solver);
}

static void assert_same_run(taut_scene *(*make)(const char *, bool), const char *precision,
                            bool damped, struct solver_options a, struct solver_options b)
{
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa))
            continue;
        b.config.isa = (taut_isa)(TAUT_ISA_BASE + isa);
        taut_solver *p = solver_from(make(precision, damped), &a);
        taut_solver *q = solver_from(make(precision, damped), &b);
        advance(p, 60);
        advance(q, 60);
        assert_int_equal(taut_solver_hash(p), taut_solver_hash(q));
        assert_int_equal(taut_solver_broken_count(p), taut_solver_broken_count(q));
        if (damped)
            assert_true(taut_solver_broken_count(p) > 5);
        taut_solver_destroy(p);
        taut_solver_destroy(q);
    }
}

static void test_same_bits_as_the_plain_loop(void **state)
{
    (void)state;
    assert_same_run(tangle, "single", true, plain, coloured);
    assert_same_run(tangle, "single", false, plain, coloured);
    assert_same_run(tangle, "double", true, plain, coloured);
    assert_same_run(tangle, "double", false, plain, coloured);
}

static double greatest_difference(const double *a, const double *b, uint64_t count)
{
    double greatest = 0;
    for (uint64_t i = 0; i < count; i++)
        greatest = fmax(greatest, fabs(a[i] - b[i]));
    return greatest;
}

// Networks, meshes, and grids whose springs are listed.
static void test_agrees_with_the_reference(void **state)
{
    (void)state;
    static const uint32_t tiles[] = {0, 16};
    for (size_t s = 0; s < sample_count; s++)
        for (int t = 0; t < 2; t++) {
            struct solver_options options = coloured;
            options.plan.tile_nodes = tiles[t];
            taut_solver *a = sample_solver(&samples[s], "double", "symplectic_euler", &reference);
            taut_solver *b = sample_solver(&samples[s], "double", "symplectic_euler", &options);
            const struct plan *plan = solver_plan(b);
            assert_int_equal(plan->grid_count, 0);
            assert_int_equal(plan->springs.element_count, taut_solver_spring_count(b));
            taut_error error = {0};
            if (plan_check(solver_topology(b), plan, &error) != TAUT_OK)
                fail_msg("%s: %s", samples[s].name, error.text);
            uint64_t count = 3 * taut_solver_node_count(a);
            double *expected = all_forces(a), *forces = all_forces(b);
            double scale = 1;
            for (uint64_t i = 0; i < count; i++)
                scale = fmax(scale, fabs(expected[i]));
            if (greatest_difference(forces, expected, count) > 1e-12 * scale)
                fail_msg("%s: forces differ", samples[s].name);
            free(expected);
            free(forces);
            advance(a, 40);
            advance(b, 40);
            double *positions_a = all_positions(a), *positions_b = all_positions(b);
            if (greatest_difference(positions_a, positions_b, count) > 1e-9)
                fail_msg("%s: positions differ", samples[s].name);
            free(positions_a);
            free(positions_b);
            taut_solver_destroy(a);
            taut_solver_destroy(b);
        }
}

// Numbers of threads that the plan was not made for, up to 8.
static uint64_t hash_of(const void *precision, const struct solver_options *options)
{
    struct solver_options all = *options;
    all.config.kernel = TAUT_KERNEL_COLOURED;
    all.config.threads = options->config.threads * 2;
    all.plan.tile_nodes = 32;
    taut_solver *solver = solver_from(tangle(precision, true), &all);
    advance(solver, 30);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static uint64_t hash_of_odd(const void *precision, const struct solver_options *options)
{
    struct solver_options odd = *options;
    odd.config.threads = options->config.threads * 2 - 1;
    odd.config.kernel = TAUT_KERNEL_COLOURED;
    odd.plan.tile_nodes = 32;
    taut_solver *solver = solver_from(tangle(precision, true), &odd);
    advance(solver, 30);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits_for_all_threads_and_instruction_sets(void **state)
{
    (void)state;
    static const struct solver_options one = {.config = {.threads = 1, .isa = TAUT_ISA_BASE}};
    assert_same_hashes(hash_of, "single");
    assert_same_hashes(hash_of, "double");
    assert_same_hashes(hash_of_odd, "single");
    assert_int_equal(hash_of("single", &one), hash_of_odd("single", &one));
}

// Every block of a star has the last node: beyond 64 colours blocks run one after the other.
static void test_overflow(void **state)
{
    (void)state;
    struct solver_options options = coloured, same = plain;
    options.plan.tile_nodes = same.plan.tile_nodes = 1;
    taut_solver *solver = star_solver(200, &options), *other = star_solver(200, &same);
    assert_int_equal(overflow_of(solver), 200 - 64);
    taut_error error = {0};
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), &error), TAUT_OK);
    advance(solver, 100);
    advance(other, 100);
    assert_int_equal(taut_solver_hash(solver), taut_solver_hash(other));
    taut_solver_destroy(solver);
    taut_solver_destroy(other);

    // Few colours, many springs.
    options.plan = (struct plan_options){.tile_nodes = 16, .colours_allowed = 1};
    same.plan = options.plan;
    same.plan.no_packing = same.plan.no_spring_grids = true;
    solver = solver_from(tangle("single", true), &options);
    other = solver_from(tangle("single", true), &same);
    assert_true(overflow_of(solver) > 10);
    advance(solver, 40);
    advance(other, 40);
    assert_int_equal(taut_solver_hash(solver), taut_solver_hash(other));
    taut_solver_destroy(solver);
    taut_solver_destroy(other);
}

// A block with more nodes than there are records is computed by the plain loop.
static void test_block_without_records(void **state)
{
    (void)state;
    struct solver_options options = coloured, same = plain;
    options.plan.tile_nodes = same.plan.tile_nodes = 100000;
    taut_solver *solver = star_solver(COLOURED_LOCAL_MAX + 10, &options);
    taut_solver *other = star_solver(COLOURED_LOCAL_MAX + 10, &same);
    assert_int_equal(groups_of(solver)->block_count, 1);
    assert_int_equal(groups_of(solver)->blocks[0].local_count, 0);
    taut_error error = {0};
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), &error), TAUT_OK);
    advance(solver, 20);
    advance(other, 20);
    assert_int_equal(taut_solver_hash(solver), taut_solver_hash(other));
    taut_solver_destroy(solver);
    taut_solver_destroy(other);
}

static void assert_found(taut_solver *solver)
{
    taut_error error = {0};
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), &error),
                     TAUT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "coloured"));
    taut_solver_destroy(solver);
}

static taut_solver *to_damage(struct plan_coloured **plan)
{
    taut_solver *solver = solver_from(tangle("single", true), &coloured);
    *plan = &solver_plan_for_tests(solver)->coloured;
    return solver;
}

static void test_checker_finds_what_is_wrong(void **state)
{
    (void)state;
    struct plan_coloured *plan;
    taut_solver *solver = to_damage(&plan);
    plan->ends[0][7] ^= COLOURED_SCALE;
    assert_found(solver);
    solver = to_damage(&plan);
    plan->group_start[plan->blocks[1].first_group + 1]++; // takes the first spring of the next
                                                          // group
    assert_found(solver);
    solver = to_damage(&plan);
    plan->group_start[plan->blocks[1].first_group]++;
    assert_found(solver);
    solver = to_damage(&plan);
    plan->blocks[2].group_count--;
    assert_found(solver);
    solver = to_damage(&plan);
    plan->blocks[0].damped = false;
    assert_found(solver);
    solver = to_damage(&plan);
    plan->locals[1] = plan->locals[0];
    assert_found(solver);
    solver = to_damage(&plan);
    plan->block_count--;
    assert_found(solver);
    solver_plan_for_tests(solver = to_damage(&plan))->coloured.locals[3]++;
    assert_found(solver);
}

// Kernels by name: the accepted and the rejected ones.
static void test_kernels_by_name(void **state)
{
    (void)state;
    static const char cloth[] =
        "bodies:\n  - {name: b, type: cloth, u: [1,0,0], v: [0,1,0], nodes: [9,8],"
        " mass: 1, stiffness: 4}\n";
    static const char *const names[] = {"grid", "reference", "packed", "grid", "coloured"};
    for (int kernel = 0; kernel_choice_name(kernel); kernel++) {
        struct solver_options options = {.config = {.kernel = (taut_kernel)kernel}};
        taut_solver *solver =
            solver_from(scene_of(HEADER("symplectic_euler", "0.001") "%s", cloth), &options);
        assert_string_equal(solver_body_kernel(solver, 0), names[kernel]);
        assert_int_equal(solver_kernel(solver), kernel);
        taut_solver_destroy(solver);
    }
    taut_error error = {0};
    taut_solver *solver = NULL;
    taut_scene *scene = tangle("single", true);
    struct solver_options options = {.config = {.kernel = TAUT_KERNEL_GRID}};
    assert_int_equal(solver_create(scene, &options, &solver, &error), TAUT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "nor has 'tangle' (network); choose auto, packed or"));
    taut_scene_destroy(scene);
    scene = scene_of(HEADER("xpbd", "0.001") "%s", cloth);
    options.config.kernel = TAUT_KERNEL_PACKED;
    assert_int_equal(solver_create(scene, &options, &solver, &error), TAUT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "kernel packed: the integrator xpbd"));
    options.config.kernel = TAUT_KERNEL_COLOURED;
    assert_int_equal(solver_create(scene, &options, &solver, &error), TAUT_OK);
    taut_solver_destroy(solver);
    taut_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_path_is_reached),
        cmocka_unit_test(test_same_bits_as_the_plain_loop),
        cmocka_unit_test(test_agrees_with_the_reference),
        cmocka_unit_test(test_same_bits_for_all_threads_and_instruction_sets),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_block_without_records),
        cmocka_unit_test(test_checker_finds_what_is_wrong),
        cmocka_unit_test(test_kernels_by_name),
    };
    return cmocka_run_group_tests_name("coloured", tests, NULL, NULL);
}
