// Players and plain solvers of scenes, and waiting with a time limit (play_fixture.h).
#include "play_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/os.h"
#include "scene/reader.h"

static const double PATIENCE = 120; // s

void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static size_t count_of(const char *const *overrides)
{
    size_t count = 0;
    while (overrides && overrides[count])
        count++;
    return count;
}

static const char *path_of(const char *name, char *path, size_t size)
{
    snprintf(path, size, TAUT_TEST_SOURCE "/scenes/%s", name);
    return path;
}

struct player *player_of(const char *name, const char *const *overrides)
{
    char path[512];
    struct player_options options = {.overrides = overrides,
                                     .override_count = count_of(overrides),
                                     .config = {.threads = 1},
                                     .frames_per_second = 200};
    struct diagnostics findings = {0};
    struct player *player;
    taut_error error = {0};
    if (player_make(path_of(name, path, sizeof path), &options, &findings, &player, &error) !=
        TAUT_OK)
        fail_msg("%s: %s", path, error.text);
    diagnostics_free(&findings);
    player_speed(player, INFINITY);
    return player;
}

taut_solver *plain_of(const char *name, const char *const *overrides)
{
    char path[512];
    struct scene_override list[16] = {{0}};
    size_t count = count_of(overrides);
    assert_true(count <= 16);
    for (size_t i = 0; i < count; i++)
        list[i].text = overrides[i];
    struct diagnostics findings = {0};
    taut_scene *scene = scene_read_file(path_of(name, path, sizeof path), list, count, &findings);
    if (!scene)
        fail_msg("%s: %s", path, findings.items[0].text);
    diagnostics_free(&findings);
    return solver_from(scene, NULL);
}

struct player_status status_of(struct player *player)
{
    struct player_status status;
    player_status(player, &status);
    return status;
}

enum until { UNTIL_SETTLED, UNTIL_STEP, UNTIL_FAILED, UNTIL_PUBLISHED };

static bool has_come(const struct player_status *status, enum until what, uint64_t step)
{
    switch (what) {
    case UNTIL_SETTLED:
        return true;
    case UNTIL_STEP:
        return status->step >= step || status->failed;
    case UNTIL_FAILED:
        return status->failed;
    case UNTIL_PUBLISHED:
        return status->published;
    }
    return true;
}

static struct player_status wait_until(struct player *player, enum until what, uint64_t step)
{
    double end = clock_seconds() + PATIENCE;
    while (clock_seconds() < end) {
        struct player_status status = status_of(player);
        if (status.pending == 0 && has_come(&status, what, step))
            return status;
        nap();
    }
    fail_msg("a player does not come to where it should: %s", status_of(player).message);
    return status_of(player);
}

struct player_status wait_until_idle(struct player *player)
{
    return wait_until(player, UNTIL_SETTLED, 0);
}

struct player_status wait_for_step(struct player *player, uint64_t steps)
{
    return wait_until(player, UNTIL_STEP, steps);
}

struct player_status wait_for_failure(struct player *player)
{
    return wait_until(player, UNTIL_FAILED, 0);
}

struct player_status step(struct player *player, uint64_t steps)
{
    uint64_t end = wait_until_idle(player).step + steps;
    player_step(player, steps);
    struct player_status status = wait_for_step(player, end);
    assert_false(status.failed);
    assert_int_equal(status.step, end);
    return status;
}

const struct frame *newest(struct player *player)
{
    wait_until(player, UNTIL_PUBLISHED, 0);
    player_refresh(player);
    return player_frame(player);
}

void assert_same_frame(const struct frame *frame, taut_solver *solver)
{
    assert_int_equal(frame->step, taut_solver_step_count(solver));
    assert_true(frame->time == taut_solver_time(solver));
    double *wanted = all_positions(solver);
    for (uint64_t i = 0; i < 3 * taut_solver_node_count(solver); i++)
        if (frame->drawn_positions[i] != (float)wanted[i])
            fail_msg("step %llu: number %llu is %.9g, not %.9g", (unsigned long long)frame->step,
                     (unsigned long long)i, (double)frame->drawn_positions[i], wanted[i]);
    free(wanted);
}

double coordinate(const struct frame *frame, uint64_t node, int axis)
{
    return (double)frame->drawn_positions[3 * node + (uint64_t)axis];
}
