#include "cli/schedule.h"

#include <math.h>

// Rows of the energy table where the scene does not say how many.
enum { DEFAULT_FRAMES = 100 };

struct schedule schedule_make(const taut_scene *scene, const taut_solver *solver)
{
    const struct scene_output *output = &scene->output;
    struct schedule schedule = {
        .steps_planned = solver->steps_planned,
        .frame_steps = output->every_steps,
        .probes = output->probes,
        .probe_count = output->probe_count,
    };
    if (schedule.frame_steps == 0 && output->has_every) {
        schedule.frame_ratio = output->every / solver->dt;
        schedule.frame_seconds = output->every;
        if (schedule.frame_ratio > 1)
            return schedule;
        schedule.frame_steps = 1; // more often than every step there is nothing to see
    }
    if (schedule.frame_steps == 0)
        schedule.frame_steps = solver->steps_planned / DEFAULT_FRAMES;
    if (schedule.frame_steps == 0)
        schedule.frame_steps = 1;
    schedule.frame_seconds = (double)schedule.frame_steps * solver->dt;
    return schedule;
}

static uint64_t next_multiple(uint64_t step, uint64_t interval)
{
    uint64_t due = step / interval + 1;
    return due > UINT64_MAX / interval ? UINT64_MAX : due * interval;
}

static uint64_t next_rounded(struct schedule *schedule, uint64_t step)
{
    double due;
    do {
        schedule->frame_count++;
        due = round((double)schedule->frame_count * schedule->frame_ratio);
    } while (due <= (double)step);
    schedule->frame_count--; // the one that is due is not passed yet
    return due < (double)schedule->steps_planned ? (uint64_t)due : schedule->steps_planned;
}

uint64_t schedule_next_frame(struct schedule *schedule, uint64_t step)
{
    uint64_t due = schedule->frame_steps > 0 ? next_multiple(step, schedule->frame_steps)
                                             : next_rounded(schedule, step);
    return due < schedule->steps_planned ? due : schedule->steps_planned;
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
