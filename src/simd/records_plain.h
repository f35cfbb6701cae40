// By way of memory, for machines without a header of their own.
#ifndef TAUT_SIMD_RECORDS_PLAIN_H
#define TAUT_SIMD_RECORDS_PLAIN_H

static inline void wide_components(const real *records, const uint16_t *at, int scale, wide *x,
                                   wide *y, wide *z)
{
    real lanes[3][WIDE_LANES];
    for (int l = 0; l < WIDE_LANES; l++)
        for (int component = 0; component < 3; component++)
            lanes[component][l] = records[scale * at[l] + component];
    *x = wide_load(lanes[0]);
    *y = wide_load(lanes[1]);
    *z = wide_load(lanes[2]);
}

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
