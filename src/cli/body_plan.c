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
    for (uint32_t block = 0; block < set->block_count; block++)
        count_block(solver->topology, set, block, tallies, plans);
    free(tallies);
    return plans;
}
