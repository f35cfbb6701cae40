// The effects that the scenes of cloths, gas-filled bodies and jellies demonstrate, as numbers.
// With TAUT_TEST_QUICK only the beginning is run, and properties that hold at any time are checked.
#include "scene_runs.h"

#include <math.h>
#include <stdlib.h>

// ---- Quads and cloths

// Its layers lie on each other on the floor, and none has passed through another one (tests of
// contact count crossings).
static void test_a_curtain_lies_in_layers(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("curtain", NULL, NULL);
    double least = INFINITY, most = -INFINITY, farthest = 0;
    advance_to(solver, quick() ? 0.1 : 1.5);
    for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
        const vec3 p = position_in_body(solver, "curtain", node);
        least = fmin(least, p.y);
        most = fmax(most, p.y);
        farthest = fmax(farthest, fabs(p.x) + fabs(p.z));
    }
    assert_true(least > -0.01);
    assert_true(farthest < 2);
    if (!quick()) {
        assert_true(most < 0.55); // the top of the ball, and a few layers
        assert_true(energy_of(solver).contact > 1e-5);
    }
    taut_solver_destroy(solver);
}

// The bowl holds both jellies until it tips over; then they lie beside it on the floor.
static void test_a_bowl_holds_jellies_and_pours_them_out(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("bowl", NULL, NULL);
    static const char *const jellies[] = {"lower", "upper"};
    advance_to(solver, quick() ? 0.3 : 1.2);
    for (int i = 0; i < 2; i++) {
        const struct extent box = body_extent(solver, jellies[i]);
        assert_true(box.min.y > 0.003);
        assert_true(hypot(box.mean.x, box.mean.z) < 0.25);
    }
    if (!quick()) {
        assert_true(body_extent(solver, "lower").mean.y < 0.3);
        assert_true(body_extent(solver, "upper").mean.y < 0.3);
        advance_to(solver, 2.4);
        for (int i = 0; i < 2; i++) {
            const struct extent box = body_extent(solver, jellies[i]);
            assert_true(box.mean.x > 0.35);
            assert_true(box.max.y < 0.15 && box.min.y > -0.15);
        }
    }
    taut_solver_destroy(solver);
}

static void test_quad_without_diagonals_folds(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("quads", NULL, NULL);
    double least = 1, braced_min = 1, braced_max = 0;
    while (taut_solver_step_count(solver) < taut_solver_steps_planned(solver)) {
        advance(solver, 20);
        least = fmin(least, fabs(enclosed_volume(solver, "loose")));
        double braced = enclosed_volume(solver, "braced");
        braced_min = fmin(braced_min, braced);
        braced_max = fmax(braced_max, braced);
    }
    assert_true(least < 0.25 * 0.02);
    assert_true(fabs(enclosed_volume(solver, "loose")) < 0.25 * 0.1);
    assert_true(braced_min > 0.25 * 0.8 && braced_max < 0.25 * 1.2);
    assert_near(enclosed_volume(solver, "braced"), 0.25, 0.25 * 0.01);
    taut_solver_destroy(solver);
}

// The distance of the middle of the lower side below the pinned corners of the cloth.
static double sag(const taut_solver *solver, const char *cloth)
{
    return -position_in_body(solver, cloth, 10 * 11 + 5).y;
}

static void test_cloths_with_more_kinds_of_springs_sag_less(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("cloth-links", NULL, NULL);
    assert_int_equal(taut_solver_spring_count(solver), 220 + 420 + 618 + 121 * 120 / 2);
    advance_to(solver, quick() ? 0.1 : 6);
    if (!quick()) {
        double structural = sag(solver, "structural"), shear = sag(solver, "shear");
        double bend = sag(solver, "bend"), all = sag(solver, "all");
        assert_true(structural > 1.1 * shear && shear > 1.02 * bend && bend > 1.02 * all);
        assert_near(all, 1, 0.02); // like a board: it keeps its built length
    }
    static const char *const names[] = {"structural", "shear", "bend", "all"};
    for (size_t i = 0; i < 4; i++) {
        double x = 1.5 * (double)i;
        assert_vector_near(position_in_body(solver, names[i], 0), vec3_make(x, 0, 0), 0);
        assert_vector_near(position_in_body(solver, names[i], 10), vec3_make(x + 1, 0, 0), 0);
    }
    taut_solver_destroy(solver);
}

static void test_scarf_stretches_on_the_bias(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("scarf", NULL, NULL);
    double side = 0.6, diagonal = 0.6 * sqrt(2);
    assert_near(position_in_body(solver, "bias", 440).y, -diagonal, 1e-6);
    advance_to(solver, quick() ? 0.3 : 8);
    double straight = -position_in_body(solver, "straight", 430).y / side - 1;
    double bias = -position_in_body(solver, "bias", 440).y / diagonal - 1;
    double plain = -position_in_body(solver, "plain", 440).y / diagonal - 1;
    assert_true(straight > 0 && bias > 5 * straight && bias > 2.5 * plain);
    taut_solver_destroy(solver);
}

// ---- Wind

static void test_flag_flies_and_flutters(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("flag", NULL, NULL);
    assert_int_equal(taut_solver_spring_count(solver), 14498);
    double left = 1, right = -1, reach = 0, end = quick() ? 0.1 : 2.5;
    for (int tenth = 1; 0.1 * tenth < end + 0.05; tenth++) {
        double time = 0.1 * tenth;
        advance_to(solver, time);
        assert_true(greatest_strain(solver) < 0.5);
        vec3 middle = position_in_body(solver, "flag", 20 * 61 + 60); // at the free side
        if (time < 0.75)
            continue;
        left = fmin(left, middle.z);
        right = fmax(right, middle.z);
        reach = fmax(reach, middle.x);
    }
    for (uint64_t j = 0; j < 41; j++)
        assert_vector_near(position_in_body(solver, "flag", 61 * j),
                           vec3_make(0, 2.5 - 0.025 * (double)j, 0), 1e-6);
    assert_true(quick() || (reach > 1.2 && right - left > 0.3));
    taut_solver_destroy(solver);
}

static double bulge(const char *scene)
{
    taut_solver *solver = scene_open(scene, NULL, NULL);
    advance_to(solver, 3);
    double height = position_in_body(solver, "sheet", 840).y; // the middle
    assert_near(body_extent(solver, "sheet").min.y, 0, 1e-6);
    assert_near(body_extent(solver, "sheet").max.y, height, 1e-4);
    assert_true(vec3_length(velocity_in_body(solver, "sheet", 840)) < 0.05);
    taut_solver_destroy(solver);
    return height;
}

// A small bulge is proportional to the cube root of the pressure: eight times the pressure, twice
// the bulge. In strong wind it is a fifth of the side, so slopes change it by some percent.
static void test_sheet_bulges_more_in_strong_wind(void **context)
{
    (void)context;
    if (quick()) {
        print_message("the sheets need some seconds to settle, and TAUT_TEST_QUICK is set\n");
        skip();
    }
    double weak = bulge("sheet-wind-weak"), strong = bulge("sheet-wind-strong");
    assert_true(weak > 0.05 && strong < 0.3);
    assert_near(strong / weak, 2, 0.15);
}

static void test_jelly_bends_with_the_wind(void **context)
{
    (void)context;
    static const char *const calm[] = {"environment.wind.coefficient=0", NULL};
    uint64_t top = 16 * 7 + 3 + 3 * 7 * 17; // the middle of the upper side
    taut_solver *solver = scene_open("jelly-wind", NULL, NULL);
    double least = 1, most = -1, end = quick() ? 0.4 : 5;
    for (int tenth = 1; 0.1 * tenth < end + 0.05; tenth++) {
        advance_to(solver, 0.1 * tenth);
        double lean = position_in_body(solver, "jelly", top).x - 0.15;
        least = fmin(least, lean);
        most = fmax(most, lean);
    }
    assert_true(most > 0.15);
    assert_true(quick() || least < 0.05); // between gusts it swings back
    assert_near(position_in_body(solver, "jelly", 3).x, 0.15, 1e-7);
    assert_true(enclosed_volume(solver, "jelly") > 0.5 * 0.3 * 0.8 * 0.3);
    taut_solver_destroy(solver);
    solver = scene_open("jelly-wind", calm, NULL);
    advance_to(solver, 0.4);
    assert_near(position_in_body(solver, "jelly", top).x, 0.15, 1e-4);
    taut_solver_destroy(solver);
}

// ---- Gas

static void test_ring_collapses(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("ring", NULL, NULL);
    double built = 17 * 900.0 / 2 * sin(2 * PI / 17);
    assert_near(enclosed_volume(solver, "ring"), built, 1e-3);
    advance_to(solver, 3); // the fall does not change it
    assert_near(enclosed_volume(solver, "ring"), built, 1e-2);
    advance_to(solver, 40);
    struct extent extent = body_extent(solver, "ring");
    assert_true(fabs(enclosed_volume(solver, "ring")) < 0.15 * built);
    assert_true(extent.min.y > 45 && extent.max.y - extent.min.y < 15);
    taut_solver_destroy(solver);
}

// With edges of length l an even ring of 17 nodes encloses 17 l^2 / (4 tan(pi/17)), and
// P l cos(pi/17) = 2 k (l - l0) sin(pi/17).
static void test_ring_with_pressure_keeps_its_area(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("ring-pressure", NULL, NULL);
    double angle = PI / 17, amount = 6890000, k = 400, start = 60 * sin(angle);
    double shape = 17 / (4 * tan(angle)); // area = shape l^2, so P l = amount / (shape l)
    double product = amount * cos(angle) / (shape * 2 * k * sin(angle)); // l (l - start)
    double edge = start / 2 + sqrt(start * start / 4 + product);
    advance_to(solver, 20);
    double highest = 0, lowest = 1e9;
    while (taut_solver_step_count(solver) < taut_solver_steps_planned(solver)) {
        advance(solver, 10);
        assert_near(enclosed_volume(solver, "ring") / (shape * edge * edge), 1, 0.04);
        highest = fmax(highest, body_extent(solver, "ring").min.y);
        lowest = fmin(lowest, body_extent(solver, "ring").min.y);
    }
    struct extent extent = body_extent(solver, "ring");
    assert_near((extent.max.x - extent.min.x) / (extent.max.y - extent.min.y), 1, 0.05);
    assert_true(highest > 55 && lowest < 50 && lowest > 40); // it bounces on the floor at 50
    taut_solver_destroy(solver);
}

// Inflated, it keeps its volume, whatever floor and sphere do to its shape.
static void test_ball_keeps_its_volume(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("ball-floor", NULL, NULL);
    double built = enclosed_volume(solver, "ball"), tallest = 0, lowest = 2;
    for (int tenth = 5; tenth <= 60; tenth++) {
        double time = 0.1 * tenth;
        advance_to(solver, time);
        assert_near(enclosed_volume(solver, "ball") / built, 1.1, 0.15);
        struct extent extent = body_extent(solver, "ball");
        assert_true(extent.min.y > -0.05);
        if (time < 2)
            lowest = fmin(lowest, extent.max.y);
        if (time > 3 && time < 3.55)
            tallest = fmax(tallest, extent.max.y);
        // The sphere is above the ball: no node is deep inside it.
        if (time > 3.96 && time < 4.04) {
            assert_true(extent.max.y < tallest);
            for (uint64_t i = 0; i < body_nodes(solver, "ball"); i++) {
                vec3 gap = vec3_subtract(position_in_body(solver, "ball", i),
                                         vec3_make(-8 + 2 * taut_solver_time(solver), 1.2, 0.1));
                assert_true(vec3_length(gap) > 0.4 - 0.05);
            }
        }
    }
    assert_true(lowest < 0.95); // the landing squeezed it: it is higher at rest
    assert_true(tallest > lowest + 0.05);
    taut_solver_destroy(solver);
}

static void test_cube_lands_on_a_side(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("cube-soft", NULL, NULL);
    assert_int_equal(taut_solver_node_count(solver), 8);
    assert_near(enclosed_volume(solver, "cube"), 0.216, 1e-6);
    advance_to(solver, 6);
    assert_near(enclosed_volume(solver, "cube"), 0.216, 0.216 * 0.05);
    int low = 0, high = 0;
    for (uint64_t i = 0; i < 8; i++) {
        low += fabs(position_in_body(solver, "cube", i).y) < 0.05;
        high += fabs(position_in_body(solver, "cube", i).y - 0.6) < 0.05;
    }
    assert_int_equal(low, 4);
    assert_int_equal(high, 4);
    taut_solver_destroy(solver);
}

static void test_animal_keeps_its_shape(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("animal", NULL, NULL);
    double built = enclosed_volume(solver, "animal");
    struct extent before = body_extent(solver, "animal");
    advance_to(solver, quick() ? 0.1 : 1);
    double floor = quick() ? 0 : -0.1;
    double first = quick() ? 0.1 : 1;
    int samples = quick() ? 1 : 9; // a quarter of a second apart
    for (int sample = 0; sample < samples; sample++) {
        advance_to(solver, first + 0.25 * sample);
        assert_near(enclosed_volume(solver, "animal") / built, 1, 0.15);
        assert_true(body_extent(solver, "animal").min.y > floor);
    }
    struct extent after = body_extent(solver, "animal");
    assert_near((after.max.x - after.min.x) / (before.max.x - before.min.x), 1, 0.15);
    assert_near((after.max.y - after.min.y) / (before.max.y - before.min.y), 1, 0.2);
    assert_near((after.max.z - after.min.z) / (before.max.z - before.min.z), 1, 0.2);
    taut_solver_destroy(solver);
}

// ---- Jellies

static void test_jelly_stays_in_the_room_and_out_of_the_spheres(void **context)
{
    (void)context;
    static const double spheres[][4] = {
        {-0.45, 0.35, 0, 0.35}, {0.35, 0.3, 0.25, 0.3}, {0.4, 0.2, -0.4, 0.2}};
    taut_solver *solver = scene_open("jelly-spheres", NULL, NULL);
    double built = enclosed_volume(solver, "jelly"), end = quick() ? 0.5 : 4;
    bool touched = false;
    for (int quarter = 1; 0.25 * quarter < end + 0.1; quarter++) {
        advance_to(solver, 0.25 * quarter);
        struct extent extent = body_extent(solver, "jelly");
        assert_true(extent.min.y >= 0 && extent.min.x >= -1.2f && extent.min.z >= -1.2f);
        assert_true(extent.max.y <= 3 && extent.max.x <= 1.2f && extent.max.z <= 1.2f);
        for (uint64_t i = 0; i < body_nodes(solver, "jelly"); i++)
            for (size_t s = 0; s < 3; s++) {
                vec3 centre = vec3_make(spheres[s][0], spheres[s][1], spheres[s][2]);
                vec3 gap = vec3_subtract(position_in_body(solver, "jelly", i), centre);
                double outside = vec3_length(gap) - spheres[s][3];
                // The third sphere is projected last: it may push a node into another one.
                assert_true(outside > (s == 2 ? -1e-6 : -0.01));
                touched |= outside < 1e-6;
            }
    }
    assert_true(touched);
    assert_true(quick() || enclosed_volume(solver, "jelly") > 0.8 * built);
    assert_true(quick() || fabs(velocity_in_body(solver, "jelly", 1237).y) < 0.1); // at rest
    taut_solver_destroy(solver);
}

// ---- Large scenes

static void test_large_cloth_begins_to_fall(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("cloth-large", NULL, NULL);
    uint64_t nu = 500, nv = 501;
    uint64_t structural = (nu - 1) * nv + nu * (nv - 1), shear = 2 * (nu - 1) * (nv - 1);
    uint64_t bend = (nu - 2) * nv + nu * (nv - 2);
    assert_int_equal(taut_solver_spring_count(solver), structural + shear + bend);
    assert_true(structural + shear + bend > 1490000);
    advance(solver, quick() ? 4 : 20);
    // The pinned side stays; the motion has not reached nodes far from it, which fall freely.
    vec3 velocity = velocity_in_body(solver, "cloth", 250 * nu + 250);
    assert_near(velocity.y, -9.81 * taut_solver_time(solver), 1e-5);
    assert_near(hypot(velocity.x, velocity.z), 0, 0.005); // rounding of single precision
    assert_vector_near(velocity_in_body(solver, "cloth", 250 * nu), vec3_make(0, 0, 0), 0);
    taut_solver_destroy(solver);
}

static void test_large_jelly_falls_as_one(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("jelly-large", NULL, NULL);
    assert_true(taut_solver_spring_count(solver) > 6000000);
    assert_true(solver_bytes(solver) < UINT64_C(1) << 30);
    advance(solver, quick() ? 2 : 16); // it touches the floor in step 40
    double fall = -9.81 * taut_solver_time(solver);
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i += 997)
        assert_vector_near(velocity_in_body(solver, "jelly", i), vec3_make(0, fall, 0), 1e-3);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_curtain_lies_in_layers),
        cmocka_unit_test(test_a_bowl_holds_jellies_and_pours_them_out),
        cmocka_unit_test(test_quad_without_diagonals_folds),
        cmocka_unit_test(test_cloths_with_more_kinds_of_springs_sag_less),
        cmocka_unit_test(test_scarf_stretches_on_the_bias),
        cmocka_unit_test(test_flag_flies_and_flutters),
        cmocka_unit_test(test_sheet_bulges_more_in_strong_wind),
        cmocka_unit_test(test_jelly_bends_with_the_wind),
        cmocka_unit_test(test_ring_collapses),
        cmocka_unit_test(test_ring_with_pressure_keeps_its_area),
        cmocka_unit_test(test_ball_keeps_its_volume),
        cmocka_unit_test(test_cube_lands_on_a_side),
        cmocka_unit_test(test_animal_keeps_its_shape),
        cmocka_unit_test(test_jelly_stays_in_the_room_and_out_of_the_spheres),
        cmocka_unit_test(test_large_cloth_begins_to_fall),
        cmocka_unit_test(test_large_jelly_falls_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
