// Vectors of three components, one register each: positions, velocities or forces of WIDE_LANES
// nodes. Include after or instead of simd/wide.h.
#ifndef TAUT_SIMD_WIDE3_H
#define TAUT_SIMD_WIDE3_H

#include "simd/wide.h"

struct wide3 {
    wide x, y, z;
};

WIDE_INLINE struct wide3 wide3_zero(void)
{
    wide zero = wide_set(0);
    return (struct wide3){zero, zero, zero};
}

WIDE_INLINE struct wide3 wide3_load(const real *x, const real *y, const real *z, int64_t at)
{
    return (struct wide3){wide_load(x + at), wide_load(y + at), wide_load(z + at)};
}

WIDE_INLINE struct wide3 wide3_load_first(const real *x, const real *y, const real *z, int64_t at,
                                          long count)
{
    return (struct wide3){wide_load_first(x + at, count), wide_load_first(y + at, count),
                          wide_load_first(z + at, count)};
}

WIDE_INLINE void wide3_store(real *x, real *y, real *z, int64_t at, struct wide3 a)
{
    wide_store(x + at, a.x);
    wide_store(y + at, a.y);
    wide_store(z + at, a.z);
}

WIDE_INLINE void wide3_store_first(real *x, real *y, real *z, int64_t at, struct wide3 a,
                                   long count)
{
    wide_store_first(x + at, a.x, count);
    wide_store_first(y + at, a.y, count);
    wide_store_first(z + at, a.z, count);
}

WIDE_INLINE struct wide3 wide3_add(struct wide3 a, struct wide3 b)
{
    return (struct wide3){wide_add(a.x, b.x), wide_add(a.y, b.y), wide_add(a.z, b.z)};
}

WIDE_INLINE struct wide3 wide3_subtract(struct wide3 a, struct wide3 b)
{
    return (struct wide3){wide_subtract(a.x, b.x), wide_subtract(a.y, b.y),
                          wide_subtract(a.z, b.z)};
}

WIDE_INLINE struct wide3 wide3_scale(wide factor, struct wide3 a)
{
    return (struct wide3){wide_multiply(factor, a.x), wide_multiply(factor, a.y),
                          wide_multiply(factor, a.z)};
}

// (ax bx + ay by) + az bz
WIDE_INLINE wide wide3_dot(struct wide3 a, struct wide3 b)
{
    return wide_add(wide_add(wide_multiply(a.x, b.x), wide_multiply(a.y, b.y)),
                    wide_multiply(a.z, b.z));
}

WIDE_INLINE struct wide3 wide3_cross(struct wide3 a, struct wide3 b)
{
    return (struct wide3){wide_subtract(wide_multiply(a.y, b.z), wide_multiply(a.z, b.y)),
                          wide_subtract(wide_multiply(a.z, b.x), wide_multiply(a.x, b.z)),
                          wide_subtract(wide_multiply(a.x, b.y), wide_multiply(a.y, b.x))};
}

WIDE_INLINE struct wide3 wide3_masked(wide_mask mask, struct wide3 a)
{
    return (struct wide3){wide_masked(mask, a.x), wide_masked(mask, a.y), wide_masked(mask, a.z)};
}

WIDE_INLINE struct wide3 wide3_blend(wide_mask mask, struct wide3 a, struct wide3 b)
{
    return (struct wide3){wide_blend(mask, a.x, b.x), wide_blend(mask, a.y, b.y),
                          wide_blend(mask, a.z, b.z)};
}

// Lane l of the result is lane l - step of `a`; the first lanes are the last of `before`. step is 1
// or 2.
WIDE_INLINE struct wide3 wide3_shift_up(struct wide3 before, struct wide3 a, int step)
{
    if (step == 1)
        return (struct wide3){wide_shift_up_1(before.x, a.x), wide_shift_up_1(before.y, a.y),
                              wide_shift_up_1(before.z, a.z)};
    return (struct wide3){wide_shift_up_2(before.x, a.x), wide_shift_up_2(before.y, a.y),
                          wide_shift_up_2(before.z, a.z)};
}

// Lane l of the result is lane l + step of `a`; the last lanes are the first of `after`. step is 1
// or 2.
WIDE_INLINE struct wide3 wide3_shift_down(struct wide3 a, struct wide3 after, int step)
{
    if (step == 1)
        return (struct wide3){wide_shift_down_1(a.x, after.x), wide_shift_down_1(a.y, after.y),
                              wide_shift_down_1(a.z, after.z)};
    return (struct wide3){wide_shift_down_2(a.x, after.x), wide_shift_down_2(a.y, after.y),
                          wide_shift_down_2(a.z, after.z)};
}

#endif
