#include "scene/text/source.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The bytes of the line break at text[at]: CR, LF, CR LF, and Unicode's NEL, LS and PS, as libyaml
// counts them; 0 if there is none.
static size_t line_break_bytes(const char *text, size_t length, size_t at)
{
    const unsigned char *c = (const unsigned char *)text + at;
    size_t left = length - at;
    if (c[0] == '\r')
        return left > 1 && c[1] == '\n' ? 2 : 1;
    if (c[0] == '\n')
        return 1;
    if (left > 1 && c[0] == 0xC2 && c[1] == 0x85)
        return 2;
    if (left > 2 && c[0] == 0xE2 && c[1] == 0x80 && (c[2] == 0xA8 || c[2] == 0xA9))
        return 3;
    return 0;
}

bool source_init(struct source *source, const char *name, const char *text, size_t length)
{
    *source = (struct source){0};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    source->name = strdup(name);
    source->text = malloc(length + 1);
    if (!source->name || !source->text)
        return false;
    if (length > 0)
        memcpy(source->text, text, length);
    source->text[length] = '\0';
    source->length = length;
    return true;
}

// The code point at `c` and its bytes; 0 bytes if it is not UTF-8 (overlong forms, surrogates and
// cut sequences included).
static size_t decode(const unsigned char *c, size_t left, uint32_t *point)
{
    if (c[0] < 0x80) {
        *point = c[0];
        return 1;
    }
    size_t bytes = c[0] >= 0xF0 ? 4 : c[0] >= 0xE0 ? 3 : 2;
    if (c[0] < 0xC2 || c[0] > 0xF4 || bytes > left)
        return 0;
    *point = c[0] & (0xFFu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if ((c[i] & 0xC0) != 0x80)
            return 0;
        *point = *point << 6 | (c[i] & 0x3F);
    }
    bool overlong = (bytes == 3 && *point < 0x800) || (bytes == 4 && *point < 0x10000);
    bool surrogate = *point >= 0xD800 && *point <= 0xDFFF;
    return overlong || surrogate || *point > 0x10FFFF ? 0 : bytes;
}

// The set of YAML 1.1, section 5.1.
static bool is_allowed(uint32_t point)
{
    return point == '\t' || point == '\n' || point == '\r' || (point >= 0x20 && point <= 0x7E) ||
           point == 0x85 || (point >= 0xA0 && point <= 0xD7FF) ||
           (point >= 0xE000 && point <= 0xFFFD) || point >= 0x10000;
}

const char *source_check(const struct source *source, mark *at)
{
    const unsigned char *text = (const unsigned char *)source->text;
    int line = 1, column = 1;
    for (size_t i = 0; i < source->length;) {
        uint32_t point = 0;
        size_t bytes = decode(text + i, source->length - i, &point);
        if (bytes == 0 || !is_allowed(point)) {
            *at = (mark){line, column};
            return bytes == 0   ? "the text is not UTF-8 here"
                   : point == 0 ? "a NUL byte; is this a text file?"
                                : "a control character, which YAML does not allow";
        }
        size_t end = line_break_bytes(source->text, source->length, i);
        line += end > 0;
        column = end > 0 ? 1 : column + 1;
        i += end > 0 ? end : bytes;
    }
    return NULL;
}

char *source_line(const struct source *source, int line)
{
    size_t start = 0;
    for (int number = 1; number < line; number++) {
        size_t bytes = 0;
        while (start < source->length &&
               (bytes = line_break_bytes(source->text, source->length, start)) == 0)
            start++;
        if (start >= source->length)
            return NULL;
        start += bytes;
    }
    size_t end = start;
    while (end < source->length && line_break_bytes(source->text, source->length, end) == 0)
        end++;
    // A NUL byte would end the copy early; the renderer shows any other control character as '?'.
    char *copy = line < 1 ? NULL : malloc(end - start + 1);
    if (!copy)
        return NULL;
    for (size_t i = start; i < end; i++)
        copy[i - start] = source->text[i] ? source->text[i] : '\x01';
    copy[end - start] = '\0';
    return copy;
}

void source_free(struct source *source)
{
    free(source->name);
    free(source->text);
    *source = (struct source){0};
}
