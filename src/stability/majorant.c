#include "stability/majorant.h"

#include <string.h>

#include "base/memory.h"
#include "forces/block.h"
#include "stability/majorant_faces.h"
#include "state/reading.h"

struct majorants {
    struct system *system;
    real *listed;       // sums of listed springs, a block of K and one of C for each node of
    struct range loose; // this range, which has all nodes that are on no grid
    struct face_majorants *faces; // NULL: nothing acts through faces
    real around_stiffness[BLOCK_WIDTH], around_damping[BLOCK_WIDTH]; // drag, colliders
};

// ---- Springs of one direction along a row: contiguous nodes, contiguous partners.

struct row_springs {
    const struct spring_constants *material;
    real rest;                // m, of all of them, unless
    const real *rest_lengths; // they have one each
    const uint8_t *broken;    // NULL: none can
};

// Of each spring its direction, how often it counts, and what of its stiffness is across it.
struct parts {
    real nx[MAJORANT_NODES], ny[MAJORANT_NODES], nz[MAJORANT_NODES];
    real weight[MAJORANT_NODES], across[MAJORANT_NODES], undirected[MAJORANT_NODES];
};

// Springs from nodes first + i to first + i + apart. Without a direction (no length, or a run that
// has diverged) a spring counts in all of them. Plain loops, which compilers make vectors of: so
// what is rare is left to loops of its own.
static void find_parts(const struct system *system, const struct row_springs *springs, size_t first,
                       int64_t apart, size_t count, struct parts *restrict parts)
{
    const struct state *s = system->state;
    const real *x = s->x + first, *y = s->y + first, *z = s->z + first;
    const real *ox = x + apart, *oy = y + apart, *oz = z + apart;
    const real *other_free = system->constants->inverse_mass + (int64_t)first + apart;
    const real rest = springs->rest;
    for (size_t i = 0; i < count; i++) {
        const real dx = x[i] - ox[i], dy = y[i] - oy[i], dz = z[i] - oz[i];
        const real length = real_sqrt(dx * dx + dy * dy + dz * dz);
        const real inverse = 1 / length;
        const real stretch = 1 - rest * inverse, across = stretch > 0 ? stretch : 0;
        const real ux = dx * inverse, uy = dy * inverse, uz = dz * inverse;
        const int directed = (length > 0) & (length <= REAL_HUGE);
        parts->nx[i] = directed ? ux : 0;
        parts->ny[i] = directed ? uy : 0;
        parts->nz[i] = directed ? uz : 0;
        parts->undirected[i] = directed ? 0 : (real)1;
        parts->across[i] = directed ? across : 1;
        parts->weight[i] = other_free[i] != 0 ? 2 : (real)1;
    }
    for (size_t i = 0; springs->rest_lengths && i < count; i++) {
        const real dx = x[i] - ox[i], dy = y[i] - oy[i], dz = z[i] - oz[i];
        const real length = real_sqrt(dx * dx + dy * dy + dz * dz);
        if (parts->undirected[i] == 0)
            parts->across[i] =
                length > springs->rest_lengths[i] ? 1 - springs->rest_lengths[i] / length : 0;
    }
    for (size_t i = 0; springs->broken && i < count; i++)
        if (springs->broken[i])
            parts->weight[i] = 0;
}

// blocks += weight k (n n' + across (I - n n'))
static void add_blocks(const struct parts *restrict parts, const real *restrict across, real k,
                       size_t count, real (*restrict blocks)[MAJORANT_NODES], size_t at)
{
    for (size_t i = 0; i < count; i++) {
        const real all = parts->weight[i] * k, around = all * across[i], more = all - around;
        const real nx = parts->nx[i], ny = parts->ny[i], nz = parts->nz[i];
        blocks[0][at + i] += around + more * nx * nx;
        blocks[1][at + i] += around + more * ny * ny;
        blocks[2][at + i] += around + more * nz * nz;
        blocks[3][at + i] += more * nx * ny;
        blocks[4][at + i] += more * nx * nz;
        blocks[5][at + i] += more * ny * nz;
    }
}

// Adds the springs between nodes first + i and first + i + apart to blocks at + i.
static void add_row(const struct system *system, struct row_springs springs,
                    struct majorant *blocks, size_t at, size_t first, int64_t apart, size_t count)
{
    struct parts parts;
    find_parts(system, &springs, first, apart, count, &parts);
    add_blocks(&parts, parts.across, springs.material->stiffness, count, blocks->stiffness, at);
    if (springs.material->damping == 0)
        return;
    for (size_t i = 0; springs.material->damping_law == DAMPING_FULL && i < count; i++)
        parts.undirected[i] = 1;
    add_blocks(&parts, parts.undirected, springs.material->damping, count, blocks->damping, at);
}

// ---- Grids

// Along one axis of `size` nodes, those with a partner `step` away.
static struct range with_partner(uint64_t size, int step)
{
    uint64_t away = (uint64_t)(step < 0 ? -step : step);
    if (away >= size)
        return (struct range){0, 0};
    return (struct range){step < 0 ? (size_t)away : 0, (size_t)(step > 0 ? size - away : size)};
}

static bool lies_in(struct range range, uint64_t i)
{
    return i >= range.first && i < range.end;
}

// Springs of a direction (forwards: to the partner; else: from the one that the node is partner of)
// at nodes [i0, i1) of row j, k of a grid, which are blocks at + i - i0.
static void add_direction(const struct system *system, const struct plan_grid *grid,
                          const struct plan_direction *direction, bool forwards,
                          const uint64_t row[2], struct range nodes, struct majorant *blocks,
                          size_t at)
{
    int sign = forwards ? 1 : -1;
    struct range across_x = with_partner(grid->nx, sign * direction->dx);
    if (!lies_in(with_partner(grid->ny, sign * direction->dy), row[0]) ||
        !lies_in(with_partner(grid->nz, sign * direction->dz), row[1]))
        return;
    size_t first = nodes.first > across_x.first ? nodes.first : across_x.first;
    size_t end = nodes.end < across_x.end ? nodes.end : across_x.end;
    if (first >= end)
        return;
    struct row_springs springs = {.material = &system->constants->material[direction->material],
                                  .rest = (real)direction->rest_length};
    size_t node = (size_t)(grid->first_node + (row[1] * grid->ny + row[0]) * grid->nx) + first;
    if (grid->remembers) {
        // The place of a spring follows from its lower node, in the box of all lower nodes.
        uint64_t i = first - (forwards ? 0 : (uint64_t)(int64_t)direction->dx);
        uint64_t j = row[0] - (forwards ? 0 : (uint64_t)(int64_t)direction->dy);
        uint64_t k = row[1] - (forwards ? 0 : (uint64_t)(int64_t)direction->dz);
        struct range bx = with_partner(grid->nx, direction->dx);
        struct range by = with_partner(grid->ny, direction->dy);
        struct range bz = with_partner(grid->nz, direction->dz);
        uint64_t place =
            direction->first_place +
            ((k - bz.first) * (by.end - by.first) + (j - by.first)) * (bx.end - bx.first) +
            (i - bx.first);
        const struct state *s = system->state;
        springs.broken = s->broken ? s->broken + place : NULL;
        springs.rest_lengths = s->rest_length ? s->rest_length + place : NULL;
    }
    add_row(system, springs, blocks, at + (first - nodes.first), node, sign * direction->offset,
            end - first);
}

// The springs at nodes first .. end - 1, which are all of one grid.
static void add_grid(const struct system *system, const struct plan_grid *grid, size_t first,
                     size_t end, struct majorant *blocks)
{
    for (size_t node = first; node < end;) {
        uint64_t own = node - grid->first_node, i = own % grid->nx;
        uint64_t row[2] = {own / grid->nx % grid->ny, own / grid->nx / grid->ny};
        size_t left = (size_t)(grid->nx - i);
        size_t count = end - node < left ? end - node : left;
        struct range nodes = {(size_t)i, (size_t)i + count};
        for (int d = 0; d < grid->direction_count; d++)
            for (int forwards = 0; forwards < 2; forwards++)
                add_direction(system, grid, &grid->directions[d], forwards, row, nodes, blocks,
                              node - blocks->first);
        node += count;
    }
}

// ---- Listed springs, by worker 0 alone

enum { LISTED_WIDTH = 2 * BLOCK_WIDTH };

static real *listed_block(const struct majorants *majorants, size_t node)
{
    return majorants->listed + LISTED_WIDTH * (node - majorants->loose.first);
}

static void add_listed(const struct majorants *majorants, size_t spring)
{
    const struct system *system = majorants->system;
    const struct state *s = system->state;
    const uint32_t a = system->constants->spring_nodes[spring][0];
    const uint32_t b = system->constants->spring_nodes[spring][1];
    const struct spring_constants *material = spring_material(system, spring);
    const real n[3] = {s->x[a] - s->x[b], s->y[a] - s->y[b], s->z[a] - s->z[b]};
    const real length = real_sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    const bool directed = length > 0 && length <= REAL_HUGE;
    const real inverse = directed ? 1 / length : 0;
    const real u[3] = {directed ? n[0] * inverse : 0, directed ? n[1] * inverse : 0,
                       directed ? n[2] * inverse : 0};
    const real stretch = 1 - spring_rest_length(system, spring) * inverse;
    const real k = material->stiffness, c = material->damping;
    const real k_across = directed ? (stretch > 0 ? stretch * k : 0) : k;
    const real c_across = material->damping_law == DAMPING_FULL || !directed ? c : 0;
    const real *is_free = system->constants->inverse_mass;
    const uint32_t ends[2] = {a, b};
    for (int end = 0; end < 2; end++) {
        const real weight = is_free[ends[1 - end]] != 0 ? 2 : 1;
        real *block = listed_block(majorants, ends[end]);
        block_add(block, u[0], u[1], u[2], weight * k, weight * k_across);
        if (c > 0)
            block_add(block + BLOCK_WIDTH, u[0], u[1], u[2], weight * c, weight * c_across);
    }
}

static void take_listed(const struct majorants *majorants, size_t first, size_t end,
                        struct majorant *blocks)
{
    for (size_t node = first; node < end; node++) {
        const real *block = listed_block(majorants, node);
        for (int element = 0; element < BLOCK_WIDTH; element++) {
            blocks->stiffness[element][node - blocks->first] += block[element];
            blocks->damping[element][node - blocks->first] += block[BLOCK_WIDTH + element];
        }
    }
}

// ---- What acts at every node

static void add_around(real block[BLOCK_WIDTH], vec3 n, double along, double across)
{
    double more = along - across;
    block[0] += (real)(across + more * n.x * n.x);
    block[1] += (real)(across + more * n.y * n.y);
    block[2] += (real)(across + more * n.z * n.z);
    block[3] += (real)(more * n.x * n.y);
    block[4] += (real)(more * n.x * n.z);
    block[5] += (real)(more * n.y * n.z);
}

// A sphere and a room may push along any direction.
static void find_around(struct majorants *majorants)
{
    const struct topology *topology = majorants->system->topology;
    const vec3 any = {0, 0, 0};
    double drag = topology->environment.air_drag;
    add_around(majorants->around_damping, any, drag, drag);
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *it = &topology->colliders[c];
        if (it->response != RESPONSE_PENALTY)
            continue;
        bool plane = it->type == COLLIDER_PLANE;
        double most = fmax(it->absorption, it->friction);
        add_around(majorants->around_stiffness, plane ? it->normal : any, it->stiffness,
                   plane ? 0 : it->stiffness);
        add_around(majorants->around_damping, plane ? it->normal : any,
                   plane ? it->absorption : most, plane ? it->friction : most);
    }
}

// ---- All of it

static struct range loose_range(const struct plan *plan)
{
    struct range range = {0, 0};
    for (size_t i = 0; i < plan->loose_count; i++) {
        const struct plan_nodes *loose = &plan->loose[i];
        size_t first = (size_t)loose->first, end = first + (size_t)loose->count;
        if (range.end == range.first)
            range = (struct range){first, end};
        range.first = first < range.first ? first : range.first;
        range.end = end > range.end ? end : range.end;
    }
    return range;
}

static size_t listed_length(const struct majorants *majorants)
{
    return LISTED_WIDTH * (majorants->loose.end - majorants->loose.first);
}

taut_status REAL_NAME(majorants_make)(struct system *system, struct majorants **result,
                                      taut_error *error)
{
    *result = NULL;
    struct majorants *majorants = memory_allocate(system->allocator, 1, sizeof *majorants);
    if (!majorants)
        return fail_memory(error, "the critical step");
    majorants->system = system;
    majorants->loose = loose_range(system->plan);
    majorants->listed =
        memory_allocate(system->allocator, listed_length(majorants), sizeof *majorants->listed);
    taut_status status = majorants->listed ? TAUT_OK : fail_memory(error, "the critical step");
    if (status == TAUT_OK)
        status = REAL_NAME(face_majorants_make)(system, &majorants->faces, error);
    if (status != TAUT_OK) {
        REAL_NAME(majorants_free)(majorants);
        return status;
    }
    find_around(majorants);
    *result = majorants;
    return TAUT_OK;
}

void REAL_NAME(majorants_free)(struct majorants *majorants)
{
    if (!majorants)
        return;
    const taut_allocator *allocator = majorants->system->allocator;
    REAL_NAME(face_majorants_free)(majorants->faces);
    memory_release(allocator, majorants->listed, listed_length(majorants),
                   sizeof *majorants->listed);
    memory_release(allocator, majorants, 1, sizeof *majorants);
}

uint64_t REAL_NAME(majorants_bytes)(const struct majorants *majorants)
{
    return sizeof *majorants + listed_length(majorants) * sizeof *majorants->listed +
           REAL_NAME(face_majorants_bytes)(majorants->faces);
}

void REAL_NAME(majorants_update)(struct majorants *majorants, const struct worker *worker)
{
    const struct system *system = majorants->system;
    worker_barrier(worker); // all have done with what the last update left
    if (worker->index == 0) {
        memset(majorants->listed, 0, listed_length(majorants) * sizeof *majorants->listed);
        for (size_t i = 0; i < (size_t)system->constants->springs; i++)
            if (!spring_is_broken(system, i))
                add_listed(majorants, i);
        if (majorants->faces)
            REAL_NAME(face_majorants_update)(majorants->faces);
    }
    worker_barrier(worker);
}

// All of a block along every axis: more than it is along any.
bool REAL_NAME(majorants_rough)(const struct majorants *majorants, double *stiffness,
                                double *damping)
{
    const struct system *system = majorants->system;
    *stiffness = *damping = 0;
    if (majorants->loose.end > majorants->loose.first || majorants->faces)
        return false;
    double k_around = 0, c_around = 0;
    for (int element = 0; element < 3; element++) { // the trace, of what is nowhere negative
        k_around += (double)majorants->around_stiffness[element];
        c_around += (double)majorants->around_damping[element];
    }
    for (size_t g = 0; g < system->plan->grid_count; g++) {
        const struct plan_grid *grid = &system->plan->grids[g];
        const struct topology_body *body = &system->topology->bodies[grid->body];
        if (body->node_mass == 0) // listed, any of them may be the least
            return false;
        double k = k_around, c = c_around;
        for (int d = 0; d < grid->direction_count; d++) {
            const struct spring_constants *material =
                &system->constants->material[grid->directions[d].material];
            k += 4 * (double)material->stiffness; // two of them, each twice
            c += 4 * (double)material->damping;
        }
        *stiffness = fmax(*stiffness, k / body->node_mass);
        *damping = fmax(*damping, c / body->node_mass);
    }
    return true;
}

// The end of the run of nodes of one body.
static size_t end_of_body(const struct topology *topology, size_t node, size_t end)
{
    const struct topology_body *body = &topology->bodies[topology_body_of_node(topology, node)];
    size_t body_end = (size_t)(body->first_node + body->node_count);
    return body_end < end ? body_end : end;
}

void REAL_NAME(majorants_take)(const struct majorants *majorants, size_t first, size_t count,
                               struct majorant *blocks)
{
    const struct system *system = majorants->system;
    blocks->first = first;
    blocks->count = count;
    for (int element = 0; element < BLOCK_WIDTH; element++)
        for (size_t i = 0; i < count; i++) {
            blocks->stiffness[element][i] = majorants->around_stiffness[element];
            blocks->damping[element][i] = majorants->around_damping[element];
        }
    for (size_t node = first; node < first + count;) {
        size_t end = end_of_body(system->topology, node, first + count);
        const struct plan_grid *grid =
            plan_grid_of_body(system->plan, topology_body_of_node(system->topology, node));
        if (grid)
            add_grid(system, grid, node, end, blocks);
        else
            take_listed(majorants, node, end, blocks);
        node = end;
    }
    if (majorants->faces)
        REAL_NAME(face_majorants_add)(majorants->faces, blocks);
}
