// Pins, drives and the names of groups of nodes.
#include "builders_fixture.h"

// Builds the body with one pin and compares its fixed nodes with a picture such as "#....", row by
// row.
static void assert_pinned(struct fixture *fixture, struct selector pin, const char *expected)
{
    char fixed[128] = "";
    struct scene_body *given = &fixture->given[0];
    given->pins = &pin;
    given->pin_count = 1;
    const struct body *body = fixture_build(fixture);
    assert_true(body->node_count < sizeof fixed);
    for (uint64_t node = 0; node < body->node_count; node++)
        fixed[node] = body->kinematic[node] == 1 ? '#' : body->kinematic[node] == 0 ? '.' : '?';
    assert_string_equal(fixed, expected);
    assert_int_equal(fixture->diagnostics.count, 0);
    fixture_reset(fixture);
    given->pin_count = 0;
}

static void test_cloth_groups(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    fixture_cloth(&fixture, 5, 4);
    // Rows of five along u, the first row at the origin.
    assert_pinned(&fixture, fixture_group(SELECT_LEFT),
                  "#...."
                  "#...."
                  "#...."
                  "#....");
    assert_pinned(&fixture, fixture_group(SELECT_RIGHT),
                  "....#"
                  "....#"
                  "....#"
                  "....#");
    assert_pinned(&fixture, fixture_group(SELECT_TOP),
                  "#####"
                  "....."
                  "....."
                  ".....");
    assert_pinned(&fixture, fixture_group(SELECT_BOTTOM),
                  "....."
                  "....."
                  "....."
                  "#####");
    assert_pinned(&fixture, fixture_group(SELECT_CORNERS),
                  "#...#"
                  "....."
                  "....."
                  "#...#");
    assert_pinned(&fixture, fixture_group(SELECT_EDGES),
                  "#####"
                  "#...#"
                  "#...#"
                  "#####");
    assert_pinned(&fixture, fixture_group(SELECT_FIRST),
                  "#...."
                  "....."
                  "....."
                  ".....");
    assert_pinned(&fixture, fixture_group(SELECT_LAST),
                  "....."
                  "....."
                  "....."
                  "....#");
    assert_pinned(&fixture, fixture_node(7),
                  "....."
                  "..#.."
                  "....."
                  ".....");
}

static bool lattice_group_has(enum selector_type type, int i, int j, int k)
{
    int ends = (i == 0 || i == 3) + (j == 0 || j == 2) + (k == 0 || k == 4);
    switch (type) {
    case SELECT_LEFT:
        return i == 0;
    case SELECT_RIGHT:
        return i == 3;
    case SELECT_BOTTOM:
        return j == 0;
    case SELECT_TOP:
        return j == 2;
    case SELECT_BACK:
        return k == 0;
    case SELECT_FRONT:
        return k == 4;
    case SELECT_CORNERS:
        return ends == 3;
    default:
        return ends >= 2;
    }
}

static void test_lattice_groups(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    fixture_lattice(&fixture, 4, 3, 5);
    for (enum selector_type type = SELECT_LEFT; type <= SELECT_EDGES; type++) {
        char expected[61] = "";
        for (int node = 0; node < 60; node++)
            expected[node] = lattice_group_has(type, node % 4, node / 4 % 3, node / 12) ? '#' : '.';
        assert_pinned(&fixture, fixture_group(type), expected);
    }
}

static void test_box_takes_nodes_where_they_stand_after_placing(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 5);
    struct selector box = fixture_group(SELECT_BOX);
    box.min = vec3_make(-0.1, 1.9, -0.1);
    box.max = vec3_make(2, 2.1, 0.1);
    assert_pinned(&fixture, box, "###.."); // the bounds belong to the box
    rope->rotate = vec3_make(0, 0, 180);
    rope->translate = vec3_make(4, 4, 0);
    assert_pinned(&fixture, box, "..###");
}

static void test_box_without_nodes_is_a_warning(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 5);
    struct selector box = fixture_group(SELECT_BOX);
    box.min = vec3_make(5, 5, 5);
    box.max = vec3_make(6, 6, 6);
    rope->pins = &box;
    rope->pin_count = 1;
    fixture_build(&fixture);
    fixture_assert_warning(&fixture, selector_mark,
                           "no node of body 'rope' is in this box, so it pins none");
    fixture_reset(&fixture);
}

static void test_several_pins_may_overlap(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *cloth = fixture_cloth(&fixture, 5, 4);
    struct selector pins[] = {fixture_group(SELECT_LEFT), fixture_group(SELECT_TOP),
                              fixture_node(0)};
    cloth->pins = pins;
    cloth->pin_count = 3;
    const struct body *body = fixture_build(&fixture);
    unsigned pinned = 0;
    for (uint64_t node = 0; node < body->node_count; node++)
        pinned += body->kinematic[node];
    assert_int_equal(pinned, 8);
    fixture_reset(&fixture);
}

static void test_pin_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 5);
    struct selector pin = fixture_node(5);
    rope->pins = &pin;
    rope->pin_count = 1;
    fixture_refuse(&fixture, NULL, selector_mark,
                   "there is no node 5 in body 'rope': its nodes are 0 to 4");
    pin = fixture_group(SELECT_LEFT);
    fixture_refuse(&fixture, NULL, selector_mark, "a rope has no nodes called 'left'");
    fixture_begin(&fixture);
    struct scene_body *cloth = fixture_cloth(&fixture, 5, 4);
    cloth->pins = &pin;
    cloth->pin_count = 1;
    pin = fixture_group(SELECT_FRONT);
    fixture_refuse(&fixture, NULL, selector_mark, "a cloth has no nodes called 'front'");
}

static void test_every_wrong_pin_is_named(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 5);
    struct selector pins[] = {fixture_node(5), fixture_node(1), fixture_node(99)};
    rope->pins = pins;
    rope->pin_count = 3;
    assert_int_equal(fixture_try(&fixture), TAUT_ERROR_SCENE);
    assert_int_equal(fixture.diagnostics.error_count, 2);
    fixture_reset(&fixture);
}

// ---- Drives

static void test_drive_becomes_a_motion(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 5);
    struct drive_piece pieces[] = {{.start = 0, .velocity = {0, 1, 0}},
                                   {.start = 1, .velocity = {1, 0, 0}}};
    struct drive_piece late[] = {{.start = 0.5, .velocity = {0, 0, 7}}};
    struct scene_drive drives[] = {
        {.node = fixture_group(SELECT_FIRST), .pieces = pieces, .piece_count = 2},
        {.node = fixture_group(SELECT_LAST), .pieces = late, .piece_count = 1}};
    rope->velocity = vec3_make(9, 9, 9);
    rope->drives = drives;
    rope->drive_count = 2;
    const struct body *body = fixture_build(&fixture);
    pieces[1].velocity.x = -1; // the body has a copy of the pieces
    assert_int_equal(body->motion_count, 2);
    assert_int_equal(body->motions[0].type, MOTION_DRIVE);
    assert_int_equal(body->motions[0].node, 0);
    assert_int_equal(body->motions[0].piece_count, 2);
    assert_true(body->motions[0].pieces[1].velocity.x == 1.0);
    assert_int_equal(body->motions[1].node, 4);
    assert_int_equal(body->kinematic[0], 1);
    assert_int_equal(body->kinematic[4], 1);
    assert_int_equal(body->kinematic[1], 0);
    assert_velocity(body, 0, 0, 1, 0);
    assert_velocity(body, 1, 9, 9, 9);
    assert_velocity(body, 4, 0, 0, 0); // at rest before its first piece
    fixture_reset(&fixture);
}

// A group turns together: each node by its own arm.
static void test_drive_of_a_group(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 5);
    struct drive_piece piece = {.start = 0, .velocity = {0, 0, 1}, .angular_velocity = {0, 0, 180}};
    struct selector nodes[] = {fixture_node(1), fixture_group(SELECT_LAST)};
    struct scene_drive drive = {
        .pieces = &piece, .piece_count = 1, .nodes = nodes, .node_count = 2, .turns = true};
    rope->drives = &drive;
    rope->drive_count = 1;
    const struct body *body = fixture_build(&fixture);
    const vec3 one = body_position(body, 1);
    drive.center = vec3_make(one.x - 2, one.y, one.z);
    fixture_reset(&fixture);
    fixture_begin(&fixture);
    rope = fixture_rope(&fixture, 5);
    rope->drives = &drive;
    rope->drive_count = 1;
    body = fixture_build(&fixture);
    assert_int_equal(body->motion_count, 2);
    assert_int_equal(body->motions[0].node, 1);
    assert_int_equal(body->motions[1].node, 4);
    assert_true(body->motions[0].turns && body->motions[0].length == 2);
    assert_velocity(body, 1, 0, 2 * 3.14159265358979323846, 1);
    assert_int_equal(body->kinematic[1] + body->kinematic[4], 2);
    nodes[1] = fixture_node(1);
    fixture_refuse(&fixture, NULL, selector_mark, "node 1 of 'rope' is driven already");
    fixture_reset(&fixture);
}

static void test_drive_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 5);
    struct drive_piece piece = {.start = 0, .velocity = {0, 1, 0}};
    struct scene_drive drives[] = {{.node = fixture_node(3), .pieces = &piece, .piece_count = 1},
                                   {.node = fixture_node(3), .pieces = &piece, .piece_count = 1}};
    struct selector pin = fixture_node(3);
    rope->drives = drives;
    rope->drive_count = 2;
    fixture_refuse(&fixture, NULL, selector_mark, "node 3 of 'rope' is driven already");
    rope->drive_count = 1;
    rope->pins = &pin;
    rope->pin_count = 1;
    fixture_refuse(&fixture, NULL, selector_mark,
                   "node 3 of 'rope' is pinned and cannot be driven");
    rope->pin_count = 0;
    drives[0].node = fixture_node(77);
    fixture_refuse(&fixture, NULL, selector_mark,
                   "there is no node 77 in body 'rope': its nodes are 0 to 4");
    drives[0].node = fixture_group(SELECT_LEFT);
    fixture_refuse(&fixture, NULL, selector_mark,
                   "a drive moves one node: 'first', 'last' or a number");
}

static void test_body_select_node(void **state)
{
    (void)state;
    struct body body = {.type = BODY_ROPE, .node_count = 5};
    struct selector selector = fixture_node(4);
    uint64_t node = 99;
    assert_true(body_select_node(&body, &selector, &node));
    assert_int_equal(node, 4);
    selector.type = SELECT_FIRST;
    assert_true(body_select_node(&body, &selector, &node));
    assert_int_equal(node, 0);
    selector.type = SELECT_LAST;
    assert_true(body_select_node(&body, &selector, &node));
    assert_int_equal(node, 4);
    selector = fixture_node(5);
    assert_false(body_select_node(&body, &selector, &node));
    selector.type = SELECT_EDGES;
    assert_false(body_select_node(&body, &selector, &node));
    body.node_count = 0;
    selector.type = SELECT_FIRST;
    assert_false(body_select_node(&body, &selector, &node));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cloth_groups),
        cmocka_unit_test(test_lattice_groups),
        cmocka_unit_test(test_box_takes_nodes_where_they_stand_after_placing),
        cmocka_unit_test(test_box_without_nodes_is_a_warning),
        cmocka_unit_test(test_several_pins_may_overlap),
        cmocka_unit_test(test_pin_refusals),
        cmocka_unit_test(test_every_wrong_pin_is_named),
        cmocka_unit_test(test_drive_becomes_a_motion),
        cmocka_unit_test(test_drive_of_a_group),
        cmocka_unit_test(test_drive_refusals),
        cmocka_unit_test(test_body_select_node),
    };
    return cmocka_run_group_tests_name("builders_pins", tests, NULL, NULL);
}
