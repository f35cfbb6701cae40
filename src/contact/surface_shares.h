// Contact of surfaces on several ranks: every rank keeps and evaluates the pairs of blocks that
// have to do with its nodes (docs/ranks.md). Every list belongs to one rank, which has all of its
// pairs and evaluates them as one process does; only its sums of a list count, and what it knows of
// the list decides when lists sleep and are made again. So two ranks may evaluate the same pair,
// with the same result, and lists are made at the same times as in one process.
//
// Unless a comment says otherwise, functions are called by worker 0 of all ranks together, between
// barriers, and do nothing without other ranks. Numeric.
#ifndef TAUT_CONTACT_SURFACE_SHARES_H
#define TAUT_CONTACT_SURFACE_SHARES_H

#include "contact/surface_lists.h"

struct surface_shares {
    bool *lists;  // by list: whether it is this rank's
    bool *blocks; // by block: whether this rank needs the forces on it
    size_t list_count, block_count, part_count;
    double *sums;                // scratch, two for each list
    struct displacements *moved; // scratch, by block: since lists were made
    uint64_t complete_until;     // lists keep the pairs of other ranks until this step
    double *powers;              // W, by block, of those that belong to mesh colliders
    double collider_power;       // W, of all, in the last evaluation of the forces, if
    bool power_known;            // ranks have shared that evaluation
    uint64_t whole_until;        // all ranks want all nodes before this step
    bool lists_differ;           // from those for which ranks have said what they want
    bool start_known;            // that of all nodes, where it is kept
    double *ends;                // scratch, by part of a tile, of boxes
};

void REAL_NAME(surface_shares_free)(struct system *system);
uint64_t REAL_NAME(surface_shares_bytes)(const struct surface_contact *it);

// While ranks have different pairs to evaluate: in steps. NULL: this one has all. Anywhere.
static inline const struct surface_shares *surface_shares(const struct system *system)
{
    return system->exchange || system->paused ? system->surface_contact->shares : NULL;
}

// Whether the sums of a list are this rank's; and whether it evaluates a pair of it. Anywhere.
static inline bool list_is_own(const struct system *system, size_t list)
{
    const struct surface_shares *shares = surface_shares(system);
    return !shares || shares->lists[list];
}

static inline bool pair_is_shared(const struct surface_shares *shares, size_t list,
                                  const struct block_pair *pair)
{
    return shares->lists[list] || shares->blocks[pair->a] || shares->blocks[pair->b];
}

static inline bool pair_is_own(const struct system *system, size_t list,
                               const struct block_pair *pair)
{
    const struct surface_shares *shares = surface_shares(system);
    return !shares || pair_is_shared(shares, list, pair);
}

// Whether a list belongs to this rank, also outside of steps. Anywhere.
static inline bool list_is_kept(const struct surface_contact *it, size_t list)
{
    return !it->shares || it->shares->lists[list];
}

// surface_pairs.c. Lists have all pairs again where they have only those that this rank evaluates:
// for what it does outside of steps alone, or for a cut, whose positions are those of its end. By
// all workers of one rank; ends with a barrier if there is anything to do.
enum pairs_start { START_NOW, START_OF_WAY };
void REAL_NAME(surface_pairs_complete)(struct system *system, enum pairs_start start,
                                       const struct worker *worker);

// At the start of a step, with its lists: leaves out again what has not been needed for some steps.
// Likewise.
void REAL_NAME(surface_pairs_leave)(struct system *system, const struct worker *worker);

// Which nodes of others this rank receives in steps. All: from now on, and at least until a step.
// Outside of steps this is agreed on before the next ones.
// Then those of the blocks of its lists, once these are known, at the start of a step, where all
// that reads others can do without these, or asks for them.
void REAL_NAME(surface_shares_want_all)(struct system *system, uint64_t until);
void REAL_NAME(surface_shares_want)(struct system *system, const struct worker *worker);

// All nodes, and where they were at the start of the step: for a cut, which all ranks make alike,
// and for lists that are made for that start. Where that is kept, surface_shares_keep says that
// this rank has kept it, of the nodes that it knows. By all workers; the former ends with a
// barrier.
void REAL_NAME(surface_shares_complete)(struct system *system, const struct worker *worker);
void REAL_NAME(surface_shares_keep)(struct system *system, const struct worker *worker);

// Boxes of the parts of tiles, of the nodes of all ranks, from those of each rank's own.
void REAL_NAME(surface_shares_boxes)(struct system *system, struct displacements *boxes);

// How many pairs the broad phase has found for lists of other ranks.
void REAL_NAME(surface_shares_found)(struct system *system);

// Numbers by list, which are complete: those of the ranks that have them, on all. By all workers;
// ends with a barrier where there are other ranks.
void REAL_NAME(surface_shares_add)(struct system *system, double *by_list,
                                   const struct worker *worker);

// Which lists sleep, and what finding that out has measured.
void REAL_NAME(surface_shares_sleep)(struct system *system);

// What tiles may move, of the lists of all ranks.
void REAL_NAME(surface_shares_tightness)(struct system *system);

// The pairs of all lists that the step has to be cut for: whether there are any, and puts them in
// the lists, which then have all pairs.
bool REAL_NAME(surface_shares_pass)(struct system *system);
void REAL_NAME(surface_shares_passing)(struct system *system);

// Candidates and contacts of all lists, from those of this rank's.
void REAL_NAME(surface_shares_count)(const struct system *system, struct surface_counts *counts);

// Whether surfaces push on any rank. Then, once forces are complete, the power of mesh colliders,
// if it is wanted.
void REAL_NAME(surface_shares_pushes)(struct system *system);
void REAL_NAME(surface_shares_collider_power)(struct system *system);

#endif
