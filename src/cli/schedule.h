// When a run writes output. The steps of frames and rows follow from the scene alone, so that the
// output does not depend on the speed of the machine.
#ifndef TAUT_CLI_SCHEDULE_H
#define TAUT_CLI_SCHEDULE_H

#include "solver/solver.h"

struct schedule {
    const taut_solver *solver;
    uint64_t frame_steps;      // interval between frames; 0: every frame_seconds of simulated time
    double frame_seconds;      // simulated time between frames
    uint64_t frame_count;      // with frame_seconds: the number of the next frame
    double checkpoint_seconds; // simulated time between checkpoints; 0: none by simulated time
    const struct scene_probe *probes;
    size_t probe_count;
};

struct schedule schedule_make(const taut_scene *scene, const taut_solver *solver);

// The first step after `step` at which a frame is due, for the current dt; at most the last step,
// which always has one. Call it with steps that do not descend.
uint64_t schedule_next_frame(struct schedule *schedule, uint64_t step);

// The same without regard to the last step.
uint64_t schedule_frame_due(struct schedule *schedule, uint64_t step);

// The same for a row of a probe; UINT64_MAX if there is none.
uint64_t schedule_next_probe(const struct schedule *schedule, uint64_t step);

// The same for a checkpoint by simulated time; UINT64_MAX if there is none.
uint64_t schedule_next_checkpoint(const struct schedule *schedule, uint64_t step);

// Steps done at a time, between which signals and progress are handled: as many as fit into about
// BATCH_SECONDS. Batches do not affect the results.
struct batch {
    uint64_t steps;
    double step_seconds; // smoothed duration of a step; 0: unknown
};

// Begins with batches of one step.
struct batch batch_make(void);

// The number of steps to do now, at most `remaining`.
uint64_t batch_steps(const struct batch *batch, uint64_t remaining);

// Adapts the batch to the measured time of `steps` steps.
void batch_update(struct batch *batch, uint64_t steps, double elapsed);

#endif
