// The data of all stages of a step: the constant part (topology, plan, constants, settings), the
// state, and the scratch space shared by the workers. Numeric: compiled for float and for double.
#ifndef TAUT_STATE_SYSTEM_H
#define TAUT_STATE_SYSTEM_H

#include <stdatomic.h>

#include "base/memory.h"
#include "base/os.h"
#include "parallel/team.h"
#include "state/records.h"
#include "state/constants.h"
#include "state/state.h"

struct critical_meter;
struct element_set;
struct exchange;
struct implicit;
struct contact_constraints;
struct kernels;
struct motion_boxes;
struct shares;
struct surface_contact;
struct sweeps;

struct settings {
    enum integrator integrator;
    double dt;        // s
    double dt_time;   // s, and
    uint64_t dt_step; // the step since which dt has its present value; both 0 if it never changes
    double position_step;  // s
    double position_ratio; // position_step / dt
    uint64_t dt_interval;  // steps between two evaluations of the bound of dt; 0: dt stays
    double keep_velocity;
    int substeps, iterations; // for xpbd
    bool projects, penalises; // some collider has response: project, or response: penalty
    bool cuts;                // the motion of a step may be cut (contact/surface_contact.h)
    bool keep_energy_budget;  // forces/energy_budget.c
    struct scene_implicit implicit;
    bool tolerant; // divergence.h checks only for non-finite values
    bool mixed;    // precision mixed: the state has low parts
};

// The sums of a kernel for the energy budget (system->powers).
enum power_column {
    POWER_DAMPING, // W, dissipated by springs
    POWER_WIND,    // W
    POWER_SQUARE,  // m2/s2: v^2
    POWER_KINETIC, // J: m v^2
    POWER_DRIVES,  // W: F.v of kinematic nodes
    POWER_MOVED,   // J: m v^2 of kinematic nodes
    POWER_COLUMNS
};

// The number of columns of a chunk's sums.
enum { SUM_WIDTH = 8 };

// Scratch of the colliders (contact/culling.h), one element per block of nodes. The bounding box
// of a block of nodes, m, and its largest absolute coordinate, which determines rounding errors.
struct block_box {
    double least[3], most[3];
    double reach;
};

// While the bounding box of a block is inside this one, the block is farther than `slack` from
// every collider with the response. Valid until a collider changes; it is recomputed when a block
// has left it, so results do not depend on it.
struct clear_box {
    real least[3], most[3];
    double slack; // m
    bool known;
};

struct contacts {
    size_t blocks;
    uint8_t *near;                // whether nodes may touch in the present evaluation or projection
    struct clear_box (*clear)[2]; // by response; written by the worker of the block
    uint8_t *moved;               // whether the last projection changed a node
    struct block_box *boxes; // at the last projection, before it changed any node; see boxes_known
    uint8_t *boxes_known;    // 0: not measured, because the block was in its clear box
    // J of a projection: taken by friction, added by moving spheres, and the work of surfaces
    // within an implicit step.
    double (*work)[3];
    double *friction_heat; // J, of sliding contacts in the last step
    atomic_bool found;     // some block may touch a penalty collider in the present evaluation
    struct contact_constraints *constraints; // contact/constraints.h; NULL: never any
    // contact/friction.h; NULL: no collider has friction, or the integrator is not implicit
    struct friction_assumptions *friction_assumptions;
};

// Where the parts of an evaluation begin in system->powers. One worker computes each part.
struct power_parts {
    size_t tiles;  // grids: two per tile, for its sweep and for its reduction
    size_t loose;  // chunks of POWER_NODES nodes of each range of nodes on no grid
    size_t wind;   // the rows of each grid of faces
    size_t packed; // tiles of packed springs
    size_t count;
};

enum { POWER_NODES = 1024 };

static inline size_t power_chunks(size_t nodes)
{
    return (nodes + POWER_NODES - 1) / POWER_NODES;
}

struct system {
    const struct topology *topology;
    const struct plan *plan;
    struct constants *constants;
    const struct kernels *kernels;
    struct settings settings;
    struct state *state;
    struct sweeps *sweeps; // of the plan's grids
    // springs/exchange.h; NULL: this process has the whole scene. Otherwise it has own_nodes.
    struct exchange *exchange;
    struct exchange *paused; // not NULL: all ranks have the whole scene, and compute the same
    struct range own_nodes;
    struct range known_nodes; // for which arrays have memory: all, or those of a rank's part
    struct shares *shares;    // springs/shares.h; NULL: this process solves whole linear systems
    struct element_set *elements; // elements/elements.h; NULL: no body has any
    struct contacts contacts;
    struct surface_contact *surface_contact; // contact/surface_contact.h; NULL: no contact
    atomic_bool surfaces_push;               // they exert forces in the present evaluation
    atomic_bool wind_damps;                  // stability/face_bound.h: the result of wind_may_damp
    struct motion_boxes *motion;             // springs/motion.h; NULL: never wanted
    const taut_allocator *allocator;
    double (*chunk_sums)[SUM_WIDTH]; // scratch of sums over chunks; length chunk_sums_length
    size_t chunk_sums_length;
    size_t sum_group;       // SUM_GROUP; tests have less
    double *fragile_losses; // J per chunk of springs that break or yield, running totals
    double *fragile_drives; // J per such chunk, work of drives that the next sample adds
    struct energy_budget work;
    struct energy_budget work_shown; // updated to the present time, valid at
    uint64_t work_shown_step;        // step work_shown_step; UINT64_MAX: invalid
    double (*powers)[POWER_COLUMNS]; // of each part of an evaluation with powers
    struct power_parts power_parts;
    double other_powers[SUM_WIDTH]; // W, by cause: not measured by kernels
    double *swept; // dV/dt, m3/s, per body: of driven nodes; NULL without gas, and with Verlet
    struct implicit *implicit; // integrate/implicit.h; NULL if the integrator is not implicit
    struct implicit_statistics implicit_statistics;
    struct mouse_spring mouse_spring;
    struct kinematic_targets kinematic_targets; // only worker 0 writes them in a step
    bool drives_jump; // a drive has changed its velocity at the end of the step; set by worker 0
    struct fault fault;
    // divergence_before_cut (stability/divergence.h), which comes after those that ask; set by the
    // solver. NULL: nobody is asked.
    bool (*is_hopeless)(struct system *system, const struct worker *worker);
    struct stage_clock clock;
    struct critical_meter *meter; // of stability/critical_step.h; NULL until it is needed
    double energy_start;    // J, the energy that divergence.c counts as available from the start
    double gravity_start;   // J
    double explained_peak;  // J, the largest energy that divergence.c could explain so far
    double fastest_outside; // m/s, of interactive motions before their latest change
};

// The sums of a part of an evaluation, or NULL if they are not wanted.
static inline double *powers_of_part(const struct system *system, bool wanted, size_t part)
{
    return wanted ? system->powers[part] : NULL;
}

static inline bool contacts_are_found(const struct system *system)
{
    return atomic_load_explicit(&system->contacts.found, memory_order_relaxed);
}

static inline bool surfaces_push(const struct system *system)
{
    return atomic_load_explicit(&system->surfaces_push, memory_order_relaxed);
}

// The time at the start of a step, s. Computed from the last change of dt, so that rounding errors
// do not accumulate over steps.
static inline double step_time(const struct system *system, uint64_t step)
{
    const struct settings *settings = &system->settings;
    return settings->dt_time + (double)(step - settings->dt_step) * settings->dt;
}

// For a rank that holds only its part. A block of so many bytes, with `size` bytes for each node
// from element `start` on, then takes memory for the other nodes page by page, and only where it is
// touched.
static inline void system_spare(const struct system *system, void *block, size_t bytes,
                                size_t start, size_t size)
{
    const struct range known = system->known_nodes;
    if (known.end - known.first == (size_t)system->state->nodes)
        return;
    memory_sparse(block, bytes, 0, (start + known.first) * size);
    memory_sparse(block, bytes, (start + known.end) * size, bytes);
}

// A worker's share of an element-wise loop over nodes; on several ranks, over this rank's. A cache
// line of floats is never split.
static inline struct range node_share(const struct system *system, const struct worker *worker)
{
    if (!system->exchange)
        return worker_share(worker, (size_t)system->state->nodes, 16);
    const struct range own = system->own_nodes;
    const struct range share = worker_share(worker, own.end - own.first, 16);
    return (struct range){own.first + share.first, own.first + share.end};
}

// ---- The clock of the stages of a step

static const double SHORT_STEP = 2e-5; // s

// Starts the clock before a stage that is always timed.
static inline void stage_clock_start(struct stage_clock *clock, const struct worker *worker)
{
    if (worker->index != 0)
        return;
    clock->weight = 1;
    clock->last = clock_seconds();
}

// Starts the clock before a step.
static inline void stage_clock_step(struct stage_clock *clock, const struct worker *worker)
{
    static const uint64_t always = 1000; // the first steps, which are all that short runs have
    if (worker->index != 0)
        return;
    if (clock->untimed_steps > 0) {
        clock->untimed_steps--;
        clock->weight = 0;
        return;
    }
    const bool sampled = clock->timed_steps++ >= always && clock->step_seconds < SHORT_STEP;
    stage_clock_start(clock, worker);
    clock->weight = sampled ? STAGE_STRIDE : 1;
    clock->untimed_steps = sampled ? STAGE_STRIDE - 1 : 0;
    clock->step_seconds = 0;
}

// Adds the time since the end of the last stage to `stage`, without a barrier.
static inline void stage_count(struct stage_clock *clock, enum stage stage,
                               const struct worker *worker)
{
    if (worker->index != 0 || clock->weight == 0)
        return;
    const double now = clock_seconds(), elapsed = now - clock->last;
    // A longer time means that the thread lost its processor, which need not hold for other steps.
    clock->seconds[stage] += elapsed < SHORT_STEP ? clock->weight * elapsed : elapsed;
    clock->step_seconds += elapsed;
    clock->last = now;
}

// Waits for all workers, then ends a stage.
static inline void stage_end(struct stage_clock *clock, enum stage stage,
                             const struct worker *worker)
{
    worker_barrier(worker);
    stage_count(clock, stage, worker);
}

#endif
