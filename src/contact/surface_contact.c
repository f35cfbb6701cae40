// Contact between surfaces: what touches, the forces and their energy. When lists of candidates are
// made again is in surface_motion.c, how they are found in broad_phase.c, distances and the barrier
// in distance.h, the motion of a step in surface_limit.c.
//
// Every list belongs to a fixed range of blocks, and one worker computes it. A pair of blocks adds
// its forces to those of the first block, which only this worker writes, and passes those on the
// second one on; these are added afterwards, in the order of the lists, and at last every node
// receives what the blocks around it have for it, in the order of the blocks. Only pairs that touch
// contribute, so that the bits depend neither on the number of threads nor on when the lists were
// made.
#include "contact/candidates.h"
#include "contact/flat_sheets.h"
#include "contact/shape_contact.h"
#include "contact/surface_carriers.h"
#include "contact/surface_motion.h"
#include "contact/surface_shares.h"
#include "contact/surface_tangent.h"
#include "contact/surface_rollback.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "state/reading.h"

// ---- Making

static bool body_wanted(const struct surface_contact *it, const taut_scene *scene, size_t body)
{
    const struct scene_contact *contact = &scene->contact;
    const struct scene_body_contact *own = &scene->bodies[body].contact;
    const bool self = own->self_given ? own->self : contact->self;
    bool exceptions = it->body_count > scene->body_count; // mesh colliders
    for (size_t c = 0; c < scene->collider_count; c++)
        exceptions |= scene->colliders[c].response == RESPONSE_CONTACT;
    for (size_t i = 0; i < contact->pair_count; i++)
        exceptions |= contact->pairs[i].enabled;
    return self || (contact->between && scene->body_count > 1) || exceptions;
}

static void set_rules(struct surface_contact *it, const taut_scene *scene)
{
    const struct scene_contact *contact = &scene->contact;
    const size_t bodies = it->body_count;
    for (size_t a = scene->body_count; a < bodies; a++) {
        it->half_thickness[a] = contact->thickness / 2;
        it->wanted[a] = true;
        for (size_t b = 0; b < scene->body_count; b++)
            it->enabled[a * bodies + b] = it->enabled[b * bodies + a] = true;
    }
    for (size_t a = 0; a < scene->body_count; a++) {
        const struct scene_body_contact *own = &scene->bodies[a].contact;
        const double thickness = scene_thickness(scene, a);
        it->half_thickness[a] = thickness / 2;
        it->apart[a] = 1.5 * thickness;
        it->wanted[a] = body_wanted(it, scene, a);
        for (size_t b = 0; b < scene->body_count; b++)
            it->enabled[a * bodies + b] =
                a == b ? (own->self_given ? own->self : contact->self) : contact->between;
    }
    for (size_t i = 0; i < contact->pair_count; i++) {
        const struct scene_contact_pair *pair = &contact->pairs[i];
        const size_t a = pair->bodies[0], b = pair->bodies[1];
        it->enabled[a * bodies + b] = it->enabled[b * bodies + a] = pair->enabled;
    }
}

// The locations of every node.
static bool find_places(struct surface_contact *it, size_t nodes, const taut_allocator *allocator)
{
    const struct surfaces *surfaces = &it->surfaces;
    it->own_location = memory_allocate(allocator, nodes, sizeof *it->own_location);
    it->halo_start = memory_allocate(allocator, nodes + 1, sizeof *it->halo_start);
    if (!it->own_location || !it->halo_start)
        return false;
    for (size_t i = 0; i < nodes; i++)
        it->own_location[i] = NO_LOCATION;
    for (size_t b = 0; b < surfaces->block_count; b++) {
        const struct surface_block *block = &surfaces->blocks[b];
        const uint32_t *of_block = surfaces->nodes + block->first_node;
        for (uint32_t i = 0; i < block->own_nodes; i++)
            it->own_location[of_block[i]] = location_of(b, i);
        for (uint32_t i = block->own_nodes; i < block->nodes; i++)
            it->halo_start[of_block[i] + 1]++;
    }
    for (size_t i = 0; i < nodes; i++)
        it->halo_start[i + 1] += it->halo_start[i];
    it->halo_count = it->halo_start[nodes];
    it->halo = memory_allocate(allocator, it->halo_count, sizeof *it->halo);
    if (!it->halo)
        return false;
    for (size_t b = 0; b < surfaces->block_count; b++) {
        const struct surface_block *block = &surfaces->blocks[b];
        for (uint32_t i = block->own_nodes; i < block->nodes; i++)
            it->halo[it->halo_start[surfaces->nodes[block->first_node + i]]++] = location_of(b, i);
    }
    for (size_t i = nodes; i > 0; i--)
        it->halo_start[i] = it->halo_start[i - 1];
    it->halo_start[0] = 0;
    return true;
}

#define ALLOCATE(array, count) ((array) = memory_allocate(allocator, (count), sizeof *(array)))

static bool allocate_rules(struct surface_contact *it, size_t nodes,
                           const taut_allocator *allocator)
{
    const size_t bodies = it->body_count;
    return ALLOCATE(it->wanted, bodies) && ALLOCATE(it->enabled, bodies * bodies) &&
           ALLOCATE(it->half_thickness, bodies) && ALLOCATE(it->radius, bodies) &&
           ALLOCATE(it->apart, bodies) && ALLOCATE(it->list_x, nodes) &&
           ALLOCATE(it->list_y, nodes) && ALLOCATE(it->list_z, nodes);
}

static bool allocate_blocks(struct surface_contact *it, bool stages,
                            const taut_allocator *allocator)
{
    const size_t blocks = it->surfaces.block_count, lists = it->broad->list_count;
    const size_t entries = it->surfaces.node_entries;
    if (!ALLOCATE(it->listed, blocks) || !ALLOCATE(it->block_tiles, blocks) ||
        !ALLOCATE(it->spans, blocks) || !ALLOCATE(it->start, blocks) ||
        !ALLOCATE(it->steps, blocks) || !ALLOCATE(it->own, entries) ||
        !ALLOCATE(it->touched, blocks) || !ALLOCATE(it->receives, blocks) ||
        !ALLOCATE(it->changed, blocks) || !ALLOCATE(it->incoming_start, blocks + 1) ||
        !ALLOCATE(it->lists, lists) || !ALLOCATE(it->passed, lists) ||
        !ALLOCATE(it->energies, 3 * lists))
        return false;
    if (stages)
        return ALLOCATE(it->now, blocks);
    it->now = it->start;
    return true;
}

taut_status REAL_NAME(surface_contact_make)(struct system *system, const taut_scene *scene,
                                            taut_error *error)
{
    const struct topology *topology = system->topology;
    const taut_allocator *allocator = system->allocator;
    const size_t nodes = all_surface_nodes(topology);
    if (!scene->contact.present)
        return TAUT_OK;
    struct surface_contact *it = memory_allocate(allocator, 1, sizeof *it);
    if (!it)
        return fail_memory(error, "contact");
    system->surface_contact = it;
    it->body_count = topology->body_count + topology->mesh_collider_count;
    if (!allocate_rules(it, nodes, allocator))
        return fail_memory(error, "contact");
    set_rules(it, scene);
    for (size_t b = 0; b < topology->body_count && !scene->contact.stiffness_auto; b++)
        system->state->surface_stiffness[b] = scene->contact.stiffness;
    it->rules = (struct broad_phase_rules){.bodies = it->body_count,
                                           .radius = it->radius,
                                           .enabled = it->enabled,
                                           .apart = it->apart,
                                           .built = (const double(*)[3])topology->built};

    // The table of the serial reference has no kernels.
    const struct kernels *kernels =
        plan_is_reference(system->plan) ? REAL_NAME(kernels_for)(ISA_BASE) : system->kernels;
    taut_status status = surfaces_make(topology, it->wanted, allocator, &it->surfaces, error);
    if (status == TAUT_OK)
        status = REAL_NAME(broad_phase_make)(&it->surfaces, kernels, allocator, &it->broad, error);
    if (status != TAUT_OK)
        return status;
    const enum integrator integrator = system->settings.integrator;
    const bool implicit = integrator_is_implicit(integrator);
    const bool stages =
        integrator == INTEGRATOR_MIDPOINT || integrator == INTEGRATOR_RK4 || implicit;
    it->always_at_start = integrator == INTEGRATOR_XPBD;
    it->has_stages = stages && !implicit;
    it->keeps_start = it->has_stages || integrator == INTEGRATOR_EXPLICIT_EULER ||
                      (integrator == INTEGRATOR_XPBD && system->settings.projects);
    const bool keeps_old = it->keeps_start || implicit; // others need it in few steps
    if ((keeps_old && !REAL_NAME(surface_positions_allocate)(system)) ||
        !REAL_NAME(cut_work_make)(system) || !allocate_blocks(it, stages, allocator) ||
        !REAL_NAME(surface_tiles_make)(system) || !find_places(it, nodes, allocator))
        return fail_memory(error, "contact");
    REAL_NAME(surface_lists_begin)(it);
    if (!REAL_NAME(surface_friction_make)(system, scene))
        return fail_memory(error, "contact");
    status = REAL_NAME(shape_contact_make)(system, scene, error);
    if (status == TAUT_OK && implicit && !REAL_NAME(surface_rows_make)(it, nodes, allocator))
        return fail_memory(error, "contact");
    return status == TAUT_OK ? REAL_NAME(mesh_colliders_make)(system, error) : status;
}

#define RELEASE(array, count) memory_release(allocator, (array), (count), sizeof *(array))

static void release_lists(struct surface_contact *it, const taut_allocator *allocator)
{
    for (size_t i = 0; i < it->broad->list_count && it->lists; i++) {
        free(it->lists[i].pairs);
        free(it->lists[i].codes);
        free(it->lists[i].passing);
    }
    for (size_t i = 0; i < it->broad->list_count && it->passed; i++) {
        free(it->passed[i].blocks);
        free(it->passed[i].forces);
    }
    RELEASE(it->lists, it->broad->list_count);
    RELEASE(it->passed, it->broad->list_count);
    RELEASE(it->energies, 3 * it->broad->list_count);
    free(it->incoming);
}

void REAL_NAME(surface_contact_free)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const taut_allocator *allocator = system->allocator;
    if (!it)
        return;
    const size_t bodies = it->body_count, nodes = all_surface_nodes(system->topology);
    const size_t blocks = it->surfaces.block_count, entries = it->surfaces.node_entries;
    REAL_NAME(surface_friction_free)(system);
    REAL_NAME(surface_shares_free)(system);
    REAL_NAME(shape_contact_free)(system);
    if (it->broad)
        release_lists(it, allocator);
    REAL_NAME(surface_rows_free)(it, nodes, allocator);
    REAL_NAME(mesh_colliders_free)(system);
    REAL_NAME(carriers_free)(system);
    RELEASE(it->wanted, bodies);
    RELEASE(it->enabled, bodies * bodies);
    RELEASE(it->half_thickness, bodies);
    RELEASE(it->radius, bodies);
    RELEASE(it->apart, bodies);
    RELEASE(it->list_x, nodes);
    RELEASE(it->list_y, nodes);
    RELEASE(it->list_z, nodes);
    RELEASE(it->old_x, nodes);
    RELEASE(it->old_y, nodes);
    RELEASE(it->old_z, nodes);
    REAL_NAME(cut_work_free)(system);
    REAL_NAME(surface_tiles_free)(system);
    REAL_NAME(surface_rollback_free)(it);
    RELEASE(it->listed, blocks);
    RELEASE(it->block_tiles, blocks);
    RELEASE(it->spans, blocks);
    RELEASE(it->frames, blocks);
    REAL_NAME(flat_sheets_free)(system);
    if (it->now != it->start)
        RELEASE(it->now, blocks);
    RELEASE(it->start, blocks);
    RELEASE(it->steps, blocks);
    RELEASE(it->own, entries);
    RELEASE(it->touched, blocks);
    RELEASE(it->receives, blocks);
    RELEASE(it->changed, blocks);
    RELEASE(it->incoming_start, blocks + 1);
    RELEASE(it->own_location, nodes);
    RELEASE(it->loads, 2 * (size_t)system->state->nodes);
    RELEASE(it->halo_start, nodes + 1);
    RELEASE(it->halo, it->halo_count);
    REAL_NAME(broad_phase_free)(it->broad);
    surfaces_free(&it->surfaces);
    RELEASE(it, 1);
    system->surface_contact = NULL;
}

uint64_t REAL_NAME(surface_contact_bytes)(const struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    if (!it)
        return 0;
    const uint64_t bodies = it->body_count, nodes = all_surface_nodes(system->topology);
    const uint64_t blocks = it->surfaces.block_count, entries = it->surfaces.node_entries;
    uint64_t bytes = surfaces_bytes(&it->surfaces) + REAL_NAME(broad_phase_bytes)(it->broad);
    bytes += REAL_NAME(surface_tiles_bytes)(it) + bodies * (3 * sizeof(double) + sizeof(bool)) +
             bodies * bodies * sizeof(bool);
    bytes += nodes * ((it->old_x ? 6 : 3) * sizeof(real) + 2 * sizeof(uint32_t)) +
             REAL_NAME(surface_rows_bytes)(it, nodes) + REAL_NAME(mesh_colliders_bytes)(it) +
             REAL_NAME(shape_contact_bytes)(system) + REAL_NAME(cut_work_bytes)(system);
    bytes += blocks * ((it->now == it->start ? 1 : 2) * sizeof *it->start + sizeof *it->steps +
                       sizeof *it->block_tiles + sizeof *it->spans + sizeof(size_t) + 4);
    bytes += entries * sizeof *it->own + it->halo_count * sizeof *it->halo;
    for (size_t i = 0; i < it->broad->list_count; i++)
        bytes += sizeof *it->lists + it->lists[i].pair_capacity * sizeof *it->lists[i].pairs +
                 it->lists[i].code_capacity * sizeof *it->lists[i].codes +
                 it->lists[i].passing_capacity * sizeof *it->lists[i].passing +
                 it->passed[i].capacity * sizeof *it->passed[i].blocks +
                 it->passed[i].force_capacity * sizeof *it->passed[i].forces;
    bytes += REAL_NAME(surface_rollback_bytes)(it) + REAL_NAME(surface_friction_bytes)(system) +
             REAL_NAME(surface_shares_bytes)(it);
    bytes += (it->frames ? blocks * sizeof *it->frames : 0) + REAL_NAME(flat_sheets_bytes)(it);
    bytes += REAL_NAME(carriers_bytes)(it);
    bytes += it->loads ? 2 * system->state->nodes * sizeof *it->loads : 0;
    return bytes + it->incoming_capacity * sizeof *it->incoming;
}

// ---- Stiffness

// The tangent of a contact is 4 k (w w') n n' with the weights w of its nodes, whose magnitudes add
// up to 2: (sum w_i n.x_i)^2 <= 2 sum |w_i| (n.x_i)^2, so it is nowhere greater than blocks 8 k
// |w_i| n n' at its nodes. Those of shapes are counted beside it (shape_contact.c).
static double bound_over_stiffness(const struct system *system, size_t body)
{
    const struct surface_contact *it = system->surface_contact;
    return it && it->wanted[body]
               ? 8 * SURFACE_WEIGHTS + 4 * REAL_NAME(shape_contact_weights)(system, body)
               : 0;
}

double REAL_NAME(surface_contact_bound)(const struct system *system, size_t body)
{
    const double over = bound_over_stiffness(system, body);
    return over > 0 ? over * system->state->surface_stiffness[body] : 0;
}

double REAL_NAME(surface_contact_damping)(const struct system *system, size_t body)
{
    return 2 * SURFACE_WEIGHTS * REAL_NAME(surface_friction_damping)(system, body) +
           REAL_NAME(shape_contact_damping)(system, body);
}

void REAL_NAME(surface_contact_allowed)(const struct system *system, size_t body, double *stiffness,
                                        double *damping)
{
    const struct surface_contact *it = system->surface_contact;
    *stiffness =
        it && it->wanted[body] ? 8 * SURFACE_WEIGHTS * system->state->surface_stiffness[body] : 0;
    *damping = 2 * SURFACE_WEIGHTS * REAL_NAME(surface_friction_damping)(system, body);
}

struct surface_stiffness REAL_NAME(surface_contact_stiffness)(const struct system *system,
                                                              size_t body)
{
    const struct surface_contact *it = system->surface_contact;
    if (!it || !it->wanted[body])
        return (struct surface_stiffness){0, 0};
    const struct barrier barrier = barrier_between(system, (uint32_t)body, (uint32_t)body);
    return (struct surface_stiffness){system->state->surface_stiffness[body],
                                      (double)barrier_force(&barrier, 0)};
}

void REAL_NAME(surface_contact_choose_stiffness)(struct system *system, double square)
{
    const struct topology *topology = system->topology;
    const bool implicit = integrator_is_implicit(system->settings.integrator);
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const uint64_t end = body->first_node + body->node_count;
        double least = INFINITY; // kg
        for (uint64_t i = body->first_node; i < end;) {
            const struct node_masses masses = topology_masses(topology, i, end);
            for (; i < masses.end; i++)
                least = fmin(least, mass_in(&masses, i));
        }
        const double shapes =
            implicit ? 0
                     : REAL_NAME(shape_contact_weights)(system, b); // no step has to allow for them
        const double over = 8 * SURFACE_WEIGHTS + 4 * shapes;
        system->state->surface_stiffness[b] = least * square / over;
    }
}

void REAL_NAME(surface_contact_moved)(struct system *system)
{
    if (!system->surface_contact)
        return;
    system->surface_contact->lists_due = true;
    system->surface_contact->start_known = false;
    REAL_NAME(surface_friction_masses)(system);
    REAL_NAME(shape_contact_masses)(system);
}

void REAL_NAME(surface_contact_displaced)(struct system *system)
{
    if (system->surface_contact)
        system->surface_contact->displaced = true;
}

// ---- What touches

// The forces on the second block of a pair, to be added later, of the nodes that have any: others
// would change no sum, none of which is -0. They are 0 then. False without memory.
static bool pass_forces(struct passed_forces *passed, uint32_t block, uint32_t nodes,
                        block_reals forces)
{
    if (!reserve_closely((void **)&passed->blocks, &passed->capacity, passed->count + 1,
                         sizeof *passed->blocks) ||
        !reserve_closely((void **)&passed->forces, &passed->force_capacity,
                         passed->force_count + 3 * SURFACE_NODES, sizeof *passed->forces))
        return false;
    struct passed_block *to = &passed->blocks[passed->count++];
    *to = (struct passed_block){passed->force_count, block, nodes};
    real *at = passed->forces + to->first;
    for (uint32_t left = nodes; left; left &= left - 1, at += 3) {
        const int node = lowest_bit(left);
        for (int axis = 0; axis < 3; axis++) {
            at[axis] = forces[axis][node];
            forces[axis][node] = 0;
        }
    }
    passed->force_count = (size_t)(at - passed->forces);
    return true;
}

// The forces on a block, if it has any, once all pairs of which it is the first block have added
// theirs.
static void put_own(struct surface_contact *it, uint32_t b, const block_reals forces)
{
    if (b == UINT32_MAX || !it->touched[b])
        return;
    const struct surface_block *block = &it->surfaces.blocks[b];
    real(*to)[3] = it->own + block->first_node;
    for (int i = 0; i < block->nodes; i++)
        for (int axis = 0; axis < 3; axis++)
            to[i][axis] = forces[axis][i];
}

// `at_start`: the present positions are those of the start, and pairs farther apart than `far`, m,
// are certainly out of reach.
static bool add_list(struct system *system, struct pair_finder *finder, size_t index, bool at_start,
                     double far)
{
    struct surface_contact *it = system->surface_contact;
    struct surface_list *list = &it->lists[index];
    const struct surface_block *blocks = it->surfaces.blocks;
    struct passed_forces *passed = &it->passed[index];
    struct friction_forces friction = {.system = system};
    if (it->friction)
        friction.cursor = (struct friction_cursor){&it->friction->lists[index], 0, 0};
    uint32_t block = UINT32_MAX;
    block_reals own, others = {{0}}; // on the first and on the second block of a pair
    passed->count = passed->force_count = 0;
    if (it->friction)
        it->friction->powers[index] = 0;
    if (list->sleeps)
        return true;
    for (size_t p = 0; p < list->pair_count; p++) {
        struct surface_pair *known = &list->pairs[p];
        const struct block_pair *pair = &known->pair;
        const bool self = pair->a == pair->b;
        if (at_start && (double)pair->least > far)
            continue;
        if (!pair_is_own(system, index, pair))
            continue;
        const struct barrier barrier =
            barrier_between(system, blocks[pair->a].body, blocks[pair->b].body);
        const struct pair_codes of = codes_within_reach(it, finder, index, p, &barrier);
        if (code_total(of.counts) == 0)
            continue;
        const struct pair_choice choice =
            choose_near(list, known, &barrier, at_start ? 0 : pair_displacement(it, pair));
        count_evaluated(known, choice.count);
        if (choice.count == 0) {
            if (at_start)
                know_least(known, REAL_HUGE, choice.rest);
            continue;
        }
        if (pair->a != block) {
            put_own(it, block, own);
            block = pair->a;
            memset(own, 0, sizeof own);
        }
        real(*const on_b)[SURFACE_NODES] = self ? own : others;
        struct listed_pair listed =
            listed_pair_of(it, pair, of, (const real(*)[SURFACE_NODES])it->now[pair->a],
                           (const real(*)[SURFACE_NODES])it->now[pair->b]);
        if (it->friction &&
            REAL_NAME(surface_friction_forces)(&friction, pair->a, pair->b, own, on_b))
            listed.touching = &friction.touching;
        uint32_t pushed;
        listed.pushed = &pushed;
        if (!evaluate_pair(it, list, known, &barrier, &choice, at_start, &listed, own, on_b))
            continue;
        it->touched[block] = 1;
        if (!self && !pass_forces(passed, pair->b, pushed, others))
            return false;
    }
    put_own(it, block, own);
    if (it->friction)
        it->friction->powers[index] = friction.dissipated;
    return true;
}

// Sorts what has been passed on by block, keeping the order of the lists.
static bool sort_passed(struct surface_contact *it)
{
    const size_t blocks = it->surfaces.block_count;
    size_t total = 0;
    memset(it->incoming_start, 0, (blocks + 1) * sizeof *it->incoming_start);
    for (size_t i = 0; i < it->broad->list_count; i++) {
        for (size_t p = 0; p < it->passed[i].count; p++)
            it->incoming_start[it->passed[i].blocks[p].block + 1]++;
        total += it->passed[i].count;
    }
    if (total > it->incoming_capacity) {
        const size_t capacity = total + total / 8;
        size_t *more = realloc(it->incoming, capacity * sizeof *more);
        if (!more)
            return false;
        it->incoming = more;
        it->incoming_capacity = capacity;
    }
    for (size_t b = 0; b < blocks; b++)
        it->incoming_start[b + 1] += it->incoming_start[b];
    for (size_t i = 0; i < it->broad->list_count; i++)
        for (size_t p = 0; p < it->passed[i].count; p++)
            it->incoming[it->incoming_start[it->passed[i].blocks[p].block]++] = i << 32 | p;
    for (size_t b = blocks; b > 0; b--)
        it->incoming_start[b] = it->incoming_start[b - 1];
    it->incoming_start[0] = 0;
    return true;
}

static void add_passed(struct surface_contact *it, size_t block)
{
    const size_t first = it->incoming_start[block], end = it->incoming_start[block + 1];
    real(*own)[3] = it->own + it->surfaces.blocks[block].first_node;
    if (first == end)
        return;
    if (!it->touched[block])
        memset(own, 0, it->surfaces.blocks[block].nodes * sizeof *own);
    it->touched[block] = 1;
    for (size_t i = first; i < end; i++) {
        const struct passed_forces *passed = &it->passed[it->incoming[i] >> 32];
        const struct passed_block *from = &passed->blocks[it->incoming[i] & UINT32_MAX];
        const real *forces = passed->forces + from->first;
        for (uint32_t left = from->nodes; left; left &= left - 1, forces += 3) {
            const int node = lowest_bit(left);
            for (int axis = 0; axis < 3; axis++)
                own[node][axis] += forces[axis];
        }
    }
}

// The time of the start of a step: the time of an evaluation with the gas of that step.
static bool is_at_start(const struct system *system, struct evaluation evaluation)
{
    return evaluation.time == step_time(system, evaluation.gas_step - 1);
}

// At a stage of an implicit step, which has a tangent.
static void find_at_stage(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const bool found = REAL_NAME(surface_rows_find)(system, worker);
    if (worker->index == 0) {
        if (!found) {
            atomic_store(&it->failed, false);
            REAL_NAME(surface_memory_has_run_out)(system);
        }
        it->pushes = it->rows->count > 0;
        it->keeps_power = false;
        it->rows->present = true;
        atomic_store_explicit(&system->surfaces_push, it->pushes, memory_order_relaxed);
    }
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
}

// Whether something with a prescribed motion changes its velocity in the step from a time on.
static bool motion_changes(const struct system *system, double time)
{
    const double rounding = 1e-9 * system->settings.dt;
    const double end = time + system->settings.dt + rounding;
    return REAL_NAME(prescribed_motion_changes)(system, time - rounding, end, end);
}

void REAL_NAME(surface_contact_change_dt)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it)
        return;
    if (worker->index == 0)
        it->lists_due = true;
    REAL_NAME(surface_lists_prepare)(system, worker);
}

static void keep_start(struct system *system, const struct worker *worker)
{
    REAL_NAME(surface_positions_keep)(system, worker);
    REAL_NAME(surface_shares_keep)(system, worker);
}

// Poses meshes, and has lists for the present positions. Returns whether contact pauses: also at
// the other stages of a step that is given up.
static bool prepare_lists(struct system *system, double time, bool at_start,
                          const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const bool paused = it->paused || (it->gives_up && !at_start);
    REAL_NAME(mesh_colliders_pose)(system, time, worker);
    // A step that moves nodes farther than lists allow has them made again, which takes more time
    // than here.
    if (worker->index == 0 && at_start && !paused && motion_changes(system, time))
        it->lists_due = true;
    if (!paused)
        REAL_NAME(surface_lists_prepare)(system, worker);
    if (it->rows && !at_start && it->start_known && !paused)
        REAL_NAME(surface_lists_cover)(system, worker);
    if (it->keeps_start && at_start && !paused)
        keep_start(system, worker);
    else if (it->has_stages && it->start_known && !paused)
        REAL_NAME(surface_lists_reach)(system, time, worker);
    return paused || (it->gives_up && !at_start);
}

// Without pairs that could touch, or while contact pauses.
static void find_nothing(struct system *system, bool paused, bool shapes_push,
                         const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (worker->index == 0) {
        it->pushes = it->keeps_power = false;
        if (it->friction)
            it->friction->powers_known = false;
        if (it->rows)
            it->rows->present = false;
        if (it->rows && !paused)
            it->rows->count = 0;
        atomic_store_explicit(&system->surfaces_push, shapes_push, memory_order_relaxed);
    }
    worker_barrier(worker);
}

// The forces of all pairs in the positions it->now, by block.
static void find_in_lists(struct system *system, bool at_start, bool shapes_push,
                          const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    if (at_start && it->now != it->start)
        memcpy(it->now + blocks.first, it->start + blocks.first,
               (blocks.end - blocks.first) * sizeof *it->now);
    if (!at_start)
        REAL_NAME(surface_steps_find)(system, blocks);
    memset(it->touched + blocks.first, 0, blocks.end - blocks.first);
    worker_barrier(worker);

    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    const double far = 1.002 * 1.5 * greatest_thickness(it);
    for (size_t i = lists.first; i < lists.end; i++)
        if (!add_list(system, &finder, i, at_start, far))
            atomic_store(&it->failed, true);
    worker_barrier(worker);

    if (worker->index == 0) {
        it->pushes = memchr(it->touched, 1, it->surfaces.block_count) != NULL;
        REAL_NAME(surface_shares_pushes)(system);
        it->keeps_power = false;
        if (it->friction)
            it->friction->powers_known = true;
        if (it->rows)
            it->rows->present = false;
        it->steps_known = false; // as from the next start
        if (atomic_exchange(&it->failed, false) || !sort_passed(it))
            REAL_NAME(surface_memory_has_run_out)(system);
        atomic_store_explicit(&system->surfaces_push, it->pushes || shapes_push,
                              memory_order_relaxed);
    }
    worker_barrier(worker);

    if (!it->pushes)
        return;
    for (size_t b = blocks.first; b < blocks.end; b++)
        add_passed(it, b);
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
    if (worker->index == 0)
        REAL_NAME(surface_shares_collider_power)(system);
}

void REAL_NAME(surface_contact_find)(struct system *system, struct evaluation evaluation,
                                     const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it)
        return;
    const bool at_start = it->always_at_start || is_at_start(system, evaluation);
    const bool at_stage = it->rows && !at_start;
    const bool paused = prepare_lists(system, evaluation.time, at_start, worker);

    if (it->shapes && !paused && at_stage)
        REAL_NAME(shape_stage_begin)(system, evaluation.time, worker);
    else if (it->shapes && !paused)
        REAL_NAME(shape_contact_find)(system, evaluation.time, at_start, worker);
    const bool shapes_push = !at_stage && it->shapes && !paused && it->shapes->pushes;

    if (it->rows && at_start && it->pairs == 0 && !paused)
        REAL_NAME(surface_start_move)(system, worker); // lists may be made again in this step
    if (at_start && !paused && surface_shares(system)) {
        if (it->pairs > 0)
            REAL_NAME(surface_pairs_leave)(system, worker);
        REAL_NAME(surface_shares_want)(system, worker);
    }
    if (paused || (it->pairs == 0 && !(at_stage && it->shapes))) {
        find_nothing(system, paused, shapes_push, worker);
        return;
    }

    if (at_start)
        REAL_NAME(surface_start_move)(system, worker);
    else
        REAL_NAME(surface_blocks_copy)(system, it->now, worker);
    if (at_stage)
        find_at_stage(system, worker);
    else
        find_in_lists(system, at_start, shapes_push, worker);
}

void REAL_NAME(surface_contact_pause)(struct system *system, bool pauses,
                                      const struct worker *worker)
{
    worker_barrier(worker);
    if (worker->index == 0)
        system->surface_contact->paused = pauses;
    worker_barrier(worker);
}

// ---- The forces on nodes

static void add_to_nodes(struct system *system, size_t b)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surface_block *block = &it->surfaces.blocks[b];
    struct state *s = system->state;
    for (uint32_t i = 0; i < block->own_nodes; i++) {
        const uint32_t entry = block->first_node + i;
        const size_t node = it->surfaces.nodes[entry];
        if (!exchange_owns(system, node))
            continue;
        real sum[3] = {0, 0, 0};
        for (int axis = 0; it->touched[b] && axis < 3; axis++)
            sum[axis] = it->own[entry][axis];
        for (uint32_t h = it->halo_start[node]; h < it->halo_start[node + 1]; h++) {
            const uint32_t other = block_of_location(it->halo[h]);
            if (!it->touched[other])
                continue;
            const real *more =
                it->own[it->surfaces.blocks[other].first_node + local_of_location(it->halo[h])];
            for (int axis = 0; axis < 3; axis++)
                sum[axis] += more[axis];
        }
        s->fx[node] += sum[0];
        s->fy[node] += sum[1];
        s->fz[node] += sum[2];
    }
}

static void add_blocks_of_shapes(struct system *system, const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const struct surface_shares *shares = surface_shares(system);
    for (size_t b = blocks.first; b < blocks.end; b++)
        if (!shares || shares->blocks[b])
            REAL_NAME(shape_contact_add_block)(system, b);
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
}

void REAL_NAME(surface_contact_add)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const bool shapes_push =
        it && it->shapes && !it->paused && it->shapes->pushes && !(it->rows && it->rows->present);
    if (shapes_push) {
        worker_barrier(worker); // colliders have added their forces
        REAL_NAME(shape_contact_add_chunks)(system, worker);
        if (!it->pushes)
            add_blocks_of_shapes(system, worker);
    }
    if (!it || !it->pushes)
        return;
    if (it->rows && it->rows->present) {
        REAL_NAME(surface_rows_add)(system, worker);
        return;
    }
    const struct surface_shares *shares = surface_shares(system);
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    memset(it->receives + blocks.first, 0, blocks.end - blocks.first);
    worker_barrier(worker);
    if (worker->index == 0)
        for (size_t b = 0; b < it->surfaces.block_count; b++) {
            const struct surface_block *block = &it->surfaces.blocks[b];
            it->receives[b] |= it->touched[b];
            for (uint32_t i = block->own_nodes; it->touched[b] && i < block->nodes; i++)
                it->receives[own_block(it, it->surfaces.nodes[block->first_node + i])] = 1;
        }
    worker_barrier(worker);
    for (size_t b = blocks.first; b < blocks.end; b++)
        if (it->receives[b] && (!shares || shares->blocks[b]) &&
            !is_of_collider(system->topology, &it->surfaces.blocks[b]))
            add_to_nodes(system, b);
    if (shapes_push) // by the same worker
        add_blocks_of_shapes(system, worker);
    else
        stage_end(&system->clock, STAGE_COLLIDERS, worker);
}

// ---- Energy

void REAL_NAME(surface_block_read)(const struct system *system, uint32_t block, block_reals x)
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    const struct surface_block *it = &surfaces->blocks[block];
    for (uint32_t i = 0; i < SURFACE_NODES; i++) {
        const uint32_t node = surfaces->nodes[it->first_node + (i < it->nodes ? i : 0)];
        const struct point p = state_point(system->state, node);
        x[0][i] = p.x;
        x[1][i] = p.y;
        x[2][i] = p.z;
    }
}

// What the candidates that touch have.
struct contact_sums {
    const struct barrier *barrier;
    double energy; // J, of a pair
    uint64_t touching;
};

// Which pairs have their energies added, and whether the power of their forces on nodes is added
// too.
struct energy_scope {
    bool changed; // only those that the cutting of the step has changed
    bool powers;
    bool before; // the cut: positions and velocities are those before it, old_x those after it
};

static void sum_energies(void *context, const struct touching_candidate *items, int count)
{
    struct contact_sums *sums = context;
    for (int i = 0; i < count; i++)
        sums->energy += (double)items[i].energy *
                        (double)barrier_energy(sums->barrier, real_sqrt(items[i].square));
    sums->touching += (uint64_t)count;
}

// Adds the powers of forces on the nodes of a block.
static void add_powers(const struct system *system, uint32_t block, const block_reals forces,
                       const struct energy_scope *scope, struct surface_energy *sum)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surface_block *nodes = &it->surfaces.blocks[block];
    for (uint32_t i = 0; i < nodes->nodes; i++) {
        const uint32_t node = it->surfaces.nodes[nodes->first_node + i];
        const vec3 force = {(double)forces[0][i], (double)forces[1][i], (double)forces[2][i]};
        vec3 velocity = node_velocity(system->state, node);
        if (system->constants->inverse_mass[node] == 0) {
            sum->given -= vec3_dot(force, velocity);
            continue;
        }
        if (scope->before) {
            const struct point now = state_point(system->state, node),
                               cut = {it->old_x[node], it->old_y[node], it->old_z[node]};
            const struct point taken = point_difference(now, cut);
            const vec3 motion = {(double)taken.x, (double)taken.y, (double)taken.z};
            velocity = vec3_add(velocity, vec3_scale(1 / system->settings.dt, motion));
        }
        sum->power += vec3_dot(force, velocity);
    }
}

// J and W, and the number of candidates that touch, by the kernel of the forces.
static struct surface_energy list_energy(const struct system *system, struct pair_finder *finder,
                                         size_t index, const struct energy_scope *scope,
                                         uint64_t *touching)
{
    struct surface_contact *it = system->surface_contact;
    const struct surface_list *list = &it->lists[index];
    const struct surface_block *blocks = it->surfaces.blocks;
    uint32_t block = UINT32_MAX;
    block_reals x_a, x_b, forces[2] = {{{0}}};
    struct contact_sums sums = {.touching = 0};
    struct touching_candidates wanted = {.take = sum_energies, .context = &sums};
    struct surface_energy all = {0, 0, 0};
    if (list->sleeps)
        return all;
    for (size_t p = 0; p < list->pair_count; p++) {
        const struct surface_pair *known = &list->pairs[p];
        const struct block_pair *pair = &known->pair;
        if (scope->changed && !blocks_have_changed(it, pair->a, pair->b, CHANGED))
            continue;
        const bool self = pair->a == pair->b;
        const struct barrier barrier =
            barrier_between(system, blocks[pair->a].body, blocks[pair->b].body);
        const struct pair_codes of = codes_within_reach(it, finder, index, p, &barrier);
        if (code_total(of.counts) == 0)
            continue;
        const struct pair_choice choice =
            choose_near(list, known, &barrier, pair_displacement(it, pair));
        if (choice.count == 0)
            continue;
        if (pair->a != block) {
            block = pair->a;
            REAL_NAME(surface_block_read)(system, block, x_a);
        }
        if (!self)
            REAL_NAME(surface_block_read)(system, pair->b, x_b);
        struct listed_pair listed =
            listed_pair_of(it, pair, of, (const real(*)[SURFACE_NODES])x_a,
                           (const real(*)[SURFACE_NODES])(self ? x_a : x_b));
        listed.touching = &wanted;
        listed.marks = choice.marks;
        sums.barrier = &barrier;
        sums.energy = 0;
        real least;
        if (scope->powers)
            memset(forces, 0, sizeof forces);
        (void)it->broad->kernels->barrier_forces(&listed, &barrier, forces[0], forces[self ? 0 : 1],
                                                 &least);
        all.energy += sums.energy;
        if (!scope->powers || sums.energy == 0)
            continue;
        add_powers(system, pair->a, forces[0], scope, &all);
        if (!self)
            add_powers(system, pair->b, forces[1], scope, &all);
    }
    *touching += sums.touching;
    return all;
}

// Steps are known.
static struct surface_energy energy_of_pairs(struct system *system,
                                             const struct energy_scope *scope,
                                             const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const size_t count = it->broad->list_count;
    double *const powers = it->energies + count, *const given = powers + count;
    const struct range lists = worker_share(worker, count, 1);
    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    uint64_t touching = 0;
    for (size_t i = lists.first; i < lists.end; i++) {
        struct surface_energy own = {0, 0, 0};
        if (list_is_own(system, i))
            own = list_energy(system, &finder, i, scope, &touching);
        it->energies[i] = own.energy;
        powers[i] = own.power;
        given[i] = own.given;
    }
    worker_barrier(worker);
    if (worker->index == 0 && atomic_exchange(&it->failed, false))
        REAL_NAME(surface_memory_has_run_out)(system);
    REAL_NAME(surface_shares_add)(system, it->energies, worker);
    if (scope->powers) {
        REAL_NAME(surface_shares_add)(system, powers, worker);
        REAL_NAME(surface_shares_add)(system, given, worker);
    }
    struct surface_energy all = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        all.energy += it->energies[i];
        all.power += powers[i];
        all.given += given[i];
    }
    worker_barrier(worker);
    all.energy += REAL_NAME(surface_friction_energy)(system, scope->changed, worker);
    return all;
}

double REAL_NAME(surface_contact_energy)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it || it->paused)
        return 0;
    REAL_NAME(surface_lists_hold)(system, worker);
    const struct energy_scope all = {.changed = false};
    return energy_of_pairs(system, &all, worker).energy;
}

// Finds the motion in the step of the blocks that the cut has changed.
static void find_changed_steps(struct system *system, const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    for (size_t b = blocks.first; b < blocks.end; b++)
        if (it->changed[b] & CHANGED)
            REAL_NAME(surface_steps_find)(system, (struct range){b, b + 1});
    worker_barrier(worker);
}

struct surface_energy REAL_NAME(surface_contact_cut_energy)(struct system *system, bool powers,
                                                            const struct worker *worker)
{
    real *low[3] = {NULL, NULL, NULL};
    struct energy_scope scope = {.changed = true, .powers = powers};
    if (system->surface_contact->pairs == 0)
        return (struct surface_energy){0, 0, 0};
    find_changed_steps(system, worker);
    const struct surface_energy after = energy_of_pairs(system, &scope, worker);
    REAL_NAME(surface_positions_swap)(system, low, worker); // those before the cut
    find_changed_steps(system, worker);
    scope.before = true;
    const struct surface_energy before = energy_of_pairs(system, &scope, worker);
    REAL_NAME(surface_positions_swap)(system, low, worker);
    find_changed_steps(system, worker);
    return (struct surface_energy){before.energy - after.energy, before.power - after.power,
                                   before.given - after.given};
}

// ---- Counts

struct surface_counts REAL_NAME(surface_contact_counts)(const struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    if (!it)
        return (struct surface_counts){0};
    struct surface_counts counts = {
        .blocks = it->surfaces.block_count,
        .triangles = it->surfaces.triangle_count,
    };
    const struct energy_scope all = {.changed = false};
    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    if (it->start_known)
        REAL_NAME(surface_steps_find)(system, (struct range){0, it->surfaces.block_count});
    for (size_t i = 0; i < it->broad->list_count; i++) {
        if (!list_is_kept(it, i))
            continue;
        (void)list_energy(system, &finder, i, &all, &counts.touching);
        for (size_t p = 0; p < it->lists[i].pair_count; p++)
            counts.candidates += code_total(counts_of(&it->lists[i], &it->lists[i].pairs[p]));
    }
    REAL_NAME(surface_shares_count)(system, &counts);
    return counts;
}
