// Sorts listed elements into blocks, colours the blocks, and sorts the elements inside each
// (plan.h).
#include "springs/listed/plan.h"

#include <assert.h>
#include <string.h>

#include "base/sort.h"
#include "base/memory.h"

// ---- Colours

// The colour of a block for which no colour was free; such blocks run one after another.
enum { COLOUR_NONE = COLOURS_MAX };

// Elements as a flat list of node numbers, `arity` per element; UINT32_MAX is no node. Block b has
// the elements order[block_start[b]] .. order[block_start[b + 1] - 1].
struct colouring_problem {
    const uint32_t *nodes;
    int arity;
    uint64_t node_count;
    const uint32_t *order;
    const uint64_t *block_start;
    uint32_t block_count;
    int colours_allowed; // 1 .. COLOURS_MAX
};

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

// Adds a colour to the masks of all nodes of a block.
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

// Greedy colouring in the order of the blocks: each gets the lowest colour that none of its nodes
// has. Deterministic. colours[b] is 0 .. *colour_count - 1 or COLOUR_NONE.
static taut_status colour_blocks(const struct colouring_problem *problem, uint8_t *colours,
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

// ---- Order inside a block
//
// Constraints are solved one after another, so that each changes what the next one reads. If they
// were sorted by their lower nodes, consecutive ones would share a node, and the processor, which
// can overlap independent elements, would wait for each. Elements are therefore sorted by rounds:
// those of one round share no node and keep their order. Elements for which none of the 64 rounds
// is free come last.

// As many as a mask has bits; the last round also gets the elements for which none is free.
enum { ROUNDS = 64 };

struct round_sort {
    const struct elements *elements;
    uint64_t *masks;  // for each node, the rounds of its elements, as bits
    uint8_t *rounds;  // the round of each element of the block
    uint32_t *sorted; // the block's elements
};

static const uint32_t *nodes_of(const struct round_sort *it, uint32_t element)
{
    return it->elements->nodes + (size_t)element * (size_t)it->elements->arity;
}

static int free_round(const struct round_sort *it, uint32_t element)
{
    const uint32_t *nodes = nodes_of(it, element);
    uint64_t seen = 0;
    for (int corner = 0; corner < it->elements->arity; corner++)
        seen |= nodes[corner] == UINT32_MAX ? 0 : it->masks[nodes[corner]];
    int round = 0;
    while (round < ROUNDS - 1 && (seen >> round & 1))
        round++;
    return round;
}

// Adds a round to the masks of an element's nodes; bit 0 clears the masks.
static void mark_rounds(struct round_sort *it, uint32_t element, uint64_t bit)
{
    const uint32_t *nodes = nodes_of(it, element);
    for (int corner = 0; corner < it->elements->arity; corner++)
        if (nodes[corner] != UINT32_MAX)
            it->masks[nodes[corner]] = bit ? it->masks[nodes[corner]] | bit : 0;
}

static void sort_block_by_rounds(struct round_sort *it, uint32_t *order, size_t count)
{
    uint64_t starts[ROUNDS + 1] = {0};
    for (size_t i = 0; i < count; i++) {
        int round = free_round(it, order[i]);
        mark_rounds(it, order[i], UINT64_C(1) << round);
        it->rounds[i] = (uint8_t)round;
        starts[round + 1]++;
    }
    counting_sort_starts(starts, ROUNDS);
    for (size_t i = 0; i < count; i++)
        it->sorted[starts[it->rounds[i] + 1]++] = order[i];
    for (size_t i = 0; i < count; i++)
        mark_rounds(it, order[i], 0);
    memcpy(order, it->sorted, count * sizeof *order);
}

static taut_status sort_blocks_by_rounds(const struct elements *elements, struct plan_set *set,
                                         taut_error *error)
{
    size_t most = 0, nodes = (size_t)elements->node_count;
    for (uint32_t block = 0; block < set->block_count; block++)
        most = max_u64(most, (size_t)set->blocks[block].count);
    struct round_sort it = {.elements = elements,
                            .masks = memory_allocate(NULL, nodes, sizeof *it.masks),
                            .rounds = memory_allocate(NULL, most, sizeof *it.rounds),
                            .sorted = memory_allocate(NULL, most, sizeof *it.sorted)};
    bool memory = it.masks && it.rounds && it.sorted;
    for (uint32_t block = 0; block < set->block_count && memory; block++)
        sort_block_by_rounds(&it, set->order + set->blocks[block].first,
                             (size_t)set->blocks[block].count);
    memory_release(NULL, it.masks, nodes, sizeof *it.masks);
    memory_release(NULL, it.rounds, most, sizeof *it.rounds);
    memory_release(NULL, it.sorted, most, sizeof *it.sorted);
    return memory ? TAUT_OK : fail_memory(error, "the plan");
}

// ---- Blocks

static uint32_t tile_of(const struct elements *elements, uint64_t element, uint32_t tile_nodes)
{
    const uint32_t *nodes = elements->nodes + element * (size_t)elements->arity;
    uint32_t lowest = nodes[0];
    for (int corner = 1; corner < elements->arity; corner++)
        if (nodes[corner] < lowest)
            lowest = nodes[corner];
    return lowest / tile_nodes;
}

// Sorts elements by tile, stably. `starts` has tile_count + 1 entries.
static void sort_by_tile(const struct elements *elements, uint32_t tile_nodes, uint32_t tile_count,
                         uint32_t *order, uint64_t *starts)
{
    for (uint64_t i = 0; i < elements->count; i++)
        starts[tile_of(elements, i, tile_nodes) + 1]++;
    counting_sort_starts(starts, tile_count);
    for (uint64_t i = 0; i < elements->count; i++)
        order[starts[tile_of(elements, i, tile_nodes) + 1]++] = (uint32_t)i;
}

// Reorders the tiles colour by colour, and makes a block of each that is not empty.
static void gather_colours(const uint32_t *sorted, const uint64_t *starts, const uint8_t *colours,
                           uint32_t tile_count, struct plan_set *set)
{
    uint64_t done = 0;
    uint32_t blocks = 0;
    for (int colour = 0; colour <= set->colour_count; colour++) {
        set->colour_start[colour] = blocks;
        int wanted = colour < set->colour_count ? colour : COLOUR_NONE;
        for (uint32_t tile = 0; tile < tile_count; tile++) {
            uint64_t count = starts[tile + 1] - starts[tile];
            if (colours[tile] != wanted || count == 0)
                continue;
            set->blocks[blocks] = (struct plan_block){done, count, blocks};
            blocks++;
            for (uint64_t i = 0; i < count; i++)
                set->order[done + i] = sorted[starts[tile] + i];
            done += count;
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
    set->blocks[0] = (struct plan_block){0, set->element_count, 0};
    set->colour_count = (int)set->block_count;
    set->colour_start[1] = set->colour_start[2] = set->block_count;
}

static taut_status coloured_set(const struct elements *elements, const struct set_options *options,
                                uint32_t tile_count, struct plan_set *set, taut_error *error)
{
    size_t count = (size_t)elements->count;
    uint32_t *sorted = memory_allocate(NULL, count, sizeof *sorted);
    uint64_t *starts = memory_allocate(NULL, (size_t)tile_count + 1, sizeof *starts);
    uint8_t *colours = memory_allocate(NULL, tile_count, sizeof *colours);
    taut_status status = TAUT_OK;
    if (!sorted || !starts || !colours) {
        status = fail_memory(error, "the plan");
    } else {
        sort_by_tile(elements, options->tile_nodes, tile_count, sorted, starts);
        struct colouring_problem problem = {
            elements->nodes, elements->arity, elements->node_count,    sorted,
            starts,          tile_count,      options->colours_allowed};
        if (problem.colours_allowed <= 0 || problem.colours_allowed > COLOURS_MAX)
            problem.colours_allowed = COLOURS_MAX;
        status = colour_blocks(&problem, colours, &set->colour_count, error);
        if (status == TAUT_OK)
            gather_colours(sorted, starts, colours, tile_count, set);
        if (status == TAUT_OK && elements->by_rounds)
            status = sort_blocks_by_rounds(elements, set, error);
    }
    memory_release(NULL, sorted, count, sizeof *sorted);
    memory_release(NULL, starts, (size_t)tile_count + 1, sizeof *starts);
    memory_release(NULL, colours, tile_count, sizeof *colours);
    return status;
}

taut_status plan_set_make(const struct elements *elements, const struct set_options *options,
                          struct plan_set *set, taut_error *error)
{
    if (elements->count > UINT32_MAX)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "%llu springs or faces that are no regular grid; at most %lu yet",
                    (unsigned long long)elements->count, (unsigned long)UINT32_MAX);
    uint32_t tile_count = (uint32_t)(elements->node_count / options->tile_nodes) + 1;
    set->element_count = elements->count;
    set->block_capacity = options->reference ? 1 : tile_count;
    if (!elements->in_order)
        set->order =
            memory_allocate(options->allocator, (size_t)elements->count, sizeof *set->order);
    set->blocks = memory_allocate(options->allocator, set->block_capacity, sizeof *set->blocks);
    if (!(set->order || elements->in_order) || !set->blocks)
        return fail_memory(error, "the plan");
    if (options->reference) {
        reference_set(set);
    } else {
        assert(set->order); // only the reference plan keeps the order of the elements
        taut_status status = coloured_set(elements, options, tile_count, set, error);
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
