// The springs of a row of a grid as links (links.h). The body of a kernel that is compiled for each
// instruction set; the thin file that includes this, after grid_strain_body.h, defines
// TAUT_WIDE_ISA and GRID_NAME.
//
// Springs to another row share no node, so that a register of them is solved at once and gives what
// one after the other would. Of springs along a row every second one is solved, and then the
// others: lanes of the others are masked, and what a spring does to its far end is moved there
// within the registers, so that no node is loaded again which has just been stored.
#include "kernels/links.h"
#include "kernels/kernels.h"
#include "simd/wide_flags.h"

struct link_wide {
    wide x, y, z;
};

// Nodes, their first `left`.
struct link_nodes {
    struct link_wide v;
    wide inverse_mass;
};

// Which springs of a link_row a kernel is compiled for.
struct link_variant {
    bool along, rich; // rich: anything but linear springs in the only iteration, damped axially
};

WIDE_INLINE struct link_nodes link_nodes(const struct link_row *row, int64_t at, long left)
{
    const struct state *s = row->state;
    return (struct link_nodes){{wide_load_first(s->vx + at, left),
                                wide_load_first(s->vy + at, left),
                                wide_load_first(s->vz + at, left)},
                               wide_load_first(row->inverse_mass + at, left)};
}

WIDE_INLINE wide link_dot(const struct link_wide *p, const struct link_wide *q)
{
    return wide_add(wide_add(wide_multiply(p->x, q->x), wide_multiply(p->y, q->y)),
                    wide_multiply(p->z, q->z));
}

// Where the ends lie apart at the substep's start plus h times what parts them.
WIDE_INLINE struct link_wide link_reach(const struct link_row *row, long i, long left,
                                        const struct link_wide *w)
{
    const struct state *s = row->state;
    const wide h = wide_set(row->law.step);
    const int64_t a = row->a + i, b = row->b + i;
    return (struct link_wide){
        wide_add(wide_subtract(wide_load_first(s->x + a, left), wide_load_first(s->x + b, left)),
                 wide_multiply(h, w->x)),
        wide_add(wide_subtract(wide_load_first(s->y + a, left), wide_load_first(s->y + b, left)),
                 wide_multiply(h, w->y)),
        wide_add(wide_subtract(wide_load_first(s->z + a, left), wide_load_first(s->z + b, left)),
                 wide_multiply(h, w->z))};
}

struct link_state {
    wide square, length, rest, along, inverse; // along: d.w; inverse: 1/m_a + 1/m_b
    wide rounding; // of the length at the substep's start, of a rigid link
    wide lambda;
    wide_mask valid; // is there, is whole
};

// What the ends get along d, for each unit of inverse mass: -(change of lambda) / (h L), masked.
WIDE_INLINE wide link_pull(const struct link_row *row, const struct link_state *it, bool rich)
{
    const struct link_law *law = &row->law;
    wide stretch = wide_subtract(it->length, it->rest);
    if (rich && law->rounding > 0)
        stretch = wide_subtract(stretch, it->rounding);
    wide damping = wide_multiply(wide_set(law->damping), it->along);
    wide elastic = wide_multiply(wide_set(law->elastic), stretch);
    if (rich && law->one_sided)
        damping = wide_keep(wide_positive(wide_multiply(wide_set(law->side), stretch)), damping);
    if (rich)
        elastic = wide_add(elastic, wide_multiply(wide_set(law->give), it->lambda));
    wide wanted = wide_add(wide_multiply(elastic, it->length), damping);
    wide weight = wide_add(wide_multiply(wide_set(law->weight), it->inverse), wide_set(law->give));
    wide divisor = wide_multiply(wide_multiply(weight, wide_set(law->step)), it->square);
    wide pull = wide_divide(wanted, divisor);
    if (rich && law->one_sided) {
        // lambda never gets the sign of what the spring cannot do.
        wide side = wide_set(law->side), h_length = wide_multiply(wide_set(law->step), it->length);
        wide least = wide_divide(wide_multiply(side, it->lambda), h_length);
        pull = wide_multiply(side, wide_max(wide_multiply(side, pull), least));
    }
    return wide_keep(wide_both(it->valid, wide_positive(divisor)), pull);
}

WIDE_INLINE wide link_size(wide a)
{
    return wide_max(a, wide_subtract(wide_set(0), a));
}

// The part of |x_a - x_b| - L0 that rounding explains (links.h): between -r and r.
WIDE_INLINE wide link_rounding(const struct link_row *row, long i, long left, wide rest)
{
    const struct state *s = row->state;
    const int64_t a = row->a + i, b = row->b + i;
    const struct link_wide place = {wide_load_first(s->x + a, left),
                                    wide_load_first(s->y + a, left),
                                    wide_load_first(s->z + a, left)};
    const struct link_wide d = {wide_subtract(place.x, wide_load_first(s->x + b, left)),
                                wide_subtract(place.y, wide_load_first(s->y + b, left)),
                                wide_subtract(place.z, wide_load_first(s->z + b, left))};
    wide error = wide_subtract(wide_sqrt(link_dot(&d, &d)), rest);
    wide size = wide_add(wide_add(link_size(place.x), link_size(place.y)),
                         wide_add(link_size(place.z), rest));
    wide most = wide_multiply(wide_set(row->law.rounding), size);
    wide least = wide_subtract(wide_set(0), most);
    wide below = wide_max(wide_subtract(wide_set(0), error), least); // -min(error, most)
    return wide_max(wide_subtract(wide_set(0), below), least);
}

WIDE_INLINE wide_mask link_valid(const struct link_row *row, long i, wide_mask chosen, bool rich)
{
    if (rich && row->broken)
        return wide_both(chosen, unbroken_first(row->broken + i, row->count - i));
    return chosen;
}

// The full law damps what of w lies across the spring by itself, once a substep: -c h (w - u
// (u.w)), as an implicit step gives it.
WIDE_INLINE void link_add_across(const struct link_row *row, const struct link_state *it,
                                 const struct link_wide *d, const struct link_wide *w,
                                 struct link_wide *change)
{
    const struct link_law *law = &row->law;
    wide stretch = wide_multiply(wide_set(law->side), wide_subtract(it->length, it->rest));
    wide_mask acts = law->one_sided ? wide_both(it->valid, wide_positive(stretch)) : it->valid;
    wide parallel = wide_keep(wide_positive(it->square), wide_divide(it->along, it->square));
    wide share =
        wide_divide(wide_set(law->across),
                    wide_add(wide_set(1), wide_multiply(wide_set(law->across), it->inverse)));
    share = wide_keep(acts, share);
    change->x = wide_add(change->x,
                         wide_multiply(share, wide_subtract(w->x, wide_multiply(parallel, d->x))));
    change->y = wide_add(change->y,
                         wide_multiply(share, wide_subtract(w->y, wide_multiply(parallel, d->y))));
    change->z = wide_add(change->z,
                         wide_multiply(share, wide_subtract(w->z, wide_multiply(parallel, d->z))));
}

// Solves the chosen lanes from spring i on: what the near ends lose of velocity and the far ones
// get, for each unit of inverse mass.
WIDE_INLINE struct link_wide link_solve(const struct link_row *row, long i, wide_mask chosen,
                                        bool starts, const struct link_nodes *a,
                                        const struct link_nodes *b, bool rich)
{
    const long left = row->count - i;
    const struct link_wide w = {wide_subtract(a->v.x, b->v.x), wide_subtract(a->v.y, b->v.y),
                                wide_subtract(a->v.z, b->v.z)};
    const struct link_wide d = link_reach(row, i, left, &w);
    struct link_state it = {.square = link_dot(&d, &d), .along = link_dot(&d, &w)};
    it.length = wide_sqrt(it.square);
    it.rest = rich && row->rest_lengths ? wide_load_first(row->rest_lengths + i, left)
                                        : wide_set(row->rest_length);
    it.inverse = wide_add(a->inverse_mass, b->inverse_mass);
    if (rich && row->law.rounding > 0)
        it.rounding = link_rounding(row, i, left, it.rest);
    it.valid = link_valid(row, i, chosen, rich);
    it.lambda = rich && row->multipliers && !starts ? wide_load_first(row->multipliers + i, left)
                                                    : wide_set(0);
    wide pull = link_pull(row, &it, rich);
    if (rich && row->multipliers) {
        wide h_length = wide_multiply(wide_set(row->law.step), it.length);
        wide_store_first(row->multipliers + i,
                         wide_subtract(it.lambda, wide_multiply(pull, h_length)),
                         left < WIDE_LANES ? left : WIDE_LANES);
    }
    struct link_wide change = {wide_multiply(pull, d.x), wide_multiply(pull, d.y),
                               wide_multiply(pull, d.z)};
    if (rich && row->first && row->law.across > 0)
        link_add_across(row, &it, &d, &w, &change);
    return change;
}

WIDE_INLINE void link_store(const struct link_row *row, int64_t at, const struct link_wide *v,
                            long left)
{
    const struct state *s = row->state;
    long count = left < WIDE_LANES ? left : WIDE_LANES;
    wide_store_first(s->vx + at, v->x, count);
    wide_store_first(s->vy + at, v->y, count);
    wide_store_first(s->vz + at, v->z, count);
}

// v + sign change / m
WIDE_INLINE struct link_wide link_less(const struct link_nodes *n, const struct link_wide *change)
{
    return (struct link_wide){wide_subtract(n->v.x, wide_multiply(n->inverse_mass, change->x)),
                              wide_subtract(n->v.y, wide_multiply(n->inverse_mass, change->y)),
                              wide_subtract(n->v.z, wide_multiply(n->inverse_mass, change->z))};
}

WIDE_INLINE struct link_wide link_more(const struct link_wide *v, wide inverse_mass,
                                       const struct link_wide *change)
{
    return (struct link_wide){wide_add(v->x, wide_multiply(inverse_mass, change->x)),
                              wide_add(v->y, wide_multiply(inverse_mass, change->y)),
                              wide_add(v->z, wide_multiply(inverse_mass, change->z))};
}

WIDE_INLINE void links_to_other_row(const struct link_row *row, bool rich)
{
    for (long i = 0; i < row->count; i += WIDE_LANES) {
        long left = row->count - i;
        struct link_nodes a = link_nodes(row, row->a + i, left);
        struct link_nodes b = link_nodes(row, row->b + i, left);
        struct link_wide change = link_solve(row, i, wide_lanes(0, left), row->first, &a, &b, rich);
        struct link_wide slower = link_less(&a, &change);
        struct link_wide faster = link_more(&b.v, b.inverse_mass, &change);
        link_store(row, row->a + i, &slower, left);
        link_store(row, row->b + i, &faster, left);
    }
}

// Every second spring, or pair of springs, along the row, from the `turn`-th on.
WIDE_INLINE void links_in_turn(const struct link_row *row, int turn, bool rich)
{
    static const uint32_t turns[2][2] = {{0x55555555, 0xaaaaaaaa}, {0x33333333, 0xcccccccc}};
    const uint32_t *bits = &turns[row->along - 1][turn];
    const long nodes = row->count + row->along;
    struct link_wide before = {wide_set(0), wide_set(0), wide_set(0)};
    for (long i = 0; i < nodes; i += WIDE_LANES) {
        struct link_nodes a = link_nodes(row, row->a + i, nodes - i);
        struct link_wide change = {wide_set(0), wide_set(0), wide_set(0)}, behind;
        if (i < row->count) {
            struct link_nodes b = link_nodes(row, row->b + i, row->count - i);
            wide_mask chosen = wide_both(wide_bits(bits, i % 32), wide_lanes(0, row->count - i));
            change = link_solve(row, i, chosen, row->first && turn == 0, &a, &b, rich);
        }
        if (row->along == 1)
            behind = (struct link_wide){wide_behind_1(before.x, change.x),
                                        wide_behind_1(before.y, change.y),
                                        wide_behind_1(before.z, change.z)};
        else
            behind = (struct link_wide){wide_behind_2(before.x, change.x),
                                        wide_behind_2(before.y, change.y),
                                        wide_behind_2(before.z, change.z)};
        struct link_wide v = link_less(&a, &change);
        v = link_more(&v, a.inverse_mass, &behind);
        link_store(row, row->a + i, &v, nodes - i);
        before = change;
    }
}

void GRID_NAME(grid_links)(const struct link_row *given)
{
    const struct link_row own = *given, *row = &own; // a copy, which no store can change
    bool rich = row->multipliers || row->broken || row->rest_lengths || row->law.one_sided ||
                row->law.across > 0 || row->law.rounding > 0;
    if (row->along == 0 && !rich) {
        links_to_other_row(row, false);
    } else if (row->along == 0) {
        links_to_other_row(row, true);
    } else {
        for (int turn = 0; turn < 2 && !rich; turn++)
            links_in_turn(row, turn, false);
        for (int turn = 0; turn < 2 && rich; turn++)
            links_in_turn(row, turn, true);
    }
}
