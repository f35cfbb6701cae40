// Point caches (.pc2), the motion of a body for Blender's Mesh Cache modifier (and 3ds Max):
// writing and reading.
//
// Layout, little endian: "POINTCACHE2" and a 0, int32 version 1, int32 points, float start, float
// sample rate, int32 samples; then x, y, z as float32 for each point of each sample. Start and rate
// are in seconds, which is how Blender's time mode "Seconds" reads them; its mode "Frame" takes the
// samples one by one.
#ifndef TAUT_OUTPUT_PC2_H
#define TAUT_OUTPUT_PC2_H

#include "base/status.h"
#include "output/file.h"
#include "output/scan.h"
#include "state/frame.h"

struct pc2 {
    struct file file;
    uint64_t node_count;
    uint32_t sample_count;
};

// Begins a cache without samples. `sample_seconds` 0 (unknown) is written as 1.
taut_status pc2_open(struct pc2 *cache, const char *path, uint64_t node_count, double start,
                     double sample_seconds, taut_error *error);

// The length of a cache with so many samples.
uint64_t pc2_bytes(uint64_t node_count, uint64_t samples);

// The hash of a cache with so many samples, as file_checksum has it.
taut_status pc2_hash(const char *path, uint64_t node_count, uint64_t samples, struct hash *hash,
                     taut_error *error);

// Continues a cache after its first `samples` samples.
taut_status pc2_resume(struct pc2 *cache, const char *path, uint64_t node_count, uint64_t samples,
                       taut_error *error);

// Adds a sample, 3 doubles per node, and then counts it in the header, so that the file always has
// the samples that its header states.
taut_status pc2_add(struct pc2 *cache, const double *positions, taut_error *error);

// The same of the nodes of a frame from this one on, which are read piece by piece.
taut_status pc2_add_nodes(struct pc2 *cache, const struct frame *now, uint64_t first,
                          taut_error *error);

taut_status pc2_close(struct pc2 *cache, taut_error *error);

// ---- Reading.

struct pc2_reader {
    struct scan scan;
    char *path;
    uint64_t node_count;
    uint64_t sample_count;
    double start, rate; // s, of the first sample and between two samples
};

// Opens a cache; call pc2_reader_close after success.
taut_status pc2_reader_open(const char *path, struct pc2_reader *reader, taut_error *error);

// Reads sample `number`, 3 floats per node.
taut_status pc2_reader_sample(struct pc2_reader *reader, uint64_t number, float *positions,
                              taut_error *error);

void pc2_reader_close(struct pc2_reader *reader);

#endif
