// Surfaces of triangles with `elastic`: strained homogeneously, an irregular mesh has the stress
// resultants of the isotropic membrane, for every Poisson's ratio; bent to a cylinder, a flat one
// has the energy of the plate; a shell under gas pressure expands as far as the closed form;
// results depend on nothing else. tests/test_elements.c compares forces, energies, tangents and
// steps.
#include "physics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "solver/internals.h"
#include "topology/topology.h"

#define SHEET "'" TAUT_TEST_SOURCE "/tests/data/meshes/sheet.obj'"

#define YOUNG     2.0e5
#define DENSITY   900.0
#define THICKNESS 0.002

// ---- Masses

static void test_masses_are_thirds_of_the_triangles(void **state)
{
    (void)state;
    taut_solver *solver =
        solver_of(HEADER("symplectic_euler", "1e-5") "bodies: [{name: b, type: mesh, file: " SHEET
                                                     ", elastic: {young: " NUM ", poisson: 0.3, "
                                                     "density: " NUM ", thickness: " NUM "}}]\n",
                  YOUNG, DENSITY, THICKNESS);
    const struct topology *topology = solver_topology(solver);
    assert_int_equal(topology->spring_count, 0);
    assert_near(topology_total_mass(topology), DENSITY * THICKNESS * 0.8, 1e-12);
    double expected[63] = {0};
    for (uint64_t f = 0; f < topology->face_count; f++) {
        const struct face face = topology_face(topology, f);
        const vec3 a = position_of(solver, face.nodes[0]), b = position_of(solver, face.nodes[1]),
                   c = position_of(solver, face.nodes[2]);
        const double area = vec3_length(vec3_cross(vec3_subtract(b, a), vec3_subtract(c, a))) / 2;
        for (int corner = 0; corner < 3; corner++)
            expected[face.nodes[corner]] += DENSITY * THICKNESS * area / 3;
    }
    for (uint64_t node = 0; node < topology->node_count; node++)
        assert_near(topology_mass(topology, node), expected[node], 1e-12);
    taut_solver_destroy(solver);
}

// ---- Homogeneous strain

// Adds the forces of the first Piola-Kirchhoff resultants P (N/m) to the nodes on the boundary:
// half of P n L of each edge that has one face only, with its outward normal n and its length at
// rest.
static void add_boundary(taut_solver *solver, const double P[2][2], double *forces)
{
    const struct topology *topology = solver_topology(solver);
    for (uint64_t f = 0; f < topology->face_count; f++)
        for (int i = 0; i < 3; i++) {
            const struct face face = topology_face(topology, f);
            const uint32_t a = face.nodes[i], b = face.nodes[(i + 1) % 3];
            bool open = true;
            for (uint64_t other = 0; other < topology->face_count; other++)
                for (int j = 0; j < 3; j++) {
                    const struct face back = topology_face(topology, other);
                    open &= back.nodes[j] != b || back.nodes[(j + 1) % 3] != a;
                }
            if (!open)
                continue;
            const vec3 along = vec3_subtract(position_of(solver, b), position_of(solver, a));
            for (int axis = 0; axis < 2; axis++) {
                const double half = (P[axis][0] * along.y - P[axis][1] * along.x) / 2;
                forces[3 * a + (uint32_t)axis] -= half;
                forces[3 * b + (uint32_t)axis] -= half;
            }
        }
}

static void test_resultants_are_those_of_the_membrane(void **state)
{
    (void)state;
    static const double ratios[] = {0, 0.3, 0.5};
    static const double gradients[][2][2] = {
        {{1.001, 0}, {0, 1}},     {{1, 0}, {0, 0.999}},      {{1, 0.002}, {0, 1}},
        {{1.002, 0}, {0, 1.002}}, {{1.3, 0.2}, {-0.1, 0.8}}, {{0.6, -0.8}, {0.8, 0.6}},
    };
    for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++)
        for (size_t g = 0; g < sizeof gradients / sizeof *gradients; g++) {
            const double nu = ratios[r];
            const double(*F)[2] = gradients[g];
            taut_solver *solver = solver_of(
                HEADER("symplectic_euler", "1e-5") "bodies: [{name: b, type: mesh, file: " SHEET
                                                   ", elastic: {young: " NUM ", poisson: " NUM
                                                   ", density: " NUM ", thickness: " NUM "}}]\n",
                YOUNG, nu, DENSITY, THICKNESS);

            // The second Piola-Kirchhoff stress of Green's strain in plane stress, and P = F S.
            double E[2][2], S[2][2], P[2][2], work = 0;
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    E[i][j] = (F[0][i] * F[0][j] + F[1][i] * F[1][j] - (i == j)) / 2;
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) {
                    S[i][j] = YOUNG * THICKNESS / (1 - nu * nu) *
                              ((1 - nu) * E[i][j] + (i == j ? nu * (E[0][0] + E[1][1]) : 0));
                    work += S[i][j] * E[i][j] / 2;
                }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    P[i][j] = F[i][0] * S[0][j] + F[i][1] * S[1][j];

            const uint64_t count = taut_solver_node_count(solver);
            double expected[3 * 63] = {0};
            assert_int_equal(count, 63);
            add_boundary(solver, (const double(*)[2])P, expected);
            for (uint64_t node = 0; node < count; node++) {
                const vec3 p = position_of(solver, node);
                put(solver, node,
                    vec3_make(F[0][0] * p.x + F[0][1] * p.y, F[1][0] * p.x + F[1][1] * p.y, 0));
            }
            double *forces = all_forces(solver), greatest = 1e-6 * YOUNG * THICKNESS;
            for (uint64_t i = 0; i < 3 * count; i++)
                greatest = fmax(greatest, fabs(expected[i]));
            for (uint64_t i = 0; i < 3 * count; i++)
                assert_near(forces[i], expected[i], 1e-5 * greatest);
            assert_near(energy_of(solver).elastic, 0.8 * work, 1e-5 * work + 1e-12);
            free(forces);
            taut_solver_destroy(solver);
        }
}

// ---- Bending

// A sheet of m by n squares of side h with one diagonal each, in the other direction if `turned`.
static const char *sheet_file(int m, int n, double h, bool turned)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= m; i++)
            fprintf(out, "v %.9g %.9g 0\n", i * h, j * h);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            const int a = j * (m + 1) + i + 1, b = a + 1, c = a + m + 1, d = c + 1;
            if (turned)
                fprintf(out, "f %d %d %d\nf %d %d %d\n", a, b, c, b, d, c);
            else
                fprintf(out, "f %d %d %d\nf %d %d %d\n", a, b, d, a, d, c);
        }
    assert_int_equal(fclose(out), 0);
    char name[64];
    snprintf(name, sizeof name, "sheet-%d-%d-%d.obj", m, n, turned);
    const char *path = physics_file(name, text);
    free(text);
    return path;
}

// The energy of that sheet, laid round a cylinder of the radius with its axis at an angle.
static double cylinder_energy(int m, int n, double h, bool turned, double angle, double radius)
{
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler", "1e-6") "bodies: [{name: b, type: mesh, file: '%s', elastic: "
                                           "{young: " NUM ", poisson: 0.3, density: 1000, "
                                           "thickness: 0.3}}]\n",
        sheet_file(m, n, h, turned), YOUNG);
    const double c = cos(angle), s = sin(angle);
    for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
        const vec3 p = position_of(solver, node);
        const double along = c * p.x + s * p.y, across = -s * p.x + c * p.y;
        const double round = radius * sin(along / radius);
        put(solver, node,
            vec3_make(c * round - s * across, s * round + c * across,
                      radius * (1 - cos(along / radius))));
    }
    const double energy = energy_of(solver).elastic;
    taut_solver_destroy(solver);
    return energy;
}

// The edges of a sheet bend on one side only; differences of four sheets leave the inside.
static void test_cylinders_have_the_energy_of_plates(void **state)
{
    (void)state;
    const double h = 0.1, radius = 40, t = 0.3;
    const double B = YOUNG * t * t * t / (12 * (1 - 0.3 * 0.3));
    for (int turned = 0; turned < 2; turned++)
        for (int eighth = 0; eighth < 8; eighth++) {
            const double angle = eighth * PI / 8;
            double energy = 0;
            for (int sign = 0; sign < 4; sign++)
                energy +=
                    (sign == 1 || sign == 2 ? -1 : 1) *
                    cylinder_energy(sign & 1 ? 12 : 6, sign & 2 ? 10 : 5, h, turned, angle, radius);
            const double expected = B / (2 * radius * radius) * 6 * 5 * h * h;
            assert_near(energy / expected, 1, 2e-3);
        }
}

// A sphere as built is at rest: edges that are not flat do not bend.
static void test_built_shapes_are_at_rest(void **state)
{
    (void)state;
    taut_solver *solver =
        solver_of(HEADER("symplectic_euler", "1e-6") "bodies: [{name: b, type: sphere, radius: 0.5,"
                                                     " subdivisions: 2, elastic: {young: 1e5,"
                                                     " poisson: 0.4, density: 900, thickness: "
                                                     "0.01}, rotate: [20, 30, 40]}]\n");
    double *forces = all_forces(solver);
    for (uint64_t i = 0; i < 3 * taut_solver_node_count(solver); i++)
        assert_near(forces[i], 0, 1e-9);
    free(forces);
    assert_near(energy_of(solver).elastic, 0, 1e-15);
    taut_solver_destroy(solver);
}

// ---- A shell under pressure

// Without an atmosphere the gas of a sphere has the pressure p = nRT / V, and p r = 2 N balances
// the tension N = K (s^2 - 1) / 2 with K = E t / (1 - nu) and the stretch s = r / R: s^4 - s^2 = q,
// with q = 3 nRT / (4 pi R^2 K). An icosphere of 1,280 triangles has 1% less volume than the
// sphere.
static void test_a_shell_expands_as_the_closed_form(void **state)
{
    (void)state;
    static const double ratios[] = {0, 0.3, 0.5}, strengths[] = {0.05, 1};
    const double R = 0.2, young = 1e6, t = 0.002;
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        for (size_t k = 0; k < sizeof strengths / sizeof *strengths; k++) {
            const double nu = ratios[i], q = strengths[k], K = young * t / (1 - nu);
            taut_solver *solver = solver_of(
                "precision: double\nsimulation: {integrator: implicit_euler, dt: 0.01, steps: 1,\n"
                "  implicit: {newton: 4, tolerance: 1e-6}}\n"
                "bodies: [{name: b, type: sphere, radius: " NUM ", subdivisions: 3,\n"
                "  pressure: {amount: " NUM ", atmosphere: 0, gamma: 1, inflate: 1},\n"
                "  elastic: {young: " NUM ", poisson: " NUM ", density: 1000, thickness: " NUM
                "}}]\n",
                R, q * 4 * PI / 3 * R * R * K, young, nu, t);
            advance(solver, 40);
            const double expected = sqrt((1 + sqrt(1 + 4 * q)) / 2);
            double mean = 0;
            const uint64_t count = taut_solver_node_count(solver);
            for (uint64_t node = 0; node < count; node++)
                mean += vec3_length(position_of(solver, node)) / R / (double)count;
            assert_near(mean / expected, 1, 0.01);
            assert_near((mean - 1) / (expected - 1), 1, 0.05);
            taut_solver_destroy(solver);
        }
}

// ---- Determinism, and integrators

static const char *const scenes[] = {
    "bodies: [{name: b, type: mesh, file: " SHEET ", velocity: [0.3, -0.7, 0.9], pins: [0, 8],\n"
    " elastic: {young: 2e5, poisson: 0.3, density: 900, thickness: 0.02}, damping_ratio: 0.1}]\n",
    "environment: {gravity: [0, -9.81, 0], wind: {velocity: [3, 0, 1], law: face}}\n"
    "bodies:\n"
    "- {name: a, type: sphere, radius: 0.5, subdivisions: 3, velocity: [0.3, -0.7, 0.9],\n"
    "   elastic: {young: 2e5, poisson: 0.4, density: 900, thickness: 0.002}, damping_ratio: 0.05}\n"
    "- {name: c, type: cloth, origin: [0,2,0], u: [1,0,0], v: [0,0,1], nodes: [20, 20], mass: 1,\n"
    "   springs: {structural: {stiffness: 50}, shear: {stiffness: 50}}}\n"
    "- {name: b, type: mesh, file: " SHEET ", translate: [0, 3, 0], pins: [0],\n"
    "   elastic: {young: 2e5, poisson: 0, density: 900, thickness: 0.02}}\n",
};

static uint64_t hash_of(const void *context, const struct solver_options *options)
{
    taut_solver *solver = solver_from(
        scene_of("simulation: {dt: 1e-5, steps: 1}\n%s", (const char *)context), options);
    advance(solver, 20);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_hashes_depend_on_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        assert_same_hashes(hash_of, scenes[i]);
}

// Every integrator, at a step at which all are accurate, ends where RK4 does.
static void test_integrators_agree(void **state)
{
    (void)state;
    static const char *const integrators[] = {
        "rk4",      "explicit_euler", "symplectic_euler",  "verlet", "velocity_verlet",
        "midpoint", "implicit_euler", "implicit_midpoint", "bdf2",   "xpbd"};
    for (size_t scene = 0; scene < 2; scene++) {
        double *first = NULL;
        for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++) {
            taut_solver *solver =
                solver_of("precision: double\nsimulation: {integrator: %s, dt: 1e-5, steps: 1}\n%s",
                          integrators[i], scenes[scene]);
            advance(solver, 200);
            double *positions = all_positions(solver), greatest = 0;
            if (first)
                for (uint64_t k = 0; k < 3 * taut_solver_node_count(solver); k++)
                    greatest = fmax(greatest, fabs(positions[k] - first[k]));
            if (!(greatest < 2e-5))
                fail_msg("%s, scene %zu: %g from rk4", integrators[i], scene, greatest);
            if (!first)
                first = positions;
            else
                free(positions);
            taut_solver_destroy(solver);
        }
        free(first);
    }
}

// The energy budget closes: the energy that is missing is that taken by damping.
static void test_damping_is_accounted_for(void **state)
{
    (void)state;
    static const taut_kernel kernels[] = {TAUT_KERNEL_AUTO, TAUT_KERNEL_REFERENCE};
    for (int k = 0; k < 2; k++) {
        struct solver_options options = {.config = {.threads = 2, .kernel = kernels[k]}};
        taut_solver *solver = solver_from(
            scene_of(
                "precision: double\nsimulation: {integrator: velocity_verlet, dt: 1e-5, steps: "
                "1}\n%s",
                scenes[0]),
            &options);
        uint64_t seed = 5;
        for (uint64_t node = 0; node < taut_solver_node_count(solver); node++)
            if (!topology_is_kinematic(solver_topology(solver), node))
                put_velocity(solver, node,
                             vec3_make(next_random(&seed), next_random(&seed), next_random(&seed)));
        const double before = energy_of(solver).total;
        advance(solver, 400);
        const double lost = before - energy_of(solver).total, work = work_of(solver).damping;
        assert_true(lost > 0.05 * before);
        assert_near(work / lost, 1, 5e-3);
        taut_solver_destroy(solver);
    }
}

// ---- Memory

enum { BEYOND = 4096, UNTOUCHED = 0x5a };

static void *guarded_allocate(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    unsigned char *block = memory_default_allocator.allocate(NULL, bytes + BEYOND, alignment);
    if (block)
        memset(block + bytes, UNTOUCHED, BEYOND);
    return block;
}

static void guarded_release(void *context, void *block, size_t bytes)
{
    size_t *touched = context;
    for (size_t i = 0; block && i < BEYOND; i++)
        *touched += ((unsigned char *)block)[bytes + i] != UNTOUCHED;
    memory_default_allocator.release(NULL, block, bytes + BEYOND);
}

// A sphere has half as many folds again as triangles, and no springs.
static void test_sums_over_folds_have_room(void **state)
{
    (void)state;
    size_t touched = 0;
    taut_allocator allocator = {guarded_allocate, guarded_release, &touched};
    struct solver_options options = {.config = {.threads = 1, .allocator = &allocator}};
    taut_solver *solver = solver_from(
        scene_of(HEADER("symplectic_euler", "1e-5") "bodies: [{name: b, type: sphere, radius: 1, "
                                                    "center: [0, 0, 0], subdivisions: 6, elastic: "
                                                    "{young: " NUM ", poisson: 0.3, density: " NUM
                                                    ", thickness: " NUM "}}]\n",
                 YOUNG, DENSITY, THICKNESS),
        &options);
    advance(solver, 1);
    assert_near(energy_of(solver).total, 0, 1);
    taut_solver_destroy(solver);
    assert_int_equal(touched, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_over_folds_have_room),
        cmocka_unit_test(test_masses_are_thirds_of_the_triangles),
        cmocka_unit_test(test_resultants_are_those_of_the_membrane),
        cmocka_unit_test(test_cylinders_have_the_energy_of_plates),
        cmocka_unit_test(test_built_shapes_are_at_rest),
        cmocka_unit_test(test_integrators_agree),
        cmocka_unit_test(test_damping_is_accounted_for),
        cmocka_unit_test(test_a_shell_expands_as_the_closed_form),
        cmocka_unit_test(test_hashes_depend_on_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
