// Internal numbers for the nodes of bodies whose builders, or whose users, number them so that
// springs join what lies far apart in memory: meshes from files, spheres, networks. Who sees
// numbers from outside sees the builder's; nothing behind the topology sees anything but the
// internal ones. Their springs are sorted after the nodes, and are counted likewise.
//
// Where the nodes lie on a lattice, however it is turned, they are numbered row by row along it, so
// that springs of one direction go by one step. Elsewhere by reverse Cuthill-McKee (Cuthill and
// McKee 1969): level by level from a node at the rim, neighbours after one another. On meshes that
// numbers rings, in which most springs of a run of nodes go by one step; an order along a Morton
// curve, whose tiles have smaller rims, has no such runs and measured slower.
#ifndef TAUT_TOPOLOGY_REORDER_H
#define TAUT_TOPOLOGY_REORDER_H

#include "scene/bodies.h"

// Each node's neighbours by springs, in the order of the springs.
struct neighbours {
    uint64_t *start; // node_count + 1
    uint32_t *items;
};

// Renumbers the nodes of every body that gains by it, and all that names them; and guesses the grid
// of networks whose nodes lie along one already. order[i] is then the
// builder's number of node i in body->node_order, NULL where the builder's numbers stay. False
// without memory; the bodies are of no use then but to be freed.
bool bodies_renumber(struct bodies *bodies);

// Numbers by places on a lattice, into order[]; and the nodes along its rows, rows and layers into
// grid[] where no place is empty, else zeros. False, with nothing changed, where there is none.
bool lattice_order(const struct body *body, uint32_t *order, uint64_t grid[3], bool *no_memory);

// Reverse Cuthill-McKee. False without memory.
bool graph_order(const struct neighbours *neighbours, uint64_t node_count, uint32_t *order);

// Sorts listed springs by the lower of the nodes that they join, each kind by itself, so that
// whoever goes from spring to spring goes from node to node; spring_order[i] is then the builder's
// number of spring i in body->spring_order, NULL where they stand so already. False without memory;
// the body is of no use then.
bool body_sort_springs(struct body *body);

// Puts another array into the place of *array, whose element i is the old one's order[i], of `size`
// bytes each; no array (NULL) is well. False, with the old one left, without memory.
bool array_permute(void **array, size_t size, const uint32_t *order, uint64_t count);

#endif
