// The largest steps that are certain to be stable: for each node from its own blocks
// (spectral_bound.h), and the smallest over all nodes. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_STEP_BOUNDS_H
#define TAUT_STABILITY_STEP_BOUNDS_H

#include "stability/limits.h"
#include "stability/spectral_bound.h"

enum { STEP_FORMS_MAX = 7 };

struct step_bounds {
    int count;
    struct step_form forms[STEP_FORMS_MAX];
    double dt[STEP_FORMS_MAX]; // s; initially a cap on the wanted result, or INFINITY
    double slack; // a node that allows (1 - slack) of the smallest step so far is skipped
    // Finds only the node, and leaves dt unchanged: the first in builder's order of those that
    // allow no more than dt[0].
    bool names;
    // Friction of projecting colliders, kg/s, which multiplies the velocities of a node of mass m
    // by q = exp(-friction friction_step / m) after a step: the limits of all forms are multiplied
    // by (1 + q) / 2, node by node. 0: none.
    double friction, friction_step;
    uint64_t node; // internal number of the node that sets dt[0]; of equal ones the first in
                   // builder's order
};

// Finds dt and node for the forms, at the state of the last spectral_bound_update. All workers
// together, each with its own copy; each gets the same result.
void REAL_NAME(step_bounds_find)(const struct spectral_bound *spectral_bound, struct system *system,
                                 struct step_bounds *bounds, const struct worker *worker);

#endif
