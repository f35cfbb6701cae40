// Strict parsing of numbers: a decimal number and nothing else, independent of the locale,
// correctly rounded. Other spellings of YAML 1.1 (1_000, 0x10, 017, .inf) are rejected by name,
// because reading them as something else would be a trap.
#ifndef TAUT_SCENE_NUMBER_H
#define TAUT_SCENE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum number_fault {
    NUMBER_OK,
    NUMBER_EMPTY,
    NUMBER_JUNK,        // letters, or text after the number
    NUMBER_UNDERSCORE,  // 1_000
    NUMBER_HEXADECIMAL, // 0x10
    NUMBER_OCTAL,       // 017, 0o17 and any other leading zero
    NUMBER_NOT_FINITE,  // nan, .inf
    NUMBER_COMMA,       // 1,5
    NUMBER_TOO_LARGE,
    NUMBER_TOO_SMALL, // not zero, but below the smallest double
    NUMBER_TOO_LONG,
    NUMBER_NOT_WHOLE, // counts only
    NUMBER_NEGATIVE,  // counts only
};

// Grammar: [+-] digits [. digits] [e [+-] digits], where the digits on one side of the point may be
// missing. *value is written only on NUMBER_OK.
enum number_fault number_parse(const char *text, size_t length, double *value);

// A whole number >= 0: digits up to 2^64 - 1, or any number accepted by number_parse (1e6) that is
// whole and at most 2^53.
enum number_fault number_parse_count(const char *text, size_t length, uint64_t *value);

// The text of a message after "'TEXT' ": "has an underscore; ...". Never NULL.
const char *number_fault_text(enum number_fault fault);

#endif
