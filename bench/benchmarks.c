// The benchmark functions of benchmarks.h.
#include "bench/benchmarks.h"

#include <math.h>

#include "base/os.h"
#include "base/memory.h"
#include "bench/model.h"
#include "bench/subject.h"
#include "cli/signals.h"
#include "contact/surface_lists.h"
#include "forces/forces.h"
#include "forces/tangent.h"
#include "ranks/ranks.h"
#include "solver/internals.h"

// Whether to run another iteration. After a signal this benchmark and all that follow fail, so that
// the program soon ends with a complete result of the benchmarks before.
static bool keep_running(struct bench_state *state)
{
    if (signals_caught() != 0) {
        bench_fail(state, "interrupted");
        return false;
    }
    return bench_next(state);
}

// ---- Steps

// Steps per iteration. Small scenes take several, so that the start of the threads is not measured.
// The two Verlets fuse the end of a step with the start of the next and complete their velocities
// at the end of each call, by one more evaluation of the forces: 16 steps per call cost what
// 'taut run' pays where it writes a row of energies every 16 steps. (With one step per call
// velocity Verlet was rated at 0.64 of symplectic Euler on the cloth.)
static uint64_t steps_of_iteration(const taut_solver *solver)
{
    const uint64_t enough = 1000000, most = 2000; // spring updates, and steps of a few springs
    uint64_t springs = taut_solver_spring_count(solver);
    uint64_t steps = 1 + enough / (springs > 0 ? springs : 1);
    steps = steps < most ? steps : most;
    enum integrator integrator = solver_integrator(solver);
    bool completes = integrator == INTEGRATOR_VERLET || integrator == INTEGRATOR_VELOCITY_VERLET;
    return completes && steps < 16 ? 16 : steps;
}

// Makes steps, continuing where dt: auto interrupts them, and measures their wall time.
static taut_status advance(taut_solver *solver, uint64_t steps, double *seconds, taut_error *error)
{
    uint64_t end = taut_solver_step_count(solver) + steps;
    double begin = clock_seconds();
    taut_status status = TAUT_OK;
    while (status == TAUT_OK && taut_solver_step_count(solver) < end)
        status = solver_advance(solver, end - taut_solver_step_count(solver), error);
    *seconds = clock_seconds() - begin;
    return status;
}

// Two steps load a solver's data into the caches after other benchmarks have run.
static taut_status warm_up(taut_solver *solver, taut_error *error)
{
    double seconds;
    return advance(solver, 2, &seconds, error);
}

// Spring updates per step: an integrator may evaluate each force several times.
static double updates_of_step(const taut_solver *solver)
{
    return (double)taut_solver_spring_count(solver) * solver_force_evaluations(solver);
}

static void count_scene(struct bench_state *state, const taut_solver *solver, double steps)
{
    double springs = (double)taut_solver_spring_count(solver);
    double nodes = (double)taut_solver_node_count(solver);
    bench_label(state, solver_body_kernel(solver, 0));
    bench_value(state, "springs", springs);
    bench_value(state, "nodes", nodes);
    bench_rate(state, "spring_updates/s", updates_of_step(solver) * steps);
    bench_rate(state, "node_updates/s", nodes * steps);
    if (springs > 0 && ranks_count() == 1)
        bench_value(state, "bytes/spring", (double)solver_bytes(solver) / springs);
}

// The model counts one evaluation per step; for other integrators it would count far too few bytes.
static bool model_applies(const taut_solver *solver)
{
    enum integrator integrator = solver_integrator(solver);
    return integrator == INTEGRATOR_SYMPLECTIC_EULER || integrator == INTEGRATOR_EXPLICIT_EULER ||
           integrator == INTEGRATOR_VERLET || integrator == INTEGRATOR_VELOCITY_VERLET;
}

static taut_status count_bandwidth(struct bench_state *state, const taut_solver *solver,
                                   int threads, double steps, taut_error *error)
{
    if (!model_applies(solver) || ranks_count() > 1) // the triad is that of this process
        return TAUT_OK;
    double triad, bytes = bench_model_bytes(solver) * steps;
    taut_status status = bandwidth_of_triad(threads, &triad, error);
    if (status == TAUT_OK) {
        bench_rate(state, "GB/s", 1e-9 * bytes);
        bench_rate(state, "share_of_triad", bytes / triad);
    }
    return status;
}

void benchmark_step(struct bench_state *state, const void *context)
{
    const struct subject *subject = context;
    taut_error error = {0};
    taut_solver *solver = subject_solver(subject, &error);
    taut_status status = solver ? warm_up(solver, &error) : error.code;
    uint64_t steps = status == TAUT_OK ? steps_of_iteration(solver) : 0;
    while (status == TAUT_OK && keep_running(state)) {
        double seconds;
        status = advance(solver, steps, &seconds, &error);
        bench_seconds(state, seconds);
    }
    if (status == TAUT_OK) {
        count_scene(state, solver, (double)steps);
        bench_value(state, "setup_s", solver_setup_seconds(solver));
        status = count_bandwidth(state, solver, subject->threads, (double)steps, &error);
    }
    if (status != TAUT_OK)
        bench_fail(state, error.text);
}

// ---- Scaling

// `one` is measured on one thread and `all` on the subject's threads; they may be the same solver.
static void measure_scaling(struct bench_state *state, const struct subject *subject,
                            taut_solver *one, taut_solver *all)
{
    taut_error error = {0};
    double seconds_one = 0, seconds_all = 0, seconds = 0;
    uint64_t steps_one = steps_of_iteration(one), steps_all = steps_of_iteration(all);
    taut_status status = warm_up(one, &error);
    if (status == TAUT_OK)
        status = warm_up(all, &error);
    uint64_t iterations = 0;
    while (status == TAUT_OK && keep_running(state)) {
        // The serial run; with one thread there is nothing to compare.
        status = solver_set_threads(one, 1, &error);
        if (status == TAUT_OK && subject->threads > 1)
            status = advance(one, steps_one, &seconds, &error);
        seconds_one += subject->threads > 1 ? seconds : 0;

        if (status == TAUT_OK)
            status = solver_set_threads(all, subject->threads, &error);
        if (status == TAUT_OK)
            status = advance(all, steps_all, &seconds, &error);
        seconds_all += seconds;
        bench_seconds(state, seconds);
        iterations++;
    }
    if (status != TAUT_OK) {
        bench_fail(state, error.text);
        return;
    }
    count_scene(state, all, (double)steps_all);
    double speedup = 1;
    if (subject->threads > 1 && seconds_all > 0)
        speedup = updates_of_step(all) * (double)steps_all / seconds_all /
                  (updates_of_step(one) * (double)steps_one / seconds_one);
    bench_value(state, "speedup", speedup);
    bench_value(state, "efficiency", speedup / subject->threads);
}

void benchmark_strong(struct bench_state *state, const void *context)
{
    taut_error error = {0};
    taut_solver *solver = subject_solver(context, &error);
    if (solver)
        measure_scaling(state, context, solver, solver);
    else
        bench_fail(state, error.text);
}

void benchmark_weak(struct bench_state *state, const void *context)
{
    const struct subject *subject = context;
    struct subject larger = *subject;
    larger.springs *= (uint64_t)subject->threads;
    taut_error error = {0};
    taut_solver *all = subject_solver(&larger, &error);
    taut_solver *one = all && subject->threads > 1 ? subject_solver(subject, &error) : all;
    if (one)
        measure_scaling(state, subject, one, all);
    else
        bench_fail(state, error.text);
}

// ---- Stages

// Seconds of a stage so far. Gas of packed springs is computed in their pass: the stage of pressure
// is then only a sum over bodies, and the pass has the time of both.
static double stage_seconds(taut_solver *solver, enum stage stage)
{
    const struct stage_clock *clock = solver_stage_clock(solver);
    double seconds = clock->seconds[stage];
    if (stage == STAGE_PRESSURE &&
        packed_ring_tiles(&solver_plan(solver)->packed, solver_topology(solver), 0))
        seconds += clock->seconds[STAGE_SPRINGS];
    return seconds;
}

void benchmark_stage(struct bench_state *state, const void *context)
{
    const struct subject *subject = context;
    taut_error error = {0};
    taut_solver *solver = subject_solver(subject, &error);
    taut_status status = solver ? warm_up(solver, &error) : error.code;
    if (status != TAUT_OK) {
        bench_fail(state, error.text);
        return;
    }
    uint64_t steps = steps_of_iteration(solver);
    while (keep_running(state)) {
        double seconds, before = stage_seconds(solver, subject->stage);
        if (advance(solver, steps, &seconds, &error) != TAUT_OK) {
            bench_fail(state, error.text);
            return;
        }
        bench_seconds(state, stage_seconds(solver, subject->stage) - before);
    }
    count_scene(state, solver, (double)steps);
    if (taut_solver_face_count(solver) > 0)
        bench_rate(state, "face_updates/s", (double)taut_solver_face_count(solver) * (double)steps);
}

static void measure_volume(void *context, const struct worker *worker)
{
    taut_solver *solver = context;
    REAL_NAME(volumes_measure)(solver_system(solver), 0, false, worker);
}

void benchmark_volume(struct bench_state *state, const void *context)
{
    const struct subject *subject = context;
    taut_error error = {0};
    double triad;
    taut_solver *solver = subject_solver(subject, &error);
    if (!solver || bandwidth_of_triad(subject->threads, &triad, &error) != TAUT_OK) {
        bench_fail(state, error.text);
        return;
    }
    solver_work(solver, measure_volume, solver);
    while (keep_running(state)) {
        double begin = clock_seconds();
        solver_work(solver, measure_volume, solver);
        bench_seconds(state, clock_seconds() - begin);
    }
    // Three node numbers per face, one position per node.
    double faces = (double)taut_solver_face_count(solver);
    double nodes = (double)taut_solver_node_count(solver);
    double bytes = 12 * faces + 12 * nodes;
    bench_value(state, "springs", (double)taut_solver_spring_count(solver));
    bench_rate(state, "face_updates/s", faces);
    bench_rate(state, "GB/s", 1e-9 * bytes);
    bench_rate(state, "share_of_triad", bytes / triad);
}

struct products {
    struct tangent *tangent;
    struct node_vectors in, out;
    uint64_t count; // products per iteration; 0: updates of the tangent
};

static void multiply(void *context, const struct worker *worker)
{
    const struct products *products = context;
    if (products->count == 0)
        REAL_NAME(tangent_update)
    (products->tangent, TANGENT_DEFINITE, (struct evaluation){0}, worker);
    for (uint64_t i = 0; i < products->count; i++)
        REAL_NAME(tangent_apply)(products->tangent, 1, 1, products->in, products->out, worker);
}

static struct node_vectors vectors_in(real *numbers, uint64_t nodes)
{
    return (struct node_vectors){numbers, numbers + nodes, numbers + 2 * nodes};
}

void benchmark_tangent(struct bench_state *state, const void *context)
{
    taut_error error = {0};
    struct products products = {.count = 0};
    taut_solver *solver = subject_solver(context, &error);
    if (!solver ||
        REAL_NAME(tangent_make)(solver_system(solver), &products.tangent, &error) != TAUT_OK) {
        bench_fail(state, error.text);
        return;
    }
    uint64_t nodes = taut_solver_node_count(solver);
    real *numbers = memory_allocate(NULL, (size_t)nodes, 6 * sizeof *numbers);
    if (numbers) {
        products.in = vectors_in(numbers, nodes);
        products.out = vectors_in(numbers + 3 * nodes, nodes);
        for (uint64_t i = 0; i < 3 * nodes; i++)
            numbers[i] = (real)(i % 7) - 3;
        solver_work(solver, multiply, &products);
        products.count = steps_of_iteration(solver);
        while (keep_running(state)) {
            double begin = clock_seconds();
            solver_work(solver, multiply, &products);
            bench_seconds(state, clock_seconds() - begin);
        }
        double springs = (double)taut_solver_spring_count(solver);
        bench_value(state, "springs", springs);
        bench_rate(state, "spring_products/s", springs * (double)products.count);
    } else {
        bench_fail(state, "out of memory");
    }
    memory_release(NULL, numbers, (size_t)nodes, 6 * sizeof *numbers);
    REAL_NAME(tangent_free)(products.tangent);
}

// ---- Contact of surfaces

static void make_lists(void *context, const struct worker *worker)
{
    struct system *system = solver_system(context);
    if (worker->index == 0)
        REAL_NAME(surface_contact_moved)(system);
    REAL_NAME(surface_lists_prepare)(system, worker); // begins with a barrier
}

static void find_contacts(void *context, const struct worker *worker)
{
    const struct evaluation evaluation = {.gas_step = 1};
    struct system *system = solver_system(context);
    REAL_NAME(surface_contact_find)(system, evaluation, worker);
    REAL_NAME(surface_contact_add)(system, worker);
}

static void measure_contact(struct bench_state *state, const struct subject *subject,
                            void (*work)(void *context, const struct worker *worker), bool touching)
{
    taut_error error = {0};
    taut_solver *solver = subject_solver(subject, &error);
    if (!solver) {
        bench_fail(state, error.text);
        return;
    }
    solver_work(solver, make_lists, solver);
    solver_work(solver, work, solver);
    while (keep_running(state)) {
        const double begin = clock_seconds();
        solver_work(solver, work, solver);
        bench_seconds(state, clock_seconds() - begin);
    }
    const struct surface_counts counts = solver_surface_counts(solver);
    bench_value(state, "triangles", (double)counts.triangles);
    bench_rate(state, "candidates/s", (double)counts.candidates);
    if (touching)
        bench_rate(state, "touching/s", (double)counts.touching);
}

void benchmark_contact_lists(struct bench_state *state, const void *context)
{
    measure_contact(state, context, make_lists, false);
}

void benchmark_contact_forces(struct bench_state *state, const void *context)
{
    measure_contact(state, context, find_contacts, true);
}

// ---- Set-up

void benchmark_plan(struct bench_state *state, const void *context)
{
    taut_error error = {0};
    taut_solver *solver = subject_solver(context, &error);
    if (!solver) {
        bench_fail(state, error.text);
        return;
    }
    while (keep_running(state)) {
        struct plan_options options = {0};
        struct plan *plan;
        double begin = clock_seconds();
        if (plan_make(solver_topology(solver), &options, NULL, &plan, &error) != TAUT_OK) {
            bench_fail(state, error.text);
            return;
        }
        bench_seconds(state, clock_seconds() - begin);
        plan_free(plan);
    }
    bench_value(state, "springs", (double)taut_solver_spring_count(solver));
    bench_rate(state, "springs/s", (double)taut_solver_spring_count(solver));
}

void benchmark_setup(struct bench_state *state, const void *context)
{
    taut_error error = {0};
    struct diagnostics findings = {0};
    taut_scene *scene = subject_scene(context, &findings, &error);
    diagnostics_free(&findings);
    uint64_t springs = 0;
    while (scene && error.code == TAUT_OK && keep_running(state)) {
        taut_solver *solver;
        if (subject_build(context, scene, &solver, &error) != TAUT_OK)
            break;
        bench_seconds(state, solver_setup_seconds(solver));
        springs = taut_solver_spring_count(solver);
        taut_solver_destroy(solver);
    }
    scene_free(scene);
    if (error.code != TAUT_OK)
        bench_fail(state, error.text);
    bench_value(state, "springs", (double)springs);
    bench_rate(state, "springs/s", (double)springs);
}

// ---- The machine

// An iteration is reported as the time per gigabyte, or per 10^9 operations.
static const double UNIT = 1e9;

void benchmark_bandwidth(struct bench_state *state, const void *context)
{
    const struct subject *subject = context;
    struct machine machine;
    taut_error error = {0};
    taut_status status = machine_detect(&machine, &error);
    while (status == TAUT_OK && keep_running(state)) {
        double measured;
        status =
            bandwidth_measure(&machine, subject->bandwidth, subject->threads, &measured, &error);
        if (status == TAUT_OK)
            bench_seconds(state, UNIT / measured);
    }
    if (status != TAUT_OK)
        bench_fail(state, error.text);
    bench_rate(state, "GB/s", 1e-9 * UNIT);
}

void benchmark_peak(struct bench_state *state, const void *context)
{
    const struct subject *subject = context;
    while (keep_running(state))
        bench_seconds(state, UNIT / peak_measure(subject->isa, subject->threads));
    bench_rate(state, "Gflop/s", 1e-9 * UNIT);
}
