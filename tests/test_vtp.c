// vtp.h and pvd.h: read back by VTK's own reader (tests/read_vtp.py), and compared byte by byte.
#include "test.h"

#include "output/pvd.h"
#include "output/vtp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "output_fixture.h"

// The output of tests/read_vtp.py for a file. Skips the test if VTK is missing.
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
        return NULL; // not reached, which a static analyser cannot know
    }
    if (code != 0)
        fail_msg("read_vtp.py %s: %d: %s", path, code, text);
    return text;
}

// Expected text, built piece by piece.
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
                             double *const *values)
{
    bool single = fixture->frame.single;
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

static void page_add_numbers(struct page *page, const double *numbers, size_t count, bool single)
{
    for (size_t i = 0; i < count; i++)
        page_add(page, " %.9g", single ? (double)(float)numbers[i] : numbers[i]);
}

// The means over the unbroken springs that meet at each node.
static void page_add_node_strains(struct page *page, bool single)
{
    const double strains[] = {2.875 / 4, 0,     0.75 / 3, 1.125 / 3, 2,     0.1, 0.1,
                              0,         0.125, -0.125,   0.125,     0.375, 0,   0};
    page_add(page, "point strain %s 14x1:", single ? "float" : "double");
    page_add_numbers(page, strains, 14, single);
    page_add(page, "\n");
}

static void page_add_cells(struct page *page, bool single, bool springs)
{
    const double strains[] = {0, 0,   0.5,  0.25,  0.125, -0.5, 0,  1,
                              2, 0.1, 0.75, -0.25, 0,     0.25, 0.5};
    const char *real = single ? "float" : "double";
    page_add(page, springs ? "cell body int 19x1: 3 3 0 0 0 0 0 0 0 1 1 2 2 2 2 0 0 0 0\n"
                           : "cell body int 12x1: 3 3 1 1 2 2 2 2 0 0 0 0\n");
    page_add(page, "cell strain %s %dx1:", real, springs ? 19 : 12);
    page_add_numbers(page, strains, 2, single);
    page_add_numbers(page, strains + (springs ? 2 : 9), springs ? 13 : 6, single);
    page_add_face_strains(page, single);
    page_add(page, springs ? "\ncell broken unsigned char 19x1: 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 "
                             "0 0\n"
                           : "\ncell broken unsigned char 12x1: 0 0 0 1 0 0 0 0 0 0 0 0\n");
}

static void check_read_back(bool single, bool all)
{
    struct fixture fixture;
    fixture_fill(&fixture, 3, single);
    const char *path = fixture_path(fixture_folder("vtp"), "a.vtp");
    const struct vtp_options options = {.springs = all, .forces = all};
    assert_int_equal(vtp_write(path, &fixture.frame, all ? &options : NULL, NULL), TAUT_OK);
    static struct page page;
    page.length = 0;
    page_add_vectors(&page, "points", &fixture, fixture.positions);
    page_add(&page, "verts 2: 12 13\n");
    page_add(&page, all ? "lines 13: 0-1 0-2 0-3 1-2 1-3 2-3 0-4 5-6 6-7 8-9 9-10 10-11 11-8\n"
                        : "lines 6: 5-6 6-7 8-9 9-10 10-11 11-8\n");
    page_add(&page, "strips 0: \n"
                    "polys 4: 0-2-1 0-1-3 0-3-2 1-2-3\n");
    page_add_vectors(&page, "point velocity", &fixture, fixture.velocities);
    page_add_node_strains(&page, single);
    page_add(&page, "point body int 14x1: 0 0 0 0 0 1 1 1 2 2 2 2 3 3\n");
    if (all)
        page_add_vectors(&page, "point force", &fixture, fixture.forces);
    page_add_cells(&page, single, all);
    page_add(&page,
             "texture none\ntime double 1x1: 0.75\nnames tet rope ring-2D bob\n"
             "body_springs %d 1 1 0\n",
             all);
    char *text = read_with_vtk(path);
    assert_string_equal(text, page.text);
    free(text);
}

static void test_single_is_read_back(void **state)
{
    (void)state;
    check_read_back(true, false);
    check_read_back(true, true);
}

static void test_double_is_read_back(void **state)
{
    (void)state;
    check_read_back(false, false);
    check_read_back(false, true);
}

static void test_scene_without_bodies(void **state)
{
    (void)state;
    struct frame empty = {.time = 1};
    const char *path = fixture_path(fixture_folder("vtp"), "empty.vtp");
    assert_int_equal(vtp_write(path, &empty, NULL, NULL), TAUT_OK);
    char *text = read_with_vtk(path);
    assert_non_null(strstr(text, "points double 0x3: \nverts 0: \nlines 0: \n"));
    assert_non_null(strstr(text, "time double 1x1: 1\n"));
    free(text);
}

// More values than the writer's buffer can take, so that blocks end between and inside values.
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
    struct frame_body body = {.name = "long",
                              .node_count = NODES,
                              .spring_count = NODES - 1,
                              .springs = (const uint32_t(*)[2])springs};
    struct frame now = {.shape = {.node_count = NODES, .spring_count = NODES - 1, .body_count = 1},
                        .fields = FRAME_NODES | FRAME_FORCES | FRAME_STRAINS,
                        .bodies = &body,
                        .positions = values,
                        .velocities = values,
                        .forces = values,
                        .strains = values};
    const char *path = fixture_path(fixture_folder("vtp"), "large.vtp");
    const struct vtp_options options = {.forces = true};
    assert_int_equal(vtp_write(path, &now, &options, NULL), TAUT_OK);
    char *text = read_with_vtk(path);
    assert_non_null(strstr(text, "lines 39999: 0-1 1-2 2-3 "));
    assert_non_null(strstr(text, " 39997-39998 39998-39999\n"));
    assert_non_null(strstr(text, " 119997 119998 119999\npoint strain double 40000x1: 0 0.5 1.5 "));
    free(text);
    free(values);
    free(springs);
}

// The springs of a torn cloth are written without a request, since they show where it tore.
static void test_springs_that_change_are_there(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_fill(&fixture, 0, true);
    fixture.bodies[FIXTURE_TETRAHEDRON].springs_change = true;
    const char *path = fixture_path(fixture_folder("vtp"), "a.vtp");
    assert_int_equal(vtp_write(path, &fixture.frame, NULL, NULL), TAUT_OK);
    char *text = read_with_vtk(path);
    assert_non_null(strstr(text, "\nlines 13: 0-1 "));
    free(text);
}

// Sheets between other bodies, larger than a block, in both precisions: u and v range from 0 to 1.
static void test_cloths_have_texture_coordinates(void **state)
{
    (void)state;
    enum { U = 300, V = 70, NODES = U * V };
    double *values = calloc(3 * (NODES + 2), sizeof *values);
    uint32_t *faces = calloc(3, sizeof *faces);
    assert_non_null(values);
    assert_non_null(faces);
    faces[1] = 1;
    faces[2] = 2;
    struct frame_body sheet = {.name = "sheet",
                               .node_count = NODES,
                               .first_node = 1,
                               .face_count = 1,
                               .face_arity = 3,
                               .faces = faces,
                               .sheet = {U, V}};
    struct frame_body bodies[] = {{.name = "bob", .node_count = 1},
                                  sheet,
                                  {.name = "bob", .first_node = NODES + 1, .node_count = 1}};
    struct frame now = {.shape = {.node_count = NODES + 2, .body_count = 3},
                        .fields = FRAME_NODES,
                        .bodies = bodies,
                        .positions = values,
                        .velocities = values};
    for (int i = 0; i < 2; i++) {
        const char *path = fixture_path(fixture_folder("vtp"), "sheet.vtp");
        now.single = i == 0;
        assert_int_equal(vtp_write(path, &now, NULL, NULL), TAUT_OK);
        char *text = read_with_vtk(path);
        char expected[128];
        snprintf(expected, sizeof expected, "\ntexture TextureCoordinates float %dx2: 0 0 0 0 ",
                 NODES + 2);
        assert_non_null(strstr(text, expected));
        // The last node of the first row, the first of the last, and the last of all.
        snprintf(expected, sizeof expected, " %.9g 0 1 0 0 %.9g ", (double)((float)(298.0 / 299)),
                 (double)(float)(1.0 / 69));
        assert_non_null(strstr(text, expected));
        assert_non_null(strstr(text, " 1 1 0 0\n"));
        free(text);
    }
    free(values);
    free(faces);
}

struct helpers {
    struct team *team;
};

static void work(void *owner, team_function function, void *context)
{
    team_work(((struct helpers *)owner)->team, function, context);
}

// For every number of threads, and whether or not constant data is reused from the previous frame.
static void test_frames_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { NODES = 150000 };
    double *values = calloc(3 * NODES, sizeof *values);
    uint32_t(*springs)[2] = calloc(NODES - 1, sizeof *springs);
    assert_non_null(values);
    assert_non_null(springs);
    for (size_t i = 0; i < 3 * NODES; i++)
        values[i] = sin((double)i);
    for (uint32_t i = 0; i + 1 < NODES; i++) {
        springs[i][0] = i;
        springs[i][1] = i + 1;
    }
    struct frame_body body = {.name = "long",
                              .node_count = NODES,
                              .spring_count = NODES - 1,
                              .springs = (const uint32_t(*)[2])springs};
    struct frame now = {.shape = {.node_count = NODES, .spring_count = NODES - 1, .body_count = 1},
                        .fields = FRAME_NODES | FRAME_STRAINS,
                        .single = true,
                        .bodies = &body,
                        .positions = values,
                        .velocities = values,
                        .strains = values};
    const char *folder = fixture_folder("vtp");
    char *files[6];
    size_t lengths[6];
    for (int threads = 1; threads <= 3; threads++) {
        struct helpers helpers = {team_make(threads, NULL)};
        const struct vtp_options options = {.work = work, .owner = &helpers};
        struct vtp_writer *writer;
        assert_int_equal(vtp_writer_make(threads > 1 ? &options : NULL, &writer, NULL), TAUT_OK);
        for (int frame = 0; frame < 2; frame++) {
            char name[32];
            snprintf(name, sizeof name, "%d_%d.vtp", threads, frame);
            const char *path = fixture_path(folder, name);
            assert_int_equal(vtp_writer_frame(writer, path, &now, NULL), TAUT_OK);
            files[2 * (threads - 1) + frame] =
                fixture_read(path, &lengths[2 * (threads - 1) + frame]);
        }
        vtp_writer_free(writer);
        team_free(helpers.team);
    }
    for (int i = 0; i < 6; i++) {
        assert_int_equal(lengths[i], lengths[0]);
        assert_memory_equal(files[i], files[0], lengths[0]);
    }
    for (int i = 0; i < 6; i++)
        free(files[i]);
    free(values);
    free(springs);
}

static uint64_t word_at(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

// Without a reader: the first offset of the header leads to the first array, whose only block zlib
// unpacks to the velocities.
static void test_layout_of_the_appended_data(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_fill(&fixture, 0, true);
    const char *path = fixture_path(fixture_folder("vtp"), "a.vtp");
    assert_int_equal(vtp_write(path, &fixture.frame, NULL, NULL), TAUT_OK);
    size_t length;
    char *bytes = fixture_read(path, &length);
    const char *mark = strstr(bytes, "<AppendedData encoding=\"raw\">\n   _");
    assert_non_null(mark);
    const char *array = strchr(mark, '_') + 1;
    assert_int_equal(word_at(array), 1);
    assert_int_equal(word_at(array + 8), VTP_BLOCK_BYTES / 12 * 12);
    assert_int_equal(word_at(array + 16), FIXTURE_NODE_COUNT * 12);
    uint64_t packed = word_at(array + 24);
    float velocities[3 * FIXTURE_NODE_COUNT];
    uLongf got = sizeof velocities;
    assert_int_equal(uncompress((Bytef *)velocities, &got, (const Bytef *)array + 32, packed),
                     Z_OK);
    assert_int_equal(got, sizeof velocities);
    assert_true(velocities[3] == -1.0f);
    static const char tail[] = "\n  </AppendedData>\n</VTKFile>\n";
    assert_string_equal(bytes + length - strlen(tail), tail);
    const char *strain = strstr(bytes, "Name=\"strain\"");
    assert_non_null(strain);
    char expected[64];
    snprintf(expected, sizeof expected, "offset=\"%d\" ", (int)(32 + packed));
    const char *found = strstr(strain, "offset=\"");
    assert_non_null(found);
    assert_memory_equal(found, expected, strlen(expected));
    free(bytes);
}

static void test_collection(void **state)
{
    (void)state;
    const char *folder = fixture_folder("vtp");
    struct fixture fixture;
    const struct pvd_frame frames[] = {{.time = 0}, {.time = 0.25}};
    for (unsigned frame = 0; frame < 2; frame++) {
        char name[64];
        snprintf(name, sizeof name, "flag & <\"wind's\">_%06u.vtp", frame);
        fixture_fill(&fixture, frame, true);
        assert_int_equal(vtp_write(fixture_path(folder, name), &fixture.frame, NULL, NULL),
                         TAUT_OK);
    }
    const char *path = fixture_path(folder, "all.pvd");
    assert_int_equal(pvd_write(path, "flag & <\"wind's\">", frames, 2, NULL), TAUT_OK);
    char *plain = fixture_read(path, NULL);
    assert_non_null(strstr(plain,
                           "timestep=\"0.25\" part=\"0\" "
                           "file=\"flag &amp; &lt;&quot;wind&apos;s&quot;&gt;_000001.vtp\"/>"));
    free(plain);
    char *text = read_with_vtk(path);
    assert_string_equal(text,
                        "0 flag & <\"wind's\">_000000.vtp: time 0, 14 points, 12 cells\n"
                        "0.25 flag & <\"wind's\">_000001.vtp: time 0.25, 14 points, 12 cells\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_is_read_back),
        cmocka_unit_test(test_double_is_read_back),
        cmocka_unit_test(test_scene_without_bodies),
        cmocka_unit_test(test_large_body),
        cmocka_unit_test(test_springs_that_change_are_there),
        cmocka_unit_test(test_cloths_have_texture_coordinates),
        cmocka_unit_test(test_frames_do_not_depend_on_threads),
        cmocka_unit_test(test_layout_of_the_appended_data),
        cmocka_unit_test(test_collection),
    };
    return cmocka_run_group_tests_name("vtp", tests, NULL, NULL);
}
