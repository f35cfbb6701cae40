// scene/mesh: valid files of every format. Their shapes are known, so volumes show whether every
// coordinate and corner was read correctly.
#include "test.h"

#include "mesh_fixture.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double PI_OVER_3 = 3.14159265358979323846 / 3;

static const double tetrahedron[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const uint32_t outward[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};

// Reads a file that must be valid and cause exactly these diagnostics.
static struct mesh read_sound(const char *path, const char *findings)
{
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    bool sound = mesh_read(path, &mesh, &diagnostics);
    assert_string_equal(findings_text(&diagnostics), findings);
    assert_true(sound);
    return mesh;
}

static struct mesh read_data(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/meshes/%s", TAUT_TEST_DATA, name);
    return read_sound(path, "");
}

static struct mesh read_bytes(const char *name, const struct bytes *bytes)
{
    return read_sound(write_file(name, bytes->data, bytes->size), "");
}

static void assert_tetrahedron(struct mesh *mesh)
{
    assert_int_equal(mesh->vertex_count, 4);
    assert_int_equal(mesh->triangle_count, 4);
    assert_memory_equal(mesh->vertices, tetrahedron, sizeof tetrahedron);
    assert_memory_equal(mesh->triangles, outward, sizeof outward);
    mesh_free(mesh);
    assert_null(mesh->vertices);
}

// ---- Text formats

static void test_asc_cube(void **state)
{
    (void)state;
    struct mesh cube = read_sound(TAUT_TEST_SOURCE "/scenes/meshes/cube.asc", "");
    assert_int_equal(cube.vertex_count, 8);
    assert_int_equal(cube.triangle_count, 12);
    for (int i = 0; i < 24; ++i)
        assert_true(fabs(cube.vertices[i]) == 1);
    assert_true(six_volumes(&cube) == 6 * 8);
    mesh_free(&cube);
}

static void test_asc_objects_become_one_mesh(void **state)
{
    (void)state;
    struct mesh mesh = read_data("two_objects.asc");
    assert_int_equal(mesh.vertex_count, 8);
    assert_int_equal(mesh.triangle_count, 8);
    assert_memory_equal(mesh.vertices, tetrahedron, sizeof tetrahedron);
    assert_memory_equal(mesh.triangles, outward, sizeof outward);
    assert_true(mesh.vertices[12] == 10 && mesh.vertices[15] == 11 && mesh.vertices[23] == -1);
    for (int i = 0; i < 12; ++i)
        assert_int_equal(mesh.triangles[12 + i], 4 + outward[i / 3][i % 3]);
    mesh_free(&mesh);
}

static void test_obj_every_index(void **state)
{
    (void)state;
    struct mesh mesh = read_data("every_index.obj");
    assert_int_equal(mesh.unused_vertices, 1);
    assert_tetrahedron(&mesh);
}

static void test_obj_forward_reference(void **state)
{
    (void)state;
    static const char text[] = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
                               "v 0 0 0\rv 1 0 0\r\nv 0 1 0\nv 0 0 1";
    struct mesh mesh = read_sound(write_file("forward.OBJ", text, sizeof text - 1), "");
    assert_tetrahedron(&mesh);
}

static void test_obj_byte_order_mark(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbf# from Windows\r\nv +0 -0.0e5 00\r\nv 1. .0 0\r\n"
                               "v 0 1 0\r\nv 0 0 1e+0\r\nf 1 3 2\r\nf 1 2 4\r\nf 2 3 4\r\n"
                               "f 3 1 4\r\n";
    struct mesh mesh = read_sound(write_file("bom.obj", text, sizeof text - 1), "");
    assert_true(mesh.vertices[1] == 0 && signbit(mesh.vertices[1]));
    mesh.vertices[1] = 0;
    assert_tetrahedron(&mesh);
}

// The decimal separator is a point in any locale; skipped if no other locale is installed.
static void test_locale_does_not_matter(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "pl_PL.UTF-8")) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    static const char text[] = "v 0.12345678901234567890 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    struct mesh mesh = read_sound(write_file("comma.obj", text, sizeof text - 1), "");
    setlocale(LC_ALL, "C");
    assert_true(mesh.vertices[0] == 0.12345678901234567890);
    mesh_free(&mesh);
}

static void test_ply_ascii_any_order(void **state)
{
    (void)state;
    // The file permutes the properties: x is the next to last, y the last, z the second.
    struct mesh mesh = read_data("faces_first.ply");
    assert_tetrahedron(&mesh);
}

static void test_stl_ascii_merges_corners(void **state)
{
    (void)state;
    char path[1024], warning[1200];
    snprintf(path, sizeof path, "%s/meshes/two_solids.stl", TAUT_TEST_DATA);
    snprintf(warning, sizeof warning, "%s: warning: 1 facet with two equal corners is left out\n",
             path);
    struct mesh mesh = read_sound(path, warning);
    assert_int_equal(mesh.vertex_count, 4);
    assert_int_equal(mesh.triangle_count, 4);
    assert_int_equal(mesh.merged_vertices, 10); // 15 corners at 5 positions
    assert_int_equal(mesh.unused_vertices, 1);  // used by the dropped facet only
    assert_true(six_volumes(&mesh) == 1);
    mesh_free(&mesh);
}

// ---- Binary formats, written byte by byte

static void put_tetrahedron_ply(struct bytes *bytes)
{
    put_text(bytes, bytes->big_endian ? "ply\nformat binary_big_endian 1.0\n"
                                      : "ply\nformat binary_little_endian 1.0\n");
    put_text(bytes, "element vertex 4\nproperty uchar red\nproperty double x\nproperty float y\n"
                    "property short z\nproperty list ushort double weights\n"
                    "element hole 1000000000\n"
                    "element face 4\nproperty list uint uint vertex_indices\nproperty char flag\n"
                    "end_header\n");
    for (int v = 0; v < 4; ++v) {
        put_whole(bytes, 0x0a, 1); // a newline in the data must not matter
        put_double(bytes, tetrahedron[v][0]);
        put_float(bytes, (float)tetrahedron[v][1]);
        put_whole(bytes, (uint64_t)tetrahedron[v][2], 2);
        put_whole(bytes, (uint64_t)v, 2);
        for (int i = 0; i < v; ++i)
            put_double(bytes, 0.5);
    }
    for (int f = 0; f < 4; ++f) {
        put_whole(bytes, 3, 4);
        for (int i = 0; i < 3; ++i)
            put_whole(bytes, outward[f][i], 4);
        put_whole(bytes, 0xff, 1);
    }
}

static void test_ply_little_endian(void **state)
{
    (void)state;
    struct bytes bytes = {0};
    put_tetrahedron_ply(&bytes);
    struct mesh mesh = read_bytes("little.ply", &bytes);
    assert_tetrahedron(&mesh);
}

static void test_ply_big_endian(void **state)
{
    (void)state;
    struct bytes bytes = {.big_endian = true};
    put_tetrahedron_ply(&bytes);
    struct mesh mesh = read_bytes("big.Ply", &bytes);
    assert_tetrahedron(&mesh);
}

// Every integer type, with values whose sign and byte order could be confused.
static void test_ply_types(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t size;
        uint64_t bits;
        double value;
    } types[] = {
        {"int8", 1, 0xfe, -2},
        {"uint8", 1, 0xfe, 254},
        {"int16", 2, 0xfffe, -2},
        {"uint16", 2, 0xff01, 0xff01},
        {"int32", 4, 0xfffffffe, -2},
        {"uint32", 4, 0xfffffffe, 4294967294.0},
        {"float32", 4, 0x40490fdb, 0x1.921fb6p1},
        {"float64", 8, 0x3ff8000000000001, 0x1.8000000000001p0},
    };
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
        for (int big = 0; big < 2; ++big) {
            struct bytes bytes = {.big_endian = big};
            char header[512];
            snprintf(header, sizeof header,
                     "ply\nformat binary_%s_endian 1.0\nelement vertex 3\nproperty %s x\n"
                     "property char y\nproperty char z\nelement face 1\n"
                     "property list char char vertex_index\nend_header\n",
                     big ? "big" : "little", types[t].name);
            put_text(&bytes, header);
            for (unsigned v = 0; v < 3; ++v) {
                put_whole(&bytes, types[t].bits, types[t].size);
                put_whole(&bytes, v, 1);
                put_whole(&bytes, v * v, 1);
            }
            put_whole(&bytes, 3, 1);
            for (unsigned i = 0; i < 3; ++i)
                put_whole(&bytes, i, 1);
            struct mesh mesh = read_bytes("types.ply", &bytes);
            assert_true(mesh.vertices[0] == types[t].value);
            assert_true(mesh.vertices[6] == types[t].value && mesh.vertices[8] == 4);
            mesh_free(&mesh);
        }
    }
}

// ---- Triangle strips

enum { ENCODINGS = 3 }; // ASCII, little-endian, big-endian

static void put_strips_head(struct bytes *bytes, int encoding, int vertices, int lists,
                            const char *type)
{
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    char head[512];
    snprintf(head, sizeof head,
             "ply\nformat %s 1.0\nelement vertex %d\nproperty float x\nproperty float y\n"
             "property float z\nelement tristrips %d\nproperty list int %s vertex_indices\n"
             "end_header\n",
             names[encoding], vertices, lists, type);
    *bytes = (struct bytes){.big_endian = encoding == 2};
    put_text(bytes, head);
}

static void put_point(struct bytes *bytes, int encoding, const float point[3])
{
    char line[96];
    if (encoding == 0) {
        snprintf(line, sizeof line, "%.9g %.9g %.9g\n", (double)point[0], (double)point[1],
                 (double)point[2]);
        put_text(bytes, line);
    } else {
        for (int i = 0; i < 3; ++i)
            put_float(bytes, point[i]);
    }
}

static void put_item(struct bytes *bytes, int encoding, int item, size_t size, bool last)
{
    char word[16];
    snprintf(word, sizeof word, "%d%c", item, last ? '\n' : ' ');
    if (encoding == 0)
        put_text(bytes, word);
    else
        put_whole(bytes, (uint64_t)(int64_t)item, size);
}

static void put_strips(struct bytes *bytes, int encoding, const int *items, int count, size_t size)
{
    put_item(bytes, encoding, count, 4, count == 0);
    for (int i = 0; i < count; ++i)
        put_item(bytes, encoding, items[i], size, i + 1 == count);
}

// Triangles alternate in orientation; -1 begins a new strip; triangles that use a vertex twice are
// omitted, but count for the alternation.
static void test_ply_strips(void **state)
{
    (void)state;
    static const int restarted[] = {-1, 0, 1, 2, 3, 4, -1, -1, 2, 1, 5, -1};
    static const int stitched[] = {0, 1, 2, 2, 4, 4, 5, 6};
    static const uint32_t expected[][3] = {{0, 1, 2}, {2, 1, 3}, {2, 3, 4},
                                           {2, 1, 5}, {0, 1, 2}, {5, 4, 6}};
    static const char *const types[] = {"char", "short", "int"};
    for (int encoding = 0; encoding < ENCODINGS; ++encoding)
        for (int t = 0; t < 3; ++t) {
            struct bytes bytes;
            put_strips_head(&bytes, encoding, 7, 3, types[t]);
            for (int v = 0; v < 7; ++v)
                put_point(&bytes, encoding, (float[3]){(float)v, (float)(v * v), 1});
            put_strips(&bytes, encoding, restarted, sizeof restarted / sizeof *restarted,
                       (size_t)1 << t);
            put_strips(&bytes, encoding, NULL, 0, 0);
            put_strips(&bytes, encoding, stitched, sizeof stitched / sizeof *stitched,
                       (size_t)1 << t);
            struct mesh mesh = read_bytes("strips.ply", &bytes);
            assert_int_equal(mesh.vertex_count, 7);
            assert_int_equal(mesh.triangle_count, 6);
            assert_memory_equal(mesh.triangles, expected, sizeof expected);
            mesh_free(&mesh);
        }
}

static void test_ply_strip_files(void **state)
{
    (void)state;
    static const char *const names[] = {"strips.ply", "strips_little.ply", "strips_big.ply"};
    for (int i = 0; i < 3; ++i) {
        struct mesh mesh = read_data(names[i]);
        assert_int_equal(mesh.triangle_count, 4);
        assert_memory_equal(mesh.vertices, tetrahedron, sizeof tetrahedron);
        assert_true(six_volumes(&mesh) == 1);
        mesh_free(&mesh);
    }
}

// A ring around the z axis with one strip per sector, either with -1 between them or stitched into
// one strip. It is closed, and all triangles face outwards.
static void test_ply_strips_of_a_ring(void **state)
{
    (void)state;
    enum { AROUND = 6, SIDES = 4 };
    static const float section[SIDES][2] = {{3, 0}, {2, 1}, {1, 0}, {2, -1}};
    for (int encoding = 0; encoding < ENCODINGS; ++encoding)
        for (int stitch = 0; stitch < 2; ++stitch) {
            struct bytes bytes;
            int items[AROUND * (2 * SIDES + 4)], count = 0;
            put_strips_head(&bytes, encoding, AROUND * SIDES, 1, "int");
            for (int i = 0; i < AROUND; ++i)
                for (int j = 0; j < SIDES; ++j) {
                    double angle = 2 * 3.14159265358979323846 * i / AROUND;
                    put_point(&bytes, encoding,
                              (float[3]){section[j][0] * (float)cos(angle),
                                         section[j][0] * (float)sin(angle), section[j][1]});
                }
            for (int i = 0; i < AROUND; ++i) {
                for (int j = 0; j <= SIDES; ++j) {
                    int here = i * SIDES + j % SIDES, next = (i + 1) % AROUND * SIDES + j % SIDES;
                    if (stitch && i > 0 && j == 0)
                        items[count++] = here;
                    items[count++] = here;
                    items[count++] = next;
                    if (stitch && j == SIDES)
                        items[count++] = next;
                }
                if (!stitch)
                    items[count++] = -1;
            }
            put_strips(&bytes, encoding, items, count, 4);
            struct mesh mesh = read_bytes("ring.ply", &bytes);
            assert_int_equal(mesh.vertex_count, AROUND * SIDES);
            assert_int_equal(mesh.triangle_count, 2 * AROUND * SIDES);
            // Each sector is a prism with a section of area 2 and the length of the path of its
            // middle.
            assert_true(fabs(six_volumes(&mesh) / 6 - AROUND * 2 * 2 * sin(PI_OVER_3)) < 0.02);
            struct mesh_report report;
            struct mesh as_read = mesh;
            uint32_t before[6 * AROUND * SIDES];
            memcpy(before, mesh.triangles, sizeof before);
            assert_true(mesh_inspect_and_orient(&as_read, &report));
            assert_true(report.closed && report.orientable);
            assert_memory_equal(before, as_read.triangles, sizeof before);
            mesh_free(&as_read);
        }
}

static void put_tetrahedron_stl(struct bytes *bytes, const char *head)
{
    put_text(bytes, head);
    while (bytes->size < 80)
        put_text(bytes, " ");
    put_whole(bytes, 4, 4);
    for (int f = 0; f < 4; ++f) {
        for (int i = 0; i < 3; ++i)
            put_float(bytes, NAN); // normals are not used
        for (int i = 0; i < 9; ++i)
            put_float(bytes, (float)tetrahedron[outward[f][i / 3]][i % 3]);
        put_whole(bytes, 0xffff, 2);
    }
}

static void test_stl_binary(void **state)
{
    (void)state;
    static const char *const heads[] = {"written by the test", "solid, though binary",
                                        "\xef\xbb\xbf"};
    for (size_t h = 0; h < 3; ++h) {
        struct bytes bytes = {0};
        put_tetrahedron_stl(&bytes, heads[h]);
        struct mesh mesh = read_bytes("binary.stl", &bytes);
        assert_int_equal(mesh.vertex_count, 4);
        assert_int_equal(mesh.merged_vertices, 8);
        assert_int_equal(mesh.triangle_count, 4);
        assert_true(six_volumes(&mesh) == 1);
        mesh_free(&mesh);
    }
}

// More positions than the first hash table of vertices can hold, in a grid with shared corners.
static void test_stl_many_vertices(void **state)
{
    (void)state;
    enum { SIDE = 60 };
    static char text[2 * SIDE * SIDE * 160];
    size_t length = (size_t)sprintf(text, "solid\n");
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j)
            length +=
                (size_t)sprintf(text + length,
                                "facet normal 0 0 1 outer loop\nvertex %d %d 0\nvertex %d %d 0\n"
                                "vertex %d %d -0\nendloop endfacet\n",
                                i, j, i + 1, j, i + 1, j + 1);
    length += (size_t)sprintf(text + length, "endsolid\n");
    struct mesh mesh = read_sound(write_file("grid.stl", text, length), "");
    assert_int_equal(mesh.triangle_count, SIDE * SIDE);
    assert_int_equal(mesh.vertex_count, (SIDE + 1) * (SIDE + 1) - 1); // no facet at (0, SIDE)
    assert_int_equal(mesh.merged_vertices, 3 * SIDE * SIDE - mesh.vertex_count);
    mesh_free(&mesh);
}

// ---- Processing common to all readers

static void test_unused_vertices_are_left_out(void **state)
{
    (void)state;
    static const char text[] = "v 9 9 9\nv 0 0 0\nv 8 8 8\nv 1 0 0\nv 0 1 0\nv 7 7 7\nf 2 4 5\n";
    struct mesh mesh = read_sound(write_file("unused.obj", text, sizeof text - 1), "");
    assert_int_equal(mesh.vertex_count, 3);
    assert_int_equal(mesh.unused_vertices, 3);
    static const double kept[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const uint32_t renumbered[3] = {0, 1, 2};
    assert_memory_equal(mesh.vertices, kept, sizeof kept);
    assert_memory_equal(mesh.triangles, renumbered, sizeof renumbered);
    mesh_free(&mesh);
}

static void refuse_path(const char *path, const char *text)
{
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    char expected[2048];
    assert_false(mesh_read(path, &mesh, &diagnostics));
    assert_null(mesh.vertices);
    snprintf(expected, sizeof expected, "%s: error: %s\n", path, text);
    assert_string_equal(findings_text(&diagnostics), expected);
}

// Files are read in chunks of a megabyte, and chunks before the last one are discarded: lines that
// lie across their ends, a line that is longer than a chunk, and lines that the next one continues.
enum { STRIP = 80000, COMMENT = 1500000 };

static char *make_strip(const char *first, const char *last, size_t *length)
{
    const size_t size = COMMENT + 100 * (size_t)STRIP;
    char *text = malloc(size);
    assert_non_null(text);
    size_t filled = (size_t)snprintf(text, size, "%s#", first);
    memset(text + filled, '\\', COMMENT);
    filled += COMMENT;
    filled += (size_t)snprintf(text + filled, size - filled, " \r\n");
    for (int i = 0; i < STRIP; ++i)
        filled += (size_t)snprintf(text + filled, size - filled, "v %d.5 \\\n%d %s\r\n", i, i % 2,
                                   i % 3 ? "0" : "0.000000000000000000000000000000");
    for (int i = 3; i <= STRIP; ++i)
        filled += (size_t)snprintf(text + filled, size - filled, "f %d/1 \\\r\n%d/2 %d/3\n", i - 2,
                                   i - 1, i);
    filled += (size_t)snprintf(text + filled, size - filled, "%s", last);
    assert_true(filled < size && filled > 5000000);
    *length = filled;
    return text;
}

// The only error of such a file.
static void refuse_strip(const char *first, const char *last, int line, int column,
                         const char *source)
{
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    size_t length;
    char *text = make_strip(first, last, &length);
    assert_false(mesh_read(write_file("strip.obj", text, length), &mesh, &diagnostics));
    assert_int_equal(diagnostics.error_count, 1);
    assert_int_equal(diagnostics.items[0].at.line, line);
    assert_int_equal(diagnostics.items[0].at.column, column);
    assert_string_equal(diagnostics.items[0].source_line, source);
    diagnostics_free(&diagnostics);
    free(text);
}

static void test_obj_of_many_chunks(void **state)
{
    (void)state;
    size_t length;
    char *text = make_strip("", "", &length);
    struct mesh mesh = read_sound(write_file("strip.obj", text, length), "");
    free(text);
    assert_int_equal(mesh.vertex_count, STRIP);
    assert_int_equal(mesh.triangle_count, STRIP - 2);
    for (uint32_t i = 0; i < STRIP; ++i) {
        assert_true(mesh.vertices[3 * (size_t)i] == i + 0.5);
        assert_true(mesh.vertices[3 * (size_t)i + 1] == i % 2);
    }
    for (uint32_t i = 0; i < STRIP - 2; ++i)
        for (uint32_t corner = 0; corner < 3; ++corner)
            assert_int_equal(mesh.triangles[3 * (size_t)i + corner], i + corner);
    // It is also so large that it is inspected part by part.
    struct mesh_report report;
    assert_true(mesh_inspect_and_orient(&mesh, &report));
    assert_int_equal(report.open_edges, STRIP);
    assert_int_equal(report.non_manifold_edges + report.non_manifold_vertices, 0);
    assert_int_equal(report.components, 1);
    assert_true(report.orientable && !report.closed);
    assert_int_equal(report.flipped_triangles, STRIP / 2 - 1);
    mesh_free(&mesh);

    refuse_strip("", "f 1 x 2", 1 + 2 * STRIP + 2 * (STRIP - 2) + 1, 5, "f 1 x 2");
    // The position in the file of a corner that turns out to be wrong at the end is found by
    // reading again.
    refuse_strip("f 1 2 80001\n", "", 1, 7, "f 1 2 80001");
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    const char *ending = "the name of a mesh file must end in .asc, .obj, .ply or .stl";
    refuse_path("duck.fbx", ending);
    refuse_path("duck", ending);
    refuse_path(".obj", ending);
    refuse_path("there/is/none.ply", "cannot read the mesh: No such file or directory");
    char folder[1024], device[1024];
    snprintf(folder, sizeof folder, "%s", write_file("folder.stl", "", 0));
    assert_int_equal(remove(folder), 0);
    assert_int_equal(symlink("/", folder), 0);
    refuse_path(folder, "cannot read the mesh: Is a directory");
    assert_int_equal(remove(folder), 0);
    snprintf(device, sizeof device, "%s", write_file("device.obj", "", 0));
    assert_int_equal(remove(device), 0);
    assert_int_equal(symlink("/dev/zero", device), 0);
    refuse_path(device, "cannot read the mesh: it is a device, not an ordinary file");
    assert_int_equal(remove(device), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asc_cube),
        cmocka_unit_test(test_asc_objects_become_one_mesh),
        cmocka_unit_test(test_obj_every_index),
        cmocka_unit_test(test_obj_forward_reference),
        cmocka_unit_test(test_obj_byte_order_mark),
        cmocka_unit_test(test_locale_does_not_matter),
        cmocka_unit_test(test_ply_ascii_any_order),
        cmocka_unit_test(test_stl_ascii_merges_corners),
        cmocka_unit_test(test_ply_little_endian),
        cmocka_unit_test(test_ply_big_endian),
        cmocka_unit_test(test_ply_types),
        cmocka_unit_test(test_ply_strips),
        cmocka_unit_test(test_ply_strip_files),
        cmocka_unit_test(test_ply_strips_of_a_ring),
        cmocka_unit_test(test_stl_binary),
        cmocka_unit_test(test_stl_many_vertices),
        cmocka_unit_test(test_unused_vertices_are_left_out),
        cmocka_unit_test(test_obj_of_many_chunks),
        cmocka_unit_test(test_files_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
