// The kernel of a cloth with structural, shear and bending springs: springs to nodes 1 and 2
// further on in the row, to three nodes of the next row and to one of the row after it, and then
// the motion. It computes a register of nodes at a time what force_body.h computes in three passes
// over a chunk and in grid_finish. Nodes are loaded once, their sum of forces stays in registers,
// and since their positions are not needed after their springs, they are moved at once. The
// operations and their order are those of the passes, and so are the bits (subtracting two
// reactions from 0 gives the same in either order). If no other force acts on the nodes, a wind of
// law face is computed in the same pass, because the separations of the springs are the edges of
// its faces; its sums are those of faces/wind_body.h, in the same order.
//
// Instead of bending springs a cloth may have elements (elements_body.h). The reaction buffers then
// receive them together with the reactions of springs, in an order of their own.
//
// Edges of tiles, other layouts of springs, and springs that break, yield or go slack are left to
// the passes. Included after force_body.h,
// elements_body.h and faces/wind_body.h, whose functions it uses.

// Wind computed with the springs: none, or of law face, relative to the cloth's velocity or not.
// Constant wherever it is inlined.
struct wind_variant {
    bool windy, relative;
};

// The powers of the springs of a register of nodes, for the energy budget.
struct cloth_powers {
    struct fraction one, two, left, middle, right, below;
    wide elements;
};

// Values that previous registers pass on to the present one.
struct cloth_previous {
    struct wide3 one, two, left, right, waiting;
    struct wide3 first_face, both_faces;
    long read, write; // positions in the rolling buffer
    long line;        // position in the weights of lines
};

struct cloth {
    struct sources sources;
    struct reals reactions, ring;
    const uint32_t *has_left, *has_one, *has_two;
    long count, nx, ring_length;
    struct sweep_spring one, two, left, middle, right, below;
    struct air air;
    struct sweep_elements elements; // a copy, for the same reason as that of pointers
    struct line_weights lines;
};

// The separations between a register of nodes and the other corners of its cells.
struct cloth_separations {
    struct separation one, middle, right;
};

// The sum of the forces of springs and elements and of their reactions on a register of nodes, in
// the manner of cloth_force. Each element is computed just before its forces are added: those of
// all three at once would not stay in registers.
WIDE_INLINE struct wide3 cloth_force_elements(const struct cloth *it, const struct own_nodes *own,
                                              const struct cloth_separations *apart, long i,
                                              long left, struct variant variant,
                                              struct cloth_previous *previous,
                                              struct cloth_powers *powers)
{
    const struct sweep_elements *of = &it->elements;
    const wide_mask inside = wide_lane_range(0, left);
    const wide_mask has_left = wide_mask_and(wide_mask_load(it->has_left, i), inside);
    const wide_mask has_one = wide_mask_and(wide_mask_load(it->has_one, i), inside);
    const wide_mask has_two = wide_mask_and(wide_mask_load(it->has_two, i), inside);
    const long next = i + it->nx, after = next + it->nx, line = previous->line;
    powers->elements = wide_set(0);

    // Along the row: nodes i + 1 receive the reactions of springs, of centres of lines and of
    // cells, nodes i + 2 those of the ends of lines.
    const struct separation two = separation_to(&it->sources, own, i + 2, variant.damping);
    const struct wide3 along = line_force(of, 0, &apart->one, &two, it->lines.along + line, has_two,
                                          variant, &powers->elements);
    const struct corner_forces cell = corner_forces(of, &apart->one, &apart->middle, &apart->right,
                                                    has_one, variant, &powers->elements);
    struct wide3 one = pair_force(&apart->one, i, &it->one, NULL, has_one, variant, &powers->one);
    struct wide3 sum = wide3_add(one, along);
    one = wide3_add(one, wide3_add(along, along));
    one = wide3_add(one, cell.one);
    struct wide3 back = wide3_subtract(wide3_shift_up(previous->one, one, 1),
                                       wide3_shift_up(previous->two, along, 2));
    previous->one = one;
    previous->two = along;
    sum = wide3_subtract(sum, back);

    // To the next row.
    const struct row_state shared = {.shares = it->lines.shares};
    struct sweep_spring ahead = it->middle;
    ahead.side = 0; // known to the compiler: it never goes slack
    struct variant sharing = variant;
    sharing.special = true;
    struct wide3 to_left = spring_force(&it->sources, own, i, next - 1, &it->left, NULL, has_left,
                                        variant, &powers->left);
    struct wide3 middle =
        pair_force(&apart->middle, line, &ahead, &shared, inside, sharing, &powers->middle);
    struct wide3 right =
        pair_force(&apart->right, i, &it->right, NULL, has_one, variant, &powers->right);
    const struct separation below = separation_to(&it->sources, own, after, variant.damping);
    const struct wide3 across = line_force(of, 1, &apart->middle, &below, it->lines.across + line,
                                           inside, variant, &powers->elements);
    struct wide3 forwards = wide3_add(to_left, wide3_add(middle, right));
    forwards = wide3_add(forwards, wide3_add(across, cell.own));
    sum = wide3_add(sum, forwards);
    if (i > 0) {
        struct wide3 last = wide3_shift_down(previous->left, to_left, 1);
        last = wide3_add(previous->waiting, last);
        subtract_reaction(&it->reactions, next - WIDE_LANES, last, WIDE_LANES);
    }
    middle = wide3_add(middle, wide3_add(across, across));
    middle = wide3_add(middle, cell.next);
    right = wide3_subtract(right, cell.far);
    previous->waiting = wide3_add(middle, wide3_shift_up(previous->right, right, 1));
    previous->right = right;
    previous->left = to_left;

    // To the row after the next one, which receives its first reaction here.
    wide3_store_first(it->reactions.x, it->reactions.y, it->reactions.z, after, across, left);
    previous->line = line + WIDE_LANES == it->lines.period ? 0 : line + WIDE_LANES;

    const struct reals *from = &it->reactions;
    struct wide3 reactions = wide3_load_first(from->x, from->y, from->z, i, left);
    return wide3_add(reactions, sum);
}

// Springs along the row. Returns the sum of their forces and reactions on the nodes of the
// register.
WIDE_INLINE struct wide3 cloth_along(const struct cloth *it, const struct own_nodes *own,
                                     const struct cloth_separations *apart, long i,
                                     wide_mask has_one, wide_mask has_two, struct variant variant,
                                     struct cloth_previous *previous, struct cloth_powers *powers)
{
    struct wide3 one = pair_force(&apart->one, i, &it->one, NULL, has_one, variant, &powers->one);
    struct wide3 back = wide3_shift_up(previous->one, one, 1);
    struct wide3 two =
        spring_force(&it->sources, own, i, i + 2, &it->two, NULL, has_two, variant, &powers->two);
    struct wide3 two_back = wide3_shift_up(previous->two, two, 2);
    struct wide3 sum = wide3_add(one, two);
    back = wide3_add(back, two_back);
    previous->one = one;
    previous->two = two;
    return wide3_subtract(sum, back);
}

// Springs to the next row, in the order of run_three. Returns the sum of their forces.
WIDE_INLINE struct wide3 cloth_across(const struct cloth *it, const struct own_nodes *own,
                                      const struct cloth_separations *apart, long i,
                                      wide_mask inside, wide_mask has_left, wide_mask has_right,
                                      struct variant variant, struct cloth_previous *previous,
                                      struct cloth_powers *powers)
{
    const long next = i + it->nx;
    struct wide3 left = spring_force(&it->sources, own, i, next - 1, &it->left, NULL, has_left,
                                     variant, &powers->left);
    struct wide3 middle =
        pair_force(&apart->middle, i, &it->middle, NULL, inside, variant, &powers->middle);
    struct wide3 right =
        pair_force(&apart->right, i, &it->right, NULL, has_right, variant, &powers->right);
    struct wide3 sum = wide3_add(middle, right);
    if (i > 0) {
        struct wide3 last = wide3_shift_down(previous->left, left, 1);
        last = wide3_add(previous->waiting, last);
        subtract_reaction(&it->reactions, next - WIDE_LANES, last, WIDE_LANES);
    }
    struct wide3 shifted = wide3_shift_up(previous->right, right, 1);
    previous->waiting = wide3_add(middle, shifted);
    previous->right = right;
    previous->left = left;
    return wide3_add(left, sum);
}

// The spring to the row after the next one, which receives its first reaction here: the reaction is
// stored, not added.
WIDE_INLINE struct wide3 cloth_below(const struct cloth *it, const struct own_nodes *own, long i,
                                     wide_mask inside, long left, struct variant variant,
                                     struct cloth_powers *powers)
{
    const long other = i + 2 * it->nx;
    struct wide3 f = spring_force(&it->sources, own, i, other, &it->below, NULL, inside, variant,
                                  &powers->below);
    struct wide3 none = wide3_zero(), reaction = wide3_subtract(none, f);
    wide3_store_first(it->reactions.x, it->reactions.y, it->reactions.z, other, reaction, left);
    return f;
}

// The sum of all spring forces and reactions on a register of nodes.
WIDE_INLINE struct wide3 cloth_force(const struct cloth *it, const struct own_nodes *own,
                                     const struct cloth_separations *apart, long i, long left,
                                     struct variant variant, struct cloth_previous *previous,
                                     struct cloth_powers *powers)
{
    wide_mask inside = wide_lane_range(0, left);
    wide_mask has_left = wide_mask_and(wide_mask_load(it->has_left, i), inside);
    wide_mask has_one = wide_mask_and(wide_mask_load(it->has_one, i), inside);
    wide_mask has_two = wide_mask_and(wide_mask_load(it->has_two, i), inside);
    struct wide3 along =
        cloth_along(it, own, apart, i, has_one, has_two, variant, previous, powers);
    struct wide3 across =
        cloth_across(it, own, apart, i, inside, has_left, has_one, variant, previous, powers);
    struct wide3 sum = wide3_add(along, across);
    struct wide3 below = cloth_below(it, own, i, inside, left, variant, powers);
    sum = wide3_add(sum, below);
    const struct reals *from = &it->reactions;
    struct wide3 reactions = wide3_load_first(from->x, from->y, from->z, i, left);
    return wide3_add(reactions, sum);
}

static inline void ring_store(const struct reals *ring, long at, struct wide3 a)
{
    wide3_store(ring->x, ring->y, ring->z, at, a);
}

// Reads the contributions of the previous row's faces from the rolling buffer, and stores those of
// this row's faces to the next row. The buffer is a row and a register long; its beginning is
// copied after its end, for reads across the end.
WIDE_INLINE struct wide3 pass_ring(const struct cloth *it, struct wide3 above,
                                   struct cloth_previous *previous)
{
    const struct reals *ring = &it->ring;
    const long read = previous->read, write = previous->write;
    struct wide3 waited = wide3_load(ring->x, ring->y, ring->z, read);
    ring_store(ring, write, above);
    if (write == 0)
        ring_store(ring, it->ring_length, above);
    previous->write = write + WIDE_LANES == it->ring_length ? 0 : write + WIDE_LANES;
    const long past = read + WIDE_LANES - it->ring_length;
    previous->read = past < 0 ? read + WIDE_LANES : past;
    return waited;
}

// The wind on a register of nodes, from the faces of their cells, of the cells to their left and of
// those in the previous row, with the sums of faces/wind_body.h.
WIDE_INLINE struct wide3 cloth_wind(const struct cloth *it, const struct own_nodes *own,
                                    const struct cloth_separations *apart, long i, long left,
                                    bool relative, struct cloth_previous *previous)
{
    const struct cell_edges to = {
        .b = apart->one.d,
        .c = apart->middle.d,
        .d = apart->right.d,
        .vb = apart->one.w,
        .vc = apart->middle.w,
        .vd = apart->right.w,
    };
    const struct wide3 velocity = own->v;
    wide_mask exists = wide_mask_and(wide_mask_load(it->has_one, i), wide_lane_range(0, left));
    struct wide3 first, second;
    cell_faces(&it->air, &to, velocity, exists, WIND_FACE, relative, &first, &second);
    struct wide3 both = wide3_add(first, second);
    struct wide3 above = wide3_add(second, wide3_shift_up(previous->both_faces, both, 1));
    struct wide3 sum = wide3_add(pass_ring(it, above, previous), both);
    sum = wide3_add(sum, wide3_shift_up(previous->first_face, first, 1));
    previous->first_face = first;
    previous->both_faces = both;
    return sum;
}

static inline struct cloth cloth_of(const struct pass_range *range, const struct wind_now *wind)
{
    const struct sweep *sweep = range->sweep;
    const struct sweep_pass *passes = sweep->passes;
    static const struct wind_now calm = {.law = WIND_FACE};
    return (struct cloth){
        .sources = sources_of(range),
        .reactions = range->other,
        .ring = range->sum,
        .has_left = sweep->bits[GRID_REACH - 1],
        .has_one = sweep->bits[GRID_REACH + 1],
        .has_two = sweep->bits[GRID_REACH + 2],
        .count = range->count,
        .nx = (long)range->offset,
        .ring_length = wind_ring_length((long)range->offset),
        .one = passes[0].springs[0],
        .two = passes[0].springs[1],
        .left = passes[1].springs[0],
        .middle = passes[1].springs[1],
        .right = passes[1].springs[2],
        .below = passes[2].springs[0],
        .air = air_of(wind ? wind : &calm),
        .elements = sweep->elements,
        .lines = range->lines,
    };
}

WIDE_INLINE wide cloth_power(const struct sweep *sweep, const struct cloth_powers *of,
                             struct variant variant)
{
    if (variant.elements)
        return wide_add(
            wide_add(power_of_one(sweep, &of->one, variant), scaled_power(sweep, of->elements)),
            power_of_three(sweep, &of->left, &of->middle, &of->right, variant));
    return wide_add(power_of_three(sweep, &of->one, &of->two, &of->below, variant),
                    power_of_three(sweep, &of->left, &of->middle, &of->right, variant));
}

// The forces on a register of nodes, and the velocities at the same time as the positions.
struct cloth_finished {
    struct wide3 force, velocity;
};

// Adds the remaining forces on a register of nodes, and moves them.
WIDE_INLINE struct cloth_finished cloth_finish(const struct node_motion *motion,
                                               const struct own_nodes *own, struct wide3 force,
                                               wide mass, wide inverse, long i, long left,
                                               bool loaded, enum sweep_finish finish, bool mixed)
{
    const struct moving now[3] = {{own->x.x, own->v.x, force.x},
                                  {own->x.y, own->v.y, force.y},
                                  {own->x.z, own->v.z, force.z}};
    struct finished done[3];
    for (int c = 0; c < 3; c++) {
        const struct component *to = &motion->components[c];
        struct moving it = now[c];
        if (loaded)
            it.force = wide_add(wide_load_first(to->f + i, left), it.force);
        done[c] =
            finish_component(to, &motion->steps, it, mass, inverse, i, left, loaded, finish, mixed);
    }
    return (struct cloth_finished){{done[0].force, done[1].force, done[2].force},
                                   {done[0].velocity, done[1].velocity, done[2].velocity}};
}

// Stores the sums of nodes that wait for another tile.
WIDE_INLINE void store_force(const struct node_motion *motion, struct wide3 force, long i,
                             long left, bool loaded)
{
    const wide sums[3] = {force.x, force.y, force.z};
    for (int c = 0; c < 3; c++) {
        real *const to = motion->components[c].f + i;
        wide_store_first(to, loaded ? wide_add(wide_load_first(to, left), sums[c]) : sums[c], left);
    }
}

// A case of the switch in run_cloth, in which `finish` is a constant.
#define FINISHED(of)                                                                               \
    case of:                                                                                       \
        if (!variant.powers || finish_may_measure(of))                                             \
            done = cloth_finish(&motion, &own, force, mass, inverse, i, left, loaded, of, mixed);  \
        break;

// `masses` of the nodes, or NULL if each has `each`. For symplectic Euler with one mass for all
// nodes, `finish` and `masses` are constants where this is inlined; for the others they are
// variables, at no cost that could be measured there. `stores`, a constant: the sums go to the
// force arrays, and nodes stay. `shares_mass`: the mass of each node is `each` times its share of
// springs across rows. With elements registers are scarce, and these two as variables cost 4% each.
WIDE_INLINE void run_cloth(const struct system *system, const struct pass_range *range,
                           const real *masses, real each, const struct wind_now *wind,
                           struct wind_variant wind_variant, struct variant variant, bool loaded,
                           enum sweep_finish finish, bool mixed, bool stores, bool shares_mass)
{
    struct power_sums *const sums = range->powers;
    const bool drives = variant.powers && sums->drives;
    const struct cloth it = cloth_of(range, wind);
    const struct node_motion motion = motion_of(system, range->first, finish);
    const wide one_mass = wide_set(each);
    const real *inverses = system->constants->inverse_mass + range->first;
    struct cloth_previous previous = {
        .one = wide3_zero(),
        .two = wide3_zero(),
        .left = wide3_zero(),
        .right = wide3_zero(),
        .waiting = wide3_zero(),
        .first_face = wide3_zero(),
        .both_faces = wide3_zero(),
        .read = it.ring_length - it.nx,
    };
    const enum sweep_damping asked = wind_variant.relative ? DAMPED_AXIAL : variant.damping;
    long i = 0;
    for (; i < it.count; i += WIDE_LANES) {
        const long left = it.count - i;
        if (variant.powers && power_is_full(i))
            power_flush_all(sums);
        // The motion needs velocities even if the springs are undamped.
        struct own_nodes own = load_own(&it.sources, i, DAMPED_AXIAL);
        const struct cloth_separations apart = {
            .one = separation_to(&it.sources, &own, i + 1, asked),
            .middle = separation_to(&it.sources, &own, i + it.nx, asked),
            .right = separation_to(&it.sources, &own, i + it.nx + 1, asked),
        };
        struct cloth_powers powers;
        const long line = previous.line;
        struct wide3 force =
            variant.elements
                ? cloth_force_elements(&it, &own, &apart, i, left, variant, &previous, &powers)
                : cloth_force(&it, &own, &apart, i, left, variant, &previous, &powers);
        if (variant.powers && variant.damping != UNDAMPED)
            power_add(sums, POWER_DAMPING, i, cloth_power(range->sweep, &powers, variant));
        wide inverse = wide_load_first(inverses + i, left);
        if (wind_variant.windy) {
            struct wide3 blown =
                cloth_wind(&it, &own, &apart, i, left, wind_variant.relative, &previous);
            blown = wide3_masked(wide_positive(inverse), blown); // none on pinned nodes
            force = wide3_add(blown, force);
            if (variant.powers)
                power_add(sums, POWER_WIND, i,
                          wide_masked(wide_lane_range(0, left), wide3_dot(blown, own.v)));
        }
        if (stores) {
            store_force(&motion, force, i, left, loaded);
            continue;
        }
        wide mass = masses ? wide_load_first(masses + i, left) : one_mass;
        if (shares_mass)
            mass = wide_multiply(one_mass, wide_load(it.lines.shares + line));
        struct cloth_finished done = {force, own.v};
        switch (finish) {
            FINISHED(SWEEP_FORCES)
            FINISHED(SWEEP_HALF_KICK)
            FINISHED(SWEEP_EXPLICIT_EULER)
            FINISHED(SWEEP_SYMPLECTIC_EULER)
            FINISHED(SWEEP_VELOCITY_VERLET)
            FINISHED(SWEEP_VERLET)
            FINISHED(SWEEP_MIDPOINT_FIRST)
            FINISHED(SWEEP_MIDPOINT_LAST)
            FINISHED(SWEEP_RK4_FIRST)
            FINISHED(SWEEP_RK4_SECOND)
            FINISHED(SWEEP_RK4_THIRD)
            FINISHED(SWEEP_RK4_LAST)
        }
        if (variant.powers)
            add_node_powers(sums, drives, &done.velocity, &done.force, mass, inverse,
                            masses != NULL || shares_mass, i, left);
    }
    i -= WIDE_LANES;
    struct wide3 none = wide3_zero(), last = wide3_shift_down(previous.left, none, 1);
    last = wide3_add(previous.waiting, last);
    subtract_reaction(&it.reactions, i + it.nx, last, it.count - i);
}

#undef FINISHED

typedef void (*cloth_function)(const struct system *system, const struct pass_range *range,
                               const real *masses, real each, const struct wind_now *wind,
                               enum sweep_finish finish);

// NAME_any: for every `finish` and any masses; NAME_euler: for symplectic Euler and one mass;
// NAME_mixed: as NAME_any in precision mixed, which double precision never is.
#define CLOTH(name, windy, relative, damping, loaded, powers)                                      \
    static void name##_any(const struct system *system, const struct pass_range *range,            \
                           const real *masses, real each, const struct wind_now *wind,             \
                           enum sweep_finish finish)                                               \
    {                                                                                              \
        run_cloth(system, range, masses, each, windy ? wind : NULL,                                \
                  (struct wind_variant){windy, relative},                                          \
                  (struct variant){damping, false, powers, false, false}, loaded, finish, false,   \
                  false, false);                                                                   \
    }                                                                                              \
    static void name##_mixed(const struct system *system, const struct pass_range *range,          \
                             const real *masses, real each, const struct wind_now *wind,           \
                             enum sweep_finish finish)                                             \
    {                                                                                              \
        if (sizeof(real) == sizeof(float))                                                         \
            run_cloth(system, range, masses, each, windy ? wind : NULL,                            \
                      (struct wind_variant){windy, relative},                                      \
                      (struct variant){damping, false, powers, false, false}, loaded, finish,      \
                      true, false, false);                                                         \
    }                                                                                              \
    static void name##_euler(const struct system *system, const struct pass_range *range,          \
                             const real *masses, real each, const struct wind_now *wind,           \
                             enum sweep_finish finish)                                             \
    {                                                                                              \
        (void)masses, (void)finish;                                                                \
        run_cloth(system, range, NULL, each, windy ? wind : NULL,                                  \
                  (struct wind_variant){windy, relative},                                          \
                  (struct variant){damping, false, powers, false, false}, loaded,                  \
                  SWEEP_SYMPLECTIC_EULER, false, false, false);                                    \
    }

CLOTH(calm_undamped, false, false, UNDAMPED, false, false)
CLOTH(calm_axial, false, false, DAMPED_AXIAL, false, false)
CLOTH(calm_undamped_loaded, false, false, UNDAMPED, true, false)
CLOTH(calm_axial_loaded, false, false, DAMPED_AXIAL, true, false)
CLOTH(calm_undamped_powers, false, false, UNDAMPED, false, true)
CLOTH(calm_axial_powers, false, false, DAMPED_AXIAL, false, true)
CLOTH(calm_undamped_loaded_powers, false, false, UNDAMPED, true, true)
CLOTH(calm_axial_loaded_powers, false, false, DAMPED_AXIAL, true, true)
CLOTH(windy_undamped, true, false, UNDAMPED, false, false)
CLOTH(windy_axial, true, false, DAMPED_AXIAL, false, false)
CLOTH(windy_undamped_relative, true, true, UNDAMPED, false, false)
CLOTH(windy_axial_relative, true, true, DAMPED_AXIAL, false, false)
CLOTH(windy_undamped_powers, true, false, UNDAMPED, false, true)
CLOTH(windy_axial_powers, true, false, DAMPED_AXIAL, false, true)
CLOTH(windy_undamped_relative_powers, true, true, UNDAMPED, false, true)
CLOTH(windy_axial_relative_powers, true, true, DAMPED_AXIAL, false, true)

// Indices without wind: powers, loaded, damped; with wind: powers, relative, damped.
#define CLOTH_FUNCTIONS(finishes)                                                                  \
    {                                                                                              \
        {{{calm_undamped##_##finishes, calm_axial##_##finishes},                                   \
          {calm_undamped_loaded##_##finishes, calm_axial_loaded##_##finishes}},                    \
         {{calm_undamped_powers##_##finishes, calm_axial_powers##_##finishes},                     \
          {calm_undamped_loaded_powers##_##finishes, calm_axial_loaded_powers##_##finishes}}},     \
            {{{windy_undamped##_##finishes, windy_axial##_##finishes},                             \
              {windy_undamped_relative##_##finishes, windy_axial_relative##_##finishes}},          \
             {{windy_undamped_powers##_##finishes, windy_axial_powers##_##finishes},               \
              {windy_undamped_relative_powers##_##finishes,                                        \
               windy_axial_relative_powers##_##finishes}}},                                        \
    }

// Cloths with elements: for every `finish`, any masses, loaded or not. NAME_euler: for symplectic
// Euler without other forces, with masses from the shares of springs.
typedef void (*cloth_elements_function)(const struct system *system, const struct pass_range *range,
                                        const real *masses, real each, bool loaded,
                                        enum sweep_finish finish);

#define CLOTH_ELEMENTS(name, damping, powers, areas, euler, mixed)                                 \
    static void name(const struct system *system, const struct pass_range *range,                  \
                     const real *masses, real each, bool loaded, enum sweep_finish finish)         \
    {                                                                                              \
        if (!(mixed) || sizeof(real) == sizeof(float))                                             \
            run_cloth(system, range, (euler) ? NULL : masses, each, NULL,                          \
                      (struct wind_variant){false, false},                                         \
                      (struct variant){damping, false, powers, true, areas},                       \
                      (euler) ? false : loaded, (euler) ? SWEEP_SYMPLECTIC_EULER : finish, mixed,  \
                      false, (euler) || range->shares_mass);                                       \
    }

// The same for rows that wait for other tiles: their sums are stored.
#define CLOTH_ELEMENTS_STORES(name, damping, powers, areas)                                        \
    static void name(const struct system *system, const struct pass_range *range,                  \
                     const real *masses, real each, bool loaded, enum sweep_finish finish)         \
    {                                                                                              \
        (void)finish;                                                                              \
        run_cloth(system, range, masses, each, NULL, (struct wind_variant){false, false},          \
                  (struct variant){damping, false, powers, true, areas}, loaded, SWEEP_FORCES,     \
                  false, true, false);                                                             \
    }

// NAME: bending alone; NAME_areas: with areas.
#define CLOTH_ELEMENTS_AREAS(name, damping, powers, euler, mixed)                                  \
    CLOTH_ELEMENTS(name, damping, powers, false, euler, mixed)                                     \
    CLOTH_ELEMENTS(name##_areas, damping, powers, true, euler, mixed)

CLOTH_ELEMENTS_AREAS(elements_undamped, UNDAMPED, false, false, false)
CLOTH_ELEMENTS_AREAS(elements_axial, DAMPED_AXIAL, false, false, false)
CLOTH_ELEMENTS_AREAS(elements_undamped_powers, UNDAMPED, true, false, false)
CLOTH_ELEMENTS_AREAS(elements_axial_powers, DAMPED_AXIAL, true, false, false)
CLOTH_ELEMENTS_AREAS(elements_undamped_euler, UNDAMPED, false, true, false)
CLOTH_ELEMENTS_AREAS(elements_axial_euler, DAMPED_AXIAL, false, true, false)
CLOTH_ELEMENTS_AREAS(elements_undamped_mixed, UNDAMPED, false, false, true)
CLOTH_ELEMENTS_AREAS(elements_axial_mixed, DAMPED_AXIAL, false, false, true)
CLOTH_ELEMENTS_AREAS(elements_undamped_powers_mixed, UNDAMPED, true, false, true)
CLOTH_ELEMENTS_AREAS(elements_axial_powers_mixed, DAMPED_AXIAL, true, false, true)
CLOTH_ELEMENTS_STORES(elements_undamped_stores, UNDAMPED, false, false)
CLOTH_ELEMENTS_STORES(elements_undamped_stores_areas, UNDAMPED, false, true)
CLOTH_ELEMENTS_STORES(elements_axial_stores, DAMPED_AXIAL, false, false)
CLOTH_ELEMENTS_STORES(elements_axial_stores_areas, DAMPED_AXIAL, false, true)
CLOTH_ELEMENTS_STORES(elements_undamped_powers_stores, UNDAMPED, true, false)
CLOTH_ELEMENTS_STORES(elements_undamped_powers_stores_areas, UNDAMPED, true, true)
CLOTH_ELEMENTS_STORES(elements_axial_powers_stores, DAMPED_AXIAL, true, false)
CLOTH_ELEMENTS_STORES(elements_axial_powers_stores_areas, DAMPED_AXIAL, true, true)

// Indices: damped, areas.
#define CLOTH_ELEMENTS_FUNCTIONS(finishes)                                                         \
    {                                                                                              \
        {elements_undamped##finishes, elements_undamped##finishes##_areas},                        \
            {elements_axial##finishes, elements_axial##finishes##_areas},                          \
    }

static void cloth_with_elements(const struct system *system, const struct pass_range *range,
                                const real *masses, double each, bool loaded, bool damped,
                                enum sweep_finish finish)
{
    static const cloth_elements_function eulers[2][2] = CLOTH_ELEMENTS_FUNCTIONS(_euler);
    static const cloth_elements_function functions[2][2][2][2] = {
        {CLOTH_ELEMENTS_FUNCTIONS(), CLOTH_ELEMENTS_FUNCTIONS(_powers)},
        {CLOTH_ELEMENTS_FUNCTIONS(_mixed), CLOTH_ELEMENTS_FUNCTIONS(_powers_mixed)}};
    static const cloth_elements_function stores[2][2][2] = {
        CLOTH_ELEMENTS_FUNCTIONS(_stores), CLOTH_ELEMENTS_FUNCTIONS(_powers_stores)};
    const bool mixed = state_is_mixed(system->state), powers = range->powers != NULL;
    const bool euler =
        finish == SWEEP_SYMPLECTIC_EULER && !loaded && !powers && !mixed && range->shares_mass;
    const bool areas = range->sweep->elements.areas;
    const cloth_elements_function function = range->stores ? stores[powers][damped][areas]
                                             : euler       ? eulers[damped][areas]
                                                     : functions[mixed][powers][damped][areas];
    function(system, range, masses, (real)each, loaded, finish);
}

static void grid_cloth(const struct system *system, const struct pass_range *range,
                       const real *masses, double each, bool loaded, const struct wind_now *wind,
                       enum sweep_finish finish)
{
    const bool elements = range->sweep->grid->has_elements;
    static const cloth_function functions[3][2][2][2][2] = {
        CLOTH_FUNCTIONS(any), CLOTH_FUNCTIONS(euler), CLOTH_FUNCTIONS(mixed)};
    const bool euler = finish == SWEEP_SYMPLECTIC_EULER && !masses;
    const int of = state_is_mixed(system->state) ? 2 : euler ? 1 : 0;
    const bool damped =
        range->sweep->passes[0].damping != UNDAMPED || (elements && range->sweep->elements.damped);
    struct power_sums *const total = range->powers;
    const cloth_function function =
        functions[of][wind != NULL][total != NULL][wind ? wind->relative : loaded][damped];
    if (!total && elements)
        cloth_with_elements(system, range, masses, each, loaded, damped, finish);
    else if (!total)
        function(system, range, masses, (real)each, wind, finish);
    if (!total)
        return;
    struct power_sums sums = {.drives = total->drives};
    struct pass_range part = *range;
    part.powers = &sums;
    if (elements)
        cloth_with_elements(system, &part, masses, each, loaded, damped, finish);
    else
        function(system, &part, masses, (real)each, wind, finish);
    power_flush_all(&sums);
    add_sums(total, &sums, masses != NULL || (elements && range->shares_mass), each);
}
