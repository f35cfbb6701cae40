// What springs that are on no grid add to the blocks of majorant.h, and the amplitudes of their
// nodes. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_MAJORANT_LISTED_H
#define TAUT_STABILITY_MAJORANT_LISTED_H

#include "stability/majorant.h"

struct listed_majorants;

// All amplitudes are 1.
taut_status REAL_NAME(listed_majorants_make)(struct system *system,
                                             struct listed_majorants **result, taut_error *error);
void REAL_NAME(listed_majorants_free)(struct listed_majorants *listed);
uint64_t REAL_NAME(listed_majorants_bytes)(const struct listed_majorants *listed);

// All nodes that are on no grid, and perhaps others between them.
struct range REAL_NAME(listed_majorants_range)(const struct listed_majorants *listed);

// Takes the present state; one worker alone.
void REAL_NAME(listed_majorants_update)(struct listed_majorants *listed);

void REAL_NAME(listed_majorants_add)(const struct listed_majorants *listed, size_t first,
                                     size_t end, struct majorant *blocks);

// How much of what two nodes share the first one bears, in halves of it: 1 + (amplitude of the
// other) / (its own).
real REAL_NAME(listed_majorants_part)(const struct listed_majorants *listed, size_t node,
                                      size_t other);

// Every node is given another amplitude, `factor` times its present one; after a swap, which one
// worker does alone, these are the present ones, and another swap takes it back.
void REAL_NAME(listed_majorants_scale)(struct listed_majorants *listed, size_t node, double factor);
void REAL_NAME(listed_majorants_swap)(struct listed_majorants *listed);

// Whether crowds (majorant_crowds.h) count as such from the next update on; at first they do not.
// One worker alone.
bool REAL_NAME(listed_majorants_has_crowds)(const struct listed_majorants *listed);
void REAL_NAME(listed_majorants_use_crowds)(struct listed_majorants *listed, bool use);
void REAL_NAME(listed_majorants_reset)(struct listed_majorants *listed);

#endif
