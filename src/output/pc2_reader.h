// Reads point caches that output/pc2.c wrote (or any other of that format).
#ifndef TAUT_OUTPUT_PC2_READER_H
#define TAUT_OUTPUT_PC2_READER_H

#include "base/status.h"
#include "output/scan.h"

struct pc2_reader {
    struct scan scan;
    char *path;
    uint64_t node_count;
    uint64_t sample_count;
    double start, rate; // s: of the first sample, and between two
};

// pc2_reader_close after success.
taut_status pc2_reader_open(const char *path, struct pc2_reader *reader, taut_error *error);

// 3 a node of sample `number`.
taut_status pc2_reader_sample(struct pc2_reader *reader, uint64_t number, float *positions,
                              taut_error *error);

void pc2_reader_close(struct pc2_reader *reader);

#endif
