// Implicit integrators. All three end in one system of equations for the velocity V at a stage of
// the step, the place being X = x* + g V:
//
//     M (V - v*) - g F(X, V) = 0
//
//   implicit Euler     x* = x, v* = v, g = h; the stage is the end of the step
//   implicit midpoint  x* = x, v* = v, g = h/2; the stage is the middle, and the end lies as far
//                      behind it as the start before it
//   BDF2               x* = (4 x - x-) / 3, v* = (4 v - v-) / 3, g = 2h/3; the stage is the end.
//                      The first step is implicit Euler's
//
// Newton's method begins at V = v, so at the place where the nodes would be if nothing stopped
// them, and its first linear system, (M + g C + g^2 K) d = g F - M (V - v*), is all that is solved
// by default (Baraff and Witkin 1998, who linearise at x): with the forces of that place the error
// of one solve is of the order of h^2 even where the tangent leaves something out, and contacts are
// seen before nodes are inside. The tangent leaves out what would make it indefinite
// (TANGENT_DEFINITE), so that the conjugate gradients always know where to go.
//
// Springs break and yield at the start of a step, never at a place that was only tried. Nodes that
// move as told stand where they will be at the stage.
#include "integrate/implicit.h"

#include "base/memory.h"
#include "integrate/hand.h"
#include "integrate/integrate.h"
#include "state/sums.h"

taut_status REAL_NAME(implicit_make)(struct system *system, taut_error *error)
{
    struct implicit *it = memory_allocate(system->allocator, 1, sizeof *it);
    if (!it)
        return fail_memory(error, "the implicit integrator");
    system->implicit = it;
    if (!REAL_NAME(node_vectors_make)(system, &it->place) ||
        !REAL_NAME(node_vectors_make)(system, &it->velocity))
        return fail_memory(error, "the implicit integrator");
    return REAL_NAME(linear_solver_make)(system, &it->solver, error);
}

void REAL_NAME(implicit_free)(struct system *system)
{
    struct implicit *it = system->implicit;
    if (!it)
        return;
    REAL_NAME(node_vectors_free)(system, &it->place);
    REAL_NAME(node_vectors_free)(system, &it->velocity);
    REAL_NAME(linear_solver_free)(system, &it->solver);
    memory_release(system->allocator, it, 1, sizeof *it);
    system->implicit = NULL;
}

uint64_t REAL_NAME(implicit_bytes)(const struct system *system)
{
    const struct implicit *it = system->implicit;
    if (!it)
        return 0;
    return sizeof *it + 6 * (system->state->nodes + 2 * (uint64_t)STATE_GUARD) * sizeof(real) +
           REAL_NAME(linear_solver_bytes)(&it->solver);
}

// ---- A stage

// When it is, from the start of the step, and g, both in seconds.
struct stage_rule {
    double elapsed, g;
};

static struct moment stage_moment(const struct system *system, struct stage_rule stage)
{
    struct moment moment = REAL_NAME(moment_now)(system);
    moment.time += stage.elapsed;
    return moment;
}

// X = x* + g V
static void follow_velocity(struct system *system, real g, const struct worker *worker)
{
    struct state *s = system->state;
    const struct node_vectors place = system->implicit->place;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        s->x[i] = place.x[i] + g * s->vx[i];
        s->y[i] = place.y[i] + g * s->vy[i];
        s->z[i] = place.z[i] + g * s->vz[i];
    }
    worker_barrier(worker);
}

// r := g F(X, V) - M (V - v*), 0 for nodes that are not integrated.
static void find_residual(struct system *system, struct stage_rule stage,
                          const struct worker *worker)
{
    REAL_NAME(forces_look)(system, stage_moment(system, stage), worker);
    const struct state *s = system->state;
    const struct implicit *it = system->implicit;
    const struct node_vectors r = it->solver.residual, start = it->velocity;
    real g = (real)stage.g;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real mass = it->solver.mass[i], factor = mass > 0 ? g : 0;
        r.x[i] = factor * s->fx[i] - mass * (s->vx[i] - start.x[i]);
        r.y[i] = factor * s->fy[i] - mass * (s->vy[i] - start.y[i]);
        r.z[i] = factor * s->fz[i] - mass * (s->vz[i] - start.z[i]);
    }
    REAL_NAME(hand_push)(system, stage.g, share, &r);
    worker_barrier(worker);
}

// V += scale d, and X with it.
static void correct(struct system *system, double scale, struct stage_rule stage,
                    const struct worker *worker)
{
    struct state *s = system->state;
    const struct node_vectors d = system->implicit->solver.solution;
    real factor = (real)scale;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        s->vx[i] += factor * d.x[i];
        s->vy[i] += factor * d.y[i];
        s->vz[i] += factor * d.z[i];
    }
    follow_velocity(system, (real)stage.g, worker);
}

static struct linear_result solve_linear(struct system *system, struct stage_rule stage,
                                         const struct worker *worker)
{
    const struct scene_implicit *wanted = &system->settings.implicit;
    struct linear_solver *solver = &system->implicit->solver;
    struct linear_weights weights = {stage.g * stage.g, stage.g};
    REAL_NAME(hand_lean)(system, solver, weights, true, worker);
    REAL_NAME(linear_solver_update)
    (solver, weights, stage_moment(system, stage), worker);
    const struct linear_task task = {.weights = weights,
                                     .tolerance = wanted->tolerance,
                                     .iterations = wanted->iterations,
                                     .warm = wanted->newton == 1};
    struct linear_result result = REAL_NAME(linear_solver_run)(system, solver, &task, worker);
    REAL_NAME(hand_lean)(system, solver, weights, false, worker);
    if (worker->index == 0) {
        system->implicit_account.solves++;
        system->implicit_account.iterations += result.iterations;
    }
    stage_end(&system->clock, STAGE_SOLVE, worker);
    return result;
}

// `residual` of a step: relative to that at its first guess.
static void record(struct system *system, double residual, bool converged,
                   const struct worker *worker)
{
    struct implicit_account *account = &system->implicit_account;
    if (worker->index != 0)
        return;
    account->unconverged += !converged;
    if (!(residual <= account->worst_residual)) // also where it is not a number
        account->worst_residual = residual;
}

// ---- Full Newton

// Whether the correction has become so small that places, in the run's precision, do not see it:
// there the residual is round-off and falls no more.
static void sum_sizes(const struct system *system, const void *argument, struct range range,
                      double sums[SUM_WIDTH])
{
    (void)argument;
    const struct state *s = system->state;
    const struct node_vectors d = system->implicit->solver.solution;
    for (size_t i = range.first; i < range.end; i++) {
        double dx = (double)d.x[i], dy = (double)d.y[i], dz = (double)d.z[i];
        double x = (double)s->x[i], y = (double)s->y[i], z = (double)s->z[i];
        sums[0] += dx * dx + dy * dy + dz * dz;
        sums[1] += x * x + y * y + z * z;
    }
}

static bool is_lost_in_roundoff(struct system *system, double g, const struct worker *worker)
{
    const double digits = 4 * (sizeof(real) == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON);
    double sums[SUM_WIDTH];
    REAL_NAME(sum_over_chunks)
    (system, (size_t)system->state->nodes, sum_sizes, NULL, sums, worker);
    return g * g * sums[0] <= digits * digits * sums[1];
}

// After the full correction: halves it until the residual is smaller than before. Returns the norm
// of the residual that is left, by the preconditioner of the linear system.
static double search_line(struct system *system, struct stage_rule stage, double before,
                          const struct worker *worker)
{
    enum { HALVINGS = 6 };
    const double enough = 1e-4; // Armijo's fraction of what the linear model promises
    struct linear_solver *solver = &system->implicit->solver;
    find_residual(system, stage, worker);
    double norm = REAL_NAME(linear_solver_norm)(system, solver, worker);
    double scale = 1;
    for (int i = 0; i < HALVINGS && system->settings.implicit.line_search; i++) {
        if (norm <= (1 - enough * scale) * before)
            break;
        scale /= 2;
        correct(system, -scale, stage, worker);
        find_residual(system, stage, worker);
        norm = REAL_NAME(linear_solver_norm)(system, solver, worker);
    }
    return norm;
}

// Newton's method from the state's V and X. Ends with V, X and, after more than one iteration, the
// forces of the stage.
static void newton(struct system *system, struct stage_rule stage, const struct worker *worker)
{
    const struct scene_implicit *wanted = &system->settings.implicit;
    find_residual(system, stage, worker);
    double first = 0, residual = 0;
    bool converged = false;
    for (uint64_t i = 0; i < wanted->newton && !converged; i++) {
        struct linear_result linear = solve_linear(system, stage, worker);
        correct(system, 1, stage, worker);
        residual = linear.residual;
        converged = linear.converged;
        if (wanted->newton == 1)
            break;
        if (i == 0)
            first = linear.first;
        double norm = search_line(system, stage, linear.first, worker);
        residual = first == 0 ? 0 : norm / first;
        converged =
            norm <= wanted->tolerance * first || is_lost_in_roundoff(system, stage.g, worker);
    }
    record(system, residual, converged, worker);
}

// ---- The steps

// What happens at the start of a step; the account of work wants the forces there.
static void begin(struct system *system, const struct worker *worker)
{
    struct moment now = REAL_NAME(moment_now)(system);
    REAL_NAME(springs_yield)(system, worker);
    REAL_NAME(springs_break)(system, worker);
    if (!system->settings.account_work)
        return;
    REAL_NAME(forces_look)(system, now, worker);
    REAL_NAME(work_sample)(system, now, worker);
}

// x* = x, v* = v
static void start_here(struct system *system, const struct worker *worker)
{
    const struct state *s = system->state;
    const struct node_vectors place = system->implicit->place, start = system->implicit->velocity;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        place.x[i] = s->x[i];
        place.y[i] = s->y[i];
        place.z[i] = s->z[i];
        start.x[i] = s->vx[i];
        start.y[i] = s->vy[i];
        start.z[i] = s->vz[i];
    }
    worker_barrier(worker);
}

static void solve_stage(struct system *system, struct stage_rule stage, const struct worker *worker)
{
    follow_velocity(system, (real)stage.g, worker);
    REAL_NAME(motions_place)(system, stage.elapsed, worker);
    newton(system, stage, worker);
    REAL_NAME(hand_feel)(system, worker);
}

void REAL_NAME(implicit_euler)(struct system *system, const struct worker *worker)
{
    double h = system->settings.dt;
    begin(system, worker);
    start_here(system, worker);
    solve_stage(system, (struct stage_rule){.elapsed = h, .g = h}, worker);
    REAL_NAME(motions_advance)(system, h, worker);
}

// From the middle to the end: x = x* + 2 (X - x*), v = v* + 2 (V - v*).
static void reflect(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    const struct node_vectors place = system->implicit->place, start = system->implicit->velocity;
    real h = (real)system->settings.dt;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        s->x[i] = place.x[i] + h * s->vx[i];
        s->y[i] = place.y[i] + h * s->vy[i];
        s->z[i] = place.z[i] + h * s->vz[i];
        s->vx[i] = 2 * s->vx[i] - start.x[i];
        s->vy[i] = 2 * s->vy[i] - start.y[i];
        s->vz[i] = 2 * s->vz[i] - start.z[i];
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

void REAL_NAME(implicit_midpoint)(struct system *system, const struct worker *worker)
{
    double h = system->settings.dt;
    begin(system, worker);
    start_here(system, worker);
    solve_stage(system, (struct stage_rule){.elapsed = h / 2, .g = h / 2}, worker);
    reflect(system, worker);
    REAL_NAME(motions_advance)(system, h, worker);
}

// x* and v* from two states; the present one becomes the one before.
static void start_from_two(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    const struct node_vectors place = system->implicit->place, start = system->implicit->velocity;
    const real third = (real)(1.0 / 3);
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        place.x[i] = s->x[i] + third * (s->x[i] - s->x0[i]);
        place.y[i] = s->y[i] + third * (s->y[i] - s->y0[i]);
        place.z[i] = s->z[i] + third * (s->z[i] - s->z0[i]);
        start.x[i] = s->vx[i] + third * (s->vx[i] - s->vx0[i]);
        start.y[i] = s->vy[i] + third * (s->vy[i] - s->vy0[i]);
        start.z[i] = s->vz[i] + third * (s->vz[i] - s->vz0[i]);
    }
    worker_barrier(worker);
}

void REAL_NAME(bdf2)(struct system *system, const struct worker *worker)
{
    double h = system->settings.dt;
    bool first = system->state->step == system->state->memory_from;
    begin(system, worker);
    if (first)
        start_here(system, worker);
    else
        start_from_two(system, worker);
    REAL_NAME(remember_start)(system, worker);
    worker_barrier(worker);
    solve_stage(system, (struct stage_rule){.elapsed = h, .g = first ? h : 2 * h / 3}, worker);
    REAL_NAME(motions_advance)(system, h, worker);
}
