#include "plan/tiling.h"

#include "base/extremes.h"
#include "plan/plan.h"

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
        const struct plan_direction *direction = &grid->directions[d];
        int dy = column ? direction->dx : direction->dy;
        if (dy < 0)
            tiling->before = larger(tiling->before, (uint64_t)-dy);
        else
            tiling->after = larger(tiling->after, (uint64_t)dy);
        tiling->above = larger(tiling->above, (uint64_t)direction->dz);
    }
}

// How many parts of at least `part`; 1 at least.
static uint64_t parts(uint64_t whole, uint64_t part)
{
    return whole / larger(part, 1) > 0 ? whole / larger(part, 1) : 1;
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
        parts(tiling->ny, REACHES_OF_ROWS * larger(tiling->before, tiling->after));
    if (tiling->nz == 1) {
        tiling->tiles_z = 1;
        tiling->tiles_y = between(1, parts(layer, nodes), most_y);
        return;
    }
    tiling->tiles_y = between(1, parts(layer, LAYER_NODES_MAX), most_y);
    const uint64_t slab = layer / tiling->tiles_y;
    tiling->tiles_z =
        parts(tiling->nz, larger(REACHES_OF_LAYERS * tiling->above, nodes / larger(slab, 1)));
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
