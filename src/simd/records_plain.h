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

#include "simd/records_by_threes.h"

#endif
