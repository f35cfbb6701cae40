// The structure of a solver, and the functions that the files of solver/ call of each other. No
// other module includes this.
#ifndef TAUT_SOLVER_PRIVATE_H
#define TAUT_SOLVER_PRIVATE_H

#include "solver/solver.h"
#include "solver/system.h"

struct solver_ranks;

struct taut_solver {
    const taut_allocator *allocator;
    taut_allocator allocator_copy;
    struct topology *topology;
    struct plan *plan;
    const struct system_functions *functions; // for the precision in use
    struct system *system;
    uint64_t digest; // of the model that it was created of (scene/bodies.h)
    uint64_t start;  // of several ranks: the digest of what it begins with; 0: with a checkpoint
    uint64_t checkpoint; // the fingerprint of what has been read of the one it continues; 0: none
    int threads;
    bool pinned;                  // workers are bound to their NUMA nodes
    struct numa_binding *binding; // of the threads of `team`
    struct team *team;            // with `team_threads` threads; see solver_work
    int team_threads;
    enum precision precision;
    enum integrator integrator;
    taut_kernel kernel; // as requested
    enum isa isa;
    double dt; // s, present value
    struct dt_rule dt_rule;
    struct dt_exceeded exceeded;   // found at the start, for
    double exceeded_by;            // this dt, s; 0: none was found, or constants have changed since
    struct solver_relaxed relaxed; // contact.existing: relax
    double position_ratio;         // position_step / dt
    double position_step;          // s, as given by the scene; 0: not given
    struct change *change;         // not NULL if constants have changed since the last step (set.c)
    uint64_t steps_planned;
    uint64_t steps_restored; // done before the checkpoint that it continues
    double setup_seconds;
    double step_seconds;    // wall time spent in steps
    uint64_t step_received; // bytes of other ranks, in steps
    bool only_part;         // it has the state of the nodes of this rank, one of several, only
    bool lacks_membranes;   // and positions as built around these (topology.h)
    struct membrane_extent
        *extents; // of rank 0 of several with parts (solver_measure_membranes); otherwise NULL
    struct reading
        *reading; // of the checkpoint from which it continues when the ranks start; NULL: none
    struct solver_ranks *ranks; // NULL: this process computes the whole scene
};

// ---- ranks.c

// Called before and after steps that all ranks make together. On rank 0 they order the others to
// make these steps, with the arguments of solver_step_together.
void solver_begin_steps(taut_solver *solver, uint64_t steps, bool partway);
void solver_end_steps(taut_solver *solver);

// Gets the nodes of the other ranks on rank 0, unless it has those of the present step. Precedes
// everything that reads the state. Changes no result.
void solver_collect(const taut_solver *solver);

// Called on rank 0 before an evaluation of the present state (solver_evaluate): orders the others
// to make it too, where that may change what contact knows of surfaces (lists of candidates).
void solver_begin_evaluation(const taut_solver *solver, bool want_forces);

// The same before surfaces are counted (solver_surface_counts).
void solver_begin_count(const taut_solver *solver);

// Ends the service of the other ranks.
void solver_ranks_free(taut_solver *solver);

// The nodes of this rank, one of several; before there is a system. TAUT_ERROR_MEMORY.
taut_status solver_own_nodes(const taut_solver *solver, struct range *own, struct range *near,
                             taut_error *error);

// Whether all ranks begin with the same state, or have read the same of the same checkpoint.
// Collective; returns the same result on all ranks.
taut_status solver_check_start(const taut_solver *solver, taut_error *error);

// Whether several ranks may hold only their parts of a scene, because nothing in its steps needs
// all nodes. `needs_all`: some bodies need all nodes. The second function is for a scene that is
// compiled and planned, on these ranks.
bool ranks_may_hold_parts(const taut_scene *scene, bool needs_all);
bool solver_may_hold_part(const taut_solver *solver, const taut_scene *scene);

// Finds the nodes of this rank for plan_options, if ranks will hold only their parts of the scene.
taut_status ranks_find_kept(const taut_scene *scene, const struct topology *topology,
                            const struct plan *plan, struct plan_nodes *kept, taut_error *error);

// Sets 1 in `forgotten` for each body of which this rank needs no lists (plan_part_forgets). Called
// after ranks_find_kept.
taut_status ranks_find_forgotten(const struct topology *topology, const struct plan *plan,
                                 uint8_t *forgotten, taut_error *error);

// Gets the missing lists of bodies on rank 0, where ranks hold only their parts. Precedes what
// reads springs of any body.
void solver_know_lists(taut_solver *solver);

// Reads a list (solver_read_list) of a body that another rank has; false: this one has it.
bool solver_read_absent_list(const taut_solver *solver, size_t body, bool triangles, uint64_t first,
                             uint64_t count, uint32_t *nodes);
void solver_read_own_list(const taut_solver *solver, size_t body, bool triangles, uint64_t first,
                          uint64_t count, uint32_t *nodes); // get.c

// ---- part_bodies.c: bodies while a solver of several ranks is made of them, which may hold only
// their parts. When a body has been built that another rank will have, only its counts are kept; it
// is built again where the plan has to look at it.

struct part_bodies;
struct hash;

taut_status part_bodies_make(const taut_scene *scene, const struct solver_options *options,
                             struct part_bodies **result, taut_error *error);
void part_bodies_free(struct part_bodies *parts); // NULL is ignored

void part_bodies_built(void *context, size_t index, struct body *body); // a body_built

// Where bodies have been shed their digests have been made before that.
bool part_bodies_have_digests(const struct part_bodies *parts);
void part_bodies_digests(struct part_bodies *parts, const struct bodies *bodies, uint64_t *digest,
                         uint64_t *start);

// Called in this order: for plan_options; with the topology, before there is a plan; and when there
// is one.
void part_bodies_plan(struct part_bodies *parts, struct bodies *bodies,
                      struct plan_options *options);
void part_bodies_know_topology(struct part_bodies *parts, struct topology *topology);
void part_bodies_planned(struct part_bodies *parts);
bool part_bodies_lack_lists(const struct part_bodies *parts); // of which plan_check reads all

// Finds what this rank has of a solver whose ranks hold only their parts; false: it has all nodes.
bool solver_find_held(const taut_solver *solver, struct held_part *held);

// The tasks that all ranks do together outside of steps, where they hold only their parts.
enum part_task {
    PART_START,
    PART_STEP_UP_TO,
    PART_MEASURE_BOUNDS,
    PART_EVALUATE,
    PART_SCALE,
    PART_TRACE,
    PART_HASH,
    PART_BROKEN,
    PART_LOSSES
};

// Begins a task. Rank 0 orders the others to begin it too, with this argument; the others wait for
// the order, unless it has come already. Returns whether the ranks do the task together; then what
// follows exchanges nodes, until solver_end_part.
bool solver_begin_part(const taut_solver *solver, enum part_task task, uint64_t argument);
void solver_end_part(const taut_solver *solver);

// The same where all ranks come here without an order.
void solver_begin_together(const taut_solver *solver);

// Called within a common task: returns the status of this rank, or, if only others have failed,
// that there was not enough memory for `what`.
taut_status solver_agree(taut_status status, const char *what, taut_error *error);

// The numbers of nodes that can be read: three doubles each.
enum node_numbers { NODES_POSITIONS, NODES_VELOCITIES, NODES_FORCES };

// Whether numbers of nodes have to be read from the ranks that step them; otherwise this process
// has them, if it is rank 0 or the only one, after solver_collect.
bool solver_reads_parts(const taut_solver *solver);

// Reads numbers of nodes on rank 0 from the ranks that step them, through a buffer of limited size.
void solver_read_parts(const taut_solver *solver, unsigned numbers, uint64_t first, uint64_t count,
                       double *to);

// For ranks that hold only their parts. solver_part_nodes returns the nodes of this rank. All ranks
// call solver_exchange_around together: it sets everything that a frame has of the nodes to which
// springs at these nodes reach, from their owners.
struct range solver_part_nodes(const taut_solver *solver);
struct range solver_nodes_of_rank(const taut_solver *solver, int rank);
int solver_rank_of_node(const taut_solver *solver, uint64_t node);
struct plan_spring_piece solver_spring_piece(const taut_solver *solver, uint64_t first,
                                             uint64_t end);
void solver_gather_counted(const taut_solver *solver, unsigned field, uint64_t first,
                           uint64_t count, void *to); // checkpoint_gather_counted
void solver_exchange_around(const taut_solver *solver, struct range nodes, const uint64_t *list,
                            uint64_t count);
const struct plan_parts *solver_parts(const taut_solver *solver);

// ---- scattered.c

// How many of the nodes [first, end), by the builders' numbers, from the first on, one rank has in
// that order, or belong to a divided body (PLAN_SEVERAL_PARTS), then at most SCATTERED_AT_ONCE.
enum { SCATTERED_AT_ONCE = 16384 };
struct plan_spring_piece solver_node_piece(const taut_solver *solver, uint64_t first, uint64_t end);

// `bytes` bytes of each of `count` such nodes of a divided body, which `read` finds for nodes of
// this rank.
struct scattered {
    uint64_t first, count;
    size_t bytes;
    void (*read)(const taut_solver *solver, const void *context, uint64_t first, uint64_t count,
                 void *to);
    const void *context;
};

// Collects the numbers of all ranks in `numbers` on rank `to`; `space`, on all ranks, can hold as
// many. All ranks call it together.
void solver_pass_scattered(const taut_solver *solver, const struct scattered *it, int to,
                           void *numbers, void *space);

// Adds up on all ranks what springs have lost by breaking and yielding, where ranks hold only their
// parts.
void solver_share_losses(const taut_solver *solver);

// The hash of the state where ranks hold only their parts, on rank 0; each adds its own nodes.
uint64_t solver_hash_parts(const taut_solver *solver);

// ---- create.c

// Makes the state at t = 0: built volumes, energies, what integrators remember. Ranks that hold
// only their parts call it together.
void solver_start(taut_solver *solver);

// The last part of making a solver: chooses dt, starts, and looks for what is wrong at the start.
taut_status solver_begin_run(taut_solver *solver, const taut_scene *scene,
                             const struct solver_options *wanted, taut_error *error);

// ---- get.c

// The scale of the scene (system.h). Ranks that hold only their parts call it together.
struct scale solver_scale(const taut_solver *solver);

// ---- step.c

// Makes steps on this rank without checking for faults. `partway`: what solver_advance_towards
// makes of them. Returns whether the next check will certainly end the run.
bool solver_step_together(taut_solver *solver, uint64_t steps, bool partway);

// ---- set.c

// Applies changed constants. Must precede anything that is computed with them.
void apply_changes(taut_solver *solver);

// TAUT_ERROR_ARGUMENT for a value that the solver's precision cannot hold (precision_lacks,
// scene.h).
taut_status check_precision(const taut_solver *solver, const double *values, size_t count,
                            bool sizes, taut_error *error);

// ---- restore.c

// The arrays that a checkpoint keeps depending on the integrator, or on whether there are colliders
// (the last column of STATE_ARRAYS).
struct checkpoint_conditions {
    bool forces; // of the last step, of integrators that start with them
    bool previous_positions, previous_velocities; // of the previous step
    bool correction, touching, friction;
    bool normals; // of wind law node, with which the energy budget evaluates those forces
    // Precision mixed: both parts of numbers, which do not fit into one number in double.
    bool low_positions, low_velocities, low_previous, low_previous_velocities;
};

// `touching` and `friction` are left to the caller.
struct checkpoint_conditions checkpoint_conditions(enum precision precision,
                                                   enum integrator integrator,
                                                   const struct scene_environment *environment);

struct checkpoint;

// Copies the state of a solver into a checkpoint (by all workers if that compares forces; false
// without memory), or that of a checkpoint into a solver, by all workers. `adapts`: dt has to be
// checked for the state (dt_adapt).
bool checkpoint_take(taut_solver *solver, struct checkpoint *checkpoint);
void checkpoint_apply(taut_solver *solver, struct checkpoint *checkpoint, bool adapts);

// The vectors that a checkpoint has for each node, positions and velocities included.
double checkpoint_vectors(const struct checkpoint_conditions *keeps);

// Bytes of the arrays of a checkpoint that do not have numbers of every node.
double checkpoint_fixed_bytes(const taut_solver *solver);

// ---- checkpoint_archive.c

// For a solver whose ranks hold only their parts and that continues from a checkpoint. The first
// function returns the options with which it starts, the second one restores the state. `ready`:
// this rank has started it. Each rank reads what it needs. If one fails, it alone returns the
// error, and no rank takes the state over; nor does any if they have read different files.
// Collective.
const struct solver_options *reading_options(const struct reading *reading);
taut_status reading_continue(taut_solver *solver, bool ready, taut_error *error);
void reading_free(struct reading *reading); // may be NULL

// Bytes that a copy has for each node, with numbers of that many bytes.
double copy_bytes_a_node(const struct checkpoint_conditions *keeps, double real_bytes);

// ---- contact_start.c

// Returns an error, also at its position in `diagnostics` (may be NULL), if surfaces cross at the
// start, or if contact cannot be as thick as it is; with `existing: relax` surfaces are separated
// first, and it is an error if that fails. Does nothing where the scene has no contact.
taut_status contact_refuse_crossings(taut_solver *solver, const taut_scene *scene,
                                     const struct solver_options *wanted,
                                     struct diagnostics *diagnostics, taut_error *error);

// Sets the stiffness of contact where the scene has `auto`: see numerics.md. dt has been set if it
// is given.
taut_status contact_choose_stiffness(taut_solver *solver, const taut_scene *scene,
                                     struct diagnostics *diagnostics, taut_error *error);

// Warns if a given stiffness makes steps of the given dt unstable where a node is pressed onto a
// surface.
void contact_check_stiffness(const taut_solver *solver, const taut_scene *scene,
                             struct diagnostics *diagnostics);

// Returns an error if surfaces that may touch almost do so at the start. The solver has been
// started.
taut_status contact_refuse_touching(const taut_solver *solver, const taut_scene *scene,
                                    struct diagnostics *diagnostics, taut_error *error);

// ---- dt.c

// Sets dt and the number of steps from the scene. A given dt beyond the bound is a warning in
// `wanted->diagnostics` (may be NULL), at its position in the scene, unless `wanted->tolerant`.
taut_status dt_choose(taut_solver *solver, const taut_scene *scene,
                      const struct solver_options *wanted, taut_error *error);

// The longest step up to dt that is known to be stable. Ranks that hold only their parts call it
// together.
double dt_find_up_to(taut_solver *solver, double dt);

// Called before a solver continues the run of another one: keeps its own dt, or with dt: auto takes
// the other's, if that was found for the same integrator. Returns true if dt has to be checked
// (dt_adapt) once the state has been restored.
bool dt_restore(taut_solver *solver, const taut_solver *from);

// Whether the bound has to be evaluated after this number of steps; never for a dt that the scene
// gives.
bool dt_is_due(const taut_solver *solver, uint64_t steps_done);

// The same because the wind may have come to limit the step. All workers of all ranks call it
// together.
bool dt_is_due_to_wind(taut_solver *solver, uint64_t steps_done, const struct worker *worker);

// The greatest load of contacts (greatest_load of system.h) after this number of steps, if it is
// time to find it or dt is adapted; otherwise 0. All workers of all ranks call dt_load together.
// dt_is_due_to_load returns whether dt has to be checked because of the load.
double dt_load(taut_solver *solver, uint64_t steps_done, bool adapts, const struct worker *worker);
double dt_load_now(taut_solver *solver, const struct worker *worker);
bool dt_is_due_to_load(const taut_solver *solver, double load);

// Sets how often dt: auto evaluates the bound, which depends on how gas is pumped in.
void dt_plan_checks(taut_solver *solver);

// Updates the number of planned steps to the present dt.
void dt_plan_steps(taut_solver *solver);

// Called after a step with dt: auto: computes the bound at the present state and changes dt if it
// is too near to the bound or too far below it. `load`: that of contacts, just found. All workers
// call it together.
void dt_adapt(taut_solver *solver, double load, const struct worker *worker);

// ---- rounding.c

// The spacing of numbers of the size of the farthest coordinate, m.
double coordinate_spacing(double reach, double epsilon);

// Measures how long each membrane is as built, for solver_warn_of_rounding. Called before rank 0
// forgets positions of other ranks. False without memory.
bool solver_measure_membranes(taut_solver *solver);
void solver_forget_extents(taut_solver *solver);

// Warns in `diagnostics` if materials are so stiff, or dt is so small, that coordinates do not
// resolve the strains by their weight, or what nodes move in a step. The solver has been started.
void solver_warn_of_rounding(const taut_solver *solver, const taut_scene *scene,
                             struct diagnostics *diagnostics);

// ---- mesh_step.c

// How far mesh colliders may move in one dt, m.
double mesh_motion_allowed(const taut_solver *solver, const taut_scene *scene);

// The longest step from `time` on that keeps to that; INFINITY if no mesh moves.
double mesh_step_at(const taut_solver *solver, double time);

// Whether a step to `time` was as short as a mesh required, and the next one need not be.
bool mesh_step_grows(const taut_solver *solver, double time);

// Whether the bound has to be evaluated after this number of steps: because of that, or as the next
// step is longer than a mesh allows.
bool mesh_step_is_due(const taut_solver *solver, uint64_t steps_done);

// Warn of a dt that is too long for meshes, and of one that is very short for them beside what else
// is `stable`.
void mesh_warn_of_long_steps(const taut_solver *solver, const taut_scene *scene,
                             struct diagnostics *diagnostics);
void mesh_warn_of_short_steps(const taut_solver *solver, const taut_scene *scene, double stable,
                              struct diagnostics *diagnostics);

#endif
