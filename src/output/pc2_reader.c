#include "output/pc2_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/open.h"
#include "base/text.h"

enum { HEAD_BYTES = 32 };

// Bytes of one sample.
static uint64_t sample_bytes(const struct pc2_reader *reader)
{
    return 12 * reader->node_count;
}

static taut_status read_head(struct pc2_reader *reader, taut_error *error)
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
    // It may be longer: a run that was killed while it wrote its last sample.
    if (scan_length(scan) < HEAD_BYTES + reader->sample_count * sample_bytes(reader) ||
        scan->failed)
        return fail(error, TAUT_ERROR_IO, "'%s' is shorter than its head says", reader->path);
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
        reader->path ? read_head(reader, error) : fail_memory(error, "the name of a point cache");
    if (status != TAUT_OK)
        pc2_reader_close(reader);
    return status;
}

taut_status pc2_reader_sample(struct pc2_reader *reader, uint64_t number, float *positions,
                              taut_error *error)
{
    scan_go(&reader->scan, HEAD_BYTES + number * sample_bytes(reader));
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
