// The data of a sweep over a grid: its passes, its masks and its buffers of sums, reactions and
// halo contributions. sweep.c decides which rows go where; the arithmetic is in force_body.h and
// cloth_body.h. Numeric: compiled for float and for double.
//
// A tile is swept chunk by chunk, and a chunk pass by pass. A pass computes the springs from the
// chunk's rows to the rows (dy, dz) away, each once. The forces on the chunk's own nodes are summed
// in the worker's scratch memory, and the reactions on the other rows, all of which come later, in
// a rolling buffer that extends beyond the edges of the tile. So after the last pass all spring
// forces on the chunk's nodes are known and nobody needs their positions any more: the nodes can be
// moved at once, in place. Only rows to which a neighbouring tile contributes, or whose positions
// it reads, wait until all tiles have been swept (halo reduction).
#ifndef TAUT_SPRINGS_GRID_SWEEP_H
#define TAUT_SPRINGS_GRID_SWEEP_H

#include "kernels/kernels.h"
#include "springs/motion.h"
#include "state/system.h"

enum sweep_kind {
    SWEEP_ALONG, // along the row itself, to nodes 1 and 2 further on
    SWEEP_THREE, // to one other row, at -step, 0 and step along it
    SWEEP_ONE    // to one other row, at one position
};

enum sweep_damping { UNDAMPED, DAMPED_AXIAL, DAMPED_FULL };

// The springs of a direction, with their constants in the precision of the run, copied so that a
// pass can keep them in registers.
struct sweep_spring {
    bool present;
    real stiffness, damping, rest_length;
    real side; // spring_side of its law
    bool breaks, yields;
    const struct direction *direction;
};

struct sweep_pass {
    enum sweep_kind kind;
    enum sweep_damping damping; // UNDAMPED only if all of its springs are
    int dy, dz;
    bool special; // some of its springs can break, yield or go slack, or were cut
    // On a weighted grid: a direction does not move along the rows, so that its springs at their
    // ends have half the constants. Constants that vary from row to row need no other kernel.
    bool halves_ends;
    int step; // SWEEP_THREE: 1 or 2; SWEEP_ONE: the difference of positions along the rows
    // SWEEP_ALONG: to nodes 1 and 2 further on; SWEEP_THREE: at -step, 0 and step; SWEEP_ONE: the
    // first only.
    struct sweep_spring springs[3];
};

// The weights of the lines of bending along x and along y that start at consecutive nodes, and the
// shares of the springs across rows there (SHARE_GUARD more of each may be read). They repeat after
// `period` nodes.
struct line_weights {
    const real *along, *across, *shares;
    long period;
};

// The elements of a cloth (elements/elements.h has their energies) in the precision of the run.
struct sweep_elements {
    bool damped, areas;
    real stiffness[3], damping[3]; // of lines along x and along y, and of twist
    real area_stiffness, area_damping, area_rest, area_limit;
    // The weights of lines by their centres, which belong to elements/: those of row j, along x or
    // along y, begin at weights[rows[line][j]].
    const real *weights;
    const size_t *rows[2];
    // The weights by their first nodes of rows like the row in the middle of the cloth; repeated
    // until a register begins at the start of a row again.
    real *common[2];
    size_t common_count;
};

// The forces on nodes of grids in every step besides springs, gravity and drag.
enum sweep_load { LOAD_NOTHING, LOAD_WIND, LOAD_ANYTHING };

struct sweep {
    const struct plan_grid *grid;
    const struct plan_face_grid *faces; // of the same body, or NULL
    struct plan_tiling tiling;
    struct sweep_pass passes[DIRECTIONS_MAX];
    int pass_count;
    bool cloth; // its passes are those that grid/cloth_body.h computes in one pass
    // Bit i of bits[GRID_REACH + dx]: whether node i of a chunk (or of a cloth's tile) has a
    // partner dx further along its row.
    uint32_t *bits[2 * GRID_REACH + 1];
    size_t bit_words;
    // If the grid is weighted or has elements, otherwise NULL: for node i of a chunk the share of
    // springs across rows, 1/2 at the ends of rows of a weighted grid and 1 elsewhere, and
    // SHARE_GUARD more.
    real *end_shares;
    size_t share_count;
    struct sweep_elements elements; // if the grid has any
    // Where the masses of a weighted cloth follow from the shares of springs, so that they need not
    // be read: that of nodes inside; otherwise 0.
    real inner_mass;
    // Rows at the start and at the end of each layer of a tile that wait for the reduction. They
    // are more than springs reach, because a register may extend into another row. boundary_end:
    // those at the end of the last tile along y.
    uint64_t boundary_first, boundary_last, boundary_end;
    // 1 / the square of a typical length, rounded to a power of 2: the kernels multiply squares of
    // lengths by it, so that products of them neither overflow nor underflow, and their powers are
    // multiplied by it afterwards.
    real power_scale;
    real *halo; // for each tile the x, then y, then z of halo_nodes nodes
    uint64_t halo_nodes;
};

struct sweeps {
    const taut_allocator *allocator;
    struct sweep *items; // one for each grid of the plan
    size_t count, capacity;
    uint64_t tile_count;
    // For each worker: 3 * reaction_nodes, the reactions on rows to come, and 3 * chunk_nodes, the
    // sums of a chunk's own nodes.
    real *scratch;
    uint64_t chunk_nodes, reaction_nodes;
    size_t scratch_length; // per worker
    int workers;
    enum sweep_load load;
    bool loaded; // load is not LOAD_NOTHING
};

taut_status REAL_NAME(sweeps_make)(const struct plan *plan, const struct constants *constants,
                                   enum sweep_load load, int workers,
                                   const taut_allocator *allocator, struct sweeps **result,
                                   taut_error *error);

// Reads stiffness, damping and rest lengths again from the constants and the plan. If the damping
// has changed, springs may be grouped into other passes, and another kernel may be used.
void REAL_NAME(sweeps_refresh)(struct sweeps *sweeps, const struct constants *constants);

// Sets the elements of a body on a grid that has any, except for their common weights, which are
// made here; false if there is not enough memory, which may be so the first time only.
bool REAL_NAME(sweeps_set_elements)(struct sweeps *sweeps, size_t body,
                                    const struct sweep_elements *elements);

// Allocates scratch memory for this many workers; false, with nothing changed, if there is not
// enough memory.
bool REAL_NAME(sweeps_reserve)(struct sweeps *sweeps, int workers);

void REAL_NAME(sweeps_free)(struct sweeps *sweeps);

uint64_t REAL_NAME(sweeps_bytes)(const struct sweeps *sweeps);

// Registers of the last nodes of a chunk read shares beyond them.
enum { SHARE_GUARD = 16 };

// Broken flags (or flags of springs that were cut) and rest lengths of the springs of a row,
// indexed by the node where they start; NULL if they cannot break, were not cut, or cannot yield.
// The entry of a node without a spring is that of another spring. `shares`: the factor of stiffness
// and damping; NULL if all springs of the row have the same.
struct row_state {
    const uint8_t *broken;
    const real *rest_length;
    const real *shares;
};

// The range of a pass: nodes from `first` on, whole rows or part of one row.
struct pass_range {
    const struct state *state;
    const struct sweep *sweep;
    int64_t first;
    int64_t offset; // to the other end of the spring of SWEEP_ONE, or of the middle one of
                    // SWEEP_THREE
    long count;
    struct reals sum;          // forces on these nodes
    struct reals other;        // reactions on the nodes `offset` further on
    bool starts;               // the sums are set, not added to
    struct line_weights lines; // of elements
    // For grid_cloth with elements: the sums go to the force arrays, and nodes stay; the mass of
    // each node is multiplied by its share of springs across rows.
    bool stores, shares_mass;
    struct row_state row_states[3]; // for the springs of a pass that is special or halves ends
    struct power_sums *powers; // receives the power of the damping, and in grid_cloth everything
                               // that these nodes contribute; NULL: not measured
};

// The rows of a tile that grid_cloth computes: those that are finished when the tile has been swept
// and are followed by two more rows.
struct range REAL_NAME(sweep_cloth_rows)(const struct sweep *sweep, uint64_t number);

// Whether grid_cloth also computes the wind on its rows: only on grids without gaps, and only if it
// moves their nodes, because forces alone may be evaluated without springs (forces_outside).
bool REAL_NAME(sweep_computes_wind)(const struct system *system, const struct sweep *sweep,
                                    const struct wind_now *wind, enum sweep_finish finish);

// The length of the rolling buffer for contributions of faces to the next row: a row and a
// register, rounded up to a multiple of every register's width. Another register follows it.
static inline long wind_ring_length(long nx)
{
    return (nx + 15) / 16 * 16 + 16;
}

// Sweeps a tile: computes all of its springs, and finishes the nodes to which no other tile
// contributes. `wind`: the wind of this evaluation, if it has not been added to the forces.
// `powers`: NULL, or POWER_COLUMNS sums to add to.
void REAL_NAME(sweep_tile)(const struct system *system, const struct sweep *sweep, uint64_t tile,
                           const struct wind_now *wind, enum sweep_finish finish, double *powers,
                           const struct worker *worker);

// Finishes the remaining nodes of a tile, after all tiles have been swept.
void REAL_NAME(reduce_tile)(const struct system *system, const struct sweep *sweep, uint64_t tile,
                            enum sweep_finish finish, double *powers, const struct worker *worker);

// One iteration over all springs of grids as constraints (springs/constraint.h). Ends with a
// barrier.
void REAL_NAME(grid_constraints_iterate)(const struct system *system, double step, bool first,
                                         const struct worker *worker);

// Whether other forces than springs, gravity and drag act on nodes of grids in this evaluation.
static inline bool sweep_is_loaded(const struct system *system)
{
    return system->sweeps->loaded || contacts_are_found(system) || surfaces_push(system);
}

// Layers of the reaction buffer: the layer being swept and those that its springs reach.
static inline uint64_t reaction_layers(const struct plan_tiling *tiling)
{
    return tiling->above + 1;
}

// Rows per layer of the reaction buffer: the rows of a tile and those on either side that springs
// reach.
static inline uint64_t reaction_rows(const struct plan_tiling *tiling)
{
    uint64_t rows = (tiling->ny + tiling->tiles_y - 1) / tiling->tiles_y;
    return rows + tiling->before + tiling->after;
}

// The sums and reactions of a node are stored at the same offset in a page as its position, some
// cache lines apart (state/state.c): at other offsets they would sometimes compete for the same
// sets of the cache.
enum { PAGE_REALS = 4096 / sizeof(real) };

// Space for this many nodes at any offset in a page, and for a register that extends beyond the
// last one.
static inline uint64_t page_padded(uint64_t nodes)
{
    return (nodes + 32) / PAGE_REALS * PAGE_REALS + 2 * PAGE_REALS;
}

static inline uint64_t reaction_layer_nodes(const struct plan_tiling *tiling)
{
    return page_padded(reaction_rows(tiling) * tiling->nx);
}

static inline real *tile_halo(const struct sweep *sweep, uint64_t tile)
{
    return sweep->halo + 3 * tile * sweep->halo_nodes;
}

#endif
