// What sweeping a tile (sweep_tile.c) and settling it (settle_tile.c) share: where rows and what is
// spilled on them lie. Numeric.
#ifndef TAUT_KERNELS_TILE_H
#define TAUT_KERNELS_TILE_H

#include "base/extremes.h"
#include "kernels/kernels.h"

struct tile_sweep {
    const struct system *system;
    const struct sweep *sweep;
    const struct plan_tiling *tiling;
    uint64_t index;
    struct plan_tile tile;
    const struct wind_now *wind; // of rows that grid_cloth does
    enum sweep_finish finish;
    struct reals sums; // of the chunk
    struct reals wave; // of reactions
};

// Rows [j0, j1) of layer k.
struct rows {
    uint64_t j0, j1, k;
};

static inline int64_t row_node(const struct sweep *sweep, uint64_t j, uint64_t k)
{
    return (int64_t)(sweep->grid->first_node + (k * sweep->tiling.ny + j) * sweep->tiling.nx);
}

static inline struct reals reals_at(struct reals at, int64_t offset)
{
    return (struct reals){at.x + offset, at.y + offset, at.z + offset};
}

static inline struct reals spill_of(const struct sweep *sweep, uint64_t tile)
{
    real *first = tile_spill(sweep, tile);
    return (struct reals){first, first + sweep->spill_nodes, first + 2 * sweep->spill_nodes};
}

// Where a layer's finished rows begin and end: [rows.j0, rows.j1) need nothing from other tiles.
static inline struct rows finished_rows(const struct sweep *sweep, const struct plan_tile *tile,
                                        uint64_t k)
{
    const struct plan_tiling *tiling = &sweep->tiling;
    if (tiling_tile_count(tiling) == 1 && sweep->grid->first_node == 0)
        return (struct rows){tile->j0, tile->j1, k};
    if (tile->tz > 0 && k < tile->k0 + tiling->above)
        return (struct rows){tile->j1, tile->j1, k};
    // The first rows of a layer are touched from behind: from the end of the layer before, too,
    // which the tile below reads up to where its springs reach.
    bool below = tile->tz > 0 && k == tile->k0 + tiling->above;
    bool touched = tiling->tiles_y > 1 || k == 0 || below;
    uint64_t first = touched ? smaller(tile->j0 + sweep->settle_first, tile->j1) : tile->j0;
    // The last ones likewise from the start of the next layer.
    bool is_last = tile->ty + 1 == tiling->tiles_y;
    uint64_t settle_last = !is_last                                ? sweep->settle_last
                           : tiling->tiles_y > 1 && tiling->nz > 1 ? sweep->settle_end
                                                                   : 0;
    uint64_t last = tile->j1 - smaller(settle_last, tile->j1 - tile->j0);
    return (struct rows){first, larger(first, last), k};
}

#endif
