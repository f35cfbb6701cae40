// How the work is cut and ordered, made once and then const. Springs of grids, and faces of cloths,
// are worked through by rows of nodes and stand in no list. All other springs are packed for
// vectors (packed.h). All other faces of a scene where something acts on faces are sorted by the
// tile of nodes that their lowest node lies in; each tile's faces are a block; blocks are coloured;
// blocks of one colour stand together. A kernel is handed a block and never sees a colour.
#ifndef TAUT_PLAN_PLAN_H
#define TAUT_PLAN_PLAN_H

#include "plan/packed.h"
#include "plan/rings.h"
#include "plan/tiling.h"
#include "topology/topology.h"

// Elements [first, first + count) of the plan's order.
struct plan_block {
    uint64_t first;
    uint64_t count;
};

// Springs of a body on a grid of nodes (rope, cloth, lattice) that go by a constant step of (dx,
// dy, dz) from every node that has a partner there. The step's first component that is not 0, from
// z to x, is positive.
struct plan_direction {
    int dx, dy, dz;
    int64_t offset; // in node numbers
    double rest_length;
    uint32_t material;
    uint64_t first_place; // of its first spring, where the grid remembers
};

// Directions of two shells of a lattice, and how far they reach along a row.
enum { DIRECTIONS_MAX = 26, GRID_REACH = 2 };

// A body whose springs all are such directions, each of one material and one rest length: its
// kernel needs no list of springs.
struct plan_grid {
    size_t body;
    uint64_t first_node, nx, ny, nz;
    struct plan_direction directions[DIRECTIONS_MAX];
    int direction_count;
    // Whether some of its springs can break or yield. Then all of them have places in the state's
    // spring arrays, in the builder's order: direction after direction, a row's one after the
    // other.
    bool remembers;
    uint64_t first_place;
    struct plan_tiling tiling;
};

// Nodes [first, first + count).
struct plan_nodes {
    uint64_t first, count;
};

// A cloth's faces: cell by cell along its rows of nx nodes, (a, b, d) and (a, d, c) with b after a
// in the row and c, d above them.
struct plan_face_grid {
    size_t body;
    uint64_t first_node, nx, ny;
};

// The order of one sort of elements, springs or faces: of those that stand in blocks.
struct plan_set {
    uint64_t element_count;
    uint32_t *order; // order[i]: the topology's number of the i-th element; NULL: i
    struct plan_block *blocks;
    uint32_t block_count, block_capacity;
    // Blocks [colour_start[c], colour_start[c + 1]) have colour c and may run at once. The tail,
    // blocks [colour_start[colour_count], block_count), found no free colour and runs one by one,
    // in order, last.
    uint32_t colour_start[66];
    int colour_count;
};

// The topology's number of the i-th element of the plan.
static inline uint32_t plan_element(const struct plan_set *set, uint64_t i)
{
    return set->order ? set->order[i] : (uint32_t)i;
}

struct plan {
    const taut_allocator *allocator;
    bool reference; // one block of each, in the topology's order
    uint32_t tile_nodes;
    struct plan_set springs, faces; // packed springs as in the topology
    bool packs;                     // springs are packed
    struct plan_packed packed;
    struct plan_grid *grids; // capacity: the number of bodies
    size_t grid_count, grid_capacity;
    struct plan_face_grid *face_grids; // capacity: grid_capacity
    size_t face_grid_count;
    struct plan_rings *rings; // of each body
    size_t ring_capacity;     // the number of bodies, or 0
    uint64_t tile_count;      // of all grids
    struct plan_nodes *loose; // the nodes of bodies that are no grids; length loose_count
    size_t loose_count, loose_capacity;
    // Springs that the state's arrays are for: those of the blocks, then those of grids that
    // remember.
    uint64_t place_count;
    uint32_t *fragile; // places in the order of springs that can break or yield, ascending
    uint64_t fragile_count;
    uint64_t (*fragile_slots)[2]; // of each, where it stands in `packed`
};

struct plan_options {
    bool reference;
    uint32_t tile_nodes; // 0: chosen from the number of nodes
    int colours_allowed; // 0: all of them; tests use fewer to force a tail
    bool no_grids;       // no body is taken for a grid, no surface for rings
    bool no_packing;     // springs in coloured blocks, as faces are
};

taut_status plan_make(const struct topology *topology, const struct plan_options *options,
                      const taut_allocator *allocator, struct plan **result, taut_error *error);

// What only those want who make constants from the plan goes.
void plan_forget(const struct topology *topology, struct plan *plan);

void plan_free(struct plan *plan);

// Finds out whether the springs of body `index` make a grid: from their directions, or, where they
// are listed, from the springs themselves, in whatever order. Listed springs that can break, yield
// or go slack do not.
taut_status grid_find(const struct topology *topology, size_t index, struct plan_grid *grid,
                      bool *found, taut_error *error);

// Finds out whether the faces of a body are those of a cloth whose rows are long enough.
bool face_grid_find(const struct topology *topology, size_t index, struct plan_face_grid *grid);

// The grid that plans the springs of a body, or NULL.
const struct plan_grid *plan_grid_of_body(const struct plan *plan, size_t body);

// The same of its faces.
const struct plan_face_grid *plan_face_grid_of_body(const struct plan *plan, size_t body);

// The rings of a body with gas, or NULL.
const struct plan_rings *plan_rings_of_body(const struct plan *plan, size_t body);

// Whether the faces of a body are in blocks: those that wind or gas acts on, but for cloths on
// grids and for gas where there are rings.
bool plan_faces_in_blocks(const struct topology *topology, const struct plan *plan, size_t body);

// Springs to look at for breaks and yields: those of plan->fragile, then all of grids that
// remember.
static inline uint64_t plan_fragile_total(const struct plan *plan)
{
    return plan->fragile_count + (plan->place_count - plan->springs.element_count);
}

uint64_t plan_bytes(const struct plan *plan);

// Proves the plan against its topology: every element exactly once, blocks of one colour without a
// common node, everything in range. TAUT_ERROR_ARGUMENT with what is wrong; run in debug builds and
// tests.
taut_status plan_check(const struct topology *topology, const struct plan *plan, taut_error *error);

#endif
