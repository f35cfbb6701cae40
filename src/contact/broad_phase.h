// Finds the nodes and triangles, and the edges and edges, of surfaces (surfaces.h) that are nearer
// to each other than a reach: the candidates for contact. Numeric.
//
// A tree of boxes over the numbers of the blocks gives the pairs of blocks that are near; in each of
// them boxes, then distances, are tested. Lists belong to chunks of blocks and are written in the
// order of the numbers, so that they do not depend on the number of threads and nothing is sorted.
// No candidate within the reach is left out: thresholds include bounds on rounding errors
// (candidates_body.h), and lists grow as needed. A few farther ones are listed too. Lists are the
// same on every instruction set.
#ifndef TAUT_CONTACT_BROAD_PHASE_H
#define TAUT_CONTACT_BROAD_PHASE_H

#include <stdatomic.h>

#include "contact/surfaces.h"
#include "kernels/kernels.h"

// Blocks whose pairs are in one list, and children of a box of the tree.
enum { PAIR_CHUNK = 64, BROAD_PHASE_FAN = 16, BROAD_PHASE_LEVELS = 8 };

// The candidates of two blocks, or of one with itself (a = b): codes first_code to first_code +
// counts[0] + counts[1] + counts[2] - 1 of its list. Codes rise within each group:
//   counts[0]            nodes of a and triangles of b: node << 5 | triangle
//   counts[1], a != b    nodes of b and triangles of a: the same
//   counts[2]            edges of a and of b: edge_a << 6 | edge_b; in one block edge_b > edge_a
// Nodes, triangles and edges have their numbers in the block; only own nodes occur.
struct block_pair {
    uint32_t a, b;
    uint32_t first_code;
    uint16_t counts[3];
    float least; // m, how far apart all of them are at least
};

// The pairs with candidates whose first block, a, is in the chunk of the list; b >= a. They rise by
// a, then b.
struct pair_list {
    struct block_pair *pairs;
    size_t pair_count, pair_capacity;
    uint16_t *codes;
    size_t code_count, code_capacity;
    bool failed; // no memory
};

// One level of the tree: boxes least x, y, z, most x, y, z in rows of `capacity`, a multiple of
// BROAD_PHASE_FAN; those after `count` are NaN. Box i contains BROAD_PHASE_FAN boxes of the level
// below, from number BROAD_PHASE_FAN * i on.
struct tree_level {
    real *rows[6];
    size_t count, capacity;
};

struct broad_phase {
    const struct surfaces *surfaces;
    const struct kernels *kernels;
    const taut_allocator *allocator;
    struct block_corners *corners; // of each block (candidates.h)
    struct pair_list *lists;
    size_t list_count;
    // As of the last broad_phase_refit, in the coordinates of the state's arrays: nodes of each
    // block, the last of which are repeated, and least and most coordinates of blocks.
    real (*positions)[3][SURFACE_NODES];
    real (*boxes)[6];
    struct tree_level levels[BROAD_PHASE_LEVELS]; // level 0: boxes of blocks and half the reach
    int level_count;
    // Boxes of blocks as built, for these positions; allocated when they are first needed.
    double (*built_boxes)[6];
    const double (*built_boxes_of)[3];
    atomic_flag allocating; // an allocator may be used by one thread at a time
};

struct broad_phase_rules {
    size_t bodies;
    const double *radius; // m, >= 0, of each body: the reach of two is the sum of theirs
    const bool *enabled;  // [a * bodies + b]: of any two bodies, or of one with itself; symmetric
    // Per body, m: pairs of nodes and triangles, or edges, of one body that are nearer than this in
    // its built shape are left out, as are pairs with a common node.
    const double *apart;
    // Built positions of nodes, m, by internal number; NULL: only pairs with a common node are left
    // out.
    const double (*built)[3];
};

// For these surfaces, which must outlive it, with the kernels of any instruction set.
// TAUT_ERROR_MEMORY.
taut_status REAL_NAME(broad_phase_make)(const struct surfaces *surfaces,
                                        const struct kernels *kernels,
                                        const taut_allocator *allocator,
                                        struct broad_phase **result, taut_error *error);

void REAL_NAME(broad_phase_free)(struct broad_phase *broad);

// Bytes allocated, lists included.
uint64_t REAL_NAME(broad_phase_bytes)(const struct broad_phase *broad);

// Copies positions to the blocks. Called by all workers together, as is broad_phase_find; both have
// a barrier at the end.
void REAL_NAME(broad_phase_refit)(struct broad_phase *broad, const struct state *state,
                                  const struct worker *worker);

// Makes the lists for the positions of the last refit; false, on all workers, if memory ran out.
// Then the lists are useless until it succeeds.
bool REAL_NAME(broad_phase_find)(struct broad_phase *broad, const struct broad_phase_rules *rules,
                                 const struct worker *worker);

#endif
