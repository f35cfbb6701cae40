#include "plan/blocks.h"

#include "base/memory.h"
#include "plan/colouring.h"
#include "plan/spread.h"

_Static_assert(sizeof((struct plan_set *)0)->colour_start / sizeof(uint32_t) == COLOURS_MAX + 2,
               "one start a colour, one for the tail, one for the end");

static uint32_t tile_of(const struct elements *elements, uint64_t element, uint32_t tile_nodes)
{
    const uint32_t *nodes = elements->nodes + element * (size_t)elements->arity;
    uint32_t lowest = nodes[0];
    for (int corner = 1; corner < elements->arity; corner++)
        if (nodes[corner] < lowest)
            lowest = nodes[corner];
    return lowest / tile_nodes;
}

// Counting sort by tile; inside a tile the builder's order stays. starts has tile_count + 1
// entries.
static void sort_by_tile(const struct elements *elements, uint32_t tile_nodes, uint32_t tile_count,
                         uint32_t *order, uint64_t *starts)
{
    for (uint64_t i = 0; i < elements->count; i++)
        starts[tile_of(elements, i, tile_nodes) + 1]++;
    for (uint32_t tile = 0; tile < tile_count; tile++)
        starts[tile + 1] += starts[tile];
    for (uint64_t i = 0; i < elements->count; i++)
        order[starts[tile_of(elements, i, tile_nodes)]++] = (uint32_t)i;
    for (uint32_t tile = tile_count; tile > 0; tile--)
        starts[tile] = starts[tile - 1];
    starts[0] = 0;
}

// Writes the order anew, colour by colour, and makes the blocks; empty tiles give none.
static void gather_colours(const uint32_t *sorted, const uint64_t *starts, const uint8_t *colours,
                           uint32_t tile_count, struct plan_set *set)
{
    uint64_t placed = 0;
    uint32_t blocks = 0;
    for (int colour = 0; colour <= set->colour_count; colour++) {
        set->colour_start[colour] = blocks;
        int wanted = colour < set->colour_count ? colour : COLOUR_NONE;
        for (uint32_t tile = 0; tile < tile_count; tile++) {
            uint64_t count = starts[tile + 1] - starts[tile];
            if (colours[tile] != wanted || count == 0)
                continue;
            set->blocks[blocks++] = (struct plan_block){placed, count};
            for (uint64_t i = 0; i < count; i++)
                set->order[placed + i] = sorted[starts[tile] + i];
            placed += count;
        }
    }
    set->colour_start[set->colour_count + 1] = blocks;
    set->block_count = blocks;
}

static void reference_set(struct plan_set *set)
{
    for (uint64_t i = 0; set->order && i < set->element_count; i++)
        set->order[i] = (uint32_t)i;
    set->block_count = set->element_count ? 1 : 0;
    set->blocks[0] = (struct plan_block){0, set->element_count};
    set->colour_count = (int)set->block_count;
    set->colour_start[1] = set->colour_start[2] = set->block_count;
}

static taut_status coloured_set(const struct elements *elements, const struct plan_options *options,
                                uint32_t tile_nodes, uint32_t tile_count, struct plan_set *set,
                                taut_error *error)
{
    size_t count = (size_t)elements->count;
    uint32_t *sorted = memory_allocate(NULL, count, sizeof *sorted);
    uint64_t *starts = memory_allocate(NULL, (size_t)tile_count + 1, sizeof *starts);
    uint8_t *colours = memory_allocate(NULL, tile_count, sizeof *colours);
    taut_status status = TAUT_OK;
    if (!sorted || !starts || !colours) {
        status = fail_memory(error, "the plan");
    } else {
        sort_by_tile(elements, tile_nodes, tile_count, sorted, starts);
        struct colouring_problem problem = {
            elements->nodes, elements->arity, elements->node_count,    sorted,
            starts,          tile_count,      options->colours_allowed};
        if (problem.colours_allowed <= 0 || problem.colours_allowed > COLOURS_MAX)
            problem.colours_allowed = COLOURS_MAX;
        status = colour_blocks(&problem, colours, &set->colour_count, error);
        if (status == TAUT_OK)
            gather_colours(sorted, starts, colours, tile_count, set);
        if (status == TAUT_OK && elements->spread)
            status = spread_blocks(elements, set, error);
    }
    memory_release(NULL, sorted, count, sizeof *sorted);
    memory_release(NULL, starts, (size_t)tile_count + 1, sizeof *starts);
    memory_release(NULL, colours, tile_count, sizeof *colours);
    return status;
}

taut_status plan_set_make(const struct elements *elements, const struct plan_options *options,
                          const struct plan *plan, struct plan_set *set, taut_error *error)
{
    if (elements->count > UINT32_MAX)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "%llu springs or faces that are no regular grid; at most %lu yet",
                    (unsigned long long)elements->count, (unsigned long)UINT32_MAX);
    uint32_t tile_count = (uint32_t)(elements->node_count / plan->tile_nodes) + 1;
    set->element_count = elements->count;
    set->block_capacity = options->reference ? 1 : tile_count;
    if (!elements->in_order)
        set->order = memory_allocate(plan->allocator, (size_t)elements->count, sizeof *set->order);
    set->blocks = memory_allocate(plan->allocator, set->block_capacity, sizeof *set->blocks);
    if (!(set->order || elements->in_order) || !set->blocks)
        return fail_memory(error, "the plan");
    if (options->reference) {
        reference_set(set);
    } else {
        taut_status status =
            coloured_set(elements, options, plan->tile_nodes, tile_count, set, error);
        if (status != TAUT_OK)
            return status;
    }
    for (uint64_t i = 0; elements->numbers && set->order && i < elements->count; i++)
        set->order[i] = elements->numbers[set->order[i]];
    return TAUT_OK;
}

void plan_set_free(const taut_allocator *allocator, struct plan_set *set)
{
    memory_release(allocator, set->order, (size_t)set->element_count, sizeof *set->order);
    memory_release(allocator, set->blocks, set->block_capacity, sizeof *set->blocks);
}
