// Products with the tangent of a solver, of single or double precision, as its own workers make
// them. Vectors have 3 doubles a node, nodes in internal order.
#ifndef TAUT_TESTS_TANGENT_FIXTURE_H
#define TAUT_TESTS_TANGENT_FIXTURE_H

#include "physics.h"

struct product {
    bool definite;
    double stiffness, damping;
};

// out := (stiffness K + damping C) in, with 0 put for what is not integrated; `in` may be NULL: out
// receives the blocks, 6 doubles a node.
void tangent_product_f32(taut_solver *solver, struct product wanted, const double *in, double *out);
void tangent_product_f64(taut_solver *solver, struct product wanted, const double *in, double *out);

// Components in [-1, 1), 0 where nodes are pinned and, of `flat`, in z; the caller frees it.
double *random_vector(taut_solver *solver, bool flat, uint64_t seed);

// The product, or, `in` being NULL, the blocks, of a double precision solver; the caller frees it.
double *product_of(taut_solver *solver, struct product wanted, const double *in);

double greatest_of(const double *values, uint64_t count);

// To so many times the greatest of b; `name` is printed where they are not.
void assert_vectors_near(const char *name, const double *a, const double *b, uint64_t count,
                         double tolerance);

#endif
