// A checkpoint as a stream of bytes: a header, named arrays of numbers in chunks, a trailer. Each
// part has a checksum, so that a stream that was cut off or altered anywhere is refused, with the
// array and the bytes concerned. docs/checkpoints.md describes it byte by byte.
//
// Nothing is allocated by a size that the stream states: chunks have a greatest size, and the
// caller compares them with the lengths of its arrays. The caller provides the destination and the
// source of the bytes: a file, memory, and later the pieces that ranks write.
#ifndef TAUT_BASE_ARCHIVE_H
#define TAUT_BASE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"

enum {
    ARCHIVE_FORMAT = 1,      // the version that is written; older ones are read
    ARCHIVE_CHUNK = 1 << 20, // bytes of a chunk, at most, before compression
    ARCHIVE_NAME = 40,       // bytes of an array's name, with a NUL
    ARCHIVE_MAGIC_BYTES = 8  // by which a file is recognised
};

extern const unsigned char archive_magic[ARCHIVE_MAGIC_BYTES];

enum archive_type { ARCHIVE_U8 = 1, ARCHIVE_U32, ARCHIVE_U64, ARCHIVE_F32, ARCHIVE_F64 };

// Bytes of a number; 0: there is no such type.
size_t archive_type_bytes(unsigned type);

// The description of the run in the header.
struct archive_header {
    uint32_t format;     // set by the writer
    uint32_t precision;  // enum precision, counted from 1
    uint64_t digest;     // of the scene's model (scene/bodies.h)
    char version[16];    // of the program, NUL-terminated; set by the writer
    char integrator[24]; // NUL-terminated
    uint64_t step;       // steps done
    double time, dt;     // s
    uint64_t nodes, springs, faces, bodies;
};

// ---- Writing

// Takes bytes; false: it cannot, and the writer fails. A sink that keeps its failures to itself
// (output/file.h) returns true.
typedef bool archive_sink(void *context, const void *bytes, size_t count);

struct archive_writer {
    archive_sink *sink;
    void *context;
    unsigned char *packed; // scratch of compression
    uint64_t bytes, chunks;
    bool refused;
    void *compressor;
};

// TAUT_ERROR_MEMORY, or TAUT_ERROR_UNSUPPORTED on a machine whose numbers are not little endian.
taut_status archive_write_header(struct archive_writer *writer, const struct archive_header *header,
                                 archive_sink *sink, void *context, taut_error *error);

// Adds elements [first, first + count) of an array that has `total` in all. The pieces of an array
// come in order; each becomes chunks of its own. Failures are reported by archive_write_end.
void archive_write(struct archive_writer *writer, const char *name, enum archive_type type,
                   uint64_t total, uint64_t first, const void *numbers, uint64_t count);

// Begins a part, without a header, of a stream that several processes write, whose chunks are those
// of one process. ->bytes and ->chunks of the part belong to the writer of the header.
// TAUT_ERROR_MEMORY.
taut_status archive_write_part(struct archive_writer *writer, archive_sink *sink, void *context,
                               taut_error *error);
void archive_end_part(struct archive_writer *writer);

// The bytes that archive_write emits for the elements of one chunk, at most ARCHIVE_CHUNK bytes.
uint64_t archive_chunk_bytes(struct archive_writer *writer, enum archive_type type,
                             const void *numbers, uint64_t count);

// Arrays whose names begin with this are of the program that runs the solver (the position of
// its output); restoring a solver passes over them.
#define ARCHIVE_OUTPUT "output."

// A whole array, for callers that pass several of them on.
struct archive_array {
    const char *name;
    enum archive_type type;
    const void *numbers;
    uint64_t count;
};

// Writes the trailer. Releases the writer in any case.
taut_status archive_write_end(struct archive_writer *writer, taut_error *error);

// ---- Reading

// Gives up to `count` bytes, as many as there are; fewer: the end, or a failure, which is kept in
// *failure (errno). Where the reader skips chunks, `bytes` may be NULL: the source passes over
// them.
typedef size_t archive_source(void *context, void *bytes, size_t count, int *failure);

struct archive_chunk {
    char name[ARCHIVE_NAME];
    enum archive_type type;
    uint64_t total, first, count; // elements: of the array, before this chunk, of it
    const void *numbers;          // until the next chunk is read; NULL: it was skipped
};

struct archive_reader {
    archive_source *source;
    void *context;
    const char *path; // for messages
    struct archive_header header;
    uint64_t bytes, chunks;
    int failure;
    unsigned char *packed, *numbers;
    struct hash headers; // of all headers so far, which have the checksums of what follows them
    struct archive_chunk last; // what is known of the array that is being read
    // Whether the numbers of a chunk, which has no ->numbers yet, are neither read nor checked.
    // NULL: all are.
    bool (*skips)(void *context, const struct archive_chunk *chunk);
    void *skips_context;
};

// Reads and checks the header. `path` stays the caller's. archive_close may follow a failure.
taut_status archive_open(struct archive_reader *reader, archive_source *source, void *context,
                         const char *path, taut_error *error);

// Reads and checks the next chunk; chunks of an array are without gaps and in order. At the end,
// once the trailer and that nothing follows it have been checked, chunk->name is empty.
taut_status archive_next(struct archive_reader *reader, struct archive_chunk *chunk,
                         taut_error *error);

// Distinguishes streams by what has been read of them, numbers included, whether they were skipped
// or not.
uint64_t archive_fingerprint(const struct archive_reader *reader);

void archive_close(struct archive_reader *reader);

// A source of a `FILE *`.
archive_source archive_file_source;

#endif
