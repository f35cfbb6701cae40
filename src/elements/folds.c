// The bending of membranes that are curved as built (elements.h): folds at the edges of triangles.
//
// As in bending.c the curvature of a triangle of area A is S = sum f n n' / 2A over its edges, with
// their normals n in its plane, and its energy B A (S : S) / 2; but f is now the change since the
// body was built. With the dihedral angle theta of an edge of length l, f = 2 l sin((theta -
// theta0) / 2), which is zero as built, does not depend on where the body is and how it is turned,
// and for theta0 = 0 is the length of the vector that is linear in the positions there. Its sine
// and cosine follow from those of theta by a rotation, so that no angle is computed, and every
// number by correctly rounded operations.
//
// theta is a function of the four nodes of the edge. With the normals n1, n2 of the triangles,
// their heights h over the edge and where these meet it, as fractions s of the edge,
//
//   d theta = -u1.w1 - u2.w2,  u = n / h,  w1 = dc - (1 - s1) da - s1 db,  w2 likewise with d
//
// (E. Grinspun, A. Hirani, M. Desbrun, P. Schroeder, Discrete shells, SCA 2003). The pieces of the
// force on each fold are stored, and added up by its nodes in the order of the folds.
#include "elements/parts.h"
#include "elements/surface.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "springs/springs.h"
#include "state/reading.h"

enum { CORNER_A, CORNER_B, CORNER_C, CORNER_D };

// ---- Creation

static struct triangle_rest surface_rest(const struct bending_surface *surface, size_t index)
{
    return topology_triangle_rest(surface->topology, surface_number(surface, index));
}

// A fold by the edges of its triangles, of which the first has the lower number.
struct fold_sides {
    uint32_t triangles[2];
    int edges[2];
};

// The next fold in the order of its first triangles after *sides, which is zeroed at first, with
// edge -1 of the first triangle.
static bool next_fold(const struct bending_surface *surface, struct fold_sides *sides)
{
    uint32_t t = sides->triangles[0];
    for (int i = sides->edges[0] + 1; t < surface->count; t++, i = 0)
        for (; i < 3; i++) {
            const uint32_t other = surface->others[t][i];
            if (other == NO_TRIANGLE || other < t || surface->numbers[t][i] == NO_FOLD)
                continue;
            *sides = (struct fold_sides){{t, other}, {i, surface_edge_with(surface, other, t)}};
            return true;
        }
    return false;
}

static const struct fold_sides BEFORE_ALL_FOLDS = {{0, 0}, {-1, -1}};

static uint32_t fold_number(const struct bending_surface *surface, const struct fold_sides *sides)
{
    return surface->numbers[sides->triangles[0]][sides->edges[0]];
}

static void fold_nodes(const struct bending_surface *surface, const struct fold_sides *sides,
                       uint32_t to[4])
{
    const uint32_t *nodes = surface_corners(surface, sides->triangles[0]);
    const int i = sides->edges[0];
    to[CORNER_A] = nodes[(i + 1) % 3];
    to[CORNER_B] = nodes[(i + 2) % 3];
    to[CORNER_C] = nodes[i];
    to[CORNER_D] = surface_corners(surface, sides->triangles[1])[sides->edges[1]];
}

// The folds at the other edges of both triangles, or itself.
static void folds_beside(const struct bending_surface *surface, const struct fold_sides *sides,
                         uint32_t to[4])
{
    for (int side = 0; side < 2; side++)
        for (int next = 1; next < 3; next++) {
            const uint32_t *numbers = surface->numbers[sides->triangles[side]];
            const uint32_t other = numbers[(sides->edges[side] + next) % 3];
            to[2 * side + next - 1] = other == NO_FOLD ? fold_number(surface, sides) : other;
        }
}

// -1 if the fold at an edge counts along the opposite of the triangle's normal: the second triangle
// of a fold, where its orientation differs from that of the first.
static int turn_at(const struct bending_surface *surface, uint32_t triangle, int edge)
{
    const uint32_t other = surface->others[triangle][edge];
    if (other == NO_TRIANGLE || other > triangle)
        return 1;
    const int of_other = surface_edge_with(surface, other, triangle);
    const bool consistent = surface_corners(surface, triangle)[(edge + 1) % 3] !=
                            surface_corners(surface, other)[(of_other + 1) % 3];
    return consistent ? 1 : -1;
}

// ---- Which folds are there
//
// Those of chunks that a rank needs. While these are chosen it has no list of all folds: it passes
// over them in windows of their lower nodes.

enum { NOT_KEPT, BESIDE, NEEDED };

static void widen(struct range *range, uint64_t first, uint64_t end)
{
    range->first = (size_t)min_u64(range->first, first);
    range->end = (size_t)max_u64(range->end, end);
}

// The span of the nodes of chunks that are kept at least as much; none: empty.
static struct range span_of_kept(const struct fold_choice *choice, uint8_t least)
{
    struct range span = {SIZE_MAX, 0};
    for (size_t chunk = 0; chunk * FOLD_CHUNK < choice->count; chunk++)
        if (choice->kept[chunk] >= least)
            widen(&span, choice->spans[chunk].first, choice->spans[chunk].end);
    return span.first < span.end ? span : (struct range){0, 0};
}

struct counting {
    struct bending_surface all;
    struct element_nodes held;
    struct fold_choice *choice;
    bool sums; // the chunk of sums (SUM_CHUNK) of the last fold is one that this rank adds
};

// Counts a fold, and keeps its chunk with a node that is near, and those of sums that this rank
// adds.
static void count_fold(void *context, const struct edge_pair *pair)
{
    struct counting *it = context;
    struct fold_choice *choice = it->choice;
    const uint8_t *curved = it->all.curved;
    choice->bends |= !(curved[pair->edges[0] / 3] && curved[pair->edges[1] / 3]);
    if (!pair_is_fold(curved, pair))
        return;
    const struct fold_sides sides = {{pair->edges[0] / 3, pair->edges[1] / 3},
                                     {(int)(pair->edges[0] % 3), (int)(pair->edges[1] % 3)}};
    const size_t number = choice->count++, chunk = number / FOLD_CHUNK;
    uint32_t nodes[4];
    choice->starts[pair->node + 1]++;
    fold_nodes(&it->all, &sides, nodes);
    if (number % FOLD_CHUNK == 0)
        choice->spans[chunk] = (struct range){SIZE_MAX, 0};
    if (number % SUM_CHUNK == 0)
        it->sums = range_has(it->held.own, nodes[CORNER_A]);
    if (it->sums)
        choice->kept[chunk] = NEEDED;
    for (int corner = 0; corner < 4; corner++) {
        widen(&choice->spans[chunk], nodes[corner], (uint64_t)nodes[corner] + 1);
        if (range_has(it->held.near, nodes[corner]))
            choice->kept[chunk] = NEEDED;
    }
}

// Keeps the chunks of the folds beside those that are needed.
static void choose_beside(const struct bending_surface *surface, struct fold_choice *choice)
{
    struct fold_sides sides = BEFORE_ALL_FOLDS;
    uint32_t beside[4];
    while (next_fold(surface, &sides)) {
        if (choice->kept[fold_number(surface, &sides) / FOLD_CHUNK] != NEEDED)
            continue;
        folds_beside(surface, &sides, beside);
        for (int i = 0; i < 4; i++)
            if (!choice->kept[beside[i] / FOLD_CHUNK])
                choice->kept[beside[i] / FOLD_CHUNK] = BESIDE;
    }
}

bool REAL_NAME(folds_choose)(const struct topology *topology, const uint8_t *curved, size_t windows,
                             struct element_nodes held, struct fold_choice *choice)
{
    _Static_assert(SUM_CHUNK % FOLD_CHUNK == 0, "sums are of whole chunks");
    const size_t triangles = (size_t)topology->triangle_count, nodes = (size_t)topology->node_count;
    struct counting counting = {
        {.topology = topology, .curved = curved, .count = triangles}, held, choice, false};
    *choice = (struct fold_choice){.chunks = 3 * triangles / 2 / FOLD_CHUNK + 1};
    choice->starts = memory_allocate(NULL, nodes + 1, sizeof *choice->starts);
    choice->spans = memory_allocate(NULL, choice->chunks, sizeof *choice->spans);
    choice->kept = memory_allocate(NULL, choice->chunks, sizeof *choice->kept);
    if (!choice->starts || !choice->spans || !choice->kept ||
        !visit_edge_pairs(topology, windows, count_fold, &counting))
        return false;
    for (size_t node = 0; node < nodes; node++)
        choice->starts[node + 1] += choice->starts[node];
    if (choice->count == 0)
        return true;
    struct bending_surface surface;
    const bool made = bending_surface_make(topology, curved, span_of_kept(choice, NEEDED),
                                           choice->starts, &surface);
    if (made)
        choose_beside(&surface, choice);
    bending_surface_free(&surface);
    choice->nodes = span_of_kept(choice, BESIDE);
    return made;
}

void REAL_NAME(folds_choice_free)(const struct topology *topology, struct fold_choice *choice)
{
    memory_release(NULL, choice->starts, (size_t)topology->node_count + 1, sizeof *choice->starts);
    memory_release(NULL, choice->spans, choice->chunks, sizeof *choice->spans);
    memory_release(NULL, choice->kept, choice->chunks, sizeof *choice->kept);
}

// ---- Each fold

// One side of a fold as built: the direction of its triangle's gradient, the height over the edge,
// and where it meets the edge.
struct rest_side {
    vec3 gradient; // n / h
    double along;
};

static struct rest_side rest_side_of(const struct triangle_rest *rest, int edge, double turned,
                                     bool from_a)
{
    const double *squares = rest->squares;
    const double height = 2 * triangle_area(squares) / sqrt(squares[edge]);
    const double to_next = squares[(edge + 2) % 3], to_last = squares[(edge + 1) % 3];
    const double along = (squares[edge] + to_next - to_last) / (2 * squares[edge]);
    return (struct rest_side){vec3_scale(turned / height, rest->normal),
                              from_a ? along : 1 - along};
}

static void rest_gradients(const struct rest_side sides[2], double length, vec3 gradients[4])
{
    gradients[CORNER_C] = vec3_scale(-length, sides[0].gradient);
    gradients[CORNER_D] = vec3_scale(-length, sides[1].gradient);
    gradients[CORNER_A] = vec3_add(vec3_scale(length * (1 - sides[0].along), sides[0].gradient),
                                   vec3_scale(length * (1 - sides[1].along), sides[1].gradient));
    gradients[CORNER_B] = vec3_add(vec3_scale(length * sides[0].along, sides[0].gradient),
                                   vec3_scale(length * sides[1].along, sides[1].gradient));
}

// Adds the contribution of one of its triangles to the row of a fold.
static void couple(const struct bending_surface *surface, const struct fold_sides *sides, int side,
                   const double squares[3], struct fold *fold)
{
    const uint32_t triangle = sides->triangles[side];
    const int i = sides->edges[side];
    const double area = triangle_area(squares);
    for (int next = 1; next < 3; next++) {
        const int j = (i + next) % 3;
        // (n_i . n_j)^2 is the squared cosine of the angle between the edges.
        const double c = triangle_cotangent(squares, area, 3 - i - j);
        const double sign = turn_at(surface, triangle, i) * turn_at(surface, triangle, j);
        fold->couplings[2 * side + next - 1] =
            surface->numbers[triangle][j] == NO_FOLD || !surface_is_curved(surface, triangle)
                ? 0
                : (real)(sign * c * c / (1 + c * c) / (4 * area));
    }
    if (surface_is_curved(surface, triangle))
        fold->own += (real)(1 / (4 * area));
}

static void fill_fold(const struct bending_surface *surface, const struct fold_sides *sides,
                      struct fold *fold)
{
    const struct triangle_rest left = surface_rest(surface, sides->triangles[0]),
                               right = surface_rest(surface, sides->triangles[1]);
    const double turned = turn_at(surface, sides->triangles[1], sides->edges[1]);
    fold_nodes(surface, sides, fold->nodes);
    folds_beside(surface, sides, fold->others);
    fold->length = (real)sqrt(left.squares[sides->edges[0]]);
    const vec3 normal = vec3_scale(turned, right.normal);
    const double sine = vec3_length(vec3_cross(left.normal, normal));
    const bool ridge = vec3_dot(left.normal, vec3_subtract(right.centre, left.centre)) < 0;
    fold->cosine = (real)vec3_dot(left.normal, normal);
    fold->sine = (real)(ridge ? sine : -sine);
    couple(surface, sides, 0, left.squares, fold);
    couple(surface, sides, 1, right.squares, fold);
}

// The fold at an edge of a triangle, and its gradients as built; false if there is none.
static bool rest_fold(const struct bending_surface *surface, uint32_t triangle, int edge,
                      const struct triangle_rest *rest, uint32_t nodes[4], vec3 gradients[4])
{
    const uint32_t other = surface->others[triangle][edge];
    if (other == NO_TRIANGLE)
        return false;
    const struct triangle_rest beside = surface_rest(surface, other);
    const int beyond = surface_edge_with(surface, other, triangle);
    const bool first = triangle < other;
    const struct fold_sides sides = {{first ? triangle : other, first ? other : triangle},
                                     {first ? edge : beyond, first ? beyond : edge}};
    const struct triangle_rest *rests[2] = {first ? rest : &beside, first ? &beside : rest};
    const double turned = turn_at(surface, sides.triangles[1], sides.edges[1]);
    const struct rest_side both[2] = {rest_side_of(rests[0], sides.edges[0], 1, true),
                                      rest_side_of(rests[1], sides.edges[1], turned, turned < 0)};
    fold_nodes(surface, &sides, nodes);
    rest_gradients(both, sqrt(rests[0]->squares[sides.edges[0]]), gradients);
    return true;
}

// Finds the trace of the block of K as built for each node that is near: from the folds at it, and
// pairs of them in a triangle.
static void find_diagonals(const struct bending_surface *surface, struct range near,
                           struct element_folds *folds)
{
    for (uint32_t t = 0; t < surface->count; t++) {
        if (!surface_is_curved(surface, t))
            continue;
        vec3 gradients[3][4];
        uint32_t nodes[3][4];
        bool is[3];
        int turns[3];
        const struct triangle_rest rest = surface_rest(surface, t);
        for (int i = 0; i < 3; i++) {
            is[i] = rest_fold(surface, t, i, &rest, nodes[i], gradients[i]);
            turns[i] = turn_at(surface, t, i);
        }
        const double area = triangle_area(rest.squares);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                if (!is[i] || !is[j])
                    continue;
                const double c = i == j ? 0 : triangle_cotangent(rest.squares, area, 3 - i - j);
                const double sign = turns[i] * turns[j];
                const double q = (i == j ? 1 : sign * c * c / (1 + c * c)) / (4 * area);
                for (int p = 0; p < 4; p++)
                    for (int r = 0; r < 4; r++)
                        if (nodes[i][p] == nodes[j][r] && range_has(near, nodes[i][p]))
                            folds->diagonals[nodes[i][p]] +=
                                q * vec3_dot(gradients[i][p], gradients[j][r]);
            }
    }
}

// Finds the span of nodes of each chunk, and how many folds each node that is near has.
static void find_spans(struct range near, struct element_folds *folds)
{
    for (size_t chunk = 0; chunk < folds_chunks(folds); chunk++) {
        const struct range some = folds_of(folds, chunk);
        struct range *span = &folds->spans[chunk];
        if (!folds->kept[chunk])
            continue;
        *span = (struct range){SIZE_MAX, 0};
        folds->kept_count += some.end - some.first;
        for (size_t f = some.first; f < some.end; f++)
            for (int corner = 0; corner < 4; corner++) {
                const uint32_t node = folds->items[f].nodes[corner];
                widen(span, node, (uint64_t)node + 1);
                folds->starts[node + 1] += range_has(near, node);
            }
    }
}

// Lists the folds of each node that is near, ascending; false without memory. `starts` is not
// written for other nodes, so that it takes memory only for those that are near.
static bool find_entries(const struct system *system, struct range near,
                         struct element_folds *folds)
{
    for (size_t node = near.first; node < near.end; node++)
        folds->starts[node + 1] += folds->starts[node];
    folds->entry_count = near.first < near.end ? folds->starts[near.end] : 0;
    folds->entries = memory_allocate(system->allocator, folds->entry_count, sizeof *folds->entries);
    if (!folds->entries)
        return false;
    // Filled from the end, so that afterwards every start is in its index again.
    for (size_t f = folds->count; f-- > 0;)
        for (int corner = folds_have(folds, f) ? 4 : 0; corner-- > 0;) {
            const uint32_t node = folds->items[f].nodes[corner];
            if (range_has(near, node))
                folds->entries[--folds->starts[node + 1]] = (uint32_t)(4 * f + (size_t)corner);
        }
    if (near.first == near.end)
        return true;
    memmove(folds->starts + near.first, folds->starts + near.first + 1,
            (near.end - near.first) * sizeof *folds->starts);
    folds->starts[near.end] = folds->entry_count;
    return true;
}

// The arrays with an item for each fold, including those that are not kept, which take no memory.
#define FOLD_ARRAYS(X) X(items) X(strains) X(rates) X(vectors)

static bool allocate(const struct system *system, size_t count, struct element_folds *folds)
{
    const taut_allocator *allocator = system->allocator;
    const size_t nodes = (size_t)system->topology->node_count;
    folds->count = count;
    folds->kept = memory_allocate(allocator, folds_chunks(folds), sizeof *folds->kept);
    folds->spans = memory_allocate(allocator, folds_chunks(folds), sizeof *folds->spans);
    folds->starts = memory_allocate(allocator, nodes + 1, sizeof *folds->starts);
    folds->diagonals = memory_allocate(allocator, nodes, sizeof *folds->diagonals);
    bool done = folds->kept && folds->spans && folds->starts && folds->diagonals;
#define ALLOCATE(name)                                                                             \
    folds->name = memory_allocate(allocator, count, sizeof *folds->name);                          \
    done = done && folds->name;
    FOLD_ARRAYS(ALLOCATE)
#undef ALLOCATE
    return done;
}

// Folds that are not kept take no memory, and with TAUT_GUARD_LISTS nothing may read them.
static void forget_others(const struct system *system, struct element_folds *folds)
{
    for (size_t chunk = 0, end; chunk < folds_chunks(folds); chunk = end) {
        for (end = chunk + 1; end < folds_chunks(folds) && folds->kept[end] == folds->kept[chunk];)
            end++;
        if (folds->kept[chunk])
            continue;
        const size_t first = folds_of(folds, chunk).first, last = folds_of(folds, end - 1).end;
#define FORGET(name)                                                                               \
    memory_sparse(folds->name, folds->count * sizeof *folds->name, first * sizeof *folds->name,    \
                  last * sizeof *folds->name);                                                     \
    memory_forget(system->allocator, folds->name, folds->count * sizeof *folds->name,              \
                  first * sizeof *folds->name, last * sizeof *folds->name);
        FOLD_ARRAYS(FORGET)
#undef FORGET
    }
}

static bool make(const struct system *system, const struct bending_surface *surface,
                 const struct fold_choice *choice, size_t count, struct element_nodes held,
                 struct element_folds *folds)
{
    const size_t nodes = (size_t)system->topology->node_count;
    struct fold_sides sides = BEFORE_ALL_FOLDS;
    if (!allocate(system, count, folds))
        return false;
    for (size_t chunk = 0; chunk < folds_chunks(folds); chunk++)
        folds->kept[chunk] = choice ? choice->kept[chunk] : NEEDED;
    forget_others(system, folds);
    elements_sparse_outside(folds->starts, nodes + 1, sizeof *folds->starts, held.near);
    elements_sparse_outside(folds->diagonals, nodes, sizeof *folds->diagonals, held.near);
    while (next_fold(surface, &sides)) {
        const uint32_t number = fold_number(surface, &sides);
        if (folds_have(folds, number))
            fill_fold(surface, &sides, &folds->items[number]);
    }
    find_diagonals(surface, held.near, folds);
    find_spans(held.near, folds);
    return find_entries(system, held.near, folds);
}

taut_status REAL_NAME(folds_make)(const struct system *system,
                                  const struct bending_surface *surface,
                                  const struct fold_choice *choice, struct element_nodes held,
                                  struct element_folds *folds, taut_error *error)
{
    const size_t count = choice ? choice->count : surface->fold_count;
    if (count > UINT32_MAX / 4)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "meshes with 'elastic' have %zu edges that bend; at most %u are supported",
                    count, UINT32_MAX / 4);
    if (count > 0 && !make(system, surface, choice, count, held, folds))
        return fail_memory(error, "the bending of meshes");
    return TAUT_OK;
}

void REAL_NAME(folds_free)(const struct system *system, struct element_folds *folds)
{
    const taut_allocator *allocator = system->allocator;
    const size_t nodes = (size_t)system->topology->node_count, count = folds->count;
    memory_release(allocator, folds->entries, folds->entry_count, sizeof *folds->entries);
    memory_release(allocator, folds->kept, folds_chunks(folds), sizeof *folds->kept);
    memory_release(allocator, folds->spans, folds_chunks(folds), sizeof *folds->spans);
    memory_release(allocator, folds->starts, nodes + 1, sizeof *folds->starts);
    memory_release(allocator, folds->diagonals, nodes, sizeof *folds->diagonals);
#define RELEASE(name) memory_release(allocator, folds->name, count, sizeof *folds->name);
    FOLD_ARRAYS(RELEASE)
#undef RELEASE
}

uint64_t REAL_NAME(folds_bytes)(const struct system *system, const struct element_folds *folds)
{
    const struct range near = system->elements->held.near;
    const uint64_t nodes = near.end - near.first;
    uint64_t bytes = 0;
    if (folds->count == 0)
        return 0;
#define ADD_BYTES(name) bytes += folds->kept_count * sizeof *folds->name;
    FOLD_ARRAYS(ADD_BYTES)
#undef ADD_BYTES
    return bytes + folds->entry_count * sizeof *folds->entries +
           folds_chunks(folds) * (sizeof *folds->spans + sizeof *folds->kept) +
           (nodes + 1) * sizeof *folds->starts + nodes * sizeof *folds->diagonals;
}

// ---- The shape of one fold

// A vector and a number with their derivatives along a motion.
struct moving_vector {
    vec3 at, by;
};

struct moving_number {
    double at, by;
};

static struct moving_vector difference(struct moving_vector a, struct moving_vector b)
{
    return (struct moving_vector){vec3_subtract(a.at, b.at), vec3_subtract(a.by, b.by)};
}

static struct moving_vector cross(struct moving_vector a, struct moving_vector b)
{
    return (struct moving_vector){vec3_cross(a.at, b.at),
                                  vec3_add(vec3_cross(a.by, b.at), vec3_cross(a.at, b.by))};
}

static struct moving_number dot(struct moving_vector a, struct moving_vector b)
{
    return (struct moving_number){vec3_dot(a.at, b.at),
                                  vec3_dot(a.by, b.at) + vec3_dot(a.at, b.by)};
}

static struct moving_number quotient(struct moving_number a, struct moving_number b)
{
    const double ratio = a.at / b.at;
    return (struct moving_number){ratio, (a.by - ratio * b.by) / b.at};
}

static struct moving_vector times(struct moving_number a, struct moving_vector b)
{
    return (struct moving_vector){vec3_scale(a.at, b.at),
                                  vec3_add(vec3_scale(a.by, b.at), vec3_scale(a.at, b.by))};
}

// The strain f, its derivative by theta, and for each side u = n / h and s; with the derivatives
// along a motion of u and s. A triangle without an area has u = 0.
struct fold_shape {
    double strain, slope;
    struct moving_vector u[2];
    struct moving_number along[2];
    double length; // of the edge now, m
};

static struct fold_shape shape_of(const struct state *s, const struct fold *fold,
                                  const struct node_vectors *motion)
{
    struct moving_vector x[4];
    for (int corner = 0; corner < 4; corner++) {
        const uint32_t node = fold->nodes[corner];
        x[corner].at = node_position(s, node);
        x[corner].by = motion ? node_vector(*motion, node) : vec3_make(0, 0, 0);
    }
    const struct moving_vector edge = difference(x[CORNER_B], x[CORNER_A]);
    const struct moving_vector sides[2] = {difference(x[CORNER_C], x[CORNER_A]),
                                           difference(x[CORNER_D], x[CORNER_A])};
    const struct moving_vector normals[2] = {cross(edge, sides[0]), cross(sides[1], edge)};
    const struct moving_number square = dot(edge, edge);
    struct fold_shape shape = {.length = sqrt(square.at)};
    double squares[2];
    for (int side = 0; side < 2; side++) {
        const struct moving_number area = dot(normals[side], normals[side]);
        const struct moving_number length = {shape.length,
                                             shape.length > 0 ? square.by / (2 * shape.length) : 0};
        squares[side] = area.at;
        if (!(area.at > 0))
            continue;
        shape.u[side] = times(quotient(length, area), normals[side]);
        shape.along[side] = quotient(dot(sides[side], edge), square);
    }
    if (!(squares[0] > 0 && squares[1] > 0))
        return (struct fold_shape){.length = shape.length};

    // The angle, and its change since the body was built.
    const double inverse = 1 / (sqrt(squares[0]) * sqrt(squares[1]));
    const double cosine = vec3_dot(normals[0].at, normals[1].at) * inverse;
    const double sine = -shape.length * vec3_dot(normals[0].at, sides[1].at) * inverse;
    const double rest_cosine = (double)fold->cosine, rest_sine = (double)fold->sine;
    const double turned_cosine = cosine * rest_cosine + sine * rest_sine;
    const double turned_sine = sine * rest_cosine - cosine * rest_sine;
    const double half_cosine = sqrt(fmax((1 + turned_cosine) / 2, 0));
    const double twice_half_sine = turned_cosine >= 0
                                       ? turned_sine / half_cosine
                                       : copysign(2 * sqrt((1 - turned_cosine) / 2), turned_sine);
    shape.strain = (double)fold->length * twice_half_sine;
    shape.slope = (double)fold->length * half_cosine;
    return shape;
}

// The derivative of theta along the motion.
static double turn_of(const struct fold *fold, const struct fold_shape *shape,
                      struct node_vectors motion)
{
    vec3 by[4];
    for (int corner = 0; corner < 4; corner++)
        by[corner] = node_vector(motion, fold->nodes[corner]);
    const vec3 edge = vec3_subtract(by[CORNER_B], by[CORNER_A]);
    double turn = 0;
    for (int side = 0; side < 2; side++) {
        const vec3 w = vec3_subtract(vec3_subtract(by[CORNER_C + side], by[CORNER_A]),
                                     vec3_scale(shape->along[side].at, edge));
        turn -= vec3_dot(shape->u[side].at, w);
    }
    return turn;
}

// ---- Passes over all folds

static void put_vector(real *to, vec3 from)
{
    to[0] = (real)from.x;
    to[1] = (real)from.y;
    to[2] = (real)from.z;
}

static vec3 get_vector(const real *from)
{
    return vec3_make((double)from[0], (double)from[1], (double)from[2]);
}

// Stores the strain and the rate of each fold, and in `vectors` slope u and s of both sides.
void REAL_NAME(folds_measure)(const struct system *system, const struct node_vectors *along,
                              const struct worker *worker)
{
    const struct element_folds *folds = &system->elements->bending.folds;
    struct range range;
    while (worker_claim(worker, folds_chunks(folds), 1, &range)) {
        const struct range some = folds_of(folds, range.first);
        if (!elements_folds_are_known(system, range.first))
            continue;
        for (size_t f = some.first; f < some.end; f++) {
            const struct fold *fold = &folds->items[f];
            const struct fold_shape shape = shape_of(system->state, fold, NULL);
            real *vectors = folds->vectors[f];
            folds->strains[f] = (real)shape.strain;
            folds->rates[f] = along ? (real)(shape.slope * turn_of(fold, &shape, *along)) : 0;
            for (int side = 0; side < 2; side++) {
                put_vector(vectors + 3 * side, vec3_scale(shape.slope, shape.u[side].at));
                vectors[6 + side] = (real)shape.along[side].at;
            }
        }
    }
    worker_barrier(worker);
}

static double coupled(const struct element_folds *folds, const real *values, size_t f)
{
    const struct fold *fold = &folds->items[f];
    double sum = (double)fold->own * (double)values[f];
    for (int i = 0; i < 4; i++)
        sum += (double)fold->couplings[i] * (double)values[fold->others[i]];
    return sum;
}

double REAL_NAME(fold_square)(const struct element_folds *folds, size_t fold, bool rates)
{
    const real *values = rates ? folds->rates : folds->strains;
    return (double)values[fold] * coupled(folds, values, fold);
}

// The vectors of B, C and D become the forces there; the force on A is the opposite of their sum.
static void store_forces(real *vectors, vec3 b, vec3 c, vec3 d)
{
    put_vector(vectors, b);
    put_vector(vectors + 3, c);
    put_vector(vectors + 6, d);
}

// The forces of the plain reference; returns the power of the damping.
static double pull(const struct element_bending *bending, struct range range)
{
    const struct element_folds *folds = &bending->folds;
    double power = 0;
    for (size_t f = range.first; f < range.end; f++) {
        const uint32_t node = folds->items[f].nodes[CORNER_A];
        const double stiffness = (double)bending->stiffness[node];
        const double damping = (double)bending->times[node] * coupled(folds, folds->rates, f);
        const double moment = stiffness * (coupled(folds, folds->strains, f) + damping);
        real *vectors = folds->vectors[f];
        const vec3 left = vec3_scale(moment, get_vector(vectors));
        const vec3 right = vec3_scale(moment, get_vector(vectors + 3));
        power += stiffness * damping * (double)folds->rates[f];
        store_forces(vectors,
                     vec3_scale(-1, vec3_add(vec3_scale((double)vectors[6], left),
                                             vec3_scale((double)vectors[7], right))),
                     left, right);
    }
    return power;
}

void REAL_NAME(folds_pull)(const struct system *system, double *powers, const struct worker *worker)
{
    const struct element_bending *bending = &system->elements->bending;
    const struct element_folds *folds = &bending->folds;
    const struct state *s = system->state;
    const struct kernels *kernels = system->kernels;
    const struct node_vectors v = {s->vx, s->vy, s->vz};
    struct range range;
    if (kernels->fold_strains) {
        while (worker_claim(worker, folds_chunks(folds), 1, &range))
            if (elements_folds_are_measured(system, range.first))
                kernels->fold_strains(system, folds_of(folds, range.first), bending->damped);
        worker_barrier(worker);
    } else {
        REAL_NAME(folds_measure)(system, bending->damped ? &v : NULL, worker);
    }
    const size_t first = element_power_count(system->elements) - folds_chunks(folds);
    while (worker_claim(worker, folds_chunks(folds), 1, &range)) {
        const struct range some = folds_of(folds, range.first);
        if (!elements_part_is_computed(system, first + range.first))
            continue;
        const double power = kernels->fold_forces
                                 ? kernels->fold_forces(system, some, powers != NULL)
                                 : pull(bending, some);
        if (powers)
            powers[range.first] = power;
    }
    worker_barrier(worker);
}

vec3 REAL_NAME(folds_force)(const struct element_folds *folds, size_t node)
{
    vec3 sum = {0, 0, 0};
    for (size_t i = folds->starts[node]; i < folds->starts[node + 1]; i++) {
        const real *vectors = folds->vectors[folds->entries[i] / 4];
        const int corner = (int)(folds->entries[i] % 4);
        if (corner == CORNER_A)
            sum = vec3_subtract(
                sum, vec3_add(get_vector(vectors),
                              vec3_add(get_vector(vectors + 3), get_vector(vectors + 6))));
        else
            sum = vec3_add(sum, get_vector(vectors + 3 * (corner - CORNER_B)));
    }
    return sum;
}

// ---- Derivatives

// The derivative of the gradient of f along a motion by which theta turns at this rate.
static void turn_gradient(const struct fold_shape *shape, double turn, vec3 *b, vec3 *c, vec3 *d)
{
    // The second derivative of f by theta is -f / 4.
    const struct moving_number slope = {shape->slope, -shape->strain / 4 * turn};
    struct moving_vector ends[2], sum = {{0, 0, 0}, {0, 0, 0}};
    for (int side = 0; side < 2; side++) {
        ends[side] = times(slope, shape->u[side]);
        const struct moving_vector part = times(shape->along[side], ends[side]);
        sum.by = vec3_add(sum.by, part.by);
    }
    *b = sum.by;
    *c = vec3_scale(-1, ends[0].by);
    *d = vec3_scale(-1, ends[1].by);
}

void REAL_NAME(folds_multiply)(const struct system *system, struct range rows,
                               enum tangent_kind kind, double stiffness, double damping,
                               struct node_vectors in, const struct worker *worker)
{
    const struct element_bending *bending = &system->elements->bending;
    const struct element_folds *folds = &bending->folds;
    const bool exact = kind == TANGENT_EXACT && stiffness != 0;
    struct range range;
    while (worker_claim(worker, folds_chunks(folds), 1, &range)) {
        const struct range some = folds_of(folds, range.first);
        if (folds->spans[range.first].end <= rows.first ||
            folds->spans[range.first].first >= rows.end)
            continue;
        for (size_t f = some.first; f < some.end; f++) {
            const struct fold *fold = &folds->items[f];
            const uint32_t node = fold->nodes[CORNER_A];
            const double factor = (double)bending->stiffness[node];
            const double change = factor * (stiffness + damping * (double)bending->times[node]) *
                                  coupled(folds, folds->rates, f);
            const double moment =
                exact ? stiffness * factor * coupled(folds, folds->strains, f) : 0;
            real *vectors = folds->vectors[f];
            const vec3 left = vec3_scale(-change, get_vector(vectors));
            const vec3 right = vec3_scale(-change, get_vector(vectors + 3));
            vec3 b = vec3_scale(-1, vec3_add(vec3_scale((double)vectors[6], left),
                                             vec3_scale((double)vectors[7], right)));
            vec3 c = left, d = right;
            if (moment != 0) {
                const struct fold_shape shape = shape_of(system->state, fold, &in);
                vec3 more_b, more_c, more_d;
                turn_gradient(&shape, turn_of(fold, &shape, in), &more_b, &more_c, &more_d);
                b = vec3_add(b, vec3_scale(moment, more_b));
                c = vec3_add(c, vec3_scale(moment, more_c));
                d = vec3_add(d, vec3_scale(moment, more_d));
            }
            store_forces(vectors, b, c, d);
        }
    }
    worker_barrier(worker);
}

// The gradient of f by the position of a corner, from what folds_measure has stored.
static vec3 stored_gradient(const real *vectors, int corner)
{
    if (corner >= CORNER_C)
        return vec3_scale(-1, get_vector(vectors + 3 * (corner - CORNER_C)));
    const double left = (double)vectors[6], right = (double)vectors[7];
    return vec3_add(vec3_scale(corner == CORNER_A ? 1 - left : left, get_vector(vectors)),
                    vec3_scale(corner == CORNER_A ? 1 - right : right, get_vector(vectors + 3)));
}

void REAL_NAME(folds_block)(const struct element_folds *folds, size_t node, double block[6])
{
    for (size_t i = folds->starts[node]; i < folds->starts[node + 1]; i++) {
        const size_t f = folds->entries[i] / 4;
        const struct fold *fold = &folds->items[f];
        const vec3 own = stored_gradient(folds->vectors[f], (int)(folds->entries[i] % 4));
        block_add_square(block, own, (double)fold->own);
        for (int j = 0; j < 4; j++) {
            const struct fold *other = &folds->items[fold->others[j]];
            for (int corner = 0; fold->couplings[j] != 0 && corner < 4; corner++)
                if (other->nodes[corner] == node)
                    block_add_symmetric(block, own,
                                        stored_gradient(folds->vectors[fold->others[j]], corner),
                                        (double)fold->couplings[j] / 2);
        }
    }
}

// ---- Bounds (elements.h)
//
// f'Qf <= sum r f^2 with the sums r of the magnitudes of the rows of Q. The second derivatives of
// theta are 2 (m.w) (n.w) / h^2 + 2 (t.w) (n.e) / h + (n.e) (m.e) for each side, with the
// directions t of the edge and m across it and the change e of the edge over its length: at most
// |w|^2 / h^2 + 3/2 |e|^2 in magnitude, where |w|^2 <= (1 + |1 - s| + |s|) (|dc|^2 + |1 - s| |da|^2
// + |s| |db|^2) and |e|^2 <= 2 (|da|^2 + |db|^2) / l^2.

static void bound_fold(const struct system *system, size_t f, struct range nodes,
                       element_bound_callback visit, void *context)
{
    const struct element_bending *bending = &system->elements->bending;
    const struct element_folds *folds = &bending->folds;
    const struct fold *fold = &folds->items[f];
    const struct fold_shape shape = shape_of(system->state, fold, NULL);
    const double stiffness = (double)bending->stiffness[fold->nodes[CORNER_A]];
    const double time = (double)bending->times[fold->nodes[CORNER_A]];
    double row = (double)fold->own, moment = (double)fold->own * shape.strain;
    for (int i = 0; i < 4; i++) {
        row += fabs((double)fold->couplings[i]);
        if (fold->couplings[i] != 0) {
            const struct fold *other = &folds->items[fold->others[i]];
            moment += (double)fold->couplings[i] * shape_of(system->state, other, NULL).strain;
        }
    }
    moment *= stiffness;

    vec3 gradients[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}; // of theta
    double second[4] = {0, 0, 0, 0};                                  // at most
    for (int side = 0; side < 2; side++) {
        const double s = shape.along[side].at,
                     square = vec3_dot(shape.u[side].at, shape.u[side].at);
        const double weight = square * (1 + fabs(1 - s) + fabs(s));
        const double edge = shape.length > 0 ? 3 / (shape.length * shape.length) : 0;
        gradients[CORNER_C + side] = vec3_scale(-1, shape.u[side].at);
        gradients[CORNER_A] = vec3_add(gradients[CORNER_A], vec3_scale(1 - s, shape.u[side].at));
        gradients[CORNER_B] = vec3_add(gradients[CORNER_B], vec3_scale(s, shape.u[side].at));
        second[CORNER_C + side] = weight;
        second[CORNER_A] += weight * fabs(1 - s) + edge;
        second[CORNER_B] += weight * fabs(s) + edge;
    }
    double total = 0;
    for (int corner = 0; corner < 4; corner++)
        total += vec3_length(gradients[corner]);
    const double first_order = stiffness * row * shape.slope * shape.slope;
    const double bend = -moment * shape.strain / 4; // of the second derivative of f by theta
    for (int corner = 0; corner < 4; corner++) {
        struct element_bound bound = {.node = fold->nodes[corner]};
        const double length = vec3_length(gradients[corner]);
        if (bound.node < nodes.first || bound.node >= nodes.end || length == 0)
            continue;
        const double weight = total / length, more = fabs(moment) * shape.slope * second[corner];
        block_add_square(bound.stiffness, gradients[corner],
                         weight * (first_order + fmax(bend, 0)));
        block_add_square(bound.negative, gradients[corner], weight * fmax(-bend, 0));
        block_add_square(bound.damping, gradients[corner], weight * first_order * time);
        block_add_around(bound.stiffness, more);
        block_add_around(bound.negative, more);
        visit(context, &bound);
    }
}

void REAL_NAME(folds_visit_bounds)(const struct system *system, struct range nodes,
                                   element_bound_callback visit, void *context)
{
    const struct element_folds *folds = &system->elements->bending.folds;
    for (size_t chunk = 0; chunk < folds_chunks(folds); chunk++) {
        if (folds->spans[chunk].end <= nodes.first || folds->spans[chunk].first >= nodes.end)
            continue;
        const struct range some = folds_of(folds, chunk);
        for (size_t f = some.first; f < some.end; f++) {
            const uint32_t *at = folds->items[f].nodes;
            bool inside = false;
            for (int corner = 0; corner < 4; corner++)
                inside |= at[corner] >= nodes.first && at[corner] < nodes.end;
            if (inside)
                bound_fold(system, f, nodes, visit, context);
        }
    }
}
