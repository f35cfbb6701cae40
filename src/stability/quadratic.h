// Stability limits of the Runge-Kutta methods from the quadratic eigenproblem
// (lambda^2 M + lambda C + K) x = 0, for damping whose eigenvectors are not those of the stiffness:
// of few nodes the matrices, for dense.h; else the fastest eigenvalues by Arnoldi's method on its
// linear form, with products alone. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_QUADRATIC_H
#define TAUT_STABILITY_QUADRATIC_H

#include "forces/tangent.h"
#include "stability/dense.h"
#include "stability/limits.h"

struct quadratic_steps {
    // Of the integrators wanted, which were found: rk4, unless the eigenvalues did not converge in
    // the vectors that there are, or there was no memory for them.
    bool found[INTEGRATOR_COUNT];
    // Of the others, whether the eigenvalues that have converged allow no more than that step; some
    // that have not may allow less.
    bool stays[INTEGRATOR_COUNT];
    double step[INTEGRATOR_COUNT]; // s; 0: some mode is not damped, so that no step is stable
};

struct quadratic;

// Products with the tangent, which is somebody else's. TAUT_ERROR_MEMORY without room.
taut_status REAL_NAME(quadratic_make)(struct system *system, struct tangent *tangent,
                                      struct quadratic **result, taut_error *error);
void REAL_NAME(quadratic_free)(struct quadratic *quadratic);

// Where few nodes are free, M, C and K at the state of the tangent's last update, in double:
// springs and contacts by their formulas, gas and wind by products. NULL: there are more nodes, or
// no memory. All workers together, worker 0 alone may use the scratch; to be released by all.
const struct dense *REAL_NAME(quadratic_dense)(struct quadratic *quadratic,
                                               const struct worker *worker);
void REAL_NAME(quadratic_dense_release)(struct quadratic *quadratic, const struct worker *worker);

// The limits at the state of the tangent's last update; `square` and `damping` are the largest
// eigenvalues of M^-1 K, 1/s2, and of M^-1 C, 1/s; `wanted` has a bit for each integrator. All
// workers together; each gets the same, whatever their number. The vectors are allocated for as
// long as it takes.
struct quadratic_steps REAL_NAME(quadratic_find)(struct quadratic *quadratic, double square,
                                                 double damping, unsigned wanted,
                                                 const struct worker *worker);

// Whether K M^-1 C = C M^-1 K but for round-off, so that both have their eigenvectors in common.
// All workers together; each gets the same.
bool REAL_NAME(quadratic_commutes)(struct quadratic *quadratic, double square, double damping,
                                   const struct worker *worker);

#endif
