// Springs of a tile of packed ones (plan/packed.h): every node adds up the forces of its own
// springs, column by column, for a vector of nodes at a time. So every spring is computed twice,
// once from either end, with exactly opposite results. The body of a kernel that is compiled for
// each instruction set; the thin file that includes this defines TAUT_WIDE_ISA and PACKED_KERNEL.
//
// Where columns go round rings (plan/rings.h), the gradient of the volume is found on the way from
// the same neighbours: gas costs its products, and no more loads.
#include "kernels/kernels.h"
#include "kernels/moment.h"
#include "simd/records.h"

// Nodes, and the sum of their forces so far.
struct own {
    wide x, y, z, vx, vy, vz;
    wide fx, fy, fz;
};

// The nodes at the other ends.
struct other {
    wide x, y, z, vx, vy, vz;
};

// The materials of a vector of springs. `side` is 1 for springs that only pull, -1 for those that
// only push, 0 for both, and `open` is 1 - |side|.
struct law {
    wide stiffness, along, across; // damping, axial and full
    wide side, open;
    bool slack, crosses; // some spring may be slack; has full damping
};

static real side_of(const struct spring_constants *material)
{
    return material->law == LAW_TENSION_ONLY       ? 1
           : material->law == LAW_COMPRESSION_ONLY ? -1
                                                   : (real)0;
}

WIDE_INLINE struct law one_law(const struct spring_constants *material)
{
    bool full = material->damping_law == DAMPING_FULL;
    real side = side_of(material);
    return (struct law){
        .stiffness = wide_set(material->stiffness),
        .along = wide_set(full ? 0 : material->damping),
        .across = wide_set(full ? material->damping : 0),
        .side = wide_set(side),
        .open = wide_set(1 - side * side),
        .slack = side != 0,
        .crosses = full,
    };
}

static struct law mixed_law(const struct spring_constants *materials, const uint32_t *lanes)
{
    real value[5][WIDE_LANES];
    struct law law = {.slack = false, .crosses = false};
    for (int l = 0; l < WIDE_LANES; l++) {
        const struct spring_constants *material = &materials[lanes[l]];
        bool full = material->damping_law == DAMPING_FULL;
        real side = side_of(material);
        value[0][l] = material->stiffness;
        value[1][l] = full ? 0 : material->damping;
        value[2][l] = full ? material->damping : 0;
        value[3][l] = side;
        value[4][l] = 1 - side * side;
        law.slack |= side != 0;
        law.crosses |= full;
    }
    law.stiffness = wide_load(value[0]);
    law.along = wide_load(value[1]);
    law.across = wide_load(value[2]);
    law.side = wide_load(value[3]);
    law.open = wide_load(value[4]);
    return law;
}

WIDE_INLINE struct other read_step(const struct state *s, int64_t at, bool damped)
{
    wide zero = wide_set(0);
    return (struct other){
        .x = wide_load(s->x + at),
        .y = wide_load(s->y + at),
        .z = wide_load(s->z + at),
        .vx = damped ? wide_load(s->vx + at) : zero,
        .vy = damped ? wide_load(s->vy + at) : zero,
        .vz = damped ? wide_load(s->vz + at) : zero,
    };
}

WIDE_INLINE struct other choose(wide_mask mask, const struct other *a, const struct other *b)
{
    return (struct other){
        .x = wide_choose(mask, a->x, b->x),
        .y = wide_choose(mask, a->y, b->y),
        .z = wide_choose(mask, a->z, b->z),
        .vx = wide_choose(mask, a->vx, b->vx),
        .vy = wide_choose(mask, a->vy, b->vy),
        .vz = wide_choose(mask, a->vz, b->vz),
    };
}

WIDE_INLINE struct other read_ends(const real *records, const uint16_t *ends, bool damped)
{
    struct other o = {.x = wide_set(0)};
    if (damped)
        wide_records_8(records, ends, &o.x, &o.y, &o.z, &o.vx, &o.vy, &o.vz);
    else
        wide_records_4(records, ends, &o.x, &o.y, &o.z);
    return o;
}

static inline wide dot(wide ax, wide ay, wide az, wide bx, wide by, wide bz)
{
    return wide_add(wide_add(wide_multiply(ax, bx), wide_multiply(ay, by)), wide_multiply(az, bz));
}

// F = -k (L - L0) / L d - c (w.d) / L^2 d with one division for both, by L^2; with the full law
// - c w beside it. No spring (`rest` < 0) and a slack one give nothing, L = 0 nothing along d.
WIDE_INLINE void add_springs(struct own *n, const struct other *o, wide rest, const struct law *law,
                             bool damped)
{
    wide dx = wide_subtract(n->x, o->x);
    wide dy = wide_subtract(n->y, o->y);
    wide dz = wide_subtract(n->z, o->z);
    wide square = dot(dx, dy, dz, dx, dy, dz);
    wide length = wide_sqrt(square);
    wide_mask present = wide_positive(wide_add(rest, wide_set((real)0.5)));
    if (law->slack) {
        wide stretch = wide_subtract(length, rest);
        present = wide_both(present,
                            wide_positive(wide_add(wide_multiply(law->side, stretch), law->open)));
    }
    wide push = wide_multiply(wide_multiply(law->stiffness, wide_subtract(rest, length)), length);
    if (damped) {
        wide wx = wide_subtract(n->vx, o->vx);
        wide wy = wide_subtract(n->vy, o->vy);
        wide wz = wide_subtract(n->vz, o->vz);
        push = wide_subtract(push, wide_multiply(law->along, dot(wx, wy, wz, dx, dy, dz)));
        if (law->crosses) {
            wide c = wide_keep(present, law->across);
            n->fx = wide_subtract(n->fx, wide_multiply(c, wx));
            n->fy = wide_subtract(n->fy, wide_multiply(c, wy));
            n->fz = wide_subtract(n->fz, wide_multiply(c, wz));
        }
    }
    wide scale = wide_keep(wide_both(present, wide_positive(square)), wide_divide(push, square));
    n->fx = wide_add(n->fx, wide_multiply(scale, dx));
    n->fy = wide_add(n->fy, wide_multiply(scale, dy));
    n->fz = wide_add(n->fz, wide_multiply(scale, dz));
}

// What the tiles of a system share.
struct view {
    const struct plan_packed *packed;
    const struct spring_constants *materials;
    const real *rest; // by slots
    struct state *state;
    const real *records;
};

struct triple {
    wide x, y, z;
};

WIDE_INLINE struct triple towards(const struct own *n, const struct other *o)
{
    return (struct triple){wide_subtract(n->x, o->x), wide_subtract(n->y, o->y),
                           wide_subtract(n->z, o->z)};
}

// sum += (a - b) x c
WIDE_INLINE void add_product(struct triple *sum, const struct triple *a, const struct triple *b,
                             const struct triple *c)
{
    wide x = wide_subtract(a->x, b->x), y = wide_subtract(a->y, b->y);
    wide z = wide_subtract(a->z, b->z);
    sum->x = wide_add(sum->x, wide_subtract(wide_multiply(y, c->z), wide_multiply(z, c->y)));
    sum->y = wide_add(sum->y, wide_subtract(wide_multiply(z, c->x), wide_multiply(x, c->z)));
    sum->z = wide_add(sum->z, wide_subtract(wide_multiply(x, c->y), wide_multiply(y, c->x)));
}

// The other ends of a column.
WIDE_INLINE struct other read_column(const struct view *v, const struct packed_column *column,
                                     int first_lane, int64_t at, bool damped, bool rings)
{
    if (column->step == 0)
        return read_ends(v->records, v->packed->ends[column->group] + first_lane, damped);
    struct other o = read_step(v->state, at + column->step, damped);
    for (int turn = 0; rings && turn < column->turn_count; turn++) {
        const struct packed_turns *turns = &v->packed->turns[column->group];
        struct other turned = read_step(v->state, at + turns->step[turn], damped);
        o = choose(wide_bits(&turns->lanes[turn], first_lane), &turned, &o);
    }
    return o;
}

// The springs of a column, whose other ends are returned.
WIDE_INLINE struct other add_column(const struct view *v, struct own *n, uint64_t number,
                                    int first_lane, int64_t at, bool damped, bool rings)
{
    const struct packed_column *column = &v->packed->columns[number];
    struct other o = read_column(v, column, first_lane, at, damped, rings);
    wide rest = wide_load(v->rest + number * PACKED_LANES + first_lane);
    struct law law =
        column->material == PACKED_MIXED
            ? mixed_law(v->materials, v->packed->lane_materials[column->mixed] + first_lane)
            : one_law(&v->materials[column->material]);
    add_springs(n, &o, rest, &law, damped);
    return o;
}

// Springs of the columns [c, end) that go round rings, an even number, and
// sum (p_i - p) x (p_{i+1} - p). The products with an odd p_i are taken together, so that there are
// half as many: (p_{i-1} - p_{i+1}) x (p_i - p).
WIDE_INLINE struct triple go_round(const struct view *v, struct own *n, uint64_t begin,
                                   uint64_t end, int first_lane, int64_t at, bool damped)
{
    const wide zero = wide_set(0);
    struct triple sum = {zero, zero, zero};
    struct triple first = sum, before = sum, odd = sum;
    for (uint64_t c = begin; c < end; c += 2) {
        struct other other = add_column(v, n, c, first_lane, at, damped, true);
        struct triple even = towards(n, &other);
        if (c == begin)
            first = even;
        else
            add_product(&sum, &before, &even, &odd);
        before = even;
        other = add_column(v, n, c + 1, first_lane, at, damped, true);
        odd = towards(n, &other);
    }
    add_product(&sum, &before, &first, &odd);
    return sum;
}

// Forces beyond the `left` nodes may be another worker's. `damped` and `rings` are constants
// wherever this is inlined, so that undamped tiles load no velocities.
WIDE_INLINE void add_vector(const struct view *v, uint64_t slice, int first_lane, int64_t at,
                            long left, bool damped, bool rings)
{
    struct state *s = v->state;
    struct other here = read_step(s, at, damped);
    struct own n = {.x = here.x, .y = here.y, .z = here.z};
    n.vx = here.vx;
    n.vy = here.vy;
    n.vz = here.vz;
    n.fx = wide_load_first(s->fx + at, left);
    n.fy = wide_load_first(s->fy + at, left);
    n.fz = wide_load_first(s->fz + at, left);
    uint64_t c = v->packed->slice_columns[slice], end = v->packed->slice_columns[slice + 1];
    if (rings && v->packed->slice_rings[slice] > 0) {
        uint64_t ring_end = c + v->packed->slice_rings[slice];
        struct triple sum = go_round(v, &n, c, ring_end, first_lane, at, damped);
        wide_store_first(s->ax + at, sum.x, left);
        wide_store_first(s->ay + at, sum.y, left);
        wide_store_first(s->az + at, sum.z, left);
        c = ring_end;
    }
    for (; c < end; c++)
        add_column(v, &n, c, first_lane, at, damped, false);
    wide_store_first(s->fx + at, n.fx, left);
    wide_store_first(s->fy + at, n.fy, left);
    wide_store_first(s->fz + at, n.fz, left);
}

WIDE_INLINE void add_slices(const struct view *v, const struct packed_tile *tile, bool damped,
                            bool rings)
{
    for (uint64_t i = 0; i < tile->slice_count; i++) {
        uint64_t done = i * PACKED_LANES;
        long left = (long)(tile->node_count - done);
        for (int lane = 0; lane < PACKED_LANES && lane < left; lane += WIDE_LANES)
            add_vector(v, tile->first_slice + i, lane, (int64_t)(tile->first_node + done) + lane,
                       left - lane, damped, rings);
    }
}

// The same for one spring without a column, at one of its ends.
static void add_late(const struct view *v, uint64_t number)
{
    const struct packed_late *late = &v->packed->late[number];
    const struct spring_constants *material = &v->materials[late->material];
    struct state *s = v->state;
    uint32_t a = late->node, b = late->other;
    real rest = v->rest[v->packed->column_count * PACKED_LANES + number];
    real dx = s->x[a] - s->x[b], dy = s->y[a] - s->y[b], dz = s->z[a] - s->z[b];
    real wx = s->vx[a] - s->vx[b], wy = s->vy[a] - s->vy[b], wz = s->vz[a] - s->vz[b];
    real square = dx * dx + dy * dy + dz * dz, length = real_sqrt(square);
    real side = side_of(material);
    if (rest < 0 || (side != 0 && !(side * (length - rest) > 0)))
        return;
    real push = material->stiffness * (rest - length) * length;
    if (material->damping_law == DAMPING_FULL) {
        s->fx[a] -= material->damping * wx;
        s->fy[a] -= material->damping * wy;
        s->fz[a] -= material->damping * wz;
    } else {
        push -= material->damping * (wx * dx + wy * dy + wz * dz);
    }
    real scale = square > 0 ? push / square : 0;
    s->fx[a] += scale * dx;
    s->fy[a] += scale * dy;
    s->fz[a] += scale * dz;
}

static inline void fill_record(const struct state *s, size_t node, bool damped, real *record)
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

static inline void fill_records(const struct view *v, const struct packed_tile *tile, bool damped,
                                real *records)
{
    const size_t width = damped ? 8 : 4;
    const uint32_t *halo = v->packed->halo + tile->first_halo;
    for (size_t i = 0; i < tile->own_records; i++)
        fill_record(v->state, (size_t)tile->first_node + i, damped, records + width * i);
    records += width * tile->own_records;
    for (size_t i = 0; i < tile->halo_count; i++)
        fill_record(v->state, halo[i], damped, records + width * i);
}

WIDE_INLINE void add_tile(const struct view *v, const struct packed_tile *tile, bool damped,
                          real *records)
{
    fill_records(v, tile, damped, records);
    if (tile->ring_body != 0)
        add_slices(v, tile, damped, true);
    else
        add_slices(v, tile, damped, false);
}

double PACKED_KERNEL(const struct system *system, size_t number)
{
    _Alignas(64) real records[8 * PACKED_LOCAL_MAX];
    const struct plan_packed *packed = &system->plan->packed;
    const struct packed_tile *tile = &packed->tiles[number];
    const struct state *s = system->state;
    struct view v = {packed, system->constants->material,
                     s->slot_rest ? s->slot_rest : system->constants->slot_rest, system->state,
                     records};
    if (tile->damped)
        add_tile(&v, tile, true, records);
    else
        add_tile(&v, tile, false, records);
    for (uint64_t i = 0; i < tile->late_count; i++)
        add_late(&v, tile->first_late + i);
    if (tile->ring_body == 0)
        return 0;
    double origin = (double)s->x[system->topology->bodies[tile->ring_body - 1].first_node];
    return moment_of(s->x + tile->first_node, s->ax + tile->first_node, tile->node_count, origin);
}
