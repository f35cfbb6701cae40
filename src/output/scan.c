// Strict reading of text and little-endian numbers, shared by the readers of .vtp, .pvd, .pc2 and
// manifest files.
#include "output/scan.h"

#include <math.h>
#include <string.h>

#include "scene/text/number.h"

void scan_expect(struct scan *scan, const char *text)
{
    for (; *text && !scan->failed; text++)
        scan->failed = getc(scan->file) != (unsigned char)*text;
}

bool scan_next_is(struct scan *scan, char letter)
{
    int next = getc(scan->file);
    if (next != EOF)
        (void)ungetc(next, scan->file);
    return next == (unsigned char)letter;
}

void scan_until(struct scan *scan, char stop, char *text, size_t size)
{
    size_t length = 0;
    while (!scan->failed) {
        int next = getc(scan->file);
        if (next == (unsigned char)stop)
            break;
        if (next == EOF || length + 1 == size)
            scan->failed = true;
        else
            text[length++] = (char)next;
    }
    text[length] = '\0';
}

double scan_number(struct scan *scan, char stop)
{
    char text[64];
    double value = 0;
    scan_until(scan, stop, text, sizeof text);
    if (!scan->failed && number_parse(text, strlen(text), &value) != NUMBER_OK)
        scan->failed = true;
    return value;
}

uint64_t scan_count(struct scan *scan, char stop)
{
    char text[64];
    uint64_t value = 0;
    scan_until(scan, stop, text, sizeof text);
    if (!scan->failed && number_parse_count(text, strlen(text), &value) != NUMBER_OK)
        scan->failed = true;
    return value;
}

static void read_bytes(struct scan *scan, unsigned char *bytes, size_t count)
{
    if (!scan->failed && fread(bytes, 1, count, scan->file) == count)
        return;
    scan->failed = true;
    memset(bytes, 0, count);
}

static uint64_t join(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

uint64_t scan_u32(struct scan *scan)
{
    unsigned char bytes[4];
    read_bytes(scan, bytes, sizeof bytes);
    return join(bytes, 4);
}

uint64_t scan_u64(struct scan *scan)
{
    unsigned char bytes[8];
    read_bytes(scan, bytes, sizeof bytes);
    return join(bytes, 8);
}

static double double_of(const unsigned char *bytes, bool single)
{
    if (single) {
        uint32_t bits = (uint32_t)join(bytes, 4);
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    uint64_t bits = join(bytes, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float real_of(const unsigned char *bytes, bool single)
{
    return (float)double_of(bytes, single);
}

float scan_f32(struct scan *scan)
{
    float value = 0;
    scan_reals(scan, true, &value, 1);
    return value;
}

void scan_reals(struct scan *scan, bool single, float *values, uint64_t count)
{
    enum { BATCH = 4096 };
    unsigned char bytes[BATCH * 8];
    size_t size = single ? 4 : 8;
    for (uint64_t first = 0; first < count && !scan->failed; first += BATCH) {
        size_t batch = count - first < BATCH ? (size_t)(count - first) : BATCH;
        read_bytes(scan, bytes, batch * size);
        for (size_t i = 0; i < batch && !scan->failed; i++) {
            values[first + i] = real_of(bytes + i * size, single);
            scan->failed = !isfinite(values[first + i]);
        }
    }
}

void scan_decode_reals(const unsigned char *bytes, bool single, float *values, size_t count)
{
    size_t size = single ? 4 : 8;
    for (size_t i = 0; i < count; i++)
        values[i] = real_of(bytes + i * size, single);
}

void scan_decode_doubles(const unsigned char *bytes, bool single, double *values, size_t count)
{
    size_t size = single ? 4 : 8;
    for (size_t i = 0; i < count; i++)
        values[i] = double_of(bytes + i * size, single);
}

uint64_t scan_position(struct scan *scan)
{
    off_t position = ftello(scan->file);
    scan->failed |= position < 0;
    return position < 0 ? 0 : (uint64_t)position;
}

uint64_t scan_length(struct scan *scan)
{
    uint64_t here = scan_position(scan);
    scan->failed |= fseeko(scan->file, 0, SEEK_END) != 0;
    uint64_t length = scan_position(scan);
    scan_seek(scan, here);
    return length;
}

void scan_seek(struct scan *scan, uint64_t position)
{
    scan->failed |= position > INT64_MAX || fseeko(scan->file, (off_t)position, SEEK_SET) != 0;
}
