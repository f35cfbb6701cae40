// The geometry of one face (a triangle or an edge of a plane body), for wind and pressure. Numeric.
#ifndef TAUT_FACES_FACE_H
#define TAUT_FACES_FACE_H

#include "state/system.h"

struct face_shape {
    const uint32_t *nodes;
    int corners;     // 3, or 2 for an edge of a plane body
    real sx, sy, sz; // area (for an edge: length) times the outward unit normal
    real area;
};

// A triangle (a, b, c), counter-clockwise seen from outside: (b - a) x (c - a) / 2. An edge a -> b
// of a plane body has its outside on the right: (dy, -dx).
static inline struct face_shape face_shape(const struct state *state, const uint32_t nodes[3])
{
    uint32_t a = nodes[0], b = nodes[1], c = nodes[2];
    real ux = state->x[b] - state->x[a];
    real uy = state->y[b] - state->y[a];
    if (c == FACE_EDGE)
        return (struct face_shape){nodes, 2, uy, -ux, 0, real_sqrt(ux * ux + uy * uy)};
    real uz = state->z[b] - state->z[a];
    real wx = state->x[c] - state->x[a];
    real wy = state->y[c] - state->y[a];
    real wz = state->z[c] - state->z[a];
    real sx = (uy * wz - uz * wy) / 2;
    real sy = (uz * wx - ux * wz) / 2;
    real sz = (ux * wy - uy * wx) / 2;
    return (struct face_shape){nodes, 3, sx, sy, sz, real_sqrt(sx * sx + sy * sy + sz * sz)};
}

#endif
