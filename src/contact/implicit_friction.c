// Friction of penalty colliders in implicit steps (friction.h; docs/numerics.md, "Friction in
// implicit steps"): what the systems of a step assume of each contact.
//
// The force of friction has a kink where a contact begins to slide, and where sliding ends. A
// system is linear, so before it is solved each contact is assumed to be on one side of the kink,
// as in active set methods: it sticks, and has the force of its spring and damper, or slides, and
// has the force mu N in the direction in which it slides. The solution shows what it does, and the
// normal force: the one of the system, not that at the positions to which the solution leads, which
// with stiff contacts may be many times as large. A contact whose sliding would have turned round
// sticks. Where this changes forces, the same system is solved again. So friction is neither late
// by a step, nor more than mu times the impulse with which a collider has acted. Numeric.
#include <string.h>

#include "base/memory.h"
#include "contact/culling.h"
#include "contact/friction.h"
#include "contact/shape_contact.h"
#include "contact/surface_friction.h"
#include "contact/tangent.h"
#include "state/reading.h"

// ---- Memory

bool REAL_NAME(friction_assumptions_make)(struct system *system)
{
    const struct state *s = system->state;
    const taut_allocator *allocator = system->allocator;
    if (s->frictions == 0)
        return true;
    struct friction_assumptions *it = memory_allocate(allocator, 1, sizeof *it);
    if (!it)
        return false;
    system->contacts.friction_assumptions = it;
    it->contacts = memory_allocate(allocator, (size_t)s->frictions, sizeof *it->contacts);
    it->status = memory_allocate(allocator, (size_t)s->frictions, sizeof *it->status);
    it->changes = memory_allocate(allocator, (size_t)s->contact_blocks, sizeof *it->changes);
    return it->contacts && it->status && it->changes;
}

void REAL_NAME(friction_assumptions_free)(struct system *system)
{
    const struct state *s = system->state;
    const taut_allocator *allocator = system->allocator;
    struct friction_assumptions *it = system->contacts.friction_assumptions;
    if (!it)
        return;
    memory_release(allocator, it->contacts, (size_t)s->frictions, sizeof *it->contacts);
    memory_release(allocator, it->status, (size_t)s->frictions, sizeof *it->status);
    memory_release(allocator, it->changes, (size_t)s->contact_blocks, sizeof *it->changes);
    memory_release(allocator, it, 1, sizeof *it);
    system->contacts.friction_assumptions = NULL;
}

uint64_t REAL_NAME(friction_assumptions_bytes)(const struct system *system)
{
    const struct friction_assumptions *it = system->contacts.friction_assumptions;
    const struct state *s = system->state;
    return !it ? 0
               : sizeof *it + s->frictions * (sizeof *it->contacts + sizeof *it->status) +
                     s->contact_blocks * sizeof *it->changes;
}

// ---- The start of a step, and its stages

// A contact that slid in the last step goes on sliding, unless it is so slow that its spring would
// hold it at once.
static void predict_contact(const struct system *system, const struct scene_collider *collider,
                            size_t node, const struct contact *contact, void *unused)
{
    (void)unused;
    struct friction_assumptions *all = system->contacts.friction_assumptions;
    if (!collider->coulomb.present)
        return;
    const size_t at = friction_index(system, collider, node, contact->wall);
    const uint8_t flags = friction_flags(system->state, at, contact->wall);
    if (!flags)
        return;
    const struct contact_motion motion =
        contact_motion(collider, contact, node_velocity(system->state, node));
    const struct friction_trial trial =
        friction_trial(system, collider, node, contact, motion.sliding);
    const double limit = friction_limit(system, collider, node, contact, &motion);
    const vec3 later =
        vec3_add(trial.force, vec3_scale(all->slip_time * trial.stiffness, motion.sliding));
    friction_assume(all, at, flags & FRICTION_SLIDES && vec3_length(later) > limit, limit, later);
}

void REAL_NAME(friction_predict)(struct system *system, double slip_time,
                                 const struct worker *worker)
{
    struct friction_assumptions *all = system->contacts.friction_assumptions;
    const struct state *s = system->state;
    REAL_NAME(surface_friction_predict)(system, slip_time, worker);
    if (!all)
        return;
    const double time = step_time(system, s->step);
    const struct range statuses = worker_share(worker, (size_t)s->frictions, 64);
    const struct range blocks = contact_block_share(system, worker);
    for (size_t at = statuses.first; at < statuses.end; at++)
        friction_forget_step(&all->contacts[at].acted);
    if (statuses.end > statuses.first)
        memset(all->status + statuses.first, FRICTION_UNKNOWN, statuses.end - statuses.first);
    if (worker->index == 0)
        all->slip_time = slip_time;
    worker_barrier(worker);
    for (size_t block = blocks.first; block < blocks.end; block++)
        if (s->block_friction[block])
            REAL_NAME(contacts_visit)
    (system, time, contact_block_nodes(system, block), predict_contact, NULL);
    REAL_NAME(shape_friction_predict)(system, worker);
    if (worker->index == 0)
        all->present = true;
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
}

void REAL_NAME(friction_stage)(struct system *system, double slip_time, const struct worker *worker)
{
    struct friction_assumptions *all = system->contacts.friction_assumptions;
    REAL_NAME(surface_friction_stage)(system, slip_time, worker);
    if (!all)
        return;
    const struct range share = worker_share(worker, (size_t)system->state->frictions, 64);
    for (size_t at = share.first; at < share.end; at++)
        friction_forget_step(&all->contacts[at].acted);
    worker_barrier(worker);
    if (worker->index == 0)
        all->slip_time = slip_time;
    worker_barrier(worker);
}

void REAL_NAME(friction_end)(struct system *system, const struct worker *worker)
{
    struct friction_assumptions *all = system->contacts.friction_assumptions;
    if (!all)
        return;
    worker_barrier(worker);
    if (worker->index == 0)
        all->present = false;
    worker_barrier(worker);
}

// ---- Revision

struct revision {
    const struct node_vectors *solution;
    double g;
    double *sums;
};

static void revise_contact(const struct system *system, const struct scene_collider *collider,
                           size_t node, const struct contact *contact, void *context)
{
    struct friction_assumptions *all = system->contacts.friction_assumptions;
    struct revision *revision = context;
    if (!collider->coulomb.present)
        return;
    const struct node_vectors *d = revision->solution;
    const vec3 normal = contact->normal;
    const vec3 kick = vec3_make((double)d->x[node], (double)d->y[node], (double)d->z[node]);
    const size_t at = friction_index(system, collider, node, contact->wall);
    const struct contact_motion motion =
        contact_motion(collider, contact, node_velocity(system->state, node));
    struct contact_motion after = motion;
    const double absorption = motion.approach < 0 ? collider->absorption : 0;
    const double solved = motion.normal_force -
                          (revision->g * collider->stiffness + absorption) * vec3_dot(kick, normal);
    after.normal_force = fmax(0, solved);
    friction_count_normal(revision->sums, solved);
    const double limit = friction_limit(system, collider, node, contact, &after);
    const struct friction_trial trial =
        friction_trial(system, collider, node, contact, motion.sliding);
    const vec3 stretched =
        vec3_scale(revision->g * trial.stiffness + trial.damping, friction_along(kick, normal));
    friction_assume_again(all, at, normal, vec3_add(trial.force, stretched), limit,
                          after.normal_force, system->constants->inverse_mass[node] != 0,
                          revision->sums);
}

static struct friction_revision revision_of(const double sums[FRICTION_SUMS])
{
    return (struct friction_revision){
        .change = sums[1] > 0 ? sqrt(sums[0] / sums[1]) : 0,
        .pull = sums[2] > 0 ? sums[3] / sums[2] : 0,
    };
}

struct friction_revision REAL_NAME(friction_revise)(struct system *system, double time, double g,
                                                    double applied, struct node_vectors solution,
                                                    const struct worker *worker)
{
    struct friction_assumptions *all = system->contacts.friction_assumptions;
    double sums[FRICTION_SUMS];
    REAL_NAME(surface_friction_revise)(system, g, applied, solution, sums, worker);
    if (all) {
        const struct range share = worker_share(worker, (size_t)system->state->frictions, 64);
        for (size_t at = share.first; at < share.end; at++)
            friction_next_system(&all->contacts[at].acted, applied);
        worker_barrier(worker);
    }
    REAL_NAME(shape_friction_revise)(system, g, solution, sums, worker);
    if (!all)
        return revision_of(sums);
    const struct range blocks = contact_block_share(system, worker);
    for (size_t block = blocks.first; block < blocks.end; block++) {
        double *changes = all->changes[block];
        struct revision found = {&solution, g, changes};
        memset(changes, 0, FRICTION_SUMS * sizeof *changes);
        REAL_NAME(contacts_visit)
        (system, time, contact_block_nodes(system, block), revise_contact, &found);
    }
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
    for (size_t block = 0; block < system->contacts.blocks; block++)
        for (int k = 0; k < FRICTION_SUMS; k++)
            sums[k] += all->changes[block][k];
    worker_barrier(worker); // all have read them
    return revision_of(sums);
}
