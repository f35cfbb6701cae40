// Friction between surfaces in implicit steps: what their systems assume of each contact, as of
// those with colliders (implicit_friction.c), and the rows of their tangent (surface_tangent.h). A
// row is the transposed of the rate of the stretch along an axis, couple included, so that the
// forces of a guess, which may be far from those of the solution, leave no couple behind. Numeric.
#include "contact/surface_friction_contact.h"
#include "contact/surface_tangent.h"

#include <string.h>

#include "base/memory.h"

// ---- A stage

void REAL_NAME(surface_stage_begin)(struct stage_friction *friction, const struct system *system,
                                    size_t list)
{
    const struct surface_friction *it = system->surface_contact->friction;
    *friction = (struct stage_friction){.system = system,
                                        .memory = &it->lists[list],
                                        .old = &it->assumed[list],
                                        .made = &it->making[list]};
    friction->made->count = friction->made->pair_count = 0;
}

bool REAL_NAME(surface_stage_pair)(struct stage_friction *friction, uint32_t a, uint32_t b)
{
    struct assumed_list *made = friction->made;
    if (!(rule_of(friction->system, a, b)->static_coefficient > 0))
        return false;
    const struct friction_pair *memory =
        pair_at(friction->memory->pairs, friction->memory->pair_count, &friction->pair, a, b);
    const struct friction_pair *old =
        pair_at(friction->old->pairs, friction->old->pair_count, &friction->old_pair, a, b);
    friction->record = memory ? memory->first : 0;
    friction->record_end = memory ? memory->first + memory->count : 0;
    friction->old_item = old ? old->first : 0;
    friction->old_item_end = old ? old->first + old->count : 0;
    friction->blocks[0] = a;
    friction->blocks[1] = b;
    if (!array_reserve((void **)&made->pairs, &made->pair_capacity, made->pair_count + 1,
                       sizeof *made->pairs)) {
        friction->failed = true;
        return true;
    }
    made->pairs[made->pair_count++] = (struct friction_pair){a, b, made->count, 0};
    return true;
}

// Spring and damper of a contact at a stage.
struct surface_trial {
    struct friction_record record; // of a contact without memory: what it would be
    struct point force;
    real stiffness, damping;
};

// False: there is no friction, as where a frame has been lost within a step.
static bool find_trial(const struct system *system, const struct friction_contact *contact,
                       const struct friction_law *law, const struct friction_record *memory,
                       struct surface_trial *trial)
{
    *trial = (struct surface_trial){.damping = (real)law->damping};
    if (memory) {
        trial->record = *memory;
        if (memory->key & RECORD_FRAMED && !has_frame(contact, true))
            return false;
        trial->stiffness = (real)law->stiffness;
        trial->force = point_scale(trial->stiffness, stretch_of(contact, memory));
    } else {
        trial->record.key = has_frame(contact, false) ? RECORD_FRAMED : 0;
        trial->damping += (real)(law->stiffness * system->surface_contact->friction->slip_time);
    }
    if (!(trial->record.key & RECORD_FRAMED) && point_dot(contact->along, contact->along) == 0)
        return false;
    trial->force =
        point_along(trial->force, trial->damping, sliding_velocity(contact, &trial->record));
    return true;
}

// What a force of 1 along an axis exerts on the four nodes.
static void put_arms(struct surface_row *row, const struct friction_contact *it,
                     const struct friction_record *record, struct point axis)
{
    const bool framed = record->key & RECORD_FRAMED;
    const int ends[2][2] = {{it->edges ? 0 : 1, it->edges ? 1 : 2}, {it->edges ? 2 : 1, 3}};
    *row =
        (struct surface_row){.direction = axis, .couple_direction = framed ? it->up : it->normal};
    memcpy(row->nodes, it->nodes, sizeof row->nodes);
    find_weights(it, acting_parts(it, record), row->weights);
    for (int i = 0; i < 2; i++) {
        real couple;
        if (framed)
            couple = it->height * point_dot(axis, it->dual[i]);
        else if (it->shares[i] > 0)
            couple = couple_of_edge(it, i, axis);
        else
            continue;
        row->coupled = true;
        row->couple_weights[ends[i][0]] -= couple;
        row->couple_weights[ends[i][1]] += couple;
    }
}

// Axes in the tangent plane, the first one along a direction if there is one.
static void find_axes(struct point normal, struct point along, struct point axes[2])
{
    axes[0] = along_surface(along, normal);
    real square = point_dot(axes[0], axes[0]);
    if (!(square > (real)1e-12 * point_dot(along, along))) {
        const real x = normal.x < 0 ? -normal.x : normal.x;
        const struct point side = x < (real)0.7 ? (struct point){1, 0, 0} : (struct point){0, 1, 0};
        axes[0] = along_surface(side, normal);
        square = point_dot(axes[0], axes[0]);
    }
    axes[0] = point_scale(1 / real_sqrt(square), axes[0]);
    axes[1] = point_cross(normal, axes[0]);
}

static const struct surface_assumption *old_assumption(struct stage_friction *it, uint32_t key)
{
    const struct surface_assumption *items = it->old->items;
    while (it->old_item < it->old_item_end && items[it->old_item].key < key)
        it->old_item++;
    return it->old_item < it->old_item_end && items[it->old_item].key == key ? &items[it->old_item]
                                                                             : NULL;
}

static const struct friction_record *memory_of(struct stage_friction *it, uint32_t key)
{
    const struct friction_record *records = it->memory->records;
    while (it->record < it->record_end && (records[it->record].key & RECORD_KEY) < key)
        it->record++;
    return it->record < it->record_end && (records[it->record].key & RECORD_KEY) == key
               ? &records[it->record]
               : NULL;
}

int REAL_NAME(surface_stage_rows)(struct stage_friction *friction, const struct candidate *found,
                                  const uint32_t nodes[4], const struct point now[4],
                                  const struct touching_candidate *touching, size_t row,
                                  int barriers, struct surface_row rows[2])
{
    const struct system *system = friction->system;
    const struct friction_law law = law_between(system, friction->blocks[0], friction->blocks[1]);
    const struct friction_record *memory = memory_of(friction, touching->key);
    const struct surface_assumption *old = old_assumption(friction, touching->key);
    struct assumed_list *made = friction->made;
    struct friction_contact contact = {.edges = found->edges, .bare = found->bare};
    struct surface_trial trial;
    memcpy(contact.nodes, nodes, sizeof contact.nodes);
    memcpy(contact.at, now, sizeof contact.at);
    find_velocities(system->state, &contact);
    find_contact(&contact, touching, &law.barrier, memory);
    if (!find_trial(system, &contact, &law, memory, &trial))
        return 0;
    if (!array_reserve((void **)&made->items, &made->capacity, made->count + 1,
                       sizeof *made->items)) {
        friction->failed = true;
        return 0;
    }
    struct surface_assumption *it = &made->items[made->count++];
    made->pairs[made->pair_count - 1].count++;
    if (old)
        *it = *old;
    else
        *it = (struct surface_assumption){.status = FRICTION_UNKNOWN, .normal_force = -1};
    it->key = touching->key;
    it->row = row;
    it->barriers = (uint8_t)barriers;
    it->stiffness = trial.stiffness;
    it->damping = trial.damping;
    if (trial.record.key & RECORD_FRAMED) {
        find_axes(contact.normal, it->along, it->axes);
        it->rows = 2;
    } else {
        const real sign = point_dot(contact.along, it->along) < 0 ? -1 : 1;
        it->axes[0] = point_scale(sign, contact.along);
        it->rows = 1;
    }
    const bool slides = it->status == FRICTION_ASSUMED_SLIDES,
               sticks = it->status == FRICTION_ASSUMED_STICKS;
    for (int i = 0; i < it->rows; i++) {
        const real share = sticks ? 1 : slides && i == 1 ? it->turns : 0;
        put_arms(&rows[i], &contact, &trial.record, it->axes[i]);
        it->trial[i] = point_dot(trial.force, it->axes[i]);
        rows[i].force = slides && i == 0 ? -it->limit : -share * it->trial[i];
        rows[i].stiffness = share * trial.stiffness;
        rows[i].damping = share * trial.damping;
    }
    return it->rows;
}

void REAL_NAME(surface_stage_end)(const struct stage_friction *friction, size_t list)
{
    struct surface_friction *it = friction->system->surface_contact->friction;
    const struct assumed_list made = it->making[list];
    it->making[list] = it->assumed[list];
    it->assumed[list] = made;
}

static void assume_slides(struct surface_assumption *it, bool slides, real limit,
                          struct point trial)
{
    const real size = real_sqrt(point_dot(trial, trial));
    slides &= size > 0;
    it->status = slides ? FRICTION_ASSUMED_SLIDES : FRICTION_ASSUMED_STICKS;
    it->limit = limit;
    it->turns = slides ? (limit < size ? limit / size : 1) : 0;
    it->along = point_scale(slides ? 1 / size : 0, trial);
}

// ---- The start of a step

// From the memory.
static bool predict_list(const struct system *system, size_t index)
{
    struct surface_friction *it = system->surface_contact->friction;
    const struct friction_list *list = &it->lists[index];
    struct assumed_list *made = &it->assumed[index];
    made->count = made->pair_count = 0;
    if (!array_reserve((void **)&made->pairs, &made->pair_capacity, list->pair_count,
                       sizeof *made->pairs) ||
        !array_reserve((void **)&made->items, &made->capacity, list->count, sizeof *made->items))
        return false;
    for (size_t p = 0; p < list->pair_count; p++) {
        const struct friction_pair *pair = &list->pairs[p];
        const struct friction_law law = law_between(system, pair->a, pair->b);
        struct friction_pair *to = &made->pairs[made->pair_count++];
        *to = (struct friction_pair){pair->a, pair->b, made->count, 0};
        for (size_t r = pair->first; r < pair->first + pair->count; r++) {
            const struct friction_record *record = &list->records[r];
            struct friction_contact contact;
            struct surface_trial trial;
            if (!present_contact(system, pair, record, &law, &contact) ||
                !find_trial(system, &contact, &law, record, &trial))
                continue;
            const struct point later =
                point_along(trial.force, (real)it->slip_time * trial.stiffness,
                            sliding_velocity(&contact, record));
            const real limit = coefficient_of(&law, record) * contact.normal_force;
            struct surface_assumption *item = &made->items[made->count++];
            *item =
                (struct surface_assumption){.key = record->key & RECORD_KEY, .normal_force = -1};
            assume_slides(item,
                          record->key & RECORD_SLIDES && point_dot(later, later) > limit * limit,
                          limit, later);
            to->count++;
        }
    }
    return true;
}

void REAL_NAME(surface_friction_predict)(struct system *system, double slip_time,
                                         const struct worker *worker)
{
    struct surface_contact *contact = system->surface_contact;
    if (!contact || !contact->friction)
        return;
    const struct range lists = worker_share(worker, contact->friction->list_count, 1);
    if (worker->index == 0)
        contact->friction->slip_time = slip_time;
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end; i++)
        if (!predict_list(system, i))
            atomic_store(&contact->failed, true);
    worker_barrier(worker);
    if (worker->index == 0 && atomic_exchange(&contact->failed, false))
        REAL_NAME(surface_memory_has_run_out)(system);
    worker_barrier(worker);
}

void REAL_NAME(surface_friction_stage)(struct system *system, double slip_time,
                                       const struct worker *worker)
{
    struct surface_contact *contact = system->surface_contact;
    if (!contact || !contact->friction)
        return;
    const struct range lists = worker_share(worker, contact->friction->list_count, 1);
    for (size_t i = lists.first; i < lists.end; i++)
        for (size_t k = 0; k < contact->friction->assumed[i].count; k++)
            friction_forget_step(&contact->friction->assumed[i].items[k].acted);
    worker_barrier(worker);
    if (worker->index == 0)
        contact->friction->slip_time = slip_time;
    worker_barrier(worker);
}

// ---- Revision

// The rows of the list are those of the system that has been solved.
static void revise_list(struct system *system, size_t index, real g, double applied,
                        const struct node_vectors *d, double sums[FRICTION_SUMS])
{
    struct surface_friction *it = system->surface_contact->friction;
    const struct surface_row *rows = system->surface_contact->rows->lists[index].rows;
    struct assumed_list *list = &it->assumed[index];
    struct stage_friction memory;
    REAL_NAME(surface_stage_begin)(&memory, system, index);
    memset(sums, 0, FRICTION_SUMS * sizeof *sums);
    for (size_t p = 0; p < list->pair_count; p++) {
        const struct friction_pair *pair = &list->pairs[p];
        const struct friction_law law = law_between(system, pair->a, pair->b);
        const struct friction_pair *records = pair_at(
            memory.memory->pairs, memory.memory->pair_count, &memory.pair, pair->a, pair->b);
        memory.record = records ? records->first : 0;
        memory.record_end = records ? records->first + records->count : 0;
        for (size_t i = pair->first; i < pair->first + pair->count; i++) {
            struct surface_assumption *item = &list->items[i];
            const struct surface_row *row = &rows[item->row];
            real normal_force = 0;
            for (int n = 0; n < item->barriers; n++, row++)
                normal_force += row->force - row->stiffness * g * along_row(system, row, d);
            friction_count_normal(sums, (double)normal_force);
            const real acts = normal_force > 0 ? normal_force : 0;
            const real limit = acts * coefficient_of(&law, memory_of(&memory, item->key));
            struct point force = {0, 0, 0}, before = {0, 0, 0}, now = {0, 0, 0};
            for (int k = 0; k < item->rows; k++) {
                const real trial = item->trial[k] + (g * item->stiffness + item->damping) *
                                                        along_row(system, row + k, d);
                const real share = item->status == FRICTION_ASSUMED_STICKS             ? 1
                                   : item->status == FRICTION_ASSUMED_SLIDES && k == 1 ? item->turns
                                                                                       : 0;
                const real was =
                    item->status == FRICTION_ASSUMED_SLIDES && k == 0 ? item->limit : share * trial;
                force = point_along(force, trial, item->axes[k]);
                before = point_along(before, was, item->axes[k]);
            }
            friction_next_system(&item->acted, applied);
            item->acted.slid = item->status == FRICTION_ASSUMED_SLIDES;
            item->acted.solved[0] = before.x;
            item->acted.solved[1] = before.y;
            item->acted.solved[2] = before.z;
            const bool turned =
                item->status == FRICTION_ASSUMED_SLIDES && point_dot(force, item->axes[0]) < 0;
            const real square = point_dot(force, force);
            assume_slides(item, square > limit * limit && !turned, limit, force);
            item->normal_force = acts;
            now = item->status == FRICTION_ASSUMED_SLIDES ? point_scale(limit, item->along) : force;
            const struct point change = point_difference(now, before);
            sums[0] += (double)point_dot(change, change);
            sums[1] += fmax((double)point_dot(before, before), (double)point_dot(now, now));
        }
    }
}

void REAL_NAME(surface_friction_revise)(struct system *system, double g, double applied,
                                        struct node_vectors solution, double sums[FRICTION_SUMS],
                                        const struct worker *worker)
{
    struct surface_contact *contact = system->surface_contact;
    struct surface_friction *it = contact ? contact->friction : NULL;
    memset(sums, 0, FRICTION_SUMS * sizeof *sums);
    if (!it || contact->pairs == 0 || contact->rows->count == 0)
        return;
    const struct range lists = worker_share(worker, it->list_count, 1);
    for (size_t i = lists.first; i < lists.end; i++)
        revise_list(system, i, (real)g, applied, &solution, it->changes[i]);
    worker_barrier(worker);
    for (size_t i = 0; i < it->list_count; i++)
        for (int k = 0; k < FRICTION_SUMS; k++)
            sums[k] += it->changes[i][k];
    worker_barrier(worker); // all have read them
}
