// A text file in memory, read line by line and word by word. No reader keeps line numbers: a place
// is a pointer into the text, and only a complaint counts the lines up to it.
#ifndef TAUT_SCENE_MESH_TEXT_H
#define TAUT_SCENE_MESH_TEXT_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mesh_text {
    const char *path;
    const char *data, *end;
    const char *at;    // the next byte to be read
    bool continuation; // a backslash at the end of a line joins the next one to it (OBJ)
    char comment;      // begins a comment that lasts to the end of the line; 0: there are none
    struct diagnostics *diagnostics;
    size_t error_count;
};

// A run of bytes without blanks; not terminated.
struct token {
    const char *text;
    size_t length;
};

// Beyond so many errors a reader gives up: the rest would say the same again.
enum { MESH_ERRORS_MAX = 20 };

// Stands at the first byte of `size` bytes, behind a byte order mark; they must outlive the
// reading.
void text_begin(struct mesh_text *text, const char *path, const char *data, size_t size,
                struct diagnostics *diagnostics);

// The next word of this line; false, with nothing read, at the end of the line.
bool text_token(struct mesh_text *text, struct token *token);

// The next word of this line or a later one; false at the end of the file.
bool text_word(struct mesh_text *text, struct token *token);

// Goes past blank lines to the first word of a line; false at the end of the file.
bool text_find_line(struct mesh_text *text);

// Goes to the beginning of the next line, whatever is left of this one.
void text_skip_line(struct mesh_text *text);

// The same, but complains about words that are left.
bool text_finish_line(struct mesh_text *text);

// Takes `label` (any case) from this line, with no blank needed behind it ("X:-1"); false, with
// nothing read, if something else stands there.
bool text_label(struct mesh_text *text, const char *label);

// Whether the word is `word`, in any case or in just this one.
bool token_is(struct token token, const char *word);
bool token_is_exactly(struct token token, const char *word);

// The word as a finite number, or as a whole number; complains and gives false otherwise.
bool text_real(struct mesh_text *text, struct token token, double *value);
bool text_whole(struct mesh_text *text, struct token token, int64_t *value);

// The next word of this line as a number; complains if there is none. `what` names it.
bool text_next_real(struct mesh_text *text, const char *what, double *value);
bool text_next_whole(struct mesh_text *text, const char *what, int64_t *value);

// Adds an error at a place of the text (NULL: about the file as a whole) and returns false, so that
// a failing reader ends in one line.
bool text_complain(struct mesh_text *text, const char *at, const char *format, ...)
    PRINTF_FORMAT(3, 4);

bool text_no_memory(struct mesh_text *text);

// Whether there have been so many errors that reading on is of no use.
bool text_hopeless(const struct mesh_text *text);

// A word as messages show it: shortened, without control characters.
struct token_shown {
    char text[48];
};
struct token_shown token_show(struct token token);

#endif
