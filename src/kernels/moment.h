// The share of a run of nodes in a volume (plan/rings.h). Numeric.
#ifndef TAUT_KERNELS_MOMENT_H
#define TAUT_KERNELS_MOMENT_H

#include <stdint.h>

#include "base/real.h"

// sum (x - origin) a in eight parts, whatever the instruction set, so that vectors may hold them.
static inline double moment_of(const real *x, const real *ax, uint32_t count, double origin)
{
    enum { PARTS = 8 };
    double parts[PARTS] = {0};
    uint32_t whole = count / PARTS * PARTS;
    for (uint32_t i = 0; i < whole; i += PARTS)
        for (uint32_t part = 0; part < PARTS; part++)
            parts[part] += ((double)x[i + part] - origin) * (double)ax[i + part];
    for (uint32_t i = whole; i < count; i++)
        parts[i - whole] += ((double)x[i] - origin) * (double)ax[i];
    double sum = 0;
    for (int part = 0; part < PARTS; part++)
        sum += parts[part];
    return sum;
}

#endif
