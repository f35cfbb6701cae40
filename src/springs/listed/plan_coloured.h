// The plan of the vector kernel of springs in coloured blocks (--kernel coloured), in addition to
// plan.h. The springs of a block, in the plan's order, are divided into groups: consecutive springs
// of which no two share a node. So a register of them gathers, computes and scatters without
// conflicts or masks, and every node receives its contributions in the order of the plan, whatever
// the width of a register.
//
// A block works on records of its own nodes, which are filled first, and whose forces are copied
// back at the end, so that springs refer to their nodes by 16 bits and everything that they access
// stays in a cache. Blocks with more nodes than there is space for have no records; the plain loop
// computes them.
#ifndef TAUT_SPRINGS_LISTED_PLAN_COLOURED_H
#define TAUT_SPRINGS_LISTED_PLAN_COLOURED_H

#include "springs/listed/plan.h"

enum {
    COLOURED_LOCAL_MAX = 4096, // records of a block at most
    COLOURED_SCALE = 4,        // factor in `ends`: reals of a record of positions or forces
};

// One for each block of the set, in the same order.
struct coloured_block {
    uint64_t first_group;
    uint64_t first_local; // index of its first node in `locals`; its nodes ascend
    uint32_t group_count;
    uint32_t local_count; // 0: more than COLOURED_LOCAL_MAX nodes, and no groups
    bool damped;          // some spring is damped, so records hold velocities
};

struct plan_coloured {
    struct coloured_block *blocks;
    uint64_t block_count; // 0: springs have another kernel
    // Group g has springs [group_start[g], group_start[g + 1]) of the plan; length group_count + 1.
    // Groups of blocks without records are empty.
    uint64_t *group_start;
    uint64_t group_count;
    uint32_t *locals; // nodes
    uint64_t local_count;
    uint16_t *ends[2]; // for each spring of the plan, COLOURED_SCALE times the numbers of records
    uint64_t spring_count, plain_springs; // the latter in blocks without records
};

// Makes the plan from a finished set of springs. After a failure it owns whatever was allocated.
taut_status plan_coloured_make(const struct topology *topology, const struct plan_set *springs,
                               const taut_allocator *allocator, struct plan_coloured *coloured,
                               taut_error *error);

// Updates which blocks have damped springs, after the damping of materials has changed.
void plan_coloured_find_damped(const struct topology *topology, const struct plan_set *springs,
                               struct plan_coloured *coloured);

void plan_coloured_free(const taut_allocator *allocator, struct plan_coloured *coloured);
uint64_t plan_coloured_bytes(const struct plan_coloured *coloured);

// Checks that groups cover the springs of their block in order, that no two springs of a group
// share a node, and that every end is a record of the right node.
taut_status plan_coloured_check(const struct topology *topology, const struct plan_set *springs,
                                const struct plan_coloured *coloured, taut_error *error);

#endif
