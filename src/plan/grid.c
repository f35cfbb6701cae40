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

// What is known of each direction while springs are read.
struct census {
    uint64_t count[DIRECTIONS_MAX];
    uint32_t *seen; // of each node, a bit for each direction that a spring goes from it
    int recent;
};
_Static_assert((int)DIRECTIONS_MAX <= 32, "a bit for each direction");

// In 32 bits, since nodes have such numbers and divisions by 64 take twice as long.
static struct plan_direction direction_between(const struct plan_grid *grid, uint32_t a, uint32_t b)
{
    const uint32_t nx = (uint32_t)grid->nx, ny = (uint32_t)grid->ny;
    uint32_t row_a = a / nx, row_b = b / nx;
    return (struct plan_direction){
        .dx = (int)(b % nx) - (int)(a % nx),
        .dy = (int)(row_b % ny) - (int)(row_a % ny),
        .dz = (int)(row_b / ny) - (int)(row_a / ny),
        .offset = (int64_t)b - (int64_t)a,
    };
}

static bool same_step(const struct plan_direction *a, const struct plan_direction *b)
{
    return a->dx == b->dx && a->dy == b->dy && a->dz == b->dz;
}

// The number of the direction, added if it is new; -1 when there are too many or it reaches too
// far.
static int place_direction(struct plan_grid *grid, struct census *census,
                           const struct plan_direction *step)
{
    if (grid->direction_count > 0 && same_step(&grid->directions[census->recent], step))
        return census->recent;
    for (int d = 0; d < grid->direction_count; d++)
        if (same_step(&grid->directions[d], step))
            return census->recent = d;
    if (grid->direction_count == DIRECTIONS_MAX || abs(step->dx) > GRID_REACH)
        return -1;
    grid->directions[grid->direction_count] = *step;
    return census->recent = grid->direction_count++;
}

static bool add_spring(const struct topology *topology, uint64_t spring, struct plan_grid *grid,
                       struct census *census)
{
    uint32_t a = topology->springs[spring][0] - (uint32_t)grid->first_node; // `spring` counts
    uint32_t b = topology->springs[spring][1] - (uint32_t)grid->first_node; // listed ones
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    struct plan_direction step = direction_between(grid, low, high);
    step.rest_length = topology->rest_length[spring];
    step.material = topology->spring_material[spring];
    int d = place_direction(grid, census, &step);
    if (d < 0)
        return false;
    const struct plan_direction *known = &grid->directions[d];
    uint32_t bit = UINT32_C(1) << d;
    bool first = !(census->seen[low] & bit);
    census->seen[low] |= bit;
    census->count[d]++;
    return first && known->material == step.material &&
           is_plain(&topology->materials[step.material]) &&
           fabs(known->rest_length - step.rest_length) <= REST_TOLERANCE * known->rest_length;
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
