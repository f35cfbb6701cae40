// The only C++ of the repository: Google Benchmark has no C interface.
#include "shim.h"

#include <benchmark/benchmark.h>

// bench_state is never defined: a pointer to it is one to benchmark::State.
static benchmark::State *state_of(bench_state *state)
{
    return reinterpret_cast<benchmark::State *>(state);
}

void bench_register(const char *name, bench_function function, const void *context)
{
    benchmark::RegisterBenchmark(name, [function, context](benchmark::State &state) {
        function(reinterpret_cast<bench_state *>(&state), context);
    })->UseManualTime();
}

bool bench_next(bench_state *state)
{
    return state_of(state)->KeepRunning();
}

void bench_seconds(bench_state *state, double seconds)
{
    state_of(state)->SetIterationTime(seconds);
}

void bench_count(bench_state *state, const char *name, double a_turn)
{
    using benchmark::Counter;
    state_of(state)->counters[name] = Counter(a_turn, Counter::kIsIterationInvariantRate);
}

void bench_value(bench_state *state, const char *name, double value)
{
    state_of(state)->counters[name] = value;
}

void bench_fail(bench_state *state, const char *text)
{
    state_of(state)->SkipWithError(text);
}

int bench_run(int argc, char **argv)
{
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
