// The complete state of a run at one time, in double and by the builders' numbers, so that it
// passes from one solver to another of the same nodes, whatever their precision, plan, numbering,
// team or constants. What follows from the constants (rest lengths, volumes and gas as built) is no
// part of it, except where a run of the same scene continues to the bit (`exact`).
#ifndef TAUT_SOLVER_CHECKPOINT_H
#define TAUT_SOLVER_CHECKPOINT_H

#include "contact/surface_report.h"
#include "parallel/team.h"
#include "solver/solver.h"
#include "state/arrays.h"
#include "state/records.h"
#include "state/frame.h"
#include "topology/topology.h"

struct plan;
struct system;
struct exchange;

// The types of the state's arrays in a checkpoint: numbers are double.
#define SAVED_real    double
#define SAVED_double  double
#define SAVED_uint8_t uint8_t
#define SAVED_vec3    vec3

// X(type, name, length, condition): what no array of the state has.
#define CHECKPOINT_ARRAYS(X)                                                                       \
    /* the forces at the present positions and velocities, where those of the last step are kept:  \
     * the next solver compares them with its own */                                               \
    X(double, forces_compared, triples, keeps.forces && checkpoint->compares)                      \
    /* where the next linear system starts from (implicit integrators) */                          \
    X(double, correction, triples, keeps.correction)                                               \
    /* of the bound that dt: auto follows (stability/spectral_bound.h) */                          \
    X(double, bound_weights, nodes, checkpoint->weights && !checkpoint->gathers)                   \
    /* m, of springs that can yield */                                                             \
    X(double, rest_built, springs, topology->any_yields && checkpoint->compares)                   \
    /* nodes of each body, for readers that have no scene */                                       \
    X(uint64_t, body_nodes, bodies, true)                                                          \
    /* kinematic targets: nodes, positions (m) and velocities (m/s) */                             \
    X(uint64_t, target_nodes, targets, true)                                                       \
    X(vec3, target_positions, targets, true)                                                       \
    X(vec3, target_velocities, targets, true)                                                      \
    /* J, what springs that broke or yielded lost, chunk by chunk of the plan's */                 \
    X(double, fragile_losses, loss_chunks, true)

// The arrays of a checkpoint that may have numbers of every node: those of STATE_ARRAYS whose
// length is `nodes`, and these. They are by far the largest. A checkpoint that is only written
// (`gathers`) does not have them: they are read from the state, piece by piece; and one that is
// read where all of it is restored as it is (`exact`) puts them there in the same way. What nodes
// remember of contacts, collider by collider, is such a field when it is written; when it is read
// it waits in an array until contacts have been found. Where ranks hold only their parts
// (`in_parts`), each reads what it needs, and arrays with numbers of every spring are fields, too.
enum checkpoint_field {
    CHECKPOINT_positions, // 3 numbers a node
    CHECKPOINT_velocities,
    CHECKPOINT_correction,
    CHECKPOINT_bound_weights, // one number, as those that follow
#define ENUMERATE(type, name, length, condition, kept) CHECKPOINT_##name,
    STATE_ARRAYS(ENUMERATE)
#undef ENUMERATE
        CHECKPOINT_FIELDS
};

// Whether an array of that length is one of them.
#define IS_FIELD_nodes          true
#define IS_FIELD_springs        (checkpoint->in_parts)
#define IS_FIELD_touches        (checkpoint->gathers)
#define IS_FIELD_frictions      (checkpoint->gathers)
#define IS_FIELD_multipliers    false
#define IS_FIELD_slots          false
#define IS_FIELD_bodies         false
#define IS_FIELD_motions        false
#define IS_FIELD_colliders      false
#define IS_FIELD_contact_blocks false

static inline unsigned checkpoint_field_width(unsigned field)
{
    return field <= CHECKPOINT_correction || field == CHECKPOINT_friction_anchor ? 3 : 1;
}

// Whether it has numbers of every node for each collider, or for each slot of friction.
static inline bool checkpoint_field_is_of_contacts(unsigned field)
{
    return field == CHECKPOINT_touching || field == CHECKPOINT_friction_anchor ||
           field == CHECKPOINT_friction_stretch || field == CHECKPOINT_friction_flags;
}

static inline bool checkpoint_field_is_of_springs(unsigned field)
{
    return field == CHECKPOINT_broken || field == CHECKPOINT_rest_length;
}

// The decisions of solver/dt.c and of the solver itself about the step.
struct checkpoint_dt {
    double dt;             // s
    double position_ratio; // position_step / dt
    double since_time;     // s, and
    uint64_t since_step;   // the step, since when the next solver's dt is as it is
    uint64_t changes;      // so far
    bool automatic;        // dt: auto, unless taut_solver_set_dt has turned it off
    double load;           // of contacts, for which it was adapted,
    double load_seen;      // and as last found;
    uint64_t load_due;     // from this step on it has to be found again,
    uint64_t load_steps;   // so many after it was
    double built;          // s, chosen for the scene as built; 0: constants have changed since
    bool bound_cliques;    // whether its bound treats cliques as such, where that has weights
};

// The values that the next check for divergence compares with (stability/divergence.c).
struct checkpoint_divergence {
    double energy_start, gravity_start, explained_peak; // J
    double fastest_outside;                             // m/s
};

// The energy at the end of the last step, which an implicit step begins with where it is known.
struct checkpoint_end {
    bool known;
    taut_energy energy;
    double power, moved_kinetic; // W, J: of what acts from outside
};

struct checkpoint {
    const struct topology *topology; // of the solver that it is from: whose motions and colliders
    enum integrator integrator;
    struct frame frame; // positions, velocities and the step
    // Lengths: `springs` counts numbers of the uncut scene, `touches` nodes of every collider,
    // `frictions` nodes of every slot; the other lengths belong to arrays that are not kept.
    uint64_t nodes, triples, springs, bodies, motions, colliders, touches, frictions, targets,
        loss_chunks;
    uint64_t multipliers, slots, contact_blocks;
    // The numbers in the uncut scene of each solver's springs; NULL: their own.
    const uint32_t *from_springs, *to_springs;
    // Whether the next solver compares forces, to see whether anything that acts has changed; and
    // whether nothing has, so that all that a run remembers is restored as it is.
    bool compares, exact;
    bool gathers, in_parts;         // see enum checkpoint_field
    bool weights;                   // of the bound that dt: auto follows: has them, or may have
    bool fields[CHECKPOINT_FIELDS]; // those that the run needs

    vec3 origin;                  // m, of the arrays x, y and z (precision mixed)
    uint64_t previous_state_from; // state.h
    struct checkpoint_dt dt;
    bool forces_current;
    struct mouse_spring mouse_spring; // its node in the builders' numbers
    // How many there are; `targets` and `loss_chunks` are the capacities.
    uint64_t target_count, loss_count;
    bool no_memory; // for them, or to find contacts, in the next solver
    struct checkpoint_divergence divergence;
    struct checkpoint_end end;
    struct friction_contacts surface_friction;
    struct surface_cuts surface_cuts;
    struct solver_relaxed relaxed; // at the start of the run
    double mesh_power;             // W, by mesh colliders in the evaluation of the current forces
    bool has_budget;               // an energy budget is kept
    struct energy_budget work;
    struct implicit_statistics implicit_statistics;
    // The arrays of the state: those of nodes and springs (m, where they yielded, else 0) by the
    // builders' numbers, touches of nodes collider by collider, and friction slot by slot.
#define DECLARE(type, name, length, condition, kept) SAVED_##type *name;
    STATE_ARRAYS(DECLARE)
#undef DECLARE
#define DECLARE(type, name, length, condition) type *name;
    CHECKPOINT_ARRAYS(DECLARE)
#undef DECLARE
};

// Allocates a checkpoint for a solver of that topology, plan and integrator; ->compares, ->exact,
// ->gathers and ->weights must be set. False without memory. checkpoint_free also accepts an
// incomplete checkpoint.
bool checkpoint_make(struct checkpoint *checkpoint, const struct topology *topology,
                     const struct plan *plan, enum precision precision, enum integrator integrator,
                     uint64_t springs);
void checkpoint_free(struct checkpoint *checkpoint);

#ifdef TAUT_REAL_BITS
#    include "base/real.h"

// All workers call it together. The forces may be evaluated, but the state does not change.
void REAL_NAME(checkpoint_save)(struct system *system, struct checkpoint *checkpoint,
                                const struct worker *worker);

// Reads the numbers of `count` nodes, from `first` on in the builders' order, as wide as a
// checkpoint's stream has them. Any worker may call it. Fields of contacts count the nodes of all
// colliders (slots), one after another. Fields of springs, where ranks hold only their parts, are
// read for one grid, which this rank counts.
void REAL_NAME(checkpoint_gather)(const struct system *system, unsigned field, uint64_t first,
                                  uint64_t count, void *to);

// The same for springs of a divided body on no grid: reads those that this rank counts, and writes
// nothing for others.
void REAL_NAME(checkpoint_gather_counted)(const struct system *system,
                                          const struct exchange *exchange, unsigned field,
                                          uint64_t first, uint64_t count, void *to);

// The inverse, for finite numbers, with those of the nodes in `own` alone. One worker calls it.
// While ranks exchange, it takes those springs that this rank evaluates; checkpoint_wants_springs
// returns whether there are any.
void REAL_NAME(checkpoint_scatter)(struct system *system, unsigned field, struct range own,
                                   uint64_t first, uint64_t count, const void *from);
bool REAL_NAME(checkpoint_wants_springs)(const struct system *system, uint64_t first,
                                         uint64_t count);

// Restores into a system that has been started with its own scene. The check of divergence starts
// again with the present energies and positions of colliders.
void REAL_NAME(checkpoint_restore)(struct system *system, struct checkpoint *checkpoint,
                                   const struct worker *worker);
#endif

#endif
