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
    return !plan_is_reference(system->plan) && !budget && !settings->projects &&
           settings->keep_velocity == 1 && !system->mouse_spring.pulls;
}

// Evaluates the forces at the start of the step, unless the last step has done so.
static void forces_at_start(struct system *system, const struct worker *worker)
{
    if (system->state->forces_current)
        return;
    REAL_NAME(springs_yield)(system, worker);
    REAL_NAME(forces_evaluate)(system, REAL_NAME(evaluation_now)(system), worker);
}

// The same with the energy budget. Powers of known forces, which the next half kick needs as they
// are, are measured without the kernels.
static void sample_at_start(struct system *system, const struct worker *worker)
{
    struct evaluation now = REAL_NAME(evaluation_now)(system);
    const bool measured = REAL_NAME(work_is_measured)(system);
    if (measured && !system->state->forces_current) {
        now.powers = true;
        REAL_NAME(springs_yield)(system, worker);
        REAL_NAME(forces_evaluate)(system, now, worker);
        REAL_NAME(work_record)(system, now, false, worker);
    } else if (!measured || !REAL_NAME(work_is_recorded)(system, now)) {
        forces_at_start(system, worker);
        REAL_NAME(work_sample)(system, now, worker);
    }
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
    forces_at_start(system, worker);
    struct state *s = system->state;
    real h = (real)system->settings.dt;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real half = h * h * system->constants->inverse_mass[i] / 2;
        s->x0[i] = s->x[i] - h * s->vx[i] + half * s->fx[i];
        s->y0[i] = s->y[i] - h * s->vy[i] + half * s->fy[i];
        s->z0[i] = s->z[i] - h * s->vz[i] + half * s->fz[i];
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
        s->x0[i] = s->x[i] - ratio * (s->x[i] - s->x0[i]) + factor * s->fx[i];
        s->y0[i] = s->y[i] - ratio * (s->y[i] - s->y0[i]) + factor * s->fy[i];
        s->z0[i] = s->z[i] - ratio * (s->z[i] - s->z0[i]) + factor * s->fz[i];
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
        s->vx[i] = (s->x[i] - s->x0[i]) * inverse_h;
        s->vy[i] = (s->y[i] - s->y0[i]) * inverse_h;
        s->vz[i] = (s->z[i] - s->z0[i]) * inverse_h;
    }
    worker_barrier(worker);
}

// x+ = 2 x - x- + h^2 a
static void advance_positions(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    real h = (real)system->settings.dt;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        real factor = h * h * system->constants->inverse_mass[i];
        real x = s->x[i], y = s->y[i], z = s->z[i];
        s->x[i] = 2 * x - s->x0[i] + factor * s->fx[i];
        s->y[i] = 2 * y - s->y0[i] + factor * s->fy[i];
        s->z[i] = 2 * z - s->z0[i] + factor * s->fz[i];
        s->x0[i] = x;
        s->y0[i] = y;
        s->z0[i] = z;
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
    for (size_t i = share.first; i < share.end; i++) {
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

// The end of the present step, with the gas of the next one.
static struct evaluation end_of_step(const struct system *system)
{
    const uint64_t step = system->state->step;
    return (struct evaluation){step_time(system, step + 1), step + 2, false};
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
    for (size_t i = share.first; i < share.end; i++) {
        s->x[i] += h * s->vx[i];
        s->y[i] += h * s->vy[i];
        s->z[i] += h * s->vz[i];
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

void REAL_NAME(velocity_verlet)(struct system *system, const struct worker *worker)
{
    if (system->state->half_kick_due) {
        kick_and_move(system, SWEEP_VELOCITY_VERLET, worker);
    } else {
        sample_at_start(system, worker);
        kick_and_drift(system, worker);
    }
    REAL_NAME(kinematic_advance)(system, system->settings.dt, worker);
    if (may_lack_half_kick(system)) {
        half_kick_is_due(system, worker);
        return;
    }
    complete(system, end_of_step(system), worker);
}

void REAL_NAME(verlet)(struct system *system, const struct worker *worker)
{
    if (system->state->half_kick_due) {
        kick_and_move(system, SWEEP_VERLET, worker);
        REAL_NAME(kinematic_advance)(system, system->settings.dt, worker);
    } else {
        if (!system->state->forces_current)
            backward_velocities(system, worker);
        sample_at_start(system, worker);
        advance_positions(system, worker);
        REAL_NAME(kinematic_advance)(system, system->settings.dt, worker);
        backward_velocities(system, worker);
    }
    if (may_lack_half_kick(system)) {
        half_kick_is_due(system, worker);
        return;
    }
    complete(system, end_of_step(system), worker);
}
