// The bending of meshes that are curved as built: rings and spheres have the stiffnesses of the
// closed forms, at several resolutions; as built and turned they store nothing; orientation does
// not matter. tests/test_elements.c compares forces, energies, tangents and steps.
#include "tangent_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "solver/internals.h"
#include "topology/topology.h"

// ---- Meshes

enum shape { RING, RING_TURNED };

// A cylinder of radius 1 about z of `around` by `along` squares, with nodes row by row from z = 0;
// diagonals in one direction or the other. Every second triangle of RING_MIXED is turned round; the
// ring is cut open then, since closed edges would be made consistent by the reader.
static const char *ring_file(int around, int along, enum shape shape)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    const double side = 2 * sin(PI / around);
    for (int j = 0; j <= along; j++)
        for (int i = 0; i < around; i++)
            fprintf(out, "v %.17g %.17g %.17g\n", cos(2 * PI * i / around),
                    sin(2 * PI * i / around), j * side);
    for (int j = 0; j < along; j++)
        for (int i = 0; i < around; i++) {
            const int next = (i + 1) % around;
            const int a = j * around + i + 1, b = j * around + next + 1;
            const int c = a + around, d = b + around;
            if (shape == RING_TURNED)
                fprintf(out, "f %d %d %d\nf %d %d %d\n", a, b, c, b, d, c);
            else
                fprintf(out, "f %d %d %d\nf %d %d %d\n", a, b, d, a, d, c);
        }
    assert_int_equal(fclose(out), 0);
    char name[64];
    snprintf(name, sizeof name, "ring-%d-%d-%d.obj", around, along, (int)shape);
    const char *path = physics_file(name, text);
    free(text);
    return path;
}

#define MATERIAL(poisson, thickness)                                                               \
    "elastic: {young: 1e5, poisson: " poisson ", density: 1000, thickness: " thickness "}"

static taut_solver *ring_of(int around, int along, enum shape shape, const char *more)
{
    return solver_of(
        HEADER("symplectic_euler", "1e-6") "bodies: [{name: b, type: mesh, file: '%s', "
                                           "%s}]\n",
        ring_file(around, along, shape), more);
}

// The bending stiffness E t^3 / 12 (1 - nu^2).
static double bending_of(double poisson, double thickness)
{
    return 1e5 * thickness * thickness * thickness / (12 * (1 - poisson * poisson));
}

// ---- Linear problems

// Displacements u with K u = f for forces that add up to no force and no torque, by conjugate
// gradients; in internal order. The caller frees them.
static double *displaced_by(taut_solver *solver, const double *forces)
{
    static const struct product K = {false, 1, 0};
    const uint64_t count = 3 * taut_solver_node_count(solver);
    double *u = calloc(count, sizeof *u), *r = calloc(count, sizeof *r);
    double *p = calloc(count, sizeof *p);
    assert_true(u && r && p);
    double square = 0, goal = 0;
    for (uint64_t i = 0; i < count; i++) {
        p[i] = r[i] = forces[i];
        square += r[i] * r[i];
    }
    goal = 1e-18 * square;
    for (int step = 0; step < 20000 && square > goal; step++) {
        double *q = product_of(solver, K, p), curvature = 0, next = 0;
        for (uint64_t i = 0; i < count; i++)
            curvature += p[i] * q[i];
        assert_true(curvature > 0);
        for (uint64_t i = 0; i < count; i++) {
            u[i] += square / curvature * p[i];
            r[i] -= square / curvature * q[i];
            next += r[i] * r[i];
        }
        for (uint64_t i = 0; i < count; i++)
            p[i] = r[i] + next / square * p[i];
        square = next;
        free(q);
    }
    assert_true(square <= goal);
    free(r);
    free(p);
    return u;
}

// How much nearer two nodes come to each other by a unit force on each, which presses them together
// on every node of `rows` rows, `stride` apart.
static double pressed(taut_solver *solver, uint64_t first, uint64_t second, int rows,
                      uint64_t stride)
{
    const struct topology *topology = solver_topology(solver);
    double *forces = calloc(3 * taut_solver_node_count(solver), sizeof *forces), nearer = 0;
    assert_non_null(forces);
    vec3 across = vec3_subtract(position_of(solver, second), position_of(solver, first));
    across = vec3_scale(1 / vec3_length(across), across);
    // The rows at the ends have half the width.
    double weight_sum = 0;
    for (int side = 0; side < 2; side++)
        for (int row = 0; row < rows; row++) {
            const uint64_t node = (side ? second : first) + (uint64_t)row * stride;
            const double weight = rows > 1 && (row == 0 || row == rows - 1) ? 0.5 : 1;
            const double sign = side ? -weight : weight;
            double *at = forces + 3 * topology_internal_node(topology, node);
            at[0] = sign * across.x;
            at[1] = sign * across.y;
            at[2] = sign * across.z;
            weight_sum += weight / 2;
        }
    for (uint64_t i = 0; i < 3 * taut_solver_node_count(solver); i++)
        forces[i] /= weight_sum;
    double *u = displaced_by(solver, forces);
    for (uint64_t i = 0; i < 3 * taut_solver_node_count(solver); i++)
        nearer += u[i] * forces[i];
    free(u);
    free(forces);
    return nearer;
}

// ---- Rings

// Two opposite forces P on a ring bring them nearer by (pi/4 - 2/pi) P R^3 / (B w) for the width w,
// whatever Poisson's ratio, since its curvature along the axis stays 0.
static void test_pinched_rings_give_as_the_closed_form(void **state)
{
    (void)state;
    static const char *const materials[] = {MATERIAL("0", "0.02"), MATERIAL("0.4", "0.02")};
    static const double ratios[] = {0, 0.4};
    for (int m = 0; m < 2; m++)
        for (int shape = RING; shape <= RING_TURNED; shape++) {
            double errors[2];
            for (int fine = 0; fine < 2; fine++) {
                const int around = fine ? 48 : 24, along = 2;
                taut_solver *solver = ring_of(around, along, (enum shape)shape, materials[m]);
                const double found =
                    pressed(solver, 0, (uint64_t)around / 2, along + 1, (uint64_t)around);
                const double width = along * 2 * sin(PI / around);
                const double expected = (PI / 4 - 2 / PI) / (bending_of(ratios[m], 0.02) * width);
                errors[fine] = found / expected - 1;
                print_message("nu %g, %d around: %+.4f%%\n", ratios[m], around, 100 * errors[fine]);
                taut_solver_destroy(solver);
            }
            assert_near(errors[1], 0, 0.012);
            assert_true(fabs(errors[0] / errors[1]) > 3);
        }
}

// A ring whose edges keep their lengths while its folds turn by d cos(2 phi): N folds of N d^2 B w
// / 4 h together, with the length h of its edges.
static void test_bent_rings_have_the_energy_of_their_curvature(void **state)
{
    (void)state;
    enum { AROUND = 36, ALONG = 3 };
    const double side = 2 * sin(PI / AROUND), d = 0.01;
    for (int shape = RING; shape <= RING_TURNED; shape++) {
        taut_solver *solver = ring_of(AROUND, ALONG, (enum shape)shape, MATERIAL("0.3", "0.1"));
        assert_near(energy_of(solver).elastic, 0, 1e-13);
        double heading = 0;
        vec3 at = {0.3, -0.2, 0};
        for (int i = 0; i < AROUND; i++) {
            for (int j = 0; j <= ALONG; j++)
                put(solver, (uint64_t)j * AROUND + (uint64_t)i,
                    vec3_add(at, vec3_make(0, 0, j * side)));
            at = vec3_add(at, vec3_scale(side, vec3_make(cos(heading), sin(heading), 0)));
            heading += 2 * PI / AROUND + d * cos(4 * PI * (i + 1) / AROUND);
        }
        const double expected =
            AROUND * d * d / 4 * bending_of(0.3, 0.1) * ALONG; // width over side
        assert_near(energy_of(solver).elastic / expected, 1, 2e-4);
        taut_solver_destroy(solver);
    }
}

// The period of the slowest mode in the plane of a free ring: omega^2 = 36/5 B / (rho t R^4).
static void test_rings_ring_at_the_closed_form(void **state)
{
    (void)state;
    enum { ALONG = 1 };
    double errors[2];
    for (int fine = 0; fine < 2; fine++) {
        const int around = fine ? 48 : 24;
        const double t = 0.05, omega = sqrt(7.2 * bending_of(0.25, t) / (1000 * t)), dt = 1e-3;
        taut_solver *solver = solver_of(
            HEADER("symplectic_euler", "1e-3") "bodies: [{name: b, type: mesh, file: '%s', "
                                               "%s}]\n",
            ring_file(around, ALONG, RING), MATERIAL("0.25", "0.05"));
        for (int i = 0; i < around * (ALONG + 1); i++) {
            const double phi = 2 * PI * (i % around) / around, w = 0.01 * cos(2 * phi),
                         v = -0.005 * sin(2 * phi);
            put_velocity(solver, (uint64_t)i,
                         vec3_make(w * cos(phi) - v * sin(phi), w * sin(phi) + v * cos(phi), 0));
        }
        // Node 0 moves out and comes back after half a period.
        double last = 0, time = 0;
        for (int step = 1; time == 0 && step < 100000; step++) {
            advance(solver, 1);
            const double out = position_of(solver, 0).x - 1;
            if (out < 0)
                time = (step - out / (out - last)) * dt;
            last = out;
        }
        errors[fine] = PI / time / omega - 1;
        print_message("ring of %d: %+.4f%%\n", around, 100 * errors[fine]);
        taut_solver_destroy(solver);
    }
    assert_near(errors[1], 0, 0.01);
}

// ---- Spheres

// Two opposite forces on a sphere dent it by sqrt(3 (1 - nu^2)) P R / 4 E t^2 at each (E. Reissner,
// 1946). A force on one node dents a coarse mesh more, by an error of the first order.
static void test_dented_spheres_give_as_the_closed_form(void **state)
{
    (void)state;
    const double t = 0.05, expected = 2 * sqrt(3.0) / (4 * 1e5 * t * t);
    double last = 0.5;
    for (int subdivisions = 3; subdivisions <= (quick() ? 4 : 5); subdivisions++) {
        taut_solver *solver = solver_of(
            HEADER("symplectic_euler", "1e-6") "bodies: [{name: b, type: sphere, radius: 1, "
                                               "subdivisions: %d, " MATERIAL("0", "0.05") "}]\n",
            subdivisions);
        const uint64_t count = taut_solver_node_count(solver);
        const vec3 pole = position_of(solver, 0);
        uint64_t opposite = 0;
        for (uint64_t node = 0; node < count; node++)
            if (vec3_dot(position_of(solver, node), pole) < -1 + 1e-9)
                opposite = node;
        assert_true(opposite > 0);
        const double error = pressed(solver, 0, opposite, 1, 0) / expected - 1;
        print_message("sphere of %d subdivisions: %+.2f%%\n", subdivisions, 100 * error);
        assert_true(error > -0.02 && error < 0.6 * last);
        last = error;
        taut_solver_destroy(solver);
    }
    assert_near(last, 0, quick() ? 0.2 : 0.1);
}

// ---- Rest

static void test_built_shapes_are_at_rest(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "type: sphere, radius: 1, subdivisions: 2, rotate: [20, 30, 40], translate: [3, -1, 2]",
        "type: mesh, file: '" TAUT_TEST_SOURCE "/tests/data/meshes/l_prism.obj', rotate: [9, 5, 7]",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        taut_solver *solver =
            solver_of(HEADER("symplectic_euler", "1e-6") "bodies: [{name: b, %s, %s}]\n", bodies[i],
                      MATERIAL("0.4", "0.1"));
        double *forces = all_forces(solver);
        for (uint64_t n = 0; n < 3 * taut_solver_node_count(solver); n++)
            assert_near(forces[n], 0, 1e-9);
        free(forces);
        assert_near(energy_of(solver).elastic, 0, 1e-15);
        taut_solver_destroy(solver);
    }
}

// The corner of two squares that are built at a right angle resists opening with B (l theta)^2 / 4A
// for each of its two triangles.
static void test_folds_keep_their_angle(void **state)
{
    (void)state;
    static const char *const files[] = {
        "v 0 0 0\nv 0 1 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\n",
        "v 0 0 0\nv 0 1 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n", // with the opposite orientation
    };
    for (int file = 0; file < 2; file++)
        for (int side = -1; side <= 1; side++) {
            const double turn = 0.4 * side;
            char name[32];
            snprintf(name, sizeof name, "corner-%d.obj", file);
            taut_solver *solver =
                solver_of(HEADER("symplectic_euler",
                                 "1e-6") "bodies: [{name: b, type: mesh, file: '%s', %s}]\n",
                          physics_file(name, files[file]), MATERIAL("0.3", "0.1"));
            put(solver, 3, vec3_make(sin(turn), 0, cos(turn)));
            const double f = 2 * sin(turn / 2), area = 0.5;
            const double expected = 2 * bending_of(0.3, 0.1) * f * f / (8 * area);
            assert_near(energy_of(solver).elastic, expected, 1e-9 * expected + 1e-15);
            taut_solver_destroy(solver);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_shapes_are_at_rest),
        cmocka_unit_test(test_folds_keep_their_angle),
        cmocka_unit_test(test_bent_rings_have_the_energy_of_their_curvature),
        cmocka_unit_test(test_pinched_rings_give_as_the_closed_form),
        cmocka_unit_test(test_rings_ring_at_the_closed_form),
        cmocka_unit_test(test_dented_spheres_give_as_the_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
