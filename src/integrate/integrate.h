// Integrators (docs/numerics.md): one file per family. Every worker of the team calls these
// together; each ends with a barrier. Numeric: compiled for float and for double.
#ifndef TAUT_INTEGRATE_INTEGRATE_H
#define TAUT_INTEGRATE_INTEGRATE_H

#include "forces/forces.h"

// Which arrays the integrator needs besides x, v and f, in precision mixed or not.
struct state_needs REAL_NAME(integrator_needs)(enum integrator integrator, bool mixed,
                                               const struct topology *topology);

// The number of passes over the springs per step.
int REAL_NAME(integrator_evaluations)(const struct settings *settings);

// Called once before the first step: initialises the integrator's history from the state at t = 0.
void REAL_NAME(integrator_start)(struct system *system, const struct worker *worker);

// Continues with another dt from the present state: adapts the time and the stored data of the last
// step. Called by all workers together.
void REAL_NAME(integrator_change_dt)(struct system *system, double dt, const struct worker *worker);

// Advances x and v from t = step * dt to the next step, including moved nodes. The step is not
// counted yet.
void REAL_NAME(integrator_step)(struct system *system, const struct worker *worker);

// Called after a run of steps: completes the velocities of Verlet integrators, which a step may
// leave half a step behind (verlet.c). Where it is called does not change the bits of a run.
void REAL_NAME(integrator_complete)(struct system *system, const struct worker *worker);

// The projection at the end of a step or substep, and its energy budget.
void REAL_NAME(project)(struct system *system, double time, const struct worker *worker);

// Cuts the motion of the step where surfaces would pass through each other, and its energy budget.
// Called by explicit integrators as soon as the nodes have moved, by implicit ones at the end of a
// step. limit_motion_until does so in a substep of xpbd, up to that evaluation.
void REAL_NAME(limit_motion)(struct system *system, const struct worker *worker);
void REAL_NAME(limit_motion_until)(struct system *system, struct evaluation end, double begin,
                                   double step, const struct worker *worker);

// The same for an implicit step, after which the methods of order 2 start again.
void REAL_NAME(implicit_finish)(struct system *system, const struct worker *worker);

// Ends a step after the integrator: projection, keep_velocity; then the step is counted. Does
// nothing if gas had no volume at its start.
void REAL_NAME(step_finish)(struct system *system, const struct worker *worker);

// The evaluations at the start and at the end of the present step, the latter with the gas of the
// next step.
struct evaluation REAL_NAME(evaluation_now)(const struct system *system);
struct evaluation REAL_NAME(evaluation_at_end)(const struct system *system);

// Whether nodes move as soon as their forces are known, with integrators that evaluate these at the
// start of a step: if the energy budget is not kept, or if the kernels measure its powers. The
// serial reference computes forces and motion in separate passes.
bool REAL_NAME(moves_in_sweep)(const struct system *system);

// x0 and v0 := x and v, for this worker's share of the nodes.
void REAL_NAME(save_start)(struct system *system, const struct worker *worker);

// Moves a kinematic node with a velocity (m/s) from now on; called between steps. False without
// memory.
bool REAL_NAME(kinematic_set_target)(struct system *system, uint32_t node, vec3 velocity);

// Sets moving kinematic nodes to their positions `elapsed` seconds after the start of the step.
void REAL_NAME(kinematic_set_positions)(struct system *system, double elapsed,
                                        const struct worker *worker);

// The same at the end of the step, from which the next one starts; here planes block drives.
void REAL_NAME(kinematic_advance)(struct system *system, double elapsed,
                                  const struct worker *worker);

// If a drive changes its velocity at the end of the step, swaps the velocities of all driven nodes
// for those up to there, or back again; otherwise returns false. The same on every worker. Called
// after kinematic_advance.
bool REAL_NAME(kinematic_swap_velocities)(struct system *system, const struct worker *worker);

// Sets the velocities with which moving kinematic nodes reach, within `step` seconds, their
// positions `elapsed` seconds after the start of the step.
void REAL_NAME(kinematic_set_velocities)(struct system *system, double elapsed, double step,
                                         const struct worker *worker);

// The steps themselves.
void REAL_NAME(explicit_euler)(struct system *system, const struct worker *worker);
void REAL_NAME(symplectic_euler)(struct system *system, const struct worker *worker);
void REAL_NAME(verlet)(struct system *system, const struct worker *worker);
void REAL_NAME(verlet_start)(struct system *system, const struct worker *worker);
void REAL_NAME(verlet_change_dt)(struct system *system, double dt, const struct worker *worker);
void REAL_NAME(verlet_complete)(struct system *system, const struct worker *worker);
// Completes the velocities of integrated nodes, whose half kick is due, for a sample of the energy
// budget, and puts those before aside in place of the forces; then takes them back.
void REAL_NAME(verlet_complete_aside)(struct system *system, bool begins,
                                      const struct worker *worker);
void REAL_NAME(velocity_verlet)(struct system *system, const struct worker *worker);
void REAL_NAME(midpoint)(struct system *system, const struct worker *worker);
void REAL_NAME(rk4)(struct system *system, const struct worker *worker);
void REAL_NAME(implicit_euler)(struct system *system, const struct worker *worker);
void REAL_NAME(implicit_midpoint)(struct system *system, const struct worker *worker);
void REAL_NAME(bdf2)(struct system *system, const struct worker *worker);
void REAL_NAME(xpbd)(struct system *system, const struct worker *worker);

#endif
