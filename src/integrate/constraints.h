// Contacts with colliders that project, as constraints in the linear systems of the implicit
// integrators. Numeric.
#ifndef TAUT_INTEGRATE_CONSTRAINTS_H
#define TAUT_INTEGRATE_CONSTRAINTS_H

#include "integrate/conjugate_gradient.h"

// How the end of a step, where contacts are found, follows from the velocity V of its stage.
struct end_rule {
    double time;                                // of the end, s
    double g;                                   // s: the state's X is x* + g V
    double travel;                              // s: the end is x* + travel V
    struct split_vectors base;                  // x*
    struct split_vectors start, start_velocity; // of the step
    double start_time;                          // s
    bool mirrored; // the velocity at the end is 2 V less that at the start, not V
};

// Creates system->contacts.constraints, or NULL if no collider projects; with the implicit midpoint
// method NULL only if there is no collider, because its steps may be repeated for penalty colliders
// too.
taut_status REAL_NAME(constraints_make)(struct system *system, taut_error *error);
void REAL_NAME(constraints_free)(struct system *system);
uint64_t REAL_NAME(constraints_bytes)(const struct system *system);

// Removes all constraints. Called by all workers together, as are the following functions.
void REAL_NAME(constraints_clear)(struct system *system, const struct worker *worker);

// Adds the contacts in which nodes are at the end of the step, with the solution d of `solver`
// added to V, and if `drops` removes those that pull. If d is NULL, V is used alone. Returns
// whether any changed, the same on every worker.
bool REAL_NAME(constraints_find)(struct system *system, const struct end_rule *rule,
                                 const struct linear_solver *solver, bool drops,
                                 const struct worker *worker);

// Whether the last search has found a node that did not touch its surface before.
bool REAL_NAME(constraints_impact)(const struct system *system);

// Writes into solver->direction the change of V + d that moves constrained nodes to their surfaces.
void REAL_NAME(constraints_find_direction)(struct system *system, const struct end_rule *rule,
                                           struct linear_solver *solver,
                                           const struct worker *worker);

// Removes the directions of the constraints from the solver's preconditioner, and moves those
// components of the residual to the impulses. `renewed`: both have been recomputed since the last
// call.
void REAL_NAME(constraints_filter)(struct system *system, struct linear_solver *solver,
                                   bool renewed, const struct worker *worker);

// Computes the work of the surfaces, after the stage has been solved.
void REAL_NAME(constraints_finish)(struct system *system, const struct end_rule *rule,
                                   const struct worker *worker);

// For a range of nodes, without a barrier: removes the components along normals from the vectors,
// stores them in `removed` unless that is empty, and subtracts `length` times them from the
// impulses.
void REAL_NAME(constraints_project_out)(const struct contact_constraints *all, struct range nodes,
                                        struct node_vectors vectors, struct node_vectors removed);
void REAL_NAME(constraints_advance)(const struct contact_constraints *all, struct range nodes,
                                    double length);

#endif
