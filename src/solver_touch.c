// What is done to a system from outside, between two steps. Numeric.
#include "solver_touch.h"

#include "integrate/hand.h"
#include "integrate/integrate.h"
#include "stability/divergence.h"
#include "state/reading.h"

void REAL_NAME(touch_set_sphere)(struct system *system, size_t collider, vec3 centre, vec3 velocity,
                                 double radius)
{
    REAL_NAME(divergence_allow_sphere)(system, collider, centre, radius);
    struct state *s = system->state;
    s->collider_centre[collider] = centre;
    s->collider_velocity[collider] = velocity;
    s->collider_since[collider] = step_time(system, s->step);
    s->collider_radius[collider] = radius;
    s->forces_current = false;
}

bool REAL_NAME(touch_lead_node)(struct system *system, uint64_t node, vec3 velocity)
{
    uint64_t inside = topology_node_inside(system->topology, node);
    const struct state *s = system->state;
    vec3 before = node_velocity(s, inside);
    system->fastest_outside = fmax(system->fastest_outside, vec3_length(before));
    return REAL_NAME(motions_take_over)(system, (uint32_t)inside, velocity);
}

// The same hand at the same node stays as stiff as it is.
void REAL_NAME(touch_pull)(struct system *system, uint64_t node, vec3 target, double stiffness,
                           double damping)
{
    struct hand *hand = &system->hand;
    uint32_t inside = (uint32_t)topology_node_inside(system->topology, node);
    bool wants_choice = stiffness == 0 && damping == 0;
    bool chosen = hand->pulls && hand->chosen && hand->node == inside;
    if (!wants_choice || !chosen)
        *hand = (struct hand){.node = inside, .stiffness = stiffness, .damping = damping};
    if (wants_choice && !chosen)
        REAL_NAME(hand_choose)(system, hand);
    if (!hand->pulls)
        hand->start = node_position(system->state, inside);
    hand->pulls = true;
    hand->chosen = wants_choice;
    hand->target = target;
}

void REAL_NAME(touch_let_go)(struct system *system)
{
    system->hand.pulls = false;
}

struct sphere_now REAL_NAME(touch_sphere)(const struct system *system, size_t collider)
{
    const struct state *s = system->state;
    vec3 velocity = s->collider_velocity[collider];
    double elapsed = step_time(system, s->step) - s->collider_since[collider];
    return (struct sphere_now){
        vec3_add(s->collider_centre[collider], vec3_scale(elapsed, velocity)), velocity,
        s->collider_radius[collider]};
}
