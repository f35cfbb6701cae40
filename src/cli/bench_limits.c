// The machine's own limits: the bandwidth of a triad over arrays larger than its caches, and the
// arithmetic peak of each instruction set.
#include <math.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/bench.h"
#include "cli/bench_peak.h"
#include "parallel/team.h"

enum { TRIAD_PASSES = 5 };

static const double PEAK_SECONDS = 0.01;

struct triad {
    float *restrict a, *restrict b, *restrict c;
    size_t count;
    double best; // s a pass; of worker 0
};

static void triad_run(void *context, const struct worker *worker)
{
    struct triad *triad = context;
    struct range share = worker_share(worker, triad->count, 16);
    float *restrict a = triad->a, *restrict b = triad->b, *restrict c = triad->c;
    for (size_t i = share.first; i < share.end; i++) {
        a[i] = 0; // first touched by the worker that will use it
        b[i] = 1;
        c[i] = 2;
    }
    for (int pass = 0; pass < TRIAD_PASSES; pass++) {
        worker_barrier(worker);
        double begin = clock_seconds();
        for (size_t i = share.first; i < share.end; i++)
            a[i] = b[i] + 3 * c[i];
        worker_barrier(worker);
        double seconds = clock_seconds() - begin;
        if (worker->index == 0 && (pass == 0 || seconds < triad->best))
            triad->best = seconds;
    }
}

// Counted as STREAM counts: two reads and a write, 12 bytes an element; what the cache reads before
// it writes is not.
static taut_status measure_triad(const struct machine *machine, struct bench_limit *limit,
                                 taut_error *error)
{
    const size_t least = (size_t)32 << 20, most = (size_t)512 << 20;
    size_t bytes = 2 * machine->l3 < least ? least : 2 * machine->l3;
    size_t count = (bytes < most ? bytes : most) / sizeof(float);
    struct triad triad = {.count = count};
    triad.a = memory_allocate(NULL, count, sizeof(float));
    triad.b = memory_allocate(NULL, count, sizeof(float));
    triad.c = memory_allocate(NULL, count, sizeof(float));
    bool whole = triad.a && triad.b && triad.c;
    if (whole) {
        team_run(limit->threads, triad_run, &triad);
        bench_rates_add(&limit->triad, 3.0 * sizeof(float) * (double)count / triad.best);
    }
    memory_release(NULL, triad.a, count, sizeof(float));
    memory_release(NULL, triad.b, count, sizeof(float));
    memory_release(NULL, triad.c, count, sizeof(float));
    return whole ? TAUT_OK : fail_memory(error, "the bandwidth's measurement");
}

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
        taut_status status = measure_triad(&report->machine, limit, error);
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
