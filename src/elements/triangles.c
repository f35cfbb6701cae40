// Triangles as elements: the membranes of meshes (elements.h), listed in coloured blocks.
//
// With the squares l^2 of the lengths of its edges, and L^2 at rest, a triangle of area A has
// Green's strain E with e_i' E e_i = (l_i^2 - L_i^2) / 2 on each edge, which is all of E: three
// numbers. By sum cot(a_i) e_i e_i' = 2 A I, with a_i the angle opposite edge i, and by Heron's
// formula,
//
//   tr E = sum cot(a_i) d_i / 4A,   det E = (2 sum_(i<j) d_i d_j - sum d_i^2) / 64 A^2,
//
// d_i = l_i^2 - L_i^2. So the energy of the St.-Venant-Kirchhoff membrane with C = E t / (1 - nu^2)
// and the shear modulus G = E t / 2 (1 + nu), A (C / 2 (tr E)^2 - 2 G det E), is a quadratic form
// of the d_i, the same on every triangle of the same strain: springs on the edges and terms between
// two of them (H. Delingette, Triangular springs for modeling nonlinear membranes, IEEE TVCG 14,
// 2008).
#include "elements/elements.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "springs/springs.h"
#include "state/reading.h"

// ---- Creation

// Nodes per tile of coloured blocks: enough of them for every thread, and in the cache.
static uint32_t tile_nodes(uint64_t node_count)
{
    const uint64_t nodes = node_count / 64;
    return nodes < 64 ? 64 : nodes > 1024 ? 1024 : (uint32_t)nodes;
}

static real *column(const struct element_triangles *triangles, enum triangle_column which)
{
    return triangles->numbers + (size_t)which * triangles->count;
}

// The damping of a triangle is that of its stiffest mode, the dilation of an equilateral triangle,
// between nodes of six triangles.
static double time_of(const struct element_membrane *membrane, const double squares[3])
{
    const double sum = squares[0] + squares[1] + squares[2];
    const double area = triangle_area(squares);
    const double stiffness = (membrane->stretch - membrane->shear) * sum / (4 * area);
    const double mass = 2 * area * membrane->areal_density;
    return membrane->damping_time > 0 ? membrane->damping_time
                                      : 2 * membrane->damping_ratio * sqrt(mass / stiffness);
}

// The constants of the triangle at an index, from its squared lengths at rest.
static void set_constants(struct element_triangles *triangles, size_t index,
                          const struct element_membrane *membrane, const double squares[3])
{
    const double area = triangle_area(squares);
    for (int i = 0; i < 3; i++) {
        const double cotangent = triangle_cotangent(squares, area, i);
        column(triangles, TRIANGLE_SQUARE + (enum triangle_column)i)[index] = (real)squares[i];
        column(triangles, TRIANGLE_WEIGHT + (enum triangle_column)i)[index] =
            (real)(sqrt(membrane->stretch / (16 * area)) * cotangent);
    }
    column(triangles, TRIANGLE_SHEAR)[index] = (real)(membrane->shear / (16 * area));
    column(triangles, TRIANGLE_TIME)[index] = (real)time_of(membrane, squares);
}

void REAL_NAME(triangles_list)(const struct topology *topology, uint32_t (*nodes)[3])
{
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (elements_are_membrane(&body->elements) && body->face_count > 0)
            memcpy(nodes[body->first_triangle], topology->faces[body->first_listed_face],
                   (size_t)body->face_count * sizeof *nodes);
    }
}

static bool block_is_near(const struct element_triangles *triangles, struct plan_block block,
                          struct range near)
{
    const struct range span = triangles->spans[block.number];
    if (span.end <= near.first || span.first >= near.end)
        return false;
    for (uint64_t i = block.first; i < block.first + block.count; i++)
        for (int corner = 0; corner < 3; corner++)
            if (range_has(near, triangles->nodes[i][corner]))
                return true;
    return false;
}

static void find_span(struct element_triangles *triangles, struct plan_block block)
{
    struct range *span = &triangles->spans[block.number];
    *span = (struct range){SIZE_MAX, 0};
    for (uint64_t i = block.first; i < block.first + block.count; i++)
        for (int corner = 0; corner < 3; corner++) {
            const size_t node = triangles->nodes[i][corner];
            span->first = node < span->first ? node : span->first;
            span->end = node + 1 > span->end ? node + 1 : span->end;
        }
}

// The memory of triangles is released in groups of so many.
enum { KEPT_GROUP = 64 };

static void keep(uint8_t *kept, uint64_t first, uint64_t end)
{
    for (uint64_t group = first / KEPT_GROUP; group * KEPT_GROUP < end; group++)
        kept[group] = 1;
}

// Releases nodes and numbers that a rank with a part does not need; false without memory.
static bool forget_others(const struct system *system, struct element_nodes held,
                          struct element_triangles *triangles)
{
    const size_t count = triangles->count, groups = (count + KEPT_GROUP - 1) / KEPT_GROUP;
    uint8_t *kept = memory_allocate(NULL, groups, sizeof *kept);
    if (!kept)
        return false;
    for (uint32_t b = 0; b < triangles->set.block_count; b++) {
        const struct plan_block block = triangles->set.blocks[b];
        if (block_is_near(triangles, block, held.near))
            keep(kept, block.first, block.first + block.count);
        else
            triangles->spans[block.number] = (struct range){0, 0};
    }
    for (size_t first = 0; first < count; first += SUM_CHUNK)
        if (range_has(held.own, triangles_first_node(triangles, first)))
            keep(kept, first, min_u64(first + SUM_CHUNK, count));
    triangles->kept_count = 0;
    for (size_t group = 0, end; group < groups; group = end) {
        for (end = group + 1; end < groups && kept[end] == kept[group];)
            end++;
        const size_t first = group * KEPT_GROUP, last = (size_t)min_u64(end * KEPT_GROUP, count);
        if (kept[group]) {
            triangles->kept_count += last - first;
            continue;
        }
        memory_forget(system->allocator, triangles->nodes, count * sizeof *triangles->nodes,
                      first * sizeof *triangles->nodes, last * sizeof *triangles->nodes);
        if (triangles->set.order)
            memory_forget(
                system->allocator, triangles->set.order, count * sizeof *triangles->set.order,
                first * sizeof *triangles->set.order, last * sizeof *triangles->set.order);
    }
    memory_release(NULL, kept, groups, sizeof *kept);
    return true;
}

// Copies the data that passes read into the order of the blocks.
static bool fill(const struct system *system, const uint32_t (*nodes)[3], struct element_nodes held,
                 struct element_triangles *triangles)
{
    for (size_t i = 0; i < triangles->count; i++)
        memcpy(triangles->nodes[i], nodes[plan_element(&triangles->set, i)],
               sizeof triangles->nodes[i]);
    for (size_t i = 0; i < triangles->count; i += SUM_CHUNK)
        triangles->chunk_nodes[i / SUM_CHUNK] = triangles->nodes[i][0];
    for (uint32_t b = 0; b < triangles->set.block_count; b++)
        find_span(triangles, triangles->set.blocks[b]);
    triangles->kept_count = triangles->count;
    if (!elements_held_are_all(held, system->topology)) {
        // In each of the columns, blocks of neighbouring nodes may have other ones between them.
        const size_t bytes = TRIANGLE_COLUMNS * triangles->count * sizeof *triangles->numbers;
        memory_sparse(triangles->numbers, bytes, 0, bytes);
        if (!forget_others(system, held, triangles))
            return false;
    }
    REAL_NAME(triangles_refresh)(system->topology, held, triangles);
    return true;
}

// The lists in the order of coloured blocks.
static taut_status make_lists(const struct system *system, const uint32_t (*nodes)[3],
                              struct element_nodes held, struct element_triangles *triangles,
                              taut_error *error)
{
    const struct topology *topology = system->topology;
    const taut_allocator *allocator = system->allocator;
    const size_t count = (size_t)topology->triangle_count;
    const struct elements all = {
        .nodes = nodes[0], .arity = 3, .count = count, .node_count = topology->node_count};
    const struct set_options options = {.allocator = allocator,
                                        .tile_nodes = tile_nodes(topology->node_count)};
    triangles->count = count;
    taut_status status = plan_set_make(&all, &options, &triangles->set, error);
    if (status == TAUT_OK) {
        triangles->nodes = memory_allocate(allocator, count, sizeof *triangles->nodes);
        triangles->numbers =
            memory_allocate(allocator, TRIANGLE_COLUMNS * count, sizeof *triangles->numbers);
        triangles->spans =
            memory_allocate(allocator, triangles->set.block_count, sizeof *triangles->spans);
        triangles->chunk_nodes =
            memory_allocate(allocator, chunk_count(count), sizeof *triangles->chunk_nodes);
        if (!triangles->nodes || !triangles->numbers || !triangles->spans ||
            !triangles->chunk_nodes || !fill(system, nodes, held, triangles))
            status = fail_memory(error, "the triangles");
    }
    return status;
}

taut_status REAL_NAME(triangles_make)(const struct system *system, struct element_nodes held,
                                      struct element_triangles *triangles, taut_error *error)
{
    const struct topology *topology = system->topology;
    const size_t count = (size_t)topology->triangle_count;
    if (count == 0)
        return TAUT_OK;
    uint32_t(*nodes)[3] = memory_allocate(NULL, count, sizeof *nodes);
    taut_status status = TAUT_OK;
    if (!nodes) {
        status = fail_memory(error, "the triangles");
    } else {
        REAL_NAME(triangles_list)(topology, nodes);
        status = make_lists(system, (const uint32_t(*)[3])nodes, held, triangles, error);
    }
    memory_release(NULL, nodes, count, sizeof *nodes);
    return status;
}

static void set_all(const struct topology *topology, struct element_triangles *triangles,
                    struct range range)
{
    for (size_t i = range.first; i < range.end; i++) {
        const uint32_t number = plan_element(&triangles->set, i);
        const struct topology_body *body = topology_body_of_triangle(topology, number);
        double squares[3];
        topology_triangle_squares(topology, number, squares);
        set_constants(triangles, i, &body->elements.membrane, squares);
    }
}

// Whether any triangle is damped, on whichever rank.
static bool any_damped(const struct topology *topology)
{
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (!elements_are_membrane(&body->elements))
            continue;
        for (uint64_t f = 0; f < body->face_count; f++) {
            double squares[3];
            topology_triangle_squares(topology, body->first_triangle + f, squares);
            if (time_of(&body->elements.membrane, squares) > 0)
                return true;
        }
    }
    return false;
}

// Sets the constants of the blocks that are kept, and of the chunks that this rank sums.
void REAL_NAME(triangles_refresh)(const struct topology *topology, struct element_nodes held,
                                  struct element_triangles *triangles)
{
    size_t set = 0;
    triangles->damped = any_damped(topology);
    for (uint32_t b = 0; b < triangles->set.block_count; b++) {
        const struct plan_block block = triangles->set.blocks[b];
        const struct range range = {(size_t)block.first, (size_t)(block.first + block.count)};
        if (triangles->spans[block.number].end == 0)
            continue;
        set_all(topology, triangles, range);
        set += range.end - range.first;
    }
    for (size_t first = 0; set < triangles->count && first < triangles->count; first += SUM_CHUNK)
        if (range_has(held.own, triangles_first_node(triangles, first)))
            set_all(topology, triangles, chunk_range(first / SUM_CHUNK, triangles->count));
}

void REAL_NAME(triangles_free)(const struct system *system, struct element_triangles *triangles)
{
    const taut_allocator *allocator = system->allocator;
    memory_release(allocator, triangles->nodes, triangles->count, sizeof *triangles->nodes);
    memory_release(allocator, triangles->numbers, TRIANGLE_COLUMNS * triangles->count,
                   sizeof *triangles->numbers);
    memory_release(allocator, triangles->spans, triangles->set.block_count,
                   sizeof *triangles->spans);
    memory_release(allocator, triangles->chunk_nodes, chunk_count(triangles->count),
                   sizeof *triangles->chunk_nodes);
    plan_set_free(allocator, &triangles->set);
}

uint64_t REAL_NAME(triangles_bytes)(const struct element_triangles *triangles)
{
    const struct plan_set *set = &triangles->set;
    return triangles->kept_count *
               (sizeof *triangles->nodes + TRIANGLE_COLUMNS * sizeof(real) + sizeof *set->order) +
           set->block_capacity * sizeof *set->blocks + set->block_count * sizeof *triangles->spans +
           chunk_count(triangles->count) * sizeof *triangles->chunk_nodes;
}

// ---- Single triangles

struct element REAL_NAME(triangle_element)(const struct element_triangles *triangles, size_t index)
{
    struct element element = {.kind = ELEMENT_TRIANGLE, .count = 3, .triangle = index};
    for (int corner = 0; corner < 3; corner++)
        element.nodes[corner] = triangles->nodes[index][corner];
    return element;
}

struct triangle REAL_NAME(element_triangle)(const struct system *system,
                                            const struct element *element, bool rates)
{
    const struct element_triangles *from = &system->elements->triangles;
    const struct state *s = system->state;
    const size_t index = element->triangle;
    struct triangle triangle = {.shear = (double)column(from, TRIANGLE_SHEAR)[index],
                                .time = (double)column(from, TRIANGLE_TIME)[index]};
    vec3 x[3], v[3];
    for (int corner = 0; corner < 3; corner++) {
        x[corner] = node_position(s, element->nodes[corner]);
        v[corner] = rates ? node_velocity(s, element->nodes[corner]) : vec3_make(0, 0, 0);
    }
    for (int i = 0; i < 3; i++) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        const vec3 edge = vec3_subtract(x[b], x[a]);
        triangle.edges[i] = edge;
        triangle.square[i] = (double)column(from, TRIANGLE_SQUARE + (enum triangle_column)i)[index];
        triangle.weights[i] =
            (double)column(from, TRIANGLE_WEIGHT + (enum triangle_column)i)[index];
        triangle.excess[i] = vec3_dot(edge, edge) - triangle.square[i];
        triangle.rates[i] = 2 * vec3_dot(edge, vec3_subtract(v[b], v[a]));
    }
    return triangle;
}
