// SSE2, which every x86-64 has: 4 floats or 2 doubles. A mask is a register of all-ones or
// all-zeros lanes.
#ifndef TAUT_SIMD_WIDE_SSE2_H
#define TAUT_SIMD_WIDE_SSE2_H

#include <emmintrin.h>

#if TAUT_REAL_BITS == 32
enum { WIDE_LANES = 4 };
typedef __m128 wide;
#    define WIDE_OP(name)    _mm_##name##_ps
#    define WIDE_OF_INTEGERS _mm_castsi128_ps
#    define WIDE_BIT_OF_LANE _mm_setr_epi32(1, 2, 4, 8)
static inline wide wide_numbered(void)
{
    return _mm_setr_ps(0, 1, 2, 3);
}
#else
enum { WIDE_LANES = 2 };
typedef __m128d wide;
#    define WIDE_OP(name)    _mm_##name##_pd
#    define WIDE_OF_INTEGERS _mm_castsi128_pd
#    define WIDE_BIT_OF_LANE _mm_setr_epi32(1, 1, 2, 2)
static inline wide wide_numbered(void)
{
    return _mm_setr_pd(0, 1);
}
#endif

#include "simd/wide_lane_mask.h"

#if TAUT_REAL_BITS == 32
static inline wide wide_behind_1(wide before, wide a)
{
    __m128 between = _mm_shuffle_ps(before, a, _MM_SHUFFLE(0, 0, 3, 3));
    return _mm_shuffle_ps(between, a, _MM_SHUFFLE(2, 1, 2, 0));
}

static inline wide wide_behind_2(wide before, wide a)
{
    return _mm_shuffle_ps(before, a, _MM_SHUFFLE(1, 0, 3, 2));
}

static inline wide wide_ahead_1(wide a, wide after)
{
    __m128 between = _mm_shuffle_ps(a, after, _MM_SHUFFLE(0, 0, 3, 3));
    return _mm_shuffle_ps(a, between, _MM_SHUFFLE(2, 0, 2, 1));
}

static inline wide wide_ahead_2(wide a, wide after)
{
    return _mm_shuffle_ps(a, after, _MM_SHUFFLE(1, 0, 3, 2));
}
#else
static inline wide wide_behind_1(wide before, wide a)
{
    return _mm_shuffle_pd(before, a, 1);
}

static inline wide wide_behind_2(wide before, wide a)
{
    (void)a;
    return before;
}

static inline wide wide_ahead_1(wide a, wide after)
{
    return _mm_shuffle_pd(a, after, 1);
}

static inline wide wide_ahead_2(wide a, wide after)
{
    (void)a;
    return after;
}
#endif

// SSE2 compares no 64-bit integers: both halves of a lane carry its bit.
static inline wide_mask wide_bits(const uint32_t *bits, long at)
{
    __m128i lane_bit = WIDE_BIT_OF_LANE;
    __m128i word = _mm_set1_epi32((int)(bits[at / 32] >> (at % 32)));
    return WIDE_OF_INTEGERS(_mm_cmpeq_epi32(_mm_and_si128(word, lane_bit), lane_bit));
}

// Lane numbers are exact as reals; bounds far outside are cut to just outside.
static inline wide_mask wide_lanes(long first, long end)
{
    long low = first < 0 ? 0 : first > WIDE_LANES ? WIDE_LANES : first;
    long high = end < 0 ? 0 : end > WIDE_LANES ? WIDE_LANES : end;
    wide lanes = wide_numbered();
    return wide_both(WIDE_OP(cmpge)(lanes, wide_set((real)low)),
                     WIDE_OP(cmplt)(lanes, wide_set((real)high)));
}

static inline wide_mask wide_positive(wide a)
{
    return WIDE_OP(cmpgt)(a, wide_set(0));
}

#endif
