// The sweep over a grid (sweep.h): the passes that its directions make, one tile from its passes to
// its finished nodes, and the rows that wait for other tiles. Which rows go where is decided here;
// the arithmetic is the kernels'.
#include "springs/grid/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/memory.h"
#include "kernels/kernels.h"
#include "springs/law.h"

// ---- Passes and scratch

#define sweeps_free REAL_NAME(sweeps_free)

// Vectors read up to a register and GRID_REACH nodes beyond the last node of a row range.
enum { NODES_TOUCHED_AFTER = 18, NODES_TOUCHED_BEFORE = GRID_REACH };

static uint64_t rows_of(uint64_t nodes, const struct plan_tiling *tiling)
{
    return (nodes + tiling->nx - 1) / tiling->nx;
}

static struct sweep_spring spring_of(const struct direction *direction,
                                     const struct spring_constants *material)
{
    return (struct sweep_spring){.present = true,
                                 .stiffness = material->stiffness,
                                 .damping = material->damping,
                                 .rest_length = (real)direction->rest_length,
                                 .side = spring_side(material->law),
                                 .breaks = spring_can_break(material),
                                 .yields = spring_can_yield(material),
                                 .direction = direction};
}

static enum sweep_damping damping_of(const struct spring_constants *material)
{
    return material->damping == 0                  ? UNDAMPED
           : material->damping_law == DAMPING_FULL ? DAMPED_FULL
                                                   : DAMPED_AXIAL;
}

// Directions of a grid as the sweep sees them, and which of them have a pass already.
struct directions {
    const struct plan_grid *grid;
    const struct spring_constants *materials;
    int dx[DIRECTIONS_MAX], dy[DIRECTIONS_MAX];
    bool taken[DIRECTIONS_MAX];
};

static const struct spring_constants *material_of(const struct directions *all, int d)
{
    return &all->materials[all->grid->directions[d].material];
}

// The direction at dx along the pass's row that no pass has yet, or -1. The full damping law has
// passes of its own; undamped springs go with axially damped ones.
static int find(const struct directions *all, const struct sweep_pass *pass, int dx)
{
    bool full = pass->damping == DAMPED_FULL;
    for (int d = 0; d < all->grid->direction_count; d++)
        if (!all->taken[d] && all->dx[d] == dx && all->dy[d] == pass->dy &&
            all->grid->directions[d].dz == pass->dz &&
            (damping_of(material_of(all, d)) == DAMPED_FULL) == full)
            return d;
    return -1;
}

static void take(struct directions *all, int d, struct sweep_pass *pass, int member)
{
    all->taken[d] = true;
    pass->springs[member] = spring_of(&all->grid->directions[d], material_of(all, d));
    if (damping_of(material_of(all, d)) > pass->damping)
        pass->damping = damping_of(material_of(all, d));
    const struct sweep_spring *spring = &pass->springs[member];
    pass->special |= material_of(all, d)->law != LAW_LINEAR || spring->breaks || spring->yields;
}

// Springs to three positions of one row, or none.
static bool three(struct directions *all, int step, struct sweep_pass *pass)
{
    int found[3];
    for (int member = 0; member < 3; member++) {
        found[member] = find(all, pass, (member - 1) * step);
        if (found[member] < 0)
            return false;
    }
    pass->kind = SWEEP_THREE;
    pass->step = step;
    for (int member = 0; member < 3; member++)
        take(all, found[member], pass, member);
    return true;
}

// The pass that computes direction `first`, and whatever others go with it.
static struct sweep_pass pass_with(struct directions *all, int first)
{
    struct sweep_pass pass = {.dy = all->dy[first],
                              .dz = all->grid->directions[first].dz,
                              .damping = damping_of(material_of(all, first))};
    if (pass.dy == 0 && pass.dz == 0) {
        pass.kind = SWEEP_ALONG;
        for (int dx = 1; dx <= GRID_REACH; dx++) {
            int d = find(all, &pass, dx);
            if (d >= 0)
                take(all, d, &pass, dx - 1);
        }
        return pass;
    }
    int dx = abs(all->dx[first]);
    if (dx > 0 && three(all, dx, &pass))
        return pass;
    if (dx == 0 && (three(all, 1, &pass) || three(all, 2, &pass)))
        return pass;
    pass.kind = SWEEP_ONE;
    pass.step = all->dx[first];
    take(all, first, &pass, 0);
    return pass;
}

// Passes along rows come first, so that they can start the sums; then row by row.
static void make_passes(struct sweep *sweep, const struct spring_constants *materials)
{
    struct directions all = {.grid = sweep->grid, .materials = materials};
    sweep->pass_count = 0;
    bool column = sweep->tiling.nx != sweep->grid->nx;
    for (int d = 0; d < sweep->grid->direction_count; d++) {
        all.dx[d] = column ? 0 : sweep->grid->directions[d].dx;
        all.dy[d] = column ? sweep->grid->directions[d].dx : sweep->grid->directions[d].dy;
    }
    for (int round = 0; round < 2; round++)
        for (int d = 0; d < sweep->grid->direction_count; d++) {
            bool along = all.dy[d] == 0 && sweep->grid->directions[d].dz == 0;
            if (!all.taken[d] && along == (round == 0))
                sweep->passes[sweep->pass_count++] = pass_with(&all, d);
        }
}

static void find_boundary(struct sweep *sweep)
{
    const struct plan_tiling *tiling = &sweep->tiling;
    sweep->boundary_first = tiling->after + rows_of(NODES_TOUCHED_AFTER, tiling);
    sweep->boundary_end = rows_of(NODES_TOUCHED_BEFORE, tiling);
    sweep->boundary_last = tiling->before ? tiling->before + sweep->boundary_end : 0;
}

static bool pass_is(const struct sweep_pass *pass, enum sweep_kind kind, int step, int dy, int dz)
{
    return pass->kind == kind && (kind == SWEEP_ALONG || pass->step == step) && pass->dy == dy &&
           pass->dz == dz && !pass->special && pass->damping != DAMPED_FULL;
}

// Whether it is a cloth for some damping, which may change during a run.
static bool may_be_cloth(const struct sweep *sweep)
{
    enum { CLOTH_DIRECTIONS = 6 };
    return sweep->tiling.nz == 1 && sweep->tiling.ny > 2 && sweep->tiling.nx >= 32 &&
           sweep->grid->direction_count == CLOTH_DIRECTIONS;
}

// Structural, shear and bending springs, damped or not all alike. In rows as long as two of the
// longest registers a reaction is known before it is needed a row later.
static bool is_cloth(const struct sweep *sweep)
{
    const struct sweep_pass *passes = sweep->passes;
    return may_be_cloth(sweep) && sweep->pass_count == 3 &&
           pass_is(&passes[0], SWEEP_ALONG, 0, 0, 0) && passes[0].springs[0].present &&
           passes[0].springs[1].present && pass_is(&passes[1], SWEEP_THREE, 1, 1, 0) &&
           pass_is(&passes[2], SWEEP_ONE, 0, 2, 0) && passes[0].damping == passes[1].damping &&
           passes[0].damping == passes[2].damping;
}

static uint64_t halo_nodes(const struct plan_tiling *tiling)
{
    uint64_t layers = (tiling->nz + tiling->tiles_z - 1) / tiling->tiles_z;
    if (tiling_tile_count(tiling) == 1)
        return 0;
    return (layers * (tiling->before + tiling->after) + tiling->above * reaction_rows(tiling)) *
           tiling->nx;
}

static bool make_bits(struct sweep *sweep, const taut_allocator *allocator)
{
    const uint64_t nx = sweep->tiling.nx;
    const uint64_t reaction = may_be_cloth(sweep) ? reaction_rows(&sweep->tiling) : 0;
    const uint64_t nodes = max_u64(reaction, sweep->tiling.chunk_rows) * nx;
    sweep->bit_words = (size_t)(nodes / 32 + 2);
    for (int dx = -GRID_REACH; dx <= GRID_REACH; dx++) {
        uint32_t *bits = memory_allocate(allocator, sweep->bit_words, sizeof *bits);
        sweep->bits[GRID_REACH + dx] = bits;
        if (!bits)
            return false;
        for (uint64_t node = 0; node < nodes; node++) {
            int64_t other = (int64_t)(node % nx) + dx;
            if (other >= 0 && other < (int64_t)nx)
                bits[node / 32] |= UINT32_C(1) << (node % 32);
        }
    }
    return true;
}

// The unit of the rest lengths' mean.
static real power_unit_of(const struct sweep *sweep)
{
    enum { MOST = 100 }; // so that its inverse is a number, too
    double sum = 0;
    for (int d = 0; d < sweep->grid->direction_count; d++)
        sum += sweep->grid->directions[d].rest_length;
    const double rest = sum / sweep->grid->direction_count;
    int exponent = 0;
    if (rest > 0 && isfinite(rest))
        frexp(rest, &exponent);
    exponent = -2 * exponent;
    exponent = exponent > MOST ? MOST : exponent < -MOST ? -MOST : exponent;
    return (real)ldexp(1, exponent);
}

static bool make_sweep(struct sweep *sweep, const struct plan_grid *grid,
                       const struct spring_constants *materials, const taut_allocator *allocator)
{
    *sweep = (struct sweep){.grid = grid, .tiling = grid->tiling};
    make_passes(sweep, materials);
    sweep->cloth = is_cloth(sweep);
    sweep->power_unit = power_unit_of(sweep);
    find_boundary(sweep);
    sweep->halo_nodes = halo_nodes(&sweep->tiling);
    sweep->halo = memory_allocate(
        allocator, (size_t)(3 * sweep->halo_nodes * tiling_tile_count(&sweep->tiling)),
        sizeof *sweep->halo);
    return sweep->halo && make_bits(sweep, allocator);
}

taut_status REAL_NAME(sweeps_make)(const struct plan *plan, const struct constants *constants,
                                   enum sweep_load load, int workers,
                                   const taut_allocator *allocator, struct sweeps **result,
                                   taut_error *error)
{
    *result = NULL;
    struct sweeps *sweeps = memory_allocate(allocator, 1, sizeof *sweeps);
    if (!sweeps)
        return fail_memory(error, "the sweeps of grids");

    sweeps->allocator = allocator;
    sweeps->tile_count = plan->tile_count;
    sweeps->load = load;
    sweeps->loaded = load != LOAD_NOTHING;
    sweeps->capacity = plan->grid_count;
    sweeps->items = memory_allocate(allocator, sweeps->capacity, sizeof *sweeps->items);

    bool made = sweeps->items;
    for (size_t g = 0; g < plan->grid_count && made; g++) {
        sweeps->count++;
        made = make_sweep(&sweeps->items[g], &plan->grids[g], constants->material, allocator);
        sweeps->items[g].faces = plan_face_grid_of_body(plan, plan->grids[g].body);
        const struct plan_tiling *tiling = &plan->grids[g].tiling;
        uint64_t reactions = reaction_layers(tiling) * reaction_layer_nodes(tiling);
        sweeps->chunk_nodes = max_u64(sweeps->chunk_nodes, paged(tiling->chunk_rows * tiling->nx));
        sweeps->reaction_nodes = max_u64(sweeps->reaction_nodes, reactions);
    }

    sweeps->scratch_length =
        (size_t)(3 * (sweeps->chunk_nodes + sweeps->reaction_nodes)) + PAGE_REALS;
    if (made)
        made = REAL_NAME(sweeps_reserve)(sweeps, workers);

    if (!made) {
        sweeps_free(sweeps);
        return fail_memory(error, "the sweeps of grids");
    }
    *result = sweeps;
    return TAUT_OK;
}

void REAL_NAME(sweeps_refresh)(struct sweeps *sweeps, const struct constants *constants)
{
    for (size_t g = 0; g < sweeps->count; g++) {
        make_passes(&sweeps->items[g], constants->material);
        sweeps->items[g].cloth = is_cloth(&sweeps->items[g]);
        sweeps->items[g].power_unit = power_unit_of(&sweeps->items[g]);
    }
}

bool REAL_NAME(sweeps_reserve)(struct sweeps *sweeps, int workers)
{
    if (sweeps->scratch && workers <= sweeps->workers)
        return true;
    const size_t each = sweeps->scratch_length;
    real *scratch = memory_allocate(sweeps->allocator, each * (size_t)workers, sizeof *scratch);
    if (!scratch)
        return false;
    memory_release(sweeps->allocator, sweeps->scratch, each * (size_t)sweeps->workers,
                   sizeof *sweeps->scratch);
    sweeps->scratch = scratch;
    sweeps->workers = workers;
    return true;
}

void sweeps_free(struct sweeps *sweeps)
{
    if (!sweeps)
        return;
    const taut_allocator *allocator = sweeps->allocator;
    for (size_t g = 0; sweeps->items && g < sweeps->count; g++) {
        struct sweep *sweep = &sweeps->items[g];
        size_t tiles = (size_t)tiling_tile_count(&sweep->tiling);
        memory_release(allocator, sweep->halo, 3 * (size_t)sweep->halo_nodes * tiles,
                       sizeof *sweep->halo);
        for (int i = 0; i <= 2 * GRID_REACH; i++)
            memory_release(allocator, sweep->bits[i], sweep->bit_words, sizeof *sweep->bits[i]);
    }
    memory_release(allocator, sweeps->items, sweeps->capacity, sizeof *sweeps->items);
    memory_release(allocator, sweeps->scratch, sweeps->scratch_length * (size_t)sweeps->workers,
                   sizeof *sweeps->scratch);
    memory_release(allocator, sweeps, 1, sizeof *sweeps);
}

uint64_t REAL_NAME(sweeps_bytes)(const struct sweeps *sweeps)
{
    uint64_t bytes = sizeof *sweeps + sweeps->capacity * sizeof *sweeps->items +
                     sweeps->scratch_length * (uint64_t)sweeps->workers * sizeof(real);
    for (size_t g = 0; g < sweeps->count; g++) {
        const struct sweep *sweep = &sweeps->items[g];
        bytes += 3 * sweep->halo_nodes * tiling_tile_count(&sweep->tiling) * sizeof(real) +
                 (2 * GRID_REACH + 1) * sweep->bit_words * sizeof(uint32_t);
    }
    return bytes;
}

// ---- Where rows of a tile, and contributions to them, are stored

struct tile_sweep {
    const struct system *system;
    const struct sweep *sweep;
    const struct plan_tiling *tiling;
    uint64_t index;
    struct plan_tile tile;
    const struct wind_now *wind; // of rows that grid_cloth does
    enum sweep_finish finish;
    struct reals sums;         // of the chunk
    struct reals reactions;    // of reactions
    struct power_sums *powers; // NULL: not wanted
};

// Rows [j0, j1) of layer k.
struct rows {
    uint64_t j0, j1, k;
};

static int64_t row_node(const struct sweep *sweep, uint64_t j, uint64_t k)
{
    return (int64_t)(sweep->grid->first_node + (k * sweep->tiling.ny + j) * sweep->tiling.nx);
}

// Of arrays that there are, or of none: null plus 0 is undefined.
static struct reals reals_at(struct reals at, int64_t offset)
{
    if (!at.x)
        return at;
    return (struct reals){at.x + offset, at.y + offset, at.z + offset};
}

static struct reals halo_of(const struct sweep *sweep, uint64_t tile)
{
    real *first = tile_halo(sweep, tile);
    return (struct reals){first, first + sweep->halo_nodes, first + 2 * sweep->halo_nodes};
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
    uint64_t first = touched ? min_u64(tile->j0 + sweep->boundary_first, tile->j1) : tile->j0;
    // The last ones likewise from the start of the next layer.
    bool is_last = tile->ty + 1 == tiling->tiles_y;
    uint64_t boundary_last = !is_last                                ? sweep->boundary_last
                             : tiling->tiles_y > 1 && tiling->nz > 1 ? sweep->boundary_end
                                                                     : 0;
    uint64_t last = tile->j1 - min_u64(boundary_last, tile->j1 - tile->j0);
    return (struct rows){first, max_u64(first, last), k};
}

// ---- One tile

// What the state has of the springs of a direction, from a node of the grid on along its row.
static struct row_state state_of(const struct tile_sweep *it, const struct sweep_spring *spring,
                                 int64_t first)
{
    const struct state *s = it->system->state;
    const struct plan_grid *grid = it->sweep->grid;
    if (!spring->present || !(spring->breaks || spring->yields))
        return (struct row_state){NULL, NULL};
    const struct direction *to = spring->direction;
    const int64_t nx = (int64_t)grid->nx, ny = (int64_t)grid->ny;
    int64_t node = first - (int64_t)grid->first_node, row = node / nx;
    int64_t i = node % nx - (to->dx < 0 ? -to->dx : 0);
    int64_t j = row % ny - (to->dy < 0 ? -to->dy : 0), k = row / ny;
    int64_t index = (int64_t)(grid->first_state_index + to->first_spring) +
                    (k * (ny - abs(to->dy)) + j) * (nx - abs(to->dx)) + i;
    return (struct row_state){spring->breaks ? s->broken + index : NULL,
                              spring->yields ? s->rest_length + index : NULL};
}

static void run_range(const struct tile_sweep *it, const struct sweep_pass *pass,
                      struct pass_range *range)
{
    for (int member = 0; member < 3 && pass->special; member++)
        range->memory[member] = state_of(it, &pass->springs[member], range->first);
    it->system->kernels->grid_pass(range, pass);
}

// Whole rows at once, or row by row where the springs lead out of the row at one end.
static void run_rows(const struct tile_sweep *it, const struct sweep_pass *pass,
                     struct pass_range range, uint64_t rows)
{
    const long nx = (long)it->tiling->nx;
    int shift = pass->kind == SWEEP_ONE ? pass->step : 0;
    // What the state has of a row does not follow what it has of the last one; of a
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

// Where the reactions on row j of layer k are summed.
static struct reals reaction_row(const struct tile_sweep *it, uint64_t j, uint64_t k)
{
    uint64_t layer = (k - it->tile.k0) % reaction_layers(it->tiling);
    uint64_t row = j + it->tiling->before - it->tile.j0;
    // The first row may lie before the first node; what counts is the remainder.
    uint64_t node = (uint64_t)row_node(it->sweep, it->tile.j0 - it->tiling->before, k);
    uint64_t at =
        layer * reaction_layer_nodes(it->tiling) + node % PAGE_REALS + row * it->tiling->nx;
    return reals_at(it->reactions, (int64_t)at);
}

// Where the sums of row j of the chunk are.
static struct reals sum_row(const struct tile_sweep *it, const struct rows *chunk, uint64_t j)
{
    uint64_t node = (uint64_t)row_node(it->sweep, chunk->j0, chunk->k);
    uint64_t at = node % PAGE_REALS + (j - chunk->j0) * it->tiling->nx;
    return reals_at(it->sums, (int64_t)at);
}

// The chunk's rows that have a row (dy, dz) away, against those.
static void run_across(const struct tile_sweep *it, const struct sweep_pass *pass,
                       const struct rows *chunk)
{
    uint64_t back = pass->dy < 0 ? (uint64_t)-pass->dy : 0;
    uint64_t on = pass->dy > 0 ? (uint64_t)pass->dy : 0;
    uint64_t last = it->tiling->ny > on ? it->tiling->ny - on : 0;
    uint64_t first = max_u64(chunk->j0, back), end = min_u64(chunk->j1, last);
    if (first >= end)
        return;
    const int64_t nx = (int64_t)it->tiling->nx;
    struct pass_range range = {
        .state = it->system->state,
        .sweep = it->sweep,
        .first = row_node(it->sweep, first, chunk->k),
        .offset = ((int64_t)pass->dz * (int64_t)it->tiling->ny + pass->dy) * nx,
        .sum = sum_row(it, chunk, first),
        .powers = it->powers,
        .other = reaction_row(it, first + on - back, chunk->k + (uint64_t)pass->dz),
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
        .powers = it->powers,
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
        .reactions = reaction_row(it, part->j0, part->k),
        .loaded = sweep_is_loaded(it->system),
        .clears = sweep_is_loaded(it->system),
        .powers = it->powers,
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
static void store_rows(const struct tile_sweep *it, const struct rows *chunk, struct rows part)
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
    uint64_t first = min_u64(max_u64(chunk->j0, done.j0), chunk->j1);
    uint64_t end = min_u64(max_u64(first, done.j1), chunk->j1);
    store_rows(it, chunk, (struct rows){chunk->j0, first, chunk->k});
    finish_rows(it, chunk, (struct rows){first, end, chunk->k});
    store_rows(it, chunk, (struct rows){end, chunk->j1, chunk->k});
}

// Copies rows of the reaction buffer to the tile's halo contributions.
static void copy_halo_rows(const struct tile_sweep *it, int which, uint64_t k)
{
    struct halo_box box = halo_box(it->tiling, &it->tile, which);
    size_t count = (size_t)((box.j1 - box.j0) * it->tiling->nx);
    if (count == 0 || it->sweep->halo_nodes == 0)
        return;
    struct reals to =
        reals_at(halo_of(it->sweep, it->index), (int64_t)halo_offset(it->tiling, &box, box.j0, k));
    struct reals from = reaction_row(it, box.j0, k);
    memcpy(to.x, from.x, count * sizeof(real));
    memcpy(to.y, from.y, count * sizeof(real));
    memcpy(to.z, from.z, count * sizeof(real));
}

// Makes scratch for reactions on layer k, which is still to come.
static void clear_layer(const struct tile_sweep *it, uint64_t k)
{
    clear_all(reaction_row(it, it->tile.j0 - it->tiling->before, k),
              reaction_rows(it->tiling) * it->tiling->nx);
}

static void sweep_chunks(const struct tile_sweep *it, struct rows rows)
{
    for (uint64_t j = rows.j0; j < rows.j1; j += it->tiling->chunk_rows) {
        struct rows chunk = {j, min_u64(j + it->tiling->chunk_rows, rows.j1), rows.k};
        sweep_chunk(it, &chunk);
    }
}

struct range REAL_NAME(sweep_cloth_rows)(const struct sweep *sweep, uint64_t number)
{
    const struct plan_tile tile = tiling_tile(&sweep->tiling, number);
    const struct range none = {(size_t)tile.j1, (size_t)tile.j1};
    if (!sweep->cloth)
        return none;
    struct rows rows = finished_rows(sweep, &tile, 0);
    rows.j1 = min_u64(rows.j1, sweep->tiling.ny - 2);
    return rows.j0 < rows.j1 ? (struct range){(size_t)rows.j0, (size_t)rows.j1} : none;
}

bool REAL_NAME(sweep_blows)(const struct system *system, const struct sweep *sweep,
                            const struct wind_now *wind, enum sweep_finish finish)
{
    return wind->factor != 0 && wind->law == WIND_FACE && system->sweeps->load == LOAD_WIND &&
           !contacts_are_found(system) && sweep->cloth && sweep->faces && finish != SWEEP_FORCES;
}

// What the cells between the last row before and the first of these give to the latter goes to
// the end of the ring. The sums of chunks, which nobody needs now, make scratch for it.
static struct reals start_ring(const struct tile_sweep *it, struct rows rows)
{
    const int64_t nx = (int64_t)it->tiling->nx;
    const struct reals end = reals_at(it->sums, wind_ring_length((long)nx) - nx);
    if (rows.j0 == 0)
        clear_all(end, (uint64_t)nx);
    else
        it->system->kernels->wind_row_above(it->system, it->wind, it->sweep->faces, rows.j0 - 1,
                                            end);
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
        .other = reaction_row(it, rows.j0, 0),
        .powers = it->powers,
    };
    const struct topology *topology = it->system->topology;
    const struct node_masses masses =
        topology_masses(topology, it->sweep->grid->first_node, topology->node_count);
    const real *listed = masses.listed ? it->system->constants->mass + range.first : NULL;
    it->system->kernels->grid_cloth(it->system, &range, listed, masses.each,
                                    sweep_is_loaded(it->system) && !blows, blows ? it->wind : NULL,
                                    it->finish);
}

static void sweep_layer(const struct tile_sweep *it, uint64_t k)
{
    const struct plan_tile *tile = &it->tile;
    const struct range done = REAL_NAME(sweep_cloth_rows)(it->sweep, it->index);
    struct rows cloth = {done.first, done.end, k};
    sweep_chunks(it, (struct rows){tile->j0, cloth.j0, k});
    sweep_cloth(it, cloth);
    sweep_chunks(it, (struct rows){cloth.j1, tile->j1, k});
    copy_halo_rows(it, HALO_BEFORE, k);
    copy_halo_rows(it, HALO_AFTER, k);
    if (k + 1 < tile->k1) // who comes after the last layer clears for himself
        clear_layer(it, k + reaction_layers(it->tiling));
}

// Three arrays of `length`, each at its offset of a page. Offsets ascend through the scratch, so
// that no array begins before the last has ended.
static struct reals components(real *scratch, int64_t length, int first)
{
    return (struct reals){scratch + state_offset(first), scratch + length + state_offset(first + 1),
                          scratch + 2 * length + state_offset(first + 2)};
}

static void store_powers(const struct sweep *sweep, struct power_sums *sums, double *powers)
{
    for (int lane = 0; lane < POWER_LANES; lane++)
        sums->lanes[POWER_DAMPING][lane] *= (double)sweep->power_unit;
    power_sums_store(sums, powers);
}

void REAL_NAME(sweep_tile)(const struct system *system, const struct sweep *sweep, uint64_t tile,
                           const struct wind_now *wind, enum sweep_finish finish, double *powers,
                           const struct worker *worker)
{
    struct power_sums sums;
    if (powers)
        power_sums_start(system, &sums);
    const struct sweeps *all = system->sweeps;
    const int64_t chunk = (int64_t)all->chunk_nodes, reactions = (int64_t)all->reaction_nodes;
    real *scratch = all->scratch + all->scratch_length * (size_t)worker->index;
    struct tile_sweep it = {.system = system,
                            .sweep = sweep,
                            .tiling = &sweep->tiling,
                            .index = tile,
                            .tile = tiling_tile(&sweep->tiling, tile),
                            .wind = wind,
                            .finish = finish,
                            .sums = components(scratch + 3 * reactions, chunk, STATE_OFFSET_SUMS),
                            .reactions = components(scratch, reactions, STATE_OFFSET_FORCES),
                            .powers = powers ? &sums : NULL};
    for (uint64_t k = it.tile.k0; k <= it.tile.k0 + it.tiling->above; k++)
        clear_layer(&it, k);
    for (uint64_t k = it.tile.k0; k < it.tile.k1; k++)
        sweep_layer(&it, k);
    for (uint64_t k = it.tile.k1; k < it.tile.k1 + it.tiling->above; k++)
        copy_halo_rows(&it, HALO_ABOVE, k);
    if (powers)
        store_powers(sweep, &sums, powers);
}

// ---- What waits until all tiles have been swept: rows whose forces a neighbouring tile adds to,
// or whose positions it reads

static void add(real *to, const real *from, long count)
{
    for (long i = 0; i < count; i++)
        to[i] += from[i];
}

// A tile's contributions to rows of another; none: all NULL.
struct contribution {
    struct reals from;
    uint64_t j0, j1;
};

static struct contribution halo_contribution(const struct tile_sweep *it, int64_t ty, int64_t tz,
                                             int which, struct rows part)
{
    const struct plan_tiling *tiling = it->tiling;
    const struct contribution nothing = {{NULL, NULL, NULL}, 0, 0};
    if (ty < 0 || tz < 0 || ty >= (int64_t)tiling->tiles_y || tz >= (int64_t)tiling->tiles_z)
        return nothing;
    uint64_t index = (uint64_t)tz * tiling->tiles_y + (uint64_t)ty;
    struct plan_tile tile = tiling_tile(tiling, index);
    struct halo_box box = halo_box(tiling, &tile, which);
    if (part.k < box.k0 || part.k >= box.k1)
        return nothing;
    // A box may begin before row 0: its rows are compared as signed.
    int64_t low = (int64_t)box.j0, high = (int64_t)box.j1;
    int64_t j0 = (int64_t)part.j0 > low ? (int64_t)part.j0 : low;
    int64_t j1 = (int64_t)part.j1 < high ? (int64_t)part.j1 : high;
    if (j0 >= j1)
        return nothing;
    uint64_t at = halo_offset(tiling, &box, (uint64_t)j0, part.k);
    return (struct contribution){reals_at(halo_of(it->sweep, index), (int64_t)at), (uint64_t)j0,
                                 (uint64_t)j1};
}

enum { NEIGHBOURS = 5 };

// In this order, which decides the bits: from the tiles below, then from the tiles beside.
static int find_contributions(const struct tile_sweep *it, struct rows part,
                              struct contribution found[NEIGHBOURS])
{
    const int64_t ty = (int64_t)it->tile.ty, tz = (int64_t)it->tile.tz;
    const struct {
        int64_t ty, tz;
        int which;
    } neighbours[NEIGHBOURS] = {{ty - 1, tz - 1, HALO_ABOVE},
                                {ty, tz - 1, HALO_ABOVE},
                                {ty + 1, tz - 1, HALO_ABOVE},
                                {ty - 1, tz, HALO_AFTER},
                                {ty + 1, tz, HALO_BEFORE}};
    int count = 0;
    for (int n = 0; n < NEIGHBOURS; n++) {
        found[count] =
            halo_contribution(it, neighbours[n].ty, neighbours[n].tz, neighbours[n].which, part);
        count += found[count].from.x != NULL;
    }
    return count;
}

static void add_contribution(const struct tile_sweep *it, const struct contribution *contributions,
                             uint64_t k)
{
    const struct state *s = it->system->state;
    int64_t first = row_node(it->sweep, contributions->j0, k);
    long count = (long)((contributions->j1 - contributions->j0) * it->tiling->nx);
    add(s->fx + first, contributions->from.x, count);
    add(s->fy + first, contributions->from.y, count);
    add(s->fz + first, contributions->from.z, count);
}

// Contributions of one tile to all of the rows are added in the same pass.
static void reduce_rows(const struct tile_sweep *it, struct rows part)
{
    if (part.j0 >= part.j1)
        return;
    struct finish_range range = {.first = row_node(it->sweep, part.j0, part.k),
                                 .count = (long)((part.j1 - part.j0) * it->tiling->nx),
                                 .loaded = true,
                                 .clears = sweep_is_loaded(it->system),
                                 .powers = it->powers};
    struct contribution contributions[NEIGHBOURS];
    int count = find_contributions(it, part, contributions);
    bool at_once = count == 1 && contributions[0].j0 == part.j0 && contributions[0].j1 == part.j1;
    if (at_once)
        range.reactions = contributions[0].from;
    for (int n = 0; n < count && !at_once; n++)
        add_contribution(it, &contributions[n], part.k);
    it->system->kernels->grid_finish(it->system, &range, it->finish);
}

void REAL_NAME(reduce_tile)(const struct system *system, const struct sweep *sweep, uint64_t tile,
                            enum sweep_finish finish, double *powers)
{
    struct power_sums sums;
    if (powers)
        power_sums_start(system, &sums);
    struct tile_sweep it = {.system = system,
                            .sweep = sweep,
                            .tiling = &sweep->tiling,
                            .index = tile,
                            .tile = tiling_tile(&sweep->tiling, tile),
                            .finish = finish,
                            .powers = powers ? &sums : NULL};
    for (uint64_t k = it.tile.k0; k < it.tile.k1; k++) {
        struct rows done = finished_rows(sweep, &it.tile, k);
        reduce_rows(&it, (struct rows){it.tile.j0, done.j0, k});
        reduce_rows(&it, (struct rows){done.j1, it.tile.j1, k});
    }
    if (powers)
        store_powers(sweep, &sums, powers);
}
