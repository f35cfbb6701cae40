// The force kernels of springs on a grid (rope, cloth, lattice): the passes of a sweep (sweep.h),
// and the kernels that finish nodes, measure the power of damping and find overstrained springs. No
// list of springs is read, and each spring is computed once. A pass treats the rows of a chunk as
// one line of nodes, a register at a time; springs that would leave a row are masked, as are broken
// and slack springs. For three springs to one row, at -s, 0 and s along it, the reactions are
// brought together by shifting them along the row within registers, and are added to that row's
// forces once, one register later. Which rows and passes are computed is decided in grid/sweep.c.
//
// Every element goes through the same operations at every register width, so the bits are the same.
// Lanes after the last node of a range are read but never written, and no other worker writes them
// at that time (boundary_first, boundary_last). The kernel body is compiled for each instruction
// set by kernels/table.h.
#include "base/sort.h"
#include "kernels/kernels.h"
#include "springs/grid/sweep.h"
#include "simd/wide3.h"
#include "springs/law_body.h"

// ---- Sums of the energy budget (struct power_sums)
//
// Position i of a range is summed in lane i % POWER_LANES, so that the order of the sums is the
// same for every register width. A few additions are made in the precision of the run before the
// sum in double, which takes several instructions.

// Adds a register of powers, from position i on, a multiple of WIDE_LANES.
WIDE_INLINE void power_add(struct power_sums *sums, enum power_column column, long i, wide power)
{
    const long lane = (int)WIDE_LANES == (int)POWER_LANES ? 0 : i % POWER_LANES;
    real *const to = sums->partial[column] + lane;
    wide_store(to, wide_add(wide_load(to), power));
}

WIDE_INLINE void power_flush(struct power_sums *sums, enum power_column column)
{
    for (int lane = 0; lane < POWER_LANES; lane += WIDE_LANES) {
        wide_add_to(sums->lanes[column] + lane, wide_load(sums->partial[column] + lane));
        wide_store(sums->partial[column] + lane, wide_set(0));
    }
}

// Whether a loop must flush before it adds at position i.
WIDE_INLINE bool power_is_full(long i)
{
    return i % POWER_FLUSH == 0;
}

static inline void power_flush_all(struct power_sums *sums)
{
    for (int column = 0; column < POWER_COLUMNS; column++)
        power_flush(sums, (enum power_column)column);
}

// ---- Springs

// Positions and velocities of a register of nodes.
struct own_nodes {
    struct wide3 x, v;
};

// Copies of the pointers that a pass reads: vector stores may alias anything, so pointers in memory
// would be read again after each.
struct sources {
    const real *x, *y, *z, *vx, *vy, *vz;
};

static inline struct sources sources_of(const struct pass_range *range)
{
    const struct state *s = range->state;
    const int64_t n = range->first;
    return (struct sources){s->x + n, s->y + n, s->z + n, s->vx + n, s->vy + n, s->vz + n};
}

WIDE_INLINE struct own_nodes load_own(const struct sources *s, long i, enum sweep_damping damping)
{
    return (struct own_nodes){
        .x = wide3_load(s->x, s->y, s->z, i),
        .v = damping != UNDAMPED ? wide3_load(s->vx, s->vy, s->vz, i) : wide3_zero(),
    };
}

// The variant of a pass, constant wherever it is inlined: undamped springs load no velocities, and
// only passes with springs that break, yield or go slack, or whose constants vary along a row
// (`special`) test for these. `powers`: the power of the damping is measured.
// `elements`: those of a cloth are computed too (cloth_body.h), with their areas or without.
struct variant {
    enum sweep_damping damping;
    bool special, powers, elements, areas;
};

// The power of a spring's damping is over / under, so that the springs of a node share one
// division. With the full law it is `over`.
struct fraction {
    wide over, under;
};

// Those of the lanes with a partner whose spring is neither broken nor slack at this length.
WIDE_INLINE wide_mask active(const struct sweep_spring *spring, const struct row_state *row_state,
                             long i, wide_mask exists, wide rest, wide length)
{
    if (row_state->broken)
        exists = wide_mask_and(exists, wide_mask_zero_bytes(row_state->broken + i));
    if (spring->side != 0)
        exists = wide_mask_and(exists, wide_not_slack(wide_set(spring->side), wide_set(0),
                                                      wide_subtract(length, rest)));
    return exists;
}

// The positions of a register of nodes minus those of other nodes, and the same of velocities if
// damped.
struct separation {
    struct wide3 d, w;
};

WIDE_INLINE struct separation separation_to(const struct sources *s, const struct own_nodes *own,
                                            int64_t other, enum sweep_damping damping)
{
    struct separation apart = {
        .d = wide3_subtract(own->x, wide3_load(s->x, s->y, s->z, other)),
        .w = own->v,
    };
    if (damping != UNDAMPED)
        apart.w = wide3_subtract(own->v, wide3_load(s->vx, s->vy, s->vz, other));
    return apart;
}

// F = k (L0 - L) / L d - c (w.d) / L^2 d with one division by L^2 for both terms; with the full law
// the second term is - c w. At L = 0 the numerator is 0, and so is the force along d. `i`: the
// position of the first node.
//
// The force is computed in three stages, so that square roots and divisions of several springs of
// the same nodes can overlap: the operations of one spring depend on each other, and those of the
// next spring are too far ahead for the instruction window of a core.
struct force_stages {
    struct wide3 d, w;
    wide square, length; // L^2 and L
    wide scale;          // the force is scale * d, and with the full law - c w
    wide_mask exists;
};

WIDE_INLINE void force_length(struct force_stages *it)
{
    it->square = wide3_dot(it->d, it->d);
    it->length = wide_sqrt(it->square);
}

// Stiffness or damping of the springs of a register.
WIDE_INLINE wide constant_at(real constant, const struct row_state *row_state, long i,
                             struct variant variant)
{
    const wide of_all = wide_set(constant);
    if (variant.special && row_state->shares)
        return wide_multiply(of_all, wide_load(row_state->shares + i));
    return of_all;
}

WIDE_INLINE void force_scale(struct force_stages *it, long i, const struct sweep_spring *spring,
                             const struct row_state *row_state, struct variant variant,
                             struct fraction *power)
{
    wide rest = wide_set(spring->rest_length);
    if (variant.special) {
        if (row_state->rest_length)
            rest = wide_load(row_state->rest_length + i);
        it->exists = active(spring, row_state, i, it->exists, rest, it->length);
    }
    wide force = wide_multiply(wide_multiply(constant_at(spring->stiffness, row_state, i, variant),
                                             wide_subtract(rest, it->length)),
                               it->length);
    const wide square = wide_max(it->square, wide_set(REAL_TINY));
    if (variant.damping == DAMPED_AXIAL) {
        const wide along = wide3_dot(it->w, it->d);
        const wide damped =
            wide_multiply(constant_at(spring->damping, row_state, i, variant), along);
        force = wide_subtract(force, damped);
        if (variant.powers)
            *power = (struct fraction){wide_multiply_where(it->exists, damped, along), square};
    }
    it->scale = wide_divide(force, square);
}

WIDE_INLINE struct wide3 force_vector(const struct force_stages *it, long i,
                                      const struct sweep_spring *spring,
                                      const struct row_state *row_state, struct variant variant,
                                      struct fraction *power)
{
    struct wide3 f = {wide_multiply_where(it->exists, it->scale, it->d.x),
                      wide_multiply_where(it->exists, it->scale, it->d.y),
                      wide_multiply_where(it->exists, it->scale, it->d.z)};
    if (variant.damping == DAMPED_FULL) {
        const wide c = constant_at(spring->damping, row_state, i, variant);
        f.x = wide_subtract(f.x, wide_multiply_where(it->exists, c, it->w.x));
        f.y = wide_subtract(f.y, wide_multiply_where(it->exists, c, it->w.y));
        f.z = wide_subtract(f.z, wide_multiply_where(it->exists, c, it->w.z));
        if (variant.powers)
            power->over = wide_multiply_where(it->exists, c, wide3_dot(it->w, it->w));
    }
    return f;
}

WIDE_INLINE struct wide3 pair_force(const struct separation *apart, long i,
                                    const struct sweep_spring *spring,
                                    const struct row_state *row_state, wide_mask exists,
                                    struct variant variant, struct fraction *power)
{
    struct force_stages it = {.d = apart->d, .w = apart->w, .exists = exists};
    force_length(&it);
    force_scale(&it, i, spring, row_state, variant, power);
    return force_vector(&it, i, spring, row_state, variant, power);
}

// The force on nodes i of their springs to nodes `other`.
WIDE_INLINE struct wide3 spring_force(const struct sources *s, const struct own_nodes *own, long i,
                                      int64_t other, const struct sweep_spring *spring,
                                      const struct row_state *row_state, wide_mask exists,
                                      struct variant variant, struct fraction *power)
{
    struct separation apart = separation_to(s, own, other, variant.damping);
    return pair_force(&apart, i, spring, row_state, exists, variant, power);
}

// Whether there are enough registers for three springs in stages. With 16 registers, storing and
// reloading intermediate results costs more than the overlap gains.
enum { TOGETHER = WIDE_REGISTERS >= 32 };

// The stages with their loads: positions for the first, velocities for the second.
WIDE_INLINE void start_spring(struct force_stages *it, const struct sources *s,
                              const struct own_nodes *own, int64_t other)
{
    it->d = wide3_subtract(own->x, wide3_load(s->x, s->y, s->z, other));
    force_length(it);
}

WIDE_INLINE void scale_spring(struct force_stages *it, const struct sources *s,
                              const struct own_nodes *own, long i, int64_t other,
                              const struct sweep_spring *spring, const struct row_state *row_state,
                              struct variant variant, struct fraction *power)
{
    it->w = variant.damping == UNDAMPED
                ? own->v
                : wide3_subtract(own->v, wide3_load(s->vx, s->vy, s->vz, other));
    force_scale(it, i, spring, row_state, variant, power);
}

// The squares of lengths in units in which they are near 1, so that products of three do not
// overflow. In lanes without a spring a length may be 0; springs below the least length have no
// direction.
WIDE_INLINE wide scaled_square(const struct sweep *sweep, wide square)
{
    const real least = (real)1e-12;
    return wide_max(wide_multiply(square, wide_set(sweep->power_scale)), wide_set(least));
}

// The power of the damping of one, two or three springs, divided by sweep->power_scale.
WIDE_INLINE wide power_of_one(const struct sweep *sweep, const struct fraction *a,
                              struct variant variant)
{
    if (variant.damping == DAMPED_FULL)
        return wide_multiply(a->over, wide_set(1 / sweep->power_scale));
    return wide_divide(a->over, scaled_square(sweep, a->under));
}

WIDE_INLINE struct fraction add_fractions(const struct fraction *a, const struct fraction *b)
{
    return (struct fraction){
        wide_add(wide_multiply(a->over, b->under), wide_multiply(b->over, a->under)),
        wide_multiply(a->under, b->under)};
}

WIDE_INLINE wide power_of_two(const struct sweep *sweep, const struct fraction *a,
                              const struct fraction *b, struct variant variant)
{
    if (variant.damping == DAMPED_FULL)
        return wide_multiply(wide_add(a->over, b->over), wide_set(1 / sweep->power_scale));
    const struct fraction first = {a->over, scaled_square(sweep, a->under)};
    const struct fraction second = {b->over, scaled_square(sweep, b->under)};
    const struct fraction sum = add_fractions(&first, &second);
    return wide_divide(sum.over, sum.under);
}

WIDE_INLINE wide power_of_three(const struct sweep *sweep, const struct fraction *a,
                                const struct fraction *b, const struct fraction *c,
                                struct variant variant)
{
    if (variant.damping == DAMPED_FULL)
        return wide_multiply(wide_add(wide_add(a->over, b->over), c->over),
                             wide_set(1 / sweep->power_scale));
    const struct fraction first = {a->over, scaled_square(sweep, a->under)};
    const struct fraction second = {b->over, scaled_square(sweep, b->under)};
    const struct fraction third = {c->over, scaled_square(sweep, c->under)};
    const struct fraction two = add_fractions(&first, &second);
    const struct fraction sum = add_fractions(&two, &third);
    return wide_divide(sum.over, sum.under);
}

WIDE_INLINE void start_sum(const struct reals *sum, long i, struct wide3 f)
{
    wide3_store(sum->x, sum->y, sum->z, i, f);
}

WIDE_INLINE void add_to_sum(const struct reals *sum, long i, struct wide3 f)
{
    start_sum(sum, i, wide3_add(wide3_load(sum->x, sum->y, sum->z, i), f));
}

static inline void subtract_first(real *from, wide f, long count)
{
    wide_store_first(from, wide_subtract(wide_load_first(from, count), f), count);
}

// Subtracts the reactions, on the first `count` lanes.
WIDE_INLINE void subtract_reaction(const struct reals *other, long i, struct wide3 f, long count)
{
    subtract_first(other->x + i, f.x, count);
    subtract_first(other->y + i, f.y, count);
    subtract_first(other->z + i, f.z, count);
}

// Springs along the row, to nodes 1 and 2 further on; the reactions stay in the row.
WIDE_INLINE void run_along(const struct pass_range *given, const struct sweep_pass *pass, bool one,
                           bool two, struct variant variant)
{
    const struct pass_range range = *given;
    const struct sources sources = sources_of(given);
    const uint32_t *const has_one = range.sweep->bits[GRID_REACH + 1];
    const uint32_t *const has_two = range.sweep->bits[GRID_REACH + 2];
    const struct sweep_spring first = pass->springs[0], second = pass->springs[1];

    struct wide3 one_before = wide3_zero(), two_before = wide3_zero();
    for (long i = 0; i < range.count; i += WIDE_LANES) {
        if (variant.powers && power_is_full(i))
            power_flush(range.powers, POWER_DAMPING);
        struct own_nodes own = load_own(&sources, i, variant.damping);
        wide_mask inside = wide_lane_range(0, range.count - i);
        struct wide3 sum = wide3_zero(), back = wide3_zero();
        struct fraction one_power, two_power;
        if (one) {
            wide_mask exists = wide_mask_and(wide_mask_load(has_one, i), inside);
            sum = spring_force(&sources, &own, i, i + 1, &first, &range.row_states[0], exists,
                               variant, &one_power);
            back = wide3_shift_up(one_before, sum, 1);
            one_before = sum;
        }
        if (two) {
            wide_mask exists = wide_mask_and(wide_mask_load(has_two, i), inside);
            struct wide3 f = spring_force(&sources, &own, i, i + 2, &second, &range.row_states[1],
                                          exists, variant, &two_power);
            struct wide3 f_back = wide3_shift_up(two_before, f, 2);
            sum = one ? wide3_add(sum, f) : f;
            back = one ? wide3_add(back, f_back) : f_back;
            two_before = f;
        }

        sum = wide3_subtract(sum, back);
        if (range.starts)
            start_sum(&range.sum, i, sum);
        else
            add_to_sum(&range.sum, i, sum);
        if (variant.powers && one && two)
            power_add(range.powers, POWER_DAMPING, i,
                      power_of_two(range.sweep, &one_power, &two_power, variant));
        else if (variant.powers)
            power_add(range.powers, POWER_DAMPING, i,
                      power_of_one(range.sweep, one ? &one_power : &two_power, variant));
    }
}

// Springs to another row at -step, 0 and step along it. Lane l of that row receives the reactions
// of lane l (at 0), of lane l - step (at step) and of lane l + step (at -step). The last of these
// are in the next register, so a register of reactions is complete one register later.
WIDE_INLINE void run_three(const struct pass_range *given, const struct sweep_pass *pass, int step,
                           struct variant variant)
{
    const struct pass_range range = *given;
    const struct sources sources = sources_of(given);
    const uint32_t *const left_bits = range.sweep->bits[GRID_REACH - step];
    const uint32_t *const right_bits = range.sweep->bits[GRID_REACH + step];
    const struct sweep_spring to_left = pass->springs[0], to_middle = pass->springs[1],
                              to_right = pass->springs[2];

    struct wide3 right_before = wide3_zero(), left_before = wide3_zero(), waiting = wide3_zero();
    long i = 0;
    for (; i < range.count; i += WIDE_LANES) {
        int64_t other = i + range.offset;
        if (variant.powers && power_is_full(i))
            power_flush(range.powers, POWER_DAMPING);
        struct own_nodes own = load_own(&sources, i, variant.damping);
        wide_mask inside = wide_lane_range(0, range.count - i);
        wide_mask has_left = wide_mask_and(wide_mask_load(left_bits, i), inside);
        wide_mask has_right = wide_mask_and(wide_mask_load(right_bits, i), inside);

        struct fraction powers[3];
        struct force_stages of_left = {.exists = has_left}, of_middle = {.exists = inside},
                            of_right = {.exists = has_right};
        struct wide3 left, middle, right;
        if (TOGETHER) {
            start_spring(&of_left, &sources, &own, other - step);
            start_spring(&of_middle, &sources, &own, other);
            start_spring(&of_right, &sources, &own, other + step);
            scale_spring(&of_left, &sources, &own, i, other - step, &to_left, &range.row_states[0],
                         variant, &powers[0]);
            scale_spring(&of_middle, &sources, &own, i, other, &to_middle, &range.row_states[1],
                         variant, &powers[1]);
            scale_spring(&of_right, &sources, &own, i, other + step, &to_right,
                         &range.row_states[2], variant, &powers[2]);
            left = force_vector(&of_left, i, &to_left, &range.row_states[0], variant, &powers[0]);
            middle =
                force_vector(&of_middle, i, &to_middle, &range.row_states[1], variant, &powers[1]);
            right =
                force_vector(&of_right, i, &to_right, &range.row_states[2], variant, &powers[2]);
        } else {
            left = spring_force(&sources, &own, i, other - step, &to_left, &range.row_states[0],
                                has_left, variant, &powers[0]);
            middle = spring_force(&sources, &own, i, other, &to_middle, &range.row_states[1],
                                  inside, variant, &powers[1]);
            right = spring_force(&sources, &own, i, other + step, &to_right, &range.row_states[2],
                                 has_right, variant, &powers[2]);
        }
        if (variant.powers)
            power_add(range.powers, POWER_DAMPING, i,
                      power_of_three(range.sweep, &powers[0], &powers[1], &powers[2], variant));

        struct wide3 sum = wide3_add(middle, right);
        sum = wide3_add(left, sum);
        add_to_sum(&range.sum, i, sum);

        // The reactions on the previous register of the other row are complete now.
        if (i > 0) {
            struct wide3 last = wide3_shift_down(left_before, left, step);
            last = wide3_add(waiting, last);
            subtract_reaction(&range.other, i - WIDE_LANES, last, WIDE_LANES);
        }
        struct wide3 shifted = wide3_shift_up(right_before, right, step);
        waiting = wide3_add(middle, shifted);
        right_before = right;
        left_before = left;
    }

    // The reactions of the last register, which no left neighbours follow.
    i -= WIDE_LANES;
    struct wide3 none = wide3_zero(), last = wide3_shift_down(left_before, none, step);
    last = wide3_add(waiting, last);
    subtract_reaction(&range.other, i, last, range.count - i);
}

// Springs to one position in another row.
WIDE_INLINE void run_one(const struct pass_range *given, const struct sweep_pass *pass,
                         struct variant variant)
{
    const struct pass_range range = *given;
    const struct sources sources = sources_of(given);
    const struct sweep_spring spring = pass->springs[0];
    for (long i = 0; i < range.count; i += WIDE_LANES) {
        if (variant.powers && power_is_full(i))
            power_flush(range.powers, POWER_DAMPING);
        struct own_nodes own = load_own(&sources, i, variant.damping);
        wide_mask inside = wide_lane_range(0, range.count - i);
        struct fraction power;
        struct wide3 f = spring_force(&sources, &own, i, i + range.offset, &spring,
                                      &range.row_states[0], inside, variant, &power);
        add_to_sum(&range.sum, i, f);
        subtract_reaction(&range.other, i, f, range.count - i);
        if (variant.powers)
            power_add(range.powers, POWER_DAMPING, i, power_of_one(range.sweep, &power, variant));
    }
}

WIDE_INLINE void run_kind(const struct pass_range *range, const struct sweep_pass *pass,
                          struct variant variant)
{
    bool one = pass->springs[0].present, two = pass->springs[1].present;
    if (pass->kind == SWEEP_ONE)
        run_one(range, pass, variant);
    else if (pass->kind == SWEEP_THREE && pass->step == 1)
        run_three(range, pass, 1, variant);
    else if (pass->kind == SWEEP_THREE)
        run_three(range, pass, 2, variant);
    else if (one && two)
        run_along(range, pass, true, true, variant);
    else if (one)
        run_along(range, pass, true, false, variant);
    else
        run_along(range, pass, false, true, variant);
}

#define GRID_PASS(name, damping, special, measures)                                                \
    static void name(const struct pass_range *range, const struct sweep_pass *pass)                \
    {                                                                                              \
        run_kind(range, pass, (struct variant){damping, special, measures, false, false});         \
        if (measures)                                                                              \
            power_flush(range->powers, POWER_DAMPING);                                             \
    }

GRID_PASS(run_undamped, UNDAMPED, false, false)
GRID_PASS(run_axial, DAMPED_AXIAL, false, false)
GRID_PASS(run_axial_powers, DAMPED_AXIAL, false, true)
GRID_PASS(run_full, DAMPED_FULL, false, false)
GRID_PASS(run_full_powers, DAMPED_FULL, false, true)
GRID_PASS(run_special_undamped, UNDAMPED, true, false)
GRID_PASS(run_special_axial, DAMPED_AXIAL, true, false)
GRID_PASS(run_special_axial_powers, DAMPED_AXIAL, true, true)
GRID_PASS(run_special_full, DAMPED_FULL, true, false)
GRID_PASS(run_special_full_powers, DAMPED_FULL, true, true)

typedef void (*grid_pass_function)(const struct pass_range *range, const struct sweep_pass *pass);

static void grid_pass(const struct pass_range *range, const struct sweep_pass *pass)
{
    static const grid_pass_function functions[2][2][3] = {
        {{run_undamped, run_axial, run_full},
         {run_special_undamped, run_special_axial, run_special_full}},
        {{run_undamped, run_axial_powers, run_full_powers},
         {run_special_undamped, run_special_axial_powers, run_special_full_powers}}};
    const bool special = pass->special || pass->halves_ends;
    functions[range->powers != NULL][special][pass->damping](range, pass);
}

// ---- Finishing nodes
//
// Once all spring forces on a node are known, the sums are brought together, gravity and drag are
// added, and the node is moved. Nodes on no grid are finished here too.

// One component of the nodes' positions, velocities and forces, and of gravity.
struct component {
    real *x, *v, *f;
    wide gravity;
    // Previous positions, for SWEEP_VERLET; the state at the start of the step and the sums of
    // slopes, for stages.
    real *x0, *v0, *sx, *sv;
    // Low parts (precision mixed); that of v is NULL with verlet, whose velocities are differences.
    real *x_low, *v_low, *x0_low;
};

struct motion_steps {
    wide drag, velocity_step, position_step;
    wide half_kick; // for the velocities of SWEEP_VERLET
    wide weight;    // of the slope of a stage of rk4
};

// A register of one component.
struct moving {
    wide x, v, force; // x is not set for SWEEP_FORCES and SWEEP_HALF_KICK
};

// A number with a low part, and real_accumulate of an increment.
struct wide_sum {
    wide high, low;
};

WIDE_INLINE struct wide_sum accumulate(struct wide_sum a, wide increment)
{
    const wide change = wide_add(a.low, increment), high = wide_add(a.high, change);
    return (struct wide_sum){high, wide_subtract(change, wide_subtract(high, a.high))};
}

WIDE_INLINE struct wide_sum load_sum(const real *high, const real *low, long i, long left)
{
    return (struct wide_sum){wide_load_first(high + i, left), wide_load_first(low + i, left)};
}

WIDE_INLINE void store_sum(real *high, real *low, long i, long left, struct wide_sum a)
{
    wide_store_first(high + i, a.high, left);
    wide_store_first(low + i, a.low, left);
}

// The same as advance_by_positions (integrate/verlet.c).
WIDE_INLINE void move_mixed_by_positions(const struct component *c,
                                         const struct motion_steps *steps, struct moving now,
                                         wide change, wide_mask is_free, long i, long left)
{
    const struct wide_sum position = {now.x, wide_load_first(c->x_low + i, left)};
    const struct wide_sum before = load_sum(c->x0, c->x0_low, i, left);
    const wide low =
        wide_add(wide_add(wide_subtract(position.low, before.low), change), position.low);
    struct wide_sum next = {position.high, wide_set(0)};
    next = accumulate(next, wide_subtract(position.high, before.high));
    next = accumulate(next, low);
    const wide moved =
        wide_add(wide_subtract(next.high, position.high), wide_subtract(next.low, position.low));
    wide_store_first(c->v + i,
                     wide_blend(is_free, wide_multiply(moved, steps->position_step), now.v), left);
    store_sum(c->x, c->x_low, i, left,
              (struct wide_sum){wide_blend(is_free, next.high, position.high),
                                wide_blend(is_free, next.low, position.low)});
    store_sum(c->x0, c->x0_low, i, left,
              (struct wide_sum){wide_blend(is_free, position.high, before.high),
                                wide_blend(is_free, position.low, before.low)});
}

// Verlet: x+ = 2 x - x- + h^2 a, and the previous position and velocity. Kinematic nodes are moved
// elsewhere.
WIDE_INLINE void move_by_positions(const struct component *c, const struct motion_steps *steps,
                                   struct moving now, wide change, wide_mask is_free, long i,
                                   long left)
{
    const wide before = wide_load_first(c->x0 + i, left);
    const wide twice = wide_multiply(wide_set(2), now.x);
    const wide next = wide_add(wide_subtract(twice, before), change);
    const wide speed = wide_multiply(wide_subtract(next, now.x), steps->position_step);
    wide_store_first(c->x + i, wide_blend(is_free, next, now.x), left);
    wide_store_first(c->x0 + i, wide_blend(is_free, now.x, before), left);
    wide_store_first(c->v + i, wide_blend(is_free, speed, now.v), left);
}

// The sum of the spring forces, the reactions and, if `loaded`, the forces in f. `own` and
// `reactions` may be NULL.
WIDE_INLINE wide total_force(const struct component *c, const real *own, const real *reactions,
                             long i, long left, bool loaded)
{
    wide force = wide_set(0);
    if (reactions)
        force = wide_load_first(reactions + i, left);
    if (own)
        force = wide_add(force, wide_load_first(own + i, left));
    return loaded ? wide_add(wide_load_first(c->f + i, left), force) : force;
}

// The force on a component of a register of nodes, and the velocity at the same time as the
// positions, for the energy budget.
struct finished {
    wide force, velocity;
};

// The kick and the drift of finish_component with low parts.
WIDE_INLINE struct finished move_mixed(const struct component *c, const struct motion_steps *steps,
                                       struct moving now, wide change, wide force, long i,
                                       long left, enum sweep_finish finish)
{
    const struct wide_sum before = {now.v, wide_load_first(c->v_low + i, left)};
    const struct wide_sum kicked = accumulate(before, change);
    if (finish == SWEEP_HALF_KICK) {
        store_sum(c->v, c->v_low, i, left, kicked);
        return (struct finished){force, kicked.high};
    }
    const struct wide_sum next =
        finish == SWEEP_VELOCITY_VERLET ? accumulate(kicked, change) : kicked;
    const wide moves = finish == SWEEP_EXPLICIT_EULER ? now.v : next.high;
    const struct wide_sum position = {now.x, wide_load_first(c->x_low + i, left)};
    store_sum(c->v, c->v_low, i, left, next);
    store_sum(c->x, c->x_low, i, left,
              accumulate(position, wide_multiply(steps->position_step, moves)));
    return (struct finished){force, finish == SWEEP_VELOCITY_VERLET ? kicked.high : now.v};
}

// from + increment in a stage. `from` has the low part of the start until the last stage.
WIDE_INLINE wide stage_sum(wide from, wide increment, real *low, long i, long left, bool last)
{
    const struct wide_sum start = {from, wide_load_first(low + i, left)};
    if (!last)
        return wide_add(start.high, wide_add(start.low, increment));
    const struct wide_sum end = accumulate(start, increment);
    wide_store_first(low + i, end.low, left);
    return end.high;
}

// A stage accesses up to 18 arrays of nodes besides those of the springs, more than the hardware
// prefetches: it asks for them itself, so many numbers ahead. Without it rk4 on a cloth that is
// larger than the second-level cache runs at 0.77 of its speed.
enum { STAGE_AHEAD = 1024 / sizeof(real) };

// A stage of a Runge-Kutta method (integrate/runge_kutta.c has the same operations in plain loops):
// the state at the start of the step, plus a fraction of the step times the slope of this stage, or
// at the end of rk4 times the sum of all slopes. The second stage of rk4 finds the first velocity,
// which is the first sum, in v0.
WIDE_INLINE struct finished finish_stage(const struct component *c,
                                         const struct motion_steps *steps, struct moving now,
                                         wide force, wide inverse_mass, long i, long left,
                                         enum sweep_finish stage, bool mixed)
{
    const bool first = finish_is_first_stage(stage), last = finish_is_last_stage(stage);
    const bool sums = stage >= SWEEP_RK4_FIRST;
    const wide h = steps->position_step;
    wide x = now.x, v = now.v;
    wide x_change = wide_multiply(h, now.v);
    wide v_change = wide_multiply(wide_multiply(h, inverse_mass), force);
    wide_prefetch(c->x0 + i + STAGE_AHEAD);
    wide_prefetch(c->v0 + i + STAGE_AHEAD);
    if (!first) {
        x = wide_load_first(c->x0 + i, left);
        v = wide_load_first(c->v0 + i, left);
    }
    if (sums) {
        const wide slope = wide_multiply(wide_multiply(steps->weight, inverse_mass), force);
        const wide before = first ? wide_set(0) : wide_load_first(c->sv + i, left);
        const wide v_sum = wide_add(before, slope);
        wide x_sum =
            stage == SWEEP_RK4_SECOND ? wide_add(wide_set(0), v) : wide_load_first(c->sx + i, left);
        x_sum = wide_add(x_sum, wide_multiply(steps->weight, now.v));
        wide_prefetch(c->sv + i + STAGE_AHEAD);
        if (!first)
            wide_prefetch(c->sx + i + STAGE_AHEAD);
        if (!first && !last)
            wide_store_first(c->sx + i, x_sum, left);
        if (!last)
            wide_store_first(c->sv + i, v_sum, left);
        if (last) {
            x_change = wide_multiply(h, x_sum);
            v_change = wide_multiply(h, v_sum);
        }
    }
    real *const to_x = first || last ? c->x0 : c->x, *const to_v = first || last ? c->v0 : c->v;
    x = mixed ? stage_sum(x, x_change, c->x_low, i, left, last) : wide_add(x, x_change);
    v = mixed ? stage_sum(v, v_change, c->v_low, i, left, last) : wide_add(v, v_change);
    wide_store_first(to_x + i, x, left);
    wide_store_first(to_v + i, v, left);
    return (struct finished){force, now.v};
}

// Moves one component of a register of nodes, or stores its force.
WIDE_INLINE struct finished finish_component(const struct component *c,
                                             const struct motion_steps *steps, struct moving now,
                                             wide mass, wide inverse_mass, long i, long left,
                                             bool clears, enum sweep_finish finish, bool mixed)
{
    const wide force = wide_add(now.force, wide_subtract(wide_multiply(mass, c->gravity),
                                                         wide_multiply(steps->drag, now.v)));
    now.force = force;
    if (finish_stores_forces(finish))
        wide_store_first(c->f + i, force, left);
    else if (clears)
        wide_store_first(c->f + i, wide_set(0), left);
    if (finish == SWEEP_FORCES)
        return (struct finished){force, now.v};
    if (finish_is_stage(finish))
        return finish_stage(c, steps, now, force, inverse_mass, i, left, finish, mixed);

    const wide change = wide_multiply(wide_multiply(steps->velocity_step, inverse_mass), force);
    if (finish == SWEEP_VERLET) {
        const wide kick = wide_multiply(wide_multiply(steps->half_kick, inverse_mass), force);
        const wide_mask is_free = wide_positive(inverse_mass);
        if (mixed)
            move_mixed_by_positions(c, steps, now, change, is_free, i, left);
        else
            move_by_positions(c, steps, now, change, is_free, i, left);
        return (struct finished){force, wide_add(now.v, kick)};
    }
    if (mixed && c->v_low)
        return move_mixed(c, steps, now, change, force, i, left, finish);
    const wide kicked = wide_add(now.v, change);
    if (finish == SWEEP_HALF_KICK) {
        wide_store_first(c->v + i, kicked, left);
        return (struct finished){force, kicked};
    }
    const wide next = finish == SWEEP_VELOCITY_VERLET ? wide_add(kicked, change) : kicked;
    const wide moves = finish == SWEEP_EXPLICIT_EULER ? now.v : next;
    wide_store_first(c->v + i, next, left);
    wide_store_first(c->x + i, wide_add(now.x, wide_multiply(steps->position_step, moves)), left);
    return (struct finished){force, finish == SWEEP_VELOCITY_VERLET ? kicked : now.v};
}

struct node_motion {
    struct component components[3];
    struct motion_steps steps;
};

// The arrays and the factors of a stage.
static inline void set_stage(struct node_motion *motion, const struct state *s, int64_t first,
                             double h, enum sweep_finish finish)
{
    static const struct {
        double step;
        real weight;
    } stages[] = {
        [SWEEP_MIDPOINT_FIRST] = {0.5, 0}, [SWEEP_MIDPOINT_LAST] = {1, 0},
        [SWEEP_RK4_FIRST] = {0.5, 1},      [SWEEP_RK4_SECOND] = {0.5, 2},
        [SWEEP_RK4_THIRD] = {1, 2},        [SWEEP_RK4_LAST] = {1, 1},
    };
    struct motion_steps *steps = &motion->steps;
    const double step = finish == SWEEP_RK4_LAST ? h / 6 : stages[finish].step * h;
    steps->position_step = wide_set((real)step);
    steps->weight = wide_set(stages[finish].weight);
    const bool sums = finish >= SWEEP_RK4_FIRST;
    real *const x0[3] = {s->x0, s->y0, s->z0}, *const v0[3] = {s->vx0, s->vy0, s->vz0};
    real *const sx[3] = {s->sx, s->sy, s->sz}, *const sv[3] = {s->svx, s->svy, s->svz};
    for (int c = 0; c < 3; c++) {
        motion->components[c].x0 = x0[c] + first;
        motion->components[c].v0 = v0[c] + first;
        motion->components[c].sx = sums ? sx[c] + first : NULL;
        motion->components[c].sv = sums ? sv[c] + first : NULL;
    }
}

// The components and step factors of nodes from `first` on.
static inline struct node_motion motion_of(const struct system *system, int64_t first,
                                           enum sweep_finish finish)
{
    const struct state *s = system->state;
    const struct settings *settings = &system->settings;
    const vec3 g = system->topology->environment.gravity;
    const real h = (real)settings->dt;
    struct node_motion motion = {
        {{.x = s->x + first,
          .v = s->vx + first,
          .f = s->fx + first,
          .gravity = wide_set((real)g.x)},
         {.x = s->y + first,
          .v = s->vy + first,
          .f = s->fy + first,
          .gravity = wide_set((real)g.y)},
         {.x = s->z + first,
          .v = s->vz + first,
          .f = s->fz + first,
          .gravity = wide_set((real)g.z)}},
        {.drag = wide_set((real)system->topology->environment.air_drag),
         .velocity_step = wide_set(h),
         .position_step = wide_set(h)},
    };
    if (finish == SWEEP_SYMPLECTIC_EULER)
        motion.steps.position_step = wide_set((real)settings->position_step);
    if (finish == SWEEP_VELOCITY_VERLET || finish == SWEEP_HALF_KICK)
        motion.steps.velocity_step = wide_set(h / 2);
    if (finish == SWEEP_VERLET) {
        motion.steps.velocity_step = wide_set(h * h);
        motion.steps.position_step = wide_set((real)(1.0 / settings->dt));
        motion.steps.half_kick = wide_set(h / 2);
        motion.components[0].x0 = s->x0 + first;
        motion.components[1].x0 = s->y0 + first;
        motion.components[2].x0 = s->z0 + first;
    }
    if (finish_is_stage(finish))
        set_stage(&motion, s, first, settings->dt, finish);
    if (!state_is_mixed(s))
        return motion;
    real *const x_low[3] = {s->x_low, s->y_low, s->z_low};
    real *const v_low[3] = {s->vx_low, s->vy_low, s->vz_low};
    real *const x0_low[3] = {s->x0_low, s->y0_low, s->z0_low};
    for (int c = 0; c < 3; c++) {
        motion.components[c].x_low = x_low[c] + first;
        motion.components[c].v_low = v_low[c] ? v_low[c] + first : NULL;
        motion.components[c].x0_low = x0_low[c] ? x0_low[c] + first : NULL;
    }
    return motion;
}

// Adds the contributions of `left` nodes from i on to the energy budget, given their forces and
// their velocities before they move. The caller derives the kinetic energy from the sum of squares
// where all nodes have one mass.
WIDE_INLINE void add_node_powers(struct power_sums *sums, bool drives, const struct wide3 *v,
                                 const struct wide3 *force, wide mass, wide inverse_mass,
                                 bool massed, long i, long left)
{
    const wide_mask inside = wide_lane_range(0, left);
    const wide square = wide_masked(inside, wide3_dot(*v, *v));
    power_add(sums, POWER_SQUARE, i, square);
    if (massed)
        power_add(sums, POWER_KINETIC, i, wide_multiply(mass, square));
    if (!drives)
        return;
    const wide power = wide_masked(inside, wide3_dot(*force, *v));
    const wide kinetic = wide_multiply(mass, square);
    const wide_mask is_free = wide_positive(inverse_mass);
    power_add(sums, POWER_DRIVES, i, wide_subtract(power, wide_masked(is_free, power)));
    power_add(sums, POWER_MOVED, i, wide_subtract(kinetic, wide_masked(is_free, kinetic)));
}

// Finishes the nodes of a range. `masses` of the nodes, or NULL if each has `each`.
WIDE_INLINE void finish_nodes(const struct system *system, const struct finish_range *range,
                              const real *masses, real each, bool loaded, bool clears,
                              enum sweep_finish finish, bool powers, bool mixed)
{
    const bool drives = powers && range->powers->drives;
    const struct node_motion motion = motion_of(system, range->first, finish);
    const bool reads_positions =
        finish_is_stage(finish) ? finish_is_first_stage(finish) : !finish_stores_forces(finish);
    const real *const own[3] = {range->own.x, range->own.y, range->own.z};
    const real *const reactions[3] = {range->reactions.x, range->reactions.y, range->reactions.z};
    const wide one_mass = wide_set(each);
    const real *inverses = system->constants->inverse_mass + range->first;
    const long count = range->count;
    for (long i = 0; i < count; i += WIDE_LANES) {
        long left = count - i;
        if (powers && power_is_full(i))
            power_flush_all(range->powers);
        wide mass = masses ? wide_load_first(masses + i, left) : one_mass;
        wide inverse = wide_load_first(inverses + i, left);
        wide velocity[3], force[3];
        for (int c = 0; c < 3; c++) {
            const struct component *it = &motion.components[c];
            struct moving now = {.v = wide_load_first(it->v + i, left),
                                 .force = total_force(it, own[c], reactions[c], i, left, loaded)};
            now.x = reads_positions ? wide_load_first(it->x + i, left) : wide_set(0);
            const struct finished done = finish_component(it, &motion.steps, now, mass, inverse, i,
                                                          left, clears, finish, mixed);
            force[c] = done.force;
            velocity[c] = done.velocity;
        }
        if (powers) {
            const struct wide3 v = {velocity[0], velocity[1], velocity[2]};
            const struct wide3 f = {force[0], force[1], force[2]};
            add_node_powers(range->powers, drives, &v, &f, mass, inverse, masses != NULL, i, left);
        }
    }
}

WIDE_INLINE void finish_with(const struct system *system, const struct finish_range *range,
                             const real *masses, real each, enum sweep_finish finish, bool powers)
{
    if (powers && !finish_may_measure(finish))
        return;
    if (state_is_mixed(system->state))
        finish_nodes(system, range, masses, each, range->loaded, range->clears, finish, powers,
                     true);
    else if (masses || range->loaded || range->clears || finish_stores_forces(finish) ||
             finish == SWEEP_EXPLICIT_EULER || finish_is_stage(finish))
        finish_nodes(system, range, masses, each, range->loaded, range->clears, finish, powers,
                     false);
    else
        finish_nodes(system, range, NULL, each, false, false, finish, powers, false);
}

WIDE_INLINE void finish_masses(const struct system *system, const struct finish_range *range,
                               const real *masses, real each, enum sweep_finish finish, bool powers)
{
    switch (finish) {
    case SWEEP_FORCES:
        finish_with(system, range, masses, each, SWEEP_FORCES, powers);
        break;
    case SWEEP_HALF_KICK:
        finish_with(system, range, masses, each, SWEEP_HALF_KICK, powers);
        break;
    case SWEEP_EXPLICIT_EULER:
        finish_with(system, range, masses, each, SWEEP_EXPLICIT_EULER, powers);
        break;
    case SWEEP_SYMPLECTIC_EULER:
        finish_with(system, range, masses, each, SWEEP_SYMPLECTIC_EULER, powers);
        break;
    case SWEEP_VELOCITY_VERLET:
        finish_with(system, range, masses, each, SWEEP_VELOCITY_VERLET, powers);
        break;
    case SWEEP_VERLET:
        finish_with(system, range, masses, each, SWEEP_VERLET, powers);
        break;
    case SWEEP_MIDPOINT_FIRST:
        finish_with(system, range, masses, each, SWEEP_MIDPOINT_FIRST, powers);
        break;
    case SWEEP_MIDPOINT_LAST:
        finish_with(system, range, masses, each, SWEEP_MIDPOINT_LAST, powers);
        break;
    case SWEEP_RK4_FIRST:
        finish_with(system, range, masses, each, SWEEP_RK4_FIRST, powers);
        break;
    case SWEEP_RK4_SECOND:
        finish_with(system, range, masses, each, SWEEP_RK4_SECOND, powers);
        break;
    case SWEEP_RK4_THIRD:
        finish_with(system, range, masses, each, SWEEP_RK4_THIRD, powers);
        break;
    case SWEEP_RK4_LAST:
        finish_with(system, range, masses, each, SWEEP_RK4_LAST, powers);
        break;
    }
}

// Adds the sums of a range whose nodes have individual masses (`massed`) or the mass `each`.
static inline void add_sums(struct power_sums *to, const struct power_sums *sums, bool massed,
                            double each)
{
    for (int column = 0; column < POWER_COLUMNS; column++)
        for (int lane = 0; lane < POWER_LANES; lane++)
            to->lanes[column][lane] += sums->lanes[column][lane];
    for (int lane = 0; !massed && lane < POWER_LANES; lane++)
        to->lanes[POWER_KINETIC][lane] += each * sums->lanes[POWER_SQUARE][lane];
}

static const struct reals no_reals = {NULL, NULL, NULL};

static struct reals offset_reals(const struct reals *reals, int64_t by)
{
    return reals->x ? (struct reals){reals->x + by, reals->y + by, reals->z + by} : no_reals;
}

// Finishes the nodes body by body, whose nodes have one mass or individual ones.
static void grid_finish(const struct system *system, const struct finish_range *range,
                        enum sweep_finish finish)
{
    const uint64_t first = (uint64_t)range->first, end = first + (uint64_t)range->count;
    for (uint64_t node = first; node < end;) {
        const struct topology_body *body =
            &system->topology->bodies[topology_body_of_node(system->topology, node)];
        const uint64_t body_end = min_u64(end, body->first_node + body->node_count);
        const bool differ = body->node_mass == 0;
        const int64_t into = (int64_t)(node - first);
        struct finish_range part = {.first = (int64_t)node,
                                    .count = (long)(body_end - node),
                                    .own = offset_reals(&range->own, into),
                                    .reactions = offset_reals(&range->reactions, into),
                                    .loaded = range->loaded,
                                    .clears = range->clears};
        const real *masses = differ ? system->constants->mass + node : NULL;
        if (range->powers) {
            struct power_sums sums = {.drives = range->powers->drives};
            part.powers = &sums;
            finish_masses(system, &part, masses, (real)body->node_mass, finish, true);
            power_flush_all(&sums);
            add_sums(range->powers, &sums, differ, body->node_mass);
        } else {
            finish_masses(system, &part, masses, (real)body->node_mass, finish, false);
        }
        node = body_end;
    }
}

// ---- The power of damping, for rows of energies: each spring once, at its first node

// The constants of a direction that has springs from the present row, copied for the loop over
// registers.
struct neighbour {
    int64_t offset;
    int dx;
    bool full;
    real damping;
};

static int neighbours_of_row(const struct plan_grid *grid, const struct spring_constants *materials,
                             long j, long k, struct neighbour to[DIRECTIONS_MAX])
{
    int count = 0;
    for (int d = 0; d < grid->direction_count; d++) {
        const struct direction *direction = &grid->directions[d];
        const struct spring_constants *material = &materials[direction->material];
        const long row = j + direction->dy, layer = k + direction->dz;
        if (row < 0 || row >= (long)grid->ny || layer >= (long)grid->nz)
            continue;
        to[count++] = (struct neighbour){direction->offset, direction->dx,
                                         material->damping_law == DAMPING_FULL, material->damping};
    }
    return count;
}

// The lanes that have a partner at dx = -GRID_REACH .. GRID_REACH in their row.
WIDE_INLINE void find_partners(long i, long nx, wide_mask exists[2 * GRID_REACH + 1])
{
    for (int dx = -GRID_REACH; dx <= GRID_REACH; dx++)
        exists[dx + GRID_REACH] = wide_lane_range(-i - dx, nx - i - dx);
}

// The power of the damping of one direction: c (w.d)^2 / L^2, or c w^2 with the full law.
WIDE_INLINE wide neighbour_power(const struct state *s, const struct neighbour *to, int64_t at,
                                 wide_mask exists)
{
    const int64_t other = at + to->offset;
    struct wide3 v =
        wide3_subtract(wide3_load(s->vx, s->vy, s->vz, at), wide3_load(s->vx, s->vy, s->vz, other));
    if (to->full)
        return wide_masked(exists, wide_multiply(wide_set(to->damping), wide3_dot(v, v)));
    struct wide3 d =
        wide3_subtract(wide3_load(s->x, s->y, s->z, at), wide3_load(s->x, s->y, s->z, other));
    wide square = wide3_dot(d, d), along = wide3_dot(v, d);
    wide power = wide_multiply(wide_divide(along, square), along);
    wide_mask valid = wide_mask_and(exists, wide_positive(square));
    return wide_masked(valid, wide_multiply(wide_set(to->damping), power));
}

// Stores the power of each node's springs to later nodes. It is summed elsewhere, because a sum
// over lanes would depend on the width of a register.
static void grid_power(const struct system *system, const struct plan_grid *grid, struct range rows)
{
    struct state *s = system->state;
    struct neighbour to[DIRECTIONS_MAX];
    const long nx = (long)grid->nx;
    for (size_t row = rows.first; row < rows.end; row++) {
        long j = (long)(row % grid->ny), k = (long)(row / grid->ny);
        int count = neighbours_of_row(grid, system->constants->material, j, k, to);
        int64_t first = (int64_t)(grid->first_node + row * grid->nx);
        for (long i = 0; i < nx; i += WIDE_LANES) {
            wide_mask exists[2 * GRID_REACH + 1];
            find_partners(i, nx, exists);
            wide power = wide_set(0);
            for (int d = 0; d < count; d++)
                power = wide_add(
                    power, neighbour_power(s, &to[d], first + i, exists[to[d].dx + GRID_REACH]));
            wide_store_first(s->power + first + i, power, nx - i);
        }
    }
}

// ---- Springs strained beyond the limits at which they break or yield

// Computes lengths as the scalar code does (springs/breaking.c), so that exactly the springs found
// here break or yield.
static inline wide row_length(const struct state *s, int64_t a, int64_t b)
{
    struct wide3 d =
        wide3_subtract(wide3_load(s->x, s->y, s->z, a), wide3_load(s->x, s->y, s->z, b));
    return wide_sqrt(wide3_dot(d, d));
}

static uint64_t grid_overstrained(const struct state *s, const struct grid_row_springs *springs,
                                  const struct strain_limits *limits)
{
    const bool moved = limits->of_present && s->rest_length;
    uint64_t beyond = 0;
    for (int i = 0; i < springs->count; i += WIDE_LANES) {
        long left = springs->count - i;
        wide length = row_length(s, springs->a + i, springs->b + i);
        wide rest = moved ? wide_load_first(s->rest_length + springs->state_index + i, left)
                          : wide_set(springs->built);
        wide_mask valid = wide_lane_range(0, left);
        if (s->broken)
            valid = wide_unbroken(s->broken + springs->state_index + i, left);
        uint64_t lanes =
            wide_mask_bits(wide_mask_and(valid, wide_above_limit(limits, length, rest))) |
            wide_mask_bits(wide_mask_and(valid, wide_below_limit(limits, length, rest)));
        beyond |= lanes << i;
    }
    return beyond;
}
