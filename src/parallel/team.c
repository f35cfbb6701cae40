#include "parallel/team.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>

// A barrier of our own: it spins for some microseconds, which is how long a balanced stage keeps
// its fastest worker waiting, and then sleeps. OpenMP's spins for milliseconds, and where another
// process holds one of the cores it spins away the time slice that the late worker needs:
// throughput falls to a twentieth.
struct team {
    atomic_uint arrived;
    atomic_uint phase;   // counts the barriers passed
    atomic_size_t taken; // items handed out since the last barrier
    int spins;
    pthread_mutex_t mutex;
    pthread_cond_t turned;
};

enum { SPINS = 2000 };

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static bool phase_left(struct team *team, unsigned phase)
{
    return atomic_load_explicit(&team->phase, memory_order_acquire) != phase;
}

static void open_barrier(struct team *team, unsigned phase)
{
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&team->taken, 0, memory_order_relaxed);
    pthread_mutex_lock(&team->mutex);
    atomic_store_explicit(&team->phase, phase + 1, memory_order_release);
    pthread_mutex_unlock(&team->mutex);
    pthread_cond_broadcast(&team->turned);
}

void worker_barrier(const struct worker *worker)
{
    struct team *team = worker->team;
    if (worker->count == 1) {
        atomic_store_explicit(&team->taken, 0, memory_order_relaxed);
        return;
    }
    unsigned phase = atomic_load_explicit(&team->phase, memory_order_relaxed);
    unsigned before = atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel);
    if (before + 1 == (unsigned)worker->count) {
        open_barrier(team, phase);
        return;
    }
    for (int spin = 0; spin < team->spins; spin++) {
        if (phase_left(team, phase))
            return;
        relax();
    }
    pthread_mutex_lock(&team->mutex);
    while (!phase_left(team, phase))
        pthread_cond_wait(&team->turned, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
}

void team_run(int threads, team_function function, void *context)
{
    // Spinning helps only where everybody has a core.
    struct team team = {.spins = threads <= omp_get_num_procs() ? SPINS : 0,
                        .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .turned = PTHREAD_COND_INITIALIZER};
#pragma omp parallel num_threads(threads) default(none) shared(function, context, team)
    {
        struct worker worker = {omp_get_thread_num(), omp_get_num_threads(), &team};
        function(context, &worker);
        worker_barrier(&worker); // nobody waits at the end of the region, where OpenMP would spin
    }
    pthread_cond_destroy(&team.turned);
    pthread_mutex_destroy(&team.mutex);
}

bool worker_take(const struct worker *worker, size_t count, size_t batch, struct range *range)
{
    size_t first = atomic_fetch_add_explicit(&worker->team->taken, batch, memory_order_relaxed);
    if (first >= count)
        return false;
    *range = (struct range){first, count - first > batch ? first + batch : count};
    return true;
}

struct range worker_share(const struct worker *worker, size_t count, size_t grain)
{
    size_t grains = (count + grain - 1) / grain;
    size_t workers = (size_t)worker->count, index = (size_t)worker->index;
    size_t each = grains / workers, rest = grains % workers;
    size_t first = index * each + (index < rest ? index : rest);
    size_t end = first + each + (index < rest ? 1 : 0);
    struct range share = {first * grain, end * grain};
    if (share.first > count)
        share.first = count;
    if (share.end > count)
        share.end = count;
    return share;
}
