// Shared by the instruction sets of x86-64, beyond common.h. A set's header defines these names
// first:
//
//   WIDE_OP(name)                 the intrinsics of a register
//   WIDE_LANE_MASKS               a mask is a register of all-ones or all-zeros lanes
//   WIDE_BLENDS                   there is an instruction that selects lanes by such a mask
//   RECORDS_OP(name), RECORDS_PAIRS   the same registers of floats, and as pairs of floats
#ifndef TAUT_SIMD_X86_H
#define TAUT_SIMD_X86_H

#define WIDE_LOAD  WIDE_OP(loadu)
#define WIDE_STORE WIDE_OP(storeu)
#define WIDE_SET   WIDE_OP(set1)

#include "simd/common.h"

static inline wide wide_max(wide a, wide b)
{
    return WIDE_OP(max)(a, b);
}

static inline wide wide_min(wide a, wide b)
{
    return WIDE_OP(min)(a, b);
}

#ifdef WIDE_LANE_MASKS
typedef wide wide_mask;

static inline wide_mask wide_mask_and(wide_mask m, wide_mask n)
{
    return WIDE_OP(and)(m, n);
}

static inline wide wide_masked(wide_mask m, wide a)
{
    return WIDE_OP(and)(m, a);
}

static inline wide wide_blend(wide_mask m, wide a, wide b)
{
#    ifdef WIDE_BLENDS
    return WIDE_OP(blendv)(b, a, m);
#    else
    return WIDE_OP(or)(WIDE_OP(and)(m, a), WIDE_OP(andnot)(m, b));
#    endif
}

static inline wide wide_multiply_where(wide_mask m, wide a, wide b)
{
    return wide_masked(m, wide_multiply(a, b));
}
#endif

// ---- Records

#ifdef RECORDS_OP
static inline RECORDS_PAIRS wide_pairs(wide a)
{
    return RECORDS_OP(castps_pd)(a);
}

// The first three components of four rows of four, in each 128-bit part of the registers.
static inline void wide_transpose(const wide row[4], wide *x, wide *y, wide *z)
{
    RECORDS_PAIRS ab = wide_pairs(RECORDS_OP(unpacklo_ps)(row[0], row[1]));
    RECORDS_PAIRS cd = wide_pairs(RECORDS_OP(unpacklo_ps)(row[2], row[3]));
    RECORDS_PAIRS ab_z = wide_pairs(RECORDS_OP(unpackhi_ps)(row[0], row[1]));
    RECORDS_PAIRS cd_z = wide_pairs(RECORDS_OP(unpackhi_ps)(row[2], row[3]));
    *x = RECORDS_OP(castpd_ps)(RECORDS_OP(unpacklo_pd)(ab, cd));
    *y = RECORDS_OP(castpd_ps)(RECORDS_OP(unpackhi_pd)(ab, cd));
    *z = RECORDS_OP(castpd_ps)(RECORDS_OP(unpacklo_pd)(ab_z, cd_z));
}
#endif

#endif
