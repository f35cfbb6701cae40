// The time loop: integrate, finish the step, and at intervals check for divergence and adapt dt.
// All workers run it together. Faults become error messages here.
#include "solver/private.h"

#include <math.h>
#include <stdio.h>

#include "base/interruption.h"
#include "base/os.h"
#include "parallel/quota.h"
#include "ranks/ranks.h"

// One step. One worker counts it; others may read the count only after the next barrier.
static void one_step(taut_solver *solver, uint64_t done, const struct worker *worker)
{
    const struct system_functions *call = solver->functions;
    call->integrate(solver->system, worker);
    call->finish(solver->system, worker);
    call->check_cut(solver->system, worker);
    const bool checks = done % DIVERGENCE_STEPS == 0 || done == solver->steps_planned;
    bool adapts = dt_is_due(solver, done);
    if (checks || adapts)
        worker_barrier(worker);
    if ((checks || adapts) && call->fault(solver->system)->code != TAUT_OK)
        return;
    if (checks)
        call->check(solver->system, worker);
    adapts = adapts || dt_is_due_to_wind(solver, done, worker);
    const double load = dt_load(solver, done, adapts, worker);
    if (adapts || dt_is_due_to_load(solver, load)) {
        call->complete(solver->system, worker); // the bound may depend on velocities
        const bool paused = !solver->only_part && call->exchange_pause(solver->system, worker);
        dt_adapt(solver, load, worker);
        call->exchange_resume(solver->system, paused, worker);
    }
}

struct advance {
    taut_solver *solver;
    uint64_t end;     // the step number to reach
    uint64_t changes; // of dt when the work began: another change ends it
    bool partway;     // nobody sees the state at the end
    bool certain;     // the next check for divergence will end the run
};

// The number of steps still to be taken. All workers of a group get the same result: faults are set
// and steps are counted before a barrier, and read after it.
static uint64_t steps_left(const struct advance *it)
{
    const struct system_functions *call = it->solver->functions;
    if (call->fault(it->solver->system)->code != TAUT_OK)
        return 0;
    if (it->solver->dt_rule.changes != it->changes)
        return 0;
    return it->end - call->steps(it->solver->system);
}

// Whether the next check for divergence will certainly end the run, and the end has been moved to
// that check. Nobody then sees values that are not finite in a sound run, and the step at which a
// run stops does not depend on how steps are divided among calls.
static bool follow_to_check(struct advance *it, const struct worker *worker)
{
    const struct system_functions *call = it->solver->functions;
    if (it->certain || call->fault(it->solver->system)->code != TAUT_OK ||
        it->solver->dt_rule.changes != it->changes)
        return false;
    if (!call->diverges_certainly(it->solver->system, worker))
        return false;
    if (worker->index == 0) {
        it->end = (it->end / DIVERGENCE_STEPS + 1) * DIVERGENCE_STEPS;
        it->certain = true;
    }
    worker_barrier(worker);
    return !it->partway;
}

// The team's work for many steps. Workers may join and leave between them.
static void advance(void *context, const struct worker *worker)
{
    struct advance *it = context;
    do {
        uint64_t left;
        while ((left = steps_left(it)) > 0) {
            one_step(it->solver, it->end - left + 1, worker);
            if (!worker_regroup(worker))
                return;
        }
        it->solver->functions->complete(it->solver->system, worker);
    } while (follow_to_check(it, worker));
}

// Time and step are those at which the run has ended. A collapse that was found while a step was
// being computed, by a stage of rk4 or a substep of xpbd, ends the run with that step.
static taut_status explain_collapse(const taut_solver *solver, const struct fault *fault,
                                    taut_error *error)
{
    return fail(error, fault->code,
                "body '%s' collapsed: %s %g at t = %g s (step %llu); gas has no volume left. Try a "
                "smaller dt, stiffer springs, or more gas",
                solver->topology->bodies[fault->body].name,
                fault->at_start ? "its volume is" : "within the last step its volume was",
                fault->volume, taut_solver_time(solver),
                (unsigned long long)solver->functions->steps(solver->system));
}

// Far from the origin, positions may resolve less than this of a spring's strain. The rounding of
// its length then adds spurious energy in each step.
static const double COARSE = 1e-4;

// A stable step below this part of dt is that of springs that divergence has stretched, not of the
// scene.
static const double FAR_FROM_START = 0.01;

static bool any_damping(const struct topology *topology)
{
    for (size_t i = 0; i < topology->material_count; i++)
        if (topology->materials[i].damping != 0)
            return true;
    return topology->environment.air_drag != 0 || topology->any_mass_drag;
}

// Prints the step that the integrator allows in the present state, beside dt. There may be no
// guaranteed one for explicit Euler and midpoint, which only damping makes stable: then the
// computed one, of scenes where it takes no time. Returns the former.
static double explain_limit(taut_solver *solver, const struct critical_step *guaranteed,
                            char *limit, size_t size)
{
    enum { NODES_AT_ONCE = 1000 };
    const struct topology *topology = solver->topology;
    const double dt = guaranteed->dt[solver->integrator];
    struct critical_step computed = {.known = false};
    taut_energy energy;
    double stable = dt;
    if (dt == 0 && any_damping(topology) && topology->node_count <= NODES_AT_ONCE &&
        taut_solver_energy(solver, &energy, NULL) == TAUT_OK && isfinite(energy.total) &&
        solver_own_computed_step(solver, &computed, NULL) == TAUT_OK && computed.known)
        stable = computed.computed_dt[solver->integrator];
    snprintf(
        limit, size,
        isinf(stable) ? "; dt is %g s, and springs set no limit to %s: check the other forces, "
                        "and how the equations were solved"
        : stable >= solver->dt && !any_damping(topology)
            ? "; dt is %g s, and %s is stable up to %.4g s for small motions in the state where "
              "this was noticed: large ones may grow below it, so try damping or a smaller dt "
              "('safety'); or the limit was lower before (compare 'taut info')"
        : stable >= solver->dt
            ? "; dt is %g s, and %s is stable up to %.4g s in the state where this was "
              "noticed: either the limit was lower before (compare 'taut info'), or something "
              "other than springs is the cause"
        : stable >= FAR_FROM_START * solver->dt
            ? "; dt is %g s, and %s is known to be stable up to %.4g s"
        : stable > 0
            ? "; dt is %g s, and nodes have moved too far for the limit of %s in this state "
              "to mean much: 'taut info' prints that at the start"
        : !any_damping(topology) ? "; dt is %g s, and %s grows at every step without damping"
        : computed.known && computed.exact[solver->integrator]
            ? "; dt is %g s, and %s grows at every step, because some oscillation in this "
              "state is not damped"
            : "; dt is %g s, and no step of %s is known to be stable in this state: 'taut "
              "info' prints the limit at the start",
        solver->dt, integrator_name(solver->integrator), stable);
    return dt;
}

static taut_status explain_divergence(taut_solver *solver, const struct fault *fault,
                                      taut_error *error)
{
    const struct topology *topology = solver->topology;
    const struct topology_body *body = &topology->bodies[fault->body];
    char near[160] = "no spring is attached to it", limit[360] = "", cause[360] = "";
    double length = 0;
    uint64_t spring;
    solver_know_lists(solver);
    if (solver->functions->stiffest_spring(solver->system, fault->node, &spring)) {
        const struct spring_run found = topology_spring(topology, spring);
        length = found.rest_length;
        snprintf(
            near, sizeof near, "the stiffest spring there is number %llu with %g N/m",
            (unsigned long long)(topology_builder_spring(topology, spring) - body->first_spring),
            topology->materials[found.material].stiffness);
    }
    struct critical_step critical;
    if (solver_critical_step(solver, &critical, NULL) == TAUT_OK && critical.known) {
        const double near_the_limit = 1.05;
        const double dt = explain_limit(solver, &critical, limit, sizeof limit);
        const bool is_single = solver_precision(solver) != PRECISION_DOUBLE;
        const char *mixed =
            solver_precision(solver) == PRECISION_SINGLE ? "'precision: mixed' or " : "";
        const bool stable = solver->dt <= near_the_limit * dt;
        if (is_single && stable && fault->spacing > COARSE * length && length > 0)
            snprintf(cause, sizeof cause,
                     ". This far from the origin positions in single precision are up to %.2g m "
                     "apart, %.2g%% of that spring's length, and rounding drives it: use "
                     "%s'precision: double', or place the body nearer to the origin",
                     fault->spacing, 100 * fault->spacing / length, mixed);
        else if (is_single && stable && fault->rounding)
            snprintf(cause, sizeof cause,
                     ". Rounding of positions in single precision strains the springs in each step "
                     "and explains this energy: use %s'precision: double'",
                     mixed);
    }
    return fail(
        error, fault->code,
        "diverged at t = %g s (step %llu), first seen at node %llu of body '%s'; %s%s%s",
        fault->time, (unsigned long long)fault->step,
        (unsigned long long)(topology_builder_node(topology, fault->node) - body->first_node),
        body->name, near, limit, cause);
}

bool solver_step_together(taut_solver *solver, uint64_t steps, bool partway)
{
    const uint64_t done = solver->functions->steps(solver->system);
    struct advance all = {.solver = solver,
                          .end = done + steps,
                          .changes = solver->dt_rule.changes,
                          .partway = partway};
    interruption_steps_begin();
    solver_begin_steps(solver, steps, partway);
    solver_work(solver, advance, &all);
    solver_end_steps(solver);
    interruption_steps_end(solver->functions->steps(solver->system) - done);
    return all.certain;
}

bool solver_was_interrupted(const taut_solver *solver)
{
    return solver->functions->fault(solver->system)->interrupted;
}

bool solver_is_whole(const taut_solver *solver)
{
    return solver->functions->fault(solver->system)->code != TAUT_ERROR_MEMORY;
}

static taut_status explain_unfinished(const struct fault *fault, taut_error *error)
{
    const unsigned long long step = (unsigned long long)fault->step + 1;
    if (fault->interrupted)
        return fail(error, fault->code,
                    "step %llu was given up, and left no state: nodes move so far in it that what "
                    "touches could not be found in a second",
                    step);
    const struct memory_left left = memory_left_now();
    return fail(error, fault->code,
                "out of memory for contact in step %llu: its lists would need more than there is "
                "(%.3g GB %s). They grow where nodes move far in one step: try a smaller dt",
                step, left.bytes / 1e9, memory_source_text(left.source));
}

static taut_status advance_by(taut_solver *solver, uint64_t steps, bool partway, bool *certain,
                              taut_error *error)
{
    double start = clock_seconds();
    const uint64_t received = ranks_received();
    *certain = steps > 0 && solver_step_together(solver, steps, partway);
    solver->step_seconds += clock_seconds() - start;
    solver->step_received += ranks_received() - received;
    const struct fault *fault = solver->functions->fault(solver->system);
    if (fault->code == TAUT_ERROR_COLLAPSED)
        return explain_collapse(solver, fault, error);
    if (fault->code == TAUT_ERROR_MEMORY)
        return explain_unfinished(fault, error);
    if (fault->code == TAUT_ERROR_DIVERGED)
        return explain_divergence(solver, fault, error);
    return TAUT_OK;
}

taut_status solver_advance(taut_solver *solver, uint64_t steps, taut_error *error)
{
    bool certain;
    return advance_by(solver, steps, false, &certain, error);
}

taut_status solver_advance_towards(taut_solver *solver, uint64_t steps, uint64_t left,
                                   bool *certain, taut_error *error)
{
    return steps < left ? advance_by(solver, steps, true, certain, error)
                        : solver_advance(solver, steps, error);
}

taut_status taut_solver_step(taut_solver *solver, uint64_t steps, taut_error *error)
{
    uint64_t end = solver->functions->steps(solver->system) + steps;
    taut_status status;
    do { // with dt: auto, one pass ends where dt changes
        uint64_t left = end - solver->functions->steps(solver->system);
        status = solver_advance(solver, left, error);
    } while (status == TAUT_OK && solver->functions->steps(solver->system) < end);
    return status;
}

taut_status solver_set_threads(taut_solver *solver, int threads, taut_error *error)
{
    if (!solver->functions->reserve_workers(solver->system, threads))
        return fail_memory(error, "the arrays of more threads");
    solver->threads = threads;
    return TAUT_OK;
}
