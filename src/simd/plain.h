// Plain C for machines without a header of their own; vectorisation is left to the compiler.
#ifndef TAUT_SIMD_PLAIN_H
#define TAUT_SIMD_PLAIN_H

#include <stdbool.h>

enum { WIDE_LANES = 4, WIDE_REGISTERS = 16 };

typedef struct wide {
    real lane[WIDE_LANES];
} wide;

typedef struct wide_mask {
    bool lane[WIDE_LANES];
} wide_mask;

#define WIDE_EACH(type, expression)                                                                \
    type result;                                                                                   \
    for (int l = 0; l < WIDE_LANES; l++)                                                           \
        result.lane[l] = (expression);                                                             \
    return result;

static inline wide wide_load(const real *p)
{
    WIDE_EACH(wide, p[l])
}

static inline wide wide_load_first(const real *p, long count)
{
    WIDE_EACH(wide, l < count ? p[l] : 0)
}

static inline void wide_store(real *p, wide a)
{
    for (int l = 0; l < WIDE_LANES; l++)
        p[l] = a.lane[l];
}

static inline wide wide_set(real r)
{
    WIDE_EACH(wide, r)
}

static inline wide wide_add(wide a, wide b)
{
    WIDE_EACH(wide, a.lane[l] + b.lane[l])
}

static inline wide wide_subtract(wide a, wide b)
{
    WIDE_EACH(wide, a.lane[l] - b.lane[l])
}

static inline wide wide_multiply(wide a, wide b)
{
    WIDE_EACH(wide, a.lane[l] * b.lane[l])
}

static inline wide wide_divide(wide a, wide b)
{
    WIDE_EACH(wide, a.lane[l] / b.lane[l])
}

static inline wide wide_max(wide a, wide b)
{
    WIDE_EACH(wide, a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l])
}

static inline wide wide_min(wide a, wide b)
{
    WIDE_EACH(wide, a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l])
}

static inline wide wide_shift_up_1(wide before, wide a)
{
    WIDE_EACH(wide, l >= 1 ? a.lane[l - 1] : before.lane[l + WIDE_LANES - 1])
}

static inline wide wide_shift_up_2(wide before, wide a)
{
    WIDE_EACH(wide, l >= 2 ? a.lane[l - 2] : before.lane[l + WIDE_LANES - 2])
}

static inline wide wide_shift_down_1(wide a, wide after)
{
    WIDE_EACH(wide, l + 1 < WIDE_LANES ? a.lane[l + 1] : after.lane[l + 1 - WIDE_LANES])
}

static inline wide wide_shift_down_2(wide a, wide after)
{
    WIDE_EACH(wide, l + 2 < WIDE_LANES ? a.lane[l + 2] : after.lane[l + 2 - WIDE_LANES])
}

static inline wide_mask wide_mask_load(const uint32_t *bits, long at)
{
    uint32_t word = bits[at / 32] >> (at % 32);
    WIDE_EACH(wide_mask, (word >> l & 1) != 0)
}

static inline wide wide_sqrt(wide a)
{
    WIDE_EACH(wide, real_sqrt(a.lane[l]))
}

static inline wide_mask wide_lane_range(long first, long end)
{
    WIDE_EACH(wide_mask, l >= first && l < end)
}

static inline wide_mask wide_positive(wide a)
{
    WIDE_EACH(wide_mask, a.lane[l] > 0)
}

static inline wide_mask wide_at_most(wide a, wide b)
{
    WIDE_EACH(wide_mask, a.lane[l] <= b.lane[l])
}

static inline wide_mask wide_mask_and(wide_mask m, wide_mask n)
{
    WIDE_EACH(wide_mask, m.lane[l] && n.lane[l])
}

static inline wide wide_masked(wide_mask m, wide a)
{
    WIDE_EACH(wide, m.lane[l] ? a.lane[l] : 0)
}

static inline wide wide_blend(wide_mask m, wide a, wide b)
{
    WIDE_EACH(wide, m.lane[l] ? a.lane[l] : b.lane[l])
}

static inline wide wide_multiply_where(wide_mask m, wide a, wide b)
{
    WIDE_EACH(wide, m.lane[l] ? a.lane[l] * b.lane[l] : 0)
}

static inline void wide_store_first(real *p, wide a, long count)
{
    for (long l = 0; l < count && l < WIDE_LANES; l++)
        p[l] = a.lane[l];
}

static inline wide_mask wide_mask_zero_bytes(const uint8_t *p)
{
    WIDE_EACH(wide_mask, p[l] == 0)
}

static inline unsigned wide_mask_bits(wide_mask m)
{
    unsigned bits = 0;
    for (int l = 0; l < WIDE_LANES; l++)
        bits |= (unsigned)m.lane[l] << l;
    return bits;
}

#endif
