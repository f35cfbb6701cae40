// What `taut info` found out, gathered once and printed as a table or as JSON.
#ifndef TAUT_CLI_INFO_H
#define TAUT_CLI_INFO_H

#include "cli/body_plan.h"
#include "cli/session.h"

struct info {
    const struct options *options;
    const taut_scene *scene;
    taut_solver *solver;
    struct body_plan *plans; // one a body
    struct critical_step critical;
    size_t critical_body; // the body of critical.node, where something oscillates
    uint64_t bytes;
};

void info_print_table(const struct info *info);
void info_print_json(const struct info *info);

// Whether an integrator without a limit from springs may still have one from forces that it takes
// explicitly: xpbd from gas and from a wind that sees how fast nodes are.
bool info_has_explicit_forces(const struct info *info, enum integrator integrator);

#endif
