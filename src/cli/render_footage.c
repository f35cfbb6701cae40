// Moments of a scene that is simulated now, or of a finished run.
#include "cli/render.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/signals.h"
#include "cli/terminal.h"

// More springs than that are not told apart in any picture: of larger scenes every n-th is taken.
// The colour of a surface, however, is a mean over the springs of its nodes.
enum { SPRINGS_MOST = 2000000, SPRINGS_MOST_OF_COLOURS = 100000000 };

static const double LIVE_SECONDS = 0.1, PLAIN_SECONDS = 10; // between two words about progress

taut_status render_check_signals(taut_error *error)
{
    int caught = signals_caught();
    return caught == 0 ? TAUT_OK
                       : fail(error, TAUT_ERROR_IO, "interrupted by %s: nothing was written",
                              signals_name(caught));
}

// ---- Opening.

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

static taut_status prepare_run(const struct options *options, struct footage *footage,
                               taut_error *error)
{
    footage->is_run = true;
    if (options->override_count > 0)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "a finished run is as it is: --set and --precision have no place");
    footage->scene_path = finished_run_scene(options->scene, error);
    if (!footage->scene_path)
        return error->code;
    footage->options.scene = footage->scene_path;
    footage->options.quiet = true; // what there is to warn of was said when it ran
    return TAUT_OK;
}

static taut_status open_run(const char *folder, struct footage *footage, taut_error *error)
{
    const taut_solver *solver = footage->session.solver;
    size_t count = taut_solver_body_count(solver);
    uint64_t springs = taut_solver_spring_count(solver);
    footage->bodies = calloc(count + 1, sizeof *footage->bodies);
    footage->strains = memory_allocate(NULL, springs, sizeof *footage->strains);
    footage->broken = memory_allocate(NULL, springs, sizeof *footage->broken);
    if (!footage->bodies || !footage->strains || !footage->broken)
        return fail_memory(error, "the frames of a run");
    for (size_t b = 0; b < count; b++)
        footage->bodies[b] = (struct finished_body){taut_solver_body_name(solver, b),
                                                    taut_solver_body_node_count(solver, b),
                                                    solver->topology->bodies[b].spring_count};
    const struct finished_system system = {
        .bodies = footage->bodies,
        .body_count = count,
        .node_count = taut_solver_node_count(solver),
        .spring_count = springs,
        .end = solver_planned_time(solver),
    };
    return finished_run_open(folder, &system, &footage->run, error);
}

static taut_status prepare_moments(const struct render_wish *wish, struct footage *footage,
                                   taut_error *error)
{
    bool coloured = wish->colouring == COLOURING_STRAIN || wish->colouring == COLOURING_TENSION;
    const struct subject_options wanted = {.springs_max =
                                               coloured ? SPRINGS_MOST_OF_COLOURS : SPRINGS_MOST};
    taut_status status = subject_make(footage->session.solver, &wanted, &footage->subject, error);
    // Which springs are broken comes with the strains.
    footage->wants_strains = coloured || footage->session.solver->topology->any_breaks;
    if (status == TAUT_OK)
        status =
            subject_store_make(&footage->subject, footage->wants_strains, &footage->store, error);
    return status;
}

static taut_status find_name(const char *path, struct footage *footage, taut_error *error)
{
    size_t length = 0;
    const char *name = footage->is_run ? footage->run.name : footage->session.scene->name;
    if (!name)
        name = last_part(path, &length);
    footage->name = length > 0 ? text_format("%.*s", (int)length, name) : text_format("%s", name);
    return footage->name ? TAUT_OK : fail_memory(error, "the name of a picture");
}

int footage_open(const struct options *options, struct footage *footage)
{
    *footage = (struct footage){.options = *options, .shown = clock_seconds()};
    footage->batch = batch_make();
    taut_error error = {0};
    taut_status status = TAUT_OK;
    if (finished_run_is_folder(options->scene))
        status = prepare_run(options, footage, &error);
    if (status == TAUT_OK) {
        int code = session_open(&footage->options, NULL, &footage->session);
        if (code != EXIT_CODE_DONE)
            return code;
    }
    if (status == TAUT_OK && footage->is_run)
        status = open_run(options->scene, footage, &error);
    if (status == TAUT_OK)
        status = find_name(options->scene, footage, &error);
    if (status == TAUT_OK)
        status = prepare_moments(&options->render, footage, &error);
    if (status != TAUT_OK)
        complain("render: %s", error.text);
    return exit_code_of(status);
}

void footage_close(struct footage *footage)
{
    uint64_t springs =
        footage->session.solver ? taut_solver_spring_count(footage->session.solver) : 0;
    memory_release(NULL, footage->strains, springs, sizeof *footage->strains);
    memory_release(NULL, footage->broken, springs, sizeof *footage->broken);
    if (footage->is_run)
        finished_run_close(&footage->run);
    free(footage->bodies);
    subject_store_free(&footage->store);
    subject_free(&footage->subject);
    session_close(&footage->session);
    free(footage->scene_path);
    free(footage->name);
    *footage = (struct footage){0};
}

struct render_span footage_span(const struct footage *footage)
{
    const struct finished_run *run = &footage->run;
    if (footage->is_run)
        return (struct render_span){run->times[run->frame_count - 1], run->times, run->frame_count};
    return (struct render_span){.end = solver_planned_time(footage->session.solver)};
}

// ---- Taking.

static void show_progress(struct footage *footage, double until)
{
    double now = clock_seconds();
    bool live = live_line_possible();
    if (footage->options.quiet || now - footage->shown < (live ? LIVE_SECONDS : PLAIN_SECONDS))
        return;
    footage->shown = now;
    char text[128];
    snprintf(text, sizeof text, "simulating  t %.4g/%.4g s",
             taut_solver_time(footage->session.solver), until);
    if (live)
        live_line(text);
    else
        fprintf(stderr, "taut: %s\n", text);
}

// The number of the step nearest to a time, as dt is now.
static uint64_t step_at(const taut_solver *solver, double time)
{
    double step = solver_steps_until(solver, time), planned = (double)solver->steps_planned;
    if (time >= solver_planned_time(solver) || step >= planned)
        return solver->steps_planned;
    return step > 0 ? (uint64_t)step : 0;
}

static taut_status simulate(struct footage *footage, double time, taut_error *error)
{
    taut_solver *solver = footage->session.solver;
    taut_status status = TAUT_OK;
    uint64_t step, target;
    // With `dt: auto` the target changes when dt does.
    while ((step = taut_solver_step_count(solver)) < (target = step_at(solver, time)) &&
           status == TAUT_OK) {
        uint64_t steps = batch_steps(&footage->batch, target - step);
        double begin = clock_seconds();
        status = solver_advance(solver, steps, step + steps == target, error);
        batch_learn(&footage->batch, steps, clock_seconds() - begin);
        if (status == TAUT_OK)
            status = render_check_signals(error);
        show_progress(footage, time);
    }
    if (status == TAUT_OK)
        subject_store_take(solver, &footage->subject, footage->wants_strains, &footage->store);
    return status;
}

// What frames do not have follows from places, of springs that neither break nor yield.
static float strain_by_places(const struct subject *subject, const float *positions,
                              uint64_t spring)
{
    const float *a = positions + 3 * (size_t)subject->springs[spring][0];
    const float *b = positions + 3 * (size_t)subject->springs[spring][1];
    float x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
    float rest = subject->rest_lengths[spring];
    return rest > 0.0f ? (sqrtf(x * x + y * y + z * z) - rest) / rest : 0.0f;
}

static void choose_springs(const struct footage *footage, struct subject_store *store)
{
    const struct subject *subject = &footage->subject;
    for (uint64_t i = 0; i < store->spring_count; i++) {
        uint64_t number = subject->number_count > 0 ? subject->spring_numbers[i] : i;
        float strain = footage->strains[number];
        store->strains[i] = isnan(strain) ? strain_by_places(subject, store->positions, i) : strain;
        store->broken[i] = footage->broken[number];
    }
}

// What frames do not hold, but the scene tells.
static void add_surroundings(const struct footage *footage, struct subject_store *store)
{
    const struct subject *subject = &footage->subject;
    double time = store->moment.time;
    for (size_t c = 0; c < subject->collider_count; c++) {
        const struct scene_collider *collider = &subject->colliders[c];
        store->spheres[c] = (struct subject_sphere){0};
        if (collider->type != COLLIDER_SPHERE)
            continue;
        vec3 centre = vec3_add(collider->centre, vec3_scale(time, collider->velocity));
        store->spheres[c] = (struct subject_sphere){
            {(float)centre.x, (float)centre.y, (float)centre.z}, (float)collider->radius};
    }
    vec3 wind = scene_wind_at(&footage->session.scene->environment.wind, time);
    store->moment.wind[0] = (float)wind.x;
    store->moment.wind[1] = (float)wind.y;
    store->moment.wind[2] = (float)wind.z;
}

static taut_status read_back(struct footage *footage, double time, taut_error *error)
{
    struct subject_store *store = &footage->store;
    size_t frame = finished_run_nearest(&footage->run, time);
    bool has_strains = false;
    taut_status status = finished_run_read(&footage->run, frame, store->positions,
                                           footage->wants_strains ? footage->strains : NULL,
                                           footage->broken, &has_strains, error);
    if (status != TAUT_OK)
        return status;
    store->moment.time = footage->run.times[frame];
    if (has_strains)
        choose_springs(footage, store);
    store->moment.strains = has_strains ? store->strains : NULL;
    store->moment.broken = has_strains ? store->broken : NULL;
    add_surroundings(footage, store);
    return render_check_signals(error);
}

taut_status footage_take(struct footage *footage, double time, taut_error *error)
{
    return footage->is_run ? read_back(footage, time, error) : simulate(footage, time, error);
}

taut_status footage_rewind(struct footage *footage, taut_error *error)
{
    if (footage->is_run || taut_solver_step_count(footage->session.solver) == 0)
        return TAUT_OK;
    session_close(&footage->session);
    footage->options.quiet = true; // all has been said
    if (session_open(&footage->options, NULL, &footage->session) != EXIT_CODE_DONE)
        return fail(error, TAUT_ERROR_IO, "the scene cannot be simulated a second time");
    return TAUT_OK;
}
