#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *text_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!text)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

size_t text_utf8_bytes(const char *at)
{
    const unsigned char *text = (const unsigned char *)at;
    if (text[0] < 0x80)
        return 1;
    if (text[0] < 0xC2 || text[0] > 0xF4)
        return 0;
    size_t bytes = text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    unsigned char least = 0x80, most = 0xBF; // of the second byte
    if (text[0] == 0xE0)
        least = 0xA0;
    else if (text[0] == 0xED)
        most = 0x9F;
    else if (text[0] == 0xF0)
        least = 0x90;
    else if (text[0] == 0xF4)
        most = 0x8F;
    if (text[1] < least || text[1] > most)
        return 0;
    for (size_t i = 2; i < bytes; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    return bytes;
}

char *text_as_utf8(const char *text)
{
    enum { LONGEST = sizeof TEXT_REPLACEMENT - 1 }; // what one byte becomes
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
