// The rows of a cloth in one go: springs 1 and 2 nodes along the row, to three nodes of the next
// row and to one of the row after it, and then the motion. What grid_body.h does in three passes
// over a chunk and grid_finish_body.h in another, is done here to a register of nodes at a time: it
// is loaded once, its sum never leaves the registers, and since nobody needs its place any more
// once its springs are known, it can be moved at once. Operations and their order are those of the
// passes, and so are the bits (a reaction subtracted from 0 after another gives the same either
// way round).
//
// Included after those two, whose functions it uses.

// What registers before the present one leave to it.
struct cloth_carry {
    struct push one, two, left, right, waiting;
};

struct cloth {
    struct sources sources;
    struct reals wave;
    const uint32_t *has_left, *has_one, *has_two;
    long count, nx;
    struct sweep_spring one, two, left, middle, right, below;
};

// Springs along the row: the sum of what they do to the row's nodes.
WIDE_INLINE struct push cloth_along(const struct cloth *it, const struct own_nodes *own, long i,
                                    wide_mask has_one, wide_mask has_two, struct manner manner,
                                    struct cloth_carry *carry)
{
    struct push one = spring_push(&it->sources, own, i, i + 1, &it->one, NULL, has_one, manner);
    struct push back = behind(&carry->one, &one, 1);
    struct push two = spring_push(&it->sources, own, i, i + 2, &it->two, NULL, has_two, manner);
    struct push two_back = behind(&carry->two, &two, 2);
    struct push sum = push_sum(&one, &two);
    back = push_sum(&back, &two_back);
    carry->one = one;
    carry->two = two;
    return push_difference(&sum, &back);
}

// Springs to the next row, as run_three has them.
WIDE_INLINE struct push cloth_across(const struct cloth *it, const struct own_nodes *own, long i,
                                     wide_mask inside, wide_mask has_left, wide_mask has_right,
                                     struct manner manner, struct cloth_carry *carry)
{
    const long next = i + it->nx;
    struct push left =
        spring_push(&it->sources, own, i, next - 1, &it->left, NULL, has_left, manner);
    struct push middle = spring_push(&it->sources, own, i, next, &it->middle, NULL, inside, manner);
    struct push right =
        spring_push(&it->sources, own, i, next + 1, &it->right, NULL, has_right, manner);
    struct push sum = push_sum(&middle, &right);
    if (i > 0) {
        struct push last = ahead(&carry->left, &left, 1);
        last = push_sum(&carry->waiting, &last);
        react(&it->wave, next - WIDE_LANES, &last, WIDE_LANES);
    }
    struct push shifted = behind(&carry->right, &right, 1);
    carry->waiting = push_sum(&middle, &shifted);
    carry->right = right;
    carry->left = left;
    return push_sum(&left, &sum);
}

// The spring to the row after the next, whose first reaction this is.
WIDE_INLINE struct push cloth_below(const struct cloth *it, const struct own_nodes *own, long i,
                                    wide_mask inside, long left, struct manner manner)
{
    const long other = i + 2 * it->nx;
    struct push f = spring_push(&it->sources, own, i, other, &it->below, NULL, inside, manner);
    struct push none = no_push(), reaction = push_difference(&none, &f);
    wide_store_first(it->wave.x + other, reaction.x, left);
    wide_store_first(it->wave.y + other, reaction.y, left);
    wide_store_first(it->wave.z + other, reaction.z, left);
    return f;
}

WIDE_INLINE struct push cloth_force(const struct cloth *it, const struct own_nodes *own, long i,
                                    long left, struct manner manner, struct cloth_carry *carry)
{
    wide_mask inside = wide_lanes(0, left);
    wide_mask has_left = wide_both(wide_bits(it->has_left, i), inside);
    wide_mask has_one = wide_both(wide_bits(it->has_one, i), inside);
    wide_mask has_two = wide_both(wide_bits(it->has_two, i), inside);
    struct push along = cloth_along(it, own, i, has_one, has_two, manner, carry);
    struct push across = cloth_across(it, own, i, inside, has_left, has_one, manner, carry);
    struct push sum = push_sum(&along, &across);
    struct push below = cloth_below(it, own, i, inside, left, manner);
    sum = push_sum(&sum, &below);
    struct push reactions = {wide_load_first(it->wave.x + i, left),
                             wide_load_first(it->wave.y + i, left),
                             wide_load_first(it->wave.z + i, left)};
    return push_sum(&reactions, &sum);
}

WIDE_INLINE void run_cloth(const struct system *system, const struct pass_range *range, real mass,
                           struct manner manner, bool loaded, enum sweep_finish finish)
{
    const struct sweep *sweep = range->sweep;
    const struct sweep_pass *passes = sweep->passes;
    const struct cloth it = {
        .sources = sources_of(range),
        .wave = range->other,
        .has_left = sweep->bits[GRID_REACH - 1],
        .has_one = sweep->bits[GRID_REACH + 1],
        .has_two = sweep->bits[GRID_REACH + 2],
        .count = range->count,
        .nx = (long)range->offset,
        .one = passes[0].springs[0],
        .two = passes[0].springs[1],
        .left = passes[1].springs[0],
        .middle = passes[1].springs[1],
        .right = passes[1].springs[2],
        .below = passes[2].springs[0],
    };
    const struct node_motion motion = motion_of(system, range->first, finish);
    const wide one_mass = wide_set(mass);
    const real *inverses = system->constants->inverse_mass + range->first;
    struct cloth_carry carry = {no_push(), no_push(), no_push(), no_push(), no_push()};
    long i = 0;
    for (; i < it.count; i += WIDE_LANES) {
        const long left = it.count - i;
        // Undamped springs do without velocities, but the motion does not.
        struct own_nodes own = load_own(&it.sources, i, DAMPED_AXIAL);
        struct push force = cloth_force(&it, &own, i, left, manner, &carry);
        wide inverse = wide_load_first(inverses + i, left);
        struct moving now[3] = {
            {own.x, own.vx, force.x}, {own.y, own.vy, force.y}, {own.z, own.vz, force.z}};
        for (int c = 0; c < 3; c++) {
            const struct component *to = &motion.components[c];
            if (loaded)
                now[c].force = wide_add(wide_load_first(to->f + i, left), now[c].force);
            finish_component(to, &motion.steps, now[c], one_mass, inverse, i, left, loaded, finish);
        }
    }
    i -= WIDE_LANES;
    struct push none = no_push(), last = ahead(&carry.left, &none, 1);
    last = push_sum(&carry.waiting, &last);
    react(&it.wave, i + it.nx, &last, it.count - i);
}

void GRID_NAME(grid_cloth)(const struct system *system, const struct pass_range *range, real mass,
                           bool loaded)
{
    bool damped = range->sweep->passes[0].damping != UNDAMPED;
    struct manner axial = {DAMPED_AXIAL, false}, undamped = {UNDAMPED, false};
    if (damped && loaded)
        run_cloth(system, range, mass, axial, true, SWEEP_SYMPLECTIC_EULER);
    else if (damped)
        run_cloth(system, range, mass, axial, false, SWEEP_SYMPLECTIC_EULER);
    else if (loaded)
        run_cloth(system, range, mass, undamped, true, SWEEP_SYMPLECTIC_EULER);
    else
        run_cloth(system, range, mass, undamped, false, SWEEP_SYMPLECTIC_EULER);
}
