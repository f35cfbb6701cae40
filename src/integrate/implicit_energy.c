// The energy of the steps of the implicit integrators (implicit.c): their part of the energy
// budget, and whether a step gains energy. Numeric.
#include "integrate/implicit.h"

#include "contact/tangent.h"
#include "integrate/integrate.h"
#include "springs/exchange.h"
#include "springs/shares.h"
#include "state/reading.h"

// ---- The energy budget: quantities that are stored during a step

void REAL_NAME(implicit_note_start)(struct system *system, const struct worker *worker)
{
    const struct state *s = system->state;
    const struct node_vectors to = system->implicit->start_force;
    const struct range share = node_share(system, worker);
    if (!keeps_cuts(system))
        return;
    for (size_t i = share.first; i < share.end; i++) {
        to.x[i] = s->fx[i];
        to.y[i] = s->fy[i];
        to.z[i] = s->fz[i];
    }
    const double power = REAL_NAME(contact_colliders_power)(system, worker);
    if (worker->index == 0)
        system->implicit->colliders =
            (struct collider_powers){.g = system->settings.dt, .start = power};
}

// Vibrations have other powers at the
// ends of steps that are long beside them, 1 + (omega h / 2)^2 times those of the middle.
void REAL_NAME(implicit_note_stage)(struct system *system, double time, const struct worker *worker)
{
    struct implicit *it = system->implicit;
    if (!system->settings.keep_energy_budget)
        return;
    REAL_NAME(work_measure_stage)
    (system, time, it->stage_powers, worker);
    if (worker->index == 0)
        it->times = POWERS_AT_STAGE;
}

void REAL_NAME(implicit_note_euler)(struct system *system, const struct worker *worker)
{
    if (worker->index == 0)
        system->implicit->times = POWERS_AT_END;
}

// The velocities of the first system of a step, or of its repetition, are those of its start: for
// bdf2, whose v* differs from them, the equations lack a third of the step before.
void REAL_NAME(implicit_forget_colliders)(struct system *system, struct stage_rule stage,
                                          const struct worker *worker)
{
    const bool two = system->settings.integrator == INTEGRATOR_BDF2 && !is_euler(system, stage);
    struct collider_powers *it = &system->implicit->colliders;
    if (worker->index != 0)
        return;
    it->g = stage.g;
    it->of_system = it->applied = system->implicit->revised = 0;
    it->before = two ? -system->work.collider_work[0] / (3 * stage.g) : 0;
}

// Measures the power of moving meshes and spheres in a system. Their impulse on the nodes is that
// of the forces of the system. The forces at its solution differ from these where contacts are
// stiff, as they turn and end within a step. The barrier of the next function keeps other workers
// from changing anything before this is done.
void REAL_NAME(implicit_note_colliders)(struct system *system, double g,
                                        const struct worker *worker)
{
    struct implicit *it = system->implicit;
    if (worker->index != 0 || !keeps_cuts(system))
        return;
    double powers[2];
    REAL_NAME(surface_tangent_collider_powers)(system, g, it->solver.solution, powers);
    it->colliders.before = collider_power_so_far(&it->colliders);
    it->colliders.of_system = powers[0] + powers[1];
    it->colliders.applied = 0;
}

void REAL_NAME(implicit_note_impact)(struct system *system, bool known, const struct worker *worker)
{
    const bool noted = system->work.closes; // the previous step had an impact
    worker_barrier(worker);                 // all have read the flag
    if (!noted && !known) {
        REAL_NAME(kinematic_set_positions)(system, 0, worker);
        REAL_NAME(work_note_start)(system, worker);
    }
    if (worker->index == 0) {
        if (!noted && known)
            REAL_NAME(work_note_energy)(system, system->implicit->start.energy.total);
        REAL_NAME(work_note_impact)(system);
    }
    worker_barrier(worker);
}

static void sum_kicks(const struct system *system, const void *unused, struct range range,
                      double sums[SUM_WIDTH])
{
    (void)unused;
    const struct state *s = system->state;
    const struct split_vectors start = system->implicit->velocity;
    const bool mixed = state_is_mixed(s);
    for (size_t i = range.first; i < range.end; i++) {
        vec3 kick = vec3_make((double)s->vx[i] - (double)start.high.x[i],
                              (double)s->vy[i] - (double)start.high.y[i],
                              (double)s->vz[i] - (double)start.high.z[i]);
        if (mixed)
            kick = vec3_subtract(node_velocity(s, i), split_vector(start, i));
        sums[0] += (double)system->implicit->solver.mass[i] * vec3_dot(kick, kick);
    }
}

// Counts m |v' - v|^2 of a step from v to v', the order of the energy that implicit Euler removes,
// for the verdict on the energy budget (cli/run_report.c). The change by an impact is no error.
void REAL_NAME(implicit_note_kicks)(struct system *system, const struct worker *worker)
{
    if (!system->settings.keep_energy_budget)
        return;
    double sums[SUM_WIDTH];
    const struct split_vectors start = system->implicit->velocity;
    REAL_NAME(shares_fill)(system, start.high, worker);
    if (state_is_mixed(system->state))
        REAL_NAME(shares_fill)(system, start.low, worker);
    REAL_NAME(sum_over_nodes)(system, sum_kicks, NULL, sums, worker);
    if (worker->index == 0 && !system->work.closes)
        system->work.difference_sums[0] += sums[0];
    stage_end(&system->clock, STAGE_WORK, worker);
}

// ---- The energy budget: the end of a step
//
// The state that a step would end in without its cut is no state of the run, nor are the forces of
// its equations, which act in that state, forces of the run (docs/numerics.md, contact with
// implicit integrators).
//
// For nodes that are cut one by one: along the displacement w'' that is left of a node's motion,
// its forces at the start and after the cut have done the work (F + F'').w'' / 2; the part of it
// that its kinetic energy has not gained was taken by the cut, or by the damping of the method. A
// node that stays where it was, pressed on a surface, has a work of 0.
//
// For a step that is shortened to a fraction f as a whole, with k = v' - v: the fraction f of the
// change of the kinetic energy without the cut would be left, and is, except for f (1 - f) m k^2 /
// 2, since k.v is in proportion to f, and k^2 to its square.

// The energy of a node that a shortened step has lost, over its mass.
static double lost_by_shortening(double fraction, vec3 kick)
{
    return fraction * (1 - fraction) * vec3_dot(kick, kick) / 2;
}

static void sum_shortened(const struct system *system, const void *argument, struct range range,
                          double sums[SUM_WIDTH])
{
    const double *fraction = argument;
    const struct split_vectors start = start_velocities(system);
    for (size_t i = range.first; i < range.end; i++) {
        const double mass = (double)system->implicit->solver.mass[i];
        const vec3 kick = vec3_subtract(node_velocity(system->state, i), split_vector(start, i));
        sums[0] += mass * lost_by_shortening(*fraction, kick);
    }
}

void REAL_NAME(implicit_count_shortened)(struct system *system, double fraction,
                                         const struct worker *worker)
{
    double sums[SUM_WIDTH];
    REAL_NAME(sum_over_nodes)(system, sum_shortened, &fraction, sums, worker);
    if (worker->index == 0)
        system->work.done[WORK_TRUNCATION] += sums[0];
}

void REAL_NAME(implicit_note_uncut)(struct system *system, const struct worker *worker)
{
    const struct state *s = system->state;
    const struct node_vectors to = system->implicit->uncut;
    const struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        to.x[i] = s->vx[i];
        to.y[i] = s->vy[i];
        to.z[i] = s->vz[i];
    }
}

// Sums the energy taken from nodes that have been cut one by one, with the forces after that, and
// the sum of m k^2. Their loss by the shortening of the step is counted already.
static void sum_cut(const struct system *system, const void *argument, struct range range,
                    double sums[SUM_WIDTH])
{
    const double fraction = *(const double *)argument;
    const struct state *s = system->state;
    const struct implicit *it = system->implicit;
    const struct split_vectors x = start_positions(system), v = start_velocities(system);
    for (size_t i = range.first; i < range.end; i++) {
        const double mass = (double)it->solver.mass[i];
        const vec3 uncut = node_vector(it->uncut, i);
        if (!(mass > 0) || (s->vx[i] == it->uncut.x[i] && s->vy[i] == it->uncut.y[i] &&
                            s->vz[i] == it->uncut.z[i]))
            continue;
        const vec3 start = split_vector(v, i), end = node_velocity(s, i);
        const struct split_difference moved = split_subtract(state_positions(s), x, i);
        const vec3 motion = vec3_make((double)moved.x, (double)moved.y, (double)moved.z);
        const vec3 forces = vec3_add(node_vector(it->start_force, i), node_force(s, i));
        const vec3 kick = vec3_scale(1 / fraction, vec3_subtract(uncut, start));
        sums[1] += mass * vec3_dot(kick, kick);
        sums[0] += vec3_dot(forces, motion) / 2 -
                   mass * ((vec3_dot(end, end) - vec3_dot(start, start)) / 2 +
                           lost_by_shortening(fraction, kick));
    }
}

// Beside their work in the cut itself, moving meshes and spheres have done the work of the
// trapezoid of their powers, as the forces of the nodes are those of a trapezoid. Forces are those
// with which the next step begins.
void REAL_NAME(implicit_count_cut)(struct system *system, double fraction,
                                   const struct worker *worker)
{
    const struct evaluation end = REAL_NAME(evaluation_at_end)(system);
    const struct fault found = system->fault; // an evaluation for the budget does not end a run
    double sums[SUM_WIDTH];
    worker_barrier(worker); // all have read the state
    REAL_NAME(forces_evaluate_without_breaking)(system, end, worker);
    const double power = REAL_NAME(contact_colliders_power)(system, worker);
    REAL_NAME(sum_over_nodes)(system, sum_cut, &fraction, sums, worker);
    if (worker->index == 0) {
        struct energy_budget *work = &system->work;
        REAL_NAME(fault_put_back)(system, &found);
        REAL_NAME(work_count_colliders)
        (system, system->settings.dt * (system->implicit->colliders.start + power) / 2);
        work->done[WORK_TRUNCATION] += sums[0];
        // The damping of nodes that are cut is a part of it, and no error (implicit_note_kicks).
        if (system->settings.integrator == INTEGRATOR_IMPLICIT_EULER && !work->closes)
            work->difference_sums[0] -= sums[1];
        work->difference_sums[0] += fabs(sums[0]) / 2;
    }
    stage_end(&system->clock, STAGE_WORK, worker);
}

// Counts the work of colliders by their impulse in the equations of the step. bdf2 has a third of
// the change of velocities in the step before.
void REAL_NAME(implicit_count_colliders)(struct system *system)
{
    const struct collider_powers *it = &system->implicit->colliders;
    const double h = system->settings.dt;
    const double power = collider_power_so_far(it);
    const bool two = system->settings.integrator == INTEGRATOR_BDF2 && it->g < h;
    REAL_NAME(work_count_colliders)
    (system, two ? it->g * power + system->work.collider_work[0] / 3 : h * power);
}

// ---- Whether a step gains energy

// The energy at the end of the last step is that at the start of this one unless something has
// changed in between: springs may break or yield, and gas may be pumped in.
void REAL_NAME(implicit_reuse_energy)(struct system *system)
{
    struct implicit *it = system->implicit;
    const bool changes = plan_fragile_total(system->plan) > 0 || topology_has_gas(system->topology);
    it->start_known = system->state->energy_current && !changes;
    if (it->start_known)
        it->start = it->end;
    system->state->energy_current = false;
}

// m (v^2 + (h gravity)^2) / 2, v being v*.
static void sum_motion(const struct system *system, const void *argument, struct range range,
                       double sums[SUM_WIDTH])
{
    const double added = *(const double *)argument;
    const struct implicit *it = system->implicit;
    for (size_t i = range.first; i < range.end; i++) {
        const vec3 v = node_vector(it->velocity.high, i);
        sums[0] +=
            0.5 * (double)it->solver.mass[i] * (v.x * v.x + v.y * v.y + v.z * v.z + added * added);
    }
}

static double sum_over_nodes(struct system *system, chunk_sum sum, const void *argument,
                             const struct worker *worker)
{
    double sums[SUM_WIDTH];
    REAL_NAME(sum_over_chunks)
    (system, (size_t)system->state->nodes, sum, argument, sums, worker);
    return sums[0];
}

double REAL_NAME(implicit_energy_of_motion)(struct system *system, const struct worker *worker)
{
    const double added = system->settings.dt * vec3_length(system->topology->environment.gravity);
    return sum_over_nodes(system, sum_motion, &added, worker);
}

static bool moves_nodes(const struct system *system)
{
    return system->topology->motion_count > 0 || system->kinematic_targets.count > 0;
}

// Measures the energy and the external power at the start of `step`, which is the present step or
// the next one, with the gas of the present one.
static void sample_energy(struct system *system, uint64_t step, struct energy_sample *sample,
                          const struct worker *worker)
{
    const struct evaluation evaluation = {step_time(system, step), system->state->step + 1, false};
    const struct scene_wind *wind = &system->topology->environment.wind;
    struct external_power external = {0, 0};
    const bool moves = moves_nodes(system) || REAL_NAME(mesh_colliders_move)(system) ||
                       REAL_NAME(any_sphere_moves)(system, RESPONSE_CONTACT);
    if (moves || (wind->present && wind->law == WIND_NODE))
        REAL_NAME(forces_evaluate_without_breaking)(system, evaluation, worker);
    if (moves || wind->present || REAL_NAME(any_sphere_moves)(system, RESPONSE_PENALTY))
        external = REAL_NAME(external_power)(system, evaluation.time, worker);
    REAL_NAME(energy_measure_without_fault)(system, evaluation, &sample->energy, worker);
    if (worker->index == 0)
        sample->external = external;
    worker_barrier(worker);
}

static void swap(real *a, real *b, struct range nodes)
{
    for (size_t i = nodes.first; a && i < nodes.end; i++) {
        const real kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

static void swap_vectors(struct node_vectors a, struct node_vectors b, struct range nodes)
{
    swap(a.x, b.x, nodes);
    swap(a.y, b.y, nodes);
    swap(a.z, b.z, nodes);
}

// Exchanges the state and that at the start of the step.
static void swap_with_start(struct system *system, const struct worker *worker)
{
    const struct split_vectors x = state_positions(system->state);
    const struct split_vectors v = state_velocities(system->state);
    const struct split_vectors positions = start_positions(system),
                               velocities = start_velocities(system);
    struct range share = node_share(system, worker);
    swap_vectors(x.high, positions.high, share);
    swap_vectors(x.low, positions.low, share);
    swap_vectors(v.high, velocities.high, share);
    swap_vectors(v.low, velocities.low, share);
    worker_barrier(worker);
}

void REAL_NAME(implicit_ensure_start_energy)(struct system *system, const struct worker *worker)
{
    struct implicit *it = system->implicit;
    if (it->start_known)
        return;
    swap_with_start(system, worker); // all have read the flag when this returns
    sample_energy(system, system->state->step, &it->start, worker);
    swap_with_start(system, worker);
    if (worker->index == 0)
        it->start_known = true;
    worker_barrier(worker);
}

static void sum_driven(const struct system *system, const void *argument, struct range range,
                       double sums[SUM_WIDTH])
{
    (void)argument;
    const struct contact_constraints *all = system->contacts.constraints;
    for (size_t i = range.first; i < range.end; i++)
        sums[0] += all->nodes[i].count > 0 ? all->work[i][1] : 0;
}

// An upper estimate of the external work of the step, J, with a tenth added for forces that change
// within the step. In a step of implicit Euler the forces at its end do the work; for the midpoint
// method the mean of both ends is used, which averages over springs at a driven node that vibrate
// from step to step.
static double external_work(struct system *system, struct stage_rule stage,
                            const struct worker *worker)
{
    const struct implicit *it = system->implicit;
    const struct external_power *start = &it->start.external, *end = &it->end.external;
    const double more = 0.1, h = system->settings.dt;
    const bool middle = is_midpoint(system) && !is_euler(system, stage);
    const double work = middle ? h * (start->power + end->power) / 2 : h * end->power;
    double driven = 0;
    if (system->contacts.constraints->present &&
        REAL_NAME(any_sphere_moves)(system, RESPONSE_PROJECT))
        driven = sum_over_nodes(system, sum_driven, NULL, worker);
    return driven + work + more * (fabs(driven) + fabs(work)) + end->moved_kinetic -
           start->moved_kinetic;
}

bool REAL_NAME(implicit_gains_energy)(struct system *system, struct stage_rule stage,
                                      const struct worker *worker)
{
    const double part = is_midpoint(system) ? 1e-3 : 1e-4, digits = 8 * (double)REAL_EPSILON;
    const taut_energy *start = &system->implicit->start.energy;
    const taut_energy *end = &system->implicit->end.energy;
    REAL_NAME(kinematic_set_positions)(system, system->settings.dt, worker);
    sample_energy(system, system->state->step + 1, &system->implicit->end, worker);
    // With low parts heights are rounded as in double, and their change as forces are.
    const bool mixed = state_is_mixed(system->state);
    const double height = mixed ? fabs(end->gravity - start->gravity) : fabs(start->gravity);
    const double most =
        start->total + external_work(system, stage, worker) +
        part * (REAL_NAME(implicit_energy_of_motion)(system, worker) + start->elastic) +
        digits * (start->elastic + height) + (mixed ? 8 * DBL_EPSILON * fabs(start->gravity) : 0);
    return !(end->total <= most);
}
