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
        {"5s/cloth,3/cloth,60/",
         "bad.csv:5:7: error: there is no node 60 in body 'cloth': its nodes are 0 to 5"},
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

// Single precision does not resolve the strain of steel under its own weight, nor does mixed; that
// of rubber it does, and double precision both. Likewise of a membrane 0.6 m wide with edges of
// 0.07 m.
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

// Elements are forces in xpbd, so that its dt has a limit, which is that of bending here: a run
// with 1.2 times as much ends.
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

// Elements that soften springs make steps unstable that few iterations do not solve: no step is
// certain, and the step that is tested, symplectic Euler's in each substep, is named. A lattice at
// rest keeps still with it, and is thrown apart by ten times as much.
static void xpbd_names_the_step_tested_beside_elements_that_soften(void **state)
{
    (void)state;
    fixture_write(
        "soft.yaml",
        "precision: double\nsimulation: {dt: 0.003, steps: 300, integrator: xpbd, substeps: 10}\n"
        "bodies: [{name: l, type: lattice, origin: [0,0,0], nodes: [5,5,5], spacing: 0.013,\n"
        "  elastic: {young: 1e6, density: 1000, poisson: 0.1}}]\n");
    struct outcome outcome = cli_expect(0, "taut info soft.yaml");
    assert_contains(outcome.out, "not certain beside elements that soften springs; stable in tests "
                                 "up to 0.003089 s");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --no-output --strict --json soft.yaml");
    assert_null(strstr(outcome.err, "warning"));
    const double kinetic = strtod(strstr(outcome.out, "\"kinetic\": ") + 11, NULL);
    assert_true(kinetic < 1e-20);
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set simulation.dt=0.03 soft.yaml");
    assert_contains(outcome.err, "dt is 9.71 times 0.003089 s, up to which xpbd has been stable in "
                                 "tests beside elements that soften springs");
    outcome_free(&outcome);
    outcome = cli_expect(1, "taut run --no-output --set simulation.dt=0.03 soft.yaml");
    assert_contains(outcome.err, "diverged");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --no-output --set simulation.dt=0.0035 soft.yaml");
    assert_contains(outcome.out, "beside elements that soften springs, as at the ");
    outcome_free(&outcome);
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
        cmocka_unit_test(xpbd_names_the_step_tested_beside_elements_that_soften),
        cmocka_unit_test(unsolved_implicit_steps_are_reported_once),
        cmocka_unit_test(a_dt_that_became_too_long_is_reported),
        cmocka_unit_test(a_dt_is_judged_with_limited_effort),
        cmocka_unit_test(the_reference_kernel_agrees),
        cmocka_unit_test(progress_is_one_live_line_on_a_terminal),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
