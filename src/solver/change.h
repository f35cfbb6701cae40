// Constants that change in place between two steps: refreshes what a system derives from them, and
// remembers the part of the previous state that is needed for it. Private to solver/; set.c checks
// values and writes them into the topology. Numeric.
#ifndef TAUT_SOLVER_CHANGE_H
#define TAUT_SOLVER_CHANGE_H

#include "state/system.h"

struct change;

// Called before the first value changes, by one worker. change_free releases the result, also after
// a failure.
taut_status REAL_NAME(change_begin)(struct system *system, struct change **result,
                                    taut_error *error);

// If the integrator continues from the forces of the last step: evaluates the forces of the old
// constants at the present state. All workers call it together.
void REAL_NAME(change_save)(struct system *system, struct change *change,
                            const struct worker *worker);

// Called after values in the topology have changed, by one worker: refreshes constants, kernel
// variants and tangents, and if `stiffnesses`, the line preconditioner, which depends on them.
// Cannot fail without `stiffnesses`, unless restitution is new.
taut_status REAL_NAME(change_refresh)(struct system *system, bool stiffnesses, taut_error *error);

// Called before the next step or evaluation. The system then continues like one that was made with
// the present constants and received this state. All workers call it together.
void REAL_NAME(change_finish)(struct system *system, const struct change *change,
                              const struct worker *worker);

void REAL_NAME(change_free)(struct system *system, struct change *change);

#endif
