// The stability limits of the integrators on an undamped oscillator: omega h must stay below them.
#ifndef TAUT_STABILITY_LIMITS_H
#define TAUT_STABILITY_LIMITS_H

#include "scene/scene.h"

// Steps between two looks for divergence (divergence.h). Growth that overflows in fewer shows as
// values that are not finite.
enum { DIVERGENCE_STEPS = 16 };

// What is known of a system's fastest oscillation (critical_step.h finds it).
struct critical_step {
    bool known;     // false: nothing oscillates (no spring at a free node)
    double omega;   // rad/s, an upper bound of the largest angular frequency without damping
    double damping; // 1/s, an upper bound of the largest eigenvalue of M^-1 C
    double bound;  // s, 2 / omega: an undamped symplectic Euler or Verlet step up to this is stable
    uint64_t node; // builder number over all nodes: where the bound is set
    uint64_t spring; // builder number over all springs: the stiffest there
};

// From the stability polynomial: 2 for the symplectic ones, 2 sqrt 2 for rk4, 0 for explicit Euler
// and midpoint, which grow at every step, INFINITY for the implicit ones, which never do.
double integrator_limit(enum integrator integrator);

// The same with symplectic Euler's position step: h h_x omega^2 < 4. In seconds of dt for the given
// ratio position_step / dt; 0 if there is no stable step, INFINITY if every one is.
double integrator_critical_dt(enum integrator integrator, double omega, double position_ratio);

// The same with damping: for the symplectic ones, whose damping sees the last velocity, h below
// (sqrt(c^2 + 4 r w^2) - c) / (r w^2), c the bound of M^-1 C and r the position ratio; for rk4 a
// disc of radius 2.6 around 0 in the left half plane. 0 if no step is known to be stable.
double integrator_damped_dt(enum integrator integrator, const struct critical_step *critical,
                            double position_ratio);

#endif
