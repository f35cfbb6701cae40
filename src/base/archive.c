// Writes and reads the stream of a checkpoint (archive.h). All numbers are little endian and are
// copied as they lie in memory; machines of the other byte order are refused.
//
// zstd compresses chunks that are equal nearly everywhere (which springs are broken, what nodes
// touch), at several times the rate of a fast disk. Other numbers are stored as they are: those of
// bodies in motion shrink by a tenth or a third, at a rate below the disk's, so that writing would
// take longer. The content alone decides, never a clock: the same state is the same file.
#include "base/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <assert.h>
#include <string.h>

#include <zstd.h>

#include "base/hash.h"
#include "base/memory.h"

// As PNG's: a byte beyond ASCII, the name, and the line ends that transfers as text would change.
const unsigned char archive_magic[ARCHIVE_MAGIC_BYTES] = {0x89, 'T',  'A',  'U',
                                                          'T',  '\r', 0x1a, '\n'};

enum { HEADER_BYTES = 256, CHUNK_BYTES = 96, TRAILER_BYTES = 32, ALIGNMENT = 8 };
enum { CODEC_NONE, CODEC_ZSTD };
// A chunk must shrink to 1 / GAIN; chunks below SMALLEST are not tried.
enum { LEVEL = -5, SMALLEST = 512, GAIN = 200 };

static const uint32_t ORDER = 0x01020304, CHUNK_MARK = 0x4b4e4843, TRAILER_MARK = 0x444e4554;

size_t archive_type_bytes(unsigned type)
{
    static const size_t bytes[] = {0, 1, 4, 8, 4, 8};
    return type < sizeof bytes / sizeof bytes[0] ? bytes[type] : 0;
}

static uint64_t hash_of(const void *bytes, size_t count)
{
    struct hash hash;
    hash_begin(&hash);
    hash_add(&hash, bytes, count);
    return hash_end(&hash);
}

static bool is_little_endian(void)
{
    const uint32_t order = ORDER;
    return *(const unsigned char *)&order == 4;
}

static void put(unsigned char *to, size_t offset, const void *value, size_t count)
{
    memcpy(to + offset, value, count);
}

static void put_u32(unsigned char *to, size_t offset, uint32_t value)
{
    put(to, offset, &value, sizeof value);
}

static void put_u64(unsigned char *to, size_t offset, uint64_t value)
{
    put(to, offset, &value, sizeof value);
}

static uint32_t get_u32(const unsigned char *from, size_t offset)
{
    uint32_t value;
    memcpy(&value, from + offset, sizeof value);
    return value;
}

static uint64_t get_u64(const unsigned char *from, size_t offset)
{
    uint64_t value;
    memcpy(&value, from + offset, sizeof value);
    return value;
}

static double get_f64(const unsigned char *from, size_t offset)
{
    double value;
    memcpy(&value, from + offset, sizeof value);
    return value;
}

// ---- Writing

static void emit(struct archive_writer *writer, const void *bytes, size_t count)
{
    if (!writer->refused && count > 0)
        writer->refused = !writer->sink(writer->context, bytes, count);
    writer->bytes += count;
}

taut_status archive_write_part(struct archive_writer *writer, archive_sink *sink, void *context,
                               taut_error *error)
{
    *writer = (struct archive_writer){.sink = sink, .context = context};
    if (!is_little_endian())
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "checkpoints are written on machines with little-endian numbers only");
    writer->compressor = ZSTD_createCCtx();
    writer->packed = memory_allocate(NULL, ARCHIVE_CHUNK, 1);
    if (writer->compressor && writer->packed)
        return TAUT_OK;
    archive_end_part(writer);
    return fail_memory(error, "a checkpoint");
}

void archive_end_part(struct archive_writer *writer)
{
    ZSTD_freeCCtx(writer->compressor);
    memory_release(NULL, writer->packed, ARCHIVE_CHUNK, 1);
    writer->compressor = writer->packed = NULL;
}

taut_status archive_write_header(struct archive_writer *writer, const struct archive_header *header,
                                 archive_sink *sink, void *context, taut_error *error)
{
    const taut_status status = archive_write_part(writer, sink, context, error);
    if (status != TAUT_OK)
        return status;
    unsigned char bytes[HEADER_BYTES] = {0};
    put(bytes, 0, archive_magic, sizeof archive_magic);
    put_u32(bytes, 8, ARCHIVE_FORMAT);
    put_u32(bytes, 12, ORDER);
    put_u32(bytes, 16, HEADER_BYTES);
    put_u32(bytes, 20, header->precision);
    put_u64(bytes, 24, header->digest);
    memcpy(bytes + 32, TAUT_VERSION_STRING, sizeof TAUT_VERSION_STRING);
    _Static_assert(sizeof TAUT_VERSION_STRING <= sizeof header->version, "it fits");
    put(bytes, 48, header->integrator, sizeof header->integrator);
    put_u64(bytes, 72, header->step);
    put(bytes, 80, &header->time, sizeof header->time);
    put(bytes, 88, &header->dt, sizeof header->dt);
    put_u64(bytes, 96, header->nodes);
    put_u64(bytes, 104, header->springs);
    put_u64(bytes, 112, header->faces);
    put_u64(bytes, 120, header->bodies);
    put_u64(bytes, HEADER_BYTES - 8, hash_of(bytes, HEADER_BYTES - 8));
    emit(writer, bytes, sizeof bytes);
    return TAUT_OK;
}

// Bytes of the compressed chunk in writer->packed; 0: it does not pay. zstd gives up once it
// exceeds the bytes allowed, after a hundredth of the time of a chunk that it compresses.
static size_t compress(struct archive_writer *writer, const void *numbers, size_t raw)
{
    if (raw < SMALLEST)
        return 0;
    const size_t stored =
        ZSTD_compressCCtx(writer->compressor, writer->packed, raw / GAIN, numbers, raw, LEVEL);
    return ZSTD_isError(stored) ? 0 : stored;
}

static size_t padding_of(size_t stored)
{
    return (ALIGNMENT - stored % ALIGNMENT) % ALIGNMENT;
}

uint64_t archive_chunk_bytes(struct archive_writer *writer, enum archive_type type,
                             const void *numbers, uint64_t count)
{
    const size_t raw = (size_t)count * archive_type_bytes(type);
    const size_t packed = compress(writer, numbers, raw), stored = packed > 0 ? packed : raw;
    return CHUNK_BYTES + stored + padding_of(stored);
}

static void write_chunk(struct archive_writer *writer, const char *name, enum archive_type type,
                        uint64_t total, uint64_t first, const void *numbers, uint64_t count)
{
    static const unsigned char zeros[ALIGNMENT];
    const size_t raw = (size_t)count * archive_type_bytes(type);
    const size_t packed = compress(writer, numbers, raw), stored = packed > 0 ? packed : raw;
    const void *payload = packed > 0 ? writer->packed : numbers;
    unsigned char bytes[CHUNK_BYTES] = {0};
    put_u32(bytes, 0, CHUNK_MARK);
    bytes[4] = (unsigned char)type;
    bytes[5] = packed > 0 ? CODEC_ZSTD : CODEC_NONE;
    put(bytes, 8, name, strlen(name));
    put_u64(bytes, 48, total);
    put_u64(bytes, 56, first);
    put_u64(bytes, 64, count);
    put_u32(bytes, 72, (uint32_t)raw);
    put_u32(bytes, 76, (uint32_t)stored);
    put_u64(bytes, 80, hash_of(payload, stored));
    put_u64(bytes, 88, hash_of(bytes, 88));
    emit(writer, bytes, sizeof bytes);
    emit(writer, payload, stored);
    emit(writer, zeros, padding_of(stored));
    writer->chunks++;
}

void archive_write(struct archive_writer *writer, const char *name, enum archive_type type,
                   uint64_t total, uint64_t first, const void *numbers, uint64_t count)
{
    const uint64_t size = archive_type_bytes(type);
    assert(size > 0); // a type of the enumeration
    const uint64_t most = ARCHIVE_CHUNK / size;
    for (uint64_t done = 0; done < count && !writer->refused;) {
        const uint64_t part = count - done < most ? count - done : most;
        write_chunk(writer, name, type, total, first + done,
                    (const unsigned char *)numbers + done * size, part);
        done += part;
    }
}

taut_status archive_write_end(struct archive_writer *writer, taut_error *error)
{
    unsigned char bytes[TRAILER_BYTES] = {0};
    put_u32(bytes, 0, TRAILER_MARK);
    put_u64(bytes, 8, writer->chunks);
    put_u64(bytes, 16, writer->bytes + sizeof bytes);
    put_u64(bytes, 24, hash_of(bytes, 24));
    emit(writer, bytes, sizeof bytes);
    archive_end_part(writer);
    return writer->refused ? fail_memory(error, "a checkpoint") : TAUT_OK;
}

// ---- Reading

size_t archive_file_source(void *context, void *bytes, size_t count, int *failure)
{
    FILE *file = context;
    errno = 0;
    if (!bytes) {
        if (fseek(file, (long)count, SEEK_CUR) == 0)
            return count;
        *failure = errno ? errno : EIO;
        return 0;
    }
    const size_t got = fread(bytes, 1, count, file);
    if (got < count && ferror(file))
        *failure = errno ? errno : EIO;
    return got;
}

// All of `count` bytes, or a failure; `what` is what they belong to.
static taut_status fetch(struct archive_reader *reader, void *bytes, size_t count, const char *what,
                         taut_error *error)
{
    const size_t got = reader->source(reader->context, bytes, count, &reader->failure);
    reader->bytes += got;
    if (got == count)
        return TAUT_OK;
    if (reader->failure)
        return fail(error, TAUT_ERROR_IO, "cannot read '%.400s': %s", reader->path,
                    strerror(reader->failure));
    return fail(error, TAUT_ERROR_IO,
                "'%.400s' is cut off: it ends at byte %" PRIu64 ", within %s. Take an older "
                "checkpoint, or start the run anew",
                reader->path, reader->bytes, what);
}

static taut_status altered(const struct archive_reader *reader, const char *what, const char *check,
                           taut_error *error)
{
    return fail(error, TAUT_ERROR_IO,
                "'%.400s' has been altered: %s of %s is wrong, before byte %" PRIu64
                ". Take an older checkpoint, or start the run anew",
                reader->path, check, what, reader->bytes);
}

// Whether a name is as it is written: printable ASCII without blanks, padded with zeros, at least
// one. So messages can have it.
static bool is_name(const char *name, size_t size)
{
    size_t length = 0;
    while (length < size && name[length] > ' ' && name[length] <= '~')
        length++;
    for (size_t i = length; i < size; i++)
        if (name[i] != '\0')
            return false;
    return length < size;
}

static taut_status check_header(struct archive_reader *reader, const unsigned char *bytes,
                                taut_error *error)
{
    struct archive_header *header = &reader->header;
    if (get_u32(bytes, 12) != ORDER)
        return altered(reader, "the header", "the byte order", error);
    header->format = get_u32(bytes, 8);
    memcpy(header->version, bytes + 32, sizeof header->version);
    if (!is_name(header->version, sizeof header->version))
        return altered(reader, "the header", "the version", error);
    // In every format the header has this length and this checksum at its end.
    if (get_u64(bytes, HEADER_BYTES - 8) != hash_of(bytes, HEADER_BYTES - 8))
        return altered(reader, "the header", "the checksum", error);
    if (header->format > ARCHIVE_FORMAT)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "'%.400s' has format %" PRIu32 ", written by taut %s, and this is taut %s, "
                    "which reads formats up to %d: use a newer taut",
                    reader->path, header->format, header->version, TAUT_VERSION_STRING,
                    ARCHIVE_FORMAT);
    memcpy(header->integrator, bytes + 48, sizeof header->integrator);
    if (header->format == 0 || get_u32(bytes, 16) != HEADER_BYTES ||
        !is_name(header->integrator, sizeof header->integrator))
        return altered(reader, "the header", "the content", error);
    header->precision = get_u32(bytes, 20);
    header->digest = get_u64(bytes, 24);
    header->step = get_u64(bytes, 72);
    header->time = get_f64(bytes, 80);
    header->dt = get_f64(bytes, 88);
    header->nodes = get_u64(bytes, 96);
    header->springs = get_u64(bytes, 104);
    header->faces = get_u64(bytes, 112);
    header->bodies = get_u64(bytes, 120);
    return TAUT_OK;
}

taut_status archive_open(struct archive_reader *reader, archive_source *source, void *context,
                         const char *path, taut_error *error)
{
    *reader = (struct archive_reader){.source = source, .context = context, .path = path};
    hash_begin(&reader->headers);
    if (!is_little_endian())
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "checkpoints are read on machines with little-endian numbers only");
    reader->packed = memory_allocate(NULL, ARCHIVE_CHUNK, 1);
    reader->numbers = memory_allocate(NULL, ARCHIVE_CHUNK, 1);
    if (!reader->packed || !reader->numbers)
        return fail_memory(error, "reading a checkpoint");
    unsigned char bytes[HEADER_BYTES];
    const size_t got = source(context, bytes, sizeof archive_magic, &reader->failure);
    reader->bytes = got;
    if (!reader->failure && (got == 0 || memcmp(bytes, archive_magic, got) != 0))
        return fail(error, TAUT_ERROR_IO, "'%.400s' is no checkpoint of taut", path);
    taut_status status = TAUT_OK;
    if (got < sizeof archive_magic || reader->failure)
        status = fetch(reader, bytes + got, sizeof archive_magic - got, "its header", error);
    if (status == TAUT_OK)
        status = fetch(reader, bytes + sizeof archive_magic, HEADER_BYTES - sizeof archive_magic,
                       "its header", error);
    if (status != TAUT_OK)
        return status;
    hash_add(&reader->headers, bytes, sizeof bytes);
    return check_header(reader, bytes, error);
}

static taut_status check_trailer(struct archive_reader *reader, const unsigned char *bytes,
                                 taut_error *error)
{
    unsigned char more;
    if (get_u64(bytes, 24) != hash_of(bytes, 24))
        return altered(reader, "the trailer", "the checksum", error);
    if (get_u64(bytes, 8) != reader->chunks || get_u64(bytes, 16) != reader->bytes ||
        get_u32(bytes, 4) != 0)
        return altered(reader, "the trailer", "the number of chunks or bytes", error);
    if (reader->source(reader->context, &more, 1, &reader->failure) != 0)
        return altered(reader, "the file", "the end", error);
    if (reader->failure)
        return fetch(reader, &more, 1, "the end", error);
    return TAUT_OK;
}

// Numbers of a chunk's header that its checksum cannot vouch for where somebody made it up.
static bool is_sound(const struct archive_chunk *chunk, const unsigned char *bytes)
{
    const uint64_t size = archive_type_bytes(bytes[4]);
    const uint32_t raw = get_u32(bytes, 72), stored = get_u32(bytes, 76);
    return size > 0 && bytes[5] <= CODEC_ZSTD && bytes[6] == 0 && bytes[7] == 0 &&
           is_name(chunk->name, sizeof chunk->name) && chunk->name[0] != '\0' && chunk->count > 0 &&
           chunk->count <= ARCHIVE_CHUNK / size && raw == chunk->count * size && stored > 0 &&
           (bytes[5] == CODEC_NONE ? stored == raw : stored < raw) &&
           chunk->count <= chunk->total && chunk->first <= chunk->total - chunk->count;
}

// Whether a chunk continues the array that is being read, or begins another where that is complete.
static bool follows(const struct archive_chunk *last, const struct archive_chunk *chunk)
{
    const bool complete = last->first + last->count == last->total;
    if (strcmp(last->name, chunk->name) != 0)
        return complete && chunk->first == 0;
    return !complete && chunk->type == last->type && chunk->total == last->total &&
           chunk->first == last->first + last->count;
}

static taut_status read_payload(struct archive_reader *reader, const unsigned char *bytes,
                                const char *what, taut_error *error)
{
    static const unsigned char zeros[ALIGNMENT];
    const size_t raw = get_u32(bytes, 72), stored = get_u32(bytes, 76);
    const size_t padding = padding_of(stored);
    const bool is_packed = bytes[5] == CODEC_ZSTD;
    unsigned char *payload = is_packed ? reader->packed : reader->numbers, padding_bytes[ALIGNMENT];
    taut_status status = fetch(reader, payload, stored, what, error);
    if (status == TAUT_OK && hash_of(payload, stored) != get_u64(bytes, 80))
        return altered(reader, what, "the checksum", error);
    if (status == TAUT_OK)
        status = fetch(reader, padding_bytes, padding, what, error);
    if (status != TAUT_OK)
        return status;
    if (memcmp(padding_bytes, zeros, padding) != 0)
        return altered(reader, what, "the padding", error);
    if (is_packed && ZSTD_decompress(reader->numbers, raw, reader->packed, stored) != raw)
        return altered(reader, what, "the compression", error);
    return TAUT_OK;
}

taut_status archive_next(struct archive_reader *reader, struct archive_chunk *chunk,
                         taut_error *error)
{
    unsigned char bytes[CHUNK_BYTES];
    *chunk = (struct archive_chunk){.total = 0};
    taut_status status = fetch(reader, bytes, TRAILER_BYTES, "a chunk's header", error);
    if (status != TAUT_OK)
        return status;
    const bool complete = reader->last.first + reader->last.count == reader->last.total;
    if (get_u32(bytes, 0) == TRAILER_MARK && complete)
        return check_trailer(reader, bytes, error);
    if (get_u32(bytes, 0) != CHUNK_MARK)
        return altered(reader, "a chunk", "the beginning", error);
    status = fetch(reader, bytes + TRAILER_BYTES, CHUNK_BYTES - TRAILER_BYTES, "a chunk's header",
                   error);
    if (status != TAUT_OK)
        return status;
    if (get_u64(bytes, 88) != hash_of(bytes, 88))
        return altered(reader, "a chunk's header", "the checksum", error);
    hash_add(&reader->headers, bytes, sizeof bytes);
    memcpy(chunk->name, bytes + 8, sizeof chunk->name);
    chunk->type = (enum archive_type)bytes[4];
    chunk->total = get_u64(bytes, 48);
    chunk->first = get_u64(bytes, 56);
    chunk->count = get_u64(bytes, 64);
    if (!is_sound(chunk, bytes) || !follows(&reader->last, chunk))
        return altered(reader, "a chunk's header", "the content", error);
    char what[ARCHIVE_NAME + 80];
    snprintf(what, sizeof what, "array '%s', elements %" PRIu64 " to %" PRIu64, chunk->name,
             chunk->first, chunk->first + chunk->count - 1);
    const bool skipped = reader->skips && reader->skips(reader->skips_context, chunk);
    if (skipped) {
        const size_t stored = get_u32(bytes, 76);
        status = fetch(reader, NULL, stored + padding_of(stored), what, error);
    } else {
        status = read_payload(reader, bytes, what, error);
    }
    reader->chunks++;
    reader->last = *chunk;
    chunk->numbers = skipped ? NULL : reader->numbers;
    return status;
}

uint64_t archive_fingerprint(const struct archive_reader *reader)
{
    return hash_end(&reader->headers);
}

void archive_close(struct archive_reader *reader)
{
    memory_release(NULL, reader->packed, ARCHIVE_CHUNK, 1);
    memory_release(NULL, reader->numbers, ARCHIVE_CHUNK, 1);
    reader->packed = reader->numbers = NULL;
}
