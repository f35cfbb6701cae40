// Rings of the nodes of closed surfaces: verified by the plan's checker; volume and gas computed
// with them equal those of the plain loops over faces, with the same bits on every instruction set
// and number of threads.
#include "physics.h"
#include "solver/internals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BALL(name, x, subdivisions)                                                                \
    "{name: " name ", type: sphere, center: [" x                                                   \
    ",0.1,0.2], radius: 1, subdivisions: " subdivisions                                            \
    ", node_mass: 1,\n  springs: {edges: {stiffness: 1}}, pressure: {amount: 60}}"

static taut_solver *solver_with(const char *body, const struct solver_options *options)
{
    return solver_from(scene_of(HEADER("symplectic_euler", "0.001") "bodies:\n  - %s\n", body),
                       options);
}

static bool has_rings(const char *body)
{
    taut_solver *solver = solver_with(body, NULL);
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL), TAUT_OK);
    bool found = plan_rings_of_body(solver_plan(solver), 0) != NULL;
    taut_solver_destroy(solver);
    return found;
}

static void test_who_has_rings(void **state)
{
    (void)state;
    assert_true(has_rings(BALL("b", "0", "0")));
    assert_true(has_rings(BALL("b", "0", "4")));
    assert_false(has_rings("{name: b, type: sphere, center: [0,0,0], radius: 1, subdivisions: 1,\n"
                           "  node_mass: 1, springs: {edges: {stiffness: 1}}}"));
    assert_false(has_rings("{name: b, type: ring, center: [0,0,0], radius: 1, nodes: 9, mass: 1,\n"
                           "  springs: {edges: {stiffness: 1}}, pressure: {amount: 1}}"));
    // Most of its nodes are inside.
    assert_false(
        has_rings("{name: b, type: lattice, origin: [0,0,0], nodes: [12,12,12], mass: 1,\n"
                  "  spacing: 0.1, springs: {k1: {stiffness: 1}}, pressure: {amount: 1}}"));
    struct solver_options plain = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
    taut_solver *solver = solver_with(BALL("b", "0", "1"), &plain);
    assert_null(plan_rings_of_body(solver_plan(solver), 0));
    taut_solver_destroy(solver);
}

// A plan that still has the rings from which columns were made.
static struct plan *plan_of(const taut_solver *solver)
{
    struct plan *plan;
    struct plan_options options = {0};
    assert_int_equal(plan_make(solver_topology(solver), &options, NULL, &plan, NULL), TAUT_OK);
    return plan;
}

// The checker finds a wrong neighbour, a wrong node of the halo, a wrong face, a missing node.
static void test_checker_finds_wrong_rings(void **state)
{
    (void)state;
    taut_solver *solver = solver_with(BALL("b", "0", "4"), NULL);
    struct plan *plan = plan_of(solver);
    struct plan_rings *rings = &plan->rings[0];
    assert_true(rings->tile_count > 2);
    assert_true(rings->halo_count > 0);
    uint16_t entry = rings->entries[30];
    rings->entries[30] = (uint16_t)(entry + 4);
    assert_int_not_equal(plan_check(solver_topology(solver), plan, NULL), TAUT_OK);
    rings->entries[30] = UINT16_MAX;
    assert_int_not_equal(plan_check(solver_topology(solver), plan, NULL), TAUT_OK);
    rings->entries[30] = entry;
    uint32_t node = rings->halo[3];
    rings->halo[3] = node + 1;
    assert_int_not_equal(plan_check(solver_topology(solver), plan, NULL), TAUT_OK);
    rings->halo[3] = node;
    uint32_t *face = solver_topology(solver)->faces[11], corner = face[0];
    face[0] = face[1];
    face[1] = corner;
    assert_int_not_equal(plan_check(solver_topology(solver), plan, NULL), TAUT_OK);
    face[1] = face[0];
    face[0] = corner;
    rings->tiles[rings->tile_count - 1].node_count--;
    assert_int_not_equal(plan_check(solver_topology(solver), plan, NULL), TAUT_OK);
    rings->tiles[rings->tile_count - 1].node_count++;
    assert_int_equal(plan_check(solver_topology(solver), plan, NULL), TAUT_OK);
    plan_free(plan);
    taut_solver_destroy(solver);
}

// Whether some tile, few of whose columns gather, makes records only of the nodes that these read.
static bool some_records(const struct plan_packed *packed)
{
    for (uint64_t t = 0; t < packed->tile_count; t++) {
        const struct packed_tile *tile = &packed->tiles[t];
        for (uint64_t i = 0; i < tile->halo_count && tile->own_records == 0; i++) {
            uint32_t node = packed->halo[tile->first_halo + i];
            if (node >= tile->first_node && node < tile->first_node + tile->node_count)
                return true;
        }
    }
    return false;
}

// Packing a ball gives columns for its rings, most of which need no gathering, and the checker
// finds a neighbour that leads elsewhere, and a ring that is cut short.
static void test_ring_columns_and_their_checker(void **state)
{
    (void)state;
    taut_solver *solver = solver_with(BALL("b", "0", "4"), NULL);
    struct plan_packed *packed = &solver_plan_for_tests(solver)->packed;
    assert_non_null(packed_ring_tiles(packed, solver_topology(solver), 0));
    assert_true(packed->alternatives_count > 0);
    uint64_t straight = 0;
    for (uint64_t c = 0; c < packed->column_count; c++)
        straight += packed->columns[c].step != 0;
    assert_true(2 * straight > packed->column_count);
    assert_true(some_records(packed));
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL), TAUT_OK);
    packed->alternatives[0].step[0]++;
    assert_int_not_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL), TAUT_OK);
    packed->alternatives[0].step[0]--;
    packed->chunk_rings[3] -= 1;
    assert_int_not_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL), TAUT_OK);
    packed->chunk_rings[3] += 1;
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL), TAUT_OK);
    taut_solver_destroy(solver);
}

static void crumple(taut_solver *solver, double by)
{
    uint64_t seed = 17;
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 move = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
        put(solver, i, vec3_add(position_of(solver, i), vec3_scale(by, move)));
    }
}

static void compare_with_plain_faces(const char *body, int isa, double crumpled)
{
    struct solver_options plain = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
    struct solver_options rings = {
        .config = {.threads = 2, .isa = (taut_isa)(TAUT_ISA_BASE + isa)}};
    taut_solver *a = solver_with(body, &plain), *b = solver_with(body, &rings);
    assert_int_equal(plan_check(solver_topology(b), solver_plan(b), NULL), TAUT_OK);
    crumple(a, crumpled);
    crumple(b, crumpled);
    assert_same_forces(a, b, 1e-12);
    double volume = taut_solver_body_volume(a, 0);
    assert_near(taut_solver_body_volume(b, 0), volume, 1e-12 * fabs(volume));
    taut_solver_destroy(a);
    taut_solver_destroy(b);
}

static void test_gas_is_that_of_faces(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        BALL("b", "0", "0"), BALL("b", "3", "2"), BALL("b", "0", "4"),
        "{name: b, type: lattice, origin: [0,0,0], nodes: [2,3,4],\n"
        "  spacing: 0.5, mass: 1, springs: {k1: {stiffness: 1}},\n"
        "  pressure: {amount: 1, atmosphere: 0.2}}",
        "{name: b, type: lattice, origin: [0,0,0], nodes: [3,3,3],\n"
        "  spacing: 0.5, mass: 1, springs: {k1: {stiffness: 1}},\n"
        "  pressure: {amount: 1, volume: box}}"};
    for (int isa = 0; isa < ISA_COUNT; isa++)
        for (size_t b = 0; isa_available((enum isa)isa) && b < sizeof bodies / sizeof *bodies; b++)
            compare_with_plain_faces(bodies[b], isa, 0.01);
}

// A body far from the origin keeps its volume, since differences are computed first.
static void test_far_away(void **state)
{
    (void)state;
    taut_solver *near = solver_with(BALL("b", "0", "3"), NULL);
    taut_solver *far = solver_with(BALL("b", "1000000", "3"), NULL);
    assert_near(taut_solver_body_volume(far, 0) / taut_solver_body_volume(near, 0), 1, 1e-9);
    taut_solver_destroy(near);
    taut_solver_destroy(far);
}

static const char *mesh_body(const char *file, const char *content)
{
    static char body[5000];
    snprintf(body, sizeof body,
             "{name: b, type: mesh, file: '%s', node_mass: 1, springs: {edges: {stiffness: 1}},\n"
             "  pressure: {amount: 2}}",
             physics_file(file, content));
    return body;
}

// A double cone over `sides` nodes, and `loose` nodes on no face; with too many sides its tips have
// no rings, and the faces are computed one by one.
static void expect_cone(int sides, int loose, bool rings)
{
    char text[40000];
    size_t length = (size_t)snprintf(text, sizeof text, "v 0 0 1\nv 0 0 -1\n");
    for (int i = 0; i < sides; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "v %.15g %.15g 0\n",
                                   cos(2 * PI * i / sides), sin(2 * PI * i / sides));
    for (int i = 0; i < loose; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "v 3 0 %d\n", i);
    for (int i = 0; i < sides; i++) {
        int a = 3 + i, b = 3 + (i + 1) % sides;
        length += (size_t)snprintf(text + length, sizeof text - length, "f 1 %d %d\nf 2 %d %d\n", a,
                                   b, b, a);
    }
    const char *body = mesh_body("cone.obj", text);
    assert_int_equal(has_rings(body), rings);
    compare_with_plain_faces(body, ISA_BASE, 0.01);
}

static void test_many_neighbours(void **state)
{
    (void)state;
    expect_cone(100, 0, true);
    expect_cone(300, 0, false);
}

// The last groups of rings are empty.
static void test_nodes_on_no_face(void **state)
{
    (void)state;
    expect_cone(100, 64, true);
}

static uint64_t hash_of(const void *precision, const struct solver_options *options)
{
    taut_solver *solver = solver_from(
        scene_of("precision: %s\nsimulation: {dt: 0.001, steps: 1}\nbodies: [" BALL(
                     "a", "0", "3") ", " BALL("b", "5", "4") ",\n" BALL("c", "9", "0") "]\n",
                 (const char *)precision),
        options);
    advance(solver, 6);
    uint64_t hash = taut_solver_hash(solver);
    for (size_t body = 0; body < 3; body++) {
        double volume = taut_solver_body_volume(solver, body);
        uint64_t bits;
        memcpy(&bits, &volume, sizeof bits);
        hash = 31 * hash + bits;
    }
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits_everywhere(void **state)
{
    (void)state;
    assert_same_hashes(hash_of, "single");
    assert_same_hashes(hash_of, "double");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_has_rings),
        cmocka_unit_test(test_checker_finds_wrong_rings),
        cmocka_unit_test(test_ring_columns_and_their_checker),
        cmocka_unit_test(test_gas_is_that_of_faces),
        cmocka_unit_test(test_far_away),
        cmocka_unit_test(test_many_neighbours),
        cmocka_unit_test(test_nodes_on_no_face),
        cmocka_unit_test(test_same_bits_everywhere),
    };
    return cmocka_run_group_tests_name("rings", tests, NULL, NULL);
}
