// Numbers as text, strictly: a decimal number and nothing else, whatever the locale, correctly
// rounded. YAML 1.1's other spellings (1_000, 0x10, 017, .inf) are refused by name, since a reader
// that took them for something else would be a trap.
#ifndef TAUT_SCENE_NUMBER_H
#define TAUT_SCENE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum number_fault {
    NUMBER_OK,
    NUMBER_EMPTY,
    NUMBER_JUNK,        // letters, or more after the number
    NUMBER_UNDERSCORE,  // 1_000
    NUMBER_HEXADECIMAL, // 0x10
    NUMBER_OCTAL,       // 017, 0o17 and any other leading zero
    NUMBER_NOT_FINITE,  // nan, .inf
    NUMBER_COMMA,       // 1,5
    NUMBER_TOO_LARGE,
    NUMBER_TOO_SMALL, // not zero, but nearer to it than a double can be
    NUMBER_TOO_LONG,
    NUMBER_NOT_WHOLE, // counts only
    NUMBER_NEGATIVE,  // counts only
};

// [+-] digits [. digits] [e [+-] digits], where digits may be missing on one side of the point.
// *value is written only on NUMBER_OK.
enum number_fault number_parse(const char *text, size_t length, double *value);

// A whole number >= 0: digits up to 2^64 - 1, or any number of number_parse that is whole and at
// most 2^53 (1e6).
enum number_fault number_parse_count(const char *text, size_t length, uint64_t *value);

// The text of a message after "'TEXT' ": "has an underscore; ...". Never NULL.
const char *number_fault_text(enum number_fault fault);

#endif
