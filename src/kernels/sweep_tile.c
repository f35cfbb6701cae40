// One tile of a grid, from its passes to its finished nodes (sweep.h). Which rows go where is
// decided here; the arithmetic is the kernels'.
#include "kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

struct tile_sweep {
    const struct system *system;
    const struct sweep *sweep;
    const struct plan_tiling *tiling;
    uint64_t index;
    struct plan_tile tile;
    enum sweep_finish finish;
    struct reals sums; // of the chunk
    struct reals wave; // of reactions
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

// What the state has of the springs of a direction, from a node of the grid on along its row.
static struct row_memory memory_of(const struct tile_sweep *it, const struct sweep_spring *spring,
                                   int64_t first)
{
    const struct state *s = it->system->state;
    const struct plan_grid *grid = it->sweep->grid;
    if (!spring->present || !(spring->breaks || spring->yields))
        return (struct row_memory){NULL, NULL};
    const struct plan_direction *to = spring->direction;
    const int64_t nx = (int64_t)grid->nx, ny = (int64_t)grid->ny;
    int64_t node = first - (int64_t)grid->first_node, row = node / nx;
    int64_t i = node % nx - (to->dx < 0 ? -to->dx : 0);
    int64_t j = row % ny - (to->dy < 0 ? -to->dy : 0), k = row / ny;
    int64_t place =
        (int64_t)to->first_place + (k * (ny - abs(to->dy)) + j) * (nx - abs(to->dx)) + i;
    return (struct row_memory){spring->breaks ? s->broken + place : NULL,
                               spring->yields ? s->rest_length + place : NULL};
}

static void run_range(const struct tile_sweep *it, const struct sweep_pass *pass,
                      struct pass_range *range)
{
    for (int place = 0; place < 3 && pass->special; place++)
        range->memory[place] = memory_of(it, &pass->springs[place], range->first);
    it->system->kernels->grid_pass(range, pass);
}

// Whole rows at once, or row by row where the springs lead out of the row at one end.
static void run_rows(const struct tile_sweep *it, const struct sweep_pass *pass,
                     struct pass_range range, uint64_t rows)
{
    const long nx = (long)it->tiling->nx;
    int shift = pass->kind == SWEEP_ONE ? pass->step : 0;
    // What the state remembers of a row does not follow what it remembers of the last one; of a
    // rope it does.
    bool alone = pass->special && it->sweep->tiling.nx == it->sweep->grid->nx;
    if (shift == 0 && !alone) {
        range.count = (long)rows * nx;
        run_range(it, pass, &range);
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
        run_range(it, pass, &range);
        range.first += nx;
        range.sum = reals_at(range.sum, nx);
        if (pass->kind != SWEEP_ALONG) // which has none
            range.other = reals_at(range.other, nx);
    }
}

// Where the wave keeps the reactions on row j of layer k.
static struct reals wave_row(const struct tile_sweep *it, uint64_t j, uint64_t k)
{
    uint64_t layer = (k - it->tile.k0) % wave_layers(it->tiling);
    uint64_t row = j + it->tiling->before - it->tile.j0;
    // The first row may lie before the first node; what counts is the remainder.
    uint64_t place = (uint64_t)row_node(it->sweep, it->tile.j0 - it->tiling->before, k);
    uint64_t at = layer * wave_layer_nodes(it->tiling) + place % PAGE_REALS + row * it->tiling->nx;
    return reals_at(it->wave, (int64_t)at);
}

// Where the sums of row j of the chunk are.
static struct reals sum_row(const struct tile_sweep *it, const struct rows *chunk, uint64_t j)
{
    uint64_t place = (uint64_t)row_node(it->sweep, chunk->j0, chunk->k);
    uint64_t at = place % PAGE_REALS + (j - chunk->j0) * it->tiling->nx;
    return reals_at(it->sums, (int64_t)at);
}

// The chunk's rows that have a row (dy, dz) away, against those.
static void run_across(const struct tile_sweep *it, const struct sweep_pass *pass,
                       const struct rows *chunk)
{
    uint64_t back = pass->dy < 0 ? (uint64_t)-pass->dy : 0;
    uint64_t on = pass->dy > 0 ? (uint64_t)pass->dy : 0;
    uint64_t last = it->tiling->ny > on ? it->tiling->ny - on : 0;
    uint64_t first = larger(chunk->j0, back), end = smaller(chunk->j1, last);
    if (first >= end)
        return;
    const int64_t nx = (int64_t)it->tiling->nx;
    struct pass_range range = {
        .state = it->system->state,
        .sweep = it->sweep,
        .first = row_node(it->sweep, first, chunk->k),
        .offset = ((int64_t)pass->dz * (int64_t)it->tiling->ny + pass->dy) * nx,
        .sum = sum_row(it, chunk, first),
        .other = wave_row(it, first + on - back, chunk->k + (uint64_t)pass->dz),
    };
    run_rows(it, pass, range, end - first);
}

static void run_along(const struct tile_sweep *it, const struct sweep_pass *pass,
                      const struct rows *chunk, bool starts)
{
    struct pass_range range = {
        .state = it->system->state,
        .sweep = it->sweep,
        .first = row_node(it->sweep, chunk->j0, chunk->k),
        .sum = sum_row(it, chunk, chunk->j0),
        .starts = starts,
    };
    run_rows(it, pass, range, chunk->j1 - chunk->j0);
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

static struct finish_range range_of(const struct tile_sweep *it, const struct rows *chunk,
                                    const struct rows *part)
{
    return (struct finish_range){
        .first = row_node(it->sweep, part->j0, part->k),
        .count = (long)((part->j1 - part->j0) * it->tiling->nx),
        .own = sum_row(it, chunk, part->j0),
        .reactions = wave_row(it, part->j0, part->k),
        .loaded = it->system->sweeps->loaded,
        .clears = it->system->sweeps->loaded,
    };
}

static void finish_rows(const struct tile_sweep *it, const struct rows *chunk, struct rows part)
{
    if (part.j0 >= part.j1)
        return;
    struct finish_range range = range_of(it, chunk, &part);
    it->system->kernels->grid_finish(it->system, &range, it->finish);
}

static void keep(real *force, const real *own, const real *reactions, long count, bool loaded)
{
    for (long i = 0; i < count; i++)
        force[i] = loaded ? force[i] + (reactions[i] + own[i]) : reactions[i] + own[i];
}

// Rows that wait for other tiles keep their sums in the forces.
static void keep_rows(const struct tile_sweep *it, const struct rows *chunk, struct rows part)
{
    if (part.j0 >= part.j1)
        return;
    const struct state *s = it->system->state;
    struct finish_range range = range_of(it, chunk, &part);
    keep(s->fx + range.first, range.own.x, range.reactions.x, range.count, range.loaded);
    keep(s->fy + range.first, range.own.y, range.reactions.y, range.count, range.loaded);
    keep(s->fz + range.first, range.own.z, range.reactions.z, range.count, range.loaded);
}

static void clear(real *numbers, uint64_t count)
{
    memset(numbers, 0, (size_t)count * sizeof *numbers); // all bits 0 are the number 0
}

static void clear_all(struct reals of, uint64_t count)
{
    clear(of.x, count);
    clear(of.y, count);
    clear(of.z, count);
}

static void sweep_chunk(const struct tile_sweep *it, const struct rows *chunk)
{
    bool starts = it->sweep->passes[0].kind == SWEEP_ALONG;
    if (!starts)
        clear_all(sum_row(it, chunk, chunk->j0), (chunk->j1 - chunk->j0) * it->tiling->nx);
    for (int p = 0; p < it->sweep->pass_count; p++) {
        const struct sweep_pass *pass = &it->sweep->passes[p];
        if (pass->kind == SWEEP_ALONG)
            run_along(it, pass, chunk, starts && p == 0);
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

// Copies rows of the wave to their place in the spill.
static void spill_rows(const struct tile_sweep *it, int which, uint64_t k)
{
    struct spill_box box = spill_box(it->tiling, &it->tile, which);
    size_t count = (size_t)((box.j1 - box.j0) * it->tiling->nx);
    if (count == 0 || it->sweep->spill_nodes == 0)
        return;
    struct reals to =
        reals_at(spill_of(it->sweep, it->index), (int64_t)spill_place(it->tiling, &box, box.j0, k));
    struct reals from = wave_row(it, box.j0, k);
    memcpy(to.x, from.x, count * sizeof(real));
    memcpy(to.y, from.y, count * sizeof(real));
    memcpy(to.z, from.z, count * sizeof(real));
}

// Makes room for reactions on layer k, which is still to come.
static void clear_layer(const struct tile_sweep *it, uint64_t k)
{
    clear_all(wave_row(it, it->tile.j0 - it->tiling->before, k),
              wave_rows(it->tiling) * it->tiling->nx);
}

static void sweep_layer(const struct tile_sweep *it, uint64_t k)
{
    const struct plan_tile *tile = &it->tile;
    for (uint64_t j = tile->j0; j < tile->j1; j += it->tiling->chunk_rows) {
        struct rows chunk = {j, smaller(j + it->tiling->chunk_rows, tile->j1), k};
        sweep_chunk(it, &chunk);
    }
    spill_rows(it, SPILL_BEFORE, k);
    spill_rows(it, SPILL_AFTER, k);
    clear_layer(it, k + wave_layers(it->tiling));
}

// Three arrays of `length`, each at its place of a page. Places ascend through the room, so that no
// array begins before the last has ended.
static struct reals components(real *room, int64_t length, int place)
{
    return (struct reals){room + state_place(place), room + length + state_place(place + 1),
                          room + 2 * length + state_place(place + 2)};
}

void REAL_NAME(sweep_tile)(const struct system *system, const struct sweep *sweep, uint64_t tile,
                           enum sweep_finish finish, const struct worker *worker)
{
    const struct sweeps *all = system->sweeps;
    const int64_t chunk = (int64_t)all->chunk_nodes, wave = (int64_t)all->wave_nodes;
    real *room = all->room + all->room_length * (size_t)worker->index;
    struct tile_sweep it = {.system = system,
                            .sweep = sweep,
                            .tiling = &sweep->tiling,
                            .index = tile,
                            .tile = tiling_tile(&sweep->tiling, tile),
                            .finish = finish,
                            .sums = components(room + 3 * wave, chunk, STATE_PLACE_SUMS),
                            .wave = components(room, wave, STATE_PLACE_FORCES)};
    for (uint64_t k = it.tile.k0; k <= it.tile.k0 + it.tiling->above; k++)
        clear_layer(&it, k);
    for (uint64_t k = it.tile.k0; k < it.tile.k1; k++)
        sweep_layer(&it, k);
    for (uint64_t k = it.tile.k1; k < it.tile.k1 + it.tiling->above; k++)
        spill_rows(&it, SPILL_ABOVE, k);
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
                                 .clears = it->system->sweeps->loaded};
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
