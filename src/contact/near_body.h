// The broad phase of contacts (colliders.c): bounding boxes of blocks of nodes, and which
// nodes of a block may touch a collider. Both only leave out what certainly does not touch: the
// contact itself is computed in double, node by node. Compiled for each instruction set.
#include "kernels/kernels.h"
#include "simd/wide.h"

WIDE_INLINE void extend_by_lanes(wide most, wide most_negated, real *high, real *low)
{
    real above[WIDE_LANES], below[WIDE_LANES];
    wide_store(above, most);
    wide_store(below, most_negated);
    for (int half = WIDE_LANES / 2; half > 0;
         half /= 2) // pairs side by side, not one after another
        for (int lane = 0; lane < half; lane++) {
            above[lane] = above[lane + half] > above[lane] ? above[lane + half] : above[lane];
            below[lane] = below[lane + half] > below[lane] ? below[lane + half] : below[lane];
        }
    *high = above[0] > *high ? above[0] : *high;
    *low = -below[0] < *low ? -below[0] : *low;
}

// The least of x is minus the greatest of -x. A value that is not a number is passed over: it
// touches nothing.
static void find_extent(const real *x, const real *y, const real *z, struct range nodes,
                        struct node_box *box)
{
    enum { PARTS = 2 }; // so that one maximum does not wait for the last
    const wide none = wide_set(-REAL_HUGE), zero = wide_set(0);
    wide high[PARTS][3] = {{none, none, none}, {none, none, none}};
    wide low[PARTS][3] = {{none, none, none}, {none, none, none}};
    size_t i = nodes.first;
    for (; i + PARTS * WIDE_LANES <= nodes.end; i += PARTS * WIDE_LANES)
        for (int part = 0; part < PARTS; part++) {
            const size_t at = i + (size_t)part * WIDE_LANES;
            const wide axes[3] = {wide_load(x + at), wide_load(y + at), wide_load(z + at)};
            for (int axis = 0; axis < 3; axis++) {
                high[part][axis] = wide_max(axes[axis], high[part][axis]);
                low[part][axis] = wide_max(wide_subtract(zero, axes[axis]), low[part][axis]);
            }
        }
    for (int axis = 0; axis < 3; axis++)
        extend_by_lanes(wide_max(high[0][axis], high[1][axis]),
                        wide_max(low[0][axis], low[1][axis]), &box->most[axis], &box->least[axis]);
    for (; i < nodes.end; i++) {
        const real at[3] = {x[i], y[i], z[i]};
        for (int axis = 0; axis < 3; axis++) {
            box->most[axis] = at[axis] > box->most[axis] ? at[axis] : box->most[axis];
            box->least[axis] = at[axis] < box->least[axis] ? at[axis] : box->least[axis];
        }
    }
}

static void node_box(const real *x, const real *y, const real *z, struct range nodes,
                     struct node_box *box)
{
    *box =
        (struct node_box){{REAL_HUGE, REAL_HUGE, REAL_HUGE}, {-REAL_HUGE, -REAL_HUGE, -REAL_HUGE}};
    find_extent(x, y, z, nodes, box);
}

// Where the measure of a collider is below the shape's limit: n.x of a plane, the square of the
// distance from a sphere's centre, minus how far out of the room.
WIDE_INLINE wide_mask may_touch(const struct near_shape *shape, enum collider_type type, wide x,
                                wide y, wide z)
{
    const wide ax = wide_set(shape->a[0]), ay = wide_set(shape->a[1]), az = wide_set(shape->a[2]);
    wide measure;
    if (type == COLLIDER_PLANE) {
        measure =
            wide_add(wide_add(wide_multiply(ax, x), wide_multiply(ay, y)), wide_multiply(az, z));
    } else if (type == COLLIDER_SPHERE) {
        x = wide_subtract(x, ax);
        y = wide_subtract(y, ay);
        z = wide_subtract(z, az);
        measure = wide_add(wide_add(wide_multiply(x, x), wide_multiply(y, y)), wide_multiply(z, z));
    } else { // minus the greatest distance out of the room
        const wide bx = wide_set(shape->b[0]), by = wide_set(shape->b[1]);
        const wide bz = wide_set(shape->b[2]);
        wide out = wide_max(wide_subtract(ax, x), wide_subtract(x, bx));
        out = wide_max(out, wide_max(wide_subtract(ay, y), wide_subtract(y, by)));
        out = wide_max(out, wide_max(wide_subtract(az, z), wide_subtract(z, bz)));
        measure = wide_subtract(wide_set(0), out);
    }
    return wide_positive(wide_subtract(wide_set(shape->limit), measure));
}

WIDE_INLINE uint64_t find_near(const struct state *s, size_t first, int count,
                               const struct near_shape *shape, enum collider_type type)
{
    uint64_t near = 0;
    for (int i = 0; i < count; i += WIDE_LANES) {
        const size_t at = first + (size_t)i;
        const long left = count - i;
        wide_mask touch =
            may_touch(shape, type, wide_load_first(s->x + at, left),
                      wide_load_first(s->y + at, left), wide_load_first(s->z + at, left));
        near |= (uint64_t)wide_mask_bits(wide_mask_and(touch, wide_lane_range(0, left))) << i;
    }
    return near;
}

static uint64_t nodes_near(const struct state *s, size_t first, int count,
                           const struct near_shape *shape)
{
    switch (shape->type) {
    case COLLIDER_PLANE:
        return find_near(s, first, count, shape, COLLIDER_PLANE);
    case COLLIDER_SPHERE:
        return find_near(s, first, count, shape, COLLIDER_SPHERE);
    case COLLIDER_ROOM:
        return find_near(s, first, count, shape, COLLIDER_ROOM);
    }
    return 0;
}
