// Sample scenes: one for every builder, with every force among them, large enough for plans of
// several blocks and colours, and small enough to be run hundreds of times.
#ifndef TAUT_TESTS_SAMPLES_H
#define TAUT_TESTS_SAMPLES_H

#include "physics.h"

struct sample {
    const char *name;
    const char *text; // of a scene, after `precision` and `simulation`
};

extern const struct sample samples[];
extern const size_t sample_count;

// A scene of everything that depends on time or on the step number, and of everything that a step
// leaves for the next. Formats: precision, integrator, dt, further keys of `simulation`, and
// further colliders, both with a comma before them.
extern const char *const busy_text;

// The name of precision `number`, in a cycle.
const char *precision_number(size_t number);

// A solver of the sample, with dt 0.0005.
taut_solver *sample_solver(const struct sample *sample, const char *precision,
                           const char *integrator, const struct solver_options *options);

// A star of `arms` springs to the last node, which every tile of one node shares.
taut_solver *star_solver(int arms, const struct solver_options *options);

#endif
