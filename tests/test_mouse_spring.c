// A mouse spring that pulls a node while the solver runs.
#include "samples.h"

#include <math.h>
#include <string.h>

#include "solver/solver.h"

static void pull(taut_solver *solver, uint64_t node, vec3 target, double stiffness, double damping)
{
    taut_error error = {0};
    struct solver_grab grab = {.node = node,
                               .target = {target.x, target.y, target.z},
                               .stiffness = stiffness,
                               .damping = damping};
    if (solver_grab(solver, &grab, &error) != TAUT_OK)
        fail_msg("%s", error.text);
}

// One free node and one mouse spring make a damped oscillator, x = A e^(-d t) cos(w t + p), to the
// accuracy of the mouse spring's implicit steps, which is first order.
static void test_step_response_of_the_spring(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        double errors[2];
        for (int fine = 0; fine < 2; fine++) {
            taut_solver *solver = solver_of(
                "precision: double\nsimulation: {integrator: %s, dt: " NUM ", steps: 1%s}\n"
                "bodies: [{name: n, type: network, nodes: [[1,0,0]], node_mass: 2,\n"
                "  springs: []}]\n",
                integrator_name((enum integrator)i), fine ? 0.0005 : 0.001,
                i == INTEGRATOR_XPBD ? ", substeps: 1" : "");
            pull(solver, 0, vec3_make(0, 0, 3), 18, 4); // decay 1/s, w0 = 3/s
            advance(solver, fine ? 1600 : 800);
            double w = sqrt(8), t = 0.8, decay = exp(-t);
            double offset = decay * (cos(w * t) + sin(w * t) / w);
            vec3 position = position_of(solver, 0);
            errors[fine] = fabs(position.x - offset);
            assert_near(position.x, offset, 0.005);
            assert_near(3 - position.z, 3 * offset, 0.015);
            assert_near(position.y, 0, 0);
            taut_solver_destroy(solver);
        }
        assert_true(order_between(errors[0], errors[1]) > 0.9);
    }
}

static taut_solver *cloth(const char *integrator, const char *precision, const char *dt,
                          const struct solver_options *options)
{
    return solver_from(
        scene_of("precision: %s\nsimulation: {integrator: %s, dt: %s, steps: 1}\n"
                 "environment: {gravity: [0,-9.81,0], air_drag: 0.0001}\n"
                 "materials: {silk: &silk {stiffness: 400, damping: 0.05}}\n"
                 "bodies: [{name: c, type: cloth, origin: [0,2,0], u: [1.5,0,0], v: [0,-1,0],\n"
                 "  nodes: [41,27], mass: 0.3, pins: [top], springs: {structural: *silk,\n"
                 "  shear: *silk}}]\n",
                 precision, integrator, dt),
        options);
}

static double fastest(const taut_solver *solver)
{
    double speed = 0;
    for (uint64_t node = 0; node < taut_solver_node_count(solver); node++)
        speed = fmax(speed, vec3_length(velocity_of(solver, node)));
    return speed;
}

// A corner of a hanging cloth follows a mouse that jumps by 0.5 m, and pulls the cloth along, with
// all integrators, at short steps and long ones, without violent motion. Released, it falls back.
static void assert_drags(const char *integrator, const char *dt, double near, double limit)
{
    enum { CORNER = 41 * 27 - 1 };
    taut_solver *solver = cloth(integrator, "single", dt, NULL);
    uint64_t third = (uint64_t)(0.3 / taut_solver_dt(solver));
    advance(solver, third);
    vec3 start = position_of(solver, CORNER), inner = position_of(solver, CORNER - 41 * 3 - 3);
    vec3 target = vec3_add(start, vec3_make(-0.2, 0.1, 0.4));
    pull(solver, CORNER, target, 0, 0);
    double speed = 0;
    for (uint64_t i = 0; i < 10; i++) {
        advance(solver, third / 10);
        speed = fmax(speed, fastest(solver));
    }
    double left = vec3_length(vec3_subtract(position_of(solver, CORNER), target));
    vec3 along = vec3_subtract(position_of(solver, CORNER - 41 * 3 - 3), inner);
    if (left > near || speed > limit || vec3_length(along) < 0.15)
        fail_msg("%s, dt %s: %g m from the mouse, %g m/s, the cloth by %g m", integrator, dt, left,
                 speed, vec3_length(along));
    solver_release_grab(solver);
    double away = 0;
    for (uint64_t i = 0; i < 10; i++) {
        advance(solver, third / 10);
        away = fmax(away, vec3_length(vec3_subtract(position_of(solver, CORNER), target)));
    }
    assert_true(away > 0.05);
    taut_solver_destroy(solver);
}

static void test_cloth_is_dragged(void **state)
{
    (void)state;
    static const char *const lively[] = {"symplectic_euler", "verlet", "velocity_verlet", "rk4"};
    static const char *const calm[] = {"implicit_euler", "implicit_midpoint", "bdf2", "xpbd"};
    for (int i = 0; i < 4; i++) {
        assert_drags(lively[i], "0.0002", 0.05, 40);
        assert_drags(calm[i], "0.001", 0.05, 40);
        if (i != 1) // it has no damping, so modes that are too fast for the step keep oscillating
            assert_drags(calm[i], "0.01", 0.05, 40);
    }
    assert_drags("symplectic_euler", "0.00003", 0.05, 40);
}

// The mouse spring does work, and causes no divergence; afterwards energy and budget agree.
static void test_the_mouse_spring_does_work(void **state)
{
    (void)state;
    static const char *const names[] = {"symplectic_euler", "verlet", "velocity_verlet", "rk4",
                                        "implicit_midpoint"};
    for (int i = 0; i < 5; i++) {
        taut_solver *solver = cloth(names[i], "double", "0.0002", NULL);
        advance(solver, 100);
        struct work_done before = work_of(solver);
        double start = energy_of(solver).total;
        pull(solver, 500, vec3_make(0.5, 3.5, 0.5), 100, 1);
        advance(solver, 600);
        solver_release_grab(solver);
        struct work_done work = work_of(solver);
        double gained = energy_of(solver).total - start;
        double booked = (work.drives - before.drives) - (work.damping - before.damping) -
                        (work.drag - before.drag);
        assert_true(work.drives - before.drives > 0.5);
        assert_near(booked, gained, 0.05 * (work.drives - before.drives));
        taut_solver_destroy(solver);
    }
}

static uint64_t pulled_hash(const void *context, const struct solver_options *options)
{
    taut_solver *solver = cloth(context, "single", "0.0002", options);
    for (int i = 0; i < 6; i++) {
        pull(solver, 600, vec3_make(0.1 * i, 1, 0.2 * i), 0, 0);
        advance(solver, 5);
    }
    solver_release_grab(solver);
    advance(solver, 5);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits_when_pulled(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        assert_same_hashes(pulled_hash, integrator_name((enum integrator)i));
}

static void test_a_restored_run_keeps_its_mouse_spring(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        const char *name = integrator_name((enum integrator)i);
        taut_solver *first = cloth(name, "single", "0.0002", NULL);
        taut_solver *second = cloth(name, "single", "0.0002", NULL);
        taut_error error = {0};
        advance(first, 5);
        pull(first, 600, vec3_make(0, 1, 1), 0, 0);
        advance(first, 10);
        assert_int_equal(solver_restore_from(second, first, NULL, NULL, &error), TAUT_OK);
        advance(first, 10);
        advance(second, 10);
        assert_true(taut_solver_hash(first) == taut_solver_hash(second));
        assert_true(vec3_length(velocity_of(second, 600)) > 1);
        taut_solver_destroy(first);
        taut_solver_destroy(second);
    }
}

static void test_refused_grabs(void **state)
{
    (void)state;
    taut_error error = {0};
    taut_solver *solver = cloth("rk4", "single", "0.0005", NULL);
    struct solver_grab pinned = {.node = 40}, beyond = {.node = 41 * 27}, nobody = {.body = 1};
    struct solver_grab nowhere = {.node = 600, .target = {0, NAN, 0}};
    struct solver_grab pushing = {.node = 600, .stiffness = -1};
    assert_int_equal(solver_grab(solver, &pinned, &error), TAUT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "kinematic"));
    assert_int_equal(solver_grab(solver, &beyond, &error), TAUT_ERROR_ARGUMENT);
    assert_int_equal(solver_grab(solver, &nobody, &error), TAUT_ERROR_ARGUMENT);
    assert_int_equal(solver_grab(solver, &nowhere, &error), TAUT_ERROR_ARGUMENT);
    assert_int_equal(solver_grab(solver, &pushing, &error), TAUT_ERROR_ARGUMENT);
    uint64_t before = taut_solver_hash(solver);
    solver_release_grab(solver); // nothing is grabbed
    assert_true(taut_solver_hash(solver) == before);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_response_of_the_spring),
        cmocka_unit_test(test_cloth_is_dragged),
        cmocka_unit_test(test_the_mouse_spring_does_work),
        cmocka_unit_test(test_same_bits_when_pulled),
        cmocka_unit_test(test_a_restored_run_keeps_its_mouse_spring),
        cmocka_unit_test(test_refused_grabs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
