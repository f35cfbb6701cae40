// Memory bandwidth and arithmetic peak.
//
// There are three bandwidths, because the rate of a machine depends on the mix. The triad of
// STREAM, a = b + 3 c, is the one usually quoted; but a cache reads a line before it writes it, so
// a quarter of the triad's traffic is not counted. An update, a = a + 3 b, writes only lines that
// it has read, as a step does, and all of its traffic is counted. Stores that bypass the cache
// would raise the triad to about the same rate, but no kernel of the solver could use them, since
// written data is read again at once. The computation of a volume only reads.
//
// The addresses of an array matter as much (pages, their size, their banks), so arrays are
// allocated again for each measurement, and start at different offsets in a page.
#include "bench/limits.h"

#include "base/os.h"
#include "base/memory.h"
#include "base/status.h"
#include "parallel/team.h"

enum {
    STREAM_PASSES = 4,
    STREAM_LANES = 16,
    STREAM_SHIFT = 5 * 256 + 16 // floats: array k starts at k times this offset
};

struct stream {
    float *restrict a, *restrict b, *restrict c;
    size_t count;
    enum bandwidth kind;
    double best;     // s per pass; of worker 0
    float sinks[64]; // sums of the data read, so that the compiler keeps the reads
};

static float stream_pass(const struct stream *stream, enum bandwidth kind, struct range share)
{
    float *restrict a = stream->a, *restrict b = stream->b, *restrict c = stream->c;
    if (kind == BANDWIDTH_TRIAD) {
        for (size_t i = share.first; i < share.end; i++)
            a[i] = b[i] + 3 * c[i];
        return a[share.first];
    }
    if (kind == BANDWIDTH_UPDATE) {
        for (size_t i = share.first; i < share.end; i++)
            a[i] = a[i] + 3 * b[i];
        return a[share.first];
    }
    float sums[STREAM_LANES] = {0}; // enough independent chains to hide the latency of an addition
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
    for (int pass = 0; pass < STREAM_PASSES; pass++) {
        worker_barrier(worker);
        double begin = clock_seconds();
        float sink = share.first < share.end ? stream_pass(stream, stream->kind, share) : 0;
        worker_barrier(worker);
        double seconds = clock_seconds() - begin;
        if (worker->index < 64)
            stream->sinks[worker->index] = sink;
        if (worker->index == 0 && (pass == 0 || seconds < stream->best))
            stream->best = seconds;
    }
}

const char *bandwidth_name(enum bandwidth kind)
{
    static const char *const names[BANDWIDTH_COUNT] = {"triad", "update", "read"};
    return names[kind];
}

// Counted as STREAM counts: the bytes that the program reads and writes, without the lines that the
// cache reads before it writes them.
taut_status bandwidth_measure(const struct machine *machine, enum bandwidth kind, int threads,
                              double *bytes_per_second, taut_error *error)
{
    const size_t least = (size_t)32 << 20, most = (size_t)512 << 20;
    size_t bytes = 2 * machine->l3 < least ? least : 2 * machine->l3;
    size_t count = (bytes < most ? bytes : most) / sizeof(float);
    size_t capacity = count + 2 * STREAM_SHIFT;

    float *arrays[3];
    bool complete = true;
    for (int k = 0; k < 3; k++) {
        arrays[k] = memory_allocate(NULL, capacity, sizeof(float));
        complete = complete && arrays[k];
    }
    if (complete) {
        struct stream stream = {.count = count, .kind = kind};
        stream.a = arrays[0];
        stream.b = arrays[1] + STREAM_SHIFT;
        stream.c = arrays[2] + 2 * STREAM_SHIFT;
        team_run(threads, stream_run, &stream);
        static const int moved[BANDWIDTH_COUNT] = {3, 3, 2}; // numbers per element
        *bytes_per_second = moved[kind] * (double)count * sizeof(float) / stream.best;
    }
    for (int k = 0; k < 3; k++)
        memory_release(NULL, arrays[k], capacity, sizeof(float));
    return complete ? TAUT_OK : fail_memory(error, "the measurement of the bandwidth");
}

taut_status bandwidth_of_triad(int threads, double *bytes_per_second, taut_error *error)
{
    enum { REPETITIONS = 3, REMEMBERED = 64 };
    static struct {
        int threads;
        double best;
    } known[REMEMBERED];
    static int known_count;
    for (int k = 0; k < known_count; k++)
        if (known[k].threads == threads) {
            *bytes_per_second = known[k].best;
            return TAUT_OK;
        }

    struct machine machine;
    taut_status status = machine_detect(&machine, error);
    double best = 0;
    for (int r = 0; r < REPETITIONS && status == TAUT_OK; r++) {
        double measured;
        status = bandwidth_measure(&machine, BANDWIDTH_TRIAD, threads, &measured, error);
        if (status == TAUT_OK && measured > best)
            best = measured;
    }
    if (status == TAUT_OK && known_count < REMEMBERED) {
        known[known_count].threads = threads;
        known[known_count++].best = best;
    }
    *bytes_per_second = best;
    return status;
}

// ---- Arithmetic

struct peak {
    double (*chains)(uint64_t rounds, float *sink);
    uint64_t rounds;
    double operations, seconds; // of worker 0
    float sinks[64];            // so that the compiler keeps the loop
};

static void peak_run(void *context, const struct worker *worker)
{
    struct peak *peak = context;
    float sink;
    worker_barrier(worker);
    double begin = clock_seconds();
    double operations = peak->chains(peak->rounds, &sink);
    worker_barrier(worker);
    if (worker->index == 0) {
        peak->seconds = clock_seconds() - begin;
        peak->operations = operations;
    }
    if (worker->index < 64)
        peak->sinks[worker->index] = sink;
}

double peak_measure(enum isa isa, int threads)
{
    static double (*const chains[ISA_COUNT])(uint64_t, float *) = {peak_chains_base, peak_chains_v3,
                                                                   peak_chains_v4};
    const double enough = 0.01; // s
    struct peak peak = {.chains = chains[isa], .rounds = 1000};
    do {
        peak.rounds *= 2;
        team_run(threads, peak_run, &peak);
    } while (peak.seconds < enough);
    return threads * peak.operations / peak.seconds;
}
