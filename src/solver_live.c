#include "solver_live.h"

#include <math.h>

#include "base/memory.h"
#include "solver_carry.h"
#include "solver_dt.h"
#include "topology/cut.h"

// ---- Springs and faces left out

// What else is wanted of the bodies, and then the cuts.
struct cut_change {
    const struct solver_options *wanted;
    const struct solver_cuts *cuts;
};

static taut_status cut(const void *context, struct bodies *bodies, taut_error *error)
{
    const struct cut_change *it = context;
    const struct solver_options *wanted = it->wanted;
    taut_status status =
        wanted->change ? wanted->change(wanted->change_context, bodies, error) : TAUT_OK;
    if (status != TAUT_OK)
        return status;
    uint64_t springs = 0, faces = 0;
    for (size_t b = 0; b < bodies->count; b++) {
        springs += bodies->items[b].spring_count;
        faces += bodies->items[b].face_count;
    }
    if (springs != it->cuts->spring_count || faces != it->cuts->face_count)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "the cuts are of %llu springs and %llu faces, but the scene has %llu and %llu",
                    (unsigned long long)it->cuts->spring_count,
                    (unsigned long long)it->cuts->face_count, (unsigned long long)springs,
                    (unsigned long long)faces);
    if (!bodies_cut(bodies, it->cuts->springs, it->cuts->faces))
        return fail_memory(error, "the bodies that were cut");
    return TAUT_OK;
}

taut_status solver_create_cut(const taut_scene *scene, const struct solver_options *options,
                              const struct solver_cuts *cuts, taut_solver **solver,
                              taut_error *error)
{
    struct cut_change change = {options, cuts};
    struct solver_options cutting = *options;
    cutting.change = cut;
    cutting.change_context = &change;
    return solver_create(scene, cuts ? &cutting : options, solver, error);
}

// ---- What is carried from one solver to another

struct carried_needs {
    bool forces, positions_before, velocities_before, correction, touching;
};

bool carried_make(struct carried *carried, const struct topology *topology,
                  enum integrator integrator, uint64_t springs)
{
    const bool verlet = integrator == INTEGRATOR_VERLET, bdf2 = integrator == INTEGRATOR_BDF2;
    const struct carried_needs needs = {
        .forces = verlet || integrator == INTEGRATOR_VELOCITY_VERLET,
        .positions_before = verlet || bdf2,
        .velocities_before = bdf2,
        .correction = integrator_is_implicit(integrator),
        .touching = topology->collider_count > 0,
    };
    carried->topology = topology;
    carried->integrator = integrator;
    carried->triples = 3 * topology->node_count;
    carried->springs = springs;
    carried->motions = topology->motion_count;
    carried->colliders = topology->collider_count;
    carried->touches = topology->node_count * topology->collider_count;
#define ALLOCATE(type, name, length, condition)                                                    \
    if (condition) {                                                                               \
        carried->name = memory_allocate(NULL, (size_t)carried->length, sizeof(type));              \
        if (!carried->name)                                                                        \
            return false;                                                                          \
    }
    CARRIED_ARRAYS(ALLOCATE)
#undef ALLOCATE
    return true;
}

void carried_free(struct carried *carried)
{
#define RELEASE(type, name, length, condition)                                                     \
    memory_release(NULL, carried->name, (size_t)carried->length, sizeof(type));
    CARRIED_ARRAYS(RELEASE)
#undef RELEASE
    *carried = (struct carried){0};
}

// ---- Going on

struct going_on {
    taut_solver *solver;
    struct carried *carried;
    bool adapts; // dt
};

static void take(void *context, const struct worker *worker)
{
    const struct going_on *it = context;
    it->solver->functions->carry_take(it->solver->system, it->carried, worker);
}

static void put(void *context, const struct worker *worker)
{
    const struct going_on *it = context;
    it->solver->functions->carry_put(it->solver->system, it->carried, worker);
    if (it->adapts)
        dt_adapt(it->solver, worker);
}

static taut_status compare_nodes(const struct topology *to, const struct topology *from,
                                 taut_error *error)
{
    bool same = to->body_count == from->body_count;
    for (size_t b = 0; same && b < to->body_count; b++)
        same = to->bodies[b].node_count == from->bodies[b].node_count;
    if (!same)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "a solver goes on from another one of the same nodes only; these have %llu "
                    "and %llu in %zu and %zu bodies",
                    (unsigned long long)from->node_count, (unsigned long long)to->node_count,
                    from->body_count, to->body_count);
    return TAUT_OK;
}

// How many numbers of springs there are to be in the uncut scene.
static uint64_t count_numbers(uint64_t springs, const uint32_t *numbers)
{
    uint64_t most = numbers ? 0 : springs;
    for (uint64_t i = 0; numbers && i < springs; i++)
        most = numbers[i] + (uint64_t)1 > most ? numbers[i] + (uint64_t)1 : most;
    return most;
}

taut_status solver_go_on_from(taut_solver *solver, taut_solver *from, const uint32_t *from_springs,
                              const uint32_t *to_springs, taut_error *error)
{
    const struct topology *before = from->topology, *after = solver->topology;
    taut_status status = compare_nodes(after, before, error);
    if (status != TAUT_OK)
        return status;
    uint64_t springs = count_numbers(before->spring_count, from_springs);
    uint64_t others = count_numbers(after->spring_count, to_springs);
    if (!from_springs && !to_springs && springs != others)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "a solver goes on from another one of the same springs, unless it is told "
                    "which they are; these have %llu and %llu",
                    (unsigned long long)springs, (unsigned long long)others);
    struct carried carried = {.from_springs = from_springs, .to_springs = to_springs};
    struct going_on going_on = {.solver = from, .carried = &carried};
    if (!carried_make(&carried, before, from->integrator, springs > others ? springs : others)) {
        carried_free(&carried);
        return fail_memory(error, "going on from another solver");
    }
    solver_work(from, take, &going_on);
    going_on.solver = solver;
    going_on.adapts = dt_go_on(solver, from);
    carried.dt = from->dt;
    carried.since_time = solver->dt_rule.since_time;
    carried.since_step = solver->dt_rule.since_step;
    solver_work(solver, put, &going_on);
    bool no_memory = carried.no_memory;
    carried_free(&carried);
    return no_memory ? fail_memory(error, "led nodes") : TAUT_OK;
}

// ---- Spheres

taut_status solver_move_sphere(taut_solver *solver, size_t collider, const double centre[3],
                               const double velocity[3], double radius, taut_error *error)
{
    const struct topology *topology = solver->topology;
    if (collider >= topology->collider_count ||
        topology->colliders[collider].type != COLLIDER_SPHERE)
        return fail(error, TAUT_ERROR_ARGUMENT, "collider %zu is not a sphere of this scene",
                    collider);
    for (int axis = 0; axis < 3; axis++)
        if (!isfinite(centre[axis]) || !isfinite(velocity[axis]))
            return fail(error, TAUT_ERROR_ARGUMENT, "a sphere's place and velocity are finite");
    if (!isfinite(radius) || !(radius > 0))
        return fail(error, TAUT_ERROR_ARGUMENT, "a sphere's radius is above 0, not %g", radius);
    solver->functions->set_sphere(solver->system, collider,
                                  vec3_make(centre[0], centre[1], centre[2]),
                                  vec3_make(velocity[0], velocity[1], velocity[2]), radius);
    return TAUT_OK;
}

void solver_sphere(const taut_solver *solver, size_t collider, double centre[3], double velocity[3],
                   double *radius)
{
    struct sphere_now now = solver->functions->sphere(solver->system, collider);
    const vec3 vectors[2] = {now.centre, now.velocity};
    double *const to[2] = {centre, velocity};
    for (int i = 0; i < 2; i++) {
        to[i][0] = vectors[i].x;
        to[i][1] = vectors[i].y;
        to[i][2] = vectors[i].z;
    }
    *radius = now.radius;
}

// ---- Held nodes

static taut_status find_node(const taut_solver *solver, size_t body, uint64_t node, uint64_t *found,
                             taut_error *error)
{
    const struct topology *topology = solver->topology;
    if (body >= topology->body_count || node >= topology->bodies[body].node_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "there is no node %llu in a body of number %zu",
                    (unsigned long long)node, body);
    *found = topology->bodies[body].first_node + node;
    return TAUT_OK;
}

static bool is_held(const taut_solver *solver, uint64_t node)
{
    return topology_is_fixed(solver->topology, topology_node_inside(solver->topology, node));
}

taut_status solver_lead_node(taut_solver *solver, size_t body, uint64_t node,
                             const double velocity[3], taut_error *error)
{
    uint64_t found = 0;
    taut_status status = find_node(solver, body, node, &found, error);
    if (status != TAUT_OK)
        return status;
    if (!is_held(solver, found))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "node %llu of body '%s' is free: only pinned and driven ones are led",
                    (unsigned long long)node, solver->topology->bodies[body].name);
    for (int axis = 0; axis < 3; axis++)
        if (!isfinite(velocity[axis]))
            return fail(error, TAUT_ERROR_ARGUMENT, "a led node's velocity is finite");
    if (!solver->functions->lead_node(solver->system, found,
                                      vec3_make(velocity[0], velocity[1], velocity[2])))
        return fail_memory(error, "led nodes");
    return TAUT_OK;
}

// ---- A hand

taut_status solver_pull(taut_solver *solver, const struct solver_pull *pull, taut_error *error)
{
    uint64_t found = 0;
    taut_status status = find_node(solver, pull->body, pull->node, &found, error);
    if (status != TAUT_OK)
        return status;
    if (is_held(solver, found))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "node %llu of body '%s' is held: it is led (solver_lead_node), not pulled",
                    (unsigned long long)pull->node, solver->topology->bodies[pull->body].name);
    bool sound = isfinite(pull->stiffness) && pull->stiffness >= 0 && isfinite(pull->damping) &&
                 pull->damping >= 0;
    for (int axis = 0; axis < 3; axis++)
        sound &= isfinite(pull->target[axis]) != 0;
    if (!sound)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "a hand's place is finite, its stiffness and damping 0 or more");
    solver->functions->pull(solver->system, found,
                            vec3_make(pull->target[0], pull->target[1], pull->target[2]),
                            pull->stiffness, pull->damping);
    return TAUT_OK;
}

void solver_let_go(taut_solver *solver)
{
    solver->functions->let_go(solver->system);
}
