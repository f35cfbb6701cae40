// Contact between surfaces with implicit integrators and xpbd, at steps of several times those of
// explicit ones: the tangent, momentum and energy of colliding bodies, no crossings (counted by the
// exact checker), the energy budget, the same bits on every machine and after a checkpoint.
#include "checkpoint_fixture.h"
#include "contact_fixture.h"
#include "tangent_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stability/limits.h"
#include "topology/topology.h"

static const char *const integrators[] = {"implicit_euler", "implicit_midpoint", "bdf2",
                                          "xpbd, substeps: 8"};
static const char *const precisions[] = {"single", "double", "mixed"};

enum { INTEGRATORS = 4 };

// ---- Scenes

// Two balls that meet off their centres, each at this speed.
#define BALLS BALLS_AT("2")
#define BALLS_AT(speed)                                                                            \
    "contact: {thickness: 0.004}\n"                                                                \
    "bodies:\n"                                                                                    \
    "- {name: left, type: sphere, center: [-0.06, 0, 0], radius: 0.05, subdivisions: 2,\n"         \
    "   mass: 0.05, velocity: [" speed ", 0, 0],\n"                                                \
    "   springs: {edges: {stiffness: 300}, second: {stiffness: 300}}}\n"                           \
    "- {name: right, type: sphere, center: [0.06, 0.01, 0.005], radius: 0.05, subdivisions: 2,\n"  \
    "   mass: 0.05, velocity: [-" speed ", 0, 0],\n"                                               \
    "   springs: {edges: {stiffness: 300}, second: {stiffness: 300}}}\n"

// Equations are solved to nearly all digits: their residual is missing from the momentum.
static taut_solver *balls_of(const char *integrator, const char *precision, double dt)
{
    return solver_of("precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1%s}\n" BALLS,
                     precision, integrator, dt,
                     strncmp(integrator, "xpbd", 4) != 0 && strcmp(precision, "double") == 0
                         ? ", implicit: {tolerance: 1e-13}"
                         : "");
}

// A curtain that folds onto a sphere and the floor, and onto itself.
#define CURTAIN                                                                                    \
    "environment: {gravity: [0, -9.81, 0], air_drag: 1e-5}\n"                                      \
    "contact: {thickness: 0.02}\n"                                                                 \
    "bodies:\n"                                                                                    \
    "- {name: curtain, type: cloth, origin: [-0.5, 0.05, 0], u: [1, 0, 0], v: [0, 1, 0.05],\n"     \
    "   nodes: [17, 17], mass: 0.3, damping: 0.05,\n"                                              \
    "   springs: {structural: {stiffness: 300}, shear: {stiffness: 200}}}\n"                       \
    "colliders:\n"                                                                                 \
    "- {type: plane, stiffness: 500, friction: 0.1}\n"                                             \
    "- {type: sphere, center: [0.1, 0.35, 0.2], radius: 0.15, stiffness: 500, friction: 0.1}\n"

static taut_solver *curtain_of(const char *integrator, const char *precision,
                               const struct solver_options *options)
{
    return solver_from(scene_of("precision: %s\n"
                                "simulation: {integrator: %s, dt: 2e-3, steps: 1}\n" CURTAIN,
                                precision, integrator),
                       options);
}

// ---- The tangent

// A sheet above another one, which is turned, so that edges cross; no border is within reach of a
// node beside it, so that all contacts are along the vertical.
static taut_solver *sheets_of(double height)
{
    return solver_of(
        "precision: double\nsimulation: {integrator: implicit_euler, dt: 1e-3, steps: 1}\n"
        "contact: {thickness: 0.004, stiffness: 50}\n"
        "bodies:\n"
        "- {name: a, type: cloth, u: [0.4, 0, 0], v: [0, 0, 0.4], nodes: [5, 5], mass: 0.1,\n"
        "   stiffness: 100}\n"
        "- {name: b, type: cloth, origin: [0.0748, " NUM ", 0.0949], u: [0.4, 0, 0.1994],\n"
        "   v: [0.1981, 0, 0.4], nodes: [4, 4], mass: 0.1, stiffness: 100}\n",
        height);
}

// 1 upwards at all nodes of the second body.
static double *rise_of(const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    double *rise = calloc((size_t)topology->node_count * 3, sizeof *rise);
    assert_non_null(rise);
    for (uint64_t i = topology->bodies[1].first_node; i < topology->node_count; i++)
        rise[3 * i + 1] = 1;
    return rise;
}

// Where sheets stay parallel, the part of the tangent that is left out is 0. In the barrier, and in
// its linear part below the thickness.
static void test_the_tangent_is_the_difference_of_forces(void **state)
{
    (void)state;
    static const double heights[] = {0.005, 0.0038};
    const double h = 1e-7;
    for (int i = 0; i < 2; i++) {
        taut_solver *solver = sheets_of(heights[i]);
        taut_solver *above = sheets_of(heights[i] + h), *below = sheets_of(heights[i] - h);
        const uint64_t nodes = taut_solver_node_count(solver);
        double *rise = rise_of(solver), *more = all_forces(above), *less = all_forces(below);
        double *product = product_of(solver, (struct product){true, 1, 0}, rise);
        const double greatest = greatest_of(product, 3 * nodes);
        assert_true(greatest > 100);
        for (uint64_t node = 0; node < nodes; node++) {
            const uint64_t at = topology_internal_node(solver_topology(solver), node);
            const double slope = -(more[3 * node + 1] - less[3 * node + 1]) / (2 * h);
            assert_near(product[3 * at + 1], slope, 1e-5 * greatest);
        }
        free(rise);
        free(more);
        free(less);
        free(product);
        taut_solver_destroy(solver);
        taut_solver_destroy(above);
        taut_solver_destroy(below);
    }
}

static double dot(const double *a, const double *b, uint64_t count)
{
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void test_the_tangent_is_symmetric_and_definite(void **state)
{
    (void)state;
    taut_solver *solver = curtain_of("implicit_euler", "double", NULL);
    advance(solver, 300);
    assert_true(energy_of(solver).contact > 0);
    const uint64_t count = 3 * taut_solver_node_count(solver);
    const struct product wanted = {true, 1, 0};
    for (uint64_t seed = 1; seed < 10; seed++) {
        double *p = random_vector(solver, false, seed),
               *q = random_vector(solver, false, seed + 50);
        double *kp = product_of(solver, wanted, p), *kq = product_of(solver, wanted, q);
        assert_near(dot(q, kp, count), dot(p, kq, count), 1e-9 * fabs(dot(p, kp, count)));
        assert_true(dot(p, kp, count) >= 0);
        free(p);
        free(q);
        free(kp);
        free(kq);
    }
    // The blocks are those of products with unit vectors.
    double *blocks = product_of(solver, wanted, NULL), *unit = calloc((size_t)count, sizeof *unit);
    assert_non_null(unit);
    const double greatest = greatest_of(blocks, 2 * count);
    for (uint64_t node = 0; node < count / 3; node += 7) {
        unit[3 * node + 1] = 1;
        double *column = product_of(solver, wanted, unit);
        unit[3 * node + 1] = 0;
        assert_near(column[3 * node + 1], blocks[6 * node + 1], 1e-12 * greatest);
        assert_near(column[3 * node], blocks[6 * node + 3], 1e-12 * greatest);
        assert_near(column[3 * node + 2], blocks[6 * node + 5], 1e-12 * greatest);
        free(column);
    }
    free(blocks);
    free(unit);
    taut_solver_destroy(solver);
}

// ---- Collisions

static void test_steps_are_longer_than_explicit_ones(void **state)
{
    (void)state;
    taut_solver *solver = balls_of("symplectic_euler", "single", 1e-4);
    struct critical_step critical;
    assert_int_equal(solver_critical_step(solver, &critical, NULL), TAUT_OK);
    assert_true(critical.bound < 4e-4);
    taut_solver_destroy(solver);
}

// The highest energy of two balls that meet, over that at the start; xpbd, which has contact as a
// force at the start of substeps, and velocities half a substep earlier than positions.
static void test_collisions_add_no_energy(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATORS; i++)
        for (int precision = 0; precision < 3; precision++) {
            taut_solver *solver = balls_of(integrators[i], precisions[precision], 1e-3);
            struct everything all = everything_of(solver);
            const double before = energy_of(solver).total, speed = velocity_of(solver, 0).x;
            double most = 0;
            for (int step = 0; step < 60; step++) {
                advance(solver, 1);
                most = fmax(most, energy_of(solver).total);
                assert_int_equal(crossings_of(solver, &all), 0);
            }
            assert_true(velocity_of(solver, 0).x < 0.5 * speed); // they have met
            if (!(most < (i < 3 ? 1.001 : 1.02) * before))
                fail_msg("%s, %s: energy %g times", integrators[i], precisions[precision],
                         most / before);
            free_everything(&all);
            taut_solver_destroy(solver);
        }
}

// Also tests steps in which nothing touches at the start or in the middle, but at the end, and
// springs have not changed.
static void test_impacts_within_a_step_add_no_energy(void **state)
{
    (void)state;
    taut_solver *solver =
        solver_of("precision: double\n"
                  "simulation: {integrator: implicit_midpoint, dt: 0.0044, steps: 20}\n"
                  "contact: {thickness: 0.004}\nbodies:\n"
                  "  - {name: a, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 2, mass: 0.7,\n"
                  "     stiffness: 2300, velocity: [0, 0, 0.5]}\n"
                  "  - {name: b, type: rope, from: [0, 0, 0.0132], to: [1, 0, 0.0132], nodes: 2,\n"
                  "     mass: 0.7, stiffness: 2300, velocity: [0, 0, -0.5]}\n");
    const double before = energy_of(solver).total;
    double most = 0;
    for (int i = 0; i < 20; i++) {
        advance(solver, 1);
        most = fmax(most, energy_of(solver).total);
    }
    assert_true(most < 1.001 * before); // 1.7 times, when such a step was not checked
    assert_true(position_of(solver, 0).z < position_of(solver, 2).z);
    taut_solver_destroy(solver);
}

static void test_momentum_is_kept(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATORS; i++) {
        taut_solver *solver = balls_of(integrators[i], "double", 1e-3);
        vec3 angular;
        const vec3 before = momentum_of(solver, &angular);
        advance(solver, 60);
        assert_vector_near(momentum_of(solver, &angular), before, 1e-9);
        assert_true(velocity_of(solver, 0).x < 1);
        taut_solver_destroy(solver);
    }
}

// The midpoint method has no numerical damping: the error of the energy after a collision that it
// resolves falls with the square of dt.
static void test_the_midpoint_method_keeps_its_order(void **state)
{
    (void)state;
    double errors[2];
    for (int i = 0; i < 2; i++) {
        const double dt = 1e-4 / (1 << i);
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: implicit_midpoint, dt: " NUM
                      ", steps: 1, implicit: {newton: 20, tolerance: 1e-10}}\n"
                      "contact: {thickness: 0.004, stiffness: 100}\n%s",
                      dt, strstr(BALLS, "bodies"));
        const double before = energy_of(solver).total;
        advance(solver, (uint64_t)round(0.04 / dt));
        errors[i] = fabs(energy_of(solver).total - before) / before;
        assert_true(velocity_of(solver, 0).x < 1);
        assert_int_equal(solver_surface_cuts(solver).steps, 0);
        taut_solver_destroy(solver);
    }
    assert_true(errors[0] < 0.05);
    assert_true(errors[0] > 3 * errors[1]);
}

// ---- Nothing passes through anything

static void test_a_curtain_does_not_pass_through_itself(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATORS; i++)
        for (int precision = 0; precision < 2; precision++) {
            taut_solver *solver = curtain_of(integrators[i], precisions[precision], NULL);
            struct everything all = everything_of(solver);
            for (int frame = 0; frame < (quick() ? 30 : 60); frame++) {
                advance(solver, 10);
                assert_int_equal(crossings_of(solver, &all), 0);
            }
            assert_true(energy_of(solver).contact > 0);
            assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
            free_everything(&all);
            taut_solver_destroy(solver);
        }
}

// Steps of a multiple of the thickness: two cells that fly into each other, and a sheet that falls
// onto one whose corners are held.
static void test_long_steps_do_not_pass(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATORS; i++)
        for (int precision = 0; precision < 2; precision++)
            for (int falls = 0; falls < 2; falls++) {
                const char *name = precision ? "double" : "single";
                taut_solver *solver =
                    falls ? solver_of(SHEET_ON_SHEET, name, integrators[i], 4e-3, -9.81, 2e-3, 9, 9,
                                      -1.0, 11, 11, ", pins: [corners]")
                          : solver_of(SHEET_ON_SHEET, name, integrators[i], 1.6e-2, 0.0, 1e-3, 2, 2,
                                      -3.0, 2, 2, "");
                struct everything all = everything_of(solver);
                for (int step = 0; step < (falls ? 100 : 40); step++) {
                    advance(solver, 1);
                    assert_int_equal(crossings_of(solver, &all), 0);
                }
                // The top has not gone on.
                assert_true(falls || velocity_of(solver, 0).y > -2.5);
                assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
                free_everything(&all);
                taut_solver_destroy(solver);
            }
}

// A sphere that projects, and moves by two thicknesses in a step, pushes a sheet into another one,
// which a wall stops: the remainder of a step that is cut ends inside, and is counted. Without the
// wall no step is cut, and the sphere is clear.
static void test_steps_that_leave_nodes_in_a_sphere_are_counted(void **state)
{
    (void)state;
    static const char sheets[] =
        "simulation: {integrator: %s, dt: %g, steps: 1}\n"
        "contact: {thickness: 0.003}\n"
        "bodies:\n"
        "- {name: a, type: cloth, origin: [-0.1,0.055,-0.1], u: [0.2,0,0], v: [0,0,0.2],\n"
        "   nodes: [11,11], mass: 0.1, springs: {structural: {stiffness: 50},\n"
        "   shear: {stiffness: 50}}}\n"
        "- {name: b, type: cloth, origin: [-0.1,0.066,-0.1], u: [0.2,0,0], v: [0,0,0.2],\n"
        "   nodes: [11,11], mass: 0.1, springs: {structural: {stiffness: 50},\n"
        "   shear: {stiffness: 50}}}\n"
        "colliders:\n"
        "- {type: sphere, radius: 0.05, response: project, velocity: [0,6,0]}\n%s";
    static const char wall[] =
        "- {type: plane, point: [0,0.075,0], normal: [0,-1,0], response: contact}\n";
    static const char *const names[] = {"implicit_euler", "implicit_midpoint", "bdf2"};
    for (int i = 0; i < 3 * 3; i++) {
        const bool stops = i % 3 == 0;
        const int steps = i % 3 == 2 ? 20 : 5;
        taut_solver *solver = solver_of(sheets, names[i / 3], 5e-3 / steps, stops ? wall : "");
        double depth = 0;
        advance(solver, (uint64_t)steps);
        for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
            const vec3 out = vec3_subtract(position_of(solver, node),
                                           vec3_make(0, 6 * taut_solver_time(solver), 0));
            depth = fmax(depth, 0.05 - vec3_length(out));
        }
        const struct surface_cuts cuts = solver_surface_cuts(solver);
        assert_true(cuts.unresolved <= cuts.steps);
        assert_true(stops ? depth > 1e-3 && cuts.unresolved > 0
                          : depth < 1e-6 && cuts.unresolved == 0);
        taut_solver_destroy(solver);
    }
}

// ---- What glides past without touching

// A box of edges in all directions flies over a heavy sheet: its height above that, and its
// velocity across and along.
#define BOX_OVER_SHEET                                                                             \
    "precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"                         \
    "contact: {thickness: 0.002}\n"                                                                \
    "bodies:\n"                                                                                    \
    "- {name: low, type: cloth, origin: [-0.5, 0, -0.25], u: [1.5, 0, 0], v: [0, 0, 0.5],\n"       \
    "   nodes: [31, 11], mass: 1000, stiffness: 10000, rotate: [0, 10, 0]}\n"                      \
    "- {name: top, type: lattice, origin: [-0.1, " NUM ", -0.07], nodes: [5, 3, 4],\n"             \
    "   spacing: 0.05, mass: 0.4, stiffness: 2000, damping: 0.5, rotate: [0, 20, 0],\n"            \
    "   velocity: [2, " NUM ", 0]}\n"

// A rope flies over a parallel one, at this height.
#define ROPE_OVER_ROPE                                                                             \
    "precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"                         \
    "contact: {thickness: 0.002}\n"                                                                \
    "bodies:\n"                                                                                    \
    "- {name: low, type: rope, from: [0, 0, -0.1], to: [0, 0, 0.1], nodes: 6, mass: 0.01,\n"       \
    "   stiffness: 100}\n"                                                                         \
    "- {name: top, type: rope, from: [-0.055, " NUM ", -0.1], to: [-0.055, " NUM ", 0.1],\n"       \
    "   nodes: 6, mass: 0.01, stiffness: 100, velocity: [2, 0, 0]}\n"

// The mean of the nodes of the second body.
static vec3 mean_of_top(taut_solver *solver, vec3 (*of)(const taut_solver *, uint64_t))
{
    const uint64_t first = solver_topology(solver)->bodies[1].first_node;
    const uint64_t end = taut_solver_node_count(solver);
    vec3 sum = {0, 0, 0};
    for (uint64_t node = first; node < end; node++)
        sum = vec3_add(sum, of(solver, node));
    return vec3_scale(1 / (double)(end - first), sum);
}

// Destroys the solver.
static void glides_on(taut_solver *solver, int steps, double dt)
{
    const uint64_t first = solver_topology(solver)->bodies[1].first_node;
    const vec3 before = mean_of_top(solver, position_of);
    advance(solver, (uint64_t)steps);
    for (uint64_t node = first; node < taut_solver_node_count(solver); node++)
        assert_vector_near(velocity_of(solver, node), vec3_make(2, 0, 0), 1e-3);
    const vec3 moved = vec3_subtract(mean_of_top(solver, position_of), before);
    assert_vector_near(moved, vec3_make(2 * steps * dt, 0, 0), 1e-5);
    assert_int_equal(solver_surface_cuts(solver).steps, 0);
    taut_solver_destroy(solver);
}

// In steps of two to five thicknesses, at heights of 1.1 to 4 thicknesses: edges pass above edges
// that the lines beyond their ends cross, and come nearer to planes between them and what lies
// before them.
static void test_what_glides_past_keeps_its_velocity(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int p = 0; p < 3; p++) {
            glides_on(solver_of(BOX_OVER_SHEET, precisions[p], integrators[i], 5e-3, 0.008, 0.0),
                      40, 5e-3);
            glides_on(solver_of(BOX_OVER_SHEET, precisions[p], integrators[i], 2e-3, 0.0034, 0.0),
                      100, 2e-3);
            glides_on(
                solver_of(ROPE_OVER_ROPE, precisions[p], integrators[i], 5e-3, 0.0022, 0.0022), 20,
                5e-3);
        }
}

// How a box lands: at a gentle angle, and so that it would be five thicknesses below the sheet
// after a step, with upright edges that would meet all edges there on their path along the sheet.
static const struct {
    double dt, speed; // m/s, across
    int steps;
    double lost; // m/s, along, at most
} landings[] = {{3e-3, -0.5, 40, 0.02}, {5e-3, -2.0, 24, 0.25}};

// A body that lands is stopped across the surface alone, and nothing passes.
static void test_what_lands_keeps_its_velocity_along(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * 3 * 2; i++) {
        const int k = i % 2;
        taut_solver *solver = solver_of(BOX_OVER_SHEET, precisions[i / 2 % 3], integrators[i / 6],
                                        landings[k].dt, 0.012, landings[k].speed);
        struct everything all = everything_of(solver);
        for (int step = 0; step < landings[k].steps; step++) {
            advance(solver, 1);
            assert_int_equal(crossings_of(solver, &all), 0);
        }
        const vec3 velocity = mean_of_top(solver, velocity_of);
        assert_near(velocity.x, 2, landings[k].lost);
        assert_near(velocity.z, 0, landings[k].lost);
        assert_true(velocity.y > 0);
        free_everything(&all);
        taut_solver_destroy(solver);
    }
}

// Parallel ropes have no plane to pass through: one that meets another head on stays behind it.
static void test_parallel_ropes_do_not_pass(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int p = 0; p < 3; p++) {
            taut_solver *solver =
                solver_of(ROPE_OVER_ROPE, precisions[p], integrators[i], 5e-3, 0.0, 0.0);
            advance(solver, 20);
            const uint64_t first = solver_topology(solver)->bodies[1].first_node;
            for (uint64_t node = 0; node < first; node++)
                assert_true(position_of(solver, node).x > position_of(solver, first + node).x);
            assert_int_equal(solver_surface_cuts(solver).unresolved, 0);
            taut_solver_destroy(solver);
        }
}

// The nodes of a body have the same x within this.
static void is_straight(taut_solver *solver, int body, double within)
{
    const uint64_t first = solver_topology(solver)->bodies[body].first_node;
    double least = INFINITY, most = -INFINITY;
    for (uint64_t node = first; node < first + 6; node++) {
        least = fmin(least, position_of(solver, node).x);
        most = fmax(most, position_of(solver, node).x);
    }
    assert_near(most, least, within);
}

// Two cloths that fall one above the other onto a plane, by 1.2 to 2 thicknesses a step: their
// energy is measured where a step ends, also beyond the pairs that it began with.
static void test_what_falls_far_in_a_step_gains_nothing(void **state)
{
    (void)state;
    static const double speeds[] = {3, 4, 5};
    for (int i = 0; i < 9; i++) {
        taut_solver *solver = solver_of(
            "precision: double\n"
            "simulation: {integrator: %s, dt: 0.004, steps: 60}\n"
            "environment: {gravity: [0, -9.81, 0]}\n"
            "contact: {thickness: 0.01, stiffness: 200}\n"
            "bodies:\n"
            "- {name: low, type: cloth, origin: [0, 0.3, 0], u: [0.3, 0, 0], v: [0, 0, 0.3],\n"
            "   nodes: [9, 9], mass: 0.05, velocity: [0, -" NUM ", 0],\n"
            "   springs: {structural: {stiffness: 40}, shear: {stiffness: 20}}}\n"
            "- {name: high, type: cloth, origin: [0.007, 0.33, 0.003], u: [0.3, 0, 0],\n"
            "   v: [0, 0, 0.3], nodes: [10, 10], mass: 0.05, velocity: [0, -" NUM ", 0],\n"
            "   springs: {structural: {stiffness: 40}, shear: {stiffness: 20}}}\n"
            "colliders:\n- {type: plane, response: contact}\n",
            integrators[i / 3], speeds[i % 3], speeds[i % 3]);
        const double start = energy_of(solver).total;
        for (int step = 0; step < 60; step++) {
            advance(solver, 1);
            assert_true(energy_of(solver).total < 1.01 * start);
        }
        taut_solver_destroy(solver);
    }
}

// Ropes that meet beside each other, in steps of five thicknesses, push each other away along all
// of their length.
static void test_parallel_ropes_stay_parallel(void **state)
{
    (void)state;
    static const double heights[] = {5e-4, 1e-3, 1.5e-3};
    for (int i = 0; i < 3 * 3 * 3; i++) {
        const double height = heights[i % 3];
        taut_solver *solver = solver_of(ROPE_OVER_ROPE, precisions[i / 3 % 3], integrators[i / 9],
                                        5e-3, height, height);
        advance(solver, 12);
        assert_true(mean_of_top(solver, velocity_of).x < 1.9);
        is_straight(solver, 0, 1e-3);
        is_straight(solver, 1, 1e-3);
        taut_solver_destroy(solver);
    }
}

// ---- Stiffness and the energy budget

// A fifth of the stable substep.
static void test_xpbd_has_a_critical_step_of_contact(void **state)
{
    (void)state;
    taut_solver *solver = balls_of("xpbd, substeps: 8", "double", 1e-3);
    taut_critical_step critical;
    assert_int_equal(taut_solver_critical_step(solver, 0, &critical, NULL), TAUT_OK);
    assert_near(critical.dt_bound, 1e-3 * sqrt(5), 1e-6);
    taut_solver_destroy(solver);
    solver = balls_of("implicit_euler", "double", 1e-3);
    assert_int_equal(taut_solver_critical_step(solver, 0, &critical, NULL), TAUT_OK);
    assert_true(isinf(critical.dt_bound));
    taut_solver_destroy(solver);
}

// With the implicit midpoint method and a stiffness that its steps resolve.
static void test_the_budget_closes(void **state)
{
    (void)state;
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    taut_solver *solver = solver_from(
        scene_of("precision: double\nsimulation: {integrator: implicit_midpoint, dt: 1e-4, "
                 "steps: 1}\n"
                 "environment: {gravity: [0, -9.81, 0]}\n"
                 "contact: {thickness: 0.01, stiffness: 50}\n"
                 "bodies:\n"
                 "- {name: low, type: cloth, u: [0.4, 0, 0], v: [0, 0, 0.4], nodes: [9, 9],\n"
                 "   mass: 0.1, pins: [corners], spring: {stiffness: 100, damping: 0.05}}\n"
                 "- {name: ball, type: sphere, center: [0.21, 0.08, 0.19], radius: 0.06,\n"
                 "   subdivisions: 1, mass: 0.03, spring: {stiffness: 100, damping: 0.05}}\n"),
        &options);
    const double before = energy_of(solver).total;
    double most = 0;
    for (int i = 0; i < 20; i++) {
        advance(solver, 100);
        most = fmax(most, energy_of(solver).contact);
    }
    const double lost = before - energy_of(solver).total;
    assert_true(most > 1e-3 * before && lost > 0.02);
    assert_true(fabs(residual_of(solver, before)) < 0.02 * lost);
    taut_solver_destroy(solver);
}

// Steps so long that the motion is cut: what that takes, or stores, is in the budget, and the rest
// is damped.
static void test_the_budget_counts_what_is_cut(void **state)
{
    (void)state;
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = solver_from(
            scene_of(
                "precision: double\nsimulation: {integrator: %s, dt: 2e-4, steps: 1}\n" BALLS_AT(
                    "60"),
                integrators[i]),
            &options);
        const double before = energy_of(solver).total;
        for (int step = 0; step < 12; step++) {
            advance(solver, 1);
            assert_true(residual_of(solver, before) < 0.01 * before);
        }
        assert_true(solver_surface_cuts(solver).steps > 0);
        assert_true(work_of(solver).truncation != 0);
        taut_solver_destroy(solver);
    }
}

// A sheet that falls on a plane without a barrier to speak of, in one step of implicit Euler from v
// to v + k: a fraction f of it is left. The cut takes f (1 - f) m k^2 / 2, and f m k^2 / 2 is what
// the method damps.
static void test_a_shortened_step_takes_what_follows_from_its_part(void **state)
{
    (void)state;
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    for (int i = 0; i < 3; i++) { // all begin, or go on, with a step of implicit Euler
        taut_solver *solver = solver_from(
            scene_of("precision: double\nsimulation: {integrator: %s, dt: 0.01, steps: 1}\n"
                     "environment: {gravity: [0, -1000, 0]}\n"
                     "contact: {thickness: 0.001, stiffness: 1e-3}\n"
                     "bodies:\n"
                     "- {name: a, type: cloth, origin: [0, 0.1, 0], u: [1, 0, 0], v: [0, 0, 1],\n"
                     "   nodes: [3, 3], mass: 1, velocity: [0, -10, 0], spring: {stiffness: 1}}\n"
                     "colliders: [{type: plane, response: contact}]\n",
                     integrators[i]),
            &options);
        const double before = energy_of(solver).total, kick = 10;
        advance(solver, 1);
        const double fraction = -(velocity_of(solver, 4).y + 10) / kick;
        assert_int_equal(solver_surface_cuts(solver).steps, 1);
        assert_true(fraction > 0.3 && fraction < 0.7);
        assert_near(work_of(solver).truncation, fraction * (1 - fraction) * kick * kick / 2, 1e-3);
        assert_near(residual_of(solver, before), -fraction * kick * kick / 2, 1e-3);
        taut_solver_destroy(solver);
    }
}

// Springs that press a body at rest on walls, so that each step is cut and takes back what it has
// moved, which is nothing.
static void test_cuts_of_a_body_at_rest_count_nothing(void **state)
{
    (void)state;
    const struct solver_options options = {.config = {.threads = 1}, .budget = BUDGET_ON};
    for (int i = 0; i < INTEGRATORS; i++) {
        taut_solver *solver = solver_from(
            scene_of("precision: double\nsimulation: {integrator: %s, dt: 2e-3, steps: 1}\n"
                     "contact: {thickness: 0.006}\n"
                     "bodies:\n"
                     "- {name: b, type: lattice, origin: [-0.08, -0.08, -0.08], nodes: [3, 3, 3],\n"
                     "   spacing: 0.08, mass: 0.05,\n"
                     "   spring: {stiffness: 2000, damping: 0.02, rest_length: 0.15}}\n"
                     "colliders:\n"
                     "- {type: room, response: contact, min: [-0.1, -0.1, -0.1],\n"
                     "   max: [0.1, 0.1, 0.1]}\n",
                     integrators[i]),
            &options);
        const double before = energy_of(solver).total;
        advance(solver, 300);
        const double residual = residual_of(solver, before), taken = work_of(solver).truncation;
        const uint64_t cuts = solver_surface_cuts(solver).steps;
        assert_true(fabs(taken) < 0.5 * before && fabs(residual) < before);
        advance(solver, 200);
        assert_int_equal(solver_surface_cuts(solver).steps, cuts + 200);
        assert_near(work_of(solver).truncation, taken, 2e-3);
        assert_near(residual_of(solver, before), residual, 5e-3);
        taut_solver_destroy(solver);
    }
}

// ---- The same bits

struct hashed {
    const char *integrator, *precision;
};

static uint64_t hash_of_curtain(struct hashed run, const struct solver_options *options)
{
    taut_solver *solver = curtain_of(run.integrator, run.precision, options);
    advance(solver, quick() ? 200 : 250);
    const uint64_t hash = taut_solver_hash(solver);
    assert_true(energy_of(solver).contact > 0);
    taut_solver_destroy(solver);
    return hash;
}

static void test_bits_do_not_depend_on_the_machine(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    for (int i = 0; i < INTEGRATORS; i++)
        for (int precision = 0; precision < 2; precision++) {
            const struct hashed run = {integrators[i], precisions[precision]};
            struct solver_options options = {.config = {.threads = 1, .isa = TAUT_ISA_BASE}};
            const uint64_t expected = hash_of_curtain(run, &options);
            for (int isa = 0; isa < ISA_COUNT; isa++)
                for (int t = 0; isa_available((enum isa)isa) && t < 4; t++) {
                    // All threads on one instruction set, and one thread on all.
                    if ((isa > 0) == (t > 0))
                        continue;
                    options.config.isa = (taut_isa)(TAUT_ISA_BASE + isa);
                    options.config.threads = threads[t];
                    if (hash_of_curtain(run, &options) != expected)
                        fail_msg("%s, %s: %s and %d threads give another hash", run.integrator,
                                 run.precision, isa_name((enum isa)isa), threads[t]);
                }
        }
}

static void test_a_restored_run_continues_to_the_bit(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATORS; i++) {
        taut_scene *scene = scene_of(
            "simulation: {integrator: %s, dt: 2e-3, steps: 4000}\n" CURTAIN, integrators[i]);
        const taut_config config = {.threads = 1};
        taut_solver *solver = create_with(scene, &config);
        advance(solver, 223);
        const struct saved saved = save(solver);
        taut_solver *next = restore_with(scene, saved, &config);
        assert_true(energy_of(solver).contact > 0);
        advance(solver, 60);
        advance(next, 60);
        assert_int_equal(taut_solver_hash(solver), taut_solver_hash(next));
        taut_bytes_release(saved.bytes);
        taut_solver_destroy(solver);
        taut_solver_destroy(next);
        taut_scene_destroy(scene);
    }
}

// A ball whose gas throws its nodes farther in a step than their velocities would, through the
// reach of any lists that were made for these: nothing of the run may depend on when lists were
// made.
#define BURSTING                                                                                   \
    "contact: {thickness: 0.004%s}\n"                                                              \
    "bodies:\n"                                                                                    \
    "- {name: sheet, type: cloth, origin: [-0.3, 0, -0.3], u: [0.6, 0, 0], v: [0, 0, 0.6],\n"      \
    "   nodes: [12, 12], mass: 0.3, stiffness: 60, velocity: [0, 0.5, 0]}\n"                       \
    "- {name: ball, type: sphere, center: [-0.1, 0.12, -0.1], radius: 0.1, subdivisions: 2,\n"     \
    "   mass: 0.1, stiffness: 60, pressure: {amount: 2}, velocity: [0, -1, 0]}\n"

static void restore_while_it_bursts(const char *integrator, const char *precision,
                                    const char *friction)
{
    static const uint64_t moments[] = {1, 2, 5, 10};
    taut_scene *scene = scene_of("precision: %s\nsimulation: {integrator: %s, dt: 2e-3, steps: "
                                 "4000}\n" BURSTING,
                                 precision, integrator, friction);
    const taut_config config = {.threads = 1};
    taut_solver *whole = create_with(scene, &config);
    advance(whole, 25);
    for (int i = 0; i < 4; i++) {
        taut_solver *first = create_with(scene, &config);
        advance(first, moments[i]);
        const struct saved saved = save(first);
        taut_solver *rest = restore_with(scene, saved, &config);
        advance(rest, 25 - moments[i]);
        if (taut_solver_hash(rest) != taut_solver_hash(whole))
            fail_msg("%s, %s%s: restored at step %d, the run ends differently", integrator,
                     precision, friction, (int)moments[i]);
        const struct surface_cuts cuts = solver_surface_cuts(rest),
                                  all = solver_surface_cuts(whole);
        assert_int_equal(cuts.steps, all.steps);
        assert_int_equal(cuts.last, all.last);
        taut_bytes_release(saved.bytes);
        taut_solver_destroy(first);
        taut_solver_destroy(rest);
    }
    taut_solver_destroy(whole);
    taut_scene_destroy(scene);
}

static void test_steps_beyond_the_lists_do_not_depend_on_them(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATORS - 1; i++)
        for (int p = 0; p < 3; p++)
            restore_while_it_bursts(integrators[i], precisions[p],
                                    p == 1 ? ", friction_coefficient: 0.4" : "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_tangent_is_the_difference_of_forces),
        cmocka_unit_test(test_the_tangent_is_symmetric_and_definite),
        cmocka_unit_test(test_steps_are_longer_than_explicit_ones),
        cmocka_unit_test(test_collisions_add_no_energy),
        cmocka_unit_test(test_impacts_within_a_step_add_no_energy),
        cmocka_unit_test(test_momentum_is_kept),
        cmocka_unit_test(test_the_midpoint_method_keeps_its_order),
        cmocka_unit_test(test_a_curtain_does_not_pass_through_itself),
        cmocka_unit_test(test_long_steps_do_not_pass),
        cmocka_unit_test(test_steps_that_leave_nodes_in_a_sphere_are_counted),
        cmocka_unit_test(test_what_glides_past_keeps_its_velocity),
        cmocka_unit_test(test_what_lands_keeps_its_velocity_along),
        cmocka_unit_test(test_parallel_ropes_do_not_pass),
        cmocka_unit_test(test_what_falls_far_in_a_step_gains_nothing),
        cmocka_unit_test(test_parallel_ropes_stay_parallel),
        cmocka_unit_test(test_xpbd_has_a_critical_step_of_contact),
        cmocka_unit_test(test_the_budget_closes),
        cmocka_unit_test(test_the_budget_counts_what_is_cut),
        cmocka_unit_test(test_a_shortened_step_takes_what_follows_from_its_part),
        cmocka_unit_test(test_cuts_of_a_body_at_rest_count_nothing),
        cmocka_unit_test(test_bits_do_not_depend_on_the_machine),
        cmocka_unit_test(test_a_restored_run_continues_to_the_bit),
        cmocka_unit_test(test_steps_beyond_the_lists_do_not_depend_on_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
