// Google Benchmark for C: enough of it for benchmarks that time themselves.
#ifndef TAUT_BENCH_SHIM_H
#define TAUT_BENCH_SHIM_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// One run of a benchmark.
struct bench_state;

typedef void (*bench_function)(struct bench_state *state, const void *context);

// Registers a benchmark; `context` must live until bench_run returns. The function loops
// `while (bench_next(state))` and gives the seconds of each turn to bench_seconds.
void bench_register(const char *name, bench_function function, const void *context);

bool bench_next(struct bench_state *state);
void bench_seconds(struct bench_state *state, double seconds);

// A column of the result. `a_turn`: so much of it is done each turn, and the column is per second.
void bench_count(struct bench_state *state, const char *name, double a_turn);
void bench_value(struct bench_state *state, const char *name, double value);

// Ends the run as failed; return from the function after it.
void bench_fail(struct bench_state *state, const char *text);

// Runs what the command line asks for (--benchmark_filter=REGEX and so on); the exit status.
int bench_run(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
