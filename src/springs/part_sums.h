// Sums over springs and faces where every rank holds only its part of the scene (exchange.h). A
// chunk of SUM_CHUNK springs belongs to the rank with the first node of its first spring, which
// also knows the nodes of others that the rest of the chunk has; the sums of all chunks are added
// in their order, so that no bit depends on the number of ranks. The same holds for chunks of a
// grid's nodes, whose springs reach further, and of the faces of cloths, on which wind acts. The
// faces of a closed body may lie anywhere on it: each is computed by the rank with the lowest of
// its nodes, and all ranks add all of them in their order. Numeric.
#ifndef TAUT_SPRINGS_PART_SUMS_H
#define TAUT_SPRINGS_PART_SUMS_H

#include "springs/exchange.h"
#include "springs/node_lists.h"
#include "state/reading.h"

// How far after its first node an element of a body on a grid reaches: a layer, a row and a node of
// a lattice, two rows of a cloth, two nodes of a rope. 0 without any.
static inline uint64_t elements_reach(const struct topology_body *body)
{
    const uint64_t nx = body->grid[0], ny = body->grid[1];
    if (!body->elements.present)
        return 0;
    return body->grid[2] > 1 ? nx * ny + nx + 1 : ny > 1 ? 2 * nx : 2;
}

// Adds to `ends` the nodes that this rank's chunks have and that neither are its own nor in its
// halo, and to `springs` the springs that it does not evaluate (part_springs.h); false without
// memory. `more` adds nodes of other chunks by part_sums_want_node.
bool REAL_NAME(part_sums_want)(const struct system *system, const struct plan_parts *parts,
                               const struct plan_part *part, part_sums_needs more,
                               struct node_lists *ends, struct node_lists *springs);
bool REAL_NAME(part_sums_want_node)(void *wanted, uint64_t node);

// The rank with this node sums the chunk that begins with an element.
typedef size_t (*element_node)(const struct system *system, const void *argument, size_t element);

// The first column of the sum over so many elements (sum_over_chunks), from the nodes that
// exchange_ends has refreshed. Collective: called by all workers of all ranks, while these
// exchange; all get the same value. Ends with a barrier.
double REAL_NAME(sum_chunks_of_parts)(struct system *system, size_t elements, element_node node,
                                      chunk_sum sum, const void *argument,
                                      const struct worker *worker);

// The same over `count` springs in the order of springs_walk, from number *first on: the argument
// of the sum.
double REAL_NAME(sum_springs_of_parts)(struct system *system, size_t count, chunk_sum sum,
                                       const uint64_t *first, const struct worker *worker);

// The nodes of a grid in the chunks that this rank sums.
struct range REAL_NAME(chunk_nodes_of_grid)(const struct system *system,
                                            const struct plan_grid *grid);

// The term that a face adds to a sum.
typedef double (*face_term)(const struct system *system, const struct topology_body *body,
                            double origin, uint64_t face);

// Whether something is done with a body.
typedef bool (*body_choice)(const struct system *system, size_t body);

// Sets sums[b] to the sum over the faces of body b, for all chosen bodies together, by worker 0.
// `origin`: the x of the body's first node.
void REAL_NAME(sum_faces_of_parts)(struct system *system, body_choice chosen, face_term term,
                                   double *sums, const struct worker *worker);

#endif
