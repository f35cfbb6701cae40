// Threads that work through the steps together: one parallel region for many steps, entered once;
// inside it every worker calls the same stage functions, takes its own share of each, and meets the
// others at barriers. Nothing that a stage computes may depend on how many workers there are, which
// may change from one step to the next: shares of element-wise loops may be cut anywhere, sums are
// made over fixed chunks and added in chunk order.
#ifndef TAUT_PARALLEL_TEAM_H
#define TAUT_PARALLEL_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct places;
struct team;

struct worker {
    int index; // 0 .. count - 1
    int count;
    struct team *team;
    int place; // among all workers of the team; 0 is the calling thread
};

// Elements [first, end) of a loop.
struct range {
    size_t first, end;
};

// Elements per chunk of every sum. Part of the reproducibility contract: another value, other bits.
enum { SUM_CHUNK = 4096 };

typedef void (*team_function)(void *context, const struct worker *worker);

// Holds the calling thread to the place of a worker (places.h).
typedef void (*place_function)(const struct places *places, int worker);

// A team for many regions, or NULL without memory. It remembers which workers were given rest. It
// has fewer workers than were asked for where the system gives no more threads. Its threads `enter`
// their places when they begin, unless that is NULL; the calling thread, worker 0, is not held.
struct team *team_make(int workers, const struct places *places, place_function enter);
void team_free(struct team *team);

// Runs `function` on all workers that do not rest, and returns when all have returned. Without a
// team (NULL) the caller does it alone: results do not depend on it.
void team_work(struct team *team, team_function function, void *context);

// The same with a team that is made for this once.
void team_run(int threads, team_function function, void *context);

// Waits for all workers of the group. Every worker must come to the same barriers.
void worker_barrier(const struct worker *worker);

// A barrier between two steps at which the group may change, and with it everybody's index and
// count. A worker whose core is taken away too often by somebody else is given rest: false, and it
// must return from the function, which runs from its beginning when the worker is called back. So
// the function must find out how far the work has come.
bool worker_regroup(const struct worker *worker);

// Hands out `count` items, `batch` at a time: first those of the worker's own contiguous share,
// then what others have left of theirs; false when none is left. So a worker finds in its caches,
// and in its part of the memory, what it worked on in the last step, and one whose core is taken
// away for a while holds up no more than one batch. One loop of this kind may stand between two
// barriers.
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
