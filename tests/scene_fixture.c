// Reads scenes from text and compares their diagnostics (scene_fixture.h).
#include "scene_fixture.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

taut_scene *read_scene(const char *text, const char *const *overrides, char **messages)
{
    struct scene_override list[20] = {{0}};
    struct diagnostics diagnostics = {0};
    size_t count = 0, size = 0;
    for (; overrides && overrides[count]; count++)
        list[count].text = overrides[count];
    taut_scene *scene = scene_read_text(text, strlen(text), "test.yaml", list, count, &diagnostics);
    FILE *out = open_memstream(messages, &size);
    assert_non_null(out);
    for (size_t i = 0; i < diagnostics.count; i++) {
        char *rendered = diagnostic_render(&diagnostics.items[i]);
        assert_non_null(rendered);
        fputs(rendered, out);
        free(rendered);
    }
    assert_int_equal(fclose(out), 0);
    assert_int_equal(scene == NULL, diagnostics.error_count > 0);
    diagnostics_free(&diagnostics);
    return scene;
}

taut_scene *read_sound(const char *text, const char *const *overrides)
{
    char *messages;
    taut_scene *scene = read_scene(text, overrides, &messages);
    assert_string_equal(messages, "");
    assert_non_null(scene);
    free(messages);
    return scene;
}

void expect_refusal(const char *text, const char *const *overrides, const char *expected)
{
    char *messages;
    taut_scene *scene = read_scene(text, overrides, &messages);
    assert_string_equal(messages, expected);
    assert_null(scene);
    free(messages);
}

const struct scene_body *find_body(const taut_scene *scene, const char *name)
{
    for (size_t i = 0; i < scene->body_count; i++)
        if (strcmp(scene->bodies[i].name, name) == 0)
            return &scene->bodies[i];
    fail_msg("no body '%s'", name);
    return NULL;
}
