// The stepping loop. Between two events (a frame, a probe's row, the end) steps are taken in
// batches, so that signals and progress are served.
#include "cli/run.h"

#include "base/clock.h"
#include "cli/batch.h"
#include "cli/signals.h"
#include "cli/terminal.h"

// Once a run: that the equations of an implicit step were not solved. Its end tells how often.
static void warn_of_unsolved(struct run *run)
{
    const struct implicit_account *account = run->solver->functions->implicit(run->solver->system);
    if (!account || account->unconverged == 0 || run->warned)
        return;
    run->warned = true;
    if (!run->options->quiet)
        complain("warning: the equations of a step at about t = %g s were not solved to "
                 "simulation.implicit.tolerance: a residual of %.2g is left; allow more "
                 "'iterations' or 'newton', or take a smaller dt",
                 taut_solver_time(run->solver), account->worst_residual);
}

// Steps up to `target`, batch by batch. Only where a frame is due the solver looks for divergence
// beyond its own rhythm, so that no frame shows a run that has failed. Stops early where dt
// changes, since then the target may be another.
static void step_to(struct run *run, uint64_t target, bool frame, struct batch *batch)
{
    uint64_t step = taut_solver_step_count(run->solver);
    double dt = run->solver->dt;
    while (step < target && run->status == TAUT_OK && run->solver->dt == dt) {
        run->signal_number = signals_caught();
        if (run->signal_number != 0)
            return;
        uint64_t steps = batch_steps(batch, target - step);
        double begin = clock_seconds();
        run->status =
            solver_advance(run->solver, steps, frame && step + steps == target, &run->error);
        batch_learn(batch, steps, clock_seconds() - begin);
        warn_of_unsolved(run);
        progress_update(&run->progress);
        step = taut_solver_step_count(run->solver);
    }
}

// The step of the next frame. A frame that a growing dt has passed is due at once.
static uint64_t next_frame(struct run *run, uint64_t last_frame, uint64_t step)
{
    uint64_t due = schedule_next_frame(&run->schedule, last_frame);
    return due > step ? due : step + 1;
}

void run_steps(struct run *run)
{
    struct batch batch = batch_make();
    uint64_t step = 0, last_frame = 0;
    while (step < run->solver->steps_planned) {
        uint64_t frame = next_frame(run, last_frame, step);
        uint64_t probe = run->recording ? schedule_next_probe(&run->schedule, step) : UINT64_MAX;
        step_to(run, probe < frame ? probe : frame, frame <= probe, &batch);
        step = taut_solver_step_count(run->solver);
        if (run->status != TAUT_OK || run->signal_number != 0)
            return;
        bool is_frame = step == frame || step >= run->solver->steps_planned;
        if (is_frame && run_output_frame(run) != TAUT_OK)
            return;
        if (step == probe && run_output_probe(run) != TAUT_OK)
            return;
        if (is_frame)
            last_frame = step;
    }
}
