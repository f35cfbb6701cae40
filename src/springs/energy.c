// The elastic energy of springs and the power dissipated by their damping, in double, evaluated
// where a row of energies is written. The energy budget's powers are summed by the force kernels
// instead; energies of nodes and gas are in forces/energy.c.
#include "springs/springs.h"

#include "springs/exchange.h"
#include "springs/part_sums.h"
#include "state/reading.h"

// ---- Elastic energy

// Linear springs that neither break nor yield. Energies are computed before they are summed: the
// additions depend on each other, the square roots do not.
static void add_elastic_of_linear(const struct state *s, const struct spring_view *view,
                                  double *sum)
{
    enum { AT_ONCE = 256 };
    const double rest = (double)view->built, half = 0.5 * (double)view->material->stiffness;
    double energy[AT_ONCE];
    for (uint64_t first = 0; first < view->count; first += AT_ONCE) {
        const size_t a = view->a + (size_t)first, b = view->b + (size_t)first;
        const uint64_t left = view->count - first;
        const size_t count = left < AT_ONCE ? (size_t)left : AT_ONCE;
        for (size_t i = 0; i < count; i++) {
            double dx = (double)s->x[a + i] - (double)s->x[b + i];
            double dy = (double)s->y[a + i] - (double)s->y[b + i];
            double dz = (double)s->z[a + i] - (double)s->z[b + i];
            double stretch = sqrt(dx * dx + dy * dy + dz * dz) - rest;
            energy[i] = half * stretch * stretch;
        }
        for (size_t i = 0; i < count; i++)
            *sum += energy[i];
    }
}

static void add_elastic_one_by_one(const struct state *s, const struct spring_view *view,
                                   double *sum)
{
    for (size_t i = 0; i < (size_t)view->count; i++) {
        if (view_is_broken(view, i))
            continue;
        vec3 d = vec3_subtract(node_position(s, view->a + i), node_position(s, view->b + i));
        *sum += spring_energy(view->material, vec3_length(d), (double)view_rest_length(view, i));
    }
}

// Sums springs [range.first, range.end) in the order of springs_walk.
static void sum_elastic(const struct system *system, const void *unused, struct range range,
                        double sums[SUM_WIDTH])
{
    (void)unused;
    struct spring_walk walk = {system, range.first, range.end};
    struct spring_view view;
    double sum = 0;
    while (springs_next(&walk, &view)) {
        const bool changes = view.broken || view.rest_length;
        if (view.count > 1 && !changes && view.material->law == LAW_LINEAR &&
            !state_is_mixed(system->state))
            add_elastic_of_linear(system->state, &view, &sum);
        else
            add_elastic_one_by_one(system->state, &view, &sum);
    }
    sums[0] = sum;
}

double REAL_NAME(springs_elastic_energy)(struct system *system, const struct worker *worker)
{
    const size_t count = (size_t)springs_count(system);
    double total[SUM_WIDTH];
    if (REAL_NAME(exchange_has_part)(system)) {
        const uint64_t first = 0;
        REAL_NAME(exchange_ends)(system, false, worker);
        return REAL_NAME(sum_springs_of_parts)(system, count, sum_elastic, &first, worker);
    }
    REAL_NAME(sum_over_chunks)(system, count, sum_elastic, NULL, total, worker);
    return total[0];
}

// ---- Power of the damping

// The power dissipated by the damping of an unbroken spring: c (w.u)^2 (axial law) or c w^2 (full
// law).
static inline double damping_power(const struct system *system,
                                   const struct spring_constants *material, size_t a, size_t b,
                                   real rest)
{
    const struct state *s = system->state;
    vec3 d = vec3_subtract(node_position(s, a), node_position(s, b));
    vec3 w = vec3_subtract(node_velocity(s, a), node_velocity(s, b));
    double square = vec3_dot(d, d);
    if (material->law != LAW_LINEAR && // linear springs need no square root
        spring_is_slack(material, sqrt(square), (double)rest))
        return 0;
    if (material->damping_law == DAMPING_FULL)
        return (double)material->damping * vec3_dot(w, w);
    if (square == 0)
        return 0;
    double along = vec3_dot(w, d); // L (w.u)
    return (double)material->damping * (along * along / square);
}

// Sums springs on no grid, in the plan's order. Reads the arrays directly: this runs in every step,
// and with springs_next it took 1.5 times as long.
static void sum_damping(const struct system *system, const void *unused, struct range range,
                        double sums[SUM_WIDTH])
{
    (void)unused;
    double sum = 0;
    for (size_t i = range.first; i < range.end; i++) {
        const struct spring_constants *material = spring_material(system, i);
        const uint32_t *ends = system->constants->spring_nodes[i];
        if (material->damping != 0 && !spring_is_broken(system, i))
            sum += damping_power(system, material, ends[0], ends[1], spring_rest_length(system, i));
    }
    sums[0] = sum;
}

// Sums the springs of a grid that grid_power does not compute (is_special). `range` counts the
// springs of the grid, the first of which is number `argument` in the order of springs_walk.
static void sum_special_damping(const struct system *system, const void *argument,
                                struct range range, double sums[SUM_WIDTH])
{
    const uint64_t first = *(const uint64_t *)argument;
    struct spring_walk walk = {system, first + range.first, first + range.end};
    struct spring_view view;
    while (springs_next(&walk, &view))
        for (size_t i = 0; i < (size_t)view.count && view.material->damping != 0; i++)
            if (!view_is_broken(&view, i))
                sums[0] += damping_power(system, view.material, view.a + i, view.b + i,
                                         view_rest_length(&view, i));
}

// Sums the powers per node that grid_power has computed.
static void sum_grid_damping(const struct system *system, const void *argument, struct range range,
                             double sums[SUM_WIDTH])
{
    const struct plan_grid *grid = argument;
    const real *of_node = system->state->power + grid->first_node;
    for (size_t i = range.first; i < range.end; i++)
        sums[0] += (double)of_node[i];
}

static bool is_damped(const struct system *system, const struct plan_grid *grid)
{
    bool damped = false;
    for (int d = 0; d < grid->direction_count; d++)
        damped |= system->constants->material[grid->directions[d].material].damping > 0;
    return damped;
}

// Whether some springs of a grid break, yield, go slack, were cut or are weighted, which the kernel
// grid_power ignores.
static bool is_special(const struct system *system, const struct plan_grid *grid)
{
    bool special = grid->stateful || grid->missing || grid->weighted;
    for (int d = 0; d < grid->direction_count; d++)
        special |= system->constants->material[grid->directions[d].material].law != LAW_LINEAR;
    return special;
}

static size_t node_of_grid(const struct system *system, const void *argument, size_t node)
{
    (void)system;
    return (size_t)((const struct plan_grid *)argument)->first_node + node;
}

// The rows with the nodes of the chunks that this process sums.
static struct range rows_summed(const struct system *system, const struct plan_grid *grid)
{
    const size_t nx = (size_t)grid->nx, first_node = (size_t)grid->first_node;
    if (!REAL_NAME(exchange_has_part)(system))
        return (struct range){0, (size_t)(grid->ny * grid->nz)};
    const struct range nodes = REAL_NAME(chunk_nodes_of_grid)(system, grid);
    if (nodes.first == nodes.end)
        return (struct range){0, 0};
    return (struct range){(nodes.first - first_node) / nx, (nodes.end - first_node + nx - 1) / nx};
}

static double special_damping(struct system *system, const struct plan_grid *grid, uint64_t first,
                              const struct worker *worker)
{
    const size_t count = (size_t)system->topology->bodies[grid->body].spring_count;
    double total[SUM_WIDTH];
    if (REAL_NAME(exchange_has_part)(system))
        return REAL_NAME(sum_springs_of_parts)(system, count, sum_special_damping, &first, worker);
    REAL_NAME(sum_over_chunks)(system, count, sum_special_damping, &first, total, worker);
    return total[0];
}

static double grid_damping(struct system *system, const struct plan_grid *grid,
                           const struct worker *worker)
{
    const size_t count = (size_t)(grid->nx * grid->ny * grid->nz);
    const struct range rows = rows_summed(system, grid);
    const struct range share = worker_share(worker, rows.end - rows.first, 1);
    double total[SUM_WIDTH];
    system->kernels->grid_power(system, grid,
                                (struct range){rows.first + share.first, rows.first + share.end});
    worker_barrier(worker);
    if (REAL_NAME(exchange_has_part)(system))
        return REAL_NAME(sum_chunks_of_parts)(system, count, node_of_grid, sum_grid_damping, grid,
                                              worker);
    REAL_NAME(sum_over_chunks)(system, count, sum_grid_damping, grid, total, worker);
    return total[0];
}

static size_t node_of_listed(const struct system *system, const void *unused, size_t spring)
{
    (void)unused;
    return system->plan->chunk_nodes ? system->plan->chunk_nodes[spring / SUM_CHUNK]
                                     : system->constants->spring_nodes[spring][0];
}

double REAL_NAME(springs_listed_damping_power)(struct system *system, const struct worker *worker)
{
    const size_t count = (size_t)system->constants->springs;
    double total[SUM_WIDTH];
    if (REAL_NAME(exchange_has_part)(system))
        return REAL_NAME(sum_chunks_of_parts)(system, count, node_of_listed, sum_damping, NULL,
                                              worker);
    REAL_NAME(sum_over_chunks)(system, count, sum_damping, NULL, total, worker);
    return total[0];
}

double REAL_NAME(springs_damping_power)(struct system *system, const struct worker *worker)
{
    const struct constants *constants = system->constants;
    if (REAL_NAME(exchange_has_part)(system))
        REAL_NAME(exchange_ends)(system, true, worker);
    double power = REAL_NAME(springs_listed_damping_power)(system, worker);
    uint64_t first = constants->springs;
    for (size_t g = 0; g < system->plan->grid_count; g++) {
        const struct plan_grid *grid = &system->plan->grids[g];
        if (is_damped(system, grid))
            power += is_special(system, grid) ? special_damping(system, grid, first, worker)
                                              : grid_damping(system, grid, worker);
        first += system->topology->bodies[grid->body].spring_count;
    }
    return power;
}
