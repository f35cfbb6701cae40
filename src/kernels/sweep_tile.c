// One tile of a grid, from its passes to its finished nodes (sweep.h). Which rows go where is
// decided here; the arithmetic is the kernels'.
#include "kernels/tile.h"

#include <stdlib.h>
#include <string.h>

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

static struct finish_range range_of(const struct tile_sweep *it, const struct rows *chunk,
                                    const struct rows *part)
{
    return (struct finish_range){
        .first = row_node(it->sweep, part->j0, part->k),
        .count = (long)((part->j1 - part->j0) * it->tiling->nx),
        .own = sum_row(it, chunk, part->j0),
        .reactions = wave_row(it, part->j0, part->k),
        .loaded = sweep_is_loaded(it->system),
        .clears = sweep_is_loaded(it->system),
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

static void sweep_chunks(const struct tile_sweep *it, struct rows rows)
{
    for (uint64_t j = rows.j0; j < rows.j1; j += it->tiling->chunk_rows) {
        struct rows chunk = {j, smaller(j + it->tiling->chunk_rows, rows.j1), rows.k};
        sweep_chunk(it, &chunk);
    }
}

static struct node_masses masses_of(const struct system *system, const struct sweep *sweep)
{
    const struct topology *topology = system->topology;
    return topology_masses(topology, sweep->grid->first_node, topology->node_count);
}

struct range REAL_NAME(sweep_cloth_rows)(const struct system *system, const struct sweep *sweep,
                                         uint64_t number, enum sweep_finish finish)
{
    const struct plan_tile tile = tiling_tile(&sweep->tiling, number);
    const struct range none = {(size_t)tile.j1, (size_t)tile.j1};
    if (!sweep->cloth || finish != SWEEP_SYMPLECTIC_EULER || masses_of(system, sweep).listed)
        return none;
    struct rows rows = finished_rows(sweep, &tile, 0);
    rows.j1 = smaller(rows.j1, sweep->tiling.ny - 2);
    return rows.j0 < rows.j1 ? (struct range){(size_t)rows.j0, (size_t)rows.j1} : none;
}

bool REAL_NAME(sweep_blows)(const struct system *system, const struct sweep *sweep,
                            const struct wind_now *wind, enum sweep_finish finish)
{
    return wind->factor != 0 && wind->law == WIND_FACE && system->sweeps->load == LOAD_WIND &&
           !contacts_are_found(system) && sweep->cloth && sweep->faces &&
           finish == SWEEP_SYMPLECTIC_EULER && !masses_of(system, sweep).listed;
}

// What the cells between the last row before and the first of these give to the latter goes to
// the end of the ring. The sums of chunks, which nobody needs now, make room for it.
static struct reals start_ring(const struct tile_sweep *it, struct rows rows)
{
    const int64_t nx = (int64_t)it->tiling->nx;
    const struct reals end = reals_at(it->sums, wind_ring_length((long)nx) - nx);
    if (rows.j0 == 0)
        clear_all(end, (uint64_t)nx);
    else
        it->system->kernels->face_carry(it->system, it->wind, it->sweep->faces, rows.j0 - 1, end);
    return it->sums;
}

static void sweep_cloth(const struct tile_sweep *it, struct rows rows)
{
    if (rows.j0 >= rows.j1)
        return;
    const bool blows =
        it->wind && REAL_NAME(sweep_blows)(it->system, it->sweep, it->wind, it->finish);
    const struct pass_range range = {
        .state = it->system->state,
        .sweep = it->sweep,
        .first = row_node(it->sweep, rows.j0, 0),
        .offset = (int64_t)it->tiling->nx,
        .count = (long)((rows.j1 - rows.j0) * it->tiling->nx),
        .sum = blows ? start_ring(it, rows) : it->sums,
        .other = wave_row(it, rows.j0, 0),
    };
    it->system->kernels->grid_cloth(it->system, &range, (real)masses_of(it->system, it->sweep).each,
                                    sweep_is_loaded(it->system) && !blows, blows ? it->wind : NULL);
}

static void sweep_layer(const struct tile_sweep *it, uint64_t k)
{
    const struct plan_tile *tile = &it->tile;
    const struct range done =
        REAL_NAME(sweep_cloth_rows)(it->system, it->sweep, it->index, it->finish);
    struct rows cloth = {done.first, done.end, k};
    sweep_chunks(it, (struct rows){tile->j0, cloth.j0, k});
    sweep_cloth(it, cloth);
    sweep_chunks(it, (struct rows){cloth.j1, tile->j1, k});
    spill_rows(it, SPILL_BEFORE, k);
    spill_rows(it, SPILL_AFTER, k);
    if (k + 1 < tile->k1) // who comes after the last layer clears for himself
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
                           const struct wind_now *wind, enum sweep_finish finish,
                           const struct worker *worker)
{
    const struct sweeps *all = system->sweeps;
    const int64_t chunk = (int64_t)all->chunk_nodes, wave = (int64_t)all->wave_nodes;
    real *room = all->room + all->room_length * (size_t)worker->index;
    struct tile_sweep it = {.system = system,
                            .sweep = sweep,
                            .tiling = &sweep->tiling,
                            .index = tile,
                            .tile = tiling_tile(&sweep->tiling, tile),
                            .wind = wind,
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
