// Friction of planes, spheres and rooms with `response: contact` in implicit steps: what the
// systems of a step assume of each contact of a node (implicit_friction.c), and the rows of its
// friction (surface_tangent.h). The normal force is that of the rows of its collider at the node,
// in the system that has been solved.
#include <string.h>

#include "base/memory.h"
#include "contact/friction.h"
#include "contact/shape_contact.h"
#include "contact/surface_tangent.h"
#include "state/reading.h"

// The force of spring and damper, which is opposite to the contact's as long as it sticks.
static struct friction_trial trial_of(const struct system *system, const struct shape_friction *it)
{
    struct friction_trial trial = {.damping = it->damping};
    if (it->flags) {
        trial.stiffness = it->stiffness;
        trial.force = vec3_scale(it->stiffness, it->stretch);
    } else {
        trial.damping += it->stiffness * system->contacts.friction_assumptions->slip_time;
    }
    trial.force = vec3_add(trial.force, vec3_scale(trial.damping, it->sliding));
    return trial;
}

static double coefficient_of(const struct shape_friction *it)
{
    return it->flags & FRICTION_SLIDES ? it->law.kinetic_coefficient : it->law.static_coefficient;
}

static bool has_friction(const struct system *system, const struct shape_touch *touch)
{
    return system->topology->colliders[touch->collider].coulomb.present;
}

// ---- The start of a step

// As in implicit_friction.c.
static void predict_touch(struct system *system, const struct shape_touch *touch, void *unused)
{
    struct friction_assumptions *all = system->contacts.friction_assumptions;
    (void)unused;
    if (!has_friction(system, touch))
        return;
    const struct shape_friction it = REAL_NAME(shape_friction_of)(system, touch);
    if (!it.flags)
        return;
    const struct friction_trial trial = trial_of(system, &it);
    const double limit = touch->normal_force * coefficient_of(&it);
    const vec3 later =
        vec3_add(trial.force, vec3_scale(all->slip_time * trial.stiffness, it.sliding));
    friction_assume(all, it.at, it.flags & FRICTION_SLIDES && vec3_length(later) > limit, limit,
                    later);
}

void REAL_NAME(shape_friction_predict)(struct system *system, const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    if (!it || !it->shapes || !it->shapes->has_friction || !it->shapes->pushes)
        return;
    const struct range chunks = worker_share(worker, it->shapes->chunk_count, 1),
                       blocks = worker_share(worker, it->surfaces.block_count, 1);
    REAL_NAME(shape_touches_visit)(system, chunks, blocks, predict_touch, NULL);
}

// ---- Rows

struct rows_of_friction {
    struct row_list *rows;
    struct shape_assumed_list *items;
    bool failed; // no memory
};

static bool add_row(struct row_list *rows, const struct shape_assumed *it, uint32_t collider,
                    vec3 axis, double force, double part, const struct friction_trial *trial)
{
    const struct surface_row row = {
        .nodes = {it->node, it->node, it->node, collider},
        .weights = {1, 0, 0, -1},
        .direction = {(real)axis.x, (real)axis.y, (real)axis.z},
        .force = (real)force,
        .stiffness = (real)(part * trial->stiffness),
        .damping = (real)(part * trial->damping),
        .rubs = true,
    };
    return REAL_NAME(surface_row_add)(rows, &row);
}

// A vector of length 1 at right angles to a normal.
static vec3 axis_across(vec3 normal)
{
    const vec3 n = {fabs(normal.x), fabs(normal.y), fabs(normal.z)};
    const vec3 axis = n.x <= n.y && n.x <= n.z ? vec3_make(1, 0, 0)
                      : n.y <= n.z             ? vec3_make(0, 1, 0)
                                               : vec3_make(0, 0, 1);
    const vec3 across = vec3_cross(normal, axis);
    return vec3_scale(1 / vec3_length(across), across);
}

// A contact that sticks has the tangent of its spring and damper along both axes, one that slides a
// part of it at right angles to its slip.
static void add_touch(struct system *system, const struct shape_touch *touch, void *context)
{
    struct rows_of_friction *to = context;
    const struct friction_assumptions *all = system->contacts.friction_assumptions;
    if (!has_friction(system, touch) || to->failed)
        return;
    const struct shape_friction friction = REAL_NAME(shape_friction_of)(system, touch);
    const struct friction_trial trial = trial_of(system, &friction);
    struct shape_assumed_list *items = to->items;
    if (!array_reserve((void **)&items->items, &items->capacity, items->count + 1,
                       sizeof *items->items)) {
        to->failed = true;
        return;
    }
    struct shape_assumed *it = &items->items[items->count++];
    *it = (struct shape_assumed){
        .at = friction.at,
        .node = (uint32_t)touch->node,
        .collider = (uint32_t)touch->collider,
        .normal = touch->normal,
        .force = trial.force,
        .stiffness = trial.stiffness,
        .damping = trial.damping,
        .coefficient = coefficient_of(&friction),
    };
    const uint32_t collider = row_node_of_shape(system, touch->collider);
    const uint8_t status = all->status[it->at];
    if (status == FRICTION_UNKNOWN)
        return;
    if (status == FRICTION_ASSUMED_STICKS) {
        const vec3 first = axis_across(touch->normal), second = vec3_cross(touch->normal, first);
        to->failed |=
            !add_row(to->rows, it, collider, first, -vec3_dot(first, trial.force), 1, &trial) ||
            !add_row(to->rows, it, collider, second, -vec3_dot(second, trial.force), 1, &trial);
        return;
    }
    const struct friction_assumption *assumed = &all->contacts[it->at];
    const vec3 along = {(double)assumed->along[0], (double)assumed->along[1],
                        (double)assumed->along[2]};
    const vec3 across = vec3_cross(touch->normal, along);
    const double turns = (double)assumed->turns;
    to->failed |= !add_row(to->rows, it, collider, along, -(double)assumed->limit, 0, &trial) ||
                  !add_row(to->rows, it, collider, across, -turns * vec3_dot(across, trial.force),
                           turns, &trial);
}

bool REAL_NAME(shape_friction_rows)(struct system *system, size_t part, struct range chunks,
                                    struct range blocks, struct row_list *rows)
{
    struct shape_contact *shapes = system->surface_contact->shapes;
    if (!shapes->assumed || !system->contacts.friction_assumptions->present)
        return true;
    struct rows_of_friction to = {.rows = rows, .items = &shapes->assumed[part]};
    to.items->count = 0;
    REAL_NAME(shape_touches_visit)(system, chunks, blocks, add_touch, &to);
    return !to.failed;
}

// ---- Revision

// The force of a collider on a node along a normal, N, for the solution d of a system; negative: it
// pulls.
static double solved_force(const struct system *system, const struct shape_assumed *it, double g,
                           const struct node_vectors *d)
{
    const struct surface_rows *rows = system->surface_contact->rows;
    const uint32_t collider = row_node_of_shape(system, it->collider);
    double sum = 0;
    for (uint32_t e = 0; e < rows->counts[it->node]; e++) {
        const struct row_entry entry = rows->entries[rows->first[it->node] + e];
        if (entry.row >= rows->count)
            continue;
        const struct surface_row *row = &rows->rows[entry.row];
        const struct point n = row->direction;
        const double along =
            (double)n.x * it->normal.x + (double)n.y * it->normal.y + (double)n.z * it->normal.z;
        if (row->nodes[3] != collider || row->rubs || !(along > 0))
            continue;
        sum +=
            (double)entry.weight * along *
            ((double)row->force - (double)row->stiffness * g * (double)along_row(system, row, d));
    }
    return sum;
}

static void revise(struct system *system, const struct shape_assumed *it, double g,
                   const struct node_vectors *d, double sums[FRICTION_SUMS])
{
    struct friction_assumptions *all = system->contacts.friction_assumptions;
    const size_t node = it->node;
    const vec3 kick = vec3_make((double)d->x[node], (double)d->y[node], (double)d->z[node]);
    const double solved = solved_force(system, it, g, d), normal_force = fmax(0, solved);
    const vec3 trial = vec3_add(
        it->force, vec3_scale(g * it->stiffness + it->damping, friction_along(kick, it->normal)));
    friction_count_normal(sums, solved);
    friction_assume_again(all, it->at, it->normal, trial, it->coefficient * normal_force,
                          normal_force, system->constants->inverse_mass[node] != 0, sums);
}

void REAL_NAME(shape_friction_revise)(struct system *system, double g, struct node_vectors solution,
                                      double sums[FRICTION_SUMS], const struct worker *worker)
{
    const struct surface_contact *contact = system->surface_contact;
    struct shape_contact *shapes = contact ? contact->shapes : NULL;
    if (!shapes || !shapes->assumed || contact->rows->count == 0)
        return;
    const struct range lists = worker_share(worker, SHAPE_LISTS, 1);
    for (size_t i = lists.first; i < lists.end; i++) {
        const struct shape_assumed_list *list = &shapes->assumed[i];
        memset(shapes->changes[i], 0, sizeof shapes->changes[i]);
        for (size_t k = 0; k < list->count; k++)
            revise(system, &list->items[k], g, &solution, shapes->changes[i]);
    }
    worker_barrier(worker);
    for (size_t i = 0; i < SHAPE_LISTS; i++)
        for (int k = 0; k < FRICTION_SUMS; k++)
            sums[k] += shapes->changes[i][k];
    worker_barrier(worker); // all have read them
}
