// vtp.h and pvd.h: read back by VTK's own reader (tests/read_vtp.py), and as bytes.
#include "output/pvd.h"
#include "output/vtp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output_fixture.h"

#include <cmocka.h>

// What tests/read_vtp.py prints about a file. Skips the test where there is nothing to read with.
static char *read_with_vtk(const char *path)
{
    if (!fixture_exists("/usr/bin/python3")) {
        print_message("skipped: no /usr/bin/python3 here\n");
        skip();
    }
    char command[2048];
    snprintf(command, sizeof command, "/usr/bin/python3 '%s/tests/read_vtp.py' '%s' 2>&1",
             TAUT_TEST_SOURCE, path);
    int code;
    char *text = fixture_run(command, &code);
    if (code == 77) {
        print_message("skipped: %s", text);
        free(text);
        skip();
        return NULL; // not reached, which an analyser cannot know
    }
    if (code != 0)
        fail_msg("read_vtp.py %s: %d: %s", path, code, text);
    return text;
}

// Expected text, made piece by piece.
struct page {
    char text[16384];
    size_t length;
};

static void page_add(struct page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(page->text + page->length, sizeof page->text - page->length, format, arguments);
    va_end(arguments);
    assert_in_range(length, 0, sizeof page->text - page->length - 1);
    page->length += (size_t)length;
}

static void page_add_vectors(struct page *page, const char *label, const struct fixture *fixture,
                             const double (*values)[3 * FIXTURE_NODES_MAX])
{
    bool single = fixture->snapshot.single;
    page_add(page, "%s %s %dx3:", label, single ? "float" : "double", FIXTURE_NODE_COUNT);
    for (size_t b = 0; b < FIXTURE_BODY_COUNT; b++)
        for (size_t i = 0; i < 3 * fixture->bodies[b].node_count; i++)
            page_add(page, " %.9g", single ? (double)(float)values[b][i] : values[b][i]);
    page_add(page, "\n");
}

// The strain of the tetrahedron's faces: the mean over the springs at their three corners.
static void page_add_face_strains(struct page *page, bool single)
{
    const double sums[] = {0.5 + 0.25 + 0.125 + 2, 0.5 - 0.5 + 0, 0.25 - 0.5 + 1, 0.125 + 0 + 1};
    const int counts[] = {4, 3, 3, 3};
    const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    for (int i = 0; i < 4; i++) {
        double sum = 0;
        int count = 0;
        for (int corner = 0; corner < 3; corner++) {
            sum += sums[faces[i][corner]];
            count += counts[faces[i][corner]];
        }
        page_add(page, " %.9g", single ? (double)(float)(sum / count) : sum / count);
    }
}

static void page_add_cells(struct page *page, bool single)
{
    const double strains[] = {0, 0,   0.5,  0.25,  0.125, -0.5, 0,  1,
                              2, 0.1, 0.75, -0.25, 0,     0.25, 0.5};
    const char *real = single ? "float" : "double";
    page_add(page, "cell strain %s 19x1:", real);
    for (size_t i = 0; i < sizeof strains / sizeof strains[0]; i++)
        page_add(page, " %.9g", single ? (double)(float)strains[i] : strains[i]);
    page_add_face_strains(page, single);
    page_add(page, "\ncell body int 19x1: 3 3 0 0 0 0 0 0 0 1 1 2 2 2 2 0 0 0 0\n"
                   "cell broken unsigned char 19x1: 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0\n");
}

static void check_read_back(bool single)
{
    struct fixture fixture;
    fixture_fill(&fixture, 3, single);
    const char *path = fixture_path(fixture_folder("vtp"), "a.vtp");
    assert_int_equal(vtp_write(path, &fixture.snapshot, NULL), TAUT_OK);
    static struct page page;
    page.length = 0;
    page_add_vectors(&page, "points", &fixture, fixture.positions);
    page_add(&page, "verts 2: 12 13\n"
                    "lines 13: 0-1 0-2 0-3 1-2 1-3 2-3 0-4 5-6 6-7 8-9 9-10 10-11 11-8\n"
                    "strips 0: \n"
                    "polys 4: 0-2-1 0-1-3 0-3-2 1-2-3\n");
    page_add_vectors(&page, "point velocity", &fixture, fixture.velocities);
    page_add_vectors(&page, "point force", &fixture, fixture.forces);
    page_add(&page, "point body int 14x1: 0 0 0 0 0 1 1 1 2 2 2 2 3 3\n");
    page_add_cells(&page, single);
    page_add(&page, "time double 1x1: 0.75\nnames tet rope ring-2D bob\n");
    char *text = read_with_vtk(path);
    assert_string_equal(text, page.text);
    free(text);
}

static void test_single_is_read_back(void **state)
{
    (void)state;
    check_read_back(true);
}

static void test_double_is_read_back(void **state)
{
    (void)state;
    check_read_back(false);
}

static void test_scene_without_bodies(void **state)
{
    (void)state;
    struct snapshot empty = {.time = 1};
    const char *path = fixture_path(fixture_folder("vtp"), "empty.vtp");
    assert_int_equal(vtp_write(path, &empty, NULL), TAUT_OK);
    char *text = read_with_vtk(path);
    assert_non_null(strstr(text, "points double 0x3: \nverts 0: \nlines 0: \n"));
    assert_non_null(strstr(text, "time double 1x1: 1\n"));
    free(text);
}

// More values than the writer's buffer holds, so that blocks are cut between and inside values.
static void test_large_body(void **state)
{
    (void)state;
    enum { NODES = 40000 };
    double *values = calloc(3 * NODES, sizeof *values);
    uint32_t(*springs)[2] = calloc(NODES - 1, sizeof *springs);
    assert_non_null(values);
    assert_non_null(springs);
    for (size_t i = 0; i < 3 * NODES; i++)
        values[i] = (double)i;
    for (uint32_t i = 0; i + 1 < NODES; i++) {
        springs[i][0] = i;
        springs[i][1] = i + 1;
    }
    struct snapshot_body body = {.name = "long",
                                 .node_count = NODES,
                                 .positions = values,
                                 .velocities = values,
                                 .forces = values,
                                 .spring_count = NODES - 1,
                                 .springs = (const uint32_t(*)[2])springs,
                                 .strains = values};
    struct snapshot now = {.bodies = &body, .body_count = 1};
    const char *path = fixture_path(fixture_folder("vtp"), "large.vtp");
    assert_int_equal(vtp_write(path, &now, NULL), TAUT_OK);
    char *text = read_with_vtk(path);
    assert_non_null(strstr(text, "lines 39999: 0-1 1-2 2-3 "));
    assert_non_null(strstr(text, " 39997-39998 39998-39999\n"));
    assert_non_null(strstr(text, " 119997 119998 119999\npoint force double 40000x3: 0 1 2 "));
    free(text);
    free(values);
    free(springs);
}

// Without any reader: the header's first offset leads to the first block, whose length is right.
static void test_layout_of_the_appended_data(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_fill(&fixture, 0, true);
    const char *path = fixture_path(fixture_folder("vtp"), "a.vtp");
    assert_int_equal(vtp_write(path, &fixture.snapshot, NULL), TAUT_OK);
    size_t length;
    char *bytes = fixture_read(path, &length);
    const char *mark = strstr(bytes, "<AppendedData encoding=\"raw\">\n   _");
    assert_non_null(mark);
    const char *block = strchr(mark, '_') + 1;
    static const unsigned char velocity_bytes[8] = {FIXTURE_NODE_COUNT * 12};
    assert_memory_equal(block, velocity_bytes, 8);
    float third;
    memcpy(&third, block + 8 + 3 * sizeof third, sizeof third);
    assert_true(third == -1.0f);
    static const char tail[] = "\n  </AppendedData>\n</VTKFile>\n";
    assert_string_equal(bytes + length - strlen(tail), tail);
    const char *offset = strstr(bytes, "Name=\"force\"");
    assert_non_null(offset);
    char expected[64];
    snprintf(expected, sizeof expected, "offset=\"%d\"", 8 + FIXTURE_NODE_COUNT * 12);
    const char *found = strstr(offset, "offset=\"");
    assert_non_null(found);
    assert_memory_equal(found, expected, strlen(expected));
    free(bytes);
}

static void test_collection(void **state)
{
    (void)state;
    const char *folder = fixture_folder("vtp");
    struct fixture fixture;
    const double times[] = {0, 0.25};
    for (unsigned frame = 0; frame < 2; frame++) {
        char name[64];
        snprintf(name, sizeof name, "flag & <\"wind's\">_%06u.vtp", frame);
        fixture_fill(&fixture, frame, true);
        assert_int_equal(vtp_write(fixture_path(folder, name), &fixture.snapshot, NULL), TAUT_OK);
    }
    const char *path = fixture_path(folder, "all.pvd");
    assert_int_equal(pvd_write(path, "flag & <\"wind's\">", times, 2, NULL), TAUT_OK);
    char *plain = fixture_read(path, NULL);
    assert_non_null(strstr(plain,
                           "timestep=\"0.25\" part=\"0\" "
                           "file=\"flag &amp; &lt;&quot;wind&apos;s&quot;&gt;_000001.vtp\"/>"));
    free(plain);
    char *text = read_with_vtk(path);
    assert_string_equal(text,
                        "0 flag & <\"wind's\">_000000.vtp: time 0, 14 points, 19 cells\n"
                        "0.25 flag & <\"wind's\">_000001.vtp: time 0.25, 14 points, 19 cells\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_is_read_back),
        cmocka_unit_test(test_double_is_read_back),
        cmocka_unit_test(test_scene_without_bodies),
        cmocka_unit_test(test_large_body),
        cmocka_unit_test(test_layout_of_the_appended_data),
        cmocka_unit_test(test_collection),
    };
    return cmocka_run_group_tests_name("vtp", tests, NULL, NULL);
}
