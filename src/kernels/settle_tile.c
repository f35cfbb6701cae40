// What waits until all tiles have been swept: rows whose forces a neighbouring tile adds to, or
// whose positions it reads (sweep.h).
#include "kernels/tile.h"

static void add(real *to, const real *from, long count)
{
    for (long i = 0; i < count; i++)
        to[i] += from[i];
}

// What a tile has spilled on rows of another; nothing: all NULL.
struct spilled {
    struct reals from;
    uint64_t j0, j1;
};

static struct spilled spilled_on(const struct tile_sweep *it, int64_t ty, int64_t tz, int which,
                                 struct rows part)
{
    const struct plan_tiling *tiling = it->tiling;
    const struct spilled nothing = {{NULL, NULL, NULL}, 0, 0};
    if (ty < 0 || tz < 0 || ty >= (int64_t)tiling->tiles_y || tz >= (int64_t)tiling->tiles_z)
        return nothing;
    uint64_t index = (uint64_t)tz * tiling->tiles_y + (uint64_t)ty;
    struct plan_tile tile = tiling_tile(tiling, index);
    struct spill_box box = spill_box(tiling, &tile, which);
    if (part.k < box.k0 || part.k >= box.k1)
        return nothing;
    // A box may begin before row 0: its rows are compared as signed.
    int64_t low = (int64_t)box.j0, high = (int64_t)box.j1;
    int64_t j0 = (int64_t)part.j0 > low ? (int64_t)part.j0 : low;
    int64_t j1 = (int64_t)part.j1 < high ? (int64_t)part.j1 : high;
    if (j0 >= j1)
        return nothing;
    uint64_t at = spill_place(tiling, &box, (uint64_t)j0, part.k);
    return (struct spilled){reals_at(spill_of(it->sweep, index), (int64_t)at), (uint64_t)j0,
                            (uint64_t)j1};
}

enum { NEIGHBOURS = 5 };

// In this order, which decides the bits: from the tiles below, then from the tiles beside.
static int find_spilled(const struct tile_sweep *it, struct rows part,
                        struct spilled found[NEIGHBOURS])
{
    const int64_t ty = (int64_t)it->tile.ty, tz = (int64_t)it->tile.tz;
    const struct {
        int64_t ty, tz;
        int which;
    } neighbours[NEIGHBOURS] = {{ty - 1, tz - 1, SPILL_ABOVE},
                                {ty, tz - 1, SPILL_ABOVE},
                                {ty + 1, tz - 1, SPILL_ABOVE},
                                {ty - 1, tz, SPILL_AFTER},
                                {ty + 1, tz, SPILL_BEFORE}};
    int count = 0;
    for (int n = 0; n < NEIGHBOURS; n++) {
        found[count] =
            spilled_on(it, neighbours[n].ty, neighbours[n].tz, neighbours[n].which, part);
        count += found[count].from.x != NULL;
    }
    return count;
}

static void add_spilled(const struct tile_sweep *it, const struct spilled *spilled, uint64_t k)
{
    const struct state *s = it->system->state;
    int64_t first = row_node(it->sweep, spilled->j0, k);
    long count = (long)((spilled->j1 - spilled->j0) * it->tiling->nx);
    add(s->fx + first, spilled->from.x, count);
    add(s->fy + first, spilled->from.y, count);
    add(s->fz + first, spilled->from.z, count);
}

// What one tile has spilled on all of the rows is added on the way, without another pass.
static void settle_rows(const struct tile_sweep *it, struct rows part)
{
    if (part.j0 >= part.j1)
        return;
    struct finish_range range = {.first = row_node(it->sweep, part.j0, part.k),
                                 .count = (long)((part.j1 - part.j0) * it->tiling->nx),
                                 .loaded = true,
                                 .clears = sweep_is_loaded(it->system)};
    struct spilled spilled[NEIGHBOURS];
    int count = find_spilled(it, part, spilled);
    bool at_once = count == 1 && spilled[0].j0 == part.j0 && spilled[0].j1 == part.j1;
    if (at_once)
        range.reactions = spilled[0].from;
    for (int n = 0; n < count && !at_once; n++)
        add_spilled(it, &spilled[n], part.k);
    it->system->kernels->grid_finish(it->system, &range, it->finish);
}

void REAL_NAME(settle_tile)(const struct system *system, const struct sweep *sweep, uint64_t tile,
                            enum sweep_finish finish)
{
    struct tile_sweep it = {.system = system,
                            .sweep = sweep,
                            .tiling = &sweep->tiling,
                            .index = tile,
                            .tile = tiling_tile(&sweep->tiling, tile),
                            .finish = finish};
    for (uint64_t k = it.tile.k0; k < it.tile.k1; k++) {
        struct rows done = finished_rows(sweep, &it.tile, k);
        settle_rows(&it, (struct rows){it.tile.j0, done.j0, k});
        settle_rows(&it, (struct rows){done.j1, it.tile.j1, k});
    }
}
