// The pictures of a study and the page that holds all of it: what the page says of the command.
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/human.h"
#include "cli/stability.h"
#include "cli/terminal.h"
#include "parallel/machine.h"
#include "report/convert.h"
#include "report/report.h"
#include "simd/isa.h"
#include "version_info.h"

static char *describe_machine(taut_error *error)
{
    struct machine machine;
    if (machine_detect(&machine, error) != TAUT_OK)
        return NULL;
    char *text = text_format("%s, %s for this process", machine.name,
                             human_counted((uint64_t)machine.cores, "core").text);
    if (!text)
        (void)fail_memory(error, "the report");
    return text;
}

static const char *isa_text(taut_isa isa)
{
    return isa == TAUT_ISA_AUTO ? "auto" : isa_name((enum isa)(isa - TAUT_ISA_BASE));
}

static taut_status write_report(struct stability *stability, struct report *report,
                                taut_error *error)
{
    struct report_files files;
    taut_status status = report_write(report, &stability->manifest, &files, error);
    for (int i = 0; i < files.count; i++) {
        stability->files[stability->file_count++] = files.paths[i];
        files.paths[i] = NULL;
    }
    if (status == TAUT_OK && files.unconverted && !stability->options->quiet)
        complain("the pictures are not there as PNG: %s",
                 files.unconverted_reason ? files.unconverted_reason
                                          : "none of " CONVERTERS " is here, or works");
    report_files_free(&files);
    return status;
}

taut_status stability_write_report(struct stability *stability, int threads, taut_error *error)
{
    const struct options *options = stability->options;
    char *machine = describe_machine(error);
    char *version =
        text_format("%s, commit %s, %s", taut_version(), TAUT_BUILD_COMMIT, TAUT_BUILD_COMPILER);
    char *budget = text_format("%s", human_seconds(options->budget).text);
    char *runs = text_format("%d", threads);
    const struct report_fact settings[] = {
        {"integrators", options->integrators ? options->integrators : "all"},
        {"map", study_map_name(options->map)},
        {"budget", budget},
        {"runs at the same time", runs},
        {"kernel", options->kernel == TAUT_KERNEL_REFERENCE ? "reference" : "auto"},
        {"instruction set", isa_text(options->isa)},
    };
    struct report report = {
        .subject = {.study = stability->study, .scene = stability->scene},
        .scene_file = options->scene,
        .machine = machine,
        .version = version,
        .settings = settings,
        .setting_count = sizeof settings / sizeof settings[0],
    };
    taut_status status = TAUT_ERROR_MEMORY;
    if (machine && version && budget && runs)
        status = write_report(stability, &report, error);
    else if (machine)
        status = fail_memory(error, "the report");
    free(machine);
    free(version);
    free(budget);
    free(runs);
    return status;
}
