// The derivatives of the forces as an operator on vectors, for the solves of implicit integrators
// and for eigenvalues. No matrix is stored; every product loops over the springs.
//
// The stiffness K = -dF/dx and the damping C = -dF/dv, at the state of the last update. K omits the
// position dependence of damping, friction, absorption and wind, so that both matrices are
// symmetric. The parts:
//
//   springs    K: k (u u' + (1 - L0 / L) (I - u u')) between their ends, and k I where L = 0, which
//              has no direction u; C: c u u' (axial), c I (full). Slack and broken springs: none.
//   elements   elements/elements.h: bending and twist are linear, areas and volumes complete
//   drag       C: c I
//   contacts   penalty colliders where a node touches now; K: k n n' and, of a sphere's curvature,
//              -k p / r (I - n n'); C: c_t (I - n n'), and c_n n n' on approach
//   gas        K: -dP/dV g g', with g the gradient of the volume, and -P times the derivative of g.
//              Estimated volumes (box and so on) are taken to change as the enclosed one does.
//   wind       laws face and quadratic where it is relative; C: c A n n' / 9 between the corners of
//              a face, with c = rho C_d |r.n| for the latter. Law node is omitted.
//
// Numeric: compiled for float and for double.
#ifndef TAUT_FORCES_TANGENT_H
#define TAUT_FORCES_TANGENT_H

#include "springs/tangent.h"

// The data of the operator besides the state: contacts, gradients of volumes, scratch.
struct tangent;

// Allocates the operator; called by one worker.
taut_status REAL_NAME(tangent_make)(struct system *system, struct tangent **result,
                                    taut_error *error);
void REAL_NAME(tangent_free)(struct tangent *tangent);

// Updates the constants after they have changed. The state must be updated before the next product.
void REAL_NAME(tangent_refresh)(struct tangent *tangent);

uint64_t REAL_NAME(tangent_bytes)(const struct tangent *tangent);

// The part of the springs, from which preconditioners take single springs.
const struct spring_tangent *REAL_NAME(tangent_springs)(const struct tangent *tangent);

// Sets the nodes whose rows of products and of diagonal blocks are computed from now on; all of
// them where it is not called. Other rows are then undefined. Called by one worker, before an
// update.
struct tangent_rows {
    struct range products, blocks;
};
void REAL_NAME(tangent_set_rows)(struct tangent *tangent, struct tangent_rows rows);

// Linearises the forces at the present x and v, which must not change before the last product.
// Called by all workers together; ends with a barrier. Gas whose volume has collapsed has no part
// in it, and sets no fault.
void REAL_NAME(tangent_update)(struct tangent *tangent, enum tangent_kind kind,
                               struct evaluation evaluation, const struct worker *worker);

// out := (stiffness K + damping C) in. Rows of nodes that are not integrated become 0, and `in`
// must be 0 there. Called by all workers together; ends with a barrier. The same bits for every
// number of threads and every instruction set.
void REAL_NAME(tangent_apply)(struct tangent *tangent, real stiffness, real damping,
                              struct node_vectors in, struct node_vectors out,
                              const struct worker *worker);

// The same for gas, wind and elements only; tangent_has_others: whether there are any.
bool REAL_NAME(tangent_has_others)(const struct tangent *tangent);
void REAL_NAME(tangent_apply_others)(struct tangent *tangent, real stiffness, real damping,
                                     struct node_vectors in, struct node_vectors out,
                                     const struct worker *worker);

// The 3 x 3 diagonal blocks of the same matrix: xx, yy, zz, xy, xz, yz of each node. Called by all
// workers together; ends with a barrier.
void REAL_NAME(tangent_blocks)(struct tangent *tangent, real stiffness, real damping,
                               real (*blocks)[6], const struct worker *worker);

#endif
