// The stages of a step and the clock that tells what each took, as worker 0 saw it.
#ifndef TAUT_STATE_STAGE_H
#define TAUT_STATE_STAGE_H

#include "base/os.h"
#include "parallel/team.h"

enum stage {
    STAGE_GRAVITY_DRAG,
    STAGE_SPRINGS,
    STAGE_WIND,
    STAGE_PRESSURE,
    STAGE_COLLIDERS,
    STAGE_INTEGRATE,
    STAGE_SOLVE,
    STAGE_MOTIONS,
    STAGE_WORK,
    STAGE_CHECK,
    STAGE_COUNT
};

// "gravity_drag", "springs", ...
const char *stage_name(enum stage stage);

struct stage_clock {
    double last;
    double seconds[STAGE_COUNT];
};

static inline void stage_clock_start(struct stage_clock *clock, const struct worker *worker)
{
    if (worker->index == 0)
        clock->last = clock_seconds();
}

// Gives the time since the last end to `stage`, where nobody has to wait.
static inline void stage_count(struct stage_clock *clock, enum stage stage,
                               const struct worker *worker)
{
    if (worker->index != 0)
        return;
    double now = clock_seconds();
    clock->seconds[stage] += now - clock->last;
    clock->last = now;
}

// Ends a stage: waits for all workers first.
static inline void stage_end(struct stage_clock *clock, enum stage stage,
                             const struct worker *worker)
{
    worker_barrier(worker);
    stage_count(clock, stage, worker);
}

#endif
