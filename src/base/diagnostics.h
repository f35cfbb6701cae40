// Findings (errors, warnings, notes) about the user's files. All of them are collected, with their
// positions, before anything is run. They are rendered as FILE:LINE:COLUMN: error: TEXT, the source
// line, a caret, and "did you mean".
#ifndef TAUT_BASE_DIAGNOSTICS_H
#define TAUT_BASE_DIAGNOSTICS_H

#include <stddef.h>

#include "base/status.h"

// A position in a text file, counted from 1; line 0 means "the file as a whole".
typedef struct mark {
    int line, column;
} mark;

enum diagnostic_level { DIAGNOSTIC_ERROR, DIAGNOSTIC_WARNING, DIAGNOSTIC_NOTE };

// One finding. It owns its strings; `source_line` and `hint` may be NULL.
struct diagnostic {
    enum diagnostic_level level;
    char *file;
    mark at;
    char *text;
    char *source_line; // without its newline
    char *hint;        // a name to suggest: "did you mean 'hint'?"
};

struct diagnostics {
    struct diagnostic *items;
    size_t count, capacity;
    size_t error_count;
    size_t dropped; // findings beyond DIAGNOSTICS_MAX, which are counted but not stored
    // TAUT_ERROR_IO if the scene file could not be read, TAUT_ERROR_MEMORY if memory ran out while
    // reading; TAUT_OK if all errors are in the content of the user's files.
    taut_status failure;
};

enum { DIAGNOSTICS_MAX = 100 };

// A zeroed struct is an empty list. Adding never reports failure: if memory runs out, the finding
// is dropped, and error_count still counts it.
void diagnostics_add(struct diagnostics *list, enum diagnostic_level level, const char *file,
                     mark at, const char *source_line, const char *hint, const char *format, ...)
    PRINTF_FORMAT(7, 8);

// Adds an error about a file as a whole that is not an error of its content, and sets `failure` to
// `code`: TAUT_ERROR_IO or TAUT_ERROR_MEMORY.
void diagnostics_fail(struct diagnostics *list, taut_status code, const char *file,
                      const char *format, ...) PRINTF_FORMAT(4, 5);

// The status of a read that ended with these findings: `failure` if it is set, else
// TAUT_ERROR_SCENE if there are errors, else TAUT_OK.
taut_status diagnostics_status(const struct diagnostics *list);

// The rendered text of one finding, ending in a newline; NULL if memory runs out. The caller frees
// it.
char *diagnostic_render(const struct diagnostic *item);

// Sorts the findings from index `first` on by position, file by file. Findings at the same position
// keep their order.
void diagnostics_sort(struct diagnostics *list, size_t first);

void diagnostics_free(struct diagnostics *list);

// The candidate nearest to `word` by edit distance (insert, delete, substitute, swap), if at most a
// third of the letters differ; otherwise the only one that begins with `word`, of at least three
// letters; otherwise NULL.
const char *nearest_name(const char *word, const char *const *candidates, size_t count);

#endif
