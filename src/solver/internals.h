// The parts of a solver, only for tests and for benchmarks of single stages: they call them stage
// by stage, and damage them to test the checkers.
#ifndef TAUT_SOLVER_INTERNALS_H
#define TAUT_SOLVER_INTERNALS_H

#include "solver/solver.h"

struct system *solver_system(const taut_solver *solver);
const struct plan *solver_plan(const taut_solver *solver);
struct topology *solver_topology_for_tests(taut_solver *solver);
struct plan *solver_plan_for_tests(taut_solver *solver);

// As in system.h. All workers call them together (solver_work).
double solver_critical_up_to(taut_solver *solver, double most, const struct worker *worker);
void solver_change_dt(taut_solver *solver, double dt, const struct worker *worker);

#endif
