// Plain C for machines without a header of their own; compilers make of it what they can.
#ifndef TAUT_SIMD_WIDE_PLAIN_H
#define TAUT_SIMD_WIDE_PLAIN_H

#include <stdbool.h>

enum { WIDE_LANES = 4 };

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

static inline wide wide_sqrt(wide a)
{
    WIDE_EACH(wide, real_sqrt(a.lane[l]))
}

static inline wide_mask wide_lanes(long first, long end)
{
    WIDE_EACH(wide_mask, l >= first && l < end)
}

static inline wide_mask wide_positive(wide a)
{
    WIDE_EACH(wide_mask, a.lane[l] > 0)
}

static inline wide_mask wide_both(wide_mask m, wide_mask n)
{
    WIDE_EACH(wide_mask, m.lane[l] && n.lane[l])
}

static inline wide wide_keep(wide_mask m, wide a)
{
    WIDE_EACH(wide, m.lane[l] ? a.lane[l] : 0)
}

static inline void wide_store_first(real *p, wide a, long count)
{
    for (long l = 0; l < count && l < WIDE_LANES; l++)
        p[l] = a.lane[l];
}

#endif
