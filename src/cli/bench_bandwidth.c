// The machine's bandwidth over arrays larger than its caches. There are three, because what a
// machine moves depends on the mix. The triad of STREAM, a = b + 3 c, is the one that others quote;
// but a cache reads a line before it writes it, so a quarter of what the triad moves is not
// counted. An update, a = a + 3 b, writes only lines that it has read, as a step does, and
// everything that it moves is counted. Stores that go past the cache would give the triad about as
// much; no kernel of ours could use them, since what they write is read again at once. Reading
// alone is what a volume does.
//
// Where an array lies decides as much as the rest (pages, their size, their banks), so arrays are
// allocated anew each time, do not begin at the same place of a page, and the best of measurements
// that are spread over the run counts.
#include "base/clock.h"
#include "base/memory.h"
#include "cli/bench.h"
#include "parallel/team.h"

enum {
    STREAM_PASSES = 4,
    STREAM_LANES = 16,
    STREAM_SHIFT = 5 * 256 + 16 // floats: array k begins so much k further on
};

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
taut_status bench_bandwidth_measure(const struct machine *machine, struct bench_limit *limit,
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
