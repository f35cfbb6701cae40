// SSE2: 1 record of floats.
#ifndef TAUT_SIMD_QUADS_SSE_H
#define TAUT_SIMD_QUADS_SSE_H

#include <emmintrin.h>

enum { QUADS = 1 };
typedef __m128 quads;
#define QUADS_OP(name) _mm_##name##_ps

static inline quads quads_fetch(const real *p, const uint16_t *at)
{
    return _mm_load_ps(p + at[0]);
}

static inline quads quads_turn(quads a)
{
    return _mm_shuffle_ps(a, a, _MM_SHUFFLE(3, 0, 2, 1));
}

static inline void quads_store_columns(real *x, real *y, real *z, const quads group[4])
{
    quads xy01 = _mm_unpacklo_ps(group[0], group[1]), xy23 = _mm_unpacklo_ps(group[2], group[3]);
    quads zw01 = _mm_unpackhi_ps(group[0], group[1]), zw23 = _mm_unpackhi_ps(group[2], group[3]);
    _mm_storeu_ps(x, _mm_movelh_ps(xy01, xy23));
    _mm_storeu_ps(y, _mm_movehl_ps(xy23, xy01));
    _mm_storeu_ps(z, _mm_movelh_ps(zw01, zw23));
}

#include "simd/quads_x86.h"

#endif
