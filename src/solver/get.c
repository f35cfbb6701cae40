// What others read of a solver: counts and settings, energies, positions, the energy budget, and a
// frame of its present state as output wants it. Nothing here changes the run.
#include "solver/private.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/internals.h"

// ---- Settings and counts

double taut_solver_time(const taut_solver *solver)
{
    return solver_time_of(solver, taut_solver_step_count(solver));
}

double taut_solver_dt(const taut_solver *solver)
{
    return solver->dt;
}

uint64_t taut_solver_step_count(const taut_solver *solver)
{
    return solver->functions->steps(solver->system);
}

uint64_t taut_solver_steps_planned(const taut_solver *solver)
{
    return solver->steps_planned;
}

uint64_t taut_solver_node_count(const taut_solver *solver)
{
    return solver->topology->node_count;
}

uint64_t taut_solver_spring_count(const taut_solver *solver)
{
    return solver->topology->spring_count;
}

uint64_t taut_solver_face_count(const taut_solver *solver)
{
    return solver->topology->face_count;
}

uint64_t taut_solver_broken_count(const taut_solver *solver)
{
    return solver->functions->broken_count(solver->system);
}

int taut_solver_threads(const taut_solver *solver)
{
    return solver->threads;
}

size_t taut_solver_body_count(const taut_solver *solver)
{
    return solver->topology->body_count;
}

ptrdiff_t taut_solver_find_body(const taut_solver *solver, const char *name)
{
    for (size_t b = 0; b < solver->topology->body_count; b++)
        if (strcmp(solver->topology->bodies[b].name, name) == 0)
            return (ptrdiff_t)b;
    return -1;
}

const char *taut_solver_body_name(const taut_solver *solver, size_t body)
{
    return solver->topology->bodies[body].name;
}

uint64_t taut_solver_body_node_count(const taut_solver *solver, size_t body)
{
    return solver->topology->bodies[body].node_count;
}

double taut_solver_body_volume(taut_solver *solver, size_t body)
{
    taut_energy energy; // evaluating it computes the volumes too
    taut_solver_energy(solver, &energy, NULL);
    return solver->functions->volume(solver->system, body);
}

void taut_solver_get_positions(const taut_solver *solver, size_t body, double *values)
{
    const struct topology_body *it = &solver->topology->bodies[body];
    solver->functions->read_nodes(solver->system, it->first_node, it->node_count, values, NULL,
                                  NULL);
}

void taut_solver_get_velocities(const taut_solver *solver, size_t body, double *values)
{
    const struct topology_body *it = &solver->topology->bodies[body];
    solver->functions->read_nodes(solver->system, it->first_node, it->node_count, NULL, values,
                                  NULL);
}

const struct topology *solver_topology(const taut_solver *solver)
{
    return solver->topology;
}

const struct plan *solver_plan(const taut_solver *solver)
{
    return solver->plan;
}

enum precision solver_precision(const taut_solver *solver)
{
    return solver->precision;
}

enum integrator solver_integrator(const taut_solver *solver)
{
    return solver->integrator;
}

enum isa solver_isa(const taut_solver *solver)
{
    return solver->isa;
}

size_t solver_real_bytes(const taut_solver *solver)
{
    return solver->functions->real_bytes;
}

const struct dt_rule *solver_dt_rule(const taut_solver *solver)
{
    return &solver->dt_rule;
}

double solver_position_ratio(const taut_solver *solver)
{
    return solver->position_ratio;
}

double solver_setup_seconds(const taut_solver *solver)
{
    return solver->setup_seconds;
}

double solver_step_seconds(const taut_solver *solver)
{
    return solver->step_seconds;
}

const struct stage_clock *solver_stage_clock(const taut_solver *solver)
{
    return solver->functions->clock(solver->system);
}

const char *solver_kernel_name(const taut_solver *solver)
{
    return solver->functions->kernel_name(solver->system);
}

int solver_force_evaluations(const taut_solver *solver)
{
    return solver->functions->evaluations(solver->system);
}

const struct energy_budget *solver_energy_budget(const taut_solver *solver)
{
    return solver->functions->work(solver->system);
}

const struct implicit_statistics *solver_implicit_statistics(const taut_solver *solver)
{
    return solver->functions->implicit(solver->system);
}

double solver_body_volume(const taut_solver *solver, size_t body)
{
    return solver->functions->volume(solver->system, body);
}

void solver_read_nodes(const taut_solver *solver, uint64_t first, uint64_t count, double *positions,
                       double *velocities, double *forces)
{
    solver->functions->read_nodes(solver->system, first, count, positions, velocities, forces);
}

void solver_read_springs(const taut_solver *solver, double *strains, uint8_t *broken)
{
    solver->functions->read_springs(solver->system, strains, broken);
}

uint64_t solver_bytes(const taut_solver *solver)
{
    return sizeof *solver + topology_bytes(solver->topology) + plan_bytes(solver->plan) +
           solver->functions->bytes(solver->system);
}

double solver_spring_updates(const taut_solver *solver)
{
    return (double)solver->topology->spring_count *
           (double)solver->functions->steps(solver->system) *
           (double)solver->functions->evaluations(solver->system);
}

taut_kernel solver_kernel(const taut_solver *solver)
{
    return solver->kernel;
}

const char *kernel_choice_name(int kernel)
{
    static const char *const names[] = {[TAUT_KERNEL_AUTO] = "auto",
                                        [TAUT_KERNEL_REFERENCE] = "reference",
                                        [TAUT_KERNEL_PACKED] = "packed",
                                        [TAUT_KERNEL_GRID] = "grid",
                                        [TAUT_KERNEL_COLOURED] = "coloured"};
    bool known = kernel >= 0 && kernel < (int)(sizeof names / sizeof names[0]);
    return known ? names[kernel] : NULL;
}

const char *solver_body_kernel(const taut_solver *solver, size_t body)
{
    if (plan_grid_of_body(solver->plan, body))
        return "grid";
    if (!solver->plan->packs && !solver->plan->reference)
        return solver->plan->coloured.block_count > 0 ? "coloured" : "blocks";
    return solver->functions->kernel_name(solver->system);
}

// ---- Energies and hash

struct evaluate_arguments {
    taut_solver *solver;
    bool want_forces;
    taut_energy *energy;
};

static void evaluate(void *context, const struct worker *worker)
{
    struct evaluate_arguments *it = context;
    it->solver->functions->evaluate(it->solver->system, it->want_forces, it->energy, worker);
}

void solver_evaluate(taut_solver *solver, bool want_forces, taut_energy *energy)
{
    struct evaluate_arguments arguments = {solver, want_forces, energy};
    solver_work(solver, evaluate, &arguments);
}

taut_status taut_solver_energy(taut_solver *solver, taut_energy *energy, taut_error *error)
{
    (void)error;
    solver_evaluate(solver, false, energy);
    return TAUT_OK;
}

uint64_t taut_solver_hash(const taut_solver *solver)
{
    return solver->functions->hash(solver->system);
}

// ---- A frame of the present state

// All arrays of a view with their lengths and what they are wanted for, listed once.
#define VIEW_ARRAYS(X)                                                                             \
    X(bodies, body_count, true)                                                                    \
    X(positions, node_count * 3, view->room & WANT_NODES)                                          \
    X(velocities, node_count * 3, view->room & WANT_NODES)                                         \
    X(forces, node_count * 3, view->room & WANT_FORCES)                                            \
    X(strains, spring_count, view->room &WANT_STRAINS)                                             \
    X(broken, spring_count, view->room &WANT_STRAINS)                                              \
    X(springs, spring_count, view->room &WANT_LISTS)                                               \
    X(faces, face_count * 3, view->room & WANT_LISTS)

static bool allocate_arrays(struct snapshot_buffer *view)
{
#define ALLOCATE(name, length, condition)                                                          \
    if (condition) {                                                                               \
        view->name = memory_allocate(NULL, (size_t)(view->length), sizeof *view->name);            \
        if (!view->name)                                                                           \
            return false;                                                                          \
    }
    VIEW_ARRAYS(ALLOCATE)
#undef ALLOCATE
    return true;
}

void snapshot_buffer_free(struct snapshot_buffer *view)
{
#define RELEASE(name, length, condition)                                                           \
    memory_release(NULL, view->name, (size_t)(view->length), sizeof *view->name);
    VIEW_ARRAYS(RELEASE)
#undef RELEASE
    *view = (struct snapshot_buffer){0};
}

static uint32_t number_in_body(const struct topology *topology, const struct topology_body *body,
                               uint32_t node)
{
    return (uint32_t)(topology_builder_node(topology, node) - body->first_node);
}

static void fill_lists(const struct topology *topology, const struct topology_body *body,
                       struct snapshot_buffer *view)
{
    uint64_t end = body->first_spring + body->spring_count;
    for (uint64_t spring = body->first_spring; spring < end;) {
        struct spring_run run = topology_run(topology, spring, end);
        for (uint32_t i = 0; i < run.count; i++) {
            uint32_t *ends = view->springs[topology_builder_spring(topology, spring + i)];
            ends[0] = number_in_body(topology, body, run.a + i);
            ends[1] = number_in_body(topology, body, run.b + i);
        }
        spring += run.count;
    }
    uint32_t *faces = view->faces + 3 * body->first_face;
    for (uint64_t i = 0; i < body->face_count; i++) {
        struct face face = topology_body_face(topology, body, i);
        for (int corner = 0; corner < body->face_arity; corner++)
            faces[i * (uint64_t)body->face_arity + (uint64_t)corner] =
                number_in_body(topology, body, face.nodes[corner]);
    }
}

// Whether the state of a spring does not follow from positions alone.
static bool springs_change(const struct topology *topology, const struct topology_body *body)
{
    uint64_t end = body->first_spring + body->spring_count;
    bool none = !topology->any_breaks && !topology->any_yields;
    for (uint64_t spring = body->first_spring; spring < end && !none;) {
        struct spring_run run = topology_run(topology, spring, end);
        const struct material *material = &topology->materials[run.material];
        if (isfinite(material->break_at) || isfinite(material->yield_at))
            return true;
        spring += run.count;
    }
    return false;
}

static void fill_body(const struct topology *topology, size_t index, struct snapshot_buffer *view)
{
    const struct topology_body *body = &topology->bodies[index];
    struct snapshot_body *to = &view->bodies[index];
    *to = (struct snapshot_body){
        .name = body->name,
        .node_count = body->node_count,
        .spring_count = body->spring_count,
        .face_count = body->face_count,
        .face_arity = body->face_arity,
        .springs_change = springs_change(topology, body),
    };
    if (body->type == BODY_CLOTH) {
        to->sheet[0] = body->grid[0];
        to->sheet[1] = body->grid[1];
    }
    if (view->room & WANT_NODES) {
        to->positions = view->positions + 3 * body->first_node;
        to->velocities = view->velocities + 3 * body->first_node;
    }
    if (view->room & WANT_FORCES)
        to->forces = view->forces + 3 * body->first_node;
    if (view->room & WANT_STRAINS) {
        to->strains = view->strains + body->first_spring;
        to->broken = topology->any_breaks ? view->broken + body->first_spring : NULL;
    }
    if (view->room & WANT_LISTS) {
        fill_lists(topology, body, view);
        to->springs = (const uint32_t(*)[2])view->springs + body->first_spring;
        to->faces = view->faces + 3 * body->first_face;
    }
}

taut_status snapshot_buffer_make(const taut_solver *solver, unsigned wanted,
                                 struct snapshot_buffer *view, taut_error *error)
{
    const struct topology *topology = solver->topology;
    *view = (struct snapshot_buffer){
        .room = wanted,
        .body_count = topology->body_count,
        .node_count = topology->node_count,
        .spring_count = topology->spring_count,
        .face_count = topology->face_count,
    };
    if (!allocate_arrays(view)) {
        snapshot_buffer_free(view);
        return fail_memory(error, "the snapshot");
    }
    for (size_t b = 0; b < topology->body_count; b++)
        fill_body(topology, b, view);
    view->snapshot.bodies = view->bodies;
    view->snapshot.body_count = view->body_count;
    view->snapshot.single = solver->precision == PRECISION_SINGLE;
    return TAUT_OK;
}

static void take_energy(const taut_solver *solver, const taut_energy *energy,
                        struct snapshot *snapshot)
{
    snapshot->kinetic = energy->kinetic;
    snapshot->elastic = energy->elastic;
    snapshot->gravity = energy->gravity;
    snapshot->gas = energy->gas;
    snapshot->contact = energy->contact;
    snapshot->total = energy->total;
    const struct energy_budget *work = solver->functions->work(solver->system);
    snapshot->has_work = work != NULL;
    if (work)
        snapshot->work = (struct snapshot_work){
            .damping = work->done[WORK_DAMPING],
            .drag = work->done[WORK_DRAG],
            .friction = work->done[WORK_FRICTION],
            .keep = work->done[WORK_KEEP],
            .projection = work->done[WORK_PROJECTION],
            .breaking = work->done[WORK_BREAKING],
            .wind = work->done[WORK_WIND],
            .drives = work->done[WORK_DRIVES],
            .inflation = work->done[WORK_INFLATION],
        };
}

void snapshot_buffer_take(taut_solver *solver, unsigned wanted, struct snapshot_buffer *view)
{
    const struct system_functions *call = solver->functions;
    wanted &= view->room;
    if (wanted & (WANT_ENERGY | WANT_FORCES)) {
        taut_energy energy;
        solver_evaluate(solver, wanted & WANT_FORCES, &energy);
        take_energy(solver, &energy, &view->snapshot);
        for (size_t b = 0; b < view->body_count; b++)
            view->bodies[b].volume = call->volume(solver->system, b);
    }
    if (wanted & WANT_NODES)
        call->read_nodes(solver->system, 0, view->node_count, view->positions, view->velocities,
                         NULL);
    if (wanted & WANT_FORCES)
        call->read_nodes(solver->system, 0, view->node_count, NULL, NULL, view->forces);
    if (wanted & WANT_STRAINS)
        call->read_springs(solver->system, view->strains, view->broken);
    view->snapshot.step = taut_solver_step_count(solver);
    view->snapshot.time = taut_solver_time(solver);
}

// ---- For tests and benchmarks of single stages

struct system *solver_system(const taut_solver *solver)
{
    return solver->system;
}

struct topology *solver_topology_to_damage(taut_solver *solver)
{
    return solver->topology;
}

struct plan *solver_plan_to_damage(taut_solver *solver)
{
    return solver->plan;
}

double solver_critical_up_to(taut_solver *solver, double most, const struct worker *worker)
{
    return solver->functions->critical_up_to(solver->system, most, worker);
}

void solver_change_dt(taut_solver *solver, double dt, const struct worker *worker)
{
    solver->functions->change_dt(solver->system, dt, worker);
}
