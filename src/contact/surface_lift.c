// Moves nodes that an explicit step has left inside colliders with `response: project` onto their surfaces,
// before the projection does so at the end of the step: its motion from the start to there is cut as well
// (integrate.c). Velocities are left to the projection.
#include "contact/culling.h"
#include "contact/surface_motion.h"
#include "contact/surface_way.h"
#include "state/reading.h"

#include <string.h>

// Where a collider moves a node to; false: the node is not inside, but for rounding: what has been moved onto
// a surface is not always on it.
static bool lifted(const struct surface *surface, vec3 *position, double least)
{
    struct contact contacts[6];
    const int count = surface_contacts(surface, *position, 0, contacts);
    bool any = false;
    for (int i = 0; i < count; i++) {
        if (!(contacts[i].depth > least))
            continue;
        *position = vec3_add(*position, vec3_scale(contacts[i].depth, contacts[i].normal));
        any = true;
    }
    return any;
}

static void put_lifted(struct system *system, size_t node, vec3 position)
{
    struct state *s = system->state;
    REAL_NAME(surface_way_log)(system, node);
    if (system->settings.integrator == INTEGRATOR_VERLET) { // whose velocity is the difference
        const vec3 way = vec3_subtract(position, state_position(s, node));
        real_accumulate(s->x0, s->x0_low, node, (real)way.x);
        real_accumulate(s->y0, s->y0_low, node, (real)way.y);
        real_accumulate(s->z0, s->z0_low, node, (real)way.z);
    }
    state_put(s, node, position);
}

// So that surface_contact_cut_energy looks at what the node is part of.
static void note_lifted(struct surface_contact *it, size_t node)
{
    for (uint32_t k = 0, entry; (entry = node_entry(it, node, k)) != UINT32_MAX; k++)
        it->changed[it->entry_blocks[entry]] |= CHANGED;
}

// Looks at the nodes of a block that are inside a collider, and moves them out, if `moves`.
static bool lift_block(struct system *system, size_t block, double time, bool moves)
{
    const struct range nodes = contact_block_nodes(system, block);
    const struct node_box found = find_node_box(system, nodes);
    bool any = false;
    if (is_clear(&system->contacts.clear[block][RESPONSE_PROJECT], &found, 0))
        return false;
    struct block_box box = block_box_of_nodes(system, &found);
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        struct surface surface;
        uint64_t near[BLOCK_WORDS];
        bool moved = false;
        if (!find_near_collider(system, c, RESPONSE_PROJECT, time, &box, block_slack(&box), nodes,
                                &surface, near))
            continue;
        for (size_t node = nodes.first; node < nodes.end; node++) {
            const size_t at = node - nodes.first;
            vec3 position;
            if (!(near[at / 64] >> at % 64 & 1) || system->constants->inverse_mass[node] == 0)
                continue;
            position = state_position(system->state, node);
            if (!lifted(&surface, &position, touching_slack(system->state, position)))
                continue;
            if (!moves)
                return true;
            put_lifted(system, node, position);
            note_lifted(system->surface_contact, node);
            moved = true;
        }
        if (moved)
            box = box_of_nodes(system, nodes);
        any |= moved;
    }
    return any;
}

bool REAL_NAME(surface_lift_needed)(struct system *system, double time, const struct worker *worker)
{
    struct contacts *all = &system->contacts;
    const struct range share = worker_share(worker, all->blocks, 1);
    for (size_t block = share.first; block < share.end; block++)
        all->near[block] = lift_block(system, block, time, false);
    worker_barrier(worker);
    const bool needed = memchr(all->near, 1, all->blocks) != NULL;
    worker_barrier(worker); // before it is used again
    return needed;
}

bool REAL_NAME(surface_lift_begin)(struct system *system, bool has_cut, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!has_cut && !REAL_NAME(surface_way_begin)(system, worker)) {
        if (worker->index == 0)
            REAL_NAME(surface_memory_has_run_out)(system);
        worker_barrier(worker);
        return false;
    }
    if (worker->index == 0) {
        it->way_kept = false;
        it->lifts = true;
    }
    worker_barrier(worker);
    return it->starts[0] && it->starts[1] && it->starts[2];
}

void REAL_NAME(surface_lift)(struct system *system, double time, const struct worker *worker)
{
    const struct contacts *all = &system->contacts;
    struct surface_contact *it = system->surface_contact;
    if (worker->index == 0) {
        it->change_count = 0;
        memset(it->changed, 0, it->surfaces.block_count);
        for (size_t block = 0; block < all->blocks; block++)
            if (all->near[block])
                (void)lift_block(system, block, time, true);
        it->displaced = true; // boxes of the motion are not those of the present positions
    }
    worker_barrier(worker);
}

void REAL_NAME(surface_lift_undo)(struct system *system, const struct worker *worker)
{
    if (worker->index == 0)
        REAL_NAME(surface_way_undo)(system);
    worker_barrier(worker);
    REAL_NAME(surface_positions_keep)(system, worker);
    worker_barrier(worker);
}

void REAL_NAME(surface_lift_end)(struct system *system, bool resolved, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    worker_barrier(worker);
    if (worker->index == 0) {
        if (atomic_exchange(&it->failed, false))
            REAL_NAME(surface_memory_has_run_out)(system);
        it->lifts = it->steps_known = false;
        it->displaced = true;
        it->cuts.unresolved += !resolved;
    }
    worker_barrier(worker);
}
