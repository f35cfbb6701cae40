// Conjugate gradients for the linear systems of implicit steps (conjugate_gradient.h). Vectors have
// the run's precision. Inner products, and the scalars that follow from them, are in double and
// summed over fixed chunks, so that every number of threads makes the same iterations.
#include "integrate/conjugate_gradient.h"

#include <string.h>

#include "base/memory.h"
#include "integrate/constraints.h"
#include "springs/exchange.h"
#include "springs/shares.h"
#include "state/reading.h"

// ---- Memory

// Elements before and after: as in the arrays of the state.
static size_t guarded(uint64_t nodes)
{
    return (size_t)nodes + 2 * (size_t)STATE_GUARD;
}

static bool make_array(const struct system *system, real **array)
{
    const size_t count = guarded(system->state->nodes);
    real *block = memory_allocate(system->allocator, count, sizeof *block);
    *array = block ? block + STATE_GUARD : NULL;
    if (block)
        system_spare(system, block, count * sizeof *block, STATE_GUARD, sizeof *block);
    return block != NULL;
}

static void free_array(const struct system *system, real *array)
{
    if (array)
        memory_release(system->allocator, array - STATE_GUARD, guarded(system->state->nodes),
                       sizeof *array);
}

bool REAL_NAME(node_vectors_make)(const struct system *system, struct node_vectors *vectors)
{
    return make_array(system, &vectors->x) && make_array(system, &vectors->y) &&
           make_array(system, &vectors->z);
}

void REAL_NAME(node_vectors_free)(const struct system *system, struct node_vectors *vectors)
{
    free_array(system, vectors->x);
    free_array(system, vectors->y);
    free_array(system, vectors->z);
}

bool REAL_NAME(split_vectors_make)(const struct system *system, struct split_vectors *parts)
{
    return REAL_NAME(node_vectors_make)(system, &parts->high) &&
           (!state_is_mixed(system->state) || REAL_NAME(node_vectors_make)(system, &parts->low));
}

void REAL_NAME(split_vectors_free)(const struct system *system, struct split_vectors *parts)
{
    REAL_NAME(node_vectors_free)(system, &parts->high);
    REAL_NAME(node_vectors_free)(system, &parts->low);
}

// The inverse masses of other ranks' nodes that this process does not know are 0, and their part of
// the array takes no memory as long as nothing is written there.
static void fill_masses(const struct system *system, real *mass)
{
    for (uint64_t i = 0; i < system->state->nodes;) {
        struct node_masses masses = topology_masses(system->topology, i, system->state->nodes);
        for (; i < masses.end; i++) {
            const bool free = system->constants->inverse_mass[i] != 0;
            if (free || mass[i] != 0)
                mass[i] = free ? (real)mass_in(&masses, i) : 0;
        }
    }
}

taut_status REAL_NAME(linear_solver_make)(struct system *system, struct linear_solver *solver,
                                          taut_error *error)
{
    *solver = (struct linear_solver){.system = system, .nodes = system->state->nodes};
    if (!REAL_NAME(node_vectors_make)(system, &solver->solution) ||
        !REAL_NAME(node_vectors_make)(system, &solver->residual) ||
        !REAL_NAME(node_vectors_make)(system, &solver->direction) ||
        !REAL_NAME(node_vectors_make)(system, &solver->product) ||
        !REAL_NAME(node_vectors_make)(system, &solver->image) || !make_array(system, &solver->mass))
        return fail_memory(error, "the implicit integrator");
    fill_masses(system, solver->mass);
    taut_status status = REAL_NAME(tangent_make)(system, &solver->tangent, error);
    if (status == TAUT_OK)
        status = REAL_NAME(preconditioner_make)(system, solver->tangent, solver->mass,
                                                &solver->preconditioner, error);
    return status;
}

taut_status REAL_NAME(linear_solver_refresh)(struct system *system, struct linear_solver *solver,
                                             bool stiffnesses, taut_error *error)
{
    fill_masses(system, solver->mass);
    REAL_NAME(tangent_refresh)(solver->tangent);
    if (!stiffnesses)
        return TAUT_OK;
    return REAL_NAME(preconditioner_refresh)(solver->tangent, &solver->preconditioner, error);
}

void REAL_NAME(linear_solver_free)(const struct system *system, struct linear_solver *solver)
{
    REAL_NAME(preconditioner_free)(system, &solver->preconditioner);
    REAL_NAME(tangent_free)(solver->tangent);
    REAL_NAME(node_vectors_free)(system, &solver->solution);
    REAL_NAME(node_vectors_free)(system, &solver->residual);
    REAL_NAME(node_vectors_free)(system, &solver->direction);
    REAL_NAME(node_vectors_free)(system, &solver->product);
    REAL_NAME(node_vectors_free)(system, &solver->image);
    free_array(system, solver->mass);
}

uint64_t REAL_NAME(linear_solver_bytes)(const struct linear_solver *solver)
{
    enum { ARRAYS = 5 * 3 + 1 };
    return REAL_NAME(tangent_bytes)(solver->tangent) +
           ARRAYS * guarded(solver->nodes) * sizeof(real) +
           REAL_NAME(preconditioner_bytes)(&solver->preconditioner);
}

// ---- Products. Every loop runs over groups of nodes: beyond the last node all vectors are 0

// r' P r of a chunk.
static double square_of(const struct linear_solver *solver, struct range range)
{
    double lanes[LANES] = {0};
    for (size_t g = range.first / LANES; g < group_end(range); g++) {
        struct group r = load(&solver->residual, g), z = {{{0}}};
        precondition(&solver->preconditioner.inverse[g], (const real(*)[LANES])r.v, z.v);
        add_products(lanes, &r, &z);
    }
    return add_lanes(lanes);
}

static void sum_square(const struct system *system, const void *argument, struct range range,
                       double sums[SUM_WIDTH])
{
    (void)system;
    sums[0] = square_of(argument, range);
}

static double sum_of(struct system *system, chunk_sum sum, const void *argument,
                     const struct worker *worker)
{
    double total[SUM_WIDTH];
    REAL_NAME(sum_over_known_nodes)(system, sum, argument, total, worker);
    return total[0];
}

// r' z of a chunk
static void sum_image(const struct system *system, const void *argument, struct range range,
                      double sums[SUM_WIDTH])
{
    (void)system;
    const struct linear_solver *it = argument;
    double lanes[LANES] = {0};
    for (size_t g = range.first / LANES; g < group_end(range); g++) {
        struct group r = load(&it->residual, g), z = load(&it->image, g);
        add_products(lanes, &r, &z);
    }
    sums[0] = add_lanes(lanes);
}

// A nodewise P is applied within each loop; with lines, z = P r is computed here.
static bool is_nodewise(const struct linear_solver *solver)
{
    return !solver->preconditioner.lines;
}

// Removes the constrained components from the vectors.
static void remove_constrained(const struct linear_solver *it, struct node_vectors vectors,
                               struct node_vectors removed, const struct worker *worker)
{
    if (!it->constraints)
        return;
    REAL_NAME(constraints_project_out)
    (it->constraints, REAL_NAME(shares_rows_of)(it->system, worker, 16), vectors, removed);
    worker_barrier(worker);
}

// r' P r
static double find_square(struct system *system, struct linear_solver *solver,
                          const struct worker *worker)
{
    if (is_nodewise(solver))
        return sum_of(system, sum_square, solver, worker);
    REAL_NAME(preconditioner_apply)
    (&solver->preconditioner, solver->residual, solver->image, worker);
    remove_constrained(solver, solver->image, (struct node_vectors){0}, worker);
    return sum_of(system, sum_image, solver, worker);
}

void REAL_NAME(linear_solver_update)(struct linear_solver *solver, struct linear_weights weights,
                                     struct evaluation evaluation, const struct worker *worker)
{
    // Lines need the blocks of all of their nodes, and elements add to those of any.
    const struct range rows = REAL_NAME(shares_rows)(solver->system);
    const struct range all = {0, (size_t)solver->nodes};
    const bool whole = solver->preconditioner.lines || solver->system->elements;
    if (worker->index == 0)
        REAL_NAME(tangent_set_rows)
    (solver->tangent, (struct tangent_rows){rows, whole ? all : rows});
    REAL_NAME(shares_place)(solver->system, worker);
    if (solver->system->settings.penalises) // contacts have all digits, and act on approach
        REAL_NAME(exchange_rest)(solver->system, worker);
    REAL_NAME(tangent_update)(solver->tangent, TANGENT_DEFINITE, evaluation, worker);
    REAL_NAME(preconditioner_update)
    (&solver->preconditioner, solver->tangent, (real)weights.stiffness, (real)weights.damping,
     worker);
}

double REAL_NAME(linear_solver_norm)(struct system *system, struct linear_solver *solver,
                                     const struct worker *worker)
{
    return sqrt(find_square(system, solver, worker));
}

// ---- Steps of an iteration. The sum of a chunk follows the update of its nodes

// q := the tangent's part of A p
static void multiply(const struct linear_solver *it, struct linear_weights weights,
                     const struct worker *worker)
{
    REAL_NAME(shares_collect_read)(it->system, it->direction, worker);
    REAL_NAME(tangent_apply)
    (it->tangent, (real)weights.stiffness, (real)weights.damping, it->direction, it->product,
     worker);
}

// Completes q := A p, which has the tangent's part already, and computes p' q.
static void finish_product(const struct system *system, const void *argument, struct range range,
                           double sums[SUM_WIDTH])
{
    (void)system;
    const struct linear_solver *it = argument;
    double lanes[LANES] = {0};
    for (size_t g = range.first / LANES; g < group_end(range); g++) {
        struct group p = load(&it->direction, g), q = load(&it->product, g);
        real mass[LANES];
        memcpy(mass, it->mass + g * LANES, sizeof mass);
        for (size_t c = 0; c < 3; c++)
            for (size_t i = 0; i < LANES; i++)
                q.v[c][i] += mass[i] * p.v[c][i];
        store(&it->product, g, &q);
        add_products(lanes, &p, &q);
    }
    sums[0] = add_lanes(lanes);
}

struct advance {
    const struct linear_solver *solver;
    real length;
};

// d += alpha p, r -= alpha q, and r' P r if P is nodewise.
static void advance(const struct system *system, const void *argument, struct range range,
                    double sums[SUM_WIDTH])
{
    (void)system;
    const struct advance *step = argument;
    const struct linear_solver *it = step->solver;
    const bool by_node = is_nodewise(it);
    double lanes[LANES] = {0};
    for (size_t g = range.first / LANES; g < group_end(range); g++) {
        struct group p = load(&it->direction, g), q = load(&it->product, g), z = {{{0}}};
        struct group d = add_scaled(load(&it->solution, g), step->length, &p);
        struct group r = add_scaled(load(&it->residual, g), -step->length, &q);
        store(&it->solution, g, &d);
        store(&it->residual, g, &r);
        if (!by_node)
            continue;
        precondition(&it->preconditioner.inverse[g], (const real(*)[LANES])r.v, z.v);
        add_products(lanes, &r, &z);
    }
    sums[0] = add_lanes(lanes);
}

// Makes a step of that length; returns r' P r after it.
static double move_along(struct system *system, struct linear_solver *solver, double length,
                         const struct worker *worker)
{
    struct advance step = {solver, (real)length};
    double square = sum_of(system, advance, &step, worker);
    return is_nodewise(solver) ? square : find_square(system, solver, worker);
}

// p := P r + beta p
static void update_direction(const struct linear_solver *it, real beta, const struct worker *worker)
{
    const bool by_node = is_nodewise(it);
    const struct range share = group_share(REAL_NAME(shares_rows)(it->system), worker);
    for (size_t g = share.first; g < share.end; g++) {
        struct group r = load(&it->residual, g), p = load(&it->direction, g);
        struct group z = load(&it->image, g);
        if (by_node)
            precondition(&it->preconditioner.inverse[g], (const real(*)[LANES])r.v, z.v);
        p = add_scaled(z, beta, &p);
        store(&it->direction, g, &p);
    }
    worker_barrier(worker);
}

// ---- The start

// Treats the initial guess, which is the last solution or 0, as the first direction.
static void start_from_guess(const struct linear_solver *it, bool warm, const struct worker *worker)
{
    const struct node_vectors d = it->solution, p = it->direction;
    const struct range share = it->system->exchange
                                   ? REAL_NAME(shares_rows_of)(it->system, worker, 16)
                                   : worker_share(worker, (size_t)it->nodes, 16);
    for (size_t i = share.first; i < share.end; i++) {
        if (!warm)
            d.x[i] = d.y[i] = d.z[i] = 0;
        p.x[i] = d.x[i];
        p.y[i] = d.y[i];
        p.z[i] = d.z[i];
    }
    worker_barrier(worker);
}

// (r - q)' P (r - q)
static void sum_start(const struct system *system, const void *argument, struct range range,
                      double sums[SUM_WIDTH])
{
    (void)system;
    const struct linear_solver *it = argument;
    double lanes[LANES] = {0};
    for (size_t g = range.first / LANES; g < group_end(range); g++) {
        struct group q = load(&it->product, g), z = {{{0}}};
        struct group r = add_scaled(load(&it->residual, g), -1, &q);
        precondition(&it->preconditioner.inverse[g], (const real(*)[LANES])r.v, z.v);
        add_products(lanes, &r, &z);
    }
    sums[0] = add_lanes(lanes);
}

// r += by q
static void shift(const struct linear_solver *it, real by, const struct worker *worker)
{
    const struct range share = group_share(REAL_NAME(shares_rows)(it->system), worker);
    for (size_t g = share.first; g < share.end; g++) {
        struct group q = load(&it->product, g);
        struct group r = add_scaled(load(&it->residual, g), by, &q);
        store(&it->residual, g, &r);
    }
    worker_barrier(worker);
}

// Starts from the last solution if its residual is smaller than that of 0: in smooth motion the
// change of the velocities is similar in successive steps. Returns r' P r.
static double start(struct system *system, struct linear_solver *solver,
                    struct linear_weights weights, double first, bool warm,
                    const struct worker *worker)
{
    if (warm) // a checkpoint has it for the nodes of each rank
        REAL_NAME(shares_fill)(system, solver->solution, worker);
    start_from_guess(solver, warm, worker);
    if (!warm)
        return first;
    multiply(solver, weights, worker);
    sum_of(system, finish_product, solver, worker);
    bool by_node = is_nodewise(solver);
    if (!by_node)
        shift(solver, -1, worker);
    double square =
        by_node ? sum_of(system, sum_start, solver, worker) : find_square(system, solver, worker);
    bool better = square < first;
    if (better == by_node) // not applied yet, or to be undone
        shift(solver, better ? -1 : 1, worker);
    start_from_guess(solver, better, worker);
    return better ? square : find_square(system, solver, worker);
}

// Conjugate gradients, starting from the residual whose square is given, until its norm is `goal`.
// The steps are conjugate, so their squared A-norms add up (`energy`).
static uint64_t iterate(struct system *system, struct linear_solver *solver,
                        const struct linear_task *task, double goal, double *square, double *energy,
                        const struct worker *worker)
{
    update_direction(solver, 0, worker);
    uint64_t done = 0;
    for (; *square > goal && done < task->iterations; done++) {
        multiply(solver, task->weights, worker);
        if (solver->constraints)
            remove_constrained(solver, solver->product, solver->constraints->removed, worker);
        double curvature = sum_of(system, finish_product, solver, worker);
        if (!(curvature > 0))
            break;
        const double length = *square / curvature;
        *energy += length * *square;
        if (solver->constraints)
            REAL_NAME(constraints_advance)
        (solver->constraints, REAL_NAME(shares_rows_of)(system, worker, 16), length);
        double next = move_along(system, solver, length, worker);
        update_direction(solver, (real)(next / *square), worker);
        *square = next;
    }
    return done;
}

// Iterates from the residual with the square `square`; `first` is that of the right-hand side.
static struct linear_result solve(struct system *system, struct linear_solver *solver,
                                  const struct linear_task *task, double first, double square,
                                  double goal, const struct worker *worker)
{
    double energy = 0;
    const uint64_t done = iterate(system, solver, task, goal, &square, &energy, worker);
    REAL_NAME(shares_collect)(system, solver->solution, worker);
    if (solver->constraints)
        REAL_NAME(shares_collect)(system, solver->constraints->impulse, worker);
    return (struct linear_result){
        .iterations = done,
        .energy = energy,
        .first = sqrt(first),
        .residual = first == 0 ? 0 : sqrt(square / first),
        .converged = square <= goal,
    };
}

struct linear_result REAL_NAME(linear_solver_run)(struct system *system,
                                                  struct linear_solver *solver,
                                                  const struct linear_task *task,
                                                  const struct worker *worker)
{
    const double first = find_square(system, solver, worker);
    const double goal = task->tolerance * task->tolerance * first;
    const double square = start(system, solver, task->weights, first, task->warm, worker);
    return solve(system, solver, task, first, square, goal, worker);
}

void REAL_NAME(linear_solver_begin)(struct system *system, struct linear_solver *solver,
                                    struct linear_weights weights, bool warm,
                                    const struct worker *worker)
{
    start_from_guess(solver, warm, worker);
    if (!warm)
        return;
    multiply(solver, weights, worker);
    sum_of(system, finish_product, solver, worker);
    shift(solver, -1, worker);
}

void REAL_NAME(linear_solver_shift)(struct system *system, struct linear_solver *solver,
                                    struct linear_weights weights, const struct worker *worker)
{
    multiply(solver, weights, worker);
    sum_of(system, finish_product, solver, worker);
    move_along(system, solver, 1, worker);
}

struct linear_result REAL_NAME(linear_solver_continue)(struct system *system,
                                                       struct linear_solver *solver,
                                                       const struct linear_task *task, double least,
                                                       const struct worker *worker)
{
    const double first = find_square(system, solver, worker);
    const double goal = fmax(task->tolerance * task->tolerance * first, least * least);
    return solve(system, solver, task, first, first, goal, worker);
}
