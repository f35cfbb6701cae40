// The subject of a benchmark: a scene of some size with an integrator, a precision and a kernel,
// and its solver. Solvers are stored between calls, because Google Benchmark calls a benchmark
// again for each repetition, in random order, and building a scene takes longer than measuring it.
#ifndef TAUT_BENCH_SUBJECT_H
#define TAUT_BENCH_SUBJECT_H

#include "bench/limits.h"
#include "bench/scenes.h"
#include "solver/solver.h"

struct subject {
    const char *name;                // of the scene
    const struct bench_scene *scene; // a built-in scene; NULL: the scene file `path`
    const char *path;
    uint64_t springs;       // of a built-in scene, approximately
    char *const *overrides; // PATH=VALUE as for --set
    size_t override_count;
    const char *integrator, *precision; // NULL: the scene's own
    taut_kernel kernel;
    enum isa isa;
    int threads;
    bool no_pin, energy_budget;
    bool wind; // wind of wind_law is added to the scene
    enum wind_law wind_law;
    uint64_t number; // of the benchmark, in the order of registration: the same on all ranks
    // The parameters of the benchmark function.
    enum stage stage;
    enum bandwidth bandwidth;
};

// Reads or builds the scene; scene_free must follow. NULL after an error, which is in `findings` or
// `error`.
taut_scene *subject_scene(const struct subject *subject, struct diagnostics *findings,
                          taut_error *error);

// The options of its solver.
struct solver_options subject_options(const struct subject *subject);

// The solver of a subject, with its number of threads. It belongs to the store, and is valid until
// the call after the next one. NULL after an error, with the reason in `error`.
taut_solver *subject_solver(const struct subject *subject, taut_error *error);

// A new solver of the subject, owned by the caller, on this rank alone.
taut_status subject_build(const struct subject *subject, const taut_scene *scene,
                          taut_solver **solver, taut_error *error);

// Destroys all stored solvers.
void subject_release_all(void);

#endif
