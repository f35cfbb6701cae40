// The linear systems of the implicit integrators: A d = r with A = M + stiffness K + damping C,
// with the tangent at the present state (forces/tangent.h), solved by conjugate gradients. A is
// never formed. Each of several ranks computes its rows (springs/shares.h), and gets the solution
// for all nodes that it holds. The preconditioner is 0 in the rows and columns of nodes that are
// not integrated, so these nodes do not change. All workers call these functions together, and get
// the same results. Numeric.
#ifndef TAUT_INTEGRATE_CONJUGATE_GRADIENT_H
#define TAUT_INTEGRATE_CONJUGATE_GRADIENT_H

#include "contact/constraints.h"
#include "integrate/preconditioner.h"

struct linear_solver {
    struct system *system;
    struct tangent *tangent;
    uint64_t nodes;
    struct node_vectors solution, residual; // the right side becomes the residual
    struct node_vectors direction, product;
    struct node_vectors image; // P r
    real *mass;                // 0 for nodes that are not integrated
    struct preconditioner preconditioner;
    const struct contact_constraints *constraints; // of the system being solved; NULL: none
};

// The factors of K and C in A.
struct linear_weights {
    double stiffness, damping;
};

struct linear_task {
    struct linear_weights weights;
    double tolerance;    // of the residual's norm, relative to its initial value
    uint64_t iterations; // at most
    bool warm;           // starts from the last solution if its residual is smaller
};

struct linear_result {
    uint64_t iterations;
    double first;    // the norm of the right side, sqrt(r' P r) with P the preconditioner
    double residual; // relative to it
    double energy;   // d'A d, if it started from 0
    bool converged;
};

// Zeroed vectors of all nodes, with padding for vector loads at the edge of a grid. False without
// memory; node_vectors_free also frees incomplete ones.
bool REAL_NAME(node_vectors_make)(const struct system *system, struct node_vectors *vectors);
void REAL_NAME(node_vectors_free)(const struct system *system, struct node_vectors *vectors);

// The same with low parts in precision mixed.
bool REAL_NAME(split_vectors_make)(const struct system *system, struct split_vectors *parts);
void REAL_NAME(split_vectors_free)(const struct system *system, struct split_vectors *parts);

taut_status REAL_NAME(linear_solver_make)(struct system *system, struct linear_solver *solver,
                                          taut_error *error);
// Updates masses and materials after they have changed; the solution is kept.
taut_status REAL_NAME(linear_solver_refresh)(struct system *system, struct linear_solver *solver,
                                             bool stiffnesses, taut_error *error);
void REAL_NAME(linear_solver_free)(const struct system *system, struct linear_solver *solver);
uint64_t REAL_NAME(linear_solver_bytes)(const struct linear_solver *solver);

// Updates the tangent to the present state and inverts the blocks.
void REAL_NAME(linear_solver_update)(struct linear_solver *solver, struct linear_weights weights,
                                     struct evaluation evaluation, const struct worker *worker);

// Computes solver->solution from solver->residual.
struct linear_result REAL_NAME(linear_solver_run)(struct system *system,
                                                  struct linear_solver *solver,
                                                  const struct linear_task *task,
                                                  const struct worker *worker);

// The same in parts, for systems whose constraints change during the solve
// (integrate/constraints.h). Starts from the last solution, or from 0:
void REAL_NAME(linear_solver_begin)(struct system *system, struct linear_solver *solver,
                                    struct linear_weights weights, bool warm,
                                    const struct worker *worker);
// adds solver->direction to the solution, with the residual;
void REAL_NAME(linear_solver_shift)(struct system *system, struct linear_solver *solver,
                                    struct linear_weights weights, const struct worker *worker);
// and continues until the norm of the residual is task->tolerance times that at the start, or
// `least`.
struct linear_result REAL_NAME(linear_solver_continue)(struct system *system,
                                                       struct linear_solver *solver,
                                                       const struct linear_task *task, double least,
                                                       const struct worker *worker);

// The norm of solver->residual by the blocks of the last update.
double REAL_NAME(linear_solver_norm)(struct system *system, struct linear_solver *solver,
                                     const struct worker *worker);

#endif
