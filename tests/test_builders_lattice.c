// The builder of lattices.
#include "builders_fixture.h"

static const uint64_t lattice_sizes[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 5, 1}, {4, 1, 3}, {2, 2, 2},
                                            {3, 2, 2}, {2, 3, 4}, {5, 4, 3}, {1, 2, 6}, {6, 6, 6}};

enum { LATTICE_SIZES = sizeof lattice_sizes / sizeof lattice_sizes[0] };

// The kind of spring between two nodes at the offset (dx, dy, dz), or -1: 1, 2 or 3 components, all
// 1 or all 2.
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

static void split(const struct body *body, uint64_t node, int64_t position[3])
{
    for (int axis = 0; axis < 3; axis++) {
        position[axis] = (int64_t)(node % body->grid[axis]);
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
        fixture_lattice(&fixture, lattice_sizes[i][0], lattice_sizes[i][1], lattice_sizes[i][2]);
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
                struct spring_ends ends = body_spring(body, s);
                assert_true(ends.a < ends.b);
                assert_int_equal(kind_of_pair(body, ends.a, ends.b), kind);
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
        fixture_lattice(&fixture, 5, 5, 5)->shape.lattice.shells = shells;
        const struct body *body = fixture_build(&fixture);
        uint64_t middle = (2 * 5 + 2) * 5 + 2, neighbours = 0;
        for (uint64_t s = 0; s < body->spring_count; s++)
            neighbours += body_spring(body, s).a == middle || body_spring(body, s).b == middle;
        assert_int_equal(neighbours, 26 * shells);
        fixture_reset(&fixture);
    }
}

static void test_lattice_numbering(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    fixture_lattice(&fixture, 4, 3, 2);
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->grid[0], 4);
    assert_int_equal(body->grid[1], 3);
    assert_int_equal(body->grid[2], 2);
    for (uint64_t k = 0; k < 2; k++)
        for (uint64_t j = 0; j < 3; j++)
            for (uint64_t i = 0; i < 4; i++)
                assert_position(body, (k * 3 + j) * 4 + i, 1 + 0.25 * (double)i,
                                2 + 0.25 * (double)j, 3 + 0.25 * (double)k);
    fixture_reset(&fixture);
}

static void test_lattice_surface(void **state)
{
    (void)state;
    for (size_t i = 0; i < LATTICE_SIZES; i++) {
        struct fixture fixture;
        uint64_t nx = lattice_sizes[i][0], ny = lattice_sizes[i][1], nz = lattice_sizes[i][2];
        fixture_begin(&fixture);
        fixture_lattice(&fixture, nx, ny, nz);
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

// The size of the large scene: 240,000 nodes, 52 neighbours, 6 million springs. Expected counts by
// kind are products of the lengths of runs, as in (nx - 1) ny nz for springs along x.
static void test_lattice_of_six_million_springs(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    fixture_lattice(&fixture, 100, 40, 60);
    assert_int_equal(fixture_try(&fixture), TAUT_OK);
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
    struct scene_body *lattice = fixture_lattice(&fixture, 0, 3, 3);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lattice_springs),
        cmocka_unit_test(test_lattice_node_inside_has_52_neighbours),
        cmocka_unit_test(test_lattice_numbering),
        cmocka_unit_test(test_lattice_surface),
        cmocka_unit_test(test_lattice_of_six_million_springs),
        cmocka_unit_test(test_lattice_refusals),
    };
    return cmocka_run_group_tests_name("builders_lattice", tests, NULL, NULL);
}
