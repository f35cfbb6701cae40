// An interactive run whose parameters change (play/player.h), without a window.
#include "play_fixture.h"

#include <math.h>
#include <string.h>

static const char *const none[] = {NULL};

// Small enough for single steps under a sanitizer.
static const char *const small_jelly[] = {"bodies.jelly.nodes=[6,5,6]", NULL};
static const char *const small_flag[] = {"bodies.flag.nodes=[13,9]", NULL};

// ---- Frames

static void test_plays_as_a_plain_run_does(void **state)
{
    (void)state;
    struct player *player = player_of("flag.yaml", small_flag);
    // Without the energy budget it is as fast as the player, and can catch up with it.
    taut_solver *plain =
        plain_of("flag.yaml", CHANGES("bodies.flag.nodes=[13,9]", "output.work=false"));
    assert_same_frame(player_frame(player), plain);
    player_energies(player, true);
    player_play(player, true);
    int seen = 0;
    while (seen < 8) {
        if (!player_refresh(player)) {
            nap();
            continue;
        }
        const struct frame *frame = player_frame(player);
        advance(plain, frame->step - taut_solver_step_count(plain));
        assert_same_frame(frame, plain);
        seen += frame->step > 0;
    }
    player_play(player, false);
    assert_false(wait_until_idle(player).playing);
    const struct frame *last = newest(player);
    advance(plain, last->step - taut_solver_step_count(plain));
    assert_same_frame(last, plain);
    taut_energy energy = energy_of(plain); // a frame while paused has the energies of its own time
    assert_true(last->energy.total == energy.total);
    taut_solver_destroy(plain);
    player_free(player);
}

static void test_single_steps(void **state)
{
    (void)state;
    struct player *player = player_of("jelly-spheres.yaml", small_jelly);
    taut_solver *plain = plain_of("jelly-spheres.yaml", small_jelly);
    step(player, 1);
    step(player, 6);
    struct player_status status = step(player, 300);
    assert_int_equal(status.step, 307);
    assert_false(status.playing);
    assert_string_equal(status.integrator, "symplectic_euler");
    assert_int_equal(status.threads, 1);
    assert_true(status.message[0] == '\0');
    advance(plain, 307);
    assert_same_frame(newest(player), plain);
    taut_solver_destroy(plain);
    player_free(player);
}

// At speed 1 simulated time follows the clock; only that it arrives can be tested on a busy
// machine.
static void test_follows_the_clock(void **state)
{
    (void)state;
    struct player *player = player_of("rope.yaml", none);
    player_speed(player, 1);
    player_play(player, true);
    struct player_status status = wait_for_step(player, 100);
    assert_true(status.speed_wanted == 1);
    player_speed(player, 0);
    uint64_t stopped = wait_until_idle(player).step;
    for (int i = 0; i < 50; i++)
        nap();
    assert_int_equal(status_of(player).step, stopped);
    player_free(player);
}

static void test_strains_come_when_wanted(void **state)
{
    (void)state;
    struct player *player = player_of("flag.yaml", small_flag);
    step(player, 20);
    assert_false(newest(player)->fields & FRAME_DRAWN_STRAINS);
    player_strains(player, true);
    const struct frame *frame = newest(player);
    assert_true(frame_has(frame, FRAME_DRAWN_STRAINS));
    double sum = 0;
    for (uint64_t i = 0; i < player_subject(player)->spring_count; i++)
        sum += fabs((double)frame->drawn_strains[i]);
    assert_true(sum > 0);
    player_free(player);
}

// Frames have them while they are wanted, at the positions that they show; a listing solver would
// give the same.
static void test_contacts_come_when_wanted(void **state)
{
    (void)state;
    static const char *const small[] = {"bodies.tablecloth.nodes=[21,21]", NULL};
    struct player *player = player_of("tablecloth-round.yaml", small);
    taut_solver *plain = plain_of("tablecloth-round.yaml", small);
    step(player, 400);
    assert_int_equal(taut_solver_step(plain, 400, NULL), TAUT_OK);
    assert_false(newest(player)->fields & FRAME_CONTACTS);
    player_contacts(player, true);
    const struct frame *frame = newest(player);
    uint64_t count;
    taut_contact_point first;
    assert_true(frame_has(frame, FRAME_CONTACTS));
    assert_int_equal(taut_solver_get_contact_points(plain, 1, &first, &count, NULL), TAUT_OK);
    assert_true(count > 10);
    assert_int_equal(frame->contact_count, count);
    assert_true(frame->contacts[0].force == (float)first.force);
    player_contacts(player, false);
    assert_false(newest(player)->fields & FRAME_CONTACTS);
    taut_solver_destroy(plain);
    player_free(player);
}

// ---- Changes

static void test_a_reset_goes_back_to_the_start(void **state)
{
    (void)state;
    struct player *player = player_of("jelly-spheres.yaml", small_jelly);
    taut_solver *plain = plain_of("jelly-spheres.yaml", small_jelly);
    step(player, 50);
    player_set(player, "environment.gravity", "[0, -5, 0]");
    step(player, 50);
    player_reset(player);
    assert_int_equal(wait_until_idle(player).step, 0);
    assert_same_frame(newest(player), plain);
    // With the gravity that was set.
    taut_solver_destroy(plain);
    plain = plain_of("jelly-spheres.yaml",
                     CHANGES("bodies.jelly.nodes=[6,5,6]", "environment.gravity=[0,-5,0]"));
    step(player, 40);
    advance(plain, 40);
    assert_same_frame(newest(player), plain);
    taut_solver_destroy(plain);
    player_free(player);
}

static void test_a_change_acts_at_once(void **state)
{
    (void)state;
    struct player *player =
        player_of("rope.yaml", CHANGES("bodies.rope.pins=[]", "environment.air_drag=0"));
    double time = step(player, 100).time, before = coordinate(newest(player), 40, 1);
    uint64_t generation = player_frame(player)->generation;
    player_set(player, "environment.gravity", "[0, 0, 0]");
    struct player_status status = wait_until_idle(player);
    assert_true(status.time == time);
    assert_int_equal(status.step, 100);
    assert_true(coordinate(newest(player), 40, 1) == before);
    assert_int_equal(player_frame(player)->generation, generation); // the subject is the same
    assert_true(player_scene(player)->environment.gravity.y == 0);
    // It continues to fall with its velocity, g times 0.2 s.
    step(player, 100);
    double fallen = coordinate(newest(player), 40, 1);
    assert_float_equal(fallen - before, -9.81 * 0.2 * 0.2, 0.005);
    player_free(player);
}

static void test_what_is_drawn_anew_has_another_generation(void **state)
{
    (void)state;
    struct player *player = player_of("rope.yaml", none);
    const struct subject *subject = player_subject(player);
    uint64_t generation = player_frame(player)->generation;
    step(player, 30);
    player_set(player, "simulation.dt", "0.001");
    newest(player);
    assert_int_equal(player_frame(player)->generation, generation);
    assert_ptr_equal(player_subject(player), subject);
    assert_true(status_of(player).dt == 0.001);
    assert_int_equal(status_of(player).step, 30);
    player_set(player, "bodies.rope.spring.stiffness", "5000");
    newest(player);
    assert_true(player_frame(player)->generation > generation);
    assert_true(player_subject(player)->stiffnesses[0] == 5000);
    assert_int_equal(status_of(player).step, 30);
    player_free(player);
}

static void test_another_topology_starts_anew(void **state)
{
    (void)state;
    struct player *player = player_of("rope.yaml", none);
    step(player, 30);
    uint64_t generation = player_frame(player)->generation;
    player_set(player, "bodies.rope.nodes", "20");
    player_set(player, "environment.air_drag", "0.01");
    assert_int_equal(wait_until_idle(player).step, 0);
    newest(player);
    assert_int_equal(player_subject(player)->node_count, 20);
    assert_true(player_frame(player)->generation > generation);
    taut_solver *plain =
        plain_of("rope.yaml", CHANGES("bodies.rope.nodes=20", "environment.air_drag=0.01"));
    step(player, 25);
    advance(plain, 25);
    assert_same_frame(newest(player), plain);
    taut_solver_destroy(plain);
    player_free(player);
}

static void test_a_bad_value_is_reported_and_changes_nothing(void **state)
{
    (void)state;
    struct player *player = player_of("rope.yaml", none);
    step(player, 10);
    player_play(player, true);
    player_set(player, "bodies.rope.spring.stiffness", "-3");
    struct player_status status = wait_until_idle(player);
    assert_int_equal(status.message_number, 1);
    assert_non_null(strstr(status.message, "stiffness"));
    assert_true(status.playing);
    wait_for_step(player, status.step + 100);
    player_play(player, false);
    // A valid change together with an invalid one is applied.
    player_set(player, "environment.gravty", "[0, 0, 0]");
    player_set(player, "environment.gravity", "[0, -1, 0]");
    status = wait_until_idle(player);
    assert_true(status.message_number > 1);
    assert_non_null(strstr(status.message, "gravity"));
    newest(player);
    assert_true(player_scene(player)->environment.gravity.y == -1);
    assert_true(player_scene(player)->bodies[0].kinds[0].material.stiffness == 10000);
    player_set(player, "environment.air_drag", "0");
    assert_true(wait_until_idle(player).message[0] == '\0');
    player_free(player);
}

static void test_a_mapping_takes_the_place_of_its_parts(void **state)
{
    (void)state;
    struct player *player = player_of("flag.yaml", small_flag);
    player_set(player, "environment.wind.coefficient", "7");
    player_set(player, "environment.wind", "{velocity: [1, 2, 3], law: quadratic}");
    player_set(player, "environment.wind.drag", "0.5");
    struct player_status status = wait_until_idle(player);
    assert_true(status.message[0] == '\0');
    newest(player);
    const struct scene_wind *wind = &player_scene(player)->environment.wind;
    assert_true(wind->velocity.z == 3 && wind->drag == 0.5 && wind->gust_count == 0);
    player_free(player);
}

static void test_a_diverged_run_restarts_with_a_stable_dt(void **state)
{
    (void)state;
    struct player *player = player_of("jelly-spheres.yaml",
                                      CHANGES("bodies.jelly.nodes=[6,5,6]", "simulation.dt=0.02"));
    player_play(player, true);
    struct player_status status = wait_for_failure(player);
    assert_false(status.playing);
    assert_true(status.time > 0);
    assert_non_null(strstr(status.message, "diverged"));
    player_step(player, 1); // is ignored
    assert_int_equal(wait_until_idle(player).step, status.step);
    player_set(player, "simulation.dt", "0.001");
    status = wait_until_idle(player);
    assert_false(status.failed);
    assert_true(status.playing);
    assert_true(status.message[0] == '\0');
    status = wait_for_step(player, 200);
    assert_false(status.failed);
    assert_true(status.dt == 0.001);
    assert_float_equal(status.time, (double)status.step * 0.001, 1e-9);
    player_free(player);
}

static void test_the_critical_step_is_reported(void **state)
{
    (void)state;
    struct player *player = player_of("jelly-spheres.yaml", small_jelly);
    struct player_status status;
    while (!(status = status_of(player)).critical_fresh)
        nap();
    taut_solver *plain = plain_of("jelly-spheres.yaml", small_jelly);
    taut_critical_step critical;
    assert_int_equal(taut_solver_critical_step(plain, 1, &critical, NULL), TAUT_OK);
    assert_true(status.critical_dt == critical.dt_computed);
    player_set(player, "simulation.integrator", "implicit_euler");
    status = wait_until_idle(player);
    assert_true(isinf(status.critical_dt) && status.critical_fresh);
    taut_solver_destroy(plain);
    player_free(player);
}

static void test_threads_and_kernels_return_the_same_bits(void **state)
{
    (void)state;
    struct player *player = player_of("jelly-spheres.yaml", small_jelly);
    taut_solver *plain = plain_of("jelly-spheres.yaml", small_jelly);
    step(player, 60);
    player_threads(player, 3);
    assert_int_equal(step(player, 60).threads, 3);
    player_threads(player, 0);
    assert_int_equal(step(player, 60).threads, 1); // best for so small a scene
    advance(plain, 180);
    assert_same_frame(newest(player), plain);
    taut_solver_destroy(plain);
    player_free(player);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plays_as_a_plain_run_does),
        cmocka_unit_test(test_single_steps),
        cmocka_unit_test(test_follows_the_clock),
        cmocka_unit_test(test_strains_come_when_wanted),
        cmocka_unit_test(test_contacts_come_when_wanted),
        cmocka_unit_test(test_a_reset_goes_back_to_the_start),
        cmocka_unit_test(test_a_change_acts_at_once),
        cmocka_unit_test(test_what_is_drawn_anew_has_another_generation),
        cmocka_unit_test(test_another_topology_starts_anew),
        cmocka_unit_test(test_a_bad_value_is_reported_and_changes_nothing),
        cmocka_unit_test(test_a_mapping_takes_the_place_of_its_parts),
        cmocka_unit_test(test_a_diverged_run_restarts_with_a_stable_dt),
        cmocka_unit_test(test_the_critical_step_is_reported),
        cmocka_unit_test(test_threads_and_kernels_return_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
