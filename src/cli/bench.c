// taut bench: how fast this machine is, on scenes that are built in, beside the plain loops and the
// machine's own limits.
#include "cli/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/signals.h"
#include "cli/terminal.h"

static const double SECONDS_DEFAULT = 60, SECONDS_FULL = 150;

static void choose_threads(const struct options *options, struct bench_report *report)
{
    for (int t = 0; t < options->thread_counts_given; t++)
        report->thread_counts[report->thread_count++] = options->thread_counts[t];
    if (report->thread_count > 0)
        return;
    report->thread_counts[report->thread_count++] = 1;
    if (report->machine.cores > 1)
        report->thread_counts[report->thread_count++] = report->machine.cores;
}

static bool is_named(const char *list, const char *name)
{
    for (const char *at = list; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] != 0))
        if (strcspn(at, ",") == strlen(name) && strncmp(at, name, strlen(name)) == 0)
            return true;
    return false;
}

static bool is_wanted(const struct options *options, const struct bench_scene *scene)
{
    if (options->scenes)
        return is_named(options->scenes, scene->name);
    return options->full || !(scene->traits & BENCH_EXTRA);
}

// How many of the scenes are wanted; 0 after a complaint about a name that is none.
static int count_wanted(const struct options *options)
{
    int wanted = 0, named = 0;
    for (int s = 0; s < BENCH_SCENES; s++)
        wanted += is_wanted(options, &bench_scenes[s]);
    for (const char *at = options->scenes; at; at = strchr(at, ',')) {
        at += named > 0; // the comma before it
        named++;
    }
    if (wanted >= named && wanted > 0)
        return wanted;
    complain("bench: --scenes takes names from this list, each once, parted by commas:");
    for (int s = 0; s < BENCH_SCENES; s++)
        fprintf(stderr, "    %s\n", bench_scenes[s].name);
    return 0;
}

static int count_rows(const struct bench_report *report)
{
    int rows = 0;
    for (int s = 0; s < BENCH_SCENES; s++)
        if (is_wanted(report->options, &bench_scenes[s]))
            rows += bench_rows(report, &bench_scenes[s]);
    return rows;
}

// The wanted scenes of the group that the scene at *place is in; *place goes past all of it.
static struct bench_group next_group(const struct options *options, int *place)
{
    struct bench_group group = {.count = 0};
    const char *name = bench_scenes[*place].group;
    do {
        const struct bench_scene *scene = &bench_scenes[(*place)++];
        if (is_wanted(options, scene) && group.count < BENCH_GROUP_MAX)
            group.scenes[group.count++] = scene;
    } while (name && *place < BENCH_SCENES && bench_scenes[*place].group &&
             strcmp(bench_scenes[*place].group, name) == 0);
    return group;
}

static void show_progress(const struct options *options, const char *name, int done, int wanted)
{
    char *text =
        options->quiet ? NULL : text_format("measuring %s (%d of %d) ...", name, done + 1, wanted);
    if (text)
        live_line(text);
    free(text);
}

static taut_status measure(struct bench_report *report, int wanted, taut_error *error)
{
    taut_status status = TAUT_OK;
    int done = 0;
    for (int place = 0; place < BENCH_SCENES && status == TAUT_OK && !report->signal_number;) {
        struct bench_group group = next_group(report->options, &place);
        if (group.count == 0)
            continue;
        show_progress(report->options, group.scenes[0]->name, done, wanted);
        done += group.count;
        // Between the scenes, so that the limits see the same weather.
        status = bench_limits_measure(report, error);
        if (status == TAUT_OK)
            status = bench_group_measure(report, &group, error);
    }
    if (status == TAUT_OK && !report->signal_number)
        status = bench_limits_measure(report, error);
    live_line_clear();
    return status;
}

static taut_status prepare(const struct options *options, struct bench_report *report,
                           taut_error *error)
{
    report->options = options;
    report->precision = options->double_precision ? PRECISION_DOUBLE : PRECISION_SINGLE;
    for (int isa = 0; isa < ISA_COUNT; isa++)
        report->isas[isa] =
            isa_available((enum isa)isa) &&
            (options->isa == TAUT_ISA_AUTO || options->isa == (taut_isa)(TAUT_ISA_BASE + isa));
    taut_status status = machine_detect(&report->machine, error);
    if (status == TAUT_OK)
        choose_threads(options, report);
    return status;
}

static int finish(const struct bench_report *report)
{
    if (report->options->json)
        bench_print_json(report);
    else if (!report->options->quiet)
        bench_print_table(report);
    if (report->signal_number != 0) {
        complain("interrupted by %s", signals_name(report->signal_number));
        return output_finish(EXIT_CODE_FAILED);
    }
    return output_finish(EXIT_CODE_DONE);
}

static int run_bench(const struct options *options)
{
    int wanted = count_wanted(options);
    if (wanted == 0)
        return EXIT_CODE_WRONG;
    struct bench_report *report = calloc(1, sizeof *report);
    if (!report) {
        complain("bench: out of memory");
        return EXIT_CODE_FAILED;
    }
    signals_watch();
    taut_error error = {0};
    taut_status status = prepare(options, report, &error);
    double seconds = options->full ? SECONDS_FULL : SECONDS_DEFAULT;
    if (options->seconds > 0)
        seconds = options->seconds;
    if (status == TAUT_OK) {
        report->row_seconds = seconds / count_rows(report);
        status = measure(report, wanted, &error);
    }
    int code = EXIT_CODE_FAILED;
    if (status == TAUT_OK)
        code = finish(report);
    else
        complain("bench: %s", error.text);
    free(report);
    return code;
}

const struct command bench_command = {
    .name = "bench",
    .does = "Measures how fast this machine is, on scenes that are built in",
    .kind = COMMAND_MEASURES,
    .run = run_bench,
};
