// Broken scenes: each data/broken/NAME.yaml must be rejected with exactly the text of
// NAME.expected: every message with its position, source line, caret and suggestion.
// TAUT_UPDATE_EXPECTED=1 writes the .expected files again; check the difference before committing
// it.
#include "test.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scene/reader.h"

enum { SCENES_MIN = 60, SCENES_MAX = 1000 };

// All diagnostics rendered, one after the other.
static char *render_all(const struct diagnostics *diagnostics)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (size_t i = 0; i < diagnostics->count; i++) {
        char *rendered = diagnostic_render(&diagnostics->items[i]);
        assert_non_null(rendered);
        fputs(rendered, out);
        free(rendered);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 16) - 1, file);
    assert_true(length < (1 << 16) - 1);
    fclose(file);
    return text;
}

static void expected_path(const char *scene, char *path, size_t size)
{
    size_t stem = strlen(scene) - strlen(".yaml");
    assert_true((size_t)snprintf(path, size, "%.*s.expected", (int)stem, scene) < size);
}

static void update_expected(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_scene(void **state)
{
    const char *scene = *state;
    char path[300];
    struct diagnostics diagnostics = {0};
    assert_null(scene_read_file(scene, NULL, 0, &diagnostics));
    assert_true(diagnostics.error_count > 0);
    assert_int_equal(diagnostics.error_count, diagnostics.count);
    char *text = render_all(&diagnostics);
    expected_path(scene, path, sizeof path);
    if (getenv("TAUT_UPDATE_EXPECTED"))
        update_expected(path, text);
    char *expected = read_text(path);
    if (!expected)
        fail_msg("%s is missing", path);
    assert_string_equal(text, expected);
    free(expected);
    free(text);
    diagnostics_free(&diagnostics);
}

// ---- The list of tests: the files of the folder

static size_t scene_count;
static struct CMUnitTest tests[SCENES_MAX + 1];

static void test_enough_scenes(void **state)
{
    (void)state;
    assert_true(scene_count >= SCENES_MIN);
}

static int compare_tests(const void *a, const void *b)
{
    return strcmp(((const struct CMUnitTest *)a)->name, ((const struct CMUnitTest *)b)->name);
}

static bool list_scenes(void)
{
    DIR *folder = opendir(".");
    if (!folder)
        return false;
    for (struct dirent *entry; (entry = readdir(folder)) && scene_count < SCENES_MAX;) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".yaml") != 0)
            continue;
        char *name = strdup(entry->d_name);
        if (!name)
            break;
        tests[scene_count++] =
            (struct CMUnitTest){.name = name, .test_func = test_scene, .initial_state = name};
    }
    closedir(folder);
    qsort(tests, scene_count, sizeof tests[0], compare_tests);
    return true;
}

int main(void)
{
    if (chdir(TAUT_TEST_DATA "/broken") != 0 || !list_scenes()) {
        fprintf(stderr, "cannot list %s/broken\n", TAUT_TEST_DATA);
        return 1;
    }
    tests[scene_count] =
        (struct CMUnitTest){.name = "test_enough_scenes", .test_func = test_enough_scenes};
    int failures = _cmocka_run_group_tests("broken_scenes", tests, scene_count + 1, NULL, NULL);
    for (size_t i = 0; i < scene_count; i++)
        free(tests[i].initial_state);
    return failures;
}
