// Parts of a plan (springs/plan_parts.h): every node and tile has one owner, and every spring finds
// both of its ends in the part that computes it, or hands over its reaction.
#include "physics.h"

#include <stdlib.h>

#include "solver/internals.h"
#include "springs/plan_parts.h"

enum { PARTS_MOST = 9 };

struct parts_of {
    taut_solver *solver;
    struct plan_parts *parts;
    struct plan_part part[PARTS_MOST];
};

static struct parts_of divide(taut_solver *solver, int count)
{
    struct parts_of it = {.solver = solver};
    taut_error error;
    const struct topology *topology = solver_topology(solver);
    const struct plan *plan = solver_plan(solver);
    assert_int_equal(plan_parts_make(topology, plan, count, &it.parts, &error), TAUT_OK);
    for (int p = 0; p < count; p++)
        assert_int_equal(plan_part_make(topology, plan, it.parts, p, &it.part[p], &error), TAUT_OK);
    return it;
}

static void release(struct parts_of *it)
{
    for (int p = 0; p < it->parts->count; p++)
        plan_part_free(&it->part[p]);
    plan_parts_free(it->parts);
}

static bool is_inside(uint64_t node, uint64_t first, uint64_t end)
{
    return node >= first && node < end;
}

static bool reads(const struct plan_part *part, uint64_t node)
{
    if (is_inside(node, part->first_node, part->end_node))
        return true;
    for (size_t i = 0; i < part->halo_count; i++)
        if (is_inside(node, part->halo[i].first, part->halo[i].first + part->halo[i].count))
            return true;
    return false;
}

// Whether a part adds the contributions of some tile of another one.
static bool adds_from(const struct parts_of *it, int part, int from)
{
    const struct plan_part *own = &it->part[part];
    for (size_t i = 0; i < own->box_count; i++)
        if (plan_part_of_tile(solver_plan(it->solver), it->parts, own->boxes[i].tile) == from)
            return true;
    return false;
}

static void assert_owners(const struct parts_of *it)
{
    const struct plan_counts counts =
        plan_counts(solver_topology(it->solver), solver_plan(it->solver));
    uint64_t node = 0, tile = 0, chunk = 0, nodes = taut_solver_node_count(it->solver);
    for (int p = 0; p < it->parts->count; p++) {
        const struct plan_part *part = &it->part[p];
        assert_int_equal(part->first_node, node);
        assert_true(part->end_node >= node);
        node = part->end_node;
        if (part->end_tile > part->first_tile) {
            assert_int_equal(part->first_tile, tile);
            tile = part->end_tile;
        }
        assert_int_equal(it->parts->chunk_cuts[p], chunk);
        chunk = it->parts->chunk_cuts[p + 1];
        // The last chunk of its sums is complete.
        const uint64_t end = chunk * SUM_CHUNK < nodes ? chunk * SUM_CHUNK : nodes;
        if (chunk > it->parts->chunk_cuts[p] && end > part->end_node)
            assert_int_equal(part->rest.first + part->rest.count, end);
        for (uint64_t i = part->first_node; i < part->end_node; i++)
            assert_int_equal(plan_part_of_node(it->parts, i), p);
    }
    assert_int_equal(node, nodes);
    assert_int_equal(tile, counts.grid_tiles);
    assert_int_equal(chunk, chunk_count((size_t)nodes));
}

// Returns the number of springs whose ends have two owners.
static uint64_t assert_springs(const struct parts_of *it)
{
    const struct topology *topology = solver_topology(it->solver);
    uint64_t shared = 0;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const bool grid = plan_grid_of_body(solver_plan(it->solver), b);
        for (uint64_t s = body->first_spring; s < body->first_spring + body->spring_count; s++) {
            const struct spring_run run = topology_spring(topology, s);
            const uint64_t low = run.a < run.b ? run.a : run.b,
                           high = run.a < run.b ? run.b : run.a;
            const int first = plan_part_of_node(it->parts, low);
            const int last = plan_part_of_node(it->parts, high);
            if (first == last)
                continue;
            shared++;
            assert_true(reads(&it->part[first], high));
            if (grid)
                assert_true(adds_from(it, last, first));
            else
                assert_true(reads(&it->part[last], low));
        }
    }
    return shared;
}

static void assert_counts(const struct parts_of *it)
{
    struct plan_part_counts counts[PARTS_MOST] = {{0}};
    uint64_t nodes = 0, springs = 0;
    taut_error error;
    assert_int_equal(solver_count_parts(it->solver, it->parts->count, counts, &error), TAUT_OK);
    for (int p = 0; p < it->parts->count; p++) {
        nodes += counts[p].nodes;
        springs += counts[p].springs;
        uint64_t halo = 0;
        for (size_t i = 0; i < it->part[p].halo_count; i++)
            halo += it->part[p].halo[i].count;
        assert_int_equal(counts[p].halo_nodes, halo);
        assert_int_equal(counts[p].halo_nodes + counts[p].contribution_nodes > 0,
                         counts[p].peers > 0);
    }
    assert_int_equal(nodes, taut_solver_node_count(it->solver));
    assert_int_equal(springs, taut_solver_spring_count(it->solver));
}

// `divisible`: into as many parts with nodes.
static void assert_parts(taut_solver *solver, int divisible)
{
    for (int count = 1; count <= PARTS_MOST; count++) {
        struct parts_of it = divide(solver, count);
        assert_owners(&it);
        const uint64_t shared = assert_springs(&it);
        assert_int_equal(shared > 0, count > 1 && divisible > 1);
        assert_counts(&it);
        int filled = 0;
        for (int p = 0; p < count; p++)
            filled += it.part[p].end_node > it.part[p].first_node;
        assert_int_equal(filled, count < divisible ? count : divisible);
        release(&it);
    }
    taut_solver_destroy(solver);
}

#define BODY(text)                                                                                 \
    "simulation: {dt: 1.0e-5, steps: 1}\nbodies:\n"                                                \
    "  - {name: b, " text ", mass: 1, spring: {stiffness: 10}}\n"

static void test_cloth_is_cut_between_tiles(void **state)
{
    (void)state;
    assert_parts(solver_of(BODY("type: cloth, nodes: [200, 210], origin: [0, 0, 0], u: [1, 0, 0], "
                                "v: [0, 0, 1]")),
                 PARTS_MOST);
}

static void test_rope_is_cut_between_tiles(void **state)
{
    (void)state;
    assert_parts(solver_of(BODY("type: rope, from: [0, 0, 0], to: [9, 0, 0], nodes: 40000, "
                                "links: skip")),
                 PARTS_MOST);
}

static void test_lattice_is_cut_between_layers_of_tiles(void **state)
{
    (void)state;
    const char *body = "simulation: {dt: 1.0e-5, steps: 1}\nbodies:\n"
                       "  - {name: b, type: lattice, nodes: [%s], spacing: 0.1, mass: 1, springs: "
                       "{k1: {stiffness: 9}, k2: {stiffness: 4}}}\n";
    assert_parts(solver_of(body, "20, 21, 90"), PARTS_MOST);
    assert_parts(solver_of(body, "12, 13, 11"), 1);
}

static void test_sphere_is_cut_anywhere(void **state)
{
    (void)state;
    assert_parts(solver_of(BODY("type: sphere, center: [0, 0, 0], radius: 1, subdivisions: 5")),
                 PARTS_MOST);
}

static void test_several_bodies_share_parts(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(BODY(
        "type: rope, from: [0, 0, 0], to: [9, 0, 0], nodes: 5000") "  - {name: ball, type: sphere, "
                                                                   "center: [0, 3, 0], radius: 1, "
                                                                   "subdivisions: 4, mass: 1, "
                                                                   "spring: {stiffness: 10}}\n"
                                                                   "  - {name: sheet, type: cloth, "
                                                                   "nodes: [100, 100], origin: [0, "
                                                                   "0, 0], u: [1, 0, 0], "
                                                                   "v: [0, 0, 1], mass: 1, spring: "
                                                                   "{stiffness: 10}}\n");
    for (int count = 1; count <= PARTS_MOST; count++) {
        struct parts_of it = divide(solver, count);
        assert_owners(&it);
        assert_springs(&it);
        assert_counts(&it);
        release(&it);
    }
    taut_solver_destroy(solver);
}

// Parts have the same number of nodes and springs, as far as the size of a tile allows.
static void test_parts_have_the_same_work(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(BODY("type: cloth, nodes: [500, 520], origin: [0, 0, 0], "
                                         "u: [1, 0, 0], v: [0, 0, 1]"));
    struct plan_part_counts counts[4];
    taut_error error;
    assert_int_equal(solver_count_parts(solver, 4, counts, &error), TAUT_OK);
    for (int p = 0; p < 4; p++) {
        assert_true(counts[p].nodes > 260000 / 4 * 9 / 10);
        assert_true(counts[p].nodes < 260000 / 4 * 11 / 10);
        // Two rows after the part, and 2 nodes over their end; contributions of two rows before it.
        assert_int_equal(counts[p].halo_nodes, p < 3 ? 2 * 500 + 2 : 0);
        assert_int_equal(counts[p].contribution_nodes, p > 0 ? 2 * 500 : 0);
        assert_int_equal(counts[p].peers, (p > 0) + (p < 3));
    }
    taut_solver_destroy(solver);
}

// ---- Springs that may break, faces in blocks, and contacts

static void assert_reads_run(const struct plan_part *part, const struct spring_run *run)
{
    for (uint64_t i = 0; i < run->count; i++) {
        assert_true(reads(part, run->a + i));
        assert_true(reads(part, run->b + i));
    }
}

// Every chunk is counted once, and evaluated by every part that has a node of it.
static void assert_fragile(const struct parts_of *it)
{
    const struct topology *topology = solver_topology(it->solver);
    const struct plan *plan = solver_plan(it->solver);
    const uint64_t count = plan_fragile_total(plan);
    for (uint64_t first = 0; first < count; first += SUM_CHUNK) {
        const uint64_t end = first + SUM_CHUNK < count ? first + SUM_CHUNK : count;
        int counting = 0;
        for (int p = 0; p < it->parts->count; p++) {
            const struct plan_part *part = &it->part[p];
            bool evaluates = false, has_node = false;
            for (size_t i = 0; i < part->fragile_count; i++)
                if (part->fragile[i].number == first / SUM_CHUNK) {
                    evaluates = true;
                    counting += part->fragile[i].counts;
                }
            for (uint64_t at = first; at < end;) {
                const struct spring_run run = plan_fragile_run(topology, plan, at, end);
                for (uint64_t i = 0; i < run.count; i++)
                    has_node |= is_inside(run.a + i, part->first_node, part->end_node) ||
                                is_inside(run.b + i, part->first_node, part->end_node);
                if (evaluates)
                    assert_reads_run(part, &run);
                at += run.count;
            }
            assert_true(evaluates || !has_node);
        }
        assert_int_equal(counting, 1);
    }
    assert_true(count > 0);
}

// A part computes all blocks of faces with nodes of its own, and reads all of their nodes.
static void assert_face_blocks(const struct parts_of *it)
{
    const struct topology *topology = solver_topology(it->solver);
    const struct plan_set *set = &solver_plan(it->solver)->faces;
    assert_true(set->block_count > 1);
    for (int p = 0; p < it->parts->count; p++)
        for (uint32_t b = 0; b < set->block_count; b++) {
            const struct plan_block *block = &set->blocks[b];
            const struct plan_part *part = &it->part[p];
            bool has_node = false;
            for (uint64_t i = block->first; i < block->first + block->count; i++) {
                const struct face face =
                    topology_face(topology, plan_block_face(solver_plan(it->solver), i));
                for (int corner = 0; corner < 3; corner++) {
                    has_node |= is_inside(face.nodes[corner], part->first_node, part->end_node);
                    if (part->face_blocks[block->number])
                        assert_true(reads(part, face.nodes[corner]));
                }
            }
            assert_int_equal(part->face_blocks[block->number], has_node);
        }
}

// Whole blocks of contacts and chunks of sums; none without nodes.
static void assert_touched(const struct parts_of *it)
{
    const uint64_t nodes = taut_solver_node_count(it->solver);
    for (int p = 0; p < it->parts->count; p++) {
        const struct plan_part *part = &it->part[p];
        if (part->first_node == part->end_node) {
            assert_int_equal(part->first_touched, part->end_touched);
            assert_int_equal(part->rest_before.count + part->rest.count, 0);
            continue;
        }
        assert_int_equal(part->first_touched % PART_NODES, 0);
        assert_true(part->end_touched % PART_NODES == 0 || part->end_touched == nodes);
        assert_true(part->first_touched <= part->first_node);
        assert_true(part->first_touched + PART_NODES > part->first_node);
        assert_true(part->end_touched >= part->end_node);
        for (uint64_t node = part->first_touched; node < part->end_touched; node++)
            assert_true(reads(part, node));
        assert_int_equal(part->rest_before.first + part->rest_before.count, part->first_node);
        assert_int_equal(part->rest_before.count, part->first_node - part->first_touched);
        assert_int_equal(part->rest.first + part->rest.count, part->end_touched);
    }
}

static void test_a_part_reads_what_it_computes(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        "simulation: {dt: 1.0e-5, steps: 1}\n"
        "environment: {wind: {velocity: [1, 0, 0], law: face, coefficient: 0.1}}\n"
        "bodies:\n"
        "  - {name: sheet, type: cloth, nodes: [97, 101], origin: [0, 0, 0], u: [1, 0, 0], "
        "v: [0, 0, 1], mass: 1, spring: {stiffness: 10, break_at: 2}}\n"
        "  - {name: ball, type: sphere, center: [0, 3, 0], radius: 1, subdivisions: 4, mass: 1, "
        "spring: {stiffness: 10, yield_at: 0.5}}\n"
        "colliders:\n  - {type: plane, point: [0, -1, 0], stiffness: 10}\n");
    for (int count = 1; count <= PARTS_MOST; count++) {
        struct parts_of it = divide(solver, count);
        assert_fragile(&it);
        assert_face_blocks(&it);
        assert_touched(&it);
        release(&it);
    }
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cloth_is_cut_between_tiles),
        cmocka_unit_test(test_rope_is_cut_between_tiles),
        cmocka_unit_test(test_lattice_is_cut_between_layers_of_tiles),
        cmocka_unit_test(test_sphere_is_cut_anywhere),
        cmocka_unit_test(test_several_bodies_share_parts),
        cmocka_unit_test(test_parts_have_the_same_work),
        cmocka_unit_test(test_a_part_reads_what_it_computes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
