// NEON, which every 64-bit ARM processor has: 4 floats or 2 doubles. A mask is a register of
// all-ones or all-zeros lanes of unsigned integers. Square roots and divisions are instructions,
// correctly rounded; vmla and vfma are not used, since they may round once where other instruction
// sets round twice.
#ifndef TAUT_SIMD_NEON_H
#define TAUT_SIMD_NEON_H

#include <arm_neon.h>

#if TAUT_REAL_BITS == 32
enum { WIDE_LANES = 4, WIDE_REGISTERS = 32 };
typedef float32x4_t wide;
typedef uint32x4_t wide_mask;
#    define WIDE_OP(name)    v##name##q_f32
#    define WIDE_BITS(name)  v##name##q_u32
#    define WIDE_SET         vdupq_n_f32
#    define WIDE_BITS_SET(a) vdupq_n_u32((uint32_t)(a))
#    define WIDE_TO_BITS     vreinterpretq_u32_f32
#    define WIDE_OF_BITS     vreinterpretq_f32_u32
static const uint32_t wide_lane_number[WIDE_LANES] = {0, 1, 2, 3};
static const uint32_t wide_lane_bit[WIDE_LANES] = {1, 2, 4, 8};
#else
enum { WIDE_LANES = 2, WIDE_REGISTERS = 32 };
typedef float64x2_t wide;
typedef uint64x2_t wide_mask;
#    define WIDE_OP(name)    v##name##q_f64
#    define WIDE_BITS(name)  v##name##q_u64
#    define WIDE_SET         vdupq_n_f64
#    define WIDE_BITS_SET(a) vdupq_n_u64((uint64_t)(a))
#    define WIDE_TO_BITS     vreinterpretq_u64_f64
#    define WIDE_OF_BITS     vreinterpretq_f64_u64
static const uint64_t wide_lane_number[WIDE_LANES] = {0, 1};
static const uint64_t wide_lane_bit[WIDE_LANES] = {1, 2};
#endif

#define WIDE_LOAD  WIDE_OP(ld1)
#define WIDE_STORE WIDE_OP(st1)

#define WIDE_FIRST_BY_MEMORY
#include "simd/common.h"

// Not vmax and vmin, which return NaN if either operand is NaN.
static inline wide wide_max(wide a, wide b)
{
    return WIDE_OP(bsl)(WIDE_OP(cgt)(a, b), a, b);
}

static inline wide wide_min(wide a, wide b)
{
    return WIDE_OP(bsl)(WIDE_OP(cgt)(b, a), a, b);
}

static inline wide wide_shift_up_1(wide before, wide a)
{
    return WIDE_OP(ext)(before, a, WIDE_LANES - 1);
}

static inline wide wide_shift_down_1(wide a, wide after)
{
    return WIDE_OP(ext)(a, after, 1);
}

#if TAUT_REAL_BITS == 32
static inline wide wide_shift_up_2(wide before, wide a)
{
    return WIDE_OP(ext)(before, a, WIDE_LANES - 2);
}

static inline wide wide_shift_down_2(wide a, wide after)
{
    return WIDE_OP(ext)(a, after, 2);
}
#else
static inline wide wide_shift_up_2(wide before, wide a)
{
    (void)a;
    return before;
}

static inline wide wide_shift_down_2(wide a, wide after)
{
    (void)a;
    return after;
}
#endif

static inline wide_mask wide_mask_and(wide_mask m, wide_mask n)
{
    return WIDE_BITS(and)(m, n);
}

static inline wide wide_masked(wide_mask m, wide a)
{
    return WIDE_OF_BITS(WIDE_BITS(and)(m, WIDE_TO_BITS(a)));
}

static inline wide wide_blend(wide_mask m, wide a, wide b)
{
    return WIDE_OF_BITS(WIDE_BITS(bsl)(m, WIDE_TO_BITS(a), WIDE_TO_BITS(b)));
}

static inline wide wide_multiply_where(wide_mask m, wide a, wide b)
{
    return wide_masked(m, wide_multiply(a, b));
}

static inline wide_mask wide_mask_load(const uint32_t *bits, long at)
{
    return WIDE_BITS(tst)(WIDE_BITS_SET(bits[at / 32] >> (at % 32)), WIDE_BITS(ld1)(wide_lane_bit));
}

// Lane l is set where first <= l < end; bounds are clamped to the register.
static inline wide_mask wide_lane_range(long first, long end)
{
    long low = first < 0 ? 0 : first > WIDE_LANES ? WIDE_LANES : first;
    long high = end < 0 ? 0 : end > WIDE_LANES ? WIDE_LANES : end;
    wide_mask lanes = WIDE_BITS(ld1)(wide_lane_number);
    return wide_mask_and(WIDE_BITS(cge)(lanes, WIDE_BITS_SET(low)),
                         WIDE_BITS(clt)(lanes, WIDE_BITS_SET(high)));
}

static inline wide_mask wide_positive(wide a)
{
    return WIDE_OP(cgt)(a, wide_set(0));
}

static inline wide_mask wide_at_most(wide a, wide b)
{
    return WIDE_OP(cle)(a, b);
}

static inline wide_mask wide_mask_zero_bytes(const uint8_t *p)
{
    uint32_t bytes = 0;
    memcpy(&bytes, p, WIDE_LANES);
    uint32x4_t lanes = vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(bytes))));
#if TAUT_REAL_BITS == 32
    return vceqzq_u32(lanes);
#else
    return vceqzq_u64(vmovl_u32(vget_low_u32(lanes)));
#endif
}

static inline unsigned wide_mask_bits(wide_mask m)
{
    return (unsigned)WIDE_BITS(addv)(WIDE_BITS(and)(m, WIDE_BITS(ld1)(wide_lane_bit)));
}

#endif
