// Springs of grids in a tangent: what a product needs of each is found row by row, once for many
// products; these are kernels/tangent_grid_body.h.
#include "forces/tangent_parts.h"

#include "base/memory.h"
#include "state/reading.h"

// Arrays that are read beside each other must not begin at the same place of a page (state.h).
static size_t stride_of(int64_t nodes)
{
    return ((size_t)nodes + 15) / 16 * 16 + STATE_PLACE_BYTES / sizeof(real);
}

static void set_direction(struct tangent_direction *to, const struct plan_direction *from,
                          const struct spring_constants *material)
{
    bool full = material->damping_law == DAMPING_FULL;
    to->offset = from->offset;
    to->dx = from->dx;
    to->dy = from->dy;
    to->dz = from->dz;
    to->stiffness = material->stiffness;
    to->rest_length = (real)from->rest_length;
    to->along = material->damping;
    to->across = full ? material->damping : 0;
}

static bool make_grid(const struct system *system, const struct plan_grid *plan,
                      struct tangent_grid *grid)
{
    bool moves = plan->remembers && system->state->rest_length;
    grid->grid = plan;
    grid->first_node = (int64_t)plan->first_node;
    grid->nodes = (int64_t)(plan->nx * plan->ny * plan->nz);
    grid->count = plan->direction_count;
    size_t stride = stride_of(grid->nodes);
    if (!size_multiply(stride, (size_t)grid->count * (moves ? 2 : 1), &grid->length))
        return false;
    grid->numbers = memory_allocate(system->allocator, grid->length, sizeof(real));
    if (!grid->numbers)
        return false;
    for (int d = 0; d < grid->count; d++) {
        struct tangent_direction *to = &grid->to[d];
        const struct plan_direction *from = &plan->directions[d];
        set_direction(to, from, &system->constants->material[from->material]);
        to->inverse = grid->numbers + stride * (size_t)d;
        to->ratio = moves ? grid->numbers + stride * (size_t)(grid->count + d) : NULL;
        grid->reach = to->offset > grid->reach ? to->offset : grid->reach;
    }
    return true;
}

taut_status REAL_NAME(tangent_grids_make)(struct tangent *tangent, taut_error *error)
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

void REAL_NAME(tangent_grids_free)(struct tangent *tangent)
{
    const taut_allocator *allocator = tangent->system->allocator;
    size_t count = tangent->system->plan->grid_count;
    for (size_t g = 0; tangent->grids && g < count; g++)
        memory_release(allocator, tangent->grids[g].numbers, tangent->grids[g].length,
                       sizeof(real));
    memory_release(allocator, tangent->grids, count, sizeof *tangent->grids);
}

uint64_t REAL_NAME(tangent_grids_bytes)(const struct tangent *tangent)
{
    uint64_t bytes = 0;
    for (size_t g = 0; g < tangent->system->plan->grid_count; g++)
        bytes += sizeof *tangent->grids + tangent->grids[g].length * sizeof(real);
    return bytes;
}

// Springs of one direction from a row's nodes [begin, end) on.
struct strand {
    const struct tangent_direction *to;
    const struct spring_constants *material;
    int64_t node;   // of the state, of the row's first
    int64_t number; // the same within the grid
    long begin, end;
};

static void measure_strand(const struct state *s, const struct strand *it)
{
    const real *x = s->x + it->node, *y = s->y + it->node, *z = s->z + it->node;
    const int64_t other = it->to->offset;
    real *restrict inverse = it->to->inverse + it->number;
    for (long i = it->begin; i < it->end; i++) {
        real dx = x[i] - x[i + other], dy = y[i] - y[i + other], dz = z[i] - z[i + other];
        real square = dx * dx + dy * dy + dz * dz;
        real safe = square < REAL_TINY ? 1 : square;
        real one = 1 / real_sqrt(safe);
        inverse[i] = square < REAL_TINY ? REAL_TINY : one;
    }
}

// Takes back what is slack or broken, and finds the ratio where springs have yielded; the first has
// that place in the state's arrays.
static void judge_strand(const struct state *s, const struct strand *it, bool remembers,
                         uint64_t place)
{
    for (long i = it->begin; i < it->end; i++, place++) {
        int64_t at = it->number + i;
        size_t a = (size_t)(it->node + i), b = (size_t)(it->node + i + it->to->offset);
        real rest = remembers && s->rest_length ? s->rest_length[place] : it->to->rest_length;
        real dx = s->x[a] - s->x[b], dy = s->y[a] - s->y[b], dz = s->z[a] - s->z[b];
        real length = real_sqrt(dx * dx + dy * dy + dz * dz);
        if ((remembers && s->broken && s->broken[place]) ||
            spring_is_slack(it->material, (double)length, (double)rest))
            it->to->inverse[at] = 0;
        if (it->to->ratio)
            it->to->ratio[at] = rest * it->to->inverse[at];
    }
}

static void update_row(const struct tangent *tangent, const struct tangent_grid *grid, int d,
                       uint64_t row)
{
    const struct system *system = tangent->system;
    const struct plan_grid *plan = grid->grid;
    const struct plan_direction *direction = &plan->directions[d];
    const struct tangent_direction *to = &grid->to[d];
    const long nx = (long)plan->nx;
    const long j = (long)(row % plan->ny) + to->dy, k = (long)(row / plan->ny) + to->dz;
    struct strand strand = {.to = to,
                            .material = &system->constants->material[direction->material],
                            .number = (int64_t)row * nx,
                            .begin = to->dx < 0 ? -to->dx : 0,
                            .end = to->dx > 0 ? nx - to->dx : nx};
    strand.node = grid->first_node + strand.number;
    if (j < 0 || j >= (long)plan->ny || k >= (long)plan->nz || strand.end <= strand.begin)
        return; // nothing but zeros, from the beginning
    measure_strand(system->state, &strand);
    if (!plan->remembers && strand.material->law == LAW_LINEAR)
        return;
    uint64_t index = 0;
    if (plan->remembers) {
        const struct topology_body *body = &system->topology->bodies[plan->body];
        const struct topology_direction *directions =
            &system->topology->directions[body->first_direction];
        direction_find(&directions[d].to, (uint64_t)(strand.number + strand.begin), &index);
    }
    judge_strand(system->state, &strand, plan->remembers, direction->first_place + index);
}

void REAL_NAME(tangent_grids_update)(struct tangent *tangent, const struct worker *worker)
{
    for (size_t g = 0; g < tangent->system->plan->grid_count; g++) {
        const struct tangent_grid *grid = &tangent->grids[g];
        struct range rows = worker_share(worker, (size_t)(grid->grid->ny * grid->grid->nz), 1);
        for (int d = 0; d < grid->count; d++)
            for (size_t row = rows.first; row < rows.end; row++)
                update_row(tangent, grid, d, row);
    }
}

void REAL_NAME(tangent_grid_spring)(const struct tangent *tangent, const struct tangent_grid *grid,
                                    int d, int64_t spring, real stiffness, real damping,
                                    real block[6])
{
    const struct state *s = tangent->system->state;
    const struct tangent_direction *to = &grid->to[d];
    real inverse = to->inverse[spring];
    if (!(inverse > 0))
        return;
    int64_t a = grid->first_node + spring, b = a + to->offset;
    real sideways = 1 - (to->ratio ? to->ratio[spring] : to->rest_length * inverse);
    if (tangent->kind == TANGENT_DEFINITE && !(sideways > 0))
        sideways = 0;
    real elastic = stiffness * to->stiffness;
    block_add(block, (s->x[a] - s->x[b]) * inverse, (s->y[a] - s->y[b]) * inverse,
              (s->z[a] - s->z[b]) * inverse, elastic + damping * to->along,
              elastic * sideways + damping * to->across);
}

void REAL_NAME(tangent_grid_blocks)(const struct tangent *tangent, const struct tangent_grid *grid,
                                    real stiffness, real damping, real (*blocks)[6],
                                    struct range nodes)
{
    for (size_t node = nodes.first; node < nodes.end; node++) {
        int64_t i = (int64_t)node - grid->first_node;
        for (int d = 0; d < grid->count; d++) {
            int64_t back = i - grid->to[d].offset;
            REAL_NAME(tangent_grid_spring)(tangent, grid, d, i, stiffness, damping, blocks[node]);
            if (back >= 0)
                REAL_NAME(tangent_grid_spring)
            (tangent, grid, d, back, stiffness, damping, blocks[node]);
        }
    }
}
