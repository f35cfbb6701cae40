#include "scene/mesh/mesh_text.h"

#include "scene/text/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

// A byte order mark, which Windows programs put before a text, is no part of it.
static size_t byte_order_mark(const struct mesh_text *text)
{
    size_t size = (size_t)(text->end - text->data);
    return size >= 3 && memcmp(text->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

void text_begin(struct mesh_text *text, const char *path, const char *data, size_t size,
                struct diagnostics *diagnostics)
{
    *text = (struct mesh_text){
        .path = path, .data = data, .end = data + size, .diagnostics = diagnostics};
    text->at = data + byte_order_mark(text);
}

// ---- Words and lines

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

// Where the line that `at` ends begins anew: behind \n, \r\n or a lone \r.
static const char *after_line_end(const struct mesh_text *text, const char *at)
{
    if (at < text->end && *at == '\r')
        return at + 1 < text->end && at[1] == '\n' ? at + 2 : at + 1;
    return at < text->end ? at + 1 : at;
}

static bool is_continued(const struct mesh_text *text, const char *at)
{
    return text->continuation && *at == '\\' && at + 1 < text->end && is_line_end(at[1]);
}

static void skip_blanks(struct mesh_text *text)
{
    while (text->at < text->end) {
        if (is_blank(*text->at))
            ++text->at;
        else if (is_continued(text, text->at))
            text->at = after_line_end(text, text->at + 1);
        else
            break;
    }
}

bool text_token(struct mesh_text *text, struct token *token)
{
    skip_blanks(text);
    const char *at = text->at;
    if (at == text->end || is_line_end(*at) || (text->comment && *at == text->comment))
        return false;
    while (at < text->end && !is_blank(*at) && !is_line_end(*at) && !is_continued(text, at))
        ++at;
    *token = (struct token){text->at, (size_t)(at - text->at)};
    text->at = at;
    return true;
}

void text_skip_line(struct mesh_text *text)
{
    bool in_comment = false;
    while (text->at < text->end && !is_line_end(*text->at)) {
        in_comment |= text->comment && *text->at == text->comment;
        if (!in_comment && is_continued(text, text->at))
            text->at = after_line_end(text, text->at + 1);
        else
            ++text->at;
    }
    text->at = after_line_end(text, text->at);
}

bool text_finish_line(struct mesh_text *text)
{
    struct token token;
    bool clean = !text_token(text, &token);
    if (!clean)
        text_complain(text, token.text, "unexpected '%s' at the end of the line",
                      token_show(token).text);
    text_skip_line(text);
    return clean;
}

bool text_find_line(struct mesh_text *text)
{
    while (text->at < text->end) {
        skip_blanks(text);
        if (text->at == text->end)
            return false;
        if (!is_line_end(*text->at) && !(text->comment && *text->at == text->comment))
            return true;
        text_skip_line(text);
    }
    return false;
}

bool text_word(struct mesh_text *text, struct token *token)
{
    return text_find_line(text) && text_token(text, token);
}

bool text_label(struct mesh_text *text, const char *label)
{
    skip_blanks(text);
    size_t length = strlen(label);
    if ((size_t)(text->end - text->at) < length || strncasecmp(text->at, label, length) != 0)
        return false;
    text->at += length;
    return true;
}

bool token_is(struct token token, const char *word)
{
    return token.length == strlen(word) && strncasecmp(token.text, word, token.length) == 0;
}

bool token_is_exactly(struct token token, const char *word)
{
    return token.length == strlen(word) && memcmp(token.text, word, token.length) == 0;
}

// ---- Complaints

struct token_shown token_show(struct token token)
{
    struct token_shown shown;
    size_t room = sizeof shown.text - 4;
    size_t length = token.length < room ? token.length : room;
    for (size_t i = 0; i < length; ++i) {
        unsigned char c = (unsigned char)token.text[i];
        shown.text[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    snprintf(shown.text + length, sizeof shown.text - length, "%s",
             length < token.length ? "..." : "");
    return shown;
}

// Columns count characters, as messages do, not bytes.
static mark mark_of(const struct mesh_text *text, const char *at, const char **line)
{
    mark place = {1, 1};
    *line = text->data + byte_order_mark(text);
    for (const char *next = *line; next < at;) {
        next = is_line_end(*next) ? after_line_end(text, next) : next + 1;
        if (next <= at && is_line_end(next[-1])) {
            ++place.line;
            *line = next;
        }
    }
    for (const char *next = *line; next < at; ++next)
        place.column += ((unsigned char)*next & 0xc0) != 0x80;
    return place;
}

// The line for the message; nothing where it is too long to be of use.
static bool copy_line(const struct mesh_text *text, const char *line, char *copy, size_t size)
{
    size_t length = 0;
    while (line + length < text->end && !is_line_end(line[length])) {
        if (length + 1 == size)
            return false;
        copy[length] = line[length] ? line[length] : '?';
        ++length;
    }
    copy[length] = '\0';
    return true;
}

bool text_complain(struct mesh_text *text, const char *at, const char *format, ...)
{
    char sentence[512], copy[4096];
    bool has_line = false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    mark place = {0, 0};
    if (at) {
        const char *line;
        place = mark_of(text, at, &line);
        has_line = copy_line(text, line, copy, sizeof copy) && copy[0];
    }
    diagnostics_add(text->diagnostics, DIAGNOSTIC_ERROR, text->path, place, has_line ? copy : NULL,
                    NULL, "%s", sentence);
    if (++text->error_count == MESH_ERRORS_MAX)
        diagnostics_add(text->diagnostics, DIAGNOSTIC_NOTE, text->path, (mark){0, 0}, NULL, NULL,
                        "too many errors: the rest of the file is not looked at");
    return false;
}

bool text_no_memory(struct mesh_text *text)
{
    text->diagnostics->failure = TAUT_ERROR_MEMORY;
    return text_complain(text, NULL, "out of memory for the mesh");
}

bool text_hopeless(const struct mesh_text *text)
{
    return text->error_count >= MESH_ERRORS_MAX;
}

// ---- Numbers

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool text_real(struct mesh_text *text, struct token token, double *value)
{
    // Leading zeros are harmless here: only YAML takes them for octal.
    struct token plain = token;
    bool negative = token.length && token.text[0] == '-';
    if (token.length && (token.text[0] == '-' || token.text[0] == '+'))
        plain = (struct token){token.text + 1, token.length - 1};
    while (plain.length > 1 && plain.text[0] == '0' && is_digit(plain.text[1]))
        plain = (struct token){plain.text + 1, plain.length - 1};
    bool has_second_sign = plain.length && (plain.text[0] == '-' || plain.text[0] == '+');
    enum number_fault fault =
        has_second_sign ? NUMBER_JUNK : number_parse(plain.text, plain.length, value);
    if (fault == NUMBER_OCTAL) // 0o17
        fault = NUMBER_JUNK;
    if (fault != NUMBER_OK)
        return text_complain(text, token.text, "'%s' %s", token_show(token).text,
                             number_fault_text(fault));
    if (negative)
        *value = -*value;
    return true;
}

bool text_whole(struct mesh_text *text, struct token token, int64_t *value)
{
    bool negative = token.length && token.text[0] == '-';
    size_t i = token.length && (negative || token.text[0] == '+');
    int64_t result = 0;
    bool sound = i < token.length;
    for (; sound && i < token.length; ++i) {
        if (!is_digit(token.text[i]))
            sound = false;
        else if (result > (INT64_MAX - 9) / 10)
            return text_complain(text, token.text, "'%s' is too large", token_show(token).text);
        else
            result = 10 * result + (token.text[i] - '0');
    }
    if (!sound)
        return text_complain(text, token.text, "'%s' is not a whole number",
                             token_show(token).text);
    *value = negative ? -result : result;
    return true;
}

bool text_next_real(struct mesh_text *text, const char *what, double *value)
{
    struct token token;
    if (text_token(text, &token))
        return text_real(text, token, value);
    return text_complain(text, text->at, "the %s is missing", what);
}

bool text_next_whole(struct mesh_text *text, const char *what, int64_t *value)
{
    struct token token;
    if (text_token(text, &token))
        return text_whole(text, token, value);
    return text_complain(text, text->at, "the %s is missing", what);
}
