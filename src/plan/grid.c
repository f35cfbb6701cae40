// Finds the regular structure of bodies on a grid. Of those whose springs go by directions already,
// it only asks whether kernels can compute them; of listed ones nothing is taken on trust: every
// spring is looked at.
#include "plan/plan.h"

#include <stdlib.h>

#include "base/memory.h"

// Rows shorter than this are left to blocks. Of a vector of 16 lanes four used ones still pay.
enum { ROW_MIN = 4 };

// How far rest lengths of one direction may differ: the rounding of built distances far from the
// origin.
static const double REST_TOLERANCE = 1e-6;

static bool has_grid(const struct topology_body *body, struct plan_grid *grid)
{
    grid->nx = body->grid[0];
    grid->ny = body->grid[1];
    grid->nz = body->grid[2];
    grid->first_node = body->first_node;
    return grid->nx >= ROW_MIN && grid->ny > 0 && grid->nz > 0 && body->spring_count > 0 &&
           grid->nx * grid->ny * grid->nz == body->node_count;
}

static bool is_remembering(const struct material *material)
{
    return isfinite(material->break_at) || isfinite(material->yield_at);
}

static bool is_plain(const struct material *material)
{
    return material->law == LAW_LINEAR && !is_remembering(material);
}

struct grid_place {
    uint32_t node; // of the body
    int x, y, z;
};

// In 32 bits, since nodes have such numbers and divisions by 64 take twice as long.
static struct grid_place place_of(const struct plan_grid *grid, uint32_t node)
{
    const uint32_t nx = (uint32_t)grid->nx, ny = (uint32_t)grid->ny, row = node / nx;
    return (struct grid_place){node, (int)(node % nx), (int)(row % ny), (int)(row / ny)};
}

// What is known of each direction while springs are read.
struct census {
    uint64_t count[DIRECTIONS_MAX];
    uint32_t *seen;        // of each node, a bit for each direction that a spring goes from it
    struct grid_place low; // of the last spring: mostly the next one starts there, too,
    int recent;            // in another direction than this
};
_Static_assert((int)DIRECTIONS_MAX <= 32, "a bit for each direction");

static bool is_within(int place, int step, uint64_t count)
{
    int64_t other = (int64_t)place + step;
    return other >= 0 && (uint64_t)other < count;
}

// Whether the direction leads from one node to another: then it is the only one that does.
static bool leads(const struct plan_grid *grid, const struct plan_direction *direction,
                  const struct grid_place *from, uint32_t to)
{
    return direction->offset == (int64_t)to - (int64_t)from->node &&
           is_within(from->x, direction->dx, grid->nx) &&
           is_within(from->y, direction->dy, grid->ny) &&
           is_within(from->z, direction->dz, grid->nz);
}

// The number of the direction from census->low to this node, added if it is new; -1 when there are
// too many or it reaches too far.
static int find_direction(struct plan_grid *grid, struct census *census, uint32_t to)
{
    const struct grid_place *low = &census->low;
    for (int i = 0, d = census->recent; i < grid->direction_count; i++) {
        d = d + 1 < grid->direction_count ? d + 1 : 0;
        if (leads(grid, &grid->directions[d], low, to))
            return d;
    }
    struct grid_place high = place_of(grid, to);
    if (grid->direction_count == DIRECTIONS_MAX || abs(high.x - low->x) > GRID_REACH)
        return -1;
    grid->directions[grid->direction_count] =
        (struct plan_direction){.dx = high.x - low->x,
                                .dy = high.y - low->y,
                                .dz = high.z - low->z,
                                .offset = (int64_t)to - (int64_t)low->node};
    return grid->direction_count++;
}

static bool add_spring(const struct topology *topology, uint64_t spring, struct plan_grid *grid,
                       struct census *census)
{
    uint32_t a = topology->springs[spring][0] - (uint32_t)grid->first_node; // `spring` counts
    uint32_t b = topology->springs[spring][1] - (uint32_t)grid->first_node; // listed ones
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (low != census->low.node)
        census->low = place_of(grid, low);
    int d = find_direction(grid, census, high);
    if (d < 0)
        return false;
    census->recent = d;
    struct plan_direction *known = &grid->directions[d];
    double rest_length = topology_listed_rest(topology, spring);
    uint32_t material = topology_listed_material(topology, spring), bit = UINT32_C(1) << d;
    if (census->count[d] == 0) {
        known->rest_length = rest_length;
        known->material = material;
    }
    bool first = !(census->seen[low] & bit);
    census->seen[low] |= bit;
    census->count[d]++;
    return first && known->material == material && is_plain(&topology->materials[material]) &&
           fabs(known->rest_length - rest_length) <= REST_TOLERANCE * known->rest_length;
}

// A direction is whole if every node with a partner there has its spring.
static bool is_whole(const struct plan_grid *grid, const struct plan_direction *direction,
                     uint64_t count)
{
    uint64_t x = grid->nx - (uint64_t)abs(direction->dx);
    uint64_t y = grid->ny - (uint64_t)abs(direction->dy);
    uint64_t z = grid->nz - (uint64_t)abs(direction->dz);
    return x * y * z == count;
}

// Directions take the order of their steps, so that the order of the springs changes no sum.
static int compare_directions(const void *left, const void *right)
{
    const struct plan_direction *a = left, *b = right;
    if (a->dz != b->dz)
        return a->dz < b->dz ? -1 : 1;
    if (a->dy != b->dy)
        return a->dy < b->dy ? -1 : 1;
    return a->dx < b->dx ? -1 : a->dx > b->dx;
}

static taut_status take_listed(const struct topology *topology, const struct topology_body *body,
                               struct plan_grid *grid, bool *found, taut_error *error)
{
    size_t nodes = (size_t)body->node_count;
    struct census census = {.seen = memory_allocate(NULL, nodes, sizeof *census.seen)};
    if (!census.seen)
        return fail_memory(error, "the plan");
    bool whole = true;
    for (uint64_t i = 0; i < body->spring_count && whole; i++)
        whole = add_spring(topology, body->first_listed + i, grid, &census);
    for (int d = 0; d < grid->direction_count && whole; d++)
        whole = is_whole(grid, &grid->directions[d], census.count[d]);
    memory_release(NULL, census.seen, nodes, sizeof *census.seen);
    if (whole)
        qsort(grid->directions, (size_t)grid->direction_count, sizeof *grid->directions,
              compare_directions);
    *found = whole;
    return TAUT_OK;
}

static bool take_directions(const struct topology *topology, const struct topology_body *body,
                            struct plan_grid *grid)
{
    if (body->direction_count > DIRECTIONS_MAX)
        return false;
    for (size_t d = 0; d < body->direction_count; d++) {
        const struct topology_direction *from = &topology->directions[body->first_direction + d];
        if (abs(from->to.steps[0]) > GRID_REACH)
            return false;
        grid->remembers |= is_remembering(&topology->materials[from->material]);
        grid->directions[grid->direction_count++] =
            (struct plan_direction){.dx = from->to.steps[0],
                                    .dy = from->to.steps[1],
                                    .dz = from->to.steps[2],
                                    .offset = (int64_t)from->to.apart,
                                    .rest_length = from->rest_length,
                                    .material = from->material};
    }
    return true;
}

taut_status grid_find(const struct topology *topology, size_t index, struct plan_grid *grid,
                      bool *found, taut_error *error)
{
    const struct topology_body *body = &topology->bodies[index];
    *grid = (struct plan_grid){.body = index};
    *found = false;
    if (!has_grid(body, grid))
        return TAUT_OK;
    if (body->direction_count == 0)
        return take_listed(topology, body, grid, found, error);
    *found = take_directions(topology, body, grid);
    return TAUT_OK;
}

const struct plan_grid *plan_grid_of_body(const struct plan *plan, size_t body)
{
    size_t low = 0, high = plan->grid_count; // grids stand in the order of their bodies
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (plan->grids[middle].body < body)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->grid_count && plan->grids[low].body == body ? &plan->grids[low] : NULL;
}
