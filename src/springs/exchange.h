// What ranks exchange in the steps of a distributed run (plan_parts.h has the parts): positions and
// velocities of nodes that others read, halo contributions to nodes of others, sums over chunks of
// nodes, and the power sums of the energy budget. Everything is put where it is in one process, and
// added in the same order there, so that neither the code of forces nor any bit depends on the
// number of ranks.
//
// system->exchange is set during the steps of a distributed run only, on all ranks. Without it a
// process has the whole scene: before the first step, and on rank 0 after exchange_collect. Where
// ranks hold only their parts it is also set while they evaluate energies together
// (exchange_has_part). Unless a comment says otherwise, functions are called by all workers of all
// ranks together; worker 0 sends and receives, and all end with a barrier. Numeric.
//
// Messages are under way while springs are computed that do not depend on them (springs_sweep): a
// rank waits only for what another has not sent within that time.
#ifndef TAUT_SPRINGS_EXCHANGE_H
#define TAUT_SPRINGS_EXCHANGE_H

#include "springs/plan_parts.h"
#include "state/reading.h"
#include "state/system.h"

struct node_box;

// Adds what a rank needs for parts of the forces that this module does not know (plan_part_need);
// false without memory.
typedef bool (*exchange_needs)(const struct system *system, struct plan_part *part);

// The same of the nodes of chunks over which this rank sums (part_sums_want_node), where ranks hold
// only their parts.
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

// Positions and velocities of the halo := those of their owners, between these two. At the start
// nodes that others read are copied, and may move afterwards.
void REAL_NAME(exchange_halo_start)(struct system *system, const struct worker *worker);
void REAL_NAME(exchange_halo_end)(struct system *system, const struct worker *worker);

// Positions of the halo and of all other nodes of chunks of springs and faces of this rank, :=
// those of their owners; `velocities`: these too. Likewise the states of springs that break or
// yield (part_springs.h), here and in the next two.
void REAL_NAME(exchange_ends)(struct system *system, bool velocities, const struct worker *worker);

// Where ranks hold only their parts: the nodes of a body on no grid for which this rank finds
// bounds of the step and weights. All where the body is not divided, and this rank or its chunks
// have some; of a divided one its own, and those of its chunks.
bool REAL_NAME(exchange_divides)(const struct system *system, size_t body);
struct range REAL_NAME(exchange_bounds_nodes)(const struct system *system, size_t body);

// Where ranks hold only their parts: positions and masses, and where the damping of wind depends on
// them velocities, of the nodes to which springs, faces and elements of these nodes, and of those
// of this rank's chunks on grids, reach, := those of their owners; and the states of springs there.
// Of divided bodies also weights[i], of node weighted.first + i. Rare; ends all ranks without
// memory.
void REAL_NAME(exchange_reach)(struct system *system, real *weights, struct range weighted,
                               const struct worker *worker);

// Outside of steps, where ranks hold only their parts: positions, velocities and forces of the
// nodes to which springs, faces and elements at these nodes reach, := those of their owners; of
// divided bodies, at the nodes that a list has of them, by the builders' numbers. Rare; ends all
// ranks without memory.
void REAL_NAME(exchange_around)(const struct system *system, const struct exchange *exchange,
                                struct range nodes, const uint64_t *list, uint64_t count);

// Positions and velocities of all nodes, on all ranks, for contact of surfaces: instead of the
// halo. Nothing without other ranks, or if they are known since nodes moved. exchange_all_known, by
// worker 0: what moves nodes within a step says that they are not known, unless all ranks have
// moved all alike.
void REAL_NAME(exchange_all_nodes)(struct system *system, const struct worker *worker);
void REAL_NAME(exchange_all_known)(struct system *system, bool known);

// The same of the halo and of the nodes that each rank wants beside it; of all, if ranks want
// these, as at the start. Those that are not received are of an earlier time (with TAUT_GUARD_NODES
// far away), until exchange_all_nodes is called.
void REAL_NAME(exchange_wanted_nodes)(struct system *system, const struct worker *worker);

// Which nodes those are, from now on: those that are not 0 in exchange_wanted(), which this rank
// has written before exchange_want; or all. On all ranks, by worker 0 between barriers, also while
// all have all nodes (exchange_pause), but for exchange_want, which ends all ranks without memory.
unsigned char *REAL_NAME(exchange_wanted)(struct system *system);
void REAL_NAME(exchange_want)(struct system *system);
void REAL_NAME(exchange_want_all)(struct system *system);
bool REAL_NAME(exchange_wants_all)(const struct system *system);

// Whether all nodes are known now. By all workers between barriers.
bool REAL_NAME(exchange_knows_all)(const struct system *system);

// Three arrays by node, of which each rank has its own nodes: those of all, on all ranks.
void REAL_NAME(exchange_arrays)(struct system *system, real *const arrays[3],
                                const struct worker *worker);

// Boxes of the velocities of parts (springs/motion.h) of all ranks, and the number of nodes in
// them: all, or 0. By worker 0 alone. Nothing without other ranks.
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

// The halo contributions of tiles of other ranks, after the tiles at the end of this rank's part
// have been swept; before its first tiles are reduced.
void REAL_NAME(exchange_contributions_start)(struct system *system, const struct worker *worker);
void REAL_NAME(exchange_contributions_end)(struct system *system, const struct worker *worker);

// Everything that is known of the nodes of others that complete the last chunk of this rank's sums
// and the blocks of its contacts (plan_parts.h), := that of their owners. Nothing without other
// ranks.
void REAL_NAME(exchange_rest)(struct system *system, const struct worker *worker);

// Whether any rank says so. The same on all workers.
bool REAL_NAME(exchange_any)(struct system *system, bool mine, const struct worker *worker);

// data[b], of `size` bytes, for each block of contacts (CONTACT_BLOCK): on all ranks those of the
// rank with its first node. By worker 0 alone. Nothing without other ranks.
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

// The sums of the tiles of packed springs in chunk_sums, on all ranks. By worker 0 alone.
void REAL_NAME(exchange_packed_sums)(struct system *system);

// The same of the tiles of a body's rings; a tile is that of the rank with its first node.
void REAL_NAME(exchange_ring_sums)(struct system *system, const struct plan_rings *rings);

// Lets messages proceed. By one worker alone, at any time.
void REAL_NAME(exchange_proceed)(struct exchange *exchange);

// Of this rank's tiles of grids, those that read the halo or contribute to nodes of other ranks are
// the last ones, from the first of these numbers on; those to which others contribute are the ones
// before the second.
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

// The same at once for system->powers. Collective; returns `tiles`.
const double *REAL_NAME(exchange_add_present_powers)(struct system *system);

// Everything that a state has for each node, on rank 0, or on all ranks if `all`. By one worker
// alone, or outside of steps.
void REAL_NAME(exchange_collect)(const struct system *system, struct exchange *exchange, bool all);

// The same, on all ranks, within a step.
void REAL_NAME(exchange_complete)(struct system *system, const struct worker *worker);

// From the first call to the second all ranks have all nodes, and compute the same as one process;
// the chunks of sums they share (sum_over_chunks). For what is rare, or takes loops over
// everything. The result of the first is the argument of the second: false without other ranks, or
// where such a time has begun already.
bool REAL_NAME(exchange_pause)(struct system *system, const struct worker *worker);
void REAL_NAME(exchange_resume)(struct system *system, bool paused, const struct worker *worker);

// The nodes of this rank's chunks, those that begin at its nodes; all without other ranks.
struct range REAL_NAME(exchange_chunk_nodes)(const struct system *system);

// The sums of all chunks of nodes (sum_chunks) in system->chunk_sums, on all ranks: each sums its
// own chunks, of nodes that it has or that exchange_reach has fetched.
void REAL_NAME(exchange_chunk_sums)(struct system *system, chunk_sum sum, const void *argument,
                                    const struct worker *worker);

// On ranks: of own nodes, three arrays by node: what sum_over_nodes reads of them. Ends with a
// barrier.
void REAL_NAME(exchange_rest_of)(struct system *system, real *const arrays[3],
                                 const struct worker *worker);

// The sum over all nodes (sum_over_chunks), the same on all ranks, whether the run is distributed
// or not, of what every rank knows of the nodes of its chunks (exchange_chunk_nodes).
void REAL_NAME(sum_over_known_nodes)(struct system *system, chunk_sum sum, const void *argument,
                                     double total[SUM_WIDTH], const struct worker *worker);

// The same of positions, velocities and constants, and of forces.
void REAL_NAME(sum_over_nodes)(struct system *system, chunk_sum sum, const void *argument,
                               double total[SUM_WIDTH], const struct worker *worker);

#endif
