// The solver from inside: what the command line and the tests see beyond taut.h.
#ifndef TAUT_SOLVER_H
#define TAUT_SOLVER_H

#include "output/snapshot.h"
#include "scene/bodies.h"
#include "solver_system.h"

// How dt is found, and since when it is as it is.
struct dt_rule {
    bool automatic;    // dt: auto
    double safety;     // the fraction of the bound
    double built;      // s, what was chosen for the scene as built
    double duration;   // s, of the run; 0: so many steps as the scene says, however long they are
    double since_time; // s
    uint64_t since_step;
    uint64_t interval;                  // steps between two looks at the bound;
    uint64_t pumping, pumping_interval; // but up to this step, as long as gas is pumped in, these
    uint64_t changes;                   // of dt, so far
};

struct taut_solver {
    const taut_allocator *allocator;
    taut_allocator allocator_copy;
    struct topology *topology;
    struct plan *plan;
    const struct system_functions *functions;
    struct system *system;
    int threads;
    bool held;             // workers of several memory nodes are held to theirs
    struct places *places; // of `team`
    struct team *team;     // of `team_threads`; solver_work
    int team_threads;
    enum precision precision;
    enum integrator integrator;
    enum isa isa;
    double dt; // s, now
    struct dt_rule dt_rule;
    double position_ratio; // position_step / dt
    uint64_t steps_planned;
    double setup_seconds;
    double step_seconds; // wall time spent in steps, the account of work excluded
};

// Whether a solver keeps the energy budget (work of damping, drag, friction, wind and drives),
// which takes a pass over all springs each step and rules out the kernels that fuse forces and
// motion.
enum energy_budget { BUDGET_OF_SCENE, BUDGET_OFF, BUDGET_ON }; // of scene: output.work

// Settings of a solver beyond taut_config.
struct solver_options {
    taut_config config;
    struct plan_options plan; // .reference is set from config.kernel
    bool keep_numbers;        // no node is renumbered
    // May change what the builders made (materials, velocities, gas) before it is cooked; NULL: as
    // it is.
    taut_status (*change)(const void *context, struct bodies *bodies, taut_error *error);
    const void *change_context;
    // Bytes that the caller is going to hold beside the solver: before anything is built, it is
    // found out whether there is memory for all of it (solver_memory.h).
    double beside;
    enum energy_budget budget;
    bool tolerant; // only values that are not finite end a run: the caller judges its energies
    // Receives what the builders find in the scene; NULL: the first finding becomes the error.
    struct diagnostics *diagnostics;
};

taut_status solver_create(const taut_scene *scene, const struct solver_options *options,
                          taut_solver **result, taut_error *error);

// Runs `function` on the solver's team, which is made when it is first wanted, or wanted with
// another number of threads than before.
void solver_work(taut_solver *solver, team_function function, void *context);

// Steps until so many are done or dt has changed (dt: auto), with or without a look for divergence
// after the last step (the look every DIVERGENCE_STEPS steps is always made). A caller that cuts a
// run by wall time leaves it out, so that the step at which a divergence is found does not depend
// on how fast the machine was.
taut_status solver_advance(taut_solver *solver, uint64_t steps, bool look_at_end,
                           taut_error *error);

// The time at the start of a step, and of the last one planned, s, as dt is now.
double solver_time_of(const taut_solver *solver, uint64_t step);
double solver_planned_time(const taut_solver *solver);

// The number of the step that is nearest to a time, as dt is now.
double solver_steps_until(const taut_solver *solver, double time);

// Goes on with another number of threads, at least 1; to the bit as before.
taut_status solver_set_threads(taut_solver *solver, int threads, taut_error *error);

// A look at the present state that changes nothing of it: its energies and volumes, the account of
// work brought up to now, and its forces where they are wanted.
void solver_look(taut_solver *solver, bool want_forces, taut_energy *energy);

enum moment_want {
    WANT_NODES = 1, // positions, velocities
    WANT_FORCES = 2,
    WANT_STRAINS = 4, // and broken flags
    WANT_ENERGY = 8,  // energies, volumes and the account of work
    WANT_LISTS = 16,  // springs and faces by their nodes, which never change
};

// All that output can want of one moment; the arrays belong to it.
struct moment_view {
    unsigned room; // what there are arrays for; the others are NULL
    struct snapshot snapshot;
    struct snapshot_body *bodies;
    size_t body_count;
    uint64_t node_count, spring_count, face_count;
    double *positions, *velocities, *forces, *strains;
    uint8_t *broken;
    uint32_t (*springs)[2]; // body's own node numbers
    uint32_t *faces;        // body's own node numbers, arity of each body
};

// Room for views of this solver of what will ever be wanted: of a billion springs, lists and
// strains are more than all the rest. Lists are filled here, once.
taut_status moment_view_make(const taut_solver *solver, unsigned wanted, struct moment_view *view,
                             taut_error *error);

// Fills what is wanted, of that which there is room for, from the present state; the rest keeps its
// old values.
void moment_view_take(taut_solver *solver, unsigned wanted, struct moment_view *view);

void moment_view_free(struct moment_view *view);

// The kernel that computes the springs of a body: "grid", "packed" or "reference".
const char *solver_body_kernel(const taut_solver *solver, size_t body);

// Bytes held for topology, plan, constants and state.
uint64_t solver_bytes(const taut_solver *solver);

// The largest stable steps at the present state: bounds, which cost a few steps; with computed
// values of the integrator in use as well, from eigenvalues, which cost some hundred; and with
// those of all, which cost up to some thousand where there is damping.
taut_status solver_critical_step(taut_solver *solver, struct critical_step *result,
                                 taut_error *error);
taut_status solver_own_sharp_step(taut_solver *solver, struct critical_step *result,
                                  taut_error *error);
taut_status solver_sharp_step(taut_solver *solver, struct critical_step *result, taut_error *error);

// Spring updates done so far: springs times force evaluations.
double solver_spring_updates(const taut_solver *solver);

#endif
