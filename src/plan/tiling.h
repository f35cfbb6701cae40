// How a grid is cut into tiles of rows and layers. A tile is swept by one worker, layer after layer
// and row after row, and each spring is computed once, at its first node: the reaction goes to a
// row still to come. Reactions on nodes of other tiles go to the tile's spill, which their owners
// add when all have been swept. Where the cuts lie depends on the grid alone, never on threads or
// on the machine: they decide the order of sums, and so the bits.
#ifndef TAUT_PLAN_TILING_H
#define TAUT_PLAN_TILING_H

#include <stdbool.h>
#include <stdint.h>

struct plan_grid;

struct plan_tiling {
    uint64_t nx, ny, nz;           // a rope is swept as a column: rows of one node
    uint64_t tiles_y, tiles_z;     // tiles along y (rows) and z (layers)
    uint64_t chunk_rows;           // rows that a pass goes over before the next pass
    uint64_t before, after, above; // reach of springs: rows back, rows ahead, layers ahead
    uint64_t first_tile;           // in the numbering over all grids
};

// Rows [j0, j1) of layers [k0, k1); the ty-th along y and the tz-th along z.
struct plan_tile {
    uint64_t ty, tz;
    uint64_t j0, j1, k0, k1;
};

// Cuts the grid; `first_tile` is left to the plan.
void tiling_make(const struct plan_grid *grid, struct plan_tiling *tiling);

static inline uint64_t tiling_tile_count(const struct plan_tiling *tiling)
{
    return tiling->tiles_y * tiling->tiles_z;
}

// Parts that differ by one row or layer at most.
static inline struct plan_tile tiling_tile(const struct plan_tiling *tiling, uint64_t tile)
{
    uint64_t ty = tile % tiling->tiles_y, tz = tile / tiling->tiles_y;
    return (struct plan_tile){
        .ty = ty,
        .tz = tz,
        .j0 = ty * tiling->ny / tiling->tiles_y,
        .j1 = (ty + 1) * tiling->ny / tiling->tiles_y,
        .k0 = tz * tiling->nz / tiling->tiles_z,
        .k1 = (tz + 1) * tiling->nz / tiling->tiles_z,
    };
}

// Whether no spring reaches past a tile next to its own.
bool tiling_is_sound(const struct plan_tiling *tiling);

#endif
