// The solver's view of the numeric part: one table of functions for float, one for double, chosen
// when a solver is made.
#ifndef TAUT_SOLVER_SYSTEM_H
#define TAUT_SOLVER_SYSTEM_H

#include "parallel/team.h"
#include "plan/plan.h"
#include "simd/isa.h"
#include "stability/limits.h"
#include "state/account.h"
#include "state/stage.h"

struct carried;
struct system;

struct system_options {
    const taut_scene *scene;
    double dt; // s; 0: not known yet
    enum isa isa;
    int threads;
    struct team *team; // to fill large arrays with; may be NULL
    bool account_work; // keep the energy budget
    bool tolerant;     // only values that are not finite are a divergence
};

struct sphere_now {
    vec3 centre, velocity; // m, m/s
    double radius;         // m
};

struct system_functions {
    size_t real_bytes;
    taut_status (*make)(const struct topology *topology, const struct plan *plan,
                        const struct bodies *bodies, const struct system_options *options,
                        const taut_allocator *allocator, struct system **system, taut_error *error);
    // Bytes of the state of a system, of which a topology and a plan have only the counts.
    uint64_t (*state_bytes)(const taut_scene *scene, const struct topology *counts,
                            const struct plan *planned);
    void (*free)(struct system *system);
    void (*set_dt)(struct system *system, double dt); // before the start
    // Tells that dt will be looked at anew so often.
    void (*set_looks)(struct system *system, uint64_t every);
    void (*change_dt)(struct system *system, double dt, const struct worker *worker); // later
    // Makes room for that many workers; false without memory.
    bool (*reserve_workers)(struct system *system, int workers);
    // The state at t = 0: built volumes, energies, what the integrator must remember.
    void (*start)(struct system *system, const struct worker *worker);

    // The stages of a step, in this order (solver.c).
    void (*integrate)(struct system *system, const struct worker *worker);
    void (*finish)(struct system *system, const struct worker *worker);
    void (*check)(struct system *system, const struct worker *worker);

    // A look at the present state that changes nothing of it: energies; forces, if they are wanted
    // or work is accounted for; the account of work brought up to now.
    void (*look)(struct system *system, bool want_forces, taut_energy *energy,
                 const struct worker *worker);
    // Nodes by their builder numbers.
    void (*read_nodes)(const struct system *system, uint64_t first, uint64_t count,
                       double *positions, double *velocities, double *forces);
    // Strains and broken flags of all springs, over all bodies in builder order; `broken` may be
    // NULL.
    void (*read_springs)(const struct system *system, double *strains, uint8_t *broken);
    double (*volume)(const struct system *system, size_t body);
    uint64_t (*broken_count)(const struct system *system);
    uint64_t (*hash)(const struct system *system);
    uint64_t (*bytes)(const struct system *system);
    uint64_t (*steps)(const struct system *system);
    int (*evaluations)(const struct system *system); // of forces, a step
    const char *(*kernel_name)(const struct system *system);
    const struct fault *(*fault)(const struct system *system);
    const struct work_account *(*work)(const struct system *system); // NULL: no account is kept
    const struct implicit_account *(*implicit)(const struct system *system); // NULL: no such one
    const struct stage_clock *(*clock)(const struct system *system);
    // stability/critical_step.h
    taut_status (*prepare_critical)(struct system *system, bool sharp, taut_error *error);
    void (*forget_critical)(struct system *system);
    void (*critical_step)(struct system *system, enum critical_wanted wanted,
                          struct critical_step *result, const struct worker *worker);
    bool (*critical_exceeded)(struct system *system, double dt, const struct worker *worker);
    double (*critical_up_to)(struct system *system, double most, const struct worker *worker);
    bool (*stiffest_spring)(const struct system *system, uint64_t node, uint64_t *spring);
    void (*set_sphere)(struct system *system, size_t collider, vec3 centre, vec3 velocity,
                       double radius);
    bool (*lead_node)(struct system *system, uint64_t node, vec3 velocity); // builder number
    // A hand at a free node, by its builder number; stiffness and damping 0: chosen.
    void (*pull)(struct system *system, uint64_t node, vec3 target, double stiffness,
                 double damping);
    void (*let_go)(struct system *system);
    struct sphere_now (*sphere)(const struct system *system, size_t collider);
    // What a run has become, out of one system and into another (solver_carry.h). All workers.
    void (*carry_take)(struct system *system, struct carried *carried, const struct worker *worker);
    void (*carry_put)(struct system *system, struct carried *carried, const struct worker *worker);
};

extern const struct system_functions system_functions_f32;
extern const struct system_functions system_functions_f64;

#endif
