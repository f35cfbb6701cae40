// Frames and rows of energies for the user interface: three slots that are swapped without locks,
// ring buffers of the recent past, and the functions by which the player's thread writes both and
// its status. player.c decides when to publish; the solver copies the data of a frame; drawing is
// left to picture/ and view/.
#include "play/frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "play/player_parts.h"

// ---- Published frames

enum { INDEX = 3, FRESH = 4 };

void published_make(struct published *published)
{
    *published = (struct published){.filled = 0, .read = 1};
    atomic_init(&published->between, 2);
}

static void empty(struct published_slot *slot)
{
    frame_free(&slot->frame);
    setting_release(slot->setting);
    *slot = (struct published_slot){0};
}

void published_free(struct published *published)
{
    for (int i = 0; i < 3; i++)
        empty(&published->slots[i]);
}

struct published_slot *published_slot(struct published *published, struct setting *setting,
                                      unsigned wanted, taut_error *error)
{
    struct published_slot *slot = &published->slots[published->filled];
    if (slot->setting == setting && slot->wanted == wanted)
        return slot;
    empty(slot);
    if (subject_make_frame(setting->subject, wanted, &slot->frame, error) != TAUT_OK)
        return NULL;
    slot->setting = setting_retain(setting);
    slot->wanted = wanted;
    return slot;
}

void published_send(struct published *published)
{
    int before = atomic_exchange(&published->between, published->filled | FRESH);
    published->filled = before & INDEX;
}

bool published_refresh(struct published *published)
{
    if (!(atomic_load(&published->between) & FRESH))
        return false;
    published->read = atomic_exchange(&published->between, published->read) & INDEX;
    return true;
}

const struct published_slot *published_read(const struct published *published)
{
    return &published->slots[published->read];
}

// ---- The recent past

// At most a minute of frames is stored; if the budget has no space for ten seconds of frames, only
// every n-th is stored, so that it has.
enum { FRAMES_MAX = 3600, FRAMES_WANTED = 600 };

bool history_make(struct history *history, size_t budget)
{
    *history = (struct history){.budget = budget};
    history->rows = calloc(HISTORY_ROWS, sizeof *history->rows);
    if (history->rows && pthread_mutex_init(&history->lock, NULL) == 0)
        return true;
    free(history->rows);
    return false;
}

static void history_clear(struct history *history)
{
    for (size_t i = 0; i < history->capacity; i++)
        frame_free(&history->frames[i]);
    free(history->frames);
    history->frames = NULL;
    history->first = history->count = history->capacity = 0;
    history->first_row = history->row_count = 0;
    history->seen = 0;
}

void history_free(struct history *history)
{
    history_clear(history);
    frame_free(&history->read);
    free(history->rows);
    pthread_mutex_destroy(&history->lock);
}

// The fields of a frame that are stored.
static const unsigned HISTORY_FIELDS = FRAME_DRAWN_POSITIONS | FRAME_COLLIDERS | FRAME_VOLUMES;

void history_begin(struct history *history, const struct frame_shape *shape)
{
    pthread_mutex_lock(&history->lock);
    history_clear(history);
    history->shape = *shape;
    size_t bytes = (size_t)frame_bytes(shape, HISTORY_FIELDS) + sizeof *history->frames;
    size_t capacity = history->budget / bytes;
    if (capacity > FRAMES_MAX)
        capacity = FRAMES_MAX;
    history->every = capacity < FRAMES_WANTED ? FRAMES_WANTED / (capacity + 1) : 1;
    history->frames = calloc(capacity + 1, sizeof *history->frames);
    if (history->frames)
        history->capacity = capacity;
    pthread_mutex_unlock(&history->lock);
}

void history_renumber(struct history *history, uint64_t generation)
{
    pthread_mutex_lock(&history->lock);
    history->generation = generation;
    pthread_mutex_unlock(&history->lock);
}

// The slot of the next frame, which is the oldest one if all are in use; NULL if there are none.
static struct frame *next_slot(struct history *history)
{
    if (history->count < history->capacity) {
        struct frame *slot = &history->frames[history->count];
        if (frame_make(&history->shape, HISTORY_FIELDS, slot, NULL) == TAUT_OK) {
            history->count++;
            return slot;
        }
        history->capacity = history->count; // memory is short: no more slots
    }
    if (history->capacity == 0)
        return NULL;
    struct frame *slot = &history->frames[history->first];
    history->first = (history->first + 1) % history->capacity;
    return slot;
}

void history_add(struct history *history, const struct frame *frame)
{
    if (history->seen++ % history->every != 0 || pthread_mutex_trylock(&history->lock) != 0)
        return;
    struct frame *slot = next_slot(history);
    if (slot) {
        frame_copy(frame, slot);
        slot->has_mouse_spring = false; // a past frame has no mouse spring
        history->generation = frame->generation;
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

// Allocates the frame that the reader gets, if the shape has changed.
static bool make_readable(struct history *history)
{
    const struct frame_shape *now = &history->shape, *before = &history->read.shape;
    if (history->read.allocated && now->node_count == before->node_count &&
        now->collider_count == before->collider_count && now->body_count == before->body_count)
        return true;
    frame_free(&history->read);
    return frame_make(now, HISTORY_FIELDS, &history->read, NULL) == TAUT_OK;
}

const struct frame *history_frame(struct history *history, size_t index)
{
    pthread_mutex_lock(&history->lock);
    bool there = index < history->count && make_readable(history);
    if (there) {
        frame_copy(&history->frames[(history->first + index) % history->capacity], &history->read);
        history->read.generation = history->generation;
    }
    pthread_mutex_unlock(&history->lock);
    return there ? &history->read : NULL;
}

void history_add_row(struct history *history, const struct player_row *row)
{
    if (pthread_mutex_trylock(&history->lock) != 0)
        return;
    size_t slot = (history->first_row + history->row_count) % HISTORY_ROWS;
    history->rows[slot] = *row;
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
    size_t skipped = history->row_count - count; // the newest rows are returned
    for (size_t i = 0; i < count; i++)
        rows[i] = history->rows[(history->first_row + skipped + i) % HISTORY_ROWS];
    pthread_mutex_unlock(&history->lock);
    return count;
}

// Copying frames may take a thirtieth of the elapsed time, or a tenth with strains, since a body
// may have many more springs than coordinates, and with contacts, which are found as in a step.
// Energies, whose evaluation costs about as much as a step, may take a hundredth.
static const double FRAMES_INTERVAL = 30, STRAINS_INTERVAL = 10, ENERGIES_INTERVAL = 100;

// ---- Publishing a frame

static bool brings_energy(enum work_cause cause)
{
    return cause == WORK_WIND || cause == WORK_DRIVES || cause == WORK_INFLATION;
}

static void copy_budget(struct player *player)
{
    const taut_solver *solver = player->simulation.solver;
    const struct energy_budget *work = solver_energy_budget(solver);
    struct player_budget *budget = &player->budget;
    if (!work || !budget->kept)
        return;
    budget->change = budget->unexplained = player->energy.total - player->budget_energy;
    for (int cause = 0; cause < WORK_CAUSES; cause++) {
        double done = work->done[cause] - player->budget_work[cause];
        budget->work[cause] = brings_energy((enum work_cause)cause) ? done : -done;
        budget->unexplained -= budget->work[cause];
    }
}

void player_begin_budget(struct player *player)
{
    taut_solver *solver = player->simulation.solver;
    player->budget = (struct player_budget){.since = taut_solver_time(solver)};
    if (!player->budget_wanted || player->failed)
        return;
    solver_evaluate(solver, false, &player->energy);
    const struct energy_budget *work = solver_energy_budget(solver);
    if (!work)
        return;
    player->budget.kept = true;
    player->budget_energy = player->energy.total;
    memcpy(player->budget_work, work->done, sizeof player->budget_work);
}

static void measure_energies(struct player *player)
{
    double begin = clock_seconds();
    taut_solver *solver = player->simulation.solver;
    solver_evaluate(solver, false, &player->energy);
    copy_budget(player);
    double cost = clock_seconds() - begin;
    player->next_evaluation = begin + fmax(player->frame_seconds, ENERGIES_INTERVAL * cost);
    player->volume = 0;
    for (size_t b = 0; b < player->simulation.setting->subject->body_count; b++)
        player->volume += solver_body_volume(solver, b);
    struct player_row row = {taut_solver_time(solver), player->energy, player->volume};
    if (taut_solver_step_count(solver) != player->published_step)
        history_add_row(&player->history, &row);
}

static void add_mouse_spring(const struct player *player, struct frame *frame)
{
    if (!player->grab.pulls)
        return;
    frame->has_mouse_spring = true;
    for (int axis = 0; axis < 3; axis++) {
        frame->mouse_spring.from[axis] =
            frame->drawn_positions[3 * player->grab.node + (uint64_t)axis];
        frame->mouse_spring.to[axis] = (float)player->grab.target[axis];
    }
}

static void fill(struct player *player, struct frame *frame)
{
    taut_solver *solver = player->simulation.solver;
    unsigned fields = frame->allocated;
    if (!player->strains && taut_solver_broken_count(solver) == 0)
        fields &= ~(unsigned)(FRAME_SPRINGS | FRAME_DRAWN_SPRINGS);
    solver_read_frame(solver, fields, frame);
    frame->energy = player->energy;
    frame->generation = player->simulation.setting->shared->generation;
    add_mouse_spring(player, frame);
}

void player_publish(struct player *player)
{
    double now = clock_seconds();
    struct simulation *simulation = &player->simulation;
    uint64_t step = taut_solver_step_count(simulation->solver);
    bool running = player->playing || player->steps_asked > 0;
    bool needs_energy = player->energies || player->budget.kept;
    if (needs_energy && (now >= player->next_evaluation || !running))
        measure_energies(player);
    double begin = clock_seconds();
    bool strains = player->strains || solver_topology(simulation->solver)->any_breaks;
    unsigned wanted = strains ? SUBJECT_STRAINS : 0;
    wanted |= player->contacts ? SUBJECT_CONTACTS : 0;
    taut_error error = {0};
    struct published_slot *slot =
        published_slot(&player->published, simulation->setting, wanted, &error);
    if (slot) {
        fill(player, &slot->frame);
        if (step != player->published_step)
            history_add(&player->history, &slot->frame);
        published_send(&player->published);
    } else {
        player_report(player, error.text);
    }
    player->published_step = step;
    player->changed = false;
    double cost = clock_seconds() - begin;
    double share = player->strains || player->contacts ? STRAINS_INTERVAL : FRAMES_INTERVAL;
    double least = fmax(player->frame_seconds, share * cost);
    player->next_frame = fmax(player->next_frame + least, now);
    if (player->on_frame)
        player->on_frame(player->on_frame_context);
}

// ---- Status

enum { MESSAGE_LENGTH = sizeof((struct player_status){0}.message) - 1 };

void player_report(struct player *player, const char *text)
{
    pthread_mutex_lock(&player->lock);
    struct player_status *published = &player->status;
    if (text)
        snprintf(published->message, sizeof published->message, "%.*s", MESSAGE_LENGTH, text);
    else
        published->message[0] = '\0';
    published->message_number += text != NULL;
    pthread_mutex_unlock(&player->lock);
}

// The kernel of the body with the most springs.
static const char *main_kernel(const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    size_t most = 0;
    for (size_t b = 1; b < topology->body_count; b++)
        if (topology->bodies[b].spring_count > topology->bodies[most].spring_count)
            most = b;
    return topology->body_count > 0 ? solver_body_kernel(solver, most) : "";
}

void player_publish_status(struct player *player)
{
    const taut_solver *solver = player->simulation.solver;
    struct player_status status = {
        .playing = player->playing,
        .speed_wanted = player->pace.speed,
        .speed = player->pace.reached_speed,
        .time = taut_solver_time(solver),
        .dt = taut_solver_dt(solver),
        .critical_dt = player->critical.dt,
        .critical_fresh = player->critical.stage == CRITICAL_COMPUTED,
        .step = taut_solver_step_count(solver),
        .spring_updates_per_second = player->pace.reached_updates,
        .threads = taut_solver_threads(solver),
        .kernel = main_kernel(solver),
        .integrator = integrator_name(solver_integrator(solver)),
        .isa = isa_name(solver_isa(solver)),
        .broken = taut_solver_broken_count(solver),
        .failed = player->failed,
        .published = !player->changed,
        .budget = player->budget,
        .builds = player->builds,
        .pending = player->waiting_count + (player->building != NULL),
    };
    if (player->building)
        building_progress(player->building, &status.building);
    pthread_mutex_lock(&player->lock);
    struct player_status *published = &player->status;
    status.message_number = published->message_number;
    memcpy(status.message, published->message, sizeof status.message);
    *published = status;
    pthread_mutex_unlock(&player->lock);
}
