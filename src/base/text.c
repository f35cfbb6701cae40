// Formatted text, the byte order mark, and UTF-8.
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *text_format_va(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *text_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format_va(format, arguments);
    va_end(arguments);
    return text;
}

// The ending, if the text is longer; otherwise NULL.
static const char *ending_of(const char *text, const char *ending)
{
    const size_t length = strlen(text), own = strlen(ending);
    return length > own ? text + length - own : NULL;
}

bool text_ends_with(const char *text, const char *ending)
{
    const char *end = ending_of(text, ending);
    return end && strcmp(end, ending) == 0;
}

bool text_ends_with_any_case(const char *text, const char *ending)
{
    const char *end = ending_of(text, ending);
    return end && strcasecmp(end, ending) == 0;
}

size_t text_byte_order_mark(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

// Within single quotes everything stands for itself but the single quote.
char *text_shell_path(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./,:@%+";
    const char *start = path[0] == '-' ? "./" : "";
    if (path[0] && path[strspn(path, plain)] == '\0')
        return text_format("%s%s", start, path);
    char *word = malloc(strlen(start) + 4 * strlen(path) + 3), *to = word;
    if (!word)
        return NULL;
    *to++ = '\'';
    while (*start)
        *to++ = *start++;
    for (; *path; path++) {
        if (*path == '\'') { // ends the quotes, escapes the quote, begins them again
            memcpy(to, "'\\'", 3);
            to += 3;
        }
        *to++ = *path;
    }
    *to++ = '\'';
    *to = '\0';
    return word;
}

// ---- UTF-8

size_t text_utf8_decode(const char *at, size_t left, uint32_t *point)
{
    const unsigned char *c = (const unsigned char *)at;
    if (left == 0)
        return 0;
    if (c[0] < 0x80) {
        *point = c[0];
        return 1;
    }

    size_t bytes = c[0] >= 0xF0 ? 4 : c[0] >= 0xE0 ? 3 : 2;
    if (c[0] < 0xC2 || c[0] > 0xF4 || bytes > left)
        return 0;
    uint32_t decoded = c[0] & (0xFFu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if (!text_utf8_continues(at[i]))
            return 0;
        decoded = decoded << 6 | (c[i] & 0x3F);
    }

    bool overlong = (bytes == 3 && decoded < 0x800) || (bytes == 4 && decoded < 0x10000);
    bool surrogate = decoded >= 0xD800 && decoded <= 0xDFFF;
    if (overlong || surrogate || decoded > 0x10FFFF)
        return 0;
    *point = decoded;
    return bytes;
}

size_t text_utf8_count(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += !text_utf8_continues(text[i]);
    return count;
}

char *text_as_utf8(const char *text)
{
    enum { LONGEST = sizeof TEXT_REPLACEMENT - 1 }; // bytes that replace one byte
    char *valid = malloc(LONGEST * strlen(text) + 1), *end = valid;
    if (!valid)
        return NULL;
    while (*text) {
        size_t bytes = text_utf8_bytes(text);
        size_t count = bytes ? bytes : LONGEST;
        memcpy(end, bytes ? text : TEXT_REPLACEMENT, count);
        end += count;
        text += bytes ? bytes : 1;
    }
    *end = '\0';
    return valid;
}
