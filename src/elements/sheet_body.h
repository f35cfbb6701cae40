// The kernel of bending, twist and areas of ropes and cloths, compiled for each instruction set by
// kernels/table.h. A block of nodes is computed row by row: every node gathers from the elements
// around it, in a fixed order, and elements at the border of a block are computed in both blocks, so
// that no other block writes to its nodes. The loops are plain: compilers vectorise them, and every
// number is computed by the same operations on every instruction set.
#include "elements/elements.h"
#include "simd/wide.h"

// Rows of buffers: element i of the block is at SHEET_PAD + i, and its neighbours beside it.
enum { SHEET_PAD = 16, SHEET_LENGTH = ELEMENT_SHEET_NODES + 2 * SHEET_PAD };
enum { SHEET_LANES = 16 };

typedef real sheet_row[SHEET_LENGTH];

// The elements that the present row of nodes needs. Bending: k (c + t dc/dt) of the elements with
// their centres on this row (along x), on the row before, this one and the next (along y). Cells
// between this row and the next, and between the row before and this one: k (c + t dc/dt) of the
// twist; of the area P and Q, the forces on the corners (0,0) and (0,1), against which those on
// (1,1) and (1,0) act.
struct sheet_rows {
    _Alignas(64) sheet_row line_x[3];
    _Alignas(64) sheet_row line_y[3][3];
    _Alignas(64) sheet_row twist[2][3];
    _Alignas(64) sheet_row p[2][3], q[2][3];
    _Alignas(64) double lanes[SHEET_LANES]; // of the power
};

// The block, and what its loops need of the body.
struct sheet {
    const struct elements_body *body;
    const real *x[3], *v[3];
    int64_t i0, i1, j0, j1;
    struct sheet_rows *rows;
    bool power;
};

// Columns [from, to) within the grid of a row of the buffer that starts at i0 - SHEET_PAD; the
// elements beside them, up to one beyond the block, are 0.
static inline real *sheet_inside(const struct sheet *sheet, real *row, int64_t from, int64_t to)
{
    real *zero = row + SHEET_PAD - sheet->i0;
    for (int64_t i = sheet->i0 - 1; i < from; i++)
        zero[i] = 0;
    for (int64_t i = to > sheet->i0 - 1 ? to : sheet->i0 - 1; i < sheet->i1 + 1; i++)
        zero[i] = 0;
    return zero + from;
}

static inline void sheet_clear(const struct sheet *sheet, sheet_row rows[3])
{
    for (int axis = 0; axis < 3; axis++)
        (void)sheet_inside(sheet, rows[axis], sheet->i1 + 1, sheet->i1 + 1);
}

// to := k w ((a - b) + (c - b)), for one component of a row.
static inline void sheet_curvature(const real *restrict a, const real *restrict b,
                                   const real *restrict c, const real *restrict weights, real k,
                                   int64_t count, real *restrict to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = k * weights[i] * ((a[i] - b[i]) + (c[i] - b[i]));
}

// to += c w ((a - b) + (c - b)), of velocities.
static inline void sheet_curving(const real *restrict a, const real *restrict b,
                                 const real *restrict c, const real *restrict weights, real damping,
                                 int64_t count, real *restrict to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += damping * weights[i] * ((a[i] - b[i]) + (c[i] - b[i]));
}

// The same for the power: lanes += c w |.|^2. Lane l sums elements l, l + SHEET_LANES, ...
static inline void sheet_curving_power(const real *restrict a, const real *restrict b,
                                       const real *restrict c, const real *restrict weights,
                                       real damping, int64_t count, double *restrict lanes)
{
    int64_t i = 0;
    for (; i + SHEET_LANES <= count; i += SHEET_LANES)
        for (int lane = 0; lane < SHEET_LANES; lane++) {
            const real rate = (a[i + lane] - b[i + lane]) + (c[i + lane] - b[i + lane]);
            lanes[lane] += (double)(damping * weights[i + lane] * (rate * rate));
        }
    for (int lane = 0; i + lane < count; lane++) {
        const real rate = (a[i + lane] - b[i + lane]) + (c[i + lane] - b[i + lane]);
        lanes[lane] += (double)(damping * weights[i + lane] * (rate * rate));
    }
}

// Bending with its centres on row j, along x or y (`step` nodes apart).
static inline void sheet_line(const struct sheet *sheet, int line, int64_t j, sheet_row rows[3])
{
    const struct elements_body *body = sheet->body;
    const struct element_constants *constants = &body->constants[line];
    const int64_t nx = body->grid[0], step = line == ELEMENT_BEND_X ? 1 : nx;
    const int64_t margin = line == ELEMENT_BEND_X ? 1 : 0;
    const bool exists = constants->stiffness != 0 &&
                        (line == ELEMENT_BEND_X || (j > 0 && j < body->grid[1] - 1));
    if (!exists) {
        sheet_clear(sheet, rows);
        return;
    }
    int64_t from = sheet->i0 - margin, to = sheet->i1 + margin;
    from = from > margin ? from : margin;
    to = to < nx - margin ? to : nx - margin;
    if (to <= from) {
        sheet_clear(sheet, rows);
        return;
    }

    const real *weights = body->weights + body->rows[line][j] + from;
    const real k = (real)constants->stiffness;
    const real damping = (real)(constants->time * constants->stiffness);
    for (int axis = 0; axis < 3; axis++) {
        const real *x = sheet->x[axis] + j * nx + from, *v = sheet->v[axis] + j * nx + from;
        real *row = sheet_inside(sheet, rows[axis], from, to);
        sheet_curvature(x - step, x, x + step, weights, k, to - from, row);
        if (damping > 0)
            sheet_curving(v - step, v, v + step, weights, damping, to - from, row);
    }
    if (!sheet->power || !(damping > 0) || j < sheet->j0 || j >= sheet->j1)
        return;
    from = from > sheet->i0 ? from : sheet->i0;
    to = to < sheet->i1 ? to : sheet->i1;
    for (int axis = 0; axis < 3; axis++) {
        const real *v = sheet->v[axis] + j * nx + from;
        sheet_curving_power(v - step, v, v + step, body->weights + body->rows[line][j] + from,
                            damping, to - from, sheet->rows->lanes);
    }
}

// to := k ((a - b) - (c - d)) over the corners of cells, for one component of a row of them.
static inline void sheet_twist(const real *restrict low, const real *restrict high, real k,
                               int64_t count, real *restrict to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = k * ((low[i] - low[i + 1]) - (high[i] - high[i + 1]));
}

static inline void sheet_twisting(const real *restrict low, const real *restrict high, real damping,
                                  int64_t count, real *restrict to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += damping * ((low[i] - low[i + 1]) - (high[i] - high[i + 1]));
}

static inline void sheet_twisting_power(const real *restrict low, const real *restrict high,
                                        real damping, int64_t count, double *restrict lanes)
{
    int64_t i = 0;
    for (; i + SHEET_LANES <= count; i += SHEET_LANES)
        for (int lane = 0; lane < SHEET_LANES; lane++) {
            const int64_t at = i + lane;
            const real rate = (low[at] - low[at + 1]) - (high[at] - high[at + 1]);
            lanes[lane] += (double)(damping * (rate * rate));
        }
    for (int lane = 0; i + lane < count; lane++) {
        const int64_t at = i + lane;
        const real rate = (low[at] - low[at + 1]) - (high[at] - high[at + 1]);
        lanes[lane] += (double)(damping * (rate * rate));
    }
}

// The constants of areas in the precision of the run.
struct sheet_area {
    real stiffness, rest, limit, damping;
};

// Half the forces of the areas of a row of cells, by the mean edges along u and v of each.
static inline void sheet_area(const real *low[3], const real *high[3], const real *slow[3],
                              const real *fast[3], const struct sheet_area *area, int64_t count,
                              real *p[3], real *q[3], real *power)
{
    const real half = (real)0.5, k = area->stiffness, rest = area->rest, limit = area->limit;
    const real damping = area->damping;
    const real *x0 = low[0], *y0 = low[1], *z0 = low[2], *x1 = high[0], *y1 = high[1],
               *z1 = high[2];
    const real *r0 = slow[0], *s0 = slow[1], *t0 = slow[2];
    const real *r1 = fast[0], *s1 = fast[1], *t1 = fast[2];
    real *px = p[0], *py = p[1], *pz = p[2], *qx = q[0], *qy = q[1], *qz = q[2];
    WIDE_INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
        const real ux = half * ((x0[i + 1] - x0[i]) + (x1[i + 1] - x1[i]));
        const real uy = half * ((y0[i + 1] - y0[i]) + (y1[i + 1] - y1[i]));
        const real uz = half * ((z0[i + 1] - z0[i]) + (z1[i + 1] - z1[i]));
        const real wx = half * ((x1[i] - x0[i]) + (x1[i + 1] - x0[i + 1]));
        const real wy = half * ((y1[i] - y0[i]) + (y1[i + 1] - y0[i + 1]));
        const real wz = half * ((z1[i] - z0[i]) + (z1[i + 1] - z0[i + 1]));
        real nx = uy * wz - uz * wy, ny = uz * wx - ux * wz, nz = ux * wy - uy * wx;
        const real size = real_sqrt(nx * nx + ny * ny + nz * nz);
        const real inverse = size > REAL_TINY ? 1 / size : 0;
        nx *= inverse;
        ny *= inverse;
        nz *= inverse;

        // The derivatives of the area by the edges, and the force along them.
        const real ax = wy * nz - wz * ny, ay = wz * nx - wx * nz, az = wx * ny - wy * nx;
        const real bx = ny * uz - nz * uy, by = nz * ux - nx * uz, bz = nx * uy - ny * ux;
        real excess = size - rest;
        excess = excess > limit ? limit : excess;
        excess = excess < -limit ? -limit : excess;
        real force = k * excess;
        if (damping > 0) {
            const real du = ax * ((r0[i + 1] - r0[i]) + (r1[i + 1] - r1[i])) +
                            ay * ((s0[i + 1] - s0[i]) + (s1[i + 1] - s1[i])) +
                            az * ((t0[i + 1] - t0[i]) + (t1[i + 1] - t1[i]));
            const real dw = bx * ((r1[i] - r0[i]) + (r1[i + 1] - r0[i + 1])) +
                            by * ((s1[i] - s0[i]) + (s1[i + 1] - s0[i + 1])) +
                            bz * ((t1[i] - t0[i]) + (t1[i + 1] - t0[i + 1]));
            const real rate = half * (du + dw);
            force += damping * rate;
            power[i] = damping * rate * rate;
        }
        const real share = half * force;
        px[i] = share * (ax + bx);
        py[i] = share * (ay + by);
        pz[i] = share * (az + bz);
        qx[i] = share * (ax - bx);
        qy[i] = share * (ay - by);
        qz[i] = share * (az - bz);
    }
}

// The cells between rows j and j + 1, into the buffers of this parity.
static inline void sheet_cells(const struct sheet *sheet, int64_t j)
{
    const struct elements_body *body = sheet->body;
    struct sheet_rows *rows = sheet->rows;
    const int64_t nx = body->grid[0], slot = j & 1;
    const struct element_constants *twist = &body->constants[ELEMENT_TWIST],
                                   *area = &body->constants[ELEMENT_AREA];
    const bool exists = j >= 0 && j < body->grid[1] - 1;
    const int64_t from = sheet->i0 > 0 ? sheet->i0 - 1 : 0;
    const int64_t to = sheet->i1 < nx - 1 ? sheet->i1 : nx - 1;
    const bool counts = sheet->power && j >= sheet->j0;
    if (!exists || to <= from) {
        sheet_clear(sheet, rows->twist[slot]);
        sheet_clear(sheet, rows->p[slot]);
        sheet_clear(sheet, rows->q[slot]);
        return;
    }

    if (twist->stiffness != 0) {
        const real k = (real)twist->stiffness, damping = (real)(twist->time * twist->stiffness);
        for (int axis = 0; axis < 3; axis++) {
            const real *x = sheet->x[axis] + j * nx + from, *v = sheet->v[axis] + j * nx + from;
            real *row = sheet_inside(sheet, rows->twist[slot][axis], from, to);
            sheet_twist(x, x + nx, k, to - from, row);
            if (damping > 0)
                sheet_twisting(v, v + nx, damping, to - from, row);
            const int64_t skip = sheet->i0 - from;
            if (counts && damping > 0)
                sheet_twisting_power(v + skip, v + nx + skip, damping, to - from - skip,
                                     rows->lanes);
        }
    }
    if (area->stiffness == 0)
        return;
    const struct sheet_area constants = {
        .stiffness = (real)area->stiffness,
        .rest = (real)area->rest,
        .limit = area->stiffness < 0 ? (real)(ELEMENT_LINEAR_FROM * area->rest) : REAL_HUGE,
        .damping = (real)(area->time * fabs(area->stiffness))};
    const real *low[3], *high[3], *slow[3], *fast[3];
    real *p[3], *q[3];
    real power[SHEET_LENGTH];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = sheet->x[axis] + j * nx + from;
        high[axis] = low[axis] + nx;
        slow[axis] = sheet->v[axis] + j * nx + from;
        fast[axis] = slow[axis] + nx;
        p[axis] = sheet_inside(sheet, rows->p[slot][axis], from, to);
        q[axis] = sheet_inside(sheet, rows->q[slot][axis], from, to);
    }
    sheet_area(low, high, slow, fast, &constants, to - from, p, q, power);
    if (counts && constants.damping > 0)
        for (int64_t i = sheet->i0 - from; i < to - from; i++)
            rows->lanes[(i + from - sheet->i0) % SHEET_LANES] += (double)power[i];
}

// Adds what the elements around them exert on the nodes of row j, for one component.
static inline void sheet_add_lines(const real *restrict along, const real *restrict before,
                                   const real *restrict here, const real *restrict after,
                                   int64_t count, real *restrict force)
{
    for (int64_t i = 0; i < count; i++) {
        const real x = (along[i - 1] - along[i]) + (along[i + 1] - along[i]);
        const real y = (before[i] - here[i]) + (after[i] - here[i]);
        force[i] -= x + y;
    }
}

static inline void sheet_add_twist(const real *restrict before, const real *restrict after,
                                   int64_t count, real *restrict force)
{
    for (int64_t i = 0; i < count; i++)
        force[i] -= (after[i] - after[i - 1]) - (before[i] - before[i - 1]);
}

static inline void sheet_add_area(const real *restrict p_before, const real *restrict q_before,
                                  const real *restrict p_after, const real *restrict q_after,
                                  int64_t count, real *restrict force)
{
    for (int64_t i = 0; i < count; i++)
        force[i] += (p_after[i] - q_after[i - 1]) + (q_before[i] - p_before[i - 1]);
}

static inline void sheet_add_row(const struct sheet *sheet, struct state *s, int64_t j)
{
    const struct elements_body *body = sheet->body;
    const struct sheet_rows *rows = sheet->rows;
    const int64_t count = sheet->i1 - sheet->i0, before = (j - 1) & 1, after = j & 1;
    const bool bends = body->constants[ELEMENT_BEND_X].stiffness != 0 ||
                       body->constants[ELEMENT_BEND_Y].stiffness != 0;
    real *const forces[3] = {s->fx, s->fy, s->fz};
    for (int axis = 0; axis < 3; axis++) {
        real *force = forces[axis] + body->first + j * body->grid[0] + sheet->i0;
        if (bends)
            sheet_add_lines(rows->line_x[axis] + SHEET_PAD,
                            rows->line_y[(j + 2) % 3][axis] + SHEET_PAD,
                            rows->line_y[j % 3][axis] + SHEET_PAD,
                            rows->line_y[(j + 1) % 3][axis] + SHEET_PAD, count, force);
        if (body->constants[ELEMENT_TWIST].stiffness != 0)
            sheet_add_twist(rows->twist[before][axis] + SHEET_PAD,
                            rows->twist[after][axis] + SHEET_PAD, count, force);
        if (body->constants[ELEMENT_AREA].stiffness != 0)
            sheet_add_area(rows->p[before][axis] + SHEET_PAD, rows->q[before][axis] + SHEET_PAD,
                           rows->p[after][axis] + SHEET_PAD, rows->q[after][axis] + SHEET_PAD,
                           count, force);
    }
}

static double element_sheet(const struct system *system, const struct elements_body *body,
                            const int64_t block[3], bool power)
{
    struct state *s = system->state;
    struct sheet_rows rows;
    struct sheet sheet = {
        .body = body,
        .x = {s->x + body->first, s->y + body->first, s->z + body->first},
        .v = {s->vx + body->first, s->vy + body->first, s->vz + body->first},
        .i0 = block[0] * ELEMENT_SHEET_NODES,
        .j0 = block[1] * ELEMENT_SHEET_ROWS,
        .rows = &rows,
        .power = power && body->damped,
    };
    sheet.i1 = sheet.i0 + ELEMENT_SHEET_NODES;
    sheet.j1 = sheet.j0 + ELEMENT_SHEET_ROWS;
    sheet.i1 = sheet.i1 < body->grid[0] ? sheet.i1 : body->grid[0];
    sheet.j1 = sheet.j1 < body->grid[1] ? sheet.j1 : body->grid[1];
    for (int lane = 0; lane < SHEET_LANES; lane++)
        rows.lanes[lane] = 0;

    // Row -1 is that before the first; its remainder by 3 is 2.
    sheet_line(&sheet, ELEMENT_BEND_Y, sheet.j0 - 1, rows.line_y[(sheet.j0 + 2) % 3]);
    sheet_line(&sheet, ELEMENT_BEND_Y, sheet.j0, rows.line_y[sheet.j0 % 3]);
    sheet_cells(&sheet, sheet.j0 - 1);
    for (int64_t j = sheet.j0; j < sheet.j1; j++) {
        sheet_line(&sheet, ELEMENT_BEND_X, j, rows.line_x);
        sheet_line(&sheet, ELEMENT_BEND_Y, j + 1, rows.line_y[(j + 1) % 3]);
        sheet_cells(&sheet, j);
        sheet_add_row(&sheet, s, j);
    }

    double sum = 0;
    for (int lane = 0; lane < SHEET_LANES; lane++)
        sum += rows.lanes[lane];
    return sum;
}
