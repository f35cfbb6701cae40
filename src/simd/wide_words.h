// The words that are one instruction on registers of every kind: the intrinsics' names differ by
// WIDE_OP, and by WIDE_LOAD, WIDE_STORE and WIDE_SET.
#ifndef TAUT_SIMD_WIDE_WORDS_H
#define TAUT_SIMD_WIDE_WORDS_H

static inline wide wide_load(const real *p)
{
    return WIDE_LOAD(p);
}

static inline void wide_store(real *p, wide a)
{
    WIDE_STORE(p, a);
}

static inline wide wide_set(real r)
{
    return WIDE_SET(r);
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

static inline wide wide_sqrt(wide a)
{
    return WIDE_OP(sqrt)(a);
}

#endif
