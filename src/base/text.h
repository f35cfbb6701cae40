// Text: printf into an allocated string, endings, nouns after numbers, line ends, and the UTF-8
// decoder.
#ifndef TAUT_BASE_TEXT_H
#define TAUT_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

// printf into a malloc'ed string of the right length; NULL if memory runs out. The caller frees it.
char *text_format(const char *format, ...) PRINTF_FORMAT(1, 2);

// The same for a va_list.
char *text_format_va(const char *format, va_list arguments);

// Whether a text has something before this ending, such as ".obj"; the second also where the case
// of ASCII letters differs.
bool text_ends_with(const char *text, const char *ending);
bool text_ends_with_any_case(const char *text, const char *ending);

// The noun after a number in a message: "1 body", "2 bodies".
static inline const char *text_noun(uint64_t count, const char *one, const char *several)
{
    return count == 1 ? one : several;
}

// A malloc'ed copy of a path as a word of a command that is printed for a POSIX shell: in quotes if
// it has anything that a shell changes, and never like an option. NULL if memory runs out.
char *text_shell_path(const char *path);

// ---- Lines

// The length of a byte order mark at the beginning of a text, which Windows programs put there.
size_t text_byte_order_mark(const char *text, size_t length);

// The length of the line end at `at`, of which `left` bytes are readable: LF, CR LF, or CR alone; 0
// if there is none.
static inline size_t text_line_end(const char *at, size_t left)
{
    if (left == 0 || (*at != '\n' && *at != '\r'))
        return 0;
    return *at == '\r' && left > 1 && at[1] == '\n' ? 2 : 1;
}

// ---- UTF-8

// U+FFFD, which replaces bytes that are not UTF-8.
#define TEXT_REPLACEMENT "\xEF\xBF\xBD"

// Decodes the UTF-8 character at `at`, of which at most `left` bytes are readable. Returns its
// length in bytes and sets *point; 0 if it is not well-formed (Unicode, table 3-7). Bytes after a
// NUL are not read.
size_t text_utf8_decode(const char *at, size_t left, uint32_t *point);

// Length in bytes of the character at `at` in a NUL-terminated text; 0 if it is not UTF-8.
static inline size_t text_utf8_bytes(const char *at)
{
    uint32_t point;
    return text_utf8_decode(at, 4, &point);
}

// Whether a byte is a continuation byte of a character.
static inline bool text_utf8_continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

// The number of characters that begin in the first `bytes` bytes of a text, as columns count them.
size_t text_utf8_count(const char *text, size_t bytes);

// A malloc'ed copy of the text with U+FFFD for each byte that is not UTF-8; NULL if memory runs
// out.
char *text_as_utf8(const char *text);

#endif
