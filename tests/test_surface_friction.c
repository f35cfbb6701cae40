// Coulomb friction with memory between surfaces (contact/surface_friction.c): patches on slopes and
// that slide to rest, on two triangles and on many; ropes around a cylinder; bodies that rub, with
// their momentum, angular momentum and energy; stacks that hold; the same bits for all threads,
// instruction sets and kernels, and after a restart.
#include "checkpoint_fixture.h"
#include "contact_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/topology.h"

static const double GRAVITY = 9.81, STIFFNESS = 100, THICKNESS = 0.004, MASS = 0.001;

static const char *const integrators[] = {
    "explicit_euler", "symplectic_euler",  "verlet", "velocity_verlet", "midpoint", "rk4", "xpbd",
    "implicit_euler", "implicit_midpoint", "bdf2"};
// Explicit Euler is the first: without damping it is unstable.
enum { STABLE = 1, EXPLICIT = 7, INTEGRATORS = sizeof integrators / sizeof integrators[0] };

// A patch of two triangles, with MASS at each of its nodes, on a fixed sheet of `cells` cells, as
// high as its weight lets it float. Gravity pulls along x with `tangent` times its downward force.
struct slope {
    const char *integrator, *coefficient, *precision;
    double dt, tangent, speed;
    int cells[2];
    double turned; // degrees, of the sheet about its normal
    double drag;   // N s/m, of the air on each node
    double soft;   // N/m, of a barrier too soft for the weight; 0: STIFFNESS
};

static double floating_height(double normal_force)
{
    const double g0 = THICKNESS / 2;
    return 1.5 * THICKNESS - sqrt(normal_force * g0 / (2 * STIFFNESS));
}

static taut_solver *slope_solver(struct slope it)
{
    const double across = 1 / sqrt(1 + it.tangent * it.tangent);
    const double height = it.soft > 0 ? 0.1 * THICKNESS : floating_height(MASS * GRAVITY * across);
    return solver_of(
        "precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
        "environment: {gravity: [" NUM ", " NUM ", 0], air_drag: " NUM "}\n"
        "contact: {thickness: " NUM ", stiffness: " NUM ", friction_coefficient: %s}\n"
        "bodies:\n"
        "- {name: patch, type: cloth, origin: [0, " NUM ", 0.1], u: [0.05, 0, 0],\n"
        "   v: [0, 0, 0.05], nodes: [2, 2], mass: " NUM ", velocity: [" NUM ", 0, 0],\n"
        "   springs: {structural: {stiffness: 100, damping: 0.02}, shear: {stiffness: 100}}}\n"
        "- {name: sheet, type: cloth, origin: [-0.5, 0, -0.5], u: [2, 0, 0], v: [0, 0, 1],\n"
        "   nodes: [%d, %d], mass: 1, pins: [{box: [[-9, -9, -9], [9, 9, 9]]}],\n"
        "   rotate: [0, " NUM ", 0], springs: {structural: {stiffness: 1}}}\n",
        it.precision ? it.precision : "double", it.integrator, it.dt, GRAVITY * across * it.tangent,
        -GRAVITY * across, it.drag, THICKNESS, it.soft > 0 ? it.soft : STIFFNESS, it.coefficient,
        height, 4 * MASS, it.speed, it.cells[0] + 1, it.cells[1] + 1, it.turned);
}

// The mean displacement of the patch along x.
static double patch_x(const taut_solver *solver)
{
    double sum = -0.025;
    for (uint64_t i = 0; i < 4; i++)
        sum += position_of(solver, i).x / 4;
    return sum;
}

static double patch_speed(const taut_solver *solver)
{
    double sum = 0;
    for (uint64_t i = 0; i < 4; i++)
        sum += velocity_of(solver, i).x / 4;
    return sum;
}

static double end_of(taut_solver *solver, double duration, double dt)
{
    advance(solver, (uint64_t)round(duration / dt));
    return patch_x(solver);
}

// a = g (sin - mu cos), from three positions, when the springs of the contacts have been stretched.
static double measured_acceleration(struct slope slope, double duration)
{
    taut_solver *solver = slope_solver(slope);
    double x[3];
    for (int i = 0; i < 3; i++)
        x[i] = end_of(solver, duration / 2, slope.dt);
    taut_solver_destroy(solver);
    const double time = duration / 2;
    return (x[2] - 2 * x[1] + x[0]) / (time * time);
}

static void test_slides_down_two_triangles(void **state)
{
    (void)state;
    for (size_t i = 0; i < INTEGRATORS; i++) {
        const struct slope slope = {.integrator = integrators[i],
                                    .coefficient = "0.49",
                                    .dt = 1e-4,
                                    .tangent = 0.5,
                                    .cells = {1, 1}};
        assert_near(measured_acceleration(slope, 0.6), 0.0877433, 1e-5 * 0.0877433);
    }
    static const char *const precisions[] = {"single", "mixed"};
    for (size_t p = 0; p < 2; p++) {
        const struct slope slope = {.integrator = "velocity_verlet",
                                    .coefficient = "0.49",
                                    .precision = precisions[p],
                                    .dt = 1e-4,
                                    .tangent = 0.5,
                                    .cells = {1, 1}};
        assert_near(measured_acceleration(slope, 0.6), 0.0877433, 0.01 * 0.0877433);
    }
}

// Where the barrier is too soft for the weight, cuts of the motion carry the patch, and have its
// friction. On many triangles edges that lie so near to each other cannot slide freely
// (numerics.md, "Cutting"), but what should hold does, once it has come to rest.
static void test_friction_of_cuts(void **state)
{
    (void)state;
    static const char *const precisions[] = {"double", "single", "mixed"};
    for (size_t i = 0; i < EXPLICIT; i++) {
        struct slope slope = {.integrator = integrators[i],
                              .coefficient = "0.4",
                              .precision = precisions[i % 3],
                              .dt = 1e-4,
                              .tangent = 0.5,
                              .cells = {1, 1},
                              .soft = 0.05};
        const double expected = GRAVITY * (0.5 - 0.4) / sqrt(1.25);
        assert_near(measured_acceleration(slope, 0.6), expected, 0.01 * expected);
        slope.coefficient = "0.6";
        for (int n = 0; n < (i < STABLE ? 1 : 2); n++) {
            slope.cells[0] = n == 0 ? 1 : 20;
            slope.cells[1] = n == 0 ? 1 : 10;
            taut_solver *solver = slope_solver(slope);
            const double x = end_of(solver, n == 0 ? 0.3 : 0.6, slope.dt);
            assert_true(solver_surface_cuts(solver).steps > 1000);
            assert_near(end_of(solver, 0.3, slope.dt), x, n == 0 ? 1e-6 : 5e-3);
            taut_solver_destroy(solver);
        }
    }
}

// On many triangles a node touches several triangles and edges at a time, and slides from each to
// the next. The sheet is turned, so that nodes cross edges of every direction; in air, in which the
// patch does not bounce for long, its last speed shows the friction.
static void test_slides_down_many_triangles(void **state)
{
    (void)state;
    static const int cells[] = {10, 40};
    const double drag = 0.02, across = 1 / sqrt(1.25);
    for (size_t c = 0; c < 2; c++) {
        const struct slope slope = {.integrator = "velocity_verlet",
                                    .coefficient = "0.4",
                                    .dt = 1e-4,
                                    .tangent = 0.5,
                                    .cells = {2 * cells[c], cells[c]},
                                    .turned = 20,
                                    .drag = drag};
        taut_solver *solver = slope_solver(slope);
        const double first = end_of(solver, 1, slope.dt),
                     speed = end_of(solver, 1, slope.dt) - first;
        assert_near(0.5 - drag * speed / (MASS * GRAVITY * across), 0.4, 0.005);
        taut_solver_destroy(solver);
    }
}

static void test_holds(void **state)
{
    (void)state;
    for (size_t i = STABLE; i < INTEGRATORS; i++)
        for (int fine = 0; fine < 2; fine++) {
            const struct slope slope = {.integrator = integrators[i],
                                        .coefficient = "0.51",
                                        .dt = 2e-4,
                                        .tangent = 0.5,
                                        .cells = {fine ? 80 : 1, fine ? 40 : 1},
                                        .turned = 20,
                                        .drag = 0.02};
            taut_solver *solver = slope_solver(slope);
            (void)end_of(solver, 2, slope.dt); // contacts are stretched, and at rest
            const vec3 start = position_of(solver, 0);
            (void)end_of(solver, quick() ? 1 : 3, slope.dt);
            assert_vector_near(position_of(solver, 0), start, 1e-9);
            taut_solver_destroy(solver);
        }
}

// Steps that are far longer than contacts vibrate: what slides and what holds is a matter of the
// system that the step solves.
static void test_long_implicit_steps(void **state)
{
    (void)state;
    static const char *const kinds[] = {"implicit_euler", "implicit_midpoint", "bdf2"};
    static const double steps[] = {1e-3, 1e-2, 5e-2};
    for (size_t i = 0; i < 3; i++)
        for (size_t h = 0; h < 3; h++) {
            struct slope slope = {.integrator = kinds[i],
                                  .coefficient = "0.49",
                                  .dt = steps[h],
                                  .tangent = 0.5,
                                  .cells = {1, 1}};
            assert_near(measured_acceleration(slope, 1), 0.0877433, 1e-3 * 0.0877433);
            slope.coefficient = "0.51";
            taut_solver *solver = slope_solver(slope);
            (void)end_of(solver, 2, slope.dt);
            const vec3 start = position_of(solver, 0);
            (void)end_of(solver, 10, slope.dt);
            assert_vector_near(position_of(solver, 0), start, i == 1 ? 2e-6 : 1e-12);
            taut_solver_destroy(solver);
        }
}

static void test_slides_to_rest(void **state)
{
    (void)state;
    const double mu = 0.3, distance = 1 / (2 * mu * GRAVITY), time = 1 / (mu * GRAVITY);
    for (size_t i = STABLE; i < INTEGRATORS; i++) {
        const struct slope slope = {.integrator = integrators[i],
                                    .coefficient = "0.3",
                                    .dt = 1e-4,
                                    .speed = 1,
                                    .cells = {1, 1}};
        taut_solver *solver = slope_solver(slope);
        while (patch_speed(solver) > 0)
            advance(solver, 1);
        assert_near(taut_solver_time(solver), time, 1e-3);
        const double x = end_of(solver, 2, slope.dt);
        assert_near(x, distance, 2e-4);
        assert_near(end_of(solver, 1, slope.dt), x, 1e-12);
        taut_solver_destroy(solver);
    }
}

// A floor of 8 x 8 cells of 0.75 m.
static const char *floor_mesh(void)
{
    char mesh[8000];
    size_t m = 0;
    for (int i = 0; i < 81; i++) {
        const int column = i % 9, row = i / 9;
        m += (size_t)snprintf(mesh + m, sizeof mesh - m, "v " NUM " 0 " NUM "\n",
                              0.75 * (column - 4), 0.75 * (row - 4));
    }
    for (int i = 0; i < 64; i++) {
        const int a = i / 8 * 9 + i % 8 + 1;
        m += (size_t)snprintf(mesh + m, sizeof mesh - m, "f %d %d %d\nf %d %d %d\n", a, a + 9,
                              a + 10, a, a + 10, a + 1);
    }
    assert_true(m < sizeof mesh - 1);
    return physics_file("floor.obj", mesh);
}

// Stiff light cloths that slide to rest, with steps of 36 times those in which they vibrate. A
// single linear system pulled at contacts, and further ones had the friction of the one before: the
// cloths came half as far, or nowhere.
static void test_stiff_cloths_slide_to_rest(void **state)
{
    (void)state;
    static const struct {
        const char *integrator;
        double speed;
        bool plane;
        double least, most; // of the distance v^2 / 2 mu g
    } cases[] = {
        // Methods of order 1 lose half a step of the first speed, 0.24 and 0.05 of the distances.
        {"implicit_euler", 0.1, false, 0.7, 0.85},
        {"implicit_euler", 0.5, false, 0.92, 1},
        {"implicit_euler", 2, true, 0.97, 1.01},
        {"bdf2", 0.5, false, 0.95, 1.02},
        {"implicit_midpoint", 0.5, true, 0.95, 1.02}};
    const double mu = 0.3, dt = 0.008;
    char mesh[4096];
    snprintf(mesh, sizeof mesh, "%s", floor_mesh());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double v = cases[i].speed, distance = v * v / (2 * mu * GRAVITY);
        char floor[5000];
        if (cases[i].plane)
            snprintf(floor, sizeof floor, "{type: plane, response: contact}");
        else
            snprintf(floor, sizeof floor, "{type: mesh, file: '%s', rotate: [0, 17, 0]}", mesh);
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
            "environment: {gravity: [0, -9.81, 0]}\n"
            "contact: {thickness: 0.005, friction_coefficient: " NUM "}\n"
            "bodies:\n- {name: patch, type: cloth, origin: [-0.1, 0.00755, -0.1], u: [0.2, 0, 0],\n"
            "   v: [0, 0, 0.2], nodes: [5, 5], mass: 0.01, velocity: [" NUM ", 0, 0],\n"
            "   spring: {stiffness: 8000, damping: 0.09}}\n"
            "colliders: [%s]\n",
            cases[i].integrator, dt, mu, v, floor);
        advance(solver, (uint64_t)ceil(1.5 * v / (mu * GRAVITY) / dt));
        const double part = position_of(solver, 12).x / distance;
        if (!(part > cases[i].least && part < cases[i].most))
            fail_msg("%s at %g m/s: %g of the distance", cases[i].integrator, v, part);
        taut_solver_destroy(solver);
    }
}

// ---- A rope around a cylinder

enum { FACETS = 48, LINKS = 75 };
static const double RADIUS = 0.1, LEG = 0.15, LINK_STIFFNESS = 2000, STRETCH = 1.03, PULL = 0.01;

// The path of the rope as it starts: up, over the upper half of the cylinder, and down.
static double path_radius(double thickness)
{
    return RADIUS + 1.3 * thickness;
}

static double path_length(double thickness)
{
    return 2 * LEG + PI * path_radius(thickness);
}

static void path_at(double thickness, double distance, double point[2])
{
    const double radius = path_radius(thickness), angle = (distance - LEG) / radius;
    const double turned = fmax(0, fmin(PI, angle));
    point[0] = -radius * cos(turned);
    point[1] = radius * sin(turned);
    if (angle < 0)
        point[1] = distance - LEG;
    else if (angle > PI)
        point[1] = LEG + PI * radius - distance;
}

// A fixed cylinder of facets, and a rope that is pulled over it, in air.
static taut_solver *capstan_of(double coefficient, double thickness, double dt)
{
    char mesh[20000], state[40000], mesh_path[4096];
    size_t m = 0, s = 0;
    s += (size_t)snprintf(state + s, sizeof state - s, "body,node,x,y,z,vx,vy,vz\n");
    for (int i = 0; i < 2 * FACETS; i++) {
        const int facet = i / 2;
        const double angle = 2 * PI * (facet + 0.3) / FACETS, z = i % 2 ? 0.053 : -0.047;
        m += (size_t)snprintf(mesh + m, sizeof mesh - m, "v " NUM " " NUM " " NUM "\n",
                              RADIUS * cos(angle), RADIUS * sin(angle), z);
        s += (size_t)snprintf(state + s, sizeof state - s,
                              "cylinder,%d," NUM "," NUM "," NUM ",0,0,0\n", i, RADIUS * cos(angle),
                              RADIUS * sin(angle), z);
    }
    for (int i = 0; i < FACETS; i++) {
        const int a = 2 * i + 1, b = (2 * i + 2) % (2 * FACETS) + 1;
        m += (size_t)snprintf(mesh + m, sizeof mesh - m, "f %d %d %d\nf %d %d %d\n", a, b, a + 1, b,
                              b + 1, a + 1);
    }
    for (int i = 0; i <= LINKS; i++) {
        double point[2];
        path_at(thickness, path_length(thickness) * i / LINKS, point);
        s += (size_t)snprintf(state + s, sizeof state - s, "rope,%d," NUM "," NUM ",0,0,0,0\n", i,
                              point[0], point[1]);
    }
    assert_true(m < sizeof mesh - 1 && s < sizeof state - 1);
    snprintf(mesh_path, sizeof mesh_path, "%s", physics_file("cylinder.obj", mesh));
    return solver_of(
        "precision: double\nsimulation: {integrator: velocity_verlet, dt: " NUM ", steps: 1}\n"
        "environment: {gravity: [0, 0, 0], air_drag: 0.006}\ninitial: '%s'\n"
        "contact: {thickness: " NUM ", stiffness: 50, friction_coefficient: " NUM "}\n"
        "bodies:\n"
        "- {name: cylinder, type: mesh, file: '%s', mass: 1, stiffness: 1,\n"
        "   pins: [{box: [[-9, -9, -9], [9, 9, 9]]}]}\n"
        "- {name: rope, type: rope, from: [0, 0, 0], to: [" NUM ", 0, 0], nodes: %d, mass: 0.05,\n"
        "   springs: {chain: {stiffness: " NUM ", damping: 0.2}},\n"
        "   drives: [{node: first, velocity: [0, " NUM ", 0]},\n"
        "            {node: last, velocity: [0, " NUM ", 0]}]}\n",
        dt, physics_file("capstan.csv", state), thickness, coefficient, mesh_path,
        path_length(thickness) / STRETCH, LINKS + 1, LINK_STIFFNESS, PULL, -PULL);
}

// N, over eight links of one of the legs.
static double tension_of(const taut_solver *solver, double thickness, bool last)
{
    double sum = 0;
    for (int i = 1; i < 9; i++) {
        const uint64_t a = 2 * FACETS + (uint64_t)(last ? LINKS - i : i), b = last ? a - 1 : a + 1;
        sum += vec3_length(vec3_subtract(position_of(solver, a), position_of(solver, b)));
    }
    return LINK_STIFFNESS * (sum / 8 - path_length(thickness) / STRETCH / LINKS);
}

// T2 / T1 = exp(mu pi): 2.566 for mu = 0.3.
static void test_a_rope_around_a_cylinder(void **state)
{
    (void)state;
    const double thickness = 0.002, dt = 2e-4;
    taut_solver *solver = capstan_of(0.3, thickness, dt);
    double first = 0, last = 0;
    advance(solver, 4000);
    for (int i = 0; i < 70; i++) {
        advance(solver, 50);
        first += tension_of(solver, thickness, false);
        last += tension_of(solver, thickness, true);
    }
    assert_near(last / first, exp(0.3 * PI), 0.02 * exp(0.3 * PI));
    taut_solver_destroy(solver);
}

// ---- Momentum and energy

// Two balls that meet off their centres, so that they rub and begin to turn.
static taut_solver *balls_of(const char *integrator, const char *coefficient, double dt)
{
    return solver_of(
        "precision: double\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
        "environment: {gravity: [0, 0, 0]}\n"
        "contact: {thickness: 0.01, stiffness: 200, friction_coefficient: %s}\n"
        "bodies:\n"
        "- {name: a, type: sphere, center: [-0.075, 0.04, 0.01], radius: 0.06, subdivisions: 2,\n"
        "   mass: 0.05, velocity: [1, 0, 0.1], rotate: [10, 20, 30],\n"
        "   springs: {edges: {stiffness: 300}, second: {stiffness: 300}}}\n"
        "- {name: b, type: sphere, center: [0.075, -0.03, 0], radius: 0.06, subdivisions: 2,\n"
        "   mass: 0.05, velocity: [-1, 0, 0],\n"
        "   springs: {edges: {stiffness: 300}, second: {stiffness: 300}}}\n",
        integrator, dt, coefficient);
}

// The angular momentum of the half with the ball a about its centre of mass.
static double spin_of(const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    const uint64_t nodes = topology->node_count / 2;
    vec3 centre = {0, 0, 0}, spin = {0, 0, 0};
    for (uint64_t i = 0; i < nodes; i++)
        centre = vec3_add(centre, vec3_scale(1 / (double)nodes, position_of(solver, i)));
    for (uint64_t i = 0; i < nodes; i++) {
        const double mass = topology_mass(topology, topology_internal_node(topology, i));
        spin = vec3_add(spin, vec3_cross(vec3_subtract(position_of(solver, i), centre),
                                         vec3_scale(mass, velocity_of(solver, i))));
    }
    return vec3_length(spin);
}

static void test_momentum_is_kept(void **state)
{
    (void)state;
    static const char *const kinds[] = {"symplectic_euler", "velocity_verlet", "rk4"};
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = balls_of(kinds[i], "0.5", 5e-5);
        vec3 angular_before, angular;
        const vec3 before = momentum_of(solver, &angular_before);
        advance(solver, 1600);
        const vec3 after = momentum_of(solver, &angular);
        assert_vector_near(after, before, 1e-12);
        // In the stages of rk4 forces act elsewhere than at the positions that they belong to.
        assert_vector_near(angular, angular_before, i == 2 ? 1e-11 : 1e-14);
        assert_true(spin_of(solver) > 1e-4);
        taut_solver_destroy(solver);
    }
}

// Runs a solver to its end, s, and frees it. Returns the magnitude of the residual of its budget,
// J.
static double residual_at(taut_solver *solver, double end, double *heat)
{
    const double before = energy_of(solver).total;
    advance(solver, (uint64_t)round(end / taut_solver_dt(solver)));
    const double residual = fabs(residual_of(solver, before));
    *heat = work_of(solver).friction;
    taut_solver_destroy(solver);
    return residual;
}

// The heat of friction is the loss of energy, the more exactly the smaller the steps.
static void test_heat_is_what_the_energy_loses(void **state)
{
    (void)state;
    static const char *const coefficients[] = {"0.3", "{static: 0.8, kinetic: 0.4}"};
    for (size_t c = 0; c < 2; c++) {
        double residuals[3], heat = 0;
        for (int i = 0; i < 3; i++) {
            const double dt = 8e-5 / (1 << i);
            residuals[i] =
                residual_at(balls_of("velocity_verlet", coefficients[c], dt), 0.08, &heat);
        }
        assert_true(heat > 1e-3);
        assert_true(residuals[2] < 0.01 * heat);
        assert_true(residuals[2] < 0.7 * residuals[0]);
    }
}

// Ropes that meet crosswise and turn: their contacts hold while edges turn, come closer and are
// stretched.
static void test_heat_of_edges_that_turn(void **state)
{
    (void)state;
    static const char *const rules[] = {"0.5", "{static: 0.8, kinetic: 0.4}"};
    for (size_t r = 0; r < 2; r++) {
        double residuals[2], heat = 0;
        for (int i = 0; i < 2; i++) {
            const double dt = i == 0 ? 1e-5 : 2.5e-6;
            taut_solver *solver = solver_of(
                "precision: double\n"
                "simulation: {integrator: velocity_verlet, dt: " NUM ", duration: 1}\n"
                "contact: {thickness: 0.004, friction_coefficient: %s}\n"
                "bodies:\n"
                "  - {name: a, type: rope, from: [-0.08,0,0], to: [0.08,0,0], nodes: 13,\n"
                "     links: skip, mass: 0.05, spring: {stiffness: 1000}, velocity: [0.9,3,0]}\n"
                "  - {name: b, type: rope, from: [-0.08,0,0], to: [0.08,0,0], nodes: 13,\n"
                "     links: skip, mass: 0.05, spring: {stiffness: 1000}, rotate: [0,70,0],\n"
                "     translate: [0.01,0.012,0.01], velocity: [0,-3,0.9]}\n",
                dt, rules[r]);
            residuals[i] = residual_at(solver, 0.0166, &heat);
        }
        assert_true(heat > 1e-3);
        assert_true(residuals[0] < 0.01 * heat);
        assert_true(residuals[1] < 0.7 * residuals[0]);
    }
}

// The same of implicit steps, whose friction is that of the equations: ropes that meet crosswise,
// and two sheets that slide on each other.
static void test_heat_of_implicit_steps(void **state)
{
    (void)state;
    static const struct {
        const char *bodies;
        double end, most;
    } cases[] = {
        {"contact: {thickness: 0.004, friction_coefficient: 0.5, stiffness: 20000}\n"
         "bodies:\n"
         "  - {name: a, type: rope, from: [-0.08,0,0], to: [0.08,0,0], nodes: 13,\n"
         "     links: skip, mass: 0.05, spring: {stiffness: 1000}, velocity: [0.9,3,0]}\n"
         "  - {name: b, type: rope, from: [-0.08,0,0], to: [0.08,0,0], nodes: 13,\n"
         "     links: skip, mass: 0.05, spring: {stiffness: 1000}, rotate: [0,70,0],\n"
         "     translate: [0.01,0.012,0.01], velocity: [0,-3,0.9]}\n",
         0.0166, 0.006},
        {"contact: {thickness: 0.004, friction_coefficient: 0.5, stiffness: 2000}\n"
         "bodies:\n"
         "  - {name: a, type: cloth, origin: [0,0,0], u: [0.2,0,0], v: [0,0,0.2], nodes: [9,9],\n"
         "     mass: 0.05, velocity: [-0.5,0.7,0], springs: {structural: {stiffness: 300},\n"
         "     shear: {stiffness: 100}}}\n"
         "  - {name: b, type: cloth, origin: [0.02,0.012,0.01], u: [0.2,0,0.03],\n"
         "     v: [-0.03,0,0.2], nodes: [8,8], mass: 0.05, velocity: [0.5,-0.7,0.2],\n"
         "     springs: {structural: {stiffness: 300}, shear: {stiffness: 100}}}\n",
         0.03, 0.006}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double heat = 0;
        taut_solver *solver =
            solver_of(HEADER("implicit_midpoint", "2.5e-5") "%s", cases[i].bodies);
        const double residual = residual_at(solver, cases[i].end, &heat);
        assert_true(heat > 1e-3);
        assert_true(residual < cases[i].most * heat);
    }
}

// Ropes that meet side by side and slide along each other: the heat, and nothing without friction.
static void test_heat_of_ropes_side_by_side(void **state)
{
    (void)state;
    static const double offsets[] = {0, 0.013, 0.025};
    for (int i = 0; i < 6; i++) {
        const double offset = offsets[i / 2];
        double heat = 0;
        taut_solver *solver = solver_of(
            HEADER("velocity_verlet",
                   "1e-5") "contact: {thickness: 0.01, stiffness: 1e6, friction_coefficient: %s}\n"
                           "bodies:\n- {name: a, type: rope, from: [0,0,0], to: [1,0,0], nodes: "
                           "21, mass: 5,\n"
                           "   stiffness: 1e5, velocity: [0,1,0]}\n"
                           "- {name: b, type: rope, from: [" NUM ",0.0155,0.003], to: [" NUM
                           ",0.0155,0.003],\n"
                           "   nodes: 21, mass: 5, stiffness: 1e5, velocity: [0.7,-1,0.3]}\n",
            i % 2 == 0 ? "0" : "0.3", offset, 1 + offset);
        const double residual = residual_at(solver, 0.02, &heat);
        if (i % 2 == 0) {
            assert_true(residual < 1e-4); // of 6.45 J
        } else {
            assert_true(heat > 0.4);
            assert_true(residual < 0.01 * heat);
        }
    }
}

// Ropes that meet at small angles, or side by side with other nodes: the angle of their edges, and
// which ends are beside the other edge, change while contacts hold and slide.
static void test_heat_of_ropes_at_small_angles(void **state)
{
    (void)state;
    static const struct {
        const char *coefficient, *a, *b;
    } cases[] = {
        {"0.8", "nodes: 4, node_mass: 0.0112, stiffness: 6052",
         "from: [-0.315685041, 0.017, -0.0149977501], to: [0.683864993, 0.017, 0.0149977501],\n"
         "nodes: 3, node_mass: 0.00578, stiffness: 3123, velocity: [0, -0.5, 0.01]"},
        {"0.8", "nodes: 2, node_mass: 0.0041488, stiffness: 2966.5",
         "from: [-0.731968637, 0.017, -0.00821664016], to: [0.267896327, 0.017, 0.00821664016],\n"
         "nodes: 4, node_mass: 0.018237, stiffness: 2396.7, velocity: [0.4029, -0.5, 0.008504]"},
        {"0.5", "nodes: 5, node_mass: 0.014371, stiffness: 1388.7",
         "from: [-0.600196406, 0.02, 0], to: [0.399803594, 0.02, 0],\n"
         "nodes: 4, node_mass: 0.014669, stiffness: 1025.3, velocity: [0.3724, -0.5, 0.05]"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double residuals[2], heat = 0;
        for (int i = 0; i < 2; i++) {
            taut_solver *solver =
                solver_of("precision: double\n"
                          "simulation: {integrator: velocity_verlet, dt: " NUM ", duration: 1}\n"
                          "contact: {thickness: 0.01, friction_coefficient: %s}\n"
                          "bodies:\n"
                          "  - {name: a, type: rope, from: [-0.5, 0, 0], to: [0.5, 0, 0], %s}\n"
                          "  - {name: b, type: rope, %s}\n",
                          i == 0 ? 5e-5 : 1.25e-5, cases[c].coefficient, cases[c].a, cases[c].b);
            vec3 angular_before, angular;
            const double before = energy_of(solver).total;
            (void)momentum_of(solver, &angular_before);
            advance(solver, (uint64_t)round(0.2 / taut_solver_dt(solver)));
            (void)momentum_of(solver, &angular);
            assert_vector_near(angular, angular_before, 1e-13);
            residuals[i] = fabs(residual_of(solver, before));
            heat = work_of(solver).friction;
            taut_solver_destroy(solver);
        }
        assert_true(heat > 5e-4);
        assert_true(residuals[0] < 2e-3 * heat);
        assert_true(residuals[1] < 0.4 * residuals[0]);
    }
}

// ---- Mesh colliders

// A patch that slides over a mesh of triangles 0.8 mm wide and 400 mm long: of those that carry a
// node, by a soft barrier, most are several times their width beside it.
static void test_slides_over_slivers(void **state)
{
    (void)state;
    enum { STRIPS = 360 };
    const double drag = 0.02, tangent = 0.5, across = 1 / sqrt(1 + tangent * tangent);
    char mesh[30000], path[4096];
    size_t m = 0;
    for (int i = 0; i <= STRIPS; i++)
        m += (size_t)snprintf(mesh + m, sizeof mesh - m, "v %g 0 -0.1\nv %g 0 0.3\n",
                              -0.05 + 8e-4 * i, -0.05 + 8e-4 * i);
    for (int i = 0; i < STRIPS; i++)
        m += (size_t)snprintf(mesh + m, sizeof mesh - m, "f %d %d %d\nf %d %d %d\n", 2 * i + 1,
                              2 * i + 2, 2 * i + 4, 2 * i + 1, 2 * i + 4, 2 * i + 3);
    assert_true(m < sizeof mesh - 1);
    snprintf(path, sizeof path, "%s", physics_file("strips.obj", mesh));
    taut_solver *solver = solver_of(
        "precision: double\nsimulation: {integrator: velocity_verlet, dt: 1e-4, steps: 1}\n"
        "environment: {gravity: [" NUM ", " NUM ", 0], air_drag: " NUM "}\n"
        "contact: {thickness: " NUM ", stiffness: " NUM ", friction_coefficient: 0.4}\n"
        "bodies:\n"
        "- {name: patch, type: cloth, origin: [0, " NUM ", 0.1], u: [0.05, 0, 0],\n"
        "   v: [0, 0, 0.05], nodes: [2, 2], mass: " NUM ",\n"
        "   springs: {structural: {stiffness: 100, damping: 0.02}, shear: {stiffness: 100}}}\n"
        "colliders: [{type: mesh, file: '%s'}]\n",
        GRAVITY * across * tangent, -GRAVITY * across, drag, THICKNESS, 1.0, 1.3 * THICKNESS,
        4 * MASS, path);
    const double first = end_of(solver, 1, 1e-4), speed = end_of(solver, 0.5, 1e-4) - first;
    assert_near(tangent - drag * 2 * speed / (MASS * GRAVITY * across), 0.4, 0.02);
    taut_solver_destroy(solver);
}

// A patch on a belt, a mesh collider that begins to move, is carried along.
static void test_a_mesh_collider_carries(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s",
             physics_file("belt.obj", "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\n"
                                      "f 1 3 2\nf 1 4 3\n"));
    for (size_t i = STABLE; i < INTEGRATORS; i++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: %s, dt: 1e-4, steps: 1}\n"
            "environment: {gravity: [0, " NUM ", 0]}\n"
            "contact: {thickness: " NUM ", stiffness: " NUM "}\n"
            "bodies:\n"
            "- {name: patch, type: cloth, origin: [0, " NUM ", 0.1], u: [0.05, 0, 0],\n"
            "   v: [0, 0, 0.05], nodes: [2, 2], mass: " NUM ",\n"
            "   springs: {structural: {stiffness: 100, damping: 0.02}, shear: {stiffness: 100}}}\n"
            "colliders: [{type: mesh, file: '%s', friction_coefficient: 0.5,\n"
            "             motion: {velocity: [0.1, 0, 0]}}]\n",
            integrators[i], -GRAVITY, THICKNESS, STIFFNESS, floating_height(MASS * GRAVITY),
            4 * MASS, path);
        const double start = energy_of(solver).total;
        const double x = end_of(solver, 0.5, 1e-4);
        const struct work_done work = work_of(solver);
        // 0.5 g brings it to the speed of the belt, from which it loses half of the distance.
        const double lost = 0.1 * 0.1 / (2 * 0.5 * GRAVITY);
        assert_near(x, 0.05 - lost, 2e-4);
        assert_near(patch_speed(solver), 0.1, 1e-3);
        assert_true(work.drives > 3e-5); // twice the kinetic energy, half of which is heat
        assert_near(energy_of(solver).total - start - work.drives + work.friction + work.damping, 0,
                    0.03 * work.drives);
        taut_solver_destroy(solver);
    }
}

// ---- Stacks

// Three sheets on a fourth one that is held, on a slope of 0.1, in air.
#define STACK                                                                                      \
    "environment: {gravity: [0.976, -9.76, 0], air_drag: 0.02}\n"                                  \
    "contact: {thickness: 0.01, stiffness: 50, friction_coefficient: %s}\n"                        \
    "bodies:\n"                                                                                    \
    "- {name: floor, type: cloth, origin: [-0.3, 0, -0.3], u: [0.6, 0, 0], v: [0.02, 0, 0.6],\n"   \
    "   nodes: [11, 14], mass: 0.1, pins: [{box: [[-9, -9, -9], [9, 9, 9]]}], stiffness: 100}\n"   \
    "- {name: a, type: cloth, origin: [-0.15, 0.012, -0.15], u: [0.3, 0, 0], v: [0, 0, 0.3],\n"    \
    "   nodes: [8, 7], mass: 0.05, damping: 0.05, stiffness: 100}\n"                               \
    "- {name: b, type: cloth, origin: [-0.15, 0.024, -0.15], u: [0.28, 0, 0.05],\n"                \
    "   v: [-0.05, 0, 0.28], nodes: [9, 8], mass: 0.05, damping: 0.05, stiffness: 100}\n"          \
    "- {name: c, type: cloth, origin: [-0.14, 0.036, -0.16], u: [0.29, 0, 0], v: [0, 0, 0.29],\n"  \
    "   nodes: [7, 8], mass: 0.05, damping: 0.05, stiffness: 100}\n"

static void test_a_stack_holds(void **state)
{
    (void)state;
    const double dt = 4e-4;
    for (int slides = 0; slides < 2; slides++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: symplectic_euler, dt: 4e-4, "
                      "steps: 1}\n" STACK,
                      slides ? "0.05" : "0.6");
        advance(solver, (uint64_t)round(2 / dt));
        const vec3 before = position_of(solver, solver_topology(solver)->node_count - 1);
        advance(solver, (uint64_t)round(0.5 / dt));
        const vec3 after = position_of(solver, solver_topology(solver)->node_count - 1);
        if (slides)
            assert_true(after.x > before.x + 0.005);
        else
            assert_vector_near(after, before, 1e-9);
        taut_solver_destroy(solver);
    }
}

// ---- The same bits

static uint64_t hash_of_stack(const void *context, const struct solver_options *options)
{
    const char *const *which = context;
    taut_solver *solver = solver_from(
        scene_of("precision: %s\nsimulation: {integrator: %s, dt: 4e-4, steps: 1}\n" STACK,
                 which[0], which[1], "{static: 0.12, kinetic: 0.06}"),
        options);
    advance(solver, strstr("implicit_euler implicit_midpoint bdf2", which[1]) ? 150 : 500);
    assert_true(work_of(solver).friction > 0);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_bits_do_not_depend_on_the_machine(void **state)
{
    (void)state;
    assert_same_hashes(hash_of_stack, (const char *[]){"double", "velocity_verlet"});
    assert_same_hashes(hash_of_stack, (const char *[]){"single", "symplectic_euler"});
    assert_same_hashes(hash_of_stack, (const char *[]){"mixed", "rk4"});
    assert_same_hashes(hash_of_stack, (const char *[]){"double", "implicit_euler"});
    assert_same_hashes(hash_of_stack, (const char *[]){"mixed", "implicit_midpoint"});
    assert_same_hashes(hash_of_stack, (const char *[]){"single", "bdf2"});
    assert_same_hashes(hash_of_stack, (const char *[]){"single", "xpbd"});
}

// The energy budget, which includes the memory, is the same too.
static void test_a_restored_run_continues_to_the_bit(void **state)
{
    (void)state;
    for (size_t i = STABLE; i < INTEGRATORS; i++) {
        taut_scene *scene =
            scene_of("precision: %s\nsimulation: {integrator: %s, dt: 4e-4, steps: 4000}\n" STACK,
                     i % 2 ? "single" : "double", integrators[i], "{static: 0.12, kinetic: 0.06}");
        const taut_config config = {.threads = 1};
        taut_solver *solver = create_with(scene, &config);
        advance(solver, 177);
        const struct saved saved = save(solver);
        taut_solver *next = restore_with(scene, saved, &config);
        advance(solver, 100);
        advance(next, 100);
        assert_int_equal(taut_solver_hash(solver), taut_solver_hash(next));
        assert_same_bits(work_of(solver).friction, work_of(next).friction);
        assert_true(work_of(solver).friction > 0);
        taut_bytes_release(saved.bytes);
        taut_solver_destroy(solver);
        taut_solver_destroy(next);
        taut_scene_destroy(scene);
    }
}

// ---- Coefficients

static void test_which_coefficients_count(void **state)
{
    (void)state;
    taut_scene *scene =
        scene_of("simulation: {dt: 1e-4, steps: 1}\n"
                 "contact: {thickness: 0.01, friction_coefficient: 0.4,\n"
                 "  pairs: [{bodies: [d, a], friction_coefficient: {static: 0.2, kinetic: 0.1}}]}\n"
                 "bodies:\n"
                 "- {name: a, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 9, mass: 1,\n"
                 "   stiffness: 1, contact: {friction_coefficient: 0.9}}\n"
                 "- {name: b, type: rope, from: [0, 1, 0], to: [1, 1, 0], nodes: 9, mass: 1,\n"
                 "   stiffness: 1, contact: {friction_coefficient: {static: 0.4, kinetic: 0.1}}}\n"
                 "- {name: c, type: rope, from: [0, 2, 0], to: [1, 2, 0], nodes: 9, mass: 1,\n"
                 "   stiffness: 1}\n"
                 "- {name: d, type: rope, from: [0, 3, 0], to: [1, 3, 0], nodes: 9, mass: 1,\n"
                 "   stiffness: 1}\n");
    const double expected[4][4] = {{0.9, 0.6, 0.9, 0.2}, // sqrt(0.9 0.4)
                                   {0.6, 0.4, 0.4, 0.4},
                                   {0.9, 0.4, 0.4, 0.4},
                                   {0.2, 0.4, 0.4, 0.4}};
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++)
            assert_near(scene_friction_between(scene, a, b).static_coefficient, expected[a][b],
                        1e-15);
    assert_near(scene_friction_between(scene, 0, 1).kinetic_coefficient, 0.3, 1e-15);
    assert_near(scene_friction_between(scene, 0, 3).kinetic_coefficient, 0.1, 1e-15);
    taut_scene_destroy(scene);
}

// ---- The guaranteed step

static double guaranteed_step(const char *integrator, const char *coefficient)
{
    taut_solver *solver =
        solver_of("precision: double\nsimulation: {integrator: %s, dt: 1e-4, steps: 1}\n"
                  "contact: {thickness: 0.01, stiffness: 50, friction_coefficient: %s}\n"
                  "bodies:\n"
                  "- {name: a, type: cloth, origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0, 1],\n"
                  "   nodes: [5, 5], mass: 0.1, stiffness: 1e-6}\n"
                  "- {name: b, type: cloth, origin: [0, 0.1, 0], u: [1, 0, 0], v: [0, 0, 1],\n"
                  "   nodes: [5, 5], mass: 0.1, stiffness: 1e-6}\n",
                  integrator, coefficient);
    taut_critical_step step;
    taut_error error = {0};
    assert_int_equal(taut_solver_critical_step(solver, 0, &step, &error), TAUT_OK);
    taut_solver_destroy(solver);
    return step.dt_bound;
}

// With springs of nearly no stiffness, xpbd has the limit of symplectic Euler, whose substep takes
// forces of contact and friction in the same way.
static void test_the_guaranteed_step_of_xpbd(void **state)
{
    (void)state;
    static const char *const coefficients[] = {"0", "0.5"};
    double steps[2];
    for (int i = 0; i < 2; i++) {
        const double expected = guaranteed_step("symplectic_euler", coefficients[i]);
        steps[i] = guaranteed_step("xpbd, substeps: 1", coefficients[i]);
        assert_near(steps[i], expected, 0.01 * expected);
    }
    assert_true(steps[1] < 0.95 * steps[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slides_down_two_triangles),
        cmocka_unit_test(test_slides_down_many_triangles),
        cmocka_unit_test(test_friction_of_cuts),
        cmocka_unit_test(test_holds),
        cmocka_unit_test(test_long_implicit_steps),
        cmocka_unit_test(test_slides_to_rest),
        cmocka_unit_test(test_stiff_cloths_slide_to_rest),
        cmocka_unit_test(test_a_rope_around_a_cylinder),
        cmocka_unit_test(test_momentum_is_kept),
        cmocka_unit_test(test_heat_is_what_the_energy_loses),
        cmocka_unit_test(test_heat_of_edges_that_turn),
        cmocka_unit_test(test_heat_of_implicit_steps),
        cmocka_unit_test(test_heat_of_ropes_side_by_side),
        cmocka_unit_test(test_heat_of_ropes_at_small_angles),
        cmocka_unit_test(test_slides_over_slivers),
        cmocka_unit_test(test_a_mesh_collider_carries),
        cmocka_unit_test(test_a_stack_holds),
        cmocka_unit_test(test_bits_do_not_depend_on_the_machine),
        cmocka_unit_test(test_a_restored_run_continues_to_the_bit),
        cmocka_unit_test(test_which_coefficients_count),
        cmocka_unit_test(test_the_guaranteed_step_of_xpbd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
