// Everything that a stage of a step works on: what never changes (topology, plan, constants,
// settings), the state, and the scratch space that workers share. Numeric: compiled for float and
// for double.
#ifndef TAUT_STATE_SYSTEM_H
#define TAUT_STATE_SYSTEM_H

#include <stdatomic.h>

#include "base/os.h"
#include "parallel/team.h"
#include "state/records.h"
#include "state/constants.h"
#include "state/state.h"

struct critical_meter;
struct implicit;
struct contact_constraints;
struct kernels;
struct sweeps;

struct settings {
    enum integrator integrator;
    double dt;             // s
    double dt_time;        // s, and
    uint64_t dt_step;      // the step since when dt is as it is: 0 and 0 where it never changes
    double position_step;  // s
    double position_ratio; // position_step / dt
    uint64_t looks_every;  // steps until dt is looked at anew; 0: it stays
    double keep_velocity;
    int substeps, iterations; // of xpbd
    bool projects, penalises; // some collider has response: project, or penalty
    bool keep_energy_budget;  // forces/energy_budget.c
    struct scene_implicit implicit;
    bool tolerant; // divergence.h looks for values that are not finite alone
};

// What a kernel sums for the energy budget (system->powers).
enum power_column {
    POWER_DAMPING, // W, taken from springs
    POWER_WIND,    // W
    POWER_SQUARE,  // m2/s2: v^2
    POWER_KINETIC, // J: m v^2
    POWER_DRIVES,  // W: F.v of kinematic nodes
    POWER_MOVED,   // J: m v^2 of kinematic nodes
    POWER_COLUMNS
};

// Columns of a chunk's sums.
enum { SUM_WIDTH = 8 };

// Scratch of the colliders (contact/colliders.c), an element for each block of nodes.
// The bounding box of a block of nodes, m, and its greatest coordinate, which rounding errors go
// by.
struct block_box {
    double least[3], most[3];
    double reach;
};

// While the bounding box of a block is inside of this one, the block is farther than `slack` from
// every collider of a response. Holds until a collider changes, and is made anew where a block has
// left it: so results do not depend on it.
struct clear_box {
    real least[3], most[3];
    double slack; // m
    bool known;
};

struct contacts {
    size_t blocks;
    uint8_t *near; // whether nodes may touch in the present evaluation, or projection
    struct clear_box (*clear)[2]; // by response; each written by the worker whose block it is
    uint8_t *moved;               // whether the last projection changed a node
    struct block_box *boxes;      // at the last projection, before it changed any; see boxes_known
    uint8_t *boxes_known;         // 0: not measured, since the block was in its clear box
    // J of a projection: taken by friction, put in by moving spheres; and the work of surfaces that
    // an implicit step has solved.
    double (*work)[3];
    atomic_bool found; // any block that may touch a penalty collider in the present evaluation
    struct contact_constraints *constraints; // contact/constraints.h; NULL: none in any step
};

// Where in system->powers the parts of an evaluation begin. Each is done by one worker.
struct power_parts {
    size_t tiles;  // of grids: two of each tile, as it is swept and as it is reduced
    size_t loose;  // chunks of POWER_NODES nodes of each run of nodes on no grid
    size_t wind;   // of the rows of each grid of faces
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
    struct contacts contacts;
    const taut_allocator *allocator;
    double (*chunk_sums)[SUM_WIDTH]; // scratch of sums over chunks; length chunk_sums_length
    size_t chunk_sums_length;
    double *fragile_losses; // J a chunk of springs that break or yield, running totals
    struct energy_budget work;
    struct energy_budget work_shown; // brought up to the present time, while that is step
    uint64_t work_shown_step;        // work_shown_step; UINT64_MAX: none is
    double (*powers)[POWER_COLUMNS]; // of each part that an evaluation with powers is done in
    struct power_parts power_parts;
    double other_powers[SUM_WIDTH]; // W, by cause: what kernels do not measure
    struct implicit *implicit;      // integrate/implicit.h; NULL: another integrator
    struct implicit_statistics implicit_statistics;
    struct mouse_spring mouse_spring;
    struct kinematic_targets kinematic_targets; // worker 0 alone writes them in a step
    struct fault fault;
    struct stage_clock clock;
    struct critical_meter *meter; // of stability/critical_step.h, once it is wanted; else NULL
    double energy_start;          // J, what divergence.c counts as available from the start
    double gravity_start;         // J
    double explained_peak;  // J, the most that divergence.c could explain at any check until now
    double fastest_outside; // m/s, of what was moved from outside before it was moved otherwise
};

// The sums of a part of an evaluation, where they are wanted; else NULL.
static inline double *powers_of_part(const struct system *system, bool wanted, size_t part)
{
    return wanted ? system->powers[part] : NULL;
}

static inline bool contacts_are_found(const struct system *system)
{
    return atomic_load_explicit(&system->contacts.found, memory_order_relaxed);
}

// The time at the start of a step, s. Counted from where dt changed last, so that no sum of steps
// rounds off.
static inline double step_time(const struct system *system, uint64_t step)
{
    const struct settings *settings = &system->settings;
    return settings->dt_time + (double)(step - settings->dt_step) * settings->dt;
}

// A worker's share of an element-wise loop over nodes: a cache line of floats is never split.
static inline struct range node_share(const struct system *system, const struct worker *worker)
{
    return worker_share(worker, (size_t)system->state->nodes, 16);
}

// ---- The clock of the stages of a step

static const double SHORT_STEP = 2e-5; // s

// Before what is timed each time.
static inline void stage_clock_start(struct stage_clock *clock, const struct worker *worker)
{
    if (worker->index != 0)
        return;
    clock->weight = 1;
    clock->last = clock_seconds();
}

// Before a step.
static inline void stage_clock_step(struct stage_clock *clock, const struct worker *worker)
{
    static const uint64_t always = 1000; // steps at first, which short runs consist of
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

// Gives the time since the last end to `stage`, where nobody has to wait.
static inline void stage_count(struct stage_clock *clock, enum stage stage,
                               const struct worker *worker)
{
    if (worker->index != 0 || clock->weight == 0)
        return;
    const double now = clock_seconds(), elapsed = now - clock->last;
    // Where the thread lost its processor, other steps need not have.
    clock->seconds[stage] += elapsed < SHORT_STEP ? clock->weight * elapsed : elapsed;
    clock->step_seconds += elapsed;
    clock->last = now;
}

// Ends a stage: waits for all workers first.
static inline void stage_end(struct stage_clock *clock, enum stage stage,
                             const struct worker *worker)
{
    worker_barrier(worker);
    stage_count(clock, stage, worker);
}

#endif
