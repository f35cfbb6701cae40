// The list of colliders.
#include "scene/schema/bind.h"

#include <math.h>
#include <stdlib.h>

static void check_response(struct binder *binder, const struct bound *bound,
                           const struct scene_collider *collider)
{
    if (!bound_sound(bound, "response"))
        return;
    if (collider->response == RESPONSE_PENALTY) {
        bound_belongs_not(binder, bound, "keep", "response", "is only for 'response: project'");
        bound_belongs_not(binder, bound, "restitution", "response",
                          "is only for 'response: project'");
        if (bound_lacks(bound, "stiffness"))
            bind_complain(binder, bound->at, NULL, "'stiffness' is missing in %s", bound->what);
        return;
    }
    bound_belongs_not(binder, bound, "stiffness", "response", "is only for 'response: penalty'");
    bound_belongs_not(binder, bound, "absorption", "response", "is only for 'response: penalty'");
}

static void check_room(struct binder *binder, const struct bound *bound,
                       const struct scene_collider *room)
{
    const struct dom_pair *max = bound_find(bound, "max");
    if (!max || !bound_find(bound, "min") || !bound_sound(bound, "min") ||
        !bound_sound(bound, "max"))
        return;
    if (room->max.x <= room->min.x || room->max.y <= room->min.y || room->max.z <= room->min.z)
        bind_complain(binder, max->value.at, NULL,
                      "'max' must be greater than 'min' in each coordinate");
}

static void bind_collider(struct binder *binder, const struct dom_value *value, size_t index,
                          struct scene_collider *collider)
{
    struct schema_part parts[] = {{&schema_collider, collider, false}, {NULL, collider, false}};
    struct bound bound;
    struct label what = item_label(index, "colliders");
    collider->at = value->at;
    if (!value_mapping(binder, value, what.text))
        return;
    const struct dom_pair *type = dom_find(value->node, "type");
    int given = type ? value_name(binder, &type->value, "type", collider_type_names) : -1;
    if (given < 0) {
        bind_mapping(binder, value, schema_collider.what, parts, 1, true, &bound);
        return;
    }
    collider->type = (enum collider_type)given;
    parts[1].table = &schema_collider_shapes[given];
    bind_mapping(binder, value, schema_collider_shapes[given].what, parts, 2, false, &bound);
    check_response(binder, &bound, collider);
    if (collider->type == COLLIDER_ROOM)
        check_room(binder, &bound, collider);
}

void bind_colliders(struct binder *binder, const struct dom_value *value)
{
    taut_scene *scene = binder->scene;
    size_t count;
    if (!value_list(binder, value, "colliders", "colliders", &count) || count == 0)
        return;
    scene->colliders = calloc(count, sizeof *scene->colliders);
    if (!scene->colliders) {
        bind_complain_memory(binder);
        return;
    }
    scene->collider_count = count;
    for (size_t i = 0; i < count; i++)
        bind_collider(binder, &value->node->items[i], i, &scene->colliders[i]);
}
