// The plan of springs on a regular grid of nodes, which are computed as stencils: the directions of
// the springs, and the tiles of rows and layers that workers share. grid/sweep.c sweeps the tiles;
// passes and buffers are not part of the plan (grid/sweep.h).
//
// A tile is swept by one worker, layer after layer and row after row. Each spring is computed once,
// at its first node; its reaction goes to a row that is still to come. Reactions on nodes of other
// tiles go to the tile's halo contributions, which the owners of the nodes add when all tiles have
// been swept. Where the tiles end depends on the grid alone, never on threads or on the machine,
// because it determines the order of sums and so the bits.
#ifndef TAUT_SPRINGS_GRID_PLAN_H
#define TAUT_SPRINGS_GRID_PLAN_H

#include <assert.h>

#include "topology/topology.h"

struct plan_tiling {
    uint64_t nx, ny, nz;           // those of the grid; a rope is swept as a column of 1-node rows
    uint64_t tiles_y, tiles_z;     // tiles along y (rows) and z (layers)
    uint64_t chunk_rows;           // rows that all passes process before the next rows
    uint64_t before, after, above; // reach of springs: rows before and after, layers above
    uint64_t first_tile;           // in the numbering over all grids
};

// Rows [j0, j1) of layers [k0, k1): tile number ty along y and tz along z.
struct plan_tile {
    uint64_t ty, tz;
    uint64_t j0, j1, k0, k1;
};

struct plan_grid;

// Divides the grid into tiles; `first_tile` is set by the plan.
void tiling_make(const struct plan_grid *grid, struct plan_tiling *tiling);

static inline uint64_t tiling_tile_count(const struct plan_tiling *tiling)
{
    return tiling->tiles_y * tiling->tiles_z;
}

// The rows and layers of a tile. Tiles differ by at most one row and one layer.
static inline struct plan_tile tiling_tile(const struct plan_tiling *tiling, uint64_t tile)
{
    assert(tiling->tiles_y > 0 && tiling->tiles_z > 0);
    if (tiling->tiles_y == 1 && tiling->tiles_z == 1) // divisions take long beside a small grid
        return (struct plan_tile){.j1 = tiling->ny, .k1 = tiling->nz};
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

// Whether no spring reaches beyond a neighbouring tile.
bool tiling_is_sound(const struct plan_tiling *tiling);

// Part of a tile's halo contributions, which are reactions on rows of other tiles: in each layer of
// the tile, `before` rows before it and `after` rows after it; in the layers above the tile, before
// + rows + after rows.
struct halo_box {
    uint64_t j0, j1, k0, k1; // rows and layers of the grid
    uint64_t at;             // of its first node in the contributions
};

enum { HALO_BEFORE, HALO_AFTER, HALO_ABOVE, HALO_BOXES };

// Rows outside of the grid are part of a box but are never accessed.
static inline struct halo_box halo_box(const struct plan_tiling *tiling,
                                       const struct plan_tile *tile, int which)
{
    uint64_t before = tiling->before, after = tiling->after, layers = tile->k1 - tile->k0;
    uint64_t first = tile->j0, end = tile->j1;
    if (which == HALO_BEFORE)
        return (struct halo_box){first - before, first, tile->k0, tile->k1, 0};
    if (which == HALO_AFTER)
        return (struct halo_box){end, end + after, tile->k0, tile->k1,
                                 layers * before * tiling->nx};
    return (struct halo_box){first - before, end + after, tile->k1, tile->k1 + tiling->above,
                             layers * (before + after) * tiling->nx};
}

// The offset of node 0 of row j, layer k in the contributions. j0 may lie before row 0 and so wrap
// around, but the difference is still correct.
static inline uint64_t halo_offset(const struct plan_tiling *tiling, const struct halo_box *box,
                                   uint64_t j, uint64_t k)
{
    return box->at + ((k - box->k0) * (box->j1 - box->j0) + (j - box->j0)) * tiling->nx;
}

// The number of directions of the two innermost shells of a lattice, and how far a direction may
// reach along a row.
enum { DIRECTIONS_MAX = 26, GRID_REACH = 2 };

// A body whose springs form directions, each with one rest length and one material, or with the
// materials of a weighted direction, so that its kernel needs no list of springs.
struct plan_grid {
    size_t body;
    uint64_t first_node, nx, ny, nz;
    struct direction directions[DIRECTIONS_MAX];
    int direction_count;
    bool weighted;     // all directions are (scene/direction.h); it then has layers of several rows
    bool has_elements; // of a cloth (elements/), which sweeps compute together with its springs
    // Whether some of its springs can break or yield. Then all of them have entries in the state's
    // spring arrays, in the builder's order: direction after direction, and within a direction row
    // after row.
    bool stateful;
    uint64_t first_state_index;
    // Only for a grid from which springs were cut, which is never stateful; otherwise NULL.
    // missing[GAP_GUARD + direction.first_spring + i]: 1 if spring i of the direction does not
    // exist. rows_with_gaps[j + k ny], with the rows of the tiling: 1 if some spring that would
    // start there does not exist.
    uint8_t *missing, *rows_with_gaps;
    uint64_t missing_length, row_count;
    struct plan_tiling tiling;
};

// Implicit integrators solve rows or columns of at least so many nodes together where their springs
// are at least so many times as stiff as the springs that join other nodes (grid/lines.c).
enum { LINE_NODES = 3 };
static const double LINE_STIFFNESS = 2;

// Whether they may do so in some precision, by the constants as built.
bool plan_grid_has_lines(const struct topology *topology, const struct plan_grid *grid);

// Kernels read flags of a register of springs, which may start before the first one or end after
// the last one.
enum { GAP_GUARD = 64 };

// Determines whether the springs of body `index` form a grid: from its directions, or, if the
// springs are listed, from every spring, in whatever order they are listed. Listed springs that can
// break, yield or go slack are not accepted. If `gaps_allowed`, springs of a body that was cut may
// be missing, and may go slack.
taut_status grid_find(const struct topology *topology, size_t index, bool gaps_allowed,
                      const taut_allocator *allocator, struct plan_grid *grid, bool *found,
                      taut_error *error);

// Updates the rest lengths of its directions, after those of the topology have changed.
void grid_find_rest_lengths(const struct topology *topology, struct plan_grid *grid);

// Frees what grid_find has allocated.
void grid_free(const taut_allocator *allocator, struct plan_grid *grid);

// The flags of missing springs of a direction, or NULL if the grid has no gaps.
static inline const uint8_t *grid_missing(const struct plan_grid *grid,
                                          const struct direction *direction)
{
    return grid->missing ? grid->missing + GAP_GUARD + direction->first_spring : NULL;
}

// Whether a row of the tiling has missing springs.
static inline bool grid_row_has_gaps(const struct plan_grid *grid, uint64_t j, uint64_t k)
{
    return grid->rows_with_gaps && grid->rows_with_gaps[k * grid->tiling.ny + j];
}

#endif
