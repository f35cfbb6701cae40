// Interaction with a scene while it runs, and its recent past (play/player.h).
#include "play_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/os.h"
#include "output_fixture.h"
#include "scene/reader.h"
#include "solver/solver.h"

static const char *const none[] = {NULL};

// Small enough for single steps under a sanitizer.
static const char *const small_jelly[] = {"bodies.jelly.nodes=[6,5,6]", NULL};
static const char *const small_flag[] = {"bodies.flag.nodes=[13,9]", NULL};

// ---- Mouse springs

static void test_a_node_is_pulled(void **state)
{
    (void)state;
    struct player *player = player_of("flag.yaml", small_flag);
    uint64_t corner = player_subject(player)->node_count - 1;
    const double target[3] = {1.2, 1.4, 0.8};
    step(player, 100);
    double before = fabs(target[2] - coordinate(newest(player), corner, 2));
    player_grab(player, corner, target);
    step(player, 2000);
    const struct frame *frame = newest(player);
    assert_true(frame->has_mouse_spring);
    assert_true(frame->mouse_spring.to[2] == (float)target[2]);
    assert_true(frame->mouse_spring.from[2] == (float)coordinate(frame, corner, 2));
    assert_true(fabs(target[2] - coordinate(frame, corner, 2)) < before / 4);
    player_set(player, "environment.gravity", "[0, 0, 0]"); // the mouse spring stays
    step(player, 1000);
    frame = newest(player);
    assert_true(frame->has_mouse_spring);
    assert_true(fabs(target[2] - coordinate(frame, corner, 2)) < before / 4);
    player_release(player);
    assert_false(newest(player)->has_mouse_spring);
    player_free(player);
}

static double lowest(const struct frame *frame, uint64_t first, uint64_t end)
{
    double low = INFINITY;
    for (uint64_t node = first; node < end; node++)
        low = fmin(low, coordinate(frame, node, 1));
    return low;
}

static void test_a_sphere_dents_the_jelly(void **state)
{
    (void)state;
    struct player *player = player_of("jelly-spheres.yaml", small_jelly);
    const double centre[3] = {0, 1.2, 0};
    step(player, 5);
    player_scale_sphere(player, 1, 0.2);
    player_move_collider(player, 1, centre, true);
    step(player, 20);
    const struct frame *frame = newest(player);
    assert_true(frame->colliders[1].radius == 0.2f);
    assert_true(frame->colliders[1].centre[1] == 1.2f);
    for (uint64_t node = 0; node < player_subject(player)->node_count; node++) {
        double away = hypot(hypot(coordinate(frame, node, 0), coordinate(frame, node, 1) - 1.2),
                            coordinate(frame, node, 2));
        assert_true(away > 0.2 - 1e-5);
    }
    // It stays there when something else changes, and keeps its new radius.
    player_set(player, "environment.gravity", "[0, -5, 0]");
    assert_true(newest(player)->colliders[1].radius == 0.2f);
    player_set(player, "colliders.1.radius", "0.1");
    frame = newest(player);
    assert_true(frame->colliders[1].radius == 0.1f);
    assert_true(frame->colliders[1].centre[1] == 1.2f);
    player_move_collider(player, 0, centre, false); // a room
    assert_non_null(strstr(wait_until_idle(player).message, "sphere"));
    player_scale_sphere(player, 9, 0.2); // no such collider
    assert_non_null(strstr(wait_until_idle(player).message, "sphere"));
    player_scale_sphere(player, 1, -1);
    assert_non_null(strstr(wait_until_idle(player).message, "radius"));
    player_reset(player);
    frame = newest(player);
    assert_true(frame->colliders[1].radius == 0.1f);
    assert_true(frame->colliders[1].centre[1] == 1.2f);
    player_free(player);
}

// Drags the sphere below the cloth of a new player to the right in steps of 0.02 m, each 0.02 s
// after the one before. Returns how far the cloth has moved, as a fraction of the sphere's path.
// *late is the longest time between two steps. On a busy machine the scene may run on while this
// thread waits for a processor, and a mouse that moves so unsteadily flings the cloth off. It is
// infinite if the scene fell so far behind the clock that a step took more than six frames: the
// player then takes the next step for a new movement, which lasts one frame.
static double drag_sphere_below_cloth(double *late)
{
    enum { NODES = 63, MOVES = 25 };
    const double each = 0.02;           // m, s
    const double six_frames = 6.0 / 60; // s of the clock
    static const char colliders[] = "colliders=[{type: sphere, center: [0,0,-50.01], radius: 50,"
                                    " response: project, restitution: 0, friction: 100}]";
    struct player *player = player_of(
        "flag.yaml",
        CHANGES("bodies.flag.nodes=[9,7]", "bodies.flag.pins=[]", "environment.wind.coefficient=0",
                "environment.gravity=[0,0,-5]", "simulation.dt=0.0005", colliders));
    double centre[3] = {0, 0, -50.01}, before = 0, after = 0;
    step(player, 400); // it lies down
    const struct frame *frame = newest(player);
    for (uint64_t node = 0; node < NODES; node++)
        before += coordinate(frame, node, 0) / NODES;

    player_speed(player, 1);
    player_play(player, true);
    *late = 0;
    for (int i = 0; i < MOVES; i++) {
        const double time = status_of(player).time, began = clock_seconds();
        centre[0] += each;
        player_move_collider(player, 0, centre, true);
        while (status_of(player).time < time + each)
            nap();
        *late = fmax(*late, status_of(player).time - time);
        if (clock_seconds() - began > six_frames)
            *late = INFINITY;
    }
    player_move_collider(player, 0, centre, false);
    const double time = status_of(player).time;
    while (status_of(player).time < time + 0.3)
        nap();
    player_play(player, false);
    wait_until_idle(player);

    frame = newest(player);
    for (uint64_t node = 0; node < NODES; node++)
        after += coordinate(frame, node, 0) / NODES;
    assert_true(frame->colliders[0].centre[0] == (float)centre[0]);
    player_free(player);
    return (after - before) / (MOVES * each);
}

// A sphere that is dragged while the scene runs moves from one position to the next, and friction
// takes along what lies on it; it comes to rest where it is left.
static void test_a_dragged_sphere_drags_the_cloth(void **state)
{
    (void)state;
    enum { ATTEMPTS = 5 };
    double late = INFINITY, moved = 0;
    for (int attempt = 0; attempt < ATTEMPTS && late > 0.04; attempt++)
        moved = drag_sphere_below_cloth(&late);
    if (late > 0.04) {
        print_message("this machine is too busy to move a mouse steadily\n");
        skip();
    }
    assert_true(moved > 0.6);
    assert_true(moved < 1.4);
}

// The scene that the player saves, as a solver at t = 0.
static taut_solver *saved_solver(struct player *player)
{
    const char *path = fixture_path(fixture_folder("player"), "saved.yaml");
    struct diagnostics findings = {0};
    taut_error error = {0};
    if (player_save_scene(player, path, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    taut_scene *scene = scene_read_file(path, NULL, 0, &findings);
    assert_non_null(scene);
    diagnostics_free(&findings);
    return solver_from(scene, NULL);
}

static void test_a_moved_sphere_is_part_of_the_scene(void **state)
{
    (void)state;
    struct player *player = player_of("jelly-spheres.yaml", small_jelly);
    const double positions[2][3] = {{0.05, 1.05, 0.1}, {1.0 / 3, 0.6, -0.7}};
    step(player, 5);
    uint64_t generation = newest(player)->generation;
    player_move_collider(player, 1, positions[0],
                         true); // dragged to one position and on to another
    player_move_collider(player, 1, positions[1], true);
    taut_solver *plain = saved_solver(player); // while it is held
    vec3 centre = solver_sphere(plain, 1).centre;
    assert_true(centre.x == 0.333333333 && centre.y == 0.6 && centre.z == -0.7);
    taut_solver_destroy(plain);
    player_move_collider(player, 1, positions[0], false);
    player_scale_sphere(player, 2, 0.27);
    assert_int_equal(newest(player)->generation, generation); // no new solver, and the same subject
    const struct scene_collider *colliders = player_scene(player)->colliders;
    assert_true(colliders[1].centre.x == 0.05 && colliders[1].centre.z == 0.1);
    assert_true(colliders[1].radius == 0.35 && colliders[2].radius == 0.27);
    assert_int_equal(wait_until_idle(player).step, 5);
    plain = saved_solver(player);
    for (int again = 0; again < 2; again++) { // a reset keeps the change
        player_reset(player);
        assert_int_equal(wait_until_idle(player).step, 0);
        assert_true(newest(player)->colliders[1].centre[1] == 1.05f);
        assert_true(newest(player)->colliders[2].radius == 0.27f);
    }
    step(player, 60);
    advance(plain, 60);
    assert_same_frame(newest(player), plain);
    taut_solver_destroy(plain);
    player_free(player);
}

// A moving sphere stops while it is held and continues with its velocity when released; its path in
// the scene then passes through the position where it was released.
static void test_a_moving_sphere_keeps_its_velocity(void **state)
{
    (void)state;
    struct player *player =
        player_of("jelly-spheres.yaml",
                  CHANGES("bodies.jelly.nodes=[6,5,6]", "colliders.1.velocity=[0.5,0,0]"));
    const double away[3] = {0.1, -0.2, 3};
    double dt = step(player, 100).dt;
    player_scale_sphere(player, 1, 0.25);
    step(player, 100);
    const struct frame_collider *sphere = &newest(player)->colliders[1];
    // It has not stopped.
    assert_float_equal((double)sphere->centre[0], -0.45 + 0.5 * 200 * dt, 1e-6);
    player_move_collider(player, 1, away, true);
    step(player, 100);
    assert_true(newest(player)->colliders[1].centre[0] == 0.1f);
    player_move_collider(player, 1, away, false);
    double let_go = wait_until_idle(player).time;
    step(player, 100);
    double expected = 0.1 + 0.5 * 100 * dt;
    assert_float_equal((double)newest(player)->colliders[1].centre[0], expected, 1e-6);
    player_set(player, "environment.gravity", "[0, -5, 0]"); // another solver
    assert_float_equal((double)newest(player)->colliders[1].centre[0], expected, 1e-6);
    assert_float_equal(player_scene(player)->colliders[1].centre.x, 0.1 - 0.5 * let_go, 1e-12);
    taut_solver *plain = saved_solver(player);
    player_reset(player);
    sphere = &newest(player)->colliders[1];
    assert_float_equal((double)sphere->centre[0], 0.1 - 0.5 * let_go, 1e-6);
    assert_true(sphere->centre[2] == 3 && sphere->radius == 0.25f);
    step(player, 400);
    assert_float_equal((double)newest(player)->colliders[1].centre[0], expected, 1e-6);
    advance(plain, 400);
    assert_same_frame(newest(player), plain);
    taut_solver_destroy(plain);
    player_free(player);
}

// The bowl of bowl.yaml, beside its keyframes: dragged while the scene runs and while it is paused,
// where a position at which it would cross a jelly is refused. Its position is part of the saved
// scene and of a reset.
static void test_a_dragged_mesh(void **state)
{
    (void)state;
    struct player *player =
        player_of("bowl.yaml", CHANGES("bodies.lower.nodes=[4,4,4]", "bodies.upper.nodes=[4,4,4]",
                                       "simulation.dt=0.0001"));
    const double places[3][3] = {{0.3, -0.2, 0.125}, {0.02, 0.05, 0}, {0, 0.18, 0}};
    step(player, 5);
    uint64_t generation = newest(player)->generation;
    player_move_collider(player, 0, places[0], true); // paused: it is there at once
    assert_true(newest(player)->colliders[0].translate[2] == 0.125);
    player_move_collider(player, 0, places[2], true); // through the lower jelly
    assert_non_null(strstr(wait_until_idle(player).message, "would cross body 'lower'"));
    assert_true(newest(player)->colliders[0].translate[1] == -0.2);
    player_speed(player, 1);
    player_play(player, true);
    player_move_collider(player, 0, places[1], true);
    const double time = status_of(player).time;
    while (status_of(player).time < time + 0.3)
        nap();
    player_move_collider(player, 0, places[1], false);
    while (status_of(player).time < time + 0.5)
        nap();
    player_play(player, false);
    wait_until_idle(player);
    for (int axis = 0; axis < 3; axis++)
        assert_float_equal(newest(player)->colliders[0].translate[axis], places[1][axis], 1e-12);
    assert_int_equal(newest(player)->generation, generation); // the same solver
    assert_true(player_scene(player)->colliders[0].translate.x == 0.02);

    // Another solver takes over the state; the position is in the scene then.
    player_set(player, "contact.thickness", "0.011");
    assert_true(newest(player)->colliders[0].translate[1] == 0.05);
    assert_int_not_equal(newest(player)->generation, generation);
    taut_solver *plain = saved_solver(player);
    player_reset(player);
    assert_true(newest(player)->colliders[0].translate[1] == 0.05);
    step(player, 60);
    advance(plain, 60);
    assert_same_frame(newest(player), plain);
    taut_solver_destroy(plain);
    player_free(player);
}

static void test_an_end_of_the_rope_follows_its_target(void **state)
{
    (void)state;
    struct player *player = player_of("rope.yaml", none);
    const double right[3] = {0.5, 0, 0.25}, still[3] = {0};
    step(player, 10);
    player_drive_node(player, 0, right);
    step(player, 200);
    assert_float_equal(coordinate(newest(player), 0, 0), 0.5 * 200 * 0.002, 1e-4);
    assert_float_equal(coordinate(newest(player), 0, 2), 0.25 * 200 * 0.002, 1e-4);
    player_set(player, "environment.gravity", "[0, -5, 0]"); // the target continues
    step(player, 100);
    assert_float_equal(coordinate(newest(player), 0, 0), 0.5 * 300 * 0.002, 1e-4);
    player_drive_node(player, 0, still);
    step(player, 100);
    assert_float_equal(coordinate(newest(player), 0, 0), 0.5 * 300 * 0.002, 1e-4);
    player_drive_node(player, 79, right); // a free node
    assert_true(wait_until_idle(player).message[0] != '\0');
    player_free(player);
}

// Cuts all springs and faces of the subject that cross a level, between nodes above and below as
// built.
static void cut_below(struct player *player, uint64_t first_below)
{
    const struct subject *subject = player_subject(player);
    uint32_t *springs = calloc((size_t)subject->spring_count + 1, sizeof *springs);
    uint32_t *faces = calloc((size_t)subject->face_count + 1, sizeof *faces);
    assert_true(springs && faces);
    size_t spring_count = 0, face_count = 0;
    for (uint64_t i = 0; i < subject->spring_count; i++)
        if ((subject->springs[i][0] < first_below) != (subject->springs[i][1] < first_below))
            springs[spring_count++] = (uint32_t)i;
    for (uint64_t i = 0; i < subject->face_count; i++) {
        const uint32_t *corners = subject->faces[i];
        bool below = corners[0] < first_below;
        if ((corners[1] < first_below) != below || (corners[2] < first_below) != below)
            faces[face_count++] = (uint32_t)i;
    }
    assert_true(spring_count > 0 && face_count > 0);
    player_cut(player, springs, spring_count, faces, face_count);
    free(springs);
    free(faces);
}

static void test_a_cut_cloth_falls_apart(void **state)
{
    (void)state;
    struct player *player =
        player_of("flag.yaml", CHANGES("bodies.flag.nodes=[13,9]", "bodies.flag.pins=[top]",
                                       "environment.wind.velocity=[0,0,0]"));
    const uint64_t row = 13, all = 9 * row;
    step(player, 100);
    newest(player);
    uint64_t springs = player_subject(player)->spring_count;
    cut_below(player, 6 * row); // the last three rows
    assert_int_equal(wait_until_idle(player).step, 100);
    newest(player);
    assert_true(player_subject(player)->spring_count < springs);
    // A second cut, higher up: the remaining springs have other numbers than in the scene as built.
    cut_below(player, 3 * row);
    newest(player);
    uint64_t left = player_subject(player)->spring_count;
    for (uint64_t i = 0; i < left; i++) {
        const uint32_t *ends = player_subject(player)->springs[i];
        assert_int_equal(ends[0] / (3 * row), ends[1] / (3 * row));
    }
    double low = lowest(player_frame(player), 0, 3 * row);
    step(player, 6250); // one second
    const struct frame *frame = newest(player);
    assert_true(lowest(frame, 3 * row, all) < low - 3);
    assert_true(lowest(frame, 0, 3 * row) > low - 0.3);
    // Changed parameters apply to the remaining parts; another topology, or a reset, removes the
    // cuts.
    player_set(player, "environment.air_drag", "0.001");
    newest(player);
    assert_int_equal(player_subject(player)->spring_count, left);
    player_reset(player);
    newest(player);
    assert_int_equal(player_subject(player)->spring_count, springs);
    player_free(player);
}

// ---- The recent past

static void test_the_history_is_kept(void **state)
{
    (void)state;
    struct player *player = player_of("flag.yaml", small_flag);
    player_energies(player, true);
    player_play(player, true);
    while (player_history_count(player) < 10 || player_rows(player, NULL, 0) > 0)
        nap();
    player_play(player, false);
    newest(player);
    size_t count = player_history_count(player);
    double before = -1;
    for (size_t i = 0; i < count; i++) {
        assert_true(player_history_time(player, i) > before);
        before = player_history_time(player, i);
    }
    const struct frame *past = player_history_frame(player, count / 2);
    assert_non_null(past);
    assert_true(past->time == player_history_time(player, count / 2));
    assert_false(past->fields & FRAME_DRAWN_STRAINS);
    taut_solver *plain = plain_of("flag.yaml", small_flag);
    advance(plain, past->step);
    assert_same_frame(past, plain);
    assert_null(player_history_frame(player, count));
    player_set(player, "simulation.keep_velocity", "0.999"); // the history stays
    newest(player);
    assert_true(player_history_count(player) >= count);
    player_reset(player);
    newest(player);
    assert_true(player_history_count(player) <= 1);
    taut_solver_destroy(plain);
    player_free(player);
}

static void test_energies_are_kept(void **state)
{
    (void)state;
    struct player *player = player_of("ball-floor.yaml", none);
    struct player_row rows[8];
    step(player, 20);
    newest(player);
    assert_int_equal(player_rows(player, rows, 8), 0); // not requested
    assert_true(player_frame(player)->energy.total == 0);
    player_energies(player, true);
    for (int i = 0; i < 5; i++) {
        step(player, 20);
        newest(player); // energies are evaluated when a frame is published
    }
    size_t count = player_rows(player, rows, 8);
    assert_true(count >= 5);
    for (size_t i = 1; i < count; i++)
        assert_true(rows[i].time > rows[i - 1].time);
    assert_true(rows[count - 1].time == status_of(player).time);
    assert_true(rows[count - 1].volume > 0);
    assert_true(rows[count - 1].volume == player_frame(player)->volumes[0]);
    assert_true(rows[count - 1].energy.total == player_frame(player)->energy.total);
    assert_int_equal(player_rows(player, rows, 1), 1); // the newest
    assert_true(rows[0].time == status_of(player).time);
    player_play(player, true);
    do
        nap();
    while (player_rows(player, rows, 8) < 8 || rows[0].time <= 100 * status_of(player).dt);
    player_free(player);
}

// ---- The energy budget

static double sum_of(const struct player_budget *budget)
{
    double sum = budget->unexplained;
    for (int cause = 0; cause < WORK_CAUSES; cause++)
        sum += budget->work[cause];
    return sum;
}

static void test_the_budget_is_computed_on_request(void **state)
{
    (void)state;
    struct player *player = player_of("flag.yaml", small_flag);
    taut_solver *plain = plain_of("flag.yaml", small_flag); // keeps the budget all the time
    assert_false(step(player, 300).budget.kept);
    double began = status_of(player).time;
    advance(plain, 300);
    taut_energy before = energy_of(plain);
    const struct energy_budget *work = solver_energy_budget(plain);
    double wind = work->done[WORK_WIND], damping = work->done[WORK_DAMPING];
    player_budget(player, true);
    struct player_status status = wait_until_idle(player);
    assert_true(status.budget.kept && status.budget.since == began && status.step == 300);
    step(player, 400);
    newest(player);
    status = status_of(player);
    advance(plain, 400);
    assert_same_frame(player_frame(player), plain); // the motion has the same bits
    double change = energy_of(plain).total - before.total;
    assert_float_equal(status.budget.change, change, 1e-9);
    assert_float_equal(status.budget.work[WORK_WIND], work->done[WORK_WIND] - wind, 1e-9);
    assert_float_equal(status.budget.work[WORK_DAMPING], damping - work->done[WORK_DAMPING], 1e-9);
    assert_true(status.budget.work[WORK_WIND] > 0 && status.budget.work[WORK_DAMPING] < 0);
    assert_float_equal(sum_of(&status.budget), change, 1e-9);
    // A change of a parameter restarts the budget, and so does a reset; finally it is switched off.
    player_set(player, "environment.gravity", "[0, -5, 0]");
    status = wait_until_idle(player);
    assert_true(status.budget.kept && status.budget.since == status.time && status.time > 0);
    player_reset(player);
    status = wait_until_idle(player);
    assert_true(status.budget.kept && status.budget.since == 0);
    player_budget(player, false);
    assert_false(wait_until_idle(player).budget.kept);
    taut_solver_destroy(plain);
    player_free(player);
}

// Losses before the budget was requested are not in it.
static void test_the_budget_leaves_out_what_was_before(void **state)
{
    (void)state;
    struct player *player = player_of("rope-breaks.yaml", none);
    while (step(player, 200).broken == 0)
        ;
    player_budget(player, true);
    step(player, 1);
    newest(player);
    struct player_status status = status_of(player);
    taut_solver *plain = plain_of("rope-breaks.yaml", none);
    advance(plain, status.step - 1);
    double lost = solver_energy_budget(plain)->done[WORK_BREAKING];
    advance(plain, 1);
    double more = solver_energy_budget(plain)->done[WORK_BREAKING] - lost;
    assert_true(lost > 0);
    assert_float_equal(status.budget.work[WORK_BREAKING], -more, 1e-9 * lost);
    taut_solver_destroy(plain);
    player_free(player);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_is_pulled),
        cmocka_unit_test(test_a_sphere_dents_the_jelly),
        cmocka_unit_test(test_a_dragged_sphere_drags_the_cloth),
        cmocka_unit_test(test_a_moved_sphere_is_part_of_the_scene),
        cmocka_unit_test(test_a_moving_sphere_keeps_its_velocity),
        cmocka_unit_test(test_a_dragged_mesh),
        cmocka_unit_test(test_an_end_of_the_rope_follows_its_target),
        cmocka_unit_test(test_a_cut_cloth_falls_apart),
        cmocka_unit_test(test_the_history_is_kept),
        cmocka_unit_test(test_energies_are_kept),
        cmocka_unit_test(test_the_budget_is_computed_on_request),
        cmocka_unit_test(test_the_budget_leaves_out_what_was_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
