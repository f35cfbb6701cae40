// Shared by instruction sets: operations whose intrinsics differ by name alone, and operations that
// go through memory where a set has no instruction for them. A set's header defines these names
// first:
//
//   WIDE_OP(name), WIDE_LOAD, WIDE_STORE, WIDE_SET   the intrinsics of a register
//   WIDE_FIRST_BY_MEMORY   there are no masked loads and stores
#ifndef TAUT_SIMD_COMMON_H
#define TAUT_SIMD_COMMON_H

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

#ifdef WIDE_FIRST_BY_MEMORY
static inline wide wide_load_first(const real *p, long count)
{
    if (count >= WIDE_LANES)
        return wide_load(p);
    real lanes[WIDE_LANES] = {0};
    for (long lane = 0; lane < count; lane++)
        lanes[lane] = p[lane];
    return wide_load(lanes);
}

static inline void wide_store_first(real *p, wide a, long count)
{
    if (count >= WIDE_LANES) {
        wide_store(p, a);
        return;
    }
    real lanes[WIDE_LANES];
    wide_store(lanes, a);
    for (long lane = 0; lane < count; lane++)
        p[lane] = lanes[lane];
}
#endif

#endif
