// All forces of docs/numerics.md (in which order: forces.c). Every worker of the team calls these
// functions together; each ends with a barrier. Numeric: compiled for float and for double.
#ifndef TAUT_FORCES_FORCES_H
#define TAUT_FORCES_FORCES_H

#include "contact/contact.h"
#include "faces/faces.h"
#include "springs/springs.h"

// fx, fy, fz := all forces of the present x and v. Springs break here. Some integrators reuse the
// result in the next step.
void REAL_NAME(forces_evaluate)(struct system *system, struct evaluation evaluation,
                                const struct worker *worker);

// The same for output, not for a step: nothing breaks.
void REAL_NAME(forces_evaluate_without_breaking)(struct system *system,
                                                 struct evaluation evaluation,
                                                 const struct worker *worker);

// fx, fy, fz := all forces but those of springs and colliders. A worker's own share of the nodes
// (node_share) is ready for it when this returns, without a barrier at the end; the others' need
// not be.
void REAL_NAME(forces_outside)(struct system *system, struct evaluation evaluation,
                               const struct worker *worker);

// The same as forces_evaluate, but every node is moved as soon as its force is complete, and the
// forces are 0 afterwards. Bitwise identical to forces_evaluate and a loop over the nodes.
void REAL_NAME(forces_move)(struct system *system, struct evaluation evaluation,
                            enum sweep_finish finish, const struct worker *worker);

// Energies at the present state in J, into *energy by worker 0. The gas is that of
// evaluation.gas_step.
void REAL_NAME(energy_measure)(struct system *system, struct evaluation evaluation,
                               taut_energy *energy, const struct worker *worker);

// The same for comparisons: a collapsed body does not end the run here.
void REAL_NAME(energy_measure_without_fault)(struct system *system, struct evaluation evaluation,
                                             taut_energy *energy, const struct worker *worker);

// The total energy, for the energy budget, without a fault. Valid on worker 0.
double REAL_NAME(energy_total)(struct system *system, struct evaluation evaluation,
                               const struct worker *worker);

// The kinetic energy alone, the same on every worker.
double REAL_NAME(kinetic_energy)(struct system *system, const struct worker *worker);

// ---- The energy budget: powers are sampled at the start of every step

// Allocates what it needs; false without memory.
bool REAL_NAME(work_make)(struct system *system);
void REAL_NAME(work_free)(struct system *system);
uint64_t REAL_NAME(work_bytes)(const struct system *system);

// Whether the kernels of an evaluation measure the powers, at a fraction of its cost, where
// evaluation.powers says so: with integrators that evaluate forces at the start of each step, of
// all scenes but those with plain loops, and with wind of law `node` on faces that are on no grid.
// Then Euler's methods move nodes in the same sweep.
bool REAL_NAME(work_is_measured)(const struct system *system);

// Adds the powers that the kernels of an evaluation with powers omit, before anything moves.
void REAL_NAME(work_measure_others)(struct system *system, struct evaluation evaluation,
                                    const struct worker *worker);

// Updates the energy budget to the time of an evaluation with powers that has just ended. Worker 0
// does it, and the others need not wait.
void REAL_NAME(work_record)(struct system *system, struct evaluation evaluation,
                            const struct worker *worker);

// The same for output at the present time, into system->work_shown: the next step records its own.
void REAL_NAME(work_show)(struct system *system, struct evaluation evaluation,
                          const struct worker *worker);

// Updates the energy budget to the present time by loops of its own; forces must be those of the
// present state.
void REAL_NAME(work_sample)(struct system *system, struct evaluation evaluation,
                            const struct worker *worker);

// What acts on the present state from outside. The power of wind and of what moves kinematic nodes
// and penalty spheres, W; without what accelerates kinematic nodes, whose kinetic energy, J, is
// beside it. Forces, and for wind of the law `node` the normals, must be those of the present
// state. The same on every worker.
struct outside_power {
    double power;
    double moved_kinetic;
};
struct outside_power REAL_NAME(outside_power)(struct system *system, double time,
                                              const struct worker *worker);

// What takes a loss out of the kinetic energy, J, between two evaluations of forces (friction on a
// surface that projects, keep_velocity): the budget's estimate of what steps do not resolve
// follows. Before the loss is counted. Worker 0 alone.
void REAL_NAME(work_note_loss)(struct system *system, double kinetic_before, double loss);

// Impacts within steps of implicit integrators and xpbd are inelastic: what such a step, and the
// next one, changes the energy by, and no other cause accounts for, is counted as projection.
//
// The energy at the start of a step that may have an impact, which is the present state; after
// the sample of its start.
void REAL_NAME(work_note_start)(struct system *system, const struct worker *worker);
// The same where that energy is known, J, at any time in the step. Worker 0 alone.
void REAL_NAME(work_note_energy)(struct system *system, double energy);
// The present step has one: it is closed if its start has been noted. Worker 0 alone.
void REAL_NAME(work_note_impact)(struct system *system);
// At the start of a step, after its sample: whether the one before had an impact, whose rest is to
// be counted here. The same on every worker.
bool REAL_NAME(work_follows_impact)(struct system *system, const struct worker *worker);

#endif
