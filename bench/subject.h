// What one benchmark measures: a scene at some size, by one integrator in one precision on one
// kernel, and the solver of it. Solvers are kept between calls, because Google Benchmark calls a
// benchmark again for each repetition, in random order among all of them, and building a scene
// takes longer than measuring it.
#ifndef TAUT_BENCH_SUBJECT_H
#define TAUT_BENCH_SUBJECT_H

#include "bench/limits.h"
#include "bench/scenes.h"
#include "solver/solver.h"

struct subject {
    const char *name;                // of the scene
    const struct bench_scene *scene; // built in; NULL: the scene file `path`
    const char *path;
    uint64_t springs;       // of a built-in scene, about
    char *const *overrides; // PATH=VALUE as of --set
    size_t override_count;
    const char *integrator, *precision; // NULL: the scene's own
    taut_kernel kernel;
    enum isa isa;
    int threads;
    bool no_pin, energy_budget;
    bool wind; // added to the scene, of wind_law
    enum wind_law wind_law;
    // What the function of the benchmark measures.
    enum stage stage;
    enum bandwidth bandwidth;
};

// Reads or builds the scene; scene_free after. NULL with what is wrong in `findings` or `error`.
taut_scene *subject_scene(const struct subject *subject, struct diagnostics *findings,
                          taut_error *error);

// The solver of a subject, with its number of threads. It belongs to the store, and is valid until
// the call after the next one. NULL with the reason in `error`.
taut_solver *subject_solver(const struct subject *subject, taut_error *error);

// A new solver of the subject, for the caller.
taut_status subject_build(const struct subject *subject, const taut_scene *scene,
                          taut_solver **solver, taut_error *error);

// Destroys all stored solvers.
void subject_release_all(void);

#endif
