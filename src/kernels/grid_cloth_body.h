// The rows of a cloth in one go: springs 1 and 2 nodes along the row, to three nodes of the next
// row and to one of the row after it, and then the motion. What grid_body.h does in three passes
// over a chunk and grid_finish_body.h in another, is done here to a register of nodes at a time: it
// is loaded once, its sum never leaves the registers, and since nobody needs its place any more
// once its springs are known, it can be moved at once. Operations and their order are those of the
// passes, and so are the bits (a reaction subtracted from 0 after another gives the same either
// way round).
// A wind that nothing but springs acts beside is done on the way, too: the springs' differences are
// its edges. Its sums are those of face_grid_body.h, in their order.
//
// Included after those two, whose functions it uses.

#include "kernels/wind_cell.h"

// Wind done on the way: none, or of law `face`, and then relative to the cloth or not. A constant
// wherever this is inlined.
struct weather {
    bool windy, relative;
};

// What registers before the present one leave to it.
struct cloth_carry {
    struct push one, two, left, right, waiting;
    struct triple first_face, both_faces;
    long read, write; // places of the ring
};

struct cloth {
    struct sources sources;
    struct reals wave, ring;
    const uint32_t *has_left, *has_one, *has_two;
    long count, nx, ring_length;
    struct sweep_spring one, two, left, middle, right, below;
    struct air air;
};

// From a register of nodes to the other corners of its cells.
struct cloth_ways {
    struct way one, middle, right;
};

// Springs along the row: the sum of what they do to the row's nodes.
WIDE_INLINE struct push cloth_along(const struct cloth *it, const struct own_nodes *own,
                                    const struct cloth_ways *ways, long i, wide_mask has_one,
                                    wide_mask has_two, struct manner manner,
                                    struct cloth_carry *carry)
{
    struct push one = push_along(&ways->one, i, &it->one, NULL, has_one, manner);
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
WIDE_INLINE struct push cloth_across(const struct cloth *it, const struct own_nodes *own,
                                     const struct cloth_ways *ways, long i, wide_mask inside,
                                     wide_mask has_left, wide_mask has_right, struct manner manner,
                                     struct cloth_carry *carry)
{
    const long next = i + it->nx;
    struct push left =
        spring_push(&it->sources, own, i, next - 1, &it->left, NULL, has_left, manner);
    struct push middle = push_along(&ways->middle, i, &it->middle, NULL, inside, manner);
    struct push right = push_along(&ways->right, i, &it->right, NULL, has_right, manner);
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

WIDE_INLINE struct push cloth_force(const struct cloth *it, const struct own_nodes *own,
                                    const struct cloth_ways *ways, long i, long left,
                                    struct manner manner, struct cloth_carry *carry)
{
    wide_mask inside = wide_lanes(0, left);
    wide_mask has_left = wide_both(wide_bits(it->has_left, i), inside);
    wide_mask has_one = wide_both(wide_bits(it->has_one, i), inside);
    wide_mask has_two = wide_both(wide_bits(it->has_two, i), inside);
    struct push along = cloth_along(it, own, ways, i, has_one, has_two, manner, carry);
    struct push across = cloth_across(it, own, ways, i, inside, has_left, has_one, manner, carry);
    struct push sum = push_sum(&along, &across);
    struct push below = cloth_below(it, own, i, inside, left, manner);
    sum = push_sum(&sum, &below);
    struct push reactions = {wide_load_first(it->wave.x + i, left),
                             wide_load_first(it->wave.y + i, left),
                             wide_load_first(it->wave.z + i, left)};
    return push_sum(&reactions, &sum);
}

static inline struct triple place_of_way(const struct way *way)
{
    return (struct triple){way->dx, way->dy, way->dz};
}

static inline struct triple velocity_of_way(const struct way *way)
{
    return (struct triple){way->wx, way->wy, way->wz};
}

static inline void ring_store(const struct reals *ring, long at, struct triple a)
{
    wide_store(ring->x + at, a.x);
    wide_store(ring->y + at, a.y);
    wide_store(ring->z + at, a.z);
}

// What the faces of the cells of a row give to the next waits in the ring, which is a row and a
// register long: where it begins stands behind its end as well, for who reads across.
WIDE_INLINE struct triple pass_ring(const struct cloth *it, struct triple above,
                                    struct cloth_carry *carry)
{
    const struct reals *ring = &it->ring;
    const long read = carry->read, write = carry->write;
    struct triple waited = {wide_load(ring->x + read), wide_load(ring->y + read),
                            wide_load(ring->z + read)};
    ring_store(ring, write, above);
    if (write == 0)
        ring_store(ring, it->ring_length, above);
    carry->write = write + WIDE_LANES == it->ring_length ? 0 : write + WIDE_LANES;
    const long past = read + WIDE_LANES - it->ring_length;
    carry->read = past < 0 ? read + WIDE_LANES : past;
    return waited;
}

// The wind on a register of nodes, from the faces of its cells and of those before and below:
// the sums of face_grid_body.h.
WIDE_INLINE struct triple cloth_wind(const struct cloth *it, const struct own_nodes *own,
                                     const struct cloth_ways *ways, long i, long left,
                                     bool relative, struct cloth_carry *carry)
{
    const struct cell_edges to = {
        .b = place_of_way(&ways->one),
        .c = place_of_way(&ways->middle),
        .d = place_of_way(&ways->right),
        .vb = velocity_of_way(&ways->one),
        .vc = velocity_of_way(&ways->middle),
        .vd = velocity_of_way(&ways->right),
    };
    const struct triple velocity = {own->vx, own->vy, own->vz};
    wide_mask exists = wide_both(wide_bits(it->has_one, i), wide_lanes(0, left));
    struct triple first, second;
    cell_faces(&it->air, &to, velocity, exists, WIND_FACE, relative, &first, &second);
    struct triple both = triple_add(first, second);
    struct triple above = triple_add(second, triple_behind(carry->both_faces, both));
    struct triple sum = triple_add(pass_ring(it, above, carry), both);
    sum = triple_add(sum, triple_behind(carry->first_face, first));
    carry->first_face = first;
    carry->both_faces = both;
    return sum;
}

static inline struct cloth cloth_of(const struct pass_range *range, const struct wind_now *wind)
{
    const struct sweep *sweep = range->sweep;
    const struct sweep_pass *passes = sweep->passes;
    static const struct wind_now calm = {.law = WIND_FACE};
    return (struct cloth){
        .sources = sources_of(range),
        .wave = range->other,
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
    };
}

WIDE_INLINE void run_cloth(const struct system *system, const struct pass_range *range, real mass,
                           const struct wind_now *wind, struct weather weather,
                           struct manner manner, bool loaded, enum sweep_finish finish)
{
    const struct cloth it = cloth_of(range, wind);
    const struct node_motion motion = motion_of(system, range->first, finish);
    const wide one_mass = wide_set(mass);
    const real *inverses = system->constants->inverse_mass + range->first;
    const wide zero = wide_set(0);
    struct cloth_carry carry = {
        .one = no_push(),
        .two = no_push(),
        .left = no_push(),
        .right = no_push(),
        .waiting = no_push(),
        .first_face = {zero, zero, zero},
        .both_faces = {zero, zero, zero},
        .read = it.ring_length - it.nx,
    };
    const enum sweep_damping asked = weather.relative ? DAMPED_AXIAL : manner.damping;
    long i = 0;
    for (; i < it.count; i += WIDE_LANES) {
        const long left = it.count - i;
        // Undamped springs do without velocities, but the motion does not.
        struct own_nodes own = load_own(&it.sources, i, DAMPED_AXIAL);
        const struct cloth_ways ways = {
            .one = way_to(&it.sources, &own, i + 1, asked),
            .middle = way_to(&it.sources, &own, i + it.nx, asked),
            .right = way_to(&it.sources, &own, i + it.nx + 1, asked),
        };
        struct push force = cloth_force(&it, &own, &ways, i, left, manner, &carry);
        wide inverse = wide_load_first(inverses + i, left);
        if (weather.windy) {
            struct triple blown = cloth_wind(&it, &own, &ways, i, left, weather.relative, &carry);
            blown = triple_keep(wide_positive(inverse), blown); // pinned nodes take none
            force = (struct push){wide_add(blown.x, force.x), wide_add(blown.y, force.y),
                                  wide_add(blown.z, force.z)};
        }
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

static void run_calm(const struct system *system, const struct pass_range *range, real mass,
                     bool damped, bool loaded)
{
    const struct manner axial = {DAMPED_AXIAL, false}, undamped = {UNDAMPED, false};
    const struct weather calm = {false, false};
    if (damped && loaded)
        run_cloth(system, range, mass, NULL, calm, axial, true, SWEEP_SYMPLECTIC_EULER);
    else if (damped)
        run_cloth(system, range, mass, NULL, calm, axial, false, SWEEP_SYMPLECTIC_EULER);
    else if (loaded)
        run_cloth(system, range, mass, NULL, calm, undamped, true, SWEEP_SYMPLECTIC_EULER);
    else
        run_cloth(system, range, mass, NULL, calm, undamped, false, SWEEP_SYMPLECTIC_EULER);
}

static void run_windy(const struct system *system, const struct pass_range *range, real mass,
                      const struct wind_now *wind, bool damped)
{
    const struct manner axial = {DAMPED_AXIAL, false}, undamped = {UNDAMPED, false};
    const struct weather relative = {true, true}, fixed = {true, false};
    if (damped && wind->relative)
        run_cloth(system, range, mass, wind, relative, axial, false, SWEEP_SYMPLECTIC_EULER);
    else if (damped)
        run_cloth(system, range, mass, wind, fixed, axial, false, SWEEP_SYMPLECTIC_EULER);
    else if (wind->relative)
        run_cloth(system, range, mass, wind, relative, undamped, false, SWEEP_SYMPLECTIC_EULER);
    else
        run_cloth(system, range, mass, wind, fixed, undamped, false, SWEEP_SYMPLECTIC_EULER);
}

void GRID_NAME(grid_cloth)(const struct system *system, const struct pass_range *range, real mass,
                           bool loaded, const struct wind_now *wind)
{
    bool damped = range->sweep->passes[0].damping != UNDAMPED;
    if (wind)
        run_windy(system, range, mass, wind, damped);
    else
        run_calm(system, range, mass, damped, loaded);
}
