// The data that ranks exchange in the steps of a distributed run (plan_parts.h has the parts):
// positions and velocities of nodes that others read, halo contributions to nodes of others, sums
// over chunks of nodes, and the power sums of the energy budget. Everything is stored where one
// process has it, and is added in the same order, so that neither the code of forces nor any bit
// depends on the number of ranks.
//
// system->exchange is set during the steps of a distributed run only, on all ranks. Without it a
// process has the whole scene: before the first step, and on rank 0 after exchange_collect. Where
// ranks hold only their parts it is also set while they evaluate energies together
// (exchange_has_part). Unless a comment says otherwise, functions are called by all workers of all
// ranks together; worker 0 sends and receives, and all end with a barrier. Numeric.
//
// Messages are under way while springs are computed that do not depend on them (springs_sweep): a
// rank waits only for data that another has not sent within that time.
#ifndef TAUT_SPRINGS_EXCHANGE_H
#define TAUT_SPRINGS_EXCHANGE_H

#include "springs/plan_parts.h"
#include "state/reading.h"
#include "state/system.h"

struct node_box;

// Adds what a rank needs for parts of the forces that this module does not know (plan_part_need);
// false without memory.
typedef bool (*exchange_needs)(const struct system *system, struct plan_part *part);

// The same for the nodes of chunks over which this rank sums (part_sums_want_node), where ranks
// hold only their parts.
typedef bool (*part_sums_needs)(const struct system *system, const struct plan_part *part,
                                void *wanted);

// Agrees with the other ranks on what is sent to whom. `only_part`: this rank knows no nodes but
// its own, and gets the masses of others here. Collective, also where it fails: then on all ranks,
// with the message on those that have failed.
taut_status REAL_NAME(exchange_make)(const struct system *system, const struct plan_parts *parts,
                                     bool only_part, exchange_needs needs, part_sums_needs sums,
                                     struct exchange **result, taut_error *error);
void REAL_NAME(exchange_free)(struct exchange *exchange);

// Whether ranks hold only their parts of the scene, and sum over springs and faces together
// (part_sums.h), without all nodes.
bool REAL_NAME(exchange_has_part)(const struct system *system);

// Whether a node is one of this rank's, as all are without other ranks.
static inline bool exchange_owns(const struct system *system, size_t node)
{
    return !system->exchange || (node >= system->own_nodes.first && node < system->own_nodes.end);
}

// The nodes of this rank, and its tiles.
const struct plan_part *REAL_NAME(exchange_part)(const struct exchange *exchange);

// Between these two calls, positions and velocities of the halo become those of their owners. The
// first one copies the nodes that others read, which may move afterwards.
void REAL_NAME(exchange_halo_start)(struct system *system, const struct worker *worker);
void REAL_NAME(exchange_halo_end)(struct system *system, const struct worker *worker);

// Sets the positions of the halo and of all other nodes of this rank's chunks of springs and faces
// to those of their owners; `velocities`: these too. This function and the next two also set the
// states of springs that break or yield (part_springs.h).
void REAL_NAME(exchange_ends)(struct system *system, bool velocities, const struct worker *worker);

// Where ranks hold only their parts: the nodes of a body on no grid for which this rank finds
// bounds of the step and weights. If the body is not divided, these are all of its nodes if this
// rank or its chunks have some; if it is divided, they are the rank's own and those of its chunks.
bool REAL_NAME(exchange_divides)(const struct system *system, size_t body);
struct range REAL_NAME(exchange_bounds_nodes)(const struct system *system, size_t body);

// Where ranks hold only their parts: gets the positions, the masses and, where the damping of wind
// depends on them, the velocities of other nodes from their owners: of those to which springs,
// faces and elements at these nodes, and at those of this rank's chunks on grids, reach. Also gets
// the states of springs there, and weights[i] of node weighted.first + i in divided bodies. Rare;
// ends all ranks without memory.
void REAL_NAME(exchange_reach)(struct system *system, real *weights, struct range weighted,
                               const struct worker *worker);

// Outside of steps, where ranks hold only their parts: gets, from their owners, the positions,
// velocities and forces of the nodes to which springs, faces and elements at these nodes reach; in
// divided bodies, at the nodes whose builders' numbers are in a list. Rare; ends all ranks without
// memory.
void REAL_NAME(exchange_around)(const struct system *system, const struct exchange *exchange,
                                struct range nodes, const uint64_t *list, uint64_t count);

// Gets the positions and velocities of all nodes, on all ranks, for contact of surfaces, instead of
// those of the halo. Does nothing without other ranks, or if they are known since nodes moved.
// exchange_all_known is called by worker 0: code that moves nodes within a step reports that they
// are not known, unless all ranks have moved all nodes alike.
void REAL_NAME(exchange_all_nodes)(struct system *system, const struct worker *worker);
void REAL_NAME(exchange_all_known)(struct system *system, bool known);

// The same for the halo and the nodes that each rank wants beside it, or for all nodes, if ranks
// want these, as at the start. Nodes that are not received keep the values of an earlier time (with
// TAUT_GUARD_NODES they are far away), until exchange_all_nodes is called.
void REAL_NAME(exchange_wanted_nodes)(struct system *system, const struct worker *worker);

// Set which nodes those are, from now on: those that are not 0 in exchange_wanted(), which this
// rank has written before exchange_want; or all. Called on all ranks, by worker 0 between barriers;
// except for exchange_want, which ends all ranks without memory, also while all have all nodes
// (exchange_pause).
unsigned char *REAL_NAME(exchange_wanted)(struct system *system);
void REAL_NAME(exchange_want)(struct system *system);
void REAL_NAME(exchange_want_all)(struct system *system);
bool REAL_NAME(exchange_wants_all)(const struct system *system);

// Whether all nodes are known now. Called by all workers between barriers.
bool REAL_NAME(exchange_knows_all)(const struct system *system);

// Completes three arrays by node, of which each rank has its own nodes, on all ranks.
void REAL_NAME(exchange_arrays)(struct system *system, real *const arrays[3],
                                const struct worker *worker);

// Combines the boxes of the velocities of parts (springs/motion.h) over all ranks, and sets the
// number of nodes in them: all, or 0. Called by worker 0 alone. Does nothing without other ranks.
void REAL_NAME(exchange_motion)(const struct system *system, struct node_box *boxes, size_t count,
                                size_t *moved);

// Whether the halo is needed before the tiles of grids are swept, by springs on no grid, wind, gas,
// contacts or springs that break; springs_sweep waits for it otherwise.
static inline bool exchange_halo_is_early(const struct system *system)
{
    const struct topology *topology = system->topology;
    return system->surface_contact || system->constants->springs > 0 ||
           topology->environment.wind.present || topology_has_gas(topology) ||
           topology->any_breaks || system->settings.penalises ||
           !plan_sweeps_elements(topology, system->plan);
}

// Exchange the halo contributions with other ranks, after the tiles at the end of this rank's part
// have been swept and before its first tiles are reduced.
void REAL_NAME(exchange_contributions_start)(struct system *system, const struct worker *worker);
void REAL_NAME(exchange_contributions_end)(struct system *system, const struct worker *worker);

// Gets, from their owners, everything that is known of the nodes of others that complete the last
// chunk of this rank's sums and the blocks of its contacts (plan_parts.h). Does nothing without
// other ranks.
void REAL_NAME(exchange_rest)(struct system *system, const struct worker *worker);

// Whether `mine` is true on any rank. The result is the same on all workers.
bool REAL_NAME(exchange_any)(struct system *system, bool mine, const struct worker *worker);

// Gives all ranks data[b], of `size` bytes, for each block of contacts (CONTACT_BLOCK), from the
// rank with the block's first node. Called by worker 0 alone. Does nothing without other ranks.
void REAL_NAME(exchange_blocks)(const struct system *system, void *data, size_t size);

// Whether this rank computes a block of faces, as one process does with all.
static inline bool exchange_computes_faces(const struct system *system, struct plan_block block)
{
    return !system->exchange ||
           REAL_NAME(exchange_part)(system->exchange)->face_blocks[block.number];
}

// The sum over all faces in blocks (sum_over_chunks), the same on all ranks.
void REAL_NAME(sum_over_block_faces)(struct system *system, chunk_sum sum, const void *argument,
                                     double total[SUM_WIDTH], const struct worker *worker);

// Gives all ranks the sums of the tiles of packed springs in chunk_sums. Called by worker 0 alone.
void REAL_NAME(exchange_packed_sums)(struct system *system);

// The same for the tiles of a body's rings; a tile belongs to the rank with its first node.
void REAL_NAME(exchange_ring_sums)(struct system *system, const struct plan_rings *rings);

// Lets messages proceed. Called by one worker alone, at any time.
void REAL_NAME(exchange_proceed)(struct exchange *exchange);

// This rank's tiles of grids from first_last on read the halo or contribute to nodes of other
// ranks; other ranks contribute to those before end_first.
struct exchange_borders {
    uint64_t first_last, end_first;
};

struct exchange_borders REAL_NAME(exchange_borders)(const struct system *system);

// ---- Power sums of the energy budget, by worker 0 alone
//
// Each part of an evaluation with powers is measured by one rank. Since no step depends on them,
// they are kept for KEPT_POWERS evaluations, and added over the ranks together.

enum { KEPT_POWERS = 16 };

// Keeps system->powers and other_powers, and clears the former. True when no more can be kept.
bool REAL_NAME(exchange_keep_powers)(struct system *system, struct evaluation evaluation,
                                     bool lags);

// The time of the last evaluation that is kept, or NULL.
const double *REAL_NAME(exchange_kept_time)(const struct exchange *exchange);

// Adds what is kept over all ranks and returns the number of evaluations. Collective.
int REAL_NAME(exchange_add_powers)(struct system *system);

// Restores what was kept of one of them, after exchange_add_powers. `tiles`: the sum of the parts
// of tiles, which system->powers does not have then; NULL: it has them.
struct evaluation REAL_NAME(exchange_take_powers)(struct system *system, int number,
                                                  const double **tiles, bool *lags);

// Does the same for system->powers at once. Collective; returns `tiles`.
const double *REAL_NAME(exchange_add_present_powers)(struct system *system);

// Collects everything that a state has for each node, on rank 0, or on all ranks if `all`. Called
// by one worker alone, or outside of steps.
void REAL_NAME(exchange_collect)(const struct system *system, struct exchange *exchange, bool all);

// Does the same on all ranks, within a step.
void REAL_NAME(exchange_complete)(struct system *system, const struct worker *worker);

// From the first call to the second all ranks have all nodes and compute the same as one process,
// but share the chunks of sums (sum_over_chunks). For work that is rare, or that takes loops over
// everything. The result of the first is the argument of the second: false without other ranks, or
// where such a time has begun already.
bool REAL_NAME(exchange_pause)(struct system *system, const struct worker *worker);
void REAL_NAME(exchange_resume)(struct system *system, bool paused, const struct worker *worker);

// The nodes of this rank's chunks, those that begin at its nodes; all without other ranks.
struct range REAL_NAME(exchange_chunk_nodes)(const struct system *system);

// Finds the sums of all chunks of nodes (sum_chunks) in system->chunk_sums, on all ranks: each rank
// sums its own chunks, whose nodes it has or exchange_reach has fetched.
void REAL_NAME(exchange_chunk_sums)(struct system *system, chunk_sum sum, const void *argument,
                                    const struct worker *worker);

// On several ranks: adds to three arrays by node, which have the rank's own nodes, the nodes of
// others that sum_over_nodes reads. Ends with a barrier.
void REAL_NAME(exchange_rest_of)(struct system *system, real *const arrays[3],
                                 const struct worker *worker);

// The sum over all nodes (sum_over_chunks), the same on all ranks, whether the run is distributed
// or not, of what every rank knows of the nodes of its chunks (exchange_chunk_nodes).
void REAL_NAME(sum_over_known_nodes)(struct system *system, chunk_sum sum, const void *argument,
                                     double total[SUM_WIDTH], const struct worker *worker);

// The same for sums that read positions, velocities, constants and forces: calls exchange_rest
// first.
void REAL_NAME(sum_over_nodes)(struct system *system, chunk_sum sum, const void *argument,
                               double total[SUM_WIDTH], const struct worker *worker);

#endif
