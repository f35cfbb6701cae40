// AVX-512 (x86-64-v4): 16 floats or 8 doubles. A mask is an integer with one bit per lane.
#ifndef TAUT_SIMD_AVX512_H
#define TAUT_SIMD_AVX512_H

#include <immintrin.h>

#if TAUT_REAL_BITS == 32
enum { WIDE_LANES = 16, WIDE_REGISTERS = 32 };
typedef __m512 wide;
typedef __mmask16 wide_mask;
#    define WIDE_OP(name)     _mm512_##name##_ps
#    define WIDE_MASKED_STORE _mm512_mask_storeu_ps
#    define WIDE_MASKED_LOAD  _mm512_maskz_loadu_ps
#    define WIDE_COMPARE      _mm512_cmp_ps_mask
#    define WIDE_ALIGN(high, low, lanes)                                                           \
        _mm512_castsi512_ps(                                                                       \
            _mm512_alignr_epi32(_mm512_castps_si512(high), _mm512_castps_si512(low), lanes))
#    define RECORDS_PAIRS    __m512d
#    define RECORDS_OP(name) _mm512_##name
#else
enum { WIDE_LANES = 8, WIDE_REGISTERS = 32 };
typedef __m512d wide;
typedef __mmask8 wide_mask;
#    define WIDE_OP(name)     _mm512_##name##_pd
#    define WIDE_MASKED_STORE _mm512_mask_storeu_pd
#    define WIDE_MASKED_LOAD  _mm512_maskz_loadu_pd
#    define WIDE_COMPARE      _mm512_cmp_pd_mask
#    define WIDE_ALIGN(high, low, lanes)                                                           \
        _mm512_castsi512_pd(                                                                       \
            _mm512_alignr_epi64(_mm512_castpd_si512(high), _mm512_castpd_si512(low), lanes))
#    define WIDE_COMPONENTS // wide_components is defined
#endif

#include "simd/x86.h"

#define WIDE_GREATEST
static inline real wide_greatest(wide a)
{
    return WIDE_OP(reduce_max)(a);
}

#define WIDE_ADD_TO
static inline void wide_add_to(double *sums, wide a)
{
#if TAUT_REAL_BITS == 32
    __m256 low = _mm512_castps512_ps256(a);
    __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
    _mm512_storeu_pd(sums, _mm512_add_pd(_mm512_loadu_pd(sums), _mm512_cvtps_pd(low)));
    _mm512_storeu_pd(sums + 8, _mm512_add_pd(_mm512_loadu_pd(sums + 8), _mm512_cvtps_pd(high)));
#else
    _mm512_storeu_pd(sums, _mm512_add_pd(_mm512_loadu_pd(sums), a));
#endif
}

static inline wide_mask wide_lane_range(long first, long end)
{
    long low = first < 0 ? 0 : first > WIDE_LANES ? WIDE_LANES : first;
    long high = end < low ? low : end > WIDE_LANES ? WIDE_LANES : end;
    return (wide_mask)(((1UL << high) - 1) & ~((1UL << low) - 1));
}

static inline wide_mask wide_positive(wide a)
{
    return WIDE_COMPARE(a, wide_set(0), _CMP_GT_OQ);
}

static inline wide_mask wide_at_most(wide a, wide b)
{
    return WIDE_COMPARE(a, b, _CMP_LE_OQ);
}

static inline wide_mask wide_mask_and(wide_mask m, wide_mask n)
{
    return m & n;
}

static inline wide wide_masked(wide_mask m, wide a)
{
    return WIDE_OP(maskz_mov)(m, a);
}

static inline wide wide_blend(wide_mask m, wide a, wide b)
{
    return WIDE_OP(mask_mov)(b, m, a);
}

static inline wide wide_multiply_where(wide_mask m, wide a, wide b)
{
    return WIDE_OP(maskz_mul)(m, a, b);
}

static inline wide_mask wide_mask_load(const uint32_t *bits, long at)
{
    return (wide_mask)(bits[at / 32] >> (at % 32));
}

static inline wide wide_shift_up_1(wide before, wide a)
{
    return WIDE_ALIGN(a, before, WIDE_LANES - 1);
}

static inline wide wide_shift_up_2(wide before, wide a)
{
    return WIDE_ALIGN(a, before, WIDE_LANES - 2);
}

static inline wide wide_shift_down_1(wide a, wide after)
{
    return WIDE_ALIGN(after, a, 1);
}

static inline wide wide_shift_down_2(wide a, wide after)
{
    return WIDE_ALIGN(after, a, 2);
}

static inline wide wide_load_first(const real *p, long count)
{
    return count >= WIDE_LANES ? wide_load(p) : WIDE_MASKED_LOAD(wide_lane_range(0, count), p);
}

static inline void wide_store_first(real *p, wide a, long count)
{
    if (count >= WIDE_LANES) // faster than a masked store
        wide_store(p, a);
    else
        WIDE_MASKED_STORE(p, wide_lane_range(0, count), a);
}

static inline wide_mask wide_mask_zero_bytes(const uint8_t *p)
{
#if TAUT_REAL_BITS == 32
    __m128i bytes = _mm_loadu_si128((const __m128i *)p);
#else
    __m128i bytes = _mm_loadl_epi64((const __m128i *)p);
#endif
    return (wide_mask)_mm_cmpeq_epi8_mask(bytes, _mm_setzero_si128());
}

static inline unsigned wide_mask_bits(wide_mask m)
{
    return m;
}

// ---- Records

#if TAUT_REAL_BITS == 32
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

// Two records per row: positions and velocities alternate among the quarters of the register.
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
#endif

#endif
