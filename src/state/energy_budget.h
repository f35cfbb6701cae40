// Small records of a run that do not depend on its precision: what time a thing is for, what ended
// the run, and the energy budget.
#ifndef TAUT_STATE_ENERGY_BUDGET_H
#define TAUT_STATE_ENERGY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taut.h"

// The time that an evaluation of forces is for. `gas_step` counts how many increments of `inflate`
// the gas has received; it follows the step, not the time, so that all stages of a step see the
// same gas.
struct evaluation {
    double time; // s
    uint64_t gas_step;
};

// What ended the run; set by worker 0 only, between barriers.
struct fault {
    taut_status code; // TAUT_OK: none
    size_t body;
    uint64_t node; // internal, over all bodies; of a divergence
    double time;
    uint64_t step;
};

// Work so far by cause. The causes before WORK_POWERS are integrated from powers; the others are
// added in lumps.
enum work_cause {
    WORK_DAMPING,
    WORK_DRAG,
    WORK_FRICTION,
    WORK_WIND,
    WORK_DRIVES,
    WORK_KEEP,
    WORK_PROJECTION,
    WORK_BREAKING,
    WORK_INFLATION,
    WORK_CAUSES
};

enum { WORK_POWERS = WORK_KEEP };

// The powers at the last sample stay, so that the next can be joined to them by a trapezoid.
struct energy_budget {
    double done[WORK_CAUSES];  // J
    double power[WORK_POWERS]; // W, at sampled_time
    double moved_kinetic;      // J, of the nodes that move as told, at sampled_time
    double sampled_time;
    uint64_t sampled_gas_step;
    bool sampled;
    // Impacts within implicit steps (work_note_impact): whether the projection has what the step
    // since sampled_time leaves open, and whether it is to have that of the next step too.
    bool closes, closes_next;
    uint64_t noted_step;               // whose start was noted last
    double energy_before, work_before; // J, at that start
    // How finely steps follow the exchange of energy (cli/run_report.c).
    double kinetic;               // J, K of all nodes, at sampled_time
    double difference[2];         // J, the last first and second difference of K between steps
    double exchanged;             // J, the sum of |first difference| and of |power| dt
    double difference_sums[2];    // J, of |second difference| and of |third difference|
    unsigned differences_present; // how many of the first two there are yet
};

// What implicit integrators did so far. A residual is relative to that at the start of its step.
struct implicit_statistics {
    uint64_t solves, iterations; // linear systems, and iterations of conjugate gradients in them
    uint64_t unconverged;        // steps whose equations were not solved to the tolerance
    double worst_residual;       // of a step
};

#endif
