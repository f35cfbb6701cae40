#include "kernels/sweep.h"

#include <stdlib.h>

#include "base/extremes.h"
#include "base/memory.h"

#define sweeps_free REAL_NAME(sweeps_free)

// Vectors read up to a register and GRID_REACH nodes beyond the last node of a row range.
enum { NODES_TOUCHED_AFTER = 18, NODES_TOUCHED_BEFORE = GRID_REACH };

static uint64_t rows_of(uint64_t nodes, const struct plan_tiling *tiling)
{
    return (nodes + tiling->nx - 1) / tiling->nx;
}

static struct sweep_spring spring_of(const struct plan_direction *direction,
                                     const struct spring_constants *material)
{
    return (struct sweep_spring){.present = true,
                                 .stiffness = material->stiffness,
                                 .damping = material->damping,
                                 .rest_length = (real)direction->rest_length,
                                 .law = material->law,
                                 .breaks = isfinite(material->break_at),
                                 .yields = isfinite(material->yield_at),
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

static void take(struct directions *all, int d, struct sweep_pass *pass, int place)
{
    all->taken[d] = true;
    pass->springs[place] = spring_of(&all->grid->directions[d], material_of(all, d));
    if (damping_of(material_of(all, d)) > pass->damping)
        pass->damping = damping_of(material_of(all, d));
    const struct sweep_spring *spring = &pass->springs[place];
    pass->special |= spring->law != LAW_LINEAR || spring->breaks || spring->yields;
}

// Springs to three places of one row, or none.
static bool three(struct directions *all, int step, struct sweep_pass *pass)
{
    int found[3];
    for (int place = 0; place < 3; place++) {
        found[place] = find(all, pass, (place - 1) * step);
        if (found[place] < 0)
            return false;
    }
    pass->kind = SWEEP_THREE;
    pass->step = step;
    for (int place = 0; place < 3; place++)
        take(all, found[place], pass, place);
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

static void find_settled(struct sweep *sweep)
{
    const struct plan_tiling *tiling = &sweep->tiling;
    sweep->settle_first = tiling->after + rows_of(NODES_TOUCHED_AFTER, tiling);
    sweep->settle_end = rows_of(NODES_TOUCHED_BEFORE, tiling);
    sweep->settle_last = tiling->before ? tiling->before + sweep->settle_end : 0;
}

static bool pass_is(const struct sweep_pass *pass, enum sweep_kind kind, int step, int dy, int dz)
{
    return pass->kind == kind && (kind == SWEEP_ALONG || pass->step == step) && pass->dy == dy &&
           pass->dz == dz && !pass->special && pass->damping != DAMPED_FULL;
}

// Structural, shear and bending springs, damped or not all alike. In rows as long as two of the
// longest registers a reaction is known before it is needed a row later.
static bool is_cloth(const struct sweep *sweep)
{
    const struct sweep_pass *passes = sweep->passes;
    return sweep->tiling.nz == 1 && sweep->tiling.ny > 2 && sweep->tiling.nx >= 32 &&
           sweep->pass_count == 3 && pass_is(&passes[0], SWEEP_ALONG, 0, 0, 0) &&
           passes[0].springs[0].present && passes[0].springs[1].present &&
           pass_is(&passes[1], SWEEP_THREE, 1, 1, 0) && pass_is(&passes[2], SWEEP_ONE, 0, 2, 0) &&
           passes[0].damping == passes[1].damping && passes[0].damping == passes[2].damping;
}

static uint64_t spill_nodes(const struct plan_tiling *tiling)
{
    uint64_t layers = (tiling->nz + tiling->tiles_z - 1) / tiling->tiles_z;
    if (tiling_tile_count(tiling) == 1)
        return 0;
    return (layers * (tiling->before + tiling->after) + tiling->above * wave_rows(tiling)) *
           tiling->nx;
}

static bool make_bits(struct sweep *sweep, const taut_allocator *allocator)
{
    const uint64_t nx = sweep->tiling.nx;
    const uint64_t rows = sweep->cloth ? wave_rows(&sweep->tiling) : sweep->tiling.chunk_rows;
    const uint64_t nodes = rows * nx;
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

static bool make_sweep(struct sweep *sweep, const struct plan_grid *grid,
                       const struct spring_constants *materials, const taut_allocator *allocator)
{
    *sweep = (struct sweep){.grid = grid, .tiling = grid->tiling};
    make_passes(sweep, materials);
    sweep->cloth = is_cloth(sweep);
    find_settled(sweep);
    sweep->spill_nodes = spill_nodes(&sweep->tiling);
    sweep->spill = memory_allocate(
        allocator, (size_t)(3 * sweep->spill_nodes * tiling_tile_count(&sweep->tiling)),
        sizeof *sweep->spill);
    return sweep->spill && make_bits(sweep, allocator);
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
        uint64_t wave = wave_layers(tiling) * wave_layer_nodes(tiling);
        sweeps->chunk_nodes = larger(sweeps->chunk_nodes, paged(tiling->chunk_rows * tiling->nx));
        sweeps->wave_nodes = larger(sweeps->wave_nodes, wave);
    }
    sweeps->room_length = (size_t)(3 * (sweeps->chunk_nodes + sweeps->wave_nodes)) + PAGE_REALS;
    if (made)
        made = REAL_NAME(sweeps_reserve)(sweeps, workers);
    if (!made) {
        sweeps_free(sweeps);
        return fail_memory(error, "the sweeps of grids");
    }
    *result = sweeps;
    return TAUT_OK;
}

bool REAL_NAME(sweeps_reserve)(struct sweeps *sweeps, int workers)
{
    if (sweeps->room && workers <= sweeps->workers)
        return true;
    const size_t each = sweeps->room_length;
    real *room = memory_allocate(sweeps->allocator, each * (size_t)workers, sizeof *room);
    if (!room)
        return false;
    memory_release(sweeps->allocator, sweeps->room, each * (size_t)sweeps->workers,
                   sizeof *sweeps->room);
    sweeps->room = room;
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
        memory_release(allocator, sweep->spill, 3 * (size_t)sweep->spill_nodes * tiles,
                       sizeof *sweep->spill);
        for (int i = 0; i <= 2 * GRID_REACH; i++)
            memory_release(allocator, sweep->bits[i], sweep->bit_words, sizeof *sweep->bits[i]);
    }
    memory_release(allocator, sweeps->items, sweeps->capacity, sizeof *sweeps->items);
    memory_release(allocator, sweeps->room, sweeps->room_length * (size_t)sweeps->workers,
                   sizeof *sweeps->room);
    memory_release(allocator, sweeps, 1, sizeof *sweeps);
}

uint64_t REAL_NAME(sweeps_bytes)(const struct sweeps *sweeps)
{
    uint64_t bytes = sizeof *sweeps + sweeps->capacity * sizeof *sweeps->items +
                     sweeps->room_length * (uint64_t)sweeps->workers * sizeof(real);
    for (size_t g = 0; g < sweeps->count; g++) {
        const struct sweep *sweep = &sweeps->items[g];
        bytes += 3 * sweep->spill_nodes * tiling_tile_count(&sweep->tiling) * sizeof(real) +
                 (2 * GRID_REACH + 1) * sweep->bit_words * sizeof(uint32_t);
    }
    return bytes;
}
