// The checker of crossing surfaces (src/intersections/): orientations compared with 128-bit whole
// numbers, pairs of triangles with known relations, the search compared with all pairs. A
// comparison of pairs with rational numbers is in test_intersections.py.
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intersections/intersections.h"
#include "intersections/predicates.h"
#include "intersections/triangles.h"

static uint64_t seed;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

// A whole number from -most to most.
static int64_t whole(int64_t most)
{
    return (int64_t)(next_random() % (uint64_t)(2 * most + 1)) - most;
}

// From 0 to 1.
static double real(void)
{
    return (double)(next_random() >> 11) * 0x1p-53;
}

// ---- Orientations

__extension__ typedef __int128 wide;

static int sign_of(wide value)
{
    return (value > 0) - (value < 0);
}

static int sign_3d(int64_t p[4][3])
{
    wide d[3][3];
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3; axis++)
            d[i][axis] = p[i][axis] - p[3][axis];
    return sign_of(d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
                   d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
                   d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]));
}

static int sign_2d(int64_t p[4][3])
{
    return sign_of((wide)(p[0][0] - p[2][0]) * (p[1][1] - p[2][1]) -
                   (wide)(p[0][1] - p[2][1]) * (p[1][0] - p[2][0]));
}

// Whole numbers of up to 40 bits, most of them in one plane or nearly so, scaled by a power of two
// along each axis.
static void orientations_are_exact(void **state)
{
    (void)state;
    int zeros = 0;
    seed = 4711;
    for (int round = 0; round < 200000; round++) {
        int64_t p[4][3];
        const int64_t most = INT64_C(1) << (1 + next_random() % 18);
        for (int i = 0; i < 3; i++)
            for (int axis = 0; axis < 3; axis++)
                p[i][axis] = whole(most);
        // d = a + s (b - a) + r (c - a), and perhaps one off.
        const int64_t s = whole(1 << 18), r = round % 2 ? whole(1 << 18) : 0;
        for (int axis = 0; axis < 3; axis++)
            p[3][axis] = p[0][axis] + s * (p[1][axis] - p[0][axis]) +
                         r * (p[2][axis] - p[0][axis]) + (round % 3 ? 0 : whole(1));
        double scaled[4][3];
        int power[3];
        for (int axis = 0; axis < 3; axis++)
            power[axis] = round % 5 ? (int)whole(300) : (int)(next_random() % 2 ? -1074 : 980);
        for (int i = 0; i < 4; i++)
            for (int axis = 0; axis < 3; axis++)
                scaled[i][axis] = ldexp((double)p[i][axis], power[axis]);
        const int expected = sign_3d(p);
        zeros += expected == 0;
        assert_int_equal(orientation_3d(scaled[0], scaled[1], scaled[2], scaled[3]), expected);
        assert_int_equal(orientation_3d_exact(scaled[0], scaled[1], scaled[2], scaled[3]),
                         expected);
        assert_int_equal(orientation_3d(scaled[1], scaled[0], scaled[2], scaled[3]), -expected);
        assert_int_equal(orientation_3d(scaled[3], scaled[0], scaled[1], scaled[2]), -expected);
        assert_int_equal(orientation_2d(scaled[0], scaled[1], scaled[2], 0, 1), sign_2d(p));
        assert_int_equal(orientation_2d_exact(scaled[0], scaled[1], scaled[2], 0, 1), sign_2d(p));
    }
    assert_in_range(zeros, 20000, 180000);
}

static void orientations_hold_for_the_largest_and_smallest_numbers(void **state)
{
    (void)state;
    const double tiny = 4.9406564584124654e-324;
    const double a[3] = {DBL_MAX, 0, 0}, b[3] = {0, DBL_MAX, 0}, c[3] = {-DBL_MAX, -DBL_MAX, tiny};
    const double d[3] = {0, 0, -DBL_MAX}, e[3] = {tiny, tiny, -tiny}, o[3] = {0, 0, 0};
    assert_int_equal(orientation_3d(a, b, c, o), 1);
    assert_int_equal(orientation_3d(a, c, b, o), -1);
    assert_int_equal(orientation_3d(a, b, d, o), -1);
    assert_int_equal(orientation_3d(a, b, e, o), -1);
    assert_int_equal(orientation_3d(e, e, b, o), 0);
    const double f[3] = {tiny, 0, 0}, g[3] = {0, tiny, 0}, h[3] = {0, 0, tiny};
    assert_int_equal(orientation_3d(f, g, h, o), 1);
    assert_int_equal(orientation_2d(f, g, o, 0, 1), 1);
    assert_int_equal(orientation_2d(a, f, o, 0, 1), 0);
}

// The filter and whole numbers agree where the determinant is of the size of its rounding errors.
static void the_filter_never_errs(void **state)
{
    (void)state;
    seed = 815;
    for (int round = 0; round < 200000; round++) {
        double p[4][3];
        for (int i = 0; i < 3; i++)
            for (int axis = 0; axis < 3; axis++)
                p[i][axis] = real() + (round % 2 ? 100 : 0);
        const double s = real(), r = real();
        for (int axis = 0; axis < 3; axis++)
            p[3][axis] = p[0][axis] + s * (p[1][axis] - p[0][axis]) +
                         r * (p[2][axis] - p[0][axis]) +
                         (real() - 0.5) * ldexp(1, -40 - round % 15);
        assert_int_equal(orientation_3d(p[0], p[1], p[2], p[3]),
                         orientation_3d_exact(p[0], p[1], p[2], p[3]));
        // At sizes where products of coordinates underflow or overflow.
        double scaled[4][3];
        const int power = round % 3 == 0 ? 335 + round % 10 : -350 - round % 10;
        for (int i = 0; i < 4; i++)
            for (int axis = 0; axis < 3; axis++)
                scaled[i][axis] = ldexp(p[i][axis], power);
        assert_int_equal(orientation_3d(scaled[0], scaled[1], scaled[2], scaled[3]),
                         orientation_3d_exact(p[0], p[1], p[2], p[3]));
        p[2][0] = p[0][0] + s * (p[1][0] - p[0][0]);
        p[2][2] = p[0][2] + s * (p[1][2] - p[0][2]);
        assert_int_equal(orientation_2d(p[0], p[1], p[2], 2, 0),
                         orientation_2d_exact(p[0], p[1], p[2], 2, 0));
    }
}

// ---- Pairs

static enum triangle_relation relate(double (*t)[3], double (*u)[3])
{
    const double *first[] = {t[0], t[1], t[2]}, *second[] = {u[0], u[1], u[2]};
    return triangles_relate(first, second);
}

static void pairs_have_the_relations_of_the_document(void **state)
{
    (void)state;
    // The first triangle is (0,0,0) (4,0,0) (0,4,0).
    static const struct {
        const char *name;
        double u[3][3];
        enum triangle_relation relation;
    } cases[] = {
        {"far away", {{9, 9, 9}, {10, 9, 9}, {9, 10, 9}}, TRIANGLES_APART},
        {"parallel", {{0, 0, 1}, {4, 0, 1}, {0, 4, 1}}, TRIANGLES_APART},
        {"through the inside", {{1, 1, -1}, {1, 1, 1}, {9, 9, 1}}, TRIANGLES_CROSSING},
        {"its edge through the inside", {{1, 1, -1}, {1, 1, 1}, {-9, -9, 0}}, TRIANGLES_CROSSING},
        {"around its inside", {{2, 2, -9}, {2, 2, 9}, {-9, -9, 0}}, TRIANGLES_CROSSING},
        {"past a corner", {{5, -1, -1}, {5, -1, 1}, {5, 1, 0}}, TRIANGLES_APART},
        {"a corner on the inside", {{1, 1, 0}, {1, 1, 1}, {2, 1, 1}}, TRIANGLES_TOUCHING},
        {"a corner on an edge", {{2, 0, 0}, {2, -1, 1}, {3, -1, 1}}, TRIANGLES_TOUCHING},
        {"an edge on the inside", {{1, 1, 0}, {2, 1, 0}, {1, 1, 1}}, TRIANGLES_TOUCHING},
        {"an edge across an edge", {{2, 0, -1}, {2, 0, 1}, {2, -2, 0}}, TRIANGLES_TOUCHING},
        {"across the plane beside an edge", {{2, -1, -1}, {2, -1, 1}, {2, -2, 0}}, TRIANGLES_APART},
        {"through an edge", {{2, -1, -1}, {2, 1, 1}, {2, 1, -1}}, TRIANGLES_CROSSING},
        {"through a corner only", {{-1, 1, -1}, {1, -1, -1}, {0, 0, 1}}, TRIANGLES_TOUCHING},
        {"common corner, apart", {{0, 0, 0}, {-1, 0, 1}, {0, -1, 1}}, TRIANGLES_APART},
        {"common corner, both sides, apart", {{0, 0, 0}, {-1, 0, 1}, {0, -1, -1}}, TRIANGLES_APART},
        {"common corner, pierced", {{0, 0, 0}, {1, 1, -1}, {2, 1, 1}}, TRIANGLES_CROSSING},
        {"common corner, piercing", {{0, 0, 0}, {9, 9, -1}, {9, 9, 1}}, TRIANGLES_CROSSING},
        {"common corner, a point inside", {{0, 0, 0}, {1, 1, 0}, {1, 1, 1}}, TRIANGLES_TOUCHING},
        {"common corner, along an edge", {{0, 0, 0}, {2, 0, 0}, {1, 1, 1}}, TRIANGLES_TOUCHING},
        {"common edge", {{0, 0, 0}, {4, 0, 0}, {0, -4, 3}}, TRIANGLES_APART},
        {"common edge, nearly folded", {{0, 0, 0}, {4, 0, 0}, {1, 1, 1e-300}}, TRIANGLES_APART},
        {"common edge, unfolded", {{0, 0, 0}, {4, 0, 0}, {0, -4, 0}}, TRIANGLES_APART},
        {"common edge, folded flat", {{0, 0, 0}, {4, 0, 0}, {1, 1, 0}}, TRIANGLES_OVERLAPPING},
        {"the same", {{0, 4, 0}, {0, 0, 0}, {4, 0, 0}}, TRIANGLES_OVERLAPPING},
        {"in the plane, inside", {{1, 1, 0}, {2, 1, 0}, {1, 2, 0}}, TRIANGLES_OVERLAPPING},
        {"in the plane, around", {{-9, -9, 0}, {99, -9, 0}, {-9, 99, 0}}, TRIANGLES_OVERLAPPING},
        {"in the plane, a star", {{3, 3, 0}, {-1, 3, 0}, {3, -1, 0}}, TRIANGLES_OVERLAPPING},
        {"in the plane, along an edge", {{1, 0, 0}, {2, 0, 0}, {1, -1, 0}}, TRIANGLES_TOUCHING},
        {"in the plane, a corner on an edge",
         {{2, 2, 0}, {4, 3, 0}, {3, 4, 0}},
         TRIANGLES_TOUCHING},
        {"in the plane, common corner", {{0, 0, 0}, {-1, 0, 0}, {0, -1, 0}}, TRIANGLES_APART},
        {"in the plane, half an edge", {{0, 0, 0}, {2, 0, 0}, {0, -4, 0}}, TRIANGLES_TOUCHING},
        {"in the plane, apart", {{3, 3, 0}, {4, 3, 0}, {3, 4, 0}}, TRIANGLES_APART},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double t[3][3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}, u[3][3];
        memcpy(u, cases[i].u, sizeof u);
        const enum triangle_relation relation = relate(t, u);
        if (relation != cases[i].relation)
            fail_msg("%s: %d, not %d", cases[i].name, (int)relation, (int)cases[i].relation);
    }
}

static void degenerate_triangles_are_found(void **state)
{
    (void)state;
    const double a[3] = {0.1, 0.2, 0.3}, b[3] = {0.2, 0.4, 0.6}, c[3] = {0.3, 0.5, 0.7};
    const double middle[3] = {0.1 + (0.2 - 0.1) / 2, 0, 1};
    const double p[3] = {0, 0, 1}, q[3] = {1e-300, 0, 1}, r[3] = {0, 1e-300, 1};
    assert_true(triangle_is_degenerate(a, a, b));
    assert_true(triangle_is_degenerate(a, a, a));
    assert_true(triangle_is_degenerate(p, q, p));
    assert_false(triangle_is_degenerate(p, q, r));
    assert_false(triangle_is_degenerate(a, b, c));
    assert_false(triangle_is_degenerate(a, b, middle));
    const double s[3] = {1, 2, 3}, t[3] = {2, 4, 6}, v[3] = {-3, -6, -9};
    assert_true(triangle_is_degenerate(s, t, v));
}

// Corners on a small grid, so that all degenerate positions occur.
static void relations_do_not_depend_on_the_order(void **state)
{
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                     {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    int seen[4] = {0};
    seed = 99;
    for (int round = 0; round < 20000; round++) {
        double p[6][3], far[6][3];
        for (int i = 0; i < 6; i++)
            for (int axis = 0; axis < 3; axis++) {
                p[i][axis] = axis == 2 && round % 3 == 0 ? 0 : (double)whole(1 + round % 2);
                far[i][axis] = ldexp(p[i][axis], axis == 0 ? -900 : 900);
            }
        if (triangle_is_degenerate(p[0], p[1], p[2]) || triangle_is_degenerate(p[3], p[4], p[5]))
            continue;
        const enum triangle_relation relation = relate(p, p + 3);
        seen[relation]++;
        assert_int_equal(relate(far, far + 3), relation);
        for (int i = 0; i < 6; i++) {
            double t[3][3], u[3][3];
            for (int corner = 0; corner < 3; corner++) {
                memcpy(t[corner], p[orders[i][corner]], sizeof t[corner]);
                memcpy(u[corner], p[3 + orders[(i * 5 + round) % 6][corner]], sizeof u[corner]);
            }
            assert_int_equal(relate(t, u), relation);
            assert_int_equal(relate(u, t), relation);
        }
    }
    for (int i = 0; i < 4; i++)
        if (seen[i] < 100)
            fail_msg("only %d pairs of relation %d", seen[i], i);
}

// ---- The search

enum { NODES_MAX = 6000, TRIANGLES_MAX = 12000 };

struct soup {
    double positions[3 * NODES_MAX];
    uint32_t triangles[TRIANGLES_MAX][3];
    uint32_t bodies[TRIANGLES_MAX];
    struct intersection_surface surface;
};

static struct soup soup;

static void soup_begin(void)
{
    memset(&soup.surface, 0, sizeof soup.surface);
    soup.surface.positions = soup.positions;
    soup.surface.triangles = (const uint32_t(*)[3])soup.triangles;
    soup.surface.bodies = soup.bodies;
}

static uint32_t add_node(double x, double y, double z)
{
    const uint32_t node = (uint32_t)soup.surface.node_count++;
    assert_true(node < NODES_MAX);
    soup.positions[3 * node] = x;
    soup.positions[3 * node + 1] = y;
    soup.positions[3 * node + 2] = z;
    return node;
}

static void add_triangle(uint32_t body, uint32_t a, uint32_t b, uint32_t c)
{
    const uint64_t number = soup.surface.triangle_count++;
    assert_true(number < TRIANGLES_MAX);
    soup.triangles[number][0] = a;
    soup.triangles[number][1] = b;
    soup.triangles[number][2] = c;
    soup.bodies[number] = body;
}

// n x n cells over the unit square.
static void add_cloth(uint32_t body, uint32_t n, double (*height)(double, double))
{
    const uint32_t first = (uint32_t)soup.surface.node_count;
    for (uint32_t j = 0; j <= n; j++)
        for (uint32_t i = 0; i <= n; i++)
            add_node((double)i / n, (double)j / n, height((double)i / n, (double)j / n));
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t a = first + j * (n + 1) + i;
            add_triangle(body, a, a + 1, a + n + 2);
            add_triangle(body, a, a + n + 2, a + n + 1);
        }
}

// A torus around the axis z (0) or y (1), of n x n cells.
static void add_torus(uint32_t body, uint32_t n, double x, int around)
{
    const double turn = 6.283185307179586 / n;
    const uint32_t first = (uint32_t)soup.surface.node_count;
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < n; i++) {
            const double r = 1 + 0.3 * cos(turn * j), h = 0.3 * sin(turn * j);
            const double u = r * cos(turn * i), v = r * sin(turn * i);
            add_node(x + u, around == 0 ? v : h, around == 0 ? h : v);
        }
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t next = (i + 1) % n, above = (j + 1) % n;
            const uint32_t a = first + j * n + i, b = first + j * n + next;
            const uint32_t c = first + above * n + next, d = first + above * n + i;
            add_triangle(body, a, b, c);
            add_triangle(body, a, c, d);
        }
}

static struct intersections find(int threads, size_t pairs_max)
{
    struct intersections found;
    const struct intersection_options options = {.threads = threads, .pairs_max = pairs_max};
    taut_error error = {0};
    if (intersections_find(&soup.surface, &options, &found, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return found;
}

// Counts all pairs without a search, and compares every number with those of the search.
static void compare_with_all_pairs(uint32_t body_count)
{
    const struct intersection_surface *surface = &soup.surface;
    static uint64_t counts[8][8][INTERSECTION_KINDS];
    uint64_t degenerate = 0, total = 0;
    memset(counts, 0, sizeof counts);
    assert_true(body_count <= 8);
    for (uint64_t i = 0; i < surface->triangle_count; i++) {
        const double *t[3], *u[3];
        for (int corner = 0; corner < 3; corner++)
            t[corner] = surface->positions + 3 * (size_t)surface->triangles[i][corner];
        if (triangle_is_degenerate(t[0], t[1], t[2])) {
            degenerate++;
            continue;
        }
        for (uint64_t j = 0; j < i; j++) {
            for (int corner = 0; corner < 3; corner++)
                u[corner] = surface->positions + 3 * (size_t)surface->triangles[j][corner];
            if (triangle_is_degenerate(u[0], u[1], u[2]))
                continue;
            const enum triangle_relation relation = triangles_relate(t, u);
            if (relation == TRIANGLES_APART)
                continue;
            const uint32_t a = surface->bodies[i], b = surface->bodies[j];
            const enum intersection_kind kind =
                relation == TRIANGLES_CROSSING      ? INTERSECTION_CROSSING
                : relation == TRIANGLES_OVERLAPPING ? INTERSECTION_OVERLAPPING
                                                    : INTERSECTION_TOUCHING;
            counts[a < b ? a : b][a < b ? b : a][kind]++;
            total++;
        }
    }
    struct intersections found = find(1, 100000);
    assert_int_equal(found.degenerate, degenerate);
    assert_int_equal(found.pair_count, total < 100000 ? total : 100000);
    uint64_t sum[INTERSECTION_KINDS] = {0};
    size_t next = 0;
    for (uint32_t a = 0; a < body_count; a++)
        for (uint32_t b = a; b < body_count; b++) {
            const uint64_t *expected = counts[a][b];
            if (expected[0] + expected[1] + expected[2] == 0)
                continue;
            assert_true(next < found.body_count);
            assert_int_equal(found.bodies[next].a, a);
            assert_int_equal(found.bodies[next].b, b);
            for (int kind = 0; kind < INTERSECTION_KINDS; kind++) {
                assert_int_equal(found.bodies[next].counts[kind], expected[kind]);
                sum[kind] += expected[kind];
            }
            next++;
        }
    assert_int_equal(found.body_count, next);
    for (int kind = 0; kind < INTERSECTION_KINDS; kind++)
        assert_int_equal(found.counts[kind], sum[kind]);
    // The same on more threads, and the first pairs are the first of all.
    for (int threads = 2; threads <= 5; threads += 3) {
        struct intersections again = find(threads, 7);
        assert_memory_equal(again.counts, found.counts, sizeof found.counts);
        assert_int_equal(again.compared, found.compared);
        assert_int_equal(again.body_count, found.body_count);
        if (found.body_count > 0)
            assert_memory_equal(again.bodies, found.bodies,
                                found.body_count * sizeof *found.bodies);
        assert_int_equal(again.pair_count, total < 7 ? total : 7);
        for (size_t i = 0; i < again.pair_count; i++) {
            assert_int_equal(again.pairs[i].a, found.pairs[i].a);
            assert_int_equal(again.pairs[i].b, found.pairs[i].b);
            assert_int_equal(again.pairs[i].kind, found.pairs[i].kind);
        }
        intersections_free(&again);
    }
    intersections_free(&found);
}

static void the_search_finds_what_all_pairs_have(void **state)
{
    (void)state;
    seed = 1234;
    static const uint32_t sizes[] = {0, 1, 2, 8, 9, 64, 65, 700};
    for (size_t round = 0; round < sizeof sizes / sizeof sizes[0]; round++) {
        soup_begin();
        for (uint32_t i = 0; i < sizes[round]; i++) {
            const double size = i % 50 == 0 ? 1 : 0.1; // a few large ones
            const double x = real(), y = real(), z = real();
            uint32_t corners[3];
            for (int corner = 0; corner < 3; corner++)
                corners[corner] = add_node(x + size * real(), y + size * real(), z + size * real());
            add_triangle(i % 5, corners[0], corners[1], corners[2]);
        }
        compare_with_all_pairs(5);
    }
    // Nodes on a grid: shared corners, edges and planes, and degenerate triangles.
    soup_begin();
    for (int z = 0; z < 5; z++)
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 5; x++)
                add_node(x, y, z);
    for (uint32_t i = 0; i < 500; i++)
        add_triangle(i % 3, (uint32_t)(next_random() % 125), (uint32_t)(next_random() % 125),
                     (uint32_t)(next_random() % 125));
    compare_with_all_pairs(3);
}

static double flat(double x, double y)
{
    (void)x;
    (void)y;
    return 0;
}

static double inclined(double x, double y)
{
    return 0.3 * x + 0.7 * y;
}

static double waves(double x, double y)
{
    return 0.2 * sin(20 * x + 3 * y);
}

// A surface that is large enough for several threads.
static void threads_find_the_same(void **state)
{
    (void)state;
    soup_begin();
    add_cloth(0, 50, waves);
    add_cloth(1, 52, inclined);
    struct intersections one = find(1, 20);
    assert_true(one.counts[INTERSECTION_CROSSING] > 100);
    for (int threads = 2; threads < 5; threads++) {
        struct intersections found = find(threads, 20);
        assert_memory_equal(found.counts, one.counts, sizeof one.counts);
        assert_int_equal(found.compared, one.compared);
        assert_int_equal(found.body_count, one.body_count);
        assert_memory_equal(found.bodies, one.bodies, one.body_count * sizeof *one.bodies);
        assert_int_equal(found.pair_count, 20);
        for (size_t i = 0; i < 20; i++) {
            assert_int_equal(found.pairs[i].a, one.pairs[i].a);
            assert_int_equal(found.pairs[i].b, one.pairs[i].b);
        }
        intersections_free(&found);
    }
    intersections_free(&one);
}

// Sizes whose squares overflow, and floats cannot hold.
static void the_search_works_at_any_size(void **state)
{
    (void)state;
    for (int power = -1060; power <= 1020; power += 260) {
        seed = 42;
        soup_begin();
        for (uint32_t i = 0; i < 150; i++) {
            uint32_t corners[3];
            for (int corner = 0; corner < 3; corner++)
                corners[corner] =
                    add_node(ldexp((double)whole(7), power), ldexp((double)whole(7), power),
                             ldexp((double)whole(7), power));
            add_triangle(i % 2, corners[0], corners[1], corners[2]);
        }
        compare_with_all_pairs(2);
    }
}

static void assert_counts(uint64_t crossing, uint64_t overlapping, uint64_t touching)
{
    struct intersections found = find(2, 0);
    assert_int_equal(found.counts[INTERSECTION_CROSSING], crossing);
    assert_int_equal(found.counts[INTERSECTION_OVERLAPPING], overlapping);
    assert_int_equal(found.counts[INTERSECTION_TOUCHING], touching);
    intersections_free(&found);
}

static void surfaces_have_known_counts(void **state)
{
    (void)state;
    // Neighbours neither cross nor touch, also where rounding puts them nearly in one plane.
    double (*const heights[])(double, double) = {flat, inclined, waves};
    for (int i = 0; i < 3; i++) {
        soup_begin();
        add_cloth(0, 40, heights[i]);
        assert_counts(0, 0, 0);
    }
    // A plane along a column of cells crosses both triangles of each cell.
    soup_begin();
    add_cloth(0, 40, flat);
    add_triangle(1, add_node(0.3 / 40, -9, -9), add_node(0.3 / 40, 9, -9),
                 add_node(0.3 / 40, 0, 9));
    assert_counts(80, 0, 0);
    // Along a line of nodes it touches the triangles on both sides (x = 1/2 is exact).
    soup_begin();
    add_cloth(0, 40, flat);
    add_triangle(1, add_node(0.5, -9, -9), add_node(0.5, 9, -9), add_node(0.5, 0, 9));
    // On each side a column of 40 triangles has edges on it, and 40 others corners.
    assert_counts(0, 0, 160);
    // The same cloth twice: every triangle on itself; its neighbours only share corners with it.
    soup_begin();
    add_cloth(0, 12, flat);
    add_cloth(1, 12, flat);
    assert_counts(0, 288, 0);
    // A seam: two halves with nodes of their own on the common line.
    soup_begin();
    add_cloth(0, 12, inclined);
    const uint64_t nodes = soup.surface.node_count;
    add_cloth(0, 12, inclined);
    for (uint64_t i = nodes; i < 2 * nodes; i++)
        soup.positions[3 * i] = 2 - soup.positions[3 * i];
    assert_counts(0, 0, 0);
}

// Links of a chain do not cross; pulled through each other they do.
static void linked_tori_do_not_cross(void **state)
{
    (void)state;
    soup_begin();
    add_torus(0, 40, 0, 0);
    add_torus(1, 40, 1, 1);
    assert_counts(0, 0, 0);
    soup_begin();
    add_torus(0, 24, 0, 0);
    add_torus(1, 24, 1.55, 1);
    struct intersections found = find(1, 0);
    assert_true(found.counts[INTERSECTION_CROSSING] > 20);
    assert_int_equal(found.body_count, 1);
    assert_int_equal(found.bodies[0].a, 0);
    assert_int_equal(found.bodies[0].b, 1);
    intersections_free(&found);
    compare_with_all_pairs(2);
}

static void wrong_surfaces_are_refused(void **state)
{
    (void)state;
    struct intersections found;
    const struct intersection_options options = {.threads = 1};
    taut_error error = {0};
    soup_begin();
    add_node(0, 0, 0);
    add_node(1, 0, 0);
    add_node(0, NAN, 0);
    add_triangle(0, 0, 1, 2);
    assert_int_equal(intersections_find(&soup.surface, &options, &found, &error),
                     TAUT_ERROR_ARGUMENT);
    assert_contains(error.text, "the position of node 2 is not finite");
    soup.positions[7] = 1;
    soup.triangles[0][1] = 3;
    assert_int_equal(intersections_find(&soup.surface, &options, &found, &error),
                     TAUT_ERROR_ARGUMENT);
    assert_contains(error.text, "triangle 0 has node 3");
}

static bool stop_at_once(void)
{
    return true;
}

static void a_search_can_be_stopped(void **state)
{
    (void)state;
    struct intersections found;
    const struct intersection_options options = {.threads = 2, .stop = stop_at_once};
    soup_begin();
    add_cloth(0, 40, flat);
    assert_int_equal(intersections_find(&soup.surface, &options, &found, NULL), TAUT_OK);
    assert_int_equal(found.compared, 0);
    intersections_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orientations_are_exact),
        cmocka_unit_test(orientations_hold_for_the_largest_and_smallest_numbers),
        cmocka_unit_test(the_filter_never_errs),
        cmocka_unit_test(pairs_have_the_relations_of_the_document),
        cmocka_unit_test(degenerate_triangles_are_found),
        cmocka_unit_test(relations_do_not_depend_on_the_order),
        cmocka_unit_test(the_search_finds_what_all_pairs_have),
        cmocka_unit_test(threads_find_the_same),
        cmocka_unit_test(the_search_works_at_any_size),
        cmocka_unit_test(surfaces_have_known_counts),
        cmocka_unit_test(linked_tori_do_not_cross),
        cmocka_unit_test(wrong_surfaces_are_refused),
        cmocka_unit_test(a_search_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
