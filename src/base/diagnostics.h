// What is wrong with the user's files: collected, all of it, with the position of each, before
// anything is done. Rendered as FILE:LINE:COLUMN: error: TEXT, the source line, a caret, and "did
// you mean".
#ifndef TAUT_BASE_DIAGNOSTICS_H
#define TAUT_BASE_DIAGNOSTICS_H

#include <stddef.h>

#include "base/status.h"

// A position in a text file, counted from 1; line 0 means "the file as a whole".
typedef struct mark {
    int line, column;
} mark;

enum diagnostic_level { DIAGNOSTIC_ERROR, DIAGNOSTIC_WARNING, DIAGNOSTIC_NOTE };

// One finding. All strings are owned; `source_line` and `hint` may be NULL.
struct diagnostic {
    enum diagnostic_level level;
    char *file;
    mark at;
    char *text;
    char *source_line; // the line itself, without its newline
    char *hint;        // a name to offer: "did you mean 'hint'?"
};

struct diagnostics {
    struct diagnostic *items;
    size_t count, capacity;
    size_t error_count;
    size_t dropped; // findings beyond DIAGNOSTICS_MAX: counted, not kept
    // TAUT_ERROR_IO if the scene file could not be read, TAUT_ERROR_MEMORY if memory ran out while
    // reading; TAUT_OK if all errors are errors of the user's files.
    taut_status failure;
};

enum { DIAGNOSTICS_MAX = 100 };

// A zeroed struct is an empty list. Adding never fails visibly: without memory the finding is only
// counted, and error_count still counts it.
void diagnostics_add(struct diagnostics *list, enum diagnostic_level level, const char *file,
                     mark at, const char *source_line, const char *hint, const char *format, ...)
    PRINTF_FORMAT(7, 8);

// Adds an error about a file as a whole that is not an error of its content, and sets `failure` to
// `code`: TAUT_ERROR_IO or TAUT_ERROR_MEMORY.
void diagnostics_fail(struct diagnostics *list, taut_status code, const char *file,
                      const char *format, ...) PRINTF_FORMAT(4, 5);

// The status of reading that ended with these findings: `failure`, else TAUT_ERROR_SCENE if there
// are errors, else TAUT_OK.
taut_status diagnostics_status(const struct diagnostics *list);

// The rendered text of one finding, ending in a newline; NULL without memory. The caller frees it.
char *diagnostic_render(const struct diagnostic *item);

// Puts the findings from `first` on in the order of their positions, file by file; those of one
// position keep their order.
void diagnostics_sort(struct diagnostics *list, size_t first);

void diagnostics_free(struct diagnostics *list);

// The candidate nearest to `word` by edit distance (insert, delete, change, swap), or NULL when
// none is near enough to be worth offering (more than a third of the letters away).
const char *nearest_name(const char *word, const char *const *candidates, size_t count);

#endif
