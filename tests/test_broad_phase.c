// Candidates for contact (contact/broad_phase.h): all pairs within the reach, compared with brute
// force in double over scenes of all body types, crumpled, crossing and degenerate; pairs that are
// left out; the same lists on any number of threads and every instruction set; failing allocations.
// Sheets that are flat are as far from themselves as contact/flat_sheets.h says, however deformed.
#include "surface_samples.h"

#include <math.h>
#include <stdlib.h>

#include "broad_phase_fixture.h"
#include "flat_sheets_fixture.h"
#include "solver/internals.h"

#define S "{stiffness: 10}"

enum { BODIES_MAX = 8 };

// Surfaces with positions and rules. Positions are multiples of 2^-30 times a power of two, so that
// single precision has them too.
struct scene {
    taut_solver *solver; // NULL: a mesh
    struct mesh_topology mesh;
    uint32_t (*faces)[3];
    const struct topology *topology;
    struct surfaces surfaces;
    double (*built)[3], (*positions)[3];
    double radius[BODIES_MAX], apart[BODIES_MAX];
    bool enabled[BODIES_MAX * BODIES_MAX];
    bool leaves_out; // pairs that are near as built
    bool unrounded;  // positions, which only double and mixed precision have
};

static void scene_start(struct scene *scene)
{
    const bool wanted[BODIES_MAX] = {true, true, true, true, true, true, true, true};
    const size_t nodes = (size_t)scene->topology->node_count;
    assert_true(scene->topology->body_count <= BODIES_MAX);
    assert_int_equal(surfaces_make(scene->topology, wanted, NULL, &scene->surfaces, NULL), TAUT_OK);
    scene->positions = calloc(nodes, sizeof *scene->positions);
    if (!scene->built)
        scene->built = calloc(nodes, sizeof *scene->built);
    assert_true(scene->positions && scene->built);
    for (size_t i = 0; i < sizeof scene->enabled; i++)
        scene->enabled[i] = true;
}

static struct scene scene_of_bodies(const char *bodies)
{
    struct scene scene = {
        .solver = solver_of(HEADER("symplectic_euler", "1e-6") "bodies: [%s]\n", bodies)};
    scene.topology = solver_topology_for_tests(scene.solver);
    scene.built = built_positions(scene.solver, scene.topology);
    scene_start(&scene);
    return scene;
}

// `scene` must not move any more: the topology points into it.
static void scene_of_faces(struct scene *scene, uint64_t nodes, uint32_t (*faces)[3],
                           uint64_t face_count)
{
    *scene = (struct scene){.faces = faces};
    mesh_topology_make(&scene->mesh, nodes, faces, face_count);
    scene->topology = &scene->mesh.topology;
    scene_start(scene);
}

static void scene_end(struct scene *scene)
{
    surfaces_free(&scene->surfaces);
    free(scene->positions);
    free(scene->built);
    free(scene->faces);
    if (scene->solver)
        taut_solver_destroy(scene->solver);
}

static void set_reach(struct scene *scene, double radius)
{
    for (int b = 0; b < BODIES_MAX; b++)
        scene->radius[b] = radius;
}

// Positions `scale` times as large as built, with noise, rounded to floats unless `unrounded`.
static void move_nodes(struct scene *scene, double scale, double noise, double offset,
                       uint64_t seed)
{
    for (uint64_t i = 0; i < scene->topology->node_count; i++)
        for (int axis = 0; axis < 3; axis++) {
            const double x = offset + scale * scene->built[i][axis] + noise * next_random(&seed);
            scene->positions[i][axis] = scene->unrounded ? x : (double)(float)x;
        }
}

// ---- The reference

static vec3 at(const double (*x)[3], uint32_t node)
{
    return vec3_make(x[node][0], x[node][1], x[node][2]);
}

static double distance_to_edge(vec3 p, vec3 a, vec3 b)
{
    const vec3 ab = vec3_subtract(b, a), ap = vec3_subtract(p, a);
    const double square = vec3_dot(ab, ab);
    const double t = square > 0 ? fmin(fmax(vec3_dot(ab, ap) / square, 0), 1) : 0;
    return vec3_length(vec3_subtract(ap, vec3_scale(t, ab)));
}

// The distance from the plane where the projection is inside all three edges, or from an edge.
static double point_distance(vec3 p, vec3 a, vec3 b, vec3 c)
{
    const vec3 corners[3] = {a, b, c};
    const vec3 normal = vec3_cross(vec3_subtract(b, a), vec3_subtract(c, a));
    const double size = vec3_length(normal);
    double least = HUGE_VAL;
    bool inside = size > 0;
    for (int i = 0; i < 3; i++) {
        const vec3 from = corners[i], to = corners[(i + 1) % 3];
        least = fmin(least, distance_to_edge(p, from, to));
        const vec3 inwards = vec3_cross(normal, vec3_subtract(to, from));
        inside = inside && vec3_dot(inwards, vec3_subtract(p, from)) >= 0;
    }
    return inside ? fmin(least, fabs(vec3_dot(normal, vec3_subtract(p, a))) / size) : least;
}

// The distance of the lines where their closest points are inside both edges, or of an end from the
// other edge.
static double edge_distance(vec3 p1, vec3 q1, vec3 p2, vec3 q2)
{
    const double ends = fmin(fmin(distance_to_edge(p1, p2, q2), distance_to_edge(q1, p2, q2)),
                             fmin(distance_to_edge(p2, p1, q1), distance_to_edge(q2, p1, q1)));
    const vec3 u = vec3_subtract(q1, p1), w = vec3_subtract(q2, p2), r = vec3_subtract(p2, p1);
    const vec3 normal = vec3_cross(u, w);
    const double square = vec3_dot(normal, normal);
    if (!(square > 0))
        return ends;
    const double s = vec3_dot(vec3_cross(r, w), normal) / square;
    const double t = vec3_dot(vec3_cross(r, u), normal) / square;
    if (s < 0 || s > 1 || t < 0 || t > 1)
        return ends;
    return fmin(ends, fabs(vec3_dot(normal, r)) / sqrt(square));
}

// A triangle or edge of the surfaces, with the nodes over all bodies.
struct part {
    uint32_t body, count, nodes[3];
};

static struct part *parts_of(const struct surfaces *surfaces, bool triangles)
{
    const size_t count = triangles ? surfaces->triangle_count : surfaces->edge_count;
    struct part *parts = calloc(count + 1, sizeof *parts);
    assert_non_null(parts);
    struct part *part = parts;
    for (size_t b = 0; b < surfaces->block_count; b++) {
        const struct surface_block *block = &surfaces->blocks[b];
        for (uint32_t i = 0; i < (triangles ? block->triangles : block->edges); i++, part++) {
            part->body = block->body;
            part->count = triangles ? 3 : 2;
            for (uint32_t c = 0; c < part->count; c++)
                part->nodes[c] = triangles ? triangle_node(surfaces, block, i, (int)c)
                                           : edge_node(surfaces, block, i, (int)c);
        }
    }
    return parts;
}

static struct part *nodes_of(const struct surfaces *surfaces)
{
    struct part *parts = calloc((size_t)surfaces->own_node_count + 1, sizeof *parts);
    assert_non_null(parts);
    size_t count = 0;
    for (size_t b = 0; b < surfaces->block_count; b++)
        for (uint32_t i = 0; i < surfaces->blocks[b].own_nodes; i++)
            parts[count++] = (struct part){
                surfaces->blocks[b].body, 1, {surfaces->nodes[surfaces->blocks[b].first_node + i]}};
    assert_int_equal(count, surfaces->own_node_count);
    return parts;
}

static bool share_node(const struct part *a, const struct part *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++)
            if (a->nodes[i] == b->nodes[j])
                return true;
    return false;
}

static double part_distance(const double (*x)[3], const struct part *a, const struct part *b)
{
    if (a->count == 1)
        return point_distance(at(x, a->nodes[0]), at(x, b->nodes[0]), at(x, b->nodes[1]),
                              at(x, b->nodes[2]));
    return edge_distance(at(x, a->nodes[0]), at(x, a->nodes[1]), at(x, b->nodes[0]),
                         at(x, b->nodes[1]));
}

static double longest_edge(const struct part *part, const double (*x)[3])
{
    double longest = 0;
    for (uint32_t i = 0; i < part->count; i++)
        for (uint32_t j = 0; j < i; j++)
            longest = fmax(
                longest, vec3_length(vec3_subtract(at(x, part->nodes[i]), at(x, part->nodes[j]))));
    return longest;
}

// The results of the brute force.
struct tally {
    size_t wanted, extra; // within the reach; listed, but a little farther
};

static void check_all_pairs(const struct scene *scene, const struct search_result *result,
                            bool single, enum candidate_kind kind, size_t *next,
                            struct tally *tally)
{
    const struct surfaces *surfaces = &scene->surfaces;
    const size_t bodies = scene->topology->body_count;
    const double(*x)[3] = (const double(*)[3])scene->positions;
    const double(*built)[3] = (const double(*)[3])scene->built;
    struct part *edges = parts_of(surfaces, false), *triangles = parts_of(surfaces, true);
    struct part *nodes = nodes_of(surfaces);
    const bool points = kind == POINT_TRIANGLE;
    const struct part *first = points ? nodes : edges, *second = points ? triangles : edges;
    const size_t first_count = points ? (size_t)surfaces->own_node_count : surfaces->edge_count;
    const size_t second_count = points ? surfaces->triangle_count : surfaces->edge_count;
    double longest = 0;
    for (size_t e = 0; e < surfaces->edge_count; e++)
        longest = fmax(longest, longest_edge(&edges[e], x));
    for (size_t i = 0; i < first_count; i++) {
        // Points come by node number: a block's own nodes are not in that order.
        const uint32_t number = points ? first[i].nodes[0] : (uint32_t)i;
        const struct candidate *items = result->items;
        size_t low = 0, high = result->count;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (items[middle].kind < kind ||
                (items[middle].kind == kind && items[middle].a < number))
                low = middle + 1;
            else
                high = middle;
        }
        for (size_t j = points ? 0 : i + 1; j < second_count; j++) {
            const struct part *a = &first[i], *b = &second[j];
            const bool listed = low < result->count && items[low].kind == kind &&
                                items[low].a == number && items[low].b == j;
            low += listed;
            *next += listed;
            bool left_out = !scene->enabled[a->body * bodies + b->body];
            left_out |= a->body == b->body && share_node(a, b);
            if (scene->leaves_out && a->body == b->body && !left_out) {
                const double apart = part_distance(built, a, b) / scene->apart[a->body];
                if (fabs(apart - 1) < 1e-4)
                    continue; // either
                left_out = apart < 1;
            }
            const double reach = scene->radius[a->body] + scene->radius[b->body];
            const double distance = listed || !left_out ? part_distance(x, a, b) : 0;
            const double margin = (single ? 0.015 : 2e-5) * (2 * longest + 3 * reach);
            if (listed && left_out)
                fail_msg("pair %zu, %zu of kind %d is to be left out", i, j, kind);
            if (!listed && !left_out && distance <= reach)
                fail_msg("pair %zu, %zu of kind %d at %g of %g m is missing", i, j, kind, distance,
                         reach);
            if (listed && distance > (1 + 1e-4) * sqrt(reach * reach + margin * margin))
                fail_msg("pair %zu, %zu of kind %d at %g m is beyond %g m", i, j, kind, distance,
                         reach);
            tally->wanted += !left_out && distance <= reach;
            tally->extra += listed && distance > reach;
        }
    }
    free(nodes);
    free(edges);
    free(triangles);
}

static struct search search_of(const struct scene *scene)
{
    return (struct search){
        .surfaces = &scene->surfaces,
        .nodes = scene->topology->node_count,
        .bodies = scene->topology->body_count,
        .positions = (const double(*)[3])scene->positions,
        .built = scene->leaves_out ? (const double(*)[3])scene->built : NULL,
        .radius = scene->radius,
        .apart = scene->apart,
        .enabled = scene->enabled,
        .threads = 1,
    };
}

static size_t between; // those of struct search_result, of all scenes

// Compares with brute force, in both precisions, and on 1 to 4 threads with every instruction set.
// Returns the number of pairs within the reach.
static size_t check_scene(const struct scene *scene)
{
    size_t wanted = 0;
    for (int precision = scene->unrounded; precision < 3; precision++) {
        uint64_t hash = 0;
        for (int run = 0; run < 4 * ISA_COUNT; run++) {
            const int threads = 1 + run % 4;
            const enum isa isa = (enum isa)(run / 4);
            struct search search = search_of(scene);
            if (!isa_available(isa) || (isa > 0 && threads != 2))
                continue;
            search.threads = threads;
            search.isa = isa;
            search.mixed = precision == 1;
            const bool single = precision < 2;
            struct search_result result = single ? search_f32(&search) : search_f64(&search);
            assert_true(result.found);
            assert_true(result.bytes > 0);
            if (run == 0) {
                struct tally tally = {0};
                size_t seen = 0;
                check_all_pairs(scene, &result, single, POINT_TRIANGLE, &seen, &tally);
                check_all_pairs(scene, &result, single, EDGE_EDGE, &seen, &tally);
                assert_int_equal(seen, result.count); // each of them once
                if (!single && tally.extra > tally.wanted / 100 + 5)
                    fail_msg("%zu pairs within the reach, and %zu beyond", tally.wanted,
                             tally.extra);
                wanted = tally.wanted;
                hash = result.hash;
            }
            assert_true(result.hash == hash);
            between += result.between;
            free(result.items);
        }
    }
    return wanted;
}

// ---- Scenes

#define CLOTH                                                                                      \
    "{name: cloth, type: cloth, mass: 1, origin: [-0.5,-0.5,0], u: [1,0,0], v: [0,1,0],\n"         \
    "nodes: [22,19], springs: {structural: " S "}}"

#define ALL_BODIES                                                                                 \
    "{name: s, type: sphere, mass: 1, radius: 0.5, subdivisions: 2, springs: {edges: " S "}},\n"   \
    "{name: i, type: sphere, mass: 1, radius: 0.47, subdivisions: 2, springs: {edges: " S "}},\n"  \
    "{name: l, type: lattice, mass: 1, origin: [-0.2,-0.2,-0.2], nodes: [5,6,4], spacing: 0.1,\n"  \
    "springs: {k1: " S "}},\n"                                                                     \
    "{name: r, type: rope, mass: 1, from: [-0.6,-0.05,-0.03], to: [0.6,0.04,0.1], nodes: 70,\n"    \
    "springs: {chain: " S "}},\n"                                                                  \
    "{name: o, type: ring, mass: 1, radius: 0.45, nodes: 60, springs: {edges: " S "}},\n"          \
    "{name: f, type: lattice, mass: 1, origin: [-0.4,0,-0.3], nodes: [9,1,7], spacing: 0.1,\n"     \
    "springs: {k1: " S "}},\n"                                                                     \
    "{name: n, type: network, nodes: [[0,0,0],[1,0,0],[0,1,0]], node_mass: 1, stiffness: 1,\n"     \
    "springs: [[0,1,{}],[1,2,{}]]}," CLOTH

static void test_crumpled_cloth(void **state)
{
    (void)state;
    struct scene scene = scene_of_bodies(CLOTH);
    for (int i = 0; i < 3; i++) {
        static const double scales[] = {0.1, 0.5, 1}, noises[] = {0.1, 0.1, 0.02};
        static const double radii[] = {0.004, 0.012, 0.03};
        move_nodes(&scene, scales[i], noises[i], 0, 3);
        set_reach(&scene, radii[i]);
        assert_true(check_scene(&scene) > 1000);
    }
    set_reach(&scene, 0); // pairs at no distance: none
    assert_int_equal(check_scene(&scene), 0);
    scene_end(&scene);
}

static void test_all_bodies(void **state)
{
    (void)state;
    struct scene scene = scene_of_bodies(ALL_BODIES);
    move_nodes(&scene, 1, 0.02, 0, 8);
    for (int b = 0; b < BODIES_MAX; b++)
        scene.radius[b] = 0.002 * (1 + b);
    const size_t all = check_scene(&scene);
    assert_true(all > 2000);

    // Only some of the pairs of bodies.
    const size_t bodies = scene.topology->body_count;
    assert_int_equal(bodies, BODIES_MAX);
    for (size_t a = 0; a < bodies; a++)
        for (size_t b = 0; b < bodies; b++)
            scene.enabled[a * bodies + b] = (a * b) % 3 != 1;
    const size_t some = check_scene(&scene);
    assert_true(some > 500 && some < all);
    memset(scene.enabled, 0, sizeof scene.enabled);
    assert_int_equal(check_scene(&scene), 0);
    scene_end(&scene);
}

// Positions whose rounding is as large as a tenth of the reach: boxes must allow for it.
static void test_far_from_the_origin(void **state)
{
    (void)state;
    struct scene scene = scene_of_bodies(CLOTH);
    move_nodes(&scene, 0.5, 0.1, 3000, 4);
    set_reach(&scene, 0.002);
    assert_true(check_scene(&scene) > 100);
    scene.unrounded = true;
    move_nodes(&scene, 0.5, 0.1, 3000, 4);
    assert_true(check_scene(&scene) > 100);
    scene_end(&scene);
}

// Pairs that are near as built are left out, but not those of different bodies.
static void test_pairs_near_as_built(void **state)
{
    (void)state;
    struct scene scene = scene_of_bodies(ALL_BODIES);
    uint64_t seed = 6;
    for (uint64_t i = 0; i < scene.topology->node_count; i++) // so that all distances occur
        for (int axis = 0; axis < 3; axis++)
            scene.built[i][axis] += 0.015 * next_random(&seed);
    move_nodes(&scene, 0.9, 0.02, 0, 8);
    set_reach(&scene, 0.012);
    const size_t all = check_scene(&scene);
    scene.leaves_out = true;
    for (int b = 0; b < BODIES_MAX; b++)
        scene.apart[b] = b == 3 ? 0 : 0.05 + 0.01 * b;
    const size_t left = check_scene(&scene);
    assert_true(left > 500 && left + 500 < all);
    scene_end(&scene);

    // A flat cloth, two cells of which are as far from each other as pairs must be: none are left.
    scene = scene_of_bodies(CLOTH);
    move_nodes(&scene, 1, 0, 0, 1);
    set_reach(&scene, 0.028);
    assert_true(check_scene(&scene) > 1000);
    scene.leaves_out = true;
    scene.apart[0] = 1.0 / 18;
    struct search search = search_of(&scene);
    struct search_result single = search_f32(&search), both = search_f64(&search);
    assert_true(single.found && both.found);
    assert_int_equal(single.count, 0);
    assert_int_equal(both.count, 0);
    free(single.items);
    free(both.items);
    scene_end(&scene);
}

// Fans, triangles without an area, edges without a length, slivers, and very long triangles.
static void test_degenerate_shapes(void **state)
{
    (void)state;
    enum { FAN = 250 };
    struct scene scene;
    uint64_t seed = 9;
    scene_of_faces(&scene, FAN + 2, fan_triangles(FAN), FAN);
    for (uint32_t i = 0; i < FAN + 2; i++) {
        const double angle = i * 0.37, radius = i == 0 ? 0 : 0.4 + 0.1 * next_random(&seed);
        const double place[3] = {radius * cos(angle), radius * sin(angle),
                                 0.02 * next_random(&seed)};
        for (int axis = 0; axis < 3; axis++)
            scene.positions[i][axis] = (double)(float)place[axis];
    }
    set_reach(&scene, 0.005);
    assert_true(check_scene(&scene) > 1000);
    // All on a line; all at two points; all at one.
    for (int kind = 0; kind < 3; kind++) {
        for (uint32_t i = 0; i < FAN + 2; i++)
            for (int axis = 0; axis < 3; axis++)
                scene.positions[i][axis] = kind == 0   ? (double)(float)(0.001 * i * axis)
                                           : kind == 1 ? 0.25 * axis * (i % 2)
                                                       : 0.25;
        assert_true(check_scene(&scene) > 1000);
    }
    scene_end(&scene);

    // Triangles of which one corner lies nearly on the opposite side, in soup.
    enum { SOUP = 300 };
    uint32_t(*faces)[3] = calloc(SOUP, sizeof *faces);
    assert_non_null(faces);
    for (uint32_t t = 0; t < SOUP; t++)
        for (uint32_t c = 0; c < 3; c++)
            faces[t][c] = 3 * t + c;
    scene_of_faces(&scene, (uint64_t)3 * SOUP, faces, SOUP);
    for (int height = 0; height < 8; height++) {
        for (uint32_t t = 0; t < SOUP; t++) {
            double corners[3][3];
            for (int axis = 0; axis < 3; axis++) {
                const double middle = 0.05 * next_random(&seed);
                corners[0][axis] = middle + 0.02 * next_random(&seed);
                corners[1][axis] = middle + 0.02 * next_random(&seed);
                corners[2][axis] = 0.5 * (corners[0][axis] + corners[1][axis]) +
                                   0.02 * pow(10, -height) * next_random(&seed);
            }
            for (int c = 0; c < 3; c++)
                for (int axis = 0; axis < 3; axis++)
                    scene.positions[3 * t + (uint32_t)c][axis] = (double)(float)corners[c][axis];
        }
        set_reach(&scene, height % 2 ? 0.0005 : 0.002);
        assert_true(check_scene(&scene) > 100);
    }
    // Nearly parallel edges: all triangles along one direction.
    for (int angle = 0; angle < 8; angle++) {
        for (uint32_t i = 0; i < 3 * SOUP; i++)
            for (int axis = 0; axis < 3; axis++) {
                const double along = 0.02 * (i % 3) + 0.01 * next_random(&seed);
                const double across = 0.02 * next_random(&seed);
                if (i % 3 == 0 || axis == 0)
                    scene.positions[i][axis] = (double)(float)(axis == 0 ? along : across);
                else
                    scene.positions[i][axis] =
                        (double)(float)(scene.positions[i - 1][axis] +
                                        0.02 * pow(10, -angle) * next_random(&seed));
            }
        set_reach(&scene, 0.0005);
        assert_true(check_scene(&scene) > 100);
    }
    assert_true(between > 0);
    scene_end(&scene);
}

// Blocks of layers whose boxes overlap are as far apart as the layers.
static void test_layers_at_an_angle_are_apart(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const double distance = i ? 1e-4 : 0.003;
        const struct separations found[2] = {separations_f32(distance), separations_f64(distance)};
        for (int k = 0; k < 2; k++) {
            assert_true(found[k].by_nodes <= distance && found[k].by_nodes > 0.99 * distance);
            assert_true(found[k].by_frames <= distance && found[k].by_frames > 0.9 * distance);
        }
    }
}

static void test_nothing(void **state)
{
    (void)state;
    // No surfaces at all.
    struct scene scene = scene_of_bodies("{name: n, type: network, nodes: [[0,0,0],[1,0,0]],\n"
                                         "node_mass: 1, stiffness: 1, springs: [[0,1,{}]]}");
    move_nodes(&scene, 1, 0, 0, 1);
    set_reach(&scene, 1);
    assert_int_equal(check_scene(&scene), 0);
    scene_end(&scene);
    // Positions that are not finite have no candidates, and do no harm.
    scene = scene_of_bodies(CLOTH);
    set_reach(&scene, 0.01);
    for (int i = 0; i < 2; i++) {
        move_nodes(&scene, 1, 0, 0, 1);
        for (uint64_t node = 0; node < scene.topology->node_count; node += i ? 1 : 7)
            scene.positions[node][1] = i ? (double)NAN : (double)INFINITY;
        struct search search = search_of(&scene);
        struct search_result result = search_f32(&search);
        assert_true(result.found);
        assert_true(i == 0 || result.count == 0);
        free(result.items);
    }
    scene_end(&scene);
}

// ---- Flat sheets

// The least distance of two parts without a common node.
static double least_distance(const struct scene *scene)
{
    const struct surfaces *surfaces = &scene->surfaces;
    const double(*x)[3] = (const double(*)[3])scene->positions;
    struct part *edges = parts_of(surfaces, false), *triangles = parts_of(surfaces, true);
    struct part *nodes = nodes_of(surfaces);
    double least = HUGE_VAL;
    for (size_t i = 0; i < surfaces->own_node_count; i++)
        for (size_t j = 0; j < surfaces->triangle_count; j++)
            if (!share_node(&nodes[i], &triangles[j]))
                least = fmin(least, part_distance(x, &nodes[i], &triangles[j]));
    for (size_t i = 0; i < surfaces->edge_count; i++)
        for (size_t j = 0; j < i; j++)
            if (!share_node(&edges[i], &edges[j]))
                least = fmin(least, part_distance(x, &edges[i], &edges[j]));
    free(nodes);
    free(triangles);
    free(edges);
    return least;
}

// A direction and two at right angles to it.
static void random_axes(uint64_t *seed, vec3 axes[3])
{
    vec3 other;
    axes[0] = vec3_make(next_random(seed), next_random(seed), next_random(seed));
    other = vec3_make(next_random(seed), next_random(seed), next_random(seed));
    axes[0] = vec3_scale(1 / vec3_length(axes[0]), axes[0]);
    axes[1] = vec3_cross(axes[0], other);
    axes[1] = vec3_scale(1 / vec3_length(axes[1]), axes[1]);
    axes[2] = vec3_cross(axes[0], axes[1]);
}

// Puts the sheet, x along u and z along v, bent to a cylinder or folded along a line, sheared,
// stretched, rough and turned; all of that is stronger with `strength`.
static void deform_sheet(struct scene *scene, bool folded, double strength, uint64_t *seed)
{
    const double angle = PI * next_random(seed), along[2] = {cos(angle), sin(angle)};
    const double curvature = folded ? 0 : 2 * strength * next_random(seed);
    const double fold = folded ? PI * strength * next_random(seed) : 0;
    const double shear = 0.5 * strength * next_random(seed),
                 stretch = 1 + 0.5 * strength * next_random(seed),
                 rough = 0.004 * strength * next_random(seed);
    vec3 axes[3];
    random_axes(seed, axes);
    for (uint64_t i = 0; i < scene->topology->node_count; i++) {
        const double u = scene->built[i][0] - 0.5, v = scene->built[i][2] - 0.05;
        const double x = u + shear * v, z = stretch * v;
        double p = along[0] * x + along[1] * z, q = -along[1] * x + along[0] * z, h = 0;
        if (folded && p > 0) {
            h = p * sin(fold);
            p *= cos(fold);
        } else if (fabs(curvature) > 1e-9) {
            h = (1 - cos(curvature * p)) / curvature;
            p = sin(curvature * p) / curvature;
        }
        const double at[3] = {p + rough * next_random(seed), q + rough * next_random(seed),
                              h + rough * next_random(seed)};
        vec3 sum = {0, 0, 0};
        for (int axis = 0; axis < 3; axis++)
            sum = vec3_add(sum, vec3_scale(at[axis], axes[axis]));
        put(scene->solver, topology_builder_node(scene->topology, i), sum);
        scene->positions[i][0] = sum.x;
        scene->positions[i][1] = sum.y;
        scene->positions[i][2] = sum.z;
    }
}

static void check_flat_sheet(const char *nodes, double thickness, uint64_t *seed)
{
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler",
               "1e-6") "contact: {thickness: " NUM
                       "}\nbodies: [{name: s, type: cloth, origin: [0, 0, 0],\n"
                       "u: [1, 0, 0], v: [0, 0, 0.1], nodes: %s, mass: 1, spring: " S "}]\n",
        thickness, nodes);
    struct scene scene = {.solver = solver, .topology = solver_topology_for_tests(solver)};
    scene.built = built_positions(scene.solver, scene.topology);
    scene_start(&scene);
    assert_int_equal(flat_windows_choose(solver), 1);
    int within = 0, near = 0, beyond = 0;
    for (int i = 0; i < 150; i++) {
        deform_sheet(&scene, i % 2, 0.01 * (i + 1), seed);
        const double use = flat_windows_use(solver);
        beyond += use > 1;
        if (use > 1)
            continue;
        const double least = least_distance(&scene);
        if (least <= 1.5 * thickness)
            fail_msg("%s: %.9g m apart, with %g of the limit", nodes, least, use);
        within++;
        near += use > 0.5;
    }
    assert_true(within > 10 && near > 5 && beyond > 20);
    scene_end(&scene);
}

// As long as the window of a sheet holds, no two parts of it are within reach.
static void test_flat_sheets_are_out_of_reach(void **state)
{
    (void)state;
    uint64_t seed = 11;
    check_flat_sheet("[21, 5]", 0.002, &seed);
    check_flat_sheet("[21, 5]", 0.012, &seed);
    check_flat_sheet("[50, 6]", 0.004, &seed); // two tiles
}

// Surfaces that cannot be flat, or are so thick that they touch themselves at the least
// deformation.
static void test_sheets_without_windows(void **state)
{
    (void)state;
    taut_solver *thick = solver_of(
        HEADER("symplectic_euler",
               "1e-6") "contact: {thickness: 0.03}\n"
                       "bodies: [{name: s, type: cloth, origin: [0, 0, 0], u: [1, 0, 0],\n"
                       "v: [0, 0, 1], nodes: [21, 21], mass: 1, spring: " S "}]\n");
    assert_int_equal(flat_windows_choose(thick), 0);
    taut_solver_destroy(thick);
    taut_solver *round = solver_of(
        HEADER("symplectic_euler",
               "1e-6") "contact: {thickness: 0.003}\n"
                       "bodies: [{name: s, type: sphere, center: [0, 0, 0], radius: 0.5,\n"
                       "subdivisions: 2, mass: 1, spring: " S "}]\n");
    assert_int_equal(flat_windows_choose(round), 0);
    taut_solver_destroy(round);
}

// ---- Failing allocations

// Whichever allocation fails, the search says so on all workers, and nothing is left behind. The
// allocator counts without protection: it is used by one thread at a time.
static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    struct scene scene = scene_of_bodies(ALL_BODIES);
    move_nodes(&scene, 0.5, 0.05, 0, 8);
    set_reach(&scene, 0.01);
    struct failing memory;
    const taut_allocator allocator = {failing_allocate, failing_release, &memory};
    for (int threads = 1; threads <= 4; threads += 3) {
        uint64_t n = 0;
        for (bool found = false; !found; n++) {
            struct search search = search_of(&scene);
            memory = (struct failing){.countdown = n};
            search.allocator = &allocator;
            search.threads = threads;
            struct search_result result = n % 2 ? search_f32(&search) : search_f64(&search);
            found = result.found;
            assert_true(found || !result.items);
            assert_int_equal(memory.held, 0);
            assert_int_equal(memory.bytes, 0);
            free(result.items);
        }
        assert_true(n > 20);
    }
    scene_end(&scene);
}

// Tests every range of nodes that a rank may have, with parts of its first and last row.
static void test_rows_of_a_rank(void **state)
{
    enum { FIRST = 3, ROWS = 3, COUNT = 4, STRIDE = 6, NODES = FIRST + ROWS * STRIDE + 2 };
    (void)state;
    for (size_t rows = 1; rows <= ROWS; rows++)
        for (size_t count = 1; count <= COUNT; count++)
            for (struct range own = {0, 0}; own.first < NODES; own.first++)
                for (own.end = own.first; own.end <= NODES; own.end++) {
                    uint8_t single[NODES] = {0}, real_double[NODES] = {0};
                    count_rows_f32(FIRST, rows, count, STRIDE, own, single);
                    count_rows_f64(FIRST, rows, count, STRIDE, own, real_double);
                    for (size_t i = 0; i < NODES; i++) {
                        const bool of_part = i >= FIRST && (i - FIRST) / STRIDE < rows &&
                                             (i - FIRST) % STRIDE < count;
                        const bool is_own = i >= own.first && i < own.end;
                        assert_int_equal(single[i], of_part && is_own);
                        assert_int_equal(real_double[i], of_part && is_own);
                    }
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crumpled_cloth),
        cmocka_unit_test(test_all_bodies),
        cmocka_unit_test(test_far_from_the_origin),
        cmocka_unit_test(test_pairs_near_as_built),
        cmocka_unit_test(test_degenerate_shapes),
        cmocka_unit_test(test_layers_at_an_angle_are_apart),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_flat_sheets_are_out_of_reach),
        cmocka_unit_test(test_sheets_without_windows),
        cmocka_unit_test(test_rows_of_a_rank),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
