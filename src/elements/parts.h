// Elements on several ranks (springs/plan_parts.h): which of them a rank computes, and the nodes of
// others that these read. Numeric.
//
// Elements are computed in parts: blocks of grids, or the layers of blocks of lattices
// (element_part), coloured blocks of triangles, chunks of nodes that bend and of folds. A rank
// computes every part that adds to a node of its own, as a whole, so that forces are added in the
// same order as in one process. Its power is counted by the rank with the first node of the part.
#ifndef TAUT_ELEMENTS_PARTS_H
#define TAUT_ELEMENTS_PARTS_H

#include "elements/elements.h"
#include "springs/exchange.h"

// Fills part->elements and part->folds, and adds the nodes that are needed. False without memory.
bool REAL_NAME(elements_need)(const struct system *system, struct plan_part *part);

// Wants the nodes of the chunks of triangles, of nodes that bend, and of folds over which this rank
// sums, where ranks hold only their parts (part_sums_want_node).
bool REAL_NAME(elements_sums_need)(const struct system *system, const struct plan_part *part,
                                   void *wanted);

// Whether this rank computes a part; `number` as in element_set.powers.
static inline bool elements_part_is_computed(const struct system *system, size_t number)
{
    return !system->exchange || REAL_NAME(exchange_part)(system->exchange)->elements[number];
}

// Whether it needs the strains of a chunk of folds in steps; or for sums, where ranks hold only
// their parts.
enum { FOLDS_PULL = 1, FOLDS_SUMMED = 2 };

static inline bool elements_folds_are_measured(const struct system *system, size_t chunk)
{
    return !system->exchange ||
           REAL_NAME(exchange_part)(system->exchange)->folds[chunk] & FOLDS_PULL;
}

static inline bool elements_folds_are_known(const struct system *system, size_t chunk)
{
    return !system->exchange || REAL_NAME(exchange_part)(system->exchange)->folds[chunk];
}

// Gives all ranks the powers of all parts of the last elements_add with powers. Ends with a
// barrier. Does nothing without other ranks.
void REAL_NAME(elements_share_powers)(struct system *system, const struct worker *worker);

#endif
