// Detects divergence (divergence.h). The kinetic energy of a run may come from the energy stored at
// the start, from falling, from gas, wind, drives and moving spheres. Each source is bounded
// generously, and only MARGIN times their sum counts as divergence: an unstable mode exceeds that
// within a few steps, because it grows by a factor in every step.
//
// The energy that a node gains by falling, or from its springs, follows from its position, which is
// rounded: an increment h v of less than half the spacing u of the numbers at x leaves x unchanged,
// while v continues to grow. That ends at |v| = u / 2h; beyond it a rounded increment is at least
// 2/3 of the exact one, which MARGIN covers. The kinetic energy that rounding can hide from the
// sources is therefore m (u / 2h)^2 / 2 in each direction, however long the run is, and that much
// of every node is ignored (`sum_resolved`). This hides no instability of springs: a node that does
// not move receives no feedback from its own position. A bound by the speed that gravity produces,
// M (g t)^2 / 2, would grow with the time of the run, and would not cover springs that pull at
// nodes that do not move.
//
// Where nodes do move, the rounding error e of each new position, |e| <= u / 2, strains the
// springs: it stores e.K e / 2, on average K_ii u^2 / 24 for each coordinate, since errors of
// different steps are independent. A step h is stable only if no eigenvalue of K / m exceeds 4 /
// h^2, so K_ii is at most 4 m / h^2, and a step adds at most m u^2 / 6 h^2, whatever the stiffness.
// (A cloth of 316 x 316 nodes, 3 m wide, near its largest stable step gains 0.4 of this bound, in a
// hundred steps a hundred times the energy of its fall.) Such a run is useless, and counts as
// diverged; but the cause is then precision, and the fault has it (`rounding`). A run at rest,
// without any energy that could be compared with it, is not useless: there it is allowed
// (`rounding_at_rest`).
#include "stability/divergence.h"

#include <string.h>

#include "base/sort.h"
#include "elements/elements.h"
#include "ranks/ranks.h"
#include "scene/collider_pose.h"
#include "springs/exchange.h"
#include "springs/springs.h"
#include "stability/critical_step.h"
#include "state/reading.h"

static const double MARGIN = 100;

enum { CHECK_KINETIC, CHECK_GRAVITY, CHECK_POSITIONS };

enum { RESOLVED_KINETIC, RESOLVED_GRAVITY, RESOLVED_STRAINS, RESOLVED_HEIGHT };

static void sum_nodes(const struct system *system, const void *unused, struct range range,
                      double sums[SUM_WIDTH])
{
    (void)unused;
    vec3 g = system->topology->environment.gravity;
    struct node_sums found = {0, 0, 0};
    for (size_t i = range.first; i < range.end;) {
        const struct topology_body *body =
            &system->topology->bodies[topology_body_of_node(system->topology, i)];
        const size_t end = (size_t)min_u64(range.end, body->first_node + body->node_count);
        const bool differ = body->node_mass == 0;
        double masses[SUM_CHUNK];
        for (size_t node = i; differ && node < end;) {
            const struct node_masses part = topology_masses(system->topology, node, end);
            for (; node < part.end; node++)
                masses[node - i] = mass_in(&part, node);
        }
        system->kernels->node_sums(system->state, (struct range){i, end}, differ ? masses : NULL,
                                   body->node_mass, (double[3]){g.x, g.y, g.z}, &found);
        i = end;
    }
    sums[CHECK_KINETIC] = found.kinetic;
    sums[CHECK_GRAVITY] = found.gravity;
    sums[CHECK_POSITIONS] = found.coordinates;
}

// The step that positions make with the velocities of the state, s.
static double position_step(const struct system *system)
{
    const struct settings *settings = &system->settings;
    double step = settings->position_step;
    return settings->integrator == INTEGRATOR_XPBD ? step / settings->substeps : step;
}

// The part of m v^2 / 2 that positions resolve.
static double resolved_square(real position, real speed, double spacings)
{
    double v = (double)speed, hidden = spacings * (double)position;
    double square = v * v - hidden * hidden;
    return square > 0 ? square : 0;
}

static real greatest_coordinate(real x, real y, real z)
{
    const real xy = real_abs(x) > real_abs(y) ? real_abs(x) : real_abs(y);
    return xy > real_abs(z) ? xy : real_abs(z);
}

// A position from the origin of the state, without the rounding of their sum, m.
static vec3 node_position_from_origin(const struct state *s, size_t node)
{
    const double x = (double)s->x[node], y = (double)s->y[node], z = (double)s->z[node];
    if (!state_is_mixed(s))
        return vec3_make(x, y, z);
    return vec3_make(x + (double)s->x_low[node], y + (double)s->y_low[node],
                     z + (double)s->z_low[node]);
}

static bool sums_are_finite(const double sums[SUM_WIDTH])
{
    return isfinite(sums[CHECK_KINETIC]) && isfinite(sums[CHECK_POSITIONS]);
}

// The kinetic energy that rounding of positions cannot hide; the sum of the magnitudes of the terms
// of the potential energy, which bounds its rounding error; the energy that rounding of positions
// stores in springs in a step; and the potential energy with the low parts of positions, which
// sum_nodes leaves out. REAL_EPSILON |x| is u to 2 u, so that speeds up to 2 to 4 times u / 2h are
// ignored: integrators that compute x+ with two roundings, or from x-, stay below that. A node that
// slides along a projecting surface moves in no direction if its greatest coordinate does not
// change, since the projection sets the others back.
static void sum_resolved(const struct system *system, const void *argument, struct range range,
                         double sums[SUM_WIDTH])
{
    const struct state *s = system->state;
    // With low parts no increment is lost.
    const double spacings =
        state_is_mixed(s) ? 0 : (double)REAL_EPSILON / *(const double *)argument;
    const vec3 g = system->topology->environment.gravity;
    for (size_t i = range.first; i < range.end;) {
        struct node_masses masses = topology_masses(system->topology, i, range.end);
        for (; i < masses.end; i++) {
            double mass = mass_in(&masses, i);
            real x = s->x[i], y = s->y[i], z = s->z[i];
            if (system->settings.projects)
                x = y = z = greatest_coordinate(x, y, z);
            double square = resolved_square(x, s->vx[i], spacings) +
                            resolved_square(y, s->vy[i], spacings) +
                            resolved_square(z, s->vz[i], spacings);
            const vec3 p = node_position_from_origin(s, i);
            sums[RESOLVED_KINETIC] += 0.5 * mass * square;
            sums[RESOLVED_STRAINS] += mass * spacings * spacings * vec3_dot(p, p) / 6;
            sums[RESOLVED_HEIGHT] -= mass * vec3_dot(g, p);
            sums[RESOLVED_GRAVITY] +=
                mass * (fabs(g.x * (double)s->x[i]) + fabs(g.y * (double)s->y[i]) +
                        fabs(g.z * (double)s->z[i]));
        }
    }
}

// The largest speed that colliders have had up to a time, m/s.
static double collider_speed(const struct system *system, double time)
{
    const struct topology *topology = system->topology;
    double fastest = system->fastest_outside;
    for (size_t c = 0; c < topology->collider_count; c++)
        fastest = fmax(fastest, vec3_length(system->state->collider_velocity[c]));
    for (size_t m = 0; m < topology->mesh_collider_count; m++) {
        const struct topology_collider *mesh = &topology->mesh_colliders[m];
        fastest = fmax(fastest, collider_fastest_by(&topology->colliders[mesh->collider],
                                                    &mesh->speeds, time));
    }
    return fastest;
}

// The same of kinematic nodes and colliders.
static double outside_speed(const struct system *system, double time)
{
    const struct topology *topology = system->topology;
    double fastest = collider_speed(system, time);
    for (size_t m = 0; m < topology->motion_count; m++) {
        const struct motion *motion = &topology->motions[m];
        double reach = motion->type == MOTION_OSCILLATOR ? fabs(motion->amplitude) : motion->length;
        fastest = fmax(fastest, motion->type == MOTION_DRIVE ? motion_drive_speed(motion)
                                                             : 2 * reach * motion->omega);
    }
    for (size_t i = 0; i < system->kinematic_targets.count; i++)
        fastest = fmax(fastest, vec3_length(system->kinematic_targets.items[i].velocity));
    return fastest;
}

static double greatest_stiffness(const struct topology *topology)
{
    double stiffness = 0;
    for (size_t i = 0; i < topology->material_count; i++)
        stiffness = fmax(stiffness, topology->materials[i].stiffness);
    for (size_t c = 0; c < topology->collider_count; c++)
        stiffness = fmax(stiffness, topology->colliders[c].stiffness);
    return stiffness;
}

// A bound of the energy that drives and moving spheres have stored in springs, surfaces and height.
static double outside_work(const struct system *system, double time)
{
    const struct topology *topology = system->topology;
    double speed = outside_speed(system, time);
    if (speed == 0)
        return 0;
    double stiffness = greatest_stiffness(topology);
    double moved = speed * time;
    double movers = (double)topology->motion_count + (double)topology->collider_count +
                    (double)system->kinematic_targets.count;
    const double mass = topology_total_mass(topology);
    return 2 * mass * speed * speed + 0.5 * movers * stiffness * moved * moved +
           mass * vec3_length(topology->environment.gravity) * moved;
}

// A sphere that is moved or scaled interactively may contain nodes that were outside: no deeper
// than it moved and grew, and no deeper than its size.
void REAL_NAME(divergence_allow_sphere)(struct system *system, size_t collider, vec3 centre,
                                        double radius)
{
    const struct state *s = system->state;
    const struct topology *topology = system->topology;
    double time = step_time(system, s->step);
    vec3 velocity = s->collider_velocity[collider];
    vec3 present = vec3_add(s->collider_centre[collider],
                            vec3_scale(time - s->collider_since[collider], velocity));
    double before = s->collider_radius[collider];
    double moved = vec3_length(vec3_subtract(centre, present)) + fmax(0, radius - before);
    system->fastest_outside = fmax(system->fastest_outside, vec3_length(velocity));
    system->energy_start +=
        ((double)topology->node_count * greatest_stiffness(topology) * radius +
         topology_total_mass(topology) * vec3_length(topology->environment.gravity)) *
        fmin(radius, moved);
}

// Nothing that drifts with a relative wind gets faster than the wind; one that ignores the velocity
// of the body accelerates it for ever: speed = force * time / mass, with the force on the whole
// surface as built.
static double wind_work(const struct system *system, double time)
{
    const struct topology *topology = system->topology;
    const struct scene_wind *wind = &topology->environment.wind;
    if (!wind->present || topology->face_count == 0)
        return 0;
    const double speed = topology_wind_speed(topology), mass = topology_total_mass(topology);
    double from_wind = 0;
    if (!wind->relative) {
        double factor =
            wind->law == WIND_QUADRATIC ? wind->density * wind->drag * speed : wind->coefficient;
        from_wind = factor * speed * (double)topology->face_count * time / mass;
    }
    return 0.5 * mass * (speed + from_wind) * (speed + from_wind);
}

static double gas_work(const struct system *system)
{
    double work = 0;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct scene_pressure *gas = &system->topology->bodies[b].pressure;
        if (gas->present)
            work += 10 * fabs(gas->amount) + fabs(gas->atmosphere) * system->state->volume_built[b];
    }
    return work;
}

// Adds the squares of the depths of nodes inside a surface, and what lifting them out takes.
static void add_projection_work(const struct system *system, size_t collider, struct range nodes,
                                double sums[2])
{
    const struct state *s = system->state;
    const double now = step_time(system, s->step);
    const double gravity = vec3_length(system->topology->environment.gravity);
    struct contact contacts[6];
    for (size_t i = nodes.first; i < nodes.end; i++) {
        const vec3 position = node_position(s, i);
        const int count = REAL_NAME(collider_contacts)(system, collider, now, position, contacts);
        for (int k = 0; k < count; k++) {
            const double depth = contacts[k].depth;
            sums[0] += depth * depth;
            sums[1] += topology_mass(system->topology, i) * gravity * fabs(depth);
        }
    }
}

// The energy that the first projection may store in the springs of nodes inside a surface, and in
// their height.
static double projection_work(const struct system *system)
{
    const struct topology *topology = system->topology;
    const struct state *s = system->state;
    const bool parts = REAL_NAME(exchange_has_part)(system);
    const struct range nodes = parts ? system->own_nodes : (struct range){0, (size_t)s->nodes};
    const int ranks = ranks_count();
    // Squares, and lifted; with parts from rank to rank in the order of the nodes.
    double sums[2] = {0, 0};
    for (size_t c = 0; c < topology->collider_count; c++) {
        if (topology->colliders[c].response != RESPONSE_PROJECT)
            continue;
        for (int r = 0; r < (parts ? ranks : 1); r++) {
            if (!parts || r == ranks_number())
                add_projection_work(system, c, nodes, sums);
            if (parts)
                ranks_pass(sums, sizeof sums, r, (r + 1) % ranks);
        }
    }
    if (parts)
        ranks_broadcast(sums, sizeof sums);
    enum { SPRINGS_AT_A_NODE = 52 }; // of a lattice; few bodies have more
    return SPRINGS_AT_A_NODE * greatest_stiffness(topology) * sums[0] + sums[1];
}

void REAL_NAME(divergence_start)(struct system *system, const taut_energy *energy)
{
    system->energy_start = energy->kinetic + energy->elastic + energy->contact + gas_work(system) +
                           projection_work(system);
    system->gravity_start = energy->gravity;
    system->explained_peak = 0;
}

// Finds the first node that is not finite, or else the fastest one, in the builder's order, so that
// renumbering does not change the result. A node that is not integrated is never the cause, though
// an infinite force times its inverse mass of 0 may make it the first that is not finite; it is
// reported only if there is no other.
static uint64_t worst_node(const struct system *system)
{
    const struct topology *topology = system->topology;
    const struct state *s = system->state;
    uint64_t worst = 0;
    double fastest = -1;
    bool found_free = false;
    for (uint64_t node = 0; node < s->nodes; node++) {
        uint64_t i = topology_internal_node(topology, node);
        bool is_free = system->constants->inverse_mass[i] != 0;
        if (found_free && !is_free)
            continue;
        if (is_free && !found_free)
            fastest = -1;
        found_free = is_free;
        vec3 v = node_velocity(s, i), position = node_position(s, i);
        double square = vec3_dot(v, v);
        bool finite = isfinite(square) && isfinite(position.x + position.y + position.z);
        if (!finite && is_free)
            return i;
        if (!finite || square > fastest) {
            fastest = finite ? square : INFINITY;
            worst = i;
        }
    }
    return worst;
}

// The work that the last impulse of the mouse spring is still to do, J: it is counted along the
// path of the node, and explicit Euler moves a node by a new velocity only in the next step.
static double impulse_work(const struct system *system)
{
    const struct mouse_spring *mouse = &system->mouse_spring;
    if (!mouse->pulls)
        return 0;
    return system->settings.dt * vec3_length(mouse->force) *
           vec3_length(node_velocity(system->state, mouse->node));
}

// The energy that could have become kinetic energy until a time, J.
static double explained_until(const struct system *system, const double sums[SUM_WIDTH],
                              double time)
{
    // The sums have coordinates from the state's origin.
    const double at_origin = topology_total_mass(system->topology) *
                             vec3_dot(system->topology->environment.gravity, system->state->origin);
    double fallen = fmax(0, system->gravity_start - (sums[CHECK_GRAVITY] - at_origin));
    double explained = system->energy_start + fallen + wind_work(system, time) +
                       outside_work(system, time) + impulse_work(system);
    // Over a position step of its own, potential energy becomes dt / position_step times as much
    // kinetic energy.
    return explained * fmax(1, 1 / system->settings.position_ratio);
}

// The same so far.
static double explained_energy(const struct system *system, const double sums[SUM_WIDTH])
{
    return explained_until(system, sums, step_time(system, system->state->step));
}

// The spacing of numbers at the position of the body, m: at its node nearest to the origin, because
// the instability may have moved others far away.
static double spacing_at(const struct system *system, size_t body)
{
    const struct topology_body *nodes = &system->topology->bodies[body];
    const struct state *s = system->state;
    double nearest = INFINITY;
    for (uint64_t i = 0; i < nodes->node_count; i++) {
        const vec3 p = node_position_from_origin(
            s, topology_internal_node(system->topology, nodes->first_node + i));
        const double distance = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z)));
        if (isfinite(p.x + p.y + p.z))
            nearest = fmin(nearest, distance);
    }
    return isfinite(nearest) ? (double)REAL_EPSILON * nearest : 0;
}

// Whether rounding of positions explains the kinetic energy.
static bool is_rounding(struct system *system, const struct worker *worker)
{
    const struct settings *settings = &system->settings;
    const uint64_t substeps =
        settings->integrator == INTEGRATOR_XPBD ? (uint64_t)settings->substeps : 1;
    const double step = position_step(system);
    double found[SUM_WIDTH], resolved[SUM_WIDTH];
    REAL_NAME(sum_over_nodes)(system, sum_nodes, NULL, found, worker);
    REAL_NAME(sum_over_nodes)(system, sum_resolved, &step, resolved, worker);
    const double steps = (double)substeps * (double)system->state->step;
    return found[CHECK_KINETIC] <= steps * resolved[RESOLVED_STRAINS];
}

// Twice the kinetic energy that a step of gravity gives to nodes at rest, J. Explicit Euler moves
// them only in the next step, so they have lost no potential energy yet.
static double first_step_energy(const struct system *system)
{
    vec3 g = system->topology->environment.gravity;
    double h = system->settings.dt;
    return topology_total_mass(system->topology) * vec3_dot(g, g) * h * h;
}

// The kinetic energy that needs no explanation, J: that, and round-off, which also moves a body at
// rest. Below a micrometre per second a speed counts as round-off.
static double small_energy(const struct system *system)
{
    return first_step_energy(system) + 0.5e-12 * topology_total_mass(system->topology);
}

// The spacing of the numbers of the state at its greatest coordinate, m.
static double greatest_spacing(const struct system *system)
{
    const struct state *s = system->state;
    double greatest = 0;
    for (uint64_t i = 0; i < s->nodes; i++) {
        const double coordinate = (double)greatest_coordinate(s->x[i], s->y[i], s->z[i]);
        if (coordinate > greatest)
            greatest = coordinate;
    }
    return (double)REAL_EPSILON * greatest;
}

// The magnitude of the part of the potential energy that the origin of the state has, J: the sums
// of nodes are counted from there, the energy at the start is not.
static double gravity_at_origin(const struct system *system)
{
    const vec3 g = system->topology->environment.gravity, origin = system->state->origin;
    return topology_total_mass(system->topology) *
           (fabs(g.x * origin.x) + fabs(g.y * origin.y) + fabs(g.z * origin.z));
}

static void sum_stiffness(const struct system *system, const void *unused, struct range range,
                          double sums[SUM_WIDTH])
{
    (void)unused;
    sums[0] += topology_stiffness(system->topology, range.first, range.end);
}

double REAL_NAME(stiffness_trace)(struct system *system, const struct worker *worker)
{
    double stiffness[SUM_WIDTH];
    REAL_NAME(sum_over_chunks)
    (system, (size_t)system->topology->spring_count, sum_stiffness, NULL, stiffness, worker);
    return 2 * stiffness[0] + REAL_NAME(elements_trace)(system, worker);
}

// The kinetic energy that rounding of positions gives to bodies at rest in precision mixed, J.
// Forces are computed from the high parts of positions, each of which has an error of up to half
// the spacing u of single precision at the greatest coordinate, so that they are those of a body
// displaced by that; it swings with up to tr K u^2 / 8. Positions themselves are not rounded, so
// that it does not grow as in single precision. A spring has tr K = 2 k.
static double rounding_energy(const struct system *system, double trace)
{
    enum { TIMES = 256 };
    const double spacing = greatest_spacing(system);
    double energy = TIMES * trace * spacing * spacing / 8;
    if (!integrator_is_implicit(system->settings.integrator)) { // faster than 3 / h is not stable
        const double speed = 12 * spacing / position_step(system);
        energy = fmin(energy, 0.5 * topology_total_mass(system->topology) * speed * speed);
    }
    return isfinite(energy) ? energy : 0;
}

static bool has_gravity(const struct system *system)
{
    const vec3 gravity = system->topology->environment.gravity;
    return vec3_dot(gravity, gravity) > 0;
}

// The energy that rounding may have given by now to bodies at rest, J: `explained` is what else
// could have become kinetic energy. If that is more than rounding of lengths at the start, 3 k u^2
// / 2 for each spring, something moves, and the result is 0. With u the spacing at the greatest
// coordinate, rounded positions add u^2 / 24 times the trace of K on average, each time (above):
// k u^2 / 12 for a spring, whose trace is 2 k.
static double rounding_at_rest(const struct system *system, double explained, double trace)
{
    enum { TIMES = 4 };
    const struct settings *settings = &system->settings;
    const double spacing = greatest_spacing(system);
    const double of_a_rounding = trace * spacing * spacing / 24;
    if (!(explained <= small_energy(system) + 18 * of_a_rounding))
        return 0;
    return TIMES * of_a_rounding * integrator_roundings(settings->integrator, settings->substeps) *
           (double)system->state->step;
}

// Both, J; with gravity something moves. Positions of all nodes are needed. All workers get the
// same result.
static double rounding_allowed(struct system *system, double explained, const struct worker *worker)
{
    const bool mixed = state_is_mixed(system->state), may_rest = !has_gravity(system);
    if (!mixed && !may_rest)
        return 0;
    const double trace = REAL_NAME(stiffness_trace)(system, worker);
    return (mixed ? rounding_energy(system, trace) : 0) +
           (may_rest ? rounding_at_rest(system, explained, trace) : 0);
}

// Gives all ranks all nodes, for what is found by loops over them. This is rare: only if the first
// sum cannot exclude a divergence.
static void complete(struct system *system, const struct worker *worker)
{
    if (system->exchange)
        REAL_NAME(exchange_complete)(system, worker);
}

// All workers get the same result. The second sum is formed only if the first indicates divergence.
//
// For a body that returns to its initial height, a pendulum or a ball at the top of its bounce,
// nothing explains the energy that the error of the integrator adds there. Kinetic energies below
// the largest explained value so far are therefore never divergence: that much energy has been
// exchanged, and an unstable mode exceeds it soon. *most is that value, with the present one.
//
// `factor`: times as much is allowed.
static bool has_diverged(struct system *system, double factor, double *most,
                         const struct worker *worker)
{
    const double peak = system->explained_peak; // before the barriers of the sum
    *most = peak;
    double sums[SUM_WIDTH];
    REAL_NAME(sum_over_nodes)(system, sum_nodes, NULL, sums, worker);
    if (!sums_are_finite(sums)) {
        complete(system, worker);
        return true;
    }
    double explained = explained_energy(system, sums);
    *most = fmax(peak, explained);
    const double small = small_energy(system);
    if (system->settings.tolerant ||
        sums[CHECK_KINETIC] <= factor * (fmax(MARGIN * explained, peak) + small))
        return false;
    complete(system, worker);
    const double step = position_step(system);
    double resolved[SUM_WIDTH];
    REAL_NAME(sum_over_nodes)(system, sum_resolved, &step, resolved, worker);
    // In precision mixed a body may have fallen by less than the spacing of the high parts.
    if (state_is_mixed(system->state)) {
        sums[CHECK_GRAVITY] = resolved[RESOLVED_HEIGHT];
        explained = explained_energy(system, sums);
        *most = fmax(peak, explained);
    }
    enum { ROUNDINGS = 16 };
    const double rounding = rounding_allowed(system, *most, worker);
    const double allowed =
        factor * (fmax(MARGIN * explained, peak) + small + rounding) +
        ROUNDINGS * DBL_EPSILON * (resolved[RESOLVED_GRAVITY] + gravity_at_origin(system));
    return resolved[RESOLVED_KINETIC] > allowed;
}

enum { OVERSTRETCH_CHECKS = 4 };

// How many times as much energy contact may give springs: a mesh collider may press many at once.
static const double PRESSED = 10;

// Whether any node touches a projecting collider.
static bool touches_surface(const struct system *system)
{
    const uint8_t *touches = system->state->block_touches;
    const struct range blocks = contact_blocks(system);
    return touches && blocks.first < blocks.end &&
           memchr(touches + blocks.first, 1, blocks.end - blocks.first);
}

// Whether contact of surfaces has cut a step since the last check for which this counts.
static bool has_been_cut(const struct system *system)
{
    const uint64_t cut = REAL_NAME(surface_contact_cuts)(system).last;
    return cut > 0 && cut + (uint64_t)OVERSTRETCH_CHECKS * DIVERGENCE_STEPS > system->state->step;
}

// Projecting colliders stop the nodes that an unstable step throws into them, and cuts of contact
// those that it throws into a surface, so that the kinetic energy does not show the divergence; the
// energy of the stretched springs does. It takes a pass over all springs, and is computed at steps
// that are DIVERGENCE_STEPS times a power of two, and at every OVERSTRETCH_CHECKS-th check while
// nodes are stopped; for contact only then, and also at the end of a run, with PRESSED times as
// much. What the projection has removed would show more precisely when to check, but only the
// energy budget measures that, and the verdict must be the same without it. Wind may strain a light
// cloth by more than the energy of its speed, so this check is omitted with wind. All workers get
// the same result.
static bool is_overstretched(struct system *system, double explained, const struct worker *worker)
{
    const bool projects = system->settings.projects, cuts = system->settings.cuts;
    const uint64_t step = system->state->step, checks = step / DIVERGENCE_STEPS;
    const bool power = (checks & (checks - 1)) == 0, fourth = checks % OVERSTRETCH_CHECKS == 0;
    if ((!projects && !cuts) || system->settings.tolerant ||
        system->topology->environment.wind.present)
        return false;
    bool due = (projects && power) ||
               (cuts && (power || fourth || step % DIVERGENCE_STEPS != 0) && has_been_cut(system));
    if (!due && projects && fourth)
        due = REAL_NAME(exchange_any)(system, touches_surface(system), worker);
    if (!due)
        return false;
    const bool paused =
        !REAL_NAME(exchange_has_part)(system) && REAL_NAME(exchange_pause)(system, worker);
    explained *= cuts ? PRESSED : 1;
    const double elastic = REAL_NAME(springs_elastic_energy)(system, worker) +
                           REAL_NAME(elements_energy)(system, worker);
    REAL_NAME(exchange_resume)(system, paused, worker);
    if (elastic <= MARGIN * explained + small_energy(system))
        return false;
    complete(system, worker);
    double rounding = 0;
    if (!has_gravity(system))
        rounding = rounding_at_rest(system, explained, REAL_NAME(stiffness_trace)(system, worker));
    return !(elastic <= MARGIN * explained + small_energy(system) + rounding);
}

// Whether a kinetic energy before a cut, J, at the end of a step, s, is more than anything but
// instability gives nodes, `factor` times. Left out is what rounding of positions hides of the
// speeds, for all nodes as for the farthest one. Implicit steps may be far from solved where they
// are cut. All workers get the same result.
static bool is_too_fast(struct system *system, double kinetic, double explained, double time,
                        double factor, const struct worker *worker)
{
    const double pressed = collider_speed(system, time) > 0 ? PRESSED : 1;
    const double allowed = factor * (pressed * MARGIN * explained + small_energy(system));
    if (system->settings.tolerant || integrator_is_implicit(system->settings.integrator) ||
        !(kinetic > allowed))
        return false;
    complete(system, worker);
    const double hidden =
        state_is_mixed(system->state) ? 0 : greatest_spacing(system) / position_step(system);
    const double rounding = 1.5 * topology_total_mass(system->topology) * hidden * hidden +
                            rounding_allowed(system, explained, worker);
    return kinetic > allowed + factor * rounding;
}

// What an unstable step throws into surfaces is stopped there, so that neither velocities nor
// springs show it after the cut.
static bool was_too_fast(struct system *system, double explained, const struct worker *worker)
{
    const double kinetic = REAL_NAME(surface_contact_uncut_kinetic)(system);
    const double time = step_time(system, system->state->step);
    return !system->topology->environment.wind.present &&
           is_too_fast(system, kinetic, explained, time, 1, worker);
}

// TAKEN is what a cut takes at least in a step that is checked more closely, as a fraction of the
// energy that is explained, or of what there was some steps ago, where that is less. HELD limits
// the energy before that cut over what is explained, TAKEN_SINCE the kinetic energy that cuts have
// taken since then over what there was. TAKEN limits how often a stable run is checked; the others
// leave out impacts, in which springs may be so taut for some steps that dt is not stable.
static const double TAKEN = 0.02, HELD = 1.5, TAKEN_SINCE = 2;

// After so many steps cuts are counted anew.
enum { CUT_STEPS = 48 };

static double energy_of_springs(struct system *system, const struct worker *worker)
{
    const bool paused = REAL_NAME(exchange_pause)(system, worker);
    const double elastic = REAL_NAME(springs_elastic_energy)(system, worker) +
                           REAL_NAME(elements_energy)(system, worker);
    REAL_NAME(exchange_resume)(system, paused, worker);
    return elastic;
}

// Counts what a cut has taken; a new count begins with the energy before this cut.
static struct taken_count count_taken(struct system *system, double before, double taken,
                                      double explained, const struct worker *worker)
{
    const uint64_t step = system->state->step;
    struct taken_count count = REAL_NAME(surface_contact_cuts)(system).taken;
    if (count.first == 0 || step >= count.first + CUT_STEPS)
        count = (struct taken_count){
            .first = step,
            .energy = before + energy_of_springs(system, worker),
            .explained = explained,
        };
    count.taken += fmax(0, taken);
    worker_barrier(worker); // all have read it
    if (worker->index == 0)
        REAL_NAME(surface_contact_count_taken)(system, &count);
    worker_barrier(worker);
    return count;
}

// Whether contact of surfaces holds an unstable motion: what each step adds it cuts again, at an
// energy that is little more than that of a body which moves as a whole, or which a mesh that moves
// explains; or, however fast a body was, cuts take more than there was. Gravity gives nodes at rest
// some of that in every step. All workers get the same result.
static bool is_held(struct system *system, double explained, const struct worker *worker)
{
    const double before = REAL_NAME(surface_contact_uncut_kinetic)(system);
    const double taken = before - REAL_NAME(kinetic_energy)(system, worker);
    const struct taken_count count = count_taken(system, before, taken, explained, worker);
    const double present = count.energy + fmax(0, explained - count.explained);
    const double small = small_energy(system);
    if (system->settings.tolerant || !(taken > TAKEN * fmin(explained, present) + small))
        return false;
    const double steps = (double)(system->state->step - count.first + 1);
    bool suspect = count.taken > TAKEN_SINCE * present + steps * small;
    if (!suspect && taken > TAKEN * explained + small)
        suspect = before + energy_of_springs(system, worker) > HELD * explained;
    if (!suspect)
        return false;
    const bool paused = REAL_NAME(exchange_pause)(system, worker);
    const bool grows = REAL_NAME(critical_step_grows)(system, worker);
    REAL_NAME(exchange_resume)(system, paused, worker);
    return grows;
}

// The factor with wind, with which this check is omitted after a cut: so much that the next check
// would certainly find it.
static const double HOPELESS_WITH_WIND = 100;

// The potential energy, J, that a cut can give back at most. Neither the displacement d of the
// step, with sum m d^2 = 2 h^2 K, nor what a cut leaves of it, which has no greater sum, changes
// the height of the centre of mass by more than h sqrt(2 K / M) (Cauchy and Schwarz).
static double height_of_step(const struct system *system, double kinetic)
{
    const double weight = vec3_length(system->topology->environment.gravity);
    return 2 * weight * position_step(system) *
           sqrt(2 * kinetic * topology_total_mass(system->topology));
}

// Where nodes fly far, so that all of the step would be cut: what is_held asks after that.
static bool has_grown(struct system *system, double kinetic, double explained,
                      const struct worker *worker)
{
    if (system->settings.tolerant || integrator_is_implicit(system->settings.integrator) ||
        !(kinetic > TAKEN * explained + small_energy(system)) ||
        !(kinetic + energy_of_springs(system, worker) > HELD * explained + small_energy(system)))
        return false;
    const bool paused = REAL_NAME(exchange_pause)(system, worker);
    const bool grows = REAL_NAME(critical_step_grows)(system, worker);
    REAL_NAME(exchange_resume)(system, paused, worker);
    return grows;
}

// Positions are those before the cut.
bool REAL_NAME(divergence_before_cut)(struct system *system, const struct worker *worker)
{
    const bool wind = system->topology->environment.wind.present;
    const double peak = system->explained_peak;
    const double end = step_time(system, system->state->step + 1);
    double sums[SUM_WIDTH];
    REAL_NAME(sum_over_nodes)(system, sum_nodes, NULL, sums, worker);
    if (!sums_are_finite(sums))
        return true;
    const double kinetic = sums[CHECK_KINETIC];
    const double explained =
        fmax(peak, explained_until(system, sums, end)) +
        height_of_step(system, kinetic) * fmax(1, 1 / system->settings.position_ratio);
    if (is_too_fast(system, kinetic, explained, end, wind ? HOPELESS_WITH_WIND : 1, worker))
        return true;
    return !wind && REAL_NAME(surface_contact_flies)(system) &&
           has_grown(system, kinetic, explained, worker);
}

// Reports a divergence with the nodes of all ranks. All workers call it.
static void report(struct system *system, const struct worker *worker)
{
    complete(system, worker);
    const bool rounding = is_rounding(system, worker);
    if (worker->index != 0 || system->fault.code != TAUT_OK)
        return;
    const uint64_t node = worst_node(system), step = system->state->step;
    const size_t body = topology_body_of_node(system->topology, node);
    system->fault = (struct fault){.code = TAUT_ERROR_DIVERGED,
                                   .body = body,
                                   .node = node,
                                   .time = step_time(system, step),
                                   .step = step,
                                   .spacing = spacing_at(system, body),
                                   .rounding = rounding};
}

// An unstable mode that has grown to this many times what the check allows does not return below it
// within the steps to the next one.
bool REAL_NAME(divergence_is_certain)(struct system *system, const struct worker *worker)
{
    const double factor = 100;
    double explained;
    const bool certain = has_diverged(system, factor, &explained, worker);
    stage_end(&system->clock, STAGE_CHECK, worker);
    return certain;
}

void REAL_NAME(divergence_check_cut)(struct system *system, const struct worker *worker)
{
    double explained;
    if (!REAL_NAME(surface_contact_has_cut)(system, worker))
        return;
    const bool diverged =
        REAL_NAME(surface_contact_gave_up)(system) || has_diverged(system, 1, &explained, worker) ||
        was_too_fast(system, explained, worker) || is_held(system, explained, worker);
    stage_end(&system->clock, STAGE_CHECK, worker);
    if (!diverged)
        return;
    report(system, worker);
}

void REAL_NAME(divergence_check)(struct system *system, const struct worker *worker)
{
    double explained;
    const bool diverged =
        has_diverged(system, 1, &explained, worker) || is_overstretched(system, explained, worker);
    // The check at the end of a run, whose step need not be a multiple, is not remembered: the run
    // may be continued as part of a longer one.
    if (worker->index == 0 && system->state->step % DIVERGENCE_STEPS == 0)
        system->explained_peak = explained;
    if (diverged)
        report(system, worker);
    stage_end(&system->clock, STAGE_CHECK, worker);
}
