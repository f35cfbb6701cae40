// Failures of taut run: conflicting folders, signals, full disks, divergence.
#include "test.h"

#include "cli_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int enter(void **state)
{
    (void)state;
    cli_enter("cli_failures");
    cli_write_hanging();
    return 0;
}

static void an_earlier_run_is_kept_unless_forced(void **state)
{
    (void)state;
    struct outcome outcome = cli_expect(0, "taut run --quiet --output kept hanging.yaml");
    outcome_free(&outcome);
    size_t length;
    char *before = fixture_read("kept/energy.csv", &length);
    // So many steps that simulating before the check would take hours.
    outcome = cli_expect(1, "taut run --steps 1000000000 --output kept hanging.yaml");
    assert_contains(outcome.err, "already contains a run");
    assert_contains(outcome.err, "--force");
    assert_string_equal(outcome.out, "");
    outcome_free(&outcome);
    char *after = fixture_read("kept/energy.csv", &length);
    assert_string_equal(before, after);
    free(after);
    outcome = cli_expect(0, "taut run --quiet --steps 20 --force --output kept hanging.yaml");
    outcome_free(&outcome);
    after = fixture_read("kept/energy.csv", &length);
    assert_string_not_equal(before, after);
    assert_false(fixture_exists("kept/hanging_000005.vtp"));
    free(before);
    free(after);
}

// The user's files in the folder of a run survive, also those whose content begins like taut's
// files, and the mesh of the scene.
static void force_keeps_what_the_run_did_not_write(void **state)
{
    (void)state;
    fixture_write("ball.yaml", "simulation: {dt: 0.001, steps: 40}\n"
                               "bodies: [{name: ball, type: mesh, file: kept2/tet.obj, mass: 1,\n"
                               "  springs: {edges: {stiffness: 100}}}]\n"
                               "output: {every_steps: 20, vtp: true, pc2: true}\n");
    fixture_write("tet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                             "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    struct outcome outcome = cli_expect(
        0, "mkdir kept2 && cp tet.obj kept2 && "
           "taut run --quiet --output kept2 ball.yaml && cp kept2/ball.obj kept2/x.obj "
           "&& echo mine > kept2/x.pc2 && echo '{}' > kept2/summary.json && "
           "touch kept2/empty.csv && cp kept2/ball_000001.vtp kept2/other_000001.vtp && "
           "ls kept2 > before && taut run --quiet --force --output kept2 ball.yaml && "
           "ls kept2 | diff before - && cmp tet.obj kept2/tet.obj && "
           "cmp kept2/ball.obj kept2/x.obj && grep -qx mine kept2/x.pc2 && "
           "test -e kept2/empty.csv && grep -q '\"complete\": true' kept2/manifest.json");
    outcome_free(&outcome);
    // A mesh with the same name as a file of the run, and one that the run has written.
    outcome = cli_expect(
        1, "taut run --quiet --force --output kept2 --set bodies.ball.file=kept2/ball.obj "
           "ball.yaml");
    assert_contains(outcome.err, "kept2/ball.obj' is one of the files that the scene is made of");
    outcome_free(&outcome);
    outcome = cli_expect(1, "sed 's/name: ball/name: tet/' ball.yaml > tet.yaml; "
                            "taut run --quiet --force --output kept2 tet.yaml");
    assert_contains(outcome.err, "kept2/tet.obj' exists and was not written by taut");
    outcome_free(&outcome);
    outcome = cli_expect(1, "taut run --quiet --force --output kept2 kept2/scene.yaml");
    assert_contains(outcome.err, "kept2/scene.yaml' is one of the files that the scene is made of");
    outcome_free(&outcome);
    outcome = cli_expect(1, "taut run --quiet --no-output --state kept2/tet.obj ball.yaml");
    assert_contains(outcome.err,
                    "'kept2/tet.obj': it is one of the files that the scene is made of");
    outcome_free(&outcome);
    outcome = cli_expect(1, "echo >> kept2/energy.csv; "
                            "taut run --quiet --force --output kept2 ball.yaml");
    assert_contains(outcome.err, "kept2/energy.csv' has changed since taut wrote it");
    outcome_free(&outcome);
    // Another scene in the same folder: no file of this run stays, all others do.
    outcome = cli_expect(0, "rm kept2/energy.csv && taut run --quiet --force --output kept2 "
                            "hanging.yaml && test ! -e kept2/ball.pvd && test ! -e kept2/ball.pc2 "
                            "&& cmp tet.obj kept2/tet.obj && test -e kept2/other_000001.vtp");
    outcome_free(&outcome);
    outcome = cli_expect(1, "taut stability hanging.yaml --integrators rk4 --map none --budget 5 "
                            "--output kept2");
    assert_contains(outcome.err, "'kept2' contains a run (hanging): choose another folder");
    outcome_free(&outcome);
}

// After SIGKILL at any time the manifest names the files that were being written, so that they can
// be replaced.
static void a_killed_run_is_replaced_by_force(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        const char *arguments[] = {"run",
                                   "--output",
                                   "killed",
                                   "--force",
                                   "--steps",
                                   "1000000",
                                   "hanging.yaml",
                                   "--set",
                                   "output.every=0.001",
                                   NULL};
        pid_t process = cli_start(arguments);
        assert_true(cli_wait_for_file(process, "killed/hanging_000000.vtp"));
        const struct timespec pause = {.tv_nsec = 1000000 + 7300000 * i};
        (void)nanosleep(&pause, NULL);
        assert_int_equal(kill(process, SIGKILL), 0);
        assert_int_equal(cli_wait(process), 128 + SIGKILL);
        fixture_write("killed/mine.txt", "mine\n");
    }
    struct outcome outcome = cli_expect(1, "taut run --quiet --output killed hanging.yaml");
    assert_contains(outcome.err, "already contains an interrupted run (hanging)");
    outcome_free(&outcome);
    // Reads the list of a killed run as described in docs/cli.md.
    if (cli_has_python()) {
        // In a new folder: files of an earlier run would not show how far this one has come.
        const char *arguments[] = {"run",     "--output",     "listed", "--steps",
                                   "1000000", "hanging.yaml", "--set",  "output.every=0.001",
                                   NULL};
        pid_t process = cli_start(arguments);
        assert_true(cli_wait_for_file(process, "listed/hanging_000001.vtp"));
        assert_int_equal(kill(process, SIGKILL), 0);
        assert_int_equal(cli_wait(process), 128 + SIGKILL);
        outcome = cli_expect(
            0, "python3 -c \"import json; t = open('listed/manifest.json').read(); "
               "d = json.loads(t[:t.rindex('}') + 1] + ']}'); "
               "f = {e['name']: e for e in d['files']}; assert 'size' in f['scene.yaml'] and "
               "f['energy.csv']['writing'] and 'hanging_000000.vtp' in f\"");
        outcome_free(&outcome);
    }
    // A collection that was being replaced when the process was killed has two names.
    outcome = cli_expect(0, "taut run --quiet --force --output killed hanging.yaml && "
                            "rm -f killed/.taut-*.tmp");
    outcome_free(&outcome);
    assert_int_equal(fixture_count("killed"), 6 + 5 + 4 + 1);
}

static void a_folder_that_cannot_be_is_an_error(void **state)
{
    (void)state;
    fixture_write("file", "not a folder\n");
    struct outcome outcome = cli_expect(1, "taut run --output file/out hanging.yaml");
    assert_contains(outcome.err, "file");
    outcome_free(&outcome);
    // A state that cannot be written is reported before anything is simulated or created.
    outcome = cli_expect(1, "taut run --steps 1000000000 --output fresh --state file/end.csv "
                            "hanging.yaml");
    assert_contains(outcome.err, "cannot create the folder 'file'");
    assert_false(fixture_exists("fresh"));
    outcome_free(&outcome);
    // Its folder is created, as those of runs and pictures are.
    outcome = cli_expect(0, "taut run --quiet --no-output --steps 1 --state new/er/end.csv "
                            "hanging.yaml");
    assert_true(fixture_exists("new/er/end.csv"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --quiet --no-output --steps 1 --state end.csv hanging.yaml");
    assert_true(fixture_exists("end.csv"));
    outcome_free(&outcome);
}

// Interrupts a run that would take hours after its third frame.
static void interrupt(int signal_number, const char *folder)
{
    const char *const arguments[] = {"run",       "--json",   "--steps",      "1000000000",
                                     "--threads", "2",        "--output",     folder,
                                     "--state",   "stop.csv", "hanging.yaml", NULL};
    pid_t process = cli_start(arguments);
    bool there = cli_wait_for_file(process, fixture_path(folder, "hanging_000002.vtp"));
    assert_int_equal(kill(process, there ? signal_number : SIGKILL), 0);
    assert_int_equal(cli_wait(process), 1);
}

static void assert_interrupted(const char *folder, const char *name)
{
    size_t length;
    char *err = fixture_read("err.txt", &length), *out = fixture_read("out.txt", &length);
    assert_contains(err, "interrupted by ");
    assert_contains(err, name);
    assert_contains(err, "the files written are complete");
    assert_false(fixture_has_temporary(folder));
    assert_int_equal(cli_count_lines("stop.csv"), 1 + 128);
    if (cli_has_python())
        cli_assert_json(out, "import os, re, sys\n"
                             "assert d['interrupted'] in ('SIGINT', 'SIGTERM')\n"
                             "assert 40 <= d['steps'] < d['steps_planned'] == 1000000000\n"
                             "folder = os.path.dirname(d['output'][0])\n"
                             "frames = [f for f in os.listdir(folder) if f.endswith('.vtp')]\n"
                             "listed = re.findall('file=\"([^\"]*)\"',\n"
                             "                    open(folder + '/hanging.pvd').read())\n"
                             "assert sorted(frames) == sorted(listed) and len(frames) >= 3\n"
                             "rows = open(folder + '/energy.csv').read().split('\\n')\n"
                             "assert rows[-1] == '' and len(rows) == len(frames) + 2\n"
                             "assert len({r.count(',') for r in rows[:-1]}) == 1\n"
                             "assert sum('.vtp' in f for f in d['output']) == len(frames)");
    free(err);
    free(out);
    assert_int_equal(remove("stop.csv"), 0);
}

static void sigint_ends_a_run_with_whole_files(void **state)
{
    (void)state;
    interrupt(SIGINT, "stopped");
    assert_interrupted("stopped", "SIGINT");
}

static void sigterm_does_the_same(void **state)
{
    (void)state;
    interrupt(SIGTERM, "ended");
    assert_interrupted("ended", "SIGTERM");
}

// While the scene is read, from a pipe that nothing is written to. SIGTERM (bit 14) is looked for
// among the signals that the process catches, since it would end without a message before that.
static void signals_before_the_first_step_end_a_run_with_a_message(void **state)
{
    (void)state;
    if (access("/proc/self/status", R_OK) != 0)
        skip();
    struct outcome outcome = cli_expect(
        1, "mkfifo held; sleep 100 >held & writer=$!; \"" TAUT_BINARY
           "\" run --output never /dev/stdin <held & run=$!; tries=0; "
           "until grep -q 'SigCgt:.*[4-7c-f]...$' /proc/$run/status || [ $tries -gt 1000 ]; "
           "do sleep 0.01; tries=$((tries + 1)); done; "
           "kill -TERM $run; wait $run; code=$?; kill $writer; exit $code");
    assert_contains(outcome.err, "taut: interrupted by SIGTERM before the first step; nothing was "
                                 "written\n");
    assert_false(fixture_exists("never"));
    outcome_free(&outcome);
}

// A shell starts background processes of a script with SIGINT ignored.
static void sigint_counts_in_the_background_too(void **state)
{
    (void)state;
    void (*before)(int) = signal(SIGINT, SIG_IGN);
    interrupt(SIGINT, "background");
    assert_true(signal(SIGINT, before) == SIG_IGN);
    assert_interrupted("background", "SIGINT");
}

// The thread sanitizer keeps its memory in a file if it can, and fails because of the limit.
static void skip_unless_it_starts(const char *command)
{
    struct outcome outcome = cli_run(command);
    bool starts = outcome.code == 0;
    outcome_free(&outcome);
    if (starts)
        return;
    print_message("this build does not start with a limit on the size of files\n");
    skip();
}

static void a_full_disk_leaves_earlier_frames_whole(void **state)
{
    (void)state;
    skip_unless_it_starts("ulimit -f 40; taut run --quiet --no-output --steps 1 hanging.yaml");
    // A limit on file size simulates a full disk: the point cache of the cloth exceeds it.
    struct outcome outcome = cli_expect(
        1, "ulimit -f 40; taut run --steps 2000 --set output.vtp=false --output full hanging.yaml");
    assert_contains(outcome.err, "File too large");
    assert_contains(outcome.err, "full/");
    assert_contains(outcome.err, "until then are complete");
    outcome_free(&outcome);
    assert_false(fixture_has_temporary("full"));
    size_t length;
    char *cache = fixture_read("full/cloth.pc2", &length);
    uint32_t points, samples;
    memcpy(&points, cache + 16, 4);
    memcpy(&samples, cache + 28, 4);
    assert_int_equal(points, 108);
    assert_true(samples >= 2);
    assert_int_equal(length, 32 + (size_t)samples * points * 12);
    free(cache);
}

static void a_full_disk_at_the_end_leaves_no_state(void **state)
{
    (void)state;
    skip_unless_it_starts("ulimit -f 8; taut run --quiet --no-output --steps 1 hanging.yaml");
    struct outcome outcome =
        cli_expect(1, "ulimit -f 8; taut run --no-output --state big.csv --steps 3 "
                      "--set bodies.rope.nodes=400 hanging.yaml");
    assert_contains(outcome.err, "big.csv");
    outcome_free(&outcome);
    assert_false(fixture_exists("big.csv"));
    assert_false(fixture_has_temporary("."));
}

static void a_state_writes_over_nothing_else(void **state)
{
    (void)state;
    fixture_write("end.csv.tmp", "notes\n");
    fixture_write("victim", "mine\n");
    assert_int_equal(symlink("victim", "link.csv.tmp"), 0);
    struct outcome outcome =
        cli_expect(0, "for s in end link; do taut run --quiet --no-output --steps 1 --state $s.csv "
                      "hanging.yaml && head -n 1 $s.csv | grep -qx body,node,x,y,z,vx,vy,vz; done");
    outcome_free(&outcome);
    outcome = cli_expect(0, "grep -qx notes end.csv.tmp && grep -qx mine victim && "
                            "test -L link.csv.tmp");
    outcome_free(&outcome);
}

// A link to a file that does not exist when the run begins may be one to a file of the run.
static void a_state_through_a_dangling_link_is_refused(void **state)
{
    (void)state;
    assert_int_equal(symlink("dangling/energy.csv", "end-link.csv"), 0);
    struct outcome outcome = cli_expect(
        1, "taut run --quiet --steps 1 --output dangling --state end-link.csv hanging.yaml");
    assert_contains(outcome.err,
                    "cannot write 'end-link.csv': it is a symbolic link to a file that "
                    "does not exist");
    outcome_free(&outcome);
    assert_false(fixture_exists("dangling/energy.csv"));
}

static void a_state_into_a_pipe(void **state)
{
    (void)state;
    struct outcome outcome =
        cli_expect(0, "mkfifo pipe && (sleep 0.3; cat pipe >read) & "
                      "sleep 0.1; taut run --quiet --no-output --steps 1 --state pipe hanging.yaml "
                      "&& wait && head -n 1 read | grep -qx body,node,x,y,z,vx,vy,vz");
    outcome_free(&outcome);
    outcome = cli_expect(1, "taut run --quiet --no-output --steps 1 --state pipe hanging.yaml");
    assert_contains(outcome.err, "cannot write 'pipe': no program reads from this pipe");
    outcome_free(&outcome);
}

// The state may be written into the folder of the run, which need not exist, but must not replace a
// file of the run.
static void a_state_in_the_folder_of_the_run(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "with/energy.csv",        "with/scene.yaml", "./with//hanging.pvd",
        "with/manifest.json",     "with/rope.pc2",   "link/hanging_000001.vtp",
        "with/../with/cloth.obj", "with/probes.csv",
    };
    struct outcome outcome =
        cli_expect(0, "taut run --quiet --steps 1 --output with --state with/end.csv hanging.yaml "
                      "&& test -s with/end.csv && ln -s with link && rm -rf never && "
                      "taut run --quiet --steps 1 --output ./never/sub --state never/./sub/end.csv "
                      "hanging.yaml && test -s never/sub/end.csv");
    outcome_free(&outcome);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char command[256];
        snprintf(command, sizeof command,
                 "taut run --quiet --steps 1 --force --output with --state %s hanging.yaml",
                 refused[i]);
        outcome = cli_expect(1, command);
        assert_contains(outcome.err, "the run writes a file of that name itself");
        outcome_free(&outcome);
    }
    outcome = cli_expect(1, "taut run --quiet --output unmade --state unmade/energy.csv "
                            "hanging.yaml");
    assert_contains(outcome.err, "the run writes a file of that name itself");
    assert_false(fixture_exists("unmade/energy.csv"));
    outcome_free(&outcome);
    outcome =
        cli_expect(0, "taut run --quiet --steps 1 --force --output with --state "
                      "with/end.csv hanging.yaml && head -n 1 with/energy.csv | grep -q step");
    outcome_free(&outcome);
}

// Whatever state of the folder each of them finds, at most one run writes, and the others report
// why they do not.
static void several_runs_into_one_new_folder(void **state)
{
    (void)state;
    struct outcome outcome = cli_expect(
        0, "for n in 1 2 3 4 5; do for i in 1 2 3 4 5 6 7 8; do { taut run --quiet --steps 20 "
           "--output race$n hanging.yaml 2>race-$n-$i.txt && echo done >race-$n-$i.txt; } & done; "
           "wait; test $(grep -lx done race-$n-*.txt | wc -l) = 1 || exit 1; done; "
           "! grep -Eh 'File exists|not written by taut' race-*.txt && "
           "rm -rf race1 race2 race3 race4 race5");
    outcome_free(&outcome);
}

static void results_that_cannot_be_printed_are_a_failure(void **state)
{
    (void)state;
    static const char *const commands[] = {
        "taut --help >/dev/full",
        "taut --version >/dev/full",
        "taut run --help >/dev/full",
        "taut check hanging.yaml >/dev/full",
        "taut info --json hanging.yaml >/dev/full",
        "taut run --no-output --steps 2 hanging.yaml >/dev/full",
        "taut run --no-output --steps 2 --quiet --hash hanging.yaml >/dev/full",
        "taut run --no-output --steps 2 --json hanging.yaml >&-",
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        struct outcome outcome = cli_expect(1, commands[i]);
        assert_contains(outcome.err, "cannot write to standard output");
        outcome_free(&outcome);
    }
    // A reader that has ended causes a write error, and not the end of taut by a signal.
    struct outcome outcome =
        cli_expect(0, "{ sleep 0.2; taut info hanging.yaml; echo $? >code.txt; } | true");
    assert_contains(outcome.err, "cannot write to standard output");
    outcome_free(&outcome);
    size_t length;
    char *code = fixture_read("code.txt", &length);
    assert_string_equal(code, "1\n");
    free(code);
}

static void a_closed_stream_is_not_taken_for_a_file(void **state)
{
    (void)state;
    struct outcome outcome =
        cli_expect(1, "taut run --steps 40 --output closed hanging.yaml >&- 2>&-");
    outcome_free(&outcome);
    assert_int_equal(cli_count_lines("closed/energy.csv"), 1 + 3);
    size_t length;
    char *scene = fixture_read("closed/scene.yaml", &length);
    assert_null(strstr(scene, "system "));
    free(scene);
}

static void divergence_is_explained(void **state)
{
    (void)state;
    // The rope's k / m is 20000 / s2, so steps of 0.1 s are far above the stability limit.
    struct outcome outcome =
        cli_expect(1, "taut run --json --set simulation.dt=0.1 --duration 20 --output diverged "
                      "--state never.csv hanging.yaml");
    assert_contains(outcome.err, "diverged at t = ");
    assert_contains(outcome.err, "of body '");
    assert_contains(outcome.err, "the stiffest spring there is number");
    assert_contains(outcome.err, "dt is 0.1 s");
    assert_false(fixture_exists("never.csv"));
    assert_false(fixture_has_temporary("diverged"));
    assert_true(fixture_exists("diverged/hanging_000000.vtp"));
    if (cli_has_python())
        cli_assert_json(outcome.out, "assert d['error'].startswith('diverged at t = ')\n"
                                     "assert 0 < d['steps'] < 200 and d['interrupted'] is None");
    outcome_free(&outcome);
    size_t length;
    char *energies = fixture_read("diverged/energy.csv", &length);
    assert_null(strstr(energies, "nan"));
    assert_null(strstr(energies, "inf,"));
    free(energies);
}

static void divergence_is_found_at_the_same_step_each_time(void **state)
{
    (void)state;
    static const char *const commands[] = {
        "taut run --quiet --no-output --set simulation.dt=0.02 --duration 20 hanging.yaml",
        "taut run --quiet --no-output --set simulation.dt=0.02 --duration 20 --threads 3 "
        "hanging.yaml",
    };
    struct outcome first = cli_expect(1, commands[0]), second = cli_expect(1, commands[1]);
    assert_contains(first.err, "diverged at t = ");
    assert_string_equal(first.err, second.err);
    outcome_free(&first);
    outcome_free(&second);
}

// Two nodes that are thrown from one wall to the other: after one step it is certain that this is a
// divergence, and after each second one they are at rest. Every run pauses after the first step, to
// see how long it took, and that does not decide which rows it writes.
static void rows_do_not_depend_on_where_a_diverging_run_pauses(void **state)
{
    (void)state;
    fixture_write(
        "thrown.yaml",
        "precision: double\n"
        "simulation: {integrator: explicit_euler, dt: 0.001, steps: 24}\n"
        "environment: {gravity: [0, 0, 0]}\n"
        "bodies:\n"
        "  - {name: rope, type: rope, from: [-0.5, 0, 0], to: [0.5, 0, 0], nodes: 2, mass: "
        "0.002, springs: {chain: {stiffness: 1e9, rest_length: 0.99}}}\n"
        "colliders:\n"
        "  - {type: room, min: [-1, -1, -1], max: [1, 1, 1], response: project, "
        "restitution: 0}\n"
        "output: {every_steps: 2, pc2: true, probes: [{body: rope, node: last, every_steps: "
        "2}]}\n");
    struct outcome outcome = cli_expect(1, "taut run --quiet --json --output thrown thrown.yaml");
    assert_contains(outcome.err, "diverged at t = 0.016 s (step 16)");
    cli_assert_json(outcome.out, "assert d['steps'] == 16\n");
    outcome_free(&outcome);
    static const char *const tables[] = {"thrown/energy.csv", "thrown/probes.csv"};
    for (int i = 0; i < 2; i++) {
        size_t length, lines = 0;
        char *text = fixture_read(tables[i], &length);
        for (size_t c = 0; c < length; c++)
            lines += text[c] == '\n';
        free(text);
        assert_int_equal(lines, 1 + 8); // steps 0, 2, ... 14
    }
    size_t length;
    free(fixture_read("thrown/rope.pc2", &length));
    assert_int_equal(length, 32 + 8 * 2 * 12); // a header, and positions
}

static void a_scene_that_is_too_large_is_refused_at_once(void **state)
{
    (void)state;
    fixture_write("ring.yaml",
                  "simulation: {dt: 1e-6, steps: 2}\nbodies:\n  - {name: ring, type: ring, radius: "
                  "1, nodes: 400000000, mass: 1, springs: {edges: {stiffness: 10}}, pressure: "
                  "{amount: 1}}\n");
    static const char *const commands[] = {"check", "info", "run", "stability"};
    for (int i = 0; i < 4; i++) {
        char line[200];
        snprintf(line, sizeof line, "TAUT_MEMORY_LIMIT=2G taut %s ring.yaml", commands[i]);
        struct outcome outcome = cli_expect(1, line);
        assert_contains(outcome.err, "4e+08 nodes");
        assert_contains(outcome.err, "'ring'");
        assert_contains(outcome.err, " GiB of memory, and this process may take 2 GiB");
        assert_string_equal(outcome.out, "");
        outcome_free(&outcome);
        assert_false(fixture_exists("out/ring"));
    }
    struct outcome outcome = cli_expect(2, "TAUT_MEMORY_LIMIT=plenty taut run ring.yaml");
    assert_contains(outcome.err, "TAUT_MEMORY_LIMIT is a size");
    outcome_free(&outcome);
    outcome = cli_expect(0, "TAUT_MEMORY_LIMIT=none taut run --quiet --no-output hanging.yaml");
    outcome_free(&outcome);
}

// The remaining address space is compared before anything is built, so nothing fails halfway.
static void a_limit_of_address_space_counts(void **state)
{
    (void)state;
    struct outcome outcome = cli_run("ulimit -v 1000000; taut check --quiet hanging.yaml");
    bool works = outcome.code == 0; // a sanitizer needs more
    outcome_free(&outcome);
    if (!works)
        skip();
    outcome = cli_expect(1, "ulimit -v 1000000; taut run --no-output ring.yaml");
    assert_contains(outcome.err, "left by its address-space limit, ulimit -v");
    outcome_free(&outcome);
}

// A named pipe without a writer and an endless device are rejected; a pipe made by the shell is
// read.
static void only_ordinary_files_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *command, *message;
    } cases[] = {
        {"mkfifo pipe; taut check pipe", "pipe: error: cannot read the scene: it is a "
                                         "named pipe"},
        {"taut check /dev/zero", "it is a device"},
        {"taut run --no-output .", "Is a directory"},
        {"taut check hanging.yaml/", "Not a directory"},
        {"taut render --output pipe hanging.yaml", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome outcome = cli_run(cases[i].command);
        if (outcome.code != 1 && outcome.code != 2)
            fail_msg("%s: %d\n%s", cases[i].command, outcome.code, outcome.err);
        if (cases[i].message)
            assert_contains(outcome.err, cases[i].message);
        outcome_free(&outcome);
    }
    struct outcome outcome = cli_expect(0, "cat hanging.yaml | taut check /dev/stdin");
    assert_contains(outcome.out, "/dev/stdin: sound");
    outcome_free(&outcome);
    // A file named in the scene that is not an ordinary file.
    fixture_write("piped.yaml", "simulation: {dt: 1e-6, steps: 2}\nbodies:\n  - {name: n, type: "
                                "network, nodes_file: pipe, springs_file: pipe}\n");
    outcome = cli_expect(2, "taut check piped.yaml");
    assert_contains(outcome.err, "it is not a regular file");
    outcome_free(&outcome);
}

// The folder of the results has the name of the scene, which must be a valid folder name.
static void a_scene_called_dot_has_a_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"..yaml", "...yaml", ".yaml"};
    for (int i = 0; i < 3; i++) {
        char line[200];
        snprintf(line, sizeof line, "cp hanging.yaml %s; rm -rf out; taut run --quiet --steps 2 %s",
                 names[i], names[i]);
        struct outcome outcome = cli_expect(0, line);
        outcome_free(&outcome);
        assert_false(fixture_exists("energy.csv"));
        assert_false(fixture_exists("out/energy.csv"));
    }
    struct outcome outcome = cli_expect(0, "rm -rf out; taut run --quiet --steps 2 ..yaml");
    assert_true(fixture_exists("out/scene/energy.csv"));
    outcome_free(&outcome);
    char name[251] = "", line[1000];
    memset(name, 'n', sizeof name - 1);
    snprintf(line, sizeof line, "cp hanging.yaml %s.yml; taut run --quiet --steps 2 %s.yml", name,
             name);
    outcome = cli_expect(1, line); // names of frames are longer than the scene's
    assert_contains(outcome.err, "File name too long");
    outcome_free(&outcome);
}

static void absurd_numbers_of_threads_are_few(void **state)
{
    (void)state;
    struct outcome many = cli_expect(0, "taut run --threads 4096 --steps 20 --no-output --hash "
                                        "hanging.yaml");
    assert_contains(many.err, "4096 threads are more than this machine's processors can keep busy");
    struct outcome one = cli_expect(0, "taut run --threads 1 --steps 20 --no-output --quiet --hash "
                                       "hanging.yaml");
    assert_contains(many.out, one.out); // the hash is the last line
    outcome_free(&many);
    outcome_free(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_earlier_run_is_kept_unless_forced),
        cmocka_unit_test(force_keeps_what_the_run_did_not_write),
        cmocka_unit_test(a_killed_run_is_replaced_by_force),
        cmocka_unit_test(a_folder_that_cannot_be_is_an_error),
        cmocka_unit_test(sigint_ends_a_run_with_whole_files),
        cmocka_unit_test(sigterm_does_the_same),
        cmocka_unit_test(signals_before_the_first_step_end_a_run_with_a_message),
        cmocka_unit_test(sigint_counts_in_the_background_too),
        cmocka_unit_test(a_full_disk_leaves_earlier_frames_whole),
        cmocka_unit_test(a_full_disk_at_the_end_leaves_no_state),
        cmocka_unit_test(a_state_writes_over_nothing_else),
        cmocka_unit_test(a_state_through_a_dangling_link_is_refused),
        cmocka_unit_test(a_state_into_a_pipe),
        cmocka_unit_test(a_state_in_the_folder_of_the_run),
        cmocka_unit_test(several_runs_into_one_new_folder),
        cmocka_unit_test(results_that_cannot_be_printed_are_a_failure),
        cmocka_unit_test(a_closed_stream_is_not_taken_for_a_file),
        cmocka_unit_test(divergence_is_explained),
        cmocka_unit_test(divergence_is_found_at_the_same_step_each_time),
        cmocka_unit_test(rows_do_not_depend_on_where_a_diverging_run_pauses),
        cmocka_unit_test(a_scene_that_is_too_large_is_refused_at_once),
        cmocka_unit_test(a_limit_of_address_space_counts),
        cmocka_unit_test(only_ordinary_files_are_read),
        cmocka_unit_test(a_scene_called_dot_has_a_folder),
        cmocka_unit_test(absurd_numbers_of_threads_are_few),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
