// Writes one JSON value to a stream: indented by two, members in the order of the calls, numbers
// with 17 digits (which identify a double) and null where JSON has no number for them. Whether the
// stream took it all is for the caller to ask when it is done (output_finish in terminal.h).
#ifndef TAUT_CLI_JSON_H
#define TAUT_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *out;
    int depth;
    bool filled; // the present object or array already has a member
};

// `key` is NULL in arrays and for the outermost value.
void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json); // ends the text with a newline if it was the outermost
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);

// NULL is written as null. Bytes that are not UTF-8 become U+FFFD.
void json_string(struct json *json, const char *key, const char *value);

// null unless finite.
void json_number(struct json *json, const char *key, double value);
void json_count(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
