#include "view/materials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "scene/text/document.h"
#include "view/fields.h"

// Where the scene says what a kind of springs is made of.
enum place {
    PLACE_KIND,   // bodies.N.springs.KIND
    PLACE_SPRING, // bodies.N.spring: one for all kinds
    PLACE_BODY    // keys of the body itself: likewise
};

static const struct dom_node *body_node(const taut_scene *scene, size_t number)
{
    const struct dom_pair *bodies =
        scene->document ? dom_find(scene->document->root.node, "bodies") : NULL;
    if (!bodies || bodies->value.node->kind != DOM_LIST || number >= bodies->value.node->count)
        return NULL;
    const struct dom_node *node = bodies->value.node->items[number].node;
    return node->kind == DOM_MAPPING ? node : NULL;
}

const char *body_scalar(const taut_scene *scene, size_t number, const char *key)
{
    const struct dom_node *node = body_node(scene, number);
    const struct dom_pair *pair = node ? dom_find(node, key) : NULL;
    return pair && pair->value.node->kind == DOM_SCALAR ? pair->value.node->text : NULL;
}

static enum place place_of(const taut_scene *scene, size_t number, const char *kind)
{
    const struct dom_node *node = body_node(scene, number);
    const struct dom_pair *springs = node ? dom_find(node, "springs") : NULL;
    if (springs && springs->value.node->kind == DOM_MAPPING && kind &&
        dom_find(springs->value.node, kind))
        return PLACE_KIND;
    return node && dom_find(node, "spring") ? PLACE_SPRING : PLACE_BODY;
}

// A material in the words of a scene.
static char *material_text(const struct material *material)
{
    char stiffness[64] = "", rest[64] = "", breaks[64] = "", yields[64] = "";
    if (material->law != LAW_RIGID)
        snprintf(stiffness, sizeof stiffness, "stiffness: %.9g, ", material->stiffness);
    if (material->has_rest_length)
        snprintf(rest, sizeof rest, ", rest_length: %.9g", material->rest_length);
    if (isfinite(material->break_at))
        snprintf(breaks, sizeof breaks, ", break_at: %.9g", material->break_at);
    if (isfinite(material->yield_at))
        snprintf(yields, sizeof yields, ", yield_at: %.9g", material->yield_at);
    return text_format(
        "{%sdamping: %.9g, damping_law: %s, law: %s%s%s%s}", stiffness, material->damping,
        fields_key(&schema_material, "damping_law")->names[material->damping_law],
        fields_key(&schema_material, "law")->names[material->law], rest, breaks, yields);
}

char *materials_text(const struct scene_body *body, unsigned kinds)
{
    const struct material *spare = &body->common;
    for (int i = SPRING_KINDS_MAX - 1; i >= 0; i--)
        if (body->kinds[i].present)
            spare = &body->kinds[i].material;
    char *all = text_format("{");
    for (size_t i = 0; all && i < SPRING_KINDS_MAX && spring_kind_name(body->type, i); i++) {
        if (!(kinds & 1U << i))
            continue;
        char *one = material_text(body->kinds[i].present ? &body->kinds[i].material : spare);
        char *longer = one ? text_format("%s%s%s: %s", all, all[1] ? ", " : "",
                                         spring_kind_name(body->type, i), one)
                           : NULL;
        free(one);
        free(all);
        all = longer;
    }
    char *closed = all ? text_format("%s}", all) : NULL;
    free(all);
    return closed;
}

struct material_place {
    const char *shown; // beside the slider of the stiffness
    enum place place;
    char path[FIELD_PATH_SIZE]; // before ".stiffness"
};

// One key of a material; true when it was changed.
static bool draw_key(struct view *view, const struct material_place *at,
                     const struct schema_key *key, struct material *material)
{
    char path[FIELD_PATH_SIZE];
    field_path(path, "%s.%s", at->path, key->name);
    bool is_stiffness = strcmp(key->name, "stiffness") == 0;
    struct field field = {.path = path,
                          .label = is_stiffness ? at->shown : NULL,
                          .meaning = key->meaning,
                          .unit = key->unit,
                          .least = key->range.limited ? key->range.min : 0,
                          .most = key->range.limited ? key->range.max : 0,
                          .flags = at->place == PLACE_BODY ? 0 : FIELD_SENDS_NOTHING};
    void *value = (char *)material + key->offset;
    if (key->type == VALUE_NUMBER)
        return field_numbers(view, &field, value, 1);
    if (key->type == VALUE_NAME)
        return field_name(view, &field, key->names, value);
    return false;
}

// Whether a material has a value for that key at all.
static bool is_there(const struct material *material, const struct schema_key *key)
{
    if (strcmp(key->name, "stiffness") == 0)
        return material->law != LAW_RIGID;
    if (strcmp(key->name, "rest_length") == 0)
        return material->has_rest_length;
    if (strcmp(key->name, "break_at") == 0)
        return isfinite(material->break_at);
    if (strcmp(key->name, "yield_at") == 0)
        return isfinite(material->yield_at);
    return true;
}

// The slider of the stiffness, or everything else; sends what was changed.
static void draw_material(struct view *view, const struct material_place *at,
                          const struct material *present, bool stiffness)
{
    struct material material = *present;
    bool changed = false;
    for (size_t i = 0; i < schema_material.count; i++) {
        const struct schema_key *key = &schema_material.keys[i];
        if ((strcmp(key->name, "stiffness") == 0) == stiffness && is_there(present, key))
            changed |= draw_key(view, at, key, &material);
    }
    char *text = changed && at->place != PLACE_BODY ? material_text(&material) : NULL;
    if (text)
        player_set(view->player, at->path, text);
    free(text);
}

// Where each kind's material is; several kinds may share one. Returns how many there are.
static int find_places(const taut_scene *scene, size_t number, struct material_place *places,
                       const struct material **materials)
{
    const struct scene_body *body = &scene->bodies[number];
    bool is_network = body->type == BODY_NETWORK, shared = false;
    int count = 0;
    for (size_t i = 0; i < SPRING_KINDS_MAX && spring_kind_name(body->type, i); i++) {
        const char *kind = spring_kind_name(body->type, i);
        enum place place = place_of(scene, number, kind);
        if ((!body->kinds[i].present && !is_network) || (place != PLACE_KIND && shared))
            continue;
        struct material_place *at = &places[count];
        *at = (struct material_place){.place = place, .shown = kind};
        if (place == PLACE_KIND)
            field_path(at->path, "bodies.%s.springs.%s", body->name, kind);
        else
            field_path(at->path, "bodies.%s%s", body->name, place == PLACE_SPRING ? ".spring" : "");
        if (place != PLACE_KIND) {
            shared = true;
            at->shown = "stiffness";
        }
        materials[count++] = is_network ? &body->common : &body->kinds[i].material;
    }
    return count;
}

void materials_draw(struct view *view, size_t number)
{
    const taut_scene *scene = player_scene(view->player);
    struct material_place places[SPRING_KINDS_MAX];
    const struct material *materials[SPRING_KINDS_MAX];
    char title[FIELD_PATH_SIZE];
    int count = find_places(scene, number, places, materials);
    for (int i = 0; i < count; i++)
        draw_material(view, &places[i], materials[i], true);
    field_path(title, "damping, laws, breaking###more.%s", scene->bodies[number].name);
    if (count == 0 || !gui_branch(title))
        return;
    for (int i = 0; i < count; i++) {
        if (count > 1)
            gui_text(places[i].shown);
        draw_material(view, &places[i], materials[i], false);
    }
    gui_branch_end();
}
