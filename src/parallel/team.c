// The thread team (team.h). OpenMP creates the threads, in one `parallel` region for many steps.
// Three parts inside a region are our own, because they determine the cost of a busy process on one
// of the cores. Two threads on two cores, one of them shared with a process that only computes, in
// units of one undisturbed thread (tools/measure.py neighbour: cloth of 1.5 million springs, jelly
// of 3.6 million, rope of 40,000 with steps of 50 us):
//
//                                           cloth        jelly        rope
//   barrier and work stealing               0.72-0.80    0.76-0.80    0.33-0.39
//   the same, with parking of workers       0.89-0.92    0.86-0.93    0.80-0.82
//
// - The barrier spins for some microseconds, which is how long the fastest worker waits in a
//   balanced stage, and then blocks. libgomp's spins for milliseconds unless OMP_WAIT_POLICY is
//   passive, and thereby takes from the late worker the time slice that it needs: 64 chunks of 3 us
//   per step ran at 0.6 with libgomp's barrier and 0.8 with this one.
// - Loops are claimed in batches, own share first. `schedule(dynamic)` has no such affinity, and
//   `schedule(static)` leaves a delayed worker its whole share.
// - A worker that loses more of its time to other processes than it contributes is parked: the
//   steps continue without it for a while.
#include "parallel/team.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "parallel/machine.h"

#if defined(_OPENMP) && !defined(TAUT_POSIX_THREADS)
#    include <omp.h>
#    define USES_OPENMP 1
#else
#    define USES_OPENMP 0
#endif

enum { SPINS = 2000 };

// One worker of the team, on its own cache lines.
struct member {
    // How much of this worker's share of a loop has been claimed, by itself or by others. The two
    // counters alternate between barriers: while one is used, the other is reset to 0 for the next
    // phase.
    _Alignas(64) atomic_size_t claimed[2];

    // For parking. Written by the worker, or by the last worker to arrive at a barrier while the
    // others wait there.
    bool measured;          // `loss` has been measured since the group was last formed
    double loss;            // fraction of the last window lost to other processes
    double parked_for;      // s, duration of the last parking; 0: little loss since then
    double parked_until;    // s, time of the clock
    double wall, cpu;       // s, times of the clocks at the last reading
    double slept;           // s asleep at barriers since the last reading
    double watched, stolen; // s in the current window
};

struct team {
    int workers; // the maximum
    int spins;   // before a waiting worker blocks
    struct member *members;
    const struct numa_binding *binding;
    team_function function;
    void *context;

    int *group;          // the members in this region, in ascending order,
    int group_size;      // and their number
    bool regroups;       // the region ends, and another group continues
    atomic_int measured; // members of the group with a measured loss
    double next_return;  // s, clock time at which the next parked worker may return

    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint phase; // barriers passed so far
    atomic_int sleepers;
    _Atomic double opened_at; // s, clock time of the last barrier at which a worker slept
    pthread_mutex_t mutex;
    pthread_cond_t opened; // signals that a barrier has opened
};

// ---- The barrier

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

// The last worker to arrive takes the lock only if another one sleeps. A worker that goes to sleep
// increments `sleepers` before it reads the phase, and the phase is advanced before `sleepers` is
// read, so that one of the two sees the other (all four accesses are sequentially consistent).
static void open_barrier(struct team *team, unsigned phase)
{
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    if (atomic_load_explicit(&team->sleepers, memory_order_relaxed) > 0)
        atomic_store_explicit(&team->opened_at, clock_seconds(), memory_order_relaxed);
    atomic_store(&team->phase, phase + 1);
    if (atomic_load(&team->sleepers) == 0)
        return;
    pthread_mutex_lock(&team->mutex);
    pthread_cond_broadcast(&team->opened);
    pthread_mutex_unlock(&team->mutex);
}

// Sleep counts only until the barrier opens: after that the worker waits for a core that another
// process uses. (If the barrier opened before this worker was counted as a sleeper, opened_at is
// older and nothing is added.)
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
        pthread_cond_wait(&team->opened, &team->mutex);
    atomic_fetch_sub(&team->sleepers, 1);
    pthread_mutex_unlock(&team->mutex);
    member->slept += fmax(0, atomic_load_explicit(&team->opened_at, memory_order_relaxed) - begin);
}

static struct member *group_member(const struct team *team, int index)
{
    return &team->members[team->group[index]];
}

// Arrives at a barrier; true for the last worker, which must open it.
static bool arrive(const struct worker *worker, unsigned *phase)
{
    struct team *team = worker->team;
    *phase = atomic_load_explicit(&team->phase, memory_order_relaxed);
    atomic_store_explicit(&group_member(team, worker->index)->claimed[(*phase + 1) % 2], 0,
                          memory_order_relaxed);
    unsigned before = atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel);
    return before + 1 == (unsigned)worker->count;
}

// A group of one has nobody to wait for, and for small scenes the atomic operations of a barrier
// would be a considerable part of a step.
static void pass_barrier_alone(const struct worker *worker)
{
    struct team *team = worker->team;
    const unsigned next = atomic_load_explicit(&team->phase, memory_order_relaxed) + 1;
    atomic_store_explicit(&group_member(team, worker->index)->claimed[next % 2], 0,
                          memory_order_relaxed);
    atomic_store_explicit(&team->phase, next, memory_order_relaxed);
}

void worker_barrier(const struct worker *worker)
{
    unsigned phase;
    if (worker->count == 1) {
        pass_barrier_alone(worker);
        return;
    }
    if (arrive(worker, &phase))
        open_barrier(worker->team, phase);
    else
        wait_for_barrier(worker->team, phase, group_member(worker->team, worker->index));
}

// ---- Parked workers
//
// If another process computes on one of our cores, the worker there has the core half of the time,
// in slices of some milliseconds, and while it is descheduled all others wait for the small batch
// that it had claimed. With short steps two workers are then slower than one alone. So each worker
// measures how much of its time is taken away. One that loses more than it contributes is parked,
// and returns after a while to test whether the other process has gone. It is parked for a tenth of
// a second at first, and for twice as long each time that the next measurement was no better,
// whichever worker loses then. To park or recall a worker, the region ends between two steps and
// the next one begins with another number of threads, so that nobody waits for a thread without a
// core.
//
// The loss of a worker is the elapsed time, less its processor time, less its sleep at barriers
// before they opened (a worker woken on a core that another process uses waits again). While a
// worker is descheduled the other n - 1 of n wait: it costs more than it contributes if that is
// more than 1/n of the time. The threshold is somewhat lower, since n workers are seldom n times as
// fast as one.
//
// With short steps workers sleep at barriers so often that the system migrates them all the time:
// they take turns on the busy core, and each loses little. So the sum of all losses has a threshold
// as well, above which the worker that lost most is parked.

static const double WINDOW = 0.03;                      // s, the interval over which a loss is
                                                        // measured
static const double PARKED_MIN = 0.1, PARKED_MAX = 1.6; // s
static const double LOSS_OF_ONE = 0.75, LOSS_OF_ALL = 0.6;

// Processor time of this thread; negative if there is no such clock, and then no worker is parked.
static double processor_seconds(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0)
        return -1;
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void read_clocks(struct member *member, double now)
{
    member->wall = now;
    member->cpu = processor_seconds();
    member->slept = 0;
}

// Adds the time since the last reading to the window.
static void extend_window(struct member *member, double now)
{
    double wall = member->wall, cpu = member->cpu, slept = member->slept;
    read_clocks(member, now);
    member->watched += now - wall;
    if (cpu >= 0 && member->cpu >= 0)
        member->stolen += fmax(0, now - wall - (member->cpu - cpu) - slept);
}

// Called before a barrier at which the group may change: closes a window that is long enough.
static void measure_loss(struct team *team, struct member *member)
{
    double now = clock_seconds();
    if (member->watched + (now - member->wall) < WINDOW)
        return;
    extend_window(member, now);
    member->loss = member->stolen / member->watched;
    member->watched = member->stolen = 0;
    if (member->measured)
        return;
    member->measured = true;
    atomic_fetch_add_explicit(&team->measured, 1, memory_order_relaxed);
}

// The losses of a group.
struct losses {
    double all, most;  // the sum and the largest, as fractions of the time
    double parked_for; // s, the longest recent parking of any of them
};

static struct losses add_losses(const struct team *team)
{
    struct losses losses = {0};
    for (int i = 0; i < team->group_size; i++) {
        const struct member *member = group_member(team, i);
        losses.all += member->loss;
        losses.most = fmax(losses.most, member->loss);
        losses.parked_for = fmax(losses.parked_for, member->parked_for);
    }
    return losses;
}

static bool is_to_park(const struct team *team, const struct member *member,
                       const struct losses *losses)
{
    if (team->group_size == 1)
        return false; // another worker would be on the same cores
    return member->loss * team->group_size > LOSS_OF_ONE ||
           (losses->all > LOSS_OF_ALL && member->loss == losses->most);
}

// Parks the workers that lose too much, at most a quarter of the group at a time, so that a team
// twice as large as its share of the machine does not collapse at once. True if any was parked.
static bool park(struct team *team, double now)
{
    const struct losses losses = add_losses(team);
    const int most = team->group_size / 4 > 1 ? team->group_size / 4 : 1;
    int parked = 0;
    for (int i = 0; i < team->group_size; i++) {
        struct member *member = group_member(team, i);
        if (parked < most && is_to_park(team, member, &losses)) {
            parked++;
            member->parked_for = fmin(fmax(2 * losses.parked_for, PARKED_MIN), PARKED_MAX);
            member->parked_until = now + member->parked_for;
        } else if (losses.all <= LOSS_OF_ALL) {
            member->parked_for = 0;
        }
    }
    return parked > 0;
}

static void restart_windows(struct team *team)
{
    for (int i = 0; i < team->group_size; i++) {
        struct member *member = group_member(team, i);
        member->measured = false;
        member->watched = member->stolen = 0;
    }
    atomic_store_explicit(&team->measured, 0, memory_order_relaxed);
}

// Forms the group of the next region, in ascending order, so that neighbours stay neighbours.
static void form_group(struct team *team, double now)
{
    int first = 0; // works even if all are parked
    for (int i = 1; i < team->workers; i++)
        if (team->members[i].parked_until < team->members[first].parked_until)
            first = i;
    team->group_size = 0;
    team->next_return = INFINITY;
    for (int i = 0; i < team->workers; i++) {
        const struct member *member = &team->members[i];
        if (i == first || member->parked_until <= now)
            team->group[team->group_size++] = i;
        else
            team->next_return = fmin(team->next_return, member->parked_until);
    }
}

// Called by the last worker to arrive at a barrier: whether another group is to continue.
static bool is_to_regroup(struct team *team)
{
    bool measured = atomic_load_explicit(&team->measured, memory_order_relaxed) >= team->group_size;
    if (!measured && team->next_return == INFINITY)
        return false;
    double now = clock_seconds();
    bool returns = now >= team->next_return;
    if (!measured && !returns)
        return false;
    bool parks = measured && park(team, now);
    restart_windows(team);
    return parks || returns;
}

bool worker_regroup(const struct worker *worker)
{
    struct team *team = worker->team;
    if (team->workers == 1)
        return true;
    struct member *member = group_member(team, worker->index);
    measure_loss(team, member);
    unsigned phase;
    if (arrive(worker, &phase)) {
        team->regroups = is_to_regroup(team);
        open_barrier(team, phase);
    } else {
        wait_for_barrier(team, phase, member);
    }
    return !team->regroups;
}

// ---- Regions

// One thread's part of a region. It waits for late workers at our own barrier at the end, which
// blocks; at OpenMP's barrier after it all threads have arrived. If there are several NUMA nodes
// and the user binds no threads, the thread is bound to a node during the region only, because
// OpenMP's threads also serve the application's own regions.
static void run_member(struct team *team, int index, int count, bool binds)
{
    struct worker worker = {index, count, team};
    struct member *member = group_member(team, index);
    void *before = binds ? numa_bind_thread(team->binding, team->group[index]) : NULL;
    read_clocks(member, clock_seconds());
    team->function(team->context, &worker);
    worker_barrier(&worker);
    extend_window(member, clock_seconds());
    numa_unbind_thread(team->binding, before);
}

#if USES_OPENMP

const char *team_runtime(void)
{
    static const struct {
        int date;
        const char *version;
    } versions[] = {{202111, "5.2"}, {202011, "5.1"}, {201811, "5.0"},  {201511, "4.5"},
                    {201307, "4.0"}, {201107, "3.1"}, {0, "before 3.1"}};
    static char text[40];
    size_t i = 0;
    while (versions[i].date > _OPENMP)
        i++;
#    ifdef __clang__
    snprintf(text, sizeof text, "OpenMP %s (libomp)", versions[i].version);
#    else
    snprintf(text, sizeof text, "OpenMP %s (libgomp)", versions[i].version);
#    endif
    return text;
}

// If neither is used, OpenMP's maximum is the number of processors in the affinity mask.
int team_threads_requested(void)
{
    int most = omp_get_max_threads();
    return getenv("OMP_NUM_THREADS") || most != omp_get_num_procs() ? most : 0;
}

int team_thread_limit(void)
{
    return omp_get_thread_limit();
}

int team_bound_processors(int *processors, int capacity)
{
    int count = 0, places = 0;
    if (omp_get_proc_bind() != omp_proc_bind_false)
        places = omp_get_num_places();
    for (int place = 0; place < places; place++) {
        int own = omp_get_place_num_procs(place);
        if (count + own <= capacity)
            omp_get_place_proc_ids(place, processors + count);
        count += own;
    }
    return count;
}

// OpenMP's run-time libraries terminate the process if the system cannot create a thread. So the
// number of threads needed is created and joined beforehand, once per calling thread, since each
// has its own pool.
static void *wait_for_gate(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

static int creatable_threads(int wanted)
{
    static _Thread_local int proven = 1;
    if (wanted <= proven)
        return wanted;
    pthread_t *threads = malloc((size_t)wanted * sizeof *threads);
    if (!threads)
        return proven;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int count = 0;
    pthread_mutex_lock(&gate);
    while (count < wanted - 1 && pthread_create(&threads[count], NULL, wait_for_gate, &gate) == 0)
        count++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&gate);
    free(threads);
    proven = count + 1 > proven ? count + 1 : proven;
    return count + 1;
}

static void run_region(struct team *team)
{
    // The analyser does not see that the region reads it.
    // NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores)
    int workers = creatable_threads(team->group_size);
    bool binds = omp_get_proc_bind() == omp_proc_bind_false;
#    pragma omp parallel num_threads(workers)
    {
#    pragma omp single
        team->group_size = omp_get_num_threads(); // ends with a barrier
        run_member(team, omp_get_thread_num(), omp_get_num_threads(), binds);
    }
}

#else

const char *team_runtime(void)
{
    return "POSIX threads";
}

int team_threads_requested(void)
{
    return 0;
}

int team_thread_limit(void)
{
    return INT_MAX;
}

int team_bound_processors(int *processors, int capacity)
{
    (void)processors, (void)capacity;
    return 0;
}

// The threads of one region, which wait at the gate until their number is known.
struct region_thread {
    struct team *team;
    pthread_mutex_t *gate;
    pthread_t thread;
    int index;
};

static void *run_thread(void *argument)
{
    struct region_thread *it = argument;
    pthread_mutex_lock(it->gate);
    int count = it->team->group_size;
    pthread_mutex_unlock(it->gate);
    run_member(it->team, it->index, count, true);
    return NULL;
}

static void run_region(struct team *team)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct region_thread *threads = calloc((size_t)team->group_size, sizeof *threads);
    int count = 1;
    pthread_mutex_lock(&gate);
    for (; threads && count < team->group_size; count++) {
        threads[count] = (struct region_thread){.team = team, .gate = &gate, .index = count};
        if (pthread_create(&threads[count].thread, NULL, run_thread, &threads[count]) != 0)
            break; // results do not depend on the number of threads
    }
    team->group_size = count;
    pthread_mutex_unlock(&gate);
    run_member(team, 0, count, true);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i].thread, NULL);
    pthread_mutex_destroy(&gate);
    free(threads);
}

#endif

static void prepare(struct team *team, int workers, struct member *members, int *group,
                    const struct numa_binding *binding)
{
    assert(workers >= 1);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *team = (struct team){
        .workers = workers,
        // Spinning helps only if every worker has a core.
        .spins = processors < 0 || workers <= processors ? SPINS : 0,
        .members = members,
        .group = group,
        .binding = binding,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .opened = PTHREAD_COND_INITIALIZER,
    };
    for (int i = 0; i < workers; i++)
        members[i] = (struct member){0};
}

static void finish(struct team *team)
{
    pthread_cond_destroy(&team->opened);
    pthread_mutex_destroy(&team->mutex);
}

struct team *team_make(int workers, const struct numa_binding *binding)
{
    struct team *team = aligned_alloc(64, sizeof *team);
    struct member *members = aligned_alloc(64, (size_t)workers * sizeof *members);
    int *group = malloc((size_t)workers * sizeof *group);
    if (!team || !members || !group) {
        free(team);
        free(members);
        free(group);
        return NULL;
    }
    prepare(team, workers, members, group, binding);
    return team;
}

void team_free(struct team *team)
{
    if (!team)
        return;
    finish(team);
    free(team->members);
    free(team->group);
    free(team);
}

// Runs regions until one ends with the work done.
static void work(struct team *team, team_function function, void *context)
{
    team->function = function;
    team->context = context;
    do {
        team->regroups = false;
        form_group(team, team->workers > 1 ? clock_seconds() : 0);
        for (int i = 0; i < team->workers; i++)
            for (int phase = 0; phase < 2; phase++)
                atomic_store_explicit(&team->members[i].claimed[phase], 0, memory_order_relaxed);
        if (team->group_size > 1)
            run_region(team);
        else
            run_member(team, 0, 1, true);
    } while (team->regroups);
}

void team_work(struct team *team, team_function function, void *context)
{
    if (team) {
        work(team, function, context);
        return;
    }
    struct member member;
    struct team alone;
    int group;
    prepare(&alone, 1, &member, &group, NULL);
    work(&alone, function, context);
    finish(&alone);
}

void team_run(int threads, team_function function, void *context)
{
    struct team *team = team_make(threads, NULL);
    team_work(team, function, context);
    team_free(team);
}

// ---- Loops

static struct range share_of(size_t index, size_t workers, size_t count, size_t grain)
{
    if (workers == 1) // without the divisions, which take a tenth of a small scene's step
        return (struct range){0, count};
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

// Claims the next batch of a worker's share. The counter is read first so that workers searching
// for work do not write to every counter.
static bool claim_from(const struct worker *worker, size_t owner, size_t count, size_t batch,
                       struct range *range)
{
    struct team *team = worker->team;
    struct range share = share_of(owner, (size_t)worker->count, count, batch);
    size_t length = share.end - share.first;
    unsigned phase = atomic_load_explicit(&team->phase, memory_order_relaxed);
    atomic_size_t *claimed = &group_member(team, (int)owner)->claimed[phase % 2];
    if (atomic_load_explicit(claimed, memory_order_relaxed) >= length)
        return false;
    size_t first;
    if (worker->count > 1) {
        first = atomic_fetch_add_explicit(claimed, batch, memory_order_relaxed);
    } else { // nobody else claims: small scenes need no locked instruction
        first = atomic_load_explicit(claimed, memory_order_relaxed);
        atomic_store_explicit(claimed, first + batch, memory_order_relaxed);
    }
    if (first >= length)
        return false;
    size_t end = length - first > batch ? first + batch : length;
    *range = (struct range){share.first + first, share.first + end};
    return true;
}

bool worker_claim(const struct worker *worker, size_t count, size_t batch, struct range *range)
{
    size_t shares = (size_t)worker->count, own = (size_t)worker->index;
    for (size_t i = 0, owner = own; i < shares; i++, owner = owner + 1 < shares ? owner + 1 : 0)
        if (claim_from(worker, owner, count, batch, range))
            return true;
    return false;
}

struct range worker_share(const struct worker *worker, size_t count, size_t grain)
{
    return share_of((size_t)worker->index, (size_t)worker->count, count, grain);
}
