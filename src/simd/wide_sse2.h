// SSE2, which every x86-64 has: 4 floats or 2 doubles. A mask is a register of all-ones or
// all-zeros lanes.
#ifndef TAUT_SIMD_WIDE_SSE2_H
#define TAUT_SIMD_WIDE_SSE2_H

#include <emmintrin.h>

#if TAUT_REAL_BITS == 32
enum { WIDE_LANES = 4 };
typedef __m128 wide;
#    define WIDE_OP(name) _mm_##name##_ps
static inline wide wide_numbered(void)
{
    return _mm_setr_ps(0, 1, 2, 3);
}
#else
enum { WIDE_LANES = 2 };
typedef __m128d wide;
#    define WIDE_OP(name) _mm_##name##_pd
static inline wide wide_numbered(void)
{
    return _mm_setr_pd(0, 1);
}
#endif

#include "simd/wide_lane_mask.h"

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
