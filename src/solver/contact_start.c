// Contact of surfaces before the first step: its stiffness where the scene leaves it to the solver,
// and surfaces that cross or are too near at the start, which are refused, or separated (existing:
// relax).
#include "solver/private.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "scene/schema/schema.h"

// The least mass of a node of the bodies with surfaces that may touch, kg; INFINITY without any.
static double lightest_touching(const taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    double least = INFINITY;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (solver->functions->surface_stiffness(solver->system, b).stiffness > 0)
            least = fmin(least, topology_least_mass(topology, body->first_node,
                                                    body->first_node + body->node_count));
    }
    return least;
}

// Warns if contact of a stiffness that the scene gives makes steps unstable while a node is pressed
// onto a surface: a computed step is that of the present state, in which hardly anything touches.
// One contact of the lightest node, without the springs, has the largest curvature 4 k
// (contact/barrier.h).
void contact_check_stiffness(const taut_solver *solver, const taut_scene *scene,
                             struct diagnostics *diagnostics)
{
    const struct scene_contact *contact = &scene->contact;
    const bool xpbd = solver->integrator == INTEGRATOR_XPBD;
    const double limit = integrator_limit(xpbd ? INTEGRATOR_SYMPLECTIC_EULER : solver->integrator);
    const double parts = xpbd ? (double)scene->simulation.substeps : 1;
    if (!contact->present || contact->stiffness_auto || !(limit > 0) || isinf(limit))
        return;
    const double rate = limit * parts / solver->dt; // 1/s, the greatest that is stable
    const double most = lightest_touching(solver) * rate * rate / 4;
    if (contact->stiffness <= most)
        return;
    scene_warn(scene, diagnostics, contact->at,
               "'stiffness' of contact, %.3g N/m, is more than dt allows: where surfaces are "
               "pressed onto each other, steps of more than %.3g s may be unstable, and dt is %.3g "
               "s. Use 'stiffness: auto', at most %.3g N/m, or a smaller dt",
               contact->stiffness, solver->dt * sqrt(most / contact->stiffness), solver->dt,
               0.8 * most);
}

static bool has_friction(const taut_scene *scene)
{
    bool found = scene_has_surface_friction(scene);
    for (size_t c = 0; c < scene->collider_count; c++)
        found |=
            scene->colliders[c].response == RESPONSE_CONTACT && scene->colliders[c].coulomb.present;
    return found;
}

// contact.stiffness: auto. Contact adds r times the largest eigenvalue of the springs, w^2. Without
// friction r = 3 halves the critical step, 2 / w. With friction contacts have dampers (friction.h):
// those of weight 16, which add 128 k to K, add 32 of 2 zeta sqrt(k m) to C, that is 4 sqrt(2 r)
// zeta w m. Steps of h^2 K + 2 h C < 4 M are stable, so that h = 1 / w needs
//
//   1 + r + 8 sqrt(2 r) zeta < 4, r < 1.57 for zeta = 0.1
//
static double contact_over_springs(const taut_scene *scene)
{
    return has_friction(scene) ? 1.55 : 3;
}

// A given dt limits the stiffness to what it allows, if it allows any: such a part of h^2 (w^2 + k)
// < 4 that the dampers have a margin.
static double explicit_contact(const taut_solver *solver, const taut_scene *scene, double own)
{
    const double limit = integrator_limit(solver->integrator), least = 0.2 * own;
    const double most = contact_over_springs(scene) * own, part = has_friction(scene) ? 0.55 : 0.8;
    if (scene->simulation.dt_auto || !(limit > 0))
        return most;
    return fmin(most, fmax(least, part * limit * limit / (solver->dt * solver->dt) - own));
}

// Implicit integrators have no critical step to keep. A contact of weight 1 at the lightest node
// gets the stiffness `stiff` m / h^2, with which a step stops what falls onto a surface; and at
// least that of explicit integrators, since stiff springs exert as much force. h is at least a
// quarter of the critical step, 2 / sqrt(own), of explicit ones, so that shorter steps resolve
// impacts better and better.
static double implicit_contact(const taut_solver *solver, double own)
{
    const double stiff = 10, rate = 1 / (solver->dt * solver->dt);
    return fmax(2 * SURFACE_WEIGHTS * stiff * (own > 0 ? fmin(rate, 4 * own) : rate), 3 * own);
}

// With xpbd contact is a force that changes once a substep, as are elements, which have used up a
// part of what is stable.
static double xpbd_contact(const taut_solver *solver, const taut_scene *scene,
                           const struct critical_step *critical)
{
    const double substeps = (double)scene->simulation.substeps;
    const double others = critical->dt[INTEGRATOR_XPBD] / substeps, step = solver->dt / substeps;
    const double limit = integrator_limit(INTEGRATOR_SYMPLECTIC_EULER);
    const double own = others > 0 ? limit * limit / (others * others) : 0;
    if (scene->simulation.dt_auto)
        return contact_over_springs(scene) * own;
    return fmax(0.2 * limit * limit / (step * step) - own, 0.2 * own);
}

taut_status contact_choose_stiffness(taut_solver *solver, const taut_scene *scene,
                                     struct diagnostics *diagnostics, taut_error *error)
{
    const enum integrator integrator = solver->integrator;
    const bool implicit = integrator_is_implicit(integrator), xpbd = integrator == INTEGRATOR_XPBD;
    if (!scene->contact.present || !scene->contact.stiffness_auto)
        return TAUT_OK;
    struct critical_step critical;
    taut_status status = solver_critical_step(solver, &critical, error);
    if (status != TAUT_OK)
        return status;
    if (!(critical.omega > 0) && !implicit && !xpbd) {
        if (diagnostics)
            scene_report(
                scene, diagnostics, scene->contact.at,
                "'stiffness: auto' of contact needs a spring at a free node; give a number");
        return fail(error, TAUT_ERROR_SCENE,
                    "contact.stiffness: auto needs a spring at a free node");
    }
    const double own = critical.omega * critical.omega;
    const double square = implicit ? implicit_contact(solver, own)
                          : xpbd   ? xpbd_contact(solver, scene, &critical)
                                   : explicit_contact(solver, scene, own);
    solver->functions->choose_contact(solver->system, square);
    solver->functions->release_critical(solver->system);
    return TAUT_OK;
}

// The mesh collider of a part; NULL: it is of a body.
static const struct topology_collider *mesh_of_part(const taut_solver *solver,
                                                    const struct surface_parts *parts, int side)
{
    const struct topology *topology = solver->topology;
    const size_t body = parts->bodies[side];
    return body < topology->body_count ? NULL
                                       : &topology->mesh_colliders[body - topology->body_count];
}

// "the edge of nodes 3, 4 of body 'rope'"
static void describe_part(const taut_solver *solver, const taut_scene *scene,
                          const struct surface_parts *parts, int side, char *text, size_t size)
{
    static const char *const names[] = {"node", "the edge of nodes", "the triangle of nodes"};
    const struct topology *topology = solver->topology;
    const struct topology_collider *mesh = mesh_of_part(solver, parts, side);
    const struct topology_body *body = mesh ? NULL : &topology->bodies[parts->bodies[side]];
    int length = snprintf(text, size, "%s", names[parts->counts[side] - 1]);
    for (int i = 0; i < parts->counts[side]; i++) {
        const uint64_t node = parts->nodes[side][i];
        const uint64_t number = mesh ? node - mesh->first_node
                                     : topology_builder_node(topology, node) - body->first_node;
        length += snprintf(text + length, size - (size_t)length, "%s %llu", i > 0 ? "," : "",
                           (unsigned long long)number);
    }
    if (mesh)
        snprintf(text + length, size - (size_t)length, " of mesh collider %zu ('%.60s')",
                 mesh->collider, scene->colliders[mesh->collider].mesh.path);
    else
        snprintf(text + length, size - (size_t)length, " of body '%.60s'", body->name);
}

// How many times the spacing of coordinates a thickness has to be.
#define LEAST_SPACINGS 16.0

// Reports what makes a scene impossible, with its position, and fails.
static taut_status refuse(const taut_scene *scene, struct diagnostics *diagnostics, mark at,
                          const char *text, taut_error *error)
{
    if (diagnostics)
        scene_report(scene, diagnostics, at, "%s", text);
    return fail(error, TAUT_ERROR_SCENE, "%s", text);
}

// The unit of the second digit of a number.
static double second_unit(double value)
{
    return value > 0 ? pow(10, floor(log10(value)) - 1) : 1;
}

// Describes by how much two surfaces cross: "; they are clear of each other once body 'b' has moved
// 0.02 m along (1, 0, 0)". The text is empty where they do not cross, or belong to one body.
static void describe_overlap(const taut_solver *solver, const struct surface_parts *parts,
                             bool crosses, char *text, size_t size)
{
    const struct topology *topology = solver->topology;
    const int side = parts->bodies[1] < topology->body_count ? 1 : 0;
    const size_t one = parts->bodies[side], other = parts->bodies[1 - side];
    text[0] = 0;
    if (!crosses || one == other)
        return;
    const struct surface_overlap overlap =
        solver->functions->surface_overlap(solver->system, one, other);
    if (!(overlap.distance > 0))
        return;
    double axis[3], turned = 0;
    for (int i = 0; i < 3; i++) { // 1e-17 is round-off
        axis[i] = round(1e4 * overlap.axis[i]) / 1e4 + 0.0;
        turned = fmax(turned, fabs(axis[i] - overlap.axis[i]));
    }
    // Rounded up, and longer by what the direction loses by being rounded.
    const double distance = overlap.distance * (1 + 10 * turned), unit = second_unit(distance) / 10;
    const double printed = ceil(distance / unit - 1e-6) * unit;
    snprintf(text, size,
             "; they are clear of each other once body '%.60s' has moved %.3g m along (%g, %g, %g)",
             topology->bodies[one].name, printed, axis[0], axis[1], axis[2]);
}

// Reports two parts, one of them of a mesh collider, at the position of the collider in the file.
static taut_status refuse_with_mesh(const taut_solver *solver, const taut_scene *scene,
                                    struct diagnostics *diagnostics,
                                    const struct surface_parts *parts, const char *what,
                                    bool crosses, taut_error *error)
{
    const struct topology *topology = solver->topology;
    const struct topology_collider *mesh = mesh_of_part(solver, parts, 0);
    char first[200], second[200], overlap[200], text[900];
    double at[3];
    const int of_body = mesh ? 1 : 0;
    describe_overlap(solver, parts, crosses, overlap, sizeof overlap);
    mesh = mesh ? mesh : mesh_of_part(solver, parts, 1);
    describe_part(solver, scene, parts, 0, first, sizeof first);
    describe_part(solver, scene, parts, 1, second, sizeof second);
    solver_read_nodes(solver, topology_builder_node(topology, parts->nodes[of_body][0]), 1, at,
                      NULL, NULL);
    const bool relaxes = scene->contact.existing == EXISTING_RELAX;
    snprintf(text, sizeof text, "%s%s: %s and %s, near (%g, %g, %g)%s; move the body or the mesh%s",
             what, relaxes ? ", and 'existing: relax' found no way to separate them" : "", first,
             second, at[0], at[1], at[2], overlap,
             relaxes ? "" : ", or separate them with 'contact: {existing: relax}'");
    return refuse(scene, diagnostics, scene->colliders[mesh->collider].at, text, error);
}

static taut_status refuse_enclosed(taut_solver *solver, const taut_scene *scene,
                                   struct diagnostics *diagnostics, taut_error *error)
{
    struct surface_parts found;
    bool no_memory = false;
    const bool inside = solver->functions->colliders_enclose(solver->system, &found, &no_memory);
    if (no_memory)
        return fail_memory(error, "contact");
    if (!inside)
        return TAUT_OK;
    char node[200], text[500];
    const struct topology_collider *mesh = mesh_of_part(solver, &found, 1);
    describe_part(solver, scene, &found, 0, node, sizeof node);
    snprintf(text, sizeof text,
             "%s is inside mesh collider %zu ('%.60s'), which has 'sides: outside'; move the body "
             "or the mesh, or use 'sides: both' to keep it inside",
             node, mesh->collider, scene->colliders[mesh->collider].mesh.path);
    return refuse(scene, diagnostics, scene->colliders[mesh->collider].at, text, error);
}

static taut_status refuse_parts(const taut_solver *solver, const taut_scene *scene,
                                struct diagnostics *diagnostics, const struct surface_parts *parts,
                                const char *what, bool crosses, taut_error *error)
{
    const bool relaxes = scene->contact.existing == EXISTING_RELAX;
    char first[200], second[200], overlap[200], text[1100];
    if (mesh_of_part(solver, parts, 0) || mesh_of_part(solver, parts, 1))
        return refuse_with_mesh(solver, scene, diagnostics, parts, what, crosses, error);
    describe_overlap(solver, parts, crosses, overlap, sizeof overlap);
    describe_part(solver, scene, parts, 0, first, sizeof first);
    describe_part(solver, scene, parts, 1, second, sizeof second);
    snprintf(text, sizeof text,
             "%s%s: %s and %s%s; %s, %sor leave the pair out with 'contact: "
             "{pairs: [{bodies: [%.60s, %.60s], enabled: false}]}'",
             what, relaxes ? ", and 'existing: relax' found no way to separate them" : "", first,
             second, overlap,
             parts->bodies[0] == parts->bodies[1] ? "start from another shape of the body"
                                                  : "move the bodies apart",
             relaxes ? "" : "separate them with 'contact: {existing: relax}', ",
             solver->topology->bodies[parts->bodies[0]].name,
             solver->topology->bodies[parts->bodies[1]].name);
    return refuse(scene, diagnostics, scene->contact.at, text, error);
}

// How near surfaces may be at the start, of their thickness: as near as cuts leave them in a state
// that a run has written.
static double least_apart(const taut_scene *scene)
{
    return scene->initial ? SURFACES_LEFT_APART : SURFACES_LEAST_APART;
}

static const char *least_apart_name(const taut_scene *scene)
{
    return scene->initial ? "a two-hundredth" : "a twentieth";
}

// Describes what cannot be kept apart from a plane, sphere or room with `response: contact`.
// Returns that collider, or NULL if even what is nearest to one can be kept apart.
static const struct scene_collider *describe_in_shapes(const taut_solver *solver,
                                                       const taut_scene *scene,
                                                       const struct shape_nearest *found,
                                                       char *text, size_t size)
{
    if (!(found->part < least_apart(scene)))
        return NULL;
    const struct surface_parts parts = {
        {found->body, 0},
        {found->count, 0},
        {{found->nodes[0], found->nodes[1], found->nodes[2]}},
    };
    char part[200];
    double at[3];
    describe_part(solver, scene, &parts, 0, part, sizeof part);
    solver_read_nodes(solver, topology_builder_node(solver->topology, found->nodes[0]), 1, at, NULL,
                      NULL);
    const struct scene_collider *collider = &scene->colliders[found->collider];
    const bool room = collider->type == COLLIDER_ROOM, passed = found->distance < 0;
    char where[60];
    if (room && passed)
        snprintf(where, sizeof where, ", %g m beyond a wall", -found->distance);
    else
        snprintf(where, sizeof where, " (its distance is %g m)", found->distance);
    snprintf(text, size,
             "%s, near (%g, %g, %g), is %s collider %zu, a %s, at the start%s; bodies must start "
             "%smore than %s of their thickness away from %s: move the body %s%s",
             part, at[0], at[1], at[2],
             !passed ? "too near to"
             : room  ? "outside"
                     : "inside",
             found->collider, collider_type_names[collider->type], where,
             room ? "in rooms with 'response: contact', " : "", least_apart_name(scene),
             room ? "the walls" : "colliders with 'response: contact'",
             room ? "into the room, or make the room larger" : "or the collider",
             scene->contact.existing == EXISTING_RELAX ? ", as 'existing: relax' found no way"
                                                       : ", or use 'contact: {existing: relax}'");
    return collider;
}

struct relaxing {
    taut_solver *solver;
    struct surface_relaxed result;
};

static void relax_together(void *context, const struct worker *worker)
{
    struct relaxing *it = context;
    it->solver->functions->surface_relax(it->solver->system, &it->result, worker);
}

static double position_epsilon(const taut_solver *solver)
{
    return solver->precision == PRECISION_SINGLE ? (double)FLT_EPSILON : DBL_EPSILON;
}

// The nodes that are not where they were, 3 numbers each, but for rounding, and their bodies.
static void count_moved(taut_solver *solver, const double *before)
{
    const double rounding =
        2 * coordinate_spacing(solver_greatest_coordinate(solver), position_epsilon(solver));
    for (size_t b = 0; b < solver->topology->body_count; b++) {
        const struct topology_body *body = &solver->topology->bodies[b];
        const uint64_t moved = solver->relaxed.nodes;
        for (uint64_t i = body->first_node; i < body->first_node + body->node_count; i++) {
            double now[3];
            solver_read_nodes(solver, i, 1, now, NULL, NULL);
            double farthest = 0;
            for (int axis = 0; axis < 3; axis++)
                farthest = fmax(farthest, fabs(now[axis] - before[3 * i + (uint64_t)axis]));
            solver->relaxed.nodes += farthest > rounding;
        }
        solver->relaxed.bodies += solver->relaxed.nodes > moved;
    }
}

// False without memory.
static bool relax(taut_solver *solver)
{
    const uint64_t nodes = solver->topology->node_count;
    struct relaxing it = {.solver = solver};
    double *before = memory_allocate(NULL, 3 * nodes, sizeof *before);
    if (!before)
        return false;
    solver_read_nodes(solver, 0, nodes, before, NULL, NULL);
    solver_work(solver, relax_together, &it);
    solver->relaxed = (struct solver_relaxed){.crossings = it.result.crossings,
                                              .rounds = it.result.rounds,
                                              .farthest = it.result.farthest};
    count_moved(solver, before);
    memory_release(NULL, before, 3 * nodes, sizeof *before);
    return !it.result.no_memory;
}

// Like a warning, of what is worth knowing and not wrong.
static void note_relaxed(const taut_solver *solver, const taut_scene *scene,
                         struct diagnostics *diagnostics)
{
    const struct solver_relaxed *relaxed = &solver->relaxed;
    const size_t count = diagnostics ? diagnostics->count : 0;
    if (!diagnostics || relaxed->nodes == 0)
        return;
    scene_warn(scene, diagnostics, scene->contact.at,
               "'existing: relax' has moved %" PRIu64 " %s of %" PRIu64 " %s, by up to %.3g m",
               relaxed->nodes, text_noun(relaxed->nodes, "node", "nodes"), relaxed->bodies,
               text_noun(relaxed->bodies, "body", "bodies"), relaxed->farthest);
    if (diagnostics->count > count)
        diagnostics->items[count].level = DIAGNOSTIC_NOTE;
}

// Rounds up to two digits, so that the printed number is no less.
static double rounded_up(double value)
{
    return ceil(value / second_unit(value)) * second_unit(value);
}

static double rounded_down(double value)
{
    return floor(value / second_unit(value)) * second_unit(value);
}

// The least thickness of contact between a mesh collider and a body.
static double mesh_thickness(const taut_scene *scene)
{
    double least = INFINITY;
    for (size_t b = 0; b < scene->body_count; b++)
        least = fmin(least, (scene->contact.thickness + scene_thickness(scene, b)) / 2);
    return least;
}

// The corners of triangles that are far away are rounded coarsely, however near to the origin a
// body lies on the triangles. Contact computes with coordinates of single precision in mixed
// precision, too.
static taut_status refuse_thickness_of_meshes(const taut_solver *solver, const taut_scene *scene,
                                              struct diagnostics *diagnostics, taut_error *error)
{
    const struct topology *topology = solver->topology;
    const double epsilon =
        solver->precision == PRECISION_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
    const struct scene_simulation *simulation = &scene->simulation;
    const double thickness = mesh_thickness(scene);
    const double end =
        simulation->has_duration ? simulation->duration : (double)simulation->steps * solver->dt;
    for (size_t m = 0; m < topology->mesh_collider_count; m++) {
        const size_t collider = topology->mesh_colliders[m].collider;
        const double reach = solver->functions->mesh_reach(solver->system, m, end);
        const double spacing = coordinate_spacing(reach, epsilon);
        char text[500];
        if (thickness >= LEAST_SPACINGS * spacing)
            continue;
        snprintf(text, sizeof text,
                 "the thickness of contact of mesh collider %zu ('%.60s'), %g m, is lost in the "
                 "rounding of coordinates of up to %.3g m, which are %.2g m apart in %s precision: "
                 "use at least %.2g m%s",
                 collider, scene->colliders[collider].mesh.path, thickness, reach, spacing,
                 precision_name(solver->precision), rounded_up(LEAST_SPACINGS * spacing),
                 solver->precision != PRECISION_DOUBLE ? ", or 'precision: double'" : "");
        return refuse(scene, diagnostics, scene->colliders[collider].at, text, error);
    }
    return TAUT_OK;
}

// A thickness beyond the length of edges leaves out the body's own pairs and reaches across whole
// bodies; one that coordinates do not resolve keeps nothing apart.
static taut_status refuse_thickness(const taut_solver *solver, const taut_scene *scene,
                                    struct diagnostics *diagnostics, taut_error *error)
{
    const double least = LEAST_SPACINGS, reach = solver_greatest_coordinate(solver);
    const double spacing = coordinate_spacing(reach, position_epsilon(solver));
    for (size_t b = 0; b < scene->body_count; b++) {
        const struct scene_body_contact *own = &scene->bodies[b].contact;
        const double thickness = scene_thickness(scene, b);
        const double edge = solver->functions->surface_edge(solver->system, b);
        char text[500], bound[100] = "";
        if (least * spacing > 0.1 * edge)
            snprintf(bound, sizeof bound, ", but at least %.2g m, which %s precision resolves",
                     rounded_up(least * spacing), precision_name(solver->precision));
        if (isfinite(edge) && rounded_up(least * spacing) > edge)
            snprintf(text, sizeof text,
                     "contact of body '%.60s', whose edges are %.3g m long on average, is lost in "
                     "the rounding of coordinates of up to %.3g m, which are %.2g m apart in %s "
                     "precision: %sbring the scene nearer to the coordinate origin",
                     scene->bodies[b].name, edge, reach, spacing, precision_name(solver->precision),
                     solver->precision == PRECISION_SINGLE ? "use 'precision: double', or " : "");
        else if (thickness > edge)
            snprintf(text, sizeof text,
                     "the thickness of contact of body '%.60s', %g m, is larger than its edges, "
                     "which are %.3g m long on average: use less, at best a tenth to two fifths "
                     "of it%s",
                     scene->bodies[b].name, thickness, edge, bound);
        else if (thickness < least * spacing)
            snprintf(text, sizeof text,
                     "the thickness of contact of body '%.60s', %g m, is lost in the rounding of "
                     "coordinates of up to %.3g m, which are %.2g m apart in %s precision: use at "
                     "least %.2g m%s",
                     scene->bodies[b].name, thickness, reach, spacing,
                     precision_name(solver->precision), rounded_up(least * spacing),
                     solver->precision == PRECISION_SINGLE ? ", or 'precision: double'" : "");
        else
            continue;
        return refuse(scene, diagnostics, own->thickness > 0 ? own->at : scene->contact.at, text,
                      error);
    }
    return refuse_thickness_of_meshes(solver, scene, diagnostics, error);
}

// Whether more than a twentieth of the triangles of a body are so low that pairs of triangles
// across them are nearer as built than contact acts, and so left out.
static bool leaves_out_many(const taut_solver *solver, size_t body, double thickness,
                            struct surface_triangles *triangles)
{
    *triangles =
        solver->functions->surface_triangles(solver->system, body, 1.5 * thickness * 0.9999);
    return (double)triangles->lower > 0.05 * (double)triangles->all;
}

// Pairs of a body that are nearer as built than contact acts are left out. Where that is more than
// what lies beside each other, a body may pass through itself in narrow folds.
static void warn_of_own_pairs(const taut_solver *solver, const taut_scene *scene,
                              struct diagnostics *diagnostics)
{
    for (size_t b = 0; b < scene->body_count; b++) {
        const struct scene_body_contact *own = &scene->bodies[b].contact;
        const double thickness = scene_thickness(scene, b);
        struct surface_triangles found, less;
        if (!leaves_out_many(solver, b, thickness, &found))
            continue;
        double most = 0, step = thickness / 2; // that leaves out few
        for (int i = 0; i < 10; i++) {
            if (!leaves_out_many(solver, b, most + step, &less))
                most += step;
            step /= 2;
        }
        scene_warn(
            scene, diagnostics, own->thickness > 0 ? own->at : scene->contact.at,
            "body '%.60s' may pass through itself in narrow folds: contact leaves out what "
            "is nearer as built than 1.5 times the thickness, %.3g m, and %" PRIu64
            " of its %" PRIu64 " triangles are lower than that, or an edge beside them is as "
            "near, so that what is on both sides does not touch; use a thickness of at most %.2g "
            "m, or larger cells",
            scene->bodies[b].name, 1.5 * thickness, found.lower, found.all, rounded_down(most));
    }
}

// Surfaces that cross at the start cannot be kept apart.
taut_status contact_refuse_crossings(taut_solver *solver, const taut_scene *scene,
                                     const struct solver_options *wanted,
                                     struct diagnostics *diagnostics, taut_error *error)
{
    struct surface_parts found;
    bool no_memory = false;
    if (!scene->contact.present)
        return TAUT_OK;
    const taut_status status = refuse_thickness(solver, scene, diagnostics, error);
    if (status != TAUT_OK)
        return status;
    if (wanted
            ->planned) // a run that is continued has positions of its own, in which nothing crosses
        return TAUT_OK;
    if (diagnostics)
        warn_of_own_pairs(solver, scene, diagnostics);
    const bool relaxes = scene->contact.existing == EXISTING_RELAX;
    char shape[700];
    const struct scene_collider *collider = NULL;
    if (relaxes) {
        const struct shape_nearest nearest = solver->functions->shape_nearest(solver->system);
        collider = describe_in_shapes(solver, scene, &nearest, shape, sizeof shape);
    }
    const bool crossed =
        collider && solver->functions->surface_crossing(solver->system, &found, &no_memory);
    if (no_memory || (relaxes && !relax(solver)))
        return fail_memory(error, "contact");
    note_relaxed(solver, scene, diagnostics);
    const bool crosses = solver->functions->surface_crossing(solver->system, &found, &no_memory);
    if (no_memory)
        return fail_memory(error, "contact");
    // A surface that leaves a shape and finds no space is folded through itself: the shape is the
    // obstacle.
    if (crosses && collider && !crossed)
        return refuse(scene, diagnostics, collider->at, shape, error);
    return crosses ? refuse_parts(solver, scene, diagnostics, &found, "surfaces cross at the start",
                                  true, error)
                   : refuse_enclosed(solver, scene, diagnostics, error);
}

// Warns of surfaces that are built as near to each other and to shapes as their thickness, where
// the barrier, which begins at 1.5 times that, throws them apart as soon as the run begins.
static void warn_of_pressed(const taut_solver *solver, const taut_scene *scene,
                            const struct surface_nearest *found, const struct shape_nearest *shape,
                            struct diagnostics *diagnostics)
{
    if (found->pressed > 0) {
        const struct surface_parts *parts = &found->parts;
        const double thickness =
            (scene_thickness(scene, parts->bodies[0]) + scene_thickness(scene, parts->bodies[1])) /
            2;
        char first[200], second[200];
        describe_part(solver, scene, parts, 0, first, sizeof first);
        describe_part(solver, scene, parts, 1, second, sizeof second);
        scene_warn(scene, diagnostics, scene->contact.at,
                   "surfaces are no farther apart at the start than their thickness in %" PRIu64
                   " %s of nodes and triangles or of edges, the nearest %.4g m apart, %s and %s: "
                   "contact, which acts from 1.5 times the thickness on, has %.3g J there, and "
                   "throws them apart; build them %.4g m apart, or use a smaller thickness",
                   found->pressed, text_noun(found->pressed, "pair", "pairs"),
                   found->part * thickness, first, second, found->energy, 1.5 * thickness);
    }
    if (shape->pressed > 0) {
        const struct scene_collider *collider = &scene->colliders[shape->collider];
        const double thickness =
            (scene_thickness(scene, shape->body) + scene->contact.thickness) / 2;
        scene_warn(
            scene, diagnostics, collider->at,
            "bodies are no farther from colliders with 'response: contact' at the start than "
            "their thickness in %" PRIu64 " %s, body '%.60s' %.4g m from this one: "
            "contact, which acts from 1.5 times the thickness on, has %.3g J there, and "
            "throws them away; build them %.4g m away, or use a smaller thickness",
            shape->pressed, text_noun(shape->pressed, "place", "places"),
            scene->bodies[shape->body].name, shape->distance, shape->energy, 1.5 * thickness);
    }
}

// The rounding of the distance of two parts, m.
static double coordinate_rounding(const taut_solver *solver, const struct surface_parts *parts)
{
    double most = 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < parts->counts[side]; i++) {
            const uint64_t node = parts->nodes[side][i];
            double at[3] = {0, 0, 0};
            if (node < solver->topology->node_count)
                solver_read_nodes(solver, topology_builder_node(solver->topology, node), 1, at,
                                  NULL, NULL);
            most = fmax(most, fmax(fabs(at[0]), fmax(fabs(at[1]), fabs(at[2]))));
        }
    return 16 * most * (solver_real_bytes(solver) == sizeof(float) ? 0x1p-24 : 0x1p-53);
}

taut_status contact_refuse_touching(const taut_solver *solver, const taut_scene *scene,
                                    struct diagnostics *diagnostics, taut_error *error)
{
    if (!scene->contact.present)
        return TAUT_OK;
    const struct shape_nearest shape = solver->functions->shape_nearest(solver->system);
    char text[700];
    const struct scene_collider *collider =
        describe_in_shapes(solver, scene, &shape, text, sizeof text);
    if (collider)
        return refuse(scene, diagnostics, collider->at, text, error);
    const struct surface_nearest found = solver->functions->surface_nearest(solver->system);
    if (!(found.part < least_apart(scene))) {
        if (diagnostics && !scene->initial) // in which surfaces may rest on each other
            warn_of_pressed(solver, scene, &found, &shape, diagnostics);
        return TAUT_OK;
    }
    const struct surface_parts *parts = &found.parts;
    const double distance =
        found.part *
        (scene_thickness(scene, parts->bodies[0]) + scene_thickness(scene, parts->bodies[1])) / 2;
    // Edges that meet pass through no triangle, as of bodies that are mirror images of each other.
    const bool meets = distance <= coordinate_rounding(solver, parts);
    char what[100];
    if (meets)
        snprintf(what, sizeof what, "surfaces touch or cross at the start");
    else
        snprintf(what, sizeof what,
                 "surfaces are nearer at the start than %s of their thickness, %.3g m apart",
                 least_apart_name(scene), distance);
    return refuse_parts(solver, scene, diagnostics, parts, what, meets, error);
}
