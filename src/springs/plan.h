// The plan: the storage format of each body's springs and faces, and the order of work; made once
// per solver and then const. Springs on grids (grid/plan.h) and faces of cloths (faces/plan.h) are
// computed by rows of nodes and need no list. Other springs are packed for vector registers
// (packed/plan.h) or put into coloured blocks (listed/plan.h, listed/plan_coloured.h). Other faces
// on which wind or gas acts are put into coloured blocks, or into vertex rings (faces/plan.h).
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

// Adds a body on no grid to ranges of nodes; returns how many there are then. A range has whole
// bodies that follow each other, as many as it takes for RANGE_NODES. Loops in chunks of so many
// nodes, such as the sums of the energy budget, begin with each range anew, so that ranks may have
// some of the ranges (plan_parts.h); and few nodes in many bodies are few ranges.
enum { RANGE_NODES = 1024 };

size_t plan_ranges_add(struct plan_nodes *ranges, size_t count, struct plan_nodes body);

// The slot of an end of a spring whose tile is not kept.
#define PLAN_NO_SLOT UINT64_MAX

struct plan {
    const taut_allocator *allocator;
    bool reference; // one block of springs and one of faces, in the topology's order
    uint32_t tile_nodes;
    struct plan_set springs, faces; // those on no grid; packed springs keep the topology's order
    bool packs;                     // springs on no grid are packed
    struct plan_packed packed;
    struct plan_coloured coloured; // groups of `springs` for --kernel coloured
    struct plan_grid *grids;       // capacity: the number of bodies
    size_t grid_count, grid_capacity;
    struct plan_face_grid *face_grids; // capacity: grid_capacity
    size_t face_grid_count;
    struct plan_rings *rings;    // one for each body
    size_t ring_capacity;        // the number of bodies, or 0
    uint64_t tile_count;         // of all grids
    struct plan_nodes *off_grid; // the nodes of bodies on no grid (plan_ranges_add)
    size_t off_grid_count, off_grid_capacity;
    // The springs that have entries in the state's arrays: those of `springs`, then those of
    // stateful grids.
    uint64_t state_spring_count;
    uint32_t *fragile; // state indices of springs that can break or yield, ascending
    uint64_t fragile_count;
    uint64_t (
        *fragile_slots)[2]; // the slots of each of them in `packed`, one per end, or PLAN_NO_SLOT
    // With packed springs: for each chunk (SUM_CHUNK) of `springs` the first node of its first
    // spring. Ranks without the lists of these springs know it too.
    uint32_t *chunk_nodes;
    uint64_t chunk_node_count;
};

struct plan_options {
    bool reference;
    uint32_t tile_nodes;  // 0: chosen from the number of nodes
    int colours_allowed;  // 0: COLOURS_MAX; tests use fewer to force an overflow
    bool no_grids;        // no body is treated as a grid, no surface gets rings
    bool no_packing;      // springs go into coloured blocks, as faces do
    bool no_spring_grids; // no springs are on grids; grids of faces and rings stay
    bool coloured;        // springs in blocks are computed by coloured_forces
    // Narrows `kept`, all nodes, to those whose packed springs are kept (packed_make); called when
    // the plan has everything else. NULL: all.
    taut_status (*find_kept)(void *context, const struct topology *topology,
                             const struct plan *plan, struct plan_nodes *kept, taut_error *error);
    void *find_kept_context;
    // The first is called with its context before absent lists of a body are read, the second when
    // they are not needed for now. NULL: no lists are absent.
    taut_status (*load)(void *context, size_t body, taut_error *error);
    void (*unload)(void *context, size_t body);
    // Called with its context while springs are packed: the lists of bodies whose nodes come before
    // `node` are not read any more. May be NULL.
    void (*packed)(void *context, uint64_t node);
};

taut_status plan_make(const struct topology *topology, const struct plan_options *options,
                      const taut_allocator *allocator, struct plan **result, taut_error *error);

// Whether all tiles of packed springs are kept; if not, plan_pack_rest packs the others too. Then
// slots have other numbers, and plan_release_build_data follows when everything that is stored by
// slot has been made again.
bool plan_packs_all(const struct plan *plan);
taut_status plan_pack_rest(const struct topology *topology, struct plan *plan, taut_error *error);

// Frees what only the construction of the constants reads.
void plan_release_build_data(const struct topology *topology, struct plan *plan);

void plan_free(struct plan *plan);

// Updates which tiles and blocks have damped springs, after the damping of materials has changed.
void plan_find_damped(const struct topology *topology, struct plan *plan);

// Updates the plan's copies of the rest lengths of a body's springs, after those of the topology
// have changed.
void plan_find_rest_lengths(const struct topology *topology, struct plan *plan, size_t body);

// The grid of a body's springs, or NULL.
const struct plan_grid *plan_grid_of_body(const struct plan *plan, size_t body);

// The grid of a body's faces, or NULL.
const struct plan_face_grid *plan_face_grid_of_body(const struct plan *plan, size_t body);

// The rings of a body with gas, or NULL.
const struct plan_rings *plan_rings_of_body(const struct plan *plan, size_t body);

// Whether the faces of a body are in blocks: faces on which wind or gas acts, except cloths on
// grids (wind) and bodies with rings (gas).
bool plan_faces_in_blocks(const struct topology *topology, const struct plan *plan, size_t body);

// ---- Queries of other modules; only springs/ and faces/ read the members of a plan
// (tests/test_layers.py).

struct plan_counts {
    size_t grids;              // bodies whose springs are on a grid
    uint64_t off_grid_springs; // springs on no grid
    uint64_t state_springs;    // springs with entries in the state's arrays
    uint64_t slots;            // of packed springs
    uint64_t block_faces;      // faces in blocks
    uint64_t grid_tiles, packed_tiles;
    uint64_t volume_tiles; // the largest number of tiles over which a volume is summed
    bool rings;            // some body with gas has rings
};

struct plan_counts plan_counts(const struct topology *topology, const struct plan *plan);

// Whether all elements of bodies (elements/) are computed by sweeps over grids.
bool plan_sweeps_elements(const struct topology *topology, const struct plan *plan);

// Whether the plain loops (listed/reference.c) compute everything.
static inline bool plan_is_reference(const struct plan *plan)
{
    return plan->reference;
}

// The kernel that computes the springs on no grid.
enum plan_format { PLAN_REFERENCE, PLAN_PACKED, PLAN_BLOCKS, PLAN_COLOURED };

enum plan_format plan_off_grid_format(const struct plan *plan);

// The number of springs on no grid, with which the state's arrays of springs begin.
static inline uint64_t plan_off_grid_springs(const struct plan *plan)
{
    return plan->springs.element_count;
}

// The topology's number of the i-th spring on no grid. Constants and state use this order.
static inline uint32_t plan_off_grid_spring(const struct plan *plan, uint64_t i)
{
    return plan_element(&plan->springs, i);
}

// The inverse, for packed springs, which have the topology's order.
uint64_t plan_off_grid_index(const struct plan *plan, uint64_t spring);

// Springs on no grid that are listed, by their indices: the next ones that follow each other after
// those of *run, which is zeroed at first; false if there are none. Springs that are packed may be
// absent (topology_forget_lists).
bool plan_next_listed(const struct topology *topology, const struct plan *plan,
                      struct plan_nodes *run);

// The indices of the listed springs that may have this node on no grid: with packed springs those
// of its body, otherwise all.
struct plan_nodes plan_listed_near(const struct topology *topology, const struct plan *plan,
                                   uint64_t node);

// Whether the order of the springs on no grid is that of the topology's lists, and no listed spring
// is on a grid.
bool plan_has_order_of_lists(const struct topology *topology, const struct plan *plan);

// Whether some code reads rest lengths in this order, and not by slots alone.
static inline bool plan_reads_rest_lengths(const struct plan *plan)
{
    return !plan->packs || plan->fragile_count > 0;
}

// The index of the spring in a slot among the springs on no grid, or PACKED_NONE.
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

// Consecutive springs of the topology, with consecutive indices in the state's arrays from `at` on.
struct plan_state_run {
    uint64_t first_spring, count;
};

struct plan_state_run plan_state_run(const struct topology *topology, const struct plan *plan,
                                     uint64_t at);

// The number of springs to check for breaking and yielding: those of plan->fragile, then all
// springs of stateful grids.
static inline uint64_t plan_fragile_total(const struct plan *plan)
{
    return plan->fragile_count + (plan->state_spring_count - plan->springs.element_count);
}

// How many of them are on no grid.
static inline uint64_t plan_fragile_off_grid(const struct plan *plan)
{
    return plan->fragile_count;
}

// The number among them of a spring of a stateful grid, by its index in the state's arrays.
static inline uint64_t plan_fragile_number(const struct plan *plan, uint64_t index)
{
    return plan->fragile_count + (index - plan->springs.element_count);
}

// The index in the state's arrays of a spring that may break or yield.
static inline uint64_t plan_fragile_index(const struct plan *plan, uint64_t number)
{
    return number < plan->fragile_count
               ? plan->fragile[number]
               : plan->springs.element_count + (number - plan->fragile_count);
}

// How the springs of one body are stored and shared by threads.
struct plan_statistics {
    uint64_t nodes[3]; // along the axes of the grid; 0 if its springs are on no grid
    uint64_t tiles;    // parts that threads claim
    int colours;       // groups of tiles that run one after another; 0 without springs
    // For packed springs: the lanes of its nodes over all columns, how many of them have a spring,
    // and ends of springs that are in no column.
    uint64_t lanes, filled, overflow_ends;
    // For springs in coloured blocks: blocks of each colour; blocks without a colour, and their
    // springs; blocks that the plain loop computes. `lanes` and `filled` then count the lanes of
    // registers.
    bool coloured;
    uint64_t colour_blocks[COLOURS_MAX], overflow_blocks, overflow_springs, plain_blocks;
};

// Fills one element for each body of the topology; all elements must be zeroed before.
void plan_count_bodies(const struct topology *topology, const struct plan *plan,
                       struct plan_statistics *bodies);

uint64_t plan_bytes(const struct plan *plan);

// Checks the plan against its topology: every element occurs exactly once, blocks of one colour
// share no node, and every index is in range. Returns TAUT_ERROR_ARGUMENT with a description of the
// fault. Run in debug builds and tests.
taut_status plan_check(const struct topology *topology, const struct plan *plan, taut_error *error);

#endif
