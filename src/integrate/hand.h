// A hand that pulls at a free node: F = k (target - x) - c v, solved for the velocity at the end of
// the step (docs/numerics.md), so that no k and no c make it unstable. All workers call these
// together; without a hand they cost a look whether there is one. Numeric.
#ifndef TAUT_INTEGRATE_HAND_H
#define TAUT_INTEGRATE_HAND_H

#include "integrate/conjugate_gradient.h"
#include "state/system.h"

// How stiff and how damped a hand is to be at a node so that the node follows it within some
// steps, into hand->stiffness and damping.
void REAL_NAME(hand_choose)(const struct system *system, struct hand *hand);

// At the end of a step: what the hand did in it to explicit integrators; and its work, the force
// times how far the node went.
void REAL_NAME(hand_end)(struct system *system, const struct worker *worker);

// xpbd: the same in each substep of `h` seconds, before nodes move.
void REAL_NAME(hand_in_substep)(struct system *system, double h, const struct worker *worker);

// ---- Implicit integrators: the hand is one of the forces of a stage.

// Adds g F to the right side, by the one who has the node in its share.
void REAL_NAME(hand_push)(const struct system *system, double g, struct range share,
                          const struct node_vectors *residual);

// Adds what the hand is to the diagonal of the matrix, or takes it away again.
void REAL_NAME(hand_lean)(const struct system *system, struct linear_solver *solver,
                          struct linear_weights weights, bool leans, const struct worker *worker);

// At the end of a stage: the force that it was solved with.
void REAL_NAME(hand_feel)(struct system *system, const struct worker *worker);

#endif
