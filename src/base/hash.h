// A 64-bit hash over any number of blocks of bytes: the fingerprint by which two runs are compared.
//
// It is XXH64 with seed 0 (Yann Collet, xxhash_spec.md): about 10 GB/s, passes SMHasher, and its
// values for known inputs are published, so that the code can be tested against something that is
// not itself. It finds accidents, not attacks. How the bytes are cut into calls does not matter.
// Words are read as they lie in memory, which is the published XXH64 on little-endian machines
// only; the arrays hashed here would differ in byte order on others anyway.
#ifndef TAUT_BASE_HASH_H
#define TAUT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { HASH_STRIPE = 32 };

struct hash {
    uint64_t lanes[4];
    uint64_t total;                     // bytes added so far
    unsigned char pending[HASH_STRIPE]; // total % HASH_STRIPE bytes that wait for a full stripe
};

void hash_begin(struct hash *hash);
void hash_add(struct hash *hash, const void *bytes, size_t length);

// The hash of everything added. More may be added afterwards, for the hash of a longer whole.
uint64_t hash_end(const struct hash *hash);

#endif
