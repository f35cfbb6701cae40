// AVX-512: 16 floats or 8 doubles.
#ifndef TAUT_SIMD_RECORDS_V4_H
#define TAUT_SIMD_RECORDS_V4_H

#if TAUT_REAL_BITS == 32
#    define RECORDS_PAIRS    __m512d
#    define RECORDS_OP(name) _mm512_##name
#    include "simd/records_parts.h"

static inline void wide_records_4(const real *records, const uint16_t *at, wide *x, wide *y,
                                  wide *z)
{
    wide row[4];
    for (int k = 0; k < 4; k++) {
        row[k] = _mm512_castps128_ps512(_mm_load_ps(records + at[k]));
        row[k] = _mm512_insertf32x4(row[k], _mm_load_ps(records + at[k + 4]), 1);
        row[k] = _mm512_insertf32x4(row[k], _mm_load_ps(records + at[k + 8]), 2);
        row[k] = _mm512_insertf32x4(row[k], _mm_load_ps(records + at[k + 12]), 3);
    }
    wide_transpose(row, x, y, z);
}

// Two records a row: places and velocities alternate among the quarters.
static inline __m512 wide_two_records(const real *records, uint16_t low, uint16_t high)
{
    __m256 first = _mm256_load_ps(records + 2 * (size_t)low);
    return _mm512_insertf32x8(_mm512_castps256_ps512(first),
                              _mm256_load_ps(records + 2 * (size_t)high), 1);
}

static inline void wide_records_8(const real *records, const uint16_t *at, wide *x, wide *y,
                                  wide *z, wide *vx, wide *vy, wide *vz)
{
    wide row[8], first[3], last[3];
    for (int k = 0; k < 4; k++) {
        row[k] = wide_two_records(records, at[k], at[k + 4]);
        row[k + 4] = wide_two_records(records, at[k + 8], at[k + 12]);
    }
    wide_transpose(row, &first[0], &first[1], &first[2]);
    wide_transpose(row + 4, &last[0], &last[1], &last[2]);
    *x = _mm512_shuffle_f32x4(first[0], last[0], 0x88);
    *y = _mm512_shuffle_f32x4(first[1], last[1], 0x88);
    *z = _mm512_shuffle_f32x4(first[2], last[2], 0x88);
    *vx = _mm512_shuffle_f32x4(first[0], last[0], 0xdd);
    *vy = _mm512_shuffle_f32x4(first[1], last[1], 0xdd);
    *vz = _mm512_shuffle_f32x4(first[2], last[2], 0xdd);
}
#else
static inline void wide_components(const real *records, const uint16_t *at, int scale, wide *x,
                                   wide *y, wide *z)
{
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512d row[4];
    for (int k = 0; k < 4; k++)
        row[k] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(records + scale * at[k])),
                                    _mm256_load_pd(records + scale * at[k + 4]), 1);
    __m512d ab = _mm512_unpacklo_pd(row[0], row[1]), cd = _mm512_unpacklo_pd(row[2], row[3]);
    *x = _mm512_permutex2var_pd(ab, low, cd);
    *y = _mm512_permutex2var_pd(_mm512_unpackhi_pd(row[0], row[1]), low,
                                _mm512_unpackhi_pd(row[2], row[3]));
    *z = _mm512_permutex2var_pd(ab, high, cd);
}

#    include "simd/records_by_threes.h"
#endif

#endif
