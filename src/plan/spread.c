#include "plan/spread.h"

#include <string.h>

#include "base/extremes.h"
#include "base/memory.h"

// As many as a mask has bits; the last one takes all that is left over.
enum { ROUNDS = 64 };

struct spreading {
    const struct elements *elements;
    uint64_t *masks;  // of each node: the rounds that its elements are in
    uint8_t *rounds;  // of each element of the block
    uint32_t *sorted; // the block's elements
};

static const uint32_t *nodes_of(const struct spreading *it, uint32_t element)
{
    return it->elements->nodes + (size_t)element * (size_t)it->elements->arity;
}

static int free_round(const struct spreading *it, uint32_t element)
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

static void note(struct spreading *it, uint32_t element, uint64_t bit)
{
    const uint32_t *nodes = nodes_of(it, element);
    for (int corner = 0; corner < it->elements->arity; corner++)
        if (nodes[corner] != UINT32_MAX)
            it->masks[nodes[corner]] = bit ? it->masks[nodes[corner]] | bit : 0;
}

static void spread_block(struct spreading *it, uint32_t *order, size_t count)
{
    size_t starts[ROUNDS + 1] = {0};
    for (size_t i = 0; i < count; i++) {
        int round = free_round(it, order[i]);
        note(it, order[i], UINT64_C(1) << round);
        it->rounds[i] = (uint8_t)round;
        starts[round + 1]++;
    }
    for (int round = 0; round < ROUNDS; round++)
        starts[round + 1] += starts[round];
    for (size_t i = 0; i < count; i++)
        it->sorted[starts[it->rounds[i]]++] = order[i];
    for (size_t i = 0; i < count; i++)
        note(it, order[i], 0);
    memcpy(order, it->sorted, count * sizeof *order);
}

taut_status spread_blocks(const struct elements *elements, struct plan_set *set, taut_error *error)
{
    size_t most = 0, nodes = (size_t)elements->node_count;
    for (uint32_t block = 0; block < set->block_count; block++)
        most = larger(most, (size_t)set->blocks[block].count);
    struct spreading it = {.elements = elements,
                           .masks = memory_allocate(NULL, nodes, sizeof *it.masks),
                           .rounds = memory_allocate(NULL, most, sizeof *it.rounds),
                           .sorted = memory_allocate(NULL, most, sizeof *it.sorted)};
    bool room = it.masks && it.rounds && it.sorted;
    for (uint32_t block = 0; block < set->block_count && room; block++)
        spread_block(&it, set->order + set->blocks[block].first, (size_t)set->blocks[block].count);
    memory_release(NULL, it.masks, nodes, sizeof *it.masks);
    memory_release(NULL, it.rounds, most, sizeof *it.rounds);
    memory_release(NULL, it.sorted, most, sizeof *it.sorted);
    return room ? TAUT_OK : fail_memory(error, "the plan");
}
