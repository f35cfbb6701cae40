// The end of a step of the implicit integrators (implicit.c): motion is cut where surfaces would
// pass through each other, and the memory of friction changes. Numeric.
#include "integrate/implicit.h"

#include "contact/friction.h"
#include "contact/tangent.h"
#include "integrate/integrate.h"
#include "springs/exchange.h"
#include "state/reading.h"

// At the start of the step.
static struct split_vectors start_positions(const struct system *system)
{
    return system->settings.integrator == INTEGRATOR_BDF2 ? state_previous_positions(system->state)
                                                          : system->implicit->base;
}

static struct split_vectors start_velocities(const struct system *system)
{
    return system->settings.integrator == INTEGRATOR_BDF2 ? state_previous_velocities(system->state)
                                                          : system->implicit->velocity;
}

// ---- The energy budget
//
// Neither what a step would have without its cut at the end is a state of the run, nor are the
// forces of its equations, which act there (docs/numerics.md, contact with implicit integrators).
//
// Nodes that are cut one by one. On the way w'' of a node that is left, its forces have done (F +
// F'').w'' / 2, of those at the start and after the cut; whatever its kinetic energy has not gained
// of that, the cut has taken, or the damping of the method. A node that stays where it was, pressed
// on a surface, has a work of 0.
//
// A step that is shortened to a fraction f as a whole, with k = v' - v: of the change of the
// kinetic energy without the cut f would be left, and is, but for f (1 - f) m k^2 / 2, since k.v is
// in proportion to f, and k^2 to its square.

// What a shortened step has lost of a node, over its mass.
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

// Before it is shortened.
static void count_shortened(struct system *system, double fraction, const struct worker *worker)
{
    double sums[SUM_WIDTH];
    REAL_NAME(sum_over_nodes)(system, sum_shortened, &fraction, sums, worker);
    if (worker->index == 0)
        system->work.done[WORK_TRUNCATION] += sums[0];
}

// Before single nodes are cut.
static void keep_velocities(struct system *system, const struct worker *worker)
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

// Of nodes that have been cut one by one, with the forces after that, and the sum of m k^2. What
// they have lost by the shortening of the step is counted already.
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
        const vec3 way = vec3_make((double)moved.x, (double)moved.y, (double)moved.z);
        const vec3 forces = vec3_add(node_vector(it->start_force, i), node_force(s, i));
        const vec3 kick = vec3_scale(1 / fraction, vec3_subtract(uncut, start));
        sums[1] += mass * vec3_dot(kick, kick);
        sums[0] +=
            vec3_dot(forces, way) / 2 - mass * ((vec3_dot(end, end) - vec3_dot(start, start)) / 2 +
                                                lost_by_shortening(fraction, kick));
    }
}

// After a step that has been cut, of which a fraction is left. Beside what they do in the cut
// itself, meshes and spheres that move have done the trapezoid of their powers, as the forces of
// the nodes are those of a trapezoid. Forces are those with which the next step begins.
static void count_cut(struct system *system, double fraction, const struct worker *worker)
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
        // The damping of nodes that are cut is a part of it, and no error (note_kicks).
        if (system->settings.integrator == INTEGRATOR_IMPLICIT_EULER && !work->closes)
            work->difference_sums[0] -= sums[1];
        work->difference_sums[0] += fabs(sums[0]) / 2;
    }
    stage_end(&system->clock, STAGE_WORK, worker);
}

// After a step that has not: by the impulse that its equations have from them. bdf2 has a third of
// what the step before has added to velocities.
static void count_colliders(struct system *system)
{
    const struct collider_powers *it = &system->implicit->colliders;
    const double h = system->settings.dt;
    const double power = collider_power_so_far(it);
    const bool two = system->settings.integrator == INTEGRATOR_BDF2 && it->g < h;
    REAL_NAME(work_count_colliders)
    (system, two ? it->g * power + system->work.collider_work[0] / 3 : h * power);
}

// ---- The cut

// x := x0 + fraction (x - x0), and v likewise, from the start of the step.
static void keep_fraction(struct system *system, double fraction, const struct worker *worker)
{
    struct state *s = system->state;
    const struct split_vectors positions = start_positions(system),
                               velocities = start_velocities(system);
    const struct split_vectors x = state_positions(s), v = state_velocities(s);
    const struct range share = node_share(system, worker);
    const real kept = (real)fraction;
    for (size_t i = share.first; i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        const struct split_difference way = split_subtract(x, positions, i);
        const struct split_difference kick = split_subtract(v, velocities, i);
        split_copy(x, positions, i);
        split_add(x, i, kept * way.x, kept * way.y, kept * way.z);
        split_copy(v, velocities, i);
        split_add(v, i, kept * kick.x, kept * kick.y, kept * kick.z);
    }
    worker_barrier(worker);
}

// Where surfaces would pass through each other, the step ends before they do: a fraction of the
// displacements and of the changes of velocity of all nodes is left, as if the step had been
// shorter. Unlike the cutting of single nodes this stretches no spring, and stores no energy. Not
// where that would stop the motion: these nodes are cut. Returns the fraction, 1 if nothing has
// changed.
static double shorten(struct system *system, const struct worker *worker)
{
    const double least = 0.02;
    const struct evaluation end = {step_time(system, system->state->step + 1),
                                   system->state->step + 1, false};
    if (!REAL_NAME(surface_contact_passes)(system, end.time, worker))
        return 1;
    const double fraction = REAL_NAME(surface_contact_fraction)(system, worker);
    if (!(fraction < 1 && fraction >= least))
        return 1;
    if (system->settings.keep_energy_budget)
        count_shortened(system, fraction, worker);
    const double kinetic = REAL_NAME(kinetic_energy)(system, worker);
    if (worker->index == 0)
        REAL_NAME(surface_contact_note_kinetic)(system, kinetic);
    keep_fraction(system, fraction, worker);
    if (worker->index == 0) {
        REAL_NAME(surface_contact_count_cut)(system);
        system->state->forces_current = system->state->energy_current = false;
    }
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
    return fraction;
}

// The force of friction has acted all along the step, also on what has begun to touch in it; of the
// midpoint method, whose velocities at the end of a step may have turned round, that is not known.
static void update_friction(struct system *system, const struct worker *worker)
{
    const double dt = system->settings.dt, first = is_midpoint(system) ? 0 : dt;
    const bool surfaces = system->surface_contact && REAL_NAME(surface_contact_rubs)(system);
    if (!system->contacts.friction_assumptions && !surfaces)
        return; // another worker may have finished the step already
    const double time = step_time(system, system->state->step + 1);
    const struct friction_step step = {.time = time,
                                       .elapsed = dt,
                                       .first = first,
                                       .g = system->implicit->colliders.g,
                                       .applied = system->implicit->revised};
    REAL_NAME(friction_update_at)(system, step, worker);
}

// A cut changes positions and velocities, which the step has not, so that the two states of bdf2 no
// longer belong together; and the midpoint method would make nodes behind it bounce. Returns
// whether there was one, and the fraction of the step that is left.
static bool cut_step(struct system *system, double *fraction, const struct worker *worker)
{
    const double end = step_time(system, system->state->step + 1);
    const struct surface_cuts before = REAL_NAME(surface_contact_cuts)(system);
    REAL_NAME(mesh_colliders_pose)(system, end, worker);
    *fraction = shorten(system, worker);
    if (system->settings.keep_energy_budget)
        keep_velocities(system, worker);
    REAL_NAME(limit_motion)(system, worker);
    worker_barrier(worker); // the first has counted
    const struct surface_cuts after = REAL_NAME(surface_contact_cuts)(system);
    const bool cut = after.cuts > before.cuts;
    worker_barrier(worker); // all have read them
    if (cut && after.unresolved == before.unresolved &&
        REAL_NAME(any_sphere_moves)(system, RESPONSE_PROJECT))
        REAL_NAME(surface_contact_count_sunk)(system, end, worker);
    if (worker->index == 0 && cut)
        system->state->previous_state_from = system->state->step + (is_midpoint(system) ? 2 : 1);
    worker_barrier(worker);
    return cut;
}

void REAL_NAME(implicit_finish)(struct system *system, const struct worker *worker)
{
    if (gas_has_collapsed(system))
        return;
    REAL_NAME(friction_end)(system, worker);
    double fraction = 1;
    const bool counts_work = system->surface_contact && system->settings.keep_energy_budget;
    const bool cut = system->settings.cuts && cut_step(system, &fraction, worker);
    update_friction(system, worker);
    if (worker->index == 0 && system->settings.keep_energy_budget && !cut)
        REAL_NAME(work_count_step)(system, system->implicit->times, system->implicit->stage_powers);
    if (counts_work && cut)
        count_cut(system, fraction, worker);
    else if (counts_work && worker->index == 0)
        count_colliders(system);
}
