// The progress of a run: one live line on a terminal, otherwise an occasional plain line.
#ifndef TAUT_CLI_PROGRESS_H
#define TAUT_CLI_PROGRESS_H

#include "solver/solver.h"

struct progress {
    taut_solver *solver;
    bool silent, live;
    double begun, shown; // wall time
    uint64_t first_step;
    // The current speed, measured since a mark some seconds ago.
    double mark_time;
    uint64_t mark_step;
    double mark_step_seconds;   // solver_step_seconds(solver) at the mark
    double steps_per_second;    // of wall time, from which the remaining time is estimated
    double spring_rate;         // spring updates per second of stepping, as in the summary
    double energy, energy_time; // J; wall time of its measurement
    double energy_cost;         // s, of one measurement
};

void progress_begin(struct progress *progress, taut_solver *solver, bool silent);

// Call it often; it prints when due. It measures the energy from time to time, which does not
// affect the run.
void progress_update(struct progress *progress);

// Sets the energy if it has just been measured anyway.
void progress_energy(struct progress *progress, double energy);

void progress_end(struct progress *progress);

#endif
