// One tile of a grid, from its passes to its finished nodes (sweep.h). Which rows go where is
// decided here; the arithmetic is the kernels'.
#include "kernels/kernels.h"

#include <stdlib.h>

struct tile_sweep {
    const struct system *system;
    const struct sweep *sweep;
    const struct plan_tiling *tiling;
    uint64_t index;
    struct plan_tile tile;
    enum sweep_finish finish;
    struct reals room;
};

// Rows [j0, j1) of layer k.
struct rows {
    uint64_t j0, j1, k;
};

static int64_t row_node(const struct sweep *sweep, uint64_t j, uint64_t k)
{
    return (int64_t)(sweep->grid->first_node + (k * sweep->tiling.ny + j) * sweep->tiling.nx);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct reals reals_at(struct reals at, int64_t offset)
{
    return (struct reals){at.x + offset, at.y + offset, at.z + offset};
}

static struct reals spill_of(const struct sweep *sweep, uint64_t tile)
{
    real *first = tile_spill(sweep, tile);
    return (struct reals){first, first + sweep->spill_nodes, first + 2 * sweep->spill_nodes};
}

static void add(real *to, const real *from, long count)
{
    for (long i = 0; i < count; i++)
        to[i] += from[i];
}

// Whole rows at once, or row by row where the springs lead out of the row at one end.
static void run_rows(const struct tile_sweep *it, const struct sweep_pass *pass,
                     struct pass_range range, uint64_t rows)
{
    const long nx = (long)it->tiling->nx;
    int shift = pass->kind == SWEEP_ONE ? pass->step : 0;
    if (shift == 0) {
        range.count = (long)rows * nx;
        it->system->kernels->grid_pass(&range, pass);
        return;
    }
    long begin = shift < 0 ? -shift : 0;
    range.count = nx - labs(shift);
    if (range.count <= 0)
        return;
    range.first += begin;
    range.offset += shift;
    range.sum = reals_at(range.sum, begin);
    range.other = reals_at(range.other, begin + shift);
    for (uint64_t row = 0; row < rows; row++) {
        it->system->kernels->grid_pass(&range, pass);
        range.first += nx;
        range.sum = reals_at(range.sum, nx);
        range.other = reals_at(range.other, nx);
    }
}

// The rows of `part` against those (dy, dz) away, whose reactions go to `other` (that of the row
// that the first of them leads to).
static void run_part(const struct tile_sweep *it, const struct sweep_pass *pass,
                     const struct rows *chunk, struct rows part, struct reals other, bool starts)
{
    if (part.j0 >= part.j1)
        return;
    const struct sweep *sweep = it->sweep;
    struct pass_range range = {
        .state = it->system->state,
        .sweep = sweep,
        .first = row_node(sweep, part.j0, part.k),
        .offset =
            ((int64_t)pass->dz * (int64_t)it->tiling->ny + pass->dy) * (int64_t)it->tiling->nx,
        .sum = reals_at(it->room, (int64_t)((part.j0 - chunk->j0) * it->tiling->nx)),
        .other = other,
        .starts = starts,
    };
    run_rows(it, pass, range, part.j1 - part.j0);
}

// The part of the rows whose other rows lie in a box of the spill.
static void run_spilled(const struct tile_sweep *it, const struct sweep_pass *pass,
                        const struct rows *chunk, struct rows part, int which)
{
    if (part.j0 >= part.j1)
        return;
    struct spill_box box = spill_box(it->tiling, &it->tile, which);
    uint64_t at = spill_place(it->tiling, &box, part.j0 + (uint64_t)(int64_t)pass->dy,
                              part.k + (uint64_t)pass->dz);
    run_part(it, pass, chunk, part, reals_at(spill_of(it->sweep, it->index), (int64_t)at), false);
}

// Rows that have a row (dy, dz) away; those of them that react on rows of this tile, of the tiles
// beside it, or of the tiles above.
static void run_across(const struct tile_sweep *it, const struct sweep_pass *pass,
                       const struct rows *chunk)
{
    const struct plan_tile *tile = &it->tile;
    const struct state *s = it->system->state;
    uint64_t back = pass->dy < 0 ? (uint64_t)-pass->dy : 0;
    uint64_t on = pass->dy > 0 ? (uint64_t)pass->dy : 0;
    uint64_t last = it->tiling->ny > on ? it->tiling->ny - on : 0;
    struct rows all = {larger(chunk->j0, back), smaller(chunk->j1, last), chunk->k};
    if (all.j0 >= all.j1)
        return;
    if (chunk->k + (uint64_t)pass->dz >= tile->k1) {
        run_spilled(it, pass, chunk, all, SPILL_ABOVE);
        return;
    }
    uint64_t inside = smaller(larger(all.j0, tile->j0 + back), all.j1);
    uint64_t beyond = larger(smaller(all.j1, tile->j1 - on), inside);
    run_spilled(it, pass, chunk, (struct rows){all.j0, inside, all.k}, SPILL_BEFORE);
    int64_t node =
        row_node(it->sweep, inside + (uint64_t)(int64_t)pass->dy, all.k + (uint64_t)pass->dz);
    struct reals forces = {s->fx, s->fy, s->fz};
    run_part(it, pass, chunk, (struct rows){inside, beyond, all.k}, reals_at(forces, node), false);
    run_spilled(it, pass, chunk, (struct rows){beyond, all.j1, all.k}, SPILL_AFTER);
}

// Where a layer's finished rows begin and end: [rows.j0, rows.j1) need nothing from other tiles.
static struct rows finished_rows(const struct sweep *sweep, const struct plan_tile *tile,
                                 uint64_t k)
{
    const struct plan_tiling *tiling = &sweep->tiling;
    if (tiling_tile_count(tiling) == 1 && sweep->grid->first_node == 0)
        return (struct rows){tile->j0, tile->j1, k};
    if (tile->tz > 0 && k < tile->k0 + tiling->above)
        return (struct rows){tile->j1, tile->j1, k};
    // The first rows of a layer are touched from behind: from the end of the layer before, too.
    bool touched = tiling->tiles_y > 1 || k == 0;
    uint64_t first = touched ? smaller(tile->j0 + sweep->settle_first, tile->j1) : tile->j0;
    // The last ones likewise from the start of the next layer.
    bool is_last = tile->ty + 1 == tiling->tiles_y;
    uint64_t settle_last = !is_last                                ? sweep->settle_last
                           : tiling->tiles_y > 1 && tiling->nz > 1 ? sweep->settle_end
                                                                   : 0;
    uint64_t last = tile->j1 - smaller(settle_last, tile->j1 - tile->j0);
    return (struct rows){first, larger(first, last), k};
}

static void finish_rows(const struct tile_sweep *it, const struct rows *chunk, struct rows part)
{
    if (part.j0 >= part.j1)
        return;
    int64_t into = (int64_t)((part.j0 - chunk->j0) * it->tiling->nx);
    struct finish_range range = {row_node(it->sweep, part.j0, part.k),
                                 (long)((part.j1 - part.j0) * it->tiling->nx),
                                 reals_at(it->room, into)};
    it->system->kernels->grid_finish(it->system, &range, it->finish);
}

// Rows that wait for other tiles keep their sums in the forces.
static void keep_rows(const struct tile_sweep *it, const struct rows *chunk, struct rows part)
{
    if (part.j0 >= part.j1)
        return;
    const struct state *s = it->system->state;
    int64_t first = row_node(it->sweep, part.j0, part.k);
    int64_t into = (int64_t)((part.j0 - chunk->j0) * it->tiling->nx);
    long count = (long)((part.j1 - part.j0) * it->tiling->nx);
    add(s->fx + first, it->room.x + into, count);
    add(s->fy + first, it->room.y + into, count);
    add(s->fz + first, it->room.z + into, count);
}

static void clear(real *numbers, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = 0;
}

static void sweep_chunk(const struct tile_sweep *it, const struct rows *chunk)
{
    bool starts = it->sweep->passes[0].kind == SWEEP_ALONG;
    if (!starts) {
        uint64_t nodes = (chunk->j1 - chunk->j0) * it->tiling->nx;
        clear(it->room.x, nodes);
        clear(it->room.y, nodes);
        clear(it->room.z, nodes);
    }
    for (int p = 0; p < it->sweep->pass_count; p++) {
        const struct sweep_pass *pass = &it->sweep->passes[p];
        if (pass->kind == SWEEP_ALONG)
            run_part(it, pass, chunk, *chunk, (struct reals){0}, starts && p == 0);
        else if (chunk->k + (uint64_t)pass->dz < it->tiling->nz)
            run_across(it, pass, chunk);
    }
    struct rows done = finished_rows(it->sweep, &it->tile, chunk->k);
    uint64_t first = smaller(larger(chunk->j0, done.j0), chunk->j1);
    uint64_t end = smaller(larger(first, done.j1), chunk->j1);
    keep_rows(it, chunk, (struct rows){chunk->j0, first, chunk->k});
    finish_rows(it, chunk, (struct rows){first, end, chunk->k});
    keep_rows(it, chunk, (struct rows){end, chunk->j1, chunk->k});
}

void REAL_NAME(sweep_tile)(const struct system *system, const struct sweep *sweep, uint64_t tile,
                           enum sweep_finish finish, const struct worker *worker)
{
    const struct sweeps *all = system->sweeps;
    real *room = all->room + 3 * all->room_nodes * (uint64_t)worker->index;
    struct tile_sweep it = {system,
                            sweep,
                            &sweep->tiling,
                            tile,
                            tiling_tile(&sweep->tiling, tile),
                            finish,
                            {room, room + all->room_nodes, room + 2 * all->room_nodes}};
    clear(tile_spill(sweep, tile), 3 * sweep->spill_nodes);
    for (uint64_t k = it.tile.k0; k < it.tile.k1; k++)
        for (uint64_t j = it.tile.j0; j < it.tile.j1; j += it.tiling->chunk_rows) {
            struct rows chunk = {j, smaller(j + it.tiling->chunk_rows, it.tile.j1), k};
            sweep_chunk(&it, &chunk);
        }
}

// Adds what another tile has spilled on these rows.
static void add_spilled(const struct tile_sweep *it, int64_t ty, int64_t tz, int which,
                        struct rows part)
{
    const struct plan_tiling *tiling = it->tiling;
    if (ty < 0 || tz < 0 || ty >= (int64_t)tiling->tiles_y || tz >= (int64_t)tiling->tiles_z)
        return;
    uint64_t index = (uint64_t)tz * tiling->tiles_y + (uint64_t)ty;
    struct plan_tile tile = tiling_tile(tiling, index);
    struct spill_box box = spill_box(tiling, &tile, which);
    if (part.k < box.k0 || part.k >= box.k1)
        return;
    // A box may begin before row 0: its rows are compared as signed.
    int64_t low = (int64_t)box.j0, high = (int64_t)box.j1;
    int64_t j0 = (int64_t)part.j0 > low ? (int64_t)part.j0 : low;
    int64_t j1 = (int64_t)part.j1 < high ? (int64_t)part.j1 : high;
    if (j0 >= j1)
        return;
    const struct state *s = it->system->state;
    struct reals spill = reals_at(spill_of(it->sweep, index),
                                  (int64_t)spill_place(tiling, &box, (uint64_t)j0, part.k));
    int64_t first = row_node(it->sweep, (uint64_t)j0, part.k);
    long count = (long)(j1 - j0) * (long)tiling->nx;
    add(s->fx + first, spill.x, count);
    add(s->fy + first, spill.y, count);
    add(s->fz + first, spill.z, count);
}

// In this order, which decides the bits: from the layer of tiles below, then from the tiles beside.
static void settle_rows(const struct tile_sweep *it, struct rows part)
{
    if (part.j0 >= part.j1)
        return;
    int64_t ty = (int64_t)it->tile.ty, tz = (int64_t)it->tile.tz;
    for (int64_t beside = -1; beside <= 1; beside++)
        add_spilled(it, ty + beside, tz - 1, SPILL_ABOVE, part);
    add_spilled(it, ty - 1, tz, SPILL_AFTER, part);
    add_spilled(it, ty + 1, tz, SPILL_BEFORE, part);
    struct finish_range range = {row_node(it->sweep, part.j0, part.k),
                                 (long)((part.j1 - part.j0) * it->tiling->nx),
                                 {NULL, NULL, NULL}};
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
