// Properties of all bodies: size, position, masses, velocities; and scenes of several bodies.
#include "builders_fixture.h"

#include <unistd.h>

// ---- Size

// A body larger than the machine's memory is rejected; it must not be built until the process is
// killed.
static void test_body_beyond_memory(void **state)
{
    (void)state;
#ifdef _SC_PHYS_PAGES
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
#else
    double machine = INFINITY;
#endif
    if (machine > 1e12) {
        print_message("skipped: this machine has, or may have, a terabyte of memory\n");
        skip();
    }
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *given = fixture_add(&fixture, BODY_LATTICE, "huge");
    given->shape.lattice =
        (struct scene_lattice){.nodes_x = 1600, .nodes_y = 1600, .nodes_z = 1600, .spacing = 1};
    given->shape.lattice.shells = 2; // without springs, so that its positions are listed
    taut_status status = fixture_try(&fixture);
    assert_int_equal(status, TAUT_ERROR_MEMORY);
    assert_non_null(strstr(fixture.error.text, "body 'huge' of 4096000000 nodes"));
    fixture_reset(&fixture);
}

// ---- Position

static void test_rotation_turns_about_x_then_y_then_z(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 2);
    rope->shape.rope.from = vec3_make(0, 0, 0);
    rope->shape.rope.to = vec3_make(1, 2, 3);
    rope->rotate = vec3_make(90, 90, 0);
    rope->translate = vec3_make(10, 20, 30);
    // About x: (1, -3, 2); about y: (2, -3, -1). Exact, because the angles are multiples of 90
    // degrees.
    const struct body *body = fixture_build(&fixture);
    const vec3 expected[2] = {{10, 20, 30}, {12, 17, 29}};
    const vec3 found[2] = {body_position(body, 0), body_position(body, 1)};
    assert_memory_equal(found, expected, sizeof expected);
    fixture_reset(&fixture);

    rope->rotate = vec3_make(30, -50, 200);
    rope->translate = vec3_make(0, 0, 0);
    double cx = cos(PI / 6), sx = sin(PI / 6), cy = cos(5 * PI / 18);
    double sy = -sin(5 * PI / 18), cz = cos(10 * PI / 9), sz = sin(10 * PI / 9);
    double y1 = 2 * cx - 3 * sx, z1 = 2 * sx + 3 * cx;
    double x2 = cy + z1 * sy, z2 = -sy + z1 * cy;
    body = fixture_build(&fixture);
    assert_position(body, 1, x2 * cz - y1 * sz, x2 * sz + y1 * cz, z2);
    fixture_reset(&fixture);
}

static void test_right_angles_are_exact(void **state)
{
    (void)state;
    for (int quarters = -8; quarters <= 8; quarters++) {
        struct rotation rotation = rotation_make(vec3_make(0, 0, 90.0 * quarters));
        for (int row = 0; row < 3; row++)
            for (int column = 0; column < 3; column++) {
                double entry = fabs(rotation.rows[row][column]);
                assert_true(entry == 0.0 || entry == 1.0);
            }
        vec3 turned = rotate(&rotation, vec3_make(1, 0, 0));
        static const double cosines[] = {1, 0, -1, 0};
        assert_true(turned.x == cosines[(quarters + 8) % 4]);
        assert_true(turned.y == cosines[(quarters + 11) % 4]);
    }
}

static void test_positions_that_are_not_finite(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 3);
    rope->shape.rope.to = vec3_make(1e308, 0, 0);
    rope->translate = vec3_make(1.5e308, 0, 0);
    fixture.scene.precision = PRECISION_DOUBLE;
    fixture_refuse(&fixture, NULL, body_mark, "node 1 of body 'rope' has no finite position");
}

// Sums and quotients of numbers that single precision holds.
static void test_single_precision_holds_what_is_built(void **state)
{
    (void)state;
    struct fixture fixture;
    for (int doubled = 0; doubled < 2; doubled++) {
        fixture_begin(&fixture);
        struct scene_body *rope = fixture_rope(&fixture, 3);
        rope->shape.rope.to = vec3_make(2e38, 0, 0);
        rope->translate = vec3_make(2e38, 0, 0);
        fixture.scene.precision = doubled ? PRECISION_DOUBLE : PRECISION_SINGLE;
        if (doubled) {
            assert_non_null(fixture_build(&fixture));
            fixture_reset(&fixture);
            continue;
        }
        fixture_refuse(&fixture, NULL, body_mark,
                       "node 2 of body 'rope' has a coordinate of 4e+38, which exceeds the range "
                       "of single precision (up to 3.4e38); use 'precision: double'");
    }
    fixture_begin(&fixture);
    fixture_rope(&fixture, 8)->mass = 4e-38;
    fixture_refuse(&fixture, NULL, body_mark,
                   "node 0 of body 'rope' has mass 5e-39, which is below the range of single "
                   "precision (from 1.2e-38 on); use 'precision: double'");
    fixture_begin(&fixture);
    fixture_rope(&fixture, 8)->mass = 4e-308;
    fixture.scene.precision = PRECISION_DOUBLE;
    fixture_refuse(&fixture, NULL, body_mark,
                   "node 0 of body 'rope' has mass 5e-309, which is below the range of double "
                   "precision (from 2.3e-308 on)");
}

// ---- Masses and velocities

static void test_masses(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 8);
    rope->mass = 4;
    const struct body *body = fixture_build(&fixture);
    assert_true(!body->masses && body->node_mass == 0.5);
    fixture_reset(&fixture);
    rope->mass_per_node = true;
    rope->node_mass = 0.05;
    body = fixture_build(&fixture);
    assert_true(!body->masses && body->node_mass == 0.05);
    fixture_reset(&fixture);
    rope->node_mass = 0;
    fixture_refuse(&fixture, NULL, body_mark,
                   "node 0 of body 'rope' has mass 0; it must be above 0");
}

static void test_velocity_is_of_all_free_nodes(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 4);
    struct selector pins[] = {fixture_node(2)};
    rope->velocity = vec3_make(1, 2, 3);
    rope->rotate = vec3_make(0, 0, 90); // velocities are in world coordinates: not rotated
    rope->pins = pins;
    rope->pin_count = 1;
    const struct body *body = fixture_build(&fixture);
    assert_velocity(body, 0, 1, 2, 3);
    assert_velocity(body, 2, 0, 0, 0);
    assert_velocity(body, 3, 1, 2, 3);
    fixture_reset(&fixture);
}

// ---- Several bodies

static void test_errors_of_all_bodies_are_found(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    fixture_rope(&fixture, 1);
    fixture_cloth(&fixture, 1, 1);
    fixture_rope(&fixture, 5);
    taut_status status = fixture_try(&fixture);
    assert_int_equal(status, TAUT_ERROR_SCENE);
    assert_int_equal(fixture.diagnostics.error_count, 2);
    assert_string_equal(fixture.error.text, "test.yaml: 2 errors in the bodies of the scene");
    fixture_reset(&fixture);
}

static void test_bodies_keep_their_order_and_own_their_names(void **state)
{
    (void)state;
    struct fixture fixture;
    char name[] = "first";
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 5);
    rope->name = name;
    fixture_cloth(&fixture, 3, 3);
    fixture_build(&fixture);
    name[0] = '?';
    assert_int_equal(fixture.built.count, 2);
    assert_string_equal(fixture.built.items[0].name, "first");
    assert_int_equal(fixture.built.items[0].type, BODY_ROPE);
    assert_string_equal(fixture.built.items[1].name, "flag");
    assert_int_equal(fixture.built.items[1].at.line, body_mark.line);
    fixture_reset(&fixture);
    bodies_free(NULL);
}

static void test_scene_without_bodies(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    assert_int_equal(fixture_try(&fixture), TAUT_OK);
    assert_int_equal(fixture.built.count, 0);
    fixture_reset(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_body_beyond_memory),
        cmocka_unit_test(test_rotation_turns_about_x_then_y_then_z),
        cmocka_unit_test(test_right_angles_are_exact),
        cmocka_unit_test(test_positions_that_are_not_finite),
        cmocka_unit_test(test_single_precision_holds_what_is_built),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_velocity_is_of_all_free_nodes),
        cmocka_unit_test(test_errors_of_all_bodies_are_found),
        cmocka_unit_test(test_bodies_keep_their_order_and_own_their_names),
        cmocka_unit_test(test_scene_without_bodies),
    };
    return cmocka_run_group_tests_name("builders", tests, NULL, NULL);
}
