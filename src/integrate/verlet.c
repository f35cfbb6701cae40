// Verlet's method for positions (Matyka 2.26) and velocity Verlet. Both need the forces of the new
// state to complete its velocities, and the next step starts from the same forces: one evaluation
// per step.
//
// The end of a step and the start of the next are therefore one sweep over the springs, in which
// every node gets both half kicks and moves as soon as its force is complete. Between two steps of
// a run of steps, velocities lack a half kick (half_kick_due); damping is computed with these in
// any case. verlet_complete does that half of the sweep alone, with the same bits, before the state
// is read.
#include "integrate/integrate.h"

// Whether nothing needs complete velocities at the end of each step. The serial reference computes
// forces and motion in separate passes.
static bool may_lack_half_kick(const struct system *system)
{
    const struct settings *settings = &system->settings;
    const bool budget = settings->keep_energy_budget && !REAL_NAME(work_is_measured)(system);
    return !plan_is_reference(system->plan) && !budget && !settings->projects && !settings->cuts &&
           settings->keep_velocity == 1 && !system->mouse_spring.pulls;
}

// Evaluates the forces at the start of the step, unless the last step has done so.
static void forces_at_start(struct system *system, struct evaluation now,
                            const struct worker *worker)
{
    if (system->state->forces_current)
        return;
    REAL_NAME(springs_yield)(system, worker);
    REAL_NAME(forces_evaluate)(system, now, worker);
}

// The same with the energy budget. Powers of known forces, which the next half kick needs as they
// are, are measured without the kernels.
static void sample_at_start(struct system *system, const struct worker *worker)
{
    struct evaluation now = REAL_NAME(evaluation_now)(system);
    const bool measured = REAL_NAME(work_is_measured)(system);
    now.powers = measured && !system->state->forces_current;
    if (measured && !now.powers && REAL_NAME(work_is_recorded)(system, now))
        return;
    forces_at_start(system, now, worker);
    if (now.powers) {
        REAL_NAME(work_record)(system, now, false, worker);
        return;
    }
    const bool uncompleted = REAL_NAME(cut_work_uncomplete)(system, worker);
    REAL_NAME(work_sample)(system, now, worker);
    if (uncompleted)
        REAL_NAME(cut_work_complete)(system, worker);
}

static void forces_are_current(struct system *system, const struct worker *worker)
{
    worker_barrier(worker);
    if (worker->index == 0) {
        system->state->forces_current = true;
        system->state->half_kick_due = false;
    }
    worker_barrier(worker);
}

// Set by worker 0; the others may read it after the next barrier.
static void half_kick_is_due(struct system *system, const struct worker *worker)
{
    if (worker->index != 0 || system->state->half_kick_due)
        return;
    system->state->forces_current = false;
    system->state->half_kick_due = true;
}

// The position one step back, so that the first step is x + h v + h^2 a / 2.
void REAL_NAME(verlet_start)(struct system *system, const struct worker *worker)
{
    forces_at_start(system, REAL_NAME(evaluation_now)(system), worker);
    struct state *s = system->state;
    real h = (real)system->settings.dt;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real half = h * h * system->constants->inverse_mass[i] / 2;
        real_set_sum(s->x0, s->x0_low, s->x, s->x_low, i, -(h * s->vx[i]), half * s->fx[i]);
        real_set_sum(s->y0, s->y0_low, s->y, s->y_low, i, -(h * s->vy[i]), half * s->fy[i]);
        real_set_sum(s->z0, s->z0_low, s->z, s->z_low, i, -(h * s->vz[i]), half * s->fz[i]);
    }
    forces_are_current(system, worker);
}

// The previous position for the new dt: x - h v + h^2 a / 2 with the present velocity,
// v = (x - x-) / h + h a / 2 with the old h. If the forces of the present state are not known, as
// after a projection, v is the backward difference.
void REAL_NAME(verlet_change_dt)(struct system *system, double dt, const struct worker *worker)
{
    struct state *s = system->state;
    const real ratio = (real)(dt / system->settings.dt);
    const real lag = s->forces_current ? (real)(dt * (dt - system->settings.dt) / 2) : 0;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real factor = lag * system->constants->inverse_mass[i];
        const real x = real_difference(s->x, s->x_low, s->x0, s->x0_low, i);
        real_set_sum(s->x0, s->x0_low, s->x, s->x_low, i, -(ratio * x), factor * s->fx[i]);
        const real y = real_difference(s->y, s->y_low, s->y0, s->y0_low, i);
        real_set_sum(s->y0, s->y0_low, s->y, s->y_low, i, -(ratio * y), factor * s->fy[i]);
        const real z = real_difference(s->z, s->z_low, s->z0, s->z0_low, i);
        real_set_sum(s->z0, s->z0_low, s->z, s->z_low, i, -(ratio * z), factor * s->fz[i]);
    }
}

// Computes velocities by the backward difference, for damping and drag.
static void backward_velocities(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    real inverse_h = (real)(1.0 / system->settings.dt);
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        s->vx[i] = real_difference(s->x, s->x_low, s->x0, s->x0_low, i) * inverse_h;
        s->vy[i] = real_difference(s->y, s->y_low, s->y0, s->y0_low, i) * inverse_h;
        s->vz[i] = real_difference(s->z, s->z_low, s->z0, s->z0_low, i) * inverse_h;
    }
    worker_barrier(worker);
}

// x+ = 2 x - x- + h^2 a of one component of node i. With low parts the difference of the high ones,
// which is exact, is added first, and then everything that is small.
static void advance_by_positions(real *x, real *x_low, real *x0, real *x0_low, size_t i,
                                 real change)
{
    const real position = x[i], before = x0[i];
    x0[i] = position;
    if (!x_low) {
        x[i] = 2 * position - before + change;
        return;
    }
    const real low = x_low[i], small = ((low - x0_low[i]) + change) + low;
    x0_low[i] = low;
    x_low[i] = 0;
    real_accumulate(x, x_low, i, position - before);
    real_accumulate(x, x_low, i, small);
}

static void advance_positions(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    real h = (real)system->settings.dt;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        real factor = h * h * system->constants->inverse_mass[i];
        advance_by_positions(s->x, s->x_low, s->x0, s->x0_low, i, factor * s->fx[i]);
        advance_by_positions(s->y, s->y_low, s->y0, s->y0_low, i, factor * s->fy[i]);
        advance_by_positions(s->z, s->z_low, s->z0, s->z0_low, i, factor * s->fz[i]);
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

// v += h a / 2: from the backward difference to the centred one, (x+ - x-) / 2h, and the kick of
// velocity Verlet.
static void half_kick(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    real half = (real)system->settings.dt / 2;
    struct range share = node_share(system, worker);
    const bool mixed = s->vx_low != NULL;
    for (size_t i = share.first; mixed && i < share.end; i++) {
        real factor = half * system->constants->inverse_mass[i];
        real_accumulate(s->vx, s->vx_low, i, factor * s->fx[i]);
        real_accumulate(s->vy, s->vy_low, i, factor * s->fy[i]);
        real_accumulate(s->vz, s->vz_low, i, factor * s->fz[i]);
    }
    for (size_t i = share.first; !mixed && i < share.end; i++) {
        real factor = half * system->constants->inverse_mass[i];
        s->vx[i] += factor * s->fx[i];
        s->vy[i] += factor * s->fy[i];
        s->vz[i] += factor * s->fz[i];
    }
}

// Forces, and the half kick by them.
static void complete(struct system *system, struct evaluation evaluation,
                     const struct worker *worker)
{
    evaluation.powers = REAL_NAME(work_is_measured)(system);
    REAL_NAME(springs_yield)(system, worker);
    if (plan_is_reference(system->plan)) {
        REAL_NAME(forces_evaluate)(system, evaluation, worker);
        half_kick(system, worker);
    } else {
        REAL_NAME(forces_move)(system, evaluation, SWEEP_HALF_KICK, worker);
    }
    if (evaluation.powers)
        REAL_NAME(work_record)(system, evaluation, true, worker);
    forces_are_current(system, worker);
}

void REAL_NAME(verlet_complete_aside)(struct system *system, bool begins,
                                      const struct worker *worker)
{
    struct state *s = system->state;
    const real half = (real)system->settings.dt / 2;
    real *const velocities[3] = {s->vx, s->vy, s->vz}, *const forces[3] = {s->fx, s->fy, s->fz};
    struct range share = node_share(system, worker);
    for (int axis = 0; axis < 3; axis++)
        for (size_t i = share.first; i < share.end; i++) {
            const real factor = half * system->constants->inverse_mass[i];
            const real now = velocities[axis][i], other = forces[axis][i];
            if (factor == 0)
                continue;
            velocities[axis][i] = begins ? now + factor * other : other;
            forces[axis][i] = now;
        }
    worker_barrier(worker);
}

void REAL_NAME(verlet_complete)(struct system *system, const struct worker *worker)
{
    complete(system, REAL_NAME(evaluation_now)(system), worker);
}

// The end of the last step and the start of this one, in one sweep.
static void kick_and_move(struct system *system, enum sweep_finish finish,
                          const struct worker *worker)
{
    struct evaluation now = REAL_NAME(evaluation_now)(system);
    now.powers = REAL_NAME(work_is_measured)(system);
    REAL_NAME(springs_yield)(system, worker);
    REAL_NAME(forces_move)(system, now, finish, worker);
    if (now.powers)
        REAL_NAME(work_record)(system, now, true, worker);
}

static void kick_and_drift(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    half_kick(system, worker);
    real h = (real)system->settings.dt;
    struct range share = node_share(system, worker);
    const bool mixed = state_is_mixed(s);
    for (size_t i = share.first; mixed && i < share.end; i++) {
        real_accumulate(s->x, s->x_low, i, h * s->vx[i]);
        real_accumulate(s->y, s->y_low, i, h * s->vy[i]);
        real_accumulate(s->z, s->z_low, i, h * s->vz[i]);
    }
    for (size_t i = share.first; !mixed && i < share.end; i++) {
        s->x[i] += h * s->vx[i];
        s->y[i] += h * s->vy[i];
        s->z[i] += h * s->vz[i];
    }
    REAL_NAME(motion_note)(system, share.first, share.end - share.first, worker->index);
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

void REAL_NAME(velocity_verlet)(struct system *system, const struct worker *worker)
{
    if (system->state->half_kick_due) {
        kick_and_move(system, SWEEP_VELOCITY_VERLET, worker);
        if (gas_has_collapsed(system)) { // the half kick is all that has been done
            forces_are_current(system, worker);
            return;
        }
    } else {
        sample_at_start(system, worker);
        if (gas_has_collapsed(system))
            return;
        kick_and_drift(system, worker);
    }
    REAL_NAME(kinematic_advance)(system, system->settings.dt, worker);
    REAL_NAME(limit_motion)(system, worker);
    // Before the half kick, which may be part of the next step's sweep.
    REAL_NAME(friction_update)(system, worker);
    if (may_lack_half_kick(system)) {
        half_kick_is_due(system, worker);
        return;
    }
    complete(system, REAL_NAME(evaluation_at_end)(system), worker);
}

void REAL_NAME(verlet)(struct system *system, const struct worker *worker)
{
    if (system->state->half_kick_due) {
        kick_and_move(system, SWEEP_VERLET, worker);
        if (gas_has_collapsed(system)) {
            forces_are_current(system, worker);
            return;
        }
        REAL_NAME(kinematic_advance)(system, system->settings.dt, worker);
    } else {
        const bool known = system->state->forces_current;
        if (!known)
            backward_velocities(system, worker);
        sample_at_start(system, worker);
        if (gas_has_collapsed(system)) {
            if (!known) {
                half_kick(system, worker);
                forces_are_current(system, worker);
            }
            return;
        }
        advance_positions(system, worker);
        REAL_NAME(kinematic_advance)(system, system->settings.dt, worker);
        backward_velocities(system, worker);
        REAL_NAME(limit_motion)(system, worker);
    }
    REAL_NAME(friction_update)(system, worker);
    if (may_lack_half_kick(system)) {
        half_kick_is_due(system, worker);
        return;
    }
    complete(system, REAL_NAME(evaluation_at_end)(system), worker);
}
