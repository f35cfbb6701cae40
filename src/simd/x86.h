// What the instruction sets of x86-64 share beyond common.h. A set's header defines these names
// first:
//
//   WIDE_OP(name)                 the intrinsics of a register
//   WIDE_LANE_MASKS               a mask is a register of all-ones or all-zeros lanes
//   RECORDS_OP(name), RECORDS_PAIRS   the same registers of floats, and as pairs of floats
//   QUADS_OP(name), quads         the intrinsics of a register of records
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
    return WIDE_OP(or)(WIDE_OP(and)(m, a), WIDE_OP(andnot)(m, b));
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

// The first three components of four rows of four, in each part of the registers.
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

// ---- Quads

#ifdef QUADS_OP
static inline quads quads_load(const real *p)
{
    return QUADS_OP(loadu)(p);
}

static inline quads quads_zero(void)
{
    return QUADS_OP(set1)(0);
}

static inline quads quads_add(quads a, quads b)
{
    return QUADS_OP(add)(a, b);
}

static inline quads quads_subtract(quads a, quads b)
{
    return QUADS_OP(sub)(a, b);
}

static inline quads quads_multiply(quads a, quads b)
{
    return QUADS_OP(mul)(a, b);
}

#    if TAUT_REAL_BITS == 32
static inline void quads_write(real *p, const real *x, const real *y, const real *z)
{
    const __m128 zero = _mm_setzero_ps();
    __m128 a = _mm_loadu_ps(x), b = _mm_loadu_ps(y), c = _mm_loadu_ps(z);
    __m128 xy01 = _mm_unpacklo_ps(a, b), xy23 = _mm_unpackhi_ps(a, b);
    __m128 z01 = _mm_unpacklo_ps(c, zero), z23 = _mm_unpackhi_ps(c, zero);
    _mm_store_ps(p, _mm_movelh_ps(xy01, z01));
    _mm_store_ps(p + 4, _mm_movehl_ps(z01, xy01));
    _mm_store_ps(p + 8, _mm_movelh_ps(xy23, z23));
    _mm_store_ps(p + 12, _mm_movehl_ps(z23, xy23));
}
#    else
static inline void quads_write(real *p, const real *x, const real *y, const real *z)
{
    const __m256d zero = _mm256_setzero_pd();
    __m256d a = _mm256_loadu_pd(x), b = _mm256_loadu_pd(y), c = _mm256_loadu_pd(z);
    __m256d xy02 = _mm256_unpacklo_pd(a, b), xy13 = _mm256_unpackhi_pd(a, b);
    __m256d z02 = _mm256_unpacklo_pd(c, zero), z13 = _mm256_unpackhi_pd(c, zero);
    _mm256_store_pd(p, _mm256_permute2f128_pd(xy02, z02, 0x20));
    _mm256_store_pd(p + 4, _mm256_permute2f128_pd(xy13, z13, 0x20));
    _mm256_store_pd(p + 8, _mm256_permute2f128_pd(xy02, z02, 0x31));
    _mm256_store_pd(p + 12, _mm256_permute2f128_pd(xy13, z13, 0x31));
}
#    endif
#endif

#endif
