// Coulomb friction with memory on penalty colliders (Cundall and Strack 1979; docs/numerics.md).
//
// A contact is a node and a surface of a collider. It remembers an anchor: the point of the surface
// at which its tangential spring is not stretched. The stretch is the part along the surface of the
// way from the anchor to the node, and the force along the surface
//
//   F = - (k_t stretch + c_t v_t), returned to the cone |F| <= mu N
//
// with k_t the normal stiffness, c_t a fraction of the critical damping of the node on that spring,
// N the normal force and mu the static coefficient, or the kinetic one while the contact slides.
// Forces only read the memory, so that all stages of a step see the same anchor and the exact way
// from it. friction_update changes it once, at the end of a step. An anchor that is not changed does
// not drift: a contact that holds, holds for ever. Numeric.
#ifndef TAUT_CONTACT_FRICTION_H
#define TAUT_CONTACT_FRICTION_H

#include "contact/contact.h"
#include "state/reading.h"

// Flags of a contact; 0: none.
enum { FRICTION_TOUCHES = 1, FRICTION_SLIDES = 2, FRICTION_FAR_WALL = 4 };

// c_t over the critical damping, 2 sqrt(k_t m).
static const double FRICTION_DAMPING = 0.1;

static inline double friction_stiffness(const struct scene_collider *collider)
{
    return collider->stiffness;
}

// c_t, N s/m; 0 for nodes with a prescribed motion.
static inline double friction_damping(const struct system *system,
                                      const struct scene_collider *collider, size_t node)
{
    const double inverse = (double)system->constants->inverse_mass[node];
    return inverse > 0 ? 2 * FRICTION_DAMPING * sqrt(friction_stiffness(collider) / inverse) : 0;
}

// Where the state has the memory of a contact. Opposite walls of a room share a slot.
static inline size_t friction_index(const struct system *system,
                                    const struct scene_collider *collider, size_t node, int wall)
{
    return (collider->coulomb.first_slot + (size_t)wall / 2) * (size_t)system->state->nodes + node;
}

// The flags of a contact of that wall; 0 if the contact has just begun.
static inline uint8_t friction_flags(const struct state *s, size_t at, int wall)
{
    const uint8_t flags = s->friction_flags[at];
    return (flags & FRICTION_FAR_WALL) == (wall % 2 ? FRICTION_FAR_WALL : 0) ? flags : 0;
}

// The position of a node in a contact: of a sphere from its centre, with which anchors move.
static inline vec3 friction_point(const struct system *system,
                                  const struct scene_collider *collider, size_t node,
                                  const struct contact *contact)
{
    if (collider->type != COLLIDER_SPHERE)
        return node_position(system->state, node);
    const size_t number = (size_t)(collider - system->topology->colliders);
    return vec3_scale(system->state->collider_radius[number] - contact->depth, contact->normal);
}

static inline vec3 friction_along(vec3 v, vec3 normal)
{
    return vec3_subtract(v, vec3_scale(vec3_dot(v, normal), normal));
}

// m, of the tangential spring; 0 in a contact that has just begun.
static inline vec3 friction_stretch(const struct system *system,
                                    const struct scene_collider *collider, size_t node,
                                    const struct contact *contact)
{
    const size_t at = friction_index(system, collider, node, contact->wall);
    if (!friction_flags(system->state, at, contact->wall))
        return vec3_make(0, 0, 0);
    const vec3 point = friction_point(system, collider, node, contact);
    return friction_along(vec3_subtract(point, system->state->friction_anchor[at]),
                          contact->normal);
}

// J, the heat of a contact that slides from a stretch to a shorter one at that distance; the force
// is that of the spring at the start of the step, if the contact slid already, and at its end.
//
// Of a contact that slid already this is the trapezoid of force and plastic slip. One that held first
// gives way at `limit`; then its spring gets shorter, and it slides with the force of the end.
static inline double friction_sliding_heat(double stiffness, double before, bool slid,
                                           double reached, double limit, double left)
{
    if (slid)
        return stiffness * (before + left) / 2 * (reached - left);
    return stiffness * (left * (reached - limit) + (limit + left) / 2 * (limit - left));
}

struct friction_action {
    vec3 force;
    double power_dissipated; // W, by the damper; what slides is measured by friction_update
};

static inline struct friction_action friction_action(const struct system *system,
                                                     const struct scene_collider *collider,
                                                     size_t node, const struct contact *contact,
                                                     const struct contact_motion *motion)
{
    const size_t at = friction_index(system, collider, node, contact->wall);
    const bool slides = friction_flags(system->state, at, contact->wall) & FRICTION_SLIDES;
    const vec3 spring =
        vec3_scale(friction_stiffness(collider), friction_stretch(system, collider, node, contact));
    const vec3 damper = vec3_scale(friction_damping(system, collider, node), motion->sliding);
    const vec3 all = vec3_add(spring, damper);
    const double size = vec3_length(all);
    const double most = motion->normal_force * (slides ? collider->coulomb.kinetic_coefficient
                                                       : collider->coulomb.static_coefficient);
    const vec3 limited = size > most ? vec3_scale(most / size, all) : all;
    return (struct friction_action){
        .force = vec3_scale(-1, limited),
        .power_dissipated = vec3_dot(vec3_subtract(limited, spring), motion->sliding),
    };
}

#endif
