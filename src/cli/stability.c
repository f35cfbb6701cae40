// taut stability: compares the integrators on a scene. Measures (study/) and prints the table;
// stability_output.c writes the files.
#include "cli/stability.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/text.h"
#include "cli/human.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "parallel/machine.h"
#include "solver/solver.h"

// ---- The table

static void print_heading(const struct stability *stability)
{
    const struct study *study = stability->study;
    const taut_scene *scene = stability->scene;
    printf("%s%s%s (%s)\n\n", scene->name, scene->title ? ": " : "",
           scene->title ? scene->title : "", stability->options->scene);
    printf("  system     %s, %s\n", human_counted(study->nodes, "node").text,
           human_counted(study->springs, "spring").text);
    printf("  fastest    %.6g rad/s%s; symplectic Euler is predicted to be stable up to %.4g s\n",
           study->omega, study->omega_computed ? "" : " at most", study->unit);
    printf("  runs       of %.4g s%s, from %s\n", study->window,
           study->shortened ? " (the scene is longer: see --budget)" : "",
           study->at_rest ? "small random velocities, since nothing moves by itself"
                          : "the scene's own start");
    printf("  energies   are relative to %.4g J, %s\n", study->available,
           study->at_rest ? "the energy of the random velocities"
                          : "the energy exchanged in that time");
}

static void print_limit(const struct study_limit *limit)
{
    printf("  %-18s", integrator_name(limit->integrator));
    if (isfinite(limit->predicted))
        printf("%12.5g s", limit->predicted);
    else
        printf("%14s", isinf(limit->predicted) ? "every" : "none");
    switch (limit->kind) {
    case STUDY_LIMIT_FOUND:
        printf("%12.5g s", limit->measured);
        if (isfinite(limit->predicted))
            printf("   %.4f of what is predicted", limit->measured / limit->predicted);
        break;
    case STUDY_LIMIT_GROWS:
        printf("%14s   at %.3g s energy grows", "none", limit->unstable);
        if (isfinite(limit->growth))
            printf(" by e^(%.3g t/s)", limit->growth);
        break;
    case STUDY_LIMIT_BEYOND:
        printf("%14s   stable at %.3g s too", "none found", limit->stable);
        break;
    case STUDY_LIMIT_UNDECIDED:
        printf("%14s", "undecided");
        if (isfinite(limit->stable) && isfinite(limit->unstable))
            printf("   between %.5g and %.5g s", limit->stable, limit->unstable);
        else if (isfinite(limit->unstable))
            printf("   below %.5g s", limit->unstable);
        else if (isfinite(limit->stable))
            printf("   above %.5g s, where nothing grows", limit->stable);
        else
            printf("   at every step, as nothing grows or decays");
        break;
    default:
        printf("%14s", "?");
    }
    puts("");
}

static void print_limits(const struct study *study)
{
    printf("\n  Largest stable step     predicted      measured\n");
    for (size_t i = 0; i < study->integrator_count; i++)
        print_limit(&study->limits[i]);
    if (study->broken > 0)
        printf("  of %s %" PRIu64 " %s broken after %.4g s: these are limits of what is left\n",
               human_counted(study->springs, "spring").text, study->broken,
               study->broken == 1 ? "is" : "are", study->window);
}

static void print_drifts(const struct study *study)
{
    size_t each = study->integrator_count ? study->drift_count / study->integrator_count : 0;
    if (each == 0 || !(study->drifts[0].dt > 0))
        return;
    printf("\n  Energy drift, 1/s ");
    for (size_t j = 0; j < each; j++)
        printf("  %8.3g s", study->drifts[j].dt);
    puts("");
    for (size_t i = 0; i < study->integrator_count; i++) {
        printf("  %-18s", integrator_name(study->integrators[i]));
        for (size_t j = 0; j < each; j++) {
            const struct study_drift *drift = &study->drifts[i * each + j];
            if (drift->verdict == STUDY_STABLE)
                printf("%12.2e", drift->drift);
            else
                printf("%12s", drift->verdict == STUDY_UNSTABLE ? "unstable" : "?");
        }
        puts("");
    }
}

static void print_accuracy(const struct study *study)
{
    static const double errors[] = {1e-2, 1e-4, 1e-6};
    enum { COUNT = sizeof errors / sizeof errors[0] };
    if (study->accuracy_count == 0)
        return;
    printf("\n  Order of convergence, and evaluations (time) to come within an error\n");
    printf("  after %.4g s, against %s\n", study->accuracy_time,
           study->closed_form ? "the closed form" : "an rk4 run of small steps");
    printf("  %-18s%10s", "", "order");
    for (int j = 0; j < COUNT; j++)
        printf("%14.0e      ", errors[j]);
    puts("");
    for (size_t i = 0; i < study->integrator_count; i++) {
        printf("  %-18s", integrator_name(study->integrators[i]));
        if (isfinite(study->orders[i].order))
            printf("%10.2f", study->orders[i].order);
        else
            printf("%10s", "no signal");
        for (int j = 0; j < COUNT; j++) {
            const struct study_accuracy *it =
                study_cheapest(study, study->integrators[i], errors[j]);
            if (it)
                printf("%10s (%7s)", human_count(it->evaluations).text,
                       human_seconds(it->seconds).text);
            else
                printf("%20s", "-");
        }
        puts("");
    }
    for (size_t i = 0; i < study->integrator_count; i++)
        if (study->orders[i].reason != STUDY_ORDER_FITTED)
            printf("  no signal in %s: %s\n", integrator_name(study->integrators[i]),
                   study_no_order_text(study->orders[i].reason));
}

static void print_frequencies(const struct study *study)
{
    size_t each = study->integrator_count ? study->frequency_count / study->integrator_count : 0;
    if (each == 0)
        return;
    printf(
        "\n  Frequency error of one oscillator at %.4g rad/s, and what is left of its amplitude\n"
        "  after a period\n  %-18s",
        study->omega, "");
    for (size_t j = 0; j < each; j++)
        printf("%11.3g s    ", study->frequencies[j].dt);
    puts("");
    for (size_t i = 0; i < study->integrator_count; i++) {
        printf("  %-18s", integrator_name(study->integrators[i]));
        for (size_t j = 0; j < each; j++) {
            const struct study_frequency *it = &study->frequencies[i * each + j];
            double left = pow(it->factor, 2 * 3.14159265358979323846 / it->y);
            if (isfinite(it->ratio))
                printf("%+9.3f%% %6.4g", 100 * (it->ratio - 1), left);
            else
                printf("%17s", "-");
        }
        puts("");
    }
}

static void print_oscillations(const struct study *study)
{
    if (!study->oscillates)
        return;
    size_t each = study->oscillation_count / study->integrator_count;
    printf("\n  Frequency error of the scene's own oscillation: %c of node %s, %.6g rad/s\n  %-18s",
           "xyz"[study->oscillating_axis], human_count(study->oscillating_node).text,
           study->oscillation_omega, "");
    for (size_t j = 0; j < each; j++)
        printf("  %8.3g s", study->oscillations[j].dt);
    puts("");
    for (size_t i = 0; i < study->integrator_count; i++) {
        printf("  %-18s", integrator_name(study->integrators[i]));
        for (size_t j = 0; j < each; j++) {
            double ratio = study->oscillations[i * each + j].ratio;
            if (isfinite(ratio))
                printf("%+11.4f%%", 100 * (ratio - 1));
            else
                printf("%12s", "-");
        }
        puts("");
    }
}

static void print_table(const struct stability *stability)
{
    const struct study *study = stability->study;
    print_heading(stability);
    print_limits(study);
    print_drifts(study);
    print_accuracy(study);
    print_frequencies(study);
    print_oscillations(study);
    if (!study->complete)
        printf("\n  It ended early: what is missing was not measured%s.\n",
               stability->signal_number ? "" : " (see --budget)");
    printf("\n  took       %s\n", human_seconds(study->seconds).text);
    for (int i = 0; i < stability->file_count; i++)
        printf("  %-10s %s\n", i == 0 ? "files" : "", stability->files[i]);
}

// ---- Options

static bool find_integrator(const char *name, size_t length, enum integrator *integrator)
{
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        const char *known = integrator_name((enum integrator)i);
        if (strlen(known) == length && strncmp(known, name, length) == 0) {
            *integrator = (enum integrator)i;
            return true;
        }
    }
    return false;
}

// Parses a list of names. Returns 0 after complaining about an unknown or repeated name.
static size_t read_integrators(const char *list, enum integrator chosen[INTEGRATOR_COUNT])
{
    bool taken[INTEGRATOR_COUNT] = {false};
    size_t count = 0;
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        enum integrator integrator;
        if (!find_integrator(at, length, &integrator) || taken[integrator]) {
            complain("stability: --integrators takes names from this list, each once, separated by "
                     "commas:");
            const char *names[INTEGRATOR_COUNT];
            for (int i = 0; i < INTEGRATOR_COUNT; i++) {
                names[i] = integrator_name((enum integrator)i);
                fprintf(stderr, "    %s\n", names[i]);
            }
            char *name = text_format("%.*s", (int)length, at);
            const char *nearest = name ? nearest_name(name, names, INTEGRATOR_COUNT) : NULL;
            if (nearest && strcmp(nearest, name) != 0)
                fprintf(stderr, "did you mean '%s'?\n", nearest);
            free(name);
            return 0;
        }
        taken[integrator] = true;
        chosen[count++] = integrator;
        at += length;
        if (*at == '\0')
            return count;
    }
}

static bool is_stopped(void *context)
{
    (void)context;
    return signals_caught() != 0;
}

static void show_progress(void *context, const char *part, int done, int parts)
{
    const struct options *options = context;
    char *text =
        options->quiet ? NULL : text_format("measuring %s (%d of %d) ...", part, done + 1, parts);
    if (text)
        live_line(text);
    free(text);
}

// Each thread has a solver of a variant in double precision; at most about one of them is being
// created at a time.
static double memory_of_study(const struct options *options, const taut_scene *scene)
{
    enum integrator chosen[INTEGRATOR_COUNT];
    size_t count = options->integrators ? read_integrators(options->integrators, chosen) : 0;
    struct study_options study = {0};
    taut_error error;
    if (session_threads(options, &study.threads, &error) != TAUT_OK)
        return 0; // reported when the study begins
    double solver = 0, making = 0;
    for (size_t i = 0; i < (count > 0 ? count : INTEGRATOR_COUNT); i++) {
        taut_scene variant = *scene;
        variant.precision = PRECISION_DOUBLE;
        variant.output.work = false;
        variant.simulation.integrator = count > 0 ? chosen[i] : (enum integrator)i;
        struct memory_estimate estimate;
        memory_estimate_make(&variant, NULL, &estimate);
        solver = fmax(solver, estimate.solver);
        making = fmax(making, estimate.making);
    }
    return (study.threads - 1) * solver + making;
}

// ---- The command

// If a signal ended the measurements, the report is still drawn from the results so far; a later
// signal ends the drawing.
static bool is_interrupted(void *context)
{
    const int *seen = context;
    return signals_count() > *seen;
}

static void make_report(struct stability *stability)
{
    int seen = signals_count();
    if (!stability->options->quiet)
        live_line("drawing the report ...");
    stability->report_failed = stability_write_report(stability, is_interrupted, &seen,
                                                      &stability->report_error) != TAUT_OK;
    live_line_clear();
    if (!stability->signal_number)
        stability->signal_number = signals_caught();
}

static taut_status measure(struct stability *stability, const struct study_options *options,
                           taut_error *error)
{
    struct study_options wanted = *options;
    taut_status status = session_threads(stability->options, &wanted.threads, error);
    stability->threads = wanted.threads;
    if (status == TAUT_OK)
        status = stability_check_folder(stability, error);
    if (status == TAUT_OK)
        status = study_make(stability->scene, &wanted, &stability->study, error);
    live_line_clear();
    stability->signal_number = signals_caught();
    if (status == TAUT_OK)
        status = stability_open_folder(stability, error);
    if (status == TAUT_OK)
        status = stability_write_files(stability, error);
    if (status == TAUT_OK)
        make_report(stability);
    if (!stability->manifest.folder)
        return status;
    bool complete = status == TAUT_OK && !stability->report_failed && stability->signal_number == 0;
    taut_status ended =
        manifest_end(&stability->manifest, complete, status == TAUT_OK ? error : NULL);
    return status == TAUT_OK ? ended : status;
}

static int finish(const struct stability *stability)
{
    if (stability->options->json)
        stability_print_json(stability);
    else if (!stability->options->quiet)
        print_table(stability);
    if (stability->report_failed)
        complain("%s: the report was not made: %s; everything else is in '%s'",
                 stability->options->scene, stability->report_error.text, stability->folder);
    if (stability->signal_number != 0)
        complain("interrupted by %s; what had been measured by then is written",
                 signals_name(stability->signal_number));
    bool done = !stability->report_failed && stability->signal_number == 0;
    return output_finish(done ? EXIT_CODE_DONE : EXIT_CODE_FAILED);
}

static int study_scene(const struct options *options, const struct study_options *wanted)
{
    struct session session;
    int code = session_open(options, memory_of_study, &session);
    if (code != EXIT_CODE_DONE) {
        session_close(&session);
        return code;
    }

    struct stability stability = {.options = options, .scene = session.scene};
    taut_error error = {0};
    taut_status status = TAUT_OK;
    stability.folder = options->output ? text_format("%s", options->output)
                                       : text_format("out/%s-stability", session.scene->name);
    if (!stability.folder)
        status = fail_memory(&error, "the name of a folder");

    if (status == TAUT_OK)
        status = measure(&stability, wanted, &error);
    if (status == TAUT_OK) {
        code = finish(&stability);
    } else {
        complain("%s: %s", options->scene, error.text);
        code = exit_code_of(status);
    }

    study_free(stability.study);
    for (int i = 0; i < stability.file_count; i++)
        free(stability.files[i]);
    free(stability.folder);
    session_close(&session);
    return code;
}

static int run_stability(const struct options *options)
{
    enum integrator chosen[INTEGRATOR_COUNT];
    struct study_options wanted = {
        .map = options->map,
        .budget = options->budget,
        .kernel = options->kernel,
        .isa = options->isa,
        .stop = is_stopped,
        .progress = show_progress,
        .context = (void *)options, // only read
    };
    if (options->integrators) {
        wanted.integrators = chosen;
        wanted.integrator_count = read_integrators(options->integrators, chosen);
        if (wanted.integrator_count == 0)
            return EXIT_CODE_WRONG;
    }
    signals_watch();
    return study_scene(options, &wanted);
}

const struct command stability_command = {
    .name = "stability",
    .does = "Measures how the integrators fare on a scene: limits, drift, accuracy, cost",
    .operand = "SCENE",
    .kind = COMMAND_STUDIES,
    .run = run_stability,
};
