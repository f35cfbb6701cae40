// Executes requests on the player's thread: plays, steps, resets, opens scenes and updates the
// scene with the user's changes; sets constants in the running solver, or replaces it by another
// simulation (building.c); grabs, moves and cuts. The loop around it is in player.c.
#include "play/player_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/memory.h"
#include "base/text.h"
#include "play/changes.h"
#include "scene/reader.h"

// While a slider is dragged, changes arrive all the time, and in a large scene each takes longer
// than many steps. Steps get half of the time, up to this many seconds per change, so that the
// effect of the change is visible.
static const double CHANGE_DELAY_MAX = 0.25;

// ---- A collider that is dragged
//
// drag_collider below lets it set out; here it arrives.

uint64_t player_steps_to_arrival(const struct player *player)
{
    const taut_solver *solver = player->simulation.solver;
    double left = player->drag.arrives - taut_solver_time(solver);
    if (!player->drag.moves)
        return UINT64_MAX;
    // Sums of dt are rounded; dt: auto may have changed it since.
    return (uint64_t)fmax(1, ceil(left / taut_solver_dt(solver) - 1e-6));
}

static bool is_mesh(const struct player *player, size_t collider)
{
    return player->simulation.setting->scene->colliders[collider].type == COLLIDER_MESH;
}

// Stops it where it is if a step that was longer than expected leaves it beside a target that it
// must not be put to.
static void put_mesh(taut_solver *solver, size_t collider, const double target[3], bool arrives,
                     taut_error *error)
{
    const double still[3] = {0};
    if (taut_solver_set_mesh(solver, collider, target, still, error) == TAUT_OK || !arrives)
        return;
    const vec3 now = solver_mesh_translate(solver, collider);
    if (error)
        *error = (taut_error){0};
    taut_solver_set_mesh(solver, collider, (const double[3]){now.x, now.y, now.z}, still, error);
}

static void put_collider(struct player *player, taut_error *error)
{
    struct player_drag *drag = &player->drag;
    taut_solver *solver = player->simulation.solver;
    double target[3], late = drag->moves ? taut_solver_time(solver) - drag->arrives : 0;
    for (int axis = 0; axis < 3; axis++)
        target[axis] = drag->target[axis] + late * drag->velocity[axis];
    const bool arrives = drag->moves;
    drag->moves = false;
    if (is_mesh(player, drag->collider))
        put_mesh(solver, drag->collider, target, arrives, error);
    else
        taut_solver_set_sphere(solver, drag->collider, target, drag->velocity, error);
}

void player_arrive(struct player *player)
{
    const taut_solver *solver = player->simulation.solver;
    double rounding = 1e-6 * taut_solver_dt(solver);
    if (player->drag.moves && taut_solver_time(solver) >= player->drag.arrives - rounding)
        put_collider(player, NULL); // it was accepted when it set out
}

// ---- Replacing the simulation

static void grab_node(struct player *player, taut_error *error)
{
    struct solver_grab grab = {
        .target = {player->grab.target[0], player->grab.target[1], player->grab.target[2]}};
    if (!simulation_find_node(&player->simulation, player->grab.node, &grab.body, &grab.node))
        fail(error, TAUT_ERROR_ARGUMENT, "there is no node %llu to pull",
             (unsigned long long)player->grab.node);
    else
        solver_grab(player->simulation.solver, &grab, error);
    if (error->code != TAUT_OK)
        player->grab.pulls = false;
}

// The mouse spring of the previous solver acts in the new one as well, if the node still exists.
static void restore_grab(struct player *player, bool continues)
{
    taut_error ignored = {0};
    if (!continues)
        player->grab.pulls = false;
    else if (player->grab.pulls)
        grab_node(player, &ignored);
}

// Discards the history, which belongs to other nodes or to another time.
static void reset_history(struct player *player)
{
    player->seconds_per_step = 0;
    player->published_step = UINT64_MAX;
    const struct subject *subject = player->simulation.setting->subject;
    const struct frame_shape shape = {.node_count = subject->node_count,
                                      .body_count = subject->body_count,
                                      .collider_count = subject->collider_count};
    history_begin(&player->history, &shape);
}

// Replaces the running simulation.
static void replace_simulation(struct player *player, struct simulation *next, bool continues)
{
    struct setting *before = player->simulation.setting;
    bool same_shape =
        continues && before->subject->collider_count == next->setting->subject->collider_count;
    pthread_mutex_lock(&player->lock);
    setting_release(player->latest);
    player->latest = setting_retain(next->setting);
    pthread_mutex_unlock(&player->lock);
    simulation_close(&player->simulation);
    player->simulation = *next;
    player->builds++;
    player->scene_is_outdated = false;
    if (same_shape)
        history_renumber(&player->history, next->setting->shared->generation);
    else
        reset_history(player);
    restore_grab(player, continues);
    player->drag.present = player->drag.present && continues;
    if (player->failed)
        player->playing = player->was_playing;
    player->failed = false;
    if (!continues)
        player->steps_asked = 0;
    player->next_evaluation = player->next_frame = 0;
    player_begin_budget(player);
    player_reset_critical(player);
    pace_begin(&player->pace, clock_seconds(), taut_solver_time(player->simulation.solver));
}

// Replaces the running simulation by a complete one, or closes that one. After a failure the
// running one is unchanged.
static taut_status start_simulation(struct player *player, struct simulation *next, bool continues,
                                    taut_error *error)
{
    continues =
        continues && !player->failed && simulation_has_same_nodes(next, &player->simulation);
    if (player->drag.moves) // the next solver has the scene's position of it
        put_collider(player, NULL);
    taut_status status = simulation_follow(next, &player->simulation, continues, error);
    if (status == TAUT_OK)
        replace_simulation(player, next, continues);
    else
        simulation_close(next);
    return status;
}

taut_status player_open_scene(struct player *player, const char *path,
                              const struct changes *changes, struct diagnostics *diagnostics,
                              taut_error *error)
{
    struct solver_options options = {
        .config = player->config, .budget = BUDGET_OFF, .diagnostics = diagnostics};
    struct simulation first;
    taut_scene *scene = changes_read(changes, path, diagnostics);
    if (!scene)
        return changes_fail(diagnostics, error);
    taut_status status = simulation_make(&first, scene, changes, NULL, &options, error);
    return status == TAUT_OK ? start_simulation(player, &first, false, error) : status;
}

// ---- Simple requests

// `error` is empty after success.
static void report_outcome(struct player *player, const taut_error *error)
{
    player_report(player, error->code == TAUT_OK ? NULL : error->text);
}

static void play(struct player *player, bool wanted)
{
    if (player->failed) {
        player->was_playing = wanted;
        return;
    }
    if (player->playing != wanted)
        pace_reset(&player->pace);
    player->playing = wanted;
    player->steps_asked = 0;
    pace_begin(&player->pace, clock_seconds(), taut_solver_time(player->simulation.solver));
}

// ---- Another solver
//
// Small simulations are built at once. While a large one is built, the present one continues, and
// other requests that need another solver wait.

// Applies the changes of colliders that were made during the build to the new scene too.
static void apply_pending_changes(struct player *player, bool continues)
{
    for (size_t i = 0; i < player->pending_changes.count; i++)
        if (changes_set(&player->simulation.changes, player->pending_changes.texts[i]))
            player->scene_is_outdated = true;
    if (player->scene_is_outdated)
        player_record(player);
    const taut_scene *scene = player->simulation.setting->scene;
    for (size_t i = 0; i < scene->collider_count && !continues && player->pending_changes.count > 0;
         i++) {
        const struct scene_collider *it = &scene->colliders[i];
        const double centre[3] = {it->centre.x, it->centre.y, it->centre.z};
        const double velocity[3] = {it->velocity.x, it->velocity.y, it->velocity.z};
        if (it->type == COLLIDER_SPHERE)
            solver_move_sphere(player->simulation.solver, i, centre, velocity, it->radius, NULL);
        else if (it->type == COLLIDER_MESH)
            put_mesh(player->simulation.solver, i,
                     (const double[3]){it->translate.x, it->translate.y, it->translate.z}, false,
                     NULL);
    }
}

// Restores the settings of a solver that could not be created.
static void restore_options(struct player *player, const struct building_order *order)
{
    if (order->type == REQUEST_BUDGET)
        player->budget_wanted = !player->budget_wanted;
    else if (order->type == REQUEST_THREADS)
        player->config.threads = player->threads_before;
}

// Replaces the simulation by the one that was built, and reports errors.
static void finish(struct player *player, struct building *building)
{
    struct simulation next;
    taut_error error;
    const struct building_order *order = building_order(building);
    bool opens = order->type == REQUEST_OPEN;
    bool made = building_result(building, &next, &error);
    if (made && start_simulation(player, &next, order->continues, &error) == TAUT_OK) {
        if (opens)
            play(player, false);
        else
            apply_pending_changes(player, taut_solver_step_count(player->simulation.solver) > 0);
        if (order->type == REQUEST_THREADS || order->type == REQUEST_BUDGET)
            player->seconds_per_step = 0;
    } else {
        restore_options(player, order);
        if (opens && (error.code == TAUT_ERROR_SCENE || error.code == TAUT_ERROR_IO)) {
            char text[sizeof error.text];
            memcpy(text, error.text, sizeof text);
            fail(&error, error.code, "%.200s: %.800s", order->path, text);
        }
    }
    if (building_was_cancelled(building))
        player_report(player, "cancelled: nothing was changed");
    else
        report_outcome(player, &error);
    changes_free(&player->pending_changes);
    player->changed = true;
}

static void set_building(struct player *player, struct building *building)
{
    pthread_mutex_lock(&player->lock);
    player->building = building;
    pthread_mutex_unlock(&player->lock);
}

static void order(struct player *player, struct building_order *wanted)
{
    wanted->base = wanted->path ? NULL : player->simulation.setting;
    wanted->config = player->config;
    wanted->budget = player->budget_wanted ? BUDGET_ON : BUDGET_OFF;
    struct building *building = building_make(wanted);
    if (building && building_try(building)) {
        finish(player, building);
        building_free(building);
    } else if (building && building_begin(building)) {
        set_building(player, building);
    } else {
        restore_options(player, wanted);
        player_report(player, "cannot build another scene: out of memory or threads");
        building_free(building);
    }
}

static void reset(struct player *player)
{
    order(player,
          &(struct building_order){.type = REQUEST_RESET, .changes = &player->simulation.changes});
}

static void open_scene(struct player *player, const char *path)
{
    const struct changes none = {0};
    order(player, &(struct building_order){.type = REQUEST_OPEN, .path = path, .changes = &none});
}

static void cut(struct player *player, const struct request *stroke)
{
    struct solver_cuts cuts;
    if (stroke->number != player->simulation.setting->origin)
        return; // it was drawn on a scene that has been replaced since
    if (!cuts_add(&player->simulation.cuts, stroke, &cuts)) {
        player_report(player, "out of memory for cuts");
        return;
    }
    order(player, &(struct building_order){.type = REQUEST_CUT,
                                           .changes = &player->simulation.changes,
                                           .cuts = &cuts,
                                           .continues = true});
    cuts_free(&cuts);
}

// The present scene with another solver.
static void solve_anew(struct player *player, enum request_type type)
{
    order(player, &(struct building_order){.type = type,
                                           .changes = &player->simulation.changes,
                                           .cuts = &player->simulation.cuts,
                                           .continues = true});
}

static void set_threads(struct player *player, int threads)
{
    taut_error error = {0};
    player->threads_before = player->config.threads;
    if (player->config.kernel == TAUT_KERNEL_REFERENCE)
        return; // which has one thread only
    player->config.threads = threads;
    player->seconds_per_step = 0;
    if (threads <= 0) { // only a new solver determines the best number
        solve_anew(player, REQUEST_THREADS);
        return;
    }
    if (solver_set_threads(player->simulation.solver, threads, &error) != TAUT_OK)
        player->config.threads = player->threads_before;
    report_outcome(player, &error);
}

// A solver keeps the budget from its creation or not at all, so another one continues the run.
static void set_budget(struct player *player, bool wanted)
{
    if (wanted == player->budget_wanted)
        return;
    player->budget_wanted = wanted;
    if (!player->failed) // otherwise the next solver keeps it
        solve_anew(player, REQUEST_BUDGET);
}

static void pull(struct player *player, const struct request *request)
{
    taut_error error = {0};
    player->grab = (struct player_grab){.pulls = request->wanted, .node = request->number};
    memcpy(player->grab.target, request->position, sizeof player->grab.target);
    if (request->wanted)
        grab_node(player, &error);
    if (!player->grab.pulls)
        solver_release_grab(player->simulation.solver);
    if (error.code != TAUT_OK)
        player_report(player, error.text);
}

// ---- Colliders
//
// Spheres and meshes are moved in the running solver, and the scene is updated separately.

static const struct scene_collider *find_collider(const struct player *player, uint64_t number,
                                                  bool sphere, taut_error *error)
{
    const taut_scene *scene = player->simulation.setting->scene;
    if (number < scene->collider_count) {
        const struct scene_collider *it = &scene->colliders[number];
        if (it->type == COLLIDER_SPHERE || (!sphere && it->type == COLLIDER_MESH))
            return it;
    }
    fail(error, TAUT_ERROR_ARGUMENT, "collider %llu is not a sphere%s of this scene",
         (unsigned long long)number, sphere ? "" : " or mesh");
    return NULL;
}

// The number as it is written into the scene with that many digits, so that solver and scene agree.
static double as_written(double value, int digits)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL);
}

// Takes over a setting of the running solver.
static void use_setting(struct player *player, struct setting *setting)
{
    pthread_mutex_lock(&player->lock);
    setting_release(player->latest);
    player->latest = setting_retain(setting);
    pthread_mutex_unlock(&player->lock);
    setting_release(player->simulation.setting);
    player->simulation.setting = setting;
    player->scene_is_outdated = false;
}

// Reads the scene again with all changes.
static taut_status record_changes(struct player *player, taut_error *error)
{
    struct diagnostics findings = {0};
    struct setting *setting = NULL;
    if (!player->scene_is_outdated)
        return TAUT_OK;
    taut_scene *scene = changes_read_again(&player->simulation.changes,
                                           player->simulation.setting->scene, &findings);
    taut_status status =
        scene ? setting_make_again(player->simulation.setting, scene, &player->simulation.changes,
                                   NULL, &setting, error)
              : changes_fail(&findings, error);
    diagnostics_free(&findings);
    if (status != TAUT_OK)
        return status;
    use_setting(player, setting);
    return TAUT_OK;
}

void player_record(struct player *player)
{
    taut_error error = {0};
    double begin = clock_seconds();
    if (record_changes(player, &error) != TAUT_OK) {
        player_report(player, error.text);
        player->record_at = INFINITY; // until the next request
        return;
    }
    player->record_seconds = clock_seconds() - begin;
    player->changed = true;
}

// Records a change that the solver already has. The scene is read again with it: at once if that is
// quick, otherwise when the mouse has come to rest.
static void note_change(struct player *player, char *text, taut_error *error)
{
    const double quick = 0.002, rest = 0.2; // s
    bool stored = text && changes_set(&player->simulation.changes, text) &&
                  (!player->building || changes_set(&player->pending_changes, text));
    free(text);
    if (!stored) {
        fail_memory(error, "the changes of a scene");
        return;
    }
    player->scene_is_outdated = true;
    player->record_at = clock_seconds() + (player->record_seconds < quick ? 0 : rest);
}

// ---- Constants
//
// They are set in the running solver too. The scene is read with the change and compared.

// A longer text takes so long to read that it is read in the background, and the change then builds
// another simulation.
static const size_t TEXT_AT_ONCE = 1 << 20; // bytes

// Sets the constants of the scene with the changes `next`; false if the change needs another
// solver, or if something is wrong, which building that solver finds and reports.
static bool set_constants_of(struct player *player, const struct changes *next)
{
    const taut_scene *before = player->simulation.setting->scene;
    struct diagnostics findings = {0};
    taut_error error = {0};
    taut_scene *scene = changes_read_again(next, before, &findings);
    diagnostics_free(&findings);
    if (!scene)
        return false;
    taut_solver *solver = player->simulation.solver;
    if (!constants_are_all(before, scene) ||
        constants_set(solver, before, scene, &error) != TAUT_OK) {
        scene_free(scene);
        return false;
    }
    struct setting *setting = NULL;
    bool shows = constants_show(before, scene);
    if (setting_make_again(player->simulation.setting, scene, next, shows ? solver : NULL, &setting,
                           &error) != TAUT_OK) {
        player->scene_is_outdated = true; // until memory is available
        player->record_at = INFINITY;
        player_report(player, error.text);
        return true;
    }
    use_setting(player, setting);
    if (shows)
        history_renumber(&player->history, setting->shared->generation);
    player_report(player, NULL);
    return true;
}

static bool set_constants(struct player *player, const struct request *sets, size_t count)
{
    if (player->failed)
        return false;
    if (player->scene_is_outdated)
        player_record(player);
    const taut_scene *scene = player->simulation.setting->scene;
    if (player->scene_is_outdated || changes_text_length(scene) > TEXT_AT_ONCE)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!constants_may_have(scene, sets[i].text))
            return false;
    struct changes next;
    bool copied = changes_copy(&player->simulation.changes, &next);
    for (size_t i = 0; copied && i < count; i++)
        copied = changes_set(&next, sets[i].text);
    if (!copied || !set_constants_of(player, &next)) {
        changes_free(&next);
        return false;
    }
    changes_free(&player->simulation.changes);
    player->simulation.changes = next;
    player->next_evaluation = player->next_frame = 0;
    player_begin_budget(player);
    player_reset_critical(player);
    return true;
}

// The simulated time in which a collider that is dragged moves to its next position: as long as it
// took the mouse to get there, so that it has the speed of the mouse; at least that of a frame, as
// the mouse is not read more often, and at most some frames, so that it does not lag.
static double drag_duration(const struct player *player, bool dragged)
{
    enum { FRAMES_MAX = 6 };
    const struct pace *pace = &player->pace;
    const double dt = taut_solver_dt(player->simulation.solver);
    double speed = pace->reached_speed > 0 ? pace->reached_speed
                   : isinf(pace->speed)    ? 0
                                           : pace->speed;
    double frame = player->frame_seconds * speed;
    double since = taut_solver_time(player->simulation.solver) - player->drag.asked;
    double duration = dragged && since <= FRAMES_MAX * frame ? fmax(since, frame) : frame;
    return dt * fmax(1, round(duration / dt)); // whole steps
}

// Drags a collider from where it is to `target`, where it is to be now. A paused scene, in which
// time does not pass, shows it there at once.
static void drag_collider(struct player *player, size_t number, const double target[3],
                          const double velocity[3], bool held, taut_error *error)
{
    taut_solver *solver = player->simulation.solver;
    struct player_drag *drag = &player->drag;
    const bool running = !player->failed && (player->playing || player->steps_asked > 0);
    const bool dragged = drag->present && drag->collider == number;
    const double time = taut_solver_time(solver);
    const double duration = running ? drag_duration(player, dragged) : 0;
    if (drag->moves && drag->collider != number)
        put_collider(player, NULL);

    *drag = (struct player_drag){.present = held,
                                 .moves = running,
                                 .collider = number,
                                 .asked = time,
                                 .arrives = time + duration};
    for (int axis = 0; axis < 3; axis++) {
        drag->target[axis] = target[axis] + duration * velocity[axis];
        drag->velocity[axis] = velocity[axis];
    }
    if (!running)
        put_collider(player, error);
    else if ((is_mesh(player, number)
                  ? taut_solver_set_mesh_target(solver, number, drag->target, duration, error)
                  : taut_solver_set_sphere_target(solver, number, drag->target, duration, error)) !=
             TAUT_OK)
        *drag = (struct player_drag){.present = false};
}

static void move_collider(struct player *player, const struct request *request)
{
    enum { DIGITS = 9, DIGITS_MOVING = 15 }; // the start of a moving sphere may be far away
    taut_error error = {0};
    taut_solver *solver = player->simulation.solver;
    size_t number = (size_t)request->number;
    const struct scene_collider *it = find_collider(player, request->number, false, &error);
    if (it) {
        const bool mesh = it->type == COLLIDER_MESH;
        const double still[3] = {0},
                     of_sphere[3] = {it->velocity.x, it->velocity.y, it->velocity.z};
        const double *velocity = mesh ? still : of_sphere; // that of a mesh is its motion
        double time = taut_solver_time(solver), position[3], now[3];
        bool moves = velocity[0] != 0 || velocity[1] != 0 || velocity[2] != 0;
        for (int axis = 0; axis < 3; axis++) {
            double at_first = request->position[axis] - time * velocity[axis];
            position[axis] = as_written(at_first, moves ? DIGITS_MOVING : DIGITS);
            now[axis] = position[axis] + time * velocity[axis];
        }
        drag_collider(player, number, now, request->wanted ? still : velocity, request->wanted,
                      &error);
        if (error.code == TAUT_OK)
            note_change(player,
                        text_format("colliders.%zu.%s=[%.15g, %.15g, %.15g]", number,
                                    mesh ? "translate" : "center", position[0], position[1],
                                    position[2]),
                        &error);
    }
    if (error.code != TAUT_OK)
        player_report(player, error.text);
}

static void scale_sphere(struct player *player, const struct request *request)
{
    enum { DIGITS = 9 };
    taut_error error = {0};
    taut_solver *solver = player->simulation.solver;
    size_t number = (size_t)request->number;
    if (find_collider(player, request->number, true, &error)) {
        struct sphere_state now = solver_sphere(solver, number);
        const double centre[3] = {now.centre.x, now.centre.y, now.centre.z};
        const double velocity[3] = {now.velocity.x, now.velocity.y, now.velocity.z};
        double radius = as_written(request->value, DIGITS);
        if (solver_move_sphere(solver, number, centre, velocity, radius, &error) == TAUT_OK)
            note_change(player, text_format("colliders.%zu.radius=%.15g", number, radius), &error);
    }
    if (error.code != TAUT_OK)
        player_report(player, error.text);
}

static void drive_node(struct player *player, const struct request *request)
{
    taut_error error = {0};
    size_t body;
    uint64_t node;
    if (!simulation_find_node(&player->simulation, request->number, &body, &node))
        fail(&error, TAUT_ERROR_ARGUMENT, "there is no node %llu to drive",
             (unsigned long long)request->number);
    else
        solver_set_kinematic_velocity(player->simulation.solver, body, node, request->velocity,
                                      &error);
    if (error.code != TAUT_OK)
        player_report(player, error.text);
}

static void set_speed(struct player *player, double speed)
{
    player->pace.speed = speed;
    pace_begin(&player->pace, clock_seconds(), taut_solver_time(player->simulation.solver));
}

static void set(struct player *player, const struct request *sets, size_t count)
{
    double begin = clock_seconds();
    if (!set_constants(player, sets, count))
        order(player, &(struct building_order){.type = REQUEST_SET,
                                               .changes = &player->simulation.changes,
                                               .sets = sets,
                                               .set_count = count,
                                               .cuts = &player->simulation.cuts,
                                               .continues = true});
    double end = clock_seconds();
    player->next_change = end + fmin(end - begin, CHANGE_DELAY_MAX);
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
    case REQUEST_CONTACTS:
        player->contacts = request->wanted;
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
    case REQUEST_GRAB:
        pull(player, request);
        break;
    case REQUEST_COLLIDER:
        move_collider(player, request);
        break;
    case REQUEST_SCALE:
        scale_sphere(player, request);
        break;
    case REQUEST_RECORD:
        player_record(player);
        break;
    case REQUEST_DRIVE_NODE:
        drive_node(player, request);
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

// Requests that may need another solver.
static bool needs_solver(const struct request *request)
{
    switch (request->type) {
    case REQUEST_SET:
    case REQUEST_RESET:
    case REQUEST_OPEN:
    case REQUEST_CUT:
    case REQUEST_THREADS:
    case REQUEST_BUDGET:
        return true;
    default:
        return false;
    }
}

static bool sets_same(const struct building_order *order, const struct request *request)
{
    size_t length = strcspn(request->text, "=") + 1;
    for (size_t i = 0; i < order->set_count; i++)
        if (strncmp(order->sets[i].text, request->text, length) == 0)
            return true;
    return false;
}

// Cancels the present build if the request replaces it: another scene always does, and a second
// value of the same key does if the build takes long, because otherwise a slider in motion would
// show no effect until it stops.
static void cancel_if_replaced(struct player *player, const struct request *request)
{
    const double long_enough = 2; // s
    struct player_building progress;
    building_progress(player->building, &progress);
    const struct building_order *order = building_order(player->building);
    bool replaced = order->type == REQUEST_SET && request->type == REQUEST_SET &&
                    order->set_count == 1 && sets_same(order, request) &&
                    (progress.needs_confirmation || progress.seconds > long_enough);
    if (replaced || request->type == REQUEST_OPEN)
        building_confirm(player->building, false);
}

// Takes ownership of what the request owns.
static bool queue_request(struct player *player, struct request *request)
{
    void *waiting = player->waiting;
    if (request->type == REQUEST_OPEN) { // requests for the previous scene are dropped
        for (size_t i = 0; i < player->waiting_count; i++)
            request_free(&player->waiting[i]);
        player->waiting_count = 0;
    }
    bool reserved = array_reserve(&waiting, &player->waiting_capacity, player->waiting_count + 1,
                                  sizeof *player->waiting);
    player->waiting = waiting;
    if (!reserved) {
        player_report(player, "out of memory for a request");
        return false;
    }
    player->waiting[player->waiting_count++] = *request;
    *request = (struct request){0};
    return true;
}

// Executes the first of the requests, together with those that are executed with it as one; returns
// their number.
static size_t execute_first(struct player *player, const struct request *requests, size_t count)
{
    size_t sets = count_sets(requests, count);
    if (sets > 0)
        set(player, requests, sets);
    else
        act(player, requests);
    player->changed = true;
    return sets > 0 ? sets : 1;
}

// Takes over a finished build, and executes the requests that waited for it.
static void finish_build(struct player *player)
{
    struct building *building = player->building;
    if (building && building_is_done(building)) {
        player_publish_status(player); // from here on nobody is notified that it can be cancelled
        set_building(player, NULL);
        finish(player, building);
        building_free(building);
    }
    size_t done = 0;
    while (!player->building && done < player->waiting_count)
        done += execute_first(player, player->waiting + done, player->waiting_count - done);
    for (size_t i = 0; i < done; i++)
        request_free(&player->waiting[i]);
    player->waiting_count -= done;
    if (player->waiting_count > 0)
        memmove(player->waiting, player->waiting + done,
                player->waiting_count * sizeof *player->waiting);
}

void player_act(struct player *player)
{
    size_t count;
    struct request *requests = requests_dequeue(&player->requests, &count);
    finish_build(player);
    for (size_t i = 0; i < count && !requests_ended(&player->requests);) {
        if (player->building && needs_solver(&requests[i])) {
            cancel_if_replaced(player, &requests[i]);
            queue_request(player, &requests[i++]);
        } else {
            i += execute_first(player, requests + i, count - i);
        }
    }
    if (count > 0)
        player_publish_status(player);
    for (size_t i = 0; i < count; i++)
        request_free(&requests[i]);
    free(requests);
    if (count > 0)
        requests_finish(&player->requests);
}
