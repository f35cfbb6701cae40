// The plan of springs on a regular grid of nodes, which are computed as stencils: the
// directions that they go by, and the tiles of rows and layers that workers share.
//
// How a grid is cut into tiles of rows and layers. A tile is swept by one worker, layer after layer
// and row after row, and each spring is computed once, at its first node: the reaction goes to a
// row still to come. Reactions on nodes of other tiles go to the tile's halo, which their owners
// add when all have been swept. Where the cuts lie depends on the grid alone, never on threads or
// on the machine: they decide the order of sums, and so the bits.
#ifndef TAUT_SPRINGS_GRID_PLAN_H
#define TAUT_SPRINGS_GRID_PLAN_H

#include "topology/topology.h"

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

struct plan_grid;

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

// Directions of two shells of a lattice, and how far they reach along a row.
enum { DIRECTIONS_MAX = 26, GRID_REACH = 2 };

// A body whose springs all are such directions, each of one material and one rest length: its
// kernel needs no list of springs.
struct plan_grid {
    size_t body;
    uint64_t first_node, nx, ny, nz;
    struct direction directions[DIRECTIONS_MAX];
    int direction_count;
    // Whether some of its springs can break or yield. Then all of them have indices in the state's
    // spring arrays, in the builder's order: direction after direction, a row's one after the
    // other.
    bool stateful;
    uint64_t first_state_index;
    struct plan_tiling tiling;
};

// Finds out whether the springs of body `index` make a grid: from their directions, or, where they
// are listed, from the springs themselves, in whatever order. Listed springs that can break, yield
// or go slack do not.
taut_status grid_find(const struct topology *topology, size_t index, struct plan_grid *grid,
                      bool *found, taut_error *error);

#endif
