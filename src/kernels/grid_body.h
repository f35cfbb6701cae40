// The springs of a grid: a rope, a cloth, a lattice. No list of springs is read, and each spring is
// computed once (sweep.h). The passes run over a chunk's rows as over one line of nodes, a register
// at a time: the springs that would lead out of a row are masked. Of three springs to one row, at
// -s, 0 and s along it, the reactions are brought together by shifting them along the row, in
// registers, and added to the row's forces once, one register late. Springs that are broken or
// slack are masked as well. The body of a kernel that is compiled for each instruction set;
// grid_base.c and the others define TAUT_WIDE_ISA and GRID_NAME.
//
// Every element goes through the same operations at every width of register, so the bits are the
// same. What lies in lanes behind the last node of a range is read but never written, and nobody
// else writes it meanwhile (settle_first, settle_last).
#include "kernels/kernels.h"
#include "simd/wide_flags.h"

struct push {
    wide x, y, z;
};

// What a register of nodes knows of itself.
struct own_nodes {
    wide x, y, z, vx, vy, vz;
};

// Copies of what a pass reads: stores of registers may alias anything, so that pointers in memory
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
    wide zero = wide_set(0);
    bool damped = damping != UNDAMPED;
    return (struct own_nodes){
        .x = wide_load(s->x + i),
        .y = wide_load(s->y + i),
        .z = wide_load(s->z + i),
        .vx = damped ? wide_load(s->vx + i) : zero,
        .vy = damped ? wide_load(s->vy + i) : zero,
        .vz = damped ? wide_load(s->vz + i) : zero,
    };
}

// How springs of a pass are computed: constants wherever this is inlined, so that undamped springs
// load no velocities, and linear ones for ever whole ask for nothing else.
struct manner {
    enum sweep_damping damping;
    bool special;
};

// Of the lanes with a partner those whose spring is whole, and by its law not slack at that length.
WIDE_INLINE wide_mask active(const struct sweep_spring *spring, const struct row_memory *memory,
                             long i, wide_mask exists, wide rest, wide length)
{
    if (memory->broken)
        exists = wide_both(exists, wide_unflagged(memory->broken + i));
    if (spring->law == LAW_TENSION_ONLY)
        exists = wide_both(exists, wide_positive(wide_subtract(length, rest)));
    if (spring->law == LAW_COMPRESSION_ONLY)
        exists = wide_both(exists, wide_positive(wide_subtract(rest, length)));
    return exists;
}

// Places and velocities of nodes, those of others taken from them; velocities where damped.
struct way {
    wide dx, dy, dz, wx, wy, wz;
};

WIDE_INLINE struct way way_to(const struct sources *s, const struct own_nodes *own, int64_t other,
                              enum sweep_damping damping)
{
    struct way way = {
        .dx = wide_subtract(own->x, wide_load(s->x + other)),
        .dy = wide_subtract(own->y, wide_load(s->y + other)),
        .dz = wide_subtract(own->z, wide_load(s->z + other)),
        .wx = own->vx,
        .wy = own->vy,
        .wz = own->vz,
    };
    if (damping != UNDAMPED) {
        way.wx = wide_subtract(way.wx, wide_load(s->vx + other));
        way.wy = wide_subtract(way.wy, wide_load(s->vy + other));
        way.wz = wide_subtract(way.wz, wide_load(s->vz + other));
    }
    return way;
}

// F = k (L0 - L) / L d - c (w.d) / L^2 d, one division for both, by L^2; with the full law - c w
// instead. At L = 0 the numerator is 0, and so is the force along d. From nodes i on.
WIDE_INLINE struct push push_along(const struct way *way, long i, const struct sweep_spring *spring,
                                   const struct row_memory *memory, wide_mask exists,
                                   struct manner manner)
{
    const enum sweep_damping damping = manner.damping;
    wide dx = way->dx, dy = way->dy, dz = way->dz;
    wide square =
        wide_add(wide_add(wide_multiply(dx, dx), wide_multiply(dy, dy)), wide_multiply(dz, dz));
    wide length = wide_sqrt(square), rest = wide_set(spring->rest_length);
    if (manner.special) {
        if (memory->rest_length)
            rest = wide_load(memory->rest_length + i);
        exists = active(spring, memory, i, exists, rest, length);
    }
    wide push = wide_multiply(
        wide_multiply(wide_set(spring->stiffness), wide_subtract(rest, length)), length);
    wide wx = way->wx, wy = way->wy, wz = way->wz, c = wide_set(spring->damping);
    if (damping == DAMPED_AXIAL) {
        wide along =
            wide_add(wide_add(wide_multiply(wx, dx), wide_multiply(wy, dy)), wide_multiply(wz, dz));
        push = wide_subtract(push, wide_multiply(c, along));
    }
    wide scale = wide_divide(push, wide_max(square, wide_set(REAL_TINY)));
    struct push f = {wide_multiply_where(exists, scale, dx), wide_multiply_where(exists, scale, dy),
                     wide_multiply_where(exists, scale, dz)};
    if (damping == DAMPED_FULL) {
        f.x = wide_subtract(f.x, wide_multiply_where(exists, c, wx));
        f.y = wide_subtract(f.y, wide_multiply_where(exists, c, wy));
        f.z = wide_subtract(f.z, wide_multiply_where(exists, c, wz));
    }
    return f;
}

// From nodes i to `other`.
WIDE_INLINE struct push spring_push(const struct sources *s, const struct own_nodes *own, long i,
                                    int64_t other, const struct sweep_spring *spring,
                                    const struct row_memory *memory, wide_mask exists,
                                    struct manner manner)
{
    struct way way = way_to(s, own, other, manner.damping);
    return push_along(&way, i, spring, memory, exists, manner);
}

static inline void add_to(real *to, wide f)
{
    wide_store(to, wide_add(wide_load(to), f));
}

WIDE_INLINE void add_to_sum(const struct reals *sum, long i, const struct push *f)
{
    add_to(sum->x + i, f->x);
    add_to(sum->y + i, f->y);
    add_to(sum->z + i, f->z);
}

WIDE_INLINE void start_sum(const struct reals *sum, long i, const struct push *f)
{
    wide_store(sum->x + i, f->x);
    wide_store(sum->y + i, f->y);
    wide_store(sum->z + i, f->z);
}

static inline void take_from(real *to, wide f, long count)
{
    wide_store_first(to, wide_subtract(wide_load_first(to, count), f), count);
}

// Newton's third law, on the first `count` lanes.
WIDE_INLINE void react(const struct reals *other, long i, const struct push *f, long count)
{
    take_from(other->x + i, f->x, count);
    take_from(other->y + i, f->y, count);
    take_from(other->z + i, f->z, count);
}

WIDE_INLINE struct push push_sum(const struct push *f, const struct push *g)
{
    return (struct push){wide_add(f->x, g->x), wide_add(f->y, g->y), wide_add(f->z, g->z)};
}

WIDE_INLINE struct push push_difference(const struct push *f, const struct push *g)
{
    return (struct push){wide_subtract(f->x, g->x), wide_subtract(f->y, g->y),
                         wide_subtract(f->z, g->z)};
}

// The register whose lane l is lane l - step of `f`, the first from the end of `before`.
WIDE_INLINE struct push behind(const struct push *before, const struct push *f, int step)
{
    if (step == 1)
        return (struct push){wide_behind_1(before->x, f->x), wide_behind_1(before->y, f->y),
                             wide_behind_1(before->z, f->z)};
    return (struct push){wide_behind_2(before->x, f->x), wide_behind_2(before->y, f->y),
                         wide_behind_2(before->z, f->z)};
}

// The register whose lane l is lane l + step of `f`, the last from the start of `after`.
WIDE_INLINE struct push ahead(const struct push *f, const struct push *after, int step)
{
    if (step == 1)
        return (struct push){wide_ahead_1(f->x, after->x), wide_ahead_1(f->y, after->y),
                             wide_ahead_1(f->z, after->z)};
    return (struct push){wide_ahead_2(f->x, after->x), wide_ahead_2(f->y, after->y),
                         wide_ahead_2(f->z, after->z)};
}

WIDE_INLINE struct push no_push(void)
{
    wide zero = wide_set(0);
    return (struct push){zero, zero, zero};
}

// Springs along the row, 1 and 2 nodes ahead: the reactions stay in the row.
WIDE_INLINE void run_along(const struct pass_range *given, const struct sweep_pass *pass, bool one,
                           bool two, struct manner manner)
{
    const struct pass_range range = *given;
    const struct sources sources = sources_of(given);
    const uint32_t *const has_one = range.sweep->bits[GRID_REACH + 1];
    const uint32_t *const has_two = range.sweep->bits[GRID_REACH + 2];
    const struct sweep_spring first = pass->springs[0], second = pass->springs[1];
    struct push one_before = no_push(), two_before = no_push();
    for (long i = 0; i < range.count; i += WIDE_LANES) {
        struct own_nodes own = load_own(&sources, i, manner.damping);
        wide_mask inside = wide_lanes(0, range.count - i);
        struct push sum = no_push(), back = no_push();
        if (one) {
            wide_mask exists = wide_both(wide_bits(has_one, i), inside);
            sum = spring_push(&sources, &own, i, i + 1, &first, &range.memory[0], exists, manner);
            back = behind(&one_before, &sum, 1);
            one_before = sum;
        }
        if (two) {
            wide_mask exists = wide_both(wide_bits(has_two, i), inside);
            struct push f =
                spring_push(&sources, &own, i, i + 2, &second, &range.memory[1], exists, manner);
            struct push f_back = behind(&two_before, &f, 2);
            sum = one ? push_sum(&sum, &f) : f;
            back = one ? push_sum(&back, &f_back) : f_back;
            two_before = f;
        }
        sum = push_difference(&sum, &back);
        if (range.starts)
            start_sum(&range.sum, i, &sum);
        else
            add_to_sum(&range.sum, i, &sum);
    }
}

// Springs to another row at -step, 0 and step. Lane l of the other row gets the reaction of lane l
// (at 0), of lane l - step (at step) and of lane l + step (at -step), of which the last lanes'
// partners come with the next register: so that is when a register of reactions is complete.
WIDE_INLINE void run_three(const struct pass_range *given, const struct sweep_pass *pass, int step,
                           struct manner manner)
{
    const struct pass_range range = *given;
    const struct sources sources = sources_of(given);
    const uint32_t *const left_bits = range.sweep->bits[GRID_REACH - step];
    const uint32_t *const right_bits = range.sweep->bits[GRID_REACH + step];
    const struct sweep_spring to_left = pass->springs[0], to_middle = pass->springs[1],
                              to_right = pass->springs[2];
    struct push right_before = no_push(), left_before = no_push(), waiting = no_push();
    long i = 0;
    for (; i < range.count; i += WIDE_LANES) {
        int64_t other = i + range.offset;
        struct own_nodes own = load_own(&sources, i, manner.damping);
        wide_mask inside = wide_lanes(0, range.count - i);
        wide_mask has_left = wide_both(wide_bits(left_bits, i), inside);
        wide_mask has_right = wide_both(wide_bits(right_bits, i), inside);
        struct push left = spring_push(&sources, &own, i, other - step, &to_left, &range.memory[0],
                                       has_left, manner);
        struct push middle =
            spring_push(&sources, &own, i, other, &to_middle, &range.memory[1], inside, manner);
        struct push right = spring_push(&sources, &own, i, other + step, &to_right,
                                        &range.memory[2], has_right, manner);
        struct push sum = push_sum(&middle, &right);
        sum = push_sum(&left, &sum);
        add_to_sum(&range.sum, i, &sum);
        if (i > 0) {
            struct push last = ahead(&left_before, &left, step);
            last = push_sum(&waiting, &last);
            react(&range.other, i - WIDE_LANES, &last, WIDE_LANES);
        }
        struct push shifted = behind(&right_before, &right, step);
        waiting = push_sum(&middle, &shifted);
        right_before = right;
        left_before = left;
    }
    i -= WIDE_LANES;
    struct push none = no_push(), last = ahead(&left_before, &none, step);
    last = push_sum(&waiting, &last);
    react(&range.other, i, &last, range.count - i);
}

// Springs to one place of another row.
WIDE_INLINE void run_one(const struct pass_range *given, const struct sweep_pass *pass,
                         struct manner manner)
{
    const struct pass_range range = *given;
    const struct sources sources = sources_of(given);
    const struct sweep_spring spring = pass->springs[0];
    for (long i = 0; i < range.count; i += WIDE_LANES) {
        struct own_nodes own = load_own(&sources, i, manner.damping);
        wide_mask inside = wide_lanes(0, range.count - i);
        struct push f = spring_push(&sources, &own, i, i + range.offset, &spring, &range.memory[0],
                                    inside, manner);
        add_to_sum(&range.sum, i, &f);
        react(&range.other, i, &f, range.count - i);
    }
}

WIDE_INLINE void run_kind(const struct pass_range *range, const struct sweep_pass *pass,
                          struct manner manner)
{
    bool one = pass->springs[0].present, two = pass->springs[1].present;
    if (pass->kind == SWEEP_ONE)
        run_one(range, pass, manner);
    else if (pass->kind == SWEEP_THREE && pass->step == 1)
        run_three(range, pass, 1, manner);
    else if (pass->kind == SWEEP_THREE)
        run_three(range, pass, 2, manner);
    else if (one && two)
        run_along(range, pass, true, true, manner);
    else if (one)
        run_along(range, pass, true, false, manner);
    else
        run_along(range, pass, false, true, manner);
}

static void run_undamped(const struct pass_range *range, const struct sweep_pass *pass)
{
    run_kind(range, pass, (struct manner){UNDAMPED, false});
}

static void run_axial(const struct pass_range *range, const struct sweep_pass *pass)
{
    run_kind(range, pass, (struct manner){DAMPED_AXIAL, false});
}

static void run_full(const struct pass_range *range, const struct sweep_pass *pass)
{
    run_kind(range, pass, (struct manner){DAMPED_FULL, false});
}

static void run_special_undamped(const struct pass_range *range, const struct sweep_pass *pass)
{
    run_kind(range, pass, (struct manner){UNDAMPED, true});
}

static void run_special_axial(const struct pass_range *range, const struct sweep_pass *pass)
{
    run_kind(range, pass, (struct manner){DAMPED_AXIAL, true});
}

static void run_special_full(const struct pass_range *range, const struct sweep_pass *pass)
{
    run_kind(range, pass, (struct manner){DAMPED_FULL, true});
}

void GRID_NAME(grid_pass)(const struct pass_range *range, const struct sweep_pass *pass)
{
    if (pass->damping == UNDAMPED)
        (pass->special ? run_special_undamped : run_undamped)(range, pass);
    else if (pass->damping == DAMPED_AXIAL)
        (pass->special ? run_special_axial : run_axial)(range, pass);
    else
        (pass->special ? run_special_full : run_full)(range, pass);
}
