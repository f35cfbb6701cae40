// Stands in for the part of solver_live.h that is still being written, so that all links; goes with
// the commit that brings it.
#include "solver_live.h"

#define STAND_IN __attribute__((weak))

STAND_IN taut_status solver_pull(taut_solver *solver, const struct solver_pull *pull,
                                 taut_error *error)
{
    (void)solver;
    (void)pull;
    return fail(error, TAUT_ERROR_UNSUPPORTED, "nodes cannot be pulled yet");
}

STAND_IN void solver_let_go(taut_solver *solver)
{
    (void)solver;
}

STAND_IN taut_status solver_lead_node(taut_solver *solver, size_t body, uint64_t node,
                                      const double velocity[3], taut_error *error)
{
    (void)solver;
    (void)body;
    (void)node;
    (void)velocity;
    return fail(error, TAUT_ERROR_UNSUPPORTED, "nodes cannot be led yet");
}
