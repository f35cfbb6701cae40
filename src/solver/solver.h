// The interface of the solver to other modules, in addition to taut.h: creation with options,
// stepping, queries, critical steps, the memory estimate, restoring a run in another solver, and
// interaction between two steps. `taut_solver` is opaque: its structure is in private.h.
//
// Nodes and springs are numbered as the builders number them, unless a comment says "internal".
#ifndef TAUT_SOLVER_SOLVER_H
#define TAUT_SOLVER_SOLVER_H

#include "contact/surface_report.h"
#include "base/archive.h"
#include "parallel/team.h"
#include "springs/plan.h"
#include "springs/plan_parts.h"
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
enum budget_choice { BUDGET_OF_SCENE, BUDGET_OFF, BUDGET_ON }; // BUDGET_OF_SCENE: output.work

// Settings of a solver beyond taut_config.
struct solver_options {
    taut_config config;
    struct plan_options plan; // extended by the options that config.kernel implies
    bool keep_numbering;      // nodes are not renumbered
    // May change the bodies as built (materials, velocities, gas) before they are compiled; NULL:
    // no change.
    taut_status (*change)(const void *context, struct bodies *bodies, taut_error *error);
    const void *change_context;
    // For a solver that continues from a checkpoint: called when the scene is compiled and planned,
    // to give the compiled scene the constants that the run had; NULL: those of the scene. And the
    // dt with which it continues, s, so that none is looked for (dt: auto); 0: that of the scene.
    taut_status (*planned)(void *context, taut_solver *solver, taut_error *error);
    void *planned_context;
    double continued_dt;
    // Bytes that the caller is going to allocate besides the solver. They are included when the
    // estimate is compared with the available memory, before anything is built. Where all ranks
    // have the whole scene, only rank 0 allocates them.
    double extra_bytes;
    enum budget_choice budget;
    bool tolerant; // only non-finite values end a run: the caller checks the energies itself
    // Receives the findings of the builders; NULL: the first finding becomes the error.
    struct diagnostics *diagnostics;
    // The caller is going to call solver_share before anything else: each of several ranks may then
    // make only its part of the nodes.
    bool shares;
};

taut_status solver_create(const taut_scene *scene, const struct solver_options *options,
                          taut_solver **result, taut_error *error);

// Springs and faces to leave out, by their builder numbers over all bodies of the uncut scene.
struct solver_cuts {
    uint8_t *springs; // 1: cut; length spring_count of the uncut scene
    uint8_t *faces;
    uint64_t spring_count, face_count;
};

// As solver_create, without the springs and faces in `cuts` (may be NULL). A closed body that loses
// a face loses its gas. No node is removed, so node numbers stay the same.
taut_status solver_create_cut(const taut_scene *scene, const struct solver_options *options,
                              const struct solver_cuts *cuts, taut_solver **solver,
                              taut_error *error);

// ---- Stepping

// Advances by `steps` steps, or until dt changes (dt: auto). Divergence is checked at step numbers
// that are multiples of DIVERGENCE_STEPS, and at the last planned step, so that the step at which a
// run stops depends neither on how its steps are divided among calls nor on output. If values are
// not finite after the last step, or the kinetic energy is a hundred times what a check allows,
// the solver continues to the next check, which reports that.
taut_status solver_advance(taut_solver *solver, uint64_t steps, taut_error *error);

// The same for the next of the steps that are left to a state that is shown. Short of it the solver
// stays where these end, and *certain says whether solver_advance would have continued; else it is
// left as it is. So where steps are divided, by the clock, does not change what is shown.
taut_status solver_advance_towards(taut_solver *solver, uint64_t steps, uint64_t left,
                                   bool *certain, taut_error *error);

// False once memory has run out for lists of contact, or a step has been given up
// (base/interruption.h): what a step has left without its forces is no state of the run, and not to
// be continued.
bool solver_is_whole(const taut_solver *solver);

// Whether it was given up.
bool solver_was_interrupted(const taut_solver *solver);

// Whether the solver has not been started yet, since this rank has only its part: solver_share does
// that.
bool solver_waits(const taut_solver *solver);

// Divides the solver among all ranks of the group (ranks/ranks.h), which have created the same of
// this scene with these options; nothing if there is one. From then on ranks other than 0 only
// serve. TAUT_ERROR_UNSUPPORTED, with the key, if the scene has what only one process can compute.
// Collective; where ranks hold only their parts, rank 0 alone has what is found at the start, or an
// error there.
taut_status solver_share(taut_solver *solver, const taut_scene *scene,
                         const struct solver_options *options, taut_error *error);

// Whether this rank, one of several, has memory for the state of its own nodes only. What reads all
// nodes should read them piece by piece.
bool solver_has_part(const taut_solver *solver);

// Whether solver_share has divided it, also where the start has failed then: the others have to
// serve.
bool solver_is_shared(const taut_solver *solver);

// Called on ranks other than 0, where solver_is_shared: takes part in what rank 0 does with its
// solver, until rank 0 destroys it. `answer` (may be NULL) is called with what rank 0 gives
// solver_begin_call.
typedef void solver_answer(void *context, const void *message);
void solver_serve(taut_solver *solver, solver_answer *answer, void *context);

// Called on rank 0 of several: the others call their answer with a copy of the message. Until the
// end of the call all ranks work together on the nodes that they have, and nothing is collected.
void solver_begin_call(const taut_solver *solver, const void *message, size_t bytes);
void solver_end_call(const taut_solver *solver);

// Where ranks hold only their parts: how many nodes the part of a rank has.
uint64_t solver_rank_nodes(const taut_solver *solver, int rank);

// The parts that `count` ranks would have, one element each; no processes are started.
taut_status solver_count_parts(const taut_solver *solver, int count,
                               struct plan_part_counts *counts, taut_error *error);

// Continues with another number of threads, at least 1. The results are the same bits.
taut_status solver_set_threads(taut_solver *solver, int threads, taut_error *error);

// Runs `function` on the solver's team, which is created at the first call and recreated after the
// number of threads has changed.
void solver_work(taut_solver *solver, team_function function, void *context);

// How dt is determined, and since when it has its present value.
struct dt_rule {
    bool automatic;    // dt: auto
    double safety;     // the fraction of the bound
    double built;      // s, chosen for the scene as built
    double duration;   // s, of the run; 0: the scene gives a number of steps, whatever their length
    double since_time; // s
    uint64_t since_step;
    uint64_t interval;                  // steps between two evaluations of the bound;
    uint64_t pumping, pumping_interval; // but while gas is pumped in, up to step `pumping`, this
    uint64_t changes;                   // of dt, so far
    double load;                        // that of contacts for which dt was last adapted (dt_load),
    double load_seen;                   // and as last found;
    uint64_t load_due;                  // from this step on it has to be found again,
    uint64_t load_steps;                // so many after it was
    double mesh_motion_max; // m, how far mesh colliders may move in one dt (mesh_step.c)
};

const struct dt_rule *solver_dt_rule(const taut_solver *solver);

// The longest step in which no mesh collider ever moves farther than surfaces can follow, s, and
// the collider that sets it; INFINITY if none moves.
double solver_mesh_step(const taut_solver *solver, size_t *collider);

// The time at the start of a step, and at the end of the last planned step, s, at the present dt.
double solver_time_of(const taut_solver *solver, uint64_t step);
double solver_planned_time(const taut_solver *solver);

// The number of the step nearest to a time, at the present dt.
double solver_steps_until(const taut_solver *solver, double time);

// ---- Settings and counts

// The compiled scene, which does not change during steps.
const struct topology *solver_topology(const taut_solver *solver);

// How the springs of each body are stored. `bodies` has one element per body, all zero.
void solver_count_plan(const taut_solver *solver, struct plan_statistics *bodies);

enum precision solver_precision(const taut_solver *solver);
size_t solver_real_bytes(const taut_solver *solver); // 4 or 8
enum integrator solver_integrator(const taut_solver *solver);
enum isa solver_isa(const taut_solver *solver);
int solver_force_evaluations(const taut_solver *solver); // per step
double solver_position_ratio(const taut_solver *solver); // position_step / dt

// m, the greatest coordinate of any node as the run stores it: in precision mixed counted from the
// origin of the state.
double solver_greatest_coordinate(const taut_solver *solver);

// N/m, the trace of the stiffness matrix of all springs and elements at present: how much energy
// rounding of positions stores in them (stability/divergence.h).
double solver_stiffness_trace(taut_solver *solver);
const char *solver_kernel_name(const taut_solver *solver); // for springs on no grid

// The requested kernel. Names of all kernels by number, and NULL after the last.
taut_kernel solver_kernel(const taut_solver *solver);
const char *kernel_choice_name(int kernel);

// The kernel that computes the springs of a body: "grid", "packed", "coloured", "reference", or
// "blocks" if xpbd solves them in coloured blocks.
const char *solver_body_kernel(const taut_solver *solver, size_t body);

// Bytes allocated for topology, plan, constants and state.
uint64_t solver_bytes(const taut_solver *solver);

double solver_setup_seconds(const taut_solver *solver); // wall time of solver_create
// Wall time spent in steps, including everything that is enabled.
double solver_step_seconds(const taut_solver *solver);
uint64_t solver_step_received(const taut_solver *solver); // bytes of other ranks, in these steps
const struct stage_clock *solver_stage_clock(const taut_solver *solver);

// The step that a checkpoint had from which the solver was created; 0: from none.
uint64_t solver_first_step(const taut_solver *solver);

// Spring updates done by this solver: springs times force evaluations.
double solver_spring_updates(const taut_solver *solver);

// ---- The present state

// 3 doubles per node, for nodes numbered over all bodies; each array may be NULL. Forces are those
// of the last evaluation.
void solver_read_nodes(const taut_solver *solver, uint64_t first, uint64_t count, double *positions,
                       double *velocities, double *forces);

// The nodes, numbered within the body, of springs of a body (2 each), or of its triangles (3 each).
// Where nodes are not renumbered.
void solver_read_list(const taut_solver *solver, size_t body, bool triangles, uint64_t first,
                      uint64_t count, uint32_t *nodes);

// Strains and broken flags of all springs, over all bodies; `broken` may be NULL.
void solver_read_springs(const taut_solver *solver, double *strains, uint8_t *broken);

// Evaluates energies and volumes of the present state, and forces if `want_forces`, and updates the
// energy budget. The state does not change.
void solver_evaluate(taut_solver *solver, bool want_forces, taut_energy *energy);

// The volume of a closed body at the last evaluation, m3 (m2).
double solver_body_volume(const taut_solver *solver, size_t body);

// NULL if no energy budget is kept.
const struct energy_budget *solver_energy_budget(const taut_solver *solver);

// NULL if the integrator solves no equations.
const struct implicit_statistics *solver_implicit_statistics(const taut_solver *solver);

// How often contact of surfaces has cut the motion of a step, in this solver.
struct surface_cuts solver_surface_cuts(const taut_solver *solver);

// Triangles, candidates and contacts of surfaces at present.
struct surface_counts solver_surface_counts(const taut_solver *solver);

// The stiffness of contact of a body, given or chosen; 0 without surfaces.
struct surface_stiffness solver_surface_stiffness(const taut_solver *solver, size_t body);

// The result of `existing: relax` of contact when the solver was created, or at the start of the
// run that it continues: the pairs that crossed, the nodes that have been moved and their bodies,
// and the greatest distance that one has been moved.
struct solver_relaxed {
    uint64_t crossings, rounds;
    uint64_t bodies, nodes;
    double farthest; // m
};
struct solver_relaxed solver_surface_relaxed(const taut_solver *solver);

// Allocates a frame (state/frame.h) of this solver with arrays for `fields`. Names and counts of
// the bodies are always included; lists are filled here, once.
taut_status solver_make_frame(const taut_solver *solver, unsigned fields, struct frame *frame,
                              taut_error *error);

// Where ranks hold only their parts (solver_has_part): makes the piece of this rank (state/frame.h)
// of a frame with the bodies `whole`, which must live as long. `with_lines`: for each body, whether
// its springs are lines. TAUT_ERROR_MEMORY. solver_read_piece fills it, on all ranks together;
// forces must have been evaluated.
taut_status solver_make_piece(const taut_solver *solver, const struct frame_body *whole,
                              const bool *with_lines, unsigned fields, struct frame *frame,
                              taut_error *error);
void solver_read_piece(const taut_solver *solver, unsigned fields, struct frame *frame);

// Fills the scalars of a frame, and those of `fields` that it has arrays for, from the present
// state, with the solver's own threads. For energies and forces the state is evaluated, which does
// not change it. Broken flags are included only if some spring can break. The frame may have been
// made for a picture of the solver (picture/subject.h).
void solver_read_frame(taut_solver *solver, unsigned fields, struct frame *frame);

// Reads position and velocity of one node, time and step into a frame with space for them. The
// fields of all nodes are then no longer valid in the frame.
void solver_read_frame_node(const taut_solver *solver, uint64_t node, struct frame *frame);

// ---- Critical steps

// The largest stable steps at the present state. solver_critical_step: bounds, which cost as much
// as a few steps. solver_own_computed_step: also the value of the integrator in use, computed from
// eigenvalues, which cost as much as some hundred steps. solver_computed_steps: also the values of
// all integrators, which cost up to some thousand steps with damping.
taut_status solver_critical_step(taut_solver *solver, struct critical_step *result,
                                 taut_error *error);
taut_status solver_own_computed_step(taut_solver *solver, struct critical_step *result,
                                     taut_error *error);
taut_status solver_computed_steps(taut_solver *solver, struct critical_step *result,
                                  taut_error *error);

// Whether the dt of the scene is longer than the computed stable step at the present state, and
// where the limit is set. Costs as much as a few steps if the bound is not exceeded. If it is
// exceeded and dt was already too long at the start, the result of the start is returned. Otherwise
// eigenvalues are computed if this is estimated, from counts, to take at most a tenth of the time
// of the steps done so far, or a tenth of a second; if it would take longer, the bound replaces the
// computed value. `stable` is 0 if dt is not found to be too long: also with dt: auto, and if
// eigenvalues would take more memory or time than available.
struct dt_exceeded {
    double stable;  // s
    bool is_exact;  // false: certainly stable, and a longer step may be too
    bool is_tested; // not certain: solver_tested_step
    bool at_start;  // found for the state at the start
    bool checked; // it is known whether dt is too long; also with dt: auto, which follows the bound
    const char *body; // of the solver
    uint64_t node;    // of the body
};

// Beside elements that soften springs no step of xpbd is certain, as too few iterations make
// springs softer than they are: s, up to which it has been stable in tests (docs/numerics.md,
// xpbd); 0: none of these, or not known. `bounds` has the guaranteed steps.
double solver_tested_step(const struct critical_step *bounds, uint64_t substeps);
taut_status solver_check_dt(taut_solver *solver, const taut_scene *scene,
                            struct dt_exceeded *exceeded, taut_error *error);

// What contacts of surfaces in the present state require of dt, where it is more than a guaranteed
// step allows for (SURFACE_WEIGHTS); otherwise, and with integrators without such a limit, `times`
// is 0. Takes as long as some steps.
struct contact_excess {
    double times;     // what they add, over what dt leaves beside the springs
    double stable;    // s, the step that is guaranteed with them
    const char *body; // of the solver
    uint64_t node;    // of the body
};
taut_status solver_contact_excess(taut_solver *solver, struct contact_excess *excess,
                                  taut_error *error);

// The result of the check at the start, for runs whose last state cannot be checked.
struct dt_exceeded solver_dt_at_start(const taut_solver *solver);

// ---- The estimate of memory

struct memory_estimate {
    double nodes, springs, faces;          // total over all bodies
    double collider_nodes, collider_faces; // of mesh colliders
    bool exact;    // false: some counts are guessed from files (scene/bodies.h)
    bool in_parts; // several ranks hold only their parts of the scene (solver_has_part)
    double share;  // of the nodes, that a rank then has with its halo; otherwise 1
    uint64_t first_node, end_node; // and those of its own
    bool sheds;                    // bodies of others may be shed then (part_bodies.c)
    // Bytes, in addition to the scene as read:
    double building; // the maximum while the bodies are built
    double making;   // the maximum until a solver has been made of them, including them
    double solver;   // allocated by the complete solver
    double critical; // allocated by solver_computed_steps in addition to the solver
    double copy;     // allocated by solver_copy_make in addition to the solver
    size_t largest;  // the body that needs most memory
};

// `options` may be NULL: the defaults. Opens the scene's mesh and CSV files, reads samples of them,
// and allocates nothing.
void memory_estimate_make(const taut_scene *scene, const struct solver_options *options,
                          struct memory_estimate *estimate);

// The same of rank `number` of `count`, which share a solver of the scene (solver_share).
void memory_estimate_of_rank(const taut_scene *scene, const struct solver_options *options,
                             int count, int number, struct memory_estimate *estimate);

// Bytes of a frame (solver_make_frame) with `fields`.
double memory_of_frame(const struct memory_estimate *estimate, unsigned fields);

// Returns TAUT_ERROR_MEMORY, with both figures, if `bytes` more are more than this process may
// allocate now (parallel/quota.h). Small numbers of bytes are not checked. The message begins with
// "`what` needs about ...".
taut_status memory_check(double bytes, const char *what, taut_error *error);

// Notes how much memory this machine has now, with which memory_check_scene compares what all ranks
// on it need: they read it before any of them builds anything. Collective.
void memory_note_shared(void);

// The same check before a solver is made of a scene (options->extra_bytes included); the message
// names the body that needs most memory. Where several ranks share the solver, the check is made
// for this one, and for all on the same machine together. TAUT_ERROR_UNSUPPORTED if there are more
// nodes than can be numbered.
taut_status memory_check_scene(const taut_scene *scene, const struct solver_options *options,
                               taut_error *error);

// The same check before solver_computed_steps, for a solver that has been made of the scene.
taut_status memory_check_computed(const taut_scene *scene, taut_error *error);

// The same check before the bodies alone are built.
taut_status memory_check_bodies(const taut_scene *scene, taut_error *error);

// ---- Restoring

// Continues the run of another solver: time, steps, positions, velocities, nodes with prescribed
// motion, spheres, volumes and gas as built, and for the springs that both have, which of them
// broke and how far they yielded. `solver` must just have been made of the same nodes; its
// constants, integrator, dt, precision, threads or cuts may differ. `from_springs` and `to_springs`
// map the springs of each solver to their numbers in the uncut scene (both NULL: the same springs).
// TAUT_ERROR_ARGUMENT if the nodes differ.
taut_status solver_restore_from(taut_solver *solver, taut_solver *from,
                                const uint32_t *from_springs, const uint32_t *to_springs,
                                taut_error *error);

// The state of a run at one time, from which other solvers of the scene can start. It does not
// refer to the solver from which it was saved.
struct solver_checkpoint;

// On TAUT_ERROR_MEMORY *checkpoint is NULL.
taut_status solver_save(taut_solver *solver, struct solver_checkpoint **checkpoint,
                        taut_error *error);

// An upper bound on the bytes of a checkpoint of the solver.
double solver_checkpoint_bytes(const taut_solver *solver);

// Sets a solver of the same scene, with any integrator and step, to the time and the state of a
// checkpoint, with other positions and velocities (m, m/s; 3 doubles per node) if these are not
// NULL. The step number becomes the one nearest to the time at the solver's own dt.
// TAUT_ERROR_ARGUMENT if the numbers of nodes or springs differ. Several solvers may be restored
// from one checkpoint at the same time.
taut_status solver_restore(taut_solver *solver, const struct solver_checkpoint *checkpoint,
                           double *positions, double *velocities, taut_error *error);

void solver_checkpoint_free(struct solver_checkpoint *checkpoint); // may be NULL

// The same as a stream of bytes (base/archive.h, docs/checkpoints.md), with all that a run
// remembers: the stream continues to the bit. Failures of the sink are the caller's to report where
// it returns true.
taut_status solver_write_checkpoint(taut_solver *solver, archive_sink *sink, void *context,
                                    taut_error *error);

// A copy of all that a run remembers at one step. It is written on any thread while the solver
// continues.
struct solver_copy;

// On failure *copy is NULL. TAUT_ERROR_MEMORY also if the solver's state is not whole.
taut_status solver_copy_make(taut_solver *solver, struct solver_copy **result, taut_error *error);

// An upper bound on its bytes.
double solver_copy_bytes(const taut_solver *solver);

// The same without copies of the large arrays, which are read from the solver: it has to be written
// before the next step.
taut_status solver_copy_refer(taut_solver *solver, struct solver_copy **result, taut_error *error);

// Writes the stream, with `arrays` of the caller's at its end; their names begin with
// ARCHIVE_OUTPUT.
taut_status solver_copy_write(struct solver_copy *copy, const struct archive_array *arrays,
                              size_t array_count, archive_sink *sink, void *context,
                              taut_error *error);

// Where ranks hold only their parts, all may write the numbers of nodes of a checkpoint together,
// each its own, into one file.
struct checkpoint_sink {
    // Puts bytes at an offset of the file; false: it cannot, which the caller notices.
    bool (*put)(void *context, uint64_t offset, const void *bytes, size_t count);
    // Called on rank 0: the ranks have put so many bytes after those of the sink, which continues
    // behind them.
    void (*pass)(void *context, uint64_t count);
    void *context;
};

// Whether the numbers of nodes of a copy are with other ranks; called on rank 0. Then
// solver_copy_write can write them together with those ranks, which call solver_join_checkpoint in
// a call (solver_begin_call); `sink` must live as long. The bytes are those of one process.
bool solver_copy_has_parts(const struct solver_copy *copy);
void solver_copy_share(struct solver_copy *copy, const struct checkpoint_sink *sink);
taut_status solver_join_checkpoint(const taut_solver *solver, const struct checkpoint_sink *sink,
                                   taut_error *error);

void solver_copy_free(struct solver_copy *copy); // may be NULL

// A solver of a scene that continues where the stream was written. `path` is for messages.
// TAUT_ERROR_IO where the stream is cut off, altered or none; TAUT_ERROR_UNSUPPORTED where its
// format is newer; TAUT_ERROR_ARGUMENT where it is of another scene; and what solver_create fails
// with. Where solver_waits then, solver_share reads the state, of the nodes of this rank: until
// then source, context and path have to stay as they are.
taut_status solver_create_from_checkpoint(const taut_scene *scene,
                                          const struct solver_options *options,
                                          archive_source *source, void *context, const char *path,
                                          taut_solver **solver, taut_error *error);

// ---- Interaction, between two steps, on the thread that steps

// A mouse spring: a damped spring without rest length from a free node to `target`, integrated
// implicitly, so that no stiffness makes it unstable. It acts in every step until it is released. A
// solver has at most one.
struct solver_grab {
    size_t body;
    uint64_t node;             // of the body
    double target[3];          // m
    double stiffness, damping; // N/m, N s/m; both 0: automatic, to follow within some steps
};

taut_status solver_grab(taut_solver *solver, const struct solver_grab *grab, taut_error *error);
void solver_release_grab(taut_solver *solver);

// Changes a sphere collider from now on: centre (m), velocity (m/s), radius (m, > 0).
taut_status solver_move_sphere(taut_solver *solver, size_t collider, const double centre[3],
                               const double velocity[3], double radius, taut_error *error);

struct sphere_state {
    vec3 centre, velocity; // m, m/s
    double radius;         // m
};

// The present position of a sphere.
struct sphere_state solver_sphere(const taut_solver *solver, size_t collider);

// How far a mesh collider has been moved from where the scene has it (m), and its velocity beside
// that of the scene (m/s).
struct mesh_displacement {
    vec3 displacement, velocity;
};

// Its present `translate`, m.
vec3 solver_mesh_translate(const taut_solver *solver, size_t collider);

// Moves a pinned or driven node with this velocity (m/s) from now on, until the next call; its
// drive in the scene no longer applies. It stops at planes marked blocks_drives.
taut_status solver_set_kinematic_velocity(taut_solver *solver, size_t body, uint64_t node,
                                          const double velocity[3], taut_error *error);

#endif
