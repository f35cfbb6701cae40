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
#include <string.h>

#include "kernels/wind_cell.h"

enum { FACE_COLUMNS = 512 }; // a multiple of every WIDE_LANES; no sum depends on it
_Static_assert((int)FACE_COLUMNS % (int)WIDE_LANES == 0, "whole vectors");

struct carry {
    alignas(64) real x[FACE_COLUMNS];
    alignas(64) real y[FACE_COLUMNS];
    alignas(64) real z[FACE_COLUMNS];
};

// Columns of a row.
struct columns {
    long first, end, nx;
};

static inline struct triple triple_load(const real *x, const real *y, const real *z, int64_t at)
{
    return (struct triple){wide_load(x + at), wide_load(y + at), wide_load(z + at)};
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
    struct triple a = triple_load(s->x, s->y, s->z, at), v = a;
    struct cell_edges to = {
        .b = triple_subtract(a, triple_load(s->x, s->y, s->z, at + 1)),
        .c = triple_subtract(a, triple_load(s->x, s->y, s->z, at + nx)),
        .d = triple_subtract(a, triple_load(s->x, s->y, s->z, at + nx + 1)),
    };
    if (law != WIND_NODE && air->relative) {
        v = triple_load(s->vx, s->vy, s->vz, at);
        to.vb = triple_subtract(v, triple_load(s->vx, s->vy, s->vz, at + 1));
        to.vc = triple_subtract(v, triple_load(s->vx, s->vy, s->vz, at + nx));
        to.vd = triple_subtract(v, triple_load(s->vx, s->vy, s->vz, at + nx + 1));
    }
    cell_faces(air, &to, v, exists, law, air->relative, first, second);
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
    const struct air air = air_of(now);
    switch (now->law) {
    case WIND_NODE:
        push_rows(system, &air, grid, rows, WIND_NODE);
        break;
    case WIND_FACE:
        push_rows(system, &air, grid, rows, WIND_FACE);
        break;
    case WIND_QUADRATIC:
        push_rows(system, &air, grid, rows, WIND_QUADRATIC);
        break;
    }
}

void FACE_CARRY_KERNEL(const struct system *system, const struct wind_now *now,
                       const struct plan_face_grid *grid, uint64_t row, struct reals to)
{
    const struct air air = air_of(now);
    const long nx = (long)grid->nx;
    for (long first = 0; first < nx; first += FACE_COLUMNS) {
        struct columns columns = {first, first + FACE_COLUMNS < nx ? first + FACE_COLUMNS : nx, nx};
        const size_t bytes = (size_t)(columns.end - first) * sizeof(real);
        struct carry carry = {0};
        push_row(system, &air, (int64_t)(grid->first_node + row * grid->nx), columns, true, false,
                 WIND_FACE, &carry);
        memcpy(to.x + first, carry.x, bytes);
        memcpy(to.y + first, carry.y, bytes);
        memcpy(to.z + first, carry.z, bytes);
    }
}
