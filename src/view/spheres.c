#include "view/spheres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "scene/reader.h"
#include "scene/text/document.h"
#include "view/fields.h"

static int sphere_count(const taut_scene *scene)
{
    int count = 0;
    for (size_t i = 0; i < scene->collider_count; i++)
        count += scene->colliders[i].type == COLLIDER_SPHERE;
    return count;
}

// ---- The list of colliders, in the words of the scene

// What a further sphere has of the last one there is: all but where it is, how large, how fast.
static char *response_text(const struct dom_node *last)
{
    enum { KEYS_MAX = 32 };
    static const char *const own[] = {"type", "center", "radius", "velocity"};
    struct dom_pair pairs[KEYS_MAX];
    struct dom_node response = {.kind = DOM_MAPPING, .pairs = pairs};
    if (!last)
        return text_format("response: project, keep: 0.9");
    for (size_t i = 0; i < last->count && response.count < KEYS_MAX; i++) {
        bool taken = true;
        for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
            taken &= strcmp(last->pairs[i].key, own[k]) != 0;
        if (taken)
            pairs[response.count++] = last->pairs[i];
    }
    char *text = scene_value_yaml(&response);
    char *bare = text ? text_format("%.*s", (int)strlen(text) - 2, text + 1) : NULL;
    free(text);
    return bare;
}

// A further sphere: beside the bodies as they stand, as hard as the last one; NULL without memory.
static char *new_sphere_text(const struct view *view, const taut_scene *scene,
                             const struct dom_node *last)
{
    const struct subject *subject = player_subject(view->player);
    vec3 low = vec3_make(subject->low[0], subject->low[1], subject->low[2]);
    vec3 high = vec3_make(subject->high[0], subject->high[1], subject->high[2]);
    double across = fmax(high.x - low.x, high.z - low.z);
    double angle = 2.399963 * sphere_count(scene); // the golden angle: no two are in one place
    double radius = fmax(0.18 * across, 1e-3);
    vec3 centre = vec3_make((low.x + high.x) / 2 + 0.75 * across * cos(angle), low.y - 0.5 * across,
                            (low.z + high.z) / 2 + 0.75 * across * sin(angle));
    for (size_t i = 0; i < scene->collider_count; i++)
        if (scene->colliders[i].type == COLLIDER_ROOM)
            centre.y = fmax(centre.y, scene->colliders[i].min.y + radius);
    char *response = response_text(last);
    char *text = response ? text_format("{type: sphere, center: [%.9g, %.9g, %.9g], radius: %.9g, "
                                        "%s}",
                                        centre.x, centre.y, centre.z, radius, response)
                          : NULL;
    free(response);
    return text;
}

// Appends `more` to a text that it takes, and takes `more` too; NULL without memory, or where one
// of them was NULL.
static char *append(char *text, char *more)
{
    char *longer = text && more ? text_format("%s%s%s", text, text[1] ? ", " : "", more) : NULL;
    free(text);
    free(more);
    return longer;
}

// The list of colliders with so many spheres: more come at its end, the last ones go first. The
// others stay as the scene has them, which knows where they were put.
static char *list_text(const struct view *view, int count)
{
    const taut_scene *scene = player_scene(view->player);
    const struct dom_pair *list = dom_find(scene->document->root.node, "colliders");
    const struct dom_node *last = NULL;
    int spheres = 0;
    char *all = text_format("[");
    for (size_t i = 0; i < scene->collider_count; i++) {
        const struct dom_node *node = list->value.node->items[i].node;
        bool is_sphere = scene->colliders[i].type == COLLIDER_SPHERE;
        if (is_sphere && ++spheres > count)
            continue;
        last = is_sphere ? node : last;
        all = append(all, scene_value_yaml(node));
    }
    if (spheres < count)
        all = append(all, new_sphere_text(view, scene, last));
    char *closed = all ? text_format("%s]", all) : NULL;
    free(all);
    return closed;
}

static void set_count(struct view *view, int count)
{
    char *text = list_text(view, count);
    if (text)
        player_set(view->player, "colliders", text);
    else
        view_say(view, true, "out of memory for the spheres");
    free(text);
}

// ---- Widgets

static void draw_radius(struct view *view, size_t collider, int number)
{
    const struct subject_moment *moment = &player_moment(view->player)->moment;
    char path[FIELD_PATH_SIZE], label[FIELD_PATH_SIZE];
    field_path(path, "colliders.%zu.radius", collider);
    field_path(label, "radius of %d", number);
    double radius = (double)moment->spheres[collider].radius;
    struct field field = {.path = path,
                          .label = label,
                          .meaning = "The radius of a sphere; shift and the right button scale it "
                                     "in the picture.",
                          .unit = "m",
                          .flags = FIELD_SENDS_NOTHING | FIELD_LOGARITHMIC};
    if (field_numbers(view, &field, &radius, 1) && radius > 0)
        player_scale_sphere(view->player, collider, radius);
}

void spheres_draw(struct view *view)
{
    const taut_scene *scene = player_scene(view->player);
    const struct subject *subject = player_subject(view->player);
    const struct subject_moment *moment = &player_moment(view->player)->moment;
    if (!gui_section("Spheres", true))
        return;
    int count = sphere_count(scene);
    int wanted = count;
    gui_push("spheres");
    gui_width((float)(140 * window_scale(view->window)));
    bool changed = gui_count("number", &wanted, 1);
    gui_tooltip("How many spheres there are that bodies run into; the mouse moves them.");
    gui_pop();
    if (changed && wanted >= 0 && wanted <= SPHERES_MAX && wanted != count)
        set_count(view, wanted > count ? count + 1 : wanted);
    int number = 0;
    for (size_t i = 0; i < subject->collider_count && moment->spheres; i++)
        if (subject->colliders[i].type == COLLIDER_SPHERE)
            draw_radius(view, i, ++number);
}
