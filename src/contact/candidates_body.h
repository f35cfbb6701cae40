// The candidates of a pair of blocks: box tests, then distances. Numeric.
//
// Distances are those of the points that are found to be closest, so that no rounding makes them
// smaller than they are; where rounding moves these points, they are larger. Thresholds allow for
// that (pair_thresholds): with L the longest edge and A = L + 3 reach, a bound on all differences of
// a pair whose boxes are near,
//  - of a triangle with the height h, the parameters of the projection of a point err by at most
//    26 e A L / h^2 (e: REAL_EPSILON), the projection by L times as much, and where it is taken to be
//    outside, one of the edges is at most h / 2 farther along the triangle. The lesser of both is
//    at most 2.5 e^(1/3) A, across the distance;
//  - edges whose angle has a sine below s are taken to be parallel: their closest points are sought
//    from both ends of one of them, half of which is at most L / 2 away, where the distance across
//    has grown by s L / 2. Of others, parameters err by e A / (L s^2) at most, and distances across
//    by less than that.
#ifndef TAUT_CONTACT_CANDIDATES_BODY_H
#define TAUT_CONTACT_CANDIDATES_BODY_H

#include "contact/surfaces.h"
#include "state/state.h"

// The square of the sine below which edges are taken to be parallel.
#if TAUT_REAL_BITS == 32
#    define PARALLEL_SQUARE ((real)1e-5)
#else
#    define PARALLEL_SQUARE ((real)1e-9)
#endif

// A code has the number of a node or edge above that of a triangle or edge.
enum { TRIANGLE_BITS = 5, EDGE_BITS = 6 };

// A block as its candidates are found.
struct candidate_block {
    const real (*x)[SURFACE_NODES]; // coordinates of nodes
    const uint8_t (*edges)[2], (*triangles)[3];
    int own_nodes, edge_count, triangle_count;
    const real *box; // least x, y, z, most x, y, z
};

// The boxes of its triangles and edges, least x, y, z, most x, y, z; those after the last are empty.
struct candidate_boxes {
    real triangles[6][SURFACE_TRIANGLES], edges[6][SURFACE_EDGES];
    real longest; // edge, by the sum of its components
};

// The triangles and edges of two blocks that have a node in common with those of the other.
struct common_nodes {
    uint32_t triangles[2][SURFACE_NODES]; // of b that have a node of a; of a that have a node of b
    uint64_t edges[SURFACE_NODES];        // of b that have a node of a
};

struct candidate_pair {
    const struct candidate_block *a, *b; // the same for one block
    const struct candidate_boxes *boxes_a, *boxes_b;
    const struct common_nodes *common; // NULL: no node
    real reach;                        // of boxes
    real point_square, edge_square;    // of distances: of points and triangles, of edges
    // Built positions of the blocks' nodes, and the square of the distance below which pairs are
    // left out; NULL: none are.
    const real (*built_a)[SURFACE_NODES], (*built_b)[SURFACE_NODES];
    real apart_square;
};

struct candidate_codes {
    uint16_t counts[3];
    uint16_t codes[2 * SURFACE_NODES * SURFACE_TRIANGLES + SURFACE_EDGES * SURFACE_EDGES];
};

// ---- Boxes

static inline real least_of(real a, real b)
{
    return a < b ? a : b;
}

static inline real most_of(real a, real b)
{
    return a > b ? a : b;
}

static inline void candidate_boxes_set(const struct candidate_block *block,
                                       struct candidate_boxes *boxes)
{
    real lengths[SURFACE_EDGES] = {0};
    for (int axis = 0; axis < 3; axis++) {
        const real *x = block->x[axis];
        for (int t = 0; t < SURFACE_TRIANGLES; t++) {
            boxes->triangles[axis][t] = REAL_HUGE;
            boxes->triangles[axis + 3][t] = -REAL_HUGE;
        }
        for (int e = 0; e < SURFACE_EDGES; e++) {
            boxes->edges[axis][e] = REAL_HUGE;
            boxes->edges[axis + 3][e] = -REAL_HUGE;
        }
        for (int t = 0; t < block->triangle_count; t++) {
            const uint8_t *corners = block->triangles[t];
            const real a = x[corners[0]], b = x[corners[1]], c = x[corners[2]];
            boxes->triangles[axis][t] = least_of(a, least_of(b, c));
            boxes->triangles[axis + 3][t] = most_of(a, most_of(b, c));
        }
        for (int e = 0; e < block->edge_count; e++) {
            const real a = x[block->edges[e][0]], b = x[block->edges[e][1]];
            boxes->edges[axis][e] = least_of(a, b);
            boxes->edges[axis + 3][e] = most_of(a, b);
            lengths[e] += boxes->edges[axis + 3][e] - boxes->edges[axis][e];
        }
    }
    boxes->longest = 0;
    for (int e = 0; e < SURFACE_EDGES; e++)
        boxes->longest = most_of(boxes->longest, lengths[e]);
}

// Bits of the boxes, of `count` in rows of `stride`, that meet a box.
static inline uint64_t boxes_meeting(const real *rows, size_t stride, int count, const real box[6])
{
    uint64_t bits = 0;
    for (int i = 0; i < count; i++) {
        bool meets = true;
        for (size_t axis = 0; axis < 3; axis++)
            meets &= rows[axis * stride + (size_t)i] <= box[axis + 3] &&
                     box[axis] <= rows[(axis + 3) * stride + (size_t)i];
        bits |= (uint64_t)meets << i;
    }
    return bits;
}

static inline void box_grow(const real box[6], real reach, real grown[6])
{
    for (int axis = 0; axis < 3; axis++) {
        grown[axis] = box[axis] - reach;
        grown[axis + 3] = box[axis + 3] + reach;
    }
}

// ---- Distances

struct point3 {
    real x, y, z;
};

static inline struct point3 point_at(const real (*x)[SURFACE_NODES], int node)
{
    return (struct point3){x[0][node], x[1][node], x[2][node]};
}

static inline struct point3 point_minus(struct point3 a, struct point3 b)
{
    return (struct point3){a.x - b.x, a.y - b.y, a.z - b.z};
}

// a - t b
static inline struct point3 point_less(struct point3 a, real t, struct point3 b)
{
    return (struct point3){a.x - t * b.x, a.y - t * b.y, a.z - t * b.z};
}

static inline real point_dot(struct point3 a, struct point3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// n / d between 0 and 1; d >= 0, and n is 0 if d is.
static inline real part_of_one(real n, real d)
{
    const real t = n / most_of(d, REAL_TINY);
    return least_of(most_of(t, 0), 1);
}

// The square of the distance of a point from a triangle, which may be degenerate.
static inline real point_triangle_square(struct point3 p, struct point3 a, struct point3 b,
                                         struct point3 c)
{
    const struct point3 ab = point_minus(b, a), ac = point_minus(c, a), ap = point_minus(p, a);
    const struct point3 bc = point_minus(c, b), bp = point_minus(p, b);
    const real bb = point_dot(ab, ab), cc = point_dot(ac, ac), cb = point_dot(ab, ac);
    const real b_p = point_dot(ab, ap), c_p = point_dot(ac, ap);

    const struct point3 from_ab = point_less(ap, part_of_one(b_p, bb), ab);
    const struct point3 from_ac = point_less(ap, part_of_one(c_p, cc), ac);
    const struct point3 from_bc =
        point_less(bp, part_of_one(point_dot(bc, bp), point_dot(bc, bc)), bc);
    const real outside =
        least_of(point_dot(from_ab, from_ab),
                 least_of(point_dot(from_ac, from_ac), point_dot(from_bc, from_bc)));

    const real v = cc * b_p - cb * c_p, w = bb * c_p - cb * b_p, whole = bb * cc - cb * cb;
    if (!(v >= 0 && w >= 0 && v + w <= whole && whole > 0))
        return outside;
    const real scale = 1 / whole;
    const struct point3 q = point_less(point_less(ap, v * scale, ab), w * scale, ac);
    return least_of(outside, point_dot(q, q));
}

// The square of the distance of edges p + s u and p - r + t w, the closest points of which are
// sought from the point s of the first.
static inline real edges_square_from(real s, struct point3 u, struct point3 w, struct point3 r,
                                     const real products[5])
{
    const real uu = products[0], ww = products[1], uw = products[2];
    const real ur = products[3], wr = products[4];
    const real t = part_of_one(uw * s + wr, ww);
    const real from_t = part_of_one(uw * t - ur, uu);
    const struct point3 d = point_less(point_less(r, -from_t, u), t, w);
    return point_dot(d, d);
}

// The square of the distance of edges p1 q1 and p2 q2, which may be degenerate (Ericson, Real-Time
// Collision Detection, 5.1.9).
static inline real edges_square(struct point3 p1, struct point3 q1, struct point3 p2,
                                struct point3 q2)
{
    const struct point3 u = point_minus(q1, p1), w = point_minus(q2, p2), r = point_minus(p1, p2);
    const real products[5] = {point_dot(u, u), point_dot(w, w), point_dot(u, w), point_dot(u, r),
                              point_dot(w, r)};
    const real uu = products[0], ww = products[1], uw = products[2];
    const real whole = uu * ww - uw * uw;
    if (whole > PARALLEL_SQUARE * (uu * ww)) {
        const real s = part_of_one(uw * products[4] - ww * products[3], whole);
        return edges_square_from(s, u, w, r, products);
    }
    return least_of(edges_square_from(0, u, w, r, products),
                    edges_square_from(1, u, w, r, products));
}

static inline real point_code_square(const real (*points)[SURFACE_NODES],
                                     const real (*corners)[SURFACE_NODES],
                                     const uint8_t (*triangles)[3], int node, int triangle)
{
    const uint8_t *t = triangles[triangle];
    return point_triangle_square(point_at(points, node), point_at(corners, t[0]),
                                 point_at(corners, t[1]), point_at(corners, t[2]));
}

static inline real edge_code_square(const real (*x_a)[SURFACE_NODES],
                                    const real (*x_b)[SURFACE_NODES], const uint8_t a[2],
                                    const uint8_t b[2])
{
    return edges_square(point_at(x_a, a[0]), point_at(x_a, a[1]), point_at(x_b, b[0]),
                        point_at(x_b, b[1]));
}

// ---- Candidates

static inline int lowest_bit(uint64_t bits)
{
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int bit = 0;
    while (!(bits >> bit & 1))
        bit++;
    return bit;
#endif
}

// Nodes of one block and triangles of another, or the same. Returns the end of the codes.
static inline uint16_t *find_points(const struct candidate_pair *pair, bool swapped, uint16_t *code)
{
    const struct candidate_block *points = swapped ? pair->b : pair->a;
    const struct candidate_block *other = swapped ? pair->a : pair->b;
    const struct candidate_boxes *boxes = swapped ? pair->boxes_a : pair->boxes_b;
    const real(*built)[SURFACE_NODES] = swapped ? pair->built_b : pair->built_a;
    const real(*built_other)[SURFACE_NODES] = swapped ? pair->built_a : pair->built_b;
    real near[6];
    box_grow(points->box, pair->reach, near);
    const uint64_t triangles =
        boxes_meeting(boxes->triangles[0], SURFACE_TRIANGLES, other->triangle_count, near);
    if (triangles == 0)
        return code;
    for (int node = 0; node < points->own_nodes; node++) {
        const real x = points->x[0][node], y = points->x[1][node], z = points->x[2][node];
        const real at[6] = {x, y, z, x, y, z};
        box_grow(at, pair->reach, near);
        uint64_t bits = boxes_meeting(other->box, 1, 1, near);
        if (bits)
            bits = triangles & boxes_meeting(boxes->triangles[0], SURFACE_TRIANGLES,
                                             other->triangle_count, near);
        if (pair->common)
            bits &= ~(uint64_t)pair->common->triangles[swapped][node];
        for (; bits; bits &= bits - 1) {
            const int triangle = lowest_bit(bits);
            if (point_code_square(points->x, other->x, other->triangles, node, triangle) >
                pair->point_square)
                continue;
            if (built && point_code_square(built, built_other, other->triangles, node, triangle) <
                             pair->apart_square)
                continue;
            *code++ = (uint16_t)(node << TRIANGLE_BITS | triangle);
        }
    }
    return code;
}

static inline uint16_t *find_edges(const struct candidate_pair *pair, uint16_t *code)
{
    const struct candidate_block *a = pair->a, *b = pair->b;
    real near[6];
    box_grow(b->box, pair->reach, near);
    uint64_t edges_a = boxes_meeting(pair->boxes_a->edges[0], SURFACE_EDGES, a->edge_count, near);
    box_grow(a->box, pair->reach, near);
    const uint64_t edges_b =
        boxes_meeting(pair->boxes_b->edges[0], SURFACE_EDGES, b->edge_count, near);
    for (; edges_a && edges_b; edges_a &= edges_a - 1) {
        const int edge = lowest_bit(edges_a);
        real box[6];
        for (int row = 0; row < 6; row++)
            box[row] = pair->boxes_a->edges[row][edge];
        box_grow(box, pair->reach, near);
        uint64_t bits =
            edges_b & boxes_meeting(pair->boxes_b->edges[0], SURFACE_EDGES, b->edge_count, near);
        if (a == b)
            bits &= ~(((uint64_t)2 << edge) - 1);
        if (pair->common)
            bits &=
                ~(pair->common->edges[a->edges[edge][0]] | pair->common->edges[a->edges[edge][1]]);
        for (; bits; bits &= bits - 1) {
            const int other = lowest_bit(bits);
            if (edge_code_square(a->x, b->x, a->edges[edge], b->edges[other]) > pair->edge_square)
                continue;
            if (pair->built_a && edge_code_square(pair->built_a, pair->built_b, a->edges[edge],
                                                  b->edges[other]) < pair->apart_square)
                continue;
            *code++ = (uint16_t)(edge << EDGE_BITS | other);
        }
    }
    return code;
}

static inline void candidates_find(const struct candidate_pair *pair,
                                   struct candidate_codes *result)
{
    uint16_t *first = result->codes, *end = find_points(pair, false, first);
    result->counts[0] = (uint16_t)(end - first);
    first = end;
    if (pair->a != pair->b)
        end = find_points(pair, true, first);
    result->counts[1] = (uint16_t)(end - first);
    first = end;
    end = find_edges(pair, first);
    result->counts[2] = (uint16_t)(end - first);
}

#endif
