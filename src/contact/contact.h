// Contacts of nodes with colliders: planes, spheres and rooms, which push (response: penalty) or
// project. All workers call the functions that take one together. Numeric.
#ifndef TAUT_CONTACT_CONTACT_H
#define TAUT_CONTACT_CONTACT_H

#include "kernels/kernels.h"

// One touch of a node on a collider surface: depth > 0 along the unit normal that points to the
// free side.
struct contact {
    vec3 normal;
    double depth;
    vec3 surface_velocity;
    int wall; // of a room 0 .. 5, else 0
};

// Contacts of a point with a collider at a time: at most 1, a room up to 6. Returns their number.
// The second also finds surfaces that are not farther than `slack` outside of the point.
int REAL_NAME(collider_contacts)(const struct system *system, size_t collider, double time,
                                 vec3 position, struct contact contacts[6]);
int REAL_NAME(collider_contacts_within)(const struct system *system, size_t collider, double time,
                                        vec3 position, double slack, struct contact contacts[6]);

// What a penalty collider does to a node: k p n - c_t v_t, and - c_n (v.n) n only on the way in
// (NeHe lesson 40); and the power that friction and absorption take.
struct contact_action {
    vec3 force;         // N
    double power_taken; // W
};

static inline struct contact_action contact_action(const struct scene_collider *collider,
                                                   const struct contact *contact, vec3 velocity)
{
    vec3 relative = vec3_subtract(velocity, contact->surface_velocity);
    double approach = vec3_dot(relative, contact->normal);
    vec3 sliding = vec3_subtract(relative, vec3_scale(approach, contact->normal));
    double absorbed = approach < 0 ? collider->absorption * approach : 0;
    double push = collider->stiffness * contact->depth - absorbed;
    return (struct contact_action){
        .force = vec3_subtract(vec3_scale(push, contact->normal),
                               vec3_scale(collider->friction, sliding)),
        .power_taken = collider->friction * vec3_dot(sliding, sliding) + absorbed * approach,
    };
}

// Calls `visit` for each contact of these nodes with penalty colliders. Of one node in the order of
// the colliders.
typedef void contact_visitor(const struct system *system, const struct scene_collider *collider,
                             size_t node, const struct contact *contact, void *context);
void REAL_NAME(contacts_visit)(const struct system *system, double time, struct range nodes,
                               contact_visitor *visit, void *context);

// The nodes of a block, and a worker's share of the blocks.
static inline struct range contact_block_nodes(const struct system *system, size_t block)
{
    const size_t first = block * CONTACT_BLOCK, nodes = (size_t)system->state->nodes;
    return (struct range){first, nodes - first < CONTACT_BLOCK ? nodes : first + CONTACT_BLOCK};
}

static inline struct range contact_block_share(const struct system *system,
                                               const struct worker *worker)
{
    return worker_share(worker, system->contacts.blocks, 1);
}

// No vector (x, y, z) of these nodes is longer.
double REAL_NAME(contact_greatest_length)(const struct system *system, const real *x, const real *y,
                                          const real *z, struct range nodes);

// Bit i: node i of a block may be less than `slack` away from a collider with that response, or
// inside of it. Returns whether any may. By the worker whose block it is.
bool REAL_NAME(contacts_within)(const struct system *system, enum collider_response response,
                                double time, struct range nodes, double slack,
                                uint64_t near[CONTACT_BLOCK / 64]);

// Finds the blocks of nodes that may touch a penalty collider in this evaluation of the forces:
// contacts.found says whether there are any, and colliders_add visits these alone. Has a barrier
// where there are such colliders.
void REAL_NAME(contacts_find)(struct system *system, double time, const struct worker *worker);

void REAL_NAME(colliders_add)(struct system *system, double time, const struct worker *worker);

// response: project, at the end of a step, or of a substep of xpbd. A node that is
// found inside is put on the surface, and does not go in any more. Where it did not touch before
// this is an impact: it leaves with `restitution` times its speed, and the rest of its velocity is
// multiplied by `keep`. Where it did, friction slows it for the whole step. Without a barrier at
// the end; then contacts has the work done on each block, and whether a node of it has changed.
void REAL_NAME(colliders_project)(struct system *system, double time, const struct worker *worker);

// Whether that may change a node at all; the same on every worker. `passed`: it is done already,
// since nothing was near or has been.
bool REAL_NAME(colliders_near)(struct system *system, double time, bool *passed,
                               const struct worker *worker);

// After a collider was moved or changed from outside.
void REAL_NAME(colliders_changed)(struct system *system);

// What the projection must know of the start of a step, once all velocities are known.
void REAL_NAME(colliders_remember)(struct system *system, double time, const struct worker *worker);

// What nodes touch at the start of a run.
void REAL_NAME(colliders_start)(struct system *system, double time, const struct worker *worker);

// After constants have changed: the same, but what nodes touch stays known.
void REAL_NAME(colliders_restart)(struct system *system, double time, const struct worker *worker);

#endif
