// The kernel of bending, twist and areas of ropes and cloths, compiled for each instruction set by
// kernels/table.h. Every node gathers from the elements around it, in a fixed order, and elements
// at the border of a block are computed in both blocks, so that no other block writes to its nodes.
// The loops are plain: compilers vectorise them, and every number is computed by the same
// operations on every instruction set.
//
// Bending and twist are linear. Where the lines of a node and of its neighbours have weight 1,
// their sum is a stencil of the 13 nodes within two steps. Elsewhere, at edges and clamps, and for
// areas, the elements of a row are computed into buffers, from which the nodes gather. The same is
// done with velocities for damping, whose force r on a node dissipates v.r: the sum of v.r over the
// nodes is that of the power over the elements.
#include "elements/elements.h"
#include "simd/independent.h"
#include "simd/wide.h"

// Rows of buffers: element i of the block is at SHEET_PAD + i, and its neighbours beside it.
enum { SHEET_PAD = 16, SHEET_LENGTH = ELEMENT_SHEET_NODES + 2 * SHEET_PAD };
enum { SHEET_LANES = 16 };

typedef real sheet_row[SHEET_LENGTH];

// The elements that the present row of nodes needs. Bending: k c of the elements with their centres
// on this row (along x), on the row before, this one and the next (along y). Cells between this row
// and the next, and between the row before and this one: k c of the twist; of the area P and Q, the
// forces on the corners (0,0) and (0,1), against which those on (1,1) and (1,0) act.
struct sheet_rows {
    _Alignas(64) sheet_row line_x[3];
    _Alignas(64) sheet_row line_y[3][3];
    _Alignas(64) sheet_row twist[2][3];
    _Alignas(64) sheet_row p[2][3], q[2][3];
};

// The nodes to compute, and the data of the body for their loops: positions with the stiffness of
// each kind, or velocities with its damping.
struct sheet {
    const struct elements_body *body;
    const real *x[3], *v[3];
    real *force[3];
    real k[ELEMENT_AREA]; // of bending and twist
    int64_t i0, i1, j0, j1;
    struct sheet_rows *rows;
    bool areas;      // also computes areas, with their damping
    bool power;      // adds the power that the forces take from the velocities x
    bool area_power; // adds the power that the damping of areas takes
    double *lanes;   // sums of the powers
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

// Bending with its centres on row j, along x or y.
static inline void sheet_line(const struct sheet *sheet, int line, int64_t j, sheet_row rows[3])
{
    const struct elements_body *body = sheet->body;
    const int64_t nx = body->grid[0], step = line == ELEMENT_BEND_X ? 1 : nx;
    const int64_t margin = line == ELEMENT_BEND_X ? 1 : 0;
    const bool exists =
        sheet->k[line] != 0 && (line == ELEMENT_BEND_X || (j > 0 && j < body->grid[1] - 1));
    int64_t from = sheet->i0 - margin, to = sheet->i1 + margin;
    from = from > margin ? from : margin;
    to = to < nx - margin ? to : nx - margin;
    if (!exists || to <= from) {
        sheet_clear(sheet, rows);
        return;
    }
    const real *weights = body->weights + body->rows[line][j] + from;
    for (int axis = 0; axis < 3; axis++) {
        const real *x = sheet->x[axis] + j * nx + from;
        sheet_curvature(x - step, x, x + step, weights, sheet->k[line], to - from,
                        sheet_inside(sheet, rows[axis], from, to));
    }
}

// to := k ((a - b) - (c - d)) over the corners of cells, for one component of a row of them.
static inline void sheet_twist(const real *restrict low, const real *restrict high, real k,
                               int64_t count, real *restrict to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = k * ((low[i] - low[i + 1]) - (high[i] - high[i + 1]));
}

// Removes the forces of cells that are not whole; `first` is the first of them.
static inline void sheet_whole(const struct sheet *sheet, int64_t first, int64_t count,
                               real *restrict values)
{
    const real *cells = sheet->body->cells;
    for (int64_t i = 0; cells && i < count; i++)
        values[i] *= cells[first + i];
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
    INDEPENDENT
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

// The areas of cells [from, to) between rows j and j + 1.
static inline void sheet_area_row(const struct sheet *sheet, int64_t j, int64_t from, int64_t to)
{
    const struct elements_body *body = sheet->body;
    const struct element_constants *area = &body->constants[ELEMENT_AREA];
    const int64_t nx = body->grid[0], slot = j & 1;
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
        p[axis] = sheet_inside(sheet, sheet->rows->p[slot][axis], from, to);
        q[axis] = sheet_inside(sheet, sheet->rows->q[slot][axis], from, to);
    }
    sheet_area(low, high, slow, fast, &constants, to - from, p, q, power);
    for (int axis = 0; axis < 3; axis++) {
        sheet_whole(sheet, j * nx + from, to - from, p[axis]);
        sheet_whole(sheet, j * nx + from, to - from, q[axis]);
    }
    if (constants.damping > 0)
        sheet_whole(sheet, j * nx + from, to - from, power);
    if (sheet->area_power && constants.damping > 0 && j >= sheet->j0)
        for (int64_t i = sheet->i0; i < to; i++)
            sheet->lanes[(i - sheet->i0) % SHEET_LANES] += (double)power[i - from];
}

// Computes the cells between rows j and j + 1 into the buffers of this parity.
static inline void sheet_cells(const struct sheet *sheet, int64_t j)
{
    const struct elements_body *body = sheet->body;
    struct sheet_rows *rows = sheet->rows;
    const int64_t nx = body->grid[0], slot = j & 1;
    const bool exists = j >= 0 && j < body->grid[1] - 1;
    const int64_t from = sheet->i0 > 0 ? sheet->i0 - 1 : 0;
    const int64_t to = sheet->i1 < nx - 1 ? sheet->i1 : nx - 1;
    if (!exists || to <= from) {
        sheet_clear(sheet, rows->twist[slot]);
        sheet_clear(sheet, rows->p[slot]);
        sheet_clear(sheet, rows->q[slot]);
        return;
    }
    for (int axis = 0; sheet->k[ELEMENT_TWIST] != 0 && axis < 3; axis++) {
        const real *x = sheet->x[axis] + j * nx + from;
        real *twist = sheet_inside(sheet, rows->twist[slot][axis], from, to);
        sheet_twist(x, x + nx, sheet->k[ELEMENT_TWIST], to - from, twist);
        sheet_whole(sheet, j * nx + from, to - from, twist);
    }
    if (sheet->areas)
        sheet_area_row(sheet, j, from, to);
}

// Gathers the forces of the elements around the nodes of a row, for one component: r is the
// resistance of lines and twist.
static inline void sheet_gather(const real *restrict along, const real *restrict before,
                                const real *restrict here, const real *restrict after,
                                const real *restrict twist_before, const real *restrict twist_after,
                                bool twists, int64_t count, real *restrict r)
{
    for (int64_t i = 0; i < count; i++) {
        const real x = (along[i - 1] - along[i]) + (along[i + 1] - along[i]);
        const real y = (before[i] - here[i]) + (after[i] - here[i]);
        r[i] = x + y;
    }
    for (int64_t i = 0; twists && i < count; i++)
        r[i] += (twist_after[i] - twist_after[i - 1]) - (twist_before[i] - twist_before[i - 1]);
}

static inline void sheet_gather_area(const real *restrict p_before, const real *restrict q_before,
                                     const real *restrict p_after, const real *restrict q_after,
                                     int64_t count, real *restrict force)
{
    for (int64_t i = 0; i < count; i++)
        force[i] += (p_after[i] - q_after[i - 1]) + (q_before[i] - p_before[i - 1]);
}

// force -= r, and the power v.r if it is wanted. Lane l sums nodes l, l + SHEET_LANES, ...
static inline void sheet_apply(const struct sheet *sheet, const real *restrict r,
                               const real *restrict v, int64_t count, real *restrict force)
{
    double *restrict lanes = sheet->lanes;
    for (int64_t i = 0; i < count; i++)
        force[i] -= r[i];
    if (!sheet->power)
        return;
    int64_t i = 0;
    for (; i + SHEET_LANES <= count; i += SHEET_LANES)
        for (int lane = 0; lane < SHEET_LANES; lane++)
            lanes[lane] += (double)v[i + lane] * (double)r[i + lane];
    for (int lane = 0; i + lane < count; lane++)
        lanes[lane] += (double)v[i + lane] * (double)r[i + lane];
}

static inline void sheet_add_row(const struct sheet *sheet, int64_t j)
{
    const struct sheet_rows *rows = sheet->rows;
    const int64_t count = sheet->i1 - sheet->i0, before = (j - 1) & 1, after = j & 1;
    const int64_t first = j * sheet->body->grid[0] + sheet->i0;
    real r[SHEET_LENGTH];
    for (int axis = 0; axis < 3; axis++) {
        real *force = sheet->force[axis] + first;
        sheet_gather(rows->line_x[axis] + SHEET_PAD, rows->line_y[(j + 2) % 3][axis] + SHEET_PAD,
                     rows->line_y[j % 3][axis] + SHEET_PAD,
                     rows->line_y[(j + 1) % 3][axis] + SHEET_PAD,
                     rows->twist[before][axis] + SHEET_PAD, rows->twist[after][axis] + SHEET_PAD,
                     sheet->k[ELEMENT_TWIST] != 0, count, r);
        sheet_apply(sheet, r, sheet->x[axis] + first, count, force);
        if (sheet->areas)
            sheet_gather_area(rows->p[before][axis] + SHEET_PAD, rows->q[before][axis] + SHEET_PAD,
                              rows->p[after][axis] + SHEET_PAD, rows->q[after][axis] + SHEET_PAD,
                              count, force);
    }
}

// Computes nodes of any weights, row by row.
static inline void sheet_by_rows(const struct sheet *sheet)
{
    struct sheet_rows *rows = sheet->rows;
    if (sheet->i1 <= sheet->i0)
        return;
    // Row -1 is that before the first; its remainder by 3 is 2.
    sheet_line(sheet, ELEMENT_BEND_Y, sheet->j0 - 1, rows->line_y[(sheet->j0 + 2) % 3]);
    sheet_line(sheet, ELEMENT_BEND_Y, sheet->j0, rows->line_y[sheet->j0 % 3]);
    sheet_cells(sheet, sheet->j0 - 1);
    for (int64_t j = sheet->j0; j < sheet->j1; j++) {
        sheet_line(sheet, ELEMENT_BEND_X, j, rows->line_x);
        sheet_line(sheet, ELEMENT_BEND_Y, j + 1, rows->line_y[(j + 1) % 3]);
        sheet_cells(sheet, j);
        sheet_add_row(sheet, j);
    }
}

// ---- Nodes whose lines all have weight 1

// r := the stencil of lines and twist, of one component; rows are nx nodes apart. Differences from
// the node come first, so that the sum is not rounded as coordinates are.
static inline void sheet_stencil(const real *x, int64_t nx, real ku, real kv, real kt,
                                 int64_t count, real *restrict r)
{
    const real four = 4, two = 2;
    const real *a = x - 2 * nx, *b = x - nx, *d = x + nx, *e = x + 2 * nx;
    for (int64_t i = 0; i < count; i++) {
        const real o = x[i];
        const real along = (x[i - 1] - o) + (x[i + 1] - o), across = (b[i] - o) + (d[i] - o);
        const real far_along = (x[i - 2] - o) + (x[i + 2] - o),
                   far_across = (a[i] - o) + (e[i] - o);
        const real corners = ((b[i - 1] - o) + (d[i + 1] - o)) + ((b[i + 1] - o) + (d[i - 1] - o));
        r[i] = ku * (far_along - four * along) + kv * (far_across - four * across) +
               kt * (corners - two * (along + across));
    }
}

// The columns of row j that the stencil computes: those whose lines have weight 1, on this row
// along x and on this and both neighbouring rows along y.
static inline void sheet_even_columns(const struct sheet *sheet, int64_t j, int64_t *from,
                                      int64_t *to)
{
    const struct elements_body *body = sheet->body;
    const int64_t nx = body->grid[0], ny = body->grid[1];
    *from = *to = sheet->i0;
    if (j < 2 || j >= ny - 2)
        return;
    int64_t least = 2, most = nx - 2;
    const struct even_columns *along = &body->even[ELEMENT_BEND_X][j];
    if (sheet->k[ELEMENT_BEND_X] != 0) {
        least = along->from + 1 > least ? along->from + 1 : least;
        most = along->to - 1 < most ? along->to - 1 : most;
    }
    for (int64_t row = j - 1; sheet->k[ELEMENT_BEND_Y] != 0 && row <= j + 1; row++) {
        const struct even_columns *across = &body->even[ELEMENT_BEND_Y][row];
        least = across->from > least ? across->from : least;
        most = across->to < most ? across->to : most;
    }
    least = least > sheet->i0 ? least : sheet->i0;
    most = most < sheet->i1 ? most : sheet->i1;
    if (most > least) {
        *from = least;
        *to = most;
    }
}

static inline void sheet_stencil_row(const struct sheet *sheet, int64_t j, int64_t from, int64_t to)
{
    const int64_t nx = sheet->body->grid[0], first = j * nx + from;
    real r[SHEET_LENGTH];
    for (int axis = 0; axis < 3; axis++) {
        const real *x = sheet->x[axis] + first;
        sheet_stencil(x, nx, sheet->k[ELEMENT_BEND_X], sheet->k[ELEMENT_BEND_Y],
                      sheet->k[ELEMENT_TWIST], to - from, r);
        sheet_apply(sheet, r, x, to - from, sheet->force[axis] + first);
    }
}

// ---- Single nodes beside them

// The weights of lines with their centres before a node, on it and after it, times their stiffness
// and their part in the force on it; those of cells, which exist or not.
struct sheet_around {
    real along[3], across[3], cells[4];
};

static inline struct sheet_around sheet_around(const struct sheet *sheet, int64_t i, int64_t j)
{
    static const real part[3] = {1, -2, 1};
    const struct elements_body *body = sheet->body;
    const int64_t nx = body->grid[0], ny = body->grid[1];
    struct sheet_around around = {{0}, {0}, {0}};
    for (int64_t c = 0; c < 3; c++) {
        if (i + c - 1 > 0 && i + c - 1 < nx - 1)
            around.along[c] = part[c] * sheet->k[ELEMENT_BEND_X] *
                              body->weights[body->rows[ELEMENT_BEND_X][j] + (size_t)(i + c - 1)];
        if (j + c - 1 > 0 && j + c - 1 < ny - 1)
            around.across[c] = part[c] * sheet->k[ELEMENT_BEND_Y] *
                               body->weights[body->rows[ELEMENT_BEND_Y][j + c - 1] + (size_t)i];
    }
    for (int64_t c = 0; c < 4; c++) {
        const int64_t left = i - 1 + (c & 1), below = j - 1 + (c >> 1);
        if (left >= 0 && left < nx - 1 && below >= 0 && below < ny - 1)
            around.cells[c] = c == 0 || c == 3 ? sheet->k[ELEMENT_TWIST] : -sheet->k[ELEMENT_TWIST];
    }
    return around;
}

// ((a - b) + (c - b)) of three nodes `step` apart, around x.
static inline real sheet_bend(const real *x, int64_t step)
{
    return (x[-step] - x[0]) + (x[step] - x[0]);
}

static inline void sheet_node(const struct sheet *sheet, int64_t i, int64_t j)
{
    const int64_t nx = sheet->body->grid[0], node = j * nx + i;
    const struct sheet_around around = sheet_around(sheet, i, j);
    for (int axis = 0; axis < 3; axis++) {
        const real *x = sheet->x[axis] + node;
        real sum = 0;
        for (int64_t c = 0; c < 3; c++) {
            if (around.along[c] != 0)
                sum += around.along[c] * sheet_bend(x + (c - 1), 1);
            if (around.across[c] != 0)
                sum += around.across[c] * sheet_bend(x + (c - 1) * nx, nx);
        }
        for (int64_t c = 0; c < 4; c++) {
            const real *corner = x - 1 + (c & 1) - nx + (c >> 1) * nx;
            if (around.cells[c] != 0)
                sum += around.cells[c] * ((corner[0] - corner[1]) - (corner[nx] - corner[nx + 1]));
        }
        sheet_apply(sheet, &sum, x, 1, sheet->force[axis] + node);
    }
}

// Computes narrow ranges of columns node by node, others by rows.
static inline void sheet_beside(const struct sheet *sheet, int64_t i0, int64_t i1, int64_t j0,
                                int64_t j1)
{
    enum { FEW = 8 };
    struct sheet part = *sheet;
    if (i1 - i0 > FEW) {
        part.i0 = i0;
        part.i1 = i1;
        part.j0 = j0;
        part.j1 = j1;
        sheet_by_rows(&part);
        return;
    }
    for (int64_t j = j0; j < j1; j++)
        for (int64_t i = i0; i < i1; i++)
            sheet_node(sheet, i, j);
}

// Computes rows with the same columns for the stencil together, unless springs were cut.
static inline void sheet_add(const struct sheet *sheet)
{
    if (sheet->body->cells) {
        sheet_by_rows(sheet);
        return;
    }
    for (int64_t j = sheet->j0, end; j < sheet->j1; j = end) {
        int64_t from, to;
        sheet_even_columns(sheet, j, &from, &to);
        for (end = j + 1; end < sheet->j1; end++) {
            int64_t next_from, next_to;
            sheet_even_columns(sheet, end, &next_from, &next_to);
            if (next_from != from || next_to != to)
                break;
        }
        for (int64_t row = j; to > from && row < end; row++)
            sheet_stencil_row(sheet, row, from, to);
        sheet_beside(sheet, sheet->i0, from, j, end);
        sheet_beside(sheet, to, sheet->i1, j, end);
    }
}

static double element_sheet(const struct system *system, const struct elements_body *body,
                            const int64_t block[3], bool power)
{
    struct state *s = system->state;
    struct sheet_rows rows;
    _Alignas(64) double lanes[SHEET_LANES] = {0};
    struct sheet sheet = {
        .body = body,
        .x = {s->x + body->first, s->y + body->first, s->z + body->first},
        .v = {s->vx + body->first, s->vy + body->first, s->vz + body->first},
        .force = {s->fx + body->first, s->fy + body->first, s->fz + body->first},
        .i0 = block[0] * ELEMENT_SHEET_NODES,
        .j0 = block[1] * ELEMENT_SHEET_ROWS,
        .rows = &rows,
        .areas = body->constants[ELEMENT_AREA].stiffness != 0,
        .area_power = power,
        .lanes = lanes,
    };
    sheet.i1 = sheet.i0 + ELEMENT_SHEET_NODES;
    sheet.j1 = sheet.j0 + ELEMENT_SHEET_ROWS;
    sheet.i1 = sheet.i1 < body->grid[0] ? sheet.i1 : body->grid[0];
    sheet.j1 = sheet.j1 < body->grid[1] ? sheet.j1 : body->grid[1];
    for (int kind = 0; kind < ELEMENT_AREA; kind++)
        sheet.k[kind] = (real)body->constants[kind].stiffness;
    if (sheet.areas)
        sheet_by_rows(&sheet);
    else
        sheet_add(&sheet);

    // The same with velocities.
    bool damped = false;
    for (int kind = 0; kind < ELEMENT_AREA; kind++) {
        const struct element_constants *constants = &body->constants[kind];
        sheet.k[kind] = (real)(constants->time * constants->stiffness);
        damped |= sheet.k[kind] > 0;
    }
    for (int axis = 0; axis < 3; axis++)
        sheet.x[axis] = sheet.v[axis];
    sheet.areas = sheet.area_power = false;
    sheet.power = power;
    if (damped)
        sheet_add(&sheet);

    double sum = 0;
    for (int lane = 0; lane < SHEET_LANES; lane++)
        sum += lanes[lane];
    return sum;
}
