// Penalty colliders in a tangent (forces/tangent.h): a block for each node that touches one.
// Numeric.
#ifndef TAUT_CONTACT_TANGENT_H
#define TAUT_CONTACT_TANGENT_H

#include "springs/tangent.h"

// For a node that touches colliders: blocks of K and C.
struct contact_blocks {
    real stiffness[6], damping[6];
};

struct contact_tangent {
    struct system *system;
    size_t nodes;
    enum tangent_kind kind;
    struct contact_blocks *contacts; // NULL: no penalty colliders
    uint8_t *touching;
};

taut_status REAL_NAME(contact_tangent_make)(struct system *system, struct contact_tangent *tangent,
                                            taut_error *error);
void REAL_NAME(contact_tangent_free)(struct contact_tangent *tangent);
uint64_t REAL_NAME(contact_tangent_bytes)(const struct contact_tangent *tangent);
void REAL_NAME(contact_tangent_update)(struct contact_tangent *tangent, double time,
                                       struct range nodes);
void REAL_NAME(contact_tangent_apply)(const struct contact_tangent *tangent, real stiffness,
                                      real damping, struct node_vectors in, struct node_vectors out,
                                      struct range nodes);
void REAL_NAME(contact_tangent_blocks)(const struct contact_tangent *tangent, real stiffness,
                                       real damping, real (*blocks)[6], struct range nodes);

// Adds the exact blocks of a node's present contacts, in double; any worker.
void REAL_NAME(contact_blocks_of)(const struct system *system, double time, size_t node,
                                  double stiffness[3][3], double damping[3][3]);

// Contact of surfaces, with the rows that the last evaluation at a stage has found (surface_tangent.h);
// only of implicit integrators. A product is prepared by all workers together, once `in` is complete,
// and ends with a barrier if there is any; then its rows are added by node.
void REAL_NAME(surface_tangent_prepare)(const struct system *system, real stiffness,
                                        struct node_vectors in, const struct worker *worker);
void REAL_NAME(surface_tangent_apply)(const struct system *system, struct node_vectors out,
                                      struct range nodes);
void REAL_NAME(surface_tangent_blocks)(const struct system *system, real stiffness,
                                       real (*blocks)[6], struct range nodes);

#endif
