// Vectors have the run's precision; products and what follows from them are in double, over fixed
// chunks, so that every number of threads goes the same way to the same end.
#include "integrate/conjugate_gradient.h"

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
        memory_allocate(system->allocator, (size_t)solver->nodes, sizeof *solver->inverse);
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
    memory_release(system->allocator, solver->inverse, (size_t)solver->nodes,
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

void REAL_NAME(linear_solver_update)(struct linear_solver *solver, struct linear_weights weights,
                                     struct moment moment, const struct worker *worker)
{
    REAL_NAME(tangent_update)(solver->tangent, TANGENT_DEFINITE, moment, worker);
    REAL_NAME(tangent_blocks)
    (solver->tangent, (real)weights.stiffness, (real)weights.damping, solver->inverse, worker);
    struct range share = worker_share(worker, (size_t)solver->nodes, 16);
    for (size_t i = share.first; i < share.end; i++) {
        if (solver->mass[i] > 0)
            invert_block(solver->inverse[i], (double)solver->mass[i]);
        else
            for (int k = 0; k < 6; k++)
                solver->inverse[i][k] = 0;
    }
    worker_barrier(worker);
}

struct triple {
    real x, y, z;
};

// P r of a node.
static inline struct triple preconditioned(const struct linear_solver *solver, size_t i)
{
    const real *b = solver->inverse[i];
    real x = solver->residual.x[i], y = solver->residual.y[i], z = solver->residual.z[i];
    return (struct triple){b[0] * x + b[3] * y + b[4] * z, b[3] * x + b[1] * y + b[5] * z,
                           b[4] * x + b[5] * y + b[2] * z};
}

// ---- Products

// Sums of every eighth node, so that no addition waits for the one before; added in one order.
enum { LANES = 8 };

static double add_lanes(const double lanes[LANES])
{
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

static double dot(const struct node_vectors *a, const struct node_vectors *b, struct range range)
{
    double lanes[LANES] = {0};
    size_t i = range.first;
    for (; i + LANES <= range.end; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += (double)a->x[i + lane] * (double)b->x[i + lane] +
                           (double)a->y[i + lane] * (double)b->y[i + lane] +
                           (double)a->z[i + lane] * (double)b->z[i + lane];
    for (size_t lane = 0; i < range.end; i++, lane++)
        lanes[lane] += (double)a->x[i] * (double)b->x[i] + (double)a->y[i] * (double)b->y[i] +
                       (double)a->z[i] * (double)b->z[i];
    return add_lanes(lanes);
}

// r' P r of a chunk.
static double square_of(const struct linear_solver *solver, struct range range)
{
    double lanes[LANES] = {0};
    const struct node_vectors *r = &solver->residual;
    for (size_t i = range.first; i < range.end; i++) {
        struct triple z = preconditioned(solver, i);
        lanes[i % LANES] += (double)r->x[i] * (double)z.x + (double)r->y[i] * (double)z.y +
                            (double)r->z[i] * (double)z.z;
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

// q := A p, of which the tangent's part is there already, and p' q.
static void finish_product(const struct system *system, const void *argument, struct range range,
                           double sums[SUM_WIDTH])
{
    (void)system;
    const struct linear_solver *it = argument;
    const struct node_vectors p = it->direction, q = it->product;
    for (size_t i = range.first; i < range.end; i++) {
        q.x[i] += it->mass[i] * p.x[i];
        q.y[i] += it->mass[i] * p.y[i];
        q.z[i] += it->mass[i] * p.z[i];
    }
    sums[0] = dot(&p, &q, range);
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
    const struct node_vectors d = it->solution, r = it->residual, p = it->direction,
                              q = it->product;
    real alpha = step->length;
    for (size_t i = range.first; i < range.end; i++) {
        d.x[i] += alpha * p.x[i];
        d.y[i] += alpha * p.y[i];
        d.z[i] += alpha * p.z[i];
        r.x[i] -= alpha * q.x[i];
        r.y[i] -= alpha * q.y[i];
        r.z[i] -= alpha * q.z[i];
    }
    sums[0] = square_of(it, range);
}

// p := P r + beta p
static void turn(const struct linear_solver *it, real beta, const struct worker *worker)
{
    const struct node_vectors p = it->direction;
    struct range share = worker_share(worker, (size_t)it->nodes, 16);
    for (size_t i = share.first; i < share.end; i++) {
        struct triple z = preconditioned(it, i);
        p.x[i] = z.x + beta * p.x[i];
        p.y[i] = z.y + beta * p.y[i];
        p.z[i] = z.z + beta * p.z[i];
    }
    worker_barrier(worker);
}

static void clear(const struct linear_solver *it, const struct worker *worker)
{
    const struct node_vectors d = it->solution, p = it->direction;
    struct range share = worker_share(worker, (size_t)it->nodes, 16);
    for (size_t i = share.first; i < share.end; i++) {
        d.x[i] = d.y[i] = d.z[i] = 0;
        p.x[i] = p.y[i] = p.z[i] = 0;
    }
}

struct linear_result REAL_NAME(linear_solver_run)(struct system *system,
                                                  struct linear_solver *solver,
                                                  struct linear_weights weights, double tolerance,
                                                  uint64_t iterations, const struct worker *worker)
{
    clear(solver, worker);
    turn(solver, 0, worker);
    double square = sum_of(system, solver, sum_square, solver, worker);
    const double first = square, goal = tolerance * tolerance * first;
    uint64_t done = 0;
    for (; square > goal && done < iterations; done++) {
        REAL_NAME(tangent_apply)
        (solver->tangent, (real)weights.stiffness, (real)weights.damping, solver->direction,
         solver->product, worker);
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
