// parallel/attendance: workers that lose their time to others rest, and come back.
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "parallel/team_parts.h"

enum { MOST = 8 };

// Steps of a team whose members go to rest and are called back all the time: `ask` for rest as if
// their time had been taken away, and have rests end early.
enum { STEPS = 300, PIECES = 1000 };

struct coming_and_going {
    struct team *team;
    int step, end;
    bool asks;
    int seen[MOST + 1]; // steps of groups of each size
    int touched[PIECES];
    int wrong;
};

static void ask(struct coming_and_going *it, const struct worker *worker)
{
    struct member *member = &it->team->members[worker->place];
    if (!it->asks || member->judged)
        return;
    member->judged = true;
    member->loss = (it->step * 7 + worker->place) % 5 == 0;
    atomic_fetch_add(&it->team->judged, 1);
}

// By one worker while the others wait.
static void end_rests(struct coming_and_going *it)
{
    if (it->step % 3 != 0)
        return;
    for (int i = 0; i < it->team->workers; i++)
        it->team->members[i].until = 0;
    it->team->next_return = 0;
}

static void come_and_go(void *context, const struct worker *worker)
{
    struct coming_and_going *it = context;
    while (it->step < it->end) {
        int step = it->step;
        struct range range;
        while (worker_take(worker, PIECES, 10, &range))
            for (size_t i = range.first; i < range.end; i++)
                it->touched[i]++;
        ask(it, worker);
        worker_barrier(worker);
        if (worker->index == 0) {
            it->seen[worker->count]++;
            for (int i = 0; i < PIECES; i++)
                it->wrong += it->touched[i] != step + 1;
            it->step++;
            end_rests(it);
        }
        worker_barrier(worker);
        if (!worker_regroup(worker))
            return;
    }
}

static void test_workers_rest_and_are_called_back(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        struct coming_and_going it = {.team = team_make(threads, NULL, NULL), .asks = true};
        assert_non_null(it.team);
        // Regions end while some rest, the calling thread among them.
        for (it.end = 1; it.end <= STEPS; it.end += 1 + it.end % 11) {
            team_work(it.team, come_and_go, &it);
            assert_int_equal(it.step, it.end);
        }
        assert_int_equal(it.wrong, 0);
        int steps = 0, sizes = 0;
        for (int count = 1; count <= MOST; count++) {
            steps += it.seen[count];
            sizes += it.seen[count] > 0;
        }
        assert_int_equal(steps, it.step);
        assert_int_equal(it.seen[0], 0);
        assert_true(sizes == threads || threads > 2);
        assert_true(sizes > 1 || threads == 1);
        team_free(it.team);
    }
}

// Judges a group of `count` that lost these parts of its time; who of it has no part afterwards, or
// -1. Nothing runs meanwhile.
static int given_rest(struct team *team, const double *losses)
{
    int count = 0, resting = -1;
    for (int i = 0; i < team->workers; i++) {
        struct member *member = &team->members[i];
        member->until = 0;
        member->worker.index = losses[i] < 0 ? -1 : count++;
        member->loss = losses[i];
    }
    team->group = count;
    team->next_return = INFINITY;
    atomic_store(&team->judged, count);
    if (attendance_next_group(team))
        for (int i = 0; i < team->workers; i++)
            if (team->members[i].worker.index >= 0 && team->members[i].next_index < 0)
                resting = i;
    for (int i = 0; i < team->workers; i++)
        team->members[i].worker.index = -1;
    return resting;
}

static void test_who_loses_too_much_is_given_rest(void **state)
{
    (void)state;
    struct team *team = team_make(4, NULL, NULL);
    assert_non_null(team);
    assert_int_equal(given_rest(team, (double[]){0.05, 0.05, 0.05, 0.05}), -1);
    // One that loses more than it brings.
    assert_int_equal(given_rest(team, (double[]){0, 0.2, 0, 0}), 1);
    double first = team->members[1].rest;
    assert_true(first > 0);
    // None does, but all together: whoever lost most; and it is the same trouble as before.
    assert_int_equal(given_rest(team, (double[]){0.15, 0.15, 0.18, 0.15}), 2);
    assert_true(team->members[2].rest == 2 * first);
    // All well: what comes later is another trouble.
    assert_int_equal(given_rest(team, (double[]){0, 0.05, 0, 0}), -1);
    assert_int_equal(given_rest(team, (double[]){-1, -1, 0.3, 0.35}), 3);
    assert_true(team->members[3].rest == first);
    // The last one stays.
    assert_int_equal(given_rest(team, (double[]){-1, 0.9, -1, -1}), -1);
    team_free(team);
}

static void test_more_workers_than_processors(void **state)
{
    (void)state;
    struct coming_and_going it = {.team = team_make(MOST, NULL, NULL), .end = STEPS};
    assert_non_null(it.team);
    team_work(it.team, come_and_go, &it);
    assert_int_equal(it.step, STEPS);
    assert_int_equal(it.wrong, 0);
    team_free(it.team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers_rest_and_are_called_back),
        cmocka_unit_test(test_who_loses_too_much_is_given_rest),
        cmocka_unit_test(test_more_workers_than_processors),
    };
    return cmocka_run_group_tests_name("attendance", tests, NULL, NULL);
}
