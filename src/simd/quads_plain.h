// Plain C, a record at a time, for machines without a header of their own and for doubles in SSE2;
// compilers make of it what they can.
#ifndef TAUT_SIMD_QUADS_PLAIN_H
#define TAUT_SIMD_QUADS_PLAIN_H

enum { QUADS = 1 };

typedef struct quads {
    real x, y, z;
} quads;

static inline quads quads_load(const real *p)
{
    return (quads){p[0], p[1], p[2]};
}

static inline quads quads_fetch(const real *p, const uint16_t *at)
{
    return quads_load(p + at[0]);
}

static inline quads quads_zero(void)
{
    return (quads){0, 0, 0};
}

static inline quads quads_add(quads a, quads b)
{
    return (quads){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline quads quads_subtract(quads a, quads b)
{
    return (quads){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline quads quads_multiply(quads a, quads b)
{
    return (quads){a.x * b.x, a.y * b.y, a.z * b.z};
}

static inline quads quads_turn(quads a)
{
    return (quads){a.y, a.z, a.x};
}

static inline void quads_write(real *p, const real *x, const real *y, const real *z)
{
    for (int node = 0; node < 4; node++) {
        p[4 * node] = x[node];
        p[4 * node + 1] = y[node];
        p[4 * node + 2] = z[node];
        p[4 * node + 3] = 0;
    }
}

static inline void quads_store_columns(real *x, real *y, real *z, const quads group[4])
{
    for (int node = 0; node < 4; node++) {
        x[node] = group[node].x;
        y[node] = group[node].y;
        z[node] = group[node].z;
    }
}

#endif
