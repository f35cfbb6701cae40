// What `taut info` found out, gathered once and printed as a table or as JSON.
#ifndef TAUT_CLI_INFO_H
#define TAUT_CLI_INFO_H

#include "cli/body_plan.h"
#include "cli/session.h"

struct info {
    const struct options *options;
    const taut_scene *scene;
    const taut_solver *solver;
    struct body_plan *plans; // one a body
    struct critical_step critical;
    size_t critical_body; // the body of critical.node, where something oscillates
    uint64_t bytes;
};

// The largest undamped step of an integrator in this scene, s; NAN where there is none, or where
// nothing oscillates.
double info_critical_dt(const struct info *info, enum integrator integrator);

void info_print_table(const struct info *info);
void info_print_json(const struct info *info);

#endif
