// The usage of taut, and its commands check and info.
#include "test.h"

#include "cli_fixture.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "taut.h"

static int enter(void **state)
{
    (void)state;
    cli_enter("cli");
    cli_write_hanging();
    return 0;
}

// Without MPI each of them would compute the whole scene.
static void build_without_mpi_refuses_several_processes(void **state)
{
    (void)state;
    struct outcome version = cli_expect(0, "taut --version");
    const bool without = strstr(version.out, "built without MPI") != NULL;
    outcome_free(&version);
    if (!without)
        skip();
    struct outcome first = cli_expect(2, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "
                                         "taut check nothing.yaml");
    assert_contains(first.err, "taut: check: a launcher has started 2 processes, but this build "
                               "has no MPI");
    assert_string_equal(first.out, "");
    outcome_free(&first);
    struct outcome second = cli_expect(2, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 "
                                          "taut check nothing.yaml");
    assert_string_equal(second.err, "");
    outcome_free(&second);
    struct outcome alone = cli_expect(2, "OMPI_COMM_WORLD_SIZE=1 taut check nothing.yaml");
    assert_contains(alone.err, "nothing.yaml");
    outcome_free(&alone);
}

static void help_and_version_are_results(void **state)
{
    (void)state;
    struct outcome help = cli_expect(0, "taut --help");
    assert_contains(help.out, "Usage: taut COMMAND [OPTIONS] [SCENE]");
    assert_string_equal(help.err, "");
    outcome_free(&help);
    struct outcome version = cli_expect(0, "taut --version");
    assert_contains(version.out, "taut " TAUT_VERSION_STRING "\n");
    assert_contains(version.out, "commit: ");
    assert_contains(version.out, "compiler: ");
    assert_contains(version.out, "instruction sets: base");
    assert_contains(version.out, "ranks: ");
    outcome_free(&version);
    struct outcome of_command = cli_expect(0, "taut help run");
    struct outcome same = cli_expect(0, "taut run nothing.yaml --help");
    assert_string_equal(of_command.out, same.out);
    assert_contains(same.out, "--no-output");
    outcome_free(&of_command);
    outcome_free(&same);
    struct outcome none = cli_expect(2, "taut");
    assert_contains(none.err, "Usage: taut COMMAND");
    assert_string_equal(none.out, "");
    outcome_free(&none);
}

static void every_option_in_help_is_documented(void **state)
{
    (void)state;
    size_t length, options = 0;
    char *manual = fixture_read(TAUT_TEST_SOURCE "/docs/cli.md", &length);
    const char *commands[] = {"taut check --help",  "taut info --help",
                              "taut run --help",    "taut resume --help",
                              "taut render --help", "taut check-intersections --help"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        struct outcome help = cli_expect(0, commands[i]);
        for (const char *at = help.out; (at = strstr(at, "\n  --")) != NULL;) {
            at += 3;
            size_t name = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
            char wanted[64];
            snprintf(wanted, sizeof wanted, "`%.*s", (int)name, at);
            assert_contains(manual, wanted);
            options++;
        }
        outcome_free(&help);
    }
    assert_int_equal(options, 10 + 11 + 18 + 12 + 26 + 14);
    free(manual);
}

static void wrong_usage_is_reported_and_ends_with_2(void **state)
{
    (void)state;
    static const struct {
        const char *command, *message;
    } cases[] = {
        {"taut stabilty hanging.yaml",
         "the commands are check, check-intersections, info, run, resume, stability, render, view "
         "and bench"},
        {"taut chek hanging.yaml", "did you mean 'check'?"},
        {"taut --frobnicate", "there is no option '--frobnicate'"},
        {"taut help fly", "there is no command 'fly'"},
        {"taut run", "which scene?"},
        {"taut run hanging.yaml other.yaml", "'other.yaml' is a second one"},
        {"taut run --forse hanging.yaml", "did you mean '--force'?"},
        {"taut run --output", "requires an argument: --output DIR"},
        {"taut run --quiet=1 hanging.yaml", "option '--quiet' takes no value"},
        {"taut run --output '' hanging.yaml", "--output takes a path"},
        {"taut check --force hanging.yaml", "unrecognized option '--force'"},
        {"taut run --threads 0 hanging.yaml", "--threads takes a whole number from 1 to 4096"},
        {"taut run --threads -1 hanging.yaml", "not '-1'"},
        {"taut run --threads 2x hanging.yaml", "not '2x'"},
        {"taut info --threads 5000 hanging.yaml", "not '5000'"},
        {"taut run --isa mmx hanging.yaml", "there is no instruction set 'mmx'"},
        {"TAUT_ISA=v9 taut run hanging.yaml", "TAUT_ISA: there is no instruction set 'v9'"},
        {"taut run --kernel fast hanging.yaml",
         "--kernel takes auto, reference, packed, grid or coloured"},
        {"taut run --kernel gird hanging.yaml", "did you mean 'grid'?"},
        {"taut run --Threads 2 hanging.yaml", "did you mean '--threads'?"},
        {"taut RUN hanging.yaml", "did you mean 'run'?"},
        {"taut run --isa V4 hanging.yaml", "did you mean 'v4'?"},
        {"taut stability --integrators RK4 hanging.yaml", "did you mean 'rk4'?"},
        {"taut run --set simulation.dt=Auto hanging.yaml", "did you mean 'auto'?"},
        {"taut run --set simulation.integrator=RK4 hanging.yaml", "did you mean 'rk4'?"},
        {"taut run --set output.work=True hanging.yaml", "did you mean 'true'?"},
        {"taut run --isa v33 hanging.yaml", "did you mean 'v3'?"},
        {"taut run --precision dubble hanging.yaml", "did you mean 'double'?"},
        {"taut stability --map stifness hanging.yaml", "did you mean 'stiffness'?"},
        {"taut stability --integrators rk5 hanging.yaml", "did you mean 'rk4'?"},
        {"taut render --colour strane hanging.yaml", "did you mean 'strain'?"},
        {"taut render --show faces,sprngs hanging.yaml", "did you mean 'springs'?"},
        {"taut run --precision half hanging.yaml", "--precision takes single, mixed or double"},
        {"taut run --steps 0 hanging.yaml", "--steps takes a whole number above 0, up to 1e15"},
        {"taut run --steps 99999999999999999999 hanging.yaml",
         "--steps takes a whole number above 0, up to 1e15"},
        {"taut run --steps 1000000000000001 hanging.yaml", "up to 1e15"},
        {"taut run --steps 1.5 hanging.yaml", "not '1.5'"},
        {"taut run --duration -1 hanging.yaml", "--duration takes seconds above 0"},
        {"taut run --duration nan hanging.yaml", "not 'nan'"},
        {"taut run --duration 0,5 hanging.yaml", "the decimal separator is a point"},
        {"taut run --steps 5 --duration 1 hanging.yaml", "give one"},
        {"taut run --no-output --force hanging.yaml", "--no-output writes no files"},
        {"taut run missing.yaml",
         "missing.yaml: error: cannot read the scene: No such file or directory\n"},
        {"taut check .", ".: error: cannot read the scene: Is a directory\n"},
        {"taut stability missing.yaml", "No such file or directory"},
        {"taut run --set simulation.dt hanging.yaml", "simulation.dt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome outcome = cli_expect(2, cases[i].command);
        assert_contains(outcome.err, cases[i].message);
        assert_string_equal(outcome.out, "");
        if (strstr(cases[i].message, "cannot read"))
            assert_null(strstr(outcome.err, "1 error")); // it would add nothing
        outcome_free(&outcome);
    }
    assert_false(fixture_exists("out"));
}

// In every command, with or without a value after it, before or after the scene.
static void unknown_and_abbreviated_options_are_named(void **state)
{
    (void)state;
    static const char *const commands[] = {"check", "info", "run", "stability", "render", "view"};
    static const struct {
        const char *words, *unknown, *meant; // meant NULL: no similar name
    } cases[] = {
        {"--thread", "--thread", "--threads"},
        {"--thread 2 hanging.yaml", "--thread", "--threads"},
        {"hanging.yaml --thread", "--thread", "--threads"},
        {"--thread=2 hanging.yaml", "--thread=2", "--threads"},
        {"--threds", "--threds", "--threads"},
        {"--thr 2 hanging.yaml", "--thr", "--threads"},
        {"--frobnicate hanging.yaml", "--frobnicate", NULL},
        {"-q hanging.yaml", "-q", NULL},
    };
    for (size_t c = 0; c < sizeof commands / sizeof commands[0]; c++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            char command[128], expected[256], hint[64] = "";
            if (cases[i].meant)
                snprintf(hint, sizeof hint, "    did you mean '%s'?\n", cases[i].meant);
            snprintf(command, sizeof command, "taut %s %s", commands[c], cases[i].words);
            snprintf(expected, sizeof expected,
                     "taut: %s: unrecognized option '%s'\n%s"
                     "Try 'taut %s --help' for more information.\n",
                     commands[c], cases[i].unknown, hint, commands[c]);
            struct outcome outcome = cli_expect(2, command);
            assert_string_equal(outcome.err, expected);
            assert_string_equal(outcome.out, "");
            outcome_free(&outcome);
        }
    // A known option without its value needs no suggestion.
    struct outcome outcome = cli_expect(2, "taut run hanging.yaml --threads");
    assert_string_equal(outcome.err,
                        "taut: run: option '--threads' requires an argument: --threads N\n"
                        "Try 'taut run --help' for more information.\n");
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut --versoin");
    assert_contains(outcome.err, "did you mean '--version'?");
    outcome_free(&outcome);
    // After -- all words are scenes.
    outcome = cli_expect(2, "taut check -- --thread");
    assert_contains(outcome.err, "--thread: error: cannot read the scene");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set=simulation.steps=7 -- hanging.yaml");
    assert_contains(outcome.out, "7 steps");
    outcome_free(&outcome);
}

static void an_option_wins_over_the_environment(void **state)
{
    (void)state;
    struct outcome outcome = cli_expect(0, "TAUT_ISA=v9 taut check --isa base hanging.yaml");
    outcome_free(&outcome);
    outcome = cli_expect(0, "TAUT_ISA=auto taut check hanging.yaml");
    outcome_free(&outcome);
}

static void check_counts_a_sound_scene_and_writes_nothing(void **state)
{
    (void)state;
    struct outcome outcome = cli_expect(0, "taut check hanging.yaml");
    // Rope: 19 springs. Cloth: 11 * 9 + 12 * 8 along the grid and 2 * 11 * 8 across it.
    assert_string_equal(outcome.out, "hanging.yaml: sound; 2 bodies, 128 nodes, 390 springs, "
                                     "176 faces, 100 steps\n");
    assert_string_equal(outcome.err, "");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --quiet hanging.yaml");
    assert_string_equal(outcome.out, "");
    assert_string_equal(outcome.err, "");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set bodies.rope.nodes=5 --set simulation.steps=7 "
                            "hanging.yaml");
    assert_contains(outcome.out, "113 nodes, 375 springs, 176 faces, 7 steps");
    outcome_free(&outcome);
    assert_false(fixture_exists("out"));
}

static void check_reports_every_error_with_its_place(void **state)
{
    (void)state;
    fixture_write("broken.yaml", "simulation: {dt: fast, steps: 10}\n"
                                 "bodies:\n"
                                 "  - {name: r, type: rope, from: [0, 0, 0], to: [1, 0, 0],\n"
                                 "     nodes: 3, node_mass: 1, spring: {stifness: 1}}\n");
    struct outcome outcome = cli_expect(2, "taut check broken.yaml");
    assert_contains(outcome.err, "broken.yaml:1:18: error:");
    assert_contains(outcome.err, "broken.yaml:4:39: error:");
    assert_contains(outcome.err, "did you mean 'stiffness'?");
    assert_string_equal(outcome.out, "");
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut check --quiet broken.yaml");
    assert_contains(outcome.err, "broken.yaml:1:18: error:");
    outcome_free(&outcome);
    if (!cli_has_python())
        skip();
    outcome = cli_expect(2, "taut check --json broken.yaml");
    cli_assert_json(outcome.out, "assert d['sound'] is False and d['errors'] >= 2\n"
                                 "assert any('broken.yaml:1:18' in m for m in d['messages'])\n"
                                 "assert 'nodes' not in d");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --json hanging.yaml");
    cli_assert_json(outcome.out,
                    "assert d['sound'] is True and d['messages'] == []\n"
                    "assert (d['nodes'], d['springs'], d['steps']) == (128, 390, 100)");
    outcome_free(&outcome);
}

static void check_finds_what_only_building_shows(void **state)
{
    (void)state;
    // The number of nodes of a mesh is known once its file has been read.
    fixture_write("tetrahedron.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                     "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    fixture_write("mesh.yaml", "simulation: {dt: 0.001, steps: 10}\n"
                               "bodies:\n"
                               "  - {name: t, type: mesh, file: tetrahedron.obj, mass: 1,\n"
                               "     springs: {edges: {stiffness: 10}}}\n"
                               "output: {probes: [{body: t, node: 3}, {body: t, node: 4}]}\n");
    struct outcome outcome = cli_expect(2, "taut check mesh.yaml");
    assert_contains(outcome.err, "mesh.yaml:5:55: error: body 't' has no node 4; its last is 3");
    assert_contains(outcome.err, "taut: mesh.yaml: 1 error\n");
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut check --set simulation.dt=auto --set "
                            "simulation.integrator=explicit_euler hanging.yaml");
    assert_contains(outcome.err, "explicit_euler has no stable step");
    outcome_free(&outcome);
}

// One mass of 2 kg on one spring of 50 N/m: omega is 5 rad/s.
static void write_one_spring(void)
{
    fixture_write(
        "one.yaml",
        "simulation: {dt: 0.1, steps: 10}\n"
        "precision: double\n"
        "bodies:\n"
        "  - {name: far, type: network, nodes: [[5, 0, 0]], node_mass: [1], springs: []}\n"
        "  - {name: one, type: network, nodes: [[0, 0, 0], [1, 0, 0]],\n"
        "     node_mass: [1, 2], pins: [0], springs: [[0, 1, {stiffness: 50}]]}\n");
}

static void info_knows_the_critical_steps(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    write_one_spring();
    struct outcome outcome = cli_expect(0, "taut info --json one.yaml");
    cli_assert_json(outcome.out, "c, by = d['critical_step'], d['by_integrator']\n"
                                 "near = lambda a, b: abs(a / b - 1) < 1e-12\n"
                                 "assert near(c['bound'], 2 / 5)\n"
                                 "assert (c['body'], c['node'], c['spring']) == ('one', 1, 0)\n"
                                 "for name in 'symplectic_euler', 'verlet', 'velocity_verlet':\n"
                                 "    assert near(by[name], 0.4)\n"
                                 "assert near(by['rk4'], 8 ** 0.5 / 5)\n"
                                 "assert by['explicit_euler'] is None and by['midpoint'] is None\n"
                                 "for name in d['unconditionally_stable']:\n"
                                 "    assert by[name] is None\n"
                                 "assert set(d['unconditionally_stable']) >= {'implicit_euler', "
                                 "'implicit_midpoint', 'bdf2', 'xpbd'}\n"
                                 "assert len(by) >= 10");
    outcome_free(&outcome);
    // No guaranteed step is longer than the computed one, by rounding either.
    outcome = cli_expect(0, "taut info --json --set bodies.one.damping=0.1 one.yaml");
    cli_assert_json(outcome.out, "by, sharp = d['by_integrator'], d['by_integrator_sharp']\n"
                                 "known = [name for name in by if by[name] and sharp[name]]\n"
                                 "assert len(known) >= 4, known\n"
                                 "assert all(by[name] <= sharp[name] for name in known), d");
    outcome_free(&outcome);
    // With damping and keep_velocity, velocity Verlet's value is only a bound.
    for (int scaled = 0; scaled < 2; scaled++) {
        char *command = text_format("taut info --json --set bodies.one.damping=1 --set "
                                    "simulation.keep_velocity=%s one.yaml",
                                    scaled ? "0.9" : "1");
        char *program = text_format("exact = d['by_integrator_exact']\n"
                                    "assert exact['velocity_verlet'] == %s, exact\n"
                                    "assert exact['symplectic_euler'] and exact['verlet'], exact",
                                    scaled ? "False" : "True");
        outcome = cli_expect(0, command);
        cli_assert_json(outcome.out, program);
        outcome_free(&outcome);
        free(program);
        free(command);
    }
    // h h_x omega^2 < 4 if positions have their own step.
    outcome = cli_expect(0, "taut info --json --set simulation.position_step=0.025 one.yaml");
    cli_assert_json(outcome.out,
                    "assert abs(d['by_integrator']['symplectic_euler'] / 0.8 - 1) < 1e-12\n"
                    "assert abs(d['by_integrator']['verlet'] / 0.4 - 1) < 1e-12");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut info --json --set bodies.one.pins=[0,1] one.yaml");
    cli_assert_json(outcome.out, "assert set(d['critical_step'].values()) == {None}\n"
                                 "assert set(d['by_integrator'].values()) == {None}");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut info one.yaml");
    assert_contains(outcome.out,
                    "implicit_euler        no limit      no limit     of small motions; "
                    "large rotations: see docs");
    assert_contains(outcome.out,
                    "explicit_euler            none          none     grows at every step");
    assert_contains(outcome.out,
                    "xpbd                  no limit      no limit     stable at every dt");
    outcome_free(&outcome);
    fixture_write("penalty.yaml",
                  "simulation: {dt: 0.01, steps: 1}\n"
                  "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 3, mass: 1,\n"
                  "  stiffness: 100}]\n"
                  "colliders: [{type: plane, point: [0,-9,0], stiffness: 100}]\n");
    outcome = cli_expect(0, "taut info penalty.yaml");
    assert_contains(outcome.out, "implicit_euler        no limit      no limit     from springs; "
                                 "penalty colliders can add energy");
    assert_contains(outcome.out,
                    "implicit_midpoint     no limit      no limit     of small motions; "
                    "large rotations: see docs");
    outcome_free(&outcome);
    // xpbd treats gas and a relative wind explicitly, so it has a stability limit.
    fixture_write("blown.yaml",
                  "simulation: {dt: 0.001, steps: 1}\n"
                  "environment: {wind: {velocity: [1,0,0], law: face, coefficient: 1}}\n"
                  "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,1,0],\n"
                  "  nodes: [4,4], mass: 1, springs: {structural: {stiffness: 10}}}]\n");
    outcome = cli_expect(0, "taut info blown.yaml");
    assert_contains(outcome.out, "no limit     from springs; other forces are explicit");
    outcome_free(&outcome);
    // dt sqrt(k/m) is 0.01 sqrt(1000000 / 0.25) = 20.
    fixture_write("falls.yaml",
                  "simulation: {integrator: xpbd, dt: 0.01, steps: 1}\n"
                  "bodies: [{name: r, type: rope, from: [0,1,0], to: [1,1,0], nodes: 4, mass: 1,\n"
                  "  stiffness: 1000000}]\n"
                  "colliders: [{type: plane, response: project}]\n");
    outcome = cli_expect(0, "taut info falls.yaml");
    assert_contains(outcome.out, "Impacts add no energy from 20 substeps on; there are 10.");
    outcome_free(&outcome);
    if (cli_has_python()) {
        outcome = cli_expect(0, "taut info --json blown.yaml");
        cli_assert_json(outcome.out, "assert 'xpbd' not in d['unconditionally_stable']\n"
                                     "assert 'bdf2' in d['unconditionally_stable']");
        outcome_free(&outcome);
        // Wind on nodes has no tangent: only the guaranteed bound includes it.
        outcome = cli_expect(0, "taut info --json --set environment.wind.law=node blown.yaml");
        cli_assert_json(outcome.out, "assert not d['unconditionally_stable']\n"
                                     "assert not any(d['by_integrator_exact'].values())\n"
                                     "assert d['by_integrator_sharp'] == d['by_integrator']\n"
                                     "assert d['by_integrator']['rk4'] < 1");
        outcome_free(&outcome);
        outcome = cli_expect(2, "taut run --strict --no-output --set environment.wind.law=node "
                                "--set simulation.dt=0.2 blown.yaml");
        assert_contains(outcome.err, "the largest certainly stable step");
        outcome_free(&outcome);
    }
    outcome = cli_expect(2, "taut info --set simulation.dt=auto --set "
                            "simulation.integrator=bdf2 one.yaml");
    assert_contains(outcome.err,
                    "--set simulation.dt=auto:1:15: error: 'dt: auto' finds no step: bdf2 "
                    "is stable at every step, so accuracy decides; give dt in seconds\n"
                    "    simulation.dt=auto\n                  ^\n"
                    "taut: one.yaml: 1 error\n");
    outcome_free(&outcome);
}

static void info_counts_bodies_springs_and_bytes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    struct outcome outcome = cli_expect(0, "taut info --json hanging.yaml");
    cli_assert_json(outcome.out,
                    "assert d['scene'] == 'hanging.yaml'\n"
                    "assert (d['nodes'], d['springs'], d['faces']) == (128, 390, 176)\n"
                    "assert d['bytes_per_spring'] == d['bytes'] / 390\n"
                    "rope, cloth = d['bodies']\n"
                    "assert (rope['name'], rope['type'], rope['nodes']) == ('rope', 'rope', 20)\n"
                    "assert rope['springs_by_kind'] == {'chain': 19}\n"
                    "assert cloth['springs_by_kind'] == {'structural': 195, 'shear': 176}\n"
                    "assert abs(rope['mass'] - 1) < 1e-12 and abs(cloth['mass'] - 0.2) < 1e-12\n"
                    "assert rope['kernel'] == cloth['kernel'] == 'grid'\n"
                    "assert rope['lattice'] == [20, 1, 1] and len(cloth['lattice']) == 3\n"
                    "assert rope['colours'] == cloth['colours'] == 1 <= cloth['tiles']");
    outcome_free(&outcome);
    // Springs that can break are computed as a grid too; a row of three nodes is too short for one.
    outcome = cli_expect(0, "taut info --json --set bodies.rope.spring.break_at=2 hanging.yaml");
    cli_assert_json(outcome.out, "assert all(b['kernel'] == 'grid' for b in d['bodies'])");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut info --json --set bodies.rope.nodes=3 hanging.yaml");
    cli_assert_json(outcome.out, "rope, cloth = d['bodies']\n"
                                 "assert rope['kernel'] == 'packed' and cloth['kernel'] == 'grid'\n"
                                 "assert rope['colours'] == 1 <= rope['tiles']\n"
                                 // One column, and the second spring of the middle node.
                                 "assert rope['lanes_filled'] == rope['late_springs'] == 1");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut info --json --kernel reference hanging.yaml");
    cli_assert_json(outcome.out,
                    "assert all(b['kernel'] == 'reference' for b in d['bodies'])\n"
                    "assert all(b['tiles'] == b['colours'] == 1 for b in d['bodies'])\n"
                    "assert d['threads'] == 1");
    outcome_free(&outcome);
}

static void info_prints_a_table_for_people(void **state)
{
    (void)state;
    write_one_spring();
    struct outcome outcome = cli_expect(0, "taut info one.yaml");
    assert_contains(outcome.out, "2 bodies, 3 nodes, 1 spring, 0 faces");
    assert_contains(outcome.out, "* symplectic_euler");
    assert_contains(outcome.out, "dt is 0.25 of it");
    assert_contains(outcome.out, "node 1 of body 'one'");
    assert_contains(outcome.out, "\n                        guaranteed      computed\n");
    assert_contains(outcome.out, "\n    xpbd ");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut info --set simulation.dt=0.5 one.yaml");
    assert_contains(outcome.out, "not stable");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut info --quiet one.yaml");
    assert_string_equal(outcome.out, "");
    outcome_free(&outcome);
}

// A stiffness of contact for which dt is too long causes a warning at its section: a node of 0.1 kg
// with the curvature 4 k = 4000 N/m allows 0.01 s.
static void a_stiffness_of_contact_beyond_dt_is_reported(void **state)
{
    (void)state;
    fixture_write("stiff.yaml",
                  "simulation: {dt: 0.0101, steps: 10}\n"
                  "precision: double\n"
                  "contact: {thickness: 0.01, stiffness: 1000}\n"
                  "bodies:\n"
                  "  - {name: c, type: cloth, u: [1, 0, 0], v: [0, 0, 1], nodes: [4, 4],\n"
                  "     node_mass: 0.1, stiffness: 1}\n");
    struct outcome outcome = cli_expect(0, "taut check stiff.yaml");
    assert_non_null(strstr(outcome.err, "stiff.yaml:3:10: warning: 'stiffness' of contact, 1e+03 "
                                        "N/m, is more than dt allows"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut info stiff.yaml");
    assert_non_null(strstr(outcome.err, "steps of more than 0.01 s may be unstable"));
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut check --strict stiff.yaml");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set simulation.dt=0.0099 stiff.yaml");
    assert_null(strstr(outcome.err, "warning"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set simulation.integrator=implicit_euler stiff.yaml");
    assert_null(strstr(outcome.err, "warning"));
    outcome_free(&outcome);
}

// A mesh that moves by five thicknesses in an implicit step, or by 0.6 of one in an explicit one.
static void a_mesh_that_is_too_fast_is_reported(void **state)
{
    (void)state;
    fixture_write("cube.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                              "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    fixture_write("fast.yaml",
                  "simulation: {integrator: implicit_euler, dt: 0.01, steps: 10}\n"
                  "contact: {thickness: 0.01}\n"
                  "bodies:\n"
                  "  - {name: c, type: cloth, u: [1, 0, 0], v: [0, 0, 1], nodes: [4, 4],\n"
                  "     node_mass: 0.1, stiffness: 100}\n"
                  "colliders:\n"
                  "  - {type: mesh, file: cube.obj, translate: [0, 2, 0],\n"
                  "     motion: {velocity: [0, -5, 0]}}\n");
    struct outcome outcome = cli_expect(0, "taut check fast.yaml");
    assert_non_null(strstr(outcome.err, "fast.yaml:7:5: warning: this mesh moves by up to 5 times "
                                        "the thickness of contact in a step"));
    assert_non_null(strstr(outcome.err, "Use a dt of at most 0.0032 s"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set simulation.dt=0.0039 fast.yaml");
    assert_null(strstr(outcome.err, "warning"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set simulation.dt=0.0012 --set "
                            "simulation.integrator=symplectic_euler fast.yaml");
    assert_non_null(strstr(outcome.err, "moves by up to 0.6 times the thickness"));
    assert_non_null(strstr(outcome.err, "Use 'dt: auto', or a dt of at most 0.0008 s"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set simulation.dt=0.0009 --set "
                            "simulation.integrator=symplectic_euler fast.yaml");
    assert_null(strstr(outcome.err, "warning"));
    outcome_free(&outcome);
    // dt: auto takes such steps, and warns where they are far shorter than without the mesh.
    outcome = cli_expect(0, "taut info --set simulation.dt=auto --set "
                            "simulation.integrator=symplectic_euler fast.yaml");
    assert_null(strstr(outcome.err, "warning"));
    assert_non_null(strstr(outcome.out, "steps of 0.0008 s"));
    assert_non_null(strstr(outcome.out,
                           "Mesh collider 0 moves by half the thickness of contact in "
                           "0.001 s, where it is fastest; 'dt: auto' stays below that"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut info --json --set simulation.dt=auto --set "
                            "simulation.integrator=symplectic_euler fast.yaml");
    assert_non_null(strstr(outcome.out, "\"mesh_step\": 0.001,"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set simulation.dt=auto --set "
                            "simulation.integrator=symplectic_euler --set "
                            "contact.thickness=0.001 fast.yaml");
    assert_non_null(strstr(outcome.err, "fast.yaml:7:5: warning: while this mesh moves fastest, "
                                        "'dt: auto' takes steps of 8e-05 s, "));
    outcome_free(&outcome);
    // Its motion after the end of the run, here after 0.01 s, does not count.
    outcome = cli_expect(0, "taut check --set simulation.dt=0.001 --set colliders.0.motion="
                            "'{keyframes: [[0,[0,0,0],[0,0,0]],[0.02,[0,0,0],[0,0,0]],"
                            "[0.021,[0,1,0],[0,0,0]]]}' fast.yaml");
    assert_null(strstr(outcome.err, "warning"));
    outcome_free(&outcome);
}

// A dt above the critical step causes a warning at its position, with --strict an error; up to it
// there is no message. One mass: 2 / omega = 0.4.
static void a_dt_beyond_the_limit_is_reported(void **state)
{
    (void)state;
    write_one_spring();
    struct outcome outcome = cli_expect(0, "taut check --set simulation.dt=0.399 one.yaml");
    assert_null(strstr(outcome.err, "warning"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set simulation.dt=0.8 one.yaml");
    assert_non_null(strstr(outcome.err, "warning: dt is 2 times the largest stable step, 0.4 s"));
    assert_non_null(strstr(outcome.err, "node 1 of body 'one'"));
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut run --no-output --strict --set simulation.dt=0.8 one.yaml");
    assert_non_null(strstr(outcome.err, "error: dt is 2 times"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --strict --set simulation.dt=0.399 one.yaml");
    outcome_free(&outcome);
}

// A sphere that fits between the nodes of a body passes through it: cells of 0.2 m have openings of
// 0.141 m radius, links of 0.2 m openings of 0.1 m. Planes are wider than any opening.
static void cells_wider_than_a_collider_are_reported(void **state)
{
    (void)state;
    fixture_write(
        "cells.yaml",
        "simulation: {dt: 0.001, steps: 1}\n"
        "bodies:\n"
        "  - {name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0,1], nodes: [6,6],\n"
        "     mass: 1, spring: {stiffness: 10}}\n"
        "  - {name: r, type: rope, from: [0,1,0], to: [1,1,0], nodes: 6, mass: 1,\n"
        "     spring: {stiffness: 10}}\n"
        "colliders:\n"
        "  - {type: plane, point: [0,-1,0], stiffness: 10}\n"
        "  - {type: sphere, center: [0.5,-0.5,0.5], radius: 0.05, stiffness: 10}\n");
    struct outcome outcome = cli_expect(0, "taut info cells.yaml");
    assert_non_null(strstr(outcome.err, "cells.yaml:3:12: warning: between neighbouring nodes of "
                                        "body 'c' spheres of up to 0.141 m radius pass, and "
                                        "collider 1, a sphere, has 0.05 m"));
    assert_non_null(strstr(outcome.err, "cells.yaml:5:12: warning: between neighbouring nodes of "
                                        "body 'r' spheres of up to 0.1 m radius"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set colliders.1.radius=0.13 cells.yaml");
    assert_non_null(strstr(outcome.err, "body 'c'"));
    assert_null(strstr(outcome.err, "body 'r'"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set colliders.1.radius=0.142 cells.yaml");
    assert_null(strstr(outcome.err, "warning"));
    outcome_free(&outcome);
    // A room has nodes inside it, and pinned nodes cannot pass through anything.
    outcome = cli_expect(0, "taut check --set colliders.1='{type: room, min: [0.45,-0.6,0.45], "
                            "max: [0.55,-0.5,0.55], stiffness: 10}' cells.yaml");
    assert_null(strstr(outcome.err, "warning"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set bodies.r.pins='[0,1,2,3,4,5]' cells.yaml");
    assert_non_null(strstr(outcome.err, "body 'c'"));
    assert_null(strstr(outcome.err, "body 'r'"));
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut run --strict --no-output cells.yaml");
    assert_non_null(strstr(outcome.err, "error: between neighbouring nodes"));
    outcome_free(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_version_are_results),
        cmocka_unit_test(build_without_mpi_refuses_several_processes),
        cmocka_unit_test(every_option_in_help_is_documented),
        cmocka_unit_test(unknown_and_abbreviated_options_are_named),
        cmocka_unit_test(wrong_usage_is_reported_and_ends_with_2),
        cmocka_unit_test(an_option_wins_over_the_environment),
        cmocka_unit_test(check_counts_a_sound_scene_and_writes_nothing),
        cmocka_unit_test(check_reports_every_error_with_its_place),
        cmocka_unit_test(check_finds_what_only_building_shows),
        cmocka_unit_test(info_knows_the_critical_steps),
        cmocka_unit_test(a_dt_beyond_the_limit_is_reported),
        cmocka_unit_test(a_mesh_that_is_too_fast_is_reported),
        cmocka_unit_test(a_stiffness_of_contact_beyond_dt_is_reported),
        cmocka_unit_test(cells_wider_than_a_collider_are_reported),
        cmocka_unit_test(info_counts_bodies_springs_and_bytes),
        cmocka_unit_test(info_prints_a_table_for_people),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
