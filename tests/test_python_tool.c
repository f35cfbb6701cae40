// Python tools: they are found and started with the files that they may write; a tool that fails,
// hangs, or lacks a package is ended and reported. test_report.py checks the figures of
// taut_report.
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/text.h"
#include "cli/python_tool.h"
#include "output_fixture.h"

static const char *folder;

// Runs a shell script in place of Python, with the arguments "-B", the name of the tool, "word" and
// the number of a descriptor.
static taut_status run_script(const char *script, struct python_tool tool, int descriptor,
                              taut_error *error)
{
    const char *path = fixture_path(folder, "python");
    fixture_write(path, script);
    char *command = text_format("chmod +x '%s'", path);
    char *number = text_format("%d", descriptor);
    assert_true(command && number);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
    assert_int_equal(setenv("TAUT_PYTHON", path, 1), 0);
    const char *arguments[] = {"word", number, NULL};
    tool.script = "tool";
    tool.package = "python3-matplotlib";
    tool.arguments = arguments;
    tool.descriptors = &descriptor;
    tool.descriptor_count = 1;
    if (tool.seconds_max == 0)
        tool.seconds_max = 60;
    taut_status status = python_tool_run(&tool, error);
    assert_int_equal(unsetenv("TAUT_PYTHON"), 0);
    free(command);
    free(number);
    return status;
}

static int open_file(const char *name)
{
    int descriptor =
        open(fixture_path(folder, name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, (mode_t)0600);
    assert_true(descriptor > 2);
    return descriptor;
}

static void a_tool_writes_to_the_descriptor_passed_to_it(void **state)
{
    (void)state;
    taut_error error = {0};
    int descriptor = open_file("given");
    taut_status status = run_script("#!/bin/sh\n"
                                    "echo \"$1 $2 $3\" > /proc/$$/fd/$4\n"
                                    "echo to nobody\n"
                                    "cat >> /proc/$$/fd/$4\n",
                                    (struct python_tool){0}, descriptor, &error);
    assert_int_equal(status, TAUT_OK);
    char found[64] = "";
    assert_true(pread(descriptor, found, sizeof found - 1, 0) > 0);
    assert_string_equal(found, "-B tool word\n"); // and its input is empty
    assert_true((fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
    assert_int_equal(close(descriptor), 0);
}

static void errors_of_a_tool_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *script, *message;
    } cases[] = {
        {"#!/bin/sh\necho first >&2; echo 'the disk is full' >&2; echo >&2; exit 1\n",
         "the disk is full"},
        {"#!/bin/sh\nseq 100000 >&2; echo last >&2; exit 1\n", "last"},
        {"#!/bin/sh\nexit 1\n", "it printed no reason"},
        {"#!/bin/sh\nkill -SEGV $$\n", "the tool was killed"},
        {"#!/bin/sh\necho 'no module' >&2; exit 3\n",
         "the package python3-matplotlib is missing (no module)"},
        {"#!/nowhere/sh\n",
         "python3 is missing: install the packages python3 and python3-matplotlib, or set "
         "TAUT_PYTHON"},
    };
    int descriptor = open_file("given");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        taut_error error = {0};
        assert_int_equal(run_script(cases[i].script, (struct python_tool){0}, descriptor, &error),
                         TAUT_ERROR_IO);
        assert_string_equal(error.text, cases[i].message);
    }
    assert_int_equal(close(descriptor), 0);
}

static bool after_some_calls(void *context)
{
    return ++*(int *)context > 2;
}

// A tool that hangs is ended with all processes that it has started.
static void a_tool_that_hangs_is_ended(void **state)
{
    (void)state;
    static const char script[] = "#!/bin/sh\nsleep 1000 & echo $! > /proc/$$/fd/$4\nwait\n";
    double begun = clock_seconds();
    int descriptor = open_file("late"), calls = 0;
    taut_error error = {0};
    assert_int_equal(
        run_script(script, (struct python_tool){.seconds_max = 1.5}, descriptor, &error),
        TAUT_ERROR_IO);
    assert_string_equal(error.text, "the tool did not end within 1.5 s");
    assert_int_equal(run_script(script,
                                (struct python_tool){.stop = after_some_calls, .context = &calls},
                                descriptor, &error),
                     TAUT_ERROR_IO);
    assert_string_equal(error.text, "it was interrupted");
    assert_true(clock_seconds() - begun < 60);
    char number[32] = "";
    assert_true(pread(descriptor, number, sizeof number - 1, 0) > 0);
    const long child = strtol(number, NULL, 10);
    assert_true(child > 0);
    // The grandchild is gone, or a zombie that init has not yet reaped; polled for a while, since
    // signals arrive later on a busy machine.
    char *command = text_format("for i in $(seq 200); do if ! kill -0 %ld 2>/dev/null || grep -q "
                                "'^State:.Z' /proc/%ld/status; then exit 0; fi; sleep 0.05; done; "
                                "exit 1",
                                child, child);
    assert_non_null(command);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
    free(command);
    assert_int_equal(close(descriptor), 0);
}

static void no_tool_starts_without_memory(void **state)
{
    (void)state;
    taut_error error = {0};
    int descriptor = open_file("given");
    assert_int_equal(setenv("TAUT_MEMORY_LIMIT", "100M", 1), 0);
    assert_int_equal(run_script("#!/bin/sh\necho begun > /proc/$$/fd/$4\n",
                                (struct python_tool){.bytes_min = 250e6}, descriptor, &error),
                     TAUT_ERROR_MEMORY);
    assert_int_equal(unsetenv("TAUT_MEMORY_LIMIT"), 0);
    assert_string_equal(error.text, "not enough memory: it needs 250 MB");
    assert_int_equal(lseek(descriptor, 0, SEEK_END), 0);
    assert_int_equal(close(descriptor), 0);
}

static void a_tool_that_is_absent_is_reported(void **state)
{
    (void)state;
    taut_error error = {0};
    assert_null(python_tool_find("absent", &error));
    assert_non_null(strstr(error.text, "the tool 'absent' is neither in "));
}

static int enter(void **state)
{
    (void)state;
    folder = strdup(fixture_folder("python_tool"));
    return folder ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_writes_to_the_descriptor_passed_to_it),
        cmocka_unit_test(errors_of_a_tool_are_reported),
        cmocka_unit_test(a_tool_that_hangs_is_ended),
        cmocka_unit_test(no_tool_starts_without_memory),
        cmocka_unit_test(a_tool_that_is_absent_is_reported),
    };
    return cmocka_run_group_tests_name("python_tool", tests, enter, NULL);
}
