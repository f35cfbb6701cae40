// Who takes part in the next step. Where another process computes on one of our cores, the worker
// there has the core half of the time, in slices of some milliseconds, and while it does not all
// others wait for the little that it had taken. Two workers then get less done than one alone. So
// each worker watches how much of its time is taken away; one that loses more than it brings is
// given rest, and comes back after a while to see whether the neighbour has gone. A rest lasts a
// tenth of a second at first and twice as long each time that the next look was no better, whoever
// loses then.
//
// What a worker loses is the time that passed, less what its core gave it, less what it slept at
// barriers before they opened: somebody woken on a core that a neighbour has waits again. While it
// is away the others, n - 1 of n, stand still: it costs more than it brings when that is more than
// 1/n of the time. Somewhat less is asked for, since n workers are seldom n times as fast as one.
//
// Where steps are short, workers sleep at barriers so often that the system finds them another core
// all the time: they take turns on the busy one, and each loses little. So what all lose together
// counts as well. It is what a neighbour takes from a team that does nothing without all of its
// members, and who lost most is given rest, since one less is enough to let the others part.
#include "parallel/team_parts.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"

static const double WINDOW = 0.03;                     // s, over which a worker is judged
static const double REST_LEAST = 0.1, REST_MOST = 1.6; // s
static const double WORTH = 0.75, WORTH_OF_ALL = 0.6;

// Of this thread; negative where there is no such clock: then nobody is ever given rest.
static double processor_seconds(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0)
        return -1;
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void mark(struct member *member, double now)
{
    member->wall = now;
    member->cpu = processor_seconds();
    member->slept = 0;
}

// Adds the time since the last mark to the window.
static void watch(struct member *member, double now)
{
    double wall = member->wall, cpu = member->cpu, slept = member->slept;
    mark(member, now);
    member->watched += now - wall;
    if (cpu >= 0 && member->cpu >= 0)
        member->taken_away += fmax(0, now - wall - (member->cpu - cpu) - slept);
}

void attendance_begin(struct member *member)
{
    mark(member, clock_seconds());
}

void attendance_end(struct member *member)
{
    watch(member, clock_seconds());
}

void attendance_watch(struct team *team, struct member *member)
{
    double now = clock_seconds();
    if (member->watched + (now - member->wall) < WINDOW)
        return;
    watch(member, now);
    member->loss = member->taken_away / member->watched;
    member->watched = member->taken_away = 0;
    if (member->judged)
        return;
    member->judged = true;
    atomic_fetch_add_explicit(&team->judged, 1, memory_order_relaxed);
}

static bool in_group(const struct member *member)
{
    return member->worker.index >= 0;
}

// What a group has lost.
struct losses {
    double all, most; // parts of the time
    double rest;      // s, the longest that one of them has rested lately
};

static struct losses add_losses(const struct team *team)
{
    struct losses losses = {0};
    for (int i = 0; i < team->workers; i++) {
        const struct member *member = &team->members[i];
        if (!in_group(member))
            continue;
        losses.all += member->loss;
        losses.most = fmax(losses.most, member->loss);
        losses.rest = fmax(losses.rest, member->rest);
    }
    return losses;
}

static bool loses(const struct team *team, const struct member *member, const struct losses *losses)
{
    if (team->group == 1)
        return false; // another one would find the same cores
    return member->loss * team->group > WORTH ||
           (losses->all > WORTH_OF_ALL && member->loss == losses->most);
}

// Gives rest to those who lose; true if there are any. A quarter of the group at a time, so that a
// team that is twice as large as its share of the machine does not shrink to nothing at once.
static bool give_rest(struct team *team, double now)
{
    const struct losses losses = add_losses(team);
    const int most = team->group / 4 > 1 ? team->group / 4 : 1;
    int given = 0;
    for (int i = 0; i < team->workers; i++) {
        struct member *member = &team->members[i];
        if (!in_group(member))
            continue;
        if (given < most && loses(team, member, &losses)) {
            given++;
            member->rest = fmin(fmax(2 * losses.rest, REST_LEAST), REST_MOST);
            member->until = now + member->rest;
        } else if (losses.all <= WORTH_OF_ALL) {
            member->rest = 0;
        }
    }
    return given > 0;
}

// By whoever comes last, while the others of the group wait.
static void watch_anew(struct team *team)
{
    for (int i = 0; i < team->workers; i++) {
        struct member *member = &team->members[i];
        if (!in_group(member))
            continue;
        member->judged = false;
        member->watched = member->taken_away = 0;
    }
    atomic_store_explicit(&team->judged, 0, memory_order_relaxed);
}

// Whether a worker can be in the next group: it is in this one, or waits to be called.
static bool is_there(struct member *member)
{
    return member->worker.index >= 0 || atomic_load_explicit(&member->ready, memory_order_acquire);
}

// Numbers those who take part, in the order of their places, so that neighbours stay neighbours.
static void form_group(struct team *team, double now)
{
    int first = -1; // who works if nobody else does
    for (int i = 0; i < team->workers; i++) {
        struct member *member = &team->members[i];
        member->next_index = -1;
        if (is_there(member) && (first < 0 || member->until < team->members[first].until))
            first = i;
    }
    team->group = 0;
    team->next_return = INFINITY;
    for (int i = 0; i < team->workers; i++) {
        struct member *member = &team->members[i];
        if (i == first || (member->until <= now && is_there(member)))
            member->next_index = team->group++;
        else
            team->next_return = fmin(team->next_return, member->until);
    }
}

void attendance_first_group(struct team *team)
{
    form_group(team, team->workers > 1 ? clock_seconds() : 0);
}

bool attendance_next_group(struct team *team)
{
    bool judged = atomic_load_explicit(&team->judged, memory_order_relaxed) >= team->group;
    if (!judged && team->group == team->workers)
        return false;
    double now = clock_seconds();
    bool returns = now >= team->next_return;
    if (!judged && !returns)
        return false;
    bool changes = judged && give_rest(team, now);
    watch_anew(team);
    if (!changes && !returns)
        return false;
    form_group(team, now);
    return true;
}
