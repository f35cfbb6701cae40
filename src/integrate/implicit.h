// The implicit integrators (implicit.c): their data besides the state, and the declarations that
// their files share. Numeric.
#ifndef TAUT_INTEGRATE_IMPLICIT_H
#define TAUT_INTEGRATE_IMPLICIT_H

#include "forces/forces.h"
#include "integrate/conjugate_gradient.h"

// The energy and the external power at one time.
struct energy_sample {
    taut_energy energy;
    struct external_power external;
};

// For the energy budget: the power, W, of the drives of mesh colliders and spheres against the
// forces that have changed the velocities of the step so far, over its g, s. `of_system`: the power
// against the forces of the last linear system (surface_tangent_collider_powers), of whose solution
// the fraction `applied` has been applied; `before`: the power for the velocities at which this
// system was built. `start`: at the start of the step.
struct collider_powers {
    double of_system, before, g, applied, start;
};

// A solution that has been applied in part leaves a part of the power before it: for the velocities
// V of a system M (V - v*) is not g F(V) then.
static inline double collider_power_so_far(const struct collider_powers *it)
{
    return it->before + it->applied * (it->of_system - it->before);
}

struct implicit {
    struct split_vectors base, velocity; // x* and v*: the starting point of the step's equations
    struct linear_solver solver;
    struct energy_sample start, end; // of the present step, if its energy is checked
    bool start_known;
    struct collider_powers colliders;
    double revised; // the fraction of the last solution that has been applied since friction_revise
    // For the budget: where in the present step the forces of its equations are, and the powers, W,
    // of those of the midpoint method (work_count_step).
    enum power_times times;
    double stage_powers[WORK_POWERS];
    // Where contact cuts steps, for the budget (implicit_energy.c): forces at the start of the
    // step, and velocities before single nodes are cut.
    struct node_vectors start_force, uncut;
};

static inline bool is_midpoint(const struct system *system)
{
    return system->settings.integrator == INTEGRATOR_IMPLICIT_MIDPOINT;
}

// For the budget: whether contact may cut steps.
static inline bool keeps_cuts(const struct system *system)
{
    return system->surface_contact && system->settings.keep_energy_budget;
}

// Where the present step began.
static inline struct split_vectors start_positions(const struct system *system)
{
    return system->settings.integrator == INTEGRATOR_BDF2 ? state_previous_positions(system->state)
                                                          : system->implicit->base;
}

static inline struct split_vectors start_velocities(const struct system *system)
{
    return system->settings.integrator == INTEGRATOR_BDF2 ? state_previous_velocities(system->state)
                                                          : system->implicit->velocity;
}

// The time of a stage since the start of the step, and g (implicit.c), both in seconds.
struct stage_rule {
    double elapsed, g;
};

// Whether a stage is the end of a step of implicit Euler.
static inline bool is_euler(const struct system *system, struct stage_rule stage)
{
    return stage.g == system->settings.dt;
}

// Creates system->implicit; implicit_free frees it, also after a failure.
taut_status REAL_NAME(implicit_make)(struct system *system, taut_error *error);
// Updates masses and materials after they have changed; cannot fail unless stiffnesses have.
taut_status REAL_NAME(implicit_refresh)(struct system *system, bool stiffnesses, taut_error *error);
void REAL_NAME(implicit_free)(struct system *system);
uint64_t REAL_NAME(implicit_bytes)(const struct system *system);

// ---- The energy budget (implicit_energy.c)

// Stores the forces and the power of colliders at the start of a step in which contact may cut the
// motion.
void REAL_NAME(implicit_note_start)(struct system *system, const struct worker *worker);

// Record the time of the step's forces: the midpoint at `time`, or that of implicit Euler.
void REAL_NAME(implicit_note_stage)(struct system *system, double time,
                                    const struct worker *worker);
void REAL_NAME(implicit_note_euler)(struct system *system, const struct worker *worker);

// Measure the power of moving colliders. The first is called before the first system of a step or
// of its repetition; the second once a system has been solved, before its solution is used.
void REAL_NAME(implicit_forget_colliders)(struct system *system, struct stage_rule stage,
                                          const struct worker *worker);
void REAL_NAME(implicit_note_colliders)(struct system *system, double g,
                                        const struct worker *worker);

// Marks the step as one with an impact. Called after the start of the step has been restored, or at
// any stage if the energy at its start is `known`.
void REAL_NAME(implicit_note_impact)(struct system *system, bool known,
                                     const struct worker *worker);

// Counts the energy that implicit Euler damps in the step.
void REAL_NAME(implicit_note_kicks)(struct system *system, const struct worker *worker);

// Called at the end of the step: the first before the step is shortened to a fraction; the second
// before single nodes are cut; the third after a step that has been cut, of which a fraction is
// left; and the last one, by one worker, after a step that has not been cut.
void REAL_NAME(implicit_count_shortened)(struct system *system, double fraction,
                                         const struct worker *worker);
void REAL_NAME(implicit_note_uncut)(struct system *system, const struct worker *worker);
void REAL_NAME(implicit_count_cut)(struct system *system, double fraction,
                                   const struct worker *worker);
void REAL_NAME(implicit_count_colliders)(struct system *system);

// ---- Whether a step gains energy (implicit_energy.c)

// Whether the energy is checked: with projecting colliders, and for the midpoint method also with
// penalty colliders, where it diverges otherwise; not while a mouse spring pulls.
static inline bool energy_is_checked(const struct system *system)
{
    return system->contacts.constraints && !system->mouse_spring.pulls;
}

// Called by one worker at the start of the step: its energy is that at the end of the last one, if
// that is known and nothing has changed it since.
void REAL_NAME(implicit_reuse_energy)(struct system *system);

// The energy that errors of a step are relative to, J: the kinetic energy, plus that of one step of
// free fall for bodies at rest.
double REAL_NAME(implicit_energy_of_motion)(struct system *system, const struct worker *worker);

// Measures the energy at the start of the step if it is not known. May be called at any stage.
void REAL_NAME(implicit_ensure_start_energy)(struct system *system, const struct worker *worker);

// Measures the energy at the end of the step. Whether it has gained more than the external work,
// rounding and a tolerance explain: a ten-thousandth, or a thousandth with the midpoint method,
// whose energy fluctuates by that.
bool REAL_NAME(implicit_gains_energy)(struct system *system, struct stage_rule stage,
                                      const struct worker *worker);

#endif
