// Implicit integrators. All three end in one system of equations for the velocity V at a stage of
// the step, the position being X = x* + g V:
//
//     M (V - v*) - g F(X, V) = 0
//
//   implicit Euler     x* = x, v* = v, g = h; the stage is the end of the step
//   implicit midpoint  x* = x, v* = v, g = h/2; the stage is the midpoint, from which the state at
//                      the end is extrapolated
//   BDF2               x* = (4 x - x-) / 3, v* = (4 v - v-) / 3, g = 2h/3; the stage is the end.
//                      The first step is one of implicit Euler
//
// Newton's method starts at V = v, that is, at the positions of unconstrained motion. By default
// only its first linear system, (M + g C + g^2 K) d = g F - M (V - v*), is solved (Baraff and
// Witkin 1998, who linearise at x): with the forces at those positions the error of one solve is of
// order h^2 even where the tangent is incomplete, and contacts act before nodes are inside. The
// tangent omits the terms that would make it indefinite (TANGENT_DEFINITE), because conjugate
// gradients need a positive definite matrix.
//
// A step with contacts of projecting colliders is solved again, with these contacts as constraints
// (below). An impact rotates stiff springs so far that the energy error of a single linear system
// is a multiple of the energy of the motion, but few steps have an impact. The energy at the end of
// a step, less the external work, shows whether the step needs further systems.
//
// Springs break and yield at the start of a step, never at an intermediate guess. Kinematic nodes
// have their prescribed positions at the time of the stage. implicit_end.c cuts the motion of a
// step, and changes the memory of friction; implicit_energy.c measures its energy.
#include "integrate/implicit.h"

#include "base/memory.h"
#include "contact/friction.h"
#include "contact/tangent.h"
#include "integrate/constraints.h"
#include "integrate/mouse_spring.h"
#include "integrate/integrate.h"
#include "springs/exchange.h"
#include "springs/shares.h"
#include "state/reading.h"

taut_status REAL_NAME(implicit_make)(struct system *system, taut_error *error)
{
    struct implicit *it = memory_allocate(system->allocator, 1, sizeof *it);
    if (!it)
        return fail_memory(error, "the implicit integrator");
    system->implicit = it;
    if (!REAL_NAME(split_vectors_make)(system, &it->base) ||
        !REAL_NAME(split_vectors_make)(system, &it->velocity))
        return fail_memory(error, "the implicit integrator");
    if (keeps_cuts(system) && (!REAL_NAME(node_vectors_make)(system, &it->start_force) ||
                               !REAL_NAME(node_vectors_make)(system, &it->uncut)))
        return fail_memory(error, "the energy budget of an implicit integrator");
    if (!REAL_NAME(friction_assumptions_make)(system))
        return fail_memory(error, "friction in implicit steps");
    return REAL_NAME(linear_solver_make)(system, &it->solver, error);
}

taut_status REAL_NAME(implicit_refresh)(struct system *system, bool stiffnesses, taut_error *error)
{
    struct implicit *it = system->implicit;
    return it ? REAL_NAME(linear_solver_refresh)(system, &it->solver, stiffnesses, error) : TAUT_OK;
}

void REAL_NAME(implicit_free)(struct system *system)
{
    struct implicit *it = system->implicit;
    if (!it)
        return;
    REAL_NAME(friction_assumptions_free)(system);
    REAL_NAME(split_vectors_free)(system, &it->base);
    REAL_NAME(split_vectors_free)(system, &it->velocity);
    REAL_NAME(node_vectors_free)(system, &it->start_force);
    REAL_NAME(node_vectors_free)(system, &it->uncut);
    REAL_NAME(linear_solver_free)(system, &it->solver);
    memory_release(system->allocator, it, 1, sizeof *it);
    system->implicit = NULL;
}

uint64_t REAL_NAME(implicit_bytes)(const struct system *system)
{
    const struct implicit *it = system->implicit;
    if (!it)
        return 0;
    const uint64_t vectors = (state_is_mixed(system->state) ? 4 : 2) + 2 * keeps_cuts(system);
    return sizeof *it +
           3 * vectors * (system->state->nodes + 2 * (uint64_t)STATE_GUARD) * sizeof(real) +
           REAL_NAME(friction_assumptions_bytes)(system) +
           REAL_NAME(linear_solver_bytes)(&it->solver);
}

// ---- A stage

static struct evaluation stage_evaluation(const struct system *system, struct stage_rule stage)
{
    struct evaluation evaluation = REAL_NAME(evaluation_now)(system);
    evaluation.time += stage.elapsed;
    return evaluation;
}

// X = x* + g V
static void follow_velocity(struct system *system, real g, const struct worker *worker)
{
    struct state *s = system->state;
    const struct split_vectors base = system->implicit->base, to = state_positions(s);
    struct range share = node_share(system, worker);
    const bool mixed = state_is_mixed(s);
    for (size_t i = share.first; mixed && i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        split_copy(to, base, i);
        split_add(to, i, g * s->vx[i], g * s->vy[i], g * s->vz[i]);
    }
    for (size_t i = share.first; !mixed && i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        split_copy(split_high(to), split_high(base), i);
        split_add(split_high(to), i, g * s->vx[i], g * s->vy[i], g * s->vz[i]);
    }
    worker_barrier(worker);
}

// r := g F(X, V) - M (V - v*), 0 for nodes that are not integrated, in the rows of this process
// (springs/shares.h).
static void find_residual(struct system *system, struct stage_rule stage,
                          const struct worker *worker)
{
    REAL_NAME(forces_evaluate_without_breaking)(system, stage_evaluation(system, stage), worker);
    const struct state *s = system->state;
    const struct implicit *it = system->implicit;
    const struct node_vectors r = it->solver.residual;
    const struct split_vectors start = it->velocity, now = state_velocities(s);
    real g = (real)stage.g;
    struct range share = node_share(system, worker);
    const bool mixed = state_is_mixed(s);
    for (size_t i = share.first; mixed && i < share.end; i++) {
        real mass = it->solver.mass[i], factor = mass > 0 ? g : 0;
        const struct split_difference change = split_subtract(now, start, i);
        r.x[i] = factor * s->fx[i] - mass * change.x;
        r.y[i] = factor * s->fy[i] - mass * change.y;
        r.z[i] = factor * s->fz[i] - mass * change.z;
    }
    for (size_t i = share.first; !mixed && i < share.end; i++) {
        real mass = it->solver.mass[i], factor = mass > 0 ? g : 0;
        r.x[i] = factor * s->fx[i] - mass * (s->vx[i] - start.high.x[i]);
        r.y[i] = factor * s->fy[i] - mass * (s->vy[i] - start.high.y[i]);
        r.z[i] = factor * s->fz[i] - mass * (s->vz[i] - start.high.z[i]);
    }
    REAL_NAME(mouse_spring_add_force)(system, stage.g, share, &r);
    worker_barrier(worker);
    REAL_NAME(shares_fill)(system, r, worker);
}

// V += scale d, and X with it.
static void correct(struct system *system, double scale, struct stage_rule stage,
                    const struct worker *worker)
{
    const struct split_vectors v = state_velocities(system->state);
    const struct node_vectors d = system->implicit->solver.solution;
    real factor = (real)scale;
    struct range share = node_share(system, worker);
    const bool mixed = state_is_mixed(system->state);
    if (worker->index == 0) {
        system->implicit->colliders.applied += scale;
        system->implicit->revised += scale;
    }
    for (size_t i = share.first; mixed && i < share.end; i++)
        split_add(v, i, factor * d.x[i], factor * d.y[i], factor * d.z[i]);
    for (size_t i = share.first; !mixed && i < share.end; i++)
        split_add(split_high(v), i, factor * d.x[i], factor * d.y[i], factor * d.z[i]);
    follow_velocity(system, (real)stage.g, worker);
}

static struct linear_result solve_linear(struct system *system, struct stage_rule stage, bool warm,
                                         const struct worker *worker)
{
    const struct scene_implicit *wanted = &system->settings.implicit;
    struct linear_solver *solver = &system->implicit->solver;
    struct linear_weights weights = {stage.g * stage.g, stage.g};
    REAL_NAME(mouse_spring_add_tangent)(system, solver, weights, true, worker);
    REAL_NAME(linear_solver_update)
    (solver, weights, stage_evaluation(system, stage), worker);
    const struct linear_task task = {.weights = weights,
                                     .tolerance = wanted->tolerance,
                                     .iterations = wanted->iterations,
                                     .warm = warm};
    struct linear_result result = REAL_NAME(linear_solver_run)(system, solver, &task, worker);
    REAL_NAME(mouse_spring_add_tangent)(system, solver, weights, false, worker);
    if (worker->index == 0) {
        system->implicit_statistics.solves++;
        system->implicit_statistics.iterations += result.iterations;
    }
    stage_end(&system->clock, STAGE_SOLVE, worker);
    return result;
}

// `residual` of a step is relative to that of its initial guess.
static void record(struct system *system, double residual, bool converged,
                   const struct worker *worker)
{
    struct implicit_statistics *statistics = &system->implicit_statistics;
    if (worker->index != 0)
        return;
    statistics->unconverged += !converged;
    if (!(residual <= statistics->worst_residual)) // also if it is not a number
        statistics->worst_residual = residual;
}

// ---- Full Newton

// Whether the correction is below the resolution of positions in the run's precision: from then on
// the residual is round-off and does not decrease.
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
    REAL_NAME(sum_over_nodes)(system, sum_sizes, NULL, sums, worker);
    return g * g * sums[0] <= digits * digits * sums[1];
}

// After the full correction: halves it until the residual is smaller than before. Returns the norm
// of the residual, weighted by the preconditioner of the linear system.
static double search_line(struct system *system, struct stage_rule stage, double before,
                          const struct worker *worker)
{
    enum { HALVINGS = 6 };
    const double enough = 1e-4; // Armijo's fraction of the decrease that the linear model predicts
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

// A system is solved again while forces of friction change by more than this fraction of all of
// them: at most so many times.
static const double FRICTION_CHANGES = 0.01;

enum { SOLVES_OF_FRICTION = 8 };

// A linear system may pull at contacts, which do not, and those that push then have as much more
// friction. Where it pulls by more than this fraction, or friction still changes, further systems
// follow, from the state that the solution leads to: at most so many.
static const double FRICTION_PULLS = 0.02;

enum { SYSTEMS_OF_FRICTION = 10 };

// For the solution of the system at the present state: whether it is to be solved again.
static bool friction_changes(struct system *system, struct stage_rule stage, bool *settled,
                             const struct worker *worker)
{
    struct implicit *it = system->implicit;
    const struct friction_revision found =
        REAL_NAME(friction_revise)(system, stage_evaluation(system, stage).time, stage.g,
                                   it->revised, it->solver.solution, worker);
    worker_barrier(worker); // all have read it
    if (worker->index == 0)
        it->revised = 0;
    const bool changes = found.change > FRICTION_CHANGES;
    *settled = !changes && found.pull <= FRICTION_PULLS;
    return changes;
}

// Solves the system at the present state, whose residual is known, until friction is what it
// assumes. `settled`: it is, and no contact pulls.
static struct linear_result solve_with_friction(struct system *system, struct stage_rule stage,
                                                bool *settled, const struct worker *worker)
{
    const bool single = system->settings.implicit.newton == 1;
    struct linear_result result = solve_linear(system, stage, single, worker);
    for (int i = 1; friction_changes(system, stage, settled, worker) && i < SOLVES_OF_FRICTION;
         i++) {
        const bool same = result.converged && result.iterations == 0;
        find_residual(system, stage, worker);
        result = solve_linear(system, stage, true, worker);
        result.iterations += !same;
    }
    return result;
}

// Newton's method from the state's V and X. Ends with V, X and, after more than one iteration, the
// forces of the stage. Returns whether the last solution was reused without an iteration, as in
// free fall.
static bool newton(struct system *system, struct stage_rule stage, const struct worker *worker)
{
    const struct scene_implicit *wanted = &system->settings.implicit;
    const bool single = wanted->newton == 1;
    const uint64_t most = single ? SYSTEMS_OF_FRICTION : wanted->newton;
    find_residual(system, stage, worker);
    double first = 0, residual = 0;
    bool converged = false, same = true;
    for (uint64_t i = 0; i < most && !converged; i++) {
        bool settled = true;
        struct linear_result linear = solve_with_friction(system, stage, &settled, worker);
        same &= linear.converged && linear.iterations == 0;
        REAL_NAME(implicit_note_colliders)(system, stage.g, worker);
        correct(system, 1, stage, worker);
        residual = linear.residual;
        converged = linear.converged;
        if (single && (settled || i + 1 == most))
            break;
        if (i == 0)
            first = linear.first;
        double norm = search_line(system, stage, linear.first, worker);
        residual = first == 0 ? 0 : norm / first;
        converged = norm <= wanted->tolerance * first;
        if (!converged && is_lost_in_roundoff(system, stage.g, worker)) {
            converged = true;
            residual = 0; // the remainder is rounding, however much of the first it is
        }
    }
    record(system, residual, converged, worker);
    return same;
}

// ---- The steps

// The start of a step; the energy budget uses the forces there. Returns false if gas has no volume
// left.
static bool begin(struct system *system, const struct worker *worker)
{
    struct evaluation now = REAL_NAME(evaluation_now)(system);
    if (worker->index == 0) {
        REAL_NAME(implicit_reuse_energy)(system);
        system->implicit->times = POWERS_AT_BOTH_ENDS;
    }
    REAL_NAME(springs_yield)(system, worker);
    REAL_NAME(springs_break)(system, 0, worker);
    const bool budget = system->settings.keep_energy_budget;
    if (system->surface_contact)
        REAL_NAME(surface_contact_expect)(system, system->settings.dt, worker);
    if (budget)
        REAL_NAME(forces_evaluate_without_breaking)(system, now, worker);
    else if (system->surface_contact) // the sides of surfaces that the step starts from
        REAL_NAME(surface_contact_find)(system, now, worker);
    if (!budget && topology_has_gas(system->topology))
        REAL_NAME(volumes_measure)(system, now.time, false, worker);
    if (gas_has_collapsed(system))
        return false;
    if (budget) {
        REAL_NAME(implicit_note_start)(system, worker);
        REAL_NAME(work_sample)(system, now, worker);
        REAL_NAME(work_follows_impact)(system, worker);
    }
    return true;
}

// x* = x, v* = v
static void start_from_state(struct system *system, const struct worker *worker)
{
    const struct split_vectors x = state_positions(system->state), base = system->implicit->base;
    const struct split_vectors v = state_velocities(system->state);
    const struct split_vectors start = system->implicit->velocity;
    struct range share = node_share(system, worker);
    const bool mixed = state_is_mixed(system->state);
    for (size_t i = share.first; mixed && i < share.end; i++) {
        split_copy(base, x, i);
        split_copy(start, v, i);
    }
    for (size_t i = share.first; !mixed && i < share.end; i++) {
        split_copy(split_high(base), split_high(x), i);
        split_copy(split_high(start), split_high(v), i);
    }
    worker_barrier(worker);
}

static bool solve_stage(struct system *system, struct stage_rule stage, const struct worker *worker)
{
    REAL_NAME(friction_predict)(system, stage.g, worker);
    REAL_NAME(implicit_forget_colliders)(system, stage, worker);
    follow_velocity(system, (real)stage.g, worker);
    REAL_NAME(kinematic_set_positions)(system, stage.elapsed, worker);
    const bool same = newton(system, stage, worker);
    REAL_NAME(mouse_spring_store_force)(system, worker);
    return same;
}

// to := 2 V - v*; with low parts V + (V - v*), whose rounding is one of the difference.
static void mirror(struct split_vectors to, struct split_vectors v, struct split_vectors start,
                   size_t i)
{
    if (v.low.x) {
        const struct split_difference more = split_subtract(v, start, i);
        split_copy(to, v, i);
        split_add(to, i, more.x, more.y, more.z);
        return;
    }
    to.high.x[i] = 2 * v.high.x[i] - start.high.x[i];
    to.high.y[i] = 2 * v.high.y[i] - start.high.y[i];
    to.high.z[i] = 2 * v.high.z[i] - start.high.z[i];
}

// Moves the state from the middle to the end: x = x* + 2 (X - x*), v = v* + 2 (V - v*).
static void reflect(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    const struct split_vectors base = system->implicit->base, start = system->implicit->velocity;
    const struct split_vectors x = state_positions(s), v = state_velocities(s);
    real h = (real)system->settings.dt;
    struct range share = node_share(system, worker);
    const bool mixed = state_is_mixed(s);
    for (size_t i = share.first; mixed && i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        split_copy(x, base, i);
        split_add(x, i, h * s->vx[i], h * s->vy[i], h * s->vz[i]);
        mirror(v, v, start, i);
    }
    for (size_t i = share.first; !mixed && i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        split_copy(split_high(x), split_high(base), i);
        split_add(split_high(x), i, h * s->vx[i], h * s->vy[i], h * s->vz[i]);
        s->vx[i] = 2 * s->vx[i] - start.high.x[i];
        s->vy[i] = 2 * s->vy[i] - start.high.y[i];
        s->vz[i] = 2 * s->vz[i] - start.high.z[i];
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

// ---- Contacts
//
// A step in which no node ends inside a projecting collider is the one above. Otherwise it is
// repeated from its start with constraints (constraints.c): first for all nodes that ended inside,
// then also for those that penetrate once these are stopped, and without those that would pull.

// How the end of a step follows from its stage. `mirrored`: the stage is the midpoint.
static struct end_rule end_of_step(const struct system *system, struct stage_rule stage,
                                   bool mirrored)
{
    return (struct end_rule){
        .time = step_time(system, system->state->step + 1),
        .g = stage.g,
        .travel = mirrored ? 2 * stage.g : stage.g,
        .base = system->implicit->base,
        .start = start_positions(system),
        .start_velocity = start_velocities(system),
        .start_time = REAL_NAME(evaluation_now)(system).time,
        .mirrored = mirrored,
    };
}

// Positions and velocities at the end of the step, from those of the stage.
static void store_free(struct system *system, const struct end_rule *rule,
                       const struct worker *worker)
{
    const struct state *s = system->state;
    const struct split_vectors end = system->contacts.constraints->free_position;
    const struct split_vectors free = system->contacts.constraints->free_velocity;
    const real travel = (real)rule->travel;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        split_copy(end, rule->base, i);
        split_add(end, i, travel * s->vx[i], travel * s->vy[i], travel * s->vz[i]);
        if (rule->mirrored)
            mirror(free, state_velocities(s), rule->start_velocity, i);
        else
            split_copy(free, state_velocities(s), i);
    }
    worker_barrier(worker);
}

// Restores the velocities, and for bdf2 the positions, at the start of the step.
static void restore_start(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    const struct split_vectors positions = start_positions(system),
                               velocities = start_velocities(system);
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        split_copy(state_positions(s), positions, i);
        split_copy(state_velocities(s), velocities, i);
    }
    worker_barrier(worker);
}

// The result of a linear system with constraints.
struct constrained_result {
    double energy; // J, d'A d
    bool same;     // the constraints have not changed
};

// Solves the linear system at the present state, adding and releasing constraints as needed. Ends
// at a residual of the norm `least`; 0: at the fraction of the initial one that the scene allows.
static struct constrained_result solve_constrained(struct system *system, struct stage_rule stage,
                                                   const struct end_rule *rule, bool warm,
                                                   double least, const struct worker *worker)
{
    // Releasing constraints ends earlier, so that the rounds cannot cycle.
    enum { ROUNDS = 8, ROUNDS_THAT_RELEASE = 4 };
    const struct scene_implicit *wanted = &system->settings.implicit;
    struct linear_solver *solver = &system->implicit->solver;
    struct linear_weights weights = {stage.g * stage.g, stage.g};
    const struct linear_task task = {
        .weights = weights, .tolerance = wanted->tolerance, .iterations = wanted->iterations};
    REAL_NAME(mouse_spring_add_tangent)(system, solver, weights, true, worker);
    REAL_NAME(linear_solver_update)(solver, weights, stage_evaluation(system, stage), worker);
    REAL_NAME(linear_solver_begin)(system, solver, weights, warm, worker);
    struct linear_result result = {0};
    struct constrained_result found = {.same = true};
    double residual = 0, first = 0;
    uint64_t iterations = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const bool releases = round > 0 && round <= ROUNDS_THAT_RELEASE;
        if (round > 0 && !REAL_NAME(constraints_find)(system, rule, solver, releases, worker))
            break;
        found.same = round == 0;
        REAL_NAME(constraints_find_direction)(system, rule, solver, worker);
        REAL_NAME(linear_solver_shift)(system, solver, weights, worker);
        REAL_NAME(constraints_filter)(system, solver, round == 0, worker);
        if (worker->index == 0)
            solver->constraints = system->contacts.constraints;
        worker_barrier(worker);
        result = REAL_NAME(linear_solver_continue)(system, solver, &task,
                                                   fmax(least, wanted->tolerance * first), worker);
        first = fmax(first, result.first);
        residual = first > 0 ? result.residual * result.first / first : 0;
        iterations += result.iterations;
        found.energy += result.energy;
    }
    REAL_NAME(mouse_spring_add_tangent)(system, solver, weights, false, worker);
    worker_barrier(worker);
    if (worker->index == 0) {
        solver->constraints = NULL;
        system->implicit_statistics.solves++;
        system->implicit_statistics.iterations += iterations;
    }
    record(system, result.converged && least > 0 ? 0 : residual, result.converged, worker);
    REAL_NAME(implicit_note_colliders)(system, stage.g, worker);
    stage_end(&system->clock, STAGE_SOLVE, worker);
    return found;
}

// r' d
static void sum_slopes(const struct system *system, const void *argument, struct range range,
                       double sums[SUM_WIDTH])
{
    (void)argument;
    const struct node_vectors r = system->implicit->solver.residual;
    const struct node_vectors d = system->implicit->solver.solution;
    for (size_t i = range.first; i < range.end; i++)
        sums[0] += (double)r.x[i] * (double)d.x[i] + (double)r.y[i] * (double)d.y[i] +
                   (double)r.z[i] * (double)d.z[i];
}

// The energy of the residual, r' P r, J, with the P of the last linear system with constraints.
static double residual_energy(struct system *system, const struct worker *worker)
{
    struct linear_solver *solver = &system->implicit->solver;
    if (worker->index == 0)
        solver->constraints = system->contacts.constraints;
    worker_barrier(worker);
    const double norm = REAL_NAME(linear_solver_norm)(system, solver, worker);
    worker_barrier(worker);
    if (worker->index == 0)
        solver->constraints = NULL;
    return norm * norm;
}

// V += scale d. A line search shortens a correction that overshoots: the slope r' d is d'A d at
// scale 0, and the root of its linear interpolation is taken. Ends with the residual of the new V.
static void apply_correction(struct system *system, struct stage_rule stage,
                             const struct constrained_result *found, bool searches,
                             const struct worker *worker)
{
    enum { CUTS = 6 };
    const double overshoot = 0.5, least = 0.1;
    double scale = 1, slopes[SUM_WIDTH];
    correct(system, 1, stage, worker);
    find_residual(system, stage, worker);
    for (int cut = 0; searches && cut < CUTS; cut++) {
        REAL_NAME(sum_over_chunks)
        (system, (size_t)system->state->nodes, sum_slopes, NULL, slopes, worker);
        if (!(slopes[0] < -overshoot * found->energy))
            break;
        const double shorter = scale * fmax(least, found->energy / (found->energy - slopes[0]));
        correct(system, shorter - scale, stage, worker);
        find_residual(system, stage, worker);
        scale = shorter;
    }
}

// Whether surfaces have passed through each other in the step: further systems push them back.
static bool surfaces_cross(struct system *system, const struct worker *worker)
{
    const struct evaluation end = {step_time(system, system->state->step + 1),
                                   system->state->step + 1, false};
    if (!system->surface_contact)
        return false;
    REAL_NAME(surface_contact_find)(system, end, worker);
    const bool cross = REAL_NAME(surface_contact_crossed)(system);
    worker_barrier(worker); // all have read it
    return cross;
}

// Whether surfaces have passed through each other at the state of the system that has just been
// solved, before positions change forces again. Its solution may be free of that, but includes the
// forces of everything that passed, also of parts that did so only because others had before: the
// upright edges of a body that has come through a floor meet the edges of that, which stop it along
// the floor. The next system no longer has those.
static bool system_had_crossed(const struct system *system, const struct worker *worker)
{
    const bool crossed = system->surface_contact && REAL_NAME(surface_contact_crossed)(system);
    worker_barrier(worker); // all have read it
    return crossed;
}

// Solves further systems after the first one of a step of implicit Euler, until the energy of the
// residual is a small part of the energy of the motion, so that the error of velocities is at most
// a hundredth. Where the energy is `checked`, it stops as soon as no energy is gained, or at a
// ten-thousandth of that part. A linear system is solved no more exactly than this goal requires.
static void solve_further(struct system *system, struct stage_rule stage,
                          const struct end_rule *rule, bool checked, const struct worker *worker)
{
    enum { SYSTEMS = 100, SYSTEMS_OF_CROSSING = 20 };
    const double part = 1e-4, part_of_checked = 1e-4, exact = checked ? 0.1 : 1e-3;
    const struct scene_implicit *wanted = &system->settings.implicit;
    const uint64_t most = wanted->newton > SYSTEMS ? wanted->newton : SYSTEMS;
    const double enough = (wanted->newton > 1 ? fmin(part, wanted->tolerance) : part) *
                          REAL_NAME(implicit_energy_of_motion)(system, worker);
    const double least = checked && wanted->newton == 1 ? part_of_checked * enough : enough;
    find_residual(system, stage, worker);
    for (uint64_t i = 1; i < most; i++) {
        const double left = residual_energy(system, worker);
        if (left <= least)
            break;
        // The residual of a linear system is missing from the momentum of bodies that collide.
        const double goal = system->surface_contact ? 0 : sqrt(exact * fmin(left, enough));
        bool settled = true;
        struct constrained_result found =
            solve_constrained(system, stage, rule, false, goal, worker);
        for (int k = 1; friction_changes(system, stage, &settled, worker) && k < SOLVES_OF_FRICTION;
             k++) {
            find_residual(system, stage, worker);
            found = solve_constrained(system, stage, rule, false, goal, worker);
        }
        const bool crossed = system_had_crossed(system, worker);
        apply_correction(system, stage, &found, found.same, worker);
        if (!checked || wanted->newton > 1)
            continue;
        REAL_NAME(constraints_finish)(system, rule, worker); // the work of moving surfaces
        if (!REAL_NAME(implicit_gains_energy)(system, stage, worker) &&
            (settled || i >= SYSTEMS_OF_FRICTION) &&
            (i >= SYSTEMS_OF_CROSSING || (!crossed && !surfaces_cross(system, worker))))
            break;
    }
    REAL_NAME(constraints_finish)(system, rule, worker);
    REAL_NAME(mouse_spring_store_force)(system, worker);
}

// Solves the step again, with constraints for the contacts found at its end. The first system moves
// the nodes to the surfaces. Further ones follow at once where no check of the energy decides
// whether they are needed.
static void solve_again(struct system *system, struct stage_rule stage, const struct end_rule *rule,
                        const struct worker *worker)
{
    const uint64_t newton = system->settings.implicit.newton;
    REAL_NAME(friction_stage)(system, stage.g, worker);
    REAL_NAME(implicit_forget_colliders)(system, stage, worker);
    follow_velocity(system, (real)stage.g, worker);
    REAL_NAME(kinematic_set_positions)(system, stage.elapsed, worker);
    find_residual(system, stage, worker);
    bool settled = true;
    solve_constrained(system, stage, rule, newton == 1, 0, worker);
    for (int i = 1; friction_changes(system, stage, &settled, worker) && i < SOLVES_OF_FRICTION;
         i++) {
        find_residual(system, stage, worker);
        solve_constrained(system, stage, rule, true, 0, worker);
    }
    correct(system, 1, stage, worker);
    const bool checked = energy_is_checked(system) && newton == 1;
    if (!checked || !settled) {
        solve_further(system, stage, rule, checked, worker);
        return;
    }
    REAL_NAME(constraints_finish)(system, rule, worker);
    REAL_NAME(mouse_spring_store_force)(system, worker);
}

// The midpoint method and bdf2 extrapolate smooth motion, which an impact is not. A step with an
// impact is therefore one of implicit Euler, and so is the next one, in which the stopped nodes
// stop the others: the midpoint method would make these bounce.
static struct stage_rule euler_instead(struct system *system, uint64_t steps,
                                       const struct worker *worker)
{
    const double h = system->settings.dt;
    const uint64_t from = system->state->step + steps;
    start_from_state(system, worker);
    REAL_NAME(implicit_note_euler)(system, worker);
    if (worker->index == 0 && system->state->previous_state_from < from)
        system->state->previous_state_from = from;
    worker_barrier(worker);
    return (struct stage_rule){.elapsed = h, .g = h};
}

// Finds the contacts of a step that has been solved up to its stage, and solves it again with them.
// Returns whether the state is that at the end of the step. `stage` becomes that of the method.
static bool solve_contacts(struct system *system, struct stage_rule *stage,
                           const struct worker *worker)
{
    if (!system->settings.projects)
        return false;
    const bool mirrored = is_midpoint(system) && stage->elapsed < system->settings.dt;
    struct end_rule rule = end_of_step(system, *stage, mirrored);
    REAL_NAME(constraints_clear)(system, worker);
    if (!REAL_NAME(constraints_find)(system, &rule, NULL, false, worker))
        return false;
    const bool impact = REAL_NAME(constraints_impact)(system);
    store_free(system, &rule, worker);
    if (energy_is_checked(system))
        REAL_NAME(implicit_ensure_start_energy)(system, worker);
    restore_start(system, worker);
    if (impact && system->settings.keep_energy_budget)
        REAL_NAME(implicit_note_impact)(system, energy_is_checked(system), worker);
    if (impact && system->settings.integrator != INTEGRATOR_IMPLICIT_EULER) {
        *stage = euler_instead(system, is_midpoint(system) ? 2 : 1, worker);
        rule = end_of_step(system, *stage, false);
    }
    solve_again(system, *stage, &rule, worker);
    return !rule.mirrored;
}

// ---- Steps that would gain energy
//
// After an impact a body is strained, rotates and vibrates, and the error of a single linear system
// may add energy to stiff springs in these steps too. The midpoint method gains energy however
// exactly it is solved, because it has no numerical damping and does not conserve the energy of
// rotating springs.

// Stores the motion without contacts, for nodes that reach a surface when the step is repeated.
static void store_end(struct system *system, const struct worker *worker)
{
    const struct state *s = system->state;
    const struct contact_constraints *all = system->contacts.constraints;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        split_copy(all->free_position, state_positions(s), i);
        split_copy(all->free_velocity, state_velocities(s), i);
    }
    worker_barrier(worker);
}

// Solves a step at whose end energy was gained: a step of implicit Euler with contacts continues
// with further systems; any other is repeated from its start as one of implicit Euler, with the
// contacts that have been found.
static void solve_without_gain(struct system *system, struct stage_rule stage,
                               const struct worker *worker)
{
    if (system->settings.projects && system->settings.keep_energy_budget)
        REAL_NAME(implicit_note_impact)(system, true, worker);
    const bool continues = system->contacts.constraints->present && is_euler(system, stage);
    if (!continues) {
        if (!system->contacts.constraints->present) // otherwise it is known
            store_end(system, worker);
        restore_start(system, worker);
        stage = euler_instead(system, 1, worker);
    }
    const struct end_rule rule = end_of_step(system, stage, false);
    if (!continues) {
        solve_again(system, stage, &rule, worker);
        const bool crossed = system_had_crossed(system, worker);
        if (!REAL_NAME(implicit_gains_energy)(system, stage, worker) && !crossed &&
            !surfaces_cross(system, worker))
            return;
    }
    solve_further(system, stage, &rule, true, worker);
}

// Whether nodes may touch penalty colliders, or surfaces each other, at the end of the step; the
// same on every worker. Whether surfaces touch each other follows from the energy.
static bool end_may_touch(struct system *system, const struct worker *worker)
{
    if (system->topology->has_contact)
        return true;
    if (!system->settings.penalises)
        return false;
    REAL_NAME(contacts_find)(system, step_time(system, system->state->step + 1), worker);
    const bool found = contacts_are_found(system);
    worker_barrier(worker); // all have read it before it is computed again
    return found;
}

// Called at the end of a step: solves further if the step has gained energy. `same`: the previous
// solution solved its linear system without an iteration, so that spring forces have not changed
// and, without contacts, the energy need not be measured.
static void remove_energy_gain(struct system *system, struct stage_rule stage, bool same,
                               const struct worker *worker)
{
    if (!energy_is_checked(system))
        return;
    if (same && !system->contacts.constraints->present && !end_may_touch(system, worker))
        return;
    const bool crossed = system_had_crossed(system, worker);
    REAL_NAME(implicit_ensure_start_energy)(system, worker);
    const bool gains = REAL_NAME(implicit_gains_energy)(system, stage, worker) || crossed ||
                       surfaces_cross(system, worker);
    if (gains)
        solve_without_gain(system, stage, worker);
    // With full Newton the last energy found may be that of an earlier system.
    if (worker->index == 0)
        system->state->energy_current = !gains || system->settings.implicit.newton == 1;
    worker_barrier(worker);
}

void REAL_NAME(implicit_euler)(struct system *system, const struct worker *worker)
{
    double h = system->settings.dt;
    if (!begin(system, worker))
        return;
    start_from_state(system, worker);
    REAL_NAME(implicit_note_euler)(system, worker);
    struct stage_rule stage = {.elapsed = h, .g = h};
    const bool same = solve_stage(system, stage, worker);
    solve_contacts(system, &stage, worker);
    remove_energy_gain(system, stage, same, worker);
    REAL_NAME(implicit_note_kicks)(system, worker);
    REAL_NAME(kinematic_advance)(system, h, worker);
}

void REAL_NAME(implicit_midpoint)(struct system *system, const struct worker *worker)
{
    double h = system->settings.dt;
    const bool after_impact = system->state->step < system->state->previous_state_from;
    if (!begin(system, worker))
        return;
    start_from_state(system, worker);
    const double g = after_impact ? h : h / 2;
    struct stage_rule stage = {.elapsed = g, .g = g};
    const bool same = solve_stage(system, stage, worker);
    if (after_impact)
        REAL_NAME(implicit_note_euler)(system, worker);
    if (!solve_contacts(system, &stage, worker) && !after_impact) {
        REAL_NAME(implicit_note_stage)(system, stage_evaluation(system, stage).time, worker);
        reflect(system, worker);
    }
    remove_energy_gain(system, stage, same, worker);
    REAL_NAME(kinematic_advance)(system, h, worker);
}

// x* and v* from two states; the present one becomes the previous one.
static void start_from_two(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    const struct split_vectors base = system->implicit->base, start = system->implicit->velocity;
    const struct split_vectors x = state_positions(s), x0 = state_previous_positions(s);
    const struct split_vectors v = state_velocities(s), v0 = state_previous_velocities(s);
    const real third = (real)(1.0 / 3);
    struct range share = node_share(system, worker);
    const bool mixed = state_is_mixed(s);
    for (size_t i = share.first; mixed && i < share.end; i++) {
        const struct split_difference change = split_subtract(x, x0, i);
        const struct split_difference kick = split_subtract(v, v0, i);
        split_copy(base, x, i);
        split_add(base, i, third * change.x, third * change.y, third * change.z);
        split_copy(start, v, i);
        split_add(start, i, third * kick.x, third * kick.y, third * kick.z);
    }
    for (size_t i = share.first; !mixed && i < share.end; i++) {
        base.high.x[i] = s->x[i] + third * (s->x[i] - s->x0[i]);
        base.high.y[i] = s->y[i] + third * (s->y[i] - s->y0[i]);
        base.high.z[i] = s->z[i] + third * (s->z[i] - s->z0[i]);
        start.high.x[i] = s->vx[i] + third * (s->vx[i] - s->vx0[i]);
        start.high.y[i] = s->vy[i] + third * (s->vy[i] - s->vy0[i]);
        start.high.z[i] = s->vz[i] + third * (s->vz[i] - s->vz0[i]);
    }
    worker_barrier(worker);
}

void REAL_NAME(bdf2)(struct system *system, const struct worker *worker)
{
    double h = system->settings.dt;
    bool first = system->state->step == system->state->previous_state_from;
    if (!begin(system, worker))
        return;
    if (first) {
        start_from_state(system, worker);
        REAL_NAME(implicit_note_euler)(system, worker);
    } else {
        start_from_two(system, worker);
    }
    REAL_NAME(save_start)(system, worker);
    worker_barrier(worker);
    struct stage_rule stage = {.elapsed = h, .g = first ? h : 2 * h / 3};
    const bool same = solve_stage(system, stage, worker);
    solve_contacts(system, &stage, worker);
    remove_energy_gain(system, stage, same, worker);
    REAL_NAME(kinematic_advance)(system, h, worker);
}
