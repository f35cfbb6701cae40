// What `taut bench` measures, and the parts it is made of.
#ifndef TAUT_CLI_BENCH_H
#define TAUT_CLI_BENCH_H

#include "cli/bench_scenes.h"
#include "cli/command.h"
#include "parallel/machine.h"
#include "simd/isa.h"

// Many short turns rather than few long ones: some of them then fall between two disturbances.
// Limits are measured once a group of scenes, and at the end.
enum {
    BENCH_ROUNDS = 21,
    BENCH_REPETITIONS = 21,
    BENCH_SOLVERS = 1 + ISA_COUNT + 1, // of a scene: plain, each instruction set, double precision
    BENCH_VARIANTS = 1 + (BENCH_SOLVERS - 1) * BENCH_THREADS_MAX,
    BENCH_GROUP_MAX = 3 // scenes
};

// Repetitions of one measurement, in order; a rate, so the largest is the least disturbed one.
struct bench_rates {
    double values[BENCH_REPETITIONS];
    int count;
};

void bench_rates_add(struct bench_rates *rates, double value);
double bench_best(const struct bench_rates *rates);   // NAN of none
double bench_median(const struct bench_rates *rates); // NAN of none

// What the machine itself can do with so many threads.
struct bench_limit {
    int threads;
    // Bytes/s: of a = b + 3 c; of a = a + 3 b, which writes only where it has read, as a step does;
    // and of reading alone.
    struct bench_rates triad, update, read;
    struct bench_rates peak[ISA_COUNT]; // single precision operations/s
};

// One scene on one kernel, instruction set and number of threads.
struct bench_result {
    const struct bench_scene *scene;
    taut_kernel kernel;
    enum isa isa;
    enum precision precision;
    int threads;
    const char *body_kernel; // "grid", "packed" or "reference"
    uint64_t nodes, springs;
    double bytes, setup_seconds;
    double model_bytes;               // a step
    struct bench_rates steps;         // a second, one a round
    struct bench_rates per_reference; // paired with the reference of the same round
};

struct bench_report {
    const struct options *options;
    enum precision precision;
    struct machine machine;
    int thread_counts[BENCH_THREADS_MAX];
    int thread_count;
    bool isas[ISA_COUNT]; // which to measure
    double row_seconds;   // for each row of the result
    struct bench_limit limits[BENCH_THREADS_MAX];
    struct bench_result results[BENCH_SCENES * BENCH_VARIANTS];
    int result_count;
    int signal_number; // that ended it early; 0: none
};

// One repetition of the three bandwidths of a limit, on its threads. Allocates and frees what it
// needs.
taut_status bench_bandwidth_measure(const struct machine *machine, struct bench_limit *limit,
                                    taut_error *error);

// One repetition of each limit. Allocates and frees what it needs.
taut_status bench_limits_measure(struct bench_report *report, taut_error *error);

// Scenes that are measured in the same rounds.
struct bench_group {
    const struct bench_scene *scenes[BENCH_GROUP_MAX];
    int count;
};

// How many rows a scene will have in the report.
int bench_rows(const struct bench_report *report, const struct bench_scene *scene);

// Adds the results of a group to the report; without all repetitions if a signal came.
taut_status bench_group_measure(struct bench_report *report, const struct bench_group *group,
                                taut_error *error);

const struct bench_limit *bench_limit_of(const struct bench_report *report, int threads);

void bench_print_json(const struct bench_report *report);
void bench_print_table(const struct bench_report *report);

#endif
