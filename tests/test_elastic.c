// Materials in SI units: constants are the sums of those of the cells, counted here cell by cell;
// bodies under homogeneous strain have the stresses of an isotropic solid, for any number of cells;
// a clamped bar bends as far as the static solution of the same network; every kernel, the critical
// steps, the setters and a cut keep the weights.
#include "physics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/internals.h"
#include "topology/topology.h"

#define YOUNG   1.0e6
#define DENSITY 800.0
#define SPACING 0.1

#define BLOCK(nodes, more)                                                                         \
    "bodies: [{name: block, type: lattice, nodes: " nodes ", spacing: 0.1,\n"                      \
    "          elastic: {young: 1.0e6, density: 800}" more "}]\n"

// ---- Constants, cell by cell

// The number of cells that have both nodes.
static double cells_with(const uint64_t nodes[3], uint64_t a, uint64_t b)
{
    double cells = 0;
    for (uint64_t z = 0; z + 1 < nodes[2]; z++)
        for (uint64_t y = 0; y + 1 < nodes[1]; y++)
            for (uint64_t x = 0; x + 1 < nodes[0]; x++) {
                int found = 0;
                for (int corner = 0; corner < 8; corner++) {
                    const uint64_t i = x + (corner & 1), j = y + (corner >> 1 & 1),
                                   k = z + (corner >> 2 & 1);
                    const uint64_t node = (k * nodes[1] + j) * nodes[0] + i;
                    found += (node == a) + (node == b);
                }
                cells += found == 2;
            }
    return cells;
}

static void test_constants_are_those_of_the_cells(void **state)
{
    (void)state;
    static const uint64_t sizes[][3] = {{2, 2, 2}, {3, 4, 5}, {5, 2, 3}, {6, 6, 2}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const uint64_t *n = sizes[s];
        taut_solver *solver = solver_of(
            HEADER(
                "symplectic_euler",
                "1e-4") "bodies: [{name: block, type: lattice, nodes: [%d, %d, %d], spacing: " NUM
                        ",\n elastic: {young: " NUM ", density: " NUM "}, damping_ratio: 0.1}]\n",
            (int)n[0], (int)n[1], (int)n[2], SPACING, YOUNG, DENSITY);
        const struct topology *topology = solver_topology(solver);
        const double k = 0.4 * YOUNG * SPACING, mass = DENSITY * SPACING * SPACING * SPACING;
        const double c = 2 * 0.1 * sqrt(k * mass / 2);

        uint64_t springs = 0;
        for (uint64_t spring = 0; spring < topology->spring_count;) {
            const struct spring_run run = topology_run(topology, spring, topology->spring_count);
            for (uint64_t i = 0; i < run.count; i++) {
                const uint64_t ends[2] = {run.a + i, run.b + i};
                int steps = 0; // axes along which the ends differ
                steps += ends[0] % n[0] != ends[1] % n[0];
                steps += ends[0] / n[0] % n[1] != ends[1] / n[0] % n[1];
                steps += ends[0] / (n[0] * n[1]) != ends[1] / (n[0] * n[1]);
                const double weight = cells_with(n, ends[0], ends[1]) / (steps == 1 ? 4 : 2);
                const struct material *material = &topology->materials[run.material];
                assert_true(weight > 0);
                assert_near(material->stiffness, k * weight, 1e-12 * k);
                assert_near(material->damping, c * weight, 1e-12 * c);
            }
            springs += run.count;
            spring += run.count;
        }
        assert_int_equal(springs, taut_solver_spring_count(solver));

        double sum = 0;
        for (uint64_t node = 0; node < topology->node_count; node++) {
            double cells = 0;
            for (uint64_t corner = 0; corner < 8; corner++) {
                const uint64_t i = node % n[0] + (corner & 1),
                               j = node / n[0] % n[1] + (corner >> 1 & 1),
                               l = node / (n[0] * n[1]) + (corner >> 2 & 1);
                cells += i >= 1 && i < n[0] && j >= 1 && j < n[1] && l >= 1 && l < n[2];
            }
            assert_near(topology_mass(topology, node), mass * cells / 8, 1e-12 * mass);
            sum += topology_mass(topology, node);
        }
        const double cells = (double)((n[0] - 1) * (n[1] - 1) * (n[2] - 1));
        assert_near(sum, mass * cells, 1e-12 * mass * cells);
        assert_near(topology->bodies[0].mass, mass * cells, 1e-12 * mass * cells);
        assert_int_equal(topology->mass_count, 0); // they follow from the grid
        taut_solver_destroy(solver);
    }
}

// ---- Homogeneous strain

// Moves every node by a displacement that is linear in its position.
static void strain(taut_solver *solver, const double gradient[3][3])
{
    for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
        const vec3 p = position_of(solver, node);
        const double x[3] = {p.x, p.y, p.z};
        double moved[3];
        for (int i = 0; i < 3; i++) {
            moved[i] = x[i];
            for (int j = 0; j < 3; j++)
                moved[i] += gradient[i][j] * x[j];
        }
        put(solver, node, vec3_make(moved[0], moved[1], moved[2]));
    }
}

// The force that a strained block exerts on nodes: stress times the area of the cells' faces that
// the node shares, on each side of the block; none inside.
static void assert_stress(taut_solver *solver, const uint64_t n[3], const double stress[3][3],
                          double tolerance)
{
    double *forces = all_forces(solver);
    const double quarter = SPACING * SPACING / 4;
    for (uint64_t node = 0; node < n[0] * n[1] * n[2]; node++) {
        const uint64_t at[3] = {node % n[0], node / n[0] % n[1], node / (n[0] * n[1])};
        double cells[3], expected[3] = {0, 0, 0};
        for (int axis = 0; axis < 3; axis++)
            cells[axis] = at[axis] == 0 || at[axis] + 1 == n[axis] ? 1 : 2;
        for (int normal = 0; normal < 3; normal++) {
            const double sign = (at[normal] + 1 == n[normal]) - (double)(at[normal] == 0);
            const double area = quarter * cells[(normal + 1) % 3] * cells[(normal + 2) % 3];
            for (int axis = 0; axis < 3; axis++)
                expected[axis] -= sign * area * stress[axis][normal];
        }
        for (int axis = 0; axis < 3; axis++)
            assert_near(forces[3 * node + (uint64_t)axis], expected[axis], tolerance * quarter);
    }
    free(forces);
}

// Strains a block by `small` times a gradient, and asserts the stress of the isotropic solid.
static void assert_homogeneous(taut_solver *solver, const uint64_t n[3], const double unit[3][3],
                               double small, double lambda, double mu, double tolerance)
{
    double gradient[3][3], stress[3][3], trace = 0;
    for (int i = 0; i < 3; i++) {
        trace += small * unit[i][i];
        for (int j = 0; j < 3; j++)
            gradient[i][j] = small * unit[i][j];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            stress[i][j] = mu * (gradient[i][j] + gradient[j][i]) + (i == j ? lambda * trace : 0);
    strain(solver, gradient);
    assert_stress(solver, n, stress, tolerance);
}

static void test_homogeneous_strain_has_the_stress_of_the_solid(void **state)
{
    (void)state;
    static const uint64_t sizes[][3] = {{2, 2, 2}, {3, 3, 3}, {4, 3, 6}, {9, 2, 3}};
    const double lambda = 0.4 * YOUNG, mu = 0.4 * YOUNG; // Poisson's ratio 1/4
    static const double gradients[][3][3] = {
        {{1, 0, 0}, {0, -0.25, 0}, {0, 0, -0.25}}, // stretch without lateral stress
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},         // dilation
        {{0, 1, 0}, {0, 0, 0}, {0, 0, 0}},         // simple shear
        {{0.3, -0.2, 0.5}, {0.1, -0.7, 0.4}, {0.9, -0.3, 0.2}}};
    const double small = 1e-7;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t g = 0; g < sizeof gradients / sizeof gradients[0]; g++) {
            const uint64_t *n = sizes[s];
            taut_solver *solver =
                solver_of(HEADER("symplectic_euler", "1e-4") BLOCK("[%d, %d, %d]", ""), (int)n[0],
                          (int)n[1], (int)n[2]);
            assert_homogeneous(solver, n, gradients[g], small, lambda, mu, 2e-6 * small * YOUNG);
            taut_solver_destroy(solver);
        }
}

// Other ratios, by one volume per cell, of either sign of its constant.
static void test_poissons_ratios_have_the_stress_of_the_solid(void **state)
{
    (void)state;
    static const uint64_t sizes[][3] = {{2, 2, 2}, {4, 3, 6}, {9, 2, 3}};
    static const double ratios[] = {0, 0.1, 0.25, 0.3, 0.4, 0.45};
    static const double gradients[][3][3] = {
        {{1, 0, 0}, {0, 0, 0}, {0, 0, 0}}, {{0.3, -0.2, 0.5}, {0.1, -0.7, 0.4}, {0.9, -0.3, 0.2}}};
    const double small = 1e-7;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t r = 0; r < sizeof ratios / sizeof ratios[0]; r++)
            for (size_t g = 0; g < 2; g++) {
                const uint64_t *n = sizes[s];
                const double nu = ratios[r], mu = YOUNG / (2 * (1 + nu));
                const double lambda = 2 * mu * nu / (1 - 2 * nu);
                taut_solver *solver = solver_of(
                    HEADER("symplectic_euler",
                           "1e-5") "bodies: [{name: block, type: lattice, nodes: [%d, %d, %d],\n"
                                   "  spacing: 0.1, elastic: {young: " NUM ", density: 800,\n"
                                   "  poisson: " NUM "}}]\n",
                    (int)n[0], (int)n[1], (int)n[2], YOUNG, nu);
                assert_homogeneous(solver, n, gradients[g], small, lambda, mu,
                                   3e-6 * small * (YOUNG + lambda));
                taut_solver_destroy(solver);
            }
}

// ---- A clamped bar under its own weight

// The mean displacement of the free end, mm. `cells` of thickness; E = 1e8 Pa, 0.8 x 0.08 x 0.08 m.
static double tip_of_bar(int cells)
{
    taut_solver *solver =
        solver_of("precision: double\n"
                  "simulation: {integrator: implicit_euler, dt: 100, steps: 6, implicit: "
                  "{tolerance: 1e-10}}\n"
                  "environment: {gravity: [0, -9.81, 0]}\n"
                  "bodies: [{name: bar, type: lattice, nodes: [%d, %d, %d], spacing: " NUM ",\n"
                  "          elastic: {young: 1.0e8, density: 1000}, pins: [left]}]\n",
                  10 * cells + 1, cells + 1, cells + 1, 0.08 / cells);
    advance(solver, 8);
    const uint64_t across = (uint64_t)cells + 1, row = 10 * (uint64_t)cells + 1;
    const uint64_t rows = across * across;
    double sum = 0;
    for (uint64_t r = 0; r < rows; r++)
        sum += position_of(solver, row * r + row - 1).y - position_of(solver, row * r).y;
    taut_solver_destroy(solver);
    return -1000 * sum / (double)rows;
}

// The expected values are static solutions of the linear network by a sparse Cholesky factorisation
// (scipy), whose limit of fine cells is 9.450 mm; Timoshenko's beam has 9.5102 mm. The bar turns by
// a hundredth, which changes them by some 1e-4.
static void test_a_clamped_bar_bends_as_the_network_does(void **state)
{
    (void)state;
    assert_near(tip_of_bar(4), 8.8891, 0.002);
    if (!quick())
        assert_near(tip_of_bar(8), 9.298, 0.002);
}

// ---- Kernels, setters, cuts

static const char *const wavy = "simulation: {dt: 0.0002, steps: 40}\n"
                                "environment: {gravity: [3, -9, 1]}\n" BLOCK(
                                    "[9, 7, 6]", ", damping_ratio: 0.05, pins: [left]");

static taut_solver *wavy_with(taut_kernel kernel, const char *precision)
{
    struct solver_options options = {.config = {.threads = 2, .kernel = kernel}};
    return solver_from(scene_of("precision: %s\n%s", precision, wavy), &options);
}

static void test_every_kernel_agrees_with_the_reference(void **state)
{
    (void)state;
    static const taut_kernel kernels[] = {TAUT_KERNEL_AUTO, TAUT_KERNEL_GRID, TAUT_KERNEL_PACKED,
                                          TAUT_KERNEL_COLOURED};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        taut_solver *reference = solver_from(
            scene_of("precision: double\n%s", wavy),
            &(struct solver_options){.config = {.threads = 1, .kernel = TAUT_KERNEL_REFERENCE}});
        taut_solver *solver = wavy_with(kernels[i], "double");
        advance(reference, 40);
        advance(solver, 40);
        for (uint64_t node = 0; node < taut_solver_node_count(solver); node++)
            assert_vector_near(position_of(solver, node), position_of(reference, node), 1e-12);
        assert_near(energy_of(solver).total, energy_of(reference).total,
                    1e-12 * fabs(energy_of(reference).kinetic));
        taut_solver_destroy(reference);
        taut_solver_destroy(solver);
    }
}

static taut_solver *block_of(const uint64_t n[3], const char *integrator, const char *more,
                             taut_kernel kernel)
{
    struct solver_options options = {.config = {.threads = 2, .kernel = kernel}};
    return solver_from(
        scene_of("precision: double\nsimulation: {integrator: %s, dt: 1e-5, steps: 1}\n"
                 "bodies: [{name: block, type: lattice, nodes: [%d, %d, %d], spacing: 0.1,\n"
                 "          elastic: {young: 1.0e6, density: 800}%s}]\n",
                 integrator, (int)n[0], (int)n[1], (int)n[2], more),
        &options);
}

// A block in motion: every node is displaced and has a velocity of its own.
static taut_solver *shaken(const uint64_t n[3], const char *integrator, const char *more,
                           taut_kernel kernel)
{
    taut_solver *solver = block_of(n, integrator, more, kernel);
    uint64_t seed = 7;
    for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
        const vec3 at = position_of(solver, node);
        double away[6];
        for (int i = 0; i < 6; i++)
            away[i] = next_random(&seed);
        put(solver, node, vec3_add(at, vec3_make(0.01 * away[0], 0.01 * away[1], 0.01 * away[2])));
        put_velocity(solver, node, vec3_make(away[3], away[4], away[5]));
    }
    return solver;
}

// Forces, energies and the power of the damping, for blocks of one tile, of tiles along y and z, of
// chunks of a few rows each, and of the fewest cells; every damping law.
static void test_grids_agree_with_the_reference(void **state)
{
    (void)state;
    static const uint64_t sizes[][3] = {{9, 7, 6},   {4, 2, 2},    {33, 3, 2},
                                        {6, 200, 8}, {200, 12, 4}, {8, 40, 44}};
    static const char *const damped[] = {"", ", damping_ratio: 0.1",
                                         ", damping_ratio: 0.1, damping_law: full"};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t law = 0; law < 3; law++) {
            taut_solver *both[2];
            for (int i = 0; i < 2; i++)
                both[i] = shaken(sizes[s], "symplectic_euler", damped[law],
                                 i == 0 ? TAUT_KERNEL_REFERENCE : TAUT_KERNEL_GRID);
            assert_grid_agrees(both[0], both[1], law > 0);
            taut_solver_destroy(both[0]);
            taut_solver_destroy(both[1]);
        }
}

static void test_critical_steps_of_grids_are_those_of_packed_springs(void **state)
{
    (void)state;
    static const char *const integrators[] = {"explicit_euler", "symplectic_euler",
                                              "velocity_verlet", "midpoint", "rk4"};
    static const uint64_t size[3] = {9, 7, 6};
    for (size_t i = 0; i < sizeof integrators / sizeof integrators[0]; i++) {
        taut_critical_step steps[2];
        for (int grid = 0; grid < 2; grid++) {
            taut_error error = {0};
            taut_solver *solver = block_of(size, integrators[i], ", damping_ratio: 0.1",
                                           grid ? TAUT_KERNEL_GRID : TAUT_KERNEL_PACKED);
            assert_int_equal(taut_solver_critical_step(solver, 1, &steps[grid], &error), TAUT_OK);
            taut_solver_destroy(solver);
        }
        const double most = 1 + 1e-9;
        assert_true(steps[1].bound > 0 && steps[1].bound <= most * steps[1].computed);
        assert_true(steps[1].dt_bound > 0 && steps[1].dt_bound <= most * steps[1].dt_computed);
        assert_near(steps[1].bound, steps[0].bound, 0.1 * steps[0].bound); // not that of corners
        assert_near(steps[1].computed, steps[0].computed, 1e-6 * steps[0].computed);
        assert_near(steps[1].dt_computed, steps[0].dt_computed, 1e-6 * steps[0].dt_computed);
    }
}

// In xpbd the order of the springs is that of the kernel, and matters less the smaller the step.
static void test_xpbd_computes_weighted_grids(void **state)
{
    (void)state;
    static const uint64_t size[3] = {9, 7, 6};
    static const char *const damped[] = {"", ", damping_ratio: 0.1, damping_law: full"};
    for (size_t law = 0; law < 2; law++) {
        taut_solver *reference =
            shaken(size, "symplectic_euler", damped[law], TAUT_KERNEL_REFERENCE);
        taut_solver *start = shaken(size, "symplectic_euler", damped[law], TAUT_KERNEL_REFERENCE);
        taut_solver *grid = shaken(size, "xpbd", damped[law], TAUT_KERNEL_GRID);
        assert_string_equal(solver_body_kernel(grid, 0), "grid");
        advance(reference, 300);
        advance(grid, 300);
        assert_moves_alike(reference, start, grid, 0.005);
        taut_solver_destroy(reference);
        taut_solver_destroy(start);
        taut_solver_destroy(grid);
    }
}

// Another material also sets the constants on the boundary; single constants cannot be set.
static void test_setters_keep_the_weights(void **state)
{
    (void)state;
    taut_error error = {0};
    taut_solver *changed = wavy_with(TAUT_KERNEL_AUTO, "double");
    taut_solver *created = solver_from(
        scene_of("precision: double\nsimulation: {dt: 0.0002, steps: 40}\n"
                 "environment: {gravity: [3, -9, 1]}\n"
                 "bodies: [{name: block, type: lattice, nodes: [9, 7, 6], spacing: 0.1,\n"
                 "          elastic: {young: 0.5e6, density: 800}, damping: 3, pins: [left]}]\n"),
        NULL);
    assert_int_equal(taut_solver_material_count(changed, 0), 6);
    for (size_t kind = 0; kind < 2; kind++) {
        assert_int_equal(taut_solver_find_material(changed, 0, kind == 0 ? "k1" : "k2"), kind);
        assert_int_equal(taut_solver_set_stiffness(changed, 0, kind, 1, &error),
                         TAUT_ERROR_UNSUPPORTED);
        assert_int_equal(taut_solver_set_damping(changed, 0, kind, 3, &error),
                         TAUT_ERROR_UNSUPPORTED);
    }
    const taut_elastic elastic = {.young = 0.5e6, .poisson = 0.25, .damping = {.constant = 3}};
    assert_int_equal(taut_solver_set_elastic(changed, 0, &elastic, &error), TAUT_OK);
    advance(changed, 40);
    advance(created, 40);
    assert_true(taut_solver_hash(changed) == taut_solver_hash(created));

    // The masses on the boundary are fractions, and one mass for all would lose them.
    assert_int_equal(taut_solver_set_node_mass(changed, 0, 1, &error), TAUT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "elastic"));
    assert_int_equal(taut_solver_set_stiffness(changed, 0, 6, 1, &error), TAUT_ERROR_ARGUMENT);
    taut_solver_destroy(changed);
    taut_solver_destroy(created);
}

static void test_scaled_rest_lengths_reach_the_boundary(void **state)
{
    (void)state;
    static const taut_kernel kernels[] = {TAUT_KERNEL_REFERENCE, TAUT_KERNEL_AUTO};
    for (size_t i = 0; i < 2; i++) {
        taut_error error = {0};
        struct solver_options options = {.config = {.threads = 1, .kernel = kernels[i]}};
        taut_solver *solver = solver_from(
            scene_of(HEADER("symplectic_euler", "1e-4") BLOCK("[5, 4, 3]", "")), &options);
        for (size_t kind = 0; kind < 2; kind++)
            assert_int_equal(taut_solver_scale_rest_lengths(solver, 0, kind, 1.01, &error),
                             TAUT_OK);
        static const double larger[3][3] = {{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}};
        strain(solver, larger); // the springs have their rest lengths again
        double *forces = all_forces(solver);
        for (uint64_t f = 0; f < 3 * taut_solver_node_count(solver); f++)
            assert_near(forces[f], 0, 1e-9);
        free(forces);
        taut_solver_destroy(solver);
    }
}

static void test_a_cut_keeps_the_weights(void **state)
{
    (void)state;
    taut_error error = {0};
    taut_solver *whole =
        solver_from(scene_of(HEADER("symplectic_euler", "1e-4") BLOCK("[5, 4, 3]", "")), NULL);
    const uint64_t count = taut_solver_spring_count(whole);
    struct solver_cuts cuts = {.spring_count = count, .face_count = taut_solver_face_count(whole)};
    cuts.springs = calloc((size_t)count, 1);
    cuts.faces = calloc((size_t)cuts.face_count + 1, 1);
    assert_non_null(cuts.springs);
    assert_non_null(cuts.faces);
    cuts.springs[0] = 1;

    taut_scene *scene = scene_of(HEADER("symplectic_euler", "1e-4") BLOCK("[5, 4, 3]", ""));
    taut_solver *cut = NULL;
    struct solver_options one = {.config = {.threads = 1}};
    assert_int_equal(solver_create_cut(scene, &one, &cuts, &cut, &error), TAUT_OK);
    taut_scene_destroy(scene);
    static const double sheared[3][3] = {{0.01, 0.02, 0}, {0.03, -0.02, 0.01}, {0, 0.02, 0.03}};
    strain(whole, sheared);
    strain(cut, sheared);
    assert_only_ends_differ(whole, cut, 1);
    free(cuts.springs);
    free(cuts.faces);
    taut_solver_destroy(cut);
    taut_solver_destroy(whole);
}

static uint64_t hash_of_wavy(const void *context, const struct solver_options *options)
{
    taut_solver *solver =
        solver_from(scene_of("precision: %s\n%s", (const char *)context, wavy), options);
    advance(solver, 40);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_bits_do_not_depend_on_the_machine(void **state)
{
    (void)state;
    assert_same_hashes(hash_of_wavy, "single");
    assert_same_hashes(hash_of_wavy, "double");
    assert_same_hashes(hash_of_wavy, "mixed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_those_of_the_cells),
        cmocka_unit_test(test_homogeneous_strain_has_the_stress_of_the_solid),
        cmocka_unit_test(test_poissons_ratios_have_the_stress_of_the_solid),
        cmocka_unit_test(test_a_clamped_bar_bends_as_the_network_does),
        cmocka_unit_test(test_every_kernel_agrees_with_the_reference),
        cmocka_unit_test(test_grids_agree_with_the_reference),
        cmocka_unit_test(test_critical_steps_of_grids_are_those_of_packed_springs),
        cmocka_unit_test(test_xpbd_computes_weighted_grids),
        cmocka_unit_test(test_setters_keep_the_weights),
        cmocka_unit_test(test_scaled_rest_lengths_reach_the_boundary),
        cmocka_unit_test(test_a_cut_keeps_the_weights),
        cmocka_unit_test(test_bits_do_not_depend_on_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
