// The bits of a word of 64.
#ifndef TAUT_BASE_BITS_H
#define TAUT_BASE_BITS_H

#include <stdint.h>

// The number of the lowest bit that is set; there must be one.
static inline int lowest_bit(uint64_t bits)
{
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int bit = 0;
    while (!(bits >> bit & 1))
        bit++;
    return bit;
#endif
}

// Counts the bits that are set: of pairs, fours and eights of bits, and of all.
static inline int bit_count(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)(bits * UINT64_C(0x0101010101010101) >> 56);
}

#endif
