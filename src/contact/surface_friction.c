// Coulomb friction between surfaces (surface_friction.h): the tangential force of a contact, the
// change of its memory at the end of a step, energies, and how the memory is saved.
//
// The anchor of a record is where the first side of the contact would be without stretch, in
// coordinates that move with both sides: of a node and a triangle, v, w and the height above the
// triangle; of two edges, where they would cross in the direction at right angles to both, s and t,
// and their distance in it. These are coordinates of an affine frame, of whose axes two are the
// sides a b and a c of the triangle, or both edges, and the third one is the unit normal m. They
// are not limited to the triangle or the edges, so that the motion of a node around an edge counts
// as much as that across the inside.
//
// The force acts along the tangent plane, between the first side and the point of that frame below
// it, and the frame takes the couple of the force and the height. So neither the momentum nor the
// angular momentum changes, and what the force does is what the stretch changes by.
#include "contact/surface_friction_contact.h"
#include "contact/surface_motion.h"
#include "contact/surface_shares.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

// ---- One contact

// Moves an anchor so that the stretch becomes less by that vector.
static void shift_anchor(struct friction_record *record, const struct friction_contact *it,
                         struct point less)
{
    const real sign = it->edges ? 1 : -1;
    if (record->key & RECORD_FRAMED) {
        record->anchor[0] += (double)(-sign * point_dot(it->dual[0], less));
        record->anchor[1] += (double)point_dot(it->dual[1], less);
        record->anchor[2] += (double)point_dot(it->up, less);
        return;
    }
    const real along = point_dot(less, it->along);
    for (int i = 0; i < 2; i++)
        if (it->shares[i] > 0)
            record->anchor[i] += (double)((i == 0 ? -1 : 1) * it->shares[i] * along /
                                          point_dot(it->bases[i], it->along));
}

// The anchor from which the first side has that stretch, in the frame or along the present
// directions, which `it` has from now on. What `real` leaves of it, parts of edges, is taken away
// once more, as is what the offset between two sides has along their edges: a stretch is that of a
// part of 10^-5 of them.
static void set_anchor(struct friction_record *record, struct friction_contact *it, bool framed,
                       struct point stretch)
{
    if (!framed)
        find_direction(it, present_directions(it));
    record->key &= ~(uint32_t)(RECORD_FRAMED | RECORD_ALONG);
    record->key |= framed ? RECORD_FRAMED : present_directions(it);
    record->anchor[0] = framed ? 0 : (double)it->closest[0];
    record->anchor[1] = framed ? 0 : (double)it->closest[1];
    record->anchor[2] = 0;
    shift_anchor(record, it,
                 framed ? point_difference(it->from, stretch) : point_scale(-1, stretch));
    if (sizeof(real) < sizeof(double) || !framed)
        shift_anchor(record, it, point_difference(stretch_of(it, record), stretch));
}

struct surface_action {
    struct point force; // N, on the first side
    real dissipated;    // W, by the damper; what slides is measured by surface_friction_update
};

// The velocity of the first side along the normal, relative to the second one, m/s; below 0 if it
// approaches.
static real approach_of(const struct friction_contact *it, const real weights[4])
{
    real approach = 0;
    for (int i = 0; i < 4; i++)
        approach += weights[i] * point_dot(it->velocity[i], it->normal);
    return approach;
}

// Along the surface. No force where a frame has been lost within a step.
static struct surface_action action_of(const struct friction_contact *it,
                                       const struct friction_record *record,
                                       const struct friction_law *law)
{
    if (record->key & RECORD_FRAMED && !has_frame(it, true))
        return (struct surface_action){{0, 0, 0}, 0};
    const struct point velocity = sliding_velocity(it, record);
    const struct point spring = point_scale((real)law->stiffness, stretch_of(it, record));
    const struct point all = point_along(spring, (real)law->damping, velocity);
    const real most =
        it->normal_force *
        (real)(record->key & RECORD_SLIDES ? law->kinetic_coefficient : law->static_coefficient);
    const real size = real_sqrt(point_dot(all, all));
    const struct point limited = size > most ? point_scale(most / size, all) : all;
    return (struct surface_action){
        .force = point_scale(-1, limited),
        .dissipated = point_dot(point_difference(limited, spring), velocity),
    };
}

// Along the normal: the force of the damper, N, at that depth in the barrier, m. Edges that are
// nearly parallel have the part of it that their barrier has.
static real damper_force(const struct friction_contact *it, const struct friction_law *law,
                         real approach, double inside)
{
    const double weight = (double)it->weight;
    return (real)surface_damper_force(weight * weight * law->normal_square, inside * law->curvature,
                                      (double)it->normal_force, (double)approach);
}

// W, by both dampers; that along the normal has the force `damper`, with velocities of the time
// `lead` before (surface_damper_lead).
static double dissipated_by(const struct friction_contact *it, const struct friction_law *law,
                            const struct surface_action *friction, real approach, real damper,
                            double lead)
{
    if (lead > 0)
        damper =
            damper_force(it, law, approach,
                         (double)(law->barrier.reach - it->distance) - lead * (double)approach);
    return (double)(friction->dissipated - damper * approach);
}

// The forces of friction on the four nodes.
static void node_forces(const struct friction_contact *it, const struct friction_record *record,
                        struct point force, struct point forces[4])
{
    real weights[4];
    find_weights(it, acting_parts(it, record), weights);
    for (int i = 0; i < 4; i++)
        forces[i] = point_scale(weights[i], force);
    const int ends[2][2] = {{it->edges ? 0 : 1, it->edges ? 1 : 2}, {it->edges ? 2 : 1, 3}};
    for (int i = 0; i < 2; i++) {
        struct point couple;
        if (record->key & RECORD_FRAMED)
            couple = point_scale(it->height * point_dot(force, it->dual[i]), it->up);
        else if (it->shares[i] > 0)
            couple = point_scale(couple_of_edge(it, i, force), it->normal);
        else
            continue;
        forces[ends[i][0]] = point_difference(forces[ends[i][0]], couple);
        forces[ends[i][1]] = point_sum(forces[ends[i][1]], couple);
    }
}

double REAL_NAME(surface_friction_damping)(const struct system *system, size_t body)
{
    const struct surface_contact *it = system->surface_contact;
    if (!it || !it->friction || !it->wanted[body])
        return 0;
    const double stiffness = system->state->surface_stiffness[body],
                 mass = it->friction->least_mass[body];
    return fmax(surface_tangential_damping(stiffness, mass),
                surface_normal_damping(stiffness, mass));
}

// ---- Records

// The records of a pair of blocks; NULL: none. Pairs are asked for in their order.
static const struct friction_pair *cursor_find(struct friction_cursor *cursor, uint32_t a,
                                               uint32_t b)
{
    const struct friction_list *list = cursor->list;
    while (cursor->pair < list->pair_count &&
           pair_before(list->pairs[cursor->pair].a, list->pairs[cursor->pair].b, a, b))
        cursor->pair++;
    if (cursor->pair == list->pair_count)
        return NULL;
    const struct friction_pair *pair = &list->pairs[cursor->pair];
    return pair->a == a && pair->b == b ? pair : NULL;
}

// A candidate that a kernel has handed out, at the positions of the present evaluation; without the
// direction of contacts without a frame.
static void read_contact(const struct system *system, const uint32_t blocks[2],
                         const struct candidate *candidate,
                         const struct touching_candidate *touching, const struct friction_law *law,
                         struct friction_contact *contact)
{
    const struct surface_contact *it = system->surface_contact;
    contact->edges = candidate->edges;
    contact->bare = candidate->bare;
    find_nodes(it, blocks, candidate, contact->nodes);
    for (int i = 0; i < 4; i++)
        contact->at[i] = block_point(it->now[blocks[candidate->side[i]]], candidate->local[i]);
    contact->rigid = contact->nodes[3] >= system->topology->node_count;
    find_velocities(system->state, contact);
    find_framed_contact(contact, touching, &law->barrier);
}

// ---- Forces

static void add_forces(void *context, const struct touching_candidate *items, int count)
{
    struct friction_forces *it = context;
    const struct system *system = it->system;
    struct friction_cursor *cursor = &it->cursor;
    const struct friction_pair *pair = cursor_find(cursor, it->blocks[0], it->blocks[1]);
    const struct friction_law law = law_between(system, it->blocks[0], it->blocks[1]);
    const double lead = surface_damper_lead(system);
    const size_t end = pair->first + pair->count;
    for (int i = 0; i < count; i++) {
        const struct friction_record *records = cursor->list->records;
        while (cursor->record < end && (records[cursor->record].key & RECORD_KEY) < items[i].key)
            cursor->record++;
        if (cursor->record == end)
            return;
        const struct friction_record *record = &records[cursor->record];
        if ((record->key & RECORD_KEY) != items[i].key)
            continue; // it has no memory yet
        const struct candidate candidate =
            candidate_of_key(system->surface_contact, it->blocks[0], it->blocks[1], record->key);
        struct friction_contact contact;
        struct point forces[4];
        real weights[4];
        read_contact(system, it->blocks, &candidate, &items[i], &law, &contact);
        if (!(record->key & RECORD_FRAMED))
            find_direction(&contact, record->key);
        const struct surface_action action = action_of(&contact, record, &law);
        node_forces(&contact, record, action.force, forces);
        find_weights(&contact, contact.closest, weights);
        const real approach = approach_of(&contact, weights),
                   damper = damper_force(&contact, &law, approach,
                                         (double)(law.barrier.reach - contact.distance));
        it->dissipated += dissipated_by(&contact, &law, &action, approach, damper, lead);
        for (int k = 0; k < 4; k++)
            forces[k] = point_along(forces[k], damper * weights[k], contact.normal);
        for (int k = 0; k < 4; k++) {
            real(*on)[SURFACE_NODES] = it->on[candidate.side[k]];
            const int node = candidate.local[k];
            on[0][node] += forces[k].x;
            on[1][node] += forces[k].y;
            on[2][node] += forces[k].z;
        }
    }
}

vec3 REAL_NAME(surface_friction_of)(const struct friction_record *record,
                                    const struct friction_law *law,
                                    const struct touching_candidate *touching,
                                    struct friction_contact *contact)
{
    find_contact(contact, touching, &law->barrier, record);
    return vec3_of_point(action_of(contact, record, law).force);
}

bool REAL_NAME(surface_friction_forces)(struct friction_forces *found, uint32_t a, uint32_t b,
                                        real (*on_a)[SURFACE_NODES], real (*on_b)[SURFACE_NODES])
{
    const struct friction_pair *pair = cursor_find(&found->cursor, a, b);
    if (!pair || pair->count == 0)
        return false;
    found->touching.count = 0;
    found->touching.take = add_forces;
    found->touching.context = found;
    found->cursor.record = pair->first;
    found->blocks[0] = a;
    found->blocks[1] = b;
    found->on[0] = on_a;
    found->on[1] = on_b;
    return true;
}

// ---- The change of the memory

// The stretch with which a contact begins: it has been within reach for at most the step.
static struct point first_stretch(const struct friction_contact *it,
                                  const struct friction_record *record,
                                  const struct barrier *barrier, double dt)
{
    real weights[4];
    find_weights(it, it->closest, weights);
    const real approach = approach_of(it, weights);
    if (!(approach < 0))
        return (struct point){0, 0, 0};
    const real time = (barrier->reach - it->distance) / -approach;
    return point_scale(time < (real)dt ? time : (real)dt, sliding_velocity(it, record));
}

// What the energy of a record's spring gains in a time beyond what its force does, J. The force
// acts at the present coordinates, from which those of the anchor differ by the stretch, and by all
// motion along which nothing holds; and as edges and frames turn and are strained, so does what
// lies between the two.
static double energy_beyond_force(const struct friction_contact *it, const struct friction_law *law,
                                  const struct friction_record *record, struct point stretch,
                                  double time)
{
    const bool framed = record->key & RECORD_FRAMED;
    struct point rates[2];
    find_axes_between(it->edges, it->velocity, rates);
    const real *parts = acting_parts(it, record);
    const real first = (real)(record->anchor[0] - (double)parts[0]);
    struct point sum = point_scale(it->edges ? first : -first, rates[0]);
    sum = point_along(sum, (real)((double)parts[1] - record->anchor[1]), rates[1]);
    for (int i = 0; i < 2 && framed; i++)
        sum = point_along(
            sum, (real)(record->anchor[2] - (double)it->height) * point_dot(it->up, rates[i]),
            it->dual[i]);
    if (!framed) {
        const struct point beside = along_surface(from_anchor(it, record), it->along);
        real turning = 0, together = 0; // of the sum of unit vectors, towards what is beside it
        real couples = 0;
        for (int i = 0; i < 2; i++) {
            if (!(it->shares[i] > 0))
                continue;
            const real part = point_dot(it->bases[i], it->along),
                       length = real_sqrt(point_dot(it->bases[i], it->bases[i]));
            const struct point unit = point_scale((part < 0 ? -1 : 1) / length, it->bases[i]);
            const struct point turn = along_surface(rates[i], unit);
            turning += (part < 0 ? -1 : 1) * it->shares[i] * point_dot(turn, beside) / length;
            together += it->shares[i] * point_dot(unit, it->along);
            couples += couple_of_edge(it, i, it->along) * point_dot(rates[i], it->normal);
        }
        if (together > 0)
            sum = point_along(sum, turning / together - couples, it->along);
    }
    return law->stiffness * (double)point_dot(stretch, sum) * time;
}

// What an implicit step has had of a contact: by how much its nodes have moved, m, and what its
// friction was in the equations, NULL if it was in none.
struct contact_step {
    struct point moved[4];
    const struct friction_action_of_step *acted;
};

// J, of an implicit step: the work of the force of friction along the slip of the contact, less
// what its spring has gained; of a contact with memory that holds that of its damper. The slip is
// not the change of the stretch, which is measured from the anchor.
static double step_heat(const struct system *system, const struct friction_contact *it,
                        const struct friction_law *law, const struct friction_record *old,
                        const struct friction_record *record, struct point stretch, double left,
                        struct friction_step step, const struct contact_step *in)
{
    const double before = old ? (double)old->stretch : 0,
                 reached = (double)real_sqrt(point_dot(stretch, stretch));
    struct friction_contact in_step = *it;
    memcpy(in_step.velocity, in->moved, sizeof in_step.velocity);
    const struct point slip = sliding_velocity(&in_step, record);
    if (!old || reached > left || (in->acted && in->acted->slid)) {
        const vec3 force =
            in->acted ? friction_force_of_step(in->acted, step.applied) : vec3_make(0, 0, 0);
        return friction_work_of_step(system, force, law->stiffness * before, vec3_of_point(slip),
                                     false, step) +
               law->stiffness * (before * before - left * left) / 2;
    }
    return law->damping * (double)point_dot(slip, slip) / step.elapsed -
           energy_beyond_force(&in_step, law, old, stretch, 1);
}

// Where a contact that holds has come closer, or farther apart, by this part of the reach since its
// anchor was set, that is set again: as the normal turns, what lies along it would become stretch.
// So is that of edges without a frame, which slide freely beside each other, as their direction
// turns.
static const real ANCHOR_AWAY = (real)1 / 256;

// m.
static real away_from_anchor(const struct friction_contact *it, const struct friction_record *old)
{
    const struct point offset = from_anchor(it, old);
    if (old->key & RECORD_FRAMED)
        return real_abs(point_dot(offset, it->normal));
    const struct point away =
        along_surface(point_along(offset, -it->distance, it->normal), it->along);
    return real_sqrt(point_dot(away, away));
}

// `record` has a key; `old`: what it was, or NULL; `in`: what an implicit step has had of it,
// otherwise NULL. Returns the heat, J.
static double update_record(const struct system *system, struct friction_contact *it,
                            const struct friction_law *law, struct friction_step step,
                            real normal_force, const struct friction_record *old,
                            struct friction_record *record, const struct contact_step *in)
{
    struct point stretch;
    bool slid = false, lost = false;
    if (old) {
        *record = *old;
        slid = old->key & RECORD_SLIDES;
        lost = old->key & RECORD_FRAMED && !has_frame(it, true);
        if (lost && !(it->sine > 0)) {
            set_anchor(record, it, false, (struct point){0, 0, 0});
            record->stretch = 0;
            return law->stiffness * (double)old->stretch * (double)old->stretch / 2;
        }
        stretch = stretch_of(it, old);
    } else {
        record->key |= has_frame(it, false) ? RECORD_FRAMED : present_directions(it);
        stretch = first_stretch(it, record, &law->barrier, step.first);
    }
    const double most = law->stiffness > 0 ? (double)normal_force / law->stiffness : 0;
    const double kinetic = most * law->kinetic_coefficient;
    const double limit = slid ? kinetic : most * law->static_coefficient;
    const double reached = (double)real_sqrt(point_dot(stretch, stretch));
    bool slides = slid;
    double heat = 0, left = reached;
    if (reached > limit) {
        left = kinetic;
        slides = true;
        heat = friction_sliding_heat(law->stiffness, old ? (double)old->stretch : 0, slid, reached,
                                     limit, left);
    } else if (slid && point_dot(sliding_velocity(it, record), stretch) <= 0) {
        slides = false;
    }
    if (in && !lost)
        heat = step_heat(system, it, law, old, record, stretch, left, step, in);
    else if (in)
        heat = friction_step_heat(law->stiffness, law->damping, (double)old->stretch, reached, left,
                                  step.elapsed);
    const bool framed = old && old->key & RECORD_FRAMED && !lost, along = old && !framed && !lost;
    if (old && !lost && !friction_acts_by_steps(system))
        heat -= energy_beyond_force(it, law, old, stretch, step.elapsed);
    const bool moved =
        (framed || along) && away_from_anchor(it, old) > ANCHOR_AWAY * law->barrier.reach;
    const bool turned =
        along && (has_frame(it, false) || present_directions(it) != (old->key & RECORD_ALONG));
    record->key &= ~(uint32_t)RECORD_SLIDES;
    record->key |= slides ? RECORD_SLIDES : 0;
    if (!old || lost || moved || turned || reached > limit)
        set_anchor(record, it, has_frame(it, framed && !(reached > limit)),
                   reached > limit ? point_scale((real)(left / reached), stretch) : stretch);
    if (old && (record->key ^ old->key) & (RECORD_FRAMED | RECORD_ALONG)) {
        const struct point kept = stretch_of(it, record);
        const double after = (double)real_sqrt(point_dot(kept, kept));
        heat += law->stiffness * (left * left - after * after) / 2;
        left = after;
    }
    record->stretch = (real)left;
    return heat;
}

// The update of a list: what is made, from what was.
struct friction_update {
    const struct system *system;
    struct friction_step step;
    const struct friction_list *old;
    size_t pair, at,
        end; // in it: the next pair and record, and the end of those of the present pair
    struct friction_list made;
    const struct assumed_list *assumed;  // NULL: not an implicit step
    size_t assumed_pair, item, item_end; // in it
    uint32_t blocks[2];
    struct friction_law law;
    double heat;
    bool failed; // no memory
};

// What the springs of contacts that have ended had left is lost.
static void end_record(struct friction_update *update, double stiffness)
{
    const double stretch = (double)update->old->records[update->at++].stretch;
    update->heat += stiffness * stretch * stretch / 2;
}

// Ends those of all old pairs before two blocks, and finds those of these.
static void end_pairs_before(struct friction_update *update, uint32_t a, uint32_t b)
{
    const struct friction_list *old = update->old;
    for (; update->pair < old->pair_count; update->pair++) {
        const struct friction_pair *pair = &old->pairs[update->pair];
        if (!pair_before(pair->a, pair->b, a, b))
            break;
        const double stiffness = law_between(update->system, pair->a, pair->b).stiffness;
        while (update->at < pair->first + pair->count)
            end_record(update, stiffness);
    }
    update->end = update->at;
    if (update->pair < old->pair_count && old->pairs[update->pair].a == a &&
        old->pairs[update->pair].b == b)
        update->end += old->pairs[update->pair++].count;
}

// What the last system of an implicit step has assumed of a contact; NULL: nothing.
static const struct surface_assumption *assumed_of(struct friction_update *it, uint32_t key)
{
    if (!it->assumed)
        return NULL;
    const struct surface_assumption *items = it->assumed->items;
    while (it->item < it->item_end && items[it->item].key < key)
        it->item++;
    return it->item < it->item_end && items[it->item].key == key ? &items[it->item] : NULL;
}

// m, of a node of a candidate, since the start of an implicit step.
static struct point displacement_in_step(const struct friction_update *it,
                                         const struct candidate *candidate, int i)
{
    const struct surface_contact *contact = it->system->surface_contact;
    const uint32_t block = it->blocks[candidate->side[i]];
    return point_difference(block_point(contact->now[block], candidate->local[i]),
                            block_point(contact->start[block], candidate->local[i]));
}

static void update_candidates(void *context, const struct touching_candidate *items, int count)
{
    struct friction_update *it = context;
    struct friction_list *made = &it->made;
    if (it->failed || !array_reserve((void **)&made->records, &made->capacity,
                                     made->count + (size_t)count, sizeof *made->records)) {
        it->failed = true;
        return;
    }
    for (int i = 0; i < count; i++) {
        const struct friction_record *records = it->old->records, *before = NULL;
        while (it->at < it->end && (records[it->at].key & RECORD_KEY) < items[i].key)
            end_record(it, it->law.stiffness);
        if (it->at < it->end && (records[it->at].key & RECORD_KEY) == items[i].key)
            before = &records[it->at++];
        const struct candidate candidate = candidate_of_key(
            it->system->surface_contact, it->blocks[0], it->blocks[1], items[i].key);
        struct friction_contact contact;
        read_contact(it->system, it->blocks, &candidate, &items[i], &it->law, &contact);
        if (before ? !(before->key & RECORD_FRAMED) : !has_frame(&contact, false))
            find_direction(&contact, before ? before->key : present_directions(&contact));
        struct friction_record *record = &made->records[made->count++];
        *record = (struct friction_record){.key = items[i].key};
        if (!it->assumed || it->step.elapsed == 0) {
            it->heat += update_record(it->system, &contact, &it->law, it->step,
                                      contact.normal_force, before, record, NULL);
            continue;
        }
        // In an implicit step that of its last system has acted (friction.c).
        const struct surface_assumption *assumed = assumed_of(it, items[i].key);
        const real normal_force = assumed && assumed->normal_force > 0 ? assumed->normal_force : 0;
        struct contact_step in = {.acted = assumed ? &assumed->acted : NULL};
        for (int k = 0; k < 4; k++)
            in.moved[k] = displacement_in_step(it, &candidate, k);
        it->heat += update_record(it->system, &contact, &it->law, it->step, normal_force, before,
                                  record, &in);
    }
}

static void update_pair(struct friction_update *update, struct pair_finder *finder, size_t list,
                        size_t p, block_reals unused[2])
{
    struct surface_contact *it = update->system->surface_contact;
    struct surface_pair *found = &it->lists[list].pairs[p];
    const struct block_pair *pair = &found->pair;
    struct friction_list *made = &update->made;
    update->law = law_between(update->system, pair->a, pair->b);
    if (!(update->law.static_coefficient > 0))
        return;
    const struct pair_codes codes = codes_within_reach(it, finder, list, p, &update->law.barrier);
    if (code_total(codes.counts) == 0)
        return;
    const struct pair_choice choice =
        choose_near(&it->lists[list], found, &update->law.barrier, pair_displacement(it, pair));
    count_evaluated(found, choice.count);
    if (choice.count == 0) {
        if (!it->rows)
            know_least(found, REAL_HUGE, choice.rest);
        return;
    }
    end_pairs_before(update, pair->a, pair->b);
    if (update->assumed) {
        const struct friction_pair *known =
            pair_at(update->assumed->pairs, update->assumed->pair_count, &update->assumed_pair,
                    pair->a, pair->b);
        update->item = known ? known->first : 0;
        update->item_end = known ? known->first + known->count : 0;
    }
    if (!array_reserve((void **)&made->pairs, &made->pair_capacity, made->pair_count + 1,
                       sizeof *made->pairs)) {
        update->failed = true;
        return;
    }
    const size_t first = made->count;
    struct touching_candidates touching = {.take = update_candidates, .context = update};
    struct listed_pair listed =
        listed_pair_of(it, pair, codes, (const real(*)[SURFACE_NODES])it->now[pair->a],
                       (const real(*)[SURFACE_NODES])it->now[pair->b]);
    listed.touching = &touching;
    update->blocks[0] = pair->a;
    update->blocks[1] = pair->b;
    // Other positions than those of implicit steps are those of the start, from which the next step
    // goes on.
    (void)evaluate_pair(it, &it->lists[list], found, &update->law.barrier, &choice, !it->rows,
                        &listed, unused[0], unused[1]);
    while (update->at < update->end)
        end_record(update, update->law.stiffness);
    if (made->count > first)
        made->pairs[made->pair_count++] =
            (struct friction_pair){pair->a, pair->b, first, made->count - first};
}

static bool put_list(struct friction_list *list, const struct friction_list *made)
{
    list->pair_count = list->count = 0;
    if (!reserve_anew((void **)&list->pairs, &list->pair_capacity, made->pair_count,
                      sizeof *list->pairs) ||
        !reserve_anew((void **)&list->records, &list->capacity, made->count, sizeof *list->records))
        return false;
    if (made->pair_count > 0)
        memcpy(list->pairs, made->pairs, made->pair_count * sizeof *list->pairs);
    if (made->count > 0)
        memcpy(list->records, made->records, made->count * sizeof *list->records);
    list->pair_count = made->pair_count;
    list->count = made->count;
    return true;
}

// A worker's lists. Forces are not wanted.
static bool update_lists(struct system *system, struct friction_step step,
                         const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    struct friction_update update = {.system = system, .step = step};
    block_reals unused[2] = {{{0}}};
    const struct range share = worker_share(worker, it->broad->list_count, 1);
    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    for (size_t i = share.first; i < share.end && !update.failed; i++) {
        struct friction_list *list = &it->friction->lists[i];
        it->friction->heat[i] = 0;
        const bool none = it->lists[i].pair_count == 0 || it->lists[i].sleeps;
        if (none && list->pair_count == 0)
            continue;
        update.old = list;
        update.assumed = it->friction->assumed ? &it->friction->assumed[i] : NULL;
        update.assumed_pair = 0;
        update.pair = update.at = update.made.count = update.made.pair_count = 0;
        update.heat = 0;
        for (size_t p = 0; !none && p < it->lists[i].pair_count && !update.failed; p++)
            if (pair_is_own(system, i, &it->lists[i].pairs[p].pair))
                update_pair(&update, &finder, i, p, unused);
        end_pairs_before(&update, UINT32_MAX, UINT32_MAX);
        update.failed |= !put_list(list, &update.made);
        it->friction->heat[i] = update.heat;
    }
    free(update.made.pairs);
    free(update.made.records);
    return !update.failed;
}

// Ends with a barrier.
static void update_all(struct system *system, struct friction_step step,
                       const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    REAL_NAME(surface_lists_hold)(system, worker);
    if (!it->rows)
        REAL_NAME(surface_start_move)(system, worker);
    if (it->now != it->start)
        REAL_NAME(surface_blocks_copy)(system, it->now, worker);
    if (!update_lists(system, step, worker))
        atomic_store(&it->failed, true);
    worker_barrier(worker);
    if (worker->index == 0 && atomic_exchange(&it->failed, false))
        REAL_NAME(surface_memory_has_run_out)(system);
    worker_barrier(worker);
}

void REAL_NAME(surface_friction_update)(struct system *system, struct friction_step step,
                                        const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it || !it->friction)
        return;
    REAL_NAME(exchange_wanted_nodes)(system, worker);
    update_all(system, step, worker);
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
    REAL_NAME(surface_shares_add)(system, it->friction->heat, worker);
    for (size_t i = 0; worker->index == 0 && i < it->friction->list_count; i++)
        system->work.done[WORK_FRICTION] += it->friction->heat[i];
}

void REAL_NAME(surface_friction_start)(struct system *system, double time,
                                       const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it || !it->friction)
        return;
    REAL_NAME(mesh_colliders_pose)(system, time, worker);
    worker_barrier(worker);
    if (worker->index == 0) {
        it->steps_known = false;
        for (size_t i = 0; i < it->friction->list_count; i++)
            it->friction->lists[i].count = it->friction->lists[i].pair_count = 0;
    }
    worker_barrier(worker);
    update_all(system, (struct friction_step){.time = time}, worker);
}

// ---- Energy and power

static double list_sum(const struct system *system, const struct friction_list *list, bool power,
                       bool changed)
{
    double sum = 0;
    for (size_t p = 0; p < list->pair_count; p++) {
        const struct friction_pair *pair = &list->pairs[p];
        if (changed && !blocks_have_changed(system->surface_contact, pair->a, pair->b, CHANGED))
            continue;
        const struct friction_law law = law_between(system, pair->a, pair->b);
        for (size_t r = pair->first; r < pair->first + pair->count; r++) {
            const struct friction_record *record = &list->records[r];
            struct friction_contact contact;
            if (!present_contact(system, pair, record, &law, &contact))
                continue;
            if (power) {
                real weights[4];
                find_weights(&contact, contact.closest, weights);
                const struct surface_action friction = action_of(&contact, record, &law);
                const real approach = approach_of(&contact, weights),
                           damper = damper_force(&contact, &law, approach,
                                                 (double)(law.barrier.reach - contact.distance));
                sum += dissipated_by(&contact, &law, &friction, approach, damper,
                                     surface_damper_lead(system));
                continue;
            }
            const struct point stretch = stretch_of(&contact, record);
            double square = (double)point_dot(stretch, stretch);
            // What the memory will keep: before it has changed, implicit steps are beyond the cone.
            const double limit = (double)(coefficient_of(&law, record) * contact.normal_force);
            if (integrator_is_implicit(system->settings.integrator) &&
                law.stiffness * law.stiffness * square > limit * limit) {
                const double kept =
                    law.kinetic_coefficient * (double)contact.normal_force / law.stiffness;
                square = kept * kept;
            }
            sum += law.stiffness / 2 * square;
        }
    }
    return sum;
}

static double sum_of_lists(struct system *system, bool power, bool changed,
                           const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it || !it->friction)
        return 0;
    worker_barrier(worker);
    const struct range lists = worker_share(worker, it->friction->list_count, 1);
    for (size_t i = lists.first; i < lists.end; i++)
        it->energies[i] =
            list_is_own(system, i) ? list_sum(system, &it->friction->lists[i], power, changed) : 0;
    worker_barrier(worker);
    REAL_NAME(surface_shares_add)(system, it->energies, worker);
    double sum = 0;
    for (size_t i = 0; i < it->friction->list_count; i++)
        sum += it->energies[i];
    worker_barrier(worker);
    return sum;
}

double REAL_NAME(surface_friction_energy)(struct system *system, bool changed,
                                          const struct worker *worker)
{
    return sum_of_lists(system, false, changed, worker);
}

// That of implicit steps is known at their end.
double REAL_NAME(surface_contact_power)(struct system *system, const struct worker *worker)
{
    if (integrator_is_implicit(system->settings.integrator))
        return 0;
    return sum_of_lists(system, true, false, worker);
}

double REAL_NAME(surface_contact_evaluated_power)(struct system *system,
                                                  const struct worker *worker)
{
    const struct surface_friction *it =
        system->surface_contact ? system->surface_contact->friction : NULL;
    if (!it || !it->powers_known)
        return REAL_NAME(surface_contact_power)(system, worker);
    if (surface_shares(system))
        worker_barrier(worker); // all workers have evaluated their lists
    REAL_NAME(surface_shares_add)(system, it->powers, worker);
    double sum = 0;
    for (size_t i = 0; i < it->list_count; i++)
        sum += it->powers[i];
    return sum;
}

// ---- Making

#define ALLOCATE(array, count) ((array) = memory_allocate(allocator, (count), sizeof *(array)))
#define RELEASE(array, count)  memory_release(allocator, (array), (count), sizeof *(array))

bool REAL_NAME(surface_friction_make)(struct system *system, const taut_scene *scene)
{
    struct surface_contact *contact = system->surface_contact;
    const taut_allocator *allocator = system->allocator;
    if (!scene_has_surface_friction(scene))
        return true;
    struct surface_friction *it = contact->friction = memory_allocate(allocator, 1, sizeof *it);
    if (!it)
        return false;
    it->bodies = contact->body_count;
    it->list_count = contact->broad->list_count;
    if (!ALLOCATE(it->rules, it->bodies * it->bodies) || !ALLOCATE(it->least_mass, it->bodies) ||
        !ALLOCATE(it->lists, it->list_count) || !ALLOCATE(it->heat, it->list_count) ||
        !ALLOCATE(it->powers, it->list_count))
        return false;
    if (integrator_is_implicit(system->settings.integrator) &&
        (!ALLOCATE(it->assumed, it->list_count) || !ALLOCATE(it->making, it->list_count) ||
         !ALLOCATE(it->changes, it->list_count)))
        return false;
    for (size_t a = 0; a < it->bodies; a++)
        for (size_t b = 0; b < it->bodies; b++)
            it->rules[a * it->bodies + b] = scene_friction_between(scene, a, b);
    REAL_NAME(surface_friction_masses)(system);
    return true;
}

void REAL_NAME(surface_friction_free)(struct system *system)
{
    struct surface_friction *it = system->surface_contact->friction;
    const taut_allocator *allocator = system->allocator;
    if (!it)
        return;
    for (size_t i = 0; i < it->list_count && it->lists; i++) {
        free(it->lists[i].pairs);
        free(it->lists[i].records);
    }
    for (size_t i = 0; i < 2 * it->list_count && it->assumed && it->making; i++) {
        struct assumed_list *list =
            i < it->list_count ? &it->assumed[i] : &it->making[i - it->list_count];
        free(list->pairs);
        free(list->items);
    }
    RELEASE(it->assumed, it->list_count);
    RELEASE(it->making, it->list_count);
    RELEASE(it->changes, it->list_count);
    RELEASE(it->rules, it->bodies * it->bodies);
    RELEASE(it->least_mass, it->bodies);
    RELEASE(it->lists, it->list_count);
    RELEASE(it->heat, it->list_count);
    RELEASE(it->powers, it->list_count);
    RELEASE(it, 1);
    system->surface_contact->friction = NULL;
}

uint64_t REAL_NAME(surface_friction_bytes)(const struct system *system)
{
    const struct surface_friction *it = system->surface_contact->friction;
    if (!it)
        return 0;
    uint64_t bytes = it->bodies * it->bodies * sizeof *it->rules +
                     it->bodies * sizeof *it->least_mass +
                     it->list_count * (sizeof *it->lists + sizeof *it->heat + sizeof *it->powers);
    for (size_t i = 0; i < it->list_count; i++)
        bytes += it->lists[i].pair_capacity * sizeof *it->lists[i].pairs +
                 it->lists[i].capacity * sizeof *it->lists[i].records;
    for (size_t i = 0; i < 2 * it->list_count && it->assumed; i++) {
        const struct assumed_list *list =
            i < it->list_count ? &it->assumed[i] : &it->making[i - it->list_count];
        bytes += sizeof *list + sizeof it->changes[0] / 2 +
                 list->pair_capacity * sizeof *list->pairs + list->capacity * sizeof *list->items;
    }
    return bytes;
}

void REAL_NAME(surface_friction_masses)(struct system *system)
{
    struct surface_friction *it = system->surface_contact->friction;
    for (size_t b = 0; it && b < it->bodies; b++) {
        const struct range nodes = surface_nodes(system->topology, b);
        real most = 0; // of the inverse
        for (size_t i = nodes.first; i < nodes.end; i++) {
            const real inverse = system->constants->inverse_mass[i];
            most = inverse > most ? inverse : most;
        }
        it->least_mass[b] = most > 0 ? 1 / (double)most : INFINITY;
    }
}

bool REAL_NAME(surface_contact_rubs)(const struct system *system)
{
    return system->surface_contact->friction != NULL;
}

uint64_t REAL_NAME(surface_friction_count)(const struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    uint64_t count = 0;
    for (size_t i = 0; it && it->friction && i < it->friction->list_count; i++)
        count += it->friction->lists[i].count;
    return count;
}

// ---- Saving

// The nodes of a record in the builders' numbers, and whether it is of edges.
static bool saved_nodes(const struct system *system, const struct friction_pair *pair,
                        const struct friction_record *record, uint32_t nodes[4])
{
    const struct surface_contact *it = system->surface_contact;
    const struct candidate candidate = candidate_of_key(it, pair->a, pair->b, record->key);
    find_nodes(it, (const uint32_t[2]){pair->a, pair->b}, &candidate, nodes);
    for (int i = 0; i < 4; i++) // those of mesh colliders have one number
        if (nodes[i] < system->topology->node_count)
            nodes[i] = (uint32_t)topology_builder_node(system->topology, nodes[i]);
    return candidate.edges;
}

void REAL_NAME(surface_friction_save)(const struct system *system, struct friction_contacts *to)
{
    const struct surface_contact *it = system->surface_contact;
    uint64_t at = 0;
    for (size_t i = 0; it && it->friction && i < it->friction->list_count; i++) {
        const struct friction_list *list = &it->friction->lists[i];
        for (size_t p = 0; p < list->pair_count; p++)
            for (size_t r = 0; r < list->pairs[p].count; r++, at++) {
                const struct friction_record *record = &list->records[list->pairs[p].first + r];
                const bool edges = saved_nodes(system, &list->pairs[p], record, &to->nodes[4 * at]);
                to->flags[at] =
                    (uint8_t)((edges ? FRICTION_EDGES : 0) |
                              (record->key & RECORD_FRAMED ? FRICTION_FRAMED : 0) |
                              (record->key & RECORD_ALONG_FIRST ? FRICTION_FIRST : 0) |
                              (record->key & RECORD_ALONG_SECOND ? FRICTION_SECOND : 0) |
                              (record->key & RECORD_SLIDES ? FRICTION_SLIDING : 0));
                to->stretches[at] = (double)record->stretch;
                for (int k = 0; k < 3; k++)
                    to->anchors[3 * at + (uint64_t)k] = record->anchor[k];
            }
    }
    to->count = at;
}

// A record := what was saved of it; its key stays.
static void put_saved(struct friction_record *record, const struct friction_contacts *from,
                      uint64_t index)
{
    const uint8_t flags = from->flags[index];
    record->key = (record->key & RECORD_KEY) | (flags & FRICTION_FRAMED ? RECORD_FRAMED : 0) |
                  (flags & FRICTION_SLIDING ? RECORD_SLIDES : 0) |
                  (flags & FRICTION_FIRST ? RECORD_ALONG_FIRST : 0) |
                  (flags & FRICTION_SECOND ? RECORD_ALONG_SECOND : 0);
    record->stretch = (real)from->stretches[index];
    for (int k = 0; k < 3; k++)
        record->anchor[k] = from->anchors[3 * index + (uint64_t)k];
}

// ---- What is saved, put back as it was

// A contact that has been saved: the two blocks and the key of its record.
struct placed_contact {
    uint32_t blocks[2], key;
    uint64_t index;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed_contact *one = a, *other = b;
    for (int i = 0; i < 2; i++)
        if (one->blocks[i] != other->blocks[i])
            return one->blocks[i] < other->blocks[i] ? -1 : 1;
    return one->key == other->key ? 0 : one->key < other->key ? -1 : 1;
}

// Whether a block has a triangle of three nodes, or an edge of two; its number there.
static bool has_part(const struct surface_contact *it, uint32_t b, const uint32_t *nodes, int count,
                     uint32_t *part)
{
    const struct surface_block *block = block_of(it, b);
    const uint32_t parts = count == 3 ? block->triangles : block->edges;
    for (*part = 0; *part < parts; ++*part) {
        bool same = true;
        for (int i = 0; i < count; i++)
            same &= nodes[i] == (count == 3 ? triangle_node(&it->surfaces, block, *part, i)
                                            : edge_node(&it->surfaces, block, *part, i));
        if (same)
            return true;
    }
    return false;
}

// The block that has it.
static bool find_part(const struct surface_contact *it, const uint32_t *nodes, int count,
                      uint32_t *block, uint32_t *part)
{
    for (uint32_t k = 0, location; (location = node_location(it, nodes[0], k)) != NO_LOCATION;
         k++) {
        *block = block_of_location(location);
        if (has_part(it, *block, nodes, count, part))
            return true;
    }
    return false;
}

// As candidate_of_code reads it. False: surfaces have other blocks than those of what was saved.
static bool place_contact(const struct system *system, const uint32_t saved[4], bool edges,
                          struct placed_contact *to)
{
    const struct surface_contact *it = system->surface_contact;
    const struct topology *topology = system->topology;
    uint32_t nodes[4], parts[2];
    for (int i = 0; i < 4; i++) {
        nodes[i] = saved[i];
        if (nodes[i] < topology->node_count)
            nodes[i] = (uint32_t)topology_internal_node(topology, nodes[i]);
    }
    if (edges) {
        if (!find_part(it, nodes, 2, &to->blocks[0], &parts[0]) ||
            !find_part(it, nodes + 2, 2, &to->blocks[1], &parts[1]))
            return false;
        to->key = touching_key(2, (uint16_t)(parts[0] << 6 | parts[1]));
        return to->blocks[0] <= to->blocks[1];
    }
    const uint32_t own = it->own_location[nodes[0]];
    uint32_t of_triangle;
    if (own == NO_LOCATION || !find_part(it, nodes + 1, 3, &of_triangle, &parts[1]))
        return false;
    const uint32_t of_node = block_of_location(own);
    const int group = of_node > of_triangle;
    to->blocks[group] = of_node;
    to->blocks[1 - group] = of_triangle;
    parts[0] = local_of_location(own);
    to->key = touching_key(group, (uint16_t)(parts[0] << 5 | parts[1]));
    return true;
}

// Contacts of a list, in the order of its records.
static bool put_placed(struct friction_list *list, const struct friction_contacts *from,
                       const struct placed_contact *placed, size_t count)
{
    if (!reserve_closely((void **)&list->pairs, &list->pair_capacity, count, sizeof *list->pairs) ||
        !reserve_closely((void **)&list->records, &list->capacity, count, sizeof *list->records))
        return false;
    for (size_t i = 0; i < count; i++) {
        const uint32_t *blocks = placed[i].blocks;
        struct friction_record *record = &list->records[list->count];
        if (i == 0 || blocks[0] != placed[i - 1].blocks[0] || blocks[1] != placed[i - 1].blocks[1])
            list->pairs[list->pair_count++] =
                (struct friction_pair){blocks[0], blocks[1], list->count, 0};
        list->pairs[list->pair_count - 1].count++;
        list->count++;
        *record = (struct friction_record){.key = placed[i].key};
        put_saved(record, from, placed[i].index);
    }
    return true;
}

bool REAL_NAME(surface_friction_put_back)(struct system *system,
                                          const struct friction_contacts *from)
{
    struct surface_contact *it = system->surface_contact;
    const size_t count = (size_t)from->count;
    size_t found = 0;
    if (!it || !it->friction)
        return true;
    for (size_t i = 0; i < it->friction->list_count; i++)
        it->friction->lists[i].count = it->friction->lists[i].pair_count = 0;
    if (count == 0)
        return true;
    struct placed_contact *placed = memory_allocate(NULL, count, sizeof *placed);
    if (!placed)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct placed_contact *to = &placed[found];
        to->index = i;
        if (!place_contact(system, from->nodes + 4 * i, from->flags[i] & FRICTION_EDGES, to))
            continue;
        const struct block_pair pair = {.a = to->blocks[0], .b = to->blocks[1]};
        found += pair_is_own(system, pair.a / PAIR_CHUNK, &pair);
    }
    qsort(placed, found, sizeof *placed, compare_placed);
    bool done = true;
    for (size_t first = 0, end; first < found && done; first = end) {
        const size_t list = placed[first].blocks[0] / PAIR_CHUNK;
        for (end = first; end < found && placed[end].blocks[0] / PAIR_CHUNK == list;)
            end++;
        done = put_placed(&it->friction->lists[list], from, placed + first, end - first);
    }
    memory_release(NULL, placed, count, sizeof *placed);
    return done;
}

// ---- What is saved, found again by its nodes

// A saved contact.
struct saved_contact {
    uint32_t nodes[4];
    uint32_t edges;
    uint64_t index;
};

static int compare_saved(const void *a, const void *b)
{
    const struct saved_contact *one = a, *other = b;
    for (int i = 0; i < 4; i++)
        if (one->nodes[i] != other->nodes[i])
            return one->nodes[i] < other->nodes[i] ? -1 : 1;
    return one->edges == other->edges ? 0 : one->edges < other->edges ? -1 : 1;
}

bool REAL_NAME(surface_friction_restore)(struct system *system,
                                         const struct friction_contacts *from)
{
    struct surface_contact *it = system->surface_contact;
    const size_t count = (size_t)from->count;
    if (!it || !it->friction || count == 0)
        return true;
    struct saved_contact *saved = memory_allocate(NULL, count, sizeof *saved);
    if (!saved)
        return false;
    for (size_t i = 0; i < count; i++) {
        memcpy(saved[i].nodes, from->nodes + 4 * i, sizeof saved[i].nodes);
        saved[i].edges = from->flags[i] & FRICTION_EDGES;
        saved[i].index = i;
    }
    qsort(saved, count, sizeof *saved, compare_saved);
    for (size_t i = 0; i < it->friction->list_count; i++) {
        const struct friction_list *list = &it->friction->lists[i];
        for (size_t p = 0; p < list->pair_count; p++)
            for (size_t r = 0; r < list->pairs[p].count; r++) {
                struct friction_record *record = &list->records[list->pairs[p].first + r];
                struct saved_contact wanted = {.index = 0};
                wanted.edges = saved_nodes(system, &list->pairs[p], record, wanted.nodes);
                const struct saved_contact *found =
                    bsearch(&wanted, saved, count, sizeof *saved, compare_saved);
                if (found)
                    put_saved(record, from, found->index);
            }
    }
    memory_release(NULL, saved, count, sizeof *saved);
    return true;
}
