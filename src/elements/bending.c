// The bending of membranes that are flat as built (elements.h): linear in the positions.
//
// On an edge of length l between two triangles, the four nodes have weights R, from the cotangents
// of the angles at rest, whose sum K = sum R x is a vector along the normal with |K| = theta l at
// the dihedral angle theta (M. Bergou, M. Wardetzky, D. Harmon, D. Zorin, E. Grinspun, A quadratic
// bending model for inextensible surfaces, SGP 2006). The curvature of a triangle of area A is
// S = sum K n n' / 2A over its edges, with their normals n in its plane, half of the bend of each
// edge being that of either triangle. The energy B A (S : S) / 2 with B = E t^3 / 12 (1 - nu^2) is
// a quadratic form of up to six nodes; the matrices of all triangles are added. Hinges, with an
// energy of theta^2 for each edge alone, would be up to three times too stiff.
//
// Triangles at an edge that is bent as built have folds instead (folds.c): a curvature at rest
// would have to turn with the body.
#include "elements/elements.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

// The cosine of the dihedral angle at which an edge still counts as flat: 1e-3 rad.
static const double FLAT_COSINE = 1 - 5e-7;

// ---- Neighbours across edges

// An edge among those with the same lower node.
struct higher {
    uint32_t node, edge;
};

static int compare_higher(const void *first, const void *second)
{
    const struct higher *a = first, *b = second;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->edge > b->edge) - (a->edge < b->edge);
}

// The lower or the higher node of an edge.
static uint32_t end_of_edge(const struct bending_surface *surface, uint32_t edge, bool higher)
{
    const uint32_t *nodes = surface_corners(surface, edge / 3);
    const uint32_t a = nodes[(edge + 1) % 3], b = nodes[(edge + 2) % 3];
    return higher == (a < b) ? b : a;
}

// Whether two triangles lie in one plane, on both sides of their edge.
static bool is_flat(const struct bending_surface *surface, uint32_t a, uint32_t b)
{
    const struct triangle_rest first = topology_triangle_rest(surface->topology, a / 3),
                               second = topology_triangle_rest(surface->topology, b / 3);
    const double cosine = vec3_dot(first.normal, second.normal);
    const bool turned = surface_corners(surface, a / 3)[(a + 1) % 3] ==
                        surface_corners(surface, b / 3)[(b + 1) % 3];
    return (turned ? -cosine : cosine) > FLAT_COSINE;
}

// Of edges with the same lower node, sorted.
static void pair_edges(struct bending_surface *surface, const struct higher *edges, size_t count)
{
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && edges[end].node == edges[first].node;)
            end++;
        if (end - first != 2)
            continue;
        const uint32_t a = edges[first].edge, b = edges[first + 1].edge;
        surface->others[a / 3][a % 3] = b / 3;
        surface->others[b / 3][b % 3] = a / 3;
        if (!is_flat(surface, a, b))
            surface->curved[a / 3] = surface->curved[b / 3] = 1;
    }
}

// Sorts the edges by their lower nodes; `starts`: where those of each node begin.
static void sort_by_lower_node(const struct bending_surface *surface, uint64_t *starts)
{
    const uint32_t count = (uint32_t)(3 * surface->count);
    for (uint32_t edge = 0; edge < count; edge++)
        starts[end_of_edge(surface, edge, false) + 1]++;
    counting_sort_starts(starts, surface->topology->node_count);
    for (uint32_t edge = 0; edge < count; edge++)
        surface->edges[starts[end_of_edge(surface, edge, false) + 1]++] = edge;
}

// Sorts them at each node by the other one, and finds what triangles have on their other sides.
static bool sort_edges(struct bending_surface *surface)
{
    const size_t nodes = (size_t)surface->topology->node_count;
    uint64_t most = 0, *starts = memory_allocate(NULL, nodes + 1, sizeof *starts);
    if (starts)
        sort_by_lower_node(surface, starts);
    for (size_t node = 0; starts && node < nodes; node++)
        most = max_u64(most, starts[node + 1] - starts[node]);
    struct higher *edges = memory_allocate(NULL, (size_t)most, sizeof *edges);
    const bool sorts = starts && edges;
    for (size_t node = 0; sorts && node < nodes; node++) {
        uint32_t *of_node = surface->edges + starts[node];
        const size_t count = (size_t)(starts[node + 1] - starts[node]);
        for (size_t i = 0; i < count; i++)
            edges[i] = (struct higher){end_of_edge(surface, of_node[i], true), of_node[i]};
        if (count > 1)
            qsort(edges, count, sizeof *edges, compare_higher);
        for (size_t i = 0; i < count; i++)
            of_node[i] = edges[i].edge;
        pair_edges(surface, edges, count);
    }
    memory_release(NULL, starts, nodes + 1, sizeof *starts);
    memory_release(NULL, edges, (size_t)most, sizeof *edges);
    return sorts;
}

static bool surface_make(const struct topology *topology, struct bending_surface *surface)
{
    const size_t count = (size_t)topology->triangle_count;
    *surface = (struct bending_surface){.topology = topology, .count = count};
    surface->others = memory_allocate(NULL, count, sizeof *surface->others);
    surface->curved = memory_allocate(NULL, count, sizeof *surface->curved);
    surface->edges = memory_allocate(NULL, 3 * count, sizeof *surface->edges);
    if (!surface->others || !surface->curved || !surface->edges)
        return false;
    for (size_t t = 0; t < count; t++)
        for (int i = 0; i < 3; i++)
            surface->others[t][i] = NO_TRIANGLE;
    return sort_edges(surface);
}

static void surface_free(struct bending_surface *surface)
{
    memory_release(NULL, surface->others, surface->count, sizeof *surface->others);
    memory_release(NULL, surface->curved, surface->count, sizeof *surface->curved);
    memory_release(NULL, surface->edges, 3 * surface->count, sizeof *surface->edges);
}

// ---- The form of one triangle

enum { PATCH_NODES = 6 }; // its corners, and beyond the edge opposite corner i node 3 + i

struct patch {
    int count; // of edges; 0: no bending
    uint32_t nodes[PATCH_NODES];
    double form[PATCH_NODES][PATCH_NODES];
};

static double cotangent(const double squares[3], int corner)
{
    return triangle_cotangent(squares, triangle_area(squares), corner);
}

static int corner_of(const uint32_t nodes[3], uint32_t node)
{
    return nodes[0] == node ? 0 : nodes[1] == node ? 1 : 2;
}

// The weights R of edge i of a triangle with one on its other side.
static void edge_row(const struct bending_surface *surface, size_t triangle,
                     const double squares[3], int i, struct patch *patch, double row[PATCH_NODES])
{
    const uint32_t other = surface->others[triangle][i];
    double of_other[3];
    topology_triangle_squares(surface->topology, other, of_other);
    const uint32_t *own = surface_corners(surface, triangle);
    const uint32_t *beyond = surface_corners(surface, other);
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    const int other_a = corner_of(beyond, own[a]), other_b = corner_of(beyond, own[b]);
    const double at_a[2] = {cotangent(squares, a), cotangent(of_other, other_a)};
    const double at_b[2] = {cotangent(squares, b), cotangent(of_other, other_b)};
    patch->nodes[3 + i] = beyond[3 - other_a - other_b];
    row[a] = at_b[0] + at_b[1];
    row[b] = at_a[0] + at_a[1];
    row[i] = -(at_a[0] + at_b[0]);
    row[3 + i] = -(at_a[1] + at_b[1]);
}

static void find_patch(const struct bending_surface *surface, size_t triangle, struct patch *patch)
{
    double rows[3][PATCH_NODES] = {{0}}, squares[3];
    topology_triangle_squares(surface->topology, triangle, squares);
    *patch = (struct patch){.count = 0};
    for (int i = 0; i < 3; i++)
        patch->nodes[i] = patch->nodes[3 + i] = surface_corners(surface, triangle)[i];
    for (int i = 0; i < 3; i++)
        if (surface->others[triangle][i] != NO_TRIANGLE && !surface->curved[triangle]) {
            edge_row(surface, triangle, squares, i, patch, rows[i]);
            patch->count++;
        }
    // (n_i . n_j)^2 is the squared cosine of the angle between edges i and j.
    const double factor = 1 / (4 * triangle_area(squares));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double c = i == j ? 0 : cotangent(squares, 3 - i - j);
            const double weight = i == j ? factor : factor * c * c / (1 + c * c);
            for (int p = 0; p < PATCH_NODES; p++)
                for (int q = 0; q < PATCH_NODES; q++)
                    patch->form[p][q] += weight * rows[i][p] * rows[j][q];
        }
}

// ---- The matrix

// Rows with space for every contribution, of which `used` are filled with distinct columns.
struct rows {
    size_t nodes, capacity;
    size_t *starts; // nodes + 1
    uint32_t *used, *columns;
    double *values;
};

static void add_number(struct rows *rows, uint32_t row, uint32_t at, double value)
{
    const size_t first = rows->starts[row];
    size_t i = 0;
    while (i < rows->used[row] && rows->columns[first + i] != at)
        i++;
    rows->used[row] += i == rows->used[row];
    rows->columns[first + i] = at;
    rows->values[first + i] += value;
}

static void add_patch(struct rows *rows, const struct patch *patch)
{
    for (int p = 0; p < PATCH_NODES; p++)
        for (int q = 0; q < PATCH_NODES; q++)
            if (patch->nodes[p] != patch->nodes[q] && patch->form[p][q] != 0)
                add_number(rows, patch->nodes[p], patch->nodes[q], patch->form[p][q]);
}

static bool rows_make(const struct bending_surface *surface, struct rows *rows)
{
    struct patch patch;
    rows->nodes = (size_t)surface->topology->node_count;
    rows->starts = memory_allocate(NULL, rows->nodes + 1, sizeof *rows->starts);
    rows->used = memory_allocate(NULL, rows->nodes, sizeof *rows->used);
    if (!rows->starts || !rows->used)
        return false;
    for (size_t t = 0; t < surface->count; t++) {
        find_patch(surface, t, &patch);
        for (int p = 0; p < PATCH_NODES && patch.count > 0; p++)
            rows->starts[patch.nodes[p] + 1] += PATCH_NODES - 1;
    }
    for (size_t node = 0; node < rows->nodes; node++)
        rows->starts[node + 1] += rows->starts[node];
    rows->capacity = rows->starts[rows->nodes];
    rows->columns = memory_allocate(NULL, rows->capacity, sizeof *rows->columns);
    rows->values = memory_allocate(NULL, rows->capacity, sizeof *rows->values);
    if (!rows->columns || !rows->values)
        return false;
    for (size_t t = 0; t < surface->count; t++) {
        find_patch(surface, t, &patch);
        if (patch.count > 0)
            add_patch(rows, &patch);
    }
    return true;
}

static void rows_free(struct rows *rows)
{
    memory_release(NULL, rows->starts, rows->nodes + 1, sizeof *rows->starts);
    memory_release(NULL, rows->used, rows->nodes, sizeof *rows->used);
    memory_release(NULL, rows->columns, rows->capacity, sizeof *rows->columns);
    memory_release(NULL, rows->values, rows->capacity, sizeof *rows->values);
}

// The stiffness of each body, and its damping, which is proportional to it: Rayleigh's, or the
// fraction of its node that swings fastest.
void REAL_NAME(bending_refresh)(const struct topology *topology, struct element_bending *bending)
{
    bending->damped = false;
    if (bending->nodes == 0)
        return;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const size_t first = (size_t)body->first_node, end = first + (size_t)body->node_count;
        const struct element_membrane *membrane = &body->elements.membrane;
        const double ratio = membrane->damping_ratio;
        double least = INFINITY, time = membrane->damping_time;
        for (size_t node = first; node < end; node++)
            bending->stiffness[node] = (real)membrane->bending;
        for (size_t node = first; ratio > 0 && node < end; node++) {
            double k = REAL_NAME(bending_row_sums)(bending, node).diagonal;
            if (bending->folds.count > 0)
                k += (double)bending->stiffness[node] * bending->folds.diagonals[node];
            if (k > 0)
                least = fmin(least, topology_mass(topology, node) / k);
        }
        if (isfinite(least))
            time = 2 * ratio * sqrt(least);
        bending->damped |= time > 0;
        for (size_t node = first; node < end; node++)
            bending->times[node] = (real)time;
    }
}

static bool pack(const struct system *system, const struct rows *rows,
                 struct element_bending *bending)
{
    const taut_allocator *allocator = system->allocator;
    size_t count = 0;
    for (size_t node = 0; node < rows->nodes; node++)
        count += rows->used[node];
    if (count == 0 && bending->folds.count == 0)
        return true;
    bending->nodes = rows->nodes;
    bending->count = count;
    bending->starts = memory_allocate(allocator, rows->nodes + 1, sizeof *bending->starts);
    bending->columns = memory_allocate(allocator, count, sizeof *bending->columns);
    bending->values = memory_allocate(allocator, count, sizeof *bending->values);
    bending->stiffness = memory_allocate(allocator, rows->nodes, sizeof *bending->stiffness);
    bending->times = memory_allocate(allocator, rows->nodes, sizeof *bending->times);
    if (!bending->starts || !bending->columns || !bending->values || !bending->stiffness ||
        !bending->times)
        return false;
    size_t to = 0;
    for (size_t node = 0; node < rows->nodes; node++) {
        for (size_t i = 0; i < rows->used[node]; i++, to++) {
            bending->columns[to] = rows->columns[rows->starts[node] + i];
            bending->values[to] = (real)rows->values[rows->starts[node] + i];
        }
        bending->starts[node + 1] = to;
    }
    REAL_NAME(bending_refresh)(system->topology, bending);
    return true;
}

taut_status REAL_NAME(bending_make)(const struct system *system, struct element_nodes held,
                                    struct element_bending *bending, taut_error *error)
{
    struct bending_surface surface;
    struct rows rows = {0};
    const uint64_t triangles = system->topology->triangle_count;
    if (triangles == 0)
        return TAUT_OK;
    if (triangles > UINT32_MAX / 3) // edges are numbered
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "meshes with 'elastic' have %llu triangles; at most %u are supported",
                    (unsigned long long)triangles, UINT32_MAX / 3);
    bool done = surface_make(system->topology, &surface);
    taut_status status =
        done ? REAL_NAME(folds_make)(system, &surface, held, &bending->folds, error) : TAUT_OK;
    if (done && status == TAUT_OK)
        done = rows_make(&surface, &rows) && pack(system, &rows, bending);
    rows_free(&rows);
    surface_free(&surface);
    return done ? status : fail_memory(error, "the bending of meshes");
}

void REAL_NAME(bending_free)(const struct system *system, struct element_bending *bending)
{
    const taut_allocator *allocator = system->allocator;
    memory_release(allocator, bending->starts, bending->nodes + 1, sizeof *bending->starts);
    memory_release(allocator, bending->columns, bending->count, sizeof *bending->columns);
    memory_release(allocator, bending->values, bending->count, sizeof *bending->values);
    memory_release(allocator, bending->stiffness, bending->nodes, sizeof *bending->stiffness);
    memory_release(allocator, bending->times, bending->nodes, sizeof *bending->times);
    REAL_NAME(folds_free)(system, &bending->folds);
}

uint64_t REAL_NAME(bending_bytes)(const struct element_bending *bending)
{
    if (bending->nodes == 0)
        return 0;
    return (bending->nodes + 1) * sizeof *bending->starts + 2 * bending->nodes * sizeof(real) +
           bending->count * (sizeof *bending->columns + sizeof *bending->values);
}

// ---- Rows

vec3 REAL_NAME(bending_row)(const struct element_bending *bending, size_t node,
                            struct node_vectors p)
{
    const double x = (double)p.x[node], y = (double)p.y[node], z = (double)p.z[node];
    vec3 sum = {0, 0, 0};
    for (size_t i = bending->starts[node]; i < bending->starts[node + 1]; i++) {
        const uint32_t j = bending->columns[i];
        const double value = (double)bending->values[i];
        sum.x += value * ((double)p.x[j] - x);
        sum.y += value * ((double)p.y[j] - y);
        sum.z += value * ((double)p.z[j] - z);
    }
    return vec3_scale((double)bending->stiffness[node], sum);
}

struct bending_sums REAL_NAME(bending_row_sums)(const struct element_bending *bending, size_t node)
{
    struct bending_sums sums = {0, 0};
    for (size_t i = bending->starts[node]; i < bending->starts[node + 1]; i++) {
        sums.diagonal -= (double)bending->values[i];
        sums.absolute += fabs((double)bending->values[i]);
    }
    const double stiffness = (double)bending->stiffness[node];
    sums.absolute = stiffness * (sums.absolute + fabs(sums.diagonal));
    sums.diagonal *= stiffness;
    return sums;
}
