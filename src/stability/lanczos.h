// The largest eigenvalue of M^-1 (s K + d C), K and C the tangents of the forces at the present
// state (forces/tangent.h): by Lanczos' recurrence in the inner product of M, without a matrix.
// Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_LANCZOS_H
#define TAUT_STABILITY_LANCZOS_H

#include "forces/tangent.h"

struct lanczos;

// Three vectors of three numbers a node, and a tangent. TAUT_ERROR_MEMORY without room for them.
taut_status REAL_NAME(lanczos_make)(struct system *system, struct lanczos **result,
                                    taut_error *error);
void REAL_NAME(lanczos_free)(struct lanczos *lanczos);
uint64_t REAL_NAME(lanczos_bytes)(const struct lanczos *lanczos);

// Linearises at the present state. All workers together, as of the function below.
void REAL_NAME(lanczos_update)(struct lanczos *lanczos, struct moment moment,
                               const struct worker *worker);

// The eigenvalue in 1/s2 (for s in s0 and d in 1/s); every worker gets the same, whatever their
// number. It never exceeds the true one, and falls short of it by a relative error of some 1e-5
// (some 1e-4 where the top of the spectrum is crowded). 0 where no node is free; not finite where
// the state is not.
double REAL_NAME(lanczos_largest)(struct lanczos *lanczos, double stiffness, double damping,
                                  const struct worker *worker);

// Whether it exceeds the limit, for which far fewer products will do: false also where they do not
// show it.
bool REAL_NAME(lanczos_exceeds)(struct lanczos *lanczos, double stiffness, double damping,
                                double limit, const struct worker *worker);

#endif
