// Renumbering: a useful permutation of the nodes and of everything that refers to them, which is
// not visible outside.
#include "samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/reorder.h"

enum { NX = 13, NY = 9, NZ = 6, NODES = NX * NY * NZ };

static uint32_t shuffled[NODES]; // the scene's number of each node of the lattice

static void shuffle(void)
{
    uint64_t seed = 9;
    for (uint32_t i = 0; i < NODES; i++)
        shuffled[i] = i;
    for (uint32_t i = NODES; i > 1; i--) {
        uint32_t j = (uint32_t)((next_random(&seed) + 1) / 2 * i), held = shuffled[i - 1];
        shuffled[i - 1] = shuffled[j];
        shuffled[j] = held;
    }
}

static size_t add_springs(char *text, size_t capacity, int x, int y, int z, uint64_t *seed)
{
    static const int steps[][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, 1, 1}};
    size_t length = 0;
    for (int d = 0; d < 5; d++) {
        int to[3] = {x + steps[d][0], y + steps[d][1], z + steps[d][2]};
        double chance = next_random(seed);
        if (to[0] >= NX || to[1] >= NY || to[2] >= NZ || chance > 0.9)
            continue;
        length += (size_t)snprintf(text + length, capacity - length, "[%u,%u,{stiffness: %d%s}],\n",
                                   (unsigned)shuffled[(z * NY + y) * NX + x],
                                   (unsigned)shuffled[(to[2] * NY + to[1]) * NX + to[0]],
                                   chance > 0 ? 60 : 50, chance > 0.6 ? ", break_at: 1.004" : "");
    }
    return length;
}

// A slightly bent and rotated lattice as a shuffled network; node 7 of the scene is driven and 100
// is pinned; also a ball with gas and a rope.
static taut_scene *scene_with(const char *precision, double dt, double bend)
{
    size_t capacity = 1 << 20, node_length = 0, spring_length = 0;
    char *nodes = calloc(capacity, 1), *springs = calloc(capacity, 1);
    char(*positions)[80] = calloc(NODES, sizeof *positions);
    assert_true(nodes && springs && positions);
    uint64_t seed = 4;
    shuffle();
    for (int i = 0; i < NODES; i++) {
        int x = i % NX, y = i / NX % NY, z = i / NX / NY;
        snprintf(positions[shuffled[i]], sizeof *positions, "[%.5f,%.5f,%.5f],\n",
                 0.08 * x - 0.06 * y + bend * next_random(&seed),
                 0.06 * x + 0.08 * y + bend * next_random(&seed),
                 0.1 * z + bend * next_random(&seed));
        spring_length +=
            add_springs(springs + spring_length, capacity - spring_length, x, y, z, &seed);
    }
    for (int i = 0; i < NODES; i++)
        node_length +=
            (size_t)snprintf(nodes + node_length, capacity - node_length, "%s", positions[i]);
    taut_scene *scene = scene_of(
        "precision: %s\nsimulation: {integrator: symplectic_euler, dt: " NUM ", steps: 1}\n"
        "environment: {gravity: [0.5,-9.81,0], wind: {velocity: [3,1,0], law: face}}\n"
        "bodies:\n"
        "- {name: rope, type: rope, from: [0,0,5], to: [1,0,5], nodes: 20, node_mass: 0.01,\n"
        "   springs: {chain: {stiffness: 10}}}\n"
        "- {name: net, type: network, nodes: [%s], node_mass: 0.02, damping: 0.01, pins: [100],\n"
        "   drives: [{node: 7, velocity: [1,0,0]}], springs: [%s]}\n"
        "- {name: ball, type: sphere, center: [0,0,9], radius: 1, subdivisions: 3, mass: 1,\n"
        "   pins: [3], springs: {edges: {stiffness: 50}}%s}\n",
        precision, dt, nodes, springs, dt < 0.1 ? ", pressure: {amount: 20}" : "");
    free(nodes);
    free(springs);
    free(positions);
    return scene;
}

static taut_solver *solver_with(const char *precision, taut_kernel kernel, bool keep_numbering)
{
    struct solver_options options = {.config = {.threads = 2, .kernel = kernel},
                                     .keep_numbering = keep_numbering};
    return solver_from(scene_with(precision, 0.0005, 0.002), &options);
}

static void test_both_directions_are_the_same_permutation(void **state)
{
    (void)state;
    taut_solver *solver = solver_with("single", TAUT_KERNEL_AUTO, false);
    const struct topology *t = solver_topology(solver);
    assert_int_equal(t->first_renumbered, 20); // the rope keeps its numbers
    assert_int_equal(t->renumbered_count, t->node_count - 20);
    uint64_t moved = 0;
    for (uint64_t node = 0; node < t->node_count; node++) {
        uint64_t outside = topology_builder_node(t, node);
        assert_int_equal(topology_internal_node(t, outside), node);
        assert_int_equal(topology_body_of_node(t, outside), topology_body_of_node(t, node));
        moved += outside != node;
    }
    assert_true(moved > NODES);
    for (uint64_t node = 0; node < 20; node++) // the rope
        assert_int_equal(topology_builder_node(t, node), node);
    taut_solver_destroy(solver);
    solver = solver_with("single", TAUT_KERNEL_AUTO, true);
    assert_int_equal(solver_topology(solver)->renumbered_count, 0);
    taut_solver_destroy(solver);
}

// Rows of the lattice: nearly all springs of a direction have the same offset.
static void test_lattices_are_numbered_by_rows(void **state)
{
    (void)state;
    taut_solver *solver = solver_with("single", TAUT_KERNEL_AUTO, false);
    uint64_t near = 0, first = solver_topology(solver)->bodies[1].first_spring;
    for (uint64_t s = first; s < first + solver_topology(solver)->bodies[1].spring_count; s++) {
        struct spring_run spring = topology_spring(solver_topology(solver), s);
        int64_t step = llabs((int64_t)spring.a - (int64_t)spring.b);
        near +=
            step == 1 || step == NX || step == NX * NY || step == NX + 1 || step == NX * NY + NX;
    }
    assert_int_equal(near, solver_topology(solver)->bodies[1].spring_count);
    taut_solver_destroy(solver);
}

static void assert_all_near(const double *a, const double *b, uint64_t count, double tolerance)
{
    for (uint64_t i = 0; i < count; i++)
        assert_near(a[i], b[i], tolerance);
}

// The plain loops follow the springs, which are sorted by their nodes: other sums, the same motion.
static void test_plain_loops_agree(void **state)
{
    (void)state;
    taut_solver *a = solver_with("double", TAUT_KERNEL_REFERENCE, true);
    taut_solver *b = solver_with("double", TAUT_KERNEL_REFERENCE, false);
    advance(a, 50);
    advance(b, 50);
    double *p = all_positions(a), *q = all_positions(b);
    assert_all_near(p, q, 3 * taut_solver_node_count(a), 1e-12);
    assert_true(taut_solver_broken_count(a) > 0);
    assert_int_equal(taut_solver_broken_count(a), taut_solver_broken_count(b));
    free(p);
    free(q);
    taut_solver_destroy(a);
    taut_solver_destroy(b);
}

// Springs are sorted by node, and each is the spring that has its number in the scene.
static void test_springs_are_sorted_after_the_nodes(void **state)
{
    (void)state;
    taut_solver *a = solver_with("double", TAUT_KERNEL_AUTO, true);
    taut_solver *b = solver_with("double", TAUT_KERNEL_AUTO, false);
    const struct topology *s = solver_topology(a), *t = solver_topology(b);
    assert_int_equal(s->sorted_count, 0);
    assert_int_equal(t->sorted_count, t->listed_count);
    uint8_t *seen = calloc((size_t)t->spring_count, 1);
    assert_non_null(seen);
    uint32_t last = 0;
    for (uint64_t i = t->bodies[1].first_spring; i < t->spring_count; i++) {
        struct spring_run own = topology_spring(t, i);
        uint64_t outside = topology_builder_spring(t, i);
        struct spring_run users = topology_spring(s, outside);
        uint32_t lower = own.a < own.b ? own.a : own.b;
        assert_true(lower >= last || i == t->bodies[2].first_spring);
        assert_false(seen[outside]++);
        assert_int_equal(topology_builder_node(t, own.a), users.a);
        assert_int_equal(topology_builder_node(t, own.b), users.b);
        assert_int_equal(own.material, users.material);
        assert_near(own.rest_length, users.rest_length, 1e-15);
        last = lower;
    }
    for (uint64_t i = 0; i < t->bodies[0].spring_count; i++) // the rope
        assert_int_equal(topology_builder_spring(t, i), i);
    free(seen);
    taut_solver_destroy(a);
    taut_solver_destroy(b);
}

enum { WANTED = FRAME_NODES | FRAME_FORCES | FRAME_SPRINGS | FRAME_ENERGY | FRAME_LISTS };

// All fields of a frame that output may request.
static void test_views_show_the_same(void **state)
{
    (void)state;
    taut_solver *a = solver_with("double", TAUT_KERNEL_AUTO, true);
    taut_solver *b = solver_with("double", TAUT_KERNEL_AUTO, false);
    advance(a, 50);
    advance(b, 50);
    struct frame p, q;
    taut_error error = {0};
    assert_int_equal(solver_make_frame(a, WANTED, &p, &error), TAUT_OK);
    assert_int_equal(solver_make_frame(b, WANTED, &q, &error), TAUT_OK);
    solver_read_frame(a, WANTED, &p);
    solver_read_frame(b, WANTED, &q);
    assert_memory_equal(p.springs, q.springs, p.shape.spring_count * sizeof *p.springs);
    assert_memory_equal(p.faces, q.faces, p.shape.face_count * 3 * sizeof *p.faces);
    assert_memory_equal(p.broken, q.broken, p.shape.spring_count);
    assert_all_near(p.positions, q.positions, 3 * p.shape.node_count, 1e-12);
    assert_all_near(p.velocities, q.velocities, 3 * p.shape.node_count, 1e-10);
    assert_all_near(p.forces, q.forces, 3 * p.shape.node_count, 1e-9);
    assert_all_near(p.strains, q.strains, p.shape.spring_count, 1e-11);
    for (size_t body = 0; body < 3; body++)
        assert_near(p.volumes[body], q.volumes[body], 1e-12);
    frame_free(&p);
    frame_free(&q);
    taut_solver_destroy(a);
    taut_solver_destroy(b);
}

static void test_pins_and_drives_have_builder_numbers(void **state)
{
    (void)state;
    taut_solver *solver = solver_with("double", TAUT_KERNEL_AUTO, false);
    uint64_t pinned = 20 + 100, driven = 20 + 7;
    vec3 pin = position_of(solver, pinned), start = position_of(solver, driven);
    advance(solver, 100);
    assert_vector_near(position_of(solver, pinned), pin, 0);
    assert_vector_near(position_of(solver, driven), vec3_add(start, vec3_make(0.05, 0, 0)), 1e-12);
    taut_solver_destroy(solver);
}

static void test_messages_name_the_users_nodes(void **state)
{
    (void)state;
    char texts[2][sizeof((taut_error *)0)->text];
    struct critical_step critical[2];
    for (int keep = 0; keep < 2; keep++) {
        struct solver_options options = {.config = {.threads = 2, .kernel = TAUT_KERNEL_REFERENCE},
                                         .keep_numbering = keep};
        taut_solver *solver = solver_from(scene_with("double", 0.2, 0.002), &options);
        taut_error error = {0};
        assert_int_equal(solver_critical_step(solver, &critical[keep], &error), TAUT_OK);
        assert_int_equal(taut_solver_step(solver, 300, &error), TAUT_ERROR_DIVERGED);
        memcpy(texts[keep], error.text, sizeof error.text);
        taut_solver_destroy(solver);
    }
    assert_string_equal(texts[0], texts[1]);
    assert_int_equal(critical[0].node, critical[1].node);
    assert_int_equal(critical[0].spring, critical[1].spring);
    assert_near(critical[0].omega, critical[1].omega, 1e-12 * critical[0].omega);
}

// Without a lattice, the numbers of joined nodes are still close.
static void test_other_networks_come_near_each_other(void **state)
{
    (void)state;
    struct solver_options options = {.config = {.threads = 1}};
    taut_solver *solver = solver_from(scene_with("single", 0.0005, 0.04), &options);
    uint64_t sum = 0, first = solver_topology(solver)->bodies[1].first_spring;
    uint64_t count = solver_topology(solver)->bodies[1].spring_count;
    for (uint64_t s = first; s < first + count; s++) {
        struct spring_run spring = topology_spring(solver_topology(solver), s);
        sum += (uint64_t)llabs((int64_t)spring.a - (int64_t)spring.b);
    }
    assert_true(sum / count < NY * NZ + 20); // a third of NODES if shuffled
    taut_solver_destroy(solver);
}

// The path 0 - 3 - 1 - 4 - 2, and the separate node 5: numbered from one end to the other.
static void test_graph_order_of_a_path(void **state)
{
    (void)state;
    uint64_t start[] = {0, 1, 3, 4, 6, 8, 8};
    uint32_t items[] = {3, 3, 4, 4, 0, 1, 1, 2};
    uint32_t order[6];
    struct neighbours neighbours = {start, items};
    assert_true(graph_order(&neighbours, 6, order));
    assert_int_equal(order[0], 5);
    bool forward = order[1] == 0;
    static const uint32_t path[] = {0, 3, 1, 4, 2};
    for (int i = 0; i < 5; i++)
        assert_int_equal(order[1 + i], path[forward ? i : 4 - i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_directions_are_the_same_permutation),
        cmocka_unit_test(test_lattices_are_numbered_by_rows),
        cmocka_unit_test(test_plain_loops_agree),
        cmocka_unit_test(test_springs_are_sorted_after_the_nodes),
        cmocka_unit_test(test_views_show_the_same),
        cmocka_unit_test(test_pins_and_drives_have_builder_numbers),
        cmocka_unit_test(test_messages_name_the_users_nodes),
        cmocka_unit_test(test_other_networks_come_near_each_other),
        cmocka_unit_test(test_graph_order_of_a_path),
    };
    return cmocka_run_group_tests_name("reorder", tests, NULL, NULL);
}
