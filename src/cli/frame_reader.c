// Opens, simulates and reads (frame_reader.h).
#include "cli/frame_reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "cli/signals.h"
#include "cli/terminal.h"

static const double LIVE_SECONDS = 0.1, PLAIN_SECONDS = 10; // between two progress messages

taut_status frame_reader_interrupted(taut_error *error)
{
    int caught = signals_caught();
    return caught == 0 ? TAUT_OK
                       : fail(error, TAUT_ERROR_IO, "interrupted by %s: nothing was written",
                              signals_name(caught));
}

static taut_status prepare_run(const struct options *options, struct frame_reader *reader,
                               taut_error *error)
{
    reader->is_run = true;
    if (options->override_count > 0)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "--set and --precision cannot be used with a finished run");
    reader->scene_path = finished_run_scene(options->scene, error);
    if (!reader->scene_path)
        return error->code;
    reader->options.scene = reader->scene_path;
    reader->options.quiet = true; // warnings were printed during the run
    return TAUT_OK;
}

static taut_status open_run(const char *folder, struct frame_reader *reader, taut_error *error)
{
    const taut_solver *solver = reader->session.solver;
    size_t count = taut_solver_body_count(solver);
    uint64_t springs = taut_solver_spring_count(solver);
    reader->bodies = calloc(count + 1, sizeof *reader->bodies);
    if (!reader->bodies)
        return fail_memory(error, "the frames of a run");
    for (size_t b = 0; b < count; b++)
        reader->bodies[b] = (struct finished_body){taut_solver_body_name(solver, b),
                                                   taut_solver_body_node_count(solver, b),
                                                   solver_topology(solver)->bodies[b].spring_count};
    const struct finished_system system = {
        .bodies = reader->bodies,
        .body_count = count,
        .node_count = taut_solver_node_count(solver),
        .spring_count = springs,
        .end = solver_planned_time(solver),
    };
    return finished_run_open(folder, &system, &reader->run, error);
}

int frame_reader_open(const struct options *options, const char *command,
                      extra_memory_function extra, struct frame_reader *reader)
{
    *reader = (struct frame_reader){.options = *options, .shown = clock_seconds()};
    reader->batch = batch_make();
    taut_error error = {0};
    taut_status status = TAUT_OK;
    if (finished_run_is_folder(options->scene))
        status = prepare_run(options, reader, &error);
    if (status == TAUT_OK) {
        int code = session_open(&reader->options, extra, &reader->session);
        if (code != EXIT_CODE_DONE)
            return code;
    }
    if (status == TAUT_OK && reader->is_run)
        status = open_run(options->scene, reader, &error);
    if (status != TAUT_OK)
        complain("%s: %s", command, error.text);
    return exit_code_of(status);
}

void frame_reader_close(struct frame_reader *reader)
{
    if (reader->is_run)
        finished_run_close(&reader->run);
    free(reader->bodies);
    session_close(&reader->session);
    free(reader->scene_path);
    *reader = (struct frame_reader){0};
}

static void show_progress(struct frame_reader *reader, double until)
{
    double now = clock_seconds();
    bool live = live_line_possible();
    if (reader->options.quiet || now - reader->shown < (live ? LIVE_SECONDS : PLAIN_SECONDS))
        return;
    reader->shown = now;
    char text[128];
    snprintf(text, sizeof text, "simulating  t %.4g/%.4g s",
             taut_solver_time(reader->session.solver), until);
    if (live)
        live_line(text);
    else
        fprintf(stderr, "taut: %s\n", text);
}

// The step nearest to a time at the current dt.
static uint64_t step_at(const taut_solver *solver, double time)
{
    double step = solver_steps_until(solver, time),
           planned = (double)taut_solver_steps_planned(solver);
    if (time >= solver_planned_time(solver) || step >= planned)
        return taut_solver_steps_planned(solver);
    return step > 0 ? (uint64_t)step : 0;
}

static taut_status simulate(struct frame_reader *reader, double time, unsigned fields,
                            struct frame *frame, taut_error *error)
{
    taut_solver *solver = reader->session.solver;
    taut_status status = TAUT_OK;
    uint64_t step, target;
    // With `dt: auto` the target changes when dt does.
    while ((step = taut_solver_step_count(solver)) < (target = step_at(solver, time)) &&
           status == TAUT_OK) {
        uint64_t steps = batch_steps(&reader->batch, target - step);
        double begin = clock_seconds();
        bool certain;
        status = solver_advance_towards(solver, steps, target - step, &certain, error);
        batch_update(&reader->batch, steps, clock_seconds() - begin);
        if (status == TAUT_OK)
            status = frame_reader_interrupted(error);
        show_progress(reader, time);
    }
    if (status == TAUT_OK)
        solver_read_frame(solver, fields, frame);
    return status;
}

taut_status frame_reader_read(struct frame_reader *reader, double time, unsigned fields,
                              struct frame *frame, taut_error *error)
{
    if (!reader->is_run)
        return simulate(reader, time, fields, frame, error);
    size_t number = finished_run_nearest(&reader->run, time);
    taut_status status = finished_run_read(&reader->run, number, fields, frame, error);
    return status == TAUT_OK ? frame_reader_interrupted(error) : status;
}

taut_status frame_reader_rewind(struct frame_reader *reader, taut_error *error)
{
    if (reader->is_run || taut_solver_step_count(reader->session.solver) == 0)
        return TAUT_OK;
    session_close(&reader->session);
    reader->options.quiet = true; // all findings have been reported
    if (session_open(&reader->options, NULL, &reader->session) != EXIT_CODE_DONE)
        return fail(error, TAUT_ERROR_IO, "the scene cannot be simulated a second time");
    return TAUT_OK;
}
