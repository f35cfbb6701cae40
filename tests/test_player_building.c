// Scenes that are built while another one runs: estimates, confirmation, cancellation
// (play/building.h).
#include "play_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "output_fixture.h"

static const char *const none[] = {NULL};
static const char *const small_jelly[] = {"bodies.jelly.nodes=[6,5,6]", NULL};

// Waits until a scene is being built, or needs confirmation.
static struct player_building wait_for_building(struct player *player, bool confirmation)
{
    const double patience = 60; // s
    double end = clock_seconds() + patience;
    while (clock_seconds() < end) {
        struct player_status status = status_of(player);
        if (status.building.active && (status.building.needs_confirmation || !confirmation))
            return status.building;
        if (status.pending == 0)
            fail_msg("nothing is built: %s", status.message);
        nap();
    }
    fail_msg("nothing is built within a minute");
    return (struct player_building){0};
}

static uint64_t nodes_of(struct player *player)
{
    newest(player);
    return player_subject(player)->node_count;
}

static void test_the_present_scene_continues_meanwhile(void **state)
{
    (void)state;
    struct player *player = player_of("rope.yaml", none);
    player_play(player, true);
    wait_for_step(player, 10);
    player_set(player, "bodies.rope.nodes", "600000");
    struct player_building building = wait_for_building(player, false);
    assert_string_equal(building.what, "bodies.rope.nodes=600000");
    uint64_t before = status_of(player).step, most = before;
    struct player_status status = status_of(player);
    while (status.building.active) {
        if (status.building.nodes > 0) // the estimate has been published by then
            building = status.building;
        most = status.step > most ? status.step : most;
        nap();
        status = status_of(player);
    }
    assert_true(most > before + 10);
    assert_true(building.nodes == 600000 && building.springs == 599999);
    assert_true(building.bytes > 12 * 600000.0);
    status = wait_until_idle(player);
    assert_true(status.message[0] == '\0' && status.playing);
    assert_int_equal(nodes_of(player), 600000);
    player_free(player);
}

static void test_it_can_be_given_up_at_any_time(void **state)
{
    (void)state;
    struct player *player = player_of("jelly-spheres.yaml", small_jelly);
    taut_solver *plain = plain_of("jelly-spheres.yaml", small_jelly);
    step(player, 20);
    double slowest = 0;
    for (int i = 0; i < 12; i++) {
        player_set(player, "bodies.jelly.nodes", "[60,60,60]");
        wait_for_building(player, false);
        for (int naps = 0; naps < 25 * i; naps++)
            nap();
        player_build(player, false);
        double begin = clock_seconds();
        struct player_status status = wait_until_idle(player);
        slowest = clock_seconds() - begin > slowest ? clock_seconds() - begin : slowest;
        if (nodes_of(player) != 180) { // the build was complete sooner
            assert_int_equal(nodes_of(player), 216000);
            break;
        }
        assert_string_equal(status.message, "cancelled: nothing was changed");
        assert_int_equal(status.step, 20);
    }
    print_message("cancelled within %.3f s\n", slowest);
    player_set(player, "bodies.jelly.nodes", "[6,5,6]");
    player_reset(player);
    step(player, 30);
    advance(plain, 30);
    assert_same_frame(newest(player), plain);
    taut_solver_destroy(plain);
    player_free(player);
}

static void test_what_there_is_no_memory_for_is_refused(void **state)
{
    (void)state;
    struct player *player = player_of("rope.yaml", none);
    step(player, 5);
    setenv("TAUT_MEMORY_LIMIT", "300M", 1);
    player_set(player, "bodies.rope.nodes", "999999999");
    struct player_status status = wait_until_idle(player);
    unsetenv("TAUT_MEMORY_LIMIT");
    assert_non_null(strstr(status.message, "needs about"));
    assert_int_equal(status.step, 5);
    assert_int_equal(nodes_of(player), 80);
    step(player, 5);
    player_free(player);
}

static void test_what_takes_much_is_asked_about(void **state)
{
    (void)state;
    struct player *player = player_of("rope.yaml", none);
    step(player, 5);
    setenv("TAUT_MEMORY_LIMIT", "1G", 1);
    player_set(player, "bodies.rope.nodes", "2000000");
    struct player_building building = wait_for_building(player, true);
    assert_true(building.nodes == 2000000 && building.left > 0 && building.bytes < building.left);
    player_step(player, 5); // does not wait for an answer
    while (status_of(player).step < 10)
        nap();
    player_build(player, false);
    assert_non_null(strstr(wait_until_idle(player).message, "cancelled"));
    // Another value answers the question too.
    player_set(player, "bodies.rope.nodes", "2000000");
    wait_for_building(player, true);
    player_set(player, "bodies.rope.nodes", "90");
    wait_until_idle(player);
    assert_int_equal(nodes_of(player), 90);
    player_set(player, "bodies.rope.nodes", "2000000");
    wait_for_building(player, true);
    player_build(player, true);
    wait_until_idle(player);
    assert_int_equal(nodes_of(player), 2000000);
    // A scene as large as the present one needs no confirmation.
    player_set(player, "environment.air_drag", "0.5");
    assert_true(wait_until_idle(player).message[0] == '\0');
    unsetenv("TAUT_MEMORY_LIMIT");
    newest(player);
    assert_true(player_scene(player)->environment.air_drag == 0.5);
    player_free(player);
}

static void test_what_needs_a_solver_waits(void **state)
{
    (void)state;
    struct player *player = player_of("rope.yaml", none);
    player_set(player, "bodies.rope.nodes", "600000");
    player_set(player, "bodies.rope.spring.damping", "0.125"); // both in one build
    player_set(player, "environment.gravity", "[0, -");
    wait_for_building(player, false);
    player_set(player, "environment.air_drag", "0.25");
    player_budget(player, true);
    const char *path = fixture_path(fixture_folder("player"), "meanwhile.yaml");
    taut_error error = {0};
    assert_int_equal(player_save_scene(player, path, &error), TAUT_OK); // does not wait for the
                                                                        // build
    struct player_status status = wait_until_idle(player);
    newest(player);
    const taut_scene *scene = player_scene(player);
    assert_true(scene->environment.air_drag == 0.25);
    assert_true(scene->bodies[0].kinds[0].material.damping == 0.125);
    assert_true(scene->environment.gravity.y == -9.81); // the invalid change is omitted
    assert_int_equal(nodes_of(player), 600000);
    assert_true(status.budget.kept);
    // Another scene replaces all builds.
    player_set(player, "bodies.rope.nodes", "700000");
    wait_for_building(player, false);
    player_set(player, "environment.air_drag", "0.5");
    player_open(player, TAUT_TEST_SOURCE "/scenes/wheel.yaml");
    assert_true(wait_until_idle(player).message[0] == '\0');
    newest(player);
    assert_string_equal(player_scene(player)->name, "wheel");
    // Freeing the player does not wait for the build.
    player_open(player, TAUT_TEST_SOURCE "/scenes/cloth-large.yaml");
    wait_for_building(player, false);
    player_free(player);
}

static void test_a_sphere_that_is_moved_meanwhile_is_kept(void **state)
{
    (void)state;
    struct player *player = player_of("jelly-spheres.yaml", small_jelly);
    const double positions[2][3] = {{0.05, 0.05, 0.1}, {0.7, 0.1, -0.7}};
    step(player, 5);
    player_set(player, "bodies.jelly.nodes", "[40,20,30]"); // restarts at t = 0
    wait_for_building(player, false);
    player_move_collider(player, 1, positions[0], false);
    wait_until_idle(player);
    assert_int_equal(nodes_of(player), 24000);
    assert_true(player_frame(player)->colliders[1].centre[0] == 0.05f);
    assert_true(player_scene(player)->colliders[1].centre.x == 0.05);
    player_set(player, "simulation.keep_velocity", "0.999"); // continues
    wait_for_building(player, false);
    player_move_collider(player, 1, positions[1], false);
    player_scale_sphere(player, 2, 0.125);
    wait_until_idle(player);
    assert_true(newest(player)->colliders[1].centre[0] == 0.7f);
    assert_true(player_frame(player)->colliders[2].radius == 0.125f);
    assert_true(player_scene(player)->simulation.keep_velocity == 0.999);
    player_reset(player);
    assert_true(newest(player)->colliders[1].centre[0] == 0.7f);
    assert_true(player_frame(player)->colliders[2].radius == 0.125f);
    player_free(player);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_present_scene_continues_meanwhile),
        cmocka_unit_test(test_it_can_be_given_up_at_any_time),
        cmocka_unit_test(test_what_there_is_no_memory_for_is_refused),
        cmocka_unit_test(test_what_takes_much_is_asked_about),
        cmocka_unit_test(test_what_needs_a_solver_waits),
        cmocka_unit_test(test_a_sphere_that_is_moved_meanwhile_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
