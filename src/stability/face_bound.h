// The contributions of gas and of wind that damps to the bound of the step (spectral_bound.h),
// which has their formulas. Numeric.
#ifndef TAUT_STABILITY_FACE_BOUND_H
#define TAUT_STABILITY_FACE_BOUND_H

#include "stability/spectral_bound.h"

// The weights of nodes whose springs are in no rows, 0 for 1; all others have 1.
struct bound_weights {
    struct range nodes;
    const real *values;
};

static inline real bound_weight(const struct bound_weights *weights, size_t node)
{
    const bool known = node >= weights->nodes.first && node < weights->nodes.end;
    const real weight = known ? weights->values[node - weights->nodes.first] : 0;
    return weight == 0 ? 1 : weight;
}

// The share of the first node in a term of two nodes, in units of one half: 1 + (weight of the
// other) / (its own).
static inline real bound_share(const struct bound_weights *weights, size_t node, size_t other)
{
    return 1 + bound_weight(weights, other) / bound_weight(weights, node);
}

struct face_bound;

// *result := NULL if nothing acts through faces.
taut_status REAL_NAME(face_bound_make)(struct system *system, struct face_bound **result,
                                       taut_error *error);
void REAL_NAME(face_bound_free)(struct face_bound *bound);
uint64_t REAL_NAME(face_bound_bytes)(const struct face_bound *bound);

// Updates what this rank needs to the present state. One worker calls it; ranks that hold only
// their parts call it together.
void REAL_NAME(face_bound_update)(struct face_bound *bound, struct bound_weights weights);

// Adds to blocks of nodes of the last update.
void REAL_NAME(face_bound_add)(const struct face_bound *bound, bool negative,
                               struct bound_blocks *blocks);

// Whether the damping of the wind at a node of which this rank finds bounds may exceed `most`, 1/s,
// at present: by eight times what the greatest of its faces adds, so that it is not certain, but
// takes less than an update. All workers call it, after spectral_bound_reach.
bool REAL_NAME(wind_may_damp)(struct system *system, double most, const struct worker *worker);

#endif
