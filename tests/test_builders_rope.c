// The builder of ropes.
#include "builders_fixture.h"

static void test_rope_links(void **state)
{
    (void)state;
    for (uint64_t n = 2; n <= 81; n += n < 6 ? 1 : 25) {
        for (int links = 0; links < 3; links++) {
            struct fixture fixture;
            fixture_begin(&fixture);
            struct scene_body *rope = fixture_rope(&fixture, n);
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
    struct scene_body *rope = fixture_rope(&fixture, 9);
    fixture_kind(rope, 0, 1);
    fixture_kind(rope, 1, 1);
    const struct body *body = fixture_build(&fixture);
    for (uint64_t i = 0; i < 9; i++)
        assert_position(body, i, 0.5 * (double)i, 2, 0);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(body_spring(body, i).a, i);
        assert_int_equal(body_spring(body, i).b, i + 1);
        assert_near(spring_length(body, i), 0.5, 1e-15);
    }
    for (uint64_t i = 0; i < 7; i++) {
        assert_int_equal(body_spring(body, 8 + i).a, i);
        assert_int_equal(body_spring(body, 8 + i).b, i + 2);
    }
    assert_null(body->springs);
    assert_int_equal(body->direction_count, 2);
    assert_null(body->rest_lengths);
    assert_null(body->spring_materials);
    fixture_reset(&fixture);
}

static void test_rope_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *rope = fixture_rope(&fixture, 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rope_links),
        cmocka_unit_test(test_rope_nodes_run_from_end_to_end),
        cmocka_unit_test(test_rope_refusals),
    };
    return cmocka_run_group_tests_name("builders_rope", tests, NULL, NULL);
}
