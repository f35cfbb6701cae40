#include "stability/majorant.h"

#include "base/memory.h"
#include "stability/eigenvalue.h"
#include "stability/majorant_faces.h"
#include "state/reading.h"

struct majorants {
    struct system *system;
    struct listed_majorants *listed; // of nodes on no grid
    struct face_majorants *faces;    // NULL: nothing acts through faces
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

taut_status REAL_NAME(majorants_make)(struct system *system, struct majorants **result,
                                      taut_error *error)
{
    *result = NULL;
    struct majorants *majorants = memory_allocate(system->allocator, 1, sizeof *majorants);
    if (!majorants)
        return fail_memory(error, "the critical step");
    majorants->system = system;
    taut_status status = REAL_NAME(listed_majorants_make)(system, &majorants->listed, error);
    if (status == TAUT_OK)
        status =
            REAL_NAME(face_majorants_make)(system, majorants->listed, &majorants->faces, error);
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
    REAL_NAME(listed_majorants_free)(majorants->listed);
    memory_release(allocator, majorants, 1, sizeof *majorants);
}

uint64_t REAL_NAME(majorants_bytes)(const struct majorants *majorants)
{
    return sizeof *majorants + REAL_NAME(listed_majorants_bytes)(majorants->listed) +
           REAL_NAME(face_majorants_bytes)(majorants->faces);
}

void REAL_NAME(majorants_update)(struct majorants *majorants, const struct worker *worker)
{
    worker_barrier(worker); // all have done with what the last update left
    if (worker->index == 0) {
        REAL_NAME(listed_majorants_update)(majorants->listed);
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
    struct range listed = REAL_NAME(listed_majorants_range)(majorants->listed);
    if (listed.end > listed.first || majorants->faces)
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
            REAL_NAME(listed_majorants_add)(majorants->listed, node, end, blocks);
        node = end;
    }
    if (majorants->faces)
        REAL_NAME(face_majorants_add)(majorants->faces, blocks);
}

// ---- Amplitudes

// Weighs one 3 x 3 block of K and C by the mass: the step that the node alone would allow.
static double own_step(const struct majorants *majorants, const struct majorant *blocks, size_t i,
                       const struct step_form *form)
{
    double inverse = (double)majorants->system->constants->inverse_mass[blocks->first + i];
    struct block k = block_at(blocks->stiffness, i), c = block_at(blocks->damping, i);
    return step_of_form(form, inverse * block_largest(&k), inverse * block_largest(&c));
}

void REAL_NAME(majorants_level)(struct majorants *majorants, const struct step_form *form,
                                double least, const struct worker *worker)
{
    const double floor = 1e-3;
    struct range all = REAL_NAME(listed_majorants_range)(majorants->listed);
    struct range share = worker_share(worker, all.end - all.first, 1);
    struct majorant blocks;
    for (size_t first = all.first + share.first; first < all.first + share.end;) {
        size_t left = all.first + share.end - first;
        size_t count = left < MAJORANT_NODES ? left : MAJORANT_NODES;
        REAL_NAME(majorants_take)(majorants, first, count, &blocks);
        for (size_t i = 0; i < count; i++) {
            double own = own_step(majorants, &blocks, i, form);
            REAL_NAME(listed_majorants_scale)
            (majorants->listed, first + i, fmax(floor, least / own));
        }
        first += count;
    }
    worker_barrier(worker);
    if (worker->index == 0)
        REAL_NAME(listed_majorants_swap)(majorants->listed);
    REAL_NAME(majorants_update)(majorants, worker);
}

void REAL_NAME(majorants_forget)(struct majorants *majorants, bool all, const struct worker *worker)
{
    worker_barrier(worker);
    if (worker->index == 0 && all)
        REAL_NAME(listed_majorants_reset)(majorants->listed);
    else if (worker->index == 0)
        REAL_NAME(listed_majorants_swap)(majorants->listed);
    REAL_NAME(majorants_update)(majorants, worker);
}

bool REAL_NAME(majorants_use_crowds)(struct majorants *majorants, bool use,
                                     const struct worker *worker)
{
    worker_barrier(worker);
    bool any = REAL_NAME(listed_majorants_has_crowds)(majorants->listed);
    if (worker->index == 0)
        REAL_NAME(listed_majorants_use_crowds)(majorants->listed, use);
    if (any)
        REAL_NAME(majorants_update)(majorants, worker);
    return any;
}
