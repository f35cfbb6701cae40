// The pair of blocks of surfaces whose candidates a kernel finds (candidates_body.h), for the broad
// phase, which calls it. Numeric.
#ifndef TAUT_CONTACT_CANDIDATES_H
#define TAUT_CONTACT_CANDIDATES_H

#include "contact/distance.h"
#include "contact/surfaces.h"
#include "simd/codes.h"

// Edges whose angle has a sine below the root of this are taken to be parallel.
#if TAUT_REAL_BITS == 32
#    define PARALLEL_SQUARE ((real)1e-5)
#else
#    define PARALLEL_SQUARE ((real)1e-9)
#endif

// A code has the number of a node or edge above that of a triangle or edge.
enum { TRIANGLE_BITS = 5, EDGE_BITS = 6 };

struct candidate_block {
    const real (*x)[SURFACE_NODES]; // coordinates of nodes; the first is repeated beyond the last
    const struct block_corners *corners;
    int own_nodes, edges, triangles;
    const real *box; // of all nodes: least x, y, z, most x, y, z
};

// The boxes of its triangles and edges, least x, y, z, most x, y, z.
struct candidate_boxes {
    real triangles[6][SURFACE_TRIANGLES], edges[6][SURFACE_EDGES];
    real longest; // edge, by the sum of its components
};

struct candidate_pair {
    const struct candidate_block *a, *b; // the same for one block
    const struct candidate_boxes *boxes_a, *boxes_b;
    // Nodes that both have, by their numbers in a and in b: parts that have one of them in common
    // are no candidates.
    int common_count;
    uint8_t common_a[SURFACE_NODES], common_b[SURFACE_NODES];
    real reach;                     // of boxes
    real point_square, edge_square; // of distances: of points and triangles, of edges
    // Built positions of the blocks' nodes, and the square of the distance up to which pairs are
    // left out; NULL: none are.
    const real (*built_a)[SURFACE_NODES], (*built_b)[SURFACE_NODES];
    real apart_square;
};

// A candidate that touches.
struct touching_candidate {
    uint32_t key;       // rises along the pair (touching_key)
    real parts[2];      // where the closest points are: v and w of a triangle, s and t of two edges
    struct point apart; // m, from the second point to the first
    real square;        // m2, of that
    real weight;        // of the force; below 1 for edges that are nearly parallel
    real energy;        // weight of the energy, the same but of edges side by side (barrier.h)
};

// Where a kernel puts them: it empties the array with `take` when it is full, and at the end. At
// that time the forces of these candidates have been added to those on nodes, and none of later
// ones.
enum { TOUCHING_MOST = 64 };
struct touching_candidates {
    struct touching_candidate items[TOUCHING_MOST];
    int count;
    void (*take)(void *context, const struct touching_candidate *items, int count);
    void *context;
};

// Marks of the candidates of a pair: a bit for each, by group from a new word on.
enum { MARK_BITS = 16 };

static inline size_t mark_words(size_t count)
{
    return (count + MARK_BITS - 1) / MARK_BITS;
}

// The key of a code in one of the three groups of a pair.
static inline uint32_t touching_key(int group, uint16_t code)
{
    return (uint32_t)group << 16 | code;
}

// A pair with its candidates, for the present positions of the nodes of both blocks.
struct listed_pair {
    const real (*x_a)[SURFACE_NODES], (*x_b)[SURFACE_NODES];
    const struct block_corners *a, *b;
    const uint16_t *codes, *counts;       // counts of the three groups
    const uint16_t *marks;                // of those that are evaluated; NULL: all
    bool bare;                            // no triangles in either block
    struct touching_candidates *touching; // NULL: not wanted
    // Where to mark those that may be at most the root of `square` apart, if all are evaluated;
    // NULL: not wanted.
    uint16_t *near;
    real square;
    uint32_t *pushed; // where to put bits of the nodes of b that have forces; NULL: not wanted
};

// Those of a pair (struct block_pair in broad_phase.h).
struct candidate_codes {
    uint16_t counts[3];
    uint16_t
        codes[2 * SURFACE_NODES * SURFACE_TRIANGLES + SURFACE_EDGES * SURFACE_EDGES + CODES_SLACK];
    // The least squares of the distances of all candidates: of points and triangles, and of edges;
    // REAL_HUGE without any. They are greater than those of the distances by what point_square and
    // edge_square allow for beyond the square of the reach, at most.
    real point_least, edge_least;
    real squares[SURFACE_EDGES * SURFACE_EDGES + CODES_SLACK]; // scratch
};

#endif
