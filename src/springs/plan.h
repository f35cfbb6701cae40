// The plan: the storage format of each body's springs and faces, and the order of work, made once
// and then const. Springs on grids (grid/plan.h) and faces of cloths (faces/plan.h) are computed by
// rows of nodes and need no list. All other springs are packed for vectors (packed/plan.h), or are
// in coloured blocks (listed/plan.h, listed/plan_coloured.h), as are all other faces that wind or
// gas acts on.
#ifndef TAUT_SPRINGS_PLAN_H
#define TAUT_SPRINGS_PLAN_H

#include "faces/plan.h"
#include "springs/grid/plan.h"
#include "springs/listed/plan.h"
#include "springs/listed/plan_coloured.h"
#include "springs/packed/plan.h"
#include "topology/topology.h"

// Nodes [first, first + count).
struct plan_nodes {
    uint64_t first, count;
};

struct plan {
    const taut_allocator *allocator;
    bool reference; // one block of each, in the topology's order
    uint32_t tile_nodes;
    struct plan_set springs, faces; // packed springs as in the topology
    bool packs;                     // springs are packed
    struct plan_packed packed;
    struct plan_coloured coloured; // of `springs`, where the vector kernel computes them
    struct plan_grid *grids;       // capacity: the number of bodies
    size_t grid_count, grid_capacity;
    struct plan_face_grid *face_grids; // capacity: grid_capacity
    size_t face_grid_count;
    struct plan_rings *rings;    // of each body
    size_t ring_capacity;        // the number of bodies, or 0
    uint64_t tile_count;         // of all grids
    struct plan_nodes *off_grid; // the nodes of bodies that are no grids; length off_grid_count
    size_t off_grid_count, off_grid_capacity;
    // Springs that the state's arrays are for: those of the blocks, then those of grids that
    // remember.
    uint64_t state_spring_count;
    uint32_t *fragile; // state indices of springs that can break or yield, ascending
    uint64_t fragile_count;
    uint64_t (*fragile_slots)[2]; // of each, its slots in `packed`
};

struct plan_options {
    bool reference;
    uint32_t tile_nodes;  // 0: chosen from the number of nodes
    int colours_allowed;  // 0: all of them; tests use fewer to force an overflow
    bool no_grids;        // no body is treated as a grid, no surface gets rings
    bool no_packing;      // springs in coloured blocks, as faces are
    bool no_spring_grids; // springs of bodies on a grid as those of others; faces and rings stay
    bool coloured;        // springs in blocks are computed by the vector kernel
};

taut_status plan_make(const struct topology *topology, const struct plan_options *options,
                      const taut_allocator *allocator, struct plan **result, taut_error *error);

// Frees what only the construction of the constants needs.
void plan_forget(const struct topology *topology, struct plan *plan);

void plan_free(struct plan *plan);

// After the damping of materials has changed: which tiles and blocks have damped springs.
void plan_find_damped(const struct topology *topology, struct plan *plan);

// Scales the rest lengths of a body's springs of a material that the plan has a copy of; those of
// the topology may have been scaled already.
void plan_scale_rest_lengths(const struct topology *topology, struct plan *plan, size_t body,
                             uint32_t material, double factor);

// The grid that plans the springs of a body, or NULL.
const struct plan_grid *plan_grid_of_body(const struct plan *plan, size_t body);

// The same of its faces.
const struct plan_face_grid *plan_face_grid_of_body(const struct plan *plan, size_t body);

// The rings of a body with gas, or NULL.
const struct plan_rings *plan_rings_of_body(const struct plan *plan, size_t body);

// Whether the faces of a body are in blocks: those that wind or gas acts on, but for cloths on
// grids and for gas where there are rings.
bool plan_faces_in_blocks(const struct topology *topology, const struct plan *plan, size_t body);

// ---- What other modules ask; only springs/ and faces/ read the members of a plan
// (tests/test_layers.py).

struct plan_counts {
    size_t grids;              // bodies whose springs are on a grid
    uint64_t off_grid_springs; // springs on no grid
    uint64_t state_springs;    // springs that the state's arrays are for
    uint64_t slots;            // of packed springs
    uint64_t block_faces;      // faces in blocks
    uint64_t grid_tiles, packed_tiles;
    uint64_t volume_tiles; // tiles that a volume is summed over, at most
    bool rings;            // some body with gas has rings
};

struct plan_counts plan_counts(const struct topology *topology, const struct plan *plan);

// Whether the plain loops compute everything.
static inline bool plan_is_reference(const struct plan *plan)
{
    return plan->reference;
}

// Which kernel computes the springs on no grid.
enum plan_format { PLAN_REFERENCE, PLAN_PACKED, PLAN_BLOCKS, PLAN_COLOURED };

enum plan_format plan_off_grid_format(const struct plan *plan);

// The topology's number of the i-th spring on no grid; constants and state have them in this order.
static inline uint32_t plan_off_grid_spring(const struct plan *plan, uint64_t i)
{
    return plan_element(&plan->springs, i);
}

// Whether this is the order of the topology's lists, and no listed spring is on a grid.
bool plan_has_order_of_lists(const struct topology *topology, const struct plan *plan);

// Whether kernels read rest lengths in this order too, not by slots alone.
static inline bool plan_reads_rest_lengths(const struct plan *plan)
{
    return !plan->packs || plan->fragile_count > 0;
}

// Which of the springs on no grid has a slot, or PACKED_NONE.
static inline uint32_t plan_slot_spring(const struct plan *plan, uint64_t slot)
{
    return plan->packed.slot_springs[slot];
}

static inline uint64_t plan_block_face_count(const struct plan *plan)
{
    return plan->faces.element_count;
}

// The topology's number of the i-th face in blocks.
static inline uint32_t plan_block_face(const struct plan *plan, uint64_t i)
{
    return plan_element(&plan->faces, i);
}

// Consecutive springs of the topology, which have the indices from `at` on in the state's arrays.
struct plan_state_run {
    uint64_t first_spring, count;
};

struct plan_state_run plan_state_run(const struct topology *topology, const struct plan *plan,
                                     uint64_t at);

// Springs to check for breaking and yielding: those of plan->fragile, then all of grids that
// remember.
static inline uint64_t plan_fragile_total(const struct plan *plan)
{
    return plan->fragile_count + (plan->state_spring_count - plan->springs.element_count);
}

// How the springs of one body are stored and shared by threads.
struct plan_statistics {
    uint64_t nodes[3]; // along the axes of the grid; 0: its springs are on no grid
    uint64_t tiles;    // parts that threads claim
    int colours;       // groups of tiles of which no two run at once; 0 without springs
    // Of packed springs: lanes of its nodes in columns, those of them that have a spring, and ends
    // of springs that found no column.
    uint64_t lanes, filled, late;
    // Of springs in coloured blocks: blocks of each colour; those that found no colour, and their
    // springs; those that the plain loop computes. `lanes` and `filled` are those of their groups.
    bool coloured;
    uint64_t colour_blocks[COLOURS_MAX], overflow_blocks, overflow_springs, plain_blocks;
};

// Of every body of the topology, into as many elements that are all 0.
void plan_count_bodies(const struct topology *topology, const struct plan *plan,
                       struct plan_statistics *bodies);

uint64_t plan_bytes(const struct plan *plan);

// Proves the plan against its topology: every element exactly once, blocks of one colour without a
// common node, everything in range. TAUT_ERROR_ARGUMENT with what is wrong; run in debug builds and
// tests.
taut_status plan_check(const struct topology *topology, const struct plan *plan, taut_error *error);

#endif
