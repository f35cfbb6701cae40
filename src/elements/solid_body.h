// The kernel of the volumes of a lattice's cells, compiled for each instruction set by
// kernels/table.h. A block of nodes is computed layer by layer, from the layer of cells below and
// the one above it, which are kept in buffers; cells at the border of a block are computed in every
// block whose nodes they have. Every node gathers from its eight cells in a fixed order. The loops
// are plain, as in sheet_body.h.
#include "elements/elements.h"
#include "simd/wide.h"

enum { SOLID_PAD = 16, SOLID_LENGTH = ELEMENT_SOLID_NODES + 2 * SOLID_PAD };

typedef real solid_row[SOLID_LENGTH];

// Of a row of cells: a quarter of the force along each mean edge, as vectors.
struct solid_cells {
    _Alignas(64) solid_row along[3][3]; // by edge, by component
};

// The block, and the layers of cells below and above the present layer of nodes. Rows of cells count
// from that before the block's first row of nodes.
struct solid {
    const struct elements_body *body;
    const real *x[3], *v[3];
    int64_t i0, i1, j0, j1, k0, k1;
    bool power;
    double sum; // of the power
    struct solid_cells layers[2][ELEMENT_SOLID_ROWS + 1];
};

// The constants in the precision of the run.
struct solid_volume {
    real stiffness, rest, limit, damping;
};

// Four times the mean edge along x, y and z of the cell at i, of one component.
#define SOLID_ALONG_X(r, i)                                                                        \
    (((r[0][i + 1] - r[0][i]) + (r[1][i + 1] - r[1][i])) +                                         \
     ((r[2][i + 1] - r[2][i]) + (r[3][i + 1] - r[3][i])))
#define SOLID_ALONG_Y(r, i)                                                                        \
    (((r[1][i] - r[0][i]) + (r[1][i + 1] - r[0][i + 1])) +                                         \
     ((r[3][i] - r[2][i]) + (r[3][i + 1] - r[2][i + 1])))
#define SOLID_ALONG_Z(r, i)                                                                        \
    (((r[2][i] - r[0][i]) + (r[2][i + 1] - r[0][i + 1])) +                                         \
     ((r[3][i] - r[1][i]) + (r[3][i + 1] - r[1][i + 1])))

// `count` cells of a row; the rows of nodes are (j, k), (j + 1, k), (j, k + 1), (j + 1, k + 1).
static inline void solid_volumes(const real *x[4], const real *y[4], const real *z[4],
                                 const real *vx[4], const real *vy[4], const real *vz[4],
                                 const struct solid_volume *volume, int64_t count, real *to[3][3],
                                 real *power)
{
    const real quarter = (real)0.25, k = volume->stiffness, rest = volume->rest;
    const real limit = volume->limit, damping = volume->damping;
    real *ux = to[0][0], *uy = to[0][1], *uz = to[0][2];
    real *wx = to[1][0], *wy = to[1][1], *wz = to[1][2];
    real *tx = to[2][0], *ty = to[2][1], *tz = to[2][2];
    WIDE_INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
        const real ax = quarter * SOLID_ALONG_X(x, i), ay = quarter * SOLID_ALONG_X(y, i);
        const real az = quarter * SOLID_ALONG_X(z, i);
        const real bx = quarter * SOLID_ALONG_Y(x, i), by = quarter * SOLID_ALONG_Y(y, i);
        const real bz = quarter * SOLID_ALONG_Y(z, i);
        const real cx = quarter * SOLID_ALONG_Z(x, i), cy = quarter * SOLID_ALONG_Z(y, i);
        const real cz = quarter * SOLID_ALONG_Z(z, i);

        // The derivatives of the volume a.(b x c) by the edges.
        const real px = by * cz - bz * cy, py = bz * cx - bx * cz, pz = bx * cy - by * cx;
        const real qx = cy * az - cz * ay, qy = cz * ax - cx * az, qz = cx * ay - cy * ax;
        const real rx = ay * bz - az * by, ry = az * bx - ax * bz, rz = ax * by - ay * bx;
        real excess = (ax * px + ay * py + az * pz) - rest;
        excess = excess > limit ? limit : excess;
        excess = excess < -limit ? -limit : excess;
        real force = k * excess;
        if (damping > 0) {
            const real da =
                px * SOLID_ALONG_X(vx, i) + py * SOLID_ALONG_X(vy, i) + pz * SOLID_ALONG_X(vz, i);
            const real db =
                qx * SOLID_ALONG_Y(vx, i) + qy * SOLID_ALONG_Y(vy, i) + qz * SOLID_ALONG_Y(vz, i);
            const real dc =
                rx * SOLID_ALONG_Z(vx, i) + ry * SOLID_ALONG_Z(vy, i) + rz * SOLID_ALONG_Z(vz, i);
            const real rate = quarter * (da + db + dc);
            force += damping * rate;
            power[i] = damping * rate * rate;
        }
        const real share = quarter * force;
        ux[i] = share * px;
        uy[i] = share * py;
        uz[i] = share * pz;
        wx[i] = share * qx;
        wy[i] = share * qy;
        wz[i] = share * qz;
        tx[i] = share * rx;
        ty[i] = share * ry;
        tz[i] = share * rz;
    }
}

#undef SOLID_ALONG_X
#undef SOLID_ALONG_Y
#undef SOLID_ALONG_Z

// The cells of row j of layer k of cells, from i0 - 1 to i1 - 1; those outside of the grid exert 0.
static inline void solid_cell_row(struct solid *solid, int64_t j, int64_t k)
{
    const struct elements_body *body = solid->body;
    const struct element_constants *constants = &body->constants[ELEMENT_VOLUME];
    const int64_t nx = body->grid[0], layer = nx * body->grid[1];
    struct solid_cells *cells = &solid->layers[k & 1][j - (solid->j0 - 1)];
    const bool exists = j >= 0 && k >= 0 && j < body->grid[1] - 1 && k < body->grid[2] - 1;
    const int64_t first = solid->i0 - 1, end = solid->i1;
    const int64_t from = !exists ? end : first > 0 ? first : 0;
    const int64_t to = !exists ? end : end < nx - 1 ? end : nx - 1;
    for (int edge = 0; edge < 3; edge++)
        for (int axis = 0; axis < 3; axis++) {
            real *row = cells->along[edge][axis] + SOLID_PAD - solid->i0;
            for (int64_t i = first; i < from; i++)
                row[i] = 0;
            for (int64_t i = to; i < end; i++)
                row[i] = 0;
        }
    if (to <= from)
        return;

    const struct solid_volume volume = {
        .stiffness = (real)constants->stiffness,
        .rest = (real)constants->rest,
        .limit =
            constants->stiffness < 0 ? (real)(ELEMENT_LINEAR_FROM * constants->rest) : REAL_HUGE,
        .damping = (real)(constants->time * fabs(constants->stiffness))};
    const real *x[3][4], *v[3][4];
    real *forces[3][3];
    real power[SOLID_LENGTH];
    for (int axis = 0; axis < 3; axis++)
        for (int row = 0; row < 4; row++) {
            const int64_t node = (k + (row >> 1)) * layer + (j + (row & 1)) * nx + from;
            x[axis][row] = solid->x[axis] + node;
            v[axis][row] = solid->v[axis] + node;
        }
    for (int edge = 0; edge < 3; edge++)
        for (int axis = 0; axis < 3; axis++)
            forces[edge][axis] = cells->along[edge][axis] + SOLID_PAD + (from - solid->i0);
    solid_volumes(x[0], x[1], x[2], v[0], v[1], v[2], &volume, to - from, forces, power);
    const real *whole = body->cells ? body->cells + k * layer + j * nx + from : NULL;
    for (int64_t i = 0; whole && i < to - from; i++) {
        for (int edge = 0; edge < 3; edge++)
            for (int axis = 0; axis < 3; axis++)
                forces[edge][axis][i] *= whole[i];
        if (volume.damping > 0)
            power[i] *= whole[i];
    }
    if (solid->power && volume.damping > 0 && j >= solid->j0 && k >= solid->k0)
        for (int64_t i = solid->i0; i < to; i++)
            solid->sum += (double)power[i - from];
}

// Adds what the cells of a row exert on the nodes of a row beside it; `y` and `z` are the signs of
// the nodes in these cells.
static inline void solid_gather(const struct solid_cells *cells, int axis, real y, real z,
                                int64_t count, real *restrict force)
{
    const real *restrict a = cells->along[0][axis] + SOLID_PAD;
    const real *restrict b = cells->along[1][axis] + SOLID_PAD;
    const real *restrict c = cells->along[2][axis] + SOLID_PAD;
    for (int64_t i = 0; i < count; i++)
        force[i] -= (a[i - 1] - a[i]) + (y * (b[i - 1] + b[i]) + z * (c[i - 1] + c[i]));
}

static inline void solid_add_row(const struct solid *solid, struct state *s, int64_t j, int64_t k)
{
    const struct elements_body *body = solid->body;
    const struct solid_cells *below = &solid->layers[(k - 1) & 1][j - solid->j0],
                             *above = &solid->layers[k & 1][j - solid->j0];
    const int64_t node = body->first + (k * body->grid[1] + j) * body->grid[0] + solid->i0;
    const int64_t count = solid->i1 - solid->i0;
    real *const forces[3] = {s->fx + node, s->fy + node, s->fz + node};
    for (int axis = 0; axis < 3; axis++) {
        solid_gather(&below[0], axis, 1, 1, count, forces[axis]);
        solid_gather(&below[1], axis, -1, 1, count, forces[axis]);
        solid_gather(&above[0], axis, 1, -1, count, forces[axis]);
        solid_gather(&above[1], axis, -1, -1, count, forces[axis]);
    }
}

static double element_solid(const struct system *system, const struct elements_body *body,
                            const int64_t block[3], bool power)
{
    struct state *s = system->state;
    struct solid solid;
    solid.body = body;
    solid.power = power && body->damped;
    solid.sum = 0;
    const real *const x[3] = {s->x, s->y, s->z}, *const v[3] = {s->vx, s->vy, s->vz};
    for (int axis = 0; axis < 3; axis++) {
        solid.x[axis] = x[axis] + body->first;
        solid.v[axis] = v[axis] + body->first;
    }
    solid.i0 = block[0] * ELEMENT_SOLID_NODES;
    solid.j0 = block[1] * ELEMENT_SOLID_ROWS;
    solid.k0 = block[2] * ELEMENT_SOLID_LAYERS;
    solid.i1 = solid.i0 + ELEMENT_SOLID_NODES;
    solid.j1 = solid.j0 + ELEMENT_SOLID_ROWS;
    solid.k1 = solid.k0 + ELEMENT_SOLID_LAYERS;
    solid.i1 = solid.i1 < body->grid[0] ? solid.i1 : body->grid[0];
    solid.j1 = solid.j1 < body->grid[1] ? solid.j1 : body->grid[1];
    solid.k1 = solid.k1 < body->grid[2] ? solid.k1 : body->grid[2];

    for (int64_t k = solid.k0 - 1; k < solid.k1; k++) {
        for (int64_t j = solid.j0 - 1; j < solid.j1; j++)
            solid_cell_row(&solid, j, k);
        for (int64_t j = solid.j0; k >= solid.k0 && j < solid.j1; j++)
            solid_add_row(&solid, s, j, k);
    }
    return solid.sum;
}
