// XXH64, computed in stripes of four lanes (hash.h).
#include "base/hash.h"

#include <string.h>

// The five primes of the specification, section "Notations".
#define PRIME_1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME_3 UINT64_C(0x165667B19E3779F9)
#define PRIME_4 UINT64_C(0x85EBCA77C2B2AE63)
#define PRIME_5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t rotate(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

// memcpy because blocks may be unaligned; it compiles to one load.
static uint64_t read_64(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t read_32(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t mix_lane(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * PRIME_2, 31) * PRIME_1;
}

static void add_stripes(struct hash *hash, const unsigned char *at, size_t count)
{
    uint64_t a = hash->lanes[0], b = hash->lanes[1], c = hash->lanes[2], d = hash->lanes[3];
    for (; count > 0; count--, at += HASH_STRIPE) {
        a = mix_lane(a, read_64(at));
        b = mix_lane(b, read_64(at + 8));
        c = mix_lane(c, read_64(at + 16));
        d = mix_lane(d, read_64(at + 24));
    }
    hash->lanes[0] = a;
    hash->lanes[1] = b;
    hash->lanes[2] = c;
    hash->lanes[3] = d;
}

void hash_begin(struct hash *hash)
{
    *hash = (struct hash){.lanes = {PRIME_1 + PRIME_2, PRIME_2, 0, 0 - PRIME_1}};
}

void hash_add(struct hash *hash, const void *bytes, size_t length)
{
    if (length == 0)
        return; // bytes may be NULL, which memcpy does not allow even for a length of 0
    const unsigned char *at = bytes;
    size_t waiting = (size_t)(hash->total % HASH_STRIPE);
    hash->total += length;
    if (waiting > 0) {
        size_t wanted = HASH_STRIPE - waiting;
        size_t taken = length < wanted ? length : wanted;
        memcpy(hash->pending + waiting, at, taken);
        if (taken < wanted)
            return;
        add_stripes(hash, hash->pending, 1);
        at += taken;
        length -= taken;
    }
    size_t stripes = length / HASH_STRIPE;
    add_stripes(hash, at, stripes);
    memcpy(hash->pending, at + stripes * HASH_STRIPE, length % HASH_STRIPE);
}

static uint64_t join_lanes(const struct hash *hash)
{
    if (hash->total < HASH_STRIPE)
        return PRIME_5; // "special case: input is less than 32 bytes", seed 0
    const uint64_t *lanes = hash->lanes;
    uint64_t joined =
        rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (int i = 0; i < 4; i++)
        joined = (joined ^ mix_lane(0, lanes[i])) * PRIME_1 + PRIME_4;
    return joined;
}

uint64_t hash_end(const struct hash *hash)
{
    uint64_t value = join_lanes(hash) + hash->total;
    const unsigned char *at = hash->pending;
    size_t left = (size_t)(hash->total % HASH_STRIPE);
    for (; left >= 8; left -= 8, at += 8)
        value = rotate(value ^ mix_lane(0, read_64(at)), 27) * PRIME_1 + PRIME_4;
    if (left >= 4) {
        value = rotate(value ^ read_32(at) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        left -= 4;
        at += 4;
    }
    for (; left > 0; left--, at++)
        value = rotate(value ^ *at * PRIME_5, 11) * PRIME_1;
    value = (value ^ value >> 33) * PRIME_2;
    value = (value ^ value >> 29) * PRIME_3;
    return value ^ value >> 32;
}
