// realpath() is of X/Open.
#define _DEFAULT_SOURCE // NOLINT(bugprone-reserved-identifier)

#include "cli/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "output/file.h"
#include "output/folder.h"
#include "scene/reader.h"
#include "solver_memory.h"

static taut_status out_of_memory(struct run *run, const char *what)
{
    return run->status = fail_memory(&run->error, what);
}

static void look(struct run *run, unsigned wanted)
{
    double begin = clock_seconds();
    moment_view_take(run->solver, wanted, &run->view);
    run->output_seconds += clock_seconds() - begin;
    if (wanted & WANT_ENERGY) {
        run->energy_step = run->view.snapshot.step;
        progress_energy(&run->progress, run->view.snapshot.total);
    }
}

static unsigned wanted_by(const struct options *options, const struct scene_output *output)
{
    if (options->no_output)
        return WANT_ENERGY;
    if (output->vtp)
        return WANT_NODES | WANT_STRAINS | WANT_ENERGY | (output->vtp_forces ? WANT_FORCES : 0);
    return output->pc2 ? WANT_NODES | WANT_ENERGY : WANT_ENERGY;
}

// What is wanted at one time or another: the first frame and the final state have the nodes.
static unsigned ever_wanted_by(const struct options *options, const struct scene_output *output)
{
    unsigned wanted = wanted_by(options, output) | WANT_ENERGY;
    if (!options->no_output || options->state)
        wanted |= WANT_NODES;
    if (!options->no_output && (output->vtp || output->pc2))
        wanted |= WANT_LISTS;
    return wanted;
}

double run_output_memory(const struct options *options, const taut_scene *scene)
{
    struct memory_estimate estimate;
    memory_estimate_make(scene, NULL, &estimate);
    double lists = !options->no_output && scene->output.vtp
                       ? 12 * estimate.nodes // vtp.c: strains of each node
                       : 0;
    return memory_of_view(&estimate, ever_wanted_by(options, &scene->output)) + lists;
}

static struct recording_probe *list_probes(const struct run *run)
{
    const struct scene_output *output = &run->scene->output;
    struct recording_probe *probes = calloc(output->probe_count + 1, sizeof *probes);
    if (!probes)
        return NULL;
    for (size_t i = 0; i < output->probe_count; i++) {
        const struct scene_probe *probe = &output->probes[i];
        probes[i] = (struct recording_probe){probe->body, probe_node(run->solver, probe),
                                             probe->every_steps};
    }
    return probes;
}

static void work_of(void *owner, team_function function, void *context)
{
    solver_work(owner, function, context);
}

// The path without links and without "." in it, as far as it is there; NULL without memory.
static char *resolve(const char *path)
{
    char *head = text_format("%s", path);
    for (char *end = head ? head + strlen(head) : NULL; end; end--) {
        if (end > head && *end != '/' && *end != '\0')
            continue;
        bool relative = end == head && *end != '/';
        *end = '\0';
        char *there = realpath(relative ? "." : end == head ? "/" : head, NULL);
        const char *rest = path + (end - head);
        while (there && *rest) {
            rest += strspn(rest, "/");
            int length = (int)strcspn(rest, "/");
            char *longer = NULL;
            if (length > 0 && !(length == 1 && *rest == '.')) {
                longer = text_format("%s/%.*s", strcmp(there, "/") == 0 ? "" : there, length, rest);
                free(there);
                there = longer;
            }
            rest += length;
        }
        if (there || end == head) {
            free(head);
            return there;
        }
    }
    return NULL;
}

// The name of the --state file within the run's folder, in a text that the caller frees; NULL where
// it lies elsewhere or there is none.
static char *state_name_in_folder(const struct run *run)
{
    if (!run->options->state || !run->folder)
        return NULL;
    char *state = resolve(run->options->state), *folder = resolve(run->folder), *name = NULL;
    size_t length = folder ? strlen(folder) : 0;
    if (state && folder && strncmp(state, folder, length) == 0 && state[length] == '/' &&
        !strchr(state + length + 1, '/'))
        name = text_format("%s", state + length + 1);
    free(state);
    free(folder);
    return name;
}

// The state must not replace a file that the run itself writes.
static taut_status refuse_own_file(struct run *run, const struct recording_options *options)
{
    char *name = state_name_in_folder(run);
    if (name && recording_writes(options, &run->view.snapshot, name))
        run->status = fail(&run->error, TAUT_ERROR_IO,
                           "cannot write the state to '%s': the run writes a file of that name "
                           "itself; choose another one with --state",
                           run->options->state);
    free(name);
    return run->status;
}

static taut_status name_folder(struct run *run)
{
    run->folder = run->options->output ? text_format("%s", run->options->output)
                                       : text_format("out/%s", run->scene->name);
    return run->folder ? run->status : out_of_memory(run, "the name of a folder");
}

static taut_status open_recording(struct run *run)
{
    const struct scene_output *output = &run->scene->output;
    struct recording_probe *probes = list_probes(run);
    char *yaml = scene_resolved_yaml(run->scene);
    size_t input_count;
    const char **inputs = scene_inputs(run->scene, &input_count);
    if (!probes || !yaml || !inputs)
        run->status = fail_memory(&run->error, "the recording");
    if (run->status == TAUT_OK) {
        struct recording_options options = {
            .folder = run->folder,
            .name = run->scene->name,
            .resolved_yaml = yaml,
            .force = run->options->force,
            .inputs = inputs,
            .input_count = input_count,
            .vtp = output->vtp,
            .vtp_options = {output->vtp_springs, output->vtp_forces, work_of, run->solver},
            .pc2 = output->pc2,
            .frame_seconds = run->schedule.frame_seconds,
            .probes = probes,
            .probe_count = output->probe_count,
        };
        if (refuse_own_file(run, &options) == TAUT_OK)
            run->status =
                recording_open(&options, &run->view.snapshot, &run->recording, &run->error);
    }
    free(probes);
    free(inputs);
    free(yaml);
    return run->status;
}

taut_status run_output_open(struct run *run)
{
    run->frame_wants = wanted_by(run->options, &run->scene->output);
    unsigned ever = ever_wanted_by(run->options, &run->scene->output);
    run->status = moment_view_make(run->solver, ever, &run->view, &run->error);
    if (run->status != TAUT_OK)
        return run->status;
    look(run, run->options->no_output ? WANT_ENERGY : run->frame_wants | WANT_NODES);
    run->first = run->view.snapshot;
    if (run->options->no_output)
        return TAUT_OK;
    double begin = clock_seconds();
    if (open_recording(run) == TAUT_OK)
        run->status = recording_frame(run->recording, &run->view.snapshot, &run->error);
    if (run->status == TAUT_OK && recording_wants_probe(run->recording, 0))
        run->status = recording_probe(run->recording, &run->view.snapshot, &run->error);
    run->output_seconds += clock_seconds() - begin;
    return run->status;
}

taut_status run_output_frame(struct run *run)
{
    look(run, run->frame_wants);
    if (!run->recording)
        return TAUT_OK;
    double begin = clock_seconds();
    run->status = recording_frame(run->recording, &run->view.snapshot, &run->error);
    run->output_seconds += clock_seconds() - begin;
    return run->status;
}

// Of a probe only its node is read: a row a step must not cost a pass over all of them.
taut_status run_output_probe(struct run *run)
{
    if (!run->recording ||
        !recording_wants_probe(run->recording, taut_solver_step_count(run->solver)))
        return TAUT_OK;
    double begin = clock_seconds();
    struct moment_view *view = &run->view;
    for (size_t i = 0; i < run->scene->output.probe_count; i++) {
        const struct scene_probe *probe = &run->scene->output.probes[i];
        uint64_t node =
            run->solver->topology->bodies[probe->body].first_node + probe_node(run->solver, probe);
        run->solver->functions->read_nodes(run->solver->system, node, 1, view->positions + 3 * node,
                                           view->velocities + 3 * node, NULL);
    }
    view->snapshot.step = taut_solver_step_count(run->solver);
    view->snapshot.time = taut_solver_time(run->solver);
    run->status = recording_probe(run->recording, &view->snapshot, &run->error);
    run->output_seconds += clock_seconds() - begin;
    return run->status;
}

taut_status run_output_close(struct run *run)
{
    if (run->view.bodies && run->energy_step != taut_solver_step_count(run->solver))
        look(run, WANT_ENERGY);
    if (!run->recording)
        return run->status;
    double begin = clock_seconds();
    taut_error said = {0};
    if (run->status == TAUT_OK && run->signal_number == 0)
        recording_complete(run->recording);
    taut_status status = recording_close(run->recording, &run->files, &run->file_count, &said);
    run->recording = NULL;
    if (run->status == TAUT_OK && status != TAUT_OK) {
        run->status = status;
        run->error = said;
    }
    run->output_seconds += clock_seconds() - begin;
    return run->status;
}

// What the scene is made of is not written over, even where it is named.
static taut_status refuse_inputs(struct run *run, const char *path)
{
    size_t count;
    struct stat there, input;
    const char **inputs = scene_inputs(run->scene, &count);
    if (!inputs)
        return out_of_memory(run, "the names of files");
    for (size_t i = 0; i < count && run->status == TAUT_OK; i++)
        // The state that it began with may be replaced: a run goes on from where the last one
        // ended.
        if (inputs[i] != run->scene->initial && stat(path, &there) == 0 &&
            stat(inputs[i], &input) == 0 && there.st_dev == input.st_dev &&
            there.st_ino == input.st_ino)
            run->status = fail(&run->error, TAUT_ERROR_IO,
                               "cannot write '%s': it is one of the files that the scene is made "
                               "of",
                               path);
    free(inputs);
    return run->status;
}

// Only where a file is going to be: a pipe would take the try for the end.
taut_status run_state_try(struct run *run)
{
    const char *path = run->options->state;
    struct stat there;
    if (!run->options->no_output && name_folder(run) != TAUT_OK)
        return run->status;
    if (path && refuse_inputs(run, path) != TAUT_OK)
        return run->status;
    if (!path || (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)))
        return run->status;
    // A state in the folder of the run, which is not there yet.
    char *name = state_name_in_folder(run);
    if (name)
        run->status = folder_make(run->folder, &run->error);
    free(name);
    if (run->status != TAUT_OK)
        return run->status;
    struct file file;
    run->status = file_create(&file, path, &run->error);
    if (run->status == TAUT_OK)
        file_abandon(&file);
    return run->status;
}

static taut_status keep_path(struct run *run, const char *path)
{
    char **files = realloc(run->files, (run->file_count + 1) * sizeof *files);
    if (!files)
        return out_of_memory(run, "the list of files");
    run->files = files;
    char *copy = text_format("%s", path);
    if (!copy)
        return out_of_memory(run, "the list of files");
    run->files[run->file_count++] = copy;
    return run->status;
}

taut_status run_state_write(struct run *run)
{
    if (!run->options->state || run->status != TAUT_OK)
        return run->status;
    double begin = clock_seconds();
    moment_view_take(run->solver, WANT_NODES, &run->view);
    run->status = state_csv_write(run->options->state, &run->view.snapshot, &run->error);
    run->output_seconds += clock_seconds() - begin;
    return run->status == TAUT_OK ? keep_path(run, run->options->state) : run->status;
}

void run_free(struct run *run)
{
    for (size_t i = 0; i < run->file_count; i++)
        free(run->files[i]);
    free(run->files);
    free(run->folder);
    moment_view_free(&run->view);
}
