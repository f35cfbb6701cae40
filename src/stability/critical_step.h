// The largest stable step of the system in its present state: bounded in one pass, or nearly exact
// from eigenvalues. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_CRITICAL_STEP_H
#define TAUT_STABILITY_CRITICAL_STEP_H

#include "stability/limits.h"
#include "state/system.h"

// Allocates what the functions below need, once: two blocks and two numbers for each node whose
// springs are in no rows (springs/springs.h); where gas or wind acts, some more for each node; and
// if `sharp` values are wanted, twelve numbers a node and a tangent. By one worker alone.
taut_status REAL_NAME(critical_step_prepare)(struct system *system, bool sharp, taut_error *error);

// After constants have changed: bounds stay prepared, sharp values do not.
void REAL_NAME(critical_step_refresh)(struct system *system);

void REAL_NAME(critical_step_forget)(struct system *system);

// Bytes held for it.
uint64_t REAL_NAME(critical_step_bytes)(const struct system *system);

// Measures at the present state, which stays as it is. All workers together.
void REAL_NAME(critical_step_measure)(struct system *system, enum critical_wanted wanted,
                                      struct critical_step *result, const struct worker *worker);

// The guaranteed step of the integrator in use, damping included, to 1/500, or `most`, s, if it is
// larger: quicker than the above, because nodes that allow as much are done with at once. All
// workers together; each gets the same, whatever their number.
double REAL_NAME(critical_step_up_to)(struct system *system, double most,
                                      const struct worker *worker);

// Whether a step is seen to be unstable for the integrator in use, from so many products with the
// tangents at most (48 show what can be shown): to be prepared as sharp values are. All workers
// together; each gets the same.
bool REAL_NAME(critical_step_exceeded)(struct system *system, double dt, int products,
                                       const struct worker *worker);

// The stiffest spring that is not broken at a node; false if it has none.
bool REAL_NAME(stiffest_spring)(const struct system *system, uint64_t node, uint64_t *spring);

#endif
