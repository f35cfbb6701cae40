// Explicit and symplectic Euler. Pinned nodes have velocity 0 and inverse mass 0, so that they do
// not move, without a branch; moving kinematic nodes are set afterwards.
#include "integrate/integrate.h"

static void evaluate_and_move(struct system *system, enum sweep_finish finish,
                              const struct worker *worker)
{
    struct evaluation now = REAL_NAME(evaluation_now)(system);
    now.powers = system->settings.keep_energy_budget;
    REAL_NAME(springs_yield)(system, worker);
    REAL_NAME(forces_move)(system, now, finish, worker);
    if (now.powers)
        REAL_NAME(work_record)(system, now, false, worker);
    if (gas_has_collapsed(system))
        return;
    REAL_NAME(kinematic_advance)(system, system->settings.dt, worker);
    REAL_NAME(limit_motion)(system, worker);
    REAL_NAME(friction_update)(system, worker);
}

static void evaluate_at_start(struct system *system, const struct worker *worker)
{
    struct evaluation now = REAL_NAME(evaluation_now)(system);
    REAL_NAME(springs_yield)(system, worker);
    REAL_NAME(forces_evaluate)(system, now, worker);
    REAL_NAME(work_sample)(system, now, worker);
}

// For how many steps, from this one on, the forces of this step represent those of all in the error
// of the energy budget; 0: an earlier step represents it. Forces that are stored and then move the
// nodes take a pass of their own, so only every 16th step has them, and some of the first, for
// short runs.
static uint64_t steps_of_kicks(uint64_t step)
{
    enum { APART = 16 };
    if (step < APART)
        return (step & (step - 1)) != 0 ? 0 : step > 0 ? step : 1;
    return step % APART == 0 ? APART : 0;
}

static void evaluate_with_kicks(struct system *system, uint64_t steps, const struct worker *worker)
{
    struct evaluation now = REAL_NAME(evaluation_now)(system);
    now.powers = true;
    REAL_NAME(springs_yield)(system, worker);
    REAL_NAME(forces_evaluate)(system, now, worker);
    REAL_NAME(work_record)(system, now, false, worker);
    REAL_NAME(work_note_kicks)(system, steps, worker);
}

// x += h v; v += h a(x, v), both right sides at the old state.
void REAL_NAME(explicit_euler)(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    const real *inverse_mass = system->constants->inverse_mass;
    const bool at_once = REAL_NAME(moves_in_sweep)(system);
    const uint64_t kicks =
        at_once && system->settings.keep_energy_budget ? steps_of_kicks(s->step) : 0;
    if (at_once && kicks == 0) {
        evaluate_and_move(system, SWEEP_EXPLICIT_EULER, worker);
        return;
    }
    if (at_once)
        evaluate_with_kicks(system, kicks, worker);
    else
        evaluate_at_start(system, worker);
    if (gas_has_collapsed(system))
        return;
    real h = (real)system->settings.dt;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real_accumulate(s->x, s->x_low, i, h * s->vx[i]);
        real_accumulate(s->y, s->y_low, i, h * s->vy[i]);
        real_accumulate(s->z, s->z_low, i, h * s->vz[i]);
        real factor = h * inverse_mass[i];
        real_accumulate(s->vx, s->vx_low, i, factor * s->fx[i]);
        real_accumulate(s->vy, s->vy_low, i, factor * s->fy[i]);
        real_accumulate(s->vz, s->vz_low, i, factor * s->fz[i]);
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
    REAL_NAME(kinematic_advance)(system, system->settings.dt, worker);
    REAL_NAME(limit_motion)(system, worker);
    REAL_NAME(friction_update)(system, worker);
}

// v += h a; x += h_x v with the new v (Rociek and Rusztowicz: dt_a and dt_v).
void REAL_NAME(symplectic_euler)(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    const real *inverse_mass = system->constants->inverse_mass;
    if (REAL_NAME(moves_in_sweep)(system)) {
        evaluate_and_move(system, SWEEP_SYMPLECTIC_EULER, worker);
        return;
    }
    evaluate_at_start(system, worker);
    if (gas_has_collapsed(system))
        return;
    real h = (real)system->settings.dt, h_x = (real)system->settings.position_step;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real factor = h * inverse_mass[i];
        real_accumulate(s->vx, s->vx_low, i, factor * s->fx[i]);
        real_accumulate(s->vy, s->vy_low, i, factor * s->fy[i]);
        real_accumulate(s->vz, s->vz_low, i, factor * s->fz[i]);
        real_accumulate(s->x, s->x_low, i, h_x * s->vx[i]);
        real_accumulate(s->y, s->y_low, i, h_x * s->vy[i]);
        real_accumulate(s->z, s->z_low, i, h_x * s->vz[i]);
    }
    REAL_NAME(motion_note)(system, share.first, share.end - share.first, worker->index);
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
    REAL_NAME(kinematic_advance)(system, system->settings.dt, worker);
    REAL_NAME(limit_motion)(system, worker);
    REAL_NAME(friction_update)(system, worker);
}
