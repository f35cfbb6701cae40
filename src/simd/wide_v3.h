// AVX2: 8 floats or 4 doubles. A mask is a register of all-ones or all-zeros lanes.
#ifndef TAUT_SIMD_WIDE_V3_H
#define TAUT_SIMD_WIDE_V3_H

#include <immintrin.h>
#include <stdint.h>

#if TAUT_REAL_BITS == 32
enum { WIDE_LANES = 8 };
typedef __m256 wide;
#    define WIDE_OP(name)    _mm256_##name##_ps
#    define WIDE_OF_INTEGERS _mm256_castsi256_ps
#    define WIDE_INTEGERS(first)                                                                   \
        _mm256_add_epi32(_mm256_set1_epi32((int)(first)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#    define WIDE_INTEGER_LESS(a, b) _mm256_cmpgt_epi32(b, a)
#    define WIDE_INTEGER_SET(a)     _mm256_set1_epi32((int)(a))
#    define WIDE_INTEGERS_OF        _mm256_castps_si256
#    define WIDE_INTEGER_EQUAL      _mm256_cmpeq_epi32
#    define WIDE_BIT_OF_LANE        _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128)
#else
enum { WIDE_LANES = 4 };
typedef __m256d wide;
#    define WIDE_OP(name)    _mm256_##name##_pd
#    define WIDE_OF_INTEGERS _mm256_castsi256_pd
#    define WIDE_INTEGERS(first)                                                                   \
        _mm256_add_epi64(_mm256_set1_epi64x(first), _mm256_setr_epi64x(0, 1, 2, 3))
#    define WIDE_INTEGER_LESS(a, b) _mm256_cmpgt_epi64(b, a)
#    define WIDE_INTEGER_SET(a)     _mm256_set1_epi64x(a)
#    define WIDE_INTEGERS_OF        _mm256_castpd_si256
#    define WIDE_INTEGER_EQUAL      _mm256_cmpeq_epi64
#    define WIDE_BIT_OF_LANE        _mm256_setr_epi64x(1, 2, 4, 8)
#endif

#include "simd/wide_lane_mask.h"

// The upper half of a and the lower half of b.
static inline __m256i wide_halves_between(wide a, wide b)
{
    return _mm256_permute2x128_si256(WIDE_INTEGERS_OF(a), WIDE_INTEGERS_OF(b), 0x21);
}

static inline wide wide_behind_1(wide before, wide a)
{
    __m256i between = wide_halves_between(before, a);
    return WIDE_OF_INTEGERS(
        _mm256_alignr_epi8(WIDE_INTEGERS_OF(a), between, 16 - (int)sizeof(real)));
}

static inline wide wide_ahead_1(wide a, wide after)
{
    __m256i between = wide_halves_between(a, after);
    return WIDE_OF_INTEGERS(_mm256_alignr_epi8(between, WIDE_INTEGERS_OF(a), (int)sizeof(real)));
}

// Two doubles are half a register.
static inline wide wide_behind_2(wide before, wide a)
{
    __m256i between = wide_halves_between(before, a);
#if TAUT_REAL_BITS == 32
    between = _mm256_alignr_epi8(WIDE_INTEGERS_OF(a), between, 8);
#endif
    return WIDE_OF_INTEGERS(between);
}

static inline wide wide_ahead_2(wide a, wide after)
{
    __m256i between = wide_halves_between(a, after);
#if TAUT_REAL_BITS == 32
    between = _mm256_alignr_epi8(between, WIDE_INTEGERS_OF(a), 8);
#endif
    return WIDE_OF_INTEGERS(between);
}

static inline wide_mask wide_bits(const uint32_t *bits, long at)
{
    __m256i lane_bit = WIDE_BIT_OF_LANE;
    __m256i word = WIDE_INTEGER_SET(bits[at / 32] >> (at % 32));
    return WIDE_OF_INTEGERS(WIDE_INTEGER_EQUAL(_mm256_and_si256(word, lane_bit), lane_bit));
}

// Lane l is set where first <= l < end.
static inline wide_mask wide_lanes(long first, long end)
{
    __m256i lanes = WIDE_INTEGERS(0);
    __m256i from = WIDE_INTEGER_LESS(WIDE_INTEGER_SET(first - 1), lanes);
    __m256i to = WIDE_INTEGER_LESS(lanes, WIDE_INTEGER_SET(end));
    return WIDE_OF_INTEGERS(_mm256_and_si256(from, to));
}

static inline wide_mask wide_positive(wide a)
{
    return WIDE_OP(cmp)(a, wide_set(0), _CMP_GT_OQ);
}

#endif
