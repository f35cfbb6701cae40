// scene/mesh: broken files, each with the complete diagnostics that the reader must report.
#include "test.h"

#include "broken_meshes.h"
#include "mesh_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Replaces every FILE in `findings` by the name of the file.
static void expand(const char *findings, const char *name, char *expanded, size_t size)
{
    size_t length = 0;
    expanded[0] = '\0';
    while (*findings) {
        bool is_name = strncmp(findings, "FILE:", 5) == 0;
        int added = is_name ? snprintf(expanded + length, size - length, "%s", name)
                            : snprintf(expanded + length, size - length, "%c", *findings);
        assert_true(added >= 0 && length + (size_t)added < size);
        length += (size_t)added;
        findings += is_name ? 4 : 1;
    }
}

static void test_case(void **state)
{
    const struct broken *broken = *state;
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    char expected[4096];
    expand(broken->findings, "duck", expected, sizeof expected);
    // A copy of exactly this size, so that a sanitizer detects reads beyond the end.
    char *copy = malloc(broken->size ? broken->size : 1);
    assert_non_null(copy);
    memcpy(copy, broken->data, broken->size);
    bool sound = mesh_read_memory(broken->format, copy, broken->size, "duck", &mesh, &diagnostics);
    free(copy);
    assert_string_equal(findings_text(&diagnostics), expected);
    assert_false(sound);
    assert_null(mesh.vertices);
    assert_null(mesh.triangles);
}

static void test_caret(void **state)
{
    (void)state;
    static const char text[] = "v 0 0 0\nv 1 0 0\n\tv 0 1 oops # here\n";
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    assert_false(
        mesh_read_memory(MESH_OBJ, text, sizeof text - 1, "duck.obj", &mesh, &diagnostics));
    char *rendered = diagnostic_render(&diagnostics.items[0]);
    assert_string_equal(rendered, "duck.obj:3:8: error: 'oops' is not a number\n"
                                  "     v 0 1 oops # here\n"
                                  "           ^\n");
    free(rendered);
    diagnostics_free(&diagnostics);
}

static void test_too_many_errors(void **state)
{
    (void)state;
    char text[8000];
    size_t length = 0;
    for (int i = 0; i < 1000; ++i)
        length += (size_t)snprintf(text + length, sizeof text - length, "v x\n");
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    assert_false(mesh_read_memory(MESH_OBJ, text, length, "duck", &mesh, &diagnostics));
    assert_int_equal(diagnostics.error_count, MESH_ERRORS_MAX);
    assert_int_equal(diagnostics.count, MESH_ERRORS_MAX + 1);
    assert_int_equal(diagnostics.items[MESH_ERRORS_MAX].level, DIAGNOSTIC_NOTE);
    assert_string_equal(diagnostics.items[MESH_ERRORS_MAX].text,
                        "too many errors: the rest of the file is not checked");
    diagnostics_free(&diagnostics);
}

// A valid binary file truncated to any length is rejected.
static void refuse_all_lengths(enum mesh_format format, const struct bytes *whole)
{
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    assert_true(mesh_read_memory(format, whole->data, whole->size, "duck", &mesh, &diagnostics));
    mesh_free(&mesh);
    for (size_t size = 0; size < whole->size; ++size) {
        char *copy = malloc(size ? size : 1);
        assert_non_null(copy);
        memcpy(copy, whole->data, size);
        assert_false(mesh_read_memory(format, copy, size, "duck", &mesh, &diagnostics));
        assert_int_equal(diagnostics.error_count, 1);
        diagnostics_free(&diagnostics);
        free(copy);
    }
}

static void test_truncated_ply(void **state)
{
    (void)state;
    struct bytes bytes = {0};
    put_text(&bytes, "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\n"
                     "property float y\nproperty float z\nelement face 1\n"
                     "property list uchar int vertex_index\nend_header\n");
    for (int i = 0; i < 9; ++i)
        put_float(&bytes, (float)(i * i));
    put_whole(&bytes, 3, 1);
    for (unsigned i = 0; i < 3; ++i)
        put_whole(&bytes, i, 4);
    refuse_all_lengths(MESH_PLY, &bytes);
}

static void test_truncated_strips(void **state)
{
    (void)state;
    struct bytes bytes = {.big_endian = true};
    put_text(&bytes, "ply\nformat binary_big_endian 1.0\nelement vertex 4\nproperty float x\n"
                     "property float y\nproperty float z\nelement tristrips 1\n"
                     "property list int int vertex_indices\nend_header\n");
    for (int i = 0; i < 12; ++i)
        put_float(&bytes, (float)(i * i % 7));
    static const int items[] = {0, 1, 2, 3, -1, 3, 2, 1};
    put_whole(&bytes, 8, 4);
    for (int i = 0; i < 8; ++i)
        put_whole(&bytes, (uint64_t)(int64_t)items[i], 4);
    refuse_all_lengths(MESH_PLY, &bytes);
}

static void put_stl(struct bytes *bytes, uint32_t facets)
{
    put_text(bytes, "solid by name only");
    while (bytes->size < 80)
        put_whole(bytes, 0, 1);
    put_whole(bytes, facets, 4);
    for (int f = 0; f < 2; ++f) {
        for (int i = 0; i < 12; ++i)
            put_float(bytes, (float)(i * i + f));
        put_whole(bytes, 0, 2);
    }
}

static void test_truncated_stl(void **state)
{
    (void)state;
    struct bytes bytes = {0};
    put_stl(&bytes, 2);
    refuse_all_lengths(MESH_STL, &bytes);
}

static void refuse_stl(const struct bytes *bytes, const char *findings)
{
    struct mesh mesh;
    struct diagnostics diagnostics = {0};
    assert_false(mesh_read_memory(MESH_STL, bytes->data, bytes->size, "duck", &mesh, &diagnostics));
    assert_string_equal(findings_text(&diagnostics), findings);
}

static void test_lying_stl(void **state)
{
    (void)state;
    struct bytes bytes = {0};
    put_stl(&bytes, UINT32_MAX);
    refuse_stl(&bytes,
               "duck: error: not an ASCII STL file, which begins with 'solid', and a binary "
               "one of 4294967295 facets would have 214748364834 bytes, not 184\n");
    struct bytes infinite = {0};
    put_stl(&infinite, 2);
    infinite.data[84 + 50 + 12 + 3] = 0x7f;
    infinite.data[84 + 50 + 12 + 2] = 0x80;
    refuse_stl(&infinite, "duck: error: facet 1 has a coordinate that is not finite\n");
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_caret),
        cmocka_unit_test(test_too_many_errors),
        cmocka_unit_test(test_truncated_strips),
        cmocka_unit_test(test_truncated_ply),
        cmocka_unit_test(test_truncated_stl),
        cmocka_unit_test(test_lying_stl),
    };
    static struct CMUnitTest tests[256];
    size_t count = sizeof others / sizeof *others;
    if (count + broken_mesh_count > sizeof tests / sizeof *tests)
        return 1;
    memcpy(tests, others, sizeof others);
    for (size_t i = 0; i < broken_mesh_count; ++i)
        tests[count++] = (struct CMUnitTest){.name = broken_meshes[i].name,
                                             .test_func = test_case,
                                             .initial_state = (void *)&broken_meshes[i]};
    return _cmocka_run_group_tests("mesh_broken", tests, count, NULL, NULL);
}
