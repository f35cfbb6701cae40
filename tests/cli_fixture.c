// Runs the built program and collects its output (cli_fixture.h).
#include "test.h"

#include "cli_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

void cli_enter(const char *name)
{
    const char *folder = fixture_folder(name);
    assert_int_equal(chdir(folder), 0);
}

void cli_write_hanging(void)
{
    fixture_write("hanging.yaml",
                  "title: A rope and a cloth\n"
                  "simulation: {dt: 0.001, duration: 0.1}\n"
                  "environment: {gravity: [0, -9.81, 0], air_drag: 0.001}\n"
                  "bodies:\n"
                  "  - {name: rope, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 20,\n"
                  "     node_mass: 0.05, spring: {stiffness: 1000, damping: 0.1}, pins: [first]}\n"
                  "  - {name: cloth, type: cloth, origin: [0, 2, 0], u: [1, 0, 0], v: [0, -1, 0],\n"
                  "     nodes: [12, 9], mass: 0.2, pins: [top],\n"
                  "     springs: {structural: {stiffness: 40, damping: 0.01},\n"
                  "               shear: {stiffness: 20, damping: 0.01}}}\n"
                  "output:\n"
                  "  every: 0.02\n"
                  "  vtp: true\n"
                  "  pc2: true\n"
                  "  probes: [{body: rope, node: last}, {body: cloth, node: 5, every_steps: 7}]\n");
}

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct outcome cli_run(const char *command)
{
    size_t length;
    char *line =
        text_format("taut() { '%s' \"$@\"; }; { %s ; } >out.txt 2>err.txt", TAUT_BINARY, command);
    assert_non_null(line);
    int status = system(line); // NOLINT(cert-env33-c): runs this project's program
    free(line);
    assert_int_not_equal(status, -1);
    struct outcome outcome = {.code = code_of(status)};
    outcome.out = fixture_read("out.txt", &length);
    outcome.err = fixture_read("err.txt", &length);
    return outcome;
}

struct outcome cli_expect(int code, const char *command)
{
    struct outcome outcome = cli_run(command);
    if (outcome.code != code)
        print_message("%s\nexit code %d, not %d; it printed\n%s%s\n", command, outcome.code, code,
                      outcome.out, outcome.err);
    assert_int_equal(outcome.code, code);
    return outcome;
}

void outcome_free(struct outcome *outcome)
{
    free(outcome->out);
    free(outcome->err);
}

pid_t cli_start(const char *const *arguments)
{
    enum { ARGUMENTS_MAX = 20 };
    char *argv[ARGUMENTS_MAX + 2] = {"taut"};
    for (size_t i = 0; arguments[i]; i++) {
        assert_true(i < ARGUMENTS_MAX);
        argv[i + 1] = text_format("%s", arguments[i]);
    }
    pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        // If the test fails, it must not leave a process that runs for ever.
        setrlimit(RLIMIT_CPU, &(struct rlimit){300, 300});
        if (!freopen("out.txt", "w", stdout) || !freopen("err.txt", "w", stderr))
            _exit(126);
        execv(TAUT_BINARY, argv);
        _exit(127);
    }
    for (size_t i = 1; argv[i]; i++)
        free(argv[i]);
    return process;
}

bool cli_wait_for_file(pid_t process, const char *path)
{
    enum { TRIES = 3000 }; // of 20 ms: a minute, for the slowest sanitizer
    for (int i = 0; i < TRIES; i++) {
        if (fixture_exists(path))
            return true;
        if (waitpid(process, NULL, WNOHANG) != 0)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return false;
}

int cli_wait(pid_t process)
{
    int status;
    assert_int_equal(waitpid(process, &status, 0), process);
    return code_of(status);
}

bool cli_has_python(void)
{
    int code;
    free(fixture_run("python3 -c 'import json'", &code));
    if (code != 0)
        print_message("python3 is absent: JSON is not parsed\n");
    return code == 0;
}

void cli_assert_json(const char *json, const char *program)
{
    fixture_write("d.json", json);
    char *text = text_format("import json\n"
                             "def never(x): raise ValueError(x)\n"
                             "d = json.load(open('d.json'), parse_constant=never)\n%s\n",
                             program);
    assert_non_null(text);
    fixture_write("d.py", text);
    free(text);
    int code;
    char *output = fixture_run("python3 d.py 2>&1", &code);
    if (code != 0)
        print_message("%s\n%s\n", output, json);
    free(output);
    assert_int_equal(code, 0);
}

size_t cli_count_lines(const char *path)
{
    size_t length, lines = 0;
    char *text = fixture_read(path, &length);
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}
