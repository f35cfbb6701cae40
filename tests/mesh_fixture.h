// Shared by the tests of the mesh readers: writing binary files value by value, and the diagnostics
// of a reader as one text.
#ifndef TAUT_TESTS_MESH_FIXTURE_H
#define TAUT_TESTS_MESH_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scene/mesh/mesh_reader.h"

// A file in memory that grows as values are appended.
struct bytes {
    unsigned char data[4096];
    size_t size;
    bool big_endian;
};

void put_text(struct bytes *bytes, const char *text);
void put_whole(struct bytes *bytes, uint64_t value, size_t size);
void put_float(struct bytes *bytes, float value);
void put_double(struct bytes *bytes, double value);

// Writes a file of that name with these bytes in TAUT_TEST_OUT, and returns its path in a static
// buffer. Asserts.
const char *write_file(const char *name, const void *data, size_t size);

// All diagnostics as one text without source lines and carets, "FILE:LINE:COLUMN: error: TEXT\n"
// each, in a static buffer; frees the diagnostics.
const char *findings_text(struct diagnostics *diagnostics);

// Six times the volume that the triangles enclose.
double six_volumes(const struct mesh *mesh);

#endif
