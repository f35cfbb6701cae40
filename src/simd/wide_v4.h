// AVX-512: 16 floats or 8 doubles.
#ifndef TAUT_SIMD_WIDE_V4_H
#define TAUT_SIMD_WIDE_V4_H

#include <immintrin.h>

#if TAUT_REAL_BITS == 32
enum { WIDE_LANES = 16 };
typedef __m512 wide;
typedef __mmask16 wide_mask;
#    define WIDE_OP(name)     _mm512_##name##_ps
#    define WIDE_MASKED_STORE _mm512_mask_storeu_ps
#    define WIDE_MASKED_LOAD  _mm512_maskz_loadu_ps
#    define WIDE_COMPARE      _mm512_cmp_ps_mask
#    define WIDE_ALIGN(high, low, lanes)                                                           \
        _mm512_castsi512_ps(                                                                       \
            _mm512_alignr_epi32(_mm512_castps_si512(high), _mm512_castps_si512(low), lanes))
#else
enum { WIDE_LANES = 8 };
typedef __m512d wide;
typedef __mmask8 wide_mask;
#    define WIDE_OP(name)     _mm512_##name##_pd
#    define WIDE_MASKED_STORE _mm512_mask_storeu_pd
#    define WIDE_MASKED_LOAD  _mm512_maskz_loadu_pd
#    define WIDE_COMPARE      _mm512_cmp_pd_mask
#    define WIDE_ALIGN(high, low, lanes)                                                           \
        _mm512_castsi512_pd(                                                                       \
            _mm512_alignr_epi64(_mm512_castpd_si512(high), _mm512_castpd_si512(low), lanes))
#endif

#include "simd/wide_x86.h"

static inline wide_mask wide_lanes(long first, long end)
{
    long low = first < 0 ? 0 : first > WIDE_LANES ? WIDE_LANES : first;
    long high = end < low ? low : end > WIDE_LANES ? WIDE_LANES : end;
    return (wide_mask)(((1UL << high) - 1) & ~((1UL << low) - 1));
}

static inline wide_mask wide_positive(wide a)
{
    return WIDE_COMPARE(a, wide_set(0), _CMP_GT_OQ);
}

static inline wide_mask wide_both(wide_mask m, wide_mask n)
{
    return m & n;
}

static inline wide wide_keep(wide_mask m, wide a)
{
    return WIDE_OP(maskz_mov)(m, a);
}

static inline wide wide_choose(wide_mask m, wide a, wide b)
{
    return WIDE_OP(mask_mov)(b, m, a);
}

static inline wide wide_multiply_where(wide_mask m, wide a, wide b)
{
    return WIDE_OP(maskz_mul)(m, a, b);
}

static inline wide_mask wide_bits(const uint32_t *bits, long at)
{
    return (wide_mask)(bits[at / 32] >> (at % 32));
}

static inline wide wide_behind_1(wide before, wide a)
{
    return WIDE_ALIGN(a, before, WIDE_LANES - 1);
}

static inline wide wide_behind_2(wide before, wide a)
{
    return WIDE_ALIGN(a, before, WIDE_LANES - 2);
}

static inline wide wide_ahead_1(wide a, wide after)
{
    return WIDE_ALIGN(after, a, 1);
}

static inline wide wide_ahead_2(wide a, wide after)
{
    return WIDE_ALIGN(after, a, 2);
}

static inline wide wide_load_first(const real *p, long count)
{
    return count >= WIDE_LANES ? wide_load(p) : WIDE_MASKED_LOAD(wide_lanes(0, count), p);
}

static inline void wide_store_first(real *p, wide a, long count)
{
    if (count >= WIDE_LANES) // a masked store waits longer
        wide_store(p, a);
    else
        WIDE_MASKED_STORE(p, wide_lanes(0, count), a);
}

#endif
