// What the implicit integrators need besides the state (implicit.c). Numeric.
#ifndef TAUT_INTEGRATE_IMPLICIT_H
#define TAUT_INTEGRATE_IMPLICIT_H

#include "forces/forces.h"
#include "integrate/conjugate_gradient.h"

// The energy at one time, and the external power then.
struct energy_sample {
    taut_energy energy;
    struct outside_power outside;
};

struct implicit {
    struct node_vectors base, velocity; // x* and v*: where the step's equations start from
    struct linear_solver solver;
    struct energy_sample start, end; // of the present step, where its energy is checked
    bool start_known;
};

// Makes system->implicit; what there is of it is freed by implicit_free, after a failure too.
taut_status REAL_NAME(implicit_make)(struct system *system, taut_error *error);
// Updates masses and materials after they have changed; cannot fail unless stiffnesses have.
taut_status REAL_NAME(implicit_refresh)(struct system *system, bool stiffnesses, taut_error *error);
void REAL_NAME(implicit_free)(struct system *system);
uint64_t REAL_NAME(implicit_bytes)(const struct system *system);

#endif
