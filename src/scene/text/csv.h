// A strict reader of CSV tables with a header row: commas between numbers and plain names, which
// may be in quotes; every row as wide as the header, columns by name in any order. LF, CR LF and CR
// end lines; empty lines may follow the table. Anything else is an error at FILE:LINE:COLUMN. A
// table is read in chunks, twice: to count its rows, and for these. It takes the memory of one
// chunk, or of its longest line; from a pipe, which cannot be read twice, that of the whole table.
#ifndef TAUT_SCENE_CSV_H
#define TAUT_SCENE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diagnostics.h"

enum { CSV_FIELDS_MAX = 8, CSV_ERRORS_MAX = 20 };

enum csv_presence {
    CSV_REQUIRED,
    CSV_OPTIONAL, // the column may be missing
    CSV_DEFAULTED // the column, or single cells, may be empty or missing
};

struct csv_field {
    const char *name;
    enum csv_presence presence;
};

struct csv_cell {
    const char *text; // NULL: the column is missing
    size_t length;
};

struct csv {
    const char *path;
    struct diagnostics *diagnostics;
    size_t error_count; // from CSV_ERRORS_MAX on, no more rows are returned
    FILE *stream;
    char *pipe;              // what a pipe had, which the stream reads
    size_t start;            // of the table, after a byte order mark
    uint64_t length;         // end of the table, without blanks and empty lines at its end
    uint64_t row_count;      // after the header
    char *text;              // a part of the table, up to byte `end` of it, and a NUL
    size_t filled, capacity; // of the part
    uint64_t end;
    const char *row, *next; // the current row and the next one, which may not be there yet
    uint64_t line;          // of the current row, from 1
    const struct csv_field *fields;
    size_t field_count;
    size_t column_count;                   // in the header
    int field_of_column[CSV_FIELDS_MAX];   // the field of each column
    struct csv_cell cells[CSV_FIELDS_MAX]; // of the current row, by field
};

// Looks through the file and reads its header. False with the reasons in `diagnostics`; csv_close
// may be called in either case. `fields` (at most CSV_FIELDS_MAX) must outlive the csv.
bool csv_open(struct csv *csv, const char *path, const struct csv_field *fields, size_t field_count,
              struct diagnostics *diagnostics);

// Whether the header has that field.
bool csv_has(const struct csv *csv, size_t field);

// The number of rows after the header, malformed ones included.
uint64_t csv_row_count(const struct csv *csv);

// Advances to the next well-formed row; reports malformed ones before it, and a file that cannot be
// read to its end. False at the end, and after such errors.
bool csv_next(struct csv *csv);

// Returns to row `row`, from 0, to report an error in it.
void csv_seek(struct csv *csv, uint64_t row);

// The number in a field of the current row. If the column is missing, or a cell of a CSV_DEFAULTED
// field is empty, *value is unchanged. False, after an error, if there is no valid number.
bool csv_number(struct csv *csv, size_t field, double *value);

// The same for a whole number >= 0.
bool csv_count(struct csv *csv, size_t field, uint64_t *value);

// Adds an error at a field of the current row and returns false.
bool csv_report(struct csv *csv, size_t field, const char *format, ...) PRINTF_FORMAT(3, 4);

void csv_close(struct csv *csv);

#endif
