// What is built: size and nodes of each body, neighbours of a lattice, and how many spheres there
// are. Changing the number of nodes begins anew at t = 0.
#include "view/fields.h"
#include "view/materials.h"
#include "view/spheres.h"
#include "view/view.h"

#include <stdio.h>
#include <stdlib.h>

// 1: springs to the 26 neighbours, 2: also to those twice as far. The kinds of springs change with
// it, in an order in which each state is a sound scene.
static void set_shells(struct view *view, const struct scene_body *body, int shells)
{
    enum { NEAR = 1 | 2 | 4, FAR = 8 | 16 | 32 };
    char springs[FIELD_PATH_SIZE], key[FIELD_PATH_SIZE];
    field_path(springs, "bodies.%s.springs", body->name);
    field_path(key, "bodies.%s.shells", body->name);
    char *text = materials_text(body, shells == 2 ? NEAR | FAR : NEAR);
    if (!text)
        return;
    if (shells == 2)
        player_set(view->player, key, "2");
    player_set(view->player, springs, text);
    if (shells == 1)
        player_set(view->player, key, "1");
    free(text);
}

static void draw_neighbours(struct view *view, const struct scene_body *body)
{
    static const char *const names[] = {"1: the 26 next ones", "2: twice as far, too", NULL};
    char path[FIELD_PATH_SIZE];
    field_path(path, "bodies.%s.shells", body->name);
    int index = body->shape.lattice.shells - 1;
    struct field field = {.path = path,
                          .label = "neighbours",
                          .meaning = "How far springs reach in the lattice.",
                          .flags = FIELD_SENDS_NOTHING};
    if (field_name(view, &field, names, &index))
        set_shells(view, body, index + 1);
}

static void draw_body(struct view *view, const struct scene_body *body, bool open)
{
    // What is elsewhere, or what a change of would need other changes with.
    static const char *const left_out[] = {"links", "model", "shells", "file", NULL};
    char title[FIELD_PATH_SIZE], path[FIELD_PATH_SIZE];
    field_path(title, "%s (%s)###body.%s", body->name, body_type_name(body->type), body->name);
    if (!gui_section(title, open))
        return;
    field_path(path, "bodies.%s", body->name);
    fields_of_table(view, &schema_shapes[body->type], body, path, left_out, FIELD_ON_RELEASE);
    if (body->type == BODY_LATTICE)
        draw_neighbours(view, body);
}

static void draw_count(const char *what, uint64_t count)
{
    char text[96];
    snprintf(text, sizeof text, "%s: %llu", what, (unsigned long long)count);
    gui_text(text);
}

void panel_body(struct view *view)
{
    enum { BODIES_OPEN = 2 };
    const taut_scene *scene = player_scene(view->player);
    const struct subject *subject = player_subject(view->player);
    draw_count("nodes", subject->node_count);
    draw_count("springs", subject->springs_in_all);
    draw_count("faces", subject->face_count);
    spheres_draw(view);
    for (size_t i = 0; i < scene->body_count; i++)
        draw_body(view, &scene->bodies[i], i < BODIES_OPEN);
}
