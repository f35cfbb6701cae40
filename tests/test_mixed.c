// Precision mixed: no increment of positions and velocities is lost, however small the step and
// however far from the origin; against closed forms and double precision. That bits do not depend
// on threads, instruction sets, calls and checkpoints is tested with those of the other precisions
// (test_determinism.c, test_restart.c, test_checkpoint.c).
#include "physics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "scene/reader.h"

static const char *const integrators[] = {"explicit_euler", "symplectic_euler",
                                          "verlet",         "velocity_verlet",
                                          "midpoint",       "rk4",
                                          "implicit_euler", "implicit_midpoint",
                                          "bdf2",           "xpbd"};

enum { INTEGRATORS = sizeof integrators / sizeof *integrators };

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

// The integrator's name with its options.
static const char *method(const char *integrator)
{
    if (is(integrator, "xpbd"))
        return "xpbd, substeps: 2";
    if (is(integrator, "implicit_euler"))
        return "implicit_euler, implicit: {tolerance: 1e-6}";
    if (is(integrator, "implicit_midpoint"))
        return "implicit_midpoint, implicit: {tolerance: 1e-6}";
    return is(integrator, "bdf2") ? "bdf2, implicit: {tolerance: 1e-6}" : integrator;
}

// ---- Free fall, as every method has it in exact arithmetic

// m, height lost in n steps of h from rest with bdf2.
static double fall_of_bdf2(double h, int n)
{
    double v = 9.81 * h, y = h * v, v_before = 0, y_before = 0;
    for (int i = 1; i < n; i++) {
        const double v_next = (4 * v - v_before + 2 * h * 9.81) / 3;
        const double y_next = (4 * y - y_before + 2 * h * v_next) / 3;
        v_before = v, y_before = y;
        v = v_next, y = y_next;
    }
    return y;
}

// The same with the others, in closed form.
static double fall(const char *integrator, double h, int n)
{
    const double square = 9.81 * h * h / 2, steps = n;
    if (is(integrator, "bdf2"))
        return fall_of_bdf2(h, n);
    if (is(integrator, "explicit_euler"))
        return square * steps * (steps - 1);
    if (is(integrator, "symplectic_euler") || is(integrator, "implicit_euler"))
        return square * steps * (steps + 1);
    if (is(integrator, "xpbd"))
        return square / 4 * 2 * steps * (2 * steps + 1);
    return square * steps * steps;
}

static double error_of_fall(const char *precision, const char *integrator, double height, int steps)
{
    taut_solver *solver =
        solver_of("precision: %s\nsimulation: {integrator: %s, dt: 1e-5, steps: 1}\n"
                  "environment: {gravity: [0,-9.81,0]}\n"
                  "bodies: [{name: r, type: rope, from: [0," NUM ",0], to: [1," NUM ",0],\n"
                  "  nodes: 3, node_mass: 0.1, spring: {stiffness: 0}}]\n",
                  precision, method(integrator), height, height);
    advance(solver, (uint64_t)steps);
    const double fallen = height - position_of(solver, 1).y;
    const double speed = velocity_of(solver, 1).y + 9.81e-5 * steps;
    taut_solver_destroy(solver);
    if (is(precision, "mixed"))
        assert_near(speed, 0, 2e-6);
    return fabs(fallen - fall(integrator, 1e-5, steps));
}

static void test_free_fall(void **state)
{
    (void)state;
    enum { STEPS = 60000 };
    for (int i = 0; i < INTEGRATORS; i++) {
        // 6e-8 of each increment of 2 m of fall
        assert_near(error_of_fall("mixed", integrators[i], 3, STEPS), 0, 2e-7);
        assert_near(error_of_fall("mixed", integrators[i], 1000, STEPS), 0, 2e-7);
        assert_true(error_of_fall("single", integrators[i], 1000, STEPS) > 1e-3);
    }
}

// ---- Against double precision

static taut_solver *jelly(const char *precision, const char *integrator, double distance,
                          const char *more)
{
    return solver_of("precision: %s\nsimulation: {integrator: %s, dt: 2e-5, steps: 1}\n"
                     "environment: {gravity: [0,-9.81,0], air_drag: 1e-5}\n"
                     "bodies: [{name: j, type: lattice, origin: [" NUM ",0.1," NUM "],\n"
                     "  nodes: [5,4,3], spacing: 0.1, mass: 0.6, velocity: [0.3,0,-0.2],\n"
                     "  springs: {k1: {stiffness: 300, damping: 0.01},\n"
                     "  k2: {stiffness: 200}, k3: {stiffness: 100}}}]\n%s",
                     precision, method(integrator), distance, distance, more);
}

static double farthest_apart(taut_solver *a, taut_solver *b)
{
    double *from = all_positions(a), *to = all_positions(b), apart = 0;
    for (uint64_t i = 0; i < 3 * taut_solver_node_count(a); i++)
        apart = fmax(apart, fabs(from[i] - to[i]));
    free(from);
    free(to);
    return apart;
}

static const char *const penalty =
    "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 2000, friction: 0.01,\n"
    "  absorption: 0.2}]\n";

static const char *const projecting =
    "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], response: project,\n"
    "  friction: 0.01, restitution: 0.3}]\n";

// 1 km from the origin, in the air and on a floor: nearer to double than single is by orders.
static void test_far_from_the_origin(void **state)
{
    (void)state;
    const char *const more[] = {"", penalty, projecting};
    for (int i = 0; i < INTEGRATORS; i++)
        for (int k = 0; k < 3; k++) {
            taut_solver *solvers[3];
            static const char *const precisions[] = {"double", "mixed", "single"};
            for (int p = 0; p < 3; p++) {
                solvers[p] = jelly(precisions[p], integrators[i], 1000, more[k]);
                advance(solvers[p], 10000);
            }
            const double mixed = farthest_apart(solvers[0], solvers[1]);
            const double single = farthest_apart(solvers[0], solvers[2]);
            if (!(mixed < 2e-5) || !(single > 50 * mixed))
                fail_msg("%s, %d: mixed is %g m from double, single %g", integrators[i], k, mixed,
                         single);
            const double energy = energy_of(solvers[0]).total;
            assert_near(energy_of(solvers[1]).total, energy, 1e-5 * fabs(energy));
            for (int p = 0; p < 3; p++)
                taut_solver_destroy(solvers[p]);
        }
}

// Every plan of springs and every stage of a step has the same motion.
static void test_kernels(void **state)
{
    (void)state;
    static const taut_kernel kernels[] = {TAUT_KERNEL_REFERENCE, TAUT_KERNEL_GRID,
                                          TAUT_KERNEL_PACKED, TAUT_KERNEL_COLOURED};
    static const char *const text =
        "precision: %s\nsimulation: {integrator: %s, dt: 1e-5, steps: 1, keep_velocity: 0.9999}\n"
        "environment: {gravity: [0,-9.81,0], wind: {velocity: [1,0,3], relative: true}}\n"
        "bodies: [{name: c, type: cloth, origin: [500,0,0], u: [1,0,0], v: [0,1,0],\n"
        "  nodes: [21,19], mass: 0.3, pins: [top],\n"
        "  springs: {structural: {stiffness: 200, damping: 0.01},\n"
        "  shear: {stiffness: 50, damping: 0.01}, bend: {stiffness: 10, damping: 0.01}},\n"
        "  drives: [{node: 200, velocity: [0.1,0.2,0]}]}]\n";
    for (int i = 0; i < INTEGRATORS; i++) {
        taut_solver *expected = solver_of(text, "double", method(integrators[i]));
        advance(expected, 3000);
        for (int k = 0; k < 4; k++) {
            if (kernels[k] == TAUT_KERNEL_PACKED && is(integrators[i], "xpbd"))
                continue; // which it does not have
            struct solver_options options = {.config = {.threads = 1, .kernel = kernels[k]}};
            taut_solver *solver =
                solver_from(scene_of(text, "mixed", method(integrators[i])), &options);
            advance(solver, 3000);
            const double apart = farthest_apart(expected, solver);
            if (!(apart < 5e-6))
                fail_msg("%s, kernel %d: %g m apart", integrators[i], k, apart);
            taut_solver_destroy(solver);
        }
        taut_solver_destroy(expected);
    }
}

// ---- What is set and read

static const char *const points =
    "precision: %s\nsimulation: {integrator: velocity_verlet, dt: 1e-3, steps: 1}\n"
    "bodies: [{name: n, type: network, nodes: [[1000.123456789,2,3],[1001.3,2.00000001,-7]],\n"
    "  node_mass: [1, 1], velocities: [[0.1,0.123456789012,0],[0,0,0]],\n"
    "  springs: [[0, 1, {stiffness: 1}]]}]\n";

static void assert_points(const taut_solver *solver)
{
    const vec3 a = position_of(solver, 0), b = position_of(solver, 1);
    assert_near(a.x, 1000.123456789, 1e-11);
    assert_near(b.y, 2.00000001, 1e-13);
    assert_near(b.z, -7, 1e-13);
    assert_near(velocity_of(solver, 0).y, 0.123456789012, 1e-14);
}

static void restore(taut_solver *solver, taut_solver *from)
{
    taut_error error = {0};
    if (solver_restore_from(solver, from, NULL, NULL, &error) != TAUT_OK)
        fail_msg("%s", error.text);
}

static void test_restored_points_keep_their_positions(void **state)
{
    (void)state;
    static const char *const precisions[] = {"mixed", "double"};
    for (int p = 0; p < 2; p++) {
        taut_solver *mixed = solver_of(points, "mixed"), *other = solver_of(points, precisions[p]);
        assert_points(mixed);
        advance(other, 3);
        restore(other, mixed);
        assert_points(other);
        advance(other, 5);
        restore(mixed, other);
        assert_near(farthest_apart(mixed, other), 0, 1e-12);
        taut_solver_destroy(mixed);
        taut_solver_destroy(other);
    }
}

// The mouse spring, with the integrators that have it in positions or in the history.
static void test_mouse_spring(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATORS; i++) {
        taut_solver *solvers[2] = {jelly("double", integrators[i], 1000, ""),
                                   jelly("mixed", integrators[i], 1000, "")};
        const struct solver_grab grab = {.node = 7, .target = {1000.5, 0.5, 1000}};
        taut_error error = {0};
        for (int p = 0; p < 2; p++) {
            assert_int_equal(solver_grab(solvers[p], &grab, &error), TAUT_OK);
            advance(solvers[p], 3000);
        }
        assert_near(farthest_apart(solvers[0], solvers[1]), 0, 1e-5);
        for (int p = 0; p < 2; p++)
            taut_solver_destroy(solvers[p]);
    }
}

// ---- Messages

// The number of warnings; the first must have a text.
static size_t warnings_of(const char *precision, const char *integrator, const char *dt,
                          double height, const char *wanted)
{
    struct diagnostics found = {0};
    taut_error error = {0};
    taut_scene *scene =
        scene_of("precision: %s\nsimulation: {integrator: %s, dt: %s, duration: 1}\n"
                 "environment: {gravity: [0,-9.81,0]}\n"
                 "bodies: [{name: r, type: rope, from: [0," NUM ",0], to: [1," NUM ",0],\n"
                 "  nodes: 3, node_mass: 0.1, spring: {stiffness: 10}, velocity: [0,1,0]}]\n",
                 precision, integrator, dt, height, height);
    const struct solver_options options = {.config = {.threads = 1}, .diagnostics = &found};
    taut_solver *solver;
    assert_int_equal(solver_create(scene, &options, &solver, &error), TAUT_OK);
    const size_t count = found.count;
    if (count > 0 && wanted && !strstr(found.items[0].text, wanted))
        fail_msg("%s", found.items[0].text);
    taut_solver_destroy(solver);
    taut_scene_destroy(scene);
    diagnostics_free(&found);
    return count;
}

static void test_warning(void **state)
{
    (void)state;
    static const char *const both = "Use 'precision: mixed', 'precision: double'";
    assert_int_equal(warnings_of("single", "symplectic_euler", "1e-3", 3, NULL), 0);
    assert_int_equal(warnings_of("single", "symplectic_euler", "1e-4", 3, NULL), 0);
    assert_int_equal(warnings_of("single", "symplectic_euler", "1e-6", 3, both), 1);
    assert_int_equal(warnings_of("single", "verlet", "1e-4", 1000, both), 1);
    assert_int_equal(warnings_of("single", "implicit_euler", "1e-4", 1000, both), 1);
    assert_int_equal(warnings_of("mixed", "symplectic_euler", "1e-6", 1000, NULL), 0);
    assert_int_equal(warnings_of("double", "symplectic_euler", "1e-6", 1000, NULL), 0);
    // Nodes slower than 0.31 m/s: half of 2^-14 m in 1e-4 s.
    assert_int_equal(warnings_of("single", "rk4", "1e-4", 1000, "slower than 0.31 m/s"), 1);
}

// Nodes that touch a collider with their low parts only: high parts alone must not decide whether
// the box of a block is near it, since the blocks of a tangent depend on the threads.
static uint64_t hash_of_nodes_on_a_surface(const void *context,
                                           const struct solver_options *options)
{
    const char *const *text = context;
    taut_scene *scene =
        scene_of("precision: mixed\nsimulation: {integrator: %s, dt: 2e-4, steps: 1}\n"
                 "bodies: [{name: c, type: cloth, u: [1,0,0.1], v: [0,0.2,0.9], nodes: [33,17],\n"
                 "  mass: 0.3, stiffness: 300}]\n"
                 "colliders: [{%s, stiffness: 300}]\n",
                 text[0], text[1]);
    taut_solver *solver = solver_from(scene, options);
    advance(solver, 3);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_nodes_on_a_surface(void **state)
{
    (void)state;
    static const char *const colliders[] = {
        "type: plane, point: [0,0.1,0]",
        "type: sphere, center: [0.5,0.1,0.45], radius: 0.5",
        "type: room, min: [-1,0.1,-1], max: [2,2,2]",
    };
    for (int i = 0; i < INTEGRATORS; i++)
        for (int c = 0; c < 3; c++)
            assert_same_hashes(hash_of_nodes_on_a_surface,
                               (const char *[]){integrators[i], colliders[c]});
}

// Positions are counted from the middle of the scene, which the hash has too.
static void test_hash_tells_places_apart(void **state)
{
    (void)state;
    static const char *const heights[] = {"0", "1e6", "1e7", "-1e6"};
    uint64_t hashes[4];
    for (int i = 0; i < 4; i++) {
        taut_solver *solver =
            solver_of("precision: mixed\nsimulation: {integrator: rk4, dt: 1e-3, steps: 1}\n"
                      "bodies: [{name: n, type: network, nodes: [[0,%s,0]], node_mass: 1}]\n",
                      heights[i]);
        hashes[i] = taut_solver_hash(solver);
        taut_solver_destroy(solver);
        for (int k = 0; k < i; k++)
            assert_true(hashes[k] != hashes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_far_from_the_origin),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_restored_points_keep_their_positions),
        cmocka_unit_test(test_mouse_spring),
        cmocka_unit_test(test_warning),
        cmocka_unit_test(test_nodes_on_a_surface),
        cmocka_unit_test(test_hash_tells_places_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
