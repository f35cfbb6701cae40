// How the work is cut and ordered, made once and then const: which body's springs are stored in
// which format. Springs on grids (grid/plan.h), and faces of cloths (faces/plan.h), are worked
// through by rows of nodes and are in no list. All other springs are packed for vectors
// (packed/plan.h), or are in coloured blocks (listed/plan.h, listed/plan_coloured.h), as do all
// other faces of a scene where something acts on faces.
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
    int colours_allowed;  // 0: all of them; tests use fewer to force a tail
    bool no_grids;        // no body is taken for a grid, no surface for rings
    bool no_packing;      // springs in coloured blocks, as faces are
    bool no_spring_grids; // springs of bodies on a grid as those of others; faces and rings stay
    bool coloured;        // springs in blocks are computed by the vector kernel
};

taut_status plan_make(const struct topology *topology, const struct plan_options *options,
                      const taut_allocator *allocator, struct plan **result, taut_error *error);

// What only those want who make constants from the plan goes.
void plan_forget(const struct topology *topology, struct plan *plan);

void plan_free(struct plan *plan);

// The grid that plans the springs of a body, or NULL.
const struct plan_grid *plan_grid_of_body(const struct plan *plan, size_t body);

// The same of its faces.
const struct plan_face_grid *plan_face_grid_of_body(const struct plan *plan, size_t body);

// The rings of a body with gas, or NULL.
const struct plan_rings *plan_rings_of_body(const struct plan *plan, size_t body);

// Whether the faces of a body are in blocks: those that wind or gas acts on, but for cloths on
// grids and for gas where there are rings.
bool plan_faces_in_blocks(const struct topology *topology, const struct plan *plan, size_t body);

// Springs to check for breaking and yielding: those of plan->fragile, then all of grids that
// remember.
static inline uint64_t plan_fragile_total(const struct plan *plan)
{
    return plan->fragile_count + (plan->state_spring_count - plan->springs.element_count);
}

uint64_t plan_bytes(const struct plan *plan);

// Proves the plan against its topology: every element exactly once, blocks of one colour without a
// common node, everything in range. TAUT_ERROR_ARGUMENT with what is wrong; run in debug builds and
// tests.
taut_status plan_check(const struct topology *topology, const struct plan *plan, taut_error *error);

#endif
