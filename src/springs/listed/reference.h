// The plain loops over listed springs, which every other kernel is tested against. A loop receives
// a block of elements whose nodes nobody else writes meanwhile. Numeric.
#ifndef TAUT_SPRINGS_LISTED_REFERENCE_H
#define TAUT_SPRINGS_LISTED_REFERENCE_H

#include "springs/constraint.h"
#include "springs/grid/sweep.h"
#include "state/system.h"

typedef void (*block_kernel)(const struct system *system, const void *argument,
                             struct plan_block block);

// Runs a kernel over all blocks of a set: colour after colour, the blocks of a colour shared among
// the workers, then the overflow by worker 0. Ends with a barrier.
void REAL_NAME(run_coloured)(const struct system *system, const struct plan_set *set,
                             block_kernel kernel, const void *argument,
                             const struct worker *worker);

// Elastic and damping forces of springs (docs/numerics.md, "Forces", 3).
void REAL_NAME(reference_springs)(const struct system *system, const void *unused,
                                  struct plan_block block);

// Springs as constraints; `pass` is a struct constraint_pass. They change the velocities of their
// nodes.
void REAL_NAME(reference_constraints)(const struct system *system, const void *pass,
                                      struct plan_block block);

// Gravity and drag of nodes.
void REAL_NAME(reference_finish)(const struct system *system, const struct finish_range *range,
                                 enum sweep_finish finish);

#endif
