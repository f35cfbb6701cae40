// Ropes and cloths, and what all bodies have in common: place, masses, velocities, materials.
#include "builders_fixture.h"

#include <unistd.h>

static struct scene_body *add_rope(struct fixture *fixture, uint64_t nodes)
{
    struct scene_body *rope = fixture_add(fixture, BODY_ROPE, "rope");
    rope->shape.rope.from = vec3_make(0, 2, 0);
    rope->shape.rope.to = vec3_make(4, 2, 0);
    rope->shape.rope.nodes = nodes;
    return rope;
}

static struct scene_body *add_cloth(struct fixture *fixture, uint64_t nu, uint64_t nv)
{
    struct scene_body *cloth = fixture_add(fixture, BODY_CLOTH, "flag");
    cloth->shape.cloth.origin = vec3_make(0, 2, 0);
    cloth->shape.cloth.u = vec3_make(1.5, 0, 0);
    cloth->shape.cloth.v = vec3_make(0, -1, 0);
    cloth->shape.cloth.nodes_u = nu;
    cloth->shape.cloth.nodes_v = nv;
    return cloth;
}

// ---- Rope

static void test_rope_links(void **state)
{
    (void)state;
    for (uint64_t n = 2; n <= 81; n += n < 6 ? 1 : 25) {
        for (int links = 0; links < 3; links++) {
            struct fixture fixture;
            fixture_begin(&fixture);
            struct scene_body *rope = add_rope(&fixture, n);
            if (links < 2)
                fixture_kind(rope, 0, 1);
            if (links == 1)
                fixture_kind(rope, 1, 2);
            if (links == 2)
                fixture_kind(rope, 2, 3);
            const struct body *body = fixture_build(&fixture);
            assert_int_equal(body->node_count, n);
            assert_int_equal(kind_count(body, 0), links < 2 ? n - 1 : 0);
            assert_int_equal(kind_count(body, 1), links == 1 ? n - 2 : 0);
            assert_int_equal(kind_count(body, 2), links == 2 ? n * (n - 1) / 2 : 0);
            assert_int_equal(body->face_count, 0);
            assert_false(body->closed);
            fixture_reset(&fixture);
        }
    }
}

static void test_rope_nodes_run_from_end_to_end(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = add_rope(&fixture, 9);
    fixture_kind(rope, 0, 1);
    fixture_kind(rope, 1, 1);
    const struct body *body = fixture_build(&fixture);
    for (uint64_t i = 0; i < 9; i++)
        assert_place(body, i, 0.5 * (double)i, 2, 0);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(body->springs[i][0], i);
        assert_int_equal(body->springs[i][1], i + 1);
        assert_near(spring_length(body, i), 0.5, 1e-15);
    }
    for (uint64_t i = 0; i < 7; i++) {
        assert_int_equal(body->springs[8 + i][0], i);
        assert_int_equal(body->springs[8 + i][1], i + 2);
    }
    assert_null(body->rest_lengths);
    assert_null(body->spring_materials);
    fixture_reset(&fixture);
}

static void test_rope_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = add_rope(&fixture, 1);
    fixture_kind(rope, 0, 1);
    fixture_refuse(&fixture, NULL, body_mark, "rope 'rope' needs at least 2 nodes");
    rope->shape.rope.nodes = UINT64_C(4294967295);
    fixture_refuse(&fixture, NULL, body_mark, "body 'rope' has more than 4294967294 nodes");
    rope->shape.rope.nodes = 5;
    rope->shape.rope.to = rope->shape.rope.from;
    fixture_refuse(&fixture, NULL, body_mark,
                   "rope 'rope' has no length: 'from' and 'to' are the same point");
    rope->shape.rope.to = vec3_make(0, 0, 0);
    fixture_kind(rope, 2, 1);
    fixture_refuse(&fixture, NULL, body_mark,
                   "springs 'all' of body 'rope' join each node with each already: leave out "
                   "'chain'");
    rope->kinds[0].present = false;
    rope->shape.rope.nodes = 20001;
    fixture_refuse(&fixture, NULL, body_mark,
                   "springs 'all' join each node with each: body 'rope' of 20001 nodes is more "
                   "than the 20000 that this is allowed for");
}

// ---- Cloth

static void test_cloth_counts(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {{2, 2}, {2, 3}, {3, 2}, {3, 3}, {7, 4}, {121, 81}, {4, 33}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t nu = sizes[i][0], nv = sizes[i][1];
        struct fixture fixture;
        fixture_begin(&fixture);
        struct scene_body *cloth = add_cloth(&fixture, nu, nv);
        for (size_t kind = 0; kind < 3; kind++)
            fixture_kind(cloth, kind, 1);
        const struct body *body = fixture_build(&fixture);
        assert_int_equal(body->node_count, nu * nv);
        assert_int_equal(kind_count(body, 0), (nu - 1) * nv + nu * (nv - 1));
        assert_int_equal(kind_count(body, 1), 2 * (nu - 1) * (nv - 1));
        assert_int_equal(kind_count(body, 2), (nu - 2) * nv + nu * (nv - 2));
        assert_int_equal(body->face_count, 2 * (nu - 1) * (nv - 1));
        assert_int_equal(body->grid[0], nu);
        assert_int_equal(body->grid[1], nv);
        assert_int_equal(body->grid[2], 1);
        assert_false(body->closed);
        fixture_reset(&fixture);
    }
}

static void test_cloth_springs_have_the_lengths_of_their_kind(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *cloth = add_cloth(&fixture, 7, 5);
    for (size_t kind = 0; kind < 3; kind++)
        fixture_kind(cloth, kind, 1);
    const struct body *body = fixture_build(&fixture);
    double cell = 0.25;
    uint64_t structural_u = 6 * 5, bend_u = 5 * 5;
    for (uint64_t s = 0; s < body->spring_count; s++) {
        uint32_t a = body->springs[s][0], b = body->springs[s][1];
        assert_true(a < b);
        if (s < body->kind_start[1]) {
            assert_near(spring_length(body, s), cell, 1e-14);
            assert_int_equal(b - a, s < structural_u ? 1 : 7);
        } else if (s < body->kind_start[2]) {
            assert_near(spring_length(body, s), cell * sqrt(2), 1e-14);
        } else {
            assert_near(spring_length(body, s), 2 * cell, 1e-14);
            assert_int_equal(b - a, s - body->kind_start[2] < bend_u ? 2 : 14);
        }
    }
    fixture_reset(&fixture);
}

static void test_cloth_leaves_out_kinds_that_are_not_named(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *cloth = add_cloth(&fixture, 6, 4);
    fixture_kind(cloth, 1, 5);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->spring_count, 2 * 5 * 3);
    assert_int_equal(kind_count(body, 1), body->spring_count);
    assert_int_equal(body->material_count, 4);
    assert_true(body->materials[1].stiffness == 5.0);
    // What is not there must not look like something that may break.
    assert_true(isinf(body->materials[0].break_at) && isinf(body->materials[0].yield_at));
    fixture_reset(&fixture);
}

static void test_cloth_all_joins_each_with_each(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *cloth = add_cloth(&fixture, 6, 4);
    fixture_kind(cloth, 3, 5);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(kind_count(body, 3), 24 * 23 / 2);
    fixture_reset(&fixture);
    cloth->shape.cloth.nodes_u = 200;
    cloth->shape.cloth.nodes_v = 101;
    fixture_refuse(&fixture, NULL, body_mark,
                   "springs 'all' join each node with each: body 'flag' of 20200 nodes is more "
                   "than the 20000 that this is allowed for");
    fixture_kind(cloth, 2, 5);
    fixture_refuse(&fixture, NULL, body_mark,
                   "springs 'all' of body 'flag' join each node with each already: leave out "
                   "'bend'");
}

static void test_cloth_faces_cover_it_once_and_look_along_u_cross_v(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *cloth = add_cloth(&fixture, 7, 5);
    cloth->shape.cloth.v = vec3_make(0.3, -1, 0.5);
    fixture_kind(cloth, 0, 1);
    const struct body *body = fixture_build(&fixture);
    vec3 whole = vec3_cross(cloth->shape.cloth.u, cloth->shape.cloth.v);
    double area = 0;
    for (uint64_t face = 0; face < body->face_count; face++) {
        const uint32_t *nodes = &body->faces[3 * face];
        vec3 a = body_position(body, nodes[0]);
        vec3 ab = vec3_subtract(body_position(body, nodes[1]), a);
        vec3 ac = vec3_subtract(body_position(body, nodes[2]), a);
        vec3 normal = vec3_cross(ab, ac);
        area += 0.5 * vec3_length(normal);
        double cosine = vec3_dot(normal, whole) / (vec3_length(normal) * vec3_length(whole));
        assert_near(cosine, 1, 1e-12);
    }
    assert_near(area, vec3_length(whole), 1e-12);
    fixture_reset(&fixture);
}

static void test_cloth_of_a_million_and_a_half_springs(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *cloth = add_cloth(&fixture, 500, 500);
    for (size_t kind = 0; kind < 3; kind++)
        fixture_kind(cloth, kind, 1);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->spring_count, 2 * 499 * 500 + 2 * 499 * 499 + 2 * 498 * 500);
    assert_place(body, 249999, 1.5, 1, 0);
    fixture_reset(&fixture);
}

static void test_cloth_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *cloth = add_cloth(&fixture, 1, 5);
    fixture_refuse(&fixture, NULL, body_mark,
                   "cloth 'flag' needs at least 2 nodes along u and along v");
    cloth->shape.cloth.nodes_u = UINT64_C(1) << 62;
    fixture_refuse(&fixture, NULL, body_mark,
                   "cloth 'flag' of 4611686018427387904 by 5 nodes is too large");
    cloth->shape.cloth.nodes_u = cloth->shape.cloth.nodes_v = 65536;
    fixture_refuse(&fixture, NULL, body_mark, "cloth 'flag' of 65536 by 65536 nodes is too large");
    cloth->shape.cloth.v = vec3_make(-3, 0, 0);
    fixture_refuse(&fixture, NULL, body_mark,
                   "cloth 'flag' has no area: 'u' and 'v' are parallel or zero");
}

// More than the machine's memory is refused, not filled until the process is killed.
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
    given->shape.lattice.shells = 2;
    for (size_t kind = 0; kind < 6; kind++)
        fixture_kind(given, kind, 1);
    taut_status status =
        bodies_build(&fixture.scene, &fixture.built, &fixture.diagnostics, &fixture.error);
    assert_int_equal(status, TAUT_ERROR_MEMORY);
    assert_non_null(strstr(fixture.error.text, "body 'huge' of 4096000000 nodes"));
    fixture_reset(&fixture);
}

// ---- Place

static void test_rotation_turns_about_x_then_y_then_z(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = add_rope(&fixture, 2);
    rope->shape.rope.from = vec3_make(0, 0, 0);
    rope->shape.rope.to = vec3_make(1, 2, 3);
    rope->rotate = vec3_make(90, 90, 0);
    rope->translate = vec3_make(10, 20, 30);
    // About x: (1, -3, 2); about y: (2, -3, -1). Exact, since the angles are right.
    const struct body *body = fixture_build(&fixture);
    const double expected[6] = {10, 20, 30, 12, 17, 29};
    assert_memory_equal(body->positions, expected, sizeof expected);
    fixture_reset(&fixture);

    rope->rotate = vec3_make(30, -50, 200);
    rope->translate = vec3_make(0, 0, 0);
    double cx = cos(PI / 6), sx = sin(PI / 6), cy = cos(5 * PI / 18);
    double sy = -sin(5 * PI / 18), cz = cos(10 * PI / 9), sz = sin(10 * PI / 9);
    double y1 = 2 * cx - 3 * sx, z1 = 2 * sx + 3 * cx;
    double x2 = cy + z1 * sy, z2 = -sy + z1 * cy;
    body = fixture_build(&fixture);
    assert_place(body, 1, x2 * cz - y1 * sz, x2 * sz + y1 * cz, z2);
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

static void test_places_that_are_not_finite(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = add_rope(&fixture, 3);
    rope->shape.rope.to = vec3_make(1e308, 0, 0);
    rope->translate = vec3_make(1.5e308, 0, 0);
    fixture_refuse(&fixture, NULL, body_mark, "node 1 of body 'rope' has no finite place");
}

// ---- Masses and velocities

static void test_masses(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = add_rope(&fixture, 8);
    rope->mass = 4;
    const struct body *body = fixture_build(&fixture);
    for (uint64_t i = 0; i < 8; i++)
        assert_true(body->masses[i] == 0.5);
    fixture_reset(&fixture);
    rope->mass_per_node = true;
    rope->node_mass = 0.05;
    body = fixture_build(&fixture);
    for (uint64_t i = 0; i < 8; i++)
        assert_true(body->masses[i] == 0.05);
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
    struct scene_body *rope = add_rope(&fixture, 4);
    struct selector pins[] = {fixture_node(2)};
    rope->velocity = vec3_make(1, 2, 3);
    rope->rotate = vec3_make(0, 0, 90); // velocities are of the world: not turned
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
    add_rope(&fixture, 1);
    add_cloth(&fixture, 1, 1);
    add_rope(&fixture, 5);
    taut_status status =
        bodies_build(&fixture.scene, &fixture.built, &fixture.diagnostics, &fixture.error);
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
    struct scene_body *rope = add_rope(&fixture, 5);
    rope->name = name;
    add_cloth(&fixture, 3, 3);
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
    assert_int_equal(
        bodies_build(&fixture.scene, &fixture.built, &fixture.diagnostics, &fixture.error),
        TAUT_OK);
    assert_int_equal(fixture.built.count, 0);
    fixture_reset(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rope_links),
        cmocka_unit_test(test_rope_nodes_run_from_end_to_end),
        cmocka_unit_test(test_rope_refusals),
        cmocka_unit_test(test_cloth_counts),
        cmocka_unit_test(test_cloth_springs_have_the_lengths_of_their_kind),
        cmocka_unit_test(test_cloth_leaves_out_kinds_that_are_not_named),
        cmocka_unit_test(test_cloth_all_joins_each_with_each),
        cmocka_unit_test(test_cloth_faces_cover_it_once_and_look_along_u_cross_v),
        cmocka_unit_test(test_cloth_of_a_million_and_a_half_springs),
        cmocka_unit_test(test_cloth_refusals),
        cmocka_unit_test(test_body_beyond_memory),
        cmocka_unit_test(test_rotation_turns_about_x_then_y_then_z),
        cmocka_unit_test(test_right_angles_are_exact),
        cmocka_unit_test(test_places_that_are_not_finite),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_velocity_is_of_all_free_nodes),
        cmocka_unit_test(test_errors_of_all_bodies_are_found),
        cmocka_unit_test(test_bodies_keep_their_order_and_own_their_names),
        cmocka_unit_test(test_scene_without_bodies),
    };
    return cmocka_run_group_tests_name("builders", tests, NULL, NULL);
}
