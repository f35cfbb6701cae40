// Writes one JSON value to a stream, for the commands and the event log of the window. Members are
// written in the order of the calls; numbers that JSON cannot represent are written as null.
// Reading JSON, and checking the stream for errors (once, at the end), are left to the caller.
#ifndef TAUT_BASE_JSON_H
#define TAUT_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    JSON_DIGITS_DOUBLE = 17, // enough to identify a double
    JSON_DIGITS_SINGLE = 9   // enough to identify a float
};

struct json {
    FILE *out;
    int digits;   // significant digits of numbers; 0: JSON_DIGITS_DOUBLE
    bool compact; // the whole value on one line, without spaces; otherwise indented by two
    // Private.
    int depth;
    bool filled; // the current object or array already has a member
};

// `key` is NULL in arrays and for the outermost value.
void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json); // ends the text with a newline if it is the outermost
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);

// NULL is written as null. A byte that is not UTF-8 is written as U+FFFD.
void json_string(struct json *json, const char *key, const char *value);

// Written as null if not finite.
void json_number(struct json *json, const char *key, double value);
void json_count(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

// An array of numbers.
void json_numbers(struct json *json, const char *key, const double *values, size_t count);

#endif
