#include "plan/colouring.h"

#include "base/memory.h"

// The union of the masks of all nodes of a block.
static uint64_t mask_of_block(const struct colouring_problem *problem, uint32_t block,
                              const uint64_t *masks)
{
    uint64_t seen = 0;
    for (uint64_t i = problem->block_start[block]; i < problem->block_start[block + 1]; i++) {
        const uint32_t *nodes = problem->nodes + (size_t)problem->order[i] * (size_t)problem->arity;
        for (int corner = 0; corner < problem->arity; corner++)
            if (nodes[corner] != UINT32_MAX)
                seen |= masks[nodes[corner]];
    }
    return seen;
}

static void mark_block(const struct colouring_problem *problem, uint32_t block, int colour,
                       uint64_t *masks)
{
    uint64_t bit = UINT64_C(1) << colour;
    for (uint64_t i = problem->block_start[block]; i < problem->block_start[block + 1]; i++) {
        const uint32_t *nodes = problem->nodes + (size_t)problem->order[i] * (size_t)problem->arity;
        for (int corner = 0; corner < problem->arity; corner++)
            if (nodes[corner] != UINT32_MAX)
                masks[nodes[corner]] |= bit;
    }
}

static int lowest_free(uint64_t seen, int allowed)
{
    for (int colour = 0; colour < allowed; colour++)
        if (!(seen >> colour & 1))
            return colour;
    return COLOUR_NONE;
}

taut_status colour_blocks(const struct colouring_problem *problem, uint8_t *colours,
                          int *colour_count, taut_error *error)
{
    size_t nodes = (size_t)problem->node_count;
    uint64_t *masks = memory_allocate(NULL, nodes, sizeof *masks);
    if (!masks)
        return fail_memory(error, "colouring");
    *colour_count = 0;
    for (uint32_t block = 0; block < problem->block_count; block++) {
        int colour = lowest_free(mask_of_block(problem, block, masks), problem->colours_allowed);
        colours[block] = (uint8_t)colour;
        if (colour == COLOUR_NONE)
            continue;
        mark_block(problem, block, colour, masks);
        if (colour + 1 > *colour_count)
            *colour_count = colour + 1;
    }
    memory_release(NULL, masks, nodes, sizeof *masks);
    return TAUT_OK;
}
