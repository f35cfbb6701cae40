// Warns at the start of what coordinates of single precision do not resolve: the strain of stiff
// materials by their own weight, and the motion of a step.
#include "solver/private.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "scene/moduli.h"

double coordinate_spacing(double reach, double epsilon)
{
    return reach > 0 ? exp2(floor(log2(reach))) * epsilon : 0;
}

// The extent of a membrane as built, m, along the axis on which it is the longest, and the mean
// length of its edges.
struct membrane_extent {
    double length, edge;
};

// Measures the extent of the centres of its triangles, plus an edge.
static struct membrane_extent measure(const struct topology *topology,
                                      const struct topology_body *body)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double squares = 0, extent = 0;
    for (uint64_t t = 0; t < body->face_count; t++) {
        const struct triangle_rest rest =
            topology_triangle_rest(topology, body->first_triangle + t);
        const double centre[3] = {rest.centre.x, rest.centre.y, rest.centre.z};
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = fmin(low[axis], centre[axis]);
            high[axis] = fmax(high[axis], centre[axis]);
            squares += rest.squares[axis];
        }
    }
    const double edge = body->face_count > 0 ? sqrt(squares / (3 * (double)body->face_count)) : 0;
    for (int axis = 0; axis < 3; axis++)
        extent = fmax(extent, high[axis] - low[axis]);
    return (struct membrane_extent){extent + edge, edge};
}

bool solver_measure_membranes(taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    solver->extents =
        memory_allocate(solver->allocator, topology->body_count, sizeof *solver->extents);
    for (size_t b = 0; solver->extents && b < topology->body_count; b++)
        if (elements_are_membrane(&topology->bodies[b].elements))
            solver->extents[b] = measure(topology, &topology->bodies[b]);
    return solver->extents;
}

void solver_forget_extents(taut_solver *solver)
{
    if (solver->extents)
        memory_release(solver->allocator, solver->extents, solver->topology->body_count,
                       sizeof *solver->extents);
    solver->extents = NULL;
}

// The strain of a body with a material under its own weight, and the distance of its nodes, m;
// false if it has no material.
static bool strain_of_weight(const taut_solver *solver, size_t number,
                             const struct scene_body *body, double gravity, double *strain,
                             double *distance)
{
    const struct topology *topology = solver->topology;
    if (!body_has_moduli(body))
        return false;
    double length = 0, pressure; // of a column of 1 m, Pa or N/m, over the modulus
    if (body->type == BODY_LATTICE) {
        const struct scene_lattice *lattice = &body->shape.lattice;
        const double nodes = fmax((double)lattice->nodes_x,
                                  fmax((double)lattice->nodes_y, (double)lattice->nodes_z));
        *distance = lattice->spacing;
        length = (nodes - 1) * lattice->spacing;
        pressure = body->elastic.density / body->elastic.young;
    } else if (body_is_membrane(body)) {
        const struct membrane_extent extent = solver->extents
                                                  ? solver->extents[number]
                                                  : measure(topology, &topology->bodies[number]);
        length = extent.length;
        *distance = extent.edge;
        pressure = body->elastic.density / body->elastic.young;
    } else if (body->type == BODY_CLOTH) {
        const struct sheet_moduli moduli = sheet_of_body(body);
        const struct cell_sides cell = cloth_cell(&body->shape.cloth);
        *distance = fmin(cell.u, cell.v);
        length = fmax(vec3_length(body->shape.cloth.u), vec3_length(body->shape.cloth.v));
        pressure = moduli.areal_density / fmax(moduli.c11, moduli.c22);
    } else {
        *distance = rope_spacing(&body->shape.rope);
        length = *distance * (double)(body->shape.rope.nodes - 1);
        pressure = body->elastic.density / body->elastic.young;
    }
    *strain = pressure * gravity * length;
    return *distance > 0;
}

// Coordinates of 24 bits resolve strains of springs down to their spacing over the distance of
// nodes. Where its weight strains a body by less, rounding decides the forces of its springs.
static void warn_of_stiff_materials(const taut_solver *solver, const taut_scene *scene,
                                    double spacing, struct diagnostics *diagnostics)
{
    const double times = 4, gravity = vec3_length(scene->environment.gravity);
    for (size_t b = 0; b < scene->body_count; b++) {
        const struct scene_body *body = &scene->bodies[b];
        double strain, distance;
        if (!strain_of_weight(solver, b, body, gravity, &strain, &distance) || !(strain > 0) ||
            strain > times * spacing / distance)
            continue;
        scene_warn(scene, diagnostics, body->fabric.present ? body->fabric.at : body->elastic.at,
                   "the material of '%s' is too stiff for %s precision: its weight strains it by "
                   "%.2g, and coordinates resolve strains of %.2g between its nodes, so that it "
                   "shakes and may be taken to diverge. Use 'precision: double'",
                   body->name, precision_name(scene->precision), strain, spacing / distance);
    }
}

// Half a spacing u of the numbers at the farthest node is what a step may round away. A node moves
// at all from the speed u / 2h on, and at a speed v each of its steps is wrong by up to u / 2hv.
// Where nodes would move by less than a thousand spacings in the whole run, nothing is lost.
void solver_warn_of_rounding(const taut_solver *solver, const taut_scene *scene,
                             struct diagnostics *diagnostics)
{
    const double much = 0.01, little = 1000;
    const struct scene_simulation *simulation = &scene->simulation;
    const bool xpbd = solver->integrator == INTEGRATOR_XPBD;
    const double step =
        solver->position_ratio * solver->dt / (xpbd ? (double)simulation->substeps : 1);
    if (solver->precision == PRECISION_DOUBLE || !diagnostics)
        return;
    const struct scale scale = solver_scale(solver);
    const double spacing = coordinate_spacing(scale.reach, (double)FLT_EPSILON);
    if (scale.reach > 0)
        warn_of_stiff_materials(solver, scene, spacing, diagnostics);
    if (solver->precision != PRECISION_SINGLE)
        return;
    const double lost = spacing / 2 / step;
    const double travel = scale.speed * solver->dt * (double)solver->steps_planned;
    if (!(scale.reach > 0) || !(lost > much * scale.speed) || !(travel > little * spacing))
        return;
    scene_warn(
        scene, diagnostics, simulation->dt_at,
        "%s of %.3g s is too small for single precision: coordinates of up to %.3g m are "
        "%.2g m apart, so nodes slower than %.2g m/s stand still, and each step at %.2g m/s, "
        "which this scene may reach, is wrong by up to %.2g%%. Use 'precision: mixed', "
        "'precision: double', or a larger step",
        xpbd ? "a substep" : "a dt", step, scale.reach, spacing, lost, scale.speed,
        100 * fmin(1, lost / scale.speed));
}
