// parallel/team: every worker runs, shares cover a loop exactly once, barriers order the accesses
// before and after them. With OpenMP, or with POSIX threads if TAUT_POSIX_THREADS is defined.
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parallel/team.c" // NOLINT(bugprone-suspicious-include): its private functions

enum { MOST = 8, ELEMENTS = 10007 };

struct marks {
    size_t grain;
    unsigned char *touched; // counter per element
    int seen[MOST];         // counter per worker
    int count;
};

static void touch(void *context, const struct worker *worker)
{
    struct marks *marks = context;
    struct range share = worker_share(worker, ELEMENTS, marks->grain);
    for (size_t i = share.first; i < share.end; i++)
        marks->touched[i]++;
    marks->seen[worker->index]++;
    if (worker->index == 0)
        marks->count = worker->count;
}

static void test_shares_cover_a_loop_once(void **state)
{
    (void)state;
    static const size_t grains[] = {1, 7, 64, ELEMENTS, 2 * ELEMENTS};
    for (int threads = 1; threads <= MOST; threads++) {
        for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
            struct marks marks = {.grain = grains[g], .touched = calloc(ELEMENTS, 1)};
            assert_non_null(marks.touched);
            team_run(threads, touch, &marks);
            assert_int_equal(marks.count, threads);
            for (int i = 0; i < threads; i++)
                assert_int_equal(marks.seen[i], 1);
            for (size_t i = 0; i < ELEMENTS; i++)
                assert_int_equal(marks.touched[i], 1);
            free(marks.touched);
        }
    }
}

static void test_shares_are_cut_at_grains_and_even(void **state)
{
    (void)state;
    for (int count = 1; count <= MOST; count++) {
        size_t least = ELEMENTS, most = 0;
        for (int index = 0; index < count; index++) {
            struct worker worker = {.index = index, .count = count};
            struct range share = worker_share(&worker, ELEMENTS, 16);
            assert_true(share.first <= share.end && share.end <= ELEMENTS);
            assert_true(share.first % 16 == 0);
            assert_true(share.end % 16 == 0 || share.end == ELEMENTS);
            size_t length = share.end - share.first;
            least = length < least ? length : least;
            most = length > most ? length : most;
        }
        assert_true(most - least < 32);
    }
}

static void test_share_of_nothing(void **state)
{
    (void)state;
    for (int index = 0; index < 3; index++) {
        struct worker worker = {.index = index, .count = 3};
        struct range share = worker_share(&worker, 0, 16);
        assert_int_equal(share.first, share.end);
        share = worker_share(&worker, 5, 16); // one grain: all of it goes to the first worker
        assert_int_equal(share.end - share.first, index == 0 ? 5 : 0);
    }
}

// Rounds in which each worker reads what its neighbour wrote in the round before. Without working
// barriers values are wrong, and the thread sanitizer reports a race.
struct ring {
    int values[2][MOST];
};

enum { ROUNDS = 200 };

static void pass_on(void *context, const struct worker *worker)
{
    struct ring *ring = context;
    int left = (worker->index + worker->count - 1) % worker->count;
    for (int round = 0; round < ROUNDS; round++) {
        ring->values[(round + 1) % 2][worker->index] = ring->values[round % 2][left] + 1;
        worker_barrier(worker);
    }
}

static void test_barriers_order_rounds(void **state)
{
    (void)state;
    for (int threads = 1; threads <= MOST; threads++) {
        struct ring ring = {0};
        team_run(threads, pass_on, &ring);
        for (int i = 0; i < threads; i++)
            assert_int_equal(ring.values[ROUNDS % 2][i], ROUNDS);
    }
}

// Three claimed loops in succession: each item of each is executed once.
static void take_all(void *context, const struct worker *worker)
{
    struct marks *marks = context;
    for (int loop = 0; loop < 3; loop++) {
        struct range range;
        while (worker_claim(worker, ELEMENTS, marks->grain, &range))
            for (size_t i = range.first; i < range.end; i++)
                marks->touched[i]++;
        worker_barrier(worker);
    }
}

static void test_taken_items_are_each_taken_once(void **state)
{
    (void)state;
    static const size_t batches[] = {1, 7, 64, ELEMENTS, 2 * ELEMENTS};
    for (int threads = 1; threads <= MOST; threads++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
            struct marks marks = {.grain = batches[b], .touched = calloc(ELEMENTS, 1)};
            assert_non_null(marks.touched);
            team_run(threads, take_all, &marks);
            for (size_t i = 0; i < ELEMENTS; i++)
                assert_int_equal(marks.touched[i], 3);
            free(marks.touched);
        }
}

// A worker claims from its own share first, and then from the shares of others.
static void take_late(void *context, const struct worker *worker)
{
    struct marks *marks = context;
    for (int early = 0; early < worker->count; early++) {
        size_t taken = 0;
        struct range range, own = worker_share(worker, ELEMENTS, marks->grain);
        while (worker->index == early && worker_claim(worker, ELEMENTS, marks->grain, &range)) {
            if (taken < own.end - own.first && range.first != own.first + taken)
                marks->count++; // its own share first, in order
            for (size_t i = range.first; i < range.end; i++)
                marks->touched[i]++;
            taken += range.end - range.first;
        }
        if (worker->index == early && taken != ELEMENTS)
            marks->count++;
        worker_barrier(worker);
    }
}

static void test_one_worker_takes_what_others_leave(void **state)
{
    (void)state;
    for (int threads = 1; threads <= MOST; threads++) {
        struct marks marks = {.grain = 100, .touched = calloc(ELEMENTS, 1)};
        assert_non_null(marks.touched);
        team_run(threads, take_late, &marks);
        assert_int_equal(marks.count, 0);
        for (size_t i = 0; i < ELEMENTS; i++)
            assert_int_equal(marks.touched[i], threads);
        free(marks.touched);
    }
}

// One worker is delayed in its first batch until all others have found nothing left.
struct held_up {
    unsigned char touched[ELEMENTS];
    atomic_int done;
    size_t batches;
};

static void take_held_up(void *context, const struct worker *worker)
{
    struct held_up *it = context;
    struct range range;
    size_t batches = 0;
    while (worker_claim(worker, ELEMENTS, 64, &range)) {
        batches++;
        for (size_t i = range.first; i < range.end; i++)
            it->touched[i]++;
        while (worker->index == 1 && atomic_load(&it->done) < worker->count - 1)
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    if (worker->index == 1)
        it->batches = batches;
    atomic_fetch_add(&it->done, 1);
}

static void test_a_worker_held_up_holds_up_one_batch(void **state)
{
    (void)state;
    for (int threads = 2; threads <= MOST; threads++) {
        struct held_up *it = calloc(1, sizeof *it);
        assert_non_null(it);
        team_run(threads, take_held_up, it);
        // None, if the others were done before it started.
        assert_true(it->batches <= 1);
        for (size_t i = 0; i < ELEMENTS; i++)
            assert_int_equal(it->touched[i], 1);
        free(it);
    }
}

struct sum {
    double *values;
    double *partial; // one for each chunk
    double total;
};

static void add_chunks(void *context, const struct worker *worker)
{
    struct sum *sum = context;
    struct range chunks = worker_share(worker, chunk_count(ELEMENTS), 1);
    for (size_t c = chunks.first; c < chunks.end; c++) {
        struct range range = chunk_range(c, ELEMENTS);
        sum->partial[c] = 0;
        for (size_t i = range.first; i < range.end; i++)
            sum->partial[c] += sum->values[i];
    }
    worker_barrier(worker);
    if (worker->index == 0) {
        sum->total = 0;
        for (size_t c = 0; c < chunk_count(ELEMENTS); c++)
            sum->total += sum->partial[c];
    }
}

static void test_chunked_sums_have_the_same_bits(void **state)
{
    (void)state;
    struct sum sum = {.values = calloc(ELEMENTS, sizeof(double)),
                      .partial = calloc(chunk_count(ELEMENTS), sizeof(double))};
    assert_non_null(sum.values);
    assert_non_null(sum.partial);
    for (size_t i = 0; i < ELEMENTS; i++)
        sum.values[i] = 1.0 / (double)(3 * i + 1) - 0.1;
    double first = 0;
    for (int threads = 1; threads <= MOST; threads++) {
        team_run(threads, add_chunks, &sum);
        if (threads == 1)
            first = sum.total;
        assert_memory_equal(&sum.total, &first, sizeof first);
    }
    assert_true(first < -900 && first > -1000.7); // about ln(3 * 10007) / 3 - 1000.7
    free(sum.values);
    free(sum.partial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_cover_a_loop_once),
        cmocka_unit_test(test_shares_are_cut_at_grains_and_even),
        cmocka_unit_test(test_share_of_nothing),
        cmocka_unit_test(test_barriers_order_rounds),
        cmocka_unit_test(test_taken_items_are_each_taken_once),
        cmocka_unit_test(test_one_worker_takes_what_others_leave),
        cmocka_unit_test(test_a_worker_held_up_holds_up_one_batch),
        cmocka_unit_test(test_chunked_sums_have_the_same_bits),
    };
    return cmocka_run_group_tests_name("team", tests, NULL, NULL);
}
