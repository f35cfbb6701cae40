// taut check-intersections as users run it. tests/test_intersections.c and test_intersections.py
// check what it counts.
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_fixture.h"

// A curtain that drops on a sphere and a floor and passes through itself, since bodies have no
// contact with themselves; a sphere and a lattice that fall through each other; a rope and a ring,
// which have no surface.
static int enter(void **state)
{
    (void)state;
    cli_enter("cli_intersections");
    fixture_write("curtain.yaml",
                  "simulation: {dt: 0.0005, duration: 0.5}\n"
                  "environment: {gravity: [0, -9.81, 0]}\n"
                  "bodies:\n"
                  "  - {name: curtain, type: cloth, origin: [-0.5, 1, 0.05], u: [1, 0, 0],\n"
                  "     v: [0, -0.9, 0.1], nodes: [31, 31], mass: 0.2,\n"
                  "     springs: {structural: {stiffness: 60, damping: 0.02},\n"
                  "               shear: {stiffness: 20, damping: 0.01}}}\n"
                  "colliders:\n"
                  "  - {type: sphere, center: [0.05, -0.3, 0.15], radius: 0.25, stiffness: 500,\n"
                  "     friction: 0.1}\n"
                  "  - {type: plane, point: [0, -0.6, 0], normal: [0, 1, 0], stiffness: 500}\n"
                  "output: {every: 0.1, vtp: true, pc2: true}\n");
    fixture_write(
        "two.yaml",
        "simulation: {dt: 0.001, duration: 0.3}\n"
        "bodies:\n"
        "  - {name: box, type: lattice, origin: [0, 0, 0], spacing: 0.3333,\n"
        "     nodes: [4, 4, 4], mass: 1, springs: {k1: {stiffness: 10}},\n"
        "     velocity: [1, 0, 0]}\n"
        "  - {name: ball, type: sphere, center: [1.7, 0.5, 0.5], radius: 0.5,\n"
        "     subdivisions: 2, mass: 1, spring: {stiffness: 10},\n"
        "     velocity: [-1, 0, 0]}\n"
        "  - {name: rope, type: rope, from: [-1, 0.5, 0.5], to: [3, 0.5, 0.5], nodes: 9,\n"
        "     node_mass: 0.1, spring: {stiffness: 10}}\n"
        "output: {every: 0.1, vtp: true}\n");
    fixture_write("cross.obj", "v 0 0 0\nv 4 0 0\nv 0 4 0\nv 1 1 -1\nv 1 1 1\nv 9 9 1\n"
                               "f 1 2 3\nf 4 5 6\n");
    fixture_write("plain.obj", "v 0 0 0\nv 4 0 0\nv 0 4 0\nv 4 4 1\nf 1 2 3\nf 2 4 3\n");
    fixture_write("touch.obj", "v 0 0 0\nv 4 0 0\nv 0 4 0\nv 1 1 0\nv 1 1 1\nv 2 1 1\n"
                               "f 1 2 3\nf 4 5 6\n");
    return 0;
}

static void wrong_usage_is_reported(void **state)
{
    (void)state;
    static const struct {
        const char *options, *message;
    } cases[] = {
        {"", "which scene? Give the path of a scene file, of a run's folder, or of a .vtp or mesh "
             "file"},
        {"plain.obj touch.obj", "'touch.obj' is a second one"},
        {"missing.yaml", "No such file or directory"},
        {"missing.obj", "No such file or directory"},
        {"missing.vtp", "cannot read 'missing.vtp': No such file or directory"},
        {"--time 2 missing.vtp", "cannot be used with a mesh or a single frame"},
        {"plain.vtp", "'plain.vtp' is not a frame that taut wrote"},
        {"--frames 2 curtain.yaml", "--frames selects frames of a run; of a scene use --time"},
        {"--frames 2 plain.obj", "cannot be used with a mesh"},
        {"--time 2 plain.obj", "cannot be used with a mesh"},
        {"--set simulation.dt=1 plain.obj", "cannot be used with a mesh"},
        {"--precision double plain.obj", "cannot be used with a mesh"},
        {"--frames 3:2 empty", "--frames takes A, A:B or A:B:STEP"},
        {"--frames 1:2:0 empty", "--frames takes"},
        {"--frames 1:2:3:4 empty", "--frames takes"},
        {"--frames : empty", "--frames takes"},
        {"--frames x empty", "--frames takes"},
        {"--frames 1 --time 2 curtain.yaml", "--frames and --time exclude each other"},
        {"--pairs -1 plain.obj", "--pairs takes a whole number up to 1000000"},
        {"--pairs 1000001 plain.obj", "--pairs takes a whole number"},
        {"--time 2,1 curtain.yaml", "--time takes up to 64 ascending times"},
        {"--time 0,9 curtain.yaml", "there is no t = 9 s: it ends at 0.5 s"},
        {"--steps 3 curtain.yaml", "unrecognized option '--steps'"},
        {"empty", "contains no run: there is no scene.yaml in it"},
    };
    assert_int_equal(system("mkdir -p empty; cp plain.obj plain.vtp"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char command[256];
        snprintf(command, sizeof command, "taut check-intersections %s", cases[i].options);
        struct outcome outcome = cli_expect(2, command);
        assert_contains(outcome.err, cases[i].message);
        assert_string_equal(outcome.out, "");
        outcome_free(&outcome);
    }
}

static void broken_meshes_are_refused(void **state)
{
    (void)state;
    fixture_write("broken.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n");
    struct outcome outcome = cli_expect(2, "taut check-intersections broken.obj");
    assert_contains(outcome.err, "broken.obj:3");
    outcome_free(&outcome);
    fixture_write("words.obj", "v 0 0 nan\n");
    outcome = cli_expect(2, "taut check-intersections words.obj");
    assert_contains(outcome.err, "words.obj:1");
    outcome_free(&outcome);
}

static void a_mesh_is_checked(void **state)
{
    (void)state;
    struct outcome outcome = cli_expect(0, "taut check-intersections plain.obj");
    assert_contains(outcome.out, "plain.obj: 1 frame of 2 triangles; no crossing pairs (");
    outcome_free(&outcome);
    outcome = cli_expect(3, "taut check-intersections --pairs 5 cross.obj");
    assert_contains(outcome.out, "mesh with itself: 1 crossing\n");
    assert_contains(outcome.out, "mesh, triangle 0, nodes 0 1 2: (0, 0, 0) (4, 0, 0) (0, 4, 0)\n");
    assert_contains(outcome.out, "mesh, triangle 1, nodes 3 4 5: (1, 1, -1) (1, 1, 1) (9, 9, 1)\n");
    outcome_free(&outcome);
    outcome = cli_expect(3, "taut check-intersections --quiet cross.obj");
    assert_string_equal(outcome.out, "");
    assert_string_equal(outcome.err, "");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check-intersections touch.obj");
    assert_contains(outcome.out, "no crossing pairs; touching pairs in 1");
    outcome_free(&outcome);
    outcome = cli_expect(3, "taut check-intersections --touching touch.obj");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check-intersections --touching plain.obj");
    outcome_free(&outcome);
}

static void json_has_all_of_it(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    struct outcome outcome = cli_expect(3, "taut check-intersections --json --pairs 3 cross.obj");
    cli_assert_json(
        outcome.out,
        "assert d['scene'] == 'cross.obj' and d['triangles'] == 2 and d['interrupted'] is None\n"
        "assert (d['crossing'], d['overlapping'], d['touching']) == (1, 0, 0)\n"
        "assert d['frames_crossing'] == 1 and d['worst_frame'] == 0 and d['seconds'] >= 0\n"
        "[f] = d['frames']\n"
        "assert (f['frame'], f['time'], f['crossing'], f['degenerate']) == (0, 0, 1, 0)\n"
        "assert f['bodies'] == [dict(a='mesh', b='mesh', crossing=1, overlapping=0, touching=0)]\n"
        "[p] = f['pairs']\n"
        "assert p['kind'] == 'crossing' and p['a']['triangle'] == 0\n"
        "assert p['b'] == dict(body='mesh', triangle=1, nodes=[3, 4, 5],\n"
        "                      positions=[[1, 1, -1], [1, 1, 1], [9, 9, 1]])\n");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check-intersections --json plain.obj");
    cli_assert_json(outcome.out, "assert d['worst_frame'] is None and d['frames_crossing'] == 0\n"
                                 "assert d['frames'][0]['bodies'] == []\n");
    outcome_free(&outcome);
}

// Today's cloth passes through itself. When contact stops that, take a scene without it.
static void a_curtain_that_falls_into_itself_is_found(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    struct outcome outcome = cli_expect(0, "taut check-intersections curtain.yaml");
    assert_contains(outcome.out, "1 frame of 1,800 triangles; no crossing pairs");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --quiet --force curtain.yaml");
    outcome_free(&outcome);

    // The frames of the run, from .vtp files, and from .pc2 files.
    outcome = cli_expect(3, "taut check-intersections --json --threads 1 out/curtain");
    cli_assert_json(outcome.out,
                    "assert [f['frame'] for f in d['frames']] == list(range(6))\n"
                    "assert [round(f['time'], 6) for f in d['frames']] == [0, .1, .2, .3, .4, .5]\n"
                    "assert d['frames'][0]['crossing'] == 0 and d['frames'][5]['crossing'] > 1000\n"
                    "assert d['crossing'] == sum(f['crossing'] for f in d['frames'])\n"
                    "b = d['frames'][d['worst_frame']]\n"
                    "assert b['crossing'] == max(f['crossing'] for f in d['frames'])\n"
                    "assert [x['a'] + x['b'] for x in b['bodies']] == ['curtaincurtain']\n"
                    "open('counts', 'w').write(repr([f['crossing'] for f in d['frames']]))\n");
    outcome_free(&outcome);
    const char *same =
        "assert [f['crossing'] for f in d['frames']] == eval(open('counts').read())\n";
    outcome = cli_expect(3, "taut check-intersections --json --threads 4 out/curtain");
    cli_assert_json(outcome.out, same);
    outcome_free(&outcome);
    outcome = cli_expect(3, "cp -r out/curtain points && rm points/*.vtp points/*.pvd && "
                            "taut check-intersections --json points");
    cli_assert_json(outcome.out, same);
    outcome_free(&outcome);
    // The scene, simulated again.
    outcome =
        cli_expect(3, "taut check-intersections --json --time 0,0.1,0.2,0.3,0.4,0.5 curtain.yaml");
    cli_assert_json(outcome.out, same);
    outcome_free(&outcome);

    // Some of the frames.
    outcome = cli_expect(3, "taut check-intersections --json --frames 1:5:2 out/curtain");
    cli_assert_json(outcome.out, "assert [f['frame'] for f in d['frames']] == [1, 3, 5]\n");
    outcome_free(&outcome);
    outcome = cli_expect(3, "taut check-intersections --json --frames 4:99 out/curtain");
    cli_assert_json(outcome.out, "assert [f['frame'] for f in d['frames']] == [4, 5]\n");
    outcome_free(&outcome);
    outcome = cli_expect(3, "taut check-intersections --json --time 0.11,0.49 out/curtain");
    cli_assert_json(outcome.out, "assert [f['frame'] for f in d['frames']] == [1, 5]\n");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check-intersections --frames 0 out/curtain");
    assert_contains(outcome.out, "1 frame of 1,800 triangles; no crossing pairs");
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut check-intersections --time 9 out/curtain");
    assert_contains(outcome.err, "there is no t = 9 s: it ends at 0.5 s");
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut check-intersections --frames 6 out/curtain");
    assert_contains(outcome.err, "there is no frame 6; the last is 5");
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut check-intersections --set simulation.dt=1 out/curtain");
    assert_contains(outcome.err, "--set and --precision cannot be used with a finished run");
    outcome_free(&outcome);

    // The first pairs are crossing ones, which do not depend on threads.
    outcome = cli_expect(3, "taut check-intersections --pairs 9 --frames 5 --threads 1 out/curtain "
                            "| grep triangle | head -18 >one; "
                            "taut check-intersections --pairs 9 --frames 5 --threads 3 out/curtain "
                            "| grep triangle | head -18 >three; cmp one three && "
                            "taut check-intersections --quiet out/curtain");
    outcome_free(&outcome);
}

static void positions_in_double_precision_are_not_rounded(void **state)
{
    (void)state;
    // Two sheets that are 1e-12 m apart, and rounded to floats are in one plane.
    fixture_write("sheets.yaml",
                  "precision: double\n"
                  "simulation: {dt: 0.001, steps: 1}\n"
                  "bodies:\n"
                  "  - {name: a, type: cloth, origin: [0, 0, 1], u: [1, 0, 0], v: [0, 1, 0],\n"
                  "     nodes: [5, 5], mass: 1, springs: {structural: {stiffness: 1}}}\n"
                  "  - {name: b, type: cloth, origin: [0.1, 0.1, 1.000000000001], u: [1, 0, 0],\n"
                  "     v: [0, 1, 0], nodes: [5, 5], mass: 1,\n"
                  "     springs: {structural: {stiffness: 1}}}\n"
                  "output: {vtp: true}\n");
    struct outcome outcome = cli_expect(0, "taut run --quiet --force sheets.yaml && "
                                           "taut check-intersections --touching out/sheets");
    outcome_free(&outcome);
    outcome = cli_expect(3, "taut check-intersections --precision single --touching sheets.yaml");
    assert_contains(outcome.out, "a and b:");
    assert_contains(outcome.out, "overlapping");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check-intersections --precision single sheets.yaml");
    outcome_free(&outcome);
}

static void hulls_and_closed_surfaces_cross_each_other(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    struct outcome outcome = cli_expect(
        3, "taut run --quiet --force two.yaml && taut check-intersections --json out/two");
    cli_assert_json(
        outcome.out,
        "assert [f['crossing'] > 0 for f in d['frames']] == [False, False, True, True]\n"
        "for f in d['frames']:\n"
        "    assert {x['a'] + ' ' + x['b'] for x in f['bodies']} <= {'box ball'}, f\n");
    outcome_free(&outcome);
}

// A single .vtp file, which has its bodies and triangles, gives the same result as the frame of the
// run.
static void a_single_frame_is_checked(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    struct outcome outcome =
        cli_expect(3, "taut run --quiet --force two.yaml && cp out/two/two_000003.vtp one.vtp && "
                      "taut check-intersections --json --pairs 50 --frames 3 out/two >run.json; "
                      "taut check-intersections --json --pairs 50 one.vtp");
    cli_assert_json(outcome.out, "e = json.load(open('run.json'))\n"
                                 "assert d['triangles'] == e['triangles'] > 0\n"
                                 "for x in d, e: x['frames'][0].pop('frame')\n"
                                 "assert d['frames'] == e['frames'], d['frames']\n"
                                 "assert len(d['frames'][0]['pairs']) > 10\n"
                                 "assert d['frames'][0]['bodies'][0]['b'] == 'ball'\n");
    outcome_free(&outcome);
    outcome = cli_expect(2, "head -c 3000 one.vtp >cut.vtp; taut check-intersections cut.vtp");
    assert_contains(outcome.err, "cut.vtp");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check-intersections out/two/two_000000.vtp");
    outcome_free(&outcome);
}

static void scenes_without_surfaces_have_none(void **state)
{
    (void)state;
    struct outcome outcome =
        cli_expect(0, "taut check-intersections " TAUT_TEST_SOURCE "/scenes/rope.yaml");
    assert_contains(outcome.out, "1 frame of 0 triangles; no crossing pairs");
    outcome_free(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_usage_is_reported),
        cmocka_unit_test(broken_meshes_are_refused),
        cmocka_unit_test(a_mesh_is_checked),
        cmocka_unit_test(json_has_all_of_it),
        cmocka_unit_test(a_curtain_that_falls_into_itself_is_found),
        cmocka_unit_test(positions_in_double_precision_are_not_rounded),
        cmocka_unit_test(hulls_and_closed_surfaces_cross_each_other),
        cmocka_unit_test(a_single_frame_is_checked),
        cmocka_unit_test(scenes_without_surfaces_have_none),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
