// Builds a simulation for the player, at once or on a thread of its own: reads the scene, estimates
// its memory, asks for confirmation if that is large, creates the solver, and cuts. If several
// changes fail together, they are tried one by one, so that an invalid one does not discard the
// others. player_actions.c decides when a simulation is built and what it takes over from the
// running one; setting.c implements settings and simulations. This file does not touch the running
// simulation.
#include "play/building.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/memory.h"
#include "base/task.h"
#include "base/text.h"
#include "parallel/quota.h"
#include "scene/reader.h"
#include "solver/solver.h"

// Limits of builds that are made at once, in a few tens of milliseconds. Reading 30 MB of text, or
// building some million springs, takes about a second.
static const size_t TEXT_AT_ONCE = 1 << 20;    // bytes
static const double ELEMENTS_AT_ONCE = 300000; // springs, nodes and faces together
static const double BYTES_AT_ONCE = 256 << 20;

// Confirmation is requested above this number of bytes, or above this fraction of the free memory.
static const double CONFIRM_BYTES = 1 << 30, CONFIRM_FRACTION = 0.25;

struct building {
    struct building_order order;
    char *path;
    struct changes changes;
    struct request *sets;
    struct solver_cuts cuts;
    // ---- Written by the building thread
    pthread_t thread;
    bool has_thread;
    struct task task;
    atomic_bool done;
    double began; // s
    struct simulation simulation;
    bool made, too_large;
    taut_error error;
    // ---- Confirmation
    pthread_mutex_t lock;     // protects the following members
    pthread_cond_t confirmed; // or cancelled
    bool needs_confirmation, agreed;
    struct memory_estimate estimate;
    double bytes, left;
};

// ---- Creation and release

static bool copy_sets(struct building *building, const struct building_order *order)
{
    building->sets = calloc(order->set_count + 1, sizeof *building->sets);
    for (size_t i = 0; building->sets && i < order->set_count; i++) {
        building->sets[i] =
            (struct request){.type = REQUEST_SET, .text = text_format("%s", order->sets[i].text)};
        if (!building->sets[i].text)
            return false;
    }
    return building->sets != NULL;
}

static bool copy_order(struct building *building, const struct building_order *order)
{
    const struct request empty_stroke = {.type = REQUEST_CUT};
    building->order = *order;
    building->order.base = order->base ? setting_retain(order->base) : NULL;
    building->path = order->path ? text_format("%s", order->path) : NULL;
    building->order.path = building->path;
    bool copied = (!order->path || building->path) &&
                  changes_copy(order->changes, &building->changes) && copy_sets(building, order);
    if (copied && order->cuts && order->cuts->springs)
        copied = cuts_add(order->cuts, &empty_stroke, &building->cuts);
    building->order.changes = &building->changes;
    building->order.sets = building->sets;
    building->order.cuts = building->cuts.springs ? &building->cuts : NULL;
    return copied;
}

static void release(struct building *building)
{
    simulation_close(&building->simulation);
    for (size_t i = 0; building->sets && i < building->order.set_count; i++)
        request_free(&building->sets[i]);
    free(building->sets);
    free(building->path);
    changes_free(&building->changes);
    cuts_free(&building->cuts);
    setting_release(building->order.base);
    free(building);
}

struct building *building_make(const struct building_order *order)
{
    struct building *building = calloc(1, sizeof *building);
    if (!building)
        return NULL;
    if (!copy_order(building, order) || pthread_mutex_init(&building->lock, NULL) != 0) {
        release(building);
        return NULL;
    }
    if (pthread_cond_init(&building->confirmed, NULL) != 0) {
        pthread_mutex_destroy(&building->lock);
        release(building);
        return NULL;
    }
    return building;
}

void building_free(struct building *building)
{
    if (!building)
        return;
    if (building->has_thread) {
        building_confirm(building, false);
        pthread_join(building->thread, NULL);
    }
    pthread_cond_destroy(&building->confirmed);
    pthread_mutex_destroy(&building->lock);
    release(building);
}

// ---- Memory and confirmation

// The memory for drawing, beside the solver: the subject and three frames, and both once more for
// saving pictures.
static double bytes_to_show(const struct memory_estimate *estimate)
{
    const double springs_shown = 8e6, spring = 22, face = 12, node = 40;
    return 2 * (spring * fmin(estimate->springs, springs_shown) + face * estimate->faces +
                node * estimate->nodes);
}

// The memory of the present scene, up to which a changed scene needs no confirmation; 0: there is
// no scene.
static double present_bytes(const struct building *building, const struct solver_options *options)
{
    struct memory_estimate estimate;
    if (!building->order.base)
        return 0;
    memory_estimate_make(building->order.base->scene, options, &estimate);
    return fmax(estimate.making, estimate.solver + bytes_to_show(&estimate));
}

// Requests confirmation of a scene of this size, if that is necessary, and waits for it.
static bool agree(struct building *building, double bytes, double present)
{
    const double as_large = 1.2;
    double left = memory_left_to_this_process().bytes;
    pthread_mutex_lock(&building->lock);
    building->left = left;
    building->needs_confirmation = !building->agreed &&
                                   bytes > fmin(CONFIRM_BYTES, CONFIRM_FRACTION * left) &&
                                   bytes > as_large * present;
    while (building->needs_confirmation && !building->agreed &&
           !atomic_load(&building->task.cancelled))
        pthread_cond_wait(&building->confirmed, &building->lock);
    building->needs_confirmation = false;
    bool agreed = !atomic_load(&building->task.cancelled);
    building->began = clock_seconds();
    pthread_mutex_unlock(&building->lock);
    return agreed;
}

// Whether the scene may be built: there is memory for it, and it is small or was confirmed.
static taut_status admit(struct building *building, const taut_scene *scene,
                         struct solver_options *options, taut_error *error)
{
    struct memory_estimate estimate;
    memory_estimate_make(scene, options, &estimate);
    options->extra_bytes = bytes_to_show(&estimate);
    double bytes = fmax(estimate.making, estimate.solver + options->extra_bytes);
    taut_status status = memory_check_scene(scene, options, error);
    if (status != TAUT_OK)
        return status;
    pthread_mutex_lock(&building->lock);
    building->estimate = estimate;
    building->bytes = bytes;
    pthread_mutex_unlock(&building->lock);
    double elements = estimate.nodes + estimate.springs + estimate.faces;
    building->too_large =
        !building->has_thread && (elements > ELEMENTS_AT_ONCE || bytes > BYTES_AT_ONCE);
    if (building->too_large ||
        (building->has_thread && !agree(building, bytes, present_bytes(building, options))))
        return fail(error, TAUT_ERROR_MEMORY, "the scene was not built");
    return TAUT_OK;
}

// ---- Building

static taut_scene *read_scene(const struct building *building, const struct changes *changes,
                              taut_error *error)
{
    struct diagnostics findings = {0};
    taut_scene *scene = building->path
                            ? changes_read(changes, building->path, &findings)
                            : changes_read_again(changes, building->order.base->scene, &findings);
    if (!scene)
        changes_fail(&findings, error);
    diagnostics_free(&findings);
    return scene;
}

static taut_status make_show(struct building *building, const struct changes *changes,
                             const struct solver_cuts *cuts, taut_error *error)
{
    struct solver_options options = {.config = building->order.config,
                                     .budget = building->order.budget};
    struct simulation simulation;
    task_stage("reading the scene");
    taut_scene *scene = read_scene(building, changes, error);
    if (!scene)
        return error->code;
    taut_status status = admit(building, scene, &options, error);
    if (status != TAUT_OK) {
        scene_free(scene);
        return status;
    }
    status = simulation_make(&simulation, scene, changes, cuts, &options, error);
    if (status != TAUT_OK)
        return status;
    simulation_close(&building->simulation);
    building->simulation = simulation;
    building->made = true;
    return TAUT_OK;
}

// Builds with the requested changes `first` to `end`. If no solver can be made with the cuts,
// because springs and faces have other numbers now, the cuts are dropped.
static taut_status make_with(struct building *building, struct changes *changes, size_t first,
                             size_t end, taut_error *error)
{
    for (size_t i = first; i < end; i++)
        if (!changes_set(changes, building->sets[i].text))
            return fail_memory(error, "the changes of a scene");
    const struct solver_cuts *cuts = building->order.cuts;
    taut_status status = make_show(building, changes, cuts, error);
    if (status == TAUT_ERROR_ARGUMENT && cuts && building->order.type == REQUEST_SET) {
        *error = (taut_error){0};
        status = make_show(building, changes, NULL, error);
    }
    return status;
}

// Applies changes one by one, so that only invalid ones are omitted, and reports the first of
// these.
static void make_one_by_one(struct building *building)
{
    struct changes good;
    building->error = (taut_error){0};
    if (!changes_copy(&building->changes, &good)) {
        fail_memory(&building->error, "the changes of a scene");
        return;
    }
    for (size_t i = 0; i < building->order.set_count; i++) {
        struct changes next;
        taut_error error = {0};
        if (building->too_large || task_is_cancelled())
            break;
        if (!changes_copy(&good, &next))
            fail_memory(&error, "the changes of a scene");
        else if (make_with(building, &next, i, i + 1, &error) == TAUT_OK) {
            changes_free(&good);
            good = next;
            next = (struct changes){0};
        }
        changes_free(&next);
        if (error.code != TAUT_OK && building->error.code == TAUT_OK)
            building->error = error;
    }
    changes_free(&good);
}

// Tries all changes at once, since every attempt costs a solver.
static void make(struct building *building)
{
    struct changes changes;
    size_t count = building->order.set_count;
    if (!changes_copy(&building->changes, &changes)) {
        fail_memory(&building->error, "the changes of a scene");
        return;
    }
    taut_status status = make_with(building, &changes, 0, count, &building->error);
    changes_free(&changes);
    if (status != TAUT_OK && count > 1 && !building->too_large && !task_is_cancelled())
        make_one_by_one(building);
}

bool building_try(struct building *building)
{
    const struct setting *base = building->order.base;
    building->too_large = base && changes_text_length(base->scene) > TEXT_AT_ONCE;
    if (!building->too_large)
        make(building);
    if (!building->too_large)
        return true;
    simulation_close(&building->simulation);
    building->made = false;
    building->error = (taut_error){0};
    return false;
}

static void *work(void *context)
{
    struct building *building = context;
    task_enter(&building->task);
    make(building);
    atomic_store(&building->done, true);
    return NULL;
}

bool building_begin(struct building *building)
{
    building->too_large = false;
    building->began = clock_seconds();
    building->has_thread = true;
    if (pthread_create(&building->thread, NULL, work, building) == 0)
        return true;
    building->has_thread = false;
    return false;
}

// ---- Progress and result

bool building_is_done(struct building *building)
{
    return atomic_load(&building->done);
}

void building_confirm(struct building *building, bool yes)
{
    pthread_mutex_lock(&building->lock);
    building->agreed |= yes;
    if (!yes && !building_is_done(building))
        atomic_store(&building->task.cancelled, true);
    pthread_cond_signal(&building->confirmed);
    pthread_mutex_unlock(&building->lock);
}

static const char *name_of(const struct building *building)
{
    switch (building->order.type) {
    case REQUEST_SET:
        return building->sets[building->order.set_count - 1].text;
    case REQUEST_OPEN:
        return building->path;
    case REQUEST_RESET:
        return "the scene from its start";
    default:
        return "the scene again";
    }
}

void building_progress(struct building *building, struct player_building *progress)
{
    const char *stage = atomic_load(&building->task.stage);
    pthread_mutex_lock(&building->lock);
    *progress = (struct player_building){.active = true,
                                         .cancelled = atomic_load(&building->task.cancelled),
                                         .done = building_is_done(building),
                                         .needs_confirmation = building->needs_confirmation,
                                         .stage = stage ? stage : "",
                                         .seconds = clock_seconds() - building->began,
                                         .nodes = building->estimate.nodes,
                                         .springs = building->estimate.springs,
                                         .bytes = building->bytes,
                                         .left = building->left};
    pthread_mutex_unlock(&building->lock);
    snprintf(progress->what, sizeof progress->what, "%s", name_of(building));
}

const struct building_order *building_order(const struct building *building)
{
    return &building->order;
}

bool building_was_cancelled(const struct building *building)
{
    return atomic_load(&building->task.cancelled);
}

bool building_result(struct building *building, struct simulation *simulation, taut_error *error)
{
    *error = building->error;
    if (!building->made || building_was_cancelled(building))
        return false;
    *simulation = building->simulation;
    building->simulation = (struct simulation){0};
    building->made = false;
    return true;
}
