// A run beyond its stability limit is stopped and explained; a violent but stable one is not
// stopped.
#include "contact_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const char *const ropes =
    "bodies:\n"
    "  - {name: calm, type: rope, from: [0,0,0], to: [1,0,0], nodes: 4, node_mass: 1,\n"
    "     spring: {stiffness: 10}}\n"
    "  - {name: stiff, type: network, nodes: [[0,0,0],[1,0,0],[2,0,0],[3,0,0]], pins: [0],\n"
    "     node_mass: [1,1,1,1], velocities: [[0,0,0],[0,0,0],[0,0,0],[0.01,0,0]],\n"
    "     springs: [[0,1,{stiffness: 10}],[1,2,{stiffness: 20}],[2,3,{stiffness: 40000}]]}\n";

// The message has the time, step, body, node, the stiffest spring there, dt and the critical step.
static void test_beyond_the_limit(void **state)
{
    (void)state;
    static const char *const integrators[] = {
        "symplectic_euler", "verlet", "velocity_verlet", "rk4", "explicit_euler", "midpoint"};
    for (int i = 0; i < 6; i++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: %s, dt: 0.02, steps: 1}\n%s",
                      integrators[i], ropes);
        taut_error error = {0};
        assert_int_equal(taut_solver_step(solver, 10000, &error), TAUT_ERROR_DIVERGED);
        assert_int_equal(error.code, TAUT_ERROR_DIVERGED);
        assert_contains(error.text, "diverged at t = ");
        assert_contains(error.text, "step ");
        assert_contains(error.text, "body 'stiff'");
        assert_contains(error.text, "number 2 with 40000 N/m");
        assert_contains(error.text, "dt is 0.02 s");
        assert_contains(error.text, integrators[i]);
        assert_true(taut_solver_step_count(solver) < 1000);
        // The run stays diverged.
        assert_int_equal(taut_solver_step(solver, 1, NULL), TAUT_ERROR_DIVERGED);
        taut_solver_destroy(solver);
    }
}

// Energy growth that only instability explains is found long before numbers overflow: explicit
// Euler multiplies the energy by 1 + y^2 = 1.04 per step, a factor of 100 after 118 steps; checks
// every 16 steps may fall on its turning points for a while, where all energy is elastic.
static void test_growth_is_found_early(void **state)
{
    (void)state;
    taut_solver *solver = oscillator_of((struct oscillator){"explicit_euler", 1, 0.2, 1, 0, 0});
    assert_int_equal(taut_solver_step(solver, 100, NULL), TAUT_OK);
    assert_int_equal(taut_solver_step(solver, 1000, NULL), TAUT_ERROR_DIVERGED);
    assert_true(taut_solver_step_count(solver) < 400);
    assert_true(fabs(position_of(solver, 1).x) < 3000);
    taut_solver_destroy(solver);
}

// Found as soon as numbers overflow, in single precision too, and never reported as a collapse of
// the gas.
static void test_not_finite(void **state)
{
    (void)state;
    taut_solver *solver =
        solver_of("precision: single\nsimulation: {dt: 10, steps: 1}\n"
                  "bodies: [{name: ball, type: sphere, center: [0,0,0], radius: 1, mass: 1,\n"
                  "  subdivisions: 1, velocity: [1,0,0], springs: {edges: {stiffness: 1e30}},\n"
                  "  pressure: {amount: 1, inflate: 0.1, volume: box}}]\n");
    taut_error error = {0};
    assert_int_equal(taut_solver_step(solver, 1000, &error), TAUT_ERROR_DIVERGED);
    assert_contains(error.text, "body 'ball'");
    taut_solver_destroy(solver);
}

// Stable, though violent: none of these runs may be stopped.
static void assert_runs(const char *name, const char *integrator, const char *dt, uint64_t steps,
                        const char *text)
{
    static const char *const precisions[] = {"single", "double"};
    for (int p = 0; p < 2; p++) {
        taut_solver *solver =
            solver_of("precision: %s\nsimulation: {integrator: %s, dt: %s, steps: 1}\n%s",
                      precisions[p], integrator, dt, text);
        taut_error error = {0};
        if (taut_solver_step(solver, steps, &error) != TAUT_OK)
            fail_msg("%s: %s", name, error.text);
        taut_solver_destroy(solver);
    }
}

#define JELLY(more)                                                                                \
    "bodies: [{name: j, type: lattice, origin: [0,1,0], nodes: [4,4,4], spacing: 0.1, mass: 1,\n"  \
    "  springs: {k1: {stiffness: 500, damping: 0.05}, k2: {stiffness: 300}}" more "}]\n"
#define SHEET(more)                                                                                \
    "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0,1], nodes: [12,12],\n"   \
    "  mass: 0.3, springs: {structural: {stiffness: 400, damping: 0.02}, shear:\n"                 \
    "  {stiffness: 200}}" more "}]\n"

// Forces from rounded lengths move bodies at rest by micrometres per second, and nothing explains
// that energy. A step beyond the limit is still found.
static void test_rest_in_mixed_precision(void **state)
{
    (void)state;
    static const int nodes[] = {4, 10};
    for (int i = 0; i < 2 * INTEGRATOR_COUNT; i++) {
        const char *integrator = integrator_name((enum integrator)(i / 2));
        const bool any_step =
            integrator_is_implicit((enum integrator)(i / 2)) || i / 2 == INTEGRATOR_XPBD;
        // Explicit Euler and midpoint let undamped motion grow.
        const bool grows =
            strcmp(integrator, "explicit_euler") == 0 || strcmp(integrator, "midpoint") == 0;
        for (int unstable = 0; unstable < (any_step ? 1 : 2); unstable++) {
            taut_solver *solver = solver_of(
                "precision: mixed\nsimulation: {integrator: %s, dt: %g, steps: 1}\n"
                "bodies: [{name: r, type: rope, from: [0,0,0], to: [0.88,0.4,0.27], nodes: %d,\n"
                "  node_mass: 0.02, stiffness: 100, damping: %g}]\n",
                integrator, unstable ? 0.05 : 0.001, nodes[i % 2], grows ? 0.5 : 0.0);
            taut_error error = {0};
            const taut_status status = taut_solver_step(solver, unstable ? 400 : 4000, &error);
            if (status != (unstable ? TAUT_ERROR_DIVERGED : TAUT_OK))
                fail_msg("%s, %d nodes, %s: %s", integrator, nodes[i % 2],
                         unstable ? "unstable" : "stable", error.text);
            taut_solver_destroy(solver);
        }
    }
}

// Rounding of positions strains the springs of bodies at rest in every step, and without damping
// this energy accumulates; nothing else has any, so that it is no divergence, neither as kinetic
// energy nor, near surfaces that project, as elastic energy. A step beyond the limit is still
// found.
static void test_rest_in_single_precision(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "bodies: [{name: r, type: rope, from: [0,3,0], to: [1,3.3,0.1], nodes: 11, mass: 1,\n"
        "  stiffness: 1000}]\n",
        "bodies: [{name: r, type: network, nodes: [[2,1,0],[2.3,1.4,0.2],[2.7,1,0]],\n"
        "  node_mass: [0.1,0.2,0.1], springs: [[0,1,{stiffness: 1000}],[1,2,{stiffness: 900}],\n"
        "  [0,2,{stiffness: 500}]]}]\n",
        JELLY(""),
        JELLY("") "colliders: [{type: room, min: [-1,0,-1], max: [2,3,2], response: project}]\n"};
    enum { BODIES = sizeof bodies / sizeof bodies[0], STEPS = 1600 };
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        const enum integrator integrator = (enum integrator)i;
        const bool grows =
            integrator == INTEGRATOR_EXPLICIT_EULER || integrator == INTEGRATOR_MIDPOINT;
        const bool any_step = integrator_is_implicit(integrator) || integrator == INTEGRATOR_XPBD;
        for (int b = 0; b < 2 * BODIES; b++) {
            const bool unstable = b % 2;
            if (grows || (unstable && any_step))
                continue;
            taut_solver *solver =
                solver_of("precision: single\nsimulation: {integrator: %s, dt: %g, steps: 1}\n%s",
                          integrator_name(integrator), unstable ? 0.03 : 0.002, bodies[b / 2]);
            taut_error error = {0};
            const taut_status status = taut_solver_step(solver, unstable ? 160 : STEPS, &error);
            if (status != (unstable ? TAUT_ERROR_DIVERGED : TAUT_OK))
                fail_msg("%s, body %d, %s: %s", integrator_name(integrator), b / 2,
                         unstable ? "unstable" : "stable", error.text);
            taut_solver_destroy(solver);
        }
    }
}

// The same of elements, whose stiffness is not that of springs: membranes and folds of spheres,
// bending that is stiffer than the springs beside it, areas and volumes.
static void test_elements_at_rest(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{name: s, type: sphere, center: [0,1,0], radius: 0.3, subdivisions: 2,\n"
        "  elastic: {material: rubber, thickness: 0.002}}",
        "{name: s, type: sphere, center: [0,1,0], radius: 0.3, subdivisions: 0,\n"
        "  elastic: {material: rubber, thickness: 0.002}}",
        "{name: r, type: rope, from: [1,1,1], to: [2,2.3,1.1], nodes: 101,\n"
        "  elastic: {young: 1e6, density: 1000, diameter: 0.1}}",
        "{name: c, type: cloth, origin: [1,1,1], u: [0.02,0,0], v: [0,0,0.02], nodes: [21,21],\n"
        "  fabric: blanket}",
        "{name: l, type: lattice, origin: [1.1,1,1], nodes: [5,5,5], spacing: 0.013,\n"
        "  elastic: {young: 1e6, density: 1000, poisson: 0.45}}",
    };
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++)
        for (int i = 0; i < 4; i++) {
            const char *precision = i % 2 ? "mixed" : "single";
            static const char scene[] =
                "precision: %s\nsimulation: {dt: %s, steps: 1}\nbodies: [%s]\n";
            taut_solver *solver = solver_of(scene, precision, "auto", bodies[b]);
            taut_error error = {0};
            const bool unstable = i >= 2;
            if (unstable) {
                char dt[40];
                snprintf(dt, sizeof dt, "%.9g", 4 * taut_solver_dt(solver));
                taut_solver_destroy(solver);
                solver = solver_of(scene, precision, dt, bodies[b]);
            }
            const taut_status status = taut_solver_step(solver, 640, &error);
            if (status != (unstable ? TAUT_ERROR_DIVERGED : TAUT_OK))
                fail_msg("body %zu, %s, %s: %s", b, precision, unstable ? "unstable" : "stable",
                         error.text);
            taut_solver_destroy(solver);
        }
}

// With gravity, here so little of it that it explains nothing, precision mixed allows only what
// forces of rounded positions give a body, and these are forces of elements, too.
static void test_elements_of_rounded_positions(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{name: s, type: sphere, center: [0,1,0], radius: 0.3, subdivisions: 2,\n"
        "  elastic: {material: rubber, thickness: 0.002}}",
        "{name: r, type: rope, from: [1,1,1], to: [2,2.3,1.1], nodes: 101,\n"
        "  elastic: {young: 1e6, density: 1000, diameter: 0.1}}",
    };
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet", "rk4"};
    for (int i = 0; i < 2 * 3; i++) {
        taut_solver *solver =
            solver_of("precision: mixed\nsimulation: {integrator: %s, dt: auto, steps: 1}\n"
                      "environment: {gravity: [0, -1e-9, 0]}\nbodies: [%s]\n",
                      integrators[i % 3], bodies[i / 3]);
        taut_error error = {0};
        if (taut_solver_step(solver, 640, &error) != TAUT_OK)
            fail_msg("body %d, %s: %s", i / 3, integrators[i % 3], error.text);
        taut_solver_destroy(solver);
    }
}

static void test_falls_and_impacts(void **state)
{
    (void)state;
    assert_runs("a fall from 1 km", "symplectic_euler", "0.0005", 4000,
                "environment: {gravity: [0,-9.81,0]}\n" JELLY(", translate: [0,1000,0]"));
    assert_runs("hard impact", "symplectic_euler", "0.0001", 6000,
                "environment: {gravity: [0,-9.81,0]}\n" JELLY(
                    ", velocity: [3,-30,0]") "colliders: [{type: plane, point: [0,0,0], normal: "
                                             "[0,1,0], stiffness: 50000}]\n");
    assert_runs("a body at rest is hit", "velocity_verlet", "0.0002", 3000,
                JELLY("") "colliders: [{type: sphere, center: [-1,1.1,0.1], radius: 0.4,\n"
                          "  stiffness: 5000, velocity: [15,0,0]}]\n");
    assert_runs("a projectile room", "verlet", "0.0002", 3000,
                JELLY(", velocity: [20,-30,10]") "colliders: [{type: room, min: [-1,0,-1], max: "
                                                 "[2,3,2], response: project,\n"
                                                 "  keep: 0.7}]\n");
}

// At rest, but inside a surface that nodes are projected on: the projection stores energy in the
// springs.
static void test_projected_from_rest(void **state)
{
    (void)state;
    assert_runs("inside a sphere", "symplectic_euler", "0.0005", 3000,
                JELLY("") "colliders: [{type: sphere, center: [0.15,0.9,0.15], radius: 0.25,\n"
                          "  response: project}]\n");
    assert_runs("half outside of a room", "velocity_verlet", "0.0005", 3000,
                JELLY("") "colliders: [{type: room, min: [0.12,0,0], max: [2,3,2],\n"
                          "  response: project, keep: 0.9}]\n");
}

static void test_strong_wind(void **state)
{
    (void)state;
    assert_runs("storm, law face", "symplectic_euler", "0.0005", 3000,
                "environment: {wind: {velocity: [40,5,20], law: face, coefficient: 1.2,\n"
                "  gusts: [{amplitude: [30,0,0], period: 0.2}]}}\n" SHEET(", pins: [left]"));
    assert_runs(
        "storm, law quadratic", "symplectic_euler", "0.0002", 3000,
        "environment: {wind: {velocity: [40,5,20], law: quadratic}}\n" SHEET(", pins: [corners]"));
    assert_runs("a wind that does not see", "symplectic_euler", "0.0005", 6000,
                "environment: {wind: {velocity: [2,5,2], law: face, coefficient: 5,\n"
                "  relative: false}}\n" SHEET(""));
    assert_runs("and by node", "symplectic_euler", "0.0005", 6000,
                "environment: {wind: {velocity: [2,5,2], law: node, coefficient: 0.1,\n"
                "  relative: false}}\n" SHEET(""));
}

static void test_drives_and_gas(void **state)
{
    (void)state;
    assert_runs(
        "a whip", "symplectic_euler", "0.0002", 5000,
        "bodies: [{name: r, type: rope, from: [0,0,0], to: [2,0,0], nodes: 30,\n"
        "  node_mass: 0.01, spring: {stiffness: 3000, damping: 0.02}, drives:\n"
        "  [{node: first, velocity: [[0.1, [0,40,0]], [0.15, [0,-40,0]], [0.2, [0,0,0]]]}]}]\n");
    assert_runs("a slow pull that tears", "symplectic_euler", "0.001", 8000,
                "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 6,\n"
                "  node_mass: 0.01, pins: [first], spring: {stiffness: 500, break_at: 3},\n"
                "  drives: [{node: last, velocity: [0.3,0,0]}]}]\n");
    assert_runs("a burst", "symplectic_euler", "0.0001", 5000,
                "bodies: [{name: b, type: sphere, center: [0,0,0], radius: 1, subdivisions: 2,\n"
                "  mass: 0.1, springs: {edges: {stiffness: 200, break_at: 1.5}},\n"
                "  pressure: {amount: 500}}]\n");
    assert_runs("an implosion", "symplectic_euler", "0.0005", 600,
                "bodies: [{name: b, type: sphere, center: [0,0,0], radius: 1, subdivisions: 2,\n"
                "  mass: 1, springs: {edges: {stiffness: 2000, damping: 2}},\n"
                "  pressure: {amount: 100, atmosphere: 200}}]\n");
    assert_runs("a slow position step", "symplectic_euler", "0.01, position_step: 0.00001", 3000,
                "environment: {gravity: [0,-9.81,0]}\n"
                "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 6,\n"
                "  node_mass: 1, pins: [first], spring: {stiffness: 500}}]\n");
}

// A stretched body that is released, and a lattice at rest for long in single precision, in which
// only round-off moves.
static void test_release_and_rest(void **state)
{
    (void)state;
    assert_runs("let go", "symplectic_euler", "0.001", 5000,
                "bodies: [{name: n, type: network, nodes: [[0,0,0],[9,0,0]], node_mass: [1,1],\n"
                "  springs: [[0,1,{stiffness: 1000, rest_length: 1}]]}]\n");
    assert_runs("at rest", "symplectic_euler", "0.0005", 20000, JELLY(""));
    assert_runs("at rest far away", "symplectic_euler", "0.0005", 5000,
                JELLY(", translate: [1000,0,-1000]"));
}

// If h v is below half the spacing of the numbers at x, a falling body gains kinetic energy and
// loses no height: heights of 0 to 1e6 m, steps of 1e-3 to 1e-9 s, in both precisions, with every
// integrator. Without damping explicit Euler and midpoint grow at every step, here by less than 1%.
static void test_falls_that_rounding_hides(void **state)
{
    (void)state;
    static const char *const heights[] = {"0", "0.1", "1", "3", "10", "1e3", "1e4", "1e5", "1e6"};
    static const char *const steps[] = {"1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8", "1e-9"};
    static const int nodes[] = {2, 11};
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (int y = 0; y < 9; y++)
            for (int n = 0; n < 2; n++) {
                char text[400];
                snprintf(text, sizeof text,
                         "environment: {gravity: [0,-9.81,0]}\n"
                         "bodies: [{name: r, type: rope, from: [0,%s,0], to: [1,%s,0], nodes: %d,\n"
                         "  node_mass: 0.1, spring: {stiffness: 10, damping: 0.1}}]\n",
                         heights[y], heights[y], nodes[n]);
                for (int h = 0; h < 7; h++)
                    assert_runs(text, integrator_name((enum integrator)i), steps[h], 160, text);
            }
}

// In precision mixed a body that falls by less than the spacing of the high parts of its positions
// loses height in their low parts.
static void test_short_falls_in_mixed_precision(void **state)
{
    (void)state;
    static const char *const spacings[] = {"0.1", "0.3", "1", "7.7"};
    static const char *const steps[] = {"1e-5", "1e-6", "3e-7", "1e-8"};
    static const char *const gravities[] = {"-9.81", "-0.01"};
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (int b = 0; b < 4; b++)
            for (int g = 0; g < 2; g++)
                for (int h = 0; h < 4; h++) {
                    taut_solver *solver = solver_of(
                        "precision: mixed\nsimulation: {integrator: %s, dt: %s, steps: 1}\n"
                        "environment: {gravity: [0,%s,0]}\n"
                        "bodies: [{name: j, type: lattice, nodes: [2,2,2], spacing: %s, mass: 1,\n"
                        "  spring: {stiffness: 10, damping: 0.1}}]\n",
                        integrator_name((enum integrator)i), steps[h], gravities[g], spacings[b]);
                    taut_error error = {0};
                    if (taut_solver_step(solver, 160, &error) != TAUT_OK)
                        fail_msg("%s, spacing %s, gravity %s, dt %s: %s",
                                 integrator_name((enum integrator)i), spacings[b], gravities[g],
                                 steps[h], error.text);
                    taut_solver_destroy(solver);
                }
}

// Far from the origin of the scene the energy at the start is known to the rounding of m g y only,
// which is more than a body gains in its first steps.
static void test_short_falls_far_away_in_mixed_precision(void **state)
{
    (void)state;
    static const char *const places[] = {"1e3", "1e4", "3e5", "1e7", "-1e9"};
    static const char *const steps[] = {"1e-6", "1e-7", "1e-8", "1e-10"};
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (int p = 0; p < 5; p++)
            for (int h = 0; h < 4; h++) {
                taut_solver *solver = solver_of(
                    "precision: mixed\nsimulation: {integrator: %s, dt: %s, steps: 1}\n"
                    "environment: {gravity: [1,-9.81,0]}\n"
                    "bodies: [{name: n, type: network, nodes: [[%s,%s,0],[%s,%s,1]],\n"
                    "  node_mass: 1, springs: [[0,1,{stiffness: 10, rest_length: 1}]]}]\n",
                    integrator_name((enum integrator)i), steps[h], places[p], places[p], places[p],
                    places[p]);
                taut_error error = {0};
                if (taut_solver_step(solver, 1024, &error) != TAUT_OK)
                    fail_msg("%s, at %s m, dt %s: %s", integrator_name((enum integrator)i),
                             places[p], steps[h], error.text);
                taut_solver_destroy(solver);
            }
}

// Bodies whose nodes lie at many heights, so that some of them move and others do not; an
// equilibrium and a body at rest, whose forces are only rounding; and dt: auto.
static void test_rounding_of_large_bodies(void **state)
{
    (void)state;
    assert_runs("a lattice", "symplectic_euler", "0.0001", 64,
                "environment: {gravity: [0,-1,0]}\n"
                "bodies: [{name: j, type: lattice, origin: [0,10,0], nodes: [8,64,8], spacing: 1,\n"
                "  node_mass: 1, springs: {k1: {stiffness: 100}}}]\n");
    assert_runs("a fine cloth", "symplectic_euler", "auto", 96,
                "environment: {gravity: [0,-9.81,0]}\n"
                "bodies: [{name: c, type: cloth, origin: [0,3,0], u: [0.02,0,0], v: [0,0,1],\n"
                "  nodes: [20,1000], mass: 0.02, pins: [left],\n"
                "  springs: {structural: {stiffness: 1000, damping: 0.001}}}]\n");
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        const char *integrator = integrator_name((enum integrator)i);
        assert_runs("at rest", integrator, "1e-7", 320, JELLY(", translate: [30,40,50]"));
        assert_runs("an equilibrium", integrator, "1e-8", 320,
                    "environment: {gravity: [0,-9.81,0]}\n"
                    "bodies: [{name: a, type: network, nodes: [[0,7,0],[0,5.98,0],[0,4.97,0]],\n"
                    "  node_mass: [1,1,1], pins: [0], springs:\n"
                    "  [[0,1,{stiffness: 981, rest_length: 1}],\n"
                    "   [1,2,{stiffness: 981, rest_length: 1}]]}]\n");
    }
}

// Allowing for rounding does not delay the check: beside a pendulum in stable motion a node falls
// freely on a cord beyond its limit, which becomes taut after some 1,200 steps. The bounds are the
// steps at which the instability was found before rounding was allowed for.
static void test_late_instability_is_found_as_early(void **state)
{
    (void)state;
    static const struct {
        const char *precision, *height;
        uint64_t found;
    } cases[] = {{"single", "3", 2464},
                 {"double", "3", 2416},
                 {"single", "1000", 4608},
                 {"double", "1000", 2416}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *y = cases[i].height;
        taut_solver *solver = solver_of(
            "precision: %s\nsimulation: {dt: 0.0005, steps: 1}\n"
            "environment: {gravity: [0,-9.81,0]}\n"
            "bodies:\n"
            "  - {name: a, type: network, nodes: [[0,%s,0],[0.1,%s,0],[0,%s,0.3]], pins: [0],\n"
            "     node_mass: [1,1,1], springs: [[0,1,{stiffness: 300, damping: 2}],\n"
            "     [0,2,{stiffness: 30, damping: 0.2}]]}\n"
            "  - {name: b, type: network, nodes: [[5,%s,0],[5,%s,1]], pins: [0],\n"
            "     node_mass: [1,1], velocities: [[0,0,0],[0,0,0.1]],\n"
            "     springs: [[0,1,{stiffness: 1.8e7, law: tension_only, rest_length: 2}]]}\n",
            cases[i].precision, y, y, y, y, y);
        assert_int_equal(taut_solver_step(solver, 1200, NULL), TAUT_OK);
        assert_int_equal(taut_solver_step(solver, 10000, NULL), TAUT_ERROR_DIVERGED);
        if (taut_solver_step_count(solver) > cases[i].found)
            fail_msg("%s, %s m: found at step %llu, before at %llu", cases[i].precision,
                     cases[i].height, (unsigned long long)taut_solver_step_count(solver),
                     (unsigned long long)cases[i].found);
        taut_solver_destroy(solver);
    }
}

// At its return to the starting point a body has lost no height, so only the exchange before
// explains the speed that the integrator's error leaves. Checked after every step.
static void test_return_to_the_start(void **state)
{
    (void)state;
    static const char *const integrators[] = {
        "symplectic_euler", "verlet",         "velocity_verlet",   "midpoint", "rk4",
        "explicit_euler",   "implicit_euler", "implicit_midpoint", "bdf2",     "xpbd"};
    static const char *const precisions[] = {"single", "double"};
    static const struct {
        const char *name, *text;
        int steps;
    } cases[] = {
        {"a node falls from rest",
         "bodies: [{name: n, type: network, nodes: [[0,1,0]],\n"
         "  node_mass: 0.5, springs: []}]\n",
         64},
        {"a node bounces without loss",
         "bodies: [{name: n, type: network, nodes: [[0,1,0]], node_mass: 0.5, springs: []}]\n"
         "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], response: project,\n"
         "  restitution: 1}]\n",
         4000},
        {"a pendulum",
         "bodies: [{name: p, type: network, nodes: [[0,0,0],[0.866025,-0.5,0]],\n"
         "  node_mass: [1,1], pins: [0], springs: [[0,1,{stiffness: 1000}]]}]\n",
         6000},
    };
    for (int i = 0; i < 10; i++)
        for (int p = 0; p < 2; p++)
            for (int c = 0; c < 3; c++) {
                taut_solver *solver =
                    solver_of("precision: %s\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
                              "environment: {gravity: [0,-9.81,0]}\n%s",
                              precisions[p], integrators[i], cases[c].text);
                taut_error error = {0};
                for (int step = 0; step < cases[c].steps; step++)
                    if (taut_solver_step(solver, 1, &error) != TAUT_OK)
                        fail_msg("%s, %s, %s: %s", cases[c].name, precisions[p], integrators[i],
                                 error.text);
                taut_solver_destroy(solver);
            }
}

// The walls of a room stop all motion of an unstable run, but its springs show the instability.
static void test_projection_hides_nothing(void **state)
{
    (void)state;
    static const double steps[] = {0.03, 0.05, 0.1, 0.5}; // the limit is 0.007 s
    for (int i = 0; i < 8; i++)
        for (int budget = 0; budget < 2; budget++) {
            taut_solver *solver = solver_of(
                "precision: %s\nsimulation: {dt: %g, steps: 200}\noutput: {work: %s}\n"
                "environment: {gravity: [0, -9.81, 0]}\nbodies:\n"
                "  - {name: j, type: lattice, origin: [-0.4,1.2,-0.35], nodes: [6,5,6],\n"
                "     spacing: 0.1, mass: 10, stiffness: 300}\ncolliders:\n"
                "  - {type: room, min: [-1.2,0,-1.2], max: [1.2,3,1.2], response: project}\n",
                i % 2 ? "double" : "single", steps[i / 2], budget ? "true" : "false");
            assert_int_equal(taut_solver_step(solver, 200, NULL), TAUT_ERROR_DIVERGED);
            taut_solver_destroy(solver);
        }
}

// Divergence that a room hides is found at the same step with and without the energy budget, also
// where it begins long after the start: here when springs become a hundred times as stiff.
static void test_hidden_divergence_does_not_depend_on_the_budget(void **state)
{
    (void)state;
    enum { STABLE_STEPS = 300 };
    for (int i = 0; i < 4; i++) {
        uint64_t stopped[2];
        for (int budget = 0; budget < 2; budget++) {
            taut_solver *solver = solver_of(
                "precision: %s\nsimulation: {dt: %g, steps: 2000}\noutput: {work: %s}\n"
                "environment: {gravity: [0, -0.05, 0]}\nbodies:\n"
                "  - {name: j, type: lattice, origin: [-0.25,0,-0.25], nodes: [6,6,6],\n"
                "     spacing: 0.1, mass: 10, springs: {k1: {stiffness: 3}}}\ncolliders:\n"
                "  - {type: room, min: [-0.3,0,-0.3], max: [0.3,0.6,0.3], response: project}\n",
                i % 2 ? "double" : "single", i / 2 ? 0.04 : 0.05, budget ? "true" : "false");
            advance(solver, STABLE_STEPS);
            assert_int_equal(taut_solver_set_stiffness(solver, 0, 0, 300, NULL), TAUT_OK);
            assert_int_equal(taut_solver_step(solver, 1000, NULL), TAUT_ERROR_DIVERGED);
            stopped[budget] = taut_solver_step_count(solver);
            taut_solver_destroy(solver);
        }
        assert_int_equal(stopped[0], stopped[1]);
        assert_true(stopped[0] <= STABLE_STEPS + 2 * 64);
    }
}

// Far from the origin single precision does not resolve the strain of short stiff springs, and
// their rounded forces heat a rope at a stable step: the message names this cause and the remedy.
// It does not if the step is too long, near the origin, or in double precision.
static void test_rounding_far_from_the_origin_is_named(void **state)
{
    (void)state;
    static const struct {
        double at, dt;
        const char *precision;
        bool diverges, named;
    } cases[] = {{1e4, 1e-4, "single", true, true},   {1e6, 1e-4, "single", true, true},
                 {0, 1e-4, "single", false, false},   {1e6, 1e-4, "double", false, false},
                 {1e4, 0.002, "single", true, false}, {0, 0.002, "single", true, false},
                 {1e4, 0.002, "double", true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        taut_solver *solver =
            solver_of("precision: %s\nsimulation: {integrator: rk4, dt: %g, steps: 1}\n"
                      "environment: {gravity: [0,-9.81,0]}\n"
                      "bodies: [{name: r, type: rope, from: [%.17g,%.17g,0], to: [%.17g,%.17g,0],\n"
                      " nodes: 21, node_mass: 0.1, pins: [first], spring: {stiffness: 1e5, "
                      "damping: 0.01}}]\n",
                      cases[i].precision, cases[i].dt, cases[i].at, cases[i].at, cases[i].at + 1,
                      cases[i].at);
        taut_error error = {0};
        const taut_status status = taut_solver_step(solver, 3000, &error);
        assert_int_equal(status, cases[i].diverges ? TAUT_ERROR_DIVERGED : TAUT_OK);
        assert_int_equal(strstr(error.text, "'precision: double'") != NULL, cases[i].named);
        if (cases[i].named)
            assert_contains(error.text, "of that spring's length, and rounding drives it");
        taut_solver_destroy(solver);
    }
}

// Rounding of positions strains stiff springs in every step, and a light cloth near its stability
// limit gets a hundred times more energy from it than from its fall: the message names precision,
// and not for a step that is too long, or in double precision.
static void test_rounding_of_stiff_springs_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *dt, *precision;
        bool diverges, named;
    } cases[] = {{"auto", "single", true, true},
                 {"2e-5", "single", true, false},
                 {"auto", "double", false, false},
                 {"2e-5", "double", true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        taut_solver *solver = solver_of(
            "precision: %s\nsimulation: {dt: %s, steps: 1}\n"
            "environment: {gravity: [0,-9.81,0]}\n"
            "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [3.15,0,0], v: [0,0,3.15],\n"
            "  nodes: [40,40], node_mass: 0.0001, springs: {structural: {stiffness: 1e6},\n"
            "  shear: {stiffness: 1e6}, bend: {stiffness: 1e3}}}]\n",
            cases[i].precision, cases[i].dt);
        taut_error error = {0};
        const taut_status status = taut_solver_step(solver, 1000, &error);
        assert_int_equal(status, cases[i].diverges ? TAUT_ERROR_DIVERGED : TAUT_OK);
        assert_int_equal(strstr(error.text, "Rounding of positions") != NULL, cases[i].named);
        taut_solver_destroy(solver);
    }
}

// Nodes that start inside a projecting surface are lifted, and slide down from there; and a node
// that starts on a slope gains speed before its rounded coordinates change. Neither has springs, so
// that no other energy explains it.
static void test_sliding_from_rest(void **state)
{
    (void)state;
    static const struct {
        const char *precision, *dt, *x, *point, *normal;
    } cases[] = {{"double", "0.001", "0", "[0,0.05,0]", "[0.3,1,0]"},
                 {"single", "0.001", "0", "[0,5,0]", "[0.01,1,0]"},
                 {"single", "0.0001", "10", "[10,0,0]", "[0.5,0.8660254,0]"},
                 {"single", "0.0001", "500", "[500,0,0]", "[0.5,0.8660254,0]"},
                 {"single", "0.00002", "5", "[5,0,0]", "[0.5,0.8660254,0]"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int n = 0; n < INTEGRATOR_COUNT; n++) {
            taut_solver *solver =
                solver_of("precision: %s\nsimulation: {integrator: %s, dt: %s, steps: 1}\n"
                          "environment: {gravity: [0,-9.81,0]}\n"
                          "bodies: [{name: b, type: network, nodes: [[%s,0,0]], mass: 1}]\n"
                          "colliders: [{type: plane, point: %s, normal: %s, response: project}]\n",
                          cases[i].precision, integrator_name((enum integrator)n), cases[i].dt,
                          cases[i].x, cases[i].point, cases[i].normal);
            taut_error error = {0};
            if (taut_solver_step(solver, 1000, &error) != TAUT_OK)
                fail_msg("%s at %s: %s", integrator_name((enum integrator)n), cases[i].x,
                         error.text);
            taut_solver_destroy(solver);
        }
}

// With infinite forces the velocity of a pinned node is not a number, since its inverse mass is 0;
// it is not the node that diverged.
static void test_pinned_nodes_are_not_to_blame(void **state)
{
    (void)state;
    taut_solver *solver =
        solver_of("precision: single\nsimulation: {dt: 10, steps: 1}\n"
                  "bodies: [{name: r, type: network, nodes: [[0,0,0],[1,0,0],[2,0,0]], pins: [0],\n"
                  "  node_mass: [1,1,1], velocities: [[0,0,0],[1,0,0],[0,0,0]],\n"
                  "  springs: [[0,1,{stiffness: 1e30}],[1,2,{stiffness: 1e30}]]}]\n");
    taut_error error = {0};
    assert_int_equal(taut_solver_step(solver, 100, &error), TAUT_ERROR_DIVERGED);
    assert_contains(error.text, "first seen at node 1 of body 'r'");
    assert_false(isfinite(velocity_of(solver, 0).x)); // confirms that
    taut_solver_destroy(solver);
}

// Advances in calls of `piece` steps, saved and restored into another solver once if `restores`.
// Returns the step at which the run stopped, or 0.
static uint64_t stopped_at(const char *scene, uint64_t piece, bool restores)
{
    enum { STEPS = 600, RESTORED_AFTER = 23 };
    taut_solver *solver = solver_of("%s", scene);
    taut_status status = TAUT_OK;
    while (status == TAUT_OK && taut_solver_step_count(solver) < STEPS) {
        const uint64_t step = taut_solver_step_count(solver);
        uint64_t next = STEPS - step < piece ? STEPS - step : piece;
        if (restores && step < RESTORED_AFTER)
            next = RESTORED_AFTER - step;
        status = taut_solver_step(solver, next, NULL);
        if (status != TAUT_OK || !restores || taut_solver_step_count(solver) != RESTORED_AFTER)
            continue;
        void *saved;
        size_t bytes;
        assert_int_equal(taut_solver_save_memory(solver, &saved, &bytes, NULL), TAUT_OK);
        taut_solver_destroy(solver);
        char *text = text_format("%s", scene);
        taut_scene *parsed = scene_of_text(text); // releases it
        assert_int_equal(taut_solver_restore_memory(parsed, saved, bytes, NULL, &solver, NULL),
                         TAUT_OK);
        taut_scene_destroy(parsed);
        taut_bytes_release(saved);
    }
    const uint64_t step = taut_solver_step_count(solver);
    for (uint64_t node = 0; status == TAUT_OK && node < taut_solver_node_count(solver); node++)
        assert_true(isfinite(position_of(solver, node).x));
    taut_solver_destroy(solver);
    assert_true(status == TAUT_OK || status == TAUT_ERROR_DIVERGED);
    return status == TAUT_OK ? 0 : step;
}

// The step at which a run stops depends on nothing but the run: not on how its steps are divided,
// as by rows of output, nor on a restore. Random ropes around and beyond their stability limits,
// some of which stretch for a while by more than the check allows and then return.
static void test_the_step_depends_on_the_run_alone(void **state)
{
    (void)state;
    static const char *const integrators[] = {
        "symplectic_euler", "verlet", "velocity_verlet", "rk4", "explicit_euler", "midpoint"};
    uint64_t random = 1;
    int diverged = 0;
    for (int i = 0; i < 60; i++) {
        double draw[4];
        for (int d = 0; d < 4; d++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            draw[d] = (double)(random >> 40) / (1 << 24);
        }
        char scene[600];
        snprintf(scene, sizeof scene,
                 "precision: %s\nsimulation: {integrator: %s, dt: %g, steps: 600}\n"
                 "environment: {gravity: [0,-9.81,0]}\n"
                 "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,%g,0], nodes: %d,\n"
                 "  node_mass: 1, spring: {stiffness: 100}, velocity: [%g,0,%g], pins: [first]}]\n",
                 i % 2 ? "single" : "double", integrators[i % 6], 0.09 + 0.05 * draw[0],
                 2 * draw[1] - 1, 3 + i % 5, 2 * draw[2] - 1, 2 * draw[3] - 1);
        const uint64_t step = stopped_at(scene, 600, false);
        diverged += step > 0;
        assert_true(step % 16 == 0);
        assert_int_equal(stopped_at(scene, 1, false), step);
        assert_int_equal(stopped_at(scene, 7, true), step);
    }
    assert_true(diverged > 20 && diverged < 60);
}

// Damping is not denied: where damping allows midpoint a step, the message has its limit, and
// otherwise the reason why there is none.
static void test_limits_of_damped_scenes(void **state)
{
    (void)state;
    static const struct {
        const char *damping, *message;
    } cases[] = {{"0", "grows at every step without damping"},
                 {"0.5", "in this state"},
                 {"0.5, damping_law: full", "to be stable up to"}};
    for (int i = 0; i < 3; i++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: midpoint, dt: 0.3, steps: 1}\n"
                      "bodies: [{name: r, type: rope, from: [0,0,0], to: [4,0,0], nodes: 5,\n"
                      "  node_mass: 1, pins: [first], velocity: [0.3,0.2,0.1],\n"
                      "  spring: {stiffness: 100, damping: %s}}]\n",
                      cases[i].damping);
        taut_error error = {0};
        assert_int_equal(taut_solver_step(solver, 10000, &error), TAUT_ERROR_DIVERGED);
        assert_contains(error.text, cases[i].message);
        assert_int_equal(strstr(error.text, "without damping") != NULL, i == 0);
        taut_solver_destroy(solver);
    }
}

// Limits are those of small motions: a soft rope without damping that swings far diverges below its
// limit after hundreds of steps. The message names this cause, and its remedy, damping, helps.
static void test_large_motions_are_named(void **state)
{
    (void)state;
    for (int damped = 0; damped < 2; damped++) {
        taut_solver *solver =
            solver_of("precision: single\nsimulation: {dt: auto, safety: 0.8, steps: 1}\n"
                      "environment: {gravity: [0,-9.81,0]}\n"
                      "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 6,\n"
                      "  mass: 0.5, pins: [first], spring: {stiffness: 100, damping: %g}}]\n",
                      damped ? 0.1 : 0.0);
        taut_error error = {0};
        const taut_status status = taut_solver_step(solver, 1000, &error);
        assert_int_equal(status, damped ? TAUT_OK : TAUT_ERROR_DIVERGED);
        if (!damped)
            assert_contains(error.text, "for small motions");
        taut_solver_destroy(solver);
    }
}

// Sheets that an unstable step throws through each other are held by cuts, which take as long as
// the motion is far: the run ends at one of the first of these steps, not at the next multiple
// of 16.
static void test_cuts_hide_no_divergence(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet", "verlet",
                                              "rk4"};
    for (int i = 0; i < 4; i++)
        for (int moves = 0; moves < 2; moves++) { // a mesh, but not yet
            const char *file =
                physics_file("divergence.obj", "v -1 0 -1\nv 1 0 -1\nv 0 0 1\nf 1 3 2\n");
            taut_solver *solver = solver_of(
                "precision: single\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
                "environment: {gravity: [0, -9.81, 0], air_drag: 1.0e-5}\n"
                "contact: {thickness: 0.008}\n"
                "bodies:\n"
                "- {name: a, type: cloth, origin: [-0.25, 0.33, -0.25], u: [0.5, 0, 0],\n"
                "   v: [0, 0, 0.5], nodes: [21, 21], mass: 0.05, damping: 0.01, springs:\n"
                "   {structural: {stiffness: 100}, shear: {stiffness: 50}, bend: {stiffness: 3}}}\n"
                "- {name: b, type: cloth, origin: [-0.25, 0.345, -0.25], u: [0.5, 0, 0],\n"
                "   v: [0, 0, 0.5], nodes: [21, 21], mass: 0.05, damping: 0.01, rotate: [0, 9, "
                "0],\n"
                "   springs:\n"
                "   {structural: {stiffness: 100}, shear: {stiffness: 50}, bend: {stiffness: 3}}}\n"
                "colliders: [{type: mesh, file: '%s', motion: {%s}}]\n",
                integrators[i], i == 3 ? 3e-3 : 1.8e-3, file,
                moves ? "keyframes: [[9, [0, 0, 0]], [10, [0, 5, 0]]]" : "");
            taut_error error = {0};
            assert_int_equal(taut_solver_step(solver, 10000, &error), TAUT_ERROR_DIVERGED);
            assert_true(solver_surface_cuts(solver).steps <= 2);
            assert_true(taut_solver_step_count(solver) % 16 != 0);
            taut_solver_destroy(solver);
        }
}

// A step that has diverged is not cut, in which everything passes through everything: its nodes are
// put back to where they were, so that nothing has passed. It is reported as if it had been cut.
static void test_hopeless_steps_are_not_cut(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "mixed"};
    for (int i = 0; i < 2; i++) {
        taut_solver *solver = solver_of(
            "precision: %s\nsimulation: {integrator: symplectic_euler, dt: 0.0231, steps: 1}\n"
            "environment: {gravity: [0, -9.81, 0]}\ncontact: {thickness: 0.004}\n"
            "bodies: [{name: a, type: sphere, radius: 0.1, center: [0, 0.5, 0], subdivisions: 2,\n"
            "          mass: 0.1, stiffness: 300}]\n",
            precisions[i]);
        struct everything all = everything_of(solver);
        taut_error error = {0};
        assert_int_equal(taut_solver_step(solver, 16, &error), TAUT_ERROR_DIVERGED);
        const uint64_t steps = taut_solver_step_count(solver);
        const struct surface_cuts cuts = solver_surface_cuts(solver);
        print_message("%s: step %d, cuts until %d\n", precisions[i], (int)steps, (int)cuts.last);
        assert_true(steps < 16);
        assert_true(cuts.last < steps);
        assert_int_equal(crossings_of(solver, &all), 0);
        // The run stays diverged.
        assert_int_equal(taut_solver_step(solver, 1, NULL), TAUT_ERROR_DIVERGED);
        free_everything(&all);
        taut_solver_destroy(solver);
    }
}

// A ball that hits a plane, with this part of its largest stable step.
static taut_solver *thrown_ball(const char *integrator, double speed, double part)
{
    // The limit of symplectic Euler and velocity Verlet, s; that of rk4 is the square root of two
    // times as long.
    const double largest = (strcmp(integrator, "rk4") == 0 ? sqrt(2) : 1) * 8.955e-4;
    return solver_of("precision: double\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
                     "contact: {thickness: 0.005}\n"
                     "bodies:\n"
                     "- {name: a, type: sphere, center: [0, 0.13, 0], radius: 0.1,\n"
                     "   subdivisions: 2, mass: 0.1, velocity: [0.3, " NUM ", 0], springs:\n"
                     "   {edges: {stiffness: 500}, bend: {stiffness: 100}}}\n"
                     "colliders: [{type: plane, response: contact}]\n",
                     integrator, part * largest, -speed);
}

// Cuts hold the motion of a body that was fast at less than the energy that it had; but they take
// more than there was, where a stable run, however taut springs are in an impact, has only that.
static void test_cuts_take_more_than_there_was(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet", "rk4"};
    for (int i = 0; i < 3; i++) {
        taut_error error = {0};
        taut_solver *solver = thrown_ball(integrators[i], 20, 1.25);
        assert_int_equal(taut_solver_step(solver, 40, &error), TAUT_ERROR_DIVERGED);
        taut_solver_destroy(solver);
        solver = thrown_ball(integrators[i], 20, 0.99);
        assert_int_equal(taut_solver_step(solver, 40, &error), TAUT_OK);
        assert_true(solver_surface_cuts(solver).steps > 20);
        assert_true(solver_surface_cuts(solver).taken.taken > 0);
        taut_solver_destroy(solver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beyond_the_limit),
        cmocka_unit_test(test_growth_is_found_early),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_falls_and_impacts),
        cmocka_unit_test(test_projected_from_rest),
        cmocka_unit_test(test_strong_wind),
        cmocka_unit_test(test_drives_and_gas),
        cmocka_unit_test(test_release_and_rest),
        cmocka_unit_test(test_falls_that_rounding_hides),
        cmocka_unit_test(test_rounding_of_large_bodies),
        cmocka_unit_test(test_late_instability_is_found_as_early),
        cmocka_unit_test(test_return_to_the_start),
        cmocka_unit_test(test_projection_hides_nothing),
        cmocka_unit_test(test_hidden_divergence_does_not_depend_on_the_budget),
        cmocka_unit_test(test_rounding_far_from_the_origin_is_named),
        cmocka_unit_test(test_sliding_from_rest),
        cmocka_unit_test(test_rounding_of_stiff_springs_is_named),
        cmocka_unit_test(test_pinned_nodes_are_not_to_blame),
        cmocka_unit_test(test_the_step_depends_on_the_run_alone),
        cmocka_unit_test(test_limits_of_damped_scenes),
        cmocka_unit_test(test_rest_in_mixed_precision),
        cmocka_unit_test(test_short_falls_in_mixed_precision),
        cmocka_unit_test(test_short_falls_far_away_in_mixed_precision),
        cmocka_unit_test(test_rest_in_single_precision),
        cmocka_unit_test(test_elements_at_rest),
        cmocka_unit_test(test_elements_of_rounded_positions),
        cmocka_unit_test(test_large_motions_are_named),
        cmocka_unit_test(test_cuts_hide_no_divergence),
        cmocka_unit_test(test_hopeless_steps_are_not_cut),
        cmocka_unit_test(test_cuts_take_more_than_there_was),
    };
    return cmocka_run_group_tests_name("divergence", tests, NULL, NULL);
}
