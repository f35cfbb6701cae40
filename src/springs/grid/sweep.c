// The sweep over a grid (sweep.h): how directions are grouped into passes, a tile from its passes
// to its finished nodes, and the rows that wait for other tiles. This file decides which rows go
// where; the arithmetic is in the kernels (force_body.h, cloth_body.h).
#include "springs/grid/sweep.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/memory.h"
#include "kernels/kernels.h"
#include "springs/law.h"

// ---- Passes and scratch

#define sweeps_free REAL_NAME(sweeps_free)

// A pass reads up to a register and GRID_REACH nodes beyond the last node of its range, and
// GRID_REACH nodes before the first one.
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

// The directions of a grid with their steps along the rows of the sweep, and whether they are in a
// pass yet.
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

// The direction at dx in the row of the pass that is in no pass yet, or -1. Springs with the full
// damping law have passes of their own; undamped springs share passes with axially damped ones.
static int find_direction(const struct directions *all, const struct sweep_pass *pass, int dx)
{
    bool full = pass->damping == DAMPED_FULL;
    for (int d = 0; d < all->grid->direction_count; d++)
        if (!all->taken[d] && all->dx[d] == dx && all->dy[d] == pass->dy &&
            all->grid->directions[d].dz == pass->dz &&
            (damping_of(material_of(all, d)) == DAMPED_FULL) == full)
            return d;
    return -1;
}

static void add_direction(struct directions *all, int d, struct sweep_pass *pass, int member)
{
    all->taken[d] = true;
    pass->springs[member] = spring_of(&all->grid->directions[d], material_of(all, d));
    if (damping_of(material_of(all, d)) > pass->damping)
        pass->damping = damping_of(material_of(all, d));
    const struct sweep_spring *spring = &pass->springs[member];
    pass->special |= material_of(all, d)->law != LAW_LINEAR || spring->breaks || spring->yields;
    pass->halves_ends |= all->grid->weighted && all->dx[d] == 0;
}

// Adds the directions at -step, 0 and step to the pass, if all three exist.
static bool add_three(struct directions *all, int step, struct sweep_pass *pass)
{
    int found[3];
    for (int member = 0; member < 3; member++) {
        found[member] = find_direction(all, pass, (member - 1) * step);
        if (found[member] < 0)
            return false;
    }
    pass->kind = SWEEP_THREE;
    pass->step = step;
    for (int member = 0; member < 3; member++)
        add_direction(all, found[member], pass, member);
    return true;
}

// The pass of direction `first` and of all directions that can share it.
static struct sweep_pass pass_with(struct directions *all, int first)
{
    struct sweep_pass pass = {.dy = all->dy[first],
                              .dz = all->grid->directions[first].dz,
                              .damping = damping_of(material_of(all, first))};
    if (pass.dy == 0 && pass.dz == 0) {
        pass.kind = SWEEP_ALONG;
        for (int dx = 1; dx <= GRID_REACH; dx++) {
            int d = find_direction(all, &pass, dx);
            if (d >= 0)
                add_direction(all, d, &pass, dx - 1);
        }
        return pass;
    }
    int dx = abs(all->dx[first]);
    if (dx > 0 && add_three(all, dx, &pass))
        return pass;
    if (dx == 0 && (add_three(all, 1, &pass) || add_three(all, 2, &pass)))
        return pass;
    pass.kind = SWEEP_ONE;
    pass.step = all->dx[first];
    add_direction(all, first, &pass, 0);
    return pass;
}

// Passes along rows come first, because they can set the sums instead of adding to them.
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

// The rows of a tile that another tile's springs or registers may access (sweep.h).
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

// Whether grid_cloth may apply for some damping; the damping may change during a run.
static bool may_be_cloth(const struct sweep *sweep)
{
    const int directions = sweep->grid->has_elements ? 4 : 6;
    return sweep->tiling.nz == 1 && sweep->tiling.ny > 2 && sweep->tiling.nx >= 32 &&
           sweep->grid->direction_count == directions;
}

// Whether grid_cloth applies: structural and shear springs, with either elements or bending
// springs, and with one kind of damping. Rows must be as long as two of the widest registers, so
// that a reaction is stored before the next row needs it.
static bool is_cloth(const struct sweep *sweep)
{
    const struct sweep_pass *passes = sweep->passes;
    const bool elements = sweep->grid->has_elements;
    return may_be_cloth(sweep) && sweep->pass_count == (elements ? 2 : 3) &&
           pass_is(&passes[0], SWEEP_ALONG, 0, 0, 0) && passes[0].springs[0].present &&
           passes[0].springs[1].present == !elements && pass_is(&passes[1], SWEEP_THREE, 1, 1, 0) &&
           passes[0].damping == passes[1].damping &&
           (elements ||
            (pass_is(&passes[2], SWEEP_ONE, 0, 2, 0) && passes[0].damping == passes[2].damping));
}

static uint64_t halo_nodes(const struct plan_tiling *tiling)
{
    uint64_t layers = (tiling->nz + tiling->tiles_z - 1) / tiling->tiles_z;
    if (tiling_tile_count(tiling) == 1)
        return 0;
    return (layers * (tiling->before + tiling->after) + tiling->above * reaction_rows(tiling)) *
           tiling->nx;
}

// Allocates and sets the masks of partners (sweep.h).
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

// The number of nodes after which a register of any width begins at the start of a row again.
static uint64_t register_period(uint64_t nx)
{
    uint64_t period = nx;
    while (period % SHARE_GUARD != 0)
        period *= 2;
    return period;
}

// Allocates and sets the shares of springs at the ends of rows (sweep.h).
static bool make_shares(struct sweep *sweep, const taut_allocator *allocator)
{
    const struct plan_grid *grid = sweep->grid;
    const uint64_t nx = sweep->tiling.nx;
    uint64_t nodes = sweep->tiling.chunk_rows * nx;
    if (!grid->weighted && !grid->has_elements)
        return true;
    if (grid->has_elements)
        nodes = max_u64(nodes, register_period(nx));
    sweep->share_count = (size_t)nodes + SHARE_GUARD;
    sweep->end_shares = memory_allocate(allocator, sweep->share_count, sizeof *sweep->end_shares);
    if (!sweep->end_shares)
        return false;
    for (uint64_t i = 0; i < nodes + SHARE_GUARD; i++)
        sweep->end_shares[i] = grid->weighted && (i % nx == 0 || i % nx == nx - 1) ? (real)0.5 : 1;
    return true;
}

// The weight of the line along x or along y that starts at node i of a row, 0 if it has none.
// rows[0] has the weights of centres along x, rows[1] those along y.
static real weight_of_line(const real *const rows[2], int line, uint64_t i, uint64_t nx)
{
    if (line == 1)
        return rows[1][i];
    return i + 1 < nx ? rows[0][i + 1] : 0;
}

bool REAL_NAME(sweeps_set_elements)(struct sweeps *sweeps, size_t body,
                                    const struct sweep_elements *elements)
{
    struct sweep *sweep = sweeps->items;
    while (sweep->grid->body != body)
        sweep++;
    const uint64_t nx = sweep->tiling.nx, middle = sweep->tiling.ny / 2;
    struct sweep_elements *own = &sweep->elements;
    real *const before[2] = {own->common[0], own->common[1]};
    *own = *elements;
    own->common_count = (size_t)register_period(nx) + SHARE_GUARD;
    const real *const rows[2] = {own->weights + own->rows[0][middle],
                                 own->weights + own->rows[1][middle]};
    for (int line = 0; line < 2; line++) {
        own->common[line] = before[line] ? before[line]
                                         : memory_allocate(sweeps->allocator, own->common_count,
                                                           sizeof *own->common[line]);
        for (size_t i = 0; own->common[line] && i < own->common_count; i++)
            own->common[line][i] = weight_of_line(rows, line, i % nx, nx);
    }
    return own->common[0] && own->common[1];
}

// The scale of squares that belongs to the mean rest length.
static real power_unit_of(const struct sweep *sweep)
{
    enum { MOST = 100 }; // its inverse must be finite too
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

// The mass of the nodes inside of a weighted cloth if those of all rows but the first and the last
// have its products with their shares of springs, otherwise 0.
static real find_inner_mass(const struct sweep *sweep, const struct constants *constants)
{
    const struct plan_grid *grid = sweep->grid;
    const uint64_t nx = sweep->tiling.nx, ny = sweep->tiling.ny;
    if (!grid->weighted || !grid->has_elements || constants->massed == 0 || ny < 3)
        return 0;
    const real *masses = constants->mass + grid->first_node;
    const real inner = masses[nx + 1];
    for (uint64_t i = nx; i < (ny - 1) * nx; i++)
        if (masses[i] != inner * sweep->end_shares[i % nx])
            return 0;
    return inner;
}

static bool make_sweep(struct sweep *sweep, const struct plan_grid *grid,
                       const struct constants *constants, const taut_allocator *allocator)
{
    *sweep = (struct sweep){.grid = grid, .tiling = grid->tiling};
    make_passes(sweep, constants->material);
    sweep->cloth = is_cloth(sweep);
    sweep->power_scale = power_unit_of(sweep);
    find_boundary(sweep);
    sweep->halo_nodes = halo_nodes(&sweep->tiling);
    sweep->halo = memory_allocate(
        allocator, (size_t)(3 * sweep->halo_nodes * tiling_tile_count(&sweep->tiling)),
        sizeof *sweep->halo);
    if (!sweep->halo || !make_bits(sweep, allocator) || !make_shares(sweep, allocator))
        return false;
    sweep->inner_mass = find_inner_mass(sweep, constants);
    return true;
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
        made = make_sweep(&sweeps->items[g], &plan->grids[g], constants, allocator);
        sweeps->items[g].faces = plan_face_grid_of_body(plan, plan->grids[g].body);
        const struct plan_tiling *tiling = &plan->grids[g].tiling;
        uint64_t reactions = reaction_layers(tiling) * reaction_layer_nodes(tiling);
        sweeps->chunk_nodes =
            max_u64(sweeps->chunk_nodes, page_padded(tiling->chunk_rows * tiling->nx));
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
        sweeps->items[g].power_scale = power_unit_of(&sweeps->items[g]);
        sweeps->items[g].inner_mass = find_inner_mass(&sweeps->items[g], constants);
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
        memory_release(allocator, sweep->end_shares, sweep->share_count, sizeof *sweep->end_shares);
        for (int line = 0; line < 2; line++)
            memory_release(allocator, sweep->elements.common[line], sweep->elements.common_count,
                           sizeof *sweep->elements.common[line]);
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
                 (2 * GRID_REACH + 1) * sweep->bit_words * sizeof(uint32_t) +
                 (sweep->share_count + 2 * sweep->elements.common_count) * sizeof(real);
    }
    return bytes;
}

// ---- Where rows of a tile, and contributions to them, are stored

struct tile_sweep {
    const struct system *system;
    const struct sweep *sweep;
    const struct plan_tiling *tiling;
    uint64_t index; // of the tile in its grid
    struct plan_tile tile;
    const struct wind_now *wind; // for the rows of grid_cloth
    enum sweep_finish finish;
    struct reals sums;         // of the chunk's nodes
    struct reals reactions;    // the reaction buffer
    struct power_sums *powers; // NULL: not measured
    int worker;
};

// Rows [j0, j1) of layer k.
struct rows {
    uint64_t j0, j1, k;
};

static int64_t row_node(const struct sweep *sweep, uint64_t j, uint64_t k)
{
    return (int64_t)(sweep->grid->first_node + (k * sweep->tiling.ny + j) * sweep->tiling.nx);
}

// Arrays moved by an offset. Null stays null: adding 0 to it would be undefined.
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

// The rows of a layer [rows.j0, rows.j1) to which no other tile contributes and which none reads.
static struct rows finished_rows(const struct sweep *sweep, const struct plan_tile *tile,
                                 uint64_t k)
{
    const struct plan_tiling *tiling = &sweep->tiling;
    if (tiling_tile_count(tiling) == 1 && sweep->grid->first_node == 0)
        return (struct rows){tile->j0, tile->j1, k};
    if (tile->tz > 0 && k < tile->k0 + tiling->above)
        return (struct rows){tile->j1, tile->j1, k};
    // The first rows of a layer are accessed from the rows before them, which include the end of
    // the layer below; the tile below reads that layer as far as its springs reach.
    bool below = tile->tz > 0 && k == tile->k0 + tiling->above;
    bool touched = tiling->tiles_y > 1 || k == 0 || below;
    uint64_t first = touched ? min_u64(tile->j0 + sweep->boundary_first, tile->j1) : tile->j0;
    // The last rows are likewise accessed from the start of the next layer.
    bool is_last = tile->ty + 1 == tiling->tiles_y;
    uint64_t boundary_last = !is_last                                ? sweep->boundary_last
                             : tiling->tiles_y > 1 && tiling->nz > 1 ? sweep->boundary_end
                                                                     : 0;
    uint64_t last = tile->j1 - min_u64(boundary_last, tile->j1 - tile->j0);
    return (struct rows){first, max_u64(first, last), k};
}

// ---- One tile

// Broken flags, rest lengths and shares of the springs of a direction, from a node of the grid on
// along its row. Springs that were cut count as broken. Rows without flags and rest lengths start
// at their first node.
static struct row_state state_of(const struct tile_sweep *it, const struct sweep_spring *spring,
                                 int64_t first)
{
    const struct state *s = it->system->state;
    const struct plan_grid *grid = it->sweep->grid;
    if (!spring->present)
        return (struct row_state){0};
    const struct direction *to = spring->direction;
    const real *shares = grid->weighted && to->dx == 0 ? it->sweep->end_shares : NULL;
    if (!(spring->breaks || spring->yields || grid->missing))
        return (struct row_state){.shares = shares};
    const int64_t nx = (int64_t)grid->nx, ny = (int64_t)grid->ny;
    int64_t node = first - (int64_t)grid->first_node, row = node / nx;
    int64_t i = node % nx - (to->dx < 0 ? -to->dx : 0);
    int64_t j = row % ny - (to->dy < 0 ? -to->dy : 0), k = row / ny;
    const int64_t number = (k * (ny - abs(to->dy)) + j) * (nx - abs(to->dx)) + i;
    if (grid->missing)
        return (struct row_state){.broken = grid_missing(grid, to) + number};
    int64_t index = (int64_t)(grid->first_state_index + to->first_spring) + number;
    return (struct row_state){spring->breaks ? s->broken + index : NULL,
                              spring->yields ? s->rest_length + index : NULL, shares};
}

static void run_range(const struct tile_sweep *it, const struct sweep_pass *pass,
                      struct pass_range *range)
{
    for (int member = 0; member < 3 && (pass->special || pass->halves_ends); member++)
        range->row_states[member] = state_of(it, &pass->springs[member], range->first);
    it->system->kernels->grid_pass(range, pass);
}

// Runs a pass over whole rows at once, or row by row if its springs leave the row at one end.
static void run_equal_rows(const struct tile_sweep *it, const struct sweep_pass *pass,
                           struct pass_range range, uint64_t rows)
{
    const long nx = (long)it->tiling->nx;
    int shift = pass->kind == SWEEP_ONE ? pass->step : 0;
    // The state of a row's springs does not directly follow that of the previous row's; in a rope
    // it does.
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

// The pass with the constants of a row of a weighted grid; their factor is 1/2 for each axis that
// the springs do not move along and at an end of which the row lies.
static struct sweep_pass pass_of_row(const struct tile_sweep *it, const struct sweep_pass *pass,
                                     uint64_t j, uint64_t k)
{
    struct sweep_pass of_row = *pass;
    real share = 1;
    if (pass->dy == 0 && is_on_side(j, it->tiling->ny))
        share /= 2;
    if (pass->dz == 0 && is_on_side(k, it->tiling->nz))
        share /= 2;
    for (int member = 0; member < 3; member++) {
        of_row.springs[member].stiffness *= share;
        of_row.springs[member].damping *= share;
    }
    return of_row;
}

// Runs a pass over rows, of which `range` has the first; on a weighted grid first and last rows
// have constants of their own.
static void run_rows(const struct tile_sweep *it, const struct sweep_pass *pass,
                     struct pass_range range, struct rows rows)
{
    if (!it->sweep->grid->weighted) {
        run_equal_rows(it, pass, range, rows.j1 - rows.j0);
        return;
    }
    while (rows.j0 < rows.j1) {
        uint64_t end = rows.j1;
        if (pass->dy == 0)
            end = rows.j0 == 0 ? 1 : min_u64(end, max_u64(rows.j0 + 1, it->tiling->ny - 1));
        const struct sweep_pass of_rows = pass_of_row(it, pass, rows.j0, rows.k);
        run_equal_rows(it, &of_rows, range, end - rows.j0);
        const int64_t nodes = (int64_t)((end - rows.j0) * it->tiling->nx);
        range.first += nodes;
        range.sum = reals_at(range.sum, nodes);
        range.other = reals_at(range.other, nodes);
        rows.j0 = end;
    }
}

// The reaction buffer of row j of layer k.
static struct reals reaction_row(const struct tile_sweep *it, uint64_t j, uint64_t k)
{
    uint64_t layer = k - it->tile.k0;
    if (layer > 0)
        layer %= reaction_layers(it->tiling);
    uint64_t row = j + it->tiling->before - it->tile.j0;
    // The first row may lie before the first node, but only the remainder is used.
    uint64_t node = (uint64_t)row_node(it->sweep, it->tile.j0 - it->tiling->before, k);
    uint64_t at =
        layer * reaction_layer_nodes(it->tiling) + node % PAGE_REALS + row * it->tiling->nx;
    return reals_at(it->reactions, (int64_t)at);
}

// The sums of row j of the chunk.
static struct reals sum_row(const struct tile_sweep *it, const struct rows *chunk, uint64_t j)
{
    uint64_t node = (uint64_t)row_node(it->sweep, chunk->j0, chunk->k);
    uint64_t at = node % PAGE_REALS + (j - chunk->j0) * it->tiling->nx;
    return reals_at(it->sums, (int64_t)at);
}

// Runs a pass over those rows of the chunk that have a row (dy, dz) away.
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
    run_rows(it, pass, range, (struct rows){first, end, chunk->k});
}

// Runs a pass over springs along the rows of the chunk.
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
    run_rows(it, pass, range, *chunk);
}

// Whether the lines that start in a row have the common weights.
static bool has_common_weights(const struct sweep *sweep, uint64_t j)
{
    const struct sweep_elements *elements = &sweep->elements;
    const uint64_t middle = sweep->tiling.ny / 2;
    return elements->rows[0][j] == elements->rows[0][middle] &&
           elements->rows[1][j + 1] == elements->rows[1][middle];
}

// The weights of the lines that start in row j. The last row has none along y, and reads its own.
static struct line_weights weights_of_row(const struct sweep *sweep, uint64_t j)
{
    const struct sweep_elements *elements = &sweep->elements;
    const uint64_t centre = j + 1 < sweep->tiling.ny ? j + 1 : j;
    return (struct line_weights){.along = elements->weights + elements->rows[0][j] + 1,
                                 .across = elements->weights + elements->rows[1][centre],
                                 .shares = sweep->end_shares,
                                 .period = LONG_MAX};
}

// The elements that start in the rows of a chunk, row by row.
static void run_elements(const struct tile_sweep *it, const struct rows *chunk)
{
    for (uint64_t j = chunk->j0; j < chunk->j1; j++) {
        const struct pass_range range = {
            .state = it->system->state,
            .sweep = it->sweep,
            .first = row_node(it->sweep, j, 0),
            .offset = (int64_t)it->tiling->nx,
            .count = (long)it->tiling->nx,
            .sum = sum_row(it, chunk, j),
            .other = reaction_row(it, j + 1, 0),
            .powers = it->powers,
            .lines = weights_of_row(it->sweep, j),
        };
        it->system->kernels->grid_elements(&range, (int)min_u64(it->tiling->ny - 1 - j, 2));
    }
}

// The nodes of some rows of the chunk, to be finished.
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

// Nodes that have been finished, if that moves them as motion.h allows.
static void note_motion(const struct tile_sweep *it, int64_t first, long count)
{
    if (it->finish == SWEEP_SYMPLECTIC_EULER)
        REAL_NAME(motion_note)(it->system, (size_t)first, (size_t)count, it->worker);
}

static void finish_rows(const struct tile_sweep *it, const struct rows *chunk, struct rows part)
{
    struct finish_range range = range_of(it, chunk, &part);
    it->system->kernels->grid_finish(it->system, &range, it->finish);
    note_motion(it, range.first, range.count);
}

static void store_sums(real *force, const real *own, const real *reactions, long count, bool loaded)
{
    for (long i = 0; i < count; i++)
        force[i] = loaded ? force[i] + (reactions[i] + own[i]) : reactions[i] + own[i];
}

// Stores the sums of rows that wait for other tiles in the force arrays.
static void store_rows(const struct tile_sweep *it, const struct rows *chunk, struct rows part)
{
    const struct state *s = it->system->state;
    struct finish_range range = range_of(it, chunk, &part);
    store_sums(s->fx + range.first, range.own.x, range.reactions.x, range.count, range.loaded);
    store_sums(s->fy + range.first, range.own.y, range.reactions.y, range.count, range.loaded);
    store_sums(s->fz + range.first, range.own.z, range.reactions.z, range.count, range.loaded);
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

// All passes over a chunk; then its rows are finished, or stored if they wait for other tiles.
static void sweep_chunk(const struct tile_sweep *it, const struct rows *chunk)
{
    bool starts = it->sweep->passes[0].kind == SWEEP_ALONG;
    if (!starts)
        clear_all(sum_row(it, chunk, chunk->j0), (chunk->j1 - chunk->j0) * it->tiling->nx);
    const bool gaps = grid_row_has_gaps(it->sweep->grid, chunk->j0, chunk->k);
    for (int p = 0; p < it->sweep->pass_count; p++) {
        const struct sweep_pass *pass = &it->sweep->passes[p];
        struct sweep_pass masked;
        if (gaps && !pass->special) {
            masked = *pass;
            masked.special = true;
            pass = &masked;
        }
        if (pass->kind == SWEEP_ALONG)
            run_along(it, pass, chunk, starts && p == 0);
        else if (chunk->k + (uint64_t)pass->dz < it->tiling->nz)
            run_across(it, pass, chunk);
    }
    if (it->sweep->grid->has_elements)
        run_elements(it, chunk);
    struct rows done = finished_rows(it->sweep, &it->tile, chunk->k);
    uint64_t first = min_u64(max_u64(chunk->j0, done.j0), chunk->j1);
    uint64_t end = min_u64(max_u64(first, done.j1), chunk->j1);
    if (chunk->j0 < first)
        store_rows(it, chunk, (struct rows){chunk->j0, first, chunk->k});
    if (first < end)
        finish_rows(it, chunk, (struct rows){first, end, chunk->k});
    if (end < chunk->j1)
        store_rows(it, chunk, (struct rows){end, chunk->j1, chunk->k});
}

// Copies the reactions on rows of other tiles in layer k to the tile's halo contributions.
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

// Clears the reaction buffer of layer k, which is not swept yet.
static void clear_layer(const struct tile_sweep *it, uint64_t k)
{
    clear_all(reaction_row(it, it->tile.j0 - it->tiling->before, k),
              reaction_rows(it->tiling) * it->tiling->nx);
}

// The end of the longest sequence of these rows, from the first on, that all have gaps or all have
// none.
static uint64_t end_of_equal_rows(const struct plan_grid *grid, struct rows rows)
{
    uint64_t end = rows.j0 + 1;
    if (!grid->rows_with_gaps)
        return rows.j1;
    while (end < rows.j1 &&
           grid_row_has_gaps(grid, end, rows.k) == grid_row_has_gaps(grid, rows.j0, rows.k))
        end++;
    return end;
}

// A chunk has either no gaps or only rows with gaps, whose passes mask the springs that were cut.
static void sweep_chunks(const struct tile_sweep *it, struct rows rows)
{
    for (uint64_t j = rows.j0; j < rows.j1;) {
        struct rows chunk = {j, min_u64(j + it->tiling->chunk_rows, rows.j1), rows.k};
        chunk.j1 = end_of_equal_rows(it->sweep->grid, chunk);
        sweep_chunk(it, &chunk);
        j = chunk.j1;
    }
}

// The first row of a cloth that grid_cloth may compute: springs along the first row of a weighted
// grid have constants of their own.
static uint64_t first_cloth_row(const struct sweep *sweep)
{
    return sweep->grid->weighted ? 1 : 0;
}

struct range REAL_NAME(sweep_cloth_rows)(const struct sweep *sweep, uint64_t number)
{
    const struct plan_tile tile = tiling_tile(&sweep->tiling, number);
    const struct range none = {(size_t)tile.j1, (size_t)tile.j1};
    if (!sweep->cloth)
        return none;
    struct rows rows = finished_rows(sweep, &tile, 0);
    rows.j0 = max_u64(rows.j0, first_cloth_row(sweep));
    rows.j1 = min_u64(rows.j1, sweep->tiling.ny - 2);
    return rows.j0 < rows.j1 ? (struct range){(size_t)rows.j0, (size_t)rows.j1} : none;
}

bool REAL_NAME(sweep_computes_wind)(const struct system *system, const struct sweep *sweep,
                                    const struct wind_now *wind, enum sweep_finish finish)
{
    return wind->factor != 0 && wind->law == WIND_FACE && system->sweeps->load == LOAD_WIND &&
           !contacts_are_found(system) && !surfaces_push(system) && sweep->cloth && sweep->faces &&
           !sweep->grid->missing && !sweep->grid->has_elements && finish != SWEEP_FORCES;
}

// Sets the end of the rolling buffer to the contributions of the cells before the first of these
// rows to that row. The buffer uses the memory for sums of chunks, which are not needed now.
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

// Runs grid_cloth over rows of a cloth, with the wind if it can; with elements the lines have these
// weights, and the rows may only be stored.
static void sweep_cloth(const struct tile_sweep *it, struct rows rows, struct line_weights lines,
                        bool stores)
{
    const bool blows =
        it->wind && REAL_NAME(sweep_computes_wind)(it->system, it->sweep, it->wind, it->finish);
    const struct pass_range range = {
        .state = it->system->state,
        .sweep = it->sweep,
        .first = row_node(it->sweep, rows.j0, 0),
        .offset = (int64_t)it->tiling->nx,
        .count = (long)((rows.j1 - rows.j0) * it->tiling->nx),
        .sum = blows ? start_ring(it, rows) : it->sums,
        .other = reaction_row(it, rows.j0, 0),
        .powers = it->powers,
        .lines = lines,
        .stores = stores,
        .shares_mass = it->sweep->inner_mass > 0,
    };
    const struct topology *topology = it->system->topology;
    const double node_mass = topology->bodies[it->sweep->grid->body].node_mass; // 0: they differ
    const real *masses =
        node_mass == 0 && !range.shares_mass ? it->system->constants->mass + range.first : NULL;
    const double each = range.shares_mass ? (double)it->sweep->inner_mass : node_mass;
    it->system->kernels->grid_cloth(it->system, &range, masses, each,
                                    sweep_is_loaded(it->system) && !blows, blows ? it->wind : NULL,
                                    it->finish);
    if (!stores)
        note_motion(it, range.first, range.count);
}

// As many rows at once as stay in the cache until their motion has been noted. The same whether
// this step wants it or not, which differs between a run and one that was restored: powers are
// summed by these rows.
static uint64_t rows_at_once(const struct tile_sweep *it)
{
    enum { NODES_AT_ONCE = 12288 };
    if (it->finish != SWEEP_SYMPLECTIC_EULER || !it->system->motion)
        return UINT64_MAX;
    return max_u64(4, NODES_AT_ONCE / it->tiling->nx);
}

// The same for rows of a cloth with elements: those with common weights together.
static void sweep_cloth_elements(const struct tile_sweep *it, struct rows rows, bool stores)
{
    const struct sweep_elements *elements = &it->sweep->elements;
    const struct line_weights common = {.along = elements->common[0],
                                        .across = elements->common[1],
                                        .shares = it->sweep->end_shares,
                                        .period = (long)elements->common_count - SHARE_GUARD};
    for (uint64_t j = rows.j0, end; j < rows.j1; j = end) {
        const bool is_common = has_common_weights(it->sweep, j);
        const uint64_t most = stores ? rows.j1 : j + min_u64(rows.j1 - j, rows_at_once(it));
        for (end = j + 1; is_common && end < most && has_common_weights(it->sweep, end);)
            end++;
        sweep_cloth(it, (struct rows){j, end, rows.k},
                    is_common ? common : weights_of_row(it->sweep, j), stores);
    }
}

// The rows of the tile that grid_cloth computes: those that it also finishes, or with elements also
// those that wait for other tiles.
static struct rows cloth_rows(const struct tile_sweep *it)
{
    const struct sweep *sweep = it->sweep;
    const struct range done = REAL_NAME(sweep_cloth_rows)(sweep, it->index);
    struct rows rows = {done.first, done.end, 0};
    if (!sweep->cloth || !sweep->grid->has_elements)
        return rows;
    rows.j0 = max_u64(it->tile.j0, first_cloth_row(sweep));
    rows.j1 = min_u64(it->tile.j1, sweep->tiling.ny - 2);
    return rows.j0 < rows.j1 ? rows : (struct rows){it->tile.j1, it->tile.j1, 0};
}

// Rows of a cloth with elements, of which grid_cloth finishes those that wait for no other tile.
static void sweep_elements(const struct tile_sweep *it, struct rows cloth)
{
    const struct range done = REAL_NAME(sweep_cloth_rows)(it->sweep, it->index);
    const uint64_t first = min_u64(done.first, cloth.j1), end = min_u64(done.end, cloth.j1);
    sweep_cloth_elements(it, (struct rows){cloth.j0, first, 0}, true);
    sweep_cloth_elements(it, (struct rows){first, end, 0}, false);
    sweep_cloth_elements(it, (struct rows){end, cloth.j1, 0}, true);
}

// Sweeps a layer of the tile: by chunks, except for the rows of grid_cloth.
static void sweep_layer(const struct tile_sweep *it, uint64_t k)
{
    const struct plan_tile *tile = &it->tile;
    struct rows cloth = cloth_rows(it);
    cloth.k = k;
    sweep_chunks(it, (struct rows){tile->j0, cloth.j0, k});
    if (it->sweep->grid->has_elements)
        sweep_elements(it, cloth);
    for (uint64_t j = cloth.j0; j < cloth.j1 && !it->sweep->grid->has_elements;) {
        struct rows part = {j, j + min_u64(cloth.j1 - j, rows_at_once(it)), k};
        part.j1 = end_of_equal_rows(it->sweep->grid, part);
        if (grid_row_has_gaps(it->sweep->grid, j, k))
            sweep_chunks(it, part);
        else
            sweep_cloth(it, part, (struct line_weights){0}, false);
        j = part.j1;
    }
    sweep_chunks(it, (struct rows){cloth.j1, tile->j1, k});
    copy_halo_rows(it, HALO_BEFORE, k);
    copy_halo_rows(it, HALO_AFTER, k);
    if (k + 1 < tile->k1) // the buffer of a tile's first layers is cleared by sweep_tile
        clear_layer(it, k + reaction_layers(it->tiling));
}

// Clears the reaction buffer of a cloth, except for the rows that grid_cloth sets first: those two
// rows after the ones that it computes.
static void clear_around(const struct tile_sweep *it, struct rows cloth)
{
    const uint64_t nx = it->tiling->nx, end = it->tile.j0 + reaction_rows(it->tiling);
    const uint64_t first = min_u64(cloth.j0 + 2, end), last = min_u64(cloth.j1 + 2, end);
    clear_all(reaction_row(it, it->tile.j0, 0), (first - it->tile.j0) * nx);
    clear_all(reaction_row(it, last, 0), (end - last) * nx);
}

// Three arrays of `length` numbers, each at its own offset in a page. The offsets ascend, so that
// no array begins before the previous one ends.
static struct reals components(real *scratch, int64_t length, int first)
{
    return (struct reals){scratch + state_offset(first), scratch + length + state_offset(first + 1),
                          scratch + 2 * length + state_offset(first + 2)};
}

static void store_powers(const struct sweep *sweep, struct power_sums *sums, double *powers)
{
    for (int lane = 0; lane < POWER_LANES; lane++)
        sums->lanes[POWER_DAMPING][lane] *= (double)sweep->power_scale;
    power_sums_store(sums, powers);
}

void REAL_NAME(sweep_tile)(const struct system *system, const struct sweep *sweep, uint64_t tile,
                           const struct wind_now *wind, enum sweep_finish finish, double *powers,
                           const struct worker *worker)
{
    struct power_sums sums;
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
                            .worker = worker->index,
                            .sums = components(scratch + 3 * reactions, chunk, STATE_OFFSET_SUMS),
                            .reactions = components(scratch, reactions, STATE_OFFSET_FORCES)};
    if (powers) {
        power_sums_start(system, &sums);
        it.powers = &sums;
    }
    if (sweep->cloth && !sweep->grid->missing)
        clear_around(&it, cloth_rows(&it));
    else
        for (uint64_t k = it.tile.k0; k <= it.tile.k0 + it.tiling->above; k++)
            clear_layer(&it, k);
    for (uint64_t k = it.tile.k0; k < it.tile.k1; k++)
        sweep_layer(&it, k);
    for (uint64_t k = it.tile.k1; k < it.tile.k1 + it.tiling->above; k++)
        copy_halo_rows(&it, HALO_ABOVE, k);
    if (powers)
        store_powers(sweep, &sums, powers);
}

// ---- The halo reduction: rows to which a neighbouring tile contributes, or whose positions it
// reads, are finished when all tiles have been swept

static void add(real *to, const real *from, long count)
{
    for (long i = 0; i < count; i++)
        to[i] += from[i];
}

// A tile's contributions to rows of another tile; all pointers are NULL if it has none.
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
    // A box may begin before row 0, so rows are compared as signed numbers.
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

// The contributions of the tiles below and then of the tiles beside this one. The order determines
// the bits.
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

// Adds the contributions of other tiles to rows and finishes them. If exactly one tile contributes,
// and to all of the rows, the addition is left to grid_finish.
static void reduce_rows(const struct tile_sweep *it, struct rows part)
{
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
    note_motion(it, range.first, range.count);
}

void REAL_NAME(reduce_tile)(const struct system *system, const struct sweep *sweep, uint64_t tile,
                            enum sweep_finish finish, double *powers, const struct worker *worker)
{
    struct power_sums sums;
    struct tile_sweep it = {.system = system,
                            .sweep = sweep,
                            .tiling = &sweep->tiling,
                            .index = tile,
                            .tile = tiling_tile(&sweep->tiling, tile),
                            .finish = finish,
                            .worker = worker->index};
    if (powers) {
        power_sums_start(system, &sums);
        it.powers = &sums;
    }
    for (uint64_t k = it.tile.k0; k < it.tile.k1; k++) {
        struct rows done = finished_rows(sweep, &it.tile, k);
        if (it.tile.j0 < done.j0)
            reduce_rows(&it, (struct rows){it.tile.j0, done.j0, k});
        if (done.j1 < it.tile.j1)
            reduce_rows(&it, (struct rows){done.j1, it.tile.j1, k});
    }
    if (powers)
        store_powers(sweep, &sums, powers);
}
