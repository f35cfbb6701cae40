// The largest steps that are certain to be stable: of each node from its own blocks
// (spectral_bound.h), and of all nodes the least. Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_STEP_BOUNDS_H
#define TAUT_STABILITY_STEP_BOUNDS_H

#include "stability/limits.h"
#include "stability/spectral_bound.h"

enum { STEP_FORMS_MAX = 6 };

struct step_bounds {
    int count;
    struct step_form forms[STEP_FORMS_MAX];
    double dt[STEP_FORMS_MAX]; // s; before: beyond what nobody wants to know, or INFINITY
    double slack; // a node that allows (1 - slack) of the least so far need not be looked at
    // Instead of dt, which stays, only the node is found: the first in builder's order of those
    // that allow no more than dt[0].
    bool names;
    uint64_t node; // where dt[0] is set, internal number; the first in builder's order of equals
};

// Finds dt and node for the forms, at the state of the last spectral_bound_update. All workers
// together, each with a copy of its own, and each finds the same.
void REAL_NAME(step_bounds_find)(const struct spectral_bound *spectral_bound, struct system *system,
                                 struct step_bounds *bounds, const struct worker *worker);

#endif
