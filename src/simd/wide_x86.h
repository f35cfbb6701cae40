// What all x86 registers have in common: the intrinsics' names differ by WIDE_OP alone.
#ifndef TAUT_SIMD_WIDE_X86_H
#define TAUT_SIMD_WIDE_X86_H

static inline wide wide_load(const real *p)
{
    return WIDE_OP(loadu)(p);
}

static inline void wide_store(real *p, wide a)
{
    WIDE_OP(storeu)(p, a);
}

static inline wide wide_set(real r)
{
    return WIDE_OP(set1)(r);
}

static inline wide wide_add(wide a, wide b)
{
    return WIDE_OP(add)(a, b);
}

static inline wide wide_subtract(wide a, wide b)
{
    return WIDE_OP(sub)(a, b);
}

static inline wide wide_multiply(wide a, wide b)
{
    return WIDE_OP(mul)(a, b);
}

static inline wide wide_divide(wide a, wide b)
{
    return WIDE_OP(div)(a, b);
}

static inline wide wide_max(wide a, wide b)
{
    return WIDE_OP(max)(a, b);
}

static inline wide wide_sqrt(wide a)
{
    return WIDE_OP(sqrt)(a);
}

#endif
