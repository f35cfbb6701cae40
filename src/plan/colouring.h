// Colours blocks of elements (springs, faces: any number of nodes each) so that two blocks of one
// colour share no node. Blocks of one colour may then scatter to their nodes at the same time
// without locks, and every node receives its contributions in the order of the colours, whatever
// the number of threads.
#ifndef TAUT_PLAN_COLOURING_H
#define TAUT_PLAN_COLOURING_H

#include <stdint.h>

#include "base/status.h"

// Colours per set: one bit each in a node's mask.
enum { COLOURS_MAX = 64 };

// The colour of a block that no colour was free for; such blocks run one after the other.
enum { COLOUR_NONE = COLOURS_MAX };

// Elements as a flat list of node numbers, `arity` an element; a node number of UINT32_MAX is no
// node. Block b has the elements order[block_start[b]] .. order[block_start[b + 1] - 1].
struct colouring_problem {
    const uint32_t *nodes;
    int arity;
    uint64_t node_count;
    const uint32_t *order;
    const uint64_t *block_start;
    uint32_t block_count;
    int colours_allowed; // 1 .. COLOURS_MAX
};

// Greedy, in block order: the lowest colour that none of the block's nodes has seen. Deterministic.
// colours[b] is 0 .. *colour_count - 1 or COLOUR_NONE.
taut_status colour_blocks(const struct colouring_problem *problem, uint8_t *colours,
                          int *colour_count, taut_error *error);

#endif
