// taut resume: continues an interrupted run from its newest whole checkpoint, or prolongs a
// finished one that has kept a checkpoint. The run itself is left to run.c, its files to
// output/recording.c.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/group.h"
#include "cli/run.h"
#include "cli/terminal.h"
#include "scene/bodies.h"
#include "scene/reader.h"
#include "solver/solver.h"

static taut_status fail_folder(taut_error *error)
{
    return fail_memory(error, "the name of a folder");
}

// The path without slashes at its end.
static char *folder_of(const char *given)
{
    size_t length = strlen(given);
    while (length > 1 && given[length - 1] == '/')
        length--;
    return text_format("%.*s", (int)length, given);
}

static taut_status check_kind(const struct manifest *manifest, taut_error *error)
{
    if (strcmp(manifest->kind, "run") == 0)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_ARGUMENT, "'%s' contains a %s (%s), which cannot be continued",
                manifest->folder, manifest->kind, manifest->name);
}

// The folder `has` something that keeps the run from being continued.
static taut_status fail_to_begin_again(const struct manifest *manifest, const char *has,
                                       taut_error *error)
{
    char *word = text_shell_path(manifest->folder);
    taut_status status =
        fail(error, TAUT_ERROR_IO,
             "'%s' has %s. Begin it again with: taut run SCENE --force --output %s",
             manifest->folder, has, word ? word : "FOLDER");
    free(word);
    return status;
}

// scene.yaml has to be the file that the run has written.
static taut_status check_scene(const struct manifest *manifest, const char *path, taut_error *error)
{
    uint64_t size, checksum;
    struct stat there;
    if (stat(path, &there) != 0)
        return fail_to_begin_again(manifest,
                                   "no scene.yaml: the run was interrupted before it began", error);
    for (size_t i = 0; i < manifest->earlier_count; i++) {
        const struct manifest_entry *entry = &manifest->earlier[i];
        if (strcmp(entry->name, "scene.yaml") != 0)
            continue;
        taut_status status = manifest_measure(path, &size, &checksum, error);
        if (status != TAUT_OK || entry->writing ||
            (size == entry->size && checksum == entry->checksum))
            return status;
        return fail(error, TAUT_ERROR_IO,
                    "'%s' has changed since taut wrote it, so that it no longer describes the run. "
                    "To begin another run at the state of a checkpoint, give that as its `initial`",
                    path);
    }
    return fail(error, TAUT_ERROR_IO, "'%s' is not a file of the run: its manifest lacks it", path);
}

// The newest checkpoint below `before`; NULL if there is none.
static const struct manifest_entry *newest_before(const struct manifest *manifest, uint64_t before)
{
    const struct manifest_entry *newest = NULL;
    uint64_t most = 0, step;
    for (size_t i = 0; i < manifest->earlier_count; i++) {
        const struct manifest_entry *entry = &manifest->earlier[i];
        if (!recording_is_checkpoint(entry->name, &step) || step >= before ||
            (newest && step <= most))
            continue;
        char *path = text_format("%s/%s", manifest->folder, entry->name);
        struct stat there;
        if (path && lstat(path, &there) == 0) { // one that was announced may not have been written
            newest = entry;
            most = step;
        }
        free(path);
    }
    return newest;
}

// The digest of the scene at that path, whose bodies are built for it; false: it cannot be known.
static bool find_digest(const char *path, uint64_t *digest)
{
    struct diagnostics findings = {0};
    struct bodies bodies = {0};
    const struct scene_override rest = {.text = "initial", .ignores = true}; // not part of it
    taut_scene *scene = scene_read_file(path, &rest, 1, &findings);
    bool found = false;
    if (scene && findings.error_count == 0) {
        found = bodies_build(scene, &bodies, &findings, NULL) == TAUT_OK;
        if (found)
            *digest = bodies_digest(scene, &bodies);
        bodies_free(&bodies);
    }
    scene_free(scene);
    diagnostics_free(&findings);
    return found;
}

// Whether a newer checkpoint belongs to another scene and the one before it does not, if both are
// whole. The scene is only needed where the two differ in this.
static bool is_foreign(const struct manifest *manifest, const char *newer,
                       const struct archive_header *header, uint64_t step, const char *scene)
{
    const struct manifest_entry *entry = newest_before(manifest, step);
    struct archive_header before;
    struct run_position position;
    uint64_t digest;
    char *path = entry ? text_format("%s/%s", manifest->folder, entry->name) : NULL;
    bool foreign = false;
    if (path && run_checkpoint_read(path, &before, &position, NULL) == TAUT_OK) {
        foreign = before.digest != header->digest && find_digest(scene, &digest) &&
                  before.digest == digest;
        run_position_free(&position);
    }
    if (foreign)
        complain("warning: '%s' is a checkpoint of another scene; the one before is taken", newer);
    free(path);
    return foreign;
}

// Reads the newest whole checkpoint. *path is NULL if there is no checkpoint at all, which is no
// error; the caller frees it.
static taut_status find_checkpoint(struct resumption *resumption, const char *scene, char **path,
                                   taut_error *error)
{
    const struct manifest *manifest = &resumption->manifest;
    const struct manifest_entry *entry;
    uint64_t step = UINT64_MAX;
    bool any = false;
    *path = NULL;
    while ((entry = newest_before(manifest, step)) != NULL) {
        struct archive_header header;
        (void)recording_is_checkpoint(entry->name, &step);
        any = true;
        *path = text_format("%s/%s", manifest->folder, entry->name);
        if (!*path)
            return fail_memory(error, "the name of a checkpoint");
        if (run_checkpoint_read(*path, &header, &resumption->position, error) != TAUT_OK) {
            complain("warning: %s", error->text);
        } else if (is_foreign(manifest, *path, &header, step, scene)) {
            run_position_free(&resumption->position);
        } else {
            resumption->checkpoint = strrchr(*path, '/') + 1;
            return TAUT_OK;
        }
        free(*path);
        *path = NULL;
    }
    if (!any)
        return TAUT_OK;
    return fail_to_begin_again(manifest, "no whole checkpoint of the run", error);
}

// The kernel of that name.
static taut_status find_kernel(const struct manifest *manifest, taut_kernel *found,
                               taut_error *error)
{
    for (int kernel = 0; kernel_choice_name(kernel); kernel++)
        if (strcmp(kernel_choice_name(kernel), manifest->kernel) == 0) {
            *found = (taut_kernel)kernel;
            return TAUT_OK;
        }
    return fail(error, TAUT_ERROR_IO, "'%s/" MANIFEST_NAME "' has an unknown kernel '%s'",
                manifest->folder, manifest->kernel);
}

// The options of a run that continues in its folder: those of the checkpoint or, in a run that had
// none yet, those that the manifest has from the start. Strings that are made for them are the
// caller's to free.
static taut_status set_options(struct options *options, const struct resumption *resumption,
                               char **name, char **state, taut_error *error)
{
    const struct run_position *position = &resumption->position;
    const struct manifest *manifest = &resumption->manifest;
    const char *known = resumption->checkpoint ? position->state : manifest->state;
    taut_status status = TAUT_OK;
    options->name = *name = text_format("%s", manifest->name);
    if (!*name)
        return fail_memory(error, "the name of the scene");
    if (options->kernel == TAUT_KERNEL_AUTO && resumption->checkpoint)
        options->kernel = (taut_kernel)position->kernel;
    else if (options->kernel == TAUT_KERNEL_AUTO && manifest->kernel)
        status = find_kernel(manifest, &options->kernel, error);
    if (status != TAUT_OK || options->state || !known)
        return status;
    *state =
        known[0] == '/' ? text_format("%s", known) : text_format("%s/%s", options->output, known);
    options->state = *state;
    return *state ? TAUT_OK : fail_memory(error, "the name of the final state");
}

// A finished run has nothing left to do, unless it is prolonged from the checkpoint of its end.
static int finish(struct resumption *resumption, const struct options *options, taut_error *error)
{
    if (!options->quiet)
        complain("the run in '%s' is complete", resumption->manifest.folder);
    taut_status status = recording_tidy(&resumption->manifest, error);
    if (status != TAUT_OK)
        complain("resume: %s", error->text);
    return exit_code_of(status);
}

static taut_status prepare(struct resumption *resumption, const char *scene, char **path,
                           taut_error *error)
{
    const struct manifest *manifest = &resumption->manifest;
    taut_status status = check_scene(manifest, scene, error);
    if (status == TAUT_OK)
        status = find_checkpoint(resumption, scene, path, error);
    if (status == TAUT_OK && !*path && manifest->complete)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "the run in '%s' is complete and has kept no checkpoint, so it cannot be "
                    "prolonged: a scene with 'output: {checkpoint: {every: T}}' keeps one",
                    manifest->folder);
    return status;
}

// The other ranks do what rank 0 has found: from where the run continues, and how.
static int follow(const struct options *given)
{
    struct options options = *given;
    struct resumption resumption = {.prolongs = given->override_count > 0};
    int code = group_agree(EXIT_CODE_DONE);
    if (code != EXIT_CODE_DONE || group_share_number(0) != 0)
        return code;
    char *scene = group_share_text(NULL), *folder = group_share_text(NULL);
    char *path = group_share_text(NULL), *name = group_share_text(NULL);
    options.scene = scene;
    options.output = folder;
    options.checkpoint = path;
    options.name = name;
    options.kernel = (taut_kernel)group_share_number(0);
    resumption.checkpoint = path;
    code = run_or_resume(&options, &resumption);
    free(scene);
    free(folder);
    free(path);
    free(name);
    return code;
}

// Tells the others what rank 0 has found, and returns the exit code of all. `ends`: the run does
// not continue.
static int lead(const struct options *options, int code, bool ends)
{
    const char *const texts[] = {options->scene, options->output, options->checkpoint,
                                 options->name};
    code = group_agree(code);
    if (code != EXIT_CODE_DONE || group_share_number(ends) != 0)
        return code;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        (void)group_share_text(texts[i]);
    (void)group_share_number((uint64_t)options->kernel);
    return code;
}

static int resume_run(const struct options *given)
{
    if (!group_leads())
        return follow(given);
    struct options options = *given;
    struct resumption resumption = {.prolongs = given->override_count > 0};
    struct manifest *manifest = &resumption.manifest;
    taut_error error = {0};
    char *folder = folder_of(given->scene), *path = NULL, *state = NULL, *name = NULL;
    char *scene = folder ? text_format("%s/scene.yaml", folder) : NULL;
    taut_status status = scene ? manifest_reopen(folder, manifest, &error) : fail_folder(&error);
    if (status == TAUT_OK)
        status = check_kind(manifest, &error);

    int code = EXIT_CODE_DONE;
    const bool ends = status == TAUT_OK && manifest->complete && !resumption.prolongs;
    if (ends)
        code = finish(&resumption, given, &error);
    else if (status == TAUT_OK)
        status = prepare(&resumption, scene, &path, &error);
    if (status == TAUT_OK && !ends) {
        options.scene = scene;
        options.output = folder;
        options.checkpoint = path;
        status = set_options(&options, &resumption, &name, &state, &error);
    }
    if (status != TAUT_OK) {
        complain("resume: %s", error.text);
        code = exit_code_of(status);
    }
    code = lead(&options, code, ends);
    if (code == EXIT_CODE_DONE && !ends) {
        if (!path && !options.quiet)
            complain("'%s' has no checkpoint yet: the run begins again", folder);
        code = run_or_resume(&options, &resumption);
    }

    (void)file_close(&manifest->log, NULL);
    manifest_free(manifest);
    run_position_free(&resumption.position);
    free(folder);
    free(scene);
    free(path);
    free(state);
    free(name);
    return code;
}

const struct command resume_command = {
    .name = "resume",
    .does = "Continues an interrupted run, or prolongs a finished one",
    .operand = "RUN",
    .kind = COMMAND_RESUMES,
    .run = resume_run,
};
