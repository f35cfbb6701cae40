// What all x86 registers have in common: the intrinsics' names differ by QUADS_OP alone; and
// records are written alike.
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

#if TAUT_REAL_BITS == 32
static inline void quads_write(real *p, const real *x, const real *y, const real *z)
{
    const __m128 zero = _mm_setzero_ps();
    __m128 a = _mm_loadu_ps(x), b = _mm_loadu_ps(y), c = _mm_loadu_ps(z);
    __m128 xy01 = _mm_unpacklo_ps(a, b), xy23 = _mm_unpackhi_ps(a, b);
    __m128 z01 = _mm_unpacklo_ps(c, zero), z23 = _mm_unpackhi_ps(c, zero);
    _mm_store_ps(p, _mm_movelh_ps(xy01, z01));
    _mm_store_ps(p + 4, _mm_movehl_ps(z01, xy01));
    _mm_store_ps(p + 8, _mm_movelh_ps(xy23, z23));
    _mm_store_ps(p + 12, _mm_movehl_ps(z23, xy23));
}
#else
static inline void quads_write(real *p, const real *x, const real *y, const real *z)
{
    const __m256d zero = _mm256_setzero_pd();
    __m256d a = _mm256_loadu_pd(x), b = _mm256_loadu_pd(y), c = _mm256_loadu_pd(z);
    __m256d xy02 = _mm256_unpacklo_pd(a, b), xy13 = _mm256_unpackhi_pd(a, b);
    __m256d z02 = _mm256_unpacklo_pd(c, zero), z13 = _mm256_unpackhi_pd(c, zero);
    _mm256_store_pd(p, _mm256_permute2f128_pd(xy02, z02, 0x20));
    _mm256_store_pd(p + 4, _mm256_permute2f128_pd(xy13, z13, 0x20));
    _mm256_store_pd(p + 8, _mm256_permute2f128_pd(xy02, z02, 0x31));
    _mm256_store_pd(p + 12, _mm256_permute2f128_pd(xy13, z13, 0x31));
}
#endif

#endif
