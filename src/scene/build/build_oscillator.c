// Builds single masses: on a spring along an axis, or on a pendulum. Node 0 is the pinned anchor or
// pivot, node 1 the mass, moved by a spring or a closed form. Anchor and axes are placed here,
// since the equilibrium depends on their angle to gravity.
#include "base/memory.h"
#include "scene/build/build.h"

static double radians(double degrees)
{
    return degrees * (3.14159265358979323846 / 180.0);
}

// Allocates two nodes of the same mass (the anchor's does not matter, but must be above 0), with or
// without a spring between them.
static taut_status allocate_pair(struct build *build, bool spring)
{
    const struct scene_body *given = build->given;
    struct body *body = build->body;
    struct build_counts counts = {.nodes = 2, .springs = {spring ? 1 : 0}};
    taut_status status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    double mass = given->mass_per_node ? given->node_mass : given->mass;
    body->masses[0] = body->masses[1] = mass;
    body->kinematic[0] = NODE_PINNED;
    if (spring)
        body->springs[0][1] = 1;
    build->has_masses = true;
    build->placed = true;
    return TAUT_OK;
}

// Prescribes the motion of node 1.
static taut_status prescribe(struct build *build, const struct motion *motion)
{
    struct body *body = build->body;
    body->motions = memory_allocate(NULL, 1, sizeof *body->motions);
    if (!body->motions)
        return build_no_memory(build);
    body->motions[0] = *motion;
    body->motions[0].node = 1;
    body->motion_count = 1;
    body->kinematic[1] = NODE_MOVED;
    return TAUT_OK;
}

// The quantities of x(t) = A e^(-decay t) cos(omega_d t + phase) that do not depend on the
// position.
struct oscillation {
    double omega, decay;        // undamped; (c + drag) / 2m
    double displacement, speed; // at t = 0
};

static struct oscillation oscillation(const struct build *build, double mass)
{
    const struct scene_oscillator *given = &build->given->shape.oscillator;
    const struct material *spring = &build->body->materials[0];
    struct oscillation motion;
    double phase = radians(given->phase);
    motion.omega = sqrt(spring->stiffness / mass);
    motion.decay = (spring->damping + build->scene->environment.air_drag) / (2.0 * mass);
    double square = motion.omega * motion.omega - motion.decay * motion.decay;
    double damped = square > 0.0 ? sqrt(square) : 0.0;
    motion.displacement = given->amplitude * cos(phase);
    motion.speed = -given->amplitude * (motion.decay * cos(phase) + damped * sin(phase));
    return motion;
}

static taut_status check_oscillator(struct build *build, const struct oscillation *motion)
{
    const struct scene_body *given = build->given;
    const struct material *spring = &build->body->materials[0];
    if (spring->law == LAW_RIGID)
        return build_refuse(build, given->at, "oscillator '%s' cannot swing on a rigid spring",
                            given->name);
    if (!(spring->stiffness > 0.0))
        return build_refuse(build, given->at, "oscillator '%s' needs a stiffness above 0",
                            given->name);
    if (given->shape.oscillator.model != OSCILLATOR_CLOSED_FORM)
        return TAUT_OK;
    if (spring->law != LAW_LINEAR || isfinite(spring->break_at) || isfinite(spring->yield_at))
        return build_refuse(build, given->at,
                            "oscillator '%s': the closed form is that of a linear spring that "
                            "neither breaks nor yields; use model: spring",
                            given->name);
    if (motion->decay >= motion->omega)
        return build_refuse(build, given->at,
                            "oscillator '%s' is over-damped (damping / 2m = %g 1/s, sqrt(k/m) = %g "
                            "1/s): the closed form is that of an oscillation; use model: spring",
                            given->name, motion->decay, motion->omega);
    return TAUT_OK;
}

// On the other side of its anchor a spring pulls in the opposite direction, which the closed form
// does not include.
static void warn_of_oscillator(struct build *build, vec3 axis, double equilibrium)
{
    const struct scene_body *given = build->given;
    vec3 gravity = build->scene->environment.gravity;
    vec3 across = vec3_subtract(gravity, vec3_scale(vec3_dot(gravity, axis), axis));
    if (given->shape.oscillator.model != OSCILLATOR_SPRING)
        return;
    if (vec3_length(across) > 1e-9 * vec3_length(gravity))
        build_warn(build, given->at,
                   "gravity pulls across the axis of oscillator '%s', so that it will swing too",
                   given->name);
    if (equilibrium - fabs(given->shape.oscillator.amplitude) <= 0.0)
        build_warn(build, given->at,
                   "the mass of oscillator '%s' reaches its anchor: amplitude %g m, %g m between "
                   "anchor and equilibrium",
                   given->name, given->shape.oscillator.amplitude, equilibrium);
}

taut_status build_oscillator(struct build *build)
{
    const struct scene_body *given = build->given;
    const struct scene_oscillator *shape = &given->shape.oscillator;
    struct material *spring = &build->body->materials[0];
    bool closed_form = shape->model == OSCILLATOR_CLOSED_FORM;
    double mass = given->mass_per_node ? given->node_mass : given->mass;
    if (!(vec3_length(shape->axis) > 0.0))
        return build_refuse(build, given->at, "oscillator '%s' needs an axis that is not 0",
                            given->name);
    struct oscillation motion = oscillation(build, mass);
    taut_status status = check_oscillator(build, &motion);
    if (status == TAUT_OK)
        status = allocate_pair(build, !closed_form);
    if (status != TAUT_OK)
        return status;

    if (!spring->has_rest_length)
        spring->rest_length = 1.0;
    spring->has_rest_length = true;
    vec3 axis = rotate(&build->rotation, vec3_scale(1.0 / vec3_length(shape->axis), shape->axis));
    vec3 anchor = build_position(build, shape->anchor);
    double pull = vec3_dot(build->scene->environment.gravity, axis);
    double equilibrium = spring->rest_length + mass * pull / spring->stiffness;
    double position = equilibrium + motion.displacement;
    vec3_store(build->body->positions, 0, anchor);
    vec3_store(build->body->positions, 1, vec3_add(anchor, vec3_scale(position, axis)));
    vec3_store(build->body->velocities, 1, vec3_scale(motion.speed, axis));
    build->has_velocities = true;
    warn_of_oscillator(build, axis, equilibrium);
    if (!closed_form)
        return TAUT_OK;
    struct motion law = {.type = MOTION_OSCILLATOR,
                         .origin = vec3_add(anchor, vec3_scale(equilibrium, axis)),
                         .axis = axis,
                         .amplitude = shape->amplitude,
                         .phase = radians(shape->phase),
                         .omega = motion.omega,
                         .decay = motion.decay};
    return prescribe(build, &law);
}

// The axes of a pendulum: down, and perpendicular to it towards the given direction.
static taut_status pendulum_axes(struct build *build, vec3 *down, vec3 *across)
{
    const struct scene_body *given = build->given;
    vec3 gravity = build->scene->environment.gravity;
    double pull = vec3_length(gravity);
    if (!(pull > 0.0))
        return build_refuse(build, given->at, "pendulum '%s' needs gravity", given->name);
    *down = vec3_scale(1.0 / pull, gravity);
    vec3 direction = rotate(&build->rotation, given->shape.pendulum.direction);
    vec3 part = vec3_subtract(direction, vec3_scale(vec3_dot(direction, *down), *down));
    double length = vec3_length(part);
    if (!(length > 1e-9 * vec3_length(direction)))
        return build_refuse(build, given->at,
                            "pendulum '%s' needs a direction that is not along gravity",
                            given->name);
    *across = vec3_scale(1.0 / length, part);
    return TAUT_OK;
}

static taut_status check_pendulum(struct build *build)
{
    const struct scene_body *given = build->given;
    const struct scene_pendulum *shape = &given->shape.pendulum;
    const struct material *spring = &build->body->materials[0];
    if (!(shape->length > 0.0))
        return build_refuse(build, given->at, "pendulum '%s' needs a length above 0", given->name);
    if (shape->model == PENDULUM_SPRING && spring->law != LAW_RIGID && !(spring->stiffness > 0.0))
        return build_refuse(build, given->at, "pendulum '%s' on a spring needs a stiffness above 0",
                            given->name);
    return TAUT_OK;
}

taut_status build_pendulum(struct build *build)
{
    const struct scene_pendulum *shape = &build->given->shape.pendulum;
    bool on_spring = shape->model == PENDULUM_SPRING;
    vec3 down = {0}, across = {0};
    taut_status status = check_pendulum(build);
    if (status == TAUT_OK)
        status = pendulum_axes(build, &down, &across);
    if (status == TAUT_OK)
        status = allocate_pair(build, on_spring);
    if (status != TAUT_OK)
        return status;

    double angle = radians(shape->angle);
    vec3 pivot = build_position(build, shape->pivot);
    vec3 arm = vec3_add(vec3_scale(cos(angle), down), vec3_scale(sin(angle), across));
    vec3_store(build->body->positions, 0, pivot);
    vec3_store(build->body->positions, 1, vec3_add(pivot, vec3_scale(shape->length, arm)));
    if (on_spring)
        return TAUT_OK;
    build->has_velocities = true;
    double pull = vec3_length(build->scene->environment.gravity);
    struct motion law = {.type = shape->model == PENDULUM_EQUATION ? MOTION_PENDULUM
                                                                   : MOTION_SMALL_ANGLE,
                         .origin = pivot,
                         .axis = across,
                         .down = down,
                         .amplitude = angle,
                         .omega = sqrt(pull / shape->length),
                         .length = shape->length};
    return prescribe(build, &law);
}
