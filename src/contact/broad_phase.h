// Finds the nodes and triangles, and the edges and edges, of surfaces (surfaces.h) that are nearer
// to each other than a reach: the candidates for contact. Numeric.
//
// A tree of boxes over the numbers of the blocks gives the pairs of blocks that are near; for one
// of them, boxes of its parts, then distances, are tested when its candidates are asked for. Lists
// of pairs belong to chunks of blocks and are written in the order of the numbers, so that they do
// not depend on the number of threads and nothing is sorted. No pair and no candidate within the
// reach is left out: thresholds include bounds on rounding errors (candidates_body.h), and lists
// grow as needed. A few farther ones are listed too. Lists are the same on every instruction set.
#ifndef TAUT_CONTACT_BROAD_PHASE_H
#define TAUT_CONTACT_BROAD_PHASE_H

#include <stdatomic.h>

#include "contact/barrier.h"
#include "contact/candidates.h"
#include "contact/surfaces.h"
#include "kernels/kernels.h"

// Blocks whose pairs are in one list, and children of a box of the tree.
enum { PAIR_CHUNK = 64, BROAD_PHASE_FAN = 16, BROAD_PHASE_LEVELS = 8 };

// Two blocks that are near each other, or one with itself (a = b).
struct block_pair {
    uint32_t a, b;
    float least; // m, how far apart they are at least
};

// Those whose first block, a, is in the chunk of the list; b >= a. They rise by a, then b.
struct pair_list {
    struct block_pair *pairs;
    size_t pair_count, pair_capacity;
    size_t expected; // as many as there were
    bool failed;     // no memory
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
    struct pair_list *lists;
    size_t list_count;
    real (*boxes)[6]; // of blocks: least and most coordinates, as of the last broad_phase_refit
    struct tree_level levels[BROAD_PHASE_LEVELS]; // level 0: boxes of blocks and half the reach
    int level_count;
    // The same boxes, of the blocks alone that rules name; no rows until broad_phase_share.
    struct tree_level some[BROAD_PHASE_LEVELS];
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
    // By list and by block: only the pairs of these lists are found, and those with one of these
    // blocks. NULL, both: all pairs.
    const bool *lists, *blocks;
};

// For these surfaces, which must outlive it, with the kernels of any instruction set.
// TAUT_ERROR_MEMORY.
taut_status REAL_NAME(broad_phase_make)(const struct surfaces *surfaces,
                                        const struct kernels *kernels,
                                        const taut_allocator *allocator,
                                        struct broad_phase **result, taut_error *error);

void REAL_NAME(broad_phase_free)(struct broad_phase *broad);

// Before rules name lists and blocks for the first time; false without memory.
bool REAL_NAME(broad_phase_share)(struct broad_phase *broad);

// Bytes allocated, lists included.
uint64_t REAL_NAME(broad_phase_bytes)(const struct broad_phase *broad);

// Finds the boxes of the blocks, and puts the positions of their nodes in `positions`, by block,
// unless it is NULL. Called by all workers together, as is broad_phase_find; both have a barrier at
// the end.
void REAL_NAME(broad_phase_refit)(struct broad_phase *broad, const struct state *state,
                                  block_reals *positions, const struct worker *worker);

// Makes the lists for the boxes of the last refit; false, on all workers, if memory ran out. Then
// the lists are useless until it succeeds.
bool REAL_NAME(broad_phase_find)(struct broad_phase *broad, const struct broad_phase_rules *rules,
                                 const struct worker *worker);

// The pairs of a list that the rules of the last broad_phase_find have left out, for the same
// boxes; false without memory. By one worker for each list.
bool REAL_NAME(broad_phase_find_rest)(struct broad_phase *broad,
                                      const struct broad_phase_rules *rules, size_t list);

// Releases the pairs of a list, which broad_phase_find makes again. By one worker for each list.
void REAL_NAME(broad_phase_forget)(struct broad_phase *broad, size_t list);

// ---- The candidates of a pair

// The nodes of a block by number, in a hash table with open addressing.
enum { NODE_TABLE_BITS = 6, NODE_TABLE_SIZE = 1 << NODE_TABLE_BITS };

struct node_table {
    uint32_t nodes[NODE_TABLE_SIZE]; // UINT32_MAX: free
    uint8_t numbers[NODE_TABLE_SIZE];
};

// What a worker knows of block a of its present pairs, and of the pair. It is large, and only
// pair_finder_begin need set it.
struct pair_finder {
    struct broad_phase *broad;
    const struct broad_phase_rules *rules;
    size_t number[2]; // of blocks a and b; the same for one block
    struct candidate_block blocks[2];
    struct candidate_boxes boxes[2];
    real block_boxes[2][6];
    struct node_table table; // of a
    real built[2][3][SURFACE_NODES];
    bool has_table, has_built; // of a
    struct candidate_codes found;
};

// Before the first pair, and whenever positions have changed.
void REAL_NAME(pair_finder_begin)(struct pair_finder *finder, struct broad_phase *broad,
                                  const struct broad_phase_rules *rules);

// Sets finder->found to the candidates of a pair that are nearer to each other than the reach, m,
// with the nodes of its blocks in these positions; the first node is repeated beyond the last.
// Codes rise within each group:
//   counts[0]            nodes of a and triangles of b: node << 5 | triangle
//   counts[1], a != b    nodes of b and triangles of a: the same
//   counts[2]            edges of a and of b: edge_a << 6 | edge_b; in one block edge_b > edge_a
// Nodes, triangles and edges have their numbers in the block; only own nodes occur. Returns how far
// apart all of them are at least. After broad_phase_find with the same rules.
double REAL_NAME(pair_finder_find)(struct pair_finder *finder, const struct block_pair *pair,
                                   const block_reals x_a, const block_reals x_b, double reach);

#endif
