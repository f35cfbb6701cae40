// What a benchmark measures: a scene of some size on some kernel. The solver of the last subject is
// kept, because Google Benchmark calls a benchmark again and again to find how many turns it needs.
#ifndef TAUT_BENCH_SUBJECT_H
#define TAUT_BENCH_SUBJECT_H

#include "cli/bench_scenes.h"
#include "solver.h"

struct subject {
    const struct bench_scene *scene;
    uint64_t springs; // wanted
    taut_kernel kernel;
    enum isa isa;
    int threads;
    bool wind;
    enum wind_law wind_law;
    enum stage stage; // of benchmarks of a stage
};

// The scene of a subject; scene_free after. NULL with the reason in `error`.
taut_scene *subject_scene(const struct subject *subject, taut_error *error);

// Its solver, which stays ours; NULL with the reason in `error`.
taut_solver *subject_solver(const struct subject *subject, taut_error *error);

// A solver of its own, from its scene.
taut_status subject_make(const struct subject *subject, const taut_scene *scene,
                         taut_solver **solver, taut_error *error);

// Frees what is kept.
void subject_forget(void);

#endif
