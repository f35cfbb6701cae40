// The plan of listed elements, springs or faces, in coloured blocks. Elements are sorted by the
// tile of nodes that contains their lowest node; the elements of each tile form a block. Two blocks
// of one colour share no node, so they may scatter to their nodes at the same time without locks,
// and every node receives its contributions in the order of the colours, whatever the number of
// threads. Blocks of one colour are stored together, so that a kernel receives a block and never
// sees a colour. springs/plan.c decides which elements are listed; plan_coloured.h adds what the
// vector kernel needs.
#ifndef TAUT_SPRINGS_LISTED_PLAN_H
#define TAUT_SPRINGS_LISTED_PLAN_H

#include "topology/topology.h"

// Colours per set: each is a bit of a node's mask.
enum { COLOURS_MAX = 64 };

// Elements [first, first + count) of the plan's order.
struct plan_block {
    uint64_t first;
    uint64_t count;
    uint64_t number; // among the blocks of its set
};

// The order of the springs, or of the faces, that are in blocks.
struct plan_set {
    uint64_t element_count;
    uint32_t *order; // order[i]: the topology's number of the i-th element; NULL: i
    struct plan_block *blocks;
    uint32_t block_count, block_capacity;
    // Blocks [colour_start[c], colour_start[c + 1]) have colour c and may run concurrently. The
    // overflow, blocks [colour_start[colour_count], block_count), are those for which no colour was
    // free; they run last, one after another.
    uint32_t colour_start[COLOURS_MAX + 2];
    int colour_count;
};

// The topology's number of the i-th element of the plan.
static inline uint32_t plan_element(const struct plan_set *set, uint64_t i)
{
    return set->order ? set->order[i] : (uint32_t)i;
}

// The elements that go into blocks: `arity` nodes each, UINT32_MAX for a missing node.
struct elements {
    const uint32_t *nodes;
    int arity;
    uint64_t count;
    uint64_t node_count;
    const uint32_t *numbers; // the topology's number of each; NULL: its index here
    bool in_order;           // the order stays as it is and is not stored
    bool by_rounds;          // sort blocks so that consecutive elements share no node
};

struct set_options {
    const taut_allocator *allocator;
    uint32_t tile_nodes;
    bool reference;      // one block, in the order of the elements
    int colours_allowed; // 0: COLOURS_MAX
};

// Fills the set. After a failure the set owns whatever was allocated.
taut_status plan_set_make(const struct elements *elements, const struct set_options *options,
                          struct plan_set *set, taut_error *error);

void plan_set_free(const taut_allocator *allocator, struct plan_set *set);

#endif
