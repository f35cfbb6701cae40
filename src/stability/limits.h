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
    // Of each integrator, damping included, the dt that is certain to be stable, s; 0: none is.
    double dt[INTEGRATOR_COUNT];
    // The same from eigenvalues instead of bounds of them: what is stable and nearly all that is.
    // Where they were asked for; else 0.
    double sharp_omega, sharp; // rad/s; s
    double sharp_dt[INTEGRATOR_COUNT];
};

// From the stability polynomial: 2 for the symplectic ones, 2 sqrt 2 for rk4, 0 for explicit Euler
// and midpoint, which grow at every step, INFINITY for the implicit ones and xpbd, which never do.
double integrator_limit(enum integrator integrator);

// A step h is stable while the largest eigenvalue of M^-1 (stiffness h^2 K + damping h C) is below
// `limit`. For an undamped oscillator this is omega h below integrator_limit.
//
// The symplectic ones, whose damping sees the last velocity, need r h^2 K + 2 h C < 4 M with r =
// position_step / dt: an eigenvalue leaves the unit circle through -1, where 4 M - 2 h C - r h^2 K
// is singular. Of rk4's region a half disc of radius 2.6 is used where there is damping: every
// eigenvalue is either complex, and then |lambda|^2 is a quotient x'Kx / x'Mx, or real, and then
// not beyond x'Cx / x'Mx; so h^2 K < 2.6^2 M and h C < 2.6 M are enough.
struct step_form {
    double stiffness, damping, limit;
};

enum { INTEGRATOR_FORMS_MAX = 2 };

// How many forms an integrator has, all of which a stable step obeys: 0 where no step is certain to
// be stable, or every one is.
int integrator_forms(enum integrator integrator, double position_ratio, bool damped,
                     struct step_form forms[INTEGRATOR_FORMS_MAX]);

// The largest h of a form for one oscillator with K/M = square (1/s2) and C/M = damping (1/s);
// INFINITY where neither is.
double step_of_form(const struct step_form *form, double square, double damping);

// The same with symplectic Euler's position step: h h_x omega^2 < 4. In seconds of dt for the given
// ratio position_step / dt; 0 if there is no stable step, INFINITY if every one is.
double integrator_critical_dt(enum integrator integrator, double omega, double position_ratio);

#endif
