// Recognises bodies on a grid, and divides grids into tiles (plan.h). If the springs of a body are
// described by directions, only the limits of the kernels are checked; if they are listed, nothing
// is assumed and every spring is checked.
#include "springs/grid/plan.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/memory.h"

// Bodies with shorter rows are stored in another format. Four used lanes of a register of 16 still
// pay off.
enum { ROW_MIN = 4 };

// The relative difference allowed between rest lengths of one direction: rounding of distances far
// from the origin.
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

// On a grid with gaps the kernels mask springs anyway, so springs that go slack cost nothing more.
static bool is_allowed(const struct material *material, bool gaps)
{
    return gaps ? material->law != LAW_RIGID && !has_state(material) : is_plain(material);
}

struct grid_position {
    uint32_t node; // its number within the body
    int x, y, z;
};

// In 32 bits, which node numbers fit in: 64-bit divisions take twice as long.
static struct grid_position position_of(const struct plan_grid *grid, uint32_t node)
{
    const uint32_t nx = (uint32_t)grid->nx, ny = (uint32_t)grid->ny, row = node / nx;
    return (struct grid_position){node, (int)(node % nx), (int)(row % ny), (int)(row / ny)};
}

// The directions found so far while springs are read.
struct direction_search {
    uint64_t count[DIRECTIONS_MAX];
    uint32_t *seen;           // for each node, a bit per direction of the springs that start there
    struct grid_position low; // start of the last spring; the next one often starts there too,
    int recent;               // in another direction than the last one, `recent`
    bool gaps;                // springs may be missing
};
_Static_assert((int)DIRECTIONS_MAX <= 32, "a bit for each direction");

static bool is_within(int position, int step, uint64_t count)
{
    int64_t other = (int64_t)position + step;
    return other >= 0 && (uint64_t)other < count;
}

// Whether the direction joins these two nodes; no other direction does.
static bool joins(const struct plan_grid *grid, const struct direction *direction,
                  const struct grid_position *from, uint32_t to)
{
    return direction->offset == (int64_t)to - (int64_t)from->node &&
           is_within(from->x, direction->dx, grid->nx) &&
           is_within(from->y, direction->dy, grid->ny) &&
           is_within(from->z, direction->dz, grid->nz);
}

// The index of the direction from search->low to a node; it is added if it is new. -1 if there are
// too many directions or it reaches too far.
static int find_direction(struct plan_grid *grid, struct direction_search *search, uint32_t to)
{
    const struct grid_position *low = &search->low;
    for (int i = 0, d = search->recent; i < grid->direction_count; i++) {
        d = d + 1 < grid->direction_count ? d + 1 : 0;
        if (joins(grid, &grid->directions[d], low, to))
            return d;
    }
    struct grid_position high = position_of(grid, to);
    if (to == low->node) // a spring from a node to itself is not part of a grid
        return -1;
    if (grid->direction_count == DIRECTIONS_MAX || abs(high.x - low->x) > GRID_REACH)
        return -1;
    const uint64_t nodes[3] = {grid->nx, grid->ny, grid->nz};
    const int steps[3] = {high.x - low->x, high.y - low->y, high.z - low->z};
    grid->directions[grid->direction_count] = direction_make(nodes, steps);
    return grid->direction_count++;
}

// Counts a spring with its direction; `spring` is an index into the listed springs. False if the
// springs form no grid.
static bool add_spring(const struct topology *topology, uint64_t spring, struct plan_grid *grid,
                       struct direction_search *search)
{
    uint32_t a = topology->springs[spring][0] - (uint32_t)grid->first_node;
    uint32_t b = topology->springs[spring][1] - (uint32_t)grid->first_node;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (low != search->low.node)
        search->low = position_of(grid, low);
    int d = find_direction(grid, search, high);
    if (d < 0)
        return false;
    search->recent = d;
    struct direction *known = &grid->directions[d];
    double rest_length = topology_listed_rest(topology, spring);
    uint32_t material = topology_listed_material(topology, spring), bit = UINT32_C(1) << d;
    if (search->count[d] == 0) {
        known->rest_length = rest_length;
        known->material = material;
    }
    bool first = !(search->seen[low] & bit);
    search->seen[low] |= bit;
    search->count[d]++;
    return first && known->material == material &&
           is_allowed(&topology->materials[material], search->gaps) &&
           fabs(known->rest_length - rest_length) <= REST_TOLERANCE * known->rest_length;
}

// Sorts directions by their steps, so that the order in which springs are listed affects no sum.
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

// ---- Gaps: springs that were cut

// Marks the springs of a direction without the bit `bit` of seen[lower node].
static void mark_missing(struct plan_grid *grid, const struct direction *direction,
                         const uint32_t *seen, uint32_t bit)
{
    const uint64_t row_nodes = grid->ny == 1 && grid->nz == 1 ? 1 : grid->nx; // of the tiling
    const uint64_t count = direction_springs(direction);
    uint8_t *missing = grid->missing + GAP_GUARD + direction->first_spring;
    uint64_t left;
    for (uint64_t first = 0; first < count; first += left) {
        const uint64_t lower = direction_lower(direction, first, &left);
        for (uint64_t i = 0; i < left; i++)
            if (!(seen[lower + i] & bit)) {
                missing[first + i] = 1;
                grid->rows_with_gaps[(lower + i) / row_nodes] = 1;
            }
    }
}

// `unsorted`: the directions in the order of the bits of `seen`.
static taut_status find_gaps(const struct direction *unsorted, const uint32_t *seen,
                             const taut_allocator *allocator, struct plan_grid *grid,
                             taut_error *error)
{
    uint64_t springs = 0;
    for (int d = 0; d < grid->direction_count; d++)
        springs += direction_springs(&grid->directions[d]);
    grid->missing_length = springs + 2 * GAP_GUARD;
    grid->row_count = grid->ny == 1 && grid->nz == 1 ? grid->nx : grid->ny * grid->nz;
    grid->missing = memory_allocate(allocator, (size_t)grid->missing_length, sizeof *grid->missing);
    grid->rows_with_gaps =
        memory_allocate(allocator, (size_t)grid->row_count, sizeof *grid->rows_with_gaps);
    if (!grid->missing || !grid->rows_with_gaps) {
        grid_free(allocator, grid);
        return fail_memory(error, "the plan");
    }
    for (int d = 0; d < grid->direction_count; d++) {
        int bit = 0;
        while (compare_directions(&unsorted[bit], &grid->directions[d]) != 0)
            bit++;
        mark_missing(grid, &grid->directions[d], seen, UINT32_C(1) << bit);
    }
    return TAUT_OK;
}

void grid_free(const taut_allocator *allocator, struct plan_grid *grid)
{
    memory_release(allocator, grid->missing, (size_t)grid->missing_length, sizeof *grid->missing);
    memory_release(allocator, grid->rows_with_gaps, (size_t)grid->row_count,
                   sizeof *grid->rows_with_gaps);
    grid->missing = grid->rows_with_gaps = NULL;
}

// ---- The directions of a body

static taut_status find_in_list(const struct topology *topology, const struct topology_body *body,
                                bool gaps, const taut_allocator *allocator, struct plan_grid *grid,
                                bool *found, taut_error *error)
{
    size_t nodes = (size_t)body->node_count;
    struct direction_search search = {.seen = memory_allocate(NULL, nodes, sizeof *search.seen),
                                      .gaps = gaps};
    if (!search.seen)
        return fail_memory(error, "the plan");
    bool valid = true, whole = true;
    for (uint64_t i = 0; i < body->spring_count && valid; i++)
        valid = add_spring(topology, body->first_listed + i, grid, &search);
    for (int d = 0; d < grid->direction_count; d++)
        whole &= direction_springs(&grid->directions[d]) == search.count[d];

    taut_status status = TAUT_OK;
    *found = valid && (whole || gaps);
    if (*found) {
        struct direction unsorted[DIRECTIONS_MAX];
        memcpy(unsorted, grid->directions, sizeof unsorted);
        order_directions(grid);
        if (gaps)
            status = find_gaps(unsorted, search.seen, allocator, grid, error);
    }
    memory_release(NULL, search.seen, nodes, sizeof *search.seen);
    return status;
}

// Ropes are left to the kernels of elements: their rows of one node have no lanes to use.
static bool has_elements(const struct topology_body *body, const struct plan_grid *grid)
{
    const struct body_elements *elements = &body->elements;
    return elements->present && grid->ny > 1 && grid->nz == 1 &&
           (elements->bend[0].stiffness != 0 || elements->bend[1].stiffness != 0 ||
            elements->twist.stiffness != 0 || elements->area.stiffness != 0);
}

static bool copy_directions(const struct topology *topology, const struct topology_body *body,
                            struct plan_grid *grid)
{
    if (body->direction_count > DIRECTIONS_MAX)
        return false;
    for (size_t d = 0; d < body->direction_count; d++) {
        const struct direction *direction = &topology->directions[body->first_direction + d];
        if (abs(direction->dx) > GRID_REACH)
            return false;
        if (d > 0 && direction->weighted != grid->weighted)
            return false;
        grid->weighted = direction->weighted;
        grid->stateful |= has_state(&topology->materials[direction->material]);
        grid->directions[grid->direction_count++] = *direction;
    }
    return true;
}

taut_status grid_find(const struct topology *topology, size_t index, bool gaps_allowed,
                      const taut_allocator *allocator, struct plan_grid *grid, bool *found,
                      taut_error *error)
{
    const struct topology_body *body = &topology->bodies[index];
    *grid = (struct plan_grid){.body = index};
    *found = false;
    if (!has_grid(body, grid))
        return TAUT_OK;
    if (body->direction_count == 0)
        return find_in_list(topology, body, gaps_allowed && body->is_cut_grid, allocator, grid,
                            found, error);
    *found = copy_directions(topology, body, grid);
    grid->has_elements = *found && has_elements(body, grid);
    return TAUT_OK;
}

// A direction of a list has the rest length of the first spring found in it, which may have been
// rounded to single precision.
static void find_listed_rest_lengths(const struct topology *topology,
                                     const struct topology_body *body, struct plan_grid *grid)
{
    uint32_t found = 0; // a bit for each direction
    for (uint64_t i = 0; i < body->spring_count; i++) {
        const uint32_t *ends = topology->springs[body->first_listed + i];
        const uint32_t a = ends[0] - (uint32_t)grid->first_node;
        const uint32_t b = ends[1] - (uint32_t)grid->first_node;
        const struct grid_position low = position_of(grid, a < b ? a : b);
        int d = 0;
        while (!joins(grid, &grid->directions[d], &low, a < b ? b : a))
            d++;
        if (!(found >> d & 1))
            grid->directions[d].rest_length =
                topology_listed_rest(topology, body->first_listed + i);
        found |= UINT32_C(1) << d;
    }
}

void grid_find_rest_lengths(const struct topology *topology, struct plan_grid *grid)
{
    const struct topology_body *body = &topology->bodies[grid->body];
    if (body->direction_count == 0)
        find_listed_rest_lengths(topology, body, grid);
    for (size_t d = 0; d < body->direction_count; d++)
        grid->directions[d].rest_length =
            topology->directions[body->first_direction + d].rest_length;
}

// ---- Tiles

// A grid is divided into TILES_WANTED tiles if their nodes stay within limits: enough tiles for
// many threads, and large tiles for large grids, since springs across their edges cost more. Layers
// are divided only if there would otherwise be fewer than TILES_MIN tiles, or if the part of two
// consecutive layers that a sweep uses would not fit into the second-level cache. Springs must not
// reach further than a quarter of a tile's layers or an eighth of its rows.
enum {
    TILE_NODES_MIN = 2048,
    TILE_NODES_MAX = 32768,
    TILES_WANTED = 16,
    TILES_MIN = 4,
    LAYER_NODES_MAX = 16384,
    REACHES_OF_ROWS = 8,
    REACHES_OF_LAYERS = 4
};

// The positions, velocities and forces of a chunk fit into the first-level cache.
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
    if (grid->has_elements) // a line of bending has three nodes
        tiling->after = max_u64(tiling->after, 2);
}

// The number of parts of at least `part`, at least 1.
static uint64_t part_count(uint64_t whole, uint64_t part)
{
    return whole / max_u64(part, 1) > 0 ? whole / max_u64(part, 1) : 1;
}

static uint64_t clamp(uint64_t low, uint64_t a, uint64_t high)
{
    return a < low ? low : a > high ? high : a;
}

static void choose_tiles(struct plan_tiling *tiling)
{
    const uint64_t layer = tiling->nx * tiling->ny;
    const uint64_t nodes = clamp(TILE_NODES_MIN, layer * tiling->nz / TILES_WANTED, TILE_NODES_MAX);
    const uint64_t max_y =
        part_count(tiling->ny, REACHES_OF_ROWS * max_u64(tiling->before, tiling->after));
    if (tiling->nz == 1) {
        tiling->tiles_z = 1;
        tiling->tiles_y = clamp(1, part_count(layer, nodes), max_y);
        return;
    }
    tiling->tiles_y = clamp(1, part_count(layer, LAYER_NODES_MAX), max_y);
    const uint64_t slab = layer / tiling->tiles_y;
    tiling->tiles_z = part_count(
        tiling->nz, max_u64(REACHES_OF_LAYERS * tiling->above, nodes / max_u64(slab, 1)));
    if (tiling->tiles_y * tiling->tiles_z < TILES_MIN && layer * tiling->nz > 4 * nodes)
        tiling->tiles_y = clamp(1, TILES_WANTED / tiling->tiles_z, max_y);
}

void tiling_make(const struct plan_grid *grid, struct plan_tiling *tiling)
{
    bool column = grid->ny == 1 && grid->nz == 1;
    *tiling = (struct plan_tiling){
        .nx = column ? 1 : grid->nx, .ny = column ? grid->nx : grid->ny, .nz = grid->nz};
    find_reach(grid, tiling);
    choose_tiles(tiling);
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

bool plan_grid_has_lines(const struct topology *topology, const struct plan_grid *grid)
{
    double along[2] = {-1, -1}, others = 0; // -1: there are none
    for (int d = 0; d < grid->direction_count; d++) {
        const struct direction *direction = &grid->directions[d];
        const double stiffness = topology->materials[direction->material].stiffness;
        const bool is_x = direction->dx == 1 && direction->dy == 0 && direction->dz == 0;
        const bool is_y = direction->dx == 0 && direction->dy == 1 && direction->dz == 0;
        if (is_x || is_y)
            along[is_y] = fmax(along[is_y], stiffness);
        else
            others = fmax(others, stiffness);
    }
    const double least = LINE_STIFFNESS * others * (1 - 2 * (double)FLT_EPSILON);
    return grid->nz == 1 && ((grid->nx >= LINE_NODES && along[0] >= least) ||
                             (grid->ny >= LINE_NODES && along[1] >= least));
}
