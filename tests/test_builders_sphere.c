// The builder of spheres.
#include "builders_fixture.h"

#include <stdlib.h>

static struct scene_body *add_sphere(struct fixture *fixture, int subdivisions)
{
    struct scene_body *sphere = fixture_add(fixture, BODY_SPHERE, "ball");
    sphere->shape.sphere.centre = vec3_make(0, 3, 0);
    sphere->shape.sphere.radius = 0.5;
    sphere->shape.sphere.subdivisions = subdivisions;
    fixture_kind(sphere, 0, 10);
    return sphere;
}

static void test_sphere(void **state)
{
    (void)state;
    double shortfall = 1;
    for (int subdivisions = 0; subdivisions <= 4; subdivisions++) {
        struct fixture fixture;
        fixture_begin(&fixture);
        struct scene_body *given = add_sphere(&fixture, subdivisions);
        fixture_kind(given, 1, 10);
        const struct body *body = fixture_build(&fixture);
        uint64_t quarters = UINT64_C(1) << (2 * subdivisions);
        assert_int_equal(body->node_count, 10 * quarters + 2);
        assert_int_equal(kind_count(body, 0), 30 * quarters);
        assert_int_equal(kind_count(body, 1), 30 * quarters);
        assert_int_equal(body->face_count, 20 * quarters);
        for (uint64_t node = 0; node < body->node_count; node++) {
            vec3 out = vec3_subtract(body_position(body, node), vec3_make(0, 3, 0));
            assert_near(vec3_length(out), 0.5, 1e-14);
        }
        assert_surface_closed(body);
        // Smaller than the volume of the sphere, four times closer to it with each subdivision.
        double missing = PI / 6 - body_volume(body);
        assert_true(missing > 0 && missing < 0.45 * shortfall);
        shortfall = missing;
        fixture_reset(&fixture);
    }
}

static void test_icosahedron(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    add_sphere(&fixture, 0);
    const struct body *body = fixture_build(&fixture);
    // Edge a on a sphere of radius a sqrt(10 + 2 sqrt 5) / 4, volume 5 (3 + sqrt 5) a^3 / 12.
    double edge = 0.5 * 4 / sqrt(10 + 2 * sqrt(5));
    for (uint64_t s = 0; s < 30; s++)
        assert_near(spring_length(body, s), edge, 1e-14);
    assert_near(body_volume(body), 5 * (3 + sqrt(5)) / 12 * edge * edge * edge, 1e-14);
    fixture_reset(&fixture);
}

// The data that a rank has of other ranks' bodies.
static void test_box_of_released_nodes(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    add_sphere(&fixture, 2);
    (void)fixture_build(&fixture);
    struct body *body = &fixture.built.items[0];
    vec3 least = body_position(body, 0), most = least;
    for (uint64_t node = 1; node < body->node_count; node++) {
        const vec3 at = body_position(body, node);
        least = vec3_make(fmin(least.x, at.x), fmin(least.y, at.y), fmin(least.z, at.z));
        most = vec3_make(fmax(most.x, at.x), fmax(most.y, at.y), fmax(most.z, at.z));
    }
    assert_int_equal(body_release_nodes(body), body->node_count * 3 * sizeof(double));
    assert_true(body->has_no_nodes && !body->positions && body->kinematic && body->springs);
    assert_memory_equal(&body->least, &least, sizeof least);
    assert_memory_equal(&body->most, &most, sizeof most);
    fixture_reset(&fixture);
}

// Graph distances along the edges, by trying all paths of two steps.
static void fill_adjacency(const struct body *body, bool *joined)
{
    for (uint64_t s = body->kind_start[0]; s < body->kind_start[1]; s++) {
        uint64_t a = body->springs[s][0], b = body->springs[s][1];
        joined[a * body->node_count + b] = joined[b * body->node_count + a] = true;
    }
}

static bool two_steps_apart(const struct body *body, const bool *joined, uint64_t a, uint64_t b)
{
    uint64_t n = body->node_count;
    if (a == b || joined[a * n + b])
        return false;
    for (uint64_t between = 0; between < n; between++)
        if (joined[a * n + between] && joined[between * n + b])
            return true;
    return false;
}

static void test_sphere_second_neighbours(void **state)
{
    (void)state;
    for (int subdivisions = 0; subdivisions <= 2; subdivisions++) {
        struct fixture fixture;
        fixture_begin(&fixture);
        struct scene_body *given = add_sphere(&fixture, subdivisions);
        fixture_kind(given, 2, 10);
        const struct body *body = fixture_build(&fixture);
        uint64_t n = body->node_count, expected = 0;
        bool *joined = calloc(n * n, sizeof *joined);
        assert_non_null(joined);
        fill_adjacency(body, joined);
        for (uint64_t a = 0; a < n; a++)
            for (uint64_t b = a + 1; b < n; b++)
                expected += two_steps_apart(body, joined, a, b);
        uint64_t seconds = kind_count(body, 2);
        assert_int_equal(seconds, expected);
        for (uint64_t s = body->kind_start[2]; s < body->kind_start[3]; s++)
            assert_true(two_steps_apart(body, joined, body->springs[s][0], body->springs[s][1]));
        free(joined);
        fixture_reset(&fixture);
        // With bend springs, pairs that these join are omitted.
        fixture_kind(given, 1, 10);
        body = fixture_build(&fixture);
        assert_int_equal(kind_count(body, 1) + kind_count(body, 2), seconds);
        fixture_reset(&fixture);
    }
}

static void test_sphere_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *sphere = add_sphere(&fixture, 11);
    fixture_refuse(&fixture, NULL, body_mark, "sphere 'ball' can be subdivided 0 to 10 times");
    sphere->shape.sphere.subdivisions = 1;
    sphere->shape.sphere.radius = -1;
    fixture_refuse(&fixture, NULL, body_mark, "sphere 'ball' needs a radius above 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box_of_released_nodes),
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_icosahedron),
        cmocka_unit_test(test_sphere_second_neighbours),
        cmocka_unit_test(test_sphere_refusals),
    };
    return cmocka_run_group_tests_name("builders_sphere", tests, NULL, NULL);
}
