// Scenes for the tests of the reader: from text, with overrides, and with the messages of rejected
// ones.
#ifndef TAUT_TESTS_SCENE_FIXTURE_H
#define TAUT_TESTS_SCENE_FIXTURE_H

#include "scene/reader.h"

// Reads a scene from text under the name "test.yaml"; `overrides` ends with NULL, or is NULL
// itself. *messages receives the rendered diagnostics, to be freed ("" if there are none).
taut_scene *read_scene(const char *text, const char *const *overrides, char **messages);

// The same for a text that must be valid.
taut_scene *read_sound(const char *text, const char *const *overrides);

// The same for a text that must be rejected with exactly these messages.
void expect_refusal(const char *text, const char *const *overrides, const char *expected);

// The body of that name, which must exist.
const struct scene_body *find_body(const taut_scene *scene, const char *name);

#endif
