// scene/reader: defaults, names, files, --set, the resolved scene, and files that are not scenes.
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scene_fixture.h"

#define SIMULATION "simulation: {dt: 0.001, steps: 10}\n"
#define ROPE                                                                                       \
    "bodies:\n  - {name: rope, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 5, mass: 1, "    \
    "stiffness: 100}\n"
#define SCENE SIMULATION ROPE

static void test_defaults(void **state)
{
    (void)state;
    taut_scene *scene = read_sound(SCENE, NULL);
    assert_string_equal(scene->name, "test");
    assert_null(scene->title);
    assert_int_equal(scene->precision, PRECISION_SINGLE);
    assert_int_equal(scene->simulation.integrator, INTEGRATOR_SYMPLECTIC_EULER);
    assert_false(scene->simulation.has_duration);
    assert_int_equal(scene->simulation.steps, 10);
    assert_true(scene->simulation.keep_velocity == 1 && scene->simulation.safety == 0.8);
    assert_true(scene->simulation.position_step == 0);
    assert_true(scene->environment.gravity.y == 0 && scene->environment.air_drag == 0);
    assert_false(scene->environment.wind.present);
    assert_false(scene->output.has_every || scene->output.vtp || scene->output.pc2);
    assert_true(scene->output.work);
    assert_int_equal(scene->collider_count, 0);
    const struct scene_body *rope = &scene->bodies[0];
    assert_int_equal(rope->shape.rope.links, ROPE_CHAIN);
    assert_true(rope->kinds[0].present);
    assert_false(rope->kinds[1].present || rope->kinds[2].present);
    assert_true(rope->kinds[0].material.stiffness == 100);
    assert_true(rope->kinds[0].material.damping == 0);
    assert_false(rope->kinds[0].material.has_rest_length);
    scene_free(scene);
}

static void test_wind_defaults(void **state)
{
    (void)state;
    taut_scene *scene =
        read_sound(SCENE "environment: {wind: {velocity: [1, 2, 3], law: quadratic}}\n", NULL);
    const struct scene_wind *wind = &scene->environment.wind;
    assert_int_equal(wind->law, WIND_QUADRATIC);
    assert_true(wind->density == 1.225 && wind->drag == 1 && wind->coefficient == 1);
    assert_true(wind->relative);
    scene_free(scene);
}

static void test_auto_dt(void **state)
{
    (void)state;
    taut_scene *scene =
        read_sound("simulation: {dt: auto, safety: 0.5, duration: 1e3}\n" ROPE, NULL);
    assert_true(scene->simulation.dt_auto);
    assert_true(scene->simulation.safety == 0.5);
    assert_true(scene->simulation.has_duration && scene->simulation.duration == 1000);
    scene_free(scene);
}

static void test_oscillator_and_pendulum(void **state)
{
    (void)state;
    taut_scene *scene = read_sound(
        SIMULATION "environment: {gravity: [0, -9.81, 0]}\nbodies:\n"
                   "  - {name: o, type: oscillator, amplitude: 0.1, mass: 1, stiffness: 4}\n"
                   "  - {name: p, type: pendulum, length: 1, angle: 10, mass: 1, stiffness: 1e5}\n",
        NULL);
    const struct scene_body *o = find_body(scene, "o"), *p = find_body(scene, "p");
    assert_int_equal(o->shape.oscillator.model, OSCILLATOR_SPRING);
    assert_true(o->shape.oscillator.axis.x == 1 && o->shape.oscillator.phase == 0);
    assert_false(o->common.has_rest_length);
    assert_true(o->kinds[0].present && p->kinds[0].present);
    assert_int_equal(p->shape.pendulum.model, PENDULUM_SPRING);
    assert_true(p->shape.pendulum.direction.x == 1);
    assert_true(p->common.stiffness == 1e5);
    scene_free(scene);
}

static void test_scene_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"flag.yaml", "flag"},
                                           {"a/b/flag.yml", "flag"},
                                           {"/flag", "flag"},
                                           {"flag.v2.yaml", "flag.v2"},
                                           {".yaml", ".yaml"},
                                           {"scenes/", "scene"},
                                           {"f\xff\xc3\xa9.yaml", "f\xEF\xBF\xBD\xc3\xa9"},
                                           {"\xe2\x82.yaml", "\xEF\xBF\xBD\xEF\xBF\xBD"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct diagnostics diagnostics = {0};
        taut_scene *scene =
            scene_read_text(SCENE, strlen(SCENE), names[i][0], NULL, 0, &diagnostics);
        assert_non_null(scene);
        assert_string_equal(scene->name, names[i][1]);
        scene_free(scene);
    }
}

static void test_files(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {TAUT_TEST_DATA "/no-such-scene.yaml",
         TAUT_TEST_DATA "/no-such-scene.yaml: error: cannot read the scene: "
                        "No such file or directory\n"},
        {TAUT_TEST_DATA, TAUT_TEST_DATA ": error: cannot read the scene: Is a directory\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct diagnostics diagnostics = {0};
        assert_null(scene_read_file(cases[i][0], NULL, 0, &diagnostics));
        assert_int_equal(diagnostics.count, 1);
        assert_int_equal(diagnostics_status(&diagnostics), TAUT_ERROR_IO);
        char *message = diagnostic_render(&diagnostics.items[0]);
        assert_string_equal(message, cases[i][1]);
        free(message);
        diagnostics_free(&diagnostics);
    }
}

enum { MESSAGES_MAX = 4096 };

static void append_message(void *context, const char *message)
{
    char *all = context;
    size_t length = strlen(all);
    assert_true(length + strlen(message) < MESSAGES_MAX);
    snprintf(all + length, MESSAGES_MAX - length, "%s", message);
}

// Through the public interface: a scene file that cannot be read is TAUT_ERROR_IO with the system's
// reason; a file named in the scene that cannot be read is an error of the scene, at its position.
static void test_status_of_unreadable_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/taut-reader-XXXXXX", loop[64], name[512];
    assert_non_null(mkdtemp(folder));
    snprintf(loop, sizeof loop, "%s/loop.yaml", folder);
    assert_int_equal(symlink("loop.yaml", loop), 0);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const struct {
        const char *path, *reason;
    } cases[] = {
        {"nope.yaml", "No such file or directory"},
        {"", "No such file or directory"},
        {TAUT_TEST_DATA, "Is a directory"},
        {TAUT_TEST_SOURCE "/LICENSE/scene.yaml", "Not a directory"},
        {loop, "Too many levels of symbolic links"},
        {name, "File name too long"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char messages[MESSAGES_MAX] = "", expected[1024];
        taut_scene_options options;
        taut_scene_options_default(&options);
        options.on_message = append_message;
        options.message_context = messages;
        taut_error error = {0};
        taut_scene *scene = (taut_scene *)&error; // any pointer except NULL
        assert_int_equal(taut_scene_load(cases[i].path, &options, &scene, &error), TAUT_ERROR_IO);
        assert_null(scene);
        assert_int_equal(error.code, TAUT_ERROR_IO);
        snprintf(expected, sizeof expected, "%.400s: cannot read the scene: %s", cases[i].path,
                 cases[i].reason);
        assert_string_equal(error.text, expected);
        assert_non_null(strstr(messages, cases[i].reason));
        assert_int_equal(taut_scene_load(cases[i].path, NULL, &scene, NULL), TAUT_ERROR_IO);
    }
    assert_int_equal(remove(loop), 0);
    assert_int_equal(rmdir(folder), 0);

    static const char *const texts[] = {
        SIMULATION "bodies: [{name: a, type: mesh, file: nope.obj, mass: 1, stiffness: 1}]\n",
        SIMULATION
        "bodies: [{name: a, type: network, nodes_file: nope.csv, springs_file: b.csv}]\n",
        SIMULATION "bodies: 1\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        taut_error error = {0};
        taut_scene *scene;
        assert_int_equal(
            taut_scene_parse(texts[i], strlen(texts[i]), "a.yaml", NULL, &scene, &error),
            TAUT_ERROR_SCENE);
        assert_null(scene);
        assert_non_null(strstr(error.text, "a.yaml: "));
        assert_non_null(strstr(error.text, "error"));
    }
}

// ---- --set

static const char *const flag_scene =
    "materials:\n  silk: &silk {stiffness: 400}\n"
    "simulation: {dt: 0.001, duration: 2}\n"
    "output: {every: 0.1}\n"
    "bodies:\n"
    "  - {name: flag, type: cloth, u: [1, 0, 0], v: [0, 1, 0], nodes: [3, 3], mass: 1,\n"
    "     springs: {structural: *silk, shear: *silk}}\n"
    "  - {name: rope, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 5, mass: 1, spring: "
    "*silk}\n"
    "colliders: [{type: plane, stiffness: 1}]\n";

static void test_set_values(void **state)
{
    (void)state;
    static const char *const overrides[] = {"simulation.dt=0.5",
                                            "bodies.flag.nodes=[500,400]",
                                            "bodies.1.nodes=7",
                                            "colliders.0.stiffness=2e3",
                                            "precision=double",
                                            "title=a=b",
                                            "environment.wind.velocity=[1, 2, 3]",
                                            "bodies.rope.pins=[first, {box: [[0,0,0],[1,1,1]]}]",
                                            NULL};
    taut_scene *scene = read_sound(flag_scene, overrides);
    assert_true(scene->simulation.dt == 0.5);
    assert_int_equal(find_body(scene, "flag")->shape.cloth.nodes_u, 500);
    assert_int_equal(find_body(scene, "flag")->shape.cloth.nodes_v, 400);
    assert_int_equal(find_body(scene, "rope")->shape.rope.nodes, 7);
    assert_true(scene->colliders[0].stiffness == 2000);
    assert_int_equal(scene->precision, PRECISION_DOUBLE);
    assert_string_equal(scene->title, "a=b");
    assert_true(scene->environment.wind.present && scene->environment.wind.velocity.z == 3);
    assert_int_equal(find_body(scene, "rope")->pin_count, 2);
    scene_free(scene);
}

// Setting one of two keys that exclude each other removes the other; the last one set applies.
static void test_set_rivals(void **state)
{
    (void)state;
    static const char *const steps[] = {"simulation.steps=7", "output.every_steps=3", NULL};
    taut_scene *scene = read_sound(flag_scene, steps);
    assert_false(scene->simulation.has_duration);
    assert_int_equal(scene->simulation.steps, 7);
    assert_int_equal(scene->output.every_steps, 3);
    scene_free(scene);
}

// An override replaces the keys of the file that it excludes, also in the resolved scene, which can
// be run again.
static void test_set_replaces_what_it_excludes(void **state)
{
    (void)state;
    static const char *const text =
        "simulation: {dt: auto, safety: 0.5, duration: 2, integrator: xpbd, substeps: 20,\n"
        "  iterations: 3}\n"
        "environment: {wind: {velocity: [1, 0, 0], law: quadratic, density: 1, drag: 2}}\n"
        "output: {every_steps: 5}\n"
        "bodies:\n"
        "  - {name: c, type: cloth, u: [1, 0, 0], v: [0, 1, 0], nodes: [3, 3], node_mass: 0.1,\n"
        "     springs: {structural: {stiffness: 5}, bend: {stiffness: 1}}}\n"
        "  - {name: r, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 5, mass: 1,\n"
        "     links: skip, springs: {chain: {stiffness: 9}, skip: {stiffness: 2}}}\n"
        "  - {name: l, type: lattice, nodes: [3, 3, 3], spacing: 1, mass: 1, shells: 2,\n"
        "     springs: &far {k1: {stiffness: 1}, k2: {stiffness: 2}, kb1: {stiffness: 3}}}\n"
        "  - {name: m, type: lattice, nodes: [3, 3, 3], spacing: 1, mass: 1, shells: 2,\n"
        "     springs: *far}\n"
        "  - {name: n, type: network, node_mass: 1, stiffness: 1, nodes: [[0, 0, 0], [1, 0, 0]],\n"
        "     springs: [[0, 1]], velocities: [[0, 0, 1], [0, 0, 0]]}\n"
        "  - {name: f, type: network, nodes_file: tests/data/full/nodes.csv,\n"
        "     springs_file: tests/data/full/springs.csv}\n"
        "colliders:\n"
        "  - {type: plane, stiffness: 7, friction: 1, absorption: 1}\n"
        "  - {type: plane, response: project, keep: 0.5}\n";
    static const char *const overrides[] = {"simulation.dt=0.01",
                                            "simulation.steps=7",
                                            "simulation.integrator=symplectic_euler",
                                            "environment.wind.law=face",
                                            "output.every=0.5",
                                            "bodies.c.mass=2",
                                            "bodies.c.spring={stiffness: 3}",
                                            "bodies.r.links=chain",
                                            "bodies.l.shells=1",
                                            "bodies.n.velocity=[0, 2, 0]",
                                            "bodies.n.mass=5",
                                            "bodies.f.nodes=[[0, 0, 0], [0, 1, 0]]",
                                            "bodies.f.springs=[[0, 1, {stiffness: 1}]]",
                                            "bodies.f.node_mass=3",
                                            "colliders.0.response=project",
                                            "colliders.1.response=penalty",
                                            "colliders.1.stiffness=8",
                                            NULL};
    taut_scene *scene = read_sound(text, overrides);
    assert_true(!scene->simulation.has_duration && scene->simulation.duration == 0);
    assert_true(scene->simulation.safety == 0.8 && scene->simulation.dt == 0.01);
    assert_true(scene->simulation.substeps == 10 && scene->simulation.iterations == 1);
    assert_int_equal(scene->environment.wind.law, WIND_FACE);
    assert_true(scene->environment.wind.coefficient == 1 && scene->environment.wind.drag == 1);
    assert_true(scene->output.every == 0.5 && scene->output.every_steps == 0);
    const struct scene_body *cloth = find_body(scene, "c");
    assert_true(!cloth->mass_per_node && cloth->mass == 2);
    for (size_t kind = 0; kind < 3; kind++)
        assert_true(cloth->kinds[kind].present && cloth->kinds[kind].material.stiffness == 3);
    const struct scene_body *rope = find_body(scene, "r");
    assert_true(rope->kinds[0].material.stiffness == 9 && !rope->kinds[1].present);
    const struct scene_body *near = find_body(scene, "l"), *far = find_body(scene, "m");
    assert_true(near->kinds[0].present && near->kinds[1].present && !near->kinds[3].present);
    assert_true(far->kinds[3].present);
    const struct scene_network *network = &find_body(scene, "n")->shape.network;
    assert_true(!network->velocities && network->masses[0] == 2.5);
    assert_true(find_body(scene, "n")->velocity.y == 2);
    network = &find_body(scene, "f")->shape.network;
    assert_true(!network->nodes_path && !network->springs_path && network->node_count == 2);
    assert_true(network->masses[1] == 3);
    assert_int_equal(scene->colliders[0].response, RESPONSE_PROJECT);
    assert_true(scene->colliders[0].stiffness == 0 && scene->colliders[0].absorption == 0 &&
                scene->colliders[0].friction == 1);
    assert_int_equal(scene->colliders[1].response, RESPONSE_PENALTY);
    assert_true(scene->colliders[1].stiffness == 8 && scene->colliders[1].keep == 1);
    char *resolved = scene_resolved_yaml(scene);
    assert_non_null(resolved);
    scene_free(scene);
    scene_free(read_sound(resolved, NULL));
    static const char *const gone[] = {"node_mass: 0.1", "duration", "safety",     "substeps",
                                       "iterations",     "drag",     "density",    "every_steps",
                                       "structural",     "skip",     "velocities", "nodes_file",
                                       "absorption",     "keep"};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        if (strstr(resolved, gone[i]))
            fail_msg("'%s' is still in the resolved scene:\n%s", gone[i], resolved);
    free(resolved);
    // In the other direction.
    static const char *const back[] = {"bodies.r.node_mass=0.5",
                                       "bodies.f.nodes_file=tests/data/full/nodes.csv",
                                       "simulation.duration=1", NULL};
    scene = read_sound(
        SIMULATION "bodies:\n"
                   "  - {name: r, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 5, mass: 1,"
                   " stiffness: 1}\n"
                   "  - {name: f, type: network, nodes_file: nope.csv, springs_file: "
                   "tests/data/full/springs.csv}\n",
        back);
    assert_true(find_body(scene, "r")->mass_per_node && scene->simulation.has_duration);
    assert_int_equal(scene->simulation.steps, 0);
    scene_free(scene);
}

// Two overrides that exclude each other are an error; so is a key that does not fit the file.
static void test_set_refuses_two_that_exclude_each_other(void **state)
{
    (void)state;
    static const char *const both[] = {"simulation.steps=7", "simulation.duration=3",
                                       "bodies.flag.mass=1", "bodies.flag.node_mass=2", NULL};
    expect_refusal(
        flag_scene, both,
        "--set simulation.duration=3:1:21: error: 'duration' and 'steps' are both given; "
        "only one of them is allowed\n"
        "    simulation.duration=3\n"
        "                        ^\n"
        "--set bodies.flag.node_mass=2:1:23: error: 'mass' and 'node_mass' are both "
        "given; only one of them is allowed\n"
        "    bodies.flag.node_mass=2\n"
        "                          ^\n");
    // The key is in the file, its value and the error in the override.
    static const char windy[] =
        "simulation: {dt: 1, steps: 1}\n"
        "environment: {wind: {velocity: [1,0,0], coefficient: 2}}\n"
        "bodies:\n"
        "  - {name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0,1], nodes: [4,4],\n"
        "     mass: 1, springs: {structural: {stiffness: 9}}}\n";
    static const char *const law[] = {"environment.wind.law=quadratic",
                                      "environment.wind.coefficient=1", NULL};
    expect_refusal(windy, law,
                   "--set environment.wind.coefficient=1:1:30: error: 'coefficient' is only for "
                   "the laws node and face\n"
                   "    environment.wind.coefficient=1\n"
                   "                                 ^\n");
    // An override of the selector that replaces all kinds leaves no material, unless the body has
    // common keys.
    static const char *const links[] = {"bodies.c.links=all", NULL};
    expect_refusal(windy, links,
                   "--set bodies.c.links=all:1:16: error: with these 'links' none of the kinds in "
                   "'springs' is built: the springs 'all' need 'spring', or 'springs.all'\n"
                   "    bodies.c.links=all\n"
                   "                   ^\n");
    static const char *const served[] = {"bodies.c.links=all", "bodies.c.stiffness=5", NULL};
    taut_scene *scene = read_sound(windy, served);
    size_t present = 0;
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++) {
        present += scene->bodies[0].kinds[kind].present;
        if (scene->bodies[0].kinds[kind].present)
            assert_true(scene->bodies[0].kinds[kind].material.stiffness == 5);
    }
    assert_int_equal(present, 1);
    scene_free(scene);
    static const char *const alien[] = {"simulation.substeps=3", NULL};
    expect_refusal(flag_scene, alien,
                   "--set simulation.substeps=3:1:12: error: 'substeps' is only for the integrator "
                   "xpbd\n"
                   "    simulation.substeps=3\n"
                   "               ^\n");
    static const char *const whole[] = {
        "simulation={dt: 1, steps: 1, integrator: rk4, substeps: 3}", NULL};
    char *messages;
    assert_null(read_scene(flag_scene, whole, &messages));
    assert_non_null(strstr(messages, "'substeps' is only for the integrator xpbd"));
    free(messages);
}

// A change through an alias affects this use only; a change at the anchor affects all.
static void test_set_shared(void **state)
{
    (void)state;
    static const char *const one[] = {"bodies.flag.springs.structural.stiffness=5", NULL};
    static const char *const all[] = {"materials.silk.stiffness=6", NULL};
    taut_scene *scene = read_sound(flag_scene, one);
    const struct scene_body *flag = find_body(scene, "flag");
    assert_true(flag->kinds[0].material.stiffness == 5);
    assert_true(flag->kinds[1].material.stiffness == 400);
    assert_true(find_body(scene, "rope")->kinds[0].material.stiffness == 400);
    scene_free(scene);
    scene = read_sound(flag_scene, all);
    flag = find_body(scene, "flag");
    assert_true(flag->kinds[0].material.stiffness == 6);
    assert_true(flag->kinds[1].material.stiffness == 6);
    assert_true(find_body(scene, "rope")->kinds[0].material.stiffness == 6);
    scene_free(scene);
}

static void refuse_set(const char *override, const char *messages)
{
    const char *const overrides[] = {override, NULL};
    expect_refusal(flag_scene, overrides, messages);
}

static void test_set_refused(void **state)
{
    (void)state;
    refuse_set("simulation.dt=abc",
               "--set simulation.dt=abc:1:15: error: 'dt' must be a number or auto, not 'abc'"
               "\n    simulation.dt=abc\n                  ^\n");
    refuse_set("simulation.stps=4",
               "--set simulation.stps=4:1:12: error: unknown key 'stps' in 'simulation'\n"
               "    simulation.stps=4\n               ^\n    did you mean 'steps'?\n");
    refuse_set("bodies.flg.mass=4",
               "--set bodies.flg.mass=4:1:8: error: the list has no item 'flg'; items are chosen "
               "by their name or by a number from 0\n"
               "    bodies.flg.mass=4\n           ^\n    did you mean 'flag'?\n");
    refuse_set("bodies.2.mass=4",
               "--set bodies.2.mass=4:1:8: error: the list has 2 items, numbered from 0; there is "
               "no 2\n    bodies.2.mass=4\n           ^\n");
    refuse_set(
        "simulation.dt.x=4",
        "--set simulation.dt.x=4:1:15: error: the path continues to 'x', but the value there "
        "is '0.001', not a mapping or list\n    simulation.dt.x=4\n                  ^\n");
    refuse_set("simulation..dt=4", "--set simulation..dt=4:1:12: error: a part of the path is "
                                   "empty\n    simulation..dt=4\n               ^\n");
    refuse_set("simulation.dt", "--set simulation.dt:1:1: error: --set takes PATH=VALUE, such as "
                                "simulation.dt=0.001\n    simulation.dt\n    ^\n");
    refuse_set("simulation.dt=", "--set simulation.dt=:1:15: error: no value after '='\n"
                                 "    simulation.dt=\n                  ^\n");
    refuse_set("simulation.dt={a: }}",
               "--set simulation.dt={a: }}:1:20: error: unexpected text after the end of a value; "
               "is there a bracket too many?\n    simulation.dt={a: }}\n"
               "                       ^\n");
    refuse_set("bodies.flag.nodes=[5,",
               "--set bodies.flag.nodes=[5,:1:22: error: expected a value here\n    "
               "bodies.flag.nodes=[5,\n                         ^\n");
    refuse_set("title=a\nb", "--set title=a?b:1:1: error: --set takes one line of UTF-8 text\n"
                             "    title=a\n    ^\n");
    refuse_set("title=\xff", "--set title=?:1:1: error: --set takes one line of UTF-8 text\n"
                             "    title=?\n    ^\n");
    refuse_set("", "--set :1:1: error: --set takes PATH=VALUE, such as simulation.dt=0.001\n");
}

// The precision of the command line counts, and it is that of all numbers of the file.
static void test_set_precision(void **state)
{
    (void)state;
    static const char heavy[] =
        "precision: double\n"
        "simulation: {dt: 0.001, steps: 1}\n"
        "bodies:\n"
        "  - {name: r, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 3, stiffness: 1,\n"
        "     mass: 1e39}\n";
    static const char *const single[] = {"precision=single", NULL};
    static const char *const both[] = {"bodies.r.mass=1e-39", "precision=single", NULL};
    static const char *const unknown[] = {"precision=singel", NULL};
    scene_free(read_sound(heavy, NULL));
    expect_refusal(heavy, single,
                   "test.yaml:5:12: error: 'mass' is 1e39, which exceeds the range of single "
                   "precision (up to 3.4e38); use 'precision: double'\n"
                   "         mass: 1e39}\n"
                   "               ^\n");
    expect_refusal(heavy, both,
                   "--set bodies.r.mass=1e-39:1:15: error: 'mass' is 1e-39, which is below the "
                   "range of single precision (from 1.2e-38 on); use 'precision: double'\n"
                   "    bodies.r.mass=1e-39\n"
                   "                  ^\n");
    char *messages;
    assert_null(read_scene(heavy, unknown, &messages));
    assert_null(strstr(messages, "mass")); // the precision is not known
    free(messages);
}

// Errors of the command line and of the file are both reported.
static void test_set_and_file(void **state)
{
    (void)state;
    static const char *const overrides[] = {"simulation.dt=-1", NULL};
    expect_refusal("simulation: {dt: x, steps: y}\n" ROPE, overrides,
                   "test.yaml:1:28: error: 'steps' must be a whole number, not 'y'"
                   "\n    simulation: {dt: x, steps: y}\n                               ^\n"
                   "--set simulation.dt=-1:1:15: error: 'dt' must be > 0, not -1\n"
                   "    simulation.dt=-1\n                  ^\n");
}

// ---- The resolved scene

static void test_resolved_with_overrides(void **state)
{
    (void)state;
    static const char *const overrides[] = {"bodies.flag.springs.structural.stiffness=5",
                                            "simulation.steps=3", "title='quoted: # text'",
                                            "environment.gravity=[0, -1, 0]", NULL};
    taut_scene *scene = read_sound(flag_scene, overrides);
    char *text = scene_resolved_yaml(scene);
    assert_non_null(text);
    taut_scene *again = read_sound(text, NULL);
    assert_true(find_body(again, "flag")->kinds[0].material.stiffness == 5);
    assert_true(find_body(again, "flag")->kinds[1].material.stiffness == 400);
    assert_int_equal(again->simulation.steps, 3);
    assert_false(again->simulation.has_duration);
    assert_string_equal(again->title, "quoted: # text");
    assert_true(again->environment.gravity.y == -1);
    char *second = scene_resolved_yaml(again);
    assert_string_equal(text, second);
    free(text);
    free(second);
    scene_free(scene);
    scene_free(again);
}

// A relative path becomes absolute from the folder of the scene, which is itself relative here.
static void test_resolved_paths(void **state)
{
    (void)state;
    static const char text[] =
        SIMULATION "bodies: [{name: d, type: mesh, file: tests/data/full/tetrahedron.obj, "
                   "mass: 1, stiffness: 1}]\n";
    taut_scene *scene = read_sound(text, NULL);
    char *resolved = scene_resolved_yaml(scene);
    assert_non_null(strstr(resolved, "\"" TAUT_TEST_SOURCE "/tests/data/full/tetrahedron.obj\""));
    free(resolved);
    scene_free(scene);
}

// ---- Positions for builders

static void test_complain(void **state)
{
    (void)state;
    static const char *const overrides[] = {"bodies.rope.name=string", NULL};
    taut_scene *scene = read_sound(SCENE, overrides);
    struct diagnostics diagnostics = {0};
    scene_report(scene, &diagnostics, (mark){2, 1}, "a %s", "word");
    scene_report(scene, &diagnostics, scene->bodies[0].at, "the body");
    assert_int_equal(diagnostics.error_count, 2);
    char *first = diagnostic_render(&diagnostics.items[0]);
    char *second = diagnostic_render(&diagnostics.items[1]);
    assert_string_equal(first, "test.yaml:2:1: error: a word\n    bodies:\n    ^\n");
    assert_string_equal(second, "--set bodies.rope.name=string:1:18: error: the body\n"
                                "    bodies.rope.name=string\n                     ^\n");
    free(first);
    free(second);
    diagnostics_free(&diagnostics);
    scene_free(scene);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(body_type_name(BODY_ROPE), "rope");
    assert_string_equal(body_type_name(BODY_PENDULUM), "pendulum");
    assert_string_equal(integrator_name(INTEGRATOR_RK4), "rk4");
    assert_string_equal(spring_kind_name(BODY_LATTICE, 5), "kb3");
    assert_string_equal(spring_kind_name(BODY_CLOTH, 0), "structural");
    assert_null(spring_kind_name(BODY_ROPE, 3));
    assert_null(spring_kind_name(BODY_LATTICE, SPRING_KINDS_MAX));
}

// A network with many springs: their materials are found quickly and stored once.
static void test_large_network(void **state)
{
    (void)state;
    enum { SPRINGS = 100000, NODES = 1000, MATERIALS = 500 };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs(SIMULATION "bodies:\n- name: n\n  type: network\n  node_mass: 1\n  nodes:\n", out);
    for (int i = 0; i < NODES; i++)
        fprintf(out, "  - [%d, 0, 0]\n", i);
    fputs("  springs:\n", out);
    for (int i = 0; i < SPRINGS; i++)
        fprintf(out, "  - [%d, %d, {stiffness: %d}]\n", i % NODES, (i + 1 + i / NODES) % NODES,
                i % MATERIALS);
    assert_int_equal(fclose(out), 0);
    taut_scene *scene = read_sound(text, NULL);
    const struct scene_network *network = &scene->bodies[0].shape.network;
    assert_int_equal(network->spring_count, SPRINGS);
    assert_int_equal(network->material_count, MATERIALS);
    for (int i = 0; i < SPRINGS; i += 997)
        assert_true(network->materials[network->spring_materials[i]].stiffness == i % MATERIALS);
    scene_free(scene);
    free(text);
}

// Names are looked up in a sorted list: the first, the last and all others are found.
static void test_many_names_are_found(void **state)
{
    (void)state;
    enum { NAMES = 300 };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, "simulation: {dt: 0.001, steps: 1}\nmaterials:\n");
    for (int i = 0; i < NAMES; i++)
        fprintf(out, "  m%d: {stiffness: %d}\n", 7 * i % NAMES, 7 * i % NAMES + 1);
    fprintf(out, "output: {probes: [");
    for (int i = 0; i < NAMES; i++)
        fprintf(out, "{body: r%d, node: first}, ", (NAMES - 1 - i));
    fprintf(out, "]}\nbodies:\n");
    for (int i = 0; i < NAMES; i++)
        fprintf(out,
                "  - {name: r%d, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 3, mass: 1, "
                "springs: {chain: m%d}}\n",
                11 * i % NAMES, 11 * i % NAMES);
    assert_int_equal(fclose(out), 0);
    taut_scene *scene = read_sound(text, NULL);
    for (int i = 0; i < NAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", i);
        const struct scene_body *body = find_body(scene, name);
        assert_true(body->kinds[0].material.stiffness == i + 1);
        size_t probed = scene->output.probes[NAMES - 1 - i].body;
        assert_ptr_equal(&scene->bodies[probed], body);
    }
    scene_free(scene);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_wind_defaults),
        cmocka_unit_test(test_auto_dt),
        cmocka_unit_test(test_oscillator_and_pendulum),
        cmocka_unit_test(test_scene_names),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_set_values),
        cmocka_unit_test(test_set_rivals),
        cmocka_unit_test(test_set_replaces_what_it_excludes),
        cmocka_unit_test(test_set_refuses_two_that_exclude_each_other),
        cmocka_unit_test(test_set_shared),
        cmocka_unit_test(test_set_refused),
        cmocka_unit_test(test_set_precision),
        cmocka_unit_test(test_set_and_file),
        cmocka_unit_test(test_resolved_with_overrides),
        cmocka_unit_test(test_resolved_paths),
        cmocka_unit_test(test_complain),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_large_network),
        cmocka_unit_test(test_status_of_unreadable_files),
        cmocka_unit_test(test_many_names_are_found),
    };
    if (chdir(TAUT_TEST_SOURCE) != 0) // test_resolved_paths starts from here
        return 1;
    return cmocka_run_group_tests_name("scene_reader", tests, NULL, NULL);
}
