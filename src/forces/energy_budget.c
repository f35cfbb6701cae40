// The energy budget: the powers of dissipation, wind and drives at the start of every step,
// integrated by trapezoids, and the finite amounts (lumps) lost to breaking, yielding and
// inflation. For output only: the state does not depend on it.
//
// If an integrator computes forces at the start of a step, the kernels measure the powers with them
// (system->powers): terms of one spring or node have the precision of the run, and are summed in
// double in an order that depends neither on threads nor on the instruction set. All other powers
// are computed here by loops over nodes, springs and faces, in double, over fixed chunks added in
// order.
//
// E(t) - E(0) = wind + drives + inflation - damping - drag - friction - keep - projection -
// breaking, to the order of the trapezoid (h^2) and of the integrator.
#include "forces/forces.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "elements/parts.h"
#include "ranks/ranks.h"
#include "springs/exchange.h"
#include "springs/part_sums.h"
#include "state/reading.h"

// The column of a sum with the kinetic energy of nodes with a prescribed motion (their drive also
// does the work of accelerating them); the column with that of all nodes; and, with explicit Euler,
// that with the sum of F^2 / m, W/s.
enum { MOVED_KINETIC = WORK_POWERS, WORK_KINETIC, WORK_KICKS, WORK_COLUMNS };
_Static_assert((int)WORK_COLUMNS <= (int)SUM_WIDTH, "all columns of the budget fit a sum");

// Friction and absorption of penalty colliders take power; a moving sphere adds power, as a drive
// does. The heat of Coulomb friction is an amount per step (contact/friction.c).
static void contact_power(const struct system *system, const struct scene_collider *collider,
                          size_t node, const struct contact *contact, void *to)
{
    double *sums = to;
    const struct contact_action action = REAL_NAME(contact_action)(system, collider, node, contact);
    sums[WORK_FRICTION] += action.power_dissipated;
    sums[WORK_DRIVES] += vec3_dot(action.force, contact->surface_velocity);
}

// The arguments of a sum, from the evaluation.
struct surroundings {
    double time;
    struct wind_now wind;
};

static void sum_kicks(const struct system *system, const void *unused, struct range range,
                      double sums[SUM_WIDTH])
{
    (void)unused;
    for (size_t i = range.first; i < range.end; i++) {
        const vec3 force = node_force(system->state, i);
        if (system->constants->inverse_mass[i] != 0)
            sums[WORK_KICKS] += (double)system->constants->inverse_mass[i] * vec3_dot(force, force);
    }
}

static void sum_nodes(const struct system *system, const void *argument, struct range range,
                      double sums[SUM_WIDTH])
{
    const struct surroundings *now = argument;
    if (system->settings.integrator == INTEGRATOR_EXPLICIT_EULER)
        sum_kicks(system, NULL, range, sums);
    const struct wind_now *wind = &now->wind;
    const struct state *s = system->state;
    double drag = system->topology->environment.air_drag;
    bool by_node = wind->factor != 0 && wind->law == WIND_NODE && s->nx;
    REAL_NAME(contacts_visit)(system, now->time, range, contact_power, sums);
    struct node_masses masses = {.end = range.first};
    for (size_t i = range.first; i < range.end; i++) {
        if (i == masses.end)
            masses = topology_masses(system->topology, i, range.end);
        vec3 v = node_velocity(s, i);
        const double square = vec3_dot(v, v), kinetic = 0.5 * mass_in(&masses, i) * square;
        sums[WORK_DRAG] += drag_in(&masses, drag, i) * square;
        sums[WORK_KINETIC] += kinetic;
        if (system->constants->inverse_mass[i] == 0) {
            vec3 force = node_force(s, i);
            sums[WORK_DRIVES] -= vec3_dot(force, v);
            sums[MOVED_KINETIC] += kinetic;
        } else if (by_node) {
            vec3 normal = vec3_make((double)s->nx[i], (double)s->ny[i], (double)s->nz[i]);
            vec3 r = vec3_make((double)wind->wx, (double)wind->wy, (double)wind->wz);
            if (wind->relative)
                r = vec3_subtract(r, v);
            sums[WORK_WIND] += (double)wind->factor * vec3_dot(r, normal) * vec3_dot(normal, v);
        }
    }
}

// Without a low part, as the force of wind has it, and as ranks have the nodes of others in steps.
static vec3 velocity_in_wind(const struct state *s, size_t node)
{
    return vec3_make((double)s->vx[node], (double)s->vy[node], (double)s->vz[node]);
}

static double face_wind_power(const struct system *system, const struct wind_now *wind,
                              const uint32_t *nodes)
{
    const struct state *s = system->state;
    struct face_shape face = face_shape(s, nodes);
    if (!(face.area > 0))
        return 0;
    vec3 area = vec3_make((double)face.sx, (double)face.sy, (double)face.sz);
    vec3 sum = {0, 0, 0}, free_sum = {0, 0, 0};
    for (int corner = 0; corner < face.corners; corner++) {
        uint32_t node = face.nodes[corner];
        sum = vec3_add(sum, velocity_in_wind(s, node));
        if (system->constants->inverse_mass[node] != 0)
            free_sum = vec3_add(free_sum, velocity_in_wind(s, node));
    }
    vec3 r = vec3_make((double)wind->wx, (double)wind->wy, (double)wind->wz);
    if (wind->relative)
        r = vec3_subtract(r, vec3_scale(1.0 / face.corners, sum));
    double speed = vec3_dot(r, area) / (double)face.area;
    double scale = (double)wind->factor * speed / face.corners;
    if (wind->law == WIND_QUADRATIC)
        scale *= fabs(speed);
    return scale * vec3_dot(area, free_sum);
}

static void sum_wind(const struct system *system, const void *argument, struct range range,
                     double sums[SUM_WIDTH])
{
    const struct surroundings *now = argument;
    struct face_walk walk = faces_walk(system, range);
    struct face face;
    while (faces_next(&walk, &face))
        sums[0] += face_wind_power(system, &now->wind, face.nodes);
}

static size_t node_of_face(const struct system *system, const void *unused, size_t number)
{
    (void)unused;
    struct face_walk walk = faces_walk(system, (struct range){number, number + 1});
    struct face face;
    return faces_next(&walk, &face) ? face.nodes[0] : 0;
}

// The power of wind on all faces: 0 where it acts on nodes.
static double wind_power(struct system *system, const struct surroundings *now,
                         const struct worker *worker)
{
    const size_t faces = (size_t)system->topology->face_count;
    double total[SUM_WIDTH];
    if (now->wind.factor == 0 || now->wind.law == WIND_NODE)
        return 0;
    if (REAL_NAME(exchange_has_part)(system)) {
        REAL_NAME(exchange_ends)(system, true, worker);
        return REAL_NAME(sum_chunks_of_parts)(system, faces, node_of_face, sum_wind, now, worker);
    }
    REAL_NAME(sum_over_chunks)(system, faces, sum_wind, now, total, worker);
    return total[0];
}

static void add_total(const double total[SUM_WIDTH], double power[SUM_WIDTH])
{
    for (int column = 0; column < WORK_COLUMNS; column++)
        power[column] += total[column];
}

// Adds a sum over elements to the powers.
static void add_sum(struct system *system, size_t count, chunk_sum sum, const void *argument,
                    double power[SUM_WIDTH], const struct worker *worker)
{
    double total[SUM_WIDTH];
    REAL_NAME(sum_over_chunks)(system, count, sum, argument, total, worker);
    add_total(total, power);
}

// The same for a sum over the nodes of all ranks.
static void add_node_sum(struct system *system, chunk_sum sum, const void *argument,
                         double power[SUM_WIDTH], const struct worker *worker)
{
    double total[SUM_WIDTH];
    REAL_NAME(sum_over_nodes)(system, sum, argument, total, worker);
    add_total(total, power);
}

static void add_shape_powers(struct system *system, double power[SUM_WIDTH],
                             const struct worker *worker)
{
    const struct shape_powers powers = REAL_NAME(shape_contact_powers)(system, worker);
    power[WORK_DRIVES] += powers.drives;
    power[WORK_FRICTION] += powers.friction;
}

static bool is_verlet(const struct system *system)
{
    const enum integrator integrator = system->settings.integrator;
    return integrator == INTEGRATOR_VERLET || integrator == INTEGRATOR_VELOCITY_VERLET;
}

// ---- Measured by the kernels of an evaluation

static bool wind_is_measured(const struct system *system)
{
    const struct scene_wind *wind = &system->topology->environment.wind;
    return !wind->present || wind->law != WIND_NODE || plan_block_face_count(system->plan) == 0;
}

// With Verlet integrators the kernels measure where a step begins as the last one has ended. The
// work of wind would be found from forces and velocities of different times: with law node an error
// of 13% on a cloth.
static bool measures_between_steps(const struct system *system)
{
    const struct settings *settings = &system->settings;
    return !settings->projects && !settings->cuts && settings->keep_velocity == 1 &&
           !system->topology->environment.wind.present;
}

static bool may_be_measured(const struct system *system)
{
    const enum integrator integrator = system->settings.integrator;
    const bool evaluates_at_start =
        integrator == INTEGRATOR_EXPLICIT_EULER || integrator == INTEGRATOR_SYMPLECTIC_EULER ||
        integrator == INTEGRATOR_MIDPOINT || integrator == INTEGRATOR_RK4;
    return system->settings.keep_energy_budget && !plan_is_reference(system->plan) &&
           wind_is_measured(system) &&
           (evaluates_at_start || (is_verlet(system) && measures_between_steps(system)));
}

// The mouse spring changes velocities at the end of steps, so that those half a step before a
// force are far from those of its node.
bool REAL_NAME(work_is_measured)(const struct system *system)
{
    return may_be_measured(system) && !(is_verlet(system) && system->mouse_spring.pulls);
}

bool REAL_NAME(work_is_always_measured)(const struct system *system)
{
    return may_be_measured(system) && !is_verlet(system);
}

static bool keeps_swept(const struct system *system)
{
    return system->settings.keep_energy_budget && topology_has_gas(system->topology) &&
           !is_verlet(system);
}

bool REAL_NAME(work_make)(struct system *system)
{
    const struct plan_counts counts = plan_counts(system->topology, system->plan);
    struct power_parts *parts = &system->power_parts;
    system->work_shown_step = UINT64_MAX;
    if (keeps_swept(system)) {
        system->swept =
            memory_allocate(system->allocator, system->topology->body_count, sizeof *system->swept);
        if (!system->swept)
            return false;
    }
    if (!may_be_measured(system))
        return true;
    parts->loose = parts->tiles + 2 * (size_t)counts.grid_tiles;
    parts->wind = parts->loose;
    struct range nodes;
    for (size_t i = 0; (nodes = springs_off_grid_nodes(system, i)).end > 0; i++)
        parts->wind += power_chunks(nodes.end - nodes.first);
    parts->packed = parts->wind;
    if (system->topology->environment.wind.present)
        parts->packed += REAL_NAME(wind_parts)(system);
    parts->count = parts->packed + (size_t)counts.packed_tiles;
    system->powers = memory_allocate(system->allocator, parts->count, sizeof *system->powers);
    return system->powers;
}

void REAL_NAME(work_free)(struct system *system)
{
    memory_release(system->allocator, system->powers, system->power_parts.count,
                   sizeof *system->powers);
    memory_release(system->allocator, system->swept, system->topology->body_count,
                   sizeof *system->swept);
}

uint64_t REAL_NAME(work_bytes)(const struct system *system)
{
    return system->power_parts.count * sizeof *system->powers +
           (system->swept ? system->topology->body_count * sizeof *system->swept : 0);
}

static void sum_contacts(const struct system *system, const void *argument, struct range range,
                         double sums[SUM_WIDTH])
{
    const struct surroundings *now = argument;
    REAL_NAME(contacts_visit)(system, now->time, range, contact_power, sums);
}

// The drag in proportion to masses, which no kernel measures.
static void sum_mass_drag(const struct system *system, const void *unused, struct range range,
                          double sums[SUM_WIDTH])
{
    (void)unused;
    for (size_t i = range.first; i < range.end;) {
        const struct node_masses masses = topology_masses(system->topology, i, range.end);
        for (; i < masses.end && masses.mass_drag > 0; i++) {
            const vec3 v = node_velocity(system->state, i);
            sums[WORK_DRAG] += drag_in(&masses, 0, i) * vec3_dot(v, v);
        }
        i = (size_t)masses.end;
    }
}

// Powers of contacts, faces in blocks, and listed springs that are not packed.
void REAL_NAME(work_measure_others)(struct system *system, struct evaluation evaluation,
                                    const struct worker *worker)
{
    const size_t faces = (size_t)system->constants->faces;
    const bool windy = faces > 0 && system->topology->environment.wind.present;
    struct surroundings now = {.time = evaluation.time};
    double power[SUM_WIDTH] = {0};
    if (contacts_are_found(system))
        add_node_sum(system, sum_contacts, &now, power, worker);
    if (windy)
        now.wind = REAL_NAME(wind_at)(system->topology, evaluation.time);
    if (windy && now.wind.factor != 0) {
        double total[SUM_WIDTH];
        REAL_NAME(sum_over_block_faces)(system, sum_wind, &now, total, worker);
        power[WORK_WIND] += total[0];
    }
    if (system->topology->any_mass_drag)
        add_node_sum(system, sum_mass_drag, NULL, power, worker);
    if (plan_off_grid_format(system->plan) != PLAN_PACKED && system->constants->springs > 0)
        power[WORK_DAMPING] += REAL_NAME(springs_listed_damping_power)(system, worker);
    REAL_NAME(elements_share_powers)(system, worker);
    power[WORK_DAMPING] += REAL_NAME(elements_measured_power)(system);
    power[WORK_DRIVES] += REAL_NAME(mesh_colliders_power)(system);
    power[WORK_FRICTION] += REAL_NAME(surface_contact_evaluated_power)(system, worker);
    add_shape_powers(system, power, worker);
    if (worker->index == 0)
        memcpy(system->other_powers, power, sizeof power);
}

// Adds up all parts of an evaluation, and clears them for the next one. `tiles`: the sum of those
// of tiles, if several ranks have added it.
static void collect_powers(struct system *system, const double *tiles, double power[SUM_WIDTH])
{
    const struct power_parts *parts = &system->power_parts;
    const size_t first = tiles ? parts->loose : parts->tiles;
    const size_t tile_parts = parts->loose - parts->tiles;
    double total[POWER_COLUMNS];
    if (tiles)
        memcpy(total, tiles, sizeof total);
    else
        add_in_groups(system->powers[parts->tiles], POWER_COLUMNS, tile_parts,
                      sum_group(system, tile_parts), total);
    for (size_t part = parts->loose; part < parts->count; part++)
        for (int column = 0; column < POWER_COLUMNS; column++)
            total[column] += system->powers[part][column];
    memset(system->powers + first, 0, (parts->count - first) * sizeof *system->powers);
    memcpy(power, system->other_powers, SUM_WIDTH * sizeof *power);
    power[WORK_DAMPING] += total[POWER_DAMPING];
    power[WORK_DRAG] += system->topology->environment.air_drag * total[POWER_SQUARE];
    power[WORK_WIND] += total[POWER_WIND];
    power[WORK_DRIVES] -= total[POWER_DRIVES];
    power[WORK_KINETIC] += total[POWER_KINETIC] / 2;
    power[MOVED_KINETIC] += total[POWER_MOVED] / 2;
}

// ---- Measured by loops

struct external_power REAL_NAME(external_power)(struct system *system, double time,
                                                const struct worker *worker)
{
    const struct surroundings now = {time, REAL_NAME(wind_at)(system->topology, time)};
    double power[SUM_WIDTH] = {0};
    add_sum(system, (size_t)system->state->nodes, sum_nodes, &now, power, worker);
    power[WORK_DRIVES] += REAL_NAME(mesh_colliders_power)(system) +
                          REAL_NAME(shape_contact_powers)(system, worker).drives;
    power[WORK_WIND] += wind_power(system, &now, worker);
    return (struct external_power){power[WORK_WIND] + power[WORK_DRIVES], power[MOVED_KINETIC]};
}

double REAL_NAME(dissipated_power)(struct system *system, double time, const struct worker *worker)
{
    const struct surroundings now = {.time = time};
    double power[SUM_WIDTH] = {0};
    add_sum(system, (size_t)system->state->nodes, sum_nodes, &now, power, worker);
    return power[WORK_DRAG] + power[WORK_FRICTION] +
           REAL_NAME(springs_damping_power)(system, worker) +
           REAL_NAME(elements_power)(system, worker);
}

static void measure_powers(struct system *system, double time, double power[SUM_WIDTH],
                           const struct worker *worker)
{
    const struct surroundings now = {time, REAL_NAME(wind_at)(system->topology, time)};
    add_node_sum(system, sum_nodes, &now, power, worker);
    power[WORK_DAMPING] += REAL_NAME(springs_damping_power)(system, worker) +
                           REAL_NAME(elements_power)(system, worker);
    power[WORK_FRICTION] += REAL_NAME(surface_contact_power)(system, worker);
    const double drives = power[WORK_DRIVES];
    power[WORK_DRIVES] += REAL_NAME(mesh_colliders_power)(system);
    add_shape_powers(system, power, worker);
    if (integrator_is_implicit(system->settings.integrator)) // work_count_colliders
        power[WORK_DRIVES] = drives;
    power[WORK_WIND] += wind_power(system, &now, worker);
}

// ---- The effect of pumping on the power of drives

// A sample at the start of a step has the gas of that step, of which the last increment comes at
// this very time. The step before ended with the gas before it, and so does the trapezoid of its
// powers: drives have the power p dV/dt of the nodes that they move, which jumps with the pressure
// p.
//
// Verlet's kick at a step's start is also that of the second half of the step before, which
// therefore has the new gas already, and drives have its pressure. There the increment comes half a
// step earlier, and inflation is its work at the mean of the volumes at both ends of the step.

// Whether drives may move nodes of a body. Ranks may not know which nodes of others are driven.
static bool may_sweep(const struct system *system, size_t b)
{
    const struct topology *topology = system->topology;
    const struct topology_body *body = &topology->bodies[b];
    const size_t count = (size_t)topology->kinematic_count;
    const size_t first = lower_bound(topology->kinematic, count, body->first_node);
    if (!body->pressure.present || !body->closed)
        return false;
    return system->exchange ||
           (first < count && topology->kinematic[first] < body->first_node + body->node_count);
}

// dV/dt by the driven nodes of a face: their share of the area that they move.
static double swept_by_face(const struct system *system, const struct topology_body *body,
                            double origin, uint64_t i)
{
    (void)origin;
    const struct face_shape face =
        face_shape(system->state, system->topology->faces[body->first_listed_face + i]);
    const vec3 area = vec3_make((double)face.sx, (double)face.sy, (double)face.sz);
    double swept = 0;
    for (int corner = 0; corner < face.corners; corner++)
        if (system->constants->inverse_mass[face.nodes[corner]] == 0)
            swept += vec3_dot(area, velocity_in_wind(system->state, face.nodes[corner]));
    return swept / face.corners;
}

static void sum_swept(const struct system *system, const void *argument, struct range range,
                      double sums[SUM_WIDTH])
{
    for (size_t i = range.first; i < range.end; i++)
        sums[0] += swept_by_face(system, argument, 0, i);
}

// Whether the last increment has changed any gas.
static bool is_pumped(const struct system *system, uint64_t gas_step)
{
    for (size_t b = 0; gas_step > 0 && b < system->topology->body_count; b++)
        if (system->topology->bodies[b].pressure.present &&
            REAL_NAME(gas_amount)(system, b, gas_step) !=
                REAL_NAME(gas_amount)(system, b, gas_step - 1))
            return true;
    return false;
}

// Measures the volume that drives sweep, for the next record. Called by all workers.
static void measure_swept(struct system *system, struct evaluation evaluation,
                          const struct worker *worker)
{
    const struct topology *topology = system->topology;
    if (!system->swept)
        return;
    if (worker->index == 0)
        memset(system->swept, 0, topology->body_count * sizeof *system->swept);
    if (!is_pumped(system, evaluation.gas_step))
        return;
    if (system->exchange) {
        if (REAL_NAME(exchange_has_part)(system))
            REAL_NAME(exchange_ends)(system, true, worker);
        REAL_NAME(sum_faces_of_parts)
        (system, may_sweep, swept_by_face, system->swept, worker);
        return;
    }
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        double total[SUM_WIDTH];
        if (!may_sweep(system, b))
            continue;
        REAL_NAME(sum_over_chunks)
        (system, (size_t)body->face_count, sum_swept, body, total, worker);
        if (worker->index == 0)
            system->swept[b] = total[0];
    }
}

// The pressure that the increments from one number to another have added at once.
static double pumped_pressure(const struct system *system, size_t b, uint64_t from, uint64_t to)
{
    const struct scene_pressure *gas = &system->topology->bodies[b].pressure;
    const double volume = system->state->volume[b], built = system->state->volume_built[b];
    if (!gas->present || !(volume > 0))
        return 0;
    return REAL_NAME(gas_pressure)(gas, REAL_NAME(gas_amount)(system, b, to), volume, built) -
           REAL_NAME(gas_pressure)(gas, REAL_NAME(gas_amount)(system, b, from), volume, built);
}

// The power that these increments have taken from drives at once.
static double pumped_power(const struct system *system, uint64_t from, uint64_t to)
{
    double power = 0;
    for (size_t b = 0; system->swept && b < system->topology->body_count; b++)
        if (system->swept[b] != 0)
            power += pumped_pressure(system, b, from, to) * system->swept[b];
    return power;
}

// The work that the increments do in addition with Verlet, where they come earlier.
static double pumped_early(const struct system *system, uint64_t from, uint64_t to)
{
    double work = 0;
    for (size_t b = 0; is_verlet(system) && b < system->topology->body_count; b++)
        if (system->topology->bodies[b].pressure.present)
            work += pumped_pressure(system, b, from, to) *
                    (system->state->volume[b] - system->state->volume_sampled[b]) / 2;
    return work;
}

// Stores the volumes for the next sample; not called for samples that are only shown. Volumes of
// bodies without gas are those of the last time that they were read.
static void note_volumes(const struct system *system)
{
    for (size_t b = 0; is_verlet(system) && b < system->topology->body_count; b++)
        if (system->topology->bodies[b].pressure.present)
            system->state->volume_sampled[b] = system->state->volume[b];
}

// The gas energy added by inflation from one number of increments to another, at the present
// volume.
static double inflation_work(const struct system *system, uint64_t from, uint64_t to)
{
    double work = 0;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct scene_pressure *gas = &system->topology->bodies[b].pressure;
        double volume = system->state->volume[b], built = system->state->volume_built[b];
        if (!gas->present || !(volume > 0))
            continue;
        work += REAL_NAME(gas_energy)(gas, REAL_NAME(gas_amount)(system, b, to), volume, built) -
                REAL_NAME(gas_energy)(gas, REAL_NAME(gas_amount)(system, b, from), volume, built);
    }
    return work;
}

// Whether the last step or the one before it was a step of implicit Euler in a method of order 2:
// with this bdf2 starts, and implicit midpoint takes steps that would gain energy. Its error is of
// the order of the second difference of K, not of the third.
static bool follows_euler(const struct system *system, struct evaluation evaluation)
{
    const enum integrator integrator = system->settings.integrator;
    const uint64_t step = evaluation.gas_step - 1, from = system->state->previous_state_from;
    return (integrator == INTEGRATOR_BDF2 && step <= from + 2) ||
           (integrator == INTEGRATOR_IMPLICIT_MIDPOINT && from > 0 && step <= from + 1);
}

// Whether the work of a cause in the step before a sample has been counted within the step.
static bool is_counted(const struct energy_budget *work, int cause)
{
    return work->times == POWERS_AT_STAGE && cause != WORK_DRIVES;
}

// The sign of the energy that a cause adds.
static double sign_of(int cause)
{
    return cause == WORK_WIND || cause == WORK_DRIVES ? 1 : -1;
}

// A second sample at the same time. Where powers have jumped, as with the velocity of a drive, no
// difference extends over the jump, which is no error of a step. The last force of some methods in
// the step that ends there has the velocities after it, though: for half the step, at most, other
// forces than those of drives have the wrong power.
static void record_jump(struct energy_budget *work, double dt, const double power[SUM_WIDTH])
{
    double jump = 0;
    bool jumps = false;
    for (int cause = 0; cause < WORK_POWERS; cause++) {
        const double change = fabs(power[cause] - work->power[cause]);
        jumps |= change > 0;
        jump += cause == WORK_DRIVES ? 0 : change;
    }
    if (!jumps)
        return;
    work->difference_sums[0] += dt * jump / 2;
    work->difference_sums[1] += dt * jump / 2;
    work->differences_present = 0;
    work->restarts++;
}

// Counts the error of the trapezoids of the powers. Methods of order 1 use the powers at one end of
// a step, which is wrong by half their change, and so is the force there. A trapezoid is wrong by a
// twelfth of the second difference. Twice both is counted, since differences may be greater at the
// ends of a run.
static void record_powers(struct energy_budget *work, double elapsed, const double power[SUM_WIDTH])
{
    double varied = 0, change = 0;
    for (int cause = 0; cause < WORK_POWERS; cause++) {
        const double first = power[cause] - work->power[cause];
        varied += fabs(first);
        change += sign_of(cause) * first;
    }
    work->difference_sums[0] += elapsed * varied;
    if (work->differences_present >= 1)
        work->difference_sums[1] += elapsed * fabs(change - work->power_change) / 6;
    work->power_change = change;
}

// Updates the differences of the kinetic energy and of the powers from step to step, and the
// exchanged energy. Nodes with a prescribed motion have no part in it: their error is not that of
// the integrator.
static void record_exchange(struct energy_budget *work, double elapsed, double dt, bool euler,
                            const double power[SUM_WIDTH])
{
    const double kinetic = power[WORK_KINETIC] - power[MOVED_KINETIC];
    if (work->sampled && !(elapsed > 0)) {
        record_jump(work, dt, power);
        return;
    }
    if (work->sampled) {
        record_powers(work, elapsed, power);
        work->difference_sums[0] += elapsed * elapsed * power[WORK_KICKS];
        double first = kinetic - work->kinetic;
        double second = first - work->difference[0], third = second - work->difference[1];
        work->exchanged += fabs(first);
        for (int cause = 0; cause < WORK_POWERS; cause++)
            if (!is_counted(work, cause))
                work->exchanged += elapsed * fabs(power[cause]);
        if (work->differences_present >= 1)
            work->difference_sums[0] += fabs(second);
        if (work->differences_present >= 1 && euler)
            work->difference_sums[1] += fabs(second);
        if (work->differences_present >= 2)
            work->difference_sums[1] += fabs(third);
        work->difference[0] = first;
        work->difference[1] = second;
        if (work->differences_present < 2)
            work->differences_present++;
    }
    work->kinetic = kinetic;
    work->uncut_kinetic = power[WORK_KINETIC];
}

void REAL_NAME(work_note_kicks)(struct system *system, uint64_t steps, const struct worker *worker)
{
    double sums[SUM_WIDTH];
    REAL_NAME(sum_over_nodes)(system, sum_kicks, NULL, sums, worker);
    const double dt = system->settings.dt;
    if (worker->index == 0 && system->exchange)
        REAL_NAME(work_catch_up)(system); // sums are added in the order of the steps
    if (worker->index == 0)
        system->work.difference_sums[0] += (double)steps * dt * dt * sums[WORK_KICKS];
    stage_end(&system->clock, STAGE_WORK, worker);
}

// If each step removes from K what its forces have added, as at a terminal speed, K is the same at
// the start of every step, and its differences do not show the error of the steps. For a method of
// order 1 that is half of h F.(v' - v) in a step from v to v' (cli/run_report.c): its sum over
// steps is not that of the change of h F.v over the run if v' jumps back at the end, by v' (1 -
// sqrt(K'' / K')), with K' before and K'' after the loss. h F.v' is approximately the work of the
// forces. For a method of order 2 it is the square of that fraction.
void REAL_NAME(work_note_loss)(struct system *system, double kinetic_before, double loss)
{
    struct energy_budget *work = &system->work;
    if (!work->sampled || !(kinetic_before > 0))
        return;
    const double left = fmax(0, 1 - loss / kinetic_before);
    const double gained = fabs(kinetic_before - work->uncut_kinetic);
    const double part = fabs(1 - sqrt(left));
    work->difference_sums[0] += gained * part;
    work->difference_sums[1] += gained * part * part;
    work->uncut_kinetic = kinetic_before - loss;
}

// Adds all work since the last count to the energy exchanged.
static void count_finite_work(struct energy_budget *work, bool adds)
{
    for (int cause = 0; cause < WORK_CAUSES; cause++) {
        if (adds)
            work->exchanged += fabs(work->done[cause] - work->counted[cause]);
        work->counted[cause] = work->done[cause];
    }
}

// The weight of the present power in the work since the last sample; the power at the last sample
// has the rest.
//
// Verlet's forces at t, from velocities w = v(t - h / 2), do the work h F(x, w).v in a step. The
// kernels have F(x, w).w, which is the power at t - h / 2. For a force whose size does not depend
// on the speed, such as friction, this gives the work of the step before t. Damping, -c w, has h c
// w.v = h c w.(w + h a / 2), the power c v^2 at t - h / 4, so that the work of the step before t is
// h P(t - 3 h / 4): between samples that are those of t - h / 2 and of t - 3 h / 2.
//
// Implicit Euler takes h P of the end: with damping that is strong for the step, the power at its
// start is that of a motion that the step does not have. The work of its dissipation at a stage has
// been counted there.
static double weight_of_now(const struct energy_budget *work, int cause, bool lags)
{
    if (work->times == POWERS_AT_END && cause != WORK_DRIVES)
        return 1;
    if (lags && cause == WORK_FRICTION)
        return 1;
    return lags && work->lags && cause == WORK_DAMPING ? 0.75 : 0.5;
}

// The factors of a cause's powers at the samples at the start and at the end of a step:
// keep_velocity has multiplied the velocities there by q after the step before it. The step ends
// with the velocities before that; powers of dissipation are quadratic in them, those of a wind
// that ignores the velocity of the body linear. bdf2 has the force at the end of the whole step, so
// that the velocities of both ends are multiplied. Explicit methods of order 1 have an error of
// that size in any case.
static void weigh_kept(const struct system *system, int cause, double *start, double *end)
{
    const double keep = system->settings.keep_velocity;
    const enum integrator integrator = system->settings.integrator;
    const bool knows_end = integrator == INTEGRATOR_MIDPOINT || integrator == INTEGRATOR_RK4 ||
                           integrator == INTEGRATOR_IMPLICIT_MIDPOINT ||
                           integrator == INTEGRATOR_BDF2 || system->work.times == POWERS_AT_END;
    const bool dissipates = cause == WORK_DAMPING || cause == WORK_DRAG || cause == WORK_FRICTION;
    const bool absolute_wind = cause == WORK_WIND && !system->topology->environment.wind.relative;
    if (!knows_end || !(keep > 0) || !(dissipates || absolute_wind))
        return;
    *end /= dissipates ? keep * keep : keep;
    if (integrator == INTEGRATOR_BDF2 && dissipates)
        *start /= keep;
}

// Whether a drive has changed its velocity between two times, and not just at one of them. The
// trapezoid then has the velocities of the wrong part of the step at one of its ends.
static bool drive_changes_between(const struct system *system, double from, double to)
{
    const double rounding = 1e-9 * system->settings.dt;
    // A sample at the end of a step also has the velocities of mesh colliders after a change.
    return REAL_NAME(prescribed_motion_changes)(system, from + rounding, to - rounding,
                                                to + rounding);
}

// The work that drives have done on yielding springs and that their powers lack. Springs yield just
// before a sample.
static double take_driven(const struct system *system)
{
    double driven = 0;
    for (size_t chunk = 0; chunk < chunk_count((size_t)plan_fragile_total(system->plan)); chunk++) {
        driven += system->fragile_drives[chunk];
        system->fragile_drives[chunk] = 0;
    }
    return driven;
}

static void record(const struct system *system, struct energy_budget *work,
                   struct evaluation evaluation, const double power[SUM_WIDTH], bool lags)
{
    double elapsed = evaluation.time - work->sampled_time;
    double end_power[SUM_WIDTH]; // of the step that ends here
    memcpy(end_power, power, sizeof end_power);
    if (work->sampled && evaluation.gas_step > work->sampled_gas_step)
        end_power[WORK_DRIVES] += pumped_power(system, work->sampled_gas_step, evaluation.gas_step);
    if (system->exchange)
        REAL_NAME(springs_share_losses)(system, REAL_NAME(exchange_part)(system->exchange));
    count_finite_work(work, work->sampled); // of projections and impacts, between samples
    record_exchange(work, elapsed, system->settings.dt, follows_euler(system, evaluation),
                    end_power);
    if (work->sampled && drive_changes_between(system, work->sampled_time, evaluation.time)) {
        const double missed = elapsed * fabs(end_power[WORK_DRIVES] - work->power[WORK_DRIVES]) / 2;
        work->difference_sums[0] += missed;
        work->difference_sums[1] += missed;
    }
    for (int cause = 0; cause < WORK_POWERS; cause++) {
        const double weight = weight_of_now(work, cause, lags);
        double start = 1 - weight, end = weight;
        weigh_kept(system, cause, &start, &end);
        if (work->sampled && !is_counted(work, cause))
            work->done[cause] += elapsed * (start * work->power[cause] + end * end_power[cause]);
        work->power[cause] = power[cause];
    }
    work->times = POWERS_AT_BOTH_ENDS;
    if (work->sampled)
        work->done[WORK_DRIVES] += power[MOVED_KINETIC] - work->moved_kinetic;
    work->moved_kinetic = power[MOVED_KINETIC];
    const double driven = take_driven(system);
    work->done[WORK_DRIVES] += work->sampled ? driven : 0;
    count_finite_work(work, false); // powers are included already, and so is all kinetic energy
    if (work->sampled && evaluation.gas_step > work->sampled_gas_step)
        work->done[WORK_INFLATION] +=
            inflation_work(system, work->sampled_gas_step, evaluation.gas_step) +
            pumped_early(system, work->sampled_gas_step, evaluation.gas_step);
    double lost = 0;
    for (size_t chunk = 0; chunk < chunk_count((size_t)plan_fragile_total(system->plan)); chunk++)
        lost += system->fragile_losses[chunk];
    work->done[WORK_BREAKING] = lost;
    count_finite_work(work, work->sampled);
    work->sampled_time = evaluation.time;
    work->sampled_gas_step = evaluation.gas_step;
    if (work == &system->work)
        note_volumes(system);
    work->sampled = true;
    work->lags = lags;
}

bool REAL_NAME(work_is_recorded)(const struct system *system, struct evaluation evaluation)
{
    const double *kept = system->exchange ? REAL_NAME(exchange_kept_time)(system->exchange) : NULL;
    return (kept && *kept == evaluation.time) ||
           (system->work.sampled && system->work.sampled_time == evaluation.time);
}

static void record_now(struct system *system, struct evaluation evaluation, const double *tiles,
                       bool lags)
{
    double power[SUM_WIDTH];
    collect_powers(system, tiles, power);
    record(system, &system->work, evaluation, power, lags);
}

void REAL_NAME(work_catch_up)(struct system *system)
{
    const int count = system->powers ? REAL_NAME(exchange_add_powers)(system) : 0;
    for (int i = 0; i < count; i++) {
        bool lags;
        const double *tiles;
        const struct evaluation evaluation =
            REAL_NAME(exchange_take_powers)(system, i, &tiles, &lags);
        record_now(system, evaluation, tiles, lags);
    }
}

// Whether the powers of several evaluations may be added together, later: not where amounts of
// whole steps (keep_velocity, contacts, springs that break or yield) are counted between them, nor
// where the volume of gas is needed.
static bool may_wait(const struct system *system)
{
    const struct topology *topology = system->topology;
    return system->settings.keep_velocity == 1 && !system->settings.projects &&
           !system->state->friction_flags && !system->surface_contact &&
           !topology_has_gas(topology) && !topology->any_breaks && !topology->any_yields;
}

void REAL_NAME(work_record)(struct system *system, struct evaluation evaluation, bool lags,
                            const struct worker *worker)
{
    measure_swept(system, evaluation, worker);
    if (worker->index == 0) {
        const bool waits = system->exchange && may_wait(system);
        if (system->exchange) {
            if (REAL_NAME(exchange_keep_powers)(system, evaluation, lags) || !waits)
                REAL_NAME(work_catch_up)(system);
        } else {
            record_now(system, evaluation, NULL, lags);
        }
    }
    if (topology_has_gas(system->topology)) // other workers may measure its volumes again
        worker_barrier(worker);
    stage_count(&system->clock, STAGE_WORK, worker);
}

// ---- Forces and colliders in implicit steps

void REAL_NAME(work_measure_stage)(struct system *system, double time, double powers[WORK_POWERS],
                                   const struct worker *worker)
{
    double power[SUM_WIDTH] = {0};
    const bool paused =
        !REAL_NAME(exchange_has_part)(system) && REAL_NAME(exchange_pause)(system, worker);
    REAL_NAME(contacts_find)(system, time, worker);
    measure_powers(system, time, power, worker);
    worker_barrier(worker);
    REAL_NAME(exchange_resume)(system, paused, worker);
    if (worker->index == 0)
        memcpy(powers, power, WORK_POWERS * sizeof *powers);
    stage_end(&system->clock, STAGE_WORK, worker);
}

void REAL_NAME(work_count_step)(struct system *system, enum power_times times,
                                const double powers[WORK_POWERS])
{
    struct energy_budget *work = &system->work;
    work->times = times;
    for (int cause = 0; cause < WORK_POWERS; cause++)
        if (is_counted(work, cause))
            work->done[cause] += system->settings.dt * powers[cause];
}

double REAL_NAME(contact_colliders_power)(struct system *system, const struct worker *worker)
{
    return REAL_NAME(mesh_colliders_power)(system) +
           REAL_NAME(shape_contact_powers)(system, worker).drives;
}

// The order of the error of a step follows from the differences of these powers too
// (record_powers). Their values before the first step are not known.
void REAL_NAME(work_count_colliders)(struct system *system, double done)
{
    struct energy_budget *work = &system->work;
    const double change = done - work->collider_work[0];
    work->done[WORK_DRIVES] += done;
    if (work->differences_present >= 1) {
        work->difference_sums[0] += fabs(change);
        work->difference_sums[1] += fabs(change - work->collider_work[1]) / 6;
    }
    work->collider_work[0] = done;
    work->collider_work[1] = change;
}

// ---- Impacts within implicit steps

static double work_of_causes(const struct energy_budget *work)
{
    const double *done = work->done;
    return done[WORK_WIND] + done[WORK_DRIVES] + done[WORK_INFLATION] - done[WORK_DAMPING] -
           done[WORK_DRAG] - done[WORK_FRICTION] - done[WORK_KEEP] - done[WORK_PROJECTION] -
           done[WORK_BREAKING] - done[WORK_TRUNCATION];
}

static bool any_restitution(const struct topology *topology)
{
    for (size_t c = 0; c < topology->collider_count; c++)
        if (topology->colliders[c].response == RESPONSE_PROJECT &&
            topology->colliders[c].restitution > 0)
            return true;
    return false;
}

void REAL_NAME(work_note_energy)(struct system *system, double energy)
{
    struct energy_budget *work = &system->work;
    work->noted_step = system->state->step;
    work->energy_before = energy;
    work->work_before = work_of_causes(work);
}

void REAL_NAME(work_note_start)(struct system *system, const struct worker *worker)
{
    uint64_t step = system->state->step;
    const struct evaluation now = {step_time(system, step), step + 1, false};
    const double energy = REAL_NAME(energy_total)(system, now, worker);
    if (worker->index == 0)
        REAL_NAME(work_note_energy)(system, energy);
    stage_end(&system->clock, STAGE_WORK, worker);
}

void REAL_NAME(work_note_impact)(struct system *system)
{
    struct energy_budget *work = &system->work;
    work->closes |= work->noted_step == system->state->step && work->sampled;
    work->closes_next = true;
}

bool REAL_NAME(work_follows_impact)(struct system *system, const struct worker *worker)
{
    const bool follows = system->work.closes_next;
    if (!follows)
        return false;
    REAL_NAME(work_note_start)(system, worker); // all have read the flag when this returns
    if (worker->index == 0) {
        system->work.closes = true;
        system->work.closes_next = false;
    }
    worker_barrier(worker);
    return true;
}

// A step with an impact is inelastic. It loses energy, except if a bounce returns the energy that
// implicit Euler's steps in free flight have lost, or if nodes that were inside at its start are
// moved onto the surface, against springs; any other gain is the error of the trapezoid with strong
// damping.
static void close_impact(struct energy_budget *work, bool bounces, double energy)
{
    const double others = work_of_causes(work) - work->work_before;
    const double taken = others - (energy - work->energy_before);
    work->done[WORK_PROJECTION] += bounces ? taken : fmax(taken, -work->lifted);
    work->lifted = 0;
    work->closes = false;
}

// ---- Samples by loops, and output

// Writes the sample into the budget itself, or into the copy of it that is shown.
static void sample(struct system *system, struct energy_budget *to, struct evaluation evaluation,
                   const struct worker *worker)
{
    double power[SUM_WIDTH] = {0};
    if (system->exchange) {
        worker_barrier(worker); // all have read what is recorded
        if (worker->index == 0)
            REAL_NAME(work_catch_up)(system);
    }
    // Ranks that hold only their parts measure together.
    const bool paused =
        !REAL_NAME(exchange_has_part)(system) && REAL_NAME(exchange_pause)(system, worker);
    measure_powers(system, evaluation.time, power, worker);
    measure_swept(system, evaluation, worker);
    const bool closes = system->work.closes && evaluation.time > system->work.sampled_time;
    const double energy = closes ? REAL_NAME(energy_total)(system, evaluation, worker) : 0;
    worker_barrier(worker); // all have read whether it closes
    REAL_NAME(exchange_resume)(system, paused, worker);
    if (worker->index == 0) {
        *to = system->work;
        record(system, to, evaluation, power, false);
        if (closes)
            close_impact(to, any_restitution(system->topology), energy);
    }
}

void REAL_NAME(work_sample)(struct system *system, struct evaluation evaluation,
                            const struct worker *worker)
{
    if (!system->settings.keep_energy_budget)
        return;
    sample(system, &system->work, evaluation, worker);
    stage_end(&system->clock, STAGE_WORK, worker);
}

void REAL_NAME(work_show)(struct system *system, struct evaluation evaluation,
                          const struct worker *worker)
{
    if (!system->settings.keep_energy_budget)
        return;
    if (!evaluation.powers) {
        sample(system, &system->work_shown, evaluation, worker);
    } else {
        measure_swept(system, evaluation, worker);
    }
    if (evaluation.powers && worker->index == 0) {
        double power[SUM_WIDTH];
        const double *tiles = NULL;
        if (system->exchange) // each part was measured by one rank
            tiles = REAL_NAME(exchange_add_present_powers)(system);
        collect_powers(system, tiles, power);
        system->work_shown = system->work;
        record(system, &system->work_shown, evaluation, power, false);
    }
    if (worker->index == 0)
        system->work_shown_step = system->state->step;
    worker_barrier(worker);
}
