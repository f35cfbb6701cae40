// The keys of each type of body.
#include "scene/schema/schema.h"

#include <math.h>

#define SHAPE(field) offsetof(struct scene_body, shape.field)

static const char *const rope_link_names[] = {"chain", "skip", "all", NULL};
static const char *const oscillator_model_names[] = {"spring", "closed_form", NULL};
static const char *const pendulum_model_names[] = {"spring", "equation", "small_angle", NULL};

#define SPRING_KEY                                                                                 \
    {                                                                                              \
        .name = "spring", .shown = "material", .absent = "the body's common keys",                 \
        .meaning = "One material for every kind of spring that is built without `springs`."        \
    }
#define SPRINGS_KEY                                                                                \
    {                                                                                              \
        .name = "springs", .shown = "mapping of kind: material",                                   \
        .absent = "`spring`, or the body's common keys",                                           \
        .meaning = "A material for each kind of spring; a kind that is not named is not built."    \
    }
#define PRESSURE_KEY                                                                               \
    {                                                                                              \
        .name = "pressure", .shown = "mapping", .absent = "no gas", .meaning = "The gas inside."   \
    }

static const struct schema_key rope_keys[] = {
    {.name = "from",
     .type = VALUE_VECTOR,
     .offset = SHAPE(rope.from),
     .unit = "m",
     .required = true,
     .meaning = "Where node 0 is."},
    {.name = "to",
     .type = VALUE_VECTOR,
     .offset = SHAPE(rope.to),
     .unit = "m",
     .required = true,
     .meaning = "Where the last node is."},
    {.name = "nodes",
     .type = VALUE_COUNT,
     .offset = SHAPE(rope.nodes),
     .range = RANGE_UP_TO(2, NODES_MAX),
     .required = true,
     .meaning = "How many nodes."},
    {.name = "links",
     .type = VALUE_NAME,
     .names = rope_link_names,
     .offset = SHAPE(rope.links),
     .initial = "chain",
     .meaning = "Each node with the next, also with the next but one, or each with each."},
    SPRING_KEY,
    {.name = "springs",
     .shown = "mapping of kind: material",
     .absent = "`spring`, or the body's common keys",
     .meaning = "A material for each kind of spring that `links` builds."},
};

static const struct schema_key cloth_keys[] = {
    {.name = "origin",
     .type = VALUE_VECTOR,
     .offset = SHAPE(cloth.origin),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "Where node 0 is."},
    {.name = "u",
     .type = VALUE_VECTOR,
     .offset = SHAPE(cloth.u),
     .unit = "m",
     .required = true,
     .meaning = "The edge along which i counts."},
    {.name = "v",
     .type = VALUE_VECTOR,
     .offset = SHAPE(cloth.v),
     .unit = "m",
     .required = true,
     .meaning = "The edge along which j counts."},
    {.name = "nodes",
     .type = VALUE_COUNTS_2,
     .offset = SHAPE(cloth.nodes_u),
     .range = RANGE_UP_TO(2, NODES_MAX),
     .required = true,
     .meaning = "How many nodes along u and along v."},
    {.name = "links",
     .shown = "`all`",
     .absent = "the grid's kinds",
     .meaning = "Each node with each, by springs of the kind `all`."},
    SPRING_KEY,
    SPRINGS_KEY,
};

static const struct schema_key ring_keys[] = {
    {.name = "center",
     .type = VALUE_VECTOR,
     .offset = SHAPE(ring.centre),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "The centre."},
    {.name = "radius",
     .type = VALUE_NUMBER,
     .offset = SHAPE(ring.radius),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .required = true,
     .meaning = "The radius."},
    {.name = "nodes",
     .type = VALUE_COUNT,
     .offset = SHAPE(ring.nodes),
     .range = RANGE_UP_TO(3, NODES_MAX),
     .required = true,
     .meaning = "How many nodes."},
    SPRING_KEY,
    SPRINGS_KEY,
    PRESSURE_KEY,
};

static const struct schema_key quad_keys[] = {
    {.name = "origin",
     .type = VALUE_VECTOR,
     .offset = SHAPE(quad.origin),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "Where node 0 is."},
    {.name = "u",
     .type = VALUE_VECTOR,
     .offset = SHAPE(quad.u),
     .unit = "m",
     .required = true,
     .meaning = "The side from node 0 to node 1."},
    {.name = "v",
     .type = VALUE_VECTOR,
     .offset = SHAPE(quad.v),
     .unit = "m",
     .required = true,
     .meaning = "The side from node 0 to node 3."},
    SPRING_KEY,
    SPRINGS_KEY,
    PRESSURE_KEY,
};

static const struct schema_key sphere_keys[] = {
    {.name = "center",
     .type = VALUE_VECTOR,
     .offset = SHAPE(sphere.centre),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "The centre."},
    {.name = "radius",
     .type = VALUE_NUMBER,
     .offset = SHAPE(sphere.radius),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .required = true,
     .meaning = "The radius."},
    {.name = "subdivisions",
     .type = VALUE_SMALL,
     .offset = SHAPE(sphere.subdivisions),
     .range = RANGE_UP_TO(0, 8),
     .required = true,
     .meaning = "How often each triangle of the icosahedron is cut in four."},
    SPRING_KEY,
    SPRINGS_KEY,
    PRESSURE_KEY,
};

static const struct schema_key lattice_keys[] = {
    {.name = "origin",
     .type = VALUE_VECTOR,
     .offset = SHAPE(lattice.origin),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "Where node 0 is, the corner with the least coordinates."},
    {.name = "nodes",
     .type = VALUE_COUNTS_3,
     .offset = SHAPE(lattice.nodes_x),
     .range = RANGE_UP_TO(1, NODES_MAX),
     .required = true,
     .meaning = "How many nodes along x, y and z."},
    {.name = "spacing",
     .type = VALUE_NUMBER,
     .offset = SHAPE(lattice.spacing),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .required = true,
     .meaning = "The distance of neighbours along an axis."},
    {.name = "shells",
     .type = VALUE_SMALL,
     .offset = SHAPE(lattice.shells),
     .range = RANGE_UP_TO(1, 2),
     .initial = "1",
     .meaning = "1: springs to the 26 neighbours; 2: also to those twice as far."},
    SPRING_KEY,
    SPRINGS_KEY,
    PRESSURE_KEY,
};

static const struct schema_key mesh_keys[] = {
    {.name = "file",
     .shown = "path",
     .required = true,
     .meaning = "A triangle mesh: `.asc` (3D Studio ASCII), `.obj`, `.ply` or `.stl`; relative to "
                "the scene file."},
    {.name = "scale",
     .type = VALUE_NUMBER,
     .offset = SHAPE(mesh.scale),
     .range = RANGE_POSITIVE,
     .initial = "1",
     .meaning = "The factor of every coordinate, before the body is turned and moved."},
    SPRING_KEY,
    SPRINGS_KEY,
    PRESSURE_KEY,
};

static const struct schema_key network_keys[] = {
    {.name = "nodes",
     .shown = "list of `[x, y, z]`",
     .unit = "m",
     .absent = "`nodes_file` is given",
     .meaning = "Where each node is."},
    {.name = "springs",
     .shown = "list of `[a, b]` or `[a, b, material]`",
     .absent = "none",
     .meaning = "The two nodes of each spring, and what it has of its own."},
    {.name = "velocities",
     .shown = "list of `[x, y, z]`",
     .unit = "m/s",
     .absent = "`velocity`",
     .meaning = "The velocity of each node at time 0."},
    {.name = "nodes_file",
     .shown = "path",
     .absent = "`nodes` is given",
     .meaning = "A CSV file with the header `x,y,z,mass[,vx,vy,vz][,pinned]`."},
    {.name = "springs_file",
     .shown = "path",
     .absent = "`springs` is given",
     .meaning = "A CSV file with the header `a,b,stiffness[,damping][,rest_length]`."},
};

static const struct schema_key oscillator_keys[] = {
    {.name = "model",
     .type = VALUE_NAME,
     .names = oscillator_model_names,
     .offset = SHAPE(oscillator.model),
     .initial = "spring",
     .meaning = "A spring that is simulated, or the formula x = A cos(ωt + φ)."},
    {.name = "anchor",
     .type = VALUE_VECTOR,
     .offset = SHAPE(oscillator.anchor),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "Where the fixed end of the spring is."},
    {.name = "axis",
     .type = VALUE_DIRECTION,
     .offset = SHAPE(oscillator.axis),
     .initial = "[1, 0, 0]",
     .meaning = "The direction from the anchor to the mass; made of unit length."},
    {.name = "amplitude",
     .type = VALUE_NUMBER,
     .offset = SHAPE(oscillator.amplitude),
     .unit = "m",
     .required = true,
     .meaning = "The displacement A from equilibrium."},
    {.name = "phase",
     .type = VALUE_NUMBER,
     .offset = SHAPE(oscillator.phase),
     .unit = "degrees",
     .initial = "0",
     .meaning = "The phase φ at time 0."},
};

static const struct schema_key pendulum_keys[] = {
    {.name = "model",
     .type = VALUE_NAME,
     .names = pendulum_model_names,
     .offset = SHAPE(pendulum.model),
     .initial = "spring",
     .meaning = "A stiff spring, the equation θ'' = −(g/r) sin θ integrated, or its formula for "
                "small angles."},
    {.name = "pivot",
     .type = VALUE_VECTOR,
     .offset = SHAPE(pendulum.pivot),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "Where it hangs."},
    {.name = "length",
     .type = VALUE_NUMBER,
     .offset = SHAPE(pendulum.length),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .required = true,
     .meaning = "From the pivot to the mass."},
    {.name = "angle",
     .type = VALUE_NUMBER,
     .offset = SHAPE(pendulum.angle),
     .range = RANGE_UP_TO(-180, 180),
     .unit = "degrees",
     .required = true,
     .meaning = "The angle at time 0, from the direction of gravity towards `direction`."},
    {.name = "direction",
     .type = VALUE_DIRECTION,
     .offset = SHAPE(pendulum.direction),
     .initial = "[1, 0, 0]",
     .meaning = "Where it swings to; only the part across gravity counts."},
};

#define SHAPE_TABLE(name, noun, list)                                                              \
    {                                                                                              \
        name, noun, list, sizeof list / sizeof list[0]                                             \
    }

const struct schema_table schema_shapes[BODY_TYPE_COUNT] = {
    [BODY_ROPE] = SHAPE_TABLE("rope", "a rope", rope_keys),
    [BODY_CLOTH] = SHAPE_TABLE("cloth", "a cloth", cloth_keys),
    [BODY_RING] = SHAPE_TABLE("ring", "a ring", ring_keys),
    [BODY_QUAD] = SHAPE_TABLE("quad", "a quad", quad_keys),
    [BODY_SPHERE] = SHAPE_TABLE("sphere", "a sphere", sphere_keys),
    [BODY_LATTICE] = SHAPE_TABLE("lattice", "a lattice", lattice_keys),
    [BODY_MESH] = SHAPE_TABLE("mesh", "a mesh", mesh_keys),
    [BODY_NETWORK] = SHAPE_TABLE("network", "a network", network_keys),
    [BODY_OSCILLATOR] = SHAPE_TABLE("oscillator", "an oscillator", oscillator_keys),
    [BODY_PENDULUM] = SHAPE_TABLE("pendulum", "a pendulum", pendulum_keys),
};
