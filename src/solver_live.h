// A solver that people touch while it runs: nodes pulled by a hand, spheres moved and scaled, held
// nodes led, springs cut, constants changed. All between steps, by the thread that steps.
#ifndef TAUT_SOLVER_LIVE_H
#define TAUT_SOLVER_LIVE_H

#include "solver.h"

// A hand at a node: a spring of no rest length to `target`, with damping, taken implicitly, so that
// no stiffness makes it unstable. It acts at every step until it is let go. One hand a solver.
struct solver_pull {
    size_t body;
    uint64_t node;             // builder number, of the body
    double target[3];          // m
    double stiffness, damping; // N/m, N s/m; both 0: chosen, so that the node follows in some steps
};

taut_status solver_pull(taut_solver *solver, const struct solver_pull *pull, taut_error *error);
void solver_let_go(taut_solver *solver);

// Moves a sphere collider from now on: centre (m), velocity (m/s), radius (m, > 0).
taut_status solver_move_sphere(taut_solver *solver, size_t collider, const double centre[3],
                               const double velocity[3], double radius, taut_error *error);

// Where a sphere is now.
void solver_sphere(const taut_solver *solver, size_t collider, double centre[3], double velocity[3],
                   double *radius);

// Leads a pinned or driven node with that velocity (m/s) from now on, until told otherwise; its
// drive of the scene counts no more. It stops at planes marked blocks_drives.
taut_status solver_lead_node(taut_solver *solver, size_t body, uint64_t node,
                             const double velocity[3], taut_error *error);

// Springs and faces to leave out, by their builder numbers over all bodies of the scene as built.
struct solver_cuts {
    uint8_t *springs; // 1: cut; length spring_count of the uncut scene
    uint8_t *faces;
    uint64_t spring_count, face_count;
};

// As solver_create, without what is cut. A closed body that loses a face loses its gas. The nodes
// stay, so that their numbers do. `cuts` may be NULL.
taut_status solver_create_cut(const taut_scene *scene, const struct solver_options *options,
                              const struct solver_cuts *cuts, taut_solver **solver,
                              taut_error *error);

// Goes on where another solver is: time, steps, positions, velocities, moved nodes, spheres,
// volumes and gas as built, and of the springs that both have, which broke and how far they
// yielded. For a solver that has just been made of the same nodes, with other constants,
// integrator, dt, precision, threads or cuts. `from_springs` and `to_springs` (may both be NULL:
// the same springs) give for each spring of a solver its number in the uncut scene.
// TAUT_ERROR_ARGUMENT where the nodes differ.
taut_status solver_go_on_from(taut_solver *solver, taut_solver *from, const uint32_t *from_springs,
                              const uint32_t *to_springs, taut_error *error);

#endif
