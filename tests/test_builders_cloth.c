// The builder of cloths.
#include "builders_fixture.h"

static void test_cloth_counts(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {{2, 2}, {2, 3}, {3, 2}, {3, 3}, {7, 4}, {121, 81}, {4, 33}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t nu = sizes[i][0], nv = sizes[i][1];
        struct fixture fixture;
        fixture_begin(&fixture);
        struct scene_body *cloth = fixture_cloth(&fixture, nu, nv);
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
    struct scene_body *cloth = fixture_cloth(&fixture, 7, 5);
    for (size_t kind = 0; kind < 3; kind++)
        fixture_kind(cloth, kind, 1);
    const struct body *body = fixture_build(&fixture);
    double cell = 0.25;
    uint64_t structural_u = 6 * 5, bend_u = 5 * 5;
    for (uint64_t s = 0; s < body->spring_count; s++) {
        uint32_t a = body_spring(body, s).a, b = body_spring(body, s).b;
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
    struct scene_body *cloth = fixture_cloth(&fixture, 6, 4);
    fixture_kind(cloth, 1, 5);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->spring_count, 2 * 5 * 3);
    assert_int_equal(kind_count(body, 1), body->spring_count);
    assert_int_equal(body->material_count, 4);
    assert_true(body->materials[1].stiffness == 5.0);
    // An absent law must not appear as one that may break.
    assert_true(isinf(body->materials[0].break_at) && isinf(body->materials[0].yield_at));
    fixture_reset(&fixture);
}

static void test_cloth_all_joins_each_with_each(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *cloth = fixture_cloth(&fixture, 6, 4);
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

// Those of a body whose springs are listed, or that has none, are listed too; others are computed.
static void test_positions_do_not_depend_on_springs(void **state)
{
    (void)state;
    enum { NODES_U = 6, NODES_V = 4, NONE = -1 };
    static const int kinds[] = {0, 3, NONE};
    vec3 expected[NODES_U * NODES_V] = {0};
    struct fixture fixture;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        fixture_begin(&fixture);
        struct scene_body *cloth = fixture_cloth(&fixture, NODES_U, NODES_V);
        cloth->rotate = vec3_make(30, -50, 200);
        cloth->translate = vec3_make(1, 2, 3);
        if (kinds[k] != NONE)
            fixture_kind(cloth, (size_t)kinds[k], 5);
        const struct body *body = fixture_build(&fixture);
        assert_int_equal(body->positions == NULL, kinds[k] == 0);
        for (uint64_t node = 0; node < body->node_count; node++) {
            const vec3 found = body_position(body, node);
            if (k == 0)
                expected[node] = found;
            assert_memory_equal(&found, &expected[node], sizeof found);
        }
        fixture_reset(&fixture);
    }
    assert_true(expected[1].x != expected[0].x);
}

static void test_cloth_faces_cover_it_once_and_look_along_u_cross_v(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *cloth = fixture_cloth(&fixture, 7, 5);
    cloth->shape.cloth.v = vec3_make(0.3, -1, 0.5);
    fixture_kind(cloth, 0, 1);
    const struct body *body = fixture_build(&fixture);
    vec3 whole = vec3_cross(cloth->shape.cloth.u, cloth->shape.cloth.v);
    double area = 0;
    for (uint64_t face = 0; face < body->face_count; face++) {
        struct body_face of_body = body_face(body, face);
        const uint32_t *nodes = of_body.nodes;
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
    struct scene_body *cloth = fixture_cloth(&fixture, 500, 500);
    for (size_t kind = 0; kind < 3; kind++)
        fixture_kind(cloth, kind, 1);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->spring_count, 2 * 499 * 500 + 2 * 499 * 499 + 2 * 498 * 500);
    assert_position(body, 249999, 1.5, 1, 0);
    fixture_reset(&fixture);
}

static void test_cloth_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *cloth = fixture_cloth(&fixture, 1, 5);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cloth_counts),
        cmocka_unit_test(test_cloth_springs_have_the_lengths_of_their_kind),
        cmocka_unit_test(test_cloth_leaves_out_kinds_that_are_not_named),
        cmocka_unit_test(test_cloth_all_joins_each_with_each),
        cmocka_unit_test(test_positions_do_not_depend_on_springs),
        cmocka_unit_test(test_cloth_faces_cover_it_once_and_look_along_u_cross_v),
        cmocka_unit_test(test_cloth_of_a_million_and_a_half_springs),
        cmocka_unit_test(test_cloth_refusals),
    };
    return cmocka_run_group_tests_name("builders_cloth", tests, NULL, NULL);
}
