// taut run: simulates a scene and writes the output that its output section requests. schedule.c
// determines when frames and rows are due, output/recording.h writes the files, and run_report.c
// prints the summary.

// realpath() is an X/Open function.
#define _DEFAULT_SOURCE // NOLINT(bugprone-reserved-identifier)

#include "cli/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/interruption.h"
#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/group.h"
#include "cli/schedule.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "output/file.h"
#include "output/folder.h"
#include "ranks/ranks.h"
#include "scene/reader.h"
#include "solver/solver.h"

bool run_is_sound(const struct run *run)
{
    return run->status == TAUT_OK;
}

// ---- Output

static taut_status fail_without_memory(struct run *run, const char *what)
{
    return run->status = fail_memory(&run->error, what);
}

static void read_frame(struct run *run, unsigned fields)
{
    double begin = clock_seconds();
    solver_read_frame(run->solver, fields, &run->frame);
    run->output_seconds += clock_seconds() - begin;
    if (run->status == TAUT_OK && !solver_is_whole(run->solver))
        run->status = fail_memory(&run->error, "contact");
    if (fields & FRAME_ENERGY) {
        run->energy_step = run->frame.step;
        progress_energy(&run->progress, run->frame.energy.total);
    }
}

static void read_nodes(void *solver, uint64_t first, uint64_t count, double *positions,
                       double *velocities)
{
    solver_read_nodes(solver, first, count, positions, velocities, NULL);
}

static void read_list(void *solver, size_t body, bool triangles, uint64_t first, uint64_t count,
                      uint32_t *nodes)
{
    solver_read_list(solver, body, triangles, first, count, nodes);
}

// `in_parts`: ranks hold only their parts. Each has arrays of its own for its piece of a .vtp file
// (cli/pieces.h), and what is written of other nodes is read piece by piece.
static unsigned fields_of(const struct options *options, const struct scene_output *output,
                          bool in_parts)
{
    if (options->no_output)
        return FRAME_ENERGY;
    const unsigned forces = output->vtp && output->vtp_forces ? FRAME_FORCES : 0;
    if (in_parts)
        return FRAME_ENERGY | forces;
    if (output->vtp)
        return FRAME_NODES | FRAME_SPRINGS | FRAME_ENERGY | forces;
    return output->pc2 ? FRAME_NODES | FRAME_ENERGY : FRAME_ENERGY;
}

// All fields that the frame of a run has arrays for. Nodes of probes and of the final state are
// read one after another.
static unsigned all_fields_of(const struct options *options, const struct scene_output *output,
                              bool in_parts)
{
    unsigned fields = fields_of(options, output, in_parts);
    if (in_parts)
        return fields & ~(unsigned)FRAME_FORCES;
    if (!options->no_output && (output->vtp || output->pc2))
        fields |= FRAME_LISTS;
    return fields;
}

// Bytes that a run needs in addition to its solver (session.h).
static double output_memory(const struct options *options, const taut_scene *scene)
{
    struct memory_estimate estimate;
    memory_estimate_of_rank(scene, NULL, ranks_count(), ranks_number(), &estimate);
    double lists = !options->no_output && scene->output.vtp
                       ? 12 * estimate.nodes // vtp.c: strains of each node
                       : 0;
    double beside =
        memory_of_frame(&estimate, all_fields_of(options, &scene->output, false)) + lists;
    // A piece of a frame has numbers of nodes, too. Its checkpoints are not copied.
    if (estimate.in_parts)
        return scene->output.vtp && !options->no_output
                   ? estimate.share * (beside + 8 * estimate.nodes)
                   : 0;
    // Without memory for a copy the run is possible, but its checkpoints perhaps not.
    const double all = ranks_on_host() * fmax(estimate.making, estimate.solver);
    const bool copies = !options->no_output && options->checkpoint_every != 0 &&
                        memory_check(all + beside + estimate.copy, "it", NULL) == TAUT_OK;
    return beside + (copies ? estimate.copy : 0);
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

static struct vtp_options vtp_options_of(const taut_scene *scene, taut_solver *solver)
{
    return (struct vtp_options){scene->output.vtp_springs, scene->output.vtp_forces, work_of,
                                solver};
}

// The path without links and without ".", as far as it exists; NULL if memory runs out.
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

static taut_status name_folder(struct run *run)
{
    run->folder = run->options->output ? text_format("%s", run->options->output)
                                       : text_format("out/%s", run->scene->name);
    return run->folder ? run->status : fail_without_memory(run, "the name of a folder");
}

// The name of the --state file within the run's folder, which the caller frees; NULL if it is
// elsewhere or there is none.
static char *state_name_in_folder(const struct run *run)
{
    if (!run->state || !run->folder)
        return NULL;
    char *state = resolve(run->state), *folder = resolve(run->folder), *name = NULL;
    size_t length = folder ? strlen(folder) : 0;
    if (state && folder && strncmp(state, folder, length) == 0 && state[length] == '/' &&
        !strchr(state + length + 1, '/'))
        name = text_format("%s", state + length + 1);
    free(state);
    free(folder);
    return name;
}

char *run_state_name(const struct run *run)
{
    char *name = state_name_in_folder(run);
    char *folder = name ? NULL : resolve(run->folder), *path = name ? NULL : resolve(run->state);
    const size_t length = folder ? strlen(folder) : 0;
    // In the folder after all: memory ran out above. The path would be another name for it.
    const bool inside = path && folder && strncmp(path, folder, length) == 0 &&
                        path[length] == '/' && !strchr(path + length + 1, '/');
    if (!name && (!folder || inside)) {
        free(path);
        path = NULL;
    }
    free(folder);
    return name ? name : path;
}

// The state must not replace a file that the run itself writes.
static taut_status refuse_own_file(struct run *run, const struct recording_options *options)
{
    char *name = state_name_in_folder(run);
    if (name && recording_writes(options, &run->frame, name))
        run->status = fail(&run->error, TAUT_ERROR_IO,
                           "cannot write the state to '%s': the run writes a file of that name "
                           "itself; choose another one with --state",
                           run->state);
    free(name);
    return run->status;
}

static taut_status open_recording(struct run *run)
{
    const struct scene_output *output = &run->scene->output;
    struct recording_probe *probes = list_probes(run);
    char *yaml = scene_resolved_yaml(run->scene);
    size_t input_count;
    const char **inputs = scene_inputs(run->scene, &input_count);

    const bool auto_kernel = run->options->kernel == TAUT_KERNEL_AUTO;
    char *state = run->state ? run_state_name(run) : NULL;

    if (!probes || !yaml || !inputs || (run->state && !state))
        run->status = fail_memory(&run->error, "the recording");
    if (run->status == TAUT_OK) {
        struct recording_options options = {
            .folder = run->folder,
            .name = run->scene->name,
            .resolved_yaml = yaml,
            .kernel = auto_kernel ? NULL : kernel_choice_name((int)run->options->kernel),
            .state = state,
            .force = run->options->force,
            .inputs = inputs,
            .input_count = input_count,
            .vtp = output->vtp,
            .vtp_options = vtp_options_of(run->scene, run->solver),
            .pieces = run->in_pieces ? &run->pieces.files : NULL,
            .pc2 = output->pc2,
            .frame_seconds = run->schedule.frame_seconds,
            .probes = probes,
            .probe_count = output->probe_count,
        };
        struct resumption *again = run->resumption;
        if (refuse_own_file(run, &options) == TAUT_OK)
            run->status = again
                              ? recording_resume(&options, &run->frame,
                                                 again->checkpoint ? &again->position.files : NULL,
                                                 again->prolongs, again->checkpoint,
                                                 &again->manifest, &run->recording, &run->error)
                              : recording_open(&options, &run->frame, &run->recording, &run->error);
    }

    free(probes);
    free(inputs);
    free(yaml);
    free(state);
    return run->status;
}

// Reads only the nodes of the probes: a row every step must not cost a pass over all nodes.
static taut_status output_probe(struct run *run)
{
    if (!run->recording ||
        !recording_wants_probe(run->recording, taut_solver_step_count(run->solver)))
        return TAUT_OK;
    double begin = clock_seconds();
    solver_read_frame(run->solver, 0, &run->frame);
    for (size_t i = 0; i < run->scene->output.probe_count && run->frame.positions; i++) {
        const struct scene_probe *probe = &run->scene->output.probes[i];
        solver_read_frame_node(
            run->solver, run->frame.bodies[probe->body].first_node + probe_node(run->solver, probe),
            &run->frame);
    }
    run->status = recording_probe(run->recording, &run->frame, &run->error);
    run->output_seconds += clock_seconds() - begin;
    return run->status;
}

// Opens the folder of the run and, if it begins, writes the output of t = 0. The files stay open.
// These functions return run->status, and set it and the error if it was TAUT_OK.
static taut_status open_output(struct run *run)
{
    const bool in_parts = solver_has_part(run->solver);
    run->in_pieces = !run->options->no_output && run->scene->output.vtp && in_parts;
    run->frame_fields = fields_of(run->options, &run->scene->output, in_parts);
    unsigned ever = all_fields_of(run->options, &run->scene->output, in_parts);
    run->status = solver_make_frame(run->solver, ever, &run->frame, &run->error);
    if (run->status == TAUT_OK && run->in_pieces)
        run->status = pieces_make(&run->pieces, &run->error);
    if (run->status != TAUT_OK)
        return run->status;
    if (!run->frame.positions) {
        run->frame.reader = read_nodes;
        run->frame.list_reader = in_parts ? read_list : NULL;
        run->frame.reader_context = run->solver;
    }
    read_frame(run, run->options->no_output ? FRAME_ENERGY : run->frame_fields);
    if (run->status != TAUT_OK)
        return run->status;
    const bool continues = run->resumption && run->resumption->checkpoint;
    run->first_energy = continues ? run->resumption->position.energy_at_start : run->frame.energy;
    if (run->options->no_output)
        return TAUT_OK;
    double begin = clock_seconds();
    if (open_recording(run) == TAUT_OK && continues) {
        run->output_seconds += clock_seconds() - begin;
        return TAUT_OK;
    }
    if (run->status == TAUT_OK)
        run->status = recording_frame(run->recording, &run->frame, &run->error);
    run->output_seconds += clock_seconds() - begin;
    return run->status == TAUT_OK ? output_probe(run) : run->status;
}

static taut_status output_frame(struct run *run)
{
    read_frame(run, run->frame_fields);
    if (!run->recording || run->status != TAUT_OK)
        return run->status;
    double begin = clock_seconds();
    run->status = recording_frame(run->recording, &run->frame, &run->error);
    run->output_seconds += clock_seconds() - begin;
    return run->status;
}

// Closes all files, also after a failure.
static taut_status close_output(struct run *run)
{
    if (!run->recording)
        return run->status;
    double begin = clock_seconds();
    taut_error close_error = {0};
    if (run->status == TAUT_OK && run->signal_number == 0)
        recording_complete(run->recording);
    taut_status status =
        recording_close(run->recording, &run->files, &run->file_count, &close_error);
    run->recording = NULL;
    if (run->status == TAUT_OK && status != TAUT_OK) {
        run->status = status;
        run->error = close_error;
    }
    run->output_seconds += clock_seconds() - begin;
    return run->status;
}

// Files that the scene is read from are not overwritten, even if they are named as output.
static taut_status refuse_inputs(struct run *run, const char *path)
{
    size_t count;
    const char **inputs = scene_inputs(run->scene, &count);
    if (!inputs)
        return fail_without_memory(run, "the names of files");
    for (size_t i = 0; i < count && run->status == TAUT_OK; i++)
        // The initial state may be replaced: a restart continues from the end of the last run.
        if (inputs[i] != run->scene->initial && file_is_same(path, inputs[i]))
            run->status = fail(&run->error, TAUT_ERROR_IO,
                               "cannot write '%s': it is one of the files that the scene is made "
                               "of",
                               path);
    free(inputs);
    return run->status;
}

// A link to a file that does not exist yet could be one to a file that the run is going to write.
static taut_status refuse_dangling_link(struct run *run, const char *path)
{
    struct stat link, there;
    if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && stat(path, &there) != 0)
        run->status = fail(&run->error, TAUT_ERROR_IO,
                           "cannot write '%s': it is a symbolic link to a file that does not "
                           "exist; remove it, or name the file itself",
                           path);
    return run->status;
}

// Tests whether the state file can be written. Only for regular files: a pipe would take the test
// for the end of its data.
static taut_status try_state_file(struct run *run)
{
    const char *path = run->state;
    struct stat there;
    if (!run->options->no_output && name_folder(run) != TAUT_OK)
        return run->status;
    if (path && (refuse_inputs(run, path) != TAUT_OK || refuse_dangling_link(run, path) != TAUT_OK))
        return run->status;
    if (!path || (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)))
        return run->status;
    // The state may be in a folder that does not exist yet, as that of the run.
    run->status = folder_make_parent(path, &run->error);
    if (run->status != TAUT_OK)
        return run->status;
    struct file file;
    run->status = file_create(&file, path, &run->error);
    if (run->status == TAUT_OK)
        file_abandon(&file);
    return run->status;
}

static taut_status add_file(struct run *run, const char *path)
{
    char **files = realloc(run->files, (run->file_count + 1) * sizeof *files);
    if (!files)
        return fail_without_memory(run, "the list of files");
    run->files = files;
    char *copy = text_format("%s", path);
    if (!copy)
        return fail_without_memory(run, "the list of files");
    run->files[run->file_count++] = copy;
    return run->status;
}

static taut_status write_state(struct run *run)
{
    if (!run->state || run->status != TAUT_OK)
        return run->status;
    double begin = clock_seconds();
    solver_read_frame(run->solver, FRAME_NODES, &run->frame);
    run->status = state_csv_write(run->state, &run->frame, &run->error);
    run->output_seconds += clock_seconds() - begin;
    return run->status;
}

static void free_run(struct run *run)
{
    for (size_t i = 0; i < run->file_count; i++)
        free(run->files[i]);
    free(run->files);
    free(run->folder);
    free(run->state);
    pieces_free(&run->pieces);
    frame_free(&run->frame);
}

// ---- Stepping: from one event (a frame, a row of a probe, the end) to the next in batches of
// steps, between which signals and progress are handled

// Warns once per run that the equations of an implicit step were not solved. The summary states how
// often.
static void warn_of_unsolved(struct run *run)
{
    const struct implicit_statistics *statistics = solver_implicit_statistics(run->solver);
    if (!statistics || statistics->unconverged == 0 || run->warned)
        return;
    run->warned = true;
    if (!run->options->quiet)
        complain("warning: the equations of a step at about t = %g s were not solved to "
                 "simulation.implicit.tolerance: a residual of %.2g is left; allow more "
                 "'iterations' or 'newton', or use a smaller dt",
                 taut_solver_time(run->solver), statistics->worst_residual);
}

// Steps up to `target`, batch by batch. Stops early if dt changes, since the target may change with
// it. How long a batch is depends on the clock, so the run ends at none of them but the last, at
// whose end output is due. A state in between that will certainly be found to have diverged may
// have values that are not finite, and is not kept: checkpoints and signals wait for the target.
static void step_to(struct run *run, uint64_t target, struct batch *batch)
{
    uint64_t step = taut_solver_step_count(run->solver);
    double dt = taut_solver_dt(run->solver);
    bool certain = false;
    while (step < target && run->status == TAUT_OK && taut_solver_dt(run->solver) == dt) {
        if (!certain)
            run->signal_number = signals_caught();
        if (run->signal_number != 0)
            return;
        uint64_t steps = batch_steps(batch, target - step);
        double begin = clock_seconds();
        run->status =
            solver_advance_towards(run->solver, steps, target - step, &certain, &run->error);
        if (solver_was_interrupted(run->solver)) // within a step
            run->signal_number = signals_caught();
        batch_update(batch, steps, clock_seconds() - begin);
        warn_of_unsolved(run);
        progress_update(&run->progress);
        step = taut_solver_step_count(run->solver);
        if (step < target && run->status == TAUT_OK && !certain)
            checkpoints_update(run);
    }
}

// The step of the next frame. A frame that a growing dt has passed is due at once.
static uint64_t next_frame(struct run *run, uint64_t step)
{
    uint64_t due = schedule_next_frame(&run->schedule, run->last_frame);
    return due > step ? due : step + 1;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// Writes the output that is due at the present step.
static void write_due(struct run *run)
{
    if (run->status == TAUT_OK && run->due & DUE_FRAME && output_frame(run) == TAUT_OK) {
        run->due &= ~(uint32_t)DUE_FRAME;
        run->last_frame = taut_solver_step_count(run->solver);
    }
    if (run->status == TAUT_OK && run->due & DUE_PROBE && output_probe(run) == TAUT_OK)
        run->due &= ~(uint32_t)DUE_PROBE;
}

// Writes the last frame, and the checkpoint that a scene with output.checkpoint keeps. A run that
// is prolonged has no frame here unless the schedule has one, so the checkpoint comes first.
static void write_end(struct run *run)
{
    // --checkpoint-every 0 is about the others.
    const bool keeps = run->recording && run->scene->output.checkpoint_every > 0;
    run->checkpoints.enabled |= keeps;
    const uint64_t step = taut_solver_step_count(run->solver);
    const bool scheduled = schedule_frame_due(&run->schedule, run->last_frame) <= step;
    if (scheduled)
        run->due |= DUE_FRAME;
    write_due(run);
    if (keeps && run->status == TAUT_OK) {
        checkpoints_write(run);
        checkpoints_finish(run);
        if (run->checkpoints.failing)
            run->status = fail(&run->error, TAUT_ERROR_IO,
                               "the checkpoint of the end of the run could not be written");
        else
            recording_retain_checkpoint(run->recording);
    }
    if (run->status == TAUT_OK && run->last_frame < step) {
        run->due |= DUE_FRAME;
        write_due(run);
    }
}

// Steps to the end, or until a signal or a fault, and writes frames, probe rows and checkpoints
// when they are due. run->status and run->signal_number describe how it ended.
static void step_to_end(struct run *run)
{
    struct batch batch = batch_make();
    uint64_t step = taut_solver_step_count(run->solver);
    write_due(run); // of a run that was interrupted there
    while (run->status == TAUT_OK && step < taut_solver_steps_planned(run->solver)) {
        const uint64_t frame = next_frame(run, step);
        const uint64_t probe =
            run->recording ? schedule_next_probe(&run->schedule, step) : UINT64_MAX;
        const uint64_t checkpoint = schedule_next_checkpoint(&run->schedule, step);
        const uint64_t target = least(frame, least(probe, checkpoint));
        step_to(run, target, &batch);
        step = taut_solver_step_count(run->solver);
        if (run->status != TAUT_OK || run->signal_number != 0)
            return;
        if (step == probe)
            run->due |= DUE_PROBE;
        if (step >= taut_solver_steps_planned(run->solver))
            break;
        if (step == frame)
            run->due |= DUE_FRAME;
        write_due(run);
        if (run->status == TAUT_OK && step == checkpoint)
            checkpoints_write(run);
        else if (run->status == TAUT_OK)
            checkpoints_update(run);
    }
    if (run->status == TAUT_OK && step > 0)
        write_end(run);
}

// ---- The command

// A failure of the computer, not of the run itself, which would fail again.
static bool can_continue(const struct run *run)
{
    return run->status == TAUT_OK || run->status == TAUT_ERROR_IO ||
           run->status == TAUT_ERROR_MEMORY;
}

static void leave_checkpoint(struct run *run)
{
    const bool ended = run->status == TAUT_OK && run->signal_number == 0;
    if (!ended && can_continue(run) && solver_is_whole(run->solver) &&
        taut_solver_step_count(run->solver) > 0)
        checkpoints_write_last(run);
    else
        checkpoints_finish(run);
}

static void simulate(struct run *run)
{
    signals_watch();
    interruption_watch(signals_count);
    progress_begin(&run->progress, run->solver, run->options->quiet);
    if (try_state_file(run) == TAUT_OK && open_output(run) == TAUT_OK) {
        checkpoints_begin(run);
        step_to_end(run);
        progress_end(&run->progress);
    }
    // Energies and volumes of run->frame are those of the end.
    if (run->frame.bodies && run->energy_step != taut_solver_step_count(run->solver) &&
        !solver_was_interrupted(run->solver))
        read_frame(run, FRAME_ENERGY);
    const bool has_state = write_state(run) == TAUT_OK && run->state;
    leave_checkpoint(run);
    (void)close_output(run);
    if (has_state && run->status == TAUT_OK)
        (void)add_file(run, run->state);
}

// Checks dt against the final state: springs that have become taut, contacts and pressure can make
// the stable step shorter than it was at the start, when dt was checked. The state of a run that
// failed means nothing, so the result from the start is kept, as it is if the check fails.
static void check_dt(struct run *run)
{
    taut_error error;
    struct critical_step critical;
    run->dt_exceeded = solver_dt_at_start(run->solver);
    if (run->status != TAUT_OK || run->signal_number != 0 ||
        taut_solver_step_count(run->solver) == 0)
        return;
    if (solver_check_dt(run->solver, run->scene, &run->dt_exceeded, &error) != TAUT_OK)
        run->dt_exceeded = solver_dt_at_start(run->solver);
    if (integrator_is_implicit(solver_integrator(run->solver)) &&
        solver_critical_step(run->solver, &critical, &error) == TAUT_OK && critical.known)
        run->resolved = critical.bound;
    if (run_balance_shows_little(run) &&
        solver_contact_excess(run->solver, &run->contact_excess, &error) != TAUT_OK)
        run->contact_excess.times = 0;
}

static void report_end(const struct run *run)
{
    const struct options *options = run->options;
    if (solver_was_interrupted(run->solver))
        complain("interrupted by %s", signals_name(run->signal_number));
    else if (run->signal_number != 0)
        complain("interrupted by %s at t = %g s, step %" PRIu64 " of %" PRIu64 "%s",
                 signals_name(run->signal_number), taut_solver_time(run->solver),
                 taut_solver_step_count(run->solver), taut_solver_steps_planned(run->solver),
                 options->no_output ? "" : "; the files written are complete");
    if (run->status != TAUT_OK)
        complain("%s", run->error.text);
    if (run->status != TAUT_OK && run->file_count > 0 && taut_solver_step_count(run->solver) > 0)
        complain("the files written to '%s' until then are complete", run->folder);
    if ((run->status == TAUT_OK && run->signal_number == 0) || !can_continue(run) || !run->folder)
        return;
    char *word = text_shell_path(run->folder);
    if (run->checkpoint_time >= 0)
        complain("continue it from t = %g s with: taut resume %s", run->checkpoint_time,
                 word ? word : "FOLDER");
    else if (run->file_count > 0)
        complain("there is no checkpoint; begin it again with: taut resume %s",
                 word ? word : "FOLDER");
    free(word);
}

static void print_results(struct run *run)
{
    if (run->options->json)
        run_print_json(run);
    else if (!run->options->quiet && run_is_sound(run))
        run_print_table(run);
    if (run->options->hash && !run->options->json && run_is_sound(run))
        printf("%016" PRIx64 "\n", taut_solver_hash(run->solver));
}

// A run is not continued to where it has been.
static int check_end(const struct options *options, const taut_solver *solver)
{
    if (taut_solver_step_count(solver) <= taut_solver_steps_planned(solver))
        return EXIT_CODE_DONE;
    complain("resume: the checkpoint '%s' is of step %" PRIu64 ", t = %g s, beyond that end",
             options->checkpoint, taut_solver_step_count(solver), taut_solver_time(solver));
    return EXIT_CODE_WRONG;
}

// Restores the positions of the schedule and of the output of the run.
static void take_position(struct run *run)
{
    const struct run_position *position = &run->resumption->position;
    run->schedule.frame_steps = position->frame_steps;
    run->schedule.frame_seconds = position->frame_seconds;
    run->schedule.frame_count = position->frame_number;
    run->last_frame = position->last_frame;
    run->due = position->due;
}

// Called on ranks other than 0: does what rank 0 asks for while it writes.
static void answer(void *context, const void *message)
{
    struct pieces *pieces = context;
    if (!checkpoints_answer(pieces->solver, message))
        pieces_answer(pieces, message);
}

int run_or_resume(const struct options *options, struct resumption *resumption)
{
    struct session session;
    bool shared = false;
    signals_end_setup();
    int code = group_agree(session_open_shared(options, output_memory, &session));
    if (code == EXIT_CODE_DONE)
        code = group_agree(session_share(options, &session, &shared));
    if (code == EXIT_CODE_DONE && resumption)
        code = check_end(options, session.solver);
    if (shared && !group_leads()) {
        const struct vtp_options frames = vtp_options_of(session.scene, session.solver);
        struct pieces pieces = pieces_of(session.solver, &frames);
        signals_watch(); // rank 0 decides what follows from them, but for steps that take long
        interruption_watch(signals_count);
        solver_serve(session.solver, answer, &pieces);
        pieces_free(&pieces);
    }
    if (code != EXIT_CODE_DONE || !group_leads()) {
        signals_watch(); // that by which a launcher ends ranks once another has failed is no news
        session_close(&session);
        return code;
    }
    const struct vtp_options frames = vtp_options_of(session.scene, session.solver);
    struct run run = {
        .options = options,
        .pieces = pieces_of(session.solver, &frames),
        .scene = session.scene,
        .solver = session.solver,
        .schedule = schedule_make(session.scene, session.solver),
        .setup_seconds = session.seconds,
        .first_step = taut_solver_step_count(session.solver),
        .checkpoint_time = -1,
        .resumption = resumption,
        .state = options->state ? text_format("%s", options->state) : NULL,
    };
    if (options->state && !run.state)
        (void)fail_without_memory(&run, "the name of the final state");
    if (resumption && resumption->checkpoint)
        take_position(&run);
    simulate(&run);
    if (options->json || !options->quiet)
        check_dt(&run);
    report_end(&run);
    // A run that never began has no summary.
    if (run.frame.bodies && (run.status == TAUT_OK || taut_solver_step_count(run.solver) > 0))
        print_results(&run);
    code = run.signal_number != 0 ? EXIT_CODE_FAILED : exit_code_of(run.status);
    free_run(&run);
    session_close(&session);
    return output_finish(code);
}

static int run_scene(const struct options *options)
{
    return run_or_resume(options, NULL);
}

const struct command run_command = {
    .name = "run",
    .does = "Simulates a scene, and writes what its output section asks for",
    .operand = "SCENE",
    .kind = COMMAND_SIMULATES,
    .run = run_scene,
};
