// Products of vectors with the tangent of the elements of cloths and lattices (elements.h), block
// by block of their nodes. Every node gathers from the elements around it, in a fixed order;
// elements at the border of a block are computed in both blocks. The loops over a row are plain, in
// the precision of the run, so that compilers vectorise them.
//
// Bending and twist are linear: their products are their forces at the positions `in`. The cells of
// a row are computed from the edges of the present state and of `in`; the force of a cell on its
// corners is a sum over its edges, with a sign for each side.
#include "elements/elements.h"

#include <string.h>

#include "base/sort.h"
#include "simd/independent.h"
#include "springs/springs.h"

enum { ROW_PAD = 4, ROW_LENGTH = ELEMENT_SHEET_NODES + 2 * ROW_PAD };

typedef real product_row[ROW_LENGTH];

// The forces of the cells of one row along each mean edge, times its share of a corner, by
// component.
struct product_cells {
    product_row along[3][3];
};

// The product with a block of nodes.
struct products {
    const struct system *system;
    const struct elements_body *body;
    struct range rows;
    enum tangent_kind kind;
    double stiffness, damping;
    const real *in[3], *x[3];
    real *out[3];
    int64_t low[3], high[3]; // nodes of the block
};

// ---- Bending and twist

static real factor_of(const struct products *it, enum element_kind kind)
{
    const struct element_constants *constants = &it->body->constants[kind];
    return (real)(constants->stiffness * (it->stiffness + it->damping * constants->time));
}

// The lines of three nodes with their centres at (i, j), i0 - 1 to i1, times their weights; `at` is
// the row of nodes, and `step` the distance of nodes on a line.
static void line_row(const struct products *it, const real *in, const real *weights, int64_t at,
                     int64_t step, int64_t from, int64_t to, real *restrict c)
{
    const real *restrict p = in + at;
    for (int64_t i = it->low[0] - 1; i <= it->high[0]; i++)
        c[i - it->low[0]] = 0;
    for (int64_t i = from; i < to; i++)
        c[i - it->low[0]] = weights[i] * ((p[i - step] - p[i]) + (p[i + step] - p[i]));
}

static void add_lines_along(const struct products *it, int64_t j, real factor)
{
    const int64_t nx = it->body->grid[0];
    const real *weights = it->body->weights + it->body->rows[0][j];
    const int64_t from = it->low[0] > 1 ? it->low[0] - 1 : 1;
    const int64_t to = it->high[0] + 1 < nx - 1 ? it->high[0] + 1 : nx - 1;
    for (int axis = 0; axis < 3; axis++) {
        product_row row;
        real *restrict c = row + ROW_PAD;
        line_row(it, it->in[axis], weights, j * nx, 1, from, to, c);
        real *restrict out = it->out[axis] + j * nx + it->low[0];
        for (int64_t i = 0; i < it->high[0] - it->low[0]; i++)
            // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): line_row fills all
            out[i] += factor * ((c[i - 1] - c[i]) + (c[i + 1] - c[i]));
    }
}

static void add_lines_across(const struct products *it, int64_t j, real factor)
{
    const int64_t nx = it->body->grid[0], ny = it->body->grid[1];
    for (int axis = 0; axis < 3; axis++) {
        product_row rows[3];
        for (int r = 0; r < 3; r++) {
            const int64_t centre = j + r - 1;
            const bool exists = centre > 0 && centre < ny - 1;
            line_row(it, it->in[axis],
                     exists ? it->body->weights + it->body->rows[1][centre] : it->body->weights,
                     centre * nx, nx, it->low[0], exists ? it->high[0] : it->low[0],
                     rows[r] + ROW_PAD);
        }
        const real *restrict before = rows[0] + ROW_PAD, *restrict own = rows[1] + ROW_PAD,
                             *restrict after = rows[2] + ROW_PAD;
        real *restrict out = it->out[axis] + j * nx + it->low[0];
        for (int64_t i = 0; i < it->high[0] - it->low[0]; i++)
            out[i] += factor * ((before[i] - own[i]) + (after[i] - own[i]));
    }
}

// The columns of cells that nodes of the block have.
static void find_columns(const struct products *it, int64_t *from, int64_t *to)
{
    const int64_t nx = it->body->grid[0];
    *from = it->low[0] > 0 ? it->low[0] - 1 : 0;
    *to = it->high[0] < nx - 1 ? it->high[0] : nx - 1;
}

static void add_twist(const struct products *it, int64_t j, real factor)
{
    const int64_t nx = it->body->grid[0], ny = it->body->grid[1];
    int64_t from, to;
    find_columns(it, &from, &to);
    for (int axis = 0; axis < 3; axis++) {
        product_row rows[2];
        memset(rows, 0, sizeof rows);
        for (int r = 0; r < 2; r++) {
            const int64_t cell = j + r - 1;
            if (cell < 0 || cell >= ny - 1)
                continue;
            const real *restrict p = it->in[axis] + cell * nx, *restrict q = p + nx;
            const real *whole = it->body->cells ? it->body->cells + cell * nx : NULL;
            real *restrict c = rows[r] + ROW_PAD - it->low[0];
            for (int64_t i = from; i < to; i++)
                c[i] = (p[i] - p[i + 1]) - (q[i] - q[i + 1]);
            for (int64_t i = from; whole && i < to; i++)
                c[i] *= whole[i];
        }
        const real *restrict before = rows[0] + ROW_PAD, *restrict own = rows[1] + ROW_PAD;
        real *restrict out = it->out[axis] + j * nx + it->low[0];
        for (int64_t i = 0; i < it->high[0] - it->low[0]; i++)
            out[i] += factor * ((own[i] - own[i - 1]) - (before[i] - before[i - 1]));
    }
}

// ---- Cells

// The constants of the cells of a body.
struct cell_factors {
    real stiffness, rest, limit; // k, M0, and how far from M0 the energy is quadratic
    real first, damping;         // of k along g g', and of its damping
    real second;                 // of the second derivatives
};

static struct cell_factors cell_factors_of(const struct products *it)
{
    const bool solid = elements_are_solid(it->body);
    const struct element_constants *constants =
        &it->body->constants[solid ? ELEMENT_VOLUME : ELEMENT_AREA];
    const double k = constants->stiffness;
    const bool exact = it->kind == TANGENT_EXACT;
    return (struct cell_factors){.stiffness = (real)k,
                                 .rest = (real)constants->rest,
                                 .limit = k < 0 ? (real)(ELEMENT_LINEAR_FROM * constants->rest)
                                                : REAL_HUGE,
                                 .first = (real)(exact || k > 0 ? it->stiffness * k : 0),
                                 .damping = (real)(it->damping * constants->time * fabs(k)),
                                 .second = (real)(exact ? it->stiffness : 0)};
}

// The edges of cells from rows of nodes: a row of a sheet and the next, or four of a lattice.
#define SHEET_U(r, i) (half * ((r[0][(i) + 1] - r[0][i]) + (r[1][(i) + 1] - r[1][i])))
#define SHEET_V(r, i) (half * ((r[1][i] - r[0][i]) + (r[1][(i) + 1] - r[0][(i) + 1])))

static void area_row(const real *const x[3][4], const real *const p[3][4],
                     const struct cell_factors *factors, int64_t count, real *const to[3][3])
{
    const real half = (real)0.5, one = 1;
    const real k = factors->stiffness, rest = factors->rest, limit = factors->limit;
    const real first = factors->first, damping = factors->damping, second = factors->second * k;
    INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
        const real ux = SHEET_U(x[0], i), uy = SHEET_U(x[1], i), uz = SHEET_U(x[2], i);
        const real vx = SHEET_V(x[0], i), vy = SHEET_V(x[1], i), vz = SHEET_V(x[2], i);
        const real dux = SHEET_U(p[0], i), duy = SHEET_U(p[1], i), duz = SHEET_U(p[2], i);
        const real dvx = SHEET_V(p[0], i), dvy = SHEET_V(p[1], i), dvz = SHEET_V(p[2], i);

        // The normal, the area, and its derivatives by the edges: v x n, n x u.
        real nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
        const real area = real_sqrt(nx * nx + ny * ny + nz * nz);
        const real inverse = area > 0 ? one / area : 0;
        nx *= inverse;
        ny *= inverse;
        nz *= inverse;
        const real ax = vy * nz - vz * ny, ay = vz * nx - vx * nz, az = vx * ny - vy * nx;
        const real bx = ny * uz - nz * uy, by = nz * ux - nx * uz, bz = nx * uy - ny * ux;
        const real along = (ax * dux + ay * duy + az * duz) + (bx * dvx + by * dvy + bz * dvz);

        real excess = area - rest;
        const real stiff = excess > limit ? 0 : excess < -limit ? 0 : first;
        excess = excess > limit ? limit : excess;
        excess = excess < -limit ? -limit : excess;
        const real change = (stiff + damping) * along;
        const real force = second * excess;

        // The normal turns by d(u x v) / A, less its part along the normal.
        real tx = (duy * vz - duz * vy) + (uy * dvz - uz * dvy);
        real ty = (duz * vx - dux * vz) + (uz * dvx - ux * dvz);
        real tz = (dux * vy - duy * vx) + (ux * dvy - uy * dvx);
        const real out = tx * nx + ty * ny + tz * nz;
        tx = inverse * (tx - out * nx);
        ty = inverse * (ty - out * ny);
        tz = inverse * (tz - out * nz);
        const real cax = (dvy * nz - dvz * ny) + (vy * tz - vz * ty);
        const real cay = (dvz * nx - dvx * nz) + (vz * tx - vx * tz);
        const real caz = (dvx * ny - dvy * nx) + (vx * ty - vy * tx);
        const real cbx = (ty * uz - tz * uy) + (ny * duz - nz * duy);
        const real cby = (tz * ux - tx * uz) + (nz * dux - nx * duz);
        const real cbz = (tx * uy - ty * ux) + (nx * duy - ny * dux);
        to[0][0][i] = half * (change * ax + force * cax);
        to[0][1][i] = half * (change * ay + force * cay);
        to[0][2][i] = half * (change * az + force * caz);
        to[1][0][i] = half * (change * bx + force * cbx);
        to[1][1][i] = half * (change * by + force * cby);
        to[1][2][i] = half * (change * bz + force * cbz);
    }
}

#undef SHEET_U
#undef SHEET_V

#define SOLID_A(r, i)                                                                              \
    (quarter * (((r[0][(i) + 1] - r[0][i]) + (r[1][(i) + 1] - r[1][i])) +                          \
                ((r[2][(i) + 1] - r[2][i]) + (r[3][(i) + 1] - r[3][i]))))
#define SOLID_B(r, i)                                                                              \
    (quarter * (((r[1][i] - r[0][i]) + (r[1][(i) + 1] - r[0][(i) + 1])) +                          \
                ((r[3][i] - r[2][i]) + (r[3][(i) + 1] - r[2][(i) + 1]))))
#define SOLID_C(r, i)                                                                              \
    (quarter * (((r[2][i] - r[0][i]) + (r[2][(i) + 1] - r[0][(i) + 1])) +                          \
                ((r[3][i] - r[1][i]) + (r[3][(i) + 1] - r[1][(i) + 1]))))

// to := factor q + force (db x c + b x dc)
#define SOLID_EDGE(to, factor, q, b, c)                                                            \
    do {                                                                                           \
        const real more_x = (d##b##y * c##z - d##b##z * c##y) + (b##y * d##c##z - b##z * d##c##y); \
        const real more_y = (d##b##z * c##x - d##b##x * c##z) + (b##z * d##c##x - b##x * d##c##z); \
        const real more_z = (d##b##x * c##y - d##b##y * c##x) + (b##x * d##c##y - b##y * d##c##x); \
        to[0][i] = quarter * (factor * q##x + force * more_x);                                     \
        to[1][i] = quarter * (factor * q##y + force * more_y);                                     \
        to[2][i] = quarter * (factor * q##z + force * more_z);                                     \
    } while (0)

static void volume_row(const real *const x[3][4], const real *const p[3][4],
                       const struct cell_factors *factors, int64_t count, real *const to[3][3])
{
    const real quarter = (real)0.25;
    const real k = factors->stiffness, rest = factors->rest, limit = factors->limit;
    const real first = factors->first, damping = factors->damping, second = factors->second * k;
    INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
        const real ax = SOLID_A(x[0], i), ay = SOLID_A(x[1], i), az = SOLID_A(x[2], i);
        const real bx = SOLID_B(x[0], i), by = SOLID_B(x[1], i), bz = SOLID_B(x[2], i);
        const real cx = SOLID_C(x[0], i), cy = SOLID_C(x[1], i), cz = SOLID_C(x[2], i);
        const real dax = SOLID_A(p[0], i), day = SOLID_A(p[1], i), daz = SOLID_A(p[2], i);
        const real dbx = SOLID_B(p[0], i), dby = SOLID_B(p[1], i), dbz = SOLID_B(p[2], i);
        const real dcx = SOLID_C(p[0], i), dcy = SOLID_C(p[1], i), dcz = SOLID_C(p[2], i);

        // The derivatives of the volume a.(b x c) by the edges.
        const real fx = by * cz - bz * cy, fy = bz * cx - bx * cz, fz = bx * cy - by * cx;
        const real gx = cy * az - cz * ay, gy = cz * ax - cx * az, gz = cx * ay - cy * ax;
        const real hx = ay * bz - az * by, hy = az * bx - ax * bz, hz = ax * by - ay * bx;
        const real along = (fx * dax + fy * day + fz * daz) + (gx * dbx + gy * dby + gz * dbz) +
                           (hx * dcx + hy * dcy + hz * dcz);
        real excess = (ax * fx + ay * fy + az * fz) - rest;
        const real stiff = excess > limit ? 0 : excess < -limit ? 0 : first;
        excess = excess > limit ? limit : excess;
        excess = excess < -limit ? -limit : excess;
        const real change = (stiff + damping) * along;
        const real force = second * excess;
        SOLID_EDGE(to[0], change, f, b, c);
        SOLID_EDGE(to[1], change, g, c, a);
        SOLID_EDGE(to[2], change, h, a, b);
    }
}

#undef SOLID_A
#undef SOLID_B
#undef SOLID_C
#undef SOLID_EDGE

// The cells of row j of layer k, from the column before the block; those outside of the grid and
// those that are not whole exert 0.
static void cell_row(const struct products *it, const struct cell_factors *factors, int64_t j,
                     int64_t k, struct product_cells *cells)
{
    const struct elements_body *body = it->body;
    const bool solid = elements_are_solid(body);
    const int64_t nx = body->grid[0], layer = nx * body->grid[1];
    memset(cells, 0, sizeof *cells);
    if (j < 0 || j >= body->grid[1] - 1 || k < 0 || (solid && k >= body->grid[2] - 1))
        return;
    int64_t from, to;
    find_columns(it, &from, &to);
    const int64_t first = k * layer + j * nx + from, offset = ROW_PAD + from - it->low[0];
    const real *x[3][4], *p[3][4];
    real *forces[3][3];
    for (int axis = 0; axis < 3; axis++)
        for (int row = 0; row < 4; row++) {
            const int64_t node = first + (row & 1) * nx + (solid ? (row >> 1) * layer : 0);
            x[axis][row] = it->x[axis] + node;
            p[axis][row] = it->in[axis] + node;
        }
    for (int edge = 0; edge < 3; edge++)
        for (int axis = 0; axis < 3; axis++)
            forces[edge][axis] = cells->along[edge][axis] + offset;
    (solid ? volume_row : area_row)((const real *const(*)[4])x, (const real *const(*)[4])p, factors,
                                    to - from, (real *const(*)[3])forces);
    const real *whole = body->cells ? body->cells + first : NULL;
    for (int edge = 0; whole && edge < 3; edge++)
        for (int axis = 0; axis < 3; axis++)
            for (int64_t i = 0; i < to - from; i++)
                forces[edge][axis][i] *= whole[i];
}

// Adds the forces of the cells of a row on the nodes of a row beside it; `y` and `z` are the signs
// of the nodes in these cells.
static void gather_cells(const struct products *it, const struct product_cells *cells, int64_t node,
                         real y, real z)
{
    const int64_t count = it->high[0] - it->low[0];
    for (int axis = 0; axis < 3; axis++) {
        const real *restrict a = cells->along[0][axis] + ROW_PAD;
        const real *restrict b = cells->along[1][axis] + ROW_PAD;
        const real *restrict c = cells->along[2][axis] + ROW_PAD;
        real *restrict out = it->out[axis] + node;
        for (int64_t i = 0; i < count; i++)
            out[i] += (a[i - 1] - a[i]) + (y * (b[i - 1] + b[i]) + z * (c[i - 1] + c[i]));
    }
}

// ---- Blocks

static void sheet_block(const struct products *it)
{
    const struct elements_body *body = it->body;
    const struct cell_factors factors = cell_factors_of(it);
    const real along = factor_of(it, ELEMENT_BEND_X), across = factor_of(it, ELEMENT_BEND_Y),
               twist = factor_of(it, ELEMENT_TWIST);
    const bool areas = body->constants[ELEMENT_AREA].stiffness != 0;
    struct product_cells cells[2];
    if (areas)
        cell_row(it, &factors, it->low[1] - 1, 0, &cells[0]);
    for (int64_t j = it->low[1]; j < it->high[1]; j++) {
        const int64_t node = j * body->grid[0] + it->low[0];
        const int64_t number = j - it->low[1];
        if (along != 0)
            add_lines_along(it, j, along);
        if (across != 0)
            add_lines_across(it, j, across);
        if (twist != 0)
            add_twist(it, j, twist);
        if (!areas)
            continue;
        cell_row(it, &factors, j, 0, &cells[(number + 1) & 1]);
        gather_cells(it, &cells[number & 1], node, 1, 0);
        gather_cells(it, &cells[(number + 1) & 1], node, -1, 0);
    }
}

static void solid_block(const struct products *it)
{
    const struct elements_body *body = it->body;
    const struct cell_factors factors = cell_factors_of(it);
    struct product_cells layers[2][ELEMENT_SOLID_ROWS + 1];
    for (int64_t k = it->low[2] - 1; k < it->high[2]; k++) {
        const int own = (int)((k - it->low[2]) & 1);
        for (int64_t j = it->low[1] - 1; j < it->high[1]; j++)
            cell_row(it, &factors, j, k, &layers[own][j - (it->low[1] - 1)]);
        for (int64_t j = it->low[1]; k >= it->low[2] && j < it->high[1]; j++) {
            const int64_t node = (k * body->grid[1] + j) * body->grid[0] + it->low[0];
            const struct product_cells *below = &layers[!own][j - it->low[1]],
                                       *above = &layers[own][j - it->low[1]];
            gather_cells(it, &below[0], node, 1, 1);
            gather_cells(it, &below[1], node, -1, 1);
            gather_cells(it, &above[0], node, 1, -1);
            gather_cells(it, &above[1], node, -1, -1);
        }
    }
}

static int64_t node_of(const struct elements_body *body, int64_t i, int64_t j, int64_t k)
{
    return (int64_t)body->first + (k * body->grid[1] + j) * body->grid[0] + i;
}

static void add_block(const struct products *all, size_t number)
{
    const struct element_set *elements = all->system->elements;
    const struct elements_body *body = &elements->bodies[find_interval(
        &elements->bodies->first_block, sizeof *elements->bodies, elements->body_count, number)];
    if (elements_are_rope(body))
        return;
    const int64_t sheet[3] = {ELEMENT_SHEET_NODES, ELEMENT_SHEET_ROWS, 1};
    const int64_t solid[3] = {ELEMENT_SOLID_NODES, ELEMENT_SOLID_ROWS, ELEMENT_SOLID_LAYERS};
    const int64_t *size = elements_are_solid(body) ? solid : sheet;
    const int64_t inside = (int64_t)(number - body->first_block);
    const int64_t block[3] = {inside % body->blocks[0], inside / body->blocks[0] % body->blocks[1],
                              inside / (body->blocks[0] * body->blocks[1])};
    struct products it = *all;
    it.body = body;
    for (int axis = 0; axis < 3; axis++) {
        it.in[axis] += body->first;
        it.x[axis] += body->first;
        it.out[axis] += body->first;
        it.low[axis] = block[axis] * size[axis];
        it.high[axis] = it.low[axis] + size[axis];
        it.high[axis] = it.high[axis] < body->grid[axis] ? it.high[axis] : body->grid[axis];
    }
    const int64_t first = node_of(body, it.low[0], it.low[1], it.low[2]);
    const int64_t last = node_of(body, it.high[0] - 1, it.high[1] - 1, it.high[2] - 1);
    if ((size_t)last < all->rows.first || (size_t)first >= all->rows.end)
        return;
    if (elements_are_solid(body))
        solid_block(&it);
    else
        sheet_block(&it);
}

void REAL_NAME(element_products_add)(const struct system *system, struct range rows,
                                     enum tangent_kind kind, double stiffness, double damping,
                                     struct node_vectors in, struct node_vectors out,
                                     const struct worker *worker)
{
    const struct state *s = system->state;
    const struct products all = {.system = system,
                                 .rows = rows,
                                 .kind = kind,
                                 .stiffness = stiffness,
                                 .damping = damping,
                                 .in = {in.x, in.y, in.z},
                                 .x = {s->x, s->y, s->z},
                                 .out = {out.x, out.y, out.z}};
    struct range range;
    while (worker_claim(worker, system->elements->block_count, 1, &range))
        add_block(&all, range.first);
    worker_barrier(worker);
}
