// All forces on nodes, in the order in which they are summed.
#include "forces/forces.h"

#include <assert.h>

#include "base/sort.h"
#include "springs/exchange.h"

// The nodes of both ranges.
static struct range common_nodes(struct range a, struct range b)
{
    const size_t first = max_u64(a.first, b.first), end = min_u64(a.end, b.end);
    return first < end ? (struct range){first, end} : (struct range){first, first};
}

// The nodes whose forces this rank computes, which include its own.
static struct range computed_nodes(const struct system *system)
{
    if (!system->exchange)
        return (struct range){0, (size_t)system->state->nodes};
    const struct plan_part *part = REAL_NAME(exchange_part)(system->exchange);
    return (struct range){(size_t)part->first_computed, (size_t)part->end_computed};
}

static void clear_nodes(struct system *system, struct range nodes, const struct worker *worker)
{
    struct state *s = system->state;
    struct range share = worker_share(worker, nodes.end - nodes.first, 16);
    for (size_t i = nodes.first + share.first; i < nodes.first + share.end; i++)
        s->fx[i] = s->fy[i] = s->fz[i] = 0;
}

// If only springs act on the nodes of grids, their force arrays need not be 0, because they are not
// read.
static void clear_forces(struct system *system, const struct worker *worker)
{
    const struct state *s = system->state;
    const bool loaded = sweep_is_loaded(system);
    if (s->forces_zero && (s->grid_forces_zero || !loaded))
        return;
    const struct range computed = computed_nodes(system);
    struct range nodes;
    if (loaded)
        clear_nodes(system, computed, worker);
    else
        for (size_t i = 0; (nodes = springs_off_grid_nodes(system, i)).end > 0; i++)
            clear_nodes(system, common_nodes(nodes, computed), worker);
    stage_end(&system->clock, STAGE_GRAVITY_DRAG, worker);
}

// The drag of bodies in proportion to their masses. That of the air is the same at every node, and
// added where the forces on a node are completed.
static void add_mass_drag(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    if (!system->topology->any_mass_drag)
        return;
    const struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end;) {
        const struct node_masses masses = topology_masses(system->topology, i, share.end);
        for (; i < masses.end && masses.mass_drag > 0; i++) {
            const real drag = (real)(masses.mass_drag * mass_in(&masses, i));
            s->fx[i] -= drag * s->vx[i];
            s->fy[i] -= drag * s->vy[i];
            s->fz[i] -= drag * s->vz[i];
        }
        i = (size_t)masses.end;
    }
    stage_end(&system->clock, STAGE_GRAVITY_DRAG, worker);
}

// `count` nodes, starting at node `first` of the range.
static void finish_chunk(const struct system *system, struct range nodes, size_t first,
                         size_t count, enum sweep_finish finish, struct power_sums *powers,
                         const struct worker *worker)
{
    first += nodes.first;
    const struct finish_range range = {.first = (int64_t)first,
                                       .count = (long)count,
                                       .loaded = true,
                                       .clears = true,
                                       .powers = powers};
    REAL_NAME(pressure_apply)(system, (struct range){first, first + count});
    system->kernels->grid_finish(system, &range, finish);
    if (finish == SWEEP_SYMPLECTIC_EULER)
        REAL_NAME(motion_note)(system, first, count, worker->index);
}

// A worker's share of whole chunks. They are parts of system->powers, from `part` on. Each of
// several ranks has whole chunks (PART_NODES).
static void finish_chunks(const struct system *system, struct range nodes, size_t part,
                          enum sweep_finish finish, const struct worker *worker)
{
    _Static_assert((int)PART_NODES % (int)POWER_NODES == 0, "parts have whole chunks");
    const size_t count = nodes.end - nodes.first;
    const struct range own = system->exchange ? common_nodes(nodes, system->own_nodes) : nodes;
    if (own.first == own.end)
        return;
    const size_t before = (own.first - nodes.first) / POWER_NODES;
    struct range share = worker_share(worker, power_chunks(own.end - nodes.first) - before, 1);
    for (size_t chunk = before + share.first; chunk < before + share.end; chunk++) {
        const size_t at = chunk * POWER_NODES, left = count - at;
        struct power_sums sums;
        power_sums_start(system, &sums);
        finish_chunk(system, nodes, at, left < POWER_NODES ? left : POWER_NODES, finish, &sums,
                     worker);
        power_sums_store(&sums, system->powers[part + chunk]);
    }
}

// Completes nodes of bodies that are not grids: gas that acts after the springs, gravity and drag,
// and the step; in blocks of nodes, so that the data of one loop is in the cache for the next.
static void finish_loose(struct system *system, enum sweep_finish finish, bool powers,
                         const struct worker *worker)
{
    enum { NODES_AT_ONCE = 8192 };
    size_t part = system->power_parts.loose;
    struct range nodes;
    for (size_t i = 0; (nodes = springs_off_grid_nodes(system, i)).end > 0; i++) {
        const size_t all = nodes.end - nodes.first;
        if (powers) {
            finish_chunks(system, nodes, part, finish, worker);
            part += power_chunks(all);
            continue;
        }
        const struct range own = system->exchange ? common_nodes(nodes, system->own_nodes) : nodes;
        struct range share = worker_share(worker, own.end - own.first, 16);
        for (size_t at = share.first; at < share.end; at += NODES_AT_ONCE) {
            size_t count = share.end - at < NODES_AT_ONCE ? share.end - at : NODES_AT_ONCE;
            finish_chunk(system, own, at, count, finish, NULL, worker);
        }
    }
}

// Adds gravity and drag, and makes the step, for all nodes that have not been moved yet.
static void finish_nodes(struct system *system, enum sweep_finish finish, bool powers,
                         const struct worker *worker)
{
    REAL_NAME(springs_reduce)(system, finish, powers, worker);
    finish_loose(system, finish, powers, worker);
    if (worker->index == 0) {
        REAL_NAME(exchange_all_known)(system, false); // also if they move only after this
        system->state->forces_zero = !finish_stores_forces(finish);
        system->state->grid_forces_zero = !finish_stores_forces(finish) && sweep_is_loaded(system);
    }
    stage_end(&system->clock, finish_stores_forces(finish) ? STAGE_GRAVITY_DRAG : STAGE_INTEGRATE,
              worker);
}

// The finish for forces in which gas has no volume left: nodes stay where they are, and Verlet
// velocities that lack a half kick are completed, as at the end of a run of steps.
static enum sweep_finish without_motion(enum sweep_finish finish)
{
    const bool verlet = finish == SWEEP_VELOCITY_VERLET || finish == SWEEP_VERLET;
    return finish_stores_forces(finish) ? finish : verlet ? SWEEP_HALF_KICK : SWEEP_FORCES;
}

// How much of the present step has passed at a time, from 0 to 1.
static double elapsed_part(const struct system *system, double time)
{
    return (time - step_time(system, system->state->step)) / system->settings.dt;
}

// The sums start with rare forces and end with gravity and drag. Springs of grids come directly
// before these, because their nodes may be moved as soon as their force is complete. Forces that
// the scene does not have cost no barrier: in a short step barriers take much of the time.
static void evaluate(struct system *system, struct evaluation evaluation, bool breaking,
                     enum sweep_finish finish, const struct worker *worker)
{
    assert(!evaluation.powers || finish_may_measure(finish));
    const struct wind_now wind = REAL_NAME(wind_at)(system->topology, evaluation.time);
    const bool everything = system->exchange && system->surface_contact;
    const bool halo_early = system->exchange && !everything && exchange_halo_is_early(system);
    if (everything)
        REAL_NAME(exchange_wanted_nodes)(system, worker);
    else if (system->exchange)
        REAL_NAME(exchange_halo_start)(system, worker);
    if (halo_early && system->settings.penalises)
        REAL_NAME(exchange_halo_end)(system, worker);
    REAL_NAME(contacts_find)(system, evaluation.time, worker);
    REAL_NAME(surface_contact_find)(system, evaluation, worker);
    clear_forces(system, worker);
    add_mass_drag(system, worker);
    if (halo_early && !system->settings.penalises)
        REAL_NAME(exchange_halo_end)(system, worker);
    REAL_NAME(wind_add)(system, evaluation, finish, worker);
    REAL_NAME(pressure_add)(system, evaluation, worker);
    REAL_NAME(elements_add)(system, false, evaluation.powers, worker);
    REAL_NAME(colliders_add)(system, evaluation.time, worker);
    REAL_NAME(surface_contact_add)(system, worker);
    if (breaking)
        REAL_NAME(springs_break)
    (system, elapsed_part(system, evaluation.time), worker);
    if (evaluation.powers)
        REAL_NAME(work_measure_others)(system, evaluation, worker);
    REAL_NAME(springs_add)(system, evaluation.powers, worker);
    REAL_NAME(pressure_after_springs)(system, evaluation, worker);
    if (gas_has_collapsed(system)) // all volumes are known before any node moves
        finish = without_motion(finish);
    REAL_NAME(springs_sweep)(system, &wind, finish, evaluation.powers, worker);
    finish_nodes(system, finish, evaluation.powers, worker);
}

void REAL_NAME(forces_outside)(struct system *system, struct evaluation evaluation,
                               const struct worker *worker)
{
    struct range share = node_share(system, worker);
    if (worker->index == 0)
        system->state->forces_zero = system->state->grid_forces_zero = false;
    clear_nodes(system, (struct range){0, (size_t)system->state->nodes}, worker);
    stage_end(&system->clock, STAGE_GRAVITY_DRAG, worker);
    REAL_NAME(wind_add)(system, evaluation, SWEEP_FORCES, worker);
    stage_end(&system->clock, STAGE_WIND, worker);
    REAL_NAME(pressure_add)(system, evaluation, worker);
    stage_end(&system->clock, STAGE_PRESSURE, worker);
    REAL_NAME(elements_add)(system, true, false, worker);
    REAL_NAME(surface_contact_add)(system, worker);
    struct finish_range range = {
        .first = (int64_t)share.first, .count = (long)(share.end - share.first), .loaded = true};
    if (range.count > 0)
        system->kernels->grid_finish(system, &range, SWEEP_FORCES);
}

void REAL_NAME(forces_evaluate)(struct system *system, struct evaluation evaluation,
                                const struct worker *worker)
{
    evaluate(system, evaluation, true, SWEEP_FORCES, worker);
}

void REAL_NAME(forces_evaluate_without_breaking)(struct system *system,
                                                 struct evaluation evaluation,
                                                 const struct worker *worker)
{
    evaluate(system, evaluation, false, SWEEP_FORCES, worker);
}

void REAL_NAME(fault_put_back)(struct system *system, const struct fault *found)
{
    if (system->fault.code != TAUT_ERROR_MEMORY)
        system->fault = *found;
}

void REAL_NAME(forces_move)(struct system *system, struct evaluation evaluation,
                            enum sweep_finish finish, const struct worker *worker)
{
    evaluate(system, evaluation, true, finish, worker);
}
