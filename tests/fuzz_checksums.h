// Shared by the fuzz targets that alter checkpoints: makes the checksums of an altered checkpoint
// right again, since no fuzzer finds them.
#ifndef TAUT_TESTS_FUZZ_CHECKSUMS_H
#define TAUT_TESTS_FUZZ_CHECKSUMS_H

#include <stdint.h>
#include <string.h>

#include "base/hash.h"

static inline void put_hash(uint8_t *to, const uint8_t *bytes, size_t count)
{
    struct hash hash;
    hash_begin(&hash);
    hash_add(&hash, bytes, count);
    const uint64_t value = hash_end(&hash);
    memcpy(to, &value, sizeof value);
}

static inline void fix_checksums(uint8_t *bytes, size_t size)
{
    enum { HEAD = 256, CHUNK = 96, TRAILER = 32 };
    uint64_t chunks = 0;
    size_t at = HEAD;
    if (size < HEAD)
        return;
    put_hash(bytes + HEAD - 8, bytes, HEAD - 8);
    while (size - at >= CHUNK && memcmp(bytes + at, "CHNK", 4) == 0) {
        uint32_t stored;
        memcpy(&stored, bytes + at + 76, sizeof stored);
        if (stored > size - at - CHUNK)
            return;
        put_hash(bytes + at + 80, bytes + at + CHUNK, stored);
        put_hash(bytes + at + 88, bytes + at, 88);
        const size_t whole = CHUNK + ((size_t)stored + 7) / 8 * 8;
        at = size - at >= whole ? at + whole : size;
        chunks++;
    }
    if (size - at != TRAILER)
        return;
    const uint64_t length = size;
    memcpy(bytes + at + 8, &chunks, sizeof chunks);
    memcpy(bytes + at + 16, &length, sizeof length);
    put_hash(bytes + at + 24, bytes + at, 24);
}

#endif
