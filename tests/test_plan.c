// The plan: complete and free of conflicts for every builder, with a checker that finds errors; a
// tail when colours run out; the same plan from the same scene.
#include "samples.h"
#include "solver/internals.h"

#include <string.h>

static void assert_sound(const taut_solver *solver, const char *name)
{
    taut_error error = {0};
    if (plan_check(solver_topology(solver), solver_plan(solver), &error) != TAUT_OK)
        fail_msg("%s: %s", name, error.text);
}

static void test_every_builder_gets_a_sound_plan(void **state)
{
    (void)state;
    static const uint32_t tiles[] = {0, 1, 7, 64, 100000};
    for (size_t s = 0; s < sample_count; s++)
        for (int t = 0; t < 5; t++)
            for (int colours = 0; colours <= 2; colours++) {
                struct solver_options options = {.config = {.threads = 1},
                                                 .plan = {.tile_nodes = tiles[t],
                                                          .colours_allowed = colours,
                                                          .no_packing = colours > 0}};
                taut_solver *solver =
                    sample_solver(&samples[s], "single", "symplectic_euler", &options);
                assert_sound(solver, samples[s].name);
                if (colours > 0)
                    assert_true(solver_plan(solver)->springs.colour_count <= colours);
                taut_solver_destroy(solver);
            }
}

static void test_reference_plan_is_the_builders_order(void **state)
{
    (void)state;
    struct solver_options options = {.config = {.threads = 4, .kernel = TAUT_KERNEL_REFERENCE}};
    taut_solver *solver = sample_solver(&samples[7], "double", "symplectic_euler", &options);
    const struct plan_set *springs = &solver_plan(solver)->springs;
    assert_int_equal(springs->block_count, 1);
    for (uint64_t i = 0; i < springs->element_count; i++)
        assert_int_equal(springs->order[i], i);
    assert_int_equal(taut_solver_threads(solver), 1);
    assert_sound(solver, "reference");
    taut_solver_destroy(solver);
}

// Bodies on no grid that follow each other, until there are enough nodes; then a grid, and a body
// without nodes.
static void test_ranges_have_whole_bodies(void **state)
{
    (void)state;
    static const struct plan_nodes bodies[] = {{0, 600},     {600, 423}, {1023, 1}, {1024, 5},
                                               {1029, 2000}, {5000, 10}, {5010, 0}, {5010, 7}};
    static const struct plan_nodes expected[] = {{0, 1024}, {1024, 2005}, {5000, 17}};
    struct plan_nodes ranges[sizeof bodies / sizeof *bodies];
    size_t count = 0;
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++)
        count = plan_ranges_add(ranges, count, bodies[b]);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ranges[i].first, expected[i].first);
        assert_int_equal(ranges[i].count, expected[i].count);
    }
}

static uint32_t tail_of(const struct plan_set *set)
{
    return set->block_count - set->colour_start[set->colour_count];
}

// Every block of a star has the last node: 64 colours have one block each, the rest is the tail.
static void test_star_runs_out_of_colours(void **state)
{
    (void)state;
    struct solver_options options = {.config = {.threads = 1},
                                     .plan = {.tile_nodes = 1, .no_packing = true}};
    taut_solver *solver = star_solver(200, &options);
    assert_int_equal(solver_plan(solver)->springs.colour_count, 64);
    assert_int_equal(tail_of(&solver_plan(solver)->springs), 200 - 64);
    assert_sound(solver, "star");
    taut_solver_destroy(solver);
}

static void test_few_colours_leave_a_tail(void **state)
{
    (void)state;
    for (int colours = 1; colours <= 2; colours++) {
        struct solver_options options = {.config = {.threads = 1},
                                         .plan = {.tile_nodes = 16,
                                                  .colours_allowed = colours,
                                                  .no_grids = true,
                                                  .no_packing = true}};
        taut_solver *solver = sample_solver(&samples[7], "double", "symplectic_euler", &options);
        assert_true(tail_of(&solver_plan(solver)->springs) > 0);
        assert_true(tail_of(&solver_plan(solver)->faces) > 0);
        taut_solver_destroy(solver);
    }
}

// With enough colours there is no tail, and there are many blocks.
static void test_lattice_needs_no_tail(void **state)
{
    (void)state;
    struct solver_options options = {
        .config = {.threads = 1}, .plan = {.tile_nodes = 16, .no_grids = true, .no_packing = true}};
    taut_solver *solver = sample_solver(&samples[7], "double", "symplectic_euler", &options);
    assert_int_equal(tail_of(&solver_plan(solver)->springs), 0);
    assert_true(solver_plan(solver)->springs.colour_count > 2);
    assert_true(solver_plan(solver)->springs.block_count > 20);
    taut_solver_destroy(solver);
}

static void test_same_plan_from_the_same_scene(void **state)
{
    (void)state;
    struct solver_options options = {.config = {.threads = 7},
                                     .plan = {.no_grids = true, .no_packing = true}};
    taut_solver *a = sample_solver(&samples[2], "single", "symplectic_euler", &options);
    taut_solver *b = sample_solver(&samples[2], "double", "rk4", &options);
    const struct plan_set *p = &solver_plan_for_tests(a)->springs, *q = &solver_plan(b)->springs;
    assert_int_equal(p->element_count, taut_solver_spring_count(a));
    assert_int_equal(p->block_count, q->block_count);
    assert_memory_equal(p->order, q->order, (size_t)p->element_count * sizeof *p->order);
    assert_memory_equal(p->blocks, q->blocks, p->block_count * sizeof *p->blocks);
    assert_memory_equal(p->colour_start, q->colour_start, sizeof p->colour_start);
    taut_solver_destroy(a);
    taut_solver_destroy(b);
}

// Springs of a grid are not listed, and faces only if a force acts on them.
static void test_what_needs_no_list(void **state)
{
    (void)state;
    taut_solver *solver = sample_solver(&samples[7], "single", "symplectic_euler", NULL);
    assert_int_equal(solver_plan(solver)->springs.element_count, 0);
    assert_int_equal(solver_plan(solver)->faces.element_count,
                     taut_solver_face_count(solver)); // wind
    taut_solver_destroy(solver);
    solver = solver_of(
        HEADER("symplectic_euler",
               "0.001") "bodies:\n  - {name: b, type: cloth, u: [1,0,0], v: [0,1,0], nodes: [9,8],"
                        " mass: 1, stiffness: 4}\n");
    assert_int_equal(solver_plan(solver)->faces.element_count, 0);
    assert_sound(solver, "no wind");
    taut_solver_destroy(solver);
}

// A body in blocks after one on a grid: the order has builder numbers.
static void test_blocks_behind_a_grid(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler",
        "0.001") "bodies:\n  - {name: a, type: rope, from: [0,0,0], to: [1,0,0], nodes: 50, mass: "
                 "1,"
                 " stiffness: 9}\n  - {name: b, type: cloth, u: [1,0,0], v: [0,1,0], nodes: "
                 "[3,200],"
                 " mass: 1, stiffness: 4}\n  - {name: c, type: ring, center:"
                 " [0,0,0], radius: 2, nodes: 60, mass: 3, stiffness: 10}\n");
    const struct plan_set *springs = &solver_plan(solver)->springs;
    assert_int_equal(springs->element_count, taut_solver_spring_count(solver) - 49);
    for (uint64_t i = 0; i < springs->element_count; i++)
        assert_true(springs->order[i] >= 49);
    assert_sound(solver, "mixed");
    solver_plan_for_tests(solver)->springs.order[0] = 48;
    taut_error error = {0};
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), &error),
                     TAUT_ERROR_ARGUMENT);
    taut_solver_destroy(solver);
}

// Fragile springs are those that may break or yield, by their indices in the plan, ascending.
static void test_fragile_springs(void **state)
{
    (void)state;
    struct solver_options blocks = {.plan = {.no_grids = true}};
    taut_solver *solver = sample_solver(&samples[3], "single", "symplectic_euler", &blocks);
    assert_int_equal(solver_plan(solver)->fragile_count, taut_solver_spring_count(solver));
    assert_int_equal(solver_plan(solver)->state_spring_count, taut_solver_spring_count(solver));
    taut_solver_destroy(solver);
    solver = sample_solver(&samples[2], "single", "symplectic_euler", NULL);
    assert_int_equal(plan_fragile_total(solver_plan(solver)), 0);
    assert_int_equal(solver_plan(solver)->state_spring_count, 0);
    taut_solver_destroy(solver);
}

// Those of grids are not listed, but all springs of such a grid have indices, after those of
// blocks.
static void test_slots_of_grids_with_fragile_springs(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler",
        "0.001") "bodies:\n"
                 "  - {name: a, type: cloth, u: [1,0,0], v: [0,1,0], nodes: [6,5], mass: 1,\n"
                 "     springs: {structural: {stiffness: 4, yield_at: 0.1},\n"
                 "               bend: {stiffness: 1}}}\n"
                 "  - {name: b, type: ring, center: [0,0,0], radius: 2, nodes: 60, mass: 3,\n"
                 "     stiffness: 10, break_at: 2}\n"
                 "  - {name: c, type: rope, from: [0,0,0], to: [1,0,0], nodes: 50, mass: 1,\n"
                 "     stiffness: 9, law: tension_only}\n"
                 "  - {name: d, type: rope, from: [0,0,0], to: [1,0,0], nodes: 20, mass: 1,\n"
                 "     stiffness: 9, break_at: 3}\n");
    const struct plan *plan = solver_plan(solver);
    assert_sound(solver, "memory");
    assert_int_equal(plan->grid_count, 3);
    assert_int_equal(plan->fragile_count, 60);
    uint64_t cloth = 5 * 5 + 6 * 4 + 4 * 5 + 6 * 3;
    assert_true(plan->grids[0].stateful && !plan->grids[1].stateful && plan->grids[2].stateful);
    assert_int_equal(plan->grids[0].first_state_index, 60);
    assert_int_equal(plan->grids[0].directions[0].first_spring, 0);
    assert_int_equal(plan->grids[0].directions[1].first_spring, 5 * 5);
    assert_int_equal(plan->grids[0].directions[3].first_spring, 5 * 5 + 6 * 4 + 4 * 5);
    assert_int_equal(plan->grids[2].first_state_index, 60 + cloth);
    assert_int_equal(plan->state_spring_count, 60 + cloth + 19);
    assert_int_equal(plan_fragile_total(plan), 60 + cloth + 19);
    solver_plan_for_tests(solver)->grids[2].first_state_index++;
    taut_error error = {0};
    assert_int_equal(plan_check(solver_topology(solver), plan, &error), TAUT_ERROR_ARGUMENT);
    taut_solver_destroy(solver);
}

// ---- Damaged plans

static taut_solver *tampered;

static void fresh(void)
{
    taut_solver_destroy(tampered);
    struct solver_options options = {
        .config = {.threads = 1}, .plan = {.tile_nodes = 64, .no_grids = true, .no_packing = true}};
    tampered = sample_solver(&samples[3], "single", "symplectic_euler", &options);
    assert_sound(tampered, "fresh");
}

static void assert_found(const char *reason)
{
    taut_error error = {0};
    assert_int_equal(plan_check(solver_topology(tampered), solver_plan(tampered), &error),
                     TAUT_ERROR_ARGUMENT);
    assert_contains(error.text, reason);
    fresh();
}

static void test_checker_finds_wrong_orders(void **state)
{
    (void)state;
    fresh();
    solver_plan_for_tests(tampered)->springs.order[5] = solver_plan(tampered)->springs.order[6];
    assert_found("is listed twice");
    solver_plan_for_tests(tampered)->springs.order[5] =
        (uint32_t)solver_topology(tampered)->spring_count;
    assert_found("out of range");
    solver_plan_for_tests(tampered)->faces.order[0] = solver_plan(tampered)->faces.order[1];
    assert_found("face");
}

static void test_checker_finds_wrong_blocks(void **state)
{
    (void)state;
    fresh();
    solver_plan_for_tests(tampered)->springs.blocks[1].first++;
    assert_found("gap");
    solver_plan_for_tests(tampered)
        ->springs.blocks[solver_plan_for_tests(tampered)->springs.block_count - 1]
        .count--;
    assert_found("cover");
    solver_plan_for_tests(tampered)->springs.block_count--;
    assert_found("cover");
}

static void test_checker_finds_conflicts(void **state)
{
    (void)state;
    fresh();
    // Two neighbouring tiles with the same colour.
    struct plan_set *set = &solver_plan_for_tests(tampered)->springs;
    assert_true(set->colour_count >= 2);
    set->colour_start[1] = set->colour_start[2];
    assert_found("share node");
    // A spring moved to another block: from the last block of one colour to the first of the next.
    set = &solver_plan_for_tests(tampered)->springs;
    struct plan_block *block = &set->blocks[set->colour_start[1] - 1];
    block->count--;
    block[1].first--;
    block[1].count++;
    assert_found("share node");
}

static void test_checker_finds_wrong_colours(void **state)
{
    (void)state;
    fresh();
    struct plan_set *set = &solver_plan_for_tests(tampered)->springs;
    set->colour_start[set->colour_count + 1]--;
    assert_found("do not cover");
    set = &solver_plan_for_tests(tampered)->springs;
    set->colour_start[1] = set->block_count;
    assert_found(""); // reported as a conflict or as a wrong order
    set = &solver_plan_for_tests(tampered)->faces;
    set->colour_start[0] = 1;
    assert_found("do not cover");
}

static void test_checker_finds_wrong_fragile_lists(void **state)
{
    (void)state;
    fresh();
    solver_plan_for_tests(tampered)->fragile[3] = solver_plan(tampered)->fragile[2];
    assert_found("fragile");
    solver_plan_for_tests(tampered)->fragile[0] =
        (uint32_t)solver_plan(tampered)->springs.element_count;
    assert_found("fragile");
    taut_solver_destroy(tampered);
    tampered = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_builder_gets_a_sound_plan),
        cmocka_unit_test(test_reference_plan_is_the_builders_order),
        cmocka_unit_test(test_ranges_have_whole_bodies),
        cmocka_unit_test(test_star_runs_out_of_colours),
        cmocka_unit_test(test_few_colours_leave_a_tail),
        cmocka_unit_test(test_lattice_needs_no_tail),
        cmocka_unit_test(test_same_plan_from_the_same_scene),
        cmocka_unit_test(test_what_needs_no_list),
        cmocka_unit_test(test_blocks_behind_a_grid),
        cmocka_unit_test(test_fragile_springs),
        cmocka_unit_test(test_slots_of_grids_with_fragile_springs),
        cmocka_unit_test(test_checker_finds_wrong_orders),
        cmocka_unit_test(test_checker_finds_wrong_blocks),
        cmocka_unit_test(test_checker_finds_conflicts),
        cmocka_unit_test(test_checker_finds_wrong_colours),
        cmocka_unit_test(test_checker_finds_wrong_fragile_lists),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
