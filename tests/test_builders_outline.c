// Bodies with an outline in a plane: rings and quads.
#include "builders_fixture.h"

static struct scene_body *add_ring(struct fixture *fixture, uint64_t nodes)
{
    struct scene_body *ring = fixture_add(fixture, BODY_RING, "ring");
    ring->shape.ring.centre = vec3_make(1, 2, 3);
    ring->shape.ring.radius = 0.5;
    ring->shape.ring.nodes = nodes;
    fixture_kind(ring, 0, 10);
    return ring;
}

static struct scene_body *add_quad(struct fixture *fixture)
{
    struct scene_body *quad = fixture_add(fixture, BODY_QUAD, "quad");
    quad->shape.quad.u = vec3_make(2, 0, 0);
    quad->shape.quad.v = vec3_make(1, 3, 0);
    fixture_kind(quad, 0, 10);
    return quad;
}

// The outside is to the right of every edge: away from the middle of a convex body.
static void assert_edges_face_outwards(const struct body *body, vec3 middle)
{
    assert_true(body->closed);
    assert_int_equal(body->face_arity, 2);
    for (uint64_t face = 0; face < body->face_count; face++) {
        vec3 a = body_position(body, body->faces[2 * face]);
        vec3 b = body_position(body, body->faces[2 * face + 1]);
        vec3 normal = {b.y - a.y, a.x - b.x, 0};
        vec3 between = vec3_scale(0.5, vec3_add(a, b));
        assert_true(vec3_dot(normal, vec3_subtract(between, middle)) > 0);
    }
}

static void test_ring(void **state)
{
    (void)state;
    for (uint64_t n = 3; n < 40; n += n < 6 ? 1 : 11) {
        struct fixture fixture;
        fixture_begin(&fixture);
        add_ring(&fixture, n);
        const struct body *body = fixture_build(&fixture);
        assert_int_equal(body->node_count, n);
        assert_int_equal(body->spring_count, n);
        assert_int_equal(body->face_count, n);
        for (uint64_t i = 0; i < n; i++) {
            double angle = 2 * PI * (double)i / (double)n;
            assert_position(body, i, 1 + 0.5 * cos(angle), 2 + 0.5 * sin(angle), 3);
            assert_int_equal(body->faces[2 * i], i);
            assert_int_equal(body->faces[2 * i + 1], (i + 1) % n);
            assert_near(spring_length(body, i), sin(PI / (double)n), 1e-14);
        }
        assert_edges_face_outwards(body, vec3_make(1, 2, 3));
        assert_near(body_volume(body), 0.125 * (double)n * sin(2 * PI / (double)n), 1e-14);
        fixture_reset(&fixture);
    }
}

static void test_ring_turned_over_keeps_its_outside(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *ring = add_ring(&fixture, 12);
    ring->rotate = vec3_make(180, 0, 0);
    const struct body *body = fixture_build(&fixture);
    assert_edges_face_outwards(body, vec3_make(1, -2, -3));
    assert_true(body_volume(body) > 0);
    fixture_reset(&fixture);
}

static void test_ring_out_of_its_plane_has_no_outline(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *ring = add_ring(&fixture, 12);
    ring->rotate = vec3_make(20, 0, 0);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->face_count, 0);
    assert_int_equal(body->face_arity, 0);
    assert_false(body->closed);
    assert_int_equal(body->spring_count, 12);
    fixture_reset(&fixture);
    ring->pressure = fixture_pressure();
    fixture_refuse(&fixture, NULL, pressure_mark,
                   "pressure needs a closed body, and this one does not lie in a plane z = const: "
                   "'ring' is a ring");
}

static void test_ring_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *ring = add_ring(&fixture, 2);
    fixture_refuse(&fixture, NULL, body_mark, "ring 'ring' needs at least 3 nodes");
    ring->shape.ring.nodes = 3;
    ring->shape.ring.radius = 0;
    fixture_refuse(&fixture, NULL, body_mark, "ring 'ring' needs a radius above 0");
}

static void test_quad(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *quad = add_quad(&fixture);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->node_count, 4);
    assert_int_equal(body->spring_count, 4);
    assert_position(body, 1, 2, 0, 0);
    assert_position(body, 2, 3, 3, 0);
    assert_position(body, 3, 1, 3, 0);
    assert_edges_face_outwards(body, vec3_make(1.5, 1.5, 0));
    assert_near(body_volume(body), 6, 1e-14);
    fixture_reset(&fixture);

    fixture_kind(quad, 1, 10);
    body = fixture_build(&fixture);
    assert_int_equal(kind_count(body, 0), 4);
    assert_int_equal(kind_count(body, 1), 2);
    assert_near(spring_length(body, 4), sqrt(18), 1e-14);
    assert_near(spring_length(body, 5), sqrt(10), 1e-14);
    fixture_reset(&fixture);
}

static void test_quad_listed_clockwise(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *quad = add_quad(&fixture);
    quad->shape.quad.v = vec3_make(1, -3, 0);
    const struct body *body = fixture_build(&fixture);
    assert_position(body, 3, 1, -3, 0);
    assert_edges_face_outwards(body, vec3_make(1.5, -1.5, 0));
    assert_near(body_volume(body), 6, 1e-14);
    fixture_reset(&fixture);
    quad->shape.quad.v = vec3_make(-4, 0, 0);
    fixture_refuse(&fixture, NULL, body_mark,
                   "quad 'quad' has no area: 'u' and 'v' are parallel or zero");
}

static void test_quad_standing_up_has_no_outline(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *quad = add_quad(&fixture);
    quad->shape.quad.v = vec3_make(0, 1, 1e-6);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->face_count, 0);
    assert_false(body->closed);
    fixture_reset(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_ring_turned_over_keeps_its_outside),
        cmocka_unit_test(test_ring_out_of_its_plane_has_no_outline),
        cmocka_unit_test(test_ring_refusals),
        cmocka_unit_test(test_quad),
        cmocka_unit_test(test_quad_listed_clockwise),
        cmocka_unit_test(test_quad_standing_up_has_no_outline),
    };
    return cmocka_run_group_tests_name("builders_outline", tests, NULL, NULL);
}
