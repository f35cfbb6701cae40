// Scenes for the tests of the reader: from text, with overrides, with what they say when refused.
#ifndef TAUT_TESTS_SCENE_FIXTURE_H
#define TAUT_TESTS_SCENE_FIXTURE_H

#include "scene/reader.h"

// Reads a scene from text under the name "test.yaml"; `overrides` ends with NULL, or is NULL
// itself. The findings, rendered, are in *messages, to be freed ("" if there are none).
taut_scene *read_scene(const char *text, const char *const *overrides, char **messages);

// The same for a text that must be sound.
taut_scene *read_sound(const char *text, const char *const *overrides);

// The same for a text that must be refused with exactly these messages.
void expect_refusal(const char *text, const char *const *overrides, const char *expected);

// The body of that name, which must be there.
const struct scene_body *find_body(const taut_scene *scene, const char *name);

#endif
