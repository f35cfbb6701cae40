// The complete state of a run at one time, in double and by the builders' numbers, so that it
// passes from one solver to another of the same nodes, whatever their precision, plan, numbering,
// team or constants. What follows from the constants (rest lengths, volumes and gas as built) is no
// part of it.
#ifndef TAUT_SOLVER_CHECKPOINT_H
#define TAUT_SOLVER_CHECKPOINT_H

#include "parallel/team.h"
#include "state/energy_budget.h"
#include "state/interaction.h"
#include "topology/topology.h"

struct system;

// X(type, name, length, condition), as STATE_ARRAYS.
#define CHECKPOINT_ARRAYS(X)                                                                       \
    X(double, positions, triples, true)                                                            \
    X(double, velocities, triples, true)                                                           \
    /* forces of the last step, of integrators that start with them; and those at the present */   \
    /* positions and velocities: the next solver compares them with its own */                     \
    X(double, forces, triples, needs.forces)                                                       \
    X(double, forces_seen, triples, needs.forces)                                                  \
    /* one step back (verlet, bdf2) */                                                             \
    X(double, positions_before, triples, needs.positions_before)                                   \
    X(double, velocities_before, triples, needs.velocities_before)                                 \
    /* where the next linear system starts from (implicit integrators) */                          \
    X(double, correction, triples, needs.correction)                                               \
    /* springs by their numbers in the uncut scene: m, where they yielded, else 0; as built */     \
    X(double, rest_length, springs, topology->any_yields)                                          \
    X(double, rest_built, springs, topology->any_yields)                                           \
    X(uint8_t, broken, springs, topology->any_breaks)                                              \
    X(vec3, motion_position, motions, true)                                                        \
    X(double, motion_angle, motions, true)                                                         \
    X(double, motion_rate, motions, true)                                                          \
    X(vec3, collider_centre, colliders, true)                                                      \
    X(vec3, collider_velocity, colliders, true)                                                    \
    X(double, collider_since, colliders, true)                                                     \
    X(double, collider_radius, colliders, true)                                                    \
    /* what nodes touch of colliders that project (state.h), collider by collider */               \
    X(uint8_t, touching, touches, needs.touching)

struct checkpoint {
    const struct topology *topology; // of the solver that it is from: whose motions and colliders
    enum integrator integrator;
    uint64_t triples, springs, motions, colliders; // triples: of all nodes
    uint64_t touches;
    // The numbers in the uncut scene of each solver's springs; NULL: their own.
    const uint32_t *from_springs, *to_springs;

    uint64_t step, memory_from; // state.h
    double dt;                  // s
    double since_time;          // s, and
    uint64_t since_step;        // the step, since when the next solver's dt is as it is
    bool forces_current;
    struct mouse_spring mouse_spring;                  // its node in the other solver's numbers
    const struct kinematic_targets *kinematic_targets; // of the solver that it is from
    bool no_memory;                                    // for them in the next one
    double fragile_losses;                             // J
    double fastest_outside;                            // m/s
    struct energy_budget work;
    struct implicit_statistics implicit_statistics;
#define DECLARE(type, name, length, condition) type *name;
    CHECKPOINT_ARRAYS(DECLARE)
#undef DECLARE
};

// For the solver of `from` the arrays that it has; false without memory. checkpoint_free takes what
// there is.
bool checkpoint_make(struct checkpoint *checkpoint, const struct topology *topology,
                     enum integrator integrator, uint64_t springs);
void checkpoint_free(struct checkpoint *checkpoint);

#ifdef TAUT_REAL_BITS
#    include "base/real.h"

// All workers together. Evaluating the forces is no step: the state does not change.
void REAL_NAME(checkpoint_save)(struct system *system, struct checkpoint *checkpoint,
                                const struct worker *worker);

// Into a system that has been started with its own scene. What may be judged about divergence
// begins here: energies, and the positions of colliders.
void REAL_NAME(checkpoint_restore)(struct system *system, struct checkpoint *checkpoint,
                                   const struct worker *worker);
#endif

#endif
