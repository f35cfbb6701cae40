// Makes and reads the numeric part of a solver. Numeric: compiled for float and for double.
#include "solver_system.h"

#include <stdlib.h>

#include "solver_carry.h"
#include "solver_touch.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "integrate/implicit.h"
#include "integrate/integrate.h"
#include "stability/critical_step.h"
#include "stability/divergence.h"
#include "state/reading.h"

static bool any_response(const taut_scene *scene, enum collider_response response)
{
    for (size_t c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].response == response)
            return true;
    return false;
}

static void set_dt(struct system *system, double dt)
{
    double ratio = system->settings.position_ratio;
    system->settings.dt = dt;
    system->settings.position_step = ratio * dt;
}

static void set_looks(struct system *system, uint64_t every)
{
    system->settings.looks_every = every;
}

static enum sweep_load load_on_grids(const struct topology *topology)
{
    bool gas = false;
    for (size_t b = 0; b < topology->body_count; b++)
        gas |= topology->bodies[b].pressure.present;
    if (gas)
        return LOAD_ANYTHING;
    return topology->environment.wind.present ? LOAD_WIND : LOAD_NOTHING;
}

static bool reserve_workers(struct system *system, int workers)
{
    return REAL_NAME(sweeps_reserve)(system->sweeps, workers);
}

static struct settings settings_of(const taut_scene *scene)
{
    const struct scene_simulation *simulation = &scene->simulation;
    bool own_step = simulation->position_step > 0 && !simulation->dt_auto;
    return (struct settings){
        .integrator = simulation->integrator,
        .position_ratio = own_step ? simulation->position_step / simulation->dt : 1,
        .keep_velocity = simulation->keep_velocity,
        .substeps = (int)simulation->substeps,
        .iterations = (int)simulation->iterations,
        .projects = any_response(scene, RESPONSE_PROJECT),
        .penalises = any_response(scene, RESPONSE_PENALTY),
        .implicit = simulation->implicit,
    };
}

// Tiles of the longest list of rings; each gives a sum.
static size_t ring_tiles(const struct plan *plan, size_t body_count)
{
    size_t most = 0;
    for (size_t body = 0; body < body_count; body++)
        if (plan_rings_of_body(plan, body))
            most = larger(most, (size_t)plan->rings[body].tile_count);
    return most;
}

static bool allocate_contacts(struct system *system)
{
    struct contacts *contacts = &system->contacts;
    if (system->topology->collider_count == 0)
        return true;
    contacts->blocks = (size_t)system->state->contact_blocks;
    contacts->near = memory_allocate(system->allocator, contacts->blocks, sizeof *contacts->near);
    contacts->work = memory_allocate(system->allocator, contacts->blocks, sizeof *contacts->work);
    contacts->moved = memory_allocate(system->allocator, contacts->blocks, sizeof *contacts->moved);
    return contacts->near && contacts->moved && contacts->work;
}

static bool allocate_scratch(struct system *system)
{
    const struct topology *topology = system->topology;
    size_t elements = larger((size_t)topology->node_count,
                             larger((size_t)topology->spring_count, (size_t)topology->face_count));
    size_t tiles = larger(ring_tiles(system->plan, topology->body_count),
                          (size_t)system->plan->packed.tile_count);
    system->chunk_sums_length = larger(chunk_count(elements), tiles) + 1;
    system->chunk_sums =
        memory_allocate(system->allocator, system->chunk_sums_length, sizeof *system->chunk_sums);
    system->fragile_losses =
        memory_allocate(system->allocator, chunk_count((size_t)plan_fragile_total(system->plan)),
                        sizeof *system->fragile_losses);
    if (!allocate_contacts(system))
        return false;
    return system->chunk_sums && system->fragile_losses;
}

static void free_system(struct system *system)
{
    if (!system)
        return;
    free(system->leads.items);
    REAL_NAME(implicit_free)(system);
    REAL_NAME(critical_step_forget)(system);
    REAL_NAME(sweeps_free)(system->sweeps);
    REAL_NAME(state_free)(system->state);
    REAL_NAME(constants_free)(system->constants);
    memory_release(system->allocator, system->chunk_sums, system->chunk_sums_length,
                   sizeof *system->chunk_sums);
    memory_release(system->allocator, system->fragile_losses,
                   chunk_count((size_t)plan_fragile_total(system->plan)),
                   sizeof *system->fragile_losses);
    memory_release(system->allocator, system->contacts.near, system->contacts.blocks,
                   sizeof *system->contacts.near);
    memory_release(system->allocator, system->contacts.moved, system->contacts.blocks,
                   sizeof *system->contacts.moved);
    memory_release(system->allocator, system->contacts.work, system->contacts.blocks,
                   sizeof *system->contacts.work);
    memory_release(system->allocator, system, 1, sizeof *system);
}

static struct state_needs needs_of(const struct settings *settings, const struct topology *topology,
                                   bool grids, bool rings)
{
    struct state_needs needs = REAL_NAME(integrator_needs)(settings->integrator, topology);
    needs.multipliers &= settings->iterations > 1;
    needs.gradients = rings;
    needs.power = settings->account_work && grids;
    return needs;
}

static uint64_t planned_state_bytes(const taut_scene *scene, const struct topology *counts,
                                    const struct plan *planned)
{
    struct settings settings = settings_of(scene);
    return REAL_NAME(state_bytes_of)(
        counts, planned,
        needs_of(&settings, counts, planned->grid_count > 0, planned->ring_capacity > 0));
}

static taut_status make(const struct topology *topology, const struct plan *plan,
                        const struct bodies *bodies, const struct system_options *options,
                        const taut_allocator *allocator, struct system **result, taut_error *error)
{
    *result = NULL;
    struct system *system = memory_allocate(allocator, 1, sizeof *system);
    if (!system)
        return fail_memory(error, "the solver");
    system->topology = topology;
    system->plan = plan;
    system->allocator = allocator;
    system->kernels =
        plan->reference ? &REAL_NAME(kernels_reference) : REAL_NAME(kernels_for)(options->isa);
    system->settings = settings_of(options->scene);
    system->settings.tolerant = options->tolerant;
    system->settings.account_work = options->account_work;
    set_dt(system, options->dt);
    struct state_needs needs = needs_of(&system->settings, topology, plan->grid_count > 0,
                                        ring_tiles(plan, topology->body_count) > 0);
    taut_status status = REAL_NAME(constants_make)(topology, plan, options->team, allocator,
                                                   &system->constants, error);
    if (status == TAUT_OK)
        status = REAL_NAME(state_make)(topology, plan, bodies, needs, options->team, allocator,
                                       &system->state, error);
    if (status == TAUT_OK)
        status = REAL_NAME(sweeps_make)(plan, system->constants, load_on_grids(topology),
                                        options->threads, allocator, &system->sweeps, error);
    if (status == TAUT_OK && !allocate_scratch(system))
        status = fail_memory(error, "the solver");
    if (status == TAUT_OK && integrator_is_implicit(system->settings.integrator))
        status = REAL_NAME(implicit_make)(system, error);
    if (status != TAUT_OK) {
        free_system(system);
        return status;
    }
    *result = system;
    return TAUT_OK;
}

static void start(struct system *system, const struct worker *worker)
{
    stage_clock_start(&system->clock, worker);
    REAL_NAME(volumes_measure)(system, 0, false, worker);
    if (worker->index == 0)
        for (size_t b = 0; b < system->topology->body_count; b++)
            system->state->volume_built[b] = system->state->volume[b];
    worker_barrier(worker);
    REAL_NAME(integrator_start)(system, worker);
    REAL_NAME(colliders_start)(system, 0, worker);
    taut_energy energy = {0};
    REAL_NAME(energy_measure)(system, REAL_NAME(moment_now)(system), &energy, worker);
    if (worker->index == 0)
        REAL_NAME(divergence_start)(system, &energy);
    worker_barrier(worker);
    if (worker->index == 0)
        for (int stage = 0; stage < STAGE_COUNT; stage++)
            system->clock.seconds[stage] = 0;
}

static void look(struct system *system, bool want_forces, taut_energy *energy,
                 const struct worker *worker)
{
    struct moment now = REAL_NAME(moment_now)(system);
    struct stage_clock clock = system->clock; // a look is no part of the steps that it tells of
    struct fault found = system->fault;       // and ends no run
    bool wanted = want_forces || system->settings.account_work;
    if (wanted && !system->state->forces_current)
        REAL_NAME(forces_look)(system, now, worker);
    REAL_NAME(energy_measure)(system, now, energy, worker);
    REAL_NAME(work_sample)(system, now, worker);
    worker_barrier(worker);
    if (worker->index == 0) {
        system->clock = clock;
        system->fault = found;
    }
}

static void read_nodes(const struct system *system, uint64_t first, uint64_t count,
                       double *positions, double *velocities, double *forces)
{
    const struct state *s = system->state;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t node = topology_node_inside(system->topology, first + i);
        if (positions) {
            positions[3 * i] = (double)s->x[node];
            positions[3 * i + 1] = (double)s->y[node];
            positions[3 * i + 2] = (double)s->z[node];
        }
        if (velocities) {
            velocities[3 * i] = (double)s->vx[node];
            velocities[3 * i + 1] = (double)s->vy[node];
            velocities[3 * i + 2] = (double)s->vz[node];
        }
        if (forces) {
            forces[3 * i] = (double)s->fx[node];
            forces[3 * i + 1] = (double)s->fy[node];
            forces[3 * i + 2] = (double)s->fz[node];
        }
    }
}

static double strain(double length, double rest)
{
    return rest > 0 ? (length - rest) / rest : 0;
}

static void read_grid(const struct system *system, const struct plan_grid *grid, double *strains,
                      uint8_t *broken)
{
    const struct topology_body *body = &system->topology->bodies[grid->body];
    uint64_t end = body->first_spring + body->spring_count;
    for (uint64_t spring = body->first_spring; spring < end;) {
        struct spring_run run = topology_run(system->topology, spring, end);
        struct run_memory memory = run_memory(system, grid, &run);
        for (size_t i = 0; i < (size_t)run.count; i++) {
            vec3 d = vec3_subtract(node_position(system->state, run.a + i),
                                   node_position(system->state, run.b + i));
            uint64_t outside = topology_spring_outside(system->topology, spring + i);
            strains[outside] = strain(vec3_length(d), (double)run_rest_length(&memory, &run, i));
            if (broken && memory.broken)
                broken[outside] = memory.broken[i];
        }
        spring += run.count;
    }
}

static void read_springs(const struct system *system, double *strains, uint8_t *broken)
{
    const struct state *s = system->state;
    const struct plan *plan = system->plan;
    for (uint64_t i = 0; i < plan->springs.element_count; i++) {
        uint64_t spring =
            topology_spring_outside(system->topology, plan_element(&plan->springs, i));
        strains[spring] =
            strain(vec3_length(spring_vector(system, i)), (double)spring_rest_length(system, i));
        if (broken && s->broken)
            broken[spring] = s->broken[i];
    }
    for (size_t g = 0; g < plan->grid_count; g++)
        read_grid(system, &plan->grids[g], strains, broken);
}

static uint64_t broken_count(const struct system *system)
{
    const struct plan *plan = system->plan;
    uint64_t count = 0;
    if (!system->state->broken)
        return 0;
    for (uint64_t i = 0; i < plan->fragile_count; i++)
        count += system->state->broken[plan->fragile[i]];
    for (uint64_t place = plan->springs.element_count; place < plan->place_count; place++)
        count += system->state->broken[place];
    return count;
}

static double volume(const struct system *system, size_t body)
{
    return system->state->volume[body];
}

static uint64_t hash(const struct system *system)
{
    return REAL_NAME(state_hash)(system->state, system->topology);
}

static uint64_t bytes(const struct system *system)
{
    return sizeof *system + system->chunk_sums_length * sizeof *system->chunk_sums +
           REAL_NAME(state_bytes)(system->state) + REAL_NAME(constants_bytes)(system->constants) +
           REAL_NAME(sweeps_bytes)(system->sweeps) + REAL_NAME(implicit_bytes)(system) +
           REAL_NAME(critical_step_bytes)(system);
}

static uint64_t steps(const struct system *system)
{
    return system->state->step;
}

static int evaluations(const struct system *system)
{
    return REAL_NAME(integrator_evaluations)(&system->settings);
}

static const char *kernel_name(const struct system *system)
{
    return system->kernels->name;
}

static const struct fault *fault(const struct system *system)
{
    return &system->fault;
}

static const struct work_account *work(const struct system *system)
{
    return system->settings.account_work ? &system->work : NULL;
}

static const struct implicit_account *implicit(const struct system *system)
{
    return system->implicit ? &system->implicit_account : NULL;
}

static const struct stage_clock *clock_of(const struct system *system)
{
    return &system->clock;
}

const struct system_functions REAL_NAME(system_functions) = {
    .real_bytes = sizeof(real),
    .make = make,
    .state_bytes = planned_state_bytes,
    .free = free_system,
    .set_dt = set_dt,
    .set_looks = set_looks,
    .change_dt = REAL_NAME(integrator_change_dt),
    .reserve_workers = reserve_workers,
    .start = start,
    .integrate = REAL_NAME(integrator_step),
    .finish = REAL_NAME(step_finish),
    .check = REAL_NAME(divergence_check),
    .look = look,
    .read_nodes = read_nodes,
    .read_springs = read_springs,
    .volume = volume,
    .broken_count = broken_count,
    .hash = hash,
    .bytes = bytes,
    .steps = steps,
    .evaluations = evaluations,
    .kernel_name = kernel_name,
    .fault = fault,
    .work = work,
    .implicit = implicit,
    .clock = clock_of,
    .prepare_critical = REAL_NAME(critical_step_prepare),
    .forget_critical = REAL_NAME(critical_step_forget),
    .critical_step = REAL_NAME(critical_step_measure),
    .critical_exceeded = REAL_NAME(critical_step_exceeded),
    .critical_up_to = REAL_NAME(critical_step_up_to),
    .stiffest_spring = REAL_NAME(stiffest_spring),
    .set_sphere = REAL_NAME(touch_set_sphere),
    .lead_node = REAL_NAME(touch_lead_node),
    .pull = REAL_NAME(touch_pull),
    .let_go = REAL_NAME(touch_let_go),
    .sphere = REAL_NAME(touch_sphere),
    .carry_take = REAL_NAME(carry_take),
    .carry_put = REAL_NAME(carry_put),
};
