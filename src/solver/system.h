// The numeric part of a solver: one table of functions for float and one for double, chosen when a
// solver is created. Private to solver/.
#ifndef TAUT_SOLVER_SYSTEM_H
#define TAUT_SOLVER_SYSTEM_H

#include "parallel/team.h"
#include "springs/plan.h"
#include "springs/plan_parts.h"
#include "simd/isa.h"
#include "stability/limits.h"
#include "contact/surface_report.h"
#include "state/records.h"
#include "solver/solver.h"

struct change;
struct exchange;
struct hash;
struct checkpoint;
struct system;

struct system_options {
    const taut_scene *scene;
    double dt; // s; 0: not known yet
    enum isa isa;
    int threads;
    struct team *team;        // fills large arrays; may be NULL
    struct state_share share; // the nodes of this process
    struct range near;        // and those around which it needs elements
    bool keep_energy_budget;
    bool tolerant; // only non-finite values count as a divergence
};

// What a rank that holds only its part has memory for.
struct held_part {
    uint64_t nodes;   // its own and its halo
    double tiles;     // the share of tiles of grids that are its own
    uint64_t springs; // that break or yield, and which it evaluates
};

// m, the greatest coordinate, counted from the state's origin; m/s, the speed that nodes may reach:
// that of wind and drives, or what the energy at the start and a fall through the size of the scene
// give to all of them together.
struct scale {
    double reach, speed;
};

struct system_functions {
    size_t real_bytes;
    taut_status (*make)(const struct topology *topology, const struct plan *plan,
                        const struct bodies *bodies, const struct system_options *options,
                        const taut_allocator *allocator, struct system **system, taut_error *error);
    // Bytes of the state of a system whose plan has these counts. Only the counts of the topology
    // are read.
    uint64_t (*state_bytes)(const taut_scene *scene, const struct topology *topology,
                            const struct plan_counts *counts);
    void (*free)(struct system *system);
    void (*set_dt)(struct system *system, double dt); // before the start
    // Steps between two evaluations of the bound that dt: auto follows; 0: none.
    void (*set_dt_interval)(struct system *system, uint64_t every);
    void (*change_dt)(struct system *system, double dt, const struct worker *worker); // later
    // Allocates the arrays of this number of workers; false without memory.
    bool (*reserve_workers)(struct system *system, int workers);
    // The state at t = 0: built volumes, energies, what the integrator must remember.
    void (*start)(struct system *system, const struct worker *worker);

    // The stages of a step, in this order (solver/step.c).
    void (*integrate)(struct system *system, const struct worker *worker);
    void (*finish)(struct system *system, const struct worker *worker);
    void (*check)(struct system *system, const struct worker *worker);
    void (*check_cut)(struct system *system, const struct worker *worker);
    bool (*diverges_certainly)(struct system *system, const struct worker *worker);
    // Called after a run of steps: completes the velocities that these may leave half a step
    // behind. Velocities are always complete outside a run of steps.
    void (*complete)(struct system *system, const struct worker *worker);

    // springs/exchange.h, for several ranks. exchange_use sets what the following steps use; NULL:
    // none. `only_part`: this process knows no other nodes.
    taut_status (*exchange_make)(const struct system *system, const struct plan_parts *parts,
                                 bool only_part, struct exchange **exchange, taut_error *error);
    void (*exchange_free)(struct exchange *exchange);
    bool (*part_needs)(const struct system *system, struct plan_part *part); // of elements
    void (*exchange_use)(struct system *system, struct exchange *exchange);
    // All workers call these within steps: all ranks get all nodes, and none is exchanged until
    // exchange_resume.
    bool (*exchange_pause)(struct system *system, const struct worker *worker);
    void (*exchange_resume)(struct system *system, bool paused, const struct worker *worker);
    void (*exchange_collect)(struct system *system, struct exchange *exchange); // on rank 0
    void (*exchange_around)(const struct system *system, const struct exchange *exchange,
                            struct range nodes, const uint64_t *list, uint64_t count);
    // springs/shares.h, for the linear systems of several ranks. shares_use is like exchange_use.
    struct shares *(*shares_make)(struct system *system, const struct plan_parts *parts);
    void (*shares_free)(struct shares *shares);
    void (*shares_use)(struct system *system, struct shares *shares);

    // Evaluates the present state, which does not change: energies; forces, if `want_forces` or if
    // the energy budget is kept, which is updated.
    void (*evaluate)(struct system *system, bool want_forces, taut_energy *energy,
                     const struct worker *worker);
    // Nodes have their builder numbers.
    void (*read_nodes)(const struct system *system, uint64_t first, uint64_t count,
                       double *positions, double *velocities, double *forces);
    // Strains and broken flags of all springs, over all bodies in builder order; `broken` may be
    // NULL.
    void (*read_springs)(const struct system *system, double *strains, uint8_t *broken);
    // The same of consecutive springs of a grid, or of a body without any that break or yield.
    void (*read_strains)(const struct system *system, uint64_t first, uint64_t count,
                         double *strains, uint8_t *broken);
    double (*volume)(const struct system *system, size_t body);
    uint64_t (*broken_count)(const struct system *system);
    // Ranks that hold only their parts call it together: adds up on all of them what breaking and
    // yielding has lost.
    void (*share_losses)(const struct system *system);
    uint64_t (*hash)(const struct system *system);
    // The same piece by piece (state_hash_begin and so on).
    void (*hash_begin)(const struct system *system, struct hash *hash);
    void (*hash_add)(const struct system *system, struct hash *hash, uint64_t first,
                     uint64_t count);
    size_t (*hash_bytes)(const struct system *system);
    void (*hash_read)(const struct system *system, uint64_t first, uint64_t count, void *to);
    // Bytes that have memory. `part` is that of this rank, where ranks hold only their parts; NULL:
    // for all nodes.
    uint64_t (*bytes)(const struct system *system, const struct held_part *part);
    uint64_t (*steps)(const struct system *system);
    int (*evaluations)(const struct system *system); // force evaluations per step
    const char *(*kernel_name)(const struct system *system);
    const struct fault *(*fault)(const struct system *system);
    const struct energy_budget *(*work)(const struct system *system); // NULL if no budget is kept
    const struct implicit_statistics *(*implicit)(
        const struct system *system); // NULL: not implicit
    const struct stage_clock *(*clock)(const struct system *system);
    // stability/critical_step.h
    taut_status (*prepare_critical)(struct system *system, bool computed, taut_error *error);
    void (*release_critical)(struct system *system);
    void (*critical_step)(struct system *system, enum critical_wanted wanted,
                          struct critical_step *result, const struct worker *worker);
    bool (*critical_exceeded)(struct system *system, double dt, int products,
                              const struct worker *worker);
    bool (*critical_has_weights)(const struct system *system);
    bool (*critical_uses_cliques)(const struct system *system);
    void (*critical_collect_weights)(struct system *system, const uint64_t *cuts);
    void (*critical_set_weights)(struct system *system, const double *weights, bool cliques);
    double (*critical_up_to)(struct system *system, double most, const struct worker *worker);
    bool (*critical_may_fall)(struct system *system, double dt, const struct worker *worker);
    double (*greatest_load)(struct system *system, const struct worker *worker);
    void (*count_loads)(struct system *system, double factor, const struct worker *worker);
    void (*contact_load)(struct system *system, struct contact_load *result,
                         const struct worker *worker);
    // Where nodes are and how fast they may become, for the warning of lost increments.
    struct scale (*scale)(const struct system *system);
    double (*stiffness_trace)(struct system *system,
                              const struct worker *worker); // stability/divergence.h
    bool (*stiffest_spring)(const struct system *system, uint64_t node, uint64_t *spring);
    void (*choose_contact)(struct system *system, double square); // contact/surface_contact.h
    bool (*surface_crossing)(struct system *system, struct surface_parts *found, bool *no_memory);
    double (*mesh_reach)(const struct system *system, size_t m, double end);
    bool (*colliders_enclose)(const struct system *system, struct surface_parts *found,
                              bool *no_memory);
    struct shape_nearest (*shape_nearest)(const struct system *system);
    struct surface_nearest (*surface_nearest)(const struct system *system);
    struct surface_overlap (*surface_overlap)(const struct system *system, size_t one,
                                              size_t other);
    void (*surface_relax)(struct system *system, struct surface_relaxed *result,
                          const struct worker *worker);
    double (*surface_edge)(const struct system *system, size_t body);
    struct surface_triangles (*surface_triangles)(const struct system *system, size_t body,
                                                  double height);
    struct surface_cuts (*surface_cuts)(const struct system *system);
    struct surface_counts (*surface_counts)(const struct system *system);
    struct surface_stiffness (*surface_stiffness)(const struct system *system, size_t body);
    uint64_t (*friction_contacts)(const struct system *system);
    void (*contact_points)(struct system *system, struct contact_points *to,
                           const struct worker *worker);
    void (*set_sphere)(struct system *system, size_t collider, vec3 centre, vec3 velocity,
                       double radius);
    // Sets how far a mesh collider is, from now on, from where the scene has it, and its velocity
    // beside that of the scene; `mesh` returns both at present.
    void (*set_mesh)(struct system *system, size_t collider, vec3 displacement, vec3 velocity);
    struct mesh_displacement (*mesh)(const struct system *system, size_t collider);
    // Energy (J) that the state has gained from outside, and that is no sign of divergence.
    void (*allow_energy)(struct system *system, double energy);
    // Pumping after a change of that body's gas, whose pressure was `before`; faces.h has both.
    void (*continue_gas)(struct system *system, size_t body, const struct scene_pressure *before);
    double (*gas_pumped_at)(const struct system *system);
    bool (*set_kinematic_velocity)(struct system *system, uint64_t node,
                                   vec3 velocity); // builder number
    // A mouse spring at a free node, by its builder number; stiffness and damping 0: automatic.
    void (*grab)(struct system *system, uint64_t node, vec3 target, double stiffness,
                 double damping);
    void (*release_grab)(struct system *system);
    struct sphere_state (*sphere)(const struct system *system, size_t collider);
    // Sets dt from the present step on, with the ratio of position_step to it.
    void (*set_dt_now)(struct system *system, double dt, double position_ratio);
    // Before, during and after a change of constants in the topology (change.h).
    taut_status (*change_begin)(struct system *system, struct change **change, taut_error *error);
    void (*change_save)(struct system *system, struct change *change, const struct worker *worker);
    taut_status (*change_refresh)(struct system *system, bool stiffnesses, taut_error *error);
    void (*elements_refresh)(struct system *system); // elements/elements.h
    void (*scale_rest_lengths)(struct system *system, uint32_t material, double factor);
    void (*change_finish)(struct system *system, const struct change *change,
                          const struct worker *worker);
    void (*change_free)(struct system *system, struct change *change);
    // Copies state and history of a run out of a system and into a system (checkpoint.h). All
    // workers call these.
    void (*checkpoint_save)(struct system *system, struct checkpoint *checkpoint,
                            const struct worker *worker);
    // Reads numbers of nodes as a checkpoint's stream has them; `field` is an enum
    // checkpoint_field. Any worker may call it.
    void (*checkpoint_gather)(const struct system *system, unsigned field, uint64_t first,
                              uint64_t count, void *to);
    void (*checkpoint_gather_counted)(const struct system *system, const struct exchange *exchange,
                                      unsigned field, uint64_t first, uint64_t count, void *to);
    void (*checkpoint_scatter)(struct system *system, unsigned field, struct range own,
                               uint64_t first, uint64_t count, const void *from);
    // Called after plan_pack_rest has renumbered the slots of packed springs; false without memory.
    bool (*repack)(struct system *system);
    // Makes the elements of all nodes on a rank that has only those of its part.
    taut_status (*elements_complete)(struct system *system, taut_error *error);
    // Called after forgotten lists of springs have come back.
    void (*copy_springs)(struct system *system);
    bool (*checkpoint_wants_springs)(const struct system *system, uint64_t first, uint64_t count);
    void (*checkpoint_restore)(struct system *system, struct checkpoint *checkpoint,
                               const struct worker *worker);
};

extern const struct system_functions system_functions_f32;
extern const struct system_functions system_functions_f64;

#endif
