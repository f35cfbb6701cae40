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

#endif
