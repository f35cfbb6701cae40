// Counts the crossing pairs of triangles of a surface, exactly. This is the oracle of contact: it
// shares no code with it, and no folder but cli/ includes it.
//
// Positions are compared as they are given; corners at the same position count as common corners,
// whether they are one node or two. Two triangles in different planes cross if they have points
// that are inside both (not on an edge). Two in one plane with a common area overlap, also where
// one is folded flat onto its neighbour. All other pairs with a common point beyond common corners
// and a common edge touch: a corner or an edge of one lies on the other. A surface that passes
// through another exactly along edges or through corners thus touches it.
//
// Triangles without an area are counted and compared with nothing. No crossing is lost with them
// where their longest edge belongs to a neighbour with an area.
#ifndef TAUT_INTERSECTIONS_INTERSECTIONS_H
#define TAUT_INTERSECTIONS_INTERSECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct intersection_surface {
    const double *positions; // m, 3 per node, finite
    uint64_t node_count;
    const uint32_t (*triangles)[3]; // nodes
    const uint32_t *bodies;         // of each triangle
    uint64_t triangle_count;        // below 2^32
};

enum intersection_kind {
    INTERSECTION_CROSSING,
    INTERSECTION_OVERLAPPING,
    INTERSECTION_TOUCHING,
    INTERSECTION_KINDS
};

// "crossing", "overlapping", "touching"
const char *intersection_kind_name(enum intersection_kind kind);

// The pairs of triangles of two bodies, or of one body with itself.
struct intersection_bodies {
    uint32_t a, b; // a <= b
    uint64_t counts[INTERSECTION_KINDS];
};

struct intersection_pair {
    uint32_t a, b; // triangles, a < b
    enum intersection_kind kind;
};

struct intersections {
    uint64_t counts[INTERSECTION_KINDS]; // pairs
    uint64_t degenerate;                 // triangles without an area
    uint64_t compared;                   // pairs of triangles whose boxes meet
    struct intersection_bodies *bodies;  // those with pairs, ascending by a, then b
    size_t body_count;
    struct intersection_pair *pairs; // at most pairs_max, crossing ones first, then by a and b
    size_t pair_count;
};

struct intersection_options {
    int threads; // at least 1; the results do not depend on it
    size_t pairs_max;
    bool (*stop)(void); // ends the search early; NULL: nothing does
};

// Finds all pairs. TAUT_ERROR_ARGUMENT if a position is not finite or a node does not exist.
// Release the result with intersections_free after success. If the search was stopped, the counts
// are meaningless.
taut_status intersections_find(const struct intersection_surface *surface,
                               const struct intersection_options *options,
                               struct intersections *found, taut_error *error);

void intersections_free(struct intersections *found);

// Bytes that intersections_find needs beside the surface, without the pairs.
double intersections_bytes(double triangles);

#endif
