// What the vector kernel needs of springs in coloured blocks (--kernel coloured). The springs of a
// block, in the plan's order, are cut into groups: consecutive springs of which no two share a
// node. So a register of them gathers, computes and scatters without conflicts, a group needs no
// mask, and every node receives its contributions in the order of the plan, whatever a register
// holds.
//
// A block works on records of its own nodes, copied there first and their forces back at the end,
// so that springs name their nodes by 16 bits and everything that they touch stays in a cache.
// Blocks that touch more nodes than there is space for have no records: the plain loops compute
// them.
#ifndef TAUT_SPRINGS_LISTED_PLAN_COLOURED_H
#define TAUT_SPRINGS_LISTED_PLAN_COLOURED_H

#include "springs/listed/plan.h"

enum {
    COLOURED_LOCAL_MAX = 4096, // nodes that a block has records of, at most
    COLOURED_SCALE = 4,        // of the numbers in `ends`: reals of a record of 4
};

// In the order of the blocks of the set.
struct coloured_block {
    uint64_t first_group;
    uint64_t first_local; // its nodes, ascending, begin here
    uint32_t group_count;
    uint32_t local_count; // 0: more than COLOURED_LOCAL_MAX, and no groups
    bool damped;          // some spring is: records hold velocities
};

struct plan_coloured {
    struct coloured_block *blocks;
    uint64_t block_count; // 0: springs are computed otherwise
    // Group g has springs [group_start[g], group_start[g + 1]) of the plan; length group_count + 1.
    // Groups of blocks without records are empty.
    uint64_t *group_start;
    uint64_t group_count;
    uint32_t *locals; // nodes
    uint64_t local_count;
    uint16_t *ends[2]; // COLOURED_SCALE times the number of a record, of each spring of the plan
    uint64_t spring_count, plain_springs; // the latter in blocks without records
};

// Makes it from a finished set of springs. What it allocated stays in it after a failure, too.
taut_status plan_coloured_make(const struct topology *topology, const struct plan_set *springs,
                               const taut_allocator *allocator, struct plan_coloured *coloured,
                               taut_error *error);

// Updates which blocks have damped springs, after the damping of materials has changed.
void plan_coloured_find_damped(const struct topology *topology, const struct plan_set *springs,
                               struct plan_coloured *coloured);

void plan_coloured_free(const taut_allocator *allocator, struct plan_coloured *coloured);
uint64_t plan_coloured_bytes(const struct plan_coloured *coloured);

// Proves that groups cover the springs of their block in order, that no two springs of a group
// share a node, and that every end is a record of its node.
taut_status plan_coloured_check(const struct topology *topology, const struct plan_set *springs,
                                const struct plan_coloured *coloured, taut_error *error);

#endif
