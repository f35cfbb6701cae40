// The data of the implicit integrators besides the state (implicit.c). Numeric.
#ifndef TAUT_INTEGRATE_IMPLICIT_H
#define TAUT_INTEGRATE_IMPLICIT_H

#include "forces/forces.h"
#include "integrate/conjugate_gradient.h"

// The energy and the external power at one time.
struct energy_sample {
    taut_energy energy;
    struct external_power external;
};

// For the energy budget: the power, W, of what moves mesh colliders and spheres against the forces
// that have changed the velocities of the step so far, over its g, s. `of_system`: against those of
// the last linear system (surface_tangent_collider_powers), of whose solution the part `applied`
// has been; `before`: that of the velocities at which this system was. `start`: at the start of the
// step.
struct collider_powers {
    double of_system, before, g, applied, start;
};

// A solution that has been applied in part leaves the rest of what was before it: for the
// velocities V of a system M (V - v*) is not g F(V) then.
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
    double revised; // the part of the last solution that has been applied since friction_revise
    // For the budget: where in the present step the forces of its equations are, and the powers, W,
    // of those of the midpoint method (work_count_step).
    enum power_times times;
    double stage_powers[WORK_POWERS];
    // Where contact cuts steps, for the budget (implicit_end.c): forces at the start of the step,
    // and velocities before single nodes are cut.
    struct node_vectors start_force, uncut;
};

static inline bool is_midpoint(const struct system *system)
{
    return system->settings.integrator == INTEGRATOR_IMPLICIT_MIDPOINT;
}

// Creates system->implicit; implicit_free frees it, also after a failure.
taut_status REAL_NAME(implicit_make)(struct system *system, taut_error *error);
// Updates masses and materials after they have changed; cannot fail unless stiffnesses have.
taut_status REAL_NAME(implicit_refresh)(struct system *system, bool stiffnesses, taut_error *error);
void REAL_NAME(implicit_free)(struct system *system);
uint64_t REAL_NAME(implicit_bytes)(const struct system *system);

#endif
