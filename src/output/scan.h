// Reading back, strictly, what taut wrote: a text is followed letter by letter, and whatever else
// is there is a fault, which is stored until the reader asks for it.
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

// Goes past this text.
void scan_expect(struct scan *scan, const char *text);

// Whether the next letter is this one, which stays.
bool scan_next_is(struct scan *scan, char letter);

// What comes before `stop`, which is passed; at most size - 1 letters.
void scan_until(struct scan *scan, char stop, char *text, size_t size);

// A number that ends before `stop`.
double scan_number(struct scan *scan, char stop);
uint64_t scan_count(struct scan *scan, char stop);

// Little-endian values.
uint64_t scan_u32(struct scan *scan);
uint64_t scan_u64(struct scan *scan);
float scan_f32(struct scan *scan);

// `count` floats, or doubles made floats, that lie one after the other.
void scan_reals(struct scan *scan, bool single, float *values, uint64_t count);

// The same of bytes that are in memory; what is no finite number is the caller's to find.
void scan_decode_reals(const unsigned char *bytes, bool single, float *values, size_t count);

// The position in the file, and its length.
uint64_t scan_position(struct scan *scan);
uint64_t scan_length(struct scan *scan);
void scan_seek(struct scan *scan, uint64_t position);

#endif
