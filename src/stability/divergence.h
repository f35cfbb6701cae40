// Finds a run that has diverged: values that are not finite, or more kinetic energy than anything
// but instability can explain. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_DIVERGENCE_H
#define TAUT_STABILITY_DIVERGENCE_H

#include "forces/forces.h"
#include "stability/limits.h"

// Adds up where the run could take energy from (see divergence.c), from the present state on: at
// t = 0, and where a solver continues from another one.
void REAL_NAME(divergence_start)(struct system *system, const taut_energy *energy);

// Before a sphere is set elsewhere from outside: what it pushed so far and may now find itself
// inside of counts as explained.
void REAL_NAME(divergence_allow_sphere)(struct system *system, size_t collider, vec3 centre,
                                        double radius);

// Checks, and sets system->fault to TAUT_ERROR_DIVERGED with the node where it shows. All workers
// together.
void REAL_NAME(divergence_check)(struct system *system, const struct worker *worker);

#endif
