// The list of bodies: what every type has in common, and in which order the rest is bound.
#include "scene/schema/bind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 100 }; // names become file names

static bool is_name(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return text[strspn(text, letters)] == '\0' && strlen(text) <= LONGEST_NAME;
}

static void bind_body_name(struct binder *binder, const struct dom_value *value,
                           struct scene_body *body)
{
    const char *text = value_text(binder, value, "name");
    body->at = value->at;
    if (!text)
        return;
    if (!is_name(text)) {
        bind_complain(binder, value->at, NULL,
                      "'name' must be up to %d letters, digits, '_' and '-', not '%s'",
                      LONGEST_NAME, show_text(text).text);
        return;
    }
    body->name = strdup(text);
    if (!body->name)
        bind_complain_memory(binder);
}

// The type, or BODY_TYPE_COUNT after an error.
static enum body_type bind_type(struct binder *binder, const struct dom_value *value)
{
    const struct dom_pair *type = dom_find(value->node, "type");
    if (!type)
        return BODY_TYPE_COUNT; // which the table complains of
    int index = value_name(binder, &type->value, "type", body_type_names);
    return index < 0 ? BODY_TYPE_COUNT : (enum body_type)index;
}

static void bind_content(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    const struct dom_pair *pins = bound_find(bound, "pins"), *drives = bound_find(bound, "drives");
    body->common.has_rest_length = bound_find(bound, "rest_length") != NULL;
    bind_law(binder, bound, &body->common);
    if (body->type == BODY_NETWORK)
        bind_network(binder, bound, body);
    bind_shape(binder, bound, body);
    bind_mass(binder, bound, body);
    if (body->type == BODY_OSCILLATOR || body->type == BODY_PENDULUM) {
        body->kinds[0].present = bind_common_serves(bound, body);
        body->kinds[0].material = body->common;
    } else if (body->type != BODY_NETWORK) {
        bind_springs(binder, bound, body);
    }
    if (pins)
        bind_pins(binder, &pins->value, body);
    if (drives)
        bind_drives(binder, &drives->value, body);
}

static void bind_body(struct binder *binder, const struct dom_value *value, size_t index,
                      struct scene_body *body)
{
    struct schema_part parts[] = {
        {&schema_body, body, false}, {&schema_material, &body->common, false}, {NULL, body, false}};
    struct bound bound;
    struct label what = item_label(index, "bodies");
    body->at = value->at;
    body->common.break_at = body->common.yield_at = INFINITY;
    if (!value_mapping(binder, value, what.text))
        return;
    const struct dom_pair *name = dom_find(value->node, "name");
    if (name)
        bind_body_name(binder, &name->value, body);
    body->type = bind_type(binder, value);
    if (body->type == BODY_TYPE_COUNT) {
        // Without a type only what all bodies have in common can be judged.
        bind_mapping(binder, value, "a body", parts, 2, true, &bound);
        return;
    }
    if (body->type == BODY_SPHERE)
        body->shape.sphere.subdivisions = -1; // unknown, until it is bound
    parts[2].table = &schema_shapes[body->type];
    bind_mapping(binder, value, schema_shapes[body->type].what, parts, 3, false, &bound);
    bind_content(binder, &bound, body);
}

// ---- Names are unique

static int compare_names(const void *a, const void *b)
{
    const struct scene_body *const *first = a, *const *second = b;
    int order = strcmp((*first)->name, (*second)->name);
    return order ? order : *first < *second ? -1 : *first > *second;
}

static void check_unique(struct binder *binder)
{
    taut_scene *scene = binder->scene;
    const struct scene_body **sorted = malloc(scene->body_count * sizeof *sorted);
    size_t count = 0;
    if (!sorted) {
        bind_complain_memory(binder);
        return;
    }
    for (size_t i = 0; i < scene->body_count; i++)
        if (scene->bodies[i].name)
            sorted[count++] = &scene->bodies[i];
    binder->names_known = count == scene->body_count;
    qsort(sorted, count, sizeof *sorted, compare_names);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            bind_complain(binder, sorted[i]->at, NULL, "there are two bodies '%s'",
                          show_text(sorted[i]->name).text);
    binder->sorted_bodies = sorted;
    binder->sorted_body_count = count;
}

static int compare_with_name(const void *name, const void *body)
{
    const struct scene_body *const *it = body;
    return strcmp(name, (*it)->name);
}

const struct scene_body *bound_body(const struct binder *binder, const char *name)
{
    if (!binder->sorted_bodies)
        return NULL;
    const struct scene_body **found =
        bsearch(name, binder->sorted_bodies, binder->sorted_body_count,
                sizeof *binder->sorted_bodies, compare_with_name);
    return found ? *found : NULL;
}

void bind_bodies(struct binder *binder, const struct dom_value *value)
{
    taut_scene *scene = binder->scene;
    size_t count;
    if (!value_list(binder, value, "bodies", "bodies", &count))
        return;
    if (count == 0) {
        bind_complain(binder, value->at, NULL, "'bodies' is empty; a scene has at least one body");
        return;
    }
    scene->bodies = calloc(count, sizeof *scene->bodies);
    if (!scene->bodies) {
        bind_complain_memory(binder);
        return;
    }
    scene->body_count = count;
    for (size_t i = 0; i < count; i++)
        bind_body(binder, &value->node->items[i], i, &scene->bodies[i]);
    check_unique(binder);
}
