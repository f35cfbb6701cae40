// What people ask for, done.
#include "play/player_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "scene/reader.h"

// While a slider is moved, changes come all the time, and of a large scene each takes longer than
// many steps: steps get half of the time, so that what the change does can be seen. s
static const double CHANGE_WAITS_MOST = 0.25;

// ---- Another show

// The first thing that is wrong, as one sentence.
static taut_status fail_findings(const struct diagnostics *diagnostics, taut_error *error)
{
    for (size_t i = 0; i < diagnostics->count; i++) {
        const struct diagnostic *item = &diagnostics->items[i];
        if (item->level != DIAGNOSTIC_ERROR)
            continue;
        taut_status status = diagnostics_status(diagnostics);
        return item->hint ? fail(error, status, "%s; did you mean '%s'?", item->text, item->hint)
                          : fail(error, status, "%s", item->text);
    }
    return fail_memory(error, "the scene");
}

static void take_hand(struct player *player, taut_error *error)
{
    struct solver_pull pull = {
        .target = {player->hand.target[0], player->hand.target[1], player->hand.target[2]}};
    if (!show_find_node(&player->show, player->hand.node, &pull.body, &pull.node))
        fail(error, TAUT_ERROR_ARGUMENT, "there is no node %llu to pull",
             (unsigned long long)player->hand.node);
    else
        solver_pull(player->show.solver, &pull, error);
    if (error->code != TAUT_OK)
        player->hand.pulls = false;
}

// What people pull they go on pulling with the new solver, if the node is still there.
static void hold_on(struct player *player, bool goes_on)
{
    taut_error ignored = {0};
    if (!goes_on)
        player->hand.pulls = false;
    else if (player->hand.pulls)
        take_hand(player, &ignored);
}

// Of other nodes, or of another time, nothing is known.
static void begin_anew(struct player *player)
{
    player->seconds_per_step = 0;
    player->published_step = UINT64_MAX;
    const struct subject *subject = player->show.setting->subject;
    struct history_shape shape = {(size_t)subject->node_count, subject->collider_count,
                                  subject->body_count};
    history_begin(&player->history, &shape);
}

// Puts another show in the place of the one that runs.
static void take_over(struct player *player, struct show *next, bool goes_on)
{
    struct setting *before = player->show.setting;
    bool same_shape =
        goes_on && before->subject->collider_count == next->setting->subject->collider_count;
    pthread_mutex_lock(&player->lock);
    setting_release(player->latest);
    player->latest = setting_hold(next->setting);
    pthread_mutex_unlock(&player->lock);
    show_close(&player->show);
    player->show = *next;
    player->scene_is_behind = false;
    if (same_shape)
        history_renumber(&player->history, next->setting->shown->generation);
    else
        begin_anew(player);
    hold_on(player, goes_on);
    if (player->failed)
        player->playing = player->played_when_failed;
    player->failed = false;
    if (!goes_on)
        player->steps_asked = 0;
    player->next_look = player->next_frame = 0;
    player_begin_budget(player);
    player_forget_critical(player);
    pace_begin(&player->pace, clock_seconds(), taut_solver_time(player->show.solver));
}

// Makes a show of the scene, which is taken over, and lets it take over. After a failure all is as
// it was.
static taut_status play_scene(struct player *player, taut_scene *scene,
                              const struct changes *changes, const struct solver_cuts *cuts,
                              bool goes_on, struct diagnostics *diagnostics, taut_error *error)
{
    struct solver_options options = {.config = player->config,
                                     .budget = player->budget_wanted ? BUDGET_ON : BUDGET_OFF,
                                     .diagnostics = diagnostics};
    struct show next;
    taut_status status = show_make(&next, scene, changes, cuts, &options, error);
    if (status != TAUT_OK)
        return status;
    goes_on = goes_on && !player->failed && show_has_same_nodes(&next, &player->show);
    status = show_follow(&next, &player->show, goes_on, error);
    if (status == TAUT_OK)
        take_over(player, &next, goes_on);
    else
        show_close(&next);
    return status;
}

taut_status player_show(struct player *player, const char *path, const struct changes *changes,
                        struct diagnostics *diagnostics, taut_error *error)
{
    struct diagnostics own = {0};
    taut_scene *scene = changes_read(changes, path, diagnostics ? diagnostics : &own);
    taut_status status = scene ? play_scene(player, scene, changes, NULL, false, diagnostics, error)
                               : fail_findings(diagnostics ? diagnostics : &own, error);
    diagnostics_free(&own);
    return status;
}

// The present scene with these changes and cuts.
static taut_status play_again(struct player *player, const struct changes *changes,
                              const struct solver_cuts *cuts, bool goes_on, taut_error *error)
{
    struct diagnostics findings = {0};
    taut_scene *scene = changes_read_again(changes, player->show.setting->scene, &findings);
    taut_status status = scene ? play_scene(player, scene, changes, cuts, goes_on, NULL, error)
                               : fail_findings(&findings, error);
    diagnostics_free(&findings);
    return status;
}

// ---- One request after the other

// `error` is empty where all went well.
static void say_outcome(struct player *player, const taut_error *error)
{
    player_say(player, error->code == TAUT_OK ? NULL : error->text);
}

// Cuts stay where springs and faces keep their numbers; where they do not, no solver can be made
// with them.
static taut_status set_together(struct player *player, const struct request *sets, size_t count,
                                taut_error *error)
{
    struct changes changes;
    if (!changes_copy(&player->show.changes, &changes))
        return fail_memory(error, "the changes of a scene");
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < count && status == TAUT_OK; i++)
        if (!changes_set(&changes, sets[i].text))
            status = fail_memory(error, "the changes of a scene");
    if (status == TAUT_OK)
        status = play_again(player, &changes, &player->show.cuts, true, error);
    if (status == TAUT_ERROR_ARGUMENT && player->show.cuts.springs) {
        *error = (taut_error){0};
        status = play_again(player, &changes, NULL, true, error);
    }
    changes_free(&changes);
    return status;
}

// All at once, since every change costs a solver; if that fails, one by one, so that only what is
// wrong is left out, and the first of it is told.
static void set(struct player *player, const struct request *sets, size_t count)
{
    taut_error error = {0};
    double begin = clock_seconds();
    if (set_together(player, sets, count, &error) != TAUT_OK && count > 1) {
        error = (taut_error){0};
        for (size_t i = 0; i < count; i++) {
            taut_error one = {0};
            if (set_together(player, &sets[i], 1, &one) != TAUT_OK && error.code == TAUT_OK)
                error = one;
        }
    }
    double end = clock_seconds();
    player->next_change = end + fmin(end - begin, CHANGE_WAITS_MOST);
    say_outcome(player, &error);
}

static void play(struct player *player, bool wanted)
{
    if (player->failed) {
        player->played_when_failed = wanted;
        return;
    }
    if (player->playing != wanted)
        pace_forget(&player->pace);
    player->playing = wanted;
    player->steps_asked = 0;
    pace_begin(&player->pace, clock_seconds(), taut_solver_time(player->show.solver));
}

static void reset(struct player *player)
{
    taut_error error = {0};
    play_again(player, &player->show.changes, NULL, false, &error);
    say_outcome(player, &error);
}

static void open_scene(struct player *player, const char *path)
{
    taut_error error = {0};
    struct changes none = {0};
    if (player_show(player, path, &none, NULL, &error) == TAUT_OK) {
        play(player, false);
    } else if (error.code == TAUT_ERROR_SCENE || error.code == TAUT_ERROR_IO) {
        char text[sizeof error.text];
        memcpy(text, error.text, sizeof text);
        fail(&error, error.code, "%.200s: %.800s", path, text);
    }
    say_outcome(player, &error);
}

static void cut(struct player *player, const struct request *stroke)
{
    struct solver_cuts cuts;
    taut_error error = {0};
    if (stroke->number != player->show.setting->origin)
        return; // it was drawn on what is there no more
    if (!cuts_add(&player->show.cuts, stroke, &cuts))
        fail_memory(&error, "cuts");
    else
        play_again(player, &player->show.changes, &cuts, true, &error);
    cuts_free(&cuts);
    say_outcome(player, &error);
}

static void set_threads(struct player *player, int threads)
{
    taut_error error = {0};
    int before = player->config.threads;
    if (player->config.kernel == TAUT_KERNEL_REFERENCE)
        return; // which is for one thread
    player->config.threads = threads;
    // How many are best, only a new solver says.
    taut_status status =
        threads > 0 ? solver_set_threads(player->show.solver, threads, &error)
                    : play_again(player, &player->show.changes, &player->show.cuts, true, &error);
    if (status != TAUT_OK)
        player->config.threads = before;
    player->seconds_per_step = 0;
    say_outcome(player, &error);
}

// A solver either keeps the budget or fuses forces and motion: another one goes on.
static void set_budget(struct player *player, bool wanted)
{
    taut_error error = {0};
    if (wanted == player->budget_wanted)
        return;
    player->budget_wanted = wanted;
    if (player->failed)
        return; // the next solver has it
    if (play_again(player, &player->show.changes, &player->show.cuts, true, &error) != TAUT_OK)
        player->budget_wanted = !wanted;
    player->seconds_per_step = 0;
    say_outcome(player, &error);
}

static void pull(struct player *player, const struct request *request)
{
    taut_error error = {0};
    player->hand = (struct hand){.pulls = request->wanted, .node = request->number};
    memcpy(player->hand.target, request->place, sizeof player->hand.target);
    if (request->wanted)
        take_hand(player, &error);
    if (!player->hand.pulls)
        solver_let_go(player->show.solver);
    if (error.code != TAUT_OK)
        player_say(player, error.text);
}

// ---- Spheres
//
// They are moved in the solver itself, without another one, and written into the scene beside it.

static const struct scene_collider *find_sphere(const struct player *player, uint64_t number,
                                                taut_error *error)
{
    const taut_scene *scene = player->show.setting->scene;
    if (number < scene->collider_count && scene->colliders[number].type == COLLIDER_SPHERE)
        return &scene->colliders[number];
    fail(error, TAUT_ERROR_ARGUMENT, "collider %llu is not a sphere of this scene",
         (unsigned long long)number);
    return NULL;
}

// The number as a scene says it in so many digits, so that the solver has what the scene has.
static double as_written(double value, int digits)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL);
}

// Lets the scene say all that was changed.
static taut_status record_changes(struct player *player, taut_error *error)
{
    struct diagnostics findings = {0};
    struct setting *setting = NULL;
    if (!player->scene_is_behind)
        return TAUT_OK;
    taut_scene *scene =
        changes_read_again(&player->show.changes, player->show.setting->scene, &findings);
    taut_status status = scene ? setting_make_again(player->show.setting, scene,
                                                    &player->show.changes, &setting, error)
                               : fail_findings(&findings, error);
    diagnostics_free(&findings);
    if (status != TAUT_OK)
        return status;
    pthread_mutex_lock(&player->lock);
    setting_release(player->latest);
    player->latest = setting_hold(setting);
    pthread_mutex_unlock(&player->lock);
    setting_release(player->show.setting);
    player->show.setting = setting;
    player->scene_is_behind = false;
    return TAUT_OK;
}

void player_record(struct player *player)
{
    taut_error error = {0};
    double begin = clock_seconds();
    if (record_changes(player, &error) != TAUT_OK) {
        player_say(player, error.text);
        player->record_at = INFINITY; // until it is asked for
        return;
    }
    player->record_seconds = clock_seconds() - begin;
    player->changed = true;
}

// A change that the solver has already. The scene is read again for it: at once where that is
// quickly done, else when the mouse has come to rest.
static void note_change(struct player *player, char *text, taut_error *error)
{
    const double quick = 0.002, rest = 0.2; // s
    bool noted = text && changes_set(&player->show.changes, text);
    free(text);
    if (!noted) {
        fail_memory(error, "the changes of a scene");
        return;
    }
    player->scene_is_behind = true;
    player->record_at = clock_seconds() + (player->record_seconds < quick ? 0 : rest);
}

static void move_sphere(struct player *player, const struct request *request)
{
    enum { DIGITS = 9, DIGITS_MOVING = 15 }; // a sphere that moves may have begun far away
    taut_error error = {0};
    taut_solver *solver = player->show.solver;
    size_t number = (size_t)request->number;
    const struct scene_collider *sphere = find_sphere(player, request->number, &error);
    if (sphere) {
        double time = taut_solver_time(solver), centre[3], before[3], now[3], radius;
        const double velocity[3] = {sphere->velocity.x, sphere->velocity.y, sphere->velocity.z};
        const double still[3] = {0};
        bool moves = velocity[0] != 0 || velocity[1] != 0 || velocity[2] != 0;
        for (int axis = 0; axis < 3; axis++) {
            double at_first = request->place[axis] - time * velocity[axis];
            centre[axis] = as_written(at_first, moves ? DIGITS_MOVING : DIGITS);
            now[axis] = centre[axis] + time * velocity[axis];
        }
        double ignored[3];
        solver_sphere(solver, number, before, ignored, &radius);
        if (solver_move_sphere(solver, number, now, request->wanted ? still : velocity, radius,
                               &error) == TAUT_OK)
            note_change(player,
                        text_format("colliders.%zu.center=[%.15g, %.15g, %.15g]", number, centre[0],
                                    centre[1], centre[2]),
                        &error);
    }
    if (error.code != TAUT_OK)
        player_say(player, error.text);
}

static void scale_sphere(struct player *player, const struct request *request)
{
    enum { DIGITS = 9 };
    taut_error error = {0};
    taut_solver *solver = player->show.solver;
    size_t number = (size_t)request->number;
    if (find_sphere(player, request->number, &error)) {
        double centre[3], velocity[3], before;
        double radius = as_written(request->value, DIGITS);
        solver_sphere(solver, number, centre, velocity, &before);
        if (solver_move_sphere(solver, number, centre, velocity, radius, &error) == TAUT_OK)
            note_change(player, text_format("colliders.%zu.radius=%.15g", number, radius), &error);
    }
    if (error.code != TAUT_OK)
        player_say(player, error.text);
}

static void lead_node(struct player *player, const struct request *request)
{
    taut_error error = {0};
    size_t body;
    uint64_t node;
    if (!show_find_node(&player->show, request->number, &body, &node))
        fail(&error, TAUT_ERROR_ARGUMENT, "there is no node %llu to lead",
             (unsigned long long)request->number);
    else
        solver_lead_node(player->show.solver, body, node, request->velocity, &error);
    if (error.code != TAUT_OK)
        player_say(player, error.text);
}

static void set_speed(struct player *player, double speed)
{
    player->pace.speed = speed;
    pace_begin(&player->pace, clock_seconds(), taut_solver_time(player->show.solver));
}

static void act(struct player *player, const struct request *request)
{
    switch (request->type) {
    case REQUEST_PLAY:
        play(player, request->wanted);
        break;
    case REQUEST_STEP:
        if (!player->playing && !player->failed)
            player->steps_asked += request->number;
        break;
    case REQUEST_SPEED:
        set_speed(player, request->value);
        break;
    case REQUEST_RESET:
        reset(player);
        break;
    case REQUEST_OPEN:
        open_scene(player, request->text);
        break;
    case REQUEST_STRAINS:
        player->strains = request->wanted;
        break;
    case REQUEST_ENERGIES:
        player->energies = request->wanted;
        break;
    case REQUEST_BUDGET:
        set_budget(player, request->wanted);
        break;
    case REQUEST_SET:
        set(player, request, 1);
        break;
    case REQUEST_THREADS:
        set_threads(player, (int)request->number);
        break;
    case REQUEST_HAND:
        pull(player, request);
        break;
    case REQUEST_SPHERE:
        move_sphere(player, request);
        break;
    case REQUEST_SCALE:
        scale_sphere(player, request);
        break;
    case REQUEST_RECORD:
        player_record(player);
        break;
    case REQUEST_LEAD:
        lead_node(player, request);
        break;
    case REQUEST_CUT:
        cut(player, request);
        break;
    }
    player->changed = true;
}

static size_t count_sets(const struct request *requests, size_t count)
{
    size_t sets = 0;
    while (sets < count && requests[sets].type == REQUEST_SET)
        sets++;
    return sets;
}

void player_act(struct player *player)
{
    size_t count;
    struct request *requests = requests_take(&player->requests, &count);
    for (size_t i = 0; i < count && !requests_ended(&player->requests);) {
        size_t sets = count_sets(requests + i, count - i);
        if (sets > 0)
            set(player, requests + i, sets);
        else
            act(player, &requests[i]);
        i += sets > 0 ? sets : 1;
        player->changed = true;
    }
    if (count > 0)
        player_tell(player);
    for (size_t i = 0; i < count; i++)
        request_free(&requests[i]);
    free(requests);
    if (count > 0)
        requests_finish(&player->requests);
}
