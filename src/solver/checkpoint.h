// The complete state of a run at one time, in double and by the builders' numbers, so that it
// passes from one solver to another of the same nodes, whatever their precision, plan, numbering,
// team or constants. What follows from the constants (rest lengths, volumes and gas as built) is no
// part of it.
#ifndef TAUT_SOLVER_CHECKPOINT_H
#define TAUT_SOLVER_CHECKPOINT_H

#include "parallel/team.h"
#include "state/arrays.h"
#include "state/records.h"
#include "state/frame.h"
#include "topology/topology.h"

struct system;

// The types of the state's arrays in a checkpoint: numbers are double.
#define KEPT_real    double
#define KEPT_double  double
#define KEPT_uint8_t uint8_t
#define KEPT_vec3    vec3

// X(type, name, length, condition): what no array of the state has.
#define CHECKPOINT_ARRAYS(X)                                                                        \
    /* the forces at the present positions and velocities, where those of the last step are kept: \
     * the next solver compares them with its own */ \
    X(double, forces_seen, triples, keeps.forces)                                                   \
    /* where the next linear system starts from (implicit integrators) */                           \
    X(double, correction, triples, keeps.correction)                                                \
    /* m, of springs that can yield */                                                              \
    X(double, rest_built, springs, topology->any_yields)

struct checkpoint {
    const struct topology *topology; // of the solver that it is from: whose motions and colliders
    enum integrator integrator;
    struct frame frame; // positions, velocities and the step
    // Lengths: `springs` counts numbers of the uncut scene, `touches` nodes of every collider; of
    // the others no array is kept.
    uint64_t nodes, triples, springs, motions, colliders, touches;
    uint64_t links, slots, bodies, contact_blocks;
    // The numbers in the uncut scene of each solver's springs; NULL: their own.
    const uint32_t *from_springs, *to_springs;

    uint64_t memory_from; // state.h
    double dt;            // s
    double since_time;    // s, and
    uint64_t since_step;  // the step, since when the next solver's dt is as it is
    bool forces_current;
    struct mouse_spring mouse_spring;                  // its node in the other solver's numbers
    const struct kinematic_targets *kinematic_targets; // of the solver that it is from
    bool no_memory;                                    // for them in the next one
    double fragile_losses;                             // J
    double fastest_outside;                            // m/s
    struct energy_budget work;
    struct implicit_statistics implicit_statistics;
    // Those of the state: of nodes and springs (m, where they yielded, else 0) by the builders'
    // numbers, of what nodes touch collider by collider.
#define DECLARE(type, name, length, condition, kept) KEPT_##type *name;
    STATE_ARRAYS(DECLARE)
#undef DECLARE
#define DECLARE(type, name, length, condition) type *name;
    CHECKPOINT_ARRAYS(DECLARE)
#undef DECLARE
};

// For a solver of that topology and integrator; false without memory. checkpoint_free takes what
// there is.
bool checkpoint_make(struct checkpoint *checkpoint, const struct topology *topology,
                     enum integrator integrator, uint64_t springs);
void checkpoint_free(struct checkpoint *checkpoint);

#ifdef TAUT_REAL_BITS
#    include "base/real.h"

// All workers together. The forces may be evaluated, but the state does not change.
void REAL_NAME(checkpoint_save)(struct system *system, struct checkpoint *checkpoint,
                                const struct worker *worker);

// Restores into a system that has been started with its own scene. The check of divergence starts
// again with the present energies and positions of colliders.
void REAL_NAME(checkpoint_restore)(struct system *system, struct checkpoint *checkpoint,
                                   const struct worker *worker);
#endif

#endif
