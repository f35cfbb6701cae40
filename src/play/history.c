#include "play/history.h"

#include <stdlib.h>
#include <string.h>

// A minute of frames at most; and where the budget has no room for ten seconds of them, only every
// n-th is kept, so that it has.
enum { FRAMES_MOST = 3600, FRAMES_WANTED = 600 };

bool history_make(struct history *history, size_t budget)
{
    *history = (struct history){.budget = budget};
    history->rows = calloc(HISTORY_ROWS, sizeof *history->rows);
    if (history->rows && pthread_mutex_init(&history->lock, NULL) == 0)
        return true;
    free(history->rows);
    return false;
}

static void free_arrays(struct history_arrays *arrays)
{
    free(arrays->positions);
    free(arrays->spheres);
    free(arrays->volumes);
    *arrays = (struct history_arrays){0};
}

// Pages of it are taken when they are written.
static bool allocate_arrays(const struct history_shape *shape, size_t frames,
                            struct history_arrays *arrays)
{
    arrays->positions = calloc(frames * (shape->nodes + 1), 3 * sizeof *arrays->positions);
    arrays->spheres = calloc(frames * shape->spheres + 1, sizeof *arrays->spheres);
    arrays->volumes = calloc(frames * shape->bodies + 1, sizeof *arrays->volumes);
    if (arrays->positions && arrays->spheres && arrays->volumes)
        return true;
    free_arrays(arrays);
    return false;
}

static void forget(struct history *history)
{
    free(history->frames);
    free_arrays(&history->arrays);
    history->frames = NULL;
    history->first = history->count = history->capacity = 0;
    history->first_row = history->row_count = 0;
    history->seen = 0;
}

void history_free(struct history *history)
{
    forget(history);
    free_arrays(&history->read);
    free(history->rows);
    pthread_mutex_destroy(&history->lock);
}

void history_begin(struct history *history, const struct history_shape *shape)
{
    pthread_mutex_lock(&history->lock);
    forget(history);
    history->shape = *shape;
    size_t bytes = 3 * sizeof(float) * shape->nodes +
                   sizeof(struct subject_sphere) * shape->spheres + sizeof(double) * shape->bodies +
                   sizeof *history->frames;
    size_t capacity = history->budget / bytes;
    if (capacity > FRAMES_MOST)
        capacity = FRAMES_MOST;
    history->every = capacity < FRAMES_WANTED ? FRAMES_WANTED / (capacity + 1) : 1;
    history->frames = calloc(capacity + 1, sizeof *history->frames);
    if (history->frames && allocate_arrays(shape, capacity, &history->arrays))
        history->capacity = capacity;
    pthread_mutex_unlock(&history->lock);
}

void history_renumber(struct history *history, uint64_t generation)
{
    pthread_mutex_lock(&history->lock);
    history->generation = generation;
    pthread_mutex_unlock(&history->lock);
}

// The arrays of one frame in a block of many.
static struct history_arrays at(const struct history *history, size_t frame)
{
    const struct history_shape *shape = &history->shape;
    return (struct history_arrays){
        history->arrays.positions + 3 * frame * shape->nodes,
        history->arrays.spheres + frame * shape->spheres,
        history->arrays.volumes + frame * shape->bodies,
    };
}

static void copy(const struct history_shape *shape, const float *positions,
                 const struct subject_sphere *spheres, const double *volumes,
                 const struct history_arrays *to)
{
    memcpy(to->positions, positions, 3 * shape->nodes * sizeof *positions);
    if (shape->spheres > 0)
        memcpy(to->spheres, spheres, shape->spheres * sizeof *spheres);
    if (shape->bodies > 0)
        memcpy(to->volumes, volumes, shape->bodies * sizeof *volumes);
}

void history_add(struct history *history, const struct player_moment *moment)
{
    if (history->seen++ % history->every != 0 || pthread_mutex_trylock(&history->lock) != 0)
        return;
    if (history->capacity > 0) {
        const struct subject_moment *now = &moment->moment;
        size_t place = (history->first + history->count) % history->capacity;
        if (history->count < history->capacity)
            history->count++;
        else
            history->first = (history->first + 1) % history->capacity;
        history->frames[place] = (struct history_frame){
            now->time, now->step, {now->wind[0], now->wind[1], now->wind[2]}, moment->energy};
        struct history_arrays to = at(history, place);
        copy(&history->shape, now->positions, now->spheres, moment->volumes, &to);
        history->generation = moment->generation;
    }
    pthread_mutex_unlock(&history->lock);
}

size_t history_count(struct history *history)
{
    pthread_mutex_lock(&history->lock);
    size_t count = history->count;
    pthread_mutex_unlock(&history->lock);
    return count;
}

double history_time(struct history *history, size_t index)
{
    pthread_mutex_lock(&history->lock);
    double time = 0;
    if (index < history->count)
        time = history->frames[(history->first + index) % history->capacity].time;
    pthread_mutex_unlock(&history->lock);
    return time;
}

static bool same_shape(const struct history_shape *a, const struct history_shape *b)
{
    return a->nodes == b->nodes && a->spheres == b->spheres && a->bodies == b->bodies;
}

// Room for the frame that is looked at.
static bool make_readable(struct history *history)
{
    if (history->read.positions && same_shape(&history->shape, &history->read_shape))
        return true;
    free_arrays(&history->read);
    history->read_shape = history->shape;
    return allocate_arrays(&history->shape, 1, &history->read);
}

bool history_moment(struct history *history, size_t index, struct player_moment *moment)
{
    pthread_mutex_lock(&history->lock);
    bool there = index < history->count && make_readable(history);
    if (there) {
        size_t place = (history->first + index) % history->capacity;
        const struct history_frame *frame = &history->frames[place];
        struct history_arrays from = at(history, place);
        copy(&history->shape, from.positions, from.spheres, from.volumes, &history->read);
        *moment = (struct player_moment){
            .moment = {.time = frame->time,
                       .step = frame->step,
                       .positions = history->read.positions,
                       .spheres = history->read.spheres,
                       .wind = {frame->wind[0], frame->wind[1], frame->wind[2]}},
            .energy = frame->energy,
            .volumes = history->read.volumes,
            .generation = history->generation,
        };
    }
    pthread_mutex_unlock(&history->lock);
    return there;
}

void history_add_row(struct history *history, const struct player_row *row)
{
    if (pthread_mutex_trylock(&history->lock) != 0)
        return;
    size_t place = (history->first_row + history->row_count) % HISTORY_ROWS;
    history->rows[place] = *row;
    if (history->row_count < HISTORY_ROWS)
        history->row_count++;
    else
        history->first_row = (history->first_row + 1) % HISTORY_ROWS;
    pthread_mutex_unlock(&history->lock);
}

size_t history_rows(struct history *history, struct player_row *rows, size_t most)
{
    pthread_mutex_lock(&history->lock);
    size_t count = history->row_count < most ? history->row_count : most;
    size_t skipped = history->row_count - count; // the newest are wanted
    for (size_t i = 0; i < count; i++)
        rows[i] = history->rows[(history->first_row + skipped + i) % HISTORY_ROWS];
    pthread_mutex_unlock(&history->lock);
    return count;
}
