// The nodes and springs of other ranks around some nodes of a rank that holds only its part, for
// bounds of the step and for frames. Numeric.
#ifndef TAUT_SPRINGS_AROUND_H
#define TAUT_SPRINGS_AROUND_H

#include "base/sort.h"
#include "springs/node_lists.h"

struct around {
    struct node_lists nodes, springs;
    struct node_lists weighted; // those of `nodes` that are in divided bodies
};

// The nodes of a body among `nodes`; an empty range at its first node if there are none.
static inline struct range body_nodes_within(const struct topology_body *body, struct range nodes)
{
    const uint64_t end = body->first_node + body->node_count;
    const uint64_t first = max_u64(body->first_node, nodes.first), last = min_u64(end, nodes.end);
    const size_t begin = (size_t)(first < last ? first : body->first_node);
    return (struct range){begin, first < last ? (size_t)last : begin};
}

// Whether there are any.
static inline bool body_has_nodes(const struct topology_body *body, struct range nodes)
{
    const struct range within = body_nodes_within(body, nodes);
    return within.first < within.end;
}

// Whether springs have states, which are wanted with the nodes at their ends.
static inline bool around_has_springs(const struct system *system)
{
    return system->topology->any_breaks || system->topology->any_yields;
}

// Lists what bounds of the step need at the nodes for which this rank finds them, and fills the
// masses of these nodes. Bodies on no grid that are not divided are listed with all of their nodes.
// False without memory; not collective.
bool REAL_NAME(around_find_reach)(const struct system *system, const struct plan_parts *parts,
                                  const struct plan_part *part, struct around *around);

// Likewise lists what is around these nodes of grids, and around those nodes of divided bodies
// whose builders' numbers are in `list`.
bool REAL_NAME(around_find)(const struct system *system, const struct plan_parts *parts,
                            const struct plan_part *part, struct range nodes, const uint64_t *list,
                            uint64_t count, struct around *around);

#endif
