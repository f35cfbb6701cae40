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

#include "base/memory.h"
#include "base/sort.h"
#include "elements/surface.h"
#include "ranks/ranks.h"

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

// Finds the nodes of a patch; returns the number of its edges.
static int find_nodes(const struct bending_surface *surface, size_t triangle,
                      uint32_t nodes[PATCH_NODES])
{
    const uint32_t *own = surface_corners(surface, triangle);
    int count = 0;
    for (int i = 0; i < 3; i++)
        nodes[i] = nodes[3 + i] = own[i];
    for (int i = 0; i < 3 && !surface_is_curved(surface, triangle); i++) {
        const uint32_t other = surface->others[triangle][i];
        if (other == NO_TRIANGLE)
            continue;
        const uint32_t *beyond = surface_corners(surface, other);
        const int other_a = corner_of(beyond, own[(i + 1) % 3]);
        const int other_b = corner_of(beyond, own[(i + 2) % 3]);
        nodes[3 + i] = beyond[3 - other_a - other_b];
        count++;
    }
    return count;
}

// The weights R of edge i of a triangle with one on its other side.
static void edge_row(const struct bending_surface *surface, size_t triangle,
                     const double squares[3], int i, double row[PATCH_NODES])
{
    const uint32_t other = surface->others[triangle][i];
    double of_other[3];
    topology_triangle_squares(surface->topology, surface_number(surface, other), of_other);
    const uint32_t *own = surface_corners(surface, triangle);
    const uint32_t *beyond = surface_corners(surface, other);
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    const int other_a = corner_of(beyond, own[a]), other_b = corner_of(beyond, own[b]);
    const double at_a[2] = {cotangent(squares, a), cotangent(of_other, other_a)};
    const double at_b[2] = {cotangent(squares, b), cotangent(of_other, other_b)};
    row[a] = at_b[0] + at_b[1];
    row[b] = at_a[0] + at_a[1];
    row[i] = -(at_a[0] + at_b[0]);
    row[3 + i] = -(at_a[1] + at_b[1]);
}

static void find_patch(const struct bending_surface *surface, size_t triangle, struct patch *patch)
{
    double rows[3][PATCH_NODES] = {{0}}, squares[3];
    topology_triangle_squares(surface->topology, surface_number(surface, triangle), squares);
    *patch = (struct patch){.count = 0};
    patch->count = find_nodes(surface, triangle, patch->nodes);
    for (int i = 0; i < 3 && patch->count > 0; i++)
        if (surface->others[triangle][i] != NO_TRIANGLE)
            edge_row(surface, triangle, squares, i, rows[i]);
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

// The rows of some nodes, with space for every contribution, of which `used` are filled with
// distinct columns.
struct rows {
    struct range nodes;
    size_t capacity;
    size_t *starts; // nodes + 1
    uint32_t *used, *columns;
    double *values;
};

static size_t row_count(const struct rows *rows)
{
    return rows->nodes.end - rows->nodes.first;
}

static void add_number(struct rows *rows, size_t row, uint32_t at, double value)
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
        for (int q = 0; range_has(rows->nodes, patch->nodes[p]) && q < PATCH_NODES; q++)
            if (patch->nodes[p] != patch->nodes[q] && patch->form[p][q] != 0)
                add_number(rows, patch->nodes[p] - rows->nodes.first, patch->nodes[q],
                           patch->form[p][q]);
}

// How many nodes of a triangle's patch have rows here.
static int count_nodes(const struct bending_surface *surface, size_t triangle,
                       const struct rows *rows, uint32_t nodes[PATCH_NODES])
{
    int count = 0;
    if (find_nodes(surface, triangle, nodes) > 0)
        for (int p = 0; p < PATCH_NODES; p++)
            count += range_has(rows->nodes, nodes[p]);
    return count;
}

static bool rows_make(const struct bending_surface *surface, struct range nodes, struct rows *rows)
{
    uint32_t at[PATCH_NODES];
    *rows = (struct rows){.nodes = nodes};
    rows->starts = memory_allocate(NULL, row_count(rows) + 1, sizeof *rows->starts);
    rows->used = memory_allocate(NULL, row_count(rows), sizeof *rows->used);
    if (!rows->starts || !rows->used)
        return false;
    for (size_t t = 0; t < surface->count; t++)
        for (int p = 0, any = count_nodes(surface, t, rows, at); any > 0 && p < PATCH_NODES; p++)
            if (range_has(nodes, at[p]))
                rows->starts[at[p] - nodes.first + 1] += PATCH_NODES - 1;
    for (size_t row = 0; row < row_count(rows); row++)
        rows->starts[row + 1] += rows->starts[row];
    rows->capacity = rows->starts[row_count(rows)];
    rows->columns = memory_allocate(NULL, rows->capacity, sizeof *rows->columns);
    rows->values = memory_allocate(NULL, rows->capacity, sizeof *rows->values);
    if (!rows->columns || !rows->values)
        return false;
    for (size_t t = 0; t < surface->count; t++)
        if (count_nodes(surface, t, rows, at) > 0) {
            struct patch patch;
            find_patch(surface, t, &patch);
            add_patch(rows, &patch);
        }
    return true;
}

static void rows_free(struct rows *rows)
{
    memory_release(NULL, rows->starts, row_count(rows) + 1, sizeof *rows->starts);
    memory_release(NULL, rows->used, row_count(rows), sizeof *rows->used);
    memory_release(NULL, rows->columns, rows->capacity, sizeof *rows->columns);
    memory_release(NULL, rows->values, rows->capacity, sizeof *rows->values);
}

static struct range nodes_within(const struct topology_body *body, struct range nodes)
{
    const uint64_t first = max_u64(body->first_node, nodes.first);
    const uint64_t end = min_u64(body->first_node + body->node_count, nodes.end);
    return (struct range){(size_t)first, (size_t)max_u64(first, end)};
}

// The damping, which is proportional to the stiffness: Rayleigh's, or the fraction of the node of
// the body that swings fastest.
static void set_times(const struct topology *topology, struct element_bending *bending)
{
    bending->damped = false;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const struct element_membrane *membrane = &body->elements.membrane;
        const struct range known = nodes_within(body, bending->known);
        double time = membrane->damping_time;
        if (isfinite(bending->least[b]))
            time = 2 * membrane->damping_ratio * sqrt(bending->least[b]);
        bending->damped |= time > 0;
        for (size_t node = known.first; node < known.end; node++)
            bending->times[node] = (real)time;
    }
}

void REAL_NAME(bending_refresh)(const struct topology *topology, struct element_nodes held,
                                struct element_bending *bending)
{
    if (bending->nodes == 0)
        return;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const struct range known = nodes_within(body, bending->known);
        const struct range near = nodes_within(body, held.near);
        const double ratio = body->elements.membrane.damping_ratio;
        bending->least[b] = INFINITY;
        for (size_t node = known.first; node < known.end; node++)
            bending->stiffness[node] = (real)body->elements.membrane.bending;
        for (size_t node = near.first; ratio > 0 && node < near.end; node++) {
            double k = REAL_NAME(bending_row_sums)(bending, node).diagonal;
            if (bending->folds.count > 0)
                k += (double)bending->stiffness[node] * bending->folds.diagonals[node];
            if (k > 0)
                bending->least[b] = fmin(bending->least[b], topology_mass(topology, node) / k);
        }
    }
    set_times(topology, bending);
}

void REAL_NAME(bending_join)(const struct topology *topology, struct element_bending *bending)
{
    if (bending->nodes == 0)
        return;
    ranks_least(bending->least, topology->body_count);
    set_times(topology, bending);
}

// Packs some rows at a time, which take several times their final space: adds their numbers to the
// count, or, where the matrix has space for them, puts them there.
static bool pack_rows(const struct bending_surface *surface, struct range nodes, bool put,
                      struct element_bending *bending)
{
    enum { PARTS = 8, LEAST = 1 << 14 };
    const size_t count = nodes.end - nodes.first, part = count / PARTS + LEAST;
    size_t numbers = 0;
    for (size_t first = nodes.first; first < nodes.end; first += part) {
        struct rows rows;
        const size_t end = first + part < nodes.end ? first + part : nodes.end;
        const bool made = rows_make(surface, (struct range){first, end}, &rows);
        for (size_t row = 0; made && row < row_count(&rows); row++) {
            for (size_t i = 0; put && i < rows.used[row]; i++) {
                bending->columns[numbers + i] = rows.columns[rows.starts[row] + i];
                bending->values[numbers + i] = (real)rows.values[rows.starts[row] + i];
            }
            numbers += rows.used[row];
            if (put)
                bending->starts[first + row + 1] = numbers;
        }
        rows_free(&rows);
        if (!made)
            return false;
    }
    bending->count = numbers;
    return true;
}

static bool pack(const struct system *system, const struct bending_surface *surface,
                 struct range rows, bool bends, struct element_bending *bending)
{
    const taut_allocator *allocator = system->allocator;
    const size_t nodes = (size_t)system->topology->node_count;
    if (bends && !pack_rows(surface, rows, false, bending))
        return false;
    bending->nodes = nodes;
    bending->starts = memory_allocate(allocator, nodes + 1, sizeof *bending->starts);
    bending->columns = memory_allocate(allocator, bending->count, sizeof *bending->columns);
    bending->values = memory_allocate(allocator, bending->count, sizeof *bending->values);
    bending->stiffness = memory_allocate(allocator, nodes, sizeof *bending->stiffness);
    bending->times = memory_allocate(allocator, nodes, sizeof *bending->times);
    bending->least =
        memory_allocate(allocator, system->topology->body_count, sizeof *bending->least);
    if (!bending->starts || !bending->columns || !bending->values || !bending->stiffness ||
        !bending->times || !bending->least)
        return false;
    elements_sparse_outside(bending->starts, nodes + 1, sizeof *bending->starts, rows);
    elements_sparse_outside(bending->stiffness, nodes, sizeof(real), bending->known);
    elements_sparse_outside(bending->times, nodes, sizeof(real), bending->known);
    return bending->count == 0 || pack_rows(surface, rows, true, bending);
}

// The nodes of chunks with any that are near.
static struct range nodes_of_chunks(struct range near, size_t nodes)
{
    const size_t first = near.first / BENDING_CHUNK * BENDING_CHUNK;
    const size_t end = (near.end + BENDING_CHUNK - 1) / BENDING_CHUNK * BENDING_CHUNK;
    return near.first < near.end ? (struct range){first, end < nodes ? end : nodes} : near;
}

static struct range hull(struct range a, struct range b)
{
    if (a.first == a.end || b.first == b.end)
        return a.first == a.end ? b : a;
    return (struct range){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

// A rank that holds only its part has no lists of all edges while it makes them.
enum { WINDOWS = 8 };

taut_status REAL_NAME(bending_make)(const struct system *system, struct element_nodes held,
                                    struct element_bending *bending, taut_error *error)
{
    const struct topology *topology = system->topology;
    const size_t triangles = (size_t)topology->triangle_count;
    const bool all = elements_held_are_all(held, topology);
    const struct range nodes = nodes_of_chunks(held.near, (size_t)topology->node_count);
    struct bending_surface surface = {.topology = topology};
    struct fold_choice choice = {.count = 0};
    if (triangles == 0)
        return TAUT_OK;
    if (triangles > UINT32_MAX / 3) // edges are numbered
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "meshes with 'elastic' have %llu triangles; at most %u are supported",
                    (unsigned long long)triangles, UINT32_MAX / 3);
    uint8_t *curved = memory_allocate(NULL, triangles, sizeof *curved);
    bool done = curved && bending_surface_find_curved(topology, all ? 1 : WINDOWS, curved) &&
                (all || REAL_NAME(folds_choose)(topology, curved, WINDOWS, held, &choice));
    if (!all)
        memory_trim(); // releases the lists of windows, before folds take memory
    bending->known = hull(nodes, choice.nodes);
    done = done && bending_surface_make(topology, curved, bending->known,
                                        all ? NULL : choice.starts, &surface);
    taut_status status = done ? REAL_NAME(folds_make)(system, &surface, all ? NULL : &choice, held,
                                                      &bending->folds, error)
                              : TAUT_OK;
    const bool bends = all ? surface.bends : choice.bends;
    REAL_NAME(folds_choice_free)(topology, &choice);
    if (done && status == TAUT_OK && (bending->folds.count > 0 || bends))
        done = pack(system, &surface, nodes, bends, bending);
    bending_surface_free(&surface);
    memory_release(NULL, curved, triangles, sizeof *curved);
    if (done && status == TAUT_OK)
        REAL_NAME(bending_refresh)(topology, held, bending);
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
    memory_release(allocator, bending->least, system->topology->body_count, sizeof *bending->least);
    REAL_NAME(folds_free)(system, &bending->folds);
}

uint64_t REAL_NAME(bending_bytes)(const struct element_bending *bending)
{
    const uint64_t known = bending->known.end - bending->known.first;
    if (bending->nodes == 0)
        return 0;
    return (known + 1) * sizeof *bending->starts + 2 * known * sizeof(real) +
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
