// Successful runs of taut run: results, output and files.
#include "test.h"

#include "cli_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static int enter(void **state)
{
    (void)state;
    cli_enter("cli_run");
    cli_write_hanging();
    return 0;
}

// The hash that `taut run hanging.yaml --quiet --hash OPTIONS` prints; the caller frees it.
static char *hash_of(const char *options)
{
    char *command = text_format("taut run --quiet --hash %s", options);
    assert_non_null(command);
    struct outcome outcome = cli_expect(0, command);
    free(command);
    assert_int_equal(strlen(outcome.out), 17);
    assert_int_equal(strspn(outcome.out, "0123456789abcdef"), 16);
    assert_string_equal(outcome.err, "");
    free(outcome.err);
    return outcome.out;
}

static void assert_same_hash(const char *expected, const char *options)
{
    char *hash = hash_of(options);
    assert_string_equal(hash, expected);
    free(hash);
}

static void assert_other_hash(const char *expected, const char *options)
{
    char *hash = hash_of(options);
    assert_string_not_equal(hash, expected);
    free(hash);
}

static void a_run_leaves_its_files_and_a_summary(void **state)
{
    (void)state;
    struct outcome outcome = cli_expect(0, "taut run hanging.yaml");
    assert_contains(outcome.out, "hanging: A rope and a cloth");
    assert_contains(outcome.out, "2 bodies, 128 nodes, 390 springs, 176 faces");
    assert_contains(outcome.out, "0.1 s in 100 steps of 0.001 s");
    assert_contains(outcome.out, "spring updates/s");
    assert_contains(outcome.out, "out/hanging/hanging.pvd");
    assert_contains(outcome.err, "step 100/100");
    outcome_free(&outcome);
    static const char *const files[] = {
        "scene.yaml", "energy.csv",         "probes.csv",         "hanging.pvd", "rope.obj",
        "rope.pc2",   "hanging_000000.vtp", "hanging_000005.vtp", "cloth.obj",   "cloth.pc2",
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_true(fixture_exists(fixture_path("out/hanging", files[i])));
    // Six frames, at 0, 20, ... 100 steps; scene, energy, probes, collection, manifest, two pairs.
    assert_int_equal(fixture_count("out/hanging"), 6 + 5 + 4);
    assert_false(fixture_has_temporary("out/hanging"));
    assert_int_equal(cli_count_lines("out/hanging/energy.csv"), 1 + 6);
    // The rope at every step from 0 to 100, the cloth at every seventh.
    assert_int_equal(cli_count_lines("out/hanging/probes.csv"), 1 + 101 + 15);
    fixture_remove("out");
}

// Counts of the values of a cloth that moves everywhere; springs and forces are written only if
// requested.
static void frames_of_a_large_cloth_are_small(void **state)
{
    (void)state;
    fixture_write("large.yaml",
                  "simulation: {dt: auto, steps: 150}\n"
                  "environment: {gravity: [0, -9.81, 0], wind: {velocity: [6, 0, 1]}}\n"
                  "bodies: [{name: c, type: cloth, u: [1.5, 0, 0.1], v: [0.2, -1, 0],\n"
                  "  nodes: [200, 200], mass: 0.3, pins: [left], velocity: [1.3, 0.4, 2.1],\n"
                  "  springs: {structural: {stiffness: 100}, shear: {stiffness: 100},\n"
                  "  bend: {stiffness: 10}}}]\n"
                  "output: {every_steps: 150, vtp: true}\n");
    struct outcome outcome = cli_expect(0, "taut run --quiet --output small large.yaml");
    outcome_free(&outcome);
    size_t length;
    free(fixture_read("small/large_000001.vtp", &length));
    assert_in_range(length, 1000000, 1500000);
    outcome = cli_expect(0, "taut run --quiet --output all --set 'output.vtp={springs: true, "
                            "forces: true}' large.yaml && "
                            "grep -aq 'Name=\"force\"' all/large_000001.vtp && "
                            "grep -aq 'NumberOfLines=\"238002' all/large_000001.vtp && "
                            "! grep -aq 'Name=\"force\"' small/large_000001.vtp");
    outcome_free(&outcome);
    fixture_remove("small");
    fixture_remove("all");
}

// N steps, the state, and M steps from there equal N + M steps, bit by bit for integrators whose
// steps keep no history: on grids, on renumbered meshes with gas, and with a driven node that has
// moved (by powers of two, since a drive starts again and its position would be rounded otherwise).
static void a_run_continues_from_a_state(void **state)
{
    (void)state;
    fixture_write("three.yaml",
                  "simulation: {dt: 0.00048828125, steps: 70}\n"
                  "environment: {gravity: [0, -9.81, 0]}\n"
                  "bodies:\n"
                  "  - {name: b-all, type: sphere, center: [0, 1, 0], radius: 0.5,\n"
                  "     subdivisions: 2, mass: 1, springs: {edges: {stiffness: 300, damping: 1}},\n"
                  "     pressure: {amount: 3}}\n"
                  "  - {name: cloth, type: cloth, u: [1, 0, 0], v: [0, 0, 1], nodes: [14, 9],\n"
                  "     mass: 0.2, pins: [corners], springs: {structural: {stiffness: 50}}}\n"
                  "  - {name: a-rope, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 12,\n"
                  "     node_mass: 0.01, spring: {stiffness: 200, damping: 0.1},\n"
                  "     drives: [{node: first, velocity: [[0, [0.5, 0, 0]]]}]}\n"
                  "colliders: [{type: plane, point: [0, 0.4, 0], stiffness: 500}]\n");
    static const char *const integrators[] = {"symplectic_euler", "explicit_euler", "midpoint",
                                              "rk4", "xpbd"};
    for (size_t i = 0; i < 2 * sizeof integrators / sizeof integrators[0]; i++) {
        char command[1024];
        snprintf(command, sizeof command,
                 "run() { taut run --no-output --quiet --precision %s --set "
                 "simulation.integrator=%s \"$@\" three.yaml; }; run --steps 50 --state s.csv && "
                 "run --steps 70 --hash > whole && run --steps 20 --set initial=s.csv --hash > "
                 "rest && cmp whole rest && run --set initial=s.csv --steps 10 --state s.csv && "
                 "run --set initial=s.csv --steps 10 --hash | cmp - whole",
                 i % 2 ? "double" : "single", integrators[i / 2]);
        struct outcome outcome = cli_expect(0, command);
        outcome_free(&outcome);
    }
    // The other integrators start again without their history, and stay close.
    struct outcome outcome = cli_expect(
        0, "for i in verlet velocity_verlet implicit_euler implicit_midpoint bdf2; do taut run "
           "--no-output --quiet --steps 20 --set initial=s.csv --set simulation.integrator=$i "
           "three.yaml || exit 1; done");
    outcome_free(&outcome);
    // The resolved scene names the file with its absolute path.
    outcome =
        cli_expect(0, "mkdir deep && taut run --quiet --steps 20 --set initial=s.csv --output "
                      "deep/run three.yaml && cd deep && taut check run/scene.yaml");
    outcome_free(&outcome);
}

static void a_state_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *edit, *reason;
    } cases[] = {
        {"1s/vx/ux/", "bad.csv:1:"},
        {"5s/cloth/clothes/", "bad.csv:5:1: error: the scene has no body 'clothes'"},
        {"5s/cloth,3/cloth,60/", "bad.csv:5:7: error: body 'cloth' has 6 nodes"},
        {"5s/cloth,3/cloth,2/", "bad.csv:5:7: error: node 2 of body 'cloth' is there twice"},
        {"5s/,[^,]*$/,nan/", "bad.csv:5:"},
        {"5s/,[^,]*$/,1e39/", "this exceeds the range of single precision"},
        {"5s/,[^,]*$//", "bad.csv:5:"},
        {"5d", "body 'cloth' has 6 nodes, but 'bad.csv' has 5 of them: number 3 is the first"},
        {"2s/cloth,0,0/cloth,0,0.5/", "bad.csv:2:9: error: node 0 of body 'cloth' is pinned at "
                                      "0, 0, 0 and cannot be elsewhere"},
    };
    fixture_write("small.yaml", "simulation: {dt: 0.001, steps: 5}\n"
                                "environment: {gravity: [0, -9.81, 0]}\n"
                                "bodies: [{name: cloth, type: cloth, u: [1, 0, 0], v: [0, 0, 1],\n"
                                "  nodes: [3, 2], mass: 1, pins: [0],\n"
                                "  springs: {structural: {stiffness: 50}}}]\n");
    struct outcome outcome =
        cli_expect(0, "taut run --no-output --quiet --state good.csv small.yaml && "
                      "(head -n 1 good.csv; tail -n +2 good.csv | tac) > turned.csv && "
                      "taut check --set initial=turned.csv small.yaml");
    outcome_free(&outcome);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char command[512];
        snprintf(command, sizeof command,
                 "sed '%s' good.csv > bad.csv && taut run --no-output --set initial=bad.csv "
                 "small.yaml",
                 cases[i].edit);
        outcome = cli_expect(2, command);
        assert_contains(outcome.err, cases[i].reason);
        outcome_free(&outcome);
    }
    outcome = cli_expect(2, "taut check --set initial=absent.csv small.yaml");
    assert_contains(outcome.err, "cannot read 'absent.csv': No such file or directory");
    outcome_free(&outcome);
}

static void json_has_every_field_of_the_contract(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    struct outcome outcome = cli_expect(0, "taut run --json --threads 2 hanging.yaml");
    cli_assert_json(
        outcome.out,
        "for name in ('scene nodes springs faces steps time dt threads isa precision integrator '\n"
        "             'setup_seconds step_seconds spring_updates_per_second bytes '\n"
        "             'peak_rss_bytes broken_springs hash energy bodies stages output').split():\n"
        "    assert name in d, name\n"
        "assert (d['nodes'], d['springs'], d['faces'], d['steps']) == (128, 390, 176, 100)\n"
        "assert (d['time'], d['dt'], d['threads']) == (0.1, 0.001, 2)\n"
        "assert d['isa'] in ('base', 'v3', 'v4') and d['precision'] == 'single'\n"
        "assert d['integrator'] == 'symplectic_euler'\n"
        "assert len(d['hash']) == 16 and int(d['hash'], 16) >= 0\n"
        "e = d['energy']\n"
        "assert list(e) == 'kinetic elastic gravity gas contact total'.split()\n"
        "assert abs(sum(e.values()) - 2 * e['total']) < 1e-9 * abs(e['gravity'])\n"
        "assert [b['name'] for b in d['bodies']] == ['rope', 'cloth']\n"
        "assert all(set(b) == {'name', 'nodes', 'springs', 'faces', 'kernel', 'volume'}\n"
        "           for b in d['bodies'])\n"
        "assert all(t >= 0 for t in d['stages'].values()) and 'output' in d['stages']\n"
        "rate = 390 * 100 / d['step_seconds']\n"
        "assert abs(d['spring_updates_per_second'] / rate - 1) < 1e-9\n"
        "assert d['peak_rss_bytes'] > d['bytes'] > 0 and d['setup_seconds'] > 0\n"
        "import os\n"
        "assert sorted(d['output']) == sorted('out/hanging/' + f\n"
        "                                     for f in os.listdir('out/hanging'))\n"
        "assert d['interrupted'] is None and d['error'] is None\n"
        "w = d['work']\n"
        "done = w['wind'] + w['drives'] + w['inflation'] - sum(\n"
        "    w[k] for k in 'damping drag friction keep breaking'.split())\n"
        "change = e['total'] - d['energy_at_start']\n"
        "assert w['damping'] > 0 and w['drag'] > 0\n"
        "assert abs(change - done) < 0.02 * e['kinetic']");
    assert_null(strstr(outcome.out, "nan"));
    outcome_free(&outcome);
    fixture_remove("out");
}

static void quiet_prints_nothing(void **state)
{
    (void)state;
    struct outcome outcome = cli_expect(0, "taut run --quiet hanging.yaml");
    assert_string_equal(outcome.out, "");
    assert_string_equal(outcome.err, "");
    outcome_free(&outcome);
    fixture_remove("out");
}

static void no_output_leaves_nothing(void **state)
{
    (void)state;
    struct outcome outcome = cli_expect(0, "taut run --no-output hanging.yaml");
    assert_null(strstr(outcome.out, "files"));
    outcome_free(&outcome);
    assert_false(fixture_exists("out"));
}

static void the_hash_is_the_same_whatever_is_used_and_written(void **state)
{
    (void)state;
    char *hash = hash_of("hanging.yaml");
    fixture_remove("out");
    assert_same_hash(hash, "--no-output hanging.yaml");
    static const char *const threads[] = {"1", "2", "3", "4", "8"};
    for (size_t i = 0; i < 5; i++) {
        char *options = text_format("--no-output --threads %s hanging.yaml", threads[i]);
        assert_same_hash(hash, options);
        free(options);
    }
    assert_same_hash(hash, "--no-output --set output.every=0.003 hanging.yaml");
    assert_same_hash(hash, "--no-output --set output.work=false hanging.yaml");
    assert_same_hash(hash, "--no-output --isa auto hanging.yaml");
    assert_same_hash(hash, "--no-output --isa base hanging.yaml");
    assert_other_hash(hash, "--no-output --precision double hanging.yaml");
    assert_other_hash(hash, "--no-output --precision mixed hanging.yaml");
    assert_other_hash(hash, "--no-output --steps 99 hanging.yaml");
    assert_other_hash(hash, "--no-output --set bodies.rope.node_mass=0.06 hanging.yaml");
    free(hash);
}

static void steps_and_duration_replace_the_scene_s(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    struct outcome outcome = cli_expect(0, "taut run --json --no-output --steps 7 hanging.yaml");
    cli_assert_json(outcome.out, "assert d['steps'] == 7 and abs(d['time'] - 0.007) < 1e-12");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --json --no-output --duration 0.0205 hanging.yaml");
    cli_assert_json(outcome.out, "assert d['steps'] == 21");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --json --no-output --steps 5 --set bodies.cloth.nodes=[3,4] "
                            "--precision double hanging.yaml");
    cli_assert_json(outcome.out, "assert d['nodes'] == 20 + 12 and d['precision'] == 'double'");
    outcome_free(&outcome);
}

static void a_run_can_be_repeated_from_its_folder(void **state)
{
    (void)state;
    char *hash = hash_of("--set bodies.rope.nodes=30 --steps 40 --output first hanging.yaml");
    assert_same_hash(hash, "--output again/and/again first/scene.yaml");
    assert_true(fixture_exists("again/and/again/energy.csv"));
    size_t length;
    char *first = fixture_read("first/energy.csv", &length);
    char *again = fixture_read("again/and/again/energy.csv", &length);
    assert_string_equal(first, again);
    free(first);
    free(again);
    free(hash);
    fixture_remove("first");
    fixture_remove("again");
}

static void tables_do_not_depend_on_threads(void **state)
{
    (void)state;
    free(hash_of("--threads 1 --output one hanging.yaml"));
    free(hash_of("--threads 3 --output three hanging.yaml"));
    static const char *const tables[] = {"energy.csv", "probes.csv"};
    for (size_t i = 0; i < 2; i++) {
        size_t length;
        char *one = fixture_read(fixture_path("one", tables[i]), &length);
        char *three = fixture_read(fixture_path("three", tables[i]), &length);
        assert_string_equal(one, three);
        free(one);
        free(three);
    }
    fixture_remove("one");
    fixture_remove("three");
}

static void energy_rows_follow_the_output_section(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        size_t rows;
    } cases[] = {
        {"--set output.every_steps=30", 1 + 5},        // 0 30 60 90 100
        {"--set output.every=0.025", 1 + 5},           // 0 25 50 75 100
        {"--set output.every=0.0001", 1 + 101},        // finer than dt
        {"--set output={}", 1 + 101},                  // about a hundred
        {"--set output={} --steps 1000", 1 + 101},     // 0 10 20 ... 1000
        {"--set output={every_steps:\\ 5000}", 1 + 2}, // the two ends
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *options = text_format("%s --output rows hanging.yaml", cases[i].options);
        free(hash_of(options));
        free(options);
        assert_int_equal(cli_count_lines("rows/energy.csv"), cases[i].rows);
        fixture_remove("rows");
    }
}

static void state_has_a_row_for_every_node(void **state)
{
    (void)state;
    free(hash_of("--no-output --state end.csv hanging.yaml"));
    assert_int_equal(cli_count_lines("end.csv"), 1 + 128);
    size_t length;
    char *text = fixture_read("end.csv", &length);
    static const char header[] = "body,node,x,y,z,vx,vy,vz\nrope,0,0,0,0,0,0,0\nrope,1,";
    assert_int_equal(strncmp(text, header, strlen(header)), 0);
    assert_contains(text, "\ncloth,107,");
    free(text);
    // To a device too, such as standard output.
    struct outcome outcome =
        cli_expect(0, "taut run --quiet --no-output --steps 1 --state /dev/stdout hanging.yaml");
    assert_int_equal(strncmp(outcome.out, header, 25), 0);
    outcome_free(&outcome);
}

static void implicit_steps_report_how_they_were_solved(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    struct outcome outcome = cli_expect(0, "taut run --json --no-output --steps 10 --set "
                                           "simulation.integrator=bdf2 hanging.yaml");
    cli_assert_json(outcome.out, "i = d['implicit']\n"
                                 "assert i['solves'] == 10 and i['unconverged'] == 0\n"
                                 "assert i['iterations'] >= 10\n"
                                 "assert 0 < i['worst_residual'] <= 1e-4");
    assert_null(strstr(outcome.err, "warning"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --json --no-output --steps 10 hanging.yaml");
    cli_assert_json(outcome.out, "assert d['implicit'] is None");
    outcome_free(&outcome);
}

#define STIFF_BAR  "type: lattice, nodes: [21, 3, 3], spacing: 0.01, pins: [left], elastic: "
#define STIFF_BALL "type: sphere, radius: 0.3, subdivisions: 3, elastic: "

// Single precision does not resolve the strain of steel under its own weight, nor does mixed; that of
// rubber it does, and double precision both. Likewise of a membrane 0.6 m wide with edges of 0.07 m.
static void materials_too_stiff_for_the_precision_are_warned_of(void **state)
{
    (void)state;
    static const struct {
        const char *body, *precision;
        bool warns;
    } runs[] = {{STIFF_BAR "steel", "single", true},
                {STIFF_BAR "nylon", "mixed", true},
                {STIFF_BAR "steel", "double", false},
                {STIFF_BAR "{material: rubber, poisson: 0.45}", "single", false},
                {STIFF_BALL "{material: steel, thickness: 0.001}", "single", true},
                {STIFF_BALL "{material: steel, thickness: 0.001}", "mixed", true},
                {STIFF_BALL "{material: steel, thickness: 0.001}", "double", false},
                {STIFF_BALL "{material: rubber, thickness: 0.001}", "single", false}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char command[600];
        snprintf(command, sizeof command,
                 "printf '%%s\\n' 'simulation: {dt: 1.0e-7, steps: 2}' "
                 "'environment: {gravity: [0, -9.81, 0]}' 'bodies:' '  - {name: b, %s}' "
                 "> stiff.yaml && taut run --no-output --precision %s stiff.yaml",
                 runs[i].body, runs[i].precision);
        struct outcome outcome = cli_expect(0, command);
        const bool warns = strstr(outcome.err, "'b' is too stiff for") != NULL;
        if (warns != runs[i].warns)
            fail_msg("%s in %s precision: %s", runs[i].body, runs[i].precision, outcome.err);
        outcome_free(&outcome);
    }
}

// Elements are forces in xpbd, so that its dt has a limit, which is that of bending here: a run with
// 1.2 times as much ends.
static void xpbd_warns_beyond_the_limit_of_elements(void **state)
{
    (void)state;
    fixture_write("board.yaml",
                  "simulation: {dt: 0.02, steps: 3, integrator: xpbd, substeps: 1}\n"
                  "environment: {gravity: [0, -9.81, 0]}\n"
                  "bodies: [{name: c, type: cloth, u: [1,0,0], v: [0,0,1], nodes: [21,21],\n"
                  "  pins: [left], elastic: {young: 1e7, density: 1000, thickness: 0.01}}]\n");
    static const char *const commands[] = {"check", "run --no-output"};
    for (int i = 0; i < 2; i++) {
        char command[200];
        snprintf(command, sizeof command, "taut %s board.yaml", commands[i]);
        struct outcome outcome = cli_expect(0, command);
        assert_contains(outcome.err,
                        "dt is 9.8 times the largest certainly stable step, 0.002041 s "
                        "for xpbd, of the elements");
        outcome_free(&outcome);
        snprintf(command, sizeof command, "taut %s --set simulation.substeps=10 board.yaml",
                 commands[i]);
        outcome = cli_expect(0, command);
        assert_null(strstr(outcome.err, "warning"));
        outcome_free(&outcome);
    }
}

static void unsolved_implicit_steps_are_reported_once(void **state)
{
    (void)state;
    static const char run[] =
        "taut run --no-output --steps 10 --set simulation.implicit.iterations=1 "
        "--set simulation.integrator=implicit_euler hanging.yaml";
    struct outcome outcome = cli_expect(0, run);
    assert_contains(outcome.err, "warning: the equations of a step");
    assert_null(strstr(strstr(outcome.err, "warning") + 1, "warning"));
    assert_contains(outcome.out, "not converged in 10 steps");
    outcome_free(&outcome);
}

// A string that is slack at the start, and so stable at every dt, is taut at the end of the first
// step; the critical step is 2 / omega.
static void a_dt_that_became_too_long_is_reported(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write(
        "taut.yaml",
        "simulation: {integrator: symplectic_euler, dt: 0.02, steps: 1}\n"
        "precision: double\n"
        "bodies: [{name: string, type: network, nodes: [[0,0,0],[0,-0.99,0]], pins: [0],\n"
        "  node_mass: [1,1], velocities: [[0,0,0],[0,-1,0]],\n"
        "  springs: [[0,1,{stiffness: 10506, rest_length: 1, law: tension_only}]]}]\n");
    struct outcome outcome = cli_expect(0, "taut run --json --no-output taut.yaml");
    cli_assert_json(outcome.out, "e = d['dt_exceeds']\n"
                                 "assert e['exact'] and (e['body'], e['node']) == ('string', 1)\n"
                                 "assert not e['at_start']\n"
                                 "assert abs(e['critical_step'] * 10506 ** 0.5 / 2 - 1) < 1e-3");
    assert_null(strstr(outcome.err, "warning"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --no-output taut.yaml");
    assert_contains(outcome.out, "warning    dt is 1.02 times the largest stable step at the end");
    outcome_free(&outcome);
    // A dt that was too long at the start is not reported again.
    fixture_write(
        "long.yaml",
        "simulation: {integrator: symplectic_euler, dt: 0.02, steps: 1}\n"
        "precision: double\n"
        "bodies: [{name: string, type: network, nodes: [[0,0,0],[0,-1.01,0]], pins: [0],\n"
        "  node_mass: [1,1], springs: [[0,1,{stiffness: 10506, rest_length: 1}]]}]\n");
    outcome = cli_expect(0, "taut run --json --no-output long.yaml");
    cli_assert_json(outcome.out, "e = d['dt_exceeds']\n"
                                 "assert e['exact'] and e['at_start']\n"
                                 "assert abs(e['critical_step'] * 10506 ** 0.5 / 2 - 1) < 1e-3");
    outcome_free(&outcome);
    static const char *const passing[] = {
        "taut run --json --no-output --set simulation.dt=0.019 taut.yaml",
        "taut run --json --no-output --set simulation.integrator=xpbd taut.yaml",
        "taut run --json --no-output --set simulation.integrator=implicit_euler taut.yaml",
        "taut run --json --no-output hanging.yaml"};
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
        outcome = cli_expect(0, passing[i]);
        cli_assert_json(outcome.out, "assert d['dt_exceeds'] is None and d['dt_checked'] is True");
        outcome_free(&outcome);
    }
}

// After divergence the report has the critical step of the start, since the last state is
// meaningless. If eigenvalues take longer than the steps, the warning uses the bound, or the report
// reports that dt was not checked.
static void a_dt_is_judged_with_limited_effort(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    static const char jelly[] =
        "simulation: {integrator: symplectic_euler, dt: %g, steps: %d}\n"
        "environment: {gravity: [0,-9.81,0]}\n"
        "bodies: [{name: jelly, type: lattice, nodes: [%d,%d,%d], spacing: 0.1, node_mass: 0.01,\n"
        "  springs: {k1: {stiffness: 100, damping: 0.001}, k2: {stiffness: 50}}}]\n";
    char text[600];
    snprintf(text, sizeof text, jelly, 0.05, 1000, 4, 4, 4);
    fixture_write("diverges.yaml", text);
    struct outcome outcome = cli_expect(1, "taut run --json --no-output diverges.yaml");
    cli_assert_json(outcome.out,
                    "e = d['dt_exceeds']\n"
                    "assert d['error'] and d['dt_checked'] and e['at_start'] and e['exact']");
    outcome_free(&outcome);
    // 26 * 40^3 / 2 springs: a product is estimated at 12 ms.
    snprintf(text, sizeof text, jelly, 0.05, 1, 40, 40, 40);
    fixture_write("large.yaml", text);
    outcome = cli_expect(0, "taut run --json --no-output large.yaml");
    cli_assert_json(outcome.out, "e = d['dt_exceeds']\n"
                                 "assert d['dt_checked'] and e['at_start'] and not e['exact']\n"
                                 "assert e['critical_step'] < 0.05");
    assert_contains(outcome.err, "times the largest certainly stable step");
    outcome_free(&outcome);
}

static void the_reference_kernel_agrees(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    struct outcome outcome =
        cli_expect(0, "taut run --json --no-output --precision double --kernel reference "
                      "hanging.yaml >ref.txt && "
                      "taut run --json --no-output --precision double hanging.yaml >all.txt");
    outcome_free(&outcome);
    cli_assert_json("{}", "r, a = json.load(open('ref.txt')), json.load(open('all.txt'))\n"
                          "assert all(b['kernel'] == 'reference' for b in r['bodies'])\n"
                          "assert all(b['kernel'] == 'grid' for b in a['bodies'])\n"
                          "assert r['threads'] == 1\n"
                          "assert abs(r['energy']['total'] / a['energy']['total'] - 1) < 1e-9");
}

static void progress_is_one_live_line_on_a_terminal(void **state)
{
    (void)state;
    if (system("script -qec true /dev/null >/dev/null 2>&1") != 0) { // NOLINT(cert-env33-c)
        print_message(
            "script (bsdutils) is absent or finds no /dev/pts: no terminal to test with\n");
        skip();
    }
    // Long enough for several updates of the progress line.
    struct outcome outcome = cli_expect(
        124, "TERM=xterm script -qec \"stty cols 120; timeout --foreground -s INT 2 '" TAUT_BINARY
             "' run --no-output --steps 1000000000 hanging.yaml\" /dev/null </dev/null");
    assert_contains(outcome.out, "\r  0%  t ");
    assert_contains(outcome.out, "/1000000000");
    assert_contains(outcome.out, "springs/s");
    assert_contains(outcome.out, " J\033[K\r  0%  t ");
    // The progress line is erased before other messages.
    const char *message = strstr(outcome.out, "taut: interrupted by SIGINT");
    assert_non_null(message);
    assert_int_equal(strncmp(message - 4, "\r\033[K", 4), 0);
    assert_null(strstr(message, "left"));
    outcome_free(&outcome);
}

// Runs a program on the JSON of balance.yaml with an integrator at dt and at dt / 2, as a list; it
// must succeed.
static void assert_balances(const char *integrator, const char *program)
{
    char *text[2];
    for (int fine = 0; fine < 2; fine++) {
        char *command = text_format("taut run balance.yaml --no-output --quiet --json --set "
                                    "simulation.integrator=%s --set simulation.dt=%s",
                                    integrator, fine ? "0.0002" : "0.0004");
        struct outcome outcome = cli_expect(0, command);
        free(command);
        text[fine] = outcome.out;
        free(outcome.err);
    }
    char *both = text_format("[%s,%s]", text[0], text[1]);
    cli_assert_json(both, program);
    free(both);
    free(text[0]);
    free(text[1]);
}

// The summary reports whether the energy balance closes: the residual is within what the order of
// the integrator allows; it falls with dt by that order and is smaller than the work of any cause,
// so a missing cause would show. The summary also states that explicit and implicit Euler add and
// remove energy themselves, in proportion to dt.
static void the_summary_reports_whether_the_balance_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write(
        "balance.yaml",
        "precision: double\nsimulation: {dt: 0.0004, duration: 0.8}\n"
        "environment: {gravity: [0,-9.81,0], air_drag: 0.01}\n"
        "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0,1],\n"
        "  nodes: [5,5], mass: 0.5, pins: [corners],\n"
        "  springs: {structural: {stiffness: 100, damping: 0.05}, shear: {stiffness: 50,\n"
        "  damping: 0.05}}}]\n");
    static const struct {
        const char *name;
        int order;
    } integrators[] = {
        {"symplectic_euler", 1}, {"verlet", 1}, {"velocity_verlet", 1},   {"xpbd", 1},
        {"midpoint", 2},         {"rk4", 2},    {"implicit_midpoint", 2}, {"bdf2", 2}};
    for (size_t i = 0; i < sizeof integrators / sizeof integrators[0]; i++) {
        char *program =
            text_format("order = %d\n"
                        "a, b = (each['balance'] for each in d)\n"
                        "least = min(d[1]['work']['damping'], d[1]['work']['drag'])\n"
                        "assert a['order'] == b['order'] == order, b\n"
                        "assert a['verdict'] == b['verdict'] == 'closes', (a, b)\n"
                        "assert a['cause'] is None and b['cause'] is None, (a, b)\n"
                        "assert abs(a['residual']) <= a['allowed'], a\n"
                        "assert 1.9 ** order < a['allowed'] / b['allowed'] < 2.1 ** order, (a, b)\n"
                        "assert b['allowed'] < least / 2, (b, least)\n"
                        "assert abs(b['change'] - b['accounted'] - b['residual']) < 1e-12, b\n",
                        integrators[i].order);
        assert_balances(integrators[i].name, program);
        free(program);
    }
    static const char *const eulers[2][2] = {{"explicit_euler", "growth"},
                                             {"implicit_euler", "numerical damping"}};
    for (int i = 0; i < 2; i++) {
        char *named = text_format("a, b = (each['balance'] for each in d)\n"
                                  "assert '%s' in a['cause'], a\n"
                                  "assert 1.8 < a['residual'] / b['residual'] < 2.2, (a, b)\n",
                                  eulers[i][1]);
        assert_balances(eulers[i][0], named);
        free(named);
    }
}

// Runs a program on the JSON of a scene with an integrator at dt, dt / 2 and dt / 4.
static void assert_over_steps(const char *scene, const char *integrator, double dt, int steps,
                              const char *program)
{
    char *text = text_format("[");
    for (int i = 0; i < 3; i++) {
        char *command = text_format("taut run %s --no-output --quiet --json --steps %d --set "
                                    "simulation.integrator=%s --set simulation.dt=%.17g",
                                    scene, steps << i, integrator, dt / (1 << i));
        struct outcome outcome = cli_expect(0, command);
        char *more = text_format("%s%s%s", text, outcome.out, i < 2 ? "," : "]");
        free(command);
        free(text);
        outcome_free(&outcome);
        text = more;
    }
    cli_assert_json(text, program);
    free(text);
}

// The error of the trapezoids of the power of a drive, h^2/12 of the change of P', is all that a
// method of order 2 leaves of a smooth motion. The residual would show if any contribution to the
// balance were missing.
static void the_balance_of_a_driven_rope_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write("driven.yaml",
                  "precision: double\nsimulation: {dt: 0.0001, steps: 70}\n"
                  "environment: {gravity: [0,-4,0]}\n"
                  "bodies: [{name: r, type: rope, from: [0,0,0], to: [0.9,0,0], nodes: 12,\n"
                  "  mass: 0.4, stiffness: 260, drives: [{node: first, velocity: [0,0.6,0]}]}]\n");
    static const char *const methods[] = {"verlet", "velocity_verlet",   "midpoint",
                                          "rk4",    "implicit_midpoint", "bdf2"};
    for (int i = 0; i < 6; i++) // the tolerance of implicit steps does not fall with dt
        assert_over_steps("driven.yaml", methods[i], 1e-4, 70,
                          "b = [each['balance'] for each in d]\n"
                          "assert all(each['verdict'] == 'closes' for each in b), b\n"
                          "assert d[0]['implicit'] or 2.5 < b[0]['allowed'] / b[1]['allowed'] < "
                          "4.6, b\n"
                          "assert abs(d[0]['work']['drives']) > 100 * b[0]['allowed'], d[0]\n");
}

// No difference extends over a jump of the powers, where a drive changes its velocity: what the
// order allows falls with dt after it too, and is much less than the work of the drive.
static void the_balance_after_jumps_of_a_drive_is_judged(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    static const char *const methods[] = {"symplectic_euler", "midpoint", "rk4",
                                          "implicit_midpoint", "velocity_verlet"};
    for (int damped = 0; damped < 2; damped++) {
        char *text = text_format(
            "precision: double\nsimulation: {dt: 0.001, steps: 100}\n"
            "environment: {gravity: [0,-4,0]}\n"
            "bodies: [{name: r, type: rope, from: [0,0,0], to: [0.9,0,0], nodes: 12, mass: 0.4,\n"
            "  stiffness: 260, damping: %s, drives: [{node: first, velocity: [[0,[0,0.6,0]],\n"
            "  [0.02,[0.5,-0.6,0]], [0.05,[0,0,0]]]}]}]\n",
            damped ? "0.05" : "0");
        fixture_write("jumps.yaml", text);
        free(text);
        for (int i = 0; i < 5; i++)
            assert_over_steps(
                "jumps.yaml", methods[i], 1e-3, 100,
                "b = [each['balance'] for each in d]\n"
                "assert all(each['verdict'] == 'closes' for each in b), b\n"
                "assert b[0]['allowed'] / b[2]['allowed'] > 3.4, b\n"
                "assert b[2]['order'] == 1 or b[2]['allowed'] < abs(d[2]['work']['drives']) "
                "/ 20, d[2]\n");
    }
}

static const char *const all_integrators[] = {"symplectic_euler",
                                              "implicit_euler",
                                              "explicit_euler",
                                              "xpbd",
                                              "velocity_verlet",
                                              "verlet",
                                              "midpoint",
                                              "rk4",
                                              "bdf2",
                                              "implicit_midpoint"};
enum { INTEGRATORS = sizeof all_integrators / sizeof all_integrators[0] };

// A node that a drive moves is pulled by a yielding spring with the mean force of a step, of which the
// forces at both ends of the step lack a part. With xpbd and both methods of implicit steps the lack
// was the same.
static void the_balance_of_driven_springs_that_yield_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write(
        "yields.yaml",
        "precision: double\nsimulation: {dt: 0.001, steps: 500}\n"
        "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 6, mass: 0.3,\n"
        "  pins: [first], spring: {stiffness: 300, yield_at: 0.02},\n"
        "  drives: [{node: last, velocity: [[0,[0.5,0,0]],[0.25,[-0.5,0,0]]]}]}]\n");
    for (int i = 0; i < INTEGRATORS; i++)
        assert_over_steps("yields.yaml", all_integrators[i], 1e-3, 500,
                          "b = [each['balance'] for each in d]\n"
                          "assert all(each['verdict'] == 'closes' for each in b), b\n"
                          "assert b[0]['order'] == 1 or b[2]['allowed'] < d[2]['work']['breaking'] "
                          "/ 1000, d[2]\n");
}

// keep_velocity multiplies velocities after each step, whose forces at its end had those before; the
// power of a force that depends on a velocity relative to something that moves is known to order 1.
static void the_balance_with_keep_velocity_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    static const char *const methods[] = {"midpoint", "rk4", "implicit_midpoint", "bdf2"};
    static const char rope[] = "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0],\n"
                               "  nodes: 6, mass: 0.3, spring: {stiffness: 300, damping: 0.1}, ";
    static const struct {
        const char *around, *more;
        int order;
    } cases[] = {{"air_drag: 0.05", "pins: [first]", 2},
                 {"air_drag: 0", "pins: [first]", 2},
                 {"air_drag: 0.05", "drives: [{node: last, velocity: [0,0.5,0.2]}]", 1}};
    for (int c = 0; c < 3; c++) {
        char *text = text_format(
            "precision: double\nsimulation: {dt: 0.001, steps: 600,\n"
            "  keep_velocity: 0.999}\nenvironment: {gravity: [0,-9.81,0], %s}\n%s%s}]\n",
            cases[c].around, rope, cases[c].more);
        fixture_write("keeps.yaml", text);
        free(text);
        char *program = text_format("b = [each['balance'] for each in d]\n"
                                    "assert all(each['order'] == %d for each in b), b\n"
                                    "assert all(each['verdict'] == 'closes' for each in b), b\n",
                                    cases[c].order);
        for (int i = 0; i < 4; i++)
            assert_over_steps("keeps.yaml", methods[i], 1e-3, 600, program);
        free(program);
    }
}

// A substep of xpbd removes m |v' - v|^2 / 2, which differences of the kinetic energy do not show
// where it does not change, as in a rotation.
static void the_balance_of_stiff_ropes_of_xpbd_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    static const char *const bodies[] = {
        "{name: r, type: network, nodes: [[0,0,0],[1,0,0],[2,0,0]], node_mass: [1,1,1], pins: "
        "[0],\n"
        "  velocities: [[0,0,0],[0,3,0],[0,6,0]], springs: [[0,1,{stiffness: 1e5}],\n"
        "  [1,2,{stiffness: 1e5}]]}",
        "{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 4, mass: 0.3, pins: [first],\n"
        "  spring: {stiffness: 1e6}}"};
    for (int b = 0; b < 2; b++)
        for (int substeps = 1; substeps < 20; substeps *= 4) {
            char *text = text_format("precision: double\nsimulation: {dt: 0.004, steps: 400,\n"
                                     "  substeps: %d}\nenvironment: {gravity: [0,%d,0]}\n"
                                     "bodies: [%s]\n",
                                     substeps, b == 0 ? 0 : -10, bodies[b]);
            fixture_write("rotates.yaml", text);
            free(text);
            assert_over_steps("rotates.yaml", "xpbd", 0.004, 400,
                              "b = [each['balance'] for each in d]\n"
                              "assert all(each['verdict'] != 'open' for each in b), b\n"
                              "assert b[2]['allowed'] < 0.8 * b[0]['allowed'], b\n");
        }
}

// The velocity of a free fall grows by small increments that are rounded alike in many steps: what
// this leaves is not blamed on constraints, which there are none of, or on an integrator that grows
// or damps.
static void rounding_is_named_before_the_integrator(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write("falls.yaml",
                  "precision: single\nsimulation: {dt: 0.00005, duration: 1}\n"
                  "environment: {gravity: [0,-9.81,0]}\n"
                  "bodies: [{name: b, type: network, nodes: [[0,3,0],[2,3,1]], node_mass: [1,1],\n"
                  "  springs: [], velocity: [1,0,0]}]\n");
    static const char *const methods[] = {"xpbd", "implicit_midpoint", "midpoint"};
    for (int i = 0; i < 3; i++) {
        char *command =
            text_format("taut run falls.yaml --no-output --quiet --json --set "
                        "simulation.integrator=%s --set simulation.dt=%s --set "
                        "environment.gravity=[0,%s,0]",
                        methods[i], i == 2 ? "0.000002" : "0.00005", i == 2 ? "-0.5" : "-9.81");
        struct outcome outcome = cli_expect(0, command);
        cli_assert_json(
            outcome.out,
            "assert d['balance']['cause'].startswith('probably rounding'), d['balance']");
        outcome_free(&outcome);
        free(command);
    }
}

// The pressure of a volume that only approximates the enclosed one has no potential energy: the
// verdict does not report that the budget lacks anything.
static void gas_without_potential_is_named(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write("gas.yaml",
                  "precision: double\nsimulation: {integrator: rk4, dt: 0.000125, duration: 1}\n"
                  "environment: {gravity: [0,-9.81,0]}\n"
                  "bodies: [{name: b, type: sphere, center: [0,1,0], radius: 0.5, mass: 1,\n"
                  "  subdivisions: 2, springs: {edges: {stiffness: 300}}, velocity: [1,0,0],\n"
                  "  pressure: {amount: 20}}]\n"
                  "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 2000}]\n");
    struct outcome outcome = cli_expect(0, "taut run gas.yaml --no-output --quiet --json");
    cli_assert_json(outcome.out, "assert d['balance']['verdict'] == 'closes', d['balance']");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run gas.yaml --no-output --quiet --json --set "
                            "bodies.0.pressure.volume=box");
    cli_assert_json(outcome.out, "b = d['balance']\n"
                                 "assert b['verdict'] == 'no_potential', b\n"
                                 "assert 'potential' in b['cause'], b");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run gas.yaml --no-output --set bodies.0.pressure.volume=box");
    assert_contains(outcome.out, "cannot close: besides the gas");
    outcome_free(&outcome);
}

// With many modes the second differences of the kinetic energy, which is that of all of them,
// cancel; the energy that both Euler methods add or remove does not.
static void the_balance_of_many_modes_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write("modes.yaml",
                  "precision: double\nsimulation: {dt: 0.0004, steps: 300}\n"
                  "environment: {gravity: [0,-9.81,0], air_drag: 0.01}\n"
                  "bodies: [{name: l, type: lattice, origin: [0,0,0], nodes: [3,3,3],\n"
                  "  spacing: 0.2, mass: 0.6, pins: [0], velocity: [0.7,-0.4,0.3],\n"
                  "  springs: {k1: {stiffness: 200, damping: 0.02}, k2: {stiffness: 70,\n"
                  "  damping: 0.02}}}]\n");
    for (int i = 0; i < 2; i++)
        assert_over_steps("modes.yaml", i ? "implicit_euler" : "explicit_euler", 4e-4, 300,
                          "b = [each['balance'] for each in d]\n"
                          "assert all(each['verdict'] == 'closes' for each in b), b\n"
                          "assert 1.8 < b[1]['allowed'] / b[2]['allowed'] < 2.2, b\n");
    // The budget of explicit Euler changes no bit of the motion.
    struct outcome with = cli_expect(0, "taut run modes.yaml --no-output --quiet --hash --set "
                                        "simulation.integrator=explicit_euler");
    struct outcome without = cli_expect(0, "taut run modes.yaml --no-output --quiet --hash --set "
                                           "simulation.integrator=explicit_euler --set "
                                           "output.work=false");
    assert_string_equal(with.out, without.out);
    outcome_free(&with);
    outcome_free(&without);
}

// Cuts of implicit steps go back to energies that these had before, which steps have lost by implicit Euler:
// `truncation` below 0 and as much more of the residual, of which a smaller dt leaves little.
static void implicit_cuts_give_back_what_steps_lose(void **state)
{
    (void)state;
    fixture_write("meet.yaml",
                  "precision: double\n"
                  "simulation: {integrator: implicit_midpoint, dt: 0.0002, duration: 0.004}\n"
                  "contact: {thickness: 0.004, friction_coefficient: 0.3}\n"
                  "bodies:\n"
                  "  - {name: a, type: sphere, center: [-0.058, 0.01, 0], radius: 0.05,\n"
                  "     subdivisions: 1, mass: 0.1, stiffness: 5357, velocity: [60, 0, 0]}\n"
                  "  - {name: b, type: sphere, center: [0.058, 0, 0.005], radius: 0.05,\n"
                  "     subdivisions: 1, mass: 0.1, stiffness: 5357, velocity: [-60, 0, 0]}\n");
    struct outcome outcome = cli_expect(0, "taut run meet.yaml --no-output --quiet --json");
    cli_assert_json(outcome.out,
                    "assert d['work']['truncation'] < -10 and d['balance']['residual'] < -300, d\n"
                    "assert 'implicit_midpoint repeats steps in which surfaces meet' in "
                    "d['balance']['cause'], d");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run meet.yaml --no-output --quiet --json --set "
                            "simulation.dt=3.125e-6");
    cli_assert_json(outcome.out, "assert abs(d['work']['truncation']) < 0.1, d\n"
                                 "assert abs(d['balance']['residual']) < 10, d");
    outcome_free(&outcome);
}

// If the balance does not close, the summary reports this and names the cause, numerical damping; or
// it reports that the steps are too coarse to judge.
static void the_summary_names_what_is_missing(void **state)
{
    (void)state;
    fixture_write("damps.yaml",
                  "precision: double\nsimulation: {integrator: implicit_euler, dt: 0.02,\n"
                  "  duration: 5}\n"
                  "bodies: [{name: b, type: network, nodes: [[0,0,0],[1.2,0,0]], pins: [0],\n"
                  "  node_mass: [1,1], springs: [[0,1,{stiffness: 100, rest_length: 1}]]}]\n");
    struct outcome outcome = cli_expect(0, "taut run damps.yaml --no-output");
    assert_contains(outcome.out, "too coarse to judge: order 1 leaves up to");
    assert_contains(outcome.out, "cause: the numerical damping of implicit_euler");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run damps.yaml --no-output --set simulation.dt=0.0001");
    assert_contains(outcome.out, "closes: order 1 leaves up to");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run damps.yaml --no-output --set "
                            "simulation.integrator=symplectic_euler --set simulation.dt=0.001 "
                            "--set simulation.position_step=0.0005");
    assert_contains(outcome.out, "cause: position_step, which is not dt");
    outcome_free(&outcome);
}

// At a terminal speed the kinetic energy is the same at the start of every step, since friction on
// a surface that projects, or keep_velocity, removes the energy that forces supply; the
// integrator's error within a step is of its order all the same.
static void the_balance_at_a_terminal_speed_closes(void **state)
{
    (void)state;
    static const char *const slowed[] = {"duration: 3}\ncolliders: [{type: plane, normal: [3,1,0], "
                                         "response: project, friction: 10}]\n",
                                         "duration: 3, keep_velocity: 0.99}\n"};
    for (int s = 0; s < 2; s++) {
        char *text = text_format("precision: double\nsimulation: {dt: 0.001, %s"
                                 "environment: {gravity: [0,-9.81,0]}\n"
                                 "bodies: [{name: b, type: network, nodes: [[0,0,0]],\n"
                                 "  node_mass: [1], springs: []}]\n",
                                 slowed[s]);
        fixture_write("slowed.yaml", text);
        free(text);
        for (size_t i = 0; i < INTEGRATORS; i++) {
            char *command = text_format("taut run slowed.yaml --no-output --set "
                                        "simulation.integrator=%s",
                                        all_integrators[i]);
            struct outcome outcome = cli_expect(0, command);
            assert_contains(outcome.out, " closes: order ");
            outcome_free(&outcome);
            free(command);
        }
    }
}

// What lowers the order of a balance, or is left by rounding, counts in the verdict: a wind on nodes
// is not in the tangent, so that one linear system a step leaves an error of order 1; and Verlet
// makes velocities of rounded positions.
static void the_balance_knows_order_and_rounding(void **state)
{
    (void)state;
    fixture_write("windy.yaml",
                  "precision: double\nsimulation: {dt: 0.00025, duration: 1}\n"
                  "environment: {gravity: [0,-9.81,0],\n"
                  "  wind: {velocity: [4,0,1], law: node, coefficient: 0.8}}\n"
                  "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,-1,0],\n"
                  "  nodes: [6,6], mass: 0.5, spring: {stiffness: 200, damping: 0.02},\n"
                  "  pins: [top]}]\n");
    for (int i = 0; i < 2; i++)
        for (int newton = 1; newton < 4; newton += 2) {
            char *command = text_format("taut run windy.yaml --no-output --set "
                                        "simulation.integrator=%s --set "
                                        "simulation.implicit.newton=%d",
                                        i ? "bdf2" : "implicit_midpoint", newton);
            struct outcome outcome = cli_expect(0, command);
            assert_contains(outcome.out, newton == 1 ? " closes: order 1 " : " closes: order 2 ");
            outcome_free(&outcome);
            free(command);
        }
    fixture_write("falls.yaml", "precision: double\n"
                                "simulation: {integrator: verlet, dt: 0.0001, duration: 1}\n"
                                "environment: {gravity: [0,-9.81,0]}\n"
                                "bodies: [{name: b, type: network, nodes: [[0,0,0]],\n"
                                "  node_mass: [1], velocities: [[3,0,0]], springs: []}]\n");
    struct outcome outcome = cli_expect(0, "taut run falls.yaml --no-output");
    assert_contains(outcome.out, " closes: order 2 ");
    outcome_free(&outcome);
}

// In precision mixed a scene far from the origin is judged as one near it: its coordinates count from
// its own middle, and heights are as in double. A body at rest closes, and names no integrator as
// the cause of rounding.
static void the_balance_of_mixed_precision_is_judged_near_the_origin(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    static const char *const integrators[] = {"velocity_verlet", "implicit_midpoint", "bdf2",
                                              "xpbd"};
    char *text = text_format("[");
    for (int i = 0; i < 2 * 4; i++) {
        const int far = i % 2;
        char *scene = text_format(
            "precision: mixed\nsimulation: {integrator: %s, dt: 0.0001, steps: 3000}\n"
            "environment: {gravity: [0,-9.81,0]}\n"
            "bodies: [{name: r, type: rope, from: [%d,%d,0], to: [%d.9,%d,0], nodes: 12,\n"
            "  mass: 0.4, stiffness: 260, pins: [first]}]\n",
            integrators[i / 2], far * 12000, far * 12000, far * 12000, far * 12000);
        fixture_write("mixed.yaml", scene);
        free(scene);
        struct outcome outcome = cli_expect(0, "taut run mixed.yaml --no-output --quiet --json");
        char *more = text_format("%s%s%s", text, outcome.out, i == 7 ? "]" : ",");
        free(text);
        outcome_free(&outcome);
        text = more;
    }
    cli_assert_json(text, "balances = [each['balance'] for each in d]\n"
                          "for near, far in zip(balances[::2], balances[1::2]):\n"
                          "    assert near['verdict'] == far['verdict'] == 'closes', (near, far)\n"
                          "    assert far['allowed'] < 2 * near['allowed'], (near, far)\n"
                          "    assert far['allowed'] < far['exchanged'] / 1000, far\n");
    free(text);
    fixture_write("rests.yaml", "simulation: {dt: 0.0001, steps: 1000}\n"
                                "bodies: [{name: b, type: rope, from: [0,3,0], to: [1,3.3,0.1],\n"
                                "  nodes: 11, mass: 1, stiffness: 1000}]\n");
    for (int i = 0; i < INTEGRATORS; i++) {
        char *command = text_format("taut run rests.yaml --no-output --set "
                                    "simulation.integrator=%s",
                                    all_integrators[i]);
        struct outcome outcome = cli_expect(0, command);
        assert_contains(outcome.out, " closes: order ");
        if (strstr(outcome.out, "cause: the "))
            fail_msg("%s:\n%s", command, outcome.out);
        outcome_free(&outcome);
        free(command);
    }
}

// Rounding strains elements as it does springs, which spheres of a material have none of. Without them,
// balances of bodies at rest did not close.
static void the_balance_of_elements_at_rest_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    static const char *const bodies[] = {
        "{name: s, type: sphere, center: [0,1,0], radius: 0.3, subdivisions: 2,\n"
        "  elastic: {material: rubber, thickness: 0.002}}",
        "{name: c, type: cloth, origin: [1,1,1], u: [0.02,0,0], v: [0,0,0.02], nodes: [21,21],\n"
        "  fabric: blanket}",
    };
    static const char *const integrators[] = {"implicit_euler", "implicit_midpoint", "bdf2"};
    for (int i = 0; i < 2 * 3 * 2; i++)
        for (int steps = 0; steps < 2; steps++) {
            char *scene =
                text_format("precision: %s\nsimulation: {integrator: %s, dt: %s, steps: 100}\n"
                            "bodies: [%s]\n",
                            i % 2 ? "mixed" : "single", integrators[i / 2 % 3],
                            steps ? "1e-5" : "1e-3", bodies[i / 6]);
            fixture_write("elements.yaml", scene);
            free(scene);
            struct outcome outcome =
                cli_expect(0, "taut run elements.yaml --no-output --quiet --json");
            cli_assert_json(outcome.out, "b = d['balance']\n"
                                         "assert b['verdict'] == 'closes', (d['integrator'], b)\n"
                                         "assert abs(b['residual']) <= b['allowed'], b\n");
            outcome_free(&outcome);
        }
}

// bdf2 starts with a step of implicit Euler, whose error is of order 1; a run of one or two steps
// has no differences that show its error; and the energies of a body at rest are rounding. None of
// these is a balance that does not close, with any integrator and in either precision.
static void the_balance_of_starts_and_of_rest_closes(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        // A free fall, a rope at rest without forces, and a spring that begins to pull.
        "[{name: b, type: network, nodes: [[1,2,3]], node_mass: [1], springs: []}]\n"
        "environment: {gravity: [0,-9.81,0]}\n",
        "[{name: b, type: rope, from: [0,3,0], to: [1,3.3,0.1], nodes: 11, mass: 1,\n"
        "  stiffness: 1000}]\n",
        "[{name: b, type: network, nodes: [[0,0,0],[1.3,0,0]], pins: [0], node_mass: [1,1],\n"
        "  springs: [[0,1,{stiffness: 100, rest_length: 1}]]}]\n"};
    static const int steps[] = {1, 2, 3, 10, 1000};
    for (int b = 0; b < 3; b++) {
        char *text = text_format("simulation: {dt: 0.0001, steps: 1}\nbodies: %s", bodies[b]);
        fixture_write("starts.yaml", text);
        free(text);
        for (int integrator = 0; integrator < INTEGRATORS; integrator++)
            for (int i = 0; i < (b == 2 ? 8 : 10); i++) {
                char *command = text_format(
                    "taut run starts.yaml --no-output --set simulation.integrator=%s --set "
                    "simulation.steps=%d --set precision=%s",
                    all_integrators[integrator], steps[i / 2], i % 2 ? "double" : "single");
                struct outcome outcome = cli_expect(0, command);
                if (strstr(outcome.out, "does not close"))
                    fail_msg("%s of\n%s\n%s", command, bodies[b], outcome.out);
                // The error of the first step of bdf2 is 3/4 m g^2 h^2.
                if (b == 0 && i == 9)
                    assert_contains(outcome.out, " closes: order ");
                outcome_free(&outcome);
                free(command);
            }
    }
}

// A strip that meets a floor row by row: what an order leaves of the work of the floor's damper
// does not show in the powers of the whole. It falls with dt.
static void the_balance_of_impacts_in_turn_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write(
        "impacts.yaml",
        "simulation: {dt: 0.000144, duration: 0.6}\n"
        "environment: {gravity: [0,0,-9.81]}\n"
        "bodies: [{name: c, type: cloth, origin: [0,0,1], u: [4,0,0.12], v: [0,0.03,0],\n"
        "  nodes: [400,4], mass: 0.048,\n"
        "  springs: {structural: {stiffness: 150}, shear: {stiffness: 30}}}]\n"
        "colliders: [{type: plane, normal: [0,0,1], stiffness: 60, absorption: 0.025}]\n");
    char *text[2];
    for (int fine = 0; fine < 2; fine++) {
        char *command = text_format("taut run impacts.yaml --no-output --quiet --json --precision "
                                    "double --set simulation.dt=%s",
                                    fine ? "0.000072" : "0.000144");
        struct outcome outcome = cli_expect(0, command);
        free(command);
        text[fine] = outcome.out;
        free(outcome.err);
    }
    char *both = text_format("[%s,%s]", text[0], text[1]);
    cli_assert_json(both,
                    "a, b = (each['balance'] for each in d)\n"
                    "assert a['verdict'] == b['verdict'] == 'closes', (a, b)\n"
                    "assert 1.8 < a['residual'] / b['residual'] < 2.2, (a, b)\n"
                    "assert 1.2 < a['allowed'] / b['allowed'] < 2.2, (a, b)\n"
                    "assert a['residual'] > 0.02 * d[0]['work']['friction'] > 0, (a, d[0])\n");
    free(both);
    free(text[0]);
    free(text[1]);
}

// Where bodies move by several thicknesses in each step no stiffness helps.
static void what_cuts_advise_depends_on_the_motion(void **state)
{
    (void)state;
    fixture_write(
        "meet.yaml",
        "simulation: {dt: 1.0e-4, steps: 8}\ncontact: {thickness: 0.002}\nbodies:\n"
        "- {name: a, type: sphere, center: [-0.06, 0, 0], radius: 0.05, subdivisions: 2,\n"
        "   mass: 0.1, springs: {edges: {stiffness: 300}}, velocity: [150, 0, 0]}\n"
        "- {name: b, type: sphere, center: [0.06, 0, 0], radius: 0.05, subdivisions: 2,\n"
        "   mass: 0.1, springs: {edges: {stiffness: 300}}, velocity: [-150, 0, 0]}\n");
    struct outcome outcome = cli_expect(0, "taut run --no-output meet.yaml");
    assert_contains(outcome.out, "nodes move by 7.5 times the thickness in a step");
    assert_null(strstr(outcome.out, "too soft"));
    outcome_free(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cuts_advise_depends_on_the_motion),
        cmocka_unit_test(a_run_leaves_its_files_and_a_summary),
        cmocka_unit_test(frames_of_a_large_cloth_are_small),
        cmocka_unit_test(the_summary_reports_whether_the_balance_closes),
        cmocka_unit_test(the_balance_of_impacts_in_turn_closes),
        cmocka_unit_test(the_balance_of_a_driven_rope_closes),
        cmocka_unit_test(the_balance_after_jumps_of_a_drive_is_judged),
        cmocka_unit_test(the_balance_of_driven_springs_that_yield_closes),
        cmocka_unit_test(the_balance_with_keep_velocity_closes),
        cmocka_unit_test(the_balance_of_stiff_ropes_of_xpbd_closes),
        cmocka_unit_test(rounding_is_named_before_the_integrator),
        cmocka_unit_test(gas_without_potential_is_named),
        cmocka_unit_test(the_balance_of_many_modes_closes),
        cmocka_unit_test(the_summary_names_what_is_missing),
        cmocka_unit_test(implicit_cuts_give_back_what_steps_lose),
        cmocka_unit_test(the_balance_at_a_terminal_speed_closes),
        cmocka_unit_test(the_balance_knows_order_and_rounding),
        cmocka_unit_test(the_balance_of_mixed_precision_is_judged_near_the_origin),
        cmocka_unit_test(the_balance_of_elements_at_rest_closes),
        cmocka_unit_test(the_balance_of_starts_and_of_rest_closes),
        cmocka_unit_test(a_run_continues_from_a_state),
        cmocka_unit_test(a_state_that_does_not_fit_is_refused),
        cmocka_unit_test(json_has_every_field_of_the_contract),
        cmocka_unit_test(quiet_prints_nothing),
        cmocka_unit_test(no_output_leaves_nothing),
        cmocka_unit_test(the_hash_is_the_same_whatever_is_used_and_written),
        cmocka_unit_test(steps_and_duration_replace_the_scene_s),
        cmocka_unit_test(a_run_can_be_repeated_from_its_folder),
        cmocka_unit_test(tables_do_not_depend_on_threads),
        cmocka_unit_test(energy_rows_follow_the_output_section),
        cmocka_unit_test(state_has_a_row_for_every_node),
        cmocka_unit_test(implicit_steps_report_how_they_were_solved),
        cmocka_unit_test(materials_too_stiff_for_the_precision_are_warned_of),
        cmocka_unit_test(xpbd_warns_beyond_the_limit_of_elements),
        cmocka_unit_test(unsolved_implicit_steps_are_reported_once),
        cmocka_unit_test(a_dt_that_became_too_long_is_reported),
        cmocka_unit_test(a_dt_is_judged_with_limited_effort),
        cmocka_unit_test(the_reference_kernel_agrees),
        cmocka_unit_test(progress_is_one_live_line_on_a_terminal),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
