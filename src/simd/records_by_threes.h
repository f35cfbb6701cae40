// Records by wide_components(records, at, scale, &x, &y, &z), which fetches three reals of each, at
// records[scale * at[l]]: where a record of 8 is best fetched as two of 4.
#ifndef TAUT_SIMD_RECORDS_BY_THREES_H
#define TAUT_SIMD_RECORDS_BY_THREES_H

static inline void wide_records_4(const real *records, const uint16_t *at, wide *x, wide *y,
                                  wide *z)
{
    wide_components(records, at, 1, x, y, z);
}

static inline void wide_records_8(const real *records, const uint16_t *at, wide *x, wide *y,
                                  wide *z, wide *vx, wide *vy, wide *vz)
{
    wide_components(records, at, 2, x, y, z);
    wide_components(records + 4, at, 2, vx, vy, vz);
}

#endif
