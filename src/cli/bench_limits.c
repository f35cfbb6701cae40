// The machine's own limits: its bandwidth, and the arithmetic peak of each instruction set.
#include "base/clock.h"
#include "cli/bench.h"
#include "cli/bench_peak.h"
#include "parallel/team.h"

static const double PEAK_SECONDS = 0.01;

struct peak {
    double (*loop)(uint64_t rounds, float *sink);
    uint64_t rounds;
    double operations, seconds; // of worker 0
    float sinks[BENCH_THREADS_MAX > 64 ? BENCH_THREADS_MAX : 64];
};

static void peak_run(void *context, const struct worker *worker)
{
    struct peak *peak = context;
    float sink;
    worker_barrier(worker);
    double begin = clock_seconds();
    double operations = peak->loop(peak->rounds, &sink);
    worker_barrier(worker);
    if (worker->index == 0) {
        peak->seconds = clock_seconds() - begin;
        peak->operations = operations;
    }
    peak->sinks[worker->index % 64] = sink; // so that the loop is not left out
}

static void measure_peak(struct bench_limit *limit, enum isa isa)
{
    static double (*const loops[ISA_COUNT])(uint64_t, float *) = {bench_peak_base, bench_peak_v3,
                                                                  bench_peak_v4};
    struct peak peak = {.loop = loops[isa], .rounds = 1000};
    do {
        peak.rounds *= 2;
        team_run(limit->threads, peak_run, &peak);
    } while (peak.seconds < PEAK_SECONDS);
    bench_rates_add(&limit->peak[isa], limit->threads * peak.operations / peak.seconds);
}

taut_status bench_limits_measure(struct bench_report *report, taut_error *error)
{
    for (int t = 0; t < report->thread_count; t++) {
        struct bench_limit *limit = &report->limits[t];
        limit->threads = report->thread_counts[t];
        taut_status status = bench_bandwidth_measure(&report->machine, limit, error);
        if (status != TAUT_OK)
            return status;
        for (int isa = 0; isa < ISA_COUNT; isa++)
            if (report->isas[isa])
                measure_peak(limit, (enum isa)isa);
    }
    return TAUT_OK;
}

const struct bench_limit *bench_limit_of(const struct bench_report *report, int threads)
{
    for (int t = 0; t < report->thread_count; t++)
        if (report->limits[t].threads == threads)
            return &report->limits[t];
    return NULL;
}
