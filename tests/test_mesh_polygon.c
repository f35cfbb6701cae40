// scene/mesh_polygon: triangulation of convex and other polygons.
#include "test.h"

#include "mesh_fixture.h"
#include "scene/mesh/mesh_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_concave_caps(void **state)
{
    (void)state;
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    assert_true(mesh_read(TAUT_TEST_DATA "/meshes/l_prism.obj", &mesh, &diagnostics));
    assert_int_equal(mesh.vertex_count, 12);
    assert_int_equal(mesh.triangle_count, 2 * 4 + 6 * 2);
    struct mesh_report report;
    assert_true(mesh_inspect_and_orient(&mesh, &report));
    assert_true(report.closed);
    assert_int_equal(report.flipped_triangles, 0);
    assert_true(fabs(six_volumes(&mesh) - 6 * 6) < 1e-12);
    mesh_free(&mesh);
}

// Triangulates a polygon in the plane z = 0, rotated in space; the triangles must have its
// orientation, none may be empty, and their areas must add up to its area.
static void check_cut(const double (*points)[2], size_t count, double area)
{
    struct polygon_corner corners[16];
    double positions[16][2];
    uint32_t triangles[14][3];
    assert_true(count <= 16);
    for (size_t start = 0; start < count; ++start) {
        for (size_t i = 0; i < count; ++i) {
            const double *p = points[(start + i) % count];
            memcpy(positions[i], p, sizeof positions[i]);
            corners[i] = (struct polygon_corner){
                (uint32_t)i, vec3_make(100 + 0.6 * p[0], p[1] - 7, 0.8 * p[0] + 3), 0, 0};
        }
        assert_int_equal(polygon_cut(corners, count, triangles), POLYGON_CUT);
        double sum = 0;
        for (size_t t = 0; t + 2 < count; ++t) {
            const double *a = positions[triangles[t][0]], *b = positions[triangles[t][1]],
                         *c = positions[triangles[t][2]];
            double part = ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2;
            assert_true(part > 1e-9);
            sum += part;
        }
        assert_true(fabs(sum - area) < 1e-9);
    }
}

static void test_polygons(void **state)
{
    (void)state;
    static const double square[][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    static const double arrow[][2] = {{0, 0}, {2, -1}, {0, 3}, {-2, -1}};
    static const double on_edge[][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 2}};
    static const double on_edges[][2] = {{0, 0}, {1, 0}, {2, 0}, {1, 1}, {0, 2}, {0, 1}};
    static const double comb[][2] = {{0, 0}, {7, 0}, {7, 3}, {6, 3}, {6, 1}, {4, 1},
                                     {4, 3}, {3, 3}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
    static const double spiral[][2] = {{0, 0}, {5, 0}, {5, 5}, {0, 5}, {0, 2}, {3, 2},
                                       {3, 3}, {1, 3}, {1, 4}, {4, 4}, {4, 1}, {0, 1}};
    check_cut(square, 4, 1);
    check_cut(arrow, 4, 6);
    check_cut(on_edge, 4, 2);
    check_cut(on_edges, 6, 2);
    check_cut(comb, 12, 13);
    check_cut(spiral, 12, 17);
}

// A star that winds around its middle twice turns left at every corner, like a convex polygon.
static void test_winding_twice(void **state)
{
    (void)state;
    struct polygon_corner corners[5];
    uint32_t triangles[3][3];
    for (uint32_t i = 0; i < 5; ++i) {
        double angle = 2 * 6.283185307179586 * i / 5;
        corners[i] = (struct polygon_corner){i, vec3_make(cos(angle), sin(angle), 0), 0, 0};
    }
    assert_int_equal(polygon_cut(corners, 5, triangles), POLYGON_CROSSED);
}

// A disc with any number of corners becomes a fan; a gear with too many corners is rejected, since
// its triangulation would take minutes.
static void test_large_polygons(void **state)
{
    (void)state;
    enum { MANY = 2000 };
    for (int gear = 0; gear < 2; ++gear) {
        for (size_t count = POLYGON_CONCAVE_MAX; count <= MANY; count += MANY / 2) {
            struct polygon_corner *corners = malloc(count * sizeof *corners);
            uint32_t(*triangles)[3] = malloc(count * sizeof *triangles);
            assert_true(corners && triangles);
            for (uint32_t i = 0; i < count; ++i) {
                double angle = 6.283185307179586 * i / (double)count;
                double radius = gear && i % 2 ? 0.9 : 1;
                corners[i] = (struct polygon_corner){
                    i, vec3_make(radius * cos(angle), 5, radius * sin(angle)), 0, 0};
            }
            assert_int_equal(polygon_cut(corners, count, triangles),
                             gear && count > POLYGON_CONCAVE_MAX ? POLYGON_TOO_LARGE : POLYGON_CUT);
            free(corners);
            free(triangles);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_concave_caps),
        cmocka_unit_test(test_polygons),
        cmocka_unit_test(test_winding_twice),
        cmocka_unit_test(test_large_polygons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
