// Products with the tangent of packed springs (springs/tangent.h, packed/plan.h), a tile at a time.
// The loops are those of the forces (packed/force_body.h), with the input vector in place of the
// velocities. 1 / L is computed in each product, because most of the time goes into gathering,
// beside which the root and the division cost little. The kernel body is compiled for each
// instruction set by kernels/table.h.
#include "kernels/kernels.h"
#include "springs/tangent_row.h"
#include "simd/wide.h"
#include "springs/law_body.h"

// The materials of a register of springs. `side` is as spring_side returns it, `open` is 1 -
// |side|.
struct tangent_law {
    wide elastic, along, across, side, open;
    bool slack; // some spring may be slack
};

struct law_numbers {
    real elastic, along, across, side;
};

static struct law_numbers law_numbers(const struct tangent_product *product,
                                      const struct spring_constants *material)
{
    real elastic = product->stiffness * material->stiffness;
    real damping = product->damping * material->damping;
    real side = spring_side(material->law);
    return (struct law_numbers){elastic, elastic + damping,
                                material->damping_law == DAMPING_FULL ? damping : 0, side};
}

WIDE_INLINE struct tangent_law one_tangent_law(const struct tangent_product *product,
                                               const struct spring_constants *material)
{
    struct law_numbers n = law_numbers(product, material);
    return (struct tangent_law){
        wide_set(n.elastic),           wide_set(n.along), wide_set(n.across), wide_set(n.side),
        wide_set(1 - n.side * n.side), n.side != 0};
}

static struct tangent_law mixed_tangent_law(const struct tangent_product *product,
                                            const struct spring_constants *materials,
                                            const uint32_t *lanes)
{
    real value[5][WIDE_LANES];
    bool slack = false;
    for (int l = 0; l < WIDE_LANES; l++) {
        struct law_numbers n = law_numbers(product, &materials[lanes[l]]);
        value[0][l] = n.elastic;
        value[1][l] = n.along;
        value[2][l] = n.across;
        value[3][l] = n.side;
        value[4][l] = 1 - n.side * n.side;
        slack |= n.side != 0;
    }
    return (struct tangent_law){wide_load(value[0]), wide_load(value[1]), wide_load(value[2]),
                                wide_load(value[3]), wide_load(value[4]), slack};
}

// The data that all registers of a tile share.
struct tangent_view {
    const struct plan_packed *packed;
    const struct spring_constants *materials;
    const real *rest; // by slot
    const struct tangent_product *product;
    struct tangent_sources sources;
    const real *records;
};

// Adds the springs of a column. Lanes without a spring (rest < 0) or with a slack one contribute
// nothing. A spring of length 0 has no direction and contributes its stiffness in all of them.
WIDE_INLINE void add_packed(struct tangent_row *row, const struct tangent_ends *o, wide rest,
                            const struct tangent_law *law, real floor)
{
    struct tangent_ends d = tangent_apart(row, o);
    wide square = wide_add(wide_add(wide_multiply(d.x, d.x), wide_multiply(d.y, d.y)),
                           wide_multiply(d.z, d.z));
    wide length = wide_sqrt(square);
    wide_mask present = wide_positive(wide_add(rest, wide_set((real)0.5)));
    if (law->slack) {
        wide stretch = wide_subtract(length, rest);
        present = wide_mask_and(present, wide_not_slack(law->side, law->open, stretch));
    }
    wide inverse = wide_masked(wide_positive(wide_subtract(square, wide_set(REAL_TINY))),
                               wide_divide(wide_set(1), length));
    struct tangent_coefficients c = tangent_coefficients(
        inverse, wide_multiply(rest, inverse), law->elastic, law->along, law->across, floor);
    c.across = wide_masked(present, c.across);
    c.more = wide_masked(present, c.more);
    tangent_add(row, &d, &c);
}

WIDE_INLINE struct tangent_ends ends_of_column(const struct tangent_view *v,
                                               const struct packed_column *column, int first_lane,
                                               int64_t at)
{
    struct tangent_ends o = {.x = wide_set(0)};
    if (column->step == 0) {
        wide_records_8(v->records, v->packed->ends[column->group] + first_lane, &o.x, &o.y, &o.z,
                       &o.px, &o.py, &o.pz);
        return o;
    }
    o = tangent_ends_at(&v->sources, at + column->step, false);
    for (int alternative = 0; alternative < column->alternative_count; alternative++) {
        const struct packed_alternatives *alternatives = &v->packed->alternatives[column->group];
        struct tangent_ends t =
            tangent_ends_at(&v->sources, at + alternatives->step[alternative], false);
        wide_mask mask = wide_mask_load(&alternatives->lanes[alternative], first_lane);
        o = (struct tangent_ends){wide_blend(mask, t.x, o.x),   wide_blend(mask, t.y, o.y),
                                  wide_blend(mask, t.z, o.z),   wide_blend(mask, t.px, o.px),
                                  wide_blend(mask, t.py, o.py), wide_blend(mask, t.pz, o.pz)};
    }
    return o;
}

// The rows of a register of nodes. Rows after the `left` ones may be another worker's.
static void multiply_packed(const struct tangent_view *v, uint64_t chunk, int first_lane,
                            int64_t at, long left)
{
    const struct tangent_product *product = v->product;
    struct tangent_row row = tangent_row_at(&v->sources, at, false);
    for (uint64_t c = v->packed->chunk_columns[chunk]; c < v->packed->chunk_columns[chunk + 1];
         c++) {
        const struct packed_column *column = &v->packed->columns[c];
        struct tangent_ends o = ends_of_column(v, column, first_lane, at);
        wide rest = wide_load(v->rest + c * PACKED_LANES + first_lane);
        struct tangent_law law =
            column->material == PACKED_MIXED
                ? mixed_tangent_law(product, v->materials,
                                    v->packed->lane_materials[column->mixed] + first_lane)
                : one_tangent_law(product, &v->materials[column->material]);
        add_packed(&row, &o, rest, &law, product->floor);
    }
    tangent_row_store(&v->sources, at, &row, left);
}

// Adds a spring in no column, at one of its ends.
static void multiply_overflow(const struct tangent_view *v, uint64_t number)
{
    const struct packed_overflow *overflow = &v->packed->overflow[number];
    const struct tangent_sources *s = &v->sources;
    struct law_numbers law = law_numbers(v->product, &v->materials[overflow->material]);
    uint32_t a = overflow->node, b = overflow->other;
    real rest = v->rest[v->packed->column_count * PACKED_LANES + number];
    real dx = s->x[a] - s->x[b], dy = s->y[a] - s->y[b], dz = s->z[a] - s->z[b];
    real px = s->px[a] - s->px[b], py = s->py[a] - s->py[b], pz = s->pz[a] - s->pz[b];
    real square = dx * dx + dy * dy + dz * dz, length = real_sqrt(square);
    if (rest < 0 ||
        spring_is_slack(&v->materials[overflow->material], (double)length, (double)rest))
        return;
    real inverse = square > REAL_TINY ? 1 / length : 0;
    real sideways = 1 - rest * inverse;
    sideways = sideways > v->product->floor ? sideways : v->product->floor;
    real across = law.elastic * sideways + law.across;
    real along = (law.along - across) * (inverse * inverse) * (px * dx + py * dy + pz * dz);
    s->fx[a] += across * px + along * dx;
    s->fy[a] += across * py + along * dy;
    s->fz[a] += across * pz + along * dz;
}

static inline void fill_tangent_record(const struct tangent_sources *s, size_t node, real *record)
{
    record[0] = s->x[node];
    record[1] = s->y[node];
    record[2] = s->z[node];
    record[3] = 0;
    record[4] = s->px[node];
    record[5] = s->py[node];
    record[6] = s->pz[node];
    record[7] = 0;
}

static void packed_tangent(const struct system *system, const struct tangent_product *product,
                           size_t number)
{
    _Alignas(64) real records[8 * PACKED_LOCAL_MAX];
    const struct plan_packed *packed = &system->plan->packed;
    const struct packed_tile *tile = &packed->tiles[number];
    const struct state *s = system->state;
    const struct tangent_view v = {packed,
                                   system->constants->material,
                                   s->slot_rest ? s->slot_rest : system->constants->slot_rest,
                                   product,
                                   tangent_sources(product, 0, (int64_t)s->nodes),
                                   records};
    for (size_t i = 0; i < tile->own_records; i++)
        fill_tangent_record(&v.sources, (size_t)tile->first_node + i, records + 8 * i);
    for (size_t i = 0; i < tile->halo_count; i++)
        fill_tangent_record(&v.sources, packed->halo[tile->first_halo + i],
                            records + 8 * (tile->own_records + i));
    for (uint64_t i = 0; i < tile->sell_chunk_count; i++) {
        uint64_t done = i * PACKED_LANES;
        long left = (long)(tile->node_count - done);
        for (int lane = 0; lane < PACKED_LANES && lane < left; lane += WIDE_LANES)
            multiply_packed(&v, tile->first_chunk + i, lane,
                            (int64_t)(tile->first_node + done) + lane, left - lane);
    }
    for (uint64_t i = 0; i < tile->overflow_count; i++)
        multiply_overflow(&v, tile->first_overflow + i);
}
