// The forces of a tile of packed springs (plan.h): every node sums the forces of its own springs,
// column by column, a register of nodes at a time. So every spring is computed twice, once from
// each end, with exactly opposite results. The kernel body is compiled for each instruction set by
// kernels/table.h.
//
// Where columns follow vertex rings (faces/plan.h), the gradient of the volume is computed from the
// same neighbours, without further loads. The pressure is applied elsewhere (faces/).
#include "kernels/kernels.h"
#include "simd/wide.h"
#include "simd/wide3.h"
#include "springs/law_body.h"
#include "state/reading.h"

// A register of nodes, and the sum of their forces so far.
struct packed_nodes {
    struct wide3 x, v, f;
    wide power; // dissipated by the damping of their springs, if it is measured
};

// Positions and velocities of the nodes at the other ends.
struct packed_ends {
    struct wide3 x, v;
};

WIDE_INLINE struct packed_ends load_ends(const struct state *s, int64_t at, bool damped)
{
    return (struct packed_ends){
        .x = wide3_load(s->x, s->y, s->z, at),
        .v = damped ? wide3_load(s->vx, s->vy, s->vz, at) : wide3_zero(),
    };
}

WIDE_INLINE struct packed_ends gather_ends(const real *records, const uint16_t *ends, bool damped)
{
    struct packed_ends o = {.v = wide3_zero()};
    if (damped)
        wide_records_8(records, ends, &o.x.x, &o.x.y, &o.x.z, &o.v.x, &o.v.y, &o.v.z);
    else
        wide_records_4(records, ends, &o.x.x, &o.x.y, &o.x.z);
    return o;
}

// Adds F = -k (L - L0) / L d - c (w.d) / L^2 d, with one division by L^2 for both terms; with the
// full law the second term is - c w. Lanes without a spring (`rest` < 0) or with a slack one add
// nothing; at L = 0 there is no force along d.
WIDE_INLINE void add_springs(struct packed_nodes *n, const struct packed_ends *o, wide rest,
                             const struct wide_law *law, bool damped, bool powers)
{
    const struct wide3 d = wide3_subtract(n->x, o->x);
    wide square = wide3_dot(d, d);
    wide length = wide_sqrt(square);
    wide_mask present = wide_positive(wide_add(rest, wide_set((real)0.5)));
    if (law->slack) {
        wide stretch = wide_subtract(length, rest);
        present = wide_mask_and(present, wide_not_slack(law->side, law->open, stretch));
    }
    wide force = wide_multiply(wide_multiply(law->stiffness, wide_subtract(rest, length)), length);
    const wide_mask directed = wide_mask_and(present, wide_positive(square));
    if (damped) {
        const struct wide3 w = wide3_subtract(n->v, o->v);
        wide along = wide3_dot(w, d), taken = wide_multiply(law->along, along);
        force = wide_subtract(force, taken);
        if (law->crosses)
            n->f = wide3_subtract(n->f, wide3_scale(wide_masked(present, law->across), w));
        if (powers)
            n->power = wide_add(
                n->power, wide_masked(directed, wide_divide(wide_multiply(taken, along), square)));
        if (powers && law->crosses)
            n->power = wide_add(n->power,
                                wide_masked(present, wide_multiply(law->across, wide3_dot(w, w))));
    }
    wide scale = wide_masked(directed, wide_divide(force, square));
    n->f = wide3_add(n->f, wide3_scale(scale, d));
}

// The data that the loops over a tile share.
struct packed_view {
    const struct plan_packed *packed;
    const struct spring_constants *materials;
    const real *rest; // by slot
    struct state *state;
    const real *records;
};

// sum + (a - b) x c
WIDE_INLINE struct wide3 add_product(struct wide3 sum, struct wide3 a, struct wide3 b,
                                     struct wide3 c)
{
    return wide3_add(sum, wide3_cross(wide3_subtract(a, b), c));
}

// The other ends of a column.
WIDE_INLINE struct packed_ends read_column(const struct packed_view *v,
                                           const struct packed_column *column, int first_lane,
                                           int64_t at, bool damped, bool rings)
{
    if (column->step == 0)
        return gather_ends(v->records, v->packed->ends[column->group] + first_lane, damped);
    struct packed_ends o = load_ends(v->state, at + column->step, damped);
    for (int alternative = 0; rings && alternative < column->alternative_count; alternative++) {
        const struct packed_alternatives *alternatives = &v->packed->alternatives[column->group];
        struct packed_ends alternative_ends =
            load_ends(v->state, at + alternatives->step[alternative], damped);
        wide_mask mask = wide_mask_load(&alternatives->lanes[alternative], first_lane);
        o.x = wide3_blend(mask, alternative_ends.x, o.x);
        o.v = wide3_blend(mask, alternative_ends.v, o.v);
    }
    return o;
}

// Adds the springs of a column; returns their other ends.
WIDE_INLINE struct packed_ends add_column(const struct packed_view *v, struct packed_nodes *n,
                                          uint64_t number, int first_lane, int64_t at, bool damped,
                                          bool rings, bool powers)
{
    const struct packed_column *column = &v->packed->columns[number];
    struct packed_ends o = read_column(v, column, first_lane, at, damped, rings);
    wide rest = wide_load(v->rest + number * PACKED_LANES + first_lane);
    struct wide_law law =
        column->material == PACKED_MIXED
            ? wide_law_mixed(v->materials, v->packed->lane_materials[column->mixed] + first_lane)
            : wide_law_uniform(&v->materials[column->material]);
    add_springs(n, &o, rest, &law, damped, powers);
    return o;
}

// Adds the springs of the columns [begin, end) that follow rings, an even number, and returns the
// gradient of the volume, sum (p_i - p) x (p_{i+1} - p). The two products with an odd p_i are
// combined, so that there are half as many: (p_{i-1} - p_{i+1}) x (p_i - p).
WIDE_INLINE struct wide3 ring_gradient(const struct packed_view *v, struct packed_nodes *n,
                                       uint64_t begin, uint64_t end, int first_lane, int64_t at,
                                       bool damped, bool powers)
{
    struct wide3 sum = wide3_zero();
    struct wide3 first = sum, before = sum, odd = sum;
    for (uint64_t c = begin; c < end; c += 2) {
        struct packed_ends other = add_column(v, n, c, first_lane, at, damped, true, powers);
        struct wide3 even = wide3_subtract(n->x, other.x);
        if (c == begin)
            first = even;
        else
            sum = add_product(sum, before, even, odd);
        before = even;
        other = add_column(v, n, c + 1, first_lane, at, damped, true, powers);
        odd = wide3_subtract(n->x, other.x);
    }
    return add_product(sum, before, first, odd);
}

// Adds the forces of all columns of a chunk to a register of nodes. Forces after the `left` nodes
// may be another worker's. `damped` and `rings` are constants wherever this is inlined, so that
// undamped tiles load no velocities.
WIDE_INLINE void add_vector(const struct packed_view *v, uint64_t chunk, int first_lane, int64_t at,
                            long left, bool damped, bool rings, double *powers)
{
    struct state *s = v->state;
    struct packed_ends here = load_ends(s, at, damped);
    struct packed_nodes n = {here.x, here.v, wide3_load_first(s->fx, s->fy, s->fz, at, left),
                             wide_set(0)};
    const bool measures = damped && powers;
    uint64_t c = v->packed->chunk_columns[chunk], end = v->packed->chunk_columns[chunk + 1];
    if (rings && v->packed->chunk_rings[chunk] > 0) {
        uint64_t ring_end = c + v->packed->chunk_rings[chunk];
        struct wide3 sum = ring_gradient(v, &n, c, ring_end, first_lane, at, damped, measures);
        wide3_store_first(s->ax, s->ay, s->az, at, sum, left);
        c = ring_end;
    }
    for (; c < end; c++)
        add_column(v, &n, c, first_lane, at, damped, false, measures);
    wide3_store_first(s->fx, s->fy, s->fz, at, n.f, left);
    if (measures)
        wide_add_to(powers + first_lane, n.power);
}

// Adds the forces of all chunks of a tile. `powers`: PACKED_LANES sums, or NULL; a constant
// wherever this is inlined.
WIDE_INLINE void add_chunks(const struct packed_view *v, const struct packed_tile *tile,
                            bool damped, bool rings, double *powers)
{
    for (uint64_t i = 0; i < tile->sell_chunk_count; i++) {
        uint64_t done = i * PACKED_LANES;
        long left = (long)(tile->node_count - done);
        for (int lane = 0; lane < PACKED_LANES && lane < left; lane += WIDE_LANES)
            add_vector(v, tile->first_chunk + i, lane, (int64_t)(tile->first_node + done) + lane,
                       left - lane, damped, rings, powers);
    }
}

// Adds a spring in no column, at one of its ends. Returns the power of its damping.
static double add_overflow(const struct packed_view *v, uint64_t number)
{
    const struct packed_overflow *overflow = &v->packed->overflow[number];
    const struct spring_constants *material = &v->materials[overflow->material];
    struct state *s = v->state;
    uint32_t a = overflow->node, b = overflow->other;
    real rest = v->rest[v->packed->column_count * PACKED_LANES + number];
    real dx = s->x[a] - s->x[b], dy = s->y[a] - s->y[b], dz = s->z[a] - s->z[b];
    real wx = s->vx[a] - s->vx[b], wy = s->vy[a] - s->vy[b], wz = s->vz[a] - s->vz[b];
    real square = dx * dx + dy * dy + dz * dz, length = real_sqrt(square);
    if (rest < 0 || spring_is_slack(material, (double)length, (double)rest))
        return 0;
    real taken = 0;
    real force = material->stiffness * (rest - length) * length;
    if (material->damping_law == DAMPING_FULL) {
        s->fx[a] -= material->damping * wx;
        s->fy[a] -= material->damping * wy;
        s->fz[a] -= material->damping * wz;
        taken = material->damping * (wx * wx + wy * wy + wz * wz);
    } else {
        real along = wx * dx + wy * dy + wz * dz;
        force -= material->damping * along;
        taken = square > 0 ? material->damping * along * along / square : 0;
    }
    real scale = square > 0 ? force / square : 0;
    s->fx[a] += scale * dx;
    s->fy[a] += scale * dy;
    s->fz[a] += scale * dz;
    return (double)taken;
}

static inline void fill_packed_record(const struct state *s, size_t node, bool damped, real *record)
{
    record[0] = s->x[node];
    record[1] = s->y[node];
    record[2] = s->z[node];
    record[3] = 0;
    if (!damped)
        return;
    record[4] = s->vx[node];
    record[5] = s->vy[node];
    record[6] = s->vz[node];
    record[7] = 0;
}

static inline void fill_packed_records(const struct packed_view *v, const struct packed_tile *tile,
                                       bool damped, real *records)
{
    const size_t width = damped ? 8 : 4;
    const uint32_t *halo = v->packed->halo + tile->first_halo;
    for (size_t i = 0; i < tile->own_records; i++)
        fill_packed_record(v->state, (size_t)tile->first_node + i, damped, records + width * i);
    records += width * tile->own_records;
    for (size_t i = 0; i < tile->halo_count; i++)
        fill_packed_record(v->state, halo[i], damped, records + width * i);
}

WIDE_INLINE void add_tile(const struct packed_view *v, const struct packed_tile *tile, bool damped,
                          double *powers, real *records)
{
    fill_packed_records(v, tile, damped, records);
    if (tile->ring_body != 0)
        add_chunks(v, tile, damped, true, powers);
    else
        add_chunks(v, tile, damped, false, powers);
}

// Half of the sum over the lanes, because every spring is computed at both of its ends.
static double half_of_sum(const double lanes[PACKED_LANES])
{
    double sum = 0;
    for (int lane = 0; lane < PACKED_LANES; lane++)
        sum += lanes[lane] / 2;
    return sum;
}

static double packed_forces(const struct system *system, size_t number, double *powers)
{
    _Alignas(64) real records[8 * PACKED_LOCAL_MAX];
    const struct plan_packed *packed = &system->plan->packed;
    const struct packed_tile *tile = &packed->tiles[number];
    const struct state *s = system->state;
    struct packed_view v = {packed, system->constants->material,
                            s->slot_rest ? s->slot_rest : system->constants->slot_rest,
                            system->state, records};
    double taken[PACKED_LANES] = {0};
    if (tile->damped && powers)
        add_tile(&v, tile, true, taken, records);
    else if (tile->damped)
        add_tile(&v, tile, true, NULL, records);
    else
        add_tile(&v, tile, false, NULL, records);
    for (uint64_t i = 0; i < tile->overflow_count; i++)
        taken[0] += add_overflow(&v, tile->first_overflow + i);
    if (powers)
        powers[POWER_DAMPING] += half_of_sum(taken);
    if (tile->ring_body == 0)
        return 0;
    double origin = (double)s->x[system->topology->bodies[tile->ring_body - 1].first_node];
    return volume_partial_sum(s->x + tile->first_node, s->ax + tile->first_node, tile->node_count,
                              origin);
}

// ---- The volume alone, from the x component of ring_gradient with the same bits, which needs only
// the y and z of the neighbours

struct wide_yz {
    wide y, z;
};

WIDE_INLINE struct wide_yz load_yz(const struct state *s, int64_t at)
{
    return (struct wide_yz){wide_load(s->y + at), wide_load(s->z + at)};
}

// The y and z of the nodes minus those of the other ends of a column.
WIDE_INLINE struct wide_yz column_yz(const struct packed_view *v, const struct wide_yz *own,
                                     uint64_t number, int first_lane, int64_t at)
{
    const struct packed_column *column = &v->packed->columns[number];
    struct wide_yz o;
    if (column->step == 0) {
        struct packed_ends ends =
            gather_ends(v->records, v->packed->ends[column->group] + first_lane, false);
        o = (struct wide_yz){ends.x.y, ends.x.z};
    } else {
        o = load_yz(v->state, at + column->step);
        for (int alternative = 0; alternative < column->alternative_count; alternative++) {
            const struct packed_alternatives *alternatives =
                &v->packed->alternatives[column->group];
            struct wide_yz alternative_ends =
                load_yz(v->state, at + alternatives->step[alternative]);
            wide_mask mask = wide_mask_load(&alternatives->lanes[alternative], first_lane);
            o.y = wide_blend(mask, alternative_ends.y, o.y);
            o.z = wide_blend(mask, alternative_ends.z, o.z);
        }
    }
    return (struct wide_yz){wide_subtract(own->y, o.y), wide_subtract(own->z, o.z)};
}

// sum + the x component of (a - b) x c
WIDE_INLINE wide add_product_x(wide sum, const struct wide_yz *a, const struct wide_yz *b,
                               const struct wide_yz *c)
{
    wide y = wide_subtract(a->y, b->y), z = wide_subtract(a->z, b->z);
    return wide_add(sum, wide_subtract(wide_multiply(y, c->z), wide_multiply(z, c->y)));
}

// The x component of ring_gradient.
WIDE_INLINE wide ring_gradient_x(const struct packed_view *v, uint64_t begin, uint64_t end,
                                 int first_lane, int64_t at)
{
    const wide zero = wide_set(0);
    const struct wide_yz own = load_yz(v->state, at);
    wide sum = zero;
    struct wide_yz first = {zero, zero}, before = first, odd = first;
    for (uint64_t c = begin; c < end; c += 2) {
        struct wide_yz even = column_yz(v, &own, c, first_lane, at);
        if (c == begin)
            first = even;
        else
            sum = add_product_x(sum, &before, &even, &odd);
        before = even;
        odd = column_yz(v, &own, c + 1, first_lane, at);
    }
    return add_product_x(sum, &before, &first, &odd);
}

static double packed_volume(const struct system *system, size_t number)
{
    _Alignas(64) real records[4 * PACKED_LOCAL_MAX];
    _Alignas(64) real ax[PACKED_TILE_NODES];
    const struct plan_packed *packed = &system->plan->packed;
    const struct packed_tile *tile = &packed->tiles[number];
    const struct state *s = system->state;
    struct packed_view v = {.packed = packed, .state = system->state, .records = records};
    fill_packed_records(&v, tile, false, records);
    for (uint32_t done = 0; done < tile->node_count; done += PACKED_LANES) {
        uint64_t chunk = tile->first_chunk + done / PACKED_LANES;
        uint64_t begin = packed->chunk_columns[chunk], end = begin + packed->chunk_rings[chunk];
        for (int lane = 0; lane < PACKED_LANES; lane += WIDE_LANES) {
            int64_t at = (int64_t)(tile->first_node + done) + lane;
            wide_store(ax + done + lane, ring_gradient_x(&v, begin, end, lane, at));
        }
    }
    double origin = (double)s->x[system->topology->bodies[tile->ring_body - 1].first_node];
    return volume_partial_sum(s->x + tile->first_node, ax, tile->node_count, origin);
}
