// Moves nodes that an explicit step has left inside colliders with `response: project` onto their
// surfaces, before the projection does so at the end of the step: its motion from the start to
// there is cut as well (integrate.c). Velocities are left to the projection.
//
// What is left of a path to a point outside a sphere that moves would often end inside: the sphere
// has come to where the node was. So the path is cut in the frame of the sphere, and with it what
// the node pushes.
#include "base/memory.h"
#include "contact/culling.h"
#include "contact/surface_carriers.h"
#include "contact/surface_motion.h"
#include "contact/surface_rollback.h"
#include "contact/surface_shares.h"
#include "state/reading.h"

#include <string.h>

// The rounding of the coordinates that contact knows, of a state with low parts without these.
static double lift_slack(vec3 position)
{
    return touching_slack((double)REAL_EPSILON, position);
}

// Where a collider moves a node to; false: the node is not inside, but for rounding: what has been
// moved onto a surface is not always on it.
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
    REAL_NAME(surface_rollback_log)(system, node);
    if (system->settings.integrator == INTEGRATOR_VERLET) { // whose velocity is the difference
        const vec3 lift = vec3_subtract(position, state_position(s, node));
        real_accumulate(s->x0, s->x0_low, node, (real)lift.x);
        real_accumulate(s->y0, s->y0_low, node, (real)lift.y);
        real_accumulate(s->z0, s->z0_low, node, (real)lift.z);
    }
    state_put(s, node, position);
}

// So that surface_contact_cut_energy looks at what the node is part of.
static void note_lifted(struct surface_contact *it, size_t node)
{
    for (uint32_t k = 0, location; (location = node_location(it, node, k)) != NO_LOCATION; k++)
        it->changed[block_of_location(location)] |= CHANGED;
}

static void list_lifted(struct surface_contact *it, size_t node, size_t collider)
{
    if (!array_reserve((void **)&it->lifted, &it->lifted_capacity, it->lifted_count + 1,
                       sizeof *it->lifted)) {
        atomic_store(&it->failed, true);
        return;
    }
    it->lifted[it->lifted_count++] = (struct lifted_node){(uint32_t)node, (uint32_t)collider};
}

static bool moves(const struct surface *surface)
{
    return vec3_dot(surface->velocity, surface->velocity) > 0;
}

// Looks at these nodes of a block that are inside a collider, and moves them out, if `lifts`.
static bool lift_block(struct system *system, size_t block, struct range nodes, double time,
                       bool lifts)
{
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
            if (!lifted(&surface, &position, lift_slack(position)))
                continue;
            if (!lifts)
                return true;
            put_lifted(system, node, position);
            if (moves(&surface))
                list_lifted(system->surface_contact, node, c);
            note_lifted(system->surface_contact, node);
            moved = true;
        }
        if (moved)
            box = box_of_nodes(system, nodes);
        any |= moved;
    }
    return any;
}

// Notes the blocks that have nodes to be moved out; of nodes in a range.
static bool note_blocks(struct system *system, struct range among, double time,
                        const struct worker *worker)
{
    struct contacts *all = &system->contacts;
    const struct range share = worker_share(worker, all->blocks, 1);
    for (size_t block = share.first; block < share.end; block++) {
        struct range nodes = contact_block_nodes(system, block);
        nodes.first = nodes.first > among.first ? nodes.first : among.first;
        nodes.end = nodes.end < among.end ? nodes.end : among.end;
        all->near[block] = nodes.first < nodes.end && lift_block(system, block, nodes, time, false);
    }
    worker_barrier(worker);
    const bool needed = memchr(all->near, 1, all->blocks) != NULL;
    worker_barrier(worker); // before it is used again
    return needed;
}

// Each of several ranks looks at its own nodes, and all do at all, if any has found one.
bool REAL_NAME(surface_lift_needed)(struct system *system, double time, const struct worker *worker)
{
    const struct range all = {0, (size_t)system->state->nodes};
    if (!system->exchange)
        return note_blocks(system, all, time, worker);
    const bool needed = note_blocks(system, system->own_nodes, time, worker);
    if (!REAL_NAME(exchange_any)(system, needed, worker))
        return false;
    REAL_NAME(exchange_all_nodes)(system, worker);
    return note_blocks(system, all, time, worker);
}

bool REAL_NAME(surface_lift_begin)(struct system *system, bool has_cut, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    REAL_NAME(surface_shares_complete)(system, worker);
    if (!has_cut && !REAL_NAME(surface_rollback_begin)(system, worker)) {
        if (worker->index == 0)
            REAL_NAME(surface_memory_has_run_out)(system);
        worker_barrier(worker);
        return false;
    }
    if (worker->index == 0) {
        it->being_cut = false;
        it->lifts = true;
        it->lifted_count = 0;
        REAL_NAME(surface_contact_count_unresolved)(system, has_cut && it->has_no_end ? -1 : 0);
        it->no_ends_before = it->no_ends;
    }
    worker_barrier(worker);
    return it->starts[0] && it->starts[1] && it->starts[2];
}

void REAL_NAME(surface_lift)(struct system *system, double time, bool holds,
                             const struct worker *worker)
{
    const struct contacts *all = &system->contacts;
    struct surface_contact *it = system->surface_contact;
    if (worker->index == 0) {
        it->has_no_end = false;
        it->lift_time = time;
        it->holds = holds;
        it->change_count = 0;
        memset(it->changed, 0, it->surfaces.block_count);
        for (size_t block = 0; block < all->blocks; block++)
            if (all->near[block])
                (void)lift_block(system, block, contact_block_nodes(system, block), time, true);
        it->displaced = true; // boxes of the motion are not those of the present positions
    }
    worker_barrier(worker);
}

// ---- In the frame of a sphere that moves

static size_t carrier_of(struct system *system, size_t collider)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surface start = surface_at(system, collider, it->step_begin),
                         end = surface_at(system, collider, it->lift_time);
    return REAL_NAME(carrier_of_shape)(system, collider, vec3_subtract(end.centre, start.centre),
                                       end.velocity);
}

void REAL_NAME(surface_lift_carry)(struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    for (size_t i = 0; i < it->lifted_count; i++)
        it->carriers->of[it->lifted[i].node] = (uint32_t)carrier_of(system, it->lifted[i].collider);
}

// The motion of a node relative to a sphere.
struct relative_motion {
    vec3 from, to; // m, from the centre
    double radius, least;
    vec3 velocity; // m/s, of the sphere
};

static struct relative_motion motion_relative_to(const struct system *system, size_t node,
                                                 size_t collider)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surface start = surface_at(system, collider, it->step_begin),
                         end = surface_at(system, collider, it->lift_time);
    const vec3 first = vec3_of_point(REAL_NAME(surface_step_start)(system, node)),
               last = state_position(system->state, node);
    return (struct relative_motion){
        .from = vec3_subtract(vec3_add(system->state->origin, first), start.centre),
        .to = vec3_subtract(last, end.centre),
        .radius = end.radius,
        .least = lift_slack(last),
        .velocity = end.velocity,
    };
}

// Whether it leads in, but for rounding; one that has started inside may not lead farther in.
static bool leads_in(const struct relative_motion *motion)
{
    const double outside = fmin(motion->radius, vec3_length(motion->from));
    return vec3_length(motion->to) < outside - motion->least;
}

// The part of it that does not.
static double part_outside(const struct relative_motion *motion)
{
    const vec3 moved = vec3_subtract(motion->to, motion->from);
    const double a = vec3_dot(moved, moved), b = vec3_dot(motion->from, moved),
                 c = vec3_dot(motion->from, motion->from) - motion->radius * motion->radius;
    if (!(c > 0))
        return 0;
    return fmin(1, c / (sqrt(fmax(0, b * b - a * c)) - b)); // b < 0
}

static void hold_node(struct system *system, size_t node, size_t collider,
                      const struct relative_motion *motion)
{
    struct surface_contact *it = system->surface_contact;
    const double lost = 1 - part_outside(motion);
    const vec3 velocity = step_velocity(system->state, node);
    const vec3 slower = vec3_scale(lost, vec3_subtract(velocity, motion->velocity));
    const vec3 back = vec3_scale(lost, vec3_subtract(motion->to, motion->from));
    count_stopped(system);
    it->carriers->of[node] = (uint32_t)carrier_of(system, collider);
    REAL_NAME(surface_rollback_log)(system, node);
    state_put(system->state, node, vec3_subtract(state_position(system->state, node), back));
    put_step_velocity(system, node, vec3_subtract(velocity, slower));
    it->cut_work -=
        vec3_dot(slower, motion->velocity) / (double)system->constants->inverse_mass[node];
    REAL_NAME(surface_rollback_note)(system, node);
}

// But for what another one carries: between two neither would prevail.
static bool hold_block(struct system *system, size_t collider, size_t block)
{
    const double time = system->surface_contact->lift_time;
    const struct range nodes = contact_block_nodes(system, block);
    const struct block_box box = box_of_nodes(system, nodes);
    const size_t number = carrier_of(system, collider);
    struct surface surface;
    uint64_t near[BLOCK_WORDS];
    bool any = false;
    if (!find_near_collider(system, collider, RESPONSE_PROJECT, time, &box, block_slack(&box),
                            nodes, &surface, near))
        return false;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        const size_t at = node - nodes.first;
        if (!(near[at / 64] >> at % 64 & 1) || system->constants->inverse_mass[node] == 0)
            continue;
        const uint32_t carried = system->surface_contact->carriers->of[node];
        const struct relative_motion motion = motion_relative_to(system, node, collider);
        if (!leads_in(&motion) || (carried != NOT_CARRIED && carried != number))
            continue;
        hold_node(system, node, collider, &motion);
        any = true;
    }
    return any;
}

bool REAL_NAME(surface_lift_hold)(struct system *system)
{
    bool any = false;
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        const struct scene_collider *collider = &system->topology->colliders[c];
        const struct surface surface = surface_at(system, c, system->surface_contact->lift_time);
        if (collider->response != RESPONSE_PROJECT || !moves(&surface))
            continue;
        for (size_t block = 0; block < system->contacts.blocks; block++)
            any |= hold_block(system, c, block);
    }
    return any;
}

void REAL_NAME(surface_lift_undo)(struct system *system, const struct worker *worker)
{
    if (worker->index == 0)
        REAL_NAME(surface_rollback_undo)(system, 0);
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
        const int no_ends = it->no_ends_before + (!resolved || it->has_no_end);
        REAL_NAME(surface_contact_count_unresolved)(system, no_ends - it->no_ends);
    }
    worker_barrier(worker);
}

// ---- Implicit steps

// Nodes that are more than a tenth of the thickness inside a sphere that moves.
static void sum_sunk(const struct system *system, const void *argument, struct range range,
                     double sums[SUM_WIDTH])
{
    const double *time = argument, part = 0.1;
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        const struct surface sphere = surface_at(system, c, *time);
        if (sphere.it->response != RESPONSE_PROJECT || !moves(&sphere))
            continue;
        for (size_t node = range.first; node < range.end; node++) {
            const size_t body = topology_body_of_node(system->topology, node);
            const double least = 2 * part * system->surface_contact->half_thickness[body];
            const vec3 out = vec3_subtract(state_position(system->state, node), sphere.centre);
            if (system->constants->inverse_mass[node] != 0)
                sums[0] += vec3_length(out) < sphere.radius - least;
        }
    }
}

void REAL_NAME(surface_contact_count_sunk)(struct system *system, double time,
                                           const struct worker *worker)
{
    double sunk[SUM_WIDTH];
    REAL_NAME(sum_over_chunks)
    (system, (size_t)system->state->nodes, sum_sunk, &time, sunk, worker);
    if (worker->index == 0)
        REAL_NAME(surface_contact_count_unresolved)(system, sunk[0] > 0);
    worker_barrier(worker);
}
