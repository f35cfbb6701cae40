// The largest eigenvalue of M^-1 (s K + d C) and its vector, K and C the tangents of the forces at
// the present state (forces/tangent.h): by Lanczos' recurrence in the inner product of M, without a
// matrix. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_LANCZOS_H
#define TAUT_STABILITY_LANCZOS_H

#include "forces/tangent.h"

struct lanczos;

// Four vectors of three numbers a node, and a tangent. TAUT_ERROR_MEMORY without room for them.
taut_status REAL_NAME(lanczos_make)(struct system *system, struct lanczos **result,
                                    taut_error *error);
void REAL_NAME(lanczos_free)(struct lanczos *lanczos);
uint64_t REAL_NAME(lanczos_bytes)(const struct lanczos *lanczos);

// What its products are made with.
struct tangent *REAL_NAME(lanczos_tangent)(const struct lanczos *lanczos);

// Linearises at the present state. All workers together, as of the function below.
void REAL_NAME(lanczos_update)(struct lanczos *lanczos, struct evaluation evaluation,
                               const struct worker *worker);

// The eigenvalue in 1/s2 (for s in s0 and d in 1/s); every worker gets the same, whatever their
// number. It never exceeds the true one, and falls short of it by a relative error of some 1e-5
// (some 1e-4 where the top of the spectrum is dense). 0 where no node is free; not finite where the
// state is not.
double REAL_NAME(lanczos_largest)(struct lanczos *lanczos, double stiffness, double damping,
                                  const struct worker *worker);

// An eigenvalue with the quotients of its vector x: value = s square + d damping.
struct lanczos_mode {
    double value;
    double square, damping; // x'Kx / x'Mx, 1/s2; x'Cx / x'Mx, 1/s
    // How far x is from an eigenvector of K and of C: the lengths of M^-1 K x - square x and
    // M^-1 C x - damping x in M. An eigenvalue of each is as near to the quotient.
    double square_error, damping_error;
};

// The same with its vector, which takes as many products again; s and d may be negative. `scale` is
// the size of eigenvalues: one that changes by less than some 1e-6 of it counts as converged.
struct lanczos_mode REAL_NAME(lanczos_mode)(struct lanczos *lanczos, double stiffness,
                                            double damping, double scale,
                                            const struct worker *worker);

// Whether it exceeds the limit, which takes far fewer products: at most the given number of them,
// and at most 48. False also if they do not show it.
bool REAL_NAME(lanczos_exceeds)(struct lanczos *lanczos, double stiffness, double damping,
                                double limit, int products, const struct worker *worker);

#endif
