// How far a run is: one live line on a terminal, a plain line now and then elsewhere.
#ifndef TAUT_CLI_PROGRESS_H
#define TAUT_CLI_PROGRESS_H

#include "solver/solver.h"

struct progress {
    taut_solver *solver;
    bool silent, live;
    double begun, shown; // wall time
    // The speed now: what was done since a mark some seconds back.
    double mark_time;
    uint64_t mark_step;
    double mark_step_seconds;   // solver_step_seconds(solver) then
    double steps_per_second;    // of wall time: what remains is reckoned with this
    double spring_rate;         // spring updates a second of stepping, as the summary counts them
    double energy, energy_time; // J; wall time of its measurement
    double energy_cost;         // s that a measurement took
};

void progress_begin(struct progress *progress, taut_solver *solver, bool silent);

// To be called often; shows what is to be shown. Measures the energy now and then, which changes
// nothing of the run.
void progress_update(struct progress *progress);

// Sets the energy where it has just been measured anyway.
void progress_energy(struct progress *progress, double energy);

void progress_end(struct progress *progress);

#endif
