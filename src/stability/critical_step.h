// The largest stable step of the system in its present state: bounds in one pass, or nearly exact
// values from eigenvalues. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_CRITICAL_STEP_H
#define TAUT_STABILITY_CRITICAL_STEP_H

#include "contact/surface_report.h"
#include "stability/limits.h"
#include "state/system.h"

// Allocates what the functions below need, once: two blocks and two numbers for each node whose
// springs are in no rows (springs/springs.h); some more per node if gas or wind acts; and if
// `computed` values are wanted, twelve numbers per node and a tangent. One worker calls it.
taut_status REAL_NAME(critical_step_prepare)(struct system *system, bool computed,
                                             taut_error *error);

// Called after constants have changed: bounds stay prepared, computed values do not.
void REAL_NAME(critical_step_refresh)(struct system *system);

void REAL_NAME(critical_step_release)(struct system *system);

// Bytes allocated by critical_step_prepare.
uint64_t REAL_NAME(critical_step_bytes)(const struct system *system);

// The weights of the bound (spectral_bound.h), which are those of the last measurement, and follow
// from nothing else that a run has; so checkpoints have them. `weights` are of nodes in the
// builders' order. Without a prepared bound, or where all springs are in rows, there are none.
bool REAL_NAME(critical_step_has_weights)(const struct system *system);
void REAL_NAME(critical_step_weights)(const struct system *system, uint64_t first, uint64_t count,
                                      real *weights);
bool REAL_NAME(critical_step_uses_cliques)(const struct system *system);
void REAL_NAME(critical_step_collect_weights)(struct system *system, const uint64_t *cuts);
void REAL_NAME(critical_step_set_weights)(struct system *system, const double *weights,
                                          bool cliques);

// Measures at the present state, which does not change. All workers call it together.
void REAL_NAME(critical_step_measure)(struct system *system, enum critical_wanted wanted,
                                      struct critical_step *result, const struct worker *worker);

// The guaranteed step of the integrator in use, s, damping included, to 1/500; at most `most`.
// Faster than critical_step_measure, because nodes that allow `most` are skipped early. All workers
// call it together; each gets the same result, whatever their number.
double REAL_NAME(critical_step_up_to)(struct system *system, double most,
                                      const struct worker *worker);

// Whether wind may have come to limit steps of `dt` at present, so that critical_step_up_to has to
// be called: an estimate that takes far less (wind_may_damp of face_bound.h). All workers of all
// ranks call it together; each gets the same result.
bool REAL_NAME(critical_step_may_fall)(struct system *system, double dt,
                                       const struct worker *worker);

// Whether a step is found to be unstable for the integrator in use, with at most `products`
// products with the tangent (48 show everything that can be shown). Must be prepared for computed
// values. All workers call it together; each gets the same result.
bool REAL_NAME(critical_step_exceeded)(struct system *system, double dt, int products,
                                       const struct worker *worker);

// Whether the present motion is that of a step which is not stable: dt exceeds what eigenvalues
// allow, and the motion within bodies is in the fastest modes. Neither depends on how fast bodies
// move as a whole, nor on energies. Without effect on anything else; false where a bound is
// prepared already, as with dt: auto, without memory, and for integrators without such a limit. All
// workers call it together; each gets the same result.
bool REAL_NAME(critical_step_grows)(struct system *system, const struct worker *worker);

// The greatest quotient of what surfaces that touch now have at a node and what the guaranteed step
// allows for there; 0 where no step depends on it. Called in a step, or by all ranks outside of
// one. After critical_step_count_loads bounds of the step count the excess `factor` times; dt_adapt
// uses this temporarily. All workers of all ranks call it together; each gets the same result.
double REAL_NAME(critical_step_load)(struct system *system, const struct worker *worker);
void REAL_NAME(critical_step_count_loads)(struct system *system, double factor,
                                          const struct worker *worker);

// With explicit integrators: what surfaces that touch now leave of the step (struct contact_load).
// Must be prepared. All workers call it together; each gets the same result.
void REAL_NAME(critical_step_of_contacts)(struct system *system, struct contact_load *result,
                                          const struct worker *worker);

// The stiffest spring at a node that is not broken; false if it has none.
bool REAL_NAME(stiffest_spring)(const struct system *system, uint64_t node, uint64_t *spring);

#endif
