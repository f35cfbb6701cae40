// AVX2: 2 records of floats, 1 of doubles.
#ifndef TAUT_SIMD_QUADS_V3_H
#define TAUT_SIMD_QUADS_V3_H

#include <immintrin.h>

#if TAUT_REAL_BITS == 32
enum { QUADS = 2 };
typedef __m256 quads;
#    define QUADS_OP(name) _mm256_##name##_ps

static inline quads quads_fetch(const real *p, const uint16_t *at)
{
    quads a = _mm256_castps128_ps256(_mm_load_ps(p + at[0]));
    return _mm256_insertf128_ps(a, _mm_load_ps(p + at[1]), 1);
}

static inline quads quads_turn(quads a)
{
    return _mm256_permute_ps(a, _MM_SHUFFLE(3, 0, 2, 1));
}

static inline void quads_store_columns(real *x, real *y, real *z, const quads group[2])
{
    quads xy = _mm256_unpacklo_ps(group[0], group[1]); // of 0 and 2, and of 1 and 3
    quads zw = _mm256_unpackhi_ps(group[0], group[1]);
    __m128 even = _mm256_castps256_ps128(xy), odd = _mm256_extractf128_ps(xy, 1);
    _mm_storeu_ps(x, _mm_unpacklo_ps(even, odd));
    _mm_storeu_ps(y, _mm_unpackhi_ps(even, odd));
    _mm_storeu_ps(z, _mm_unpacklo_ps(_mm256_castps256_ps128(zw), _mm256_extractf128_ps(zw, 1)));
}
#else
enum { QUADS = 1 };
typedef __m256d quads;
#    define QUADS_OP(name) _mm256_##name##_pd

static inline quads quads_fetch(const real *p, const uint16_t *at)
{
    return _mm256_load_pd(p + at[0]);
}

static inline quads quads_turn(quads a)
{
    return _mm256_permute4x64_pd(a, _MM_SHUFFLE(3, 0, 2, 1));
}

static inline void quads_store_columns(real *x, real *y, real *z, const quads group[4])
{
    quads xz01 = _mm256_unpacklo_pd(group[0], group[1]);
    quads xz23 = _mm256_unpacklo_pd(group[2], group[3]);
    quads yw01 = _mm256_unpackhi_pd(group[0], group[1]);
    quads yw23 = _mm256_unpackhi_pd(group[2], group[3]);
    _mm256_storeu_pd(x, _mm256_permute2f128_pd(xz01, xz23, 0x20));
    _mm256_storeu_pd(y, _mm256_permute2f128_pd(yw01, yw23, 0x20));
    _mm256_storeu_pd(z, _mm256_permute2f128_pd(xz01, xz23, 0x31));
}
#endif

#include "simd/quads_x86.h"

#endif
