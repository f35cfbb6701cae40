// Projecting colliders within the steps of implicit integrators and xpbd: no gain of energy, the
// energy budget of impacts, the number of linear systems, the same bits.
#include "physics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/solver.h"

// Integrators that include contacts in their steps.
static const char *const implicit_ones[] = {"implicit_euler", "implicit_midpoint", "bdf2", "xpbd"};
enum { IMPLICIT_ONES = sizeof implicit_ones / sizeof implicit_ones[0] };

struct dropped {
    const char *integrator, *precision, *colliders;
    double omega_h; // of the fastest vibration
};

static const char *const floors[] = {
    "{type: plane, response: project}", "{type: plane, response: project, normal: [0.2,1,0]}",
    ("{type: plane, response: project, restitution: 0.5}, {type: sphere, center: [0.4,0,0.3],\n"
     "  radius: 0.2, response: project, friction: 0.1}")};
enum { FLOORS = sizeof floors / sizeof floors[0] };

// Its fastest vibration has omega^2 of about 12 k / m, with m = 1/64 kg.
static taut_solver *solver_of_dropped(const struct dropped *it,
                                      const struct solver_options *options)
{
    const double dt = 0.01, k = it->omega_h * it->omega_h / (dt * dt) / 64 / 12;
    const bool small_steps = strcmp(it->integrator, "xpbd") == 0;
    return solver_from(
        scene_of("precision: %s\nsimulation: {integrator: %s, dt: %g, steps: 1%s}\n"
                 "environment: {gravity: [0,-9.81,0]}\n"
                 "bodies: [{name: j, type: lattice, origin: [0,0.3,0], nodes: [4,4,4],\n"
                 "  spacing: 0.1, mass: 1, velocity: [1,0,0.3], springs: {k1: {stiffness: %g},\n"
                 "  k2: {stiffness: %g}, k3: {stiffness: %g}}}]\ncolliders: [%s]\n",
                 it->precision, it->integrator, dt, small_steps ? ", substeps: 1" : "", k, k, k,
                 it->colliders),
        options);
}

// A body without damping that is dropped never has more energy than at the start, however stiff it
// is; and it does not get under the floor.
static void test_no_gain_of_implicit_steps(void **state)
{
    (void)state;
    static const double omega_h[] = {0.1, 1, 2.6, 10, 30};
    for (int i = 0; i < IMPLICIT_ONES; i++)
        for (int f = 0; f < FLOORS; f++)
            for (int k = 0; k < 5; k++) {
                const struct dropped it = {implicit_ones[i], "double", floors[f], omega_h[k]};
                taut_solver *solver = solver_of_dropped(&it, NULL);
                const double start = energy_of(solver).total;
                double most = start;
                for (int step = 0; step < 400; step++) {
                    advance(solver, 1);
                    most = fmax(most, energy_of(solver).total);
                }
                if (!(most <= (1 + 1e-5) * start))
                    fail_msg("%s, omega h = %g, floor %d: %g J of %g", it.integrator, it.omega_h, f,
                             most, start);
                const vec3 n =
                    f == 1 ? vec3_scale(1 / sqrt(1.04), vec3_make(0.2, 1, 0)) : vec3_make(0, 1, 0);
                for (uint64_t node = 0; node < 64; node++)
                    assert_true(vec3_dot(position_of(solver, node), n) > -1e-12);
                taut_solver_destroy(solver);
            }
}

// Bodies that are tilted, and rotate when they are dropped: an impact rotates their springs by
// large angles, so that one linear system does not solve the step. m is a node's mass.
static const char *const turning_bodies[] = {
    "type: rope, from: [-0.35,0,0], to: [0.35,0,0], nodes: 8, node_mass: 0.02, rotate: [0,0,35]",
    "type: cloth, origin: [-0.35,0,-0.35], u: [0.7,0,0], v: [0,0,0.7], nodes: [8,8],\n"
    "  node_mass: 0.02, rotate: [40,0,25]",
    "type: lattice, origin: [-0.1,-0.1,-0.1], nodes: [3,3,3], spacing: 0.1, node_mass: 0.02,\n"
    "  rotate: [20,0,30]"};
enum { TURNING_BODIES = sizeof turning_bodies / sizeof turning_bodies[0] };

static void assert_no_gain_of_turning(const char *integrator, int body, double ratio, double dt,
                                      bool single)
{
    const double m = 0.02, k = ratio * ratio * m / (dt * dt);
    taut_solver *solver = solver_of(
        "precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
        "environment: {gravity: [0,-9.81,0]}\n"
        "bodies: [{name: b, %s, translate: [0,0.45,0], velocity: [0.5,-1,0.2], stiffness: " NUM
        "}]\n"
        "colliders: [{type: plane, response: project, keep: 0.7, friction: 0.01}]\n",
        single ? "single" : "double", integrator, dt, turning_bodies[body], k);
    const vec3 turn = {3, 1, -4}, centre = {0, 0.45, 0};
    for (uint64_t i = 0; i < taut_solver_node_count(solver) && !single; i++) {
        const vec3 arm = vec3_subtract(position_of(solver, i), centre);
        put_velocity(solver, i, vec3_add(velocity_of(solver, i), vec3_cross(turn, arm)));
    }
    const double start = energy_of(solver).total;
    double most = start;
    for (int step = 0; step < 150; step++) {
        advance(solver, 1);
        most = fmax(most, energy_of(solver).total);
    }
    if (!(most <= 1.01 * start) || !(energy_of(solver).total < 0.95 * start))
        fail_msg("%s, body %d, h sqrt(k/m) = %g, dt = %g: %g J of %g, %g in the end", integrator,
                 body, ratio, dt, most, start, energy_of(solver).total);
    taut_solver_destroy(solver);
}

static void test_no_gain_of_turning_bodies(void **state)
{
    (void)state;
    static const char *const methods[] = {"implicit_euler", "implicit_midpoint", "bdf2"};
    static const double ratios[] = {0.3, 3, 12, 30, 100};
    for (int i = 0; i < 3; i++)
        for (int body = 0; body < TURNING_BODIES; body++)
            for (int k = 0; k < 5; k++) {
                assert_no_gain_of_turning(methods[i], body, ratios[k], 0.01, false);
                assert_no_gain_of_turning(methods[i], body, ratios[k], 1.0 / 60, true);
            }
}

// The same where something supplies energy (wind, a driven node or a moving sphere), or where
// springs stop at penalty colliders: a step gains no more than is supplied.
static void assert_gain_is_put_in(const char *integrator, const char *setting, int body,
                                  double ratio, double dt)
{
    static const char *const colliders[] = {
        "{type: plane, response: project}",
        ("{type: plane, response: project}, {type: sphere, center: [-1.2,0.3,0], radius: 0.25,\n"
         "  velocity: [2,0,0], response: project}"),
        "{type: plane, normal: [0.2,1,0], stiffness: "};
    const bool wind = strcmp(setting, "wind") == 0, drive = strcmp(setting, "drive") == 0;
    const bool sphere = strcmp(setting, "sphere") == 0, penalty = strcmp(setting, "penalty") == 0;
    const double m = 0.02, k = ratio * ratio * m / (dt * dt);
    char *last = penalty ? text_format("%s" NUM "}", colliders[2], 3 * k)
                         : text_format("%s", colliders[sphere]);
    taut_solver *solver = solver_of(
        "precision: double\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
        "environment: {gravity: [0,-9.81,0]%s}\n"
        "bodies: [{name: b, %s, translate: [0,0.55,0], velocity: [0.5,-1,0.2],\n"
        "  stiffness: " NUM "%s}]\ncolliders: [%s]\n",
        integrator, dt, wind ? ", wind: {velocity: [3,1,-2], law: face, coefficient: 1}" : "",
        turning_bodies[body], k, drive ? ", drives: [{node: 0, velocity: [0.5,-0.3,0.2]}]" : "",
        last);
    free(last);
    const vec3 turn = {3, 1, -4}, centre = {0, 0.55, 0};
    for (uint64_t i = drive; i < taut_solver_node_count(solver); i++) {
        const vec3 arm = vec3_subtract(position_of(solver, i), centre);
        put_velocity(solver, i, vec3_add(velocity_of(solver, i), vec3_cross(turn, arm)));
    }
    const double start = energy_of(solver).total;
    double before = 0, put_in = 0, most = 0;
    for (int step = 0; step < 120; step++) {
        advance(solver, 1);
        const struct work_done work = work_of(solver);
        put_in += fmax(0, work.wind + work.drives - before);
        before = work.wind + work.drives;
        most = fmax(most, (energy_of(solver).total - put_in) / start);
    }
    if (!(most <= 1.02))
        fail_msg("%s, %s, body %d, h sqrt(k/m) = %g: %g of the energy that was there", integrator,
                 setting, body, ratio, most);
    taut_solver_destroy(solver);
}

static void test_no_gain_but_what_is_put_in(void **state)
{
    (void)state;
    static const char *const methods[] = {"implicit_euler", "implicit_midpoint", "bdf2"};
    static const char *const settings[] = {"wind", "drive", "sphere", "penalty"};
    static const double ratios[] = {0.3, 3, 12, 30, 100};
    for (int i = 0; i < 3; i++)
        for (int s = 0; s < 4; s++)
            for (int body = 0; body < TURNING_BODIES; body++)
                for (int k = 0; k < 5; k++)
                    if (s < 3 || i == 1) // penalty colliders: only the midpoint method is checked
                        assert_gain_is_put_in(methods[i], settings[s], body, ratios[k], 0.01);
}

// A cloth that drapes over a sphere and a plane is in contact nearly always. A step with contacts
// needs a system without them and one with them; further systems are only for steps that would gain
// energy.
static void test_systems_of_a_draping_cloth(void **state)
{
    (void)state;
    enum { STEPS = 120 };
    static const char *const methods[] = {"implicit_euler", "implicit_midpoint", "bdf2"};
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = solver_of(
            "simulation: {integrator: %s, dt: 0.01666, steps: 1}\n"
            "environment: {gravity: [0,-9.81,0]}\n"
            "bodies: [{name: c, type: cloth, origin: [-0.5,0.5,-0.5], u: [1,0,0], v: [0,0,1],\n"
            "  nodes: [21,21], mass: 0.08, stiffness: 200, damping: 0.01}]\n"
            "colliders: [{type: sphere, center: [0,0,0], radius: 0.3, response: project,\n"
            "  friction: 0.001}, {type: plane, point: [0,-0.3,0], response: project}]\n",
            methods[i]);
        const double start = energy_of(solver).total;
        double most = start;
        for (int step = 0; step < STEPS; step++) {
            advance(solver, 1);
            most = fmax(most, energy_of(solver).total);
        }
        const uint64_t solves = solver_implicit_statistics(solver)->solves;
        if (solves > STEPS * 22 / 10 || !(most <= 1.001 * start))
            fail_msg("%s: %d systems in %d steps, %g J of %g", methods[i], (int)solves, STEPS, most,
                     start);
        taut_solver_destroy(solver);
    }
}

static uint64_t hash_of_dropped(const void *context, const struct solver_options *options)
{
    taut_solver *solver = solver_of_dropped(context, options);
    advance(solver, 40);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits_of_implicit_contacts(void **state)
{
    (void)state;
    for (int i = 0; i < IMPLICIT_ONES; i++)
        for (int precision = 0; precision < 2; precision++) {
            const struct dropped it = {implicit_ones[i], precision ? "double" : "single", floors[2],
                                       5};
            assert_same_hashes(hash_of_dropped, &it);
        }
}

// A contact within an implicit step removes the energy that the node had: m v^2 / 2 at an impact,
// which may happen anywhere in the step.
static void test_projection_in_implicit_steps_is_budgeted(void **state)
{
    (void)state;
    static const double heights[] = {0.1, 0.105, 0.119};
    for (int i = 0; i < IMPLICIT_ONES; i++)
        for (int k = 0; k < 3; k++) {
            taut_solver *solver = solver_of(
                "precision: double\nsimulation: {integrator: %s, dt: 0.01, steps: 1%s}\n"
                "bodies: [{name: b, type: network, nodes: [[0,%g,0]], node_mass: [2],\n"
                "  velocities: [[1,-2,0]], springs: []}]\n"
                "colliders: [{type: plane, response: project}]\n",
                implicit_ones[i], i == IMPLICIT_ONES - 1 ? ", substeps: 1" : "", heights[k]);
            energy_of(solver);
            advance(solver, 20);
            assert_vector_near(velocity_of(solver, 0), vec3_make(1, 0, 0), 1e-12);
            assert_near(position_of(solver, 0).y, 0, 1e-15);
            assert_near(work_of(solver).projection, 0.5 * 2 * 2 * 2, 1e-12);
            taut_solver_destroy(solver);
        }
}

// An impact of a body on springs is inelastic, and the budget shows the loss: after the step of the
// first impact and the next one the residual is no greater than in the air, except for the
// tolerance of the linear systems. The projection never supplies energy.
static void test_impact_of_a_body_is_budgeted(void **state)
{
    (void)state;
    static const double omega_h[] = {0.1, 1, 2.6, 10, 30};
    for (int i = 0; i < IMPLICIT_ONES; i++)
        for (int f = 0; f < 2; f++)
            for (int k = 0; k < 5; k++) {
                const struct dropped it = {implicit_ones[i], "double", floors[f], omega_h[k]};
                const struct dropped in_air = {implicit_ones[i], "double", "", omega_h[k]};
                taut_solver *solver = solver_of_dropped(&it, NULL);
                taut_solver *flying = solver_of_dropped(&in_air, NULL);
                const double start = energy_of(solver).total, rounding = 1e-6 * start;
                energy_of(flying);
                double taken = 0;
                for (int step = 0, impact = 0; step < 400; step++) {
                    advance(solver, 1);
                    energy_of(solver);
                    const double before = taken;
                    taken = work_of(solver).projection;
                    if (!(taken >= before - rounding))
                        fail_msg("%s, omega h = %g, floor %d: projection gives %g J", it.integrator,
                                 it.omega_h, f, before - taken);
                    if (taken > 0 && impact == 0)
                        impact = step;
                    if (impact == 0 || step > impact + 1)
                        continue;
                    advance(flying, (uint64_t)(step + 1) - taut_solver_step_count(flying));
                    const double left = residual_of(solver, start);
                    const double in_flight = residual_of(flying, start);
                    if (!(fabs(left) <= fabs(in_flight) + rounding))
                        fail_msg("%s, omega h = %g, floor %d: %g J are left, %g in the air",
                                 it.integrator, it.omega_h, f, left, in_flight);
                }
                assert_true(taken > 0.1 * start);
                taut_solver_destroy(flying);
                taut_solver_destroy(solver);
            }
}

// The midpoint method has no damping, so the whole loss of a fall and its bounces is in the budget.
static void test_budget_of_bounces_closes(void **state)
{
    (void)state;
    for (int restitution = 0; restitution < 2; restitution++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: implicit_midpoint, dt: 0.001, steps: 1}\n"
            "environment: {gravity: [0,-9.81,0]}\n"
            "bodies: [{name: j, type: lattice, origin: [0,0.3,0], nodes: [4,4,4], spacing: 0.1,\n"
            "  mass: 1, springs: {k1: {stiffness: 300}, k2: {stiffness: 300},\n"
            "  k3: {stiffness: 300}}}]\n"
            "colliders: [{type: plane, response: project, restitution: %d}]\n",
            restitution);
        const double start = energy_of(solver).total;
        advance(solver, 2000);
        const double left = residual_of(solver, start);
        assert_true(work_of(solver).projection > 0.3 * start);
        if (!(fabs(left) < 3e-3))
            fail_msg("restitution %d: %g J are left of %g", restitution, left, start);
        taut_solver_destroy(solver);
    }
}

// A moving sphere does work on a body on springs. Steps along the sphere leave nodes outside of it
// by more than rounding; their contacts count all the same. The midpoint method has no damping; the
// residual of the others is their numerical damping.
static void test_force_of_a_moving_sphere_on_a_body_is_budgeted(void **state)
{
    (void)state;
    static const double steps[] = {0.001, 0.004, 0.01, 1.0 / 60};
    for (int i = 0; i < IMPLICIT_ONES; i++)
        for (int k = 0; k < 4; k++) {
            taut_solver *solver = solver_of(
                "precision: double\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
                "bodies: [{name: j, type: lattice, nodes: [4,4,4], spacing: 0.1, mass: 1,\n"
                "  springs: {k1: {stiffness: 300}, k2: {stiffness: 300}, k3: {stiffness: 300}}}]\n"
                "colliders: [{type: sphere, center: [-0.6,0.13,0.17], radius: 0.5,\n"
                "  velocity: [2,0,0], response: project}]\n",
                implicit_ones[i], steps[k]);
            const double start = energy_of(solver).total;
            advance(solver, (uint64_t)(1 / steps[k] + 0.5));
            const double left = residual_of(solver, start);
            const double most = strcmp(implicit_ones[i], "implicit_midpoint") == 0 ? 0.01 : 0.5;
            if (!(fabs(left) < most) || !(work_of(solver).drives > 4.5))
                fail_msg("%s, dt = %g: %g J are left, drives %g J", implicit_ones[i], steps[k],
                         left, work_of(solver).drives);
            taut_solver_destroy(solver);
        }
}

// At a plane through 0 the coordinates of a node are far smaller than those in the computation of
// an implicit step: the contact is found all the same, and a ball bounces to restitution^2 of its
// height.
static void test_bounce_on_a_plane_through_zero(void **state)
{
    (void)state;
    static const char *const solved[] = {"implicit_euler", "implicit_midpoint", "bdf2", "xpbd"};
    static const char *const steps[] = {"0.001", "0.0017", "0.0031", "0.004", "0.005"};
    static const char *const heights[] = {"0.4", "0.77", "1", "1.3", "1.9"};
    for (size_t i = 0; i < 4; i++)
        for (size_t s = 0; s < 5; s++)
            for (size_t h = 0; h < 5; h++) {
                taut_solver *solver = solver_of(
                    "precision: double\n"
                    "simulation: {integrator: %s, dt: %s, steps: 1}\n"
                    "environment: {gravity: [0,-9.81,0]}\n"
                    "bodies: [{name: b, type: network, nodes: [[0,%s,0]], node_mass: 1}]\n"
                    "colliders: [{type: plane, response: project, restitution: 0.7}]\n",
                    solved[i], steps[s], heights[h]);
                const double height = strtod(heights[h], NULL), dt = strtod(steps[s], NULL);
                const double fall = sqrt(2 * height / 9.81);
                advance(solver, (uint64_t)((fall + 0.7 * fall) / dt)); // near the top
                const double v = velocity_of(solver, 0).y;
                const double top = position_of(solver, 0).y + v * v / (2 * 9.81);
                assert_near(top / (0.49 * height), 1, 0.02);
                taut_solver_destroy(solver);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_gain_of_implicit_steps),
        cmocka_unit_test(test_no_gain_of_turning_bodies),
        cmocka_unit_test(test_no_gain_but_what_is_put_in),
        cmocka_unit_test(test_systems_of_a_draping_cloth),
        cmocka_unit_test(test_same_bits_of_implicit_contacts),
        cmocka_unit_test(test_projection_in_implicit_steps_is_budgeted),
        cmocka_unit_test(test_impact_of_a_body_is_budgeted),
        cmocka_unit_test(test_budget_of_bounces_closes),
        cmocka_unit_test(test_force_of_a_moving_sphere_on_a_body_is_budgeted),
        cmocka_unit_test(test_bounce_on_a_plane_through_zero),
    };
    return cmocka_run_group_tests_name("implicit_contacts", tests, NULL, NULL);
}
