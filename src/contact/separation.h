// How far apart two blocks of surfaces are at least, by separating axes: the gap between them along
// a few directions, at a fraction of the cost of their candidates. Where layers lie on each other
// at an angle to the axes, boxes of blocks overlap those of many layers, and nothing is near.
// Numeric.
#ifndef TAUT_CONTACT_SEPARATION_H
#define TAUT_CONTACT_SEPARATION_H

#include "contact/barrier.h"

// Nodes of a block at its ends, by their numbers in it: 0 and 2 are far apart, 1 and 3 on both
// sides of the line between them, so that the vector product of both diagonals is normal to a flat
// block.
struct block_span {
    uint8_t nodes[4];
};

// A block with these positions, of which the first is repeated beyond the last; `box`: least and
// most coordinates.
struct placed_block {
    const real (*x)[SURFACE_NODES];
    const real *box;
    struct block_span span;
};

// A box along the block instead of the axes, of which the first direction is normal to it: all
// nodes are within `half` of the centre along each direction.
struct block_frame {
    struct point centre, axes[3];
    real half[3];
};

struct block_span REAL_NAME(block_span_of)(const real (*x)[SURFACE_NODES]);

// A lower bound of the distance of any two parts of two blocks, m; 0: none is known. Directions
// beyond the first one along which they are farther apart than `enough` are not tried.
double REAL_NAME(block_separation)(const struct placed_block *a, const struct placed_block *b,
                                   double enough);

struct block_frame REAL_NAME(block_frame_of)(const struct placed_block *block);

// The same as block_separation from frames, and along their normals alone.
double REAL_NAME(frame_separation)(const struct block_frame *a, const struct block_frame *b);

#endif
