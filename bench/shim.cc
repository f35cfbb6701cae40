// Google Benchmark has no C interface; this file implements the one of shim.h. It measures nothing
// itself, and is the only C++ of bench/ apart from the comparison with Bullet.
#include "bench/shim.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

// bench_state is never defined: it stands for benchmark::State.
static benchmark::State *state_of(bench_state *state)
{
    return reinterpret_cast<benchmark::State *>(state);
}

static double smallest(const std::vector<double> &values)
{
    return *std::min_element(values.begin(), values.end());
}

static double largest(const std::vector<double> &values)
{
    return *std::max_element(values.begin(), values.end());
}

// The run in progress: Google Benchmark calls one function at a time.
static struct {
    double seconds, iterations;
    bool started; // bench_next was called
} measured;

// Besides mean, median and deviation of the repetitions, the result has their extremes: the
// shortest time and the highest rate are the least disturbed ones.
void bench_register(const char *name, bench_function function, const void *context)
{
    benchmark::RegisterBenchmark(name,
                                 [function, context](benchmark::State &state) {
                                     measured = {0, 0, false};
                                     function(reinterpret_cast<bench_state *>(&state), context);
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->ComputeStatistics("min", smallest)
        ->ComputeStatistics("max", largest);
}

bool bench_next(bench_state *state)
{
    measured.started = true;
    return state_of(state)->KeepRunning();
}

void bench_seconds(bench_state *state, double seconds)
{
    measured.seconds += seconds;
    measured.iterations += 1;
    state_of(state)->SetIterationTime(seconds);
}

// Not Counter::kIsRate, whose unit the console would print a second time.
void bench_rate(bench_state *state, const char *name, double per_iteration)
{
    if (measured.seconds > 0)
        bench_value(state, name, per_iteration * measured.iterations / measured.seconds);
}

void bench_value(bench_state *state, const char *name, double value)
{
    state_of(state)->counters[name] = value;
}

void bench_label(bench_state *state, const char *text)
{
    state_of(state)->SetLabel(text);
}

static bool any_failed;

bool bench_any_failed()
{
    return any_failed;
}

void bench_fail(bench_state *state, const char *text)
{
    any_failed = true;
    // Google Benchmark aborts if one of several repetitions reports another number of iterations,
    // and a repetition that fails before its loop reports none.
    if (!measured.started)
        bench_next(state);
    state_of(state)->SkipWithError(text);
}

void bench_context(const char *key, const char *value)
{
    benchmark::AddCustomContext(key, value);
}

namespace
{

// Console output with one line per benchmark: the median of its repetitions.
class MedianReporter : public benchmark::ConsoleReporter
{
  public:
    MedianReporter() : ConsoleReporter(OO_None)
    {
    }

    void ReportRuns(const std::vector<Run> &runs) override
    {
        std::vector<Run> shown;
        for (const Run &run : runs)
            if (run.error_occurred || run.aggregate_name == "median" ||
                (run.run_type == Run::RT_Iteration && run.repetitions <= 1))
                shown.push_back(run);
        ConsoleReporter::ReportRuns(shown);
    }
};

} // namespace

int bench_run(int argc, char **argv, bool medians_only)
{
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return -1;
    MedianReporter reporter;
    size_t matched = medians_only ? benchmark::RunSpecifiedBenchmarks(&reporter)
                                  : benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return static_cast<int>(matched);
}
