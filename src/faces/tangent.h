// The tangent of wind and gas (forces/tangent.h). A face contributes the same to each of its
// corners: contributions are computed face by face, and then every node sums those of its own
// faces, in their order. Gas also couples all nodes of a body: -dP/dV g g' with g the gradient of
// the volume. Numeric.
#ifndef TAUT_FACES_TANGENT_H
#define TAUT_FACES_TANGENT_H

#include "springs/tangent.h"

// Faces that wind or gas acts on, and those at each node: at[first[node]] and so on.
struct face_rows {
    uint64_t count, corners;
    uint32_t (*nodes)[3];
    uint32_t *body;
    uint64_t *first; // length nodes + 1
    uint32_t *at;
    real *drag;       // of the wind on each face, to be multiplied by S (S . sum of v), S = A n
    real (*force)[3]; // contribution of a product to each corner of a face
};

// Gas of a body: its pressure, -dP/dV, and g . in of the present product.
struct tangent_gas {
    bool present;
    real pressure, slope, compression;
};

struct face_tangent {
    struct system *system;
    size_t nodes;
    enum tangent_kind kind;
    bool any_gas, any_wind; // any_wind: a wind that damps
    struct face_rows faces;
    struct tangent_gas *gas;      // of each body
    struct node_vectors gradient; // of the volume of a node's body; where any_gas
};

taut_status REAL_NAME(face_tangent_make)(struct system *system, struct face_tangent *tangent,
                                         taut_error *error);
void REAL_NAME(face_tangent_free)(struct face_tangent *tangent);
uint64_t REAL_NAME(face_tangent_bytes)(const struct face_tangent *tangent);

// Takes the present state: the wind's damping of each face; pressures, and gradients of a share of
// the nodes. Ends with a barrier where there are faces.
void REAL_NAME(face_tangent_update)(struct face_tangent *tangent, struct evaluation evaluation,
                                    const struct worker *worker);

// The contribution of each face to a product, and how much the product compresses each body with
// gas. Ends with a barrier where there is something.
void REAL_NAME(face_tangent_prepare)(struct face_tangent *tangent, real stiffness, real damping,
                                     struct node_vectors in, const struct worker *worker);

// Adds these to the rows of nodes.
void REAL_NAME(face_tangent_apply)(const struct face_tangent *tangent, real stiffness,
                                   struct node_vectors out, struct range nodes);

void REAL_NAME(face_tangent_blocks)(const struct face_tangent *tangent, real stiffness,
                                    real damping, real (*blocks)[6], struct range nodes);

#endif
