// Lists of nodes that ranks send each other in every round of messages: the nodes of others that a
// rank wants, and its own nodes that others have asked for; also lists of boxes of halo
// contributions, which exchange.c sends itself. Numeric.
#ifndef TAUT_SPRINGS_NODE_LISTS_H
#define TAUT_SPRINGS_NODE_LISTS_H

#include "springs/plan_parts.h"
#include "state/system.h"

// Numbers to and from one rank: nodes, or boxes of halo contributions.
struct node_lists {
    uint64_t (**sent)[2], (**received)[2]; // by rank: pairs (first, count), or (tile, box)
    size_t *sent_counts, *received_counts; // pairs
    struct ranks_messages *messages;
    unsigned placed;            // which of them have no buffers (enum ranks_placed)
    struct ranks_piece *pieces; // then: scratch, for the greatest number of pieces of a message
};

// False without memory; not collective.
bool REAL_NAME(node_lists_begin)(struct node_lists *lists);
void REAL_NAME(node_lists_free)(struct node_lists *lists);

// Adds a pair that is wanted from a rank, or nodes that are wanted from their owners; false without
// memory.
bool REAL_NAME(node_lists_want_pair)(struct node_lists *lists, int rank, uint64_t first,
                                     uint64_t second);
bool REAL_NAME(node_lists_want)(struct node_lists *lists, const struct plan_parts *parts,
                                struct plan_nodes nodes);

// Tells the owners what is wanted from them. False on all ranks if one has not enough memory.
// Collective.
bool REAL_NAME(node_lists_swap)(struct node_lists *lists);

// Makes the messages, of so many numbers for each node; `boxes`: of this plan, NULL: pairs are
// nodes. `tag` as for ranks_messages_make; `placed` too, but messages of very many pieces, one for
// each pair and number, have buffers: what is received is then read from them at the end of a round
// instead of at its start, and what is sent may change once a round has started. False without
// memory; not collective.
bool REAL_NAME(node_lists_connect)(struct node_lists *lists, const struct plan *boxes,
                                   size_t numbers, int tag, unsigned placed);

// Arrays of all nodes, or from node `first` on.
enum { NODE_FIELDS_MAX = 20 };
struct node_fields {
    real *arrays[NODE_FIELDS_MAX];
    size_t count;
    uint64_t first;
};

// A round: sends the nodes that others want, and sets those of others to what their owners have
// sent; without buffers (placed) at any time between both calls. Called by worker 0 alone.
void REAL_NAME(node_lists_send)(const struct node_lists *lists, const struct node_fields *fields);
void REAL_NAME(node_lists_receive)(const struct node_lists *lists,
                                   const struct node_fields *fields);

#endif
