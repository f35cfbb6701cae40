// How damping is related to stiffness in a system: lower K + ... <= C <= upper K + ..., which sets
// the steps of the Runge-Kutta methods (limits.h). It follows from materials and lengths, without
// any product or eigenvalue. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_DAMPING_RANGE_H
#define TAUT_STABILITY_DAMPING_RANGE_H

#include "stability/limits.h"
#include "state/system.h"

struct damping_range {
    struct mode_range modes; // their ratios and drag; what is known of eigenvalues is 0
    double lower_ratio;      // s: that of `modes`, without colliders that touch no node now
    bool pressed;            // K may be negative in some direction
};

// Finds the range at the present state. All workers call it together; worker 0 writes the result,
// which all may read then.
void REAL_NAME(damping_range_find)(struct system *system, struct damping_range *result,
                                   const struct worker *worker);

#endif
