// Products with the tangent of a solver, in single or double precision, computed by its own
// workers. Vectors have 3 doubles per node, in internal order.
#ifndef TAUT_TESTS_TANGENT_FIXTURE_H
#define TAUT_TESTS_TANGENT_FIXTURE_H

#include "physics.h"

struct product {
    bool definite;
    double stiffness, damping;
};

// out := (stiffness K + damping C) in, with 0 for nodes that are not integrated. If `in` is NULL,
// out receives the diagonal blocks, 6 doubles per node.
void tangent_product_f32(taut_solver *solver, struct product wanted, const double *in, double *out);
void tangent_product_f64(taut_solver *solver, struct product wanted, const double *in, double *out);

// A vector with components in [-1, 1), 0 where nodes are pinned and, if `flat`, in z; the caller
// frees it.
double *random_vector(taut_solver *solver, bool flat, uint64_t seed);

// The product, or the blocks if `in` is NULL, of a double precision solver; the caller frees it.
double *product_of(taut_solver *solver, struct product wanted, const double *in);

double greatest_of(const double *values, uint64_t count);

// Asserts equality to `tolerance` times the greatest element of b; prints `name` on failure.
void assert_vectors_near(const char *name, const double *a, const double *b, uint64_t count,
                         double tolerance);

#endif
