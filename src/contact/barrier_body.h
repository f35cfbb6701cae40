// The forces of contact between two blocks of surfaces: the closest points of all candidates of a
// pair, and the barrier of those that touch. kernels/table.h compiles this for each instruction
// set.
//
// Lanes are candidates. The operations are those of distance.h and barrier.h, and forces are added
// to nodes candidate by candidate in the order of the list, so that the bits do not depend on the
// number of lanes. Sums are records, so that a node takes one addition. Edges without triangles
// have more contacts: barrier.h computes them one by one. Those that touch are handed out where
// they are wanted.
//
// Candidates that touch are in no order that a processor could predict. So points are looked up for
// several registers, closest points found without branches, and those that touch packed; full
// registers of these then get their forces. Each of these steps is a loop of its own over several
// registers: a processor looks ahead as far as one or two registers of all steps, and would wait
// for one division after the other.
#include "contact/barrier.h"
#include "contact/candidates.h"
#include "kernels/kernels.h"

// The closest points of a register of candidates: of a node and a triangle, at v and w, or of two
// edges, at s and t.
struct wide_contact {
    wide parts[2];
    struct wide_point apart;
    wide square;
};

// The angle of two edges.
struct wide_angle {
    wide sine;         // its square
    unsigned parallel; // lanes in which they are nearly parallel
};

// Candidates that touch, of nodes and triangles or of edges, in the order of the list, until their
// forces are added. Edges also have the square of the sine of their angle, and, where they are
// nearly parallel, what turns them (struct wide_edges).
enum { BATCH = 64, BATCH_ROOM = BATCH + WIDE_LANES };
struct batch {
    real parts[2][BATCH_ROOM], apart[3][BATCH_ROOM], square[BATCH_ROOM];
    real sine[BATCH_ROOM + WIDE_LANES], d[3][BATCH_ROOM], e[3][BATCH_ROOM];
    real dd[BATCH_ROOM], ee[BATCH_ROOM], de[BATCH_ROOM];
    uint16_t codes[BATCH_ROOM + CODES_SLACK];
    int count;
    int of_first;  // of nodes and triangles, so many at first are of group 0
    bool parallel; // some edges are
};

// Forces on the nodes of a block, in records from the first one that is added on.
struct force_sums {
    _Alignas(4 * sizeof(real)) real records[4 * SURFACE_NODES];
    block_reals *on;
};

// What becomes of the candidates of a pair.
struct barrier_work {
    const struct listed_pair *pair;
    const struct barrier *barrier;
    wide least;     // square of a distance
    uint16_t *near; // words of the group; NULL: not wanted
    bool touches;
    struct force_sums *sums[2]; // of both blocks, or twice those of one
    bool in_records;
};

enum { ALL_LANES = (1 << WIDE_LANES) - 1 };

WIDE_INLINE wide wide_within_1(wide a)
{
    return wide_min(wide_set(1), wide_max(wide_set(0), a));
}

// a / b within [0, 1], 0 where b is not positive, as fraction_of in distance.h.
WIDE_INLINE wide wide_fraction(wide a, wide b)
{
    return wide_within_1(wide_masked(wide_positive(b), wide_divide(a, b)));
}

// closest_on_triangle of distance.h.
WIDE_INLINE struct wide_contact closest_points_on_triangles(struct wide_point p,
                                                            struct wide_point a,
                                                            struct wide_point b,
                                                            struct wide_point c)
{
    const wide zero = wide_set(0), one = wide_set(1);
    const struct wide_point ab = point_minus(b, a), ac = point_minus(c, a);
    const struct wide_point bc = point_minus(c, b), ap = point_minus(p, a), bp = point_minus(p, b);
    const wide bb = wide_dot(ab, ab), cc = wide_dot(ac, ac), cb = wide_dot(ab, ac);
    const wide along_b = wide_dot(ab, ap), along_c = wide_dot(ac, ap);
    const wide whole = cross_product(bb, cc, cb, cb);
    const wide v = cross_product(cc, along_b, cb, along_c);
    const wide w = cross_product(bb, along_c, cb, along_b);
    wide_mask inside = wide_mask_and(wide_at_most(zero, v), wide_at_most(zero, w));
    inside = wide_mask_and(inside, wide_at_most(wide_add(v, w), whole));
    inside = wide_mask_and(inside, wide_positive(whole));

    // The nearest of the sides.
    const wide on_ab = wide_fraction(along_b, bb), on_ac = wide_fraction(along_c, cc);
    const wide on_bc = wide_fraction(wide_dot(bc, bp), wide_dot(bc, bc));
    const struct wide_point from_ab = point_less(ap, on_ab, ab),
                            from_ac = point_less(ap, on_ac, ac);
    const struct wide_point from_bc = point_less(bp, on_bc, bc);
    const wide square_ab = wide_dot(from_ab, from_ab);
    const wide square_ac = wide_dot(from_ac, from_ac), square_bc = wide_dot(from_bc, from_bc);
    const wide_mask keeps_ab = wide_at_most(square_ab, square_ac);
    wide side_v = wide_masked(keeps_ab, on_ab), side_w = wide_blend(keeps_ab, zero, on_ac);
    const wide_mask keeps = wide_at_most(wide_min(square_ab, square_ac), square_bc);
    side_v = wide_blend(keeps, side_v, wide_subtract(one, on_bc));
    side_w = wide_blend(keeps, side_w, on_bc);

    struct wide_contact found;
    const wide at_v = wide_blend(inside, wide_divide(v, whole), side_v);
    const wide at_w = wide_blend(inside, wide_divide(w, whole), side_w);
    found.apart = point_less(point_less(ap, at_v, ab), at_w, ac);
    found.square = wide_dot(found.apart, found.apart);
    found.parts[0] = at_v;
    found.parts[1] = at_w;
    return found;
}

// Two edges, and what their closest points are found from.
struct wide_edges {
    struct wide_point d, e, r;
    wide dd, ee, de;
};

WIDE_INLINE struct wide_edges edges_between(struct wide_point p, struct wide_point p1,
                                            struct wide_point q, struct wide_point q1)
{
    const struct wide_point d = point_minus(p1, p), e = point_minus(q1, q);
    return (struct wide_edges){
        d, e, point_minus(p, q), wide_dot(d, d), wide_dot(e, e), wide_dot(d, e)};
}

// find_other_end of distance.h.
WIDE_INLINE void wide_other_end(const struct wide_edges *edges, wide along_p, wide along_q, wide s,
                                wide *found_s, wide *found_t)
{
    const wide t = wide_fraction(wide_add(wide_multiply(edges->de, s), along_q), edges->ee);
    const wide along = wide_subtract(wide_multiply(edges->de, t), along_p);
    *found_s =
        wide_blend(wide_positive(edges->dd), wide_within_1(wide_divide(along, edges->dd)), s);
    *found_t = t;
}

WIDE_INLINE struct wide_point between_points(const struct wide_edges *edges, wide s, wide t)
{
    return point_less(point_less(edges->r, wide_subtract(wide_set(0), s), edges->d), t, edges->e);
}

// closest_on_edges of distance.h, for edges with triangles.
WIDE_INLINE struct wide_contact closest_points_on_edges(struct wide_point p, struct wide_point p1,
                                                        struct wide_point q, struct wide_point q1,
                                                        struct wide_angle *angle)
{
    const wide zero = wide_set(0), one = wide_set(1);
    const struct wide_edges edges = edges_between(p, p1, q, q1);
    const wide along_p = wide_dot(edges.d, edges.r), along_q = wide_dot(edges.e, edges.r);
    const wide product = wide_multiply(edges.dd, edges.ee);
    const wide whole = wide_subtract(product, wide_multiply(edges.de, edges.de));
    const wide sine =
        wide_max(wide_masked(wide_positive(product), wide_divide(whole, product)), zero);
    angle->sine = sine;
    angle->parallel = ~wide_mask_bits(wide_at_most(wide_set(EDGES_PARALLEL), sine)) & ALL_LANES;
    const wide first = wide_fraction(cross_product(edges.de, along_q, along_p, edges.ee), whole);
    wide s, t;
    wide_other_end(&edges, along_p, along_q, first, &s, &t);
    if (angle->parallel) {
        const wide_mask both = wide_at_most(sine, wide_set((real)1e-5));
        wide s0, t0, s1, t1;
        wide_other_end(&edges, along_p, along_q, zero, &s0, &t0);
        wide_other_end(&edges, along_p, along_q, one, &s1, &t1);
        const struct wide_point from = between_points(&edges, s0, t0),
                                from1 = between_points(&edges, s1, t1);
        const wide_mask keeps = wide_at_most(wide_dot(from, from), wide_dot(from1, from1));
        s = wide_blend(both, wide_blend(keeps, s0, s1), s);
        t = wide_blend(both, wide_blend(keeps, t0, t1), t);
    }

    struct wide_contact found;
    found.apart = between_points(&edges, s, t);
    found.square = wide_dot(found.apart, found.apart);
    found.parts[0] = s;
    found.parts[1] = t;
    return found;
}

// The four points of candidates, one register after the other.
enum { GATHERED = 8 };
struct gathered {
    wide at[GATHERED][4][3];
};

WIDE_INLINE void gather(wide to[3], const point_table *x, wide_index i)
{
    wide_point_lookup(x, i, &to[0], &to[1], &to[2]);
}

WIDE_INLINE struct wide_point gathered_point(const wide from[3])
{
    return (struct wide_point){from[0], from[1], from[2]};
}

WIDE_INLINE struct wide_edges gathered_edges(const wide points[4][3])
{
    return edges_between(gathered_point(points[0]), gathered_point(points[1]),
                         gathered_point(points[2]), gathered_point(points[3]));
}

// Lanes whose edges may be nearer than the root of `limit`. The points that are found for nearly
// parallel edges need not be the closest ones. But the square of the distance is convex in (s, t),
// so it is nowhere in the unit square less than what its tangent plane at these points is at the
// corners. `rounded` is more than the rounding of that, whose terms are products of the distance
// and of both edges.
static inline unsigned edges_near(const struct wide_contact *found, const struct wide_angle *angle,
                                  const wide points[4][3], wide limit)
{
    unsigned near = wide_mask_bits(wide_at_most(found->square, limit));
    if (!angle->parallel)
        return near;
    const struct wide_edges edges = gathered_edges(points);
    const wide zero = wide_set(0), one = wide_set(1), s = found->parts[0], t = found->parts[1];
    const wide by_s = wide_dot(found->apart, edges.d), by_t = wide_dot(found->apart, edges.e);
    const wide falls_s = wide_max(wide_multiply(by_s, s),
                                  wide_subtract(zero, wide_multiply(by_s, wide_subtract(one, s))));
    const wide falls_t = wide_max(wide_multiply(by_t, wide_subtract(zero, t)),
                                  wide_subtract(zero, wide_multiply(by_t, wide_subtract(t, one))));
    const wide rounded = wide_multiply(wide_set(32 * REAL_EPSILON),
                                       wide_add(found->square, wide_add(edges.dd, edges.ee)));
    const wide least = wide_subtract(wide_subtract(found->square, rounded),
                                     wide_multiply(wide_set(2), wide_add(falls_s, falls_t)));
    return near | (angle->parallel & ~wide_mask_bits(wide_at_most(limit, least)));
}

// The forces of a batch, as records, their parts on each of the four nodes; and the forces that
// turn edges, by node and axis, of the candidates in `turning`, whose bits are by register.
struct batch_forces {
    _Alignas(4 * sizeof(real)) real forces[4 * BATCH_ROOM];
    real weights[4][BATCH_ROOM], turns[4][3][BATCH_ROOM];
    unsigned turning[BATCH_ROOM / WIDE_LANES];
};

WIDE_INLINE void store_turn(real (*to)[BATCH_ROOM], int at, wide sign, struct wide_point force)
{
    wide_store(to[0] + at, wide_multiply(sign, force.x));
    wide_store(to[1] + at, wide_multiply(sign, force.y));
    wide_store(to[2] + at, wide_multiply(sign, force.z));
}

WIDE_INLINE struct wide_point two_parts(wide s, struct wide_point a, wide t, struct wide_point b)
{
    return (struct wide_point){wide_subtract(wide_multiply(s, a.x), wide_multiply(t, b.x)),
                               wide_subtract(wide_multiply(s, a.y), wide_multiply(t, b.y)),
                               wide_subtract(wide_multiply(s, a.z), wide_multiply(t, b.z))};
}

// The weights of nearly parallel edges, 1 of others, and the forces that turn them: edges_weight of
// distance.h and add_turning_force of barrier.h.
WIDE_INLINE wide turn_edges(const struct wide_edges *edges, wide sine,
                            const struct barrier *barrier, wide distance, int at,
                            struct batch_forces *forces)
{
    const real k = barrier->stiffness, depth = barrier->depth;
    const wide zero = wide_set(0), one = wide_set(1), two = wide_set(2);
    const wide x = wide_divide(sine, wide_set(EDGES_PARALLEL));
    const wide_mask below = wide_positive(wide_subtract(one, x));
    const wide slope = wide_blend(
        below, wide_divide(wide_subtract(two, wide_multiply(two, x)), wide_set(EDGES_PARALLEL)),
        zero);
    const wide weight = wide_blend(below, wide_multiply(x, wide_subtract(two, x)), one);

    const wide s = wide_subtract(wide_set(barrier->reach), distance);
    const wide more = wide_subtract(s, wide_set(depth));
    const wide deep = wide_add(wide_add(wide_set((real)(2.0 / 3) * k * depth * depth),
                                        wide_multiply(wide_set(2 * k * depth), more)),
                               wide_multiply(wide_multiply(wide_set(2 * k), more), more));
    const wide cubic =
        wide_multiply(wide_multiply(wide_multiply(wide_set((real)(2.0 / 3) * k / depth), s), s), s);
    const wide energy = wide_blend(wide_positive(more), deep, cubic);

    const wide dd = edges->dd, ee = edges->ee, de = edges->de;
    const wide factor = wide_multiply(wide_subtract(zero, energy), slope);
    const wide common =
        wide_multiply(wide_divide(wide_multiply(two, de), wide_multiply(dd, ee)), factor);
    const wide by_d = wide_divide(wide_multiply(common, de), dd),
               by_e = wide_divide(wide_multiply(common, de), ee);
    const struct wide_point on_d = two_parts(by_d, edges->d, common, edges->e),
                            on_e = two_parts(by_e, edges->e, common, edges->d);
    store_turn(forces->turns[0], at, wide_set(-1), on_d);
    store_turn(forces->turns[1], at, one, on_d);
    store_turn(forces->turns[2], at, wide_set(-1), on_e);
    store_turn(forces->turns[3], at, one, on_e);
    forces->turning[at / WIDE_LANES] = wide_mask_bits(wide_positive(slope)) &
                                       wide_mask_bits(wide_positive(dd)) &
                                       wide_mask_bits(wide_positive(ee));
    return weight;
}

// The lanes that touch.
WIDE_INLINE unsigned lanes_that_touch(const struct wide_contact *found,
                                      const struct barrier *barrier, unsigned lanes)
{
    const wide reach = wide_set(barrier->reach * barrier->reach);
    return lanes & ~wide_mask_bits(wide_at_most(reach, found->square)) &
           wide_mask_bits(wide_positive(found->square));
}

WIDE_INLINE void batch_point(real (*to)[BATCH_ROOM], int at, struct wide_point p, unsigned lanes)
{
    (void)wide_pack(to[0] + at, p.x, lanes);
    (void)wide_pack(to[1] + at, p.y, lanes);
    (void)wide_pack(to[2] + at, p.z, lanes);
}

// Adds the lanes that touch to those of the group. `angle` and the four `points`: of edges, NULL of
// nodes and triangles.
WIDE_INLINE void batch_append(struct batch *batch, const struct wide_contact *found,
                              const struct wide_angle *angle, const wide (*points)[3],
                              const uint16_t *codes, unsigned touching)
{
    const int at = batch->count;
    (void)wide_pack(batch->parts[0] + at, found->parts[0], touching);
    (void)wide_pack(batch->parts[1] + at, found->parts[1], touching);
    (void)wide_pack(batch->square + at, found->square, touching);
    batch_point(batch->apart, at, found->apart, touching);
    if (angle)
        (void)wide_pack(batch->sine + at, angle->sine, touching);
    if (angle && points && (touching & angle->parallel)) {
        const struct wide_edges edges = gathered_edges(points);
        batch->parallel = true;
        batch_point(batch->d, at, edges.d, touching);
        batch_point(batch->e, at, edges.e, touching);
        (void)wide_pack(batch->dd + at, edges.dd, touching);
        (void)wide_pack(batch->ee + at, edges.ee, touching);
        (void)wide_pack(batch->de + at, edges.de, touching);
    }
    batch->count += (int)(codes_keep(batch->codes + at, codes, touching) - (batch->codes + at));
}

WIDE_INLINE struct wide_point batch_load(const real (*from)[BATCH_ROOM], int at)
{
    return (struct wide_point){wide_load(from[0] + at), wide_load(from[1] + at),
                               wide_load(from[2] + at)};
}

// The forces of a register of candidates that touch, from number `at` of the batch on.
WIDE_INLINE void forces_of_batch(const struct batch *batch, int at, bool edges,
                                 const struct barrier *barrier, struct batch_forces *forces)
{
    // The force of the barrier over the distance.
    const real k = barrier->stiffness, depth = barrier->depth;
    const wide zero = wide_set(0), one = wide_set(1);
    const wide distance = wide_sqrt(wide_load(batch->square + at));
    const wide s = wide_subtract(wide_set(barrier->reach), distance);
    const wide more = wide_subtract(s, wide_set(depth));
    const wide deep = wide_add(wide_set(2 * k * depth), wide_multiply(wide_set(4 * k), more));
    const wide cubic = wide_multiply(wide_multiply(wide_set(2 * k / depth), s), s);
    wide force = wide_blend(wide_positive(more), deep, cubic);
    forces->turning[at / WIDE_LANES] = 0;
    if (edges && batch->parallel) {
        const wide sine = wide_load(batch->sine + at);
        if (wide_mask_bits(wide_at_most(wide_set(EDGES_PARALLEL), sine)) != ALL_LANES) {
            const struct wide_edges turned = {.d = batch_load(batch->d, at),
                                              .e = batch_load(batch->e, at),
                                              .dd = wide_load(batch->dd + at),
                                              .ee = wide_load(batch->ee + at),
                                              .de = wide_load(batch->de + at)};
            force = wide_multiply(turn_edges(&turned, sine, barrier, distance, at, forces), force);
        }
    }
    const wide scale = wide_divide(force, distance);
    const struct wide_point apart = batch_load(batch->apart, at);
    wide_records_put(forces->forces + 4 * at, wide_multiply(scale, apart.x),
                     wide_multiply(scale, apart.y), wide_multiply(scale, apart.z));
    const wide first = wide_load(batch->parts[0] + at), second = wide_load(batch->parts[1] + at);
    if (edges) {
        wide_store(forces->weights[0] + at, wide_subtract(one, first));
        wide_store(forces->weights[1] + at, first);
        wide_store(forces->weights[2] + at, wide_subtract(second, one));
    } else {
        wide_store(forces->weights[0] + at, one);
        wide_store(forces->weights[1] + at, wide_subtract(wide_add(first, second), one));
        wide_store(forces->weights[2] + at, wide_subtract(zero, first));
    }
    wide_store(forces->weights[3] + at, wide_subtract(zero, second));
}

// Reads the forces on nodes into records, unless they are there.
static inline void begin_sums(struct barrier_work *work)
{
    const int sides = work->sums[0] == work->sums[1] ? 1 : 2;
    for (int side = 0; side < sides && !work->in_records; side++)
        points_put(work->sums[side]->records, (const real(*)[SURFACE_NODES])work->sums[side]->on);
    work->in_records = true;
}

// And back.
static inline void end_sums(struct barrier_work *work)
{
    const int sides = work->sums[0] == work->sums[1] ? 1 : 2;
    for (int side = 0; side < sides && work->in_records; side++) {
        const struct force_sums *sums = work->sums[side];
        for (int i = 0; i < SURFACE_NODES; i += WIDE_LANES) {
            uint16_t at[WIDE_LANES];
            wide axes[3];
            for (int lane = 0; lane < WIDE_LANES; lane++)
                at[lane] = (uint16_t)(4 * (i + lane));
            wide_records_4(sums->records, at, &axes[0], &axes[1], &axes[2]);
            for (int axis = 0; axis < 3; axis++)
                wide_store((*sums->on)[axis] + i, axes[axis]);
        }
    }
    work->in_records = false;
}

static void hand_out_all(struct barrier_work *work)
{
    struct touching_candidates *touching = work->pair->touching;
    end_sums(work);
    touching->take(touching->context, touching->items, touching->count);
    touching->count = 0;
}

static inline void hand_out(struct barrier_work *work, struct touching_candidate it)
{
    struct touching_candidates *touching = work->pair->touching;
    touching->items[touching->count++] = it;
    if (touching->count == TOUCHING_MOST)
        hand_out_all(work);
}

static inline void hand_out_one(struct barrier_work *work, const struct batch *batch, int at,
                                const struct batch_forces *forces, int group)
{
    real slope, weight = 1;
    if (group == 2)
        weight = edges_weight(batch->sine[at], &slope);
    hand_out(work, (struct touching_candidate){
                       touching_key(group, batch->codes[at]),
                       {group == 2 ? forces->weights[1][at] : 0 - forces->weights[2][at],
                        0 - forces->weights[3][at]},
                       {batch->apart[0][at], batch->apart[1][at], batch->apart[2][at]},
                       batch->square[at],
                       weight,
                       weight});
}

// Nodes of the candidate with this code, in the order of its weights.
struct code_nodes {
    size_t at[4];
};

WIDE_INLINE struct code_nodes nodes_of_point(unsigned code, const struct block_corners *of)
{
    const unsigned triangle = code & (SURFACE_TRIANGLES - 1U);
    return (struct code_nodes){{code >> TRIANGLE_BITS, of->triangles[0][triangle],
                                of->triangles[1][triangle], of->triangles[2][triangle]}};
}

WIDE_INLINE struct code_nodes nodes_of_edges(unsigned code, const struct block_corners *a,
                                             const struct block_corners *b)
{
    const unsigned edge_a = code >> EDGE_BITS, edge_b = code & (SURFACE_EDGES - 1U);
    return (struct code_nodes){
        {a->edges[0][edge_a], a->edges[1][edge_a], b->edges[0][edge_b], b->edges[1][edge_b]}};
}

// Marks the lanes of the candidates from number `at` of the group on.
static inline void mark_lanes(struct barrier_work *work, size_t at, unsigned lanes)
{
    uint16_t *word = &work->near[at / MARK_BITS];
    const unsigned bits = lanes << at % MARK_BITS;
    *word = (uint16_t)(at % MARK_BITS == 0 ? bits : *word | bits);
}

static struct point point_of(const real (*x)[SURFACE_NODES], int node)
{
    return (struct point){x[0][node], x[1][node], x[2][node]};
}

// Adds the forces of a candidate to those on its nodes, of which the first `split` are in the block
// of sums[0].
WIDE_INLINE void add_forces(const struct batch_forces *forces, int at, int split,
                            real *const records[2], struct code_nodes nodes)
{
    for (int i = 0; i < 4; i++)
        wide_record_add(records[i >= split] + 4 * nodes.at[i], forces->weights[i][at],
                        forces->forces + 4 * at);
}

static inline void add_turns(const struct batch_forces *forces, int at, real *const records[2],
                             struct code_nodes nodes)
{
    for (int i = 0; i < 4; i++)
        for (int axis = 0; axis < 3; axis++)
            records[i / 2][4 * nodes.at[i] + (size_t)axis] += forces->turns[i][axis][at];
}

// Adds the forces of candidates first .. end - 1 of a batch to those on its nodes; some `turns`.
WIDE_INLINE void add_batch(struct barrier_work *work, const struct batch *batch,
                           const struct batch_forces *forces, int first, int end, int group,
                           bool turns, bool hands_out)
{
    const struct block_corners *a = work->pair->a, *b = work->pair->b, *of = group == 0 ? b : a;
    const int side = group == 1, split = group < 2 ? 1 : 2;
    real *const records[2] = {work->sums[side]->records, work->sums[1 - side]->records};
    for (int at = first; at < end; at++) {
        const unsigned code = batch->codes[at];
        const struct code_nodes nodes =
            group < 2 ? nodes_of_point(code, of) : nodes_of_edges(code, a, b);
        if (hands_out) // after which forces are no longer in records
            begin_sums(work);
        add_forces(forces, at, split, records, nodes);
        if (turns && (forces->turning[at / WIDE_LANES] >> at % WIDE_LANES & 1))
            add_turns(forces, at, records, nodes);
        if (hands_out)
            hand_out_one(work, batch, at, forces, group);
    }
}

// Adds the forces of a batch of nodes and triangles, or of edges. Nearly always there is nothing to
// turn or to distribute.
WIDE_INLINE void push_batch_of(struct barrier_work *work, const struct batch *batch, bool edges)
{
    const int first = batch->of_first, end = batch->count;
    const bool hands_out = work->pair->touching != NULL;
    struct batch_forces forces;
    for (int at = 0; at < end; at += WIDE_LANES)
        forces_of_batch(batch, at, edges, work->barrier, &forces);
    if (edges && hands_out)
        add_batch(work, batch, &forces, 0, end, 2, true, true);
    else if (edges && batch->parallel)
        add_batch(work, batch, &forces, 0, end, 2, true, false);
    else if (edges)
        add_batch(work, batch, &forces, 0, end, 2, false, false);
    else if (hands_out) {
        add_batch(work, batch, &forces, 0, first, 0, false, true);
        add_batch(work, batch, &forces, first, end, 1, false, true);
    } else {
        add_batch(work, batch, &forces, 0, first, 0, false, false);
        add_batch(work, batch, &forces, first, end, 1, false, false);
    }
}

static void push_batch(struct barrier_work *work, struct batch *batch, int group)
{
    if (batch->count == 0)
        return;
    if (group == 0)
        batch->of_first = batch->count;
    work->touches = true;
    begin_sums(work);
    if (group == 2 && batch->parallel) // lanes behind the last edges decide nothing
        wide_store(batch->sine + batch->count, wide_set(1));
    if (group < 2)
        push_batch_of(work, batch, false);
    else
        push_batch_of(work, batch, true);
    batch->count = batch->of_first = 0;
    batch->parallel = false;
}

// Nodes of the block with `points`, and triangles of the other one: a group of the pair.
static void push_points(struct barrier_work *work, struct batch *batch, int group,
                        const uint16_t *first, const uint16_t *end, const point_table *p,
                        const point_table *x, const struct block_corners *of)
{
    const byte_table a = byte_table_make(of->triangles[0], SURFACE_TRIANGLES);
    const byte_table b = byte_table_make(of->triangles[1], SURFACE_TRIANGLES);
    const byte_table c = byte_table_make(of->triangles[2], SURFACE_TRIANGLES);
    uint16_t tail[WIDE_LANES + CODES_SLACK] = {0};
    for (const uint16_t *from = first; from < end; from += GATHERED * WIDE_LANES) {
        struct gathered points;
        struct wide_contact found[GATHERED];
        const uint16_t *at = from;
        for (int i = 0; i < GATHERED && at < end; i++, at += WIDE_LANES) {
            const uint16_t *codes = next_codes(at, end, tail);
            const wide_index t = wide_index_below(codes, TRIANGLE_BITS);
            gather(points.at[i][0], p, wide_index_above(codes, TRIANGLE_BITS));
            gather(points.at[i][1], x, wide_index_from(&a, t));
            gather(points.at[i][2], x, wide_index_from(&b, t));
            gather(points.at[i][3], x, wide_index_from(&c, t));
        }
        at = from;
        for (int i = 0; i < GATHERED && at < end; i++, at += WIDE_LANES) {
            found[i] = closest_points_on_triangles(
                gathered_point(points.at[i][0]), gathered_point(points.at[i][1]),
                gathered_point(points.at[i][2]), gathered_point(points.at[i][3]));
        }
        at = from;
        for (int i = 0; i < GATHERED && at < end; i++, at += WIDE_LANES) {
            const unsigned lanes = lanes_before(at, end);
            work->least = wide_min(found[i].square, work->least);
            if (work->near)
                mark_lanes(work, (size_t)(at - first),
                           lanes & wide_mask_bits(wide_at_most(found[i].square,
                                                               wide_set(work->pair->square))));
            batch_append(batch, &found[i], NULL, NULL, end - at < WIDE_LANES ? tail : at,
                         lanes_that_touch(&found[i], work->barrier, lanes));
            if (batch->count >= BATCH)
                push_batch(work, batch, group);
        }
    }
    if (group == 0) // the next group follows
        batch->of_first = batch->count;
    else
        push_batch(work, batch, 1);
}

// Two edges without triangles.
static real push_two_edges(struct barrier_work *work, const int nodes[4], uint32_t key)
{
    const struct listed_pair *pair = work->pair;
    struct contact_nodes contact;
    for (int i = 0; i < 4; i++) {
        contact.at[i] = point_of(i < 2 ? pair->x_a : pair->x_b, nodes[i]);
        contact.forces[i] = work->sums[i / 2]->on;
        contact.local[i] = nodes[i];
    }
    const struct edge_contacts contacts = find_edge_contacts(contact.at);
    const bool touches = add_edges_force(&contact, &contacts, work->barrier);
    work->touches |= touches;
    if (!touches || !pair->touching)
        return contacts.least;
    const struct edges_together it = edges_in_one(&contacts, work->barrier);
    if (it.energy > 0)
        hand_out(work,
                 (struct touching_candidate){
                     key, {it.parts[0], it.parts[1]}, it.apart, it.square, it.weight, it.energy});
    return contacts.least;
}

static void push_edges(struct barrier_work *work, struct batch *batch, const uint16_t *first,
                       const uint16_t *end, const point_table *in_a, const point_table *in_b)
{
    const struct listed_pair *pair = work->pair;
    const byte_table p1 = byte_table_make(pair->a->edges[0], SURFACE_EDGES);
    const byte_table q1 = byte_table_make(pair->a->edges[1], SURFACE_EDGES);
    const byte_table p2 = byte_table_make(pair->b->edges[0], SURFACE_EDGES);
    const byte_table q2 = byte_table_make(pair->b->edges[1], SURFACE_EDGES);
    uint16_t tail[WIDE_LANES + CODES_SLACK] = {0};
    for (const uint16_t *from = first; from < end; from += GATHERED * WIDE_LANES) {
        struct gathered points;
        struct wide_contact found[GATHERED];
        struct wide_angle angles[GATHERED];
        const uint16_t *at = from;
        for (int i = 0; i < GATHERED && at < end; i++, at += WIDE_LANES) {
            const uint16_t *codes = next_codes(at, end, tail);
            const wide_index e = wide_index_above(codes, EDGE_BITS),
                             f = wide_index_below(codes, EDGE_BITS);
            gather(points.at[i][0], in_a, wide_index_from(&p1, e));
            gather(points.at[i][1], in_a, wide_index_from(&q1, e));
            gather(points.at[i][2], in_b, wide_index_from(&p2, f));
            gather(points.at[i][3], in_b, wide_index_from(&q2, f));
        }
        at = from;
        for (int i = 0; i < GATHERED && at < end; i++, at += WIDE_LANES) {
            found[i] = closest_points_on_edges(
                gathered_point(points.at[i][0]), gathered_point(points.at[i][1]),
                gathered_point(points.at[i][2]), gathered_point(points.at[i][3]), &angles[i]);
        }
        at = from;
        for (int i = 0; i < GATHERED && at < end; i++, at += WIDE_LANES) {
            const unsigned lanes = lanes_before(at, end);
            // In all lanes these are points of both edges, so that none is nearer than they can be.
            work->least = wide_min(found[i].square, work->least);
            if (work->near)
                mark_lanes(work, (size_t)(at - first),
                           lanes & edges_near(&found[i], &angles[i], points.at[i],
                                              wide_set(pair->square)));
            if (pair->bare)
                continue;
            batch_append(batch, &found[i], &angles[i], points.at[i],
                         end - at < WIDE_LANES ? tail : at,
                         lanes_that_touch(&found[i], work->barrier, lanes));
            if (batch->count >= BATCH)
                push_batch(work, batch, 2);
        }
    }
    push_batch(work, batch, 2);
    for (const uint16_t *at = first; at < end && pair->bare; at++) {
        const int edge_a = *at >> EDGE_BITS, edge_b = *at & (SURFACE_EDGES - 1);
        const int nodes[4] = {pair->a->edges[0][edge_a], pair->a->edges[1][edge_a],
                              pair->b->edges[0][edge_b], pair->b->edges[1][edge_b]};
        const real square = push_two_edges(work, nodes, touching_key(2, *at));
        work->least = wide_min(wide_set(square), work->least);
    }
}

// Bits of the nodes that have forces other than 0.
static uint32_t nodes_with_forces(real (*const on)[SURFACE_NODES])
{
    const wide zero = wide_set(0);
    uint32_t nodes = 0;
    for (int i = 0; i < SURFACE_NODES; i += WIDE_LANES) {
        wide_mask none = wide_at_most(zero, zero);
        for (int axis = 0; axis < 3; axis++) {
            const wide force = wide_load(on[axis] + i);
            none = wide_mask_and(
                none, wide_mask_and(wide_at_most(force, zero), wide_at_most(zero, force)));
        }
        nodes |= (uint32_t)(~wide_mask_bits(none) & ALL_LANES) << i;
    }
    return nodes;
}

// The codes of the candidates of a group that are marked; returns their end, after which there are
// zeros.
static uint16_t *marked_codes(uint16_t *to, const uint16_t *codes, size_t count,
                              const uint16_t *marks)
{
    for (size_t word = 0; word < mark_words(count); word++)
        to = codes_keep_16(to, codes + word * MARK_BITS, marks[word]);
    memset(to, 0, CODES_SLACK * sizeof *to);
    return to;
}

// Codes of the three groups of a pair that are to be evaluated.
struct chosen_codes {
    const uint16_t *first[3], *end[3];
    uint16_t kept[2 * SURFACE_NODES * SURFACE_TRIANGLES + SURFACE_EDGES * SURFACE_EDGES +
                  3 * CODES_SLACK];
};

// All are copied before the first are read, since a load of what several stores have just written
// waits for them.
static void choose_codes(const struct listed_pair *pair, struct chosen_codes *chosen)
{
    const uint16_t *codes = pair->codes, *marks = pair->marks;
    uint16_t *to = chosen->kept;
    for (int group = 0; group < 3; group++) {
        const size_t count = pair->counts[group];
        chosen->first[group] = codes;
        chosen->end[group] = codes + count;
        if (marks) {
            chosen->first[group] = to;
            chosen->end[group] = to = marked_codes(to, codes, count, marks);
            to += CODES_SLACK;
            marks += mark_words(count);
        }
        codes += count;
    }
}

static bool barrier_forces(const struct listed_pair *pair, const struct barrier *barrier,
                           real (*on_a)[SURFACE_NODES], real (*on_b)[SURFACE_NODES], real *least)
{
    struct force_sums a, b;
    a.on = (block_reals *)on_a;
    b.on = (block_reals *)on_b;
    struct barrier_work work = {
        pair, barrier, wide_set(REAL_HUGE), pair->near, false, {&a, on_a == on_b ? &a : &b}, false};
    struct chosen_codes chosen;
    struct batch batch;
    batch.count = batch.of_first = 0;
    batch.parallel = false;
    choose_codes(pair, &chosen);
    point_table x_a, x_b;
    point_table_make(&x_a, pair->x_a);
    point_table_make(&x_b, pair->x_b);
    for (int group = 0; group < 3; group++) {
        const uint16_t *first = chosen.first[group], *end = chosen.end[group];
        if (group < 2)
            push_points(&work, &batch, group, first, end, group == 0 ? &x_a : &x_b,
                        group == 0 ? &x_b : &x_a, group == 0 ? pair->b : pair->a);
        else
            push_edges(&work, &batch, first, end, &x_a, &x_b);
        if (work.near)
            work.near += mark_words(pair->counts[group]);
    }
    if (pair->touching && pair->touching->count > 0)
        hand_out_all(&work);
    end_sums(&work);
    if (pair->pushed)
        *pair->pushed = nodes_with_forces(on_b);
    *least = -wide_greatest(wide_subtract(wide_set(0), work.least));
    return work.touches;
}
