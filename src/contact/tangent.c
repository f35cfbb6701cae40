// The part of penalty colliders in the tangent of the forces: for each node that touches one, a 3 x
// 3 block of K and one of C, summed over its contacts, for products with the tangent, the
// preconditioner and the limits of dt. Colliders do not couple nodes, so there are no other blocks.
// Contacts are found by penalty.c, and the force is in contact.h. Projecting colliders have no
// force and are omitted.
#include "contact/tangent.h"

#include <string.h>

#include "base/memory.h"
#include "contact/contact.h"
#include "contact/friction.h"
#include "state/reading.h"

taut_status REAL_NAME(contact_tangent_make)(struct system *system, struct contact_tangent *tangent,
                                            taut_error *error)
{
    *tangent = (struct contact_tangent){.system = system, .nodes = (size_t)system->state->nodes};
    const struct topology *topology = system->topology;
    const taut_allocator *allocator = system->allocator;
    bool any = false;
    for (size_t c = 0; c < topology->collider_count; c++)
        any |= topology->colliders[c].response == RESPONSE_PENALTY;
    if (!any)
        return TAUT_OK;
    tangent->contacts = memory_allocate(allocator, tangent->nodes, sizeof *tangent->contacts);
    tangent->touching = memory_allocate(allocator, tangent->nodes, sizeof *tangent->touching);
    if (!tangent->contacts || !tangent->touching)
        return fail_memory(error, "the tangent of contacts");
    return TAUT_OK;
}

void REAL_NAME(contact_tangent_free)(struct contact_tangent *tangent)
{
    if (!tangent->system)
        return;
    const taut_allocator *allocator = tangent->system->allocator;
    memory_release(allocator, tangent->contacts, tangent->nodes, sizeof *tangent->contacts);
    memory_release(allocator, tangent->touching, tangent->nodes, sizeof *tangent->touching);
}

uint64_t REAL_NAME(contact_tangent_bytes)(const struct contact_tangent *tangent)
{
    const size_t each = sizeof *tangent->contacts + sizeof *tangent->touching;
    return tangent->contacts ? tangent->nodes * each : 0;
}

// The stiffness across the normal of a contact. On a sphere the normal turns about the centre: -k p
// / r, with r the distance of the node from the centre; 0 on flat surfaces. A contact with Coulomb
// friction counts as one that holds, whether it slides or not: it may hold in the next step.
static double stiffness_across(const struct scene_collider *collider, const struct contact *contact,
                               double from_centre)
{
    const double curved = from_centre > 0 ? -collider->stiffness * contact->depth / from_centre : 0;
    return collider->coulomb.present ? curved + friction_stiffness(collider) : curved;
}

static double damping_across(const struct system *system, const struct scene_collider *collider,
                             size_t node)
{
    return collider->coulomb.present ? friction_damping(system, collider, node)
                                     : collider->friction;
}

static double damping_along(const struct scene_collider *collider, const struct contact *contact,
                            vec3 velocity)
{
    vec3 relative = vec3_subtract(velocity, contact->surface_velocity);
    return vec3_dot(relative, contact->normal) < 0 ? collider->absorption : 0;
}

// What an implicit step assumes of friction: all of the spring and damper of a contact that sticks;
// of one that slides, whose force has a given size, only its turning, across the force. With the
// dependence on the normal force, which is left out, the matrix would not be symmetric.
static void add_assumed_friction(const struct system *system, struct contact_blocks *blocks,
                                 const struct scene_collider *collider, size_t node,
                                 const struct contact *contact, vec3 sliding)
{
    const struct friction_assumptions *all = system->contacts.friction_assumptions;
    const size_t at = friction_index(system, collider, node, contact->wall);
    const struct friction_assumption *it = &all->contacts[at];
    const vec3 n = contact->normal;
    const struct friction_trial trial = friction_trial(system, collider, node, contact, sliding);
    const real stiffness = (real)trial.stiffness, damping = (real)trial.damping;
    if (all->status[at] == FRICTION_ASSUMED_STICKS) {
        block_add(blocks->stiffness, (real)n.x, (real)n.y, (real)n.z, 0, stiffness);
        block_add(blocks->damping, (real)n.x, (real)n.y, (real)n.z, 0, damping);
    } else if (all->status[at] == FRICTION_ASSUMED_SLIDES) {
        const vec3 p = vec3_cross(
            n, vec3_make((double)it->along[0], (double)it->along[1], (double)it->along[2]));
        block_add(blocks->stiffness, (real)p.x, (real)p.y, (real)p.z, it->turns * stiffness, 0);
        block_add(blocks->damping, (real)p.x, (real)p.y, (real)p.z, it->turns * damping, 0);
    }
}

static void add_contact(const struct system *system, enum tangent_kind kind,
                        struct contact_blocks *blocks, const struct scene_collider *collider,
                        size_t node, const struct contact *contact, double from_centre)
{
    const vec3 velocity = node_velocity(system->state, node);
    const vec3 n = contact->normal;
    if (kind == TANGENT_DEFINITE && collider->coulomb.present) {
        block_add(blocks->stiffness, (real)n.x, (real)n.y, (real)n.z, (real)collider->stiffness, 0);
        block_add(blocks->damping, (real)n.x, (real)n.y, (real)n.z,
                  (real)damping_along(collider, contact, velocity), 0);
        const struct contact_motion motion = contact_motion(collider, contact, velocity);
        add_assumed_friction(system, blocks, collider, node, contact, motion.sliding);
        return;
    }
    block_add(blocks->stiffness, (real)n.x, (real)n.y, (real)n.z, (real)collider->stiffness,
              (real)stiffness_across(collider, contact, from_centre));
    block_add(blocks->damping, (real)n.x, (real)n.y, (real)n.z,
              (real)damping_along(collider, contact, velocity),
              (real)damping_across(system, collider, node));
}

static void add_block(double block[3][3], vec3 normal, double along, double across)
{
    const double n[3] = {normal.x, normal.y, normal.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            block[i][j] += (along - across) * n[i] * n[j] + (i == j ? across : 0);
}

void REAL_NAME(contact_blocks_of)(const struct system *system, double time, size_t node,
                                  double stiffness[3][3], double damping[3][3])
{
    const struct topology *topology = system->topology;
    const vec3 position = node_position(system->state, node),
               velocity = node_velocity(system->state, node);
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *collider = &topology->colliders[c];
        if (collider->response != RESPONSE_PENALTY)
            continue;
        struct contact contacts[6];
        int count = REAL_NAME(collider_contacts)(system, c, time, position, contacts);
        bool curved = collider->type == COLLIDER_SPHERE;
        for (int i = 0; i < count; i++) {
            double from_centre = curved ? system->state->collider_radius[c] - contacts[i].depth : 0;
            add_block(stiffness, contacts[i].normal, collider->stiffness,
                      stiffness_across(collider, &contacts[i], from_centre));
            add_block(damping, contacts[i].normal, damping_along(collider, &contacts[i], velocity),
                      damping_across(system, collider, node));
        }
    }
}

static void visit_contact(const struct system *system, const struct scene_collider *collider,
                          size_t node, const struct contact *contact, void *context)
{
    struct contact_tangent *tangent = context;
    const struct state *s = system->state;
    const size_t number = (size_t)(collider - system->topology->colliders);
    const bool curved = tangent->kind == TANGENT_EXACT && collider->type == COLLIDER_SPHERE;
    struct contact_blocks *blocks = &tangent->contacts[node];
    if (!tangent->touching[node])
        memset(blocks, 0, sizeof *blocks);
    tangent->touching[node] = 1;
    add_contact(system, tangent->kind, blocks, collider, node, contact,
                curved ? s->collider_radius[number] - contact->depth : 0);
}

void REAL_NAME(contact_tangent_update)(struct contact_tangent *tangent, double time,
                                       struct range nodes)
{
    if (!tangent->contacts || nodes.first >= nodes.end)
        return;
    memset(tangent->touching + nodes.first, 0, nodes.end - nodes.first);
    REAL_NAME(contacts_visit)(tangent->system, time, nodes, visit_contact, tangent);
}

static void combine(const struct contact_blocks *blocks, real stiffness, real damping, real b[6])
{
    for (int i = 0; i < 6; i++)
        b[i] = stiffness * blocks->stiffness[i] + damping * blocks->damping[i];
}

void REAL_NAME(contact_tangent_apply)(const struct contact_tangent *tangent, real stiffness,
                                      real damping, struct node_vectors in, struct node_vectors out,
                                      struct range nodes)
{
    if (!tangent->contacts)
        return;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        if (!tangent->touching[node])
            continue;
        real b[6], x = in.x[node], y = in.y[node], z = in.z[node];
        combine(&tangent->contacts[node], stiffness, damping, b);
        out.x[node] += b[0] * x + b[3] * y + b[4] * z;
        out.y[node] += b[3] * x + b[1] * y + b[5] * z;
        out.z[node] += b[4] * x + b[5] * y + b[2] * z;
    }
}

void REAL_NAME(contact_tangent_blocks)(const struct contact_tangent *tangent, real stiffness,
                                       real damping, real (*blocks)[6], struct range nodes)
{
    if (!tangent->contacts)
        return;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        if (!tangent->touching[node])
            continue;
        real b[6];
        combine(&tangent->contacts[node], stiffness, damping, b);
        for (int i = 0; i < 6; i++)
            blocks[node][i] += b[i];
    }
}
