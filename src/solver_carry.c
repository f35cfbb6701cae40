// Takes what a run has become out of one system and puts it into another. Numeric.
#include "solver_carry.h"

#include "integrate/hand.h"
#include "integrate/implicit.h"
#include "integrate/integrate.h"
#include "solver_system.h"
#include "stability/divergence.h"
#include "state/reading.h"

// ---- Nodes

static void take_nodes(const struct system *system, real *const from[3], double *to)
{
    for (uint64_t node = 0; to && node < system->state->nodes; node++) {
        uint64_t inside = topology_node_inside(system->topology, node);
        for (int axis = 0; axis < 3; axis++)
            to[3 * node + (uint64_t)axis] = (double)from[axis][inside];
    }
}

static void put_nodes(const struct system *system, const double *from, real *const to[3])
{
    for (uint64_t node = 0; from && node < system->state->nodes; node++) {
        uint64_t inside = topology_node_inside(system->topology, node);
        for (int axis = 0; axis < 3; axis++)
            to[axis][inside] = (real)from[3 * node + (uint64_t)axis];
    }
}

// The three arrays of a vector field of the state.
#define FIELD(s, x, y, z) ((real *const[3]){(s)->x, (s)->y, (s)->z})

// ---- Springs that break or yield

// A spring's place in the state's arrays, its number in the uncut scene, and its rest length as
// built.
struct spring_place {
    uint64_t place, number;
    real built;
};

typedef void spring_visitor(struct state *state, struct carried *carried,
                            const struct spring_place *spring);

static uint64_t uncut_number(const struct system *system, uint64_t spring, const uint32_t *numbers)
{
    uint64_t outside = topology_spring_outside(system->topology, spring);
    return numbers ? numbers[outside] : outside;
}

static void visit_grid(struct system *system, const struct plan_grid *grid, struct carried *carried,
                       const uint32_t *numbers, spring_visitor *visit)
{
    const struct topology_body *body = &system->topology->bodies[grid->body];
    uint64_t end = grid->remembers ? body->first_spring + body->spring_count : 0;
    for (uint64_t first = body->first_spring; first < end;) {
        struct spring_run run = topology_run(system->topology, first, end);
        for (uint64_t spring = first; spring < first + run.count; spring++)
            visit(system->state, carried,
                  &(struct spring_place){grid->first_place + (spring - body->first_spring),
                                         uncut_number(system, spring, numbers),
                                         (real)run.rest_length});
        first += run.count;
    }
}

static void visit_springs(struct system *system, struct carried *carried, const uint32_t *numbers,
                          spring_visitor *visit)
{
    const struct plan *plan = system->plan;
    if (!system->state->rest_length && !system->state->broken)
        return;
    for (uint64_t i = 0; i < plan->springs.element_count; i++)
        visit(system->state, carried,
              &(struct spring_place){i,
                                     uncut_number(system, plan_element(&plan->springs, i), numbers),
                                     built_rest_length(system->constants, i)});
    for (size_t g = 0; g < plan->grid_count; g++)
        visit_grid(system, &plan->grids[g], carried, numbers, visit);
}

static void take_spring(struct state *s, struct carried *carried, const struct spring_place *spring)
{
    if (s->broken)
        carried->broken[spring->number] = s->broken[spring->place];
    if (s->rest_length) {
        real rest = s->rest_length[spring->place];
        carried->rest_length[spring->number] = rest == spring->built ? 0 : (double)rest;
        carried->rest_built[spring->number] = (double)spring->built;
    }
}

// A spring that is built longer now has yielded as far in proportion.
static real rest_length_now(const struct carried *carried, const struct spring_place *spring)
{
    double rest = carried->rest_length ? carried->rest_length[spring->number] : 0;
    if (rest == 0)
        return spring->built;
    double built = carried->rest_built[spring->number];
    if (built == (double)spring->built || built == 0)
        return (real)rest;
    return (real)(rest / built * (double)spring->built);
}

static void put_spring(struct state *s, struct carried *carried, const struct spring_place *spring)
{
    if (s->broken)
        s->broken[spring->place] = carried->broken ? carried->broken[spring->number] : 0;
    if (s->rest_length)
        s->rest_length[spring->place] = rest_length_now(carried, spring);
}

// The running totals of losses: whose chunk they stand in does not matter to their sum.
static double sum_losses(const struct system *system)
{
    double lost = 0;
    for (size_t i = 0; i < chunk_count((size_t)plan_fragile_total(system->plan)); i++)
        lost += system->fragile_losses[i];
    return lost;
}

static void put_springs(struct system *system, struct carried *carried)
{
    visit_springs(system, carried, carried->to_springs, put_spring);
    REAL_NAME(springs_refresh)(system);
    size_t chunks = chunk_count((size_t)plan_fragile_total(system->plan));
    for (size_t i = 0; i < chunks; i++)
        system->fragile_losses[i] = i == 0 ? carried->fragile_losses : 0;
}

// ---- Moved nodes

static const struct motion *motion_of(const struct carried *carried, uint64_t node, size_t *index)
{
    const struct topology *topology = carried->topology;
    for (size_t m = 0; m < topology->motion_count; m++) {
        if (topology_node_outside(topology, topology->motions[m].node) != node)
            continue;
        *index = m;
        return &topology->motions[m];
    }
    return NULL;
}

// A motion of the same kind goes on; another begins where the node is.
static void put_motions(struct system *system, const struct carried *carried)
{
    const struct topology *topology = system->topology;
    struct state *s = system->state;
    for (size_t m = 0; m < topology->motion_count; m++) {
        const struct motion *motion = &topology->motions[m];
        size_t old = 0;
        const struct motion *before =
            motion_of(carried, topology_node_outside(topology, motion->node), &old);
        s->motion_position[m] = node_position(s, motion->node);
        if (!before || before->type != motion->type)
            continue;
        s->motion_position[m] = carried->motion_position[old];
        s->motion_angle[m] = carried->motion_angle[old];
        s->motion_rate[m] = carried->motion_rate[old];
    }
}

// Nodes that are held from now on stop; what moves some of them tells their velocity at the next
// step.
static void stop_held_nodes(struct system *system, const struct carried *carried)
{
    const struct topology *topology = system->topology;
    struct state *s = system->state;
    for (uint64_t i = 0; i < topology->fixed_count; i++) {
        uint32_t node = topology->fixed[i];
        uint64_t outside = topology_node_outside(topology, node);
        if (!topology_is_fixed(carried->topology, topology_node_inside(carried->topology, outside)))
            s->vx[node] = s->vy[node] = s->vz[node] = 0;
    }
}

// To the last bit where they are, if they are still held.
static void put_leads(struct system *system, struct carried *carried)
{
    system->leads.count = 0;
    for (size_t i = 0; i < carried->leads->count; i++) {
        const struct lead *lead = &carried->leads->items[i];
        uint64_t outside = topology_node_outside(carried->topology, lead->node);
        uint32_t node = (uint32_t)topology_node_inside(system->topology, outside);
        if (system->constants->inverse_mass[node] != 0)
            continue;
        if (!REAL_NAME(motions_take_over)(system, node, lead->velocity)) {
            carried->no_memory = true;
            return;
        }
        system->leads.items[system->leads.count - 1].position = lead->position;
    }
}

static void put_hand(struct system *system, const struct carried *carried)
{
    struct hand *hand = &system->hand;
    *hand = carried->hand;
    uint64_t outside = topology_node_outside(carried->topology, hand->node);
    hand->node = (uint32_t)topology_node_inside(system->topology, outside);
    hand->pulls &= system->constants->inverse_mass[hand->node] != 0;
    if (hand->pulls && hand->chosen)
        REAL_NAME(hand_choose)(system, hand);
}

// ---- Spheres

static bool same_vector(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// A sphere goes on where it is; what the scene says of it otherwise than before counts from now on.
// `center` is where it is at time 0: with another one the sphere is where the scene has it now, so
// that a run that goes on and one that begins anew have it in the same place.
static void put_sphere(struct system *system, const struct carried *carried, size_t c, double now)
{
    const struct scene_collider *wanted = &system->topology->colliders[c];
    const struct scene_collider *before = &carried->topology->colliders[c];
    struct state *s = system->state;
    bool stays = same_vector(wanted->centre, before->centre);
    bool speeds = !same_vector(wanted->velocity, before->velocity);
    if (wanted->type != COLLIDER_SPHERE || before->type != COLLIDER_SPHERE)
        return;
    s->collider_centre[c] = carried->collider_centre[c];
    s->collider_velocity[c] = carried->collider_velocity[c];
    s->collider_since[c] = carried->collider_since[c];
    s->collider_radius[c] =
        wanted->radius == before->radius ? carried->collider_radius[c] : wanted->radius;
    if (stays && !speeds)
        return;
    vec3 moved = vec3_scale(now - s->collider_since[c], s->collider_velocity[c]);
    s->collider_centre[c] = stays ? vec3_add(s->collider_centre[c], moved)
                                  : vec3_add(wanted->centre, vec3_scale(now, wanted->velocity));
    if (speeds)
        s->collider_velocity[c] = wanted->velocity;
    s->collider_since[c] = now;
}

// ---- All of it

static void take_forces(struct system *system, struct carried *carried, const struct worker *worker)
{
    struct state *s = system->state;
    real *const forces[3] = {s->fx, s->fy, s->fz};
    if (!carried->forces || !s->forces_current)
        return;
    if (worker->index == 0)
        take_nodes(system, forces, carried->forces);
    worker_barrier(worker);
    REAL_NAME(forces_look)(system, REAL_NAME(moment_now)(system), worker);
    worker_barrier(worker);
    if (worker->index == 0) {
        take_nodes(system, forces, carried->forces_seen);
        put_nodes(system, carried->forces, forces);
    }
    worker_barrier(worker);
}

// ---- What nodes touch

// Where the state keeps who touches a collider; NULL where it does not project.
static uint8_t *touching_of(const struct system *system, size_t collider)
{
    const struct scene_collider *colliders = system->topology->colliders;
    uint8_t *touching = system->state->touching;
    if (colliders[collider].response != RESPONSE_PROJECT)
        return NULL;
    for (size_t c = 0; c < collider; c++)
        if (colliders[c].response == RESPONSE_PROJECT)
            touching += system->state->nodes;
    return touching;
}

static void take_touching(const struct system *system, struct carried *carried)
{
    const uint64_t nodes = system->state->nodes;
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        const uint8_t *touching = touching_of(system, c);
        for (uint64_t node = 0; touching && node < nodes; node++)
            carried->touching[c * nodes + node] =
                touching[topology_node_inside(system->topology, node)];
    }
}

// Of colliders that are new, or have another shape, what colliders_start has found stays.
static void put_touching(struct system *system, const struct carried *carried)
{
    const uint64_t nodes = system->state->nodes;
    const struct topology *topology = system->topology, *before = carried->topology;
    for (size_t c = 0; c < topology->collider_count && c < (size_t)carried->colliders; c++) {
        uint8_t *touching = touching_of(system, c);
        if (!touching || before->colliders[c].response != RESPONSE_PROJECT ||
            before->colliders[c].type != topology->colliders[c].type)
            continue;
        for (uint64_t node = 0; node < nodes; node++)
            touching[topology_node_inside(topology, node)] = carried->touching[c * nodes + node];
    }
}

void REAL_NAME(carry_take)(struct system *system, struct carried *carried,
                           const struct worker *worker)
{
    struct state *s = system->state;
    take_forces(system, carried, worker);
    if (worker->index != 0)
        return;
    take_nodes(system, FIELD(s, x, y, z), carried->positions);
    take_nodes(system, FIELD(s, vx, vy, vz), carried->velocities);
    take_nodes(system, FIELD(s, x0, y0, z0), carried->positions_before);
    take_nodes(system, FIELD(s, vx0, vy0, vz0), carried->velocities_before);
    if (system->implicit)
        take_nodes(system, FIELD(&system->implicit->solver.solution, x, y, z), carried->correction);
    visit_springs(system, carried, carried->from_springs, take_spring);
    for (size_t m = 0; m < (size_t)s->motions; m++) {
        carried->motion_position[m] = s->motion_position[m];
        carried->motion_angle[m] = s->motion_angle[m];
        carried->motion_rate[m] = s->motion_rate[m];
    }
    carried->leads = &system->leads;
    carried->hand = system->hand;
    for (size_t c = 0; c < (size_t)s->colliders; c++) {
        carried->collider_centre[c] = s->collider_centre[c];
        carried->collider_velocity[c] = s->collider_velocity[c];
        carried->collider_since[c] = s->collider_since[c];
        carried->collider_radius[c] = s->collider_radius[c];
    }
    take_touching(system, carried);
    carried->step = s->step;
    carried->memory_from = s->memory_from;
    carried->forces_current = s->forces_current;
    carried->fragile_losses = sum_losses(system);
    carried->fastest_outside = system->fastest_outside;
    carried->work = system->work;
    carried->implicit_account = system->implicit_account;
}

static void put_all(struct system *system, struct carried *carried)
{
    struct state *s = system->state;
    s->step = carried->step;
    s->memory_from = carried->step;
    s->forces_current = s->forces_zero = s->grid_forces_zero = false;
    system->settings.dt_time = carried->since_time;
    system->settings.dt_step = carried->since_step;
    put_leads(system, carried); // before the velocities: these may be stopped by a plane
    put_nodes(system, carried->positions, FIELD(s, x, y, z));
    put_nodes(system, carried->velocities, FIELD(s, vx, vy, vz));
    if (system->implicit)
        put_nodes(system, carried->correction, FIELD(&system->implicit->solver.solution, x, y, z));
    put_springs(system, carried);
    put_motions(system, carried);
    put_hand(system, carried);
    stop_held_nodes(system, carried);
    for (size_t c = 0; c < (size_t)s->colliders && c < (size_t)carried->colliders; c++)
        put_sphere(system, carried, c, step_time(system, s->step));
    system->fastest_outside = carried->fastest_outside;
    system->work = carried->work;
    system->implicit_account = carried->implicit_account;
    system->fault = (struct fault){.code = TAUT_OK};
}

// Whether the present forces are to the bit those that the other solver found here.
static bool sees_same_forces(const struct system *system, const struct carried *carried)
{
    const struct state *s = system->state;
    for (uint64_t node = 0; node < s->nodes; node++) {
        uint64_t i = topology_node_inside(system->topology, node);
        const double *seen = carried->forces_seen + 3 * node;
        if ((double)s->fx[i] != seen[0] || (double)s->fy[i] != seen[1] ||
            (double)s->fz[i] != seen[2])
            return false;
    }
    return true;
}

// What verlet and bdf2 remember of the step before is good for steps of the same length.
static void put_memory(struct system *system, const struct carried *carried)
{
    struct state *s = system->state;
    bool same =
        system->settings.integrator == carried->integrator && system->settings.dt == carried->dt;
    if (!same)
        return;
    if (s->x0)
        put_nodes(system, carried->positions_before, FIELD(s, x0, y0, z0));
    if (s->vx0)
        put_nodes(system, carried->velocities_before, FIELD(s, vx0, vy0, vz0));
    s->memory_from = carried->memory_from;
}

// Velocity Verlet and verlet end a step with the forces that the next one begins with, found with
// other velocities than those at the end. Where the same forces act now as before, these go on, so
// that the run does to the bit; otherwise they are found anew, and verlet starts as at t = 0, from
// the velocities.
static void go_on(struct system *system, const struct carried *carried, const struct worker *worker)
{
    struct state *s = system->state;
    const bool verlet = system->settings.integrator == INTEGRATOR_VERLET;
    const bool like_before = system->settings.integrator == carried->integrator &&
                             (!verlet || system->settings.dt == carried->dt);
    const bool wanted = carried->forces && carried->forces_current && like_before;
    if (wanted)
        REAL_NAME(forces_look)(system, REAL_NAME(moment_now)(system), worker);
    worker_barrier(worker);
    const bool same = wanted && sees_same_forces(system, carried);
    worker_barrier(worker); // all have read the forces
    if (worker->index == 0 && same) {
        put_nodes(system, carried->forces, FIELD(s, fx, fy, fz));
        s->forces_current = true;
    }
    worker_barrier(worker);
    if (verlet && !same && (!like_before || carried->forces_current))
        REAL_NAME(verlet_start)(system, worker);
}

void REAL_NAME(carry_put)(struct system *system, struct carried *carried,
                          const struct worker *worker)
{
    stage_clock_start(&system->clock, worker);
    if (worker->index == 0) {
        put_all(system, carried);
        put_memory(system, carried);
    }
    worker_barrier(worker);
    REAL_NAME(colliders_start)(system, step_time(system, system->state->step), worker);
    if (worker->index == 0)
        put_touching(system, carried);
    worker_barrier(worker);
    go_on(system, carried, worker);
    taut_energy energy = {0};
    REAL_NAME(energy_measure)(system, REAL_NAME(moment_now)(system), &energy, worker);
    if (worker->index == 0) {
        REAL_NAME(divergence_start)(system, &energy);
        system->fault = (struct fault){.code = TAUT_OK};
    }
    worker_barrier(worker);
}
