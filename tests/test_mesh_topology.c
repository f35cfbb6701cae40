// scene/mesh: inspection of surfaces with known holes, seams and sides, and correction of their
// orientation.
#include "test.h"

#include "mesh_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct mesh parse(const char *text)
{
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    bool sound = mesh_read_memory(MESH_OBJ, text, strlen(text), "test.obj", &mesh, &diagnostics);
    assert_string_equal(findings_text(&diagnostics), "");
    assert_true(sound);
    return mesh;
}

static struct mesh_report inspect(struct mesh *mesh)
{
    struct mesh_report report;
    assert_true(mesh_inspect_and_orient(mesh, &report));
    return report;
}

static struct mesh_report inspect_text(const char *text)
{
    struct mesh mesh = parse(text);
    struct mesh_report report = inspect(&mesh);
    mesh_free(&mesh);
    return report;
}

static void assert_report(struct mesh_report report, struct mesh_report expected)
{
    assert_int_equal(report.open_edges, expected.open_edges);
    assert_int_equal(report.non_manifold_edges, expected.non_manifold_edges);
    assert_int_equal(report.non_manifold_vertices, expected.non_manifold_vertices);
    assert_int_equal(report.repeated_triangles, expected.repeated_triangles);
    assert_int_equal(report.flipped_triangles, expected.flipped_triangles);
    assert_int_equal(report.orientable, expected.orientable);
    assert_int_equal(report.closed, expected.closed);
    assert_int_equal(report.components, expected.components);
}

#define TETRAHEDRON "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"

// ---- Orientation

// Every combination of orientations of a tetrahedron's four triangles is corrected to the outward
// one.
static void test_all_orientations_of_a_tetrahedron(void **state)
{
    (void)state;
    for (unsigned turned = 0; turned < 16; ++turned) {
        struct mesh mesh = parse(TETRAHEDRON "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
        uint64_t count = 0;
        for (unsigned t = 0; t < 4; ++t) {
            if (!(turned >> t & 1))
                continue;
            uint32_t first = mesh.triangles[3 * t];
            mesh.triangles[3 * t] = mesh.triangles[3 * t + 1];
            mesh.triangles[3 * t + 1] = first;
            ++count;
        }
        assert_report(inspect(&mesh), (struct mesh_report){.flipped_triangles = count,
                                                           .orientable = true,
                                                           .closed = true,
                                                           .components = 1});
        assert_true(six_volumes(&mesh) == 1);
        assert_report(inspect(&mesh),
                      (struct mesh_report){.orientable = true, .closed = true, .components = 1});
        mesh_free(&mesh);
    }
}

// An open surface has no outside: the orientation of most of its triangles is kept.
static void test_open_surface_keeps_its_orientation(void **state)
{
    (void)state;
    const char *points = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 0.5 1\n";
    char text[256];
    snprintf(text, sizeof text, "%s%s", points, "f 5 1 2\nf 5 2 3\nf 5 4 3\nf 5 4 1\n");
    struct mesh_report expected = {
        .open_edges = 4, .flipped_triangles = 1, .orientable = true, .components = 1};
    assert_report(inspect_text(text), expected);
    // The same with all orientations reversed: there is no outward side to choose.
    snprintf(text, sizeof text, "%s%s", points, "f 5 2 1\nf 5 3 2\nf 5 3 4\nf 5 1 4\n");
    assert_report(inspect_text(text), expected);
    struct mesh mesh = parse(text);
    inspect(&mesh);
    assert_true(six_volumes(&mesh) < 0);
    mesh_free(&mesh);
}

static void test_far_away_and_inside_out(void **state)
{
    (void)state;
    struct mesh mesh = parse(TETRAHEDRON "f 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n");
    for (int i = 0; i < 12; ++i)
        mesh.vertices[i] += 1e9;
    assert_report(inspect(&mesh),
                  (struct mesh_report){
                      .flipped_triangles = 4, .orientable = true, .closed = true, .components = 1});
    mesh_free(&mesh);
}

// A strip of n quads around, with or without a half turn.
static struct mesh_report strip(bool half_turn)
{
    enum { QUADS = 8 };
    char text[2048] = "";
    size_t length = 0;
    for (int i = 0; i < QUADS; ++i) {
        double around = 6.283185307179586 * i / QUADS, tilt = half_turn ? around / 2 : 0;
        for (int side = -1; side <= 1; side += 2)
            length += (size_t)sprintf(text + length, "v %.17g %.17g %.17g\n",
                                      cos(around) * (3 + side * cos(tilt)),
                                      sin(around) * (3 + side * cos(tilt)), side * sin(tilt));
    }
    for (int i = 0; i < QUADS; ++i) {
        int a = 2 * i + 1, b = 2 * i + 2;
        bool last = i == QUADS - 1;
        int c = last ? 1 : a + 2, d = last ? 2 : b + 2;
        if (last && half_turn) {
            c = 2;
            d = 1;
        }
        length += (size_t)sprintf(text + length, "f %d %d %d\nf %d %d %d\n", a, b, d, a, d, c);
    }
    return inspect_text(text);
}

static void test_moebius_strip(void **state)
{
    (void)state;
    assert_report(strip(true),
                  (struct mesh_report){.open_edges = 16, .orientable = false, .components = 1});
    assert_report(strip(false),
                  (struct mesh_report){.open_edges = 16, .orientable = true, .components = 1});
}

// A torus of N x N points is closed and orientable; glued with a reflection it is a Klein bottle:
// no edge is open, and yet it has no inside. Only the connectivity matters, so the points may lie
// anywhere.
static void test_klein_bottle(void **state)
{
    (void)state;
    enum { N = 5 };
    for (int mirrored = 0; mirrored < 2; ++mirrored) {
        char text[8192] = "";
        size_t length = 0;
        for (int i = 0; i < N * N; ++i) {
            int row = i / N, column = i % N;
            double u = 6.283185307179586 * row / N, v = 6.283185307179586 * column / N;
            length += (size_t)sprintf(text + length, "v %.17g %.17g %.17g\n", (3 + cos(v)) * cos(u),
                                      (3 + cos(v)) * sin(u), sin(v));
        }
        for (int i = 0; i < N; ++i) {
            for (int j = 0; j < N; ++j) {
                int k = (j + 1) % N;
                bool mirror = mirrored && i == N - 1;
                int a = i * N + j + 1, b = i * N + k + 1;
                int row = (i + 1) % N * N + 1;
                int c = row + (mirror ? (N - j) % N : j), d = row + (mirror ? (N - k) % N : k);
                length +=
                    (size_t)sprintf(text + length, "f %d %d %d\nf %d %d %d\n", a, c, d, a, d, b);
            }
        }
        struct mesh mesh = parse(text);
        struct mesh_report report = inspect(&mesh);
        assert_int_equal(report.open_edges, 0);
        assert_int_equal(report.non_manifold_edges, 0);
        assert_int_equal(report.non_manifold_vertices, 0);
        assert_int_equal(report.components, 1);
        assert_int_equal(report.orientable, !mirrored);
        assert_int_equal(report.closed, !mirrored);
        if (mirrored) // an orientation that cannot be fixed is not changed
            assert_int_equal(report.flipped_triangles, 0);
        mesh_free(&mesh);
    }
}

// ---- Defects

static void test_hole(void **state)
{
    (void)state;
    assert_report(inspect_text(TETRAHEDRON "f 1 3 2\nf 1 2 4\nf 2 3 4\n"),
                  (struct mesh_report){.open_edges = 3, .orientable = true, .components = 1});
}

// A tetrahedron with an inner wall: three faces meet at each edge of the wall.
static void test_inner_wall(void **state)
{
    (void)state;
    struct mesh_report report = inspect_text(TETRAHEDRON "v 1 1 1\n"
                                                         "f 1 3 2\nf 1 2 4\nf 3 1 4\n"
                                                         "f 2 3 4\nf 2 3 5\nf 3 4 5\nf 4 2 5\n");
    assert_int_equal(report.open_edges, 0);
    assert_int_equal(report.non_manifold_edges, 3);
    assert_int_equal(report.non_manifold_vertices, 3);
    assert_false(report.closed);
}

// Two tetrahedra that share a vertex, and two that share an edge.
static void test_touching_bodies(void **state)
{
    (void)state;
    assert_report(inspect_text(TETRAHEDRON "v -1 0 0\nv 0 -1 0\nv 0 0 -1\n"
                                           "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
                                           "f 1 6 5\nf 1 5 7\nf 5 6 7\nf 6 1 7\n"),
                  (struct mesh_report){.non_manifold_vertices = 1,
                                       .flipped_triangles = 4,
                                       .orientable = true,
                                       .components = 2});
    struct mesh_report edge = inspect_text(TETRAHEDRON "v -1 0 0\nv 0 -1 0\n"
                                                       "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
                                                       "f 1 6 5\nf 1 5 4\nf 5 6 4\nf 6 1 4\n");
    assert_int_equal(edge.open_edges, 0);
    assert_int_equal(edge.non_manifold_edges, 1);
    assert_int_equal(edge.non_manifold_vertices, 2);
    assert_false(edge.closed);
}

// Triangles that occur again, from any corner on and in either direction, anywhere in the file.
static void test_repeated_triangles(void **state)
{
    (void)state;
    struct mesh_report report =
        inspect_text(TETRAHEDRON "f 4 3 1\nf 1 3 2\nf 1 2 4\nf 3 2 1\nf 2 3 4\nf 1 4 3\nf 2 1 3\n");
    assert_int_equal(report.repeated_triangles, 3);
    assert_int_equal(report.non_manifold_edges, 5);
    assert_int_equal(
        inspect_text(TETRAHEDRON "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n").repeated_triangles, 0);
}

// Two equal triangles back to back have neither an open edge nor an inside; nor has a flat pillow.
static void test_nothing_inside(void **state)
{
    (void)state;
    assert_report(
        inspect_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 2 1\n"),
        (struct mesh_report){.repeated_triangles = 1, .orientable = true, .components = 1});
    assert_report(inspect_text("v 0.1 0 0\nv 1.3 0.2 0.7\nv 0 1 0.3\nv 1.4 1.2 1\nf 1 2 3\n"
                               "f 2 4 3\nf 2 1 3\nf 4 2 3\n"),
                  (struct mesh_report){.non_manifold_edges = 1,
                                       .non_manifold_vertices = 2,
                                       .repeated_triangles = 2,
                                       .orientable = true,
                                       .components = 2});
}

static void test_components_are_oriented_alone(void **state)
{
    (void)state;
    struct mesh_report report = inspect_text(TETRAHEDRON "v 5 0 0\nv 6 0 0\nv 5 1 0\nv 5 0 1\n"
                                                         "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
                                                         "f 5 6 7\nf 5 8 6\nf 6 8 7\nf 7 8 5\n");
    assert_report(report,
                  (struct mesh_report){
                      .flipped_triangles = 4, .orientable = true, .closed = true, .components = 2});
}

// ---- Cavities

// Cubes around points of the z axis, written one after another.
struct cubes {
    char text[16384];
    size_t length;
    int count;
};

static void add_cube(struct cubes *cubes, double height, double half, bool inwards)
{
    static const int sides[6][4] = {{1, 3, 4, 2}, {5, 6, 8, 7}, {1, 2, 6, 5},
                                    {3, 7, 8, 4}, {1, 5, 7, 3}, {2, 4, 8, 6}};
    const int before = 8 * cubes->count++;
    for (int i = 0; i < 8; i++)
        cubes->length += (size_t)sprintf(cubes->text + cubes->length, "v %.17g %.17g %.17g\n",
                                         i & 1 ? half : -half, i & 2 ? half : -half,
                                         height + (i & 4 ? half : -half));
    for (int side = 0; side < 6; side++) {
        const int *c = sides[side];
        cubes->length += (size_t)sprintf(cubes->text + cubes->length, "f %d %d %d %d\n",
                                         before + c[inwards ? 3 : 0], before + c[inwards ? 2 : 1],
                                         before + c[inwards ? 1 : 2], before + c[inwards ? 0 : 3]);
    }
}

static void assert_cavities(const struct cubes *cubes, uint64_t cavities, uint64_t flipped,
                            double volume)
{
    struct mesh mesh = parse(cubes->text);
    const struct mesh_report report = inspect(&mesh);
    assert_true(report.closed);
    assert_int_equal(report.components, cubes->count);
    assert_int_equal(report.cavities, cavities);
    assert_int_equal(report.flipped_triangles, flipped);
    assert_true(fabs(six_volumes(&mesh) / 6 - volume) < 1e-9);
    mesh_free(&mesh);
}

// A cube with a cavity, whichever orientation each of its shells is given.
static void test_a_cavity_is_no_part_of_the_volume(void **state)
{
    (void)state;
    for (unsigned given = 0; given < 8; given++) {
        struct cubes cubes = {0};
        const bool outer = given & 1, inner = given & 2, inner_first = given & 4;
        if (inner_first)
            add_cube(&cubes, 0, 0.25, inner);
        add_cube(&cubes, 0, 0.5, outer);
        if (!inner_first)
            add_cube(&cubes, 0, 0.25, inner);
        assert_cavities(&cubes, 1, 12 * ((uint64_t)outer + !inner), 0.875);
    }
}

// Far from the origin, with a mesh in the cavity that has a cavity, and others beside it: each
// shell counts the shells around it, not those whose boxes overlap its own.
static void test_shells_are_nested_by_depth(void **state)
{
    (void)state;
    struct cubes cubes = {0};
    add_cube(&cubes, 1000, 4, false);
    add_cube(&cubes, 1002, 1, true);   // a cavity
    add_cube(&cubes, 1002, 0.5, true); // matter in it
    add_cube(&cubes, 1002.1, 0.25, false);
    add_cube(&cubes, 998, 1.5, false); // another cavity
    add_cube(&cubes, 1010, 1, false);  // outside
    assert_cavities(&cubes, 3, 36, 512 - 8 + 1 - 0.125 - 27 + 8);
}

// Shells that cross are no cavities, nor is one in the notch of another one, whose box holds it.
static void test_what_is_not_inside_is_no_cavity(void **state)
{
    (void)state;
    struct cubes crossing = {0};
    add_cube(&crossing, 0, 1, false);
    add_cube(&crossing, 0.8, 0.5, true);
    assert_cavities(&crossing, 0, 12, 9);

    // A prism over the L of (0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3), 3 high, and in its
    // notch a cube of side 1.
    struct mesh mesh = parse("v 0 0 -1.5\nv 3 0 -1.5\nv 3 1 -1.5\nv 1 1 -1.5\nv 1 3 -1.5\n"
                             "v 0 3 -1.5\nv 0 0 1.5\nv 3 0 1.5\nv 3 1 1.5\nv 1 1 1.5\n"
                             "v 1 3 1.5\nv 0 3 1.5\n"
                             "f 1 4 2\nf 2 4 3\nf 1 6 4\nf 4 6 5\n"
                             "f 7 8 10\nf 8 9 10\nf 7 10 12\nf 10 11 12\n"
                             "f 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\n"
                             "f 6 1 7 12\n"
                             "v 1.5 1.5 -0.5\nv 2.5 1.5 -0.5\nv 1.5 2.5 -0.5\nv 2.5 2.5 -0.5\n"
                             "v 1.5 1.5 0.5\nv 2.5 1.5 0.5\nv 1.5 2.5 0.5\nv 2.5 2.5 0.5\n"
                             "f 13 15 16 14\nf 17 18 20 19\nf 13 14 18 17\nf 15 19 20 16\n"
                             "f 13 17 19 15\nf 14 16 20 18\n");
    const struct mesh_report report = inspect(&mesh);
    assert_true(report.closed);
    assert_int_equal(report.components, 2);
    assert_int_equal(report.cavities, 0);
    assert_true(fabs(six_volumes(&mesh) / 6 - 16) < 1e-12);
    mesh_free(&mesh);
}

static void test_empty_mesh(void **state)
{
    (void)state;
    struct mesh mesh = {0};
    assert_report(inspect(&mesh), (struct mesh_report){.orientable = true});
}

// ---- Real meshes

static void check_real(const char *name, uint64_t vertices, uint64_t triangles, bool closed,
                       uint64_t bad_vertices)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/../shared/meshes/%s", TAUT_TEST_SOURCE, name);
    if (access(path, R_OK) != 0) {
        print_message("%s is absent\n", path);
        skip();
    }
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    assert_true(mesh_read(path, &mesh, &diagnostics));
    assert_int_equal(mesh.vertex_count, vertices);
    assert_int_equal(mesh.triangle_count, triangles);
    assert_int_equal(mesh.unused_vertices, 0);
    assert_report(inspect(&mesh), (struct mesh_report){.non_manifold_vertices = bad_vertices,
                                                       .orientable = true,
                                                       .closed = closed,
                                                       .components = 1});
    mesh_free(&mesh);
}

static void test_spot(void **state)
{
    (void)state;
    check_real("spot.obj", 2930, 5856, true, 0);
}

static void test_rocker_arm(void **state)
{
    (void)state;
    check_real("rocker-arm.obj", 10044, 20088, true, 0);
}

// All vertices are used, but at one of them (254 of the file) two parts of the surface touch: V - E
// + F = 2903 - 8706 + 5804 = 1, one less than for a sphere.
static void test_cow(void **state)
{
    (void)state;
    check_real("cow.obj", 2903, 5804, false, 1);
}

static void test_animal(void **state)
{
    (void)state;
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    assert_true(mesh_read(TAUT_TEST_SOURCE "/scenes/meshes/animal.obj", &mesh, &diagnostics));
    assert_in_range(mesh.triangle_count, 2000, 5000);
    assert_report(inspect(&mesh),
                  (struct mesh_report){.orientable = true, .closed = true, .components = 1});
    // A sphere without handles: V - E + F = 2, E = 3 F / 2.
    assert_int_equal(2 * mesh.vertex_count, mesh.triangle_count + 4);
    double lowest = INFINITY;
    for (uint64_t v = 0; v < mesh.vertex_count; ++v)
        lowest = fmin(lowest, mesh.vertices[3 * v + 1]);
    assert_true(fabs(lowest) < 1e-4); // it stands on y = 0
    mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_orientations_of_a_tetrahedron),
        cmocka_unit_test(test_open_surface_keeps_its_orientation),
        cmocka_unit_test(test_far_away_and_inside_out),
        cmocka_unit_test(test_moebius_strip),
        cmocka_unit_test(test_klein_bottle),
        cmocka_unit_test(test_hole),
        cmocka_unit_test(test_inner_wall),
        cmocka_unit_test(test_touching_bodies),
        cmocka_unit_test(test_repeated_triangles),
        cmocka_unit_test(test_nothing_inside),
        cmocka_unit_test(test_components_are_oriented_alone),
        cmocka_unit_test(test_a_cavity_is_no_part_of_the_volume),
        cmocka_unit_test(test_shells_are_nested_by_depth),
        cmocka_unit_test(test_what_is_not_inside_is_no_cavity),
        cmocka_unit_test(test_empty_mesh),
        cmocka_unit_test(test_spot),
        cmocka_unit_test(test_rocker_arm),
        cmocka_unit_test(test_cow),
        cmocka_unit_test(test_animal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
