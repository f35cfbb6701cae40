// The plain loops over listed springs, against which every other kernel is tested. A loop receives
// a block of elements; nobody else writes to their nodes at that time. Numeric.
#ifndef TAUT_SPRINGS_LISTED_REFERENCE_H
#define TAUT_SPRINGS_LISTED_REFERENCE_H

#include "kernels/kernels.h"
#include "springs/constraint.h"

// Elastic and damping forces of springs (docs/numerics.md, "Forces", 3).
void REAL_NAME(reference_springs)(const struct system *system, const void *unused,
                                  struct plan_block block);

// Solves springs as constraints, which changes the velocities of their nodes; the argument is a
// struct constraint_pass.
void REAL_NAME(reference_constraints)(const struct system *system, const void *argument,
                                      struct plan_block block);

// Adds gravity and drag to the forces on nodes.
void REAL_NAME(reference_finish)(const struct system *system, const struct finish_range *range,
                                 enum sweep_finish finish);

#endif
