// The triangles of membranes as built while their bending is made (bending.c, folds.c): which lie
// side by side, which are flat there, and how folds are numbered. Numeric code shares it.
//
// Pairs of triangles at edges are found in windows of nodes, so that no list of all edges is
// needed, and are kept only for the triangles around some nodes: those that a rank needs.
#ifndef TAUT_ELEMENTS_SURFACE_H
#define TAUT_ELEMENTS_SURFACE_H

#include "parallel/team.h"
#include "topology/topology.h"

#define NO_TRIANGLE UINT32_MAX
#define NO_FOLD     UINT32_MAX

// Some triangles, each by its index among them. Indices ascend with the numbers of triangles, and
// edge i is opposite corner i.
struct bending_surface {
    const struct topology *topology;
    const uint8_t *curved; // 1 for triangles, by number, with an edge that is not flat as built
    size_t count;
    uint32_t *triangles;    // their numbers; NULL: all triangles
    uint32_t (*others)[3];  // the triangle beyond each edge; NO_TRIANGLE: none or several
    uint32_t (*numbers)[3]; // the fold at each edge, or NO_FOLD; NULL: nothing is curved
    // If all triangles are listed: how many folds there are, and whether anything bends as a plane.
    size_t fold_count;
    bool bends;
};

static inline uint32_t surface_number(const struct bending_surface *surface, size_t index)
{
    return surface->triangles ? surface->triangles[index] : (uint32_t)index;
}

static inline bool surface_is_curved(const struct bending_surface *surface, size_t index)
{
    return surface->curved[surface_number(surface, index)];
}

static inline const uint32_t *surface_corners(const struct bending_surface *surface, size_t index)
{
    const uint32_t number = surface_number(surface, index);
    return topology_triangle(surface->topology,
                             topology_body_of_triangle(surface->topology, number), number);
}

// The index of the edge of a triangle that it shares with another one.
static inline int surface_edge_with(const struct bending_surface *surface, size_t index,
                                    uint32_t other)
{
    const uint32_t *others = surface->others[index];
    return others[0] == other ? 0 : others[1] == other ? 1 : 2;
}

// Two triangles at an edge with no others, the first with the lower number: the edge as 3 times a
// triangle's number and which of its edges. `node`: the lower one of the edge.
struct edge_pair {
    uint32_t node, edges[2];
};

typedef void (*edge_pair_visit)(void *context, const struct edge_pair *pair);

// Visits the pairs of all triangles in the order of folds: by their lower nodes, then by the higher
// ones. `windows`: into how many parts the nodes are divided, of which one at a time takes memory.
// False without memory.
bool visit_edge_pairs(const struct topology *topology, size_t windows, edge_pair_visit visit,
                      void *context);

// Whether a pair has a fold: bends, but not as a plane.
static inline bool pair_is_fold(const uint8_t *curved, const struct edge_pair *pair)
{
    return curved[pair->edges[0] / 3] || curved[pair->edges[1] / 3];
}

// Marks the triangles of `curved`, which is zeroed at first. False without memory.
bool bending_surface_find_curved(const struct topology *topology, size_t windows, uint8_t *curved);

// Lists the triangles with a node of `around`, those with a node of one of these, and those with a
// node of one of those: so each of the second ones has its neighbours, and these theirs. All folds
// of a node in `around` have their numbers; `starts`: for each node how many folds have lower nodes
// before it, or NULL if all triangles are listed. False without memory; bending_surface_free is
// needed then, too.
bool bending_surface_make(const struct topology *topology, const uint8_t *curved,
                          struct range around, const uint32_t *starts,
                          struct bending_surface *surface);
void bending_surface_free(struct bending_surface *surface);

#endif
