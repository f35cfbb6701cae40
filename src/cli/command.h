// The commands of `taut`, each in the file named after it.
#ifndef TAUT_CLI_COMMAND_H
#define TAUT_CLI_COMMAND_H

#include "cli/options.h"

// Which options a command takes: one bit each.
enum command_kind {
    COMMAND_READS = 1,      // describes a scene
    COMMAND_SIMULATES = 2,  // runs a scene
    COMMAND_EXTERNAL = 4,   // starts another program, which parses its own options
    COMMAND_STUDIES = 8,    // runs a scene with all integrators, in double precision
    COMMAND_DRAWS = 16,     // draws a scene or a finished run
    COMMAND_VIEWS = 32,     // shows a scene in a window
    COMMAND_RESUMES = 64,   // continues a run
    COMMAND_COMPARES = 128, // compares the surfaces of a scene or a finished run
    COMMAND_PLANS = 256     // describes a scene and how it is computed
};

struct command {
    const char *name;
    const char *does;    // description: one sentence, no full stop
    const char *operand; // "SCENE" or "RUN"; NULL: none
    enum command_kind kind;
    int (*run)(const struct options *options); // returns the exit code
    // For external commands, instead of run: argv[0] is the name of the command.
    int (*execute)(int argc, char **argv);
};

extern const struct command check_command, check_intersections_command, info_command, run_command,
    resume_command, bench_command, stability_command, render_command, view_command;

// The commands of graphics.c, which a build may lack.
int render_command_run(const struct options *options);
int view_command_run(const struct options *options);

#endif
