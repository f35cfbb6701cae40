// Masks that are registers of all-ones or all-zeros lanes (SSE2, AVX2).
#ifndef TAUT_SIMD_WIDE_LANE_MASK_H
#define TAUT_SIMD_WIDE_LANE_MASK_H

#include "simd/wide_x86.h"

#include "simd/wide_first.h"

typedef wide wide_mask;

static inline wide_mask wide_both(wide_mask m, wide_mask n)
{
    return WIDE_OP(and)(m, n);
}

static inline wide wide_keep(wide_mask m, wide a)
{
    return WIDE_OP(and)(m, a);
}

static inline wide wide_choose(wide_mask m, wide a, wide b)
{
    return WIDE_OP(or)(WIDE_OP(and)(m, a), WIDE_OP(andnot)(m, b));
}

static inline wide wide_multiply_where(wide_mask m, wide a, wide b)
{
    return wide_keep(m, wide_multiply(a, b));
}

#endif
