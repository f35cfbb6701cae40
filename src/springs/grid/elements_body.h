// The elements of cloths, computed in the sweep over their springs: bending along lines of three
// nodes, twist and area of cells (elements/elements.h has their energies). Like a spring each
// element is computed once, at its first node, from positions of nodes that are still to come, and
// the forces on these are reactions; so nodes can be moved as soon as their row has been computed.
// All sums are made of the separations between nodes, which springs need too, and which are not
// rounded as coordinates are.
//
// grid_elements computes rows at the edges of tiles and of the cloth, and cloths whose springs go
// through passes; for most rows of a cloth grid_cloth calls the same functions. Included after
// force_body.h.

// 2 x1 - x0 - x2 of lines, by the separations x0 - x1 and x0 - x2.
WIDE_INLINE struct wide3 line_sum(struct wide3 near, struct wide3 far)
{
    return wide3_subtract(wide3_subtract(far, near), near);
}

// k c and, with damping, the same of velocities: the force on the first node. `power` grows by what
// the damping dissipates.
WIDE_INLINE struct wide3 linear_force(struct wide3 c, struct wide3 rate, wide_mask exists, wide k,
                                      wide damping, struct variant variant, wide *power)
{
    struct wide3 f = {wide_multiply_where(exists, k, c.x), wide_multiply_where(exists, k, c.y),
                      wide_multiply_where(exists, k, c.z)};
    if (variant.damping == UNDAMPED)
        return f;
    const struct wide3 damped = {wide_multiply_where(exists, damping, rate.x),
                                 wide_multiply_where(exists, damping, rate.y),
                                 wide_multiply_where(exists, damping, rate.z)};
    if (variant.powers)
        *power = wide_add(*power, wide_multiply_where(exists, damping, wide3_dot(rate, rate)));
    return wide3_add(f, damped);
}

// The force on the first nodes of lines and on their last; that on their centres is -2 times it.
// `line`: 0 along x, 1 along y.
WIDE_INLINE struct wide3 line_force(const struct sweep_elements *of, int line,
                                    const struct separation *near, const struct separation *far,
                                    const real *weights, wide_mask exists, struct variant variant,
                                    wide *power)
{
    const wide weight = wide_load(weights);
    const bool damped = variant.damping != UNDAMPED;
    return linear_force(line_sum(near->d, far->d), damped ? line_sum(near->w, far->w) : near->d,
                        exists, wide_multiply(wide_set(of->stiffness[line]), weight),
                        wide_multiply(wide_set(of->damping[line]), weight), variant, power);
}

// Half the sum of the edges a and a + (c - b) of a cell.
WIDE_INLINE struct wide3 mean_edge(struct wide3 a, struct wide3 b, struct wide3 c)
{
    return wide3_scale(wide_set((real)0.5), wide3_add(a, wide3_subtract(c, b)));
}

// The forces on corners (0,0) and (1,1) of cells, and the reactions on corners (1,0) and (0,1),
// which are subtracted from their forces.
struct corner_forces {
    struct wide3 own, far, one, next;
};

// Adds the forces of the area of cells: -p and p act on corners (0,0) and (1,1), q and -q on (1,0)
// and (0,1).
WIDE_INLINE void add_area(const struct sweep_elements *of, const struct separation *one,
                          const struct separation *middle, const struct separation *right,
                          wide_mask exists, struct variant variant, struct corner_forces *forces,
                          wide *power)
{
    const struct wide3 u = mean_edge(one->d, middle->d, right->d);
    const struct wide3 v = mean_edge(middle->d, one->d, right->d);
    struct wide3 normal = wide3_cross(u, v);
    const wide area = wide_sqrt(wide3_dot(normal, normal));
    normal = wide3_scale(wide_divide(wide_set(1), wide_max(area, wide_set(REAL_TINY))), normal);

    // The derivatives of the area by the edges, and the force along them.
    const struct wide3 by_u = wide3_cross(v, normal), by_v = wide3_cross(normal, u);
    wide excess = wide_subtract(area, wide_set(of->area_rest));
    excess = wide_max(wide_min(excess, wide_set(of->area_limit)), wide_set(-of->area_limit));
    wide force = wide_multiply(wide_set(of->area_stiffness), excess);
    if (variant.damping != UNDAMPED) {
        const wide rate = wide_add(wide3_dot(by_u, mean_edge(one->w, middle->w, right->w)),
                                   wide3_dot(by_v, mean_edge(middle->w, one->w, right->w)));
        const wide damped = wide_multiply(wide_set(of->area_damping), rate);
        force = wide_add(force, damped);
        if (variant.powers)
            *power = wide_add(*power, wide_multiply_where(exists, damped, rate));
    }
    const wide share = wide_multiply(wide_set((real)0.5), force);
    const struct wide3 sum = wide3_add(by_u, by_v), difference = wide3_subtract(by_u, by_v);
    const struct wide3 p = {wide_multiply_where(exists, share, sum.x),
                            wide_multiply_where(exists, share, sum.y),
                            wide_multiply_where(exists, share, sum.z)};
    const struct wide3 q = {wide_multiply_where(exists, share, difference.x),
                            wide_multiply_where(exists, share, difference.y),
                            wide_multiply_where(exists, share, difference.z)};
    forces->own = wide3_subtract(forces->own, p);
    forces->far = wide3_add(forces->far, p);
    forces->one = wide3_subtract(forces->one, q);
    forces->next = wide3_add(forces->next, q);
}

// Twist and areas.
WIDE_INLINE struct corner_forces corner_forces(const struct sweep_elements *of,
                                               const struct separation *one,
                                               const struct separation *middle,
                                               const struct separation *right, wide_mask exists,
                                               struct variant variant, wide *power)
{
    struct wide3 rate = one->d;
    if (variant.damping != UNDAMPED)
        rate = wide3_subtract(right->w, wide3_add(one->w, middle->w));
    const struct wide3 twist =
        linear_force(wide3_subtract(right->d, wide3_add(one->d, middle->d)), rate, exists,
                     wide_set(of->stiffness[2]), wide_set(of->damping[2]), variant, power);
    struct corner_forces forces = {twist, twist, twist, twist};
    if (variant.areas)
        add_area(of, one, middle, right, exists, variant, &forces, power);
    return forces;
}

// The sums of the powers of springs are multiplied by power_scale in the end, and so are these.
WIDE_INLINE wide scaled_power(const struct sweep *sweep, wide power)
{
    return wide_multiply(power, wide_set(1 / sweep->power_scale));
}

// The elements that start at the nodes of a row.
WIDE_INLINE void run_elements(const struct pass_range *given, int rows_after,
                              struct variant variant)
{
    const struct pass_range range = *given;
    const struct sources sources = sources_of(given);
    const struct sweep_elements *of = &range.sweep->elements;
    const long nx = (long)range.offset;
    struct wide3 along_before = wide3_zero(), one_before = wide3_zero(), far_before = wide3_zero();
    for (long i = 0; i < range.count; i += WIDE_LANES) {
        const long left = range.count - i;
        if (variant.powers && power_is_full(i))
            power_flush(range.powers, POWER_DAMPING);
        const struct own_nodes own = load_own(&sources, i, variant.damping);
        const wide_mask inside = wide_lane_range(0, left);
        const wide_mask has_one = wide_mask_and(wide_lane_range(0, left - 1), inside);
        const wide_mask has_two = wide_mask_and(wide_lane_range(0, left - 2), inside);
        wide power = wide_set(0);
        const struct separation one = separation_to(&sources, &own, i + 1, variant.damping);
        const struct separation two = separation_to(&sources, &own, i + 2, variant.damping);
        const struct wide3 along =
            line_force(of, 0, &one, &two, range.lines.along + i, has_two, variant, &power);
        struct wide3 sum = along, one_reaction = wide3_add(along, along);
        if (rows_after > 0) {
            const struct separation middle = separation_to(&sources, &own, i + nx, variant.damping);
            const struct separation right =
                separation_to(&sources, &own, i + nx + 1, variant.damping);
            const struct corner_forces cell =
                corner_forces(of, &one, &middle, &right, has_one, variant, &power);
            struct wide3 next = wide3_subtract(cell.next, wide3_shift_up(far_before, cell.far, 1));
            sum = wide3_add(sum, cell.own);
            one_reaction = wide3_add(one_reaction, cell.one);
            far_before = cell.far;
            if (rows_after > 1) {
                const struct separation below =
                    separation_to(&sources, &own, i + 2 * nx, variant.damping);
                const struct wide3 across = line_force(
                    of, 1, &middle, &below, range.lines.across + i, inside, variant, &power);
                sum = wide3_add(sum, across);
                next = wide3_add(next, wide3_add(across, across));
                subtract_reaction(&range.other, i + nx, wide3_subtract(wide3_zero(), across), left);
            }
            subtract_reaction(&range.other, i, next, left);
        }
        const struct wide3 back = wide3_subtract(wide3_shift_up(one_before, one_reaction, 1),
                                                 wide3_shift_up(along_before, along, 2));
        subtract_reaction(&range.sum, i, wide3_subtract(back, sum), left);
        one_before = one_reaction;
        along_before = along;
        if (variant.powers)
            power_add(range.powers, POWER_DAMPING, i, scaled_power(range.sweep, power));
    }
}

static void grid_elements(const struct pass_range *range, int rows_after)
{
    const struct sweep_elements *of = &range->sweep->elements;
    if (!of->damped)
        run_elements(range, rows_after, (struct variant){UNDAMPED, .areas = of->areas});
    else if (!range->powers)
        run_elements(range, rows_after, (struct variant){DAMPED_AXIAL, .areas = of->areas});
    else
        run_elements(range, rows_after,
                     (struct variant){DAMPED_AXIAL, .powers = true, .areas = of->areas});
    if (of->damped && range->powers)
        power_flush(range->powers, POWER_DAMPING);
}
