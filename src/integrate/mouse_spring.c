// The impulse of the mouse spring at the end of a step, for each family of integrators, and its
// terms in the linear systems of the implicit ones (mouse_spring.h). solver/interact.c sets the
// node and its target.
#include "integrate/mouse_spring.h"

#include "contact/surface_contact.h"
#include "state/reading.h"

static vec3 spring_force(const struct system *system)
{
    const struct mouse_spring *mouse_spring = &system->mouse_spring;
    const struct state *s = system->state;
    vec3 pull = vec3_subtract(mouse_spring->target, node_position(s, mouse_spring->node));
    return vec3_subtract(vec3_scale(mouse_spring->stiffness, pull),
                         vec3_scale(mouse_spring->damping, node_velocity(s, mouse_spring->node)));
}

// The energy budget counts the mouse spring as a drive, and the divergence check adds its work to
// the explained energy.
static void count_work(struct system *system, double work)
{
    system->work.done[WORK_DRIVES] += work;
    system->energy_start += fabs(work);
}

// ---- Stiffness and damping

// The springs at a node, and the mass that moves with it: its own and its neighbours'.
struct surroundings {
    double stiffness, mass;
};

static void add_spring(const struct system *system, const struct spring_run *run, uint64_t other,
                       struct surroundings *found)
{
    const struct spring_constants *material = &system->constants->material[run->material];
    if (material->law != LAW_RIGID) // rigid springs have no stiffness of their own
        found->stiffness += (double)material->stiffness;
    found->mass += topology_mass(system->topology, other);
}

static struct surroundings find_surroundings(const struct system *system, uint64_t node)
{
    const struct topology *topology = system->topology;
    const struct topology_body *body = &topology->bodies[topology_body_of_node(topology, node)];
    const uint64_t end = body->first_spring + body->spring_count;
    struct surroundings found = {0, topology_mass(topology, node)};
    for (uint64_t spring = body->first_spring; spring < end;) {
        struct spring_run run = topology_run(topology, spring, end);
        if (node - run.a < run.count) // unsigned: also excludes nodes before the run
            add_spring(system, &run, run.b + (node - run.a), &found);
        if (node - run.b < run.count)
            add_spring(system, &run, run.a + (node - run.b), &found);
        spring += run.count;
    }
    return found;
}

// Four times as stiff as all springs of the node together, so that these deform and not the mouse
// spring; for explicit integrators at most such that omega h = 0.2 with the mass that moves along,
// which alone decides for a node without springs. The damping lets the node approach the target in
// the time in which waves travel some ten springs, or in at least five steps: a target that jumps
// pulls the node without overshoot.
void REAL_NAME(mouse_spring_set_stiffness)(const struct system *system,
                                           struct mouse_spring *mouse_spring)
{
    const struct settings *settings = &system->settings;
    const struct surroundings around = find_surroundings(system, mouse_spring->node);
    const bool any_stiffness =
        integrator_is_implicit(settings->integrator) || settings->integrator == INTEGRATOR_XPBD;
    const double omega = 0.2 / settings->dt, by_step = omega * omega * around.mass;
    double stiffness = 4 * around.stiffness, delay = 2 / omega;
    if (stiffness > 0)
        delay = fmax(5 * settings->dt, 10 * sqrt(around.mass / around.stiffness));
    if (stiffness == 0 || (!any_stiffness && stiffness > by_step))
        stiffness = by_step;
    mouse_spring->stiffness = stiffness;
    mouse_spring->damping = stiffness * delay;
}

// ---- Kicks

// The change of velocity dv of
//
//     m dv = h (k (target - x - h dv) - c (v + dv)),
//
// with x and v those that the node has at the end of the step without the mouse spring; it still
// moves for `left` seconds until then.
static vec3 find_kick(struct system *system, double h, double left)
{
    struct mouse_spring *mouse_spring = &system->mouse_spring;
    vec3 travel = vec3_scale(left * mouse_spring->stiffness,
                             node_velocity(system->state, mouse_spring->node));
    const double mass = topology_mass(system->topology, mouse_spring->node);
    const double slowed = 1 + h / mass * (mouse_spring->damping + h * mouse_spring->stiffness);
    vec3 kick = vec3_scale(h / mass / slowed, vec3_subtract(spring_force(system), travel));
    mouse_spring->force = vec3_scale(mass / h, kick);
    return kick;
}

static void add(struct split_vectors to, size_t node, double factor, vec3 change)
{
    split_add(to, node, (real)(factor * change.x), (real)(factor * change.y),
              (real)(factor * change.z));
}

// Adds what each integrator would have computed with the constant force F = m dv / h during the
// completed step. An impulse before the step would let the damping of the springs act on velocities
// that the springs have not restrained yet. Verlet applies the force in the next step, through the
// previous position; its velocity is that at the middle of both steps.
static void kick_after_step(struct system *system)
{
    const struct settings *settings = &system->settings;
    struct state *s = system->state;
    const size_t node = system->mouse_spring.node;
    const double h = settings->dt;
    const vec3 kick = find_kick(system, h, 0);
    const struct split_vectors positions = state_positions(s), before = state_previous_positions(s);
    const struct split_vectors velocities = state_velocities(s);
    switch (settings->integrator) {
    case INTEGRATOR_EXPLICIT_EULER:
        break;
    case INTEGRATOR_SYMPLECTIC_EULER:
        add(positions, node, settings->position_step, kick);
        break;
    case INTEGRATOR_VERLET:
        add(before, node, -h, kick);
        add(velocities, node, 0.5, kick);
        return;
    default:
        add(positions, node, h / 2, kick);
        break;
    }
    add(velocities, node, 1, kick);
}

void REAL_NAME(mouse_spring_end_step)(struct system *system, const struct worker *worker)
{
    const enum integrator integrator = system->settings.integrator;
    struct mouse_spring *mouse_spring = &system->mouse_spring;
    if (!mouse_spring->pulls || integrator == INTEGRATOR_XPBD)
        return;
    worker_barrier(worker); // all nodes are at their positions at the end
    if (worker->index == 0) {
        if (!integrator_is_implicit(integrator)) {
            kick_after_step(system);
            REAL_NAME(surface_contact_displaced)(system);
        }
        vec3 position = node_position(system->state, mouse_spring->node);
        count_work(system,
                   vec3_dot(mouse_spring->force, vec3_subtract(position, mouse_spring->start)));
        mouse_spring->start = position;
    }
    worker_barrier(worker);
}

void REAL_NAME(mouse_spring_substep)(struct system *system, double h, const struct worker *worker)
{
    struct state *s = system->state;
    const struct mouse_spring *mouse_spring = &system->mouse_spring;
    if (!mouse_spring->pulls)
        return;
    if (worker->index == 0) {
        add(state_velocities(s), mouse_spring->node, 1, find_kick(system, h, h));
        vec3 moves = vec3_scale(h, node_velocity(s, mouse_spring->node));
        count_work(system, vec3_dot(mouse_spring->force, moves));
    }
    worker_barrier(worker);
}

// ---- Implicit integrators

void REAL_NAME(mouse_spring_add_force)(const struct system *system, double g, struct range share,
                                       const struct node_vectors *residual)
{
    const size_t node = system->mouse_spring.node;
    if (!system->mouse_spring.pulls || node < share.first || node >= share.end)
        return;
    vec3 force = spring_force(system);
    residual->x[node] += (real)(g * force.x);
    residual->y[node] += (real)(g * force.y);
    residual->z[node] += (real)(g * force.z);
}

void REAL_NAME(mouse_spring_add_tangent)(const struct system *system, struct linear_solver *solver,
                                         struct linear_weights weights, bool adds,
                                         const struct worker *worker)
{
    const struct mouse_spring *mouse_spring = &system->mouse_spring;
    if (!mouse_spring->pulls)
        return;
    double mass = topology_mass(system->topology, mouse_spring->node);
    double more =
        weights.stiffness * mouse_spring->stiffness + weights.damping * mouse_spring->damping;
    worker_barrier(worker); // all have finished reading the masses
    if (worker->index == 0)
        solver->mass[mouse_spring->node] = (real)(adds ? mass + more : mass);
    worker_barrier(worker);
}

void REAL_NAME(mouse_spring_store_force)(struct system *system, const struct worker *worker)
{
    if (!system->mouse_spring.pulls)
        return;
    if (worker->index == 0)
        system->mouse_spring.force = spring_force(system);
    worker_barrier(worker); // none continues before this
}
