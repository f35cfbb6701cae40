#include "cli/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void break_line(struct json *json)
{
    fprintf(json->out, "\n%*s", 2 * json->depth, "");
}

// The bytes of the well-formed character at `text` (Unicode, table 3-7); 0 if there is none.
static size_t utf8_bytes(const unsigned char *text)
{
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

static void put_text(FILE *out, const char *value)
{
    const unsigned char *text = (const unsigned char *)value;
    fputc('"', out);
    while (*text) {
        size_t bytes = utf8_bytes(text);
        if (bytes == 0)
            fputs("\xEF\xBF\xBD", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '\t')
            fputs("\\t", out);
        else if (*text < 0x20 || *text == 0x7F)
            fprintf(out, "\\u%04x", *text);
        else
            fwrite(text, 1, bytes, out);
        text += bytes ? bytes : 1;
    }
    fputc('"', out);
}

// What stands before a value: the comma, the line, the key.
static void begin(struct json *json, const char *key)
{
    if (json->filled)
        fputc(',', json->out);
    if (json->depth > 0)
        break_line(json);
    if (key) {
        put_text(json->out, key);
        fputs(": ", json->out);
    }
    json->filled = true;
}

static void open_value(struct json *json, const char *key, char bracket)
{
    begin(json, key);
    fputc(bracket, json->out);
    json->depth++;
    json->filled = false;
}

static void close_value(struct json *json, char bracket)
{
    json->depth--;
    if (json->filled)
        break_line(json);
    fputc(bracket, json->out);
    json->filled = true;
    if (json->depth == 0)
        fputc('\n', json->out);
}

void json_open_object(struct json *json, const char *key)
{
    open_value(json, key, '{');
}

void json_close_object(struct json *json)
{
    close_value(json, '}');
}

void json_open_array(struct json *json, const char *key)
{
    open_value(json, key, '[');
}

void json_close_array(struct json *json)
{
    close_value(json, ']');
}

void json_string(struct json *json, const char *key, const char *value)
{
    begin(json, key);
    if (value)
        put_text(json->out, value);
    else
        fputs("null", json->out);
}

void json_number(struct json *json, const char *key, double value)
{
    begin(json, key);
    if (isfinite(value))
        fprintf(json->out, "%.17g", value);
    else
        fputs("null", json->out);
}

void json_count(struct json *json, const char *key, uint64_t value)
{
    begin(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *key)
{
    begin(json, key);
    fputs("null", json->out);
}
