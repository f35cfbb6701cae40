// The line preconditioner of the implicit integrators (springs/tangent.h): which lines of a grid
// are solved, and their factors. The solve itself is line_solve in grid/tangent_body.h.
//
// A line is a row or a column of a rope or a cloth. A stiff line resists stretching: pulling one
// end moves all of it. With a 3 x 3 block for each node alone, an iteration transmits such a motion
// to the next node and no further, so the number of iterations grows with the length of the lines.
// A whole row with the springs between its consecutive nodes is a block-tridiagonal matrix, which
// is solved at about the cost of a product. For a cloth, P r is the sum of the solutions for its
// rows and for its columns. In the matrix of the rows the springs of the columns end at fixed
// points, and the other way round, so both matrices are positive definite.
//
// With D the diagonal blocks and U_p the block between nodes p and p + 1 of a line, S_0 = D_0, W_p
// = S_p^-1 U_p and S_(p+1) = D_(p+1) - U_p W_p (Golub and Van Loan, Matrix Computations, 4th ed.,
// 4.5.1). The lines of a family (rows or columns) are independent, and eight at a time are solved
// in parallel lanes. If rounding makes an S_p that is not positive definite, the line is split
// there.
//
// Ranks that share the rows of the matrix (springs/shares.h) share the lines. A rank solves the
// rows of the grid that have nodes of its own, of which there are few others; and a part of the
// columns, which it returns to the ranks that have their nodes.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "kernels/kernels.h"
#include "ranks/ranks.h"
#include "springs/shares.h"
#include "springs/tangent.h"

enum { FAMILIES_MAX = 2 };

// The rows or the columns of a grid; `nodes` has them bundle after bundle, node after node.
struct line_family {
    const struct tangent_grid *grid;
    int direction;
    size_t count, length, step;
    size_t inner, outer; // line l begins at first_node + l % inner + l / inner * outer
    struct line_node *nodes;
};

struct spring_lines {
    const struct spring_tangent *tangent;
    size_t grid_count; // grids that have lines
    struct line_family (*families)[FAMILIES_MAX];
    size_t covered; // nodes on lines
    // On ranks that share lines, since the first update: the nodes that they read and return, and
    // the solutions for columns. NULL otherwise.
    struct shared_nodes *shared;
    struct node_vectors columns;
};

static size_t bundles_of(const struct line_family *family)
{
    return (family->count + LINE_LANES - 1) / LINE_LANES;
}

// ---- Memory

// The direction of a grid that joins consecutive nodes along x or y; -1 if there is none.
static int direction_along(const struct tangent_grid *grid, int axis)
{
    for (int d = 0; d < grid->grid->direction_count; d++) {
        const struct direction *direction = &grid->grid->directions[d];
        if (direction->dx == (axis == 0) && direction->dy == (axis == 1) && direction->dz == 0)
            return d;
    }
    return -1;
}

// Lines pay off where their springs are LINE_STIFFNESS times as stiff as the springs that join
// other nodes. Measured: for a cloth with equal springs the lines save a fourth of the iterations,
// each of which costs 1.5 times as much; with a third of the stiffness in the other springs they
// save half of the iterations, and a run takes 0.85 times as long.
static bool is_stiff(const struct tangent_grid *grid, int direction)
{
    double others = 0;
    for (int d = 0; d < grid->grid->direction_count; d++)
        if (d != direction_along(grid, 0) && d != direction_along(grid, 1))
            others = fmax(others, (double)grid->constants[d].stiffness);
    return (double)grid->constants[direction].stiffness >= LINE_STIFFNESS * others;
}

// The direction of a grid's lines along x or y; -1 if it has none.
static int direction_of_lines(const struct tangent_grid *grid, int axis)
{
    const struct plan_grid *plan = grid->grid;
    int direction = direction_along(grid, axis);
    bool short_ones = (axis == 0 ? plan->nx : plan->ny) < LINE_NODES || plan->nz != 1;
    return direction < 0 || short_ones || !is_stiff(grid, direction) ? -1 : direction;
}

static bool make_family(const struct system *system, const struct tangent_grid *grid, int axis,
                        struct line_family *family)
{
    const struct plan_grid *plan = grid->grid;
    size_t nx = (size_t)plan->nx, ny = (size_t)plan->ny;
    *family = (struct line_family){.grid = grid, .direction = direction_of_lines(grid, axis)};
    if (family->direction < 0)
        return true;
    family->count = axis == 0 ? ny : nx;
    family->length = axis == 0 ? nx : ny;
    family->step = axis == 0 ? 1 : nx;
    family->inner = axis == 0 ? 1 : nx;
    family->outer = nx;
    family->nodes = memory_allocate(system->allocator, bundles_of(family) * family->length,
                                    sizeof *family->nodes);
    return family->nodes != NULL;
}

static bool has_lines(const struct tangent_grid *grid)
{
    return direction_of_lines(grid, 0) >= 0 || direction_of_lines(grid, 1) >= 0;
}

static bool add_grid(const struct system *system, const struct tangent_grid *grid,
                     struct spring_lines *lines)
{
    struct line_family *families = lines->families[lines->grid_count++];
    lines->covered += (size_t)grid->nodes;
    for (int axis = 0; axis < FAMILIES_MAX; axis++)
        if (!make_family(system, grid, axis, &families[axis]))
            return false;
    if (families[0].count == 0) { // family 0 sets z, family 1 adds to it
        families[0] = families[1];
        families[1] = (struct line_family){.count = 0};
    }
    return true;
}

static taut_status fail_to_make(struct spring_lines *lines, taut_error *error)
{
    REAL_NAME(spring_lines_free)(lines);
    return fail_memory(error, "the implicit integrator");
}

taut_status REAL_NAME(spring_lines_make)(const struct spring_tangent *tangent,
                                         struct spring_lines **result, taut_error *error)
{
    *result = NULL;
    const struct system *system = tangent->system;
    size_t grids = system->plan->grid_count, wanted = 0;
    for (size_t g = 0; g < grids; g++)
        wanted += has_lines(&tangent->grids[g]);
    if (wanted == 0)
        return TAUT_OK;
    struct spring_lines *lines = memory_allocate(system->allocator, 1, sizeof *lines);
    if (!lines)
        return fail_memory(error, "the implicit integrator");
    lines->tangent = tangent;
    lines->families = memory_allocate(system->allocator, grids, sizeof *lines->families);
    if (!lines->families)
        return fail_to_make(lines, error);
    for (size_t g = 0; g < grids; g++)
        if (has_lines(&tangent->grids[g]) && !add_grid(system, &tangent->grids[g], lines))
            return fail_to_make(lines, error);
    *result = lines;
    return TAUT_OK;
}

void REAL_NAME(spring_lines_free)(struct spring_lines *lines)
{
    if (!lines)
        return;
    const struct system *system = lines->tangent->system;
    for (size_t g = 0; lines->families && g < lines->grid_count; g++)
        for (int f = 0; f < FAMILIES_MAX; f++) {
            struct line_family *family = &lines->families[g][f];
            memory_release(system->allocator, family->nodes, bundles_of(family) * family->length,
                           sizeof *family->nodes);
        }
    memory_release(system->allocator, lines->families, system->plan->grid_count,
                   sizeof *lines->families);
    REAL_NAME(shared_nodes_free)(lines->shared);
    real *const columns[] = {lines->columns.x, lines->columns.y, lines->columns.z};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        memory_release(system->allocator, columns[c], (size_t)system->state->nodes, sizeof(real));
    memory_release(system->allocator, lines, 1, sizeof *lines);
}

uint64_t REAL_NAME(spring_lines_bytes)(const struct spring_lines *lines)
{
    uint64_t bytes = 0;
    for (size_t g = 0; lines && g < lines->grid_count; g++)
        for (int f = 0; f < FAMILIES_MAX; f++) {
            const struct line_family *family = &lines->families[g][f];
            bytes += bundles_of(family) * family->length * sizeof *family->nodes;
        }
    if (lines && lines->columns.x)
        bytes += 3 * lines->tangent->system->state->nodes * sizeof(real);
    return bytes;
}

bool REAL_NAME(spring_lines_cover)(const struct spring_lines *lines)
{
    return lines->covered == (size_t)lines->tangent->system->state->nodes;
}

// ---- Ranks

static bool are_columns(const struct line_family *family)
{
    return family->step > 1;
}

static size_t line_start(const struct line_family *family, size_t line)
{
    return (size_t)family->grid->first_node + line % family->inner +
           line / family->inner * family->outer;
}

// The nodes of a family's grid that are also in a range, counted from its first node.
static struct range nodes_within(const struct line_family *family, struct range nodes)
{
    const size_t first = (size_t)family->grid->first_node, count = family->count * family->length;
    const size_t from = nodes.first > first ? nodes.first - first : 0;
    const size_t to = nodes.end > first ? nodes.end - first : 0;
    const size_t end = to < count ? to : count;
    return (struct range){from < end ? from : end, end};
}

// The bundles that this process solves.
static struct range own_bundles(const struct spring_lines *lines, const struct line_family *family)
{
    const struct system *system = lines->tangent->system;
    const size_t all = bundles_of(family);
    if (!system->shares || all == 0)
        return (struct range){0, all};
    const size_t rank = (size_t)ranks_number(), ranks = (size_t)ranks_count();
    if (are_columns(family))
        return (struct range){all * rank / ranks, all * (rank + 1) / ranks};
    const struct range own = nodes_within(family, REAL_NAME(shares_rows)(system));
    if (own.first == own.end)
        return (struct range){0, 0};
    const size_t first = own.first / family->length, last = (own.end - 1) / family->length;
    return (struct range){first / LINE_LANES, last / LINE_LANES + 1};
}

static struct range share_of_bundles(const struct spring_lines *lines,
                                     const struct line_family *family, const struct worker *worker)
{
    const struct range own = own_bundles(lines, family);
    const struct range share = worker_share(worker, own.end - own.first, 1);
    return (struct range){own.first + share.first, own.first + share.end};
}

// The nodes of rows are consecutive, and so are those of adjacent columns within each row.
static void add_shared(struct spring_lines *lines, const struct line_family *family)
{
    const struct range own = own_bundles(lines, family);
    const size_t first = own.first * LINE_LANES;
    const size_t end = (size_t)min_u64(own.end * LINE_LANES, family->count);
    if (first >= end)
        return;
    if (!are_columns(family)) {
        REAL_NAME(shared_nodes_add)
        (lines->shared,
         (struct plan_nodes){line_start(family, first), (end - first) * family->length}, false);
        return;
    }
    for (size_t p = 0; p < family->length; p++)
        REAL_NAME(shared_nodes_add)
    (lines->shared, (struct plan_nodes){line_start(family, first) + p * family->step, end - first},
     true);
}

// Called by one worker of all ranks, which end without memory.
static void share_lines(struct spring_lines *lines)
{
    struct system *system = lines->tangent->system;
    real **const columns[] = {&lines->columns.x, &lines->columns.y, &lines->columns.z};
    lines->shared = REAL_NAME(shared_nodes_begin)(system);
    for (size_t g = 0; g < lines->grid_count; g++)
        for (int f = 0; f < FAMILIES_MAX; f++)
            add_shared(lines, &lines->families[g][f]);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        *columns[c] =
            memory_allocate(system->allocator, (size_t)system->state->nodes, sizeof(real));
        if (!*columns[c])
            ranks_abort(1, "out of memory for the lines of ranks");
    }
    REAL_NAME(shared_nodes_connect)(lines->shared);
}

// ---- Factors, in double

// The block between a node of a line and the next one, with positive sign: xx, yy, zz, xy, xz, yz.
static void coupling_block(const struct spring_lines *lines, const struct line_family *family,
                           const struct line_matrix *matrix, size_t node, double u[6])
{
    real block[6] = {0};
    REAL_NAME(tangent_grid_spring)
    (lines->tangent, family->grid, family->direction, (int64_t)node - family->grid->first_node,
     matrix->stiffness, matrix->damping, block);
    for (int i = 0; i < 6; i++)
        u[i] = (double)block[i];
}

// w := m u for two symmetric matrices; w is stored row by row.
static void multiply_symmetric(const double m[6], const double u[6], double w[9])
{
    static const int at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            w[3 * i + j] = m[at[3 * i]] * u[at[j]] + m[at[3 * i + 1]] * u[at[3 + j]] +
                           m[at[3 * i + 2]] * u[at[6 + j]];
}

// s -= u w; the product is symmetric.
static void subtract_product(double s[6], const double u[6], const double w[9])
{
    s[0] -= u[0] * w[0] + u[3] * w[3] + u[4] * w[6];
    s[1] -= u[3] * w[1] + u[1] * w[4] + u[5] * w[7];
    s[2] -= u[4] * w[2] + u[5] * w[5] + u[2] * w[8];
    s[3] -= u[0] * w[1] + u[3] * w[4] + u[4] * w[7];
    s[4] -= u[0] * w[2] + u[3] * w[5] + u[4] * w[8];
    s[5] -= u[3] * w[2] + u[1] * w[5] + u[5] * w[8];
}

// Inverts by cofactors; false if s is not clearly positive definite.
static bool invert(const double s[6], double inverse[6])
{
    double cxx = s[1] * s[2] - s[5] * s[5], cxy = s[4] * s[5] - s[3] * s[2];
    double cxz = s[3] * s[5] - s[4] * s[1], second = s[0] * s[1] - s[3] * s[3];
    double determinant = s[0] * cxx + s[3] * cxy + s[4] * cxz;
    double size = s[0] * s[1] * s[2];
    if (!(s[0] > 0) || !(second > 1e-12 * s[0] * s[1]) || !(determinant > 1e-12 * size))
        return false;
    double scale = 1 / determinant;
    inverse[0] = scale * cxx;
    inverse[1] = scale * (s[0] * s[2] - s[4] * s[4]);
    inverse[2] = scale * second;
    inverse[3] = scale * cxy;
    inverse[4] = scale * cxz;
    inverse[5] = scale * (s[3] * s[4] - s[0] * s[5]);
    return true;
}

// The diagonal block of the matrix at a node: stiffness K + damping C + M.
static void diagonal_of(const struct line_matrix *matrix, size_t node, double d[6])
{
    for (int i = 0; i < 6; i++)
        d[i] = (double)matrix->blocks[node][i] + (i < 3 ? (double)matrix->mass[node] : 0);
}

// Factors one line, which is a lane of its bundle. Nodes that are not integrated have zero blocks;
// where a block cannot be inverted, the coupling to the node before is dropped.
static void factor_line(const struct spring_lines *lines, const struct line_family *family,
                        const struct line_matrix *matrix, size_t first, struct line_node *nodes,
                        size_t lane)
{
    double w[9] = {0}, u[6] = {0};
    for (size_t p = 0; p < family->length; p++) {
        size_t node = first + p * family->step;
        double s[6], inverse[6] = {0};
        diagonal_of(matrix, node, s);
        subtract_product(s, u, w);
        bool there = matrix->mass[node] > 0;
        if (there && !invert(s, inverse)) {
            diagonal_of(matrix, node, s);
            for (int i = 0; i < 9; i++)
                nodes[p - (p > 0)].coupling[i][lane] = 0;
            (void)invert(s, inverse);
        }
        size_t next = node + family->step;
        memset(u, 0, sizeof u);
        if (there && p + 1 < family->length && matrix->mass[next] > 0)
            coupling_block(lines, family, matrix, node, u);
        multiply_symmetric(inverse, u, w);
        for (int i = 0; i < 6; i++)
            nodes[p].inverse[i][lane] = (real)inverse[i];
        for (int i = 0; i < 9; i++)
            nodes[p].coupling[i][lane] = (real)w[i];
    }
}

void REAL_NAME(spring_lines_update)(struct spring_lines *lines, const struct line_matrix *matrix,
                                    const struct worker *worker)
{
    if (lines->tangent->system->shares && !lines->shared && worker->index == 0)
        share_lines(lines);
    for (size_t g = 0; lines->families && g < lines->grid_count; g++)
        for (int f = 0; f < FAMILIES_MAX; f++) {
            struct line_family *family = &lines->families[g][f];
            const struct range share = share_of_bundles(lines, family, worker);
            size_t end =
                share.end * LINE_LANES < family->count ? share.end * LINE_LANES : family->count;
            for (size_t line = share.first * LINE_LANES; line < end; line++)
                factor_line(lines, family, matrix, line_start(family, line),
                            family->nodes + line / LINE_LANES * family->length, line % LINE_LANES);
        }
    worker_barrier(worker);
}

// ---- Solves

// Lanes without a line repeat the first line of the bundle.
static struct line_bundle bundle_of(const struct line_family *family, size_t number)
{
    struct line_bundle bundle = {.nodes = family->nodes + number * family->length,
                                 .length = family->length,
                                 .step = family->step};
    size_t first = number * LINE_LANES, left = family->count - first;
    bundle.count = left < LINE_LANES ? left : LINE_LANES;
    for (size_t i = 0; i < LINE_LANES; i++)
        bundle.starts[i] = line_start(family, first + (i < bundle.count ? i : 0));
    return bundle;
}

static void solve_lines(const struct spring_lines *lines, const struct line_family *family,
                        struct node_vectors r, struct node_vectors z, bool adds,
                        const struct worker *worker)
{
    const struct kernels *kernels = lines->tangent->system->kernels;
    const struct range share = share_of_bundles(lines, family, worker);
    for (size_t b = share.first; b < share.end; b++) {
        const struct line_bundle bundle = bundle_of(family, b);
        kernels->line_solve(&bundle, (const real *[3]){r.x, r.y, r.z}, (real *[3]){z.x, z.y, z.z},
                            adds);
    }
}

// Sets z at this rank's nodes to the solutions for the columns, or adds them.
static void take_columns(const struct spring_lines *lines, const struct line_family *family,
                         struct node_vectors z, bool adds, const struct worker *worker)
{
    const struct range rows = REAL_NAME(shares_rows_of)(lines->tangent->system, worker, 16);
    const struct range nodes = nodes_within(family, rows);
    const size_t first = (size_t)family->grid->first_node;
    const struct node_vectors from = lines->columns;
    for (size_t i = first + nodes.first; i < first + nodes.end; i++) {
        z.x[i] = (adds ? z.x[i] : 0) + from.x[i];
        z.y[i] = (adds ? z.y[i] : 0) + from.y[i];
        z.z[i] = (adds ? z.z[i] : 0) + from.z[i];
    }
}

// On several ranks, rows are complete where this rank has nodes, columns only after their return.
static void apply_shared(const struct spring_lines *lines, struct node_vectors r,
                         struct node_vectors z, const struct worker *worker)
{
    struct system *system = lines->tangent->system;
    REAL_NAME(shared_nodes_read)(system, lines->shared, r, worker);
    for (size_t g = 0; g < lines->grid_count; g++)
        for (int f = 0; f < FAMILIES_MAX; f++) {
            const struct line_family *family = &lines->families[g][f];
            solve_lines(lines, family, r, are_columns(family) ? lines->columns : z, false, worker);
        }
    REAL_NAME(shared_nodes_return)(system, lines->shared, lines->columns, worker);
    for (size_t g = 0; g < lines->grid_count; g++)
        for (int f = 0; f < FAMILIES_MAX; f++)
            if (are_columns(&lines->families[g][f]))
                take_columns(lines, &lines->families[g][f], z, f > 0, worker);
    worker_barrier(worker);
}

void REAL_NAME(spring_lines_apply)(const struct spring_lines *lines, struct node_vectors r,
                                   struct node_vectors z, const struct worker *worker)
{
    if (lines->tangent->system->shares) {
        apply_shared(lines, r, z, worker);
        return;
    }
    for (int f = 0; f < FAMILIES_MAX; f++) {
        for (size_t g = 0; g < lines->grid_count; g++)
            solve_lines(lines, &lines->families[g][f], r, z, f > 0, worker);
        worker_barrier(worker);
    }
}
