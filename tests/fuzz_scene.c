// libFuzzer: any bytes as a scene. The reader must not crash, must explain every rejection, and
// must read back the resolved scene that it writes. A first line "--set PATH=VALUE" is an override.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void read_back(const taut_scene *scene)
{
    struct diagnostics diagnostics = {0};
    char *text = scene_resolved_yaml(scene);
    check(text != NULL, "a sound scene cannot be written");
    taut_scene *again =
        scene_read_text(text, strlen(text), "/tmp/fuzz.yaml", NULL, 0, &diagnostics);
    if (!again && diagnostics.count > 0) {
        char *message = diagnostic_render(&diagnostics.items[0]);
        fprintf(stderr, "%s\n%s", text, message);
        free(message);
    }
    check(again != NULL, "a resolved scene is refused");
    char *second = scene_resolved_yaml(again);
    check(second && strcmp(text, second) == 0, "a resolved scene resolves to another one");
    free(second);
    free(text);
    scene_free(again);
    diagnostics_free(&diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char prefix[] = "--set ";
    const char *text = (const char *)data;
    size_t before = sizeof prefix - 1;
    const char *end = size > 0 ? memchr(text, '\n', size) : NULL;
    char *override = NULL;
    if (end && size > before && memcmp(text, prefix, before) == 0) {
        override = strndup(text + before, (size_t)(end - text) - before);
        size -= (size_t)(end + 1 - text);
        text = end + 1;
    }
    struct scene_override overrides[] = {{.text = override}};
    struct diagnostics diagnostics = {0};
    taut_scene *scene =
        scene_read_text(text, size, "/tmp/fuzz.yaml", overrides, override != NULL, &diagnostics);
    check((scene == NULL) == (diagnostics.error_count > 0), "a refusal without a reason");
    for (size_t i = 0; i < diagnostics.count; i++) {
        char *message = diagnostic_render(&diagnostics.items[i]);
        check(message != NULL, "a finding cannot be shown");
        free(message);
    }
    if (scene)
        read_back(scene);
    scene_free(scene);
    diagnostics_free(&diagnostics);
    free(override);
    return 0;
}
