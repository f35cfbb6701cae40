// Writes and reads .pc2 files (pc2.h). Which times are sampled is left to recording.c.
#include "output/pc2.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/text.h"

enum { SAMPLE_COUNT_OFFSET = 28, HEADER_BYTES = 32 };

// The number of samples in the header.
static void patch_count(struct pc2 *cache, uint32_t count)
{
    unsigned char bytes[4] = {(unsigned char)count, (unsigned char)(count >> 8),
                              (unsigned char)(count >> 16), (unsigned char)(count >> 24)};
    file_patch(&cache->file, SAMPLE_COUNT_OFFSET, bytes, sizeof bytes);
}

taut_status pc2_open(struct pc2 *cache, const char *path, uint64_t node_count, double start,
                     double sample_seconds, taut_error *error)
{
    memset(cache, 0, sizeof *cache);
    if (node_count > INT32_MAX)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "cannot write '%s': a point cache has at most 2147483647 points", path);
    taut_status status = file_grow(&cache->file, path, error);
    if (status != TAUT_OK)
        return status;
    cache->node_count = node_count;
    file_write(&cache->file, "POINTCACHE2", 12);
    file_put_u32(&cache->file, 1);
    file_put_u32(&cache->file, (uint32_t)node_count);
    file_put_f32(&cache->file, start);
    file_put_f32(&cache->file, sample_seconds > 0 ? sample_seconds : 1);
    file_put_u32(&cache->file, 0);
    status = file_end_record(&cache->file, error);
    if (status != TAUT_OK)
        file_abandon(&cache->file);
    return status;
}

uint64_t pc2_bytes(uint64_t node_count, uint64_t samples)
{
    return HEADER_BYTES + 12 * node_count * samples;
}

taut_status pc2_hash(const char *path, uint64_t node_count, uint64_t samples, struct hash *hash,
                     taut_error *error)
{
    return file_hash(path, pc2_bytes(node_count, samples), SAMPLE_COUNT_OFFSET, sizeof(uint32_t),
                     hash, error);
}

taut_status pc2_resume(struct pc2 *cache, const char *path, uint64_t node_count, uint64_t samples,
                       taut_error *error)
{
    memset(cache, 0, sizeof *cache);
    if (samples > INT32_MAX || node_count > INT32_MAX)
        return fail(error, TAUT_ERROR_IO, "'%s' cannot have %llu samples", path,
                    (unsigned long long)samples);
    taut_status status = file_resume(&cache->file, path, pc2_bytes(node_count, samples), error);
    if (status != TAUT_OK)
        return status;
    cache->node_count = node_count;
    cache->sample_count = (uint32_t)samples;
    patch_count(cache, cache->sample_count);
    return file_end_record(&cache->file, error);
}

static taut_status check_room(const struct pc2 *cache, taut_error *error)
{
    if (cache->sample_count < INT32_MAX)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "cannot write '%s': a point cache has at most 2147483647 samples",
                cache->file.path);
}

static taut_status end_sample(struct pc2 *cache, taut_error *error)
{
    const uint32_t count = cache->sample_count + 1;
    patch_count(cache, count);
    taut_status status = file_end_record(&cache->file, error);
    if (status == TAUT_OK)
        cache->sample_count = count;
    return status;
}

taut_status pc2_add(struct pc2 *cache, const double *positions, taut_error *error)
{
    taut_status status = check_room(cache, error);
    if (status != TAUT_OK)
        return status;
    for (uint64_t i = 0; i < 3 * cache->node_count; i++)
        file_put_f32(&cache->file, positions[i]);
    return end_sample(cache, error);
}

taut_status pc2_add_nodes(struct pc2 *cache, const struct frame *now, uint64_t first,
                          taut_error *error)
{
    enum { NODES_AT_ONCE = 16384 };
    taut_status status = check_room(cache, error);
    if (status != TAUT_OK)
        return status;
    double *positions = malloc(3 * NODES_AT_ONCE * sizeof *positions);
    if (!positions)
        return fail_memory(error, "a point cache");
    for (uint64_t node = 0; node < cache->node_count; node += NODES_AT_ONCE) {
        const uint64_t left = cache->node_count - node;
        const uint64_t count = left < NODES_AT_ONCE ? left : NODES_AT_ONCE;
        frame_read_nodes(now, first + node, count, positions, NULL);
        for (uint64_t i = 0; i < 3 * count; i++)
            file_put_f32(&cache->file, positions[i]);
    }
    free(positions);
    return end_sample(cache, error);
}

taut_status pc2_close(struct pc2 *cache, taut_error *error)
{
    return file_close(&cache->file, error);
}

// ---- Reading.

// Bytes of one sample.
static uint64_t sample_bytes(const struct pc2_reader *reader)
{
    return 12 * reader->node_count;
}

static taut_status read_header(struct pc2_reader *reader, taut_error *error)
{
    struct scan *scan = &reader->scan;
    scan_expect(scan, "POINTCACHE2");
    char zero[2];
    scan_until(scan, '\0', zero, sizeof zero);
    uint64_t version = scan_u32(scan);
    reader->node_count = scan_u32(scan);
    reader->start = (double)scan_f32(scan);
    reader->rate = (double)scan_f32(scan);
    reader->sample_count = scan_u32(scan);
    if (scan->failed || zero[0] || version != 1 || reader->node_count > INT32_MAX ||
        reader->sample_count > INT32_MAX || !(reader->rate > 0))
        return fail(error, TAUT_ERROR_IO, "'%s' is not a point cache", reader->path);
    // It may be longer, if the run was killed while it wrote a sample.
    if (scan_length(scan) < HEADER_BYTES + reader->sample_count * sample_bytes(reader) ||
        scan->failed)
        return fail(error, TAUT_ERROR_IO, "'%s' is shorter than its header states", reader->path);
    return TAUT_OK;
}

taut_status pc2_reader_open(const char *path, struct pc2_reader *reader, taut_error *error)
{
    const char *reason;
    *reader = (struct pc2_reader){.scan = {.file = open_to_read(path, &reason)}};
    if (!reader->scan.file)
        return fail(error, TAUT_ERROR_IO, "cannot read '%s': %s", path, reason);
    reader->path = text_format("%s", path);
    taut_status status =
        reader->path ? read_header(reader, error) : fail_memory(error, "the name of a point cache");
    if (status != TAUT_OK)
        pc2_reader_close(reader);
    return status;
}

taut_status pc2_reader_sample(struct pc2_reader *reader, uint64_t number, float *positions,
                              taut_error *error)
{
    scan_seek(&reader->scan, HEADER_BYTES + number * sample_bytes(reader));
    scan_reals(&reader->scan, true, positions, 3 * reader->node_count);
    if (reader->scan.failed)
        return fail(error, TAUT_ERROR_IO,
                    "'%s' cannot be read to its end, or has positions that are not numbers",
                    reader->path);
    return TAUT_OK;
}

void pc2_reader_close(struct pc2_reader *reader)
{
    if (reader->scan.file)
        (void)fclose(reader->scan.file);
    free(reader->path);
    *reader = (struct pc2_reader){0};
}
