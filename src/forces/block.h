// Symmetric 3 x 3 blocks of tangents: xx, yy, zz, xy, xz, yz. Numeric.
#ifndef TAUT_FORCES_BLOCK_H
#define TAUT_FORCES_BLOCK_H

#include "base/real.h"

// block += along u u' + across (I - u u')
static inline void block_add(real block[6], real ux, real uy, real uz, real along, real across)
{
    real d = along - across;
    block[0] += across + d * ux * ux;
    block[1] += across + d * uy * uy;
    block[2] += across + d * uz * uz;
    block[3] += d * ux * uy;
    block[4] += d * ux * uz;
    block[5] += d * uy * uz;
}

#endif
