// Steps taken at a time, so that signals and progress are served: as many as fit into about
// BATCH_SECONDS. How a run is cut into batches changes nothing of it.
#ifndef TAUT_CLI_BATCH_H
#define TAUT_CLI_BATCH_H

#include <stdint.h>

struct batch {
    uint64_t steps;
    double step_seconds; // what a step takes, smoothed; 0: not known
};

// Begins with one step.
struct batch batch_make(void);

// How many steps to take now, of so many that remain.
uint64_t batch_steps(const struct batch *batch, uint64_t remaining);

// Learns from steps that took so long.
void batch_learn(struct batch *batch, uint64_t steps, double elapsed);

#endif
