// Creates, reads and changes the numeric part of a solver. Numeric: compiled for float and for
// double.
#include "solver/system.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/memory.h"
#include "contact/contact.h"
#include "contact/surface_contact.h"
#include "elements/elements.h"
#include "elements/parts.h"
#include "integrate/constraints.h"
#include "integrate/mouse_spring.h"
#include "integrate/implicit.h"
#include "integrate/integrate.h"
#include "ranks/ranks.h"
#include "solver/change.h"
#include "solver/checkpoint.h"
#include "stability/critical_step.h"
#include "stability/divergence.h"
#include "springs/exchange.h"
#include "springs/shares.h"
#include "springs/springs.h"
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

static void set_dt_now(struct system *system, double dt, double position_ratio)
{
    struct settings *settings = &system->settings;
    settings->dt_time = step_time(system, system->state->step);
    settings->dt_step = system->state->step;
    settings->position_ratio = position_ratio;
    set_dt(system, dt);
}

static void set_dt_interval(struct system *system, uint64_t every)
{
    system->settings.dt_interval = every;
}

static enum sweep_load load_on_grids(const struct topology *topology, const struct plan *plan)
{
    if (topology_has_gas(topology) || topology->any_mass_drag ||
        !plan_sweeps_elements(topology, plan))
        return LOAD_ANYTHING;
    return topology->environment.wind.present ? LOAD_WIND : LOAD_NOTHING;
}

static bool reserve_workers(struct system *system, int workers)
{
    return REAL_NAME(sweeps_reserve)(system->sweeps, workers) &&
           (!system->motion ||
            REAL_NAME(motion_reserve)(system->motion, workers, system->allocator));
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
        .cuts = scene->contact.present,
        .mixed = scene->precision == PRECISION_MIXED,
    };
}

static bool allocate_contacts(struct system *system)
{
    struct contacts *contacts = &system->contacts;
    if (system->topology->collider_count == 0)
        return true;
    contacts->blocks = (size_t)system->state->contact_blocks;
    contacts->near = memory_allocate(system->allocator, contacts->blocks, sizeof *contacts->near);
    contacts->work = memory_allocate(system->allocator, contacts->blocks, sizeof *contacts->work);
    contacts->friction_heat =
        memory_allocate(system->allocator, contacts->blocks, sizeof *contacts->friction_heat);
    contacts->moved = memory_allocate(system->allocator, contacts->blocks, sizeof *contacts->moved);
    contacts->boxes = memory_allocate(system->allocator, contacts->blocks, sizeof *contacts->boxes);
    contacts->boxes_known =
        memory_allocate(system->allocator, contacts->blocks, sizeof *contacts->boxes_known);
    contacts->clear = memory_allocate(system->allocator, contacts->blocks, sizeof *contacts->clear);
    return contacts->near && contacts->moved && contacts->work && contacts->boxes &&
           contacts->boxes_known && contacts->clear && contacts->friction_heat;
}

static bool allocate_scratch(struct system *system)
{
    const struct topology *topology = system->topology;
    const uint64_t listed = max_u64(topology->spring_count, topology->face_count);
    size_t elements = (size_t)max_u64(topology->node_count, listed);
    elements = (size_t)max_u64(elements, elements_summed(system->elements));
    size_t tiles = (size_t)plan_counts(topology, system->plan).volume_tiles;
    system->chunk_sums_length = max_u64(chunk_count(elements), tiles) + 1;
    system->sum_group = SUM_GROUP;
    system->chunk_sums =
        memory_allocate(system->allocator, system->chunk_sums_length, sizeof *system->chunk_sums);
    system->fragile_losses =
        memory_allocate(system->allocator, chunk_count((size_t)plan_fragile_total(system->plan)),
                        sizeof *system->fragile_losses);
    system->fragile_drives =
        memory_allocate(system->allocator, chunk_count((size_t)plan_fragile_total(system->plan)),
                        sizeof *system->fragile_drives);
    if (!allocate_contacts(system) || !REAL_NAME(work_make)(system))
        return false;
    return system->chunk_sums && system->fragile_losses && system->fragile_drives;
}

static void free_system(struct system *system)
{
    if (!system)
        return;
    free(system->kinematic_targets.items);
    REAL_NAME(implicit_free)(system);
    REAL_NAME(constraints_free)(system);
    REAL_NAME(critical_step_release)(system);
    REAL_NAME(surface_contact_free)(system);
    REAL_NAME(elements_free)(system);
    REAL_NAME(sweeps_free)(system->sweeps);
    REAL_NAME(state_free)(system->state);
    REAL_NAME(constants_free)(system->constants);
    memory_release(system->allocator, system->chunk_sums, system->chunk_sums_length,
                   sizeof *system->chunk_sums);
    memory_release(system->allocator, system->fragile_losses,
                   chunk_count((size_t)plan_fragile_total(system->plan)),
                   sizeof *system->fragile_losses);
    memory_release(system->allocator, system->fragile_drives,
                   chunk_count((size_t)plan_fragile_total(system->plan)),
                   sizeof *system->fragile_drives);
    REAL_NAME(work_free)(system);
    memory_release(system->allocator, system->contacts.near, system->contacts.blocks,
                   sizeof *system->contacts.near);
    memory_release(system->allocator, system->contacts.moved, system->contacts.blocks,
                   sizeof *system->contacts.moved);
    memory_release(system->allocator, system->contacts.boxes, system->contacts.blocks,
                   sizeof *system->contacts.boxes);
    memory_release(system->allocator, system->contacts.boxes_known, system->contacts.blocks,
                   sizeof *system->contacts.boxes_known);
    memory_release(system->allocator, system->contacts.clear, system->contacts.blocks,
                   sizeof *system->contacts.clear);
    memory_release(system->allocator, system->contacts.friction_heat, system->contacts.blocks,
                   sizeof *system->contacts.friction_heat);
    memory_release(system->allocator, system->contacts.work, system->contacts.blocks,
                   sizeof *system->contacts.work);
    memory_release(system->allocator, system, 1, sizeof *system);
}

static struct state_needs needs_of(const struct settings *settings, const struct topology *topology,
                                   const struct plan_counts *counts, bool powers)
{
    struct state_needs needs =
        REAL_NAME(integrator_needs)(settings->integrator, settings->mixed, topology);
    needs.multipliers &= settings->iterations > 1 || needs.projections > 0;
    needs.gradients = counts->rings;
    needs.power = powers && counts->grids > 0;
    return needs;
}

static uint64_t planned_state_bytes(const taut_scene *scene, const struct topology *topology,
                                    const struct plan_counts *counts)
{
    struct settings settings = settings_of(scene);
    return REAL_NAME(state_bytes_of)(topology, counts,
                                     needs_of(&settings, topology, counts, false));
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
    system->kernels = plan_is_reference(plan) ? &REAL_NAME(kernels_reference)
                                              : REAL_NAME(kernels_for)(options->isa);
    system->settings = settings_of(options->scene);
    system->settings.tolerant = options->tolerant;
    system->settings.keep_energy_budget = options->keep_energy_budget;
    system->known_nodes = options->share.known;
    system->is_hopeless = REAL_NAME(divergence_before_cut);
    set_dt(system, options->dt);

    // Constants, state and scratch, in the order of their dependencies.
    const struct plan_counts counts = plan_counts(topology, plan);
    // Loops measure powers where kernels do not, and where motion is cut (dissipated_power).
    const bool powers = options->keep_energy_budget &&
                        (!REAL_NAME(work_is_always_measured)(system) || system->settings.cuts);
    struct state_needs needs = needs_of(&system->settings, topology, &counts, powers);
    taut_status status = REAL_NAME(constants_make)(
        topology, plan, options->share.known, options->team, allocator, &system->constants, error);
    if (status == TAUT_OK)
        status = REAL_NAME(state_make)(topology, plan, bodies, needs, options->share, options->team,
                                       allocator, &system->state, error);
    if (status == TAUT_OK)
        status = REAL_NAME(sweeps_make)(plan, system->constants, load_on_grids(topology, plan),
                                        options->threads, allocator, &system->sweeps, error);
    if (status == TAUT_OK)
        status = REAL_NAME(elements_make)(
            system, (struct element_nodes){options->share.own, options->near}, error);
    if (status == TAUT_OK && !allocate_scratch(system))
        status = fail_memory(error, "the solver");
    if (status == TAUT_OK)
        status = REAL_NAME(surface_contact_make)(system, options->scene, error);
    if (status == TAUT_OK && !reserve_workers(system, options->threads))
        status = fail_memory(error, "the solver");

    // Parts that only some families of integrators need.
    const enum integrator integrator = system->settings.integrator;
    if (status == TAUT_OK && integrator_is_implicit(integrator))
        status = REAL_NAME(implicit_make)(system, error);
    if (status == TAUT_OK && (integrator_is_implicit(integrator) || integrator == INTEGRATOR_XPBD))
        status = REAL_NAME(constraints_make)(system, error);

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
    REAL_NAME(exchange_rest)(system, worker);
    REAL_NAME(volumes_measure)(system, 0, false, worker);
    if (worker->index == 0)
        for (size_t b = 0; b < system->topology->body_count; b++)
            system->state->volume_built[b] = system->state->volume[b];
    worker_barrier(worker);
    REAL_NAME(integrator_start)(system, worker);
    // Verlet has evaluated forces, so that springs beyond their limits as built have broken or
    // yielded; the energy at the start does not include theirs.
    if (worker->index == 0)
        memset(system->fragile_losses, 0,
               chunk_count((size_t)plan_fragile_total(system->plan)) *
                   sizeof *system->fragile_losses);
    REAL_NAME(colliders_start)(system, 0, worker);
    REAL_NAME(friction_start)(system, 0, worker);
    taut_energy energy = {0};
    REAL_NAME(energy_measure)(system, REAL_NAME(evaluation_now)(system), &energy, worker);
    if (worker->index == 0)
        REAL_NAME(divergence_start)(system, &energy);
    worker_barrier(worker);
    if (worker->index == 0)
        for (int stage = 0; stage < STAGE_COUNT; stage++)
            system->clock.seconds[stage] = 0;
}

static void evaluate(struct system *system, bool want_forces, taut_energy *energy,
                     const struct worker *worker)
{
    struct evaluation now = REAL_NAME(evaluation_now)(system);
    struct stage_clock clock = system->clock; // an evaluation does not count as time of the steps
    struct fault found = system->fault;       // and does not end a run
    bool wanted = want_forces || system->settings.keep_energy_budget;
    // The end of a step of Verlet integrators has recorded the budget and left forces that are
    // kept.
    const bool measured = REAL_NAME(work_is_measured)(system);
    const bool recorded = measured && REAL_NAME(work_is_recorded)(system, now);
    now.powers = measured && !system->state->forces_current;
    if (wanted && (now.powers || !system->state->forces_current))
        REAL_NAME(forces_evaluate_without_breaking)(system, now, worker);
    REAL_NAME(energy_measure)(system, now, energy, worker);
    if (now.powers || !recorded)
        REAL_NAME(work_show)(system, now, worker);
    worker_barrier(worker);
    if (worker->index == 0) {
        system->clock = clock;
        REAL_NAME(fault_put_back)(system, &found);
    }
}

static void contact_points(struct system *system, struct contact_points *to,
                           const struct worker *worker)
{
    const struct stage_clock clock = system->clock; // as in `evaluate`
    REAL_NAME(contact_points_list)(system, to, worker);
    if (worker->index == 0)
        system->clock = clock;
}

static void read_nodes(const struct system *system, uint64_t first, uint64_t count,
                       double *positions, double *velocities, double *forces)
{
    const struct state *s = system->state;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t node = topology_internal_node(system->topology, first + i);
        if (positions) {
            const vec3 position = node_position(s, node);
            positions[3 * i] = position.x;
            positions[3 * i + 1] = position.y;
            positions[3 * i + 2] = position.z;
        }
        if (velocities) {
            const vec3 velocity = node_velocity(s, node);
            velocities[3 * i] = velocity.x;
            velocities[3 * i + 1] = velocity.y;
            velocities[3 * i + 2] = velocity.z;
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

static void read_springs(const struct system *system, double *strains, uint8_t *broken)
{
    struct spring_walk walk = springs_walk(system);
    struct spring_view view;
    while (springs_next(&walk, &view))
        for (size_t i = 0; i < (size_t)view.count; i++) {
            vec3 d = vec3_subtract(node_position(system->state, view.a + i),
                                   node_position(system->state, view.b + i));
            uint64_t spring = topology_builder_spring(system->topology, view.number + i);
            strains[spring] = strain(vec3_length(d), (double)view_rest_length(&view, i));
            if (broken && view.broken)
                broken[spring] = view.broken[i];
        }
}

static void read_strains(const struct system *system, uint64_t first, uint64_t count,
                         double *strains, uint8_t *broken)
{
    const struct state *s = system->state;
    const size_t body = count > 0 ? topology_body_of_spring(system->topology, first) : 0;
    const struct plan_grid *grid = count > 0 ? plan_grid_of_body(system->plan, body) : NULL;
    const bool listed = count > 0 && !grid && plan_fragile_off_grid(system->plan) > 0;
    const bool changes = listed || (grid && grid->stateful);
    for (uint64_t spring = first; spring < first + count;) {
        const struct spring_run run = topology_run(system->topology, spring, first + count);
        const uint64_t inside = spring - system->topology->bodies[body].first_spring;
        const uint64_t index = listed    ? plan_off_grid_index(system->plan, spring)
                               : changes ? grid->first_state_index + inside
                                         : 0;
        for (uint64_t i = 0; i < run.count; i++) {
            const vec3 d = vec3_subtract(node_position(s, run.a + i), node_position(s, run.b + i));
            const bool yields = changes && s->rest_length;
            *strains++ = strain(vec3_length(d), (double)(yields ? s->rest_length[index + i]
                                                                : (real)run.rest_length));
            if (broken)
                *broken++ = changes && s->broken && s->broken[index + i];
        }
        spring += run.count;
    }
}

// The box of those of all ranks.
static void combine_boxes(double least[3], double most[3])
{
    double ends[6];
    for (int axis = 0; axis < 3; axis++) {
        ends[axis] = least[axis];
        ends[3 + axis] = -most[axis];
    }
    ranks_least(ends, 6);
    for (int axis = 0; axis < 3; axis++) {
        least[axis] = ends[axis];
        most[axis] = -ends[3 + axis];
    }
}

static struct scale scale(const struct system *system)
{
    const struct topology *topology = system->topology;
    const struct state *s = system->state;
    double least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
    double size = 0, fastest = 0;
    struct scale found = {0, 0};
    const bool parts = REAL_NAME(exchange_has_part)(system);
    const struct range own = parts ? system->own_nodes : (struct range){0, (size_t)s->nodes};
    for (size_t i = own.first; i < own.end; i++) {
        const vec3 p = vec3_subtract(node_position(s, i), s->origin);
        const double position[3] = {p.x, p.y, p.z};
        for (int axis = 0; axis < 3; axis++) {
            least[axis] = fmin(least[axis], position[axis]);
            most[axis] = fmax(most[axis], position[axis]);
        }
    }
    if (parts)
        combine_boxes(least, most);
    for (int axis = 0; axis < 3; axis++) {
        if (!(least[axis] <= most[axis])) // no nodes
            continue;
        found.reach = fmax(found.reach, fmax(fabs(least[axis]), fabs(most[axis])));
        size = fmax(size, most[axis] - least[axis]);
    }
    if (topology->environment.wind.present)
        fastest = vec3_length(topology->environment.wind.velocity);
    for (size_t m = 0; m < topology->motion_count; m++)
        if (topology->motions[m].type == MOTION_DRIVE)
            fastest = fmax(fastest, motion_drive_speed(&topology->motions[m]));
    const double fall = vec3_length(topology->environment.gravity) * size;
    const double mass = topology_total_mass(topology);
    if (mass > 0)
        found.speed = fmax(fastest, sqrt(2 * (system->energy_start / mass + fall)));
    return found;
}

static double volume(const struct system *system, size_t body)
{
    return system->state->volume[body];
}

static uint64_t hash(const struct system *system)
{
    return REAL_NAME(state_hash)(system->state, system->topology);
}

static void begin_hash(const struct system *system, struct hash *hash)
{
    REAL_NAME(state_hash_begin)(system->state, hash);
}

static size_t hash_bytes(const struct system *system)
{
    return REAL_NAME(state_hash_bytes)(system->state);
}

static void read_hashed(const struct system *system, uint64_t first, uint64_t count, void *to)
{
    REAL_NAME(state_hash_read)(system->state, system->topology, first, count, to);
}

static void add_to_hash(const struct system *system, struct hash *hash, uint64_t first,
                        uint64_t count)
{
    REAL_NAME(state_hash_add)(system->state, system->topology, first, count, hash);
}

static void copy_springs(struct system *system)
{
    REAL_NAME(constants_copy_springs)(system->constants, system->topology, system->plan);
}

static bool repack(struct system *system)
{
    if (!REAL_NAME(constants_repack)(system->constants, system->topology, system->plan) ||
        !REAL_NAME(state_repack)(system->state, system->topology, system->plan))
        return false;
    if (system->state->slot_rest)
        REAL_NAME(springs_refresh)(system);
    return true;
}

static uint64_t bytes(const struct system *system, const struct held_part *part)
{
    struct state state = *system->state;
    struct constants constants = *system->constants;
    uint64_t sweeps = REAL_NAME(sweeps_bytes)(system->sweeps);
    uint64_t implicit = REAL_NAME(implicit_bytes)(system);
    if (part) {
        if (state.nodes > 0)
            implicit = (uint64_t)((double)implicit * (double)part->nodes / (double)state.nodes);
        state.frictions = state.nodes > 0 ? state.frictions / state.nodes * part->nodes : 0;
        state.nodes = constants.nodes = part->nodes;
        constants.all_nodes = part->nodes + state.collider_nodes;
        constants.massed = constants.massed > 0 ? part->nodes : 0;
        state.springs = min_u64(state.springs, part->springs);
        sweeps = (uint64_t)((double)sweeps * part->tiles);
    }
    return sizeof *system + system->chunk_sums_length * sizeof *system->chunk_sums +
           REAL_NAME(state_bytes)(&state) + REAL_NAME(constants_bytes)(&constants) +
           REAL_NAME(elements_bytes)(system) + sweeps + implicit +
           REAL_NAME(constraints_bytes)(system) + REAL_NAME(critical_step_bytes)(system) +
           REAL_NAME(work_bytes)(system) + REAL_NAME(surface_contact_bytes)(system);
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

static const struct energy_budget *work(const struct system *system)
{
    if (!system->settings.keep_energy_budget)
        return NULL;
    return system->work_shown_step == system->state->step ? &system->work_shown : &system->work;
}

static const struct implicit_statistics *implicit(const struct system *system)
{
    return system->implicit ? &system->implicit_statistics : NULL;
}

static const struct stage_clock *clock_of(const struct system *system)
{
    return &system->clock;
}

// ---- Several ranks

static bool rank_needs(const struct system *system, struct plan_part *part)
{
    const struct range own = {(size_t)part->first_node, (size_t)part->end_node};
    return REAL_NAME(elements_need)(system, part) && REAL_NAME(surface_contact_share)(system, own);
}

static taut_status make_exchange(const struct system *system, const struct plan_parts *parts,
                                 bool only_part, struct exchange **exchange, taut_error *error)
{
    const taut_status status = REAL_NAME(exchange_make)(
        system, parts, only_part, rank_needs, REAL_NAME(elements_sums_need), exchange, error);
    if (status == TAUT_OK && only_part)
        REAL_NAME(elements_join)(system);
    return status;
}

static void exchange_use(struct system *system, struct exchange *exchange)
{
    if (system->exchange && system->powers)
        REAL_NAME(work_catch_up)(system);
    system->exchange = exchange;
    // Nodes of other ranks have forces that mean nothing.
    system->state->forces_zero = system->state->grid_forces_zero = false;
    if (!exchange)
        return;
    // A batch may be one step, whose evaluation of forces begins with the nodes of the last one:
    // methods that do not complete velocities after it, and move nodes only after an evaluation.
    const enum integrator integrator = system->settings.integrator;
    if (integrator != INTEGRATOR_SYMPLECTIC_EULER && integrator != INTEGRATOR_EXPLICIT_EULER)
        REAL_NAME(exchange_all_known)(system, false);
    const struct plan_part *part = REAL_NAME(exchange_part)(exchange);
    system->own_nodes = (struct range){(size_t)part->first_node, (size_t)part->end_node};
    REAL_NAME(surface_contact_begin)(system);
}

// Where ranks hold only their parts, the masses of nodes of other ranks are known now.
static struct shares *make_shares(struct system *system, const struct plan_parts *parts)
{
    if (parts)
        (void)REAL_NAME(implicit_refresh)(system, false, NULL);
    return REAL_NAME(shares_make)(system, parts);
}

static void shares_use(struct system *system, struct shares *shares)
{
    system->shares = shares;
}

static void exchange_collect(struct system *system, struct exchange *exchange)
{
    // With contact all ranks evaluate surfaces together, also outside of steps (solver/ranks.c).
    REAL_NAME(exchange_collect)(system, exchange, system->surface_contact != NULL);
    REAL_NAME(surface_friction_share)(system);
}

static void share_losses(const struct system *system)
{
    REAL_NAME(springs_share_losses)(system, REAL_NAME(exchange_part)(system->exchange));
}

static void exchange_around(const struct system *system, const struct exchange *exchange,
                            struct range nodes, const uint64_t *list, uint64_t count)
{
    REAL_NAME(exchange_around)(system, exchange, nodes, list, count);
}

// ---- Interaction between two steps

static void set_sphere(struct system *system, size_t collider, vec3 centre, vec3 velocity,
                       double radius)
{
    REAL_NAME(divergence_allow_sphere)(system, collider, centre, radius);
    struct state *s = system->state;
    REAL_NAME(friction_follow_sphere)(system, collider, centre);
    s->collider_centre[collider] = centre;
    s->collider_velocity[collider] = velocity;
    s->collider_since[collider] = step_time(system, s->step);
    s->collider_radius[collider] = radius;
    REAL_NAME(colliders_changed)(system);
    s->forces_current = s->energy_current = false;
}

static void set_mesh(struct system *system, size_t collider, vec3 displacement, vec3 velocity)
{
    struct state *s = system->state;
    const double before = vec3_length(s->collider_velocity[collider]);
    system->fastest_outside = fmax(system->fastest_outside, before);
    REAL_NAME(mesh_collider_move)(system, collider, displacement, velocity);
    s->forces_current = s->energy_current = false;
}

static struct mesh_displacement mesh(const struct system *system, size_t collider)
{
    return (struct mesh_displacement){REAL_NAME(mesh_collider_displacement)(system, collider),
                                      system->state->collider_velocity[collider]};
}

static void allow_energy(struct system *system, double energy)
{
    system->energy_start += energy;
}

static void continue_gas(struct system *system, size_t body, const struct scene_pressure *before)
{
    REAL_NAME(gas_continue)
    (system, body, before, system->state->gas_start[body], system->state->gas_since[body]);
}

static bool set_kinematic_velocity(struct system *system, uint64_t node, vec3 velocity)
{
    uint64_t inside = topology_internal_node(system->topology, node);
    const struct state *s = system->state;
    vec3 before = node_velocity(s, inside);
    system->fastest_outside = fmax(system->fastest_outside, vec3_length(before));
    system->state->energy_current = false;
    return REAL_NAME(kinematic_set_target)(system, (uint32_t)inside, velocity);
}

// The same mouse spring at the same node keeps its stiffness.
static void grab(struct system *system, uint64_t node, vec3 target, double stiffness,
                 double damping)
{
    struct mouse_spring *mouse_spring = &system->mouse_spring;
    uint32_t inside = (uint32_t)topology_internal_node(system->topology, node);
    bool wants_choice = stiffness == 0 && damping == 0;
    bool chosen = mouse_spring->pulls && mouse_spring->chosen && mouse_spring->node == inside;
    if (!wants_choice || !chosen)
        *mouse_spring =
            (struct mouse_spring){.node = inside, .stiffness = stiffness, .damping = damping};
    if (wants_choice && !chosen)
        REAL_NAME(mouse_spring_set_stiffness)(system, mouse_spring);
    if (!mouse_spring->pulls)
        mouse_spring->start = node_position(system->state, inside);
    mouse_spring->pulls = true;
    mouse_spring->chosen = wants_choice;
    mouse_spring->target = target;
}

static void release_grab(struct system *system)
{
    system->mouse_spring.pulls = false;
}

static struct sphere_state sphere(const struct system *system, size_t collider)
{
    const struct state *s = system->state;
    vec3 velocity = s->collider_velocity[collider];
    double elapsed = step_time(system, s->step) - s->collider_since[collider];
    return (struct sphere_state){
        vec3_add(s->collider_centre[collider], vec3_scale(elapsed, velocity)), velocity,
        s->collider_radius[collider]};
}

const struct system_functions REAL_NAME(system_functions) = {
    .real_bytes = sizeof(real),
    .make = make,
    .state_bytes = planned_state_bytes,
    .free = free_system,
    .set_dt = set_dt,
    .set_dt_interval = set_dt_interval,
    .change_dt = REAL_NAME(integrator_change_dt),
    .reserve_workers = reserve_workers,
    .start = start,
    .integrate = REAL_NAME(integrator_step),
    .finish = REAL_NAME(step_finish),
    .check = REAL_NAME(divergence_check),
    .check_cut = REAL_NAME(divergence_check_cut),
    .diverges_certainly = REAL_NAME(divergence_is_certain),
    .complete = REAL_NAME(integrator_complete),
    .exchange_make = make_exchange,
    .part_needs = REAL_NAME(elements_need),
    .exchange_free = REAL_NAME(exchange_free),
    .exchange_use = exchange_use,
    .exchange_pause = REAL_NAME(exchange_pause),
    .exchange_resume = REAL_NAME(exchange_resume),
    .exchange_collect = exchange_collect,
    .exchange_around = exchange_around,
    .shares_make = make_shares,
    .shares_free = REAL_NAME(shares_free),
    .shares_use = shares_use,
    .evaluate = evaluate,
    .read_nodes = read_nodes,
    .read_springs = read_springs,
    .read_strains = read_strains,
    .volume = volume,
    .broken_count = REAL_NAME(springs_broken_count),
    .share_losses = share_losses,
    .hash = hash,
    .hash_begin = begin_hash,
    .hash_add = add_to_hash,
    .hash_bytes = hash_bytes,
    .hash_read = read_hashed,
    .bytes = bytes,
    .steps = steps,
    .evaluations = evaluations,
    .kernel_name = kernel_name,
    .fault = fault,
    .work = work,
    .implicit = implicit,
    .clock = clock_of,
    .repack = repack,
    .copy_springs = copy_springs,
    .prepare_critical = REAL_NAME(critical_step_prepare),
    .release_critical = REAL_NAME(critical_step_release),
    .critical_step = REAL_NAME(critical_step_measure),
    .critical_exceeded = REAL_NAME(critical_step_exceeded),
    .critical_has_weights = REAL_NAME(critical_step_has_weights),
    .critical_uses_cliques = REAL_NAME(critical_step_uses_cliques),
    .critical_collect_weights = REAL_NAME(critical_step_collect_weights),
    .critical_set_weights = REAL_NAME(critical_step_set_weights),
    .critical_up_to = REAL_NAME(critical_step_up_to),
    .critical_may_fall = REAL_NAME(critical_step_may_fall),
    .greatest_load = REAL_NAME(critical_step_load),
    .count_loads = REAL_NAME(critical_step_count_loads),
    .contact_load = REAL_NAME(critical_step_of_contacts),
    .stiffness_trace = REAL_NAME(stiffness_trace),
    .scale = scale,
    .stiffest_spring = REAL_NAME(stiffest_spring),
    .choose_contact = REAL_NAME(surface_contact_choose_stiffness),
    .surface_crossing = REAL_NAME(surface_contact_crosses),
    .mesh_reach = REAL_NAME(mesh_collider_reach),
    .colliders_enclose = REAL_NAME(mesh_colliders_enclose),
    .shape_nearest = REAL_NAME(shape_contact_nearest),
    .surface_nearest = REAL_NAME(surface_contact_nearest),
    .surface_overlap = REAL_NAME(surface_contact_overlap),
    .surface_relax = REAL_NAME(surface_contact_relax),
    .surface_edge = REAL_NAME(surface_contact_edge),
    .surface_triangles = REAL_NAME(surface_contact_triangles),
    .surface_cuts = REAL_NAME(surface_contact_cuts),
    .surface_counts = REAL_NAME(surface_contact_counts),
    .surface_stiffness = REAL_NAME(surface_contact_stiffness),
    .friction_contacts = REAL_NAME(surface_friction_count),
    .contact_points = contact_points,
    .set_sphere = set_sphere,
    .set_mesh = set_mesh,
    .mesh = mesh,
    .allow_energy = allow_energy,
    .continue_gas = continue_gas,
    .gas_pumped_at = REAL_NAME(gas_pumped_at),
    .set_kinematic_velocity = set_kinematic_velocity,
    .grab = grab,
    .release_grab = release_grab,
    .sphere = sphere,
    .set_dt_now = set_dt_now,
    .change_begin = REAL_NAME(change_begin),
    .change_save = REAL_NAME(change_save),
    .change_refresh = REAL_NAME(change_refresh),
    .elements_refresh = REAL_NAME(elements_refresh),
    .elements_complete = REAL_NAME(elements_complete),
    .scale_rest_lengths = REAL_NAME(springs_scale_rest_lengths),
    .change_finish = REAL_NAME(change_finish),
    .change_free = REAL_NAME(change_free),
    .checkpoint_save = REAL_NAME(checkpoint_save),
    .checkpoint_gather = REAL_NAME(checkpoint_gather),
    .checkpoint_gather_counted = REAL_NAME(checkpoint_gather_counted),
    .checkpoint_scatter = REAL_NAME(checkpoint_scatter),
    .checkpoint_wants_springs = REAL_NAME(checkpoint_wants_springs),
    .checkpoint_restore = REAL_NAME(checkpoint_restore),
};
