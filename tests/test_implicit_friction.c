// Coulomb friction of colliders with implicit integrators and xpbd: nodes on slopes, that slide to
// rest, that a sphere carries, compared with closed forms; steps far longer than contacts vibrate;
// the same bits for all threads, instruction sets, and after a restart. test_friction.c and
// test_surface_friction.c have the explicit integrators.
#include "slope_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const integrators[] = {"implicit_euler", "implicit_midpoint", "bdf2", "xpbd"};
enum {
    EULER = 0,
    MIDPOINT = 1,
    BDF2 = 2,
    INTEGRATORS = sizeof integrators / sizeof integrators[0]
};

// Steps of 0.1 to 100 times those in which the contact vibrates.
static void test_slides_down(void **state)
{
    (void)state;
    const struct {
        double tangent, coefficient;
    } cases[] = {{0.5, 0.49}, {0.5, 0}, {0.1, 0.05}, {1, 0.9}, {3, 1.5}};
    for (size_t i = 0; i < INTEGRATORS; i++)
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
            for (int digits = -4; digits <= -1; digits++) {
                const double dt = pow(10, digits);
                char coefficient[20];
                snprintf(coefficient, sizeof coefficient, "%g", cases[c].coefficient);
                const double tangent = cases[c].tangent;
                const double across = 1 / sqrt(1 + tangent * tangent);
                const double expected = GRAVITY * across * (tangent - cases[c].coefficient);
                const double measured = measured_acceleration(
                    (struct slope){integrators[i], coefficient, NULL, dt, tangent, 0}, 2);
                // bdf2 starts with a step of another method, of which a vibration is left.
                assert_near(measured, expected, (i == BDF2 ? 2e-4 : 1e-6) * expected);
            }
}

static void test_holds_for_a_minute(void **state)
{
    (void)state;
    for (size_t i = 0; i < INTEGRATORS; i++)
        for (int digits = -3; digits <= -1; digits++) {
            const double dt = pow(10, digits);
            // The midpoint method does not damp motion that is much faster than its steps.
            if (i == MIDPOINT && dt > 2e-3)
                continue;
            taut_solver *solver =
                slope_solver((struct slope){integrators[i], "0.51", NULL, dt, 0.5, 0});
            advance(solver, (uint64_t)(1 / dt)); // the contact is stretched, and at rest
            const vec3 start = position_of(solver, 0);
            advance(solver, (uint64_t)(60 / dt));
            assert_near(distance_between(position_of(solver, 0), start), 0, 1e-9);
            assert_near(vec3_length(start), 0, 1e-4);
            taut_solver_destroy(solver);
        }
}

// Methods of order 1 are off by half a step at the speed of the start.
static void test_slides_to_rest(void **state)
{
    (void)state;
    const double mu = 0.3, distance = 1 / (2 * mu * GRAVITY), time = 1 / (mu * GRAVITY);
    const double spring = 2 * mu * MASS * GRAVITY / STIFFNESS;
    for (size_t i = 0; i < INTEGRATORS; i++)
        for (int digits = -4; digits <= -2; digits++) {
            const double dt = pow(10, digits);
            const bool second = i == MIDPOINT || i == BDF2;
            taut_solver *solver =
                slope_solver((struct slope){integrators[i], "0.3", NULL, dt, 0, 1});
            while (velocity_of(solver, 0).x > 0)
                advance(solver, 1);
            assert_near(taut_solver_time(solver), time, dt);
            advance(solver, (uint64_t)round(0.5 / dt));
            const vec3 end = position_of(solver, 0);
            assert_near(end.x, distance, spring + (second ? 0.05 * dt : 0.51 * dt));
            advance(solver, (uint64_t)round(1 / dt));
            if (i != MIDPOINT || dt < 2e-3)
                assert_near(distance_between(position_of(solver, 0), end), 0, 1e-9);
            // Energy that is not heat is a vibration, or taken by the method.
            assert_near(work_of(solver).friction, MASS / 2, 0.03 * MASS / 2);
            taut_solver_destroy(solver);
        }
}

// A slope of 0.5 is held by a static coefficient of 0.6. A slope of 0.7 for a short time makes the
// node slide, and then it slides with 0.3.
static void test_static_and_kinetic(void **state)
{
    (void)state;
    const double dt = 1e-3;
    for (size_t i = 0; i < INTEGRATORS; i++) {
        taut_error error = {0};
        taut_solver *solver = slope_solver(
            (struct slope){integrators[i], "{static: 0.6, kinetic: 0.3}", NULL, dt, 0, 0});
        for (int part = 0; part <= 100; part++) {
            const double gravity[3] = {0.5 * GRAVITY * part / 100, -GRAVITY, 0};
            assert_int_equal(taut_solver_set_gravity(solver, gravity, &error), TAUT_OK);
            advance(solver, 5);
        }
        advance(solver, 500);
        const vec3 rest = position_of(solver, 0);
        assert_near(rest.x, 0.5 * MASS * GRAVITY / STIFFNESS, 1e-8);
        advance(solver, 500);
        assert_near(distance_between(position_of(solver, 0), rest), 0, 1e-9);
        const double steep[3] = {0.7 * GRAVITY, -GRAVITY, 0},
                     back[3] = {0.5 * GRAVITY, -GRAVITY, 0};
        assert_int_equal(taut_solver_set_gravity(solver, steep, &error), TAUT_OK);
        advance(solver, 20);
        assert_int_equal(taut_solver_set_gravity(solver, back, &error), TAUT_OK);
        double x[3];
        for (int part = 0; part < 3; part++) {
            advance(solver, 200);
            x[part] = position_of(solver, 0).x;
        }
        assert_near((x[2] - 2 * x[1] + x[0]) / 0.04, GRAVITY * (0.5 - 0.3), 1e-3);
        taut_solver_destroy(solver);
    }
}

static void test_single_and_mixed(void **state)
{
    (void)state;
    const char *const precisions[] = {"single", "mixed"};
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < INTEGRATORS; i++) {
            if (p == 0 && i == BDF2)
                continue; // whose velocities follow from rounded positions
            const struct slope slope = {integrators[i], "0.49", precisions[p], 1e-3, 0.5, 0};
            assert_near(measured_acceleration(slope, 2), 0.0877433,
                        (p == 0 ? 0.02 : 1e-3) * 0.0877433);
        }
}

// A node that meets a surface in one step has the friction of the whole impulse, whatever part of
// it the contact returns.
static void test_friction_of_an_impact(void **state)
{
    (void)state;
    const double dt = 0.01, mu = 0.2;
    for (size_t i = 0; i < INTEGRATORS; i++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
                      "environment: {gravity: [0, 0, 0]}\n"
                      "bodies: [{name: b, type: network, nodes: [[0, 0.005, 0]], node_mass: 0.01,\n"
                      "          springs: [], velocities: [[2, -1, 0]]}]\n"
                      "colliders: [{type: plane, stiffness: 1e6,\n"
                      "             friction_coefficient: " NUM "}]\n",
                      integrators[i], dt, mu);
        advance(solver, 40);
        const vec3 after = velocity_of(solver, 0);
        assert_near(2 - after.x, mu * (1 + after.y), 1e-3 * mu);
        taut_solver_destroy(solver);
    }
}

// The top of a sphere that starts to move carries a node that lies on it, until its acceleration
// would need more than mu g.
static void test_a_sphere_carries(void **state)
{
    (void)state;
    for (size_t i = 0; i < INTEGRATORS; i++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
            "environment: {gravity: [0, -9.81, 0]}\n"
            "bodies: [{name: b, type: network, nodes: [[0, -0.00000981, 0]], node_mass: 0.01,\n"
            "          springs: []}]\n"
            "colliders: [{type: sphere, center: [0, -1, 0], radius: 1, velocity: [0.02, 0, 0],\n"
            "             stiffness: 10000, absorption: 10, friction_coefficient: 0.5}]\n",
            integrators[i]);
        const double start = energy_of(solver).total;
        advance(solver, 100);
        const struct work_done work = work_of(solver);
        assert_near(position_of(solver, 0).x, 0.002, 1e-4);
        assert_near(velocity_of(solver, 0).x, 0.02, 1e-3);
        assert_true(work.drives > 1e-6);
        assert_near(energy_of(solver).total - start - work.drives + work.friction, 0,
                    0.25 * work.drives);
        taut_solver_destroy(solver);
    }
}

// A node in the corner of a floor and a wall is held by both.
static void test_walls_of_a_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < INTEGRATORS; i++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
                      "environment: {gravity: [5, -8, 1]}\n"
                      "bodies: [{name: b, type: network, node_mass: 0.01,\n"
                      "  nodes: [[0.999995, 0.000008, 0.5], [0.5, 0, 0.5]], springs: []}]\n"
                      "colliders: [{type: room, min: [0, 0, 0], max: [1, 1, 1],\n"
                      "  stiffness: 10000, absorption: 10, friction_coefficient: 0.2}]\n",
                      integrators[i]);
        advance(solver, 2000);
        const vec3 held = position_of(solver, 0), slid = position_of(solver, 1);
        // In the corner 0.2 (8 + 5) N/kg hold 1 N/kg. The other node reaches the wall.
        assert_near(held.z, 0.5, 1e-3);
        assert_true(slid.x > 0.9);
        advance(solver, 2000);
        assert_near(distance_between(position_of(solver, 0), held), 0, 1e-9);
        taut_solver_destroy(solver);
    }
}

// ---- A cloth that falls askew on a slope and a sphere

#define CLOTH                                                                                      \
    "environment: {gravity: [1, -9.81, 0.3]}\n"                                                    \
    "bodies: [{name: b, type: cloth, origin: [-0.5, 0.13, -0.5], u: [1, 0.1, 0], v: [0, 0, 1],\n"  \
    "  nodes: [%d, %d], mass: 0.5, velocity: [1, -0.5, 0],\n"                                      \
    "  springs: {structural: {stiffness: " NUM ", damping: 0.001}, shear: {stiffness: " NUM        \
    "}}}]\n"                                                                                       \
    "colliders:\n"                                                                                 \
    "  - {type: plane, stiffness: " NUM ", absorption: 0.1,\n"                                     \
    "     friction_coefficient: {static: 0.5, kinetic: 0.2}}\n"                                    \
    "  - {type: room, min: [-0.55, -0.3, -2], max: [0.6, 3, 2], stiffness: " NUM ",\n"             \
    "     friction_coefficient: 0.3}\n"                                                            \
    "  - {type: sphere, center: [0, -0.1, 0], radius: 0.2, velocity: [0, 0, %g],\n"                \
    "     stiffness: " NUM ", friction_coefficient: 0.7}\n"

struct cloth {
    const char *integrator, *precision, *newton;
    double stiffness, collider, sphere_speed, dt;
    int nodes[2];
};

static taut_scene *cloth_scene(struct cloth it)
{
    return scene_of("precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1%s}\n" CLOTH,
                    it.precision, it.integrator, it.dt, it.newton ? it.newton : "", it.nodes[0],
                    it.nodes[1], it.stiffness, it.stiffness / 2, it.collider, it.collider,
                    it.sphere_speed, it.collider);
}

// J, the greatest rise of the energy in a step.
static double greatest_rise(taut_solver *solver, int steps)
{
    double before = energy_of(solver).total, rise = -INFINITY;
    for (int step = 0; step < steps; step++) {
        advance(solver, 1);
        const double now = energy_of(solver).total;
        rise = fmax(rise, now - before);
        before = now;
    }
    return rise;
}

// A node and a lattice are thrown on a slope of 0.2, with contacts of h sqrt(k / m) = 1, 10 and
// 100. Where something falls into a stiff collider within a step, implicit_euler and bdf2 gain
// energy without friction already (docs/numerics.md): with it not more, and no heat without energy.
static void test_long_steps_gain_no_energy(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{name: b, type: network, nodes: [[0, 0.01, 0]], node_mass: 0.015625, springs: [],\n"
        "  velocities: [[3, -1, 1]]}",
        "{name: b, type: lattice, origin: [0, 0.01, 0], spacing: 0.1, nodes: [4, 4, 4],\n"
        "  mass: 1, velocity: [3, -1, 1], rotate: [10, 20, 30],\n"
        "  springs: {k1: {stiffness: 300, damping: 0.05}, k2: {stiffness: 300}}}"};
    const double dt = 0.005, mass = 1.0 / 64;
    for (size_t i = 0; i < INTEGRATORS; i++)
        for (int digits = 0; digits <= 2; digits++)
            for (int body = 0; body < 2; body++) {
                const double rate = pow(10, digits);
                double rises[2], heat = 0, lost = 0, energy = 0;
                if (body == 1 && rate > 1 && (i == EULER || i == BDF2))
                    continue;
                for (int rubs = 0; rubs < 2; rubs++) {
                    taut_solver *solver = solver_of(
                        "precision: double\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
                        "environment: {gravity: [2, -9.81, 0]}\nbodies: [%s]\n"
                        "colliders: [{type: plane, stiffness: " NUM ", %s}]\n",
                        integrators[i], dt, bodies[body], rate * rate * mass / (dt * dt),
                        rubs ? "friction_coefficient: 0.4" : "friction: 0");
                    const double start = energy_of(solver).total;
                    rises[rubs] = greatest_rise(solver, 400);
                    heat = work_of(solver).friction;
                    lost = start - energy_of(solver).total;
                    energy = start;
                    taut_solver_destroy(solver);
                }
                assert_true(rises[1] <= 1.2 * fmax(0, rises[0]) + 2e-3 * energy);
                assert_true(heat > 0.1 * lost && heat < 1.1 * lost);
            }
}

static uint64_t hash_of_cloth(const void *context, const struct solver_options *options)
{
    taut_solver *solver = solver_from(cloth_scene(*(const struct cloth *)context), options);
    advance(solver, 60);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double", "mixed"};
    for (size_t i = 0; i < INTEGRATORS; i++)
        for (int p = 0; p < 3; p++) {
            const struct cloth cloth = {integrators[i], precisions[p], NULL, 200, 100, 0.3,
                                        2e-3,           {40, 41}};
            assert_same_hashes(hash_of_cloth, &cloth);
        }
}

// Newton's method to the end, after distances of 0.1 m; what differs is what one system leaves.
static void test_newton(void **state)
{
    (void)state;
    for (size_t i = 0; i < INTEGRATORS - 1; i++) {
        struct cloth cloth = {integrators[i], "double", NULL, 50, 100, 0.3, 1e-3, {11, 12}};
        taut_solver *single = solver_from(cloth_scene(cloth), NULL);
        cloth.newton = ", implicit: {newton: 20}";
        taut_solver *many = solver_from(cloth_scene(cloth), NULL);
        advance(single, 300);
        advance(many, 300);
        for (uint64_t n = 0; n < 11 * 12; n++)
            assert_true(distance_between(position_of(single, n), position_of(many, n)) < 0.01);
        taut_solver_destroy(single);
        taut_solver_destroy(many);
    }
}

// A checkpoint in the middle of sticking and sliding continues to the bit.
static void test_restart(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double", "mixed"};
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < INTEGRATORS; i++) {
            taut_scene *scene = cloth_scene(
                (struct cloth){integrators[i], precisions[p], NULL, 200, 100, 0.3, 2e-3, {12, 13}});
            taut_solver *restored = NULL, *solver = NULL;
            taut_error error = {0};
            void *bytes = NULL;
            size_t count = 0;
            assert_int_equal(taut_solver_create(scene, NULL, &solver, &error), TAUT_OK);
            advance(solver, 103);
            assert_int_equal(taut_solver_save_memory(solver, &bytes, &count, &error), TAUT_OK);
            if (taut_solver_restore_memory(scene, bytes, count, NULL, &restored, &error) != TAUT_OK)
                fail_msg("%s", error.text);
            advance(solver, 97);
            advance(restored, 97);
            assert_true(taut_solver_hash(solver) == taut_solver_hash(restored));
            assert_same_bits(work_of(solver).friction, work_of(restored).friction);
            assert_true(work_of(solver).friction > 0);
            taut_bytes_release(bytes);
            taut_solver_destroy(restored);
            taut_solver_destroy(solver);
            taut_scene_destroy(scene);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slides_down),
        cmocka_unit_test(test_holds_for_a_minute),
        cmocka_unit_test(test_slides_to_rest),
        cmocka_unit_test(test_static_and_kinetic),
        cmocka_unit_test(test_single_and_mixed),
        cmocka_unit_test(test_friction_of_an_impact),
        cmocka_unit_test(test_a_sphere_carries),
        cmocka_unit_test(test_walls_of_a_room),
        cmocka_unit_test(test_long_steps_gain_no_energy),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_newton),
        cmocka_unit_test(test_restart),
    };
    return cmocka_run_group_tests_name("implicit friction", tests, NULL, NULL);
}
