// What ranks exchange in the steps of a distributed run (plan_parts.h has the parts): positions and
// velocities of nodes that others read, halo contributions to nodes of others, sums over chunks of
// nodes, and the power sums of the energy budget. Everything is put where it is in one process, and
// added in the same order there, so that neither the code of forces nor any bit depends on the
// number of ranks.
//
// system->exchange is set during the steps of a distributed run only, on all ranks. Without it a
// process has the whole scene: before the first step, and on rank 0 after exchange_collect.
// All functions but exchange_make and _free are called by all workers of all ranks together; worker
// 0 sends and receives, and all end with a barrier. Numeric.
#ifndef TAUT_SPRINGS_EXCHANGE_H
#define TAUT_SPRINGS_EXCHANGE_H

#include "springs/plan_parts.h"
#include "state/reading.h"
#include "state/system.h"

// Agrees with the other ranks on what is sent to whom. Collective, also where it fails: then on all
// ranks, with the message on those that have failed.
taut_status REAL_NAME(exchange_make)(const struct system *system, const struct plan_parts *parts,
                                     struct exchange **result, taut_error *error);
void REAL_NAME(exchange_free)(struct exchange *exchange);
uint64_t REAL_NAME(exchange_bytes)(const struct exchange *exchange);

// The nodes of this rank, and its tiles.
const struct plan_part *REAL_NAME(exchange_part)(const struct exchange *exchange);

// Positions and velocities of the halo := those of their owners.
void REAL_NAME(exchange_halo)(struct system *system, const struct worker *worker);

// The halo contributions of tiles of other ranks, after all tiles have been swept.
void REAL_NAME(exchange_contributions)(struct system *system, const struct worker *worker);

// The sums of all parts of an evaluation with powers, on all ranks. By worker 0 alone.
void REAL_NAME(exchange_powers)(struct system *system);

// Everything that a state has for each node, on rank 0, or on all ranks if `all`. By one worker
// alone, or outside of steps.
void REAL_NAME(exchange_collect)(struct state *state, const struct exchange *exchange, bool all);

// The same, on all ranks, within a step.
void REAL_NAME(exchange_complete)(struct system *system, const struct worker *worker);

// The sum over all nodes (sum_over_chunks) of positions, velocities and constants, the same on all
// ranks, whether the run is distributed or not. Forces must not be summed so.
void REAL_NAME(sum_over_nodes)(struct system *system, chunk_sum sum, const void *argument,
                               double total[SUM_WIDTH], const struct worker *worker);

#endif
