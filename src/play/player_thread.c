// The thread that plays: does what is asked for, steps while it is time to, publishes, and sleeps.
#include "play/player_parts.h"

#include <math.h>

#include "base/clock.h"

// What is asked for waits for the steps that are being done: so many at a time as take about this
// long, s.
static const double BATCH_SECONDS = 0.004;

// While a scene is built beside the present one, whether it is done is looked at so often, s.
static const double LOOK_SECONDS = 0.02;

// Steps to do now.
static uint64_t steps_due(struct player *player, double now)
{
    const taut_solver *solver = player->show.solver;
    if (player->failed)
        return 0;
    if (!player->playing)
        return player->steps_asked;
    return pace_due(&player->pace, now, taut_solver_time(solver), solver->dt);
}

static void note_failure(struct player *player, const taut_error *error)
{
    player->failed = true;
    player->played_when_failed = player->playing;
    player->playing = false;
    player->steps_asked = 0;
    player->changed = true;
    pace_forget(&player->pace);
    player_say(player, error->text);
}

static void advance(struct player *player, uint64_t due)
{
    taut_solver *solver = player->show.solver;
    uint64_t batch = 1;
    if (player->seconds_per_step > 0)
        batch = (uint64_t)fmin(1e6, fmax(1, BATCH_SECONDS / player->seconds_per_step));
    uint64_t step = taut_solver_step_count(solver);
    double begin = clock_seconds(), time = taut_solver_time(solver);
    double updates = solver_spring_updates(solver);
    taut_error error = {0};
    // Without a look at the end, so that a run diverges at the same step whatever the clock says.
    taut_status status = solver_advance(solver, due < batch ? due : batch, false, &error);
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
    if (status != TAUT_OK)
        note_failure(player, &error);
}

// A moment is published when all steps are done that were due, or when that takes too long.
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
        seconds = fmin(seconds, building_is_done(player->building) ? 0 : LOOK_SECONDS);
    if (player->scene_is_behind)
        seconds = fmin(seconds, fmax(player->record_at - now, 0));
    double frame = fmax(player->next_frame - now, 0);
    if (player->playing && !player->changed && frame == 0)
        frame = player->frame_seconds / 2; // steps longer than a frame: look again soon
    return player->playing || player->changed ? fmin(seconds, frame) : seconds;
}

// Whether changes of parameters are to wait, since the last one has just been.
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
        if (player->scene_is_behind && now >= player->record_at)
            player_record(player);
        if (wants_to_publish(player, due == 0 || due == UINT64_MAX, now))
            player_publish(player);
        if (player_critical_wait(player, now) <= 0)
            player_find_critical(player);
        if (player->playing)
            pace_measure(&player->pace, now);
        player_tell(player);
        if (due == 0)
            requests_wait(&player->requests, rest(player, clock_seconds()));
    }
    return NULL;
}
