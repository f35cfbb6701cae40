#include "view/spheres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "view/fields.h"

static int sphere_count(const taut_scene *scene)
{
    int count = 0;
    for (size_t i = 0; i < scene->collider_count; i++)
        count += scene->colliders[i].type == COLLIDER_SPHERE;
    return count;
}

// Appends to a text that it takes; NULL without memory, or where there was none.
static char *append(char *text, const char *more)
{
    char *longer = text ? text_format("%s%s", text, more) : NULL;
    free(text);
    return longer;
}

static void response_text(const struct scene_collider *collider, char *text, size_t size)
{
    if (collider->response == RESPONSE_PROJECT)
        snprintf(text, size, "response: project, keep: %.9g", collider->keep);
    else
        snprintf(text, size, "stiffness: %.9g, friction: %.9g, absorption: %.9g",
                 collider->stiffness, collider->friction, collider->absorption);
}

static void collider_text(const struct scene_collider *c, const struct subject_sphere *now,
                          char *text, size_t size)
{
    char response[160];
    response_text(c, response, sizeof response);
    if (c->type == COLLIDER_PLANE)
        snprintf(text, size,
                 "{type: plane, point: [%.9g, %.9g, %.9g], normal: [%.9g, %.9g, %.9g], "
                 "blocks_drives: %s, %s}",
                 c->point.x, c->point.y, c->point.z, c->normal.x, c->normal.y, c->normal.z,
                 c->blocks_drives ? "true" : "false", response);
    else if (c->type == COLLIDER_ROOM)
        snprintf(text, size, "{type: room, min: [%.9g, %.9g, %.9g], max: [%.9g, %.9g, %.9g], %s}",
                 c->min.x, c->min.y, c->min.z, c->max.x, c->max.y, c->max.z, response);
    else if (now && now->radius > 0)
        snprintf(text, size, "{type: sphere, center: [%.9g, %.9g, %.9g], radius: %.9g, %s}",
                 (double)now->centre[0], (double)now->centre[1], (double)now->centre[2],
                 (double)now->radius, response);
    else
        snprintf(text, size, "{type: sphere, center: [%.9g, %.9g, %.9g], radius: %.9g, %s}",
                 c->centre.x, c->centre.y, c->centre.z, c->radius, response);
}

// A further sphere: beside the bodies as they stand, as hard as the other spheres.
static void new_sphere(const struct view *view, const taut_scene *scene, char *text, size_t size)
{
    const struct subject *subject = player_subject(view->player);
    struct scene_collider sphere = {
        .type = COLLIDER_SPHERE, .response = RESPONSE_PROJECT, .keep = 0.9};
    for (size_t i = 0; i < scene->collider_count; i++)
        if (scene->colliders[i].type == COLLIDER_SPHERE)
            sphere = scene->colliders[i];
    vec3 low = vec3_make(subject->low[0], subject->low[1], subject->low[2]);
    vec3 high = vec3_make(subject->high[0], subject->high[1], subject->high[2]);
    double across = fmax(high.x - low.x, high.z - low.z);
    int number = sphere_count(scene);
    double angle = 2.399963 * number; // the golden angle: no two are in one place
    sphere.radius = fmax(0.18 * across, 1e-3);
    sphere.centre =
        vec3_make((low.x + high.x) / 2 + 0.75 * across * cos(angle), low.y - 0.5 * across,
                  (low.z + high.z) / 2 + 0.75 * across * sin(angle));
    for (size_t i = 0; i < scene->collider_count; i++)
        if (scene->colliders[i].type == COLLIDER_ROOM)
            sphere.centre.y = fmax(sphere.centre.y, scene->colliders[i].min.y + sphere.radius);
    collider_text(&sphere, NULL, text, size);
}

// The list of colliders with so many spheres: more come at its end, the last ones go first.
static void set_count(struct view *view, int count)
{
    const taut_scene *scene = player_scene(view->player);
    const struct subject_moment *moment = &player_moment(view->player)->moment;
    int spheres = 0;
    char *all = append(text_format("["), "");
    char one[512];
    for (size_t i = 0; i < scene->collider_count; i++) {
        const struct scene_collider *collider = &scene->colliders[i];
        if (collider->type == COLLIDER_SPHERE && ++spheres > count)
            continue;
        collider_text(collider, moment->spheres ? &moment->spheres[i] : NULL, one, sizeof one);
        all = append(append(all, all && all[1] ? ", " : ""), one);
    }
    if (spheres < count) {
        new_sphere(view, scene, one, sizeof one);
        all = append(append(all, all && all[1] ? ", " : ""), one);
    }
    all = append(all, "]");
    if (all)
        player_set(view->player, "colliders", all);
    free(all);
}

static void draw_radius(struct view *view, size_t collider, int number)
{
    const struct subject_moment *moment = &player_moment(view->player)->moment;
    char path[FIELD_PATH_SIZE], label[FIELD_PATH_SIZE];
    field_path(path, "colliders.%zu.radius", collider);
    field_path(label, "radius of %d", number);
    const struct subject_sphere *sphere = &moment->spheres[collider];
    double radius = (double)sphere->radius;
    struct field field = {.path = path,
                          .label = label,
                          .meaning = "The radius of a sphere; shift and the right button scale it "
                                     "in the picture.",
                          .unit = "m",
                          .flags = FIELD_SENDS_NOTHING | FIELD_LOGARITHMIC};
    double centre[3] = {(double)sphere->centre[0], (double)sphere->centre[1],
                        (double)sphere->centre[2]};
    const double velocity[3] = {0};
    if (field_numbers(view, &field, &radius, 1) && radius > 0)
        player_move_sphere(view->player, collider, centre, velocity, radius);
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
