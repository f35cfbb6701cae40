// Which springs a node has: each spring seen from both of its ends.
#ifndef TAUT_SPRINGS_PACKED_PLAN_NODE_SPRINGS_H
#define TAUT_SPRINGS_PACKED_PLAN_NODE_SPRINGS_H

#include "springs/plan.h"
#include "topology/topology.h"

// A spring as one of its ends sees it.
struct node_spring {
    uint32_t material, other;
    uint32_t index; // into the plan's springs
};

// The springs of consecutive nodes, node by node, those of a node sorted by material and then by
// the other end.
struct node_springs {
    uint64_t first_node, node_count;
    uint64_t first_spring, spring_count; // of the plan's, of the bodies of these nodes
    uint64_t *start;                     // length node_count + 1
    struct node_spring *items;           // one for each end of a spring
    uint64_t item_count;
    struct node_span *spans; // of node_springs_find: the nodes of SPAN_SPRINGS springs each,
    uint64_t first_spanned, spanned_count; // from one to the last of so many
};

enum { SPAN_SPRINGS = 2048 };

struct node_span {
    uint32_t least, most;
};

// Frees everything, and forgets the nodes and springs.
void node_springs_free(struct node_springs *springs);

// Lists the springs of the nodes whose numbers `springs` has, among the springs whose numbers it
// has. False without memory.
bool node_springs_list(const struct topology *topology, const struct plan *plan,
                       struct node_springs *springs);

// Lists the springs of nodes [first, end) at least, and of others that follow: some 260,000 springs
// at a time, since the springs of all nodes at once would be the most memory that a scene ever
// takes. Lists that are absent are loaded before (`choice`). False without memory, or if that
// fails: then *status is not TAUT_OK.
bool node_springs_find(const struct topology *topology, const struct plan *plan,
                       const struct packed_choice *choice, uint64_t first, uint64_t end,
                       struct node_springs *springs, taut_status *status, taut_error *error);

#endif
