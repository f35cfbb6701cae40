#include "stability/majorant.h"

#include <string.h>

#include "base/memory.h"
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

// block += across I + (along - across) n n'
#define ADD_BLOCK(block, i, along, across)                                                         \
    do {                                                                                           \
        const real more = (along) - (across);                                                      \
        (block)[0][i] += (across) + more * nx * nx;                                                \
        (block)[1][i] += (across) + more * ny * ny;                                                \
        (block)[2][i] += (across) + more * nz * nz;                                                \
        (block)[3][i] += more * nx * ny;                                                           \
        (block)[4][i] += more * nx * nz;                                                           \
        (block)[5][i] += more * ny * nz;                                                           \
    } while (0)

// Adds the springs between nodes first + i and first + i + apart to blocks at + i. Without a
// direction (no length, or a run that has diverged) a spring counts in all of them.
static void add_row(const struct system *system, struct row_springs springs,
                    struct majorant *blocks, size_t at, size_t first, int64_t apart, size_t count)
{
    const struct state *s = system->state;
    const real *restrict x = s->x + first, *restrict y = s->y + first, *restrict z = s->z + first;
    const real *ox = x + apart, *oy = y + apart, *oz = z + apart;
    const real *other_free = system->constants->inverse_mass + (int64_t)first + apart;
    const real k = springs.material->stiffness, c = springs.material->damping;
    const real full = springs.material->damping_law == DAMPING_FULL ? 1 : (real)0;
    real(*stiffness)[MAJORANT_NODES] = blocks->stiffness,
    (*damping)[MAJORANT_NODES] = blocks->damping;
    for (size_t i = 0; i < count; i++) {
        const real dx = x[i] - ox[i], dy = y[i] - oy[i], dz = z[i] - oz[i];
        const real length = real_sqrt(dx * dx + dy * dy + dz * dz);
        const bool directed = length > 0 && length <= REAL_HUGE;
        const real inverse = directed ? 1 / length : 0;
        const real nx = directed ? dx * inverse : 0, ny = directed ? dy * inverse : 0,
                   nz = directed ? dz * inverse : 0;
        const real rest = springs.rest_lengths ? springs.rest_lengths[i] : springs.rest;
        const real stretch = 1 - rest * inverse;
        const real across = directed ? (stretch > 0 ? stretch : 0) : 1;
        real weight = other_free[i] != 0 ? 2 : 1;
        if (springs.broken && springs.broken[i])
            weight = 0;
        ADD_BLOCK(stiffness, at + i, weight * k, weight * k * across);
        if (c > 0)
            ADD_BLOCK(damping, at + i, weight * c, weight * c * (directed ? full : 1));
    }
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
    const uint32_t *ends = system->constants->spring_nodes[spring];
    struct row_springs springs = {.material = spring_material(system, spring),
                                  .rest = spring_rest_length(system, spring)};
    for (int end = 0; end < 2; end++) {
        struct majorant one = {.count = 1};
        add_row(system, springs, &one, 0, ends[end], (int64_t)ends[1 - end] - (int64_t)ends[end],
                1);
        real *block = listed_block(majorants, ends[end]);
        for (int element = 0; element < BLOCK_WIDTH; element++) {
            block[element] += one.stiffness[element][0];
            block[BLOCK_WIDTH + element] += one.damping[element][0];
        }
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
