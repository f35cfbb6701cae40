// The options of taut-bench. Those of Google Benchmark (--benchmark_...) are passed on unchanged.
#ifndef TAUT_BENCH_OPTIONS_H
#define TAUT_BENCH_OPTIONS_H

#include "scene/scene.h"
#include "simd/isa.h"

enum { BENCH_LIST_MAX = 16 };

// The suites of benchmarks, as bits.
enum bench_suite {
    SUITE_STEPS = 1,   // whole steps
    SUITE_SCALING = 2, // strong and weak
    SUITE_STAGES = 4,  // stages of a step, the volume, the tangent, plan and set-up
    SUITE_LIMITS = 8,  // bandwidth and arithmetic peak of the machine
};

struct bench_options {
    char **scenes; // names of built-in scenes, and paths of scene files
    int scene_count;
    unsigned suites; // 0: the default for the scenes
    int threads[BENCH_LIST_MAX];
    int thread_count; // 0: 1 and the number of physical cores
    const char *integrators[BENCH_LIST_MAX];
    int integrator_count; // 0: symplectic_euler and velocity_verlet; for a scene file its own
    const char *precisions[BENCH_LIST_MAX];
    int precision_count; // 0: single; for a scene file its own
    taut_kernel kernels[BENCH_LIST_MAX];
    int kernel_count; // 0: reference and auto
    bool isas[ISA_COUNT];
    uint64_t springs[BENCH_LIST_MAX];
    int springs_count;      // 0: the headline size
    bool energy_budgets[2]; // [0] without, [1] with
    bool full, no_pin;
    char **overrides;
    size_t override_count;
    // Flags for Google Benchmark, beginning with the defaults of taut-bench; argv[0] is the
    // program.
    char **flags;
    int flag_count;
    bool lists_only;   // --benchmark_list_tests
    bool medians_only; // the console shows one line per benchmark
};

// Reads the command line. Returns true if there is something to measure; otherwise *exit_code is
// the exit code: help or the version was printed, or an error has been reported. options_free must
// follow in both cases.
bool options_read(int argc, char **argv, struct bench_options *options, int *exit_code);

void options_free(struct bench_options *options);

// Prints "taut-bench: " and the text on standard error.
void complain(const char *format, ...) PRINTF_FORMAT(1, 2);

#endif
