// The keys that every body takes: its springs, how it is placed, what holds and drives it.
#include "scene/schema/schema.h"

#include <math.h>

static const char *const damping_law_names[] = {"axial", "full", NULL};
static const char *const spring_law_names[] = {"linear", "tension_only", "compression_only",
                                               "rigid", NULL};
static const char *const volume_names[] = {"divergence", "box", "sphere", "ellipsoid", NULL};

const char *const body_type_names[] = {"rope",       "cloth",    "ring", "quad",
                                       "sphere",     "lattice",  "mesh", "network",
                                       "oscillator", "pendulum", NULL};

#define FIELD(name) offsetof(struct material, name)
static const struct schema_key material_keys[] = {
    {.name = "stiffness",
     .type = VALUE_NUMBER,
     .offset = FIELD(stiffness),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "N/m",
     .absent = "an error where a spring wants it",
     .meaning = "The spring constant k."},
    {.name = "damping",
     .type = VALUE_NUMBER,
     .offset = FIELD(damping),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "N s/m",
     .initial = "0",
     .meaning = "The damping constant c."},
    {.name = "damping_law",
     .type = VALUE_NAME,
     .names = damping_law_names,
     .offset = FIELD(damping_law),
     .initial = "axial",
     .meaning = "Whether damping acts on the velocity along the spring or on the whole of it."},
    {.name = "law",
     .type = VALUE_NAME,
     .names = spring_law_names,
     .offset = FIELD(law),
     .initial = "linear",
     .meaning = "Whether the spring pulls and pushes, only pulls, only pushes, or keeps its length "
                "(`rigid`; only with the integrator `xpbd`, and without a stiffness)."},
    {.name = "rest_length",
     .type = VALUE_NUMBER,
     .offset = FIELD(rest_length),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "m",
     .absent = "the distance as built",
     .meaning = "The length without force."},
    {.name = "break_at",
     .type = VALUE_NUMBER,
     .offset = FIELD(break_at),
     .range = RANGE_ABOVE(1),
     .absent = "never",
     .meaning = "The stretch L/L0 beyond which the spring breaks for good."},
    {.name = "yield_at",
     .type = VALUE_NUMBER,
     .offset = FIELD(yield_at),
     .range = RANGE_POSITIVE,
     .absent = "never",
     .meaning = "The elastic strain |L − L0|/L0 beyond which the rest length gives way."},
};
#undef FIELD
SCHEMA_TABLE(schema_material, "material", "a spring material", material_keys);

#define FIELD(name) offsetof(struct scene_body, name)
static const struct schema_key body_keys[] = {
    {.name = "name",
     .shown = "letters, digits, `_` and `-`",
     .required = true,
     .meaning = "The body's name, which no other body has."},
    {.name = "type",
     .shown = "one of the types below",
     .required = true,
     .meaning = "What is built."},
    {.name = "mass",
     .type = VALUE_NUMBER,
     .offset = FIELD(mass),
     .range = RANGE_POSITIVE,
     .unit = "kg",
     .absent = "`node_mass` is given",
     .meaning =
         "The mass of the whole body, shared equally by its nodes; exactly one of `mass` and "
         "`node_mass`."},
    {.name = "node_mass",
     .shown = "number (or a list of them: network)",
     .range = RANGE_POSITIVE,
     .unit = "kg",
     .absent = "`mass` is given",
     .meaning = "The mass of each node."},
    {.name = "pins",
     .shown = "list of selections",
     .absent = "none",
     .meaning = "The nodes that never move."},
    {.name = "drives",
     .shown = "list of drives",
     .absent = "none",
     .meaning = "The nodes that move as told."},
    {.name = "velocity",
     .type = VALUE_VECTOR,
     .offset = FIELD(velocity),
     .unit = "m/s",
     .initial = "[0, 0, 0]",
     .meaning = "The velocity of all free nodes at time 0."},
    {.name = "rotate",
     .type = VALUE_VECTOR,
     .offset = FIELD(rotate),
     .unit = "degrees",
     .initial = "[0, 0, 0]",
     .meaning =
         "Turns the built body about the x, then the y, then the z axis through the origin."},
    {.name = "translate",
     .type = VALUE_VECTOR,
     .offset = FIELD(translate),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "Moves the built body, after it is turned."},
};
#undef FIELD
SCHEMA_TABLE(schema_body, "body", "a body", body_keys);

#define FIELD(name) offsetof(struct scene_pressure, name)
static const struct schema_key pressure_keys[] = {
    {.name = "amount",
     .type = VALUE_NUMBER,
     .offset = FIELD(amount),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "J",
     .required = true,
     .meaning = "The amount of gas, nRT."},
    {.name = "atmosphere",
     .type = VALUE_NUMBER,
     .offset = FIELD(atmosphere),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "Pa",
     .initial = "0",
     .meaning = "The pressure outside."},
    {.name = "gamma",
     .type = VALUE_NUMBER,
     .offset = FIELD(gamma),
     .range = RANGE_UP_TO(1, INFINITY),
     .initial = "1",
     .meaning = "The adiabatic exponent; 1 keeps the temperature."},
    {.name = "inflate",
     .type = VALUE_NUMBER,
     .offset = FIELD(inflate),
     .range = RANGE_FRACTION,
     .initial = "1",
     .meaning = "The fraction of `amount` that is pumped in with each step, from 0 on."},
    {.name = "volume",
     .type = VALUE_NAME,
     .names = volume_names,
     .offset = FIELD(volume),
     .initial = "divergence",
     .meaning = "How the volume is found: exactly from the faces, or estimated from the bounding "
                "box."},
};
#undef FIELD
SCHEMA_TABLE(schema_pressure, "pressure", "'pressure'", pressure_keys);

static const struct schema_key drive_keys[] = {
    {.name = "node",
     .shown = "`first`, `last` or a number",
     .required = true,
     .meaning = "The node that is driven."},
    {.name = "velocity",
     .shown = "list of `[time, [x, y, z]]`, or one vector",
     .unit = "s, m/s",
     .required = true,
     .meaning = "The velocity from each time on; at rest before the first. One vector holds from "
                "the start."},
};
SCHEMA_TABLE(schema_drive, "drive", "a drive", drive_keys);
