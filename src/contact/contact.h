// Contacts of nodes with colliders: planes, spheres and rooms, which exert penalty forces
// (response: penalty) or project nodes (response: project). Functions with a worker argument are
// called by all workers together. Numeric.
#ifndef TAUT_CONTACT_CONTACT_H
#define TAUT_CONTACT_CONTACT_H

#include "kernels/kernels.h"
#include "springs/exchange.h"

// A contact of a node with a collider surface: depth > 0 along the unit normal, which points to the
// free side.
struct contact {
    vec3 normal;
    double depth;
    vec3 surface_velocity;
    int wall; // 0 .. 5 for a room, otherwise 0
};

// The contacts of a point with a collider at a time: at most 1, for a room up to 6. Returns their
// number. collider_contacts_within also finds surfaces that are at most `slack` away from a point
// outside.
int REAL_NAME(collider_contacts)(const struct system *system, size_t collider, double time,
                                 vec3 position, struct contact contacts[6]);
int REAL_NAME(collider_contacts_within)(const struct system *system, size_t collider, double time,
                                        vec3 position, double slack, struct contact contacts[6]);

// The action of a penalty collider on a node: k p n - c_t v_t, and on approach - c_n (v.n) n (NeHe
// lesson 40); and the power taken by friction and absorption. Instead of c_t v_t the collider may
// have Coulomb friction (friction.h).
struct contact_action {
    vec3 force;              // N
    double power_dissipated; // W; without that of sliding, which friction_update measures
};

struct contact_motion {
    vec3 sliding;        // m/s, of the node along the surface
    double approach;     // m/s, below 0 if the node approaches
    double normal_force; // N, not negative in a contact
};

static inline struct contact_motion contact_motion(const struct scene_collider *collider,
                                                   const struct contact *contact, vec3 velocity)
{
    vec3 relative = vec3_subtract(velocity, contact->surface_velocity);
    double approach = vec3_dot(relative, contact->normal);
    double absorbed = approach < 0 ? collider->absorption * approach : 0;
    return (struct contact_motion){
        .sliding = vec3_subtract(relative, vec3_scale(approach, contact->normal)),
        .approach = approach,
        .normal_force = collider->stiffness * contact->depth - absorbed,
    };
}

struct contact_action REAL_NAME(contact_action)(const struct system *system,
                                                const struct scene_collider *collider, size_t node,
                                                const struct contact *contact);

// Calls `visit` for each contact of these nodes with penalty colliders; for one node in the order
// of the colliders.
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

// The blocks that this process evaluates: on several ranks, those with nodes of its chunks
// (springs/plan_parts.h).
static inline struct range contact_blocks(const struct system *system)
{
    if (!system->exchange)
        return (struct range){0, system->contacts.blocks};
    const struct plan_part *part = REAL_NAME(exchange_part)(system->exchange);
    return (struct range){(size_t)part->first_touched / CONTACT_BLOCK,
                          ((size_t)part->end_touched + CONTACT_BLOCK - 1) / CONTACT_BLOCK};
}

static inline struct range contact_block_share(const struct system *system,
                                               const struct worker *worker)
{
    const struct range blocks = contact_blocks(system);
    const struct range share = worker_share(worker, blocks.end - blocks.first, 1);
    return (struct range){blocks.first + share.first, blocks.first + share.end};
}

// An upper bound on the length of the vectors (x, y, z) of these nodes.
double REAL_NAME(contact_greatest_length)(const struct system *system, const real *x, const real *y,
                                          const real *z, struct range nodes);

// Whether a sphere with that response moves at present.
bool REAL_NAME(any_sphere_moves)(const struct system *system, enum collider_response response);

// Sets bit i if node i of a block may be less than `slack` away from a collider with that response,
// or inside it. Returns whether any may. Called by the worker of the block.
bool REAL_NAME(contacts_within)(const struct system *system, enum collider_response response,
                                double time, struct range nodes, double slack,
                                uint64_t near[CONTACT_BLOCK / 64]);

// Finds the blocks of nodes that may touch a penalty collider in this evaluation of the forces.
// contacts.found is true if there are any, and colliders_add visits only these. Has a barrier if
// there are such colliders.
void REAL_NAME(contacts_find)(struct system *system, double time, const struct worker *worker);

void REAL_NAME(colliders_add)(struct system *system, double time, const struct worker *worker);

// response: project, at the end of a step, or of a substep of xpbd. A node that is inside is moved
// to the surface, and its velocity into the surface is removed. If it did not touch before, this is
// an impact: it leaves with `restitution` times its speed, and the rest of its velocity is
// multiplied by `keep`. If it did, friction slows it for the whole step. Has no barrier at the end;
// afterwards contacts contains the work done on each block, and whether a node of it has changed.
void REAL_NAME(colliders_project)(struct system *system, double time, const struct worker *worker);

// Whether the projection may change a node at all; the same on every worker. `passed`: it is
// complete already, because nothing is or was near.
bool REAL_NAME(colliders_near)(struct system *system, double time, bool *passed,
                               const struct worker *worker);

// Called after a collider was moved or changed interactively.
void REAL_NAME(colliders_changed)(struct system *system);

// Stores what the projection needs of the start of a step, once all velocities are known.
void REAL_NAME(colliders_store)(struct system *system, double time, const struct worker *worker);

// Friction with memory (friction.h): changes the memory at the end of a step, when nodes and
// spheres are where the next step begins. Adds what sliding has dissipated in the step to the
// energy budget. Begins and ends with a barrier; nothing if no collider has friction_coefficient.
void REAL_NAME(friction_update)(struct system *system, const struct worker *worker);

// The same of a step or substep.
struct friction_step {
    double time;    // s, at its end
    double elapsed; // s, its length
    double first;   // s, for how long at most friction has acted on what has begun to touch in it
    // For an implicit step: the g of its stage, s, and the fraction of its last solution that has
    // been applied (friction_force_of_step).
    double g, applied;
};
void REAL_NAME(friction_update_at)(struct system *system, struct friction_step step,
                                   const struct worker *worker);

// Contacts that are there at the start of a run begin without stretch.
void REAL_NAME(friction_start)(struct system *system, double time, const struct worker *worker);

// Called before a sphere is placed elsewhere between two steps: what touches it does not slide.
void REAL_NAME(friction_follow_sphere)(struct system *system, size_t collider, vec3 centre);

// Determines which surfaces nodes touch at the start of a run.
void REAL_NAME(colliders_start)(struct system *system, double time, const struct worker *worker);

// The same after constants have changed, but touching flags are kept.
void REAL_NAME(colliders_restart)(struct system *system, double time, const struct worker *worker);

#endif
