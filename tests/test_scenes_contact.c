// The effects that the scenes of contact between surfaces demonstrate, as numbers. With
// TAUT_TEST_QUICK only the beginning is run, and properties that hold at any time are checked.
#include "contact_fixture.h"
#include "scene_runs.h"

#include <stdio.h>

// Advances to the end in steps of 0.05 s, after each of which no surfaces cross.
static void run_without_crossings(taut_solver *solver, double end)
{
    struct everything all = everything_of(solver);
    for (int i = 1; 0.05 * i <= end + 1e-9; i++) {
        advance_to(solver, 0.05 * i);
        assert_int_equal(crossings_of(solver, &all), 0);
    }
    free_everything(&all);
}

// Their middles lie above each other in the order in which they fell.
static void test_sheets_lie_on_a_ball_in_their_order(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("sheets-ball", NULL, NULL);
    run_without_crossings(solver, quick() ? 0.05 : 0.3);
    double below = 0.29;
    for (int sheet = 0; sheet < 10; sheet++) {
        char name[16];
        snprintf(name, sizeof name, "sheet-%d", sheet);
        const double height = position_in_body(solver, name, 220).y;
        assert_true(height > below + 0.007);
        below = height;
    }
    assert_true(below < (quick() ? 0.5 : 0.42));
    taut_solver_destroy(solver);
}

// Each of the ropes goes around the other one, and is stretched in the end.
static void test_a_knot_holds(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("knot", NULL, NULL);
    const vec3 left = position_in_body(solver, "left", 30),
               right = position_in_body(solver, "right", 30);
    assert_true(left.x - right.x > 0.1);
    advance_to(solver, 1.5);
    const vec3 left_now = position_in_body(solver, "left", 30),
               right_now = position_in_body(solver, "right", 30);
    assert_true(left_now.x - right_now.x > 0.012);
    assert_true(left_now.x - right_now.x < 0.05);
    assert_true(energy_of(solver).elastic > 0.1);
    assert_true(energy_of(solver).contact > 0.01);
    taut_solver_destroy(solver);
}

static void test_a_rope_lies_in_windings(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("rope-coils", NULL, NULL);
    advance_to(solver, 1.5);
    const struct extent rope = body_extent(solver, "rope");
    assert_true(rope.min.y > -0.005);
    assert_true(rope.max.y < 0.25);
    assert_true(rope.max.y > 0.012); // a winding on another one
    assert_true(rope.max.x - rope.min.x < 0.8 && rope.max.z - rope.min.z < 0.8);
    taut_solver_destroy(solver);
}

// The balls carry the cloth, whose cells they would fit through, and its corners hang down.
static void test_small_balls_carry_a_cloth(void **context)
{
    (void)context;
    static const vec3 balls[] = {
        {-0.21, 0.4, -0.17}, {0.24, 0.4, -0.22}, {-0.18, 0.4, 0.23}, {0.22, 0.4, 0.19}};
    taut_solver *solver = scene_open("cloth-pegs", NULL, NULL);
    struct everything all = everything_of(solver);
    for (int i = 1; i <= (quick() ? 4 : 20); i++) {
        advance_to(solver, 0.05 * i);
        for (int ball = 0; ball < 4; ball++)
            assert_true(triangle_distance(solver, &all, balls[ball]) > 0.03);
    }
    assert_int_equal(crossings_of(solver, &all), 0);
    if (!quick()) {
        const struct extent cloth = body_extent(solver, "cloth");
        assert_true(cloth.max.y > 0.43 && cloth.max.y < 0.5);
        assert_true(position_in_body(solver, "cloth", 60).y > 0.4);
        assert_true(cloth.min.y > 0 && cloth.min.y < 0.2);
    }
    free_everything(&all);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sheets_lie_on_a_ball_in_their_order),
        cmocka_unit_test(test_a_knot_holds),
        cmocka_unit_test(test_a_rope_lies_in_windings),
        cmocka_unit_test(test_small_balls_carry_a_cloth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
