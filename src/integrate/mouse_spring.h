// The mouse spring: a damped spring from a free node to a target in space with the force
// k (target - x) - c v, solved for the velocity at the end of the step (docs/numerics.md), so that
// no k and no c make it unstable. All workers call these functions together; without a mouse spring
// they cost a branch. Numeric.
#ifndef TAUT_INTEGRATE_MOUSE_SPRING_H
#define TAUT_INTEGRATE_MOUSE_SPRING_H

#include "integrate/conjugate_gradient.h"
#include "state/system.h"

// Chooses stiffness and damping such that the node follows the target within some steps.
void REAL_NAME(mouse_spring_set_stiffness)(const struct system *system,
                                           struct mouse_spring *mouse_spring);

// At the end of a step: adds the effect of the spring to explicit integrators; and counts its work,
// the force times the displacement of the node.
void REAL_NAME(mouse_spring_end_step)(struct system *system, const struct worker *worker);

// xpbd: the same in each substep of `h` seconds, before nodes move.
void REAL_NAME(mouse_spring_substep)(struct system *system, double h, const struct worker *worker);

// ---- Implicit integrators: the spring is one of the forces of a stage.

// Adds g F to the right side, by the worker that has the node in its share.
void REAL_NAME(mouse_spring_add_force)(const struct system *system, double g, struct range share,
                                       const struct node_vectors *residual);

// Adds the tangent of the spring to the diagonal of the matrix, or removes it again.
void REAL_NAME(mouse_spring_add_tangent)(const struct system *system, struct linear_solver *solver,
                                         struct linear_weights weights, bool adds,
                                         const struct worker *worker);

// At the end of a stage: stores the force with which it was solved.
void REAL_NAME(mouse_spring_store_force)(struct system *system, const struct worker *worker);

#endif
