// Sums over springs and faces where every rank holds only its part of the scene (exchange.h). A chunk
// of SUM_CHUNK springs belongs to the rank with the first node of its first spring, which also knows
// the nodes of others that the rest of the chunk has; the sums of all chunks are added in their order,
// so that no bit depends on the number of ranks. The faces of a chunk may lie anywhere on a body: each
// is computed by the rank with the lowest of its nodes, and all ranks add all of them in their order.
// Numeric.
#ifndef TAUT_SPRINGS_PART_SUMS_H
#define TAUT_SPRINGS_PART_SUMS_H

#include "springs/node_lists.h"
#include "state/reading.h"

// Adds to `ends` the nodes that this rank's chunks have and that neither are its own nor in its halo;
// false without memory.
bool REAL_NAME(part_sums_want)(const struct system *system, const struct plan_parts *parts,
                               const struct plan_part *part, struct node_lists *ends);

// The first column of the sum over all springs in the order of springs_walk. Collective: by all workers
// of all ranks, while these exchange; all get the same value. Ends with a barrier.
double REAL_NAME(sum_springs_of_parts)(struct system *system, chunk_sum sum,
                                       const struct worker *worker);

// What a face adds to a sum.
typedef double (*face_term)(const struct system *system, const struct topology_body *body,
                            double origin, uint64_t face);

// The same over the faces of a body. `origin`: the x of its first node.
double REAL_NAME(sum_faces_of_parts)(struct system *system, const struct topology_body *body,
                                     face_term term, const struct worker *worker);

#endif
