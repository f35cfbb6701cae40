// AVX2 (x86-64-v3): 8 floats or 4 doubles. A mask is a register of all-ones or all-zeros lanes.
#ifndef TAUT_SIMD_AVX2_H
#define TAUT_SIMD_AVX2_H

#include <immintrin.h>

#if TAUT_REAL_BITS == 32
enum { WIDE_LANES = 8, WIDE_REGISTERS = 16 };
typedef __m256 wide;
#    define WIDE_OP(name)    _mm256_##name##_ps
#    define WIDE_OF_INTEGERS _mm256_castsi256_ps
#    define WIDE_INTEGERS(first)                                                                   \
        _mm256_add_epi32(_mm256_set1_epi32((int)(first)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#    define WIDE_INTEGER_LESS(a, b) _mm256_cmpgt_epi32(b, a)
#    define WIDE_INTEGER_SET(a)     _mm256_set1_epi32((int)(a))
#    define WIDE_INTEGERS_OF        _mm256_castps_si256
#    define WIDE_INTEGER_EQUAL      _mm256_cmpeq_epi32
#    define WIDE_BIT_OF_LANE        _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128)
#    define RECORDS_PAIRS           __m256d
#    define RECORDS_OP(name)        _mm256_##name
#else
enum { WIDE_LANES = 4, WIDE_REGISTERS = 16 };
typedef __m256d wide;
#    define WIDE_OP(name)    _mm256_##name##_pd
#    define WIDE_OF_INTEGERS _mm256_castsi256_pd
#    define WIDE_INTEGERS(first)                                                                   \
        _mm256_add_epi64(_mm256_set1_epi64x(first), _mm256_setr_epi64x(0, 1, 2, 3))
#    define WIDE_INTEGER_LESS(a, b) _mm256_cmpgt_epi64(b, a)
#    define WIDE_INTEGER_SET(a)     _mm256_set1_epi64x(a)
#    define WIDE_INTEGERS_OF        _mm256_castpd_si256
#    define WIDE_INTEGER_EQUAL      _mm256_cmpeq_epi64
#    define WIDE_BIT_OF_LANE        _mm256_setr_epi64x(1, 2, 4, 8)
#    define WIDE_COMPONENTS         // wide_components is defined
#endif

#define WIDE_LANE_MASKS
#define WIDE_BLENDS
#define WIDE_FIRST_BY_MEMORY
#include "simd/x86.h"

// The upper half of a and the lower half of b.
static inline __m256i wide_halves_between(wide a, wide b)
{
    return _mm256_permute2x128_si256(WIDE_INTEGERS_OF(a), WIDE_INTEGERS_OF(b), 0x21);
}

static inline wide wide_shift_up_1(wide before, wide a)
{
    __m256i between = wide_halves_between(before, a);
    return WIDE_OF_INTEGERS(
        _mm256_alignr_epi8(WIDE_INTEGERS_OF(a), between, 16 - (int)sizeof(real)));
}

static inline wide wide_shift_down_1(wide a, wide after)
{
    __m256i between = wide_halves_between(a, after);
    return WIDE_OF_INTEGERS(_mm256_alignr_epi8(between, WIDE_INTEGERS_OF(a), (int)sizeof(real)));
}

// Two doubles are half a register.
static inline wide wide_shift_up_2(wide before, wide a)
{
    __m256i between = wide_halves_between(before, a);
#if TAUT_REAL_BITS == 32
    between = _mm256_alignr_epi8(WIDE_INTEGERS_OF(a), between, 8);
#endif
    return WIDE_OF_INTEGERS(between);
}

static inline wide wide_shift_down_2(wide a, wide after)
{
    __m256i between = wide_halves_between(a, after);
#if TAUT_REAL_BITS == 32
    between = _mm256_alignr_epi8(between, WIDE_INTEGERS_OF(a), 8);
#endif
    return WIDE_OF_INTEGERS(between);
}

static inline wide_mask wide_mask_load(const uint32_t *bits, long at)
{
    __m256i lane_bit = WIDE_BIT_OF_LANE;
    __m256i word = WIDE_INTEGER_SET(bits[at / 32] >> (at % 32));
    return WIDE_OF_INTEGERS(WIDE_INTEGER_EQUAL(_mm256_and_si256(word, lane_bit), lane_bit));
}

// Lane l is set where first <= l < end.
static inline wide_mask wide_lane_range(long first, long end)
{
    __m256i lanes = WIDE_INTEGERS(0);
    __m256i from = WIDE_INTEGER_LESS(WIDE_INTEGER_SET(first - 1), lanes);
    __m256i to = WIDE_INTEGER_LESS(lanes, WIDE_INTEGER_SET(end));
    return WIDE_OF_INTEGERS(_mm256_and_si256(from, to));
}

// Does not use intrinsics: with these GCC compares the mask with 0 again where wide_blend selects
// by it.
static inline wide_mask wide_positive(wide a)
{
    return (wide_mask)(a > wide_set(0));
}

static inline wide_mask wide_at_most(wide a, wide b)
{
    return (wide_mask)(a <= b);
}

static inline wide_mask wide_mask_zero_bytes(const uint8_t *p)
{
#if TAUT_REAL_BITS == 32
    __m256i lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(lanes, _mm256_setzero_si256()));
#else
    int bytes;
    memcpy(&bytes, p, sizeof bytes);
    __m256i lanes = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes));
    return _mm256_castsi256_pd(_mm256_cmpeq_epi64(lanes, _mm256_setzero_si256()));
#endif
}

static inline unsigned wide_mask_bits(wide_mask m)
{
    return (unsigned)WIDE_OP(movemask)(m);
}

#define WIDE_ADD_TO
static inline void wide_add_to(double *sums, wide a)
{
#if TAUT_REAL_BITS == 32
    __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(a));
    __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
    _mm256_storeu_pd(sums, _mm256_add_pd(_mm256_loadu_pd(sums), low));
    _mm256_storeu_pd(sums + 4, _mm256_add_pd(_mm256_loadu_pd(sums + 4), high));
#else
    _mm256_storeu_pd(sums, _mm256_add_pd(_mm256_loadu_pd(sums), a));
#endif
}

// ---- Records

#if TAUT_REAL_BITS == 32
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
static inline void wide_transpose_records(const real *const at[4], wide *x, wide *y, wide *z)
{
    __m256d a = _mm256_load_pd(at[0]), b = _mm256_load_pd(at[1]);
    __m256d c = _mm256_load_pd(at[2]), d = _mm256_load_pd(at[3]);
    __m256d ab = _mm256_unpacklo_pd(a, b), cd = _mm256_unpacklo_pd(c, d);
    *x = _mm256_permute2f128_pd(ab, cd, 0x20);
    *y = _mm256_permute2f128_pd(_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d), 0x20);
    *z = _mm256_permute2f128_pd(ab, cd, 0x31);
}

static inline void wide_components(const real *records, const uint16_t *at, int scale, wide *x,
                                   wide *y, wide *z)
{
    const real *const rows[4] = {records + scale * at[0], records + scale * at[1],
                                 records + scale * at[2], records + scale * at[3]};
    wide_transpose_records(rows, x, y, z);
}
#endif

#endif
