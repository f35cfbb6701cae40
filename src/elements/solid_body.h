// The kernel of the volumes of a lattice's cells, compiled for each instruction set by
// kernels/table.h. Layers of a block of nodes are computed one by one, from the layer of cells
// below and the one above, which are kept in buffers; cells at the border of a block are computed
// in every block whose nodes they have. Every node gathers from its eight cells in a fixed order.
#include "elements/elements.h"
#include "simd/wide3.h"

typedef real solid_row[ELEMENT_SOLID_NODES];

// The forces of a row of cells on the nodes of the four rows beside it, by component: `along` +
// `same` on the nodes after it in y and z, `along` - `same` on those before it in both, and
// likewise with `opposite` on those after it in y or in z alone; before and after in x are added
// up.
struct solid_cells {
    _Alignas(64) solid_row along[3], same[3], opposite[3];
};

// The block, and the layers of cells below and above the present layer of nodes. Rows of cells
// count from that before the block's first row of nodes.
struct solid {
    const struct elements_body *body;
    const real *x[3], *v[3];
    int64_t i0, i1, j0, j1, k0, k1;
    double *powers; // of the layers from k0 on; NULL: not wanted
    struct solid_cells layers[2][ELEMENT_SOLID_ROWS + 1];
};

// The constants in the precision of the run.
struct solid_volume {
    real stiffness, rest, limit, damping;
};

// Numbers of a register of cells along x, y and z.
struct solid_edges {
    wide x, y, z;
};

// Four times the mean edges of cells from i on, of one component. `rows` are the rows of nodes (j,
// k), (j + 1, k), (j, k + 1), (j + 1, k + 1).
WIDE_INLINE struct solid_edges solid_edges(const real *const rows[4], int64_t i)
{
    wide a[4], b[4]; // of the nodes with the least x, and of those after them
    for (int row = 0; row < 4; row++) {
        a[row] = wide_load(rows[row] + i);
        b[row] = wide_load(rows[row] + i + 1);
    }
    return (struct solid_edges){
        .x = wide_add(wide_add(wide_subtract(b[0], a[0]), wide_subtract(b[1], a[1])),
                      wide_add(wide_subtract(b[2], a[2]), wide_subtract(b[3], a[3]))),
        .y = wide_add(wide_add(wide_subtract(a[1], a[0]), wide_subtract(b[1], b[0])),
                      wide_add(wide_subtract(a[3], a[2]), wide_subtract(b[3], b[2]))),
        .z = wide_add(wide_add(wide_subtract(a[2], a[0]), wide_subtract(b[2], b[0])),
                      wide_add(wide_subtract(a[3], a[1]), wide_subtract(b[3], b[1])))};
}

// The edges of all components: x, y and z are then vectors.
struct solid_vectors {
    struct wide3 x, y, z;
};

WIDE_INLINE struct solid_vectors solid_vectors(const real *const rows[3][4], int64_t i)
{
    const struct solid_edges x = solid_edges(rows[0], i), y = solid_edges(rows[1], i),
                             z = solid_edges(rows[2], i);
    return (struct solid_vectors){{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}};
}

// A quarter of the force along each mean edge of the cells from i on, and the power of the damping;
// 0 in lanes without a cell.
WIDE_INLINE struct solid_vectors solid_volumes(const real *const x[3][4], const real *const v[3][4],
                                               const struct solid_volume *volume, wide_mask exists,
                                               int64_t i, wide *power)
{
    const wide quarter = wide_set((real)0.25), limit = wide_set(volume->limit);
    const struct solid_vectors edges = solid_vectors(x, i);
    const struct wide3 a = wide3_scale(quarter, edges.x), b = wide3_scale(quarter, edges.y);
    const struct wide3 c = wide3_scale(quarter, edges.z);

    // The derivatives of the volume a.(b x c) by the edges. The excess stays NaN if it is.
    const struct wide3 p = wide3_cross(b, c), q = wide3_cross(c, a), r = wide3_cross(a, b);
    wide excess = wide_subtract(wide3_dot(a, p), wide_set(volume->rest));
    excess = wide_max(wide_set(-volume->limit), wide_min(limit, excess));
    wide force = wide_multiply(wide_set(volume->stiffness), excess);
    if (volume->damping > 0) {
        const struct solid_vectors rates = solid_vectors(v, i);
        const wide sum =
            wide_add(wide_add(wide3_dot(p, rates.x), wide3_dot(q, rates.y)), wide3_dot(r, rates.z));
        const wide rate = wide_multiply(quarter, sum);
        const wide damped = wide_multiply(wide_set(volume->damping), rate);
        force = wide_add(force, damped);
        *power = wide_multiply_where(exists, damped, rate);
    }
    const wide share = wide_multiply(quarter, force);
    return (struct solid_vectors){wide3_masked(exists, wide3_scale(share, p)),
                                  wide3_masked(exists, wide3_scale(share, q)),
                                  wide3_masked(exists, wide3_scale(share, r))};
}

// Stores the forces x, y and z of cells; `before` are those of the register before.
WIDE_INLINE void solid_store(struct solid_cells *cells, int axis, int64_t at,
                             struct solid_edges before, struct solid_edges now)
{
    const wide along = wide_subtract(wide_shift_up_1(before.x, now.x), now.x);
    const wide y = wide_add(wide_shift_up_1(before.y, now.y), now.y);
    const wide z = wide_add(wide_shift_up_1(before.z, now.z), now.z);
    wide_store(cells->along[axis] + at, along);
    wide_store(cells->same[axis] + at, wide_add(y, z));
    wide_store(cells->opposite[axis] + at, wide_subtract(y, z));
}

// The cells of row j of layer k of cells, from i0 - 1 to i1 - 1; those outside of the grid exert 0.
static inline void solid_cell_row(struct solid *solid, int64_t j, int64_t k)
{
    const struct elements_body *body = solid->body;
    const struct element_constants *constants = &body->constants[ELEMENT_VOLUME];
    const int64_t nx = body->grid[0], layer = nx * body->grid[1], row = k * layer + j * nx;
    struct solid_cells *cells = &solid->layers[k & 1][j - (solid->j0 - 1)];
    if (j < 0 || k < 0 || j >= body->grid[1] - 1 || k >= body->grid[2] - 1) {
        memset(cells, 0, sizeof *cells);
        return;
    }

    const struct solid_volume volume = {
        .stiffness = (real)constants->stiffness,
        .rest = (real)constants->rest,
        .limit =
            constants->stiffness < 0 ? (real)(ELEMENT_LINEAR_FROM * constants->rest) : REAL_HUGE,
        .damping = (real)(constants->time * fabs(constants->stiffness))};
    const bool measures = solid->powers && volume.damping > 0 && j >= solid->j0 && k >= solid->k0;
    const real *x[3][4], *v[3][4];
    for (int axis = 0; axis < 3; axis++)
        for (int corner = 0; corner < 4; corner++) {
            const int64_t first = row + (corner >> 1) * layer + (corner & 1) * nx;
            x[axis][corner] = solid->x[axis] + first;
            v[axis][corner] = solid->v[axis] + first;
        }
    const struct wide3 zero = wide3_zero();
    struct solid_vectors before = {zero, zero, zero};
    for (int64_t i = solid->i0 > 0 ? solid->i0 - WIDE_LANES : 0; i < solid->i1; i += WIDE_LANES) {
        const int64_t left = nx - 1 - i;
        wide power = wide_set(0);
        struct solid_vectors now =
            solid_volumes((const real *const(*)[4])x, (const real *const(*)[4])v, &volume,
                          wide_lane_range(0, left), i, &power);
        if (body->cells) {
            const wide whole = wide_load_first(body->cells + row + i, left > 0 ? left : 0);
            now.x = wide3_scale(whole, now.x);
            now.y = wide3_scale(whole, now.y);
            now.z = wide3_scale(whole, now.z);
            power = wide_multiply(whole, power);
        }
        if (i >= solid->i0) {
            const int64_t at = i - solid->i0;
            solid_store(cells, 0, at, (struct solid_edges){before.x.x, before.y.x, before.z.x},
                        (struct solid_edges){now.x.x, now.y.x, now.z.x});
            solid_store(cells, 1, at, (struct solid_edges){before.x.y, before.y.y, before.z.y},
                        (struct solid_edges){now.x.y, now.y.y, now.z.y});
            solid_store(cells, 2, at, (struct solid_edges){before.x.z, before.y.z, before.z.z},
                        (struct solid_edges){now.x.z, now.y.z, now.z.z});
        }
        if (measures && i >= solid->i0) { // in the order of the cells, whatever the width
            real lanes[WIDE_LANES];
            wide_store(lanes, power);
            for (int64_t lane = 0; lane < WIDE_LANES && i + lane < solid->i1; lane++)
                solid->powers[k - solid->k0] += (double)lanes[lane];
        }
        before = now;
    }
}

// Subtracts the forces of the four rows of cells beside a row of nodes from the forces on it.
static inline void solid_add_row(const struct solid *solid, struct state *s, int64_t j, int64_t k)
{
    const struct elements_body *body = solid->body;
    const struct solid_cells *below = &solid->layers[(k - 1) & 1][j - solid->j0],
                             *above = &solid->layers[k & 1][j - solid->j0];
    const int64_t node = body->first + (k * body->grid[1] + j) * body->grid[0] + solid->i0;
    const long count = (long)(solid->i1 - solid->i0);
    real *const forces[3] = {s->fx + node, s->fy + node, s->fz + node};
    for (int axis = 0; axis < 3; axis++)
        for (long i = 0; i < count; i += WIDE_LANES) {
            real *const to = forces[axis] + i;
            wide sum = wide_load_first(to, count - i);
            sum = wide_subtract(sum, wide_add(wide_load(below[0].along[axis] + i),
                                              wide_load(below[0].same[axis] + i)));
            sum = wide_subtract(sum, wide_subtract(wide_load(below[1].along[axis] + i),
                                                   wide_load(below[1].opposite[axis] + i)));
            sum = wide_subtract(sum, wide_add(wide_load(above[0].along[axis] + i),
                                              wide_load(above[0].opposite[axis] + i)));
            sum = wide_subtract(sum, wide_subtract(wide_load(above[1].along[axis] + i),
                                                   wide_load(above[1].same[axis] + i)));
            wide_store_first(to, sum, count - i);
        }
}

static void element_solid(const struct system *system, const struct elements_body *body,
                          const int64_t block[3], struct range layers, double *powers)
{
    struct state *s = system->state;
    struct solid solid;
    solid.body = body;
    solid.powers = powers;
    const real *const x[3] = {s->x, s->y, s->z}, *const v[3] = {s->vx, s->vy, s->vz};
    for (int axis = 0; axis < 3; axis++) {
        solid.x[axis] = x[axis] + body->first;
        solid.v[axis] = v[axis] + body->first;
    }
    solid.i0 = block[0] * ELEMENT_SOLID_NODES;
    solid.j0 = block[1] * ELEMENT_SOLID_ROWS;
    solid.k0 = (int64_t)layers.first;
    solid.i1 = solid.i0 + ELEMENT_SOLID_NODES;
    solid.j1 = solid.j0 + ELEMENT_SOLID_ROWS;
    solid.k1 = (int64_t)layers.end;
    solid.i1 = solid.i1 < body->grid[0] ? solid.i1 : body->grid[0];
    solid.j1 = solid.j1 < body->grid[1] ? solid.j1 : body->grid[1];

    for (int64_t k = solid.k0 - 1; k < solid.k1; k++) {
        for (int64_t j = solid.j0 - 1; j < solid.j1; j++)
            solid_cell_row(&solid, j, k);
        for (int64_t j = solid.j0; k >= solid.k0 && j < solid.j1; j++)
            solid_add_row(&solid, s, j, k);
    }
}
