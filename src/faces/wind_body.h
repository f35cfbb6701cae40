// Wind on the faces of a cloth: two triangles per cell of the grid of nodes, (a, b, d) and (a, d,
// c) with
//
//     c---d      next row
//     | / |
//     a---b      this row
//
// No list of faces is read. A register of cells along a row is computed at a time, each face once.
// A face contributes equally to its three corners, so two vectors per cell suffice, `first` and
// `second`: a and d get both, b the first, c the second. Contributions to b and d move one lane on,
// and those to the next row wait in the rolling buffer `above`. Every node adds the contributions
// of the previous row and then those of its own row, whichever worker computes it: a worker that
// starts in the middle of a grid computes the previous row again. Rows are divided into columns of
// a fixed length, so that the buffer stays in the first-level cache.
//
// The kernel body is compiled for each instruction set.
#include <stdalign.h>
#include <string.h>

#include "kernels/kernels.h"
#include "simd/wide3.h"

// ---- Cells: two triangles, a register of them at a time

// The wind in the form that the kernel uses.
struct air {
    struct wide3 wind;
    wide factor; // c / 18, rho C_d / 2 / 54 or c: see face_force
    bool relative;
};

WIDE_INLINE wide magnitude(wide a)
{
    wide minus = wide_subtract(wide_set(0), a);
    return wide_add(wide_masked(wide_positive(a), a), wide_masked(wide_positive(minus), minus));
}

// The contribution of a face to each corner. With K = 2 A n the product of its edges and R = 3 r
// the sum of the relative wind over its corners, a third of c A (r.n) n is c / 18 (R.K) / |K| K,
// and a third of rho C_d / 2 A |r.n| (r.n) n is rho C_d / 2 / 54 |R.K| (R.K) / K^2 K. For law node
// it is the unit normal. A face without area contributes nothing.
WIDE_INLINE struct wide3 face_force(const struct air *air, struct wide3 product, struct wide3 wind,
                                    wide_mask exists, enum wind_law law)
{
    wide square = wide3_dot(product, product);
    wide scale;
    if (law == WIND_NODE) {
        scale = wide_divide(wide_set(1), wide_sqrt(square));
    } else {
        wide flow = wide3_dot(wind, product);
        wide force = wide_multiply(air->factor, flow);
        if (law == WIND_QUADRATIC)
            scale = wide_divide(wide_multiply(force, magnitude(flow)), square);
        else
            scale = wide_divide(force, wide_sqrt(square));
    }
    wide_mask valid = wide_mask_and(exists, wide_positive(square));
    return wide3_scale(wide_masked(valid, scale), product);
}

// The position and velocity of node a of each cell minus those of its other nodes.
struct cell_edges {
    struct wide3 b, c, d, vb, vc, vd;
};

// 3 w - 2 v_a - v_d, the part of R that both faces share; vd = v_a - v_d.
WIDE_INLINE struct wide3 relative_shared(const struct air *air, struct wide3 velocity,
                                         struct wide3 vd)
{
    struct wide3 tripled = wide3_scale(wide_set(3), velocity);
    return wide3_add(wide3_subtract(air->wind, tripled), vd);
}

// The signs of edges do not affect their products. R is 3 w - v_a - v_b - v_d for the first face,
// with v_c instead of v_b for the second; `velocity`: that of a, used if `relative`.
WIDE_INLINE void cell_faces(const struct air *air, const struct cell_edges *to,
                            struct wide3 velocity, wide_mask exists, enum wind_law law,
                            bool relative, struct wide3 *first, struct wide3 *second)
{
    struct wide3 of_first = air->wind, of_second = air->wind;
    if (relative && law != WIND_NODE) {
        struct wide3 shared = relative_shared(air, velocity, to->vd);
        of_first = wide3_add(shared, to->vb);
        of_second = wide3_add(shared, to->vc);
    }
    *first = face_force(air, wide3_cross(to->b, to->d), of_first, exists, law);
    *second = face_force(air, wide3_cross(to->d, to->c), of_second, exists, law);
}

static inline struct air air_of(const struct wind_now *now)
{
    // R is a sum over three corners.
    const real thirds = now->law == WIND_NODE ? 1 : 3;
    const real share = now->law == WIND_NODE ? 1 : now->law == WIND_FACE ? 18 : 54;
    return (struct air){
        .wind = {wide_set(thirds * now->wx), wide_set(thirds * now->wy),
                 wide_set(thirds * now->wz)},
        .factor = wide_set(now->factor / share),
        .relative = now->relative,
    };
}

// ---- Rows

enum { FACE_COLUMNS = 512 }; // a multiple of every WIDE_LANES; no sum depends on it
_Static_assert((int)FACE_COLUMNS % (int)WIDE_LANES == 0, "whole vectors");

struct row_buffer {
    alignas(64) real x[FACE_COLUMNS];
    alignas(64) real y[FACE_COLUMNS];
    alignas(64) real z[FACE_COLUMNS];
};

// Columns of a row.
struct columns {
    long first, end, nx;
};

static inline struct wide3 relative_to(const struct air *air, const struct state *s, int64_t at)
{
    return wide3_subtract(air->wind, wide3_load(s->vx, s->vy, s->vz, at));
}

// The two faces of each cell, starting at node `at`.
static inline void cell_forces(const struct state *s, const struct air *air, int64_t at, long nx,
                               wide_mask exists, enum wind_law law, struct wide3 *first,
                               struct wide3 *second)
{
    struct wide3 a = wide3_load(s->x, s->y, s->z, at), v = a;
    struct cell_edges to = {
        .b = wide3_subtract(a, wide3_load(s->x, s->y, s->z, at + 1)),
        .c = wide3_subtract(a, wide3_load(s->x, s->y, s->z, at + nx)),
        .d = wide3_subtract(a, wide3_load(s->x, s->y, s->z, at + nx + 1)),
    };
    if (law != WIND_NODE && air->relative) {
        v = wide3_load(s->vx, s->vy, s->vz, at);
        to.vb = wide3_subtract(v, wide3_load(s->vx, s->vy, s->vz, at + 1));
        to.vc = wide3_subtract(v, wide3_load(s->vx, s->vy, s->vz, at + nx));
        to.vd = wide3_subtract(v, wide3_load(s->vx, s->vy, s->vz, at + nx + 1));
    }
    cell_faces(air, &to, v, exists, law, air->relative, first, second);
}

// Adds to the forces of the first `left` nodes from `at` on, and their powers to `powers`. Pinned
// nodes are skipped.
static inline void add_to_forces(const struct system *system, int64_t at, long left,
                                 struct wide3 force, double *powers)
{
    struct state *s = system->state;
    wide free_node = wide_load_first(system->constants->inverse_mass + at, left);
    force = wide3_masked(wide_positive(free_node), force);
    struct wide3 sum = wide3_add(wide3_load_first(s->fx, s->fy, s->fz, at, left), force);
    wide3_store_first(s->fx, s->fy, s->fz, at, sum, left);
    if (powers)
        wide_add_to(powers, wide3_dot(force, wide3_load_first(s->vx, s->vy, s->vz, at, left)));
}

// Law node: F = c (r.n) n, with n the normalised `sum` of normals.
static inline void add_by_normal(const struct system *system, const struct air *air, int64_t at,
                                 long left, struct wide3 sum, double *powers)
{
    struct state *s = system->state;
    wide square = wide3_dot(sum, sum);
    wide length = wide_sqrt(square);
    wide_mask valid = wide_positive(square);
    struct wide3 n = {wide_masked(valid, wide_divide(sum.x, length)),
                      wide_masked(valid, wide_divide(sum.y, length)),
                      wide_masked(valid, wide_divide(sum.z, length))};
    wide3_store_first(s->nx, s->ny, s->nz, at, n, left);
    struct wide3 wind = air->relative ? relative_to(air, s, at) : air->wind;
    wide scale = wide_multiply(air->factor, wide3_dot(wind, n));
    add_to_forces(system, at, left, wide3_scale(scale, n), powers);
}

// The contributions of one row of cells, whose nodes start at `row`, to the nodes of its lower row
// and, through the rolling buffer, of its upper one. `cells` is false in the last row of nodes,
// `nodes` in the row before the first wanted one.
static inline void add_row(const struct system *system, const struct air *air, int64_t row,
                           struct columns columns, bool cells, bool nodes, enum wind_law law,
                           struct row_buffer *above, struct power_sums *powers)
{
    const struct state *s = system->state;
    const long nx = columns.nx;

    // The cells before the first column, whose reactions extend into it.
    struct wide3 zero = {wide_set(0), wide_set(0), wide_set(0)};
    struct wide3 first_before = zero, both_before = zero;
    if (cells && columns.first > 0) {
        struct wide3 second;
        cell_forces(s, air, row + columns.first - WIDE_LANES, nx, wide_lane_range(0, WIDE_LANES),
                    law, &first_before, &second);
        both_before = wide3_add(first_before, second);
    }

    for (long i = columns.first; i < columns.end; i += WIDE_LANES) {
        const long slot = i - columns.first;
        struct wide3 sum = wide3_load(above->x, above->y, above->z, slot);

        if (cells) {
            struct wide3 first, second;
            cell_forces(s, air, row + i, nx, wide_lane_range(0, nx - 1 - i), law, &first, &second);
            struct wide3 both = wide3_add(first, second);
            sum = wide3_add(wide3_add(sum, both), wide3_shift_up(first_before, first, 1));
            struct wide3 upper = wide3_add(second, wide3_shift_up(both_before, both, 1));
            wide3_store(above->x, above->y, above->z, slot, upper);
            first_before = first;
            both_before = both;
        }

        if (!nodes)
            continue;
        double *const to = powers ? powers->lanes[POWER_WIND] + i % POWER_LANES : NULL;
        if (law == WIND_NODE)
            add_by_normal(system, air, row + i, nx - i, sum, to);
        else
            add_to_forces(system, row + i, nx - i, sum, to);
    }
}

static inline void add_rows(const struct system *system, const struct air *air,
                            const struct plan_face_grid *grid, struct range rows, enum wind_law law,
                            struct power_sums *powers)
{
    const long nx = (long)grid->nx;
    for (long first = 0; first < nx; first += FACE_COLUMNS) {
        struct columns columns = {first, first + FACE_COLUMNS < nx ? first + FACE_COLUMNS : nx, nx};
        int64_t row = (int64_t)(grid->first_node + rows.first * grid->nx);
        struct row_buffer above = {0};
        if (rows.first > 0)
            add_row(system, air, row - nx, columns, true, false, law, &above, NULL);
        for (size_t j = rows.first; j < rows.end; j++, row += nx)
            add_row(system, air, row, columns, j + 1 < grid->ny, true, law, &above, powers);
    }
}

static void wind_grid(const struct system *system, const struct wind_now *now,
                      const struct plan_face_grid *grid, struct range rows,
                      struct power_sums *powers)
{
    const struct air air = air_of(now);
    switch (now->law) {
    case WIND_NODE:
        add_rows(system, &air, grid, rows, WIND_NODE, powers);
        break;
    case WIND_FACE:
        add_rows(system, &air, grid, rows, WIND_FACE, powers);
        break;
    case WIND_QUADRATIC:
        add_rows(system, &air, grid, rows, WIND_QUADRATIC, powers);
        break;
    }
}

static void wind_row_above(const struct system *system, const struct wind_now *now,
                           const struct plan_face_grid *grid, uint64_t row, struct reals to)
{
    const struct air air = air_of(now);
    const long nx = (long)grid->nx;
    for (long first = 0; first < nx; first += FACE_COLUMNS) {
        struct columns columns = {first, first + FACE_COLUMNS < nx ? first + FACE_COLUMNS : nx, nx};
        const size_t bytes = (size_t)(columns.end - first) * sizeof(real);
        struct row_buffer above = {0};
        add_row(system, &air, (int64_t)(grid->first_node + row * grid->nx), columns, true, false,
                WIND_FACE, &above, NULL);
        memcpy(to.x + first, above.x, bytes);
        memcpy(to.y + first, above.y, bytes);
        memcpy(to.z + first, above.z, bytes);
    }
}
