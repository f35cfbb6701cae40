// The solver as the other modules see it, beyond taut.h: creation with options, stepping, what can
// be read of a run, critical steps, the estimate of memory, restoring a run in another solver, and
// interaction between two steps. `taut_solver` is opaque: how it is made up is in private.h.
//
// Nodes and springs are numbered as the builders number them, unless a comment says "internal".
#ifndef TAUT_SOLVER_SOLVER_H
#define TAUT_SOLVER_SOLVER_H

#include "parallel/team.h"
#include "springs/plan.h"
#include "scene/bodies.h"
#include "simd/isa.h"
#include "stability/limits.h"
#include "state/records.h"
#include "state/frame.h"
#include "taut.h"

// ---- Creation

// Whether a solver keeps the energy budget (work of damping, drag, friction, wind and drives),
// which takes a pass over all springs each step and rules out the kernels that fuse forces and
// motion.
enum budget_choice { BUDGET_OF_SCENE, BUDGET_OFF, BUDGET_ON }; // of scene: output.work

// Settings of a solver beyond taut_config.
struct solver_options {
    taut_config config;
    struct plan_options plan; // options that config.kernel implies are added
    bool keep_numbers;        // no node is renumbered
    // May change what the builders made (materials, velocities, gas) before it is compiled; NULL:
    // as it is.
    taut_status (*change)(const void *context, struct bodies *bodies, taut_error *error);
    const void *change_context;
    // Bytes that the caller is going to hold beside the solver: they count when the memory that is
    // there is compared with the estimate, before anything is built.
    double beside;
    enum budget_choice budget;
    bool tolerant; // only values that are not finite end a run: the caller evaluates its energies
    // Receives what the builders find in the scene; NULL: the first finding becomes the error.
    struct diagnostics *diagnostics;
};

taut_status solver_create(const taut_scene *scene, const struct solver_options *options,
                          taut_solver **result, taut_error *error);

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

// ---- Stepping

// Steps until so many are done or dt has changed (dt: auto), with or without a check for divergence
// after the last step (the check every DIVERGENCE_STEPS steps is always made). A caller that cuts a
// run by wall time leaves it out, so that the step at which a divergence is found does not depend
// on how fast the machine was.
taut_status solver_advance(taut_solver *solver, uint64_t steps, bool check_at_end,
                           taut_error *error);

// Continues with another number of threads, at least 1; the results are the same bits.
taut_status solver_set_threads(taut_solver *solver, int threads, taut_error *error);

// Runs `function` on the solver's team, which is made when it is first wanted, or wanted with
// another number of threads than before.
void solver_work(taut_solver *solver, team_function function, void *context);

// How dt is found, and since when it is as it is.
struct dt_rule {
    bool automatic;    // dt: auto
    double safety;     // the fraction of the bound
    double built;      // s, what was chosen for the scene as built
    double duration;   // s, of the run; 0: so many steps as the scene says, however long they are
    double since_time; // s
    uint64_t since_step;
    uint64_t interval;                  // steps between two evaluations of the bound;
    uint64_t pumping, pumping_interval; // but up to this step, as long as gas is pumped in, these
    uint64_t changes;                   // of dt, so far
};

const struct dt_rule *solver_dt_rule(const taut_solver *solver);

// The time at the start of a step, and of the last one planned, s, as dt is now.
double solver_time_of(const taut_solver *solver, uint64_t step);
double solver_planned_time(const taut_solver *solver);

// The number of the step that is nearest to a time, as dt is now.
double solver_steps_until(const taut_solver *solver, double time);

// ---- What a solver is

// The compiled scene, which no step changes.
const struct topology *solver_topology(const taut_solver *solver);

// How the springs of every body are stored, into as many elements that are all 0.
void solver_count_plan(const taut_solver *solver, struct plan_statistics *bodies);

enum precision solver_precision(const taut_solver *solver);
size_t solver_real_bytes(const taut_solver *solver); // 4 or 8
enum integrator solver_integrator(const taut_solver *solver);
enum isa solver_isa(const taut_solver *solver);
int solver_force_evaluations(const taut_solver *solver);   // a step
double solver_position_ratio(const taut_solver *solver);   // position_step / dt
const char *solver_kernel_name(const taut_solver *solver); // of springs on no grid

// The requested kernel, and the names of all by number; NULL after the last.
taut_kernel solver_kernel(const taut_solver *solver);
const char *kernel_choice_name(int kernel);

// The kernel that computes the springs of a body: "grid", "packed", "coloured", "reference", or
// "blocks" where xpbd solves them in coloured blocks.
const char *solver_body_kernel(const taut_solver *solver, size_t body);

// Bytes allocated for topology, plan, constants and state.
uint64_t solver_bytes(const taut_solver *solver);

double solver_setup_seconds(const taut_solver *solver); // wall time of solver_create
// Wall time spent in steps, with all that is enabled.
double solver_step_seconds(const taut_solver *solver);
const struct stage_clock *solver_stage_clock(const taut_solver *solver);

// Spring updates done so far: springs times force evaluations.
double solver_spring_updates(const taut_solver *solver);

// ---- The present state

// 3 doubles a node, of nodes counted over all bodies; each array may be NULL. Forces are those of
// the last evaluation.
void solver_read_nodes(const taut_solver *solver, uint64_t first, uint64_t count, double *positions,
                       double *velocities, double *forces);

// Strains and broken flags of all springs, over all bodies; `broken` may be NULL.
void solver_read_springs(const taut_solver *solver, double *strains, uint8_t *broken);

// Evaluates energies and volumes of the present state, which stays as it is; forces, where they are
// wanted; and brings the energy budget up to now.
void solver_evaluate(taut_solver *solver, bool want_forces, taut_energy *energy);

// The volume of a closed body at the last evaluation, m3 (m2).
double solver_body_volume(const taut_solver *solver, size_t body);

// NULL where no energy budget is kept.
const struct energy_budget *solver_energy_budget(const taut_solver *solver);

// NULL where the integrator solves no equations.
const struct implicit_statistics *solver_implicit_statistics(const taut_solver *solver);

// A frame (state/frame.h) with arrays for some fields of this solver. The bodies' names and counts
// are among them in any case; lists are filled here, once.
taut_status solver_make_frame(const taut_solver *solver, unsigned fields, struct frame *frame,
                              taut_error *error);

// Fills the head of a frame and those of the fields that it has room for from the present state,
// with the solver's own threads. For energies and forces the state is evaluated, which does not
// change it. Broken flags are there only where some spring can break. The frame may have been made
// for a picture of the solver (picture/subject.h).
void solver_read_frame(taut_solver *solver, unsigned fields, struct frame *frame);

// Reads position and velocity of one node into a frame with room for them, with time and step; no
// field of all nodes is of that time then.
void solver_read_frame_node(const taut_solver *solver, uint64_t node, struct frame *frame);

// ---- Critical steps

// The largest stable steps at the present state: bounds, which cost a few steps; with computed
// values of the integrator in use as well, from eigenvalues, which cost some hundred; and with
// those of all, which cost up to some thousand where there is damping.
taut_status solver_critical_step(taut_solver *solver, struct critical_step *result,
                                 taut_error *error);
taut_status solver_own_sharp_step(taut_solver *solver, struct critical_step *result,
                                  taut_error *error);
taut_status solver_sharp_step(taut_solver *solver, struct critical_step *result, taut_error *error);

// Whether a dt that the scene gives is longer than the computed stable step at the present state,
// and where that is set. Costs a few steps where the bound is not exceeded. Beyond it, what was
// found at the start stands where dt was too long already then; else eigenvalues are computed, for
// as long as is estimated, from counts, to be a tenth of the time of the steps done, or a tenth of
// a second: what is expected to take longer is left out, and the bound stands in for the value.
// `stable` is 0 where dt is not seen to be too long: also with dt: auto, and where eigenvalues
// would take more memory than there is, or time.
struct dt_exceeded {
    double stable; // s
    bool is_exact; // else it is certainly stable, and more may be
    bool at_start; // it is that of the state at the start
    bool checked; // it is known whether dt is too long; with dt: auto, which follows the bound, too
    const char *body; // of the solver
    uint64_t node;    // of the body
};
taut_status solver_check_dt(taut_solver *solver, const taut_scene *scene,
                            struct dt_exceeded *exceeded, taut_error *error);

// What is known from the start alone: for runs whose last state says nothing.
struct dt_exceeded solver_dt_at_start(const taut_solver *solver);

// ---- The estimate of memory

struct memory_estimate {
    double nodes, springs, faces; // of all bodies
    bool exact;                   // false: some counts are guessed from files (scene/bodies.h)
    // Bytes, on top of the scene as it was read:
    double building; // the most while the bodies are built
    double making;   // the most until a solver has been made of them, they included
    double solver;   // what the solver then holds
    double sharp;    // what solver_sharp_step takes beside the solver
    size_t largest;  // the body that takes most
};

// `options` may be NULL: those of a run without options. Opens the scene's mesh and CSV files,
// reads samples of them, and allocates nothing.
void memory_estimate_make(const taut_scene *scene, const struct solver_options *options,
                          struct memory_estimate *estimate);

// Bytes of a frame (solver_make_frame) with some fields.
double memory_of_frame(const struct memory_estimate *estimate, unsigned fields);

// TAUT_ERROR_MEMORY, with both figures, where `bytes` more are more than this process may take now
// (parallel/quota.h). Small numbers of bytes are not checked. "%s needs about ..." begins the
// sentence.
taut_status memory_check(double bytes, const char *what, taut_error *error);

// The same before a solver is made of a scene (options->beside included), with the body that takes
// most; TAUT_ERROR_UNSUPPORTED where all nodes together are more than can be numbered.
taut_status memory_check_scene(const taut_scene *scene, const struct solver_options *options,
                               taut_error *error);

// And before its largest stable step is found beside the solver that has been made of it.
taut_status memory_check_sharp(const taut_scene *scene, taut_error *error);

// And before its bodies alone are built.
taut_status memory_check_bodies(const taut_scene *scene, taut_error *error);

// ---- Restoring

// Continues the run of another solver: time, steps, positions, velocities, nodes with prescribed
// motion, spheres, volumes and gas as built, and of the springs that both have, which broke and how
// far they yielded. For a solver that has just been made of the same nodes, with other constants,
// integrator, dt, precision, threads or cuts. `from_springs` and `to_springs` (may both be NULL:
// the same springs) give for each spring of a solver its number in the uncut scene.
// TAUT_ERROR_ARGUMENT where the nodes differ.
taut_status solver_restore_from(taut_solver *solver, taut_solver *from,
                                const uint32_t *from_springs, const uint32_t *to_springs,
                                taut_error *error);

// The state of a run at one time, that other solvers of the scene are started from. It holds
// nothing of the solver that it was saved from.
struct solver_checkpoint;

// TAUT_ERROR_MEMORY leaves *checkpoint NULL.
taut_status solver_save(taut_solver *solver, struct solver_checkpoint **checkpoint,
                        taut_error *error);

// Bytes of a checkpoint of the solver, at most.
double solver_checkpoint_bytes(const taut_solver *solver);

// Sets a solver of the same scene, with any integrator and step, to the time and the state of a
// checkpoint, with other positions and velocities (m, m/s; 3 doubles a node) where they are not
// NULL. The number of the step is the one that is nearest to the time with the solver's own dt.
// TAUT_ERROR_ARGUMENT where nodes or springs differ in number. Several solvers may be restored from
// one checkpoint at the same time.
taut_status solver_restore(taut_solver *solver, const struct solver_checkpoint *checkpoint,
                           double *positions, double *velocities, taut_error *error);

void solver_checkpoint_free(struct solver_checkpoint *checkpoint); // may be NULL

// ---- Interaction, between two steps and by the thread that steps

// A mouse spring: from a free node to `target`, without rest length, with damping, integrated
// implicitly, so that no stiffness makes it unstable. It acts at every step until it is released.
// One of them a solver.
struct solver_grab {
    size_t body;
    uint64_t node;             // of the body
    double target[3];          // m
    double stiffness, damping; // N/m, N s/m; both 0: chosen, so that the node follows in some steps
};

taut_status solver_grab(taut_solver *solver, const struct solver_grab *grab, taut_error *error);
void solver_release_grab(taut_solver *solver);

// Moves a sphere collider from now on: centre (m), velocity (m/s), radius (m, > 0).
taut_status solver_move_sphere(taut_solver *solver, size_t collider, const double centre[3],
                               const double velocity[3], double radius, taut_error *error);

struct sphere_state {
    vec3 centre, velocity; // m, m/s
    double radius;         // m
};

// Where a sphere is now.
struct sphere_state solver_sphere(const taut_solver *solver, size_t collider);

// Moves a pinned or driven node with that velocity (m/s) from now on, until it is changed; its
// drive of the scene counts no more. It stops at planes marked blocks_drives.
taut_status solver_set_kinematic_velocity(taut_solver *solver, size_t body, uint64_t node,
                                          const double velocity[3], taut_error *error);

#endif
