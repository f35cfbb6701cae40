// A strict reader of CSV tables with a header row: numbers only, no quotes, every row as wide as
// the header, columns by name in any order. What is not understood is an error at FILE:LINE:COLUMN.
#ifndef TAUT_SCENE_CSV_H
#define TAUT_SCENE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diagnostics.h"

enum { CSV_FIELDS_MAX = 8, CSV_ERRORS_MAX = 20 };

enum csv_presence {
    CSV_REQUIRED,
    CSV_OPTIONAL, // the column may be left out
    CSV_DEFAULTED // so may the content of single cells
};

struct csv_field {
    const char *name;
    enum csv_presence presence;
};

struct csv_cell {
    const char *text; // NULL: there is no such column
    size_t length;
};

struct csv {
    const char *path;
    struct diagnostics *diagnostics;
    size_t error_count; // after CSV_ERRORS_MAX no more rows come
    char *text;         // the whole file
    size_t length;
    const char *row, *next; // the present row and the one after it
    uint64_t line;          // of the present row, from 1
    const struct csv_field *fields;
    size_t field_count;
    size_t column_count;                   // of the header
    int field_of_column[CSV_FIELDS_MAX];   // which field each column is
    struct csv_cell cells[CSV_FIELDS_MAX]; // of the present row, by field
};

// Reads the file and its header. False with the reasons in `diagnostics`; csv_close may be called
// all the same. `fields` (at most CSV_FIELDS_MAX) must outlive the reading.
bool csv_open(struct csv *csv, const char *path, const struct csv_field *fields, size_t field_count,
              struct diagnostics *diagnostics);

// Whether the header has that field.
bool csv_has(const struct csv *csv, size_t field);

// Rows below the header, malformed ones included.
uint64_t csv_row_count(const struct csv *csv);

// Goes to the next row that is well formed; reports others on the way. False at the end.
bool csv_next(struct csv *csv);

// Goes back to row `row`, from 0, to report an error in it.
void csv_seek(struct csv *csv, uint64_t row);

// The number in a field of the present row. Without the column, or with an empty cell of a
// CSV_DEFAULTED field, *value stays as it is. False, after a message, if there is none.
bool csv_number(struct csv *csv, size_t field, double *value);

// The same for a whole number >= 0.
bool csv_count(struct csv *csv, size_t field, uint64_t *value);

// Adds an error at a field of the present row and returns false.
bool csv_report(struct csv *csv, size_t field, const char *format, ...) PRINTF_FORMAT(3, 4);

void csv_close(struct csv *csv);

#endif
