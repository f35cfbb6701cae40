// Cloths and ropes of materials in SI units: constants are the sums of those of the cells, counted
// here cell by cell; cloths under homogeneous strain have the resultants of the sheet, for any
// number and any ratio of sides of cells; strips, shear and bodies that hang by their own weight
// follow closed forms; named materials, units and damping; setters, cuts and grids.
#include "physics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/fabrics.h"
#include "scene/moduli.h"
#include "scene/reader.h"
#include "solver/internals.h"
#include "topology/topology.h"

// Without an element for the area: C12 = C66.
#define WARP   500.0
#define WEFT   400.0
#define SHEAR  150.0
#define WEIGHT 0.2

// A cloth of cells of a by b m.
static taut_scene *coupled_scene(const uint64_t n[2], double a, double b, double coupling,
                                 const char *more)
{
    return scene_of(HEADER("symplectic_euler", "1e-5") //
                    "bodies: [{name: c, type: cloth, u: [" NUM ", 0, 0], v: [0, " NUM ", 0],\n"
                    "  nodes: [%d, %d], fabric: {areal_density: " NUM ", warp: " NUM ", weft: " NUM
                    ",\n  shear: " NUM ", coupling: " NUM "}%s}]\n",
                    a * (double)(n[0] - 1), b * (double)(n[1] - 1), (int)n[0], (int)n[1], WEIGHT,
                    WARP, WEFT, SHEAR, coupling, more);
}

static taut_scene *cloth_scene(const uint64_t n[2], double a, double b, const char *more)
{
    return coupled_scene(n, a, b, SHEAR, more);
}

// ---- Constants, cell by cell

// The number of cells that have both nodes.
static double cells_with(const uint64_t n[2], uint64_t a, uint64_t b)
{
    double cells = 0;
    for (uint64_t y = 0; y + 1 < n[1]; y++)
        for (uint64_t x = 0; x + 1 < n[0]; x++) {
            int found = 0;
            for (uint64_t corner = 0; corner < 4; corner++) {
                const uint64_t node = (y + corner / 2) * n[0] + x + corner % 2;
                found += (node == a) + (node == b);
            }
            cells += found == 2;
        }
    return cells;
}

// The cells of a node.
static double cells_at(const uint64_t n[2], uint64_t node)
{
    double cells = 0;
    for (uint64_t corner = 0; corner < 4; corner++) {
        const uint64_t i = node % n[0] + corner % 2, j = node / n[0] + corner / 2;
        cells += i >= 1 && i < n[0] && j >= 1 && j < n[1];
    }
    return cells;
}

static void test_constants_are_those_of_the_cells(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {{2, 2}, {3, 4}, {5, 2}, {2, 7}, {21, 11}};
    const double a = 0.05, b = 0.04;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const uint64_t *n = sizes[s];
        taut_solver *solver = solver_from(cloth_scene(n, a, b, ", damping_ratio: 0.1"), NULL);
        const struct topology *topology = solver_topology(solver);
        const struct sheet_moduli moduli = {WARP, WEFT, SHEAR, SHEAR, 0, 0, 0, WEIGHT};
        const struct sheet_springs inside = sheet_springs(&moduli, a / b);
        const double mass = WEIGHT * a * b;
        assert_true(inside.u > 0 && inside.v > 0 && inside.area == 0);

        uint64_t springs = 0;
        for (uint64_t spring = 0; spring < topology->spring_count;) {
            const struct spring_run run = topology_run(topology, spring, topology->spring_count);
            for (uint64_t i = 0; i < run.count; i++) {
                const uint64_t from = run.a + i, to = run.b + i;
                const bool along_u = from / n[0] == to / n[0], along_v = from % n[0] == to % n[0];
                const double k = along_u ? inside.u : along_v ? inside.v : inside.diagonal;
                const double weight = cells_with(n, from, to) / (along_u || along_v ? 2 : 1);
                const struct material *material = &topology->materials[run.material];
                const double c = 2 * 0.1 * sqrt(k * mass / 2);
                assert_true(weight > 0);
                assert_near(material->stiffness, k * weight, 1e-12 * k);
                assert_near(material->damping, c * weight, 1e-12 * c);
            }
            springs += run.count;
            spring += run.count;
        }
        const uint64_t cells = (n[0] - 1) * (n[1] - 1);
        assert_int_equal(springs, 2 * cells + n[0] * (n[1] - 1) + n[1] * (n[0] - 1));
        for (uint64_t node = 0; node < topology->node_count; node++)
            assert_near(topology_mass(topology, node), mass * cells_at(n, node) / 4, 1e-12 * mass);
        assert_near(topology->bodies[0].mass, mass * (double)cells, 1e-12);
        assert_int_equal(topology->mass_count, 0); // they follow from the grid
        taut_solver_destroy(solver);
    }
}

// ---- Homogeneous strain

// A state of strain: e11, e22 and the angle g12.
struct strain {
    double e11, e22, g12;
};

// Displaces every node of a cloth in the x-y plane, with a small rotation.
static void strain(taut_solver *solver, const struct strain *of)
{
    const double turn = 0.3 * (fabs(of->e11) + fabs(of->e22) + fabs(of->g12));
    for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
        const vec3 p = position_of(solver, node);
        put(solver, node,
            vec3_make(p.x + of->e11 * p.x + (of->g12 / 2 - turn) * p.y,
                      p.y + of->e22 * p.y + (of->g12 / 2 + turn) * p.x, p.z));
    }
}

// The forces on the edges of a strained cloth: resultants times the length of the cells' edges that
// the node has; none inside. `n` nodes, cells of a by b.
static void assert_resultants(taut_solver *solver, const uint64_t n[2], double a, double b,
                              const double resultants[3], double tolerance)
{
    double *forces = all_forces(solver);
    for (uint64_t node = 0; node < n[0] * n[1]; node++) {
        const uint64_t i = node % n[0], j = node / n[0];
        const double along_x = (i == 0 || i + 1 == n[0] ? 0.5 : 1) * a;
        const double along_y = (j == 0 || j + 1 == n[1] ? 0.5 : 1) * b;
        const double right = (i + 1 == n[0]) - (double)(i == 0),
                     up = (j + 1 == n[1]) - (double)(j == 0);
        assert_near(forces[3 * node],
                    -right * along_y * resultants[0] - up * along_x * resultants[2],
                    tolerance * (a + b));
        assert_near(forces[3 * node + 1],
                    -up * along_x * resultants[1] - right * along_y * resultants[2],
                    tolerance * (a + b));
        assert_near(forces[3 * node + 2], 0, tolerance * (a + b));
    }
    free(forces);
}

static const struct strain strains[] = {
    {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0.4, -0.7, 0.9}};

static void test_homogeneous_strain_has_the_resultants_of_the_sheet(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {{2, 2}, {3, 3}, {5, 2}, {2, 6}, {9, 7}, {21, 21}};
    // With the coupling of springs alone; with elements of the area that stiffen and soften.
    static const struct {
        double a, b, coupling;
    } cells[] = {{0.05, 0.05, SHEAR},  {0.06, 0.04, SHEAR}, {0.04, 0.06, SHEAR},
                 {0.05, 0.065, SHEAR}, {0.05, 0.05, 250},   {0.05, 0.05, -40},
                 {0.05, 0.055, 180},   {0.055, 0.05, 20}};
    const double small = 1e-7;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t r = 0; r < sizeof cells / sizeof cells[0]; r++)
            for (size_t e = 0; e < sizeof strains / sizeof strains[0]; e++) {
                const double a = cells[r].a, b = cells[r].b, coupling = cells[r].coupling;
                const struct strain of = {small * strains[e].e11, small * strains[e].e22,
                                          small * strains[e].g12};
                const double resultants[3] = {WARP * of.e11 + coupling * of.e22,
                                              coupling * of.e11 + WEFT * of.e22, SHEAR * of.g12};
                taut_solver *solver =
                    solver_from(coupled_scene(sizes[s], a, b, coupling, ""), NULL);
                strain(solver, &of);
                assert_resultants(solver, sizes[s], a, b, resultants, 1e-5 * small * SHEAR);
                taut_solver_destroy(solver);
            }
}

// A sheet of a solid with Poisson's ratio 1/3, which springs represent alone, by default.
static void test_sheets_of_solids_have_young_times_thickness(void **state)
{
    (void)state;
    static const uint64_t n[2] = {7, 5};
    const double young = 1e6, t = 3e-4, a = 0.05, b = 0.06, small = 1e-7;
    const struct strain stretched = {small, -small / 3, 0}, sheared = {0, 0, small};
    const double shear = young * t / (2 * (1 + 1.0 / 3));
    for (int i = 0; i < 2; i++) {
        taut_solver *solver = solver_of(
            HEADER("symplectic_euler", "1e-5") "bodies: [{name: c, type: cloth, u: [" NUM
                                               ", 0, 0], v: [0, " NUM ", 0],\n nodes: [7, 5],"
                                               " elastic: {young: " NUM
                                               ", density: 500, thickness: " NUM "}}]\n",
            6 * a, 4 * b, young, t);
        const double resultants[3] = {i == 0 ? young * t * small : 0, 0,
                                      i == 0 ? 0 : shear * small};
        strain(solver, i == 0 ? &stretched : &sheared);
        assert_resultants(solver, n, a, b, resultants, 1e-5 * small * young * t);
        assert_near(taut_solver_body_count(solver), 1, 0);
        taut_solver_destroy(solver);
    }
}

// A strip along the diagonal has the modulus 4 / (S11 + 2 S12 + S22 + S66).
static void test_strips_follow_from_the_compliance(void **state)
{
    (void)state;
    static const uint64_t n[2] = {6, 6};
    static const double couplings[] = {SHEAR, 250, -40};
    const double a = 0.05, small = 1e-7;
    for (int i = 0; i < 3; i++) {
        const double c12 = couplings[i];
        const struct sheet_moduli moduli = {WARP, WEFT, c12, SHEAR, 0, 0, 0, 0};
        const struct strip_moduli strips = sheet_strips(&moduli);
        const double determinant = WARP * WEFT - c12 * c12;
        const double s11 = WEFT / determinant, s22 = WARP / determinant, s12 = -c12 / determinant;
        assert_near(strips.along_u, 1 / s11, 1e-9);
        assert_near(strips.along_v, 1 / s22, 1e-9);
        assert_near(strips.diagonal, 4 / (s11 + 2 * s12 + s22 + 1 / SHEAR), 1e-9);

        // The strain under a force along the diagonal alone, and its part along the diagonal.
        const double force = strips.diagonal * small;
        const struct strain of = {(s11 + s12) * force / 2, (s12 + s22) * force / 2,
                                  force / 2 / SHEAR};
        assert_near((of.e11 + of.e22 + of.g12) / 2, small, 1e-9 * small);
        const double resultants[3] = {force / 2, force / 2, force / 2};
        taut_solver *solver = solver_from(coupled_scene(n, a, a, c12, ""), NULL);
        strain(solver, &of);
        assert_resultants(solver, n, a, a, resultants, 1e-5 * small * SHEAR);
        taut_solver_destroy(solver);
    }

    const struct scene_fabric denim = fabric_named(0);
    const struct sheet_moduli measured = sheet_of_fabric(&denim);
    assert_string_equal(denim.material, "denim");
    assert_near(sheet_strips(&measured).diagonal, 162.346, 1.0);
}

// Constants and moduli are inverse to each other, with the element of the area.
static void test_moduli_are_those_that_the_constants_represent(void **state)
{
    (void)state;
    static const double ratios[] = {0.6, 1, 1.5};
    for (size_t f = 0; fabric_names[f]; f++)
        for (size_t r = 0; r < 3; r++) {
            const struct scene_fabric fabric = fabric_named(f);
            const struct sheet_moduli asked = sheet_of_fabric(&fabric);
            const struct sheet_springs springs = sheet_springs(&asked, ratios[r]);
            const struct sheet_moduli found = sheet_of_springs(&springs, ratios[r]);
            const double tolerance = 1e-12 * (asked.c11 + asked.c22);
            assert_near(found.c11, asked.c11, tolerance);
            assert_near(found.c22, asked.c22, tolerance);
            assert_near(found.c12, asked.c12, tolerance);
            assert_near(found.c66, asked.c66, tolerance);
        }
    for (int i = 0; i <= 5; i++) {
        const struct scene_elastic solid = {
            .young = 2e6, .poisson = i / 10.0, .density = 900, .thickness = 1e-3};
        const struct sheet_moduli sheet = sheet_of_solid(&solid);
        const struct strip_moduli strips = sheet_strips(&sheet);
        assert_near(strips.along_u, 2e3, 1e-9);
        assert_near(strips.diagonal, 2e3, 1e-9);
        assert_near(strips.poisson, solid.poisson, 1e-12);
        assert_near(sheet.bending_u, 2e6 * 1e-9 / (12 * (1 - i * i / 100.0)), 1e-15);
    }
}

// A third written with a few digits is one: such a sheet needs no element for the area, and its
// springs keep C11.
static void test_a_rounded_third_needs_no_area(void **state)
{
    (void)state;
    static const double thirds[] = {0.333333, 0.3333333, 0.33333333333, 1.0 / 3};
    struct scene_elastic solid = {.young = 1e6, .density = 500, .thickness = 3e-4};
    for (int i = 0; i < 4; i++) {
        solid.poisson = thirds[i];
        const struct sheet_moduli asked = sheet_of_solid(&solid);
        const struct sheet_springs springs = sheet_springs(&asked, 1.2);
        const struct sheet_moduli found = sheet_of_springs(&springs, 1.2);
        assert_true(springs.area == 0);
        assert_near(found.c11, asked.c11, 1e-12 * asked.c11);
        assert_near(found.c12, asked.c12, 1e-5 * asked.c12);
    }
    solid.poisson = 0.3333;
    const struct sheet_moduli sheet = sheet_of_solid(&solid);
    assert_true(sheet_springs(&sheet, 1.2).area < 0);
}

// The same for lattices, with the element of the volume.
static void test_constants_of_lattices_represent_every_ratio(void **state)
{
    (void)state;
    const double young = 3e5, a = 0.1;
    for (int i = 0; i <= 9; i++) {
        const double poisson = i / 20.0;
        taut_scene *scene =
            scene_of("precision: double\nsimulation: {dt: 1e-5, steps: 1}\n"
                     "bodies: [{name: b, type: lattice, nodes: [3, 3, 3], spacing: 0.1,\n"
                     "  elastic: {young: " NUM ", poisson: " NUM ", density: 1000}}]\n",
                     young, poisson);
        const struct scene_body *body = &scene->bodies[0];
        const double stiffness = body->kinds[0].material.stiffness;
        const double mu = young / (2 * (1 + poisson));
        const struct solid_moduli found = lattice_moduli(stiffness, body->elements.volume, a);
        assert_near(stiffness, mu * a, 1e-9);
        assert_near(body->kinds[1].material.stiffness, stiffness, 0);
        assert_near(mu + body->elements.volume, // lambda
                    young * poisson / ((1 + poisson) * (1 - 2 * poisson)), 1e-9 * young);
        assert_near(found.young, young, 1e-9 * young);
        assert_near(found.poisson, poisson, 1e-12);
        assert_near(found.shear, mu, 1e-9 * mu);
        assert_true((body->elements.volume == 0) == (i == 5));
        scene_free(scene);
    }
}

// ---- Bodies that hang by their own weight

// The mean height of some nodes.
static double height_of(const taut_solver *solver, uint64_t first, uint64_t count)
{
    double sum = 0;
    for (uint64_t node = first; node < first + count; node++)
        sum += position_of(solver, node).y;
    return sum / (double)count;
}

// Every part stretches by the weight below its middle: rho g L^2 / 2 E, for any number of nodes.
static void test_hanging_ropes_stretch_as_bars(void **state)
{
    (void)state;
    const double young = 1e7, density = 1140, length = 2;
    for (int nodes = 2; nodes <= 21; nodes += nodes < 5 ? 1 : 8) {
        taut_solver *solver =
            solver_of(HEADER("implicit_euler", "100") //
                      "environment: {gravity: [0, -9.81, 0]}\n"
                      "bodies: [{name: r, type: rope, from: [0, 0, 0], to: [0, " NUM
                      ", 0], nodes: %d, pins: [first],\n"
                      "  elastic: {young: " NUM ", density: " NUM ", diameter: 0.004}}]\n",
                      -length, nodes, young, density);
        advance(solver, 4);
        const double longer = -length - position_of(solver, (uint64_t)nodes - 1).y;
        assert_near(longer, density * 9.81 * length * length / (2 * young), 2e-6 * length);
        assert_near(solver_topology(solver)->bodies[0].mass, density * 1.2566370614e-5 * length,
                    1e-10);
        taut_solver_destroy(solver);
    }
}

// A cloth whose lateral strain is small: of three resolutions, one with rectangular cells.
static void test_hanging_cloths_stretch_as_sheets(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {{5, 9}, {9, 17}, {13, 33}};
    const double length = 1, weight = 0.2, weft = 80, shear = 4;
    const double expected = weight * 9.81 * length * length / (2 * (weft - shear * shear / 100));
    for (size_t s = 0; s < 3; s++) {
        taut_solver *solver =
            solver_of(HEADER("implicit_euler", "100") //
                      "environment: {gravity: [0, -9.81, 0]}\n"
                      "bodies: [{name: c, type: cloth, u: [0.5, 0, 0], v: [0, " NUM
                      ", 0], nodes: [%d, %d], pins: [top],\n"
                      "  fabric: {areal_density: " NUM ", warp: 100, weft: " NUM ", shear: " NUM
                      ", coupling: " NUM "}}]\n",
                      -length, (int)sizes[s][0], (int)sizes[s][1], weight, weft, shear, shear);
        advance(solver, 12);
        const uint64_t last = sizes[s][0] * (sizes[s][1] - 1);
        const double longer = -length - height_of(solver, last, sizes[s][0]);
        assert_near(longer, expected, 0.01 * expected);
        taut_solver_destroy(solver);
    }
}

// ---- Keys

static taut_scene *keys_scene(const char *keys)
{
    return scene_of("simulation: {dt: 1e-5, steps: 1}\n"
                    "bodies: [{name: c, type: cloth, u: [1, 0, 0], v: [0, 1, 0], nodes: [11, 11], "
                    "%s}]\n",
                    keys);
}

static void test_every_named_material_makes_a_body(void **state)
{
    (void)state;
    for (size_t f = 0; fabric_names[f]; f++) {
        char *text = text_format("fabric: %s, damping_ratio: 0.02", fabric_names[f]);
        taut_scene *scene = keys_scene(text);
        const struct scene_body *body = &scene->bodies[0];
        assert_true(body->fabric.present && !body->elastic.present);
        assert_string_equal(body->fabric.material, fabric_names[f]);
        assert_near(body->mass, fabric_named(f).areal_density, 1e-12);
        assert_near(body->elements.area, fabric_named(f).coupling - fabric_named(f).shear, 1e-9);
        assert_true(body->elements.bending_u > 0 && body->elements.damped);
        assert_non_null(strstr(fabric_source(f), "20"));
        scene_free(scene);
        free(text);
    }
    for (size_t s = 0; solid_names[s]; s++) {
        char *text =
            text_format("elastic: {material: %s, thickness: 0.001, density: 1000}", solid_names[s]);
        taut_scene *scene = keys_scene(text);
        const struct scene_body *body = &scene->bodies[0];
        assert_true(body->elastic.present);
        assert_near(body->elastic.young, solid_named(s).young, 0);
        assert_near(body->mass, 1, 1e-12); // the number in the mapping wins
        assert_false(body->elements.damped);
        assert_true(strlen(solid_source(s)) > 20);
        scene_free(scene);
        free(text);
    }
    taut_scene *scene =
        scene_of("simulation: {dt: 1e-5, steps: 1}\n"
                 "bodies: [{name: r, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 11,\n"
                 "  elastic: {material: nylon, diameter: 0.004}}]\n");
    const struct scene_body *rope = &scene->bodies[0];
    const double area = PI / 4 * 0.004 * 0.004;
    assert_near(rope->kinds[0].material.stiffness, 2.7e9 * area / 0.1, 1e-6);
    assert_near(rope->elements.bending_u, 2.7e9 * PI / 64 * pow(0.004, 4), 1e-12);
    assert_near(rope->mass, 1140 * area, 1e-12);
    scene_free(scene);
}

static void test_units_of_kawabata(void **state)
{
    (void)state;
    taut_scene *scene = keys_scene("fabric: {areal_density: 0.2, warp: {kes: 500}, weft: 400, "
                                   "shear: {kes: 1}, coupling: {kes: -2}, "
                                   "bending: [{kes: 0.05}, 2.0e-6], twist: {kes: 0.1}}");
    const struct scene_fabric *fabric = &scene->bodies[0].fabric;
    assert_near(fabric->warp, 490.3325, 1e-9);
    assert_near(fabric->weft, 400, 0);
    assert_near(fabric->shear, 9.80665e-3 / (0.01 * PI / 180), 1e-9);
    assert_near(fabric->coupling, -1.96133, 1e-9);
    assert_near(fabric->bending[0], 4.903325e-6, 1e-15);
    assert_near(fabric->bending[1], 2e-6, 0);
    assert_near(fabric->twist, 9.80665e-6, 1e-15);
    scene_free(scene);

    scene = keys_scene("fabric: {areal_density: 0.2, warp: 500, weft: 400, shear: 50, "
                       "bending: [4.0e-6, 9.0e-6]}");
    assert_near(scene->bodies[0].elements.twist, 6e-6, 1e-15); // the root of the product
    scene_free(scene);
}

static void test_damping_proportional_to_stiffness(void **state)
{
    (void)state;
    taut_scene *scene = keys_scene("fabric: denim, rayleigh: {stiffness: 0.002}");
    const struct scene_body *body = &scene->bodies[0];
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        if (body->kinds[kind].present)
            assert_near(body->kinds[kind].material.damping,
                        0.002 * body->kinds[kind].material.stiffness, 1e-12);
    assert_false(body->elements.damped);
    assert_near(body->rayleigh_stiffness, 0.002, 0);
    scene_free(scene);
}

static taut_scene *scene_with(const char *path, const char *text)
{
    struct diagnostics diagnostics = {0};
    const struct scene_override override = {.text = text};
    taut_scene *scene = scene_read_file(path, &override, 1, &diagnostics);
    if (!scene)
        fail_msg("%s: %s", text, diagnostics.items[0].text);
    diagnostics_free(&diagnostics);
    return scene;
}

// An override replaces a material by another one, by masses and springs, or its damping.
static void test_overrides_replace_materials(void **state)
{
    (void)state;
    char path[400];
    snprintf(path, sizeof path, "%s",
             physics_file("fabric.yaml",
                          "simulation: {dt: 1e-5, steps: 1}\n"
                          "bodies: [{name: c, type: cloth, u: [1, 0, 0], v: [0, 1, 0],\n"
                          "  nodes: [11, 11], fabric: {material: denim}, damping_ratio: 0.1}]\n"));
    taut_scene *scene = scene_with(path, "bodies.c.fabric=interlock");
    assert_string_equal(scene->bodies[0].fabric.material, "interlock");
    scene_free(scene);
    scene = scene_with(path, "bodies.c.fabric.warp=300");
    assert_near(scene->bodies[0].elements.area, fabric_named(0).coupling - fabric_named(0).shear,
                1e-9);
    assert_near(scene->bodies[0].kinds[0].material.stiffness, 300 - fabric_named(0).coupling, 1e-9);
    scene_free(scene);
    scene = scene_with(path, "bodies.c.elastic={material: rubber, thickness: 0.001}");
    assert_true(scene->bodies[0].elastic.present && !scene->bodies[0].fabric.present);
    scene_free(scene);
    scene = scene_with(path, "bodies.c.rayleigh={stiffness: 0.01}");
    assert_near(scene->bodies[0].damping_ratio, 0, 0);
    assert_near(scene->bodies[0].rayleigh_stiffness, 0.01, 0);
    scene_free(scene);
    scene = scene_with(path, "bodies.c.damping=2");
    assert_near(scene->bodies[0].kinds[0].material.damping, 2, 0);
    char *resolved = scene_resolved_yaml(scene); // the constants are comments
    assert_non_null(resolved);
    assert_non_null(strstr(resolved, "weft 1003.65221 N/m, damping 2 N s/m"));
    assert_non_null(strstr(resolved, "area -43.153107 N/m"));
    free(resolved);
    scene_free(scene);
}

// A cloth whose springs along v have a kind of their own, without any material in SI units.
static void test_weft_is_a_kind_of_springs(void **state)
{
    (void)state;
    taut_scene *scene = keys_scene("mass: 1, springs: {structural: {stiffness: 50}, "
                                   "shear: {stiffness: 5}, weft: {stiffness: 20}}");
    taut_solver *solver = solver_from(scene, NULL);
    const struct topology *topology = solver_topology(solver);
    assert_int_equal(taut_solver_find_material(solver, 0, "weft"), CLOTH_WEFT);
    assert_int_equal(taut_solver_material_count(solver, 0), 5);
    assert_int_equal(topology->spring_count, 110 + 200 + 110);
    for (uint64_t spring = 0; spring < topology->spring_count;) {
        const struct spring_run run = topology_run(topology, spring, topology->spring_count);
        const uint64_t apart = run.b - run.a;
        assert_near(topology->materials[run.material].stiffness,
                    apart == 1    ? 50
                    : apart == 11 ? 20
                                  : 5,
                    0);
        spring += run.count;
    }
    taut_solver_destroy(solver);
    solver = solver_from(keys_scene("mass: 1, stiffness: 5"), NULL);
    assert_int_equal(taut_solver_material_count(solver, 0), 4); // as before there was the kind
    taut_solver_destroy(solver);
}

// ---- Kernels, setters, cuts

static taut_solver *shaken(const uint64_t n[2], const char *integrator, const char *more,
                           taut_kernel kernel)
{
    struct solver_options options = {.config = {.threads = 2, .kernel = kernel}};
    char *text = text_format(", damping_law: %s", more);
    taut_scene *scene = scene_of(
        "precision: double\nsimulation: {integrator: %s, dt: 1e-4, steps: 1}\n"
        "bodies: [{name: c, type: cloth, u: [" NUM ", 0, 0], v: [0, " NUM ", 0], nodes: [%d, %d],\n"
        "  damping_ratio: 0.1%s, fabric: {areal_density: 0.2, warp: 50, weft: 40, shear: 15,\n"
        "  coupling: 15}}]\n",
        integrator, 0.05 * (double)(n[0] - 1), 0.06 * (double)(n[1] - 1), (int)n[0], (int)n[1],
        *more ? text : "");
    free(text);
    taut_solver *solver = solver_from(scene, &options);
    uint64_t seed = 7;
    for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
        const vec3 at = position_of(solver, node);
        double away[6];
        for (int i = 0; i < 6; i++)
            away[i] = next_random(&seed);
        put(solver, node,
            vec3_add(at, vec3_make(0.005 * away[0], 0.005 * away[1], 0.005 * away[2])));
        put_velocity(solver, node, vec3_make(away[3], away[4], away[5]));
    }
    return solver;
}

// Cloths of one tile and of several, of chunks of a few rows each, and of the fewest cells.
static void test_grids_agree_with_the_reference(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {{9, 7}, {4, 2}, {33, 3}, {40, 41}, {300, 120}, {37, 500}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int law = 0; law < 2; law++) {
            taut_solver *both[2];
            for (int i = 0; i < 2; i++)
                both[i] = shaken(sizes[s], "symplectic_euler", law ? "full" : "",
                                 i == 0 ? TAUT_KERNEL_REFERENCE : TAUT_KERNEL_AUTO);
            assert_grid_agrees(both[0], both[1], true);
            taut_solver_destroy(both[0]);
            taut_solver_destroy(both[1]);
        }
}

// Implicit integrators use the tangent of the grid and its lines.
static void test_implicit_steps_agree_with_packed_springs(void **state)
{
    (void)state;
    static const uint64_t size[2] = {19, 14};
    taut_solver *both[2];
    for (int i = 0; i < 2; i++) {
        both[i] = shaken(size, "implicit_euler", "", i ? TAUT_KERNEL_AUTO : TAUT_KERNEL_PACKED);
        advance(both[i], 3);
    }
    for (uint64_t node = 0; node < taut_solver_node_count(both[0]); node++)
        assert_vector_near(position_of(both[1], node), position_of(both[0], node), 1e-6);
    taut_solver_destroy(both[0]);
    taut_solver_destroy(both[1]);
}

static void test_critical_steps_of_grids_are_those_of_packed_springs(void **state)
{
    (void)state;
    static const uint64_t n[2] = {19, 14};
    taut_critical_step steps[2];
    for (int grid = 0; grid < 2; grid++) {
        taut_error error = {0};
        struct solver_options options = {
            .config = {.threads = 1, .kernel = grid ? TAUT_KERNEL_GRID : TAUT_KERNEL_PACKED}};
        taut_solver *solver =
            solver_from(cloth_scene(n, 0.05, 0.06, ", damping_ratio: 0.1"), &options);
        assert_int_equal(taut_solver_critical_step(solver, 1, &steps[grid], &error), TAUT_OK);
        taut_solver_destroy(solver);
    }
    const double most = 1 + 1e-9;
    assert_true(steps[1].bound > 0 && steps[1].bound <= most * steps[1].computed);
    assert_true(steps[1].dt_bound > 0 && steps[1].dt_bound <= most * steps[1].dt_computed);
    assert_true(steps[1].bound > 0.8 * steps[1].computed); // not that of corners
    assert_near(steps[1].computed, steps[0].computed, 1e-6 * steps[0].computed);
    assert_near(steps[1].dt_computed, steps[0].dt_computed, 1e-6 * steps[0].dt_computed);
}

// In xpbd the order of the springs is that of the kernel, and matters less the smaller the step.
static void test_xpbd_computes_weighted_cloths(void **state)
{
    (void)state;
    static const uint64_t size[2] = {19, 14};
    taut_solver *reference = shaken(size, "symplectic_euler", "", TAUT_KERNEL_REFERENCE);
    taut_solver *start = shaken(size, "symplectic_euler", "", TAUT_KERNEL_REFERENCE);
    taut_solver *grid = shaken(size, "xpbd", "", TAUT_KERNEL_AUTO);
    assert_string_equal(solver_body_kernel(grid, 0), "grid");
    advance(reference, 30);
    advance(grid, 30);
    assert_moves_alike(reference, start, grid, 0.05);
    taut_solver_destroy(reference);
    taut_solver_destroy(start);
    taut_solver_destroy(grid);
}

// Another fabric also sets the constants on the boundary; masses follow from the density.
static void test_setters_keep_the_weights(void **state)
{
    (void)state;
    static const uint64_t n[2] = {9, 8};
    taut_error error = {0};
    taut_solver *solver = solver_from(cloth_scene(n, 0.05, 0.05, ""), NULL);
    taut_fabric fabric;
    assert_int_equal(taut_solver_get_fabric(solver, 0, &fabric, &error), TAUT_OK);
    fabric.warp = fabric.weft = 20; // springs of 10 N/m each
    fabric.shear = fabric.coupling = 10;
    assert_int_equal(taut_solver_set_fabric(solver, 0, &fabric, &error), TAUT_OK);
    const struct topology *topology = solver_topology(solver);
    for (uint64_t spring = 0; spring < topology->spring_count;) {
        const struct spring_run run = topology_run(topology, spring, topology->spring_count);
        const bool diagonal = run.b - run.a != 1 && run.b - run.a != n[0];
        const double weight = cells_with(n, run.a, run.b) / (diagonal ? 1 : 2);
        assert_near(topology->materials[run.material].stiffness, 10 * weight, 0);
        spring += run.count;
    }
    assert_int_equal(taut_solver_set_node_mass(solver, 0, 1, &error), TAUT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "fabric"));
    taut_solver_destroy(solver);

    solver = solver_of("simulation: {dt: 1e-5, steps: 1}\n"
                       "bodies: [{name: r, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 11,\n"
                       "  elastic: {material: steel, diameter: 0.001}}]\n");
    assert_int_equal(taut_solver_set_node_mass(solver, 0, 1, &error), TAUT_ERROR_UNSUPPORTED);
    taut_solver_destroy(solver);
}

static void test_a_cut_keeps_the_weights(void **state)
{
    (void)state;
    static const uint64_t n[2] = {8, 7};
    const struct strain of = {0.01, 0.02, 0.03};
    taut_error error = {0};
    taut_solver *whole = solver_from(cloth_scene(n, 0.05, 0.05, ""), NULL), *cut = NULL;
    const uint64_t count = taut_solver_spring_count(whole);
    struct solver_cuts cuts = {.spring_count = count, .face_count = taut_solver_face_count(whole)};
    cuts.springs = calloc((size_t)count, 1);
    cuts.faces = calloc((size_t)cuts.face_count + 1, 1);
    assert_non_null(cuts.springs);
    assert_non_null(cuts.faces);
    cuts.springs[0] = 1;
    taut_scene *scene = cloth_scene(n, 0.05, 0.05, "");
    struct solver_options one = {.config = {.threads = 1}};
    assert_int_equal(solver_create_cut(scene, &one, &cuts, &cut, &error), TAUT_OK);
    taut_scene_destroy(scene);
    strain(whole, &of);
    strain(cut, &of);
    assert_only_ends_differ(whole, cut, 0.01);
    free(cuts.springs);
    free(cuts.faces);
    taut_solver_destroy(cut);
    taut_solver_destroy(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_those_of_the_cells),
        cmocka_unit_test(test_homogeneous_strain_has_the_resultants_of_the_sheet),
        cmocka_unit_test(test_sheets_of_solids_have_young_times_thickness),
        cmocka_unit_test(test_strips_follow_from_the_compliance),
        cmocka_unit_test(test_moduli_are_those_that_the_constants_represent),
        cmocka_unit_test(test_a_rounded_third_needs_no_area),
        cmocka_unit_test(test_constants_of_lattices_represent_every_ratio),
        cmocka_unit_test(test_hanging_ropes_stretch_as_bars),
        cmocka_unit_test(test_hanging_cloths_stretch_as_sheets),
        cmocka_unit_test(test_every_named_material_makes_a_body),
        cmocka_unit_test(test_units_of_kawabata),
        cmocka_unit_test(test_damping_proportional_to_stiffness),
        cmocka_unit_test(test_overrides_replace_materials),
        cmocka_unit_test(test_weft_is_a_kind_of_springs),
        cmocka_unit_test(test_grids_agree_with_the_reference),
        cmocka_unit_test(test_implicit_steps_agree_with_packed_springs),
        cmocka_unit_test(test_critical_steps_of_grids_are_those_of_packed_springs),
        cmocka_unit_test(test_xpbd_computes_weighted_cloths),
        cmocka_unit_test(test_setters_keep_the_weights),
        cmocka_unit_test(test_a_cut_keeps_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
