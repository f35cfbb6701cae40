// Finds the regular structure of bodies on a grid, and cuts it into tiles. Of bodies whose springs
// go by directions already, it only asks whether kernels can compute them; of listed ones nothing
// is assumed: every spring is checked.
#include "springs/grid/plan.h"

#include <stdlib.h>

#include "base/sort.h"
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

static bool has_state(const struct material *material)
{
    return isfinite(material->break_at) || isfinite(material->yield_at);
}

static bool is_plain(const struct material *material)
{
    return material->law == LAW_LINEAR && !has_state(material);
}

struct grid_position {
    uint32_t node; // of the body
    int x, y, z;
};

// In 32 bits, since nodes have such numbers and divisions by 64 take twice as long.
static struct grid_position position_of(const struct plan_grid *grid, uint32_t node)
{
    const uint32_t nx = (uint32_t)grid->nx, ny = (uint32_t)grid->ny, row = node / nx;
    return (struct grid_position){node, (int)(node % nx), (int)(row % ny), (int)(row / ny)};
}

// What is known of each direction while springs are read.
struct census {
    uint64_t count[DIRECTIONS_MAX];
    uint32_t *seen;           // of each node, a bit for each direction that a spring goes from it
    struct grid_position low; // of the last spring: mostly the next one starts there, too,
    int recent;               // in another direction than this
};
_Static_assert((int)DIRECTIONS_MAX <= 32, "a bit for each direction");

static bool is_within(int position, int step, uint64_t count)
{
    int64_t other = (int64_t)position + step;
    return other >= 0 && (uint64_t)other < count;
}

// Whether the direction leads from one node to another: then it is the only one that does.
static bool leads(const struct plan_grid *grid, const struct direction *direction,
                  const struct grid_position *from, uint32_t to)
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
    const struct grid_position *low = &census->low;
    for (int i = 0, d = census->recent; i < grid->direction_count; i++) {
        d = d + 1 < grid->direction_count ? d + 1 : 0;
        if (leads(grid, &grid->directions[d], low, to))
            return d;
    }
    struct grid_position high = position_of(grid, to);
    if (to == low->node) // from a node to itself: no direction of a grid
        return -1;
    if (grid->direction_count == DIRECTIONS_MAX || abs(high.x - low->x) > GRID_REACH)
        return -1;
    const uint64_t nodes[3] = {grid->nx, grid->ny, grid->nz};
    const int steps[3] = {high.x - low->x, high.y - low->y, high.z - low->z};
    grid->directions[grid->direction_count] = direction_make(nodes, steps);
    return grid->direction_count++;
}

static bool add_spring(const struct topology *topology, uint64_t spring, struct plan_grid *grid,
                       struct census *census)
{
    uint32_t a = topology->springs[spring][0] - (uint32_t)grid->first_node; // `spring` counts
    uint32_t b = topology->springs[spring][1] - (uint32_t)grid->first_node; // listed ones
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (low != census->low.node)
        census->low = position_of(grid, low);
    int d = find_direction(grid, census, high);
    if (d < 0)
        return false;
    census->recent = d;
    struct direction *known = &grid->directions[d];
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

// Directions take the order of their steps, so that the order of the springs changes no sum.
static int compare_directions(const void *left, const void *right)
{
    const struct direction *a = left, *b = right;
    if (a->dz != b->dz)
        return a->dz < b->dz ? -1 : 1;
    if (a->dy != b->dy)
        return a->dy < b->dy ? -1 : 1;
    return a->dx < b->dx ? -1 : a->dx > b->dx;
}

static void order_directions(struct plan_grid *grid)
{
    qsort(grid->directions, (size_t)grid->direction_count, sizeof *grid->directions,
          compare_directions);
    uint64_t first = 0;
    for (int d = 0; d < grid->direction_count; d++) {
        grid->directions[d].first_spring = first;
        first += direction_springs(&grid->directions[d]);
    }
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
        whole = direction_springs(&grid->directions[d]) == census.count[d]; // none is missing
    memory_release(NULL, census.seen, nodes, sizeof *census.seen);
    if (whole)
        order_directions(grid);
    *found = whole;
    return TAUT_OK;
}

static bool take_directions(const struct topology *topology, const struct topology_body *body,
                            struct plan_grid *grid)
{
    if (body->direction_count > DIRECTIONS_MAX)
        return false;
    for (size_t d = 0; d < body->direction_count; d++) {
        const struct direction *direction = &topology->directions[body->first_direction + d];
        if (abs(direction->dx) > GRID_REACH)
            return false;
        grid->stateful |= has_state(&topology->materials[direction->material]);
        grid->directions[grid->direction_count++] = *direction;
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

// ---- Tiles

// A tile has as many nodes as make TILES_WANTED tiles, within limits: enough for many threads, and
// large where there is much work, since what lies at the edges costs more. A layer is cut only
// where there would be too few tiles otherwise, or where what a sweep keeps of a layer and the next
// would not fit into the second level of the cache; springs must not reach past a quarter of a
// tile's layers, or an eighth of its rows.
enum {
    TILE_NODES_MIN = 2048,
    TILE_NODES_MAX = 32768,
    TILES_WANTED = 16,
    TILES_LEAST = 4,
    LAYER_NODES_MAX = 16384,
    REACHES_OF_ROWS = 8,
    REACHES_OF_LAYERS = 4
};

// What a chunk's positions, velocities and forces take fits into the first level of the cache.
enum { CHUNK_NODES = 1024 };

static void find_reach(const struct plan_grid *grid, struct plan_tiling *tiling)
{
    bool column = tiling->nx != grid->nx;
    for (int d = 0; d < grid->direction_count; d++) {
        const struct direction *direction = &grid->directions[d];
        int dy = column ? direction->dx : direction->dy;
        if (dy < 0)
            tiling->before = max_u64(tiling->before, (uint64_t)-dy);
        else
            tiling->after = max_u64(tiling->after, (uint64_t)dy);
        tiling->above = max_u64(tiling->above, (uint64_t)direction->dz);
    }
}

// How many parts of at least `part`; 1 at least.
static uint64_t parts(uint64_t whole, uint64_t part)
{
    return whole / max_u64(part, 1) > 0 ? whole / max_u64(part, 1) : 1;
}

static uint64_t between(uint64_t low, uint64_t a, uint64_t high)
{
    return a < low ? low : a > high ? high : a;
}

static void cut(struct plan_tiling *tiling)
{
    const uint64_t layer = tiling->nx * tiling->ny;
    const uint64_t nodes =
        between(TILE_NODES_MIN, layer * tiling->nz / TILES_WANTED, TILE_NODES_MAX);
    const uint64_t most_y =
        parts(tiling->ny, REACHES_OF_ROWS * max_u64(tiling->before, tiling->after));
    if (tiling->nz == 1) {
        tiling->tiles_z = 1;
        tiling->tiles_y = between(1, parts(layer, nodes), most_y);
        return;
    }
    tiling->tiles_y = between(1, parts(layer, LAYER_NODES_MAX), most_y);
    const uint64_t slab = layer / tiling->tiles_y;
    tiling->tiles_z =
        parts(tiling->nz, max_u64(REACHES_OF_LAYERS * tiling->above, nodes / max_u64(slab, 1)));
    if (tiling->tiles_y * tiling->tiles_z < TILES_LEAST && layer * tiling->nz > 4 * nodes)
        tiling->tiles_y = between(1, TILES_WANTED / tiling->tiles_z, most_y);
}

void tiling_make(const struct plan_grid *grid, struct plan_tiling *tiling)
{
    bool column = grid->ny == 1 && grid->nz == 1;
    *tiling = (struct plan_tiling){
        .nx = column ? 1 : grid->nx, .ny = column ? grid->nx : grid->ny, .nz = grid->nz};
    find_reach(grid, tiling);
    cut(tiling);
    uint64_t rows = (tiling->ny + tiling->tiles_y - 1) / tiling->tiles_y;
    uint64_t chunks = (rows * tiling->nx + CHUNK_NODES - 1) / CHUNK_NODES;
    tiling->chunk_rows = (rows + chunks - 1) / chunks;
}

bool tiling_is_sound(const struct plan_tiling *tiling)
{
    uint64_t rows = tiling->ny / tiling->tiles_y, layers = tiling->nz / tiling->tiles_z;
    bool y = tiling->tiles_y == 1 || (rows >= tiling->before && rows >= tiling->after);
    bool z = tiling->tiles_z == 1 || layers >= tiling->above;
    return y && z && tiling->chunk_rows > 0;
}
