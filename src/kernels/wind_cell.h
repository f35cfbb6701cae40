// What wind does to the two triangles of a cell of a cloth (face_grid_body.h), a register of cells
// at a time. Part of kernels that are compiled for each instruction set.
#include "kernels/kernels.h"
#include "simd/wide.h"

struct triple {
    wide x, y, z;
};

// The wind as the kernel needs it.
struct air {
    struct triple wind;
    wide factor; // c / 18, rho C_d / 2 / 54 or c: see face_push
    bool relative;
};

WIDE_INLINE struct triple triple_add(struct triple a, struct triple b)
{
    return (struct triple){wide_add(a.x, b.x), wide_add(a.y, b.y), wide_add(a.z, b.z)};
}

WIDE_INLINE struct triple triple_subtract(struct triple a, struct triple b)
{
    return (struct triple){wide_subtract(a.x, b.x), wide_subtract(a.y, b.y),
                           wide_subtract(a.z, b.z)};
}

WIDE_INLINE struct triple triple_scale(wide factor, struct triple a)
{
    return (struct triple){wide_multiply(factor, a.x), wide_multiply(factor, a.y),
                           wide_multiply(factor, a.z)};
}

WIDE_INLINE wide triple_dot(struct triple a, struct triple b)
{
    return wide_add(wide_add(wide_multiply(a.x, b.x), wide_multiply(a.y, b.y)),
                    wide_multiply(a.z, b.z));
}

WIDE_INLINE struct triple triple_cross(struct triple a, struct triple b)
{
    return (struct triple){wide_subtract(wide_multiply(a.y, b.z), wide_multiply(a.z, b.y)),
                           wide_subtract(wide_multiply(a.z, b.x), wide_multiply(a.x, b.z)),
                           wide_subtract(wide_multiply(a.x, b.y), wide_multiply(a.y, b.x))};
}

WIDE_INLINE struct triple triple_keep(wide_mask mask, struct triple a)
{
    return (struct triple){wide_keep(mask, a.x), wide_keep(mask, a.y), wide_keep(mask, a.z)};
}

WIDE_INLINE struct triple triple_behind(struct triple before, struct triple a)
{
    return (struct triple){wide_behind_1(before.x, a.x), wide_behind_1(before.y, a.y),
                           wide_behind_1(before.z, a.z)};
}

WIDE_INLINE wide magnitude(wide a)
{
    wide minus = wide_subtract(wide_set(0), a);
    return wide_add(wide_keep(wide_positive(a), a), wide_keep(wide_positive(minus), minus));
}

// What a face gives each corner. With K = 2 A n the product of its edges and R = 3 r the sum over
// its corners of the relative wind, a third of c A (r.n) n is c / 18 (R.K) / |K| K, and a third of
// rho C_d / 2 A |r.n| (r.n) n is rho C_d / 2 / 54 |R.K| (R.K) / K^2 K. For law node it is the
// unit normal. A face without area gives nothing.
WIDE_INLINE struct triple face_push(const struct air *air, struct triple product,
                                    struct triple wind, wide_mask exists, enum wind_law law)
{
    wide square = triple_dot(product, product);
    wide scale;
    if (law == WIND_NODE) {
        scale = wide_divide(wide_set(1), wide_sqrt(square));
    } else {
        wide flow = triple_dot(wind, product);
        wide force = wide_multiply(air->factor, flow);
        if (law == WIND_QUADRATIC)
            scale = wide_divide(wide_multiply(force, magnitude(flow)), square);
        else
            scale = wide_divide(force, wide_sqrt(square));
    }
    wide_mask valid = wide_both(exists, wide_positive(square));
    return triple_scale(wide_keep(valid, scale), product);
}

// From each cell's node a the others' places and velocities, taken from a's.
struct cell_edges {
    struct triple b, c, d, vb, vc, vd;
};

// 3 w - v_a - v_d, of the velocity of a and that of d taken from it.
WIDE_INLINE struct triple relative_shared(const struct air *air, struct triple velocity,
                                          struct triple vd)
{
    struct triple tripled = triple_scale(wide_set(3), velocity);
    return triple_add(triple_subtract(air->wind, tripled), vd);
}

// Signs of edges do not matter to their products. R is 3 w - v_a - v_b - v_d of the first, with v_c
// for v_b of the second; `velocity`: that of a, looked at if `relative`.
WIDE_INLINE void cell_faces(const struct air *air, const struct cell_edges *to,
                            struct triple velocity, wide_mask exists, enum wind_law law,
                            bool relative, struct triple *first, struct triple *second)
{
    struct triple of_first = air->wind, of_second = air->wind;
    if (relative && law != WIND_NODE) {
        struct triple shared = relative_shared(air, velocity, to->vd);
        of_first = triple_add(shared, to->vb);
        of_second = triple_add(shared, to->vc);
    }
    *first = face_push(air, triple_cross(to->b, to->d), of_first, exists, law);
    *second = face_push(air, triple_cross(to->d, to->c), of_second, exists, law);
}

static inline struct air air_of(const struct wind_now *now)
{
    // R is a sum over three corners.
    const real thirds = now->law == WIND_NODE ? 1 : 3;
    const real share = now->law == WIND_NODE ? 1 : now->law == WIND_FACE ? 18 : 54;
    return (struct air){
        .wind = {wide_set(thirds * now->wx), wide_set(thirds * now->wy),
                 wide_set(thirds * now->wz)},
        .factor = wide_set(now->factor / share),
        .relative = now->relative,
    };
}
