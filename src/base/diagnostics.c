// Collects, sorts and renders findings, and finds near names for "did you mean".
#include "base/diagnostics.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

// ---- Collecting

static void free_item(struct diagnostic *item)
{
    free(item->file);
    free(item->text);
    free(item->source_line);
    free(item->hint);
}

static void add(struct diagnostics *list, enum diagnostic_level level, const char *file, mark at,
                const char *source_line, const char *hint, const char *format, va_list arguments)
{
    if (level == DIAGNOSTIC_ERROR)
        list->error_count++;
    if (list->count >= DIAGNOSTICS_MAX) {
        list->dropped++;
        return;
    }
    struct diagnostic item = {.level = level, .at = at};
    item.text = text_format_va(format, arguments);
    item.file = strdup(file);
    item.source_line = source_line ? strdup(source_line) : NULL;
    item.hint = hint ? strdup(hint) : NULL;
    void *items = list->items;
    bool whole = item.text && item.file && (item.source_line || !source_line) &&
                 (item.hint || !hint) &&
                 array_reserve(&items, &list->capacity, list->count + 1, sizeof item);
    list->items = items;
    if (!whole) {
        free_item(&item);
        list->dropped++;
        return;
    }
    list->items[list->count++] = item;
}

void diagnostics_add(struct diagnostics *list, enum diagnostic_level level, const char *file,
                     mark at, const char *source_line, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(list, level, file, at, source_line, hint, format, arguments);
    va_end(arguments);
}

void diagnostics_fail(struct diagnostics *list, taut_status code, const char *file,
                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(list, DIAGNOSTIC_ERROR, file, (mark){0, 0}, NULL, NULL, format, arguments);
    va_end(arguments);
    list->failure = code;
}

taut_status diagnostics_status(const struct diagnostics *list)
{
    if (list->failure != TAUT_OK)
        return list->failure;
    return list->error_count > 0 ? TAUT_ERROR_SCENE : TAUT_OK;
}

void diagnostics_free(struct diagnostics *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_item(&list->items[i]);
    free(list->items);
    *list = (struct diagnostics){0};
}

// The index of the first finding in the same file. Files keep the order of their first findings.
static size_t file_rank(const struct diagnostics *list, size_t first, size_t index)
{
    size_t rank = first;
    while (strcmp(list->items[rank].file, list->items[index].file) != 0)
        rank++;
    return rank;
}

static bool belongs_before(const struct diagnostic *a, size_t a_rank, const struct diagnostic *b,
                           size_t b_rank)
{
    if (a_rank != b_rank)
        return a_rank < b_rank;
    return a->at.line != b->at.line ? a->at.line < b->at.line : a->at.column < b->at.column;
}

// Insertion sort: the list is short and nearly sorted, and findings at the same position must keep
// their order.
void diagnostics_sort(struct diagnostics *list, size_t first)
{
    size_t ranks[DIAGNOSTICS_MAX];
    for (size_t i = first; i < list->count; i++)
        ranks[i] = file_rank(list, first, i);
    for (size_t i = first + 1; i < list->count; i++) {
        struct diagnostic item = list->items[i];
        size_t index = i, rank = ranks[i];
        while (index > first &&
               belongs_before(&item, rank, &list->items[index - 1], ranks[index - 1])) {
            list->items[index] = list->items[index - 1];
            ranks[index] = ranks[index - 1];
            index--;
        }
        list->items[index] = item;
        ranks[index] = rank;
    }
}

// ---- Rendering

enum {
    SHOWN_COLUMNS = 120, // columns shown of a longer source line
    INDENT = 4,
};

// Length in bytes of the character at `text`; 1 for ASCII and for a byte that is not UTF-8.
static size_t character_bytes(const char *text, size_t left)
{
    uint32_t point;
    size_t bytes = text_utf8_decode(text, left, &point);
    return bytes > 0 ? bytes : 1;
}

// Untrusted files must not send escape sequences to the terminal: control characters become '?',
// and a tab becomes one space so that the caret stays below its column.
static void put_character(FILE *out, const char *text, size_t bytes)
{
    unsigned char lead = (unsigned char)text[0];
    bool control = lead < 0x20 || lead == 0x7F || (bytes == 1 && lead >= 0x80) ||
                   (bytes == 2 && lead == 0xC2 && (unsigned char)text[1] < 0xA0);
    if (lead == '\t')
        fputc(' ', out);
    else if (control)
        fputc('?', out);
    else
        fwrite(text, 1, bytes, out);
}

static void put_text(FILE *out, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t bytes = character_bytes(text, left);
        put_character(out, text, bytes);
        text += bytes;
        left -= bytes;
    }
}

static size_t count_characters(const char *text)
{
    size_t left = strlen(text), count = 0;
    for (; left > 0; count++) {
        size_t bytes = character_bytes(text, left);
        text += bytes;
        left -= bytes;
    }
    return count;
}

// Prints the line with a caret below `column`; only the part around the caret if the line is long.
static void put_source_line(FILE *out, const char *line, int column)
{
    size_t count = count_characters(line), target = column > 0 ? (size_t)column - 1 : 0;
    size_t first = 0, last = count;
    if (count > SHOWN_COLUMNS) {
        first = target > SHOWN_COLUMNS / 2 ? target - SHOWN_COLUMNS / 2 : 0;
        last = first + SHOWN_COLUMNS < count ? first + SHOWN_COLUMNS : count;
    }
    fprintf(out, "%*s%s", INDENT, "", first > 0 ? "..." : "");
    size_t left = strlen(line);
    for (size_t i = 0; i < last; i++) {
        size_t bytes = character_bytes(line, left);
        if (i >= first)
            put_character(out, line, bytes);
        line += bytes;
        left -= bytes;
    }
    fputs(last < count ? "...\n" : "\n", out);
    if (column > 0) {
        size_t before = target < first ? 0 : target - first + (first > 0 ? 3 : 0);
        fprintf(out, "%*s^\n", INDENT + (int)before, "");
    }
}

char *diagnostic_render(const struct diagnostic *item)
{
    static const char *const level_names[] = {"error", "warning", "note"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    put_text(out, item->file);
    if (item->at.line > 0)
        fprintf(out, ":%d", item->at.line);
    if (item->at.line > 0 && item->at.column > 0)
        fprintf(out, ":%d", item->at.column);
    fprintf(out, ": %s: ", level_names[item->level]);
    put_text(out, item->text);
    fputc('\n', out);
    if (item->source_line && item->at.line > 0 && item->source_line[strspn(item->source_line, " ")])
        put_source_line(out, item->source_line, item->at.column);
    if (item->hint)
        fprintf(out, "%*sdid you mean '%s'?\n", INDENT, "", item->hint);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

// ---- Suggesting

enum { LONGEST_NAME = 63 };

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

// ASCII letters of either case are the same letter.
static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// Optimal string alignment distance: the smallest number of insertions, deletions, substitutions
// and swaps of adjacent letters, whatever their case.
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST_NAME + 1];
    size_t *before = rows[0], *previous = rows[1], *current = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        previous[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        current[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t change = previous[j - 1] + (folded(a[i - 1]) != folded(b[j - 1]));
            current[j] = smallest(previous[j] + 1, current[j - 1] + 1, change);
            bool swapped = i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                           folded(a[i - 2]) == folded(b[j - 1]);
            if (swapped && before[j - 2] + 1 < current[j])
                current[j] = before[j - 2] + 1;
        }
        size_t *oldest = before;
        before = previous;
        previous = current;
        current = oldest;
    }
    return previous[b_length];
}

static bool begins_with_name(const char *text, const char *beginning)
{
    while (*beginning && folded(*text) == folded(*beginning)) {
        text++;
        beginning++;
    }
    return !*beginning;
}

const char *nearest_name(const char *word, const char *const *candidates, size_t count)
{
    enum { BEGINNING_MIN = 3 };
    size_t length = strlen(word), least = SIZE_MAX, beginnings = 0;
    const char *nearest = NULL, *beginning = NULL;
    if (length > LONGEST_NAME)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        if (other > LONGEST_NAME)
            continue;
        size_t distance = edit_distance(word, length, candidates[i], other);
        size_t longer = length > other ? length : other;
        if (3 * distance <= longer && distance < least) {
            least = distance;
            nearest = candidates[i];
        }
        if (begins_with_name(candidates[i], word)) {
            beginning = candidates[i];
            beginnings++;
        }
    }
    return !nearest && beginnings == 1 && length >= BEGINNING_MIN ? beginning : nearest;
}
