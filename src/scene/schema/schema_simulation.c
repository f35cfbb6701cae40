// The keys of a scene that are not about bodies and colliders.
#include "scene/schema/schema.h"

#include <math.h>

static const char *const precision_names[] = {"single", "double", NULL};

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
     .meaning = "A name for people; it changes nothing."},
    {.name = "precision",
     .type = VALUE_NAME,
     .names = precision_names,
     .offset = offsetof(taut_scene, precision),
     .initial = "single",
     .meaning = "The floating-point numbers that the run computes with."},
    {.name = "simulation",
     .shown = "mapping",
     .required = true,
     .meaning = "How time is stepped, and for how long."},
    {.name = "environment",
     .shown = "mapping",
     .absent = "empty space",
     .meaning = "Gravity, air and wind, the same for every body."},
    {.name = "materials",
     .shown = "mapping of name: material",
     .absent = "none",
     .meaning = "Spring materials to share, by a YAML alias or by name."},
    {.name = "bodies",
     .shown = "list of bodies",
     .required = true,
     .meaning = "What is simulated: at least one body."},
    {.name = "colliders",
     .shown = "list of colliders",
     .absent = "none",
     .meaning = "What nodes may run into."},
    {.name = "initial",
     .shown = "path of a CSV file",
     .absent = "as the bodies are built",
     .meaning = "Where the nodes are at the start, and how fast: a file that `taut run --state` "
                "has written."},
    {.name = "output",
     .shown = "mapping",
     .absent = "the energy table only",
     .meaning = "What a run records, and how often."},
};
SCHEMA_TABLE(schema_scene, "scene", "the scene", scene_keys);

#define FIELD(name) offsetof(struct scene_simulation, name)
static const struct schema_key simulation_keys[] = {
    {.name = "integrator",
     .type = VALUE_NAME,
     .names = integrator_names,
     .offset = FIELD(integrator),
     .initial = "symplectic_euler",
     .meaning = "The rule of a step."},
    {.name = "dt",
     .shown = "number or `auto`",
     .range = RANGE_POSITIVE,
     .unit = "s",
     .required = true,
     .meaning = "The step; `auto` takes the fraction `safety` of the guaranteed critical step, and "
                "follows it as the state changes."},
    {.name = "safety",
     .type = VALUE_NUMBER,
     .offset = FIELD(safety),
     .range = RANGE_FRACTION,
     .initial = "0.8",
     .meaning = "The fraction of the critical step; only with `dt: auto`."},
    {.name = "duration",
     .type = VALUE_NUMBER,
     .offset = FIELD(duration),
     .range = RANGE_POSITIVE,
     .unit = "s",
     .absent = "`steps` is given",
     .meaning = "How much time is simulated; exactly one of `duration` and `steps`."},
    {.name = "steps",
     .type = VALUE_COUNT,
     .offset = FIELD(steps),
     .range = RANGE_UP_TO(0, STEPS_MAX),
     .absent = "`duration` is given",
     .meaning = "How many steps are done."},
    {.name = "keep_velocity",
     .type = VALUE_NUMBER,
     .offset = FIELD(keep_velocity),
     .range = RANGE_FRACTION,
     .initial = "1",
     .meaning = "The factor that every velocity is multiplied by after a step."},
    {.name = "position_step",
     .type = VALUE_NUMBER,
     .offset = FIELD(position_step),
     .range = RANGE_POSITIVE,
     .unit = "s",
     .absent = "`dt`",
     .meaning = "A step of its own for the positions; only with `symplectic_euler`."},
    {.name = "implicit",
     .shown = "mapping",
     .absent = "the defaults",
     .meaning = "How the equations of a step are solved; only with `implicit_euler`, "
                "`implicit_midpoint` and `bdf2`."},
    {.name = "substeps",
     .type = VALUE_COUNT,
     .offset = FIELD(substeps),
     .range = RANGE_UP_TO(1, 1000000),
     .initial = "10",
     .meaning = "How many small steps make a step; only with `xpbd`."},
    {.name = "iterations",
     .type = VALUE_COUNT,
     .offset = FIELD(iterations),
     .range = RANGE_UP_TO(1, 1000000),
     .initial = "1",
     .meaning = "How often each small step goes over the springs; only with `xpbd`."},
};
#undef FIELD
SCHEMA_TABLE(schema_simulation, "simulation", "'simulation'", simulation_keys);

#define FIELD(name) offsetof(struct scene_implicit, name)
static const struct schema_key implicit_keys[] = {
    {.name = "tolerance",
     .type = VALUE_NUMBER,
     .offset = FIELD(tolerance),
     .range = RANGE_FRACTION,
     .initial = "1e-4",
     .meaning = "What a solve may leave of the residual that it starts with."},
    {.name = "iterations",
     .type = VALUE_COUNT,
     .offset = FIELD(iterations),
     .range = RANGE_UP_TO(1, 1000000),
     .initial = "5000",
     .meaning = "Iterations of conjugate gradients in a linear system, at most."},
    {.name = "newton",
     .type = VALUE_COUNT,
     .offset = FIELD(newton),
     .range = RANGE_UP_TO(1, 1000),
     .initial = "1",
     .meaning = "Linear systems a step, at most; above 1 Newton's method goes on until the "
                "residual of the step has fallen to `tolerance`."},
    {.name = "line_search",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(line_search),
     .initial = "true",
     .meaning = "Whether Newton's method halves steps that do not lessen the residual; only with "
                "`newton` above 1."},
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
     .meaning = "The acceleration of free fall."},
    {.name = "air_drag",
     .type = VALUE_NUMBER,
     .offset = FIELD(air_drag),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "kg/s",
     .initial = "0",
     .meaning = "The drag c of every node: F = −c v."},
    {.name = "wind",
     .shown = "mapping",
     .absent = "no wind",
     .meaning = "Moving air that pushes on faces."},
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
     .meaning = "How air becomes force: along the normal of each node, of each face, or as the "
                "drag of a plate."},
    {.name = "coefficient",
     .type = VALUE_NUMBER,
     .offset = FIELD(coefficient),
     .range = RANGE_NOT_NEGATIVE,
     .unit = "kg/s (`node`), kg/(m² s) (`face`)",
     .initial = "1",
     .meaning = "The factor of the laws `node` and `face`."},
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
     .meaning = "Whether the velocity of the body counts against the wind's."},
    {.name = "gusts",
     .shown = "list of gusts",
     .absent = "none",
     .meaning = "Sinusoids that are added to the velocity."},
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
     .meaning = "What the gust adds at its peak."},
    {.name = "period",
     .type = VALUE_NUMBER,
     .offset = FIELD(period),
     .range = RANGE_POSITIVE,
     .unit = "s",
     .required = true,
     .meaning = "The time from peak to peak."},
    {.name = "phase",
     .type = VALUE_NUMBER,
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
     .offset = FIELD(every),
     .range = RANGE_POSITIVE,
     .unit = "s",
     .absent = "about a hundred rows of energy over the run",
     .meaning = "Simulated time between two frames; at most one of `every` and `every_steps`."},
    {.name = "every_steps",
     .type = VALUE_COUNT,
     .offset = FIELD(every_steps),
     .range = RANGE_UP_TO(1, STEPS_MAX),
     .absent = "`every` counts",
     .meaning = "Steps between two frames."},
    {.name = "vtp",
     .shown = "`true`, `false` or mapping",
     .absent = "false",
     .meaning = "Frames for ParaView: one `.vtp` each, and a `.pvd` that lists them; a mapping, "
                "which may be empty, says what else is in them."},
    {.name = "pc2",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(pc2),
     .initial = "false",
     .meaning = "Frames for Blender: a rest mesh `.obj` and a point cache `.pc2` for each body."},
    {.name = "work",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(work),
     .initial = "true",
     .meaning = "Whether the work of damping, drag, friction, wind and drives is accounted for."},
    {.name = "probes",
     .shown = "list of probes",
     .absent = "none",
     .meaning = "Nodes whose position and velocity go to `probes.csv`."},
};
#undef FIELD
SCHEMA_TABLE(schema_output, "output", "'output'", output_keys);

#define FIELD(name) offsetof(struct scene_output, name)
static const struct schema_key vtp_keys[] = {
    {.name = "springs",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(vtp_springs),
     .initial = "false",
     .meaning =
         "Also the springs of bodies that have triangles; those of other bodies, and springs "
         "that break or yield, are always there."},
    {.name = "forces",
     .type = VALUE_BOOLEAN,
     .offset = FIELD(vtp_forces),
     .initial = "false",
     .meaning = "Also the force on each node, which takes an evaluation of the forces a frame."},
};
#undef FIELD
SCHEMA_TABLE(schema_vtp, "vtp", "'vtp'", vtp_keys);

static const struct schema_key probe_keys[] = {
    {.name = "body", .shown = "name of a body", .required = true, .meaning = "Whose node it is."},
    {.name = "node",
     .shown = "`first`, `last` or a number",
     .required = true,
     .meaning = "The node, by the body's own numbering."},
    {.name = "every_steps",
     .type = VALUE_COUNT,
     .offset = offsetof(struct scene_probe, every_steps),
     .range = RANGE_UP_TO(1, STEPS_MAX),
     .initial = "1",
     .meaning = "Steps between two rows."},
};
SCHEMA_TABLE(schema_probe, "probe", "a probe", probe_keys);
