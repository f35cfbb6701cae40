// Products with the tangent of springs (forces/tangent.h): what the kernels are handed. Numeric.
//
// Both ends of a spring compute it, so that every node adds up its own row in a fixed order and
// nobody writes to another's. A spring between nodes apart by d, L long, gives to vectors that
// differ by p
//
//   across p + (along - across) / L^2 (d.p) d,   across = s k (1 - L0 / L) + c, along = s k + c
//
// for `s` times the stiffness, and c of the damping what acts in the direction. 1 / L is kept from
// one product to the next: it is the root and the division of all of them.
#ifndef TAUT_KERNELS_TANGENT_H
#define TAUT_KERNELS_TANGENT_H

#include "state/system.h"

// A vector of each node, in and out, and how much of which matrix.
struct tangent_product {
    const real *x, *y, *z; // places
    const real *in[3];
    real *out[3];
    real stiffness, damping;
    real floor; // 1 - L0 / L is at least this: 0 or -INFINITY
};

// Springs of one direction of a grid, counted as the nodes they come from.
struct tangent_direction {
    int64_t offset; // > 0
    int dx, dy, dz;
    real stiffness, rest_length;
    real along, across; // damping
    // 1 / L, REAL_TINY where L = 0, and 0 where there is no spring.
    real *inverse;
    real *ratio; // L0 / L, where rest lengths change; else NULL
};

struct tangent_grid {
    const struct plan_grid *grid;
    int64_t first_node, nodes;
    int64_t reach; // the greatest offset
    int count;
    struct tangent_direction to[DIRECTIONS_MAX];
    real *numbers; // what the directions point into; length `length`
    size_t length;
};

#endif
