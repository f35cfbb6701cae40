// taut render: pictures of a scene, or of a finished run, without a window.
#include "cli/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open.h"
#include "base/text.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "output/folder.h"

// How files of these sorts begin, after `skipped` bytes.
static const struct {
    const char *opening;
    size_t skipped;
} signatures[] = {
    [RENDER_PICTURE] = {"\x89PNG", 0},
    [RENDER_STRIP] = {"\x89PNG", 0},
    [RENDER_MP4] = {"ftyp", 4},
    [RENDER_GIF] = {"GIF8", 0},
};

// A picture may take the place of an older one, but of nothing else.
static taut_status check_place(const char *path, enum render_sort sort, bool force,
                               taut_error *error)
{
    if (finished_run_is_folder(path))
        return fail(error, TAUT_ERROR_IO, "cannot write '%s': there is a folder of that name",
                    path);
    const char *reason;
    FILE *file = force || access(path, F_OK) != 0 ? NULL : open_to_read(path, &reason);
    if (!file && !force && access(path, F_OK) == 0)
        return fail(error, TAUT_ERROR_IO, "'%s' is in the way: %s", path, reason);
    if (!file)
        return TAUT_OK;
    char begins[8] = {0};
    size_t count = fread(begins, 1, sizeof begins, file);
    (void)fclose(file);
    if (count == 0 || memcmp(begins + signatures[sort].skipped, signatures[sort].opening, 4) == 0)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_IO,
                "'%s' is in the way and is no such picture: replace it with --force, or choose "
                "another name with --output",
                path);
}

static taut_status make_folder_of(const char *path, taut_error *error)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return TAUT_OK;
    char *folder = text_format("%.*s", (int)(slash - path), path);
    if (!folder)
        return fail_memory(error, "the name of a folder");
    taut_status status = folder_make(folder, error);
    free(folder);
    return status;
}

static taut_status draw(struct render *render, taut_error *error)
{
    const struct render_span span = footage_span(&render->footage);
    render->path = render->options->output ? text_format("%s", render->options->output)
                                           : text_format("out/%s.png", render->footage.name);
    if (!render->path)
        return fail_memory(error, "the name of a picture");
    taut_status status = render_plan_make(render->wish, render->path, &span, &render->plan, error);
    if (status == TAUT_OK)
        status = check_place(render->path, render->plan.sort, render->options->force, error);
    if (status == TAUT_OK)
        status = make_folder_of(render->path, error);
    return status == TAUT_OK ? render_draw(render, error) : status;
}

// What this machine lacks is not the user's fault.
static int code_of(taut_status status)
{
    return status == TAUT_ERROR_UNSUPPORTED ? EXIT_CODE_FAILED : exit_code_of(status);
}

// What is wrong with the options is said before the scene is read.
static int refuse_early(const struct options *options)
{
    taut_error error = {0};
    enum render_sort sort;
    taut_status status = render_sort_of(
        &options->render, options->output ? options->output : "default.png", &sort, &error);
    if (status != TAUT_OK)
        complain("render: %s", error.text);
    return code_of(status);
}

int render_command_run(const struct options *options)
{
    int code = refuse_early(options);
    if (code != EXIT_CODE_DONE)
        return code;
    signals_watch();
    struct render render = {.options = options, .wish = &options->render};
    code = footage_open(options, &render.footage);
    if (code == EXIT_CODE_DONE) {
        taut_error error = {0};
        taut_status status = draw(&render, &error);
        code = code_of(status);
        if (status != TAUT_OK)
            complain("render: %s", error.text);
        else if (options->json)
            render_print_json(&render);
        else if (!options->quiet)
            render_print_line(&render);
    }
    reel_free(&render.reel);
    canvas_free(render.canvas);
    render_plan_free(&render.plan);
    footage_close(&render.footage);
    free(render.times);
    free(render.path);
    return output_finish(code);
}
