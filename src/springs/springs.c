// Implements springs.h for all storage formats: selects the loop for each body's springs and the
// order in which springs are visited. The arithmetic is in the folders of the formats; energies are
// in energy.c, breaking and yielding in breaking.c, rows of grids in grid/rows.c.
#include "springs/springs.h"

#include "base/sort.h"
#include "springs/exchange.h"
#include "springs/listed/reference.h"
#include "state/reading.h"

// ---- Forces

// The tiles of packed springs and of grids that this rank computes.
static struct range packed_tiles(const struct system *system)
{
    if (!system->exchange)
        return (struct range){0, (size_t)system->plan->packed.tile_count};
    const struct plan_part *part = REAL_NAME(exchange_part)(system->exchange);
    return (struct range){(size_t)part->first_packed, (size_t)part->end_packed};
}

static struct range grid_tiles(const struct system *system)
{
    if (!system->exchange)
        return (struct range){0, (size_t)system->sweeps->tile_count};
    const struct plan_part *part = REAL_NAME(exchange_part)(system->exchange);
    return (struct range){(size_t)part->first_tile, (size_t)part->end_tile};
}

// Whether this rank measures the powers of a packed tile: only that with its first node.
static bool measures_tile(const struct system *system, size_t tile)
{
    return exchange_owns(system, (size_t)system->plan->packed.tiles[tile].first_node);
}

void REAL_NAME(springs_add)(const struct system *system, bool powers, const struct worker *worker)
{
    const struct plan *plan = system->plan;
    if (!plan->packs) {
        const bool vectors = plan->coloured.block_count > 0;
        REAL_NAME(run_coloured)
        (system, &plan->springs,
         vectors ? system->kernels->coloured_forces : REAL_NAME(reference_springs), NULL, worker);
        return;
    }
    const struct range tiles = packed_tiles(system);
    struct range range;
    while (worker_claim(worker, tiles.end - tiles.first, 1, &range)) {
        const size_t tile = tiles.first + range.first;
        system->chunk_sums[tile][0] = system->kernels->packed_forces(
            system, tile,
            powers_of_part(system, powers && measures_tile(system, tile),
                           system->power_parts.packed + tile));
    }
    if (plan->packed.tile_count > 0)
        worker_barrier(worker);
}

const struct sweep *REAL_NAME(sweep_of_tile)(const struct sweeps *sweeps, uint64_t *tile)
{
    size_t grid = find_interval(&sweeps->items->tiling.first_tile, sizeof *sweeps->items,
                                sweeps->count, *tile);
    *tile -= sweeps->items[grid].tiling.first_tile;
    return &sweeps->items[grid];
}

// The arguments of sweeps and reductions of tiles.
struct tiles_task {
    const struct wind_now *wind;
    enum sweep_finish finish;
    bool powers;
};

static bool is_empty(struct range range)
{
    return range.first >= range.end;
}

// Workers claim tiles of all grids one by one.
static void sweep_tiles(struct system *system, const struct tiles_task *task, struct range tiles,
                        const struct worker *worker)
{
    const size_t first_part = system->power_parts.tiles;
    struct range range;
    while (!is_empty(tiles) && worker_claim(worker, tiles.end - tiles.first, 1, &range)) {
        const size_t number = tiles.first + range.first;
        uint64_t tile = number;
        const struct sweep *sweep = REAL_NAME(sweep_of_tile)(system->sweeps, &tile);
        REAL_NAME(sweep_tile)
        (system, sweep, tile, task->wind, task->finish,
         powers_of_part(system, task->powers, first_part + 2 * number), worker);
        if (system->exchange && worker->index == 0)
            REAL_NAME(exchange_proceed)(system->exchange);
    }
}

// On several ranks: sweeps half of the tiles inside while the halo arrives, then the tiles at the
// end, and the other half while their contributions are under way.
static void sweep_part(struct system *system, const struct tiles_task *task,
                       const struct worker *worker)
{
    const struct range tiles = grid_tiles(system);
    const size_t last = (size_t)REAL_NAME(exchange_borders)(system).first_last;
    const size_t middle = tiles.first + (last - tiles.first) / 2;
    sweep_tiles(system, task, (struct range){tiles.first, middle}, worker);
    stage_end(&system->clock, STAGE_SPRINGS, worker);
    if (!exchange_halo_is_early(system))
        REAL_NAME(exchange_halo_end)(system, worker);
    sweep_tiles(system, task, (struct range){last, tiles.end}, worker);
    stage_end(&system->clock, STAGE_SPRINGS, worker);
    REAL_NAME(exchange_contributions_start)(system, worker);
    sweep_tiles(system, task, (struct range){middle, last}, worker);
}

void REAL_NAME(springs_sweep)(struct system *system, const struct wind_now *wind,
                              enum sweep_finish finish, bool powers, const struct worker *worker)
{
    const struct tiles_task task = {wind, finish, powers};
    if (system->exchange)
        sweep_part(system, &task, worker);
    else
        sweep_tiles(system, &task, grid_tiles(system), worker);
    stage_end(&system->clock, STAGE_SPRINGS, worker);
}

static void reduce_tiles(struct system *system, const struct tiles_task *task, struct range tiles,
                         const struct worker *worker)
{
    const size_t first_part = system->power_parts.tiles;
    struct range range;
    while (!is_empty(tiles) && worker_claim(worker, tiles.end - tiles.first, 1, &range)) {
        const size_t number = tiles.first + range.first;
        uint64_t tile = number;
        const struct sweep *sweep = REAL_NAME(sweep_of_tile)(system->sweeps, &tile);
        REAL_NAME(reduce_tile)
        (system, sweep, tile, task->finish,
         powers_of_part(system, task->powers, first_part + 2 * number + 1), worker);
    }
}

void REAL_NAME(springs_reduce)(struct system *system, enum sweep_finish finish, bool powers,
                               const struct worker *worker)
{
    const struct tiles_task task = {NULL, finish, powers};
    struct range tiles = grid_tiles(system);
    if (system->exchange) { // first those to which no other rank contributes
        const size_t first = (size_t)REAL_NAME(exchange_borders)(system).end_first;
        reduce_tiles(system, &task, (struct range){first, tiles.end}, worker);
        worker_barrier(worker);
        REAL_NAME(exchange_contributions_end)(system, worker);
        tiles.end = first;
    }
    reduce_tiles(system, &task, tiles, worker);
}

// ---- Blocks of a colour

void REAL_NAME(run_coloured)(const struct system *system, const struct plan_set *set,
                             block_kernel kernel, const void *argument, const struct worker *worker)
{
    for (int colour = 0; colour < set->colour_count; colour++) {
        uint32_t first = set->colour_start[colour];
        struct range range;
        while (worker_claim(worker, set->colour_start[colour + 1] - first, 1, &range))
            kernel(system, argument, set->blocks[first + range.first]);
        worker_barrier(worker);
    }
    uint32_t overflow = set->colour_start[set->colour_count];
    if (overflow == set->block_count)
        return;
    if (worker->index == 0)
        for (uint32_t b = overflow; b < set->block_count; b++)
            kernel(system, argument, set->blocks[b]);
    worker_barrier(worker);
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

// ---- Iteration over springs

bool REAL_NAME(springs_next_on_grid)(struct spring_walk *walk, struct spring_view *view)
{
    const struct system *system = walk->system;
    const struct plan *plan = system->plan;
    const struct topology *topology = system->topology;
    const struct state *s = system->state;
    uint64_t begin = plan->springs.element_count; // index of the grid's first spring
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

// ---- Visits by node

struct range REAL_NAME(springs_outside_rows)(const struct system *system)
{
    const struct plan *plan = system->plan;
    struct range range = {0, 0};
    for (size_t i = 0; i < plan->off_grid_count; i++) {
        const struct plan_nodes *run = &plan->off_grid[i];
        size_t first = (size_t)run->first, end = first + (size_t)run->count;
        if (range.end == range.first)
            range = (struct range){first, end};
        range.first = first < range.first ? first : range.first;
        range.end = end > range.end ? end : range.end;
    }
    return range;
}

// Visits the springs at a node of a grid that is described by directions: for each direction the
// spring that ends at the node and the one that starts there.
static void visit_directions(const struct system *system, const struct plan_grid *grid,
                             uint64_t node, spring_callback visit, void *context)
{
    const struct topology_body *body = &system->topology->bodies[grid->body];
    for (size_t d = 0; d < body->direction_count; d++) {
        const struct direction *direction =
            &system->topology->directions[body->first_direction + d];
        uint64_t own = node - body->first_node, index;
        for (int back = 1; back >= 0; back--) {
            uint64_t apart = back ? (uint64_t)direction->offset : 0;
            if (own < apart || !direction_find(direction, own - apart, &index))
                continue;
            uint64_t left = direction->count[0];
            const uint32_t material = direction_material(direction, index, &left);
            index += direction->first_spring;
            if (!grid->stateful ||
                !spring_is_broken(system, (size_t)(grid->first_state_index + index)))
                visit(context, body->first_spring + index, &system->constants->material[material]);
        }
    }
}

// The springs at a node of a grid whose springs are listed.
static void visit_listed(const struct system *system, const struct topology_body *body,
                         uint64_t node, spring_callback visit, void *context)
{
    const struct topology *topology = system->topology;
    for (uint64_t i = 0; i < body->spring_count; i++) {
        const uint64_t listed = body->first_listed + i;
        const uint32_t *ends = topology->springs[listed];
        if (ends[0] == node || ends[1] == node)
            visit(context, body->first_spring + i,
                  &system->constants->material[topology_listed_material(topology, listed)]);
    }
}

void REAL_NAME(springs_visit_node)(const struct system *system, uint64_t node,
                                   spring_callback visit, void *context)
{
    const struct constants *constants = system->constants;
    const struct plan_nodes near = plan_listed_near(system->topology, system->plan, node);
    for (uint64_t i = near.first; i < near.first + near.count; i++) {
        const uint32_t *ends = constants->spring_nodes[i];
        if ((ends[0] == node || ends[1] == node) && !spring_is_broken(system, (size_t)i))
            visit(context, plan_element(&system->plan->springs, i),
                  spring_material(system, (size_t)i));
    }
    size_t index = topology_body_of_node(system->topology, node);
    const struct topology_body *body = &system->topology->bodies[index];
    const struct plan_grid *grid = plan_grid_of_body(system->plan, index);
    if (grid && body->direction_count)
        visit_directions(system, grid, node, visit, context);
    else if (grid)
        visit_listed(system, body, node, visit, context);
}
