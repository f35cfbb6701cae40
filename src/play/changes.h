// What people have changed of a scene's file so far: PATH=VALUE, as --set takes them.
#ifndef TAUT_PLAY_CHANGES_H
#define TAUT_PLAY_CHANGES_H

#include <stdbool.h>

#include "scene/scene.h"

// A zeroed struct is an empty list.
struct changes {
    char **texts;
    size_t count, capacity;
};

// False without memory; `to` is empty then.
bool changes_copy(const struct changes *from, struct changes *to);

// Adds one. What was set before of that path, or of a path below it, counts no more, and neither
// does what was set of keys that it excludes.
bool changes_set(struct changes *changes, const char *text);

// The scene of the file with all changes; NULL with the reasons in `diagnostics`.
taut_scene *changes_read(const struct changes *changes, const char *path,
                         struct diagnostics *diagnostics);

// The same from the text that a scene was read from, so that nothing changes under a run but what
// people change.
taut_scene *changes_read_again(const struct changes *changes, const taut_scene *scene,
                               struct diagnostics *diagnostics);

// The length of that text.
size_t changes_text_length(const taut_scene *scene);

// The first thing that is wrong, as one sentence.
taut_status changes_fail(const struct diagnostics *diagnostics, taut_error *error);

void changes_free(struct changes *changes);

#endif
