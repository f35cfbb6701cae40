// What the tests of the mesh readers share: bytes written number by number, and the findings of a
// reader as one text.
#ifndef TAUT_TESTS_MESH_FIXTURE_H
#define TAUT_TESTS_MESH_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scene/mesh/mesh_reader.h"

// A file in memory that grows as it is written.
struct bytes {
    unsigned char data[4096];
    size_t size;
    bool big_endian;
};

void put_text(struct bytes *bytes, const char *text);
void put_whole(struct bytes *bytes, uint64_t value, size_t size);
void put_float(struct bytes *bytes, float value);
void put_double(struct bytes *bytes, double value);

// The path of a file of that name in TAUT_TEST_OUT, which holds these bytes. Asserts. In a static
// buffer.
const char *write_file(const char *name, const void *data, size_t size);

// All findings, rendered one behind the other without source lines and carets: "FILE:LINE:COLUMN:
// error: TEXT\n". In a static buffer; frees the findings.
const char *findings_text(struct diagnostics *diagnostics);

// Six times the volume that the triangles enclose.
double six_volumes(const struct mesh *mesh);

#endif
