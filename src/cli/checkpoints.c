// Writes the checkpoints of a run (checkpoints.h): decides when, copies the solver's state on its
// own threads, and has a thread write the copy. output/run_checkpoint.c has the content of the
// file.
#include "cli/checkpoints.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/text.h"
#include "cli/run.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "ranks/ranks.h"

static const double DEFAULT_SECONDS = 60;

void checkpoints_begin(struct run *run)
{
    struct checkpoints *it = &run->checkpoints;
    const double given = run->options->checkpoint_every;
    const bool by_scene = run->schedule.checkpoint_seconds > 0;
    it->every = given >= 0 ? given : by_scene ? 0 : DEFAULT_SECONDS;
    if (given == 0)
        run->schedule.checkpoint_seconds = 0;
    it->enabled = run->recording && (it->every > 0 || run->schedule.checkpoint_seconds > 0);
    it->due = clock_seconds() + it->every;
    // One that lacks output of its step is written again once that has been written.
    const bool continues = run->resumption && run->resumption->checkpoint;
    it->has_step = continues && run->resumption->position.due == 0;
    it->step = taut_solver_step_count(run->solver);
    if (continues) // a run whose files could not be opened is not advised to try it again
        run->checkpoint_time = taut_solver_time(run->solver);
    atomic_init(&it->signals_max, INT_MAX);
    if (!it->enabled || run->options->quiet)
        return;
    char *text = it->every > 0 ? text_format("every %g s", it->every)
                               : text_format("every %g s of the simulation",
                                             run->schedule.checkpoint_seconds);
    char *word = text_shell_path(run->folder);
    complain("checkpoints %s in '%s'; after an interruption continue with: taut resume %s",
             text ? text : "", run->folder, word ? word : "FOLDER");
    free(word);
    free(text);
}

// ---- The position of the output

// Sets run->error if memory runs out, or if rows that belong to the state have been lost.
static taut_status find_position(struct run *run, struct run_position *position, taut_error *error)
{
    *position = (struct run_position){
        .frame_steps = run->schedule.frame_steps,
        .frame_number = run->schedule.frame_count,
        .frame_seconds = run->schedule.frame_seconds,
        .last_frame = run->last_frame,
        .due = run->due,
        .kernel = (uint32_t)solver_kernel(run->solver),
        .energy_at_start = run->first_energy,
    };
    taut_status status = recording_position(run->recording, &position->files, error);
    if (status == TAUT_OK && run->state) {
        position->state = run_state_name(run);
        if (!position->state) {
            run_position_free(position);
            status = fail_memory(error, "a checkpoint");
        }
    }
    return status;
}

// ---- Writing

static bool is_stopped(void *context)
{
    struct checkpoints *it = context;
    return signals_count() > atomic_load(&it->signals_max);
}

// The first byte of what rank 0 gives the others: everything else is the name of a frame
// (pieces.h).
enum { CALL_CHECKPOINT = 1 };

static void begin_group(void *context, const char *text, size_t bytes)
{
    char *const message = malloc(bytes + 1);
    if (!message)
        ranks_abort(EXIT_CODE_FAILED, "out of memory for the name of a checkpoint");
    message[0] = CALL_CHECKPOINT;
    memcpy(message + 1, text, bytes);
    solver_begin_call(context, message, bytes + 1);
    free(message);
}

static void end_group(void *context)
{
    solver_end_call(context);
}

bool checkpoints_answer(const taut_solver *solver, const void *message)
{
    const char *const text = message;
    if (text[0] != CALL_CHECKPOINT)
        return false;
    run_checkpoint_join(solver, text + 1);
    return true;
}

static void *write_copy(void *context)
{
    struct checkpoints *it = context;
    const struct run_checkpoint_group group = {begin_group, end_group, it->solver};
    it->status = recording_synchronise(it->recording, &it->error);
    if (it->status == TAUT_OK)
        it->status = run_checkpoint_write(it->path, it->copy, &it->position, is_stopped, it,
                                          it->has_thread ? NULL : &group, &it->error);
    if (it->status == TAUT_OK)
        it->status = recording_synchronise(it->recording, &it->error);
    atomic_store(&it->done, true);
    return NULL;
}

// A failure is reported once, until one has been written again.
static void report(struct run *run, taut_status status, const taut_error *error)
{
    struct checkpoints *it = &run->checkpoints;
    if (status != TAUT_OK && !it->failing)
        complain("warning: no checkpoint at step %llu: %s", (unsigned long long)it->step,
                 error->text);
    it->failing = status != TAUT_OK;
    it->has_step = status == TAUT_OK;
}

void checkpoints_finish(struct run *run)
{
    struct checkpoints *it = &run->checkpoints;
    if (!it->writing)
        return;
    if (it->has_thread)
        (void)pthread_join(it->thread, NULL);
    it->writing = it->has_thread = false;
    taut_error error = it->error;
    taut_status status = it->status;
    if (status == TAUT_OK) {
        run->checkpoint_time = it->time;
        status = recording_keep_checkpoint(run->recording, it->path, &error);
    }
    report(run, status, &error);
    solver_copy_free(it->copy);
    run_position_free(&it->position);
    free(it->path);
    it->copy = NULL;
    it->path = NULL;
}

void checkpoints_write(struct run *run)
{
    struct checkpoints *it = &run->checkpoints;
    const uint64_t step = taut_solver_step_count(run->solver);
    if (!it->enabled)
        return;
    checkpoints_finish(run);
    it->due = clock_seconds() + it->every;
    if (it->has_step && it->step == step)
        return;
    it->step = step;
    it->time = taut_solver_time(run->solver);
    it->recording = run->recording;
    it->solver = run->solver;
    it->error = (taut_error){0};
    taut_status status = find_position(run, &it->position, &it->error);
    // Without memory for a copy the run waits until the checkpoint is written. Ranks with parts of
    // the nodes have no memory for all, and their messages come from one thread.
    const bool copies =
        status == TAUT_OK && !solver_has_part(run->solver) &&
        memory_check(solver_copy_bytes(run->solver), "a checkpoint", NULL) == TAUT_OK &&
        solver_copy_make(run->solver, &it->copy, NULL) == TAUT_OK;
    if (status == TAUT_OK && !copies)
        status = solver_copy_refer(run->solver, &it->copy, &it->error);
    if (status == TAUT_OK)
        status = recording_announce_checkpoint(run->recording, step, &it->path, &it->error);
    if (status != TAUT_OK) {
        report(run, status, &it->error);
        solver_copy_free(it->copy);
        run_position_free(&it->position);
        it->copy = NULL;
        return;
    }
    it->writing = it->has_thread = true;
    atomic_store(&it->done, false);
    if (copies && pthread_create(&it->thread, NULL, write_copy, it) == 0)
        return;
    it->has_thread = false;
    (void)write_copy(it);
}

void checkpoints_update(struct run *run)
{
    struct checkpoints *it = &run->checkpoints;
    if (it->writing && atomic_load(&it->done))
        checkpoints_finish(run);
    if (it->every > 0 && it->enabled && !it->writing && clock_seconds() >= it->due)
        checkpoints_write(run);
}

void checkpoints_write_last(struct run *run)
{
    struct checkpoints *it = &run->checkpoints;
    atomic_store(&it->signals_max, signals_count());
    it->failing = false; // it matters more than the ones before
    checkpoints_write(run);
    checkpoints_finish(run);
}
