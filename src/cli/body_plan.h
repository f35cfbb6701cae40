// How the springs of each body were cut for threads: the plan (plan/plan.h) is over all bodies.
#ifndef TAUT_CLI_BODY_PLAN_H
#define TAUT_CLI_BODY_PLAN_H

#include "solver.h"

struct body_plan {
    uint64_t tiles; // parts that threads share out
    int colours;    // groups of tiles of which no two run at once; 0 without springs
    // Of packed springs: lanes of its nodes in columns, those of them that have a spring, and ends
    // of springs that found no column.
    uint64_t lanes, filled, late;
};

// One for each body; the caller frees it. NULL without memory.
struct body_plan *body_plans_make(const taut_solver *solver);

#endif
