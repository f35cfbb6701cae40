// The order of elements inside a block where each changes what the next one reads, as springs do
// that are solved one after the other. Listed by their lower nodes they would share a node with
// their neighbours, and a processor that could work on several at a time would wait for each.
#ifndef TAUT_PLAN_SPREAD_H
#define TAUT_PLAN_SPREAD_H

#include "plan/blocks.h"

// Sorts each block of the set by rounds: elements of one round share no node, and stand in the
// order that they had. What finds no round among 64 comes last.
taut_status spread_blocks(const struct elements *elements, struct plan_set *set, taut_error *error);

#endif
