// The loop of a player's thread and the public functions: how many steps are due at the requested
// speed, when to publish a frame, creating and freeing a player, and one function for each request,
// which only queues it. Requests are executed in player_actions.c, and frames are filled in
// frames.c.
#include "play/player.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
#include "output/file.h"
#include "play/player_parts.h"
#include "scene/reader.h"

// ---- Pace

enum { SAMPLES = sizeof((struct pace){0}.samples) / sizeof(struct pace_sample) };

static const double LAG = 0.1;           // s; a longer delay is not caught up with
static const double SAMPLE_EVERY = 0.04; // s
static const double MEASURED_OVER = 1.0; // s
static const double MEASURED_MIN = 0.1;  // s; too short a time gives no useful rate

void pace_begin(struct pace *pace, double now, double time)
{
    pace->since_wall = now;
    pace->since_time = time;
}

void pace_reset(struct pace *pace)
{
    pace->count = 0;
    pace->reached_speed = pace->reached_updates = 0;
}

uint64_t pace_due(struct pace *pace, double now, double time, double dt)
{
    if (isinf(pace->speed))
        return UINT64_MAX;
    double late = pace->since_time + pace->speed * (now - pace->since_wall) - time;
    double most = fmax(pace->speed * LAG, dt);
    if (late > most) {
        pace->since_wall = now;
        pace->since_time = time + most;
        late = most;
    }
    // The rounding of sums of dt must not cost a step in a frame.
    return late > 0 ? (uint64_t)(late / dt + 1e-6) : 0;
}

void pace_count(struct pace *pace, double simulated, double updates)
{
    pace->simulated += simulated;
    pace->updates += updates;
}

static struct pace_sample *sample(struct pace *pace, size_t index)
{
    return &pace->samples[(pace->first + index) % SAMPLES];
}

void pace_measure(struct pace *pace, double now)
{
    if (pace->count > 0 && now - sample(pace, pace->count - 1)->wall < SAMPLE_EVERY)
        return;
    while (pace->count == SAMPLES ||
           (pace->count > 2 && now - sample(pace, 1)->wall > MEASURED_OVER)) {
        pace->first = (pace->first + 1) % SAMPLES;
        pace->count--;
    }
    *sample(pace, pace->count++) = (struct pace_sample){now, pace->simulated, pace->updates};
    const struct pace_sample *from = sample(pace, 0);
    double seconds = now - from->wall;
    if (seconds >= MEASURED_MIN) {
        pace->reached_speed = (pace->simulated - from->simulated) / seconds;
        pace->reached_updates = (pace->updates - from->updates) / seconds;
    }
}

// ---- The critical step
//
// It depends on the constants and, slightly, on the state; it is evaluated only after changes, and
// the player's thread does nothing else meanwhile.

// The cost of an evaluation in steps (scenes/: a bound 5 to 70; eigenvalues 10 to 1300, and 4600 on
// a large cloth), and the cost allowed, s: for bounds at once, or after a while without changes;
// for computed values while paused, and while playing.
enum { BOUND_STEPS = 60, COMPUTED_STEPS = 800 };
static const double BOUND_AT_ONCE = 0.005, COMPUTED_AT_REST = 0.4, COMPUTED_AT_PLAY = 0.03;
static const double BOUND_AFTER = 0.15, COMPUTED_AFTER = 0.3;

static double step_seconds(const struct player *player)
{
    const double guess = 2e-9; // s per spring, until it has been measured
    const double springs = (double)taut_solver_spring_count(player->simulation.solver);
    return player->seconds_per_step > 0 ? player->seconds_per_step : guess * springs;
}

void player_reset_critical(struct player *player)
{
    player->critical = (struct critical){CRITICAL_UNKNOWN, 0, clock_seconds()};
    if (BOUND_STEPS * step_seconds(player) < BOUND_AT_ONCE)
        player_find_critical(player);
}

double player_critical_wait(const struct player *player, double now)
{
    const struct critical *critical = &player->critical;
    if (player->failed || critical->stage == CRITICAL_COMPUTED)
        return INFINITY;
    if (critical->stage == CRITICAL_UNKNOWN)
        return fmax(0, critical->since + BOUND_AFTER - now);
    bool running = player->playing || player->steps_asked > 0;
    if (COMPUTED_STEPS * step_seconds(player) > (running ? COMPUTED_AT_PLAY : COMPUTED_AT_REST))
        return INFINITY;
    return fmax(0, critical->since + COMPUTED_AFTER - now);
}

void player_find_critical(struct player *player)
{
    taut_solver *solver = player->simulation.solver;
    struct critical *critical = &player->critical;
    struct critical_step found;
    bool computed = critical->stage == CRITICAL_BOUND;
    taut_status status = computed ? solver_own_computed_step(solver, &found, NULL)
                                  : solver_critical_step(solver, &found, NULL);
    critical->stage = computed ? CRITICAL_COMPUTED : CRITICAL_BOUND;
    if (status == TAUT_OK)
        critical->dt = computed ? found.computed_dt[solver_integrator(solver)]
                                : found.dt[solver_integrator(solver)];
    if (status != TAUT_OK || !found.known)
        critical->dt = 0;
    // If no spring sets a limit, or every step is stable, there is nothing to find.
    if (critical->dt == 0 || isinf(critical->dt))
        critical->stage = CRITICAL_COMPUTED;
    pace_begin(&player->pace, clock_seconds(), taut_solver_time(solver));
}

// ---- The thread
//
// Executes requests, makes the steps that are due, publishes frames, and sleeps.

// A request waits until the present batch of steps is done; the length of a batch is chosen so that
// it takes about this long, s.
static const double BATCH_SECONDS = 0.004;

// The interval at which a build in the background is polled, s.
static const double POLL_SECONDS = 0.02;

// The number of steps to make now.
static uint64_t steps_due(struct player *player, double now)
{
    const taut_solver *solver = player->simulation.solver;
    if (player->failed)
        return 0;
    if (!player->playing)
        return player->steps_asked;
    return pace_due(&player->pace, now, taut_solver_time(solver), taut_solver_dt(solver));
}

static void note_failure(struct player *player, const taut_error *error)
{
    player->failed = true;
    player->was_playing = player->playing;
    player->playing = false;
    player->steps_asked = 0;
    player->changed = true;
    pace_reset(&player->pace);
    player_report(player, error->text);
}

static uint64_t min_steps(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void advance(struct player *player, uint64_t due)
{
    taut_solver *solver = player->simulation.solver;
    uint64_t batch = 1;
    if (player->seconds_per_step > 0)
        batch = (uint64_t)fmin(1e6, fmax(1, BATCH_SECONDS / player->seconds_per_step));
    batch = min_steps(batch, player_steps_to_arrival(player));
    uint64_t step = taut_solver_step_count(solver);
    double begin = clock_seconds(), time = taut_solver_time(solver);
    double updates = solver_spring_updates(solver);
    taut_error error = {0};
    taut_status status = solver_advance(solver, min_steps(due, batch), &error);
    uint64_t done = taut_solver_step_count(solver) - step;
    if (!player->playing)
        player->steps_asked -= done < player->steps_asked ? done : player->steps_asked;
    if (done > 0) {
        double seconds = (clock_seconds() - begin) / (double)done;
        player->seconds_per_step =
            player->seconds_per_step > 0 ? (player->seconds_per_step + seconds) / 2 : seconds;
        player->changed = true;
    }
    pace_count(&player->pace, taut_solver_time(solver) - time,
               solver_spring_updates(solver) - updates);
    player_arrive(player);
    if (status != TAUT_OK)
        note_failure(player, &error);
}

// A frame is published when all due steps are done, or when they take too long.
static bool wants_to_publish(const struct player *player, bool done, double now)
{
    double patience = done ? 0 : player->frame_seconds / 2;
    return player->changed && now >= player->next_frame + patience;
}

// Seconds until there is something to do.
static double rest(struct player *player, double now)
{
    double seconds = player_critical_wait(player, now);
    if (player->building)
        seconds = fmin(seconds, building_is_done(player->building) ? 0 : POLL_SECONDS);
    if (player->scene_is_outdated)
        seconds = fmin(seconds, fmax(player->record_at - now, 0));
    double frame = fmax(player->next_frame - now, 0);
    if (player->playing && !player->changed && frame == 0)
        frame = player->frame_seconds / 2; // steps longer than a frame: check again soon
    return player->playing || player->changed ? fmin(seconds, frame) : seconds;
}

// Whether changes of parameters have to wait because the last one was applied a short time ago.
static bool steps_go_first(struct player *player)
{
    double now = clock_seconds();
    return now < player->next_change && player->playing && steps_due(player, now) > 0 &&
           requests_are_sets(&player->requests);
}

void *player_run(void *context)
{
    struct player *player = context;
    while (!requests_ended(&player->requests)) {
        if (!steps_go_first(player))
            player_act(player);
        uint64_t due = steps_due(player, clock_seconds());
        if (due > 0)
            advance(player, due);
        double now = clock_seconds();
        due = steps_due(player, now);
        if (player->scene_is_outdated && now >= player->record_at)
            player_record(player);
        if (wants_to_publish(player, due == 0 || due == UINT64_MAX, now))
            player_publish(player);
        if (player_critical_wait(player, now) <= 0)
            player_find_critical(player);
        if (player->playing)
            pace_measure(&player->pace, now);
        player_publish_status(player);
        if (due == 0)
            requests_wait(&player->requests, rest(player, clock_seconds()));
    }
    return NULL;
}

// ---- Creation and release

static const double FRAMES_PER_SECOND = 60;
static const size_t HISTORY_BYTES = (size_t)256 << 20;

// Creates the parts of a player that have locks; false if a lock or memory is not available.
static bool make_parts(struct player *player, size_t history_bytes)
{
    if (!requests_make(&player->requests))
        return false;
    if (!history_make(&player->history, history_bytes > 0 ? history_bytes : HISTORY_BYTES)) {
        requests_free(&player->requests);
        return false;
    }
    if (pthread_mutex_init(&player->lock, NULL) == 0)
        return true;
    history_free(&player->history);
    requests_free(&player->requests);
    return false;
}

static void release(struct player *player)
{
    building_free(player->building);
    for (size_t i = 0; i < player->waiting_count; i++)
        request_free(&player->waiting[i]);
    free(player->waiting);
    changes_free(&player->pending_changes);
    simulation_close(&player->simulation);
    setting_release(player->latest);
    published_free(&player->published);
    pthread_mutex_destroy(&player->lock);
    history_free(&player->history);
    requests_free(&player->requests);
    memory_release(NULL, player, 1, sizeof *player);
}

static taut_status open_first(struct player *player, const char *scene_path,
                              const struct player_options *options, struct diagnostics *diagnostics,
                              taut_error *error)
{
    struct changes changes = {0};
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < options->override_count && status == TAUT_OK; i++)
        if (!changes_set(&changes, options->overrides[i]))
            status = fail_memory(error, "the changes of a scene");
    if (status == TAUT_OK)
        status = player_open_scene(player, scene_path, &changes, diagnostics, error);
    changes_free(&changes);
    return status;
}

taut_status player_make(const char *scene_path, const struct player_options *options,
                        struct diagnostics *diagnostics, struct player **player, taut_error *error)
{
    *player = NULL;
    struct player *made = memory_allocate(NULL, 1, sizeof *made);
    if (!made || !make_parts(made, options->history_bytes)) {
        memory_release(NULL, made, 1, sizeof *made);
        return fail_memory(error, "a player");
    }
    published_make(&made->published);
    made->config = options->config;
    made->on_frame = options->on_frame;
    made->on_frame_context = options->context;
    made->pace.speed = 1;
    double frames = options->frames_per_second;
    made->frame_seconds = 1 / (frames > 0 ? frames : FRAMES_PER_SECOND);
    taut_status status = open_first(made, scene_path, options, diagnostics, error);
    if (status == TAUT_OK) {
        player_publish(made);
        player_publish_status(made);
        if (!published_refresh(&made->published))
            status = fail_memory(error, "the first frame");
    }
    if (status == TAUT_OK && pthread_create(&made->thread, NULL, player_run, made) != 0)
        status = fail(error, TAUT_ERROR_UNSUPPORTED, "cannot create the thread of the player");
    if (status == TAUT_OK)
        *player = made;
    else
        release(made);
    return status;
}

void player_free(struct player *player)
{
    if (!player)
        return;
    requests_end(&player->requests);
    pthread_join(player->thread, NULL);
    release(player);
}

// ---- The published state

bool player_refresh(struct player *player)
{
    return published_refresh(&player->published);
}

const struct frame *player_frame(const struct player *player)
{
    return &published_read(&player->published)->frame;
}

const struct subject *player_subject(const struct player *player)
{
    return published_read(&player->published)->setting->subject;
}

const taut_scene *player_scene(const struct player *player)
{
    return published_read(&player->published)->setting->scene;
}

const char *const *player_changes(const struct player *player, size_t *count)
{
    const struct changes *changes = &published_read(&player->published)->setting->changes;
    *count = changes->count;
    return (const char *const *)changes->texts;
}

void player_status(struct player *player, struct player_status *status)
{
    // Counted before the status is copied: a request that is no longer counted is part of that
    // status.
    uint64_t pending = requests_pending(&player->requests);
    pthread_mutex_lock(&player->lock);
    *status = player->status;
    pthread_mutex_unlock(&player->lock);
    status->pending += pending;
}

size_t player_rows(struct player *player, struct player_row *rows, size_t most)
{
    return history_rows(&player->history, rows, most);
}

size_t player_history_count(struct player *player)
{
    return history_count(&player->history);
}

double player_history_time(struct player *player, size_t index)
{
    return history_time(&player->history, index);
}

const struct frame *player_history_frame(struct player *player, size_t index)
{
    return history_frame(&player->history, index);
}

// ---- Requests

static void send(struct player *player, struct request request)
{
    if (!requests_add(&player->requests, &request))
        player_report(player, "out of memory for a request");
}

// The same for a request with a text, which it takes over; NULL: the text could not be allocated.
static void ask_text(struct player *player, enum request_type type, char *text)
{
    if (text)
        send(player, (struct request){.type = type, .text = text});
    else
        player_report(player, "out of memory for a request");
}

void player_play(struct player *player, bool playing)
{
    send(player, (struct request){.type = REQUEST_PLAY, .wanted = playing});
}

void player_build(struct player *player, bool wanted)
{
    pthread_mutex_lock(&player->lock);
    if (player->building)
        building_confirm(player->building, wanted);
    pthread_mutex_unlock(&player->lock);
}

void player_step(struct player *player, uint64_t steps)
{
    send(player, (struct request){.type = REQUEST_STEP, .number = steps});
}

void player_speed(struct player *player, double speed)
{
    if (speed >= 0)
        send(player, (struct request){.type = REQUEST_SPEED, .value = speed});
}

void player_reset(struct player *player)
{
    send(player, (struct request){.type = REQUEST_RESET});
}

void player_open(struct player *player, const char *scene_path)
{
    ask_text(player, REQUEST_OPEN, text_format("%s", scene_path));
}

void player_strains(struct player *player, bool wanted)
{
    send(player, (struct request){.type = REQUEST_STRAINS, .wanted = wanted});
}

void player_contacts(struct player *player, bool wanted)
{
    send(player, (struct request){.type = REQUEST_CONTACTS, .wanted = wanted});
}

void player_energies(struct player *player, bool wanted)
{
    send(player, (struct request){.type = REQUEST_ENERGIES, .wanted = wanted});
}

void player_budget(struct player *player, bool wanted)
{
    send(player, (struct request){.type = REQUEST_BUDGET, .wanted = wanted});
}

void player_set(struct player *player, const char *path, const char *value)
{
    ask_text(player, REQUEST_SET, text_format("%s=%s", path, value));
}

void player_threads(struct player *player, int threads)
{
    uint64_t count = threads > 0 ? (uint64_t)threads : 0;
    send(player, (struct request){.type = REQUEST_THREADS, .number = count});
}

void player_grab(struct player *player, uint64_t node, const double target[3])
{
    send(player, (struct request){.type = REQUEST_GRAB,
                                  .wanted = true,
                                  .number = node,
                                  .position = {target[0], target[1], target[2]}});
}

void player_release(struct player *player)
{
    send(player, (struct request){.type = REQUEST_GRAB});
}

void player_move_collider(struct player *player, size_t collider, const double position[3],
                          bool held)
{
    send(player, (struct request){.type = REQUEST_COLLIDER,
                                  .wanted = held,
                                  .number = collider,
                                  .position = {position[0], position[1], position[2]}});
}

void player_scale_sphere(struct player *player, size_t collider, double radius)
{
    send(player, (struct request){.type = REQUEST_SCALE, .number = collider, .value = radius});
}

void player_drive_node(struct player *player, uint64_t node, const double velocity[3])
{
    send(player, (struct request){.type = REQUEST_DRIVE_NODE,
                                  .number = node,
                                  .velocity = {velocity[0], velocity[1], velocity[2]}});
}

// Translates to numbers of the scene as built, which later cuts do not change; NULL if memory is
// short. `in_solver` and `in_scene` translate in two steps; NULL: the numbers are the same.
static uint32_t *translate(const uint32_t *numbers, size_t *count, uint64_t there,
                           const uint32_t *in_solver, const uint32_t *in_scene)
{
    uint32_t *translated = calloc(*count + 1, sizeof *translated);
    size_t kept = 0;
    for (size_t i = 0; translated && i < *count; i++) {
        if (numbers[i] >= there)
            continue;
        uint32_t number = in_solver ? in_solver[numbers[i]] : numbers[i];
        translated[kept++] = in_scene ? in_scene[number] : number;
    }
    *count = kept;
    return translated;
}

void player_cut(struct player *player, const uint32_t *springs, size_t spring_count,
                const uint32_t *faces, size_t face_count)
{
    const struct setting *setting = published_read(&player->published)->setting;
    const struct subject *subject = setting->subject;
    struct request request = {.type = REQUEST_CUT,
                              .number = setting->origin,
                              .spring_count = spring_count,
                              .face_count = face_count};
    request.springs =
        translate(springs, &request.spring_count, subject->spring_count,
                  subject->number_count > 0 ? subject->spring_numbers : NULL, setting->springs);
    request.faces =
        translate(faces, &request.face_count, subject->face_count, NULL, setting->faces);
    if (request.springs && request.faces) {
        send(player, request);
    } else {
        request_free(&request);
        player_report(player, "out of memory for a cut");
    }
}

// ---- Saving

static taut_status write_text(const char *path, const char *text, taut_error *error)
{
    struct file file;
    taut_status status = file_create(&file, path, error);
    if (status != TAUT_OK)
        return status;
    file_write(&file, text, strlen(text));
    return file_commit(&file, error);
}

taut_status player_save_scene(struct player *player, const char *path, taut_error *error)
{
    // A collider that is still being dragged has not been written into the scene yet.
    send(player, (struct request){.type = REQUEST_RECORD});
    requests_wait_until_done(&player->requests);
    pthread_mutex_lock(&player->lock);
    struct setting *setting = setting_retain(player->latest);
    pthread_mutex_unlock(&player->lock);
    char *text = scene_resolved_yaml(setting->scene);
    setting_release(setting);
    taut_status status = text ? write_text(path, text, error) : fail_memory(error, "the scene");
    free(text);
    return status;
}
