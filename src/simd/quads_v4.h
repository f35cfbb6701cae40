// AVX-512: 4 records of floats, 2 of doubles.
#ifndef TAUT_SIMD_QUADS_V4_H
#define TAUT_SIMD_QUADS_V4_H

#include <immintrin.h>

#if TAUT_REAL_BITS == 32
enum { QUADS = 4 };
typedef __m512 quads;
#    define QUADS_OP(name) _mm512_##name##_ps

// Masked broadcasts from memory rather than inserts: these need no shuffle.
static inline quads quads_fetch(const real *p, const uint16_t *at)
{
    quads a = _mm512_castps128_ps512(_mm_load_ps(p + at[0]));
    a = _mm512_mask_broadcast_f32x4(a, 0x00f0, _mm_load_ps(p + at[1]));
    a = _mm512_mask_broadcast_f32x4(a, 0x0f00, _mm_load_ps(p + at[2]));
    return _mm512_mask_broadcast_f32x4(a, 0xf000, _mm_load_ps(p + at[3]));
}

static inline quads quads_turn(quads a)
{
    return _mm512_permute_ps(a, _MM_SHUFFLE(3, 0, 2, 1));
}

static inline void quads_store_columns(real *x, real *y, real *z, const quads group[1])
{
    const __m512i columns = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    quads a = _mm512_permutexvar_ps(columns, group[0]);
    _mm_storeu_ps(x, _mm512_castps512_ps128(a));
    _mm_storeu_ps(y, _mm512_extractf32x4_ps(a, 1));
    _mm_storeu_ps(z, _mm512_extractf32x4_ps(a, 2));
}
#else
enum { QUADS = 2 };
typedef __m512d quads;
#    define QUADS_OP(name) _mm512_##name##_pd

static inline quads quads_fetch(const real *p, const uint16_t *at)
{
    quads a = _mm512_castpd256_pd512(_mm256_load_pd(p + at[0]));
    return _mm512_insertf64x4(a, _mm256_load_pd(p + at[1]), 1);
}

static inline quads quads_turn(quads a)
{
    return _mm512_permutex_pd(a, _MM_SHUFFLE(3, 0, 2, 1));
}

static inline void quads_store_columns(real *x, real *y, real *z, const quads group[2])
{
    const __m512i columns = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    quads xz = _mm512_permutexvar_pd(columns, _mm512_unpacklo_pd(group[0], group[1]));
    quads yw = _mm512_permutexvar_pd(columns, _mm512_unpackhi_pd(group[0], group[1]));
    _mm256_storeu_pd(x, _mm512_castpd512_pd256(xz));
    _mm256_storeu_pd(y, _mm512_castpd512_pd256(yw));
    _mm256_storeu_pd(z, _mm512_extractf64x4_pd(xz, 1));
}
#endif

#include "simd/quads_x86.h"

#endif
