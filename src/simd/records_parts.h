// Transposing records of floats, which AVX registers do alike: each of their 128-bit parts by
// itself. The intrinsics' names differ by RECORDS_OP; registers are `wide`, and RECORDS_PAIRS seen
// as pairs of floats.
#ifndef TAUT_SIMD_RECORDS_PARTS_H
#define TAUT_SIMD_RECORDS_PARTS_H

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
