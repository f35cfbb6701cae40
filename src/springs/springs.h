// Springs, whatever their storage format: on a grid (grid/), packed (packed/) or listed (listed/).
// Who needs forces, energies, tangents or the springs one by one asks here and never which format a
// body has. All workers call the functions that take one together. Numeric.
#ifndef TAUT_SPRINGS_SPRINGS_H
#define TAUT_SPRINGS_SPRINGS_H

#include "kernels/kernels.h"
#include "springs/grid/sweep.h"
#include "springs/law.h"
#include "state/system.h"

// ---- Forces

// Adds the forces of springs on no grid; of each tile of packed springs that has rings its share in
// the volume goes into chunk_sums. Ends with a barrier. `powers`: those of packed springs are
// measured, too (system->powers), as with springs_sweep and springs_reduce those of grids.
void REAL_NAME(springs_add)(const struct system *system, bool powers, const struct worker *worker);

// Adds the forces of springs on grids. Nodes that need nothing from other tiles are finished at
// once: gravity and drag are added, and they are moved. Ends with a barrier.
void REAL_NAME(springs_sweep)(struct system *system, const struct wind_now *wind,
                              enum sweep_finish finish, bool powers, const struct worker *worker);

// Finishes the other nodes of grids. Without a barrier at the end.
void REAL_NAME(springs_reduce)(struct system *system, enum sweep_finish finish, bool powers,
                               const struct worker *worker);

// The i-th range of nodes of bodies that are on no grid, which springs_sweep and springs_reduce do
// not finish; empty after the last.
static inline struct range springs_off_grid_nodes(const struct system *system, size_t i)
{
    if (i >= system->plan->off_grid_count)
        return (struct range){0, 0};
    const struct plan_nodes *nodes = &system->plan->off_grid[i];
    return (struct range){(size_t)nodes->first, (size_t)(nodes->first + nodes->count)};
}

// ---- Blocks of a colour, of springs and of faces (listed/plan.h)

typedef void (*block_kernel)(const struct system *system, const void *argument,
                             struct plan_block block);

// Runs a kernel over all blocks of a set: colour after colour, the blocks of a colour shared among
// the workers, then the overflow by worker 0. Ends with a barrier.
void REAL_NAME(run_coloured)(const struct system *system, const struct plan_set *set,
                             block_kernel kernel, const void *argument,
                             const struct worker *worker);

// ---- Constraints

// One iteration over all springs as constraints, in a substep of `step` seconds.
void REAL_NAME(constraints_iterate)(const struct system *system, double step, bool first,
                                    const struct worker *worker);

// ---- Breaking and yielding

// Marks springs that are stretched past break_at as broken, for ever.
void REAL_NAME(springs_break)(struct system *system, const struct worker *worker);

// Moves the rest lengths of springs strained past yield_at. Once a step, at its start.
void REAL_NAME(springs_yield)(struct system *system, const struct worker *worker);

// After the state's rest lengths and broken flags were set from outside; one worker alone.
void REAL_NAME(springs_refresh)(struct system *system);

// Springs that are broken now.
uint64_t REAL_NAME(springs_broken_count)(const struct system *system);

// Scales the rest lengths of a material, as built and as yielding has left them; one worker alone,
// before those of the topology.
void REAL_NAME(springs_scale_rest_lengths)(struct system *system, uint32_t material, double factor);

// ---- One by one

// Consecutive springs: spring i joins nodes a + i and b + i. Where `broken` and
// `rest_length` are NULL nothing changes them.
struct spring_view {
    uint64_t number;      // the topology's number of the first
    uint64_t state_index; // of the first in the state's arrays; only where these have them
    uint64_t count;
    size_t a, b;
    const struct spring_constants *material;
    real built; // rest length, m
    const uint8_t *broken;
    const real *rest_length;
};

// Springs [at, end) in this order: those on no grid in the plan's order, then those of one grid
// after the other in the builder's.
struct spring_walk {
    const struct system *system;
    uint64_t at, end;
};

// Springs of that order in all.
static inline uint64_t springs_count(const struct system *system)
{
    return system->topology->spring_count;
}

static inline struct spring_walk springs_walk(const struct system *system)
{
    return (struct spring_walk){system, 0, springs_count(system)};
}

// The next springs of the walk that are on grids.
bool REAL_NAME(springs_next_on_grid)(struct spring_walk *walk, struct spring_view *view);

// The next springs of the walk; false at its end.
static inline bool springs_next(struct spring_walk *walk, struct spring_view *view)
{
    const struct system *system = walk->system;
    const uint64_t i = walk->at;
    if (i >= walk->end)
        return false;
    if (i >= system->plan->springs.element_count)
        return REAL_NAME(springs_next_on_grid)(walk, view);
    const struct constants *constants = system->constants;
    const struct state *s = system->state;
    *view = (struct spring_view){
        .number = plan_element(&system->plan->springs, i),
        .state_index = i,
        .count = 1,
        .a = constants->spring_nodes[i][0],
        .b = constants->spring_nodes[i][1],
        .material = &constants->material[spring_material_number(constants, i)],
        .built = built_rest_length(constants, i),
        .broken = s->broken ? s->broken + i : NULL,
        .rest_length = s->rest_length ? s->rest_length + i : NULL,
    };
    walk->at++;
    return true;
}

static inline bool view_is_broken(const struct spring_view *view, size_t i)
{
    return view->broken && view->broken[i];
}

static inline real view_rest_length(const struct spring_view *view, size_t i)
{
    return view->rest_length ? view->rest_length[i] : view->built;
}

// ---- By nodes
//
// Springs of some bodies lie in rows, which need no pass over all springs: whatever nodes are asked
// for, their springs follow. Those of the other bodies are one by one in the system's constants.

// The least range of nodes that has all those of bodies whose springs are in no rows.
struct range REAL_NAME(springs_outside_rows)(const struct system *system);

// Springs of one row and material as `count` consecutive nodes see them: the i-th is between nodes
// first + i and first + i + apart. Where `broken` and `rest_length` are NULL nothing changes them.
struct spring_row {
    size_t first, count;
    int64_t apart;
    const struct spring_constants *material;
    real built; // rest length, m
    const uint8_t *broken;
    const real *rest_length;
};

typedef void (*row_callback)(void *context, const struct spring_row *row);

// Visits the rows of springs at these nodes, springs between two of them from both ends. Nodes
// whose springs are in no rows are passed over. Any worker, any nodes.
void REAL_NAME(springs_visit_rows)(const struct system *system, struct range nodes,
                                   row_callback visit, void *context);

// The material of one kind of rows of a body, of which a node has two springs at most; NULL: the
// body has no more kinds.
const struct spring_constants *REAL_NAME(springs_row_material)(const struct system *system,
                                                               size_t body, int kind);

// `spring`: the topology's number.
typedef void (*spring_callback)(void *context, uint64_t spring,
                                const struct spring_constants *material);

// Visits every spring at one node that is not broken.
void REAL_NAME(springs_visit_node)(const struct system *system, uint64_t node,
                                   spring_callback visit, void *context);

// ---- Energies

// The elastic energy of all springs, in J: the same on all workers. Ends with a barrier.
double REAL_NAME(springs_elastic_energy)(struct system *system, const struct worker *worker);

// What the damping of all springs takes now, in W, and of those on no grid. Ends with a barrier.
double REAL_NAME(springs_listed_damping_power)(struct system *system, const struct worker *worker);
double REAL_NAME(springs_damping_power)(struct system *system, const struct worker *worker);

#endif
