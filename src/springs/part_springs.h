// The states of springs that break or yield where every rank holds only its part of the scene
// (exchange.h): which are broken, and their rest lengths. A rank knows those of the chunks that it
// evaluates (struct plan_chunk), which have all springs of its tiles. Those of other chunks it gets
// from the rank that counts them, whenever it reads them: for sums of energies, bounds of the step,
// and frames. Numeric.
#ifndef TAUT_SPRINGS_PART_SPRINGS_H
#define TAUT_SPRINGS_PART_SPRINGS_H

#include "springs/node_lists.h"

// Sets the rest lengths of the springs of this rank's chunks as built.
void REAL_NAME(part_springs_start)(const struct system *system, const struct plan_part *part);

// Add springs to what is wanted from others, except those of this rank's chunks: `count` springs
// from this index in the state's arrays on; or all springs at nodes [nodes.first, nodes.end). False
// without memory.
bool REAL_NAME(part_springs_want)(const struct system *system, const struct plan_parts *parts,
                                  const struct plan_part *part, uint64_t index, uint64_t count,
                                  struct node_lists *lists);
bool REAL_NAME(part_springs_want_at)(const struct system *system, const struct plan_parts *parts,
                                     const struct plan_part *part, struct range nodes,
                                     struct node_lists *lists);

// Makes the messages of lists that have been swapped; false without memory. Not collective.
bool REAL_NAME(part_springs_connect)(const struct system *system, struct node_lists *lists,
                                     int tag);

// A round: gets the states of what is wanted from the ranks that count them. Called by worker 0
// alone.
void REAL_NAME(part_springs_swap)(const struct system *system, const struct node_lists *lists);

// Whether this rank evaluates a spring, by its index in the state's arrays, or it is one on no
// grid.
bool REAL_NAME(part_springs_knows)(const struct system *system, const struct plan_part *part,
                                   uint64_t index);

// Whether this rank counts a spring on no grid, if it may break or yield.
bool REAL_NAME(part_springs_counts)(const struct system *system, const struct plan_part *part,
                                    uint64_t index);

// Returns the number of broken springs of all ranks, on all of them. Collective.
uint64_t REAL_NAME(part_springs_broken)(const struct system *system, const struct plan_part *part);

#endif
