// taut info: describes a scene: its bodies, how they are computed, their memory and the stable
// steps. The data are gathered once, then printed as a table or as JSON.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/human.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "parallel/team.h"
#include "ranks/ranks.h"
#include "scene/moduli.h"
#include "scene/schema/schema.h"
#include "solver/solver.h"

struct info {
    const struct options *options;
    const taut_scene *scene;
    taut_solver *solver;
    struct plan_statistics *plans; // one per body
    struct critical_step critical;
    int ranks;                      // 0: not asked for
    struct plan_part_counts *parts; // one per rank
    size_t critical_body;           // the body of critical.node, if anything oscillates
    uint64_t bytes;
};

// ---- The table.

// Whether an integrator without a limit from springs may have a limit from forces that it treats
// explicitly: xpbd from gas, from elements, from contact of surfaces, and from a wind that depends
// on velocities.
static bool has_explicit_forces(const struct info *info, enum integrator integrator)
{
    const struct topology *topology = solver_topology(info->solver);
    if (integrator != INTEGRATOR_XPBD)
        return topology_wind_damps_nodes(topology);
    return topology_wind_damps(topology) || topology_has_gas(topology) ||
           topology_has_elements(topology) || topology->has_contact;
}

// Whether steps may gain energy when nodes hit a penalty collider, a one-sided spring, which turns
// stiff springs. This does not happen with xpbd, which solves these contacts as constraints, nor
// where the energy of steps is checked: with the midpoint method, and with contact of surfaces.
static bool gains_at_penalties(const struct info *info, enum integrator integrator)
{
    const struct topology *topology = solver_topology(info->solver);
    bool penalty = false;
    for (size_t c = 0; c < topology->collider_count; c++)
        penalty |= topology->colliders[c].response == RESPONSE_PENALTY;
    return penalty && !topology->has_contact &&
           (integrator == INTEGRATOR_IMPLICIT_EULER || integrator == INTEGRATOR_BDF2);
}

static void print_heading(const struct info *info)
{
    const taut_solver *solver = info->solver;
    const taut_scene *scene = info->scene;
    printf("%s%s%s (%s)\n\n", scene->name, scene->title ? ": " : "",
           scene->title ? scene->title : "", info->options->scene);
    printf("  counts     %s, %s, %s, %s\n",
           human_counted(taut_solver_body_count(solver), "body").text,
           human_counted(taut_solver_node_count(solver), "node").text,
           human_counted(taut_solver_spring_count(solver), "spring").text,
           human_counted(taut_solver_face_count(solver), "face").text);
    printf("  run        %g s in %s of %g s\n", solver_planned_time(solver),
           human_counted(taut_solver_steps_planned(solver), "step").text, taut_solver_dt(solver));
    printf("  computed   %s, %s precision, instruction set %s, %s\n",
           integrator_name(solver_integrator(solver)), precision_name(solver_precision(solver)),
           isa_name(solver_isa(solver)),
           human_counted((uint64_t)taut_solver_threads(solver), "thread").text);
    uint64_t springs = taut_solver_spring_count(solver);
    printf("  threads    by %s\n", team_runtime());
    printf("  memory     %s", human_bytes((double)info->bytes).text);
    if (springs > 0)
        printf(", %.3g bytes a spring", (double)info->bytes / (double)springs);
    puts("");
}

static int longest_name(const struct topology *topology)
{
    size_t longest = strlen("body");
    for (size_t b = 0; b < topology->body_count; b++)
        if (strlen(topology->bodies[b].name) > longest)
            longest = strlen(topology->bodies[b].name);
    return longest < 30 ? (int)longest : 30;
}

static void print_kinds(const struct topology_body *body)
{
    const char *separator = "  ";
    for (size_t kind = 0; spring_kind_name(body->type, kind); kind++) {
        uint64_t count = body->kind_start[kind + 1] - body->kind_start[kind];
        if (count == 0)
            continue;
        printf("%s%s %s", separator, spring_kind_name(body->type, kind), human_count(count).text);
        separator = ", ";
    }
    puts("");
}

// The width of a column: that of its largest number or of its heading.
static int count_width(uint64_t largest, const char *heading)
{
    int needed = (int)strlen(human_count(largest).text), least = (int)strlen(heading);
    return needed > least ? needed : least;
}

// "blocks by colour 8, 8, 4; overflow 2 blocks, 31 springs; 93% of lanes filled"
static void print_colours(const struct plan_statistics *plan, int width)
{
    printf("  %*s  blocks by colour ", width, "");
    for (int colour = 0; colour < plan->colours; colour++)
        printf("%s%" PRIu64, colour > 0 ? ", " : "", plan->colour_blocks[colour]);
    printf("; overflow %s, %s", human_counted(plan->overflow_blocks, "block").text,
           human_counted(plan->overflow_springs, "spring").text);
    if (plan->lanes > 0)
        printf("; %.0f%% of lanes filled", 100 * (double)plan->filled / (double)plan->lanes);
    if (plan->plain_blocks > 0)
        printf("; %s by plain loops", human_counted(plan->plain_blocks, "block").text);
    puts("");
}

static void print_bodies(const struct info *info)
{
    const struct topology *topology = solver_topology(info->solver);
    int width = longest_name(topology);
    int nodes = count_width(topology->node_count, "nodes");
    int springs = count_width(topology->spring_count, "springs");
    int faces = count_width(topology->face_count, "faces");
    printf("\n  %-*s  %-10s  %*s  %*s  %*s  %10s  kernel     colours  tiles  springs by kind\n",
           width, "body", "type", nodes, "nodes", springs, "springs", faces, "faces", "mass");
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const struct plan_statistics *plan = &info->plans[b];
        printf("  %-*s  %-10s  %*s  %*s  %*s  %7.4g kg  %-9s  %7d  %5" PRIu64, width, body->name,
               body_type_name(body->type), nodes, human_count(body->node_count).text, springs,
               human_count(body->spring_count).text, faces, human_count(body->face_count).text,
               body->mass, solver_body_kernel(info->solver, b), plan->colours, plan->tiles);
        print_kinds(body);
        if (plan->coloured)
            print_colours(plan, width);
        if (plan->overflow_ends > 0)
            printf("  %*s  %s of springs found no lane and are computed one by one\n", width, "",
                   human_counted(plan->overflow_ends, "end").text);
    }
}

// "both sides, moves" of a mesh collider, with its friction.
static void print_collider(const struct info *info, const struct topology_collider *mesh)
{
    const struct scene_collider *it = &info->scene->colliders[mesh->collider];
    printf("  %8zu  %9s  %9s  %-7s  %-6s  %s", mesh->collider, human_count(mesh->node_count).text,
           human_count(mesh->face_count).text, it->sides == SIDES_OUTSIDE ? "outside" : "both",
           collider_moves(it) ? "moves" : "static", it->mesh.path);
    if (it->surface_friction.present)
        printf(", friction %g, %g", it->surface_friction.static_coefficient,
               it->surface_friction.kinetic_coefficient);
    puts("");
}

static void print_mesh_colliders(const struct info *info)
{
    const struct topology *topology = solver_topology(info->solver);
    if (topology->mesh_collider_count == 0)
        return;
    printf("\n  %8s  %9s  %9s  %-7s  %-6s  %s\n", "collider", "nodes", "triangles", "sides",
           "motion", "mesh");
    for (size_t m = 0; m < topology->mesh_collider_count; m++)
        print_collider(info, &topology->mesh_colliders[m]);
}

// Whether a collider is a plane, sphere or room that acts on surfaces.
static bool acts_on_surfaces(const struct scene_collider *collider)
{
    return collider->response == RESPONSE_CONTACT && collider->type != COLLIDER_MESH;
}

static void print_shape_colliders(const struct info *info)
{
    const struct topology *topology = solver_topology(info->solver);
    bool any = false;
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *it = &topology->colliders[c];
        if (!acts_on_surfaces(it))
            continue;
        if (!any)
            printf("\n  %8s  %-6s  %s\n", "collider", "shape", "response");
        any = true;
        printf("  %8zu  %-6s  contact", c, collider_type_names[it->type]);
        if (it->surface_friction.present)
            printf(", friction %g, %g", it->coulomb.static_coefficient,
                   it->coulomb.kinetic_coefficient);
        puts("");
    }
}

// N, of a node in the mean.
static double weight_of_node(const struct topology *topology, const struct topology_body *body)
{
    return body->mass / (double)body->node_count * vec3_length(topology->environment.gravity);
}

// How stiff contact is, and whether that carries what lies on it.
static void print_contact(const struct info *info)
{
    const struct topology *topology = solver_topology(info->solver);
    const int width = longest_name(topology);
    bool any = false;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct surface_stiffness contact = solver_surface_stiffness(info->solver, b);
        const double weight = weight_of_node(topology, &topology->bodies[b]);
        if (!(contact.stiffness > 0))
            continue;
        if (!any)
            printf("\n  %-*s  contact, N/m  carries, N  a node weighs, N\n", width, "body");
        any = true;
        printf("  %-*.*s  %12.4g  %10.3g  %16.3g\n", width, width, topology->bodies[b].name,
               contact.stiffness, contact.carries, weight);
        if (weight > contact.carries)
            printf("  %-*s  too soft: cutting the motion of each step carries the rest; give "
                   "contact.stiffness\n",
                   width, "");
    }
}

// ---- Materials: what was asked for, and what the network of springs and elements represents.

// A lattice of a solid.
struct solid {
    struct solid_moduli moduli;
    double density;
    double pressure_wave, shear_wave; // m/s
};

static struct solid solid_of(const struct scene_body *body)
{
    struct solid solid = {.moduli =
                              lattice_moduli(body->kinds[0].material.stiffness,
                                             body->elements.volume, body->shape.lattice.spacing),
                          .density = body->elastic.density};
    const double shear = solid.moduli.shear, nu = solid.moduli.poisson;
    solid.shear_wave = sqrt(shear / solid.density);
    solid.pressure_wave = sqrt(2 * shear * (1 - nu) / (1 - 2 * nu) / solid.density);
    return solid;
}

// Prints a cloth: resultants, N/m, from which the strips follow; thickness 0: unknown.
struct sheet {
    struct sheet_moduli asked, moduli;
    struct strip_moduli strips;
    double areal_density, thickness;
    double wave_u, wave_v, shear_wave; // m/s
};

static struct sheet sheet_of(const struct scene_body *body)
{
    const struct cell_sides cell = cloth_cell(&body->shape.cloth);
    const struct sheet_springs springs = {.u = body->kinds[0].material.stiffness,
                                          .v = body->kinds[CLOTH_WEFT].material.stiffness,
                                          .diagonal = body->kinds[1].material.stiffness,
                                          .area = body->elements.area};
    const bool is_fabric = body->fabric.present;
    struct sheet sheet = {.asked = sheet_of_body(body),
                          .moduli = sheet_of_springs(&springs, cell.u / cell.v),
                          .thickness =
                              is_fabric ? body->fabric.thickness : body->elastic.thickness};
    sheet.moduli.bending_u = body->elements.bending_u;
    sheet.moduli.bending_v = body->elements.bending_v;
    sheet.moduli.twist = body->elements.twist;
    sheet.strips = sheet_strips(&sheet.moduli);
    sheet.areal_density = sheet.asked.areal_density;
    sheet.wave_u = sqrt(sheet.moduli.c11 / sheet.areal_density);
    sheet.wave_v = sqrt(sheet.moduli.c22 / sheet.areal_density);
    sheet.shear_wave = sqrt(sheet.moduli.c66 / sheet.areal_density);
    return sheet;
}

// A rope: N, N m2, kg/m, m/s.
struct line {
    double young, tension, bending, density, wave;
};

static struct line line_of(const struct scene_body *body)
{
    const double spacing = rope_spacing(&body->shape.rope);
    const double area = circle_area(body->elastic.diameter);
    struct line line = {.tension = body->kinds[0].material.stiffness * spacing,
                        .bending = body->elements.bending_u,
                        .density = body_cell_mass(body) / spacing};
    line.young = line.tension / area;
    line.wave = sqrt(line.tension / line.density);
    return line;
}

static void print_solid(const struct scene_body *body)
{
    const struct solid solid = solid_of(body);
    printf("\n  The material of '%s': E = %.6g Pa, Poisson's ratio %.4g, density %.6g kg/m3; "
           "asked for: %.6g Pa, %.4g.\n",
           body->name, solid.moduli.young, solid.moduli.poisson, solid.density, body->elastic.young,
           body->elastic.poisson);
    printf("  Shear modulus %.6g Pa, pressure waves %.4g m/s, shear waves %.4g m/s; springs "
           "inside: k1 = k2 = %.6g N/m, damping %.4g N s/m",
           solid.moduli.shear, solid.pressure_wave, solid.shear_wave,
           body->kinds[0].material.stiffness, body->kinds[0].material.damping);
    if (body->elements.volume != 0)
        printf("; volume %.6g Pa", body->elements.volume);
    puts(".");
}

static void print_resultants(const char *what, const struct sheet_moduli *moduli)
{
    printf("  %-10s  %12.6g  %12.6g  %12.6g  %12.6g  N/m\n", what, moduli->c11, moduli->c22,
           moduli->c12, moduli->c66);
}

static void print_sheet(const struct scene_body *body)
{
    const struct sheet sheet = sheet_of(body);
    const struct strip_moduli *strips = &sheet.strips;
    const double t = sheet.thickness;
    const char *named = body->fabric.present ? body->fabric.material : body->elastic.material;
    printf("\n  The material of '%s'%s%s%s: %.6g kg/m2, %.6g kg.\n\n", body->name,
           named ? " (" : "", named ? named : "", named ? ")" : "", sheet.areal_density,
           body->mass);
    printf("  %-10s  %12s  %12s  %12s  %12s\n", "", "C11 (u)", "C22 (v)", "C12", "C66 (shear)");
    print_resultants("asked for", &sheet.asked);
    print_resultants("network", &sheet.moduli);
    printf("\n  Strips: %.6g N/m along u, %.6g along v, %.6g along the diagonal; Poisson's ratio "
           "%.4g along u.\n",
           strips->along_u, strips->along_v, strips->diagonal, strips->poisson);
    if (t > 0)
        printf("  E = %.6g Pa along u, %.6g along v, %.6g along the diagonal; shear modulus %.6g "
               "Pa; thickness %g m.\n",
               strips->along_u / t, strips->along_v / t, strips->diagonal / t, sheet.moduli.c66 / t,
               t);
    printf("  Bending %.6g N m along u, %.6g along v, twist %.6g; waves %.4g m/s along u, %.4g "
           "along v, shear waves %.4g.\n",
           sheet.moduli.bending_u, sheet.moduli.bending_v, sheet.moduli.twist, sheet.wave_u,
           sheet.wave_v, sheet.shear_wave);
    printf("  Springs inside: %.6g N/m along u, %.6g along v, %.6g along diagonals; area %.6g "
           "N/m.\n",
           body->kinds[0].material.stiffness, body->kinds[CLOTH_WEFT].material.stiffness,
           body->kinds[1].material.stiffness, body->elements.area);
}

static void print_line(const struct scene_body *body)
{
    const struct line line = line_of(body);
    printf("\n  The material of '%s': E = %.6g Pa, density %.6g kg/m3; asked for: %.6g Pa.\n",
           body->name, line.young, body->elastic.density, body->elastic.young);
    printf("  E A = %.6g N, bending %.6g N m2, %.6g kg/m, waves %.4g m/s; springs: %.6g N/m, "
           "damping %.4g N s/m.\n",
           line.tension, line.bending, line.density, line.wave, body->kinds[0].material.stiffness,
           body->kinds[0].material.damping);
}

// Prints a mesh or a sphere, with waves in the plane of its wall, m/s.
static void print_membrane(const struct scene_body *body)
{
    const struct scene_elements *of = &body->elements;
    printf("\n  The material of '%s': E = %.6g Pa, Poisson's ratio %.4g, density %.6g kg/m3.\n",
           body->name, body->elastic.young, body->elastic.poisson, body->elastic.density);
    printf("  %.6g m thick: E t / (1 - nu^2) = %.6g N/m, shear modulus %.6g N/m, bending %.6g N m, "
           "%.6g kg/m2, pressure waves %.4g m/s, shear waves %.4g m/s.\n",
           body->elastic.thickness, of->stretch, of->shear, of->bending_u, of->areal_density,
           sqrt(of->stretch / of->areal_density), sqrt(of->shear / of->areal_density));
}

static void print_materials(const struct info *info)
{
    for (size_t b = 0; b < info->scene->body_count; b++) {
        const struct scene_body *body = &info->scene->bodies[b];
        if (!body_has_moduli(body))
            continue;
        if (body_is_membrane(body))
            print_membrane(body);
        else if (body->type == BODY_CLOTH)
            print_sheet(body);
        else if (body->type == BODY_ROPE)
            print_line(body);
        else
            print_solid(body);
    }
}

// Prints the tested step of xpbd where none is guaranteed.
static void print_tested(const struct info *info)
{
    const double tested = solver_tested_step(&info->critical, info->scene->simulation.substeps);
    printf("  %12s     not certain beside elements that soften springs", "none");
    if (tested > 0)
        printf("; stable in tests up to %.4g s", tested);
    puts("");
}

static void print_integrator(const struct info *info, enum integrator integrator)
{
    const taut_solver *solver = info->solver;
    double guaranteed = info->critical.dt[integrator];
    double computed = info->critical.computed_dt[integrator], dt = taut_solver_dt(solver);
    printf("  %c %-18s", integrator == solver_integrator(solver) ? '*' : ' ',
           integrator_name(integrator));
    if (guaranteed > 0 && isinf(guaranteed)) {
        printf("%12s  %12s     %s\n", "no limit", "no limit",
               !has_explicit_forces(info, integrator) && !gains_at_penalties(info, integrator)
                   ? (integrator == INTEGRATOR_XPBD ? "stable at every dt"
                                                    : "of small motions; large rotations: see docs")
               : integrator == INTEGRATOR_XPBD ? "from springs; other forces are explicit"
               : has_explicit_forces(info, integrator)
                   ? "from springs; wind is explicit"
                   : "from springs; penalty colliders can add energy");
        return;
    }
    if (guaranteed > 0)
        printf("%10.4g s", guaranteed);
    else
        printf("%12s", "none");
    const bool exact = info->critical.exact[integrator];
    if (computed > 0)
        printf("%s%10.4g s   dt is %.3g of it%s\n", exact ? "  " : ">=", computed, dt / computed,
               dt <= guaranteed ? ""
               : dt <= computed ? ", beyond what is guaranteed"
               : exact          ? ": not stable"
                                : ": perhaps not stable");
    else if (integrator == INTEGRATOR_XPBD)
        print_tested(info);
    else
        printf("  %12s     %s\n", exact ? "none" : ">= 0",
               !exact                       ? "the least damped motion was not found"
               : info->critical.damping > 0 ? "what is not damped grows at every step"
                                            : "grows at every step without damping");
}

// Whether any printed limit is marked as a bound.
static bool any_bound(const struct info *info)
{
    bool any = false;
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        any |= !info->critical.exact[i] && !isinf(integrator_limit((enum integrator)i));
    return any;
}

static void print_critical(const struct info *info)
{
    const struct critical_step *critical = &info->critical;
    if (!(critical->omega > 0) && !(critical->damping > 0)) {
        puts(
            "\n  Nothing oscillates: no elastic spring is at a free node, and every dt is stable.");
        return;
    }
    printf("\n  The largest stable steps (* is in use, dt = %g s):\n\n  %-20s%12s  %12s\n",
           taut_solver_dt(info->solver), "", "guaranteed", "computed");
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        print_integrator(info, (enum integrator)i);
    if (any_bound(info))
        puts("\n  >= marks steps up to which it is stable; the limit is not known to 1%.");
    if (!(critical->omega > 0)) {
        puts("\n  Nothing oscillates: they are those of drag and damping alone.");
        return;
    }
    const struct topology_body *body = &solver_topology(info->solver)->bodies[info->critical_body];
    printf("\n  They are set at node %" PRIu64 " of body '%s'", critical->node - body->first_node,
           body->name);
    if (critical->known)
        printf(", whose stiffest spring is number %" PRIu64, critical->spring - body->first_spring);
    puts(".");
}

// How long steps may be for mesh colliders (solver/mesh_step.c).
static void print_mesh_step(const struct info *info)
{
    size_t collider;
    const double longest = solver_mesh_step(info->solver, &collider);
    if (isinf(longest))
        return;
    const bool implicit = integrator_is_implicit(solver_integrator(info->solver));
    printf("\n  Mesh collider %zu moves by %s of contact in %.4g s, where it is fastest%s.\n",
           collider, implicit ? "two thicknesses" : "half the thickness", longest,
           solver_dt_rule(info->solver)->automatic ? "; 'dt: auto' stays below that then" : "");
}

static bool any_projects(const struct topology *topology)
{
    for (size_t c = 0; c < topology->collider_count; c++)
        if (topology->colliders[c].response == RESPONSE_PROJECT)
            return true;
    return false;
}

// The largest ratio of a spring's stiffness to the mass of a free end, 1/s2. Rigid springs store no
// energy and are left out.
static double greatest_rate(const struct topology *topology)
{
    double greatest = 0;
    for (uint64_t spring = 0; spring < topology->spring_count;) {
        const struct spring_run run = topology_run(topology, spring, topology->spring_count);
        const struct material *material = &topology->materials[run.material];
        for (uint64_t i = 0; i < run.count && material->law != LAW_RIGID; i++) {
            const uint64_t ends[2] = {run.a + i, run.b + i};
            for (int end = 0; end < 2; end++)
                if (!topology_is_kinematic(topology, ends[end]))
                    greatest =
                        fmax(greatest, material->stiffness / topology_mass(topology, ends[end]));
        }
        spring += run.count;
    }
    return greatest;
}

// Impacts of stiff springs add energy in xpbd unless h sqrt(k/m) is about 1 or less
// (docs/numerics.md).
static void print_substeps(const struct info *info)
{
    const struct topology *topology = solver_topology(info->solver);
    if (solver_integrator(info->solver) != INTEGRATOR_XPBD ||
        !(any_projects(topology) || topology->has_contact))
        return;
    const double least = ceil(taut_solver_dt(info->solver) * sqrt(greatest_rate(topology)));
    printf("\n  Impacts add no energy from %.0f substeps on; there %s %" PRIu64 ".\n",
           fmax(1, least), info->scene->simulation.substeps == 1 ? "is" : "are",
           info->scene->simulation.substeps);
}

// The largest part in units of the mean, by springs, or by nodes without any.
static double imbalance(const struct info *info)
{
    uint64_t most = 0, sum = 0;
    const bool springs = taut_solver_spring_count(info->solver) > 0;
    for (int r = 0; r < info->ranks; r++) {
        const uint64_t part = springs ? info->parts[r].springs : info->parts[r].nodes;
        sum += part;
        most = part > most ? part : most;
    }
    return sum > 0 ? (double)most * info->ranks / (double)sum : 1;
}

// The bytes that a rank receives in each evaluation of forces: positions and velocities of its
// halo, and halo contributions.
static uint64_t received_bytes(const struct info *info, const struct plan_part_counts *part)
{
    const uint64_t of_real = solver_real_bytes(info->solver);
    return (6 * part->halo_nodes + 3 * part->contribution_nodes) * of_real;
}

// The bytes that a rank needs without output, as estimated before a run.
static double rank_bytes(const struct info *info, int rank)
{
    const struct solver_options wanted = {
        .config = {.threads = info->options->threads, .kernel = info->options->kernel}};
    struct memory_estimate estimate;
    memory_estimate_of_rank(info->scene, &wanted, info->ranks, rank, &estimate);
    return estimate.making > estimate.solver ? estimate.making : estimate.solver;
}

static void print_ranks(const struct info *info)
{
    if (info->ranks == 0)
        return;
    printf(
        "\n  ranks      %d, the largest part %.3g times the mean; received in each evaluation of "
        "forces:\n",
        info->ranks, imbalance(info));
    printf("    %6s  %13s  %13s  %10s  %13s  %5s  %10s  %10s\n", "rank", "nodes", "springs", "halo",
           "contributions", "peers", "bytes", "memory");
    for (int r = 0; r < info->ranks; r++) {
        const struct plan_part_counts *part = &info->parts[r];
        printf("    %6d  %13s  %13s", r, human_count(part->nodes).text,
               human_count(part->springs).text);
        printf("  %10s  %13s", human_count(part->halo_nodes).text,
               human_count(part->contribution_nodes).text);
        printf("  %5d  %10s", part->peers, human_count(received_bytes(info, part)).text);
        printf("  %10s\n", human_bytes(rank_bytes(info, r)).text);
    }
}

static void write_ranks(struct json *json, const struct info *info)
{
    if (info->ranks == 0)
        return;
    json_open_array(json, "ranks");
    for (int r = 0; r < info->ranks; r++) {
        const struct plan_part_counts *part = &info->parts[r];
        json_open_object(json, NULL);
        json_count(json, "nodes", part->nodes);
        json_count(json, "springs", part->springs);
        json_count(json, "halo_nodes", part->halo_nodes);
        json_count(json, "contribution_nodes", part->contribution_nodes);
        json_count(json, "peers", (uint64_t)part->peers);
        json_count(json, "received_bytes", received_bytes(info, part));
        json_count(json, "memory_bytes", (uint64_t)rank_bytes(info, r));
        json_close_object(json);
    }
    json_close_array(json);
    json_number(json, "ranks_imbalance", imbalance(info));
}

static void print_table(const struct info *info)
{
    print_heading(info);
    print_bodies(info);
    print_mesh_colliders(info);
    print_shape_colliders(info);
    print_contact(info);
    print_materials(info);
    print_critical(info);
    print_mesh_step(info);
    print_substeps(info);
    print_ranks(info);
}

// ---- JSON.

static void write_kinds(struct json *json, const struct topology_body *body)
{
    json_open_object(json, "springs_by_kind");
    for (size_t kind = 0; spring_kind_name(body->type, kind); kind++) {
        uint64_t count = body->kind_start[kind + 1] - body->kind_start[kind];
        if (count > 0)
            json_count(json, spring_kind_name(body->type, kind), count);
    }
    json_close_object(json);
}

// The nodes of a grid along x, y and z; null if there is no grid.
static void write_lattice(struct json *json, const struct plan_statistics *plan)
{
    if (plan->nodes[0] == 0) {
        json_null(json, "lattice");
        return;
    }
    json_open_array(json, "lattice");
    for (int axis = 0; axis < 3; axis++)
        json_count(json, NULL, plan->nodes[axis]);
    json_close_array(json);
}

static void write_membrane(struct json *json, const struct scene_body *body)
{
    const struct scene_elements *of = &body->elements;
    json_open_object(json, "elastic");
    json_number(json, "young", body->elastic.young);
    json_number(json, "poisson", body->elastic.poisson);
    json_number(json, "shear_modulus", of->shear / body->elastic.thickness);
    json_number(json, "density", body->elastic.density);
    json_number(json, "pressure_wave", sqrt(of->stretch / of->areal_density));
    json_number(json, "shear_wave", sqrt(of->shear / of->areal_density));
    json_number(json, "thickness", body->elastic.thickness);
    json_number(json, "stretch", of->stretch);
    json_number(json, "bending", of->bending_u);
    json_number(json, "areal_density", of->areal_density);
    json_close_object(json);
}

static void write_solid(struct json *json, const struct scene_body *body)
{
    const struct solid solid = solid_of(body);
    json_open_object(json, "elastic");
    json_number(json, "young", solid.moduli.young);
    json_number(json, "poisson", solid.moduli.poisson);
    json_number(json, "shear_modulus", solid.moduli.shear);
    json_number(json, "density", solid.density);
    json_number(json, "young_requested", body->elastic.young);
    json_number(json, "poisson_requested", body->elastic.poisson);
    json_number(json, "pressure_wave", solid.pressure_wave);
    json_number(json, "shear_wave", solid.shear_wave);
    json_number(json, "spring_stiffness", body->kinds[0].material.stiffness);
    json_number(json, "spring_damping", body->kinds[0].material.damping);
    json_number(json, "volume", body->elements.volume);
    json_close_object(json);
}

static void write_resultants(struct json *json, const char *name, const struct sheet_moduli *moduli)
{
    json_open_object(json, name);
    json_number(json, "C11", moduli->c11);
    json_number(json, "C22", moduli->c22);
    json_number(json, "C12", moduli->c12);
    json_number(json, "C66", moduli->c66);
    json_number(json, "bending_u", moduli->bending_u);
    json_number(json, "bending_v", moduli->bending_v);
    json_number(json, "twist", moduli->twist);
    json_close_object(json);
}

static void write_sheet(struct json *json, const struct scene_body *body)
{
    const struct sheet sheet = sheet_of(body);
    const char *named = body->fabric.present ? body->fabric.material : body->elastic.material;
    json_open_object(json, body->fabric.present ? "fabric" : "elastic");
    if (named)
        json_string(json, "material", named);
    else
        json_null(json, "material");
    json_number(json, "areal_density", sheet.areal_density);
    json_number(json, "thickness", sheet.thickness > 0 ? sheet.thickness : NAN);
    write_resultants(json, "requested", &sheet.asked);
    write_resultants(json, "represented", &sheet.moduli);
    json_number(json, "strip_u", sheet.strips.along_u);
    json_number(json, "strip_v", sheet.strips.along_v);
    json_number(json, "strip_diagonal", sheet.strips.diagonal);
    json_number(json, "poisson", sheet.strips.poisson);
    json_number(json, "wave_u", sheet.wave_u);
    json_number(json, "wave_v", sheet.wave_v);
    json_number(json, "shear_wave", sheet.shear_wave);
    json_number(json, "spring_u", body->kinds[0].material.stiffness);
    json_number(json, "spring_v", body->kinds[CLOTH_WEFT].material.stiffness);
    json_number(json, "spring_diagonal", body->kinds[1].material.stiffness);
    json_number(json, "area", body->elements.area);
    json_close_object(json);
}

static void write_line(struct json *json, const struct scene_body *body)
{
    const struct line line = line_of(body);
    json_open_object(json, "elastic");
    json_number(json, "young", line.young);
    json_number(json, "young_requested", body->elastic.young);
    json_number(json, "density", body->elastic.density);
    json_number(json, "tension", line.tension);
    json_number(json, "bending", line.bending);
    json_number(json, "mass_per_length", line.density);
    json_number(json, "wave", line.wave);
    json_number(json, "spring_stiffness", body->kinds[0].material.stiffness);
    json_number(json, "spring_damping", body->kinds[0].material.damping);
    json_close_object(json);
}

// The material in SI units as represented and as asked for, under the key that gave it; null if
// springs were given.
static void write_material(struct json *json, const struct scene_body *body)
{
    if (!body->elastic.present)
        json_null(json, "elastic");
    if (body->type == BODY_CLOTH && !body->fabric.present)
        json_null(json, "fabric");
    if (!body_has_moduli(body))
        return;
    if (body_is_membrane(body))
        write_membrane(json, body);
    else if (body->type == BODY_CLOTH)
        write_sheet(json, body);
    else if (body->type == BODY_ROPE)
        write_line(json, body);
    else
        write_solid(json, body);
}

static void write_body(struct json *json, const struct info *info, size_t index)
{
    const struct topology_body *body = &solver_topology(info->solver)->bodies[index];
    const struct plan_statistics *plan = &info->plans[index];
    json_open_object(json, NULL);
    json_string(json, "name", body->name);
    json_string(json, "type", body_type_name(body->type));
    json_count(json, "nodes", body->node_count);
    json_count(json, "springs", body->spring_count);
    write_kinds(json, body);
    json_count(json, "faces", body->face_count);
    json_number(json, "mass", body->mass);
    write_material(json, &info->scene->bodies[index]);
    json_string(json, "kernel", solver_body_kernel(info->solver, index));
    write_lattice(json, plan);
    const struct surface_stiffness contact = solver_surface_stiffness(info->solver, index);
    json_number(json, "contact_stiffness", contact.stiffness > 0 ? contact.stiffness : NAN);
    json_number(json, "contact_carries", contact.stiffness > 0 ? contact.carries : NAN);
    json_count(json, "colours", (uint64_t)plan->colours);
    json_count(json, "tiles", plan->tiles);
    if (plan->lanes > 0)
        json_number(json, "lanes_filled", (double)plan->filled / (double)plan->lanes);
    json_count(json, "late_springs", plan->overflow_ends);
    if (plan->coloured) {
        json_open_array(json, "blocks_per_colour");
        for (int colour = 0; colour < plan->colours; colour++)
            json_count(json, NULL, plan->colour_blocks[colour]);
        json_close_array(json);
        json_count(json, "overflow_blocks", plan->overflow_blocks);
        json_count(json, "overflow_springs", plan->overflow_springs);
        json_count(json, "plain_blocks", plan->plain_blocks);
    }
    json_close_object(json);
}

// Null: no step is known to be stable, or all are, or nothing oscillates and nothing is damped.
static void write_by_integrator(struct json *json, const char *name, const double *steps,
                                bool limited)
{
    json_open_object(json, name);
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        json_number(json, integrator_name((enum integrator)i),
                    limited && steps[i] > 0 ? steps[i] : NAN);
    json_close_object(json);
}

static void write_critical(struct json *json, const struct info *info)
{
    const struct critical_step *critical = &info->critical;
    bool oscillates = critical->omega > 0;

    json_open_object(json, "critical_step");
    if (oscillates) {
        const struct topology_body *body =
            &solver_topology(info->solver)->bodies[info->critical_body];
        json_number(json, "bound", critical->bound);
        json_number(json, "sharp", critical->computed);
        json_count(json, "node", critical->node - body->first_node);
        if (critical->known)
            json_count(json, "spring", critical->spring - body->first_spring);
        else
            json_null(json, "spring");
        json_string(json, "body", body->name);
    } else {
        json_null(json, "bound");
        json_null(json, "sharp");
        json_null(json, "node");
        json_null(json, "spring");
        json_null(json, "body");
    }
    json_close_object(json);

    // The limits of each integrator.
    bool limited = oscillates || critical->damping > 0;
    write_by_integrator(json, "by_integrator", critical->dt, limited);
    write_by_integrator(json, "by_integrator_sharp", critical->computed_dt, limited);
    const double tested = solver_tested_step(critical, info->scene->simulation.substeps);
    if (limited && tested > 0)
        json_number(json, "xpbd_tested", tested);
    else
        json_null(json, "xpbd_tested");

    json_open_object(json, "by_integrator_exact");
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        json_bool(json, integrator_name((enum integrator)i), critical->exact[i]);
    json_close_object(json);

    json_open_array(json, "unconditionally_stable");
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        if (isinf(integrator_limit((enum integrator)i)) &&
            !has_explicit_forces(info, (enum integrator)i) &&
            !gains_at_penalties(info, (enum integrator)i))
            json_string(json, NULL, integrator_name((enum integrator)i));
    json_close_array(json);
}

static void write_mesh_collider(struct json *json, const struct info *info, size_t number)
{
    const struct topology_collider *mesh = &solver_topology(info->solver)->mesh_colliders[number];
    const struct scene_collider *it = &info->scene->colliders[mesh->collider];
    json_open_object(json, NULL);
    json_count(json, "collider", mesh->collider);
    json_string(json, "file", it->mesh.path);
    json_count(json, "nodes", mesh->node_count);
    json_count(json, "triangles", mesh->face_count);
    json_string(json, "sides", it->sides == SIDES_OUTSIDE ? "outside" : "both");
    json_bool(json, "moves", collider_moves(it));
    json_close_object(json);
}

static void write_shape_collider(struct json *json, const struct info *info, size_t number)
{
    const struct scene_collider *it = &solver_topology(info->solver)->colliders[number];
    if (!acts_on_surfaces(it))
        return;
    json_open_object(json, NULL);
    json_count(json, "collider", number);
    json_string(json, "type", collider_type_names[it->type]);
    json_close_object(json);
}

static void print_json(const struct info *info)
{
    const taut_solver *solver = info->solver;
    uint64_t springs = taut_solver_spring_count(solver);

    struct json json = {.out = stdout};
    json_open_object(&json, NULL);
    json_string(&json, "scene", info->options->scene);
    json_count(&json, "nodes", taut_solver_node_count(solver));
    json_count(&json, "springs", springs);
    json_count(&json, "faces", taut_solver_face_count(solver));
    json_count(&json, "bytes", info->bytes);
    if (springs > 0)
        json_number(&json, "bytes_per_spring", (double)info->bytes / (double)springs);
    else
        json_null(&json, "bytes_per_spring");

    json_open_array(&json, "bodies");
    for (size_t b = 0; b < taut_solver_body_count(solver); b++)
        write_body(&json, info, b);
    json_close_array(&json);
    json_open_array(&json, "mesh_colliders");
    for (size_t m = 0; m < solver_topology(solver)->mesh_collider_count; m++)
        write_mesh_collider(&json, info, m);
    json_close_array(&json);
    json_open_array(&json, "contact_colliders");
    for (size_t c = 0; c < solver_topology(solver)->collider_count; c++)
        write_shape_collider(&json, info, c);
    json_close_array(&json);

    write_critical(&json, info);
    size_t collider;
    const double mesh_step = solver_mesh_step(solver, &collider);
    json_number(&json, "mesh_step", isfinite(mesh_step) ? mesh_step : NAN);

    json_string(&json, "integrator", integrator_name(solver_integrator(solver)));
    json_string(&json, "precision", precision_name(solver_precision(solver)));
    json_number(&json, "dt", taut_solver_dt(solver));
    json_count(&json, "steps", taut_solver_steps_planned(solver));
    json_count(&json, "threads", (uint64_t)taut_solver_threads(solver));
    json_string(&json, "thread_runtime", team_runtime());
    write_ranks(&json, info);
    json_close_object(&json);
}

// ---- The command.

static taut_status gather(struct info *info, taut_error *error)
{
    info->bytes = solver_bytes(info->solver);
    info->plans = calloc(solver_topology(info->solver)->body_count + 1, sizeof *info->plans);
    if (!info->plans)
        return fail_memory(error, "the plan of each body");
    solver_count_plan(info->solver, info->plans);
    info->ranks = info->options->ranks > 0 ? info->options->ranks
                  : ranks_count() > 1      ? ranks_count()
                                           : 0;
    if (info->ranks > 0) {
        info->parts = calloc((size_t)info->ranks, sizeof *info->parts);
        const taut_status counted =
            info->parts ? solver_count_parts(info->solver, info->ranks, info->parts, error)
                        : fail_memory(error, "the parts of ranks");
        if (counted != TAUT_OK)
            return counted;
    }
    taut_status status = solver_computed_steps(info->solver, &info->critical, error);
    critical_step_absorb_rounding(&info->critical);
    if (status == TAUT_OK && info->critical.omega > 0)
        info->critical_body =
            topology_body_of_node(solver_topology(info->solver), info->critical.node);
    return status;
}

static double memory_of_info(const struct options *options, const taut_scene *scene)
{
    (void)options;
    struct memory_estimate estimate;
    memory_estimate_make(scene, NULL, &estimate);
    return estimate.critical;
}

static int info_run(const struct options *options)
{
    struct session session;
    int code = session_open(options, memory_of_info, &session);
    if (code != EXIT_CODE_DONE) {
        session_close(&session);
        return code;
    }
    struct info gathered = {.options = options, .scene = session.scene, .solver = session.solver};
    taut_error error = {0};
    taut_status status = gather(&gathered, &error);
    if (status != TAUT_OK)
        complain("%s: %s", options->scene, error.text);
    else if (options->json)
        print_json(&gathered);
    else if (!options->quiet)
        print_table(&gathered);
    free(gathered.plans);
    free(gathered.parts);
    session_close(&session);
    return output_finish(exit_code_of(status));
}

const struct command info_command = {
    .name = "info",
    .does = "Prints the content of a scene, how it is computed, and which steps are stable",
    .operand = "SCENE",
    .kind = COMMAND_PLANS,
    .run = info_run,
};
