// Continues the run of one solver in another one with the same nodes, through a checkpoint
// (checkpoint.h), or stores a checkpoint from which solvers of the same scene start.
#include "solver/private.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "solver/checkpoint.h"

// ---- The checkpoint

struct checkpoint_conditions checkpoint_conditions(enum precision precision,
                                                   enum integrator integrator,
                                                   const struct scene_environment *environment)
{
    const bool verlet = integrator == INTEGRATOR_VERLET, bdf2 = integrator == INTEGRATOR_BDF2;
    const bool mixed = precision == PRECISION_MIXED;
    const bool forces = verlet || integrator == INTEGRATOR_VELOCITY_VERLET;
    return (struct checkpoint_conditions){
        .forces = forces,
        .previous_positions = verlet || bdf2,
        .previous_velocities = bdf2,
        .correction = integrator_is_implicit(integrator),
        .normals = forces && environment->wind.present && environment->wind.law == WIND_NODE,
        .low_positions = mixed,
        .low_velocities = mixed && !verlet,
        .low_previous = mixed && (verlet || bdf2),
        .low_previous_velocities = mixed && bdf2,
    };
}

double checkpoint_vectors(const struct checkpoint_conditions *keeps)
{
    return 2 + keeps->forces + keeps->previous_positions + keeps->previous_velocities +
           keeps->correction + keeps->normals + 2 * (keeps->low_positions + keeps->low_velocities) +
           keeps->low_previous + keeps->low_previous_velocities;
}

bool checkpoint_make(struct checkpoint *checkpoint, const struct topology *topology,
                     const struct plan *plan, enum precision precision, enum integrator integrator,
                     uint64_t springs)
{
    struct checkpoint_conditions keeps =
        checkpoint_conditions(precision, integrator, &topology->environment);
    keeps.touching = topology->collider_count > 0;
    const size_t slots = friction_slots(topology->colliders, topology->collider_count);
    keeps.friction = slots > 0;
    checkpoint->topology = topology;
    checkpoint->integrator = integrator;
    checkpoint->nodes = topology->node_count;
    checkpoint->triples = 3 * topology->node_count;
    checkpoint->springs = springs;
    checkpoint->bodies = topology->body_count;
    checkpoint->motions = topology->motion_count;
    checkpoint->colliders = topology->collider_count;
    checkpoint->touches = topology->node_count * topology->collider_count;
    checkpoint->frictions = topology->node_count * slots;
    checkpoint->targets = topology->kinematic_count;
    // Enough chunks for this plan, and for any other one of the same springs.
    const uint64_t fragile = plan_fragile_total(plan);
    checkpoint->loss_chunks =
        chunk_count((size_t)(fragile > topology->spring_count ? fragile : topology->spring_count));
    const struct frame_shape shape = {.node_count = topology->node_count};
    const bool has_fields = !checkpoint->gathers && !checkpoint->exact;
    const unsigned has_nodes = has_fields ? FRAME_NODES : 0;
    if (frame_make(&shape, has_nodes, &checkpoint->frame, NULL) != TAUT_OK)
        return false;
    checkpoint->fields[CHECKPOINT_positions] = checkpoint->fields[CHECKPOINT_velocities] = true;
    checkpoint->fields[CHECKPOINT_correction] = keeps.correction;
    checkpoint->fields[CHECKPOINT_bound_weights] = checkpoint->weights;
#define HAS(type, name, length, condition, kept)                                                   \
    checkpoint->fields[CHECKPOINT_##name] = IS_FIELD_##length && (kept);
    STATE_ARRAYS(HAS)
#undef HAS
#define ALLOCATE(type, name, length, condition)                                                    \
    if (condition) {                                                                               \
        checkpoint->name = memory_allocate(NULL, (size_t)checkpoint->length, sizeof(type));        \
        if (!checkpoint->name)                                                                     \
            return false;                                                                          \
    }
#define ALLOCATE_SAVED(type, name, length, condition, kept)                                        \
    ALLOCATE(SAVED_##type, name, length, (kept) && (has_fields || !IS_FIELD_##length))
    STATE_ARRAYS(ALLOCATE_SAVED)
    CHECKPOINT_ARRAYS(ALLOCATE)
#undef ALLOCATE_SAVED
#undef ALLOCATE
    return true;
}

void checkpoint_free(struct checkpoint *checkpoint)
{
#define RELEASE(type, name, length, condition)                                                     \
    memory_release(NULL, checkpoint->name, (size_t)checkpoint->length, sizeof(type));
#define RELEASE_SAVED(type, name, length, condition, kept) RELEASE(SAVED_##type, name, length, kept)
    STATE_ARRAYS(RELEASE_SAVED)
    CHECKPOINT_ARRAYS(RELEASE)
#undef RELEASE_SAVED
#undef RELEASE
    struct friction_contacts *contacts = &checkpoint->surface_friction;
    free(contacts->nodes);
    free(contacts->flags);
    free(contacts->anchors);
    free(contacts->stretches);
    frame_free(&checkpoint->frame);
    *checkpoint = (struct checkpoint){0};
}

// ---- Restart from another solver

struct transfer {
    taut_solver *solver;
    struct checkpoint *checkpoint;
    bool adapts; // dt has to be checked
};

static void save(void *context, const struct worker *worker)
{
    const struct transfer *it = context;
    it->solver->functions->checkpoint_save(it->solver->system, it->checkpoint, worker);
}

static void restore(void *context, const struct worker *worker)
{
    const struct transfer *it = context;
    it->solver->functions->checkpoint_restore(it->solver->system, it->checkpoint, worker);
    if (worker->index == 0)
        dt_plan_checks(it->solver); // gas that is pumped on
    worker_barrier(worker);
    if (it->adapts)
        dt_adapt(it->solver, dt_load_now(it->solver, worker), worker);
}

// Room for the contacts of surfaces that have friction; false without memory.
static bool reserve_contacts(const taut_solver *solver, struct friction_contacts *to)
{
    const size_t count = (size_t)solver->functions->friction_contacts(solver->system);
    size_t *reserved = to->reserved;
    return array_reserve((void **)&to->nodes, &reserved[0], 4 * count, sizeof *to->nodes) &&
           array_reserve((void **)&to->flags, &reserved[1], count, sizeof *to->flags) &&
           array_reserve((void **)&to->anchors, &reserved[2], 3 * count, sizeof *to->anchors) &&
           array_reserve((void **)&to->stretches, &reserved[3], count, sizeof *to->stretches);
}

bool checkpoint_take(taut_solver *solver, struct checkpoint *checkpoint)
{
    struct transfer transfer = {.solver = solver, .checkpoint = checkpoint};
    const bool collects = !checkpoint->in_parts;
    if (collects)
        solver_collect(solver); // the contacts of all ranks
    else if (solver->topology->any_breaks || solver->topology->any_yields)
        solver_share_losses(solver);
    if (!reserve_contacts(solver, &checkpoint->surface_friction))
        return false;
    if (checkpoint->compares) { // forces are evaluated
        solver_work(solver, save, &transfer);
        return true;
    }
    apply_changes(solver);
    if (collects)
        solver_collect(solver);
    team_work(NULL, save, &transfer);
    return true;
}

void checkpoint_apply(taut_solver *solver, struct checkpoint *checkpoint, bool adapts)
{
    solver_work(solver, restore,
                &(struct transfer){.solver = solver, .checkpoint = checkpoint, .adapts = adapts});
}

static taut_status compare_nodes(const struct topology *to, const struct topology *from,
                                 taut_error *error)
{
    bool same = to->body_count == from->body_count;
    for (size_t b = 0; same && b < to->body_count; b++)
        same = to->bodies[b].node_count == from->bodies[b].node_count;
    if (!same)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "a solver continues from another one of the same nodes only; these have %llu "
                    "and %llu in %zu and %zu bodies",
                    (unsigned long long)from->node_count, (unsigned long long)to->node_count,
                    from->body_count, to->body_count);
    return TAUT_OK;
}

// The number of spring numbers of the uncut scene.
static uint64_t count_numbers(uint64_t springs, const uint32_t *numbers)
{
    uint64_t most = numbers ? 0 : springs;
    for (uint64_t i = 0; numbers && i < springs; i++)
        most = numbers[i] + (uint64_t)1 > most ? numbers[i] + (uint64_t)1 : most;
    return most;
}

taut_status solver_restore_from(taut_solver *solver, taut_solver *from,
                                const uint32_t *from_springs, const uint32_t *to_springs,
                                taut_error *error)
{
    const struct topology *before = from->topology, *after = solver->topology;
    taut_status status = compare_nodes(after, before, error);
    if (status != TAUT_OK)
        return status;
    uint64_t springs = count_numbers(before->spring_count, from_springs);
    uint64_t others = count_numbers(after->spring_count, to_springs);
    if (!from_springs && !to_springs && springs != others)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "a solver continues from another one of the same springs, unless their "
                    "numbers are passed; these have %llu and %llu",
                    (unsigned long long)springs, (unsigned long long)others);
    struct checkpoint checkpoint = {
        .from_springs = from_springs, .to_springs = to_springs, .compares = true};
    if (!checkpoint_make(&checkpoint, before, from->plan, from->precision, from->integrator,
                         springs > others ? springs : others)) {
        checkpoint_free(&checkpoint);
        return fail_memory(error, "the restart from another solver");
    }
    if (!checkpoint_take(from, &checkpoint)) {
        checkpoint_free(&checkpoint);
        return fail_memory(error, "the restart from another solver");
    }
    const bool adapts = dt_restore(solver, from);
    checkpoint.dt.dt = from->dt;
    checkpoint.dt.since_time = solver->dt_rule.since_time;
    checkpoint.dt.since_step = solver->dt_rule.since_step;
    checkpoint_apply(solver, &checkpoint, adapts);
    bool no_memory = checkpoint.no_memory;
    checkpoint_free(&checkpoint);
    return no_memory ? fail_memory(error, "the state to continue from") : TAUT_OK;
}

// ---- Checkpoints

struct solver_checkpoint {
    struct checkpoint state;
};

taut_status solver_save(taut_solver *solver, struct solver_checkpoint **checkpoint,
                        taut_error *error)
{
    struct solver_checkpoint *saved = *checkpoint = memory_allocate(NULL, 1, sizeof *saved);
    if (saved)
        saved->state.compares = true;
    if (!saved ||
        !checkpoint_make(&saved->state, solver->topology, solver->plan, solver->precision,
                         solver->integrator, solver->topology->spring_count) ||
        !checkpoint_take(solver, &saved->state)) {
        solver_checkpoint_free(saved);
        *checkpoint = NULL;
        return fail_memory(error, "a checkpoint");
    }
    saved->state.frame.time = taut_solver_time(solver);
    saved->state.dt.dt = solver->dt;
    // The solver's topology may be gone when another solver is restored.
    saved->state.topology = NULL;
    return TAUT_OK;
}

double checkpoint_fixed_bytes(const taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    const double springs = (topology->any_yields ? sizeof(double) : 0) + topology->any_breaks;
    const double target = sizeof(uint64_t) + 2 * sizeof(vec3);
    return springs * (double)topology->spring_count + target * (double)topology->kinematic_count +
           (double)(topology->node_count * topology->collider_count) +
           friction_bytes(topology->colliders, topology->collider_count) *
               (double)topology->node_count +
           sizeof(double) * 7 * (double)solver->functions->friction_contacts(solver->system);
}

double solver_checkpoint_bytes(const taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    const struct checkpoint_conditions keeps =
        checkpoint_conditions(solver->precision, solver->integrator, &topology->environment);
    const double vectors = checkpoint_vectors(&keeps) + keeps.forces; // and forces_seen
    const double triples = 3.0 * (double)topology->node_count * sizeof(double);
    const double rest_built = topology->any_yields ? sizeof(double) : 0;
    return vectors * triples + rest_built * (double)topology->spring_count +
           checkpoint_fixed_bytes(solver);
}

taut_status solver_restore(taut_solver *solver, const struct solver_checkpoint *checkpoint,
                           double *positions, double *velocities, taut_error *error)
{
    struct checkpoint state = checkpoint->state;
    if (state.triples != 3 * solver->topology->node_count ||
        state.springs != solver->topology->spring_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "a checkpoint is of a solver of the same scene");
    state.topology = solver->topology;
    state.frame.positions = positions ? positions : state.frame.positions;
    state.frame.velocities = velocities ? velocities : state.frame.velocities;
    state.x = positions ? NULL : state.x;
    state.vx = velocities ? NULL : state.vx;
    state.frame.step = (uint64_t)fmax(0, round(checkpoint->state.frame.time / solver->dt));
    struct dt_rule *rule = &solver->dt_rule;
    rule->since_time = state.dt.since_time = checkpoint->state.frame.time;
    rule->since_step = state.dt.since_step = state.frame.step;
    rule->load = rule->load_seen = 0; // of contacts at another time
    rule->load_due = rule->load_steps = 0;
    checkpoint_apply(solver, &state, false);
    return state.no_memory ? fail_memory(error, "the state to continue from") : TAUT_OK;
}

void solver_checkpoint_free(struct solver_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    checkpoint_free(&checkpoint->state);
    memory_release(NULL, checkpoint, 1, sizeof *checkpoint);
}
