// The keys of colliders.
#include "scene/schema/schema.h"

#include <math.h>

const char *const collider_type_names[] = {"plane", "sphere", "room", NULL};
static const char *const response_names[] = {"penalty", "project", NULL};

#define FIELD(name) offsetof(struct scene_collider, name)
static const struct schema_key collider_keys[] = {
    {.name = "type",
     .shown = "`plane`, `sphere` or `room`",
     .required = true,
     .meaning = "Its shape."},
    {.name = "response",
     .type = VALUE_NAME,
     .names = response_names,
     .offset = FIELD(response),
     .initial = "penalty",
     .meaning = "A force on nodes that are inside, or putting them back on the surface."},
    {.name = "stiffness",
     .type = VALUE_NUMBER,
     .offset = FIELD(stiffness),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "N/m",
     .absent = "an error with `penalty`",
     .meaning = "The repulsion k: F = k p n at depth p; only with `penalty`."},
    {.name = "friction",
     .type = VALUE_NUMBER,
     .offset = FIELD(friction),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "N s/m",
     .initial = "0",
     .meaning = "The sliding friction: F = −friction · v along the surface, while a node touches."},
    {.name = "absorption",
     .type = VALUE_NUMBER,
     .offset = FIELD(absorption),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "N s/m",
     .initial = "0",
     .meaning = "Slows a node that goes deeper, not one that leaves; only with `penalty`."},
    {.name = "restitution",
     .type = VALUE_NUMBER,
     .offset = FIELD(restitution),
     .range = RANGE_UP_TO(0, 1),
     .initial = "0",
     .meaning = "The part of the approaching speed with which a node leaves after an impact; only "
                "with `project`."},
    {.name = "keep",
     .type = VALUE_NUMBER,
     .offset = FIELD(keep),
     .range = RANGE_UP_TO(0, 1),
     .initial = "1",
     .meaning =
         "The factor that the velocity along the surface is multiplied by at an impact; only "
         "with `project`."},
};
SCHEMA_TABLE(schema_collider, "collider", "a collider", collider_keys);

static const struct schema_key plane_keys[] = {
    {.name = "point",
     .type = VALUE_VECTOR,
     .offset = FIELD(point),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "A point of the plane."},
    {.name = "normal",
     .type = VALUE_DIRECTION,
     .offset = FIELD(normal),
     .initial = "[0, 1, 0]",
     .meaning = "The side where nodes may be; made of unit length."},
    {.name = "blocks_drives",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(blocks_drives),
     .initial = "false",
     .meaning = "Whether driven nodes stop at the plane too."},
};

static const struct schema_key sphere_keys[] = {
    {.name = "center",
     .type = VALUE_VECTOR,
     .offset = FIELD(centre),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "The centre at time 0."},
    {.name = "radius",
     .type = VALUE_NUMBER,
     .offset = FIELD(radius),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .required = true,
     .meaning = "The radius; nodes stay outside."},
    {.name = "velocity",
     .type = VALUE_VECTOR,
     .offset = FIELD(velocity),
     .unit = "m/s",
     .initial = "[0, 0, 0]",
     .meaning = "The constant velocity of the sphere."},
};

static const struct schema_key room_keys[] = {
    {.name = "min",
     .type = VALUE_VECTOR,
     .offset = FIELD(min),
     .unit = "m",
     .required = true,
     .meaning = "The corner with the least coordinates; nodes stay inside."},
    {.name = "max",
     .type = VALUE_VECTOR,
     .offset = FIELD(max),
     .unit = "m",
     .required = true,
     .meaning = "The corner with the greatest coordinates."},
};
#undef FIELD

const struct schema_table schema_collider_shapes[COLLIDER_TYPE_COUNT] = {
    [COLLIDER_PLANE] = {"plane", "a plane", plane_keys, sizeof plane_keys / sizeof plane_keys[0]},
    [COLLIDER_SPHERE] = {"sphere collider", "a sphere", sphere_keys,
                         sizeof sphere_keys / sizeof sphere_keys[0]},
    [COLLIDER_ROOM] = {"room", "a room", room_keys, sizeof room_keys / sizeof room_keys[0]},
};
