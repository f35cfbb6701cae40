// Constants that change in place between two steps: what a system derives from them, and what it
// has to remember of the state before. Private to solver/; set.c checks values and writes them into
// the topology. Numeric.
#ifndef TAUT_SOLVER_CHANGE_H
#define TAUT_SOLVER_CHANGE_H

#include "state/system.h"

struct change;

// Before the first value changes; by one worker alone. change_free takes it, after a failure too.
taut_status REAL_NAME(change_begin)(struct system *system, struct change **result,
                                    taut_error *error);

// Evaluates the forces that the old constants give here, where an integrator continues from those
// of the last step. All workers together.
void REAL_NAME(change_remember)(struct system *system, struct change *change,
                                const struct worker *worker);

// After values in the topology have changed: constants, kernel variants, tangents, the
// preconditioner's lines, which depend on stiffnesses. By one worker alone. Without those, and
// without restitution where there was none, it cannot fail.
taut_status REAL_NAME(change_refresh)(struct system *system, bool stiffnesses, taut_error *error);

// Before the next step or evaluation. Continues as a system would that had been made with the
// present constants and been given this state. All workers together.
void REAL_NAME(change_finish)(struct system *system, const struct change *change,
                              const struct worker *worker);

void REAL_NAME(change_free)(struct system *system, struct change *change);

#endif
