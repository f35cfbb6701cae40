// All eigenvalues of small systems: explicit matrices K and C, in double whatever the precision of
// the run, so that modes next to stiffer or more strongly damped ones are not lost in round-off.
// Plain C gives the same bits on every machine. The matrices are assembled in quadratic.c.
#ifndef TAUT_STABILITY_DENSE_H
#define TAUT_STABILITY_DENSE_H

#include <stddef.h>

#include "stability/limits.h"

struct dense {
    int size;                    // rows, three per free node
    double *stiffness, *damping; // row by row: M^-1/2 K M^-1/2, 1/s2; M^-1/2 C M^-1/2, 1/s
    double *scratch;             // dense_scratch(size) numbers
    // Absolute errors of the elements beyond round-off in double.
    double stiffness_error, damping_error;
    // x' M^-1/2 C M^-1/2 x as a sum of the non-negative contributions of springs and contacts. For
    // an undamped x almost nothing remains, whereas the matrix elements would leave their
    // round-off.
    double (*damping_of)(const void *context, const double *x);
    const void *context;
};

// The number of elements of the matrices and the scratch.
size_t dense_scratch(int size);

struct dense_steps {
    bool found;                    // false: the iteration has not converged
    double step[INTEGRATOR_COUNT]; // s, of the Runge-Kutta methods; 0: none is stable
    bool exact[INTEGRATOR_COUNT];  // false: a guaranteed step, because round-off hides the limit
};

// Limits of the Runge-Kutta methods from all roots of lambda^2 M + lambda C + K. `square` is the
// largest modulus of an eigenvalue of M^-1 K, `damping` the largest eigenvalue of M^-1 C. About 15
// (2 size)^3 operations.
struct dense_steps dense_find(const struct dense *dense, double square, double damping);

// The smallest h at which limit M - damping h C - stiffness h^2 K becomes singular; INFINITY: none
// (limits.h, struct step_form). K may be indefinite.
double dense_form_step(const struct dense *dense, const struct step_form *form, double damping);

#endif
