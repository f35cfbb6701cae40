#include "integrate/hand.h"

#include "state/reading.h"

static vec3 hand_force(const struct system *system)
{
    const struct hand *hand = &system->hand;
    const struct state *s = system->state;
    vec3 pull = vec3_subtract(hand->target, node_position(s, hand->node));
    return vec3_subtract(vec3_scale(hand->stiffness, pull),
                         vec3_scale(hand->damping, node_velocity(s, hand->node)));
}

// Where there is an account the hand is one of the drives; and what it puts in is no divergence.
static void count_work(struct system *system, double work)
{
    system->work.done[WORK_DRIVES] += work;
    system->energy_start += fabs(work);
}

// ---- How stiff

// The springs at a node, and the mass that comes along with it: its own and its neighbours'.
struct surroundings {
    double stiffness, mass;
};

static void add_spring(const struct system *system, const struct spring_run *run, uint64_t other,
                       struct surroundings *found)
{
    const struct spring_constants *material = &system->constants->material[run->material];
    if (material->law != LAW_RIGID) // these have no stiffness of their own
        found->stiffness += (double)material->stiffness;
    found->mass += topology_mass(system->topology, other);
}

static struct surroundings look_around(const struct system *system, uint64_t node)
{
    const struct topology *topology = system->topology;
    const struct topology_body *body = &topology->bodies[topology_body_of_node(topology, node)];
    const uint64_t end = body->first_spring + body->spring_count;
    struct surroundings found = {0, topology_mass(topology, node)};
    for (uint64_t spring = body->first_spring; spring < end;) {
        struct spring_run run = topology_run(topology, spring, end);
        if (node - run.a < run.count) // unsigned: not before it either
            add_spring(system, &run, run.b + (node - run.a), &found);
        if (node - run.b < run.count)
            add_spring(system, &run, run.a + (node - run.b), &found);
        spring += run.count;
    }
    return found;
}

// Four times as stiff as all springs of the node together, so that these give way and not the hand;
// but of an explicit step at most such that omega h = 0.2 with the mass that comes along, and what
// has no springs goes by that alone. Damped so that the node goes for where the hand is in a time
// in which waves go some ten springs far, or in five steps at least: a hand that jumps shall lead
// the node there, not fling it.
void REAL_NAME(hand_choose)(const struct system *system, struct hand *hand)
{
    const struct settings *settings = &system->settings;
    const struct surroundings around = look_around(system, hand->node);
    const bool any_stiffness =
        integrator_is_implicit(settings->integrator) || settings->integrator == INTEGRATOR_XPBD;
    const double omega = 0.2 / settings->dt, by_step = omega * omega * around.mass;
    double stiffness = 4 * around.stiffness, delay = 2 / omega;
    if (stiffness > 0)
        delay = fmax(5 * settings->dt, 10 * sqrt(around.mass / around.stiffness));
    if (stiffness == 0 || (!any_stiffness && stiffness > by_step))
        stiffness = by_step;
    hand->stiffness = stiffness;
    hand->damping = stiffness * delay;
}

// ---- Kicks

// The change of velocity dv of
//
//     m dv = h (k (target - x - h dv) - c (v + dv)),
//
// with x and v those that the node has at the end of the step without the hand; it has still to go
// for `left` seconds until then.
static vec3 find_kick(struct system *system, double h, double left)
{
    struct hand *hand = &system->hand;
    vec3 way = vec3_scale(left * hand->stiffness, node_velocity(system->state, hand->node));
    const double mass = topology_mass(system->topology, hand->node);
    const double slowed = 1 + h / mass * (hand->damping + h * hand->stiffness);
    vec3 kick = vec3_scale(h / mass / slowed, vec3_subtract(hand_force(system), way));
    hand->force = vec3_scale(mass / h, kick);
    return kick;
}

static void add(real *const to[3], size_t node, double factor, vec3 change)
{
    to[0][node] += (real)(factor * change.x);
    to[1][node] += (real)(factor * change.y);
    to[2][node] += (real)(factor * change.z);
}

// A constant force F = m dv / h in a step that is done: each integrator would have made of it what
// is added here, so that velocities never are those of a node that has been kicked and not yet held
// back by its springs, which damping would see. Verlet has the force in the step to come, through
// the place one step back; its velocity is that of the middle of both steps.
static void kick_after_step(struct system *system)
{
    const struct settings *settings = &system->settings;
    struct state *s = system->state;
    const size_t node = system->hand.node;
    const double h = settings->dt;
    const vec3 kick = find_kick(system, h, 0);
    real *const places[3] = {s->x, s->y, s->z}, *const velocities[3] = {s->vx, s->vy, s->vz};
    switch (settings->integrator) {
    case INTEGRATOR_EXPLICIT_EULER:
        break;
    case INTEGRATOR_SYMPLECTIC_EULER:
        add(places, node, settings->position_step, kick);
        break;
    case INTEGRATOR_VERLET:
        add((real *const[3]){s->x0, s->y0, s->z0}, node, -h, kick);
        add(velocities, node, 0.5, kick);
        return;
    default:
        add(places, node, h / 2, kick);
        break;
    }
    add(velocities, node, 1, kick);
}

void REAL_NAME(hand_end)(struct system *system, const struct worker *worker)
{
    const enum integrator integrator = system->settings.integrator;
    struct hand *hand = &system->hand;
    if (!hand->pulls || integrator == INTEGRATOR_XPBD)
        return;
    worker_barrier(worker); // all nodes are where they are at the end
    if (worker->index == 0) {
        if (!integrator_is_implicit(integrator))
            kick_after_step(system);
        vec3 place = node_position(system->state, hand->node);
        count_work(system, vec3_dot(hand->force, vec3_subtract(place, hand->start)));
        hand->start = place;
    }
    worker_barrier(worker);
}

void REAL_NAME(hand_in_substep)(struct system *system, double h, const struct worker *worker)
{
    struct state *s = system->state;
    const struct hand *hand = &system->hand;
    if (!hand->pulls)
        return;
    if (worker->index == 0) {
        add((real *const[3]){s->vx, s->vy, s->vz}, hand->node, 1, find_kick(system, h, h));
        vec3 moves = vec3_scale(h, node_velocity(s, hand->node));
        count_work(system, vec3_dot(hand->force, moves));
    }
    worker_barrier(worker);
}

// ---- Implicit integrators

void REAL_NAME(hand_push)(const struct system *system, double g, struct range share,
                          const struct node_vectors *residual)
{
    const size_t node = system->hand.node;
    if (!system->hand.pulls || node < share.first || node >= share.end)
        return;
    vec3 force = hand_force(system);
    residual->x[node] += (real)(g * force.x);
    residual->y[node] += (real)(g * force.y);
    residual->z[node] += (real)(g * force.z);
}

void REAL_NAME(hand_lean)(const struct system *system, struct linear_solver *solver,
                          struct linear_weights weights, bool leans, const struct worker *worker)
{
    const struct hand *hand = &system->hand;
    if (!hand->pulls)
        return;
    double mass = topology_mass(system->topology, hand->node);
    double more = weights.stiffness * hand->stiffness + weights.damping * hand->damping;
    worker_barrier(worker); // nobody reads the masses any more
    if (worker->index == 0)
        solver->mass[hand->node] = (real)(leans ? mass + more : mass);
    worker_barrier(worker);
}

void REAL_NAME(hand_feel)(struct system *system, const struct worker *worker)
{
    if (!system->hand.pulls)
        return;
    if (worker->index == 0)
        system->hand.force = hand_force(system);
    worker_barrier(worker); // nobody moves on before
}
