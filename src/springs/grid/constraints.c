// The order in which springs of grids are solved as constraints (springs/constraint.h); the
// arithmetic is in grid/constraint_body.h. Tiles get one of four colours, by whether their numbers
// along y and z are even or odd: springs reach no further than the next tile, so tiles of one
// colour share no node and run concurrently. Inside a tile, one worker goes through the rows, and
// through each row direction by direction.
#include "kernels/kernels.h"
#include "springs/constraint.h"
#include "springs/grid/sweep.h"

#include <stdlib.h>

#include "base/sort.h"

enum { TILE_COLOURS = 4 };

// The constants of a direction as constraints, in the precision of the run; its law depends on the
// substep.
struct constraint_constants {
    struct constraint_law law;
    struct constraint_law boundary[BOUNDARY_MATERIALS]; // of a weighted direction
    bool breaks, yields;
};

struct constraint_tile {
    const struct system *system;
    const struct plan_grid *grid;
    bool first;                // first iteration of the substep
    uint64_t first_multiplier; // index of the multiplier of the grid's first spring
    struct constraint_constants constants[DIRECTIONS_MAX];
};

// Multipliers are stored grid by grid, after those of the springs on no grid.
static uint64_t first_multiplier(const struct system *system, const struct plan_grid *grid)
{
    uint64_t first = system->plan->springs.element_count;
    for (const struct plan_grid *before = system->plan->grids; before < grid; before++)
        first += system->topology->bodies[before->body].spring_count;
    return first;
}

static void tile_begin(struct constraint_tile *it, double step)
{
    it->first_multiplier = first_multiplier(it->system, it->grid);
    for (int d = 0; d < it->grid->direction_count; d++) {
        const struct spring_constants *material =
            &it->system->constants->material[it->grid->directions[d].material];
        it->constants[d] = (struct constraint_constants){.law = constraint_law_of(material, step),
                                                         .breaks = spring_can_break(material),
                                                         .yields = spring_can_yield(material)};
        const struct direction *direction = &it->grid->directions[d];
        for (uint32_t i = 0; direction->weighted && i < BOUNDARY_MATERIALS; i++)
            it->constants[d].boundary[i] = constraint_law_of(
                &it->system->constants->material[direction->boundary_material + i], step);
    }
}

// Solves consecutive springs, `number` being the first in the direction: those of one material at a
// time, as the ends of a row may have another one.
static void solve_materials(const struct constraint_tile *it, const struct direction *to,
                            const struct constraint_constants *constants, uint64_t number,
                            const struct constraint_row *row)
{
    struct constraint_row part = *row;
    for (uint64_t done = 0, left; done < (uint64_t)row->count; done += left) {
        left = (uint64_t)row->count - done;
        const uint32_t material = direction_material(to, number + done, &left);
        part.law = material == to->material ? constants->law
                                            : constants->boundary[material - to->boundary_material];
        part.a = row->a + (int64_t)done;
        part.b = row->b + (int64_t)done;
        part.count = (long)left;
        part.rest_lengths = row->rest_lengths ? row->rest_lengths + done : NULL;
        part.broken = row->broken ? row->broken + done : NULL;
        part.multipliers = row->multipliers ? row->multipliers + done : NULL;
        it->system->kernels->grid_constraints(&part);
    }
}

// Solves the springs of direction d that start at nodes i0 .. i1 - 1 of row j of layer k.
static void solve_row(const struct constraint_tile *it, int d, int64_t i0, int64_t i1, int64_t j,
                      int64_t k)
{
    const struct plan_grid *grid = it->grid;
    const struct direction *to = &grid->directions[d];
    const struct constraint_constants *constants = &it->constants[d];
    const struct state *s = it->system->state;
    const int64_t nx = (int64_t)grid->nx, ny = (int64_t)grid->ny;
    int64_t low = to->dx < 0 ? -to->dx : 0, high = to->dx > 0 ? nx - to->dx : nx;
    int64_t first = i0 > low ? i0 : low, end = i1 < high ? i1 : high;
    if (first >= end)
        return;
    int64_t skipped = to->dy < 0 ? -to->dy : 0;
    int64_t number = (int64_t)to->first_spring +
                     (k * (ny - abs(to->dy)) + j - skipped) * (nx - abs(to->dx)) + (first - low);
    int64_t state_index = (int64_t)grid->first_state_index + number;
    int64_t a = (int64_t)grid->first_node + (k * ny + j) * nx + first;
    struct constraint_row row = {
        .state = s,
        .inverse_mass = it->system->constants->inverse_mass,
        .law = constants->law,
        .a = a,
        .b = a + to->offset,
        .count = (long)(end - first),
        .along = to->dy == 0 && to->dz == 0 ? to->dx : 0,
        .rest_length = (real)to->rest_length,
        .rest_lengths = constants->yields ? s->rest_length + state_index : NULL,
        .broken = constants->breaks ? s->broken + state_index : NULL,
        .multipliers = s->multiplier ? s->multiplier + it->first_multiplier + number : NULL,
        .first = it->first,
    };
    if (grid->weighted)
        solve_materials(it, to, constants, (uint64_t)number - to->first_spring, &row);
    else
        it->system->kernels->grid_constraints(&row);
}

static void solve_rows(const struct constraint_tile *it, const struct plan_tile *tile)
{
    const struct plan_grid *grid = it->grid;
    for (uint64_t k = tile->k0; k < tile->k1; k++)
        for (uint64_t j = tile->j0; j < tile->j1; j++)
            for (int d = 0; d < grid->direction_count; d++) {
                const struct direction *to = &grid->directions[d];
                int64_t row = (int64_t)j + to->dy, layer = (int64_t)k + to->dz;
                if (row >= 0 && row < (int64_t)grid->ny && layer < (int64_t)grid->nz)
                    solve_row(it, d, 0, (int64_t)grid->nx, (int64_t)j, (int64_t)k);
            }
}

static void solve_tile(const struct system *system, uint64_t number, int colour, double step,
                       bool first)
{
    const struct plan *plan = system->plan;
    size_t index = find_interval(&plan->grids->tiling.first_tile, sizeof *plan->grids,
                                 plan->grid_count, number);
    struct constraint_tile it = {.system = system, .grid = &plan->grids[index], .first = first};
    const struct plan_tiling *tiling = &it.grid->tiling;
    const struct plan_tile tile = tiling_tile(tiling, number - tiling->first_tile);
    if ((int)(tile.ty % 2 + 2 * (tile.tz % 2)) != colour)
        return;
    tile_begin(&it, step);
    if (tiling->nx == it.grid->nx) {
        solve_rows(&it, &tile);
        return;
    }
    // A rope is divided along its only row.
    for (int d = 0; d < it.grid->direction_count; d++)
        solve_row(&it, d, (int64_t)tile.j0, (int64_t)tile.j1, 0, 0);
}

static bool has_colour(const struct plan *plan, int colour)
{
    bool has = false;
    for (size_t g = 0; g < plan->grid_count; g++)
        has |= (plan->grids[g].tiling.tiles_y > 1 || colour % 2 == 0) &&
               (plan->grids[g].tiling.tiles_z > 1 || colour / 2 == 0);
    return has;
}

void REAL_NAME(grid_constraints_iterate)(const struct system *system, double step, bool first,
                                         const struct worker *worker)
{
    const struct plan *plan = system->plan;
    for (int colour = 0; colour < TILE_COLOURS; colour++) {
        if (!has_colour(plan, colour))
            continue;
        struct range range;
        while (worker_claim(worker, (size_t)plan->tile_count, 1, &range))
            solve_tile(system, range.first, colour, step, first);
        worker_barrier(worker);
    }
}
