#include "solver.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/task.h"
#include "solver_dt.h"
#include "solver_memory.h"
#include "parallel/machine.h"
#include "topology/reorder.h"
#include "parallel/places.h"

// One step: forces and motion, what follows them, and now and then a look whether all is well. The
// step is counted by one worker; others may read that only after the next barrier.
static void one_step(taut_solver *solver, uint64_t done, const struct worker *worker)
{
    const struct system_functions *call = solver->functions;
    call->integrate(solver->system, worker);
    call->finish(solver->system, worker);
    bool checks = done % DIVERGENCE_STEPS == 0, adapts = dt_is_due(solver, done);
    if (checks || adapts)
        worker_barrier(worker);
    if (checks)
        call->check(solver->system, worker);
    if (adapts)
        dt_adapt(solver, worker);
}

static void free_team(taut_solver *solver)
{
    team_free(solver->team);
    places_free(solver->places);
    solver->team = NULL;
    solver->places = NULL;
}

// The team of so many threads as are wanted now; NULL without memory.
static struct team *team_of(taut_solver *solver)
{
    if (solver->team_threads != solver->threads)
        free_team(solver);
    if (!solver->team && solver->held) // without memory nobody is held
        places_make(solver->threads, &solver->places, NULL);
    if (!solver->team)
        solver->team =
            team_make(solver->threads, solver->places, solver->places ? places_enter : NULL);
    solver->team_threads = solver->threads;
    return solver->team;
}

void solver_work(taut_solver *solver, team_function function, void *context)
{
    struct team *team = team_of(solver);
    void *before = places_visit(solver->places);
    team_work(team, function, context);
    places_leave(solver->places, before);
}

struct advance {
    taut_solver *solver;
    uint64_t end;     // the number of steps to come to
    uint64_t changes; // of dt when the work began: one more ends it
    bool looks_at_end;
};

// How many steps are still to be taken. All workers of a group find the same: a fault is set, and
// a step counted, before a barrier, and read after it.
static uint64_t steps_left(const struct advance *it)
{
    const struct system_functions *call = it->solver->functions;
    if (call->fault(it->solver->system)->code != TAUT_OK)
        return 0;
    if (it->solver->dt_rule.changes != it->changes)
        return 0;
    return it->end - call->steps(it->solver->system);
}

// The team's work for many steps. Workers come and go between them.
static void advance(void *context, const struct worker *worker)
{
    struct advance *it = context;
    uint64_t left;
    while ((left = steps_left(it)) > 0) {
        one_step(it->solver, it->end - left + 1, worker);
        if (!worker_regroup(worker))
            return;
    }
    if (it->looks_at_end && it->solver->functions->fault(it->solver->system)->code == TAUT_OK)
        it->solver->functions->check(it->solver->system, worker);
}

static taut_status explain_collapse(const taut_solver *solver, const struct fault *fault,
                                    taut_error *error)
{
    return fail(error, fault->code,
                "body '%s' collapsed: its volume is %g at t = %g s (step %llu); gas has no room "
                "left. Try a smaller dt, stiffer springs, or more gas",
                solver->topology->bodies[fault->body].name,
                solver->functions->volume(solver->system, fault->body), fault->time,
                (unsigned long long)fault->step);
}

static taut_status explain_divergence(taut_solver *solver, const struct fault *fault,
                                      taut_error *error)
{
    const struct topology *topology = solver->topology;
    const struct topology_body *body = &topology->bodies[fault->body];
    char near[160] = "no spring is attached to it", limit[200] = "";
    uint64_t spring;
    if (solver->functions->stiffest_spring(solver->system, fault->node, &spring))
        snprintf(
            near, sizeof near, "the stiffest spring there is number %llu with %g N/m",
            (unsigned long long)(topology_spring_outside(topology, spring) - body->first_spring),
            topology->materials[topology_spring(topology, spring).material].stiffness);
    struct critical_step critical;
    if (solver_critical_step(solver, &critical, NULL) == TAUT_OK && critical.known) {
        double dt = critical.dt[solver->integrator];
        snprintf(limit, sizeof limit,
                 isinf(dt)
                     ? "; dt is %g s, and springs set no limit to %s: look at what else acts, "
                       "and at how the equations were solved"
                 : dt > 0 ? "; dt is %g s, and %s is known to be stable up to %.4g s"
                          : "; dt is %g s, and %s grows at every step without damping",
                 solver->dt, integrator_name(solver->integrator), dt);
    }
    return fail(
        error, fault->code,
        "diverged at t = %g s (step %llu), first seen at node %llu of body '%s'; %s%s", fault->time,
        (unsigned long long)fault->step,
        (unsigned long long)(topology_node_outside(topology, fault->node) - body->first_node),
        body->name, near, limit);
}

taut_status solver_advance(taut_solver *solver, uint64_t steps, bool look_at_end, taut_error *error)
{
    double start = clock_seconds();
    double work_before = solver->functions->clock(solver->system)->seconds[STAGE_WORK];
    uint64_t done = solver->functions->steps(solver->system);
    struct advance all = {.solver = solver,
                          .end = done + steps,
                          .changes = solver->dt_rule.changes,
                          .looks_at_end = look_at_end && steps > 0};
    solver_work(solver, advance, &all);
    double work = solver->functions->clock(solver->system)->seconds[STAGE_WORK] - work_before;
    solver->step_seconds += clock_seconds() - start - work;
    const struct fault *fault = solver->functions->fault(solver->system);
    if (fault->code == TAUT_ERROR_COLLAPSED)
        return explain_collapse(solver, fault, error);
    if (fault->code == TAUT_ERROR_DIVERGED)
        return explain_divergence(solver, fault, error);
    return TAUT_OK;
}

taut_status taut_solver_step(taut_solver *solver, uint64_t steps, taut_error *error)
{
    uint64_t end = solver->functions->steps(solver->system) + steps;
    taut_status status;
    do { // dt: auto stops where dt changes
        uint64_t left = end - solver->functions->steps(solver->system);
        status = solver_advance(solver, left, true, error);
    } while (status == TAUT_OK && solver->functions->steps(solver->system) < end);
    return status;
}

taut_status solver_set_threads(taut_solver *solver, int threads, taut_error *error)
{
    if (!solver->functions->reserve_workers(solver->system, threads))
        return fail_memory(error, "more threads");
    solver->threads = threads;
    return TAUT_OK;
}

static void start(void *context, const struct worker *worker)
{
    taut_solver *solver = context;
    solver->functions->start(solver->system, worker);
}

// Small systems are done sooner by fewer threads. A second thread gains a third with 7,000 springs
// each and two thirds with 30,000 (measured on a quiet machine), but where another process keeps a
// worker waiting at the dozens of barriers of a short step, it costs several times as much as it
// gains.
enum { SPRINGS_PER_THREAD = 16384 };

static taut_status choose_threads(taut_solver *solver, int wanted, taut_error *error)
{
    const uint64_t useful = solver->topology->spring_count / SPRINGS_PER_THREAD;
    solver->threads = wanted;
    if (solver->plan->reference || (wanted == 0 && useful <= 1)) {
        // Without a look at the machine, which takes ten times as long as all else of a flag.
        solver->threads = 1;
    } else if (wanted == 0) {
        struct machine machine;
        taut_status status = machine_detect(&machine, error);
        if (status != TAUT_OK)
            return status;
        solver->threads = useful < (uint64_t)machine.cores ? (int)useful : machine.cores;
    } else {
        return machine_cap_threads(wanted, &solver->threads, error);
    }
    return TAUT_OK;
}

// Between two parts of the work: says what comes, and ends it where nobody wants it any more.
static taut_status go_on(const char *stage, taut_error *error)
{
    task_stage(stage);
    return task_is_cancelled() ? fail_memory(error, "a scene that is given up") : TAUT_OK;
}

static taut_status build(taut_solver *solver, const taut_scene *scene, struct bodies *bodies,
                         const struct solver_options *wanted, taut_error *error)
{
    const taut_allocator *allocator = solver->allocator;
    taut_status status = go_on("ordering the nodes", error);
    struct plan_options plan_options = wanted->plan;
    // xpbd solves springs one after the other: those on no grid stand in coloured blocks.
    plan_options.no_packing |= solver->integrator == INTEGRATOR_XPBD;
    plan_options.reference = wanted->config.kernel == TAUT_KERNEL_REFERENCE;
    if (status == TAUT_OK && !wanted->keep_numbers && !bodies_renumber(bodies))
        status = fail_memory(error, "the order of the nodes");
    if (status == TAUT_OK)
        status = go_on("laying out springs and faces", error);
    if (status == TAUT_OK)
        status = topology_cook(scene, bodies, allocator, &solver->topology, error);
    if (status == TAUT_OK)
        status = go_on("planning the work", error);
    if (status == TAUT_OK)
        status = plan_make(solver->topology, &plan_options, allocator, &solver->plan, error);
#ifndef NDEBUG
    if (status == TAUT_OK)
        status = plan_check(solver->topology, solver->plan, error);
#endif
    if (status == TAUT_OK)
        status = choose_threads(solver, wanted->config.threads, error);
    struct system_options options = {
        .scene = scene,
        .dt = scene->simulation.dt_auto ? 0 : scene->simulation.dt,
        .isa = solver->isa,
        .threads = solver->threads,
        .account_work =
            wanted->budget == BUDGET_OF_SCENE ? scene->output.work : wanted->budget == BUDGET_ON,
        .tolerant = wanted->tolerant,
    };
    if (status == TAUT_OK)
        status = go_on("filling the state", error);
    if (status == TAUT_OK) {
        bodies_place(bodies);
        options.team = team_of(solver);
        void *before = places_visit(solver->places);
        status = solver->functions->make(solver->topology, solver->plan, bodies, &options,
                                         allocator, &solver->system, error);
        places_leave(solver->places, before);
    }
    bodies_free(bodies); // before what follows takes memory in their place
    if (status == TAUT_OK)
        plan_forget(solver->topology, solver->plan);
    if (status == TAUT_OK)
        status = go_on("finding the first forces", error);
    if (status == TAUT_OK)
        status = dt_choose(solver, scene, wanted->tolerant ? NULL : wanted->diagnostics, error);
    if (status == TAUT_OK)
        solver_work(solver, start, solver);
    return status;
}

// Whether every value of the configuration is one of its type's.
static taut_status check_config(const taut_config *config, taut_error *error)
{
    enum { THREADS_MAX = 4096 };
    if (config->threads < 0 || config->threads > THREADS_MAX)
        return fail(error, TAUT_ERROR_ARGUMENT, "%d threads: choose 1 to %d, or 0 for all cores",
                    config->threads, THREADS_MAX);
    if (config->kernel != TAUT_KERNEL_AUTO && config->kernel != TAUT_KERNEL_REFERENCE)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "kernel %d: choose TAUT_KERNEL_AUTO or TAUT_KERNEL_REFERENCE",
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
    solver->held = !options->config.no_pin;
    solver->integrator = scene->simulation.integrator;
    solver->functions =
        scene->precision == PRECISION_DOUBLE ? &system_functions_f64 : &system_functions_f32;
    struct bodies bodies = {0};
    struct diagnostics own = {0};
    struct diagnostics *diagnostics = options->diagnostics ? options->diagnostics : &own;
    taut_status status = check_config(&options->config, error);
    if (status == TAUT_OK)
        status = isa_choose(options->config.isa, &solver->isa, error);
    if (status == TAUT_OK)
        status = memory_check_scene(scene, options, error);
    if (status == TAUT_OK)
        status = go_on("building the bodies", error);
    if (status == TAUT_OK)
        status = bodies_build(scene, &bodies, diagnostics, error);
    if (status == TAUT_OK && options->change)
        status = options->change(options->change_context, &bodies, error);
    if (status == TAUT_OK)
        status = build(solver, scene, &bodies, options, error);
    else if (status == TAUT_ERROR_SCENE && own.count)
        fail(error, status, "%s", own.items[0].text);
    diagnostics_free(&own);
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
    if (solver->system)
        solver->functions->free(solver->system);
    plan_free(solver->plan);
    topology_free(solver->topology);
    free_team(solver);
    taut_allocator allocator = solver->allocator_copy;
    memory_release(&allocator, solver, 1, sizeof *solver);
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

const char *solver_body_kernel(const taut_solver *solver, size_t body)
{
    if (plan_grid_of_body(solver->plan, body))
        return "grid";
    if (!solver->plan->packs && !solver->plan->reference)
        return "blocks";
    return solver->functions->kernel_name(solver->system);
}
