// The effects that the scenes of contact between surfaces demonstrate, as numbers. With
// TAUT_TEST_QUICK only the beginning is run, and properties that hold at any time are checked.
#include "contact_fixture.h"
#include "scene_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Advances to the end in steps of 0.05 s, after each of which no surfaces cross.
static void run_without_crossings(taut_solver *solver, double end)
{
    struct everything all = everything_of(solver);
    for (int i = 1; 0.05 * i <= end + 1e-9; i++) {
        if (0.05 * i <= taut_solver_time(solver))
            continue; // of a run that goes on
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

// ---- Ropes, which have no triangles that could cross

// The segments between neighbouring nodes of all bodies, ropes: segments connect no two of them.
struct segments {
    vec3 *ends; // 2 each
    size_t *bodies;
    size_t count;
};

static struct segments segments_of(const taut_solver *solver)
{
    const size_t nodes = taut_solver_node_count(solver), bodies = taut_solver_body_count(solver);
    struct segments all = {.ends = calloc(2 * nodes, sizeof *all.ends),
                           .bodies = calloc(nodes, sizeof *all.bodies)};
    double *values = calloc(3 * nodes, sizeof *values);
    assert_true(all.ends && all.bodies && values);
    for (size_t b = 0; b < bodies; b++) {
        taut_solver_get_positions(solver, b, values);
        for (size_t i = 0; i + 1 < taut_solver_body_node_count(solver, b); i++) {
            const double *from = values + 3 * i;
            all.ends[2 * all.count] = vec3_make(from[0], from[1], from[2]);
            all.ends[2 * all.count + 1] = vec3_make(from[3], from[4], from[5]);
            all.bodies[all.count++] = b;
        }
    }
    free(values);
    return all;
}

static vec3 unit(vec3 a)
{
    const double length = vec3_length(a);
    return length > 0 ? vec3_scale(1 / length, a) : a;
}

// The Gauss integral of two segments: by what part of all directions, with the sign of the
// crossing, one is seen to cross the other (Klenin and Langowski, "Computation of writhe in
// modeling of supercoiled DNA", 2000). -1/2 to 1/2; it jumps by 1 where one passes through the
// other, and nowhere else.
static double gauss_integral(const vec3 a[2], const vec3 b[2])
{
    const vec3 along_a = vec3_subtract(a[1], a[0]), along_b = vec3_subtract(b[1], b[0]);
    const vec3 offsets[4] = {vec3_subtract(b[0], a[0]), vec3_subtract(b[1], a[0]),
                             vec3_subtract(b[1], a[1]), vec3_subtract(b[0], a[1])};
    vec3 normals[4];
    double angle = 0;
    for (int i = 0; i < 4; i++)
        normals[i] = unit(vec3_cross(offsets[i], offsets[(i + 1) % 4]));
    for (int i = 0; i < 4; i++)
        angle += asin(fmax(-1, fmin(1, vec3_dot(normals[i], normals[(i + 1) % 4]))));
    return copysign(angle / (4 * PI), vec3_dot(vec3_cross(along_b, along_a), offsets[0]));
}

// Sums, for each segment, the Gauss integral over all other ones except its neighbours. The sum
// changes continuously unless a rope passes through the segment. (The sum of all, the linking of
// two ropes and half the writhe of each, would not show a symmetric knot, whose crossings have
// opposite signs.)
static void find_windings(const taut_solver *solver, double *windings)
{
    const struct segments all = segments_of(solver);
    for (size_t i = 0; i < all.count; i++)
        windings[i] = 0;
    for (size_t i = 0; i < all.count; i++)
        for (size_t j = i + 1; j < all.count; j++) {
            if (j == i + 1 && all.bodies[i] == all.bodies[j])
                continue;
            const double integral = gauss_integral(all.ends + 2 * i, all.ends + 2 * j);
            windings[i] += integral;
            windings[j] += integral;
        }
    free(all.ends);
    free(all.bodies);
}

// Advances to the end; the greatest change of the windings within 0.5 ms, near 1 where ropes pass
// through each other, has to lie between these.
static void expect_jump(taut_solver *solver, double end, double least, double most)
{
    enum { SEGMENTS_MAX = 120 };
    double windings[2][SEGMENTS_MAX] = {{0}}, greatest = 0;
    assert_true(taut_solver_node_count(solver) <= SEGMENTS_MAX + taut_solver_body_count(solver));
    find_windings(solver, windings[0]);
    for (int i = 1; 0.0005 * i <= end + 1e-9; i++) {
        advance_to(solver, 0.0005 * i);
        find_windings(solver, windings[i % 2]);
        for (int s = 0; s < SEGMENTS_MAX; s++)
            greatest = fmax(greatest, fabs(windings[1][s] - windings[0][s]));
    }
    if (!(greatest > least && greatest < most))
        fail_msg("the windings of ropes change by %g at once", greatest);
}

// Two segments at right angles, one passing through the other, and two in one plane.
static void test_windings_of_segments(void **context)
{
    (void)context;
    const vec3 a[2] = {{-1, 0, 0}, {1, 0, 0}};
    double last = 0;
    for (int i = -4; i <= 4; i++) {
        const double z = 0.001 * i;
        const vec3 b[2] = {{0, -1, z}, {0, 1, z}}, apart[2] = {{2, -1, z}, {2, 1, z}};
        if (i != 0)
            assert_near(fabs(gauss_integral(a, b)), 0.5, 0.002);
        if (i == 1)
            assert_near(fabs(gauss_integral(a, b) - last), 1, 0.002);
        last = i != 0 ? gauss_integral(a, b) : last;
        assert_near(gauss_integral(a, apart), 0, 0.001);
    }
    const vec3 up[2] = {{0, 0, -1}, {0, 0, 1}}, low[2] = {{-0.5, 1, 0}, {0.5, 1, 0}};
    const vec3 corner[2] = {{0.3, 0.4, 0.9}, {0.1, 0.7, 0.2}};
    assert_near(gauss_integral(a, up), gauss_integral(up, a), 1e-12);
    assert_near(gauss_integral(low, corner), gauss_integral(corner, low), 1e-12);
}

// Each of the ropes goes around the other one, and is stretched in the end.
static void test_a_knot_holds(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("knot", NULL, NULL);
    const vec3 left = position_in_body(solver, "left", 30),
               right = position_in_body(solver, "right", 30);
    assert_true(left.x - right.x > 0.1);
    expect_jump(solver, quick() ? 0.2 : 1.5, 1e-6, 0.25);
    const vec3 left_now = position_in_body(solver, "left", 30),
               right_now = position_in_body(solver, "right", 30);
    assert_true(left_now.x - right_now.x > 0.012);
    if (!quick()) {
        assert_true(left_now.x - right_now.x < 0.05);
        assert_true(energy_of(solver).elastic > 0.1);
        assert_true(energy_of(solver).contact > 0.01);
    }
    taut_solver_destroy(solver);
}

// Without contact between them they slip through each other, which the test above would detect.
static void test_a_knot_without_contact_is_lost(void **context)
{
    (void)context;
    taut_solver *solver = scene_open(
        "knot", (const char *[]){"contact.between=false", "contact.self=false", NULL}, NULL);
    expect_jump(solver, 1, 0.7, 10);
    taut_solver_destroy(solver);
}

static void test_a_rope_lies_in_windings(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("rope-coils", NULL, NULL);
    expect_jump(solver, quick() ? 0.2 : 1.5, 1e-6, 0.25);
    if (!quick()) {
        const struct extent rope = body_extent(solver, "rope");
        assert_true(rope.min.y > -0.005);
        assert_true(rope.max.y < 0.25);
        assert_true(rope.max.y > 0.012); // a winding on another one
        assert_true(rope.max.x - rope.min.x < 0.8 && rope.max.z - rope.min.z < 0.8);
    }
    taut_solver_destroy(solver);
}

// ---- Cloths

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

// The table holds what lies on it; sides hang down, and the corners farthest.
static void test_a_tablecloth_hangs_over_a_round_table(void **context)
{
    (void)context;
    enum { SIDE = 41, MIDDLE = SIDE * SIDE / 2 };
    taut_solver *solver = scene_open("tablecloth-round", NULL, NULL);
    run_without_crossings(solver, quick() ? 0.1 : 1);
    const vec3 middle = position_in_body(solver, "tablecloth", MIDDLE);
    assert_true(middle.y > 0.005 && middle.y < (quick() ? 0.03 : 0.01));
    assert_true(fabs(middle.x) < 0.002 && fabs(middle.z) < 0.002);
    if (!quick()) {
        static const size_t corners[] = {0, SIDE - 1, SIDE * (SIDE - 1), SIDE * SIDE - 1},
                            sides[] = {SIDE / 2, SIDE / 2 * SIDE};
        for (int i = 0; i < 4; i++)
            assert_near(position_in_body(solver, "tablecloth", corners[i]).y, -0.49, 0.05);
        for (int i = 0; i < 2; i++)
            assert_near(position_in_body(solver, "tablecloth", sides[i]).y, -0.19, 0.05);
    }
    taut_solver_destroy(solver);
}

// In degrees about the y axis, of a node of the cloth that lies on the ball.
static double azimuth(taut_solver *solver)
{
    const vec3 point = position_in_body(solver, "cloth", 15 * 31 + 20);
    return atan2(-point.z, point.x) * 180 / acos(-1);
}

// Between 0.8 and 1.2 s the ball turns by 90 degrees; without friction the cloth does not see it.
static void test_a_ball_spins_a_cloth_by_friction(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("cloth-spun", NULL, NULL);
    run_without_crossings(solver, quick() ? 0.1 : 0.8);
    assert_near(azimuth(solver), 0, 5);
    if (!quick()) {
        run_without_crossings(solver, 1.2);
        assert_true(azimuth(solver) > 70 && azimuth(solver) < 90);
        assert_true(position_in_body(solver, "cloth", 15 * 31 + 15).y > 0.155);
        taut_solver *smooth = scene_open(
            "cloth-spun", (const char *[]){"contact.friction_coefficient=0", NULL}, NULL);
        advance_to(smooth, 1.2);
        assert_near(azimuth(smooth), 0, 10);
        taut_solver_destroy(smooth);
    }
    taut_solver_destroy(solver);
}

// The farthest of the nodes of the middle column from its mean.
static double radius_in_the_middle(const taut_solver *solver)
{
    vec3 mean = {0, 0, 0};
    double farthest = 0;
    for (uint64_t row = 0; row < 19; row++)
        mean =
            vec3_add(mean, vec3_scale(1.0 / 19, position_in_body(solver, "cloth", row * 49 + 24)));
    for (uint64_t row = 0; row < 19; row++)
        farthest = fmax(farthest, vec3_length(vec3_subtract(
                                      position_in_body(solver, "cloth", row * 49 + 24), mean)));
    return farthest;
}

// Its middle, 0.15 m to both sides as built, becomes a rope, whose layers lie on each other.
static void test_a_cloth_is_wrung(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("cloth-twisted", NULL, NULL);
    assert_near(radius_in_the_middle(solver), 0.15, 1e-3);
    run_without_crossings(solver, quick() ? 0.2 : 3.2);
    if (!quick()) {
        uint64_t count;
        assert_int_equal(taut_solver_get_contact_points(solver, 0, NULL, &count, NULL), TAUT_OK);
        assert_true(count > 500);
        assert_true(radius_in_the_middle(solver) < 0.06);
        // Ends that have turned by 540 degrees and come nearer by 0.12 m.
        assert_vector_near(position_in_body(solver, "cloth", 0), vec3_make(-0.28, -0.15, 0), 1e-5);
        assert_vector_near(position_in_body(solver, "cloth", 48), vec3_make(0.28, -0.15, 0), 1e-5);
    }
    taut_solver_destroy(solver);
}

// It lies on the head, 0.93 m high, and on the back, and hangs below 0.5 m at both sides.
static void test_a_cloth_drapes_over_an_animal(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("cloth-animal", NULL, NULL);
    run_without_crossings(solver, quick() ? 0.1 : 1.6);
    const struct extent extent = body_extent(solver, "cloth");
    if (!quick()) {
        assert_true(extent.max.y > 0.93 && extent.max.y < 0.97);
        assert_true(extent.min.y > 0.15 && extent.min.y < 0.45);
        assert_true(extent.max.z < 0.45 && extent.min.z > -0.45); // 0.5 as built
        assert_true(energy_of(solver).kinetic < 0.01);
    }
    taut_solver_destroy(solver);
}

// They come out of the spout, 0.12 m long, in the order in which they fell, and all of them.
static void test_jellies_pass_through_a_funnel(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("funnel", NULL, NULL);
    run_without_crossings(solver, quick() ? 0.1 : 0.4);
    const struct extent first = body_extent(solver, "first"),
                        second = body_extent(solver, "second"),
                        third = body_extent(solver, "third");
    assert_true(first.min.y < second.min.y && first.max.y < second.max.y);
    assert_true(second.min.y < third.min.y && second.max.y < third.max.y);
    if (!quick()) {
        assert_true(first.max.y < -0.12 && third.max.y > 0);
        run_without_crossings(solver, 1);
        assert_true(body_extent(solver, "second").max.y < -0.12);
        assert_true(body_extent(solver, "third").max.y < -0.12);
    }
    taut_solver_destroy(solver);
}

static double height_of_middle(taut_solver *solver, const char *body)
{
    const struct extent extent = body_extent(solver, body);
    return (extent.min.y + extent.max.y) / 2;
}

// Friction keeps the pile, from which both slide down without it.
static void test_jellies_stay_on_each_other(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("jellies-pile", NULL, NULL);
    run_without_crossings(solver, quick() ? 0.1 : 2);
    assert_true(height_of_middle(solver, "upper") > height_of_middle(solver, "middle") + 0.15);
    assert_true(height_of_middle(solver, "middle") > height_of_middle(solver, "lower") + 0.15);
    if (!quick()) {
        assert_true(energy_of(solver).kinetic < 0.01);
        taut_solver *smooth = scene_open(
            "jellies-pile", (const char *[]){"contact.friction_coefficient=0", NULL}, NULL);
        advance_to(smooth, 2);
        assert_true(height_of_middle(smooth, "upper") < 0.4);
        assert_true(height_of_middle(smooth, "middle") < 0.25);
        taut_solver_destroy(smooth);
    }
    taut_solver_destroy(solver);
}

// The house stands until a ball hits its top, whose two cards fall; without friction all fall.
static void test_a_house_of_cards_stands_by_friction(void **context)
{
    (void)context;
    taut_solver *solver = scene_open("card-house", NULL, NULL);
    run_without_crossings(solver, quick() ? 0.05 : 0.3);
    assert_true(body_extent(solver, "third-left").max.y > 0.178);
    assert_true(body_extent(solver, "third-right").max.y > 0.178);
    if (!quick()) {
        run_without_crossings(solver, 0.8);
        assert_true(body_extent(solver, "third-left").max.y < 0.13);
        assert_true(body_extent(solver, "third-right").max.y < 0.13);
        assert_true(body_extent(solver, "storey").max.y > 0.085);
        taut_solver *smooth = scene_open(
            "card-house", (const char *[]){"contact.friction_coefficient=0", NULL}, NULL);
        advance_to(smooth, 0.3);
        assert_true(body_extent(smooth, "third-left").max.y < 0.1);
        taut_solver_destroy(smooth);
    }
    taut_solver_destroy(solver);
}

// A hundredth of its nodes: the ball carries the middle, and the rest lies on the floor in folds.
static void test_a_large_cloth_drops_over_a_ball(void **context)
{
    (void)context;
    enum { SIDE = 101 };
    taut_solver *solver = scene_open("cloth-drop-large",
                                     (const char *[]){"bodies.cloth.nodes=[101,101]", NULL}, NULL);
    run_without_crossings(solver, quick() ? 0.2 : 2.5);
    const struct extent cloth = body_extent(solver, "cloth");
    assert_true(cloth.min.z > -0.05);
    assert_true(cloth.max.z > 2.95 && cloth.max.z < (quick() ? 3.4 : 3.05));
    if (!quick()) {
        static const size_t corners[] = {0, SIDE - 1, SIDE * (SIDE - 1), SIDE * SIDE - 1};
        for (int i = 0; i < 4; i++)
            assert_true(position_in_body(solver, "cloth", corners[i]).z < 0.5);
        assert_true(cloth.max.x - cloth.min.x < 9); // 10 m where it starts
        assert_true(energy_of(solver).contact > 0);
    }
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_large_cloth_drops_over_a_ball),
        cmocka_unit_test(test_sheets_lie_on_a_ball_in_their_order),
        cmocka_unit_test(test_windings_of_segments),
        cmocka_unit_test(test_a_knot_holds),
        cmocka_unit_test(test_a_knot_without_contact_is_lost),
        cmocka_unit_test(test_a_rope_lies_in_windings),
        cmocka_unit_test(test_small_balls_carry_a_cloth),
        cmocka_unit_test(test_a_tablecloth_hangs_over_a_round_table),
        cmocka_unit_test(test_a_ball_spins_a_cloth_by_friction),
        cmocka_unit_test(test_a_cloth_is_wrung),
        cmocka_unit_test(test_a_cloth_drapes_over_an_animal),
        cmocka_unit_test(test_jellies_pass_through_a_funnel),
        cmocka_unit_test(test_jellies_stay_on_each_other),
        cmocka_unit_test(test_a_house_of_cards_stands_by_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
