// The plain loops over listed springs, which every other kernel is tested against. A loop receives
// a block of elements whose nodes nobody else writes meanwhile. Numeric.
#ifndef TAUT_SPRINGS_LISTED_REFERENCE_H
#define TAUT_SPRINGS_LISTED_REFERENCE_H

#include "kernels/kernels.h"
#include "springs/constraint.h"

// Elastic and damping forces of springs (docs/numerics.md, "Forces", 3).
void REAL_NAME(reference_springs)(const struct system *system, const void *unused,
                                  struct plan_block block);

// Springs as constraints; the argument is a struct constraint_pass. They change the velocities of
// their nodes.
void REAL_NAME(reference_constraints)(const struct system *system, const void *argument,
                                      struct plan_block block);

// Gravity and drag of nodes.
void REAL_NAME(reference_finish)(const struct system *system, const struct finish_range *range,
                                 enum sweep_finish finish);

#endif
