// What all x86 registers have in common: the intrinsics' names differ by QUADS_OP alone.
#ifndef TAUT_SIMD_QUADS_X86_H
#define TAUT_SIMD_QUADS_X86_H

static inline quads quads_load(const real *p)
{
    return QUADS_OP(loadu)(p);
}

static inline quads quads_zero(void)
{
    return QUADS_OP(set1)(0);
}

static inline quads quads_add(quads a, quads b)
{
    return QUADS_OP(add)(a, b);
}

static inline quads quads_subtract(quads a, quads b)
{
    return QUADS_OP(sub)(a, b);
}

static inline quads quads_multiply(quads a, quads b)
{
    return QUADS_OP(mul)(a, b);
}

#endif
