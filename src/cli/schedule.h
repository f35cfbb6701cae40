// When a run writes: by step numbers that follow from the scene alone, so that what is written does
// not depend on how fast the machine is.
#ifndef TAUT_CLI_SCHEDULE_H
#define TAUT_CLI_SCHEDULE_H

#include "solver.h"

struct schedule {
    uint64_t steps_planned;
    uint64_t frame_steps; // a frame every so many steps; 0: every frame_ratio steps, rounded
    double frame_ratio;   // output.every / dt, > 1
    uint64_t frame_count; // of those every frame_ratio steps: frames that were passed
    double frame_seconds; // simulated time between frames
    const struct scene_probe *probes;
    size_t probe_count;
};

struct schedule schedule_make(const taut_scene *scene, const taut_solver *solver);

// The first step after `step` that a frame is due at; at most steps_planned, where one always is.
// To be asked with steps that do not fall.
uint64_t schedule_next_frame(struct schedule *schedule, uint64_t step);

// The same for a row of a probe; UINT64_MAX if there is none.
uint64_t schedule_next_probe(const struct schedule *schedule, uint64_t step);

#endif
