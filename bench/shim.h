// A C interface to Google Benchmark, for benchmarks that measure time themselves.
#ifndef TAUT_BENCH_SHIM_H
#define TAUT_BENCH_SHIM_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// One run of a benchmark.
struct bench_state;

typedef void (*bench_function)(struct bench_state *state, const void *context);

// Registers a benchmark; `context` must live until bench_run returns. The function loops `while
// (bench_next(state))` and passes the seconds of each iteration to bench_seconds.
void bench_register(const char *name, bench_function function, const void *context);

bool bench_next(struct bench_state *state);
void bench_seconds(struct bench_state *state, double seconds);

// Counters, columns of the result. A rate is given per iteration and shown per second; a value is
// shown unchanged.
void bench_rate(struct bench_state *state, const char *name, double per_iteration);
void bench_value(struct bench_state *state, const char *name, double value);

// A word after the counters.
void bench_label(struct bench_state *state, const char *text);

// Marks the run as failed; the function must return afterwards.
void bench_fail(struct bench_state *state, const char *text);

// Adds a line to the context at the beginning of the result.
void bench_context(const char *key, const char *value);

// Runs the benchmarks that the flags select (--benchmark_filter=REGEX and so on). `medians_only`
// prints one line per benchmark on the console, whatever --benchmark_format is. Returns the number
// of matching benchmarks, or -1 if a flag is not one of Google Benchmark's, which has been
// reported.
int bench_run(int argc, char **argv, bool medians_only);

// Whether any benchmark has failed (bench_fail).
bool bench_any_failed(void);

#ifdef __cplusplus
}
#endif

#endif
