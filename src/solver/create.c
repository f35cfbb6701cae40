// Creates and destroys a solver: loads and validates the scene, builds and renumbers its bodies,
// compiles them into a topology and a plan, and creates state and threads. Stepping is in step.c.
#include "solver/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/memory.h"
#include "base/task.h"
#include "base/text.h"
#include "parallel/machine.h"
#include "ranks/ranks.h"
#include "scene/reader.h"
#include "topology/cut.h"
#include "topology/reorder.h"

// ---- Scenes

const char *taut_version(void)
{
    return TAUT_VERSION_STRING;
}

void taut_scene_options_default(taut_scene_options *options)
{
    *options = (taut_scene_options){0};
}

static void report(const struct diagnostics *diagnostics, const taut_scene_options *options)
{
    if (!options || !options->on_message)
        return;
    for (size_t i = 0; i < diagnostics->count; i++) {
        char *text = diagnostic_render(&diagnostics->items[i]);
        options->on_message(options->message_context, text ? text : diagnostics->items[i].text);
        free(text);
    }
}

// Builds the bodies once as a check, so that an invalid file fails here and not later.
static taut_status validate(const taut_scene *scene, struct diagnostics *diagnostics,
                            taut_error *error)
{
    struct bodies bodies = {0};
    taut_status status = memory_check_bodies(scene, error);
    if (status == TAUT_OK)
        status = bodies_build(scene, &bodies, diagnostics, error);
    bodies_free(&bodies);
    return status;
}

// Reports that a file cannot be read, or that memory ran out; the last finding has the reason.
static void fail_file(const struct diagnostics *diagnostics, taut_status status, const char *name,
                      taut_error *error)
{
    if (diagnostics->count > 0)
        fail(error, status, "%.400s: %.600s", name,
             diagnostics->items[diagnostics->count - 1].text);
    else
        fail_memory(error, name);
}

// Loads from `text`, or from the file `name` if text is NULL.
static taut_status load(const char *text, size_t length, const char *name,
                        const taut_scene_options *options, taut_scene **scene, taut_error *error)
{
    *scene = NULL;
    size_t count = options ? options->override_count : 0;
    struct scene_override *overrides = calloc(count + 1, sizeof *overrides);
    if (!overrides)
        return fail_memory(error, "the scene");
    for (size_t i = 0; i < count; i++)
        overrides[i].text = options->overrides[i];
    struct diagnostics diagnostics = {0};
    taut_scene *read = text ? scene_read_text(text, length, name, overrides, count, &diagnostics)
                            : scene_read_file(name, overrides, count, &diagnostics);
    free(overrides);
    taut_status status =
        read ? validate(read, &diagnostics, error) : diagnostics_status(&diagnostics);
    if (status == TAUT_ERROR_SCENE)
        fail(error, status, "%s: %zu %s", name, diagnostics.error_count,
             text_noun(diagnostics.error_count, "error", "errors"));
    else if (!read)
        fail_file(&diagnostics, status, name, error);
    report(&diagnostics, options);
    diagnostics_free(&diagnostics);
    if (status != TAUT_OK) {
        scene_free(read);
        return status;
    }
    *scene = read;
    return TAUT_OK;
}

taut_status taut_scene_load(const char *path, const taut_scene_options *options, taut_scene **scene,
                            taut_error *error)
{
    return load(NULL, 0, path, options, scene, error);
}

taut_status taut_scene_parse(const char *text, size_t length, const char *name,
                             const taut_scene_options *options, taut_scene **scene,
                             taut_error *error)
{
    return load(text, length, name, options, scene, error);
}

void taut_scene_destroy(taut_scene *scene)
{
    scene_free(scene);
}

void taut_config_default(taut_config *config)
{
    *config = (taut_config){0};
}

// ---- The team of threads

static void free_team(taut_solver *solver)
{
    team_free(solver->team);
    numa_binding_free(solver->binding);
    solver->team = NULL;
    solver->binding = NULL;
}

// The team with the present number of threads; NULL without memory.
static struct team *team_of(taut_solver *solver)
{
    if (solver->team_threads != solver->threads)
        free_team(solver);
    if (!solver->team && solver->pinned) // without memory no thread is bound
        numa_binding_make(solver->threads, &solver->binding, NULL);
    if (!solver->team)
        solver->team = team_make(solver->threads, solver->binding);
    solver->team_threads = solver->threads;
    return solver->team;
}

void solver_work(taut_solver *solver, team_function function, void *context)
{
    apply_changes(solver);
    solver_collect(solver);
    team_work(team_of(solver), function, context);
}

// ---- Building

static void start(void *context, const struct worker *worker)
{
    taut_solver *solver = context;
    solver->functions->start(solver->system, worker);
}

void solver_start(taut_solver *solver)
{
    const bool together = solver_begin_part(solver, PART_START, 0);
    solver_work(solver, start, solver);
    if (together)
        solver_end_part(solver);
}

// Small systems are faster with fewer threads. A second thread gains a third with 7,000 springs per
// thread and two thirds with 30,000 (measured on a quiet machine). If another process delays a
// worker at the dozens of barriers of a short step, however, it costs several times as much as it
// gains.
enum { SPRINGS_PER_THREAD = 16384 };

static taut_status choose_threads(taut_solver *solver, int wanted, taut_error *error)
{
    const uint64_t useful = solver->topology->spring_count / SPRINGS_PER_THREAD;
    if (wanted == 0)
        wanted = team_threads_requested();
    solver->threads = wanted;
    if (plan_is_reference(solver->plan) || (wanted == 0 && useful <= 1)) {
        // The machine is not inspected here, because that takes ten times as long as everything
        // else for a flag.
        solver->threads = 1;
    } else if (wanted == 0) {
        struct machine machine;
        taut_status status = machine_detect(&machine, error);
        if (status != TAUT_OK)
            return status;
        const int most = machine_default_threads(&machine);
        solver->threads = useful < (uint64_t)most ? (int)useful : most;
    } else {
        return machine_cap_threads(wanted, &solver->threads, error);
    }
    return TAUT_OK;
}

// Called between two stages of a build: names the next stage, and fails if the build was cancelled.
static taut_status begin_stage(const char *stage, taut_error *error)
{
    task_stage(stage);
    return task_is_cancelled() ? fail_memory(error, "a cancelled build") : TAUT_OK;
}

// Plan options that follow from the kernel and the integrator.
static void add_kernel_options(const taut_solver *solver, struct plan_options *options)
{
    const taut_kernel kernel = solver->kernel;
    options->reference = kernel == TAUT_KERNEL_REFERENCE;
    options->coloured |= kernel == TAUT_KERNEL_COLOURED;
    options->no_spring_grids |= kernel == TAUT_KERNEL_COLOURED || kernel == TAUT_KERNEL_PACKED;
    // xpbd solves springs one after another: those on no grid are in coloured blocks.
    options->no_packing |= options->coloured || solver->integrator == INTEGRATOR_XPBD;
}

// Rejects a kernel that was requested by name and that no body of the scene can use.
static taut_status check_kernel(const taut_solver *solver, taut_error *error)
{
    const struct topology *topology = solver->topology;
    if (solver->kernel == TAUT_KERNEL_PACKED && solver->integrator == INTEGRATOR_XPBD)
        return fail(
            error, TAUT_ERROR_ARGUMENT,
            "kernel packed: the integrator xpbd solves springs one after the other, and "
            "packed ones are computed all at once; choose auto, grid or coloured, or another "
            "integrator");
    if (solver->kernel != TAUT_KERNEL_GRID || plan_counts(topology, solver->plan).grids > 0 ||
        topology->spring_count == 0)
        return TAUT_OK;
    size_t body = topology_body_of_spring(topology, 0);
    return fail(
        error, TAUT_ERROR_ARGUMENT,
        "kernel grid: no body has its springs on a grid of rows of at least 4 nodes, nor has "
        "'%s' (%s); choose auto, packed or coloured",
        topology->bodies[body].name, body_type_name(topology->bodies[body].type));
}

taut_status solver_begin_run(taut_solver *solver, const taut_scene *scene,
                             const struct solver_options *wanted, taut_error *error)
{
    taut_status status = dt_choose(solver, scene, wanted, error);
    if (status == TAUT_OK)
        solver_start(solver);
    if (status == TAUT_OK && !solver_is_whole(solver))
        status = fail_memory(error, "contact");
    if (status == TAUT_OK && !wanted->planned)
        status = contact_refuse_touching(solver, scene, wanted->diagnostics, error);
    if (status == TAUT_OK && !wanted->tolerant)
        solver_warn_of_rounding(solver, scene, wanted->diagnostics);
    return status;
}

// A rank with its part keeps positions as built only of those membrane nodes that are around its
// own nodes.
static taut_status forget_membranes(taut_solver *solver, struct range near, taut_error *error)
{
    struct topology *topology = solver->topology;
    const bool warns = ranks_number() == 0 && solver->precision != PRECISION_DOUBLE;
    if (topology->membrane_node_count == 0)
        return TAUT_OK;
    if (warns && !solver_measure_membranes(solver))
        return fail_memory(error, "the solver");
    topology_forget_membranes(topology, near.first, near.end);
    solver->lacks_membranes = true;
    return TAUT_OK;
}

static taut_status build(taut_solver *solver, const taut_scene *scene, struct bodies *bodies,
                         const struct solver_options *wanted, struct part_bodies *parts,
                         taut_error *error)
{
    const taut_allocator *allocator = solver->allocator;
    taut_status status = begin_stage("ordering the nodes", error);
    struct plan_options plan_options = wanted->plan;
    add_kernel_options(solver, &plan_options);
    if (parts)
        part_bodies_plan(parts, bodies, &plan_options);

    if (status == TAUT_OK && !wanted->keep_numbering && !bodies_renumber(bodies))
        status = fail_memory(error, "the order of the nodes");

    if (status == TAUT_OK)
        status = begin_stage("laying out springs and faces", error);
    if (status == TAUT_OK)
        status = topology_cook(scene, bodies, allocator, &solver->topology, error);

    if (status == TAUT_OK)
        status = begin_stage("planning the work", error);
    if (parts)
        part_bodies_know_topology(parts, solver->topology);
    if (status == TAUT_OK)
        status = plan_make(solver->topology, &plan_options, allocator, &solver->plan, error);
    if (status == TAUT_OK)
        status = check_kernel(solver, error);
#ifndef NDEBUG
    if (status == TAUT_OK && !part_bodies_lack_lists(parts))
        status = plan_check(solver->topology, solver->plan, error);
#endif
    if (status == TAUT_OK && parts)
        part_bodies_planned(parts);
    if (status == TAUT_OK && wanted->planned)
        status = wanted->planned(wanted->planned_context, solver, error);
    if (status == TAUT_OK)
        status = choose_threads(solver, wanted->config.threads, error);

    struct system_options options = {
        .scene = scene,
        .dt = scene->simulation.dt_auto ? 0 : scene->simulation.dt,
        .isa = solver->isa,
        .threads = solver->threads,
        .keep_energy_budget =
            wanted->budget == BUDGET_OF_SCENE ? scene->output.work : wanted->budget == BUDGET_ON,
        .tolerant = wanted->tolerant,
    };
    if (status == TAUT_OK)
        status = begin_stage("filling the state", error);
    if (status == TAUT_OK) {
        bodies_apply_initial(bodies);
        options.team = team_of(solver);
        options.share.own = (struct range){0, (size_t)solver->topology->node_count};
        options.share.known = options.near = options.share.own;
    }
    struct range near = options.near;
    if (status == TAUT_OK && ranks_count() > 1)
        status = solver_own_nodes(solver, &options.share.own, &near, error);
    if (status == TAUT_OK && wanted->shares && solver_may_hold_part(solver, scene)) {
        options.share.known = options.share.own;
        options.near = near;
        solver->only_part = true;
    }
    if (status == TAUT_OK) {
        void *before = numa_bind_thread(solver->binding, 0);
        status = solver->functions->make(solver->topology, solver->plan, bodies, &options,
                                         allocator, &solver->system, error);
        numa_unbind_thread(solver->binding, before);
    }

    bodies_free(bodies); // before the allocations that replace it
    if (status == TAUT_OK && solver->only_part)
        status = forget_membranes(solver, near, error);
    if (status == TAUT_OK)
        plan_release_build_data(solver->topology, solver->plan);

    if (status == TAUT_OK)
        status = begin_stage("finding the first forces", error);
    if (status == TAUT_OK && !solver->only_part)
        status = solver_begin_run(solver, scene, wanted, error);
    return status;
}

// Whether every value of the configuration is valid for its type.
static taut_status check_config(const taut_config *config, taut_error *error)
{
    enum { THREADS_MAX = 4096 };
    if (config->threads < 0 || config->threads > THREADS_MAX)
        return fail(error, TAUT_ERROR_ARGUMENT, "%d threads: choose 1 to %d, or 0 for all cores",
                    config->threads, THREADS_MAX);
    if (!kernel_choice_name((int)config->kernel))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "kernel %d: choose TAUT_KERNEL_AUTO, _REFERENCE, _PACKED, _GRID or _COLOURED",
                    (int)config->kernel);
    return TAUT_OK;
}

taut_status solver_create(const taut_scene *scene, const struct solver_options *options,
                          taut_solver **result, taut_error *error)
{
    *result = NULL;
    double begin = clock_seconds();
    const taut_allocator *allocator = options->config.allocator;
    taut_solver *solver = memory_allocate(allocator, 1, sizeof *solver);
    if (!solver)
        return fail_memory(error, "the solver");

    solver->allocator_copy = allocator ? *allocator : memory_default_allocator;
    solver->allocator = &solver->allocator_copy;
    solver->precision = scene->precision;
    solver->pinned = !options->config.no_pin;
    solver->integrator = scene->simulation.integrator;
    solver->kernel = options->config.kernel;
    solver->functions =
        scene->precision == PRECISION_DOUBLE ? &system_functions_f64 : &system_functions_f32;

    struct bodies bodies = {0};
    struct diagnostics own = {0};
    struct diagnostics *diagnostics = options->diagnostics ? options->diagnostics : &own;

    // Cheap checks come before anything expensive is built.
    taut_status status = check_config(&options->config, error);
    if (status == TAUT_OK)
        status = isa_choose(options->config.isa, &solver->isa, error);
    if (status == TAUT_OK)
        status = memory_check_scene(scene, options, error);
    if (status == TAUT_OK)
        status = begin_stage("building the bodies", error);
    struct part_bodies *parts = NULL;
    if (status == TAUT_OK && ranks_count() > 1 && options->shares)
        status = part_bodies_make(scene, options, &parts, error);
    if (status == TAUT_OK)
        status = bodies_build_each(scene, parts ? part_bodies_built : NULL, parts, &bodies,
                                   diagnostics, error);
    if (status == TAUT_OK && options->change)
        status = options->change(options->change_context, &bodies, error);
    if (status == TAUT_OK && parts && part_bodies_have_digests(parts)) {
        part_bodies_digests(parts, &bodies, &solver->digest, &solver->start);
    } else if (status == TAUT_OK) {
        solver->digest = bodies_digest(scene, &bodies);
        if (ranks_count() > 1 && !options->planned)
            solver->start = bodies_start_digest(scene, &bodies);
    }
    if (status == TAUT_OK)
        status = build(solver, scene, &bodies, options, parts, error);
    else if (status == TAUT_ERROR_SCENE && own.count)
        fail(error, status, "%s", own.items[0].text);

    diagnostics_free(&own);
    part_bodies_free(parts);
    bodies_free(&bodies);
    if (status != TAUT_OK) {
        taut_solver_destroy(solver);
        return status;
    }

    solver->setup_seconds = clock_seconds() - begin;
    *result = solver;
    return TAUT_OK;
}

void taut_solver_destroy(taut_solver *solver)
{
    if (!solver)
        return;
    solver_ranks_free(solver);
    reading_free(solver->reading);
    if (solver->change)
        solver->functions->change_free(solver->system, solver->change);
    if (solver->system)
        solver->functions->free(solver->system);
    plan_free(solver->plan);
    solver_forget_extents(solver);
    topology_free(solver->topology);
    free_team(solver);
    taut_allocator allocator = solver->allocator_copy;
    memory_release(&allocator, solver, 1, sizeof *solver);
}

taut_status taut_solver_create(const taut_scene *scene, const taut_config *config,
                               taut_solver **solver, taut_error *error)
{
    struct solver_options options = {0};
    if (config)
        options.config = *config;
    return solver_create(scene, &options, solver, error);
}

// ---- Without some springs and faces

// Applies the caller's change of the bodies, and then the cuts.
struct cut_change {
    const struct solver_options *wanted;
    const struct solver_cuts *cuts;
};

static taut_status cut(const void *context, struct bodies *bodies, taut_error *error)
{
    const struct cut_change *it = context;
    const struct solver_options *wanted = it->wanted;
    taut_status status =
        wanted->change ? wanted->change(wanted->change_context, bodies, error) : TAUT_OK;
    if (status != TAUT_OK)
        return status;
    uint64_t springs = 0, faces = 0;
    for (size_t b = 0; b < bodies->count; b++) {
        springs += bodies->items[b].spring_count;
        faces += bodies->items[b].face_count;
    }
    if (springs != it->cuts->spring_count || faces != it->cuts->face_count)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "the cuts are of %llu springs and %llu faces, but the scene has %llu and %llu",
                    (unsigned long long)it->cuts->spring_count,
                    (unsigned long long)it->cuts->face_count, (unsigned long long)springs,
                    (unsigned long long)faces);
    if (!bodies_cut(bodies, it->cuts->springs, it->cuts->faces))
        return fail_memory(error, "the cut bodies");
    return TAUT_OK;
}

taut_status solver_create_cut(const taut_scene *scene, const struct solver_options *options,
                              const struct solver_cuts *cuts, taut_solver **solver,
                              taut_error *error)
{
    struct cut_change change = {options, cuts};
    struct solver_options cutting = *options;
    cutting.change = cut;
    cutting.change_context = &change;
    return solver_create(scene, cuts ? &cutting : options, solver, error);
}
