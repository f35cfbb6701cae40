// Kinematic nodes that move: drives (a velocity and an angular velocity given piecewise in time),
// oscillators in closed form, pendulums by their own equation or by the small-angle formula, and
// nodes with an interactive target. Positions are stored in double; worker 0 sets them, because
// there are few. Every rank knows all motions, and moves its own nodes.
#include "base/memory.h"
#include "integrate/integrate.h"
#include "scene/rotation.h"
#include "springs/exchange.h"
#include "state/reading.h"

// Position and velocity of a kinematic node, with the state of pendulums.
struct placement {
    vec3 position, velocity;
    double angle, rate;
};

// The integral of a drive's velocity over [from, to]; exact, whichever pieces begin in between.
static vec3 drive_displacement(const struct motion *motion, double from, double to)
{
    vec3 moved = {0, 0, 0};
    for (size_t p = 0; p < motion->piece_count; p++) {
        double begin = motion->pieces[p].start;
        double end = p + 1 < motion->piece_count ? motion->pieces[p + 1].start : INFINITY;
        double first = fmax(begin, from), last = fmin(end, to);
        if (last > first)
            moved = vec3_add(moved, vec3_scale(last - first, motion->pieces[p].velocity));
    }
    return moved;
}

// The point about which a drive turns.
static vec3 drive_centre(const struct motion *motion, double time)
{
    return vec3_add(motion->origin, drive_displacement(motion, 0, time));
}

// Where a drive takes a node from one time to another; exact, as the displacement is.
static vec3 drive_position(const struct motion *motion, vec3 position, double from, double to)
{
    if (!motion->turns)
        return vec3_add(position, drive_displacement(motion, from, to));
    vec3 arm = vec3_subtract(position, drive_centre(motion, from));
    for (size_t p = 0; p < motion->piece_count; p++) {
        double begin = motion->pieces[p].start;
        double end = p + 1 < motion->piece_count ? motion->pieces[p + 1].start : INFINITY;
        double duration = fmin(end, to) - fmax(begin, from);
        const vec3 axis = motion->pieces[p].angular_velocity; // its length: degrees/s
        if (!(duration > 0))
            continue;
        const struct rotation turn = rotation_about(axis, duration * vec3_length(axis));
        arm = rotate(&turn, arm);
    }
    return vec3_add(drive_centre(motion, to), arm);
}

// The velocity of a driven node at `position`. A piece that begins within `tolerance` counts as
// begun: times are multiples of dt, rounded.
static vec3 drive_velocity(const struct motion *motion, vec3 position, double time,
                           double tolerance)
{
    const double radians = 3.14159265358979323846 / 180;
    const struct drive_piece *now = NULL;
    for (size_t p = 0; p < motion->piece_count && motion->pieces[p].start <= time + tolerance; p++)
        now = &motion->pieces[p];
    if (!now)
        return vec3_make(0, 0, 0);
    if (!motion->turns)
        return now->velocity;
    const vec3 arm = vec3_subtract(position, drive_centre(motion, time));
    return vec3_add(now->velocity, vec3_cross(vec3_scale(radians, now->angular_velocity), arm));
}

// A e^(-decay t) cos(omega_d t + phase) along the axis.
static struct placement oscillator_at(const struct motion *motion, double time)
{
    double omega = sqrt(motion->omega * motion->omega - motion->decay * motion->decay);
    double angle = omega * time + motion->phase;
    double envelope = motion->amplitude * exp(-motion->decay * time);
    double offset = envelope * cos(angle);
    double speed = -motion->decay * offset - omega * envelope * sin(angle);
    return (struct placement){vec3_add(motion->origin, vec3_scale(offset, motion->axis)),
                              vec3_scale(speed, motion->axis), 0, 0};
}

static struct placement pendulum_at(const struct motion *motion, double angle, double rate)
{
    double reach = motion->length * cos(angle), side = motion->length * sin(angle);
    vec3 arm = vec3_add(vec3_scale(reach, motion->down), vec3_scale(side, motion->axis));
    vec3 along = vec3_subtract(vec3_scale(reach, motion->axis), vec3_scale(side, motion->down));
    return (struct placement){vec3_add(motion->origin, arm), vec3_scale(rate, along), angle, rate};
}

// theta'' = -omega^2 sin(theta) by one classical Runge-Kutta step (Jastrzebski 3.8).
static struct placement pendulum_step(const struct motion *motion, double angle, double rate,
                                      double h)
{
    double square = motion->omega * motion->omega;
    double k1 = rate, l1 = -square * sin(angle);
    double k2 = rate + h / 2 * l1, l2 = -square * sin(angle + h / 2 * k1);
    double k3 = rate + h / 2 * l2, l3 = -square * sin(angle + h / 2 * k2);
    double k4 = rate + h * l3, l4 = -square * sin(angle + h * k3);
    return pendulum_at(motion, angle + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4),
                       rate + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4));
}

static struct placement placement_after(const struct system *system, size_t index, double elapsed)
{
    const struct motion *motion = &system->topology->motions[index];
    const struct state *s = system->state;
    double dt = system->settings.dt;
    double start = step_time(system, s->step); // exactly the end of the last step
    double steps = (double)(s->step - system->settings.dt_step) + elapsed / dt;
    double time = system->settings.dt_time + steps * dt;
    switch (motion->type) {
    case MOTION_OSCILLATOR:
        return oscillator_at(motion, time);
    case MOTION_PENDULUM:
        return pendulum_step(motion, s->motion_angle[index], s->motion_rate[index], elapsed);
    case MOTION_SMALL_ANGLE:
        return pendulum_at(motion, motion->amplitude * cos(motion->omega * time),
                           -motion->amplitude * motion->omega * sin(motion->omega * time));
    case MOTION_DRIVE:
        break;
    }
    const vec3 position = drive_position(motion, s->motion_position[index], start, time);
    return (struct placement){position, drive_velocity(motion, position, time, 1e-9 * dt), 0, 0};
}

// A drive or a target never moves below a plane marked blocks_drives; its velocity into the plane
// becomes 0 (NeHe's rope connection).
static void block_by_planes(const struct topology *topology, struct placement *placement)
{
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *plane = &topology->colliders[c];
        if (plane->type != COLLIDER_PLANE || !plane->blocks_drives)
            continue;
        double height = vec3_dot(vec3_subtract(placement->position, plane->point), plane->normal);
        if (height >= 0)
            continue;
        placement->position = vec3_subtract(placement->position, vec3_scale(height, plane->normal));
        double into = vec3_dot(placement->velocity, plane->normal);
        if (into < 0)
            placement->velocity =
                vec3_subtract(placement->velocity, vec3_scale(into, plane->normal));
    }
}

static void write_node(struct state *s, uint32_t node, const struct placement *placement)
{
    state_put(s, node, placement->position);
    state_put_velocity(s, node, placement->velocity);
}

// ---- All moving kinematic nodes: those with a motion of the scene, and then those with a target,
// which takes precedence for a node that has both.

static size_t moving_count(const struct system *system)
{
    return system->topology->motion_count + system->kinematic_targets.count;
}

static uint32_t moving_node(const struct system *system, size_t index)
{
    const struct topology *topology = system->topology;
    return index < topology->motion_count
               ? topology->motions[index].node
               : system->kinematic_targets.items[index - topology->motion_count].node;
}

static struct placement moving_placement(const struct system *system, size_t index, double elapsed)
{
    const struct topology *topology = system->topology;
    struct placement placement;
    bool may_be_blocked = true;
    if (index < topology->motion_count) {
        placement = placement_after(system, index, elapsed);
        may_be_blocked = topology->motions[index].type == MOTION_DRIVE;
    } else {
        const struct kinematic_target *target =
            &system->kinematic_targets.items[index - topology->motion_count];
        vec3 moved = vec3_scale(elapsed, target->velocity);
        placement = (struct placement){vec3_add(target->position, moved), target->velocity, 0, 0};
    }
    if (may_be_blocked)
        block_by_planes(topology, &placement);
    return placement;
}

// ---- Changes of velocity, at which powers jump

static struct kinematic_target *target_of(struct system *system, uint32_t node)
{
    for (size_t i = 0; i < system->kinematic_targets.count; i++)
        if (system->kinematic_targets.items[i].node == node)
            return &system->kinematic_targets.items[i];
    return NULL;
}

// Stores the velocity of a node up to the end of the step. Returns whether its drive changes it
// there.
static bool note_jump(struct system *system, size_t index, const struct placement *end,
                      double elapsed)
{
    const struct topology *topology = system->topology;
    const struct motion *motion = &topology->motions[index];
    if (index >= topology->motion_count || motion->type != MOTION_DRIVE ||
        target_of(system, motion->node))
        return false;
    const double time = step_time(system, system->state->step) + elapsed;
    const double tolerance = 1e-9 * system->settings.dt;
    vec3 before = drive_velocity(motion, end->position, time, -tolerance);
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *plane = &topology->colliders[c];
        if (plane->type != COLLIDER_PLANE || !plane->blocks_drives)
            continue;
        const double into = vec3_dot(before, plane->normal);
        const double height = vec3_dot(vec3_subtract(end->position, plane->point), plane->normal);
        if (into < 0 && height <= -into * tolerance)
            before = vec3_subtract(before, vec3_scale(into, plane->normal));
    }
    system->state->motion_velocity[index] = before;
    const vec3 change = vec3_subtract(end->velocity, before);
    return vec3_dot(change, change) > 0;
}

bool REAL_NAME(kinematic_swap_velocities)(struct system *system, const struct worker *worker)
{
    if (!system->drives_jump)
        return false;
    const struct topology *topology = system->topology;
    struct state *s = system->state;
    worker_barrier(worker); // all have read the velocities
    for (size_t i = 0; worker->index == 0 && i < topology->motion_count; i++) {
        const uint32_t node = topology->motions[i].node;
        if (topology->motions[i].type != MOTION_DRIVE || target_of(system, node) ||
            !exchange_owns(system, node))
            continue;
        const vec3 now = node_velocity(s, node), other = s->motion_velocity[i];
        state_put_velocity(s, node, other);
        s->motion_velocity[i] = now;
    }
    worker_barrier(worker);
    return true;
}

static void store_placement(struct system *system, size_t index, const struct placement *placement)
{
    const size_t motion_count = system->topology->motion_count;
    struct state *s = system->state;
    if (index >= motion_count) {
        system->kinematic_targets.items[index - motion_count].position = placement->position;
        return;
    }
    s->motion_position[index] = placement->position;
    s->motion_angle[index] = placement->angle;
    s->motion_rate[index] = placement->rate;
}

// The position of a node at the end of the last step.
static vec3 placed_before(const struct system *system, size_t index)
{
    const size_t motion_count = system->topology->motion_count;
    return index < motion_count ? system->state->motion_position[index]
                                : system->kinematic_targets.items[index - motion_count].position;
}

// Stores the position from which a node starts, for a step that has to be cut. A node that has both
// a motion and a target is listed with its target only.
static void note_start(struct system *system, size_t index, vec3 position)
{
    const uint32_t node = moving_node(system, index);
    if (index >= system->topology->motion_count || !target_of(system, node))
        REAL_NAME(surface_contact_drive)(system, node, position);
}

static void note_starts(struct system *system)
{
    const size_t count = moving_count(system);
    REAL_NAME(surface_contact_drive_none)(system);
    for (size_t i = 0; i < count; i++)
        note_start(system, i, placed_before(system, i));
}

static void place_all(struct system *system, double elapsed, bool advance,
                      const struct worker *worker)
{
    const size_t count = moving_count(system);
    if (worker->index == 0 && advance && system->settings.integrator != INTEGRATOR_XPBD)
        note_starts(system);
    if (count == 0)
        return;
    bool jumps = false;
    for (size_t i = 0; worker->index == 0 && i < count; i++) {
        struct placement placement = moving_placement(system, i, elapsed);
        if (exchange_owns(system, moving_node(system, i)))
            write_node(system->state, moving_node(system, i), &placement);
        if (advance) {
            jumps |= note_jump(system, i, &placement, elapsed);
            store_placement(system, i, &placement);
        }
    }
    if (worker->index == 0 && advance)
        system->drives_jump = jumps;
    stage_end(&system->clock, STAGE_MOTIONS, worker);
}

void REAL_NAME(kinematic_set_velocities)(struct system *system, double elapsed, double step,
                                         const struct worker *worker)
{
    const size_t count = moving_count(system);
    struct state *s = system->state;
    if (worker->index == 0)
        REAL_NAME(surface_contact_drive_none)(system);
    if (count == 0)
        return;
    for (size_t i = 0; worker->index == 0 && i < count; i++) {
        const uint32_t node = moving_node(system, i);
        note_start(system, i, node_position(s, node));
        struct placement placement = moving_placement(system, i, elapsed);
        const vec3 displacement = vec3_subtract(placement.position, node_position(s, node));
        state_put_velocity(
            s, node,
            vec3_make(displacement.x / step, displacement.y / step, displacement.z / step));
    }
    stage_end(&system->clock, STAGE_MOTIONS, worker);
}

void REAL_NAME(kinematic_set_positions)(struct system *system, double elapsed,
                                        const struct worker *worker)
{
    place_all(system, elapsed, false, worker);
}

void REAL_NAME(kinematic_advance)(struct system *system, double elapsed,
                                  const struct worker *worker)
{
    place_all(system, elapsed, true, worker);
}

// ---- Targets

bool REAL_NAME(kinematic_set_target)(struct system *system, uint32_t node, vec3 velocity)
{
    struct kinematic_targets *targets = &system->kinematic_targets;
    struct state *s = system->state;
    struct kinematic_target *target = target_of(system, node);
    if (!target) {
        if (!array_reserve((void **)&targets->items, &targets->capacity, targets->count + 1,
                           sizeof *targets->items))
            return false;
        target = &targets->items[targets->count++];
        *target = (struct kinematic_target){.node = node, .position = node_position(s, node)};
    }
    target->velocity = velocity;
    state_put_velocity(s, node, velocity); // for damping at the start of the next step
    return true;
}
