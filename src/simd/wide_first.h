// The first lanes alone, by way of memory, where there are no masked loads and stores (SSE2, AVX2,
// NEON).
#ifndef TAUT_SIMD_WIDE_FIRST_H
#define TAUT_SIMD_WIDE_FIRST_H

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
