// Grids: found where springs are regular and nowhere else, for rows of every length, and verified
// by the plan's checker; their kernels agree with the plain loops.
#include "samples.h"
#include "solver/internals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct plan_grid *grid_of(const taut_solver *solver)
{
    taut_error error = {0};
    if (plan_check(solver_topology(solver), solver_plan(solver), &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return plan_grid_of_body(solver_plan(solver), 0);
}

static void expect_directions(const char *body, int directions)
{
    taut_solver *solver = solver_of(HEADER("symplectic_euler", "0.001") "bodies:\n  - %s\n", body);
    const struct plan_grid *grid = grid_of(solver);
    if (!grid)
        fail_msg("no grid: %s", body);
    assert_int_equal(grid ? grid->direction_count : 0, directions);
    assert_int_equal(solver_plan(solver)->springs.block_count, 0);
    assert_string_equal(solver_body_kernel(solver, 0), "grid");
    taut_solver_destroy(solver);
}

static void test_regular_bodies_are_grids(void **state)
{
    (void)state;
#define ROPE  "{name: b, type: rope, from: [0,0,0], to: [4,0,0], nodes: 20, node_mass: 1, "
#define CLOTH "{name: b, type: cloth, u: [1,0,0], v: [0.2,1,0], nodes: [9,8], mass: 1, "
#define JELLY "{name: b, type: lattice, nodes: [8,5,4], spacing: 0.1, mass: 1, stiffness: 9, "
    expect_directions(ROPE "stiffness: 5}", 1);
    expect_directions(ROPE "stiffness: 5, links: skip}", 2);
    expect_directions(CLOTH "springs: {structural: {stiffness: 4}}}", 2);
    expect_directions(CLOTH "stiffness: 4, rotate: [10, 20, 30], translate: [1e3, 0, 0]}", 6);
    expect_directions(JELLY "shells: 1}", 13);
    expect_directions(JELLY "shells: 2}", 26);
    expect_directions(ROPE "stiffness: 5, law: tension_only}", 1);
    expect_directions(CLOTH "stiffness: 5, break_at: 2}", 6);
    expect_directions(JELLY "shells: 1, yield_at: 0.5, law: compression_only}", 13);
}

static void expect_none(const char *body)
{
    taut_solver *solver = solver_of(HEADER("symplectic_euler", "0.001") "bodies:\n  - %s\n", body);
    if (grid_of(solver))
        fail_msg("a grid: %s", body);
    assert_true(solver_plan(solver)->springs.element_count == taut_solver_spring_count(solver));
    assert_string_equal(solver_body_kernel(solver, 0), "packed");
    taut_solver_destroy(solver);
}

static void test_others_are_not(void **state)
{
    (void)state;
    expect_none(ROPE "stiffness: 5, links: all}");
    expect_none("{name: b, type: rope, from: [0,0,0], to: [4,0,0], nodes: 3, node_mass: 1, "
                "stiffness: 5}");
    expect_none("{name: b, type: sphere, center: [0,0,0], radius: 1, subdivisions: 2, mass: 1, "
                "stiffness: 5}");
}

// A network with the nodes and springs of the solver's first body, in the same order.
static taut_solver *as_network(const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    size_t capacity = 100 * (size_t)(topology->node_count + topology->spring_count), length = 0;
    char *nodes = calloc(capacity, 1), *springs = calloc(capacity, 1);
    assert_non_null(nodes);
    assert_non_null(springs);
    for (uint64_t i = 0; i < topology->node_count; i++) {
        vec3 p = position_of(solver, i);
        length += (size_t)snprintf(nodes + length, capacity - length, "%s[%.17g,%.17g,%.17g]",
                                   i ? "," : "", p.x, p.y, p.z);
    }
    length = 0;
    for (uint64_t s = 0; s < topology->spring_count; s++) {
        struct spring_run spring = topology_spring(topology, s);
        length +=
            (size_t)snprintf(springs + length, capacity - length, "%s[%lu,%lu,{stiffness: %g}]",
                             s ? "," : "", (unsigned long)spring.a, (unsigned long)spring.b,
                             topology->materials[spring.material].stiffness);
    }
    taut_solver *made =
        solver_of(HEADER("symplectic_euler",
                         "0.001") "bodies:\n"
                                  "  - {name: n, type: network, nodes: [%s], node_mass: 1,\n"
                                  "     springs: [%s]}\n",
                  nodes, springs);
    free(nodes);
    free(springs);
    return made;
}

static bool finds_grid(const struct topology *topology, struct plan_grid *grid)
{
    bool found;
    assert_int_equal(grid_find(topology, 0, false, NULL, grid, &found, NULL), TAUT_OK);
    return found;
}

static const struct direction *direction_like(const struct plan_grid *grid,
                                              const struct direction *wanted)
{
    for (int d = 0; d < grid->direction_count; d++) {
        const struct direction *it = &grid->directions[d];
        if (it->dx == wanted->dx && it->dy == wanted->dy && it->dz == wanted->dz)
            return it;
    }
    fail_msg("no direction (%d, %d, %d)", wanted->dx, wanted->dy, wanted->dz);
    return NULL;
}

static void swap_springs(struct topology *topology, uint64_t i, uint64_t j)
{
    for (int end = 0; end < 2; end++) {
        uint32_t held = topology->springs[i][end];
        topology->springs[i][end] = topology->springs[j][1 - end];
        topology->springs[j][1 - end] = held;
    }
    uint32_t material = topology->spring_material[i];
    topology->spring_material[i] = topology->spring_material[j];
    topology->spring_material[j] = material;
    double rest = topology->rest_double[i];
    topology->rest_double[i] = topology->rest_double[j];
    topology->rest_double[j] = rest;
}

// Lists of the same springs make the same grid in any order, unless one spring is different: every
// spring is checked.
static void test_one_odd_spring_is_seen(void **state)
{
    (void)state;
    taut_solver *cloth = solver_of(HEADER("symplectic_euler", "0.001") "bodies:\n  - %s\n", CLOTH
                                   "springs: {structural: {stiffness: 4}, shear: {stiffness: 5}}}");
    taut_solver *solver = as_network(cloth);
    struct topology *topology = solver_topology_for_tests(solver);
    struct plan_grid grid, listed;
    assert_true(finds_grid(solver_topology(cloth), &grid));
    memcpy(topology->bodies[0].grid, solver_topology(cloth)->bodies[0].grid,
           sizeof topology->bodies[0].grid);
    for (uint64_t i = 0; i < topology->listed_count; i++)
        swap_springs(topology, i, i * 61 % topology->listed_count);
    assert_true(finds_grid(topology, &listed));
    assert_int_equal(listed.direction_count, grid.direction_count);
    for (int d = 0; d < grid.direction_count; d++) {
        const struct direction *found = direction_like(&listed, &grid.directions[d]);
        assert_int_equal(found->offset, grid.directions[d].offset);
        assert_near(found->rest_length, grid.directions[d].rest_length, 1e-15);
    }
    topology->rest_double[100] *= 1.001;
    assert_false(finds_grid(topology, &grid));
    topology->rest_double[100] /= 1.001;
    uint32_t end = topology->springs[40][1];
    topology->springs[40][1] = end + 1; // the end of another row, or a duplicate
    assert_false(finds_grid(topology, &grid));
    topology->springs[40][1] = end;
    uint32_t other[2];
    memcpy(other, topology->springs[41], sizeof other);
    memcpy(topology->springs[41], topology->springs[42], sizeof other); // one twice, one missing
    assert_false(finds_grid(topology, &grid));
    memcpy(topology->springs[41], other, sizeof other);
    assert_true(finds_grid(topology, &grid));
    uint64_t of_another = 0;
    while (topology->spring_material[of_another] == topology->spring_material[7])
        of_another++;
    topology->spring_material[7] = topology->spring_material[of_another];
    assert_false(finds_grid(topology, &grid));
    taut_solver_destroy(solver);
    // A plan whose grid was changed afterwards.
    solver_topology(cloth)->directions[2].rest_length *= 1.001;
    assert_int_not_equal(plan_check(solver_topology(cloth), solver_plan(cloth), NULL), TAUT_OK);
    taut_solver_destroy(cloth);
}

static void disturb(taut_solver *solver, uint64_t seed)
{
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 by = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
        put(solver, i, vec3_add(position_of(solver, i), vec3_scale(0.02, by)));
        put_velocity(solver, i, by);
    }
}

static void compare_with_plain_springs(const char *body, int isa)
{
    struct solver_options plain = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
    struct solver_options grid = {.config = {.threads = 2, .isa = (taut_isa)(TAUT_ISA_BASE + isa)}};
    const char *text = HEADER("symplectic_euler", "0.001") "bodies:\n  - %s\n";
    taut_solver *a = solver_from(scene_of(text, body), &plain);
    taut_solver *b = solver_from(scene_of(text, body), &grid);
    assert_non_null(grid_of(b));
    disturb(a, 3);
    disturb(b, 3);
    put(a, 1, position_of(a, 0)); // a spring without length
    put(b, 1, position_of(b, 0));
    assert_same_forces(a, b, 1e-13);
    taut_solver_destroy(a);
    taut_solver_destroy(b);
}

// Rows that end in every lane of a register, and rows longer than a register; with each damping
// law.
static void test_rows_of_every_length(void **state)
{
    (void)state;
    static const char *const damping[] = {"damping: 0", "damping: 0.7",
                                          "damping: 0.7, damping_law: full"};
    for (int isa = 0; isa < ISA_COUNT; isa++)
        for (int nodes = 4; isa_available((enum isa)isa) && nodes < 36; nodes++) {
            char body[300];
            snprintf(body, sizeof body,
                     "{name: b, type: cloth, u: [%g, 0, 0], v: [0, 0.4, 0], nodes: [%d, 5], "
                     "mass: 1, stiffness: 30, %s}",
                     0.1 * (nodes - 1), nodes, damping[nodes % 3]);
            compare_with_plain_springs(body, isa);
        }
}

static void test_lattices(void **state)
{
    (void)state;
    for (int isa = 0; isa < ISA_COUNT; isa++)
        for (int shells = 1; isa_available((enum isa)isa) && shells <= 2; shells++) {
            char body[300];
            snprintf(body, sizeof body,
                     "{name: b, type: lattice, nodes: [%d, 4, 5], spacing: 0.1, mass: 1, "
                     "shells: %d, stiffness: 30, damping: %d}",
                     9 + isa, shells, shells - 1);
            compare_with_plain_springs(body, isa);
        }
}

// The work of damping: the energy budget of a grid compared with that of the plain loops, on every
// instruction set.
static void test_work_of_damping(void **state)
{
    (void)state;
    static const char *const bodies[] = {CLOTH "stiffness: 30, damping: 0.7}",
                                         CLOTH "stiffness: 30, damping: 0.7, damping_law: full}",
                                         JELLY "shells: 2, damping: 1}",
                                         ROPE "stiffness: 5, damping: 2}"};
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++)
        for (int isa = -1; isa < ISA_COUNT; isa++) {
            struct solver_options plain = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
            struct solver_options grid = {
                .config = {.threads = 2, .isa = (taut_isa)(TAUT_ISA_BASE + isa)}};
            if (isa >= 0 && !isa_available((enum isa)isa))
                continue;
            taut_solver *solvers[2];
            struct work_done work[2];
            for (int s = 0; s < 2; s++) {
                solvers[s] = solver_from(
                    scene_of(HEADER("symplectic_euler", "1e-5") "bodies:\n  - %s\n", bodies[b]),
                    s ? &grid : &plain);
                disturb(solvers[s], 4);
                advance(solvers[s], 20);
                work[s] = work_of(solvers[s]);
                taut_solver_destroy(solvers[s]);
            }
            assert_true(work[0].damping > 0);
            assert_near(work[1].damping, work[0].damping, 1e-12 * work[0].damping);
        }
}

// Forces between two nodes are exactly opposite, though they are computed separately at each end.
static void test_momentum_is_kept(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER("symplectic_euler", "0.001") "bodies:\n  - %s\n",
                                    JELLY "shells: 2, damping: 1}");
    disturb(solver, 9);
    double *forces = all_forces(solver), sum[3] = {0}, greatest = 0;
    for (uint64_t i = 0; i < 3 * taut_solver_node_count(solver); i++) {
        sum[i % 3] += forces[i];
        greatest = fmax(greatest, fabs(forces[i]));
    }
    for (int axis = 0; axis < 3; axis++)
        assert_near(sum[axis], 0, 1e-12 * greatest);
    free(forces);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regular_bodies_are_grids),
        cmocka_unit_test(test_others_are_not),
        cmocka_unit_test(test_one_odd_spring_is_seen),
        cmocka_unit_test(test_rows_of_every_length),
        cmocka_unit_test(test_lattices),
        cmocka_unit_test(test_work_of_damping),
        cmocka_unit_test(test_momentum_is_kept),
    };
    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
