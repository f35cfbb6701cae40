// The effects that the scenes of ropes, single springs, oscillators and pendulums demonstrate, as
// numbers.
#include "scene_runs.h"

#include <math.h>
#include <stdlib.h>

static const double g = 9.81;

// At rest a node on the floor has sunk in by m g / k, and a hanging spring carries the weight below
// it.
static void test_rope_comes_to_rest_on_the_floor(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("rope", NULL, NULL);
    advance_to(solver, 0.5);
    assert_true(position_in_body(solver, "rope", 79).y > -1.3); // still in the air
    advance_to(solver, 15);
    double sunk = 0.05 * g / 100;
    for (uint64_t i = 0; i < 80; i++)
        assert_true(position_in_body(solver, "rope", i).y > -1.5 - 1.1 * sunk);
    for (uint64_t i = 60; i < 80; i++)
        assert_near(position_in_body(solver, "rope", i).y, -1.5 - sunk, 2e-4);
    double upper = vec3_length(
        vec3_subtract(position_in_body(solver, "rope", 1), position_in_body(solver, "rope", 0)));
    double lower = vec3_length(
        vec3_subtract(position_in_body(solver, "rope", 21), position_in_body(solver, "rope", 20)));
    assert_near(10000 * (upper - lower), 20 * 0.05 * g, 0.1);
    assert_true(fabs(position_in_body(solver, "rope", 20).x) < 0.02); // it hangs straight down
    taut_solver_destroy(solver);
}

// The driven end follows the list of velocities, and stops at the floor; the rope follows it.
static void test_swung_rope_follows_the_hand(void **context)
{
    (void)context;
    static const struct {
        double time, x, y;
    } driven[] = {{0.5, 1, 2.4}, {1.5, -1, 2.4}, {2.5, 1, 2.4},  {3.5, -1, 2.4}, {4.5, 0, 2.4},
                  {6, 0, 1.2},   {8, 0, -1.2},   {8.5, 0, -1.5}, {10, 0, -1.5}};
    taut_solver *solver = scene_open("rope-swung", NULL, NULL);
    double swing = 0;
    for (size_t i = 0; i < sizeof driven / sizeof driven[0]; i++) {
        advance_to(solver, driven[i].time);
        assert_vector_near(position_in_body(solver, "rope", 0),
                           vec3_make(driven[i].x, driven[i].y, 0), 2e-5);
        assert_true(greatest_strain(solver) < 0.5);
        swing = fmax(swing, fabs(position_in_body(solver, "rope", 79).x));
    }
    assert_true(swing > 0.8);
    assert_near(position_in_body(solver, "rope", 0).y, -1.5, 0);
    taut_solver_destroy(solver);
}

// The distance of the last of `masses` masses below its built position, if every pair (i, j) with j
// - i <= reach is joined by a spring k. Node 0 is the nail.
static double hanging_stretch(size_t masses, size_t reach, double k, double weight)
{
    double *a = calloc(masses * masses, sizeof *a), *b = calloc(masses, sizeof *b);
    assert_true(a && b);
    for (size_t i = 0; i <= masses; i++)
        for (size_t j = i + 1; j <= masses && j - i <= reach; j++) {
            a[(j - 1) * masses + j - 1] += k;
            if (i == 0)
                continue;
            a[(i - 1) * masses + i - 1] += k;
            a[(i - 1) * masses + j - 1] -= k;
            a[(j - 1) * masses + i - 1] -= k;
        }
    for (size_t i = 0; i < masses; i++)
        b[i] = weight;
    solve_linear(masses, a, b);
    double stretch = b[masses - 1];
    free(a);
    free(b);
    return stretch;
}

static void test_rope_links_hang_at_the_stretch_of_their_springs(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("rope-links", NULL, NULL);
    advance_to(solver, 8);
    double weight = 0.05 * g, k = 200;
    double chain = hanging_stretch(19, 1, k, weight), skip = hanging_stretch(19, 2, k, weight);
    double all = hanging_stretch(19, 19, k, weight);
    assert_near(chain, weight / k * 19 * 20 / 2, 1e-12);
    assert_near(position_in_body(solver, "chain", 19).y, -0.95 - chain, 5e-4);
    assert_near(position_in_body(solver, "skip", 19).y, -0.95 - skip, 5e-4);
    assert_near(position_in_body(solver, "all", 19).y, -0.95 - all, 5e-4);
    assert_true(chain > 2 * skip && skip > 2 * all);
    taut_solver_destroy(solver);
}

// While the cord is slack its jumper falls freely, to the last digit; it turns where all potential
// energy has become elastic energy, and returns to its start.
static void test_bungee_pulls_and_never_pushes(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("bungee", NULL, NULL);
    double m = 70, k = 82.3, slack = 10, total = energy_of(solver).total;
    double b = slack + m * g / k, depth = b + sqrt(b * b - slack * slack);
    advance(solver, 500);
    assert_near(position_in_body(solver, "cord", 1).y, -g / 2, 1e-9);
    assert_true(position_in_body(solver, "spring", 1).x >
                31.5); // the spring throws its jumper aside
    double lowest = 0, highest = -100;
    while (taut_solver_step_count(solver) < taut_solver_steps_planned(solver)) {
        advance(solver, 5);
        vec3 position = position_in_body(solver, "cord", 1);
        vec3 pull = vec3_subtract(body_force(solver, "cord", 1), vec3_make(0, -m * g, 0));
        if (vec3_length(position) <= slack)
            assert_vector_near(pull, vec3_make(0, 0, 0), 1e-9);
        else
            assert_true(vec3_dot(pull, position) < 0);
        lowest = fmin(lowest, position.y);
        if (taut_solver_time(solver) > 5)
            highest = fmax(highest, position.y);
    }
    assert_near(lowest, -depth, 0.01);
    assert_near(highest, 0, 0.01);
    assert_near(energy_of(solver).total, total, 1e-4 * m * g * depth);
    taut_solver_destroy(solver);
}

static void test_shock_absorber_pushes_and_never_pulls(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("shock-absorber", NULL, NULL);
    double m = 10, k = 4000;
    double b = m * g / k, deepest = 1 - (b + sqrt(b * b + 2 * b)); // k d^2 / 2 = m g (1 + d)
    double lowest = 2, highest = 0, held = 2;
    while (taut_solver_step_count(solver) < taut_solver_steps_planned(solver)) {
        advance(solver, 10);
        double height = position_in_body(solver, "absorber", 1).y;
        double force = body_force(solver, "absorber", 1).y + m * g;
        if (height >= 1)
            assert_near(force, 0, 1e-9);
        else
            assert_true(force > 0);
        lowest = fmin(lowest, height);
        if (taut_solver_time(solver) > 1)
            highest = fmax(highest, height);
        if (taut_solver_time(solver) < 0.6)
            held = fmin(held, position_in_body(solver, "spring", 1).y);
    }
    assert_near(lowest, deepest, 5e-4);
    assert_near(highest, 2, 5e-3);
    assert_true(held < lowest); // the ordinary spring pulls its mass down too
    assert_near(position_in_body(solver, "damped", 1).y, 1 - m * g / k, 1e-4);
    assert_near(position_in_body(solver, "spring", 1).y, 1 - m * g / k, 1e-4);
    taut_solver_destroy(solver);
}

static void test_rope_breaks_once_and_falls(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("rope-breaks", NULL, NULL);
    advance_to(solver, 1.9);
    assert_int_equal(taut_solver_broken_count(solver), 0);
    advance_to(solver, 5);
    assert_int_equal(taut_solver_broken_count(solver), 1);
    struct frame view;
    assert_int_equal(solver_make_frame(solver, FRAME_SPRINGS, &view, NULL), TAUT_OK);
    solver_read_frame(solver, FRAME_SPRINGS, &view);
    for (uint64_t i = 0; i < 40; i++)
        assert_int_equal(view.broken[i], i == 39); // the spring at the driven end
    frame_free(&view);
    for (uint64_t i = 0; i < 40; i++)
        assert_true(position_in_body(solver, "rope", i).y < 0.5);
    assert_vector_near(position_in_body(solver, "rope", 40), vec3_make(1.1, 2, 0), 1e-5);
    taut_solver_destroy(solver);
}

// Stretched slowly, the wall's spring has the rest length r at which 10% strain balances the driven
// spring: 300 * 0.1 r = 100 (3 - 1.1 r - 1). With the driven node back,
// 300 (x - r) = 100 (2 - x - 1).
static void test_spring_that_yields_stays_longer(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("spring-yields", NULL, NULL);
    advance_to(solver, 15);
    double rest = 200.0 / 140, set = (300 * rest + 100) / 400;
    assert_near(position_in_body(solver, "elastic", 1).x, 1, 1e-5);
    assert_near(position_in_body(solver, "yielding", 1).x, set, 0.005);
    assert_near(rest_length_of(solver, 2), rest, 0.01);
    assert_near(rest_length_of(solver, 0), 1, 0);
    taut_solver_destroy(solver);
}

// The greatest distance between the simulated mass and the closed form over the run.
static double oscillator_error(const char *dt, const char *simulated, const char *formula)
{
    taut_solver *solver = scene_open("oscillators", (const char *[]){dt, NULL}, NULL);
    double worst = 0;
    while (taut_solver_step_count(solver) < taut_solver_steps_planned(solver)) {
        advance(solver, 1);
        vec3 a = position_in_body(solver, simulated, 1), b = position_in_body(solver, formula, 1);
        worst = fmax(worst, fabs(a.x - b.x));
    }
    taut_solver_destroy(solver);
    return worst;
}

static void test_oscillators_agree_to_fourth_order(void **context)
{
    (void)context;
    static const char *const pairs[][2] = {{"free-spring", "free-formula"},
                                           {"damped-spring", "damped-formula"}};
    for (size_t i = 0; i < 2; i++) {
        double coarse = oscillator_error("simulation.dt=0.02", pairs[i][0], pairs[i][1]);
        double fine = oscillator_error("simulation.dt=0.01", pairs[i][0], pairs[i][1]);
        assert_true(fine < 1e-5 * 0.5);
        assert_near(order_between(coarse, fine), 4, 0.1);
    }
}

// The position of the mass at a time between two steps.
static double pendulum_at(taut_solver *solver, const char *body, double time)
{
    double dt = taut_solver_dt(solver);
    advance_to(solver, floor(time / dt) * dt);
    double before = position_in_body(solver, body, 1).x, since = time - taut_solver_time(solver);
    advance(solver, 1);
    return before + since / dt * (position_in_body(solver, body, 1).x - before);
}

// The period of a pendulum is 2 pi sqrt(r / g) / agm(1, cos(theta0 / 2)).
static double pendulum_period(double degrees)
{
    double a = 1, b = cos(degrees / 2 * PI / 180);
    for (int i = 0; i < 8; i++) {
        double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    return 2 * PI / sqrt(g) / a;
}

static void test_pendulums_agree_except_the_small_angle(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("pendulums", NULL, NULL);
    double period = pendulum_period(60), apart = 0, narrow = 0, stiff = 0;
    assert_near(period, 2.153, 5e-4);
    // A quarter after the fourth period it passes below its pivot.
    assert_near(pendulum_at(solver, "wide-equation", 4.25 * period), 0, 1e-5);
    while (taut_solver_step_count(solver) < taut_solver_steps_planned(solver)) {
        advance(solver, 1);
        double equation = position_in_body(solver, "wide-equation", 1).x;
        apart = fmax(apart, fabs(position_in_body(solver, "wide-formula", 1).x - equation));
        stiff = fmax(stiff, fabs(position_in_body(solver, "wide-spring", 1).x - equation));
        narrow = fmax(narrow, fabs(position_in_body(solver, "narrow-formula", 1).x -
                                   position_in_body(solver, "narrow-equation", 1).x));
    }
    assert_true(apart > 0.5);     // more than half of the swing: the formula is wrong at 60 degrees
    assert_true(narrow < 0.0015); // and accurate at 5
    assert_true(stiff < 0.005);   // the spring stretches by m g / k = 0.1 mm and a little more
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rope_comes_to_rest_on_the_floor),
        cmocka_unit_test(test_swung_rope_follows_the_hand),
        cmocka_unit_test(test_rope_links_hang_at_the_stretch_of_their_springs),
        cmocka_unit_test(test_bungee_pulls_and_never_pushes),
        cmocka_unit_test(test_shock_absorber_pushes_and_never_pulls),
        cmocka_unit_test(test_rope_breaks_once_and_falls),
        cmocka_unit_test(test_spring_that_yields_stays_longer),
        cmocka_unit_test(test_oscillators_agree_to_fourth_order),
        cmocka_unit_test(test_pendulums_agree_except_the_small_angle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
