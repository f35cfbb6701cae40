// A step that is to be cut: where its nodes come from, how far tiles have moved, and how
// to take a cut back (surface_limit.c).
//
// All of this follows from the state at the end of the step alone, and not from what lists were
// made for, or when: a run that is continued from a checkpoint makes its lists at other times.
// Numeric.
#ifndef TAUT_CONTACT_SURFACE_ROLLBACK_H
#define TAUT_CONTACT_SURFACE_ROLLBACK_H

#include "contact/surface_lists.h"

// What a cut takes of the displacements and velocities of the nodes of a candidate, and the work,
// J, of what moves those with a prescribed motion.
struct taken {
    vec3 back[4], slower[4];
    double work;
};

// What a cut together with others has taken of a candidate, until it is found again.
struct candidate_cut {
    struct block_pair pair;
    struct candidate found;
    struct taken taken;
};

// Where a node of a surface, or of a mesh collider, was at the start of the present step, or
// substep: what an array has of it, or what follows from its velocity, but for rounding. Once the
// step is cut, as it was found before that.
struct point REAL_NAME(surface_step_start)(const struct system *system, size_t node);

// The same of all nodes of this worker, into arrays by node.
void REAL_NAME(surface_step_starts)(const struct system *system, real *const to[3],
                                    const struct worker *worker);

// Before a cut: keeps the starts of all nodes, and no change of any. Ends with a barrier. False on
// every worker without memory.
bool REAL_NAME(surface_rollback_begin)(struct system *system, const struct worker *worker);

// By the worker that cuts: before a node is moved, and after that.
void REAL_NAME(surface_rollback_log)(struct system *system, size_t node);
void REAL_NAME(surface_rollback_note)(struct system *system, size_t node);

// Undoes all changes of nodes since surface_rollback_begin but the first `count`. By one worker.
void REAL_NAME(surface_rollback_undo)(struct system *system, size_t count);

// After the cut.
void REAL_NAME(surface_rollback_end)(struct surface_contact *it);

// What the energy budget needs of steps that are cut (surface_cut_work.c): made with the rest of
// contact, false without memory.
bool REAL_NAME(cut_work_make)(struct system *system);
void REAL_NAME(cut_work_free)(struct system *system);
uint64_t REAL_NAME(cut_work_bytes)(const struct system *system);

void REAL_NAME(surface_rollback_free)(struct surface_contact *it);
uint64_t REAL_NAME(surface_rollback_bytes)(const struct surface_contact *it);

#endif
