// What a run has beside its arrays (state.h), of no precision: the time that an evaluation is for
// and what ended the run, the energy budget, what people do to it while it runs, and the time that
// its stages take.
#ifndef TAUT_STATE_RECORDS_H
#define TAUT_STATE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec3.h"
#include "taut.h"

// The time that an evaluation of forces is for. `gas_step` counts how many increments of `inflate`
// the gas has received; it follows the step, not the time, so that all stages of a step see the
// same gas.
struct evaluation {
    double time; // s
    uint64_t gas_step;
    bool powers; // what acts on nodes is also measured, for the energy budget (system->powers)
};

// What ended the run; set by worker 0 only, between barriers.
struct fault {
    taut_status code; // TAUT_OK: none
    size_t body;
    uint64_t node; // internal, over all bodies; of a divergence
    double time;
    uint64_t step;
    double spacing; // m, of a divergence: between numbers at the body's positions
};

// ---- The energy budget

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
    double uncut_kinetic;         // J, K after the last lump since, or at sampled_time
    double difference[2];         // J, the last first and second difference of K between steps
    double exchanged;             // J, the sum of |first difference|, of |power| dt and of |lumps|
    double counted[WORK_CAUSES];  // J, of `done`, what `exchanged` has
    double difference_sums[2];    // J, of |second difference| and of |third difference|
    unsigned differences_present; // how many of the first two there are yet
};

// What implicit integrators did so far. A residual is relative to that at the start of its step.
struct implicit_statistics {
    uint64_t solves, iterations; // linear systems, and iterations of conjugate gradients in them
    uint64_t unconverged;        // steps whose equations were not solved to the tolerance
    double worst_residual;       // of a step
};

// ---- Interaction: it acts from one step to the next, and is in no scene

// A held node that goes with a velocity from where it is; its motion in the scene, if it has one,
// counts no more.
struct kinematic_target {
    uint32_t node;
    vec3 position; // m, at the start of the step
    vec3 velocity; // m/s
};

struct kinematic_targets {
    struct kinematic_target *items;
    size_t count, capacity;
};

// A spring without rest length from a free node to where the mouse is, with damping
// (integrate/mouse_spring.h).
struct mouse_spring {
    bool pulls;
    bool chosen; // stiffness and damping are ours
    uint32_t node;
    vec3 target;               // m
    double stiffness, damping; // N/m, N s/m
    vec3 start;                // m, where the node was at the start of the step
    vec3 force;                // N, of the last step
};

// ---- The stages of a step, and what each took, as worker 0 saw it (stage_end in system.h)
//
// Reading the clock ten times took a seventh of a step of 1 us. Where steps are short, only one in
// STAGE_STRIDE is timed, and counts for all of them. The stride is coprime to the powers of two, at
// which checks recur.

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

enum { STAGE_STRIDE = 13 };

struct stage_clock {
    double last;                 // s, when the last stage ended
    double seconds[STAGE_COUNT]; // estimated for all steps
    double step_seconds;         // of the last step that was timed
    double weight;               // the steps that this one counts for; 0: it is not timed
    uint64_t timed_steps;
    int untimed_steps; // to come before the next that is timed
};

#endif
