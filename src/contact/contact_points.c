// The places at which surfaces touch each other, planes, spheres, rooms and meshes (struct
// contact_points in surface_report.h), listed on request for pictures and for applications: nothing
// of a step depends on them. They are found in two passes, of which the first counts, so that every
// worker knows where those of its lists go: the order is that of the lists of candidates, then of
// the nodes and blocks near shapes, then of the nodes in penalty colliders, and the same for any
// number of threads. Colliders with `response: project` push no nodes and have no contacts here.
// Those of two surfaces are walked once more for what their stiffness is at each node, which a step
// may not allow for.
#include "contact/contact.h"
#include "contact/shape_contact.h"
#include "contact/surface_friction_contact.h"

#include <assert.h>

#include "base/memory.h"
#include "state/reading.h"

// What one worker is listing: a list of candidates, a chunk or slot of shapes, or a block of nodes.
struct listing {
    struct system *system;
    void (*take)(void *context, const struct touching_candidate *items, int count);
    struct contact_points *to;
    struct node_contact *nodes; // of node_contacts_now
    struct pair_finder *finder;
    bool counts;     // the first pass
    uint64_t number; // of the next one
    // Of a pair of blocks:
    uint32_t blocks[2];
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

// Its nodes, with their positions and velocities.
static struct friction_contact contact_of(const struct listing *it,
                                          const struct candidate *candidate)
{
    struct friction_contact contact = {.edges = candidate->edges, .bare = candidate->bare};
    find_nodes(it->system->surface_contact, it->blocks, candidate, contact.nodes);
    for (int i = 0; i < 4; i++)
        contact.at[i] = block_point(*it->x[candidate->side[i]], candidate->local[i]);
    contact.rigid = contact.nodes[3] >= it->system->topology->node_count;
    find_velocities(it->system->state, &contact);
    return contact;
}

// The force of its friction on the first side, N.
static vec3 friction_on_first(const struct listing *it, const struct candidate *candidate,
                              const struct touching_candidate *touching,
                              const struct friction_record *record)
{
    struct friction_contact contact = contact_of(it, candidate);
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
        it->law = (struct friction_law){
            .barrier = barrier_between(system, block_of(contact, pair->a)->body,
                                       block_of(contact, pair->b)->body)};
        const struct pair_codes of =
            codes_within_reach(contact, it->finder, index, p, &it->law.barrier);
        if (code_total(of.counts) == 0)
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
        REAL_NAME(surface_lists_prepare)(system, worker);
        REAL_NAME(surface_steps_know)(system, worker);
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

// Adds the matrix along (1) or across (-1) a direction, of a contact of stiffness and damping
// `constants` (struct node_contact), to its nodes: (sum w_i n.x_i)^2 <= sum |w_j| sum |w_i|
// (n.x_i)^2, where only nodes that forces move count.
static void add_to_nodes(const struct listing *it, const struct friction_contact *contact,
                         const real weights[4], struct point n, bool across,
                         const double constants[2])
{
    const struct system *system = it->system;
    const double s = across ? -1 : 1, x = (double)n.x, y = (double)n.y, z = (double)n.z,
                 one = across ? 1 : 0;
    const double matrix[6] = {one + s * x * x, one + s * y * y, one + s * z * z,
                              s * x * y,       s * x * z,       s * y * z};
    double sizes[4], all = 0;
    for (int i = 0; i < 4; i++) {
        const bool moves = contact->nodes[i] < system->topology->node_count &&
                           system->constants->inverse_mass[contact->nodes[i]] > 0;
        sizes[i] = moves ? fabs((double)weights[i]) : 0;
        all += sizes[i];
    }
    for (int i = 0; i < 4; i++) {
        if (!(sizes[i] > 0))
            continue;
        struct node_contact *to = &it->nodes[contact->nodes[i]];
        for (int e = 0; e < 6; e++) {
            to->stiffness[e] += all * sizes[i] * constants[0] * matrix[e];
            to->damping[e] += all * sizes[i] * constants[1] * matrix[e];
        }
    }
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
        real weights[4];
        find_weights(&contact, contact.closest, weights);
        add_to_nodes(it, &contact, weights, contact.normal, false, normal);
        if (!record || record->key & RECORD_SLIDES)
            continue;
        const bool framed = record->key & RECORD_FRAMED;
        const double along[2] = {law->stiffness, law->damping};
        find_weights(&contact, acting_parts(&contact, record), weights);
        add_to_nodes(it, &contact, weights, framed ? contact.normal : contact.along, framed, along);
    }
}

void REAL_NAME(node_contacts_now)(struct system *system, struct node_contact *nodes,
                                  const struct worker *worker)
{
    struct surface_contact *contact = system->surface_contact;
    struct pair_finder finder;
    REAL_NAME(surface_lists_prepare)(system, worker);
    REAL_NAME(surface_steps_know)(system, worker);
    REAL_NAME(pair_finder_begin)(&finder, contact->broad, &contact->rules);
    if (worker->index == 0) {
        for (size_t i = 0; i < contact->broad->list_count; i++) {
            struct listing it = {
                .system = system, .take = add_candidates, .nodes = nodes, .finder = &finder};
            list_candidates(&it, i);
        }
        if (atomic_exchange(&contact->failed, false))
            REAL_NAME(surface_memory_has_run_out)(system);
    }
    worker_barrier(worker);
}
