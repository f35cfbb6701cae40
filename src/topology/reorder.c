#include "topology/reorder.h"

#include <string.h>

#include "base/memory.h"

// Smaller bodies fit into the first-level cache in any order.
enum { NODES_MIN = 256 };

// ---- How good a numbering is: what a spring's end costs the packed kernel (plan/packed.h), one
// that is gathered from within its tile being 1. Estimated from every SAMPLE_STRIDE-th node, and
// from so many of its neighbours at most: two hubs one after the other would take the product of
// theirs.
enum { SAMPLE_STRIDE = 8, SAMPLE_NEIGHBOURS = 64, FAR = 2048 };
static const double COST_STEP = 0.45, COST_FAR_STEP = 0.05, COST_FAR = 1;

// From this on a numbering is not looked into; and another one must cost less by this factor.
static const double GOOD = 0.8, GAIN = 0.9;

static uint64_t sample_end(const struct neighbours *n, uint32_t node)
{
    uint64_t end = n->start[node + 1], most = n->start[node] + SAMPLE_NEIGHBOURS;
    return end < most ? end : most;
}

static bool goes_by(const struct neighbours *n, uint32_t node, int64_t at, int64_t step,
                    const uint32_t *number)
{
    for (uint64_t i = n->start[node], end = sample_end(n, node); i < end; i++)
        if ((int64_t)number[n->items[i]] - at == step)
            return true;
    return false;
}

// order[i] is the builder's number of node i, number[] its inverse.
static double cost_of(const struct neighbours *n, uint64_t node_count, const uint32_t *order,
                      const uint32_t *number)
{
    double cost = 0, ends = 0;
    for (uint64_t i = 1; i < node_count; i += SAMPLE_STRIDE)
        for (uint64_t k = n->start[order[i]], end = sample_end(n, order[i]); k < end; k++) {
            int64_t step = (int64_t)number[n->items[k]] - (int64_t)i;
            bool far = step > FAR || step < -FAR;
            if (goes_by(n, order[i - 1], (int64_t)i - 1, step, number))
                cost += COST_STEP + (far ? COST_FAR_STEP : 0);
            else
                cost += 1 + (far ? COST_FAR : 0);
            ends++;
        }
    return ends > 0 ? cost / ends : 0;
}

static bool neighbours_make(const struct body *body, struct neighbours *n)
{
    size_t nodes = (size_t)body->node_count;
    n->start = memory_allocate(NULL, nodes + 1, sizeof *n->start);
    n->items = memory_allocate(NULL, 2 * (size_t)body->spring_count, sizeof *n->items);
    if (!n->start || !n->items)
        return false;
    for (uint64_t s = 0; s < body->spring_count; s++)
        for (int end = 0; end < 2; end++)
            n->start[body->springs[s][end] + 1]++;
    for (size_t i = 0; i < nodes; i++)
        n->start[i + 1] += n->start[i];
    for (uint64_t s = 0; s < body->spring_count; s++)
        for (int end = 0; end < 2; end++)
            n->items[n->start[body->springs[s][end]]++] = body->springs[s][1 - end];
    for (size_t i = nodes; i > 0; i--)
        n->start[i] = n->start[i - 1];
    n->start[0] = 0;
    return true;
}

static void neighbours_free(const struct body *body, struct neighbours *n)
{
    memory_release(NULL, n->start, (size_t)body->node_count + 1, sizeof *n->start);
    memory_release(NULL, n->items, 2 * (size_t)body->spring_count, sizeof *n->items);
}

// ---- Grids in the order of their nodes

// Nodes along x, y, z, told by where springs to the next node and to the next row are missing
// first. Only a guess that costs next to nothing: plan/grid.c proves every spring. Zeros where
// there is none.
static void guess_grid(const struct neighbours *n, uint64_t node_count, const uint32_t *order,
                       const uint32_t *number, uint64_t grid[3])
{
    uint64_t nx = 1, ny = 1;
    while (nx < node_count && goes_by(n, order[nx - 1], (int64_t)nx - 1, 1, number))
        nx++;
    while (ny * nx < node_count &&
           goes_by(n, order[(ny - 1) * nx], (int64_t)((ny - 1) * nx), (int64_t)nx, number))
        ny++;
    if (nx > 1 && node_count % (nx * ny) == 0) {
        grid[0] = nx;
        grid[1] = ny;
        grid[2] = node_count / (nx * ny);
    }
}

// ---- The change

bool array_permute(void **array, size_t size, const uint32_t *order, uint64_t count)
{
    if (!*array)
        return true; // all are alike
    char *from = *array, *to = memory_allocate(NULL, (size_t)count, size);
    if (!to)
        return false;
    for (uint64_t i = 0; i < count; i++)
        memcpy(to + i * size, from + (size_t)order[i] * size, size);
    memory_release(NULL, from, (size_t)count, size);
    *array = to;
    return true;
}

// Without memory some arrays may be permuted and others not: the body is of no use then.
static bool apply(struct body *body, const uint32_t *order, const uint32_t *number)
{
    uint64_t nodes = body->node_count;
    if (!array_permute((void **)&body->positions, 3 * sizeof *body->positions, order, nodes) ||
        !array_permute((void **)&body->initial, 3 * sizeof *body->initial, order, nodes) ||
        !array_permute((void **)&body->velocities, 3 * sizeof *body->velocities, order, nodes) ||
        !array_permute((void **)&body->masses, sizeof *body->masses, order, nodes) ||
        !array_permute((void **)&body->fixed, sizeof *body->fixed, order, nodes))
        return false;
    for (uint64_t s = 0; s < body->spring_count; s++)
        for (int end = 0; end < 2; end++)
            body->springs[s][end] = number[body->springs[s][end]];
    for (uint64_t i = 0; i < body->face_count * (uint64_t)body->face_arity; i++)
        body->faces[i] = number[body->faces[i]];
    for (size_t m = 0; m < body->motion_count; m++)
        body->motions[m].node = number[body->motions[m].node];
    return true;
}

static void invert(const uint32_t *order, uint64_t count, uint32_t *number)
{
    for (uint64_t i = 0; i < count; i++)
        number[order[i]] = (uint32_t)i;
}

// Whether a better order was found; it is in order[], its inverse in number[].
static bool find_order(struct body *body, const struct neighbours *n, uint32_t *order,
                       uint32_t *number, bool *no_memory)
{
    for (uint64_t i = 0; i < body->node_count; i++)
        order[i] = number[i] = (uint32_t)i;
    double present = cost_of(n, body->node_count, order, number);
    if (present <= GOOD) {
        if (body->type == BODY_NETWORK)
            guess_grid(n, body->node_count, order, number, body->grid);
        return false;
    }
    uint64_t grid[3] = {0, 0, 0};
    if (!lattice_order(body, order, grid, no_memory)) {
        *no_memory |= !graph_order(n, body->node_count, order);
        if (*no_memory)
            return false;
    }
    invert(order, body->node_count, number);
    if (cost_of(n, body->node_count, order, number) > GAIN * present)
        return false;
    if (body->type == BODY_NETWORK)
        memcpy(body->grid, grid, sizeof grid);
    return true;
}

static bool renumber(struct body *body)
{
    size_t nodes = (size_t)body->node_count;
    struct neighbours neighbours = {NULL, NULL};
    uint32_t *order = memory_allocate(NULL, nodes, sizeof *order);
    uint32_t *number = memory_allocate(NULL, nodes, sizeof *number);
    bool done = order && number && neighbours_make(body, &neighbours), no_memory = false;
    if (done && find_order(body, &neighbours, order, number, &no_memory)) {
        done = apply(body, order, number);
        body->node_order = order;
        order = NULL;
    }
    neighbours_free(body, &neighbours);
    memory_release(NULL, order, nodes, sizeof *order);
    memory_release(NULL, number, nodes, sizeof *number);
    return done && !no_memory;
}

bool bodies_renumber(struct bodies *bodies)
{
    for (size_t b = 0; b < bodies->count; b++) {
        struct body *body = &bodies->items[b];
        if (body->springs && body->spring_count > 0 && body->node_count >= NODES_MIN &&
            !body->node_order && !(renumber(body) && body_sort_springs(body)))
            return false;
    }
    return true;
}
