// The preconditioner P of the implicit integrators' linear systems: an approximate inverse of A = M
// + stiffness K + damping C. It is the inverse of each node's own 3 x 3 block or, for nodes on
// lines of stiff cloths and ropes, a block-tridiagonal solve along the line. For a node that is not
// integrated it is 0, which excludes its row and column (the filter of Baraff and Witkin 1998).
// Numeric.
#ifndef TAUT_INTEGRATE_PRECONDITIONER_H
#define TAUT_INTEGRATE_PRECONDITIONER_H

#include "forces/tangent.h"
#include "integrate/groups.h"

struct preconditioner {
    struct system *system;
    uint64_t nodes;
    const real *mass;           // 0 for nodes that are not integrated
    union block_group *inverse; // of the diagonal blocks
    struct spring_lines *lines; // NULL: no node is on a line
};

// preconditioner_free frees everything, also after a failure. `mass` is referenced, not copied.
taut_status REAL_NAME(preconditioner_make)(struct system *system, const struct tangent *tangent,
                                           const real *mass, struct preconditioner *made,
                                           taut_error *error);
void REAL_NAME(preconditioner_free)(const struct system *system, struct preconditioner *made);

// Chooses the lines again after the constants of the tangent have changed.
taut_status REAL_NAME(preconditioner_refresh)(const struct tangent *tangent,
                                              struct preconditioner *it, taut_error *error);
uint64_t REAL_NAME(preconditioner_bytes)(const struct preconditioner *it);

// Computes P from the last update of the tangent. Called by all workers together; ends with a
// barrier. Each of several ranks has its rows (springs/shares.h) of the blocks, and its part of the
// lines.
void REAL_NAME(preconditioner_update)(struct preconditioner *it, struct tangent *tangent,
                                      real stiffness, real damping, const struct worker *worker);

// z := P r. Called by all workers together; ends with a barrier. Each of several ranks has its
// rows.
void REAL_NAME(preconditioner_apply)(const struct preconditioner *it, struct node_vectors r,
                                     struct node_vectors z, const struct worker *worker);

#endif
