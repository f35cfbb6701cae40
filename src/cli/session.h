// The start of every command: the scene is read, its findings are printed, the solver is created.
#ifndef TAUT_CLI_SESSION_H
#define TAUT_CLI_SESSION_H

#include <stdio.h>

#include "cli/command.h"
#include "solver/solver.h"

struct session {
    taut_scene *scene;
    taut_solver *solver;
    struct diagnostics findings;
    double seconds; // wall time for reading and creating
    struct solver_options wanted;
    FILE *checkpoint; // from which a solver that waits for the other ranks continues
};

// Bytes that a command needs in addition to the solver of a scene.
typedef double (*extra_memory_function)(const struct options *options, const taut_scene *scene);

// `extra` may be NULL if the command needs little. Returns EXIT_CODE_DONE, or the exit code after
// printing what is wrong. Call session_close in either case.
int session_open(const struct options *options, extra_memory_function extra,
                 struct session *session);

// The same for a command that divides the solver among ranks, and calls session_share next, on all
// ranks, if all have opened it. Where ranks hold only their parts of the scene, rank 0 alone then
// has what was found at the start, and its exit code may differ from those of the others. *shared:
// whether the solver was divided, so that ranks other than 0 must serve it, also where something
// has failed.
int session_open_shared(const struct options *options, extra_memory_function extra,
                        struct session *session);
int session_share(const struct options *options, struct session *session, bool *shared);

// The number of threads of a command that uses no solver for its work: as given, up to what the
// machine can keep busy, or the default.
taut_status session_threads(const struct options *options, int *threads, taut_error *error);

// Prints the findings of a scene: errors always, warnings and notes unless `quiet`.
void print_findings(const struct diagnostics *findings, bool quiet);

// The builder number of a probe's node.
uint64_t probe_node(const taut_solver *solver, const struct scene_probe *probe);

void session_close(struct session *session);

#endif
