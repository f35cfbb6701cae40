// The storage formats behind springs.h: which loop runs over which springs, and the order in which
// springs are visited.
#include "springs/springs.h"

#include "base/sort.h"
#include "springs/listed/reference.h"
#include "state/reading.h"

// ---- Forces

void REAL_NAME(springs_add)(const struct system *system, const struct worker *worker)
{
    const struct plan *plan = system->plan;
    if (!plan->packs) {
        const bool vectors = plan->coloured.block_count > 0;
        REAL_NAME(run_coloured)
        (system, &plan->springs,
         vectors ? system->kernels->coloured_forces : REAL_NAME(reference_springs), NULL, worker);
        return;
    }
    struct range range;
    while (worker_claim(worker, (size_t)plan->packed.tile_count, 1, &range))
        system->chunk_sums[range.first][0] = system->kernels->packed_forces(system, range.first);
    if (plan->packed.tile_count > 0)
        worker_barrier(worker);
}

// The grid that a tile belongs to, its number within the grid in *tile.
static const struct sweep *sweep_of(const struct sweeps *sweeps, uint64_t *tile)
{
    size_t grid = find_interval(&sweeps->items->tiling.first_tile, sizeof *sweeps->items,
                                sweeps->count, *tile);
    *tile -= sweeps->items[grid].tiling.first_tile;
    return &sweeps->items[grid];
}

// Workers claim tiles of all grids one by one.
void REAL_NAME(springs_sweep)(struct system *system, const struct wind_now *wind,
                              enum sweep_finish finish, const struct worker *worker)
{
    struct range range;
    while (worker_claim(worker, (size_t)system->sweeps->tile_count, 1, &range)) {
        uint64_t tile = range.first;
        const struct sweep *sweep = sweep_of(system->sweeps, &tile);
        REAL_NAME(sweep_tile)(system, sweep, tile, wind, finish, worker);
    }
    stage_end(&system->clock, STAGE_SPRINGS, worker);
}

void REAL_NAME(springs_reduce)(struct system *system, enum sweep_finish finish,
                               const struct worker *worker)
{
    struct range range;
    while (worker_claim(worker, (size_t)system->sweeps->tile_count, 1, &range)) {
        uint64_t tile = range.first;
        const struct sweep *sweep = sweep_of(system->sweeps, &tile);
        REAL_NAME(reduce_tile)(system, sweep, tile, finish);
    }
}

// ---- Constraints

void REAL_NAME(constraints_iterate)(const struct system *system, double step, bool first,
                                    const struct worker *worker)
{
    const struct constraint_pass pass = {step, first};
    REAL_NAME(run_coloured)
    (system, &system->plan->springs, REAL_NAME(reference_constraints), &pass, worker);
    REAL_NAME(grid_constraints_iterate)(system, step, first, worker);
}

// ---- One by one

bool REAL_NAME(springs_next_on_grid)(struct spring_walk *walk, struct spring_view *view)
{
    const struct system *system = walk->system;
    const struct plan *plan = system->plan;
    const struct topology *topology = system->topology;
    const struct state *s = system->state;
    uint64_t begin = plan->springs.element_count; // of the present grid
    for (size_t g = 0; g < plan->grid_count; g++) {
        const struct plan_grid *grid = &plan->grids[g];
        const struct topology_body *body = &topology->bodies[grid->body];
        const uint64_t end = begin + body->spring_count;
        if (walk->at >= end) {
            begin = end;
            continue;
        }

        const uint64_t inside = walk->at - begin, last = walk->end < end ? walk->end : end;
        const struct spring_run run = topology_run(topology, body->first_spring + inside,
                                                   body->first_spring + (last - begin));
        const uint64_t state_index = grid->first_state_index + inside;
        const bool stateful = grid->stateful;

        *view = (struct spring_view){
            .number = run.first,
            .state_index = state_index,
            .count = run.count,
            .a = run.a,
            .b = run.b,
            .material = &system->constants->material[run.material],
            .built = (real)run.rest_length,
            .broken = stateful && s->broken ? s->broken + state_index : NULL,
            .rest_length = stateful && s->rest_length ? s->rest_length + state_index : NULL,
        };

        walk->at += run.count;
        return true;
    }
    return false;
}
