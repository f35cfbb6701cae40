// The work that ranks share in linear systems: the rows of products with a matrix, and the vectors
// of its solution. Every rank has the rows of the nodes of its chunks (SUM_CHUNK), so that it adds
// only what it has computed, and no bit depends on the number of ranks.
//
// Ranks that all have the whole scene and compute the same steps share the chunks of all sums too.
// Those that hold only their parts (exchange.h) have the chunks that begin at nodes of theirs: so
// some of a rank's rows are those of nodes of the next rank, and the rank before has the rows of
// its first nodes.
//
// system->shares is set during the steps of several ranks. Without it a process does everything.
// Numeric.
#ifndef TAUT_SPRINGS_SHARES_H
#define TAUT_SPRINGS_SHARES_H

#include "springs/plan_parts.h"
#include "springs/tangent.h"
#include "state/system.h"

// Agrees with the other ranks on what is sent to whom; ends all ranks without memory. Collective.
// `parts`: the nodes that ranks hold; NULL: each holds all.
struct shares *REAL_NAME(shares_make)(const struct system *system, const struct plan_parts *parts);
void REAL_NAME(shares_free)(struct shares *shares);

// The nodes whose rows this rank computes: all of them without other ranks. They begin and end at
// multiples of SUM_CHUNK, or at the last node.
struct range REAL_NAME(shares_rows)(const struct system *system);

// A worker's share of these, cut at multiples of `grain`.
struct range REAL_NAME(shares_rows_of)(const struct system *system, const struct worker *worker,
                                       size_t grain);

// Gives all ranks the vectors of all nodes, or of those that the rank holds, each from the rank
// that has its row. Called by all workers together; begins and ends with a barrier. Does nothing
// without other ranks.
void REAL_NAME(shares_collect)(struct system *system, struct node_vectors vectors,
                               const struct worker *worker);

// The same for the nodes that the rows of each rank read in a product.
void REAL_NAME(shares_collect_read)(struct system *system, struct node_vectors vectors,
                                    const struct worker *worker);

// Where ranks hold only their parts: the first gets the positions of the nodes of others to which
// springs and faces of these rows reach, and their velocities in wind that damps, from their
// owners, for the matrix of products; the second gets vectors of the nodes of rows. Called by all
// workers together; they begin and end with a barrier. They do nothing otherwise.
void REAL_NAME(shares_place)(struct system *system, const struct worker *worker);
void REAL_NAME(shares_fill)(struct system *system, struct node_vectors vectors,
                            const struct worker *worker);

// Nodes of others that a rank reads beside those of products, or computes for their owners: those
// of lines across the rows of several ranks (grid/lines.c). Worker 0 of all ranks together makes
// lists of them: begins them, adds to them, and connects them; without memory all ranks end. A node
// may be added more than once.
struct shared_nodes;
struct shared_nodes *REAL_NAME(shared_nodes_begin)(const struct system *system);
void REAL_NAME(shared_nodes_add)(struct shared_nodes *lists, struct plan_nodes nodes,
                                 bool computed);
void REAL_NAME(shared_nodes_connect)(struct shared_nodes *lists);
void REAL_NAME(shared_nodes_free)(struct shared_nodes *lists);

// The first sets the vectors of these nodes to those of the rank that has their rows; the second
// sets the vectors of the nodes of this rank's rows that others compute to theirs. Called by all
// workers together; both begin and end with a barrier.
void REAL_NAME(shared_nodes_read)(struct system *system, const struct shared_nodes *lists,
                                  struct node_vectors vectors, const struct worker *worker);
void REAL_NAME(shared_nodes_return)(struct system *system, const struct shared_nodes *lists,
                                    struct node_vectors vectors, const struct worker *worker);

// Whether `mine` is true on any rank, where ranks decide for themselves; the same on all workers.
bool REAL_NAME(shares_any)(struct system *system, bool mine, const struct worker *worker);

// The same for ranks that make a step together, with *any for the result; `mine` is that of worker
// 0. Ends with a barrier.
bool REAL_NAME(agree_on_any)(struct system *system, bool *any, bool mine,
                             const struct worker *worker);

#endif
