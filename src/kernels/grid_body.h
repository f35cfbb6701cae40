// The springs of a grid: a rope, a cloth, a lattice. No list of springs is read: every node adds up
// the forces of all its springs, neighbour by neighbour, for a vector of nodes along a row at a
// time. So every spring is computed twice, once from either end, with exactly opposite results, and
// nobody writes to another's node: any worker may do any rows. The body of a kernel that is
// compiled for each instruction set; the thin file that includes this defines TAUT_WIDE_ISA,
// GRID_KERNEL and GRID_POWER_KERNEL.
#include "kernels/kernels.h"
#include "simd/wide.h"

// A direction that has partners from the present row.
struct neighbour {
    int64_t offset;
    int dx;
    bool full;
    real stiffness, damping, rest_length;
};

// What a vector of nodes knows of itself, and its sum so far.
struct nodes {
    wide x, y, z, vx, vy, vz;
    wide fx, fy, fz;
};

// All directions (stride 1) or only the forward ones (stride 2).
static int neighbours_of_row(const struct grid_constants *constants, long j, long k, int stride,
                             struct neighbour to[2 * DIRECTIONS_MAX])
{
    const struct plan_grid *grid = constants->grid;
    int count = 0;
    for (int d = 0; d < constants->count; d += stride) {
        long row = j + constants->to[d].dy, layer = k + constants->to[d].dz;
        if (row < 0 || row >= (long)grid->ny || layer < 0 || layer >= (long)grid->nz)
            continue;
        to[count++] = (struct neighbour){constants->to[d].offset,  constants->to[d].dx,
                                         constants->to[d].full,    constants->to[d].stiffness,
                                         constants->to[d].damping, constants->to[d].rest_length};
    }
    return count;
}

// F = -k (L - L0) / L d, with the axial damping law - c (w.d) / L^2 d: one division for both, by
// L^2. With the full law - c w beside it. Lanes without a partner, and those at L = 0, give nothing
// along d.
static inline void add_neighbour(const struct state *s, const struct neighbour *to, int64_t at,
                                 wide_mask exists, bool damped, struct nodes *n)
{
    const int64_t other = at + to->offset;
    wide dx = wide_subtract(n->x, wide_load(s->x + other));
    wide dy = wide_subtract(n->y, wide_load(s->y + other));
    wide dz = wide_subtract(n->z, wide_load(s->z + other));
    wide square =
        wide_add(wide_add(wide_multiply(dx, dx), wide_multiply(dy, dy)), wide_multiply(dz, dz));
    wide length = wide_sqrt(square);
    wide slack = wide_subtract(wide_set(to->rest_length), length); // L0 - L
    wide push = wide_multiply(wide_multiply(wide_set(to->stiffness), slack), length);
    if (damped) {
        wide wx = wide_subtract(n->vx, wide_load(s->vx + other));
        wide wy = wide_subtract(n->vy, wide_load(s->vy + other));
        wide wz = wide_subtract(n->vz, wide_load(s->vz + other));
        wide c = wide_set(to->damping);
        if (to->full) {
            c = wide_keep(exists, c);
            n->fx = wide_subtract(n->fx, wide_multiply(c, wx));
            n->fy = wide_subtract(n->fy, wide_multiply(c, wy));
            n->fz = wide_subtract(n->fz, wide_multiply(c, wz));
        } else {
            wide along = wide_add(wide_add(wide_multiply(wx, dx), wide_multiply(wy, dy)),
                                  wide_multiply(wz, dz));
            push = wide_subtract(push, wide_multiply(c, along));
        }
    }
    wide_mask valid = wide_both(exists, wide_positive(square));
    wide scale = wide_keep(valid, wide_divide(push, square));
    n->fx = wide_add(n->fx, wide_multiply(scale, dx));
    n->fy = wide_add(n->fy, wide_multiply(scale, dy));
    n->fz = wide_add(n->fz, wide_multiply(scale, dz));
}

// Forces beyond the `left` nodes of the row may be another worker's.
static inline struct nodes start_nodes(const struct state *s, int64_t at, long left, bool damped)
{
    wide zero = wide_set(0);
    return (struct nodes){
        .x = wide_load(s->x + at),
        .y = wide_load(s->y + at),
        .z = wide_load(s->z + at),
        .vx = damped ? wide_load(s->vx + at) : zero,
        .vy = damped ? wide_load(s->vy + at) : zero,
        .vz = damped ? wide_load(s->vz + at) : zero,
        .fx = wide_load_first(s->fx + at, left),
        .fy = wide_load_first(s->fy + at, left),
        .fz = wide_load_first(s->fz + at, left),
    };
}

// Which lanes have a partner at dx = -GRID_REACH .. GRID_REACH in their row.
static inline void find_partners(long i, long nx, wide_mask exists[2 * GRID_REACH + 1])
{
    for (int dx = -GRID_REACH; dx <= GRID_REACH; dx++)
        exists[dx + GRID_REACH] = wide_lanes(-i - dx, nx - i - dx);
}

// `damped` is a constant wherever this is inlined, so that undamped grids load no velocities.
static inline void add_row(struct state *s, const struct neighbour *to, int count, int64_t first,
                           long nx, bool damped)
{
    for (long i = 0; i < nx; i += WIDE_LANES) {
        int64_t at = first + i;
        struct nodes n = start_nodes(s, at, nx - i, damped);
        wide_mask exists[2 * GRID_REACH + 1];
        find_partners(i, nx, exists);
        for (int d = 0; d < count; d++)
            add_neighbour(s, &to[d], at, exists[to[d].dx + GRID_REACH], damped, &n);
        wide_store_first(s->fx + at, n.fx, nx - i);
        wide_store_first(s->fy + at, n.fy, nx - i);
        wide_store_first(s->fz + at, n.fz, nx - i);
    }
}

void GRID_KERNEL(const struct system *system, const struct grid_constants *constants,
                 struct range rows)
{
    const struct plan_grid *grid = constants->grid;
    struct neighbour to[2 * DIRECTIONS_MAX];
    for (size_t row = rows.first; row < rows.end; row++) {
        long j = (long)(row % grid->ny), k = (long)(row / grid->ny);
        int count = neighbours_of_row(constants, j, k, 1, to);
        int64_t first = (int64_t)(grid->first_node + row * grid->nx);
        if (constants->damped)
            add_row(system->state, to, count, first, (long)grid->nx, true);
        else
            add_row(system->state, to, count, first, (long)grid->nx, false);
    }
}

// What the damping of one direction takes: c (w.d)^2 / L^2, or c w^2.
static inline wide neighbour_power(const struct state *s, const struct neighbour *to, int64_t at,
                                   wide_mask exists)
{
    const int64_t other = at + to->offset;
    wide wx = wide_subtract(wide_load(s->vx + at), wide_load(s->vx + other));
    wide wy = wide_subtract(wide_load(s->vy + at), wide_load(s->vy + other));
    wide wz = wide_subtract(wide_load(s->vz + at), wide_load(s->vz + other));
    if (to->full) {
        wide square =
            wide_add(wide_add(wide_multiply(wx, wx), wide_multiply(wy, wy)), wide_multiply(wz, wz));
        return wide_keep(exists, wide_multiply(wide_set(to->damping), square));
    }
    wide dx = wide_subtract(wide_load(s->x + at), wide_load(s->x + other));
    wide dy = wide_subtract(wide_load(s->y + at), wide_load(s->y + other));
    wide dz = wide_subtract(wide_load(s->z + at), wide_load(s->z + other));
    wide square =
        wide_add(wide_add(wide_multiply(dx, dx), wide_multiply(dy, dy)), wide_multiply(dz, dz));
    wide along =
        wide_add(wide_add(wide_multiply(wx, dx), wide_multiply(wy, dy)), wide_multiply(wz, dz));
    wide power = wide_multiply(wide_divide(along, square), along);
    wide_mask valid = wide_both(exists, wide_positive(square));
    return wide_keep(valid, wide_multiply(wide_set(to->damping), power));
}

// Each spring once, at its first node. Not summed here: a sum over lanes would depend on their
// number.
void GRID_POWER_KERNEL(const struct system *system, const struct grid_constants *constants,
                       struct range rows)
{
    const struct plan_grid *grid = constants->grid;
    struct state *s = system->state;
    struct neighbour to[2 * DIRECTIONS_MAX];
    const long nx = (long)grid->nx;
    for (size_t row = rows.first; row < rows.end; row++) {
        long j = (long)(row % grid->ny), k = (long)(row / grid->ny);
        int count = neighbours_of_row(constants, j, k, 2, to);
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
