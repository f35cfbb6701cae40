// pc2.h, read back by tests/read_pc2.py, and obj.h, compared as text.
#include "test.h"

#include "output/obj.h"
#include "output/pc2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output_fixture.h"

static char *read_cache(const char *path, int *code)
{
    if (!fixture_exists("/usr/bin/python3")) {
        print_message("skipped: no /usr/bin/python3 here\n");
        skip();
    }
    char command[2048];
    snprintf(command, sizeof command, "/usr/bin/python3 '%s/tests/read_pc2.py' '%s' 2>&1",
             TAUT_TEST_SOURCE, path);
    return fixture_run(command, code);
}

static void assert_cache(const char *path, const char *expected)
{
    int code;
    char *text = read_cache(path, &code);
    assert_string_equal(text, expected);
    assert_int_equal(code, 0);
    free(text);
}

// Reads the file while the cache is still open: its state after a killed run.
static void test_header_is_true_after_every_sample(void **state)
{
    (void)state;
    const char *path = fixture_path(fixture_folder("point-cache"), "a.pc2");
    const double first[] = {0, 1, 2, 0.5, 1e9, -0.1}, second[] = {3, 4, 5, 6, 7, 8};
    struct pc2 cache;
    assert_int_equal(pc2_open(&cache, path, 2, 1.5, 0.02, NULL), TAUT_OK);
    assert_cache(path, "points 2 start 1.5 rate 0.0199999996 samples 0\n");
    assert_int_equal(pc2_add(&cache, first, NULL), TAUT_OK);
    assert_cache(path, "points 2 start 1.5 rate 0.0199999996 samples 1\n"
                       "0 1 2 0.5 1e+09 -0.100000001\n");
    assert_int_equal(pc2_add(&cache, second, NULL), TAUT_OK);
    assert_int_equal(pc2_close(&cache, NULL), TAUT_OK);
    assert_cache(path, "points 2 start 1.5 rate 0.0199999996 samples 2\n"
                       "0 1 2 0.5 1e+09 -0.100000001\n3 4 5 6 7 8\n");
}

// 300 samples: the count needs its second byte.
static void test_many_samples(void **state)
{
    (void)state;
    const char *path = fixture_path(fixture_folder("point-cache"), "a.pc2");
    struct pc2 cache;
    assert_int_equal(pc2_open(&cache, path, 1, 0, 0, NULL), TAUT_OK);
    for (int i = 0; i < 300; i++) {
        const double position[] = {i, 2 * i, 3 * i};
        assert_int_equal(pc2_add(&cache, position, NULL), TAUT_OK);
    }
    assert_int_equal(pc2_close(&cache, NULL), TAUT_OK);
    int code;
    char *text = read_cache(path, &code);
    assert_int_equal(code, 0);
    static const char head[] = "points 1 start 0 rate 1 samples 300\n0 0 0\n1 2 3\n";
    assert_memory_equal(text, head, strlen(head));
    assert_non_null(strstr(text, "\n299 598 897\n"));
    free(text);
}

static void test_reader_refuses_a_false_header(void **state)
{
    (void)state;
    const char *path = fixture_path(fixture_folder("point-cache"), "a.pc2");
    const double position[] = {0, 0, 0};
    struct pc2 cache;
    assert_int_equal(pc2_open(&cache, path, 1, 0, 0, NULL), TAUT_OK);
    file_write(&cache.file, position, 5);
    assert_int_equal(pc2_close(&cache, NULL), TAUT_OK);
    int code;
    char *text = read_cache(path, &code);
    assert_int_equal(code, 1);
    assert_non_null(strstr(text, "37 bytes do not hold 0 samples of 1 points"));
    free(text);
}

static void test_too_many_points(void **state)
{
    (void)state;
    const char *folder = fixture_folder("point-cache");
    struct pc2 cache;
    taut_error error = {0};
    assert_int_equal(pc2_open(&cache, fixture_path(folder, "a.pc2"), 2147483648u, 0, 0, &error),
                     TAUT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "a.pc2': a point cache has at most 2147483647 points"));
    assert_int_equal(fixture_count(folder), 0);
    assert_int_equal(pc2_close(&cache, NULL), TAUT_OK);
}

static void assert_mesh(size_t body, const char *expected)
{
    struct fixture fixture;
    fixture_fill(&fixture, 0, true);
    const char *path = fixture_path(fixture_folder("point-cache"), "a.obj");
    assert_int_equal(obj_write(path, &fixture.frame, body, NULL), TAUT_OK);
    char *text = fixture_read(path, NULL);
    assert_string_equal(text, expected);
    free(text);
}

static void test_mesh_with_faces_and_an_inner_node(void **state)
{
    (void)state;
    assert_mesh(FIXTURE_TETRAHEDRON, "# taut: rest mesh of body tet\no tet\n"
                                     "v 0 0.333333333 0.666666667\n"
                                     "v 1 1.33333333 1.66666667\n"
                                     "v 2 2.33333333 2.66666667\n"
                                     "v 3 3.33333333 3.66666667\n"
                                     "v 4 4.33333333 4.66666667\n"
                                     "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
                                     "l 1 5\n");
}

static void test_mesh_of_springs(void **state)
{
    (void)state;
    assert_mesh(FIXTURE_ROPE, "# taut: rest mesh of body rope\no rope\n"
                              "v 33.3333333 33.6666667 34\n"
                              "v 34.3333333 34.6666667 35\n"
                              "v 35.3333333 35.6666667 36\n"
                              "l 1 2\nl 2 3\n");
}

static void test_plane_body_is_drawn_by_its_springs(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_fill(&fixture, 0, true);
    const char *path = fixture_path(fixture_folder("point-cache"), "a.obj");
    assert_int_equal(obj_write(path, &fixture.frame, FIXTURE_RING, NULL), TAUT_OK);
    char *text = fixture_read(path, NULL);
    assert_non_null(strstr(text, "\nl 1 2\nl 2 3\nl 3 4\nl 4 1\n"));
    assert_null(strstr(text, "\nf "));
    free(text);
}

static void test_mesh_of_points(void **state)
{
    (void)state;
    assert_mesh(FIXTURE_BOB, "# taut: rest mesh of body bob\no bob\n"
                             "v 100 100.333333 100.666667\n"
                             "v 101 101.333333 101.666667\n");
}

static void test_node_without_springs_is_a_point(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_fill(&fixture, 0, true);
    fixture.bodies[FIXTURE_ROPE].spring_count = 1;
    const char *path = fixture_path(fixture_folder("point-cache"), "a.obj");
    assert_int_equal(obj_write(path, &fixture.frame, FIXTURE_ROPE, NULL), TAUT_OK);
    char *text = fixture_read(path, NULL);
    assert_non_null(strstr(text, "\nl 1 2\np 3\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_is_true_after_every_sample),
        cmocka_unit_test(test_many_samples),
        cmocka_unit_test(test_reader_refuses_a_false_header),
        cmocka_unit_test(test_too_many_points),
        cmocka_unit_test(test_mesh_with_faces_and_an_inner_node),
        cmocka_unit_test(test_mesh_of_springs),
        cmocka_unit_test(test_plane_body_is_drawn_by_its_springs),
        cmocka_unit_test(test_mesh_of_points),
        cmocka_unit_test(test_node_without_springs_is_a_point),
    };
    return cmocka_run_group_tests_name("point_cache", tests, NULL, NULL);
}
