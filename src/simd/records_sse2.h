// SSE2: 4 floats or 2 doubles.
#ifndef TAUT_SIMD_RECORDS_SSE2_H
#define TAUT_SIMD_RECORDS_SSE2_H

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

#include "simd/records_by_threes.h"

#endif
