#include "cli/body_plan.h"

#include <stdlib.h>

#include "plan/colouring.h"

// The colour of a block; colour_count for the serial tail.
static int colour_of(const struct plan_set *set, uint32_t block)
{
    int colour = 0;
    while (colour < set->colour_count && block >= set->colour_start[colour + 1])
        colour++;
    return colour;
}

// What is remembered of a body while the blocks go by.
struct tally {
    uint64_t colours; // a bit each; there are 64 at most
    uint32_t block;   // the last that counted, plus 1
};

static void count_block(const struct topology *topology, const struct plan_set *set, uint32_t block,
                        struct tally *tallies, struct body_plan *plans)
{
    const struct plan_block *range = &set->blocks[block];
    int colour = colour_of(set, block);
    for (uint64_t i = range->first; i < range->first + range->count; i++) {
        size_t body = topology_body_of_spring(topology, set->order[i]);
        if (tallies[body].block == block + 1)
            continue;
        tallies[body].block = block + 1;
        plans[body].tiles++;
        if (colour == set->colour_count) {
            plans[body].serial++;
        } else if (!(tallies[body].colours >> colour & 1)) {
            tallies[body].colours |= UINT64_C(1) << colour;
            plans[body].colours++;
        }
    }
}

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

static void count_packed(const struct topology *topology, const struct plan_packed *packed,
                         struct body_plan *plans)
{
    for (uint64_t t = 0; t < packed->tile_count; t++) {
        const struct packed_tile *tile = &packed->tiles[t];
        size_t last = topology_body_of_node(topology, tile->first_node + tile->node_count - 1);
        for (size_t b = topology_body_of_node(topology, tile->first_node); b <= last; b++) {
            plans[b].tiles++;
            plans[b].colours = 1;
        }
        for (uint64_t i = 0; i < tile->slice_count; i++) {
            uint64_t done = i * PACKED_LANES, left = tile->node_count - done;
            count_slice(topology, packed, tile->first_slice + i, tile->first_node + done,
                        left < PACKED_LANES ? left : PACKED_LANES, plans);
        }
    }
    for (uint64_t i = 0; i < packed->late_count; i++)
        plans[topology_body_of_node(topology, packed->late[i].node)].late++;
}

struct body_plan *body_plans_make(const taut_solver *solver)
{
    size_t bodies = solver->topology->body_count;
    struct body_plan *plans = calloc(bodies + 1, sizeof *plans);
    struct tally *tallies = calloc(bodies + 1, sizeof *tallies);
    if (!plans || !tallies) {
        free(plans);
        free(tallies);
        return NULL;
    }
    const struct plan_set *set = &solver->plan->springs;
    if (solver->plan->packs)
        count_packed(solver->topology, &solver->plan->packed, plans);
    for (uint32_t block = 0; !solver->plan->packs && block < set->block_count; block++)
        count_block(solver->topology, set, block, tallies, plans);
    free(tallies);
    return plans;
}
