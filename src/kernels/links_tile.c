// Which springs of grids are solved when. Tiles are coloured by whether they are the first, third,
// ... along y and z: springs lead into the next tile at most, so that tiles of one colour have no
// node in common. Inside a tile one worker goes row after row, and in a row direction after
// direction.
#include "kernels/kernels.h"

#include <stdlib.h>

#include "base/search.h"

enum { TILE_COLOURS = 4 };

// Where the springs of a direction have their multipliers and what the state remembers of them.
struct link_direction {
    struct link_law law;
    const struct plan_direction *to;
    uint64_t first_multiplier;
    bool breaks, yields;
};

struct link_tile {
    const struct system *system;
    const struct plan_grid *grid;
    bool first; // iteration
    struct link_direction directions[DIRECTIONS_MAX];
};

static uint64_t springs_of(const struct plan_grid *grid, const struct plan_direction *to)
{
    return (grid->nx - (uint64_t)abs(to->dx)) * (grid->ny - (uint64_t)abs(to->dy)) *
           (grid->nz - (uint64_t)abs(to->dz));
}

// Multipliers stand in the order of the grids, behind those of the blocks.
static uint64_t first_multiplier(const struct system *system, const struct plan_grid *grid)
{
    uint64_t first = system->plan->springs.element_count;
    for (const struct plan_grid *before = system->plan->grids; before < grid; before++)
        first += system->topology->bodies[before->body].spring_count;
    return first;
}

static void tile_begin(struct link_tile *it, double step)
{
    uint64_t multiplier = first_multiplier(it->system, it->grid);
    for (int d = 0; d < it->grid->direction_count; d++) {
        const struct plan_direction *to = &it->grid->directions[d];
        const struct spring_constants *material = &it->system->constants->material[to->material];
        it->directions[d] = (struct link_direction){.law = link_law_of(material, step),
                                                    .to = to,
                                                    .first_multiplier = multiplier,
                                                    .breaks = isfinite(material->break_at),
                                                    .yields = isfinite(material->yield_at)};
        multiplier += springs_of(it->grid, to);
    }
}

// Springs of a direction that start at nodes i0 .. i1 - 1 of row j of layer k.
static void solve_row(const struct link_tile *it, const struct link_direction *direction,
                      int64_t i0, int64_t i1, int64_t j, int64_t k)
{
    const struct plan_grid *grid = it->grid;
    const struct plan_direction *to = direction->to;
    const struct state *s = it->system->state;
    const int64_t nx = (int64_t)grid->nx, ny = (int64_t)grid->ny;
    int64_t low = to->dx < 0 ? -to->dx : 0, high = to->dx > 0 ? nx - to->dx : nx;
    int64_t first = i0 > low ? i0 : low, end = i1 < high ? i1 : high;
    if (first >= end)
        return;
    int64_t skipped = to->dy < 0 ? -to->dy : 0;
    int64_t number = (k * (ny - abs(to->dy)) + j - skipped) * (nx - abs(to->dx)) + (first - low);
    int64_t place = (int64_t)to->first_place + number;
    int64_t a = (int64_t)grid->first_node + (k * ny + j) * nx + first;
    struct link_row row = {
        .state = s,
        .inverse_mass = it->system->constants->inverse_mass,
        .law = direction->law,
        .a = a,
        .b = a + to->offset,
        .count = (long)(end - first),
        .along = to->dy == 0 && to->dz == 0 ? to->dx : 0,
        .rest_length = (real)to->rest_length,
        .rest_lengths = direction->yields ? s->rest_length + place : NULL,
        .broken = direction->breaks ? s->broken + place : NULL,
        .multipliers = s->multiplier ? s->multiplier + direction->first_multiplier + number : NULL,
        .first = it->first,
    };
    it->system->kernels->grid_links(&row);
}

static void solve_rows(const struct link_tile *it, const struct plan_tile *tile)
{
    const struct plan_grid *grid = it->grid;
    for (uint64_t k = tile->k0; k < tile->k1; k++)
        for (uint64_t j = tile->j0; j < tile->j1; j++)
            for (int d = 0; d < grid->direction_count; d++) {
                const struct plan_direction *to = it->directions[d].to;
                int64_t row = (int64_t)j + to->dy, layer = (int64_t)k + to->dz;
                if (row >= 0 && row < (int64_t)grid->ny && layer < (int64_t)grid->nz)
                    solve_row(it, &it->directions[d], 0, (int64_t)grid->nx, (int64_t)j, (int64_t)k);
            }
}

static void solve_tile(const struct system *system, uint64_t number, int colour, double step,
                       bool first)
{
    const struct plan *plan = system->plan;
    size_t index =
        part_of(&plan->grids->tiling.first_tile, sizeof *plan->grids, plan->grid_count, number);
    struct link_tile it = {.system = system, .grid = &plan->grids[index], .first = first};
    const struct plan_tiling *tiling = &it.grid->tiling;
    const struct plan_tile tile = tiling_tile(tiling, number - tiling->first_tile);
    if ((int)(tile.ty % 2 + 2 * (tile.tz % 2)) != colour)
        return;
    tile_begin(&it, step);
    if (tiling->nx == it.grid->nx) {
        solve_rows(&it, &tile);
        return;
    }
    // A rope is cut along its one row.
    for (int d = 0; d < it.grid->direction_count; d++)
        solve_row(&it, &it.directions[d], (int64_t)tile.j0, (int64_t)tile.j1, 0, 0);
}

static bool has_colour(const struct plan *plan, int colour)
{
    bool has = false;
    for (size_t g = 0; g < plan->grid_count; g++)
        has |= (plan->grids[g].tiling.tiles_y > 1 || colour % 2 == 0) &&
               (plan->grids[g].tiling.tiles_z > 1 || colour / 2 == 0);
    return has;
}

void REAL_NAME(run_links)(const struct system *system, double step, bool first,
                          const struct worker *worker)
{
    const struct plan *plan = system->plan;
    const struct link_pass pass = {step, first};
    REAL_NAME(run_coloured)(system, &plan->springs, system->kernels->links, &pass, worker);
    for (int colour = 0; colour < TILE_COLOURS; colour++) {
        if (!has_colour(plan, colour))
            continue;
        struct range range;
        while (worker_take(worker, (size_t)plan->tile_count, 1, &range))
            solve_tile(system, range.first, colour, step, first);
        worker_barrier(worker);
    }
}
