// Networks that are complete lattices become grids, whatever the order of their nodes and springs,
// and move as before; with one spring missing, or one of another material or rest length, they do
// not.
#include "samples.h"
#include "solver/internals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "simd/isa.h"

enum { NX = 9, NY = 8, NZ = 7, NODES = NX * NY * NZ, SPRINGS_MAX = 13 * NODES, ODD = 1234 };

enum oddity { WHOLE, MISSING, OTHER_MATERIAL, OTHER_REST };

struct lattice {
    uint32_t number[NODES]; // the scene's number of each node of the lattice
    uint32_t springs[SPRINGS_MAX][2];
    int count;
};

static void add_springs(struct lattice *lattice, int i)
{
    int x = i % NX, y = i / NX % NY, z = i / NX / NY;
    for (int d = 14; d < 27; d++) { // 13 is no offset; those before it point backwards
        int to[3] = {x + d % 3 - 1, y + d / 3 % 3 - 1, z + d / 9 - 1};
        if (to[0] < 0 || to[1] < 0 || to[0] >= NX || to[1] >= NY || to[2] >= NZ)
            continue;
        lattice->springs[lattice->count][0] = lattice->number[i];
        lattice->springs[lattice->count++][1] = lattice->number[(to[2] * NY + to[1]) * NX + to[0]];
    }
}

static uint32_t below(uint64_t *seed, uint32_t bound)
{
    return (uint32_t)((next_random(seed) + 1) / 2 * bound);
}

static void fill(struct lattice *lattice, bool shuffled)
{
    uint64_t seed = 11;
    lattice->count = 0;
    for (uint32_t i = 0; i < NODES; i++)
        lattice->number[i] = i;
    for (uint32_t i = NODES; shuffled && i > 1; i--) {
        uint32_t j = below(&seed, i), held = lattice->number[i - 1];
        lattice->number[i - 1] = lattice->number[j];
        lattice->number[j] = held;
    }
    for (int i = 0; i < NODES; i++)
        add_springs(lattice, i);
    for (uint32_t i = (uint32_t)lattice->count; shuffled && i > 1; i--) {
        uint32_t j = below(&seed, i), turn = below(&seed, 2);
        uint32_t held[2] = {lattice->springs[i - 1][turn], lattice->springs[i - 1][1 - turn]};
        for (int end = 0; end < 2; end++) {
            lattice->springs[i - 1][end] = lattice->springs[j][end];
            lattice->springs[j][end] = held[end];
        }
    }
}

static char *springs_text(const struct lattice *lattice, enum oddity oddity)
{
    size_t capacity = 64 * SPRINGS_MAX, length = 0;
    char *text = calloc(capacity, 1);
    assert_non_null(text);
    for (int s = 0; s < lattice->count; s++) {
        const uint32_t *ends = lattice->springs[s];
        if (s == ODD && oddity == MISSING)
            continue;
        const char *own = s != ODD                   ? ""
                          : oddity == OTHER_MATERIAL ? ",{stiffness: 61}"
                          : oddity == OTHER_REST     ? ",{rest_length: 0.09}"
                                                     : "";
        length += (size_t)snprintf(text + length, capacity - length, "[%lu,%lu%s],\n",
                                   (unsigned long)ends[0], (unsigned long)ends[1], own);
    }
    return text;
}

static char *nodes_text(const struct lattice *lattice)
{
    size_t capacity = 80 * NODES, length = 0;
    char *text = calloc(capacity, 1);
    static int at[NODES]; // the lattice's node for each number
    assert_non_null(text);
    for (int i = 0; i < NODES; i++)
        at[lattice->number[i]] = i;
    for (int node = 0; node < NODES; node++) {
        int x = at[node] % NX, y = at[node] / NX % NY, z = at[node] / NX / NY;
        length += (size_t)snprintf(text + length, capacity - length, "[%.5f,%.5f,%.5f],\n",
                                   0.08 * x - 0.06 * y, 0.06 * x + 0.08 * y, 0.1 * z);
    }
    return text;
}

static taut_solver *network(struct lattice *lattice, const char *precision, bool shuffled,
                            enum oddity oddity, const struct solver_options *options)
{
    fill(lattice, shuffled);
    char *nodes = nodes_text(lattice), *springs = springs_text(lattice, oddity);
    taut_solver *solver = solver_from(
        scene_of("precision: %s\n"
                 "simulation: {integrator: symplectic_euler, dt: 0.001, steps: 1}\n"
                 "bodies:\n"
                 "- {name: rope, type: rope, from: [0,0,5], to: [1,0,5], nodes: 21,\n"
                 "   node_mass: 0.01, stiffness: 10}\n"
                 "- {name: net, type: network, nodes: [%s], node_mass: 0.02, stiffness: 60,\n"
                 "   damping: 0.01, pins: [%lu], springs: [%s]}\n",
                 precision, nodes, (unsigned long)lattice->number[NODES / 2], springs),
        options);
    free(nodes);
    free(springs);
    return solver;
}

static const struct solver_options auto_kernel = {.config = {.threads = 2}};

static void test_whole_ones_are_grids(void **state)
{
    (void)state;
    static struct lattice lattice;
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        taut_solver *solver = network(&lattice, "single", shuffled, WHOLE, &auto_kernel);
        taut_error error = {0};
        if (plan_check(solver_topology(solver), solver_plan(solver), &error) != TAUT_OK)
            fail_msg("%s", error.text);
        const struct plan_grid *grid = plan_grid_of_body(solver_plan(solver), 1);
        assert_non_null(grid);
        assert_int_equal(grid->direction_count, 13);
        assert_int_equal(grid->nx, NX);
        assert_int_equal(grid->ny, NY);
        assert_int_equal(grid->nz, NZ);
        assert_int_equal(solver_topology(solver)->renumbered_count > 0, shuffled);
        assert_string_equal(solver_body_kernel(solver, 1), "grid");
        taut_solver_destroy(solver);
    }
}

static void test_others_are_none(void **state)
{
    (void)state;
    static struct lattice lattice;
    for (enum oddity oddity = MISSING; oddity <= OTHER_REST; oddity++)
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            taut_solver *solver = network(&lattice, "single", shuffled, oddity, &auto_kernel);
            assert_null(plan_grid_of_body(solver_plan(solver), 1));
            assert_string_equal(solver_body_kernel(solver, 1), "packed");
            assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL),
                             TAUT_OK);
            taut_solver_destroy(solver);
        }
}

// Shuffled or not, as a grid or with the plain loops.
static void test_motion_is_the_same(void **state)
{
    (void)state;
    static struct lattice first, lattice;
    struct solver_options plain = {.config = {.threads = 1, .kernel = TAUT_KERNEL_REFERENCE}};
    taut_solver *truth = network(&first, "double", false, WHOLE, &plain);
    put_velocity(truth, 21 + 17, vec3_make(1, -2, 3));
    advance(truth, 100);
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        taut_solver *solver = network(&lattice, "double", shuffled, WHOLE, &auto_kernel);
        put_velocity(solver, 21 + lattice.number[17], vec3_make(1, -2, 3));
        advance(solver, 100);
        for (int i = 0; i < NODES; i++) {
            assert_vector_near(position_of(solver, 21 + lattice.number[i]),
                               position_of(truth, 21 + i), 1e-12);
            assert_vector_near(velocity_of(solver, 21 + lattice.number[i]),
                               velocity_of(truth, 21 + i), 1e-10);
        }
        assert_near(energy_of(solver).elastic, energy_of(truth).elastic, 1e-12);
        taut_solver_destroy(solver);
    }
    taut_solver_destroy(truth);
}

static void test_bits_are_the_same_everywhere(void **state)
{
    (void)state;
    static struct lattice lattice;
    uint64_t expected = 0;
    for (enum isa isa = 0; isa < ISA_COUNT; isa++)
        for (int threads = 1; threads <= 4 && isa_available(isa); threads++) {
            struct solver_options options = {
                .config = {.threads = threads, .isa = (taut_isa)(TAUT_ISA_BASE + isa)}};
            taut_solver *solver = network(&lattice, "single", true, WHOLE, &options);
            advance(solver, 20);
            uint64_t hash = taut_solver_hash(solver);
            expected = isa == 0 && threads == 1 ? hash : expected;
            assert_true(hash == expected);
            taut_solver_destroy(solver);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_ones_are_grids),
        cmocka_unit_test(test_others_are_none),
        cmocka_unit_test(test_motion_is_the_same),
        cmocka_unit_test(test_bits_are_the_same_everywhere),
    };
    return cmocka_run_group_tests_name("network_grid", tests, NULL, NULL);
}
