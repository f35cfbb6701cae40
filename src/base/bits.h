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

static inline int bit_count(uint64_t bits)
{
    int count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

#endif
