// Wind on the faces of a cloth: two triangles a cell of the grid of nodes, (a, b, d) and (a, d, c)
// with
//
//     c---d      next row
//     | / |
//     a---b      this row
//
// No list of faces is read. A vector of cells along a row is computed at a time, each face once.
// What its faces do to their corners is the same for all three, so that per cell two vectors are
// enough, first and second: a and d get both, b the first, c the second. What is for b and d goes
// one lane on, and what is for the next row waits for it in `carry`. Every node adds what comes
// from the row before it, then what comes from its own, whoever computes it: who starts in the
// middle of a grid computes the row before once more. Rows are cut into columns of a fixed length,
// so that the carry stays in the first-level cache.
//
// The body of a kernel that is compiled for each instruction set.
#include <stdalign.h>

#include "kernels/kernels.h"
#include "simd/wide.h"

enum { FACE_COLUMNS = 512 }; // a multiple of every WIDE_LANES; no sum depends on it
_Static_assert((int)FACE_COLUMNS % (int)WIDE_LANES == 0, "whole vectors");

struct triple {
    wide x, y, z;
};

struct carry {
    alignas(64) real x[FACE_COLUMNS];
    alignas(64) real y[FACE_COLUMNS];
    alignas(64) real z[FACE_COLUMNS];
};

// The wind as the kernel needs it.
struct air {
    struct triple wind;
    wide factor; // c / 18, rho C_d / 2 / 54 or c: see face_push
    bool relative;
};

// Columns of a row.
struct columns {
    long first, end, nx;
};

static inline struct triple triple_load(const real *x, const real *y, const real *z, int64_t at)
{
    return (struct triple){wide_load(x + at), wide_load(y + at), wide_load(z + at)};
}

static inline struct triple triple_add(struct triple a, struct triple b)
{
    return (struct triple){wide_add(a.x, b.x), wide_add(a.y, b.y), wide_add(a.z, b.z)};
}

static inline struct triple triple_subtract(struct triple a, struct triple b)
{
    return (struct triple){wide_subtract(a.x, b.x), wide_subtract(a.y, b.y),
                           wide_subtract(a.z, b.z)};
}

static inline struct triple triple_scale(wide factor, struct triple a)
{
    return (struct triple){wide_multiply(factor, a.x), wide_multiply(factor, a.y),
                           wide_multiply(factor, a.z)};
}

static inline wide triple_dot(struct triple a, struct triple b)
{
    return wide_add(wide_add(wide_multiply(a.x, b.x), wide_multiply(a.y, b.y)),
                    wide_multiply(a.z, b.z));
}

static inline struct triple triple_cross(struct triple a, struct triple b)
{
    return (struct triple){wide_subtract(wide_multiply(a.y, b.z), wide_multiply(a.z, b.y)),
                           wide_subtract(wide_multiply(a.z, b.x), wide_multiply(a.x, b.z)),
                           wide_subtract(wide_multiply(a.x, b.y), wide_multiply(a.y, b.x))};
}

static inline struct triple triple_keep(wide_mask mask, struct triple a)
{
    return (struct triple){wide_keep(mask, a.x), wide_keep(mask, a.y), wide_keep(mask, a.z)};
}

static inline struct triple triple_behind(struct triple before, struct triple a)
{
    return (struct triple){wide_behind_1(before.x, a.x), wide_behind_1(before.y, a.y),
                           wide_behind_1(before.z, a.z)};
}

static inline wide magnitude(wide a)
{
    wide minus = wide_subtract(wide_set(0), a);
    return wide_add(wide_keep(wide_positive(a), a), wide_keep(wide_positive(minus), minus));
}

// What a face gives each corner. With K = 2 A n the product of its edges and R = 3 r the sum over
// its corners of the relative wind, a third of c A (r.n) n is c / 18 (R.K) / |K| K, and a third of
// rho C_d / 2 A |r.n| (r.n) n is rho C_d / 2 / 54 |R.K| (R.K) / K^2 K. For law node it is the
// unit normal. A face without area gives nothing.
static inline struct triple face_push(const struct air *air, struct triple product,
                                      struct triple wind, wide_mask exists, enum wind_law law)
{
    wide square = triple_dot(product, product);
    wide scale;
    if (law == WIND_NODE) {
        scale = wide_divide(wide_set(1), wide_sqrt(square));
    } else {
        wide flow = triple_dot(wind, product);
        wide force = wide_multiply(air->factor, flow);
        if (law == WIND_QUADRATIC)
            scale = wide_divide(wide_multiply(force, magnitude(flow)), square);
        else
            scale = wide_divide(force, wide_sqrt(square));
    }
    wide_mask valid = wide_both(exists, wide_positive(square));
    return triple_scale(wide_keep(valid, scale), product);
}

static inline struct triple relative_to(const struct air *air, const struct state *s, int64_t at)
{
    return triple_subtract(air->wind, triple_load(s->vx, s->vy, s->vz, at));
}

// The two faces of each cell from node `at` on.
static inline void cell_push(const struct state *s, const struct air *air, int64_t at, long nx,
                             wide_mask exists, enum wind_law law, struct triple *first,
                             struct triple *second)
{
    struct triple a = triple_load(s->x, s->y, s->z, at);
    struct triple b = triple_subtract(triple_load(s->x, s->y, s->z, at + 1), a);
    struct triple c = triple_subtract(triple_load(s->x, s->y, s->z, at + nx), a);
    struct triple d = triple_subtract(triple_load(s->x, s->y, s->z, at + nx + 1), a);
    struct triple of_first = air->wind, of_second = air->wind;
    if (air->relative && law != WIND_NODE) {
        struct triple shared =
            triple_add(relative_to(air, s, at), relative_to(air, s, at + nx + 1));
        of_first = triple_add(shared, relative_to(air, s, at + 1));
        of_second = triple_add(shared, relative_to(air, s, at + nx));
    }
    *first = face_push(air, triple_cross(b, d), of_first, exists, law);
    *second = face_push(air, triple_cross(d, c), of_second, exists, law);
}

// Adds to the forces of the first `left` nodes from `at` on; pinned ones take none.
static inline void add_to_forces(const struct system *system, int64_t at, long left,
                                 struct triple force)
{
    struct state *s = system->state;
    wide free_node = wide_load_first(system->constants->inverse_mass + at, left);
    force = triple_keep(wide_positive(free_node), force);
    wide_store_first(s->fx + at, wide_add(wide_load_first(s->fx + at, left), force.x), left);
    wide_store_first(s->fy + at, wide_add(wide_load_first(s->fy + at, left), force.y), left);
    wide_store_first(s->fz + at, wide_add(wide_load_first(s->fz + at, left), force.z), left);
}

// Law node: F = c (r.n) n with n the unit mean of the normals whose sum this is.
static inline void add_by_normal(const struct system *system, const struct air *air, int64_t at,
                                 long left, struct triple sum)
{
    struct state *s = system->state;
    wide square = triple_dot(sum, sum);
    wide length = wide_sqrt(square);
    wide_mask valid = wide_positive(square);
    struct triple n = {wide_keep(valid, wide_divide(sum.x, length)),
                       wide_keep(valid, wide_divide(sum.y, length)),
                       wide_keep(valid, wide_divide(sum.z, length))};
    wide_store_first(s->nx + at, n.x, left);
    wide_store_first(s->ny + at, n.y, left);
    wide_store_first(s->nz + at, n.z, left);
    struct triple wind = air->relative ? relative_to(air, s, at) : air->wind;
    wide scale = wide_multiply(air->factor, triple_dot(wind, n));
    add_to_forces(system, at, left, triple_scale(scale, n));
}

// What one row of cells, whose nodes start at `row`, does to the nodes of its lower row and, by way
// of the carry, of its upper one. `cells` is false in the last row of nodes, `nodes` in the row
// before the first that is wanted.
static inline void push_row(const struct system *system, const struct air *air, int64_t row,
                            struct columns columns, bool cells, bool nodes, enum wind_law law,
                            struct carry *carry)
{
    const struct state *s = system->state;
    const long nx = columns.nx;
    struct triple zero = {wide_set(0), wide_set(0), wide_set(0)};
    struct triple first_before = zero, both_before = zero;
    if (cells && columns.first > 0) {
        struct triple second;
        cell_push(s, air, row + columns.first - WIDE_LANES, nx, wide_lanes(0, WIDE_LANES), law,
                  &first_before, &second);
        both_before = triple_add(first_before, second);
    }
    for (long i = columns.first; i < columns.end; i += WIDE_LANES) {
        const long place = i - columns.first;
        struct triple sum = triple_load(carry->x, carry->y, carry->z, place);
        if (cells) {
            struct triple first, second;
            cell_push(s, air, row + i, nx, wide_lanes(0, nx - 1 - i), law, &first, &second);
            struct triple both = triple_add(first, second);
            sum = triple_add(triple_add(sum, both), triple_behind(first_before, first));
            struct triple above = triple_add(second, triple_behind(both_before, both));
            wide_store_first(carry->x + place, above.x, WIDE_LANES);
            wide_store_first(carry->y + place, above.y, WIDE_LANES);
            wide_store_first(carry->z + place, above.z, WIDE_LANES);
            first_before = first;
            both_before = both;
        }
        if (!nodes)
            continue;
        if (law == WIND_NODE)
            add_by_normal(system, air, row + i, nx - i, sum);
        else
            add_to_forces(system, row + i, nx - i, sum);
    }
}

static inline void push_rows(const struct system *system, const struct air *air,
                             const struct plan_face_grid *grid, struct range rows,
                             enum wind_law law)
{
    const long nx = (long)grid->nx;
    for (long first = 0; first < nx; first += FACE_COLUMNS) {
        struct columns columns = {first, first + FACE_COLUMNS < nx ? first + FACE_COLUMNS : nx, nx};
        int64_t row = (int64_t)(grid->first_node + rows.first * grid->nx);
        struct carry carry = {0};
        if (rows.first > 0)
            push_row(system, air, row - nx, columns, true, false, law, &carry);
        for (size_t j = rows.first; j < rows.end; j++, row += nx)
            push_row(system, air, row, columns, j + 1 < grid->ny, true, law, &carry);
    }
}

void FACE_GRID_KERNEL(const struct system *system, const struct wind_now *now,
                      const struct plan_face_grid *grid, struct range rows)
{
    // R is a sum over three corners where it is relative; the wind alone stands for a third of it.
    real thirds = now->relative || now->law == WIND_NODE ? 1 : 3;
    struct air air = {
        .wind = {wide_set(thirds * now->wx), wide_set(thirds * now->wy),
                 wide_set(thirds * now->wz)},
        .relative = now->relative,
    };
    switch (now->law) {
    case WIND_NODE:
        air.factor = wide_set(now->factor);
        push_rows(system, &air, grid, rows, WIND_NODE);
        break;
    case WIND_FACE:
        air.factor = wide_set(now->factor / 18);
        push_rows(system, &air, grid, rows, WIND_FACE);
        break;
    case WIND_QUADRATIC:
        air.factor = wide_set(now->factor / 54);
        push_rows(system, &air, grid, rows, WIND_QUADRATIC);
        break;
    }
}
