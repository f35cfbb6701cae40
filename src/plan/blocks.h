// One sort of elements, springs or faces, sorted into coloured blocks.
#ifndef TAUT_PLAN_BLOCKS_H
#define TAUT_PLAN_BLOCKS_H

#include "plan/plan.h"

// The elements that go into blocks: `arity` nodes each, UINT32_MAX where there is none.
struct elements {
    const uint32_t *nodes;
    int arity;
    uint64_t count;
    uint64_t node_count;
    const uint32_t *numbers; // the topology's number of each; NULL: they are counted as here
    bool in_order;           // they are wanted in that order, without a list of it
    bool spread;             // neighbours in a block are to share no node (spread.h)
};

// Fills the set; what it allocated stays in it after a failure, too.
taut_status plan_set_make(const struct elements *elements, const struct plan_options *options,
                          const struct plan *plan, struct plan_set *set, taut_error *error);

void plan_set_free(const taut_allocator *allocator, struct plan_set *set);

#endif
