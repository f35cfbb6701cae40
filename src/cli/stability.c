// taut stability: how the integrators fare on a scene.
#include "cli/stability.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "parallel/machine.h"
#include "report/report.h"
#include "solver_memory.h"

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

// Reads a list of names; 0 after a complaint about one that is none, or is there twice.
static size_t read_integrators(const char *list, enum integrator chosen[INTEGRATOR_COUNT])
{
    bool taken[INTEGRATOR_COUNT] = {false};
    size_t count = 0;
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        enum integrator integrator;
        if (!find_integrator(at, length, &integrator) || taken[integrator]) {
            complain("stability: --integrators takes names from this list, each once, parted by "
                     "commas:");
            for (int i = 0; i < INTEGRATOR_COUNT; i++)
                fprintf(stderr, "    %s\n", integrator_name((enum integrator)i));
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

static taut_status choose_threads(const struct options *options, struct study_options *wanted,
                                  taut_error *error)
{
    struct machine machine;
    taut_status status = machine_detect(&machine, error);
    if (status != TAUT_OK)
        return status;
    int most = machine_threads_max(&machine);
    wanted->threads = options->threads == 0     ? machine.cores
                      : options->threads < most ? options->threads
                                                : most;
    return TAUT_OK;
}

// Each thread has a solver of a variant in double precision; one of them at a time is being made,
// or nearly so.
static double memory_beside_study(const struct options *options, const taut_scene *scene)
{
    enum integrator chosen[INTEGRATOR_COUNT];
    size_t count = options->integrators ? read_integrators(options->integrators, chosen) : 0;
    struct study_options study = {0};
    taut_error error;
    if (choose_threads(options, &study, &error) != TAUT_OK)
        return 0; // which is said when the study begins
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

static taut_status measure(struct stability *stability, const struct study_options *options,
                           taut_error *error)
{
    struct study_options wanted = *options;
    taut_status status = choose_threads(stability->options, &wanted, error);
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
        status = stability_write_report(stability, wanted.threads, error);
    if (!stability->manifest.folder)
        return status;
    bool complete = status == TAUT_OK && stability->signal_number == 0;
    taut_status ended =
        manifest_end(&stability->manifest, complete, status == TAUT_OK ? error : NULL);
    return status == TAUT_OK ? ended : status;
}

static int finish(const struct stability *stability)
{
    if (stability->options->json)
        stability_print_json(stability);
    else if (!stability->options->quiet)
        stability_print_table(stability);
    if (stability->signal_number == 0)
        return output_finish(EXIT_CODE_DONE);
    complain("interrupted by %s; what had been measured by then is written",
             signals_name(stability->signal_number));
    return output_finish(EXIT_CODE_FAILED);
}

static int study_scene(const struct options *options, const struct study_options *wanted)
{
    struct session session;
    int code = session_open(options, memory_beside_study, &session);
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
