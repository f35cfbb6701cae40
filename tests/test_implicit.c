// Implicit integrators: the exact solutions of their difference equations, their orders, and their
// equations solved with dense matrices.
#include "physics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const implicit[] = {"implicit_euler", "implicit_midpoint", "bdf2"};
enum { IMPLICIT_COUNT = 3 };

static const double OMEGA = 3;

// ---- One oscillator

// u = omega x + i v rotates by u' = -i omega u, so a step of each integrator is a complex factor,
// for bdf2 a recurrence: (3/2 + i y) u+ = 2 u - u- / 2, after a first step of implicit Euler.
struct complex_number {
    double re, im;
};

static struct complex_number divide(struct complex_number a, struct complex_number b)
{
    double square = b.re * b.re + b.im * b.im;
    return (struct complex_number){(a.re * b.re + a.im * b.im) / square,
                                   (a.im * b.re - a.re * b.im) / square};
}

static struct complex_number next_of(int integrator, int step, double y, struct complex_number u,
                                     struct complex_number before)
{
    if (integrator == 1) { // (1 - i y / 2) u / (1 + i y / 2)
        struct complex_number part = {u.re + y / 2 * u.im, u.im - y / 2 * u.re};
        return divide(part, (struct complex_number){1, y / 2});
    }
    if (integrator == 0 || step == 0)
        return divide(u, (struct complex_number){1, y});
    struct complex_number part = {2 * u.re - before.re / 2, 2 * u.im - before.im / 2};
    return divide(part, (struct complex_number){1.5, y});
}

static void test_oscillator_steps(void **state)
{
    (void)state;
    static const double ys[] = {0.1, 1, 10, 1000};
    for (int i = 0; i < IMPLICIT_COUNT; i++)
        for (int j = 0; j < 4; j++) {
            taut_solver *solver = oscillator_of((struct oscillator){.integrator = implicit[i],
                                                                    .omega = OMEGA,
                                                                    .dt = ys[j] / OMEGA,
                                                                    .position = 1,
                                                                    .speed = 0.7});
            struct complex_number u = {OMEGA, 0.7}, before = u;
            for (int step = 0; step < 50; step++) {
                struct complex_number next = next_of(i, step, ys[j], u, before);
                before = u;
                u = next;
                advance(solver, 1);
                assert_near(OMEGA * position_of(solver, 1).x, u.re, 1e-11);
                assert_near(velocity_of(solver, 1).x, u.im, 1e-11);
            }
            taut_solver_destroy(solver);
        }
}

// The time is such that no step is a power of two, so that nothing is exact by chance.
static double oscillator_error(const char *integrator, double damping, int steps)
{
    const double time = 2.3, speed = 0.7, decay = damping / 2;
    taut_solver *solver = oscillator_of((struct oscillator){.integrator = integrator,
                                                            .omega = OMEGA,
                                                            .dt = time / steps,
                                                            .position = 1,
                                                            .speed = speed,
                                                            .damping = damping});
    advance(solver, (uint64_t)steps);
    double omega_d = sqrt(OMEGA * OMEGA - decay * decay), b = (speed + decay) / omega_d;
    double c = cos(omega_d * time), s = sin(omega_d * time), envelope = exp(-decay * time);
    double x = envelope * (c + b * s);
    double v = envelope * ((b * omega_d - decay) * c - (omega_d + decay * b) * s);
    double error = hypot(OMEGA * (position_of(solver, 1).x - x), velocity_of(solver, 1).x - v);
    taut_solver_destroy(solver);
    return error;
}

static void test_order_on_the_oscillator(void **state)
{
    (void)state;
    for (int i = 0; i < IMPLICIT_COUNT; i++)
        for (int damped = 0; damped < 2; damped++) {
            int steps = i == 0 ? 1500 : 200;
            double order = order_between(oscillator_error(implicit[i], damped * 0.8, steps),
                                         oscillator_error(implicit[i], damped * 0.8, 2 * steps));
            assert_near(order, i == 0 ? 1 : 2, 0.05);
        }
}

// ---- Springs that rotate, stretch and are compressed

// Three masses on springs with rest lengths, axial damping, drag and gravity, thrown.
static taut_solver *swinging(const char *integrator, const char *implicit_keys, double dt)
{
    return solver_of(
        "precision: double\n"
        "simulation: {integrator: %s, dt: " NUM ", steps: 1%s}\n"
        "environment: {gravity: [0,-9.81,0], air_drag: 0.1}\n"
        "output: {work: false}\n"
        "bodies:\n"
        "  - {name: o, type: network, nodes: [[0,0,0],[1,0,0],[1.9,0.2,0],[2.7,0,0.1]],\n"
        "     node_mass: [1,1,2,1.5], pins: [0],\n"
        "     velocities: [[0,0,0],[0,1,0],[0,0,2],[-1,0,0]],\n"
        "     springs: [[0,1,{stiffness: 200, rest_length: 1.02, damping: 0.5}],\n"
        "       [1,2,{stiffness: 100, damping: 0.4}],\n"
        "       [2,3,{stiffness: 150, rest_length: 0.75}],\n"
        "       [0,2,{stiffness: 20, rest_length: 2.1, damping: 0.3}]]}\n",
        integrator, dt, implicit_keys);
}

static double swinging_error(const char *integrator, int steps, const double *exact)
{
    taut_solver *solver = swinging(integrator, ", implicit: {tolerance: 1e-12}", 0.7 / steps);
    advance(solver, (uint64_t)steps);
    double *positions = all_positions(solver), square = 0;
    for (int i = 0; i < 12; i++)
        square += (positions[i] - exact[i]) * (positions[i] - exact[i]);
    free(positions);
    taut_solver_destroy(solver);
    return sqrt(square);
}

// One linear system per step is enough for the order, although the tangent omits the transverse
// stiffness of compressed springs and the rotation of damping.
static void test_order_where_forces_are_not_linear(void **state)
{
    (void)state;
    taut_solver *solver = swinging("rk4", "", 0.7 / 20000);
    advance(solver, 20000);
    double *exact = all_positions(solver);
    taut_solver_destroy(solver);
    for (int i = 0; i < IMPLICIT_COUNT; i++) {
        int steps = i == 0 ? 6400 : 800;
        double order = order_between(swinging_error(implicit[i], steps, exact),
                                     swinging_error(implicit[i], 2 * steps, exact));
        if (!(fabs(order - (i == 0 ? 1 : 2)) <= 0.05))
            fail_msg("%s: order %g", implicit[i], order);
    }
    free(exact);
}

// With linear springs (no rest length) the quadratic energy is conserved at any step.
static void test_midpoint_keeps_the_energy_of_linear_springs(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        "precision: double\n"
        "simulation: {integrator: implicit_midpoint, dt: 0.5, steps: 1,\n"
        "  implicit: {tolerance: 1e-13}}\n"
        "bodies:\n"
        "  - {name: o, type: network, nodes: [[0,0,0],[1,0,0],[1,1,0],[0,1,1]],\n"
        "     node_mass: [1,1,2,0.5], velocities: [[0,0,0],[0,3,0],[0,0,2],[-1,0,0]], pins: [0],\n"
        "     springs: [[0,1,{stiffness: 50, rest_length: 0}], [1,2,{stiffness: 900, rest_length: "
        "0}],\n"
        "       [2,3,{stiffness: 7, rest_length: 0}], [3,0,{stiffness: 90, rest_length: 0}]]}\n");
    double start = energy_of(solver).total;
    advance(solver, 2000);
    assert_near(energy_of(solver).total / start, 1, 1e-9);
    taut_solver_destroy(solver);
}

// Solves a x = b with `count` unknowns by elimination with row exchanges; b becomes x.
static void solve_densely(double *a, double *b, int count)
{
    for (int k = 0; k < count; k++) {
        int pivot = k;
        for (int i = k + 1; i < count; i++)
            if (fabs(a[i * count + k]) > fabs(a[pivot * count + k]))
                pivot = i;
        for (int j = 0; j < count && pivot != k; j++) {
            double value = a[k * count + j];
            a[k * count + j] = a[pivot * count + j];
            a[pivot * count + j] = value;
        }
        double value = b[k];
        b[k] = b[pivot];
        b[pivot] = value;
        for (int i = k + 1; i < count; i++) {
            double factor = a[i * count + k] / a[k * count + k];
            for (int j = k; j < count; j++)
                a[i * count + j] -= factor * a[k * count + j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = count - 1; k >= 0; k--) {
        for (int j = k + 1; j < count; j++)
            b[k] -= a[k * count + j] * b[j];
        b[k] /= a[k * count + k];
    }
}

// A cloth of 4 x 3 nodes whose springs are all stretched, pinned at two nodes; every node has the
// mass and every spring the material below.
static const double SHEET_MASS = 0.1, SHEET_STIFFNESS = 300, SHEET_REST = 0.2, SHEET_DAMPING = 0.7;
enum { SHEET_NODES = 12 };

static taut_solver *sheet(double dt)
{
    return solver_of("precision: double\n"
                     "simulation: {integrator: implicit_euler, dt: " NUM ", steps: 1,\n"
                     "  implicit: {tolerance: 1e-13}}\n"
                     "environment: {gravity: [0,-9.81,0]}\n"
                     "output: {work: false}\n"
                     "bodies:\n"
                     "  - {name: o, type: cloth, u: [1.2,0,0], v: [0,0.1,-0.9], nodes: [4,3],\n"
                     "     node_mass: " NUM ", pins: [0, 3], velocity: [0.3,0,-0.5],\n"
                     "     springs: {structural: {stiffness: " NUM ", rest_length: " NUM
                     ", damping: " NUM "}}}\n",
                     dt, SHEET_MASS, SHEET_STIFFNESS, SHEET_REST, SHEET_DAMPING);
}

// Adds the matrix h c u u' + h^2 k (u u' + (1 - L0 / L) (I - u u')) of a spring, and h times its
// force to the right-hand side.
static void add_dense_spring(double *matrix, double *side, int a, int b, const double *x,
                             const double *v, double h)
{
    enum { COUNT = 3 * SHEET_NODES };
    double d[3], square = 0, speed = 0;
    for (int c = 0; c < 3; c++) {
        d[c] = x[3 * a + c] - x[3 * b + c];
        square += d[c] * d[c];
    }
    double length = sqrt(square), tension = SHEET_STIFFNESS * (length - SHEET_REST);
    for (int c = 0; c < 3; c++)
        speed += (v[3 * a + c] - v[3 * b + c]) * d[c] / length;
    for (int c = 0; c < 3; c++) {
        double force = -(tension + SHEET_DAMPING * speed) * d[c] / length;
        side[3 * a + c] += h * force;
        side[3 * b + c] -= h * force;
        for (int e = 0; e < 3; e++) {
            double uu = d[c] * d[e] / square, one = c == e;
            double entry = h * SHEET_DAMPING * uu +
                           h * h * (SHEET_STIFFNESS * uu + tension / length * (one - uu));
            matrix[(3 * a + c) * COUNT + 3 * a + e] += entry;
            matrix[(3 * b + c) * COUNT + 3 * b + e] += entry;
            matrix[(3 * a + c) * COUNT + 3 * b + e] -= entry;
            matrix[(3 * b + c) * COUNT + 3 * a + e] -= entry;
        }
    }
}

static void test_a_step_against_a_dense_solve(void **state)
{
    (void)state;
    enum { COUNT = 3 * SHEET_NODES };
    const double h = 0.02;
    taut_solver *solver = sheet(h);
    static double x[COUNT], v[COUNT], matrix[COUNT * COUNT], side[COUNT];
    solver_read_nodes(solver, 0, SHEET_NODES, x, v, NULL);
    memset(matrix, 0, sizeof matrix);
    memset(side, 0, sizeof side);
    for (int i = 0; i < COUNT; i++)
        x[i] += h * v[i]; // start of Newton's method
    for (int node = 0; node < SHEET_NODES; node++) {
        if (node % 4 < 3)
            add_dense_spring(matrix, side, node, node + 1, x, v, h);
        if (node + 4 < SHEET_NODES)
            add_dense_spring(matrix, side, node, node + 4, x, v, h);
        side[3 * node + 1] -= h * SHEET_MASS * 9.81;
    }
    for (int i = 0; i < COUNT; i++) {
        matrix[i * COUNT + i] += SHEET_MASS;
        if (i / 3 != 0 && i / 3 != 3)
            continue;
        for (int j = 0; j < COUNT; j++) // pinned
            matrix[i * COUNT + j] = matrix[j * COUNT + i] = i == j;
        side[i] = 0;
    }
    solve_densely(matrix, side, COUNT);
    advance(solver, 1);
    for (int node = 0; node < SHEET_NODES; node++) {
        vec3 change = vec3_make(side[3 * node], side[3 * node + 1], side[3 * node + 2]);
        vec3 before = vec3_make(v[3 * node], v[3 * node + 1], v[3 * node + 2]);
        vec3 guess = vec3_make(x[3 * node], x[3 * node + 1], x[3 * node + 2]);
        assert_vector_near(velocity_of(solver, node), vec3_add(before, change), 1e-10);
        assert_vector_near(position_of(solver, node), vec3_add(guess, vec3_scale(h, change)),
                           1e-11);
    }
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oscillator_steps),
        cmocka_unit_test(test_order_on_the_oscillator),
        cmocka_unit_test(test_order_where_forces_are_not_linear),
        cmocka_unit_test(test_midpoint_keeps_the_energy_of_linear_springs),
        cmocka_unit_test(test_a_step_against_a_dense_solve),
    };
    return cmocka_run_group_tests_name("implicit", tests, NULL, NULL);
}
