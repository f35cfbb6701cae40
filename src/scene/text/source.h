// A text that messages point into: the scene file, or one --set PATH=VALUE.
#ifndef TAUT_SCENE_SOURCE_H
#define TAUT_SCENE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diagnostics.h"

struct source {
    char *name; // as messages call it
    char *text; // owned, NUL-terminated, without a byte order mark
    size_t length;
};

// Copies `length` bytes of text. False without memory; source_free may be called all the same.
bool source_init(struct source *source, const char *name, const char *text, size_t length);

// NULL if the text is UTF-8 without characters that YAML forbids; else what is wrong, and where.
const char *source_check(const struct source *source, mark *at);

// A copy of line `line` (from 1) without its end; NULL without memory or beyond the last line. It
// is searched from the start each time: only messages ask, and an index would cost every good
// scene.
char *source_line(const struct source *source, int line);

void source_free(struct source *source);

#endif
