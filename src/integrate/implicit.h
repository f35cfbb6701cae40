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

// For the energy budget: the power of what moves mesh colliders and spheres against the forces of
// the last linear system of the step (surface_tangent_collider_powers), with its g, s, and the part
// of its solution that has been applied; and at the start of the step, W.
struct collider_powers {
    double of_system[2], g, applied, start;
};

struct implicit {
    struct split_vectors base, velocity; // x* and v*: the starting point of the step's equations
    struct linear_solver solver;
    struct energy_sample start, end; // of the present step, if its energy is checked
    bool start_known;
    struct collider_powers colliders;
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
