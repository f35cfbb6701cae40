// Eigenvalues of the blocks of majorant.h. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_EIGENVALUE_H
#define TAUT_STABILITY_EIGENVALUE_H

#include <math.h>

#include "stability/majorant.h"

struct block {
    double xx, yy, zz, xy, xz, yz;
};

static inline struct block block_at(const real (*blocks)[MAJORANT_NODES], size_t i)
{
    return (struct block){(double)blocks[0][i], (double)blocks[1][i], (double)blocks[2][i],
                          (double)blocks[3][i], (double)blocks[4][i], (double)blocks[5][i]};
}

// The mean eigenvalue, and how far they are spread around it.
static inline double mean_and_spread(const struct block *m, double *spread)
{
    double mean = (m->xx + m->yy + m->zz) / 3;
    double off = m->xy * m->xy + m->xz * m->xz + m->yz * m->yz;
    double dx = m->xx - mean, dy = m->yy - mean, dz = m->zz - mean;
    *spread = sqrt((dx * dx + dy * dy + dz * dz + 2 * off) / 6);
    return mean;
}

// The largest eigenvalue, in closed form (Smith 1961: trigonometric solution of the cubic).
static inline double block_largest(const struct block *m)
{
    double spread, mean = mean_and_spread(m, &spread);
    if (spread == 0)
        return mean;
    double a = (m->xx - mean) / spread, b = (m->yy - mean) / spread, c = (m->zz - mean) / spread;
    double d = m->xy / spread, e = m->xz / spread, f = m->yz / spread;
    double half_determinant = (a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)) / 2;
    double cosine = fmax(-1, fmin(1, half_determinant));
    return mean + 2 * spread * cos(acos(cosine) / 3);
}

#endif
