// The keys of a scene as tables (schema.h): the scene itself, materials and the common keys of
// bodies, each type of body; those of contact and colliders are in schema_contact.c. schema_docs.c
// writes their documentation.
#include "scene/schema/schema.h"

#include <math.h>

// ---- The scene, its simulation, environment and output

const char *const precision_names[] = {"single", "double", "mixed", NULL};

const char *const integrator_names[] = {"explicit_euler",
                                        "symplectic_euler",
                                        "verlet",
                                        "velocity_verlet",
                                        "midpoint",
                                        "rk4",
                                        "implicit_euler",
                                        "implicit_midpoint",
                                        "bdf2",
                                        "xpbd",
                                        NULL};

static const char *const wind_law_names[] = {"node", "face", "quadratic", NULL};

static const struct schema_key scene_keys[] = {
    {.name = "title",
     .type = VALUE_TEXT,
     .offset = offsetof(taut_scene, title),
     .absent = "none",
     .meaning = "A title; it has no effect on the results."},
    {.name = "precision",
     .type = VALUE_NAME,
     .names = precision_names,
     .offset = offsetof(taut_scene, precision),
     .initial = "single",
     .meaning = "The floating-point precision of the run; with `mixed`, forces are single, and "
                "positions and velocities lose no increments."},
    {.name = "simulation",
     .shown = "mapping",
     .required = true,
     .meaning = "Integrator, step and duration."},
    {.name = "environment",
     .shown = "mapping",
     .absent = "no gravity, air or wind",
     .meaning = "Gravity, air and wind, common to all bodies."},
    {.name = "materials",
     .shown = "mapping of name: material",
     .absent = "none",
     .meaning = "Spring materials, to be referred to by a YAML alias or by name."},
    {.name = "bodies",
     .shown = "list of bodies",
     .required = true,
     .meaning = "The simulated bodies, at least one."},
    {.name = "colliders",
     .shown = "list of colliders",
     .absent = "none",
     .meaning = "Obstacles for the nodes, and meshes for the surfaces."},
    {.name = "contact",
     .shown = "mapping",
     .absent = "bodies pass through themselves and each other",
     .meaning = "Contact of bodies with themselves and with each other."},
    {.name = "initial",
     .shown = "path of a CSV file or a checkpoint",
     .absent = "the bodies as built",
     .meaning = "Positions and velocities of the nodes at the start: a file written by `taut run "
                "--state`, or a checkpoint."},
    {.name = "output",
     .shown = "mapping",
     .absent = "the energy table only",
     .meaning = "What a run writes, and how often."},
};
SCHEMA_TABLE(schema_scene, "scene", "the scene", scene_keys);

#define FIELD(name) offsetof(struct scene_simulation, name)
static const struct schema_key simulation_keys[] = {
    {.name = "integrator",
     .type = VALUE_NAME,
     .names = integrator_names,
     .offset = FIELD(integrator),
     .initial = "symplectic_euler",
     .meaning = "The integration method."},
    {.name = "dt",
     .shown = "number or `auto`",
     .range = RANGE_POSITIVE,
     .unit = "s",
     .required = true,
     .meaning = "The time step; `auto` takes the fraction `safety` of the guaranteed critical step "
                "and follows it as the state changes."},
    {.name = "safety",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(safety),
     .range = RANGE_FRACTION,
     .initial = "0.8",
     .meaning = "The fraction of the critical step; only with `dt: auto`."},
    {.name = "duration",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(duration),
     .range = RANGE_POSITIVE,
     .unit = "s",
     .absent = "`steps` is given",
     .meaning = "The simulated time; exactly one of `duration` and `steps`."},
    {.name = "steps",
     .type = VALUE_COUNT,
     .offset = FIELD(steps),
     .range = RANGE_UP_TO(0, STEPS_MAX),
     .absent = "`duration` is given",
     .meaning = "The number of steps."},
    {.name = "keep_velocity",
     .type = VALUE_NUMBER,
     .offset = FIELD(keep_velocity),
     .range = RANGE_FRACTION,
     .initial = "1",
     .meaning = "The factor by which every velocity is multiplied after each step."},
    {.name = "position_step",
     .type = VALUE_NUMBER,
     .offset = FIELD(position_step),
     .range = RANGE_POSITIVE,
     .unit = "s",
     .absent = "`dt`",
     .meaning = "A separate step for the positions; only with `symplectic_euler`."},
    {.name = "implicit",
     .shown = "mapping",
     .absent = "the defaults",
     .meaning = "The solution of the equations of a step; only with `implicit_euler`, "
                "`implicit_midpoint` and `bdf2`."},
    {.name = "substeps",
     .type = VALUE_COUNT,
     .offset = FIELD(substeps),
     .range = RANGE_UP_TO(1, 1000000),
     .initial = "10",
     .meaning = "The number of substeps per step; only with `xpbd`."},
    {.name = "iterations",
     .type = VALUE_COUNT,
     .offset = FIELD(iterations),
     .range = RANGE_UP_TO(1, 1000000),
     .initial = "1",
     .meaning = "The number of iterations over the constraints per substep; only with `xpbd`."},
};
#undef FIELD
SCHEMA_TABLE(schema_simulation, "simulation", "'simulation'", simulation_keys);

#define FIELD(name) offsetof(struct scene_implicit, name)
static const struct schema_key implicit_keys[] = {
    {.name = "tolerance",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(tolerance),
     .range = RANGE_FRACTION,
     .initial = "1e-4",
     .meaning = "The relative residual at which a linear solve ends."},
    {.name = "iterations",
     .type = VALUE_COUNT,
     .offset = FIELD(iterations),
     .range = RANGE_UP_TO(1, 1000000),
     .initial = "5000",
     .meaning = "The maximum number of conjugate gradient iterations per linear system."},
    {.name = "newton",
     .type = VALUE_COUNT,
     .offset = FIELD(newton),
     .range = RANGE_UP_TO(1, 1000),
     .initial = "1",
     .meaning = "The maximum number of linear systems per step; above 1 Newton's method iterates "
                "until the residual of the step has fallen to `tolerance`."},
    {.name = "line_search",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(line_search),
     .initial = "true",
     .meaning = "Whether Newton's method halves corrections that do not reduce the residual; only "
                "with `newton` above 1."},
};
#undef FIELD
SCHEMA_TABLE(schema_implicit, "implicit", "'implicit'", implicit_keys);

#define FIELD(name) offsetof(struct scene_environment, name)
static const struct schema_key environment_keys[] = {
    {.name = "gravity",
     .type = VALUE_VECTOR,
     .offset = FIELD(gravity),
     .unit = "m/s²",
     .initial = "[0, 0, 0]",
     .meaning = "The gravitational acceleration."},
    {.name = "air_drag",
     .type = VALUE_NUMBER,
     .offset = FIELD(air_drag),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "kg/s",
     .initial = "0",
     .meaning = "The drag coefficient c of every node: F = −c v."},
    {.name = "wind",
     .shown = "mapping",
     .absent = "no wind",
     .meaning = "The wind, which acts on faces."},
};
#undef FIELD
SCHEMA_TABLE(schema_environment, "environment", "'environment'", environment_keys);

#define FIELD(name) offsetof(struct scene_wind, name)
static const struct schema_key wind_keys[] = {
    {.name = "velocity",
     .type = VALUE_VECTOR,
     .offset = FIELD(velocity),
     .unit = "m/s",
     .required = true,
     .meaning = "The velocity of the air."},
    {.name = "law",
     .type = VALUE_NAME,
     .names = wind_law_names,
     .offset = FIELD(law),
     .initial = "face",
     .meaning = "The force law: along the normal of each node, along the normal of each face, or "
                "the drag of a plate."},
    {.name = "coefficient",
     .type = VALUE_NUMBER,
     .offset = FIELD(coefficient),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "kg/s (`node`), kg/(m² s) (`face`)",
     .initial = "1",
     .meaning = "The coefficient of the laws `node` and `face`."},
    {.name = "density",
     .type = VALUE_NUMBER,
     .offset = FIELD(density),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "kg/m³",
     .initial = "1.225",
     .meaning = "The density of the air; only with `quadratic`."},
    {.name = "drag",
     .type = VALUE_NUMBER,
     .offset = FIELD(drag),
     .range = RANGE_NOT_NEGATIVE,
     .initial = "1",
     .meaning = "The drag coefficient of a plate; only with `quadratic`."},
    {.name = "relative",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(relative),
     .initial = "true",
     .meaning = "Whether the wind is relative to the velocity of the body."},
    {.name = "gusts",
     .shown = "list of gusts",
     .absent = "none",
     .meaning = "Sinusoids added to the velocity."},
};
#undef FIELD
SCHEMA_TABLE(schema_wind, "wind", "'wind'", wind_keys);

#define FIELD(name) offsetof(struct scene_gust, name)
static const struct schema_key gust_keys[] = {
    {.name = "amplitude",
     .type = VALUE_VECTOR,
     .offset = FIELD(amplitude),
     .unit = "m/s",
     .required = true,
     .meaning = "The peak velocity of the gust."},
    {.name = "period",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(period),
     .range = RANGE_POSITIVE,
     .unit = "s",
     .required = true,
     .meaning = "The period."},
    {.name = "phase",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(phase),
     .unit = "degrees",
     .initial = "0",
     .meaning = "The phase of the sine at time 0."},
};
#undef FIELD
SCHEMA_TABLE(schema_gust, "gust", "a gust", gust_keys);

#define FIELD(name) offsetof(struct scene_output, name)
static const struct schema_key output_keys[] = {
    {.name = "every",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(every),
     .range = RANGE_POSITIVE,
     .unit = "s",
     .absent = "about a hundred rows of energy over the run",
     .meaning = "The simulated time between two frames; at most one of `every` and `every_steps`."},
    {.name = "every_steps",
     .type = VALUE_COUNT,
     .offset = FIELD(every_steps),
     .range = RANGE_UP_TO(1, STEPS_MAX),
     .absent = "`every` applies",
     .meaning = "The number of steps between two frames."},
    {.name = "vtp",
     .shown = "`true`, `false` or mapping",
     .absent = "false",
     .meaning = "Frames for ParaView: one `.vtp` file each, and a `.pvd` file that lists them; a "
                "mapping, which may be empty, adds further data."},
    {.name = "pc2",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(pc2),
     .initial = "false",
     .meaning = "Frames for Blender: a rest mesh `.obj` and a point cache `.pc2` for each body."},
    {.name = "work",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(work),
     .initial = "true",
     .meaning = "Whether the energy budget (work of damping, drag, friction, wind and drives) is "
                "computed."},
    {.name = "probes",
     .shown = "list of probes",
     .absent = "none",
     .meaning = "Nodes whose position and velocity are written to `probes.csv`."},
    {.name = "checkpoint",
     .shown = "mapping",
     .absent = "one a minute of wall time, none at the end",
     .meaning = "When the run writes checkpoints, from which `taut resume` continues it."},
};
#undef FIELD
SCHEMA_TABLE(schema_output, "output", "'output'", output_keys);

#define FIELD(name) offsetof(struct scene_output, name)
static const struct schema_key vtp_keys[] = {
    {.name = "springs",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(vtp_springs),
     .initial = "false",
     .meaning = "Also write the springs of bodies with triangles; those of other bodies, and "
                "springs that break or yield, are always written."},
    {.name = "forces",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(vtp_forces),
     .initial = "false",
     .meaning = "Also write the force on each node, which costs one force evaluation per frame."},
};
#undef FIELD
SCHEMA_TABLE(schema_vtp, "vtp", "'vtp'", vtp_keys);

#define FIELD(name) offsetof(struct scene_output, name)
static const struct schema_key checkpoint_keys[] = {
    {.name = "every",
     .type = VALUE_NUMBER,
     .in_double = true,
     .required = true,
     .offset = FIELD(checkpoint_every),
     .range = RANGE_POSITIVE,
     .unit = "s",
     .meaning = "The simulated time between two checkpoints; the one of the end is kept."},
};
#undef FIELD
SCHEMA_TABLE(schema_checkpoint, "checkpoint", "'checkpoint'", checkpoint_keys);

static const struct schema_key probe_keys[] = {
    {.name = "body",
     .shown = "name of a body",
     .required = true,
     .meaning = "The body of the node."},
    {.name = "node",
     .shown = "`first`, `last` or a number",
     .required = true,
     .meaning = "The node, in the numbering of the body."},
    {.name = "every_steps",
     .type = VALUE_COUNT,
     .offset = offsetof(struct scene_probe, every_steps),
     .range = RANGE_UP_TO(1, STEPS_MAX),
     .initial = "1",
     .meaning = "The number of steps between two rows."},
};
SCHEMA_TABLE(schema_probe, "probe", "a probe", probe_keys);

// ---- Every body: springs, mass, placement, pins, drives, gas

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
     .absent = "an error where a spring needs it",
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
     .meaning = "Whether damping acts on the relative velocity along the spring or on all of it."},
    {.name = "law",
     .type = VALUE_NAME,
     .names = spring_law_names,
     .offset = FIELD(law),
     .initial = "linear",
     .meaning = "Tension and compression, tension only, compression only, or constant length "
                "(`rigid`; only with the integrator `xpbd`, and without a stiffness)."},
    {.name = "rest_length",
     .type = VALUE_NUMBER,
     .offset = FIELD(rest_length),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "m",
     .absent = "the distance as built",
     .meaning = "The length at which the spring exerts no force."},
    {.name = "break_at",
     .type = VALUE_NUMBER,
     .offset = FIELD(break_at),
     .range = RANGE_ABOVE(1),
     .absent = "never",
     .meaning = "The stretch L/L0 beyond which the spring breaks."},
    {.name = "yield_at",
     .type = VALUE_NUMBER,
     .offset = FIELD(yield_at),
     .range = RANGE_POSITIVE,
     .absent = "never",
     .meaning = "The elastic strain |L − L0|/L0 beyond which the spring yields plastically."},
};
#undef FIELD
SCHEMA_TABLE(schema_material, "material", "a spring material", material_keys);

#define FIELD(name) offsetof(struct scene_body, name)
static const struct schema_key body_keys[] = {
    {.name = "name",
     .shown = "letters, digits, `_` and `-`",
     .required = true,
     .meaning = "The unique name of the body."},
    {.name = "type",
     .names = body_type_names,
     .shown = "one of the types below",
     .required = true,
     .meaning = "The type of the body."},
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
     .meaning = "The fixed nodes."},
    {.name = "drives",
     .shown = "list of drives",
     .absent = "none",
     .meaning = "The kinematic nodes, which move with a prescribed velocity."},
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
         "Rotates the body as built about the x, then the y, then the z axis through the origin."},
    {.name = "translate",
     .type = VALUE_VECTOR,
     .offset = FIELD(translate),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "Translates the body, after the rotation."},
    {.name = "contact",
     .shown = "mapping",
     .absent = "the scene's `contact`",
     .meaning = "What differs for this body from the scene's `contact`."},
};
#undef FIELD
SCHEMA_TABLE(schema_body, "body", "a body", body_keys);

// ---- Materials in SI units

#define FIELD(name) offsetof(struct scene_elastic, name)
static const struct schema_key elastic_keys[] = {
    {.name = "material",
     .shown = "name of a solid",
     .absent = "the numbers are given",
     .meaning =
         "A solid of [materials.md](materials.md#solids), whose numbers the others replace."},
    {.name = "young",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(young),
     .range = RANGE_POSITIVE,
     .unit = "Pa",
     .required = true,
     .meaning = "Young's modulus E."},
    {.name = "poisson",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(poisson),
     .range = RANGE_UP_TO(0, 0.5),
     .absent = "that of springs alone: 1/4 in a lattice, 1/3 in a cloth; an error in a mesh or a "
               "sphere",
     .meaning = "Poisson's ratio ν, in a lattice up to 0.45; a rope has none."},
    {.name = "density",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(density),
     .range = RANGE_POSITIVE,
     .unit = "kg/m³",
     .required = true,
     .meaning = "The density ρ."},
    {.name = "thickness",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(thickness),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .absent = "an error in a cloth, a mesh or a sphere",
     .meaning = "The thickness t of a cloth, or of the wall of a mesh or a sphere."},
    {.name = "diameter",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(diameter),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .absent = "an error in a rope",
     .meaning = "The diameter d of a rope, whose cross-section is a circle."},
};
#undef FIELD
SCHEMA_TABLE(schema_elastic, "elastic", "'elastic'", elastic_keys);

// Units of Kawabata's evaluation system: tension 1 gf/cm, shear 1 gf/(cm degree), bending 1 gf
// cm2/cm; 1 gf = 9.80665e-3 N.
#define KES_TENSION 0.980665
#define KES_SHEAR   56.18796561619687
#define KES_BENDING 9.80665e-5

#define FIELD(name) offsetof(struct scene_fabric, name)
static const struct schema_key fabric_keys[] = {
    {.name = "material",
     .shown = "name of a fabric",
     .absent = "the numbers are given",
     .meaning =
         "A fabric of [materials.md](materials.md#fabrics), whose numbers the others replace."},
    {.name = "areal_density",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(areal_density),
     .range = RANGE_POSITIVE,
     .unit = "kg/m²",
     .required = true,
     .meaning = "The mass of a square metre."},
    {.name = "warp",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(warp),
     .range = RANGE_POSITIVE,
     .unit = "N/m",
     .kes = KES_TENSION,
     .required = true,
     .meaning = "The stiffness C11 along u: force per width over strain, without lateral strain."},
    {.name = "weft",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(weft),
     .range = RANGE_POSITIVE,
     .unit = "N/m",
     .kes = KES_TENSION,
     .required = true,
     .meaning = "The stiffness C22 along v."},
    {.name = "shear",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(shear),
     .range = RANGE_POSITIVE,
     .unit = "N/m",
     .kes = KES_SHEAR,
     .required = true,
     .meaning = "The stiffness C66: shear force per width over the angle, in radians."},
    {.name = "coupling",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(coupling),
     .unit = "N/m",
     .kes = KES_TENSION,
     .initial = "0",
     .meaning = "The stiffness C12: lateral force per width over strain; below 0 it widens when "
                "stretched."},
    {.name = "bending",
     .type = VALUE_PAIR,
     .in_double = true,
     .offset = FIELD(bending),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "N m",
     .kes = KES_BENDING,
     .initial = "0",
     .meaning = "The bending stiffness of warp and weft: moment per width over curvature along u "
                "and along v."},
    {.name = "twist",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(twist),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "N m",
     .kes = KES_BENDING,
     .absent = "the root of the product of `bending`",
     .meaning = "The stiffness against twist; where it equals both of `bending`, all directions "
                "bend alike."},
    {.name = "thickness",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = FIELD(thickness),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .absent = "unknown",
     .meaning = "The thickness; `taut info` prints moduli in Pa with it, and no force depends on "
                "it."},
};
#undef FIELD
SCHEMA_TABLE(schema_fabric, "fabric", "'fabric'", fabric_keys);

static const struct schema_key rayleigh_keys[] = {
    {.name = "mass",
     .type = VALUE_NUMBER,
     .offset = offsetof(struct scene_body, rayleigh_mass),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "1/s",
     .initial = "0",
     .meaning = "The drag of each node over its mass: F = −mass · m v. A free motion slows down as "
                "e^(−mass · t), and slow oscillations are damped most."},
    {.name = "stiffness",
     .type = VALUE_NUMBER,
     .in_double = true,
     .offset = offsetof(struct scene_body, rayleigh_stiffness),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "s",
     .initial = "0",
     .meaning = "The damping of each spring and element over the magnitude of its stiffness; fast "
                "oscillations are damped most."},
};
SCHEMA_TABLE(schema_rayleigh, "rayleigh", "'rayleigh'", rayleigh_keys);

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
     .meaning = "The adiabatic exponent; 1 is isothermal."},
    {.name = "inflate",
     .type = VALUE_NUMBER,
     .offset = FIELD(inflate),
     .range = RANGE_FRACTION,
     .initial = "1",
     .meaning = "The fraction of `amount` that is added in each step, starting from 0."},
    {.name = "volume",
     .type = VALUE_NAME,
     .names = volume_names,
     .offset = FIELD(volume),
     .initial = "divergence",
     .meaning =
         "How the volume is computed: exactly from the faces, or estimated from the bounding box."},
};
#undef FIELD
SCHEMA_TABLE(schema_pressure, "pressure", "'pressure'", pressure_keys);

#define FIELD(name) offsetof(struct scene_drive, name)
static const struct schema_key drive_keys[] = {
    {.name = "node",
     .shown = "`first`, `last` or a number",
     .absent = "`nodes` is given",
     .meaning = "The kinematic node; exactly one of `node` and `nodes`."},
    {.name = "nodes",
     .shown = "list of selections",
     .absent = "`node` is given",
     .meaning = "The kinematic nodes, which move together."},
    {.name = "velocity",
     .shown = "list of `[time, [x, y, z]]`, or one vector",
     .unit = "s, m/s",
     .absent = "0; an error without `angular_velocity`",
     .meaning = "The velocity from each time on; zero before the first. A single vector applies "
                "from the start."},
    {.name = "angular_velocity",
     .shown = "list of `[time, [x, y, z]]`, or one vector",
     .unit = "s, degrees/s",
     .absent = "0",
     .meaning = "The angular velocity likewise: the vector is the axis, its length the speed."},
    {.name = "center",
     .type = VALUE_VECTOR,
     .offset = FIELD(center),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "The point about which the nodes turn, at time 0; it moves with `velocity`. Only "
                "with `angular_velocity`."},
};
#undef FIELD
SCHEMA_TABLE(schema_drive, "drive", "a drive", drive_keys);

// ---- Each type of body

#define SHAPE(field) offsetof(struct scene_body, shape.field)

static const char *const rope_link_names[] = {"chain", "skip", "all", NULL};
static const char *const oscillator_model_names[] = {"spring", "closed_form", NULL};
static const char *const pendulum_model_names[] = {"spring", "equation", "small_angle", NULL};

#define SPRING_KEY                                                                                 \
    {                                                                                              \
        .name = "spring", .shown = "material", .absent = "the body's common keys",                 \
        .meaning = "One material for all kinds of springs that are built without `springs`."       \
    }
#define SPRINGS_KEY                                                                                \
    {                                                                                              \
        .name = "springs", .shown = "mapping of kind: material",                                   \
        .absent = "`spring`, or the body's common keys",                                           \
        .meaning = "A material for each kind of springs; a kind that is not named is not built."   \
    }
#define DAMPING_RATIO_KEY(of)                                                                      \
    {                                                                                              \
        .name = "damping_ratio", .type = VALUE_NUMBER,                                             \
        .offset = offsetof(struct scene_body, damping_ratio), .range = RANGE_NOT_NEGATIVE,         \
        .initial = "0", .meaning = "The damping of " of                                            \
    }
#define RAYLEIGH_KEY(materials)                                                                    \
    {                                                                                              \
        .name = "rayleigh", .shown = "mapping", .absent = "`damping_ratio`",                       \
        .meaning = "Damping proportional to mass and to stiffness, instead of `damping_ratio`; "   \
                   "only with " materials "."                                                      \
    }
// Keys of the types whose masses and constants may follow from a material.
#define ELASTIC_KEYS                                                                               \
    {.name = "elastic",                                                                            \
     .shown = "mapping or name of a solid",                                                        \
     .absent = "`mass` and spring constants are given",                                            \
     .meaning = "The material in SI units, instead of mass and spring constants; stretch and "     \
                "shear under load then do not depend on the distance of nodes."},                  \
        DAMPING_RATIO_KEY("each spring as a fraction of the critical damping of the spring "       \
                          "between two nodes inside; only with `elastic` or `fabric`."),           \
        RAYLEIGH_KEY("`elastic` or `fabric`")
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
     .meaning = "The position of node 0."},
    {.name = "to",
     .type = VALUE_VECTOR,
     .offset = SHAPE(rope.to),
     .unit = "m",
     .required = true,
     .meaning = "The position of the last node."},
    {.name = "nodes",
     .type = VALUE_COUNT,
     .offset = SHAPE(rope.nodes),
     .range = RANGE_UP_TO(2, NODES_MAX),
     .required = true,
     .meaning = "The number of nodes."},
    {.name = "links",
     .type = VALUE_NAME,
     .names = rope_link_names,
     .offset = SHAPE(rope.links),
     .initial = "chain",
     .meaning = "Connects each node to the next, also to the second next, or each to each."},
    SPRING_KEY,
    {.name = "springs",
     .shown = "mapping of kind: material",
     .absent = "`spring`, or the body's common keys",
     .meaning = "A material for each kind of springs that `links` builds."},
    ELASTIC_KEYS,
};

static const struct schema_key cloth_keys[] = {
    {.name = "origin",
     .type = VALUE_VECTOR,
     .offset = SHAPE(cloth.origin),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "The position of node 0."},
    {.name = "u",
     .type = VALUE_VECTOR,
     .offset = SHAPE(cloth.u),
     .unit = "m",
     .required = true,
     .meaning = "The edge vector along i."},
    {.name = "v",
     .type = VALUE_VECTOR,
     .offset = SHAPE(cloth.v),
     .unit = "m",
     .required = true,
     .meaning = "The edge vector along j."},
    {.name = "nodes",
     .type = VALUE_COUNTS_2,
     .offset = SHAPE(cloth.nodes_u),
     .range = RANGE_UP_TO(2, NODES_MAX),
     .required = true,
     .meaning = "The number of nodes along u and along v."},
    {.name = "links",
     .shown = "`all`",
     .absent = "the grid's kinds",
     .meaning = "Connects each node to each, by springs of the kind `all`."},
    SPRING_KEY,
    SPRINGS_KEY,
    {.name = "fabric",
     .shown = "mapping or name of a fabric",
     .absent = "`elastic`, or `mass` and spring constants are given",
     .meaning = "The fabric in SI units, instead of mass and spring constants; stretch and shear "
                "under load then do not depend on `nodes`."},
    ELASTIC_KEYS,
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
     .meaning = "The number of nodes."},
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
     .meaning = "The position of node 0."},
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

// The material of a surface of triangles.
#define WALL_KEYS                                                                                  \
    {.name = "elastic",                                                                            \
     .shown = "mapping or name of a solid",                                                        \
     .absent = "`mass` and spring constants are given",                                            \
     .meaning =                                                                                    \
         "The material of the wall in SI units, instead of mass and springs; the triangles "       \
         "are then those of an isotropic shell, whatever their shapes and sizes, which also "      \
         "resists bending from its shape as built."},                                              \
        DAMPING_RATIO_KEY(                                                                         \
            "each triangle as a fraction of its critical damping; only with `elastic`."),          \
        RAYLEIGH_KEY("`elastic`")

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
     .meaning = "The number of times that each triangle of the icosahedron is divided into four."},
    SPRING_KEY,
    SPRINGS_KEY,
    WALL_KEYS,
    PRESSURE_KEY,
};

static const struct schema_key lattice_keys[] = {
    {.name = "origin",
     .type = VALUE_VECTOR,
     .offset = SHAPE(lattice.origin),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "The position of node 0, the corner with the smallest coordinates."},
    {.name = "nodes",
     .type = VALUE_COUNTS_3,
     .offset = SHAPE(lattice.nodes_x),
     .range = RANGE_UP_TO(1, NODES_MAX),
     .required = true,
     .meaning = "The number of nodes along x, y and z."},
    {.name = "spacing",
     .type = VALUE_NUMBER,
     .offset = SHAPE(lattice.spacing),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .required = true,
     .meaning = "The distance between neighbours along an axis."},
    {.name = "shells",
     .type = VALUE_SMALL,
     .offset = SHAPE(lattice.shells),
     .range = RANGE_UP_TO(1, 2),
     .initial = "1",
     .meaning =
         "1: springs to the 26 nearest neighbours; 2: also to the 26 at twice the distance."},
    SPRING_KEY,
    SPRINGS_KEY,
    ELASTIC_KEYS,
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
     .meaning = "The factor applied to every coordinate, before rotation and translation."},
    SPRING_KEY,
    SPRINGS_KEY,
    WALL_KEYS,
    PRESSURE_KEY,
};

static const struct schema_key network_keys[] = {
    {.name = "nodes",
     .shown = "list of `[x, y, z]`",
     .unit = "m",
     .absent = "`nodes_file` is given",
     .meaning = "The position of each node."},
    {.name = "springs",
     .shown = "list of `[a, b]` or `[a, b, material]`",
     .absent = "none",
     .meaning = "The two nodes of each spring, and optionally its own material."},
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
     .meaning = "A simulated spring, or the closed form x = A cos(ωt + φ)."},
    {.name = "anchor",
     .type = VALUE_VECTOR,
     .offset = SHAPE(oscillator.anchor),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "The position of the fixed end of the spring."},
    {.name = "axis",
     .type = VALUE_DIRECTION,
     .offset = SHAPE(oscillator.axis),
     .initial = "[1, 0, 0]",
     .meaning = "The direction from the anchor to the mass; it is normalised."},
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
     .meaning = "A stiff spring, the equation θ'' = −(g/r) sin θ integrated, or its small-angle "
                "solution."},
    {.name = "pivot",
     .type = VALUE_VECTOR,
     .offset = SHAPE(pendulum.pivot),
     .unit = "m",
     .initial = "[0, 0, 0]",
     .meaning = "The position of the pivot."},
    {.name = "length",
     .type = VALUE_NUMBER,
     .offset = SHAPE(pendulum.length),
     .range = RANGE_POSITIVE,
     .unit = "m",
     .required = true,
     .meaning = "The distance from the pivot to the mass."},
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
     .meaning = "The direction of the swing; only its component perpendicular to gravity is used."},
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
