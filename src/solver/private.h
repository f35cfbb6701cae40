// What a solver is made of, and what the files of solver/ call of each other. No other module
// includes this.
#ifndef TAUT_SOLVER_PRIVATE_H
#define TAUT_SOLVER_PRIVATE_H

#include "solver/solver.h"
#include "solver/system.h"

struct taut_solver {
    const taut_allocator *allocator;
    taut_allocator allocator_copy;
    struct topology *topology;
    struct plan *plan;
    const struct system_functions *functions; // of the precision in use
    struct system *system;
    int threads;
    bool pinned;                  // workers of several memory nodes stay on theirs
    struct numa_binding *binding; // of `team`
    struct team *team;            // of `team_threads`; solver_work
    int team_threads;
    enum precision precision;
    enum integrator integrator;
    taut_kernel kernel; // as requested
    enum isa isa;
    double dt; // s, now
    struct dt_rule dt_rule;
    struct dt_exceeded exceeded; // at the start, by
    double exceeded_by;          // this dt, s; 0: none was, or constants have changed since
    double position_ratio;       // position_step / dt
    double position_step;        // s, as the scene gives it; 0: it gives none
    struct change *change;       // constants have changed since the last step (set.c); else NULL
    uint64_t steps_planned;
    double setup_seconds;
    double step_seconds; // wall time spent in steps
};

// ---- set.c

// Lets changed constants take effect, before anything is computed with them.
void settle_changes(taut_solver *solver);

// ---- dt.c

// Sets dt and the number of steps from the scene. A given dt beyond the bound is a warning in
// `diagnostics`, at its position in the scene; or NULL.
taut_status dt_choose(taut_solver *solver, const taut_scene *scene, struct diagnostics *diagnostics,
                      taut_error *error);

// Before a solver continues the run of another one: its own dt, or with dt: auto the other's, if
// that has found one for the same integrator. True where it is to be checked (dt_adapt) once the
// state is there.
bool dt_restore(taut_solver *solver, const taut_solver *from);

// Whether the bound is to be evaluated after so many steps; never of a dt that the scene gives.
bool dt_is_due(const taut_solver *solver, uint64_t steps_done);

// How often dt: auto evaluates the bound; follows from how gas is pumped in.
void dt_plan_checks(taut_solver *solver);

// The number of steps planned, as dt is now.
void dt_plan_steps(taut_solver *solver);

// After a step, of dt: auto: finds the bound at the present state and changes dt where it is too
// near to it, or far from it. All workers together.
void dt_adapt(taut_solver *solver, const struct worker *worker);

#endif
