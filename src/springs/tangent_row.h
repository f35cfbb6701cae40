// Shared by the kernels of products with a tangent (springs/tangent.h): a register of nodes, whose
// rows of the matrix are summed spring by spring. Numeric, and compiled for each instruction set
// (simd/wide.h).
#ifndef TAUT_SPRINGS_TANGENT_ROW_H
#define TAUT_SPRINGS_TANGENT_ROW_H

#include "springs/tangent.h"
#include "simd/wide.h"

// Copies of the product's pointers, from some node on, which is followed by `nodes` nodes, itself
// included. Vector stores may alias anything, so pointers in memory would be read again after each.
struct tangent_sources {
    const real *x, *y, *z, *px, *py, *pz;
    real *fx, *fy, *fz;
    int64_t nodes;
};

static inline struct tangent_sources tangent_sources(const struct tangent_product *product,
                                                     int64_t first, int64_t nodes)
{
    return (struct tangent_sources){product->x + first,      product->y + first,
                                    product->z + first,      product->in[0] + first,
                                    product->in[1] + first,  product->in[2] + first,
                                    product->out[0] + first, product->out[1] + first,
                                    product->out[2] + first, nodes};
}

// Loads lanes of a caller's vector, which has no padding: indices outside of it are not read, and
// their lanes are 0. `inside`: no lane is outside.
static wide tangent_load_some(const real *p, int64_t at, int64_t nodes)
{
    real lanes[WIDE_LANES];
    for (int64_t l = 0; l < WIDE_LANES; l++)
        lanes[l] = at + l >= 0 && at + l < nodes ? p[at + l] : 0;
    return wide_load(lanes);
}

WIDE_INLINE wide tangent_load(const real *p, int64_t at, int64_t nodes, bool inside)
{
    return inside ? wide_load(p + at) : tangent_load_some(p, at, nodes);
}

// Positions and vectors of the nodes at the other ends, or their differences from a node's own.
struct tangent_ends {
    wide x, y, z, px, py, pz;
};

// A register of nodes, and the sum of their springs' contributions so far.
struct tangent_row {
    struct tangent_ends own;
    wide fx, fy, fz;
};

WIDE_INLINE struct tangent_ends tangent_ends_inside(const struct tangent_sources *s, int64_t at)
{
    return (struct tangent_ends){wide_load(s->x + at),  wide_load(s->y + at),
                                 wide_load(s->z + at),  wide_load(s->px + at),
                                 wide_load(s->py + at), wide_load(s->pz + at)};
}

static struct tangent_ends tangent_ends_some(const struct tangent_sources *s, int64_t at)
{
    const int64_t n = s->nodes;
    return (struct tangent_ends){tangent_load_some(s->x, at, n),  tangent_load_some(s->y, at, n),
                                 tangent_load_some(s->z, at, n),  tangent_load_some(s->px, at, n),
                                 tangent_load_some(s->py, at, n), tangent_load_some(s->pz, at, n)};
}

WIDE_INLINE struct tangent_ends tangent_ends_at(const struct tangent_sources *s, int64_t at,
                                                bool inside)
{
    if (inside || (at >= 0 && at + WIDE_LANES <= s->nodes))
        return tangent_ends_inside(s, at);
    return tangent_ends_some(s, at);
}

WIDE_INLINE struct tangent_row tangent_row_at(const struct tangent_sources *s, int64_t at,
                                              bool inside)
{
    const wide zero = wide_set(0);
    return (struct tangent_row){tangent_ends_at(s, at, inside), zero, zero, zero};
}

WIDE_INLINE void tangent_row_store(const struct tangent_sources *s, int64_t at,
                                   const struct tangent_row *row, long left)
{
    wide_store_first(s->fx + at, row->fx, left);
    wide_store_first(s->fy + at, row->fy, left);
    wide_store_first(s->fz + at, row->fz, left);
}

WIDE_INLINE struct tangent_ends tangent_apart(const struct tangent_row *row,
                                              const struct tangent_ends *other)
{
    const struct tangent_ends *own = &row->own;
    return (struct tangent_ends){
        wide_subtract(own->x, other->x),   wide_subtract(own->y, other->y),
        wide_subtract(own->z, other->z),   wide_subtract(own->px, other->px),
        wide_subtract(own->py, other->py), wide_subtract(own->pz, other->pz)};
}

struct tangent_coefficients {
    wide across, more; // more: (along - across) / L^2
};

// `across` is the contribution of the damping; `along` is that of damping and stiffness.
WIDE_INLINE struct tangent_coefficients tangent_coefficients(wide inverse, wide ratio, wide elastic,
                                                             wide along, wide across, real floor)
{
    wide sideways = wide_max(wide_subtract(wide_set(1), ratio), wide_set(floor));
    struct tangent_coefficients c;
    c.across = wide_add(wide_multiply(elastic, sideways), across);
    c.more = wide_multiply(wide_subtract(along, c.across), wide_multiply(inverse, inverse));
    return c;
}

WIDE_INLINE void tangent_add(struct tangent_row *row, const struct tangent_ends *d,
                             const struct tangent_coefficients *c)
{
    wide along = wide_add(wide_add(wide_multiply(d->px, d->x), wide_multiply(d->py, d->y)),
                          wide_multiply(d->pz, d->z));
    along = wide_multiply(c->more, along);
    row->fx =
        wide_add(row->fx, wide_add(wide_multiply(c->across, d->px), wide_multiply(along, d->x)));
    row->fy =
        wide_add(row->fy, wide_add(wide_multiply(c->across, d->py), wide_multiply(along, d->y)));
    row->fz =
        wide_add(row->fz, wide_add(wide_multiply(c->across, d->pz), wide_multiply(along, d->z)));
}

#endif
