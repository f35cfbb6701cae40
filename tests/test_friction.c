// Coulomb friction with memory on penalty colliders (contact/friction.c): bodies on slopes, that
// slide to rest, that a sphere carries and that walls of a room hold, compared with closed forms;
// the energy budget; the same bits for all threads, instruction sets, kernels, and after a restart.
#include "slope_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const integrators[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                          "velocity_verlet", "midpoint",         "rk4"};
// Explicit Euler is the first: only damping makes it stable, which cloths here do not have, and a
// contact that holds needs h < 2 0.1 / omega, 0.2 ms.
enum { EULER = 0, STABLE = 1, INTEGRATORS = sizeof integrators / sizeof integrators[0] };

static double step_for(size_t integrator, double dt)
{
    return integrator == EULER ? fmin(dt, 1e-4) : dt;
}

static void test_slides_down(void **state)
{
    (void)state;
    const struct {
        double tangent, coefficient;
    } cases[] = {{0.5, 0.49}, {0.5, 0}, {0.1, 0.05}, {1, 0.9}, {3, 1.5}};
    for (size_t i = 0; i < INTEGRATORS; i++)
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
            for (int halved = 0; halved < 3; halved++) {
                const double dt = ldexp(4e-4, -halved);
                char coefficient[20];
                snprintf(coefficient, sizeof coefficient, "%g", cases[c].coefficient);
                const double tangent = cases[c].tangent;
                const double across = 1 / sqrt(1 + tangent * tangent);
                const double expected = GRAVITY * across * (tangent - cases[c].coefficient);
                const double measured = measured_acceleration(
                    (struct slope){integrators[i], coefficient, NULL, dt, tangent, 0}, 1);
                assert_near(measured, expected, 1e-6 * expected);
            }
}

static void test_holds_for_a_minute(void **state)
{
    (void)state;
    for (size_t i = 0; i < INTEGRATORS; i++) {
        const double dt = step_for(i, 4e-4);
        taut_solver *solver =
            slope_solver((struct slope){integrators[i], "0.51", NULL, dt, 0.5, 0});
        advance(solver, (uint64_t)(1 / dt)); // the contact is stretched, and at rest
        const vec3 start = position_of(solver, 0);
        advance(solver, (uint64_t)(60 / dt));
        assert_near(distance_between(position_of(solver, 0), start), 0, 1e-9);
        assert_near(vec3_length(start), 0, 2e-4);
        taut_solver_destroy(solver);
    }
}

// From the built position on, the distance is longer than v^2 / 2 mu g by what loads the spring,
// and shorter by what unloads it: at most mu m g / k each.
static void test_slides_to_rest(void **state)
{
    (void)state;
    const double mu = 0.3, distance = 1 / (2 * mu * GRAVITY), time = 1 / (mu * GRAVITY);
    const double spring = 2 * mu * MASS * GRAVITY / STIFFNESS;
    for (size_t i = 0; i < INTEGRATORS; i++)
        for (int halved = i == EULER ? 1 : 0; halved < 4; halved++) {
            const double dt = ldexp(2e-4, -halved);
            taut_solver *solver =
                slope_solver((struct slope){integrators[i], "0.3", NULL, dt, 0, 1});
            while (velocity_of(solver, 0).x > 0)
                advance(solver, 1);
            assert_near(taut_solver_time(solver), time, spring + 20 * dt);
            advance(solver, (uint64_t)round(0.5 / dt));
            const vec3 end = position_of(solver, 0);
            assert_near(end.x, distance, spring + dt);
            advance(solver, (uint64_t)round(1 / dt));
            assert_near(distance_between(position_of(solver, 0), end), 0, 1e-12);
            taut_solver_destroy(solver);
        }
}

// Gravity turns slowly from the normal of a plane to a slope of 0.5, which a static coefficient of
// 0.6 holds. (At once it would not: an undamped spring is stretched to twice what its load needs.)
// A slope of 0.7 for a short time makes the node slide, and then it slides with 0.3.
static void test_static_and_kinetic(void **state)
{
    (void)state;
    const double dt = 1e-4;
    for (size_t i = 0; i < INTEGRATORS; i++) {
        taut_error error = {0};
        taut_solver *solver = slope_solver(
            (struct slope){integrators[i], "{static: 0.6, kinetic: 0.3}", NULL, dt, 0, 0});
        for (int part = 0; part <= 100; part++) {
            const double gravity[3] = {0.5 * GRAVITY * part / 100, -GRAVITY, 0};
            assert_int_equal(taut_solver_set_gravity(solver, gravity, &error), TAUT_OK);
            advance(solver, 50);
        }
        advance(solver, 5000);
        const vec3 rest = position_of(solver, 0);
        assert_near(rest.x, 0.5 * MASS * GRAVITY / STIFFNESS, 1e-9);
        advance(solver, 5000);
        assert_near(distance_between(position_of(solver, 0), rest), 0, 1e-10);
        const double steep[3] = {0.7 * GRAVITY, -GRAVITY, 0},
                     back[3] = {0.5 * GRAVITY, -GRAVITY, 0};
        assert_int_equal(taut_solver_set_gravity(solver, steep, &error), TAUT_OK);
        advance(solver, 100);
        assert_int_equal(taut_solver_set_gravity(solver, back, &error), TAUT_OK);
        double x[3];
        for (int part = 0; part < 3; part++) {
            advance(solver, 2000);
            x[part] = position_of(solver, 0).x;
        }
        assert_near((x[2] - 2 * x[1] + x[0]) / 0.04, GRAVITY * (0.5 - 0.3), 1e-4);
        taut_solver_destroy(solver);
    }
}

static void test_single_and_mixed(void **state)
{
    (void)state;
    const char *const precisions[] = {"single", "mixed"};
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < INTEGRATORS; i++) {
            if (p == 0 && strcmp(integrators[i], "verlet") == 0)
                continue; // loses such small increments
            const struct slope slope = {integrators[i],    "0.49", precisions[p],
                                        step_for(i, 4e-4), 0.5,    0};
            assert_near(measured_acceleration(slope, 2), 0.0877433, 1e-3 * 0.0877433);
        }
}

// mu N s of heat, and a budget that closes.
static void test_heat_of_sliding(void **state)
{
    (void)state;
    const double dt = 1e-4, across = 1 / sqrt(1.25);
    for (size_t i = 0; i < INTEGRATORS; i++) {
        taut_solver *solver = slope_solver((struct slope){integrators[i], "0.4", NULL, dt, 0.5, 0});
        const double start = energy_of(solver).total;
        advance(solver, 5000);
        const double first = work_of(solver).friction;
        const vec3 at = position_of(solver, 0);
        advance(solver, 5000);
        const double heat =
            0.4 * MASS * GRAVITY * across * distance_between(position_of(solver, 0), at);
        assert_near(work_of(solver).friction - first, heat, 2e-4 * heat);
        const double residual = energy_of(solver).total - start + work_of(solver).friction;
        assert_near(residual, 0, 1e-3 * heat);
        taut_solver_destroy(solver);
    }
}

// The top of a sphere that starts to move carries a node that lies on it, until its acceleration
// would need more than mu g. It moves by 2 mm here, over which the surface falls by 2 um.
static void test_a_sphere_carries(void **state)
{
    (void)state;
    for (size_t i = 0; i < INTEGRATORS; i++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: %s, dt: 0.0001, steps: 1}\n"
            "environment: {gravity: [0, -9.81, 0]}\n"
            "bodies: [{name: b, type: network, nodes: [[0, -0.00000981, 0]], node_mass: 0.01,\n"
            "          springs: []}]\n"
            "colliders: [{type: sphere, center: [0, -1, 0], radius: 1, velocity: [0.02, 0, 0],\n"
            "             stiffness: 10000, absorption: 10, friction_coefficient: 0.5}]\n",
            integrators[i]);
        const double start = energy_of(solver).total;
        advance(solver, 1000);
        const struct work_done work = work_of(solver);
        assert_near(position_of(solver, 0).x, 0.002, 1e-4);
        assert_near(velocity_of(solver, 0).x, 0.02, 1e-4);
        assert_true(work.drives > 1e-6);
        assert_near(energy_of(solver).total - start - work.drives + work.friction, 0,
                    (i == EULER ? 0.1 : 0.02) * work.drives);
        taut_solver_destroy(solver);
    }
}

// A node in the corner of a floor and a wall is held by both.
static void test_walls_of_a_room(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "velocity_verlet", "0.0001") "environment: {gravity: [5, -8, 1]}\n"
                                     "bodies: [{name: b, type: network, node_mass: 0.01,\n"
                                     "  nodes: [[0.999995, 0.000008, 0.5], [0.5, 0, 0.5]],\n"
                                     "  springs: []}]\n"
                                     "colliders: [{type: room, min: [0, 0, 0], max: [1, 1, 1],\n"
                                     "  stiffness: 10000, absorption: 10,\n"
                                     "  friction_coefficient: 0.2}]\n");
    advance(solver, 20000);
    const vec3 held = position_of(solver, 0), slid = position_of(solver, 1);
    // The node in the corner: 0.2 (8 + 5) N/kg hold 1 N/kg. The other one reaches the wall.
    assert_near(held.z, 0.5, 1e-3);
    assert_true(slid.x > 0.9);
    advance(solver, 20000);
    assert_near(distance_between(position_of(solver, 0), held), 0, 1e-9);
    taut_solver_destroy(solver);
}

// A cloth of any resolution slides as one node does.
static void test_resolution(void **state)
{
    (void)state;
    for (int nodes = 10; nodes <= 40; nodes += 30) {
        const double across = 1 / sqrt(1.25), along = 0.5 * across;
        taut_solver *solver = solver_of(
            HEADER(
                "symplectic_euler",
                "0.0004") "environment: {gravity: [0, -9.81, 0]}\n"
                          "bodies: [{name: b, type: cloth, u: [" NUM ", " NUM
                          ", 0], v: [0, 0, 1],\n"
                          "  nodes: [%d, %d], mass: 0.5, springs: {structural: {stiffness: 20}}}]\n"
                          "colliders: [{type: plane, normal: [" NUM ", " NUM
                          ", 0], stiffness: 100,\n"
                          "  absorption: 0.1, friction_coefficient: 0.4}]\n",
            across, -along, nodes, nodes, along, across);
        double distance[3];
        for (int part = 0; part < 3; part++) {
            advance(solver, 1250);
            distance[part] = vec3_length(position_of(solver, 0));
        }
        assert_near(distance[2] - 2 * distance[1] + distance[0], 9.81 * across * 0.1 * 0.25, 2e-3);
        taut_solver_destroy(solver);
    }
}

static const char *const cloth_text =
    "precision: %s\nsimulation: {integrator: %s, dt: 0.0004, steps: 400}\n"
    "environment: {gravity: [1, -9.81, 0.3]}\n"
    "bodies: [{name: b, type: cloth, origin: [-0.5, 0.01, -0.5], u: [1, 0.1, 0], v: [0, 0, 1],\n"
    "  nodes: [40, 41], mass: 0.5, springs: {structural: {stiffness: 200, damping: 0.01},\n"
    "  shear: {stiffness: 100}}}]\n"
    "colliders:\n"
    "  - {type: plane, stiffness: 100, absorption: 0.1,\n"
    "     friction_coefficient: {static: 0.5, kinetic: 0.2}}\n"
    "  - {type: room, min: [-0.55, -0.3, -2], max: [0.6, 3, 2], stiffness: 80,\n"
    "     friction_coefficient: 0.3}\n"
    "  - {type: sphere, center: [0, -0.1, 0], radius: 0.2, velocity: [0, 0, 0.3], stiffness: 100,\n"
    "     friction_coefficient: 0.7}\n";

static uint64_t hash_of_cloth(const void *context, const struct solver_options *options)
{
    const char *const *which = context;
    taut_solver *solver = solver_from(scene_of(cloth_text, which[0], which[1]), options);
    advance(solver, 300);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits(void **state)
{
    (void)state;
    for (size_t i = STABLE; i < INTEGRATORS; i++) {
        assert_same_hashes(hash_of_cloth, (const char *[]){"double", integrators[i]});
        assert_same_hashes(hash_of_cloth, (const char *[]){"mixed", integrators[i]});
    }
}

// The plain loops, in which each contact is computed from scratch, one by one.
static void test_like_the_reference(void **state)
{
    (void)state;
    const struct solver_options reference = {
        .config = {.threads = 1, .kernel = TAUT_KERNEL_REFERENCE}};
    for (size_t i = STABLE; i < INTEGRATORS; i++) {
        taut_solver *solver = solver_from(scene_of(cloth_text, "double", integrators[i]), NULL);
        taut_solver *start = solver_from(scene_of(cloth_text, "double", integrators[i]), NULL);
        taut_solver *plain =
            solver_from(scene_of(cloth_text, "double", integrators[i]), &reference);
        advance(solver, 100);
        advance(plain, 100);
        assert_moves_alike(plain, start, solver, 1e-7);
        taut_solver_destroy(start);
        taut_solver_destroy(plain);
        taut_solver_destroy(solver);
    }
}

// A checkpoint in the middle of sticking and sliding continues to the bit.
static void test_restart(void **state)
{
    (void)state;
    const char *const precisions[] = {"single", "double", "mixed"};
    for (size_t p = 0; p < 3; p++)
        for (size_t i = STABLE; i < INTEGRATORS; i++) {
            taut_scene *scene = scene_of(cloth_text, precisions[p], integrators[i]);
            taut_solver *restored = NULL, *solver = NULL;
            taut_error error = {0};
            void *bytes = NULL;
            size_t count = 0;
            assert_int_equal(taut_solver_create(scene, NULL, &solver, &error), TAUT_OK);
            advance(solver, 203);
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

static void test_setter(void **state)
{
    (void)state;
    taut_error error = {0};
    taut_contact contact;
    taut_solver *solver =
        slope_solver((struct slope){"symplectic_euler", "0.6", NULL, 1e-4, 0.5, 0});
    advance(solver, 5000);
    const vec3 rest = position_of(solver, 0);
    assert_int_equal(taut_solver_get_contact(solver, 0, &contact, &error), TAUT_OK);
    assert_same_bits(contact.friction_static, 0.6);
    contact.friction = 1;
    assert_int_equal(taut_solver_set_contact(solver, 0, &contact, &error), TAUT_ERROR_ARGUMENT);
    contact.friction = 0;
    contact.friction_kinetic = 0.7;
    assert_int_equal(taut_solver_set_contact(solver, 0, &contact, &error), TAUT_ERROR_ARGUMENT);
    contact.friction_static = contact.friction_kinetic = 0.3;
    assert_int_equal(taut_solver_set_contact(solver, 0, &contact, &error), TAUT_OK);
    advance(solver, 5000);
    const double distance = distance_between(position_of(solver, 0), rest);
    assert_near(distance, 9.81 / sqrt(1.25) * 0.2 * 0.25 / 2, 1e-3);
    taut_solver_destroy(solver);
}

// The guaranteed step counts the spring and the damper along the surface: it is stable, and not far
// below the limit of a node that is held, y = 2 (sqrt(1 + z^2) - z) with z = 0.1.
static void test_critical_step(void **state)
{
    (void)state;
    const double limit = 2 * (sqrt(1.01) - 0.1) * sqrt(MASS / STIFFNESS);
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler",
        "0.001") "bodies: [{name: b, type: network, nodes: [[0, -0.001, 0], [1, -0.001, 0]],\n"
                 "  node_mass: 0.01, springs: [[0, 1, {stiffness: 1e-3}]]}]\n"
                 "colliders: [{type: plane, stiffness: 10000, friction_coefficient: 0.5}]\n");
    taut_critical_step step;
    taut_error error = {0};
    assert_int_equal(taut_solver_critical_step(solver, 1, &step, &error), TAUT_OK);
    assert_near(step.dt_bound, limit, 0.01 * limit);
    assert_near(step.dt_computed, limit, 0.01 * limit);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slides_down),
        cmocka_unit_test(test_holds_for_a_minute),
        cmocka_unit_test(test_slides_to_rest),
        cmocka_unit_test(test_static_and_kinetic),
        cmocka_unit_test(test_single_and_mixed),
        cmocka_unit_test(test_heat_of_sliding),
        cmocka_unit_test(test_a_sphere_carries),
        cmocka_unit_test(test_walls_of_a_room),
        cmocka_unit_test(test_resolution),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_like_the_reference),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_setter),
        cmocka_unit_test(test_critical_step),
    };
    return cmocka_run_group_tests_name("friction", tests, NULL, NULL);
}
