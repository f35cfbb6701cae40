// Surfaces of all body types (contact/surfaces.h): every face, edge and node exactly once, with the
// Euler characteristic of its shape; blocks within their limits, full, and near each other in their
// order; degenerate meshes; failing allocations.
#include "surface_samples.h"

#include <stdlib.h>

#include "contact/surfaces.h"
#include "solver/internals.h"

#define S "{stiffness: 10}"

// The expected counts of a scene's surfaces.
struct expectation {
    const char *name, *bodies;
    uint64_t nodes, edges, triangles;
    int euler; // V - E + F
};

static const struct expectation expectations[] = {
    {"cloth",
     "{name: b, type: cloth, mass: 1, origin: [0,0,0], u: [1,0,0], v: [0,1,0], nodes: [22,15],\n"
     "springs: {structural: " S "}}",
     330, 21 * 15 + 22 * 14 + 21 * 14, 2 * 21 * 14, 1},
    {"small cloth",
     "{name: b, type: cloth, mass: 1, origin: [0,0,0], u: [1,0,0], v: [0,1,0], nodes: [2,2],\n"
     "springs: {structural: " S "}}",
     4, 5, 2, 1},
    {"narrow cloth",
     "{name: b, type: cloth, mass: 1, origin: [0,0,0], u: [1,0,0], v: [0,9,0], nodes: [3,901],\n"
     "springs: {structural: " S "}}",
     2703, 2 * 901 + 3 * 900 + 2 * 900, 2 * 2 * 900, 1},
    {"sphere",
     "{name: b, type: sphere, mass: 1, radius: 1, subdivisions: 4, springs: {edges: " S "}}", 2562,
     7680, 5120, 2},
    {"lattice",
     "{name: b, type: lattice, mass: 1, nodes: [9,8,7], spacing: 0.1, springs: {k1: " S "}}",
     9 * 8 * 7 - 7 * 6 * 5, 0, 4 * (8 * 7 + 7 * 6 + 8 * 6), 2},
    {"layer",
     "{name: b, type: lattice, mass: 1, nodes: [9,1,7], spacing: 0.1, springs: {k1: " S "}}", 63,
     8 * 7 + 9 * 6 + 8 * 6, 2 * 8 * 6, 1},
    {"line",
     "{name: b, type: lattice, mass: 1, nodes: [1,40,1], spacing: 0.1, springs: {k1: " S "}}", 40,
     39, 0, 1},
    {"point",
     "{name: b, type: lattice, mass: 1, nodes: [1,1,1], spacing: 0.1, springs: {k1: " S "}}", 0, 0,
     0, 0},
    {"rope",
     "{name: b, type: rope, mass: 1, from: [0,0,0], to: [1,0,0], nodes: 50, springs: {chain: " S
     "}}",
     50, 49, 0, 1},
    {"rope, all",
     "{name: b, type: rope, mass: 1, from: [0,0,0], to: [1,0,0], nodes: 30, links: all,\n"
     "springs: {all: " S "}}",
     30, 29, 0, 1},
    {"ring", "{name: b, type: ring, mass: 1, radius: 1, nodes: 70, springs: {edges: " S "}}", 70,
     70, 0, 0},
    {"quad",
     "{name: b, type: quad, mass: 1, origin: [0,0,0], u: [1,0,0], v: [0,1,0], springs: {sides: " S
     "}}",
     4, 4, 0, 0},
    {"turned ring",
     "{name: b, type: ring, mass: 1, radius: 1, nodes: 70, rotate: [0,1,0], springs: {edges: " S
     "}}",
     70, 70, 0, 0},
    {"turned quad, diagonals",
     "{name: b, type: quad, mass: 1, origin: [0,0,0], u: [1,0,0], v: [0,0,1],\n"
     "springs: {diagonals: " S "}}",
     4, 4, 0, 0},
    {"mesh",
     "{name: b, type: mesh, file: '" TAUT_TEST_SOURCE "/scenes/meshes/cube.asc', mass: 1,\n"
     "springs: {edges: " S "}}",
     0, 0, 0, 2},
    {"network",
     "{name: b, type: network, nodes: [[0,0,0],[1,0,0],[0,1,0]], node_mass: 1, stiffness: 1,\n"
     "springs: [[0,1,{}],[1,2,{}]]}",
     0, 0, 0, 0},
    {"several",
     "{name: a, type: rope, mass: 1, from: [0,0,0], to: [1,0,0], nodes: 50, springs: {chain: " S
     "}},\n"
     "{name: p, type: pendulum, pivot: [0,2,0], length: 1, angle: 30, mass: 1, stiffness: 50},\n"
     "{name: s, type: sphere, mass: 1, radius: 1, subdivisions: 2, springs: {edges: " S "}},\n"
     "{name: b, type: cloth, mass: 1, origin: [0,0,0], u: [1,0,0], v: [0,1,0], nodes: [7,6],\n"
     "springs: {structural: " S "}}",
     50 + 162 + 42, 49 + 480 + 6 * 6 + 7 * 5 + 6 * 5, 320 + 60, 4},
};

enum { EXPECTATIONS = sizeof expectations / sizeof *expectations };

static taut_solver *bodies_solver(const char *bodies, const struct solver_cuts *cuts)
{
    taut_scene *scene = scene_of(HEADER("symplectic_euler", "1e-6") "environment: {gravity: "
                                                                    "[0,-9.81,0]}\nbodies: [%s]\n",
                                 bodies);
    const struct solver_options options = {.config = {.threads = 1}};
    taut_solver *solver;
    taut_error error = {0};
    if (solver_create_cut(scene, &options, cuts, &solver, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    taut_scene_destroy(scene);
    return solver;
}

static struct surfaces surfaces_of(const struct topology *topology)
{
    bool wanted[8] = {true, true, true, true, true, true, true, true};
    struct surfaces surfaces;
    taut_error error = {0};
    assert_true(topology->body_count <= 8);
    if (surfaces_make(topology, wanted, NULL, &surfaces, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return surfaces;
}

// ---- Sets of triangles and edges

struct corners {
    uint32_t at[3];
};

static int compare_corners(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct corners));
}

// The triangle from its lowest node on, in its orientation; an edge has UINT32_MAX.
static struct corners triangle_from(uint32_t a, uint32_t b, uint32_t c)
{
    if (a < b && a < c)
        return (struct corners){{a, b, c}};
    return b < c ? (struct corners){{b, c, a}} : (struct corners){{c, a, b}};
}

static struct corners edge_from(uint32_t a, uint32_t b)
{
    return a < b ? (struct corners){{a, b, UINT32_MAX}} : (struct corners){{b, a, UINT32_MAX}};
}

struct set {
    struct corners *items;
    size_t count, capacity;
};

static void set_add(struct set *set, struct corners item)
{
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? 2 * set->capacity : 1024;
        set->items = realloc(set->items, set->capacity * sizeof *set->items);
        assert_non_null(set->items);
    }
    set->items[set->count++] = item;
}

static void set_sort(struct set *set, bool unique)
{
    size_t left = 0;
    if (set->count > 0)
        qsort(set->items, set->count, sizeof *set->items, compare_corners);
    for (size_t i = 0; i < set->count; i++)
        if (!unique || i == 0 || compare_corners(&set->items[i], &set->items[i - 1]) != 0)
            set->items[left++] = set->items[i];
    set->count = left;
}

static void assert_same_set(const char *name, struct set *expected, struct set *found)
{
    set_sort(expected, true);
    set_sort(found, false);
    if (found->count != expected->count ||
        (found->count > 0 &&
         memcmp(expected->items, found->items, found->count * sizeof *found->items) != 0))
        fail_msg("%s: %zu differ from the expected %zu", name, found->count, expected->count);
    free(expected->items);
    free(found->items);
}

static void add_sides(struct set *edges, const uint32_t corners[3])
{
    for (int side = 0; side < 3; side++)
        if (corners[side] != corners[(side + 1) % 3])
            set_add(edges, edge_from(corners[side], corners[(side + 1) % 3]));
}

// The faces of the topology, those of lattices with one layer, and the outlines of rings and quads.
static void expect_faces(const struct topology *topology, struct set *triangles, struct set *edges)
{
    for (uint64_t f = 0; f < topology->face_count; f++) {
        const struct face face = topology_face(topology, f);
        if (face.nodes[2] == FACE_EDGE) {
            set_add(edges, edge_from(face.nodes[0], face.nodes[1]));
            continue;
        }
        set_add(triangles, triangle_from(face.nodes[0], face.nodes[1], face.nodes[2]));
        add_sides(edges, face.nodes);
    }
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const uint64_t *n = body->grid;
        const uint32_t first = (uint32_t)body->first_node;
        const bool lattice = body->type == BODY_LATTICE;
        const bool line = lattice && (n[0] > 1) + (n[1] > 1) + (n[2] > 1) == 1;
        for (uint32_t i = 0; (body->type == BODY_ROPE || line) && i + 1 < body->node_count; i++)
            set_add(edges, edge_from(first + i, first + i + 1));
        const bool outline = body->type == BODY_RING || body->type == BODY_QUAD;
        for (uint64_t i = 0; outline && body->face_count == 0 && i < body->node_count; i++)
            set_add(edges, edge_from((uint32_t)topology_internal_node(topology, first + i),
                                     (uint32_t)topology_internal_node(
                                         topology, first + (i + 1) % body->node_count)));
        if (!lattice || (n[0] > 1) + (n[1] > 1) + (n[2] > 1) != 2)
            continue;
        const uint32_t width = (uint32_t)(n[0] > 1 ? n[0] : n[1]);
        for (uint32_t y = 0; y + 1 < body->node_count / width; y++)
            for (uint32_t x = 0; x + 1 < width; x++) {
                const uint32_t a = first + y * width + x;
                const uint32_t both[2][3] = {{a, a + 1, a + width + 1},
                                             {a, a + width + 1, a + width}};
                for (int t = 0; t < 2; t++) {
                    set_add(triangles, triangle_from(both[t][0], both[t][1], both[t][2]));
                    add_sides(edges, both[t]);
                }
            }
    }
}

// Every triangle and edge exactly once, with nodes of its block; every node of them is owned once.
static void check_surfaces(const char *name, const struct topology *topology,
                           const struct surfaces *surfaces, struct set *triangles,
                           struct set *edges)
{
    struct set found_triangles = {0}, found_edges = {0};
    uint8_t *owned = calloc((size_t)topology->node_count + 1, 1);
    uint8_t *used = calloc((size_t)topology->node_count + 1, 1);
    assert_true(owned && used);
    size_t nodes = 0, edge_count = 0, triangle_count = 0;
    uint64_t own_nodes = 0;
    for (size_t b = 0; b < surfaces->block_count; b++) {
        const struct surface_block *block = &surfaces->blocks[b];
        const struct topology_body *body = &topology->bodies[block->body];
        const uint32_t *node = surfaces->nodes + block->first_node;
        assert_int_equal(block->first_node, nodes);
        assert_in_range(block->corners, 0, surfaces->corner_count - 1);
        const struct block_corners *corners = corners_of(surfaces, block);
        assert_true(block->own_nodes <= block->nodes && block->nodes <= SURFACE_NODES);
        assert_true(block->edges <= SURFACE_EDGES && block->triangles <= SURFACE_TRIANGLES);
        assert_true(block->edges + block->triangles > 0);
        assert_true(b == 0 || surfaces->blocks[b - 1].body <= block->body);
        for (int i = 0; i < block->nodes; i++) {
            assert_in_range(node[i], body->first_node, body->first_node + body->node_count - 1);
            owned[node[i]] += i < block->own_nodes;
            for (int j = 0; j < i; j++)
                assert_int_not_equal(node[i], node[j]);
        }
        for (int e = 0; e < block->edges; e++) {
            const uint8_t edge[2] = {corners->edges[0][e], corners->edges[1][e]};
            assert_true(edge[0] < block->nodes && edge[1] < block->nodes);
            used[node[edge[0]]] = used[node[edge[1]]] = 1;
            set_add(&found_edges, edge_from(node[edge[0]], node[edge[1]]));
        }
        for (int t = 0; t < block->triangles; t++) {
            const uint8_t c[3] = {corners->triangles[0][t], corners->triangles[1][t],
                                  corners->triangles[2][t]};
            assert_true(c[0] < block->nodes && c[1] < block->nodes && c[2] < block->nodes);
            set_add(&found_triangles, triangle_from(node[c[0]], node[c[1]], node[c[2]]));
        }
        own_nodes += block->own_nodes;
        nodes += block->nodes;
        edge_count += block->edges;
        triangle_count += block->triangles;
    }
    assert_int_equal(surfaces->node_entries, nodes);
    assert_int_equal(surfaces->edge_count, edge_count);
    assert_int_equal(surfaces->triangle_count, triangle_count);
    assert_int_equal(surfaces->own_node_count, own_nodes);
    for (uint64_t i = 0; i < topology->node_count; i++)
        if (owned[i] != used[i])
            fail_msg("%s: node %llu is in %d blocks' own nodes, not %d", name,
                     (unsigned long long)i, owned[i], used[i]);
    free(owned);
    free(used);
    assert_same_set(name, triangles, &found_triangles);
    assert_same_set(name, edges, &found_edges);
}

static void test_every_part_is_owned_once(void **state)
{
    (void)state;
    for (int i = 0; i < EXPECTATIONS; i++) {
        const struct expectation *it = &expectations[i];
        taut_solver *solver = bodies_solver(it->bodies, NULL);
        const struct topology *topology = solver_topology_for_tests(solver);
        struct surfaces surfaces = surfaces_of(topology);
        struct set triangles = {0}, edges = {0};
        expect_faces(topology, &triangles, &edges);
        check_surfaces(it->name, topology, &surfaces, &triangles, &edges);
        if ((it->nodes > 0 && surfaces.own_node_count != it->nodes) ||
            (it->edges > 0 && surfaces.edge_count != it->edges) ||
            (it->triangles > 0 && surfaces.triangle_count != it->triangles))
            fail_msg("%s: %llu nodes, %zu edges, %zu triangles", it->name,
                     (unsigned long long)surfaces.own_node_count, surfaces.edge_count,
                     surfaces.triangle_count);
        assert_int_equal((int64_t)surfaces.own_node_count - (int64_t)surfaces.edge_count +
                             (int64_t)surfaces.triangle_count,
                         it->euler);
        assert_true(surfaces_bytes(&surfaces) >= 3 * surfaces.triangle_count);
        surfaces_free(&surfaces);
        assert_int_equal(surfaces_bytes(&surfaces), 0);
        taut_solver_destroy(solver);
    }
}

static void test_bodies_may_be_left_out(void **state)
{
    (void)state;
    taut_solver *solver = bodies_solver(expectations[EXPECTATIONS - 1].bodies, NULL);
    const bool wanted[4] = {true, true, false, false};
    struct surfaces surfaces;
    assert_int_equal(
        surfaces_make(solver_topology_for_tests(solver), wanted, NULL, &surfaces, NULL), TAUT_OK);
    assert_int_equal(surfaces.own_node_count, 50);
    assert_int_equal(surfaces.triangle_count, 0);
    surfaces_free(&surfaces);
    taut_solver_destroy(solver);
}

// A solver of the bodies without the springs between some of their nodes.
static taut_solver *cut_solver(const char *bodies, const uint64_t (*ends)[2], int count,
                               bool with_faces)
{
    taut_solver *whole = bodies_solver(bodies, NULL);
    const struct topology *topology = solver_topology_for_tests(whole);
    uint8_t *springs = calloc((size_t)topology->spring_count + 1, 1);
    uint8_t *faces = calloc((size_t)topology->face_count + 1, 1);
    assert_true(springs && faces);
    for (uint64_t s = 0; s < topology->spring_count; s++)
        for (int i = 0; i < count; i++) {
            const struct spring_run spring = topology_spring(topology, s);
            const uint64_t a = topology_builder_node(topology, spring.a);
            const uint64_t b = topology_builder_node(topology, spring.b);
            if ((a == ends[i][0] && b == ends[i][1]) || (a == ends[i][1] && b == ends[i][0]))
                springs[topology_builder_spring(topology, s)] = 1;
        }
    for (uint64_t f = 0; with_faces && f < topology->face_count; f += 7)
        faces[f] = 1;
    const struct solver_cuts cuts = {.springs = springs,
                                     .faces = faces,
                                     .spring_count = topology->spring_count,
                                     .face_count = topology->face_count};
    taut_solver *cut = bodies_solver(bodies, &cuts);
    taut_solver_destroy(whole);
    free(springs);
    free(faces);
    return cut;
}

// Ropes and lines lose the edges that are cut; other surfaces have what faces the topology has.
static void test_cut_bodies(void **state)
{
    (void)state;
    static const char *const ropes[] = {
        "{name: b, type: rope, mass: 1, from: [0,0,0], to: [1,0,0], nodes: 50, springs: {chain: " S
        "}}",
        "{name: b, type: rope, mass: 1, from: [0,0,0], to: [1,0,0], nodes: 50, links: all,\n"
        "springs: {all: " S "}}",
        "{name: b, type: lattice, mass: 1, nodes: [1,1,50], spacing: 0.1, springs: {k1: " S "}}",
        "{name: b, type: ring, mass: 1, radius: 1, nodes: 50, rotate: [0,90,0], springs: {edges: " S
        "}}",
    };
    const uint64_t ends[][2] = {{0, 1}, {20, 21}, {21, 22}, {40, 41}};
    for (int i = 0; i < 4; i++) {
        const bool is_ring = i == 3;
        taut_solver *solver = cut_solver(ropes[i], ends, 4, false);
        const struct topology *topology = solver_topology_for_tests(solver);
        struct surfaces surfaces = surfaces_of(topology);
        struct set triangles = {0}, edges = {0};
        for (uint32_t e = 0; e < 49; e++)
            if (e != 0 && e != 20 && e != 21 && e != 40)
                set_add(&edges, edge_from((uint32_t)topology_internal_node(topology, e),
                                          (uint32_t)topology_internal_node(topology, e + 1)));
        if (is_ring)
            set_add(&edges, edge_from((uint32_t)topology_internal_node(topology, 0),
                                      (uint32_t)topology_internal_node(topology, 49)));
        check_surfaces(ropes[i], topology, &surfaces, &triangles, &edges);
        // 0 and 21 have no edge; 0 of the ring has one.
        assert_int_equal(surfaces.own_node_count, is_ring ? 49 : 48);
        surfaces_free(&surfaces);
        taut_solver_destroy(solver);
    }
    for (int i = 0; i < 6; i++) {
        const bool with_faces = i % 2;
        static const int cut_ones[] = {0, 3, 4};
        const struct expectation *it = &expectations[cut_ones[i / 2]];
        taut_solver *solver = cut_solver(it->bodies, ends, 4, with_faces);
        const struct topology *topology = solver_topology_for_tests(solver);
        assert_true(!with_faces || topology->face_count < it->triangles);
        struct surfaces surfaces = surfaces_of(topology);
        struct set triangles = {0}, edges = {0};
        expect_faces(topology, &triangles, &edges);
        check_surfaces(it->name, topology, &surfaces, &triangles, &edges);
        surfaces_free(&surfaces);
        taut_solver_destroy(solver);
    }
}

static void check_mesh(const char *name, uint64_t nodes, uint32_t (*faces)[3], uint64_t count)
{
    struct mesh_topology mesh;
    mesh_topology_make(&mesh, nodes, faces, count);
    struct surfaces surfaces = surfaces_of(&mesh.topology);
    struct set triangles = {0}, edges = {0};
    expect_faces(&mesh.topology, &triangles, &edges);
    // A set would lose triangles that are listed twice.
    const size_t listed = triangles.count;
    set_sort(&triangles, true);
    assert_int_equal(triangles.count, listed);
    check_surfaces(name, &mesh.topology, &surfaces, &triangles, &edges);
    surfaces_free(&surfaces);
}

// A fan around one node, many triangles at one edge, triangles that are not joined, one with a node
// twice, and random ones.
static void test_degenerate_meshes(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    uint32_t(*faces)[3] = fan_triangles(COUNT);
    check_mesh("fan", COUNT + 2, faces, COUNT);
    for (uint32_t t = 0; t < COUNT; t++)
        memcpy(faces[t], (const uint32_t[3]){0, 1, t + 2}, sizeof *faces);
    check_mesh("book", COUNT + 2, faces, COUNT);
    for (uint32_t t = 0; t < COUNT; t++)
        memcpy(faces[t], (const uint32_t[3]){3 * t, 3 * t + 1, 3 * t + 2}, sizeof *faces);
    check_mesh("soup", (uint64_t)3 * COUNT, faces, COUNT);
    memcpy(faces[1], (const uint32_t[3]){0, 1, 1}, sizeof *faces);
    check_mesh("node twice", (uint64_t)3 * COUNT, faces, 2);
    uint64_t seed = 5;
    uint32_t count = 0;
    for (uint32_t t = 0; t < COUNT; t++) {
        uint32_t c[3];
        for (int i = 0; i < 3; i++)
            c[i] = (uint32_t)((next_random(&seed) + 1) * 30);
        bool listed = c[0] == c[1] || c[1] == c[2] || c[2] == c[0];
        for (uint32_t u = 0; u < count && !listed; u++) {
            const struct corners old = triangle_from(faces[u][0], faces[u][1], faces[u][2]);
            const struct corners new = triangle_from(c[0], c[1], c[2]);
            listed = compare_corners(&old, &new) == 0;
        }
        if (!listed)
            memcpy(faces[count++], c, sizeof c);
    }
    assert_true(count > 900);
    check_mesh("random", 60, faces, count);
    free(faces);
}

// The sum over groups of `group` consecutive blocks of the squares of the diagonals of their boxes,
// over the same of single blocks: that of a flat disc is `group`.
static double spread_of_groups(const struct surfaces *surfaces, const double (*at)[3], size_t group)
{
    double sums[2] = {0};
    for (int which = 0; which < 2; which++)
        for (size_t first = 0; first < surfaces->block_count; first += which ? group : 1) {
            double least[3] = {1e9, 1e9, 1e9}, most[3] = {-1e9, -1e9, -1e9};
            for (size_t b = first; b < surfaces->block_count && b < first + (which ? group : 1);
                 b++)
                for (int i = 0; i < surfaces->blocks[b].nodes; i++)
                    for (int axis = 0; axis < 3; axis++) {
                        const double x =
                            at[surfaces->nodes[surfaces->blocks[b].first_node + (uint32_t)i]][axis];
                        least[axis] = fmin(least[axis], x);
                        most[axis] = fmax(most[axis], x);
                    }
            for (int axis = 0; axis < 3; axis++)
                sums[which] += (most[axis] - least[axis]) * (most[axis] - least[axis]);
        }
    return sums[1] / sums[0];
}

// Blocks are full, small, and near those with numbers near theirs.
static void test_blocks_are_compact(void **state)
{
    (void)state;
    static const struct {
        const char *bodies;
        double fill, spread_16, spread_256; // at least; at most
    } shapes[] = {
        {"{name: b, type: cloth, mass: 1, origin: [0,0,0], u: [1,0,0], v: [0,1,0],\n"
         "nodes: [257,257], springs: {structural: " S "}}",
         32, 1.1, 1.1},
        {"{name: b, type: sphere, mass: 1, radius: 1, subdivisions: 6, springs: {edges: " S "}}",
         24, 4, 3},
        {"{name: b, type: lattice, mass: 1, nodes: [80,60,50], spacing: 0.1, springs: {k1: " S "}}",
         24, 4, 3},
    };
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = bodies_solver(shapes[i].bodies, NULL);
        const struct topology *topology = solver_topology_for_tests(solver);
        struct surfaces surfaces = surfaces_of(topology);
        double(*built)[3] = built_positions(solver, topology);
        const double fill = (double)surfaces.triangle_count / (double)surfaces.block_count;
        const double near = spread_of_groups(&surfaces, (const double(*)[3])built, 16);
        const double far = spread_of_groups(&surfaces, (const double(*)[3])built, 256);
        print_message("%.1f triangles, %.1f nodes, %.1f own, spread %.2f, %.2f\n", fill,
                      (double)surfaces.node_entries / (double)surfaces.block_count,
                      (double)surfaces.own_node_count / (double)surfaces.block_count, near, far);
        assert_true(i > 0 || surfaces.corner_count <= 4); // of squares inside, at ends, and both
        if (fill < shapes[i].fill || near > shapes[i].spread_16 || far > shapes[i].spread_256)
            fail_msg("%g triangles in a block, spread %g, %g", fill, near, far);
        free(built);
        surfaces_free(&surfaces);
        taut_solver_destroy(solver);
    }
}

// ---- Failing allocations

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    struct failing memory;
    const taut_allocator allocator = {failing_allocate, failing_release, &memory};
    const bool wanted[4] = {true, true, true, true};
    const uint64_t ends[][2] = {{20, 21}};
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = i == 0   ? bodies_solver(expectations[EXPECTATIONS - 1].bodies, NULL)
                              : i == 1 ? cut_solver(expectations[8].bodies, ends, 1, false)
                                       : bodies_solver(expectations[3].bodies, NULL);
        uint64_t n = 0;
        for (taut_status status = TAUT_ERROR_MEMORY; status != TAUT_OK; n++) {
            struct surfaces surfaces;
            taut_error error = {0};
            memory = (struct failing){.countdown = n};
            status = surfaces_make(solver_topology_for_tests(solver), wanted, &allocator, &surfaces,
                                   &error);
            assert_true(status == TAUT_OK || (status == TAUT_ERROR_MEMORY && error.text[0] != 0 &&
                                              surfaces.block_count == 0 && memory.held == 0));
            if (status == TAUT_OK)
                assert_true(surfaces_bytes(&surfaces) <= memory.bytes);
            surfaces_free(&surfaces);
            assert_int_equal(memory.held, 0);
            assert_int_equal(memory.bytes, 0);
        }
        assert_true(n > 5);
        taut_solver_destroy(solver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_part_is_owned_once),
        cmocka_unit_test(test_bodies_may_be_left_out),
        cmocka_unit_test(test_cut_bodies),
        cmocka_unit_test(test_degenerate_meshes),
        cmocka_unit_test(test_blocks_are_compact),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
