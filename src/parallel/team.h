// Threads that work through the steps together: one parallel region for many steps, entered once;
// inside it every worker calls the same stage functions, takes its own share of each, and meets the
// others at barriers. Nothing that a stage computes may depend on how many workers there are:
// shares of element-wise loops may be cut anywhere, sums are made over fixed chunks and added in
// chunk order.
#ifndef TAUT_PARALLEL_TEAM_H
#define TAUT_PARALLEL_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct team;

struct worker {
    int index; // 0 .. count - 1; worker 0 is the calling thread
    int count;
    struct team *team;
};

// Elements [first, end) of a loop.
struct range {
    size_t first, end;
};

// Elements per chunk of every sum. Part of the reproducibility contract: another value, other bits.
enum { SUM_CHUNK = 4096 };

typedef void (*team_function)(void *context, const struct worker *worker);

// Runs `function` on `threads` workers and returns when all have returned.
void team_run(int threads, team_function function, void *context);

// Waits for all workers of the region. Every worker must come to the same barriers.
void worker_barrier(const struct worker *worker);

// Hands out `count` items, `batch` at a time, to whoever asks next; false when none is left. So a
// worker whose core is taken away for a while holds up no more than one batch. One loop of this
// kind may stand between two barriers.
bool worker_take(const struct worker *worker, size_t count, size_t batch, struct range *range);

// This worker's contiguous share of `count` elements, cut at multiples of `grain` (so that two
// workers do not write to one cache line).
struct range worker_share(const struct worker *worker, size_t count, size_t grain);

static inline size_t chunk_count(size_t elements)
{
    return (elements + SUM_CHUNK - 1) / SUM_CHUNK;
}

static inline struct range chunk_range(size_t chunk, size_t elements)
{
    size_t first = chunk * SUM_CHUNK;
    size_t end = first + SUM_CHUNK;
    return (struct range){first, end < elements ? end : elements};
}

#endif
