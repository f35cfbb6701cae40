// The candidates of a pair of blocks of surfaces: box tests, then distances, then distances as
// built; and boxes for the broad phase. kernels/table.h compiles this for each instruction set.
//
// Distances are those of the points that are found to be closest, so that no rounding makes them
// smaller than they are; where rounding moves these points, they are larger. Thresholds allow for
// that (pair_thresholds in broad_phase.c): with L the longest edge and A = L + 3 reach, a bound on
// all differences of a pair whose boxes are near,
//  - of a triangle with the height h, the parameters of the projection of a point err by at most
//    26 e A L / h^2 (e: REAL_EPSILON), the projection by L times as much, and where it is taken to
//    be outside, one of the edges is at most h / 2 farther along the triangle. The lesser of both
//    is at most 2.5 e^(1/3) A, across the distance;
//  - edges whose angle has a sine below s are taken to be parallel: their closest points are sought
//    from both ends of one of them, half of which is at most L / 2 away, where the distance across
//    has grown by s L / 2. Those of others err by e A / (L s^2) at most in their parameters, and by
//    less than that in distances across.
#include "contact/candidates.h"
#include "kernels/kernels.h"

// ---- Boxes

static void surface_box(const real (*x)[SURFACE_NODES], real box[6])
{
    for (int axis = 0; axis < 3; axis++) {
        wide least = wide_load(x[axis]), most = least;
        for (int i = WIDE_LANES; i < SURFACE_NODES; i += WIDE_LANES) {
            least = wide_min(wide_load(x[axis] + i), least);
            most = wide_max(wide_load(x[axis] + i), most);
        }
        box[axis] = -wide_greatest(wide_subtract(wide_set(0), least));
        box[axis + 3] = wide_greatest(most);
    }
}

static void candidate_boxes(const struct candidate_block *block, struct candidate_boxes *boxes)
{
    const struct block_corners *corners = block->corners;
    point_table x;
    point_table_make(&x, block->x);
    for (int t = 0; t < block->triangles; t += WIDE_LANES) {
        const wide_index a = wide_index_bytes(corners->triangles[0] + t);
        const wide_index b = wide_index_bytes(corners->triangles[1] + t);
        const wide_index c = wide_index_bytes(corners->triangles[2] + t);
        wide at_a[3], at_b[3], at_c[3];
        wide_point_lookup(&x, a, &at_a[0], &at_a[1], &at_a[2]);
        wide_point_lookup(&x, b, &at_b[0], &at_b[1], &at_b[2]);
        wide_point_lookup(&x, c, &at_c[0], &at_c[1], &at_c[2]);
        for (int axis = 0; axis < 3; axis++) {
            wide_store(boxes->triangles[axis] + t,
                       wide_min(at_a[axis], wide_min(at_b[axis], at_c[axis])));
            wide_store(boxes->triangles[axis + 3] + t,
                       wide_max(at_a[axis], wide_max(at_b[axis], at_c[axis])));
        }
    }
    wide longest = wide_set(0);
    for (int e = 0; e < block->edges; e += WIDE_LANES) {
        const wide_index a = wide_index_bytes(corners->edges[0] + e);
        const wide_index b = wide_index_bytes(corners->edges[1] + e);
        wide length = wide_set(0), at_a[3], at_b[3];
        wide_point_lookup(&x, a, &at_a[0], &at_a[1], &at_a[2]);
        wide_point_lookup(&x, b, &at_b[0], &at_b[1], &at_b[2]);
        for (int axis = 0; axis < 3; axis++) {
            const wide least = wide_min(at_a[axis], at_b[axis]);
            const wide most = wide_max(at_a[axis], at_b[axis]);
            wide_store(boxes->edges[axis] + e, least);
            wide_store(boxes->edges[axis + 3] + e, most);
            length = wide_add(length, wide_subtract(most, least));
        }
        longest = wide_max(length, longest);
    }
    boxes->longest = wide_greatest(longest);
}

// Bits of the first `count` boxes, in six rows, that meet a box. Rows have whole registers.
WIDE_INLINE uint64_t boxes_near(const real *const rows[6], int count, const real box[6])
{
    uint64_t bits = 0;
    for (int i = 0; i < count; i += WIDE_LANES) {
        wide_mask meets = wide_at_most(wide_load(rows[0] + i), wide_set(box[3]));
        meets = wide_mask_and(meets, wide_at_most(wide_load(rows[1] + i), wide_set(box[4])));
        meets = wide_mask_and(meets, wide_at_most(wide_load(rows[2] + i), wide_set(box[5])));
        meets = wide_mask_and(meets, wide_at_most(wide_set(box[0]), wide_load(rows[3] + i)));
        meets = wide_mask_and(meets, wide_at_most(wide_set(box[1]), wide_load(rows[4] + i)));
        meets = wide_mask_and(meets, wide_at_most(wide_set(box[2]), wide_load(rows[5] + i)));
        bits |= (uint64_t)wide_mask_bits(meets) << i;
    }
    return count > 0 ? bits & (~UINT64_C(0) >> (64 - count)) : 0;
}

static uint64_t boxes_meeting(const real *const rows[6], int count, const real box[6])
{
    return boxes_near(rows, count, box);
}

WIDE_INLINE void grow_box(const real box[6], real reach, real grown[6])
{
    for (int axis = 0; axis < 3; axis++) {
        grown[axis] = box[axis] - reach;
        grown[axis + 3] = box[axis + 3] + reach;
    }
}

// ---- Distances

struct wide_point {
    wide x, y, z;
};

// The nodes `i` of a block.
WIDE_INLINE struct wide_point point_at(const point_table *x, wide_index i)
{
    struct wide_point p;
    wide_point_lookup(x, i, &p.x, &p.y, &p.z);
    return p;
}

WIDE_INLINE struct wide_point point_minus(struct wide_point a, struct wide_point b)
{
    return (struct wide_point){wide_subtract(a.x, b.x), wide_subtract(a.y, b.y),
                               wide_subtract(a.z, b.z)};
}

// a - t b
WIDE_INLINE struct wide_point point_less(struct wide_point a, wide t, struct wide_point b)
{
    return (struct wide_point){wide_subtract(a.x, wide_multiply(t, b.x)),
                               wide_subtract(a.y, wide_multiply(t, b.y)),
                               wide_subtract(a.z, wide_multiply(t, b.z))};
}

WIDE_INLINE wide wide_dot(struct wide_point a, struct wide_point b)
{
    return wide_add(wide_add(wide_multiply(a.x, b.x), wide_multiply(a.y, b.y)),
                    wide_multiply(a.z, b.z));
}

// n / d between 0 and 1; d >= 0, and n is 0 if d is.
WIDE_INLINE wide wide_fraction_of_positive(wide n, wide d)
{
    const wide t = wide_divide(n, wide_max(d, wide_set(REAL_TINY)));
    return wide_min(wide_max(t, wide_set(0)), wide_set(1));
}

// a b - c d
WIDE_INLINE wide cross_product(wide a, wide b, wide c, wide d)
{
    return wide_subtract(wide_multiply(a, b), wide_multiply(c, d));
}

// The squares of the distances of points from triangles, which may be degenerate.
WIDE_INLINE wide point_triangle_square(struct wide_point p, struct wide_point a,
                                       struct wide_point b, struct wide_point c)
{
    const struct wide_point ab = point_minus(b, a), ac = point_minus(c, a), ap = point_minus(p, a);
    const struct wide_point bc = point_minus(c, b), bp = point_minus(p, b);
    const wide bb = wide_dot(ab, ab), cc = wide_dot(ac, ac), cb = wide_dot(ab, ac);
    const wide b_p = wide_dot(ab, ap), c_p = wide_dot(ac, ap);

    const struct wide_point from_ab = point_less(ap, wide_fraction_of_positive(b_p, bb), ab);
    const struct wide_point from_ac = point_less(ap, wide_fraction_of_positive(c_p, cc), ac);
    const struct wide_point from_bc =
        point_less(bp, wide_fraction_of_positive(wide_dot(bc, bp), wide_dot(bc, bc)), bc);
    const wide outside = wide_min(wide_dot(from_ab, from_ab),
                                  wide_min(wide_dot(from_ac, from_ac), wide_dot(from_bc, from_bc)));

    const wide zero = wide_set(0);
    const wide v = cross_product(cc, b_p, cb, c_p), w = cross_product(bb, c_p, cb, b_p);
    const wide whole = cross_product(bb, cc, cb, cb), scale = wide_divide(wide_set(1), whole);
    const struct wide_point q =
        point_less(point_less(ap, wide_multiply(v, scale), ab), wide_multiply(w, scale), ac);
    wide_mask inside = wide_mask_and(wide_at_most(zero, v), wide_at_most(zero, w));
    inside = wide_mask_and(inside, wide_at_most(wide_add(v, w), whole));
    inside = wide_mask_and(inside, wide_positive(whole));
    return wide_blend(inside, wide_min(outside, wide_dot(q, q)), outside);
}

// Scalar products of edges u and w and of the difference r of their first ends.
struct edge_products {
    wide uu, ww, uw, ur, wr;
};

// The squares of the distances of edges from points s of the first ones on.
WIDE_INLINE wide edges_square_from(wide s, struct wide_point u, struct wide_point w,
                                   struct wide_point r, const struct edge_products *dot)
{
    const wide t = wide_fraction_of_positive(wide_add(wide_multiply(dot->uw, s), dot->wr), dot->ww);
    const wide from_t =
        wide_fraction_of_positive(wide_subtract(wide_multiply(dot->uw, t), dot->ur), dot->uu);
    const struct wide_point d =
        point_less(point_less(r, wide_subtract(wide_set(0), from_t), u), t, w);
    return wide_dot(d, d);
}

// The squares of the distances of edges p1 q1 and p2 q2, which may be degenerate (Ericson,
// Real-Time Collision Detection, 5.1.9).
WIDE_INLINE wide edges_square(struct wide_point p1, struct wide_point q1, struct wide_point p2,
                              struct wide_point q2)
{
    const struct wide_point u = point_minus(q1, p1), w = point_minus(q2, p2);
    const struct wide_point r = point_minus(p1, p2);
    const struct edge_products dot = {wide_dot(u, u), wide_dot(w, w), wide_dot(u, w),
                                      wide_dot(u, r), wide_dot(w, r)};
    const wide product = wide_multiply(dot.uu, dot.ww);
    const wide whole = wide_subtract(product, wide_multiply(dot.uw, dot.uw));
    const wide s = wide_fraction_of_positive(cross_product(dot.uw, dot.wr, dot.ww, dot.ur), whole);
    const wide apart = edges_square_from(s, u, w, r, &dot);
    const wide_mask parallel =
        wide_at_most(whole, wide_multiply(wide_set(PARALLEL_SQUARE), product));
    if (wide_mask_bits(parallel) == 0)
        return apart;
    const wide both = wide_min(edges_square_from(wide_set(0), u, w, r, &dot),
                               edges_square_from(wide_set(1), u, w, r, &dot));
    return wide_blend(parallel, both, apart);
}

// ---- Candidates

// Lanes of the codes before the end.
WIDE_INLINE unsigned lanes_before(const uint16_t *codes, const uint16_t *end)
{
    return end - codes >= WIDE_LANES ? (1U << WIDE_LANES) - 1 : (1U << (end - codes)) - 1;
}

// Keeps the codes from `first` on whose nodes and triangles are at most the root of `limit` apart,
// and writes the squares of their distances; or those that are `farther`, with the squares that
// have been written. Returns the end of the rest.
static uint16_t *filter_points(uint16_t *first, const uint16_t *end,
                               const real (*points)[SURFACE_NODES],
                               const real (*corners)[SURFACE_NODES], const struct block_corners *of,
                               real limit, bool farther, real *squares)
{
    point_table p, x;
    point_table_make(&p, points);
    point_table_make(&x, corners);
    const byte_table a = byte_table_make(of->triangles[0], SURFACE_TRIANGLES);
    const byte_table b = byte_table_make(of->triangles[1], SURFACE_TRIANGLES);
    const byte_table c = byte_table_make(of->triangles[2], SURFACE_TRIANGLES);
    uint16_t *kept = first;
    for (const uint16_t *at = first; at < end; at += WIDE_LANES) {
        const wide_index t = wide_index_below(at, TRIANGLE_BITS);
        const wide square = point_triangle_square(
            point_at(&p, wide_index_above(at, TRIANGLE_BITS)), point_at(&x, wide_index_from(&a, t)),
            point_at(&x, wide_index_from(&b, t)), point_at(&x, wide_index_from(&c, t)));
        const unsigned near = wide_mask_bits(wide_at_most(square, wide_set(limit)));
        const unsigned bits = lanes_before(at, end) & (farther ? ~near : near);
        if (!farther)
            wide_store(squares + (at - first), square);
        reals_pack(squares + (kept - first), squares + (at - first), bits, WIDE_LANES);
        kept = codes_keep(kept, at, bits);
    }
    return kept;
}

// The same for edges.
static uint16_t *filter_edges(uint16_t *first, const uint16_t *end,
                              const real (*x_a)[SURFACE_NODES], const real (*x_b)[SURFACE_NODES],
                              const struct block_corners *a, const struct block_corners *b,
                              real limit, bool farther, real *squares)
{
    point_table in_a, in_b;
    point_table_make(&in_a, x_a);
    point_table_make(&in_b, x_b);
    const byte_table p1 = byte_table_make(a->edges[0], SURFACE_EDGES);
    const byte_table q1 = byte_table_make(a->edges[1], SURFACE_EDGES);
    const byte_table p2 = byte_table_make(b->edges[0], SURFACE_EDGES);
    const byte_table q2 = byte_table_make(b->edges[1], SURFACE_EDGES);
    uint16_t *kept = first;
    for (const uint16_t *at = first; at < end; at += WIDE_LANES) {
        const wide_index e = wide_index_above(at, EDGE_BITS), f = wide_index_below(at, EDGE_BITS);
        const wide square = edges_square(
            point_at(&in_a, wide_index_from(&p1, e)), point_at(&in_a, wide_index_from(&q1, e)),
            point_at(&in_b, wide_index_from(&p2, f)), point_at(&in_b, wide_index_from(&q2, f)));
        const unsigned near = wide_mask_bits(wide_at_most(square, wide_set(limit)));
        const unsigned bits = lanes_before(at, end) & (farther ? ~near : near);
        if (!farther)
            wide_store(squares + (at - first), square);
        reals_pack(squares + (kept - first), squares + (at - first), bits, WIDE_LANES);
        kept = codes_keep(kept, at, bits);
    }
    return kept;
}

// The least of the squares of `count` codes, after which there is space for a register.
static real least_square(real *squares, long count)
{
    wide least = wide_set(REAL_HUGE);
    wide_store(squares + count, least);
    for (long i = 0; i < count; i += WIDE_LANES)
        least = wide_min(wide_load(squares + i), least);
    return -wide_greatest(wide_subtract(wide_set(0), least));
}

// The next codes: those from `at` on, or a copy in `tail`, in which the first one is repeated
// beyond the end.
WIDE_INLINE const uint16_t *next_codes(const uint16_t *at, const uint16_t *end,
                                       uint16_t tail[WIDE_LANES + CODES_SLACK])
{
    if (end - at >= WIDE_LANES)
        return at;
    for (int i = 0; i < WIDE_LANES; i++)
        tail[i] = at[i < end - at ? i : 0];
    return tail;
}

// The boxes of the triangles or edges of a block that are near the other block, and their numbers.
struct packed_boxes {
    real rows[6][SURFACE_EDGES + WIDE_LANES];
    const real *starts[6]; // of the rows
    uint8_t numbers[SURFACE_EDGES + CODES_SLACK];
    int count;
};

// Packs those of `count` boxes whose bits are set.
static void pack_boxes(const real *const rows[6], int count, uint64_t bits,
                       struct packed_boxes *packed)
{
    static const uint8_t all[SURFACE_EDGES] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    for (int row = 0; row < 6; row++) {
        reals_pack(packed->rows[row], rows[row], bits, count);
        packed->starts[row] = packed->rows[row];
    }
    packed->count = bytes_pack(packed->numbers, all, bits, count);
}

// Sets common[n] to the bits of the packed triangles or edges that have common node n of the other
// block: of `stride` triangles or edges those whose bits are set are packed, and common nodes have
// their numbers in both blocks.
static void find_common(uint64_t bits, const uint8_t *corners, int stride, int corner_count,
                        const uint8_t *nodes, const uint8_t *others, int count,
                        uint64_t common[SURFACE_NODES])
{
    uint8_t packed_corners[3][SURFACE_EDGES + CODES_SLACK];
    memset(packed_corners, 0, sizeof packed_corners);
    memset(common, 0, SURFACE_NODES * sizeof *common);
    for (int c = 0; c < corner_count; c++)
        (void)bytes_pack(packed_corners[c], corners + c * stride, bits, stride);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < corner_count; c++)
            common[others[i]] |= bytes_equal(packed_corners[c], stride, nodes[i]);
}

// Nodes of one block and triangles of another, or the same. Returns the end of the codes.
static uint16_t *find_points(const struct candidate_pair *pair, bool swapped, uint16_t *first,
                             real *squares)
{
    const struct candidate_block *points = swapped ? pair->b : pair->a;
    const struct candidate_block *other = swapped ? pair->a : pair->b;
    const struct candidate_boxes *boxes = swapped ? pair->boxes_a : pair->boxes_b;
    const real *rows[6], *nodes[6];
    for (int row = 0; row < 6; row++) {
        rows[row] = boxes->triangles[row];
        nodes[row] = points->x[row % 3];
    }
    real near[6];
    grow_box(points->box, pair->reach, near);
    const uint64_t triangles = boxes_near(rows, other->triangles, near);
    if (triangles == 0)
        return first;
    grow_box(other->box, pair->reach, near);
    uint64_t left = boxes_near(nodes, points->own_nodes, near);
    if (left == 0)
        return first;

    struct packed_boxes packed;
    uint64_t common[SURFACE_NODES];
    pack_boxes(rows, other->triangles, triangles, &packed);
    if (pair->common_count > 0)
        find_common(triangles, other->corners->triangles[0], SURFACE_TRIANGLES, 3,
                    swapped ? pair->common_a : pair->common_b,
                    swapped ? pair->common_b : pair->common_a, pair->common_count, common);
    uint16_t *end = first;
    for (; left; left &= left - 1) {
        const int node = lowest_bit(left);
        const real x = points->x[0][node], y = points->x[1][node], z = points->x[2][node];
        grow_box((const real[6]){x, y, z, x, y, z}, pair->reach, near);
        uint64_t bits = boxes_near(packed.starts, packed.count, near);
        if (pair->common_count > 0)
            bits &= ~common[node];
        end =
            codes_append(end, bits, packed.count, (unsigned)node << TRIANGLE_BITS, packed.numbers);
    }
    memset(end, 0, CODES_SLACK * sizeof *end); // what lanes beyond the end look up
    end = filter_points(first, end, points->x, other->x, other->corners, pair->point_square, false,
                        squares);
    if (!pair->built_a)
        return end;
    return filter_points(first, end, swapped ? pair->built_b : pair->built_a,
                         swapped ? pair->built_a : pair->built_b, other->corners,
                         pair->apart_square, true, squares);
}

static uint16_t *find_edges(const struct candidate_pair *pair, uint16_t *first, real *squares)
{
    const struct candidate_block *a = pair->a, *b = pair->b;
    const real *rows_a[6], *rows_b[6];
    for (int row = 0; row < 6; row++) {
        rows_a[row] = pair->boxes_a->edges[row];
        rows_b[row] = pair->boxes_b->edges[row];
    }
    real near[6];
    grow_box(a->box, pair->reach, near);
    const uint64_t edges_b = boxes_near(rows_b, b->edges, near);
    if (edges_b == 0)
        return first;
    grow_box(b->box, pair->reach, near);
    uint64_t left = boxes_near(rows_a, a->edges, near);
    if (left == 0)
        return first;

    struct packed_boxes packed;
    uint64_t common[SURFACE_NODES];
    pack_boxes(rows_b, b->edges, edges_b, &packed);
    if (pair->common_count > 0)
        find_common(edges_b, b->corners->edges[0], SURFACE_EDGES, 2, pair->common_b, pair->common_a,
                    pair->common_count, common);
    uint16_t *end = first;
    for (int before = 0; left; left &= left - 1) {
        const int edge = lowest_bit(left);
        real box[6];
        for (int row = 0; row < 6; row++)
            box[row] = rows_a[row][edge];
        grow_box(box, pair->reach, near);
        uint64_t bits = boxes_near(packed.starts, packed.count, near);
        if (a == b) { // the same edges are packed as are visited
            before++;
            bits &= before < 64 ? ~UINT64_C(0) << before : 0;
        }
        if (pair->common_count > 0)
            bits &= ~(common[a->corners->edges[0][edge]] | common[a->corners->edges[1][edge]]);
        end = codes_append(end, bits, packed.count, (unsigned)edge << EDGE_BITS, packed.numbers);
    }
    memset(end, 0, CODES_SLACK * sizeof *end);
    end = filter_edges(first, end, a->x, b->x, a->corners, b->corners, pair->edge_square, false,
                       squares);
    if (!pair->built_a)
        return end;
    return filter_edges(first, end, pair->built_a, pair->built_b, a->corners, b->corners,
                        pair->apart_square, true, squares);
}

static void candidates_find(const struct candidate_pair *pair, struct candidate_codes *result)
{
    real *squares = result->squares, least;
    uint16_t *first = result->codes, *end = find_points(pair, false, first, squares);
    result->counts[0] = (uint16_t)(end - first);
    result->point_least = least_square(squares, end - first);
    first = end;
    if (pair->a != pair->b)
        end = find_points(pair, true, first, squares);
    result->counts[1] = (uint16_t)(end - first);
    least = least_square(squares, end - first);
    result->point_least = least < result->point_least ? least : result->point_least;
    first = end;
    end = find_edges(pair, first, squares);
    result->counts[2] = (uint16_t)(end - first);
    result->edge_least = least_square(squares, end - first);
}
