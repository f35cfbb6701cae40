#include "play/show.h"

#include <stdlib.h>
#include <string.h>

#include "scene/reader.h"

void show_close(struct show *show)
{
    taut_solver_destroy(show->solver);
    setting_release(show->setting);
    changes_free(&show->changes);
    cuts_free(&show->cuts);
    *show = (struct show){0};
}

// The counts of the scene as built, and a copy of the masks, if anything is cut.
static taut_status copy_cuts(struct show *show, const struct solver_cuts *cuts, taut_error *error)
{
    if (!cuts) {
        show->cuts.spring_count = taut_solver_spring_count(show->solver);
        show->cuts.face_count = taut_solver_face_count(show->solver);
        return TAUT_OK;
    }
    const struct request nothing_more = {.type = REQUEST_CUT};
    return cuts_add(cuts, &nothing_more, &show->cuts) ? TAUT_OK : fail_memory(error, "cuts");
}

taut_status show_make(struct show *show, taut_scene *scene, const struct changes *changes,
                      const struct solver_cuts *cuts, const struct solver_options *options,
                      taut_error *error)
{
    *show = (struct show){0};
    if (cuts && !cuts->springs)
        cuts = NULL;
    taut_status status = solver_create_cut(scene, options, cuts, &show->solver, error);
    if (status != TAUT_OK) {
        scene_free(scene);
        return status;
    }
    status = setting_make(scene, changes, show->solver, cuts, &show->setting, error);
    if (status == TAUT_OK)
        status = copy_cuts(show, cuts, error);
    if (status == TAUT_OK && !changes_copy(changes, &show->changes))
        status = fail_memory(error, "the changes of a scene");
    if (status != TAUT_OK)
        show_close(show);
    return status;
}

bool show_has_same_nodes(const struct show *show, const struct show *other)
{
    const struct subject *a = show->setting->subject, *b = other->setting->subject;
    if (a->body_count != b->body_count)
        return false;
    for (size_t i = 0; i < a->body_count; i++)
        if (a->bodies[i].node_count != b->bodies[i].node_count ||
            a->bodies[i].type != b->bodies[i].type)
            return false;
    return true;
}

// Where a body numbers its springs otherwise, none of them is one of before.
static bool same_springs(const struct show *show, const struct show *before)
{
    return show_has_same_nodes(show, before) &&
           show->cuts.spring_count == before->cuts.spring_count &&
           show->cuts.face_count == before->cuts.face_count;
}

// Of each spring of the show its number in the scene as built, counted from `first`.
static uint32_t *list_springs(const struct show *show, uint64_t first)
{
    uint64_t count = taut_solver_spring_count(show->solver);
    uint32_t *numbers = calloc((size_t)count + 1, sizeof *numbers);
    const uint32_t *kept = show->setting->springs;
    for (uint64_t i = 0; numbers && i < count; i++)
        numbers[i] = (uint32_t)(first + (kept ? kept[i] : i));
    return numbers;
}

static taut_status go_on(struct show *show, struct show *before, taut_error *error)
{
    bool same = same_springs(show, before);
    if (same && !show->setting->springs && !before->setting->springs)
        return solver_go_on_from(show->solver, before->solver, NULL, NULL, error);
    uint32_t *from = list_springs(before, 0);
    uint32_t *to = list_springs(show, same ? 0 : before->cuts.spring_count);
    taut_status status = from && to
                             ? solver_go_on_from(show->solver, before->solver, from, to, error)
                             : fail_memory(error, "the springs of before");
    free(from);
    free(to);
    return status;
}

taut_status show_follow(struct show *show, struct show *before, bool goes_on, taut_error *error)
{
    setting_follow(show->setting, before->setting, before->solver && same_springs(show, before));
    if (!goes_on)
        return TAUT_OK;
    return go_on(show, before, error);
}

bool show_find_node(const struct show *show, uint64_t node, size_t *body, uint64_t *number)
{
    const struct subject *subject = show->setting->subject;
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
