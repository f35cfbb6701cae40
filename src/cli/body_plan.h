// How the springs of each body were cut for threads: the plan (plan/plan.h) is over all bodies.
#ifndef TAUT_CLI_BODY_PLAN_H
#define TAUT_CLI_BODY_PLAN_H

#include "solver.h"

struct body_plan {
    uint64_t tiles;  // blocks that hold springs of the body
    int colours;     // that those blocks have
    uint64_t serial; // those of them that no colour was free for
};

// One for each body; the caller frees it. NULL without memory.
struct body_plan *body_plans_make(const taut_solver *solver);

#endif
