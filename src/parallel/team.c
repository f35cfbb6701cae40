#include "parallel/team_parts.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

// The threads are our own. OpenMP's spin for milliseconds, at barriers and after each region, and
// where another process holds one of the cores they spin away the time slice that the late worker
// needs; and all of them must come to the end of a region, also those that had better rest. Ours
// spin for some microseconds, which is how long a balanced stage keeps its fastest worker waiting,
// and then sleep.
enum { SPINS = 2000 };

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// ---- The barrier

static bool phase_left(struct team *team, unsigned phase)
{
    return atomic_load_explicit(&team->phase, memory_order_acquire) != phase;
}

// Who comes last takes the lock only if somebody sleeps. Whoever goes to sleep counts itself before
// it looks at the phase, and the phase is turned before the sleepers are looked at: one of the two
// sees the other (all four are sequentially consistent).
static void open_barrier(struct team *team, unsigned phase)
{
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    if (atomic_load_explicit(&team->sleepers, memory_order_relaxed) > 0)
        atomic_store_explicit(&team->opened, clock_seconds(), memory_order_relaxed);
    atomic_store(&team->phase, phase + 1);
    if (atomic_load(&team->sleepers) == 0)
        return;
    pthread_mutex_lock(&team->mutex);
    pthread_cond_broadcast(&team->turned);
    pthread_mutex_unlock(&team->mutex);
}

// Only until the barrier opens does a worker sleep of its own accord: from then on it waits for a
// core that somebody else has. (Whoever opened it before it saw this one asleep has left an older
// time.)
static void wait_for_barrier(struct team *team, unsigned phase, struct member *member)
{
    for (int spin = 0; spin < team->spins; spin++) {
        if (phase_left(team, phase))
            return;
        relax();
    }
    double begin = clock_seconds();
    pthread_mutex_lock(&team->mutex);
    atomic_fetch_add(&team->sleepers, 1);
    while (atomic_load(&team->phase) == phase)
        pthread_cond_wait(&team->turned, &team->mutex);
    atomic_fetch_sub(&team->sleepers, 1);
    pthread_mutex_unlock(&team->mutex);
    member->slept += fmax(0, atomic_load_explicit(&team->opened, memory_order_relaxed) - begin);
}

// The next phase's counters: of this worker, and of those that are not in the group.
static void reset_taken(const struct worker *worker, unsigned phase)
{
    struct team *team = worker->team;
    for (int i = worker->index; i < team->workers; i += worker->count)
        atomic_store_explicit(&team->members[i].taken[phase % 2], 0, memory_order_relaxed);
}

// Arrives; true for whoever comes last, who must open the barrier.
static bool arrive(const struct worker *worker, unsigned *phase)
{
    *phase = atomic_load_explicit(&worker->team->phase, memory_order_relaxed);
    reset_taken(worker, *phase + 1);
    unsigned count = (unsigned)worker->count; // once we have arrived it may be changed
    return atomic_fetch_add_explicit(&worker->team->arrived, 1, memory_order_acq_rel) + 1 == count;
}

void worker_barrier(const struct worker *worker)
{
    unsigned phase;
    if (arrive(worker, &phase))
        open_barrier(worker->team, phase);
    else
        wait_for_barrier(worker->team, phase, &worker->team->members[worker->place]);
}

// ---- The group

// Calls a worker to a part that begins when `phase` has been left.
static void call(struct team *team, struct member *member, struct worker part, unsigned phase)
{
    member->worker = part;
    member->called_in = phase;
    pthread_mutex_lock(&team->mutex);
    atomic_store_explicit(&member->called, true, memory_order_release);
    if (member->asleep)
        pthread_cond_signal(&member->wake);
    pthread_mutex_unlock(&team->mutex);
}

// Gives everybody a part in the new group, or rest. All of the old group wait at the barrier of
// `phase`; those who had no part are called.
static void give_parts(struct team *team, unsigned phase)
{
    for (int i = 0; i < team->workers; i++) {
        struct member *member = &team->members[i];
        struct worker part = {member->next_index, team->group, team, i};
        if (member->worker.index >= 0) {
            if (part.index < 0)
                atomic_store_explicit(&member->ready, false, memory_order_relaxed);
            member->worker = part;
        } else if (part.index >= 0) {
            call(team, member, part, phase);
        }
    }
}

bool worker_regroup(const struct worker *worker)
{
    struct team *team = worker->team;
    if (team->workers == 1) {
        worker_barrier(worker);
        return true;
    }
    struct member *member = &team->members[worker->place];
    attendance_watch(team, member);
    unsigned phase;
    if (!arrive(worker, &phase)) {
        wait_for_barrier(team, phase, member);
        return worker->index >= 0;
    }
    if (attendance_next_group(team))
        give_parts(team, phase);
    bool stays = worker->index >= 0;
    open_barrier(team, phase);
    return stays;
}

// ---- Regions

// Waits for a part; false if instead the region is over (which only the first worker waits for) or
// the threads are to end.
static bool wait_for_call(struct team *team, struct member *member, atomic_bool *end, int spins)
{
    atomic_store_explicit(&member->ready, true, memory_order_release);
    for (int spin = 0; spin < spins; spin++) {
        if (atomic_load_explicit(&member->called, memory_order_acquire))
            break;
        relax();
    }
    if (!atomic_load_explicit(&member->called, memory_order_acquire)) {
        pthread_mutex_lock(&team->mutex);
        member->asleep = true;
        while (!atomic_load_explicit(&member->called, memory_order_acquire) && !atomic_load(end))
            pthread_cond_wait(&member->wake, &team->mutex);
        member->asleep = false;
        pthread_mutex_unlock(&team->mutex);
    }
    if (!atomic_exchange_explicit(&member->called, false, memory_order_acquire))
        return false;
    wait_for_barrier(team, member->called_in, member);
    return true;
}

// The last worker of a region opens the barrier behind which the others leave it. The first worker,
// if it rests, waits for the region's end outside.
static void end_region(struct team *team, unsigned phase)
{
    bool first_rests = team->members[0].worker.index < 0;
    for (int i = 0; i < team->workers; i++)
        if (team->members[i].worker.index >= 0) // one that was given rest may still be reading it
            team->members[i].worker.index = -1;
    open_barrier(team, phase);
    if (!first_rests)
        return;
    pthread_mutex_lock(&team->mutex);
    atomic_store(&team->over, true);
    pthread_cond_signal(&team->members[0].wake);
    pthread_mutex_unlock(&team->mutex);
}

// One worker's part: until the work is done (true) or the worker is given rest.
static bool do_part(struct team *team, struct member *member)
{
    attendance_begin(member);
    team->function(team->context, &member->worker);
    attendance_end(member);
    if (member->worker.index < 0)
        return false;
    unsigned phase;
    if (arrive(&member->worker, &phase))
        end_region(team, phase);
    else
        wait_for_barrier(team, phase, member);
    return true;
}

static void *serve(void *argument)
{
    struct member *member = argument;
    struct team *team = member->team;
    if (team->enter)
        team->enter(team->places, (int)(member - team->members));
    int spins = 0;
    while (wait_for_call(team, member, &team->leaving, spins))
        spins = do_part(team, member) ? team->spins : 0;
    return NULL;
}

static void work(struct team *team, team_function function, void *context)
{
    struct member *first = &team->members[0];
    team->function = function;
    team->context = context;
    atomic_store_explicit(&team->over, false, memory_order_relaxed);
    attendance_first_group(team);
    // As if all had been waiting at a barrier: nobody begins before everybody has a part.
    unsigned phase = atomic_load_explicit(&team->phase, memory_order_relaxed);
    for (int i = 0; i < team->workers; i++)
        atomic_store_explicit(&team->members[i].taken[(phase + 1) % 2], 0, memory_order_relaxed);
    give_parts(team, phase);
    open_barrier(team, phase);
    while (wait_for_call(team, first, &team->over, 0))
        if (do_part(team, first))
            return;
}

// ---- Making

static void prepare(struct team *team, int workers, struct member *members)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *team = (struct team){
        .workers = workers,
        // Spinning helps only where everybody has a core.
        .spins = processors < 0 || workers <= processors ? SPINS : 0,
        .members = members,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .turned = PTHREAD_COND_INITIALIZER,
    };
    for (int i = 0; i < workers; i++)
        members[i] = (struct member){
            .team = team, .worker = {.index = -1}, .ready = true, .wake = PTHREAD_COND_INITIALIZER};
}

static void finish(struct team *team)
{
    pthread_mutex_lock(&team->mutex);
    atomic_store(&team->leaving, true);
    for (int i = 1; i < team->workers; i++)
        pthread_cond_signal(&team->members[i].wake);
    pthread_mutex_unlock(&team->mutex);
    for (int i = 1; i < team->workers; i++)
        pthread_join(team->members[i].thread, NULL);
    for (int i = 0; i < team->workers; i++)
        pthread_cond_destroy(&team->members[i].wake);
    pthread_cond_destroy(&team->turned);
    pthread_mutex_destroy(&team->mutex);
}

struct team *team_make(int workers, const struct places *places, place_function enter)
{
    struct team *team = aligned_alloc(64, sizeof *team);
    struct member *members = aligned_alloc(64, (size_t)workers * sizeof *members);
    if (!team || !members) {
        free(team);
        free(members);
        return NULL;
    }
    prepare(team, workers, members);
    team->places = places;
    team->enter = enter;
    for (int i = 1; i < workers; i++)
        if (pthread_create(&members[i].thread, NULL, serve, &members[i]) != 0) {
            team->workers = i; // the results do not depend on how many there are
            break;
        }
    return team;
}

void team_free(struct team *team)
{
    if (!team)
        return;
    finish(team);
    free(team->members);
    free(team);
}

void team_work(struct team *team, team_function function, void *context)
{
    if (team) {
        work(team, function, context);
        return;
    }
    struct member member;
    struct team alone;
    prepare(&alone, 1, &member);
    work(&alone, function, context);
    finish(&alone);
}

void team_run(int threads, team_function function, void *context)
{
    struct team *team = team_make(threads, NULL, NULL);
    team_work(team, function, context);
    team_free(team);
}

// ---- Loops

static struct range share_of(size_t index, size_t workers, size_t count, size_t grain)
{
    size_t grains = count / grain + (count % grain != 0);
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

// The next batch of somebody's share. Looking first keeps those who search for work from writing to
// every cursor.
static bool take_from(const struct worker *worker, size_t owner, size_t count, size_t batch,
                      struct range *range)
{
    struct team *team = worker->team;
    struct range share = share_of(owner, (size_t)worker->count, count, batch);
    size_t length = share.end - share.first;
    unsigned phase = atomic_load_explicit(&team->phase, memory_order_relaxed);
    atomic_size_t *taken = &team->members[owner].taken[phase % 2];
    if (atomic_load_explicit(taken, memory_order_relaxed) >= length)
        return false;
    size_t first = atomic_fetch_add_explicit(taken, batch, memory_order_relaxed);
    if (first >= length)
        return false;
    size_t end = length - first > batch ? first + batch : length;
    *range = (struct range){share.first + first, share.first + end};
    return true;
}

bool worker_take(const struct worker *worker, size_t count, size_t batch, struct range *range)
{
    size_t shares = (size_t)worker->count, own = (size_t)worker->index;
    for (size_t i = 0; i < shares; i++)
        if (take_from(worker, (own + i) % shares, count, batch, range))
            return true;
    return false;
}

struct range worker_share(const struct worker *worker, size_t count, size_t grain)
{
    return share_of((size_t)worker->index, (size_t)worker->count, count, grain);
}
