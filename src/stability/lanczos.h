// The largest eigenvalue of M^-1 (s K + d C) and its vector, where K and C are the tangents of the
// forces at the present state (forces/tangent.h): by Lanczos' recurrence in the inner product of M,
// without a matrix. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_LANCZOS_H
#define TAUT_STABILITY_LANCZOS_H

#include "forces/tangent.h"

struct lanczos;

// Beyond so many nodes the top of the spectrum is found only to LANCZOS_REMAINS, which takes some
// hundred products at most, whatever their number.
enum { LANCZOS_MANY_NODES = 20000 };
#define LANCZOS_REMAINS 2e-4

// Allocates four vectors of three numbers per node, and a tangent. May fail with TAUT_ERROR_MEMORY.
taut_status REAL_NAME(lanczos_make)(struct system *system, struct lanczos **result,
                                    taut_error *error);
void REAL_NAME(lanczos_free)(struct lanczos *lanczos);
uint64_t REAL_NAME(lanczos_bytes)(const struct lanczos *lanczos);

// The tangent used for the products.
struct tangent *REAL_NAME(lanczos_tangent)(const struct lanczos *lanczos);

// The number of products so far.
int REAL_NAME(lanczos_products)(const struct lanczos *lanczos);

// Linearises at the present state. All workers call it together, as the function below.
void REAL_NAME(lanczos_update)(struct lanczos *lanczos, struct evaluation evaluation,
                               const struct worker *worker);

// The eigenvalue in 1/s2 (for s in s0 and d in 1/s). Every worker gets the same
// result, whatever their number. It never exceeds the exact one, and is smaller by a relative error
// of some 1e-5 (some 1e-4 if the top of the spectrum is dense), for many nodes by up to
// LANCZOS_REMAINS as it is estimated from the last products. 0 if no node is free; not finite if
// the state is not.
double REAL_NAME(lanczos_largest)(struct lanczos *lanczos, double stiffness, double damping,
                                  const struct worker *worker);

// That of K alone, and by the same products its least one, as accurately in units of the largest
// where this is below `matters`.
double REAL_NAME(lanczos_ends)(struct lanczos *lanczos, double matters, double *least,
                               const struct worker *worker);

// An eigenvalue with the Rayleigh quotients of its vector x: value = s square + d damping.
struct lanczos_mode {
    double value;
    double square, damping; // x'Kx / x'Mx, 1/s2; x'Cx / x'Mx, 1/s
    // How far x is from an eigenvector of K and of C: the M-norms of M^-1 K x - square x and M^-1 C
    // x - damping x. Each matrix has an eigenvalue at most that far from the quotient.
    double square_error, damping_error;
};

// The same with its vector, which takes as many products again; s and d may be negative. `scale` is
// the magnitude of the eigenvalues: a change by less than some 1e-6 of it counts as converged.
struct lanczos_mode REAL_NAME(lanczos_mode)(struct lanczos *lanczos, double stiffness,
                                            double damping, double scale,
                                            const struct worker *worker);

// Whether the eigenvalue exceeds the limit, which takes far fewer products: at most `products`, and
// at most 48. Also false if these are not enough to show it.
bool REAL_NAME(lanczos_exceeds)(struct lanczos *lanczos, double stiffness, double damping,
                                double limit, int products, const struct worker *worker);

// The Rayleigh quotient of the velocities of the present state less those of the bodies they belong
// to: the mean of the eigenvalues, each by the part of the kinetic energy in its mode. 0 if nothing
// moves so.
double REAL_NAME(lanczos_of_velocities)(struct lanczos *lanczos, double stiffness, double damping,
                                        const struct worker *worker);

#endif
