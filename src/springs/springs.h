// The interface to springs in every storage format: on a grid (grid/), packed (packed/) or listed
// (listed/). Callers that need forces, energies, constraints or single springs call these functions
// and do not depend on the format of a body; plan.h determines it, and tangent.h has products with
// the tangent. Functions that receive a worker are called by all workers of the team together.
// Numeric.
#ifndef TAUT_SPRINGS_SPRINGS_H
#define TAUT_SPRINGS_SPRINGS_H

#include "kernels/kernels.h"
#include "springs/grid/sweep.h"
#include "springs/law.h"
#include "springs/plan_parts.h"
#include "state/system.h"

// ---- Forces

// Adds the forces of springs on no grid. For tiles of packed springs with vertex rings, the partial
// sums of the volume are written to chunk_sums. Ends with a barrier. `powers`: also measures the
// power of the damping of packed springs (system->powers); springs_sweep and springs_reduce do the
// same for grids.
void REAL_NAME(springs_add)(const struct system *system, bool powers, const struct worker *worker);

// Adds the forces of springs on grids. Nodes to which no other tile contributes are finished at
// once: gravity and drag are added, and the nodes are moved. Ends with a barrier.
void REAL_NAME(springs_sweep)(struct system *system, const struct wind_now *wind,
                              enum sweep_finish finish, bool powers, const struct worker *worker);

// The sweep of the grid of a tile; *tile becomes the number of the tile within that grid.
const struct sweep *REAL_NAME(sweep_of_tile)(const struct sweeps *sweeps, uint64_t *tile);

// Finishes the remaining nodes of grids. No barrier at the end.
void REAL_NAME(springs_reduce)(struct system *system, enum sweep_finish finish, bool powers,
                               const struct worker *worker);

// Whether springs_sweep also computes the elements of a body (elements/), and which these are;
// false if there is not enough memory.
static inline bool springs_sweep_elements(const struct system *system, size_t body)
{
    const struct plan_grid *grid = plan_grid_of_body(system->plan, body);
    return grid && grid->has_elements;
}

static inline bool springs_set_elements(const struct system *system, size_t body,
                                        const struct sweep_elements *elements)
{
    return REAL_NAME(sweeps_set_elements)(system->sweeps, body, elements);
}

// The i-th range of nodes of bodies on no grid, which springs_sweep and springs_reduce do not
// finish; empty after the last range.
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

// Runs a kernel over all blocks of a set: one colour after another, the blocks of a colour shared
// among the workers; then worker 0 runs the overflow. Ends with a barrier.
void REAL_NAME(run_coloured)(const struct system *system, const struct plan_set *set,
                             block_kernel kernel, const void *argument,
                             const struct worker *worker);

// ---- Constraints

// One iteration of `xpbd` over all springs, in a substep of `step` seconds.
void REAL_NAME(constraints_iterate)(const struct system *system, double step, bool first,
                                    const struct worker *worker);

// ---- Breaking and yielding

// Marks springs that are stretched beyond break_at as broken; they stay broken. `elapsed`: the
// fraction of the step that has passed, 1 where forces at its end are evaluated before it is
// counted.
void REAL_NAME(springs_break)(struct system *system, double elapsed, const struct worker *worker);

// Changes the rest lengths of springs that are strained beyond yield_at. Called once per step, at
// its start.
void REAL_NAME(springs_yield)(struct system *system, const struct worker *worker);

// Updates what is derived from the state's rest lengths and broken flags after these were set from
// outside. Called by one worker alone.
void REAL_NAME(springs_refresh)(const struct system *system);

// On several ranks, called by worker 0 alone: the first gives all ranks the energy that breaking
// and yielding has lost; the second gives the ranks that keep them the broken flags and rest
// lengths of springs.
void REAL_NAME(springs_share_losses)(const struct system *system, const struct plan_part *part);
void REAL_NAME(springs_collect)(const struct system *system, const struct plan_part *part,
                                bool keeps);

// The number of broken springs. Collective, while ranks that hold only their parts exchange.
uint64_t REAL_NAME(springs_broken_count)(const struct system *system);

// Scales the rest lengths of a material, as built and as changed by yielding. Called by one worker
// alone, before the rest lengths of the topology are scaled.
void REAL_NAME(springs_scale_rest_lengths)(struct system *system, uint32_t material, double factor);

// ---- Iteration over springs

// Consecutive springs: spring i joins nodes a + i and b + i. `broken` and `rest_length` are NULL
// for springs that cannot break or yield.
struct spring_view {
    uint64_t number;      // the topology's number of the first spring
    uint64_t state_index; // its index in the state's arrays; undefined for grids without state
    uint64_t count;
    size_t a, b;
    const struct spring_constants *material;
    real built; // rest length, m
    const uint8_t *broken;
    const real *rest_length;
};

// An iterator over springs [at, end) in this order: springs on no grid in the plan's order, then
// the springs of each grid in the builder's order.
struct spring_walk {
    const struct system *system;
    uint64_t at, end;
};

// The number of springs.
static inline uint64_t springs_count(const struct system *system)
{
    return system->topology->spring_count;
}

static inline struct spring_walk springs_walk(const struct system *system)
{
    return (struct spring_walk){system, 0, springs_count(system)};
}

// The next springs of the iterator if they are on a grid.
bool REAL_NAME(springs_next_on_grid)(struct spring_walk *walk, struct spring_view *view);

// The next springs of the iterator; false at its end.
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

// ---- Visits by node
//
// The springs of a grid form rows: for any range of nodes they are found without a pass over all
// springs. Springs of other bodies are listed one by one in the system's constants.

// The smallest range that contains all nodes of bodies on no grid.
struct range REAL_NAME(springs_outside_rows)(const struct system *system);

// Springs of one row and material, as seen from `count` consecutive nodes: spring i joins nodes
// first + i and first + i + apart. `broken` and `rest_length` are NULL for springs that cannot
// break or yield.
struct spring_row {
    size_t first, count;
    int64_t apart;
    const struct spring_constants *material;
    real built; // rest length, m
    const uint8_t *broken;
    const real *rest_length;
    // On weighted grids: on how many more sides of the box these nodes lie than their partners.
    int outward;
};

typedef void (*row_callback)(void *context, const struct spring_row *row);

// Visits the rows of springs at these nodes; springs between two of the nodes are visited from both
// ends. Nodes on no grid are skipped. Any worker may call it for any nodes.
void REAL_NAME(springs_visit_rows)(const struct system *system, struct range nodes,
                                   row_callback visit, void *context);

// The material of the springs in direction number `direction` of a body on a grid, of which a node
// has at most two; NULL if the body has fewer directions or is on no grid. Springs on the boundary
// of a weighted grid have smaller constants.
const struct spring_constants *REAL_NAME(springs_row_material)(const struct system *system,
                                                               size_t body, int direction);

// `spring` is the topology's number.
typedef void (*spring_callback)(void *context, uint64_t spring,
                                const struct spring_constants *material);

// Visits every unbroken spring at a node.
void REAL_NAME(springs_visit_node)(const struct system *system, uint64_t node,
                                   spring_callback visit, void *context);

// ---- Energies

// The elastic energy of all springs, J; every worker receives the same value. Ends with a barrier.
double REAL_NAME(springs_elastic_energy)(struct system *system, const struct worker *worker);

// The power dissipated now by the damping of springs on no grid, and of all springs, W; every
// worker receives the same value. Ends with a barrier.
double REAL_NAME(springs_listed_damping_power)(struct system *system, const struct worker *worker);
double REAL_NAME(springs_damping_power)(struct system *system, const struct worker *worker);

#endif
