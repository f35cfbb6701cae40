#include "play/player.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "output/file.h"
#include "play/player_parts.h"
#include "scene/reader.h"

// ---- Making

static const double FRAMES_PER_SECOND = 60;
static const size_t HISTORY_BYTES = (size_t)256 << 20;

// Everything of a player that has locks; false if there are none, or no memory.
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
    changes_free(&player->noted);
    show_close(&player->show);
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
        status = player_show(player, scene_path, &changes, diagnostics, error);
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
    made->on_moment = options->on_moment;
    made->on_moment_context = options->context;
    made->pace.speed = 1;
    double frames = options->frames_per_second;
    made->frame_seconds = 1 / (frames > 0 ? frames : FRAMES_PER_SECOND);
    taut_status status = open_first(made, scene_path, options, diagnostics, error);
    if (status == TAUT_OK) {
        player_publish(made);
        player_tell(made);
        if (!published_refresh(&made->published))
            status = fail_memory(error, "the first moment");
    }
    if (status == TAUT_OK && pthread_create(&made->thread, NULL, player_run, made) != 0)
        status = fail(error, TAUT_ERROR_UNSUPPORTED, "the system gives no thread to play on");
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

// ---- What is there

bool player_refresh(struct player *player)
{
    return published_refresh(&player->published);
}

const struct player_moment *player_moment(const struct player *player)
{
    return &published_read(&player->published)->moment;
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
    // Counted first: what is pending no more has been told.
    uint64_t pending = requests_pending(&player->requests);
    pthread_mutex_lock(&player->lock);
    *status = player->told;
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

bool player_history_moment(struct player *player, size_t index, struct player_moment *moment)
{
    return history_moment(&player->history, index, moment);
}

// ---- What to do

static void ask(struct player *player, struct request request)
{
    if (!requests_add(&player->requests, &request))
        player_say(player, "out of memory for what was asked for");
}

// The same with a text that it was given.
static void ask_text(struct player *player, enum request_type type, char *text)
{
    if (text)
        ask(player, (struct request){.type = type, .text = text});
    else
        player_say(player, "out of memory for what was asked for");
}

void player_play(struct player *player, bool playing)
{
    ask(player, (struct request){.type = REQUEST_PLAY, .wanted = playing});
}

void player_build(struct player *player, bool wanted)
{
    pthread_mutex_lock(&player->lock);
    if (player->building)
        building_answer(player->building, wanted);
    pthread_mutex_unlock(&player->lock);
}

void player_step(struct player *player, uint64_t steps)
{
    ask(player, (struct request){.type = REQUEST_STEP, .number = steps});
}

void player_speed(struct player *player, double speed)
{
    if (speed >= 0)
        ask(player, (struct request){.type = REQUEST_SPEED, .value = speed});
}

void player_reset(struct player *player)
{
    ask(player, (struct request){.type = REQUEST_RESET});
}

void player_open(struct player *player, const char *scene_path)
{
    ask_text(player, REQUEST_OPEN, text_format("%s", scene_path));
}

void player_strains(struct player *player, bool wanted)
{
    ask(player, (struct request){.type = REQUEST_STRAINS, .wanted = wanted});
}

void player_energies(struct player *player, bool wanted)
{
    ask(player, (struct request){.type = REQUEST_ENERGIES, .wanted = wanted});
}

void player_budget(struct player *player, bool wanted)
{
    ask(player, (struct request){.type = REQUEST_BUDGET, .wanted = wanted});
}

void player_set(struct player *player, const char *path, const char *value)
{
    ask_text(player, REQUEST_SET, text_format("%s=%s", path, value));
}

void player_threads(struct player *player, int threads)
{
    uint64_t count = threads > 0 ? (uint64_t)threads : 0;
    ask(player, (struct request){.type = REQUEST_THREADS, .number = count});
}

void player_pull(struct player *player, uint64_t node, const double target[3])
{
    ask(player, (struct request){.type = REQUEST_HAND,
                                 .wanted = true,
                                 .number = node,
                                 .place = {target[0], target[1], target[2]}});
}

void player_let_go(struct player *player)
{
    ask(player, (struct request){.type = REQUEST_HAND});
}

void player_move_sphere(struct player *player, size_t collider, const double centre[3], bool held)
{
    ask(player, (struct request){.type = REQUEST_SPHERE,
                                 .wanted = held,
                                 .number = collider,
                                 .place = {centre[0], centre[1], centre[2]}});
}

void player_scale_sphere(struct player *player, size_t collider, double radius)
{
    ask(player, (struct request){.type = REQUEST_SCALE, .number = collider, .value = radius});
}

void player_lead(struct player *player, uint64_t node, const double velocity[3])
{
    ask(player, (struct request){.type = REQUEST_LEAD,
                                 .number = node,
                                 .velocity = {velocity[0], velocity[1], velocity[2]}});
}

// Numbers of the scene as built, which stay the same whatever has been cut meanwhile; NULL without
// memory. `in_solver` and `in_scene` translate in two steps; NULL: the numbers are the same.
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
        ask(player, request);
    } else {
        request_free(&request);
        player_say(player, "out of memory for a cut");
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
    // A sphere that is still being dragged has not come into the scene yet.
    ask(player, (struct request){.type = REQUEST_RECORD});
    requests_settle(&player->requests);
    pthread_mutex_lock(&player->lock);
    struct setting *setting = setting_hold(player->latest);
    pthread_mutex_unlock(&player->lock);
    char *text = scene_resolved_yaml(setting->scene);
    setting_release(setting);
    taut_status status = text ? write_text(path, text, error) : fail_memory(error, "the scene");
    free(text);
    return status;
}
