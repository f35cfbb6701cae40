// The stability limits of the integrators, for one mode and for all modes within a range.
#ifndef TAUT_STABILITY_LIMITS_H
#define TAUT_STABILITY_LIMITS_H

#include "scene/scene.h"

// Steps between two checks for divergence (divergence.h). Growth that overflows in fewer steps
// appears as non-finite values.
enum { DIVERGENCE_STEPS = 16 };

// The fastest oscillation of a system, and the steps that it allows (computed in critical_step.h).
struct critical_step {
    bool known;     // false: nothing oscillates (no spring or element at a free node)
    double omega;   // rad/s, an upper bound of the largest angular frequency without damping
    double damping; // 1/s, an upper bound of the largest eigenvalue of M^-1 C
    double bound;  // s, 2 / omega: an undamped symplectic Euler or Verlet step up to this is stable
    uint64_t node; // builder number over all nodes: where the bound is set
    uint64_t spring; // builder number over all springs: the stiffest at that node
    // For each integrator, the dt that is certain to be stable, damping included, s; 0: none is.
    double dt[INTEGRATOR_COUNT];
    // The same from eigenvalues instead of their bounds, and so nearly the limit. 0 if not
    // requested.
    double computed_omega, computed; // rad/s; s
    double computed_dt[INTEGRATOR_COUNT];
    // Whether computed_dt is the limit, to less than 1%; otherwise it is certainly not above it.
    bool exact[INTEGRATOR_COUNT];
    // For the integrator in use, the bound used by dt: auto: dt[] without the values that hold in
    // this state only and are not recomputed during a run.
    double followed;
    int products; // with the tangent, that Lanczos' method has taken for the computed values
};

// For what is printed and returned: where the bound is tight, both values are the same limit, each
// with its own rounding. The bound is proved, so the computed value below it is raised, and a
// guarantee never exceeds it. What differs by more than rounding stays: it would be an error of one
// of them.
static inline void critical_step_absorb_rounding(struct critical_step *step)
{
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        if (step->computed_dt[i] > 0 && step->computed_dt[i] < step->dt[i] &&
            step->dt[i] <= step->computed_dt[i] * (1 + 1e-6))
            step->computed_dt[i] = step->dt[i];
}

// What to compute: bounds; also the computed values, of the integrator in use (and of those that
// need no further work); or of all.
enum critical_wanted { CRITICAL_WANT_BOUNDS, CRITICAL_WANT_OWN, CRITICAL_WANT_ALL };

// How the integrator in use makes its step.
struct stepping {
    double position_ratio; // position_step / dt, for symplectic Euler
    double keep_velocity;  // the factor of velocities after each step, in (0, 1]
};

// The limit of omega h from the stability polynomial: 2 for the symplectic integrators, 2 sqrt 2
// for rk4, 0 for explicit Euler and midpoint, which grow at every step, INFINITY for the implicit
// ones and xpbd, which never do.
double integrator_limit(enum integrator integrator);

// How often a step rounds positions, by what that stores in springs and elements: u^2 tr K / 24
// each time, on average (divergence.h). xpbd does so in every substep. Implicit methods evaluate
// forces also at a rounded guess; an error e of it displaces a mode of angular frequency w at the
// end of the step by a e / (1 + a), with a = (h w)^2 (implicit Euler; bdf2: 4/9 of that), and
// implicit midpoint by twice that, with a = (h w)^2 / 4: up to e and to 2 e, which stores four
// times as much.
double integrator_roundings(enum integrator integrator, int substeps);

// The largest stable step, s, of one mode x'' + damping x' + square x = 0: where a root of the
// characteristic polynomial of the step leaves the unit circle. INFINITY: every step is stable; 0:
// none is. A mode with square < 0 grows physically; only its decaying root counts.
//
// With K = h^2 square, C = h damping, r = position_step / dt and q = keep_velocity:
//
//   symplectic Euler,   z^2 - (1 + q (1 - C) - r K) z + q (1 - C), which leaves through -1:
//   Verlet (r = 1)      r K + 2 q C < 2 + 2 q
//   velocity Verlet     K + 2 C < 4, of q = 1; q < 1 allows more where C > 0
//   explicit Euler      1 + z, midpoint 1 + z + z^2 / 2 and rk4 1 + z + ... + z^4 / 24 of both
//                       roots of z^2 + C z + K: on the real axis |z| < 2, 2 and 2.785, and between
//                       it and the imaginary axis as far as |.| < 1 (explicit Euler: K < C).
//
// For the last three, q < 1 removes more energy, which is not taken into account.
double integrator_mode_step(enum integrator integrator, const struct stepping *stepping,
                            double square, double damping);

// The same for one root lambda = re + i im, 1/s, of a mode, for explicit Euler, midpoint and rk4:
// the smallest h for which h lambda is at the edge of their region. Physical growth (re > 0) counts
// as no damping if lambda is complex, and is ignored if it is real.
double integrator_root_step(enum integrator integrator, double re, double im);

// The smallest step on the straight line between two modes {square, damping}, ends included: found
// on a grid, because rk4's region has a dent; for the others it is at an end.
double integrator_segment_step(enum integrator integrator, const struct stepping *stepping,
                               const double from[2], const double to[2]);

// Modes with known bounds: each has -square_negative <= square <= square_max, damping <=
// damping_max, lower_ratio square + lower <= damping <= upper_ratio square + upper (INFINITY: no
// such bound), and satisfies the form below at its step. A complex eigenvector x has the mode of
// the quotients x'Kx / x'Mx and x'Cx / x'Mx, so that bounds of these are bounds of all modes.
struct mode_range {
    double square_max, damping_max; // 1/s2, 1/s
    double square_negative;         // 1/s2, not negative: how far K may be below 0
    double lower_ratio, lower;      // s, 1/s
    double upper_ratio, upper;
    double form_step; // s: form_step^2 square + 2 form_step damping <= 4
};

// The largest step that is stable for every mode of the range, reduced slightly near critical
// damping (limits.c).
double integrator_range_step(enum integrator integrator, const struct stepping *stepping,
                             const struct mode_range *range);

// A step h is stable while the largest eigenvalue of M^-1 (stiffness h^2 K + damping h C) is below
// `limit`. For an undamped oscillator this is omega h below integrator_limit.
//
// For the symplectic integrators this is exact, because an eigenvalue leaves the unit circle
// through -1, where (2 + 2 q) M - 2 q h C - r h^2 K is singular, whatever the modes of K and C are.
// With damping, a half disc of radius R = 2.6 within rk4's region is used: every eigenvalue is
// either complex, and then |lambda|^2 is a quotient x'Kx / x'Mx, so that h^2 K < R^2 M is
// sufficient; or real, and none is beyond -R / h while R^2 M - R h C + h^2 K is positive definite.
// If K is nowhere negative, h C < R M is sufficient for that; compressed springs add what they
// subtract from K. Explicit Euler and midpoint have no form.
struct step_form {
    double stiffness, damping, limit;
    bool negative; // with -K instead of K
};

enum { INTEGRATOR_FORMS_MAX = 2 };

// The number of forms of an integrator, all of which a stable step satisfies: 0 if no step is
// certain to be stable, or if every step is.
int integrator_forms(enum integrator integrator, const struct stepping *stepping, bool damped,
                     struct step_form forms[INTEGRATOR_FORMS_MAX]);

// The largest h of a form for one oscillator with K/M = square (1/s2), with the sign that the form
// uses, and C/M = damping (1/s); INFINITY if there is no limit.
double step_of_form(const struct step_form *form, double square, double damping);

// The forms of all integrators, each listed once: most integrators share one.
enum { LISTED_FORMS_MAX = 8 };

struct form_list {
    int count;
    struct step_form forms[LISTED_FORMS_MAX];
    // A bit for each integrator with this form; [1]: with damping.
    uint32_t users[2][LISTED_FORMS_MAX];
};

// Lists the forms that are not listed yet.
void form_list_add(struct form_list *list, const struct stepping *stepping, bool damped);

// The step of each integrator from the steps of the forms. Without a form all steps are stable, or
// none.
void form_list_steps(const struct form_list *list, bool damped, const double *steps,
                     double *by_integrator);

// The same with symplectic Euler's position step: h h_x omega^2 < 4. In seconds of dt for the given
// ratio position_step / dt; 0 if there is no stable step, INFINITY if every step is stable.
double integrator_critical_dt(enum integrator integrator, double omega, double position_ratio);

#endif
