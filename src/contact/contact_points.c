// The points at which surfaces touch each other, planes, spheres, rooms and meshes (struct
// contact_points in surface_report.h), listed on request for pictures and for applications: nothing
// of a step depends on them. They are found in two passes, of which the first counts, so that every
// worker knows where those of its lists go: the order is that of the lists of candidates, then of
// the nodes and blocks near shapes, then of the nodes in penalty colliders, and the same for any
// number of threads. Colliders with `response: project` push no nodes and have no contacts here.
// Those of two surfaces are also walked for the load of each node, the stiffness and damping that
// they have there, which a step may not allow for (dt: auto).
#include "contact/contact.h"
#include "contact/shape_contact.h"
#include "contact/surface_friction_contact.h"

#include <assert.h>

#include "base/memory.h"
#include "base/sort.h"
#include "contact/surface_motion.h"
#include "contact/surface_shares.h"
#include "ranks/ranks.h"
#include "state/reading.h"

// What one worker is listing: a list of candidates, a chunk or slot of shapes, or a block of nodes.
struct listing {
    struct system *system;
    void (*take)(void *context, const struct touching_candidate *items, int count);
    struct contact_points *to;
    struct pair_finder *finder;
    bool counts;     // the first pass
    uint64_t number; // of the next one
    // For a pair of blocks:
    uint32_t blocks[2];
    double units[2]; // N/m, the stiffness that the step allows for at nodes of their bodies
    const block_reals *x[2];
    struct friction_law law;
    const struct friction_list *records; // NULL: they have no friction
    size_t record, record_end;
};

static bool is_wanted(struct listing *it, taut_contact_point **slot)
{
    const struct contact_points *to = it->to;
    const uint64_t number = it->number++;
    if (it->counts || number % to->every != 0 || number / to->every >= to->capacity)
        return false;
    *slot = &to->items[number / to->every];
    return true;
}

static void store(double to[3], vec3 from)
{
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

static taut_contact_friction friction_status(bool slides)
{
    return slides ? TAUT_CONTACT_SLIDES : TAUT_CONTACT_STICKS;
}

// ---- Of two surfaces

// The record of a candidate, NULL: none; candidates are asked for in their order.
static const struct friction_record *record_of(struct listing *it, uint32_t key)
{
    const struct friction_list *list = it->records;
    if (!list)
        return NULL;
    while (it->record < it->record_end && (list->records[it->record].key & RECORD_KEY) < key)
        it->record++;
    const bool known =
        it->record < it->record_end && (list->records[it->record].key & RECORD_KEY) == key;
    return known ? &list->records[it->record] : NULL;
}

// Its nodes, with their positions.
static struct friction_contact contact_of(const struct listing *it,
                                          const struct candidate *candidate)
{
    struct friction_contact contact = {.edges = candidate->edges, .bare = candidate->bare};
    find_nodes(it->system->surface_contact, it->blocks, candidate, contact.nodes);
    for (int i = 0; i < 4; i++)
        contact.at[i] = block_point(*it->x[candidate->side[i]], candidate->local[i]);
    contact.rigid = contact.nodes[3] >= it->system->topology->node_count;
    return contact;
}

// The force of its friction on the first side, N.
static vec3 friction_on_first(const struct listing *it, const struct candidate *candidate,
                              const struct touching_candidate *touching,
                              const struct friction_record *record)
{
    struct friction_contact contact = contact_of(it, candidate);
    find_velocities(it->system->state, &contact);
    return REAL_NAME(surface_friction_of)(record, &it->law, touching, &contact);
}

// The closest point of the second side, relative to the origin of the state.
static struct point second_point(const struct listing *it, const struct candidate *candidate,
                                 const real parts[2])
{
    struct point at[4];
    for (int i = 1; i < 4; i++)
        at[i] = block_point(*it->x[candidate->side[i]], candidate->local[i]);
    const struct point along = point_difference(at[3], candidate->edges ? at[2] : at[1]);
    if (candidate->edges)
        return point_along(at[2], parts[1], along);
    const struct point first = point_difference(at[2], at[1]);
    return point_along(point_along(at[1], parts[0], first), parts[1], along);
}

static void take_candidates(void *context, const struct touching_candidate *items, int count)
{
    struct listing *it = context;
    const struct surface_contact *contact = it->system->surface_contact;
    const size_t bodies = it->system->topology->body_count;
    taut_contact_point *to;
    for (int i = 0; i < count; i++) {
        if (!is_wanted(it, &to))
            continue;
        const struct candidate candidate =
            candidate_of_key(contact, it->blocks[0], it->blocks[1], items[i].key);
        const real distance = real_sqrt(items[i].square);
        const struct point middle =
            point_along(second_point(it, &candidate, items[i].parts), (real)0.5, items[i].apart);
        const struct point normal = point_scale(1 / distance, items[i].apart);
        const uint32_t first = block_of(contact, it->blocks[candidate.side[0]])->body,
                       second = block_of(contact, it->blocks[candidate.side[3]])->body;
        // The first side is the one that is not a collider.
        const double sign = first < bodies ? 1 : -1;
        const uint32_t body = first < bodies ? first : second,
                       other = first < bodies ? second : first;
        *to = (taut_contact_point){
            .distance = (double)distance,
            .force = (double)(items[i].weight * barrier_force(&it->law.barrier, distance)),
            .body = body,
            .other = other < bodies ? (ptrdiff_t)other : -1,
            .collider =
                other < bodies
                    ? -1
                    : (ptrdiff_t)it->system->topology->mesh_colliders[other - bodies].collider,
        };
        const struct friction_record *record = record_of(it, items[i].key);
        if (it->records)
            to->friction = friction_status(record && record->key & RECORD_SLIDES);
        if (record)
            store(to->friction_force,
                  vec3_scale(sign, friction_on_first(it, &candidate, &items[i], record)));
        store(to->point, vec3_add(it->system->state->origin, vec3_of_point(middle)));
        store(to->normal,
              vec3_make(sign * (double)normal.x, sign * (double)normal.y, sign * (double)normal.z));
    }
}

// 0 of a mesh collider.
static double allowed_stiffness(const struct system *system, size_t body)
{
    double stiffness = 0, damping;
    if (body < system->topology->body_count)
        REAL_NAME(surface_contact_allowed)(system, body, &stiffness, &damping);
    return stiffness;
}

static void list_candidates(struct listing *it, size_t index)
{
    const struct system *system = it->system;
    struct surface_contact *contact = system->surface_contact;
    assert(contact); // there are no lists without it
    const struct surface_list *list = &contact->lists[index];
    const struct friction_list *records =
        contact->friction ? &contact->friction->lists[index] : NULL;
    block_reals x[2], unused[2] = {{{0}}};
    uint32_t read[2] = {UINT32_MAX, UINT32_MAX};
    size_t pair_of_records = 0;
    for (size_t p = 0; p < list->pair_count && !list->sleeps; p++) {
        const struct block_pair *pair = &list->pairs[p].pair;
        const bool self = pair->a == pair->b;
        if (!pair_is_own(system, index, pair)) // in a step of several ranks
            continue;
        it->law = (struct friction_law){
            .barrier = barrier_between(system, block_of(contact, pair->a)->body,
                                       block_of(contact, pair->b)->body)};
        const struct pair_codes of =
            codes_within_reach(contact, it->finder, index, p, &it->law.barrier);
        if (code_total(of.counts) == 0)
            continue;
        const struct pair_choice choice =
            choose_near(list, &list->pairs[p], &it->law.barrier, pair_displacement(contact, pair));
        if (choice.count == 0)
            continue;
        const uint32_t blocks[2] = {pair->a, pair->b};
        for (int side = 0; side < (self ? 1 : 2); side++) {
            if (read[side] != blocks[side])
                REAL_NAME(surface_block_read)(system, blocks[side], x[side]);
            read[side] = blocks[side];
        }
        struct touching_candidates touching = {.take = it->take, .context = it};
        struct listed_pair listed =
            listed_pair_of(contact, pair, of, (const real(*)[SURFACE_NODES])x[0],
                           (const real(*)[SURFACE_NODES])x[self ? 0 : 1]);
        listed.touching = &touching;
        listed.marks = choice.marks;
        it->records = NULL;
        if (records && rule_of(system, pair->a, pair->b)->static_coefficient > 0) {
            const struct friction_pair *known =
                pair_at(records->pairs, records->pair_count, &pair_of_records, pair->a, pair->b);
            it->law = law_between(system, pair->a, pair->b);
            it->records = records;
            it->record = known ? known->first : 0;
            it->record_end = known ? known->first + known->count : 0;
        }
        for (int side = 0; side < 2; side++) {
            it->blocks[side] = blocks[side];
            it->units[side] = allowed_stiffness(system, block_of(contact, blocks[side])->body);
            it->x[side] = (const block_reals *)&x[self ? 0 : side];
        }
        real least;
        (void)contact->broad->kernels->barrier_forces(&listed, &it->law.barrier, unused[0],
                                                      unused[self ? 0 : 1], &least);
    }
}

// ---- Of a surface and a plane, sphere or room with `response: contact`

static bool node_slides(const struct system *system, size_t collider, size_t node, int wall)
{
    const size_t at = friction_index(system, &system->topology->colliders[collider], node, wall);
    return friction_flags(system->state, at, wall) & FRICTION_SLIDES;
}

static void list_touch(struct system *system, const struct shape_touch *touch, void *context)
{
    struct listing *it = context;
    taut_contact_point *to;
    if (!touch->of_node || !is_wanted(it, &to))
        return;
    const vec3 node = node_position(system->state, touch->node);
    *to = (taut_contact_point){
        .distance = touch->distance,
        .force = touch->normal_force,
        .body = touch->body,
        .other = -1,
        .collider = (ptrdiff_t)touch->collider,
    };
    store(to->point, vec3_subtract(node, vec3_scale(touch->distance / 2, touch->normal)));
    store(to->normal, touch->normal);
    if (system->topology->colliders[touch->collider].coulomb.present)
        to->friction =
            friction_status(node_slides(system, touch->collider, touch->node, touch->wall));
    store(to->friction_force, REAL_NAME(shape_friction_force)(system, touch));
}

// The parts of a block that touch a sphere. Friction acts on their nodes: that of the greatest
// weight says whether it slides.
static void list_slot(struct listing *it, const struct shape_slot *slot)
{
    const struct system *system = it->system;
    const struct surface_contact *contact = system->surface_contact;
    const struct surface_block *block = &contact->surfaces.blocks[slot->block];
    const uint32_t *numbers = contact->surfaces.nodes + block->first_node;
    const size_t collider = contact->shapes->spheres[slot->sphere];
    const struct surface sphere = surface_at(system, collider, contact->shapes->time);
    const struct barrier barrier = shape_barrier(system, block->body);
    taut_contact_point *to;
    for (size_t part = 0; part < block_parts(block); part++) {
        int nodes[3];
        double weights[3];
        vec3 at[3];
        const int count = part_nodes(&contact->surfaces, block, part, nodes);
        for (int i = 0; i < 3; i++)
            at[i] = node_position(system->state, numbers[nodes[i < count ? i : count - 1]]);
        const vec3 out = nearest_of_part(sphere.centre, at, count, weights);
        const double length = vec3_length(out), distance = length - sphere.radius;
        if (!(distance < (double)barrier.reach) || length == 0 || !is_wanted(it, &to))
            continue;
        const vec3 normal = vec3_scale(1 / length, out);
        *to = (taut_contact_point){
            .distance = distance,
            .force = (double)barrier_force(&barrier, (real)distance),
            .body = block->body,
            .other = -1,
            .collider = (ptrdiff_t)collider,
        };
        store(to->point, vec3_add(sphere.centre, vec3_scale(sphere.radius + distance / 2, normal)));
        store(to->normal, normal);
        int heaviest = 0;
        for (int i = 1; i < count; i++)
            heaviest = weights[i] > weights[heaviest] ? i : heaviest;
        if (!sphere.it->coulomb.present)
            continue;
        to->friction = friction_status(node_slides(system, collider, numbers[nodes[heaviest]], 0));
        vec3 friction = {0, 0, 0};
        for (int i = 0; i < count; i++)
            friction = vec3_add(friction, REAL_NAME(shape_corner_friction)(system, slot->sphere,
                                                                           numbers[nodes[i]],
                                                                           weights[i] * to->force));
        store(to->friction_force, friction);
    }
}

// ---- Of a node and a collider with `response: penalty`

static void list_contact(const struct system *system, const struct scene_collider *collider,
                         size_t node, const struct contact *contact, void *context)
{
    struct listing *it = context;
    taut_contact_point *to;
    if (!is_wanted(it, &to))
        return;
    const size_t number = (size_t)(collider - system->topology->colliders);
    const vec3 position = node_position(system->state, node);
    const struct contact_motion motion =
        contact_motion(collider, contact, node_velocity(system->state, node));
    *to = (taut_contact_point){
        .distance = -contact->depth,
        .force = motion.normal_force,
        .body = topology_body_of_node(system->topology, node),
        .other = -1,
        .collider = (ptrdiff_t)number,
    };
    store(to->point, vec3_add(position, vec3_scale(contact->depth / 2, contact->normal)));
    store(to->normal, contact->normal);
    if (!collider->coulomb.present)
        return;
    to->friction = friction_status(node_slides(system, number, node, contact->wall));
    store(to->friction_force, friction_action(system, collider, node, contact, &motion).force);
}

// ---- All of them

// What workers share out, kind by kind.
struct parts {
    size_t lists, chunks, slots, blocks;
};

static struct parts parts_of(const struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    const struct shape_contact *shapes = it ? it->shapes : NULL;
    return (struct parts){
        .lists = it ? it->broad->list_count : 0,
        .chunks = shapes ? shapes->chunk_count : 0,
        .slots = shapes ? shapes->slot_count : 0,
        .blocks = system->settings.penalises ? system->contacts.blocks : 0,
    };
}

static size_t all_parts(const struct parts *parts)
{
    return parts->lists + parts->chunks + parts->slots + parts->blocks;
}

static void list_part(struct listing *it, const struct parts *parts, size_t part, double time)
{
    struct system *system = it->system;
    if (part < parts->lists) {
        list_candidates(it, part);
        return;
    }
    part -= parts->lists;
    if (part < parts->chunks) {
        const struct range chunk = {part, part + 1}, no_block = {0, 0};
        REAL_NAME(shape_touches_visit)(system, chunk, no_block, list_touch, it);
        return;
    }
    part -= parts->chunks;
    if (part < parts->slots) {
        list_slot(it, &system->surface_contact->shapes->slots[part]);
        return;
    }
    const struct range nodes = contact_block_nodes(system, part - parts->slots);
    REAL_NAME(contacts_visit)(system, time, nodes, list_contact, it);
}

// The numbers of the first contacts of all parts, from their counts.
static void number_parts(struct contact_points *to, size_t parts)
{
    to->count = 0;
    for (size_t i = 0; i < parts; i++) {
        const uint64_t count = to->scratch[i];
        to->scratch[i] = to->count;
        to->count += count;
    }
    to->every = 1;
    if (to->spread && to->count > to->capacity && to->capacity > 0)
        to->every = (to->count + to->capacity - 1) / to->capacity;
}

void REAL_NAME(contact_points_list)(struct system *system, struct contact_points *to,
                                    const struct worker *worker)
{
    struct surface_contact *contact = system->surface_contact;
    const double time = step_time(system, system->state->step);
    struct pair_finder finder;
    if (contact) {
        REAL_NAME(surface_lists_hold)(system, worker);
        REAL_NAME(pair_finder_begin)(&finder, contact->broad, &contact->rules);
    }
    if (contact && contact->shapes)
        REAL_NAME(shape_contact_find)(system, time, false, worker);
    const struct parts parts = parts_of(system);
    const size_t count = all_parts(&parts);
    if (worker->index == 0) {
        to->scratch = memory_allocate(NULL, count + 1, sizeof *to->scratch);
        to->no_memory = to->scratch == NULL;
        to->count = 0;
    }
    worker_barrier(worker);
    if (to->no_memory)
        return;
    // Whichever worker has a part: those with contacts lie side by side.
    for (int pass = 0; pass < 2; pass++) {
        for (size_t part = (size_t)worker->index; part < count; part += (size_t)worker->count) {
            struct listing it = {.system = system,
                                 .take = take_candidates,
                                 .to = to,
                                 .finder = &finder,
                                 .counts = pass == 0};
            it.number = pass == 0 ? 0 : to->scratch[part];
            list_part(&it, &parts, part, time);
            if (pass == 0)
                to->scratch[part] = it.number;
        }
        worker_barrier(worker);
        if (worker->index == 0 && contact && atomic_exchange(&contact->failed, false))
            REAL_NAME(surface_memory_has_run_out)(system);
        if (pass == 0 && worker->index == 0)
            number_parts(to, count);
        worker_barrier(worker);
    }
    if (worker->index == 0)
        memory_release(NULL, to->scratch, count + 1, sizeof *to->scratch);
}

// ---- Their stiffness at nodes

// Sums are whole numbers, in units of 2^-32 of the stiffness that steps allow for at a node, and
// for damping of that times dt, so that their order does not matter: workers add as they come.
static const double LOAD_UNITS = 4294967296, LOAD_MOST = 281474976710656;

// Adds to the node of a contact whose body allows for a stiffness of `unit`, N/m.
static void add_load(const struct system *system, size_t node, double unit, double stiffness,
                     double damping)
{
    _Atomic uint64_t *loads = system->surface_contact->loads + 2 * node;
    const double parts[2] = {stiffness / unit, damping / (unit * system->settings.dt)};
    for (int i = 0; i < 2; i++)
        if (parts[i] > 0)
            atomic_fetch_add_explicit(&loads[i],
                                      1 + (uint64_t)fmin(LOAD_UNITS * parts[i], LOAD_MOST),
                                      memory_order_relaxed);
}

// The shares of each node of a stiffness and damping along the normal and across it: (sum w_i
// n.x_i)^2 <= sum |w_j| sum |w_i| (n.x_i)^2, where only nodes that forces move count.
struct contact_loads {
    double normal[4], across[4];
};

static void find_parts_of(const struct listing *it, const struct friction_contact *contact,
                          const real weights[4], double parts[4])
{
    const struct system *system = it->system;
    double all = 0;
    for (int i = 0; i < 4; i++) {
        const bool moves = contact->nodes[i] < system->topology->node_count &&
                           system->constants->inverse_mass[contact->nodes[i]] > 0;
        parts[i] = moves ? fabs((double)weights[i]) : 0;
        all += parts[i];
    }
    for (int i = 0; i < 4; i++)
        parts[i] *= all;
}

static void add_candidates(void *context, const struct touching_candidate *items, int count)
{
    struct listing *it = context;
    const struct friction_law *law = &it->law;
    const struct barrier *barrier = &law->barrier;
    for (int i = 0; i < count; i++) {
        const struct candidate candidate = candidate_of_key(
            it->system->surface_contact, it->blocks[0], it->blocks[1], items[i].key);
        const struct friction_record *record = record_of(it, items[i].key);
        struct friction_contact contact = contact_of(it, &candidate);
        find_contact(&contact, &items[i], barrier, record);
        const double inside = (double)(barrier->reach - contact.distance),
                     weight = (double)contact.weight;
        const double curvature = 4 * (double)barrier->stiffness / (double)barrier->depth;
        const double normal[2] = {
            weight * fmin(4 * (double)barrier->stiffness, curvature * inside),
            record ? weight * sqrt(law->normal_square * fmin(1, law->curvature * inside)) : 0};
        const bool sticks = record && !(record->key & RECORD_SLIDES);
        // Only friction in a frame acts strictly across the normal, and then the greater one
        // counts.
        const bool framed = sticks && record->key & RECORD_FRAMED;
        struct contact_loads loads = {.across = {0}};
        real weights[4];
        find_weights(&contact, contact.closest, weights);
        find_parts_of(it, &contact, weights, loads.normal);
        if (sticks) {
            find_weights(&contact, acting_parts(&contact, record), weights);
            find_parts_of(it, &contact, weights, loads.across);
        }
        for (int n = 0; n < 4; n++) {
            const double unit = it->units[candidate.side[n]];
            const double k[2] = {loads.normal[n] * normal[0], loads.across[n] * law->stiffness},
                         c[2] = {loads.normal[n] * normal[1], loads.across[n] * law->damping};
            const double sums[2] = {framed ? fmax(k[0], k[1]) : k[0] + k[1],
                                    framed ? fmax(c[0], c[1]) : c[0] + c[1]};
            if (sums[0] > 0 && unit > 0)
                add_load(it->system, contact.nodes[n], unit, sums[0], sums[1]);
        }
    }
}

bool REAL_NAME(surface_loads_find)(struct system *system, const struct worker *worker)
{
    struct surface_contact *contact = system->surface_contact;
    const size_t nodes = (size_t)system->state->nodes;
    REAL_NAME(surface_lists_hold)(system, worker);
    if (worker->index == 0 && !contact->loads)
        contact->loads = memory_allocate(system->allocator, 2 * nodes, sizeof *contact->loads);
    worker_barrier(worker);
    if (!contact->loads)
        return false;
    const struct range share = worker_share(worker, nodes, 1);
    memset((void *)(contact->loads + 2 * share.first), 0,
           2 * (share.end - share.first) * sizeof *contact->loads);
    worker_barrier(worker);

    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, contact->broad, &contact->rules);
    const struct range lists = worker_share(worker, contact->broad->list_count, 1);
    struct listing it = {.system = system, .take = add_candidates, .finder = &finder};
    for (size_t i = lists.first; i < lists.end; i++)
        list_candidates(&it, i);
    worker_barrier(worker);
    if (worker->index == 0 && atomic_exchange(&contact->failed, false))
        REAL_NAME(surface_memory_has_run_out)(system);
    worker_barrier(worker);
    return true;
}

// The greatest of the nodes of a body, of some only, over what is allowed for there.
static double greatest_of_body(const struct system *system, size_t body, struct range some)
{
    const struct topology_body *of = &system->topology->bodies[body];
    const size_t end = (size_t)min_u64(some.end, of->first_node + of->node_count);
    const _Atomic uint64_t *loads = system->surface_contact->loads;
    uint64_t most[2] = {0, 0};
    const size_t first = some.first > of->first_node ? some.first : (size_t)of->first_node;
    for (size_t i = first; i < end; i++)
        for (int k = 0; k < 2; k++) {
            const uint64_t load = atomic_load_explicit(&loads[2 * i + k], memory_order_relaxed);
            most[k] = load > most[k] ? load : most[k];
        }
    if (most[0] == 0)
        return 0;
    double stiffness, damping;
    REAL_NAME(surface_contact_allowed)(system, body, &stiffness, &damping);
    const double of_k = (double)most[0] / LOAD_UNITS,
                 of_c = (double)most[1] / LOAD_UNITS * stiffness * system->settings.dt;
    return damping > 0 ? fmax(of_k, of_c / damping) : of_k;
}

// Gives each of several ranks the loads of all nodes. Called by worker 0 of all ranks.
static void share_loads(struct system *system)
{
    enum { AT_ONCE = 4096 };
    const struct surface_contact *it = system->surface_contact;
    const size_t count = 2 * (size_t)system->state->nodes;
    for (size_t first = 0; first < count; first += AT_ONCE) {
        double values[AT_ONCE]; // exact below 2^53, the sum of 32 contacts of LOAD_MOST
        const size_t some = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (size_t i = 0; i < some; i++) {
            const size_t node = (first + i) / 2;
            const bool own = node >= system->own_nodes.first && node < system->own_nodes.end;
            values[i] = own ? (double)atomic_load(&it->loads[first + i]) : 0;
        }
        ranks_add(values, some);
        for (size_t i = 0; i < some; i++)
            atomic_store(&it->loads[first + i], (uint64_t)values[i]);
    }
}

double REAL_NAME(surface_loads_greatest)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const bool found = REAL_NAME(surface_loads_find)(system, worker);
    if (worker->index == 0)
        it->greatest_load = (it->shares ? ranks_all(found) : found) ? 0 : -1;
    if (worker->index == 0 && !found)
        REAL_NAME(surface_memory_has_run_out)(system);
    worker_barrier(worker);
    if (it->greatest_load < 0)
        return 0;
    const size_t count = (size_t)system->state->nodes;
    const struct range own = it->shares ? system->own_nodes : (struct range){0, count};
    const struct range share = worker_share(worker, own.end - own.first, 1);
    const struct range nodes = {own.first + share.first, own.first + share.end};
    double greatest = 0;
    for (size_t b = 0; b < system->topology->body_count; b++)
        greatest = fmax(greatest, greatest_of_body(system, b, nodes));
    double before = atomic_load(&it->greatest_load);
    while (greatest > before &&
           !atomic_compare_exchange_weak(&it->greatest_load, &before, greatest)) {
    }
    worker_barrier(worker);
    if (worker->index == 0 && it->shares) {
        double least = -it->greatest_load;
        ranks_least(&least, 1);
        it->greatest_load = -least;
        if (it->greatest_load > LOAD_THAT_COUNTS)
            share_loads(system);
    }
    worker_barrier(worker);
    return it->greatest_load;
}

struct node_load REAL_NAME(surface_load)(const struct system *system, size_t node)
{
    const _Atomic uint64_t *loads = system->surface_contact->loads + 2 * node;
    const uint64_t of_k = atomic_load_explicit(&loads[0], memory_order_relaxed),
                   of_c = atomic_load_explicit(&loads[1], memory_order_relaxed);
    if (of_k == 0)
        return (struct node_load){0, 0};
    double stiffness, damping;
    REAL_NAME(surface_contact_allowed)
    (system, topology_body_of_node(system->topology, node), &stiffness, &damping);
    return (struct node_load){stiffness * (double)of_k / LOAD_UNITS,
                              stiffness * system->settings.dt * (double)of_c / LOAD_UNITS};
}

struct node_load REAL_NAME(surface_load_excess)(const struct system *system, size_t node)
{
    const struct surface_contact *it = system->surface_contact;
    if (!(it->load_factor > 0))
        return (struct node_load){0, 0};
    const struct node_load load = REAL_NAME(surface_load)(system, node);
    double stiffness, damping;
    REAL_NAME(surface_contact_allowed)
    (system, topology_body_of_node(system->topology, node), &stiffness, &damping);
    return (struct node_load){fmax(0, it->load_factor * load.stiffness - stiffness),
                              fmax(0, it->load_factor * load.damping - damping)};
}

void REAL_NAME(surface_loads_count)(struct system *system, double factor)
{
    if (system->surface_contact)
        system->surface_contact->load_factor = factor;
}
