// One command of `taut`, and what its options said.
#ifndef TAUT_CLI_COMMAND_H
#define TAUT_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/render_wish.h"
#include "study/study.h"
#include "taut.h"

// The most numbers of threads that one `bench` compares.
enum { BENCH_THREADS_MAX = 16 };

struct options {
    const char *scene; // path of the scene file
    char **overrides;  // PATH=VALUE, in the order they were given
    size_t override_count;
    int threads; // 0: chosen
    taut_kernel kernel;
    taut_isa isa;
    bool no_pin;
    bool double_precision; // asked for by name; among the overrides too
    bool strict;           // warnings are errors
    bool json, quiet;
    // Of `run`, `stability` and `render`.
    bool force;
    const char *output; // NULL: out/SCENE-NAME, and what else the command adds
    // Of `run` alone.
    const char *state; // NULL: none
    bool no_output, hash;
    // Of `bench` alone.
    bool full;          // the extra scenes too, and double precision
    const char *scenes; // names parted by commas; NULL: all
    double seconds;     // 0: chosen
    int thread_counts[BENCH_THREADS_MAX];
    int thread_counts_given; // 0: 1 and all cores
    // Of `stability` alone.
    const char *integrators; // names parted by commas; NULL: all
    enum study_map_kind map;
    double budget;             // s
    struct render_wish render; // size, colours and the like of `view` too
    // Of `view` alone.
    bool paused, fast;
    const char *screenshot, *report; // NULL: none
};

// Which options a command takes: a bit each.
enum command_kind {
    COMMAND_READS = 1,     // of a scene
    COMMAND_SIMULATES = 2, // a scene
    COMMAND_MEASURES = 4,  // scenes of its own
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
};

extern const struct command check_command, info_command, run_command, bench_command,
    stability_command, render_command, view_command;

// Of the commands in graphics.c, which a build may have or lack.
int render_command_run(const struct options *options);
int view_command_run(const struct options *options);

#endif
