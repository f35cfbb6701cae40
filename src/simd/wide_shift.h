// A word of the vocabulary (simd/wide.h) for kernels that walk along rows:
//
//   wide_behind(before, a)  lane l is lane l - 1 of a; lane 0 is the last lane of `before`
//
// So what a vector of elements has for its right-hand neighbours reaches them without a store.
#ifndef TAUT_SIMD_WIDE_SHIFT_H
#define TAUT_SIMD_WIDE_SHIFT_H

#include "simd/wide.h"

#if TAUT_WIDE_ISA == 4 && TAUT_REAL_BITS == 32
static inline wide wide_behind(wide before, wide a)
{
    return _mm512_castsi512_ps(
        _mm512_alignr_epi32(_mm512_castps_si512(a), _mm512_castps_si512(before), 15));
}
#elif TAUT_WIDE_ISA == 4
static inline wide wide_behind(wide before, wide a)
{
    return _mm512_castsi512_pd(
        _mm512_alignr_epi64(_mm512_castpd_si512(a), _mm512_castpd_si512(before), 7));
}
#elif TAUT_WIDE_ISA == 3 && TAUT_REAL_BITS == 32
static inline wide wide_behind(wide before, wide a)
{
    __m256i halves = _mm256_castps_si256(_mm256_permute2f128_ps(before, a, 0x21));
    return _mm256_castsi256_ps(_mm256_alignr_epi8(_mm256_castps_si256(a), halves, 12));
}
#elif TAUT_WIDE_ISA == 3
static inline wide wide_behind(wide before, wide a)
{
    return _mm256_shuffle_pd(_mm256_permute2f128_pd(before, a, 0x21), a, 0x5);
}
#elif defined(__x86_64__) && TAUT_REAL_BITS == 32
static inline wide wide_behind(wide before, wide a)
{
    wide seam = _mm_shuffle_ps(before, a, _MM_SHUFFLE(0, 0, 3, 3)); // before 3, 3, a 0, 0
    return _mm_shuffle_ps(seam, a, _MM_SHUFFLE(2, 1, 2, 0));
}
#elif defined(__x86_64__)
static inline wide wide_behind(wide before, wide a)
{
    return _mm_shuffle_pd(before, a, 1);
}
#else
// Any machine's, by way of memory.
static inline wide wide_behind(wide before, wide a)
{
    real lanes[2 * WIDE_LANES];
    wide_store_first(lanes, before, WIDE_LANES);
    wide_store_first(lanes + WIDE_LANES, a, WIDE_LANES);
    return wide_load(lanes + WIDE_LANES - 1);
}
#endif

#endif
