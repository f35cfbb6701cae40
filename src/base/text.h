// Text: printf into memory of just the right size, and the one decoder of UTF-8.
#ifndef TAUT_BASE_TEXT_H
#define TAUT_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

// printf into a malloc'ed string of just the right length; NULL without memory. The caller frees
// it.
char *text_format(const char *format, ...) PRINTF_FORMAT(1, 2);

// The same with the arguments of a variadic function.
char *text_format_va(const char *format, va_list arguments);

// ---- UTF-8

// U+FFFD, which replaces what is not UTF-8.
#define TEXT_REPLACEMENT "\xEF\xBF\xBD"

// The bytes of the well-formed UTF-8 character there (Unicode, table 3-7), of which `left` bytes
// may be read, and its code point; 0 if there is none. Bytes behind a NUL are not read.
size_t text_utf8_decode(const char *at, size_t left, uint32_t *point);

// The bytes of the character there, in a text that ends in NUL; 0 if it is not UTF-8.
static inline size_t text_utf8_bytes(const char *at)
{
    uint32_t point;
    return text_utf8_decode(at, 4, &point);
}

// Whether a byte continues a character instead of beginning one.
static inline bool text_utf8_continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

// The characters that begin in the first `bytes` bytes of a text, as columns count them.
size_t text_utf8_count(const char *text, size_t bytes);

// The text with U+FFFD for each byte that is not UTF-8; malloc'ed, NULL without memory.
char *text_as_utf8(const char *text);

#endif
