// Nodes that are not free: pins do not move by a bit, drives follow the integral of their velocity
// and turn, and planes block drives.
#include "physics.h"

#include <math.h>
#include <stdio.h>

static const char *const all[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                  "velocity_verlet", "midpoint",         "rk4"};
static const char *const precisions[] = {"single", "double"};

// All kinds of forces on a ball with pins at awkward nodes.
static const char *const busy_scene =
    "precision: %s\nsimulation: {integrator: %s, dt: 0.0005, keep_velocity: 0.999, steps: 1}\n"
    "environment: {gravity: [0.3,-9.81,0.1], air_drag: 0.02,\n"
    "  wind: {velocity: [3,1,-2], law: %s}}\n"
    "bodies: [{name: b, type: sphere, center: [0.1,0.9,0.3], radius: 1, subdivisions: 1, mass: 2,\n"
    "  velocity: [1,2,3], springs: {edges: {stiffness: 300, damping: 0.3, yield_at: 0.02,\n"
    "  break_at: 1.5}, bend: {stiffness: 20, damping_law: full, damping: 0.1}},\n"
    "  pressure: {amount: 60, inflate: 0.1}, pins: [0, 5, 17]}]\n"
    "colliders: [{type: plane, point: [0,0.2,0], normal: [0,1,0], stiffness: 400, friction: 0.1,\n"
    "  absorption: 1}, {type: sphere, center: [1,1,0.3], radius: 0.5, stiffness: 300},\n"
    "  {type: room, min: [-0.7,-3,-3], max: [3,3,3], response: project, keep: 0.9}]\n";

static void test_pins_do_not_move_one_bit(void **state)
{
    (void)state;
    static const uint64_t pins[] = {0, 5, 17};
    static const char *const laws[] = {"node", "face", "quadratic"};
    for (int run = 0; run < 12; run++) {
        taut_solver *solver = solver_from(
            scene_of(busy_scene, precisions[run % 2], all[run / 2], laws[run % 3]), NULL);
        vec3 start[3];
        for (int p = 0; p < 3; p++)
            start[p] = position_of(solver, pins[p]);
        vec3 free_start = position_of(solver, 1);
        advance(solver, 200);
        for (int p = 0; p < 3; p++) {
            vec3 now = position_of(solver, pins[p]), velocity = velocity_of(solver, pins[p]);
            assert_same_bits(now.x, start[p].x);
            assert_same_bits(now.y, start[p].y);
            assert_same_bits(now.z, start[p].z);
            assert_true(velocity.x == 0 && velocity.y == 0 && velocity.z == 0);
        }
        assert_true(vec3_length(vec3_subtract(position_of(solver, 1), free_start)) > 1e-3);
        taut_solver_destroy(solver);
    }
}

// At rest until 0.0125 s, which is inside a step; then pieces that begin inside and at the end of
// steps.
static const struct drive_piece pieces[] = {{.start = 0.0125, .velocity = {1, 2, -3}},
                                            {.start = 0.05, .velocity = {0, -1, 0}},
                                            {.start = 0.0533, .velocity = {10, 0, 0}},
                                            {.start = 0.0536, .velocity = {0, 0, 0}},
                                            {.start = 0.09, .velocity = {-2, 0.5, 1}}};

static vec3 integral_to(double time)
{
    vec3 moved = {0, 0, 0};
    for (int p = 0; p < 5; p++) {
        double end = p < 4 ? fmin(pieces[p + 1].start, time) : time;
        if (end > pieces[p].start)
            moved = vec3_add(moved, vec3_scale(end - pieces[p].start, pieces[p].velocity));
    }
    return moved;
}

static vec3 velocity_at(double time)
{
    vec3 velocity = {0, 0, 0};
    for (int p = 0; p < 5; p++)
        if (pieces[p].start <= time + 1e-12)
            velocity = pieces[p].velocity;
    return velocity;
}

// At the end of every step a driven node is at the integral of its velocity, including pieces that
// began within the step, and has the velocity of that time.
static void test_drives_follow_their_integral(void **state)
{
    (void)state;
    for (int run = 0; run < 12; run++) {
        bool single = run % 2 == 0;
        taut_solver *solver =
            solver_of("precision: %s\nsimulation: {integrator: %s, dt: 0.005, steps: 1}\n"
                      "environment: {gravity: [0,-9.81,0], air_drag: 0.1}\n"
                      "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 5,\n"
                      "  node_mass: 0.1, spring: {stiffness: 50, damping: 0.1},\n"
                      "  drives: [{node: first, velocity: [[0.0125, [1,2,-3]], [0.05, [0,-1,0]],\n"
                      "  [0.0533, [10,0,0]], [0.0536, [0,0,0]], [0.09, [-2,0.5,1]]]}]}]\n",
                      precisions[run % 2], all[run / 2]);
        for (int step = 1; step <= 40; step++) {
            advance(solver, 1);
            double time = 0.005 * step;
            assert_vector_near(position_of(solver, 0), integral_to(time), single ? 2e-7 : 1e-14);
            assert_vector_near(velocity_of(solver, 0), velocity_at(time), single ? 1e-6 : 0);
        }
        taut_solver_destroy(solver);
    }
}

// A piece that begins at the end of a step has begun then, although 0.1, 0.01 and 0.003 are not
// binary fractions and their multiples are rounded.
static void test_pieces_that_begin_at_the_end_of_a_step(void **state)
{
    (void)state;
    static const double steps[] = {0.1, 0.01, 0.003, 0.0007};
    for (int i = 0; i < 4; i++)
        for (int at = 1; at < 60; at++) {
            char start[40];
            snprintf(start, sizeof start, "%.6g", at * steps[i]);
            taut_solver *solver =
                solver_of("precision: double\nsimulation: {dt: " NUM ", steps: 1}\n"
                          "bodies: [{name: r, type: network, nodes: [[0,0,0]], node_mass: [1],\n"
                          "  springs: [], drives: [{node: first, velocity: [[0, [1,0,0]],\n"
                          "  [%s, [-3,0,0]]]}]}]\n",
                          steps[i], start);
            advance(solver, (uint64_t)at - 1);
            assert_near(velocity_of(solver, 0).x, 1, 0);
            advance(solver, 1);
            assert_near(velocity_of(solver, 0).x, -3, 0);
            assert_near(position_of(solver, 0).x, at * steps[i], 1e-13);
            taut_solver_destroy(solver);
        }
}

// A velocity without times applies from the start, and the node has it before the first step.
static void test_drive_from_the_start(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler",
               "0.01") "bodies: [{name: r, type: network, nodes: [[1,0,0]], node_mass: [1],\n"
                       "  springs: [], drives: [{node: 0, velocity: [1,2,3]}]}]\n");
    assert_vector_near(velocity_of(solver, 0), vec3_make(1, 2, 3), 0);
    advance(solver, 100);
    assert_vector_near(position_of(solver, 0), vec3_make(2, 2, 3), 1e-13);
    taut_solver_destroy(solver);
}

// A screw: about z by `degrees`, from (1.5, 0, 0), about a point that has moved from (0.5, 0, 0).
static vec3 turned_by(double degrees, vec3 moved)
{
    const double angle = degrees * PI / 180;
    return vec3_add(vec3_make(0.5 + cos(angle), sin(angle), 0), moved);
}

// At the end of every step driven nodes are where their turns have brought them, to the rounding of
// some hundred steps, with pieces of both velocities that begin at different times.
static void test_drives_turn_about_their_center(void **state)
{
    (void)state;
    static const char *const integrators[] = {"explicit_euler",
                                              "symplectic_euler",
                                              "verlet",
                                              "velocity_verlet",
                                              "midpoint",
                                              "rk4",
                                              "implicit_euler",
                                              "bdf2",
                                              "implicit_midpoint",
                                              "xpbd"};
    for (int run = 0; run < 20; run++) {
        const bool single = run % 2 == 0;
        taut_solver *solver =
            solver_of("precision: %s\nsimulation: {integrator: %s, dt: 0.005, steps: 1}\n"
                      "environment: {gravity: [0,-9.81,0], air_drag: 0.1}\n"
                      "bodies: [{name: r, type: rope, from: [0.5,-1,0], to: [1.5,0,0], nodes: 5,\n"
                      "  node_mass: 0.1, spring: {stiffness: 50, damping: 0.1},\n"
                      "  drives: [{nodes: [4, {box: [[0, -2, -1], [0.6, 0, 1]]}],\n"
                      "  center: [0.5, 0, 0], velocity: [[0.0225, [0.3, 0, 2]]],\n"
                      "  angular_velocity: [[0, [0, 0, 90]], [0.1, [0, 0, -720]]]}]}]\n",
                      precisions[run % 2], integrators[run / 2]);
        assert_vector_near(velocity_of(solver, 4), vec3_make(0, PI / 2, 0), single ? 1e-6 : 1e-14);
        for (int step = 1; step <= 100; step++) {
            advance(solver, 1);
            const double time = 0.005 * step;
            const double degrees = time <= 0.1 ? 90 * time : 9 - 720 * (time - 0.1);
            const double rate = (time < 0.0999 ? 90 : -720) * PI / 180;
            const vec3 moved = vec3_scale(fmax(0, time - 0.0225), vec3_make(0.3, 0, 2));
            const vec3 moves = time > 0.0225 ? vec3_make(0.3, 0, 2) : vec3_make(0, 0, 0);
            const vec3 there = turned_by(degrees, moved), other = turned_by(degrees - 90, moved);
            assert_vector_near(position_of(solver, 4), there, single ? 5e-7 : 1e-13);
            assert_vector_near(position_of(solver, 0), other, single ? 5e-7 : 1e-13);
            const vec3 arm = turned_by(degrees, vec3_make(-0.5, 0, 0));
            const vec3 velocity = vec3_add(moves, vec3_make(-rate * arm.y, rate * arm.x, 0));
            assert_vector_near(velocity_of(solver, 4), velocity, single ? 1e-5 : 1e-12);
        }
        taut_solver_destroy(solver);
    }
}

// A strip whose ends turn against each other stores the work of its drives.
static double unexplained_of_twist(double dt, double *stored)
{
    taut_solver *solver = solver_of(
        "precision: double\nsimulation: {integrator: velocity_verlet, dt: " NUM ", steps: 1}\n"
        "bodies: [{name: strip, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,-0.2,0],\n"
        "  nodes: [21,5], mass: 0.1, springs: {structural: {stiffness: 100, damping: 0.02},\n"
        "  shear: {stiffness: 50, damping: 0.02}}, drives: [\n"
        "  {nodes: [left], center: [0,-0.1,0], angular_velocity: [-180,0,0]},\n"
        "  {nodes: [right], center: [1,-0.1,0], velocity: [[0.5, [-0.1,0,0]]],\n"
        "   angular_velocity: [[0, [180,0,0]], [1, [0,0,0]]]}]}]\n",
        dt);
    const double start = energy_of(solver).total;
    advance(solver, (uint64_t)round(1.5 / dt));
    const double residual = residual_of(solver, start);
    *stored = energy_of(solver).elastic;
    taut_solver_destroy(solver);
    return fabs(residual);
}

static void test_the_work_of_turning_drives(void **state)
{
    (void)state;
    double stored, coarse_stored;
    const double coarse = unexplained_of_twist(4e-4, &coarse_stored),
                 fine = unexplained_of_twist(2e-4, &stored);
    assert_true(stored > 0.02);
    assert_true(fine < 2e-3 * stored);
    assert_true(fine < 0.6 * coarse);
}

// Checkpoints, and a viewer that changes a constant, continue to the bit.
static void test_turns_continue_after_a_checkpoint(void **state)
{
    (void)state;
    taut_scene *scene = scene_of(
        "simulation: {dt: 1e-3, steps: 400}\n"
        "bodies: [{name: strip, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,-0.2,0],\n"
        "  nodes: [21,5], mass: 0.1, springs: {structural: {stiffness: 100}}, drives: [\n"
        "  {nodes: [left], angular_velocity: [[0.1, [-180,20,0]], [0.25, [90,0,0]]]}]}]\n");
    taut_solver *solver = NULL, *other = NULL;
    void *bytes;
    size_t count;
    assert_int_equal(taut_solver_create(scene, NULL, &solver, NULL), TAUT_OK);
    advance(solver, 150);
    assert_int_equal(taut_solver_save_memory(solver, &bytes, &count, NULL), TAUT_OK);
    assert_int_equal(taut_solver_restore_memory(scene, bytes, count, NULL, &other, NULL), TAUT_OK);
    advance(solver, 250);
    advance(other, 250);
    assert_int_equal(taut_solver_hash(solver), taut_solver_hash(other));
    assert_true(vec3_length(position_of(solver, 0)) < 1e-6); // on the axis
    assert_true(position_of(solver, 84).z != 0);
    taut_bytes_release(bytes);
    taut_solver_destroy(solver);
    taut_solver_destroy(other);
    taut_scene_destroy(scene);
}

// NeHe's rope: a driven node never goes below a plane that blocks drives; there its velocity into
// the plane is 0 while it slides, and it leaves when its drive points away.
static void test_planes_block_drives(void **state)
{
    (void)state;
    for (int blocks = 0; blocks < 2; blocks++)
        for (int i = 0; i < 6; i++) {
            taut_solver *solver = solver_of(
                "precision: double\nsimulation: {integrator: %s, dt: 0.01, steps: 1}\n"
                "bodies: [{name: r, type: rope, from: [0,0.205,0], to: [1,0.5,0], nodes: 4,\n"
                "  node_mass: 0.1, spring: {stiffness: 50, damping: 0.1},\n"
                "  drives: [{node: first, velocity: [[0, [0.5,-1,0]], [0.5, [0,1,0]]]}]}]\n"
                "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 100,\n"
                "  blocks_drives: %s}]\n",
                all[i], blocks ? "true" : "false");
            advance(solver, 20);
            assert_vector_near(position_of(solver, 0), vec3_make(0.1, 0.005, 0), 1e-14);
            assert_vector_near(velocity_of(solver, 0), vec3_make(0.5, -1, 0), 0);
            advance(solver, 29);
            assert_vector_near(position_of(solver, 0), vec3_make(0.245, blocks ? 0 : -0.285, 0),
                               1e-14);
            assert_vector_near(velocity_of(solver, 0), vec3_make(0.5, blocks ? 0 : -1, 0), 0);
            advance(solver, 21); // 0.49 to 0.70 s, upwards from 0.5 s on
            assert_vector_near(position_of(solver, 0), vec3_make(0.25, blocks ? 0.2 : -0.095, 0),
                               1e-14);
            assert_vector_near(velocity_of(solver, 0), vec3_make(0, 1, 0), 0);
            taut_solver_destroy(solver);
        }
}

// Forces act on a driven node as on any other, and do not move it.
static void test_drives_do_not_yield_to_forces(void **state)
{
    (void)state;
    for (int run = 0; run < 6; run++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
            "environment: {gravity: [0,-9.81,0]}\n"
            "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 4,\n"
            "  node_mass: 1, spring: {stiffness: 3000}, drives: [{node: last,\n"
            "  velocity: [[0.2, [0,0.25,0]]]}, {node: first, velocity: [[100, [1,0,0]]]}]}]\n",
            all[run]);
        advance(solver, 100);
        assert_true(position_of(solver, 1).y < -0.001);
        advance(solver, 300);
        assert_vector_near(position_of(solver, 3), vec3_make(1, 0.05, 0), 1e-13);
        assert_vector_near(position_of(solver, 0), vec3_make(0, 0, 0), 0);
        taut_solver_destroy(solver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pins_do_not_move_one_bit),
        cmocka_unit_test(test_drives_follow_their_integral),
        cmocka_unit_test(test_pieces_that_begin_at_the_end_of_a_step),
        cmocka_unit_test(test_drive_from_the_start),
        cmocka_unit_test(test_drives_turn_about_their_center),
        cmocka_unit_test(test_the_work_of_turning_drives),
        cmocka_unit_test(test_turns_continue_after_a_checkpoint),
        cmocka_unit_test(test_planes_block_drives),
        cmocka_unit_test(test_drives_do_not_yield_to_forces),
    };
    return cmocka_run_group_tests_name("pins", tests, NULL, NULL);
}
