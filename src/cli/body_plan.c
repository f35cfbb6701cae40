#include "cli/body_plan.h"

#include <stdlib.h>

// The columns of one slice, of the bodies that its nodes belong to.
static void count_slice(const struct topology *topology, const struct plan_packed *packed,
                        uint64_t slice, uint64_t first_node, uint64_t count,
                        struct body_plan *plans)
{
    uint64_t start = packed->slice_columns[slice], end = packed->slice_columns[slice + 1];
    for (uint64_t lane = 0; lane < count; lane++) {
        struct body_plan *plan = &plans[topology_body_of_node(topology, first_node + lane)];
        plan->lanes += end - start;
        for (uint64_t c = start; c < end; c++)
            plan->filled += packed->columns[c].lanes >> lane & 1;
    }
}

// The bodies that have nodes in a tile, but for those that are grids.
static void count_packed_tile(const struct taut_solver *solver, const struct packed_tile *tile,
                              struct body_plan *plans)
{
    const struct topology *topology = solver->topology;
    size_t last = topology_body_of_node(topology, tile->first_node + tile->node_count - 1);
    for (size_t b = topology_body_of_node(topology, tile->first_node); b <= last; b++)
        if (!plan_grid_of_body(solver->plan, b)) {
            plans[b].tiles++;
            plans[b].colours = 1;
        }
    for (uint64_t i = 0; i < tile->slice_count; i++) {
        uint64_t done = i * PACKED_LANES, left = tile->node_count - done;
        count_slice(topology, &solver->plan->packed, tile->first_slice + i, tile->first_node + done,
                    left < PACKED_LANES ? left : PACKED_LANES, plans);
    }
}

// Blocks of springs as tiles, of the bodies from that of their first spring to that of their last;
// a body's colours are those up to the highest that it has.
static void count_blocks(const struct taut_solver *solver, struct body_plan *plans)
{
    const struct plan_set *set = &solver->plan->springs;
    int colour = 0;
    for (uint32_t block = 0; block < set->block_count; block++) {
        while (colour < set->colour_count && block >= set->colour_start[colour + 1])
            colour++;
        uint64_t first = set->blocks[block].first, last = first + set->blocks[block].count - 1;
        size_t end = topology_body_of_spring(solver->topology, plan_element(set, last));
        for (size_t b = topology_body_of_spring(solver->topology, plan_element(set, first));
             b <= end; b++) {
            plans[b].tiles++;
            plans[b].colours = colour + 1;
        }
    }
}

struct body_plan *body_plans_make(const taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    const struct plan *plan = solver->plan;
    struct body_plan *plans = calloc(topology->body_count + 1, sizeof *plans);
    if (!plans)
        return NULL;
    for (size_t g = 0; g < plan->grid_count; g++) {
        struct body_plan *of_grid = &plans[plan->grids[g].body];
        of_grid->tiles = tiling_tile_count(&plan->grids[g].tiling);
        of_grid->colours = 1;
    }
    for (uint64_t t = 0; t < plan->packed.tile_count; t++)
        count_packed_tile(solver, &plan->packed.tiles[t], plans);
    for (uint64_t i = 0; i < plan->packed.late_count; i++)
        plans[topology_body_of_node(topology, plan->packed.late[i].node)].late++;
    if (!plan->packs && !plan->reference)
        count_blocks(solver, plans);
    for (size_t b = 0; plan->reference && b < topology->body_count; b++)
        plans[b].tiles = plans[b].colours = topology->bodies[b].spring_count > 0;
    return plans;
}
