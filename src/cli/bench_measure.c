// One scene on every variant. Noise comes in stretches of seconds, so all variants are warmed up
// and then take short turns, round by round: a disturbance meets all of them, and ratios are made
// between turns of one round.
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/bench.h"
#include "cli/signals.h"
#include "scene/reader.h"
#include "solver.h"

static const double SLICE_SECONDS_MIN = 0.02;

struct variant {
    taut_solver *solver; // shared by variants that differ in their threads alone
    uint64_t steps;      // a turn
    struct bench_result *result;
};

struct bench_run {
    taut_solver *solvers[1 + ISA_COUNT];
    int solver_count;
    struct variant variants[BENCH_VARIANTS];
    int variant_count;
};

void bench_rates_add(struct bench_rates *rates, double value)
{
    _Static_assert((int)BENCH_REPETITIONS >= (int)BENCH_SCENES, "a limit's repetitions");
    _Static_assert((int)BENCH_REPETITIONS >= (int)BENCH_ROUNDS, "a scene's repetitions");
    rates->values[rates->count++] = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_best(const struct bench_rates *rates)
{
    double best = NAN;
    for (int i = 0; i < rates->count; i++)
        if (!(rates->values[i] <= best))
            best = rates->values[i];
    return best;
}

double bench_median(const struct bench_rates *rates)
{
    struct bench_rates sorted = *rates;
    int n = sorted.count;
    if (n == 0)
        return NAN;
    qsort(sorted.values, (size_t)n, sizeof sorted.values[0], compare);
    return n % 2 ? sorted.values[n / 2] : (sorted.values[n / 2 - 1] + sorted.values[n / 2]) / 2;
}

static void add_variant(struct bench_report *report, struct bench_run *run,
                        const struct bench_result *result)
{
    struct variant *variant = &run->variants[run->variant_count++];
    variant->solver = run->solvers[run->solver_count - 1];
    variant->result = &report->results[report->result_count++];
    *variant->result = *result;
}

// Makes a solver and its variants: one for each number of threads, or the reference's one.
static taut_status add_solver(struct bench_report *report, struct bench_run *run,
                              const struct bench_scene *kind, const taut_scene *scene,
                              taut_kernel kernel, enum isa isa, taut_error *error)
{
    struct solver_options options = {
        .config = {.threads = 1, .kernel = kernel, .isa = (taut_isa)(TAUT_ISA_BASE + isa)}};
    taut_solver **solver = &run->solvers[run->solver_count];
    taut_status status = solver_create(scene, &options, solver, error);
    if (status != TAUT_OK)
        return status;
    run->solver_count++;
    struct bench_result result = {
        .scene = kind,
        .kernel = kernel,
        .isa = isa,
        .threads = 1,
        .body_kernel = solver_body_kernel(*solver, 0),
        .nodes = taut_solver_node_count(*solver),
        .springs = taut_solver_spring_count(*solver),
        .bytes = (double)solver_bytes(*solver),
        .setup_seconds = (*solver)->setup_seconds,
        .model_bytes = bench_model_bytes(*solver),
    };
    if (kernel == TAUT_KERNEL_REFERENCE)
        add_variant(report, run, &result);
    for (int t = 0; t < report->thread_count && kernel != TAUT_KERNEL_REFERENCE; t++) {
        result.threads = report->thread_counts[t];
        add_variant(report, run, &result);
    }
    return TAUT_OK;
}

static taut_status add_solvers(struct bench_report *report, struct bench_run *run,
                               const struct bench_scene *kind, const taut_scene *scene,
                               taut_error *error)
{
    taut_status status =
        add_solver(report, run, kind, scene, TAUT_KERNEL_REFERENCE, ISA_BASE, error);
    for (int isa = 0; isa < ISA_COUNT && status == TAUT_OK; isa++)
        if (report->isas[isa] && report->options->kernel != TAUT_KERNEL_REFERENCE)
            status = add_solver(report, run, kind, scene, TAUT_KERNEL_AUTO, (enum isa)isa, error);
    return status;
}

// Takes steps of a variant; *seconds is what they took.
static taut_status turn(struct variant *variant, uint64_t steps, double *seconds, taut_error *error)
{
    taut_solver *solver = variant->solver;
    solver->threads = variant->result->threads; // nothing that a solver holds depends on it
    double before = solver->step_seconds;
    taut_status status = solver_advance(solver, steps, false, error);
    *seconds = solver->step_seconds - before;
    return status;
}

// Steps in doubling numbers until a turn is as long as wanted; this is also the warm-up.
static taut_status warm_up(struct variant *variant, double slice, taut_error *error)
{
    double seconds;
    taut_status status = turn(variant, 1, &seconds, error); // touches all memory
    for (uint64_t steps = 1; status == TAUT_OK; steps *= 2) {
        status = turn(variant, steps, &seconds, error);
        if (4 * seconds < slice)
            continue;
        double fitting = slice / (seconds / (double)steps);
        variant->steps = fitting < 1 ? 1 : (uint64_t)fitting;
        break;
    }
    return status;
}

static taut_status one_round(struct bench_report *report, struct bench_run *run, taut_error *error)
{
    double reference = NAN;
    for (int v = 0; v < run->variant_count; v++) {
        struct variant *variant = &run->variants[v];
        report->signal_number = signals_caught();
        if (report->signal_number != 0)
            return TAUT_OK;
        double seconds;
        taut_status status = turn(variant, variant->steps, &seconds, error);
        if (status != TAUT_OK)
            return status;
        double rate = (double)variant->steps / seconds;
        if (variant->result->kernel == TAUT_KERNEL_REFERENCE)
            reference = rate;
        bench_rates_add(&variant->result->steps, rate);
        bench_rates_add(&variant->result->per_reference, rate / reference);
    }
    return TAUT_OK;
}

static taut_status all_rounds(struct bench_report *report, struct bench_run *run, double seconds,
                              taut_error *error)
{
    // A warm-up takes about as long as a turn.
    double slice = seconds / ((BENCH_ROUNDS + 1) * run->variant_count);
    if (slice < SLICE_SECONDS_MIN)
        slice = SLICE_SECONDS_MIN;
    taut_status status = TAUT_OK;
    for (int v = 0; v < run->variant_count && status == TAUT_OK; v++)
        status = warm_up(&run->variants[v], slice, error);
    for (int round = 0; round < BENCH_ROUNDS && status == TAUT_OK && !report->signal_number;
         round++)
        status = one_round(report, run, error);
    return status;
}

taut_status bench_scene_measure(struct bench_report *report, const struct bench_scene *scene,
                                taut_error *error)
{
    double begin = clock_seconds();
    taut_scene *made = bench_scene_make(scene, scene->springs, report->precision, error);
    if (!made)
        return error->code;
    struct bench_run run = {.solver_count = 0};
    taut_status status = add_solvers(report, &run, scene, made, error);
    scene_free(made);
    if (status == TAUT_OK)
        status = all_rounds(report, &run, report->scene_seconds - (clock_seconds() - begin), error);
    for (int s = 0; s < run.solver_count; s++)
        taut_solver_destroy(run.solvers[s]);
    return status;
}
