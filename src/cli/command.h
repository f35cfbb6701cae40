// One command of `taut`, and what its options said.
#ifndef TAUT_CLI_COMMAND_H
#define TAUT_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "taut.h"

struct options {
    const char *scene; // path of the scene file
    char **overrides;  // PATH=VALUE, in the order they were given
    size_t override_count;
    int threads; // 0: chosen
    taut_kernel kernel;
    taut_isa isa;
    bool json, quiet;
    // Of `run` alone.
    const char *output; // NULL: out/SCENE-NAME
    bool force, no_output, hash;
    const char *state; // NULL: none
};

struct command {
    const char *name;
    const char *does;                          // one sentence, no full stop
    bool simulates;                            // takes the options of `run`
    int (*run)(const struct options *options); // returns the exit code
};

extern const struct command check_command, info_command, run_command;

#endif
