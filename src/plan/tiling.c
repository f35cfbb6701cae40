#include "plan/tiling.h"

#include "plan/plan.h"

// Nodes of a tile: many tiles where there are many threads, large ones where there is much work,
// since the rows at their edges cost more. Rows and layers: eight times what springs reach, at
// least, for the same reason.
enum { TILE_NODES_MIN = 2048, TILE_NODES_MAX = 16384, TILES_WANTED = 32, TILE_REACHES = 8 };

// What a chunk's positions, velocities and forces take fits into the first level of the cache.
enum { CHUNK_NODES = 1024 };

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

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

static uint64_t parts(uint64_t whole, uint64_t part)
{
    return whole / part > 0 ? whole / part : 1;
}

void tiling_make(const struct plan_grid *grid, struct plan_tiling *tiling)
{
    bool column = grid->ny == 1 && grid->nz == 1;
    *tiling = (struct plan_tiling){
        .nx = column ? 1 : grid->nx, .ny = column ? grid->nx : grid->ny, .nz = grid->nz};
    find_reach(grid, tiling);
    uint64_t nodes = tiling->nx * tiling->ny * tiling->nz / TILES_WANTED;
    nodes = nodes < TILE_NODES_MIN   ? TILE_NODES_MIN
            : nodes > TILE_NODES_MAX ? TILE_NODES_MAX
                                     : nodes;
    uint64_t rows_least = larger(1, TILE_REACHES * larger(tiling->before, tiling->after));
    uint64_t layers_least = larger(1, TILE_REACHES * tiling->above);
    bool flat = tiling->nz == 1;
    uint64_t rows = larger(rows_least, (flat ? nodes : CHUNK_NODES) / tiling->nx);
    if (rows > tiling->ny)
        rows = tiling->ny;
    tiling->tiles_y = parts(tiling->ny, rows);
    tiling->tiles_z = parts(tiling->nz, larger(layers_least, nodes / (tiling->nx * rows)));
    rows = (tiling->ny + tiling->tiles_y - 1) / tiling->tiles_y;
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
