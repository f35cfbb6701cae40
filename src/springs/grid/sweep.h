// What the kernel of a grid works with: the passes over its rows, the buffers of sums, masks.
// Numeric: compiled for float and for double.
//
// A tile is swept chunk by chunk, a chunk pass by pass. A pass takes a chunk's rows against the
// rows that lie (dy, dz) away and computes the springs to them, each once: what they do to the
// chunk's own nodes is summed in the worker's scratch, and so are the reactions on the other rows,
// which come later: a rolling buffer of rows ahead of the chunk, beyond the tile's edges too.
// So after the last pass all that pulls at the chunk's nodes is known, and nobody needs their
// positions any more: they can be moved at once, in place. Only rows whose forces a neighbouring
// tile adds to, or whose positions it reads, wait until all tiles have been swept (halo reduction).
#ifndef TAUT_SPRINGS_GRID_SWEEP_H
#define TAUT_SPRINGS_GRID_SWEEP_H

#include "kernels/kernels.h"
#include "state/system.h"

enum sweep_kind {
    SWEEP_ALONG, // along the row itself, 1 and 2 nodes ahead
    SWEEP_THREE, // to one other row, at -step, 0 and step along it
    SWEEP_ONE    // to one other row, at one position
};

enum sweep_damping { UNDAMPED, DAMPED_AXIAL, DAMPED_FULL };

// The springs of a direction, with their constants in the run's precision, copied together: a pass
// keeps them in registers.
struct sweep_spring {
    bool present;
    real stiffness, damping, rest_length;
    real side; // spring_side of its law
    bool breaks, yields;
    const struct direction *direction;
};

struct sweep_pass {
    enum sweep_kind kind;
    enum sweep_damping damping; // the highest that one of its springs needs
    int dy, dz;
    bool special; // one of its springs can break, yield or go slack
    int step;     // of SWEEP_THREE: 1 or 2; of SWEEP_ONE: its position along the row
    // ALONG: 1 and 2 ahead; THREE: at -step, 0 and step; ONE: the first.
    struct sweep_spring springs[3];
};

// What always acts on nodes of grids, but for springs, gravity and drag.
enum sweep_load { LOAD_NOTHING, LOAD_WIND, LOAD_ANYTHING };

struct sweep {
    const struct plan_grid *grid;
    const struct plan_face_grid *faces; // of its body, or NULL
    struct plan_tiling tiling;
    struct sweep_pass passes[DIRECTIONS_MAX];
    int pass_count;
    bool cloth; // its passes are those that springs/grid/cloth_body.h does in one go
    // Bit i of bits[GRID_REACH + dx]: whether the i-th node of a chunk, of a cloth's tile, has
    // another dx further along.
    uint32_t *bits[2 * GRID_REACH + 1];
    size_t bit_words;
    // Rows at the start and at the end of each layer of a tile that wait for the reduction, because
    // a register may touch a row more than springs reach; boundary_end: of the last tile along y.
    uint64_t boundary_first, boundary_last, boundary_end;
    // 1 / the square of a typical length, a power of 2: powers are measured in its inverse, so that
    // the kernels' products neither overflow nor vanish.
    real power_unit;
    real *halo; // 3 * halo_nodes for each tile, its x, y and z one after the other
    uint64_t halo_nodes;
};

struct sweeps {
    const taut_allocator *allocator;
    struct sweep *items; // of each grid of the plan
    size_t count, capacity;
    uint64_t tile_count;
    // For each worker 3 * reaction_nodes, the reactions on the rows to come, and 3 * chunk_nodes,
    // sums of a chunk's own nodes.
    real *scratch;
    uint64_t chunk_nodes, reaction_nodes;
    size_t scratch_length; // of one worker
    int workers;
    enum sweep_load load;
    bool loaded; // load is not LOAD_NOTHING
};

taut_status REAL_NAME(sweeps_make)(const struct plan *plan, const struct constants *constants,
                                   enum sweep_load load, int workers,
                                   const taut_allocator *allocator, struct sweeps **result,
                                   taut_error *error);

// Takes stiffness, damping and rest lengths again from the constants and the plan. Which springs go
// together in a pass, and so the kernel, may change with the damping.
void REAL_NAME(sweeps_refresh)(struct sweeps *sweeps, const struct constants *constants);

// Allocates for this many workers; false (and all as before) without memory.
bool REAL_NAME(sweeps_reserve)(struct sweeps *sweeps, int workers);

void REAL_NAME(sweeps_free)(struct sweeps *sweeps);

uint64_t REAL_NAME(sweeps_bytes)(const struct sweeps *sweeps);

// What the state has of the springs of a row, counted as the nodes they come from; NULL where
// nothing changes. The entry of a node without a spring is another spring's.
struct row_state {
    const uint8_t *broken;
    const real *rest_length;
};

// What a pass works on: nodes from `first`, a whole number of rows or part of one row.
struct pass_range {
    const struct state *state;
    const struct sweep *sweep;
    int64_t first;
    int64_t offset; // to the node that the first spring of SWEEP_ONE and the middle one of
                    // SWEEP_THREE lead to
    long count;
    struct reals sum;           // of the forces on these nodes
    struct reals other;         // of the reactions, at the node that `offset` leads to
    bool starts;                // nothing is in the sums yet
    struct row_state memory[3]; // of a special pass's springs
    struct power_sums *powers;  // to which the damping's are added, and in grid_cloth all of these
                                // nodes'; NULL: not wanted
};

// Rows [first, end) of a tile that grid_cloth does: those that are finished when their tile is
// swept and have two more ahead.
struct range REAL_NAME(sweep_cloth_rows)(const struct sweep *sweep, uint64_t number);

// Whether grid_cloth does the wind on these rows: where it moves their nodes, because forces alone
// may be wanted without springs (forces_outside).
bool REAL_NAME(sweep_blows)(const struct system *system, const struct sweep *sweep,
                            const struct wind_now *wind, enum sweep_finish finish);

// The ring where what faces give to the next row waits: a row and a register long, and a multiple
// of every register's length. Another register is behind it.
static inline long wind_ring_length(long nx)
{
    return (nx + 15) / 16 * 16 + 16;
}

// Sweeps a tile: computes all its springs, and finishes the nodes that need nothing from others.
// `wind`: that of the present time, as far as it has not been added to the forces. `powers`: NULL,
// or POWER_COLUMNS sums to add to.
void REAL_NAME(sweep_tile)(const struct system *system, const struct sweep *sweep, uint64_t tile,
                           const struct wind_now *wind, enum sweep_finish finish, double *powers,
                           const struct worker *worker);

// Finishes the others, once all tiles have been swept.
void REAL_NAME(reduce_tile)(const struct system *system, const struct sweep *sweep, uint64_t tile,
                            enum sweep_finish finish, double *powers);

// One iteration over all springs of grids as constraints (springs/constraint.h). Ends with a
// barrier.
void REAL_NAME(grid_constraints_iterate)(const struct system *system, double step, bool first,
                                         const struct worker *worker);

// Whether more than springs, gravity and drag act on nodes of grids in the present evaluation.
static inline bool sweep_is_loaded(const struct system *system)
{
    return system->sweeps->loaded || contacts_are_found(system);
}

// Layers of the reaction buffer: the one being swept and those that springs reach.
static inline uint64_t reaction_layers(const struct plan_tiling *tiling)
{
    return tiling->above + 1;
}

// Rows of a layer of the reaction buffer: those of a tile, and those beside it that springs reach.
static inline uint64_t reaction_rows(const struct plan_tiling *tiling)
{
    uint64_t rows = (tiling->ny + tiling->tiles_y - 1) / tiling->tiles_y;
    return rows + tiling->before + tiling->after;
}

// The sums and the reactions of a node lie at the same offset of a page as its position, some lines
// apart (state.c): at other offsets they would now and then want the cache lines that others are
// in.
enum { PAGE_REALS = 4096 / sizeof(real) };

// Space for that many nodes from any offset of a page on, and for the register that the last of a
// range may write into.
static inline uint64_t paged(uint64_t nodes)
{
    return (nodes + 32) / PAGE_REALS * PAGE_REALS + 2 * PAGE_REALS;
}

static inline uint64_t reaction_layer_nodes(const struct plan_tiling *tiling)
{
    return paged(reaction_rows(tiling) * tiling->nx);
}

// Part of a tile's halo contributions: reactions on rows of other tiles. Behind the tile's rows:
// layers of `before` rows; ahead of them: layers of `after` rows; above: layers of before + rows +
// after.
struct halo_box {
    uint64_t j0, j1, k0, k1; // rows and layers of the grid
    uint64_t at;             // of its first node in the contributions
};

enum { HALO_BEFORE, HALO_AFTER, HALO_ABOVE, HALO_BOXES };

// Rows beyond the grid's first and last are part of a box but never touched.
static inline struct halo_box halo_box(const struct plan_tiling *tiling,
                                       const struct plan_tile *tile, int which)
{
    uint64_t before = tiling->before, after = tiling->after, layers = tile->k1 - tile->k0;
    uint64_t first = tile->j0, end = tile->j1;
    if (which == HALO_BEFORE)
        return (struct halo_box){first - before, first, tile->k0, tile->k1, 0};
    if (which == HALO_AFTER)
        return (struct halo_box){end, end + after, tile->k0, tile->k1,
                                 layers * before * tiling->nx};
    return (struct halo_box){first - before, end + after, tile->k1, tile->k1 + tiling->above,
                             layers * (before + after) * tiling->nx};
}

// The offset of node 0 of row j, layer k in the contributions. Counted from j0, which may lie
// before row 0: the difference is right all the same.
static inline uint64_t halo_offset(const struct plan_tiling *tiling, const struct halo_box *box,
                                   uint64_t j, uint64_t k)
{
    return box->at + ((k - box->k0) * (box->j1 - box->j0) + (j - box->j0)) * tiling->nx;
}

static inline real *tile_halo(const struct sweep *sweep, uint64_t tile)
{
    return sweep->halo + 3 * tile * sweep->halo_nodes;
}

#endif
