// Gas in closed bodies: volumes by every rule, forces on faces, pumping, collapse.
#include "physics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rules[] = {"divergence", "box", "sphere", "ellipsoid"};

static double volume_of(const char *body, const char *rule)
{
    taut_solver *solver =
        solver_of(HEADER("symplectic_euler",
                         "0.001") "bodies: [{name: b, %s, pressure: {amount: 1, volume: %s}}]\n",
                  body, rule);
    double volume = taut_solver_body_volume(solver, 0);
    taut_solver_destroy(solver);
    return volume;
}

// A cube of edge a: a^3; pi/6 a^3 for the sphere and the ellipsoid of its bounding box.
static void test_volume_of_a_cube(void **state)
{
    (void)state;
    const double a = 0.7, expected[] = {1, 1, PI / 6, PI / 6};
    for (int far = 0; far < 2; far++)
        for (int rule = 0; rule < 4; rule++) {
            char body[300];
            snprintf(body, sizeof body,
                     "type: lattice, origin: [0,0,0], nodes: [2,2,2], spacing: 0.7, mass: 1,\n"
                     "springs: {k1: {stiffness: 1}}, translate: [%d,%d,%d]",
                     far ? 700000 : 0, far ? -700000 : 0, far ? 700000 : 0);
            double exact = expected[rule] * a * a * a;
            assert_near(volume_of(body, rules[rule]) / exact, 1, far ? 1e-9 : 1e-12);
        }
}

// A regular tetrahedron of edge a: a^3 / (6 sqrt 2). Its corners are four of a cube of edge
// a / sqrt 2, which is its bounding box.
static void test_volume_of_a_tetrahedron(void **state)
{
    (void)state;
    const double edge = 0.7 * sqrt(2), box = 0.7 * 0.7 * 0.7;
    const double expected[] = {edge * edge * edge / (6 * sqrt(2)), box, PI / 6 * box, PI / 6 * box};
    const char *path = physics_file(
        "tetrahedron.obj",
        "v 0 0 0\nv 0.7 0.7 0\nv 0.7 0 0.7\nv 0 0.7 0.7\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
    for (int far = 0; far < 2; far++)
        for (int rule = 0; rule < 4; rule++) {
            char body[5000];
            snprintf(body, sizeof body,
                     "type: mesh, file: '%s', mass: 1, springs: {edges: {stiffness: 1}},\n"
                     "translate: [%d,0,%d]",
                     path, far ? 700000 : 0, far ? -700000 : 0);
            assert_near(volume_of(body, rules[rule]) / expected[rule], 1, far ? 1e-9 : 1e-12);
        }
}

// For a box a x b x c the three estimates differ: a b c; 4/3 pi of the mean half edge cubed;
// pi/6 a b c.
static void test_volume_of_a_box(void **state)
{
    (void)state;
    const double a = 0.2, b = 0.4, c = 0.6, radius = (a + b + c) / 6;
    const double expected[] = {a * b * c, a * b * c, 4.0 / 3 * PI * radius * radius * radius,
                               PI / 6 * a * b * c};
    for (int rule = 0; rule < 4; rule++)
        assert_near(volume_of("type: lattice, origin: [1,2,3], nodes: [2,3,4], spacing: 0.2,\n"
                              "mass: 1, springs: {k1: {stiffness: 1}}",
                              rules[rule]) /
                        expected[rule],
                    1, 1e-12);
}

// The icosahedron of radius R: 5/12 (3 + sqrt 5) a^3 with the edge a = R / sin(2 pi / 5).
static void test_volume_of_an_icosahedron(void **state)
{
    (void)state;
    double a = 1.5 / sin(2 * PI / 5);
    assert_near(volume_of("type: sphere, center: [0,1,0], radius: 1.5, subdivisions: 0, mass: 1,\n"
                          "springs: {edges: {stiffness: 1}}",
                          "divergence") /
                    (5.0 / 12 * (3 + sqrt(5)) * a * a * a),
                1, 1e-12);
}

// In a plane: the regular n-gon has n/2 r^2 sin(2 pi / n); for n = 4k its bounding box is a square
// of side 2r: 4 r^2 and pi r^2.
static void test_area_of_a_ring(void **state)
{
    (void)state;
    const double r = 1.5, expected[] = {6 * r * r * sin(PI / 6), 4 * r * r, PI * r * r, PI * r * r};
    for (int rule = 0; rule < 4; rule++)
        for (int far = 0; far < 2; far++) {
            char body[300];
            snprintf(body, sizeof body,
                     "type: ring, center: [%d,%d,2], radius: 1.5, nodes: 12, mass: 1,\n"
                     "springs: {edges: {stiffness: 1}}",
                     far ? 1500000 : 3, far ? 1500000 : -4);
            assert_near(volume_of(body, rules[rule]) / expected[rule], 1, far ? 1e-9 : 1e-12);
        }
}

static taut_solver *ball_of(const char *pressure, double mass)
{
    return solver_of(
        HEADER("symplectic_euler",
               "0.001") "bodies: [{name: ball, type: sphere, center: [3,1,2], radius: 1,\n"
                        "  subdivisions: 2, mass: " NUM ", springs: {edges: {stiffness: 0}},\n"
                        "  pressure: {%s}}]\n",
        mass, pressure);
}

static void crumple(taut_solver *solver)
{
    uint64_t seed = 23;
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 by = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
        put(solver, i, vec3_add(position_of(solver, i), vec3_scale(0.05, by)));
    }
}

// P A n of every face, a third to each corner, computed here independently.
static void assert_pressure(taut_solver *solver, double pressure)
{
    uint64_t nodes = taut_solver_node_count(solver);
    vec3 *expected = calloc((size_t)nodes, sizeof *expected);
    assert_non_null(expected);
    for (uint64_t f = 0; f < solver_topology(solver)->face_count; f++) {
        const uint32_t *face = solver_topology(solver)->faces[f];
        vec3 a = position_of(solver, face[0]);
        vec3 product = vec3_cross(vec3_subtract(position_of(solver, face[1]), a),
                                  vec3_subtract(position_of(solver, face[2]), a));
        for (int corner = 0; corner < 3; corner++)
            expected[face[corner]] =
                vec3_add(expected[face[corner]], vec3_scale(pressure / 6, product));
    }
    double *forces = all_forces(solver);
    for (uint64_t i = 0; i < nodes; i++)
        assert_vector_near(vec3_make(forces[3 * i], forces[3 * i + 1], forces[3 * i + 2]),
                           expected[i], 1e-12 * fabs(pressure));
    free(forces);
    free(expected);
}

// P = nRT / V - P_atm, or nRT0 V0^(gamma - 1) / V^gamma - P_atm; V0 the built volume.
static void test_force_on_faces(void **state)
{
    (void)state;
    taut_solver *solver = ball_of("amount: 60, atmosphere: 7", 1);
    double built = taut_solver_body_volume(solver, 0);
    crumple(solver);
    double volume = taut_solver_body_volume(solver, 0);
    assert_true(fabs(volume / built - 1) > 1e-4);
    assert_pressure(solver, 60 / volume - 7);
    taut_solver_destroy(solver);
    solver = ball_of("amount: 60, atmosphere: 7, gamma: 1.4", 1);
    crumple(solver);
    assert_pressure(solver, 60 * pow(built, 0.4) / pow(volume, 1.4) - 7);
    taut_solver_destroy(solver);
}

// P l n of every edge, half to each end.
static void test_force_on_edges(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler",
               "0.001") "bodies: [{name: r, type: ring, center: [0,0,0], radius: 2, nodes: 6,\n"
                        "  mass: 1, springs: {edges: {stiffness: 0}}, pressure: {amount: 60}}]\n");
    // Each node of a hexagon gets P l outward (two halves of P l at 30 degrees to it: cos 30) ...
    double side = 2, area = 6 * 0.25 * sqrt(3) * side * side;
    double outward = 60 / area * side * cos(PI / 6);
    for (uint64_t i = 0; i < 6; i++) {
        vec3 direction = vec3_scale(0.5, position_of(solver, i));
        assert_vector_near(force_on(solver, i), vec3_scale(outward, direction), 1e-12);
    }
    taut_solver_destroy(solver);
}

// On a closed body net force and net torque are 0 to round-off.
static void test_no_net_force_and_torque(void **state)
{
    (void)state;
    taut_solver *solver = ball_of("amount: 60", 1);
    crumple(solver);
    double *forces = all_forces(solver), sum = 0;
    vec3 net = {0, 0, 0}, torque = {0, 0, 0};
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 force = vec3_make(forces[3 * i], forces[3 * i + 1], forces[3 * i + 2]);
        net = vec3_add(net, force);
        torque = vec3_add(torque, vec3_cross(position_of(solver, i), force));
        sum += vec3_length(force);
    }
    assert_true(sum > 10);
    assert_vector_near(net, vec3_make(0, 0, 0), 1e-14 * sum);
    assert_vector_near(torque, vec3_make(0, 0, 0), 1e-13 * sum);
    free(forces);
    taut_solver_destroy(solver);
}

// At step n the force uses n increments of inflate * amount, the first step one; then all. Nodes
// are too heavy to move, so V is constant.
static void test_pumping(void **state)
{
    (void)state;
    taut_solver *solver = ball_of("amount: 60, inflate: 0.3", 1e15);
    double volume = taut_solver_body_volume(solver, 0);
    static const double fractions[] = {0.3, 0.6, 0.9, 1, 1};
    for (int step = 0; step < 5; step++) {
        assert_pressure(solver, fractions[step] * 60 / volume);
        advance(solver, 1);
    }
    taut_solver_destroy(solver);
    solver = ball_of("amount: 60, inflate: 1", 1e15);
    assert_pressure(solver, 60 / volume);
    taut_solver_destroy(solver);
}

// The first step moves nodes by this force, with each integrator: v = h F / m after it, up to terms
// of order h.
static void test_first_increment_acts_in_the_first_step(void **state)
{
    (void)state;
    static const char *const integrators[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                              "velocity_verlet", "midpoint",         "rk4"};
    for (int i = 0; i < 6; i++) {
        taut_solver *solver =
            solver_of("precision: double\nsimulation: {integrator: %s, dt: 1e-4, steps: 1}\n"
                      "bodies: [{name: b, type: lattice, origin: [0,0,0], nodes: [2,2,2],\n"
                      "  spacing: 1, node_mass: 1, springs: {k1: {stiffness: 0}},\n"
                      "  pressure: {amount: 60, inflate: 0.01}}]\n",
                      integrators[i]);
        double pressure = 0.6, area = 0;
        vec3 force = force_on(solver, 7);
        assert_true(force.x > 0);
        area = vec3_length(force) / pressure;
        assert_true(area > 0.1);
        advance(solver, 1);
        vec3 velocity = velocity_of(solver, 7);
        // velocity Verlet and Verlet close the step with the second increment: 1 to 1.5 times
        double ratio = vec3_length(velocity) / (1e-4 * vec3_length(force));
        bool verlet = strstr(integrators[i], "verlet") != NULL;
        assert_near(ratio, verlet ? 1.5 : 1, 1e-5);
        taut_solver_destroy(solver);
    }
}

static void assert_collapse(taut_solver *solver)
{
    taut_error error = {0};
    assert_int_equal(taut_solver_step(solver, 10, &error), TAUT_ERROR_COLLAPSED);
    assert_int_equal(error.code, TAUT_ERROR_COLLAPSED);
    if (!strstr(error.text, "'ball'") || !strstr(error.text, "t = 0.005 s"))
        fail_msg("'%s' does not name body and time", error.text);
    assert_true(taut_solver_step_count(solver) <= 7);
    // The run stays collapsed.
    assert_int_equal(taut_solver_step(solver, 1, NULL), TAUT_ERROR_COLLAPSED);
    taut_solver_destroy(solver);
}

// V <= 0 ends the run: a body turned inside out, and a flat one.
static void test_collapse(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        taut_solver *solver = ball_of("amount: 60", 1e6);
        advance(solver, 5);
        for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
            vec3 at = position_of(solver, i);
            put(solver, i, vec3_make(flat ? 3 : -at.x, at.y, at.z));
        }
        assert_collapse(solver);
    }
}

// How a run ends that is divided into calls of `each` steps, with energies and forces read between
// them if it `evaluates`.
struct collapse {
    uint64_t steps, hash;
    double time, volume;
    taut_error error;
};

static struct collapse collapse_in_parts(const char *text, uint64_t each, bool evaluates)
{
    enum { STEPS = 400 };
    struct collapse found = {0};
    taut_solver *solver = solver_of("%s", text);
    taut_status status = TAUT_OK;
    for (uint64_t done = 0; done < STEPS && status == TAUT_OK; done += each) {
        taut_energy energy;
        if (evaluates) {
            assert_int_equal(taut_solver_energy(solver, &energy, NULL), TAUT_OK);
            (void)force_on(solver, 0);
        }
        status = taut_solver_step(solver, each, &found.error);
    }
    if (status != TAUT_ERROR_COLLAPSED)
        fail_msg("%s (%s)", "this run does not collapse", text);
    found.steps = taut_solver_step_count(solver);
    found.time = taut_solver_time(solver);
    found.hash = taut_solver_hash(solver);
    found.volume = taut_solver_body_volume(solver, 0);
    // It stays as it is.
    assert_int_equal(taut_solver_step(solver, each, NULL), TAUT_ERROR_COLLAPSED);
    assert_true(taut_solver_step_count(solver) == found.steps);
    assert_true(taut_solver_hash(solver) == found.hash);
    taut_solver_destroy(solver);
    return found;
}

// A run with too long a step ends in the same state and with the same message however its steps are
// divided among calls, and the message has the step, the time and, if the collapse is not one
// within a step, the volume of that state. Gas on packed springs beside a cloth, whose nodes move
// first; on a lattice; and on edges in a plane.
static void test_collapse_in_parts(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "[{name: ball, type: sphere, center: [0,0,0], radius: 0.3, subdivisions: 2, mass: 0.4,\n"
        "  springs: {edges: {stiffness: 20}}, pressure: {amount: 2, inflate: 0.01}},\n"
        "  {name: c, type: cloth, origin: [5,0,0], u: [1,0,0], v: [0,0,1.1], nodes: [4,4],\n"
        "  mass: 1, spring: {stiffness: 5}, velocity: [1,2,3]}]\n",
        "[{name: ball, type: lattice, origin: [0,0,0], nodes: [4,4,4], spacing: 0.1, mass: 0.4,\n"
        "  springs: {k1: {stiffness: 30}}, pressure: {amount: 0.4, inflate: 0.01}}]\n",
        "[{name: ball, type: ring, center: [0,0,0], radius: 0.3, nodes: 24, mass: 0.4,\n"
        "  stiffness: 60, pressure: {amount: 3, inflate: 0.01}}]\n"};
    static const char *const integrators[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                              "velocity_verlet", "midpoint",         "rk4"};
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < 6; i++)
            for (int work = 0; work < 2; work++) {
                char text[1400];
                snprintf(text, sizeof text,
                         "precision: double\nsimulation: {integrator: %s, dt: %g, steps: 400}\n"
                         "bodies: %soutput: {work: %s}\n",
                         integrators[i],
                         b == 0   ? 0.0161
                         : b == 1 ? 0.03
                                  : 0.04,
                         bodies[b], work ? "true" : "false");
                const struct collapse whole = collapse_in_parts(text, 400, false);
                char at[60];
                snprintf(at, sizeof at, "t = %g s (step %d);", whole.time, (int)whole.steps);
                if (!strstr(whole.error.text, at))
                    fail_msg("'%s' lacks '%s'", whole.error.text, at);
                const char *volume = strstr(whole.error.text, "volume is ");
                if (volume)
                    assert_near(strtod(volume + strlen("volume is "), NULL) / whole.volume, 1,
                                1e-5);
                assert_true(!volume || whole.volume <= 0);
                for (uint64_t each = 1; each <= 5; each++)
                    for (int evaluates = 0; evaluates < 2; evaluates++) {
                        const struct collapse part = collapse_in_parts(text, each, evaluates);
                        assert_string_equal(part.error.text, whole.error.text);
                        assert_true(part.steps == whole.steps && part.time == whole.time);
                        assert_true(part.hash == whole.hash && part.volume == whole.volume);
                    }
            }
}

// A collapse within the last step of an implicit integrator leaves the same state whether the
// energy budget runs or not: gas without a volume has no pressure, and not that of an earlier
// evaluation.
static void test_collapse_without_budget(void **state)
{
    (void)state;
    static const struct {
        const char *integrator;
        int subdivisions;
        double stiffness, amount;
    } cases[] = {{"implicit_euler", 1, 20, 2},  {"implicit_euler", 2, 20, 20},
                 {"implicit_euler", 1, 300, 2}, {"bdf2", 1, 20, 20},
                 {"bdf2", 1, 300, 20},          {"rk4", 1, 20, 20}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct collapse found[2];
        for (int work = 0; work < 2; work++) {
            char text[800];
            snprintf(text, sizeof text,
                     "precision: double\nsimulation: {integrator: %s, dt: 0.1, steps: 400}\n"
                     "environment: {gravity: [0,-9.81,0]}\n"
                     "colliders: [{type: plane, point: [0,-0.31,0], stiffness: 500}]\n"
                     "bodies: [{name: ball, type: sphere, center: [0,0,0], radius: 0.3,\n"
                     "  subdivisions: %d, mass: 0.4, springs: {edges: {stiffness: %g}},\n"
                     "  pressure: {amount: %g, inflate: 0.2}}]\noutput: {work: %s}\n",
                     cases[i].integrator, cases[i].subdivisions, cases[i].stiffness,
                     cases[i].amount, work ? "true" : "false");
            found[work] = collapse_in_parts(text, 400, false);
        }
        assert_true(strstr(found[0].error.text, "within the last step"));
        assert_string_equal(found[0].error.text, found[1].error.text);
        assert_true(found[0].steps == found[1].steps && found[0].hash == found[1].hash);
    }
}

// Evaluating a collapsed body changes nothing.
static void test_looking_ends_no_run(void **state)
{
    (void)state;
    taut_solver *solver = ball_of("amount: 60", 1e6);
    advance(solver, 5);
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 at = position_of(solver, i);
        put(solver, i, vec3_make(-at.x, at.y, at.z));
    }
    assert_true(taut_solver_body_volume(solver, 0) < 0);
    assert_int_equal(taut_solver_step(solver, 0, NULL), TAUT_OK);
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 at = position_of(solver, i);
        put(solver, i, vec3_make(-at.x, at.y, at.z));
    }
    advance(solver, 5);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_volume_of_a_cube),
        cmocka_unit_test(test_volume_of_a_tetrahedron),
        cmocka_unit_test(test_volume_of_a_box),
        cmocka_unit_test(test_volume_of_an_icosahedron),
        cmocka_unit_test(test_area_of_a_ring),
        cmocka_unit_test(test_force_on_faces),
        cmocka_unit_test(test_force_on_edges),
        cmocka_unit_test(test_no_net_force_and_torque),
        cmocka_unit_test(test_pumping),
        cmocka_unit_test(test_first_increment_acts_in_the_first_step),
        cmocka_unit_test(test_collapse),
        cmocka_unit_test(test_collapse_in_parts),
        cmocka_unit_test(test_collapse_without_budget),
        cmocka_unit_test(test_looking_ends_no_run),
    };
    return cmocka_run_group_tests_name("pressure", tests, NULL, NULL);
}
