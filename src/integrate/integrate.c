// One step of any integrator, and the parts that all share: dt, the projection onto colliders,
// keep_velocity, and the energy budget of the last two. The integrators are in the files of their
// families.
#include "integrate/integrate.h"

#include <string.h>

#include "integrate/mouse_spring.h"
#include "state/reading.h"

struct state_needs REAL_NAME(integrator_needs)(enum integrator integrator, bool mixed,
                                               const struct topology *topology)
{
    const struct scene_wind *wind = &topology->environment.wind;
    bool start = integrator == INTEGRATOR_MIDPOINT || integrator == INTEGRATOR_RK4 ||
                 integrator == INTEGRATOR_BDF2;
    size_t projections = 0;
    bool restitution = false;
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *collider = &topology->colliders[c];
        if (collider->response != RESPONSE_PROJECT)
            continue;
        projections++;
        restitution |= collider->restitution > 0;
    }
    return (struct state_needs){
        .restitution = restitution,
        .low_positions = mixed,
        .low_velocities = mixed && integrator != INTEGRATOR_VERLET,
        .low_previous = mixed && (integrator == INTEGRATOR_VERLET || integrator == INTEGRATOR_BDF2),
        .low_previous_velocities =
            mixed && (integrator == INTEGRATOR_BDF2 || integrator == INTEGRATOR_XPBD),
        .projections = projections,
        .frictions = friction_slots(topology->colliders, topology->collider_count),
        .base_positions = start || integrator == INTEGRATOR_VERLET,
        .base_velocities = start || integrator == INTEGRATOR_XPBD,
        .slopes = integrator == INTEGRATOR_RK4,
        .multipliers = integrator == INTEGRATOR_XPBD,
        .normals = wind->present && wind->law == WIND_NODE,
    };
}

int REAL_NAME(integrator_evaluations)(const struct settings *settings)
{
    if (settings->integrator == INTEGRATOR_XPBD)
        return settings->substeps * settings->iterations;
    // Velocities that change at the end of a step need forces of their own at the start of the
    // next.
    if (settings->keep_velocity != 1 && (settings->integrator == INTEGRATOR_VERLET ||
                                         settings->integrator == INTEGRATOR_VELOCITY_VERLET))
        return 2;
    return settings->integrator == INTEGRATOR_RK4        ? 4
           : settings->integrator == INTEGRATOR_MIDPOINT ? 2
                                                         : 1;
}

struct evaluation REAL_NAME(evaluation_now)(const struct system *system)
{
    uint64_t step = system->state->step;
    return (struct evaluation){step_time(system, step), step + 1, false};
}

struct evaluation REAL_NAME(evaluation_at_end)(const struct system *system)
{
    const uint64_t step = system->state->step;
    return (struct evaluation){step_time(system, step + 1), step + 2, false};
}

void REAL_NAME(integrator_start)(struct system *system, const struct worker *worker)
{
    if (system->settings.integrator == INTEGRATOR_VERLET)
        REAL_NAME(verlet_start)(system, worker);
}

bool REAL_NAME(moves_in_sweep)(const struct system *system)
{
    return !plan_is_reference(system->plan) &&
           (!system->settings.keep_energy_budget || REAL_NAME(work_is_measured)(system));
}

void REAL_NAME(save_start)(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; s->vx0_low && i < share.end; i++) {
        split_copy(state_previous_positions(s), state_positions(s), i);
        split_copy(state_previous_velocities(s), state_velocities(s), i);
    }
    for (size_t i = share.first; !s->vx0_low && i < share.end; i++) {
        s->x0[i] = s->x[i];
        s->y0[i] = s->y[i];
        s->z0[i] = s->z[i];
        s->vx0[i] = s->vx[i];
        s->vy0[i] = s->vy[i];
        s->vz0[i] = s->vz[i];
    }
}

void REAL_NAME(integrator_complete)(struct system *system, const struct worker *worker)
{
    if (system->state->half_kick_due)
        REAL_NAME(verlet_complete)(system, worker);
}

void REAL_NAME(integrator_change_dt)(struct system *system, double dt, const struct worker *worker)
{
    REAL_NAME(integrator_complete)(system, worker);
    if (system->settings.integrator == INTEGRATOR_VERLET)
        REAL_NAME(verlet_change_dt)(system, dt, worker);
    worker_barrier(worker); // all have read the old dt
    if (worker->index == 0) {
        struct settings *settings = &system->settings;
        settings->dt_time = step_time(system, system->state->step);
        settings->dt_step = system->state->step;
        settings->dt = dt;
        settings->position_step = settings->position_ratio * dt;
    }
    worker_barrier(worker);
    REAL_NAME(surface_contact_change_dt)(system, worker);
}

void REAL_NAME(integrator_step)(struct system *system, const struct worker *worker)
{
    stage_clock_step(&system->clock, worker);
    if (system->settings.integrator != INTEGRATOR_XPBD) // of which each substep does so
        REAL_NAME(cut_work_start)(system, worker);
    switch (system->settings.integrator) {
    case INTEGRATOR_EXPLICIT_EULER:
        REAL_NAME(explicit_euler)(system, worker);
        break;
    case INTEGRATOR_SYMPLECTIC_EULER:
        REAL_NAME(symplectic_euler)(system, worker);
        break;
    case INTEGRATOR_VERLET:
        REAL_NAME(verlet)(system, worker);
        break;
    case INTEGRATOR_VELOCITY_VERLET:
        REAL_NAME(velocity_verlet)(system, worker);
        break;
    case INTEGRATOR_MIDPOINT:
        REAL_NAME(midpoint)(system, worker);
        break;
    case INTEGRATOR_RK4:
        REAL_NAME(rk4)(system, worker);
        break;
    case INTEGRATOR_IMPLICIT_EULER:
        REAL_NAME(implicit_euler)(system, worker);
        break;
    case INTEGRATOR_IMPLICIT_MIDPOINT:
        REAL_NAME(implicit_midpoint)(system, worker);
        break;
    case INTEGRATOR_BDF2:
        REAL_NAME(bdf2)(system, worker);
        break;
    case INTEGRATOR_XPBD:
        REAL_NAME(xpbd)(system, worker);
        break;
    case INTEGRATOR_COUNT:
        break;
    }
    REAL_NAME(mouse_spring_end_step)(system, worker);
}

// v *= keep_velocity; the history of verlet and bdf2 is adapted, so that free motion continues at
// the new velocity. That of bdf2 jumps as the velocity does, as after a projection: multiplied, its
// velocity would lose a part of the acceleration too, and the method its second order.
static void keep_velocity(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    const real keep = (real)system->settings.keep_velocity, lost = 1 - keep;
    const real h = (real)system->settings.dt;
    const bool bdf2 = system->settings.integrator == INTEGRATOR_BDF2;
    const bool verlet = system->settings.integrator == INTEGRATOR_VERLET;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        const real lost_x = lost * s->vx[i], lost_y = lost * s->vy[i], lost_z = lost * s->vz[i];
        if (s->vx_low) {
            real_accumulate(s->vx, s->vx_low, i, -lost_x);
            real_accumulate(s->vy, s->vy_low, i, -lost_y);
            real_accumulate(s->vz, s->vz_low, i, -lost_z);
        } else {
            s->vx[i] *= keep;
            s->vy[i] *= keep;
            s->vz[i] *= keep;
        }
        if (verlet) {
            const real x = keep * real_difference(s->x, s->x_low, s->x0, s->x0_low, i);
            const real y = keep * real_difference(s->y, s->y_low, s->y0, s->y0_low, i);
            const real z = keep * real_difference(s->z, s->z_low, s->z0, s->z0_low, i);
            real_set_sum(s->x0, s->x0_low, s->x, s->x_low, i, -x, 0);
            real_set_sum(s->y0, s->y0_low, s->y, s->y_low, i, -y, 0);
            real_set_sum(s->z0, s->z0_low, s->z, s->z_low, i, -z, 0);
        }
        if (bdf2) {
            real_accumulate(s->x0, s->x0_low, i, h * lost_x);
            real_accumulate(s->y0, s->y0_low, i, h * lost_y);
            real_accumulate(s->z0, s->z0_low, i, h * lost_z);
            real_accumulate(s->vx0, s->vx0_low, i, -lost_x);
            real_accumulate(s->vy0, s->vy0_low, i, -lost_y);
            real_accumulate(s->vz0, s->vz0_low, i, -lost_z);
        }
    }
}

// The energy at a time, on worker 0.
static taut_energy energy_at(struct system *system, double time, const struct worker *worker)
{
    const struct evaluation evaluation = {time, system->state->step + 1, false};
    taut_energy energy = {0};
    // Ranks that hold only their parts measure together.
    const bool paused =
        !REAL_NAME(exchange_has_part)(system) && REAL_NAME(exchange_pause)(system, worker);
    REAL_NAME(energy_measure_without_fault)(system, evaluation, &energy, worker);
    REAL_NAME(exchange_resume)(system, paused, worker);
    stage_end(&system->clock, STAGE_WORK, worker);
    return energy;
}

// The work of friction and of moving spheres is known; the rest of the change of the energy, and
// the work of the surfaces within an implicit step, is the work of the projection. In an inelastic
// step it follows from the next sample of the energy, except for the energy that moving nodes puts
// into springs, gravity and gas.
static void count_projection(struct system *system, const taut_energy *before,
                             const taut_energy *after)
{
    const struct contacts *contacts = &system->contacts;
    double *done = system->work.done, taken = 0, driven = 0, solved = 0;
    for (size_t block = 0; block < contacts->blocks; block++) {
        taken += contacts->work[block][0];
        driven += contacts->work[block][1];
        solved += contacts->work[block][2];
    }
    done[WORK_FRICTION] += taken;
    done[WORK_DRIVES] += driven;
    if (system->work.closes) {
        const double lifted = (after->total - after->kinetic) - (before->total - before->kinetic);
        system->work.lifted += fmax(0, lifted);
        return;
    }
    done[WORK_PROJECTION] += driven - taken - (after->total - before->total) - solved;
    REAL_NAME(work_note_loss)(system, before->kinetic, taken);
}

void REAL_NAME(project)(struct system *system, double time, const struct worker *worker)
{
    if (!system->settings.projects)
        return;
    bool passed = false;
    const bool counts_work = system->settings.keep_energy_budget &&
                             REAL_NAME(colliders_near)(system, time, &passed, worker);
    if (passed)
        return;
    taut_energy before = {0}, after = {0};
    if (counts_work)
        before = energy_at(system, time, worker);
    REAL_NAME(colliders_project)(system, time, worker);
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
    if (counts_work)
        after = energy_at(system, time, worker);
    if (worker->index == 0) {
        const struct contacts *contacts = &system->contacts;
        if (counts_work)
            count_projection(system, &before, &after);
        if (memchr(contacts->moved, 1, contacts->blocks)) {
            system->state->forces_current = system->state->energy_current = false;
            REAL_NAME(surface_contact_displaced)(system);
        }
    }
}

static void sum_force_powers(const struct system *system, const void *unused, struct range range,
                             double sums[SUM_WIDTH])
{
    (void)unused;
    for (size_t i = range.first; i < range.end; i++)
        if (system->constants->inverse_mass[i] != 0)
            sums[0] += vec3_dot(node_force(system->state, i), node_velocity(system->state, i));
}

// h/2, s, by which velocities at the end of a step belong to a time before it, or 0.
static double velocity_lag(const struct settings *settings)
{
    return integrator_velocities_lag(settings->integrator) ? settings->dt / 2 : 0;
}

// The total energy, its kinetic part, and the term that was added because velocities lag, J; the
// power that shapes give, W.
struct motion_energy {
    double total, kinetic, lagging, given;
};

// The energy at the end of an explicit step, on worker 0, before nodes are lifted out of colliders
// or after. The velocities of symplectic Euler and of Verlet's methods belong to the middle of the
// step, so that h/2 F.v is added. Without that term the energy of symplectic Euler is wrong by h^2
// F^2 / 2m where a force presses a node on a surface, in the same direction in every step. Dampers
// and drag are left out of F: the budget has their powers before the step and after the cut, but
// not the energy that they would take from the motion that is cut. Surfaces, which take most of the
// time and change only beside nodes that are cut, are not part of it.
static struct motion_energy energy_of_motion(struct system *system, struct evaluation end,
                                             const struct worker *worker)
{
    REAL_NAME(surface_contact_pause)(system, true, worker);
    const taut_energy energy = energy_at(system, end.time, worker);
    REAL_NAME(surface_contact_pause)(system, false, worker);
    const double lag = velocity_lag(&system->settings);
    double powers[SUM_WIDTH], of_shapes[2] = {0, 0};
    REAL_NAME(shape_contact_normal_powers)(system, of_shapes, worker);
    if (!(lag > 0))
        return (struct motion_energy){energy.total, energy.kinetic, 0, of_shapes[1]};
    const struct fault found = system->fault; // an evaluation for the budget does not end a run
    REAL_NAME(surface_contact_pause)(system, true, worker);
    REAL_NAME(forces_evaluate_without_breaking)(system, end, worker);
    REAL_NAME(surface_contact_pause)(system, false, worker);
    REAL_NAME(sum_over_nodes)(system, sum_force_powers, NULL, powers, worker);
    const double dissipated = REAL_NAME(dissipated_power)(system, end.time, worker);
    if (worker->index == 0) {
        REAL_NAME(exchange_all_known)(system, true); // nothing has moved
        REAL_NAME(fault_put_back)(system, &found);
    }
    worker_barrier(worker);
    const double lagging = lag * (powers[0] + of_shapes[0] + dissipated);
    return (struct motion_energy){energy.total + lagging, energy.kinetic, lagging, of_shapes[1]};
}

// The terms beyond h/2 F.v are of the order of h times the frequency of a contact, over 3, times
// that term; at the steps of dt: auto this is a sixth for contacts as stiff as most are.
static const double BEYOND_LAG = 1.0 / 6;

// The trapezoid of the power of prescribed motions, which `drives` has, ends with the power after
// the displacement instead of before. Called by worker 0.
static void count_displacement(struct system *system, const struct motion_energy *before,
                               const struct motion_energy *after,
                               const struct surface_energy *surfaces)
{
    const double lagging = velocity_lag(&system->settings) * surfaces->power;
    const double given = before->given - after->given + surfaces->given;
    struct energy_budget *work = &system->work;
    work->done[WORK_DRIVES] += system->settings.dt / 2 * given;
    work->done[WORK_PROJECTION] += before->total - after->total + surfaces->energy + lagging;
    work->difference_sums[0] += BEYOND_LAG * fabs(before->lagging - after->lagging + lagging);
}

// Counts the work of the cut on nodes with a prescribed motion. Called by worker 0.
static void count_driven(struct system *system)
{
    const double driven = REAL_NAME(surface_contact_cut_work)(system);
    system->work.done[WORK_DRIVES] += driven;
    system->work.done[WORK_TRUNCATION] += driven;
}

// Counts the energy that the cut has taken from nodes by its impulses (contact/surface_cut_work.c).
// Called by worker 0.
static void count_impulses(struct system *system, double kinetic, const struct cut_work *work)
{
    system->work.done[WORK_TRUNCATION] += work->taken;
    // The damping of nodes that are cut is a part of that, and no error (note_kicks in xpbd.c).
    if (system->settings.integrator == INTEGRATOR_XPBD && !system->work.closes)
        system->work.difference_sums[0] -= work->kicks;
    // Energy that forces have added in the step and the cut has taken again moved no node.
    REAL_NAME(work_note_loss)(system, kinetic - work->kinetic + work->taken, work->taken);
}

// Called once surface_contact_passes has shown that something passes. In a run that has diverged
// everything passes through everything, and a cut would take seconds to minutes, in which no signal
// is handled. implicit_end.c counts the cuts of nodes in implicit steps.
static void cut_and_count(struct system *system, const struct worker *worker)
{
    const bool counts_work = system->settings.keep_energy_budget;
    if (system->is_hopeless && system->is_hopeless(system, worker)) {
        REAL_NAME(surface_contact_give_up)(system, worker);
        return;
    }
    const double kinetic = REAL_NAME(kinetic_energy)(system, worker);
    const bool by_impulses = counts_work && REAL_NAME(cut_work_begin)(system, worker);
    if (worker->index == 0)
        REAL_NAME(surface_contact_note_kinetic)(system, kinetic);
    REAL_NAME(surface_contact_cut)(system, worker);
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
    if (counts_work && worker->index == 0)
        count_driven(system);
    if (by_impulses) {
        const struct cut_work work = REAL_NAME(cut_work_end)(system, worker);
        if (worker->index == 0)
            count_impulses(system, kinetic, &work);
    }
    worker_barrier(worker);
}

// Cuts the motion of a step or substep; returns whether something had to be cut.
static bool limit_until(struct system *system, struct evaluation end, double begin, double step,
                        const struct worker *worker)
{
    if (worker->index == 0) // before the barriers of the functions that follow
        REAL_NAME(surface_contact_set_step)(system, begin, step);
    REAL_NAME(exchange_wanted_nodes)(system, worker);
    if (REAL_NAME(surface_contact_gave_up)(system)) { // in an earlier substep
        REAL_NAME(surface_contact_give_up)(system, worker);
        return false;
    }
    REAL_NAME(mesh_colliders_pose)(system, end.time, worker);
    const bool passes = REAL_NAME(surface_contact_passes)(system, end.time, worker);
    if (passes)
        cut_and_count(system, worker);
    return passes;
}

void REAL_NAME(limit_motion_until)(struct system *system, struct evaluation end, double begin,
                                   double step, const struct worker *worker)
{
    if (system->settings.cuts && !gas_has_collapsed(system))
        (void)limit_until(system, end, begin, step, worker);
}

// Counts the work of moving the nodes out of colliders as they have been moved.
static void count_lift(struct system *system, struct evaluation end, bool holds,
                       const struct worker *worker)
{
    REAL_NAME(surface_lift_undo)(system, worker);
    const struct motion_energy before = energy_of_motion(system, end, worker);
    REAL_NAME(surface_lift)(system, end.time, holds, worker);
    const struct motion_energy after = energy_of_motion(system, end, worker);
    const struct surface_energy surfaces =
        REAL_NAME(surface_contact_cut_energy)(system, true, worker);
    stage_end(&system->clock, STAGE_WORK, worker);
    if (worker->index == 0)
        count_displacement(system, &before, &after, &surfaces);
}

// The projection at the end of the step moves nodes onto surfaces, after the motion has been cut,
// and may move them through others. Where it would, the step is cut as if they had come there
// directly. In all other steps nodes are put back, and the projection moves them as if this test
// had not been made. If a cut leaves nodes inside a sphere, this is repeated. In the frame of a
// sphere that moves (surface_carriers.h) the start of the step leaves all nodes outside, and parts
// of the path there end inside, as those around a sphere at rest do; where that does not converge
// soon, they end where the path leads in.
static void limit_projected(struct system *system, struct evaluation end, bool has_cut,
                            const struct worker *worker)
{
    enum { LIFTS = 8, LIFTS_FREELY = 4 };
    bool passes = true;
    if (!REAL_NAME(surface_lift_needed)(system, end.time, worker) ||
        !REAL_NAME(surface_lift_begin)(system, has_cut, worker))
        return;
    for (int lifts = 0; passes; lifts++) {
        const bool holds = lifts >= LIFTS_FREELY;
        REAL_NAME(surface_lift)(system, end.time, holds, worker);
        passes = REAL_NAME(surface_contact_passes)(system, end.time, worker);
        if (!passes || lifts == LIFTS) {
            REAL_NAME(surface_lift_undo)(system, worker);
            break;
        }
        if (system->settings.keep_energy_budget)
            count_lift(system, end, holds, worker);
        cut_and_count(system, worker);
        passes = !REAL_NAME(surface_contact_gave_up)(system) &&
                 REAL_NAME(surface_lift_needed)(system, end.time, worker);
    }
    REAL_NAME(surface_lift_end)(system, !passes, worker);
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
}

void REAL_NAME(limit_motion)(struct system *system, const struct worker *worker)
{
    // Without barriers below, another worker may have finished the step already.
    if (!system->settings.cuts || gas_has_collapsed(system))
        return;
    const struct settings *settings = &system->settings;
    const struct evaluation end = REAL_NAME(evaluation_at_end)(system);
    const bool symplectic = settings->integrator == INTEGRATOR_SYMPLECTIC_EULER;
    const bool has_cut = limit_until(system, end, step_time(system, system->state->step),
                                     symplectic ? settings->position_step : settings->dt, worker);
    // Implicit steps are projected before they are cut.
    if (settings->projects && !integrator_is_implicit(settings->integrator) &&
        !REAL_NAME(surface_contact_gave_up)(system))
        limit_projected(system, end, has_cut, worker);
}

static void keep_velocity_and_count(struct system *system, const struct worker *worker)
{
    bool counts_work = system->settings.keep_energy_budget;
    double before = counts_work ? REAL_NAME(kinetic_energy)(system, worker) : 0;
    stage_end(&system->clock, STAGE_WORK, worker);
    keep_velocity(system, worker);
    stage_end(&system->clock, STAGE_INTEGRATE, worker); // all have written their nodes
    double after = counts_work ? REAL_NAME(kinetic_energy)(system, worker) : 0;
    if (worker->index == 0) {
        if (counts_work)
            REAL_NAME(work_note_loss)(system, before, before - after);
        system->work.done[WORK_KEEP] += before - after;
        system->state->forces_current = system->state->energy_current = false;
    }
    stage_end(&system->clock, STAGE_WORK, worker);
}

// Where drives change their velocities at the end of a step, so do all powers. The trapezoid of
// this step ends with the powers of the velocities before, and the next sample, at the same time,
// starts another with those after. Forces of the end of the step that are known already, as with
// Verlet integrators, are kept.
static void sample_before_jump(struct system *system, const struct worker *worker)
{
    if (!system->settings.keep_energy_budget ||
        !REAL_NAME(kinematic_swap_velocities)(system, worker))
        return;
    struct evaluation end = REAL_NAME(evaluation_at_end)(system);
    const struct fault found = system->fault; // an evaluation for the budget does not end a run
    const bool lags = system->state->half_kick_due, known = system->state->forces_current;
    end.powers = !known && !lags && REAL_NAME(work_is_measured)(system);
    worker_barrier(worker); // all have read the state
    if (!known)
        REAL_NAME(forces_evaluate_without_breaking)(system, end, worker);
    if (lags)
        REAL_NAME(verlet_complete_aside)(system, true, worker);
    if (end.powers)
        REAL_NAME(work_record)(system, end, false, worker);
    else
        REAL_NAME(work_sample)(system, end, worker);
    if (lags)
        REAL_NAME(verlet_complete_aside)(system, false, worker);
    if (worker->index == 0)
        REAL_NAME(fault_put_back)(system, &found);
    REAL_NAME(kinematic_swap_velocities)(system, worker);
}

// xpbd projects after each of its substeps.
void REAL_NAME(step_finish)(struct system *system, const struct worker *worker)
{
    if (gas_has_collapsed(system))
        return;
    const bool projects = system->settings.projects;
    // Worker 0 counts the step only after all have read its number: the projection ends with a
    // barrier.
    const double end = projects ? step_time(system, system->state->step + 1) : 0;
    if (projects && system->settings.integrator != INTEGRATOR_XPBD)
        REAL_NAME(project)(system, end, worker);
    else if (projects)
        worker_barrier(worker);
    if (integrator_is_implicit(system->settings.integrator))
        REAL_NAME(implicit_finish)(system, worker);
    if (worker->index == 0 && (projects || system->settings.keep_velocity != 1))
        REAL_NAME(exchange_all_known)(system, false);
    if (system->settings.keep_velocity != 1)
        keep_velocity_and_count(system, worker);
    // xpbd has done so already, unless velocities have changed since
    if (projects &&
        (system->settings.integrator != INTEGRATOR_XPBD || system->settings.keep_velocity != 1))
        REAL_NAME(colliders_store)(system, end, worker);
    sample_before_jump(system, worker);
    if (worker->index == 0)
        system->state->step++;
    if (!projects || system->state->start_known) // otherwise the last stage has just ended
        stage_count(&system->clock, STAGE_INTEGRATE, worker);
}
