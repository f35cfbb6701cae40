// What every command begins with: the scene read, its findings printed, the solver made.
#ifndef TAUT_CLI_SESSION_H
#define TAUT_CLI_SESSION_H

#include "cli/command.h"
#include "solver/solver.h"

struct session {
    taut_scene *scene;
    taut_solver *solver;
    struct diagnostics findings;
    double seconds; // what reading and making took
};

// Bytes that a command is going to hold beside the solver of a scene.
typedef double (*memory_beside)(const struct options *options, const taut_scene *scene);

// `beside` may be NULL: nothing to speak of. Returns EXIT_CODE_DONE, or the exit code after
// printing what is wrong. session_close after either.
int session_open(const struct options *options, memory_beside beside, struct session *session);

// Prints what was found in a scene: errors always, warnings and notes unless all is to be quiet.
void print_findings(const struct diagnostics *findings, bool quiet);

// The builder number of a probe's node.
uint64_t probe_node(const taut_solver *solver, const struct scene_probe *probe);

void session_close(struct session *session);

#endif
