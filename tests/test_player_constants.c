// Changes by sliders: constants of the scene are set in the running solver, and no other one is
// built (play/changes.h). The run continues like that of a solver made from the changed scene, and
// the scene and a file saved from it have the new value.
#include "play_fixture.h"

#include <string.h>

#include "output_fixture.h"
#include "scene/reader.h"
#include "solver/solver.h"

struct change {
    const char *path, *value;
};

// The scene that the player saves, at t = 0.
static taut_solver *saved_solver(struct player *player)
{
    const char *path = fixture_path(fixture_folder("player_constants"), "saved.yaml");
    struct diagnostics findings = {0};
    taut_error error = {0};
    if (player_save_scene(player, path, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    taut_scene *scene = scene_read_file(path, NULL, 0, &findings);
    assert_non_null(scene);
    diagnostics_free(&findings);
    return solver_from(scene, NULL);
}

// Makes each change at another step and compares with solvers that continue the run; then compares
// the saved scene with a reset.
static void assert_no_build(const char *name, const char *const *overrides,
                            const struct change *changes, size_t count)
{
    enum { STEPS = 40 };
    struct player *player = player_of(name, overrides);
    taut_solver *plain = plain_of(name, overrides);
    const uint64_t builds = status_of(player).builds;
    assert_int_equal(builds, 1);
    for (size_t i = 0; i < count; i++) {
        taut_error error = {0};
        step(player, STEPS);
        advance(plain, STEPS);
        player_set(player, changes[i].path, changes[i].value);
        struct player_status status = wait_until_idle(player);
        if (status.builds != builds || status.message[0] != '\0')
            fail_msg("%s: %s=%s: another solver was built: %s", name, changes[i].path,
                     changes[i].value, status.message);
        taut_solver *changed = saved_solver(player); // the scene has the new value
        if (solver_restore_from(changed, plain, NULL, NULL, &error) != TAUT_OK)
            fail_msg("%s", error.text);
        taut_solver_destroy(plain);
        plain = changed;
    }
    step(player, STEPS);
    advance(plain, STEPS);
    assert_same_frame(newest(player), plain);
    taut_solver_destroy(plain);
    // A reset starts with all changes.
    plain = saved_solver(player);
    player_reset(player);
    assert_int_equal(wait_until_idle(player).builds, builds + 1);
    step(player, STEPS);
    advance(plain, STEPS);
    assert_same_frame(newest(player), plain);
    taut_solver_destroy(plain);
    player_free(player);
}

static void test_flag(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"environment.gravity", "[0.3, -4, 0.1]"},
        {"environment.air_drag", "0.0004"},
        {"environment.wind.velocity", "[3, 1, 2]"},
        {"bodies.flag.springs.structural",
         "{stiffness: 500, damping: 0.002, damping_law: axial, law: linear}"},
        {"bodies.flag.springs.shear.damping", "0.004"},
        {"bodies.flag.mass", "0.3"},
        {"simulation.dt", "0.0002"},
    };
    assert_no_build("flag.yaml", CHANGES("bodies.flag.nodes=[33,9]"), changes,
                    sizeof changes / sizeof *changes);
}

static void test_jelly(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"colliders.0.friction", "0.02"},
        {"environment.gravity", "[0, -3, 0]"},
        {"bodies.jelly.damping", "0.2"},
        {"bodies.0.mass", "3"},
    };
    assert_no_build("jelly-spheres.yaml", CHANGES("bodies.jelly.nodes=[6,5,6]"), changes,
                    sizeof changes / sizeof *changes);
}

static void test_ball(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"bodies.ball.pressure.amount", "70"},
        {"bodies.ball.springs.edges.stiffness", "900"},
        {"colliders.0.stiffness", "3000"},
        {"bodies.ball.springs.edges.damping", "0"},
    };
    assert_no_build("ball-floor.yaml", CHANGES("bodies.ball.subdivisions=2"), changes,
                    sizeof changes / sizeof *changes);
}

// Materials: springs, elements and damping are set.
static void test_moduli(void **state)
{
    (void)state;
    static const struct change of_cloth[] = {
        {"bodies.tablecloth.fabric", "{material: tablecloth, warp: 900}"},
        {"bodies.tablecloth.fabric.bending", "[2e-4, 3e-5]"},
        {"bodies.tablecloth.damping_ratio", "0.05"},
        {"bodies.tablecloth.fabric.coupling", "-8"},
    };
    assert_no_build("tablecloth.yaml",
                    CHANGES("bodies.tablecloth.nodes=[17,17]", "simulation.dt=2e-5"), of_cloth,
                    sizeof of_cloth / sizeof *of_cloth);
    static const struct change of_lattice[] = {
        {"bodies.bar.elastic.young", "2000"},
        {"bodies.bar.elastic.poisson", "0.2"},
        {"bodies.bar.elastic.poisson", "0.25"},
        {"bodies.bar.damping_ratio", "0"},
    };
    assert_no_build("gelatine.yaml",
                    CHANGES("bodies.bar.nodes=[9,5,5]", "bodies.bar.spacing=0.005",
                            "bodies.bar.elastic={young: 4000, poisson: 0.4, density: 1000}",
                            "simulation.dt=1e-4", "output.probes=[]"),
                    of_lattice, sizeof of_lattice / sizeof *of_lattice);
}

// A change that is visible, such as a stiffness, makes a new generation of the subject; other
// changes do not.
static void test_what_is_drawn(void **state)
{
    (void)state;
    struct player *player = player_of("flag.yaml", CHANGES("bodies.flag.nodes=[13,9]"));
    uint64_t generation = newest(player)->generation;
    player_set(player, "bodies.flag.mass", "0.3");
    wait_until_idle(player);
    assert_int_equal(newest(player)->generation, generation);
    player_set(player, "bodies.flag.springs.structural.stiffness", "321");
    wait_until_idle(player);
    assert_int_equal(newest(player)->generation, generation + 1);
    bool found = false;
    const struct subject *subject = player_subject(player);
    for (uint64_t i = 0; i < subject->spring_count; i++)
        found |= subject->stiffnesses[i] == 321;
    assert_true(found);
    player_set(player, "environment.gravity", "[0, 0, -9]");
    wait_until_idle(player);
    assert_int_equal(newest(player)->generation, generation + 2);
    assert_true(player_subject(player)->up[2] == 1);
    assert_int_equal(status_of(player).builds, 1);
    player_free(player);
}

// Changes of more than constants, and invalid ones.
static void test_what_needs_a_build(void **state)
{
    (void)state;
    struct player *player = player_of("flag.yaml", CHANGES("bodies.flag.nodes=[13,9]"));
    static const struct change changes[] = {
        {"bodies.flag.springs.structural.law", "tension_only"},
        {"environment.wind.law", "node"},
        {"simulation.integrator", "velocity_verlet"},
        {"bodies.flag.nodes", "[12,9]"},
    };
    uint64_t builds = status_of(player).builds;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        player_set(player, changes[i].path, changes[i].value);
        struct player_status status = wait_until_idle(player);
        if (status.builds != ++builds)
            fail_msg("%s=%s needs a build: %s", changes[i].path, changes[i].value, status.message);
    }
    uint64_t step_before = step(player, 7).step;
    player_set(player, "bodies.flag.mass", "-1");
    struct player_status status = wait_until_idle(player);
    assert_int_equal(status.builds, builds);
    assert_non_null(strstr(status.message, "mass"));
    assert_int_equal(status.step, step_before);
    player_free(player);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flag),          cmocka_unit_test(test_jelly),
        cmocka_unit_test(test_ball),          cmocka_unit_test(test_moduli),
        cmocka_unit_test(test_what_is_drawn), cmocka_unit_test(test_what_needs_a_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
