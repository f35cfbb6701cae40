// The end of a step of the implicit integrators (implicit.c): motion is cut where surfaces would
// pass through each other, and the memory of friction changes. Numeric.
#include "integrate/implicit.h"

#include "contact/friction.h"
#include "contact/tangent.h"
#include "integrate/integrate.h"
#include "springs/exchange.h"
#include "state/reading.h"

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
        const struct split_difference change = split_subtract(x, positions, i);
        const struct split_difference kick = split_subtract(v, velocities, i);
        split_copy(x, positions, i);
        split_add(x, i, kept * change.x, kept * change.y, kept * change.z);
        split_copy(v, velocities, i);
        split_add(v, i, kept * kick.x, kept * kick.y, kept * kick.z);
    }
    worker_barrier(worker);
}

// Where surfaces would pass through each other, the step ends before they do: a fraction of the
// displacements and of the changes of velocity of all nodes is left, as if the step had been
// shorter. Unlike the cutting of single nodes this stretches no spring, and stores no energy. Where
// that would stop the motion, it is not done, and nodes are cut one by one. Returns the fraction, 1
// if nothing has changed.
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
        REAL_NAME(implicit_count_shortened)(system, fraction, worker);
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

// The force of friction has acted all along the step, also on nodes that have begun to touch in it;
// for the midpoint method, whose velocities at the end of a step may have changed sign, that is not
// known.
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
        REAL_NAME(implicit_note_uncut)(system, worker);
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
        REAL_NAME(implicit_count_cut)(system, fraction, worker);
    else if (counts_work && worker->index == 0)
        REAL_NAME(implicit_count_colliders)(system);
}
