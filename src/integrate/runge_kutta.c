// Explicit Runge-Kutta steps: the midpoint rule and the classical method of order four. All stages
// of a step have the gas of that step.
//
// A stage is one sweep over the springs, in which a node moves to the next stage as soon as its
// force is complete (finish_stage in springs/grid/force_body.h). The plain loops here do the same
// after the forces, with the same bits: for the serial reference, and for an energy budget whose
// powers the kernels do not measure.
#include "integrate/integrate.h"

// ---- Stages in plain loops

// (x, v) := (x0, v0) + h (v, a), with v and a of the stage just evaluated.
static void advance_from_start(struct state *s, const real *inverse_mass, real h,
                               struct range share)
{
    for (size_t i = share.first; i < share.end; i++) {
        real factor = h * inverse_mass[i];
        s->x[i] = s->x0[i] + h * s->vx[i];
        s->y[i] = s->y0[i] + h * s->vy[i];
        s->z[i] = s->z0[i] + h * s->vz[i];
        s->vx[i] = s->vx0[i] + factor * s->fx[i];
        s->vy[i] = s->vy0[i] + factor * s->fy[i];
        s->vz[i] = s->vz0[i] + factor * s->fz[i];
    }
}

// to := from + increment of a number with a low part, which stays that of the start until the step
// `ends`.
static void advance_parts(real *to, const real *from, real *low, size_t i, real increment,
                          bool ends)
{
    to[i] = from[i];
    if (ends)
        real_accumulate(to, low, i, increment);
    else
        to[i] += low[i] + increment;
}

// The same in precision mixed. Loops of their own, because compilers do not vectorise the others
// with the choice inside: midpoint took 1.4 times as long.
static void advance_mixed_from_start(struct state *s, const real *inverse_mass, real h, bool ends,
                                     struct range share)
{
    for (size_t i = share.first; i < share.end; i++) {
        real factor = h * inverse_mass[i];
        advance_parts(s->x, s->x0, s->x_low, i, h * s->vx[i], ends);
        advance_parts(s->y, s->y0, s->y_low, i, h * s->vy[i], ends);
        advance_parts(s->z, s->z0, s->z_low, i, h * s->vz[i], ends);
        advance_parts(s->vx, s->vx0, s->vx_low, i, factor * s->fx[i], ends);
        advance_parts(s->vy, s->vy0, s->vy_low, i, factor * s->fy[i], ends);
        advance_parts(s->vz, s->vz0, s->vz_low, i, factor * s->fz[i], ends);
    }
}

static void from_start(struct system *system, double h, bool ends, const struct worker *worker)
{
    const real *inverse_mass = system->constants->inverse_mass;
    struct range share = node_share(system, worker);
    if (state_is_mixed(system->state))
        advance_mixed_from_start(system->state, inverse_mass, (real)h, ends, share);
    else
        advance_from_start(system->state, inverse_mass, (real)h, share);
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

static void evaluate_stage(struct system *system, double elapsed, const struct worker *worker)
{
    struct evaluation evaluation = REAL_NAME(evaluation_now)(system);
    if (elapsed == 0)
        REAL_NAME(springs_yield)(system, worker);
    evaluation.time += elapsed;
    evaluation.powers = elapsed == 0 && REAL_NAME(work_is_measured)(system);
    REAL_NAME(forces_evaluate)(system, evaluation, worker);
    if (evaluation.powers)
        REAL_NAME(work_record)(system, evaluation, false, worker);
    else if (elapsed == 0)
        REAL_NAME(work_sample)(system, evaluation, worker);
}

static void midpoint_in_loops(struct system *system, const struct worker *worker)
{
    double h = system->settings.dt;
    REAL_NAME(save_start)(system, worker);
    evaluate_stage(system, 0, worker);
    if (gas_has_collapsed(system))
        return;
    from_start(system, h / 2, false, worker);
    REAL_NAME(kinematic_set_positions)(system, h / 2, worker);
    evaluate_stage(system, h / 2, worker);
    from_start(system, h, true, worker);
    REAL_NAME(kinematic_advance)(system, h, worker);
    REAL_NAME(limit_motion)(system, worker);
    REAL_NAME(friction_update)(system, worker);
}

// Adds weight times (v, a) of the stage just evaluated to the sums of slopes; the first stage sets
// them.
static void add_slopes(struct system *system, real weight, bool first, const struct worker *worker)
{
    struct state *s = system->state;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real factor = weight * system->constants->inverse_mass[i];
        s->sx[i] = (first ? 0 : s->sx[i]) + weight * s->vx[i];
        s->sy[i] = (first ? 0 : s->sy[i]) + weight * s->vy[i];
        s->sz[i] = (first ? 0 : s->sz[i]) + weight * s->vz[i];
        s->svx[i] = (first ? 0 : s->svx[i]) + factor * s->fx[i];
        s->svy[i] = (first ? 0 : s->svy[i]) + factor * s->fy[i];
        s->svz[i] = (first ? 0 : s->svz[i]) + factor * s->fz[i];
    }
}

static void apply_slopes(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    real sixth = (real)(system->settings.dt / 6);
    struct range share = node_share(system, worker);
    const struct range none = {0, 0};
    const struct range plain = state_is_mixed(s) ? none : share;
    const struct range mixed = state_is_mixed(s) ? share : none;
    for (size_t i = plain.first; i < plain.end; i++) {
        s->x[i] = s->x0[i] + sixth * s->sx[i];
        s->y[i] = s->y0[i] + sixth * s->sy[i];
        s->z[i] = s->z0[i] + sixth * s->sz[i];
        s->vx[i] = s->vx0[i] + sixth * s->svx[i];
        s->vy[i] = s->vy0[i] + sixth * s->svy[i];
        s->vz[i] = s->vz0[i] + sixth * s->svz[i];
    }
    for (size_t i = mixed.first; i < mixed.end; i++) {
        advance_parts(s->x, s->x0, s->x_low, i, sixth * s->sx[i], true);
        advance_parts(s->y, s->y0, s->y_low, i, sixth * s->sy[i], true);
        advance_parts(s->z, s->z0, s->z_low, i, sixth * s->sz[i], true);
        advance_parts(s->vx, s->vx0, s->vx_low, i, sixth * s->svx[i], true);
        advance_parts(s->vy, s->vy0, s->vy_low, i, sixth * s->svy[i], true);
        advance_parts(s->vz, s->vz0, s->vz_low, i, sixth * s->svz[i], true);
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

static void rk4_in_loops(struct system *system, const struct worker *worker)
{
    static const double fraction[4] = {0, 0.5, 0.5, 1};
    static const real weight[4] = {1, 2, 2, 1};
    double h = system->settings.dt;
    REAL_NAME(save_start)(system, worker);
    for (int stage = 0; stage < 4; stage++) {
        if (stage > 0) {
            from_start(system, fraction[stage] * h, false, worker);
            REAL_NAME(kinematic_set_positions)(system, fraction[stage] * h, worker);
        }
        evaluate_stage(system, fraction[stage] * h, worker);
        if (gas_has_collapsed(system)) // found by the first stage
            return;
        add_slopes(system, weight[stage], stage == 0, worker);
    }
    apply_slopes(system, worker);
    REAL_NAME(kinematic_advance)(system, h, worker);
    REAL_NAME(limit_motion)(system, worker);
    REAL_NAME(friction_update)(system, worker);
}

// ---- Stages in the sweep

static void swap_arrays(real **a, real **b)
{
    real *const kept = *a;
    *a = *b;
    *b = kept;
}

// Exchanges the state with the one that a first or last stage has written in place of x0 and v0.
// Both are in their own arrays again at the end of a step.
static void swap_states(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    if (worker->index == 0) {
        swap_arrays(&s->x, &s->x0);
        swap_arrays(&s->y, &s->y0);
        swap_arrays(&s->z, &s->z0);
        swap_arrays(&s->vx, &s->vx0);
        swap_arrays(&s->vy, &s->vy0);
        swap_arrays(&s->vz, &s->vz0);
    }
    worker_barrier(worker);
}

// Forces `elapsed` seconds after the start of the step, and the motion to the next stage or to the
// end of the step. Returns false if gas had no volume at the start of the step: then nothing moves.
static bool sweep_stage(struct system *system, double elapsed, enum sweep_finish finish,
                        const struct worker *worker)
{
    struct evaluation evaluation = REAL_NAME(evaluation_now)(system);
    if (elapsed == 0)
        REAL_NAME(springs_yield)(system, worker);
    evaluation.time += elapsed;
    evaluation.powers = elapsed == 0 && system->settings.keep_energy_budget;
    REAL_NAME(forces_move)(system, evaluation, finish, worker);
    if (evaluation.powers)
        REAL_NAME(work_record)(system, evaluation, false, worker);
    if (gas_has_collapsed(system))
        return false;
    if (finish_is_first_stage(finish) || finish_is_last_stage(finish))
        swap_states(system, worker);
    return true;
}

void REAL_NAME(midpoint)(struct system *system, const struct worker *worker)
{
    const double h = system->settings.dt;
    if (!REAL_NAME(moves_in_sweep)(system)) {
        midpoint_in_loops(system, worker);
        return;
    }
    if (!sweep_stage(system, 0, SWEEP_MIDPOINT_FIRST, worker))
        return;
    REAL_NAME(kinematic_set_positions)(system, h / 2, worker);
    sweep_stage(system, h / 2, SWEEP_MIDPOINT_LAST, worker);
    REAL_NAME(kinematic_advance)(system, h, worker);
    REAL_NAME(limit_motion)(system, worker);
    REAL_NAME(friction_update)(system, worker);
}

void REAL_NAME(rk4)(struct system *system, const struct worker *worker)
{
    const double h = system->settings.dt;
    if (!REAL_NAME(moves_in_sweep)(system)) {
        rk4_in_loops(system, worker);
        return;
    }
    if (!sweep_stage(system, 0, SWEEP_RK4_FIRST, worker))
        return;
    REAL_NAME(kinematic_set_positions)(system, h / 2, worker);
    sweep_stage(system, h / 2, SWEEP_RK4_SECOND, worker);
    REAL_NAME(kinematic_set_positions)(system, h / 2, worker);
    sweep_stage(system, h / 2, SWEEP_RK4_THIRD, worker);
    REAL_NAME(kinematic_set_positions)(system, h, worker);
    sweep_stage(system, h, SWEEP_RK4_LAST, worker);
    REAL_NAME(kinematic_advance)(system, h, worker);
    REAL_NAME(limit_motion)(system, worker);
    REAL_NAME(friction_update)(system, worker);
}
