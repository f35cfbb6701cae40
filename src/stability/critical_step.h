// The largest stable step of the system as it stands, bounded in one pass. Numeric: compiled for
// float and for double.
#ifndef TAUT_STABILITY_CRITICAL_STEP_H
#define TAUT_STABILITY_CRITICAL_STEP_H

#include "stability/limits.h"
#include "state/system.h"

// omega^2 <= max over nodes of lambda_max(sum over its springs of w (k n n' + k (1 - L0/L)+ (I - n
// n'))) / m, with w 2, or 1 where the other end is fixed: x'Kx = sum k (n.(x_a - x_b))^2 and (p -
// q)^2 <= 2 p^2 + 2 q^2. Penalty colliders count at every node, as if it touched all of them.
// Damping and gas do not count. Serial; TAUT_ERROR_MEMORY without room for six doubles a node.
taut_status REAL_NAME(critical_step_bound)(const struct system *system,
                                           struct critical_step *result, taut_error *error);

// The stiffest spring that is not broken at a node; false if it has none.
bool REAL_NAME(stiffest_spring)(const struct system *system, uint64_t node, uint64_t *spring);

#endif
