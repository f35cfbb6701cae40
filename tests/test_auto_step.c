// dt: auto, which follows the guaranteed bound of the critical step as the state changes.
#include "physics.h"
#include "pressed_sheets.h"
#include "solver/internals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

// A node between two pinned ones, in a line.
#define PULLED                                                                                     \
    "simulation: {integrator: %s, dt: auto, duration: " NUM "}\n"                                  \
    "bodies: [{name: o, type: network, nodes: [[-1,0,0],[0,0,0],[1,0,0]],\n"                       \
    "  node_mass: [1, 1, 1], pins: [0, 2], springs:\n"                                             \
    "  [[0, 1, {stiffness: 100}], [1, 2, {stiffness: 100, break_at: 1.5}]]}]\n"

// The springs of a node that is moved far off the line pull across it as well, so dt shrinks. Time
// continues, and the duration is met.
static void test_auto_step_follows_the_state(void **state)
{
    (void)state;
    static const char *const names[] = {"symplectic_euler", "verlet", "velocity_verlet", "rk4"};
    for (int i = 0; i < 4; i++) {
        taut_solver *solver = solver_of("precision: double\n" PULLED, names[i], 500.0);
        double before = taut_solver_dt(solver);
        uint64_t planned = taut_solver_steps_planned(solver);
        assert_near(before, 0.8 * integrator_limit(solver_integrator(solver)) / sqrt(200), 1e-14);
        advance(solver, 10);
        put(solver, 1, vec3_make(0, 3, 0)); // the second spring breaks
        advance(solver, 1100);
        double after = taut_solver_dt(solver);
        assert_true(after > 1.2 * before);
        assert_int_equal(solver_dt_rule(solver)->changes, 1);
        assert_true(taut_solver_steps_planned(solver) < planned);
        double time = (double)solver_dt_rule(solver)->since_step * before +
                      (double)(1110 - solver_dt_rule(solver)->since_step) * after;
        assert_near(taut_solver_time(solver), time, 1e-9);
        uint64_t left = taut_solver_steps_planned(solver) - taut_solver_step_count(solver);
        advance(solver, left);
        assert_true(taut_solver_time(solver) >= 500 - 1e-6);
        assert_true(taut_solver_time(solver) < 500 + taut_solver_dt(solver));
        taut_solver_destroy(solver);
    }
}

struct change {
    taut_solver *solver;
    double dt;
};

static void change_dt(void *context, const struct worker *worker)
{
    const struct change *it = context;
    solver_change_dt(it->solver, it->dt, worker);
}

// A change of dt must not act as a kick: a plain oscillator, whose dt is changed from outside,
// keeps its energy.
static void test_changed_step_keeps_energy(void **state)
{
    (void)state;
    static const char *const names[] = {"symplectic_euler", "verlet", "velocity_verlet", "rk4"};
    for (int i = 0; i < 4; i++) {
        taut_solver *solver = oscillator_of((struct oscillator){names[i], 2, 0.002, 1, 0, 0});
        for (int change = 0; change < 40; change++) {
            advance(solver, 37);
            struct change to = {solver, change % 2 == 0 ? 0.001 : 0.002};
            solver_work(solver, change_dt, &to);
        }
        double energy = energy_of(solver).kinetic + energy_of(solver).elastic;
        assert_near(energy, 2, i == 0 ? 0.01 : 1e-4);
        taut_solver_destroy(solver);
    }
}

static uint64_t hash_of_auto(const void *context, const struct solver_options *options)
{
    (void)context;
    taut_solver *solver = solver_from(
        scene_of("simulation: {integrator: symplectic_euler, dt: auto, steps: 1000}\n"
                 "environment: {gravity: [0, -9.81, 0], wind: {velocity: [2, 0, 1]}}\n"
                 "bodies:\n"
                 "  - {name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0,1],\n"
                 "     nodes: [40, 31], mass: 0.1, pins: [corners],\n"
                 "     springs: {structural: {stiffness: 30, damping: 0.001},\n"
                 "       shear: {stiffness: 20}}}\n"
                 "  - {name: s, type: sphere, center: [0,4,0], radius: 0.5, subdivisions: 3,\n"
                 "     mass: 0.1, springs: {edges: {stiffness: 3}},\n"
                 "     pressure: {amount: 9, inflate: 0.001}}\n"
                 "  - {name: stiff, type: network, nodes: [[0,0,0],[1,0,0]], node_mass: [1,1],\n"
                 "     pins: [0], velocities: [[0,0,0],[900,0,0]],\n"
                 "     springs: [[0, 1, {stiffness: 1e9, break_at: 1.001}]]}\n"),
        options);
    double dt = taut_solver_dt(solver);
    advance(solver, 4200); // beyond a check; scenes with so many faces are checked every 4096 steps
    assert_true(taut_solver_dt(solver) != dt); // otherwise the test shows nothing
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_too_many_steps_are_refused(void **state)
{
    (void)state;
    taut_scene *scene = scene_of("simulation: {dt: auto, duration: 1e18}\n"
                                 "bodies:\n- {name: a, type: rope, from: [0, 0, 0], to: [1, 0, 0], "
                                 "nodes: 3, mass: 1, stiffness: 100}\n");
    taut_solver *solver = NULL;
    taut_error error = {0};
    const taut_config config = {.threads = 1};
    assert_int_equal(taut_solver_create(scene, &config, &solver, &error), TAUT_ERROR_SCENE);
    assert_null(solver);
    assert_non_null(strstr(error.text, "'duration' takes"));
    taut_scene_destroy(scene);
}

static void test_auto_step_is_the_same_for_all(void **state)
{
    (void)state;
    assert_same_hashes(hash_of_auto, NULL);
}

// The bound allows for the gas that will have been pumped in by the next check, and there are many
// checks while gas is pumped; in a body that can expand, the step stays far above the bound for all
// the gas at once.
static void test_auto_step_follows_the_pump(void **state)
{
    (void)state;
    static const char *const ring =
        "bodies: [{name: r, type: ring, center: [0,0,0], radius: 1, nodes: 24, node_mass: 0.1,\n"
        "  spring: {stiffness: 100, damping: 0.2}, pressure: {amount: 9000, inflate: %s}}]\n";
    const char *header = "simulation: {integrator: symplectic_euler, dt: auto, duration: 20}\n";
    char *both = text_format("%s%s", header, ring);
    taut_solver *slow = solver_of(both, "0.002"), *fast = solver_of(both, "1");
    assert_true(taut_solver_dt(slow) > 1.5 * taut_solver_dt(fast));
    double start = taut_solver_dt(slow), least = start;
    while (taut_solver_steps_planned(slow) > taut_solver_step_count(slow)) {
        advance(slow, 1);
        least = fmin(least, taut_solver_dt(slow));
    }
    assert_true(least > taut_solver_dt(fast));
    assert_true(energy_of(slow).kinetic < 9000);
    taut_solver_destroy(slow);
    taut_solver_destroy(fast);
    free(both);
}

// Faces of soft springs that grow in the wind limit the step within a few steps, long before the
// next evaluation of the bound at a fixed interval: these runs diverged after 16 to 400 steps.
static void test_auto_step_follows_growing_faces(void **state)
{
    (void)state;
    static const char *const names[] = {"symplectic_euler", "verlet", "velocity_verlet", "rk4"};
    static const char *const bodies[] = {
        "{name: c, type: cloth, origin: [0, 0, 0], u: [0.2, 0, 0], v: [0, 0.2, 0], nodes: [6, 6],\n"
        "  mass: 0.01, stiffness: 0.02, pins: [left]}",
        "{name: s, type: sphere, radius: 0.1, subdivisions: 1, mass: 0.01, stiffness: 0.02, pins: "
        "[0]}",
        "{name: l, type: lattice, nodes: [5, 2, 5], spacing: 0.035, mass: 0.005, stiffness: 0.05,\n"
        "  pins: [left]}"};
    static const char *const laws[] = {"law: face", "law: quadratic"};
    for (int i = 0; i < 24; i++) {
        taut_solver *solver =
            solver_of("simulation: {integrator: %s, dt: auto, duration: 2}\n"
                      "environment: {wind: {velocity: [1, 0, 6], %s}}\nbodies: [%s]\n",
                      names[i % 4], laws[i / 12], bodies[i / 4 % 3]);
        const double before = taut_solver_dt(solver);
        // A step, so that it follows each change of dt.
        while (taut_solver_steps_planned(solver) > taut_solver_step_count(solver))
            advance(solver, 1);
        assert_true(taut_solver_time(solver) >= 2 - 1e-6);
        assert_true(taut_solver_dt(solver) < before / 2);
        taut_solver_destroy(solver);
    }
}

static taut_scene *pressed_sheets(const char *dt)
{
    return scene_of(
        "precision: double\n"
        "simulation: {integrator: symplectic_euler, dt: %s, duration: 0.2}\n" PRESSED_SHEETS,
        dt);
}

static struct contact_excess excess_of(taut_solver *solver)
{
    struct contact_excess excess;
    assert_int_equal(solver_contact_excess(solver, &excess, NULL), TAUT_OK);
    return excess;
}

// dt falls as contacts are pressed together, and rises again when the weight has been taken away.
static void test_auto_step_follows_contacts(void **state)
{
    (void)state;
    const struct solver_options options = {.config = {.threads = 1}};
    taut_solver *solver = solver_from(pressed_sheets("auto"), &options);
    const double built = taut_solver_dt(solver), start = energy_of(solver).total;
    char number[32];
    snprintf(number, sizeof number, "%.17g", built);
    taut_solver *fixed = solver_from(pressed_sheets(number), &options);
    double most = 0;
    while (taut_solver_time(fixed) < 0.1 && most < 1.5) {
        advance(fixed, 32);
        most = fmax(most, excess_of(fixed).times);
    }
    assert_true(most > 1.5);
    taut_solver_destroy(fixed);
    double least = built;
    int rises = 0;
    while (taut_solver_time(solver) < 0.12) {
        const double before = taut_solver_dt(solver);
        advance(solver, 32);
        least = fmin(least, taut_solver_dt(solver));
        rises += taut_solver_dt(solver) > before;
        assert_true(excess_of(solver).times < 1.1);
    }
    assert_true(least < 0.6 * built);
    assert_true(rises <= 1);
    assert_true(fabs(residual_of(solver, start)) < 0.01); // J; of 2 J with the step as built
    for (uint64_t node = 181; node < 253; node++)
        put(solver, node, vec3_add(position_of(solver, node), vec3_make(0, 1, 0)));
    advance(solver, 600);
    assert_true(taut_solver_dt(solver) > 1.5 * least);
    taut_solver_destroy(solver);
}

static uint64_t hash_of_pressed(const void *context, const struct solver_options *options)
{
    (void)context;
    taut_solver *solver = solver_from(pressed_sheets("auto"), options);
    advance(solver, 350);
    assert_true(solver_dt_rule(solver)->load > 1); // otherwise the test shows nothing
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_contacts_are_counted_alike_by_all(void **state)
{
    (void)state;
    assert_same_hashes(hash_of_pressed, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auto_step_follows_the_state),
        cmocka_unit_test(test_changed_step_keeps_energy),
        cmocka_unit_test(test_too_many_steps_are_refused),
        cmocka_unit_test(test_auto_step_is_the_same_for_all),
        cmocka_unit_test(test_auto_step_follows_the_pump),
        cmocka_unit_test(test_auto_step_follows_growing_faces),
        cmocka_unit_test(test_auto_step_follows_contacts),
        cmocka_unit_test(test_contacts_are_counted_alike_by_all),
    };
    return cmocka_run_group_tests_name("auto_step", tests, NULL, NULL);
}
