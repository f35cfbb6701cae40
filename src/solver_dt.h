// The step of a solver: given by the scene, or (dt: auto) a safe fraction of the guaranteed bound,
// followed as the state changes.
#ifndef TAUT_SOLVER_DT_H
#define TAUT_SOLVER_DT_H

#include "solver.h"

// Sets dt and the number of steps from the scene. A given dt beyond the bound is a warning in
// `diagnostics`, at its place in the scene; NULL: nobody wants to know.
taut_status dt_choose(taut_solver *solver, const taut_scene *scene, struct diagnostics *diagnostics,
                      taut_error *error);

// Before a solver goes on from where another one is: its own dt, or with dt: auto the other's, if
// that has found one for the same integrator. True where it is to be looked at (dt_adapt) once the
// state is there.
bool dt_go_on(taut_solver *solver, const taut_solver *from);

// Steps between two looks at the bound; never of a dt that the scene gives.
bool dt_is_due(const taut_solver *solver, uint64_t steps_done);

// After a step, of dt: auto: finds the bound at the present state and changes dt where it is too
// near to it, or far from it. All workers together.
void dt_adapt(taut_solver *solver, const struct worker *worker);

#endif
