// Google Benchmark for C: the part of it that benchmarks that time themselves need.
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
// `while (bench_next(state))` and gives the seconds of each iteration to bench_seconds.
void bench_register(const char *name, bench_function function, const void *context);

bool bench_next(struct bench_state *state);
void bench_seconds(struct bench_state *state, double seconds);

// A counter: a column of the result. A rate is what one iteration does, shown per second; a value
// is shown as it is.
void bench_rate(struct bench_state *state, const char *name, double per_iteration);
void bench_value(struct bench_state *state, const char *name, double value);

// A word beside the counters.
void bench_label(struct bench_state *state, const char *text);

// Ends the run as failed; return from the function after it.
void bench_fail(struct bench_state *state, const char *text);

// A line of the context that the result begins with.
void bench_context(const char *key, const char *value);

// Runs what the flags ask for (--benchmark_filter=REGEX and so on). `medians_only` prints one line
// for each benchmark on the console, whatever --benchmark_format is. Returns how many benchmarks
// matched, or -1 where a flag is not one of Google Benchmark's, which has been reported.
int bench_run(int argc, char **argv, bool medians_only);

// Whether any benchmark has failed (bench_fail).
bool bench_any_failed(void);

#ifdef __cplusplus
}
#endif

#endif
