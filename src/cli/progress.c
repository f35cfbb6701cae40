// Shows the progress of a run: the speed over the last seconds, and the energy if measuring it
// costs little. When to call it is left to run.c.
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/os.h"
#include "cli/human.h"
#include "cli/terminal.h"

static const double LIVE_SECONDS = 0.1;  // between two updates of the live line
static const double PLAIN_SECONDS = 10;  // between two plain lines
static const double WINDOW_SECONDS = 2;  // over which the speed is measured
static const double ENERGY_SECONDS = 1;  // an older energy is measured again,
static const double ENERGY_SHARE = 0.01; // if that takes at most this fraction of the time

void progress_begin(struct progress *progress, taut_solver *solver, bool silent)
{
    double now = clock_seconds();
    *progress = (struct progress){
        .solver = solver,
        .silent = silent,
        .live = !silent && live_line_possible(),
        .begun = now,
        .shown = now,
        .mark_time = now,
        .mark_step = taut_solver_step_count(solver),
        .first_step = taut_solver_step_count(solver),
        .energy = NAN,
    };
}

void progress_energy(struct progress *progress, double energy)
{
    progress->energy = energy;
    progress->energy_time = clock_seconds();
}

static void measure_energy(struct progress *progress, double now)
{
    double age = now - progress->energy_time;
    if (age < ENERGY_SECONDS || age * ENERGY_SHARE < progress->energy_cost)
        return;
    taut_energy energy = {0};
    if (taut_solver_energy(progress->solver, &energy, NULL) != TAUT_OK)
        return;
    progress_energy(progress, energy.total);
    progress->energy_cost = progress->energy_time - now;
}

static double updates_per_step(const taut_solver *solver)
{
    return (double)taut_solver_spring_count(solver) * (double)solver_force_evaluations(solver);
}

static void measure_speed(struct progress *progress, double now)
{
    double elapsed = now - progress->mark_time;
    uint64_t step = taut_solver_step_count(progress->solver);
    // The window is short at first and grows, so that a first value appears soon.
    double window = fmax(LIVE_SECONDS / 2, fmin(WINDOW_SECONDS, (now - progress->begun) / 2));
    if (elapsed < window || step == progress->mark_step)
        return;
    const taut_solver *solver = progress->solver;
    double steps = (double)(step - progress->mark_step), speed = steps / elapsed;
    double stepping = solver_step_seconds(solver) - progress->mark_step_seconds;
    // Smoothed, so that the cost of frames that fall into one window only is not visible.
    progress->steps_per_second =
        progress->steps_per_second > 0 ? (progress->steps_per_second + speed) / 2 : speed;
    if (stepping > 0)
        progress->spring_rate = steps * updates_per_step(solver) / stepping;
    progress->mark_time = now;
    progress->mark_step = step;
    progress->mark_step_seconds = solver_step_seconds(solver);
}

static void format_line(const struct progress *progress, char *text, size_t size)
{
    const taut_solver *solver = progress->solver;
    uint64_t step = taut_solver_step_count(solver), steps = taut_solver_steps_planned(solver);
    double done = steps > 0 ? (double)step / (double)steps : 1;
    double remaining = (double)(steps - step) / progress->steps_per_second;
    bool known = progress->steps_per_second > 0;
    // Short enough for 80 columns.
    snprintf(text, size,
             "%3.0f%%  t %.4g/%.4g s  step %" PRIu64 "/%" PRIu64
             "  %s springs/s  %s left  E %.4g J",
             floor(100 * done), taut_solver_time(solver), solver_planned_time(solver), step, steps,
             known ? human_scaled(progress->spring_rate).text : "?",
             known ? human_remaining(remaining).text : "?", progress->energy);
}

static void show(struct progress *progress, double now)
{
    char text[256];
    format_line(progress, text, sizeof text);
    if (progress->live)
        live_line(text);
    else
        fprintf(stderr, "taut: %s\n", text);
    progress->shown = now;
}

void progress_update(struct progress *progress)
{
    if (progress->silent)
        return;
    double now = clock_seconds();
    measure_speed(progress, now);
    if (now - progress->shown < (progress->live ? LIVE_SECONDS : PLAIN_SECONDS))
        return;
    measure_energy(progress, now);
    show(progress, now);
}

void progress_end(struct progress *progress)
{
    if (progress->silent)
        return;
    if (progress->live) {
        live_line_clear();
        return;
    }
    // The values of the whole run.
    double now = clock_seconds(), elapsed = now - progress->begun;
    const taut_solver *solver = progress->solver;
    if (elapsed > 0 && solver_step_seconds(solver) > 0) {
        progress->steps_per_second =
            (double)(taut_solver_step_count(solver) - progress->first_step) / elapsed;
        progress->spring_rate = solver_spring_updates(solver) / solver_step_seconds(solver);
    }
    show(progress, now);
}
