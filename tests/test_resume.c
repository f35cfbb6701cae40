// taut resume and the checkpoints of taut run: which runs continue, from which checkpoint, which
// are refused, and that the finished folder is that of a run that was never interrupted. Runs that
// are killed at random moments are in test_faults.py.
#include "test.h"

#include "cli_fixture.h"
#include "pressed_sheets.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "output/manifest.h"
#include "output/recording.h"

// A scene of 0.6 s: frames of all kinds, probes, and a checkpoint every 0.1 s, of which the one at
// the end is kept.
static void write_scene(const char *path, const char *checkpoint)
{
    char *text = text_format(
        "simulation: {dt: 0.001, duration: 0.6, integrator: verlet}\n"
        "environment: {gravity: [0, -9.81, 0], air_drag: 0.001}\n"
        "bodies:\n"
        "  - {name: rope, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 20,\n"
        "     node_mass: 0.05, spring: {stiffness: 1000, damping: 0.1}, pins: [first]}\n"
        "  - {name: ball, type: sphere, radius: 0.4, subdivisions: 1, mass: 0.3,\n"
        "     spring: {stiffness: 400, damping: 0.1}, pressure: {amount: 3}}\n"
        "output:\n"
        "  every: 0.017\n"
        "  vtp: true\n"
        "  pc2: true\n"
        "  probes: [{body: rope, node: last, every_steps: 7}]\n"
        "%s",
        checkpoint);
    assert_non_null(text);
    fixture_write(path, text);
    free(text);
}

static int enter(void **state)
{
    (void)state;
    cli_enter("resume");
    write_scene("kept.yaml", "  checkpoint: {every: 0.1}\n");
    write_scene("plain.yaml", "");
    return 0;
}

// ---- Folders

// Asserts that two folders have the same files with the same bytes.
static void assert_same_folders(const char *one, const char *other)
{
    DIR *folder = opendir(one);
    assert_non_null(folder);
    struct dirent *entry;
    size_t count = 0;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.' && strchr("./", entry->d_name[1] ? entry->d_name[1] : '/'))
            continue;
        count++;
        size_t lengths[2];
        if (!fixture_exists(fixture_path(other, entry->d_name)))
            fail_msg("'%s' of '%s' is not in '%s'", entry->d_name, one, other);
        char *a = fixture_read(fixture_path(one, entry->d_name), &lengths[0]);
        char *b = fixture_read(fixture_path(other, entry->d_name), &lengths[1]);
        if (lengths[0] != lengths[1] || memcmp(a, b, lengths[0]) != 0)
            fail_msg("'%s' of '%s' differs in '%s'", entry->d_name, one, other);
        free(a);
        free(b);
    }
    closedir(folder);
    assert_int_equal(count, fixture_count(other));
}

enum { PATH = 1024 };

// The paths of the checkpoints in a folder, the newest first; returns their number.
static size_t checkpoints_in(const char *name, char newest[PATH], char before[PATH])
{
    DIR *folder = opendir(name);
    assert_non_null(folder);
    struct dirent *entry;
    size_t count = 0;
    uint64_t newest_step = 0;
    newest[0] = before[0] = '\0';
    while ((entry = readdir(folder)) != NULL) {
        uint64_t step;
        if (!recording_is_checkpoint(entry->d_name, &step))
            continue;
        count++;
        if (step > newest_step) {
            snprintf(before, PATH, "%s", newest);
            snprintf(newest, PATH, "%s/%s", name, entry->d_name);
            newest_step = step;
        } else {
            snprintf(before, PATH, "%s/%s", name, entry->d_name);
        }
    }
    closedir(folder);
    return count;
}

// Runs a scene into a folder up to the second checkpoint or later, and kills it.
static void run_and_kill(const char *scene, const char *folder)
{
    char newest[PATH], before[PATH];
    char *state = text_format("%s/final.csv", folder);
    const char *const arguments[] = {"run",   scene,      "--quiet", "--checkpoint-every",
                                     "0.001", "--output", folder,    "--state",
                                     state,   NULL};
    size_t count = 0;
    for (int tries = 0; count < 2; tries++) { // again if it was faster than we
        assert_true(tries < 200);
        fixture_remove(folder);
        pid_t process = cli_start(arguments);
        for (int i = 0; i < 30000 && count < 2; i++) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            count = fixture_exists(folder) ? checkpoints_in(folder, newest, before) : 0;
            if (fixture_exists(fixture_path(folder, "final.csv")))
                break;
        }
        assert_int_equal(kill(process, SIGKILL), 0);
        (void)cli_wait(process);
        count = checkpoints_in(folder, newest, before);
    }
    free(state);
}

// Runs it to its end.
static void finish(const char *scene, const char *folder)
{
    char *line =
        text_format("taut run --quiet --output %s --state %s/final.csv %s", folder, folder, scene);
    struct outcome outcome = cli_expect(0, line);
    outcome_free(&outcome);
    free(line);
}

static struct outcome resume(int code, const char *options, const char *folder)
{
    char *line = text_format("taut resume %s %s", options, folder);
    struct outcome outcome = cli_expect(code, line);
    free(line);
    return outcome;
}

// ---- Continuing

static void a_killed_run_ends_as_if_nothing_had_been(void **state)
{
    (void)state;
    finish("kept.yaml", "whole");
    for (int k = 0; k < 2; k++) {
        run_and_kill("kept.yaml", "killed");
        struct outcome outcome = resume(0, k ? "--threads 2 --isa base" : "--threads 1", "killed");
        assert_contains(outcome.err, "after an interruption continue with: taut resume killed\n");
        outcome_free(&outcome);
        assert_same_folders("whole", "killed");
        fixture_remove("killed");
    }
}

static void nothing_is_left_of_checkpoints_that_no_scene_asks_for(void **state)
{
    (void)state;
    finish("plain.yaml", "plain");
    char newest[PATH], before[PATH];
    assert_int_equal(checkpoints_in("plain", newest, before), 0);
    run_and_kill("plain.yaml", "killed");
    struct outcome outcome = resume(0, "--quiet", "killed");
    outcome_free(&outcome);
    assert_same_folders("plain", "killed");
    // Nothing is left either of checkpoints that a run without an interruption has written.
    outcome = cli_expect(0, "taut run --quiet --checkpoint-every 0.001 --output often "
                            "--state often/final.csv plain.yaml");
    outcome_free(&outcome);
    assert_same_folders("plain", "often");
    // A finished run is left as it is.
    outcome = resume(0, "", "often");
    assert_contains(outcome.err, "the run in 'often' is complete");
    outcome_free(&outcome);
    assert_same_folders("plain", "often");
    fixture_remove("killed");
}

static void a_signal_leaves_a_checkpoint_and_the_command(void **state)
{
    (void)state;
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        const char *const arguments[] = {
            "run", "--output", "stopped", "--set", "simulation.duration=1000", "plain.yaml", NULL};
        pid_t process = cli_start(arguments);
        assert_true(cli_wait_for_file(process, "stopped/plain_000003.vtp"));
        assert_int_equal(kill(process, signals[i]), 0);
        assert_int_equal(cli_wait(process), 1);
        size_t length;
        char *errors = fixture_read("err.txt", &length);
        assert_contains(errors, "every 60 s in 'stopped'");
        assert_contains(errors, "s with: taut resume stopped");
        free(errors);
        char newest[PATH], before[PATH];
        assert_int_equal(checkpoints_in("stopped", newest, before), 1);
        // The end may come earlier than the scene has it, but not before the checkpoint.
        struct outcome outcome = resume(2, "--steps 1", "stopped");
        assert_contains(outcome.err, "beyond that end");
        outcome_free(&outcome);
        fixture_remove("stopped");
    }
}

static void the_summary_is_the_same_but_for_times(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    struct outcome whole =
        cli_expect(0, "taut run --json --quiet --threads 1 --output one plain.yaml");
    fixture_write("whole.json", whole.out);
    outcome_free(&whole);
    run_and_kill("plain.yaml", "killed");
    struct outcome again = resume(0, "--json --quiet --threads 1 --state killed.csv", "killed");
    cli_assert_json(again.out,
                    "e = json.load(open('whole.json'))\n"
                    "times = {'scene', 'output', 'setup_seconds', 'step_seconds', 'stages',\n"
                    "         'spring_updates_per_second', 'node_updates_per_second',\n"
                    "         'peak_rss_bytes'}\n"
                    "assert set(d) == set(e)\n"
                    "for key in d:\n"
                    "    assert key in times or d[key] == e[key], (key, d[key], e[key])\n"
                    "assert d['spring_updates_per_second'] > 0\n"
                    "assert len(d['output']) == len(e['output']) + 1\n");
    outcome_free(&again);
    fixture_remove("killed");
}

static void a_run_is_prolonged(void **state)
{
    (void)state;
    // 0.6 s is no multiple of 0.017: the last frame of the short run is not one of the long run.
    struct outcome outcome = cli_expect(0, "taut run --quiet --output long kept.yaml --duration 1");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --quiet --output grown kept.yaml");
    outcome_free(&outcome);
    char newest[PATH], before[PATH];
    assert_int_equal(checkpoints_in("grown", newest, before), 1);
    assert_contains(newest, "checkpoint_000000000000600.taut");
    outcome = resume(0, "--quiet --duration 1", "grown");
    outcome_free(&outcome);
    assert_same_folders("long", "grown");
    // Prolongs runs by the other key, also one that was begun with the other key: scene.yaml has
    // the same order.
    static const struct {
        const char *begun, *prolonged;
    } ends[] = {{"", "--steps 1000"},
                {"--duration 0.6", "--steps 1000"},
                {"--steps 600", "--duration 1"},
                {"--steps 600", "--steps 1000"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *line = text_format("taut run --quiet --output once kept.yaml %s", ends[i].prolonged);
        outcome = cli_expect(0, line);
        outcome_free(&outcome);
        free(line);
        line = text_format("taut run --quiet --output twice kept.yaml %s", ends[i].begun);
        outcome = cli_expect(0, line);
        outcome_free(&outcome);
        free(line);
        line = text_format("--quiet %s", ends[i].prolonged);
        outcome = resume(0, line, "twice");
        outcome_free(&outcome);
        free(line);
        assert_same_folders("once", "twice");
        fixture_remove("once");
        fixture_remove("twice");
    }
    // One without a checkpoint of its end cannot be.
    outcome = resume(2, "--duration 1", "plain");
    assert_contains(outcome.err, "cannot be prolonged");
    assert_contains(outcome.err, "output: {checkpoint: {every: T}}");
    outcome_free(&outcome);
}

// dt: auto remembers for which contacts it has been adapted.
static void a_run_with_contact_is_prolonged(void **state)
{
    (void)state;
    fixture_write("pressed.yaml", "simulation: {dt: auto, duration: 0.06}\n" PRESSED_SHEETS
                                  "output: {every: 0.02, checkpoint: {every: 0.02}}\n");
    struct outcome outcome =
        cli_expect(0, "taut run --quiet --output pressed-long pressed.yaml --duration 0.1");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --quiet --json --output pressed-grown pressed.yaml");
    cli_assert_json(outcome.out, "assert d['dt'] < 0.0003, d['dt']"); // 0.00031 as built
    outcome_free(&outcome);
    outcome = resume(0, "--quiet --duration 0.1", "pressed-grown");
    outcome_free(&outcome);
    assert_same_folders("pressed-long", "pressed-grown");
}

static void a_run_without_a_checkpoint_begins_again(void **state)
{
    (void)state;
    const char *const arguments[] = {
        "run",     "--quiet",         "--output",   "early",
        "--state", "early/final.csv", "plain.yaml", "--checkpoint-every",
        "0",       "--kernel",        "reference",  NULL};
    pid_t process = cli_start(arguments);
    assert_true(cli_wait_for_file(process, "early/plain_000001.vtp"));
    (void)kill(process, SIGKILL);
    if (cli_wait(process) == 0)
        fixture_remove("early"); // it was faster
    if (!fixture_exists("early"))
        skip();
    // With the kernel and the final state of the run, which only the manifest has.
    struct outcome outcome = resume(0, "", "early");
    assert_contains(outcome.err, "'early' has no checkpoint yet: the run begins again");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --quiet --output other --kernel reference "
                            "--state other/final.csv plain.yaml");
    outcome_free(&outcome);
    assert_same_folders("other", "early");
    outcome = cli_run("cmp plain/final.csv early/final.csv");
    assert_int_equal(outcome.code, 1); // the kernel matters
    outcome_free(&outcome);
}

// The checkpoint at the end is set by the scene, whatever options set for the others.
static void the_end_is_kept_without_other_checkpoints(void **state)
{
    (void)state;
    struct outcome outcome =
        cli_expect(0, "taut run --quiet --checkpoint-every 0 --output only kept.yaml && "
                      "taut run --quiet --output usual kept.yaml");
    outcome_free(&outcome);
    char newest[PATH], before[PATH];
    assert_int_equal(checkpoints_in("only", newest, before), 1);
    assert_contains(newest, "checkpoint_000000000000600.taut");
    assert_same_folders("usual", "only");
}

// Starts taut and ends it by a signal as soon as a text is in a file.
static void stop_when(const char *const *arguments, const char *path, const char *text, int signal)
{
    pid_t process = cli_start(arguments);
    bool there = false;
    for (int i = 0; i < 30000 && !there; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        size_t length;
        char *found = fixture_exists(path) ? fixture_read(path, &length) : NULL;
        there = found && strstr(found, text);
        free(found);
    }
    assert_true(there);
    assert_int_equal(kill(process, signal), 0);
    assert_int_not_equal(cli_wait(process), 0);
}

// Runs a command that taut has printed, by a shell; the command follows `before` in a line of
// `errors`.
static int run_printed(const char *errors, const char *before)
{
    const char *command = strstr(errors, before);
    assert_non_null(command);
    command += strlen(before);
    char *line = text_format("taut() { '%s' \"$@\"; }; %.*s --quiet", TAUT_BINARY,
                             (int)strcspn(command, "\n"), command);
    assert_non_null(line);
    const int code = system(line);
    free(line);
    return code;
}

// Printed commands can be given to a shell as they are, whatever the folder is called.
static void printed_commands_are_quoted(void **state)
{
    (void)state;
    static const char *const folders[] = {"with blanks", "it's", "$HOME", "-f", "a;b&c|`d`", "\\"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *folder = text_format("./%s", folders[i]); // an option would be taken for one
        const char *const arguments[] = {"run",
                                         "--output",
                                         folder,
                                         "--checkpoint-every",
                                         "0.001",
                                         "--set",
                                         "simulation.duration=4",
                                         "plain.yaml",
                                         NULL};
        pid_t process = cli_start(arguments);
        char *frame = text_format("%s/plain_000003.vtp", folder);
        assert_true(cli_wait_for_file(process, frame));
        assert_int_equal(kill(process, SIGINT), 0);
        assert_int_equal(cli_wait(process), 1);
        size_t length;
        char *errors = fixture_read("err.txt", &length);
        assert_int_equal(run_printed(errors, " s with: "), 0);
        // The other messages have it too; the run is complete now.
        assert_int_equal(run_printed(errors, "after an interruption continue with: "), 0);
        free(errors);
        char *scene = text_format("%s/scene.yaml", folder);
        assert_int_equal(access(scene, F_OK), 0);
        fixture_remove(folder);
        free(scene);
        free(frame);
        free(folder);
    }
}

// Options of `taut resume` before there is a checkpoint are valid for the next one too.
static void options_of_a_run_that_begins_again_are_kept(void **state)
{
    (void)state;
    const char *const run[] = {"run",
                               "plain.yaml",
                               "--set",
                               "simulation.duration=1000",
                               "--output",
                               "given",
                               "--checkpoint-every",
                               "0",
                               NULL};
    stop_when(run, "given/manifest.json", "plain_000001.vtp", SIGINT);
    size_t length;
    char *errors = fixture_read("err.txt", &length);
    assert_contains(errors, "there is no checkpoint; begin it again with: taut resume given");
    free(errors);
    const char *const again[] = {
        "resume", "--kernel",           "reference", "--state", "given/end.csv",
        "given",  "--checkpoint-every", "0",         NULL};
    stop_when(again, "given/manifest.json", "reference", SIGKILL);
    struct outcome outcome = resume(0, "--quiet --duration 0.3", "given");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --quiet --output new --kernel reference --duration 0.3 "
                            "--state new/end.csv plain.yaml");
    outcome_free(&outcome);
    assert_same_folders("new", "given");
}

// ---- After a power failure, data that was not on the disk yet is lost

static void a_folder_without_its_first_files_is_replaced(void **state)
{
    (void)state;
    finish("kept.yaml", "first");
    static const char *const damages[] = {
        ": > manifest.json", "truncate -s 9 manifest.json", "truncate -s 40 manifest.json",
        "rm -f scene.yaml", "truncate -s 140 manifest.json; : > energy.csv; rm -f scene.yaml"};
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        run_and_kill("kept.yaml", "killed");
        char *line = text_format("cd killed && %s", damages[i]);
        struct outcome outcome = cli_expect(0, line);
        outcome_free(&outcome);
        free(line);
        outcome = resume(1, "", "killed");
        assert_contains(outcome.err, "again with: taut run SCENE --force --output killed");
        outcome_free(&outcome);
        outcome = cli_expect(1, "taut run --output killed kept.yaml");
        assert_contains(outcome.err, "--force");
        assert_null(strstr(outcome.err, "taut resume")); // it would not continue
        outcome_free(&outcome);
        // A file that somebody else has put there stays.
        fixture_write("killed/kept_000099.vtp", "mine");
        outcome = cli_expect(1, "taut run --force --output killed kept.yaml");
        assert_contains(outcome.err, "killed/kept_000099.vtp' exists and was not written by taut");
        outcome_free(&outcome);
        outcome = cli_expect(0, "rm killed/kept_000099.vtp && taut run --quiet --force "
                                "--output killed --state killed/final.csv kept.yaml");
        outcome_free(&outcome);
        assert_same_folders("first", "killed");
        fixture_remove("killed");
    }
}

// The manifest has lost its last lines, and `taut resume` continues nevertheless.
static void a_manifest_without_its_last_lines_is_enough(void **state)
{
    (void)state;
    run_and_kill("kept.yaml", "killed");
    char newest[PATH], before[PATH];
    assert_true(checkpoints_in("killed", newest, before) >= 2);
    struct outcome outcome =
        cli_expect(0, "cd killed && cp kept_000001.vtp kept_000039.vtp && : > kept_000040.vtp");
    outcome_free(&outcome);
    outcome = resume(0, "--quiet", "killed");
    outcome_free(&outcome);
    assert_same_folders("first", "killed");
    fixture_remove("killed");
}

// ---- Refusals

static void cut(const char *path, size_t length)
{
    assert_int_equal(truncate(path, (off_t)length), 0);
}

static void a_damaged_checkpoint_is_replaced_by_the_previous_one(void **state)
{
    (void)state;
    char newest[PATH], before[PATH];
    finish("kept.yaml", "reference");
    for (int k = 0; k < 3; k++) {
        run_and_kill("kept.yaml", "killed");
        assert_true(checkpoints_in("killed", newest, before) >= 2);
        size_t length;
        char *bytes = fixture_read(newest, &length);
        if (k == 0) {
            cut(newest, length / 2);
        } else if (k == 1) {
            FILE *file = fopen(newest, "r+b");
            assert_non_null(file);
            assert_int_equal(fseek(file, (long)(length / 2), SEEK_SET), 0);
            fputc(bytes[length / 2] ^ 4, file);
            fclose(file);
        } else {
            cut(newest, 0);
        }
        free(bytes);
        struct outcome outcome = resume(0, "", "killed");
        assert_contains(outcome.err, newest);
        assert_contains(outcome.err, k == 0   ? "is cut off"
                                     : k == 1 ? "has been altered"
                                              : "is no checkpoint");
        outcome_free(&outcome);
        assert_same_folders("reference", "killed");
        fixture_remove("killed");
    }
    // None is whole.
    run_and_kill("kept.yaml", "killed");
    while (checkpoints_in("killed", newest, before) > 0) {
        struct stat status;
        assert_int_equal(stat(newest, &status), 0);
        if (status.st_size == 100)
            break;
        cut(newest, 100);
        if (before[0])
            cut(before, 100);
    }
    struct outcome outcome = resume(1, "", "killed");
    assert_contains(outcome.err, "'killed' has no whole checkpoint");
    outcome_free(&outcome);
    // Nothing has changed in the folder. It can be replaced, including the temporary file that a
    // killed process leaves where files cannot be without names.
    outcome = cli_expect(0, "echo x > killed/.taut-0123456789abcdef.tmp && taut run --quiet "
                            "--force --output killed --state killed/final.csv "
                            "kept.yaml");
    outcome_free(&outcome);
    assert_same_folders("reference", "killed");
    fixture_remove("killed");
}

static void another_scene_is_refused(void **state)
{
    (void)state;
    run_and_kill("plain.yaml", "killed");
    struct outcome outcome =
        cli_expect(1, "sed -i 's/stiffness: 1000/stiffness: 1001/' killed/scene.yaml; "
                      "taut resume killed");
    assert_contains(outcome.err, "'killed/scene.yaml' has changed since taut wrote it");
    outcome_free(&outcome);
    fixture_remove("killed");

    // A file that it is made of has changed.
    fixture_write("tet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                             "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    fixture_write("mesh.yaml", "simulation: {dt: 0.001, duration: 200}\n"
                               "bodies: [{name: ball, type: mesh, file: tet.obj, mass: 1,\n"
                               "  springs: {edges: {stiffness: 100}}}]\n"
                               "output: {every: 0.1}\n");
    run_and_kill("mesh.yaml", "killed");
    fixture_write("tet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 2\n"
                             "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    outcome = resume(2, "", "killed");
    assert_contains(outcome.err, "is a checkpoint of another scene");
    outcome_free(&outcome);
    fixture_remove("killed");
}

// The state at the start is in no checkpoint, and its file may be gone.
static void the_initial_state_is_not_needed_again(void **state)
{
    (void)state;
    write_scene("begun.yaml", "  checkpoint: {every: 0.1}\ninitial: begin.csv\n");
    struct outcome outcome =
        cli_expect(0, "taut run --quiet --no-output --steps 30 --state begin.csv plain.yaml");
    outcome_free(&outcome);
    finish("begun.yaml", "begun");
    run_and_kill("begun.yaml", "killed");
    assert_int_equal(remove("begin.csv"), 0);
    outcome = resume(0, "", "killed");
    outcome_free(&outcome);
    assert_same_folders("begun", "killed");
    fixture_remove("begun");
    // scene.yaml, which is written again where a run is prolonged, keeps its name.
    outcome = resume(0, "--quiet --duration 1", "killed");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --quiet --no-output --steps 30 --state begin.csv plain.yaml");
    outcome_free(&outcome);
    finish("begun.yaml --duration 1", "begun");
    assert_same_folders("begun", "killed");
    fixture_remove("begun");
    fixture_remove("killed");
}

// The newest one is of another scene of the same size.
static void a_checkpoint_of_another_scene_gives_way(void **state)
{
    (void)state;
    run_and_kill("kept.yaml", "killed");
    char newest[PATH], before[PATH];
    assert_true(checkpoints_in("killed", newest, before) >= 2);
    char *line =
        text_format("taut run --quiet --output foreign --set bodies.rope.spring.damping=0.2 "
                    "kept.yaml && cp foreign/checkpoint_*.taut %s",
                    newest);
    struct outcome outcome = cli_expect(0, line);
    outcome_free(&outcome);
    free(line);
    outcome = resume(0, "", "killed");
    assert_contains(outcome.err, newest);
    assert_contains(outcome.err, "is a checkpoint of another scene; the one before is taken");
    outcome_free(&outcome);
    assert_same_folders("first", "killed");
    fixture_remove("killed");
    fixture_remove("foreign");
}

static void what_is_no_run_is_refused(void **state)
{
    (void)state;
    struct outcome outcome = resume(1, "", "nowhere");
    assert_contains(outcome.err, "'nowhere' is not the folder of a run");
    outcome_free(&outcome);
    outcome = resume(1, "", "plain.yaml");
    assert_contains(outcome.err, "'plain.yaml' is not the folder of a run");
    outcome_free(&outcome);
    // A run that was killed before manifest.json has left no more than this.
    outcome = cli_expect(1, "mkdir 'no files' && touch 'no files/.taut-0123456789abcdef.tmp' && "
                            "taut resume 'no files'");
    assert_contains(outcome.err, "'no files' is empty");
    assert_contains(outcome.err, "Begin it again with: taut run SCENE --output 'no files'");
    outcome_free(&outcome);
    outcome = cli_expect(1, "touch 'no files/other' && taut resume 'no files'");
    assert_contains(outcome.err, "'no files' is not the folder of a run");
    outcome_free(&outcome);
    fixture_remove("no files");
    outcome = cli_expect(1, "mkdir foreign && echo '{}' > foreign/manifest.json && "
                            "taut resume foreign");
    assert_contains(outcome.err, "was not written by taut");
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut resume");
    assert_contains(outcome.err, "which run? Give the path of its folder");
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut run --checkpoint-every -1 plain.yaml");
    assert_contains(outcome.err, "--checkpoint-every takes seconds, or 0 for none, not '-1'");
    outcome_free(&outcome);
    outcome = cli_expect(2, "taut run --checkpoint-every 5 --no-output plain.yaml");
    assert_contains(outcome.err, "--no-output excludes --checkpoint-every");
    outcome_free(&outcome);
}

// While a run is alive nobody else writes to its folder; once it is dead, it is free.
static void a_folder_has_one_run_at_a_time(void **state)
{
    (void)state;
    const char *const arguments[] = {"run",
                                     "--quiet",
                                     "--output",
                                     "alive",
                                     "--set",
                                     "simulation.duration=1000",
                                     "--checkpoint-every",
                                     "0.01",
                                     "plain.yaml",
                                     NULL};
    pid_t process = cli_start(arguments);
    assert_true(cli_wait_for_file(process, "alive/plain_000003.vtp"));
    // In a folder of its own: cli_start writes to the present one.
    struct outcome outcome = cli_run("taut resume alive");
    assert_int_equal(outcome.code, 1);
    assert_contains(outcome.err, "'alive' is being written by another taut");
    outcome_free(&outcome);
    outcome = cli_run("taut run --force --output alive plain.yaml");
    assert_int_equal(outcome.code, 1);
    assert_contains(outcome.err, "'alive' is being written by another taut");
    outcome_free(&outcome);
    assert_int_equal(kill(process, SIGKILL), 0);
    (void)cli_wait(process);
    outcome = cli_expect(1, "taut run --output alive plain.yaml");
    assert_contains(outcome.err, "or continue it with: taut resume alive\n");
    outcome_free(&outcome);

    // The same for a run that is continued.
    const char *const again[] = {"resume", "--quiet", "alive", NULL};
    process = cli_start(again);
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    outcome = cli_run("taut resume alive");
    assert_int_equal(outcome.code, 1);
    assert_contains(outcome.err, "'alive' is being written by another taut");
    outcome_free(&outcome);
    assert_int_equal(kill(process, SIGINT), 0);
    assert_int_equal(cli_wait(process), 1);
    outcome = cli_expect(0, "taut run --quiet --force --output alive --state alive/final.csv "
                            "plain.yaml");
    outcome_free(&outcome);
    assert_same_folders("plain", "alive");
}

// A run that was killed after its completion, while it removed its checkpoints.
static void a_run_killed_at_its_very_end_is_tidied_up(void **state)
{
    (void)state;
    struct outcome outcome =
        cli_expect(0, "cp -r plain ended && head -n -3 plain/manifest.json | "
                      "sed '$ s/$/,/' > ended/manifest.json && "
                      // one that it has removed, of the run that it continued
                      "printf '{\"name\": \"checkpoint_000000000000200.taut\", \"size\": 5, "
                      "\"checksum\": \"0123456789abcdef\"},\n' >> ended/manifest.json && "
                      "printf '{\"name\": \"checkpoint_000000000000599.taut\", \"writing\": true}' "
                      ">> ended/manifest.json && "
                      "printf '\\n],\\n\"complete\": true\\n}\\n' >> ended/manifest.json && "
                      "echo x > ended/checkpoint_000000000000599.taut && "
                      "echo x > ended/.taut-0123456789abcdef.tmp && "
                      "taut resume ended");
    assert_contains(outcome.err, "the run in 'ended' is complete");
    outcome_free(&outcome);
    assert_same_folders("plain", "ended");

    // The checkpoint that the scene keeps is listed last, though it was announced before a frame.
    finish("kept.yaml", "kept");
    outcome = cli_expect(0, "rm -r ended && cp -r kept ended && awk '{line[NR] = $0} END {"
                            " n = NR - 3; sub(/,$/, \"\", line[n - 1]);"
                            " for (i = 1; i < n - 1; i++) print line[i];"
                            " print line[n] \",\"; print line[n - 1] \",\";"
                            " print \"{\\\"name\\\": \\\"checkpoint_000000000000599.taut\\\","
                            " \\\"writing\\\": true}\";"
                            " for (i = n + 1; i <= NR; i++) print line[i]}'"
                            " kept/manifest.json > ended/manifest.json && "
                            "grep -A1 checkpoint_000000000000600 ended/manifest.json |"
                            " grep -q kept_ && "
                            "echo x > ended/checkpoint_000000000000599.taut && "
                            "taut resume ended");
    assert_contains(outcome.err, "the run in 'ended' is complete");
    outcome_free(&outcome);
    assert_same_folders("kept", "ended");
}

// Expects a refusal that names a file and leaves the folder, and the one beside it, the same.
static void assert_refused(const char *damage, const char *options, const char *reason)
{
    char *line = text_format("rm -rf damaged before && cp -r sound damaged && cd damaged && %s && "
                             "cd .. && cp -r damaged before",
                             damage);
    struct outcome outcome = cli_expect(0, line);
    outcome_free(&outcome);
    free(line);
    outcome = resume(1, options, "damaged");
    assert_contains(outcome.err, reason);
    assert_null(strstr(outcome.err, "with: taut resume"));
    outcome_free(&outcome);
    assert_same_folders("before", "damaged");
}

static void a_damaged_folder_is_left_as_it_is(void **state)
{
    (void)state;
    struct outcome outcome = cli_expect(0, "taut run --quiet --output sound kept.yaml");
    outcome_free(&outcome);
    // A finished run, also one that would be prolonged.
    assert_refused("echo hello >> energy.csv", "", "'damaged/energy.csv' has changed");
    assert_refused("rm kept_000003.vtp", "", "'damaged/kept_000003.vtp' is missing");
    assert_refused("rm rope.obj", "--duration 1", "'damaged/rope.obj' is missing");
    // An interrupted one.
    outcome = cli_expect(0, "sed -i 's/\"complete\": true/\"complete\": false/' "
                            "sound/manifest.json");
    outcome_free(&outcome);
    static const char *const files[] = {"kept_000003.vtp", "rope.obj",   "ball.pc2",
                                        "kept.pvd",        "energy.csv", "probes.csv"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *damage = text_format("rm %s", files[i]);
        char *reason = text_format("'damaged/%s' is missing: restore the file", files[i]);
        assert_refused(damage, "", reason);
        free(damage);
        free(reason);
    }
    assert_refused("truncate -s 100 kept_000003.vtp", "", "'damaged/kept_000003.vtp' has changed");
    static const struct {
        const char *file;
        int offset;
    } altered[] = {{"kept_000003.vtp", 900}, {"rope.obj", 40},    {"ball.pc2", 60},
                   {"rope.pc2", 9},          {"energy.csv", 200}, {"probes.csv", 100}};
    for (size_t i = 0; i < sizeof altered / sizeof altered[0]; i++) {
        char *damage = text_format("printf '\\1' | dd of=%s bs=1 seek=%d conv=notrunc 2>/dev/null",
                                   altered[i].file, altered[i].offset);
        char *reason = text_format("'damaged/%s' has ", altered[i].file); // been altered, changed
        assert_refused(damage, "", reason);
        free(damage);
        free(reason);
    }
    assert_refused("truncate -s 100 ball.pc2", "", "'damaged/ball.pc2' is shorter");
    assert_refused("truncate -s 100 probes.csv", "", "'damaged/probes.csv' is shorter");
    // A file of somebody else.
    assert_refused("echo mine > kept_000099.vtp", "", "kept_000099.vtp' is not a file of the run");
    // Nothing else is wrong with it.
    outcome = resume(0, "--quiet", "sound");
    outcome_free(&outcome);
}

// A frame whose name has appeared in the folder meanwhile is not written, and the file is not
// listed.
static void a_file_of_somebody_else_stays(void **state)
{
    (void)state;
    const char *const arguments[] = {
        "run", "--output", "shared", "--set", "simulation.duration=1000", "plain.yaml", NULL};
    pid_t process = cli_start(arguments);
    assert_true(cli_wait_for_file(process, "shared/plain_000001.vtp"));
    char path[PATH];
    FILE *file = NULL;
    for (int frame = 50; !file; frame += 50) {
        snprintf(path, sizeof path, "shared/plain_%06d.vtp", frame);
        file = fopen(path, "wx");
    }
    assert_true(fputs("mine", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(cli_wait(process), 1);
    struct outcome outcome = cli_run("grep -c checkpoint shared/manifest.json");
    assert_int_equal(outcome.code, 0);
    outcome_free(&outcome);
    size_t length;
    char *listed = fixture_read("shared/manifest.json", &length);
    assert_null(strstr(listed, strrchr(path, '/') + 1));
    free(listed);
    outcome = resume(1, "", "shared");
    assert_contains(outcome.err, path);
    assert_contains(outcome.err, "is not a file of the run");
    outcome_free(&outcome);
    char *mine = fixture_read(path, &length);
    assert_int_equal(length, 4);
    free(mine);
    fixture_remove("shared");
}

// ---- Full disks

// A disk that is full as far as files of more than so many blocks are concerned.
static void a_full_disk_leaves_what_can_be_continued(void **state)
{
    (void)state;
    // ball.pc2 outgrows the limit, and the checkpoint does not.
    struct outcome outcome =
        cli_run("ulimit -f 32; taut run --output full --checkpoint-every 0.001 --state "
                "full/final.csv --set output.every_steps=1 plain.yaml");
    if (outcome.code == 128 + SIGXFSZ || strstr(outcome.err, "TEST_TMPDIR"))
        skip();
    assert_int_equal(outcome.code, 1);
    assert_contains(outcome.err, "File too large");
    assert_contains(outcome.err, "taut resume full");
    outcome_free(&outcome);
    outcome = resume(0, "--quiet", "full");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --quiet --output space --state space/final.csv "
                            "--set output.every_steps=1 plain.yaml");
    outcome_free(&outcome);
    assert_same_folders("space", "full");
}

// There is no space for a frame or for a checkpoint.
static void a_disk_that_is_full_at_once_leaves_the_command(void **state)
{
    (void)state;
    struct outcome outcome = cli_run("ulimit -f 8; taut run --output none --set "
                                     "'output={every_steps: 1, pc2: true}' plain.yaml");
    if (outcome.code == 128 + SIGXFSZ || strstr(outcome.err, "TEST_TMPDIR"))
        skip();
    assert_int_equal(outcome.code, 1);
    assert_contains(outcome.err, "warning: no checkpoint at step");
    assert_contains(outcome.err, "there is no checkpoint; begin it again with: taut resume none");
    outcome_free(&outcome);
    outcome = resume(0, "--quiet", "none");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --quiet --output room --set "
                            "'output={every_steps: 1, pc2: true}' plain.yaml");
    outcome_free(&outcome);
    assert_same_folders("room", "none");
}

// A signal comes while a checkpoint is being written, as one is nearly always here.
static void a_signal_may_come_while_a_checkpoint_is_written(void **state)
{
    (void)state;
    fixture_write("large.yaml",
                  "simulation: {dt: 0.0001, duration: 0.02}\n"
                  "bodies: [{name: jelly, type: lattice, nodes: [40, 40, 40], spacing: 0.01,\n"
                  "  mass: 1, spring: {stiffness: 100}}]\n"
                  "output: {every: 0.004}\n");
    struct outcome outcome = cli_expect(0, "taut run --quiet --output jelly large.yaml");
    outcome_free(&outcome);
    for (int k = 0; k < 3; k++) {
        const char *const arguments[] = {
            "run",  "--output",   "signalled", "--quiet", "--checkpoint-every",
            "1e-6", "large.yaml", NULL};
        pid_t process = cli_start(arguments);
        assert_true(cli_wait_for_file(process, "signalled/energy.csv"));
        nanosleep(&(struct timespec){.tv_nsec = 50000000 * (k + 1)}, NULL);
        (void)kill(process, SIGINT);
        const int code = cli_wait(process);
        assert_true(code == 0 || code == 1);
        char newest[PATH], before[PATH];
        if (code == 1)
            assert_true(checkpoints_in("signalled", newest, before) >= 1);
        assert_false(fixture_has_temporary("signalled"));
        outcome = resume(0, "--quiet", "signalled");
        outcome_free(&outcome);
        assert_same_folders("jelly", "signalled");
        fixture_remove("signalled");
    }
}

// A folder in which nothing can be written is left as it is. Root may write anywhere, and runs it
// as nobody.
static void a_folder_that_cannot_be_written_is_refused(void **state)
{
    (void)state;
    const char *as_nobody = "";
    if (geteuid() == 0) {
        as_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
        char *line = text_format("%s" TAUT_BINARY " --version", as_nobody);
        struct outcome can = cli_run(line);
        free(line);
        const int code = can.code;
        outcome_free(&can);
        if (code != 0) {
            print_message("root cannot run taut as nobody here\n");
            skip();
        }
    }
    run_and_kill("plain.yaml", "locked");
    char *line = text_format("chmod -R a-w locked; %s" TAUT_BINARY " resume locked; r=$?; "
                             "chmod -R u+w locked; exit $r",
                             as_nobody);
    struct outcome outcome = cli_run(line);
    free(line);
    assert_int_equal(outcome.code, 1);
    assert_contains(outcome.err, "Permission denied");
    outcome_free(&outcome);
    outcome = resume(0, "--quiet", "locked");
    outcome_free(&outcome);
    assert_same_folders("plain", "locked");
}

// Checkpoints that cannot be written do not end a run.
static void a_disk_without_room_for_checkpoints_does_not_end_a_run(void **state)
{
    (void)state;
    struct outcome outcome =
        cli_run("ulimit -f 6; taut run --output small --checkpoint-every 0.001 --duration 20 "
                "--set 'output={every: 10}' plain.yaml");
    assert_int_equal(outcome.code, 0);
    assert_contains(outcome.err, "warning: no checkpoint at step");
    assert_contains(outcome.err, "File too large");
    outcome_free(&outcome);
    char newest[PATH], before[PATH];
    assert_int_equal(checkpoints_in("small", newest, before), 0);
}

int main(void)
{
    // Runs inherit it; under nohup it is ignored, and taut would continue.
    (void)signal(SIGHUP, SIG_DFL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_run_ends_as_if_nothing_had_been),
        cmocka_unit_test(nothing_is_left_of_checkpoints_that_no_scene_asks_for),
        cmocka_unit_test(a_signal_leaves_a_checkpoint_and_the_command),
        cmocka_unit_test(printed_commands_are_quoted),
        cmocka_unit_test(the_summary_is_the_same_but_for_times),
        cmocka_unit_test(a_run_is_prolonged),
        cmocka_unit_test(a_run_with_contact_is_prolonged),
        cmocka_unit_test(a_run_without_a_checkpoint_begins_again),
        cmocka_unit_test(the_end_is_kept_without_other_checkpoints),
        cmocka_unit_test(options_of_a_run_that_begins_again_are_kept),
        cmocka_unit_test(a_folder_without_its_first_files_is_replaced),
        cmocka_unit_test(a_manifest_without_its_last_lines_is_enough),
        cmocka_unit_test(a_damaged_checkpoint_is_replaced_by_the_previous_one),
        cmocka_unit_test(another_scene_is_refused),
        cmocka_unit_test(the_initial_state_is_not_needed_again),
        cmocka_unit_test(a_checkpoint_of_another_scene_gives_way),
        cmocka_unit_test(what_is_no_run_is_refused),
        cmocka_unit_test(a_folder_has_one_run_at_a_time),
        cmocka_unit_test(a_run_killed_at_its_very_end_is_tidied_up),
        cmocka_unit_test(a_damaged_folder_is_left_as_it_is),
        cmocka_unit_test(a_file_of_somebody_else_stays),
        cmocka_unit_test(a_full_disk_leaves_what_can_be_continued),
        cmocka_unit_test(a_disk_that_is_full_at_once_leaves_the_command),
        cmocka_unit_test(a_signal_may_come_while_a_checkpoint_is_written),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_refused),
        cmocka_unit_test(a_disk_without_room_for_checkpoints_does_not_end_a_run),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
