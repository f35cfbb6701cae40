// Refreshes what is derived from constants (change.h): the state is remembered before a change;
// forces, contacts and energies are updated after it. Checking values is left to set.c.
#include "solver/change.h"

#include <string.h>

#include "base/memory.h"
#include "contact/contact.h"
#include "contact/surface_contact.h"
#include "forces/forces.h"
#include "integrate/mouse_spring.h"
#include "integrate/implicit.h"
#include "integrate/integrate.h"
#include "springs/springs.h"
#include "stability/critical_step.h"
#include "stability/divergence.h"

struct change {
    double dt;    // s, before the change
    bool forces;  // the arrays are filled
    size_t nodes; // 0: no arrays
    // 3 per node, N: the forces with which the next step would begin, and the forces of the old
    // constants at the present positions and velocities.
    real *kept, *compared;
};

taut_status REAL_NAME(change_begin)(struct system *system, struct change **result,
                                    taut_error *error)
{
    const enum integrator integrator = system->settings.integrator;
    struct change *change = memory_allocate(system->allocator, 1, sizeof *change);
    *result = change;
    if (!change)
        return fail_memory(error, "the change of a constant");
    change->dt = system->settings.dt;
    bool continues = integrator == INTEGRATOR_VERLET || integrator == INTEGRATOR_VELOCITY_VERLET;
    if (!continues || !system->state->forces_current)
        return TAUT_OK;
    change->nodes = (size_t)system->state->nodes;
    change->kept = memory_allocate(system->allocator, 3 * change->nodes, sizeof(real));
    change->compared = memory_allocate(system->allocator, 3 * change->nodes, sizeof(real));
    if (!change->kept || !change->compared)
        return fail_memory(error, "the change of a constant");
    return TAUT_OK;
}

void REAL_NAME(change_free)(struct system *system, struct change *change)
{
    if (!change)
        return;
    memory_release(system->allocator, change->kept, 3 * change->nodes, sizeof(real));
    memory_release(system->allocator, change->compared, 3 * change->nodes, sizeof(real));
    memory_release(system->allocator, change, 1, sizeof *change);
}

static void copy_forces(const struct system *system, real *to, struct range share)
{
    const struct state *s = system->state;
    const real *const forces[3] = {s->fx, s->fy, s->fz};
    for (int axis = 0; axis < 3; axis++)
        memcpy(to + (size_t)axis * (size_t)s->nodes + share.first, forces[axis] + share.first,
               (share.end - share.first) * sizeof(real));
}

static void put_forces(struct system *system, const real *from, struct range share)
{
    struct state *s = system->state;
    real *const forces[3] = {s->fx, s->fy, s->fz};
    for (int axis = 0; axis < 3; axis++)
        memcpy(forces[axis] + share.first, from + (size_t)axis * (size_t)s->nodes + share.first,
               (share.end - share.first) * sizeof(real));
}

void REAL_NAME(change_save)(struct system *system, struct change *change,
                            const struct worker *worker)
{
    const struct range share = node_share(system, worker);
    if (change->nodes == 0)
        return;

    copy_forces(system, change->kept, share);
    worker_barrier(worker);
    REAL_NAME(forces_evaluate_without_breaking)(system, REAL_NAME(evaluation_now)(system), worker);
    worker_barrier(worker);

    copy_forces(system, change->compared, share);
    put_forces(system, change->kept, share);
    worker_barrier(worker);
    if (worker->index == 0)
        change->forces = true;
    worker_barrier(worker);
}

// Adds the arrays that a scene without restitution does not have.
static bool add_restitution(struct system *system)
{
    const struct topology *topology = system->topology;
    for (size_t c = 0; c < topology->collider_count; c++)
        if (topology->colliders[c].response == RESPONSE_PROJECT &&
            topology->colliders[c].restitution > 0)
            return REAL_NAME(state_add_restitution)(system->state, topology);
    return true;
}

taut_status REAL_NAME(change_refresh)(struct system *system, bool stiffnesses, taut_error *error)
{
    REAL_NAME(constants_refresh)(system->constants, system->topology);
    REAL_NAME(sweeps_refresh)(system->sweeps, system->constants);
    REAL_NAME(critical_step_refresh)(system);
    if (!add_restitution(system))
        return fail_memory(error, "the arrays of restitution");
    return REAL_NAME(implicit_refresh)(system, stiffnesses, error);
}

// ---- Taking effect

static bool forces_match(const struct system *system, const struct change *change)
{
    const struct state *s = system->state;
    const real *const forces[3] = {s->fx, s->fy, s->fz};
    for (int axis = 0; axis < 3; axis++)
        for (size_t i = 0; i < change->nodes; i++)
            if (forces[axis][i] != change->compared[(size_t)axis * change->nodes + i])
                return false;
    return true;
}

// As in checkpoint.c: forces of the last step are kept if the forces at the present state have not
// changed; otherwise they are evaluated again, and verlet starts as at t = 0, from the velocities.
static void continue_forces(struct system *system, const struct change *change, bool current,
                            const struct worker *worker)
{
    struct state *s = system->state;
    const bool verlet = system->settings.integrator == INTEGRATOR_VERLET;
    const bool like_before = !verlet || system->settings.dt == change->dt;
    const bool wanted = change->forces && current && like_before;
    if (wanted)
        REAL_NAME(forces_evaluate_without_breaking)
    (system, REAL_NAME(evaluation_now)(system), worker);
    worker_barrier(worker);
    const bool same = wanted && forces_match(system, change);
    worker_barrier(worker); // all have read the forces
    if (same)
        put_forces(system, change->kept, node_share(system, worker));
    if (worker->index == 0)
        s->forces_current = same;
    worker_barrier(worker);
    if (verlet && !same && (!like_before || current))
        REAL_NAME(verlet_start)(system, worker);
}

void REAL_NAME(change_finish)(struct system *system, const struct change *change,
                              const struct worker *worker)
{
    struct state *s = system->state;
    const struct fault none = {.code = TAUT_OK};
    const bool current = s->forces_current;
    stage_clock_start(&system->clock, worker);
    worker_barrier(worker); // all have read the present values
    if (worker->index == 0) {
        REAL_NAME(surface_contact_moved)(system);
        struct mouse_spring *mouse_spring = &system->mouse_spring;
        s->forces_current = s->forces_zero = s->grid_forces_zero = false;
        s->energy_current = false;
        if (system->settings.dt != change->dt)
            s->previous_state_from = s->step; // the step that bdf2 remembers had another length
        if (mouse_spring->pulls && mouse_spring->chosen)
            REAL_NAME(mouse_spring_set_stiffness)(system, mouse_spring);
        REAL_NAME(fault_put_back)(system, &none);
    }
    worker_barrier(worker);

    REAL_NAME(colliders_restart)(system, step_time(system, s->step), worker);
    worker_barrier(worker);
    continue_forces(system, change, current, worker);

    // The check of divergence starts again with the present energies.
    taut_energy energy = {0};
    REAL_NAME(energy_measure)(system, REAL_NAME(evaluation_now)(system), &energy, worker);
    if (worker->index == 0) {
        REAL_NAME(divergence_start)(system, &energy);
        REAL_NAME(fault_put_back)(system, &none);
    }
    worker_barrier(worker);
}
