// Interaction with a solver between two steps: moving and scaling spheres, kinematic targets of
// pinned and driven nodes, the mouse spring.
#include "solver/private.h"

#include <math.h>

taut_status taut_solver_set_sphere(taut_solver *solver, size_t collider, const double centre[3],
                                   const double velocity[3], taut_error *error)
{
    bool known = collider < solver->topology->collider_count;
    double radius = known ? solver->functions->sphere(solver->system, collider).radius : 1;
    return solver_move_sphere(solver, collider, centre, velocity, radius, error);
}

taut_status taut_solver_set_sphere_target(taut_solver *solver, size_t collider,
                                          const double target[3], double duration,
                                          taut_error *error)
{
    if (!isfinite(duration) || !(duration > 0))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "the time in which a sphere moves must be finite and above 0, not %g",
                    duration);
    bool known = collider < solver->topology->collider_count;
    struct sphere_state now = {.radius = 1};
    if (known)
        now = solver->functions->sphere(solver->system, collider);
    const double centre[3] = {now.centre.x, now.centre.y, now.centre.z};
    double velocity[3];
    for (int axis = 0; axis < 3; axis++)
        velocity[axis] = (target[axis] - centre[axis]) / duration;
    return solver_move_sphere(solver, collider, centre, velocity, now.radius, error);
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
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "a sphere's position and velocity must be finite");
    if (!isfinite(radius) || !(radius > 0))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "a sphere's radius must be finite and above 0, not %g", radius);
    taut_status status = check_precision(solver, centre, 3, false, error);
    if (status == TAUT_OK)
        status = check_precision(solver, velocity, 3, false, error);
    if (status == TAUT_OK)
        status = check_precision(solver, &radius, 1, true, error);
    if (status != TAUT_OK)
        return status;
    apply_changes(solver);
    solver->functions->set_sphere(solver->system, collider,
                                  vec3_make(centre[0], centre[1], centre[2]),
                                  vec3_make(velocity[0], velocity[1], velocity[2]), radius);
    return TAUT_OK;
}

struct sphere_state solver_sphere(const taut_solver *solver, size_t collider)
{
    return solver->functions->sphere(solver->system, collider);
}

// ---- Kinematic nodes

static taut_status find_node(const taut_solver *solver, size_t body, uint64_t node, uint64_t *found,
                             taut_error *error)
{
    const struct topology *topology = solver->topology;
    if (body >= topology->body_count || node >= topology->bodies[body].node_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "there is no node %llu in body %zu",
                    (unsigned long long)node, body);
    *found = topology->bodies[body].first_node + node;
    return TAUT_OK;
}

static bool is_kinematic(const taut_solver *solver, uint64_t node)
{
    return topology_is_kinematic(solver->topology, topology_internal_node(solver->topology, node));
}

taut_status solver_set_kinematic_velocity(taut_solver *solver, size_t body, uint64_t node,
                                          const double velocity[3], taut_error *error)
{
    uint64_t found = 0;
    taut_status status = find_node(solver, body, node, &found, error);
    if (status != TAUT_OK)
        return status;
    if (!is_kinematic(solver, found))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "node %llu of body '%s' is free: only pinned and driven nodes can be moved",
                    (unsigned long long)node, solver->topology->bodies[body].name);
    for (int axis = 0; axis < 3; axis++)
        if (!isfinite(velocity[axis]))
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "the velocity of a kinematic node must be finite");
    status = check_precision(solver, velocity, 3, false, error);
    if (status != TAUT_OK)
        return status;
    apply_changes(solver);
    if (!solver->functions->set_kinematic_velocity(
            solver->system, found, vec3_make(velocity[0], velocity[1], velocity[2])))
        return fail_memory(error, "kinematic targets");
    return TAUT_OK;
}

// ---- The mouse spring

taut_status solver_grab(taut_solver *solver, const struct solver_grab *grab, taut_error *error)
{
    uint64_t found = 0;
    taut_status status = find_node(solver, grab->body, grab->node, &found, error);
    if (status != TAUT_OK)
        return status;
    if (is_kinematic(solver, found))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "node %llu of body '%s' is kinematic: it takes a velocity "
                    "(solver_set_kinematic_velocity)",
                    (unsigned long long)grab->node, solver->topology->bodies[grab->body].name);
    bool sound = isfinite(grab->stiffness) && grab->stiffness >= 0 && isfinite(grab->damping) &&
                 grab->damping >= 0;
    for (int axis = 0; axis < 3; axis++)
        sound &= isfinite(grab->target[axis]) != 0;
    if (!sound)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "a mouse spring's target is finite, its stiffness and damping 0 or more");
    const double constants[] = {grab->stiffness, grab->damping};
    status = check_precision(solver, grab->target, 3, false, error);
    if (status == TAUT_OK)
        status = check_precision(solver, constants, 2, true, error);
    if (status != TAUT_OK)
        return status;
    apply_changes(solver);
    solver->functions->grab(solver->system, found,
                            vec3_make(grab->target[0], grab->target[1], grab->target[2]),
                            grab->stiffness, grab->damping);
    return TAUT_OK;
}

void solver_release_grab(taut_solver *solver)
{
    solver->functions->release_grab(solver->system);
}
