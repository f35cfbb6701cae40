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
#else
enum { WIDE_LANES = 4 };
typedef __m256d wide;
#    define WIDE_OP(name)    _mm256_##name##_pd
#    define WIDE_OF_INTEGERS _mm256_castsi256_pd
#    define WIDE_INTEGERS(first)                                                                   \
        _mm256_add_epi64(_mm256_set1_epi64x(first), _mm256_setr_epi64x(0, 1, 2, 3))
#    define WIDE_INTEGER_LESS(a, b) _mm256_cmpgt_epi64(b, a)
#    define WIDE_INTEGER_SET(a)     _mm256_set1_epi64x(a)
#endif

#include "simd/wide_lane_mask.h"

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
