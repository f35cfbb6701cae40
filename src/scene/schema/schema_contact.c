// The keys of contact between surfaces and of colliders as tables (schema.h).
#include "scene/schema/schema.h"

#include <math.h>
#include <string.h>

// ---- Contact of surfaces

static const char *const existing_names[] = {"refuse", "relax", NULL};

#define FIELD(name) offsetof(struct scene_contact, name)
static const struct schema_key contact_keys[] = {
    {.name = "self",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(self),
     .initial = "true",
     .meaning = "Contact of bodies with themselves."},
    {.name = "between",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(between),
     .initial = "true",
     .meaning = "Contact of bodies with each other."},
    {.name = "thickness",
     .type = VALUE_NUMBER,
     .offset = FIELD(thickness),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .required = true,
     .meaning = "The distance that surfaces keep from each other; of two bodies with different "
                "values the mean."},
    {.name = "stiffness",
     .shown = "number or `auto`",
     .range = RANGE_POSITIVE,
     .unit = "N/m",
     .initial = "auto",
     .meaning = "A quarter of the largest stiffness of a contact; `auto` chooses it so that "
                "contact halves the critical step at most."},
    {.name = "friction_coefficient",
     .shown = "number ≥ 0, or mapping",
     .absent = "no friction",
     .meaning = "Coulomb friction with memory: a number for both coefficients, or a mapping, see "
                "*friction* below."},
    {.name = "pairs",
     .shown = "list of pairs",
     .absent = "none",
     .meaning = "Exceptions for pairs of bodies."},
    {.name = "existing",
     .type = VALUE_NAME,
     .names = existing_names,
     .offset = FIELD(existing),
     .initial = "refuse",
     .meaning =
         "Surfaces that cross or nearly touch at the start: an error, or nodes are moved until "
         "they are apart."},
};
#undef FIELD
SCHEMA_TABLE(schema_contact, "contact", "'contact'", contact_keys);

#define FIELD(name) offsetof(struct scene_contact_pair, name)
static const struct schema_key contact_pair_keys[] = {
    {.name = "bodies",
     .shown = "list of two names",
     .required = true,
     .meaning = "The bodies; the same name twice for a body with itself."},
    {.name = "enabled",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(enabled),
     .initial = "true",
     .meaning = "Whether they touch."},
    {.name = "friction_coefficient",
     .shown = "number ≥ 0, or mapping",
     .absent = "that of the bodies",
     .meaning = "Coulomb friction between the two, whatever they have of their own."},
};
#undef FIELD
SCHEMA_TABLE(schema_contact_pair, "contact pair", "a pair of 'contact'", contact_pair_keys);

#define FIELD(name) offsetof(struct scene_body_contact, name)
static const struct schema_key body_contact_keys[] = {
    {.name = "thickness",
     .type = VALUE_NUMBER,
     .offset = FIELD(thickness),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .absent = "the scene's",
     .meaning = "The distance that surfaces keep from each other."},
    {.name = "self",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(self),
     .absent = "the scene's",
     .meaning = "Contact of the body with itself."},
    {.name = "friction_coefficient",
     .shown = "number ≥ 0, or mapping",
     .absent = "the scene's",
     .meaning = "Coulomb friction of the body with itself and with others; of two bodies that have "
                "their own, the geometric mean of both counts."},
};
#undef FIELD
SCHEMA_TABLE(schema_body_contact, "body contact", "'contact' of a body", body_contact_keys);

// ---- Colliders

const char *const collider_type_names[] = {"plane", "sphere", "room", "mesh", NULL};
static const char *const response_names[] = {"penalty", "project", "contact", NULL};
static const char *const sides_names[] = {"both", "outside", NULL};

#define FIELD(name) offsetof(struct scene_collider, name)
static const struct schema_key collider_keys[] = {
    {.name = "type",
     .names = collider_type_names,
     .shown = "`plane`, `sphere`, `room` or `mesh`",
     .required = true,
     .meaning = "The shape."},
};
SCHEMA_TABLE(schema_collider, "collider", "a collider", collider_keys);

static const struct schema_key response_keys[] = {
    {.name = "response",
     .type = VALUE_NAME,
     .names = response_names,
     .offset = FIELD(response),
     .initial = "penalty",
     .meaning =
         "A force on nodes inside, projection of them onto the surface, or `contact` with the "
         "surfaces of bodies, which needs the section `contact`."},
    {.name = "stiffness",
     .type = VALUE_NUMBER,
     .offset = FIELD(stiffness),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "N/m",
     .absent = "an error with `penalty`",
     .meaning = "The penalty stiffness k: F = k p n at depth p; only with `penalty`."},
    {.name = "friction",
     .type = VALUE_NUMBER,
     .offset = FIELD(friction),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "N s/m",
     .initial = "0",
     .meaning = "The viscous friction: F = −friction · v along the surface, while a node is in "
                "contact; not "
                "with `contact`."},
    {.name = "friction_coefficient",
     .shown = "number ≥ 0, or mapping",
     .absent = "no such friction",
     .meaning = "Coulomb friction with memory: a number for both coefficients, or a mapping, see "
                "*friction* below; not with `project`, and without `friction`. With `contact` that "
                "of the bodies if it is absent, and the geometric mean of both with a body that "
                "has its own."},
    {.name = "absorption",
     .type = VALUE_NUMBER,
     .offset = FIELD(absorption),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "N s/m",
     .initial = "0",
     .meaning =
         "The normal damping of approaching nodes, not of leaving ones; only with `penalty`."},
    {.name = "restitution",
     .type = VALUE_NUMBER,
     .offset = FIELD(restitution),
     .range = RANGE_UP_TO(0, 1),
     .initial = "0",
     .meaning = "The fraction of the approach speed with which a node leaves after an impact; only "
                "with `project`."},
    {.name = "keep",
     .type = VALUE_NUMBER,
     .offset = FIELD(keep),
     .range = RANGE_UP_TO(0, 1),
     .initial = "1",
     .meaning = "The factor by which the tangential velocity is multiplied at an impact; only with "
                "`project`."},
};
SCHEMA_TABLE(schema_response, "response", "a collider", response_keys);
#undef FIELD

#define FIELD(name) offsetof(struct scene_friction, name)
static const struct schema_key friction_keys[] = {
    {.name = "static",
     .type = VALUE_NUMBER,
     .offset = FIELD(static_coefficient),
     .range = RANGE_UP_TO(0, FRICTION_MAX),
     .required = true,
     .meaning = "The coefficient up to which a contact holds; not less than `kinetic`."},
    {.name = "kinetic",
     .type = VALUE_NUMBER,
     .offset = FIELD(kinetic_coefficient),
     .range = RANGE_UP_TO(0, FRICTION_MAX),
     .required = true,
     .meaning = "The coefficient of a contact that slides."},
};
SCHEMA_TABLE(schema_friction, "friction", "'friction_coefficient'", friction_keys);
#undef FIELD
#define FIELD(name) offsetof(struct scene_collider, name)

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
     .meaning = "The normal, towards the side where nodes may be; it is normalised."},
    {.name = "blocks_drives",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(blocks_drives),
     .initial = "false",
     .meaning = "Whether kinematic nodes stop at the plane too."},
};

static const struct schema_key sphere_collider_keys[] = {
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
     .meaning = "The corner with the smallest coordinates; nodes stay inside."},
    {.name = "max",
     .type = VALUE_VECTOR,
     .offset = FIELD(max),
     .unit = "m",
     .required = true,
     .meaning = "The corner with the largest coordinates."},
};

static const struct schema_key mesh_collider_keys[] = {
    {.name = "file",
     .shown = "path",
     .required = true,
     .meaning = "A triangle mesh: `.asc` (3D Studio ASCII), `.obj`, `.ply` or `.stl`; relative to "
                "the scene file."},
    {.name = "scale",
     .type = VALUE_NUMBER,
     .offset = FIELD(mesh.scale),
     .range = RANGE_POSITIVE,
     .initial = "1",
     .meaning = "The factor applied to every coordinate, before rotation and translation."},
    {.name = "rotate",
     .type = VALUE_VECTOR,
     .offset = FIELD(rotate),
     .unit = "degrees",
     .initial = "[0, 0, 0]",
     .meaning = "The rotation Rz Ry Rx about the mesh's own origin."},
    {.name = "translate",
     .type = VALUE_VECTOR,
     .offset = FIELD(translate),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "Where the mesh's own origin is at time 0."},
    {.name = "sides",
     .type = VALUE_NAME,
     .names = sides_names,
     .offset = FIELD(sides),
     .initial = "both",
     .meaning = "With `outside` the mesh must be closed, and nothing may start inside."},
    {.name = "motion",
     .shown = "mapping",
     .absent = "it stands still",
     .meaning = "How it moves, see *collider motion* below."},
    {.name = "friction_coefficient",
     .shown = "number ≥ 0, or mapping",
     .absent = "that of the bodies",
     .meaning = "Coulomb friction: a number for both coefficients, or a mapping, see *friction* "
                "above; with a body that has its own, the geometric mean of both counts."},
};
#undef FIELD

#define FIELD(name) offsetof(struct scene_collider_motion, name)
static const struct schema_key collider_motion_keys[] = {
    {.name = "velocity",
     .type = VALUE_VECTOR,
     .offset = FIELD(velocity),
     .unit = "m/s",
     .initial = "[0, 0, 0]",
     .meaning = "The constant velocity of the mesh's own origin."},
    {.name = "angular_velocity",
     .type = VALUE_VECTOR,
     .offset = FIELD(angular_velocity),
     .unit = "degrees/s",
     .initial = "[0, 0, 0]",
     .meaning =
         "The constant angular velocity about the mesh's own origin: the vector is the axis, "
         "its length the speed."},
    {.name = "keyframes",
     .shown = "list of `[t, position, angles]`",
     .absent = "none",
     .meaning = "How far the mesh has moved (m) and turned (degrees, as `rotate`) at times t (s), "
                "instead of the velocities."},
};
SCHEMA_TABLE(schema_collider_motion, "collider motion", "'motion' of a mesh collider",
             collider_motion_keys);
#undef FIELD

const struct schema_table schema_collider_shapes[COLLIDER_TYPE_COUNT] = {
    [COLLIDER_PLANE] = {"plane", "a plane", plane_keys, sizeof plane_keys / sizeof plane_keys[0]},
    [COLLIDER_SPHERE] = {"sphere collider", "a sphere", sphere_collider_keys,
                         sizeof sphere_collider_keys / sizeof sphere_collider_keys[0]},
    [COLLIDER_ROOM] = {"room", "a room", room_keys, sizeof room_keys / sizeof room_keys[0]},
    [COLLIDER_MESH] = {"mesh collider", "a mesh collider", mesh_collider_keys,
                       sizeof mesh_collider_keys / sizeof mesh_collider_keys[0]},
};

const char *schema_instead(const struct schema_table *table, const char *key)
{
    static const char undamped[] = "it acts by contact, which has no damping of its own: bodies "
                                   "bounce as their springs and dampers do";
    static const char coulomb[] = "give 'friction_coefficient'";
    static const char pairs[] = "leave pairs of bodies out by 'contact: {pairs: [{bodies: [a, b], "
                                "enabled: false}]}' of the scene";
    static const struct schema_table *const mesh = &schema_collider_shapes[COLLIDER_MESH];
    const struct {
        const struct schema_table *table;
        const char *key, *instead;
    } all[] = {
        {mesh, "response",
         "it always acts by contact, as 'response: contact' of other colliders; leave "
         "the key out"},
        {mesh, "stiffness",
         "it acts by contact, whose stiffness is that of the section 'contact: {stiffness: ...}'"},
        {mesh, "absorption", undamped},
        {mesh, "friction",
         "it acts by contact, with Coulomb friction: give 'friction_coefficient'"},
        {mesh, "restitution", undamped},
        {mesh, "keep", "it acts by contact, with Coulomb friction: give 'friction_coefficient'"},
        {mesh, "thickness",
         "its distance from bodies is that of the section 'contact: {thickness: ...}'"},
        {mesh, "velocity", "give 'motion: {velocity: ...}'"},
        {mesh, "center", "give 'translate'"},
        {&schema_body, "friction_coefficient", "give 'contact: {friction_coefficient: ...}'"},
        {&schema_body, "self", "give 'contact: {self: ...}'"},
        {&schema_contact, "friction", coulomb},
        {&schema_contact, "mu", coulomb},
        {&schema_body_contact, "friction", coulomb},
        {&schema_body_contact, "mu", coulomb},
        {&schema_collider, "mu", coulomb},
        {&schema_body_contact, "between", pairs},
        {&schema_body_contact, "enabled", pairs},
        {&schema_body_contact, "pairs", pairs},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (table == all[i].table && strcmp(all[i].key, key) == 0)
            return all[i].instead;
    return NULL;
}
