// Reads a CSV file row by row; columns are found by their names in the header.
#include "scene/text/csv.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
#include "scene/text/number.h"

// ---- Messages

// Longer lines are truncated in messages.
enum { SHOWN_LINE = 200, SHOWN_CELL = 40 };

// Adds an error at `at`, a position in the current row; NULL: about the whole file.
static void report_at(struct csv *csv, const char *at, const char *hint, const char *text)
{
    mark position = {0, 0};
    char shown[SHOWN_LINE + 1];
    csv->error_count++;
    if (at) {
        size_t length = strcspn(csv->row, "\r\n");
        length = length < SHOWN_LINE ? length : SHOWN_LINE;
        memcpy(shown, csv->row, length);
        shown[length] = '\0';
        size_t column = text_utf8_count(csv->row, (size_t)(at - csv->row)) + 1;
        position.line = csv->line < INT_MAX ? (int)csv->line : INT_MAX;
        position.column = column < INT_MAX ? (int)column : INT_MAX;
    }
    diagnostics_add(csv->diagnostics, DIAGNOSTIC_ERROR, csv->path, position, at ? shown : NULL,
                    hint, "%s", text);
}

bool csv_report(struct csv *csv, size_t field, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *cell = csv->cells[field].text;
    report_at(csv, cell ? cell : csv->row, NULL, text);
    return false;
}

// ---- The file

enum { CHUNK = 1 << 16 };

static bool report_file(struct csv *csv, const char *what, const char *reason)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s", what, reason);
    report_at(csv, NULL, NULL, text);
    return false;
}

static bool report_unread(struct csv *csv, int reason)
{
    if (reason == ENOMEM)
        csv->diagnostics->failure = TAUT_ERROR_MEMORY;
    return report_file(csv, "cannot read the file: ", strerror(reason));
}

// Opens a stream that can be read twice: for a pipe, a stream over all its content.
static bool open_stream(struct csv *csv)
{
    const char *reason;
    size_t length;
    csv->stream = open_to_read(csv->path, &reason);
    if (!csv->stream)
        return report_file(csv, "cannot read the file: ", reason);
    if (fseeko(csv->stream, 0, SEEK_SET) == 0)
        return true;
    if (!read_to_end(csv->stream, SIZE_MAX, &csv->pipe, &length))
        return report_unread(csv, errno);
    fclose(csv->stream);
    if (length == 0)
        csv->pipe[length++] = '\n'; // a stream over nothing may be refused
    csv->stream = fmemopen(csv->pipe, length, "rb");
    return csv->stream || report_unread(csv, errno);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Counts the line ends of a part of a text that follows the character `last`.
static uint64_t count_line_ends(const char *text, size_t length, char last)
{
    uint64_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += text[i] == '\r' || (text[i] == '\n' && last != '\r');
        last = text[i];
    }
    return count;
}

// Finds where the table begins and ends and how many rows it has. Blanks and line ends after it are
// left out, so that only lines in the middle can be empty.
static bool survey(struct csv *csv)
{
    uint64_t before = 0, line_ends = 0;
    char last = '\0';
    size_t got;
    do {
        got = fread(csv->text, 1, CHUNK, csv->stream);
        if (ferror(csv->stream))
            return report_unread(csv, errno);
        if (memchr(csv->text, '\0', got))
            return report_file(csv, "this is not a text file: it has a NUL byte", "");
        size_t kept = got;
        while (kept > 0 && is_blank(csv->text[kept - 1]))
            kept--;
        if (before == 0)
            csv->start = text_byte_order_mark(csv->text, got);
        if (kept > 0) {
            csv->length = before + kept;
            csv->row_count = line_ends + count_line_ends(csv->text, kept, last);
        }
        line_ends += count_line_ends(csv->text, got, last);
        last = got > 0 ? csv->text[got - 1] : last;
        before += got;
    } while (got == CHUNK);
    return true;
}

// Reads more of the table, behind what begins with the next row. False if there is none, and, with
// an error and without a next row, if it cannot be read.
static bool read_more(struct csv *csv)
{
    const char *const next = csv->next;
    const size_t kept = csv->filled - (size_t)(next - csv->text);
    const uint64_t left = csv->length - csv->end;
    const size_t wanted = left < CHUNK ? (size_t)left : CHUNK;
    void *text = csv->text;
    if (wanted == 0)
        return false;
    csv->next = NULL;
    memmove(csv->text, next, kept);
    if (!array_reserve(&text, &csv->capacity, kept + CHUNK + 1, 1))
        return report_unread(csv, ENOMEM);
    csv->text = text;
    csv->filled = kept + fread(csv->text + kept, 1, wanted, csv->stream);
    csv->text[csv->filled] = '\0';
    csv->end += csv->filled - kept;
    if (csv->filled < kept + wanted)
        return ferror(csv->stream)
                   ? report_unread(csv, errno)
                   : report_file(csv, "cannot read the file: ", "it became shorter meanwhile");
    if (memchr(csv->text + kept, '\0', csv->filled - kept))
        return report_file(csv, "cannot read the file: ", "it changed meanwhile");
    csv->next = csv->text;
    return true;
}

static bool rewind_to_first_line(struct csv *csv)
{
    if (fseeko(csv->stream, 0, SEEK_SET) != 0)
        return report_unread(csv, errno);
    csv->next = csv->text;
    csv->filled = 0;
    csv->end = 0;
    csv->line = 0;
    if (!read_more(csv))
        return false;
    csv->next += csv->start;
    return true;
}

// ---- Rows

static bool next_line(struct csv *csv)
{
    size_t length, line_end, left;
    do {
        if (!csv->next)
            return false;
        left = csv->filled - (size_t)(csv->next - csv->text);
        length = strcspn(csv->next, "\r\n");
        line_end = text_line_end(csv->next + length, left - length);
        // Even after a line end, more is needed: the LF of a CR LF.
    } while (length + line_end == left && read_more(csv));
    if (!csv->next) // reading has failed
        return false;
    csv->row = csv->next;
    csv->line++;
    csv->next = line_end > 0 ? csv->row + length + line_end : NULL;
    return true;
}

// The cell that begins at `at`, without surrounding blanks and then quotes; *end is the comma or
// line end after it.
static struct csv_cell cut_cell(const char *at, const char **end)
{
    at += strspn(at, " \t");
    size_t length = strcspn(at, ",\r\n");
    *end = at + length;
    while (length > 0 && strchr(" \t", at[length - 1]))
        length--;
    if (length > 1 && at[0] == '"' && memchr(at + 1, '"', length - 1) == at + length - 1)
        return (struct csv_cell){at + 1, length - 2};
    return (struct csv_cell){at, length};
}

// Splits the current row into cells, of which at most `capacity` are stored, and returns their
// number; 0, after an error, if one of these has quotes around more than a name or a number.
static size_t cut_row(struct csv *csv, struct csv_cell *cells, size_t capacity)
{
    size_t count = 0;
    const char *end = csv->row - 1;
    do {
        struct csv_cell cell = cut_cell(end + 1, &end);
        if (count < capacity && cell.length > 0 && cell.text[0] == '"') {
            report_at(csv, cell.text, NULL,
                      "a cell in quotes must not have commas, quotes or line ends");
            return 0;
        }
        if (count < capacity)
            cells[count] = cell;
        count++;
    } while (*end == ',');
    return count;
}

bool csv_next(struct csv *csv)
{
    while (csv->error_count < CSV_ERRORS_MAX && next_line(csv)) {
        struct csv_cell cells[CSV_FIELDS_MAX];
        size_t count = cut_row(csv, cells, CSV_FIELDS_MAX);
        if (count == 0)
            continue;
        if (count == csv->column_count) {
            for (size_t column = 0; column < count; column++)
                csv->cells[csv->field_of_column[column]] = cells[column];
            return true;
        }
        char text[128];
        if (count == 1 && cells[0].length == 0)
            snprintf(text, sizeof text, "an empty line among the rows");
        else
            snprintf(text, sizeof text, "this row has %zu %s, the header has %zu", count,
                     text_noun(count, "cell", "cells"), csv->column_count);
        report_at(csv, csv->row, NULL, text);
    }
    return false;
}

void csv_seek(struct csv *csv, uint64_t row)
{
    if (!rewind_to_first_line(csv))
        return;
    // Row 0 is the second line, after the header.
    for (uint64_t line = 0; line < row + 1 && next_line(csv); line++)
        ;
    size_t errors = csv->error_count;
    csv->error_count = 0;
    csv_next(csv);
    csv->error_count = errors;
}

uint64_t csv_row_count(const struct csv *csv)
{
    return csv->row_count;
}

// ---- The header

static bool is_cell(struct csv_cell cell, const char *name)
{
    return strlen(name) == cell.length && memcmp(cell.text, name, cell.length) == 0;
}

static bool report_unknown_column(struct csv *csv, struct csv_cell cell)
{
    const char *names[CSV_FIELDS_MAX];
    char name[SHOWN_CELL + 1], text[128];
    for (size_t field = 0; field < csv->field_count; field++)
        names[field] = csv->fields[field].name;
    snprintf(name, sizeof name, "%.*s", (int)(cell.length < SHOWN_CELL ? cell.length : SHOWN_CELL),
             cell.text);
    snprintf(text, sizeof text, "unknown column '%s'", name);
    report_at(csv, cell.text, nearest_name(name, names, csv->field_count), text);
    return false;
}

// Assigns a column to its field; reports an error if there is none, or if another column has the
// same name.
static bool name_column(struct csv *csv, struct csv_cell cell, size_t column)
{
    char text[64];
    for (size_t field = 0; field < csv->field_count; field++) {
        if (!is_cell(cell, csv->fields[field].name))
            continue;
        if (csv_has(csv, field)) {
            snprintf(text, sizeof text, "a second column '%s'", csv->fields[field].name);
            report_at(csv, cell.text, NULL, text);
            return false;
        }
        csv->cells[field] = cell;
        csv->field_of_column[column] = (int)field;
        return true;
    }
    if (cell.length > 0)
        return report_unknown_column(csv, cell);
    report_at(csv, cell.text, NULL, "a column without a name");
    return false;
}

// Whether the header is a list of cells; reports an error if it is empty, or if something else than
// commas separates its cells.
static bool check_header(struct csv *csv, const struct csv_cell *cells, size_t count)
{
    if (count != 1)
        return count > 0;
    const size_t first = strcspn(cells[0].text, ";\t\r\n"),
                 other = strcspn(cells[0].text, " |\r\n");
    if (cells[0].length == 0)
        report_at(csv, csv->row, NULL, "the first line is empty; it must name the columns");
    else if (first < cells[0].length)
        report_at(csv, cells[0].text + first, NULL,
                  "commas must separate the cells, not semicolons or tabs");
    else if (other < cells[0].length)
        report_at(csv, cells[0].text + other, NULL,
                  "commas must separate the cells, not spaces or '|'");
    else
        return true;
    return false;
}

static bool read_header(struct csv *csv)
{
    char text[128];
    struct csv_cell cells[CSV_FIELDS_MAX + 1];
    size_t errors = csv->error_count;
    if (!rewind_to_first_line(csv) || !next_line(csv))
        return false;
    size_t count = cut_row(csv, cells, CSV_FIELDS_MAX + 1);
    if (!check_header(csv, cells, count))
        return false;
    // If there is a column too many, one is unknown or a duplicate, which name_column reports.
    csv->column_count = count < CSV_FIELDS_MAX ? count : CSV_FIELDS_MAX;
    for (size_t column = 0; column < count && column < CSV_FIELDS_MAX + 1; column++)
        if (!name_column(csv, cells[column], column))
            break;
    for (size_t field = 0; csv->error_count == errors && field < csv->field_count; field++)
        if (csv->fields[field].presence == CSV_REQUIRED && !csv_has(csv, field)) {
            snprintf(text, sizeof text, "the header has no column '%s'", csv->fields[field].name);
            report_at(csv, csv->row, NULL, text);
        }
    return csv->error_count == errors;
}

bool csv_open(struct csv *csv, const char *path, const struct csv_field *fields, size_t field_count,
              struct diagnostics *diagnostics)
{
    *csv = (struct csv){
        .path = path, .diagnostics = diagnostics, .fields = fields, .field_count = field_count};
    void *text = NULL;
    if (!array_reserve(&text, &csv->capacity, CHUNK + 1, 1))
        return report_unread(csv, ENOMEM);
    csv->text = text;
    if (!open_stream(csv) || !survey(csv))
        return false;
    if (csv->length == csv->start)
        return report_file(csv, "the file is empty; its first line must name the columns", "");
    return read_header(csv);
}

bool csv_has(const struct csv *csv, size_t field)
{
    return csv->cells[field].text != NULL;
}

void csv_close(struct csv *csv)
{
    if (csv->stream)
        fclose(csv->stream);
    free(csv->pipe);
    free(csv->text);
    *csv = (struct csv){0};
}

// ---- Cells

// Whether a cell contains a number; *fine is false, after an error, if it must contain one.
static bool has_content(struct csv *csv, size_t field, bool *fine)
{
    const struct csv_cell *cell = &csv->cells[field];
    *fine = true;
    if (!cell->text)
        return false;
    if (cell->length > 0)
        return true;
    if (csv->fields[field].presence != CSV_DEFAULTED)
        *fine = csv_report(csv, field, "'%s' is missing", csv->fields[field].name);
    return false;
}

static bool report_number(struct csv *csv, size_t field, enum number_fault fault)
{
    const struct csv_cell *cell = &csv->cells[field];
    int length = (int)(cell->length < SHOWN_CELL ? cell->length : SHOWN_CELL);
    return csv_report(csv, field, "'%.*s' %s", length, cell->text, number_fault_text(fault));
}

bool csv_number(struct csv *csv, size_t field, double *value)
{
    bool fine;
    if (!has_content(csv, field, &fine))
        return fine;
    const struct csv_cell *cell = &csv->cells[field];
    enum number_fault fault = number_parse(cell->text, cell->length, value);
    return fault == NUMBER_OK || report_number(csv, field, fault);
}

bool csv_count(struct csv *csv, size_t field, uint64_t *value)
{
    bool fine;
    if (!has_content(csv, field, &fine))
        return fine;
    const struct csv_cell *cell = &csv->cells[field];
    enum number_fault fault = number_parse_count(cell->text, cell->length, value);
    return fault == NUMBER_OK || report_number(csv, field, fault);
}
