// base/diagnostics: collecting, rendering, sorting and suggesting.
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"

static void expect_rendered(struct diagnostic item, const char *expected)
{
    char *text = diagnostic_render(&item);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void test_render_whole(void **state)
{
    (void)state;
    expect_rendered((struct diagnostic){.file = "flag.yaml",
                                        .at = {3, 5},
                                        .text = "unknown key 'stifness'",
                                        .source_line = "    stifness: 4",
                                        .hint = "stiffness"},
                    "flag.yaml:3:5: error: unknown key 'stifness'\n"
                    "        stifness: 4\n"
                    "        ^\n"
                    "    did you mean 'stiffness'?\n");
}

static void test_render_levels_and_places(void **state)
{
    (void)state;
    expect_rendered((struct diagnostic){.level = DIAGNOSTIC_WARNING, .file = "f", .text = "t"},
                    "f: warning: t\n");
    expect_rendered(
        (struct diagnostic){.level = DIAGNOSTIC_NOTE, .file = "f", .at = {7, 0}, .text = "t"},
        "f:7: note: t\n");
    // A line without a column is shown without a caret, a blank line is not shown.
    expect_rendered(
        (struct diagnostic){.file = "f", .at = {7, 0}, .text = "t", .source_line = "abc"},
        "f:7: error: t\n    abc\n");
    expect_rendered(
        (struct diagnostic){.file = "f", .at = {7, 1}, .text = "t", .source_line = "  "},
        "f:7:1: error: t\n");
}

// Columns count characters; tabs are shown as one; control characters do not reach the terminal.
static void test_render_characters(void **state)
{
    (void)state;
    expect_rendered((struct diagnostic){.file = "f",
                                        .at = {1, 4},
                                        .text = "a\x1b[31mb",
                                        .source_line = "\xc5\xbe\t\x1b"
                                                       "x\xff\xc2\x9b"},
                    "f:1:4: error: a?[31mb\n"
                    "    \xc5\xbe ?x??\n"
                    "       ^\n");
}

static void test_render_long_line(void **state)
{
    (void)state;
    char line[1001];
    memset(line, 'a', 1000);
    line[1000] = '\0';
    line[499] = 'X';
    struct diagnostic item = {.file = "f", .at = {1, 500}, .text = "t", .source_line = line};
    char *text = diagnostic_render(&item);
    assert_non_null(text);
    const char *shown = strchr(text, '\n') + 1;
    const char *caret_line = strchr(shown, '\n') + 1;
    assert_true(caret_line - shown < 140);
    assert_memory_equal(shown, "    ...a", 8);
    assert_memory_equal(caret_line - 5, "a...\n", 5);
    assert_int_equal(shown[strchr(caret_line, '^') - caret_line], 'X');
    free(text);
    // At the end of the line nothing is cut off after it.
    item.at.column = 1000;
    text = diagnostic_render(&item);
    assert_non_null(strstr(text, "aaa\n"));
    assert_null(strstr(text, "a...\n"));
    free(text);
}

static void test_collect(void **state)
{
    (void)state;
    struct diagnostics list = {0};
    diagnostics_add(&list, DIAGNOSTIC_WARNING, "f", (mark){1, 1}, NULL, NULL, "number %d", 1);
    diagnostics_add(&list, DIAGNOSTIC_ERROR, "f", (mark){2, 1}, "line", "hint", "number %d", 2);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.error_count, 1);
    assert_string_equal(list.items[0].text, "number 1");
    assert_string_equal(list.items[1].text, "number 2");
    assert_string_equal(list.items[1].source_line, "line");
    assert_string_equal(list.items[1].hint, "hint");
    diagnostics_free(&list);
    assert_null(list.items);
    assert_int_equal(list.count, 0);
}

static void test_collect_too_many(void **state)
{
    (void)state;
    struct diagnostics list = {0};
    for (int i = 0; i < DIAGNOSTICS_MAX + 50; i++)
        diagnostics_add(&list, DIAGNOSTIC_ERROR, "f", (mark){i, 1}, NULL, NULL, "x");
    assert_int_equal(list.count, DIAGNOSTICS_MAX);
    assert_int_equal(list.dropped, 50);
    assert_int_equal(list.error_count, DIAGNOSTICS_MAX + 50);
    diagnostics_free(&list);
}

static void test_sort(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        mark at;
        const char *text;
    } given[] = {{"z", {9, 9}, "first stays"}, {"b", {2, 5}, "b2"}, {"a", {1, 1}, "a1"},
                 {"b", {2, 1}, "b1"},          {"a", {3, 1}, "a2"}, {"b", {2, 5}, "b3"},
                 {"a", {1, 1}, "a1 again"}};
    static const char *const expected[] = {"first stays", "b1", "b2", "b3", "a1", "a1 again", "a2"};
    struct diagnostics list = {0};
    for (size_t i = 0; i < 7; i++)
        diagnostics_add(&list, DIAGNOSTIC_ERROR, given[i].file, given[i].at, NULL, NULL, "%s",
                        given[i].text);
    diagnostics_sort(&list, 1);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(list.items[i].text, expected[i]);
    diagnostics_free(&list);
}

static void test_nearest_name(void **state)
{
    (void)state;
    static const char *const keys[] = {"stiffness", "damping", "damping_law", "law", "dt", "node"};
    const size_t count = sizeof keys / sizeof keys[0];
    assert_string_equal(nearest_name("stifness", keys, count), "stiffness");   // a letter omitted
    assert_string_equal(nearest_name("stiffnesss", keys, count), "stiffness"); // added
    assert_string_equal(nearest_name("dampung", keys, count), "damping");      // changed
    assert_string_equal(nearest_name("dampign", keys, count), "damping");      // swapped
    assert_string_equal(nearest_name("damping_lw", keys, count), "damping_law");
    assert_string_equal(nearest_name("lwa", keys, count), "law");
    assert_string_equal(nearest_name("damping", keys, count), "damping");
    assert_string_equal(nearest_name("stiff", keys, count), "stiffness");     // its beginning
    assert_string_equal(nearest_name("STIFFNESS", keys, count), "stiffness"); // of either case
    assert_string_equal(nearest_name("Dampign", keys, count), "damping");
    assert_string_equal(nearest_name("STIFF", keys, count), "stiffness");
    assert_null(nearest_name("colour", keys, count));
    assert_null(nearest_name("COLOUR", keys, count));
    assert_null(nearest_name("dx", keys, count)); // half of the letters differ
    assert_null(nearest_name("", keys, count));
    assert_null(nearest_name("stiffness", keys, 0));
    char huge[5000];
    memset(huge, 's', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    assert_null(nearest_name(huge, keys, count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_render_whole),
        cmocka_unit_test(test_render_levels_and_places),
        cmocka_unit_test(test_render_characters),
        cmocka_unit_test(test_render_long_line),
        cmocka_unit_test(test_collect),
        cmocka_unit_test(test_collect_too_many),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_nearest_name),
    };
    return cmocka_run_group_tests_name("diagnostics", tests, NULL, NULL);
}
