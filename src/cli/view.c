// taut view: opens the window on a scene (view/view.h). Everything that happens in the window is
// left to view/ and play/.
#include "cli/command.h"

#include "cli/session.h"
#include "cli/terminal.h"
#include "parallel/machine.h"
#include "parallel/team.h"
#include "view/view.h"

enum { WIDTH = 1280, HEIGHT = 800 };

// One core is left for drawing.
static taut_status choose_threads(const struct options *options, int *threads, taut_error *error)
{
    *threads = options->threads > 0 ? options->threads : team_threads_requested();
    if (*threads > 0)
        return TAUT_OK;
    struct machine machine;
    taut_status status = machine_detect(&machine, error);
    *threads = machine.cores > 1 ? machine.cores - 1 : 1;
    return status;
}

static taut_status show(const struct options *options, struct diagnostics *findings,
                        taut_error *error)
{
    const struct render_request *request = &options->render;
    struct view_options wanted = {
        .scene = options->scene,
        .player = {.overrides = (const char *const *)options->overrides,
                   .override_count = options->override_count,
                   .frames_per_second = 60,
                   .history_bytes = (size_t)256 << 20},
        .width = request->width > 0 ? request->width : WIDTH,
        .height = request->height > 0 ? request->height : HEIGHT,
        .paused = options->paused,
        .fast = options->fast,
        .speed = request->speed > 0 ? request->speed : 1,
        .dark = request->dark,
        .colouring = request->colouring,
        .frames = (int)request->frames,
        .screenshot = options->screenshot,
        .report = options->report,
    };
    taut_config_default(&wanted.player.config);
    wanted.player.config.kernel = options->kernel;
    wanted.player.config.isa = options->isa;
    wanted.player.config.no_pin = options->no_pin;
    taut_status status = choose_threads(options, &wanted.player.config.threads, error);
    return status == TAUT_OK ? view_run(&wanted, findings, error) : status;
}

int view_command_run(const struct options *options)
{
    struct diagnostics findings = {0};
    taut_error error = {0};
    taut_status status = show(options, &findings, &error);
    taut_status findings_status = diagnostics_status(&findings);
    print_findings(&findings, false);
    diagnostics_free(&findings);
    if (status == TAUT_OK)
        return EXIT_CODE_DONE;
    if (findings_status != TAUT_OK)
        return findings_status == TAUT_ERROR_MEMORY ? EXIT_CODE_FAILED : EXIT_CODE_WRONG;
    complain("view: %s", error.text);
    return EXIT_CODE_FAILED;
}
