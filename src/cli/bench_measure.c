// A group of scenes on every variant. Noise comes in stretches of seconds, so all variants are
// warmed up and then take short turns, round by round: a disturbance meets all of them, and ratios
// are made between turns of one round.
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/bench.h"
#include "cli/bench_model.h"
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
    taut_solver *solvers[BENCH_GROUP_MAX * BENCH_SOLVERS];
    int solver_count;
    struct variant variants[BENCH_GROUP_MAX * BENCH_VARIANTS];
    int variant_count;
};

// The solvers that a scene is measured on.
struct choice {
    struct {
        taut_kernel kernel;
        enum isa isa;
        enum precision precision;
        int thread_counts; // of the report's, from the first
    } solvers[BENCH_SOLVERS];
    int count;
};

static void choose_solver(struct choice *choice, taut_kernel kernel, enum isa isa,
                          enum precision precision, int thread_counts)
{
    int place = choice->count++;
    choice->solvers[place].kernel = kernel;
    choice->solvers[place].isa = isa;
    choice->solvers[place].precision = precision;
    choice->solvers[place].thread_counts = thread_counts;
}

static bool is_grid(const struct bench_scene *scene)
{
    return scene->shape == BENCH_ROPE || scene->shape == BENCH_CLOTH ||
           scene->shape == BENCH_JELLY_26 || scene->shape == BENCH_JELLY_52;
}

// The plain loops and every instruction set; of extra scenes only the widest. A full run looks at
// both precisions of grids.
static struct choice choose_solvers(const struct bench_report *report,
                                    const struct bench_scene *scene)
{
    const struct options *options = report->options;
    struct choice choice = {.count = 0};
    bool extra = scene->traits & BENCH_EXTRA, plain_only = options->kernel == TAUT_KERNEL_REFERENCE;
    int widest = ISA_COUNT - 1;
    while (widest > 0 && !report->isas[widest])
        widest--;
    if (plain_only || !(scene->traits & BENCH_NO_PLAIN))
        choose_solver(&choice, TAUT_KERNEL_REFERENCE, ISA_BASE, report->precision, 1);
    for (int isa = 0; isa < ISA_COUNT && !plain_only; isa++)
        if (report->isas[isa] && (!extra || isa == widest))
            choose_solver(&choice, TAUT_KERNEL_AUTO, (enum isa)isa, report->precision,
                          report->thread_count);
    if (options->full && !plain_only && !extra && is_grid(scene) &&
        report->precision == PRECISION_SINGLE)
        choose_solver(&choice, TAUT_KERNEL_AUTO, (enum isa)widest, PRECISION_DOUBLE, 1);
    return choice;
}

int bench_rows(const struct bench_report *report, const struct bench_scene *scene)
{
    struct choice choice = choose_solvers(report, scene);
    int rows = 0;
    for (int i = 0; i < choice.count; i++)
        rows += choice.solvers[i].thread_counts;
    return rows;
}

static void add_variant(struct bench_report *report, struct bench_run *run,
                        const struct bench_result *result)
{
    struct variant *variant = &run->variants[run->variant_count++];
    variant->solver = run->solvers[run->solver_count - 1];
    variant->result = &report->results[report->result_count++];
    *variant->result = *result;
}

// Makes the solver of a place of the choice, and its variants: one for each number of threads.
static taut_status add_solver(struct bench_report *report, struct bench_run *run,
                              const struct bench_scene *kind, const struct choice *choice,
                              int place, taut_error *error)
{
    taut_kernel kernel = choice->solvers[place].kernel;
    enum isa isa = choice->solvers[place].isa;
    enum precision precision = choice->solvers[place].precision;
    taut_scene *scene = bench_scene_make(kind, kind->springs, precision, error);
    if (!scene)
        return error->code;
    struct solver_options options = {.config = {.threads = 1,
                                                .kernel = kernel,
                                                .isa = (taut_isa)(TAUT_ISA_BASE + isa),
                                                .no_pin = report->options->no_pin}};
    taut_solver **solver = &run->solvers[run->solver_count];
    taut_status status = solver_create(scene, &options, solver, error);
    scene_free(scene);
    if (status != TAUT_OK)
        return status;
    run->solver_count++;
    struct bench_result result = {
        .scene = kind,
        .kernel = kernel,
        .isa = isa,
        .precision = precision,
        .body_kernel = solver_body_kernel(*solver, 0),
        .nodes = taut_solver_node_count(*solver),
        .springs = taut_solver_spring_count(*solver),
        .bytes = (double)solver_bytes(*solver),
        .setup_seconds = (*solver)->setup_seconds,
        .model_bytes = bench_model_bytes(*solver),
    };
    for (int t = 0; t < choice->solvers[place].thread_counts; t++) {
        result.threads = kernel == TAUT_KERNEL_REFERENCE ? 1 : report->thread_counts[t];
        add_variant(report, run, &result);
    }
    return TAUT_OK;
}

static taut_status add_solvers(struct bench_report *report, struct bench_run *run,
                               const struct bench_scene *scene, taut_error *error)
{
    struct choice choice = choose_solvers(report, scene);
    taut_status status = TAUT_OK;
    for (int place = 0; place < choice.count && status == TAUT_OK; place++)
        status = add_solver(report, run, scene, &choice, place, error);
    return status;
}

// Takes steps of a variant; *seconds is what they took.
static taut_status turn(struct variant *variant, uint64_t steps, double *seconds, taut_error *error)
{
    taut_solver *solver = variant->solver;
    double before = solver->step_seconds;
    taut_status status = solver_set_threads(solver, variant->result->threads, error);
    if (status == TAUT_OK)
        status = solver_advance(solver, steps, false, error);
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
        if (v == 0 || variant->result->scene != run->variants[v - 1].result->scene)
            reference = NAN; // of another scene
        if (variant->result->kernel == TAUT_KERNEL_REFERENCE)
            reference = rate;
        bench_rates_add(&variant->result->steps, rate);
        bool alike = variant->result->precision == report->precision;
        bench_rates_add(&variant->result->per_reference, alike ? rate / reference : NAN);
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

taut_status bench_group_measure(struct bench_report *report, const struct bench_group *group,
                                taut_error *error)
{
    double begin = clock_seconds(), seconds = 0;
    struct bench_run run = {.solver_count = 0};
    taut_status status = TAUT_OK;
    for (int s = 0; s < group->count && status == TAUT_OK; s++) {
        seconds += report->row_seconds * bench_rows(report, group->scenes[s]);
        status = add_solvers(report, &run, group->scenes[s], error);
    }
    if (status == TAUT_OK)
        status = all_rounds(report, &run, seconds - (clock_seconds() - begin), error);
    for (int s = 0; s < run.solver_count; s++)
        taut_solver_destroy(run.solvers[s]);
    return status;
}
