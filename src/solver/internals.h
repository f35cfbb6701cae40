// For tests and for benchmarks of single stages, and for nobody else: the parts of a solver, to be
// called stage by stage, and to be damaged so that a checker can find it.
#ifndef TAUT_SOLVER_INTERNALS_H
#define TAUT_SOLVER_INTERNALS_H

#include "solver/solver.h"

struct system *solver_system(const taut_solver *solver);
const struct plan *solver_plan(const taut_solver *solver);
struct topology *solver_topology_to_damage(taut_solver *solver);
struct plan *solver_plan_to_damage(taut_solver *solver);

// As system.h has them; all workers together (solver_work).
double solver_critical_up_to(taut_solver *solver, double most, const struct worker *worker);
void solver_change_dt(taut_solver *solver, double dt, const struct worker *worker);

#endif
