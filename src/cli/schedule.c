// Determines when a run stops between steps: for output (schedule), and for signals and progress
// (batch). Writing the output is left to run.c.
#include "cli/schedule.h"

#include <math.h>

// Rows of the energy table if the scene does not specify them.
enum { DEFAULT_FRAMES = 100 };

struct schedule schedule_make(const taut_scene *scene, const taut_solver *solver)
{
    const struct scene_output *output = &scene->output;
    struct schedule schedule = {
        .solver = solver,
        .frame_steps = output->every_steps,
        .frame_count = 1,
        .checkpoint_seconds = output->checkpoint_every,
        .probes = output->probes,
        .probe_count = output->probe_count,
    };

    bool by_time = output->has_every && output->every_steps == 0;
    if (by_time)
        schedule.frame_seconds = output->every;
    else if (schedule.frame_steps == 0 && solver_dt_rule(solver)->automatic &&
             solver_dt_rule(solver)->duration > 0)
        schedule.frame_seconds = solver_dt_rule(solver)->duration / DEFAULT_FRAMES;

    // Frames cannot be more frequent than steps.
    if (schedule.frame_seconds > taut_solver_dt(solver))
        return schedule;

    // Otherwise a whole number of steps.
    if (by_time)
        schedule.frame_steps = 1;
    if (schedule.frame_steps == 0)
        schedule.frame_steps = taut_solver_steps_planned(solver) / DEFAULT_FRAMES;
    if (schedule.frame_steps == 0)
        schedule.frame_steps = 1;
    schedule.frame_seconds = (double)schedule.frame_steps * taut_solver_dt(solver);
    return schedule;
}

static uint64_t next_multiple(uint64_t step, uint64_t interval)
{
    uint64_t due = step / interval + 1;
    return due > UINT64_MAX / interval ? UINT64_MAX : due * interval;
}

// The first step after `step` that is nearest to a multiple of `interval` (s), counted from
// *number on; *number becomes that multiple's.
static uint64_t next_by_time(const struct schedule *schedule, double interval, uint64_t step,
                             uint64_t *number)
{
    const double most = 1e18;
    double due;
    for (;; ++*number) {
        due = solver_steps_until(schedule->solver, (double)*number * interval);
        if (due > (double)step)
            break;
    }
    return due < most ? (uint64_t)due : UINT64_MAX;
}

uint64_t schedule_frame_due(struct schedule *schedule, uint64_t step)
{
    return schedule->frame_steps > 0
               ? next_multiple(step, schedule->frame_steps)
               : next_by_time(schedule, schedule->frame_seconds, step, &schedule->frame_count);
}

uint64_t schedule_next_frame(struct schedule *schedule, uint64_t step)
{
    const uint64_t due = schedule_frame_due(schedule, step);
    const uint64_t planned = taut_solver_steps_planned(schedule->solver);
    return due < planned ? due : planned;
}

uint64_t schedule_next_checkpoint(const struct schedule *schedule, uint64_t step)
{
    if (!(schedule->checkpoint_seconds > 0))
        return UINT64_MAX;
    const double passed = solver_time_of(schedule->solver, step) / schedule->checkpoint_seconds;
    uint64_t number = passed > 2 && passed < 1e15 ? (uint64_t)passed - 1 : 1;
    return next_by_time(schedule, schedule->checkpoint_seconds, step, &number);
}

uint64_t schedule_next_probe(const struct schedule *schedule, uint64_t step)
{
    uint64_t nearest = UINT64_MAX;
    for (size_t i = 0; i < schedule->probe_count; i++) {
        uint64_t interval = schedule->probes[i].every_steps;
        uint64_t due = next_multiple(step, interval > 0 ? interval : 1);
        if (due < nearest)
            nearest = due;
    }
    return nearest;
}

// ---- Batches

static const double BATCH_SECONDS = 0.075;

struct batch batch_make(void)
{
    return (struct batch){.steps = 1};
}

uint64_t batch_steps(const struct batch *batch, uint64_t remaining)
{
    return remaining < batch->steps ? remaining : batch->steps;
}

void batch_update(struct batch *batch, uint64_t steps, double elapsed)
{
    double each = elapsed / (double)steps;
    batch->step_seconds = batch->step_seconds > 0 ? (3 * batch->step_seconds + each) / 4 : each;
    double fitting = BATCH_SECONDS / (batch->step_seconds + 1e-9);
    // At most doubled at once, since the first steps after a pause may have been quick.
    double limit = 2 * (double)batch->steps;
    batch->steps = (uint64_t)(fitting < 1 ? 1 : fitting < limit ? fitting : limit);
}
