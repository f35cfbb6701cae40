// How long steps may be for mesh colliders that move: surfaces follow a mesh only where it moves by
// a part of their thickness in a step. A dt that the scene gives is a warning if it is longer; dt:
// auto follows.
//
// Only motions that the scene prescribes count, and only what they are in the next step: the bound
// is evaluated again where they become faster than dt allows, and where they no longer keep it
// short.
#include "solver/private.h"

#include <math.h>

#include "scene/collider_pose.h"

// The parts of the thickness. Implicit steps of several thicknesses are shortened and cut until
// they gain energy that nothing supplies, and take seconds; where an explicit step, or a substep,
// moves a mesh by half a thickness, cuts may leave surfaces crossed.
static const double IMPLICIT_PART = 2, EXPLICIT_PART = 0.5;

static double substeps(const taut_solver *solver, const taut_scene *scene)
{
    return solver->integrator == INTEGRATOR_XPBD ? (double)scene->simulation.substeps : 1;
}

// The thickness of contact between a mesh and the body that comes nearest to it, m.
static double least_thickness(const taut_scene *scene)
{
    double least = scene->contact.thickness;
    for (size_t b = 0; b < scene->body_count; b++)
        least = fmin(least, scene_thickness(scene, b));
    return (least + scene->contact.thickness) / 2;
}

double mesh_motion_allowed(const taut_solver *solver, const taut_scene *scene)
{
    const bool implicit = integrator_is_implicit(solver->integrator);
    return (implicit ? IMPLICIT_PART : EXPLICIT_PART) * least_thickness(scene) *
           substeps(solver, scene);
}

double mesh_step_at(const taut_solver *solver, double time)
{
    const struct topology *topology = solver->topology;
    double longest = INFINITY;
    for (size_t m = 0; m < topology->mesh_collider_count; m++) {
        const struct topology_collider *mesh = &topology->mesh_colliders[m];
        longest =
            fmin(longest, collider_longest_step(&topology->colliders[mesh->collider], &mesh->speeds,
                                                time, solver->dt_rule.mesh_motion_max));
    }
    return longest;
}

bool mesh_step_grows(const taut_solver *solver, double time)
{
    const double much = 1.25, dt = solver->dt;
    const double before = mesh_step_at(solver, time - dt);
    return solver->dt_rule.safety * before < much * dt &&
           mesh_step_at(solver, time) > much * before;
}

bool mesh_step_is_due(const taut_solver *solver, uint64_t steps_done)
{
    if (solver->topology->mesh_collider_count == 0)
        return false;
    const double time = solver_time_of(solver, steps_done);
    return mesh_step_at(solver, time) < solver->dt || mesh_step_grows(solver, time);
}

// The greatest speed of a mesh, m/s. Its motion after the end of the run does not count.
static double fastest_of(const taut_solver *solver, const struct topology_collider *mesh)
{
    double end = solver->dt_rule.duration;
    if (!(end > 0))
        end = solver->steps_planned > 0 ? solver_planned_time(solver) : INFINITY;
    return collider_fastest_by(&solver->topology->colliders[mesh->collider], &mesh->speeds, end);
}

double solver_mesh_step(const taut_solver *solver, size_t *collider)
{
    const struct topology *topology = solver->topology;
    double fastest = 0;
    *collider = 0;
    for (size_t m = 0; m < topology->mesh_collider_count; m++) {
        const struct topology_collider *mesh = &topology->mesh_colliders[m];
        const double speed = fastest_of(solver, mesh);
        if (speed > fastest)
            *collider = mesh->collider;
        fastest = fmax(fastest, speed);
    }
    return fastest > 0 ? solver->dt_rule.mesh_motion_max / fastest : INFINITY;
}

void mesh_warn_of_long_steps(const taut_solver *solver, const taut_scene *scene,
                             struct diagnostics *diagnostics)
{
    const struct topology *topology = solver->topology;
    const bool implicit = integrator_is_implicit(solver->integrator);
    const double parts = substeps(solver, scene), thickness = least_thickness(scene),
                 limit = integrator_limit(solver->integrator);
    for (size_t m = 0; m < topology->mesh_collider_count; m++) {
        const struct topology_collider *mesh = &topology->mesh_colliders[m];
        const double fastest = fastest_of(solver, mesh);
        const double motion = fastest * solver->dt;
        if (motion <= solver->dt_rule.mesh_motion_max * 1.0001) // a dt of solver_mesh_step has none
            continue;
        scene_warn(scene, diagnostics, scene->colliders[mesh->collider].at,
                   "this mesh moves by up to %.3g times the thickness of contact in a %s, more "
                   "than surfaces can follow: %s. Use %sa dt of at most %.3g s%s",
                   motion / parts / thickness, parts > 1 ? "substep" : "step",
                   implicit ? "steps take long, and may add energy"
                            : "steps are cut, which takes energy and is work of the mesh",
                   limit > 0 && isfinite(limit) ? "'dt: auto', or " : "",
                   0.8 * solver->dt_rule.mesh_motion_max / fastest,
                   implicit ? ", or 'integrator: xpbd' with substeps" : "");
    }
}

void mesh_warn_of_short_steps(const taut_solver *solver, const taut_scene *scene, double stable,
                              struct diagnostics *diagnostics)
{
    const double many = 20, safety = solver->dt_rule.safety;
    size_t collider;
    const double longest = solver_mesh_step(solver, &collider);
    if (stable <= many * longest)
        return;
    scene_warn(
        scene, diagnostics, scene->colliders[collider].at,
        "while this mesh moves fastest, 'dt: auto' takes steps of %.3g s, %.3g times shorter "
        "than the %.3g s that springs allow, so that none moves it by more than half the "
        "thickness of contact. Use a slower motion or a larger thickness",
        safety * longest, stable / longest, safety * stable);
}
