// What critical_step.c keeps between measurements, and the part of a measurement that needs
// eigenvalues (computed_steps.c). For critical_step.c alone. Numeric: compiled for float and for
// double.
#ifndef TAUT_STABILITY_COMPUTED_STEPS_H
#define TAUT_STABILITY_COMPUTED_STEPS_H

#include "stability/damping_range.h"
#include "stability/dense.h"
#include "stability/lanczos.h"
#include "stability/quadratic.h"
#include "stability/spectral_bound.h"

struct critical_meter {
    struct spectral_bound *spectral_bound;
    struct lanczos *lanczos; // NULL until it is needed, as is
    struct quadratic *quadratic;
    struct damping_range range; // results of worker 0 for springs,
    struct dense_steps few;     // for all eigenvalues of few nodes,
    double form_step;           // s, and for a form of few nodes
};

static inline struct stepping stepping_of(const struct system *system)
{
    return (struct stepping){system->settings.position_ratio, system->settings.keep_velocity};
}

// Adds the computed values to the bounds in `result`. `negative_bound`: how far K may be below 0,
// 1/s2. All workers call it together, each with its own copy of the result; each gets the same.
void REAL_NAME(computed_steps_find)(struct system *system, enum critical_wanted wanted,
                                    double negative_bound, struct critical_step *result,
                                    const struct worker *worker);

#endif
