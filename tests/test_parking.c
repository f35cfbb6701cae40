// parallel/team: workers that lose time to other processes are parked, and return later. With
// OpenMP, or with POSIX threads if TAUT_POSIX_THREADS is defined.
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "parallel/team.c" // NOLINT(bugprone-suspicious-include): its private functions

enum { MOST = 8 };

// Steps of a team whose members are parked and resumed all the time: each worker sometimes reports
// lost time, and parking ends early.
enum { STEPS = 300, PIECES = 1000 };

struct changing_group {
    struct team *team;
    int step, end;
    bool asks;
    int seen[MOST + 1]; // steps of groups of each size
    int touched[PIECES];
    int wrong;
};

static void report_loss(struct changing_group *it, const struct worker *worker)
{
    struct member *member = group_member(it->team, worker->index);
    if (!it->asks || member->measured)
        return;
    member->measured = true;
    member->loss = (it->step * 7 + it->team->group[worker->index]) % 5 == 0;
    atomic_fetch_add(&it->team->measured, 1);
}

// Called by one worker while the others wait.
static void end_parking(struct changing_group *it)
{
    if (it->step % 3 != 0)
        return;
    for (int i = 0; i < it->team->workers; i++)
        it->team->members[i].parked_until = 0;
    it->team->next_return = 0;
}

static void work_in_changing_groups(void *context, const struct worker *worker)
{
    struct changing_group *it = context;
    while (it->step < it->end) {
        int step = it->step;
        struct range range;
        while (worker_claim(worker, PIECES, 10, &range))
            for (size_t i = range.first; i < range.end; i++)
                it->touched[i]++;
        report_loss(it, worker);
        worker_barrier(worker);
        if (worker->index == 0) {
            it->seen[worker->count]++;
            for (int i = 0; i < PIECES; i++)
                it->wrong += it->touched[i] != step + 1;
            it->step++;
            end_parking(it);
        }
        worker_barrier(worker);
        if (!worker_regroup(worker))
            return;
    }
}

static void test_workers_are_parked_and_called_back(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        struct changing_group it = {.team = team_make(threads, NULL), .asks = true};
        assert_non_null(it.team);
        // Work ends while some workers are parked, at times the first worker too.
        for (it.end = 1; it.end <= STEPS; it.end += 1 + it.end % 11) {
            team_work(it.team, work_in_changing_groups, &it);
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

// Evaluates a group whose workers lost these fractions of their time (negative: already parked);
// returns the worker that is parked afterwards, or -1. No worker runs meanwhile.
static int parked_one(struct team *team, const double *losses)
{
    team->group_size = 0;
    for (int i = 0; i < team->workers; i++) {
        team->members[i].parked_until = 0;
        team->members[i].loss = losses[i];
        if (losses[i] >= 0)
            team->group[team->group_size++] = i;
    }
    int parked = -1;
    team->next_return = INFINITY;
    atomic_store(&team->measured, team->group_size);
    if (is_to_regroup(team))
        for (int i = 0; i < team->workers; i++)
            if (losses[i] >= 0 && team->members[i].parked_until > 0)
                parked = i;
    return parked;
}

static void test_who_loses_too_much_is_parked(void **state)
{
    (void)state;
    struct team *team = team_make(4, NULL);
    assert_non_null(team);
    assert_int_equal(parked_one(team, (double[]){0.05, 0.05, 0.05, 0.05}), -1);
    // A worker that costs more than it contributes.
    assert_int_equal(parked_one(team, (double[]){0, 0.2, 0, 0}), 1);
    double first = team->members[1].parked_for;
    assert_true(first > 0);
    // No single one does, but all together: the worker with the greatest loss is parked, for twice
    // as long, since the disturbance continues.
    assert_int_equal(parked_one(team, (double[]){0.15, 0.15, 0.18, 0.15}), 2);
    assert_true(team->members[2].parked_for == 2 * first);
    // No significant losses: a later disturbance counts as a new one.
    assert_int_equal(parked_one(team, (double[]){0, 0.05, 0, 0}), -1);
    assert_int_equal(parked_one(team, (double[]){-1, -1, 0.3, 0.35}), 3);
    assert_true(team->members[3].parked_for == first);
    // The last worker is never parked.
    assert_int_equal(parked_one(team, (double[]){-1, 0.9, -1, -1}), -1);
    team_free(team);
}

static void test_more_workers_than_processors(void **state)
{
    (void)state;
    struct changing_group it = {.team = team_make(MOST, NULL), .end = STEPS};
    assert_non_null(it.team);
    team_work(it.team, work_in_changing_groups, &it);
    assert_int_equal(it.step, STEPS);
    assert_int_equal(it.wrong, 0);
    team_free(it.team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers_are_parked_and_called_back),
        cmocka_unit_test(test_who_loses_too_much_is_parked),
        cmocka_unit_test(test_more_workers_than_processors),
    };
    return cmocka_run_group_tests_name("parking", tests, NULL, NULL);
}
