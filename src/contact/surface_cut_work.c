// What cuts of the motion take of the energy, by explicit methods and xpbd (docs/numerics.md,
// Cutting).
//
// A cut is an impulse J = m (v'' - v') on a node, whose forces have added m k = m (v' - v) to its
// momentum in the step, from v at its start to v' before the cut. What the step has without the cut
// at its end is no state of the run, and is often far beyond a surface, with forces of springs and
// of contact that have acted nowhere: a body at rest that springs press on a surface goes h^2 F / m
// beyond it in every step, and comes back. So energies are not measured there. The forces of the
// step act on the motion that is left of it.
//
// The velocities of symplectic Euler and of Verlet's methods belong to the middle of steps. From
// the middle of the last one to that of this, node and forces give m k.(v + v'') / 2 and J.(v +
// v'') / 2: the latter is the work of the cut, exactly. With methods whose velocities belong to the
// ends of steps, forces do m k.(x'' - x) / h meanwhile, to the order of the trapezoid, and the rest
// of the change of the kinetic energy is that of the cut. So it is of substeps of xpbd, whose
// springs are forces too, and whose damping takes m k^2 / 2 of a node: of one that is cut, that is
// a part of what the cut takes.
//
// A node that the cut leaves where it was, at rest, has a work of 0 in both.
#include "base/memory.h"
#include "contact/surface_rollback.h"
#include "springs/exchange.h"
#include "state/reading.h"

// ---- Arrays

bool REAL_NAME(cut_work_make)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const enum integrator integrator = system->settings.integrator;
    bool done = true;
    if (!system->settings.keep_energy_budget || integrator_is_implicit(integrator))
        return true;
    for (int axis = 0; axis < 3; axis++) {
        it->start_v[axis] =
            memory_allocate(system->allocator, (size_t)system->topology->node_count, sizeof(real));
        done &= it->start_v[axis] != NULL;
    }
    return done;
}

void REAL_NAME(cut_work_free)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const size_t nodes = (size_t)system->topology->node_count;
    for (int axis = 0; axis < 3; axis++) {
        memory_release(system->allocator, it->start_v[axis], nodes, sizeof(real));
        memory_release(system->allocator, it->uncut_v[axis], nodes, sizeof(real));
    }
    memory_release(system->allocator, it->beyond, nodes, sizeof *it->beyond);
}

uint64_t REAL_NAME(cut_work_bytes)(const struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    const size_t axes = 3 * ((it->start_v[0] != NULL) + (size_t)(it->uncut_v[0] != NULL));
    return system->topology->node_count *
           (axes * sizeof(real) + (it->beyond ? sizeof *it->beyond : 0));
}

// What only steps that are cut need, on every worker. False without memory: the run ends. Begins
// and ends with a barrier.
static bool have_uncut(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const size_t nodes = (size_t)system->topology->node_count;
    const bool lags = integrator_velocities_lag(system->settings.integrator);
    worker_barrier(worker);
    if (worker->index == 0) {
        for (int axis = 0; axis < 3; axis++)
            if (!it->uncut_v[axis])
                it->uncut_v[axis] = memory_allocate(system->allocator, nodes, sizeof(real));
        if (!lags && !it->beyond)
            it->beyond = memory_allocate(system->allocator, nodes, sizeof *it->beyond);
    }
    worker_barrier(worker);
    const bool has = it->uncut_v[0] && it->uncut_v[1] && it->uncut_v[2] && (lags || it->beyond);
    if (worker->index == 0 && !has)
        REAL_NAME(surface_memory_has_run_out)(system);
    worker_barrier(worker);
    return has;
}

// ---- Steps

// Whether the budget counts cuts by impulses.
static bool counts_impulses(const struct system *system)
{
    return system->settings.cuts && system->surface_contact && system->surface_contact->start_v[0];
}

static vec3 vec3_of(real *const arrays[3], size_t i)
{
    return vec3_make((double)arrays[0][i], (double)arrays[1][i], (double)arrays[2][i]);
}

static void put(real *const arrays[3], size_t i, vec3 value)
{
    arrays[0][i] = (real)value.x;
    arrays[1][i] = (real)value.y;
    arrays[2][i] = (real)value.z;
}

// The velocity of a node at the start of the step. Verlet's method for positions uses that of the
// last step, which it has whether its velocities are completed or not.
static vec3 start_velocity(const struct system *system, size_t i)
{
    const struct state *s = system->state;
    if (system->settings.integrator != INTEGRATOR_VERLET)
        return node_velocity(s, i);
    const real inverse_h = (real)(1.0 / system->settings.dt);
    return vec3_make((double)(real_difference(s->x, s->x_low, s->x0, s->x0_low, i) * inverse_h),
                     (double)(real_difference(s->y, s->y_low, s->y0, s->y0_low, i) * inverse_h),
                     (double)(real_difference(s->z, s->z_low, s->z0, s->z0_low, i) * inverse_h));
}

void REAL_NAME(cut_work_start)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!counts_impulses(system))
        return;
    const struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++)
        put(it->start_v, i, start_velocity(system, i));
    if (worker->index == 0)
        it->kicks_known = false;
    stage_end(&system->clock, STAGE_WORK, worker); // a sweep may move nodes of others
}

bool REAL_NAME(cut_work_uncomplete)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    if (!counts_impulses(system) || it->cuts.cuts == 0 || it->cuts.last != s->step ||
        !have_uncut(system, worker))
        return false;
    const bool verlet = system->settings.integrator == INTEGRATOR_VERLET;
    const real half = (real)system->settings.dt / 2;
    real *const v[3] = {s->vx, s->vy, s->vz}, *const f[3] = {s->fx, s->fy, s->fz};
    const struct range share = node_share(system, worker);
    for (int axis = 0; axis < 3; axis++)
        for (size_t i = share.first; i < share.end; i++) {
            const real inverse = system->constants->inverse_mass[i], now = v[axis][i];
            it->uncut_v[axis][i] = now;
            if (inverse != 0)
                v[axis][i] = verlet ? it->start_v[axis][i] : now - half * inverse * f[axis][i];
        }
    if (worker->index == 0)
        REAL_NAME(exchange_all_known)(system, false);
    worker_barrier(worker);
    return true;
}

void REAL_NAME(cut_work_complete)(struct system *system, const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    const struct range share = node_share(system, worker);
    worker_barrier(worker); // all have read
    for (size_t i = share.first; i < share.end; i++) {
        system->state->vx[i] = it->uncut_v[0][i];
        system->state->vy[i] = it->uncut_v[1][i];
        system->state->vz[i] = it->uncut_v[2][i];
    }
    if (worker->index == 0)
        REAL_NAME(exchange_all_known)(system, false);
    worker_barrier(worker);
}

// Instead of velocities at the start of the step what forces have added until the middle of this
// one. Velocity Verlet has a half of that before the start. Substeps of xpbd move nodes by the
// velocities at their ends.
static void find_kicks(struct system *system, struct range nodes)
{
    struct surface_contact *it = system->surface_contact;
    const bool half = system->settings.integrator == INTEGRATOR_VELOCITY_VERLET;
    const bool lags = integrator_velocities_lag(system->settings.integrator);
    const bool xpbd = system->settings.integrator == INTEGRATOR_XPBD;
    const double h = system->settings.dt;
    for (size_t i = nodes.first; i < nodes.end; i++) {
        const vec3 start = vec3_of(it->start_v, i), end = node_velocity(system->state, i);
        const vec3 kick = vec3_scale(half ? 2 : 1, vec3_subtract(end, start));
        if (!lags && !xpbd) {
            const struct point motion = point_difference(state_point(system->state, i),
                                                         REAL_NAME(surface_step_start)(system, i));
            const vec3 mean = vec3_scale(0.5, vec3_add(start, end));
            const vec3 bend = vec3_subtract(
                vec3_make((double)motion.x / h, (double)motion.y / h, (double)motion.z / h), mean);
            it->beyond[i] = vec3_dot(kick, bend);
        }
        put(it->start_v, i, kick);
    }
}

void REAL_NAME(cut_work_pushed)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!counts_impulses(system))
        return;
    find_kicks(system, worker_share(worker, (size_t)system->state->nodes, 1));
    worker_barrier(worker);
    if (worker->index == 0)
        it->kicks_known = true;
    worker_barrier(worker);
}

bool REAL_NAME(cut_work_begin)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!counts_impulses(system) || !have_uncut(system, worker))
        return false;
    const struct range nodes = worker_share(worker, (size_t)system->state->nodes, 1);
    const bool known = it->kicks_known;
    if (!known)
        REAL_NAME(exchange_rest_of)(system, it->start_v, worker);
    if (!known)
        find_kicks(system, nodes);
    const bool xpbd = system->settings.integrator == INTEGRATOR_XPBD;
    for (size_t i = nodes.first; i < nodes.end; i++) {
        const vec3 kick = vec3_of(it->start_v, i);
        if (xpbd)
            it->beyond[i] = vec3_dot(kick, kick) / 2;
        else if (known && it->beyond)
            it->beyond[i] = 0;
        put(it->uncut_v, i, node_velocity(system->state, i));
    }
    worker_barrier(worker);
    if (worker->index == 0)
        it->kicks_known = true;
    worker_barrier(worker);
    return true;
}

// Over the mass of the node: what the cut has taken of its energy, and of its kinetic energy.
static struct cut_work work_of_node(const struct system *system, size_t i, bool lags)
{
    const struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    const vec3 uncut = vec3_of(it->uncut_v, i),
               now = vec3_of((real *const[3]){s->vx, s->vy, s->vz}, i);
    const vec3 slower = vec3_subtract(uncut, now), kick = vec3_of(it->start_v, i);
    const struct point at = state_point(s, i);
    const vec3 back =
        vec3_make((double)it->old_x[i] - (double)at.x, (double)it->old_y[i] - (double)at.y,
                  (double)it->old_z[i] - (double)at.z);
    if (vec3_dot(back, back) == 0 && vec3_dot(slower, slower) == 0)
        return (struct cut_work){0, 0, 0};
    const double kinetic = vec3_dot(slower, vec3_add(uncut, now)) / 2;
    const double kicks = vec3_dot(kick, kick);
    if (lags)
        return (struct cut_work){kinetic - vec3_dot(kick, slower) / 2, kinetic, kicks};
    return (struct cut_work){kinetic - vec3_dot(kick, back) / it->step_length + it->beyond[i],
                             kinetic, kicks};
}

static void sum_work(const struct system *system, const void *unused, struct range range,
                     double sums[SUM_WIDTH])
{
    (void)unused;
    const bool lags = integrator_velocities_lag(system->settings.integrator);
    for (size_t i = range.first; i < range.end; i++) {
        const double inverse = (double)system->constants->inverse_mass[i];
        if (!(inverse > 0))
            continue;
        const struct cut_work work = work_of_node(system, i, lags);
        sums[0] += work.taken / inverse;
        sums[1] += work.kinetic / inverse;
        sums[2] += work.kicks / inverse;
    }
}

struct cut_work REAL_NAME(cut_work_end)(struct system *system, const struct worker *worker)
{
    double sums[SUM_WIDTH];
    REAL_NAME(sum_over_nodes)(system, sum_work, NULL, sums, worker);
    stage_end(&system->clock, STAGE_WORK, worker);
    return (struct cut_work){sums[0], sums[1], sums[2]};
}
