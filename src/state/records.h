// The records of a run besides its arrays (state.h), independent of the precision: the nodes of a
// process, the time of an evaluation, the fault that ended the run, the energy budget, interactions
// during the run, and the times of the stages.
#ifndef TAUT_STATE_RECORDS_H
#define TAUT_STATE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec3.h"
#include "parallel/team.h"
#include "taut.h"

// The nodes of a process, one of several ranks or the only one: those that it steps, and those of
// which it knows positions, velocities and masses from the start, which include them.
struct state_share {
    struct range own, known;
};

// The time of an evaluation of forces. `gas_step` is the number of increments of `inflate` that the
// gas has received. It follows the step, not the time, so that all stages of a step have the same
// gas.
struct evaluation {
    double time; // s
    uint64_t gas_step;
    bool powers; // also measures powers for the energy budget (system->powers)
};

// The fault that ended the run; set by worker 0 only, between barriers.
struct fault {
    taut_status code; // TAUT_OK: none
    size_t body;
    uint64_t node; // internal, over all bodies; for a divergence
    double time;
    uint64_t step;
    double spacing;   // m, for a divergence: of floating-point numbers at the body's positions
    bool rounding;    // of positions explains the kinetic energy of a divergence
    double volume;    // m3 or m2, for a collapse: the one that was found
    bool interrupted; // not memory, but base/interruption.h has ended the run within this step
    bool at_start;    // a collapse of the state at the start of `step`, in which nothing moves then
};

// ---- The energy budget

// Work so far by cause. The causes before WORK_POWERS are integrated from powers; the others are
// added as finite amounts (lumps).
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
    WORK_TRUNCATION, // of the motion of steps, by contact of surfaces
    WORK_CAUSES
};

enum { WORK_POWERS = WORK_KEEP };

// Where in a step the powers of all causes but drives are measured: at both ends, for a trapezoid;
// at its end, where the forces of implicit Euler are; or at a stage, at which they have been
// counted.
enum power_times { POWERS_AT_BOTH_ENDS, POWERS_AT_END, POWERS_AT_STAGE };

// The powers at the last sample are kept, so that the trapezoid to the next sample can be formed.
struct energy_budget {
    double done[WORK_CAUSES];  // J
    double power[WORK_POWERS]; // W, at sampled_time
    double moved_kinetic;      // J, of the nodes with prescribed motion, at sampled_time
    double sampled_time;
    uint64_t sampled_gas_step;
    bool sampled;
    bool lags; // some powers at sampled_time are those of velocities half a step before
    // Impacts within implicit steps (work_note_impact): whether the unexplained energy of the step
    // since sampled_time counts as projection, and whether that of the next step does too.
    bool closes, closes_next;
    uint32_t times;                    // enum power_times, of the step since sampled_time
    uint64_t noted_step;               // the last step whose start was noted
    double energy_before, work_before; // J, at that start
    double lifted; // J, put in by moving nodes onto surfaces since `closes` is set
    // How finely the steps resolve the exchange of energy (cli/run_report.c).
    double kinetic;       // J, K of all nodes whose motion is not prescribed, at sampled_time
    double uncut_kinetic; // J, K of all nodes after the last lump since sampled_time, or then
    double power_change;  // W, the last difference of the total power between steps
    uint64_t restarts;    // how often differences began again, after jumps of the powers
    double difference[2]; // J, the last first and second difference of K between steps
    double exchanged;     // J, the sum of |first difference|, of |power| dt and of |lumps|
    double counted[WORK_CAUSES]; // J, the part of `done` that is included in `exchanged`
    // J, of |second difference| and of |third difference|, and what else methods of order 1 and 2
    // leave, of the powers and of kicks
    double difference_sums[2];
    unsigned differences_present; // how many of the first two are known yet
    // J, what meshes and shapes that move have done in the last implicit step, and by how much more
    // than in the one before.
    double collider_work[2];
};

// Statistics of the implicit integrators so far. Residuals are relative to that at the start of
// their step.
struct implicit_statistics {
    uint64_t solves, iterations; // linear systems, and their iterations of conjugate gradients
    uint64_t unconverged;        // steps whose equations were not solved to the tolerance
    double worst_residual;       // of any step
};

// ---- Interaction: persists from step to step, and is not part of the scene

// A kinematic node that moves with a given velocity from its present position. Its motion in the
// scene, if it has one, no longer applies.
struct kinematic_target {
    uint32_t node;
    vec3 position; // m, at the start of the step
    vec3 velocity; // m/s
};

struct kinematic_targets {
    struct kinematic_target *items;
    size_t count, capacity;
};

// A damped spring without rest length from a free node to the position of the mouse
// (integrate/mouse_spring.h).
struct mouse_spring {
    bool pulls;
    bool chosen; // stiffness and damping are automatic
    uint32_t node;
    vec3 target;               // m
    double stiffness, damping; // N/m, N s/m
    vec3 start;                // m, position of the node at the start of the step
    vec3 force;                // N, of the last step
};

// ---- The stages of a step, and the time of each, measured by worker 0 (stage_end in system.h)
//
// Reading the clock ten times took a seventh of a step of 1 us. If steps are short, only one in
// STAGE_STRIDE is timed, and counts for all of them. The stride is coprime to the powers of two at
// which checks recur.

enum stage { // printed by cli/run_report.c
    STAGE_GRAVITY_DRAG,
    STAGE_SPRINGS,
    STAGE_ELEMENTS,
    STAGE_WIND,
    STAGE_PRESSURE,
    STAGE_COLLIDERS,
    STAGE_INTEGRATE,
    STAGE_SOLVE,
    STAGE_MOTIONS,
    STAGE_WORK,
    STAGE_CHECK,
    STAGE_RANKS, // messages between ranks
    STAGE_COUNT
};

enum { STAGE_STRIDE = 13 };

struct stage_clock {
    double last;                 // s, end of the last stage
    double seconds[STAGE_COUNT]; // estimated for all steps
    double step_seconds;         // of the last step that was timed
    double weight;               // the number of steps that this one counts for; 0: not timed
    uint64_t timed_steps;
    int untimed_steps; // before the next timed step
};

#endif
