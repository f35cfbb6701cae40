// Runs the built `taut` as a user does, in a folder of its own, and collects its output.
#ifndef TAUT_TESTS_CLI_FIXTURE_H
#define TAUT_TESTS_CLI_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "output_fixture.h"

struct outcome {
    int code; // exit code; 128 + signal if one killed it
    char *out, *err;
};

// Creates TAUT_TEST_OUT/name again and changes to it; the following functions work in it. Asserts.
void cli_enter(const char *name);

// Writes hanging.yaml into the folder: a hanging rope and a small cloth that fall.
void cli_write_hanging(void);

// `command` is a shell command in which "taut" is the built program. Free with outcome_free.
struct outcome cli_run(const char *command);

// The same, with an assertion on the exit code; the output is printed if it differs.
struct outcome cli_expect(int code, const char *command);

void outcome_free(struct outcome *outcome);

// Starts taut with a list of arguments that ends with NULL (without the program's name), its output
// in out.txt and err.txt.
pid_t cli_start(const char *const *arguments);

// Waits until a file exists, or the process has ended.
bool cli_wait_for_file(pid_t process, const char *path);

// Waits for the end of the process; returns its exit code as in struct outcome.
int cli_wait(pid_t process);

// False, with a message, if there is no python3.
bool cli_has_python(void);

// Runs a Python program with the JSON text as `d`; asserts that it succeeds.
void cli_assert_json(const char *json, const char *program);

// The number of lines of a file.
size_t cli_count_lines(const char *path);

#endif
