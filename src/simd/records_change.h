// Adding to records, subtracting from them and writing them: registers of components are transposed
// back into records of 4 reals, each of which is then loaded, changed and stored as a whole. Part
// of wide.h.
#ifndef TAUT_SIMD_RECORDS_CHANGE_H
#define TAUT_SIMD_RECORDS_CHANGE_H

enum record_change { RECORD_ADD, RECORD_SUBTRACT, RECORD_PUT };

#if defined(__x86_64__)
// The unit that one instruction changes: a record, or half of one.
#    if TAUT_REAL_BITS == 32
typedef __m128 record_part;
#        define PART_OP(name) _mm_##name##_ps
#    elif TAUT_WIDE_ISA >= 3
typedef __m256d record_part;
#        define PART_OP(name) _mm256_##name##_pd
#    else
typedef __m128d record_part;
#        define PART_OP(name) _mm_##name##_pd
#    endif

static inline void wide_change_part(real *part, record_part by, enum record_change change)
{
    if (change != RECORD_PUT) {
        const record_part old = PART_OP(load)(part);
        by = change == RECORD_ADD ? PART_OP(add)(old, by) : PART_OP(sub)(old, by);
    }
    PART_OP(store)(part, by);
}

static inline void wide_record_add(real *record, real factor, const real *by)
{
    const record_part factors = PART_OP(set1)(factor);
    for (size_t i = 0; i < 4; i += sizeof(record_part) / sizeof(real))
        wide_change_part(record + i, PART_OP(mul)(factors, PART_OP(load)(by + i)), RECORD_ADD);
}
#    undef PART_OP
#endif

#if defined(__x86_64__) && TAUT_REAL_BITS == 32
// Part p of rows[k] is the record of lane 4 p + k.
WIDE_INLINE void wide_change_records(real *records, const uint16_t *at, wide x, wide y, wide z,
                                     enum record_change change)
{
#    if TAUT_WIDE_ISA == 4
#        define ROWS_OP(name)         _mm512_##name
#        define ROWS_PART(row, index) _mm512_extractf32x4_ps(row, index)
#        define ROWS_FIRST(row)       _mm512_castps512_ps128(row)
    typedef __m512d pairs;
#    elif TAUT_WIDE_ISA == 3
#        define ROWS_OP(name)         _mm256_##name
#        define ROWS_PART(row, index) _mm256_extractf128_ps(row, index)
#        define ROWS_FIRST(row)       _mm256_castps256_ps128(row)
    typedef __m256d pairs;
#    else
#        define ROWS_OP(name)   _mm_##name
#        define ROWS_FIRST(row) (row)
    typedef __m128d pairs;
#    endif

    // Transposes three registers of components into four rows of records.
    const wide zero = wide_set(0);
    pairs xy_low = ROWS_OP(castps_pd)(ROWS_OP(unpacklo_ps)(x, y));
    pairs xy_high = ROWS_OP(castps_pd)(ROWS_OP(unpackhi_ps)(x, y));
    pairs z_low = ROWS_OP(castps_pd)(ROWS_OP(unpacklo_ps)(z, zero));
    pairs z_high = ROWS_OP(castps_pd)(ROWS_OP(unpackhi_ps)(z, zero));
    const wide rows[4] = {ROWS_OP(castpd_ps)(ROWS_OP(unpacklo_pd)(xy_low, z_low)),
                          ROWS_OP(castpd_ps)(ROWS_OP(unpackhi_pd)(xy_low, z_low)),
                          ROWS_OP(castpd_ps)(ROWS_OP(unpacklo_pd)(xy_high, z_high)),
                          ROWS_OP(castpd_ps)(ROWS_OP(unpackhi_pd)(xy_high, z_high))};

    for (int k = 0; k < 4; k++) {
        wide_change_part(records + at[k], ROWS_FIRST(rows[k]), change);
#    if TAUT_WIDE_ISA >= 3
        wide_change_part(records + at[4 + k], ROWS_PART(rows[k], 1), change);
#    endif
#    if TAUT_WIDE_ISA == 4
        wide_change_part(records + at[8 + k], ROWS_PART(rows[k], 2), change);
        wide_change_part(records + at[12 + k], ROWS_PART(rows[k], 3), change);
#    endif
    }
#    undef ROWS_OP
#    undef ROWS_PART
#    undef ROWS_FIRST
}
#elif defined(__x86_64__) && TAUT_WIDE_ISA >= 3
WIDE_INLINE void wide_change_four(real *records, const uint16_t *at, __m256d x, __m256d y,
                                  __m256d z, enum record_change change)
{
    const __m256d zero = _mm256_setzero_pd();
    __m256d xy_even = _mm256_unpacklo_pd(x, y), xy_odd = _mm256_unpackhi_pd(x, y);
    __m256d z_even = _mm256_unpacklo_pd(z, zero), z_odd = _mm256_unpackhi_pd(z, zero);
    wide_change_part(records + at[0], _mm256_permute2f128_pd(xy_even, z_even, 0x20), change);
    wide_change_part(records + at[1], _mm256_permute2f128_pd(xy_odd, z_odd, 0x20), change);
    wide_change_part(records + at[2], _mm256_permute2f128_pd(xy_even, z_even, 0x31), change);
    wide_change_part(records + at[3], _mm256_permute2f128_pd(xy_odd, z_odd, 0x31), change);
}

WIDE_INLINE void wide_change_records(real *records, const uint16_t *at, wide x, wide y, wide z,
                                     enum record_change change)
{
#    if TAUT_WIDE_ISA == 4
    wide_change_four(records, at, _mm512_castpd512_pd256(x), _mm512_castpd512_pd256(y),
                     _mm512_castpd512_pd256(z), change);
    wide_change_four(records, at + 4, _mm512_extractf64x4_pd(x, 1), _mm512_extractf64x4_pd(y, 1),
                     _mm512_extractf64x4_pd(z, 1), change);
#    else
    wide_change_four(records, at, x, y, z, change);
#    endif
}
#elif defined(__x86_64__)
WIDE_INLINE void wide_change_records(real *records, const uint16_t *at, wide x, wide y, wide z,
                                     enum record_change change)
{
    const __m128d zero = _mm_setzero_pd();
    wide_change_part(records + at[0], _mm_unpacklo_pd(x, y), change);
    wide_change_part(records + at[0] + 2, _mm_unpacklo_pd(z, zero), change);
    wide_change_part(records + at[1], _mm_unpackhi_pd(x, y), change);
    wide_change_part(records + at[1] + 2, _mm_unpackhi_pd(z, zero), change);
}
#else
WIDE_INLINE void wide_change_records(real *records, const uint16_t *at, wide x, wide y, wide z,
                                     enum record_change change)
{
    real lanes[3][WIDE_LANES];
    wide_store(lanes[0], x);
    wide_store(lanes[1], y);
    wide_store(lanes[2], z);
    for (int l = 0; l < WIDE_LANES; l++) {
        real *record = records + at[l];
        for (int component = 0; component < 3; component++) {
            const real by = lanes[component][l];
            record[component] = change == RECORD_PUT   ? by
                                : change == RECORD_ADD ? record[component] + by
                                                       : record[component] - by;
        }
        if (change == RECORD_PUT)
            record[3] = 0;
    }
}

static inline void wide_record_add(real *record, real factor, const real *by)
{
    for (int component = 0; component < 3; component++)
        record[component] += factor * by[component];
}
#endif

WIDE_INLINE void wide_records_add(real *records, const uint16_t *at, wide x, wide y, wide z)
{
    wide_change_records(records, at, x, y, z, RECORD_ADD);
}

WIDE_INLINE void wide_records_subtract(real *records, const uint16_t *at, wide x, wide y, wide z)
{
    wide_change_records(records, at, x, y, z, RECORD_SUBTRACT);
}

WIDE_INLINE void wide_records_put(real *records, wide x, wide y, wide z)
{
    static const uint16_t at[16] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60};
    wide_change_records(records, at, x, y, z, RECORD_PUT);
}

#endif
