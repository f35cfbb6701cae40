// The memory of Coulomb friction (friction.h): its change at the end of a step, the heat of
// sliding, and its start. Numeric.
#include "contact/friction.h"

#include "contact/culling.h"
#include "contact/shape_contact.h"
#include "contact/surface_friction.h"

// The stretch with which a contact begins. The node has been inside for at most the step.
static vec3 first_stretch(const struct contact *contact, const struct contact_motion *motion,
                          double dt)
{
    if (!(motion->approach < 0))
        return vec3_make(0, 0, 0);
    return vec3_scale(fmin(dt, contact->depth / -motion->approach), motion->sliding);
}

// N. In an implicit step that of its last system has acted, and is the limit of the friction there;
// at the end of the step a node may be a little deeper or less, which is much for stiff contacts.
// What did not touch in that system has had no force.
static double acting_normal_force(const struct system *system, size_t at,
                                  const struct contact_motion *motion)
{
    const struct friction_assumptions *assumed = system->contacts.friction_assumptions;
    if (!assumed)
        return motion->normal_force;
    return assumed->status[at] == FRICTION_UNKNOWN
               ? 0
               : fmax(0, (double)assumed->contacts[at].normal_force);
}

// Returns the heat, J.
static double update_contact(struct system *system, const struct scene_collider *collider,
                             size_t node, const struct contact *contact, struct friction_step step)
{
    struct state *s = system->state;
    const size_t at = friction_index(system, collider, node, contact->wall);
    const uint8_t flags = friction_flags(s, at, contact->wall);
    const bool slid = flags & FRICTION_SLIDES;
    const struct contact_motion motion = contact_motion(collider, contact, node_velocity(s, node));
    const double stiffness = friction_stiffness(collider);
    const double most = // m, for mu = 1
        stiffness > 0 ? acting_normal_force(system, at, &motion) / stiffness : 0;
    const double kinetic = most * collider->coulomb.kinetic_coefficient;
    const double limit = slid ? kinetic : most * collider->coulomb.static_coefficient;
    const vec3 point = friction_point(system, collider, node, contact);
    const vec3 stretch = flags ? friction_stretch(system, collider, node, contact)
                               : first_stretch(contact, &motion, step.first);
    const double reached = vec3_length(stretch);
    bool slides = slid;
    double heat = 0, left = reached;
    if (reached > limit) {
        left = kinetic;
        slides = true;
        heat =
            friction_sliding_heat(stiffness, s->friction_stretch[at], slid, reached, limit, left);
    } else if (slid && vec3_dot(motion.sliding, stretch) <= 0) {
        slides = false;
    }
    if (friction_acts_by_steps(system))
        heat = friction_step_heat(stiffness, friction_damping(system, collider, node),
                                  s->friction_stretch[at], reached, left, step.elapsed);
    if (!flags || reached > limit) {
        const vec3 spring = reached > limit ? vec3_scale(left / reached, stretch) : stretch;
        s->friction_anchor[at] = vec3_subtract(point, spring);
    }
    s->friction_stretch[at] = left;
    s->friction_flags[at] = (uint8_t)(FRICTION_TOUCHES | (slides ? FRICTION_SLIDES : 0) |
                                      (contact->wall % 2 ? FRICTION_FAR_WALL : 0));
    return heat;
}

// The contact of a slot has ended, and what its spring had left is lost. Returns that, J.
static double end_contact(struct state *s, const struct scene_collider *collider, size_t at)
{
    if (!s->friction_flags[at])
        return 0;
    const double stretch = s->friction_stretch[at];
    s->friction_flags[at] = 0;
    s->friction_stretch[at] = 0;
    return friction_stiffness(collider) * stretch * stretch / 2;
}

// A node that may touch, or has touched. Returns whether it does.
static bool update_node(struct system *system, const struct surface *surface, size_t node,
                        struct friction_step step, double *heat)
{
    struct contact contacts[6];
    const int count = surface_contacts(surface, node_position(system->state, node), 0, contacts);
    unsigned touched = 0;
    for (int i = 0; i < count; i++) {
        touched |= 1u << contacts[i].wall / 2;
        *heat += update_contact(system, surface->it, node, &contacts[i], step);
    }
    for (size_t slot = 0; slot < collider_friction_slots(surface->it); slot++)
        if (!(touched >> slot & 1))
            *heat += end_contact(system->state, surface->it,
                                 friction_index(system, surface->it, node, 2 * (int)slot));
    return touched != 0;
}

// The nodes of a word that have touched a collider.
static uint64_t touched_before(const struct system *system, const struct scene_collider *collider,
                               struct range nodes)
{
    uint64_t bits = 0;
    for (size_t slot = 0; slot < collider_friction_slots(collider); slot++) {
        const uint8_t *flags = system->state->friction_flags +
                               friction_index(system, collider, nodes.first, 2 * (int)slot);
        for (size_t i = 0; i < nodes.end - nodes.first; i++)
            bits |= (uint64_t)(flags[i] != 0) << i;
    }
    return bits;
}

static void update_block(struct system *system, struct friction_step step, size_t block)
{
    struct state *s = system->state;
    const struct range nodes = contact_block_nodes(system, block);
    const struct node_box found = find_node_box(system, nodes);
    double heat = 0;
    bool touches = false;
    system->contacts.friction_heat[block] = 0;
    if (!s->block_friction[block] &&
        is_clear(clear_box_of(system, nodes, RESPONSE_PENALTY), &found, 0))
        return;
    const struct block_box box = block_box_of_nodes(system, &found);
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        const struct scene_collider *collider = &system->topology->colliders[c];
        if (!collider->coulomb.present || collider->response != RESPONSE_PENALTY)
            continue;
        struct surface surface;
        uint64_t near[BLOCK_WORDS];
        const bool any = find_near_collider(system, c, RESPONSE_PENALTY, step.time, &box, 0, nodes,
                                            &surface, near);
        if (!any && !s->block_friction[block])
            continue;
        for (int word = 0; word < BLOCK_WORDS; word++) {
            const struct range some = word_nodes(nodes, word);
            uint64_t left = any ? near[word] : 0;
            if (s->block_friction[block])
                left |= touched_before(system, collider, some);
            for (; left != 0; left &= left - 1)
                touches |= update_node(system, &surface, some.first + (size_t)lowest_bit(left),
                                       step, &heat);
        }
    }
    s->block_friction[block] = touches;
    system->contacts.friction_heat[block] = heat;
}

void REAL_NAME(friction_update)(struct system *system, const struct worker *worker)
{
    // Without friction another worker may have finished the step already.
    const bool any = system->state->friction_flags != NULL;
    const double time = any ? step_time(system, system->state->step + 1) : 0;
    const double dt = system->settings.dt;
    REAL_NAME(friction_update_at)
    (system, (struct friction_step){.time = time, .elapsed = dt, .first = dt}, worker);
}

void REAL_NAME(friction_update_at)(struct system *system, struct friction_step step,
                                   const struct worker *worker)
{
    struct contacts *contacts = &system->contacts;
    REAL_NAME(surface_friction_update)(system, step, worker);
    if (!system->state->friction_flags)
        return;
    worker_barrier(worker); // all nodes and spheres are where the step ends
    REAL_NAME(exchange_rest)(system, worker);
    const struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++)
        update_block(system, step, block);
    REAL_NAME(shape_friction_update)(system, step, worker);
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
    if (worker->index == 0)
        REAL_NAME(exchange_blocks)
    (system, contacts->friction_heat, sizeof *contacts->friction_heat);
    // The others write to the sums only after the next evaluation of the forces.
    for (size_t block = 0; worker->index == 0 && block < contacts->blocks; block++)
        system->work.done[WORK_FRICTION] += contacts->friction_heat[block];
}

void REAL_NAME(friction_start)(struct system *system, double time, const struct worker *worker)
{
    struct state *s = system->state;
    REAL_NAME(surface_friction_start)(system, time, worker);
    if (!s->friction_flags)
        return;
    worker_barrier(worker);
    const struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++) {
        const struct range nodes = contact_block_nodes(system, block);
        s->block_friction[block] = 1; // at worst its flags are looked through once
        for (size_t c = 0; c < system->topology->collider_count; c++) {
            const struct surface surface = surface_at(system, c, time);
            if (!surface.it->coulomb.present || surface.it->response != RESPONSE_PENALTY)
                continue;
            for (size_t node = nodes.first; node < nodes.end; node++) {
                struct contact contacts[6];
                const int count = surface_contacts(&surface, node_position(s, node), 0, contacts);
                for (size_t slot = 0; slot < collider_friction_slots(surface.it); slot++)
                    (void)end_contact(s, surface.it,
                                      friction_index(system, surface.it, node, 2 * (int)slot));
                for (int i = 0; i < count; i++) {
                    const size_t at = friction_index(system, surface.it, node, contacts[i].wall);
                    s->friction_anchor[at] = friction_point(system, surface.it, node, &contacts[i]);
                    s->friction_flags[at] = contacts[i].wall % 2
                                                ? FRICTION_TOUCHES | FRICTION_FAR_WALL
                                                : FRICTION_TOUCHES;
                }
            }
        }
    }
    worker_barrier(worker);
    REAL_NAME(shape_friction_start)(system, time, worker);
}

void REAL_NAME(friction_follow_sphere)(struct system *system, size_t collider, vec3 centre)
{
    const struct state *s = system->state;
    const struct scene_collider *it = &system->topology->colliders[collider];
    if (!it->coulomb.present)
        return;
    const vec3 jump =
        vec3_subtract(centre, surface_at(system, collider, step_time(system, s->step)).centre);
    for (size_t node = 0; node < (size_t)s->nodes; node++) {
        const size_t at = friction_index(system, it, node, 0);
        s->friction_anchor[at] = vec3_subtract(s->friction_anchor[at], jump);
    }
}
