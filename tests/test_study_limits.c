// Limits measured on bodies at rest against their eigenvalues, and what a short budget leaves.
#include "study_fixture.h"

#include <math.h>
#include <stdlib.h>

#include "study/lab.h"

// The largest eigenvalue of M^-1 K of unstretched springs, all of one k and m, by power iteration
// over their list.
static double largest_omega(const taut_solver *solver, double k, double m)
{
    struct moment_view view;
    taut_error error = {0};
    assert_int_equal(moment_view_make(solver, WANT_NODES | WANT_LISTS, &view, &error), TAUT_OK);
    moment_view_take((taut_solver *)solver, WANT_NODES, &view);
    size_t count = 3 * (size_t)view.node_count;
    double *p = calloc(count, sizeof *p), *q = calloc(count, sizeof *q), square = 0;
    assert_true(p && q);
    uint64_t seed = 3;
    for (size_t i = 0; i < count; i++)
        p[i] = topology_is_fixed(solver->topology, topology_node_inside(solver->topology, i / 3))
                   ? 0
                   : next_random(&seed);
    for (int round = 0; round < 800; round++) {
        for (size_t i = 0; i < count; i++)
            q[i] = 0;
        for (uint64_t s = 0; s < view.spring_count; s++) {
            const double *a = view.positions + 3 * view.springs[s][0];
            const double *b = view.positions + 3 * view.springs[s][1];
            double *to_a = q + 3 * view.springs[s][0], *to_b = q + 3 * view.springs[s][1];
            const double *pa = p + 3 * view.springs[s][0], *pb = p + 3 * view.springs[s][1];
            double n[3], length = 0, along = 0;
            for (int i = 0; i < 3; i++)
                length += (a[i] - b[i]) * (a[i] - b[i]);
            for (int i = 0; i < 3; i++)
                n[i] = (a[i] - b[i]) / sqrt(length);
            for (int i = 0; i < 3; i++)
                along += k / m * n[i] * (pa[i] - pb[i]);
            for (int i = 0; i < 3; i++) {
                to_a[i] += along * n[i];
                to_b[i] -= along * n[i];
            }
        }
        double product = 0, own = 0, norm = 0;
        for (size_t i = 0; i < count; i++) {
            if (topology_is_fixed(solver->topology, topology_node_inside(solver->topology, i / 3)))
                q[i] = 0;
            product += p[i] * q[i];
            own += p[i] * p[i];
            norm += q[i] * q[i];
        }
        square = product / own;
        for (size_t i = 0; i < count; i++)
            p[i] = q[i] / sqrt(norm);
    }
    free(p);
    free(q);
    moment_view_free(&view);
    return sqrt(square);
}

// Bodies at rest with all k and m equal: measured limits within 2% of 2 / omega (and 2 sqrt 2 /
// omega), omega of the body itself. A fixed-free chain's is 2 sqrt(k/m) sin((2N - 1) pi / (4N +
// 2)).
static void test_limits_of_bodies_at_rest(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "type: rope, from: [0,0,0], to: [1,2,2], nodes: 25, pins: [first], spring: {stiffness: "
        "300}",
        "type: cloth, u: [1,0,0], v: [0,1,0], nodes: [9,9], springs: {structural: {stiffness: "
        "300}}",
        "type: cloth, u: [1,0,0], v: [0,1,0], nodes: [9,9], springs: {structural: {stiffness: "
        "300},\n shear: {stiffness: 300}}",
        "type: cloth, u: [1,0,0], v: [0,1,0], nodes: [9,9], springs: {structural: {stiffness: "
        "300},\n shear: {stiffness: 300}, bend: {stiffness: 300}}",
        "type: lattice, nodes: [5,5,5], spacing: 0.1, shells: 1, springs: {k1: {stiffness: 300},\n"
        " k2: {stiffness: 300}, k3: {stiffness: 300}}",
        "type: lattice, nodes: [5,5,5], spacing: 0.1, shells: 2, springs: {k1: {stiffness: 300},\n"
        " k2: {stiffness: 300}, k3: {stiffness: 300}, kb1: {stiffness: 300}, kb2: {stiffness: "
        "300},\n"
        " kb3: {stiffness: 300}}"};
    static const enum integrator integrators[] = {INTEGRATOR_SYMPLECTIC_EULER, INTEGRATOR_RK4};
    const double k = 300, m = 0.1;
    for (int i = 0; i < 6; i++) {
        char *text = text_format(HEADER("symplectic_euler", "0.001") "bodies: [{name: b, node_mass:"
                                                                     " 0.1, %s}]\n",
                                 bodies[i]);
        assert_non_null(text);
        taut_solver *solver = solver_of("%s", text);
        double omega = largest_omega(solver, k, m);
        taut_solver_destroy(solver);
        struct study_options options = options_of(integrators, 2);
        options.budget = 5;
        struct study *study = study_of(text, options);
        assert_true(study->at_rest);
        assert_near(study->omega / omega, 1, 0.01);
        assert_found(study, INTEGRATOR_SYMPLECTIC_EULER, 2 / omega, i > 3 ? 0.02 : 0.01);
        assert_found(study, INTEGRATOR_RK4, 2 * sqrt(2) / omega, i > 3 ? 0.02 : 0.01);
        if (i == 0)
            assert_near(omega, 2 * sqrt(k / m) * sin(47 * PI / 98), 1e-3 * omega);
        study_free(study);
    }
}

// A cloth that swings down from one edge.
static char *cloth_text(void)
{
    return text_format("simulation: {dt: 0.0005, duration: 100}\n"
                       "environment: {gravity: [0, -9.81, 0]}\n"
                       "bodies: [{name: c, type: cloth, u: [1,0,0], v: [0,0,1], nodes: [12,12],\n"
                       "  node_mass: 0.01, pins: [left], springs: {structural: {stiffness: 300,\n"
                       "  damping: 0.01}}}]\n");
}

// One integrator alone can afford runs as long as the scene; the rk4 run that they are held against
// cannot, and decides.
static void test_a_budget_pays_for_the_reference_run(void **state)
{
    (void)state;
    static const enum integrator integrators[] = {INTEGRATOR_SYMPLECTIC_EULER};
    struct study_options options = options_of(integrators, 1);
    options.budget = 1;
    struct study *study = study_of(cloth_text(), options);
    struct lab lab = {.study = study, .options = &options};
    double steps = 4 * study->window / study->unit;
    assert_true(study->shortened && study->window > 0);
    assert_true(reckon_run(&lab, INTEGRATOR_RK4, steps, STUDY_SAMPLES) < 0.11 * options.budget);
    assert_int_equal(study->limits[0].kind, STUDY_LIMIT_FOUND);
    // Springs that swing are stretched, and stiffer across than they were at the start.
    double ratio = study->limits[0].measured / study->limits[0].predicted;
    assert_true(ratio > 0.6 && ratio < 1.02);
    study_free(study);
}

// Where the time for it is over before it has begun, as on a machine with other work, there is a
// reference run all the same: of the shortest window.
static void test_a_reference_run_that_is_late(void **state)
{
    (void)state;
    static const enum integrator integrators[] = {INTEGRATOR_SYMPLECTIC_EULER};
    struct study_options options = options_of(integrators, 1);
    options.patience = 1e-9;
    taut_scene *scene = scene_of_text(cloth_text());
    struct study *study;
    taut_error error;
    assert_int_equal(study_make(scene, &options, &study, &error), TAUT_OK);
    assert_false(study->complete);
    assert_true(study->available > 0);
    assert_true(study->shortened && study->window < study->duration / 3);
    study_free(study);
    taut_scene_destroy(scene);
}

static bool count_down(void *context)
{
    int *left = context;
    return --*left < 0;
}

// A bisection that is cut short tells what it has found, and that there could be more.
static void test_a_bisection_that_is_cut_short(void **state)
{
    (void)state;
    static const enum integrator integrators[] = {INTEGRATOR_VERLET};
    bool complete = false, rough = false;
    for (int looks = 100; !complete && !rough; looks += looks / 8) {
        int left = looks;
        struct study_options options = options_of(integrators, 1);
        options.threads = 1;
        options.budget = 2;
        options.patience = 1000;
        options.stop = count_down;
        options.context = &left;
        taut_scene *scene = scene_of(HEADER("verlet", "0.01") "bodies: [{name: o, type: network,\n"
                                                              "  nodes: [[0,0,0],[1,0,0]],\n"
                                                              "  node_mass: [1,1], pins: [0],\n"
                                                              "  springs: [[0,1,{stiffness: 9}]]}]"
                                                              "\n");
        struct study *study;
        taut_error error;
        assert_int_equal(study_make(scene, &options, &study, &error), TAUT_OK);
        const struct study_limit *limit = &study->limits[0];
        complete = study->complete;
        rough = limit->kind == STUDY_LIMIT_FOUND && limit->unstable > 1.001 * limit->stable;
        if (rough)
            assert_true(limit->stable < 2.0 / 3 && limit->unstable > 2.0 / 3 * (1 - 1e-3));
        study_free(study);
        taut_scene_destroy(scene);
    }
    assert_true(rough && !complete);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_of_bodies_at_rest),
        cmocka_unit_test(test_a_budget_pays_for_the_reference_run),
        cmocka_unit_test(test_a_reference_run_that_is_late),
        cmocka_unit_test(test_a_bisection_that_is_cut_short),
    };
    return cmocka_run_group_tests_name("study_limits", tests, NULL, NULL);
}
