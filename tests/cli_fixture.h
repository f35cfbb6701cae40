// Runs the built `taut` as a user does, in a folder of its own, and keeps what it said.
#ifndef TAUT_TESTS_CLI_FIXTURE_H
#define TAUT_TESTS_CLI_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "output_fixture.h"

struct outcome {
    int code; // exit code; 128 + signal if one killed it
    char *out, *err;
};

// Makes TAUT_TEST_OUT/name again and goes there; all below happens in it. Asserts.
void cli_enter(const char *name);

// A scene of a hanging rope and a small cloth that fall; hanging.yaml, written into the folder.
void cli_write_hanging(void);

// `command` is a line of the shell in which "taut" is the built program. Free with outcome_free.
struct outcome cli_run(const char *command);

// The same, with an assertion on the exit code; what was said is printed if it is another.
struct outcome cli_expect(int code, const char *command);

void outcome_free(struct outcome *outcome);

// Starts taut with the arguments of a list that NULL ends (the program's name not among them), its
// output in out.txt and err.txt.
pid_t cli_start(const char *const *arguments);

// Waits for a file to exist, as long as the process lives.
bool cli_wait_for_file(pid_t process, const char *path);

// Waits for the end; the exit code as in struct outcome.
int cli_wait(pid_t process);

// False, after saying so, if there is no python3.
bool cli_has_python(void);

// Runs a Python program with the JSON text as `d`; asserts that it succeeds.
void cli_assert_json(const char *json, const char *program);

// Asserts that `part` is in the text; prints both if it is not.
void assert_says(const char *text, const char *part);

// How many lines of the file there are.
size_t cli_count_lines(const char *path);

#endif
