// The tangent of the forces: compared with central differences of the forces, and the properties of
// a stiffness: symmetry, and no resistance to translations.
#include "tangent_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LATTICE(keys)                                                                              \
    "bodies: [{name: b, type: lattice, origin: [0,0,0], nodes: [3,3,3], spacing: 1, "              \
    "node_mass: 1,\n " keys                                                                        \
    "springs: {k1: {stiffness: 500}, k2: {stiffness: 400, damping: 3}, k3: {stiffness: 300,\n"     \
    "damping_law: full, damping: 2}}}]\n"
#define BALL(keys)                                                                                 \
    "bodies: [{name: b, type: sphere, center: [2,0,0], radius: 1, mass: 1, subdivisions: 1,\n"     \
    "springs: {edges: {stiffness: 20}}, pressure: {amount: 60, inflate: 1, " keys "}}]\n"
#define RING(keys)                                                                                 \
    "bodies: [{name: b, type: ring, center: [2,0,0], radius: 1, mass: 1, nodes: 12,\n"             \
    "springs: {edges: {stiffness: 20}}, pressure: {amount: 60, inflate: 1, " keys "}}]\n"
#define BLOCK(collider)                                                                            \
    "bodies: [{name: b, type: lattice, origin: [-0.5,-0.5,-0.5], node_mass: 1,\n"                  \
    "nodes: [3,3,3], spacing: 0.5, springs: {k1: {stiffness: 10}}}]\n"                             \
    "colliders: [" collider "]\n"
#define WIND(law, velocity)                                                                        \
    "environment: {wind: {velocity: " velocity ", law: " law "}}\n"                                \
    "bodies: [{name: b, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,1,0], nodes: [4,4],\n"     \
    "mass: 1, pins: [corners], springs: {structural: {stiffness: 10}}}]\n"

// Scenes with each kind of force; if `flat`, nothing leaves the plane.
static const struct subject {
    const char *name, *text;
    bool flat;
} subjects[] = {
    {"linear", LATTICE(""), false},
    {"tension only", LATTICE("law: tension_only,"), false},
    {"compression only", LATTICE("law: compression_only,"), false},
    {"no rest length, a pin",
     "bodies: [{name: b, type: network, nodes: [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], pins: [3],\n"
     "node_mass: [1,1,1,1], rest_length: 0, stiffness: 200, damping: 3, springs: [[0,1,{}],\n"
     "[1,2,{damping_law: full}],[2,3,{law: tension_only}],[3,0,{stiffness: 50,\n"
     "rest_length: 2}]]}]\n",
     false},
    {"yields",
     "bodies: [{name: b, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,1,0], nodes: [4,4],\n"
     "mass: 1, springs: {structural: {stiffness: 60, yield_at: 0.05}, shear: {stiffness: 30}}}]\n",
     false},
    {"drag",
     "environment: {air_drag: 0.7}\n"
     "bodies: [{name: b, type: quad, origin: [0,1,0], u: [1,0,0], v: [0,1,0], mass: 1,\n"
     "springs: {sides: {stiffness: 60, damping: 0.1}}}]\n",
     false},
    {"gas", BALL("gamma: 1"), false},
    {"adiabatic gas", BALL("gamma: 1.4, atmosphere: 25"), false},
    {"gas in a plane", RING("gamma: 1"), true},
    {"adiabatic gas in a plane", RING("gamma: 1.4, atmosphere: 25"), true},
    {"plane",
     BLOCK("{type: plane, point: [0,0.1,0], normal: [1,2,-1], stiffness: 700, friction: "
           "3, absorption: 5}"),
     false},
    {"sphere",
     BLOCK("{type: sphere, center: [0.1,0,0], radius: 0.6, stiffness: 700, friction: 3,\n"
           "absorption: 5}"),
     false},
    {"room",
     BLOCK("{type: room, min: [-0.3,-0.3,-0.3], max: [0.4,0.3,0.3], stiffness: 700,\n"
           "friction: 3, absorption: 5}"),
     false},
    {"wind on faces", WIND("face, coefficient: 3", "[0,0,0]"), false},
    {"quadratic wind", WIND("quadratic, density: 30, drag: 2", "[0,0,0]"), false},
    {"wind on edges",
     "environment: {wind: {velocity: [0,0,0], law: quadratic, density: 30, drag: 2}}\n" RING(
         "gamma: 1"),
     true},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static const struct product K = {false, 1, 0}, C = {false, 0, 1};

static taut_solver *subject_solver(const struct subject *subject,
                                   const struct solver_options *options)
{
    return solver_from(scene_of(HEADER("symplectic_euler", "0.001") "%s", subject->text), options);
}

static void displace(taut_solver *solver, const struct subject *subject, double most, double speed)
{
    uint64_t seed = 11;
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        double r[6];
        for (int k = 0; k < 6; k++)
            r[k] = k % 3 == 2 && subject->flat ? 0 : next_random(&seed);
        put(solver, i,
            vec3_add(position_of(solver, i), vec3_scale(most, vec3_make(r[0], r[1], r[2]))));
        put_velocity(solver, i, vec3_scale(speed, vec3_make(r[3], r[4], r[5])));
    }
}

// Changes x or v of all nodes by epsilon p, with p in internal order.
static void shift(taut_solver *solver, bool velocities, double epsilon, const double *p)
{
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        uint64_t inside = 3 * topology_internal_node(solver_topology(solver), i);
        vec3 by = vec3_scale(epsilon, vec3_make(p[inside], p[inside + 1], p[inside + 2]));
        if (velocities)
            put_velocity(solver, i, vec3_add(velocity_of(solver, i), by));
        else
            put(solver, i, vec3_add(position_of(solver, i), by));
    }
}

// -dF/dx p or -dF/dv p, by central differences.
static double *difference_of(taut_solver *solver, bool velocities, const double *p)
{
    const double epsilon = 1e-6;
    uint64_t count = taut_solver_node_count(solver);
    shift(solver, velocities, epsilon, p);
    double *ahead = all_forces(solver);
    shift(solver, velocities, -2 * epsilon, p);
    double *behind = all_forces(solver);
    shift(solver, velocities, epsilon, p);
    double *result = calloc((size_t)count * 3, sizeof *result);
    assert_non_null(result);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t inside = topology_internal_node(solver_topology(solver), i);
        if (!topology_is_kinematic(solver_topology(solver), inside))
            for (uint64_t axis = 0; axis < 3; axis++)
                result[3 * inside + axis] =
                    (behind[3 * i + axis] - ahead[3 * i + axis]) / (2 * epsilon);
    }
    free(ahead);
    free(behind);
    return result;
}

// Three directions for each; returns the greatest element.
static double assert_derivative(taut_solver *solver, const struct subject *subject, bool velocities)
{
    uint64_t count = 3 * taut_solver_node_count(solver);
    double greatest = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        double *p = random_vector(solver, subject->flat, seed);
        double *expected = difference_of(solver, velocities, p);
        double *got = product_of(solver, velocities ? C : K, p);
        assert_vectors_near(subject->name, got, expected, count, 1e-6);
        greatest = fmax(greatest, greatest_of(expected, count));
        free(p);
        free(expected);
        free(got);
    }
    return greatest;
}

static void test_stiffness_against_differences(void **state)
{
    (void)state;
    for (int i = 0; i < SUBJECTS; i++)
        for (int reference = 0; reference < 2; reference++) {
            struct solver_options options = {.config = {.threads = 2}};
            options.config.kernel = reference ? TAUT_KERNEL_REFERENCE : TAUT_KERNEL_AUTO;
            taut_solver *solver = subject_solver(&subjects[i], &options);
            displace(solver, &subjects[i], 0.1, 0);
            assert_true(assert_derivative(solver, &subjects[i], false) > 1);
            taut_solver_destroy(solver);
        }
}

static void test_damping_against_differences(void **state)
{
    (void)state;
    int damped = 0;
    for (int i = 0; i < SUBJECTS; i++)
        for (int reference = 0; reference < 2; reference++) {
            struct solver_options options = {.config = {.threads = 2}};
            options.config.kernel = reference ? TAUT_KERNEL_REFERENCE : TAUT_KERNEL_AUTO;
            taut_solver *solver = subject_solver(&subjects[i], &options);
            displace(solver, &subjects[i], 0.1, 0.5);
            damped += assert_derivative(solver, &subjects[i], true) > 0.1;
            taut_solver_destroy(solver);
        }
    assert_int_equal(damped, 2 * 11);
}

// The stiffness after springs have yielded and some are broken: compared with differences of forces
// in the same state.
static void test_broken_and_yielded_springs(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "bodies: [{name: b, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,1,0], nodes: [9,7],\n"
        "mass: 1, velocity: [6,0,0], pins: [left], springs: {structural: {stiffness: 60,\n"
        "break_at: 1.2}, shear: {stiffness: 30, yield_at: 0.01}}}]\n",
        "bodies: [{name: b, type: sphere, center: [0,0,0], radius: 1, subdivisions: 2, mass: 1,\n"
        "velocity: [0,0,9], pins: [0], springs: {edges: {stiffness: 60, break_at: 1.2},\n"
        "bend: {stiffness: 30, yield_at: 0.01}}}]\n"};
    for (int i = 0; i < 2; i++)
        for (int reference = 0; reference < 2; reference++) {
            struct solver_options options = {.config = {.threads = 1}};
            options.config.kernel = reference ? TAUT_KERNEL_REFERENCE : TAUT_KERNEL_AUTO;
            const struct subject subject = {"broken", texts[i], false};
            taut_solver *solver = subject_solver(&subject, &options);
            advance(solver, 400);
            assert_true(taut_solver_broken_count(solver) > 0);
            displace(solver, &subject, 0, 0);
            assert_derivative(solver, &subject, false);
            taut_solver_destroy(solver);
        }
}

static double dot(const double *a, const double *b, uint64_t count)
{
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

// Both variants, with K and C together: q . A p = p . A q; and p . A p >= 0 for the definite one.
static void test_symmetry_and_definiteness(void **state)
{
    (void)state;
    for (int i = 0; i < SUBJECTS; i++) {
        taut_solver *solver = subject_solver(&subjects[i], NULL);
        displace(solver, &subjects[i], 0.3, 0.5);
        uint64_t count = 3 * taut_solver_node_count(solver);
        for (int definite = 0; definite < 2; definite++) {
            struct product both = {definite != 0, 0.7, 1.3};
            double *p = random_vector(solver, subjects[i].flat, 5);
            double *q = random_vector(solver, subjects[i].flat, 6);
            double *ap = product_of(solver, both, p), *aq = product_of(solver, both, q);
            double size = greatest_of(ap, count) * (double)count;
            assert_near(dot(q, ap, count), dot(p, aq, count), 1e-13 * size);
            assert_true(!definite || dot(p, ap, count) >= 0);
            free(p);
            free(q);
            free(ap);
            free(aq);
        }
        taut_solver_destroy(solver);
    }
}

// The forces of springs and gas do not depend on position.
static void test_translations_are_free(void **state)
{
    (void)state;
    for (int i = 0; i < SUBJECTS; i++) {
        taut_solver *solver = subject_solver(&subjects[i], NULL);
        uint64_t count = 3 * taut_solver_node_count(solver);
        if (solver_topology(solver)->collider_count == 0 &&
            solver_topology(solver)->kinematic_count == 0) {
            displace(solver, &subjects[i], 0.1, 0.5);
            double *p = calloc((size_t)count, sizeof *p);
            assert_non_null(p);
            for (uint64_t k = 0; k < count; k++)
                p[k] = k % 3 == 0 ? 1 : k % 3 == 1 ? -2 : subjects[i].flat ? 0 : 0.5;
            double *out = product_of(solver, K, p);
            assert_true(greatest_of(out, count) < 1e-11);
            free(p);
            free(out);
        }
        taut_solver_destroy(solver);
    }
}

// A block equals products with vectors that have a single 1.
static void test_blocks_are_products(void **state)
{
    (void)state;
    static const int position[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int i = 0; i < SUBJECTS; i++) {
        taut_solver *solver = subject_solver(&subjects[i], NULL);
        displace(solver, &subjects[i], 0.2, 0.5);
        uint64_t count = 3 * taut_solver_node_count(solver);
        for (int definite = 0; definite < 2; definite++) {
            struct product both = {definite != 0, 0.7, 1.3};
            double *blocks = product_of(solver, both, NULL);
            double greatest = greatest_of(blocks, 2 * count);
            assert_true(greatest > 1);
            for (uint64_t k = 0; k < count; k++) {
                double *p = calloc((size_t)count, sizeof *p);
                assert_non_null(p);
                p[k] = 1;
                double *out = product_of(solver, both, p);
                for (uint64_t axis = 0; axis < 3; axis++)
                    assert_near(blocks[k / 3 * 6 + (uint64_t)position[k % 3][axis]],
                                out[k / 3 * 3 + axis], 1e-13 * greatest);
                free(p);
                free(out);
            }
            free(blocks);
        }
        taut_solver_destroy(solver);
    }
}

// Springs of zero length resist in all directions; nothing is divided by 0.
static void test_springs_of_no_length(void **state)
{
    (void)state;
    for (int definite = 0; definite < 2; definite++) {
        taut_solver *solver = solver_of(
            HEADER("symplectic_euler", "0.001") "bodies: [{name: b, type: network, node_mass: 1,\n"
                                                "nodes: [[1,0,0],[1,0,0]], springs: [[0,1,\n"
                                                "{stiffness: 8, damping: 2, rest_length: 1}]]}]\n");
        const double p[6] = {1, 2, 3, 0, 0, 0};
        double *out = product_of(solver, (struct product){definite != 0, 1, 5}, p);
        for (int k = 0; k < 3; k++) {
            assert_near(out[k], 8 * p[k], 1e-12);
            assert_near(out[3 + k], -8 * p[k], 1e-12);
        }
        free(out);
        taut_solver_destroy(solver);
    }
}

// The transverse stiffness of a compressed spring is 0 in the definite variant, and -k (L0 / L - 1)
// in the exact one.
static void test_what_definite_leaves_out(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler", "0.001") "bodies: [{name: b, type: network, node_mass: 1,\n"
                                     "nodes: [[0,0,0],[0.5,0,0]], springs: [[0,1,{stiffness: 8,\n"
                                     "rest_length: 1}]]}]\n");
    const double p[6] = {1, 1, 0, 0, 0, 0};
    double *exact = product_of(solver, (struct product){false, 1, 0}, p);
    double *definite = product_of(solver, (struct product){true, 1, 0}, p);
    assert_near(exact[0], 8, 1e-12);
    assert_near(exact[1], -8, 1e-12);
    assert_near(definite[0], 8, 1e-12);
    assert_near(definite[1], 0, 0);
    free(exact);
    free(definite);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stiffness_against_differences),
        cmocka_unit_test(test_damping_against_differences),
        cmocka_unit_test(test_broken_and_yielded_springs),
        cmocka_unit_test(test_symmetry_and_definiteness),
        cmocka_unit_test(test_translations_are_free),
        cmocka_unit_test(test_blocks_are_products),
        cmocka_unit_test(test_springs_of_no_length),
        cmocka_unit_test(test_what_definite_leaves_out),
    };
    return cmocka_run_group_tests_name("tangent", tests, NULL, NULL);
}
