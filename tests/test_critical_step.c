// The largest stable step: the guaranteed bound, and the computed value against ARPACK on the same
// matrix.
#include "physics.h"
#include "solver/internals.h"

#include <arpack/arpack.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct critical_step critical_step_of(taut_solver *solver)
{
    struct critical_step critical;
    taut_error error = {0};
    if (solver_computed_steps(solver, &critical, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return critical;
}

// ---- The oracle: K of the springs as a dense matrix, and ARPACK

struct dense {
    size_t size; // 3 per node
    double *values;
};

// M^-1/2 K M^-1/2 with k (n n' + (1 - L0 / L) (I - n n')) of each spring; rows of fixed nodes are
// 0.
static struct dense dense_of(const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    struct dense matrix = {.size = 3 * (size_t)topology->node_count};
    matrix.values = calloc(matrix.size * matrix.size, sizeof *matrix.values);
    assert_non_null(matrix.values);
    for (uint64_t s = 0; s < topology->spring_count; s++) {
        struct spring_run spring = topology_spring(topology, s);
        const uint64_t nodes[2] = {spring.a, spring.b};
        vec3 d = vec3_subtract(position_of(solver, topology_builder_node(topology, spring.a)),
                               position_of(solver, topology_builder_node(topology, spring.b)));
        double length = vec3_length(d), k = topology->materials[spring.material].stiffness;
        double n[3] = {d.x / length, d.y / length, d.z / length};
        double across = 1 - spring.rest_length / length;
        for (int e = 0; e < 4; e++) {
            uint64_t p = nodes[e / 2], q = nodes[e % 2];
            if (topology_is_kinematic(topology, p) || topology_is_kinematic(topology, q))
                continue;
            double scale = k / sqrt(topology_mass(topology, p) * topology_mass(topology, q));
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    double part = (1 - across) * n[i] * n[j] + (i == j ? across : 0);
                    matrix.values[(3 * p + (size_t)i) * matrix.size + 3 * q + (size_t)j] +=
                        p == q ? scale * part : -scale * part;
                }
        }
    }
    return matrix;
}

static void multiply(const struct dense *matrix, const double *in, double *out)
{
    for (size_t i = 0; i < matrix->size; i++) {
        out[i] = 0;
        for (size_t j = 0; j < matrix->size; j++)
            out[i] += matrix->values[i * matrix->size + j] * in[j];
    }
}

// The largest eigenvalue by the implicitly restarted Lanczos method (dsaupd, largest algebraic).
static double arpack_largest(const struct dense *matrix)
{
    enum { VECTORS = 20 };
    int n = (int)matrix->size, state = 0, info = 0, vectors = n < VECTORS ? n : VECTORS;
    int settings[11] = {1, 0, 3000, 1, 0, 0, 1}, positions[14];
    int capacity = vectors * (vectors + 8);
    double *residual = calloc((size_t)n, sizeof(double));
    double *basis = calloc((size_t)n * (size_t)vectors, sizeof(double));
    double *work = calloc(3 * (size_t)n, sizeof(double));
    double *more = calloc((size_t)capacity, sizeof(double));
    assert_true(residual && basis && work && more);
    do {
        dsaupd_c(&state, "I", n, "LA", 1, 0, residual, vectors, basis, n, settings, positions, work,
                 more, capacity, &info);
        if (state == 1 || state == -1)
            multiply(matrix, work + positions[0] - 1, work + positions[1] - 1);
    } while (state == 1 || state == -1);
    assert_int_equal(info, 0);
    int chosen[VECTORS] = {0};
    double found = 0;
    dseupd_c(0, "A", chosen, &found, NULL, n, 0, "I", n, "LA", 1, 0, residual, vectors, basis, n,
             settings, positions, work, more, capacity, &info);
    assert_int_equal(info, 0);
    free(residual);
    free(basis);
    free(work);
    free(more);
    return found;
}

// Bodies in all storage formats: a row, a grid, a lattice of 52 neighbours, packed springs, and a
// network of unequal masses.
static const char *const oracle_bodies[] = {
    "{name: b, type: rope, from: [0,0,0], to: [1,0.3,0], nodes: 40, node_mass: 0.1,\n"
    " links: skip, pins: [first], spring: {stiffness: 300, rest_length: 0.02}}",
    "{name: b, type: cloth, origin: [0,0,0], u: [1,0,0.1], v: [0,0.7,0.2], nodes: [9,8],\n"
    " node_mass: 0.1, springs: {structural: {stiffness: 300}, shear: {stiffness: 200},\n"
    " bend: {stiffness: 90}}, pins: [corners]}",
    "{name: b, type: lattice, origin: [0,0,0], nodes: [5,4,4], spacing: 0.1, node_mass: 0.1,\n"
    " shells: 2, springs: {k1: {stiffness: 300}, k2: {stiffness: 200}, k3: {stiffness: 100},\n"
    " kb1: {stiffness: 40}, kb2: {stiffness: 30}, kb3: {stiffness: 20}}}",
    "{name: b, type: sphere, center: [0,0,0], radius: 1, subdivisions: 1, node_mass: 0.1,\n"
    " springs: {edges: {stiffness: 300}, bend: {stiffness: 50}}}",
    "{name: b, type: network, nodes: [[0,0,0],[1,0,0],[1,1,0.2],[0,1,0.1],[0.4,0.4,1]],\n"
    " node_mass: [1, 0.2, 3, 0.5, 0.1], springs: [[0,1,{stiffness: 10}],[1,2,{stiffness: 500}],\n"
    " [2,3,{stiffness: 80}],[3,0,{stiffness: 7}],[4,0,{stiffness: 30}],[4,2,{stiffness: 90}],\n"
    " [4,1,{stiffness: 11, rest_length: 0.5}]]}",
};
enum { ORACLE_BODIES = sizeof oracle_bodies / sizeof oracle_bodies[0] };

static void test_computed_value_agrees_with_arpack(void **state)
{
    (void)state;
    for (int i = 0; i < ORACLE_BODIES; i++)
        for (int reference = 0; reference < 2; reference++) {
            struct solver_options options = {
                .config = {.threads = 2,
                           .kernel = reference ? TAUT_KERNEL_REFERENCE : TAUT_KERNEL_AUTO}};
            taut_solver *solver = solver_from(
                scene_of(HEADER("verlet", "0.0001") "bodies: [%s]\n", oracle_bodies[i]), &options);
            struct dense matrix = dense_of(solver);
            double square = arpack_largest(&matrix);
            free(matrix.values);
            struct critical_step critical = critical_step_of(solver);
            assert_near(critical.computed_omega * critical.computed_omega / square, 1, 2e-5);
            assert_true(critical.computed_omega * critical.computed_omega <= square * (1 + 1e-12));
            assert_true(critical.omega >= critical.computed_omega);
            assert_near(critical.computed * critical.computed_omega, 2, 1e-14);
            assert_near(critical.computed_dt[INTEGRATOR_RK4] * sqrt(square), 2 * sqrt(2), 1e-4);
            taut_solver_destroy(solver);
        }
}

// In units of sqrt(m / k), with equal k and unstretched springs: a chain 1, structural springs of a
// cloth 1, with shear 1 / sqrt(2). For long bodies both values are close to those of infinite ones.
static void test_known_limits(void **state)
{
    (void)state;
    const double unit = sqrt(0.2 / 500);
    static const struct {
        const char *body;
        double limit;
    } cases[] = {
        {"{name: c, type: rope, from: [0,0,0], to: [30,0,0], nodes: 300, node_mass: 0.2,\n"
         " pins: [first], spring: {stiffness: 500}}",
         1},
        {"{name: c, type: cloth, origin: [0,0,0], u: [6,0,0], v: [0,0,6], nodes: [60,60],\n"
         " node_mass: 0.2, springs: {structural: {stiffness: 500}}}",
         1},
        {"{name: c, type: cloth, origin: [0,0,0], u: [6,0,0], v: [0,0,6], nodes: [60,60],\n"
         " node_mass: 0.2, springs: {structural: {stiffness: 500}, shear: {stiffness: 500}}}",
         0.70710678118654752},
    };
    for (int i = 0; i < 3; i++) {
        taut_solver *solver =
            solver_of(HEADER("symplectic_euler", "0.001") "bodies: [%s]\n", cases[i].body);
        struct critical_step critical = critical_step_of(solver);
        assert_near(critical.bound / unit, cases[i].limit, 1e-7);
        assert_near(critical.computed / unit, cases[i].limit, 1e-3);
        assert_true(critical.computed >= critical.bound);
        taut_solver_destroy(solver);
    }
}

// Each integrator has its own limit: with a position step h h_x omega^2 < 4.
static void test_limits_follow_the_integrator(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        "precision: double\n"
        "simulation: {integrator: symplectic_euler, dt: 0.01, position_step: 0.0025, steps: 1}\n"
        "bodies: [{name: o, type: network, nodes: [[0,0,0],[1,0,0]], node_mass: [1,1],\n"
        "  pins: [0], springs: [[0, 1, {stiffness: 100}]]}]\n");
    struct critical_step critical = critical_step_of(solver);
    assert_near(critical.dt[INTEGRATOR_SYMPLECTIC_EULER], 0.4, 1e-14);
    assert_near(critical.computed_dt[INTEGRATOR_SYMPLECTIC_EULER], 0.4, 1e-9);
    assert_near(critical.dt[INTEGRATOR_VERLET], 0.2, 1e-14);
    assert_near(critical.dt[INTEGRATOR_RK4], 0.2 * sqrt(2), 1e-14);
    assert_near(critical.dt[INTEGRATOR_EXPLICIT_EULER], 0, 0);
    assert_near(critical.computed_dt[INTEGRATOR_MIDPOINT], 0, 0);
    taut_solver_destroy(solver);
}

// Damping and stiffness at different nodes: the bound of each node counts its own, and the computed
// step is that of the whole. Two oscillators, one stiff and one damped.
static void test_damping_counts_where_it_is(void **state)
{
    (void)state;
    taut_solver *solver =
        solver_of(HEADER("verlet", "0.0001") "bodies: [{name: o, type: network,\n"
                                             "  nodes: [[0,0,0],[1,0,0],[0,3,0],[1,3,0]],\n"
                                             "  node_mass: [1,1,1,1], pins: [0, 2], springs:\n"
                                             "  [[0, 1, {stiffness: 10000}],\n"
                                             "   [2, 3, {stiffness: 1, damping: 50}]]}]\n");
    struct critical_step critical = critical_step_of(solver);
    assert_near(critical.omega, 100, 1e-12);
    assert_near(critical.damping, 50, 1e-12);
    assert_near(critical.dt[INTEGRATOR_VERLET], 0.02, 1e-14);
    assert_near(critical.computed_dt[INTEGRATOR_VERLET], 0.02, 1e-7);
    taut_critical_step returned;
    taut_error error = {0};
    assert_int_equal(taut_solver_critical_step(solver, 1, &returned, &error), TAUT_OK);
    assert_near(returned.bound, 0.02, 1e-14);
    assert_near(returned.computed, 0.02, 1e-7);
    assert_near(returned.dt_computed, critical.computed_dt[INTEGRATOR_VERLET], 0);
    assert_near(returned.dt_bound, critical.dt[INTEGRATOR_VERLET], 0);
    assert_int_equal(returned.node, 1);
    assert_int_equal(taut_solver_critical_step(solver, 0, &returned, &error), TAUT_OK);
    assert_near(returned.dt_bound, critical.dt[INTEGRATOR_VERLET], 0);
    assert_near(returned.dt_computed, 0, 0);
    taut_solver_destroy(solver);
}

// The critical step up to a requested value, from a question that the materials alone answer, one
// that the nodes answer, and one that neither answers.
struct question {
    taut_solver *solver;
    double most, found;
};

static void ask(void *context, const struct worker *worker)
{
    struct question *it = context;
    double found = solver_critical_up_to(it->solver, it->most, worker);
    if (worker->index == 0)
        it->found = found;
}

static void test_quick_checks_agree_with_the_computed_step(void **state)
{
    (void)state;
    for (int i = 0; i < ORACLE_BODIES; i++) {
        struct solver_options options = {.config = {.threads = 3}};
        taut_solver *solver = solver_from(
            scene_of(HEADER("symplectic_euler", "auto") "bodies: [%s]\n", oracle_bodies[i]),
            &options);
        // With dt: auto the preparations for a measurement are kept.
        double bound = critical_step_of(solver).dt[INTEGRATOR_SYMPLECTIC_EULER];
        static const double parts[] = {0.1, 0.5, 0.9, 0.999, 1.001, 2, INFINITY};
        for (int p = 0; p < 7; p++) {
            struct question question = {solver, parts[p] * bound, 0};
            solver_work(solver, ask, &question);
            assert_near(question.found / bound, fmin(1, parts[p]), 0.0021);
            assert_true(question.found <= bound * (1 + 1e-12) || p == 4);
        }
        taut_solver_destroy(solver);
    }
}

// The top of the spectrum of large bodies is dense, and Lanczos' method takes the longer the more
// exactly it is to be found. A pair of nodes that is faster than all others by a hundredth is
// found, too.
static void test_many_nodes_take_few_products(void **state)
{
    (void)state;
    enum { MOST = 128 };
    const double k = 100, mass = 1e-4, faster = 1.01;
    for (int with_pair = 0; with_pair < 2; with_pair++) {
        char pair[300] = "";
        if (with_pair)
            snprintf(pair, sizeof pair,
                     ", {name: pair, type: rope, from: [0, 1, 0], to: [1, 1, 0], nodes: 2, "
                     "node_mass: %.17g, spring: {stiffness: %.17g}}",
                     mass, 2 * k * faster);
        taut_solver *solver =
            solver_of(HEADER("symplectic_euler",
                             "0.0001") "bodies: [{name: rope, type: rope, from: [0, 0, 0], "
                                       "to: [30, 0, 0], nodes: 30001, node_mass: %.17g, "
                                       "spring: {stiffness: %.17g}}%s]\n",
                      mass, k, pair);
        const struct critical_step critical = critical_step_of(solver);
        const double limit = sqrt(mass / (with_pair ? faster * k : k));
        assert_near(critical.computed_dt[INTEGRATOR_SYMPLECTIC_EULER] / limit, 1, 2e-4);
        assert_in_range(critical.products, 1, MOST);
        taut_solver_destroy(solver);
    }
}

// Products of a damped fabric, whose stiffness may be negative: for the largest stiffness, the
// largest damping and the smallest stiffness, and for the step that the first two allow together.
static void test_many_nodes_of_fabric_take_few_products(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler", "1e-6") "bodies: [{name: cloth, type: cloth, nodes: [150, "
                                           "150], u: [1, 0, 0], v: [0, 0, 1], fabric: denim, "
                                           "rayleigh: {stiffness: 1e-6}}]\n");
    const struct critical_step critical = critical_step_of(solver);
    assert_in_range(critical.products, 1, 4 * 128);
    const double step = critical.computed_dt[INTEGRATOR_SYMPLECTIC_EULER];
    assert_true(step > critical.dt[INTEGRATOR_SYMPLECTIC_EULER]);
    assert_true(critical.exact[INTEGRATOR_SYMPLECTIC_EULER]);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computed_value_agrees_with_arpack),
        cmocka_unit_test(test_known_limits),
        cmocka_unit_test(test_limits_follow_the_integrator),
        cmocka_unit_test(test_damping_counts_where_it_is),
        cmocka_unit_test(test_quick_checks_agree_with_the_computed_step),
        cmocka_unit_test(test_many_nodes_take_few_products),
        cmocka_unit_test(test_many_nodes_of_fabric_take_few_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
