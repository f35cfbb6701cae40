// A thread team that computes many steps in one parallel region. Inside it every worker calls the
// same stage functions, takes its own share of each loop, and meets the others at barriers. No
// result may depend on the number of workers: shares of element-wise loops may be cut anywhere, and
// sums are formed over fixed chunks and added in chunk order.
//
// OpenMP creates the threads, so OMP_NUM_THREADS, OMP_PLACES, OMP_PROC_BIND, OMP_THREAD_LIMIT, OMPT
// tools and other OpenMP code in the same process behave as they do elsewhere. A build without
// OpenMP creates POSIX threads behind the same functions. The barrier and the loops with work
// stealing are our own; team.c explains why.
#ifndef TAUT_PARALLEL_TEAM_H
#define TAUT_PARALLEL_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct numa_binding;
struct team;

struct worker {
    int index; // 0 .. count - 1
    int count; // workers in the current group
    struct team *team;
};

// Elements [first, end) of a loop.
struct range {
    size_t first, end;
};

static inline bool range_has(struct range range, uint64_t i)
{
    return i >= range.first && i < range.end;
}

// Elements per chunk of every sum. Part of the reproducibility contract: another value changes
// bits.
enum { SUM_CHUNK = 4096 };

// Many chunks are added in two levels: the sums of SUM_GROUP of them each, if there are more than
// SUM_GROUPS groups (100,663,296 elements), so that ranks exchange and add a thousandth of them.
enum { SUM_GROUP = 1024, SUM_GROUPS = 24 };

typedef void (*team_function)(void *context, const struct worker *worker);

// "OpenMP 4.5 (libgomp)", or "POSIX threads" in a build without OpenMP.
const char *team_runtime(void);

// The number of threads that OMP_NUM_THREADS or omp_set_num_threads asks for; 0 if neither does.
int team_threads_requested(void);

// The number of threads that OMP_THREAD_LIMIT allows a region; INT_MAX without OpenMP.
int team_thread_limit(void);

// The processors of all places that OMP_PROC_BIND or OMP_PLACES binds threads to. Returns their
// number, 0 if threads are not bound, and stores at most `capacity` of them.
int team_bound_processors(int *processors, int capacity);

// A team of at most `workers` threads for many regions; NULL if memory runs out. It remembers which
// of them are parked. A region has fewer threads if the system or OMP_THREAD_LIMIT allows fewer.
// During a region workers are bound to NUMA nodes (machine.h; `binding` may be NULL), unless
// OMP_PROC_BIND or OMP_PLACES binds them.
struct team *team_make(int workers, const struct numa_binding *binding);
void team_free(struct team *team);

// Runs `function` on all workers that are not parked, and returns when all have returned. If the
// team is NULL the caller runs it alone; results do not depend on it.
void team_work(struct team *team, team_function function, void *context);

// The same with a temporary team.
void team_run(int threads, team_function function, void *context);

// Waits for all workers of the group. All workers must pass the same barriers.
void worker_barrier(const struct worker *worker);

// A barrier between two steps at which the group may change, and with it the index and count of
// every worker: workers that lose too much time to other processes are parked for a while. Returns
// false if it changes: every worker must then return from the function, which is called again with
// the new group. So the function must determine how far the work has progressed.
bool worker_regroup(const struct worker *worker);

// Claims the next `batch` of `count` items: first from the worker's own contiguous share, then from
// the rest of the others' shares (work stealing); false when none are left. So a worker finds in
// its caches, and on its NUMA node, what it worked on in the last step, and one that is descheduled
// for a while delays the others by at most one batch. Only one such loop may lie between two
// barriers.
bool worker_claim(const struct worker *worker, size_t count, size_t batch, struct range *range);

// This worker's contiguous share of `count` elements, cut at multiples of `grain` (so that two
// workers do not write to the same cache line).
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
