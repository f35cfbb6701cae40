// The broad phase of contacts (culling.h): bounding boxes of blocks of nodes, and the nodes of a
// block that may touch a collider. Both exclude only nodes that certainly do not touch: the contact
// itself is computed in double, node by node. Compiled for each instruction set.
#include "kernels/kernels.h"
#include "simd/wide.h"

// The bounding box of registers of nodes, lane by lane.
struct wide_box {
    wide least[3], most[3];
};

WIDE_INLINE void extend_box(struct wide_box *box, wide x, wide y, wide z)
{
    const wide axes[3] = {x, y, z};
    for (int axis = 0; axis < 3; axis++) {
        box->most[axis] = wide_max(axes[axis], box->most[axis]);
        box->least[axis] = wide_min(axes[axis], box->least[axis]);
    }
}

// Values that are not numbers are skipped: such nodes touch nothing. The last register also
// includes some of the previous nodes, which does not change a box.
static void node_box(const real *x, const real *y, const real *z, struct range nodes,
                     struct node_box *box)
{
    enum { PARTS = 2 }; // so that one maximum does not wait for the previous one
    const wide high = wide_set(REAL_HUGE), low = wide_set(-REAL_HUGE);
    const size_t lanes = WIDE_LANES;
    struct wide_box parts[PARTS];
    for (int part = 0; part < PARTS; part++)
        parts[part] = (struct wide_box){{high, high, high}, {low, low, low}};
    size_t i = nodes.first;
    for (; i + PARTS * lanes <= nodes.end; i += PARTS * lanes)
        for (size_t part = 0; part < PARTS; part++) {
            const size_t at = i + part * lanes;
            extend_box(&parts[part], wide_load(x + at), wide_load(y + at), wide_load(z + at));
        }
    for (size_t part = 0; i < nodes.end && nodes.end - nodes.first >= lanes; part = 1) {
        const size_t at = i + lanes <= nodes.end ? i : nodes.end - lanes;
        extend_box(&parts[part], wide_load(x + at), wide_load(y + at), wide_load(z + at));
        i = at + lanes;
    }
    const wide zero = wide_set(0);
    for (int axis = 0; axis < 3; axis++) {
        const wide most = wide_max(parts[0].most[axis], parts[1].most[axis]);
        const wide least = wide_min(parts[0].least[axis], parts[1].least[axis]);
        box->most[axis] = wide_greatest(most);
        box->least[axis] = -wide_greatest(wide_subtract(zero, least));
    }
    for (; i < nodes.end; i++) { // fewer than a register of nodes
        const real at[3] = {x[i], y[i], z[i]};
        for (int axis = 0; axis < 3; axis++) {
            box->most[axis] = at[axis] > box->most[axis] ? at[axis] : box->most[axis];
            box->least[axis] = at[axis] < box->least[axis] ? at[axis] : box->least[axis];
        }
    }
}

// As node_box, of rows of nodes. `since`: of their displacements. All axes at once, as no maximum
// waits for that of another one.
WIDE_INLINE void box_of_rows(const real *const to[3], const real *const from[3], bool since,
                             const struct node_rows *rows, struct node_box *box)
{
    const size_t lanes = WIDE_LANES, count = rows->count;
    struct wide_box found;
    for (int axis = 0; axis < 3; axis++) {
        found.least[axis] = wide_set(REAL_HUGE);
        found.most[axis] = wide_set(-REAL_HUGE);
        box->least[axis] = REAL_HUGE;
        box->most[axis] = -REAL_HUGE;
    }
    for (size_t row = 0; row < rows->rows; row++) {
        const size_t first = rows->first + row * rows->stride;
        for (size_t i = 0; i < count && count >= lanes; i += lanes) {
            const size_t at = first + (i + lanes <= count ? i : count - lanes);
            wide d[3];
            for (int axis = 0; axis < 3; axis++) {
                d[axis] = wide_load(to[axis] + at);
                d[axis] = since ? wide_subtract(d[axis], wide_load(from[axis] + at)) : d[axis];
            }
            extend_box(&found, d[0], d[1], d[2]);
        }
        for (size_t i = 0; i < count && count < lanes; i++)
            for (int axis = 0; axis < 3; axis++) {
                const real d = to[axis][first + i] - (since ? from[axis][first + i] : 0);
                box->most[axis] = d > box->most[axis] ? d : box->most[axis];
                box->least[axis] = d < box->least[axis] ? d : box->least[axis];
            }
    }
    for (int axis = 0; axis < 3; axis++) {
        const real most = wide_greatest(found.most[axis]);
        const real least = -wide_greatest(wide_subtract(wide_set(0), found.least[axis]));
        box->most[axis] = most > box->most[axis] ? most : box->most[axis];
        box->least[axis] = least < box->least[axis] ? least : box->least[axis];
    }
}

// `from` may be NULL.
static void displacement_box(const real *const to[3], const real *const from[3],
                             const struct node_rows *rows, struct node_box *box)
{
    if (from)
        box_of_rows(to, from, true, rows, box);
    else
        box_of_rows(to, from, false, rows, box);
}

// Compares the measure of a collider with the shape's limit: n.x for a plane, the squared distance
// from the centre of a sphere, minus the distance outside a room.
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
    case COLLIDER_MESH:
        break;
    }
    return 0;
}
