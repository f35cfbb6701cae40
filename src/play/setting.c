// Settings and simulations: creation, comparison, reference counts. A setting pairs a scene with
// the subject that is drawn; a simulation adds the solver, and can continue from the state of the
// previous one. Reading changed scenes is left to changes.c, and threads to building.c.
#include "play/setting.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/task.h"
#include "scene/reader.h"

// ---- Settings

// More springs cannot be distinguished on a screen, and each costs memory.
static const uint64_t SPRINGS_MAX = 8000000;

// The numbers of the elements that are not masked.
static uint32_t *list_unmasked(const uint8_t *mask, uint64_t length, uint64_t kept)
{
    uint32_t *numbers = memory_allocate(NULL, (size_t)kept, sizeof *numbers);
    uint64_t next = 0;
    for (uint64_t i = 0; numbers && i < length && next < kept; i++)
        if (!mask[i])
            numbers[next++] = (uint32_t)i;
    return numbers;
}

static taut_status show_subject(struct setting *setting, const taut_solver *solver,
                                taut_error *error)
{
    setting->shared = memory_allocate(NULL, 1, sizeof *setting->shared);
    if (!setting->shared)
        return fail_memory(error, "a picture's subject");
    atomic_init(&setting->shared->references, 1);
    setting->shared->generation = 1;
    setting->subject = &setting->shared->subject;
    task_stage("preparing the picture");
    struct subject_options options = {.springs_max = SPRINGS_MAX};
    return subject_make(solver, &options, &setting->shared->subject, error);
}

static void release_subject(struct shared_subject *shared)
{
    if (!shared || atomic_fetch_sub(&shared->references, 1) > 1)
        return;
    subject_free(&shared->subject);
    memory_release(NULL, shared, 1, sizeof *shared);
}

// A setting without a subject; takes ownership of the scene, after a failure as well.
static struct setting *make_for(taut_scene *scene, const struct changes *changes, taut_error *error)
{
    struct setting *made = memory_allocate(NULL, 1, sizeof *made);
    if (made && changes_copy(changes, &made->changes)) {
        atomic_init(&made->references, 1);
        made->scene = scene;
        return made;
    }
    memory_release(NULL, made, 1, sizeof *made);
    scene_free(scene);
    fail_memory(error, "a scene that is played");
    return NULL;
}

taut_status setting_make(taut_scene *scene, const struct changes *changes,
                         const taut_solver *solver, const struct solver_cuts *cuts,
                         struct setting **setting, taut_error *error)
{
    struct setting *made = make_for(scene, changes, error);
    *setting = NULL;
    if (!made)
        return error->code;
    taut_status status = show_subject(made, solver, error);
    if (status == TAUT_OK && cuts) {
        const struct subject *subject = made->subject;
        made->springs = list_unmasked(cuts->springs, cuts->spring_count, subject->springs_in_all);
        made->faces = list_unmasked(cuts->faces, cuts->face_count, subject->face_count);
        if (!made->springs || !made->faces)
            status = fail_memory(error, "what is left by cuts");
    }
    if (status == TAUT_OK)
        *setting = made;
    else
        setting_release(made);
    return status;
}

static bool same_bodies(const struct subject *a, const struct subject *b)
{
    if (a->body_count != b->body_count)
        return false;
    for (size_t i = 0; i < a->body_count; i++) {
        const struct subject_body *one = &a->bodies[i], *other = &b->bodies[i];
        if (strcmp(one->name, other->name) != 0 || one->type != other->type ||
            one->first_node != other->first_node || one->node_count != other->node_count ||
            one->spring_count != other->spring_count || one->face_count != other->face_count ||
            one->closed != other->closed || memcmp(one->grid, other->grid, sizeof one->grid) != 0)
            return false;
    }
    return true;
}

static bool same_position(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool same_colliders(const struct subject *a, const struct subject *b)
{
    if (a->collider_count != b->collider_count)
        return false;
    for (size_t i = 0; i < a->collider_count; i++) {
        const struct scene_collider *one = &a->colliders[i], *other = &b->colliders[i];
        if (one->type != other->type || one->radius != other->radius ||
            !same_position(one->point, other->point) ||
            !same_position(one->normal, other->normal) || !same_position(one->min, other->min) ||
            !same_position(one->max, other->max) ||
            !same_position(one->translate, other->translate) ||
            !same_position(one->motion.velocity, other->motion.velocity) ||
            !same_position(one->motion.angular_velocity, other->motion.angular_velocity))
            return false;
    }
    return true;
}

// Compares numbers, not bits: -0 equals 0.
static bool same_three(const float a[3], const float b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static bool same_bytes(const void *a, const void *b, uint64_t count, size_t size)
{
    return count == 0 || memcmp(a, b, (size_t)count * size) == 0;
}

// Whether both subjects look the same. Most changes (gravity, dt, drag) leave the subject as it is,
// and the renderer then does not have to read it again.
static bool same_subject(const struct subject *a, const struct subject *b)
{
    return a->node_count == b->node_count && a->spring_count == b->spring_count &&
           a->face_count == b->face_count && a->number_count == b->number_count &&
           a->flat == b->flat && same_bodies(a, b) && same_colliders(a, b) &&
           same_three(a->up, b->up) && same_three(a->low, b->low) && same_three(a->high, b->high) &&
           same_bytes(a->springs, b->springs, a->spring_count, sizeof *a->springs) &&
           same_bytes(a->kinds, b->kinds, a->spring_count, sizeof *a->kinds) &&
           same_bytes(a->rest_lengths, b->rest_lengths, a->spring_count, sizeof *a->rest_lengths) &&
           same_bytes(a->stiffnesses, b->stiffnesses, a->spring_count, sizeof *a->stiffnesses) &&
           same_bytes(a->laws, b->laws, a->spring_count, sizeof *a->laws) &&
           same_bytes(a->faces, b->faces, a->face_count, sizeof *a->faces) &&
           same_bytes(a->pins, b->pins, a->node_count, sizeof *a->pins) &&
           a->corner_count == b->corner_count && a->keyframe_count == b->keyframe_count &&
           same_bytes(a->corners, b->corners, a->corner_count, sizeof *a->corners) &&
           same_bytes(a->keyframes, b->keyframes, a->keyframe_count, sizeof *a->keyframes);
}

void setting_follow(struct setting *setting, const struct setting *before, bool same_origin)
{
    setting->origin = before ? before->origin + !same_origin : 1;
    if (!before)
        return;
    if (same_subject(before->subject, setting->subject)) {
        release_subject(setting->shared);
        setting->shared = before->shared;
        setting->subject = &setting->shared->subject;
        atomic_fetch_add(&setting->shared->references, 1);
    } else {
        setting->shared->generation = before->shared->generation + 1;
    }
}

// Copies the previous subject, with the present constants of the solver.
static taut_status update_shown(struct setting *setting, const struct setting *before,
                                const taut_solver *solver, taut_error *error)
{
    struct shared_subject *shared = memory_allocate(NULL, 1, sizeof *shared);
    if (!shared)
        return fail_memory(error, "a picture's subject");
    taut_status status = subject_update(solver, before->subject, &shared->subject, error);
    if (status != TAUT_OK) {
        memory_release(NULL, shared, 1, sizeof *shared);
        return status;
    }
    atomic_init(&shared->references, 1);
    setting->shared = shared;
    setting->subject = &shared->subject;
    setting_follow(setting, before, true);
    return TAUT_OK;
}

taut_status setting_make_again(const struct setting *before, taut_scene *scene,
                               const struct changes *changes, const taut_solver *solver,
                               struct setting **setting, taut_error *error)
{
    struct setting *made = make_for(scene, changes, error);
    *setting = NULL;
    if (!made)
        return error->code;
    made->origin = before->origin;
    if (solver) {
        taut_status status = update_shown(made, before, solver, error);
        if (status != TAUT_OK) {
            setting_release(made);
            return status;
        }
    } else {
        made->shared = before->shared;
        made->subject = before->subject;
        atomic_fetch_add(&made->shared->references, 1);
    }
    if (before->springs)
        made->springs = memory_copy(NULL, before->springs, (size_t)made->subject->springs_in_all,
                                    sizeof *made->springs);
    if (before->faces)
        made->faces = memory_copy(NULL, before->faces, (size_t)made->subject->face_count,
                                  sizeof *made->faces);
    if ((before->springs && !made->springs) || (before->faces && !made->faces)) {
        setting_release(made);
        return fail_memory(error, "what is left by cuts");
    }
    *setting = made;
    return TAUT_OK;
}

struct setting *setting_retain(struct setting *setting)
{
    atomic_fetch_add(&setting->references, 1);
    return setting;
}

void setting_release(struct setting *setting)
{
    if (!setting || atomic_fetch_sub(&setting->references, 1) > 1)
        return;
    if (setting->springs)
        memory_release(NULL, setting->springs, (size_t)setting->subject->springs_in_all,
                       sizeof *setting->springs);
    if (setting->faces)
        memory_release(NULL, setting->faces, (size_t)setting->subject->face_count,
                       sizeof *setting->faces);
    release_subject(setting->shared);
    changes_free(&setting->changes);
    scene_free(setting->scene);
    memory_release(NULL, setting, 1, sizeof *setting);
}

// ---- Simulations

void simulation_close(struct simulation *simulation)
{
    taut_solver_destroy(simulation->solver);
    setting_release(simulation->setting);
    changes_free(&simulation->changes);
    cuts_free(&simulation->cuts);
    *simulation = (struct simulation){0};
}

// Copies the masks, or only the counts of the scene as built if nothing is cut.
static taut_status copy_cuts(struct simulation *simulation, const struct solver_cuts *cuts,
                             taut_error *error)
{
    if (!cuts) {
        simulation->cuts.spring_count = taut_solver_spring_count(simulation->solver);
        simulation->cuts.face_count = taut_solver_face_count(simulation->solver);
        return TAUT_OK;
    }
    const struct request empty_stroke = {.type = REQUEST_CUT};
    return cuts_add(cuts, &empty_stroke, &simulation->cuts) ? TAUT_OK : fail_memory(error, "cuts");
}

taut_status simulation_make(struct simulation *simulation, taut_scene *scene,
                            const struct changes *changes, const struct solver_cuts *cuts,
                            const struct solver_options *options, taut_error *error)
{
    *simulation = (struct simulation){0};
    if (cuts && !cuts->springs)
        cuts = NULL;
    taut_status status = solver_create_cut(scene, options, cuts, &simulation->solver, error);
    if (status != TAUT_OK) {
        scene_free(scene);
        return status;
    }
    status = setting_make(scene, changes, simulation->solver, cuts, &simulation->setting, error);
    if (status == TAUT_OK)
        status = copy_cuts(simulation, cuts, error);
    if (status == TAUT_OK && !changes_copy(changes, &simulation->changes))
        status = fail_memory(error, "the changes of a scene");
    if (status != TAUT_OK)
        simulation_close(simulation);
    return status;
}

bool simulation_has_same_nodes(const struct simulation *simulation, const struct simulation *other)
{
    const struct subject *a = simulation->setting->subject, *b = other->setting->subject;
    if (a->body_count != b->body_count)
        return false;
    for (size_t i = 0; i < a->body_count; i++)
        if (a->bodies[i].node_count != b->bodies[i].node_count ||
            a->bodies[i].type != b->bodies[i].type)
            return false;
    return true;
}

// If a body numbers its springs differently, no spring corresponds to one of the previous
// simulation.
static bool same_springs(const struct simulation *simulation, const struct simulation *before)
{
    return simulation_has_same_nodes(simulation, before) &&
           simulation->cuts.spring_count == before->cuts.spring_count &&
           simulation->cuts.face_count == before->cuts.face_count;
}

// Lists for each spring of the simulation its number in the scene as built, counted from `first`.
static uint32_t *list_springs(const struct simulation *simulation, uint64_t first)
{
    uint64_t count = taut_solver_spring_count(simulation->solver);
    uint32_t *numbers = calloc((size_t)count + 1, sizeof *numbers);
    const uint32_t *kept = simulation->setting->springs;
    for (uint64_t i = 0; numbers && i < count; i++)
        numbers[i] = (uint32_t)(first + (kept ? kept[i] : i));
    return numbers;
}

static taut_status restore(struct simulation *simulation, struct simulation *before,
                           taut_error *error)
{
    bool same = same_springs(simulation, before);
    if (same && !simulation->setting->springs && !before->setting->springs)
        return solver_restore_from(simulation->solver, before->solver, NULL, NULL, error);
    uint32_t *from = list_springs(before, 0);
    uint32_t *to = list_springs(simulation, same ? 0 : before->cuts.spring_count);
    taut_status status =
        from && to ? solver_restore_from(simulation->solver, before->solver, from, to, error)
                   : fail_memory(error, "the springs of before");
    free(from);
    free(to);
    return status;
}

taut_status simulation_follow(struct simulation *simulation, struct simulation *before,
                              bool continues, taut_error *error)
{
    setting_follow(simulation->setting, before->setting,
                   before->solver && same_springs(simulation, before));
    if (!continues)
        return TAUT_OK;
    return restore(simulation, before, error);
}

bool simulation_find_node(const struct simulation *simulation, uint64_t node, size_t *body,
                          uint64_t *number)
{
    const struct subject *subject = simulation->setting->subject;
    for (size_t b = 0; b < subject->body_count; b++) {
        uint64_t first = subject->bodies[b].first_node;
        if (node < first || node - first >= subject->bodies[b].node_count)
            continue;
        *body = b;
        *number = node - first;
        return true;
    }
    return false;
}
