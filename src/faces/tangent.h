// The tangent of wind and gas (forces/tangent.h). A face contributes equally to its corners:
// contributions are computed face by face, and then every node sums those of its faces, in order.
// Gas also couples all nodes of a body: -dP/dV g g' with g the gradient of the volume. Numeric.
#ifndef TAUT_FACES_TANGENT_H
#define TAUT_FACES_TANGENT_H

#include "springs/tangent.h"

// Faces on which wind or gas acts, and the faces of each node that is listed: at[first[node]] ..
// at[first[node + 1] - 1].
struct face_rows {
    uint64_t count, corners;
    uint32_t (*nodes)[3];
    uint32_t *body;
    uint64_t *first; // length nodes + 1
    uint32_t *at;
    real *drag;       // of the wind on each face: the factor of S (S . sum of v), S = A n
    real (*force)[3]; // contribution of a product to each corner of a face
};

// The gas of a body: its pressure, -dP/dV, and g . in of the present product.
struct tangent_gas {
    bool present;
    real pressure, slope, compression;
};

struct face_tangent {
    struct system *system;
    size_t nodes;
    enum tangent_kind kind;
    struct range rows;      // nodes whose products are wanted
    struct range listed;    // nodes with faces in `faces`
    bool any_gas, any_wind; // any_wind: wind that damps
    struct face_rows faces;
    struct tangent_gas *gas;      // for each body
    struct node_vectors gradient; // of the volume of a node's body; if any_gas
};

taut_status REAL_NAME(face_tangent_make)(struct system *system, struct face_tangent *tangent,
                                         taut_error *error);
void REAL_NAME(face_tangent_free)(struct face_tangent *tangent);
uint64_t REAL_NAME(face_tangent_bytes)(const struct face_tangent *tangent);

// Updates to the present state: the wind's damping of each face; pressures, and gradients of a
// share of the nodes. Ends with a barrier if there are faces.
void REAL_NAME(face_tangent_update)(struct face_tangent *tangent, struct evaluation evaluation,
                                    const struct worker *worker);

// Computes the contribution of each face to a product, and the compression of each body with gas by
// it. Ends with a barrier if there are faces.
void REAL_NAME(face_tangent_prepare)(struct face_tangent *tangent, real stiffness, real damping,
                                     struct node_vectors in, const struct worker *worker);

// Adds these contributions to the rows of nodes.
void REAL_NAME(face_tangent_apply)(const struct face_tangent *tangent, real stiffness,
                                   struct node_vectors out, struct range nodes);

void REAL_NAME(face_tangent_blocks)(const struct face_tangent *tangent, real stiffness,
                                    real damping, real (*blocks)[6], struct range nodes);

#endif
