// Vectors have the run's precision; sums of products and what follows from them are in double, over
// fixed chunks, so that every number of threads goes the same way to the same end.
#include "integrate/conjugate_gradient.h"

#include <string.h>

#include "base/memory.h"
#include "state/sums.h"

// ---- Memory

// Elements before and after: as in the arrays of the state.
static size_t guarded(uint64_t nodes)
{
    return (size_t)nodes + 2 * (size_t)STATE_GUARD;
}

static bool make_array(const struct system *system, real **array)
{
    real *block = memory_allocate(system->allocator, guarded(system->state->nodes), sizeof *block);
    *array = block ? block + STATE_GUARD : NULL;
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

static size_t groups_of(uint64_t nodes)
{
    return ((size_t)nodes + LANES - 1) / LANES;
}

static void fill_masses(const struct system *system, real *mass)
{
    for (uint64_t i = 0; i < system->state->nodes;) {
        struct node_masses masses = topology_masses(system->topology, i, system->state->nodes);
        for (; i < masses.end; i++)
            mass[i] = system->constants->inverse_mass[i] == 0 ? 0 : (real)mass_in(&masses, i);
    }
}

taut_status REAL_NAME(linear_solver_make)(struct system *system, struct linear_solver *solver,
                                          taut_error *error)
{
    *solver = (struct linear_solver){.nodes = system->state->nodes};
    solver->inverse =
        memory_allocate(system->allocator, groups_of(solver->nodes), sizeof *solver->inverse);
    if (!solver->inverse || !REAL_NAME(node_vectors_make)(system, &solver->solution) ||
        !REAL_NAME(node_vectors_make)(system, &solver->residual) ||
        !REAL_NAME(node_vectors_make)(system, &solver->direction) ||
        !REAL_NAME(node_vectors_make)(system, &solver->product) ||
        !make_array(system, &solver->mass))
        return fail_memory(error, "the implicit integrator");
    fill_masses(system, solver->mass);
    return REAL_NAME(tangent_make)(system, &solver->tangent, error);
}

void REAL_NAME(linear_solver_free)(const struct system *system, struct linear_solver *solver)
{
    REAL_NAME(tangent_free)(solver->tangent);
    REAL_NAME(node_vectors_free)(system, &solver->solution);
    REAL_NAME(node_vectors_free)(system, &solver->residual);
    REAL_NAME(node_vectors_free)(system, &solver->direction);
    REAL_NAME(node_vectors_free)(system, &solver->product);
    free_array(system, solver->mass);
    memory_release(system->allocator, solver->inverse, groups_of(solver->nodes),
                   sizeof *solver->inverse);
}

uint64_t REAL_NAME(linear_solver_bytes)(const struct linear_solver *solver)
{
    enum { ARRAYS = 4 * 3 + 1 };
    return REAL_NAME(tangent_bytes)(solver->tangent) +
           ARRAYS * guarded(solver->nodes) * sizeof(real) + solver->nodes * sizeof *solver->inverse;
}

// ---- The preconditioner

// The inverse of a symmetric block plus `mass` on its diagonal, by cofactors. It is positive
// definite: the mass is positive, and the tangent's part is not negative.
static void invert_block(real block[6], double mass)
{
    double xx = (double)block[0] + mass, yy = (double)block[1] + mass, zz = (double)block[2] + mass;
    double xy = (double)block[3], xz = (double)block[4], yz = (double)block[5];
    double cxx = yy * zz - yz * yz, cxy = xz * yz - xy * zz, cxz = xy * yz - xz * yy;
    double scale = 1 / (xx * cxx + xy * cxy + xz * cxz);
    block[0] = (real)(scale * cxx);
    block[1] = (real)(scale * (xx * zz - xz * xz));
    block[2] = (real)(scale * (xx * yy - xy * xy));
    block[3] = (real)(scale * cxy);
    block[4] = (real)(scale * cxz);
    block[5] = (real)(scale * (xy * xz - xx * yz));
}

// The blocks of a group's nodes, which stand node after node, become their inverses, which stand
// entry after entry.
static void invert_group(union block_group *group, const real *mass)
{
    real turned[6][LANES];
    for (size_t lane = 0; lane < LANES; lane++) {
        real *block = group->nodes[lane];
        if (mass[lane] > 0)
            invert_block(block, (double)mass[lane]);
        for (size_t k = 0; k < 6; k++)
            turned[k][lane] = mass[lane] > 0 ? block[k] : 0;
    }
    memcpy(group->entries, turned, sizeof turned);
}

void REAL_NAME(linear_solver_update)(struct linear_solver *solver, struct linear_weights weights,
                                     struct moment moment, const struct worker *worker)
{
    REAL_NAME(tangent_update)(solver->tangent, TANGENT_DEFINITE, moment, worker);
    REAL_NAME(tangent_blocks)
    (solver->tangent, (real)weights.stiffness, (real)weights.damping, solver->inverse->nodes,
     worker);
    struct range share = worker_share(worker, groups_of(solver->nodes), 1);
    for (size_t g = share.first; g < share.end; g++)
        invert_group(&solver->inverse[g], solver->mass + g * LANES);
    worker_barrier(worker);
}

// P r of a group.
static inline void precondition(const union block_group *group, const real r[3][LANES],
                                real z[3][LANES])
{
    const real(*b)[LANES] = group->entries;
    for (size_t i = 0; i < LANES; i++)
        z[0][i] = b[0][i] * r[0][i] + b[3][i] * r[1][i] + b[4][i] * r[2][i];
    for (size_t i = 0; i < LANES; i++)
        z[1][i] = b[3][i] * r[0][i] + b[1][i] * r[1][i] + b[5][i] * r[2][i];
    for (size_t i = 0; i < LANES; i++)
        z[2][i] = b[4][i] * r[0][i] + b[5][i] * r[1][i] + b[2][i] * r[2][i];
}

// The vectors of a group.
struct group {
    real v[3][LANES];
};

static inline struct group load(const struct node_vectors *from, size_t g)
{
    struct group group = {{{0}}};
    memcpy(group.v[0], from->x + g * LANES, sizeof group.v[0]);
    memcpy(group.v[1], from->y + g * LANES, sizeof group.v[1]);
    memcpy(group.v[2], from->z + g * LANES, sizeof group.v[2]);
    return group;
}

static inline void store(const struct node_vectors *to, size_t g, const struct group *group)
{
    memcpy(to->x + g * LANES, group->v[0], sizeof group->v[0]);
    memcpy(to->y + g * LANES, group->v[1], sizeof group->v[1]);
    memcpy(to->z + g * LANES, group->v[2], sizeof group->v[2]);
}

// y + a x
static inline struct group add_scaled(struct group y, real a, const struct group *x)
{
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < LANES; i++)
            y.v[c][i] += a * x->v[c][i];
    return y;
}

static inline void add_products(double lanes[LANES], const struct group *a, const struct group *b)
{
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < LANES; i++)
            lanes[i] += (double)a->v[c][i] * (double)b->v[c][i];
}

// ---- Products. Every loop goes by groups: behind the last node all vectors are 0.

static size_t group_end(struct range range)
{
    return groups_of(range.end);
}

static double add_lanes(double lanes[LANES])
{
    for (size_t apart = LANES / 2; apart > 0; apart /= 2)
        for (size_t i = 0; i < apart; i++)
            lanes[i] += lanes[i + apart];
    return lanes[0];
}

// r' P r of a chunk.
static double square_of(const struct linear_solver *solver, struct range range)
{
    double lanes[LANES] = {0};
    for (size_t g = range.first / LANES; g < group_end(range); g++) {
        struct group r = load(&solver->residual, g), z = {{{0}}};
        precondition(&solver->inverse[g], (const real(*)[LANES])r.v, z.v);
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

static double sum_of(struct system *system, const struct linear_solver *solver, chunk_sum sum,
                     const void *argument, const struct worker *worker)
{
    double total[SUM_WIDTH];
    REAL_NAME(sum_over_chunks)(system, (size_t)solver->nodes, sum, argument, total, worker);
    return total[0];
}

double REAL_NAME(linear_solver_norm)(struct system *system, struct linear_solver *solver,
                                     const struct worker *worker)
{
    return sqrt(sum_of(system, solver, sum_square, solver, worker));
}

// ---- Steps of an iteration. A chunk's sum comes after what is done to its nodes.

// q := the tangent's part of A p
static void multiply(const struct linear_solver *it, struct linear_weights weights,
                     const struct worker *worker)
{
    REAL_NAME(tangent_apply)
    (it->tangent, (real)weights.stiffness, (real)weights.damping, it->direction, it->product,
     worker);
}

// q := A p, of which the tangent's part is there already, and p' q.
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

// d += alpha p, r -= alpha q, and r' P r.
static void advance(const struct system *system, const void *argument, struct range range,
                    double sums[SUM_WIDTH])
{
    (void)system;
    const struct advance *step = argument;
    const struct linear_solver *it = step->solver;
    double lanes[LANES] = {0};
    for (size_t g = range.first / LANES; g < group_end(range); g++) {
        struct group p = load(&it->direction, g), q = load(&it->product, g), z = {{{0}}};
        struct group d = add_scaled(load(&it->solution, g), step->length, &p);
        struct group r = add_scaled(load(&it->residual, g), -step->length, &q);
        precondition(&it->inverse[g], (const real(*)[LANES])r.v, z.v);
        store(&it->solution, g, &d);
        store(&it->residual, g, &r);
        add_products(lanes, &r, &z);
    }
    sums[0] = add_lanes(lanes);
}

// p := P r + beta p
static void turn(const struct linear_solver *it, real beta, const struct worker *worker)
{
    struct range share = worker_share(worker, groups_of(it->nodes), 2);
    for (size_t g = share.first; g < share.end; g++) {
        struct group r = load(&it->residual, g), p = load(&it->direction, g), z = {{{0}}};
        precondition(&it->inverse[g], (const real(*)[LANES])r.v, z.v);
        p = add_scaled(z, beta, &p);
        store(&it->direction, g, &p);
    }
    worker_barrier(worker);
}

// ---- The beginning

// The last solution, or 0, is where it starts from: as the first direction.
static void offer_start(const struct linear_solver *it, bool warm, const struct worker *worker)
{
    const struct node_vectors d = it->solution, p = it->direction;
    struct range share = worker_share(worker, (size_t)it->nodes, 16);
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
        precondition(&it->inverse[g], (const real(*)[LANES])r.v, z.v);
        add_products(lanes, &r, &z);
    }
    sums[0] = add_lanes(lanes);
}

// r -= q
static void take_start(const struct linear_solver *it, const struct worker *worker)
{
    struct range share = worker_share(worker, groups_of(it->nodes), 2);
    for (size_t g = share.first; g < share.end; g++) {
        struct group q = load(&it->product, g);
        struct group r = add_scaled(load(&it->residual, g), -1, &q);
        store(&it->residual, g, &r);
    }
}

// Starts from the last solution where that leaves less than 0 does: while a body moves on, its
// velocities change much as they did in the last step. Returns r' P r.
static double start(struct system *system, struct linear_solver *solver,
                    struct linear_weights weights, double first, bool warm,
                    const struct worker *worker)
{
    offer_start(solver, warm, worker);
    if (!warm)
        return first;
    multiply(solver, weights, worker);
    sum_of(system, solver, finish_product, solver, worker);
    double square = sum_of(system, solver, sum_start, solver, worker);
    bool better = square < first;
    if (better)
        take_start(solver, worker);
    offer_start(solver, better, worker);
    return better ? square : first;
}

struct linear_result REAL_NAME(linear_solver_run)(struct system *system,
                                                  struct linear_solver *solver,
                                                  const struct linear_task *task,
                                                  const struct worker *worker)
{
    const double first = sum_of(system, solver, sum_square, solver, worker);
    const double goal = task->tolerance * task->tolerance * first;
    double square = start(system, solver, task->weights, first, task->warm, worker);
    turn(solver, 0, worker);
    uint64_t done = 0;
    for (; square > goal && done < task->iterations; done++) {
        multiply(solver, task->weights, worker);
        double curvature = sum_of(system, solver, finish_product, solver, worker);
        if (!(curvature > 0))
            break;
        struct advance step = {solver, (real)(square / curvature)};
        double next = sum_of(system, solver, advance, &step, worker);
        turn(solver, (real)(next / square), worker);
        square = next;
    }
    return (struct linear_result){
        .iterations = done,
        .first = sqrt(first),
        .residual = first == 0 ? 0 : sqrt(square / first),
        .converged = square <= goal,
    };
}
