// When a run writes: frames and rows at steps that follow from the scene alone, so that what is
// written does not depend on how fast the machine is.
#ifndef TAUT_CLI_SCHEDULE_H
#define TAUT_CLI_SCHEDULE_H

#include "solver/solver.h"

struct schedule {
    const taut_solver *solver;
    uint64_t frame_steps; // a frame every so many steps; 0: every frame_seconds of simulated time
    double frame_seconds; // simulated time between frames
    uint64_t frame_count; // of those every frame_seconds: which one is due next
    const struct scene_probe *probes;
    size_t probe_count;
};

struct schedule schedule_make(const taut_scene *scene, const taut_solver *solver);

// The first step after `step` that a frame is due at, as dt is now; at most the last step, where
// one always is. To be asked with steps that do not fall.
uint64_t schedule_next_frame(struct schedule *schedule, uint64_t step);

// The same for a row of a probe; UINT64_MAX if there is none.
uint64_t schedule_next_probe(const struct schedule *schedule, uint64_t step);

// Steps taken at a time, so that signals and progress are served: as many as fit into about
// BATCH_SECONDS. How a run is cut into batches changes nothing of it.
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
