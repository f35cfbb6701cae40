// Detects a run that has diverged: non-finite values, or more kinetic energy than anything but
// instability can explain. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_DIVERGENCE_H
#define TAUT_STABILITY_DIVERGENCE_H

#include "forces/forces.h"
#include "stability/limits.h"

// Records the sources from which the run could take energy (see divergence.c), from the present
// state on: at t = 0, and when a solver continues from another one.
void REAL_NAME(divergence_start)(struct system *system, const taut_energy *energy);

// Called before a sphere is moved or scaled interactively: the energy that it has transferred so
// far, and that of nodes that may then be inside it, counts as explained.
void REAL_NAME(divergence_allow_sphere)(struct system *system, size_t collider, vec3 centre,
                                        double radius);

// Whether the next check will report a divergence: values are not finite, or the kinetic energy is
// a hundred times what a check allows. The same on all workers, which call it together.
bool REAL_NAME(divergence_is_certain)(struct system *system, const struct worker *worker);

// Checks for divergence, and sets system->fault to TAUT_ERROR_DIVERGED with the node at which it
// shows. All workers call it together.
void REAL_NAME(divergence_check)(struct system *system, const struct worker *worker);

// The same after a step in which motion has been cut (surface_contact.h), also by what nodes had
// before: in a run that has diverged everything passes through everything, and a step would take
// minutes. All workers call it together, after the step has been counted.
void REAL_NAME(divergence_check_cut)(struct system *system, const struct worker *worker);

// Whether the check after this step would report it, by the kinetic energy that nodes have before
// its motion is cut: then it need not be cut, nor need what passes be searched for, which takes the
// longer the farther nodes have moved. All workers call it together, and get the same.
bool REAL_NAME(divergence_before_cut)(struct system *system, const struct worker *worker);

// The trace of K of all springs and elements, N/m, at the present positions. It needs those of all
// nodes, or, of each rank with its part, its own. Rounding of positions adds u^2 / 24 times that to
// the energy on average, with u the spacing of coordinates (docs/numerics.md, Divergence). A spring
// has 2 k. Every worker receives the same value. Ends with a barrier.
double REAL_NAME(stiffness_trace)(struct system *system, const struct worker *worker);

#endif
