// All forces of docs/numerics.md (their order: forces.c). All workers call these functions
// together; each ends with a barrier. Numeric: compiled for float and for double.
#ifndef TAUT_FORCES_FORCES_H
#define TAUT_FORCES_FORCES_H

#include "contact/contact.h"
#include "contact/surface_contact.h"
#include "elements/elements.h"
#include "faces/faces.h"
#include "springs/springs.h"

// fx, fy, fz := all forces of the present x and v. Springs break here. Some integrators reuse the
// result in the next step.
void REAL_NAME(forces_evaluate)(struct system *system, struct evaluation evaluation,
                                const struct worker *worker);

// The same for output instead of a step: nothing breaks.
void REAL_NAME(forces_evaluate_without_breaking)(struct system *system,
                                                 struct evaluation evaluation,
                                                 const struct worker *worker);

// Restores the fault after an evaluation that is not one of a step, and so ends no run: `found` is
// the fault before it. But where memory has run out, lists of contact are lost, and the run ends.
// Called by one worker.
void REAL_NAME(fault_put_back)(struct system *system, const struct fault *found);

// fx, fy, fz := all forces except those of springs and colliders. There is no barrier at the end:
// when this returns, only the worker's own share of the nodes (node_share) is complete.
void REAL_NAME(forces_outside)(struct system *system, struct evaluation evaluation,
                               const struct worker *worker);

// The same as forces_evaluate, but every node is moved as soon as its force is complete, and the
// forces are 0 afterwards. Bitwise identical to forces_evaluate followed by a loop over the nodes.
void REAL_NAME(forces_move)(struct system *system, struct evaluation evaluation,
                            enum sweep_finish finish, const struct worker *worker);

// Energies of the present state, J, written to *energy by worker 0. The gas is that of
// evaluation.gas_step.
void REAL_NAME(energy_measure)(struct system *system, struct evaluation evaluation,
                               taut_energy *energy, const struct worker *worker);

// The same for comparisons: a collapsed body does not end the run here.
void REAL_NAME(energy_measure_without_fault)(struct system *system, struct evaluation evaluation,
                                             taut_energy *energy, const struct worker *worker);

// The total energy, for the energy budget, without a fault. Valid on worker 0.
double REAL_NAME(energy_total)(struct system *system, struct evaluation evaluation,
                               const struct worker *worker);

// The kinetic energy; the same on every worker.
double REAL_NAME(kinetic_energy)(struct system *system, const struct worker *worker);

// ---- The energy budget: powers are sampled at the start of every step

// Allocates the arrays of the energy budget; false without memory.
bool REAL_NAME(work_make)(struct system *system);
void REAL_NAME(work_free)(struct system *system);
uint64_t REAL_NAME(work_bytes)(const struct system *system);

// Whether the kernels of an evaluation with evaluation.powers measure the powers, at a fraction of
// its cost: with explicit integrators (Verlet's only where nothing changes velocities at the end of
// a step), for all scenes except those with plain loops, and those with wind of law `node` on faces
// that are on no grid. Nodes then move in the same sweep.
bool REAL_NAME(work_is_measured)(const struct system *system);

// Whether they do so at all times: Verlet's do not while the mouse spring pulls.
bool REAL_NAME(work_is_always_measured)(const struct system *system);

// Adds the powers that the kernels of an evaluation with powers omit, before anything moves.
void REAL_NAME(work_measure_others)(struct system *system, struct evaluation evaluation,
                                    const struct worker *worker);

// Counts the sum of h^2 F^2 / m over all nodes, which is the order of the energy that a step of
// explicit Euler adds, for this many steps, with the forces of the state. Only for steps whose
// powers the kernels measure; samples by loops have it.
void REAL_NAME(work_note_kicks)(struct system *system, uint64_t steps, const struct worker *worker);

// Updates the energy budget to the time of an evaluation with powers that has just ended. Only
// worker 0 does so; the others do not wait. `lags`: the forces were computed from velocities half a
// step before, as by Verlet integrators.
void REAL_NAME(work_record)(struct system *system, struct evaluation evaluation, bool lags,
                            const struct worker *worker);

// On several ranks, which measure different parts: makes the updates that work_record has put off.
// Called at the end of a run of steps, by one worker alone, on all ranks.
void REAL_NAME(work_catch_up)(struct system *system);

// Whether that has been done at the time of an evaluation. The same on every worker.
bool REAL_NAME(work_is_recorded)(const struct system *system, struct evaluation evaluation);

// Updates the energy budget to the present time by loops of its own. Forces must be those of the
// present state.
void REAL_NAME(work_sample)(struct system *system, struct evaluation evaluation,
                            const struct worker *worker);

// The same for output, after an evaluation with powers or by loops, into system->work_shown:
// reading the budget does not change it. The next step makes its own sample, which may differ:
// springs yield and break before it, and with verlet velocities are those of damping.
void REAL_NAME(work_show)(struct system *system, struct evaluation evaluation,
                          const struct worker *worker);

// The power, W, that moves mesh colliders, and shapes with `response: contact`, against the forces
// of the present evaluation. The same on every worker.
double REAL_NAME(contact_colliders_power)(struct system *system, const struct worker *worker);

// Gives worker 0 the powers at the stage of an implicit step, W, except those of drives, which need
// forces. Positions and velocities are those of the stage, and so is the time.
void REAL_NAME(work_measure_stage)(struct system *system, double time, double powers[WORK_POWERS],
                                   const struct worker *worker);

// Reports at the end of an implicit step the time of the forces in its equations; `powers`: those
// at the stage, whose work is counted at once. Called by worker 0.
void REAL_NAME(work_count_step)(struct system *system, enum power_times times,
                                const double powers[WORK_POWERS]);

// Counts the work, J, that the colliders have done in an implicit step: samples of these methods do
// not have it. Called by worker 0.
void REAL_NAME(work_count_colliders)(struct system *system, double done);

// External actions on the present state: the power of wind and of the motion of kinematic nodes and
// penalty spheres, W. The power that accelerates kinematic nodes is not included; their kinetic
// energy, J, is returned separately. Forces, and for wind of law `node` the normals, must be those
// of the present state. The same on every worker.
struct external_power {
    double power;
    double moved_kinetic;
};
struct external_power REAL_NAME(external_power)(struct system *system, double time,
                                                const struct worker *worker);

// The power that dampers, drag and friction take in the present state, W, without those of
// surfaces, for the forces under surface_contact_pause. The same on every worker.
double REAL_NAME(dissipated_power)(struct system *system, double time, const struct worker *worker);

// A loss of kinetic energy, J, between two evaluations of forces (friction on a projecting surface,
// keep_velocity): updates the budget's estimate of the error of the steps. Called before the loss
// is counted, by worker 0 only.
void REAL_NAME(work_note_loss)(struct system *system, double kinetic_before, double loss);

// Impacts within steps of implicit integrators and xpbd are inelastic: the change of energy in such
// a step and in the next one, as far as no other cause accounts for it, counts as projection.
//
// Stores the energy at the start of a step that may have an impact, which is the present state.
// Called after the sample of its start.
void REAL_NAME(work_note_start)(struct system *system, const struct worker *worker);
// The same if that energy is known, J, at any time in the step. Worker 0 only.
void REAL_NAME(work_note_energy)(struct system *system, double energy);
// The present step has an impact, which is counted if the energy at its start has been stored.
// Worker 0 only.
void REAL_NAME(work_note_impact)(struct system *system);
// At the start of a step, after its sample: whether the previous step had an impact, whose
// remainder has to be counted in this step. The same on every worker.
bool REAL_NAME(work_follows_impact)(struct system *system, const struct worker *worker);

#endif
