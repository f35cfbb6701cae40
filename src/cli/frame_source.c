// The frames that taut render draws: of a scene that is simulated now, or of a finished run that is
// read from its files.
#include "cli/frame_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/signals.h"
#include "cli/terminal.h"

// More springs than this cannot be distinguished in any picture: of larger scenes every n-th is
// drawn. The colour of a surface, however, is a mean over all springs at its nodes.
enum { SPRINGS_MAX = 2000000, COLOUR_SPRINGS_MAX = 100000000 };

static const double LIVE_SECONDS = 0.1, PLAIN_SECONDS = 10; // between two progress messages

taut_status frame_source_interrupted(taut_error *error)
{
    int caught = signals_caught();
    return caught == 0 ? TAUT_OK
                       : fail(error, TAUT_ERROR_IO, "interrupted by %s: nothing was written",
                              signals_name(caught));
}

// ---- Opening

static const char *last_part(const char *path, size_t *length)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    *length = end - begin;
    return path + begin;
}

static taut_status prepare_run(const struct options *options, struct frame_source *source,
                               taut_error *error)
{
    source->is_run = true;
    if (options->override_count > 0)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "--set and --precision cannot be used with a finished run");
    source->scene_path = finished_run_scene(options->scene, error);
    if (!source->scene_path)
        return error->code;
    source->options.scene = source->scene_path;
    source->options.quiet = true; // warnings were printed during the run
    return TAUT_OK;
}

static taut_status open_run(const char *folder, struct frame_source *source, taut_error *error)
{
    const taut_solver *solver = source->session.solver;
    size_t count = taut_solver_body_count(solver);
    uint64_t springs = taut_solver_spring_count(solver);
    source->bodies = calloc(count + 1, sizeof *source->bodies);
    if (!source->bodies)
        return fail_memory(error, "the frames of a run");
    for (size_t b = 0; b < count; b++)
        source->bodies[b] = (struct finished_body){taut_solver_body_name(solver, b),
                                                   taut_solver_body_node_count(solver, b),
                                                   solver_topology(solver)->bodies[b].spring_count};
    const struct finished_system system = {
        .bodies = source->bodies,
        .body_count = count,
        .node_count = taut_solver_node_count(solver),
        .spring_count = springs,
        .end = solver_planned_time(solver),
    };
    return finished_run_open(folder, &system, &source->run, error);
}

static taut_status prepare_frames(const struct render_request *request, struct frame_source *source,
                                  taut_error *error)
{
    bool coloured = colouring_is_of_springs(request->colouring);
    const struct subject_options wanted = {.springs_max =
                                               coloured ? COLOUR_SPRINGS_MAX : SPRINGS_MAX};
    taut_status status = subject_make(source->session.solver, &wanted, &source->subject, error);
    // Broken flags are read together with the strains.
    bool strains = coloured || solver_topology(source->session.solver)->any_breaks;
    if (status == TAUT_OK)
        status = subject_make_frame(&source->subject, strains, &source->frame, error);
    source->fields = source->frame.allocated;
    return status;
}

static taut_status find_name(const char *path, struct frame_source *source, taut_error *error)
{
    size_t length = 0;
    const char *name = source->is_run ? source->run.name : source->session.scene->name;
    if (!name)
        name = last_part(path, &length);
    source->name = length > 0 ? text_format("%.*s", (int)length, name) : text_format("%s", name);
    return source->name ? TAUT_OK : fail_memory(error, "the name of a picture");
}

int frame_source_open(const struct options *options, struct frame_source *source)
{
    *source = (struct frame_source){.options = *options, .shown = clock_seconds()};
    source->batch = batch_make();
    taut_error error = {0};
    taut_status status = TAUT_OK;
    if (finished_run_is_folder(options->scene))
        status = prepare_run(options, source, &error);
    if (status == TAUT_OK) {
        int code = session_open(&source->options, NULL, &source->session);
        if (code != EXIT_CODE_DONE)
            return code;
    }
    if (status == TAUT_OK && source->is_run)
        status = open_run(options->scene, source, &error);
    if (status == TAUT_OK)
        status = find_name(options->scene, source, &error);
    if (status == TAUT_OK)
        status = prepare_frames(&options->render, source, &error);
    if (status != TAUT_OK)
        complain("render: %s", error.text);
    return exit_code_of(status);
}

void frame_source_close(struct frame_source *source)
{
    if (source->is_run)
        finished_run_close(&source->run);
    free(source->bodies);
    frame_free(&source->frame);
    subject_free(&source->subject);
    session_close(&source->session);
    free(source->scene_path);
    free(source->name);
    *source = (struct frame_source){0};
}

struct render_span frame_source_span(const struct frame_source *source)
{
    const struct finished_run *run = &source->run;
    if (source->is_run)
        return (struct render_span){run->times[run->frame_count - 1], run->times, run->frame_count};
    return (struct render_span){.end = solver_planned_time(source->session.solver)};
}

// ---- Reading

static void show_progress(struct frame_source *source, double until)
{
    double now = clock_seconds();
    bool live = live_line_possible();
    if (source->options.quiet || now - source->shown < (live ? LIVE_SECONDS : PLAIN_SECONDS))
        return;
    source->shown = now;
    char text[128];
    snprintf(text, sizeof text, "simulating  t %.4g/%.4g s",
             taut_solver_time(source->session.solver), until);
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

static taut_status simulate(struct frame_source *source, double time, taut_error *error)
{
    taut_solver *solver = source->session.solver;
    taut_status status = TAUT_OK;
    uint64_t step, target;
    // With `dt: auto` the target changes when dt does.
    while ((step = taut_solver_step_count(solver)) < (target = step_at(solver, time)) &&
           status == TAUT_OK) {
        uint64_t steps = batch_steps(&source->batch, target - step);
        double begin = clock_seconds();
        status = solver_advance(solver, steps, error);
        batch_update(&source->batch, steps, clock_seconds() - begin);
        if (status == TAUT_OK)
            status = frame_source_interrupted(error);
        show_progress(source, time);
    }
    if (status == TAUT_OK)
        solver_read_frame(solver, source->fields, &source->frame);
    return status;
}

// Strains that a frame lacks follow from positions, for springs that neither break nor yield.
static float strain_from_positions(const struct subject *subject, const float *positions,
                                   uint64_t spring)
{
    const float *a = positions + 3 * (size_t)subject->springs[spring][0];
    const float *b = positions + 3 * (size_t)subject->springs[spring][1];
    float x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
    float rest = subject->rest_lengths[spring];
    return rest > 0.0f ? (sqrtf(x * x + y * y + z * z) - rest) / rest : 0.0f;
}

static void copy_strains(const struct frame_source *source, struct frame *frame)
{
    frame_select_drawn_springs(frame);
    for (uint64_t i = 0; i < frame->shape.drawn_count; i++)
        if (isnan(frame->drawn_strains[i]))
            frame->drawn_strains[i] =
                strain_from_positions(&source->subject, frame->drawn_positions, i);
}

// Spheres and wind are not in the files; they follow from the scene.
static void add_spheres_and_wind(const struct frame_source *source, struct frame *frame)
{
    const struct subject *subject = &source->subject;
    for (size_t c = 0; c < subject->collider_count; c++) {
        const struct scene_collider *collider = &subject->colliders[c];
        frame->spheres[c] = (struct frame_sphere){0};
        if (collider->type != COLLIDER_SPHERE)
            continue;
        vec3 centre = vec3_add(collider->centre, vec3_scale(frame->time, collider->velocity));
        frame->spheres[c] = (struct frame_sphere){
            {(float)centre.x, (float)centre.y, (float)centre.z}, (float)collider->radius};
    }
    frame->fields |= FRAME_SPHERES;
    frame_set_wind(frame, &source->session.scene->environment.wind);
}

static taut_status read_file(struct frame_source *source, double time, taut_error *error)
{
    struct frame *frame = &source->frame;
    size_t number = finished_run_nearest(&source->run, time);
    taut_status status = finished_run_read(&source->run, number, source->fields, frame, error);
    if (status != TAUT_OK)
        return status;
    if (frame_has(frame, FRAME_SPRINGS))
        copy_strains(source, frame);
    add_spheres_and_wind(source, frame);
    return frame_source_interrupted(error);
}

taut_status frame_source_read(struct frame_source *source, double time, taut_error *error)
{
    return source->is_run ? read_file(source, time, error) : simulate(source, time, error);
}

taut_status frame_source_rewind(struct frame_source *source, taut_error *error)
{
    if (source->is_run || taut_solver_step_count(source->session.solver) == 0)
        return TAUT_OK;
    session_close(&source->session);
    source->options.quiet = true; // all findings have been reported
    if (session_open(&source->options, NULL, &source->session) != EXIT_CODE_DONE)
        return fail(error, TAUT_ERROR_IO, "the scene cannot be simulated a second time");
    return TAUT_OK;
}
