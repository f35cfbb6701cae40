// The machine's own limits: its bandwidth over arrays larger than its caches, and the arithmetic
// peak of each instruction set.
//
// Three bandwidths, because what a machine moves depends on the mix. The triad of STREAM,
// a = b + 3 c, is the one that others quote; but a cache reads a line before it writes it, so a
// quarter of what the triad moves is not counted. An update, a = a + 3 b, writes only lines that it
// has read, as a step does, and everything that it moves is counted. Stores that go past the cache
// would give the triad about as much; no kernel of ours could use them, since what they write is
// read again at once. Reading alone is what a volume does.
//
// Where an array lies decides as much as the rest (pages, their size, their banks), so arrays are
// allocated anew each time, do not begin at the same place of a page, and the best of measurements
// that are spread over the run counts.
#include <math.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/bench.h"
#include "cli/bench_peak.h"
#include "parallel/team.h"

enum {
    STREAM_PASSES = 4,
    STREAM_LANES = 16,
    STREAM_SHIFT = 5 * 256 + 16 // floats: array k begins so much k further on
};

static const double PEAK_SECONDS = 0.01;

enum stream_kind { STREAM_TRIAD, STREAM_UPDATE, STREAM_READ, STREAM_KINDS };

struct stream {
    float *restrict a, *restrict b, *restrict c;
    size_t count;
    double best[STREAM_KINDS]; // s a pass; of worker 0
    float sinks[64];           // what was read, so that reading is not left out
};

static float stream_pass(const struct stream *stream, enum stream_kind kind, struct range share)
{
    float *restrict a = stream->a, *restrict b = stream->b, *restrict c = stream->c;
    if (kind == STREAM_TRIAD) {
        for (size_t i = share.first; i < share.end; i++)
            a[i] = b[i] + 3 * c[i];
        return a[share.first];
    }
    if (kind == STREAM_UPDATE) {
        for (size_t i = share.first; i < share.end; i++)
            a[i] = a[i] + 3 * b[i];
        return a[share.first];
    }
    float sums[STREAM_LANES] = {0}; // as many chains as hide the latency of an addition
    for (size_t i = share.first; i + STREAM_LANES <= share.end; i += STREAM_LANES)
        for (size_t lane = 0; lane < STREAM_LANES; lane++)
            sums[lane] += b[i + lane] + c[i + lane];
    float sum = 0;
    for (size_t lane = 0; lane < STREAM_LANES; lane++)
        sum += sums[lane];
    return sum;
}

static void stream_run(void *context, const struct worker *worker)
{
    struct stream *stream = context;
    struct range share = worker_share(worker, stream->count, STREAM_LANES);
    for (size_t i = share.first; i < share.end; i++) {
        stream->a[i] = 0; // first touched by the worker that will use it
        stream->b[i] = 1;
        stream->c[i] = 2;
    }
    for (int round = 0; round < STREAM_PASSES * STREAM_KINDS; round++) {
        enum stream_kind kind = (enum stream_kind)(round % STREAM_KINDS);
        worker_barrier(worker);
        double begin = clock_seconds();
        float sink = share.first < share.end ? stream_pass(stream, kind, share) : 0;
        worker_barrier(worker);
        double seconds = clock_seconds() - begin;
        if (worker->index < 64)
            stream->sinks[worker->index] = sink;
        if (worker->index == 0 && (round < STREAM_KINDS || seconds < stream->best[kind]))
            stream->best[kind] = seconds;
    }
}

// Counted as STREAM counts: what the program reads and writes, not what the cache reads before it
// writes.
static taut_status measure_bandwidth(const struct machine *machine, struct bench_limit *limit,
                                     taut_error *error)
{
    const size_t least = (size_t)32 << 20, most = (size_t)512 << 20;
    size_t bytes = 2 * machine->l3 < least ? least : 2 * machine->l3;
    size_t count = (bytes < most ? bytes : most) / sizeof(float);
    size_t room = count + 2 * STREAM_SHIFT;
    float *arrays[3];
    bool whole = true;
    for (int k = 0; k < 3; k++) {
        arrays[k] = memory_allocate(NULL, room, sizeof(float));
        whole = whole && arrays[k];
    }
    if (whole) {
        struct stream stream = {.count = count};
        stream.a = arrays[0];
        stream.b = arrays[1] + STREAM_SHIFT;
        stream.c = arrays[2] + 2 * STREAM_SHIFT;
        team_run(limit->threads, stream_run, &stream);
        double array = (double)count * sizeof(float);
        bench_rates_add(&limit->triad, 3 * array / stream.best[STREAM_TRIAD]);
        bench_rates_add(&limit->update, 3 * array / stream.best[STREAM_UPDATE]);
        bench_rates_add(&limit->read, 2 * array / stream.best[STREAM_READ]);
    }
    for (int k = 0; k < 3; k++)
        memory_release(NULL, arrays[k], room, sizeof(float));
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
        taut_status status = measure_bandwidth(&report->machine, limit, error);
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
