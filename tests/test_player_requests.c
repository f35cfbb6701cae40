// Saving and opening scenes, and many requests at once (play/player.h).
#include "play_fixture.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/diagnostics.h"
#include "output_fixture.h"
#include "play/changes.h"
#include "scene/reader.h"

// ---- Files

static uint64_t hash_after(taut_scene *scene, uint64_t steps)
{
    taut_solver *solver = solver_from(scene, NULL);
    advance(solver, steps);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_a_saved_scene_runs_again(void **state)
{
    (void)state;
    const char *folder = fixture_folder("player");
    const char *path = fixture_path(folder, "saved.yaml");
    struct player *player = player_of("rope.yaml", CHANGES("bodies.rope.nodes=30"));
    step(player, 10);
    player_set(player, "environment.gravity", "[0, -3, 0]");
    player_set(player, "bodies.rope.spring.damping", "0.4");
    taut_error error = {0};
    assert_int_equal(player_save_scene(player, path, &error), TAUT_OK);
    assert_false(fixture_has_temporary(folder));
    taut_solver *plain =
        plain_of("rope.yaml", CHANGES("bodies.rope.nodes=30", "environment.gravity=[0,-3,0]",
                                      "bodies.rope.spring.damping=0.4"));
    advance(plain, 100);
    struct diagnostics findings = {0};
    taut_scene *scene = scene_read_file(path, NULL, 0, &findings);
    assert_non_null(scene);
    assert_int_equal(hash_after(scene, 100), taut_solver_hash(plain));
    assert_int_equal(player_save_scene(player, fixture_path(folder, "not/there.yaml"), &error),
                     TAUT_ERROR_IO);
    taut_solver_destroy(plain);
    player_free(player);
}

static void test_another_scene_is_opened(void **state)
{
    (void)state;
    const char *folder = fixture_folder("player");
    const char *path = fixture_path(folder, "broken.yaml");
    fixture_write(path, "simulation: {integrator: symplectic_eule, dt: 0.1, steps: 1}\n"
                        "bodies: [{name: net, type: network, nodes: [[0, 0, 0]], node_mass: 1}]\n");
    struct player *player = player_of("rope.yaml", CHANGES("bodies.rope.nodes=30"));
    player_play(player, true);
    player_open(player, path);
    struct player_status status = wait_until_idle(player);
    assert_non_null(strstr(status.message, "broken.yaml"));
    assert_non_null(strstr(status.message, "symplectic_euler"));
    assert_true(status.playing);
    newest(player);
    assert_int_equal(player_subject(player)->node_count, 30);
    player_open(player, TAUT_TEST_SOURCE "/scenes/wheel.yaml");
    status = wait_until_idle(player);
    assert_false(status.playing);
    assert_int_equal(status.step, 0);
    assert_true(status.message[0] == '\0');
    newest(player);
    assert_string_equal(player_scene(player)->name, "wheel");
    step(player, 10);
    player_free(player);
}

static void test_a_broken_scene_makes_no_player(void **state)
{
    (void)state;
    struct player_options options = {.config = {.threads = 1}};
    struct diagnostics findings = {0};
    struct player *player;
    taut_error error = {0};
    assert_int_equal(player_make("not/there.yaml", &options, &findings, &player, &error),
                     TAUT_ERROR_IO);
    assert_null(player);
    assert_int_equal(findings.error_count, 1);
    diagnostics_free(&findings);
}

// If two changes exclude each other, the later one applies.
static void test_a_later_change_wins(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "bodies.rope.mass=1",   "bodies.rope.node_mass=2",    "simulation.integrator=xpbd",
        "simulation.dt=0.0001", "simulation.substeps=3",      "simulation.integrator=rk4",
        "simulation.steps=5",   "simulation.duration=0.0625", "bodies.rope.node_mass=0.5"};
    struct changes changes = {0};
    struct diagnostics findings = {0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_true(changes_set(&changes, texts[i]));
        taut_scene *scene = changes_read(&changes, TAUT_TEST_SOURCE "/scenes/rope.yaml", &findings);
        if (!scene) {
            fail_msg("%s: %s", texts[i], findings.items[0].text);
            return; // fail_msg does not return
        }
        const struct scene_body *rope = &scene->bodies[0];
        assert_true(rope->mass_per_node == (i > 0));
        if (i == sizeof texts / sizeof texts[0] - 1) {
            assert_true(rope->node_mass == 0.5);
            assert_int_equal(scene->simulation.integrator, INTEGRATOR_RK4);
            assert_true(scene->simulation.has_duration && scene->simulation.duration == 0.0625);
        }
        scene_free(scene);
    }
    diagnostics_free(&findings);
    changes_free(&changes);
}

// ---- Many requests at once

// Each thread has its own generator, so every run makes the same requests.
static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static void ask_for_something(struct player *player, uint32_t *seed)
{
    static const char *const settings[][2] = {
        {"environment.gravity", "[0, -4, 0]"}, {"environment.gravity", "[0, -9, 1]"},
        {"environment.gravity", "[0, -9"},     {"simulation.keep_velocity", "0.99"},
        {"simulation.keep_velocity", "2"},     {"bodies.jelly.nodes", "[4, 4, 4]"},
        {"bodies.jelly.nodes", "[5, 4, 3]"},   {"simulation.integrator", "verlet"},
        {"simulation.dt", "0.0005"},           {"colliders.2.radius", "0.2"},
        {"bodies.jelly.shells", "1"},          {"bodies.jelly.springs.k1.stiffness", "90"},
    };
    uint32_t setting = draw(seed, sizeof settings / sizeof settings[0]);
    const double position[3] = {0.1 * draw(seed, 5), 0.5 + 0.1 * draw(seed, 5), 0.1};
    const double velocity[3] = {0.1, 0, 0};
    switch (draw(seed, 15)) {
    case 0:
    case 1:
        player_set(player, settings[setting][0], settings[setting][1]);
        break;
    case 2:
        player_play(player, draw(seed, 3) > 0);
        break;
    case 3:
        player_step(player, draw(seed, 20));
        break;
    case 4:
        player_speed(player, draw(seed, 2) ? 1 : (double)INFINITY);
        break;
    case 5:
        player_reset(player);
        break;
    case 6:
        player_strains(player, draw(seed, 2));
        break;
    case 7:
        player_threads(player, (int)draw(seed, 4));
        break;
    case 8:
        player_release(player);
        break;
    case 9:
        player_move_collider(player, draw(seed, 5), position, draw(seed, 2));
        player_scale_sphere(player, draw(seed, 5), 0.2);
        break;
    case 10:
        player_drive_node(player, draw(seed, 200), velocity);
        break;
    case 11:
        if (draw(seed, 10) == 0)
            player_open(player, draw(seed, 2) ? TAUT_TEST_SOURCE "/scenes/rope-breaks.yaml"
                                              : TAUT_TEST_SOURCE "/scenes/jelly-spheres.yaml");
        break;
    case 12:
        player_contacts(player, draw(seed, 2));
        break;
    default:
        player_grab(player, draw(seed, 200), position);
    }
}

static void *ask_for_much(void *context)
{
    struct player *player = context;
    uint32_t seed = 7;
    for (int i = 0; i < 500; i++)
        ask_for_something(player, &seed);
    return NULL;
}

static void check_frame_and_history(struct player *player)
{
    static struct player_row rows[100];
    player_refresh(player);
    const struct frame *frame = player_frame(player);
    const struct subject *subject = player_subject(player);
    for (uint64_t i = 0; i < subject->spring_count; i++) {
        assert_true(subject->springs[i][0] < subject->node_count);
        if (frame_has(frame, FRAME_DRAWN_STRAINS))
            assert_true(isfinite(frame->drawn_strains[i]));
    }
    size_t count = player_history_count(player);
    const struct frame *past = count > 0 ? player_history_frame(player, count / 2) : NULL;
    if (past)
        assert_true(past->time >= 0);
    player_rows(player, rows, 100);
    assert_non_null(player_scene(player)->name);
    assert_non_null(status_of(player).kernel);
}

static void test_two_threads_ask_for_a_thousand_things(void **state)
{
    (void)state;
    struct player *player = player_of("jelly-spheres.yaml", CHANGES("bodies.jelly.nodes=[5,4,4]"));
    player_play(player, true);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, ask_for_much, player), 0);
    uint32_t seed = 3;
    for (int i = 0; i < 500; i++) {
        ask_for_something(player, &seed);
        if (i % 50 == 49) {
            const uint32_t springs[] = {draw(&seed, 300), draw(&seed, 300)};
            player_cut(player, springs, 2, NULL, 0);
        }
        if (i % 5 == 0) {
            check_frame_and_history(player);
            nap();
        }
    }
    assert_int_equal(pthread_join(other, NULL), 0);
    wait_until_idle(player);
    check_frame_and_history(player);
    // The player still works.
    player_open(player, TAUT_TEST_SOURCE "/scenes/wheel.yaml");
    step(player, 10);
    player_free(player);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_saved_scene_runs_again),
        cmocka_unit_test(test_another_scene_is_opened),
        cmocka_unit_test(test_a_broken_scene_makes_no_player),
        cmocka_unit_test(test_a_later_change_wins),
        cmocka_unit_test(test_two_threads_ask_for_a_thousand_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
