// Penalty forces of colliders (response: penalty; docs/numerics.md): the blocks of nodes that may
// touch, the forces, and a visit of every contact for energies and tangents. Numeric.
#include <string.h>

#include "contact/culling.h"
#include "contact/friction.h"
#include "state/reading.h"

bool REAL_NAME(any_sphere_moves)(const struct system *system, enum collider_response response)
{
    const struct topology *topology = system->topology;
    for (size_t c = 0; c < topology->collider_count; c++) {
        const vec3 v = system->state->collider_velocity[c];
        if (topology->colliders[c].type == COLLIDER_SPHERE &&
            topology->colliders[c].response == response && (v.x != 0 || v.y != 0 || v.z != 0))
            return true;
    }
    return false;
}

// ---- Every contact

static inline void visit_word(const struct system *system, const struct surface *surface,
                              size_t first, uint64_t near, contact_visitor *visit, void *context)
{
    for (uint64_t left = near; left != 0; left &= left - 1) {
        const size_t node = first + (size_t)lowest_bit(left);
        struct contact contacts[6];
        int count = surface_contacts(surface, node_position(system->state, node), 0, contacts);
        for (int i = 0; i < count; i++)
            visit(system, surface->it, node, &contacts[i], context);
    }
}

// Visits the contacts of the nodes of a block with penalty colliders, one collider after the other.
static inline void visit_block(const struct system *system, double time, struct range nodes,
                               contact_visitor *visit, void *context)
{
    const struct block_box box = box_of_nodes(system, nodes);
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        struct surface surface;
        uint64_t near[BLOCK_WORDS];
        if (!find_near_collider(system, c, RESPONSE_PENALTY, time, &box, 0, nodes, &surface, near))
            continue;
        for (int word = 0; word < BLOCK_WORDS; word++)
            visit_word(system, &surface, nodes.first + 64 * (size_t)word, near[word], visit,
                       context);
    }
}

void REAL_NAME(contacts_visit)(const struct system *system, double time, struct range nodes,
                               contact_visitor *visit, void *context)
{
    if (!system->settings.penalises)
        return;
    for (size_t first = nodes.first; first < nodes.end; first += CONTACT_BLOCK) {
        struct range block = {first, first + CONTACT_BLOCK};
        block.end = block.end < nodes.end ? block.end : nodes.end;
        visit_block(system, time, block, visit, context);
    }
}

// ---- Forces

static bool block_may_touch(const struct system *system, double time, struct range nodes)
{
    const struct node_box found = find_node_box(system, nodes);
    struct clear_box *clear = clear_box_of(system, nodes, RESPONSE_PENALTY);
    if (is_clear(clear, &found, 0))
        return false;
    const struct block_box box = block_box_of_nodes(system, &found);
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        struct surface surface;
        uint64_t near[BLOCK_WORDS];
        if (find_near_collider(system, c, RESPONSE_PENALTY, time, &box, 0, nodes, &surface, near))
            return true;
    }
    REAL_NAME(make_clear)(system, RESPONSE_PENALTY, time, &box, clear);
    return false;
}

void REAL_NAME(contacts_find)(struct system *system, double time, const struct worker *worker)
{
    struct contacts *all = &system->contacts;
    if (!system->settings.penalises)
        return;
    struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++)
        all->near[block] = block_may_touch(system, time, contact_block_nodes(system, block));
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
    // All workers find the same value, and none reads it before having written it.
    const struct range blocks = contact_blocks(system);
    bool found = blocks.first < blocks.end &&
                 memchr(all->near + blocks.first, 1, blocks.end - blocks.first) != NULL;
    found = REAL_NAME(exchange_any)(system, found, worker);
    atomic_store_explicit(&all->found, found, memory_order_relaxed);
}

struct contact_action REAL_NAME(contact_action)(const struct system *system,
                                                const struct scene_collider *collider, size_t node,
                                                const struct contact *contact)
{
    const struct contact_motion motion =
        contact_motion(collider, contact, node_velocity(system->state, node));
    const vec3 normal_force = vec3_scale(motion.normal_force, contact->normal);
    const double absorbed = motion.approach < 0 ? collider->absorption * motion.approach : 0;
    if (collider->coulomb.present) {
        const struct friction_action friction =
            friction_action(system, collider, node, contact, &motion);
        return (struct contact_action){
            .force = vec3_add(normal_force, friction.force),
            .power_dissipated = friction.power_dissipated + absorbed * motion.approach,
        };
    }
    return (struct contact_action){
        .force = vec3_subtract(normal_force, vec3_scale(collider->friction, motion.sliding)),
        .power_dissipated = collider->friction * vec3_dot(motion.sliding, motion.sliding) +
                            absorbed * motion.approach,
    };
}

static void add_force(const struct system *system, const struct scene_collider *collider,
                      size_t node, const struct contact *contact, void *unused)
{
    (void)unused;
    const struct state *s = system->state;
    vec3 force = REAL_NAME(contact_action)(system, collider, node, contact).force;
    s->fx[node] += (real)force.x;
    s->fy[node] += (real)force.y;
    s->fz[node] += (real)force.z;
}

// Adds the penalty forces to a block; a kernel computes words with many near nodes.
static void add_block(struct system *system, double time, struct range nodes)
{
    const struct block_box box = box_of_nodes(system, nodes);
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        struct surface surface;
        struct touch_surface walls[6];
        uint64_t near[BLOCK_WORDS];
        if (!find_near_collider(system, c, RESPONSE_PENALTY, time, &box, 0, nodes, &surface, near))
            continue;
        const int count = REAL_NAME(surface_touch_list)(&surface, &box, 0, walls);
        const bool side_by_side = system->kernels->touch_forces && !surface.it->coulomb.present &&
                                  box.reach <= (double)REAL_HUGE && !state_is_mixed(system->state);
        for (int word = 0; word < BLOCK_WORDS; word++) {
            const struct range some = word_nodes(nodes, word);
            if (!side_by_side || bit_count(near[word]) < TOUCH_MIN)
                visit_word(system, &surface, some.first, near[word], add_force, NULL);
            else
                for (int wall = 0; wall < count; wall++)
                    system->kernels->touch_forces(system->state, some.first,
                                                  (int)(some.end - some.first), &walls[wall]);
        }
    }
}

void REAL_NAME(colliders_add)(struct system *system, double time, const struct worker *worker)
{
    if (!contacts_are_found(system))
        return;
    struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++)
        if (system->contacts.near[block])
            add_block(system, time, contact_block_nodes(system, block));
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
}
