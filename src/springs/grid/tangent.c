// The tangent of springs on grids: memory, 1 / L of every spring at the point of linearisation
// (found once for many products), and diagonal blocks. The products are in grid/tangent_body.h.
#include "springs/tangent.h"

#include "base/memory.h"
#include "state/reading.h"

// The distance between arrays that are read together, which must not begin at the same offset in a
// page (state/state.c).
static size_t stride_of(int64_t nodes)
{
    return ((size_t)nodes + 15) / 16 * 16 + STATE_OFFSET_BYTES / sizeof(real);
}

static void set_constants(struct tangent_constants *to, const struct direction *direction,
                          const struct spring_constants *material)
{
    bool full = material->damping_law == DAMPING_FULL;
    to->stiffness = material->stiffness;
    to->rest_length = (real)direction->rest_length;
    to->along = material->damping;
    to->across = full ? material->damping : 0;
}

// The axes that a direction does not move along and that have sides, as in struct tangent_grid; 0
// if all springs of the direction have the same constants.
static unsigned share_axes(const struct plan_grid *plan, const struct direction *direction)
{
    if (!plan->weighted)
        return 0;
    return (direction->dx == 0 ? 1U : 0) | (direction->dy == 0 ? 2U : 0) |
           (direction->dz == 0 && plan->nz > 1 ? 4U : 0);
}

// The nodes of a grid of which a rank that holds only its part knows nothing: their springs take no
// memory, array by array.
static void spare_numbers(const struct system *system, const struct tangent_grid *grid,
                          size_t stride, size_t arrays)
{
    const struct range known = system->known_nodes;
    const size_t first = (size_t)grid->first_node, bytes = grid->length * sizeof(real);
    const size_t end = first + (size_t)grid->nodes;
    const size_t from = known.first < first ? 0 : (known.first < end ? known.first : end) - first;
    const size_t to = known.end < first ? 0 : (known.end < end ? known.end : end) - first;
    for (size_t a = 0; to - from < (size_t)grid->nodes && a < arrays; a++) {
        memory_sparse(grid->numbers, bytes, stride * a * sizeof(real),
                      (stride * a + from) * sizeof(real));
        memory_sparse(grid->numbers, bytes, (stride * a + to) * sizeof(real),
                      stride * (a + 1) * sizeof(real));
    }
}

// 1/2 for each of these axes at an end of which the node is (scene/direction.h).
static void set_shares(const struct plan_grid *plan, unsigned axes, real *shares)
{
    const uint64_t nx = plan->nx, ny = plan->ny, nz = plan->nz;
    for (uint64_t k = 0; k < nz; k++)
        for (uint64_t j = 0; j < ny; j++) {
            const real of_layer = (axes & 4) && (k == 0 || k + 1 == nz) ? (real)0.5 : 1;
            const real of_row = (axes & 2) && (j == 0 || j + 1 == ny) ? of_layer / 2 : of_layer;
            real *row = shares + (k * ny + j) * nx;
            for (uint64_t i = 0; i < nx; i++)
                row[i] = of_row;
            if (axes & 1)
                row[0] = row[nx - 1] = of_row / 2;
        }
}

static bool make_grid(const struct system *system, const struct plan_grid *plan,
                      struct tangent_grid *grid)
{
    bool moves = plan->stateful && system->state->rest_length;
    grid->grid = plan;
    grid->first_node = (int64_t)plan->first_node;
    grid->nodes = (int64_t)(plan->nx * plan->ny * plan->nz);
    const size_t count = (size_t)plan->direction_count;
    size_t stride = stride_of(grid->nodes), arrays = count * (moves ? 2 : 1);
    bool wanted[sizeof grid->shares / sizeof grid->shares[0]] = {false};
    for (size_t d = 0; d < count; d++) {
        const unsigned axes = share_axes(plan, &plan->directions[d]);
        arrays += axes != 0 && !wanted[axes];
        wanted[axes] = axes != 0;
    }
    if (!size_multiply(stride, arrays, &grid->length))
        return false;
    grid->numbers = memory_allocate(system->allocator, grid->length, sizeof(real));
    if (!grid->numbers)
        return false;
    spare_numbers(system, grid, stride, arrays);
    for (size_t d = 0; d < count; d++) {
        struct tangent_constants *to = &grid->constants[d];
        const struct direction *direction = &plan->directions[d];
        set_constants(to, direction, &system->constants->material[direction->material]);
        to->inverse = grid->numbers + stride * d;
        to->ratio = moves ? grid->numbers + stride * (count + d) : NULL;
        const unsigned axes = share_axes(plan, direction);
        if (axes != 0 && !grid->shares[axes]) {
            grid->shares[axes] = grid->numbers + stride * --arrays;
            set_shares(plan, axes, grid->shares[axes]);
        }
        to->shares = grid->shares[axes];
        grid->reach = direction->offset > grid->reach ? direction->offset : grid->reach;
    }
    return true;
}

taut_status REAL_NAME(tangent_grids_make)(struct spring_tangent *tangent, taut_error *error)
{
    const struct system *system = tangent->system;
    size_t count = system->plan->grid_count;
    tangent->grids = memory_allocate(system->allocator, count, sizeof *tangent->grids);
    if (!tangent->grids)
        return fail_memory(error, "the tangent of grids");
    for (size_t g = 0; g < count; g++)
        if (!make_grid(system, &system->plan->grids[g], &tangent->grids[g]))
            return fail_memory(error, "the tangent of grids");
    return TAUT_OK;
}

void REAL_NAME(tangent_grids_refresh)(struct spring_tangent *tangent)
{
    const struct system *system = tangent->system;
    for (size_t g = 0; g < system->plan->grid_count; g++) {
        struct tangent_grid *grid = &tangent->grids[g];
        for (int d = 0; d < grid->grid->direction_count; d++) {
            const struct direction *direction = &grid->grid->directions[d];
            set_constants(&grid->constants[d], direction,
                          &system->constants->material[direction->material]);
        }
    }
}

void REAL_NAME(tangent_grids_free)(struct spring_tangent *tangent)
{
    const taut_allocator *allocator = tangent->system->allocator;
    size_t count = tangent->system->plan->grid_count;
    for (size_t g = 0; tangent->grids && g < count; g++)
        memory_release(allocator, tangent->grids[g].numbers, tangent->grids[g].length,
                       sizeof(real));
    memory_release(allocator, tangent->grids, count, sizeof *tangent->grids);
}

uint64_t REAL_NAME(tangent_grids_bytes)(const struct spring_tangent *tangent)
{
    uint64_t bytes = 0;
    for (size_t g = 0; g < tangent->system->plan->grid_count; g++)
        bytes += sizeof *tangent->grids + tangent->grids[g].length * sizeof(real);
    return bytes;
}

// Springs of one direction that start at nodes [begin, end) of a row.
struct row_springs {
    const struct direction *direction;
    const struct tangent_constants *constants;
    const struct spring_constants *material;
    int64_t node;   // the row's first node in the state's arrays
    int64_t number; // the same node counted within the grid
    long begin, end;
};

// Sets 1 / L of all springs of the row as if none were slack or broken.
static void set_inverse_lengths(const struct state *s, const struct row_springs *it)
{
    const real *x = s->x + it->node, *y = s->y + it->node, *z = s->z + it->node;
    const int64_t other = it->direction->offset;
    real *restrict inverse = it->constants->inverse + it->number;
    for (long i = it->begin; i < it->end; i++) {
        real dx = x[i] - x[i + other], dy = y[i] - y[i + other], dz = z[i] - z[i + other];
        real square = dx * dx + dy * dy + dz * dz;
        real safe = square < REAL_TINY ? 1 : square;
        real one = 1 / real_sqrt(safe);
        inverse[i] = square < REAL_TINY ? REAL_TINY : one;
    }
}

// Sets 1 / L of slack, broken and cut springs to 0, and the ratio L0 / L of springs that may have
// yielded. `state_index` is that of the first spring.
static void clear_inactive_springs(const struct state *s, const struct row_springs *it,
                                   const uint8_t *missing, bool stateful, uint64_t state_index)
{
    const struct tangent_constants *constants = it->constants;
    for (long i = it->begin; i < it->end; i++, state_index++) {
        int64_t at = it->number + i;
        size_t a = (size_t)(it->node + i), b = (size_t)(it->node + i + it->direction->offset);
        real rest =
            stateful && s->rest_length ? s->rest_length[state_index] : constants->rest_length;
        real dx = s->x[a] - s->x[b], dy = s->y[a] - s->y[b], dz = s->z[a] - s->z[b];
        real length = real_sqrt(dx * dx + dy * dy + dz * dz);
        if ((missing && missing[i - it->begin]) ||
            (stateful && s->broken && s->broken[state_index]) ||
            spring_is_slack(it->material, (double)length, (double)rest))
            constants->inverse[at] = 0;
        if (constants->ratio)
            constants->ratio[at] = rest * constants->inverse[at];
    }
}

static void update_row(const struct spring_tangent *tangent, const struct tangent_grid *grid, int d,
                       uint64_t row)
{
    const struct system *system = tangent->system;
    const struct plan_grid *plan = grid->grid;
    const struct direction *direction = &plan->directions[d];
    const long nx = (long)plan->nx;
    const long j = (long)(row % plan->ny) + direction->dy;
    const long k = (long)(row / plan->ny) + direction->dz;
    struct row_springs row_springs = {.direction = direction,
                                      .constants = &grid->constants[d],
                                      .material = &system->constants->material[direction->material],
                                      .number = (int64_t)row * nx,
                                      .begin = direction->dx < 0 ? -direction->dx : 0,
                                      .end = direction->dx > 0 ? nx - direction->dx : nx};
    row_springs.node = grid->first_node + row_springs.number;
    if (j < 0 || j >= (long)plan->ny || k >= (long)plan->nz || row_springs.end <= row_springs.begin)
        return; // no springs; the arrays were zeroed when they were allocated
    set_inverse_lengths(system->state, &row_springs);
    if (!plan->stateful && !plan->missing && row_springs.material->law == LAW_LINEAR)
        return;
    uint64_t index = 0;
    if (plan->stateful || plan->missing)
        direction_find(direction, (uint64_t)(row_springs.number + row_springs.begin), &index);
    clear_inactive_springs(
        system->state, &row_springs, plan->missing ? grid_missing(plan, direction) + index : NULL,
        plan->stateful, plan->first_state_index + direction->first_spring + index);
}

// The rows of a grid with springs that start or end at these nodes, and those that their items
// have.
static struct range rows_of_nodes(const struct tangent_grid *grid, struct range nodes)
{
    const int64_t nx = (int64_t)grid->grid->nx, begin = grid->first_node;
    int64_t first = (int64_t)nodes.first - begin - grid->reach - TANGENT_ITEM_NODES;
    int64_t end = (int64_t)nodes.end - begin + TANGENT_ITEM_NODES;
    first = first > 0 ? first : 0;
    end = end < grid->nodes ? end : grid->nodes;
    return first < end ? (struct range){(size_t)(first / nx), (size_t)((end - 1) / nx + 1)}
                       : (struct range){0, 0};
}

void REAL_NAME(tangent_grids_update)(struct spring_tangent *tangent, struct range rows,
                                     const struct worker *worker)
{
    for (size_t g = 0; g < tangent->system->plan->grid_count; g++) {
        const struct tangent_grid *grid = &tangent->grids[g];
        const struct range all = rows_of_nodes(grid, rows);
        const struct range share = worker_share(worker, all.end - all.first, 1);
        for (int d = 0; d < grid->grid->direction_count; d++)
            for (size_t row = all.first + share.first; row < all.first + share.end; row++)
                update_row(tangent, grid, d, row);
    }
}

void REAL_NAME(tangent_grid_spring)(const struct spring_tangent *tangent,
                                    const struct tangent_grid *grid, int d, int64_t spring,
                                    real stiffness, real damping, real block[6])
{
    const struct state *s = tangent->system->state;
    const struct tangent_constants *to = &grid->constants[d];
    real inverse = to->inverse[spring];
    if (!(inverse > 0))
        return;
    int64_t a = grid->first_node + spring, b = a + grid->grid->directions[d].offset;
    real sideways = 1 - (to->ratio ? to->ratio[spring] : to->rest_length * inverse);
    if (tangent->kind == TANGENT_DEFINITE && !(sideways > 0))
        sideways = 0;
    real elastic = stiffness * to->stiffness;
    const real share = to->shares ? to->shares[spring] : 1;
    block_add(block, (s->x[a] - s->x[b]) * inverse, (s->y[a] - s->y[b]) * inverse,
              (s->z[a] - s->z[b]) * inverse, share * (elastic + damping * to->along),
              share * (elastic * sideways + damping * to->across));
}

void REAL_NAME(tangent_grid_blocks)(const struct spring_tangent *tangent,
                                    const struct tangent_grid *grid, real stiffness, real damping,
                                    real (*blocks)[6], struct range nodes)
{
    for (size_t node = nodes.first; node < nodes.end; node++) {
        int64_t i = (int64_t)node - grid->first_node;
        for (int d = 0; d < grid->grid->direction_count; d++) {
            int64_t back = i - grid->grid->directions[d].offset;
            REAL_NAME(tangent_grid_spring)(tangent, grid, d, i, stiffness, damping, blocks[node]);
            if (back >= 0)
                REAL_NAME(tangent_grid_spring)
            (tangent, grid, d, back, stiffness, damping, blocks[node]);
        }
    }
}
