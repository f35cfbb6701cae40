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

// Contact of surfaces, with the rows that the last evaluation at a stage has found
// (surface_tangent.h); only of implicit integrators. A product is prepared by all workers together,
// once `in` is complete, and ends with a barrier if there is any; then its rows are added by node.
void REAL_NAME(surface_tangent_prepare)(const struct system *system, real stiffness, real damping,
                                        struct node_vectors in, const struct worker *worker);
void REAL_NAME(surface_tangent_apply)(const struct system *system, struct node_vectors out,
                                      struct range nodes);
void REAL_NAME(surface_tangent_blocks)(const struct system *system, real stiffness, real damping,
                                       real (*blocks)[6], struct range nodes);

// W, of what moves mesh colliders and spheres against the forces of these rows on them: [0] at the
// state of the system, [1] what its solution, a change of velocities, adds. By one worker.
void REAL_NAME(surface_tangent_collider_powers)(const struct system *system, double g,
                                                struct node_vectors solution, double powers[2]);

// Friction in an implicit step (implicit_friction.c): what its systems assume of the contacts.
// Nothing where friction_assumptions are not wanted.
//
// friction_predict: at the start of the step, from the memory, for a first stage at which nodes
// have gone on with their velocities for `slip_time`, s. From then until friction_end forces are
// those of the assumptions; friction_stage: those of a stage with another `slip_time` follow. Both
// end with a barrier.
void REAL_NAME(friction_predict)(struct system *system, double slip_time,
                                 const struct worker *worker);
void REAL_NAME(friction_stage)(struct system *system, double slip_time,
                               const struct worker *worker);
void REAL_NAME(friction_end)(struct system *system, const struct worker *worker);

// Once a system has been solved, before nodes follow its solution, a change of velocities: what the
// contacts do there is assumed from now on. `g`: s, by which positions change with velocities;
// `applied`: the part of the last solution that has been followed since it was revised.
// Returns the same on every worker.
struct friction_revision {
    double change; // of the forces, as a fraction of all of them
    double pull;   // of the system's normal forces, as a fraction of those that push
};

struct friction_revision REAL_NAME(friction_revise)(struct system *system, double time, double g,
                                                    double applied, struct node_vectors solution,
                                                    const struct worker *worker);

#endif
