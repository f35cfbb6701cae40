// Interaction with a solver between two steps: moving spheres and mesh colliders, kinematic targets
// of pinned and driven nodes, the mouse spring.
#include "solver/private.h"

#include <math.h>

// ---- Places and velocities of colliders

// `whose`: "a sphere's".
static taut_status check_motion(const taut_solver *solver, const char *whose,
                                const double position[3], const double velocity[3],
                                taut_error *error)
{
    for (int axis = 0; axis < 3; axis++)
        if (!isfinite(position[axis]) || !isfinite(velocity[axis]))
            return fail(error, TAUT_ERROR_ARGUMENT, "%s position and velocity must be finite",
                        whose);
    const taut_status status = check_precision(solver, position, 3, false, error);
    return status == TAUT_OK ? check_precision(solver, velocity, 3, false, error) : status;
}

// The velocity from a position to a target. `what`: "a sphere".
static taut_status velocity_to(const double target[3], const double position[3], double duration,
                               const char *what, double velocity[3], taut_error *error)
{
    if (!isfinite(duration) || !(duration > 0))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "the time in which %s moves must be finite and above 0, not %g", what,
                    duration);
    for (int axis = 0; axis < 3; axis++)
        velocity[axis] = (target[axis] - position[axis]) / duration;
    return TAUT_OK;
}

// ---- Spheres

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
    bool known = collider < solver->topology->collider_count;
    struct sphere_state now = {.radius = 1};
    if (known)
        now = solver->functions->sphere(solver->system, collider);
    const double centre[3] = {now.centre.x, now.centre.y, now.centre.z};
    double velocity[3];
    const taut_status status = velocity_to(target, centre, duration, "a sphere", velocity, error);
    return status == TAUT_OK
               ? solver_move_sphere(solver, collider, centre, velocity, now.radius, error)
               : status;
}

// Contact keeps apart only what is apart.
static taut_status check_sphere(taut_solver *solver, size_t collider, taut_error *error)
{
    const struct shape_nearest found = solver->functions->shape_nearest(solver->system);
    if (!(found.part < SURFACES_LEAST_APART) || found.collider != collider)
        return TAUT_OK;
    return fail(
        error, TAUT_ERROR_ARGUMENT,
        "there sphere collider %zu, which has 'response: contact', would reach into body '%.60s' "
        "or nearly touch it, which has to stay more than a twentieth of the thickness away; bring "
        "it nearer while the simulation runs, or choose another place",
        collider, solver->topology->bodies[found.body].name);
}

taut_status solver_move_sphere(taut_solver *solver, size_t collider, const double centre[3],
                               const double velocity[3], double radius, taut_error *error)
{
    const struct topology *topology = solver->topology;
    if (collider >= topology->collider_count ||
        topology->colliders[collider].type != COLLIDER_SPHERE)
        return fail(error, TAUT_ERROR_ARGUMENT, "collider %zu is not a sphere of this scene",
                    collider);
    taut_status status = check_motion(solver, "a sphere's", centre, velocity, error);
    if (status == TAUT_OK && (!isfinite(radius) || !(radius > 0)))
        status = fail(error, TAUT_ERROR_ARGUMENT,
                      "a sphere's radius must be finite and above 0, not %g", radius);
    if (status == TAUT_OK)
        status = check_precision(solver, &radius, 1, true, error);
    if (status != TAUT_OK)
        return status;
    apply_changes(solver);
    const struct sphere_state before = solver_sphere(solver, collider);
    solver->functions->set_sphere(solver->system, collider,
                                  vec3_make(centre[0], centre[1], centre[2]),
                                  vec3_make(velocity[0], velocity[1], velocity[2]), radius);
    if (topology->colliders[collider].response == RESPONSE_CONTACT)
        status = check_sphere(solver, collider, error);
    if (status != TAUT_OK)
        solver->functions->set_sphere(solver->system, collider, before.centre, before.velocity,
                                      before.radius);
    return status;
}

struct sphere_state solver_sphere(const taut_solver *solver, size_t collider)
{
    return solver->functions->sphere(solver->system, collider);
}

// ---- Mesh colliders

// Why a mesh must not be where it is: it crosses a body, or one is in it or too near; with the
// energy there, whose evaluation finds the candidates of which the nearest is asked for.
static taut_status check_place(taut_solver *solver, size_t collider, taut_energy *energy,
                               taut_error *error)
{
    const struct topology *topology = solver->topology;
    struct surface_parts found;
    bool no_memory = false;
    const char *what = NULL;
    taut_status status = taut_solver_energy(solver, energy, error);
    if (status != TAUT_OK)
        return status;
    if (solver->functions->surface_crossing(solver->system, &found, &no_memory))
        what = "would cross";
    else if (!no_memory && solver->functions->colliders_enclose(solver->system, &found, &no_memory))
        what = "would enclose";
    else {
        const struct surface_nearest nearest = solver->functions->surface_nearest(solver->system);
        if (nearest.part < SURFACES_LEAST_APART) {
            found = nearest.parts;
            what = "would nearly touch";
        }
    }
    if (no_memory)
        return fail_memory(error, "contact");
    if (!what)
        return TAUT_OK;
    const size_t body = found.bodies[found.bodies[0] < topology->body_count ? 0 : 1];
    return fail(
        error, TAUT_ERROR_ARGUMENT,
        "there mesh collider %zu %s body '%.60s', which has to stay more than a twentieth of "
        "the thickness away; bring it nearer while the simulation runs, or choose another place",
        collider, what, topology->bodies[body].name);
}

static double mesh_radius(const struct topology *topology, size_t collider)
{
    double radius = 0;
    for (size_t m = 0; m < topology->mesh_collider_count; m++)
        if (topology->mesh_colliders[m].collider == collider)
            radius = topology->mesh_colliders[m].radius;
    return radius;
}

vec3 solver_mesh_translate(const taut_solver *solver, size_t collider)
{
    return vec3_add(solver->topology->colliders[collider].translate,
                    solver->functions->mesh(solver->system, collider).displacement);
}

taut_status taut_solver_set_mesh(taut_solver *solver, size_t collider, const double translate[3],
                                 const double velocity[3], taut_error *error)
{
    const struct topology *topology = solver->topology;
    if (collider >= topology->collider_count || topology->colliders[collider].type != COLLIDER_MESH)
        return fail(error, TAUT_ERROR_ARGUMENT, "collider %zu is not a mesh of this scene",
                    collider);
    taut_status status = check_motion(solver, "a mesh collider's", translate, velocity, error);
    if (status != TAUT_OK)
        return status;
    apply_changes(solver);
    const struct mesh_displacement before = solver->functions->mesh(solver->system, collider);
    const vec3 wanted = vec3_make(translate[0], translate[1], translate[2]),
               present = solver_mesh_translate(solver, collider),
               displacement = vec3_subtract(wanted, topology->colliders[collider].translate);
    const double rounding = 1e-12 * (vec3_length(wanted) + mesh_radius(topology, collider));
    const bool jumps = vec3_length(vec3_subtract(wanted, present)) > rounding;
    taut_energy energy[2];
    if (jumps)
        status = taut_solver_energy(solver, &energy[0], error);
    if (status != TAUT_OK)
        return status;
    solver->functions->set_mesh(solver->system, collider, displacement,
                                vec3_make(velocity[0], velocity[1], velocity[2]));
    if (!jumps)
        return TAUT_OK;
    status = check_place(solver, collider, &energy[1], error);
    if (status == TAUT_OK)
        solver->functions->allow_energy(solver->system, fmax(0, energy[1].total - energy[0].total));
    else
        solver->functions->set_mesh(solver->system, collider, before.displacement, before.velocity);
    return status;
}

taut_status taut_solver_set_mesh_target(taut_solver *solver, size_t collider,
                                        const double target[3], double duration, taut_error *error)
{
    const struct topology *topology = solver->topology;
    vec3 now = {0, 0, 0};
    if (collider < topology->collider_count && topology->colliders[collider].type == COLLIDER_MESH)
        now = solver_mesh_translate(solver, collider);
    const double translate[3] = {now.x, now.y, now.z};
    double velocity[3];
    const taut_status status =
        velocity_to(target, translate, duration, "a mesh collider", velocity, error);
    return status == TAUT_OK ? taut_solver_set_mesh(solver, collider, translate, velocity, error)
                             : status;
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
