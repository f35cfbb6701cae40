// The commands of `taut`, each in a file of its name.
#ifndef TAUT_CLI_COMMAND_H
#define TAUT_CLI_COMMAND_H

#include "cli/options.h"

// Which options a command takes: a bit each.
enum command_kind {
    COMMAND_READS = 1,     // of a scene
    COMMAND_SIMULATES = 2, // a scene
    COMMAND_EXTERNAL = 4,  // another program, which reads its own options
    COMMAND_STUDIES = 8,   // a scene, in double precision
    COMMAND_DRAWS = 16,    // a scene, or a finished run
    COMMAND_VIEWS = 32     // a scene, in a window
};

struct command {
    const char *name;
    const char *does;    // one sentence, no full stop
    const char *operand; // "SCENE"; NULL: it takes none
    enum command_kind kind;
    int (*run)(const struct options *options); // returns the exit code
    // Of an external command, in place of run: argv[0] is its name.
    int (*execute)(int argc, char **argv);
};

extern const struct command check_command, info_command, run_command, bench_command,
    stability_command, render_command, view_command;

// Of the commands in graphics.c, which a build may have or lack.
int render_command_run(const struct options *options);
int view_command_run(const struct options *options);

#endif
