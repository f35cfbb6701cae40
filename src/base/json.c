// Writes JSON: indentation, escapes and numbers (json.h).
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

static void break_line(struct json *json)
{
    if (!json->compact)
        fprintf(json->out, "\n%*s", 2 * json->depth, "");
}

static void put_text(FILE *out, const char *value)
{
    const unsigned char *text = (const unsigned char *)value;
    fputc('"', out);
    while (*text) {
        size_t bytes = text_utf8_bytes((const char *)text);
        if (bytes == 0)
            fputs(TEXT_REPLACEMENT, out);
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

// Writes what precedes a value: the comma, the line break, the key.
static void begin(struct json *json, const char *key)
{
    if (json->filled)
        fputc(',', json->out);
    if (json->depth > 0)
        break_line(json);
    if (key) {
        put_text(json->out, key);
        fputs(json->compact ? ":" : ": ", json->out);
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
        fprintf(json->out, "%.*g", json->digits > 0 ? json->digits : JSON_DIGITS_DOUBLE, value);
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

void json_numbers(struct json *json, const char *key, const double *values, size_t count)
{
    json_open_array(json, key);
    for (size_t i = 0; i < count; i++)
        json_number(json, NULL, values[i]);
    json_close_array(json);
}
