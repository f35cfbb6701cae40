// Internal numbers for the nodes of bodies whose builders or users number them so that springs join
// nodes far apart in memory: meshes from files, spheres, networks. Users see the builder's numbers;
// everything that works with the topology sees the internal ones. Springs are sorted by their nodes
// and numbered accordingly.
//
// Nodes that lie on a lattice, whatever its rotation, are numbered row by row, so that all springs
// of one direction have the same offset. Others are numbered by reverse Cuthill-McKee (Cuthill and
// McKee 1969): level by level from a peripheral node. On meshes the levels are rings, in which most
// springs of consecutive nodes have the same offset; an order along a Morton curve, whose tiles
// have smaller boundaries, has no such runs and measured slower.
#ifndef TAUT_TOPOLOGY_REORDER_H
#define TAUT_TOPOLOGY_REORDER_H

#include "scene/bodies.h"

// Renumbers the nodes of every body that gains by it, with everything that refers to them, and
// guesses the grid of networks whose nodes are in grid order already. body->node_order[i] is then
// the builder's number of node i; it is NULL if the builder's numbers are kept. Returns false if
// memory runs out; then the bodies can only be freed.
bool bodies_renumber(struct bodies *bodies);

// The same of one body.
bool body_renumber(struct body *body);

// The neighbours of each node, in the order of the springs.
struct neighbours {
    uint64_t *start; // node_count + 1
    uint32_t *items;
};

// Reverse Cuthill-McKee: order[i] is the node that gets number i. False if memory runs out.
bool graph_order(const struct neighbours *neighbours, uint64_t node_count, uint32_t *order);

#endif
