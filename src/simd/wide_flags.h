// Words of the vocabulary (simd/wide.h) for elements that carry a flag of a byte each:
//
//   wide_unflagged(p)    mask of lanes whose byte, from p on, is 0
//   wide_lanes_of(m)     the lanes of a mask as bits of a number, lane 0 the lowest
#ifndef TAUT_SIMD_WIDE_FLAGS_H
#define TAUT_SIMD_WIDE_FLAGS_H

#include <stdint.h>
#include <string.h>

#include "simd/wide.h"

#if TAUT_WIDE_ISA == 4
static inline wide_mask wide_unflagged(const uint8_t *p)
{
#    if TAUT_REAL_BITS == 32
    __m128i bytes = _mm_loadu_si128((const __m128i *)p);
#    else
    __m128i bytes = _mm_loadl_epi64((const __m128i *)p);
#    endif
    return (wide_mask)_mm_cmpeq_epi8_mask(bytes, _mm_setzero_si128());
}

static inline unsigned wide_lanes_of(wide_mask m)
{
    return m;
}
#elif TAUT_WIDE_ISA == 3
static inline wide_mask wide_unflagged(const uint8_t *p)
{
#    if TAUT_REAL_BITS == 32
    __m256i lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(lanes, _mm256_setzero_si256()));
#    else
    int bytes;
    memcpy(&bytes, p, sizeof bytes);
    __m256i lanes = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes));
    return _mm256_castsi256_pd(_mm256_cmpeq_epi64(lanes, _mm256_setzero_si256()));
#    endif
}

static inline unsigned wide_lanes_of(wide_mask m)
{
    return (unsigned)WIDE_OP(movemask)(m);
}
#elif defined(__x86_64__)
static inline wide_mask wide_unflagged(const uint8_t *p)
{
    __m128i zero = _mm_setzero_si128();
    int32_t bytes = 0;
    memcpy(&bytes, p, WIDE_LANES);
    __m128i lanes = _mm_unpacklo_epi8(_mm_cvtsi32_si128(bytes), zero);
    lanes = _mm_cmpeq_epi32(_mm_unpacklo_epi16(lanes, zero), zero);
#    if TAUT_REAL_BITS == 32
    return _mm_castsi128_ps(lanes);
#    else
    return _mm_castsi128_pd(_mm_unpacklo_epi32(lanes, lanes));
#    endif
}

static inline unsigned wide_lanes_of(wide_mask m)
{
    return (unsigned)WIDE_OP(movemask)(m);
}
#elif defined(__aarch64__) && defined(__ARM_NEON)
static inline wide_mask wide_unflagged(const uint8_t *p)
{
    uint32_t bytes = 0;
    memcpy(&bytes, p, WIDE_LANES);
    uint32x4_t lanes = vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(bytes))));
#    if TAUT_REAL_BITS == 32
    return vceqzq_u32(lanes);
#    else
    return vceqzq_u64(vmovl_u32(vget_low_u32(lanes)));
#    endif
}

static inline unsigned wide_lanes_of(wide_mask m)
{
    return (unsigned)WIDE_BITS(addv)(WIDE_BITS(and)(m, WIDE_BITS(ld1)(wide_lane_bit)));
}
#else
static inline wide_mask wide_unflagged(const uint8_t *p)
{
    WIDE_EACH(wide_mask, p[l] == 0)
}

static inline unsigned wide_lanes_of(wide_mask m)
{
    unsigned bits = 0;
    for (int l = 0; l < WIDE_LANES; l++)
        bits |= (unsigned)m.lane[l] << l;
    return bits;
}
#endif

#endif
