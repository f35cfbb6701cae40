// What the damping of a grid's springs takes, for the account of work: each spring once, at its
// first node. The body of a kernel that is compiled for each instruction set; grid_base.c and the
// others define TAUT_WIDE_ISA and GRID_NAME.
#include "kernels/kernels.h"
#include "simd/wide.h"

// A direction that has partners from the present row.
struct neighbour {
    int64_t offset;
    int dx;
    bool full;
    real damping;
};

static int neighbours_of_row(const struct grid_constants *constants, long j, long k,
                             struct neighbour to[DIRECTIONS_MAX])
{
    const struct plan_grid *grid = constants->grid;
    int count = 0;
    for (int d = 0; d < constants->count; d++) {
        long row = j + constants->to[d].dy, layer = k + constants->to[d].dz;
        if (row < 0 || row >= (long)grid->ny || layer >= (long)grid->nz)
            continue;
        to[count++] = (struct neighbour){constants->to[d].offset, constants->to[d].dx,
                                         constants->to[d].full, constants->to[d].damping};
    }
    return count;
}

// Which lanes have a partner at dx = -GRID_REACH .. GRID_REACH in their row.
static inline void find_partners(long i, long nx, wide_mask exists[2 * GRID_REACH + 1])
{
    for (int dx = -GRID_REACH; dx <= GRID_REACH; dx++)
        exists[dx + GRID_REACH] = wide_lanes(-i - dx, nx - i - dx);
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
void GRID_NAME(grid_power)(const struct system *system, const struct grid_constants *constants,
                           struct range rows)
{
    const struct plan_grid *grid = constants->grid;
    struct state *s = system->state;
    struct neighbour to[DIRECTIONS_MAX];
    const long nx = (long)grid->nx;
    for (size_t row = rows.first; row < rows.end; row++) {
        long j = (long)(row % grid->ny), k = (long)(row / grid->ny);
        int count = neighbours_of_row(constants, j, k, to);
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
