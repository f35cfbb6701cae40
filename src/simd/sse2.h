// SSE2, which every x86-64 has: 4 floats or 2 doubles. A mask is a register of all-ones or
// all-zeros lanes.
#ifndef TAUT_SIMD_SSE2_H
#define TAUT_SIMD_SSE2_H

#include <emmintrin.h>

#if TAUT_REAL_BITS == 32
enum { WIDE_LANES = 4, WIDE_REGISTERS = 16 };
typedef __m128 wide;
#    define WIDE_OP(name)    _mm_##name##_ps
#    define WIDE_OF_INTEGERS _mm_castsi128_ps
#    define WIDE_BIT_OF_LANE _mm_setr_epi32(1, 2, 4, 8)
static inline wide wide_numbered(void)
{
    return _mm_setr_ps(0, 1, 2, 3);
}
#else
enum { WIDE_LANES = 2, WIDE_REGISTERS = 16 };
typedef __m128d wide;
#    define WIDE_OP(name)    _mm_##name##_pd
#    define WIDE_OF_INTEGERS _mm_castsi128_pd
#    define WIDE_BIT_OF_LANE _mm_setr_epi32(1, 1, 2, 2)
static inline wide wide_numbered(void)
{
    return _mm_setr_pd(0, 1);
}
#endif

#define WIDE_LANE_MASKS
#define WIDE_FIRST_BY_MEMORY
#include "simd/x86.h"

#if TAUT_REAL_BITS == 32
static inline wide wide_shift_up_1(wide before, wide a)
{
    __m128 between = _mm_shuffle_ps(before, a, _MM_SHUFFLE(0, 0, 3, 3));
    return _mm_shuffle_ps(between, a, _MM_SHUFFLE(2, 1, 2, 0));
}

static inline wide wide_shift_up_2(wide before, wide a)
{
    return _mm_shuffle_ps(before, a, _MM_SHUFFLE(1, 0, 3, 2));
}

static inline wide wide_shift_down_1(wide a, wide after)
{
    __m128 between = _mm_shuffle_ps(a, after, _MM_SHUFFLE(0, 0, 3, 3));
    return _mm_shuffle_ps(a, between, _MM_SHUFFLE(2, 0, 2, 1));
}

static inline wide wide_shift_down_2(wide a, wide after)
{
    return _mm_shuffle_ps(a, after, _MM_SHUFFLE(1, 0, 3, 2));
}
#else
static inline wide wide_shift_up_1(wide before, wide a)
{
    return _mm_shuffle_pd(before, a, 1);
}

static inline wide wide_shift_up_2(wide before, wide a)
{
    (void)a;
    return before;
}

static inline wide wide_shift_down_1(wide a, wide after)
{
    return _mm_shuffle_pd(a, after, 1);
}

static inline wide wide_shift_down_2(wide a, wide after)
{
    (void)a;
    return after;
}
#endif

// SSE2 has no comparison of 64-bit integers: both halves of a lane get its bit.
static inline wide_mask wide_mask_load(const uint32_t *bits, long at)
{
    __m128i lane_bit = WIDE_BIT_OF_LANE;
    __m128i word = _mm_set1_epi32((int)(bits[at / 32] >> (at % 32)));
    return WIDE_OF_INTEGERS(_mm_cmpeq_epi32(_mm_and_si128(word, lane_bit), lane_bit));
}

// Lane numbers are exact as reals; bounds are clamped to the register.
static inline wide_mask wide_lane_range(long first, long end)
{
    long low = first < 0 ? 0 : first > WIDE_LANES ? WIDE_LANES : first;
    long high = end < 0 ? 0 : end > WIDE_LANES ? WIDE_LANES : end;
    wide lanes = wide_numbered();
    return wide_mask_and(WIDE_OP(cmpge)(lanes, wide_set((real)low)),
                         WIDE_OP(cmplt)(lanes, wide_set((real)high)));
}

static inline wide_mask wide_positive(wide a)
{
    return WIDE_OP(cmpgt)(a, wide_set(0));
}

static inline wide_mask wide_at_most(wide a, wide b)
{
    return WIDE_OP(cmple)(a, b);
}

static inline wide_mask wide_mask_zero_bytes(const uint8_t *p)
{
    __m128i zero = _mm_setzero_si128();
    int32_t bytes = 0;
    memcpy(&bytes, p, WIDE_LANES);
    __m128i lanes = _mm_unpacklo_epi8(_mm_cvtsi32_si128(bytes), zero);
    lanes = _mm_cmpeq_epi32(_mm_unpacklo_epi16(lanes, zero), zero);
#if TAUT_REAL_BITS == 32
    return _mm_castsi128_ps(lanes);
#else
    return _mm_castsi128_pd(_mm_unpacklo_epi32(lanes, lanes));
#endif
}

static inline unsigned wide_mask_bits(wide_mask m)
{
    return (unsigned)WIDE_OP(movemask)(m);
}

// ---- Records

#define WIDE_COMPONENTS // wide_components is defined
#if TAUT_REAL_BITS == 32
static inline void wide_components(const real *records, const uint16_t *at, int scale, wide *x,
                                   wide *y, wide *z)
{
    __m128 a = _mm_load_ps(records + scale * at[0]), b = _mm_load_ps(records + scale * at[1]);
    __m128 c = _mm_load_ps(records + scale * at[2]), d = _mm_load_ps(records + scale * at[3]);
    __m128 ab = _mm_unpacklo_ps(a, b), cd = _mm_unpacklo_ps(c, d);
    *x = _mm_movelh_ps(ab, cd);
    *y = _mm_movehl_ps(cd, ab);
    *z = _mm_movelh_ps(_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
}
#else
static inline void wide_components(const real *records, const uint16_t *at, int scale, wide *x,
                                   wide *y, wide *z)
{
    const real *a = records + scale * at[0], *b = records + scale * at[1];
    __m128d low_a = _mm_load_pd(a), low_b = _mm_load_pd(b);
    *x = _mm_unpacklo_pd(low_a, low_b);
    *y = _mm_unpackhi_pd(low_a, low_b);
    *z = _mm_unpacklo_pd(_mm_load_pd(a + 2), _mm_load_pd(b + 2));
}
#endif

#endif
