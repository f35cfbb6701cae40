// The springs of a row of a grid as constraints (springs/constraint.h). The kernel body is compiled
// for each instruction set by kernels/table.h; grid/constraints.c determines the order of rows.
//
// Springs to another row share no node, so a register of them is solved at once, with the result of
// solving them one after another. Along a row, every second spring is solved first and then the
// others: the lanes of the others are masked, and the change of velocity at the far end of a spring
// is moved to its lane within the registers, so that no node is loaded right after it was stored.
#include "kernels/kernels.h"
#include "springs/constraint.h"
#include "simd/wide3.h"
#include "springs/law_body.h"

// The first `left` nodes of a register.
struct constraint_nodes {
    struct wide3 v, low; // low: of precision mixed
    wide inverse_mass;
};

// Which springs of a constraint_row a kernel is compiled for.
struct constraint_variant {
    bool general; // not just axially damped linear springs in a single iteration
    bool mixed;   // velocities have low parts
};

WIDE_INLINE struct constraint_nodes constraint_nodes(const struct constraint_row *row, int64_t at,
                                                     long left, bool mixed)
{
    const struct state *s = row->state;
    return (struct constraint_nodes){
        .v = wide3_load_first(s->vx, s->vy, s->vz, at, left),
        .low = mixed ? wide3_load_first(s->vx_low, s->vy_low, s->vz_low, at, left) : wide3_zero(),
        .inverse_mass = wide_load_first(row->inverse_mass + at, left)};
}

// The separation of the ends at the substep's start plus h times their relative velocity.
WIDE_INLINE struct wide3 constraint_separation(const struct constraint_row *row, long i, long left,
                                               const struct wide3 *w)
{
    const struct state *s = row->state;
    const wide h = wide_set(row->law.step);
    const int64_t a = row->a + i, b = row->b + i;
    const struct wide3 d = wide3_subtract(wide3_load_first(s->x, s->y, s->z, a, left),
                                          wide3_load_first(s->x, s->y, s->z, b, left));
    return wide3_add(d, wide3_scale(h, *w));
}

struct constraint_state {
    wide square, length, rest, along, inverse; // along: d.w; inverse: 1/m_a + 1/m_b
    wide rounding; // the error of the length that rounding explains, of a rigid constraint
    wide lambda;
    wide_mask valid; // lanes with an unbroken spring
};

// The change of velocity along d per unit of inverse mass: -(change of lambda) / (h L), masked.
WIDE_INLINE wide constraint_impulse(const struct constraint_row *row,
                                    const struct constraint_state *it, bool general)
{
    const struct constraint_law *law = &row->law;
    wide stretch = wide_subtract(it->length, it->rest);
    if (general && law->rounding > 0)
        stretch = wide_subtract(stretch, it->rounding);
    wide damping = wide_multiply(wide_set(law->damping), it->along);
    wide elastic = wide_multiply(wide_set(law->elastic), stretch);
    if (general && law->one_sided)
        damping = wide_masked(wide_positive(wide_multiply(wide_set(law->side), stretch)), damping);
    if (general)
        elastic = wide_add(elastic, wide_multiply(wide_set(law->compliant), it->lambda));
    wide wanted = wide_add(wide_multiply(elastic, it->length), damping);
    wide weight =
        wide_add(wide_multiply(wide_set(law->weight), it->inverse), wide_set(law->compliant));
    wide divisor = wide_multiply(wide_multiply(weight, wide_set(law->step)), it->square);
    wide pull = wide_divide(wanted, divisor);
    if (general && law->one_sided) {
        // lambda must not get the sign of a force that the spring cannot exert.
        wide side = wide_set(law->side), h_length = wide_multiply(wide_set(law->step), it->length);
        wide least = wide_divide(wide_multiply(side, it->lambda), h_length);
        pull = wide_multiply(side, wide_max(wide_multiply(side, pull), least));
    }
    return wide_masked(wide_mask_and(it->valid, wide_positive(divisor)), pull);
}

WIDE_INLINE wide magnitude_of(wide a)
{
    return wide_max(a, wide_subtract(wide_set(0), a));
}

// The part of |x_a - x_b| - L0 that rounding explains (springs/constraint.h), between -r and r.
WIDE_INLINE wide constraint_rounding(const struct constraint_row *row, long i, long left, wide rest)
{
    const struct state *s = row->state;
    const int64_t a = row->a + i, b = row->b + i;
    const struct wide3 position = wide3_load_first(s->x, s->y, s->z, a, left);
    const struct wide3 d = wide3_subtract(position, wide3_load_first(s->x, s->y, s->z, b, left));
    wide error = wide_subtract(wide_sqrt(wide3_dot(d, d)), rest);
    wide size = wide_add(wide_add(magnitude_of(position.x), magnitude_of(position.y)),
                         wide_add(magnitude_of(position.z), rest));
    wide most = wide_multiply(wide_set(row->law.rounding), size);
    wide least = wide_subtract(wide_set(0), most);
    wide below = wide_max(wide_subtract(wide_set(0), error), least); // -min(error, most)
    return wide_max(wide_subtract(wide_set(0), below), least);
}

WIDE_INLINE wide_mask constraint_valid(const struct constraint_row *row, long i, wide_mask selected,
                                       bool general)
{
    if (general && row->broken)
        return wide_mask_and(selected, wide_unbroken(row->broken + i, row->count - i));
    return selected;
}

// The full law also damps the part of w perpendicular to the spring, once per substep, as an
// implicit step does: -c h (w - u (u.w)) / (1 + c h (1/m_a + 1/m_b)).
WIDE_INLINE void constraint_damp_across(const struct constraint_row *row,
                                        const struct constraint_state *it, const struct wide3 *d,
                                        const struct wide3 *w, struct wide3 *change)
{
    const struct constraint_law *law = &row->law;
    wide stretch = wide_multiply(wide_set(law->side), wide_subtract(it->length, it->rest));
    wide_mask acts = law->one_sided ? wide_mask_and(it->valid, wide_positive(stretch)) : it->valid;
    wide parallel = wide_masked(wide_positive(it->square), wide_divide(it->along, it->square));
    wide share =
        wide_divide(wide_set(law->across),
                    wide_add(wide_set(1), wide_multiply(wide_set(law->across), it->inverse)));
    share = wide_masked(acts, share);
    *change = wide3_add(*change, wide3_scale(share, wide3_subtract(*w, wide3_scale(parallel, *d))));
}

// Solves the selected lanes from spring i on. Returns the change of velocity per unit of inverse
// mass, to be subtracted at the near ends and added at the far ends.
WIDE_INLINE struct wide3 constraint_solve(const struct constraint_row *row, long i,
                                          wide_mask selected, bool starts,
                                          const struct constraint_nodes *a,
                                          const struct constraint_nodes *b, bool general)
{
    const long left = row->count - i;
    const struct wide3 w = wide3_subtract(a->v, b->v);
    const struct wide3 d = constraint_separation(row, i, left, &w);
    struct constraint_state it = {.square = wide3_dot(d, d), .along = wide3_dot(d, w)};
    it.length = wide_sqrt(it.square);
    it.rest = general && row->rest_lengths ? wide_load_first(row->rest_lengths + i, left)
                                           : wide_set(row->rest_length);
    it.inverse = wide_add(a->inverse_mass, b->inverse_mass);
    if (general && row->law.rounding > 0)
        it.rounding = constraint_rounding(row, i, left, it.rest);
    it.valid = constraint_valid(row, i, selected, general);
    it.lambda = general && row->multipliers && !starts ? wide_load_first(row->multipliers + i, left)
                                                       : wide_set(0);
    wide pull = constraint_impulse(row, &it, general);
    if (general && row->multipliers) {
        wide h_length = wide_multiply(wide_set(row->law.step), it.length);
        wide_store_first(row->multipliers + i,
                         wide_subtract(it.lambda, wide_multiply(pull, h_length)),
                         left < WIDE_LANES ? left : WIDE_LANES);
    }
    struct wide3 change = wide3_scale(pull, d);
    if (general && row->first && row->law.across > 0)
        constraint_damp_across(row, &it, &d, &w, &change);
    return change;
}

WIDE_INLINE void constraint_store(const struct constraint_row *row, int64_t at,
                                  const struct constraint_nodes *n, long left, bool mixed)
{
    const struct state *s = row->state;
    long count = left < WIDE_LANES ? left : WIDE_LANES;
    wide3_store_first(s->vx, s->vy, s->vz, at, n->v, count);
    if (mixed)
        wide3_store_first(s->vx_low, s->vy_low, s->vz_low, at, n->low, count);
}

// real_accumulate (base/real.h) of a component.
WIDE_INLINE void constraint_accumulate(wide *high, wide *low, wide increment)
{
    const struct wide_sum sum = accumulate((struct wide_sum){*high, *low}, increment);
    *high = sum.high;
    *low = sum.low;
}

// v += change / m, or v -= change / m if it `slows`.
WIDE_INLINE void constraint_change(struct constraint_nodes *n, const struct wide3 *change,
                                   bool slows, bool mixed)
{
    struct wide3 increment = wide3_scale(n->inverse_mass, *change);
    if (mixed) {
        if (slows)
            increment = wide3_subtract(wide3_zero(), increment);
        constraint_accumulate(&n->v.x, &n->low.x, increment.x);
        constraint_accumulate(&n->v.y, &n->low.y, increment.y);
        constraint_accumulate(&n->v.z, &n->low.z, increment.z);
    } else {
        n->v = slows ? wide3_subtract(n->v, increment) : wide3_add(n->v, increment);
    }
}

// Springs to another row: a register of them at once.
WIDE_INLINE void solve_across_rows(const struct constraint_row *row,
                                   struct constraint_variant variant)
{
    const bool mixed = variant.mixed;
    for (long i = 0; i < row->count; i += WIDE_LANES) {
        long left = row->count - i;
        struct constraint_nodes a = constraint_nodes(row, row->a + i, left, mixed);
        struct constraint_nodes b = constraint_nodes(row, row->b + i, left, mixed);
        struct wide3 change =
            constraint_solve(row, i, wide_lane_range(0, left), row->first, &a, &b, variant.general);
        constraint_change(&a, &change, true, mixed);
        constraint_change(&b, &change, false, mixed);
        constraint_store(row, row->a + i, &a, left, mixed);
        constraint_store(row, row->b + i, &b, left, mixed);
    }
}

// Every second spring along a row (every second pair, if springs join nodes 2 apart), the even ones
// in turn 0 and the odd ones in turn 1.
WIDE_INLINE void solve_alternate(const struct constraint_row *row, int turn,
                                 struct constraint_variant variant)
{
    static const uint32_t turns[2][2] = {{0x55555555, 0xaaaaaaaa}, {0x33333333, 0xcccccccc}};
    const uint32_t *bits = &turns[row->along - 1][turn];
    const long nodes = row->count + row->along;
    struct wide3 before = wide3_zero();
    for (long i = 0; i < nodes; i += WIDE_LANES) {
        struct constraint_nodes a = constraint_nodes(row, row->a + i, nodes - i, variant.mixed);
        struct wide3 change = wide3_zero(), shifted;
        if (i < row->count) {
            struct constraint_nodes b = constraint_nodes(row, row->b + i, row->count - i, false);
            wide_mask selected =
                wide_mask_and(wide_mask_load(bits, i % 32), wide_lane_range(0, row->count - i));
            change = constraint_solve(row, i, selected, row->first && turn == 0, &a, &b,
                                      variant.general);
        }
        shifted = wide3_shift_up(before, change, row->along);
        constraint_change(&a, &change, true, variant.mixed);
        constraint_change(&a, &shifted, false, variant.mixed);
        constraint_store(row, row->a + i, &a, nodes - i, variant.mixed);
        before = change;
    }
}

WIDE_INLINE void solve_row(const struct constraint_row *row, struct constraint_variant variant)
{
    if (row->along == 0)
        solve_across_rows(row, variant);
    for (int turn = 0; turn < 2 && row->along > 0; turn++)
        solve_alternate(row, turn, variant);
}

static void grid_constraints(const struct constraint_row *given)
{
    const struct constraint_row own = *given, *row = &own; // a copy, which no store can alias
    const bool general = row->multipliers || row->broken || row->rest_lengths ||
                         row->law.one_sided || row->law.across > 0 || row->law.rounding > 0;
    if (state_is_mixed(row->state))
        solve_row(row, (struct constraint_variant){.general = true, .mixed = true});
    else if (general)
        solve_row(row, (struct constraint_variant){.general = true});
    else
        solve_row(row, (struct constraint_variant){.general = false});
}
