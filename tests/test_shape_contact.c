// Planes, spheres and rooms with `response: contact` (contact/shape_contact.c): heights at rest, a
// coarse cloth on a small ball and fast bodies (distances are found here, with other formulas),
// impacts with friction (also on meshes), the work and the balance of energy of a moving ball,
// friction on a slope, bodies thrown about in a room, refused input, the same bits for all threads
// and instruction sets, and after a restart.
#include "checkpoint_fixture.h"
#include "contact_fixture.h"
#include "scene_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "topology/topology.h"

static const double GRAVITY = 9.81, STIFFNESS = 100, THICKNESS = 0.004, MASS = 0.001;

static const char *const integrators[] = {
    "explicit_euler", "symplectic_euler", "verlet", "velocity_verlet", "midpoint", "rk4", "xpbd"};
enum {
    INTEGRATORS = sizeof integrators / sizeof integrators[0],
    STABLE = 1,
    RUNGE_KUTTA = 4,
    XPBD = 6
};
static const char *const implicit[] = {"implicit_euler", "implicit_midpoint", "bdf2"};
enum { IMPLICIT = 3 };

// ---- Heights at rest

// Where the barrier 2 k/g0 (g0 - g)^2 bears a force.
static double floating_height(double force)
{
    const double g0 = THICKNESS / 2;
    return 1.5 * THICKNESS - sqrt(force * g0 / (2 * STIFFNESS));
}

// The greatest distance of nodes from a height.
static double farthest_from(const taut_solver *solver, double height)
{
    double farthest = 0;
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++)
        farthest = fmax(farthest, fabs(position_of(solver, i).y - height));
    return farthest;
}

static double height_at_rest(const char *integrator, double dt, const char *precision,
                             const char *collider, double height)
{
    taut_solver *solver = solver_of(
        "precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
        "environment: {gravity: [0, " NUM ", 0], air_drag: 0.02}\n"
        "contact: {thickness: " NUM ", stiffness: " NUM "}\n"
        "colliders:\n- %s\n"
        "bodies:\n- {name: sheet, type: cloth, origin: [-0.1, 0.007, -0.1], u: [0.2, 0, 0],\n"
        "   v: [0, 0, 0.2], nodes: [4, 4], node_mass: " NUM
        ", springs: {structural: {stiffness: 5}}}\n",
        precision, integrator, dt, -GRAVITY, THICKNESS, STIFFNESS, collider, MASS);
    advance(solver, (uint64_t)round(3 / dt));
    const double found = farthest_from(solver, height);
    taut_solver_destroy(solver);
    return found;
}

// A sheet is at rest where each node bears its weight; on the floor of a room the same.
static void test_sheets_rest_at_the_height_of_balance(void **state)
{
    (void)state;
    const double height = floating_height(MASS * GRAVITY);
    for (int i = 0; i < INTEGRATORS; i++)
        assert_near(height_at_rest(integrators[i], 2e-4, "double",
                                   "{type: plane, response: contact}", height),
                    0, 1e-9);
    assert_near(height_at_rest("verlet", 2e-4, "double",
                               "{type: room, min: [-1, 0, -1], max: [1, 2, 1], response: contact}",
                               height),
                0, 1e-9);
    assert_near(height_at_rest("velocity_verlet", 2e-4, "single",
                               "{type: plane, response: contact}", height),
                0, 2e-7);
    assert_near(height_at_rest("velocity_verlet", 2e-4, "mixed", "{type: plane, response: contact}",
                               height),
                0, 1e-9);
}

// Steps of 3.2 over sqrt(4 kappa / m).
static void test_implicit_steps_rest_at_the_same_height(void **state)
{
    (void)state;
    static const char *const precisions[] = {"double", "single", "mixed"};
    const double height = floating_height(MASS * GRAVITY);
    for (int i = 0; i < IMPLICIT; i++)
        for (int p = 0; p < 3; p++)
            assert_near(height_at_rest(implicit[i], 5e-3, precisions[p],
                                       p == 0 ? "{type: plane, response: contact}"
                                              : "{type: room, min: [-1, 0, -1], max: [1, 2, 1], "
                                                "response: contact}",
                                       height),
                        0, p == 1 ? 1e-6 : 1e-8);
}

// A ball below the inside of a triangle, below an edge of a rope and below a node without a
// surface: the force of the barrier, distributed by the weights of the nearest point.
static void test_forces_of_balls(void **state)
{
    (void)state;
    const double distance = 1.25 * THICKNESS, s = 0.25 * THICKNESS;
    const double force = 2 * STIFFNESS / (THICKNESS / 2) * s * s;
    taut_solver *solver = solver_of(
        HEADER("velocity_verlet",
               "1e-4") "contact: {thickness: " NUM ", stiffness: " NUM "}\n"
                       "colliders:\n- {type: sphere, center: [0.05, -0.05, 0.03], radius: 0.05, "
                       "response: contact}\n"
                       "- {type: sphere, center: [1, -0.1, 0.06], radius: 0.1, response: contact}\n"
                       "- {type: sphere, center: [2, -2, 0], radius: 2, response: contact}\n"
                       "bodies:\n- {name: sheet, type: cloth, origin: [0, " NUM
                       ", 0], u: [0.2, 0, 0],\n"
                       "   v: [0, 0, 0.2], nodes: [2, 2], node_mass: 1, springs: {structural: "
                       "{stiffness: 0}}}\n"
                       "- {name: rope, type: rope, from: [1, " NUM ", 0], to: [1, " NUM
                       ", 0.2], nodes: 2,\n"
                       "   node_mass: 1, spring: {stiffness: 0}}\n"
                       "- {name: dot, type: network, nodes: [[2, " NUM
                       ", 0], [2, 1, 0]], node_mass: 1,\n"
                       "   springs: [[0, 1, {stiffness: 0}]]}\n",
        THICKNESS, STIFFNESS, distance, distance, distance, distance);
    double sheet = 0;
    vec3 at = {0, 0, 0};
    for (uint64_t i = 0; i < 4; i++) {
        const vec3 f = force_on(solver, i);
        assert_near(f.x, 0, 1e-14);
        assert_near(f.z, 0, 1e-14);
        sheet += f.y;
        at = vec3_add(at, vec3_scale(f.y, position_of(solver, i)));
    }
    // Only the triangle above the ball is within reach, and the forces on its nodes act there.
    assert_near(sheet, force, 1e-12);
    assert_near(at.x / sheet, 0.05, 1e-12);
    assert_near(at.z / sheet, 0.03, 1e-12);
    assert_near(force_on(solver, 4).y, 0.7 * force, 1e-12);
    assert_near(force_on(solver, 5).y, 0.3 * force, 1e-12);
    assert_near(force_on(solver, 6).y, force, 1e-12);
    assert_near(energy_of(solver).contact, 3 * force * s / 3, 1e-15);
    taut_solver_destroy(solver);
}

// ---- Nothing passes

// A cloth with cells of 0.2 m over a ball of 0.05 m; dt is far above the step that the impact would
// need.
static void check_coarse_cloth(const char *integrator, double dt)
{
    taut_solver *solver = solver_of(
        HEADER("%s", NUM) "environment: {gravity: [0, -9.81, 0], air_drag: 0.01}\n"
                          "contact: {thickness: 0.002, stiffness: 300, self: false}\n"
                          "colliders:\n- {type: sphere, center: [0.02, 0.1, 0.03], radius: 0.05,\n"
                          "   response: contact, friction_coefficient: 0.3}\n"
                          "- {type: plane, response: contact, friction_coefficient: 0.5}\n"
                          "bodies:\n- {name: cloth, type: cloth, origin: [-0.5, 0.25, -0.5], u: "
                          "[1, 0, 0],\n"
                          "   v: [0, 0, 1], nodes: [6, 6], mass: 0.2, springs: {structural: "
                          "{stiffness: 300,\n"
                          "   damping: 0.05}, shear: {stiffness: 200, damping: 0.05}}}\n",
        integrator, dt);
    struct everything all = everything_of(solver);
    double nearest = INFINITY, lowest = INFINITY;
    for (int step = 0; step < (int)ceil(1 / dt); step++) {
        advance(solver, 1);
        nearest = fmin(nearest, triangle_distance(solver, &all, vec3_make(0.02, 0.1, 0.03)));
        for (uint64_t n = 0; n < all.nodes; n++)
            lowest = fmin(lowest, position_of(solver, n).y);
    }
    assert_true(nearest > 0.05);
    assert_true(nearest < 0.053); // it does touch
    assert_true(lowest > 0 && lowest < 0.003);
    free_everything(&all);
    taut_solver_destroy(solver);
}

static void test_a_coarse_cloth_stays_outside_a_small_ball(void **state)
{
    (void)state;
    for (int i = STABLE; i < INTEGRATORS; i++)
        check_coarse_cloth(integrators[i], 5e-4);
    for (int i = 0; i < IMPLICIT; i++)
        check_coarse_cloth(implicit[i], 2e-3);
}

// 20 m/s with steps of 1 ms: ten thicknesses and a quarter of the ball a step.
static void check_fast_bodies(const char *integrator, const char *precision)
{
    taut_solver *solver = solver_of(
        "precision: %s\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
        "contact: {thickness: 0.002, self: false}\n"
        "colliders:\n- {type: sphere, center: [0.03, 0, 0.02], radius: 0.08, response: "
        "contact}\n"
        "- {type: sphere, center: [5, 0, 0], radius: 0.01, response: contact}\n"
        "- {type: plane, point: [0, -1, 0], response: contact}\n"
        "bodies:\n- {name: cloth, type: cloth, origin: [-0.3, 0.2, -0.3], u: [0.6, 0, 0],\n"
        "   v: [0, 0, 0.6], nodes: [7, 7], mass: 0.1, velocity: [0, -20, 0],\n"
        "   springs: {structural: {stiffness: 100, damping: 0.01}}}\n"
        "- {name: rope, type: rope, from: [4.8, 0.2, 0.004], to: [5.2, 0.2, 0.004], nodes: 5,\n"
        "   node_mass: 0.01, velocity: [0, -20, 0], spring: {stiffness: 100}}\n",
        precision, integrator);
    struct everything all = everything_of(solver);
    double nearest = INFINITY, lowest = INFINITY, rope = INFINITY;
    for (int step = 0; step < 200; step++) {
        advance(solver, 1);
        nearest = fmin(nearest, triangle_distance(solver, &all, vec3_make(0.03, 0, 0.02)));
        for (uint64_t n = 0; n < all.nodes; n++)
            lowest = fmin(lowest, position_of(solver, n).y);
        for (uint64_t n = 49; n < 53; n++) {
            const vec3 ball = vec3_make(5, 0, 0);
            const vec3 near =
                nearest_on_side(ball, position_of(solver, n), position_of(solver, n + 1));
            rope = fmin(rope, vec3_length(vec3_subtract(near, ball)));
        }
    }
    assert_true(nearest > 0.08 && nearest < 0.085);
    assert_true(rope > 0.01 && rope < 0.015);
    assert_true(lowest > -1 && lowest < -0.9);
    assert_true(solver_surface_cuts(solver).steps > 0);
    assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
    free_everything(&all);
    taut_solver_destroy(solver);
}

static void test_fast_bodies_do_not_pass(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double", "mixed"};
    for (int i = STABLE; i < INTEGRATORS; i++)
        check_fast_bodies(integrators[i], precisions[i % 2]);
    for (int i = 0; i < IMPLICIT; i++)
        check_fast_bodies(implicit[i], precisions[i]);
}

// A ball that hits a sheet at 20 m/s with steps of 1 ms: a fifth of its radius a step.
static void check_fast_ball(const char *integrator, const char *precision)
{
    taut_solver *solver = solver_of(
        "precision: %s\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
        "contact: {thickness: 0.004, self: false}\n"
        "colliders:\n- {type: sphere, center: [0.03, -0.02, -0.2], radius: 0.1, velocity: [0, 0, "
        "20],\n"
        "   response: contact, friction_coefficient: 0.3}\n"
        "bodies:\n- {name: cloth, type: cloth, origin: [-0.3, -0.3, 0], u: [0.6, 0, 0],\n"
        "   v: [0, 0.6, 0], nodes: [7, 7], mass: 0.1,\n"
        "   springs: {structural: {stiffness: 100, damping: 0.01}}}\n",
        precision, integrator);
    struct everything all = everything_of(solver);
    double nearest = INFINITY;
    for (int step = 1; step <= 40; step++) {
        advance(solver, 1);
        nearest = fmin(nearest,
                       triangle_distance(solver, &all, vec3_make(0.03, -0.02, -0.2 + 0.02 * step)));
    }
    assert_true(nearest > 0.1 && nearest < 0.105);
    assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
    free_everything(&all);
    taut_solver_destroy(solver);
}

static void test_a_fast_ball_does_not_pass(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double", "mixed"};
    for (int i = STABLE; i < INTEGRATORS; i++)
        check_fast_ball(integrators[i], precisions[i % 3]);
    for (int i = 0; i < IMPLICIT; i++)
        check_fast_ball(implicit[i], precisions[i]);
}

// A lattice and a ball thrown about in a room stay inside of it.
static void test_bodies_stay_in_a_room(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler",
        "2e-4") "environment: {gravity: [0, -9.81, 0]}\ncontact: {thickness: 0.004, self: false}\n"
                "colliders:\n- {type: room, min: [-0.3, 0, -0.2], max: [0.3, 0.5, 0.2],\n"
                "   response: contact, friction_coefficient: 0.2}\n"
                "bodies:\n- {name: jelly, type: lattice, nodes: [4, 4, 4], spacing: 0.05,\n"
                "   origin: [-0.2, 0.2, -0.1], node_mass: 0.001, velocity: [8, 3, 6],\n"
                "   springs: {k1: {stiffness: 60, damping: 0.01}, k2: {stiffness: 60, damping: "
                "0.01}}}\n"
                "- {name: ball, type: sphere, center: [0.15, 0.35, 0], radius: 0.08, subdivisions: "
                "1,\n"
                "   mass: 0.05, velocity: [-9, 2, 4], spring: {stiffness: 60, damping: 0.01}}\n");
    const double min[] = {-0.3, 0, -0.2}, max[] = {0.3, 0.5, 0.2};
    double least = INFINITY;
    for (int step = 0; step < 5000; step++) {
        advance(solver, 1);
        for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
            const vec3 p = position_of(solver, i);
            const double at[] = {p.x, p.y, p.z};
            for (int axis = 0; axis < 3; axis++)
                least = fmin(least, fmin(at[axis] - min[axis], max[axis] - at[axis]));
        }
    }
    assert_true(least > 0 && least < 0.006);
    taut_solver_destroy(solver);
}

// ---- The damper along the normal

// A plane or a mesh of two triangles at a height of 0, with further keys.
static void write_floor(bool mesh, const char *keys, char *text, size_t size)
{
    if (!mesh) {
        snprintf(text, size, "{type: plane, response: contact%s}", keys);
        return;
    }
    const char *file = physics_file("floor.obj", "v -3 0 -3.1\nv 3.2 0 -3\nv 3 0 3.3\nv -3 0 3\n"
                                                 "f 1 3 2\nf 1 4 3\n");
    snprintf(text, size, "{type: mesh, file: %s%s}", file, keys);
}

// The speed with which a patch of four nodes leaves a floor that it meets at a speed, m/s.
static double rebound_of(const char *integrator, double dt, bool mesh, const char *friction,
                         double speed)
{
    char text[512];
    write_floor(mesh, friction, text, sizeof text);
    taut_solver *solver = solver_of(
        "precision: double\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
        "environment: {gravity: [0, 0, 0]}\ncontact: {thickness: " NUM ", stiffness: " NUM "}\n"
        "colliders: [%s]\nbodies:\n"
        "- {name: patch, type: cloth, origin: [-0.5, " NUM ", 0.4], u: [0.05, 0, 0],\n"
        "   v: [0, 0, 0.05], nodes: [2, 2], mass: " NUM ", velocity: [0, " NUM ", 0],\n"
        "   springs: {structural: {stiffness: 100}}}\n",
        integrator, dt, THICKNESS, STIFFNESS, text, 1.5 * THICKNESS, 4 * MASS, -speed);
    advance(solver, (uint64_t)round(0.05 / dt));
    const double rebound = velocity_of(solver, 0).y;
    taut_solver_destroy(solver);
    return rebound;
}

// The same of m x'' = psi' - c x', c = 2 zeta sqrt(m min(psi'', k)), which does not pull.
static double exact_rebound(double speed)
{
    const double g0 = THICKNESS / 2, h = 1e-7;
    double v = -speed;
    for (double inside = 0; inside >= 0; inside -= h * v) {
        const double curvature = fmin(STIFFNESS, 4 * STIFFNESS * inside / g0);
        const double more = inside - g0;
        const double force = more > 0 ? 2 * STIFFNESS * g0 + 4 * STIFFNESS * more
                                      : 2 * STIFFNESS / g0 * inside * inside;
        v += h / MASS * fmax(0, force - 0.2 * sqrt(MASS * curvature) * v);
    }
    return v;
}

// Only contacts with friction are damped.
static void test_impacts_are_damped_with_friction(void **state)
{
    (void)state;
    static const char *const some[] = {"symplectic_euler", "velocity_verlet", "rk4", "xpbd"};
    const double speeds[] = {0.05, 0.5};
    for (int i = 0; i < 4; i++)
        for (int floor = 0; floor < 2; floor++)
            for (int s = 0; s < 2; s++) {
                const double dt = i == 0 || i == 3 ? 1e-6 : 1e-5;
                const double exact = exact_rebound(speeds[s]);
                assert_true(exact < 0.9 * speeds[s] && exact > 0.5 * speeds[s]);
                assert_near(
                    rebound_of(some[i], dt, floor == 1, ", friction_coefficient: 0.5", speeds[s]),
                    exact, 2e-3 * exact);
                assert_near(rebound_of(some[i], dt, floor == 1, "", speeds[s]), speeds[s],
                            1e-4 * speeds[s]);
                assert_near(
                    rebound_of(some[i], dt, floor == 1, ", friction_coefficient: 0", speeds[s]),
                    speeds[s], 1e-4 * speeds[s]);
            }
}

static double mean_x(const taut_solver *solver)
{
    double sum = 0;
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++)
        sum += position_of(solver, i).x / (double)taut_solver_node_count(solver);
    return sum;
}

// A jelly that falls onto a slope on which friction holds it, without being rid of its energy by
// the fall alone.
static void test_falling_bodies_come_to_rest_on_slopes(void **state)
{
    (void)state;
    static const char *const some[] = {"symplectic_euler, dt: 2e-4", "velocity_verlet, dt: 2e-4",
                                       "rk4, dt: 2e-4", "xpbd, dt: 2e-4, substeps: 2"};
    for (int i = 0; i < 4; i++)
        for (int floor = 0; floor < 2; floor++) {
            char text[512];
            write_floor(floor == 1, "", text, sizeof text);
            taut_solver *solver = solver_of(
                "precision: double\nsimulation: {integrator: %s, steps: 1}\n"
                "environment: {gravity: [3.9, -9, 0]}\n"
                "contact: {thickness: 0.002, self: false, friction_coefficient: 0.9}\n"
                "colliders: [%s]\nbodies:\n"
                "- {name: jelly, type: lattice, origin: [0, 0.005, 0], nodes: [5, 3, 4],\n"
                "   spacing: 0.01, mass: 0.06, damping: 0.02,\n"
                "   springs: {k1: {stiffness: 400}, k2: {stiffness: 200}}}\n",
                some[i], text);
            const double start = mean_x(solver);
            advance(solver, 6000);
            const double then = mean_x(solver);
            advance(solver, 1500);
            assert_true(then - start < 7.5e-3);
            assert_near(mean_x(solver), then, 5e-5);
            taut_solver_destroy(solver);
        }
}

// ---- Energy

// A ball that moves through a hanging sheet at 1 m/s. Returns the residual of the budget, J; *work:
// of the ball.
static double residual_of_sweep(const char *integrator, double dt, const char *friction,
                                double *work)
{
    taut_solver *solver = solver_of(
        HEADER(
            "%s",
            NUM) "contact: {thickness: 0.01, stiffness: 50, self: false}\n"
                 "colliders:\n- {type: sphere, center: [0.03, -0.02, -0.2], radius: 0.1, velocity: "
                 "[0, 0, 1],\n"
                 "   response: contact%s}\n"
                 "bodies:\n- {name: cloth, type: cloth, origin: [-0.3, -0.3, 0], u: [0.6, 0, 0],\n"
                 "   v: [0, 0.6, 0], nodes: [7, 7], mass: 0.1,\n"
                 "   springs: {structural: {stiffness: 20, damping: 0.005}}}\n",
        integrator, dt, friction);
    const double start = energy_of(solver).total;
    advance(solver, (uint64_t)round(0.3 / dt));
    const struct work_done done = work_of(solver);
    const double residual = residual_of(solver, start);
    *work = done.drives;
    assert_int_equal(solver_surface_cuts(solver).steps, 0);
    taut_solver_destroy(solver);
    return residual;
}

static void test_the_budget_of_a_moving_ball_closes(void **state)
{
    (void)state;
    for (int i = STABLE; i < INTEGRATORS; i++)
        for (int friction = 0; friction < 2; friction++) {
            const char *const keys = friction ? ", friction_coefficient: 0.4" : "";
            double work;
            const double coarse = residual_of_sweep(integrators[i], 2e-4, keys, &work),
                         fine = residual_of_sweep(integrators[i], 1e-4, keys, &work);
            assert_true(work > 0.02);
            // The heat of dampers along normals is of order 1 with symplectic Euler and Verlet's
            // methods.
            const bool rough = friction && i < RUNGE_KUTTA;
            assert_true(fabs(fine) < (i == XPBD ? 4e-3 : rough ? 4e-4 : 1e-4) * work);
            assert_true(fabs(fine) < (rough ? 0.7 : 0.6) * fabs(coarse));
        }
    static const double parts[] = {0.12, 4e-3, 6e-3};
    for (int i = 0; i < IMPLICIT; i++)
        for (int friction = 0; friction < 2; friction++) {
            double work;
            const double residual = residual_of_sweep(
                implicit[i], 5e-4, friction ? ", friction_coefficient: 0.4" : "", &work);
            assert_true(work > 0.02);
            assert_true(fabs(residual) < parts[i] * work);
        }
}

// Without springs and friction, the work of a ball on a sheet that it pushes is its velocity times
// the momentum.
static void test_work_is_velocity_times_momentum(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "velocity_verlet",
        "1e-4") "contact: {thickness: 0.01, stiffness: 50}\n"
                "colliders:\n- {type: sphere, center: [0, 0, -0.2], radius: 0.1, velocity: [0, 0, "
                "2],\n"
                "   response: contact}\n"
                "bodies:\n- {name: cloth, type: cloth, origin: [-0.1, -0.1, 0], u: [0.2, 0, 0],\n"
                "   v: [0, 0.2, 0], nodes: [5, 5], mass: 0.1, springs: {structural: {stiffness: "
                "20}}}\n");
    advance(solver, 3000);
    vec3 angular;
    const double momentum = momentum_of(solver, &angular).z;
    assert_true(momentum > 0.1);
    assert_near(work_of(solver).drives / (2 * momentum), 1, 1e-3);
    taut_solver_destroy(solver);
}

// ---- Friction

// A patch of four nodes on a plane: gravity pulls along x with half of its downward force.
static taut_solver *stiff_slope(const char *integrator, double dt, double stiffness,
                                const char *collider, const char *body)
{
    const double across = 1 / sqrt(1.25);
    return solver_of(
        HEADER("%s", NUM) "environment: {gravity: [" NUM ", " NUM ", 0]}\n"
                          "contact: {thickness: " NUM ", stiffness: " NUM "}\n"
                          "colliders:\n- {type: plane, response: contact%s}\n"
                          "bodies:\n- {name: patch, type: cloth, origin: [0, " NUM
                          ", 0], u: [0.05, 0, 0],\n"
                          "   v: [0, 0, 0.05], nodes: [2, 2], node_mass: " NUM "%s,\n"
                          "   springs: {structural: {stiffness: 100, damping: "
                          "0.02}, shear: {stiffness: 100}}}\n",
        integrator, dt, GRAVITY * across / 2, -GRAVITY * across, THICKNESS, stiffness, collider,
        stiffness < STIFFNESS ? 0.1 * THICKNESS : floating_height(MASS * GRAVITY * across), MASS,
        body);
}

static taut_solver *slope_with_steps(const char *integrator, double dt, const char *collider,
                                     const char *body)
{
    return stiff_slope(integrator, dt, STIFFNESS, collider, body);
}

static taut_solver *slope_solver(const char *integrator, const char *collider, const char *body)
{
    return slope_with_steps(integrator, 1e-4, collider, body);
}

static double patch_x(const taut_solver *solver)
{
    double sum = -0.025;
    for (uint64_t i = 0; i < 4; i++)
        sum += position_of(solver, i).x / 4;
    return sum;
}

static double acceleration_with_steps(taut_solver *solver, double dt)
{
    double x[3];
    for (int i = 0; i < 3; i++) {
        advance(solver, (uint64_t)round(0.3 / dt));
        x[i] = patch_x(solver);
    }
    taut_solver_destroy(solver);
    return (x[2] - 2 * x[1] + x[0]) / (0.3 * 0.3);
}

static double acceleration_of(taut_solver *solver)
{
    return acceleration_with_steps(solver, 1e-4);
}

// Steps of 1.3 and 6.3 over sqrt(4 kappa / m).
static void test_implicit_friction_on_a_slope(void **state)
{
    (void)state;
    for (int i = 0; i < IMPLICIT; i++)
        for (int n = 0; n < 2; n++) {
            const double dt = n == 0 ? 2e-3 : 1e-2, across = 1 / sqrt(1.25);
            taut_solver *solver =
                slope_with_steps(implicit[i], dt, ", friction_coefficient: 0.49", "");
            assert_near(acceleration_with_steps(solver, dt) / 0.0877433, 1, 2e-5);
            solver = slope_with_steps(implicit[i], dt, ", friction_coefficient: 0.51", "");
            advance(solver, (uint64_t)round(2 / dt));
            double x = patch_x(solver);
            advance(solver, (uint64_t)round(2 / dt));
            assert_near(patch_x(solver), x, 1e-8);
            taut_solver_destroy(solver);
            solver = slope_with_steps(implicit[i], dt, ", friction_coefficient: 0.3", "");
            advance(solver, (uint64_t)round(0.5 / dt));
            x = patch_x(solver);
            assert_near(work_of(solver).friction / (0.3 * 4 * MASS * GRAVITY * across * x), 1,
                        1e-3);
            taut_solver_destroy(solver);
        }
}

// A rope with 0.1 J that falls, bounces on the barrier and slides to rest.
static void assert_heat_of_bounces(const char *integrator, double dt, const char *floor,
                                   double tolerance)
{
    taut_solver *solver = solver_of(
        HEADER("%s", NUM) "environment: {gravity: [0, -9.81, 0]}\n"
                          "contact: {thickness: 0.004}\n"
                          "bodies:\n- {name: rope, type: rope, from: [0, 0.006, 0],\n"
                          "   to: [0, 0.006, 0.1], nodes: 2, mass: 0.2, stiffness: 1000,\n"
                          "   velocity: [1, 0, 0]}\n"
                          "colliders:\n- {%s, response: contact, friction_coefficient: 0.5}\n",
        integrator, dt, floor);
    const double start = energy_of(solver).total;
    advance(solver, (uint64_t)round(0.3 / dt));
    const double heat = work_of(solver).friction;
    assert_near(heat, 0.1, 5 * tolerance);
    assert_near(energy_of(solver).total - start + heat, 0, tolerance);
    taut_solver_destroy(solver);
}

// For a contact that begins, and for one whose spring holds while the system slides, only the force
// that acted counts. On a sphere the ends of the rope touch in turn, some of them only within a
// step.
static void test_implicit_friction_of_bounces(void **state)
{
    (void)state;
    static const char *const floors[] = {"type: plane",
                                         "type: room, min: [-9, 0, -9], max: [9, 9, 9]",
                                         "type: sphere, center: [0, -100, 0], radius: 100"};
    static const double steps[] = {4e-3, 5e-4, 1.25e-4};
    for (size_t f = 0; f < sizeof floors / sizeof *floors; f++)
        for (size_t n = 0; n < sizeof steps / sizeof *steps; n++)
            assert_heat_of_bounces("implicit_midpoint", steps[n], floors[f], 1e-3);
    assert_heat_of_bounces("bdf2", 4e-3, floors[2], 2e-3);
    assert_heat_of_bounces("implicit_euler", 4e-3, floors[2], 5e-3);
}

// A sphere that is nearly flat takes a sheet of 0.5 kg along at 1 m/s: its work is its speed times
// the momentum that it gives, also in steps whose solutions are applied in part.
static void test_work_of_friction_on_a_moving_sphere(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = solver_of(
            HEADER("%s",
                   "0.009") "environment: {gravity: [0, -9.81, 0]}\n"
                            "contact: {thickness: 0.004, stiffness: 100}\n"
                            "bodies:\n- {name: b, type: cloth, origin: [-0.1, 0.006, -0.1],\n"
                            "   u: [0.2, 0, 0], v: [0, 0, 0.2], nodes: [5, 5], mass: 0.5,\n"
                            "   springs: {structural: {stiffness: 300, damping: 0.01},\n"
                            "   shear: {stiffness: 100}}}\n"
                            "colliders:\n- {type: sphere, center: [0, -200, 0], radius: 200,\n"
                            "   velocity: [1, 0, 0], response: contact,\n"
                            "   friction_coefficient: 0.4}\n",
            implicit[i]);
        advance(solver, 60);
        double momentum = 0;
        for (uint64_t n = 0; n < 25; n++)
            momentum += 0.02 * velocity_of(solver, n).x;
        assert_near(momentum, 0.5, 0.01);
        assert_near(work_of(solver).drives, momentum, 2e-3);
        taut_solver_destroy(solver);
    }
}

// On such a sphere the load of a rope, and with it the friction, goes from node to node.
static void test_heat_on_a_large_sphere(void **state)
{
    (void)state;
    static const double tolerances[] = {0.002, 2e-4, 0.0025};
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = solver_of(
            HEADER("%s",
                   "0.001") "environment: {gravity: [0, -9.81, 0]}\n"
                            "contact: {thickness: 0.01, stiffness: 1000}\n"
                            "bodies:\n- {name: b, type: rope, from: [-0.1, 0.015, 0],\n"
                            "   to: [0.1, 0.015, 0], nodes: 9, mass: 0.2, stiffness: 1000,\n"
                            "   velocity: [0.5, 0, 0]}\n"
                            "colliders:\n- {type: sphere, center: [0, -200, 0], radius: 200,\n"
                            "   response: contact, friction_coefficient: 0.5}\n",
            implicit[i]);
        advance(solver, 200);
        assert_near(work_of(solver).friction, 0.025, tolerances[i]);
        taut_solver_destroy(solver);
    }
}

static void test_friction_on_a_slope(void **state)
{
    (void)state;
    for (int i = STABLE; i < INTEGRATORS; i++) {
        assert_near(
            acceleration_of(slope_solver(integrators[i], ", friction_coefficient: 0.49", "")),
            0.0877433, 1e-5 * 0.0877433);
        taut_solver *solver = slope_solver(integrators[i], ", friction_coefficient: 0.51", "");
        advance(solver, 20000);
        const double x = patch_x(solver);
        advance(solver, 20000);
        assert_near(patch_x(solver), x, 1e-9);
        taut_solver_destroy(solver);
    }
}

// Where the barrier is too soft for the weight, cuts of the motion carry the patch, and have its
// friction.
static void test_friction_of_cuts(void **state)
{
    (void)state;
    const double soft = 0.05, across = 1 / sqrt(1.25), dt = 1e-4;
    for (int i = STABLE; i < INTEGRATORS; i++) {
        assert_near(acceleration_of(
                        stiff_slope(integrators[i], dt, soft, ", friction_coefficient: 0.4", "")),
                    GRAVITY * across * 0.1, 0.01 * GRAVITY * across * 0.1);
        taut_solver *solver =
            stiff_slope(integrators[i], dt, soft, ", friction_coefficient: 0.6", "");
        advance(solver, 2000);
        const double x = patch_x(solver);
        advance(solver, 4000);
        assert_near(patch_x(solver), x, 1e-9);
        assert_true(solver_surface_cuts(solver).steps > 4000);
        taut_solver_destroy(solver);
    }
}

// The friction of the body counts where the plane has none of its own, and otherwise the mean of
// both.
static void test_which_friction_counts(void **state)
{
    (void)state;
    const char *const own = ", contact: {friction_coefficient: 0.49}";
    assert_near(acceleration_of(slope_solver("verlet", "", own)), 0.0877433, 1e-6);
    taut_solver *solver = slope_solver("verlet", ", friction_coefficient: 0.245",
                                       ", contact: {friction_coefficient: 0.98}");
    assert_near(acceleration_of(solver), 0.0877433, 1e-6);
    solver = slope_solver("verlet", ", friction_coefficient: 0.1", "");
    taut_contact contact;
    assert_int_equal(taut_solver_get_contact(solver, 0, &contact, NULL), TAUT_OK);
    assert_near(contact.friction_static, 0.1, 0);
    contact.friction_static = contact.friction_kinetic = 0.49;
    assert_int_equal(taut_solver_set_contact(solver, 0, &contact, NULL), TAUT_OK);
    assert_near(acceleration_of(solver), 0.0877433, 1e-6);
}

// The energy that the patch loses while it slides is heat: mu N times its distance.
static void test_heat_of_sliding(void **state)
{
    (void)state;
    const double across = 1 / sqrt(1.25);
    static const char *const some[] = {"velocity_verlet", "xpbd"};
    for (int i = 0; i < 2; i++) {
        taut_solver *solver = slope_solver(some[i], ", friction_coefficient: 0.3", "");
        advance(solver, 5000);
        const double distance = patch_x(solver);
        assert_true(distance > 0.1);
        assert_near(work_of(solver).friction / (0.3 * 4 * MASS * GRAVITY * across * distance), 1,
                    1e-3);
        taut_solver_destroy(solver);
    }
}

// ---- The same bits

#define MANY                                                                                       \
    "precision: %s\nsimulation: {integrator: %s, dt: %s, steps: 1}\n"                              \
    "environment: {gravity: [0, -9.81, 0], air_drag: 0.005}\n"                                     \
    "contact: {thickness: 0.003, friction_coefficient: 0.3}\n"                                     \
    "colliders:\n"                                                                                 \
    "- {type: sphere, center: [0.1, 0.06, 0.05], radius: 0.1, velocity: [-0.3, 0, 0.1],\n"         \
    "   response: contact}\n"                                                                      \
    "- {type: sphere, center: [-0.2, 0.02, -0.1], radius: 0.06, response: contact,\n"              \
    "   friction_coefficient: {static: 0.6, kinetic: 0.4}}\n"                                      \
    "- {type: plane, point: [0, -0.1, 0], response: contact, friction_coefficient: 0.5}\n"         \
    "- {type: room, min: [-0.55, -0.2, -0.5], max: [0.5, 1, 0.45], response: contact}\n"           \
    "bodies:\n"                                                                                    \
    "- {name: cloth, type: cloth, origin: [-0.45, 0.17, -0.4], u: [0.9, 0, 0], v: [0, 0, 0.8],\n"  \
    "   nodes: [40, 36], mass: 0.3, velocity: [0, -2, 0],\n"                                       \
    "   springs: {structural: {stiffness: 100, damping: 0.02}, shear: {stiffness: 60}}}\n"         \
    "- {name: rope, type: rope, from: [-0.3, 0.22, 0.1], to: [0.4, 0.23, 0], nodes: 12,\n"         \
    "   node_mass: 0.004, spring: {stiffness: 100, damping: 0.01}}\n"

static uint64_t hash_of_many(const void *context, const struct solver_options *options)
{
    const char *const *which = context;
    taut_solver *solver = solver_from(scene_of(MANY, which[0], which[1], which[2]), options);
    advance(solver, strtoull(which[3], NULL, 10));
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_bits_do_not_depend_on_the_machine(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double", "mixed"};
    for (int p = 0; p < 3; p++)
        assert_same_hashes(hash_of_many,
                           (const char *[]){precisions[p], integrators[p + 1], "2e-4", "400"});
    const struct solver_options one = {.config = {.threads = 1}},
                                eight = {.config = {.threads = 8}};
    static const char *const others[][4] = {{"single", "velocity_verlet", "2e-4", "400"},
                                            {"mixed", "xpbd", "2e-4", "300"}};
    for (int i = 0; i < 2; i++)
        assert_true(hash_of_many(others[i], &one) == hash_of_many(others[i], &eight));
    assert_same_hashes(hash_of_many, (const char *[]){"single", "xpbd", "2e-4", "300"});
}

static void resume_many(const char *precision, const char *integrator, const char *dt,
                        uint64_t half)
{
    taut_scene *scene = scene_of(MANY, precision, integrator, dt);
    taut_solver *whole = create(scene, 2, best_isa());
    advance(whole, half);
    const struct saved saved = save(whole);
    taut_solver *resumed = restore(scene, saved, 3, best_isa());
    advance(whole, half);
    advance(resumed, half);
    const struct saved one = save_and_end(whole), other = save_and_end(resumed);
    assert_same_saved(one, other, integrator);
    taut_bytes_release(saved.bytes);
    taut_bytes_release(one.bytes);
    taut_bytes_release(other.bytes);
    taut_scene_destroy(scene);
}

static void test_a_restored_run_continues_to_the_bit(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double", "mixed"};
    for (int i = STABLE; i < INTEGRATORS; i++)
        resume_many(precisions[i % 3], integrators[i], "2e-4", 200);
    for (int i = 0; i < IMPLICIT; i++)
        resume_many(precisions[(i + 1) % 3], implicit[i], "2e-3", 25);
}

// ---- Stability

// `dt: auto` and `stiffness: auto`: a cloth that is pressed on a ball keeps its energy bounded.
static void test_implicit_bits(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double", "mixed"};
    const struct solver_options one = {.config = {.threads = 1}},
                                eight = {.config = {.threads = 8}};
    for (int i = 0; i < IMPLICIT; i++) {
        const char *const which[] = {precisions[i], implicit[i], "2e-3", "40"};
        assert_same_hashes(hash_of_many, which);
        assert_true(hash_of_many(which, &one) == hash_of_many(which, &eight));
    }
}

static void test_automatic_steps_are_stable(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        "precision: double\nsimulation: {integrator: velocity_verlet, dt: auto, duration: 1}\n"
        "environment: {gravity: [0, -9.81, 0], air_drag: 0.02}\ncontact: {thickness: 0.004}\n"
        "colliders:\n- {type: sphere, center: [0, 0, 0], radius: 0.1, response: contact,\n"
        "   friction_coefficient: 0.5}\n"
        "bodies:\n- {name: cloth, type: cloth, origin: [-0.15, 0.11, -0.15], u: [0.3, 0, 0],\n"
        "   v: [0, 0, 0.3], nodes: [13, 13], mass: 0.05, spring: {stiffness: 200}}\n");
    const double start = energy_of(solver).total;
    advance(solver, taut_solver_steps_planned(solver));
    assert_true(energy_of(solver).total < start);
    const struct work_done done = work_of(solver);
    const double residual = residual_of(solver, start) + done.drag;
    assert_near(residual, 0, 2e-3 * start);
    taut_solver_destroy(solver);
}

// `stiffness: auto` with steps of 11 over sqrt(k / m) that are longer than the surfaces are thick:
// the highest energy in any step of a cloth that falls at 3 m/s onto a ball and the floor, over
// that at the start.
static double highest_energy(const char *integrator, const char *friction)
{
    taut_solver *solver = solver_of(
        HEADER("%s",
               "4e-3") "environment: {gravity: [0, -9.81, 0]}\n"
                       "contact: {thickness: 0.004}\n"
                       "colliders:\n- {type: sphere, center: [0.02, 0.1, 0.03], radius: 0.1,\n"
                       "   response: contact%s}\n- {type: plane, response: contact%s}\n"
                       "bodies:\n- {name: cloth, type: cloth, origin: [-0.3, 0.25, -0.3],\n"
                       "   u: [0.6, 0, 0], v: [0, 0, 0.6], nodes: [16, 16], mass: 0.1,\n"
                       "   velocity: [0, -3, 0], springs: {structural: {stiffness: 3000},\n"
                       "   shear: {stiffness: 3000}}}\n",
        integrator, friction, friction);
    const double start = energy_of(solver).total;
    double most = 0;
    for (int step = 0; step < 60; step++) {
        advance(solver, 1);
        most = fmax(most, energy_of(solver).total);
    }
    assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
    taut_solver_destroy(solver);
    return most / start;
}

static void test_implicit_impacts_gain_little_energy(void **state)
{
    (void)state;
    static const double most[] = {1.001, 1.3, 1.01};
    for (int i = 0; i < IMPLICIT; i++)
        assert_true(highest_energy(implicit[i], i % 2 == 0 ? ", friction_coefficient: 0.4" : "") <
                    most[i]);
}

// `stiffness: auto` with steps far below the critical one of explicit integrators: the part of its
// energy that a lattice loses without account at an impact on the floor.
static double lost_at_impact(const char *integrator, double dt)
{
    taut_solver *solver = solver_of(
        HEADER("%s", NUM) "contact: {thickness: 0.004}\n"
                          "colliders:\n- {type: plane, response: contact}\n"
                          "bodies:\n- {name: jelly, type: lattice, origin: [0, 0.02, 0],\n"
                          "   nodes: [3, 3, 3], spacing: 0.03, rotate: [10, 0, 20], mass: 0.1,\n"
                          "   velocity: [0.3, -1, 0], stiffness: 100}\n",
        integrator, dt);
    const double start = energy_of(solver).total;
    advance(solver, (uint64_t)round(0.08 / dt));
    const double lost = -residual_of(solver, start) / start;
    assert_true(velocity_of(solver, 13).y > 0.2);
    taut_solver_destroy(solver);
    return lost;
}

static void test_short_implicit_steps_resolve_impacts(void **state)
{
    (void)state;
    for (int i = 1; i < IMPLICIT; i++) { // those of order 2
        assert_true(fabs(lost_at_impact(implicit[i], 2e-4)) < 0.2);
        assert_true(fabs(lost_at_impact(implicit[i], 5e-5)) < 0.005);
    }
}

// ---- What is refused

#define CLOTH                                                                                      \
    "bodies:\n- {name: cloth, type: cloth, origin: [-0.5, 0, -0.5], u: [1, 0, 0], v: [0, 0, 1],\n" \
    "   nodes: [3, 3], mass: 1, spring: {stiffness: 10}}\n"

static void assert_refused(const char *collider, const char *message)
{
    taut_scene *scene =
        scene_of(HEADER("verlet", "0.001") CLOTH
                 "contact: {thickness: 0.01}\ncolliders:\n- {%s, response: contact}\n",
                 collider);
    taut_solver *solver = NULL;
    taut_error error = {0};
    const taut_config config = {.threads = 1};
    const taut_status status = taut_solver_create(scene, &config, &solver, &error);
    assert_int_equal(status, message ? TAUT_ERROR_SCENE : TAUT_OK);
    if (message)
        assert_contains(error.text, message);
    taut_solver_destroy(solver);
    taut_scene_destroy(scene);
}

static void test_what_starts_inside_is_refused(void **state)
{
    (void)state;
    assert_refused("type: plane, point: [0, 0.001, 0]",
                   "node 0 of body 'cloth', near (-0.5, 0, -0.5), is inside collider 0, a plane");
    assert_refused("type: plane, point: [0, -0.0004, 0]", "is too near to collider 0, a plane");
    assert_refused("type: plane, point: [0, -0.0006, 0]", NULL);
    assert_refused("type: sphere, center: [0.2, 0.03, 0.1], radius: 0.05",
                   "is inside collider 0, a sphere, at the start (its distance is -0.02 m)");
    assert_refused("type: sphere, center: [0.2, 0.03, 0.1], radius: 0.05", "the triangle of nodes");
    assert_refused("type: sphere, center: [0.2, 0.06, 0.1], radius: 0.05", NULL);
    assert_refused("type: room, min: [-1, -1, -1], max: [0.4, 1, 1]",
                   "is outside collider 0, a room, at the start, 0.1 m beyond a wall");
    assert_refused("type: room, min: [-1, -1, -1], max: [0.4, 1, 1]",
                   "move the body into the room, or make the room larger, or use");
    assert_refused("type: room, min: [-1, -1, -1], max: [0.5003, 1, 1]",
                   "is too near to collider 0, a room, at the start (its distance is 0.0003");
    assert_refused("type: room, min: [-1, -1, -1], max: [1, 1, 1]", NULL);
}

// Nodes are moved out of a plane and of a ball that dips into a sheet; pinned nodes inside stay
// refused.
static void test_relaxing_moves_out(void **state)
{
    (void)state;
    for (int pinned = 0; pinned < 2; pinned++) {
        taut_scene *scene = scene_of(
            HEADER("verlet",
                   "0.001") "contact: {thickness: 0.01, existing: relax}\n"
                            "bodies:\n- {name: cloth, type: cloth, origin: [-0.5, 0, -0.5], u: [1, "
                            "0, 0],\n"
                            "   v: [0, 0, 1], nodes: [7, 7], mass: 1, spring: {stiffness: 10}%s}\n"
                            "colliders:\n- {type: sphere, center: [0.1, -0.06, 0.05], radius: 0.1, "
                            "response: contact}\n"
                            "- {type: plane, point: [-0.45, 0, 0], normal: [1, 0.3, 0], response: "
                            "contact}\n",
            pinned ? ", pins: [left]" : "");
        taut_solver *solver = NULL;
        taut_error error = {0};
        const taut_config config = {.threads = 2};
        const taut_status status = taut_solver_create(scene, &config, &solver, &error);
        assert_int_equal(status, pinned ? TAUT_ERROR_SCENE : TAUT_OK);
        if (pinned)
            assert_contains(error.text, "collider 1, a plane, at the start");
        if (pinned)
            assert_contains(error.text, "as 'existing: relax' found no way");
        if (!pinned) {
            struct everything all = everything_of(solver);
            const vec3 normal = vec3_scale(1 / sqrt(1.09), vec3_make(1, 0.3, 0));
            assert_true(triangle_distance(solver, &all, vec3_make(0.1, -0.06, 0.05)) > 0.108);
            for (uint64_t i = 0; i < all.nodes; i++) {
                const vec3 from = vec3_subtract(position_of(solver, i), vec3_make(-0.45, 0, 0));
                assert_true(vec3_dot(normal, from) > 0.008);
            }
            advance(solver, 100);
            free_everything(&all);
            taut_solver_destroy(solver);
        }
        taut_scene_destroy(scene);
    }
}

// A free body leaves a plane or sphere without being bent; one that is wider than a room is
// refused, with the room in the message.
static void test_relaxing_moves_free_bodies_as_a_whole(void **state)
{
    (void)state;
    static const struct {
        const char *collider;
        double farthest; // m, at most; 0: refused
    } cases[] = {
        {"type: plane, point: [0, 0.02, 0]", 0.0354},
        {"type: plane, point: [0, 0.19, 0]", 0.2054},
        {"type: sphere, radius: 0.1, center: [0.1, 0.1, -0.04]", 0.0754},
        {"type: sphere, radius: 0.1, center: [0.1, 0.1, 0.05]", 0.276},
        {"type: room, min: [0.02, -1, -1], max: [0.15, 1, 1]", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        taut_scene *scene = scene_of(
            "simulation: {dt: 0.001, steps: 1}\ncontact: {thickness: 0.01, existing: relax}\n"
            "bodies:\n- {name: a, type: lattice, nodes: [5, 5, 5], spacing: 0.05, mass: 1,\n"
            "   stiffness: 500}\n"
            "colliders:\n- {%s, response: contact}\n",
            cases[i].collider);
        taut_solver *solver = NULL;
        taut_error error = {0};
        taut_energy energy;
        const taut_status status = taut_solver_create(scene, NULL, &solver, &error);
        if (cases[i].farthest == 0) {
            assert_int_equal(status, TAUT_ERROR_SCENE);
            assert_contains(error.text, "is outside collider 0, a room");
        } else {
            assert_int_equal(status, TAUT_OK);
            assert_true(solver_surface_relaxed(solver).farthest > 0.02);
            assert_true(solver_surface_relaxed(solver).farthest < cases[i].farthest);
            assert_int_equal(taut_solver_energy(solver, &energy, &error), TAUT_OK);
            assert_true(energy.elastic < 1e-6); // J
            assert_true(energy.contact == 0);   // 1.53 thicknesses away
        }
        taut_solver_destroy(solver);
        taut_scene_destroy(scene);
    }
}

// A sphere with `response: contact` is not placed in a body, and stays where it was.
static void test_spheres_are_not_placed_in_bodies(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        "simulation: {dt: 0.001, steps: 1}\ncontact: {thickness: 0.01}\n"
        "bodies:\n- {name: a, type: lattice, nodes: [5, 5, 5], spacing: 0.05, mass: 1,\n"
        "   stiffness: 500}\n"
        "colliders:\n- {type: sphere, radius: 0.05, center: [0.1, 0.5, 0.1], response: contact}\n");
    taut_error error = {0};
    const double still[3] = {0, 0, 0}, inside[3] = {0.1, 0.22, 0.1}, beside[3] = {0.1, 0.27, 0.1};
    assert_int_equal(taut_solver_set_sphere(solver, 0, inside, still, &error), TAUT_ERROR_ARGUMENT);
    assert_contains(error.text, "would reach into body 'a'");
    assert_near(solver_sphere(solver, 0).centre.y, 0.5, 0);
    assert_int_equal(taut_solver_set_sphere(solver, 0, beside, still, &error), TAUT_OK);
    taut_solver_destroy(solver);
}

static void refuse_keys(const char *integrator, const char *contact, const char *keys,
                        const char *message)
{
    char *text =
        text_format("simulation: {integrator: %s, dt: 0.001, steps: 1}\n" CLOTH
                    "%scolliders:\n- {type: plane, point: [0, -1, 0], response: contact%s}\n",
                    integrator, contact, keys);
    char *messages;
    taut_scene *scene = read_scene(text, NULL, &messages);
    assert_null(scene);
    assert_contains(messages, message);
    free(messages);
    free(text);
}

// A sphere that passes the pins of a sheet: each of 30 steps counts once, however many of its
// substeps find no free path. It was 582 steps with xpbd.
static void test_steps_without_a_way_count_once(void **state)
{
    (void)state;
    static const char *const solved[] = {"xpbd, substeps: 20", "implicit_euler"};
    for (int i = 0; i < 2; i++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 100}\n"
                      "contact: {thickness: 0.012}\n"
                      "bodies:\n"
                      "- {name: a, type: cloth, origin: [-0.1, 0, 0.1], u: [0.2, 0, 0],\n"
                      "   v: [0, 0, -0.2], nodes: [5, 5], mass: 0.05, stiffness: 3000,\n"
                      "   damping: 0.3, pins: [left]}\n"
                      "colliders:\n"
                      "- {type: sphere, center: [0.3, 0.03, 0], radius: 0.12,\n"
                      "   velocity: [-4, 0, 0], response: contact}\n",
                      solved[i]);
        uint64_t counted = 0;
        for (int step = 0; step < 100; step++) {
            advance(solver, 1);
            const uint64_t now = solver_surface_cuts(solver).unresolved;
            assert_in_range(now - counted, 0, 1);
            counted = now;
        }
        assert_in_range(counted, 20, solver_surface_cuts(solver).steps);
        taut_solver_destroy(solver);
    }
}

static void test_keys_of_other_responses_are_refused(void **state)
{
    (void)state;
    const char *const contact = "contact: {thickness: 0.01}\n";
    refuse_keys("verlet", contact, ", stiffness: 10",
                "test.yaml:7:55: error: 'stiffness' is only for 'response: penalty'");
    refuse_keys("verlet", contact, ", absorption: 1", "'absorption' is only for");
    refuse_keys("verlet", contact, ", restitution: 1", "'restitution' is only for");
    refuse_keys("verlet", contact, ", keep: 1", "'keep' is only for 'response: project'");
    refuse_keys("verlet", contact, ", friction: 1", "'friction_coefficient' is for");
    refuse_keys(
        "verlet", "", "",
        "test.yaml:6:3: error: 'response: contact' of a collider acts by contact of surfaces");
}

// A collider without a memory of friction gets none, and nothing else of it changes.
static void test_setters_refuse_what_does_not_exist(void **state)
{
    (void)state;
    taut_error error;
    taut_solver *solver = slope_solver("verlet", "", "");
    taut_contact contact;
    assert_int_equal(taut_solver_get_contact(solver, 0, &contact, NULL), TAUT_OK);
    contact.friction_static = 0.3;
    assert_int_equal(taut_solver_set_contact(solver, 0, &contact, &error), TAUT_ERROR_ARGUMENT);
    contact.friction_static = 0;
    contact.stiffness = 5;
    assert_int_equal(taut_solver_set_contact(solver, 0, &contact, &error), TAUT_ERROR_ARGUMENT);
    assert_contains(error.text, "'response: contact'");
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sheets_rest_at_the_height_of_balance),
        cmocka_unit_test(test_implicit_steps_rest_at_the_same_height),
        cmocka_unit_test(test_forces_of_balls),
        cmocka_unit_test(test_a_coarse_cloth_stays_outside_a_small_ball),
        cmocka_unit_test(test_fast_bodies_do_not_pass),
        cmocka_unit_test(test_a_fast_ball_does_not_pass),
        cmocka_unit_test(test_bodies_stay_in_a_room),
        cmocka_unit_test(test_impacts_are_damped_with_friction),
        cmocka_unit_test(test_falling_bodies_come_to_rest_on_slopes),
        cmocka_unit_test(test_the_budget_of_a_moving_ball_closes),
        cmocka_unit_test(test_work_is_velocity_times_momentum),
        cmocka_unit_test(test_friction_on_a_slope),
        cmocka_unit_test(test_friction_of_cuts),
        cmocka_unit_test(test_implicit_friction_on_a_slope),
        cmocka_unit_test(test_implicit_friction_of_bounces),
        cmocka_unit_test(test_work_of_friction_on_a_moving_sphere),
        cmocka_unit_test(test_heat_on_a_large_sphere),
        cmocka_unit_test(test_which_friction_counts),
        cmocka_unit_test(test_heat_of_sliding),
        cmocka_unit_test(test_bits_do_not_depend_on_the_machine),
        cmocka_unit_test(test_implicit_bits),
        cmocka_unit_test(test_a_restored_run_continues_to_the_bit),
        cmocka_unit_test(test_automatic_steps_are_stable),
        cmocka_unit_test(test_implicit_impacts_gain_little_energy),
        cmocka_unit_test(test_short_implicit_steps_resolve_impacts),
        cmocka_unit_test(test_what_starts_inside_is_refused),
        cmocka_unit_test(test_relaxing_moves_out),
        cmocka_unit_test(test_relaxing_moves_free_bodies_as_a_whole),
        cmocka_unit_test(test_spheres_are_not_placed_in_bodies),
        cmocka_unit_test(test_steps_without_a_way_count_once),
        cmocka_unit_test(test_keys_of_other_responses_are_refused),
        cmocka_unit_test(test_setters_refuse_what_does_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
