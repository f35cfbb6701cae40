// A 64-bit hash of any number of blocks of bytes: the fingerprint by which two runs are compared.
//
// It is XXH64 with seed 0 (Yann Collet, xxhash_spec.md): about 10 GB/s, passes SMHasher, and its
// values for known inputs are published, so that the code can be tested against an independent
// reference. It detects accidental differences and is no protection against attacks. How the bytes
// are split into calls does not matter. Words are read in the byte order of the machine, so that
// results equal the published XXH64 on little-endian machines only; the arrays hashed here would
// differ in byte order on others anyway.
#ifndef TAUT_BASE_HASH_H
#define TAUT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { HASH_STRIPE = 32 };

struct hash {
    uint64_t lanes[4];
    uint64_t total;                     // bytes added so far
    unsigned char pending[HASH_STRIPE]; // total % HASH_STRIPE bytes, not yet a full stripe
};

void hash_begin(struct hash *hash);
void hash_add(struct hash *hash, const void *bytes, size_t length);

// The hash of everything added so far. More may be added afterwards.
uint64_t hash_end(const struct hash *hash);

// A pseudo-random number in [-1, 1) that depends only on the index: the finaliser of splitmix64
// (Steele, Lea, Flood 2014).
static inline double random_at(uint64_t index)
{
    uint64_t z = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1;
}

#endif
