// Wind of the three laws compared with their formulas, computed here face by face; and scenes
// without wind.
#include "physics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum law { NODE, FACE, QUADRATIC };
static const char *const law_keys[] = {"law: node, coefficient: 1.7", "law: face, coefficient: 1.7",
                                       "law: quadratic, density: 1.3, drag: 0.9"};

// A cloth with negligible springs, its left side pinned.
static taut_solver *cloth_of(const char *wind, double mass)
{
    return solver_of(
        HEADER(
            "symplectic_euler",
            "0.01") "environment: {wind: {velocity: [3,1,-2], %s}}\n"
                    "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0.8,0],\n"
                    "  nodes: [5,4], node_mass: " NUM ", pins: [left],\n"
                    "  springs: {structural: {stiffness: 0}}}]\n",
        wind, mass);
}

static void crumple(taut_solver *solver)
{
    uint64_t seed = 17;
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 by = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
        put(solver, i, vec3_add(position_of(solver, i), vec3_scale(0.1, by)));
        by = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
        if (!topology_is_kinematic(solver_topology(solver), i))
            put_velocity(solver, i, by);
    }
}

static vec3 normal_of(const taut_solver *solver, const uint32_t face[3], double *area)
{
    vec3 a = position_of(solver, face[0]), b = position_of(solver, face[1]),
         c = position_of(solver, face[2]);
    vec3 product = vec3_cross(vec3_subtract(b, a), vec3_subtract(c, a));
    *area = vec3_length(product) / 2;
    return vec3_scale(1 / vec3_length(product), product);
}

// Law node: c (r.n) n, where n is the unit mean of the unit normals of the node's faces.
static vec3 expected_by_node(const taut_solver *solver, uint64_t node, vec3 wind, bool relative)
{
    vec3 sum = {0, 0, 0};
    double area;
    for (uint64_t f = 0; f < solver_topology(solver)->face_count; f++)
        for (int corner = 0; corner < 3; corner++)
            if (topology_face(solver_topology(solver), f).nodes[corner] == node)
                sum = vec3_add(
                    sum, normal_of(solver, topology_face(solver_topology(solver), f).nodes, &area));
    vec3 n = vec3_scale(1 / vec3_length(sum), sum);
    vec3 r = relative ? vec3_subtract(wind, velocity_of(solver, node)) : wind;
    return vec3_scale(1.7 * vec3_dot(r, n), n);
}

// Law face: c A (r.n) n; quadratic: rho C_d A |r.n| (r.n) n / 2; a third to each corner, r relative
// to the mean velocity of the corners.
static vec3 expected_by_face(const taut_solver *solver, uint64_t node, vec3 wind, bool relative,
                             enum law law)
{
    vec3 force = {0, 0, 0};
    for (uint64_t f = 0; f < solver_topology(solver)->face_count; f++) {
        struct face of_cloth = topology_face(solver_topology(solver), f);
        const uint32_t *face = of_cloth.nodes;
        if (face[0] != node && face[1] != node && face[2] != node)
            continue;
        double area;
        vec3 n = normal_of(solver, face, &area), mean = {0, 0, 0};
        for (int corner = 0; corner < 3; corner++)
            mean = vec3_add(mean, vec3_scale(1.0 / 3, velocity_of(solver, face[corner])));
        double speed = vec3_dot(relative ? vec3_subtract(wind, mean) : wind, n);
        double pressure = law == FACE ? 1.7 * speed : 0.5 * 1.3 * 0.9 * fabs(speed) * speed;
        force = vec3_add(force, vec3_scale(area * pressure / 3, n));
    }
    return force;
}

static void assert_wind(taut_solver *solver, vec3 wind, bool relative, enum law law)
{
    double greatest = 0;
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 expected = {0, 0, 0}; // no wind on pinned nodes
        if (!topology_is_kinematic(solver_topology(solver), i))
            expected = law == NODE ? expected_by_node(solver, i, wind, relative)
                                   : expected_by_face(solver, i, wind, relative, law);
        assert_vector_near(force_on(solver, i), expected, 1e-12);
        greatest = fmax(greatest, vec3_length(expected));
    }
    assert_true(greatest > 0.01);
}

static void test_three_laws(void **state)
{
    (void)state;
    for (int law = NODE; law <= QUADRATIC; law++)
        for (int relative = 0; relative < 2; relative++) {
            char keys[120];
            snprintf(keys, sizeof keys, "%s, relative: %s", law_keys[law],
                     relative ? "true" : "false");
            taut_solver *solver = cloth_of(keys, 1);
            crumple(solver);
            assert_wind(solver, vec3_make(3, 1, -2), relative, (enum law)law);
            taut_solver_destroy(solver);
        }
}

// w = constant + amplitude sin(2 pi t / period + phase), summed over the gusts. Nodes are too heavy
// to move.
static void test_gusts(void **state)
{
    (void)state;
    for (int law = NODE; law <= QUADRATIC; law++) {
        char keys[300];
        snprintf(keys, sizeof keys,
                 "%s, gusts: [{amplitude: [2,0,1], period: 1.5, phase: 30},\n"
                 "   {amplitude: [0,4,0], period: 0.7}]",
                 law_keys[law]);
        taut_solver *solver = cloth_of(keys, 1e15);
        for (int check = 0; check < 5; check++) {
            double t = taut_solver_time(solver), first = sin(2 * PI * t / 1.5 + PI / 6);
            double second = sin(2 * PI * t / 0.7);
            vec3 wind = vec3_make(3 + 2 * first, 1 + 4 * second, -2 + first);
            assert_wind(solver, wind, true, (enum law)law);
            advance(solver, 13);
        }
        assert_near(taut_solver_time(solver), 0.65, 1e-12);
        taut_solver_destroy(solver);
    }
}

// In a plane an edge a -> b has the outward normal (dy, -dx) / l, and its length as area.
static void test_wind_on_a_ring(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler",
               "0.01") "environment: {wind: {velocity: [3,1,0], law: face, coefficient: 1.7}}\n"
                       "bodies: [{name: r, type: ring, center: [0,0,0], radius: 1, nodes: 7,\n"
                       "  node_mass: 1, springs: {edges: {stiffness: 0}}}]\n");
    for (uint64_t i = 0; i < 7; i++) {
        vec3 expected = {0, 0, 0};
        uint64_t ends[2][2] = {{(i + 6) % 7, i}, {i, (i + 1) % 7}};
        for (int e = 0; e < 2; e++) {
            vec3 d =
                vec3_subtract(position_of(solver, ends[e][1]), position_of(solver, ends[e][0]));
            double length = vec3_length(d);
            vec3 n = vec3_make(d.y / length, -d.x / length, 0);
            double pressure = 1.7 * length * vec3_dot(vec3_make(3, 1, 0), n) / 2;
            expected = vec3_add(expected, vec3_scale(pressure, n));
        }
        assert_vector_near(force_on(solver, i), expected, 1e-13);
    }
    taut_solver_destroy(solver);
}

// A plate that moves with a relative wind feels no force: exactly 0, in both precisions, for any
// digits of the wind.
static void test_plate_moving_with_the_wind(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double"};
    uint64_t seed = 29;
    for (int run = 0; run < 60; run++) {
        double x = 30 * next_random(&seed), y = 30 * next_random(&seed), z = next_random(&seed);
        taut_solver *solver = solver_of(
            "precision: %s\nsimulation: {dt: 0.01, steps: 1}\n"
            "environment: {wind: {velocity: [" NUM "," NUM "," NUM "], %s}}\n"
            "bodies: [{name: p, type: cloth, origin: [0,0,0], u: [1,0.3,0], v: [0,0.8,0.1],\n"
            "  nodes: [4,3], node_mass: 1, velocity: [" NUM "," NUM "," NUM "],\n"
            "  springs: {structural: {stiffness: 0}}}]\n",
            precisions[run % 2], x, y, z, law_keys[run % 3], x, y, z);
        double *forces = all_forces(solver);
        for (uint64_t i = 0; i < 3 * taut_solver_node_count(solver); i++)
            assert_true(forces[i] == 0);
        free(forces);
        taut_solver_destroy(solver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_laws),
        cmocka_unit_test(test_gusts),
        cmocka_unit_test(test_wind_on_a_ring),
        cmocka_unit_test(test_plate_moving_with_the_wind),
    };
    return cmocka_run_group_tests_name("wind", tests, NULL, NULL);
}
