// Reads files that taut wrote, strictly: expected text must match character by character. The first
// deviation sets `failed`, which the reader checks when it suits.
#ifndef TAUT_OUTPUT_SCAN_H
#define TAUT_OUTPUT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct scan {
    FILE *file;
    bool failed;
};

// Reads this text, or fails.
void scan_expect(struct scan *scan, const char *text);

// Whether the next character is `letter`; it is not consumed.
bool scan_next_is(struct scan *scan, char letter);

// Reads the text before `stop`, at most size - 1 characters, and consumes `stop`.
void scan_until(struct scan *scan, char stop, char *text, size_t size);

// Reads a number that ends before `stop`, and consumes `stop`.
double scan_number(struct scan *scan, char stop);
uint64_t scan_count(struct scan *scan, char stop);

// Little-endian values.
uint64_t scan_u32(struct scan *scan);
uint64_t scan_u64(struct scan *scan);
float scan_f32(struct scan *scan);

// Reads `count` consecutive floats, or doubles converted to floats.
void scan_reals(struct scan *scan, bool single, float *values, uint64_t count);

// The same from bytes in memory. Checking for finite numbers is left to the caller.
void scan_decode_reals(const unsigned char *bytes, bool single, float *values, size_t count);

// The same as doubles, exactly.
void scan_decode_doubles(const unsigned char *bytes, bool single, double *values, size_t count);

// The position in the file, and the length of the file.
uint64_t scan_position(struct scan *scan);
uint64_t scan_length(struct scan *scan);
void scan_seek(struct scan *scan, uint64_t position);

#endif
