// AVX2: 8 floats or 4 doubles.
#ifndef TAUT_SIMD_RECORDS_V3_H
#define TAUT_SIMD_RECORDS_V3_H

#if TAUT_REAL_BITS == 32
#    define RECORDS_PAIRS    __m256d
#    define RECORDS_OP(name) _mm256_##name
#    include "simd/records_parts.h"

static inline void wide_records_4(const real *records, const uint16_t *at, wide *x, wide *y,
                                  wide *z)
{
    wide row[4];
    for (int k = 0; k < 4; k++)
        row[k] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(records + at[k])),
                                      _mm_load_ps(records + at[k + 4]), 1);
    wide_transpose(row, x, y, z);
}

static inline void wide_records_8(const real *records, const uint16_t *at, wide *x, wide *y,
                                  wide *z, wide *vx, wide *vy, wide *vz)
{
    wide row[8], first[3], last[3];
    for (int k = 0; k < 8; k++)
        row[k] = _mm256_load_ps(records + 2 * (size_t)at[k]);
    wide_transpose(row, &first[0], &first[1], &first[2]);
    wide_transpose(row + 4, &last[0], &last[1], &last[2]);
    *x = _mm256_permute2f128_ps(first[0], last[0], 0x20);
    *y = _mm256_permute2f128_ps(first[1], last[1], 0x20);
    *z = _mm256_permute2f128_ps(first[2], last[2], 0x20);
    *vx = _mm256_permute2f128_ps(first[0], last[0], 0x31);
    *vy = _mm256_permute2f128_ps(first[1], last[1], 0x31);
    *vz = _mm256_permute2f128_ps(first[2], last[2], 0x31);
}
#else
static inline void wide_components(const real *records, const uint16_t *at, int scale, wide *x,
                                   wide *y, wide *z)
{
    __m256d a = _mm256_load_pd(records + scale * at[0]),
            b = _mm256_load_pd(records + scale * at[1]);
    __m256d c = _mm256_load_pd(records + scale * at[2]),
            d = _mm256_load_pd(records + scale * at[3]);
    __m256d ab = _mm256_unpacklo_pd(a, b), cd = _mm256_unpacklo_pd(c, d);
    *x = _mm256_permute2f128_pd(ab, cd, 0x20);
    *y = _mm256_permute2f128_pd(_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d), 0x20);
    *z = _mm256_permute2f128_pd(ab, cd, 0x31);
}

#    include "simd/records_by_threes.h"
#endif

#endif
