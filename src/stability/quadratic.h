// Stability limits of the Runge-Kutta methods from the quadratic eigenproblem (lambda^2 M + lambda
// C + K) x = 0, for damping whose eigenvectors are not those of the stiffness. For few nodes the
// matrices are assembled for dense.h; otherwise the fastest eigenvalues are found by Arnoldi's
// method on the linearised problem, using products only. Numeric: compiled for float and for
// double.
#ifndef TAUT_STABILITY_QUADRATIC_H
#define TAUT_STABILITY_QUADRATIC_H

#include "forces/tangent.h"
#include "stability/dense.h"
#include "stability/limits.h"

struct quadratic_steps {
    // Which of the wanted integrators were solved: rk4, unless the eigenvalues did not converge
    // within the available vectors, or memory was lacking.
    bool found[INTEGRATOR_COUNT];
    // For the others, whether the converged eigenvalues allow no more than that step; others may
    // allow less.
    bool stays[INTEGRATOR_COUNT];
    double step[INTEGRATOR_COUNT]; // s; 0: some mode is undamped, so that no step is stable
};

struct quadratic;

// Uses products with `tangent`, which the caller keeps. May fail with TAUT_ERROR_MEMORY.
taut_status REAL_NAME(quadratic_make)(struct system *system, struct tangent *tangent,
                                      struct quadratic **result, taut_error *error);
void REAL_NAME(quadratic_free)(struct quadratic *quadratic);

// If few nodes are free, M, C and K at the state of the tangent's last update, in double: springs
// and contacts by their formulas, gas and wind by products. NULL: there are more nodes, or no
// memory. All workers call it together, and all must release the result; only worker 0 may use the
// scratch.
const struct dense *REAL_NAME(quadratic_dense)(struct quadratic *quadratic,
                                               const struct worker *worker);
void REAL_NAME(quadratic_dense_release)(struct quadratic *quadratic, const struct worker *worker);

// The limits at the state of the tangent's last update. `square` and `damping` are the largest
// eigenvalues of M^-1 K, 1/s2, and of M^-1 C, 1/s; `wanted` has a bit for each integrator. All
// workers together; each gets the same result, whatever their number. The vectors are allocated
// only during the call.
struct quadratic_steps REAL_NAME(quadratic_find)(struct quadratic *quadratic, double square,
                                                 double damping, unsigned wanted,
                                                 const struct worker *worker);

// Whether K M^-1 C = C M^-1 K up to round-off, so that both have common eigenvectors. All workers
// together; each gets the same result.
bool REAL_NAME(quadratic_commutes)(struct quadratic *quadratic, double square, double damping,
                                   const struct worker *worker);

#endif
