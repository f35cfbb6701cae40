// Bodies with an outline or a surface: ring, quad, sphere, lattice; and what pressure asks of them.
#include "builders_fixture.h"

#include <stdlib.h>

// ---- Ring and quad

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

// Outside is to the right of every edge: away from the middle of a convex body.
static void assert_edges_look_outwards(const struct body *body, vec3 middle)
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
            assert_place(body, i, 1 + 0.5 * cos(angle), 2 + 0.5 * sin(angle), 3);
            assert_int_equal(body->faces[2 * i], i);
            assert_int_equal(body->faces[2 * i + 1], (i + 1) % n);
            assert_near(spring_length(body, i), sin(PI / (double)n), 1e-14);
        }
        assert_edges_look_outwards(body, vec3_make(1, 2, 3));
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
    assert_edges_look_outwards(body, vec3_make(1, -2, -3));
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
    assert_place(body, 1, 2, 0, 0);
    assert_place(body, 2, 3, 3, 0);
    assert_place(body, 3, 1, 3, 0);
    assert_edges_look_outwards(body, vec3_make(1.5, 1.5, 0));
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
    assert_place(body, 3, 1, -3, 0);
    assert_edges_look_outwards(body, vec3_make(1.5, -1.5, 0));
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

// ---- Sphere

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
        // From below to the sphere's own volume, four times nearer with each subdivision.
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

// Graph distances along the edges, by trying every way of two steps.
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
        // Beside bend springs, what these join already is left out.
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

// ---- Lattice

static struct scene_body *add_lattice(struct fixture *fixture, uint64_t nx, uint64_t ny,
                                      uint64_t nz)
{
    struct scene_body *lattice = fixture_add(fixture, BODY_LATTICE, "jelly");
    lattice->shape.lattice = (struct scene_lattice){.origin = {1, 2, 3},
                                                    .nodes_x = nx,
                                                    .nodes_y = ny,
                                                    .nodes_z = nz,
                                                    .spacing = 0.25,
                                                    .shells = 2};
    for (size_t kind = 0; kind < 6; kind++)
        fixture_kind(lattice, kind, 1);
    return lattice;
}

static const uint64_t lattice_sizes[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 5, 1}, {4, 1, 3}, {2, 2, 2},
                                            {3, 2, 2}, {2, 3, 4}, {5, 4, 3}, {1, 2, 6}, {6, 6, 6}};

enum { LATTICE_SIZES = sizeof lattice_sizes / sizeof lattice_sizes[0] };

// The kind that joins two nodes (dx, dy, dz) apart, or -1: 1, 2 or 3 components, all 1 or all 2.
static int kind_between(const int64_t apart[3])
{
    int64_t longest = 0;
    int components = 0;
    for (int axis = 0; axis < 3; axis++) {
        int64_t length = apart[axis] < 0 ? -apart[axis] : apart[axis];
        if (length == 0)
            continue;
        if (longest != 0 && length != longest)
            return -1;
        longest = length;
        components++;
    }
    return longest < 1 || longest > 2 ? -1 : components - 1 + 3 * (int)(longest - 1);
}

static void split(const struct body *body, uint64_t node, int64_t place[3])
{
    for (int axis = 0; axis < 3; axis++) {
        place[axis] = (int64_t)(node % body->grid[axis]);
        node /= body->grid[axis];
    }
}

static int kind_of_pair(const struct body *body, uint64_t a, uint64_t b)
{
    int64_t from[3], to[3];
    split(body, a, from);
    split(body, b, to);
    const int64_t apart[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    return kind_between(apart);
}

static void test_lattice_springs(void **state)
{
    (void)state;
    static const double lengths[6] = {1, 1.4142135623730951, 1.7320508075688772,
                                      2, 2.8284271247461903, 3.4641016151377544};
    for (size_t i = 0; i < LATTICE_SIZES; i++) {
        struct fixture fixture;
        fixture_begin(&fixture);
        add_lattice(&fixture, lattice_sizes[i][0], lattice_sizes[i][1], lattice_sizes[i][2]);
        const struct body *body = fixture_build(&fixture);
        uint64_t expected[6] = {0};
        for (uint64_t a = 0; a < body->node_count; a++)
            for (uint64_t b = a + 1; b < body->node_count; b++) {
                int kind = kind_of_pair(body, a, b);
                if (kind >= 0)
                    expected[kind]++;
            }
        for (size_t kind = 0; kind < 6; kind++) {
            assert_int_equal(kind_count(body, kind), expected[kind]);
            for (uint64_t s = body->kind_start[kind]; s < body->kind_start[kind + 1]; s++) {
                const uint32_t *ends = body->springs[s];
                assert_true(ends[0] < ends[1]);
                assert_int_equal(kind_of_pair(body, ends[0], ends[1]), kind);
                assert_near(spring_length(body, s), 0.25 * lengths[kind], 1e-14);
            }
        }
        fixture_reset(&fixture);
    }
}

static void test_lattice_node_inside_has_52_neighbours(void **state)
{
    (void)state;
    for (int shells = 1; shells <= 2; shells++) {
        struct fixture fixture;
        fixture_begin(&fixture);
        add_lattice(&fixture, 5, 5, 5)->shape.lattice.shells = shells;
        const struct body *body = fixture_build(&fixture);
        uint64_t middle = (2 * 5 + 2) * 5 + 2, neighbours = 0;
        for (uint64_t s = 0; s < body->spring_count; s++)
            neighbours += body->springs[s][0] == middle || body->springs[s][1] == middle;
        assert_int_equal(neighbours, 26 * shells);
        fixture_reset(&fixture);
    }
}

static void test_lattice_numbering(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    add_lattice(&fixture, 4, 3, 2);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->grid[0], 4);
    assert_int_equal(body->grid[1], 3);
    assert_int_equal(body->grid[2], 2);
    for (uint64_t k = 0; k < 2; k++)
        for (uint64_t j = 0; j < 3; j++)
            for (uint64_t i = 0; i < 4; i++)
                assert_place(body, (k * 3 + j) * 4 + i, 1 + 0.25 * (double)i, 2 + 0.25 * (double)j,
                             3 + 0.25 * (double)k);
    fixture_reset(&fixture);
}

static void test_lattice_surface(void **state)
{
    (void)state;
    for (size_t i = 0; i < LATTICE_SIZES; i++) {
        struct fixture fixture;
        uint64_t nx = lattice_sizes[i][0], ny = lattice_sizes[i][1], nz = lattice_sizes[i][2];
        fixture_begin(&fixture);
        add_lattice(&fixture, nx, ny, nz);
        const struct body *body = fixture_build(&fixture);
        if (nx < 2 || ny < 2 || nz < 2) {
            assert_int_equal(body->face_count, 0);
            assert_false(body->closed);
        } else {
            uint64_t squares =
                2 * ((nx - 1) * (ny - 1) + (ny - 1) * (nz - 1) + (nz - 1) * (nx - 1));
            assert_int_equal(body->face_count, 2 * squares);
            assert_surface_closed(body);
            double cells = (double)((nx - 1) * (ny - 1) * (nz - 1));
            assert_near(body_volume(body), 0.015625 * cells, 1e-13);
        }
        fixture_reset(&fixture);
    }
}

// The large scene's size: 240,000 nodes, 52 neighbours, 6 million springs. Products of the lengths
// of runs, by kind, as in (nx - 1) ny nz for springs along x.
static void test_lattice_of_six_million_springs(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    add_lattice(&fixture, 100, 40, 60);
    assert_int_equal(
        bodies_build(&fixture.scene, &fixture.built, &fixture.diagnostics, &fixture.error),
        TAUT_OK);
    const struct body *body = &fixture.built.items[0];
    assert_int_equal(body->node_count, 240000);
    for (size_t shell = 1; shell <= 2; shell++) {
        uint64_t nx = 100, ny = 40, nz = 60, x = nx - shell, y = ny - shell, z = nz - shell;
        size_t kind = 3 * (shell - 1);
        assert_int_equal(kind_count(body, kind), x * ny * nz + nx * y * nz + nx * ny * z);
        assert_int_equal(kind_count(body, kind + 1), 2 * (x * y * nz + x * ny * z + nx * y * z));
        assert_int_equal(kind_count(body, kind + 2), 4 * x * y * z);
    }
    fixture_reset(&fixture);
}

static void test_lattice_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *lattice = add_lattice(&fixture, 0, 3, 3);
    fixture_refuse(&fixture, NULL, body_mark,
                   "lattice 'jelly' needs at least 1 node along each axis");
    lattice->shape.lattice.nodes_x = 65536;
    lattice->shape.lattice.nodes_y = 65536;
    fixture_refuse(&fixture, NULL, body_mark,
                   "lattice 'jelly' of 65536 by 65536 by 3 nodes is too large");
    lattice->shape.lattice.shells = 3;
    fixture_refuse(&fixture, NULL, body_mark, "lattice 'jelly' has 1 or 2 shells, not 3");
    lattice->shape.lattice.spacing = 0;
    fixture_refuse(&fixture, NULL, body_mark, "lattice 'jelly' needs a spacing above 0");
}

// ---- Pressure

static void test_pressure_needs_an_inside(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *lattice = add_lattice(&fixture, 4, 4, 1);
    lattice->pressure = fixture_pressure();
    fixture_refuse(&fixture, NULL, pressure_mark,
                   "pressure needs a closed body, and a lattice has an inside only with 2 nodes or "
                   "more along every axis: 'jelly' is a lattice");
    lattice->shape.lattice.nodes_z = 2;
    const struct body *body = fixture_build(&fixture);
    assert_true(body->pressure.present);
    assert_true(body->pressure.amount == 10.0);
    fixture_reset(&fixture);

    fixture_begin(&fixture);
    struct scene_body *cloth = fixture_add(&fixture, BODY_CLOTH, "flag");
    cloth->shape.cloth =
        (struct scene_cloth){.u = {1, 0, 0}, .v = {0, 1, 0}, .nodes_u = 3, .nodes_v = 3};
    cloth->pressure = fixture_pressure();
    fixture_refuse(&fixture, NULL, pressure_mark,
                   "pressure needs a closed body, with an inside: 'flag' is a cloth");
}

static void test_volume_too_small_for_a_number(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *lattice = add_lattice(&fixture, 2, 2, 2);
    lattice->shape.lattice.origin = vec3_make(0, 0, 0);
    lattice->shape.lattice.spacing = 1e-120;
    lattice->pressure = fixture_pressure();
    fixture_refuse(&fixture, NULL, pressure_mark,
                   "pressure needs a volume above 0: 'jelly' encloses 0");
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
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_icosahedron),
        cmocka_unit_test(test_sphere_second_neighbours),
        cmocka_unit_test(test_sphere_refusals),
        cmocka_unit_test(test_lattice_springs),
        cmocka_unit_test(test_lattice_node_inside_has_52_neighbours),
        cmocka_unit_test(test_lattice_numbering),
        cmocka_unit_test(test_lattice_surface),
        cmocka_unit_test(test_lattice_of_six_million_springs),
        cmocka_unit_test(test_lattice_refusals),
        cmocka_unit_test(test_pressure_needs_an_inside),
        cmocka_unit_test(test_volume_too_small_for_a_number),
    };
    return cmocka_run_group_tests_name("builders_solid", tests, NULL, NULL);
}
